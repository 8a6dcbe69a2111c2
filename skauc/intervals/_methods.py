"""Methods for the interval of one AUC, in one registry.

A method turns a ``Sample`` into a standard error and limits. Most are *Wald* methods,
a centre and an error on a transformed scale (section 2 of :mod:`skauc.intervals`); the
others bring their own limits. To add one, add one entry to ``METHODS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .._validation import check_number, check_option
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import NormalInverseWishart, projected_posterior
from ..statistics._auc_variance import balanced_variance, hanley_mcneil_variance
from ._bootstrap import bootstrap_error, bootstrap_limits
from ._confidence_limits import (
    exact_limits,
    larger_variance,
    score_limits,
    wald_limits,
)
from ._cortes_mohri import cortes_mohri_interval
from ._cortes_mohri_moments import cortes_mohri_moments


@dataclass(frozen=True)
class Wald:
    """``centre_and_error(sample)``, laid on the scale of ``transform``."""

    centre_and_error: Callable
    transform: str = "logit"
    least_rows: int = 1
    options: tuple[str, ...] = ()

    def error(self, sample):
        return self.centre_and_error(sample)[1]

    def limits(self, sample, tails, transform):
        centre, error = self.centre_and_error(sample)
        return wald_limits(centre, error, sample.smaller, *tails, transform)


@dataclass(frozen=True)
class Own:
    """A method that brings its own ``error`` and ``limits``."""

    error: Callable
    own_limits: Callable
    least_rows: int = 1
    options: tuple[str, ...] = ()
    transform: None = None

    def limits(self, sample, tails, transform, **options):
        return self.own_limits(sample, *tails, **options)


def _moments(sample, method):
    """Moments of the scores in units of the largest of them."""
    if sample.moments is None:
        raise ValueError(f"y_score must be finite for method={method!r}, got inf")
    return sample.moments


def _delong(sample):
    return sample.auc, np.sqrt(sample.delong_variance)


def _bamber(sample):
    return sample.auc, np.sqrt(sample.bamber_variance)


def _hanley_mcneil(sample):
    return sample.auc, np.sqrt(hanley_mcneil_variance(sample.auc, *sample.sizes))


def _max_variance(sample):
    # Var Â ≤ A(1 − A)/min(n₀, n₁), whatever the scores (section 2)
    return sample.auc, np.sqrt(sample.auc * (1 - sample.auc) / sample.smaller)


def _binormal(sample):
    neg, pos = _moments(sample, "binormal")
    s0, s1 = float(neg.covariance), float(pos.covariance)  # variances
    total = s0 + s1
    if total == 0:  # two constants: the empirical AUC is all there is
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


def _larger(sample):
    # One row of a class shows no variance: the model speaks alone.
    delong = 0.0 if sample.smaller < 2 else _delong(sample)[1] ** 2
    return larger_variance(sample.auc, delong, *sample.sizes)


def _score(variance_of):
    """Method that inverts ``|Â − A| ≤ z √V(A)``, V = ``variance_of(sample)``."""

    def error(sample):
        return np.sqrt(variance_of(sample)(sample.auc))

    def limits(sample, tail_low, tail_high):
        return score_limits(sample.auc, variance_of(sample), tail_low, tail_high)

    return Own(error, limits)


# Under κ the degrees of freedom are n_c + κ a class, or n₀ + n₁ + κ for both
_REFERENCE_KAPPA = {"separate": -1.0, "common": -2.0}  # df n_c − 1 each, or n − 2


def reference_posterior(neg, pos, covariance="separate") -> AUCPosterior:
    """Posterior of the AUC of one normal score under the reference prior.

    Parameters
    ----------
    neg, pos : Moments
        Of the scores of each class.
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
    # Two variances need two classes that vary, a common one needs one.
    least = min if covariance == "separate" else max
    if least(neg.scatter, pos.scatter) == 0:
        return None
    return reference_posterior(neg, pos, covariance)


def _bayesian_error(sample, **options):
    posterior = _posterior(sample, **options)
    return posterior.std() if posterior else 0.0


def _bayesian_limits(sample, tail_low, tail_high, **options):
    posterior = _posterior(sample, **options)
    if posterior is None:
        return exact_limits(sample.auc, sample.smaller, tail_low, tail_high)
    return posterior.ppf(tail_low), posterior.ppf(1 - tail_high)


def _count_errors(sample, threshold, n_errors):
    if (threshold is None) == (n_errors is None):
        raise ValueError(
            "method='cortes_mohri' needs threshold= or n_errors=, got "
            f"{'none of them' if n_errors is None else 'both'}"
        )
    if n_errors is not None:
        return n_errors
    check_number("threshold", threshold, "be a number, not NaN", lambda t: t == t)
    count_neg, count_pos = sample.counts
    # Errors where score > threshold is called positive: false alarms, then misses.
    return int(
        count_neg[sample.neg > threshold].sum()
        + count_pos[sample.pos <= threshold].sum()
    )


def _cortes_mohri_error(sample, threshold=None, n_errors=None, **_):
    k = _count_errors(sample, threshold, n_errors)
    n_neg, n_pos = sample.sizes
    return np.sqrt(cortes_mohri_moments(n_pos, n_neg, k)[1])


def _cortes_mohri_limits(
    sample, tail_low, tail_high, threshold=None, n_errors=None, **options
):
    k = _count_errors(sample, threshold, n_errors)
    n_neg, n_pos = sample.sizes
    # A one-sided interval is one side of a two-sided one of twice the risk.
    risk = (
        tail_low + tail_high if tail_low and tail_high else 2 * max(tail_low, tail_high)
    )
    if risk >= 1:
        raise ValueError(
            "confidence_level must exceed 0.5 for one side of a Cortes-Mohri interval, "
            f"got {1 - risk / 2:g}"
        )
    low, high = cortes_mohri_interval(n_pos, n_neg, k, 1 - risk, **options)
    # The side that was not asked for is the end of [0, 1].
    return (low if tail_low else 0.0), (high if tail_high else 1.0)


METHODS = {
    "score": _score(_larger),
    "hanley_mcneil_score": _score(_newcombe),
    "delong": Wald(_delong, least_rows=2),
    "bamber": Wald(_bamber, least_rows=2),
    "hanley_mcneil": Wald(_hanley_mcneil),
    "max_variance": Wald(_max_variance),
    "binormal": Wald(_binormal, transform="probit", least_rows=2),
    "bayesian": Own(
        _bayesian_error, _bayesian_limits, least_rows=2, options=("covariance",)
    ),
    "cortes_mohri": Own(
        _cortes_mohri_error,
        _cortes_mohri_limits,
        options=("threshold", "n_errors", "error_interval", "adaptive"),
    ),
    "bootstrap": Own(
        bootstrap_error,
        bootstrap_limits,
        least_rows=2,
        options=("n_resamples", "random_state"),
    ),
}
