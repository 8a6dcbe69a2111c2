"""Results of tests between AUCs: a difference, all pairs of several scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc

from ..statistics._result import Estimates, LabelledResult
from ..statistics._wald import Interval, WaldTable

_NO_VARIANCE = 1e-12  # share of the trace below which an axis has no variance
_NO_GAP = 1e-9  # without variance, smaller differences are rounding


class TestedDifference(Estimates, LabelledResult):
    """Parent of results with ``difference``, ``standard_error`` and ``alternative``.

    The statistic is ``(difference − null)/standard_error``, normal or Student's t. A
    standard error of 0 means that the difference is exact: the statistic is ±inf and p
    is 0, or 0 and 1 if there is no difference.
    """

    difference: Any
    standard_error: Any
    alternative: Any = "two-sided"
    null: float = 0.0
    df: Any = np.inf
    width: float = 1.0  # largest possible AUC or area
    names: tuple[str, str] | None = None
    _estimate: Any = None

    def _head(self):
        return {
            "pair": " - ".join(self.names),
            "difference": self.difference,
            "interval95": self.confidence_interval(),
            "statistic": self.statistic,
            "pvalue": self.pvalue,
        }

    @property
    def _wald(self) -> WaldTable:
        bounds = -self.width, self.width
        law = self.null, self.df, bounds, None, self.alternative, self._estimate
        return WaldTable(self.difference, self.standard_error, *law)

    @property
    def statistic(self) -> Any:
        """``(difference − null)/standard_error``."""
        return self._wald.statistic

    @property
    def pvalue(self) -> Any:
        """P-value of the statistic."""
        return self._wald.pvalue

    def confidence_interval(
        self, confidence_level: float = 0.95, *, alternative: str | None = None
    ) -> Interval:
        """Limits for the difference, inside [−width, width]; width is 1 for whole AUCs.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        alternative : {"two-sided", "less", "greater"}, default=None
            ``"greater"`` gives ``(low, width)``; None takes the alternative of the
            test.

        Returns
        -------
        Interval
            ``(low, high)``.

        Raises
        ------
        ValueError
            If an option is invalid.
        """
        side = self.alternative if alternative is None else alternative
        return self._wald.limits(confidence_level, side)

    def _estimates(self, confidence_level):
        columns = self._wald.columns(confidence_level)
        columns["pvalue"] = np.atleast_1d(self.pvalue).tolist()
        row = {} if self.names is None else {"": [" - ".join(self.names)]}
        return row | columns


@dataclass(frozen=True, eq=False, repr=False)
class AUCComparison(TestedDifference):
    """Difference of two AUCs, its test and its interval.

    Made by :func:`skauc.compare_auc`.

    Attributes
    ----------
    auc_a, auc_b : float
        The AUCs, or the AUC and a constant.
    standard_error : float
        Standard error of their difference; with a constant that under the null
        hypothesis.
    null : float, default=0
        Difference under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Direction of the difference in the test.
    df : float, default=inf
        Degrees of freedom of Student's t; inf is the normal distribution.
    permutation_pvalue : float, default=None
        P-value of a permutation test, if one was made; it replaces that of
        ``statistic``.
    width : float, default=1
        Largest value of an AUC: less than 1 for partial areas.
    names : tuple of two str, default=("a", "b")
        Names of the scores.
    _estimate : AUCEstimate or PartialAUC, default=None
        Compared with a constant: its interval less the constant is that of the test.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.compare_auc : Makes it, from two scores.
    skauc.results.AUCComparisons : Three or more scores.
    skauc.results.AUCDifferencePosterior : The same question for training rows.

    Examples
    --------
    >>> from skauc.results import AUCComparison
    >>> result = AUCComparison(auc_a=0.9, auc_b=0.8, standard_error=0.05)
    >>> low, high = result.confidence_interval(0.95)
    >>> round(result.statistic, 2), round(low, 3), round(high, 3)
    (2.0, 0.002, 0.198)
    """

    auc_a: float
    auc_b: float
    standard_error: float
    null: float = 0.0
    alternative: str = "two-sided"
    df: float = np.inf
    permutation_pvalue: float | None = None
    width: float = 1.0
    names: tuple[str, str] = ("a", "b")
    _estimate: Any = field(default=None, repr=False)

    def _estimates(self, confidence_level):
        aucs = {"auc_a": [self.auc_a], "auc_b": [self.auc_b]}
        return super()._estimates(confidence_level) | aucs

    @property
    def difference(self) -> float:
        """``AUC_a − AUC_b``."""
        return self.auc_a - self.auc_b

    @property
    def pvalue(self) -> float:
        """P-value of the statistic, or of the permutation test if there is one."""
        if self.permutation_pvalue is not None:
            return self.permutation_pvalue
        return self._wald.pvalue


class ComparedPairs(Estimates):
    """Comparisons of all pairs of three or more AUCs."""

    names: tuple[str, ...]
    auc: Any
    pairs: tuple
    _rows_in_text = True

    def _head(self):
        return dict(zip(self.names, self.auc, strict=True)) | super()._head()

    @property
    def pos_label(self) -> Any:
        """The positive class, as in each of the pairs."""
        return self.pairs[0].pos_label

    def _estimates(self, confidence_level):
        parts = [pair._estimates(confidence_level) for pair in self.pairs]
        columns = {name: [part[name][0] for part in parts] for name in parts[0]}
        return columns | {"adjusted_pvalue": self.adjusted_pvalues.tolist()}

    @property
    def adjusted_pvalues(self) -> np.ndarray:
        """Holm's p-values of the pairs, adjusted for testing all pairs together."""
        p = np.array([pair.pvalue for pair in self.pairs])
        order = np.argsort(p)
        # p̃₍ᵢ₎ = min(1, max_{j ≤ i} (k − j + 1) p₍ⱼ₎), p₍₁₎ ≤ p₍₂₎ ≤ … (Holm 1979)
        steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        adjusted = np.empty(len(p))
        adjusted[order] = np.minimum(steps, 1)
        return adjusted


@dataclass(frozen=True, eq=False, repr=False)
class AUCComparisons(ComparedPairs):
    """Comparison of three or more AUCs under their joint covariance.

    Made by :func:`skauc.compare_auc`.

    Attributes
    ----------
    names : tuple of str
        Names of the k scores.
    auc : ndarray of shape (k,)
        AUC of each score.
    covariance : ndarray of shape (k, k)
        DeLong's covariance of the AUCs.
    statistic : float
        ``(LA)ᵀ(LΣLᵀ)⁻¹(LA)``, where A holds the AUCs, Σ is their covariance and LA
        holds the differences from their mean. It is χ² distributed if all AUCs are
        equal.
    df : int
        Degrees of freedom of the statistic: k − 1, or fewer if some scores repeat
        others.
    pairs : tuple of AUCComparison
        All pairs, in the order (0, 1), (0, 2), …, (1, 2), …; their p-values are not
        adjusted.

    See Also
    --------
    skauc.compare_auc : Makes it, from three or more scores.
    skauc.results.AUCComparison : One of its ``pairs``.
    skauc.search_posterior : Which candidate of a search is the best.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import compare_auc
    >>> y = np.repeat([0, 1], 20)
    >>> scores = 1.5 * y + np.random.default_rng(0).normal(size=(3, 40))
    >>> result = compare_auc(y, *scores)
    >>> result.df, round(result.pvalue, 2), result.adjusted_pvalues.round(2)
    (2, 0.13, array([0.18, 0.55, 0.55]))
    >>> print(result.summary())
    a - b: 0.14 (-0.01 to 0.29)
    a - c: 0.06 (-0.05 to 0.17)
    b - c: -0.08 (-0.25 to 0.09)
    """

    names: tuple[str, ...]
    auc: np.ndarray
    covariance: np.ndarray
    statistic: float
    df: int
    pairs: tuple[AUCComparison, ...]

    @classmethod
    def _of(cls, names, auc, covariance, smaller, compare) -> AUCComparisons:
        """Overall test of k AUCs under their covariance; ``compare(i, j)`` of pairs."""
        k = len(auc)
        L = np.eye(k) - 1 / k  # the differences from the mean AUC
        statistic, df = chi_square(L, auc, covariance, smaller)
        pairs = tuple(compare(i, j) for i, j in combinations(range(k), 2))
        return cls(names, auc, covariance, statistic, df, pairs)

    @property
    def pvalue(self) -> float:
        """P-value of the joint hypothesis that all AUCs are equal."""
        return float(chdtrc(self.df, self.statistic)) if self.df else 1.0

    _in_head = "statistic", "df", "pvalue"


def chi_square(L, auc, covariance, smaller) -> tuple:
    """``(LÂ)ᵀ(LSLᵀ)⁻¹(LÂ)`` and its degrees of freedom, rank(LSLᵀ).

    Parameters
    ----------
    L : ndarray of shape (r, k)
    auc : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
    smaller : float
        The variance of an AUC is at most ``1/(4 smaller)``.

    Returns
    -------
    statistic : float
    df : int
    """
    L = L / np.abs(L).max(axis=1, keepdims=True)  # scaled rows are the same hypothesis
    # LSLᵀ = U diag(spread) Uᵀ; axes that do not vary are left out of its inverse.
    spread, axes = np.linalg.eigh(L @ covariance @ L.T)
    varies = spread > _NO_VARIANCE * np.trace(covariance)
    gap = axes.T @ (L @ auc)  # (LÂ)ᵀ(LSLᵀ)⁻¹(LÂ) = Σ gap²/spread
    statistic, df = (gap[varies] ** 2 / spread[varies]).sum(), int(varies.sum())
    # A difference that does not vary and is not 0 gets, as in section 4, the largest
    # variance that a contrast c of placements can have, (Σ|c|/2)²/m.
    without = axes[:, ~varies] @ gap[~varies]
    length = np.linalg.norm(without)
    if length > _NO_GAP:
        contrast = without / length @ L
        # Each V lies in [0, 1]: Σ cV has a range of Σ|c|, a deviation of at most half
        statistic += smaller * (length / (np.abs(contrast).sum() / 2)) ** 2
        df += 1
    return float(statistic), df
