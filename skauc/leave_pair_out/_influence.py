"""How scores answer when rows are taken out of a penalised linear model.

The fit minimised ``Σ c_i loss(z_i) + (λ/2)‖w‖²`` with ``z = Xw + b``. With
``g_i = c_i loss'(z_i)``, ``ω_i = c_i loss''(z_i)`` and the Hessian H,

    Q = X̃ H⁻¹ X̃ᵀ,   F = I − Q diag(ω).

Q says how scores answer to forces on the scores and F how much of a row's force is
left. In the space of the rows they come from a factor of ``B = I + √ωXXᵀ√ω/λ``
(:mod:`._response_by_kernel`), n³/3 a model, and where there are many from those of a
sample of the rows (:mod:`._rows_of_pairs`).

Under a strong penalty the fitted scores are of nearly one size, and so are their
curvatures: with their geometric mean ω̄ in the place of ω and ``XXᵀ = UΛUᵀ``, once for
all models of 500 to 2000 rows,

    F̄ = U diag(λ/(λ + ω̄Λ)) Uᵀ,   Q̄ = (I − F̄)/ω̄,

of which only the rows S of the pairs are needed. Rows T without curvature (beyond the
margin of a squared hinge) are taken out again, ``Q = Q̄ + ω̄ Q̄_ST F̄_TT⁻¹ Q̄_TS``.

Of more than 1000 sparse rows whose curvatures are near to one, and of more than 2000 in
any case, products with the rows take the place of K (:mod:`._response_by_products`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ..statistics._moments import project_samples
from ..statistics._numerics import TINY, centred_gram
from ._losses import loss_derivatives
from ._objective import ask_again, made
from ._pair_response import PairResponse, sides
from ._pairs import sample_rows
from ._response_by_kernel import response_by_kernel
from ._response_by_products import (
    PRODUCT_ROWS,
    kernel_diagonal,
    response_by_products,
)
from ._rows_of_pairs import KernelMoments, pair_rows, wide_rows
from ._sparse_optimum import SingleKernel

# From so many rows on one curvature stands for all where those not 0 spread by
# less than this share. Logistic regression, 520 × 800 and 1000 × 1500 normal, t(3),
# common factors, clusters, text, 40 to 50 % positives: the AUC is off by .0001 (root
# mean square; .0004 at most) up to .5, by .0010 (.0028) up to 1. Its standard error is
# .015 to .022, and a factorisation of 1000 rows takes 4 times as long.
_ONE_CURVATURE_ROWS, _ONE_CURVATURE = 500, 0.5
_LARGE_ROWS, _OF_LARGE = 1000, 1.0
_FLAT_ROWS = 0.25  # of all, up to which they are taken out again
# of all, up to which products are near enough: 1500 topical texts, squared hinge, with
# .01 without curvature the AUC is off by .0001, .03 .001, .04 .005
_FEW_FLAT_ROWS = 0.03
_ITERATIONS = 20  # of ω̄
# Of the classes' mean curvatures, what they may differ: 20 % positives that vary along
# 20 features of their own, .13 the AUC is off by .005, .16 .009, .5 .03
_SAME_IN_CLASSES = 0.1
# Of kernels, 82 and 41 MB; the eigenvectors of the adaptive prior are as large, and
# more than 256 MB in all would be computed anew for every model.
_KEPT_ROWS = 3200
_EIGEN_ROWS = 2000  # more: a decomposition takes longer than 20 factorisations
_MANY_ROWS = _SINGLE_ROWS = 500
_SPARSE_ROWS = 2000  # sparse, up to which a kernel may be formed
# 500 × 1000 and 500 × 3000, logistic regression, C from 10⁻⁴ to 10⁴: the AUC is off by
# .002 at most where up to .03 of the force are not those of the optimum, by .09 with
# .14, by .6 with .8 (all of it: C = 100). Rounding of the sum is less than the second.
_HELD, _LEAST_FORCE = 0.02, 1e-12
# Numbers of a kernel whose product takes as long as that with one entry of the rows and
# of their transpose: 500 × 50 000 texts of 76 words 37 µs, with the rows 83
_DENSE_ENTRIES = 10
_LARGEST_COLUMN = 1e3  # of a row's square: three digits of the seven
DUAL_ROWS = 300  # up to here everything happens in the space of the rows
_HESSIAN_ROWS = 2000  # rows that are enough for the Hessian when n ≫ P


def influence(X, positive, fit, weight, remember=ask_again):
    """Rows that form the pairs, their counts and scores, and their response.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    fit : PenalisedFit
    weight : ndarray of shape (n,)
        Positive frequency weights.
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone for the next fit.

    Returns
    -------
    rows : ndarray of int of shape (k,)
    counted, z : ndarray of shape (k,)
    response : PairResponse
    """
    if len(positive) > DUAL_ROWS and X.shape[1] < len(positive):
        return _feature_space(X, positive, fit, weight)
    z = project_samples(X, fit.w) + fit.intercept
    g, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    if hasattr(X, "toarray") and len(positive) > PRODUCT_ROWS:
        rows, counted = pair_rows(X, positive, weight, remember)
        if _is_near_enough(curvature):
            name = "diagonal of kernel", X.shape[0]
            diagonal = remember(name, lambda: kernel_diagonal(X, rows))
            theta, some = curvature / fit.l2, positive[rows]
            found = response_by_products(diagonal, rows, theta, fit.l2, some)
            return rows, counted, z[rows], found
        found = _of_kernel(X, fit, curvature, rows, positive[rows], remember)
        return rows, counted, z[rows], found
    n = len(positive)
    if n >= _MANY_ROWS:
        name = "moments of kernel", n, fit.intercept_scaling
        moments = remember(
            name, lambda: KernelMoments.of(kernel_of(X, fit, remember), weight)
        )
        sizes = z, g, curvature, fit.l2
        rows, counted = wide_rows(moments, *sizes, positive, weight)
    else:
        rows, counted = sample_rows(z, positive, weight)
    many = _ONE_CURVATURE_ROWS <= n <= _EIGEN_ROWS
    spread = _ONE_CURVATURE if n < _LARGE_ROWS else _OF_LARGE
    many = many and _is_one(curvature, spread)
    many = many and _is_one_for_classes(curvature, positive)
    if many and not _is_drowned(X, fit.intercept_scaling):
        name = "eigen", X.shape[0], fit.intercept_scaling
        eigen = remember(name, lambda: _eigen(kernel_of(X, fit, remember)))
        parts = *sides(positive[rows]), moments.own()
        found = _response_of_one_curvature(*eigen, fit, curvature, rows, *parts)
        return rows, counted, z[rows], found
    found = _of_kernel(X, fit, curvature, rows, positive[rows], remember)
    return rows, counted, z[rows], found


def _of_kernel(X, fit, curvature, rows, positive, remember):
    """The response of every row's own curvature."""
    K, single = kernels_of(X, fit, remember)
    theta = curvature / fit.l2
    found = response_by_kernel(K, theta, fit.free, rows, positive, single)
    Q_ij, Q_pos, Q_neg = (Q / fit.l2 for Q in (found.Q_ij, found.Q_pos, found.Q_neg))
    return replace(found, Q_ij=Q_ij, Q_pos=Q_pos, Q_neg=Q_neg)


def _is_near_enough(curvature):
    """Whether products with sparse rows are, or are all that there is room for.

    One curvature stands for all: where some have none, or they differ much, a kernel is
    better as long as there is one.
    """
    n = len(curvature)
    flat = np.count_nonzero(curvature == 0) / n
    return n > _SPARSE_ROWS or (flat <= _FEW_FLAT_ROWS and _is_one(curvature))


def kernel_of(X, fit, remember=ask_again):
    """The :func:`kernel`, kept for the next fit of these rows if they are not many."""
    n = X.shape[0]
    if n > _KEPT_ROWS:
        return kernel(made(X), fit)
    name = "kernel", n, fit.intercept_scaling
    return remember(name, lambda: kernel(made(X), fit))


def kernels_of(X, fit, remember=ask_again):
    """The kernel, and if it is one of many rows the same in single precision."""
    K = kernel_of(X, fit, remember)
    n = len(K)
    if n < _SINGLE_ROWS:
        return K, None
    name = "single kernel", n, fit.intercept_scaling
    keep = remember if n <= _KEPT_ROWS else ask_again
    return K, keep(name, lambda: SingleKernel.of(K))


def is_held(fit, X, positive, remember=ask_again):
    """Whether w is what the forces of the rows hold, ``λw = −X̃ᵀg``, but for 2 %.

    Under a weak penalty the slopes of separated rows are tiny, and a solver may stop
    before they are those of its optimum, which leave-pair-out relies on.
    """
    z, g, _ = fit.slopes(X, positive)
    g = g - g.mean() if fit.free else g
    if hasattr(X, "toarray") or X.shape[0] > _KEPT_ROWS:
        force = X.T @ g
        pull, left = force @ force, force + fit.l2 * fit.w
        return left @ left <= _HELD**2 * pull
    pull = g @ (kernel_of(X, fit, remember) @ g)
    own = pull
    if 0 < fit.intercept_scaling < np.inf:
        own = pull - (fit.intercept_scaling * g.sum()) ** 2
    # |λw + X̃ᵀg|², wᵀX̃ᵀg = (z − b)ᵀg
    left = fit.l2**2 * (fit.w @ fit.w) + 2 * fit.l2 * (g @ (z - fit.intercept)) + own
    return left <= _HELD**2 * own + _LEAST_FORCE * pull


def kernel_at_hand(X, fit, remember=ask_again):
    """The kernel of few sparse rows, if it costs less than products with them."""
    n, P = X.shape
    few = P > n and n <= PRODUCT_ROWS and n**2 <= _DENSE_ENTRIES * X.nnz
    return kernel_of(X, fit, remember) if few else None


def kernel(X, fit):
    """``X̃X̃ᵀ``: rows less their mean if the intercept is free, or with its column."""
    K = gram_matrix(X, centred=fit.free)
    if 0 < fit.intercept_scaling < np.inf:
        K += fit.intercept_scaling**2
    return K


def _eigen(K):
    """Eigenvalues and vectors of a kernel, in single precision: a half of the work.

    The kernel is in units of its largest square, which single precision may not hold.
    """
    unit = _unit(K.diagonal().max())
    K = (K / unit).astype(np.float32)
    # Rounding may leave eigenvalues of a positive semidefinite kernel below 0
    values, vectors = linalg.eigh(K, overwrite_a=True, driver="evd")
    return unit * np.maximum(values, 0).astype(float), vectors


def _unit(size):
    """A power of four near a size: it and its root divide without rounding."""
    return np.ldexp(1.0, 2 * (int(np.frexp(max(size, TINY))[1]) // 2))


def _is_one(curvature, spread=_ONE_CURVATURE):
    """Whether one curvature may stand for all that are not 0."""
    on = curvature[curvature > 0]
    if len(on) < (1 - _FLAT_ROWS) * len(curvature):
        return False
    return np.std(on) <= spread * np.mean(on)


def _is_one_for_classes(curvature, positive):
    """The same for those of both classes, whose features may not vary alike."""
    means = [curvature[c & (curvature > 0)] for c in (positive, ~positive)]
    if min(map(len, means)) == 0:
        return False
    low, high = sorted(map(np.mean, means))
    return high - low <= _SAME_IN_CLASSES * low


def _is_drowned(X, scaling):
    """Whether the column of a penalised intercept takes the digits of the others."""
    if not 0 < scaling < np.inf:
        return False
    some = X[:: X.shape[0] // _ONE_CURVATURE_ROWS + 1]
    entries = some.data if hasattr(X, "toarray") else some
    square = np.linalg.norm(entries.ravel("K")) ** 2 / some.shape[0]
    return scaling**2 > _LARGEST_COLUMN * square


def _one_curvature(values, fit, curvature, own):
    """ω̄ that takes as many degrees of freedom as the curvatures of these rows.

    ``Σ α_i ω̄/(1 + ω̄α_i) = Σ α_i ω_i/(1 + ω_iα_i)``. α_i is x̃ᵢᵀH⁻¹x̃ᵢ without the row
    itself: in the ratios of ``own``, and so that ``α_i/(1 + ω̄α_i)`` has the mean of
    Q̄'s diagonal.
    """
    one, n, alpha = np.mean(curvature), len(values), np.maximum(own, TINY)
    alpha = alpha * (np.mean(values) / fit.l2)
    for _ in range(_ITERATIONS):
        q = np.mean(values / (fit.l2 + one * values))
        q += 1 / (n * one) if fit.free else 0.0
        # Newton's steps in the logarithms of α and of ω̄
        left = 1 / (1 + one * alpha)
        alpha = alpha * _factor(q - np.mean(alpha * left), np.mean(alpha * left**2))
        left = 1 / (1 + one * alpha)
        taken = curvature * alpha / (1 + curvature * alpha)
        missing = np.mean(taken - one * alpha * left)
        one *= _factor(missing, np.mean(one * alpha * left**2))
    return float(one)


def _factor(missing, slope):
    return np.exp(np.clip(missing / max(slope, TINY), -1, 1))


def _response_of_one_curvature(values, vectors, fit, curvature, rows, pos, neg, own):
    """Response of some rows, curvatures that are not 0 at the one that stands for all.

    ``pos`` and ``neg`` say which of the rows are; ``own``: the size of every row.
    """
    bent = curvature > 0
    one = _one_curvature(values, fit, curvature[bent], own[bent])
    at_one = _OneCurvature.of(values, vectors, fit, one)
    i, j = rows[pos], rows[neg]
    # a row is in one class: none is in both
    Q_ij = at_one.product(i, j, 0.0)
    Q, F = at_one.diagonals(rows)
    flat, on = np.flatnonzero(curvature == 0), curvature[rows] > 0
    if len(flat):
        # Without the curvature ω̄ of the rows T (Woodbury): Q = Q̄ + ω̄ Q̄_ST F̄_TT⁻¹ Q̄_TS
        # and, between rows that keep it, F = F̄ − ω̄² Q̄_ST F̄_TT⁻¹ Q̄_TS
        Q_ST = at_one.product(rows, flat, rows[:, None] == flat)
        inside = np.linalg.solve(at_one.inverse(flat), Q_ST.T)
        more = np.einsum("kt,tk->k", Q_ST, inside)
        Q_ij = Q_ij + one * (Q_ST[pos] @ inside[:, neg])
        # A row without curvature has the column of I
        Q, F = Q + one * more, np.where(on, F - one**2 * more, 1.0)
    F_ij = -one * Q_ij
    F_ji = F_ij if on[pos].all() else F_ij * on[pos][:, None]
    F_ij = F_ij if on[neg].all() else F_ij * on[neg]
    return PairResponse(Q_ij, F_ij, F_ji, Q[pos], Q[neg], F[pos], F[neg])


@dataclass(frozen=True, eq=False)
class _OneCurvature:
    """F̄ and Q̄ of one curvature ω̄: whichever may be small is ``U diag(share) Uᵀ``.

    F̄ where ``is_inverse``. ``common`` is what a free intercept adds to Q̄.
    """

    share: np.ndarray
    vectors: np.ndarray
    one: float
    is_inverse: bool
    common: float

    @classmethod
    def of(cls, values, vectors, fit, one):
        is_inverse = one * values.max() > fit.l2
        share = (fit.l2 if is_inverse else values) / (fit.l2 + one * values)
        # e = F1 is 1: the rows are centred, and the kernel is empty along them
        common = 1 / (one * len(vectors)) if fit.free else 0.0
        return cls(share, vectors, one, is_inverse, common)

    def product(self, a, b, unit):
        """Q̄ between rows, ``unit`` what I is there."""
        if self.is_inverse:
            inside = self._between(a, b, -1 / self.one)
            inside += unit / self.one
        else:
            inside = self._between(a, b)
        inside += self.common
        return inside

    def inverse(self, a):
        """F̄ among rows."""
        inside = self._between(a, a)
        if not self.is_inverse:
            inside = np.eye(len(a)) - self.one * inside
        return inside - self.one * self.common

    def diagonals(self, a):
        """Those of Q̄ and F̄, (k,) each."""
        unit, share = self._shares()
        square = self.vectors[a]
        square *= square
        inside = unit * (square @ share).astype(float)
        Q, F = (1 - inside) / self.one, inside
        if not self.is_inverse:
            Q, F = inside, 1 - self.one * inside
        return Q + self.common, F - self.one * self.common

    def _between(self, a, b, factor=1.0):
        unit, share = self._shares()
        half = self.vectors[a]
        half *= share
        inside = (half @ self.vectors[b].T).astype(float)
        inside *= factor * unit
        return inside

    def _shares(self):
        # they may be beyond what single precision holds
        unit = _unit(self.share.max())
        return unit, (self.share / unit).astype(self.vectors.dtype)


def gram_matrix(X, centred):
    """``XXᵀ``, of the rows less their mean if centred; shape (n, n)."""
    mean = np.asarray(X.mean(axis=0)).ravel() if centred else None
    return centred_gram(X, mean)[0]


def _feature_space(X, positive, fit, weight):
    """Rows, scores, Q and F through the (P + 1)×(P + 1) Hessian, for n ≫ P.

    The correction itself vanishes like P/n: for very many rows the Hessian is that of
    an even sample of them, in the order of the scores.
    """
    z = project_samples(X, fit.w) + fit.intercept
    (rows, counted), some = sample_rows(z, positive, weight), np.arange(len(z))
    most = max(_HESSIAN_ROWS, 20 * X.shape[1])
    if len(z) > 2 * most:
        order = np.argsort(z, kind="stable")
        # An even sample, each row for n/most of them
        some = order[np.linspace(0, len(z) - 1, most).round().astype(int)]
    _, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    penalty = np.full(X.shape[1], float(fit.l2))
    centre = np.asarray(X[some].mean(axis=0)).ravel() if fit.free else 0.0
    if fit.intercept_scaling > 0:
        penalty = np.append(penalty, fit.intercept_penalty)

    def block(which):
        part = X[which].toarray() if hasattr(X, "toarray") else X[which].astype(float)
        part = part - centre
        if fit.intercept_scaling > 0:
            part = np.column_stack([part, np.ones(len(part))])
        return part

    A = block(some)
    H = (A.T * (curvature[some] * (len(z) / len(some)))) @ A + np.diag(penalty)
    # In units of each feature's curvature, for a factor of any scale; 1e-13: rounding
    unit = 1 / np.sqrt(np.maximum(np.diag(H), TINY))
    H = H * unit * unit[:, None] + 1e-13 * np.eye(len(H))
    # numpy's solver throughout: its threads and scipy's get into each other's way.
    half = np.linalg.solve(np.linalg.cholesky(H), (block(rows) * unit).T)
    # H = LLᵀ:  Q = A H⁻¹ Aᵀ = (L⁻¹Aᵀ)ᵀ(L⁻¹Aᵀ),   F = I − Q diag(ω)
    Q = half.T @ half
    F = Q * -curvature[rows]
    F[np.diag_indices_from(F)] += 1
    return rows, counted, z[rows], PairResponse.of(Q, F, positive[rows])
