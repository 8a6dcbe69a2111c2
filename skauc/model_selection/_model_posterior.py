"""From scores to a number: the posterior of one data set, asked about one model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.utils import column_or_1d

from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import project
from ..posterior._auc_posterior import AUCPosterior
from ..statistics._block_column import made_column
from . import _reasons as say
from ._affine_steps import has_frozen
from ._copied_rows import copies
from ._linear_model import (
    LinearModel,
    NotLinearError,
    is_stacked,
    open_estimator,
    open_score,
)
from ._refits import REFITS, posterior_of_source, refits_source, told_by_refits
from ._rows_at_hand import LabelColumn
from ._rows_of_classes import told_rows_of_classes
from ._scored_model import ScoredModel, score_model, score_pairs
from ._second_source import are_rearranged, held_out, left_out
from ._training_rows import are_made_anew, told_rows, weights_may_tell
from ._warnings import SAID, warn_of


@dataclass(frozen=True, eq=False)
class ModelPosterior:
    """Posterior of the scores of one model.

    Parameters
    ----------
    scored : ScoredModel
    prior : AdaptivePrior or NormalInverseWishart
    projection : posterior or None
        Of the scores; None when they rank nothing: then the AUC is ½.
    rows : {"training", "held-out", "assumed"}
        What the rows are; "assumed" to be training rows, because nothing tells.
    whole : tuple (estimator, X, y) or None
        For true refits; None for a pair of more than two classes.
    doubtful : bool, default=False
        Whether held-out rows may be training rows whose weights are not given.
    assumed_of : str or None, default=None
        Of a pair of more than two classes: the model that nothing tells of.
    """

    scored: ScoredModel
    prior: Any
    projection: Any
    rows: str
    whole: tuple | None = None
    doubtful: bool = False
    assumed_of: str | None = None

    def auc(self, *, once=False) -> AUCPosterior:
        """Posterior of the AUC, with rows left out where wanted and known.

        Warns (:class:`skauc.UntrustedAUCWarning`) of what makes the number doubtful;
        ``once`` a data set, for the candidates of a search.
        """
        if self.projection is None:
            return AUCPosterior.point_mass_at_half()
        if not isinstance(self.prior, AdaptivePrior):
            return replace(self.projection.auc(), warnings=self._any_rows())
        rearranged = are_rearranged(self.scored, self.rows)
        if self.rows == "held-out":
            posterior = posterior_of_source(held_out(self.scored), self._n)
            quiet = (say.taken_for_held_out(),) if self.doubtful else ()
            return replace(posterior, warnings=(*self._any_rows(), *quiet))
        posterior, reasons = self._of_training_rows(rearranged)
        for reason in reasons:
            if once:
                self._warn_once(reason)
            else:
                warn_of(reason)
        return posterior

    def choice(self, scale="auc") -> float:
        """``auc(once=True).choice(scale)``, without the spread, which ranks nothing."""
        adaptive = isinstance(self.prior, AdaptivePrior)
        ordinary = adaptive and self.rows != "held-out" and not self._from_refits
        if self.projection is None or not ordinary:
            return self.auc(once=True).choice(scale)
        rearranged = are_rearranged(self.scored, self.rows)
        second, n_refits, reasons, _ = self._source(rearranged)
        for reason in reasons:
            self._warn_once(reason)
        probit = self.projection.choice(second, n_refits)
        return float(ndtr(probit)) if scale == "auc" else probit

    def error(self) -> float:
        """Bayesian error estimate at the model's own threshold."""
        self._say_broken()
        threshold, share_pos = self.scored.threshold, self.scored.share_pos
        if self.projection is None:  # every row gets the same answer
            constant = self._counted[0] > threshold
            # All rows are called positive, wrong of 1 − π₁, or negative, wrong of π₁.
            return float(1 - share_pos if constant else share_pos)
        return self.projection.error(threshold, share_pos)

    def ebauc(self, thresholds) -> float:
        """EBAUC over the ``"scores"`` of the rows, or over ``"all"`` thresholds."""
        self._say_broken()
        if self.projection is None:
            return 0.5
        if thresholds == "all":
            return self.projection.ebauc()
        return self.projection.ebauc(self._counted)

    @property
    def _from_refits(self):
        """Whether no closed form holds, but true refits do."""
        return self.scored.broken_by is not None and self.whole is not None

    def _of_training_rows(self, rearranged):
        """Posterior with its reasons for mistrust, and those to warn of."""
        if self._from_refits:
            return self._broken(self._what_rows(rearranged))
        second, n_refits, reasons, quiet = self._source(rearranged)
        posterior = self.projection.auc(second, n_refits)
        return replace(posterior, warnings=(*reasons, *quiet)), reasons

    def _what_rows(self, rearranged):
        """What is to be said of any rows, and that they are assumed to be others."""
        scored, reasons = self.scored, [*self._any_rows(), *self._copied()]
        # One reason is enough: what these rows are not is said by the other warning.
        known = rearranged or (scored.broken_by is not None and self.whole is None)
        name = self.assumed_of if self._is_pair else type(scored.model).__name__
        if self.rows == "assumed" and name is not None and not known:
            reasons.append(say.rows_assumed(name))
        return reasons

    def _source(self, rearranged):
        """Second source, its number of refits, reasons to warn of and quiet ones."""
        scored = self.scored
        reasons = self._what_rows(rearranged) + self._not_refitted()
        if self.projection.classes_vary_far_apart:
            reasons.append(say.vary_far_apart())
        second, n_refits, more = self._second()
        reasons += [] if rearranged else more
        quiet = []
        if second is None and scored.model is not None and not more:
            n_features, n = scored.Z.shape[1], self._n
            # Warned of where the prior matters most, P ≥ n, unless the user chose it.
            ordinary = n_features < n or not self.prior.leave_pair_out
            (quiet if ordinary else reasons).append(say.prior_alone(n_features, n))
        return second, n_refits, reasons, quiet

    def _copied(self):
        """What is to be said of rows that are there more than once, or nearly."""
        scored, learnt = self.scored, self.projection.learnt
        rows = scored.Z, scored.positive, scored.weight
        n_copies, near = learnt.remember("copies", lambda: copies(*rows))
        if near:
            return [say.near_copies(near)]
        # Weights that are no counts are complained of as such
        if not n_copies or say.relative_weights(scored.weight) is not None:
            return []
        return [say.copied_rows(n_copies, self._n)]

    def _second(self):
        """What rows left out say, by how many true refits, what is to be said of it."""
        n_refits, reasons = self.prior.refits, []
        if n_refits and self.whole is not None:
            if has_frozen(self.whole[0]):
                reasons.append(say.frozen_in_refits(used=False))
            elif (found := self._refits(n_refits)) is not None:
                return found, n_refits, []
        if not self.prior.leave_pair_out:
            return None, None, reasons
        if self.scored.supervised:  # the model alone would not see the selection
            can_refit = not self._is_pair and not reasons
            return None, None, [*reasons, say.supervised_step(refits=can_refit)]
        training, learnt = self.rows == "training", self.projection.learnt
        found, reason = left_out(self.scored, training, learnt)
        return found, None, reasons if reason is None else [*reasons, reason]

    def _refits(self, n_refits):
        verbose = self.prior.verbose
        return refits_source(*self._refit_question(), n_refits, verbose=verbose)

    def _broken(self, reasons):
        """Posterior behind a step that saw y and is not affine: from true refits."""
        n_refits = self.prior.refits or REFITS
        found = self._refits(n_refits)
        reasons.append(say.no_closed_form(self.scored.broken_by, n_refits))
        if found is None:
            return replace(self.projection.auc(), warnings=tuple(reasons)), reasons
        posterior = posterior_of_source(found, self._n)
        if has_frozen(self.whole[0]):
            reasons.append(say.frozen_in_refits(used=True))
        said = tuple(reasons)
        return replace(posterior, second_source="refits", warnings=said), reasons

    def _not_refitted(self):
        """What a pair of more than two classes, which has no refits, misses."""
        reasons = []
        if self.scored.broken_by is not None:
            reasons.append(say.closed_form_anyway(self.scored.broken_by))
        if self._is_pair and self.prior.refits:
            reasons.append(say.pairs_without_refits())
        return reasons

    def _say_broken(self):
        """Warn where a closed form is asked that does not hold."""
        name = self.scored.broken_by
        if name is not None and self.rows != "held-out":
            self._warn_once(say.closed_form_anyway(name))

    def _warn_once(self, reason):
        SAID.warn_once(reason, self.scored.entry, self.scored.positive)

    @property
    def _is_pair(self):
        return self.scored.model is None

    def _refit_question(self):
        return _refit_question(self.whole, self.scored)

    @property
    def _counted(self):
        """Scores of the rows that count."""
        score, weight = self.scored.score, self.scored.weight
        return score if weight is None else score[weight > 0]

    @property
    def _n(self):
        weight = self.scored.weight
        return float(len(self.scored.positive) if weight is None else weight.sum())

    def _any_rows(self):
        """Reasons that hold for any prior and any rows."""
        n_pos = self._n * self.scored.share_pos
        few = say.few_rows(round(self._n - n_pos, 9), round(n_pos, 9))
        low, high = self.scored.extremes
        steps = say.rounded_decisions(high - low, self.scored.threshold)
        parts = say.relative_weights(self.scored.weight)
        return tuple(reason for reason in (few, steps, parts) if reason is not None)


def opened_for(prior, estimator, X, open_linear=open_estimator) -> LinearModel:
    """An opened estimator; with true refits any classifier has a score.

    Refits are asked for, or are what a stacked model gets: its last model is linear in
    what models that saw y have made.

    Parameters
    ----------
    prior : AdaptivePrior or NormalInverseWishart
    estimator : fitted estimator
    X : array-like or sparse matrix of shape (n, n_features)
    open_linear : callable, default=open_estimator

    Returns
    -------
    LinearModel
    """
    try:
        return open_linear(estimator, X)
    except NotLinearError:
        opened = None
        adaptive = isinstance(prior, AdaptivePrior)
        if adaptive and (prior.refits or is_stacked(estimator)):
            opened = open_score(estimator, X)
            if opened is None and len(getattr(estimator, "classes_", ())) > 2:
                raise NotLinearError(
                    f"{type(estimator).__name__} is not linear, and refits are for two "
                    "classes: score held-out predict_proba with skauc.hand_till_auc"
                ) from None
        if opened is None:
            raise
        return opened


def model_posterior(
    opened: LinearModel,
    y,
    *,
    prior,
    covariance,
    sample_weight,
    pos_label,
    rows="auto",
    whole=None,
) -> ModelPosterior:
    """Posterior of a linear model of two classes on some rows.

    Parameters
    ----------
    opened : LinearModel
    y : array-like of shape (n,)
    prior : AdaptivePrior or NormalInverseWishart
    covariance : {"common", "spherical", "separate"}
    sample_weight : array-like of shape (n,) or None
    pos_label : label or None
    rows : {"auto", "training", "held-out"}, default="auto"
    whole : tuple (estimator, X, y) or None, default=None
        For true refits.

    Returns
    -------
    ModelPosterior
    """
    enter = isinstance(prior, AdaptivePrior)
    scored = score_model(opened, y, sample_weight, pos_label, enter=enter)
    return posterior_of_scores(scored, prior, covariance, rows, whole)


def pair_posteriors(
    opened: LinearModel, y, *, prior, covariance, sample_weight, pos_label, rows="auto"
) -> dict[tuple, ModelPosterior]:
    """Posteriors of all pairs of classes, each on its own rows.

    Parameters
    ----------
    opened, y, prior, covariance, sample_weight, pos_label, rows
        As for :func:`model_posterior`.

    Returns
    -------
    dict of (label, label) to ModelPosterior
    """
    enter = isinstance(prior, AdaptivePrior)
    pairs = score_pairs(opened, y, sample_weight, pos_label, enter=enter)
    known: dict = {"rows": rows}
    found: dict = {}
    for name, scored in pairs:  # the rows of one pair at a time
        if not found and rows == "auto" and enter:
            known = rows_of_pairs(opened, y, sample_weight, scored)
        found[name] = posterior_of_scores(scored, prior, covariance, **known)
    return found


def rows_of_pairs(opened: LinearModel, y, sample_weight, first) -> dict:
    """What the rows of all classes are, which one model has seen.

    Parameters
    ----------
    opened : LinearModel
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    first : ScoredModel
        Of a pair; the way to it is that to all.

    Returns
    -------
    dict
        Keywords of :func:`posterior_of_scores`.
    """
    # What a step that saw y has made of the rows is not what trained the model.
    if first.broken_by is None:
        labels = y if isinstance(y, LabelColumn) else column_or_1d(y)
        told, doubtful = told_rows_of_classes(opened, labels, sample_weight)
        anew = told == "held-out" and are_made_anew(opened.stages, labels)
        if told is not None and not anew:
            return {"rows": told, "doubtful": doubtful}
    return {"rows": "assumed", "assumed_of": type(opened.model).__name__}


def posterior_of_scores(
    scored: ScoredModel,
    prior,
    covariance,
    rows="auto",
    whole=None,
    doubtful=False,
    assumed_of=None,
) -> ModelPosterior:
    """Posterior of scores that are there already.

    The adaptive prior speaks about the features that entered the estimator, a
    conjugate one, as published, about those in front of the linear model, and about
    rows that are taken for training rows unless ``rows`` says otherwise. Of held-out
    rows the score is one feature.
    """
    adaptive = isinstance(prior, AdaptivePrior)
    if rows == "auto":
        rows = (_told(scored, whole) or "assumed") if adaptive else "training"
        doubtful = rows == "held-out" and weights_may_tell(scored)
    Z, w = (scored.Z, scored.w) if adaptive else (scored.samples, scored.w_front)
    if rows == "held-out" and np.any(w):
        # w was found by other rows: it carries more about δ than the prior knows.
        Z, w = scored.feature, np.ones(1)
    rows_and_counts = scored.score, scored.positive, scored.weight
    sketch = scored.sketch if Z is scored.Z else None
    projection = project(prior, Z, w, *rows_and_counts, covariance, sketch)
    question = prior, projection, rows, whole, doubtful, assumed_of
    return ModelPosterior(scored, *question)


def _told(scored, whole):
    """What the rows are, if anything tells.

    Behind a step that saw y, or that gave the model other rows than these: clones of
    the whole.
    """
    if whole is None:
        return told_rows(scored)
    if scored.broken_by is None:
        told = told_rows(scored)
        if told != "held-out" or not are_made_anew(scored.stages, whole[2]):
            return told
    return told_by_refits(*_refit_question(whole, scored))


def _refit_question(whole, scored):
    estimator, X, y = whole
    columns = map(made_column, (y, scored.positive, scored.weight, scored.score))
    return estimator, X, *columns
