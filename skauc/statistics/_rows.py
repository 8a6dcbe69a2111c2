"""Rows of two classes, their key, and the cache of results computed from them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from ._block_matrix import BlockMatrix
from ._levels import balanced_variance, empirical_auc, shrunk_auc
from ._moments import class_moments
from ._row_blocks import block_rows, dense, parts_of
from ._weights import raising_factor

LIMIT_BYTES = 256 * 2**20
_ENTRY_BYTES = 1024  # size of the key and the objects of an entry


class Cache:
    """Values by key, with at most ``LIMIT_BYTES`` of arrays; thread-safe.

    The least recently used values are dropped first; a value larger than the limit is
    not stored. The arrays of a value become read-only.
    """

    def __init__(self):
        self.nbytes = 0
        self._items = OrderedDict()
        self._lock = Lock()

    def cached(self, key, compute):
        """Return the value of a key; compute and store it if it is missing."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key][0]
        # not under the lock: at worst two threads compute the same value
        value = compute()
        for array in _arrays(value):
            array.setflags(write=False)
        owners = {id(array): array.nbytes for array in map(_owner, _arrays(value))}
        size = sum(owners.values()) + _ENTRY_BYTES
        if size > LIMIT_BYTES:
            return value
        with self._lock:
            self.nbytes += size - self._items.pop(key, (None, 0))[1]
            self._items[key] = value, size
            while self.nbytes > LIMIT_BYTES:
                self.nbytes -= self._items.popitem(last=False)[1][1]
        return value

    def clear(self):
        """Drop all values."""
        with self._lock:
            self._items.clear()
            self.nbytes = 0


CACHE = Cache()


def clear_cache() -> None:
    """Free the memory of results that are kept for recently used data sets.

    All candidates of a search share the decomposition of their data set. skauc keeps
    the decompositions of the data sets used last, at most 256 MiB in each process,
    but never the rows, labels or weights themselves. Clearing changes no result:
    only the next score takes longer, and warnings that were issued once for a data
    set may be issued again.

    See Also
    --------
    make_cbauc_scorer : The scores whose decompositions are kept.
    search_posterior : Scores all candidates by one decomposition.

    Examples
    --------
    >>> from skauc import clear_cache
    >>> clear_cache()
    """
    CACHE.clear()


@dataclass(frozen=True, eq=False)
class Rows:
    """Features, classes and weights of the rows of positive weight.

    Parameters
    ----------
    X : ndarray of float64 or CSR matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of float64 of shape (n,)
        Weights as repetitions of a row, all > 0.
    raised : (float, float), default=(1.0, 1.0)
        Factors by which :meth:`as_counts` multiplied the given weights of the negative
        and of the positive rows.
    group : ndarray of int of shape (n,), default=None
        Rows of one group depend on each other; None if all rows are independent.
    """

    X: Any
    positive: np.ndarray
    weight: np.ndarray
    raised: tuple = (1.0, 1.0)
    group: np.ndarray | None = None

    @classmethod
    def of(cls, X, positive, weight=None, group=None, *, missing=False) -> Rows:
        """Rows in float64, without rows of weight 0.

        If numbers may be ``missing``, any becomes 0, and as many columns again mark it.
        """
        X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
        X = X.astype(float, copy=False)
        if missing and np.isnan(X.sum()):
            X = dense(X)
            X = np.hstack([np.where(np.isnan(X), 0.0, X), np.isnan(X)])
        weight = np.ones(len(positive)) if weight is None else weight
        rows = cls(X, positive, np.asarray(weight, dtype=float), group=group)
        counted = rows.weight > 0
        return rows if counted.all() else rows[counted]

    def as_counts(self) -> Rows:
        """Rows whose weights add up to an effective number of rows of each class."""
        if not self.weighted:
            return self
        sides = ~self.positive, self.positive
        neg, pos = (raising_factor(self.weight[side]) for side in sides)
        if neg == pos == 1:
            return self
        weight = self.weight * np.where(self.positive, pos, neg)
        return replace(self, weight=weight, raised=(neg, pos))

    @property
    def sign(self) -> np.ndarray:
        """1 for the positive rows, −1 for the others, (n,)."""
        return np.where(self.positive, 1.0, -1.0)

    @property
    def share_pos(self) -> float:
        """Share of the positive rows in the sum of the given weights."""
        neg, pos = self.n_neg / self.raised[0], self.n_pos / self.raised[1]
        return pos / (neg + pos)

    @property
    def shape(self) -> tuple:
        """Number of rows and of features."""
        return self.X.shape

    @cached_property
    def weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return bool(np.any(self.weight != 1))

    @cached_property
    def n_pos(self) -> float:
        """Sum of the weights of the positive rows."""
        return float(self.weight @ self.positive)

    @cached_property
    def n_neg(self) -> float:
        """Sum of the weights of the negative rows."""
        return float(self.weight @ ~self.positive)

    @property
    def n(self) -> float:
        """Sum of the weights."""
        return self.n_neg + self.n_pos

    def auc(self, score) -> float:
        """Empirical AUC of scores (n,) of the rows."""
        weight = self.weight if self.weighted else None
        return empirical_auc(score, self.positive, weight)

    def auc_variance(self, auc) -> float:
        """Hanley & McNeil's variance with n/2 rows per class, positive even for A = 1.

        It is taken at ``(nA + ½)/(n + 1)``, the posterior mean under Jeffreys's prior.
        """
        n_neg, n_pos = max(self.n_neg, 1.0), max(self.n_pos, 1.0)
        expected = shrunk_auc(auc, n_neg + n_pos)
        return float(balanced_variance(expected, n_neg, n_pos))

    @property
    def spread(self) -> tuple:
        """Weighted mean (P,) of the rows, and sums of squares (P,) around it."""

        def compute():
            X, weight, P = self.X, self.weight, self.shape[1]
            if isinstance(X, BlockMatrix) or sparse.issparse(X):
                neg, pos = class_moments(X, self.positive, weight, featurewise=True)
                both = neg + pos
                mean, total = both.mean, both.scatter
            else:
                mean, total = weight @ X / self.n, np.zeros(P)
                for part in parts_of(len(weight), block_rows(P)):
                    total += weight[part] @ (X[part] - mean) ** 2
            return mean, np.where(total > self.n * (1e-13 * mean) ** 2, total, 0.0)

        return self.cached("spread", compute)

    @property
    def standard_unit(self) -> np.ndarray:
        """Factors (P,) that give the features variance 1; 0 for constant features."""
        square = self.spread[1]
        out = np.zeros_like(square)
        return np.divide(self.n, square, out=out, where=square > 0) ** 0.5

    @property
    def class_contrast(self) -> np.ndarray:
        """Weights g (n,) with ``gᵀX = x̄₁ − x̄₀``."""
        return self.weight * np.where(self.positive, 1 / self.n_pos, -1 / self.n_neg)

    @cached_property
    def independent(self) -> tuple:
        """Number of groups with negative and with positive rows, or weights of rows."""
        if self.group is None:
            return self.n_neg, self.n_pos
        return class_units(self.positive, self.group)

    def __getitem__(self, which) -> Rows:
        """Rows of an index array or a mask."""
        return replace(
            self,
            X=self.X[which],
            positive=self.positive[which],
            weight=self.weight[which],
            group=None if self.group is None else self.group[which],
        )

    @cached_property
    def key(self) -> bytes:
        """Digest of the content: equal rows have equal keys in every process."""
        kind = self.shape, sparse.issparse(self.X)
        digest = hashlib.blake2b(repr(kind).encode(), digest_size=20)
        # uᵀX, u uniform, changes with every entry of X, up to rounding
        u = np.random.default_rng(20190915).random(self.shape[0])
        sketch = np.ascontiguousarray(u @ self.X) + 0.0
        weight = self.weight if self.weighted else self.weight[:0]
        group = () if self.group is None else (self.group,)
        for array in (sketch, np.packbits(self.positive), weight, *group):
            digest.update(array.tobytes())
        return digest.digest()

    def cached(self, name, compute):
        """Return ``compute()``, cached under a name and the key of the rows."""
        return CACHE.cached((name, self.key), compute)


def class_units(positive, group=None) -> tuple:
    """Numbers of negative and of positive rows, or of the groups that hold them."""
    units = np.arange(len(positive)) if group is None else group
    return tuple(len(np.unique(units[side])) for side in (~positive, positive))


def _owner(array):
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _arrays(value):
    """Yield the arrays of a value of dataclasses and tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _arrays(item)
    elif is_dataclass(value) or sparse.issparse(value):
        yield from _arrays(tuple(vars(value).values()))
