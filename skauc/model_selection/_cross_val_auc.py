"""Cross-validated AUC with the interval of its influence curve."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import check_cv, cross_validate

from .._validation import check_positive, check_score
from ..intervals._averaged_auc import AveragedAUC
from ..statistics._collections import refuse_collection
from ..statistics._numbers import as_verbosity
from ..statistics._ranks import placements
from ._any_estimator import decision_values
from ._any_rows import take_rows


def cross_val_auc(
    estimator,
    X,
    y,
    cv=5,
    *,
    groups=None,
    pos_label=None,
    params=None,
    n_jobs=None,
    verbose=0,
) -> AveragedAUC:
    """Cross-validated AUC with its influence-curve interval.

    Answers: what is the mean AUC of the models that ``cv`` trained, on new rows, and
    what are the limits of that? **It covers** the chance in the test rows, given the
    trained models. **It does not cover** the chance in the training rows: not the AUC
    of this estimator refitted on another sample, and not that of the model fitted on
    all rows, which is better trained. Costs one fit a fold.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``decision_function`` or ``predict_proba``, or a regressor on
        two numbers. Cloned.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    cv : int or splitter, default=5
        As in :func:`sklearn.model_selection.cross_validate`; repeated splitters work.
    groups : array-like of shape (n,), default=None
        For splitters that need them. They do not enter the variance.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    params : dict, default=None
        Passed to ``fit`` and the splitter, as in ``cross_validate``.
    n_jobs : int, default=None
    verbose : int, default=0
        How much joblib says of the refits that are done; 0 is silent.

    Returns
    -------
    AveragedAUC
        ``parts`` are the folds' AUCs.

    Raises
    ------
    TypeError
        If the estimator has no score: it has none of the two and is no regressor.
    ValueError
        If a test fold holds fewer than two rows of a class or a training fold none.

    Notes
    -----
    ``A = Σ_v A_v/V`` over V folds v. Row i of class c adds ``(V_i − A_v)/(V n_{c,v})``
    for each fold v that tests it, with its placement V_i among the rows of that fold,
    ties ½; the variance is the sum of the squares of these sums, corrected by
    ``n_{c,v}/(n_{c,v} − 1)``. Without repeats that is ``Σ_v DeLong_v/V²``, LeDell's
    influence curve up to this correction. Scores of different folds are never compared.

    References
    ----------
    LeDell, Petersen & van der Laan (2015), https://doi.org/10.1214/15-EJS1035

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skauc import cross_val_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_auc(RidgeClassifier(), X, y)
    AveragedAUC(auc=0.9913, interval95=(0.9807, 0.9961), parts of shape (5,))
    """
    positive = check_positive(y, pos_label=pos_label)
    refuse_collection("X", X)
    folds = check_cv(cv, positive, classifier=True)
    how = {"groups": groups, "params": params, "n_jobs": n_jobs}
    how["verbose"] = as_verbosity(verbose)
    scores, _, tests = held_out_scores(estimator, X, y, positive, folds, **how)
    auc, influence = fold_influence(scores, tests, positive)
    smallest = int(min(positive.sum(), (~positive).sum()))
    # Rows are independent: Var A = Σ_i (Σ_v parts of row i)²
    error = float(np.sqrt((influence**2).sum()))
    return AveragedAUC(float(auc.mean()), error, auc, smallest)


def held_out_scores(estimator, X, y, positive, cv, **how):
    """Scores of the test rows of every fold, under a clone that did not see them.

    Parameters
    ----------
    estimator, X, y
        As in :func:`cross_val_auc`.
    positive : ndarray of bool of shape (n,)
    cv : splitter or list of (train, test)
    **how
        ``groups``, ``params``, ``n_jobs`` and ``verbose`` of ``cross_validate``.

    Returns
    -------
    scores : list of ndarray
        One array a fold, larger for the positive class.
    trains, tests : list of ndarray of int
        Numbers of the rows.
    """
    folds = cross_validate(
        estimator,
        X,
        y,
        cv=cv,
        scoring=_no_score,
        return_estimator=True,
        return_indices=True,
        error_score="raise",
        **how,
    )
    trains, tests = (list(folds["indices"][part]) for part in ("train", "test"))
    scores = []
    for model, train, test in zip(folds["estimator"], trains, tests, strict=True):
        if len(np.unique(positive[train])) < 2:
            raise ValueError(
                "cv must leave rows of both classes in every training fold, got one"
            )
        score = decision_values(model, take_rows(X, test))
        # A score points to the larger label; the positive class may be the smaller one.
        lower = getattr(model, "classes_", np.unique(y))[0]  # a regressor: the labels
        reversed_ = (np.asarray(y)[test][positive[test]] == lower).any()
        scores.append(check_score(-score if reversed_ else score, len(test)))
    return scores, trains, tests


def fold_influence(scores, tests, positive):
    """AUC of each fold and the influence of the rows on their mean.

    Parameters
    ----------
    scores : list of ndarray
    tests : list of ndarray of int
        Rows of each fold.
    positive : ndarray of bool of shape (n,)

    Returns
    -------
    auc : ndarray of shape (n_folds,)
    influence : ndarray of shape (n,)
        ``Σ_v (V_i − A_v)/(V n_{c,v})`` over the folds that test row i, with the
        correction of the variance.

    Raises
    ------
    ValueError
        If a test fold holds fewer than two rows of a class.
    """
    auc, influence = np.empty(len(tests)), np.zeros(len(positive))
    for v, (score, test) in enumerate(zip(scores, tests, strict=True)):
        auc[v], part = _one_fold(score, positive[test])
        # Added up before squaring: repeated folds test the same rows again.
        influence[test] += part / len(tests)
    return auc, influence


def _no_score(estimator, X, y):
    """Score nothing: the folds' models and rows are all that is asked for."""
    return 0.0


def _one_fold(score, positive):
    """AUC of one fold, and ``(V_i − A)/n_c`` of its rows, corrected for n_c."""
    counts = positive.sum(), (~positive).sum()
    if min(counts) < 2:
        raise ValueError(
            "cv must leave two rows or more of each class in every test fold, got "
            f"{min(counts)}"
        )
    v01, v10 = placements(score[~positive], score[positive])
    auc, influence = v10.mean(), np.empty(len(score))
    for mask, v in ((positive, v10), (~positive, v01)):
        # (V − A)/n · √{n/(n − 1)}: squares add up to DeLong's variance.
        influence[mask] = (v - auc) / np.sqrt(len(v) * (len(v) - 1))
    return auc, influence
