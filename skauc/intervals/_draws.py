"""Random weights of rows, drawn in batches, for every bootstrap of this folder."""

from __future__ import annotations

import numpy as np

from .._validation import check_integer

DRAWS = 4000  # a simultaneous limit is then about the 15th smallest draw
_NUMBERS_AT_ONCE = 2_000_000  # drawn weights: 16 MB


def checked_draws(n_draws) -> int:
    """Number of draws; None takes ``DRAWS``."""
    return DRAWS if n_draws is None else check_integer("n_draws", n_draws, 20, 10**6)


def batches(total, width) -> list[int]:
    """Sizes of batches of draws, for ``width`` numbers per draw."""
    at_once = max(1, _NUMBERS_AT_ONCE // max(width, 1))
    return [min(at_once, total - start) for start in range(0, total, at_once)]


def drawn_weights(counts, n_draws, rng, *, law="multinomial", clusters=None):
    """Yield batches of weights of the units of both classes.

    Parameters
    ----------
    counts : (ndarray, ndarray)
        How often each unit of a class counts: a row, or all rows of one score.
    n_draws : int
    rng : numpy.random.Generator
    law : {"multinomial", "dirichlet"}, default="multinomial"
        Resamples of the size of each class, or the weights of a Bayesian bootstrap:
        Gamma(w) numbers, which over their sum are Dirichlet.
    clusters : (ndarray, ndarray), default=None
        Clusters of the rows, which are then drawn with all their rows.

    Yields
    ------
    (neg, pos) : ndarrays of shape (batch, n_neg), (batch, n_pos)
    """
    for size in batches(n_draws, sum(map(len, counts))):
        if clusters is not None:
            yield _drawn_clusters(counts, clusters, size, rng)
        elif law == "dirichlet":
            yield tuple(_gamma(count, size, rng) for count in counts)
        else:
            yield tuple(
                rng.multinomial(int(n.sum()), n / n.sum(), size).astype(float)
                for n in counts
            )


def _gamma(count, size, rng):
    """Gamma(count) weights; units that count 0 get none, and cost no random number."""
    occupied = np.flatnonzero(count)
    weight = np.zeros((size, len(count)))
    weight[:, occupied] = rng.standard_gamma(count[occupied], (size, len(occupied)))
    return weight


def _drawn_clusters(counts, clusters, size, rng):
    names, cluster = np.unique(np.concatenate(clusters), return_inverse=True)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size)
    weight = drawn[:, cluster] * np.concatenate(counts)
    return np.split(weight, [len(counts[0])], axis=1)
