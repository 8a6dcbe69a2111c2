"""The two samples of scores that every interval and test is made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..statistics._moments import Moments
from ..statistics._ranks import (
    bamber_variance,
    clustered_covariance,
    delong_covariance,
    empirical_auc,
    placements,
)
from ..statistics._values import Value
from ._roc_points import ROCPoints

MOST_ROWS = 2**53  # a float counts one by one up to here (53 bits of mantissa)


class RankedSample(Value):
    """Parent of what an estimate asks: the rows themselves, or the sums of their ranks.

    Both have ``auc, sizes, fraction, cluster_pos, delong_variance, bamber_variance``
    and ``moments``.
    """

    @property
    def smaller(self: Any) -> float:
        """Independent draws of the smaller class."""
        return min(self.sizes)

    @property
    def has_variance(self: Any) -> bool:
        """Whether clusters, or weights that count rows, say what varies."""
        if self.cluster_pos is not None:
            return True  # survey statistics and row counts both know what varies
        return self.fraction is None and sum(self.sizes) <= MOST_ROWS

    def check_variance(self: Any):
        """Refuse weights for which no variance is valid."""
        if not self.has_variance:
            total = f"a sum of {sum(self.sizes):g}"
            got = total if self.fraction is None else f"{self.fraction:g}"
            raise ValueError(
                "sample_weight must hold whole numbers (counts of rows) that add up to "
                f"at most 2**53 for an interval without groups, got {got}"
            )

    def check_two(self: Any):
        """Refuse a class of one row or cluster, or weights without a variance."""
        self.check_variance()
        if self.smaller < 2:
            kind = "rows" if self.cluster_pos is None else "groups"
            raise ValueError(
                f"each class must hold at least 2 {kind} for DeLong's variance, got "
                f"{self.smaller:g}"
            )


@dataclass(frozen=True, eq=False)
class Sample(RankedSample):
    """Rows of both classes: scores, weights, clusters.

    The scores are sorted when no weight or cluster hangs on their order.

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
        # Sorted once here; every rank statistic then searches in sorted rows.
        if weight is None and cluster is None and not keep_order:
            return cls(np.sort(score[~positive]), np.sort(score[positive]))
        masks = ~positive, positive
        if weight is not None:
            masks = masks[0] & (weight > 0), masks[1] & (weight > 0)
        neg, pos = (
            [None if rows is None else rows[mask] for rows in (weight, cluster)]
            for mask in masks
        )
        return cls(
            *(score[mask] for mask in masks),
            *(part for pair in zip(neg, pos, strict=True) for part in pair),
        )

    @cached_property
    def auc(self) -> float:
        """Share of pairs ranked rightly, ties ½."""
        return empirical_auc(self.neg, self.pos, self.weight_neg, self.weight_pos)

    @property
    def sizes(self) -> tuple[float, float]:
        """Rows of each class, or the sums of their weights."""
        if self.weight_neg is None or self.weight_pos is None:
            return len(self.neg), len(self.pos)
        return float(self.weight_neg.sum()), float(self.weight_pos.sum())

    @property
    def smaller(self) -> float:
        """Independent draws of the smaller class."""
        if self.cluster_neg is None or self.cluster_pos is None:
            return min(self.sizes)
        return min(len(np.unique(self.cluster_neg)), len(np.unique(self.cluster_pos)))

    @cached_property
    def fraction(self) -> float | None:
        """The first weight that is no whole number."""
        if self.weight_neg is None:
            return None
        weight = np.concatenate([self.weight_neg, self.weight_pos])
        odd = weight[weight != np.floor(weight)]
        return odd[0] if len(odd) else None

    @property
    def delong_variance(self) -> float:
        """DeLong's, or Obuchowski's with clusters."""
        v01, v10 = (v[None] for v in self.placements)
        return placement_covariance(self, v01, v10)[0, 0]

    @property
    def bamber_variance(self) -> float:
        """Bamber's unbiased variance."""
        return bamber_variance(self.neg, self.pos, *self.counts)

    @property
    def moments(self) -> tuple[Moments, Moments] | None:
        """Of the scores in units of the largest; None if that is infinite."""
        largest = max(np.abs(self.neg).max(), np.abs(self.pos).max())
        if np.isinf(largest):
            return None
        # An AUC does not depend on the unit; squares in this one cannot overflow.
        unit = largest or 1.0
        return (
            Moments.from_samples(self.neg / unit, self.weight_neg),
            Moments.from_samples(self.pos / unit, self.weight_pos),
        )

    @cached_property
    def placements(self):
        """``V₀₁`` and ``V₁₀``."""
        return placements(self.neg, self.pos, self.weight_neg, self.weight_pos)

    @cached_property
    def points(self) -> ROCPoints:
        """Corners of the ROC curve."""
        return ROCPoints.from_rows(self.neg, self.pos, self.weight_neg, self.weight_pos)

    @property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each row counts, for negatives and positives."""
        if self.weight_neg is None or self.weight_pos is None:
            return np.ones(len(self.neg)), np.ones(len(self.pos))
        return self.weight_neg, self.weight_pos


def placement_covariance(sample, v01, v10):
    """Covariance of the means of the rows' placements (section 1).

    Parameters
    ----------
    sample : Sample
    v01, v10 : ndarray of shape (k, n_neg), (k, n_pos)
        Placements of the rows of each class under k scores.

    Returns
    -------
    ndarray of shape (k, k)

    Raises
    ------
    ValueError
        If the weights are no counts and there are no clusters, or a class has
        one row or cluster.
    """
    sample.check_two()
    if sample.cluster_pos is None:
        return delong_covariance(v01, v10, sample.weight_neg, sample.weight_pos)
    covariance = clustered_covariance(
        v01, v10, sample.cluster_neg, sample.cluster_pos, *sample.counts
    )
    # Obuchowski's three sums have factors of their own (G₀/(G₀ − 1), …): a variance
    # that is 0 may come out a little negative.
    diagonal = np.diag_indices(len(covariance))
    covariance[diagonal] = np.maximum(covariance[diagonal], 0)
    return covariance
