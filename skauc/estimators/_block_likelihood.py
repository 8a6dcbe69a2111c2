"""The likelihood of rows in blocks: sums of those of the blocks.

One pass over the labels says which classes there are and what they weigh; from then on
a block is opened as the :class:`~skauc.estimators._likelihood.Likelihood` of its own
rows, in the units, with the shift and the coding of all, and ℓ, G and H are added up.
(M(P + 1))² numbers a block leave the place where it is, or a sum of 16 blocks.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from .._validation import check_column, check_non_negative
from ..statistics._row_blocks import RowBlocks
from ._checks import (
    check_class_totals,
    check_classes,
    check_finite_features,
    check_known,
    codes_of,
    distinct,
)
from ._class_sums import check_two_dimensional, is_text, labels_of, sizes_of_block
from ._class_weight import check_products, class_factors
from ._irls import check_classes_left, power_of_two
from ._likelihood import Likelihood, mean_is_ordinary

# A part of the blocks stands for all if it holds that many rows of the share asked for
_SHARE_FROM, _SHARE_TO = 0.5, 5.0


@dataclass(frozen=True, eq=False)
class _Labels:
    """What one block says of its labels and weights: a value a class of its own."""

    number: int
    n_features: int
    weighted: bool
    classes: np.ndarray
    rows: np.ndarray  # that have weight
    total: np.ndarray
    largest: np.ndarray
    least: np.ndarray  # that is positive
    n_rows: int


def _labels_of(block, classes):
    """Check a block; its labels must be among the classes, if they are known."""
    check_two_dimensional(block.X)
    check_finite_features(block.X)
    y = labels_of(block)
    weight = np.ones(len(y))
    if block.weight is not None:
        weight = check_non_negative(block.weight, len(y))
    own = distinct(y)
    codes = codes_of(y, own)
    if classes is not None:
        check_known(own, classes)
    # A row of weight 0 is gone: it must not be the least weight of its class.
    largest, least = np.zeros(len(own)), np.full(len(own), np.inf)
    np.maximum.at(largest, codes, weight)
    np.minimum.at(least, codes, np.where(weight > 0, weight, np.inf))
    return _Labels(
        block.number,
        block.X.shape[1],
        block.weight is not None,
        own,
        np.bincount(codes, weight > 0, minlength=len(own)),
        np.bincount(codes, weight, minlength=len(own)),
        largest,
        least,
        len(y),
    )


@dataclass(frozen=True, eq=False)
class LabelledBlocks:
    """Rows in blocks, and what a first pass says of their labels and weights.

    Parameters
    ----------
    blocks : RowBlocks
    n_features : int
    weighted : bool
    classes : ndarray of shape (K,)
    numbers, n_rows : ndarray of int of shape (b,)
        Of the blocks that have rows.
    n_weighted : int
        Rows that have weight.
    total : ndarray of shape (b, K)
        Sums of the weights of each block.
    largest, least : ndarray of shape (K,)
        Weights, the positive ones.
    """

    blocks: RowBlocks
    n_features: int
    weighted: bool
    classes: np.ndarray
    numbers: np.ndarray
    n_rows: np.ndarray
    n_weighted: int
    total: np.ndarray
    largest: np.ndarray
    least: np.ndarray

    @classmethod
    def read(cls, blocks, classes=None) -> LabelledBlocks:
        """One pass: check all blocks, find the classes.

        Parameters
        ----------
        blocks : RowBlocks
        classes : ndarray of shape (K,), default=None
            The only labels that there may be; None takes those that there are.

        Raises
        ------
        ValueError
            If a block breaks a rule, which names it; if there is one class.
        """
        found = blocks.map(_labels_of, classes)
        if not found:
            raise ValueError("X must have rows, got none in all chunks")
        _check_one_kind(found)
        if classes is None:
            classes, _ = check_classes(np.concatenate([f.classes for f in found]))
        shape = len(found), len(classes)
        total, largest, least = np.zeros(shape), np.zeros(shape), np.full(shape, np.inf)
        for k, block in enumerate(found):
            # A block may lack a class: its values go to their places among all.
            codes = np.searchsorted(classes, block.classes)
            total[k, codes], largest[k, codes] = block.total, block.largest
            least[k, codes] = block.least
        return cls(
            blocks,
            found[0].n_features,
            any(block.weighted for block in found),
            classes,
            np.array([block.number for block in found]),
            np.array([block.n_rows for block in found]),
            int(sum(block.rows.sum() for block in found)),
            total,
            largest.max(axis=0),
            least.min(axis=0),
        )

    def gathered(self):
        """X, y and weight in memory, of the rows that have weight.

        Raises
        ------
        ValueError
            If a class has no weight.
        """
        check_class_totals(self.total.sum(axis=0), self.classes)
        return self.blocks.gather(weighted=True)

    def likelihood(self, class_weight, T, fit_intercept) -> BlockLikelihood:
        """ℓ of the rows with the weights of their classes.

        Parameters
        ----------
        class_weight : None, "balanced" or dict
        T : ndarray of shape (K, M)
        fit_intercept : bool

        Raises
        ------
        ValueError
            If a class has no weight, or a weight is no number.
        """
        total = self.total.sum(axis=0)
        check_class_totals(total, self.classes)
        factors = np.ones(len(total))
        if class_weight is not None:
            top = self.largest.max()
            factors = class_factors(class_weight, total / top, self.classes)
            with np.errstate(over="ignore"):
                product, total = factors * self.largest, factors * total
            check_products(class_weight, product, top)
            check_class_totals(total, self.classes)
        # As ``relative`` does of rows in memory: the largest weight comes into [1, 2).
        unit = 1.0
        if self.weighted or class_weight is not None:
            unit = power_of_two((factors * self.largest).max())
            check_classes_left(factors * self.largest / unit, unit)
        coding = _Coding(
            self.classes,
            factors,
            unit,
            self.weighted or class_weight is not None,
            T,
            fit_intercept,
        )
        return BlockLikelihood(self, coding)


def _check_one_kind(found):
    kinds = [is_text(block.classes) for block in found]
    if len(set(kinds)) > 1:
        odd = found[kinds.index(not kinds[0])]
        raise ValueError(
            f"y must hold labels of one kind, got {found[0].classes.tolist()[0]!r} in "
            f"chunk {found[0].number} and {odd.classes.tolist()[0]!r} in chunk "
            f"{odd.number}"
        )


@dataclass(frozen=True, eq=False)
class _Coding:
    """What makes the likelihood of a block from its labels and weights."""

    classes: np.ndarray
    factors: np.ndarray
    count: float
    weighted: bool
    T: np.ndarray
    fit_intercept: bool

    def open(self, block, shift, unit) -> Likelihood:
        y = check_column("y", block.y)
        if len(self.classes) == 2:
            codes = (y == self.classes[1]).astype(np.intp)
        else:
            codes = np.searchsorted(self.classes, y)
        weight = None
        if self.weighted:
            weight = self.factors[codes]
            if block.weight is not None:
                weight = weight * np.asarray(block.weight, dtype=float)
            weight = weight / self.count
        model = Likelihood(block.X, codes, weight, self.T, self.fit_intercept)
        # Coordinates are those of all rows, or the sums would not be of one B.
        model.shift, model.unit = shift, unit
        model.ordinary = bool(np.all(unit == 1))
        return model


class BlockLikelihood(Likelihood):
    """ℓ, G and H of B, one pass over the blocks.

    Parameters
    ----------
    rows : LabelledBlocks
    coding : _Coding
    """

    def __init__(self, rows, coding):
        self.rows, self.coding, self.all_blocks = rows, coding, rows.blocks
        self.T, self.fit_intercept = coding.T, coding.fit_intercept
        self.n_features = rows.n_features
        self.size = self.n_features + coding.fit_intercept
        self.count = coding.count
        self.shift, self.unit, self.ordinary = None, np.ones(self.n_features), True
        self.offset = None
        self._of_blocks(slice(None))

    def _of_blocks(self, part):
        self.n_rows = int(self.rows.n_rows[part].sum())
        self.class_totals = (
            self.rows.total[part].sum(axis=0) * self.coding.factors / self.count
        )
        self.total = float(self.class_totals.sum())

    def are_ordinary(self, square):
        least = np.min(self.coding.factors * self.rows.least) / self.count
        return mean_is_ordinary(square, self.total, least)

    def sizes(self):
        return np.max(self.all_blocks.map(sizes_of_block), axis=0)

    def sum(self, function, *args):
        asked = self.coding, self.shift, self.unit
        return self.all_blocks.total(_at_block, function, *asked, *args)

    def evaluate(self, B):
        return self.sum(Likelihood.evaluate, B)

    def margins(self, B, D):
        asked = self.coding, self.shift, self.unit
        found = self.all_blocks.map(_at_block, Likelihood.margins, *asked, B, D)
        low, high = zip(*found, strict=True)
        return np.min(low, axis=0), max(high)

    def every(self, step):
        """The likelihood of every step-th block; None if it is no such share."""
        part = copy(self)
        part.all_blocks = self.all_blocks.every(step)
        part._of_blocks(self.rows.numbers % step == 0)
        share = part.n_rows * step / self.n_rows
        if not part.class_totals.all() or not _SHARE_FROM <= share <= _SHARE_TO:
            return None
        return part


def _at_block(block, function, coding, shift, unit, *args):
    return function(coding.open(block, shift, unit), *args)


def refuse_beside_blocks(name, value):
    """Refuse a column of all rows where they come in blocks."""
    if value is not None:
        raise ValueError(
            f"{name} must be None where X comes in blocks, got {type(value).__name__}"
        )
