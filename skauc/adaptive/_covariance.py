"""Covariance models of a data set, as in section 2 of the folder."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.optimize import isotonic_regression
from scipy.special import gammaln

from ..statistics._moments import class_moments, positive_eigen
from ..statistics._row_blocks import dense
from ._scatter import GRAM_RANK, Scatter

_STRENGTHS = np.append(2.0 ** np.arange(-4, 6), 1e4)  # tried values of a/P
_FOLDS = 5
_ENOUGH = 200  # after so many rows left out, no further fold is decomposed
_MANY_ROWS = 20  # with more rows per feature, the sample's own variances are used
_FLOOR = 1e-6  # smallest variance in units of the largest


@dataclass(frozen=True, eq=False)
class Covariance:
    """A covariance with the eigenvectors of the scatter, and the noise of d under it.

    Parameters
    ----------
    values : ndarray of shape (r + 1,)
        Mean of the two classes' variances along each eigenvector; the last one is
        that in the null space.
    noise : ndarray of shape (r + 1,)
        Variance of d along the same directions.
    df : float
        Degrees of freedom of the variance of a direction.
    multiplicity : ndarray of shape (r + 1,)
        1 for each eigenvector, and the effective dimension of the null space.
    """

    values: np.ndarray
    noise: np.ndarray
    df: float
    multiplicity: np.ndarray

    @classmethod
    def of_classes(cls, variances, scatter, df) -> Covariance:
        """From the variances (2, r + 1) of both classes."""
        neg, pos = variances
        # ℓ = (σ₀² + σ₁²)/2,   η = (σ₀²/n₀ + σ₁²/n₁) ν/(ν − 2)
        noise = (neg / scatter.n_neg + pos / scatter.n_pos) * scatter.excess
        return cls((neg + pos) / 2, noise, df, scatter.multiplicity)


def inverse_wishart(scatter: Scatter) -> Covariance:
    """Posterior mean of Σ under ``IW(asI, P + 1 + a)``, a and s of largest evidence."""
    n, P = scatter.n, scatter.n_features
    lam = np.append(scatter.values, 0.0)
    multiplicity = scatter.multiplicity
    a = _STRENGTHS * P
    scale = _best_scale(a, lam, multiplicity, n)
    kappa, total = P + 1 + a, scale[:, None] + lam
    # log p(W | a, s) = log Γ_P((κ+n−2)/2)/Γ_P(κ/2) + κ/2 log|S| − (κ+n−2)/2 log|S + W|
    evidence = (
        _log_multigamma_ratio(kappa / 2, n - 2, P)
        + kappa / 2 * P * np.log(scale)
        - (kappa + n - 2) / 2 * (np.log(total) @ multiplicity)
    )
    best = int(np.argmax(evidence))
    # posterior mean (as + λ)/(a + n − 2)
    variance = total[best] / (a[best] + n - 2)
    # both classes share the shape of the covariance; tr Σ_c/tr Σ is the size of each
    variances = np.outer(scatter.spread, variance)
    return Covariance.of_classes(variances, scatter, float(a[best] + n))


def cross_validated(scatter: Scatter, rows, prior: Covariance) -> Covariance | None:
    """Variances of rows left out along the eigenvectors of the other rows.

    None if a class has fewer than three distinct rows. ``prior``, the inverse Wishart,
    gives the degrees of freedom.
    """
    if not scatter.by_rows and rows.n > _MANY_ROWS * rows.shape[1]:
        variances = _sample_variances(scatter, rows)
    else:
        variances = _left_out_variances(scatter, rows)
    if variances is None:
        return None
    # no variance may be 0, because the evidence divides by the noise
    variances = np.maximum(variances, _FLOOR * variances.max())
    return Covariance.of_classes(variances, scatter, prior.df)


def of_random_labels(scatter: Scatter, rows, prior: Covariance) -> Covariance:
    """Covariance by the noise of d under labels that ignore the rows.

    ``prior``, the inverse Wishart, gives the degrees of freedom.
    """
    n, h = scatter.n, scatter.n_neg * scatter.n_pos / scatter.n
    # rows around the common mean in the coordinates V and that of d outside of them
    d = np.append(scatter.b, np.sqrt(scatter.energy[-1]))
    offset = np.where(rows.positive, scatter.n_neg, -scatter.n_pos) / n
    S = np.outer(offset, d)
    S[:, :-1] += _coordinates(scatter, rows)
    S *= np.sqrt(rows.weight)[:, None]
    # their scatter T = W + h d dᵀ, and √h d = T^½u with |u| = 1
    values, Q = linalg.eigh(S.T @ S, check_finite=False)
    values, m = np.maximum(values, GRAM_RANK * values[-1]), len(values)
    # random labels turn u; typically all u_k² are 1/m
    typical = np.sqrt(values / m)
    V = linalg.eigh(np.diag(values) - np.outer(typical, typical), check_finite=False)[1]
    variances = isotonic_regression(((typical @ V) ** 2)[1:]).x
    # in the null space (√h d)² is 1/q, q = uᵀT⁻¹u: mean and relative variance of q
    mean = (1 / values).mean()
    apart = 1 / values - mean
    diagonal = (S @ Q / np.sqrt(values)) ** 2 @ apart
    spread = 2 * apart @ apart + (n / h - 6) * (diagonal**2 @ (1 / rows.weight))
    spread /= (m * mean) ** 2
    # a sum of squares of D normal numbers has the relative variance 2/D
    D = np.clip(2 / max(spread, 1e-300), 1, scatter.multiplicity[-1])
    variances = np.append(variances, (1 + spread) / mean / D)
    # E T = (n − 2 + excess) Σ, because only d dᵀ has the excess
    variances *= m / (n - 2 + scatter.excess)
    variances = np.maximum(variances, _FLOOR * variances.max())
    noise, multiplicity = variances / h * scatter.excess, np.append(np.ones(m - 1), D)
    return Covariance(variances, noise, prior.df, multiplicity)


def _best_scale(a, lam, multiplicity, n):
    """``as`` of largest evidence for each a, a concave problem, by bisection."""
    P = multiplicity.sum()
    kappa = P + 1 + a
    # with dependent features the evidence may grow down to 0
    low = np.full(len(a), np.log(_FLOOR * lam.max()))
    high = np.full(len(a), np.log(lam.max()) + 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        size = np.exp(middle)[:, None]
        # d/d log(as):  κP/2 − (κ + n − 2)/2 Σ as/(as + λ) = 0
        share = (size / (size + lam)) @ multiplicity
        rising = kappa * P > (kappa + n - 2) * share
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.exp((low + high) / 2)


def _log_multigamma_ratio(x, df, P):
    """``log Γ_P(x + df/2) − log Γ_P(x)`` of the multivariate gamma function."""
    n_terms, more, less = P, x + df / 2, x
    if df < P and df == int(df):
        # Γ_P is a product of P gamma functions in steps of ½: all but df of them cancel
        n_terms, less = int(df), x + (df - P) / 2
    steps = np.arange(n_terms) / 2
    return np.sum(gammaln(more[:, None] - steps) - gammaln(less[:, None] - steps), -1)


def _sample_variances(scatter, rows):
    """Sample variances of both classes along the eigenvectors, of shape (2, r + 1)."""
    if min(scatter.n_neg, scatter.n_pos) <= 2:
        return None
    scores = np.asarray(rows.X @ (scatter.inverse_scale[:, None] * scatter.basis))
    classes = class_moments(scores, rows.positive, rows.weight, featurewise=True)
    return np.array([np.append(part.covariance, 0.0) for part in classes])


def _left_out_variances(scatter, rows):
    """Variances of rows left out, averaged over folds at equal shares of the rank."""
    # squares along eigenvectors do not depend on the coordinates
    make, d = _standardised, scatter.d
    if scatter.by_rows:
        make, d = _coordinates, scatter.b
    rows = replace(rows, X=make(scatter, rows))
    fold = _folds(rows, d)
    if fold is None:
        return None
    shares = _even(len(scatter.values))
    total, size = 0.0, np.zeros(2)
    for k in range(fold.max() + 1):
        training, left_out = rows[fold != k], rows[fold == k]
        if size.sum() >= _ENOUGH:
            break
        total += _squares_left_out(training, left_out, scatter.n_features, shares)
        size += left_out.n_neg, left_out.n_pos
    variances = total / size[:, None]
    # variances must increase with the eigenvalues: take the nearest such sequence
    for values in variances:
        values[:-1] = isotonic_regression(values[:-1]).x
    return variances if variances.max() > 0 else None


def _coordinates(scatter, rows):
    """Centred standardised rows in at most min(n, P) coordinates, unweighted."""
    if scatter.by_rows:  # R V = U Λ^½, T = √weight U Λ^{−½}
        return scatter.basis * (scatter.values / rows.weight[:, None])
    return _standardised(scatter, rows) @ scatter.basis


def _standardised(scatter, rows):
    """Centred standardised rows."""
    rows = replace(rows, X=dense(rows.X))
    return _deviations(rows, rows) * scatter.inverse_scale


def _folds(rows, d):
    """Balanced folds by the values of the rows, so that their order does not matter.

    Rows are sorted by ``|r|² ± rᵀd`` within their class. Equal rows share a fold, and
    swapped classes give the same folds. Each fold holds rows of both classes and leaves
    two distinct ones of each; None if a class has fewer than three.
    """
    key = np.einsum("ij,ij->i", rows.X, rows.X) + rows.sign * (rows.X @ d)
    fold = np.empty(len(key), dtype=np.int64)
    ranks = []
    for mask in (~rows.positive, rows.positive):
        order = np.flatnonzero(mask)[np.argsort(key[mask])]
        differs = np.diff(key[order]) > 1e-9 * np.abs(key).max()
        ranks.append((order, np.append(0, np.cumsum(differs))))
    distinct = min(rank[-1] + 1 for _, rank in ranks)
    if distinct < 3:
        return None
    K = min(_FOLDS, distinct)
    for order, rank in ranks:
        # 0, 1, …, K − 1, K − 1, …, 0: no fold gets the larger keys every time
        turn = rank % K
        fold[order] = np.where(rank // K % 2, K - 1 - turn, turn)
    return fold


def _squares_left_out(training, left_out, n_features, shares):
    """Sums of squares of the rows left out of a fold, of each class, (2, r + 1)."""
    # A holds √w (x − x̄_c) of the training rows, so that AᵀA is their scatter
    A = _deviations(training, training) * np.sqrt(training.weight)[:, None]
    left = _deviations(left_out, training)
    squares = _squares_along(A, left)
    rest = np.maximum(np.einsum("ij,ij->i", left, left) - squares.sum(axis=1), 0.0)
    # Var(x − x̄_c) = (1 + 1/n_c) Σ, n_c and x̄_c of the training rows
    size = np.where(left_out.positive, training.n_pos, training.n_neg)
    sides = ~left_out.positive, left_out.positive
    weight = left_out.weight / (1 + 1 / size) * np.array(sides)
    # folds differ in rank: interpolate at equal shares of the rank
    at = _even(squares.shape[1])
    along = [np.interp(shares, at, values) for values in weight @ squares]
    # mean square per dimension of the null space
    rest = weight @ rest / max(n_features - len(at), 1)
    return np.column_stack([along, rest])


def _squares_along(A, left):
    """Squares of rows along the eigenvectors of ``AᵀA``, with ascending eigenvalues."""
    if len(A) >= A.shape[1]:
        _, V = positive_eigen(A.T @ A)
        return (left @ V) ** 2
    # AᵀA v = λv with v = Aᵀu/√λ and AAᵀu = λu: the smaller matrix
    values, U = positive_eigen(A @ A.T, GRAM_RANK)
    return (left @ A.T @ U) ** 2 / values


def _deviations(rows, training):
    """The rows less the weighted means of their classes in the training rows."""
    X, weight, positive = training.X, training.weight, training.positive
    pos = (weight * positive) @ X / training.n_pos
    neg = (weight * ~positive) @ X / training.n_neg
    return rows.X - np.where(rows.positive[:, None], pos, neg)


def _even(rank):
    """Positions of r eigenvalues as shares of the rank: ``(k − ½)/r``."""
    return (np.arange(rank) + 0.5) / rank
