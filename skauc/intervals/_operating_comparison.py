"""Two scores at operating points chosen alike, on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_level, check_option
from ..statistics._result import Result
from ._confidence_limits import (
    ALTERNATIVES,
    Interval,
    difference_limits,
    interval_tails,
)
from ._draws import checked_draws, generator

_NUMBERS_AT_ONCE = 1_000_000  # drawn weights: 8 MB
_NO_GAP = 1e-12  # a difference of rates below it is a rounding


@dataclass(frozen=True, eq=False, repr=False)
class OperatingComparison(Result):
    """Differences of a rate between two scores on the same rows, point by point.

    Made by :meth:`OperatingPoints.compare`.

    Parameters
    ----------
    name : {"sensitivity", "specificity"}
    rate_a, rate_b : ndarray of shape (k,)
    standard_error : ndarray of shape (k,)
        Of the difference; inf where the rows say nothing about it.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import OperatingComparison
    >>> result = OperatingComparison(
    ...     "sensitivity", np.array([0.8]), np.array([0.6]), np.array([0.1])
    ... )
    >>> result.pvalue.round(4)
    array([0.0455])
    """

    name: str
    rate_a: np.ndarray
    rate_b: np.ndarray
    standard_error: np.ndarray

    def __repr__(self):
        with np.printoptions(precision=4):
            return (
                f"OperatingComparison({self.name}: difference={self.difference}, "
                f"standard_error={self.standard_error}, pvalue={self.pvalue})"
            )

    def _columns(self):
        low, high = self.confidence_interval()
        return {
            f"{self.name}_a": self.rate_a,
            f"{self.name}_b": self.rate_b,
            "difference": self.difference,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
        }

    @property
    def difference(self) -> np.ndarray:
        """``rate_a − rate_b``."""
        return self.rate_a - self.rate_b

    @property
    def statistic(self) -> np.ndarray:
        """``difference/standard_error``, normal if the rates are equal; 0 for 0/0."""
        error = np.asarray(self.standard_error, dtype=float)
        return self.difference / np.where(error > 0, error, np.inf)

    @property
    def pvalue(self) -> np.ndarray:
        """Two-sided p-value of each difference."""
        return 2 * ndtr(-np.abs(self.statistic))

    def confidence_interval(
        self, confidence_level=0.95, alternative="two-sided"
    ) -> Interval:
        """Limits for the differences, inside [−1, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        alternative : {"two-sided", "less", "greater"}, default="two-sided"

        Returns
        -------
        Interval
            ``(low, high)``, arrays of shape (k,).

        Raises
        ------
        ValueError
            If an option breaks its rule.
        """
        level = check_level("confidence_level", confidence_level)
        check_option("alternative", alternative, ALTERNATIVES)
        tails = interval_tails(level, alternative)
        return difference_limits(self.difference, self.standard_error, tails, ndtri)


def compared(a, b, name, n_draws, random_state) -> OperatingComparison:
    """Compare a rate of two OperatingPoints; the error by paired Bayesian bootstrap."""
    rates = getattr(a, name), getattr(b, name)
    column = {"threshold": 0, "sensitivity": 1, "specificity": 2}[name]
    gaps = [
        one[column] - two[column]
        for one, two in drawn_points((a, b), n_draws, random_state)
    ]
    error = np.concatenate(gaps).std(axis=0, ddof=1)
    # As in section 5 of skauc.intervals: no variance where there is a difference says
    # nothing, and the largest possible takes its place.
    apart = np.abs(rates[0] - rates[1]) > _NO_GAP
    error = np.where(apart & (error <= _NO_GAP), a._sample.smaller**-0.5, error)
    # There the outermost row is the threshold in most draws, and nothing seems to vary
    for points in (a, b):
        if points.chosen_by in ("sensitivity", "specificity"):
            beyond = points._rule.beyond_the_rows(*points._sample.sizes)
            error = np.where(beyond, np.inf, error)
    return OperatingComparison(name, *rates, error)


def drawn_points(several, n_draws, random_state):
    """Threshold, sensitivity and specificity, chosen anew in each draw of the rows.

    Parameters
    ----------
    several : sequence of OperatingPoints
        Of the same rows in the same order; one draw weighs the rows for all.
    n_draws : int or None
    random_state

    Yields
    ------
    list of (threshold, sensitivity, specificity), each of shape (draws, k)
    """
    n_draws, rng = checked_draws(n_draws), generator(random_state)
    count_neg, count_pos = several[0]._sample.counts
    at_once = max(1, _NUMBERS_AT_ONCE // (len(count_neg) + len(count_pos)))
    for start in range(0, n_draws, at_once):
        size = min(at_once, n_draws - start)
        # Gamma(w) weights over their sum are Dirichlet: a row of weight 2 is two rows.
        neg = rng.standard_gamma(count_neg, (size, len(count_neg)))
        pos = rng.standard_gamma(count_pos, (size, len(count_pos)))
        yield [_points_of_draw(one, neg, pos) for one in several]


def _points_of_draw(one, neg, pos):
    points = one._sample.points
    K = len(points.thresholds)
    fpr, tpr = (
        _shares(weight, level, K)
        for weight, level in ((neg, points.level_neg), (pos, points.level_pos))
    )
    at = one._rule.corners(points.thresholds, fpr, tpr)
    thresholds = np.append(np.inf, points.thresholds)[at]
    rates = (np.take_along_axis(rate, at, axis=1) for rate in (tpr, fpr))
    sensitivity, alarm = rates
    return thresholds, sensitivity, 1 - alarm


def _shares(weight, level, K):
    """Share of the weight at or above each threshold, shape (draws, K + 1), from 0."""
    order = np.argsort(level, kind="stable")
    above = np.zeros((len(weight), len(level) + 1))
    np.cumsum(weight[:, order], axis=1, out=above[:, 1:])
    # Rows from the top score down; those of the levels 0 to i end before at[i + 1].
    at = np.searchsorted(level[order], np.arange(-1, K), side="right")
    return above[:, at] / above[:, -1:]
