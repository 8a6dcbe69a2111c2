"""The Bayesian twin of ``compare_auc``: opens two estimators, asks one posterior.

The mathematics stands in section 7 of :mod:`skauc.posterior`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._validation import (
    check_counts,
    check_features,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..posterior._conjugate import NormalInverseWishart
from ..posterior._joint import AUCDifferencePosterior, joint_posterior
from ..statistics._moments import project_samples
from ._linear_model import open_two_classes


def auc_difference_posterior(
    estimator_a,
    estimator_b,
    X,
    y,
    *,
    prior="paper",
    covariance="common",
    n_draws=2**14,
    random_state=0,
    sample_weight=None,
    pos_label=None,
) -> AUCDifferencePosterior:
    """Posterior of ``AUC_a − AUC_b`` for two fitted linear models.

    Answers: how sure is it that the first model has the larger true AUC? Both speak
    about the same rows, usually those that trained them, and both are judged by
    one posterior of the features, so that what they share cancels. Assumes normal
    features. Costs two ``X @ coef_`` and the draws.

    Parameters
    ----------
    estimator_a, estimator_b : fitted estimator
        As for :func:`auc_posterior`. Where they see different features (other
        Pipelines), the prior speaks about all features of both, side by side.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    prior : "paper" or NormalInverseWishart, default="paper"
        See :class:`NormalInverseWishart`: ``"paper"`` is not honest unless P is small
        against n. The adaptive prior has no joint form here.
    covariance : {"common", "separate"}, default="common"
        One covariance for both classes or one each.
    n_draws : int, default=16384
        Quasi-random draws, rounded up to a power of 2.
    random_state : int or Generator, default=0
        Seed of their scrambling.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which set the width of the posterior, at
        least 1 in each class; multiply relative ones by n / their sum.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.

    Returns
    -------
    AUCDifferencePosterior

    Raises
    ------
    TypeError
        If a model is not linear.
    ValueError
        If the input is bad, the models know other classes, coefficients are all 0,
        or the posterior is not proper.

    Notes
    -----
    See section 7 of ``skauc.posterior``; the error of a probability is about 1e-4 at
    the default number of draws.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC); Smith & Hocking (1972),
    https://doi.org/10.2307/2346290, for the draws.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import auc_difference_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = (X - X.mean(axis=0))[:, :2] / X.std(axis=0)[:2]
    >>> a, b = (LogisticRegression(C=C).fit(Z, y) for C in (1, 1e-4))
    >>> round(auc_difference_posterior(a, b, Z, y).probability, 2)
    0.97
    """
    conjugate = _check_conjugate(prior)
    check_option("covariance", covariance, ("common", "separate"))
    a, b = open_two_classes(estimator_a, X), open_two_classes(estimator_b, X)
    if (
        a.classes is not None
        and b.classes is not None
        and not np.array_equal(a.classes, b.classes)
    ):
        raise ValueError(
            f"estimator_b must know the classes of estimator_a, {a.classes.tolist()}, "
            f"got {b.classes.tolist()}"
        )
    positive = check_positive(y, pos_label=pos_label, classes=a.classes)
    weight = check_weight(sample_weight, positive)
    check_counts(weight, positive)
    scores, W = _both_scores(a, b, len(positive))
    if a.classes is not None and pos_label is not None and pos_label == a.classes[0]:
        scores, W = -scores, -W
    joint = joint_posterior(scores, W, positive, weight, conjugate, covariance)
    return joint.draw(n_draws, random_state)


def _check_conjugate(prior):
    if isinstance(prior, str) and prior == "paper":
        return NormalInverseWishart()
    if not isinstance(prior, NormalInverseWishart):
        raise ValueError(
            "prior must be 'paper' or a NormalInverseWishart for two models, got "
            f"{prior!r}"
        )
    return prior


def _both_scores(a, b, n):
    """Scores of both models, (n, 2), and W on the features that they see."""
    Z_a, Z_b = check_features(a.front, n), check_features(b.front, n)
    for Z, linear in ((Z_a, a), (Z_b, b)):
        if Z.shape[1] != len(linear.w):
            raise ValueError(
                f"X must have the {len(linear.w)} features the model was trained on, "
                f"got {Z.shape[1]}"
            )
        if not linear.w.any():
            raise ValueError(
                f"{type(linear.model).__name__} must have a coefficient other than 0, "
                "got only 0"
            )
    scores = [
        check_score(project_samples(Z, linear.w), n, name="X @ coef_")
        for Z, linear in ((Z_a, a), (Z_b, b))
    ]
    if _equal(Z_a, Z_b):
        W = np.column_stack([a.w, b.w])
    else:
        W = np.zeros((len(a.w) + len(b.w), 2))
        W[: len(a.w), 0], W[len(a.w) :, 1] = a.w, b.w
    return np.column_stack(scores), W


def _equal(Z_a, Z_b):
    if Z_a is Z_b:
        return True
    if Z_a.shape != Z_b.shape or sparse.issparse(Z_a) != sparse.issparse(Z_b):
        return False
    if sparse.issparse(Z_a):
        return (Z_a != Z_b).nnz == 0
    return np.array_equal(Z_a, Z_b)
