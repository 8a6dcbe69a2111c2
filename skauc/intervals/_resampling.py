"""Random weights of rows for every Bayesian bootstrap, and the permutation test.

Section 7 of :mod:`skauc.intervals` has the permutation test of Bandos, Rockette & Gur
(2005).
"""

import numpy as np

from ..statistics._checks import check_integer, generator
from ..statistics._levels import placements

DRAWS = 4000  # default: a simultaneous limit is about the 15th smallest draw
_NUMBERS_AT_ONCE = 2_000_000  # weights drawn at once: 16 MB
_ALL_SIGNS = 20  # for so few rows all 2²⁰ choices are tried (8 MB, 10 ms)
_SAME = 1e-12  # permuted differences this close to the observed one are ties


def batches(total, width) -> list:
    """Return sizes of batches of draws, for ``width`` numbers per draw."""
    at_once = max(1, _NUMBERS_AT_ONCE // max(width, 1))
    return [min(at_once, total - start) for start in range(0, total, at_once)]


def bayesian_weights(counts, n_resamples, random_state):
    """Yield batches of weights of a Bayesian bootstrap of both classes.

    They are Gamma(w) numbers; divided by their sum they are Dirichlet.

    Parameters
    ----------
    counts : (ndarray, ndarray)
        Count of each unit of a class: of a row, or of all rows with one score.
    n_resamples : int
    random_state : int, Generator or None

    Yields
    ------
    (neg, pos) : ndarrays of shape (batch, n_neg), (batch, n_pos)
    """
    number = check_integer("n_resamples", n_resamples, 20, 10**6)
    rng = generator(random_state)
    for size in batches(number, sum(map(len, counts))):
        yield tuple(_gamma(rng, w, (size, len(w))) for w in counts)


def _gamma(rng, counts, shape):
    """Gamma numbers; those of single rows are exponential, in half the time."""
    if (counts == 1).all():
        return rng.standard_exponential(shape)
    return rng.standard_gamma(counts, shape)


def permutation_pvalue(a, b, alternative, n_resamples, random_state) -> float:
    """P-value of the exchange of two scores of the same rows.

    Parameters
    ----------
    a, b : Sample
        The rows in the same order, with the same weights and clusters.
    alternative : {"two-sided", "less", "greater"}
    n_resamples : int
        Random choices of rows to swap; all of them are taken where at most 20 rows
        (clusters) matter.
    random_state : int, Generator or None

    Returns
    -------
    float
        At least 1/(n_resamples + 1), or 2^{-n}.
    """
    number = check_integer("n_resamples", n_resamples, 100, 10**7)
    rng = generator(random_state)
    signed, copies = exchange_effects(a, b)
    moving = np.abs(signed * copies) > _SAME  # other rows do not change the difference
    signed, copies = signed[moving], copies[moving]
    sides = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}
    size = sides[alternative]
    least = size(signed @ copies) - _SAME
    if copies.sum() <= _ALL_SIGNS:
        differences = np.zeros(1)
        # Σ s_r c_r for all 2ⁿ choices of signs: each row doubles the list
        for c in np.repeat(signed, copies):
            differences = np.concatenate([differences + c, differences - c])
        return float((size(differences) >= least).mean())
    count = 0
    for rows in batches(number, len(signed)):
        count += int((size(_signs(copies, rows, rng) @ signed) >= least).sum())
    # the observed choice is one of the possible ones: p is never 0
    return (count + 1) / (number + 1)


def _signs(copies, rows, rng):
    """Sums of the random signs of each row's copies, one choice per line."""
    size = rows, len(copies)
    if copies.max() == 1:
        return 2.0 * rng.integers(2, size=size, dtype=np.int8) - 1
    # n signs ±1 add up to 2 Bin(n, ½) − n
    return 2.0 * rng.binomial(copies, 0.5, size=size) - copies


def exchange_effects(a, b) -> tuple:
    """The c of one copy of each row, or of the clusters, and their numbers of copies.

    A row of weight 2 has two copies; with clusters weights are not counts. The c of all
    copies add up to ``Â_a − Â_b``.
    """
    # ranks have the same scale for both scores
    ranks = zip(*(_ranks(sample) for sample in (a, b)), strict=True)
    neg, pos = (np.concatenate(both) for both in ranks)
    both = placements(neg, pos, *(np.tile(w, 2) for w in a.counts))
    # c_r = {V(a_r) − V(b_r)}/n_c; ``both`` holds the rows under a, then under b
    effects = np.concatenate([
        (v[: len(w)] - v[len(w) :]) / w.sum()
        for v, w in zip(both, a.counts, strict=True)
    ])  # fmt: skip
    weight = np.concatenate(a.counts)
    if a.clusters is None:  # weights that are not whole have copies of near size
        copies = np.maximum(np.rint(weight), 1).astype(np.int64)
        return effects * (weight / copies), copies
    effects = np.bincount(np.concatenate(a.clusters), effects * weight)
    return effects, np.ones(len(effects), np.int64)


def _ranks(sample):
    """Midranks of the negatives and the positives, rows counted by their weights."""
    levels = sample.levels
    total = levels.neg + levels.pos
    if sample.clusters is not None:  # with clusters weights are not counts
        total = np.bincount(np.concatenate(levels.row_levels)).astype(float)
    # Rows below + (rows tied + 1)/2
    ranks = np.cumsum(total) - (total - 1) / 2
    return sample.of_rows(ranks, ranks)
