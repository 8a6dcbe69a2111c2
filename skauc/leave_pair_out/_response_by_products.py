"""How scores of sparse rows answer when rows are taken out, by products alone.

For P ≥ n > 1000 the kernel K of the rows, less their mean, is neither formed nor
decomposed. Of two rows left out together nearly all is known from the diagonal of

    F = (I + D K D)⁻¹,   D = diag(√(ω/λ)),   q_i = (1/F_ii − 1) λ/ω_i,

q_i being what row i would gain of a unit of force *without* itself in the model: it
does not depend on its own ω_i, and on those of all others by their common size. Beside
the diagonal F has the mean that centred rows give it, ``F1 = 0``.

Every score that is left out is the small difference of a score and of what its own row
has pulled, so that the mean of q_i must be right to 1e-3, each q_i to 2e-2:

- the 500 rows S of the pairs are the same for all models. Their ``(K^j)_ii``, j ≤ 4,
  or as few as the eigenvalues ask for, are computed; p(K), the polynomial nearest to F,
  has an exact diagonal;
- what is left, F − p(K), comes from random signs z: ``E z ∘ (F − p(K)) z``
  (Hutchinson), by Lanczos' quadrature for any ω/λ; single rows are drawn to a
  regression on the
  ``(K^j)_ii`` as far as they are noise.

Error of the AUC against the kernel's inverse: the test of this module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..statistics._lanczos import Ritz, lanczos, random_signs, together
from ..statistics._numerics import TINY, parts_of
from ..statistics._sparse_gram import RowGram, SparseGram
from ._pair_response import ColumnResponse

PRODUCT_ROWS = 1000  # of more sparse rows a kernel is formed only where it is needed
# The mean of q is right to (root mean square, four draws of 16, 32 and 64 vectors)
# .00002 of 1500 × 50 000 texts; of 1500 × 4862 news .0018, .0009 and .0005 at ω/λ = 1,
# .008, .006 and .0015 at 10. With 24 steps not better
_NUMBERS, _LEAST, _STEPS, _SEED = 48_000, 16, 14, 1989
# Of the polynomial, at most, and what it may leave of the inverse, root mean square
# over its mean, with less: .02, .06 and .16 with 3, 2 and 1 of 2000 × 50 000 texts,
# where the mean of q is off by .0002, .0008 and .0012 and each by .002, .004 and .01;
# .13 with 4 of 1500 × 20 000 texts of 20 topics, .0006 and .01, as much as with 3
_DEGREE, _LEFT = 4, 0.1
# What Lanczos' steps may leave of K x = z (six for these texts, 13 with 20 topics, else
# all): the mean of q moves by less than 1e-5 from then on
_SOLVED = 0.01
_MORE = 2  # vectors at once where no basis is kept of them: .8 of the time
_COPIED_ROWS = 2000  # up to here there is room for two copies of the entries
_FAR = 1e3  # of the rows' scatter: a mean that costs three digits of the seven


@dataclass(frozen=True, eq=False)
class CentredKernel:
    """Products with the Gram matrix K of rows less their mean.

    Parameters
    ----------
    gram : SparseGram or RowGram
        Of the rows.
    """

    gram: SparseGram | RowGram

    @classmethod
    def of_rows(cls, X):
        """Of a csr_array."""
        return cls((SparseGram if X.shape[0] <= _COPIED_ROWS else RowGram).of_rows(X))

    def product(self, v):
        """``K v`` of a v whose mean is 0; (n, m)."""
        v = self.gram.product(v)
        v -= v.mean(axis=0)
        return v

    def moments(self, rows, degree):
        """``(K^j)_ii`` of some rows, j = 0 to 2, 3 or 4, less the mean direction."""
        n = self.gram.n_rows
        out = np.full((len(rows), degree + 1), 1 - 1 / n)
        mean = self.gram.product(np.full((n, 1), 1 / n, dtype=self.gram.dtype))
        for part in parts_of(len(rows), _MORE * together(n)):
            some = rows[part]
            # K (e_i − 1/n)
            once = self.gram.columns(some) - mean
            once -= once.mean(axis=0)
            out[part, 1] = once[some, np.arange(len(some))]
            out[part, 2] = np.einsum("nk,nk->k", once, once)
            if degree > 2:
                twice = self.product(once)
                out[part, 3] = np.einsum("nk,nk->k", once, twice)
            if degree > 3:
                out[part, 4] = np.einsum("nk,nk->k", twice, twice)
        return out


@dataclass(frozen=True, eq=False)
class KernelDiagonal:
    """What the diagonal of a function of a kernel is computed from, at some rows.

    Parameters
    ----------
    moments : ndarray of shape (k, d + 1)
        Of the kernel in units of ``unit``.
    ritz : Ritz
        Of random signs and that kernel; its basis at these rows only.
    signs : ndarray of shape (k, m)
    unit : float
        Powers of the kernel itself may be beyond any number.
    """

    moments: np.ndarray
    ritz: Ritz
    signs: np.ndarray
    unit: float

    @classmethod
    def of_rows(cls, kernel: CentredKernel, rows, unit):
        """Of the kernel times ``unit``."""
        n, dtype = kernel.gram.n_rows, kernel.gram.dtype
        # to the rows in an order of their own: how a caller sorts them does not matter
        keys = kernel.gram.product(np.ones((n, 1)))[:, 0]
        m = max(min(_NUMBERS // n, 64), _LEAST)
        signs = np.empty((n, m), dtype=dtype)
        signs[np.argsort(keys, kind="stable")] = random_signs(n, m, _SEED)
        own = signs[rows]
        signs -= signs.mean(axis=0)
        ritz = lanczos(kernel.product, signs, _STEPS, rows, _SOLVED)
        return cls(kernel.moments(rows, _degree(ritz)), ritz, own, unit)

    def mean(self, theta):
        """Mean of ``κ/(1 + θκ)`` over the eigenvalues κ, and that of ``1/(1 + θκ)``."""
        share = self.ritz.first**2 / len(self.ritz.first)
        values = self.ritz.values
        inverse = 1 / (1 + self.unit * theta * values)
        return self.unit * np.sum(share * values * inverse), np.sum(share * inverse)

    def inverse(self, theta):
        """Diagonals of ``K(I + θK)⁻¹`` and of ``(I + θK)⁻¹``, at the rows, (k,) each.

        The second less the mean direction, in which K is empty. The first keeps its
        digits however strong the penalty is.
        """
        values, theta = self.ritz.values, self.unit * theta
        f = values / (1 + theta * values)
        # p nearest to f where the eigenvalues are
        largest = values.max() or 1.0
        degree = self.moments.shape[1] - 1
        c, rest = nearest_polynomial(self.ritz, values / largest, f, degree)
        # z ∘ (f − p)(K) z of every vector
        inside = np.einsum("mij,mj->mi", self.ritz.vectors, rest * self.ritz.first)
        # Σ_i inside_mi Q_ikm, in half of the time of einsum
        at_rows = np.matmul(inside[:, None], self.ritz.basis.transpose(2, 0, 1))[:, 0]
        each = self.signs * at_rows.T * self.ritz.length
        found = each.mean(axis=1)
        noise = each.var(axis=1, ddof=1).mean() / each.shape[1]
        moments = self.moments / largest ** np.arange(degree + 1)
        usual = moments @ np.linalg.lstsq(moments, found, rcond=None)[0]
        own = found - usual
        # of what rows differ by, the part that is no noise
        believed = max(0.0, 1 - noise / max(own.var(), TINY))
        answer = moments @ c + usual + believed * own
        # 1/(1 + θκ) is convex (Jensen), and below 1
        total, square = self.moments[:, 0], self.moments[:, 1]
        most = square / (1 + theta * square / total)
        answer = np.clip(answer, 0.0, most)
        return self.unit * answer, total - theta * answer


def nearest_polynomial(ritz: Ritz, x, f, degree):
    """Coefficients of the polynomial of x nearest to f, and what it leaves of f.

    In the sum of squares over all vectors; x and f at their Ritz values.
    """
    powers = np.vander(x.ravel(), degree + 1, increasing=True)
    share = np.abs(ritz.first).ravel()
    c = np.linalg.lstsq(powers * share[:, None], f.ravel() * share, rcond=None)[0]
    return c, f - (powers @ c).reshape(f.shape)


def _degree(ritz):
    """The least that leaves little of the inverse, which is the furthest from one."""
    largest = ritz.values.max() or 1.0
    x, share = ritz.values / largest, ritz.first**2
    f = 1 / np.maximum(x, np.finfo(ritz.basis.dtype).eps)
    most = _LEFT**2 * np.sum(share * f) ** 2 / len(f)
    for degree in range(2, _DEGREE):
        left = nearest_polynomial(ritz, x, f, degree)[1]
        if np.sum(share * left**2) <= most:
            return degree
    return _DEGREE


def kernel_diagonal(X, rows, scale=None) -> KernelDiagonal:
    """What sparse rows, their columns times ``scale``, say at some of them.

    In single precision: a product reads memory, and no more than four digits are asked;
    but where the rows lie far from the origin these are lost in their mean.
    """
    X, n = X.tocsr(), X.shape[0]
    data, mean = X.data, X.T @ np.full(n, 1 / n)
    if scale is not None:
        data, mean = data * scale[X.indices], mean * scale
    # In units of the largest entry, whose squares single precision may not hold
    unit = max(data.max(initial=0.0), -data.min(initial=0.0)) or 1.0
    mean = mean / unit
    # the places stay those of X
    single = np.divide(
        data, unit, out=np.empty(len(data), np.float32), casting="same_kind"
    )
    square = single @ single / n
    far = mean @ mean > _FAR * (square - mean @ mean)
    entries = data / unit if far else single
    A = sparse.csr_array((entries, X.indices, X.indptr), shape=X.shape)
    return KernelDiagonal.of_rows(CentredKernel.of_rows(A), rows, unit**2)


def response_by_products(diagonal: KernelDiagonal, rows, theta, l2):
    """Q and F among the pairs, from the diagonal of F and ``F1 = 0``.

    Parameters
    ----------
    diagonal : KernelDiagonal
    rows : ndarray of int of shape (k,)
    theta : ndarray of shape (n,)
        ω/λ of all rows.
    l2 : float
        λ.

    Returns
    -------
    ColumnResponse
    """
    own, total = theta[rows], theta.sum()
    if not theta.any():
        nothing = np.zeros(len(rows))
        return ColumnResponse(nothing, own, nothing, nothing + 1)
    common, centred = common_curvature(diagonal, theta), 1 - 1 / len(theta)
    answer, inverse = diagonal.inverse(common)
    # q_i, what row i gains without itself: of the kernel (1/F_ii − 1/(1 − 1/n))/θ,
    # 1/(Σθ − θ_i) of the intercept, whose part of Q is then 1/Σθ in every entry and
    # leaves no pair
    gain, others = answer / (inverse * centred), np.maximum(total - own, TINY)
    q = gain + 1 / others
    # F1 = 0: beside its diagonal F_ij = −θ_j Q_ij is −θ_j F_ii/(Σθ − θ_i) on average
    across = 1 / (total + own * gain * others) / l2
    F = 1 / (1 + own * q)
    return ColumnResponse(across, own * l2, q * F / l2, F)


def common_curvature(diagonal: KernelDiagonal, theta):
    """One ω/λ in the place of all: equal mean answers of rows that are left out."""
    # mean_j 1/(1/θ_j + q) = 1/(1/θ + q),  q = (1/F − 1)/θ at the mean F of θ
    on = theta > 0
    common = np.exp(np.mean(np.log(theta[on])))
    for _ in range(50):
        gain, F = diagonal.mean(common)
        q = gain / F
        answer = np.sum(1 / (1 / theta[on] + q)) / len(theta)
        common, last = 1 / (1 / answer - q), common
        if abs(common - last) <= 1e-9 * last:
            break
    return common
