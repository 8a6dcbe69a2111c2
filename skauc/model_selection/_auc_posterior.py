"""Score functions, and the posterior of a fitted model's AUC.

A *score function* takes ``(y_true, y_score)`` and sees the score as one Gaussian
feature. :func:`auc_posterior` takes ``(estimator, X, y)``, opens the estimator down to
its linear model (:mod:`skauc.model_selection._linear_model`) and speaks about ``wᵀx`` with a prior on all
features: that is what may be asked about the rows that trained the model.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import column_or_1d

from .._validation import (
    check_codes,
    check_counts,
    check_features,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..adaptive._learnt import LearntProjection
from ..adaptive._prior import AdaptivePrior
from ..leave_pair_out._second_source import SecondSource
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import (
    COVARIANCES,
    NormalInverseWishart,
    ProjectedPosterior,
    projected_posterior,
)
from ..posterior._pairwise import PairwiseAUCPosterior
from ..roc._binormal import BinormalROC
from ..statistics._moments import class_moments, project_samples
from ._linear_model import LinearRule, any_linear_rule, pair_rules
from ._training_objective import REARRANGED, leave_pair_out_estimate
from ._warnings import UntrustedAUCWarning

# --------------------------------------------------------------------------------------
# Score functions: f(y_true, y_score)
# --------------------------------------------------------------------------------------


def cbauc_score(
    y_true,
    y_score,
    *,
    prior="adaptive",
    covariance="common",
    sample_weight=None,
    pos_label=None,
) -> float:
    """Bayesian AUC of a score seen as one Gaussian feature.

    Answers: what AUC should be expected of this score, if it is normal in each class?
    Right for *held-out* scores of any model. On the scores of the rows that trained
    the model it is optimistic, because one feature knows nothing of the P that were
    fitted; use :func:`skauc.auc_posterior` or :func:`make_cbauc_scorer` there.
    Costs O(n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Prior on the one feature; default ``"adaptive"``, which does not depend on the
        scale of the scores; ``"paper"`` has prior means 0 and scale 1 and expects
        scores of unit scale.
    covariance : {"common", "spherical", "separate"}, default="common"
        One variance for both classes or one each. With one feature the first two
        agree.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which set the width of the posterior, at
        least 1 in each class; multiply relative ones by n / their sum.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    float
        Posterior mean of the AUC, in [0, 1].

    Raises
    ------
    ValueError
        If the input is not finite, of different lengths or of one class only.

    Warns
    -----
    UndefinedMetricWarning
        If all scores are equal; the AUC is ½ then.

    Notes
    -----
    ``T_df(D/√((2 + v) q/df))`` with the one-feature posterior of
    :class:`skauc.NormalInverseWishart`, or a mixture of such terms
    (:class:`skauc.AdaptivePrior`).

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC), Proposition 1.

    Examples
    --------
    >>> from skauc import cbauc_score
    >>> round(cbauc_score([0, 0, 0, 1, 1, 1], [-1.2, 0.1, -0.4, 0.3, 1.9, 0.8]), 3)
    0.801
    """
    belief = _one_feature(
        y_true, y_score, prior, covariance, sample_weight, pos_label
    ).belief
    return belief.auc().mean() if belief else 0.5


def ebauc_score(
    y_true,
    y_score,
    *,
    prior="adaptive",
    covariance="separate",
    thresholds="scores",
    sample_weight=None,
    pos_label=None,
) -> float:
    """Area under the Bayesian predictive ROC curve of a score.

    Answers the question of :func:`cbauc_score` through the two posterior predictive
    Student distributions (EBAUC). The same warning holds for training scores.
    Costs O(n log n) with ``thresholds="scores"``, O(n) with ``"all"``.

    Parameters
    ----------
    y_true, y_score, prior, sample_weight, pos_label
        As for :func:`cbauc_score`.
    covariance : {"separate", "common", "spherical"}, default="separate"
        The authors' code takes separate variances here.
    thresholds : {"scores", "all"}, default="scores"
        Trapezoid over the observed scores and the end points (0, 0), (1, 1), or the
        limit of infinitely many thresholds.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As :func:`cbauc_score`.

    Warns
    -----
    UndefinedMetricWarning
        If all scores are equal; the AUC is ½ then.

    Notes
    -----
    The published code leaves the end points out, which biases it downwards on small
    samples; they are in here. Where no score falls between the classes, the trapezoid
    of ``"scores"`` cuts straight across the gap and stays below ``"all"``.

    References
    ----------
    Hassan et al. (2019); Dalton & Dougherty (2011),
    https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import ebauc_score
    >>> y, s = [0, 0, 0, 1, 1, 1], [-1.2, 0.1, -0.4, 0.3, 1.9, 0.8]
    >>> round(ebauc_score(y, s, thresholds="all"), 3)
    0.799
    """
    check_option("thresholds", thresholds, ("scores", "all"))
    rule = _one_feature(y_true, y_score, prior, covariance, sample_weight, pos_label)
    return ebauc_of_direction(rule, thresholds)


def binormal_auc_score(
    y_true, y_score, *, equal_variance=False, sample_weight=None, pos_label=None
) -> float:
    """Plug-in binormal AUC ``Φ((x̄₁ − x̄₀)/√(σ̂₀² + σ̂₁²))`` of a score.

    Answers: what is the AUC of normal scores with these means and variances? A
    smooth estimate for held-out scores; on training scores as optimistic as the
    empirical AUC. Costs O(n).

    Parameters
    ----------
    y_true, y_score, pos_label
        As for :func:`cbauc_score`.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, of which each variance takes one off.
    equal_variance : bool, default=False
        Pool the variances of the classes.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As :func:`binormal_roc`.

    References
    ----------
    Krzanowski & Hand (2009), https://doi.org/10.1201/9781439800225

    Examples
    --------
    >>> from skauc import binormal_auc_score
    >>> round(binormal_auc_score([0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0]), 4)
    0.8413
    """
    return binormal_roc(
        y_true,
        y_score,
        equal_variance=equal_variance,
        sample_weight=sample_weight,
        pos_label=pos_label,
    ).auc


def binormal_roc(
    y_true, y_score, *, equal_variance=False, sample_weight=None, pos_label=None
) -> BinormalROC:
    """Sample-binormal ROC curve of a score.

    Answers: what is the smooth ROC curve of these scores, if they are normal in each
    class? Costs O(n).

    Parameters
    ----------
    y_true, y_score, pos_label
        As for :func:`cbauc_score`.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, of which each variance takes one off.
    equal_variance : bool, default=False
        Pool the variances of the classes (a proper curve).

    Returns
    -------
    BinormalROC

    Raises
    ------
    ValueError
        If a class has one row and ``equal_variance`` is False, or the input is bad.

    References
    ----------
    Krzanowski & Hand (2009), https://doi.org/10.1201/9781439800225

    Examples
    --------
    >>> from skauc import binormal_roc
    >>> binormal_roc([0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0]).youden().threshold
    1.0
    """
    positive = check_positive(y_true, pos_label=pos_label)
    score = check_score(y_score, len(positive))
    weight = check_weight(sample_weight, positive)
    # In units of the largest score, so that no square overflows or underflows.
    unit = float(np.abs(score).max()) or 1.0
    neg, pos = class_moments(score / unit, positive, weight)
    roc = BinormalROC.from_moments(neg, pos, equal_variance=equal_variance)
    return BinormalROC(
        roc.mean_neg * unit, roc.std_neg * unit, roc.mean_pos * unit, roc.std_pos * unit
    )


# --------------------------------------------------------------------------------------
# One direction of the data
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Direction:
    """Scores of a linear rule, and what is believed about them.

    ``belief`` is None when the rule ranks nothing: then the AUC is ½. ``model`` and
    ``Z`` are what a second witness needs, None for a bare score.
    """

    score: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None
    belief: ProjectedPosterior | LearntProjection | None
    threshold: float = 0.0
    model: object = None
    Z: object = None
    flipped: bool = False

    @property
    def share_pos(self) -> float:
        """Weighted share of the positive class."""
        if self.weight is None:
            return float(self.positive.mean())
        return float(self.weight[self.positive].sum() / self.weight.sum())

    def posterior(self) -> AUCPosterior:
        """Posterior of the AUC, with leave-pair-out where it is wanted and known."""
        if self.belief is None:
            return AUCPosterior.point_mass_at_half()
        if isinstance(self.belief, LearntProjection) and self.belief.uses_second_source:
            found = self.witness()
            if found is None:
                return self.belief.auc()
            auc, variance = found.smooth_auc, found.smooth_variance
            source = SecondSource(auc, variance, "leave-pair-out")
            return replace(self.belief.auc(source), leave_pair_out=found.auc)
        return self.belief.auc()

    def witness(self):
        """Leave-pair-out of the model on these rows, or None."""
        if self.model is None:
            return None
        rows = self.positive ^ self.flipped
        witness = leave_pair_out_estimate(self.model, self.Z, rows, self.weight)
        if witness is not None:
            REARRANGED.remember(self.model, rows, self.score)
        elif REARRANGED.recall(self.model, rows, self.score):
            warnings.warn(
                f"The rows have the labels and the mean score of those that trained "
                f"the {type(self.model).__name__}, but are not those rows: permuted "
                "training rows are neither training nor held-out rows, and their AUC "
                "must not be compared with the one of the training rows, which heard "
                "leave-pair-out; take held-out rows, or make_cbauc_scorer(prior="
                "AdaptivePrior(leave_pair_out=False)) for both",
                UntrustedAUCWarning,
                stacklevel=4,
            )
        return witness


def directions_of_pairs(
    rule: LinearRule, y, prior, covariance, sample_weight, pos_label
) -> dict[tuple, Direction]:
    """One direction for each pair of classes, on the rows of that pair.

    No pair has a second witness: the model was fitted to the rows of all classes.
    """
    if pos_label is not None:
        raise ValueError(
            "pos_label must be None for more than two classes, got "
            f"{pos_label!r} with {rule.n_classes} classes"
        )
    labels = column_or_1d(y)
    codes = check_codes(labels, rule.classes)
    Z = check_features(rule.Z, len(labels))
    weight = sample_weight
    if weight is not None:
        weight = check_score(weight, len(labels), name="sample_weight")
    directions = {}
    pairs = combinations(range(rule.n_classes), 2)
    for (i, j), pair in zip(pairs, pair_rules(rule), strict=True):
        rows = np.flatnonzero((codes == i) | (codes == j))
        part = None if weight is None else weight[rows]
        pair = replace(pair, Z=Z[rows], model=None)
        name = tuple(pair.classes.tolist())
        directions[name] = direction_of_rule(
            pair, labels[rows], prior, covariance, part, None
        )
    return directions


def direction_of_rule(
    rule: LinearRule, y, prior, covariance, sample_weight, pos_label
) -> Direction:
    """Scores of a linear rule of two classes and the belief about them."""
    prior = check_prior(prior)
    positive = check_positive(y, pos_label=pos_label, classes=rule.classes)
    weight = check_weight(sample_weight, positive)
    Z = check_features(rule.Z, len(positive))
    if Z.shape[1] != len(rule.w):
        raise ValueError(
            f"X must have the {len(rule.w)} features the model was trained on, got "
            f"{Z.shape[1]}"
        )
    classes, threshold = rule.classes, rule.threshold
    if classes is None:  # a regressor on two labels cuts midway between them
        classes = np.unique(y)
        threshold = threshold + _midpoint(classes)
    flipped = bool(pos_label is not None and pos_label == classes[0])
    # In units of the largest coefficient: only the direction and the cut matter.
    unit = (np.abs(rule.w).max() or 1.0) * (-1.0 if flipped else 1.0)
    w, threshold = rule.w / unit, threshold / unit
    score = check_score(
        project_samples(Z, w), len(positive), name="X @ coef_", largest=1e150
    )
    belief = _belief(Z, w, score, positive, weight, prior, covariance)
    return Direction(score, positive, weight, belief, threshold, rule.model, Z, flipped)


def _midpoint(labels):
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            "y_true must hold numbers for a regressor to be scored, got labels "
            f"{labels.tolist()}"
        )
    return float(labels.astype(float).mean())


def _one_feature(y_true, y_score, prior, covariance, sample_weight, pos_label):
    prior = check_prior(prior)
    positive = check_positive(y_true, pos_label=pos_label)
    score = check_score(y_score, len(positive), largest=1e150)
    weight = check_weight(sample_weight, positive)
    Z, w = score[:, None], np.ones(1)
    belief = _belief(Z, w, score, positive, weight, prior, covariance)
    return Direction(score, positive, weight, belief)


def _belief(Z, w, score, positive, weight, prior, covariance):
    check_option("covariance", covariance, COVARIANCES)
    check_counts(weight, positive)
    name = None
    counted = score if weight is None else score[weight > 0]
    if not np.any(w):
        name = "the coefficients are all 0"
    elif np.ptp(counted) <= 64 * np.finfo(float).eps * np.abs(counted).max():
        name = "all scores are equal"
    if name:
        warnings.warn(
            f"The AUC is undefined and set to 1/2 because {name}",
            UndefinedMetricWarning,
            stacklevel=4,
        )
        return None
    if isinstance(prior, AdaptivePrior):
        learnt = prior.learn(Z, positive, weight, covariance=covariance)
        return learnt.project(w, score)
    neg, pos = class_moments(score, positive, weight)
    features = None
    if covariance == "spherical":
        features = class_moments(Z, positive, weight, featurewise=True)
    return projected_posterior(neg, pos, w, prior, covariance, features)


def check_prior(prior):
    """Prior object behind a word; anything else is an error."""
    if isinstance(prior, str) and prior in ("adaptive", "paper"):
        return AdaptivePrior() if prior == "adaptive" else NormalInverseWishart()
    if not isinstance(prior, AdaptivePrior | NormalInverseWishart):
        raise ValueError(
            "prior must be 'adaptive', 'paper', an AdaptivePrior or a "
            f"NormalInverseWishart, got {prior!r}"
        )
    return prior


def ebauc_of_direction(direction: Direction, thresholds) -> float:
    """EBAUC over the scores of the direction, or over all thresholds."""
    if direction.belief is None:
        return 0.5
    if thresholds == "all":
        return direction.belief.ebauc()
    score, weight = direction.score, direction.weight
    return direction.belief.ebauc(score if weight is None else score[weight > 0])


def auc_posterior(
    estimator,
    X,
    y,
    *,
    prior="adaptive",
    covariance="common",
    sample_weight=None,
    pos_label=None,
) -> AUCPosterior | PairwiseAUCPosterior:
    """Posterior of the true AUC of a fitted linear model, from one pass.

    Answers: given these rows, how large is the AUC of this model on new rows, and how
    sure is that? Assumes normal features in each class. Costs one ``X @ coef_``.

    Parameters
    ----------
    estimator : fitted estimator
        A linear classifier, or a Pipeline, search, frozen or threshold classifier that
        ends in one. It is not refitted.
    X : array-like or sparse matrix of shape (n, n_features)
        Rows as ``estimator.predict`` takes them; usually the training rows.
    y : array-like of shape (n,)
        Labels.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Prior on the features in front of the linear model; default ``"adaptive"``
        (:class:`skauc.AdaptivePrior`). ``"paper"`` is **not honest** unless P is small
        against n: on pure noise with P ≥ n it says 1.00.
    covariance : {"common", "spherical", "separate"}, default="common"
        One covariance for both classes, one multiple of the identity, or one each.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which set the width of the posterior, at
        least 1 in each class; multiply relative ones by n / their sum.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. None for more than two classes.

    Returns
    -------
    AUCPosterior
        For more than two classes a :class:`skauc.PairwiseAUCPosterior`: the mean over
        the pairs of classes, each with its own rule on its own rows.

    Raises
    ------
    TypeError
        If the model is not linear.
    ValueError
        If the input is bad (NaN, one class, lengths, other columns than the model's).
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.

    Warns
    -----
    UndefinedMetricWarning
        If all coefficients are 0 or all scores are equal; the AUC is ½ then.
    UntrustedAUCWarning
        If the rows are those that trained the model, rearranged (as permutation
        importance does): see the notes.

    Notes
    -----
    With the adaptive prior the posterior joins two witnesses, a mixture of closed
    forms and leave-pair-out from the same fit. The latter needs the rows that trained
    the model; whether X is that is detected (the gradient of the training objective
    vanishes on them), and on other rows, or for models whose objective is not known,
    the mixture speaks alone. ``posterior.leave_pair_out`` says which: a number or None.
    Two such numbers are not comparable: ``permutation_importance`` with
    ``cbauc_scorer`` belongs on held-out rows, where neither hears leave-pair-out; on
    training rows ``make_cbauc_scorer(prior=AdaptivePrior(leave_pair_out=False))``
    asks the same of the rows as they are and of the permuted ones.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import auc_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> round(auc_posterior(model, X, y).mean(), 3)
    0.986
    """
    question = prior, covariance, sample_weight, pos_label
    rule = any_linear_rule(estimator, X)
    if rule.n_classes == 2:
        return direction_of_rule(rule, y, *question).posterior()
    pairs = directions_of_pairs(rule, y, *question)
    return PairwiseAUCPosterior({k: pair.posterior() for k, pair in pairs.items()})
