"""Tests between AUCs: ``compare_auc`` (DeLong, DeLong & Clarke-Pearson 1988).

The placements of k scores on the same rows have a joint covariance; a difference of
AUCs is the mean of the differences of the placements, row by row, so that equal
scores have a variance of exactly 0 and not of a few roundings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._validation import check_number, check_option, short
from ..statistics._row_blocks import RowBlocks
from ._block_ranks import score_blocks
from ._block_scores import BlockScores
from ._compared_scores import ROUNDING, RowScores, compare_all, score_names
from ._comparison import AUCComparison, AUCComparisons
from ._confidence_limits import ALTERNATIVES
from ._draws import generator
from ._partial_auc import Region
from ._resampled_tests import permutation_pvalue

METHODS = ("delong", "welch", "permutation", "bootstrap")


def compare_auc(
    y_true,
    score_a=None,
    score_b=None,
    *more_scores,
    y_true_b=None,
    constant=None,
    margin=0.0,
    fpr=None,
    tpr=None,
    alternative="two-sided",
    method="delong",
    n_resamples=9999,
    random_state=0,
    sample_weight=None,
    groups=None,
    pos_label=None,
) -> AUCComparison | AUCComparisons:
    """Compare AUCs: two scores or more, on the same rows or not, or with a constant.

    Answers: is the AUC of score_a larger than that of score_b, by chance or not? The
    scores must not come from rows that trained a model. O(k n log n + k² n).
    Collections and blocks answer the same with ``"delong"`` and ``"welch"`` over whole
    curves, without groups; see Notes.

    ==================================================  ===============================
    call                                                compares
    ==================================================  ===============================
    ``compare_auc(y, a, b)``                            two scores of the same rows
    ``compare_auc(y, a, b, c, …)``                      all of them; overall and pairs
    ``compare_auc(y_a, a, b, y_true_b=y_b)``            scores of different rows
    ``compare_auc(y, a, constant=0.8)``                 one score with a number
    ``…, margin=0.05, alternative="greater"``           a is not worse by 0.05 or more
    ``…, fpr=(0, 0.1)`` or ``tpr=(0.9, 1)``             partial areas in place of AUCs
    ``…, method="permutation"``                         two scores of very few rows
    ``compare_auc(RowBlocks(…))``                       rows in blocks; Dask as arrays
    ==================================================  ===============================

    Parameters
    ----------
    y_true : array-like of shape (n,), or RowBlocks
        Labels of two classes; a Dask array or series if the scores are. Or
        :class:`RowBlocks` whose tuples are ``(y_true, scores)`` or ``(y_true, scores,
        sample_weight)``, with the k scores as columns and none beside it.
    score_a, score_b : array-like of shape (n,), default=None
        Scores, larger for the positive class; ±inf are allowed, NaN is not. score_a is
        None only where the scores stand in the blocks.
    *more_scores : array-like of shape (n,)
        Third and further scores.
    y_true_b : array-like of shape (n_b,) or RowBlocks, default=None
        Labels of the rows of score_b where these are other, independent rows.
    constant : float in [0, 1], default=None
        The AUC under the null hypothesis, in place of score_b.
    margin : float >= 0, default=0
        Non-inferiority margin: with ``alternative="greater"`` the null hypothesis is
        ``AUC_a − AUC_b ≤ −margin``, with ``"less"`` it is ``≥ margin``.
    fpr, tpr : (float, float), default=None
        Compare the areas over a range of the false or true positive rate, see
        :meth:`AUCEstimate.partial_auc`; constant and margin are then such areas, not
        standardized. (Standardizing is linear: the p-values are the same.)
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Of ``AUC_a − AUC_b``; for three scores or more only two-sided.
    method : {"delong", "welch", "permutation", "bootstrap"}, default="delong"
        ``"delong"`` takes DeLong's error and the normal distribution. ``"welch"``, for
        different rows, takes Student's t with Welch's degrees of freedom, as pROC.
        ``"permutation"``, for two scores of the same rows and ``margin=0``, swaps the
        ranks of a row's two scores (of a cluster's rows together) and keeps its level
        with few rows of a class (formally it tests that the curves are equal); the
        error and the interval stay DeLong's.
        ``"bootstrap"`` takes the covariance of resampled AUCs. The last two are not
        for partial areas.
    n_resamples : int >= 100, default=9999
        For ``"permutation"``, where more than 20 rows matter, and ``"bootstrap"``.
    random_state : int, Generator or None, default=0
        For the same two.
    sample_weight : array-like of shape (n,), default=None
        Without ``groups`` **counts** of rows (whole numbers; 2 is the row twice),
        because a test needs to know how many rows there are. With ``groups`` only the
        **ratios** of the weights matter; they may add up to 1. With ``y_true_b`` a
        pair: those of the rows of score_a and those of score_b, either None.
    groups : array-like of shape (n,), default=None
        Cluster of each row, see :func:`auc_estimate`. With ``y_true_b`` a pair, as the
        weights; no cluster has rows in both.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    AUCComparison
        For two AUCs: ``difference``, ``statistic``, ``pvalue`` and
        ``confidence_interval()``.
    AUCComparisons
        For three or more: an overall ``statistic`` and ``pvalue``, and ``pairs`` with
        Holm's ``adjusted_pvalues``.

    Raises
    ------
    ValueError
        If the input is bad, a class has fewer than two rows, or the weights are no
        counts and there are no groups.

    Notes
    -----
    ``z = (Â_a − Â_b − null)/SE``, normal under the null. Where the estimated variance
    is 0 it says nothing; the largest possible one, ``1/min(n₀, n₁)``, is then
    taken, so that p is never 0 by default of data. Equal rankings have difference 0
    for sure, and p = 1.

    Collections are read twice, and the second time held, on disk if need be, until the
    ranks are back: each range of scores is ranked on one worker, and for each different
    score 6 to 10 bytes travel there and 2 to 8 back to the blocks of its rows. Blocks
    on one machine are read k + 2 times, more if a score has over 2²³ different values:
    once for each range of so many (0.6 GiB). Up to 8 k bytes a row wait in a temporary
    file.

    References
    ----------
    Bandos, Rockette & Gur (2005), https://doi.org/10.1002/sim.2149, for permutations;
    DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595; Holm
    (1979), https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> from skauc import compare_auc
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [1, 2, 3, 4, 6, 5, 7, 8, 9, 10], [3, 1, 8, 2, 6, 4, 7, 5, 10, 9]
    >>> result = compare_auc(y, a, b)
    >>> round(result.difference, 2), round(result.pvalue, 3)
    (0.16, 0.248)
    """
    check_option("alternative", alternative, ALTERNATIVES)
    scores, scores_b = _of_rows(y_true, (score_a, score_b, *more_scores), y_true_b)
    n = len(scores) + len(scores_b)
    _check_question(n, y_true_b, constant, margin, alternative)
    region = None if fpr is None and tpr is None else Region.of(fpr, tpr)
    _check_method(method, len(scores) == 2 and not scores_b, y_true_b, margin, region)
    resamples = _Resamples.of(method, n_resamples, random_state)
    options = pos_label, region, resamples
    weights = _of_both("sample_weight", sample_weight, y_true_b)
    clusters = _of_both("groups", groups, y_true_b)
    if method == "welch" and groups is not None:
        raise ValueError(f"groups must be None for method='welch', got {short(groups)}")
    a = _scores(y_true, scores, weights[0], clusters[0], *options)
    if n > 2:
        return compare_all(a.auc, a.covariance(), a.smaller, a.compare)
    df = np.inf
    # H₀ at its border: A_a − A_b = −margin for "greater", margin for "less".
    null = {"greater": -margin, "less": margin, "two-sided": 0.0}[alternative]
    if constant is not None:
        auc_b, variance = float(constant), a.variance([1.0])
        if auc_b > a.width:
            raise ValueError(
                f"constant must be at most the largest partial area {a.width:g}, got "
                f"{auc_b:g}"
            )
        # Var Â ≤ A(1 − A)/m of the AUC, or of the share of a part (section 5)
        share = auc_b / a.width
        largest = share * (1 - share) / a.smaller
    elif y_true_b is not None:
        b = _scores(y_true_b, scores_b, weights[1], clusters[1], *options, name="_b")
        auc_b, variances = float(b.auc[0]), (a.variance([1.0]), b.variance([1.0]))
        variance = sum(variances)
        # A(1 − A)/m ≤ 1/(4m) for each of two independent AUCs
        largest = (1 / a.smaller + 1 / b.smaller) / 4
        # Without variance Welch's degrees of freedom are 0/0: then the normal law.
        if method == "welch" and variance > ROUNDING:
            df = welch_df(variances, (a.n_rows, b.n_rows))
    else:
        result = a.compare(0, 1, null, alternative)
        if method != "permutation":
            return result
        pvalue = permutation_pvalue(
            a.samples[0], a.samples[1], alternative, resamples.number, resamples.rng
        )
        return replace(result, permutation_pvalue=pvalue)
    error = float(np.sqrt(variance if variance > ROUNDING else largest))
    auc_a = float(a.auc[0])
    return AUCComparison(auc_a, auc_b, error, null, alternative, df, width=a.width)


def welch_df(variances, sizes) -> float:
    """``(Σ V)²/Σ{V²/(n − 1)}``, V the variances of two AUCs and n their rows."""
    # Shares of V, because the square of a tiny variance would be 0.
    V, n = np.array(variances), np.array(sizes)
    share = V / V.sum()
    return float(1 / (share**2 / (n - 1)).sum())


@dataclass(frozen=True)
class _Resamples:
    """How many resamples of which kind, and where they are drawn."""

    method: str
    number: int
    rng: np.random.Generator

    @classmethod
    def of(cls, method, n_resamples, random_state):
        number = check_number(
            "n_resamples",
            n_resamples,
            "be a whole number from 100 to 10**7",
            lambda n: 100 <= n <= 10**7 and n == int(n),
        )
        return cls(method, int(number), generator(random_state))


def _of_rows(y_true, scores, y_true_b):
    """Scores of the rows of y_true and of y_true_b; None for each within blocks."""
    score_a, score_b, *more = scores
    further = () if score_b is None else (score_b, *more)
    if isinstance(y_true, RowBlocks):
        beside = {} if y_true_b is not None else {"score_b": score_b}
        y_true.nothing_beside(score_a=score_a, **beside)
        own = (None,) * y_true.labels_first(("score_a", "y_true")).n_columns()
    else:
        own = (score_a,)
    if y_true_b is None:
        return own + further, ()
    if isinstance(y_true_b, RowBlocks):
        y_true_b.nothing_beside(score_b=score_b)
        return own, (None,) * y_true_b.labels_first(("score_b", "y_true_b")).n_columns()
    return own, further


def _scores(
    y_true, scores, sample_weight, groups, pos_label, region, resamples, name=""
):
    """:class:`ComparedScores` of rows, or of their blocks."""
    within = len(scores) == 1 or isinstance(y_true, RowBlocks)
    given = scores[0] if within else scores
    called = score_names(1, name)[0]
    blocks = score_blocks(y_true, given, sample_weight, groups, called)
    if blocks is None:
        rows = y_true, scores, sample_weight, groups
        return RowScores.from_rows(*rows, pos_label, region, resamples, name=name)
    if region is not None or resamples.method not in ("delong", "welch"):
        raise ValueError(
            "fpr and tpr must be None and method 'delong' or 'welch' for collections "
            f"and blocks, got {resamples.method!r} or a range; pass arrays"
        )
    return BlockScores.from_blocks(blocks, len(scores), pos_label, name)


def _check_question(n, y_true_b, constant, margin, alternative):
    if (n < 2) == (constant is None):
        got = "none of them" if constant is None else "both"
        raise ValueError(f"compare_auc needs score_b or constant, got {got}")
    if constant is not None:
        check_number("constant", constant, "lie in [0, 1]", lambda c: 0 <= c <= 1)
    if y_true_b is not None and n != 2:
        got = "no score_b" if n < 2 else f"{n - 2} further"
        raise ValueError(f"y_true_b must come with score_b and no further, got {got}")
    check_number("margin", margin, "lie in [0, 1)", lambda value: 0 <= value < 1)
    if margin and alternative == "two-sided":
        raise ValueError(
            "alternative must be 'greater' or 'less' with a margin, got 'two-sided'"
        )
    if n > 2 and (margin or alternative != "two-sided"):
        raise ValueError(
            "alternative must be 'two-sided' for more than two scores, got "
            f"{alternative!r}"
        )


def _of_both(name, value, y_true_b):
    """The weights or clusters of the rows of both scores."""
    if y_true_b is None or value is None:
        return value, None
    if isinstance(value, list | tuple) and len(value) == 2:
        return tuple(value)
    raise ValueError(
        f"{name} must be a pair with y_true_b, of the rows of score_a and of score_b, "
        f"got {short(value)}"
    )


def _check_method(method, two_scores_of_rows, y_true_b, margin, region):
    check_option("method", method, METHODS)
    if method == "welch" and y_true_b is None:
        raise ValueError(
            "method='welch' needs scores of different rows, y_true_b, got None"
        )
    if method == "permutation" and not (two_scores_of_rows and margin == 0):
        raise ValueError(
            "method='permutation' needs two scores of the same rows and no margin, got "
            + (f"margin={margin}" if two_scores_of_rows else "another question")
        )
    if method in ("permutation", "bootstrap") and region is not None:
        raise ValueError(f"fpr and tpr must be None for method={method!r}, got one")
