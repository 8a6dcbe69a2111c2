"""Scores that are compared: their AUCs and what the differences vary."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._validation import check_groups, check_positive, check_score, check_weight
from ._comparison import AUCComparison, AUCComparisons
from ._contrast import chi_square
from ._partial_auc import PartOfSample
from ._resampled_tests import bootstrap_draws
from ._sample import Sample, placement_covariance

# A variance below it is 0: the square of the rounding of a difference of two means
ROUNDING = (64 * np.finfo(float).eps) ** 2


def score_names(k, name="") -> list[str]:
    """What the arguments of k scores are called."""
    names = [f"score{name or '_a'}", "score_b"]
    return [*names, *(f"more_scores[{i}]" for i in range(k - 2))][:k]


class ComparedScores:
    """Parent of k scores of the same rows: the rows themselves, or sums of their ranks.

    Both have ``auc``, or areas that are ``width`` at most, ``covariance()``,
    ``variance(contrast)`` and ``same(i, j)``, whether two scores rank alike. No
    difference varies more than ``1/smaller``: the rows of the smaller class, or for
    areas the trials of the part (section 7) over ``width²``.
    """

    def compare(self: Any, i, j, null=0.0, alternative="two-sided") -> AUCComparison:
        """Compare two of the scores."""
        auc = self.auc
        contrast = np.zeros(len(auc))
        contrast[i], contrast[j] = 1, -1
        error = paired_error(
            self.variance(contrast), lambda: self.same(i, j), self.smaller
        )
        pair = float(auc[i]), float(auc[j]), error, null, alternative
        return AUCComparison(*pair, width=self.width)


@dataclass(frozen=True, eq=False)
class RowScores(ComparedScores):
    """k scores of the same rows, and their placements."""

    samples: list[Sample]
    auc: np.ndarray
    v01: np.ndarray
    v10: np.ndarray
    width: float
    smaller: float
    draws: np.ndarray | None = None

    @classmethod
    def from_rows(
        cls,
        y_true,
        scores,
        sample_weight,
        groups,
        pos_label,
        region,
        resamples,
        name="",
    ):
        positive = check_positive(y_true, pos_label=pos_label, name=f"y_true{name}")
        n = len(positive)
        weight = check_weight(sample_weight, positive)
        cluster = check_groups(groups, n)
        names = score_names(len(scores), name)
        samples = []
        for score, label in zip(scores, names, strict=True):
            score = check_score(score, n, name=label, allow_infinite=True)
            samples.append(
                Sample.from_rows(score, positive, weight, cluster, keep_order=True)
            )
        if region is None:
            auc, parts = [sample.auc for sample in samples], samples
            width, smaller = 1.0, samples[0].smaller
        else:
            parts = [PartOfSample(sample, region) for sample in samples]
            auc, width = [part.area for part in parts], region.width
            # Var ≤ 1/m of a difference of shares, width²/m of areas
            smaller = parts[0].trials / width**2
        v01, v10 = (
            np.stack(v) for v in zip(*(part.placements for part in parts), strict=True)
        )
        draws = None
        if resamples.method == "bootstrap":
            placement_covariance(samples[0], v01, v10)  # refuses what has no variance
            draws = bootstrap_draws(samples, resamples.number, resamples.rng)
        return cls(samples, np.array(auc), v01, v10, width, smaller, draws)

    @property
    def n_rows(self):
        return sum(self.samples[0].sizes)

    def covariance(self):
        if self.draws is not None:
            return np.cov(self.draws, rowvar=False)
        return placement_covariance(self.samples[0], self.v01, self.v10)

    def variance(self, contrast):
        """Variance of the contrast of the AUCs, from its placements or draws."""
        if self.draws is not None:
            return float((self.draws @ np.atleast_1d(contrast)).var(ddof=1))
        # Σ c_k V_k row by row: of equal scores exactly 0, and not of a few roundings.
        rows = (np.atleast_1d(contrast) @ v for v in (self.v01, self.v10))
        return float(
            placement_covariance(self.samples[0], *(r[None] for r in rows))[0, 0]
        )

    def same(self, i, j):
        a, b = (np.r_[s.neg, s.pos] for s in (self.samples[i], self.samples[j]))
        return same_ranking(a, b)


def same_ranking(a, b) -> bool:
    """Whether two scores order their rows alike, ties included."""
    # Dense ranks agree where order and ties do.
    a, b = (np.unique(score, return_inverse=True)[1] for score in (a, b))
    return bool((a == b).all())


def paired_error(variance, same, smaller) -> float:
    """Standard error of a difference of two AUCs of the same rows.

    Parameters
    ----------
    variance : float
        Estimate from the rows; 0 says nothing unless the rankings are the same.
    same : callable
        Whether they are, asked only then.
    smaller : int
        Rows of the smaller class.
    """
    if variance <= ROUNDING:
        # No variance seen is none known: V_a − V_b lies in [−1, 1], Var ≤ 1/m.
        variance = 0.0 if same() else 1 / smaller
    return float(np.sqrt(variance))


def compare_all(auc, covariance, smaller, compare) -> AUCComparisons:
    """Overall test of k AUCs under their covariance, and all pairs.

    Parameters
    ----------
    auc : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
    smaller : int
        Rows of the smaller class.
    compare : callable
        ``compare(i, j)`` is the comparison of a pair.
    """
    # L: the differences of neighbours, A₁ − A₂, A₂ − A₃, …
    L = np.eye(len(auc) - 1, len(auc)) - np.eye(len(auc) - 1, len(auc), 1)
    statistic, df = chi_square(L, auc, covariance, smaller)
    return AUCComparisons(
        auc=auc,
        covariance=covariance,
        statistic=statistic,
        df=df,
        pairs=tuple(compare(i, j) for i, j in combinations(range(len(auc)), 2)),
        n_smallest=float(smaller),
    )
