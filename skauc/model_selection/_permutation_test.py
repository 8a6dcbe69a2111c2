"""Permutation test of the hypothesis that an estimator is no better than chance."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..adaptive._prior import AdaptivePrior
from ..statistics._checks import as_verbosity, check_integer, generator
from ..statistics._result import Result
from ..statistics._types import ArrayLike, Seed, Values
from ._blocks import evaluations
from ._doubts import warn_of_copies
from ._evaluation import Question
from ._left_out_rows import SCORER_FITS
from .reading._estimators import checked_rows, fitted_clone, in_parallel

_EQUAL = 1e-9  # AUCs that differ by less are equal


@dataclass(frozen=True, eq=False, repr=False)
class AUCPermutationTest(Result):
    """A permutation test of the hypothesis that labels do not depend on the rows.

    Made by :func:`skauc.auc_permutation_test`.

    Attributes
    ----------
    statistic : float
        AUC of rows left out of the model.
    pvalue : float
        ``(k + 1)/(m + 1)``, k the number of the m permutations whose AUC is at least
        ``statistic``.
    null_distribution : ndarray of shape (n_resamples,)
        AUC of each permutation.

    See Also
    --------
    skauc.auc_permutation_test : Makes it.
    skauc.bayesian_val_score : How large the AUC is.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import AUCPermutationTest
    >>> AUCPermutationTest(0.8, 0.25, np.array([0.4, 0.6, 0.5]))
    AUCPermutationTest(statistic=0.8, pvalue=0.25, n_resamples=3)
    """

    statistic: float
    pvalue: float
    null_distribution: np.ndarray

    def _head(self):
        head = {"statistic": self.statistic, "pvalue": self.pvalue}
        return head | {"n_resamples": len(self.null_distribution)}

    def _columns(self):
        return {name: [value] for name, value in self._head().items()}


def auc_permutation_test(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: Values = None,
    n_resamples: int = 199,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> AUCPermutationTest:
    """Test by permutations whether an estimator ranks new rows better than chance.

    Answers: could an AUC of this size occur if the labels had nothing to do with the
    rows [1]_? The statistic is the AUC of rows left out. The estimator, a whole search
    if it is one, is fitted once to each permutation of the labels, and rows are left
    out without further fits where a closed form holds. The level is exact for any
    estimator and any number of rows. For the size of the AUC use
    :func:`skauc.bayesian_val_score`.

    Parameters
    ----------
    estimator : estimator
        Any classifier, as for :func:`skauc.auc_posterior`. Clones of it are fitted.
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    groups : array-like of shape (n,), default=None
        Group of each row (patient, subject, session), if rows of one group depend on
        each other. Rows of one group are left out together. If each group has one
        label, whole groups exchange their labels; otherwise the rows of each group do
        [3]_.
    n_resamples : int, default=199
        Number of permutations; the smallest p-value is 1/(n_resamples + 1) [2]_.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the permutations.
    n_jobs : int, default=None
        Number of permutations that run in parallel, as in joblib.
    verbose : int, default=0
        Verbosity of joblib, which shows the progress; 0 is silent.

    Returns
    -------
    AUCPermutationTest
        ``statistic``, ``pvalue`` and ``null_distribution``, as scipy's
        :func:`scipy.stats.permutation_test` with ``alternative="greater"``.

    Raises
    ------
    TypeError
        If the estimator is no classifier with scores.
    ValueError
        If the input is invalid, or a class has fewer than two rows or three groups.

    Warns
    -----
    UntrustedAUCWarning
        If many rows are copies of rows of other groups: labels of copies cannot be
        exchanged.

    See Also
    --------
    bayesian_val_score : How large the AUC is, with an interval.
    compare_auc : The same question for scores of held-out rows (``null=0.5``).
    cross_val_auc : Cross-validated AUC with an interval.

    Notes
    -----
    Costs ``n_resamples + 1`` fits for the models whose pairs (or pairs of groups) are
    left out in closed form and for forests, whose pairs are compared out of bag, and
    five more fits each for all other models (see :func:`skauc.make_cbauc_scorer`).

    Under the hypothesis rows (or whole groups, with their numbers of rows) are
    exchangeable. If some groups have one label and others both, labels are permuted
    within groups: differences between groups then occur in all permutations, so that
    the test asks about differences within groups alone, and groups of one label hardly
    add to its power. Rows of a group must be exchangeable; drifts in time are not.

    References
    ----------
    .. [1] Ojala & Garriga (2010), "Permutation tests for studying classifier
       performance", https://jmlr.org/papers/v11/ojala10a.html
    .. [2] Phipson & Smyth (2010), "Permutation p-values should never be zero",
       https://doi.org/10.2202/1544-6115.1585
    .. [3] Winkler et al. (2015), "Multi-level block permutation",
       https://doi.org/10.1016/j.neuroimage.2015.05.092

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import auc_permutation_test
    >>> X, subject = np.random.default_rng(0).normal(size=(60, 50)), np.arange(60) // 6
    >>> y = np.arange(60) % 2
    >>> X[:, 0] += 4 * y
    >>> auc_permutation_test(LogisticRegression(), X, y, groups=subject).pvalue
    0.005
    """
    n_resamples = check_integer("n_resamples", n_resamples, 1)
    positive, *_, X, y, groups = checked_rows(X, y, None, None, groups)
    warn_of_copies(X, positive, groups)
    rng = generator(random_state)
    labels = [y, *(_permuted(y, positive, groups, rng) for _ in range(n_resamples))]
    calls = (partial(_auc_left_out, estimator, X, groups, one) for one in labels)
    auc = np.array(in_parallel(calls, n_jobs, as_verbosity(verbose)))
    exceed = np.count_nonzero(auc[1:] >= auc[0] - _EQUAL)
    pvalue = float((exceed + 1) / (n_resamples + 1))
    return AUCPermutationTest(float(auc[0]), pvalue, auc[1:])


def _permuted(y, positive, groups, rng):
    """Labels permuted between groups that have one label each, or within groups."""
    if groups is None:
        return rng.permutation(y)
    _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    n_pos = np.bincount(groups, positive)
    if np.all((n_pos == 0) | (n_pos == sizes)):
        return rng.permutation(y[first])[groups]
    out = y.copy()
    out[np.argsort(groups, kind="stable")] = y[np.lexsort([rng.random(len(y)), groups])]
    return out


def _auc_left_out(estimator, X, groups, y):
    """AUC of rows left out of a clone that was fitted to the labels y."""
    fitted = fitted_clone(estimator, X, y, groups=groups)
    question = Question(rows="training", left_out="closed form", groups=groups)
    [evaluation] = evaluations(fitted, X, y, None, question)
    if evaluation.reason_unranked is not None:
        return 0.5
    by_fits = replace(question, prior=AdaptivePrior(refits=SCORER_FITS))
    for asked in (evaluation, replace(evaluation, question=by_fits)):
        if asked.source is not None:
            return asked.source.auc
    raise ValueError(
        f"rows must be left out of {evaluation.model.name} by fits, but none was made: "
        "y must hold 2 rows of each class or more, and a FrozenEstimator is not fitted"
    )
