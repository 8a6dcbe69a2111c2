"""Cross-validated AUCs: with intervals, compared over shared folds, and as a score."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    cross_validate,
)
from sklearn.utils import indexable

from .._validation import check_groups, check_labels, positive_and_label, take_rows
from ..intervals._compare import error_of, same_ranking
from ..intervals._comparison import AUCComparison, AUCComparisons
from ..intervals._cross_val_comparison import (
    CrossValAUCComparison,
    CrossValAUCComparisons,
)
from ..intervals._multiclass import AveragedAUC
from ..intervals._sample import Sample
from ..leave_pair_out._groups import of_few_groups, sums_of_scores, without_each
from ..statistics._checks import as_verbosity, check_interval, columns_named, short
from ..statistics._levels import empirical_auc
from ..statistics._row_blocks import refuse_collection
from ..statistics._rows import class_units
from ..statistics._types import ArrayLike, Seed, Values
from ..statistics._wald import check_alternative
from ._doubts import warn_of_copies, warn_of_frozen
from ._evaluation import Question
from ._scorers import Scorer
from .reading._estimators import (
    apart,
    checked_rows,
    decision_values,
    groups_for_fit,
    in_parallel,
    scores_towards,
    weight_for_fit,
)

# On noise a pair of rows of two folds moves the AUC twice alike, each as a test row and
# as a training row, so that the variance is twice that of the test rows
_OF_TRAINING = 2.0


def cross_val_auc(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    cv: Any = 5,
    *,
    groups: Values = None,
    pos_label: object = None,
    params: dict | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> AveragedAUC:
    """Cross-validated AUC with a confidence interval.

    Answers: how large is the mean AUC, on new rows, of this estimator trained on as
    many rows as a training fold has? **The interval covers** the chance in the test
    rows and in the training rows. **It is not** for the model trained on all rows,
    whose AUC is usually larger: use :func:`skauc.auc_posterior` or
    :func:`skauc.bootstrap_auc`. Costs one fit per fold.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``decision_function`` or ``predict_proba``, or a regressor
        fitted to labels that are two numbers. Clones of it are fitted.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    cv : int or splitter, default=5
        As in :func:`sklearn.model_selection.cross_validate`; repeated splitters work.
    groups : array-like of shape (n,), default=None
        Groups of rows that depend on each other, for splitters that need them and for
        the variance; an int ``cv`` then makes StratifiedGroupKFold. Rows of different
        groups are compared; a fold of one group (LeaveOneGroupOut) compares its rows.
        Under metadata routing they may be part of ``params`` instead.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    params : dict, default=None
        Passed to ``fit`` and, under metadata routing, to the splitter, as in
        ``cross_validate``.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel, as in joblib.
    verbose : int, default=0
        Verbosity of joblib during the fits; 0 is silent.

    Returns
    -------
    AveragedAUC
        ``auc``, ``standard_error``, ``confidence_interval(0.95)``, and ``parts``, the
        AUC of each fold.

    Raises
    ------
    TypeError
        If the estimator has neither ``decision_function`` nor ``predict_proba`` and is
        no regressor.
    ValueError
        If a test fold has fewer than two rows of a class, a training fold has none, or
        both have rows in common.

    Warns
    -----
    UntrustedAUCWarning
        If many rows are copies of others, of other groups: a copy in the training rows
        of a fold shows the label of a test row. If a part of an estimator that may have
        used y is frozen, since it may have seen the test rows.

    See Also
    --------
    auc_posterior : The AUC of the model that is trained on all rows.
    bootstrap_auc : The same, by refits to bootstrap samples.
    compare_cross_val_auc : Two or more estimators over the same folds.
    make_cv_auc_scorer : Cross-validated AUC as the score of a search.

    Notes
    -----
    ``A = Σ_v A_v/V`` over V folds v. Each fold v that tests row i of class c adds
    ``(V_i − A_v)/(V n_{c,v})`` to the influence of the row, where V_i is its placement
    among the rows of that fold, with ties ½. The sum of the squared influences,
    corrected by ``n_{c,v}/(n_{c,v} − 1)``, is without repetitions ``Σ_v DeLong_v/V²``,
    the variance of LeDell's influence curve [1]_ up to this correction; it holds the
    chance in the test rows. The variance is twice that: where features say nothing, two
    rows of different folds act on each other alike, as test and as training rows, which
    doubles it exactly; no estimate of it is unbiased [2]_. Scores of different folds
    are never compared. With G groups it is twice the variance of the jackknife,
    ``f (G − 1)/G Σ_a (A₍₋ₐ₎ − Ā)²``, with the mean A₍₋ₐ₎ of the folds without group a,
    and ``f = (k − 1)/(k − 3)`` if the class with fewer groups has k, as Student's t has
    a larger variance.

    In simulations of 100 and 450 rows and of 40 and 150 groups of 6, with 10 to 2000
    features, L2, hinge loss and trees, the interval of 95 % held ½ on noise in .94 to 1
    (a mean of .96 for rows, .98 for groups), and the mean AUC with a signal in .93 to
    1. It is up to 1.7 times too wide where the fit hardly varies: few features and a
    strong signal. Whether an AUC is above chance is a question for
    :func:`skauc.auc_permutation_test`.

    References
    ----------
    .. [1] LeDell, Petersen & van der Laan (2015), "Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates",
       https://doi.org/10.1214/15-EJS1035
    .. [2] Bengio & Grandvalet (2004), "No unbiased estimator of the variance of K-fold
       cross-validation", https://jmlr.org/papers/v5/grandvalet04a.html

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skauc import cross_val_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> print(cross_val_auc(RidgeClassifier(), X, y))  # doctest: +ELLIPSIS
    AveragedAUC(auc=0.9913, interval95=(0.9733, 0.9972), pos_label=1)
    """
    X, y, positive, groups, folds, label = _split(cv, X, y, groups, params, pos_label)
    given = X, y, positive, groups, folds, params, n_jobs, as_verbosity(verbose)
    scores = _held_out_scores(estimator, *given)
    tests = [test for _, test in folds]
    auc, influence = _fold_influence(scores, tests, positive, groups)
    smallest = min(class_units(positive, groups))
    # Rows (or groups) are independent: Var A = Σ_i (Σ_v parts of row i)²
    error = float(np.sqrt(_OF_TRAINING * (influence**2).sum()))
    return AveragedAUC(float(auc.mean()), error, auc, smallest, pos_label=label)


def _split(cv, X, y, groups, params, pos_label):
    """Checked rows, labels, mask, groups, folds ``(train, test)`` and positive label.

    Under routing ``params`` may hold the groups.
    """
    positive, label = positive_and_label(y, pos_label=pos_label)
    refuse_collection("X", X)
    if groups is None and get_config()["enable_metadata_routing"]:
        groups = (params or {}).get("groups")
    X, y, groups = indexable(X, check_labels(y), groups)
    # an interval needs the variance of the test rows
    folds = _folds(cv, X, y, positive, groups, least=2)
    return X, y, positive, check_groups(groups, len(positive)), folds, label


def _folds(cv, X, y, positive, groups, *, least, **shuffle):
    """Folds ``(train, test)`` with at least so many test rows of each class.

    A number of folds makes stratified ones that keep groups together.
    """
    if isinstance(cv, Integral):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(cv, **shuffle)
    splits = check_cv(cv, positive, classifier=True).split(X, y, groups)
    groups = check_groups(groups, len(positive))
    folds = apart(splits, len(positive), groups)
    for train, test in folds:
        if len(np.unique(positive[train])) < 2:
            raise ValueError(
                "cv must leave rows of both classes in every training fold, got one "
                "class"
            )
        fewest = min(positive[test].sum(), (~positive[test]).sum())
        if fewest < least:
            raise ValueError(
                f"cv must put {least} or more rows of each class into every test fold, "
                f"got {fewest}; use StratifiedKFold, or StratifiedGroupKFold for groups"
            )
    warn_of_copies(X, positive, groups)
    return folds


def _held_out_scores(estimator, X, y, positive, groups, folds, params, n_jobs, verbose):
    """Scores of the test rows of every fold."""
    warn_of_frozen(estimator)
    params = dict(params or {})
    if get_config()["enable_metadata_routing"]:  # then they are those of the splitter
        params.pop("groups", None)
    params |= groups_for_fit(estimator, groups)
    fold_scores = partial(_fold_scores, estimator, X, y, positive, params)
    with columns_named(X):
        calls = (partial(fold_scores, *fold) for fold in folds)
        return in_parallel(calls, n_jobs, verbose)


def _fold_scores(estimator, X, y, positive, params, train, test):
    """Scores of the test rows by a clone that was fitted to the training rows."""
    # only the models are used, not their scores
    how = {"return_estimator": True, "error_score": "raise", "scoring": lambda *_: 0.0}
    fitted = cross_validate(estimator, X, y, cv=[(train, test)], params=params, **how)
    [model] = fitted["estimator"]
    return scores_towards(model, take_rows(X, test), y, positive)


def _fold_influence(scores, tests, positive, groups):
    """AUC of each fold, and the influence of every row (or group) on the mean AUC.

    The influence is ``Σ_v (V_i − A_v)/(V n_{c,v}) · √{n_{c,v}/(n_{c,v} − 1)}`` over the
    folds v that test row i.
    """
    if groups is not None and groups.max() + 1 < len(groups):
        return _group_influence(scores, tests, positive, groups)
    auc, influence = np.empty(len(tests)), np.zeros(len(positive))
    for v, (score, test) in enumerate(zip(scores, tests, strict=True)):
        [sample] = Sample.split([score], positive[test], None, None)
        auc[v] = sample.auc
        # Influences are summed before they are squared: repeated folds share rows.
        influence[test] += sample.influences() / len(tests)
    return auc, influence


def _group_influence(scores, tests, positive, groups):
    """AUC of each fold between its groups, and the influence of every group.

    The influence of group a is ``√{f (G − 1)/G} (A₍₋ₐ₎ − Ā)``, where A₍₋ₐ₎ is the mean
    over the folds that have pairs without it, and f the variance of Student's t.
    """
    n, auc, without = len(positive), [], []
    for values, test in zip(scores, tests, strict=True):
        score, tested = np.zeros((2, n))
        score[test], tested[test] = values, 1.0
        sums = sums_of_scores(score, positive, tested, groups, sole=True)
        of_fold, _, rest = without_each(sums)
        auc.append(of_fold)
        without.append(rest)
    mean = np.ma.masked_invalid(without).mean(axis=0).compressed()  # A₍₋ₐ₎
    factor = of_few_groups(positive, groups) * (1 - 1 / len(mean))
    return np.array(auc), np.sqrt(factor) * (mean - mean.mean())


def compare_cross_val_auc(
    estimators: Sequence | Mapping,
    X: Any,
    y: ArrayLike,
    cv: Any = 5,
    *,
    rope: float = 0.01,
    alternative: str = "two-sided",
    groups: Values = None,
    pos_label: object = None,
    params: dict | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CrossValAUCComparison | CrossValAUCComparisons:
    """Compare whole Pipelines by their cross-validated AUCs over the same folds.

    Answers: is one estimator better than another when trained on as many rows as a
    training fold has, and is the difference large enough to matter? The result contains
    two tests. **The corrected t test** (``result.pvalue`` and the other attributes)
    assumes that the differences of the folds, whose training rows overlap, are equally
    correlated. Its conclusion is about estimators that are trained on other samples of
    this size. **The influence of the rows** (``result.influence``) is DeLong's test of
    the models that were trained; it covers only the chance in the test rows. Costs one
    fit per fold and estimator.

    Parameters
    ----------
    estimators : list of estimators, or dict of name to estimator
        Two or more classifiers with ``decision_function`` or ``predict_proba``, or
        regressors fitted to labels that are two numbers. Clones of them are fitted. In
        a list they are named "0", "1", ….
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    cv : int or splitter, default=5
        As in :func:`sklearn.model_selection.cross_validate`, with two or more folds. It
        splits once, so that all estimators use the same rows. With ten repetitions of
        10-fold cross-validation the corrected t test depends little on the random
        splits [2]_.
    rope : float in [0, 1), default=0.01
        Region of practical equivalence [4]_: differences of absolute value up to
        ``rope`` do not matter.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Direction of ``AUC_a − AUC_b``; three or more estimators allow ``"two-sided"``
        only.
    groups : array-like of shape (n,), default=None
        Groups of rows that depend on each other, for splitters that need them and for
        the variance. Under metadata routing they may be part of ``params`` instead.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    params : dict, default=None
        Passed to ``fit`` of every estimator and, under metadata routing, to the
        splitter, as in ``cross_validate``.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel, as in joblib.
    verbose : int, default=0
        Verbosity of joblib during the fits; 0 is silent.

    Returns
    -------
    CrossValAUCComparison
        For two estimators: ``difference``, ``statistic``, ``pvalue``,
        ``confidence_interval()``, ``probability(margin)``, ``influence``.
    CrossValAUCComparisons
        For three or more estimators: ``pairs`` with Holm's ``adjusted_pvalues``, and
        ``influence`` with an overall test.

    Raises
    ------
    TypeError
        If an estimator has neither ``decision_function`` nor ``predict_proba`` and is
        no regressor.
    ValueError
        If there are fewer than two estimators or folds, names are not unique, a test
        fold has fewer than two rows of a class, a training fold has none, both have
        rows in common, or an option is invalid.

    Warns
    -----
    UntrustedAUCWarning
        If many rows are copies of others, of other groups: a copy in the training rows
        of a fold shows the label of a test row. If a part of an estimator that may have
        used y is frozen, since it may have seen the test rows.

    See Also
    --------
    compare_auc : Scores of rows that did not train the models.
    auc_difference_posterior : Two fitted models on their training rows.
    cross_val_auc : One estimator.

    Notes
    -----
    Let d_j be the differences of J folds and s² their variance.
    ``t = d̄/√{s² (1/J + n_test/n_train)}`` has Student's distribution with J − 1
    degrees of freedom [1]_, and ``d̄ + t √{…}`` is the posterior of the difference
    [3]_. The term n_test/n_train is exact if the correlation of two folds is
    ``n_test/(n_train + n_test)``; the folds admit no unbiased estimate of the
    correlation [6]_. Row i has the influence ``Σ_v (V_i − A_v)/(V n_{c,v})`` on each
    AUC (see :func:`cross_val_auc`) [5]_. The variance of ``influence`` is the sum of
    the squared differences between the influences on two models, averaged over the
    repetitions that test a row, or those of the groups. If all d_j are equal, the
    standard error of ``influence`` replaces the one from s.

    **Size.** For two models of equal AUC and the level .05 the corrected t test rejects
    in .04 to .07 of the data sets with repeated folds or random splits, and in .01 to
    .03 with K folds without repetition (100 and 400 rows). It rejects too often, in .06
    to .14, if y does not depend on X. The test by influence ignores the chance in the
    training rows; it rejects in .05 to .06 with 400 rows, in .07 to .14 with 100 rows,
    and in up to .21 if y does not depend on X. The uncorrected t test over the folds
    rejects in .06 to .64 (``benchmarks/panel/compare_models.py``).

    References
    ----------
    .. [1] Nadeau & Bengio (2003), "Inference for the generalization error",
       https://doi.org/10.1023/A:1024068626366
    .. [2] Bouckaert & Frank (2004), "Evaluating the replicability of significance tests
       for comparing learning algorithms", https://doi.org/10.1007/978-3-540-24775-3_3
    .. [3] Corani & Benavoli (2015), "A Bayesian approach for comparing cross-validated
       algorithms on multiple data sets", https://doi.org/10.1007/s10994-015-5486-z
    .. [4] Benavoli, Corani, Demšar & Zaffalon (2017), "Time for a change: a tutorial
       for comparing multiple classifiers through Bayesian analysis",
       https://jmlr.org/papers/v18/16-305.html
    .. [5] LeDell, Petersen & van der Laan (2015), "Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates",
       https://doi.org/10.1214/15-EJS1035
    .. [6] Bengio & Grandvalet (2004), "No unbiased estimator of the variance of K-fold
       cross-validation", https://jmlr.org/papers/v5/grandvalet04a.html

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import RepeatedStratifiedKFold
    >>> from sklearn.svm import SVC
    >>> from skauc import compare_cross_val_auc
    >>> X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    >>> cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    >>> kernels = {"rbf": SVC(), "linear": SVC(kernel="linear")}
    >>> result = compare_cross_val_auc(kernels, X, y, cv)
    >>> round(result.difference, 3), round(result.pvalue, 2)
    (0.01, 0.45)
    >>> round(result.probability(margin=0).better, 2)
    0.77
    """
    names, models = _named(estimators)
    check_alternative(alternative, several="estimators" if len(models) > 2 else None)
    check_interval("rope", rope, 0, 1, closed="left")
    X, y, positive, groups, folds, label = _split(cv, X, y, groups, params, pos_label)
    if len(folds) < 2:
        raise ValueError(f"cv must make at least two folds, got {len(folds)}")
    given = X, y, positive, groups, folds, params, n_jobs, as_verbosity(verbose)
    scores = [_held_out_scores(model, *given) for model in models]
    known = scores, folds, positive, groups
    return _compare_folds(names, *known, rope, alternative, label)


def _compare_folds(names, scores, folds, positive, groups, rope, alternative, label):
    """Compare models by their scores of the test rows of shared folds."""
    trains, tests = zip(*folds, strict=True)
    parts = [_fold_influence(score, tests, positive, groups) for score in scores]
    # U_i holds the influence of each row on AUC i: U_i·U_j = Cov(A_i, A_j).
    auc, U = (np.array(part) for part in zip(*parts, strict=True))
    means = auc.mean(axis=1)
    smaller = min(class_units(positive, groups))

    def influence(i, j):
        same = all(map(same_ranking, scores[i], scores[j]))
        error = error_of(((U[i] - U[j]) ** 2).sum(), 1 / smaller, same)
        known = {"alternative": alternative, "pos_label": label}
        known["names"] = names[i], names[j]
        return AUCComparison(float(means[i]), float(means[j]), error, **known)

    def compare(i, j, of_rows):
        # n_test/n_train of Nadeau and Bengio, over folds of unequal sizes
        ratio = sum(map(len, tests)) / sum(map(len, trains))
        pair, known = (names[i], names[j]), (ratio, of_rows, float(rope))
        return CrossValAUCComparison(auc[i], auc[j], *known, pair, pos_label=label)

    if len(names) == 2:
        return compare(0, 1, influence(0, 1))
    overall = AUCComparisons._of(tuple(names), means, U @ U.T, smaller, influence)
    order = combinations(range(len(names)), 2)
    pairs = (compare(*ij, of) for ij, of in zip(order, overall.pairs, strict=True))
    return CrossValAUCComparisons(tuple(names), tuple(pairs), overall)


def _named(estimators):
    """Names and estimators; estimators of a list are named by their places."""
    if isinstance(estimators, list | tuple):
        estimators = dict(enumerate(estimators))
    if not isinstance(estimators, Mapping):
        raise ValueError(
            f"estimators must be a list or a dict, got {short(estimators)}"
        )
    if len(estimators) < 2:
        raise ValueError(f"estimators must be two or more, got {len(estimators)}")
    for model in estimators.values():
        if not hasattr(model, "fit") or isinstance(model, type):
            raise ValueError(f"estimators must have a fit method, got {short(model)}")
    return list(map(str, estimators)), list(estimators.values())


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
    make_cv_auc_scorer(cv=10, random_state=0, n_jobs=None, verbose=0)
    """
    question = Question(pos_label=pos_label, groups=groups)
    cv = list(cv) if isinstance(cv, Iterator) else cv
    options = {"cv": cv, "random_state": random_state}
    options |= {"n_jobs": n_jobs, "verbose": as_verbosity(verbose)}
    return Scorer("make_cv_auc_scorer", _cv_auc, question, **options)


def _cv_auc(
    estimator, X, y, sample_weight, question, cv, random_state, n_jobs, verbose
):
    positive, _, weight, X, labels, groups = checked_rows(
        X, y, sample_weight, question.pos_label, question.groups
    )
    if hasattr(estimator, "feature_names_in_"):  # a fitted estimator: check its columns
        decision_values(estimator, take_rows(X, [0]))
    shuffle = {"shuffle": True, "random_state": random_state}
    folds = _folds(cv, X, positive, positive, groups, least=1, **shuffle)
    of_fit = weight_for_fit(estimator, weight)
    given = X, labels, positive, groups, folds, of_fit, n_jobs, verbose
    scores = _held_out_scores(estimator, *given)
    weight, aucs = np.ones(len(labels)) if weight is None else weight, []
    for (_, test), score in zip(folds, scores, strict=True):
        of_test = score, positive[test], weight[test]
        if groups is None:
            aucs.append(empirical_auc(*of_test))
        else:  # pairs within a group count only if it is the only one of the fold
            sums = sums_of_scores(*of_test, groups[test], sole=True)
            aucs.append(without_each(sums)[0])
    return float(np.mean(aucs))


cv_auc_scorer = make_cv_auc_scorer()
