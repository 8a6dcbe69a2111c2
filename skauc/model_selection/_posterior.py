"""The posterior of the AUC of a fitted model.

An :class:`Evaluation` combines three results: whether the rows trained the model, the
posterior under the model of the data set, and the AUC of rows left out of the fit. A
scorer ranks by the model of the data set, and by pairs left out in closed form where
features outnumber rows. A report (``auc_posterior``) leaves
rows out, and refits the model where no closed form exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import check_counts
from ..adaptive._join import CONTRAST, DataSize
from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import project, ranks_nothing, warn_undefined
from ..leave_pair_out._left_out import Source, second_source
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._pairwise import PairwiseAUCPosterior
from ..statistics._levels import balanced_variance, empirical_auc
from ..statistics._rows import Rows
from . import _doubts as doubts
from ._affine_steps import has_frozen
from ._fitted_model import FittedModel, fitted_models
from ._opened_model import is_stacked
from ._refits import refits_source
from ._training_rows import ASSUMED, Judgement, judge_rows

# (rows, refits) of a report: AUCs of single samples vary more for fewer rows
_REFITS = ((200, 20), (500, 10), (np.inf, 5))
_SCORER_REFITS = 5  # refits of a scorer where no closed form holds
_FREE_ROWS = 200  # pairs of more rows, a system of their order, cost more than a fit


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One model on given rows: the posterior of its AUC, and doubts about it.

    Parameters
    ----------
    model : FittedModel
    prior : AdaptivePrior or NormalInverseWishart
    covariance : {"common", "spherical", "separate"}
    rows : Judgement
        Whether the rows trained the model.
    report : bool
        Whether refits may be made for the AUC of rows left out.
    pairs : bool, default=False
        Whether rows are left out in closed form although this is no report.
    """

    model: FittedModel
    prior: Any
    covariance: str
    rows: Judgement
    report: bool
    pairs: bool = False

    @property
    def adaptive(self) -> bool:
        """Whether the prior is the adaptive one."""
        return isinstance(self.prior, AdaptivePrior)

    @property
    def held_out(self) -> bool:
        """Whether the rows did not train the model."""
        return self.rows.kind == "held-out"

    @cached_property
    def reason_unranked(self) -> str | None:
        """Why the scores do not rank rows, as half a sentence; None if they do."""
        return ranks_nothing(self.model.w_front, self.model.score)

    @property
    def size(self) -> DataSize:
        """Weights of both classes and number of entered features."""
        front = self.model.front
        return DataSize(front.n_neg, front.n_pos, self.model.rows.shape[1])

    @cached_property
    def projection(self):
        """Posterior along the direction of the model; None if it does not rank rows.

        The adaptive prior uses the features that entered, a conjugate prior those in
        front of the linear model. For held-out rows the score is the only feature.
        """
        model = self.model
        if self.reason_unranked is not None:
            return None
        if self.held_out:
            rows, w = self.score_rows, np.ones(1)
            return project(self.prior, rows, w, rows.X[:, 0], self.covariance)
        if self.adaptive:
            rows, w = model.rows, model.w
        else:
            rows, w = model.front, model.w_front
        return project(self.prior, rows, w, model.score, self.covariance)

    @property
    def score_rows(self) -> Rows:
        """All rows with their score as the only feature."""
        return replace(self.model.front, X=self.model.score[:, None])

    @cached_property
    def _source_and_reasons(self) -> tuple[Source | None, list[str]]:
        """The AUC of rows left out, and doubts about it."""
        model, prior = self.model, self.prior
        broken = model.broken_by
        if model.pair is not None:
            return None, [doubts.PAIRS_WITHOUT_REFITS] if prior.refits else []
        if prior.refits:
            return self._refitted(prior.refits, whole=True)
        if not prior.leave_pair_out:
            return None, []
        # a closed form needs a known objective on features that did not use y
        no_step = model.saw_y is None and broken is None
        asked = self.report or self.pairs or self.contrast > 0
        if asked and no_step and self.fit is not None:
            source = self._left_out()
            if source is not None and self._stopped_early():
                return self._of_another_fit(source)
            if source is not None:
                return source, []
        # scorers refit only where the model of the data set does not apply
        if self._may_refit or (prior.refits is None and broken is not None):
            n_refits = self._n_refits if self.report else _SCORER_REFITS
            whole = model.saw_y is not None or model.linear is None
            return self._refitted(n_refits, whole=whole)
        if model.saw_y is not None and prior.refits is not None:
            return None, [doubts.SUPERVISED_STEP.format(name=model.saw_y)]
        return None, []

    def _of_another_fit(self, source):
        """AUC of refits, or of the optimum, which may rank the rows otherwise."""
        origin = "refits" if self._may_refit else "rows left out of the optimum"
        reason = doubts.STOPPED_EARLY.format(name=self.model.name, source=origin)
        if self._may_refit:
            source, _ = self._refitted(self._n_refits, whole=False)
        return source, [reason]

    @property
    def _may_refit(self):
        return self.report and self.prior.refits is None

    @property
    def fit(self):
        """Objective and optimum on the rows in front; None if unknown."""
        return self.model.fit

    def _left_out(self):
        """AUC of rows left out of the model, in closed form."""
        return second_source(self.fit, self.model.front, self.model.gradient)

    @property
    def source(self) -> Source | None:
        """The AUC of rows left out; None if there is none."""
        if self.held_out or not self.adaptive or self.reason_unranked is not None:
            return None
        return self._source_and_reasons[0]

    def _refitted(self, n_refits, whole):
        """AUC of rows left out of refits, and doubts about it."""
        if whole and has_frozen(self.model.estimator):
            return None, [doubts.FROZEN_IN_REFITS]
        source = refits_source(
            self.model, int(n_refits), verbose=self.prior.verbose, whole=whole
        )
        if source is None:
            return None, [doubts.REFITS_FAILED.format(name=self.model.name)]
        return source, []

    @property
    def _n_refits(self):
        n = self.model.front.n
        return next(count for limit, count in _REFITS if n < limit)

    def _stopped_early(self):
        return self.model.stopped

    @cached_property
    def posterior(self) -> AUCPosterior:
        """Posterior of the AUC with all doubts about it."""
        if self.reason_unranked is not None:
            warn_undefined(self.reason_unranked)
            return replace(AUCPosterior.point_mass_at_half(), rows=str(self.rows))
        return replace(self._joined(), rows=str(self.rows), warnings=tuple(self.doubts))

    @cached_property
    def contrast(self) -> float:
        """Weight w_c of rows left out in ranking, where they are requested or free."""
        free = self.prior.leave_pair_out and self.model.front.n <= _FREE_ROWS
        free = free and self.projection.model.learnt.scatter.separated
        return CONTRAST if self.prior.refits or free else 0.0

    @property
    def choice(self) -> float:
        """Ranking score in probits, refits only if requested."""
        ranks = self.adaptive and not self.held_out and self.reason_unranked is None
        if not ranks or self._without_model:
            return self.posterior.choice("probit")
        return self._choice_by_model

    @cached_property
    def _choice_by_model(self):
        """``m + w_c (z − m)``; without pairs z − m is the mean over ridge models."""
        m, source = float(self.projection.probit[0]), self.source
        if not self.contrast:
            return m
        if source is None or (source.method == "refits" and not self.prior.refits):
            return m + self.contrast * self.projection.disagreement
        return m + self.projection.towards(source, self.contrast)

    @property
    def _without_model(self):
        """Whether only rows left out speak: behind a curved step that used y."""
        return self.model.broken_by is not None and self.source is not None

    def _joined(self):
        """Posterior from the model of the data set, rows left out, or held-out rows."""
        if not self.adaptive:
            return self.projection.auc()
        if self.held_out:
            return posterior_of_source(_empirical(self.score_rows), self.size)
        if self._without_model:
            return posterior_of_source(self.source, self.size, keep=True)
        posterior = self.projection.auc(self.source)
        return replace(posterior, choice_probit=self._choice_by_model)

    @cached_property
    def doubts(self) -> list[str]:
        """Reasons not to trust the AUC, a sentence each."""
        model, front = self.model, self.model.front
        out = []
        if self.report or not self.held_out:  # the score of a fold has no interval
            out += doubts.few_rows(round(front.n_neg, 9), round(front.n_pos, 9))
        span = float(np.ptp(model.score))
        out += doubts.rounded_decisions(span, model.threshold)
        out += self._doubts_of_weights()
        if not self.adaptive:
            return out
        if self.held_out:
            if self.report and self.rows.how == "detected":
                out.append(doubts.JUDGED_HELD_OUT)
            return out
        out += [*model.doubts, *self._doubts_of_copies()]
        if self.rows.how == "assumed":
            out.append(doubts.ROWS_ASSUMED.format(name=model.name))
        source, reasons = self._source_and_reasons
        out += reasons
        if model.broken_by is not None:
            text = (
                doubts.CLOSED_FORM_ANYWAY if source is None else doubts.NO_CLOSED_FORM
            )
            out.append(text.format(name=model.broken_by))
        n, P = model.rows.n, model.rows.shape[1]
        left_out = self.report and self.prior.leave_pair_out
        if source is None and P >= n and left_out and not reasons:
            out.append(doubts.NO_ROWS_LEFT_OUT.format(n_features=P, n=n))
        return out

    def _doubts_of_weights(self):
        return doubts.relative_weights(self.model.weight)

    def _doubts_of_copies(self):
        return doubts.copied_rows(self.model.rows)

    def warn(self, *, once=False) -> None:
        """Issue the doubts as warnings; ``once`` per data set, for a search."""
        known = self.doubts if self.reason_unranked is None else []
        doubts.warn(known, self.model.front if once else None)

    def error(self) -> float:
        """Bayesian error estimate at the model's own threshold."""
        self._warn_without_closed_form()
        model = self.model
        share_pos = model.front.n_pos / model.front.n
        if self.projection is None:  # all rows get the same prediction
            called_positive = model.score[0] > model.threshold
            return float(1 - share_pos if called_positive else share_pos)
        # BEE = π₀ FPR + π₁ (1 − TPR)
        fpr, tpr = self.projection.rates(model.threshold)
        return float((1 - share_pos) * fpr + share_pos * (1 - tpr))

    def ebauc(self, thresholds) -> float:
        """EBAUC over the ``"scores"`` of the rows, or over ``"all"`` thresholds."""
        self._warn_without_closed_form()
        if self.projection is None:
            return 0.5
        return self.projection.ebauc(None if thresholds == "all" else self.model.score)

    def _warn_without_closed_form(self):
        name = self.model.broken_by
        if name is not None and not self.held_out:
            reason = doubts.CLOSED_FORM_ANYWAY.format(name=name)
            doubts.warn([reason], self.model.front)


def evaluations(
    estimator,
    X,
    y,
    *,
    prior,
    covariance,
    rows,
    sample_weight,
    pos_label,
    report,
    pairs=False,
) -> list[Evaluation]:
    """Evaluations of a fitted estimator: one, or one for each pair of classes.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : rows and labels in memory
    prior : AdaptivePrior or NormalInverseWishart
    covariance : {"common", "spherical", "separate"}
    rows : {"auto", "training", "held-out"}
    sample_weight : array-like of shape (n,) or None
    pos_label : label or None
    report, pairs : bool
        Whether refits may be made, and whether closed forms are used without them.

    Returns
    -------
    list of Evaluation
    """
    adaptive = isinstance(prior, AdaptivePrior)
    # refits, if requested or the only way, take any classifier of two classes
    any_classifier = adaptive and bool(prior.refits or is_stacked(estimator))
    models = fitted_models(
        estimator,
        X,
        y,
        sample_weight,
        pos_label=pos_label,
        any_classifier=any_classifier,
    )
    for model in models:
        check_counts(model.weight, model.positive)
    unjudged = rows == "auto" and not adaptive
    judgement = ASSUMED if unjudged else judge_rows(models[0], rows)
    how = prior, covariance, judgement, report, pairs
    return [Evaluation(model, *how) for model in models]


def posterior_of(found):
    """Posterior of two classes, or of the mean AUC over pairs of classes."""
    posteriors = {one.model.pair: one.posterior for one in found}
    if None in posteriors:
        return posteriors[None]
    return PairwiseAUCPosterior(posteriors)


def posterior_of_source(source, size, *, keep=False) -> AUCPosterior:
    """Posterior that is normal in probits, from an AUC and its variance."""
    z = size.probit(source.auc)
    # the delta method: Var Z = Var A/φ(z)²
    variance = source.variance * 2 * np.pi * np.exp(z**2)
    entered = {}
    if keep:
        entered = {"leave_pair_out": source.auc, "second_source": source.method}
    variance = max(variance, np.finfo(float).tiny)
    return AUCPosterior.normal(z, variance, choice_probit=z, **entered)


def _empirical(rows) -> Source:
    """Empirical AUC of held-out scores with Hanley and McNeil's variance."""
    auc, n = auc_of_scores(rows.X[:, 0], rows), rows.n
    # (An + ½)/(n + 1): an AUC of 0 or 1 must not have variance 0
    moved = (auc * n + 0.5) / (n + 1)
    variance = balanced_variance(moved, rows.n_neg, rows.n_pos)
    return Source(float(auc), float(variance), "empirical")


def auc_of_scores(score, rows) -> float:
    """Empirical AUC of scores (n,) of the rows."""
    weight = rows.weight if rows.weighted else None
    return empirical_auc(score, rows.positive, weight)
