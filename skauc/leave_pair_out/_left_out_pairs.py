"""Rows that are left out one by one, and what their pairs say beside them.

With the step ``h_i g_i/(1 − ω_i(h_i + e))`` of a row that is left out (the formulas of
:mod:`._leave_one_out`) the other row of a pair moves the margin by another

    h_ij (g_j/(1 − ω_j(h_j + e)) − g_i/(1 − ω_i(h_i + e))),   h_ij = a_iᵀH⁻¹a_j,

to first order in ``ω h_ij``; where that is not small the two equations are solved.
Over all pairs that averages to 0, but rows whose scores are near may be near
themselves, as the levels of a category are. Equal rows tie, whichever of them are left
out: one by one the positive falls below the negative. So the pairs of a sample tell
what is taken off the AUC beside the steps of all rows.

A pair whose margin is small is won in part. Counted, cells of which the fit has the
order by chance change places as a whole, and the AUC with them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..statistics._numerics import TINY

# The width within which a pair is won in part, of the mean deviation of the margins.
# Mean absolute error less that of counted pairs, 60 data sets each: two or three
# categories of two levels, 3 signs alone, 2 counts, 400 to 5000 rows, −.0014 to −.0066
# of .009 to .053; a category of 40 levels −.0009 (.0004); 25 signs, 6 to 8 categories,
# 5 to 200 normal and t(3) features −.0003 to +.0001. The biases differ by less than
# .004 and .0015. A width of .1 wins half of that.
_WIDTH = 0.2
_TIE = 1e-9  # of the largest margin: what is 0 but for rounding
# The mean of ω h/(1 − ω(h + e)) from which on rows of a pair move each other's slopes:
# levels of a category with five and with twenty rows, ridge, are off by −.017 and −.034
# without (800 × 150, 800 × 40: scores that are equal without the pair are taken apart).
_COUPLED = 0.02
_HELD = 1e-10  # of a row, what the others must hold of it


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Rows of a fit, each of which is left out.

    Of f equal rows one is, the fraction δ = 1/f.

    Parameters
    ----------
    score, alone : ndarray of shape (n,)
        Under the fit, and under the one without the row, but for the intercept.
    leverage : ndarray of shape (n,)
        h.
    part, curvature : ndarray of shape (n,)
        δ and δω.
    freed : ndarray of shape (n,)
        ``1/(1 − δω(h + e))``, 0 where the others hold nothing of a row.
    push : ndarray of shape (n,)
        ``δg/(1 − δω(h + e))``, of which another score is moved by ``h_ij`` times as
        much.
    """

    score: np.ndarray
    alone: np.ndarray
    leverage: np.ndarray
    part: np.ndarray
    curvature: np.ndarray
    freed: np.ndarray
    push: np.ndarray

    @classmethod
    def of_fit(cls, score, g, curvature, weight, h, e) -> LeftOutRows:
        """Of leverages h and :func:`~._inverse_root.of_intercept`."""
        part = one_of_equal(weight)
        left = 1 - part * curvature * (h + e)
        freed = np.where(left > _HELD, 1 / np.maximum(left, _HELD), 0.0)
        push = part * g * freed
        return cls(score, score + h * push, h, part, part * curvature, freed, push)

    def __getitem__(self, rows) -> LeftOutRows:
        return LeftOutRows(*(getattr(self, field.name)[rows] for field in fields(self)))


def one_of_equal(weight):
    """δ, one of f equal rows, or a row as a whole."""
    return np.minimum(1.0, 1 / np.maximum(weight, TINY))


def between_classes(half, positive):
    """``h_ij`` of positives and negatives, of their :meth:`InverseRoot.half`."""
    return half[positive] @ half[~positive].T


def moved_by_pairs(ranked, rows, between, positive, count, e):
    """What the share of the pairs that are won grows by without their two rows.

    Parameters
    ----------
    ranked : sequence of two tuples (score, positive, weight) of ndarray of shape (n,)
        All rows in ascending order of the scores, under the fit and each without it.
    rows : LeftOutRows
        The few of which the pairs are left out,
    between : ndarray of shape (m₁, m₀)
        their :func:`between_classes`,
    positive : ndarray of bool of shape (m,)
        class,
    count : ndarray of shape (m,)
        and how often each of them counts.
    e : float
        :func:`of_intercept`.

    Returns
    -------
    float
        What is below 0 is taken off the AUC of the fit.
    """
    share = [count[c] / count[c].sum() for c in (positive, ~positive)]

    def mean(of_pairs):
        return float(share[0] @ of_pairs @ share[1])

    fitted, alone, both = _margins(rows, between, positive, count, e)
    width = _WIDTH * mean(np.abs(fitted - mean(fitted)))
    # of all scores: those of a few rows may be equal
    reach = max(score[-1] - score[0] for score, *_ in ranked)
    width = max(width, _TIE * reach, TINY)
    before, after = (won_in_part(*all_rows, width) for all_rows in ranked)
    return after - before + mean(_won(both, width) - _won(alone, width))


def _margins(rows, between, positive, count, e):
    """Of positives over negatives: fitted, each of the two left out alone, and both."""
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    score, h, push = rows.score, rows.leverage, rows.push

    def apart(s):
        return s[pos][:, None] - s[neg]

    fitted, alone, bend = apart(score), apart(rows.alone), rows.curvature * rows.freed
    if count @ (bend * h) <= _COUPLED * count.sum():
        return fitted, alone, apart(score + h * push) - between * apart(push)
    up, down = push[pos][:, None], push[neg]
    # each row moves the other's slope: Cramer's rule for the two
    near = between + e
    det = 1 - bend[pos][:, None] * bend[neg] * near**2
    det = np.maximum(det, _HELD)
    up, down = (
        (up + bend[pos][:, None] * near * down) / det,
        (down + bend[neg] * near * up) / det,
    )
    both = fitted + (h[pos][:, None] - between) * up - (h[neg] - between) * down
    return fitted, alone, both


def _won(margin, width):
    """1 of a pair whose positive is higher, ½ of a tie, between them within a width."""
    won = margin / (2 * width)
    won += 0.5
    return won.clip(0.0, 1.0, out=won)


def won_in_part(score, positive, weight, width):
    """The mean of :func:`_won` over all pairs of rows in ascending order, O(n)."""
    z = (score - score[len(score) // 2]) / (2 * width)  # sums near 0 keep their digits
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    above, below, of_neg, of_pos = z[pos], z[neg], weight[neg], weight[pos]
    # Σf and Σfz of the negatives up to ½ lower, and of those up to ½ higher as well
    sums = np.zeros((2, len(neg) + 1))
    np.cumsum(of_neg, out=sums[0, 1:])
    np.cumsum(of_neg * below, out=sums[1, 1:])
    lower, start = sums[:, below.searchsorted(above - 0.5)]
    upper, end = sums[:, below.searchsorted(above + 0.5)]
    won = lower + (above + 0.5) * (upper - lower) - (end - start)
    return float(of_pos @ won / (of_pos.sum() * sums[0, -1]))
