"""The within-class scatter of a data set in its eigenbasis: one decomposition for all.

Rows are winsorised first, unless k is None: within-class deviations beyond ``k`` pooled
standard deviations are pulled in to k, and everything is divided by √c,
``c = 1 − 2Q(k) − 2kφ(k) + 2k²Q(k)``, which leaves normal data their variance. Features
are then divided by their pooled within-class standard deviation, so that nothing
below depends on the scale or the origin of a feature.

With ``R`` the (weighted) deviations from the class means, ``W = RᵀR = V diag(λ) Vᵀ``
and ``d`` the mean difference, ``b = Vᵀd``. For P ≤ n this is the P×P eigenproblem, from
moments that stream in blocks, of many features in single precision where that tells
all eigenvalues. For P > n it is the n×n Gram matrix
``RRᵀ = U diag(λ) Uᵀ``, of many rows in single precision, too (:mod:`._even_gram`),
``V = RᵀU/√λ`` is never formed, and sparse rows stay sparse: R is sparse minus one row a
class, and of more than 1000 such rows there is no Gram matrix: values of λ stand for
many eigenvalues each (:mod:`._ritz_basis`). The null space of W is one block of
dimension P − r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg, sparse
from scipy.special import ndtr

from ..statistics._moments import Moments, RawSums, class_moments, in_units
from ..statistics._numerics import (
    RANK,
    TINY,
    block_rows,
    centred_gram,
    eigenvalue_cutoff,
    eigenvectors,
    is_even,
    parts_of,
)
from ..statistics._row_blocks import RowBlocks, row_blocks
from ._even_gram import EvenGram
from ._ritz_basis import (
    RitzBasis,
    RowProducts,
    density,
    nodes_of,
    on_nodes,
    reciprocal,
    ritz_of_difference,
)

_COLUMNS = 256  # of products of eigenvectors, at a time
_CONSTANT = 1e-13  # a feature whose spread is below this share of its mean is constant
_BLOCK_ROWS, _BLOCK_SPARSE_ROWS, _BLOCK_ENTRIES = 4096, 1024, 2**16
# Of more sparse rows there is no Gram matrix, or, of so many, if not enough vary
_GRAM_ROWS, _MOST_ROWS = 1000, 2000
# Of the features: rows of a class, up to which their Gram matrix has its eigenvalues in
# two thirds of the time at most
_FEWER = 0.7
# Of a class: with 5 signs say .9999 of 1100 rows, a Gram matrix .596; with 10 to 80 of
# 1200 the two agree within .002
_FEW_ROWS = 10
_FAR = 1e3  # of the scatter: class means that cost three digits of the seven
_NOTHING = 1e-6  # of a direction of length 1: what a solver leaves of a 0
_LARGEST = 1e9  # whose fourth power single precision holds


@dataclass(frozen=True, eq=False)
class Projected:
    """What the decomposition says of a direction w: k columns for k directions.

    With ``a = Vᵀx``, x = w in scaled features, of length 1: ``square = a²`` and
    ``cross = a∘b``, and ``filtered(k, g, X)`` is ``V diag(g) Vᵀx`` of the k-th
    direction, (P,), or (P, m) of g (r, m), X the rows that were decomposed.
    ``square_neg, square_pos = xᵀW_c x``; ``difference = xᵀd``; ``size`` the length of w
    in scaled features before that, ``alive`` False where it is 0; ``support`` how many
    features it has.
    """

    square: np.ndarray
    cross: np.ndarray
    filtered: Callable
    square_neg: np.ndarray
    square_pos: np.ndarray
    difference: np.ndarray
    size: np.ndarray
    support: np.ndarray

    @property
    def alive(self) -> np.ndarray:
        """Whether the direction ranks anything."""
        return self.size > 0


@dataclass(frozen=True, eq=False)
class Eigenbasis:
    """Eigenvalues of W, and of each class's share of it; see the module's text.

    Parameters
    ----------
    n_neg, n_pos : float
        Sums of weights.
    scale : ndarray of shape (P,)
        1 / within-class standard deviation; 0 for a constant feature.
    d : ndarray of shape (P,)
        Mean difference in scaled features.
    values : ndarray of shape (r,)
        λ, the non-zero eigenvalues of W.
    b : ndarray of shape (r,)
        ``Vᵀd``.
    along_neg, along_pos : ndarray of shape (r,)
        ``diag(VᵀW_cV)``, adding up to λ.
    spectrum_neg, spectrum_pos : ndarray
        Eigenvalues of W_c, but for some that are 0.
    basis : FeatureBasis, RowBasis or RitzBasis
        What projects a direction.
    unseen : int, default=0
        Features beyond the coordinates given, in which no row differs from another.
    counts : tuple of three ndarray, default=None
        How many eigenvalues of W, W₀ and W₁ their values stand for; one each.
    """

    n_neg: float
    n_pos: float
    scale: np.ndarray
    d: np.ndarray
    values: np.ndarray
    b: np.ndarray
    along_neg: np.ndarray
    along_pos: np.ndarray
    spectrum_neg: np.ndarray
    spectrum_pos: np.ndarray
    basis: FeatureBasis | RowBasis | RitzBasis
    unseen: int = 0
    counts: tuple | None = None

    @cached_property
    def stands_for(self) -> np.ndarray:
        """How many eigenvalues of W each value stands for, (r,)."""
        return np.ones(len(self.values)) if self.counts is None else self.counts[0]

    @property
    def groups(self) -> list[tuple[np.ndarray, np.ndarray | float]]:
        """Spectra of both classes, each with its multiplicities."""
        many = (1.0, 1.0) if self.counts is None else self.counts[1:]
        spectra = (self.spectrum_neg, self.spectrum_pos)
        return list(zip(spectra, many, strict=True))

    @cached_property
    def per_scale(self) -> np.ndarray:
        """1/scale, and 0 of a constant feature; of very many a division takes long."""
        varies = self.scale > 0
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=varies)

    @cached_property
    def n_features(self) -> int:
        """Number of features that are not constant, or are not seen."""
        return int(np.count_nonzero(self.scale)) + self.unseen

    @cached_property
    def null(self) -> int:
        """Dimension of the null space of W."""
        return self.n_features - round(float(self.stands_for.sum()))

    @cached_property
    def multiplicity(self) -> np.ndarray:
        """Of how many directions each coordinate is: the null space is one block."""
        return np.append(self.stands_for, [self.null] * (self.null > 0))

    @cached_property
    def energy(self) -> np.ndarray:
        """``b²``, and what of ``|d|²`` lies in the null space, (r [+ 1],)."""
        energy = self.b**2
        if self.null:
            energy = np.append(energy, max(self.d @ self.d - energy.sum(), 0.0))
        return energy

    @property
    def by_rows(self) -> bool:
        """Whether directions are projected by their scores, as for P > n."""
        return isinstance(self.basis, RowBasis)

    def project(self, w, score=None) -> Projected:
        """Moments of one direction (P,) or of k directions (P, k).

        ``score`` is ``X @ w`` on the rows that were decomposed, needed for P > n.
        """
        # wᵀx = (w/scale)ᵀ(scale·x); a constant feature, of scale 0, has no part in it
        w = np.atleast_2d(np.asarray(w, dtype=float).T).T  # (P, k)
        x = w * self.per_scale[:, None]
        size = np.sqrt(np.einsum("pk,pk->k", x, x))
        unit = np.where(size > 0, size, 1.0)
        x /= unit
        of_x = self.d @ x, size, np.count_nonzero(np.abs(x) > _NOTHING, axis=0)
        if isinstance(self.basis, RitzBasis):
            square, cross, filtered, neg, pos = self.basis.project(x)
            return Projected(square, cross, filtered, neg, pos, *of_x)
        if isinstance(self.basis, FeatureBasis):
            a, neg, pos = self.basis.project(x)
        else:
            # Rx comes from the scores X @ w, for w of the length that makes |x| = 1
            score = np.reshape(score, (len(score), -1)) / unit
            a, neg, pos = self.basis.project(w / unit, score)

        def combined(k, g, X):
            return self.combine((g.T * a[:, k]).T, X)

        cross = a * self.b[:, None]
        return Projected(a**2, cross, combined, neg, pos, *of_x)

    def filtered_difference(self, g, X) -> np.ndarray:
        """``V diag(g) Vᵀ d``, (P,)."""
        if isinstance(self.basis, RitzBasis):
            return self.basis.filtered(self.basis.of_difference, 0, g)
        return self.combine(g * self.b, X)

    def combine(self, z, X=None) -> np.ndarray:
        """``V z`` of coefficients (r,) or (r, k); the rows X are needed for P > n."""
        if isinstance(self.basis, FeatureBasis):
            return self.basis.combine(z)
        if isinstance(self.basis, RitzBasis):
            raise TypeError("of products with rows there are no eigenvectors")
        # V = RᵀU/√λ: a sum of rows, here of features before their scale
        whole = self.basis.combine(z, X)
        whole *= self.scale if np.ndim(z) == 1 else self.scale[:, None]
        return whole

    def without_folds(self) -> Eigenbasis:
        """The same, less what only the folds need."""
        if not isinstance(self.basis, RowBasis):
            return self
        return replace(self, basis=replace(self.basis, even=None))

    def unit(self, w) -> np.ndarray:
        """A direction (P,) in scaled features, of length 1 (or 0)."""
        x = w * self.per_scale
        x /= max(linalg.norm(x), TINY)
        return x


@dataclass(frozen=True, eq=False)
class FeatureBasis:
    """P ≤ n: eigenvectors and the class scatters, P×P, of double or single precision.

    Class means before the scale, (2, P), and how the rows were winsorised.
    """

    vectors: np.ndarray
    scatter_neg: np.ndarray
    scatter_pos: np.ndarray
    means: np.ndarray
    clip: Clip | None = None

    def project(self, x):
        found = self.along(x)
        x = x.astype(self.vectors.dtype, copy=False)
        # xᵀW_c x of every column
        squares = (
            np.einsum("pk,pk->k", x, W @ x).astype(float)
            for W in (self.scatter_neg, self.scatter_pos)
        )
        return found, *squares

    def along(self, x):
        """``Vᵀx`` of what single precision holds."""
        dtype = self.vectors.dtype
        return (self.vectors.T @ x.astype(dtype, copy=False)).astype(float, copy=False)

    def combine(self, z):
        """``Vz``."""
        return _product(self.vectors, z)


def _product(matrix, z):
    """Of z in units that the precision of the matrix holds."""
    if matrix.dtype == z.dtype:
        return matrix @ z
    unit = np.max(np.abs(z), initial=0.0) or 1.0
    return unit * (matrix @ (z / unit).astype(matrix.dtype)).astype(float)


@dataclass(frozen=True, eq=False)
class RowBasis:
    """P > n: ``U/√λ``, of double or single precision, and what R is from raw scores.

    ``Rx = root·(X − excess)w`` less its class means, over ``shrink``, for ``w`` with
    ``x = w/scale``: the rows are not kept, only what winsorising takes off them.
    """

    excess: sparse.csr_array
    shrink: float
    root: np.ndarray
    positive: np.ndarray
    kept: np.ndarray
    left: np.ndarray
    even: EvenGram | None = None  # until the folds are made

    def project(self, w, score):
        # Winsorised scores less their class means, times √weight: Rx
        s = score[self.kept] - self.excess @ w
        weight = self.root**2
        for mask in (~self.positive, self.positive):
            s[mask] -= weight[mask] @ s[mask] / weight[mask].sum()
        s = self.root[:, None] * s / self.shrink
        square_neg = np.sum(s[~self.positive] ** 2, axis=0)
        square_pos = np.sum(s[self.positive] ** 2, axis=0)
        return self.along(s), square_neg, square_pos

    def along(self, s):
        """``Vᵀx = Λ^(−½)Uᵀ(Rx)`` of ``Rx``, (n,) or (n, k)."""
        return _product(self.left.T, s)

    def combine(self, z, X):
        """``V z`` before the scale: one product with the rows, transposed."""
        # V z = Rᵀ(U Λ^(−½) z)
        v = _product(self.left, z).T * (self.root / self.shrink)
        for mask in (~self.positive, self.positive):  # the sums are 0 but for rounding
            v[..., mask] -= v[..., mask].mean(axis=-1, keepdims=True)
        rows = X if len(self.kept) == X.shape[0] else X[self.kept]
        # of dense rows and several v, vᵀX is read once and Xᵀv once for each v
        whole = rows.T @ v.T if sparse.issparse(rows) else (v @ rows).T
        whole -= self.excess_of_columns @ v.T
        return whole

    @cached_property
    def excess_of_columns(self):
        """Transposed: scipy's checks take longer than a product."""
        return self.excess.T

    def coordinates(self):
        """Deviations from the class means in the basis V, of unweighted rows (n, r)."""
        squares = 1 / np.sum(self.left**2, axis=0)  # left = U/√λ
        # U√Λ = (U/√Λ) Λ, without the roots of the weights
        return self.left * squares / self.root[:, None]


def eigenbasis(X, positive, weight=None, *, winsorize=2.5, standardize=True):
    """Decompose the within-class scatter of (X, positive).

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Frequency weights.
    winsorize : float or None, default=2.5
        k; None leaves the rows as they are.
    standardize : bool, default=True
        Divide each feature by its own standard deviation; otherwise all by one.

    Returns
    -------
    Eigenbasis
    """
    kept = None
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        X, positive, weight = X[kept], positive[kept], weight[kept]
    X = X.tocsr() if sparse.issparse(X) else X
    clip = Clip.of(X, positive, weight, winsorize)
    if X.shape[1] <= X.shape[0]:
        return _primal(X, positive, weight, clip, standardize)
    kept = np.arange(len(positive)) if kept is None else kept
    return _dual(X, positive, weight, clip, standardize, kept)


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


def _scale(neg, pos, standardize):
    """1/sd of each feature, 0 where it is constant."""
    n = neg.n + pos.n
    h = neg.n * (pos.n / n)  # the product of two weights may overflow
    within = _diagonal(neg) + _diagonal(pos)
    # T = W + h d², the scatter around the common mean
    total = within + h * (pos.mean - neg.mean) ** 2
    # A spread below 1e-13 of the mean is what the subtraction of the mean has rounded
    alive = total > n * (_CONSTANT * (np.abs(neg.mean) + np.abs(pos.mean))) ** 2
    # A feature that is constant within both classes is scaled by its total spread.
    spread = np.where(within > RANK * total, within / max(n - 2, 1.0), total / n)
    if not standardize and alive.any():
        spread = np.full(len(spread), spread[alive].mean())
    alive &= spread > 0
    return np.where(alive, 1 / np.sqrt(np.where(alive, spread, 1.0)), 0.0)


def _left_by_means(d, n_neg, n_pos):
    """What class means that lie far apart leave by rounding, of an eigenvalue."""
    # h|d|² times (1e-12)²
    return 1e-24 * n_neg * (n_pos / (n_neg + n_pos)) * (d @ d)


def _diagonal(moments):
    scatter = moments.scatter
    return np.diag(scatter) if scatter.ndim == 2 else scatter


def _primal(X, positive, weight, clip, standardize):
    blocks = row_blocks(X, positive, weight)
    if blocks is None:
        # Sums of P² numbers, and of sparse rows a dense copy, are made of each block
        step = max(_BLOCK_ROWS, X.shape[1]) if sparse.issparse(X) else len(positive)
        blocks = RowBlocks.from_arrays(X, positive, weight, n_rows=step)
    # in place of the moments, and of these in single precision: no more is held at once
    found = _Scatters.in_place(*blocks.total(_clipped_moments, clip), standardize)
    found = found.even()
    spectra: list = [None, None]
    if isinstance(X, np.ndarray):  # neither in blocks nor sparse
        spectra = list(_spectra_of_rows(X, positive, weight, clip, found))
    eigen = _decomposed(found, spectra)
    return replace(eigen, basis=replace(eigen.basis, clip=clip))


def _spectra_of_rows(X, positive, weight, clip, found):
    """Eigenvalues of each ``W_c`` from the Gram matrix of its rows, None if many."""
    few = _FEWER * X.shape[1]
    for c, rows in enumerate(map(np.flatnonzero, (~positive, positive))):
        if len(rows) > few:
            yield None
            continue
        R = dense_rows(X[rows], positive[rows], clip)
        R -= found.means[c]
        R *= found.scale
        if weight is not None:
            R *= np.sqrt(weight[rows, None])
        R = R.astype(found.neg.dtype, copy=False)
        yield _spectrum_of(R @ R.T)


@dataclass(frozen=True, eq=False)
class _Scatters:
    """Of two classes in scaled features, with their numbers and means before that."""

    n: tuple[float, float]
    means: np.ndarray
    scale: np.ndarray
    neg: np.ndarray
    pos: np.ndarray

    @classmethod
    def of_moments(cls, neg, pos, standardize):
        """Of moments that stay as they are."""
        copies = (replace(m, scatter=m.scatter.copy()) for m in (neg, pos))
        return cls.in_place(*copies, standardize)

    @classmethod
    def in_place(cls, neg, pos, standardize):
        """The same; the scatters are overwritten."""
        scale = _scale(neg, pos, standardize)
        for m in (neg, pos):
            m.scatter[...] *= scale
            m.scatter[...] *= scale[:, None]
        means = np.array([neg.mean, pos.mean])
        return cls((neg.n, pos.n), means, scale, neg.scatter, pos.scatter)

    def even(self):
        """In single precision where that is enough for all eigenvalues."""
        within = np.empty(self.neg.shape, dtype=np.float32)
        with np.errstate(over="ignore"):
            np.add(self.neg, self.pos, out=within, casting="same_kind")
        if not is_even(within):
            return self
        del within
        found = (W.astype(np.float32) for W in (self.neg, self.pos))
        return _Scatters(self.n, self.means, self.scale, *found)


def _clipped_moments(block, clip):
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


def eigenbasis_of_moments(neg, pos, *, standardize=True, unseen=0):
    """Decompose the within-class scatter of two classes whose moments are known.

    Parameters
    ----------
    neg, pos : Moments
        With full scatter.
    standardize : bool, default=True
        Divide each feature by its own standard deviation; otherwise all by one.
    unseen : int, default=0
        Features beyond these, when they are coordinates of the span of the rows.

    Returns
    -------
    Eigenbasis
    """
    found = _Scatters.of_moments(neg, pos, standardize)
    return _decomposed(found, [None, None], unseen)


def _decomposed(found, spectra, unseen=0):
    n, means, scale = found.n, found.means, found.scale
    W_neg, W_pos = found.neg, found.pos
    # W = V diag(λ) Vᵀ; what is not a rounding error of 0 is kept
    values, vectors = eigenvectors(W_neg + W_pos)
    values = values.astype(float, copy=False)
    d = (means[1] - means[0]) * scale
    keep = values > eigenvalue_cutoff(values, rounding=_left_by_means(d, *n))
    if not keep.all():
        values, vectors = values[keep], vectors[:, keep]
    # diag(VᵀW_cV); W_neg and W_pos do not commute, so that these are no eigenvalues
    along = np.clip(_squares_along(W_neg, vectors), 0.0, values)
    spectra = [
        _spectrum_of(W) if known is None else known
        for W, known in zip((W_neg, W_pos), spectra, strict=True)
    ]
    alive = np.count_nonzero(scale)
    basis = FeatureBasis(vectors, W_neg, W_pos, means)
    return Eigenbasis(
        *n,
        scale,
        d,
        values,
        basis.along(d),
        along,
        values - along,
        # Constant features have the smallest eigenvalues, 0, and are no dimensions of Σ
        *(spectrum[max(len(spectrum) - alive, 0) :] for spectrum in spectra),
        basis,
        unseen,
    )


def _squares_along(W, V):
    """``diag(VᵀWV)``: with W = L + Lᵀ − D, L a triangle, half of the work."""
    trmm = linalg.get_blas_funcs("trmm", (W, V))
    diagonal, along = W.diagonal()[:, None], np.empty(V.shape[1])
    for part in parts_of(V.shape[1], _COLUMNS):
        some = V[:, part]
        # 2Lv − Dv; the transpose has the order of columns that BLAS wants
        product = trmm(2.0, W.T, some, lower=1)
        product -= diagonal * some
        along[part] = np.einsum("pr,pr->r", some, product)
    return along


def _spectrum_of(W):
    return np.maximum(linalg.eigvalsh(W).astype(float, copy=False), 0.0)


def _dual(X, positive, weight, clip, standardize, kept):
    rows, n, scale, d, means, within = _standardised(
        X, positive, weight, clip, standardize
    )
    root = np.sqrt(np.ones(len(positive)) if weight is None else weight)
    if sparse.issparse(X) and _takes_products(positive, scale):
        far = n @ np.sum(means**2, axis=1) > _FAR * within
        sizes = rows.data.max(initial=0), -rows.data.min(initial=0), 1 / root.min()
        far = far or max(sizes) > _LARGEST
        rows = RowProducts.of_rows(rows, root, positive, far)  # in place of the others
        return _by_products(rows, n, scale, d, means, within)
    of_rows = means, positive, root, d, _left_by_means(d, *n)
    gram, scores, least = _gram(rows, *of_rows, weight is not None)
    del rows  # as large as X, and not needed any more
    classes = ~positive, positive
    values, left, spectra = _decomposed_gram(gram, classes, least)
    even = gram if isinstance(gram, EvenGram) else None
    del gram
    # v_kᵀW_cv_k = Σ_{i in c} (Rv_k)_i² = λ_k Σ_{i in c} U_ik², and Σ_i U_ik² = 1
    share = np.array([np.sum(left[mask] ** 2, axis=0) for mask in classes], float)
    along = values * share / share.sum(axis=0)
    excess, shrink = sparse.csr_array(X.shape), 1.0
    if clip is not None:
        excess, shrink = clip.excess(X, positive, scale > 0), clip.shrink
    left /= np.sqrt(values).astype(left.dtype, copy=False)
    basis = RowBasis(excess, shrink, root, positive.copy(), kept, left, even)
    # b = Vᵀd = Λ^(−½)Uᵀ(Rd)
    b = basis.along(scores)
    return Eigenbasis(*n, scale, d, values, b, *along, *spectra, basis)


def _gram(rows, means, positive, root, d, least, weighted):
    """``RRᵀ``, in single precision where that tells it, ``Rd``, and what is rounding.

    Dense rows become R.
    """
    of_class = positive.astype(int)
    if sparse.issparse(rows):
        gram, rounding = centred_gram(rows, means, of_class, root=root)
        scores = root * (rows @ d - (means @ d)[of_class])
        least, even = max(least, rounding), None
        if not weighted:  # rows that stand twice are not even, either
            even = EvenGram.of_gram(gram, scores, positive, least)
        return gram if even is None else even, scores, least
    for part in parts_of(len(rows), block_rows(rows.shape[1])):
        rows[part] -= means[of_class[part]]
        rows[part] *= root[part, None]
    scores, even = rows @ d, None
    if not weighted:
        even = EvenGram.of_rows(rows, scores, positive, least)
    return centred_gram(rows)[0] if even is None else even, scores, least


def _decomposed_gram(gram, classes, least):
    """Λ and U of ``RRᵀ = UΛUᵀ``, and the eigenvalues of each class."""
    if isinstance(gram, EvenGram):
        return *gram.eigenvectors(), [gram.of_class(mask) for mask in classes]
    spectra = [
        np.maximum(linalg.eigvalsh(gram[np.ix_(mask, mask)]), 0.0) for mask in classes
    ]
    values, left = eigenvectors(gram)
    keep = values > eigenvalue_cutoff(values, rounding=least)
    return values[keep], left[:, keep], spectra


def _standardised(X, positive, weight, clip, standardize):
    """Winsorised rows in scaled features, but for one row a class if they are sparse.

    With n and the means of the classes, the scale, d, and the trace of W.
    """
    offset = np.zeros((2, 1))
    if not sparse.issparse(X):
        rows = dense_rows(X, positive, clip)
    elif clip is None:
        rows = X.astype(float)  # a copy
        rows.sum_duplicates()
    else:
        rows, offset = clip.sparse(X, positive)
    neg, pos = class_moments(rows, positive, weight, featurewise=True)
    means = np.array([neg.mean, pos.mean])
    full = [
        Moments(m.n, m.mean + off, m.scatter)
        for m, off in zip((neg, pos), offset, strict=True)
    ]
    scale = _scale(*full, standardize)
    d = (full[1].mean - full[0].mean) * scale
    if sparse.issparse(rows):  # either is a copy of its own, as above
        for part in parts_of(rows.nnz, _BLOCK_ENTRIES):
            rows.data[part] *= scale[rows.indices[part]]
    else:
        rows *= scale
    within = (_diagonal(neg) + _diagonal(pos)) @ scale**2
    return rows, (neg.n, pos.n), scale, d, means * scale, within


def _takes_products(positive, scale):
    """Whether a Gram matrix of sparse rows is too large, or not needed.

    Where fewer features vary than there are rows the smallest eigenvalues count, which
    a few steps do not tell; nor do signs tell the evidence of very few rows of a class.
    """
    n, smaller = len(positive), min(positive.sum(), (~positive).sum())
    enough = np.count_nonzero(scale) > n and smaller >= _FEW_ROWS
    return n > _GRAM_ROWS and (enough or n > _MOST_ROWS)


def _by_products(rows, n, scale, d, means, within):
    """The same of more rows, from products with them; :mod:`._ritz_basis`."""
    squares = row_squares(rows, means)
    gap = rows.scores(d)
    keys = row_keys(rows, squares, gap)
    order = np.argsort(keys, kind="stable")
    n_features = np.count_nonzero(scale)
    whole = density(rows, order, within, n_features)
    classes = [
        density(rows.of_class(c), order, squares[rows.positive == c].sum(), n_features)
        for c in (False, True)
    ]
    ritz = ritz_of_difference(rows, gap)
    some = ritz.values[0][reciprocal(ritz.values[0]) > 0]
    ends = np.append(whole.values, some)
    # where no row differs from its class one value stands for no eigenvalue
    nodes = nodes_of(ends.min(), ends.max()) if len(ends) else np.ones(1)
    counts = on_nodes(nodes, whole.values, whole.counts)
    inside = on_nodes(nodes, whole.values, whole.counts * whole.share)
    usual = counts @ inside / max(counts @ counts, TINY)
    share = np.divide(inside, counts, out=np.full(len(nodes), usual), where=counts > 0)
    energy = on_nodes(
        nodes, ritz.values[0], ritz.square[0] * reciprocal(ritz.values[0])
    )
    return Eigenbasis(
        *n,
        scale,
        d,
        nodes,
        np.sqrt(energy),
        nodes * (1 - share),
        nodes * share,
        classes[0].values,
        classes[1].values,
        RitzBasis(rows, nodes, gap, ritz, keys),
        counts=(counts, classes[0].counts, classes[1].counts),
    )


def row_squares(rows, means):
    """``|r_i|²`` of weighted deviations from the class means."""
    n, of_class = len(rows.root), rows.positive.astype(int)
    squares, centre = np.empty(n), np.einsum("cp,cp->c", means, means)
    for part in parts_of(n, _BLOCK_SPARSE_ROWS):
        Z, c = rows.Z[part], of_class[part]
        product = (Z @ means.T)[np.arange(len(c)), c]
        squares[part] = Z.power(2).sum(axis=1) - 2 * product + centre[c]
    return rows.root.astype(float) ** 2 * np.maximum(squares, 0.0)


def row_keys(rows, squares, gap):
    """``|r|² ± rᵀd``, as in :func:`~skauc.adaptive._cross_validated.balanced_folds`."""
    sign = np.where(rows.positive, 1.0, -1.0)
    # A weight may be smaller than single precision holds
    root = np.where(rows.root > 0, rows.root, np.inf).astype(float)
    return squares / root**2 + sign * gap / root
