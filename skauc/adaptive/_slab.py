"""Few strong signals: a spike and a slab on decorrelated differences (section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

_KNOTS = 512  # functions of a difference are interpolated between so many values


@dataclass(frozen=True, eq=False)
class Knots:
    """Values at which functions of the differences are computed.

    ``Σ_j x_j f(ω_j)`` is the sum of f at the knots with the weights
    :meth:`gather` returns; f is interpolated, so that its cost does not depend on
    the number of features.
    """

    value: np.ndarray
    below: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, omega) -> Knots:
        """Knots even in asinh ω: even near 0, geometric far away."""
        low, high = np.arcsinh([omega.min(), omega.max()])
        value = np.sinh(np.linspace(low, high, _KNOTS))
        below = np.clip(np.searchsorted(value, omega) - 1, 0, _KNOTS - 2)
        step = np.maximum(np.diff(value)[below], np.finfo(float).tiny)
        above = np.clip((omega - value[below]) / step, 0, 1)
        return cls(value, below, above)

    def gather(self, x) -> np.ndarray:
        """Weights of the knots for the factors x of the features."""
        upper = np.bincount(self.below, x * self.above, minlength=_KNOTS)
        lower = np.bincount(self.below, x, minlength=_KNOTS) - upper
        return lower + np.roll(upper, 1)  # the last knot is below no feature


@dataclass(frozen=True, eq=False)
class Slab:
    """Posterior of ω under the slab, ``ω_j ~ (1 − π) 0 + π N(0, τ)``.

    Parameters
    ----------
    knots : Knots
    weight : ndarray of shape (n_components,)
        Of the pairs (π, τ) that are kept; adds up to 1.
    mean, variance : ndarray of shape (n_components, K)
        Of ω at the knots.
    """

    knots: Knots
    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def along(self, x) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of ``xᵀω`` in each component."""
        return (
            self.mean @ self.knots.gather(x),
            self.variance @ self.knots.gather(x**2),
        )


def slab_of(omega, total, log_prior, least) -> tuple[float, Slab]:
    """Log evidence of the slab relative to no signal, and the posterior of ω.

    Parameters
    ----------
    omega : ndarray of shape (P,)
        Decorrelated differences, of variance 1 where there is no signal.
    total : ndarray of shape (n_u,)
        ``E Σ ω_j²`` of each attainable AUC.
    log_prior : float
        Log prior mass of each attainable AUC.
    least : float
        Components of smaller posterior weight than this are dropped.
    """
    P, knots = len(omega), Knots.of(omega)
    # π = ½, ¼, … down to half a feature
    shares = 0.5 ** np.arange(1, max(int(np.log2(P)) + 1, 1) + 1)
    share, total = (a.ravel() for a in np.meshgrid(shares, total))
    tau = total / (share * P)
    # log N(ω; 0, τ + 1)/N(ω; 0, 1)
    ratio = 0.5 * np.multiply.outer(tau / (1 + tau), knots.value**2)
    ratio -= 0.5 * np.log1p(tau)[:, None]
    odds = ratio + np.log(share / (1 - share))[:, None]
    # Σ_j log[1 − π + π N₁/N₀] = Σ_j log(1 − π) + log(1 + odds)
    evidence = np.log1p(-share) * P + np.logaddexp(0, odds) @ knots.gather(np.ones(P))
    evidence += log_prior - np.log(len(shares))
    best = evidence.max()
    weight = np.exp(evidence - best)
    log_evidence = best + np.log(weight.sum())
    weight /= weight.sum()
    kept = weight > least
    weight, tau, odds = weight[kept] / weight[kept].sum(), tau[kept, None], odds[kept]
    # r = P(ω_j is a signal):  E ω = r k ω̂,  Var ω = r k + r(1 − r)(k ω̂)²
    r, k = expit(odds), tau / (1 + tau)
    shrunk = k * knots.value
    return log_evidence, Slab(
        knots, weight, r * shrunk, r * k + r * (1 - r) * shrunk**2
    )
