"""Some rows of rows in blocks: those of which a column says that they are there.

The rows of two of several classes, or those of positive weight: each block leaves the
others out when it is read, and nothing else changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ._block import Block
from ._row_blocks import RowBlocks


@dataclass(frozen=True, eq=False)
class KeptRows(RowBlocks):
    """Blocks without the rows that a condition leaves out.

    Parameters
    ----------
    blocks : RowBlocks
    condition : node of a column of bool
        See :class:`skauc.statistics._block_column.BlockColumn`.
    n_left_out : int, default=0
        Rows of weight 0 among those that are left out.
    """

    blocks: RowBlocks
    condition: Any
    n_left_out: int = 0

    @property
    def called(self):
        """What X and y are called in an error."""
        return self.blocks.called

    @property
    def feature_names(self):
        """Names of the columns of X, where they have some."""
        return self.blocks.feature_names

    def map(self, function, *shared, only=None):
        """See :meth:`RowBlocks.map`."""
        return self.blocks.map(self._on_kept(function), *shared, only=only)

    def total(self, function, *shared, only=None):
        """See :meth:`RowBlocks.total`."""
        return self.blocks.total(self._on_kept(function), *shared, only=only)

    def exchange(self, cut, merge, edges):
        """See :meth:`RowBlocks.exchange`."""
        return self.blocks.exchange(self._on_kept(cut), merge, edges)

    def n_ranges(self, entries):
        """See :meth:`RowBlocks.n_ranges`."""
        return self.blocks.n_ranges(entries)

    def beside(self, y, weight):
        """See :meth:`RowBlocks.beside`: all rows, and the mask of these as weight."""
        # Rows that are left out get a 0, and the mask takes them out again
        masks, columns = dict(self.blocks.map(self._mask_of)), {}
        for number, part in y.items():
            mask = masks[number]
            columns[number] = np.zeros((len(mask), *part.shape[1:]), part.dtype)
            columns[number][mask] = part
        for number, part in weight.items():
            masks[number][masks[number]] = part
        return self.blocks.beside(columns, masks)

    def _on_kept(self, function):
        return partial(_on_kept, self.feature_names, self.condition, function)

    @property
    def _mask_of(self):
        return partial(_mask_of, self.feature_names, self.condition)


def _on_kept(names, condition, function, block, *shared):
    """The function of the rows that are kept; None if there are none."""
    keep = condition.of(block, names, {})
    if not keep.any():
        return None
    if not keep.all():
        X, y, weight = block.X[keep], block.y, block.weight
        y = None if y is None else y[keep]
        block = Block(block.number, X, y, None if weight is None else weight[keep])
    return function(block, *shared)


def _mask_of(names, condition, block):
    return block.number, condition.of(block, names, {})
