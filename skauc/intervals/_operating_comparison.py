"""Two scores at operating points chosen alike, on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._comparison import TestedDifference
from ._resampling import bayesian_weights

_NO_GAP = 1e-12  # a difference of rates below it is a rounding


@dataclass(frozen=True, eq=False, repr=False)
class OperatingComparison(TestedDifference):
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
        rates = {f"{self.name}_a": self.rate_a, f"{self.name}_b": self.rate_b}
        return rates | self._test_columns()

    @property
    def difference(self) -> np.ndarray:
        """``rate_a − rate_b``."""
        return self.rate_a - self.rate_b


def compared(a, b, name, n_draws, random_state) -> OperatingComparison:
    """Compare a rate of two OperatingPoints; the error by paired Bayesian bootstrap."""
    rates = getattr(a, name), getattr(b, name)
    gaps = [
        one[name] - two[name]
        for one, two in drawn_points((a, b), n_draws, random_state)
    ]
    error = np.concatenate(gaps).std(axis=0, ddof=1)
    # As in section 5 of skauc.intervals: where rates differ and no draw varies, the
    # largest possible error takes the place of 0
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
    list of dict of ndarray of shape (draws, k)
    """
    counts = several[0]._sample.counts
    for weights in bayesian_weights(counts, n_draws, random_state):
        yield [_points_of_draw(one, *weights) for one in several]


def _points_of_draw(points, neg, pos):
    """Choose the points of one score anew, for weights of its rows."""
    levels = points._sample.levels
    fpr, tpr = (_rates(w) for w in levels.sums_at(neg, pos))
    at = points._rule.corners(levels.thresholds, fpr, tpr)
    drawn = tuple(np.take_along_axis(rate, at, axis=1) for rate in (tpr, fpr))
    return {
        "threshold": np.append(np.inf, levels.thresholds)[at],
        "sensitivity": drawn[0],
        "specificity": 1 - drawn[1],
        # Rates of the rows themselves at the threshold of a draw, without optimism
        "later": {"sensitivity": levels.tpr[at], "specificity": 1 - levels.fpr[at]},
    }


def _rates(weight):
    """Share of the weight at or above each threshold, shape (draws, d + 1), from 0."""
    above = np.zeros((len(weight), weight.shape[1] + 1))
    np.cumsum(weight[:, ::-1], axis=1, out=above[:, 1:])
    return above / above[:, -1:]
