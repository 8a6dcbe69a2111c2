"""Rows whose deviations from the means of their classes are pulled in.

Within-class deviations beyond k pooled standard deviations become k of them, and
everything is divided by √c, ``c = 1 − 2Q(k) − 2kφ(k) + 2k²Q(k)``, which leaves normal
data their variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from ..statistics._moments import Moments, RawSums, class_moments, in_units
from ..statistics._numerics import block_rows, parts_of

_BLOCK_ENTRIES = 2**16  # of sparse rows, at a time


@dataclass(frozen=True, eq=False)
class Clip:
    """Class means, and how far from them a value may lie."""

    means: np.ndarray  # (2, P): neg, pos
    bound: np.ndarray
    shrink: float

    @classmethod
    def of(cls, X, positive, weight, k):
        """Limits at k standard deviations; None for k = None."""
        if k is None:
            return None
        neg, pos = class_moments(X, positive, weight, featurewise=True)
        means = np.array([neg.mean, pos.mean])
        # Pooled within-class standard deviation of each feature
        spread = np.sqrt((neg.scatter + pos.scatter) / max(neg.n + pos.n - 2, 1.0))
        q, phi = ndtr(-k), np.exp(-(k**2) / 2) / np.sqrt(2 * np.pi)
        # c = E clip(N, −k, k)² = 1 − 2Q(k) − 2kφ(k) + 2k²Q(k)
        return cls(means, k * spread, np.sqrt(1 - 2 * q - 2 * k * phi + 2 * k**2 * q))

    def values(self, value, mean, bound):
        """Winsorised values (elementwise)."""
        return mean + np.clip(value - mean, -bound, bound) / self.shrink

    def dense(self, rows, positive):
        out = np.empty(rows.shape)
        for block, mean in self._deviations(rows, positive, out):
            np.clip(block, -self.bound, self.bound, out=block)
            block /= self.shrink
            block += mean
        return out

    def _deviations(self, rows, positive, out=None):
        """Blocks of dense rows less the means of their classes, and these."""
        of_class = positive.astype(int)
        for part in parts_of(len(rows), block_rows(rows.shape[1])):
            mean = self.means[of_class[part]]
            into = None if out is None else out[part]
            yield np.subtract(rows[part], mean, out=into), mean

    def moments(self, X, rows, c, weight) -> Moments | None:
        """Moments of dense rows of class c, winsorised; None if that costs digits."""
        sums = RawSums.around_zero(X.shape[1])
        for part in sums.parts(rows):
            # clip(x − x̄_c), of which the origin is 0; class mean and factor come last
            block = X[part] - self.means[c]
            np.clip(block, -self.bound, self.bound, out=block)
            sums.add(block, None if weight is None else weight[part])
            del block
        found = sums.moments()
        del sums
        return found and in_units(found, self.means[c], 1 / self.shrink)

    def excess(self, X, positive, alive):
        """What winsorising takes off the rows, but for one row a class; CSR."""
        if not sparse.issparse(X):
            over, column, count = [], [], [[0]]
            for deviation, _ in self._deviations(X, positive):
                far = (deviation > self.bound) | (deviation < -self.bound)
                far &= alive
                count.append(np.count_nonzero(far, axis=1))
                column.append(np.flatnonzero(far) % X.shape[1])
                over.append(_over(deviation[far], self.bound[column[-1]]))
            over, column, count = map(np.concatenate, (over, column, count))
            return sparse.csr_array((over, column, np.cumsum(count)), shape=X.shape)
        out = X.astype(float)
        out.sum_duplicates()
        row = np.repeat(positive.astype(int), np.diff(out.indptr))
        mean, bound = self.means[row, out.indices], self.bound[out.indices]
        # The excess of an absent entry, a 0, stands in the row of the class.
        out.data = _over(out.data - mean, bound) - _over(-mean, bound)
        out.data[~alive[out.indices]] = 0.0
        out.eliminate_zeros()
        return out

    def sparse(self, X, positive):
        """Sparse part and class rows whose sum are the winsorised rows."""
        # Winsorised row = (stored entries − what a 0 becomes) + what a 0 becomes
        at_zero = self.values(0.0, self.means, self.bound)
        out = X.astype(float)
        out.sum_duplicates()
        of_class = np.repeat(positive.view(np.uint8), np.diff(out.indptr))
        # Some entries at a time: what is made of them is a few times as large
        for part in parts_of(out.nnz, _BLOCK_ENTRIES):
            at = of_class[part], out.indices[part]
            bound = self.bound[out.indices[part]]
            value = self.values(out.data[part], self.means[at], bound)
            out.data[part] = value - at_zero[at]
        return out, at_zero


def _over(value, bound):
    return value - np.clip(value, -bound, bound)


def clipped_moments(block, clip):
    if clip is not None and not sparse.issparse(block.X):
        rows = map(np.flatnonzero, (~block.y, block.y))
        found = tuple(
            clip.moments(block.X, some, c, block.weight) for c, some in enumerate(rows)
        )
        if all(found):
            return found
    rows = block.X
    if clip is not None or sparse.issparse(rows):
        rows = dense_rows(rows, block.y, clip)
    return class_moments(rows, block.y, block.weight)


def dense_rows(X, positive, clip):
    """Rows of float64, winsorised if there is a clip."""
    rows = X.toarray() if sparse.issparse(X) else X
    return rows.astype(float) if clip is None else clip.dense(rows, positive)
