"""How scores answer when rows are taken out of a penalised linear model.

The fit minimised ``Σ c_i loss(z_i) + (λ/2)‖w‖²`` with ``z = Xw + b``. With
``g_i = c_i loss'(z_i)``, ``ω_i = c_i loss''(z_i)`` and the Hessian H,

    Q = X̃ H⁻¹ X̃ᵀ,   F = I − Q diag(ω).

Q says how scores answer to forces on the scores and F how much of a row's force is
left. In the space of the rows they come from a factor of ``B = I + √ωXXᵀ√ω/λ``
(:mod:`._response_by_kernel`), n³/3 a model, and where there are many from those of a
sample of the rows (:mod:`._rows_of_pairs`).

Under a strong penalty the fitted scores are of nearly one size, and so are their
curvatures: one stands for all (:mod:`._one_curvature`), with a decomposition of the
kernel that is the same for all models of 500 to 2000 rows but the first, which has no
need of it.

Of more than 1000 sparse rows whose curvatures are near to one, and of more than 2000 in
any case, products with the rows take the place of K (:mod:`._response_by_products`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from ..statistics._moments import project_samples
from ..statistics._numerics import TINY, centred_gram
from ._losses import loss_derivatives
from ._objective import ask_again, made
from ._one_curvature import eigen, response_of_one, response_of_one_curvature
from ._pair_response import PairResponse, sides
from ._pairs import sample_rows
from ._response_by_kernel import response_by_kernel
from ._response_by_products import (
    PRODUCT_ROWS,
    kernel_diagonal,
    response_by_products,
)
from ._rows_of_pairs import KernelMoments, left_out, pair_rows, wide_rows
from ._sparse_optimum import KERNEL_ROWS, SingleKernel

# From so many rows on one curvature stands for all where those not 0 spread by
# less than this share. Logistic regression, 520 × 800 and 1000 × 1500 normal, t(3),
# common factors, clusters, text, 40 to 50 % positives: the AUC is off by .0001 (root
# mean square; .0004 at most) up to .5, by .0010 (.0028) up to 1. Its standard error is
# .015 to .022, and a factorisation of 1000 rows takes 4 times as long, a
# decomposition as long as ten.
_ONE_CURVATURE_ROWS, _ONE_CURVATURE = 500, 0.5
_LARGE_ROWS, _OF_LARGE = 1000, 1.0
_FLAT_ROWS = 0.25  # of all, up to which they are taken out again
# of all, up to which products are near enough: 1500 topical texts, squared hinge, with
# .01 without curvature the AUC is off by .0001, .03 .001, .04 .005
_FEW_FLAT_ROWS = 0.03
# λ over what one curvature makes of a row's square. Ridge, 600 × 3000 normal: with 3e-4
# the AUC is that of double precision, with 3e-7 it is 1
_LEAST_SHARE = 1e-4
# Of the classes' mean curvatures, what they may differ: 20 % positives that vary along
# 20 features of their own, .13 the AUC is off by .005, .16 .009, .5 .03
_SAME_IN_CLASSES = 0.1
# Of kernels, 82 and 41 MB; the eigenvectors of the adaptive prior are as large, and
# more than 256 MB in all would be computed anew for every model.
_KEPT_ROWS = 3200
_EIGEN_ROWS = 2000  # more: a decomposition takes longer than 20 factorisations
_MANY_ROWS = 500  # of which a sample forms the pairs
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
    response : PairResponse or ColumnResponse
    """
    if len(positive) > DUAL_ROWS and X.shape[1] < len(positive):
        return _feature_space(X, positive, fit, weight)
    z, g, curvature = fit.slopes(X, positive)
    K = cache(lambda: kernel_of(X, fit, remember))  # once, if that is not kept
    if hasattr(X, "toarray") and len(positive) > PRODUCT_ROWS:
        rows, counted = pair_rows(X, positive, weight, remember)
        if _is_near_enough(curvature):
            name = "diagonal of kernel", X.shape[0]
            diagonal = remember(name, lambda: kernel_diagonal(X, rows))
            found = response_by_products(diagonal, rows, curvature / fit.l2, fit.l2)
            return rows, counted, z[rows], found
        found = _of_kernel(K(), fit, curvature, rows, positive[rows], remember)
        return rows, counted, z[rows], found
    n, first = len(positive), []

    def moments_of_kernel():
        first.append(True)
        return KernelMoments.of(K(), weight)

    if n >= _MANY_ROWS:
        name = "moments of kernel", n, fit.intercept_scaling
        moments = remember(name, moments_of_kernel)
        alpha = moments.without_a_row(curvature, fit.l2, weight)
        rows, counted = wide_rows(left_out(alpha, z, g, weight), positive, weight)
    else:
        rows, counted = sample_rows(z, positive, weight)
    asked = rows, positive[rows], remember
    suits = _suits_one_curvature(X, fit, curvature, positive)
    if suits and _has_digits(moments, fit.l2, curvature):
        found = _of_one_curvature(K, fit, curvature, alpha, *asked, bool(first))
    else:
        found = _of_kernel(K(), fit, curvature, *asked)
    return rows, counted, z[rows], found


def _of_one_curvature(K, fit, curvature, alpha, rows, positive, remember, first):
    """The response of one curvature that stands for all.

    Of the first model it is a factorisation, ten of which take as long as what later
    models share.
    """
    bent, classes = curvature > 0, sides(positive)

    def factorised(one):
        return _of_kernel(K(), fit, one * bent, rows, positive, remember)

    def decomposed(one):
        name = "eigen", len(bent), fit.intercept_scaling
        known = remember(name, lambda: eigen(K()))
        return response_of_one_curvature(*known, fit, one, curvature, rows, *classes)

    respond = factorised if first else decomposed
    return response_of_one(respond, alpha, curvature, rows, *classes)


def _of_kernel(K, fit, curvature, rows, positive, remember):
    """The response of every row's own curvature."""
    single = _single(K, fit, remember)
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
    return K, _single(K, fit, remember)


def _single(K, fit, remember):
    """None of few rows."""
    n = len(K)
    if n < KERNEL_ROWS:
        return None
    name = "single kernel", n, fit.intercept_scaling
    keep = remember if n <= _KEPT_ROWS else ask_again
    return keep(name, lambda: SingleKernel.of(K))


def is_held(fit, X, positive, remember=ask_again):
    """Whether w is what the forces of the rows hold, ``λw = −X̃ᵀg``, but for 2 %.

    Under a weak penalty the slopes of separated rows are tiny, and a solver may stop
    before they are those of its optimum, which leave-pair-out relies on.
    """
    # asked of the optimum, and again by the pairs that are left out of it
    return fit.kept("held", X, positive, lambda: _is_held(fit, X, positive, remember))


def _is_held(fit, X, positive, remember):
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


def _suits_one_curvature(X, fit, curvature, positive):
    """Whether one stands for the curvatures of dense rows, or of few sparse ones."""
    n = len(curvature)
    if not _ONE_CURVATURE_ROWS <= n <= _EIGEN_ROWS:
        return False
    spread = _ONE_CURVATURE if n < _LARGE_ROWS else _OF_LARGE
    if not (_is_one(curvature, spread) and _is_one_for_classes(curvature, positive)):
        return False
    return not _is_drowned(X, fit.intercept_scaling)


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


def _has_digits(moments, l2, curvature):
    """Whether single precision holds F of one curvature, ``λ/(λ + ω̄Λ)``.

    Along the mean of centred rows it is 1, and that is taken off.
    """
    return l2 > _LEAST_SHARE * np.mean(curvature) * np.mean(moments.diagonal)


def _is_drowned(X, scaling):
    """Whether the column of a penalised intercept takes the digits of the others."""
    if not 0 < scaling < np.inf:
        return False
    some = X[:: X.shape[0] // _ONE_CURVATURE_ROWS + 1]
    entries = some.data if hasattr(X, "toarray") else some
    square = np.linalg.norm(entries.ravel("K")) ** 2 / some.shape[0]
    return scaling**2 > _LARGEST_COLUMN * square


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
