"""The within-class scatter of many sparse rows from products with them alone.

For P > n > 1000 the Gram matrix ``G = RRᵀ`` of the rows is neither formed nor
decomposed: all that is asked of W = RᵀR is smooth in its eigenvalues, and comes from
Lanczos' quadrature (:mod:`skauc.statistics._lanczos`).

- *Nodes*: 96 values of λ, even in log λ from the smallest to the largest Ritz value.
  A measure of λ is put on them linearly, so that its mass and its mean are kept.
- *How many eigenvalues lie where*, and those of W_c: random signs of the rows, with the
  exact number of eigenvalues and the exact trace of W.
- ``Vᵀd`` and ``Vᵀx``: Gauss's rule of Rd and of Rx, exact for polynomials of degree
  2k − 1 in λ; ``R = C diag(√c) Z``, Z the winsorised, scaled rows, C what takes off
  class means.

Error. Against the decomposition, 1500 × 50 000 texts of one and of twenty topics, 1500
× 4862 of news, with and without their labels: see ``test_ritz_basis``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..statistics._lanczos import Ritz, lanczos, random_signs
from ..statistics._numerics import TINY

_NODES = 96
_SEED = 1959
_NUMBERS = 16_000  # of random signs: 16 vectors of 1000 rows, 8 of 2000, at least 2
_TRACE_STEPS, _DIFFERENCE_STEPS, _STEPS = 12, 16, 10
# Of a rank, and standard deviations: what random signs may count too many or too few
_SAME_RANK, _DEVIATIONS = 0.02, 4
_LEAST = 1e-6  # of the largest Ritz value: below there is none


@dataclass(frozen=True, eq=False)
class RowProducts:
    """``R = C diag(root) Z`` of sparse rows, and products with ``G = RRᵀ``.

    In single precision: a product reads memory, and no more than four digits are asked;
    but where rows lie far from the origin these are lost in the class means, and of
    what is very large, or of a very small weight, there are no powers.

    Parameters
    ----------
    Z : sparse array of shape (n, P)
        Rows in scaled features, but for one row a class.
    root : ndarray of shape (n,)
        Square roots of the weights; 0 for rows that are left out.
    positive : ndarray of bool of shape (n,)
    """

    Z: sparse.csr_array
    root: np.ndarray
    positive: np.ndarray

    def centred(self, v):
        """C v: what takes off class means, of rows times ``root``; in place."""
        for u, square in self._sides:  # 1 − uuᵀ/uᵀu
            v -= np.multiply.outer(u, (u @ v) / square)
        return v

    @cached_property
    def _sides(self):
        """The roots u of each class that has a weight, 0 elsewhere, and uᵀu."""
        classes = ~self.positive, self.positive
        roots = [np.where(rows, self.root, 0) for rows in classes]
        return [(u, u @ u) for u in roots if u.any()]

    def scores(self, x):
        """``R x``."""
        out = self.Z @ x.astype(self.Z.dtype, copy=False)
        return self.centred((out.T * self.root).T)

    def transposed(self, v):
        """``Rᵀ v`` of a centred v."""
        return self.columns @ (v.T * self.root).T.astype(self.Z.dtype, copy=False)

    @cached_property
    def columns(self):
        """``Zᵀ``: its checks take a third of a product."""
        return self.Z.T

    def gram(self, v):
        """``G v`` of a centred v."""
        return self.scores(self.transposed(v))

    @classmethod
    def of_rows(cls, rows, root, positive, far=False):
        """In single precision unless ``far``; the places of the entries are shared."""
        kind = np.float64 if far else np.float32
        data = rows.data.astype(kind)
        Z = sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        return cls(Z, root.astype(kind), positive.copy())

    def of_class(self, label):
        """Those of one class alone."""
        return self.some(self.positive == label)

    def taken(self, mask):
        """The same of those rows, without places for the others."""
        return RowProducts(self.Z[mask], self.root[mask], self.positive[mask])

    def some(self, mask):
        """Those of some rows alone."""
        return RowProducts(self.Z, np.where(mask, self.root, 0), self.positive)


@dataclass(frozen=True, eq=False)
class RitzBasis:
    """What projects directions; see the module's text.

    Parameters
    ----------
    rows : RowProducts
    nodes : ndarray of shape (r,)
    gap : ndarray of shape (n,)
        ``R d``.
    of_difference : Ritz
        Of R d.
    keys : ndarray of shape (n,)
        An order of the rows of their own.
    """

    rows: RowProducts
    nodes: np.ndarray
    gap: np.ndarray
    of_difference: Ritz
    keys: np.ndarray

    def project(self, x):
        """``a²``, ``ab``, their filter, and the squares of each class; x (P, k)."""
        s = self.rows.scores(x)
        ritz = lanczos(self.rows.gram, s, _STEPS)
        square, cross = np.empty((2, len(self.nodes), s.shape[1]))
        for k in range(s.shape[1]):
            values = ritz.values[k]
            # a = Λ^(−½)Uᵀ(Rx), b = Λ^(−½)Uᵀ(Rd)
            over = reciprocal(values)
            at = ritz.first[k] * ritz.length[k]
            square[:, k] = on_nodes(self.nodes, values, at**2 * over)
            cross[:, k] = on_nodes(
                self.nodes, values, at * ritz.along(self.gap, k) * over
            )
        squares = [
            np.sum(s[mask] ** 2, axis=0, dtype=float)
            for mask in (~self.rows.positive, self.rows.positive)
        ]

        def filtered(k, g, X):
            return self.filtered(ritz, k, g)

        return square, cross, filtered, *squares

    def filtered(self, ritz, k, g):
        """``V diag(g) Vᵀx`` of the k-th vector, g (r,) or (r, m) at the nodes."""
        # Rᵀ U (g/λ) Uᵀ (Rx)
        values = ritz.values[k]
        over = reciprocal(values)
        inside = [
            ritz.function(np.interp(values, self.nodes, one) * over, k)
            for one in np.atleast_2d(g.T)
        ]
        return self.rows.transposed(np.reshape(inside, (*g.shape[1:], -1)).T)


def reciprocal(values):
    """1/θ, and 0 where there is no eigenvalue."""
    some = values > _LEAST * values.max(initial=0.0)
    return np.divide(1.0, values, out=np.zeros_like(values), where=some)


def on_nodes(nodes, values, mass):
    """A measure of the mass at some values, put on the two nodes beside each."""
    if len(nodes) == 1:
        return np.array([mass.sum()])
    i = np.clip(np.searchsorted(nodes, values) - 1, 0, len(nodes) - 2)
    apart = nodes[i + 1] - nodes[i]
    share = np.divide(values - nodes[i], apart, out=np.zeros(len(i)), where=apart > 0)
    above = np.clip(share, 0.0, 1.0)
    K = len(nodes)
    return np.bincount(i, mass * (1 - above), K) + np.bincount(i + 1, mass * above, K)


@dataclass(frozen=True, eq=False)
class Density:
    """Where the eigenvalues of a Gram matrix lie: values (r,), ascending, and counts.

    ``share`` is how much of each a class holds, from the Ritz vectors.
    """

    values: np.ndarray
    counts: np.ndarray
    share: np.ndarray


def density(rows: RowProducts, order, trace, n_features) -> Density:
    """Eigenvalues of the Gram matrix of some rows.

    Parameters
    ----------
    rows : RowProducts
        Rows of weight 0 do not count.
    order : ndarray of int of shape (n,)
        The rows in an order of their own.
    trace : float
        ``tr G``.
    n_features : int
        Of the features that vary.
    """
    m = max(_NUMBERS // len(order), 2)
    signs = np.empty((len(order), m), dtype=rows.Z.dtype)
    signs[order] = random_signs(len(order), m, _SEED)
    used = rows.root > 0
    if not used.all():
        rows, signs = rows.taken(used), signs[used]
    classes = ~rows.positive, rows.positive
    rank = sum(max(int(np.count_nonzero(c)) - 1, 0) for c in classes)
    ritz = lanczos(rows.gram, rows.centred(signs), _TRACE_STEPS)
    # Of the positive class: y_jᵀ diag(positive) y_j
    of_positive = [
        np.sum((v.T @ q[:, rows.positive]) ** 2, axis=1)
        for v, q in zip(ritz.vectors, np.moveaxis(ritz.basis, 2, 0), strict=True)
    ]
    values, share = ritz.values.ravel(), np.ravel(of_positive)
    # E (y_jᵀs)² over n − 2 dimensions
    counts = (ritz.first**2 / m * rank).ravel()
    at = np.argsort(values)
    values, counts, share = values[at], counts[at], share[at]
    some = (values > _LEAST * values[-1]) & (counts > 0)
    values, counts, share = values[some], counts[some], share[some]
    if n_features < rank:
        # The standard deviation of a rank r ≪ n that m vectors of signs tell: √(2r/m)
        near = _SAME_RANK * n_features + _DEVIATIONS * np.sqrt(2 * n_features / m)
        if counts.sum() > max(n_features - near, 0.0):
            counts *= n_features / counts.sum()
    values, counts = _with_trace(values, counts, trace)
    return Density(values, counts, share)


def _with_trace(values, counts, trace):
    """Values and counts that add up to the trace, known without an error."""
    if len(values) == 0:  # one row of a class, or rows that are all the same
        return values, counts
    mean = counts @ values / counts.sum()
    apart = counts @ (values - mean) ** 2
    if apart > TINY:
        tilt = (trace - counts @ values) / apart * (values - mean)
        if np.all(tilt > -1):
            return values, counts * (1 + tilt)
    # of very few eigenvalues signs tell little: no count may fall below 0
    return values * (trace / (counts @ values)), counts


def nodes_of(smallest, largest) -> np.ndarray:
    """Even in log λ."""
    if not largest > smallest * (1 + 1e-9):
        return np.array([largest])
    return np.geomspace(smallest, largest, _NODES)


def ritz_of_difference(rows: RowProducts, gap) -> Ritz:
    """Lanczos from R d."""
    return lanczos(rows.gram, gap[:, None], _DIFFERENCE_STEPS)
