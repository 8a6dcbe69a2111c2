"""Methods for the interval of one AUC, in one registry.

A method turns a :class:`Sample` into a standard error and limits. Most are *Wald*
methods, a centre and an error laid on a transformed scale by :mod:`skauc.intervals._confidence_limits`;
the others bring their own limits. To add one, add one entry to ``METHODS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_number, check_option, short
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import NormalInverseWishart, projected_posterior
from ..statistics._auc_variance import balanced_variance, hanley_mcneil_variance
from ..statistics._moments import Moments
from ..statistics._ranks import (
    bamber_variance,
    clustered_covariance,
    delong_covariance,
    empirical_auc,
    placements,
)
from ._confidence_limits import (
    exact_limits,
    larger_variance,
    score_limits,
    wald_limits,
)
from ._cortes_mohri import cortes_mohri_interval, cortes_mohri_moments

_MOST_ROWS = 2**53  # that floats can count
_MOST_BLOCKS = 512

# --------------------------------------------------------------------------------------
# The two samples
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores of the negatives and the positives, sorted when nothing else hangs on it.

    Weights and clusters are None when there are none.

    Parameters
    ----------
    neg, pos : ndarray of shape (n_neg,), (n_pos,)
    weight_neg, weight_pos : ndarray, default=None
    cluster_neg, cluster_pos : ndarray of int, default=None
    """

    neg: np.ndarray
    pos: np.ndarray
    weight_neg: np.ndarray | None = None
    weight_pos: np.ndarray | None = None
    cluster_neg: np.ndarray | None = None
    cluster_pos: np.ndarray | None = None

    @classmethod
    def from_rows(
        cls, score, positive, weight=None, cluster=None, *, keep_order=False
    ) -> Sample:
        """Split the rows; rows of weight 0 are gone."""
        if weight is None and cluster is None and not keep_order:
            return cls(np.sort(score[~positive]), np.sort(score[positive]))
        masks = ~positive, positive
        if weight is not None:
            masks = masks[0] & (weight > 0), masks[1] & (weight > 0)
        parts = (
            None if rows is None else rows[mask]
            for rows in (score, weight, cluster)
            for mask in masks
        )
        return cls(*parts)

    @cached_property
    def auc(self) -> float:
        return empirical_auc(self.neg, self.pos, self.weight_neg, self.weight_pos)

    @property
    def sizes(self):
        if self.weight_neg is None:
            return len(self.neg), len(self.pos)
        return float(self.weight_neg.sum()), float(self.weight_pos.sum())

    @property
    def smaller(self):
        """Independent draws of the smaller class."""
        if self.cluster_pos is None:
            return min(self.sizes)
        return min(len(np.unique(self.cluster_neg)), len(np.unique(self.cluster_pos)))

    @property
    def has_variance(self):
        """Whether clusters, or weights that count rows, say what varies."""
        if self.cluster_pos is not None or self.weight_neg is None:
            return True
        weights = self.weight_neg, self.weight_pos
        whole = all((weight == np.floor(weight)).all() for weight in weights)
        return whole and sum(self.sizes) <= _MOST_ROWS

    def check_variance(self):
        """Refuse weights for which no variance is valid."""
        if not self.has_variance:
            weight = np.concatenate([self.weight_neg, self.weight_pos])
            odd = weight[weight != np.floor(weight)]
            got = f"{odd[0]:g}" if len(odd) else f"a sum of {sum(self.sizes):g}"
            raise ValueError(
                "sample_weight must hold whole numbers (counts of rows) that add up to "
                f"at most 2**53 for an interval without groups, got {got}"
            )

    @cached_property
    def placements(self):
        """``V₀₁`` and ``V₁₀``."""
        return placements(self.neg, self.pos, self.weight_neg, self.weight_pos)

    def covariance(self, v01, v10):
        """Covariance of the means of the rows' placements, shapes (k, n_c).

        Raises
        ------
        ValueError
            If the weights are no counts and there are no clusters, or a class has
            one row or cluster.
        """
        self.check_variance()
        if self.smaller < 2:
            kind = "rows" if self.cluster_pos is None else "groups"
            raise ValueError(
                f"each class must hold at least 2 {kind} for DeLong's variance, got "
                f"{self.smaller:g}"
            )
        if self.cluster_pos is None:
            return delong_covariance(v01, v10, self.weight_neg, self.weight_pos)
        covariance = clustered_covariance(
            v01, v10, self.cluster_neg, self.cluster_pos, *self.counts
        )
        # Obuchowski's three factors can leave it a little indefinite.
        diagonal = np.diag_indices(len(covariance))
        covariance[diagonal] = np.maximum(covariance[diagonal], 0)
        return covariance

    @property
    def counts(self):
        """How often each row counts, for negatives and positives."""
        if self.weight_neg is None:
            return np.ones(len(self.neg)), np.ones(len(self.pos))
        return self.weight_neg, self.weight_pos

    def moments(self, method):
        """Moments of the scores in units of the largest of them."""
        largest = max(np.abs(self.neg).max(), np.abs(self.pos).max())
        if np.isinf(largest):
            raise ValueError(f"y_score must be finite for method={method!r}, got inf")
        unit = largest or 1.0
        return (
            Moments.from_samples(self.neg / unit, self.weight_neg),
            Moments.from_samples(self.pos / unit, self.weight_pos),
        )


# --------------------------------------------------------------------------------------
# The methods
# --------------------------------------------------------------------------------------


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


def _delong(sample):
    v01, v10 = (v[None] for v in sample.placements)
    return sample.auc, np.sqrt(sample.covariance(v01, v10)[0, 0])


def _bamber(sample):
    return sample.auc, np.sqrt(bamber_variance(sample.neg, sample.pos, *sample.counts))


def _hanley_mcneil(sample):
    return sample.auc, np.sqrt(hanley_mcneil_variance(sample.auc, *sample.sizes))


def _max_variance(sample):
    return sample.auc, np.sqrt(sample.auc * (1 - sample.auc) / sample.smaller)


def _binormal(sample):
    neg, pos = sample.moments("binormal")
    s0, s1 = float(neg.covariance), float(pos.covariance)
    total = s0 + s1
    if total == 0:  # two constants: the empirical AUC is all there is
        return sample.auc, 0.0
    delta = float(pos.mean - neg.mean) / np.sqrt(total)
    variance = (s0 / neg.n + s1 / pos.n) / total
    variance += delta**2 * (s0**2 / (neg.n - 1) + s1**2 / (pos.n - 1)) / total**2 / 2
    density = np.exp(-(delta**2) / 2) / np.sqrt(2 * np.pi)
    return ndtr(delta), np.sqrt(variance) * density


def _newcombe(sample):
    return lambda auc: balanced_variance(auc, *sample.sizes)


def _larger(sample):
    delong = 0.0 if sample.smaller < 2 else _delong(sample)[1] ** 2
    return larger_variance(sample.auc, delong, *sample.sizes)


def _score(variance_of):
    """Method that inverts ``|Â − A| ≤ z √V(A)``, V = ``variance_of(sample)``."""

    def error(sample):
        return np.sqrt(variance_of(sample)(sample.auc))

    def limits(sample, tail_low, tail_high):
        return score_limits(sample.auc, variance_of(sample), tail_low, tail_high)

    return Own(error, limits)


_REFERENCE_KAPPA = {"separate": -1.0, "common": -2.0}  # df n_c − 1 each, or n − 2


def _posterior(sample, covariance="separate") -> AUCPosterior | None:
    """Posterior under the reference prior; None if a class does not vary."""
    check_option("covariance", covariance, _REFERENCE_KAPPA)
    neg, pos = sample.moments("bayesian")
    least = min if covariance == "separate" else max
    if least(neg.scatter, pos.scatter) == 0:
        return None
    kappa = _REFERENCE_KAPPA[covariance]
    prior = NormalInverseWishart(nu_neg=0, nu_pos=0, kappa=kappa, scale=0.0)
    return projected_posterior(neg, pos, np.ones(1), prior, covariance).auc()


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
    return (low if tail_low else 0.0), (high if tail_high else 1.0)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Neighbouring scores in blocks, each with the AUC of the rows inside it.

    With one score a block (any sample of at most ``_MOST_BLOCKS`` different scores) it
    is the sample itself. Otherwise the AUC inside a block is kept as it is when rows
    are drawn anew: of B blocks a pair of rows shares one with probability 1/B, and
    the variance of the resampled AUC loses about 1/B² of itself, 4e-6 for 512.
    """

    n_neg: np.ndarray
    n_pos: np.ndarray
    auc_inside: np.ndarray

    @classmethod
    def from_sample(cls, sample):
        scores, level = np.unique(
            np.concatenate([sample.neg, sample.pos]), return_inverse=True
        )
        neg, pos = (
            np.bincount(at, count, len(scores))
            for at, count in zip(
                np.split(level, [len(sample.neg)]), sample.counts, strict=True
            )
        )
        if len(scores) <= _MOST_BLOCKS:
            return cls(neg, pos, np.full(len(scores), 0.5))
        share = (neg / neg.sum() + pos / pos.sum()) / 2
        block = ((np.cumsum(share) - share) * _MOST_BLOCKS).astype(int)
        start = np.flatnonzero(np.diff(block, prepend=-1))
        n_neg, n_pos = np.add.reduceat(neg, start), np.add.reduceat(pos, start)
        before = np.cumsum(n_neg) - n_neg  # negatives below the block
        below = np.cumsum(neg) - neg / 2
        below -= np.repeat(before, np.diff(np.append(start, len(neg))))
        won = np.add.reduceat(pos * below, start)
        pairs = n_neg * n_pos
        return cls(n_neg, n_pos, np.where(pairs > 0, won / np.maximum(pairs, 1), 0.5))

    def auc(self, n_neg, n_pos):
        """AUC when the blocks hold these numbers of rows, shape (..., n_blocks)."""
        half_pairs = 2 * (np.cumsum(n_neg, axis=-1) - n_neg) + (
            2 * self.auc_inside * n_neg
        )
        won = (n_pos.astype(float) * half_pairs).sum(axis=-1)
        return won / (2.0 * self.n_neg.sum() * self.n_pos.sum())


def _resampled_auc(sample, n_resamples=9999, random_state=0):
    """The AUC, and the AUCs of stratified resamples, sorted."""
    check_number(
        "n_resamples",
        n_resamples,
        "be a whole number from 2 to 10**8",  # as many floats are kept: 0.8 GB
        lambda n: 2 <= n <= 10**8 and n == int(n),
    )
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, a whole number >= 0 or a numpy Generator, got "
            f"{short(random_state)}"
        ) from None
    blocks = _Blocks.from_sample(sample)
    classes = blocks.n_neg, blocks.n_pos
    at_once = max(1, 2_000_000 // len(blocks.n_neg))
    drawn = []
    for start in range(0, int(n_resamples), at_once):
        rows = min(at_once, int(n_resamples) - start)
        numbers = (rng.multinomial(int(n.sum()), n / n.sum(), rows) for n in classes)
        drawn.append(blocks.auc(*numbers))
    return blocks.auc(*classes), np.sort(np.concatenate(drawn))


def _bootstrap_error(sample, **options):
    return _resampled_auc(sample, **options)[1].std(ddof=1)


def _bootstrap_limits(sample, tail_low, tail_high, **options):
    """BCa limits; the jackknife is in closed form, ``A₍₋ᵢ₎ − A ∝ A − V_i``."""
    auc, drawn = _resampled_auc(sample, **options)
    if not any(np.ptp(v) for v in sample.placements):  # nothing to resample
        return exact_limits(sample.auc, sample.smaller, tail_low, tail_high)
    skew = spread = 0.0
    for v, count in zip(sample.placements, sample.counts, strict=True):
        u, n = v - sample.auc, count.sum()
        skew += count @ u**3 / n**3
        spread += count @ u**2 / n**2
    acceleration = skew / (6 * spread**1.5)
    below = ((drawn < auc).mean() + (drawn <= auc).mean()) / 2
    bias = ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))

    def quantile(z):
        if np.isinf(z):
            return float(z > 0)
        shift = bias + z
        stretch = 1 - acceleration * shift
        if stretch <= 0:  # beyond the pole: as far as the draws go
            return drawn[-1 if shift > 0 else 0]
        return np.quantile(drawn, ndtr(bias + shift / stretch))

    return quantile(ndtri(tail_low)), quantile(-ndtri(tail_high))


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
        _bootstrap_error,
        _bootstrap_limits,
        least_rows=2,
        options=("n_resamples", "random_state"),
    ),
}
