"""What a test between AUCs answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri, stdtr, stdtrit

from .._validation import check_level, check_number, check_option
from ..statistics._result import Result, aligned
from ._confidence_limits import (
    ALTERNATIVES,
    Interval,
    difference_limits,
    interval_tails,
)
from ._contrast import AUCContrast


class TestedDifference(Result):
    """Parent of what has ``difference, standard_error, null, alternative, df``."""

    width: float = 1.0  # largest value of what is compared

    @property
    def statistic(self: Any) -> float:
        """``(difference − null)/standard_error``; 0 for 0/0."""
        gap = self.difference - self.null
        if self.standard_error == 0:
            return float(np.sign(gap) * np.inf) if gap else 0.0
        return gap / self.standard_error

    @property
    def pvalue(self: Any) -> float:
        """Of the statistic, normal or Student's t."""
        # Always the lower tail, which keeps its digits: 1 − Φ(9) is 0, Φ(−9) is 1e-19.
        z = self.statistic
        if self.alternative == "two-sided":
            return 2 * self._below(-abs(z))
        return self._below(-z if self.alternative == "greater" else z)

    def _below(self, z):
        return float(ndtr(z) if np.isinf(self.df) else stdtr(self.df, z))

    def _quantile(self, p):
        return ndtri(p) if np.isinf(self.df) else stdtrit(self.df, p)

    def confidence_interval(
        self: Any, confidence_level=0.95, alternative=None
    ) -> Interval:
        """Limits for the difference, inside [−1, 1], or [−width, width] of areas.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        alternative : {"two-sided", "less", "greater"}, default=None
            ``"greater"`` gives ``(low, width)``; None takes that of the test.

        Returns
        -------
        Interval
            ``(low, high)``.

        Raises
        ------
        ValueError
            If an option breaks its rule.
        """
        level = check_level("confidence_level", confidence_level)
        side = self.alternative if alternative is None else alternative
        tails = interval_tails(level, check_option("alternative", side, ALTERNATIVES))
        limits = difference_limits(
            self.difference, self.standard_error, tails, self._quantile, self.width
        )
        return Interval(*map(float, limits))


@dataclass(frozen=True, eq=False, repr=False)
class AUCComparison(TestedDifference):
    """Difference of two AUCs, its test and its interval.

    Made by :func:`compare_auc`.

    Parameters
    ----------
    auc_a, auc_b : float
        The AUCs, or the AUC and a constant.
    standard_error : float
        Of their difference.
    null : float, default=0
        Difference under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
    df : float, default=inf
        Degrees of freedom of Student's t; inf is the normal distribution.
    permutation_pvalue : float, default=None
        P-value of a permutation test, in place of that of the statistic.
    width : float, default=1
        Largest value of an AUC: less than 1 for partial areas.

    Examples
    --------
    >>> from skauc import AUCComparison
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

    def __post_init__(self):
        check_number("width", self.width, "lie in (0, 1]", lambda width: 0 < width <= 1)
        most = self.width + 1e-12  # areas are sums: a rounding above is none
        for name in ("auc_a", "auc_b"):
            value, rule = getattr(self, name), f"lie in [0, {self.width:g}]"
            check_number(name, value, rule, lambda auc: 0 <= auc <= most)
        check_number(
            "standard_error",
            self.standard_error,
            "be finite and >= 0",
            lambda error: 0 <= error < np.inf,
        )
        check_number("null", self.null, "lie in (-1, 1)", lambda null: -1 < null < 1)
        check_option("alternative", self.alternative, ALTERNATIVES)
        check_number("df", self.df, "be > 0", lambda df: df > 0)
        if self.permutation_pvalue is not None:
            check_number(
                "permutation_pvalue",
                self.permutation_pvalue,
                "lie in [0, 1]",
                lambda p: 0 <= p <= 1,
            )

    def __repr__(self):
        low, high = self.confidence_interval()
        return (
            f"AUCComparison(difference={self.difference:.4g}, interval95=({low:.4g}, "
            f"{high:.4g}), statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g})"
        )

    def _columns(self):
        low, high = self.confidence_interval()
        return {
            "auc_a": [self.auc_a],
            "auc_b": [self.auc_b],
            "difference": [self.difference],
            "standard_error": [self.standard_error],
            "low": [low],
            "high": [high],
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
        }

    @property
    def difference(self) -> float:
        """``AUC_a − AUC_b``."""
        return self.auc_a - self.auc_b

    @property
    def pvalue(self) -> float:
        """Of the statistic (normal, or Student's t), or of the permutations."""
        if self.permutation_pvalue is not None:
            return self.permutation_pvalue
        return super().pvalue


@dataclass(frozen=True, eq=False, repr=False)
class AUCComparisons(Result):
    """Three AUCs or more under their joint covariance.

    Made by :func:`compare_auc`.

    Parameters
    ----------
    auc : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        DeLong's, or that of resampled AUCs.
    statistic : float
        ``(LA)ᵀ(LΣLᵀ)⁻¹(LA)``, L the differences of neighbours: χ² when all AUCs are
        equal.
    df : int
        Its degrees of freedom: k − 1, less where scores repeat each other.
    pairs : tuple of AUCComparison
        All pairs, in the order (0, 1), (0, 2), …, (1, 2), …; their p-values are not
        adjusted.
    n_smallest : float, default=1
        Rows (or groups) of the smaller class: no difference varies more than
        ``1/n_smallest``, which is taken where no variance is estimated.

    Examples
    --------
    >>> from skauc import compare_auc
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [1, 2, 3, 4, 6, 5, 7, 8, 9, 10], [3, 1, 8, 2, 6, 4, 7, 5, 10, 9]
    >>> result = compare_auc(y, a, b, [4, 2, 9, 1, 3, 5, 7, 8, 6, 10])
    >>> result.df, round(result.pvalue, 2), result.adjusted_pvalues.round(2)
    (2, 0.49, array([0.74, 1.  , 1.  ]))
    >>> result
    AUCComparisons(auc=[0.96, 0.8, 0.84], statistic=1.407, df=2, pvalue=0.495)
           difference      low    high  statistic  pvalue  adjusted_pvalue
    0 - 1        0.16  -0.1116  0.4316      1.155  0.2482           0.7446
    0 - 2        0.12   -0.235   0.475     0.6626  0.5076                1
    1 - 2       -0.04  -0.2816  0.2016    -0.3244  0.7456                1
    """

    auc: np.ndarray
    covariance: np.ndarray
    statistic: float
    df: int
    pairs: tuple[AUCComparison, ...]
    n_smallest: float = 1.0

    def __repr__(self):
        columns = self._columns()
        table = [tuple(columns)]
        for row in zip(*columns.values(), strict=True):
            table.append((row[0], *(f"{value:.4g}" for value in row[1:])))
        auc = ", ".join(f"{value:.4g}" for value in self.auc)
        return (
            f"AUCComparisons(auc=[{auc}], statistic={self.statistic:.4g}, "
            f"df={self.df}, pvalue={self.pvalue:.4g})\n{aligned(table)}"
        )

    def _columns(self):
        order = combinations(range(len(self.auc)), 2)
        limits = [pair.confidence_interval() for pair in self.pairs]
        return {
            "": [f"{i} - {j}" for i, j in order],
            "difference": [pair.difference for pair in self.pairs],
            "low": [low for low, _ in limits],
            "high": [high for _, high in limits],
            "statistic": [pair.statistic for pair in self.pairs],
            "pvalue": [pair.pvalue for pair in self.pairs],
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def contrast(self, L) -> AUCContrast:
        """Estimate and test linear combinations of the AUCs.

        Answers what SAS's ROCCONTRAST and Stata's ``roccomp, test()`` do: is the first
        score better than the mean of the others, are two pairs equal?

        Parameters
        ----------
        L : array-like of shape (r, k) or (k,)
            One combination a row; the coefficients of a difference add up to 0. Rows
            that follow from others cost no degree of freedom.

        Returns
        -------
        AUCContrast
            ``estimate``, ``standard_error``, ``pvalues`` of the rows, and the χ² of
            all: ``statistic``, ``df``, ``pvalue``.

        Raises
        ------
        ValueError
            If L has another number of columns, a row of zeros or a number that is not
            finite.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595
        """
        return AUCContrast._of(L, self)

    @property
    def pvalue(self) -> float:
        """Of the hypothesis that all AUCs are equal; 1 if all scores are."""
        return float(chdtrc(self.df, self.statistic)) if self.df else 1.0

    @property
    def adjusted_pvalues(self) -> np.ndarray:
        """Holm's p-values of the pairs: they hold together."""
        return holm([pair.pvalue for pair in self.pairs])


def holm(pvalues) -> np.ndarray:
    """P-values that hold together (Holm 1979)."""
    p = np.asarray(pvalues, dtype=float)
    order = np.argsort(p)
    # p̃₍ᵢ₎ = min(1, max_{j ≤ i} (k − j + 1) p₍ⱼ₎), p₍₁₎ ≤ p₍₂₎ ≤ …
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted
