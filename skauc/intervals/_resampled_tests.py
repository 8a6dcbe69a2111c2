"""Tests by resampling, for samples too small for the normal distribution.

**Permutation** (Bandos, Rockette & Gur 2005). Under the null hypothesis that the two
scores of a row may be exchanged, after both became ranks, every choice of rows to swap
is equally likely. Swapping row r (``s_r = −1``) changes the difference of the AUCs in
one way only:

    Â_a − Â_b = Σ_r s_r c_r,    c_r = {V(a_r) − V(b_r)}/n_c,

V the placement of a rank of row r among the 2n ranks that the rows of the other class
have under both scores: of a pair's four comparisons each enters as often whether the
other row is swapped or not. So a permutation costs O(n) and no sort, and rows of one
cluster, which are swapped together, add their c. The test is exact for scores that may
be exchanged themselves; ranks, for scores without a common scale, are nearly so.

**Bootstrap**. Rows are drawn anew within each class, or clusters with all their rows;
the covariance of the drawn AUCs takes the place of DeLong's.
"""

from __future__ import annotations

import numpy as np

from ..statistics._ranks import placements

_ALL_SIGNS = 20  # rows: their 2²⁰ choices are 8 MB and 10 ms, and no draw is needed
_NUMBERS_AT_ONCE = 2_000_000  # of drawn signs or counts: 16 MB
_SAME = 1e-12  # a permuted difference within it of the observed one is tied with it


def permutation_pvalue(a, b, alternative, n_resamples, rng) -> float:
    """P-value of the exchange of two scores of the same rows.

    Parameters
    ----------
    a, b : Sample
        The rows in the same order, with the same weights and clusters.
    alternative : {"two-sided", "less", "greater"}
    n_resamples : int
        Random choices of rows to swap; all of them are taken where at most 20 rows
        (clusters) matter.
    rng : Generator

    Returns
    -------
    float
        At least 1/(n_resamples + 1), or 2^{-n}.
    """
    signed, copies = exchange_effects(a, b)
    moving = np.abs(signed * copies) > _SAME  # the others change nothing
    signed, copies = signed[moving], copies[moving]
    observed = signed @ copies
    extreme = {
        "two-sided": lambda d: np.abs(d) >= abs(observed) - _SAME,
        "greater": lambda d: d >= observed - _SAME,
        "less": lambda d: d <= observed + _SAME,
    }[alternative]
    if copies.sum() <= _ALL_SIGNS:
        differences = np.zeros(1)
        # Σ s_r c_r for all 2ⁿ choices of signs: each row doubles the list.
        for c in np.repeat(signed, copies):
            differences = np.concatenate([differences + c, differences - c])
        return float(extreme(differences).mean())
    count = 0
    for rows in _batches(n_resamples, len(signed)):
        count += int(extreme(_signs(copies, rows, rng) @ signed).sum())
    # The observed choice is one of those possible: p is never 0.
    return (count + 1) / (n_resamples + 1)


def _signs(copies, rows, rng):
    """Sums of the random signs of each row's copies, one choice a line."""
    size = rows, len(copies)
    if copies.max() == 1:
        return 2.0 * rng.integers(2, size=size, dtype=np.int8) - 1
    # n signs ±1 add up to 2 Bin(n, ½) − n.
    return 2.0 * rng.binomial(copies, 0.5, size=size) - copies


def exchange_effects(a, b) -> tuple[np.ndarray, np.ndarray]:
    """The c of one copy of each row, or of the clusters, and their numbers of copies.

    A row of weight 2 is two rows; with clusters weights are no counts. The sum of all
    copies' c is ``Â_a − Â_b``.
    """
    n_neg, weight = len(a.neg), np.concatenate(a.counts)
    counts = weight if a.cluster_neg is None else np.ones(len(weight))
    # Ranks bring both scores on one scale; others may not be exchanged.
    ranks = [_ranks(np.concatenate([s.neg, s.pos]), counts) for s in (a, b)]
    neg, pos = (np.concatenate([r[part] for r in ranks])
                for part in (slice(n_neg), slice(n_neg, None)))  # fmt: skip
    weights = weight[:n_neg], weight[n_neg:]
    both = placements(neg, pos, *(np.tile(w, 2) for w in weights))
    # c_r = {V(a_r) − V(b_r)}/n_c; ``both`` holds the rows under a, then under b.
    effects = np.concatenate([
        (v[: len(w)] - v[len(w) :]) / w.sum()
        for v, w in zip(both, weights, strict=True)
    ])  # fmt: skip
    if a.cluster_neg is None:
        return effects, weight.astype(np.int64)
    cluster = np.concatenate([a.cluster_neg, a.cluster_pos])
    effects = np.bincount(cluster, effects * weight)
    return effects, np.ones(len(effects), np.int64)


def _ranks(score, counts):
    """Midranks of rows that each count so often."""
    _, level = np.unique(score, return_inverse=True)
    total = np.bincount(level, counts)
    # Rows below + (rows tied + 1)/2
    return (np.cumsum(total) - (total - 1) / 2)[level]


def bootstrap_draws(samples, n_resamples, rng) -> np.ndarray:
    """AUCs of k scores in resamples of their rows, shape (n_drawn, k).

    Parameters
    ----------
    samples : list of Sample
        The rows in the same order, with the same weights and clusters.
    n_resamples : int
    rng : Generator

    Returns
    -------
    ndarray
        A resample of clusters that holds one class only is left out.
    """
    curves = [_Levels(sample) for sample in samples]
    draws = []
    for rows in _batches(n_resamples, len(samples[0].neg) + len(samples[0].pos)):
        neg, pos = _drawn_weights(samples[0], rows, rng)
        full = (neg.sum(axis=1) > 0) & (pos.sum(axis=1) > 0)
        neg, pos = neg[full], pos[full]
        draws.append(np.column_stack([curve.auc(neg, pos) for curve in curves]))
    return np.concatenate(draws)


def _drawn_weights(sample, rows, rng):
    """Weights of the negatives and the positives in resamples, one a line."""
    if sample.cluster_neg is None or sample.cluster_pos is None:
        return [rng.multinomial(int(n.sum()), n / n.sum(), rows).astype(float)
                for n in sample.counts]  # fmt: skip
    both = np.concatenate([sample.cluster_neg, sample.cluster_pos])
    names, cluster = np.unique(both, return_inverse=True)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), rows)
    drawn = drawn[:, cluster] * np.concatenate(sample.counts)
    return np.split(drawn, [len(sample.neg)], axis=1)


class _Levels:
    """Rows sorted by score once; AUCs for any weights of them in O(n)."""

    def __init__(self, sample):
        score = np.concatenate([sample.neg, sample.pos])
        self.order = np.argsort(score, kind="stable")
        score = score[self.order]
        self.first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])

    def auc(self, neg, pos):
        """AUC of each line of weights, ties ½."""
        n_neg, n_pos = neg.shape[1], pos.shape[1]
        # Rows of the other class weigh 0: one order of all rows serves both.
        neg = np.pad(neg, ((0, 0), (0, n_pos)))[:, self.order]
        pos = np.pad(pos, ((0, 0), (n_neg, 0)))[:, self.order]
        neg, pos = (np.add.reduceat(w, self.first, axis=1) for w in (neg, pos))
        # A = Σ pos (negatives below + half of those tied)/(n₀ n₁)
        below = np.cumsum(neg, axis=1) - neg / 2
        return (pos * below).sum(axis=1) / neg.sum(axis=1) / pos.sum(axis=1)


def _batches(total, width):
    """Numbers of resamples to draw at once."""
    at_once = max(1, _NUMBERS_AT_ONCE // max(width, 1))
    return [min(at_once, total - start) for start in range(0, total, at_once)]
