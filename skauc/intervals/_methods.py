"""Methods for the interval of one AUC, in one registry.

A method turns a ``Sample`` into a standard error, from which limits follow on a
transformed scale (section 2 of :mod:`skauc.intervals`), or computes its own limits. To
add one, add one entry to ``METHODS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..statistics._checks import check_integer, generator
from ..statistics._levels import balanced_variance, hanley_mcneil_variance
from ._limits import score_limits, wald_limits
from ._resampling import resampled_weights

_NO_TAIL = 1e-300  # stands for a tail of 0, whose quantile is infinite


@dataclass(frozen=True)
class Method:
    """A method: ``error(sample, **options)``, and perhaps limits of its own."""

    error: Callable
    own_limits: Callable | None = None
    needs_two: bool = False  # rows of each class
    options: tuple[str, ...] = ()

    def limits(self, sample, tails, transform, **options):
        """Return ``(low, high)``; logit is the default scale."""
        if self.own_limits is not None:
            return self.own_limits(sample, *tails, **options)
        known = sample.auc, self.error(sample), sample.smaller
        return wald_limits(*known, *tails, transform or "logit")


def _newcombe(sample):
    return lambda auc: balanced_variance(auc, *sample.sizes)


def score_variance(sample):
    """The larger of Newcombe's variance and DeLong's, ``V̂ A(1 − A)/{Â(1 − Â)}``."""
    newcombe, largest, scale = _newcombe(sample), sample.auc * (1 - sample.auc), 0.0
    # a class of one row has no estimated variance
    if sample.smaller >= 2 and largest > 0:
        scale = sample.delong_variance / largest
    return lambda a: np.maximum(newcombe(a), a * (1 - a) * scale)


def _score(variance_of):
    """Method that inverts ``|Â − A| ≤ z √V(A)``, V = ``variance_of(sample)``."""

    def limits(sample, tail_low, tail_high):
        return score_limits(sample.auc, variance_of(sample), tail_low, tail_high)

    return Method(lambda s: np.sqrt(variance_of(s)(s.auc)), limits)


def _drawn_aucs(sample, n_resamples=9999, random_state=0):
    """The AUC, and the AUCs of stratified resamples, sorted.

    A resample is a multinomial draw of the number of times that each score (or block of
    scores) occurs, and needs no sort.
    """
    number = check_integer("n_resamples", n_resamples, 2, 10**8)
    blocks, rng = sample.levels.coarse(), generator(random_state)
    counts = blocks.neg, blocks.pos
    drawn = [blocks.auc_of(*w) for w in resampled_weights(counts, number, rng)]
    observed = blocks.auc_of(*(count.astype(float) for count in counts))
    return observed, np.sort(np.concatenate(drawn))


def _bootstrap(sample, **options):
    return _drawn_aucs(sample, **options)[1].std(ddof=1)


def _bca_limits(sample, tail_low, tail_high, **options):
    """BCa limits (section 4); the jackknife is closed, ``A₍₋ᵢ₎ − A ∝ A − V_i``."""
    auc, drawn = _drawn_aucs(sample, **options)
    # a = Σ u³/n³ / 6(Σ u²/n²)^1.5, u = V − A, over the rows of both classes
    skew = spread = 0.0
    levels = sample.levels
    for v, count in zip(levels.placements, (levels.neg, levels.pos), strict=True):
        u, n = v - sample.auc, float(count.sum())
        skew += count @ u**3 / n**3
        spread += count @ u**2 / n**2
    if spread == 0:  # nothing to resample: section 2
        return wald_limits(sample.auc, 0.0, sample.smaller, tail_low, tail_high, "none")
    acceleration = skew / (6 * spread**1.5)
    # z₀ = Φ⁻¹(share of draws below A, ties ½), kept finite
    below = ((drawn < auc).mean() + (drawn <= auc).mean()) / 2
    bias = ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))

    # p = Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))), or beyond the pole the outermost draw
    z = ndtri(np.maximum([tail_low, tail_high], _NO_TAIL))
    shift = bias + z * [1, -1]
    stretch = 1 - acceleration * shift
    p = np.where(stretch > 0, ndtr(bias + shift / np.abs(stretch)), shift > 0)
    low, high = np.quantile(drawn, p)
    return (low if tail_low else 0.0), (high if tail_high else 1.0)


METHODS = {
    "score": _score(score_variance),
    "hanley_mcneil_score": _score(_newcombe),
    "delong": Method(lambda s: np.sqrt(s.delong_variance), needs_two=True),
    "hanley_mcneil": Method(lambda s: np.sqrt(hanley_mcneil_variance(s.auc, *s.sizes))),
    "bootstrap": Method(
        _bootstrap, _bca_limits, needs_two=True, options=("n_resamples", "random_state")
    ),
}
