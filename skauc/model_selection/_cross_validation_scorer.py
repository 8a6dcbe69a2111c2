"""The cross-validation that the Bayesian scorers replace, as a scorer beside them."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import column_or_1d, indexable

from .._validation import check_option, check_positive, check_score, check_weight
from ..statistics._collections import refuse_collection
from ..statistics._ranks import empirical_auc
from ._any_estimator import decision_values, weight_for_fit
from ._any_rows import take_rows
from ._scorer import Scorer, shared


def make_cv_auc_scorer(
    *, cv=5, pooling="mean", pos_label=None, random_state=0, n_jobs=None
) -> Scorer:
    """Scorer that cross-validates the AUC within the rows it is given.

    Answers what ``cross_val_score(..., scoring="roc_auc")`` answers, as a scorer that
    can stand beside the Bayesian ones in one search. Fits ``cv`` clones a call; works
    for any classifier with ``decision_function`` or ``predict_proba``.

    Parameters
    ----------
    cv : int or splitter, default=5
        An int means stratified, shuffled folds.
    pooling : {"mean", "pairs"}, default="mean"
        Mean over folds, or share of all within-fold pairs (folds weighted by their
        number of pairs). Scores of different folds are never compared.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    random_state : int, RandomState or None, default=0
        Seed of the shuffle when ``cv`` is an int.
    n_jobs : int, default=None
        Folds at once, as in joblib.

    Returns
    -------
    Scorer

    Raises
    ------
    ValueError
        If an option is not known; when called, if a class has fewer rows than folds.

    Notes
    -----
    The direction of the scores is the training folds': an AUC below ½ stays below ½.

    References
    ----------
    Airola et al. (2011), https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> from skauc import make_cv_auc_scorer
    >>> make_cv_auc_scorer(cv=10, pooling="pairs")
    make_cv_auc_scorer(cv=10, pooling='pairs', pos_label=None, random_state=0, ...)
    """
    check_option("pooling", pooling, ("mean", "pairs"))
    cv = list(cv) if isinstance(cv, Iterator) else cv
    params = dict(
        cv=cv,
        pooling=pooling,
        pos_label=pos_label,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return Scorer("make_cv_auc_scorer", _cv_auc, params)


def _cv_auc(
    estimator, X, y, *, cv, pooling, pos_label, random_state, n_jobs, sample_weight
):
    refuse_collection("X", X)
    positive = check_positive(y, pos_label=pos_label)
    weight = check_weight(sample_weight, positive)
    X, labels = indexable(X, column_or_1d(y))
    if hasattr(estimator, "feature_names_in_"):  # fitted: its columns are known
        decision_values(estimator, take_rows(X, [0]))
    if weight is not None and not weight.all():  # weight 0 is no row
        keep = np.flatnonzero(weight)
        X, labels = take_rows(X, keep), labels[keep]
        positive, weight = positive[keep], weight[keep]
    if isinstance(cv, Integral):
        smaller = min(positive.sum(), (~positive).sum())
        if not 2 <= cv <= smaller:
            raise ValueError(
                "cv must lie between 2 and the number of rows of the smaller class, "
                f"got cv = {cv} with {smaller} rows"
            )
        cv = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    splits = check_cv(cv, positive, classifier=True).split(X, positive)
    folds = Parallel(n_jobs=n_jobs)(
        delayed(_fold_auc)(estimator, X, labels, positive, weight, train, test)
        for train, test in splits
    )
    # Σ_v A_v/V, or Σ_v pairs_v A_v/Σ_v pairs_v
    auc, pairs = np.array(folds).T
    return float(np.average(auc, weights=pairs if pooling == "pairs" else None))


def _fold_auc(estimator, X, y, positive, weight, train, test):
    """AUC of a clone on one fold, and the (weighted) number of its pairs."""
    if positive[test].all() or not positive[test].any():
        raise ValueError("cv must leave both classes in every test fold, got one class")
    model = clone(estimator)
    fit_params = {} if weight is None else weight_for_fit(model, weight[train])
    model.fit(take_rows(X, train), y[train], **fit_params)
    score = decision_values(model, take_rows(X, test))
    lower = getattr(model, "classes_", np.unique(y))[0]
    if positive[y == lower].any():  # the score points to the other label
        score = -score
    score = check_score(score, len(test), name="decision_function")
    pos = positive[test]
    w = np.ones(len(test)) if weight is None else weight[test]
    auc = empirical_auc(score[~pos], score[pos], w[~pos], w[pos])
    return auc, w[pos].sum() * w[~pos].sum()


cv_auc_scorer = shared(make_cv_auc_scorer())
