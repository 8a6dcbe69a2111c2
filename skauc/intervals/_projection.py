"""The posterior along a direction ``s = X @ w``, and score functions that use it.

Every prior builds a model of the rows and projects it on the direction; the projection
has the methods ``.auc()``, ``.rates(t)`` and ``.ebauc(t)``.
The score functions ``f(y_true, y_score)`` treat the score as a single Gaussian feature.
"""

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._validation import ScoredRows
from ..adaptive._data_model import data_model
from ..adaptive._prior import AdaptivePrior
from ..posterior._conjugate import COVARIANCES, NormalInverseWishart
from ..roc._binormal import BinormalROC
from ..statistics._checks import check_option, short
from ..statistics._moments import class_moments
from ..statistics._rows import Rows
from ..statistics._types import ArrayLike, Values
from ..statistics._warn_caller import UntrustedAUCWarning, warn_caller
from ..statistics._weights import warn_unless_counts
from ._auc_estimate import auc_estimate

# Relative difference below which scores are equal: rounding of a sum of P products
_SAME = 64 * np.finfo(float).eps
Prior = str | AdaptivePrior | NormalInverseWishart
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
            "a NormalInverseWishart has both"
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
    covariance : {"common", "separate"}
    """
    if isinstance(prior, AdaptivePrior):
        return data_model(prior, rows).along(w, score)
    moments = class_moments(score, rows.positive, rows.weight)
    return prior.project(w, *moments, covariance)


def ranks_nothing(w, score, model=None) -> str | None:
    """Why a score, of a model, does not rank rows, as half a sentence, or None."""
    low, high = score.min(), score.max()
    if not np.any(w):
        reason = "the coefficients{of} are all 0"
    elif high - low <= _SAME * max(-low, high):
        reason = "all scores{of} are equal"
    else:  # the text of an estimator takes longer than its score
        return None
    return reason.format(of="" if model is None else f" of {short(model)}")


def warn_undefined(reason) -> None:
    """Warn that an AUC is ½ because nothing is ranked."""
    warn_caller(
        f"The AUC is undefined and set to 1/2 because {reason}", UndefinedMetricWarning
    )


def cbauc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Prior = "adaptive",
    covariance: str = "common",
    sample_weight: Values = None,
    pos_label: object = None,
) -> float:
    """Bayesian AUC of a score, treated as a single Gaussian feature.

    Answers: which AUC is to be expected from this score on new rows, if the score is
    normal in each class, with one variance by default? It is for *held-out* scores of
    any model, and wrong if they are not normal, such as probabilities or counts: use
    :func:`skauc.auc_estimate` for those. For scores of the training rows it is
    optimistic, because it does not account for the P coefficients that were fitted; use
    :func:`skauc.auc_posterior` or :func:`make_cbauc_scorer` for those. It takes no
    groups of dependent rows, because it has no interval that they would change. Costs
    one sort.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Prior for the score as a feature. The default ``"adaptive"`` does not depend on
        the scale of the scores; ``"paper"`` has prior means 0 and scale 1 and expects
        scores of unit scale.
    covariance : {"common", "separate"}, default="common"
        Whether both classes have one variance, or each has its own.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which determine the width of the posterior.
        Each class needs a sum of at least 1. Divide relative weights by the largest of
        them.
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
    UntrustedAUCWarning
        If the score lies outside the 95 % interval of the empirical AUC.

    See Also
    --------
    auc_estimate : Empirical AUC with an interval; assumes nothing about the scores.
    auc_posterior : A model and the rows that trained it.
    ebauc_score : The same question by the predictive ROC curve.

    Notes
    -----
    The score is ``T_df(D/√((2 + v) q/df))`` (CBAUC, Proposition 1 of [1]_), where T_df
    is the distribution function of Student's t, and D, v, q and df belong to the
    one-feature posterior of :class:`skauc.NormalInverseWishart`.
    :class:`skauc.AdaptivePrior` gives a mixture of such terms.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771

    Examples
    --------
    >>> from skauc import cbauc_score
    >>> round(cbauc_score([0, 0, 0, 1, 1, 1], [-1.2, 0.1, -0.4, 0.3, 1.9, 0.8]), 3)
    0.829
    """
    posterior, rows = _one_feature(
        y_true, y_score, prior, covariance, sample_weight, pos_label
    )
    return 0.5 if posterior is None else _doubted(posterior.auc().mean(), rows)


def ebauc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Prior = "adaptive",
    covariance: str = "separate",
    thresholds: str = "scores",
    sample_weight: Values = None,
    pos_label: object = None,
) -> float:
    """Area under the Bayesian predictive ROC curve of a score.

    Answers the question of :func:`cbauc_score` by the posterior predictive
    distributions of both classes, which are Student's t [2]_ (EBAUC). Like that
    function it is for held-out scores and optimistic for scores of the training rows.
    Costs O(n log n).

    Parameters
    ----------
    y_true, y_score, prior, sample_weight, pos_label
        As for :func:`cbauc_score`.
    covariance : {"separate", "common"}, default="separate"
        As for :func:`cbauc_score`; the authors' code uses separate variances for EBAUC.
    thresholds : {"scores", "all"}, default="scores"
        Thresholds of the ROC curve: ``"scores"`` applies the trapezoidal rule to the
        observed scores and the end points (0, 0) and (1, 1); ``"all"`` is the limit of
        infinitely many thresholds.

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
    UndefinedMetricWarning, UntrustedAUCWarning
        As :func:`cbauc_score`.

    See Also
    --------
    cbauc_score : The posterior mean of the AUC, in closed form; prefer it.
    auc_estimate : Empirical AUC with an interval.
    make_ebauc_scorer : The same for a model and the rows that trained it.

    Notes
    -----
    The published code [1]_ omits the end points and is therefore biased downwards in
    small samples; this function includes them. If the scores leave a gap between the
    classes, ``"scores"`` connects its ends by a straight line and is below ``"all"``.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771
    .. [2] Dalton & Dougherty (2011), "Bayesian minimum mean-square error estimation for
       classification error — part II", https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import ebauc_score
    >>> y, s = [0, 0, 0, 1, 1, 1], [-1.2, 0.1, -0.4, 0.3, 1.9, 0.8]
    >>> round(ebauc_score(y, s, thresholds="all"), 3)
    0.831
    """
    check_option("thresholds", thresholds, ("scores", "all"))
    posterior, rows = _one_feature(
        y_true, y_score, prior, covariance, sample_weight, pos_label, "separate"
    )
    if posterior is None:
        return 0.5
    at = None if thresholds == "all" else rows.X[:, 0]
    return _doubted(posterior.ebauc(at), rows)


def binormal_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    equal_variance: bool = False,
    sample_weight: Values = None,
    pos_label: object = None,
) -> BinormalROC:
    """Smooth ROC curve of a score, from normal distributions fitted to both classes.

    Answers: what is the ROC curve of these scores, if they are normal in each class
    [1]_? The curve has no interval that groups of dependent rows would change. Costs
    O(n).

    Parameters
    ----------
    y_true, y_score, pos_label
        As for :func:`cbauc_score`.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, of which each variance takes one off.
    equal_variance : bool, default=False
        Pool the variances of the classes; the curve is then concave (proper) if its AUC
        is at least ½.

    Returns
    -------
    BinormalROC

    Raises
    ------
    ValueError
        If a class has one row and ``equal_variance`` is False, or the input is invalid.

    See Also
    --------
    empirical_roc : The curve without an assumption about the scores.
    ROCDisplay : Draws the curve, also beside the empirical one.
    skauc.results.BinormalROC : What it returns; it can be made from four numbers, too.

    References
    ----------
    .. [1] Krzanowski & Hand (2009), *ROC Curves for Continuous Data*, chapter 2,
       https://doi.org/10.1201/9781439800225

    Examples
    --------
    >>> from skauc import binormal_roc
    >>> binormal_roc([0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0]).youden().threshold
    1.0
    """
    rows, _ = counted_scores(y_true, y_score, sample_weight, pos_label)
    neg, pos = class_moments(rows.X[:, 0], rows.positive, rows.weight)
    return BinormalROC.from_moments(neg, pos, equal_variance=equal_variance)


def _one_feature(
    y_true, y_score, prior, covariance, sample_weight, pos_label, default="common"
):
    """Posterior of the score (None for equal scores), and rows of positive weight."""
    prior = check_prior(prior)
    check_covariance(prior, covariance, default)
    rows, _ = counted_scores(y_true, y_score, sample_weight, pos_label)
    score, w = rows.X[:, 0], np.ones(1)
    reason = ranks_nothing(w, score)
    if isinstance(prior, AdaptivePrior):  # which does not depend on the origin
        score = score - score.mean()
        rows = Rows.of(score[:, None], rows.positive, rows.weight)
    if reason is None:
        return project(prior, rows, w, score, covariance), rows
    warn_undefined(reason)
    return None, rows


def _doubted(auc, rows):
    """Return an AUC of normal scores; warn if the ranks of the scores exclude it."""
    given = rows.positive, rows.X[:, 0]
    estimate = auc_estimate(*given, sample_weight=rows.weight)
    low, high = estimate.confidence_interval()
    if not low <= auc <= high:
        warn_caller(
            f"The AUC {auc:.3g} of normal scores lies outside the 95 % interval of the "
            f"empirical AUC, {low:.3g} to {high:.3g}: in a class the scores are not "
            "normal, or they do not fit the prior. Report auc_estimate, or transform "
            "the scores, for example probabilities to log odds",
            UntrustedAUCWarning,
        )
    return auc


def counted_scores(y_true, y_score, sample_weight, pos_label):
    """Rows of positive weight with the score as their only feature; the label."""
    given = y_true, (y_score,), sample_weight, None, pos_label
    rows = ScoredRows.of(*given, largest=1e70)
    warn_unless_counts(rows.weight)
    X = rows.scores[0][:, None]
    return Rows.of(X, rows.positive, rows.weight).as_counts(), rows.pos_label
