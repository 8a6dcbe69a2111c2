"""How alike many models rank the rows: the correlation of their scores in the classes.

A candidate of a search is not kept as the n scores that it gives: where those are
``Z @ w`` of rows that all candidates share, and P < n, its direction w says as much,
and what products of two vectors of scores are needed are added up over blocks of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._validation import check_features
from ..statistics._block_matrix import BlockMatrix
from ._any_rows import numeric, same_rows

_BLOCK = 2**16  # scores, or numbers of rows, that are there at once: 512 kB


@dataclass(frozen=True, eq=False)
class Direction:
    """A vector of n entries that is not made: ``Z @ w`` less its means in the classes.

    Each entry is times the root of its row's weight, and the whole is scaled.

    Parameters
    ----------
    w : ndarray of shape (P,)
    length : float
        Of the vector.
    """

    w: np.ndarray
    length: float


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Rows of which the scores of many candidates are products.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P), or None
        None where what enters is no matrix of numbers.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    """

    Z: Any
    positive: np.ndarray
    weight: np.ndarray | None

    def give(self, Z, w) -> bool:
        """Whether ``Z @ w`` is a product of these rows, and w the shorter of the two.

        Parameters
        ----------
        Z : ndarray or sparse matrix of shape (n, P)
            What a candidate takes for the rows.
        w : ndarray of shape (P,)
        """
        return (
            self.Z is not None and len(w) < len(self.positive) and same_rows(Z, self.Z)
        )

    def deviations(self, W, step):
        """Scores ``Z @ W`` less their class means, times the weights' roots.

        Parameters
        ----------
        W : ndarray of shape (P, k)
        step : int
            Rows in a block.

        Yields
        ------
        ndarray of shape (size, k)
        """
        blocks = [slice(k, k + step) for k in range(0, len(self.positive), step)]
        weight = np.ones(len(self.positive)) if self.weight is None else self.weight
        share = np.stack([~self.positive, self.positive]) * weight
        # Class means of the scores: Σ w s/Σ w over the rows of a class
        share /= share.sum(axis=1, keepdims=True)
        means = sum(share[:, rows] @ self._scores(rows, W) for rows in blocks)
        for rows in blocks:
            of_class = means[self.positive[rows].astype(int)]
            yield (self._scores(rows, W) - of_class) * np.sqrt(weight[rows])[:, None]

    def _scores(self, rows, W):
        """Scores of some rows, but for a constant."""
        part = self.Z[rows]
        if not sparse.issparse(part):
            part = part.astype(float) - self.Z[0]  # far from 0 products lose digits
        return np.asarray(part @ W)


def shared_rows(X, positive, weight) -> SharedRows:
    """The rows of a search as the candidates' directions take them.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    """
    try:
        Z = numeric(X)
        Z = None if isinstance(Z, BlockMatrix) else check_features(Z, len(positive))
    except (TypeError, ValueError):  # text, say: the features start behind a step
        Z = None
    return SharedRows(Z, positive, weight)


def correlation(parts, shared: SharedRows | None = None) -> np.ndarray:
    """Correlation of some vectors of n entries about 0.

    Parameters
    ----------
    parts : sequence of ndarray of shape (n,), or Direction
    shared : SharedRows, default=None
        The rows of the directions.

    Returns
    -------
    ndarray of shape (m, m)
        0 beside a vector that is 0.
    """
    product = np.zeros((len(parts), len(parts)))
    for block in _blocks(parts, shared):
        # ρ_ij = s_iᵀs_j/√(s_iᵀs_i s_jᵀs_j), s the deviations from the class means
        product += block @ block.T
    root = np.sqrt(np.diag(product))
    known = root > 0
    root[~known] = 1.0
    alike = product / np.outer(root, root)
    np.fill_diagonal(alike, known)
    return alike


def _blocks(parts, shared):
    """Some entries of all vectors at a time, (m, size)."""
    lazy = [k for k, part in enumerate(parts) if isinstance(part, Direction)]
    made = {k: _size(part) for k, part in enumerate(parts) if k not in set(lazy)}
    n = len(shared.positive) if lazy else len(parts[0])
    # Vectors of scores, or rows of P features, whichever is wider.
    width = max(len(parts), *(len(parts[k].w) for k in lazy), 1)
    step = max(_BLOCK // width, 1)
    if lazy:
        unmade = shared.deviations(np.column_stack([parts[k].w for k in lazy]), step)
    for start in range(0, n, step):
        block = np.empty((len(parts), min(step, n - start)))
        for k, size in made.items():
            block[k] = parts[k][start : start + step] / size
        if lazy:
            block[lazy] = next(unmade).T
        yield block


def _size(vector):
    """Its largest entry, or 1: squares of very small ones would be 0."""
    return np.abs(vector).max() or 1.0
