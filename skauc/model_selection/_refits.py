"""True refits of a whole estimator in folds, as a source of its AUC."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import column_or_1d

from ..leave_pair_out._second_source import SecondSource
from ..posterior._auc_posterior import AUCPosterior
from ..statistics._ranks import delong_covariance, empirical_auc, placements
from ._any_estimator import decision_values, weight_for_fit
from ._any_rows import take_rows

FOLDS = 5
_SEED = 0  # one for all, so that all candidates of a search share their folds


def refits_source(
    estimator, X, y, positive, weight, folds, *, verbose=0
) -> SecondSource | None:
    """AUC of rows that K refits of a clone of the whole estimator left out.

    Parameters
    ----------
    estimator : estimator
        Any classifier; its score points to ``classes_[1]``.
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : array-like of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    folds : int
    verbose : int, default=0
        How much joblib says of the refits that are done; 0 is silent.

    Returns
    -------
    SecondSource or None
        None where a class has fewer than two rows a fold can leave out.

    Notes
    -----
    The mean of the folds' AUCs, folds weighted by their pairs; scores of different
    folds are never compared. The variance is the sum of the folds' DeLong variances
    with those weights squared: the folds test different rows.
    """
    labels = column_or_1d(y)
    if weight is not None and not weight.all():  # rows of weight 0 are none
        rows = np.flatnonzero(weight)
        X, labels = take_rows(X, rows), labels[rows]
        positive, weight = positive[rows], weight[rows]
    smaller = int(min(positive.sum(), (~positive).sum()))
    folds = min(int(folds), smaller)
    if folds < 2:
        return None
    splitter = StratifiedKFold(folds, shuffle=True, random_state=_SEED)
    parts = Parallel(n_jobs=1, verbose=verbose)(
        delayed(_fold)(estimator, X, labels, positive, weight, train, test)
        for train, test in splitter.split(np.zeros(len(labels)), positive)
    )
    auc, variance, pairs = np.array(parts).T
    share = pairs / pairs.sum()
    auc, variance = float(share @ auc), float(share**2 @ variance)
    return SecondSource(auc, max(variance, _floor(auc, positive)), "refits")


def _fold(estimator, X, y, positive, weight, train, test):
    """AUC, its variance, and the number of pairs of one fold."""
    params = {} if weight is None else weight_for_fit(estimator, weight[train])
    model = clone(estimator).fit(take_rows(X, train), y[train], **params)
    score = np.ravel(decision_values(model, take_rows(X, test))).astype(float)
    lower = getattr(model, "classes_", np.unique(y))[0]
    if positive[y == lower].any():  # the score points to the other label
        score = -score
    w = np.ones(len(test)) if weight is None else weight[test]
    pos = positive[test] & (w > 0)
    neg = ~positive[test] & (w > 0)
    rows = score[neg], score[pos], w[neg], w[pos]
    v01, v10 = placements(*rows)
    variance = 0.25  # one row says nothing about its spread: the largest there can be
    if min(neg.sum(), pos.sum()) > 1:
        variance = delong_covariance(v01[None], v10[None], w[neg], w[pos])[0, 0]
    return empirical_auc(*rows), variance, w[neg].sum() * w[pos].sum()


def _floor(auc, positive):
    """Least variance of an AUC that has seen only won pairs: one half row lost."""
    n = len(positive)
    auc = (auc * n + 0.5) / (n + 1)
    return auc * (1 - auc) / (2 * max(positive.sum(), n - positive.sum()))


def posterior_of_source(source: SecondSource, n: float) -> AUCPosterior:
    """Normal posterior of ``Φ⁻¹(AUC)`` around an estimate from rows left out.

    Parameters
    ----------
    source : SecondSource
    n : float
        Number of rows; keeps the probit finite.

    Returns
    -------
    AUCPosterior
        Its mean is the source's AUC, its spread the delta method's.
    """
    auc = (source.auc * n + 0.5) / (n + 1)
    z = float(ndtri(auc))
    variance = source.variance * 2 * np.pi * np.exp(z**2)  # over φ(z)²
    return AUCPosterior.normal(z, variance)
