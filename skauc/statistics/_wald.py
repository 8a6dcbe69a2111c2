"""Estimates with standard errors: statistics, p-values and limits, vectorised.

    z = (estimate − null)/SE,   p = 2 F(−|z|),   estimate ± F⁻¹((1 + level)/2) SE

with F the normal distribution, or Student's t with ``df`` degrees of freedom. A
standard error of 0 means that the estimate is exact: p is 0 if it differs from the
null, and 1 otherwise. A standard error of inf gives p = 1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ._checks import check_level, check_option

ALTERNATIVES = ("two-sided", "less", "greater")


class Interval(NamedTuple):
    """Limits ``(low, high)`` of an interval: floats, or arrays of many.

    Attributes
    ----------
    low, high : float or ndarray
        Lower and upper limits, in the units of the estimate.

    See Also
    --------
    skauc.auc_estimate : ``confidence_interval`` of an estimate returns an Interval.
    skauc.auc_posterior : ``interval`` of a posterior returns an Interval.

    Examples
    --------
    >>> from skauc import auc_estimate
    >>> limits = auc_estimate([0, 0, 1, 1], [1, 3, 2, 4]).confidence_interval(0.95)
    >>> limits.low < 0.75 < limits.high
    True
    """

    low: Any
    high: Any


def check_alternative(alternative, margin=0.0, several=None):
    """Check the side of a test, also with a margin or for ``several`` AUCs in words."""
    check_option("alternative", alternative, ALTERNATIVES)
    if np.any(margin) and alternative == "two-sided":
        raise ValueError(
            "alternative must be 'greater' or 'less' with a margin, got 'two-sided'"
        )
    if several and alternative != "two-sided":
        raise ValueError(
            f"alternative must be 'two-sided' for more than two {several}, got "
            f"{alternative!r}"
        )


def interval_tails(confidence_level, alternative="two-sided") -> tuple[float, float]:
    """Probabilities of a true value below and above the limits.

    Parameters
    ----------
    confidence_level : float
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        scipy's meaning: ``"greater"`` bounds from below, ``"less"`` from above.

    Returns
    -------
    tail_low, tail_high : float
        Half of the risk each, or the risk and 0.

    Raises
    ------
    ValueError
        If the level lies outside (0, 1) or the alternative is unknown.
    """
    risk = 1 - check_level("confidence_level", confidence_level)
    check_option("alternative", alternative, ALTERNATIVES)
    return {
        "two-sided": (risk / 2, risk / 2),
        "greater": (risk, 0.0),
        "less": (0.0, risk),
    }[alternative]


@dataclass(frozen=True, eq=False)
class WaldTable:
    """Estimates and their standard errors; arrays of one shape, or single numbers.

    Parameters
    ----------
    estimate, error : float or ndarray of shape (r,)
    null : float or ndarray, default=0
        Value under the null hypothesis.
    df : float, default=inf
        Degrees of freedom of Student's t; inf is the normal distribution.
    bounds : (float or ndarray, float or ndarray), default=(-inf, inf)
        Least and largest possible value; limits stay inside.
    names : sequence of str, default=None
        Names of the rows.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Side of the p-values, and of the limits unless ``limits`` is given another.
    scored : estimate with ``auc`` and ``confidence_interval``, default=None
        Its limits, moved from its AUC to the estimate, are those of a score test.
    """

    estimate: Any
    error: Any
    null: Any = 0.0
    df: float = np.inf
    bounds: tuple = (-np.inf, np.inf)
    names: Any = None
    alternative: str = "two-sided"
    scored: Any = None

    def __post_init__(self):
        for name in ("estimate", "error"):
            value = np.asarray(getattr(self, name), dtype=float)
            object.__setattr__(self, name, _plain(value))

    @property
    def statistic(self):
        """``(estimate − null)/SE``; ±inf for an error of 0, and 0 for 0/0."""
        gap = np.asarray(self.estimate - self.null)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = gap / np.asarray(self.error)
        return _plain(np.where((gap == 0) & (self.error == 0), 0.0, z))

    @property
    def pvalue(self):
        """P-value of each statistic."""
        # always a lower tail: 1 − Φ(9) rounds to 0, Φ(−9) is 1e-19
        z = self.statistic
        if self.alternative == "two-sided":
            return _plain(2 * self.cdf(-np.abs(z)))
        return _plain(self.cdf(-z if self.alternative == "greater" else z))

    def cdf(self, z):
        """Distribution function F of the statistic."""
        return stdtr(self.df, z)

    def limits(self, confidence_level=0.95, alternative=None) -> Interval:
        """``estimate ± F⁻¹(1 − tail) SE``, inside the bounds."""
        side = alternative or self.alternative
        if self.scored is not None:
            ends = self.scored.confidence_interval(confidence_level, alternative=side)
            return Interval(*(end - self.scored.auc + self.estimate for end in ends))
        tails = interval_tails(confidence_level, side)
        down, up = (
            -stdtrit(self.df, tail) * self.error if tail else np.inf for tail in tails
        )
        least, most = self.bounds
        low, high = self.estimate - down, self.estimate + up
        return Interval(_plain(np.maximum(low, least)), _plain(np.minimum(high, most)))

    def columns(self, confidence_level=0.95) -> dict:
        """Columns of the table: lists of one number per row."""
        low, high = self.limits(confidence_level)
        numbers = {
            "estimate": self.estimate,
            "standard_error": self.error,
            "low": low,
            "high": high,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
        }
        columns = np.broadcast_arrays(*map(np.atleast_1d, numbers.values()))
        names = {} if self.names is None else {"": list(self.names)}
        return names | {k: v.tolist() for k, v in zip(numbers, columns, strict=True)}


def _plain(value):
    """Return a float for a single number, an array for more."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
