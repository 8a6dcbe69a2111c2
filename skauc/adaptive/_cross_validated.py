"""The within-class spectrum by cross-validation: the noise of the mean difference.

Section 3 of :mod:`skauc.adaptive`. For P ≤ n the scatter of the rows left out is taken
off that of all rows: the cost is a pass for the folds and an eigenproblem P×P a fold.
For P > n folds are sums of entries of the Gram matrix, or of that of the coordinates
``U√Λ``, where it has been overwritten; of more than 1000 sparse rows nothing is
decomposed (:mod:`._ritz_basis`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..statistics._lanczos import lanczos, random_signs, together
from ..statistics._moments import class_moments
from ..statistics._numerics import (
    EVEN,
    SINGLE_FEATURES,
    block_rows,
    eigenvalue_cutoff,
    parts_of,
)
from ._eigenbasis import Eigenbasis, RowBasis
from ._ritz_basis import RitzBasis, RowProducts, density, on_nodes, reciprocal
from ._spectrum import row_squares
from ._tridiagonal import squares_along
from ._winsorised_rows import Clip, dense_rows

_FLOOR = 1e-9  # of the largest variance: a direction in which nothing was left out
FOLDS = 10  # 5 train on too few rows where P ≈ n: −.12 in probits on sonar, 60 × 60
# Left-out rows, after which no further fold is decomposed: against all ten folds up to
# .11 in probits (420 × 258), 100 or 50 rows up to .33.
ENOUGH = 200
# Of so many rows with more features two folds of 100 say what four of 50 do: posterior
# means of 500 × 50 000 texts differ by .0003 (root mean square), their deviation is .03
_WIDE_ROWS, _WIDE_FOLDS = 500, 5
# n/P beyond which the spectrum of the sample is that of the rows left out.
MANY = 20
# Rows of which single precision saves half of the time, and the least eigenvalue beside
# the largest of which it keeps four of its seven digits
_MANY_ROWS, _FOUR_DIGITS = 200, 1e-3
# Of so many features, too; AUCs move by at most 1e-5 of their deviations (normal, t(3),
# AR(1) and 30 factors, 200 × 150 to 3000 × 700)
_MANY_FEATURES = 100
_LEFT_OUT_VECTORS, _STEPS, _SEED = 16, 12, 1974
_DIGITS_KEPT = 1e-4  # of the trace of W: rows left out that are all of it
_SAME = 1e-9  # of the largest key: rows that differ by rounding only are one row


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Variances along the eigenvectors of W, ascending as these, and in its null space.

    Parameters
    ----------
    values : ndarray of shape (r,)
    null : float
        0 where there is no null space.
    """

    values: np.ndarray
    null: float

    def along(self, square) -> float:
        """``xᵀΣ̂x`` of a direction of length 1 with ``square = (Vᵀx)²``."""
        # xᵀΣ̂x = Σ a_k² ℓ_k + (1 − |a|²) ℓ₀; |a|² may round past 1
        return float(square @ self.values + max(1 - square.sum(), 0.0) * self.null)


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """One fold: variances along its own eigenvectors, largest first, and outside.

    ``rows`` is how many were left out, with their weights; ``shares`` where the values
    stand, as shares of the rank.
    """

    values: np.ndarray
    null: float
    rows: float
    shares: np.ndarray


def cross_validated_spectrum(
    eigen: Eigenbasis, X, positive, weight=None
) -> Spectrum | None:
    """Cross-validated spectrum of rows that were decomposed.

    Parameters
    ----------
    eigen : Eigenbasis
        Of these rows.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None

    Returns
    -------
    Spectrum or None
        None where a class has fewer than three different rows, or none vary, and for
        n > 20 P, where it is that of the sample: both nulls are one.
    """
    many = eigen.n_neg + eigen.n_pos > MANY * eigen.n_features
    if many or not len(eigen.values):
        return None
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        X, positive, weight = X[kept], positive[kept], weight[kept]
    if isinstance(eigen.basis, RitzBasis):
        return _by_products(eigen)
    if isinstance(eigen.basis, RowBasis):
        return _by_rows(eigen, positive, weight)
    rows = _Scaled(X, positive, eigen.basis.clip, eigen.scale, eigen.basis.means)
    fold = balanced_folds(rows.keys(eigen.d), positive)
    if fold is None:
        return None

    def scatter():
        return eigen.basis.scatter_neg + eigen.basis.scatter_pos

    of_rows = positive, fold, eigen.n_features, weight
    return spectrum_of_features(rows.deviations, scatter, eigen.values, *of_rows)


def _by_rows(eigen, positive, weight) -> Spectrum | None:
    """The same for P > n, from the Gram matrix or the coordinates of the rows."""
    many = eigen.n_neg + eigen.n_pos >= _WIDE_ROWS
    n_folds, even = _WIDE_FOLDS if many else FOLDS, eigen.basis.even
    if even is None:
        Z = eigen.basis.coordinates()
        fold = balanced_folds(_keys(Z, positive, eigen.b), positive, n_folds)
        if fold is None:
            return None
        return spectrum_of_rows(Z, positive, fold, eigen.n_features, weight)
    fold = balanced_folds(even.keys, positive, n_folds)
    if fold is None:
        return None
    sizes = eigen.n_features, len(eigen.values)
    return _spectrum_of_gram(even.matrix, positive, fold, *sizes)


def balanced_folds(key, positive, n_folds=FOLDS) -> np.ndarray | None:
    """Number of the fold of each row; None where a class has two different rows.

    The rows of a class are dealt out in the order of a key, to and fro, so that folds
    are alike; rows with the same key go together. So the folds do not depend on the
    order of the rows, and a weight of 2 is a row written twice. As many folds as the
    smaller class has different rows, if these are fewer than ``n_folds``.

    Parameters
    ----------
    key : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    n_folds : int, default=10

    Returns
    -------
    ndarray of int of shape (n,) or None
    """
    ranks = []
    for rows in (np.flatnonzero(~positive), np.flatnonzero(positive)):
        order = rows[np.argsort(key[rows])]
        differs = np.diff(key[order]) > _SAME * np.max(np.abs(key))
        ranks.append((order, np.append(0, np.cumsum(differs))))
    different = min(rank[-1] + 1 for _, rank in ranks)
    if different < 3:
        return None
    K = min(n_folds, different)
    fold = np.empty(len(positive), dtype=int)
    for order, rank in ranks:
        there, back = rank % K, K - 1 - rank % K
        # 0, 1, …, K − 1, K − 1, …, 1, 0, 0, …: no fold has the larger key in every turn
        fold[order] = np.where(rank // K % 2, back, there)
    return fold


def spectrum_of_features(
    deviations, scatter, values, positive, fold, n_features, weight=None, enough=ENOUGH
) -> Spectrum | None:
    """Cross-validated spectrum from the scatter of the features.

    Parameters
    ----------
    deviations : callable
        ``rows -> (len(rows), P)``, some rows less the means of their classes.
    scatter : callable
        Of all of them, (P, P), an array of its own.
    values : ndarray of shape (r,)
        Its eigenvalues that are not 0.
    positive : ndarray of bool of shape (n,)
    fold : ndarray of int of shape (n,)
    n_features : int
        Features that are not constant.
    weight : ndarray of shape (n,), default=None
    enough : float, default=200
        Left-out rows after which no further fold is decomposed.

    Returns
    -------
    Spectrum or None
        None where nothing varies in the rows left out.
    """
    c = np.ones(len(fold)) if weight is None else weight
    classes = np.array([~positive, positive])
    # of so many features all is in single precision where that is enough
    share = EVEN if n_features >= SINGLE_FEATURES else _FOUR_DIGITS
    even = len(values) == n_features and values.min() > share * values.max()
    single = even and weight is None and n_features >= _MANY_FEATURES
    parts: list[_LeftOut] = []
    for k in range(fold.max() + 1):
        if sum(part.rows for part in parts) >= enough:
            break
        out = np.flatnonzero(fold == k)
        size = (classes & (fold != k)) @ c
        # One row has no deviation from its mean
        if size.min() < 2:
            continue
        R, of_class = deviations(out), positive[out].astype(int)
        # Σ w r over the rows left out; of the others it is minus that
        sums = (classes[:, out] * c[out]) @ R
        others = np.flatnonzero(fold != k)
        training = _less(scatter(), R, c[out], sums, size)
        if training is None:
            training = _scatter(deviations, others, positive, c)
        # Var(x − x̄_c) = (1 + 1/n_c) Σ, n_c and x̄_c of the training rows
        R += (sums / size[:, None])[of_class]
        R *= np.sqrt(c[out] / (1 + 1 / size[of_class]))[:, None]
        found = None
        if single and len(training) == n_features:
            found = _evenly_along(training, R, share)
        if found is None:
            if training.dtype != float:
                training = _scatter(deviations, others, positive, c)
            found = _squares_along(training, R)
        del training
        lam, square = found
        total, rows = np.einsum("np,np->", R, R), c[out].sum()
        parts.append(_left_out(square, total, rows, n_features, len(lam)))
    return _averaged(parts, n_features > len(values), _even(len(values)))


def _less(W, R, weight, sums, size):
    """Scatter of the other rows around their own means; None if that costs digits.

    ``W − Σ w rrᵀ − Σ_c s_c s_cᵀ/n_c``, s_c the sum of a class over the rows r left out;
    in place of W.
    """
    taken = np.vstack([np.sqrt(weight)[:, None] * R, sums / np.sqrt(size)[:, None]])
    taken, whole = taken.astype(W.dtype, copy=False), np.trace(W)
    W -= taken.T @ taken
    # Of the sixteen digits of the largest eigenvalues four may go
    return W if np.trace(W) >= _DIGITS_KEPT * whole else None


def _scatter(deviations, rows, positive, weight):
    neg, pos = class_moments(deviations(rows), positive[rows], weight[rows])
    return neg.scatter + pos.scatter


def _squares_along(training, rows):
    """Eigenvalues that are not 0, largest first, and the squares of rows along them."""
    values, square = squares_along(training, rows)
    rank = np.count_nonzero(values > eigenvalue_cutoff(values))
    return values[::-1][:rank], square[::-1][:rank]


def _evenly_along(training, rows, share):
    """The same in single precision; None where it does not tell all eigenvalues.

    What is of single precision already is overwritten.
    """
    both = (x.astype(np.float32, copy=False) for x in (training, rows))
    values, square = squares_along(*both, overwrite=True)
    return (values[::-1], square[::-1]) if values[0] > share * values[-1] else None


def spectrum_of_rows(
    Z, positive, fold, n_features, weight=None, enough=ENOUGH
) -> Spectrum | None:
    """Cross-validated spectrum from coordinates of the rows in their own span.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Deviations from the class means, ``U√Λ`` without the weights' roots.
    positive : ndarray of bool of shape (n,)
    fold : ndarray of int of shape (n,)
    n_features : int
        P: what Z does not span is null space too.
    weight : ndarray of shape (n,), default=None
    enough : float, default=200
        Left-out rows after which no further fold is decomposed.

    Returns
    -------
    Spectrum or None
        None where nothing varies in the rows left out.
    """
    c = np.ones(len(Z)) if weight is None else weight
    even = weight is None and len(Z) >= _MANY_ROWS and _is_even(Z)
    if even:
        Z, c = Z.astype(np.float32), c.astype(np.float32)
    question = positive, fold, n_features, Z.shape[1], c, enough
    return _spectrum_of_gram(Z @ Z.T, *question)


def _spectrum_of_gram(G, positive, fold, n_features, rank, c=None, enough=ENOUGH):
    """The same from ``ZZᵀ``, all folds from sums of its entries.

    It is of single precision where that tells all eigenvalues but those of class means.
    """
    even, classes = G.dtype == np.float32, np.array([~positive, positive])
    c = np.ones(len(G), dtype=G.dtype) if c is None else c
    parts: list[_LeftOut] = []
    for k in range(fold.max() + 1):
        if sum(part.rows for part in parts) >= enough:
            break
        out = fold == k
        if np.min(np.count_nonzero(classes & ~out, axis=1)) < 2:
            continue
        size = (classes & ~out) @ c
        share = classes * (~out * c) / size[:, None]
        R = _recentred(G, share, positive)
        inside, outside = np.flatnonzero(~out), np.flatnonzero(out)
        # √c R = U√λ Vᵀ of the training rows, so that R_out V = R_out (√c R)ᵀ U/√λ
        root = np.sqrt(c[inside])
        training = R[np.ix_(inside, inside)]
        training *= root
        training *= root[:, None]
        # Var(x − x̄_c) = (1 + 1/n_c) Σ, n_c and x̄_c of the training rows
        honest = c[out] / (1 + 1 / size[positive[out].astype(int)])
        left = R[np.ix_(outside, inside)] * root
        left *= np.sqrt(honest)[:, None]
        lam, square = squares_along(training, left)
        # single precision does not tell which eigenvalues are 0: a mean a class
        r = len(lam) - 2 if even else np.count_nonzero(lam > eigenvalue_cutoff(lam))
        lam, square = lam[::-1][:r], square[::-1][:r]
        square, total = square / lam, honest @ np.diag(R)[outside]
        parts.append(_left_out(square, total, c[out].sum(), n_features, len(lam)))
    return _averaged(parts, n_features > rank, _even(rank))


def _is_even(Z):
    """Whether single precision is enough for all eigenvalues of some of the rows.

    Those of a part of the rows, less its class means, are not below the smallest of all
    rows (Cauchy's interlacing); Z are coordinates along the eigenvectors.
    """
    values = np.einsum("nr,nr->r", Z, Z)
    if len(values) < len(Z) - 2:  # rows that are combinations of others
        return False
    return values.min() > _FOUR_DIGITS * values.max()


def _by_products(eigen) -> Spectrum | None:
    """The same of rows that are only multiplied by: :mod:`._ritz_basis`.

    The squares of the rows left out along the eigenvectors of the others are a measure
    of λ; that of random combinations of these rows is theirs on the average.
    """
    rows, keys, n_features = eigen.basis.rows, eigen.basis.keys, eigen.n_features
    fold = balanced_folds(keys, rows.positive)
    if fold is None:
        return None
    classes = np.array([~rows.positive, rows.positive])
    order = np.argsort(keys, kind="stable")
    parts: list[_LeftOut] = []
    for k in range(fold.max() + 1):
        if sum(part.rows for part in parts) >= ENOUGH:
            break
        # of a fold that leaves a class one row nothing is known
        if np.min(np.count_nonzero(classes & (fold != k), axis=1)) < 2:
            continue
        part = _fold_by_products(rows, fold == k, order, n_features)
        if part is not None:
            parts.append(part)
    many = eigen.stands_for[::-1]
    ranks = (np.cumsum(many) - many / 2) / many.sum()
    return _averaged(parts, eigen.null > 0, ranks, many)


def _fold_by_products(rows, out, order, n_features):
    """One fold: variances at even shares of the rank of the others, and outside."""
    count = rows.root**2
    classes = np.array([~rows.positive, rows.positive])
    size = (classes & ~out) @ count
    means = ((classes & ~out) * count / size[:, None]) @ rows.Z
    inside = rows.some(~out)
    trace = row_squares(inside, means).sum()
    seen = density(inside, order, trace, n_features)
    if len(seen.values) == 0:  # the others are all the same
        return None
    # Var(x − x̄_c) = (1 + 1/n_c) Σ, n_c and x̄_c of the training rows
    honest = count / (1 + 1 / size[rows.positive.astype(int)])
    root = np.where(out, np.sqrt(honest), 0).astype(rows.root.dtype)
    left = RowProducts(rows.Z, root, rows.positive)
    total = row_squares(left, means).sum()
    # Random combinations of the deviations of the rows left out
    signs = np.empty((len(order), _LEFT_OUT_VECTORS), dtype=root.dtype)
    signs[order] = random_signs(*signs.shape, _SEED)
    signs *= root[:, None]

    def scores(signs):
        return inside.scores(rows.Z.T @ signs - means.T @ (classes @ signs))

    parts = parts_of(_LEFT_OUT_VECTORS, together(len(order)))
    start = np.hstack([scores(signs[:, some]) for some in parts])
    ritz = lanczos(inside.gram, start, _STEPS, [])
    squares = ritz.square * [reciprocal(v) for v in ritz.values] / len(ritz.values)
    # Gauss's rules of all vectors on the mean of their values: as fine as they are
    largest = ritz.values.max()
    logs = np.log(np.maximum(ritz.values, _FLOOR * largest)).mean(axis=0)
    nodes = np.unique(np.exp(logs))  # of fewer dimensions than steps some are one
    square = on_nodes(nodes, ritz.values.ravel(), squares.ravel())
    many = on_nodes(nodes, seen.values, seen.counts)
    some = many > 0
    square, many = square[some][::-1], many[some][::-1]
    rank, n_out = many.sum(), count[out].sum()
    null = max(total - square.sum(), 0.0) / max(n_features - rank, 1)
    shares = (np.cumsum(many) - many / 2) / rank
    return _LeftOut(square / many / n_out, null / n_out, n_out, shares)


def _recentred(G, share, positive):
    """Gram matrix of rows less the mean of their class, whose weights are ``share``."""
    code = positive.astype(int)
    # (z_i − m_c(i))ᵀ(z_j − m_c(j)), m_c = Σ_k share_ck z_k, from inner products alone;
    # half of m_c(i)ᵀm_c(j) belongs to each of the two products that are taken off
    cross = G @ share.T
    cross -= (share @ cross)[code] / 2
    R = G - cross[:, code]
    R -= cross[:, code].T
    return R


def decreasing(values, weight=None) -> np.ndarray:
    """Nearest decreasing sequence in squared error: neighbours that rise are pooled."""
    weight = np.ones(len(values)) if weight is None else weight
    blocks: list[tuple[float, float, int]] = []
    for value, size in zip(values, weight, strict=True):
        # Pool adjacent violators: a block that its follower exceeds is averaged with it
        mean, size, length = float(value), float(size), 1
        while blocks and blocks[-1][0] < mean:
            before, more, longer = blocks.pop()
            size, length = size + more, length + longer
            mean += (before - mean) * (more / size if size > 0 else 0.5)
        blocks.append((mean, size, length))
    means = np.array([mean for mean, *_ in blocks])
    return np.repeat(means, [length for *_, length in blocks])


def _left_out(square, total, rows, n_features, rank):
    # What the eigenvectors of the training rows leave of the squares, over P − rank
    null = max(total - square.sum(), 0.0) / rows / max(n_features - rank, 1)
    return _LeftOut(square / rows, null, rows, _even(rank))


def _even(rank):
    """Shares at which the eigenvalues stand: the k-th of r at (k − ½)/r."""
    return (np.arange(rank) + 0.5) / rank


def _averaged(parts, has_null, shares, many=None):
    if not parts:
        return None
    rows = [part.rows for part in parts]
    # Folds differ in rank
    at_share = [np.interp(shares, p.shares, p.values) for p in parts]
    values = decreasing(np.average(at_share, axis=0, weights=rows), many)
    if not values[0] > 0:
        return None
    floor = _FLOOR * values[0]
    null = np.average([p.null for p in parts], weights=rows)
    null = max(float(null), floor) if has_null else 0.0
    # Ascending, as linalg.eigh has the eigenvectors
    return Spectrum(np.maximum(values, floor)[::-1], null)


def _keys(deviation, positive, d):
    """``|r|² ± rᵀd`` of the deviations r: the same for equal rows, swapped classes."""
    # Exchanging the classes changes the sign of ±1 and of d: the key stays
    sign = np.where(positive, 1.0, -1.0)
    return np.einsum("np,np->n", deviation, deviation) + sign * (deviation @ d)


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Winsorised rows less the means of their classes, in scaled features; for P ≤ n.

    Some rows at a time: they are not kept.
    """

    X: np.ndarray | sparse.csr_array
    positive: np.ndarray
    clip: Clip | None
    scale: np.ndarray
    means: np.ndarray  # (2, P), neg and pos, before the scale

    def parts(self):
        return parts_of(len(self.positive), block_rows(len(self.scale)))

    def deviations(self, rows):
        """Some rows, by number or slice."""
        positive = self.positive[rows]
        found = dense_rows(self.X[rows], positive, self.clip)
        found -= self.means[positive.astype(int)]
        found *= self.scale
        return found

    def keys(self, d):
        """Keys of all rows."""
        found = [
            _keys(self.deviations(part), self.positive[part], d)
            for part in self.parts()
        ]
        return np.concatenate(found)
