"""Stratified BCa bootstrap of one AUC, without a sort for every resample.

Not ``scipy.stats.bootstrap(method="BCa")``, which calls a statistic of the rows: each
resample and each row of its jackknife would sort anew, O(n_resamples n log n) and
O(n² log n). Here a resample is a multinomial draw of how often each block of scores
occurs, and the jackknife is closed. ``tests/intervals/test_auc_estimate.py`` holds the
two equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_number
from ._confidence_limits import exact_limits
from ._draws import generator

_MOST_BLOCKS = 512  # loses 1/512² = 4e-6 of the variance, see _Blocks
_NUMBERS_AT_ONCE = 2_000_000  # drawn counts: 16 MB


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Neighbouring scores in blocks, each with the AUC of the rows inside it.

    With one score a block (any sample of at most ``_MOST_BLOCKS`` different scores) it
    is the sample itself. Otherwise the AUC inside a block is kept as it is when rows
    are drawn anew: of B blocks a pair of rows shares one with probability 1/B, and
    the variance of the resampled AUC loses about 1/B² of itself, 4e-6 for 512.
    """

    n_neg: np.ndarray
    n_pos: np.ndarray
    auc_inside: np.ndarray

    @classmethod
    def from_sample(cls, sample):
        scores, level = np.unique(
            np.concatenate([sample.neg, sample.pos]), return_inverse=True
        )
        neg, pos = (
            np.bincount(at, count, len(scores))
            for at, count in zip(
                np.split(level, [len(sample.neg)]), sample.counts, strict=True
            )
        )
        if len(scores) <= _MOST_BLOCKS:
            return cls(neg, pos, np.full(len(scores), 0.5))
        # Each class has half of the say where a block ends: both are resolved alike.
        share = (neg / neg.sum() + pos / pos.sum()) / 2
        block = ((np.cumsum(share) - share) * _MOST_BLOCKS).astype(int)
        start = np.flatnonzero(np.diff(block, prepend=-1))
        n_neg, n_pos = np.add.reduceat(neg, start), np.add.reduceat(pos, start)
        before = np.cumsum(n_neg) - n_neg  # negatives below the block
        # Negatives below each score within its block, ties ½.
        below = np.cumsum(neg) - neg / 2
        below -= np.repeat(before, np.diff(np.append(start, len(neg))))
        won = np.add.reduceat(pos * below, start)
        pairs = n_neg * n_pos
        return cls(n_neg, n_pos, np.where(pairs > 0, won / np.maximum(pairs, 1), 0.5))

    def auc(self, n_neg, n_pos):
        """AUC when the blocks hold these numbers of rows, shape (..., n_blocks)."""
        # A positive beats all negatives of lower blocks and A_b of those of its own.
        half_pairs = 2 * (np.cumsum(n_neg, axis=-1) - n_neg) + (
            2 * self.auc_inside * n_neg
        )
        won = (n_pos.astype(float) * half_pairs).sum(axis=-1)
        return won / (2.0 * self.n_neg.sum() * self.n_pos.sum())


def _resampled_auc(sample, n_resamples=9999, random_state=0):
    """The AUC, and the AUCs of stratified resamples, sorted."""
    check_number(
        "n_resamples",
        n_resamples,
        "be a whole number from 2 to 10**8",  # as many floats are kept: 0.8 GB
        lambda n: 2 <= n <= 10**8 and n == int(n),
    )
    rng = generator(random_state)
    blocks = _Blocks.from_sample(sample)
    classes = blocks.n_neg, blocks.n_pos
    at_once = max(1, _NUMBERS_AT_ONCE // len(blocks.n_neg))
    drawn = []
    for start in range(0, int(n_resamples), at_once):
        rows = min(at_once, int(n_resamples) - start)
        # Stratified: the sizes of the classes are those of the sample in every draw.
        numbers = (rng.multinomial(int(n.sum()), n / n.sum(), rows) for n in classes)
        drawn.append(blocks.auc(*numbers))
    return blocks.auc(*classes), np.sort(np.concatenate(drawn))


def bootstrap_error(sample, **options):
    """Deviation of the resampled AUCs."""
    return _resampled_auc(sample, **options)[1].std(ddof=1)


def bootstrap_limits(sample, tail_low, tail_high, **options):
    """BCa limits (section 4); the jackknife is closed, ``A₍₋ᵢ₎ − A ∝ A − V_i``."""
    auc, drawn = _resampled_auc(sample, **options)
    if not any(np.ptp(v) for v in sample.placements):  # nothing to resample
        return exact_limits(sample.auc, sample.smaller, tail_low, tail_high)
    # a = Σ u³/n³ / 6(Σ u²/n²)^1.5, u = V − A, over the rows of both classes
    skew = spread = 0.0
    for v, count in zip(sample.placements, sample.counts, strict=True):
        u, n = v - sample.auc, count.sum()
        skew += count @ u**3 / n**3
        spread += count @ u**2 / n**2
    acceleration = skew / (6 * spread**1.5)
    # z₀ = Φ⁻¹(share of draws below A, ties ½), kept finite
    below = ((drawn < auc).mean() + (drawn <= auc).mean()) / 2
    bias = ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))

    def quantile(z):
        if np.isinf(z):
            return float(z > 0)
        # Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z)))
        shift = bias + z
        stretch = 1 - acceleration * shift
        if stretch <= 0:  # beyond the pole: as far as the draws go
            return drawn[-1 if shift > 0 else 0]
        return np.quantile(drawn, ndtr(bias + shift / stretch))

    return quantile(ndtri(tail_low)), quantile(-ndtri(tail_high))
