"""Refits of linear discriminants on many weightings of their rows, in closed form.

The direction is ``(RᵀR + Λ)⁻¹ d``: d the difference of the class means, R the drawn
rows less their class mean, each times the root of its count and of its class's weight
``a_c``, Λ diagonal. All of them change with the sample, Ledoit & Wolf's intensity and
the scales of the features included, as they do when the model is fitted again. With
m drawn rows a refit costs O(m·P·min(m, P)) and no P×P matrix where P > m:

    (RᵀR + Λ)⁻¹d = Λ⁻¹d − Λ⁻¹Rᵀ(I + RΛ⁻¹Rᵀ)⁻¹RΛ⁻¹d.

Without shrinkage and with more features than rows each model has its own convention:
discriminant analysis takes the pseudo-inverse, the Gaussian AUC the part of d in which
the rows do not vary at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..statistics._block_matrix import BlockMatrix
from ..statistics._moments import class_moments
from ..statistics._numerics import eigenvalue_cutoff
from ._objective import PenalisedFit
from ._smooth_refits import Refits

_NO_PENALTY = 1e-9  # of the scatter of a feature: half of the digits
_LEAST_SCATTER = 1e-6  # of a class's covariance: no digit of an AUC
_EPS = np.finfo(float).eps
_DENSE_NUMBERS = 2e7  # drawn rows of a sparse X may not be a larger block: 160 MB


@dataclass(frozen=True, eq=False)
class DiscriminantRule:
    """How a discriminant makes a covariance from its rows.

    Parameters
    ----------
    unbiased : bool
        Sum of the classes' unbiased covariances (the Gaussian AUC) instead of the
        mean of the classes' ML covariances, weighted by the priors (LDA).
    shrinkage : float or {"auto", "oas"}
        Weight of the diagonal target. LDA's ``"auto"`` is Ledoit & Wolf's for each
        class, on features of unit variance in that class.
    scaled : bool
        The target is the diagonal of the covariance instead of its mean.
    priors : ndarray of shape (2,), default=None
        Class shares of the rows if None.
    rank_tol : float, default=None
        Singular values of the scaled rows above it count (LDA by SVD).
    rank_df : int, default=0
        Taken from the number of rows by which their squares are divided.
    """

    unbiased: bool
    shrinkage: float | str
    scaled: bool
    priors: np.ndarray | None = None
    rank_tol: float | None = None
    rank_df: int = 0


def refit_discriminant(rule: DiscriminantRule, X, positive, counts, weight=None):
    """Refit a discriminant on every row of counts.

    Parameters
    ----------
    rule : DiscriminantRule
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    counts : ndarray of shape (n_boot, n)
    weight : ndarray of shape (n,), default=None
        Frequency weights, multiplied into the counts.

    Returns
    -------
    Refits or None
        None where X is sparse and its drawn rows would be too large a dense block.
        ``full`` are the scores of the rule on all rows.
    """
    X = _centred(X)
    if X is None:
        return None
    weight = np.ones(len(positive)) if weight is None else weight
    # The first is no sample: the rule on all rows
    samples = np.vstack([weight[None], counts * weight])
    scores = np.array([X @ _direction(rule, X, positive, c) for c in samples])
    converged = np.isfinite(scores).all(axis=1)
    return Refits(scores[1:], converged[1:], scores[0], bool(converged[0]))


def ridge_of_discriminant(rule: DiscriminantRule, X, positive, weight):
    """The ridge on labels ±1 whose coefficients are the direction, for n > P.

    With case weights ``a_c`` and features over ``√Λ`` its normal equations are those
    of ``(Σ_c a_c W_c + Λ)w ∝ d``.

    Parameters
    ----------
    rule, X, positive, weight
        As for :func:`refit_discriminant`.

    Returns
    -------
    A : ndarray of shape (n, P)
        Features of the ridge.
    fit : PenalisedFit
        Before its optimum: with coefficients 0.

    or None where :func:`refit_discriminant` returns None.
    """
    if isinstance(X, BlockMatrix) and isinstance(rule.shrinkage, str):
        X = X.made()  # an intensity asks for fourth powers of the rows
    if isinstance(X, BlockMatrix):
        classes = _classes_of_blocks(X, positive, weight)
    else:
        X = _centred(X)
        if X is None:
            return None
        classes = [_Class.of_rows(X, mask, weight) for mask in (~positive, positive)]
    a, penalty = (_gaussian_auc if rule.unbiased else _lda)(rule, classes)
    # an intensity of 1 would leave a class without weight in the ridge
    a = np.maximum(a, _LEAST_SCATTER / np.array([part.n for part in classes]))
    # diag Σ_c a_c W_c
    size = sum(s * p.n * p.variance for s, p in zip(a, classes, strict=True))
    varies = size > 0
    size = np.where(varies, size, size.mean() or 1.0)
    unit = np.sqrt(np.maximum(penalty, _NO_PENALTY * size))
    if rule.rank_tol is not None:  # the pseudo-inverse ignores the others
        unit = np.where(varies, unit, np.inf)
    if isinstance(X, BlockMatrix):
        n = np.array([part.n for part in classes])
        A = X.affine(n @ [part.mean for part in classes] / n.sum(), unit)
    else:
        A = X / unit
    # In features over √Λ the penalty is I: (Σ_c a_c W_c + I) with a_c as case weights
    c = weight * np.where(positive, a[1], a[0])
    return A, PenalisedFit("squared", 1.0, c, np.zeros(X.shape[1]), 0.0, np.inf)


def _centred(X):
    """Dense rows less their mean: far from the origin squares have no digits left."""
    if hasattr(X, "toarray"):
        if X.shape[0] * X.shape[1] > _DENSE_NUMBERS:
            return None
        X = X.toarray()
    return X - X.mean(axis=0)


def _direction(rule, X, positive, c):
    classes = [_Class.of_rows(X, mask, c) for mask in (~positive, positive)]
    d = classes[1].mean - classes[0].mean
    if rule.rank_tol is not None:
        return _by_svd(rule, classes, d)
    a, penalty = (_gaussian_auc if rule.unbiased else _lda)(rule, classes)
    R = _stacked(classes, a)
    if not rule.unbiased:
        return _solve(R, penalty, d)
    _, scale = _unbiased(rule, classes)
    # (RᵀR + Λ)⁻¹d in features over ``scale``: R/s, Λ/s², d/s, and the answer over s
    solve = _solve if penalty.any() else lambda R, _, d: _maximiser(R, d)
    return solve(R / scale, penalty / scale**2, d / scale) / scale


@dataclass(frozen=True, eq=False)
class _Class:
    """Rows drawn of one class: less their mean, their counts, size and variances."""

    rows: np.ndarray | None
    count: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def of_rows(cls, X, mask, c):
        on = np.flatnonzero(mask & (c > 0))
        rows, count = X[on], c[on]
        mean = count @ rows / count.sum()
        rows = rows - mean
        variance = count @ rows**2 / count.sum()
        return cls(rows, count, mean, _varying(variance, mean, len(on)))

    @property
    def n(self):
        return self.count.sum()


def _varying(variance, mean, n):
    """0 for what rounding leaves of a constant feature, scikit-learn's bound."""
    constant = variance <= n * _EPS * variance + (n * _EPS * mean) ** 2
    return np.where(constant, 0.0, variance)


def _classes_of_blocks(X, positive, weight):
    """The classes without their rows."""
    classes = []
    found = class_moments(X, positive, weight, featurewise=True)
    for mask, m in zip((~positive, positive), found, strict=True):
        variance = _varying(m.scatter / m.n, m.mean, mask.sum())
        classes.append(_Class(None, np.array([m.n]), m.mean, variance))
    return classes


def _lda(rule, classes):
    """a_c and Λ of ``Σ_c π_c [(1 − s_c) Σ_c + s_c T_c]``."""
    n = np.array([part.n for part in classes])
    priors = n / n.sum() if rule.priors is None else rule.priors
    if rule.shrinkage == "auto":
        found = [_ledoit_wolf(part) for part in classes]
        s = np.array([intensity for intensity, _ in found])
        targets = [target for _, target in found]
    else:
        s = np.full(2, float(rule.shrinkage))
        targets = [np.full(len(part.mean), part.variance.mean()) for part in classes]
    penalty = sum(
        prior * share * target
        for prior, share, target in zip(priors, s, targets, strict=True)
    )
    # Σ_c π_c(1 − s_c) W_c/n_c + Σ_c π_c s_c T_c
    return priors * (1 - s) / n, penalty


def _ledoit_wolf(part):
    """Intensity for a class on features of unit variance, and the target there."""
    scale = np.where(part.variance > 0, np.sqrt(part.variance), 1.0)
    n, P = part.n, len(scale)
    Z = part.rows / scale
    norms = np.einsum("np,np->n", Z, Z)
    # μ = tr S/P;  spread = ‖S − μI‖² = ‖S‖² − Pμ²
    mu = part.count @ norms / (n * P)
    square = _square_norm(np.sqrt(part.count / n)[:, None] * Z)
    spread = square - P * mu**2
    # (1/n²) Σ ‖z zᵀ − S‖² = (Σ‖z‖⁴/n − ‖S‖²)/n, the squared error of S
    noise = min((part.count @ norms**2 / n - square) / n, spread)
    return (noise / spread if noise > 0 else 0.0), mu * scale**2


def _gaussian_auc(rule, classes):
    """a_c and Λ of ``(1 − α)Σ + ατD``, Σ the sum of the unbiased covariances."""
    a = np.array([1 / (part.n - 1) for part in classes])
    variance, scale = _unbiased(rule, classes)
    tau = np.mean(variance / scale**2)
    alpha = rule.shrinkage
    if isinstance(alpha, str):
        R = _stacked(classes, a) / scale
        alpha = _intensity(alpha, R, np.concatenate([p.count for p in classes]), tau)
    # (1 − α) Σ_c W_c/(n_c − 1) + ατD, D the squared units, τ the mean diagonal
    return (1 - alpha) * a, alpha * tau * scale**2


def _unbiased(rule, classes):
    """Diagonal of Σ, and the unit of every feature."""
    # W_c/(n_c − 1), the class variances being W_c/n_c
    variance = sum(part.variance * part.n / (part.n - 1) for part in classes)
    if not rule.scaled:
        return variance, np.ones(len(variance))
    return variance, np.where(variance > 0, np.sqrt(variance), 1.0)


def _intensity(name, R, count, tau):
    """Ledoit & Wolf's or Chen et al.'s weight of the target, for the sum Σ."""
    n, P = count.sum(), R.shape[1]
    square = _square_norm(R)
    spread = square - P * tau**2
    if spread <= 0:
        return 0.0 if name == "auto" else 1.0
    if name == "oas":
        # Chen et al. without their terms in 2/P, as scikit-learn has it
        return min((square + (P * tau) ** 2) / ((n + 1) * spread), 1.0)
    norms = np.einsum("np,np->n", R, R) / count  # ‖z − z̄_c‖²/(n_c − 1)
    noise = count @ norms**2 - square / n
    return min(max(noise, 0.0) / spread, 1.0)


def _stacked(classes, a):
    return np.vstack(
        [
            np.sqrt(share * part.count)[:, None] * part.rows
            for part, share in zip(classes, a, strict=True)
        ]
    )


def _square_norm(R):
    """``‖RᵀR‖²`` (Frobenius), from the smaller of the two products."""
    product = R @ R.T if len(R) <= R.shape[1] else R.T @ R
    return float(np.einsum("ij,ij->", product, product))


def _solve(R, penalty, d):
    """``(RᵀR + Λ)⁻¹d``; the pseudo-inverse where that is singular."""
    if np.all(penalty > 0) and len(R) < len(d):
        half = R / penalty
        # Woodbury: I + RΛ⁻¹Rᵀ, in as many dimensions as rows
        inner = half @ R.T
        inner.reshape(-1)[:: len(R) + 1] += 1.0
        inside = linalg.cho_solve(linalg.cho_factor(inner, lower=True), half @ d)
        return d / penalty - half.T @ inside
    values, V = linalg.eigh(R.T @ R + np.diag(penalty))
    kept = values > eigenvalue_cutoff(values)
    return V[:, kept] @ (V[:, kept].T @ d / values[kept])


def _row_eigen(R):
    """Eigenvalues of RᵀR that are not 0, ascending, with their vectors."""
    _, s, Vt = linalg.svd(R, full_matrices=False)
    return s[::-1] ** 2, Vt[::-1].T


def _by_svd(rule, classes, d):
    """Pseudo-inverse on features of unit pooled variance, as scikit-learn's SVD."""
    n = np.array([part.n for part in classes])
    R = _stacked(classes, np.full(2, 1 / n.sum()))
    variance = sum(part.n * part.variance for part in classes) / n.sum()
    scale = np.where(variance > 0, np.sqrt(variance), 1.0)
    _, s, Vt = linalg.svd(R / scale, full_matrices=False)
    # s² are eigenvalues of a covariance divided by n, the bound is one of n − rank_df
    kept = s * np.sqrt(n.sum() / (n.sum() - rule.rank_df)) > rule.rank_tol
    return Vt[kept].T @ (Vt[kept] @ (d / scale) / s[kept] ** 2) / scale


def _maximiser(R, d):
    """``Σ⁻¹d``; where d leaves the range of Σ, the part of d that does."""
    root = np.ones(len(d))
    if len(d) < len(R):  # condition it; with more features d leaves the range anyway
        root = np.sqrt(np.einsum("np,np->p", R, R))
        root[root == 0] = 1.0
    R, d = R / root, d / root
    if R.shape[1] < len(R):
        values, V = linalg.eigh(R.T @ R)
    else:
        values, V = _row_eigen(R)
    # Eigenvalues of RᵀR round by P·eps of the largest; what d has outside of the others
    # must be a millionth of it to be more than their rounding
    kept = values > 16 * len(d) * _EPS * values[-1]
    V, values = V[:, kept], values[kept]
    # d = (part in the range of Σ) + outside, along which no row varies
    inside = V.T @ d
    outside = d - V @ inside
    if np.linalg.norm(outside) > 1e-6 * np.linalg.norm(d):
        return outside / root
    return V @ (inside / values) / root
