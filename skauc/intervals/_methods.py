"""Methods for the interval of one AUC, in one registry.

A method turns a ``Sample`` into a centre and a standard error, from which limits follow
on a transformed scale (section 2 of :mod:`skauc.intervals`), or computes its own
limits. To add one, add one entry to ``METHODS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import (
    check_either,
    check_integer,
    check_interval,
    check_option,
    generator,
    refuse_ignored,
)
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import NormalInverseWishart, projected_posterior
from ..statistics._levels import balanced_variance, hanley_mcneil_variance
from ..statistics._moments import Moments
from ._cortes_mohri import cortes_mohri_interval, cortes_mohri_moments
from ._limits import score_limits, wald_limits
from ._resampling import resampled_weights

_NO_TAIL = 1e-300  # stands for a tail of 0, whose quantile is infinite


@dataclass(frozen=True)
class Method:
    """A method: ``centre_and_error(sample, **options)``, or limits of its own.

    ``transform`` is the default scale, None for a method with limits of its own.
    """

    centre_and_error: Callable
    own_limits: Callable | None = None
    transform: str | None = "logit"
    needs_two: bool = False  # rows of each class
    options: tuple[str, ...] = ()

    def limits(self, sample, tails, transform, **options):
        """Return ``(low, high)``."""
        if self.own_limits is not None:
            return self.own_limits(sample, *tails, **options)
        centre, error = self.centre_and_error(sample)
        return wald_limits(centre, error, sample.smaller, *tails, transform)


def _around_auc(variance):
    """Method centred on the AUC, with an error from ``variance(sample)``."""
    return lambda sample, **_: (sample.auc, np.sqrt(variance(sample)))


def _moments(sample, method):
    """Moments of the scores of each class."""
    largest = max(np.abs(score).max() for score in sample.scores)
    if np.isinf(largest):
        raise ValueError(f"y_score must be finite for method={method!r}, got inf")
    scores = [score / (largest or 1.0) for score in sample.scores]  # of any size
    return map(Moments.from_samples, scores, sample.weights or (None, None))


def _binormal(sample):
    neg, pos = _moments(sample, "binormal")
    s0, s1 = float(neg.covariance), float(pos.covariance)  # variances
    total = s0 + s1
    if total == 0:  # two constant classes: only the empirical AUC is defined
        return sample.auc, 0.0
    # Var δ ≈ (s₀/n₀ + s₁/n₁)/(s₀ + s₁)
    #         + δ²/(2(s₀ + s₁)²) · (s₀²/(n₀ − 1) + s₁²/(n₁ − 1)),   SE A = φ(δ) SE δ
    delta = float(pos.mean - neg.mean) / np.sqrt(total)
    variance = (s0 / neg.n + s1 / pos.n) / total
    variance += delta**2 * (s0**2 / (neg.n - 1) + s1**2 / (pos.n - 1)) / total**2 / 2
    density = np.exp(-(delta**2) / 2) / np.sqrt(2 * np.pi)
    return ndtr(delta), np.sqrt(variance) * density


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

    error = _around_auc(lambda sample: variance_of(sample)(sample.auc))
    return Method(error, limits, transform=None)


# With κ the degrees of freedom are n_c + κ per class, or n₀ + n₁ + κ for both
_REFERENCE_KAPPA = {"separate": -1.0, "common": -2.0}  # df n_c − 1 each, or n − 2


def reference_posterior(neg, pos, covariance="separate") -> AUCPosterior:
    """Posterior of the AUC of one normal score under the reference prior.

    Parameters
    ----------
    neg, pos : Moments
        Moments of the scores of each class.
    covariance : {"separate", "common"}
        Prior ∝ 1/(σ₀² σ₁²), or ∝ 1/σ² for one variance.

    Returns
    -------
    AUCPosterior
    """
    kappa = _REFERENCE_KAPPA[covariance]
    prior = NormalInverseWishart(nu_neg=0, nu_pos=0, kappa=kappa, scale=0.0)
    return projected_posterior(neg, pos, np.ones(1), prior, covariance).auc()


def _posterior(sample, covariance="separate") -> AUCPosterior | None:
    """Posterior under the reference prior; None if a class does not vary."""
    check_option("covariance", covariance, _REFERENCE_KAPPA)
    neg, pos = _moments(sample, "bayesian")
    # two variances need two classes that vary, a common variance needs one
    least = min if covariance == "separate" else max
    if least(neg.scatter, pos.scatter) == 0:
        return None
    return reference_posterior(neg, pos, covariance)


def _exact_limits(sample, *tails):
    """Limits of an AUC without an estimated variance (section 2)."""
    return wald_limits(sample.auc, 0.0, sample.smaller, *tails, "none")


def _bayesian(sample, **options):
    posterior = _posterior(sample, **options)
    return sample.auc, posterior.std() if posterior else 0.0


def _bayesian_limits(sample, tail_low, tail_high, **options):
    posterior = _posterior(sample, **options)
    if posterior is None:
        return _exact_limits(sample, tail_low, tail_high)
    return posterior.ppf(tail_low), posterior.ppf(1 - tail_high)


def _count_errors(sample, threshold=None, n_errors=None):
    """Number of errors if ``score >= threshold`` is predicted as positive."""
    check_either("method='cortes_mohri'", threshold=threshold, n_errors=n_errors)
    if n_errors is not None:
        return n_errors
    threshold = check_interval("threshold", threshold)
    (neg, pos), (count_neg, count_pos) = sample.scores, sample.counts
    return int(count_neg[neg >= threshold].sum() + count_pos[pos < threshold].sum())


def _whole_sizes(sample):
    """Sizes of the classes; only weights that are not counts need rounding."""
    return [max(round(size), 1) for size in sample.sizes]


def _cortes_mohri(sample, error_interval=None, adaptive=True, **options):
    ignored = {"error_interval": (error_interval, None), "adaptive": (adaptive, True)}
    refuse_ignored("to a standard error", **ignored)
    n_neg, n_pos = _whole_sizes(sample)
    k = _count_errors(sample, **options)
    mean, variance = cortes_mohri_moments(n_pos, n_neg, k)
    return mean, np.sqrt(variance)


def _cortes_mohri_limits(
    sample, tail_low, tail_high, threshold=None, n_errors=None, **options
):
    k = _count_errors(sample, threshold, n_errors)
    n_neg, n_pos = _whole_sizes(sample)
    # a one-sided interval is one side of a two-sided one with twice the risk
    risk = 2 * max(tail_low, tail_high)
    if risk >= 1:
        raise ValueError(
            "confidence_level must exceed 0.5 for one side of a Cortes-Mohri interval, "
            f"got {1 - risk / 2:g}"
        )
    low, high = cortes_mohri_interval(n_pos, n_neg, k, 1 - risk, **options)
    return (low if tail_low else 0.0), (high if tail_high else 1.0)


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
    return sample.auc, _drawn_aucs(sample, **options)[1].std(ddof=1)


def _bca_limits(sample, tail_low, tail_high, **options):
    """BCa limits (section 4); the jackknife is closed, ``A₍₋ᵢ₎ − A ∝ A − V_i``."""
    auc, drawn = _drawn_aucs(sample, **options)
    if not any(sample.levels.spreads):  # nothing to resample
        return _exact_limits(sample, tail_low, tail_high)
    # a = Σ u³/n³ / 6(Σ u²/n²)^1.5, u = V − A, over the rows of both classes
    skew = spread = 0.0
    levels = sample.levels
    for v, count in zip(levels.placements, (levels.neg, levels.pos), strict=True):
        u, n = v - sample.auc, float(count.sum())
        skew += count @ u**3 / n**3
        spread += count @ u**2 / n**2
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


_own = partial(Method, transform=None, needs_two=True)
METHODS = {
    "score": _score(score_variance),
    "hanley_mcneil_score": _score(_newcombe),
    "delong": Method(_around_auc(lambda s: s.delong_variance), needs_two=True),
    "bamber": Method(_around_auc(lambda s: s.levels.bamber_variance), needs_two=True),
    "hanley_mcneil": Method(
        _around_auc(lambda s: hanley_mcneil_variance(s.auc, *s.sizes))
    ),
    # Var Â ≤ A(1 − A)/min(n₀, n₁), whatever the scores (section 2)
    "max_variance": Method(_around_auc(lambda s: s.auc * (1 - s.auc) / s.smaller)),
    "binormal": Method(_binormal, transform="probit", needs_two=True),
    "bayesian": _own(_bayesian, _bayesian_limits, options=("covariance",)),
    "cortes_mohri": Method(
        _cortes_mohri,
        _cortes_mohri_limits,
        transform=None,
        options=("threshold", "n_errors", "error_interval", "adaptive"),
    ),
    "bootstrap": _own(_bootstrap, _bca_limits, options=("n_resamples", "random_state")),
}
