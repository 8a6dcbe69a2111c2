"""The two samples of scores behind every interval and test."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import ScoredRows, check_labels, check_score, counted_rows
from ..statistics._levels import Levels, clustered_covariance, delong_covariance
from ..statistics._row_blocks import (
    RowBlocks,
    dense,
    joined_labels,
    joined_weights,
    row_blocks,
    with_names,
)
from ..statistics._warn_caller import UntrustedAUCWarning, warn_caller
from ..statistics._weights import (
    NOT_COUNTS,
    SampleWeightWarning,
    are_counts,
    design_effect,
    raising_factor,
)

FEW_ROWS = 10  # rows of a class that hardly determine its mean and variance
FEW_GROUPS = 15  # groups of a class that hardly determine a variance
_UNITS = ("rows", FEW_ROWS), ("groups", FEW_GROUPS)  # without and with clusters
MOST_ROWS = 2.0**53  # of more rows variances are 0 and products overflow


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of both classes; each field is a pair of arrays ``(neg, pos)``, or None.

    Parameters
    ----------
    scores : (ndarray of shape (n_neg,), ndarray of shape (n_pos,))
    weights : (ndarray, ndarray) or None
    clusters : (ndarray of int, ndarray of int) or None
    pos_label : label or None
    positive : ndarray of bool of shape (n,)
        The rows of positive weight in their order.
    of_counts : bool
        Whether the weights, as they were given, can be counts of rows.
    share_pos : float
        Share of the positive rows in the sum of the given weights.
    """

    scores: tuple
    weights: tuple | None
    clusters: tuple | None
    pos_label: Any
    positive: np.ndarray
    of_counts: bool
    share_pos: float

    @classmethod
    def split(cls, scores, positive, weight, cluster, *, pos_label=None):
        """Split the rows of several scores by class; rows of weight 0 are left out.

        Without clusters weights are counts of rows, or are raised to such.
        """
        of_counts, given = are_counts(weight), weight
        share = float(np.average(positive, weights=given))
        if weight is not None and cluster is None:
            # an AUC depends on the ratios of the weights within each class
            sides = (raising_factor(given[side]) for side in (positive, ~positive))
            weight = given * np.where(positive, *sides)
            weight = weight * min(1.0, MOST_ROWS / weight.sum())
        # the numbers of the rows are gathered ten times faster than a mask is
        classes = [np.flatnonzero(side) for side in (~positive, positive)]

        def by_class(values):
            return tuple(values[rows] for rows in classes)

        beside = [v if v is None else by_class(v) for v in (weight, cluster)]
        known = *beside, pos_label, positive, of_counts, share
        return [cls(by_class(score), *known) for score in scores]

    @cached_property
    def levels(self) -> Levels:
        """Distinct scores with the weight of each class."""
        return Levels.of(*self.scores, *(self.weights or ()))

    @property
    def auc(self) -> float:
        """Share of correctly ranked pairs, ties ½."""
        return self.levels.auc

    @property
    def counts(self) -> tuple:
        """Weights of the negative and of the positive rows."""
        return self.weights or tuple(np.ones(len(score)) for score in self.scores)

    @cached_property
    def sizes(self) -> tuple:
        """Rows of each class, or the sums of their weights."""
        if self.weights is None:
            return tuple(map(len, self.scores))
        return tuple(float(weight.sum()) for weight in self.weights)

    @cached_property
    def independent(self) -> tuple:
        """Number of independent rows (or clusters) of each class."""
        if self.clusters is None:
            return self.sizes
        return tuple(len(np.unique(cluster)) for cluster in self.clusters)

    @property
    def smaller(self) -> float:
        """Number of independent rows (or clusters) of the smaller class."""
        return min(self.independent)

    def warn_unless_counts(self):
        """Warn of weights that are not counts of rows, unless there are clusters."""
        if self.clusters is None and not self.of_counts:
            warn_caller(NOT_COUNTS, SampleWeightWarning)

    def warn_of_few(self):
        """Warn of a class whose variance in a normal statistic is hardly known."""
        (kind, few), number = _UNITS[self.clusters is not None], self.smaller
        if self.clusters is not None:  # (ΣM)²/ΣM² alike ones of M rows
            M = map(np.bincount, self.clusters, self.counts)
            number = min(m.sum() ** 2 / (m @ m) for m in M)
            kind += " of like size"
        if number < few:
            warn_caller(
                f"A class has only {number:.3g} {kind}, so that DeLong's variance "
                "is hardly known: 95 % intervals hold the true value in 80 to 92 % of "
                "samples, and 8 to 22 % of tests of equally good scores have p < .05. "
                "For two scores, compare_auc(method='permutation') keeps its level",
                UntrustedAUCWarning,
            )

    def check_two(self):
        """Raise for a class of one row or cluster; warn unless weights are counts."""
        self.warn_unless_counts()
        if self.smaller < 2:
            kind, _ = _UNITS[self.clusters is not None]
            raise ValueError(
                f"each class must hold at least 2 {kind} for an estimated variance, "
                f"got {self.smaller:g}"
            )

    def mean_variance(self, at_neg, at_pos) -> float:
        """Variance of the mean of placements that are given for each level."""
        self.check_two()
        counts = self.levels.neg, self.levels.pos
        # less one of the values, so that equal values have variance exactly 0
        v01, v10 = (
            v[None] - v[np.argmax(n)]
            for v, n in zip((at_neg, at_pos), counts, strict=True)
        )
        # Obuchowski's three sums have different factors (G₀/(G₀ − 1), …): a variance of
        # 0 may come out a little negative
        return max(float(self.covariance(*self.of_rows(v01, v10))[0, 0]), 0.0)

    def of_rows(self, at_neg, at_pos):
        """Values of the levels, shape (..., d), for the rows of each class."""
        neg, pos = self.levels.row_levels
        return at_neg[..., neg], at_pos[..., pos]

    def covariance(self, v01, v10) -> np.ndarray:
        """DeLong's covariance of the means of k placements per row, or Obuchowski's.

        ``check_two`` must have been called.
        """
        if self.clusters is None:
            return delong_covariance(v01, v10, *(self.weights or ()))
        return clustered_covariance(v01, v10, *self.clusters, *self.counts)

    @cached_property
    def delong_variance(self) -> float:
        """DeLong's variance, or Obuchowski's with clusters."""
        return self.mean_variance(*self.levels.placements)

    @cached_property
    def influence(self) -> list:
        """Influence ``(V − A)/n`` of a copy of each row on the AUC, by class."""
        placed = self.of_rows(*self.levels.placements)
        classes = zip(placed, self.counts, strict=True)
        return [(v - w @ v / w.sum()) / w.sum() for v, w in classes]

    def influences(self) -> np.ndarray:
        """Influence of each row on the AUC, in their order (section 1).

        ``w (V − A)/√{n(n − 1)}``, or without clusters √w in place of w: the squares, of
        sums over the clusters if there are any, add up to the variance.
        """
        self.check_two()
        rows, sides = np.empty(len(self.positive)), (~self.positive, self.positive)
        classes = self.influence, self.counts, self.independent
        for side, u, w, n in zip(sides, *classes, strict=True):
            copies = np.sqrt(w) if self.clusters is None else w
            rows[side] = u * copies * np.sqrt(n / (n - 1))
        return rows

    def effect_of(self, neg, pos) -> float:
        """Design effect of an estimate with these influences of the rows, by class."""
        if self.clusters is None:
            self.warn_unless_counts()
            return 1.0
        self.check_two()
        sides = [np.full(len(u), k) for k, u in enumerate((neg, pos))]
        rows = (neg, pos), self.counts, self.clusters, sides
        return design_effect(*map(np.concatenate, rows))

    @cached_property
    def effect(self) -> float:
        """Design effect of the AUC, with which rows count as so many fewer."""
        return self.effect_of(*self.influence)

    @property
    def effective(self) -> list:
        """Independent rows of each class that say as much about the AUC."""
        return [n / self.effect for n in self.sizes]


def sample_of(y_true, y_score, sample_weight, groups, pos_label) -> Sample:
    """One score, checked and split by class as by :func:`samples_of`."""
    given = y_true, (y_score,), sample_weight, groups, pos_label
    sample, *others = samples_of(*given)
    if others:
        n = 1 + len(others)
        raise ValueError(f"y_score must be one column of the blocks, got {n} columns")
    return sample


def samples_of(
    y_true, scores, sample_weight, groups, pos_label,
    *, names=("y_score",), label_name="y_true",
) -> list:  # fmt: skip
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
    label_name : str
    """
    blocks = _blocks_of(y_true, scores, sample_weight, groups, names, label_name)
    if blocks is not None:
        parts = blocks.map(_checked_rows, names[0], label_name)
        y, scores, weight = zip(*parts, strict=True)
        y_true, scores = joined_labels(y), np.concatenate(scores, axis=1)
        sample_weight = joined_weights(weight, map(len, y))
        names = [names[0]] * len(scores)
    how = {"names": names, "label_name": label_name, "allow_infinite": True}
    rows = ScoredRows.of(y_true, scores, sample_weight, groups, pos_label, **how)
    given = rows.scores, rows.positive, rows.weight, rows.groups
    return Sample.split(*given, pos_label=rows.pos_label)


def _blocks_of(y_true, scores, sample_weight, groups, names, label_name):
    """Return the rows in blocks, or None for arrays."""
    called = names[0], label_name
    if isinstance(y_true, RowBlocks):
        given = dict(zip(names, scores, strict=True))
        blocks = with_names(y_true, called, **given, sample_weight=sample_weight)
    else:
        columns = scores[0] if len(scores) == 1 else tuple(scores)
        blocks = row_blocks(columns, y_true, sample_weight, called)
    if blocks is not None and groups is not None:
        raise ValueError(
            "groups must be None for collections and blocks, got groups; pass arrays"
        )
    return blocks


def _checked_rows(block, name, label_name):
    """Labels, scores of shape (k, m) and weights of one block."""
    X = dense(block.X)
    y, weight, X = counted_rows(block.y, block.weight, X, name=label_name)
    y, how = check_labels(y, name=label_name), {"name": name, "allow_infinite": True}
    scores = [check_score(column, len(y), **how) for column in np.atleast_2d(X.T)]
    return y, np.array(scores), weight
