"""What a test between AUCs answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from .._validation import check_level, check_number, check_option
from ._confidence_limits import ALTERNATIVES, Interval, interval_tails


@dataclass(frozen=True)
class AUCComparison:
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

    def __post_init__(self):
        for name in ("auc_a", "auc_b"):
            value = getattr(self, name)
            check_number(name, value, "lie in [0, 1]", lambda auc: 0 <= auc <= 1)
        check_number(
            "standard_error",
            self.standard_error,
            "be finite and >= 0",
            lambda error: 0 <= error < np.inf,
        )
        check_number("null", self.null, "lie in (-1, 1)", lambda null: -1 < null < 1)
        check_option("alternative", self.alternative, ALTERNATIVES)

    @property
    def difference(self) -> float:
        """``AUC_a − AUC_b``."""
        return self.auc_a - self.auc_b

    @property
    def statistic(self) -> float:
        """``(difference − null)/standard_error``; 0 for 0/0."""
        gap = self.difference - self.null
        if self.standard_error == 0:
            return float(np.sign(gap) * np.inf) if gap else 0.0
        return gap / self.standard_error

    @property
    def pvalue(self) -> float:
        """Of the normal statistic, for the alternative."""
        z = self.statistic
        if self.alternative == "two-sided":
            return float(2 * ndtr(-abs(z)))
        return float(ndtr(-z if self.alternative == "greater" else z))

    def confidence_interval(self, confidence_level=0.95, alternative=None) -> Interval:
        """Limits for the difference, inside [−1, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        alternative : {"two-sided", "less", "greater"}, default=None
            ``"greater"`` gives ``(low, 1)``; None takes that of the test.

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
        reach = [-ndtri(tail) * self.standard_error if tail else 2.0 for tail in tails]
        return Interval(
            float(max(self.difference - reach[0], -1.0)),
            float(min(self.difference + reach[1], 1.0)),
        )


@dataclass(frozen=True, eq=False)
class AUCComparisons:
    """Three AUCs or more under their joint covariance.

    Made by :func:`compare_auc`.

    Parameters
    ----------
    auc : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        DeLong's.
    statistic : float
        ``(LA)ᵀ(LΣLᵀ)⁻¹(LA)``, L the differences of neighbours: χ² when all AUCs are
        equal.
    df : int
        Its degrees of freedom: k − 1, less where scores repeat each other.
    pairs : tuple of AUCComparison
        All pairs, in the order (0, 1), (0, 2), …, (1, 2), …; their p-values are not
        adjusted.

    Examples
    --------
    >>> from skauc import compare_auc
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [1, 2, 3, 4, 6, 5, 7, 8, 9, 10], [3, 1, 8, 2, 6, 4, 7, 5, 10, 9]
    >>> result = compare_auc(y, a, b, [4, 2, 9, 1, 3, 5, 7, 8, 6, 10])
    >>> result.df, round(result.pvalue, 2), result.adjusted_pvalues.round(2)
    (2, 0.49, array([0.74, 1.  , 1.  ]))
    """

    auc: np.ndarray
    covariance: np.ndarray
    statistic: float
    df: int
    pairs: tuple[AUCComparison, ...]

    @property
    def pvalue(self) -> float:
        """Of the hypothesis that all AUCs are equal; 1 if all scores are."""
        return float(chdtrc(self.df, self.statistic)) if self.df else 1.0

    @property
    def adjusted_pvalues(self) -> np.ndarray:
        """Holm's p-values of the pairs: they hold together."""
        p = np.array([pair.pvalue for pair in self.pairs])
        order = np.argsort(p)
        steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        adjusted = np.empty(len(p))
        adjusted[order] = np.minimum(steps, 1)
        return adjusted
