"""Scorers that leave rows out: leave-pair-out in closed form, and cross-validation."""

from collections.abc import Iterator
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

from ..intervals._projection import warn_undefined
from ..leave_pair_out._groups import sums_of_scores, without_each
from ..leave_pair_out._left_out import pairs_left_out
from ..leave_pair_out._objective import STOPPED
from ..statistics._checks import as_verbosity
from ..statistics._levels import empirical_auc
from ..statistics._rows import class_units
from ..statistics._types import Seed, Values
from ..statistics._warn_caller import warn_caller
from ._blocks import evaluations, rows_in_memory
from ._doubts import (
    STEP_STAYS,
    STOPPED_EARLY,
    copies_of,
    equal_rows,
    warn,
    warn_of_copies,
    warn_of_frozen,
)
from ._evaluation import Question
from ._left_out_rows import can_stay, out_of_bag
from ._scorers import Scorer
from ._verdict import HELD_OUT
from .reading._estimators import (
    apart,
    checked_rows,
    decision_values,
    in_parallel,
    scores_of_clone,
    take_rows,
)


def make_lpo_auc_scorer(*, pos_label: object = None, groups: Values = None) -> Scorer:
    """Scorer that returns the leave-pair-out AUC of a fitted model, without refits.

    Answers: how often would a positive row outrank a negative row, if the model had
    been trained without both [1]_? The score is a nearly unbiased estimate of the AUC
    of the trained model, with a larger variance than the Bayesian AUC.

    Parameters
    ----------
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    groups : array-like of shape (n,), default=None
        Group of each row: the groups of both rows of a pair are left out.

    Returns
    -------
    Scorer
        Call it with the training rows of the model and the sample weights of its fit.

    Raises
    ------
    TypeError
        When called: if the training objective of the model is not supported. Supported
        are ``LogisticRegression`` (L2), ``RidgeClassifier``, ``LinearSVC`` (squared
        hinge), ``LinearDiscriminantAnalysis`` (no or fixed shrinkage), their ``…CV``
        forms and skauc's own estimators, and forests and bagging with bootstrap samples
        of enough members (about 75), of which it is the AUC of pairs out of bag.
    ValueError
        When called: if the rows are not the ones that trained the model.

    Warns
    -----
    UntrustedAUCWarning
        When called: if the solver stopped at another model than the optimum of its
        objective (scores that correlate by less than .99); the AUC is that of the
        optimum. If many rows are copies of others. If a step in front used y or fits
        the rows closely, since it is not fitted again without the pair.
    UndefinedMetricWarning
        When called: if a class has one row (nan), or all coefficients are 0 (½).

    See Also
    --------
    make_cbauc_scorer :
        The default choice; ranks worse only if features outnumber 150 rows or more.
    make_cv_auc_scorer : Rows left out by folds, for any classifier.
    auc_posterior : Report the AUC of the chosen model.

    Notes
    -----
    The AUC is exact for squared losses. For other losses Newton steps are repeated
    until they settle if n min(n, P) ≤ 10 000: the error is below .005 in the mean and
    .03 at most, with 30 rows or more and C from 1e-4 to 1e4. Beyond, a pair is left out
    by one step, with an error below .01, and up to .04 for a squared hinge with P near
    n. The score takes a few milliseconds in general, .1 to .3 s near n min(n, P) =
    10 000, and .4 and 2 s for 1000 and 2000 rows of more features. If a class has more
    than 250 rows, an evenly spaced sample of its rows forms the pairs.

    References
    ----------
    .. [1] Airola et al. (2011), "An experimental comparison of cross-validation
       techniques for estimating the area under the ROC curve",
       https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skauc import lpo_auc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(lpo_auc_scorer(RidgeClassifier().fit(X, y), X, y), 2)
    0.99
    """
    return Scorer(
        "make_lpo_auc_scorer", _leave_pair_out, pos_label=pos_label, groups=groups
    )


def _leave_pair_out(estimator, X, y, *, sample_weight, **options):
    X, y, weight = rows_in_memory(X, y, sample_weight)
    evaluation, *more = evaluations(estimator, X, y, weight, Question(**options))
    if more:
        raise ValueError("y_true must hold two classes for the leave-pair-out AUC")
    model = evaluation.model
    if evaluation.reason_unranked is not None:
        warn_undefined(evaluation.reason_unranked)
        return 0.5
    if min(model.front.n_neg, model.front.n_pos) < 2:
        warn_caller(
            "The leave-pair-out AUC is undefined and set to nan because a class has "
            "one row, and no row of it remains when a pair is left out",
            UndefinedMetricWarning,
        )
        return np.nan
    source, reasons = out_of_bag(model)
    if source is not None:
        warn(reasons + equal_rows(model.given_rows, model.positive))
        return source.auc
    if model.fit_reason:
        raise TypeError(
            f"{model.name} has no leave-pair-out AUC in closed form "
            f"({model.fit_reason}); use skauc.cv_auc_scorer"
        )
    trained = evaluation.verdict is not HELD_OUT
    source = pairs_left_out(model.fit, model.front) if trained else None
    if source is None:
        raise ValueError(
            "X must be the rows (and sample_weight the weights) that trained the "
            f"{model.name}, got rows on which its gradient is not 0, a singular fit, "
            "groups without a closed form (a squared hinge, or more than 10 000 pairs "
            "of groups or 2000 rows), or too weak a penalty for features of such "
            "different units; scale the features, or use skauc.make_cv_auc_scorer"
        )
    warn(copies_of(model), model.front, model.score)
    if not can_stay(model):
        warn([STEP_STAYS.format(name=model.name)])
    if source.departure > STOPPED:
        way = "rows left out of the optimum"
        warn([STOPPED_EARLY.format(name=model.name, source=way)])
    return source.auc


def make_cv_auc_scorer(
    *,
    cv: Any = 5,
    pos_label: object = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    groups: Values = None,
) -> Scorer:
    """Scorer that cross-validates the AUC within the scored rows.

    Answers: which AUC does ``cross_val_score(..., scoring="roc_auc")`` report for this
    candidate? The score is the mean AUC of the folds; scores of different folds are
    never compared [1]_. As a scorer it can be used in one search together with the
    Bayesian scorers. It works for any classifier with ``decision_function`` or
    ``predict_proba``. Costs ``cv`` fits per call.

    Parameters
    ----------
    cv : int or splitter, default=5
        An int gives the number of stratified, shuffled folds.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    random_state : int, RandomState or None, default=0
        Seed of the shuffle when ``cv`` is an int.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel, as in joblib.
    verbose : int, default=0
        Verbosity of joblib, which shows the progress; 0 is silent.
    groups : array-like of shape (n,), default=None
        Group of each row. An int ``cv`` then makes that many
        :class:`sklearn.model_selection.StratifiedGroupKFold`. Rows of different groups
        are compared, as in :func:`skauc.cross_val_auc`.

    Returns
    -------
    Scorer

    Raises
    ------
    ValueError
        If an option is not known. When called: if a class has fewer rows than folds.

    Warns
    -----
    UntrustedAUCWarning
        When called: if many rows are copies of others, or a part of the estimator that
        may have used y is frozen.

    See Also
    --------
    cross_val_auc : Report a cross-validated AUC, with an interval.
    make_cbauc_scorer : Ranks linear models without folds.
    make_lpo_auc_scorer : Leaves pairs of rows out without refits.

    Notes
    -----
    Scores are never flipped: an AUC below ½ stays below ½.

    References
    ----------
    .. [1] Airola et al. (2011), "An experimental comparison of cross-validation
       techniques for estimating the area under the ROC curve",
       https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> from skauc import make_cv_auc_scorer
    >>> make_cv_auc_scorer(cv=10)
    make_cv_auc_scorer(cv=10, pos_label=None, random_state=0, n_jobs=None, ...)
    """
    return Scorer(
        "make_cv_auc_scorer",
        _cv_auc,
        cv=list(cv) if isinstance(cv, Iterator) else cv,
        pos_label=pos_label,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=as_verbosity(verbose),
        groups=groups,
    )


def _cv_auc(
    estimator, X, y, *, sample_weight, groups, pos_label, n_jobs, verbose, **folds
):
    positive, _, weight, X, labels, groups = checked_rows(
        X, y, sample_weight, pos_label, groups
    )
    if hasattr(estimator, "feature_names_in_"):  # a fitted estimator: check its columns
        decision_values(estimator, take_rows(X, [0]))
    splitter = _splitter(positive, groups, **folds)
    warn_of_frozen(estimator)
    warn_of_copies(X, positive, groups)
    splits = apart(splitter.split(X, positive, groups), len(positive), groups)
    fold = partial(_fold_auc, estimator, X, labels, positive, weight, groups)
    aucs = in_parallel((partial(fold, *split) for split in splits), n_jobs, verbose)
    return float(np.mean(aucs))


def _splitter(positive, groups, cv, random_state):
    """The splitter; a number of folds makes shuffled ones that keep groups together."""
    if isinstance(cv, Integral):
        smaller = min(class_units(positive))
        if not 2 <= cv <= smaller:
            raise ValueError(
                "cv must lie between 2 and the number of rows of the smaller class, "
                f"got cv = {cv} with {smaller} rows"
            )
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(cv, shuffle=True, random_state=random_state)
    return check_cv(cv, positive, classifier=True)


def _fold_auc(estimator, X, y, positive, weight, groups, train, test):
    """AUC of a clone on the test rows of a fold.

    Pairs within a group count only if it is the only one of the fold.
    """
    if positive[test].all() or not positive[test].any():
        raise ValueError("cv must leave both classes in every test fold, got one class")
    score = scores_of_clone(estimator, X, y, positive, weight, groups, train, test)
    pos = positive[test]
    w = np.ones(len(test)) if weight is None else weight[test]
    if groups is not None:
        sums = sums_of_scores(score, pos, w, groups[test], sole=True)
        return without_each(sums)[0]
    return empirical_auc(score, pos, w)


lpo_auc_scorer = make_lpo_auc_scorer()
cv_auc_scorer = make_cv_auc_scorer()
