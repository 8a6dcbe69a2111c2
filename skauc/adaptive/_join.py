"""How a model of the data set and a second source become one posterior of an AUC.

Sections 6 and 7 of :mod:`skauc.adaptive`; everything in probits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

# Sources: table of constants in skauc.adaptive.
MISFIT = 0.1  # s₀; .05 is equal, .2 costs MAE .064 (.016) on few signals
CONTRADICTION = 2.0  # standard deviations that z may lie above m
CONTRAST = 0.5  # w_c; loss by choice equal from .3 to .7, on few signals .80 at 0
SHARED = 0.75  # of what reference models are off by, another model is
ENOUGH_REFITS = 20  # R at which a second source may say w_c of the contrasts
_BOUND = 8.0  # probits beyond 1 − 6e-16 of the model only drown the second source
_WAY = np.linspace(0, 1, 65)[1:, None]  # places between m and z
_FLAT = 4.0  # probits beyond which V/φ² grows without telling more


@dataclass(frozen=True)
class Joined:
    """Estimate, its standard deviation, what candidates are ranked by; in probits.

    ``weight`` is w, how much of the way from the model to the second source the
    estimate goes.
    """

    estimate: float
    deviation: float
    choice: float
    weight: float


@dataclass(frozen=True)
class Level:
    """What the model is off by on reference models (section 7).

    Parameters
    ----------
    disagreement : float
        Mean of ``z_l − m_l``.
    shift : float
        Mean of ``w_l (z_l − m_l)``.
    weight : float
        Mean of w_l.
    misfit : float
        Mean of t_l².
    probit : float
        Mean of m_l.
    """

    disagreement: float
    shift: float
    weight: float
    misfit: float
    probit: float

    def along(self, difference) -> Level:
        """For a direction along which the class means differ so much: its sign."""
        if difference >= 0:
            return self
        return replace(
            self,
            disagreement=-self.disagreement,
            shift=-self.shift,
            probit=-self.probit,
        )

    def share(self, m) -> float:
        """How much of the shift a model with the probit m is off by.

        A spread that is taken for too small, or a difference for too large, is a factor
        of the probits: who says less says less too much. A signal that is not seen adds
        to all.
        """
        if self.shift * self.probit >= 0:
            return 1.0
        return float(np.clip(m / self.probit, 0.0, 1.0))


def probit_of(auc, n):
    """``Φ⁻¹((a n + ½)/(n + 1))``: finite where an AUC of n rows is 0 or 1."""
    return ndtri((np.asarray(auc) * n + 0.5) / (n + 1))


def density(z):
    """φ(z)."""
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def probit_of_mean(mean, variance):
    """``Φ⁻¹ E Φ(Z)`` of a normal Z, bounded."""
    # E Φ(Z) = Φ(M/√(1 + V))
    return _within(mean / np.sqrt(1 + variance), _BOUND)


def _within(x, bound):
    return np.minimum(np.maximum(x, -bound), bound)  # of a number faster than np.clip


def pooled(first, second):
    """M and s_m² of the half-and-half mixture of two nulls, each (mean, variance)."""
    one, two = probit_of_mean(*first), probit_of_mean(*second)
    # Mean of the variances, and the variance of a coin between the two means
    variance = (first[1] + second[1]) / 2 + (one - two) ** 2 / 4
    return (one + two) / 2, variance


def auc_variance(probit, n_neg, n_pos):
    """Hanley and McNeil's variance at Φ(probit).

    The mean of their formula and of that with the classes exchanged (as Newcombe 2006
    does), so that which class is called positive does not matter.
    """
    A, B = ndtr(probit), ndtr(-probit)
    # A/(2 − A) − A² = A B²/(2 − A) and 2A²/(1 + A) − A² = A² B/(1 + A).
    among = A * B * (B / (1 + B) + A / (1 + A))
    # [A(1 − A) + (n/2 − 1)(P_xxy − A² + P_xyy − A²)]/(n₀n₁)
    return (A * B + ((n_neg + n_pos) / 2 - 1) * among) / (n_neg * n_pos)


def source_variance(probit, n_neg, n_pos):
    """:func:`auc_variance` in probits, by the delta method."""
    return auc_variance(probit, n_neg, n_pos) / density(probit) ** 2


def misfit(m, s_m2, z, n_neg, n_pos, *, excess=1.0, sign=1.0):
    """t²: s₀², or the least at which z is two standard deviations above m.

    A model that sees less than the rows left out has missed more than s₀. Models of
    fewer rows, which score those, may well be worse: z below m contradicts nothing.
    z is judged as under any hypothesis, by s_b² at m. ``sign`` is that of xᵀd: above
    is further that way.
    """
    # t² + s_m² + s_b²(m) = ((z − m)₊/2)²: then z is two standard deviations above m
    above = np.maximum(sign * (np.asarray(z) - m), 0)
    source = excess * source_variance(_within(m, _BOUND), n_neg, n_pos)
    return np.maximum(MISFIT**2, (above / CONTRADICTION) ** 2 - s_m2 - source)


def join(
    m, s_m2, z, n_neg, n_pos, *, n_refits=ENOUGH_REFITS, excess=1.0, sign=1.0
) -> Joined:
    """Posterior from the model and a second source of one candidate.

    Parameters
    ----------
    m, s_m2 : float
        Probit of the model, and its variance.
    z : float
        Probit of the second source.
    n_neg, n_pos : float
    n_refits : float, default=20
        Refits behind z.
    excess : float, default=1.0
        Variance of z as a multiple of Hanley and McNeil's.
    sign : {1.0, -1.0}, default=1.0
        Of the difference of the class means along the direction.

    Returns
    -------
    Joined
    """
    # t² + s_m²
    model = s_m2 + misfit(m, s_m2, z, n_neg, n_pos, excess=excess, sign=sign)
    weight = _weight(m, model, z, n_neg, n_pos, excess)
    estimate = m + weight * (z - m)
    deviation = _deviation(estimate, weight, model, n_neg, n_pos, excess)
    return Joined(estimate, deviation, choice_of(m, z, n_refits), weight)


def choice_of(m, z, n_refits=ENOUGH_REFITS) -> float:
    """What candidates are ranked by, from the model and a second source of R refits."""
    # w_c = ½ min(1, R/20): contrasts between candidates of few refits are mostly noise
    return m + CONTRAST * min(1.0, n_refits / ENOUGH_REFITS) * (z - m)


def reference_level(m, s_m2, z, n_neg, n_pos) -> Level:
    """Level from L reference models: m, s_m² and the source z of each, (L,)."""
    m, s_m2, z = np.asarray(m), np.asarray(s_m2), np.asarray(z)
    # t_l², w_l and z_l − m_l of every reference model
    missed = misfit(m, s_m2, z, n_neg, n_pos)
    weight = _weight(m, missed + s_m2, z, n_neg, n_pos)
    apart = z - m
    shift = np.mean(weight * apart)
    means = apart.mean(), shift, weight.mean(), missed.mean(), m.mean()
    return Level(*map(float, means))


def join_level(m, s_m2, level: Level, n_neg, n_pos) -> Joined:
    """Posterior of a candidate that has no second source of its own.

    What the data set does to all models is shared, what it does to the reference
    models alone is not. Its choice is that of a candidate whose source disagrees as
    theirs do, so that candidates with and without a source can be ranked in one search.
    """
    estimate = m + SHARED * level.share(m) * level.shift
    weight = SHARED * level.weight
    choice = m + CONTRAST * level.disagreement
    model = level.misfit + s_m2
    deviation = _deviation(estimate, weight, model, n_neg, n_pos)
    return Joined(estimate, deviation, choice, weight)


def alone(m, s_m2) -> Joined:
    """Posterior of a model that nothing is set against: s₀ = 0, w = 0."""
    # s = (2 − w)(w s_b + (1 − w)√(t² + s_m²)) at w = 0, t = 0
    return Joined(m, 2 * np.sqrt(s_m2), m, 0.0)


def _weight(m, model, z, n_neg, n_pos, excess=1.0):
    """``w = model/(model + s_b²)``, s_b² at z or where a source says more on the way.

    s_b² grows faster than z where an AUC is near 1: ``w (z − m)`` would fall again, and
    a better source would lower the estimate. So it is the largest of
    ``w(z')(z' − m)``, z' between m and z.
    """
    there = _within(m + _WAY * (z - m), _BOUND)
    # z' = m + share (z − m):  w(z')(z' − m)/(z − m)
    said = _WAY * model / (model + excess * source_variance(there, n_neg, n_pos))
    weight = said.max(axis=0)
    return weight if np.ndim(m) else float(weight[0])


def _deviation(estimate, weight, model, n_neg, n_pos, excess=1.0):
    bounded = _within(estimate, _FLAT)
    source = np.sqrt(excess * source_variance(bounded, n_neg, n_pos))
    # s = (2 − w)(w s_b + (1 − w)√(t² + s_m²)), s_b at the estimate
    return (2 - weight) * (weight * source + (1 - weight) * np.sqrt(model))
