"""Bands around the empirical ROC curve, in one registry.

**Draws.** A Bayesian bootstrap gives each row of a class an exponential weight, so that
the shares at the distinct scores are Dirichlet (Gu, Ghosal & Roy 2008). What lies
beyond the outermost scores gets half a row at each end of each class: the rates at a
threshold between two scores are then Beta(k + ½, n − k + ½), Jeffreys' posterior, and
no part of the band has width 0. Nobody knows where the half rows lie, so each draw is
two curves: for the lower limit negatives take the highest places that they may have
and positives the lowest, for the upper limit the other way round.

**Pointwise**: quantiles of the lower and the upper curves at each FPR.
**Simultaneous**: quantiles of the one level at which the share of draws that lie
inside everywhere is the confidence level (Besag et al. 1995).
**Fixed width** (Campbell 1994; Macskassy, Provost & Rosset 2005): the curve moved by
``±c (−1/√n₀, 1/√n₁)``; along that direction ``s = √n₀ x + √n₁ y`` stands still and
``h = (√n₁ y − √n₀ x)/2`` grows by c, so that a curve lies within the band where its
h(s) is within c of the curve's own. **Joint regions** (Campbell 1994): Kolmogorov's
bands of both classes, each at the square root of the level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import kstwo

from .._validation import check_floats, short
from ..statistics._result import Result
from ._draws import checked_draws, generator
from ._roc_points import ROCPoints, height

_MOST_BLOCKS = 512  # of neighbouring scores: 1/512 of a class is far below the band
_AT_ONCE = 500  # draws: 500 × 512 × 8 bytes = 2 MB a class
# False positive rates, dense in both corners
# (even steps of probits, the scale of a binormal curve; Φ(−3.5) = 2e-4)
_GRID = np.concatenate([[0.0], ndtr(np.linspace(-3.5, 3.5, 151)), [1.0]])
_INSIDE = 1e-12  # beside the vertical pieces at FPR 0 and 1


@dataclass(frozen=True, eq=False, repr=False)
class ROCBand(Result):
    """Limits of the true positive rate over a grid of false positive rates.

    Made by :meth:`EmpiricalROC.band`.

    Parameters
    ----------
    fpr, low, high : ndarray of shape (m,)
    confidence_level : float
    method : str
    simultaneous : bool
        Whether the whole curve lies inside with the confidence level, or each of its
        points on its own.

    Examples
    --------
    >>> from skauc import empirical_roc
    >>> roc = empirical_roc([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    >>> band = roc.band(0.9, fpr=[0.25])
    >>> band.simultaneous, bool(band.low[0] < 0.8 < band.high[0])
    (False, True)
    """

    fpr: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    method: str
    simultaneous: bool

    def __repr__(self):
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return (
            f"ROCBand({self.confidence_level:.4g}, {kind}, method={self.method!r}, "
            f"mean_width={np.mean(self.high - self.low):.4g})"
        )

    def _columns(self):
        return {"fpr": self.fpr, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class BandMethod:
    """``limits(points, grid, level, **options)`` and what they promise."""

    limits: Callable
    simultaneous: bool
    options: tuple[str, ...] = ("n_draws", "random_state")


@dataclass(frozen=True, eq=False)
class _Draws:
    """Curves drawn for the lower and the upper limit: x and y of their corners."""

    low: tuple[np.ndarray, np.ndarray]
    high: tuple[np.ndarray, np.ndarray]


def drawn_curves(points, n_draws, random_state):
    """Yield curves of the Bayesian bootstrap, some hundred draws at a time."""
    blocks = _in_blocks(points)
    rng = generator(random_state)
    for start in range(0, n_draws, _AT_ONCE):
        size = min(_AT_ONCE, n_draws - start)
        neg, pos = (_slots(rng, count, size) for count in blocks)
        # slots: beyond the top, the blocks, beyond the bottom
        yield _Draws(
            low=(
                _path(neg, top=True, bottom=False),
                _path(pos, top=False, bottom=True),
            ),
            high=(
                _path(neg, top=False, bottom=True),
                _path(pos, top=True, bottom=False),
            ),
        )


def _in_blocks(points):
    """Rows of each class at each score, neighbours together if there are many."""
    neg, pos = points.at_neg.astype(float), points.at_pos.astype(float)
    if len(neg) <= _MOST_BLOCKS:
        return neg, pos
    # Each class has half of the say where a block ends: both are resolved alike.
    share = (neg / neg.sum() + pos / pos.sum()) / 2
    block = ((np.cumsum(share) - share) * _MOST_BLOCKS).astype(int)
    start = np.flatnonzero(np.diff(block, prepend=-1))
    return np.add.reduceat(neg, start), np.add.reduceat(pos, start)


def _block_corners(points):
    """FPR and TPR between the blocks."""
    above = (np.append(0.0, np.cumsum(count)) for count in _in_blocks(points))
    return tuple(rate / rate[-1] for rate in above)


def _slots(rng, count, size):
    """Gamma weights of the blocks and of half a row at each end; the outermost."""
    occupied = np.flatnonzero(count)
    weight = np.zeros((size, len(count)))
    # Gamma(n) over their sum is Dirichlet: n exponential weights of n equal scores.
    weight[:, occupied] = rng.standard_gamma(count[occupied], (size, len(occupied)))
    ends = rng.standard_gamma(0.5, (2, size))
    return weight, ends, occupied[0], occupied[-1]


def _path(slots, top, bottom):
    """Cumulative shares from the top, shape (size, K + 3).

    The end weights lie beyond the scores where ``top`` and ``bottom`` say so, and at
    the outermost scores of the class otherwise.
    """
    weight, ends, first, last = slots
    # Columns: the corner (0, 0), beyond the top, the K blocks, beyond the bottom.
    full = np.zeros((len(weight), weight.shape[1] + 3))
    full[:, 2:-1] = weight
    full[:, 1 if top else 2 + first] += ends[0]
    full[:, -1 if bottom else 2 + last] += ends[1]
    np.cumsum(full, axis=1, out=full)
    return full / full[:, -1:]


def _heights(points, grid, n_draws, random_state):
    """Lower and upper curves at the grid, shape (n_draws, m) each."""
    # At FPR 0 and 1 the curves are vertical; just beside is the end that is meant.
    at = np.clip(grid, _INSIDE, 1 - _INSIDE)
    low, high = [], []
    for draws in drawn_curves(points, n_draws, random_state):
        for kept, (x, y) in ((low, draws.low), (high, draws.high)):
            kept += [np.interp(at, *corners) for corners in zip(x, y, strict=True)]
    # Straight lines within blocks lie below a concave curve: add what they lack.
    bend = height(points.fpr, points.tpr, at) - height(*_block_corners(points), at)
    return tuple(np.clip(np.array(rows) + bend, 0, 1) for rows in (low, high))


def pointwise_tails(points, grid, tail_low, tail_high, n_draws=None, random_state=0):
    """Quantiles of the drawn curves at each FPR, with given tails.

    Parameters
    ----------
    points : ROCPoints
    grid : ndarray of shape (m,)
    tail_low, tail_high : float
        0 for no limit.
    n_draws : int, default=None
    random_state : default=0

    Returns
    -------
    low, high : ndarray of shape (m,)
    """
    low, high = _heights(points, grid, checked_draws(n_draws), random_state)
    return (
        np.quantile(low, tail_low, axis=0) if tail_low else np.zeros(len(grid)),
        np.quantile(high, 1 - tail_high, axis=0) if tail_high else np.ones(len(grid)),
    )


def _pointwise(points, grid, level, **options):
    tail = (1 - level) / 2
    return pointwise_tails(points, grid, tail, tail, **options)


def _simultaneous(points, grid, level, n_draws=None, random_state=0):
    low, high = _heights(points, grid, checked_draws(n_draws), random_state)
    # A draw is above the r-th smallest where r or more lie at or below it.
    least = np.minimum(_ranks(low), _ranks(-high))
    # At most a share 1 − level of the draws have a rank below r.
    r = int(np.sort(least)[int((1 - level) * len(least))])
    return np.sort(low, axis=0)[r - 1], np.sort(high, axis=0)[len(high) - r]


def _ranks(values):
    """How many draws lie at or below each, the least over the grid; one a draw."""
    least = np.full(len(values), len(values))
    for column in values.T:
        rank = np.searchsorted(np.sort(column), column, side="right")
        np.minimum(least, rank, out=least)
    return least


def _fixed_width(points, grid, level, n_draws=None, random_state=0):
    n_draws = checked_draws(n_draws)
    roots = np.sqrt([points.above_neg[-1], points.above_pos[-1]])
    s_at, h_at = _rotated(*_block_corners(points), roots)
    apart = []
    for draws in drawn_curves(points, n_draws, random_state):
        below, above = _rotated(*draws.low, roots), _rotated(*draws.high, roots)
        for s_low, h_low, s_high, h_high in zip(*below, *above, strict=True):
            down = _furthest((s_at, h_at), (s_low, h_low))
            apart.append(max(down, _furthest((s_high, h_high), (s_at, h_at))))
    # c bounds |h − ĥ| of a share ``level`` of the draws; moved by ±c(−1/√n₀, 1/√n₁)
    c = np.quantile(apart, level)
    return _moved(points.fpr, points.tpr, grid, c / roots[0], c / roots[1])


def _furthest(upper, lower):
    """Largest height of one path over another; it is at a corner of one of them."""
    (s, h), (at, low) = upper, lower
    return max(np.max(h - np.interp(s, at, low)), np.max(np.interp(at, s, h) - low))


def _rotated(x, y, roots):
    """Coordinates s and h of the module's text."""
    # s = √n₀ x + √n₁ y,   h = (√n₁ y − √n₀ x)/2
    along, across = roots[0] * x, roots[1] * y
    return along + across, (across - along) / 2


def _joint_regions(points, grid, level):
    sizes = points.above_neg[-1], points.above_pos[-1]
    # P(sup|F̂_c − F_c| ≤ reach_c) = √level; the classes are independent.
    reach = [kstwo.ppf(np.sqrt(level), int(n)) for n in sizes]
    return _moved(points.fpr, points.tpr, grid, *reach)


def _moved(x, y, grid, dx, dy):
    """The curve moved right and down, and left and up."""
    low = np.interp(grid, x + dx, y - dy)
    return np.maximum(low, 0), np.minimum(np.interp(grid, x - dx, y + dy), 1)


BANDS = {
    "pointwise": BandMethod(_pointwise, simultaneous=False),
    "simultaneous": BandMethod(_simultaneous, simultaneous=True),
    "fixed_width": BandMethod(_fixed_width, simultaneous=True),
    "joint_regions": BandMethod(_joint_regions, simultaneous=True, options=()),
}


def roc_band(points: ROCPoints, level, method, fpr, options) -> ROCBand:
    """Limits of a registered method over a grid."""
    chosen = BANDS[method]
    for name in options:
        if name not in chosen.options:
            raise ValueError(f"{name} must not be given for method={method!r}")
    grid = _GRID if fpr is None else _checked_grid(fpr)
    low, high = chosen.limits(points, grid, level, **options)
    low = np.where(grid == 1, 1.0, low)  # every curve ends there
    return ROCBand(grid, low, high, level, method, chosen.simultaneous)


def _checked_grid(fpr):
    grid = np.atleast_1d(check_floats("fpr", fpr))
    if grid.ndim != 1 or not np.all((grid >= 0) & (grid <= 1)) or not len(grid):
        raise ValueError(f"fpr must hold numbers in [0, 1], got {short(fpr)}")
    return grid
