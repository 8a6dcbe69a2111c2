"""Two samples, six numbers: the sufficient statistics.

For each class: ``n`` the sum of (frequency) weights, ``mean`` and ``scatter``
``W = Σ w (x − x̄)(x − x̄)ᵀ``, sums of squares that are **not** divided.

Two parts a, b of one class merge by

    n = n_a + n_b,   x̄ = x̄_a + (x̄_b − x̄_a) n_b/n,
    W = W_a + W_b + (x̄_b − x̄_a)(x̄_b − x̄_a)ᵀ n_a n_b/n,

so moments stream and add up across workers (Chan, Golub & LeVeque 1983), and
nothing larger than one block of rows is ever copied. What a float64 cannot hold of x̄
stands beside it: of features around 1e8 rounding alone is 1e-8, and the difference of
two means, which is what a discriminant needs, would have no digit beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ._collections import refuse_collection
from ._numbers import as_flag, as_numbers
from ._numerics import TINY, block_rows, parts_of
from ._row_blocks import row_blocks

_CAST_ITEMS = 2**15  # numbers of a block that is cast to float64, to stay in cache
_SPARSE_ENTRIES = 2**16  # of sparse rows that are copied at once
_MANY_FEATURES = 16  # from here on the products outweigh a centring pass
_RAW_BYTES = 2**19  # rows and their sums share a core's level-2 cache
# Rows of one product: with few features its call weighs. OpenBLAS cuts it into parts of
# 256 rows, whose columns meet in the first-level cache, but fewer than 512 into halves,
# where they do not: a twentieth less time.
_FEW_FEATURES, _LONG, _SHORT = 96, 3000, 500
_READ_BYTES = 2**18  # rows that three products read while they are in the cache
_LEAST_ROWS = 16  # so that adding up sums of P numbers costs little beside reading rows
_DIGITS_KEPT = 1e-4  # of the sixteen of a float, four may cancel
_FIRST_ROWS = 200  # enough to tell a mean from a spread


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted count, mean and scatter of one sample.

    Answers what every Gaussian formula of this package needs to know about a
    class. Costs one pass over the data; merging two costs P² operations.

    Parameters
    ----------
    n : float
        Sum of the weights (the number of rows when there are none).
    mean : ndarray of shape (P,) or ()
        Weighted mean. Shape () for one-dimensional samples (scores).
    scatter : ndarray of shape (P, P), (P,) or ()
        Weighted sum of squares around the mean, not divided by anything.
        Shape (P,) holds the diagonal only (``featurewise=True``).
    rest : ndarray of the shape of mean, or 0.0, default=0.0
        What rounding has taken from the mean, which is ``mean + rest``.

    Notes
    -----
    Float32 input is accumulated in float64. ``a + b`` merges two disjoint
    samples exactly as if their rows had been stacked.

    References
    ----------
    Chan, Golub & LeVeque (1983), https://doi.org/10.1080/00031305.1983.10483115

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import Moments
    >>> left, right = Moments.from_samples([1.0, 2.0]), Moments.from_samples([6.0])
    >>> whole = left + right
    >>> whole.n, float(whole.mean), float(whole.scatter)
    (3.0, 3.0, 14.0)
    """

    n: float
    mean: np.ndarray
    scatter: np.ndarray
    rest: np.ndarray | float = 0.0

    @classmethod
    def from_samples(cls, X, sample_weight=None, *, featurewise=False) -> Moments:
        """Moments of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, P), or array-like of shape (n,)
            Samples; one-dimensional input is a sample of scores.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights: 2 means the row twice, 0 the row gone. The mean only
            needs their ratios; n, scatter and covariance are of that many rows.
        featurewise : bool, default=False
            Keep only the diagonal of the scatter; no P×P matrix is built.

        Returns
        -------
        Moments

        Raises
        ------
        ValueError
            If X holds NaN or infinite values, overflows when squared, or does
            not match ``sample_weight`` in length; if a weight is negative.

        Examples
        --------
        >>> import numpy as np
        >>> from skauc import Moments
        >>> Moments.from_samples(np.eye(3), featurewise=True).scatter.round(3)
        array([0.667, 0.667, 0.667])
        """
        X = _as_samples(X)
        weight = _as_weight(sample_weight, X.shape[0])
        featurewise = as_flag("featurewise", featurewise)
        everything = np.ones(X.shape[0], dtype=bool)
        return group_moments(X, (everything,), weight, featurewise=featurewise)[0]

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if np.shape(self.scatter) != np.shape(other.scatter):
            raise ValueError(
                "Moments must have scatters of one shape to be merged, got "
                f"{np.shape(self.scatter)} and {np.shape(other.scatter)}"
            )
        n = self.n + other.n
        if 0 in (self.n, other.n):
            return self if other.n == 0 else other
        # x̄_b − x̄_a, with the digits that rounding has taken from the means
        shift = (other.mean - self.mean) + (other.rest - self.rest)
        between = shift**2 if np.ndim(self.scatter) < 2 else np.outer(shift, shift)
        # W_a + W_b + shift shiftᵀ n_a n_b/n; n_a n_b may overflow, n_a (n_b/n) does not
        mean, rest = _two_sum(self.mean, shift * (other.n / n) + self.rest)
        scatter = self.scatter + other.scatter + between * (self.n * (other.n / n))
        return Moments(n, mean, scatter, rest)

    def __sizeof__(self):
        arrays = map(np.asarray, (self.mean, self.scatter, self.rest))
        return object.__sizeof__(self) + sum(array.nbytes for array in arrays)

    def project(self, w) -> Moments:
        """Moments of the scores ``X @ w``.

        Parameters
        ----------
        w : array-like of shape (P,) or (P, k)
            One direction, or k directions as columns.

        Returns
        -------
        Moments
            Mean ``wᵀx̄`` and scatter ``wᵀWw``; shapes () or (k,) and (k, k).

        Raises
        ------
        ValueError
            If only the diagonal of the scatter is known (``featurewise=True``).

        Examples
        --------
        >>> import numpy as np
        >>> from skauc import Moments
        >>> float(Moments.from_samples(np.eye(2)).project([1.0, -1.0]).scatter)
        2.0
        """
        if np.ndim(self.scatter) != 2:
            raise ValueError(
                "project needs the full (P, P) scatter, got a scatter of shape "
                f"{np.shape(self.scatter)}; build it with featurewise=False"
            )
        w = as_numbers("w", w)
        if w.ndim not in (1, 2) or w.shape[0] != self.mean.shape[0]:
            raise ValueError(
                f"w must have {self.mean.shape[0]} rows, got shape {w.shape}"
            )
        # wᵀ(x̄ + rest),   wᵀWw
        rest = np.broadcast_to(self.rest, self.mean.shape) @ w
        return Moments(self.n, self.mean @ w + rest, w.T @ self.scatter @ w)

    @property
    def covariance(self) -> np.ndarray:
        """Unbiased covariance ``scatter / (n − 1)``; NaN when n ≤ 1."""
        return self.scatter / (self.n - 1 if self.n > 1 else np.nan)


def around(moments, origin) -> Moments:
    """Moments of the rows less an origin of shape (P,), with all their digits."""
    mean = (moments.mean - origin) + moments.rest
    return Moments(moments.n, mean, moments.scatter)


def in_units(moments, origin, unit) -> Moments:
    """Moments of ``origin + unit · x``."""
    mean, rest = _two_sum(origin, unit * moments.mean)
    return Moments(moments.n, mean, unit**2 * moments.scatter, rest)


def class_moments(X, positive=None, sample_weight=None, *, featurewise=False):
    """Moments of the two classes, in the order ``neg, pos``.

    Answers "what must be kept of the data" for every Gaussian formula here.
    One pass over X, in blocks: the peak extra memory is a few blocks of 2 MiB or
    of P rows, the numbers of the rows, and the P×P scatter of each class, which
    ``featurewise`` avoids.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, P), or array-like of shape (n,)
        Features, or scores; or a Dask collection or :class:`RowBlocks` of them.
    positive : array-like of bool of shape (n,), default=None
        True where the row belongs to the positive class; None only if the blocks of a
        :class:`RowBlocks` hold it.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights, as for :meth:`Moments.from_samples`.
    featurewise : bool, default=False
        Keep only the diagonals of the scatters.

    Returns
    -------
    neg, pos : Moments

    Raises
    ------
    ValueError
        If lengths differ, ``positive`` is not boolean or X is not finite.

    Notes
    -----
    Sparse X is multiplied as it is; where a column's mean dwarfs its spread
    (raw sum of squares over 10⁴ times the centred one), the subtraction of the
    means would cancel, and the rows are made dense block by block instead.

    References
    ----------
    Chan, Golub & LeVeque (1983), https://doi.org/10.1080/00031305.1983.10483115

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import class_moments
    >>> neg, pos = class_moments(np.array([0.0, 2.0, 5.0]), [False, False, True])
    >>> float(neg.mean), float(neg.scatter), pos.n
    (1.0, 2.0, 1.0)
    """
    blocks = row_blocks(X, positive, sample_weight)
    if blocks is not None:
        return blocks.total(_moments_of_block, as_flag("featurewise", featurewise))
    X = _as_samples(X)
    positive = _as_mask(positive)
    if positive.dtype != bool or positive.shape != X.shape[:1]:
        raise ValueError(
            f"positive must be a boolean mask of shape ({X.shape[0]},), got dtype "
            f"{positive.dtype} and shape {positive.shape}"
        )
    weight = _as_weight(sample_weight, X.shape[0])
    featurewise = as_flag("featurewise", featurewise)
    groups = (~positive, positive)
    neg, pos = group_moments(X, groups, weight, featurewise=featurewise)
    return neg, pos


def _moments_of_block(block, featurewise):
    return class_moments(block.X, block.y, block.weight, featurewise=featurewise)


def group_moments(X, groups, weight=None, *, featurewise=False) -> list[Moments]:
    """Moments of some groups of rows, in one pass.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, P), or ndarray of shape (n,)
    groups : sequence of ndarray of bool of shape (n,)
        Which rows belong to each group.
    weight : ndarray of shape (n,), default=None
        Frequency weights, finite and >= 0.
    featurewise : bool, default=False
        Keep only the diagonals of the scatters.

    Returns
    -------
    list of Moments

    Raises
    ------
    ValueError
        If a group's scatter is not finite.
    """
    if weight is not None:
        # A row of weight 0 is gone and may hold anything, NaN as well
        groups = [mask & (weight != 0) for mask in groups]
    found: list = [None] * len(groups)
    with np.errstate(over="ignore", invalid="ignore"):  # named below
        if not sparse.issparse(X) and X.ndim == 2:
            # With few features centring is as cheap as the products it would save
            if featurewise:
                found = _raw_featurewise(X, groups, weight)
            elif X.shape[1] >= _MANY_FEATURES:
                found = _raw(X, groups, weight)
        for g, mask in enumerate(groups):
            if found[g] is None:
                found[g] = _from_rows(X, np.flatnonzero(mask), weight, featurewise)
    for moments in found:
        if not (np.isfinite(moments.mean).all() and np.isfinite(moments.scatter).all()):
            raise ValueError(
                "X must be finite and its squares must not overflow float64, got a "
                f"scatter with {np.sum(~np.isfinite(moments.scatter))} non-finite "
                "values"
            )
    return found


def class_traces(X, positive, sample_weight=None) -> tuple[Moments, Moments]:
    """Class moments ``neg, pos`` of which only the trace of the scatter is kept.

    All that a spherical covariance asks of the rows; a pass of a few products
    ``X @ w``, without a copy of X.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    sample_weight : ndarray of shape (n,), default=None

    Returns
    -------
    neg, pos : Moments
        ``scatter`` is of shape (): ``Σ w‖x − x̄‖²``.
    """
    if isinstance(X, np.ndarray) and X.ndim == 2:
        with np.errstate(over="ignore", invalid="ignore"):  # the other way names them
            found = _raw_traces(X, positive, sample_weight)
        if found is not None:
            return found
    neg, pos = class_moments(X, positive, sample_weight, featurewise=True)
    neg, pos = (replace(c, scatter=np.sum(c.scatter)) for c in (neg, pos))
    return neg, pos


def _raw_traces(X, positive, weight):
    """``Σ w‖x − o‖² − n‖x̄ − o‖²`` of each class; None if that would cost digits.

    The origin is that of :class:`RawSums`.
    """
    P = X.shape[1]
    shares = np.stack([~positive, positive]).astype(float)
    if weight is not None:
        shares *= weight
        if not np.all(weight > 0):  # rows of weight 0 may hold anything
            return None
    origin = _origin(X[:_FIRST_ROWS])
    total, norm = np.zeros((2, P)), np.empty((X.shape[0], 1, 1))
    step = max(_RAW_BYTES // (8 * P), 1)
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        rows = X[part].astype(float, copy=False)
        rows = rows if origin is None else rows - origin
        # ‖x − o‖² of every row, by products that read them in order: they come first,
        # and the sums find the rows in the cache. np.einsum takes twice as long
        np.matmul(rows[:, None, :], rows[:, :, None], out=norm[part])
        for c in (0, 1):  # OpenBLAS copies the rows for a product with both
            total[c] += shares[c, part] @ rows
    square = shares @ norm[:, 0, 0]
    # Σ w‖x − x̄‖² = Σ w‖x − o‖² − n‖x̄ − o‖²
    n = shares.sum(axis=1)
    mean = total / np.maximum(n, TINY)[:, None]
    trace = square - n * np.einsum("ij,ij->i", mean, mean)
    # The difference has lost log₁₀(square/trace) digits: no more than four may go
    if not np.all(trace >= _DIGITS_KEPT * square) or not np.isfinite(square).all():
        return None
    mean, rest = _two_sum(0.0 if origin is None else origin, mean)
    neg, pos = (Moments(float(n[c]), mean[c], trace[c], rest[c]) for c in (0, 1))
    return neg, pos


def project_samples(X, w) -> np.ndarray:
    """Scores ``X @ w`` in float64, without a float64 copy of X.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    w : ndarray of shape (P,) or (P, k)

    Returns
    -------
    ndarray of shape (n,) or (n, k)
    """
    if not isinstance(X, np.ndarray) and not sparse.issparse(X):  # rows not made
        return X @ w
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ w, dtype=float)
    rows = max(_CAST_ITEMS // X.shape[1], 1)
    buffer = np.empty((min(rows, X.shape[0]), X.shape[1]))
    scores = np.empty((X.shape[0], *w.shape[1:]))
    for start in range(0, X.shape[0], rows):
        part = X[start : start + rows]
        # Cast in the cache, faster than a whole copy is written and read again
        np.copyto(buffer[: len(part)], part, casting="unsafe")
        np.matmul(buffer[: len(part)], w, out=scores[start : start + rows])
    return scores


def _as_samples(X):
    refuse_collection("X", X)
    if sparse.issparse(X):
        return X.tocsr()
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf":
        X = as_numbers("X", X)
    if X.ndim not in (1, 2):
        raise ValueError(f"X must have 1 or 2 dimensions, got shape {X.shape}")
    return X


def _as_mask(positive):
    try:
        return np.asarray(positive)
    except ValueError:
        raise ValueError(
            "positive must be a boolean mask, got lists of several lengths"
        ) from None


def _as_weight(sample_weight, n):
    if sample_weight is None:
        return None
    weight = as_numbers("sample_weight", sample_weight)
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), got shape {weight.shape}"
        )
    bad = ~(weight >= 0) | np.isinf(weight)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight must be finite and >= 0, got {weight[row]} in row {row}"
        )
    return weight


def _block_rows(n_features, featurewise=True):
    """Rows of a block: 2 MiB, or as large as the P×P scatter if that is larger."""
    return block_rows(n_features, least=1 if featurewise else n_features)


def _from_rows(X, rows, weight, featurewise):
    if not sparse.issparse(X):
        return _merged(X, rows, weight, featurewise or X.ndim == 1)
    return (_sparse_featurewise if featurewise else _sparse_full)(X, rows, weight)


def _merged(X, rows, weight, featurewise):
    """Blocks centred on their own mean, then merged: exact, two passes in cache."""
    n_features = X.shape[1] if X.ndim == 2 else 1
    shape = X.shape[1:] if featurewise else X.shape[1:] * 2
    total = Moments(0.0, np.zeros(X.shape[1:]), np.zeros(shape))
    step = _block_rows(n_features, featurewise)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        # Chan, Golub & LeVeque's merge of blocks
        total += _block(X[part], None if weight is None else weight[part], shape)
    return total


def _raw(X, groups, weight):
    """Moments of each group by one pass over X; None where that would cost digits.

    Rows of a group are copied some at a time, and the groups take turns by where their
    rows lie: what one has fetched is in the cache for the others.
    """
    sums = [RawSums.of_first_rows(X, mask) for mask in groups]
    parts = [
        (part[0], group, part)
        for group, mask in zip(sums, groups, strict=True)
        for part in group.parts(np.flatnonzero(mask))
    ]
    X, most = np.asarray(X), max((len(part) for *_, part in parts), default=0)
    buffer = np.empty((most, X.shape[1]))
    plain = X.dtype == float and X.flags.c_contiguous
    for first, group, part in sorted(parts, key=lambda found: found[0]):
        block, rows = buffer[: len(part)], slice(first, part[-1] + 1)
        is_run = rows.stop - first == len(part)
        if is_run and plain and weight is None and group.origin is None:
            block = X[rows]  # to which nothing is written
        elif plain:
            # "clip" only spares numpy a buffer: no index is out of range
            np.take(X, part, axis=0, out=block, mode="clip")
        else:
            block[:] = X[rows if is_run else part]
        group.add(block, None if weight is None else weight[part])
    return [group.moments() for group in sums]


@dataclass(eq=False)
class RawSums:
    """Sums of products around one origin.

    ``W = Σ w(x − o)(x − o)ᵀ − n(x̄ − o)(x̄ − o)ᵀ`` loses as many digits as the second
    term is larger than W. The origin is 0, or the first row if some feature of the
    first rows is farther from 0 than it varies: then x̄ is rounded by no more than W.
    """

    origin: np.ndarray | None
    n: float
    total: np.ndarray
    square: np.ndarray | None = None

    @classmethod
    def of_first_rows(cls, X, mask):
        """Nothing summed yet, around the origin that the first rows choose."""
        P = X.shape[1]
        origin = _origin(X[np.flatnonzero(mask[:_FIRST_ROWS])])
        return replace(cls.around_zero(P), origin=origin)

    @classmethod
    def around_zero(cls, P):
        """Nothing summed yet, of rows that are not far from 0."""
        return cls(None, 0.0, np.zeros(P))

    @staticmethod
    def n_rows(P) -> int:
        """Rows of a block: its product takes little time, and little memory."""
        # At least P rows: adding a block to the P×P sums costs no more than making it
        return max(_LONG if P < _FEW_FEATURES else _SHORT, P)

    def parts(self, rows):
        """Row numbers of the blocks."""
        step = self.n_rows(len(self.total))
        return (rows[start : start + step] for start in range(0, len(rows), step))

    def add(self, block, weight):
        """Add the rows of a block; overwritten if there is an origin or a weight."""
        if self.origin is not None:
            block -= self.origin
        root = np.ones(len(block))
        if weight is not None:
            root = np.sqrt(weight)
            # With rows √w(x − o) both sums below have the weight w
            block *= root[:, None]
        self.n += len(block) if weight is None else weight.sum()
        self.total += root @ block
        # numpy's symmetric product: scipy's dsyrk, which adds to what is there, takes
        # 1.3, 1.25 and 1.1 times as long for 50, 100 and 200 features
        square = block.T @ block
        if self.square is not None:
            square += self.square
        self.square = square

    def moments(self):
        """The moments; None if no rows or too few digits are left."""
        if self.n == 0:
            return None
        # W = Σ w(x − o)(x − o)ᵀ − n(x̄ − o)(x̄ − o)ᵀ
        mean = self.total / self.n
        scatter = np.outer(mean, mean)
        scatter *= self.n
        np.subtract(self.square, scatter, out=scatter)
        if not np.all(np.diag(scatter) >= _DIGITS_KEPT * np.diag(self.square)):
            return None
        origin = 0.0 if self.origin is None else self.origin
        mean, rest = _two_sum(origin, mean)
        return Moments(float(self.n), mean, scatter, rest)


def _raw_featurewise(X, groups, weight):
    """Diagonals of each group's moments by one pass of products without a copy.

    Around one origin, as :class:`RawSums`; None where that would cost digits.
    """
    none, P = [None] * len(groups), X.shape[1]
    shares = np.stack(groups).astype(float)
    if weight is not None:
        shares *= weight
        if not np.all(weight > 0):  # rows of weight 0 may hold anything
            return none
    origin = _origin(X[:_FIRST_ROWS])
    total, square = np.zeros((2, len(groups), P))
    step = max(_READ_BYTES // (8 * P), _LEAST_ROWS)
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        rows = X[part].astype(float, copy=False)
        rows = rows if origin is None else rows - origin
        total += shares[:, part] @ rows
        square += shares[:, part] @ (rows * rows)
    # Σ w(x − x̄)² = Σ w(x − o)² − n(x̄ − o)²
    n = shares.sum(axis=1)
    mean = total / np.maximum(n, TINY)[:, None]
    scatter = square - n[:, None] * mean**2
    kept = np.all(scatter >= _DIGITS_KEPT * square, axis=1)
    mean, rest = _two_sum(0.0 if origin is None else origin, mean)
    found = zip(n.tolist(), mean, scatter, rest, strict=True)
    return [Moments(*part) if k else None for part, k in zip(found, kept, strict=True)]


def _two_sum(a, b):
    """``a + b`` rounded, and what rounding has taken from it (Knuth); 0 beside inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = a + b
        part = total - a
        rest = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(rest), rest, 0.0)


def _origin(first):
    """The first row, if some feature is farther from 0 than it varies; else None."""
    first = first.astype(float, copy=False)
    if not len(first):
        return None
    # Where the mean exceeds the spread, raw squares would be mostly that of the mean:
    # x̄² > mean(x²) − x̄²
    mean = np.full(len(first), 1 / len(first)) @ first
    square = np.einsum("np,np->p", first, first) / len(first)
    far = np.any(2 * mean**2 > square)
    return first[0].copy() if far else None


def _block(block, weight, shape):
    """Moments of one block, which may be overwritten."""
    block = block.toarray() if sparse.issparse(block) else block
    block = block.astype(float, copy=False)
    # Around the block's first row, so that a constant feature has scatter 0 exactly.
    origin = block[0].copy()
    block -= origin
    if weight is None:
        n, mean = float(len(block)), block.mean(axis=0)
        block -= mean
    else:
        n = float(weight.sum())
        mean = weight @ block / n
        block -= mean
        # Σ w(x − x̄)(x − x̄)ᵀ as a symmetric product of √w(x − x̄)
        block *= np.sqrt(weight).reshape(-1, *[1] * (block.ndim - 1))
    if len(shape) == 2:
        scatter = block.T @ block
    else:
        scatter = np.einsum("i...,i...->...", block, block)
    mean, rest = _two_sum(origin, mean)
    return Moments(n, mean, scatter, rest)


def _sparse_featurewise(X, rows, weight):
    equal, P = weight is None, X.shape[1]
    weight = np.ones(len(rows)) if equal else weight[rows]
    n, of_row = weight.sum(), np.zeros(X.shape[0])
    scatter, count = np.zeros((2, P))
    stored = count if equal else np.zeros(P)
    of_row[rows] = weight
    mean = X.T @ of_row / max(n, TINY)
    # Stored entries deviate from the mean, the absent ones by the mean itself.
    for part, w in _sparse_parts(X, rows, weight):
        count += np.bincount(part.indices, minlength=P)
        deviation = (part.data - mean[part.indices]) ** 2
        if not equal:
            row_weight = np.repeat(w, np.diff(part.indptr))
            stored += np.bincount(part.indices, row_weight, minlength=P)
            deviation *= row_weight
        scatter += np.bincount(part.indices, deviation, minlength=P)
    # Counted, because a rounded n − stored would be multiplied by mean².
    absent = np.where(count == len(rows), 0.0, np.maximum(n - stored, 0.0))
    # W_jj = Σ_stored w(x − x̄)² + (Σ_absent w) x̄²
    return Moments(float(n), mean, scatter + absent * mean**2)


def _sparse_parts(X, rows, weight):
    """Some rows at a time, and their weights: what is made of them is not small."""
    entries = max(_SPARSE_ENTRIES, X.shape[1])  # beside some vectors of P numbers
    for some in parts_of(len(rows), max(entries * X.shape[0] // max(X.nnz, 1), 1)):
        part = X[rows[some]].astype(float, copy=False)
        # (a + b − x̄)² is not the sum over two stored parts of an entry
        part.sum_duplicates()
        yield part, weight[some]


def _sparse_full(X, rows, weight):
    Z = X[rows].astype(float)
    w = np.ones(len(rows)) if weight is None else weight[rows]
    n = w.sum()
    # No row: mean and scatter are 0, not 0/0
    mean = Z.T @ w / max(n, TINY)
    raw = (Z.T @ Z.multiply(w[:, None])).toarray()
    # Σ w x xᵀ − n x̄ x̄ᵀ, if no more than four digits cancel; block by block otherwise
    scatter = raw - np.outer(mean, mean) * n
    if np.all(np.diag(scatter) >= _DIGITS_KEPT * np.diag(raw)):
        return Moments(float(n), mean, scatter)
    total = Moments(0.0, np.zeros_like(mean), np.zeros_like(raw))
    step = _block_rows(X.shape[1], featurewise=False)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        total += _block(Z[part], None if weight is None else w[part], raw.shape)
    return total
