"""Q and F among some rows, from the kernel of all of them.

With λ = 1, ``K = X̃X̃ᵀ`` and curvatures ω, ``Q = K − K√ω B⁻¹ √ωK``, ``B = I + √ω K √ω``,
and ``√ωQ√ω = I − B⁻¹``. Rows N that are not asked, S the rest, leave

    K' = K_SS − K_SN √ω (I + √ω K_NN √ω)⁻¹ √ω K_NS

in the place of the kernel: that of S beside rows N that stay. It costs a Cholesky
factor, in single precision where that has the digits; the inverse of the small B that
is left, in double precision, has Q and F. They come **from B⁻¹** wherever ωK is not
tiny: for separable rows under a weak penalty F is of order 1e-6, and the difference
``I − Qω`` has no digits left.

A free intercept b adds ``ε εᵀ/t`` to Q and takes ``ε (ωε)ᵀ/t`` from F, with
``ε = (I + Kω)⁻¹1`` and ``t = ωᵀε``. Any number may be added to K before, as
a penalised intercept would: with one of its size B is not nearly singular along 1,
where K of centred rows is 0.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ._pair_response import PairResponse, sides

# that are not asked, from which single precision takes half the time
_SINGLE_ROWS = 300
# Of a row's kernel, what is left of it beside the others at least: three of the seven
# digits. 1000 × 1100 normal rows: Q and F are right to 1e-4, and the AUC to 1e-6
_ROOM = 1e4
_SLACK = 1e-6  # ω K up to which √ωQ√ω = I − B⁻¹ loses digits


def response_by_kernel(K, curvature, free, rows, positive, single=None):
    """Q and F of the pairs among some rows, λ = 1.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    curvature : ndarray of shape (n,)
    free : bool
        Whether there is an intercept without a penalty, and K is of centred rows.
    rows : ndarray of int of shape (k,)
        A row may be asked more than once.
    positive : ndarray of bool of shape (k,)
    single : SingleKernel, default=None
        The kernel in single precision, if it is at hand.

    Returns
    -------
    PairResponse
    """
    asked, place = np.unique(rows, return_inverse=True)
    once = len(asked) == len(rows)
    asked = rows if once else asked
    shift = float(K.diagonal().mean()) if free else 0.0
    w, away = curvature[asked], curvature > 0
    away[asked] = False
    others = np.flatnonzero(away)
    question = curvature, asked, others, shift
    found = None
    if single is not None and len(others) >= _SINGLE_ROWS:
        found = _inverse_beside(K, *question, single)
    kernel, e, t, inverse, on = found or _inverse_beside(K, *question)
    intercept = (e, t) if free else None
    # √ωQ√ω = I − B⁻¹ where it has digits
    firm = w * kernel.diagonal() > _SLACK
    pos, _ = sides(positive)
    if once and firm.all() and isinstance(pos, slice):
        return _of_pairs(inverse, w, pos.start, intercept)
    Q, F = _of_all(kernel, w, inverse, on, firm, intercept)
    if not once:
        Q, F = Q[np.ix_(place, place)], F[np.ix_(place, place)]
    return PairResponse.of(Q, F, positive)


def _inverse_beside(K, curvature, asked, others, shift, single=None):
    """K', ``e = 1 − K_SN√ωB⁻¹√ω1``, ``t = 1ᵀ√ωB⁻¹√ω1`` of N, and B⁻¹ of K'.

    None where single precision loses digits.
    """
    kernel = K.take(asked, axis=0).take(asked, axis=1) + shift
    whole, e, t = kernel.diagonal().copy(), np.ones(len(asked)), 0.0
    if len(others):
        if single is None:
            found = _taken(K, curvature, asked, others, shift)
        else:
            unit = single.unit
            found = _taken(single.K, unit * curvature, asked, others, shift / unit)
        if found is None:
            return None
        taken, along, t = found
        if single is not None:
            taken, t = unit * taken, t / unit
        kernel -= taken
        e -= along
        if single is not None and np.any(_ROOM * kernel.diagonal() < whole):
            return None
    w = curvature[asked]
    inverse, on, least = _inverse(kernel, w)
    if single is not None and not _ROOM * least >= np.max(1 + w * whole):
        return None
    if not least > 0:
        raise linalg.LinAlgError("a kernel is not positive semidefinite")
    return kernel, e, t, inverse, on


def _taken(K, curvature, asked, others, shift):
    """What the others take of the kernel, and of 1; None where digits are lost."""
    s = np.sqrt(curvature[others]).astype(K.dtype)
    across = K.take(others, axis=0)
    B, toward = across.take(others, axis=1), across.take(asked, axis=1)
    for part in (B, toward):
        if shift:
            part += K.dtype.type(shift)
        part *= s[:, None]
    B *= s
    diagonal = B.reshape(-1)[:: len(B) + 1]
    diagonal += 1
    largest, single = diagonal.max(), K.dtype == np.float32
    if single and not largest < np.inf:
        return None
    try:
        L = linalg.cholesky(B.T, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        if single:
            return None
        raise
    if single and np.min(L.diagonal()) ** 2 * _ROOM < largest:
        return None
    toward = np.column_stack([toward, s])
    half = linalg.solve_triangular(
        L, toward, lower=True, overwrite_b=True, check_finite=False
    )
    # (K_SN√ω, 1ᵀ√ω) B⁻¹ (√ωK_NS, √ω1)
    taken = (half.T @ half).astype(float)
    return taken[:-1, :-1], taken[:-1, -1], taken[-1, -1]


def _inverse(K, w):
    """``B⁻¹ = (I + √ω K √ω)⁻¹`` of the rows with curvature, its lower triangle.

    And these rows, and the smallest square of the diagonal of B's factor: 0 for none.
    """
    on = np.flatnonzero(w > 0)
    if not len(on):
        return np.empty((0, 0)), on, np.inf
    s = np.sqrt(w[on])
    B = K.copy() if len(on) == len(K) else K.take(on, axis=0).take(on, axis=1)
    B *= s
    B *= s[:, None]
    B.reshape(-1)[:: len(B) + 1] += 1
    L, info = linalg.lapack.dpotrf(B.T, lower=1, overwrite_a=1)
    least = np.min(L.diagonal()) ** 2
    inverse = linalg.lapack.dpotri(L, lower=1, overwrite_c=1)[0]
    return inverse, on, 0.0 if info else least


def _of_pairs(inverse, w, first, intercept):
    """Q and F where every row has curvature and the first ones are the negatives."""
    s = np.sqrt(w)
    neg, pos = slice(0, first), slice(first, None)
    Q_ij = inverse[pos, neg] / -s[neg]
    Q_ij /= s[pos][:, None]
    F = inverse.diagonal()
    Q = (1 - F) / w
    if intercept is not None:
        e, t = intercept
        # ε = (I + Kω)⁻¹e: √ωε = B⁻¹√ωe
        y = linalg.blas.dsymv(1.0, inverse, s * e, lower=1)
        epsilon, t = y / s, t + (s * e) @ y
        Q_ij += np.multiply.outer(epsilon[pos], epsilon[neg] / t)
        Q, F = Q + epsilon**2 / t, F - w * epsilon**2 / t
    F_ij, F_ji = Q_ij * -w[neg], Q_ij * -w[pos][:, None]
    return PairResponse(Q_ij, F_ij, F_ji, Q[pos], Q[neg], F[pos], F[neg])


def _of_all(K, w, inverse, on, firm, intercept):
    """Q and F among all rows, whatever their curvatures are."""
    s, bent, slack = np.sqrt(w[on]), firm[on], np.flatnonzero(~firm)
    firm = np.flatnonzero(firm)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    block = inverse[np.ix_(bent, bent)] / -s[bent]
    block /= s[bent][:, None]
    block[np.diag_indices_from(block)] += 1 / w[firm]
    # Z = K√ωB⁻¹:  Q_sb = Z_sb/√ω_b,  Q_ss = K_ss − Z√ωK_s
    Z = K[np.ix_(slack, on)] * s @ inverse
    Q = np.empty_like(K)
    Q[np.ix_(firm, firm)] = block
    Q[np.ix_(slack, firm)] = Z[:, bent] / s[bent]
    Q[np.ix_(firm, slack)] = Q[np.ix_(slack, firm)].T
    across = s[:, None] * K[np.ix_(on, slack)]
    Q[np.ix_(slack, slack)] = K[np.ix_(slack, slack)] - Z @ across
    F_diagonal = 1 - Q.diagonal() * w
    F_diagonal[firm] = inverse.diagonal()[bent]
    if intercept is not None:
        e, t = intercept
        y = inverse @ (s * e[on])
        epsilon = e - K[:, on] @ (s * y)
        epsilon[firm] = y[bent] / s[bent]
        t = t + (s * e[on]) @ y
        if t > 0:
            Q += np.multiply.outer(epsilon, epsilon / t)
            F_diagonal -= w * epsilon**2 / t
    F = Q * -w
    F[np.diag_indices_from(F)] = F_diagonal
    return Q, F
