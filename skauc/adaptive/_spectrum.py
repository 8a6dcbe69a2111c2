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

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from ..statistics._moments import Moments, class_moments
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
from ._eigenbasis import Eigenbasis, FeatureBasis, RowBasis
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
from ._winsorised_rows import Clip, clipped_moments, dense_rows

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
_LARGEST = 1e9  # whose fourth power single precision holds


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
    found = _Scatters.in_place(*blocks.total(clipped_moments, clip), standardize)
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
        # one by one: together they take three times as long
        product = np.where(c, Z @ means[1], Z @ means[0])
        squares[part] = Z.power(2).sum(axis=1) - 2 * product + centre[c]
    return rows.root.astype(float) ** 2 * np.maximum(squares, 0.0)


def row_keys(rows, squares, gap):
    """``|r|² ± rᵀd``, as in :func:`~skauc.adaptive._cross_validated.balanced_folds`."""
    sign = np.where(rows.positive, 1.0, -1.0)
    # A weight may be smaller than single precision holds
    root = np.where(rows.root > 0, rows.root, np.inf).astype(float)
    return squares / root**2 + sign * gap / root
