"""No signal, dense signals or few strong ones, by their evidence (sections 3, 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import poch, softmax

from ._covariance import Covariance
from ._scatter import Direction, Scatter

_GAMMAS = 0.0, 0.5, 1.0, 1.5, 2.0  # γ of dense signals δ ~ N(0, τΣ^γ)
_ATTAINABLE = 24  # number of values of the attainable AUC
_LEAST = 1e-4  # components of smaller posterior weight are dropped
_KNOTS = 512  # functions of ω are interpolated between so many values
_FARTHEST = 8.0  # largest probit of a posterior mean, in size


@dataclass(frozen=True, eq=False)
class Slab:
    """Posterior of ω under the slab, ``ω_j ~ (1 − π) 0 + π N(0, τ)``.

    Parameters
    ----------
    knots : ndarray of shape (K,)
        Values of ω at which the moments are known.
    below : ndarray of int of shape (P,)
        Knot below each ω_j.
    above : ndarray of shape (P,)
        Share of the next knot in a function that is interpolated at ω_j.
    weight : ndarray of shape (n_components,)
        Posterior weights of the pairs (π, τ); they add up to 1.
    mean, variance : ndarray of shape (n_components, K)
        Moments of ω at the knots.
    """

    knots: np.ndarray
    below: np.ndarray
    above: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def along(self, x) -> tuple:
        """Mean and variance of ``xᵀω`` in each component."""
        first, second = (_gather(self.below, self.above, part) for part in (x, x**2))
        return self.mean @ first, self.variance @ second


@dataclass(frozen=True, eq=False)
class Signals:
    """Posterior of the mean difference under one covariance.

    Parameters
    ----------
    covariance : Covariance
    shares : ndarray of shape (3,)
        Posterior mass of no signal, dense signals and few strong ones.
    weight : ndarray of shape (n_components,)
        Weights of the dense components; they add up to 1.
    shrink : ndarray of shape (n_components, r + 1)
        Shrinkage of d along the eigenvectors and in the null space.
    attainable : ndarray of shape (n_components,)
        Probit of the attainable AUC of the dense components.
    slab : Slab or None
    """

    covariance: Covariance
    shares: np.ndarray
    weight: np.ndarray
    shrink: np.ndarray
    attainable: np.ndarray
    slab: Slab | None

    def variance(self, direction: Direction) -> float:
        """Variance of the scores along a unit direction, averaged over both classes."""
        return float(self.covariance.values @ direction.squares)

    def dense_differences(self, scatter: Scatter, direction: Direction):
        """Posterior mean and variance of ``xᵀδ`` in each dense component."""
        products = direction.along * scatter.b
        rest = direction.difference - products.sum()  # share of the null space
        mean = self.shrink @ np.append(products, rest)
        return mean, self.shrink @ (self.covariance.noise * direction.squares)

    def components(self, scatter, direction, root):
        """Weight, mean and variance of the probit of the AUC in each component.

        ``root`` is ``N^½x``, N the covariance of the noise of d; see
        :func:`noise_power`.
        The components of no signal, dense and few strong signals follow each other.
        """
        none, dense, few = self.shares
        mean, spread = self.dense_differences(scatter, direction)
        parts = [(np.array([none]), np.zeros(1), np.zeros(1))]
        parts.append((dense * self.weight, mean, spread))
        if self.slab is not None:
            varies = scatter.inverse_scale > 0
            parts.append((few * self.slab.weight, *self.slab.along(root[varies])))
        weight, mean, spread = (np.concatenate(p) for p in zip(*parts, strict=True))
        # Z = (D √(χ²_df/df) + √v N)/(√2 σ), E √(χ²_df/df) = chi
        unit, df = 2 * self.variance(direction), self.covariance.df
        chi = poch(df / 2, 0.5) * np.sqrt(2 / df)
        variance = (mean**2 * max(1 - chi**2, 0.0) + spread) / unit
        return weight, mean * chi / np.sqrt(unit), variance


def signals_under(covariance, scatter, rows, power) -> Signals:
    """Weigh the three kinds of signal by the evidence of d."""
    attainable = attainable_probits(power)
    log_dense, weight, shrink, probit = _dense(covariance, scatter, attainable)
    log_few, slab = -np.inf, None
    if scatter.n_features > 1:
        # ω̂ = N^{−½}d of the features that vary, N the noise of d; normal scores
        (omega,) = noise_power(-0.5, [covariance], scatter, scatter.d, scatter.b, rows)
        omega = normal_scores(omega[scatter.inverse_scale > 0], scatter.n - 2)
        # E Σ ω² of each attainable AUC is 2Φ⁻¹(u)² in units of the noise
        m = covariance.multiplicity
        unit = (m @ covariance.noise) / scatter.excess / (m @ covariance.values)
        log_few, slab = slab_of(omega, 2 * attainable**2 / unit)
    # a third of the prior mass each; no signal is excluded where only dense ones are
    # tried, as for the single score of held-out rows
    evidence = np.array([0.0 if slab else -np.inf, log_dense, log_few])
    shares = softmax(evidence)
    return Signals(covariance, shares, weight, shrink, probit, slab)


def attainable_probits(power) -> np.ndarray:
    """Quantiles of the attainable AUC: ``P(Φ⁻¹(u) ≤ z) = (1 − e^{−z/2})^c``."""
    level = (np.arange(_ATTAINABLE) + 0.5) / _ATTAINABLE
    return -2 * np.log1p(-(level ** (1 / power)))


def noise_power(power, covariances, scatter, x, along, rows) -> np.ndarray:
    """``N^power x`` under several covariances, by one product with the rows.

    N is the covariance of the noise of d, and ``along`` is ``Vᵀx``; shape (k, P).
    """
    # N^p x = V diag(η^p − η₀^p) Vᵀx + η₀^p x, η₀ in the null space
    eta = np.array([c.noise / scatter.excess for c in covariances]) ** power
    rest = eta[:, -1:] if scatter.multiplicity[-1] else np.zeros((len(eta), 1))
    g = (eta[:, :-1] - rest) * along
    return rest * x + scatter.combine(g, rows)


def normal_scores(t, df) -> np.ndarray:
    """Normal scores with the tail probabilities of t values (Wallace 1959)."""
    df = max(df, 1.0)
    return (
        np.sign(t) * np.sqrt(df * np.log1p(t**2 / df)) * ((8 * df + 1) / (8 * df + 3))
    )


def probit_of(weight, mean, variance) -> tuple:
    """Probit of the mean AUC of a mixture, at most 8 in size, and the variance of Z."""
    # Var Z = E Var(Z | component) + Var E(Z | component)
    centre = weight @ mean
    total = float(weight @ (variance + (mean - centre) ** 2))
    # E Φ(Z) = Φ(M/√(1 + V))
    probit = np.clip(centre / np.sqrt(1 + total), -_FARTHEST, _FARTHEST)
    return float(probit), total


def _weigh(evidence):
    """Log of the mean evidence of components, which to keep, and their weights."""
    ratio = np.exp(evidence - evidence.max())
    log_evidence = evidence.max() + np.log(ratio.mean())
    kept = ratio > _LEAST * ratio.sum()
    return float(log_evidence), kept, ratio[kept] / ratio[kept].sum()


def _dense(covariance, scatter, attainable):
    """Log evidence of ``δ ~ N(0, τΣ^γ)`` relative to no signal, weights, shrinkage."""
    ell, noise = covariance.values, covariance.noise
    m, energy = covariance.multiplicity, scatter.energy
    evidence, shrink = [], []
    for gamma in _GAMMAS:
        # τ Σ ℓ^{γ−1} = 2Φ⁻¹(u)²
        shape = ell**gamma
        tau = 2 * attainable**2 / (m @ (shape / ell))
        signal = np.multiply.outer(tau, shape)
        k = signal / (signal + noise)
        # log Π N(b_i; 0, τℓ^γ + η)/N(b_i; 0, η) = ½ Σ [log(1 − k) + k b²/η], where
        # 1 − k = 1/(1 + τℓ^γ/η) also if k is rounded to 1
        evidence.append(0.5 * (k @ (energy / noise) - np.log1p(signal / noise) @ m))
        shrink.append(k)
    log_evidence, kept, weight = _weigh(np.concatenate(evidence))
    probits = np.tile(attainable, len(_GAMMAS))[kept]
    return log_evidence, weight, np.concatenate(shrink)[kept], probits


def slab_of(omega, total) -> tuple:
    """Log evidence of the slab relative to no signal, and the posterior of ω.

    Parameters
    ----------
    omega : ndarray of shape (P,)
        Decorrelated differences, of variance 1 where there is no signal.
    total : ndarray of shape (n_u,)
        ``E Σ ω_j²`` of each attainable AUC.
    """
    P, (knots, below, above) = len(omega), _knots(omega)
    # π = ½, ¼, … down to half a feature
    shares = 0.5 ** np.arange(1, max(int(np.log2(P)) + 1, 1) + 1)
    share, total = (a.ravel() for a in np.meshgrid(shares, total))
    tau = total / (share * P)
    # odds of a signal, π/(1 − π) N₁/N₀ of N₁ = N(ω; 0, τ + 1) and N₀ = N(ω; 0, 1)
    odds = np.multiply.outer(0.5 * tau / (1 + tau), knots**2)
    odds += (np.log(share / (1 - share)) - 0.5 * np.log1p(tau))[:, None]
    # Σ_j log[1 − π + π N₁/N₀] = Σ_j log(1 − π) + log(1 + odds)
    rest = np.exp(-np.abs(odds))
    rest = np.log1p(rest, out=rest) + np.maximum(odds, 0)
    evidence = np.log1p(-share) * P + rest @ _gather(below, above, np.ones(P))
    log_evidence, kept, weight = _weigh(evidence)
    # r = P(ω_j is a signal):  E ω = r k ω̂,  Var ω = r k + r(1 − r)(k ω̂)²
    r, k = -np.expm1(-rest[kept]), (tau / (1 + tau))[kept, None]
    shrunk = k * knots
    variance = r * k + r * (1 - r) * shrunk**2
    return log_evidence, Slab(knots, below, above, weight, r * shrunk, variance)


def _knots(omega):
    """Knots evenly spaced in asinh ω, the one below each ω_j, and the next one's share.

    They are evenly spaced near 0, and geometrically far away.
    """
    place = np.arcsinh(omega)
    even, apart = np.linspace(place.min(), place.max(), _KNOTS, retstep=True)
    knots, place = np.sinh(even), (place - even[0]) / (apart or 1.0)
    below = np.minimum(place.astype(np.int64), _KNOTS - 2)
    step = np.maximum(np.diff(knots)[below], np.finfo(float).tiny)
    return knots, below, np.clip((omega - knots[below]) / step, 0, 1)


def _gather(below, above, x):
    """Weights of the knots for which ``Σ_j x_j f(ω_j)`` is the sum of f at the knots.

    f is interpolated, so that its cost does not depend on the number of features.
    """
    upper = np.bincount(below, x * above, minlength=_KNOTS)
    lower = np.bincount(below, x, minlength=_KNOTS) - upper
    lower[1:] += upper[:-1]  # the last knot is below no feature
    return lower
