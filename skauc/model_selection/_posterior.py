"""The posterior of the AUC of a fitted model.

An :class:`Evaluation` combines three results: whether the rows trained the model, the
posterior under the model of the data set, and the AUC of rows left out of the fit. A
scorer ranks by the model of the data set alone. A report (``auc_posterior``) leaves
rows out, and refits the model where no closed form exists.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..adaptive._join import CONTRAST
from ..intervals._auc_estimate import score_variance
from ..intervals._projection import project, ranks_nothing, warn_undefined
from ..intervals._sample import Sample as ScoreSample
from ..leave_pair_out._left_out import Source
from ..posterior._auc_posterior import AUCPosterior, point_mass_at_half, shifted
from ..posterior._pairwise import PairwiseAUCPosterior
from . import _doubts as doubts
from ._left_out_rows import rows_left_out
from ._question import Question
from ._sample import Sample
from ._training_rows import ASSUMED, Judgement, judge_rows
from .reading._fitted_model import FittedModel, fitted_models
from .reading._opened_model import NotLinearError


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One model on given rows: the posterior of its AUC, and doubts about it.

    Parameters
    ----------
    model : FittedModel
    question : Question
    rows : Judgement
        Whether the rows trained the model.
    sample : Sample
        What the rows of the model stand for.
    """

    model: FittedModel
    question: Question
    rows: Judgement
    sample: Sample

    @property
    def held_out(self) -> bool:
        """Whether the rows did not train the model."""
        return self.rows.kind == "held-out"

    @cached_property
    def reason_unranked(self) -> str | None:
        """Why the scores do not rank rows, as half a sentence; None if they do."""
        model = self.model
        return ranks_nothing(model.w_front, model.score, model.estimator)

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
            scores = self.sample.scores_as_feature
            return self._project(scores, np.ones(1), self.sample.score)
        if self.question.adaptive:
            return self._project(model.rows, model.w, model.score)
        return self._project(self.sample.all_rows, model.w_front, self.sample.score)

    def _project(self, rows, w, score):
        """Posterior of the scores ``rows.X @ w`` under the prior."""
        prior, covariance = self.question.prior, self.question.covariance
        return project(prior, rows, w, score, covariance)

    @cached_property
    def _source_and_reasons(self) -> tuple[Source | None, list[str]]:
        """The AUC of rows left out, and doubts about it."""
        # there is no model of the data set behind a curved step that used y
        projection = None if self.model.broken_by is not None else self.projection
        return rows_left_out(self.sample, self.question, projection)

    @property
    def source(self) -> Source | None:
        """The AUC of rows left out; None if there is none."""
        if (
            self.held_out
            or not self.question.adaptive
            or self.reason_unranked is not None
        ):
            return None
        return self._source_and_reasons[0]

    @cached_property
    def posterior(self) -> AUCPosterior:
        """Posterior of the AUC with all doubts about it."""
        if self.reason_unranked is not None:
            warn_undefined(self.reason_unranked)
            nothing = point_mass_at_half()
            return replace(nothing, rows=str(self.rows), pos_label=self.model.pos_label)
        known = {"rows": str(self.rows), "warnings": tuple(self.doubts)}
        return replace(self._joined(), pos_label=self.model.pos_label, **known)

    @property
    def choice(self) -> float:
        """Ranking score in probits, refits only if requested."""
        ranks = self.question.adaptive and not self.held_out
        if not ranks or self.reason_unranked is not None or self.without_model:
            return self.posterior.choice("probit")
        return self._choice_by_model + self.sample.probit_shift

    @property
    def _choice_by_model(self):
        """The model of the data set, or ``m + w_c (z − m)`` with requested refits."""
        m, source = self.projection.rank, self.source
        if source is None or not self.question.prior.refits:
            return m
        return m + self.projection.towards(source, CONTRAST)

    @property
    def without_model(self):
        """Whether only rows left out speak: the model is wrong, or there is none."""
        source = self.source
        return source is not None and (source.alone or self.model.broken_by is not None)

    def _joined(self):
        """Posterior from the model of the data set, rows left out, or held-out rows."""
        if not self.question.adaptive:
            return self.projection.auc()
        if self.held_out:
            source = _empirical(self.sample.scores_as_feature)
            return posterior_of_source(source, self.sample.size)
        if self.without_model:
            posterior = posterior_of_source(self.source, self.sample.size, keep=True)
        else:
            posterior = self.projection.auc(self.source)
            posterior = replace(posterior, choice_probit=self._choice_by_model)
        return shifted(posterior, self.sample.probit_shift)

    @cached_property
    def doubts(self) -> list[str]:
        """Reasons not to trust the AUC, a sentence each."""
        model, front = self.model, self.model.front
        out = []
        report = self.question.is_report
        if report or not self.held_out:  # the score of a fold has no interval
            out += doubts.few_rows(round(front.n_neg, 9), round(front.n_pos, 9))
            out += doubts.few_groups(front)
        span = float(np.ptp(model.score))
        out += doubts.rounded_decisions(span, model.threshold)
        out += self._doubts_of_weights()
        if not self.question.adaptive:
            return out
        if self.held_out:
            if self.rows.how == "detected":
                out.append(doubts.JUDGED_HELD_OUT)
            return out
        out += model.doubts
        if front.group is None:
            out += doubts.split_by_groups(model.estimator)
        # the weights of a sample are not copies, and other scores leave no rows out
        if self.sample.is_all and self.question.left_out != "none":
            # without a linear model its rows hold the decision only
            rows = model.rows if model.linear is not None else model.scored.content
            no_numbers = model.linear is None and rows.shape[1] == 1
            if no_numbers or front.group is not None:
                out += doubts.equal_rows(model.given_rows, model.positive, front.group)
            else:
                out += doubts.copied_rows(rows)
        if self.rows.how == "assumed":
            out.append(doubts.ROWS_ASSUMED.format(name=model.name))
        source, reasons = self._source_and_reasons
        out += reasons
        if model.broken_by is not None:
            out += doubts.without_closed_form(model, source)
        n, P = model.rows.n, model.rows.shape[1]
        left_out = report and self.question.prior.leave_pair_out
        if source is None and P >= n and left_out and not reasons:
            remedy = doubts.REFIT if model.pair is None else doubts.HOLD_OUT
            known = {"n_features": P, "n": n, "remedy": remedy}
            out.append(doubts.NO_ROWS_LEFT_OUT.format(**known))
        return out

    def _doubts_of_weights(self):
        if self.model.front.group is not None:
            return []  # variances over groups do not depend on the scale of weights
        if self.sample.is_all:
            return doubts.not_counts(self.model.weight)
        rows = self.sample.all_rows
        given = rows.weight / np.where(rows.positive, *rows.raised[::-1])
        return doubts.not_counts(given)

    def warn(self, *, once=False) -> None:
        """Issue the doubts as warnings; ``once`` per data set, for a search."""
        known = self.doubts if self.reason_unranked is None else []
        model = (
            self.model
        )  # the decisions of a curved model do not tell data sets apart
        rows = model.scored.content if model.linear is None else model.front
        doubts.warn(known, rows if once else None, model.score)

    def error(self) -> float:
        """Bayesian error estimate at the model's own threshold."""
        self._warn_of_score()
        model = self.model
        share_pos = model.front.share_pos
        if self.projection is None:  # all rows get the same prediction
            called_positive = model.score[0] > model.threshold
            return float(1 - share_pos if called_positive else share_pos)
        # BEE = π₀ FPR + π₁ (1 − TPR)
        fpr, tpr = self.projection.rates(model.threshold)
        return float((1 - share_pos) * fpr + share_pos * (1 - tpr))

    def ebauc(self, thresholds) -> float:
        """EBAUC over the ``"scores"`` of the rows, or over ``"all"`` thresholds."""
        self._warn_of_score()
        if self.projection is None:
            return 0.5
        return self.projection.ebauc(None if thresholds == "all" else self.model.score)

    def _warn_of_score(self):
        """Issue the doubts about a score that comes without an interval."""
        name = self.model.broken_by
        if self.model.linear is None and not self.held_out:
            raise NotLinearError(
                f"{name} is not linear, so that this score needs rows that did not "
                "train it: use skauc.cbauc_scorer, which leaves rows out by folds"
            )
        if name is not None and not self.held_out:
            reason = doubts.CLOSED_FORM_ANYWAY.format(name=name)
            doubts.warn([reason], self.model.front, self.model.score)
        doubts.warn(self._doubts_of_weights(), self.model.front, self.model.score)


def evaluations(estimator, X, y, sample_weight, question) -> list[Evaluation]:
    """Evaluations of a fitted estimator: one, or one for each pair of classes.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : rows and labels in memory
    sample_weight : array-like of shape (n,) or None
    question : Question

    Returns
    -------
    list of Evaluation
    """
    models = fitted_models(
        estimator,
        X,
        y,
        sample_weight,
        pos_label=question.pos_label,
        groups=question.groups,
        any_classifier=question.adaptive,
    )
    unjudged = question.rows == "auto" and not question.adaptive
    how = {"clones": question.is_report}  # a scorer fits nothing
    judgement = ASSUMED if unjudged else judge_rows(models[0], question.rows, **how)
    samples = map(Sample.of_all, models)
    return [Evaluation(one.model, question, judgement, one) for one in samples]


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
    """Empirical AUC of held-out scores, with the variance of its score interval."""
    weight = rows.weight if rows.weighted else None
    [scores] = ScoreSample.split([rows.X[:, 0]], rows.positive, weight, rows.group)
    # (An + ½)/(n + 1): an AUC of 0 or 1 must not have variance 0
    moved = (scores.auc * rows.n + 0.5) / (rows.n + 1)
    return Source(scores.auc, float(score_variance(scores)(moved)), "empirical")
