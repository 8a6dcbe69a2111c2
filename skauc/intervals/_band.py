"""Bands around the empirical ROC curve, in one registry.

**Draws.** A Bayesian bootstrap gives each row of a class an exponential weight, so that
the shares at the distinct scores are Dirichlet (Gu, Ghosal & Roy 2008). The range
beyond the outermost scores gets half a row at each end of each class: the rates at a
threshold between two scores are then Beta(k + ½, n − k + ½), Jeffreys' posterior, and
no part of the band has width 0. The half rows have no known position, so each draw is
two curves: for the lower limit negatives have their highest possible positions and
positives their lowest, for the upper limit the reverse.

**Pointwise**: quantiles of the lower and the upper curves at each FPR.
**Simultaneous**: quantiles at one level for all FPR, chosen so that the share of draws
inside the band everywhere is the confidence level (Besag et al. 1995).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from ..statistics._levels import height
from ..statistics._result import LabelledResult
from ._resampling import bayesian_weights

# False positive rates, dense in both corners
# (even steps of probits, the scale of a binormal curve; Φ(−3.5) = 2e-4)
GRID = np.concatenate([[0.0], ndtr(np.linspace(-3.5, 3.5, 151)), [1.0]])
_INSIDE = 1e-12  # just inside the vertical pieces at FPR 0 and 1


@dataclass(frozen=True, eq=False, repr=False)
class ROCBand(LabelledResult):
    """Confidence band of a ROC curve: limits of the true positive rate.

    Made by :meth:`EmpiricalROC.band`.

    Attributes
    ----------
    fpr, tpr, low, high : ndarray of shape (m,)
        Rates of the curve, and the limits of tpr.
    confidence_level : float
        Probability with which the limits contain the true curve.
    method : {"pointwise", "simultaneous"}
        Whether the limits hold with that probability for each point separately or for
        the whole curve.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.empirical_roc : Makes the curve whose ``band`` this is.
    skauc.results.EmpiricalROC.band : Its methods, and their coverage.
    skauc.operating_points : Intervals of the rates at single thresholds.

    Examples
    --------
    >>> from skauc import empirical_roc
    >>> roc = empirical_roc([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    >>> band = roc.band(0.9, fpr=[0.25])
    >>> band.method, bool(band.low[0] < 0.8 < band.high[0])
    ('pointwise', True)
    """

    fpr: np.ndarray
    tpr: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    method: str

    def _head(self):
        head = {"level": self.confidence_level, "method": repr(self.method)}
        return head | {"mean_width": np.mean(self.high - self.low)}

    def _columns(self):
        limits = {"low": self.low, "high": self.high}
        return {"fpr": self.fpr, "estimate": self.tpr} | limits


def drawn_heights(levels, effect, grid, n_resamples, random_state):
    """Draw lower and upper curves at the grid, of shape (n_resamples, m) each.

    ``effect`` is the design effect of groups, by which counts are divided.
    """
    coarse = levels.coarse()
    counts = coarse.neg[::-1] / effect, coarse.pos[::-1] / effect
    # Half a row at each end of each class
    padded = [np.concatenate([[0.5], count, [0.5]]) for count in counts]
    ends = [np.flatnonzero(count)[[0, -1]] + 1 for count in counts]
    # at FPR 0 and 1 the curves are vertical: take the heights just inside
    at = np.clip(grid, _INSIDE, 1 - _INSIDE)
    low, high = [], []
    for neg, pos in bayesian_weights(padded, n_resamples, random_state):
        # lower curve: half rows of negatives as high as possible, of positives low
        for curves, pessimistic in ((low, True), (high, False)):
            x = _path(neg, *ends[0], pessimistic)
            y = _path(pos, *ends[1], not pessimistic)
            curves += [np.interp(at, *corners) for corners in zip(x, y, strict=True)]
    # lines within blocks of levels lie below a concave curve: add the difference
    bend = height(levels.fpr, levels.tpr, at) - height(coarse.fpr, coarse.tpr, at)
    return tuple(np.clip(np.array(rows) + bend, 0, 1) for rows in (low, high))


def _path(weight, first, last, high):
    """Return cumulative shares from the top, of shape (batch, d + 3), from 0.

    One half row stays beyond the scores: the upper one if ``high``, else the lower
    one. The other joins the outermost score of the class, ``last`` or ``first``.
    """
    full = np.concatenate([np.zeros((len(weight), 1)), weight], axis=1)
    outside, inside = (-1, last + 1) if high else (1, first + 1)
    full[:, inside] += full[:, outside]
    full[:, outside] = 0
    np.cumsum(full, axis=1, out=full)
    return full / full[:, -1:]


def quantiles(low, high, tail_low, tail_high, ends=(0.0, 1.0)):
    """Limits from draws of both, of shape (n_resamples, m); without a tail, the end."""
    how = {"axis": 0, "method": "inverted_cdf"}  # draws of a threshold may be infinite
    none = np.ones(low.shape[1])
    return (
        np.quantile(low, tail_low, **how) if tail_low else ends[0] * none,
        np.quantile(high, 1 - tail_high, **how) if tail_high else ends[1] * none,
    )


def _pointwise(low, high, level):
    return quantiles(low, high, (1 - level) / 2, (1 - level) / 2)


def _simultaneous(low, high, level):
    # a draw is above the r-th smallest where r or more draws are at or below it
    ranks = (rankdata(heights, "max", axis=0) for heights in (low, -high))
    least = np.minimum(*ranks).min(axis=1)
    # at most a share 1 − level of the draws may have a rank below r
    r = int(np.sort(least)[int((1 - level) * len(least))])
    return np.sort(low, axis=0)[r - 1], np.sort(high, axis=0)[len(high) - r]


BANDS = {"pointwise": _pointwise, "simultaneous": _simultaneous}
