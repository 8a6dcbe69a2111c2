"""The two samples of scores behind every interval and test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import (
    check_groups,
    check_labels,
    check_non_negative,
    check_positive,
    check_score,
    check_weight,
)
from ..statistics._levels import Levels, clustered_covariance, delong_covariance
from ..statistics._result import Value
from ..statistics._row_blocks import RowBlocks, joined_weights, row_blocks

MOST_ROWS = 2**53  # largest count that a float can increase by 1


@dataclass(frozen=True, eq=False)
class Sample(Value):
    """Rows of both classes: scores, weights, clusters.

    Parameters
    ----------
    neg, pos : ndarray of shape (n_neg,), (n_pos,)
        Sorted if no weight or cluster depends on their order.
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
    def split(cls, scores, positive, weight, cluster, *, keep_order=True):
        """Split the rows of several scores by class; rows of weight 0 are left out."""
        counted = True if weight is None else weight > 0
        # the numbers of the rows are gathered ten times faster than a mask is
        classes = [np.flatnonzero(side & counted) for side in (~positive, positive)]
        beside: list[Any] = [
            None if values is None else values[rows]
            for values in (weight, cluster)
            for rows in classes
        ]
        order = (
            np.asarray if keep_order or any(v is not None for v in beside) else np.sort
        )
        return [
            cls(*(order(score[rows]) for rows in classes), *beside) for score in scores
        ]

    @classmethod
    def from_input(
        cls, y_true, y_score, weight, groups, pos_label, *, keep_order=False
    ) -> Sample:
        """Check one score of rows in arrays or blocks, and split the rows."""
        given = y_true, (y_score,), weight, groups, pos_label
        return samples_of(*given, names=("y_score",), keep_order=keep_order)[0]

    @cached_property
    def levels(self) -> Levels:
        """Distinct scores with the weight of each class."""
        return Levels.of(self.neg, self.pos, self.weight_neg, self.weight_pos)

    @property
    def auc(self) -> float:
        """Share of correctly ranked pairs, ties ½."""
        return self.levels.auc

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Rows of each class, or the sums of their weights."""
        if self.weight_neg is None or self.weight_pos is None:
            return len(self.neg), len(self.pos)
        return float(self.weight_neg.sum()), float(self.weight_pos.sum())

    @property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts of the negative and of the positive rows."""
        if self.weight_neg is None or self.weight_pos is None:
            return np.ones(len(self.neg)), np.ones(len(self.pos))
        return self.weight_neg, self.weight_pos

    @property
    def clustered(self) -> bool:
        """Whether rows come in clusters."""
        return self.cluster_pos is not None

    @cached_property
    def smaller(self) -> float:
        """Number of independent rows (or clusters) of the smaller class."""
        if self.cluster_neg is None or self.cluster_pos is None:
            return min(self.sizes)
        return min(len(np.unique(self.cluster_neg)), len(np.unique(self.cluster_pos)))

    @cached_property
    def _no_count(self) -> str | None:
        """Describe weights that are not counts of rows, unless there are clusters."""
        if self.weight_neg is None or self.clustered:
            return None
        weight = np.concatenate(self.counts)
        odd = weight[weight != np.floor(weight)]
        if len(odd):
            return f"{odd[0]:g}"
        total = sum(self.sizes)
        return f"a sum of {total:g}" if total > MOST_ROWS else None

    @property
    def has_variance(self) -> bool:
        """Whether clusters, or weights that count rows, determine a variance."""
        return self._no_count is None

    def check_variance(self):
        """Raise if no variance is valid for the weights."""
        if self._no_count is not None:
            raise ValueError(
                "sample_weight must hold whole numbers (counts of rows) that add up to "
                f"at most 2**53 for an interval without groups, got {self._no_count}"
            )

    def check_two(self):
        """Raise for a class of one row or cluster, or weights without a variance."""
        self.check_variance()
        if self.smaller < 2:
            kind = "groups" if self.clustered else "rows"
            raise ValueError(
                f"each class must hold at least 2 {kind} for DeLong's variance, got "
                f"{self.smaller:g}"
            )

    def mean_variance(self, at_neg, at_pos) -> float:
        """Variance of the mean of placements that are given for each level."""
        self.check_two()
        if self.clustered:
            return self.covariance(*self.of_rows(at_neg[None], at_pos[None]))[0, 0]
        levels, total = self.levels, 0.0
        for v, w in ((at_neg, levels.neg), (at_pos, levels.pos)):
            # less one of the values, so that equal values have variance exactly 0
            n, v = float(w.sum()), v - v[np.argmax(w)]
            total += w @ (v - w @ v / n) ** 2 / (n * (n - 1))
        return float(total)

    def of_rows(self, at_neg, at_pos):
        """Values of the levels, shape (..., d), for the rows of each class."""
        neg, pos = self.levels.row_levels
        return at_neg[..., neg], at_pos[..., pos]

    def covariance(self, v01, v10) -> np.ndarray:
        """DeLong's covariance of the means of k placements per row, or Obuchowski's.

        ``check_two`` must have been called.
        """
        if not self.clustered:
            return delong_covariance(v01, v10, self.weight_neg, self.weight_pos)
        clusters = self.cluster_neg, self.cluster_pos
        covariance = clustered_covariance(v01, v10, *clusters, *self.counts)
        # Obuchowski's three sums have different factors (G₀/(G₀ − 1), …): a variance of
        # 0 may come out a little negative
        diagonal = np.diag_indices(len(covariance))
        covariance[diagonal] = np.maximum(covariance[diagonal], 0)
        return covariance

    @cached_property
    def delong_variance(self) -> float:
        """DeLong's variance, or Obuchowski's with clusters."""
        return self.mean_variance(*self.levels.placements)


def samples_of(
    y_true, scores, sample_weight, groups, pos_label,
    *, names, label_name="y_true", keep_order=True,
) -> list[Sample]:  # fmt: skip
    """Check the scores of the same rows, arrays or blocks, and split each by class.

    Parameters
    ----------
    y_true : array-like of shape (n,), or RowBlocks
    scores : sequence of k array-likes of shape (n,)
        ``(None,)`` where the scores stand in the blocks.
    sample_weight, groups : array-like of shape (n,) or None
    pos_label : label or None
    names : sequence of str
        Names of the scores in an error.
    """
    blocks = _blocks_of(y_true, scores, sample_weight, groups, names, label_name)
    if blocks is not None:
        y_true, scores, sample_weight = _gathered(blocks, names[0], label_name)
        names = [names[0]] * len(scores)
    positive = check_positive(y_true, pos_label=pos_label, name=label_name)
    weight = check_weight(sample_weight, positive)
    cluster = check_groups(groups, len(positive))
    checked = [
        check_score(score, len(positive), name=name, allow_infinite=True)
        for score, name in zip(scores, names, strict=True)
    ]
    return Sample.split(checked, positive, weight, cluster, keep_order=keep_order)


def _blocks_of(y_true, scores, sample_weight, groups, names, label_name):
    """Return the rows in blocks, or None for arrays."""
    called = names[0], label_name
    if isinstance(y_true, RowBlocks):
        given = dict(zip(names, scores, strict=True))
        y_true.nothing_beside(**given, sample_weight=sample_weight)
        blocks = y_true.labels_first(called)
    else:
        columns = scores[0] if len(scores) == 1 else tuple(scores)
        blocks = row_blocks(columns, y_true, sample_weight, called)
    if blocks is not None and groups is not None:
        raise ValueError(
            "groups must be None for collections and blocks, got groups; pass arrays"
        )
    return blocks


def _gathered(blocks, name, label_name):
    """Labels, list of scores and weights of all blocks, as arrays of n numbers."""
    y, scores, weight = zip(*blocks.map(_checked_rows, name, label_name), strict=True)
    kinds = {part.dtype.kind in "OUS" for part in y}
    if len(kinds) > 1:  # texts and numbers: np.concatenate would make both texts
        y = [part.astype(object) for part in y]
    columns = [np.concatenate(parts) for parts in zip(*scores, strict=True)]
    return np.concatenate(y), columns, joined_weights(weight, map(len, y))


def _checked_rows(block, name, label_name):
    """Labels, list of scores and weights of one block."""
    y, n = check_labels(block.y, name=label_name), len(block)
    X = block.X.toarray() if hasattr(block.X, "toarray") else np.asarray(block.X)
    scores = [
        check_score(column, n, name=name, allow_infinite=True)
        for column in X.reshape(n, -1).T
    ]
    weight = block.weight
    return y, scores, None if weight is None else check_non_negative(weight, n)
