"""Two samples, six numbers: the moments of each class, which add up.

Formulas and the choice of algorithms are in :mod:`skauc.statistics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ._block_matrix import BlockMatrix
from ._checks import RANGE, as_numbers, check_flag, check_weights, columns_named
from ._row_blocks import (
    as_rows,
    block_rows,
    dense,
    parts_of,
    refuse_collection,
    row_blocks,
)
from ._types import ArrayLike, Values

_TINY = np.finfo(float).tiny
# Rounding moves the eigenvalues of a scatter matrix by less than this share of the
# largest one; smaller eigenvalues are directions in which the rows do not vary.
RANK = 1e-10
_DIGITS_KEPT = 1e-4  # four of the sixteen digits of a float may cancel


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted count, mean and scatter matrix of one sample.

    Answers: which sums over the rows of a class suffice for the Gaussian formulas of
    this package? Computing them costs one pass over the data, merging two Moments P²
    operations.

    Attributes
    ----------
    n : float
        Sum of the weights; without weights the number of rows.
    mean : ndarray of shape (P,) or ()
        Weighted mean. Shape () for one-dimensional samples (scores).
    scatter : ndarray of shape (P, P), (P,) or ()
        Weighted sum of squares and products around the mean, not divided by n. Shape
        (P,) is the diagonal only (``featurewise=True``).

    See Also
    --------
    skauc.class_moments : Makes the moments of both classes in one pass.
    skauc.RowBlocks : Rows in blocks; the sum of their moments is that of all rows.
    skauc.results.BinormalROC.from_moments :
        The ROC curve of normal scores from two Moments.

    Notes
    -----
    Float32 input is accumulated in float64. ``a + b`` merges two disjoint samples
    exactly as if their rows had been stacked [1]_.

    References
    ----------
    .. [1] Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance",
       https://doi.org/10.1080/00031305.1983.10483115

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import Moments
    >>> left, right = Moments.from_samples([1.0, 2.0]), Moments.from_samples([6.0])
    >>> whole = left + right
    >>> whole.n, float(whole.mean), float(whole.scatter)
    (3.0, 3.0, 14.0)
    """

    n: float
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def from_samples(
        cls, X: Any, sample_weight: Values = None, *, featurewise: bool = False
    ) -> Moments:
        """Moments of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, P), or array-like of shape (n,)
            Samples; one-dimensional input is a sample of scores.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights: 2 counts a row twice, 0 omits it. The mean depends on
            their ratios only; n, scatter and covariance treat them as numbers of rows.
        featurewise : bool, default=False
            Keep only the diagonal of the scatter; no P×P matrix is built.

        Returns
        -------
        Moments

        Raises
        ------
        ValueError
            If X holds NaN or infinite values, if the size of a feature is neither 0 nor
            in [1e-70, 1e70], if X and ``sample_weight`` have different lengths, or if a
            weight is negative.

        Examples
        --------
        >>> import numpy as np
        >>> from skauc.results import Moments
        >>> Moments.from_samples(np.eye(3), featurewise=True).scatter.round(3)
        array([0.667, 0.667, 0.667])
        """
        featurewise = check_flag("featurewise", featurewise)
        with columns_named(X):
            rows = _as_samples(X)
            weight = check_weights(sample_weight, rows.shape[0])
            groups = (np.ones(rows.shape[0], dtype=bool),)
            return group_moments(rows, groups, weight, featurewise=featurewise)[0]

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if np.shape(self.scatter) != np.shape(other.scatter):
            raise ValueError(
                "Moments must have scatters of one shape to be merged, got "
                f"{np.shape(self.scatter)} and {np.shape(other.scatter)}"
            )
        n, shift = self.n + other.n, other.mean - self.mean
        share = other.n / max(n, _TINY)  # 0 without rows
        # W_a + W_b + shift shiftᵀ n_a n_b/n
        between = _products(shift, self.scatter) * (self.n * share)
        scatter = self.scatter + other.scatter + between
        return Moments(n, self.mean + shift * share, scatter)

    def project(self, w: ArrayLike) -> Moments:
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
        >>> from skauc.results import Moments
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
        # wᵀx̄ and wᵀWw
        return Moments(self.n, self.mean @ w, w.T @ self.scatter @ w)

    @property
    def covariance(self) -> np.ndarray:
        """Unbiased covariance ``scatter / (n − 1)``; NaN when n ≤ 1."""
        return self.scatter / (self.n - 1 if self.n > 1 else np.nan)


def class_moments(
    X: Any,
    positive: Values = None,
    sample_weight: Values = None,
    *,
    featurewise: bool = False,
) -> tuple[Moments, Moments]:
    """Counts, means and scatter matrices of two classes, in the order ``neg, pos``.

    Answers: what do the Gaussian formulas of this package need to know about the two
    classes? Costs one pass over X in blocks (a second one if the mean of a feature
    drifts by more than three deviations). The additional memory is two blocks of 1 MiB
    or of P rows, and the P×P scatter of each class, which ``featurewise`` avoids.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, P), or array-like of shape (n,)
        Features, or scores; or a Dask collection or :class:`RowBlocks` of them.
    positive : array-like of bool of shape (n,), default=None
        True for the rows of the positive class; None only if X is a :class:`RowBlocks`,
        which holds it.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights, as for :meth:`skauc.results.Moments.from_samples`.
    featurewise : bool, default=False
        Keep only the diagonals of the scatters.

    Returns
    -------
    neg, pos : Moments
        Of the negative and of the positive rows.

    Raises
    ------
    ValueError
        If lengths differ, ``positive`` is not boolean, or X is not finite or outside
        the range of :meth:`skauc.results.Moments.from_samples`.

    See Also
    --------
    RowBlocks : Rows in files or in blocks, in place of X.
    GaussianAUCClassifier : The classifier that needs nothing but these moments.
    skauc.results.Moments :
        What the result holds; ``from_samples`` makes those of one class.

    Notes
    -----
    Products are summed around an origin near the rows, which prevents cancellation
    [1]_. Products of a sparse X are formed around 0. If the mean of a column is large
    compared with its spread (the raw sum of squares is more than 10⁴ times the centred
    one), the rows are made dense block by block instead.

    References
    ----------
    .. [1] Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance",
       https://doi.org/10.1080/00031305.1983.10483115

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import class_moments
    >>> neg, pos = class_moments(np.array([0.0, 2.0, 5.0]), [False, False, True])
    >>> float(neg.mean), float(neg.scatter), pos.n
    (1.0, 2.0, 1.0)
    """
    featurewise = check_flag("featurewise", featurewise)
    if isinstance(X, BlockMatrix):
        given = {"y": positive, "weight": sample_weight}
        return X.total(_moments_of_block, featurewise, **given)
    blocks = row_blocks(X, positive, sample_weight)
    if blocks is not None:
        return blocks.total(_moments_of_block, featurewise)
    with columns_named(X):
        rows = _as_samples(X)
        positive = as_rows("positive", positive)
        if positive.dtype != bool or positive.shape != rows.shape[:1]:
            raise ValueError(
                f"positive must be a boolean mask of shape ({rows.shape[0]},), got "
                f"dtype {positive.dtype} and shape {positive.shape}"
            )
        weight = check_weights(sample_weight, rows.shape[0])
        groups = (~positive, positive)
        neg, pos = group_moments(rows, groups, weight, featurewise=featurewise)
        return neg, pos


def _moments_of_block(block, featurewise):
    """Class moments of one block."""
    return class_moments(block.X, block.y, block.weight, featurewise=featurewise)


def group_moments(X, groups, weight=None, *, featurewise=False) -> list:
    """Moments of groups of rows.

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
        If a group's values are not finite, or outside the range.
    """
    if X.ndim == 1:
        parts = group_moments(X[:, None], groups, weight, featurewise=True)
        return [Moments(part.n, part.mean[0], part.scatter[0]) for part in parts]
    if X.shape[1] == 0:
        raise ValueError(f"X must have at least one column, got shape {X.shape}")
    if weight is not None:  # rows of weight 0 are dropped and may hold NaN
        groups = [group & (weight != 0) for group in groups]
    with np.errstate(over="ignore", invalid="ignore"):  # _check_range raises for them
        read = _sparse if sparse.issparse(X) else _dense
        moments = [read(X, group, weight, featurewise) for group in groups]
        for part, group in zip(moments, groups, strict=True):
            _check_range(part, X, group)
    return moments


def _as_samples(X):
    """Convert samples to a real array of one or two dimensions, or a CSR matrix."""
    refuse_collection("X", X)
    if sparse.issparse(X):
        return X.tocsr()
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf":
        X = as_numbers("X", X)
    if X.ndim not in (1, 2):
        raise ValueError(f"X must have 1 or 2 dimensions, got shape {X.shape}")
    return X


def _check_range(moments, X, group):
    """Raise unless each feature of a group's rows is 0 or of a size in the range."""
    W, (low, high) = moments.scatter, RANGE
    # 0 without rows
    square = (np.diag(W) if W.ndim == 2 else W) / max(moments.n, _TINY)
    size = np.sqrt(square + moments.mean**2)
    # this form of the condition also refuses NaN
    bad = ~((size <= high) & ((size >= low) | (size == 0) & (moments.mean == 0)))
    if not bad.any():
        return
    sizes = np.abs(dense(X[group][:, bad]).astype(float)).max(axis=0)
    for j, largest in zip(np.flatnonzero(bad), sizes, strict=True):
        if low <= largest <= high:  # a few values between zeros
            continue
        got = "NaN" if np.isnan(largest) else f"{largest:.3g}"
        raise ValueError(
            f"X must be finite, and 0 or between {low:g} and {high:g} in size, got "
            f"{got} in feature {j}"
        )


def _dense(X, group, weight, featurewise):
    """Moments of a group of rows; X, dense or sparse, is read block by block."""
    rows, P = np.flatnonzero(group), X.shape[1]
    found = Moments(0.0, np.zeros(P), np.zeros(P if featurewise else (P, P)))
    # the first row (0 without rows): deviations of constant features are exactly 0
    origin = np.asarray(dense(X[rows[:1]]), dtype=float).sum(axis=0)
    for part in parts_of(len(rows), block_rows(P, least=1 if featurewise else P)):
        at = rows[part]
        Z = np.asarray(dense(X[at]), dtype=float)  # a copy
        Z -= origin
        w = np.ones(len(at)) if weight is None else weight[at]
        n = float(w.sum())
        mean = w @ Z / n
        Z -= mean
        if weight is not None:
            Z *= np.sqrt(w)[:, None]
        square = np.einsum("ij,ij->j", Z, Z) if featurewise else Z.T @ Z
        found += Moments(n, mean, square)
    return Moments(found.n, origin + found.mean, found.scatter)


def _products(x, scatter):
    """``x xᵀ``, or its diagonal, as the scatter is."""
    return np.outer(x, x) if np.ndim(scatter) == 2 else x**2


def _sparse(X, group, weight, featurewise):
    """Moments of a group of sparse rows."""
    Z = X[group].astype(float)  # a copy
    Z.sum_duplicates()
    w = np.ones(Z.shape[0]) if weight is None else weight[group]
    n = float(w.sum())
    mean = Z.T @ w / max(n, _TINY)  # 0 without rows
    weighted = Z.multiply(w[:, None])
    if featurewise:
        raw = np.asarray(Z.multiply(weighted).sum(axis=0)).ravel()
    else:
        raw = (Z.T @ weighted).toarray()
    # W = Σ w x xᵀ − n x̄ x̄ᵀ, if no more than four digits cancel
    scatter = raw - _products(mean, raw) * n
    left, squares = (A if featurewise else np.diag(A) for A in (scatter, raw))
    lost = ~(left >= _DIGITS_KEPT * squares)
    if lost.any():  # of variances only these columns become dense
        columns = lost if featurewise else slice(None)
        exact = _dense(X[:, columns], group, weight, featurewise)
        mean[columns], scatter[columns] = exact.mean, exact.scatter
    return Moments(n, mean, scatter)


def positive_eigen(A, rank=RANK):
    """Eigenvalues of a symmetric matrix beyond rounding, with their eigenvectors."""
    # NumPy's divide and conquer takes four fifths of the time of SciPy's default
    values, vectors = np.linalg.eigh(A)
    first = np.count_nonzero(values <= max(rank * values[-1], _TINY))
    return values[first:], vectors[:, first:]
