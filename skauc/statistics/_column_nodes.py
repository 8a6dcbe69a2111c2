"""What a column of rows in blocks is made of, in each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._block_matrix import rows_behind, value_of


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """Number of each row among all."""

    starts: dict[int, int]
    dtype = np.dtype(float)

    def of(self, block, names, known):
        return self.starts[block.number] + np.arange(len(block), dtype=float)


@dataclass(frozen=True, eq=False)
class Constant:
    """One value for all rows."""

    value: Any
    dtype: np.dtype

    def of(self, block, names, known):
        return np.full(len(block), self.value, self.dtype)


@dataclass(frozen=True, eq=False)
class Scores:
    """``X @ w`` of the rows behind some steps."""

    steps: tuple
    w: np.ndarray
    dtype = np.dtype(float)

    def of(self, block, names, known):
        X = rows_behind(block.X, names, self.steps)
        return np.asarray(X @ self.w, dtype=float)


@dataclass(frozen=True, eq=False)
class Elementwise:
    """A function of columns and numbers."""

    function: Any
    parts: tuple
    dtype: np.dtype

    @classmethod
    def of_parts(cls, function, parts):
        """With the type that the function gives to no rows."""
        # The function itself tells its type, of no rows at no cost
        empty = [np.empty(0, p.dtype) if hasattr(p, "of") else p for p in parts]
        return cls(function, parts, function(*empty).dtype)

    def of(self, block, names, known):
        return self.function(*(value_of(p, block, names, known) for p in self.parts))
