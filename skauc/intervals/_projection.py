"""The posterior along a direction ``s = X @ w``, and score functions that use it.

Every prior builds a model of the rows and projects it on the direction; the projection
has the methods ``.auc()``, ``.rates(t)``, ``.error(t, share_pos)`` and ``.ebauc(t)``.
The score functions ``f(y_true, y_score)`` treat the score as a single Gaussian feature.
"""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._validation import (
    check_counts,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..adaptive._data_model import data_model
from ..adaptive._prior import AdaptivePrior
from ..posterior._conjugate import COVARIANCES, LearntConjugate, NormalInverseWishart
from ..roc._binormal import BinormalROC
from ..statistics._moments import class_moments
from ..statistics._rows import Rows
from ..statistics._warn_caller import warn_caller

# Relative difference below which scores are equal: rounding of a sum of P products
_SAME = 64 * np.finfo(float).eps
_PRIORS = {"adaptive": AdaptivePrior(), "paper": NormalInverseWishart()}


def check_prior(prior):
    """Prior for a name or a prior object; raise for anything else."""
    if isinstance(prior, str) and prior in _PRIORS:
        return _PRIORS[prior]
    if not isinstance(prior, AdaptivePrior | NormalInverseWishart):
        raise ValueError(
            "prior must be 'adaptive', 'paper', an AdaptivePrior or a "
            f"NormalInverseWishart, got {prior!r}"
        )
    return prior


def check_covariance(prior, covariance, default="common") -> None:
    """Raise if the prior does not have the covariance.

    The adaptive prior takes only "common" and ``default``, the default of the calling
    function.
    """
    check_option("covariance", covariance, COVARIANCES)
    if isinstance(prior, AdaptivePrior) and covariance not in ("common", default):
        raise ValueError(
            f"covariance must be 'common' for the adaptive prior, got {covariance!r}; "
            "a NormalInverseWishart has all three"
        )


def project(prior, rows: Rows, w, score, covariance):
    """Posterior of the scores ``rows.X @ w`` under a prior.

    Parameters
    ----------
    prior : AdaptivePrior or NormalInverseWishart
    rows : Rows
    w : ndarray of shape (P,)
    score : ndarray of shape (n,)
        ``rows.X @ w``, computed once by the caller.
    covariance : {"common", "spherical", "separate"}
    """
    if isinstance(prior, AdaptivePrior):
        return data_model(prior, rows).along(w, score)

    def learn():
        return prior.learn(rows.X, rows.positive, rows.weight, covariance=covariance)

    features = None
    if covariance == "spherical":  # all candidates share these sums over rows
        features = rows.cached("class traces", lambda: learn().features)
    learnt = LearntConjugate(prior, rows.positive, rows.weight, covariance, features)
    return learnt.project(w, score)


def ranks_nothing(w, score) -> str | None:
    """Why a score does not rank rows, as half a sentence; None if it does."""
    if not np.any(w):
        return "the coefficients are all 0"
    low, high = score.min(), score.max()
    if high - low <= _SAME * max(-low, high):
        return "all scores are equal"
    return None


def warn_undefined(reason) -> None:
    """Warn that an AUC is ½ because nothing is ranked."""
    warn_caller(
        f"The AUC is undefined and set to 1/2 because {reason}", UndefinedMetricWarning
    )


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
        least 1 in each class; divide relative ones by the largest of them.
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
    ``T_df(D/√((2 + v) q/df))``, T_df the distribution function of Student's t, with D,
    v, q and df of the one-feature posterior of :class:`skauc.NormalInverseWishart`; or
    a mixture of such terms (:class:`skauc.AdaptivePrior`).

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC), Proposition 1.

    Examples
    --------
    >>> from skauc import cbauc_score
    >>> round(cbauc_score([0, 0, 0, 1, 1, 1], [-1.2, 0.1, -0.4, 0.3, 1.9, 0.8]), 3)
    0.829
    """
    posterior, _ = _one_feature(
        y_true, y_score, prior, covariance, sample_weight, pos_label
    )
    return 0.5 if posterior is None else posterior.auc().mean()


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
    0.831
    """
    check_option("thresholds", thresholds, ("scores", "all"))
    posterior, score = _one_feature(
        y_true, y_score, prior, covariance, sample_weight, pos_label, "separate"
    )
    if posterior is None:
        return 0.5
    return posterior.ebauc(None if thresholds == "all" else score)


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
    # divide by the largest score, so that no square overflows or underflows
    unit = float(np.abs(score).max()) or 1.0
    neg, pos = class_moments(score / unit, positive, weight)
    roc = BinormalROC.from_moments(neg, pos, equal_variance=equal_variance)
    return BinormalROC(
        roc.mean_neg * unit, roc.std_neg * unit, roc.mean_pos * unit, roc.std_pos * unit
    )


def _one_feature(
    y_true, y_score, prior, covariance, sample_weight, pos_label, default="common"
):
    """Posterior of the score (None for equal scores), and scores of positive weight."""
    prior = check_prior(prior)
    check_covariance(prior, covariance, default)
    positive = check_positive(y_true, pos_label=pos_label)
    score = check_score(y_score, len(positive), largest=1e70)
    weight = check_weight(sample_weight, positive)
    check_counts(weight, positive)
    rows = Rows.of(score[:, None], positive, weight)
    score, w = rows.X[:, 0], np.ones(1)
    reason = ranks_nothing(w, score)
    if reason is None:
        return project(prior, rows, w, score, covariance), score
    warn_undefined(reason)
    return None, score
