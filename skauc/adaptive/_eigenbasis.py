"""What the eigenbasis of the within-class scatter says of a direction.

:mod:`._spectrum` makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from ..statistics._numerics import TINY
from ._even_gram import EvenGram
from ._ritz_basis import RitzBasis
from ._winsorised_rows import Clip

_NOTHING = 1e-6  # of a direction of length 1: what a solver leaves of a 0
_ALIKE = 3.0  # standard errors between classes of one variance, which are pooled then
# Real sets, 30 to 150 rows: where the noise of d is more than 1.6 times what it is of
# one variance for both the model's AUC is too high by .10 (.06 with rows left out),
# between .7 and 1.6 times by less than .02. With P > n other variances do harm anyway:
# an L1 fit to noise, 30 + 30 rows, is said to be .58 and .65 where the deviations of
# one class are two and three times the other's
_NOISY, _APART = 1.6, 3.0


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

    @cached_property
    def trace(self) -> float:
        """Of W."""
        return self.values @ self.stands_for

    @cached_property
    def unlike(self) -> float:
        """Noise of d, as a multiple of what it is of classes that vary alike.

        1 where they may well do so, and where W has no null space: the rows see both
        along every direction.
        """
        return self._noise_ratio if self.null else 1.0

    @property
    def h(self) -> float:
        """Of the noise Σ/h of d: n₀n₁/n of classes that vary alike."""
        return 1 / (1 / self.n_neg + 1 / self.n_pos) / self.unlike

    @property
    def vary_far_apart(self) -> bool:
        """Whether classes vary so unlike each other that the model is hardly theirs."""
        apart = np.max(self._variances) > _APART * np.min(self._variances)
        return bool(self._noise_ratio > _NOISY or (self.null and apart))

    @cached_property
    def _variances(self):
        """Mean variance of each class; ones where they may well be equal."""
        n = np.array([self.n_neg, self.n_pos])
        squares = np.array([np.sum(many * x) for x, many in self.groups])  # tr W_c
        if n.min() <= 1 or not squares.sum() > 0:
            return np.ones(2)
        variance = squares / squares.sum() * (max(n.sum() - 2, 1.0) / (n - 1))
        # of k = (Σλ)²/Σλ² equal directions: Var log tr W_c = 2/k(n_c − 1)
        share = self.values / self.trace
        error = np.sqrt(2 * (share**2 @ self.stands_for) * np.sum(1 / (n - 1)))
        low, high = np.sort(variance)
        return variance if high > low * np.exp(_ALIKE * error) else np.ones(2)

    @property
    def _noise_ratio(self):
        """``tr(Σ₀/n₀ + Σ₁/n₁)`` over ``tr Σ (1/n₀ + 1/n₁)``, Σ that of all rows.

        Which is mostly that of the larger class.
        """
        share = 1 / np.array([self.n_neg, self.n_pos])
        return float(self._variances @ share / share.sum())

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
        support = [np.count_nonzero(np.abs(one) > _NOTHING) for one in x.T]
        of_x = self.d @ x, size, np.array(support)
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
        x /= max(np.sqrt(x @ x), TINY)  # a tenth of the time of a norm
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
