"""Scores that are compared: their AUCs and the variance of the differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._comparison import AUCComparison
from ._partial_auc import PartOfSample
from ._resampled_tests import bootstrap_draws
from ._sample import Sample, samples_of

# A variance below it is 0: the square of the rounding of a difference of two means
ROUNDING = (64 * np.finfo(float).eps) ** 2


def error_of(variance, largest) -> float:
    """Standard error; the largest possible where no variance is estimated."""
    return float(np.sqrt(variance if variance > ROUNDING else largest))


def paired_error(variance, same: Callable[[], bool], smaller) -> float:
    """Standard error of a difference of two AUCs of the same rows.

    Parameters
    ----------
    variance : float
        Estimate from the rows; 0 is no knowledge unless the rankings are the same.
    same : callable
        Whether they are, called only then.
    smaller : float
        Rows of the smaller class: V_a − V_b lies in [−1, 1], so that Var ≤ 1/smaller.
    """
    if variance <= ROUNDING and same():
        return 0.0
    return error_of(variance, 1 / smaller)


def same_ranking(a, b) -> bool:
    """Whether two scores order their rows alike, ties included."""
    # Dense ranks agree where order and ties do
    a, b = (np.unique(score, return_inverse=True)[1] for score in (a, b))
    return bool((a == b).all())


@dataclass(frozen=True, eq=False)
class ComparedScores:
    """k scores of the same rows: their AUCs, or partial areas, and placements.

    No difference varies more than ``1/smaller``: the rows of the smaller class, or for
    areas the trials of the part (section 7) over ``width²``.
    """

    samples: list[Sample]
    auc: np.ndarray
    v01: np.ndarray
    v10: np.ndarray
    width: float
    smaller: float
    draws: np.ndarray | None = None

    @classmethod
    def of(cls, y_true, scores, weight, groups, pos_label, region, draw, label=""):
        """Check k scores of the same rows, and place them."""
        names = [f"score{label or '_a'}", "score_b"]
        names = [*names, *(f"more_scores[{i}]" for i in range(len(scores)))]
        samples = samples_of(
            y_true, scores, weight, groups, pos_label,
            names=names[: len(scores)], label_name=f"y_true{label}",
        )  # fmt: skip
        width, smaller = 1.0, samples[0].smaller
        auc, at_levels = zip(
            *((s.auc, s.levels.placements) for s in samples), strict=True
        )
        if region is not None:
            parts = [PartOfSample(sample, region) for sample in samples]
            width = region.width
            smaller = parts[0].trials / width**2  # Var ≤ 1/m of shares, width²/m
            auc, at_levels = zip(
                *((part.area, part.placements) for part in parts), strict=True
            )
        rows = (s.of_rows(*v) for s, v in zip(samples, at_levels, strict=True))
        v01, v10 = map(np.stack, zip(*rows, strict=True))
        samples[0].check_two()
        draws = None
        if draw.bootstrap and region is None:
            draws = bootstrap_draws(samples, draw.number, draw.rng)
        return cls(samples, np.array(auc), v01, v10, width, smaller, draws)

    @property
    def n_rows(self):
        """Rows of both classes."""
        return sum(self.samples[0].sizes)

    def covariance(self):
        """Covariance of the AUCs, from their placements or draws."""
        if self.draws is not None:
            return np.cov(self.draws, rowvar=False)
        return self.samples[0].covariance(self.v01, self.v10)

    def variance(self, contrast) -> float:
        """Variance of a contrast of the AUCs."""
        c = np.atleast_1d(contrast)
        if self.draws is not None:
            return float((self.draws @ c).var(ddof=1))
        # Σ c_k V_k row by row: of equal scores exactly 0, and not of a few roundings
        rows = ((c @ v)[None] for v in (self.v01, self.v10))
        return float(self.samples[0].covariance(*rows)[0, 0])

    def compare(self, i, j, null=0.0, alternative="two-sided") -> AUCComparison:
        """Compare two of the scores."""
        contrast = np.zeros(len(self.auc))
        contrast[i], contrast[j] = 1, -1
        error = paired_error(
            self.variance(contrast), lambda: self._same(i, j), self.smaller
        )
        pair = float(self.auc[i]), float(self.auc[j])
        return AUCComparison(*pair, error, null, alternative, width=self.width)

    def _same(self, i, j):
        a, b = (self.samples[k].levels.row_levels for k in (i, j))
        return all(map(np.array_equal, a, b))
