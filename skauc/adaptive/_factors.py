"""A few strong factors in white noise: probabilistic principal components.

Section 2 of :mod:`skauc.adaptive`. Tipping & Bishop (1999),
https://doi.org/10.1111/1467-9868.00196. The evidence of their number is Minka's (2000,
"Automatic choice of dimensionality for PCA", Advances in Neural Information Processing
Systems 13), for P > n, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

# Numbers of factors that are tried: up to 12, and a third of the eigenvalues; where
# there are 20 the inverse Wishart has the evidence
_MOST, _SHARE = 12, 3
_WIDTH = np.log(1e4)  # of the prior of log ℓ_i: four decades; eight are .7 nats more


@dataclass(frozen=True, eq=False)
class Factors:
    """The covariance of q factors in white noise that fits a scatter W best.

    Parameters
    ----------
    log_evidence : float
        log p(W), up to the constant that an inverse Wishart leaves out, too.
    noise : float
        σ².
    values : ndarray of shape (r,)
        Variances along the eigenvectors of W, ascending as these.
    null : float
        Variance in the null space of W.
    """

    log_evidence: float
    noise: float
    values: np.ndarray
    null: float


def factors(values, n_null, df, q) -> Factors | None:
    """The q leading eigenvectors as factors: ``Σ = V diag(ℓ) Vᵀ + σ²(I − VVᵀ)``.

    V is uniform on the frames, log ℓ_i uniform, σ² at its maximum. W's frame has normal
    angles to V, of precision ``(1/σ² − 1/ℓ_i)(λ_i − λ_j)``; with D = P − q, m = df, i
    of factors and j of all other directions,

        log p(W) = −½ D(m − q)[log(2σ²) + 1] + ½ qD log π − ½ Σ_ij log(λ_i − λ_j)
                   + Σ_i log ∫ (2ℓ)^{−m/2} e^{−λ_i/2ℓ} (1 − σ²/ℓ)^{−D/2} dlog ℓ/width
                   − ½ Σ_{i<k} log[(1/ℓ_k − 1/ℓ_i)(λ_i − λ_k)/2π]
                   + log q! + Σ_{i≤q} [log Γ((P − i + 1)/2) − ½(P − i + 1) log π],

    ``σ² = Σ_j λ_j/D(m − q)``, the integral by Laplace around Lawley's ℓ,
    ``mℓ = λ − Dℓσ²/(ℓ − σ²)``, of his series what belongs to the noise. Angles move
    variance: along direction j it is ``σ² + Σ_i σ²ℓ_i/(λ_i − λ_j)``, and a factor has
    so much less. Left out: angles between factors, which make near equal ones more
    alike, and that ℓ is no mean, which is m/(m − 2) larger.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues of W that are not 0, ascending.
    n_null : int
        P − r.
    df : float
        m, the degrees of freedom of W.
    q : int

    Returns
    -------
    Factors or None
        None where a factor is lost in the noise: no real ℓ, or angles whose variances
        add up to more than 1.
    """
    P = len(values) + n_null
    D = P - q
    # The null space is n_null directions of eigenvalue 0
    other = np.append(values[:-q], [0.0] * (n_null > 0))
    many = np.append(np.ones(len(values) - q), [n_null] * (n_null > 0))
    strong = values[-q:]
    noise = other @ many / (D * (df - q))
    # mℓ² − (λ + (m − D)σ²)ℓ + λσ² = 0
    half = (strong + (df - D) * noise) / (2 * df)
    square = half**2 - strong * noise / df
    if not (square > 0).all() or not (half > 0).all():
        return None
    ell = half + np.sqrt(square)
    gap = np.subtract.outer(strong, other)
    if not gap.min() > 0 or not ell.min() > noise:
        return None
    moved = noise * ell[:, None] / gap
    if np.max(moved @ many / (ell - noise)) > 1:
        return None
    share = noise / ell
    # of the logarithm of the integrand in log ℓ: its maximum, and less its bend there
    peak = -df / 2 * np.log(2 * ell) - strong / ell / 2 - D / 2 * np.log1p(-share)
    bend = strong / ell / 2 - D / 2 * share / (1 - share) ** 2
    # at the edge of the noise there is no bend: no wider than the prior
    integral = peak + np.log(np.minimum(np.sqrt(2 * np.pi / bend) / _WIDTH, 1.0))
    left, right = np.triu_indices(q, 1)
    # of two equal factors, whose labels and signs are counted, an angle has room π/2
    precision = (1 / ell[left] - 1 / ell[right]) * (strong[right] - strong[left])
    angles = 0.5 * np.log(2 * np.pi / np.maximum(precision, 8 / np.pi))
    sizes = P - np.arange(q)
    frame = np.sum(gammaln(sizes / 2) - sizes / 2 * np.log(np.pi)) + gammaln(q + 1)
    log_evidence = (
        -D * (df - q) / 2 * (np.log(2 * noise) + 1)
        + q * D / 2 * np.log(np.pi)
        - 0.5 * np.sum(np.log(gap) @ many)
        + np.sum(integral)
        + np.sum(angles)
        + frame
    )
    more = noise + moved.sum(axis=0)
    along = np.append(more[: len(values) - q], ell - moved @ many)
    return Factors(float(log_evidence), float(noise), along, float(more[-1]))


def numbers_of_factors(n_values, df):
    """The numbers of factors that are tried."""
    return range(1, min(_MOST, n_values // _SHARE, int(df) // _SHARE) + 1)


def variance(square, ell, n_values, n_null, q, df):
    """``xᵀΣ̂x`` of q factors in noise, and its degrees of freedom (Satterthwaite's).

    Parameters
    ----------
    square : ndarray of shape (r [+ 1],)
        Squares of the coordinates of x, |x| = 1; the last one of the null space.
    ell : ndarray of shape (..., r [+ 1])
    n_values, n_null : int
        r and P − r.
    q : int or ndarray of int of shape (...)
    df : float
        m, those of a factor; the noise has D(m − q).

    Returns
    -------
    variance, df : ndarray of shape (...)
    """
    place, q = np.arange(np.shape(ell)[-1]), np.asarray(q)
    is_factor = (place >= n_values - q[..., None]) & (place < n_values)
    parts = square * ell
    total = parts.sum(axis=-1)
    white = np.where(is_factor, 0.0, parts).sum(axis=-1)
    # ½ Var xᵀΣx: m squares along a mix of factors, and by the unknown angles between
    # factor and noise twice their product over m; the noise alone has many
    of_noise = (n_values + n_null - q) * (df - q)
    doubt = (total**2 - white**2) / df + white**2 / of_noise
    return total, total**2 / doubt
