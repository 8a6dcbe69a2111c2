"""Tests between AUCs: ``compare_auc`` (DeLong, DeLong & Clarke-Pearson 1988).

The placements of k scores on the same rows have a joint covariance; a difference of
AUCs is the mean of the differences of the placements, row by row, so that equal
scores have a variance of exactly 0 and not of a few roundings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .._validation import check_either
from ..statistics._checks import check_interval, check_option, refuse_ignored, short
from ..statistics._levels import Levels
from ..statistics._row_blocks import RowBlocks
from ..statistics._types import ArrayLike, Seed, Values
from ..statistics._wald import check_alternative
from ._auc_estimate import AUCEstimate
from ._comparison import AUCComparison, AUCComparisons
from ._partial_auc import WHOLE, PartialAUC, PartOfSample, Region
from ._resampling import permutation_pvalue
from ._sample import samples_of

METHODS = ("delong", "welch", "permutation")
# A smaller variance is 0: this is the squared rounding of a difference of two means
_ROUNDING = (64 * np.finfo(float).eps) ** 2


def compare_auc(
    y_true: ArrayLike | RowBlocks,
    score_a: Values | Mapping = None,
    score_b: Values = None,
    *more_scores: ArrayLike,
    y_true_b: Values | RowBlocks = None,
    null: float | None = None,
    margin: float = 0.0,
    fpr: Values = None,
    tpr: Values = None,
    alternative: str = "two-sided",
    method: str = "delong",
    n_resamples: int = 9999,
    random_state: Seed = 0,
    sample_weight: Values = None,
    groups: Values = None,
    pos_label: object = None,
) -> AUCComparison | AUCComparisons:
    """Compare the AUCs of two or more scores, or one AUC with a constant.

    Answers: is the AUC of score_a larger than that of score_b, or may the difference be
    due to chance? The rows must not have trained the models that give the scores; for
    linear models and their training rows use :func:`skauc.auc_difference_posterior`.
    Costs O(k n log n + k² n) for k scores. Dask collections and blocks are accepted
    without ``groups``; see Notes.

    ==================================================  ===============================
    call                                                compares
    ==================================================  ===============================
    ``compare_auc(y, a, b)``                            two scores of the same rows
    ``compare_auc(y, a, b, c, …)``                      all of them; overall and pairs
    ``compare_auc(y, {"name": a, …})``, or a frame      the same, with names
    ``compare_auc(y_a, a, b, y_true_b=y_b)``            scores of different rows
    ``compare_auc(y, a, null=0.8)``                     one score with a number
    ``…, margin=0.05, alternative="greater"``           a is not worse by 0.05 or more
    ``…, fpr=(0, 0.1)`` or ``tpr=(0.9, 1)``             partial areas in place of AUCs
    ``…, method="permutation"``                         two scores of very few rows
    ``compare_auc(RowBlocks(…))``                       rows in blocks; Dask as arrays
    ==================================================  ===============================

    Parameters
    ----------
    y_true : array-like of shape (n,), or RowBlocks
        Labels of two classes; a Dask array or series if the scores are Dask
        collections. A :class:`RowBlocks` of tuples ``(scores, y_true)`` or
        ``(scores, y_true, sample_weight)``, with the k scores as columns, replaces
        y_true, all scores and sample_weight.
    score_a, score_b : array-like of shape (n,), default=None
        Scores, larger for the positive class; ±inf are allowed, NaN is not. A dict of
        scores, or a frame with one score per column, in place of score_a names all
        scores in the result, as different names of series do. score_a is None only if
        y_true is a RowBlocks, which holds the scores.
    *more_scores : array-like of shape (n,)
        Third and further scores.
    y_true_b : array-like of shape (n_b,) or RowBlocks, default=None
        Labels of the rows of score_b, if these are different, independent rows.
    null : float in [0, 1], default=None
        The AUC under the null hypothesis, in place of score_b.
    margin : float >= 0, default=0
        Non-inferiority margin: with ``alternative="greater"`` the null hypothesis is
        ``AUC_a − AUC_b ≤ −margin``; with ``"less"`` it is ``AUC_a − AUC_b ≥ margin``.
    fpr, tpr : (float, float), default=None
        Compare the areas over a range of the false or true positive rate, see
        :meth:`skauc.results.AUCEstimate.partial_auc`; null and margin are then partial
        areas, not standardized. (Standardizing is linear, so it would not change the
        p-values.)
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Direction of ``AUC_a − AUC_b``; three or more scores allow ``"two-sided"`` only.
    method : {"delong", "welch", "permutation"}, default="delong"
        ``"delong"`` uses DeLong's standard error [2]_ and the normal distribution.
        ``"welch"``, for scores of different rows, uses Student's t with Welch's degrees
        of freedom, as pROC does. ``"permutation"``, for two scores of the same rows and
        ``margin=0``, swaps the ranks of the two scores of a row (of all rows of a
        cluster together) [1]_. It keeps its level even if a class has few rows, where
        DeLong's test rejects too often (.12 for .05 with 5 and 200 rows); its
        null hypothesis is that the curves are equal. The standard error and the
        interval remain DeLong's. ``"permutation"`` does not support partial areas, and
        ``"welch"`` does not support ``groups``.
    n_resamples : int >= 100, default=9999
        Number of permutations; where at most 20 rows matter, all of them are tried
        instead.
    random_state : int, Generator or None, default=0
        Seed of the permutations. Neither may be given for other methods.
    sample_weight : array-like of shape (n,), default=None
        Without ``groups``: **counts** of rows (whole numbers; 2 means that the row
        occurs twice), because a test needs the number of rows; for others see
        :class:`skauc.SampleWeightWarning`. With ``groups`` only the
        **ratios** of the weights matter. With ``y_true_b``: a pair, the weights of the
        rows of score_a and of the rows of score_b; either may be None.
    groups : array-like of shape (n,), default=None
        Cluster of each row, see :func:`auc_estimate`. With ``y_true_b``: a pair, as for
        the weights; no cluster may have rows in both samples.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    AUCComparison
        For two AUCs: ``difference``, ``statistic``, ``pvalue`` and
        ``confidence_interval()``.
    AUCComparisons
        For three or more AUCs: an overall ``statistic`` and ``pvalue``, and ``pairs``
        with Holm's ``adjusted_pvalues`` [3]_.

    Raises
    ------
    ValueError
        If the input is invalid, a class has fewer than two rows, or an option would
        have no effect.

    Warns
    -----
    UntrustedAUCWarning
        If two AUCs are compared, other than by ``"permutation"``, and a class has fewer
        than 10 rows, or 15 groups of like size: of M rows, (ΣM)²/ΣM² such groups.

    See Also
    --------
    auc_difference_posterior : Two models on the rows that trained them.
    compare_cross_val_auc : Whole Pipelines, refitted in folds.
    auc_sample_size : Numbers of rows that the comparison needs.
    skauc.results.OperatingPoints.compare : Two scores at the same specificity.

    Notes
    -----
    ``z = (Â_a − Â_b − null)/SE``, normal under the null hypothesis. An estimated
    variance of 0 is replaced by the largest possible variance, ``1/min(n₀, n₁)``, so
    that p is never 0 merely because there are few rows. Two scores that rank the rows
    equally have difference 0 and p = 1.

    ``null=`` is the score test of :func:`auc_estimate`'s default interval, or of that
    of a partial area: SE is the error if the null hypothesis is true, and p < .05 where
    the 95 % interval does not hold the constant. Against ½ it is Mann and Whitney's
    test, unless DeLong's variance is larger or the ranking is perfect, which counts as
    half a pair less. It rejects an AUC of ½ at 5 % with a probability of at most .057
    (4 + 4 rows).

    Collections and blocks are read once. Their labels, weights and scores are gathered
    in memory, 8 bytes per number, and compared there.

    References
    ----------
    .. [1] Bandos, Rockette & Gur (2005), "A permutation test sensitive to differences
       in areas for comparing ROC curves from a paired design",
       https://doi.org/10.1002/sim.2149
    .. [2] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595
    .. [3] Holm (1979), "A simple sequentially rejective multiple test procedure",
       https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import compare_auc
    >>> y = np.repeat([0, 1], 20)
    >>> a, b = 1.5 * y + np.random.default_rng(0).normal(size=(2, 40))
    >>> result = compare_auc(y, a, b)
    >>> round(result.difference, 2), round(result.pvalue, 2)
    (0.14, 0.06)
    """
    check_option("method", method, METHODS)
    if method != "permutation":
        draws = {"n_resamples": (n_resamples, 9999), "random_state": (random_state, 0)}
        refuse_ignored(f"for method={method!r}", **draws)
    region = WHOLE if fpr is None and tpr is None else Region.of(fpr, tpr)
    scores, names = _named(score_a, score_b, *more_scores)
    given = y_true_b, sample_weight, groups, pos_label, region
    sets = _independent_sets(y_true, scores, *given)
    n = sum(len(one.auc) for one in sets)
    _check_question(n, y_true_b, null, margin, alternative, region.width)
    paired = n == 2 and len(sets) == 1
    _check_method(method, paired, y_true_b, margin, region, groups)
    names = tuple(names or (chr(ord("a") + k) if k < 26 else str(k) for k in range(n)))
    # border of H₀: A_a − A_b = −margin for "greater", margin for "less"
    border = {"greater": -margin, "less": margin, "two-sided": 0.0}[alternative]
    result = _of_sets(sets, region, null, border, alternative, method, names)
    if method != "permutation":
        return result
    a, b = sets[0].samples
    pvalue = permutation_pvalue(a, b, alternative, n_resamples, random_state)
    return replace(result, permutation_pvalue=pvalue)


def _of_sets(sets, region, null, border, alternative, method, names):
    """Compare an AUC with a constant, two AUCs, or all pairs of more."""
    if null is not None:
        constant = float(null)
        return _of_constant(sets[0], region, constant, border, alternative, names)
    if method != "permutation":
        for one in sets:
            one.samples[0].warn_of_few()
    if len(sets) == 2:
        return _of_different_rows(sets, border, alternative, method, names)
    return _of_same_rows(sets[0], border, alternative, names)


def _named(first, *others):
    """Scores, and their names from a dict, a frame or series; None without names."""
    others = [score for score in others if score is not None]
    # beside others a frame is one score, in its only column
    if isinstance(first, Mapping) or (hasattr(first, "columns") and not others):
        refuse_ignored("beside scores by name", score_b=(others or None, None))
        names = list(first if isinstance(first, Mapping) else first.columns)
        if not names:
            raise ValueError("score_a must hold a score or more by name, got none")
        return [first[name] for name in names], list(map(str, names))
    scores = [first, *others]
    # an array of Dask has a name, too, but it is that of a task
    series = [score for score in scores if hasattr(score, "to_frame")]
    names = [str(s.name) for s in series if s.name not in (None, "")]
    return scores, names if len(set(names)) == len(scores) else None


def _independent_sets(
    y_true, scores, y_true_b, sample_weight, groups, pos_label, region
):
    """Check and place the scores of the rows of y_true, and those of y_true_b."""
    names = ["score_a", "score_b", *(f"more_scores[{i}]" for i in range(len(scores)))]
    weights = _of_both("sample_weight", sample_weight, y_true_b)
    clusters = _of_both("groups", groups, y_true_b)
    cut = len(scores) if y_true_b is None else 1
    others = scores[cut:]
    if isinstance(y_true_b, RowBlocks) and not others:
        others = [None]  # the score is in the blocks
    first = "y_true", y_true, scores[:cut], names[:cut]
    second = "y_true_b", y_true_b, others, names[cut:]
    sets = zip((first, second), weights, clusters, strict=True)
    shared = pos_label, region
    return [ComparedScores.of(*rows, *of, *shared) for rows, *of in sets if rows[2]]


def _of_constant(scores, region, constant, border, alternative, names) -> AUCComparison:
    """Compare an AUC, or a part, with a constant by the test of its score interval."""
    sample, width = scores.samples[0], region.width
    if width == 1:
        estimate = AUCEstimate._of(sample)
    else:
        estimate = PartialAUC._of(sample, region, standardize=False)
    variance = estimate._score_variance(np.clip(constant + border, 0, width))
    return AUCComparison(
        estimate.auc, constant, float(np.sqrt(variance)), border, alternative,
        width=width, names=(names[0], f"{constant:g}"), _estimate=estimate,
        pos_label=sample.pos_label,
    )  # fmt: skip


def _of_same_rows(scores, null, alternative, names) -> AUCComparison | AUCComparisons:
    """Compare the AUCs of two or more scores of the same rows."""
    pair = partial(scores.compare, names)
    if len(names) == 2:
        return pair(0, 1, null, alternative)
    known = scores.auc, scores.covariance(), scores.smaller
    return AUCComparisons._of(names, *known, pair)


def _of_different_rows(sets, null, alternative, method, names) -> AUCComparison:
    """Compare the AUCs of two sets of rows."""
    width, (auc_a, auc_b) = sets[0].width, [float(one.auc[0]) for one in sets]
    variances = np.array([one.covariance()[0, 0] for one in sets])
    # Var Â ≤ 1/(4m), of the AUC or of the share of a part (section 4)
    largest = sum(0.25 / one.smaller for one in sets)
    error, df = error_of(variances.sum(), largest), np.inf
    # without variance Welch's degrees of freedom are 0/0: take the normal law
    if method == "welch" and variances.sum() > _ROUNDING:
        # (Σ V)²/Σ{V²/(n − 1)}, scaled: squares of tiny variances would underflow
        shares = variances / variances.sum()
        n = np.array([sum(one.samples[0].sizes) for one in sets])
        df = float(1 / (shares**2 / (n - 1)).sum())
    label = sets[0].samples[0].pos_label
    return AUCComparison(
        auc_a, auc_b, error, null, alternative, df, width=width, names=names,
        pos_label=label,
    )  # fmt: skip


def _check_question(n, y_true_b, null, margin, alternative, width):
    check_either("compare_auc", score_b=None if n < 2 else n, null=null)
    if null is not None:
        check_interval("null", null, 0, width)
    if y_true_b is not None and n != 2:
        raise ValueError(
            f"y_true_b must come with one score_b only, got {n - 1} further scores"
        )
    check_interval("margin", margin, 0, 1, closed="left")
    check_alternative(alternative, margin, "scores" if n > 2 else None)


def _of_both(name, value, y_true_b):
    """Split weights or clusters into those of the rows of both scores."""
    if y_true_b is None or value is None:
        return value, None
    if isinstance(value, list | tuple) and len(value) == 2:
        return tuple(value)
    raise ValueError(
        f"{name} must be a pair with y_true_b, of the rows of score_a and of score_b, "
        f"got {short(value)}"
    )


def _check_method(method, two_scores_of_rows, y_true_b, margin, region, groups):
    if method == "welch" and y_true_b is None:
        raise ValueError(
            "method='welch' needs scores of different rows, y_true_b, got None"
        )
    if method == "welch" and groups is not None:
        raise ValueError(f"groups must be None for method='welch', got {short(groups)}")
    if method == "permutation" and (margin or not two_scores_of_rows):
        raise ValueError(
            "method='permutation' needs two scores of the same rows and no margin, got "
            f"{'margin' if margin else 'another question'}"
        )
    if method == "permutation" and region.width < 1:
        raise ValueError(f"fpr and tpr must be None for method={method!r}, got one")


def error_of(variance, largest, same=False) -> float:
    """Standard error of a difference: 0 for the same rankings.

    Other differences whose estimated variance is 0 get the largest possible variance.
    """
    if same:
        return 0.0
    return float(np.sqrt(variance if variance > _ROUNDING else largest))


def same_ranking(a, b) -> bool:
    """Whether two scores order their rows alike, ties included."""
    # dense ranks are equal if order and ties are equal
    ranks = (Levels.of(score, score[:0]).row_levels[0] for score in (a, b))
    return np.array_equal(*ranks)


@dataclass(frozen=True, eq=False)
class ComparedScores:
    """k scores of the same rows: their AUCs, or partial areas, and placements.

    The variance of a difference is at most ``1/smaller``; ``smaller`` is the number of
    rows of the smaller class, or for areas the trials (section 6) over ``width²``.
    """

    samples: list
    auc: np.ndarray
    v01: np.ndarray
    v10: np.ndarray
    width: float
    smaller: float

    @classmethod
    def of(cls, label_name, y_true, scores, names, weight, groups, pos_label, region):
        """Check k scores of the same rows, and place them."""
        given = y_true, scores, weight, groups, pos_label
        called = {"names": names[: len(scores)], "label_name": label_name}
        samples = samples_of(*given, **called)
        samples[0].check_two()
        parts = [PartOfSample(sample, region) for sample in samples]
        rows = (part.sample.of_rows(*part.placements) for part in parts)
        v01, v10 = map(np.stack, zip(*rows, strict=True))
        # of shares Var ≤ 1/m, of areas width²/m
        smaller = parts[0].trials / region.width**2
        auc = np.array([part.area for part in parts])
        return cls(samples, auc, v01, v10, region.width, smaller)

    def covariance(self) -> np.ndarray:
        """Covariance of the k AUCs, or partial areas."""
        return self.samples[0].covariance(self.v01, self.v10)

    def compare(self, names, i, j, null=0.0, alternative="two-sided") -> AUCComparison:
        """Compare two of the scores."""
        # V_a − V_b row by row is exactly 0 for equal scores
        gaps = (v[[i]] - v[[j]] for v in (self.v01, self.v10))
        variance = self.samples[0].covariance(*gaps)[0, 0]
        levels = [self.samples[k].levels.row_levels for k in (i, j)]
        same = all(map(np.array_equal, *levels))
        # V_a − V_b lies in [−1, 1], so that Var ≤ 1/smaller
        error = error_of(variance, 1 / self.smaller, same)
        pair = float(self.auc[i]), float(self.auc[j])
        known = {"width": self.width, "pos_label": self.samples[0].pos_label}
        known["names"] = names[i], names[j]
        return AUCComparison(*pair, error, null, alternative, **known)
