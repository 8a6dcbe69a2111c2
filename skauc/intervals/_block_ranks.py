"""Ranks of scores that come in blocks: outline, ranges, sums.

One pass takes the *outline* of the scores: the labels, the weights, the runs themselves
as long as they are few, and some quantiles of each block. The quantiles give edges
between which about equally many runs lie; each range of scores is merged on its own,
and its sums (:class:`RankSums`) add up in order. Nothing is approximate: the edges only
say which scores are merged together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .._validation import (
    check_labels,
    check_non_negative,
    check_positive,
    check_score,
    check_weight,
    distinct_labels,
)
from ..statistics._block import add_all
from ..statistics._rank_sums import Evenly, RankSums, Runs
from ..statistics._row_blocks import RowBlocks, row_blocks
from ._sample import MOST_ROWS

_FEW = 4096  # runs of a label that are simply sent: 64 KiB, no second pass
_ROUNDING = 1e-9  # far above that of sums of weights, below one row in 10⁹


def score_blocks(y_true, y_score, sample_weight, groups=None, name="y_score"):
    """The rows in blocks if they come so, else None.

    Parameters
    ----------
    y_true, y_score, sample_weight, groups : anything
        As they were given; y_score may be a tuple of several.
    name : str, default="y_score"
        What to call the scores in an error.

    Returns
    -------
    RowBlocks or None
    """
    called = name, "y_true"
    if isinstance(y_true, RowBlocks):
        y_true.nothing_beside(y_score=y_score, sample_weight=sample_weight)
        blocks = y_true.labels_first(called)
    else:
        blocks = row_blocks(y_score, y_true, sample_weight, called)
    if blocks is not None and groups is not None:
        raise ValueError(
            "groups must be None for collections and blocks, got some; pass arrays"
        )
    return blocks


@dataclass(frozen=True, eq=False)
class LabelOutline:
    """The rows of one label.

    Parameters
    ----------
    chunk : int
        The first block that has it.
    n : int or float
        Rows, or the sum of their weights.
    runs : Runs or None
        With one count; None if there are more than a few.
    """

    chunk: int
    n: float
    runs: Runs | None

    def __add__(self, other):
        runs = None
        if self.runs is not None and other.runs is not None:
            runs = _if_few(Runs.merged([self.runs, other.runs]))
        return LabelOutline(min(self.chunk, other.chunk), self.n + other.n, runs)


@dataclass(frozen=True, eq=False)
class Outline:
    """What must be known of all scores before they are ranked; outlines add up.

    Parameters
    ----------
    labels : dict
        A :class:`LabelOutline` for each label, two at most.
    heaviest : float or None
        The largest weight; None without weights.
    fraction : float or None
        A weight that is no whole number.
    largest : float
        Size of the largest score.
    thinned : Evenly
        Some of the scores.
    """

    labels: dict
    heaviest: float | None
    fraction: float | None
    largest: float
    thinned: Evenly

    @classmethod
    def of_block(cls, block, name="y_score") -> Outline:
        """Outline of one block; ``name`` is what to call its scores."""
        score, y, weight = checked_rows(block, name)
        labels, values = {}, []
        for label in _at_most_two(distinct_labels(y).tolist()):
            # Weight 0 is no row: it must not make a class, nor a run.
            mine = y == label if weight is None else (y == label) & (weight > 0)
            count = np.ones(mine.sum(), int) if weight is None else weight[mine]
            with np.errstate(over="ignore"):  # said of all blocks together
                runs, total = Runs.of(score[mine], count[:, None]), count.sum().item()
            labels[label] = LabelOutline(block.number, total, _if_few(runs))
            values.append(runs.value)
        value = np.concatenate(values)
        heaviest = fraction = None
        if weight is not None:
            odd = weight[weight != np.floor(weight)]
            heaviest, fraction = weight.max(), (odd[0] if len(odd) else None)
        largest = np.abs(value).max(initial=0.0)
        return cls(labels, heaviest, fraction, largest, Evenly.of(value))

    def __add__(self, other: Outline) -> Outline:
        labels = self.labels | other.labels
        for label in self.labels.keys() & other.labels.keys():
            labels[label] = self.labels[label] + other.labels[label]
        if len(labels) > 2:
            in_order = sorted(labels, key=lambda label: labels[label].chunk)
            _at_most_two(in_order, f", in chunk {labels[in_order[2]].chunk}")
        odd = self.fraction if self.fraction is not None else other.fraction
        heaviest = self.heaviest
        if (heaviest, other.heaviest) != (None, None):  # without weights they are 1
            heaviest = max(1.0 if w is None else w for w in (heaviest, other.heaviest))
        largest, thinned = (
            max(self.largest, other.largest),
            self.thinned + other.thinned,
        )
        return Outline(labels, heaviest, odd, largest, thinned)

    def edges(self, blocks) -> np.ndarray:
        """Scores between which the ranges lie that these blocks exchange."""
        n_ranges = blocks.n_ranges(self.thinned.mass.sum())
        return self.thinned.edges(n_ranges)


def checked_rows(block, name="y_score"):
    """Scores, labels and weights of a block."""
    y = check_labels(block.y)
    score = check_score(block.X, len(y), name=name, allow_infinite=True)
    weight = block.weight
    return score, y, None if weight is None else check_non_negative(weight, len(y))


def _if_few(runs):
    return runs if len(runs) <= _FEW else None


def _at_most_two(labels, where=""):
    if len(labels) > 2:
        raise ValueError(
            "Only binary classification is supported: y_true must hold two classes, "
            f"got {', '.join(map(repr, labels[:5]))}{where}"
        )
    return labels


@dataclass(frozen=True)
class Classes:
    """What labels and weights mean: counts of two classes.

    Parameters
    ----------
    neg, pos : label
    n_neg, n_pos : int or float
        Rows, or sums of weights.
    fraction : float or None
        A weight that is no whole number.
    shift : int or None
        Power of two that brings the largest weight near 1, where weights are ratios;
        None where they count rows.
    """

    neg: object
    pos: object
    n_neg: float
    n_pos: float
    fraction: float | None
    shift: int | None

    @classmethod
    def of(cls, outline, pos_label) -> Classes:
        """Check what only all blocks together can break."""
        # In the order in which the rows show them, for errors.
        labels = sorted(outline.labels, key=lambda one: outline.labels[one].chunk)
        kinds = np.empty(len(labels), dtype=object)
        kinds[:] = labels
        try:
            labels = distinct_labels(kinds).tolist()
        except ValueError as error:
            last = outline.labels[labels[-1]].chunk
            raise ValueError(f"{error}, in chunk {last}") from None
        positive = check_positive(np.array(labels), pos_label=pos_label)
        neg, pos = (
            labels[int(np.flatnonzero(mask)[0])] for mask in (~positive, positive)
        )
        n_neg, n_pos = outline.labels[neg].n, outline.labels[pos].n
        shift = None
        if outline.heaviest is not None:
            check_weight(np.array([n_neg, n_pos]), np.array([False, True]))
            if outline.fraction is not None or n_neg + n_pos > MOST_ROWS:
                # frexp: heaviest = f·2^e with ½ ≤ f < 1; ldexp by −e changes no digit.
                shift = -int(np.frexp(outline.heaviest)[1])
        return cls(neg, pos, n_neg, n_pos, outline.fraction, shift)

    def scaled(self, weight):
        """Weights as whole numbers, or near 1."""
        if self.shift is None:
            return np.asarray(weight).astype(np.int64)
        return np.ldexp(weight, self.shift)

    def rows(self, block):
        """Scores, which are positive, and weights of the rows that count."""
        score, y, weight = checked_rows(block)
        positive = y == self.pos
        if weight is None and self.shift is None:
            return score, positive, None
        if weight is None:  # beside blocks with weights
            return score, positive, self.scaled(np.ones(len(score)))
        kept = weight > 0
        return score[kept], positive[kept], self.scaled(weight[kept])

    def cut(self, block, edges) -> list[Runs]:
        """Runs of a block from each edge to below the next."""
        score, positive, weight = self.rows(block)
        low, high = edges[0], edges[-1]
        if low > -np.inf or high < np.inf:
            # The last range has no upper edge: +inf itself belongs to it.
            inside = (score >= low) & ((score < high) | np.isinf(high))
            score, positive = score[inside], positive[inside]
            weight = None if weight is None else weight[inside]
        # One byte for each 0 or 1, until Runs.of adds them up in int64.
        count = np.stack([~positive, positive], axis=1).view(np.uint8)
        if weight is not None:
            count = count * weight[:, None]
        return [part.packed() for part in Runs.of(score, count).cut(edges)]

    def few(self, outline) -> Runs | None:
        """The runs of both, if the outline has them."""
        neg, pos = (outline.labels[one].runs for one in (self.neg, self.pos))
        if neg is None or pos is None:
            return None
        neg, pos = (Runs(c.value, self.scaled(c.count)) for c in (neg, pos))
        none = np.zeros_like(neg.count), np.zeros_like(pos.count)
        return Runs.merged(
            [
                Runs(neg.value, np.hstack([neg.count, none[0]])),
                Runs(pos.value, np.hstack([none[1], pos.count])),
            ]
        )


def rank_sums(blocks, pos_label=None, name="y_score") -> tuple[RankSums, Classes]:
    """What the ranks of all scores add up to, of weights as the classes scale them.

    Parameters
    ----------
    blocks : RowBlocks
        Of scores, labels and weights.
    pos_label : label, default=None
    name : str, default="y_score"
        What to call the scores in an error.

    Returns
    -------
    sums : RankSums
    classes : Classes
    """
    outline = blocks.total(Outline.of_block, name)
    classes = Classes.of(outline, pos_label)
    unit = outline.largest or 1.0
    runs = classes.few(outline)
    if runs is not None:
        return RankSums.of(runs, unit), classes
    edges = outline.edges(blocks)
    sums = add_all(blocks.exchange(classes.cut, partial(_merged, unit), edges))
    check_same_rows(sums, classes)
    return sums, classes


def _merged(unit, parts):
    return RankSums.of(Runs.merged(parts), unit)


def check_same_rows(sums, classes):
    # In the units of the weights as they were given.
    got = np.ldexp([sums.n_neg, sums.n_pos], -(classes.shift or 0))
    if not np.allclose(got, [classes.n_neg, classes.n_pos], rtol=_ROUNDING, atol=0):
        raise ValueError(
            "blocks must hold the same rows each time they are read, got "
            f"{classes.n_neg:g} and {classes.n_pos:g} of the classes, then "
            f"{got[0]:g} and {got[1]:g}"
        )
