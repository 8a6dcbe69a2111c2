"""Scores of rows in blocks that are compared: the ranks go back to the rows.

The covariance of two AUCs needs the placements of one row under both scores. Each
range of a score ranks the runs that lie in it, and sends each block the half pairs of
its own runs; there they meet the labels and each other, and only their moments leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from ..statistics._block import add_all
from ..statistics._moments import Moments
from ..statistics._rank_sums import RankSums, Runs, half_pairs, packed
from ._block_ranks import Classes, Outline, check_same_rows
from ._block_sample import BlockSample
from ._compared_scores import ComparedScores, score_names


@dataclass(frozen=True, eq=False)
class BlockScores(ComparedScores):
    """k scores of the same rows in blocks.

    Parameters
    ----------
    auc : ndarray of shape (k,)
    sizes : tuple
    joint : ndarray of shape (k, k)
        DeLong's covariance.
    gaps : ndarray of shape (k, k)
        Variances of the differences, from the differences of the rows.
    n_unlike : ndarray of shape (k, k)
        Rows that two scores rank differently.
    """

    auc: np.ndarray
    sizes: tuple[float, float]
    joint: np.ndarray
    gaps: np.ndarray
    n_unlike: np.ndarray
    width = 1.0

    @classmethod
    def from_blocks(cls, blocks, k, pos_label=None, name="") -> BlockScores:
        """Rank k scores; ``name`` ends the names of the arguments in errors."""
        names = score_names(k, name)
        if k == 1:
            one = BlockSample.from_blocks(blocks, pos_label, names[0])
            variance = np.array([[one.delong_variance]])
            none = np.zeros((1, 1))
            return cls(np.array([one.auc]), one.sizes, variance, none, none)
        outlines = blocks.total(_outlines, names)
        classes = Classes.of(outlines[0], pos_label)
        summaries, (neg, pos, n_unlike) = blocks.look_up(
            [partial(_cut, classes, j) for j in range(k)],
            _ranked,
            partial(_joint, classes),
            [one.edges(blocks) for one in outlines],
        )
        samples = [BlockSample.from_sums(add_all(one), classes) for one in summaries]
        for sample in samples:
            check_same_rows(sample.sums, classes)
            sample.check_two()
        n_neg, n_pos = classes.n_neg, classes.n_pos
        # S = S₀₁/n₀ + S₁₀/n₁ (section 1); half pairs are 2n₁ V₀₁ and 2n₀ V₁₀.
        joint, gaps = (
            a.scatter / (n_neg * (n_neg - 1)) / (2 * n_pos) ** 2
            + b.scatter / (n_pos * (n_pos - 1)) / (2 * n_neg) ** 2
            for a, b in zip(neg, pos, strict=True)
        )
        auc = np.array([sample.auc for sample in samples])
        return cls(auc, samples[0].sizes, joint, _square(gaps, k), _square(n_unlike, k))

    @property
    def smaller(self):
        return min(self.sizes)

    @property
    def n_rows(self):
        return sum(self.sizes)

    def covariance(self):
        return self.joint

    def variance(self, contrast):
        """``−½ Σ cᵢ cⱼ Var(Aᵢ − Aⱼ)`` for a contrast c, which adds up to 0."""
        c = np.atleast_1d(contrast)
        # From the variances of the differences: those of equal rankings are exactly 0.
        return float(self.joint[0, 0] if len(c) == 1 else -(c @ self.gaps @ c) / 2)

    def same(self, i, j):
        return not self.n_unlike[i, j]


def _column(block, j):
    return replace(block, X=block.X[:, j])


def _outlines(block, names):
    return tuple(
        Outline.of_block(_column(block, j), name) for j, name in enumerate(names)
    )


def _cut(classes, j, block, edges):
    return classes.cut(_column(block, j), edges)


def _ranked(parts):
    """Sums of a range, and the half pairs below and above each run of each part."""
    runs = Runs.merged(parts)
    halves = np.stack(half_pairs(runs), axis=1)
    answers = [packed(halves[np.searchsorted(runs.value, p.value)]) for p in parts]
    return RankSums.of(runs, np.inf), answers


def _joint(classes, block, summaries, answers):
    """Moments of the rows' half pairs, of their differences; rows ranked unlike."""
    halves = []
    for j, (sums, found) in enumerate(zip(summaries, answers, strict=True)):
        score, positive, weight = classes.rows(_column(block, j))
        halves.append(_half_pairs_of_rows(score, sums, found))
    pairs = list(combinations(range(len(halves)), 2))
    # V₀₁ of a negative counts the positives above it, V₁₀ of a positive the
    # negatives below; of each row only that one is a placement.
    below, above = np.stack(halves, axis=2).swapaxes(0, 1)
    moments = []
    for half, rows in ((above, ~positive), (below, positive)):
        V, w = half[rows].astype(float), None if weight is None else weight[rows]
        gaps = np.stack([V[:, i] - V[:, j] for i, j in pairs], axis=1)
        moments.append(
            (
                Moments.from_samples(V, w),
                Moments.from_samples(gaps, w, featurewise=True),
            )
        )
    unlike = [np.sum((halves[i] != halves[j]).any(axis=1)) for i, j in pairs]
    return (*moments, np.array(unlike))


def _half_pairs_of_rows(score, sums, answers):
    """Half pairs below and above each row, of all ranges; shape (m, 2)."""
    n_neg, n_pos = (np.array([getattr(s, n) for s in sums]) for n in ("n_neg", "n_pos"))
    # What lies outside of the row's range: negatives in lower ranges, positives in
    # higher ones, two half pairs each.
    lower, higher = np.cumsum(n_neg) - n_neg, n_pos.sum() - np.cumsum(n_pos)
    offset = 2 * np.stack([lower, higher], axis=1)
    found = np.concatenate([a + b for a, b in zip(answers, offset, strict=True)])
    value, at = np.unique(score, return_inverse=True)
    if len(value) != len(found):
        raise ValueError(
            "blocks must hold the same rows each time they are read, got "
            f"{len(found)} different scores, then {len(value)}"
        )
    return found[at]


def _square(pairs, k):
    """Symmetric matrix of what stands for the pairs, zero on the diagonal."""
    square = np.zeros((k, k), dtype=pairs.dtype)
    square[np.triu_indices(k, 1)] = pairs
    return square + square.T
