"""The empirical ROC curve of two samples: its corners, one for each distinct score.

A threshold t calls ``score >= t`` positive. Going down the distinct scores, the rates
(x, y) = (FPR, TPR) walk from (0, 0) to (1, 1): to the right by the negatives at a
score, up by its positives, and straight across where both have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class ROCPoints:
    """Distinct scores from the largest down, and what lies at and above each.

    Parameters
    ----------
    thresholds : ndarray of shape (K,)
    above_neg, above_pos : ndarray of shape (K,)
        Weight of the rows of a class with ``score >= threshold``.
    level_neg, level_pos : ndarray of int, shapes (n_neg,), (n_pos,)
        Number of each row's score among the thresholds.
    """

    thresholds: np.ndarray
    above_neg: np.ndarray
    above_pos: np.ndarray
    level_neg: np.ndarray
    level_pos: np.ndarray

    @classmethod
    def from_rows(cls, neg, pos, weight_neg=None, weight_pos=None) -> ROCPoints:
        """Merge two samples; O(n) if both are sorted, O(n log n) if not."""
        score = np.concatenate([neg, pos])
        order = np.argsort(score, kind="stable")[::-1]  # timsort merges sorted runs
        score = score[order]
        first = np.concatenate([[True], score[1:] != score[:-1]])
        level = np.empty(len(order), dtype=np.intp)
        level[order] = np.cumsum(first) - 1
        # The last row of each score: sums up to it are those at or above the threshold.
        last = np.append(np.flatnonzero(first)[1:], len(order)) - 1
        is_pos = order >= len(neg)
        if weight_neg is None or weight_pos is None:
            above_pos = np.cumsum(is_pos)[last]
            above_neg = last + 1 - above_pos
        else:
            weight = np.concatenate([weight_neg, weight_pos])[order]
            above_pos = np.cumsum(np.where(is_pos, weight, 0.0))[last]
            above_neg = np.cumsum(np.where(is_pos, 0.0, weight))[last]
        rows = level[: len(neg)], level[len(neg) :]
        return cls(score[first], above_neg, above_pos, *rows)

    @cached_property
    def fpr(self) -> np.ndarray:
        """Rates on the x axis, shape (K + 1,), from 0 to 1."""
        return np.concatenate([[0.0], self.above_neg / self.above_neg[-1]])

    @cached_property
    def tpr(self) -> np.ndarray:
        """Rates on the y axis, shape (K + 1,), from 0 to 1."""
        return np.concatenate([[0.0], self.above_pos / self.above_pos[-1]])

    @cached_property
    def at_neg(self) -> np.ndarray:
        """Weight of the negatives at each threshold."""
        return np.diff(self.above_neg, prepend=0)

    @cached_property
    def at_pos(self) -> np.ndarray:
        """Weight of the positives at each threshold."""
        return np.diff(self.above_pos, prepend=0)


def height(x, y, at, side="right"):
    """Height of the path of corners (x, y) at x = ``at``.

    Where the path is vertical that is its top, or with ``side="left"`` its bottom.
    """
    # "right": x[left] is the last corner at or before ``at``, a vertical piece's top;
    # "left": x[right] is the first at or after it, the bottom.
    right = np.searchsorted(x, at, side=side)
    left = np.maximum(right - 1, 0)
    right = np.minimum(left + 1, len(x) - 1) if side == "right" else right
    run = x[right] - x[left]
    share = np.where(run > 0, at - x[left], 0) / np.where(run > 0, run, 1)
    return y[left] + share * (y[right] - y[left])
