"""Blocks of Dask arrays and data frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..statistics._row_blocks import (
    OPENERS,
    RowBlocks,
    add_all,
    as_block,
    is_collection,
    on_block,
)

_MERGED = 16  # results that one task adds up: a tree of depth 2 for 256 blocks


@dataclass(frozen=True, eq=False)
class DaskBlocks(RowBlocks):
    """The blocks of collections that are chunked alike, one delayed tuple each.

    Parameters
    ----------
    parts : list of tuple of Delayed
        X, y and weight of each block; None for what is not there.
    n_features : tuple or None
        ``X.shape[1:]``; None if it is not known.
    names : list or None
        Columns of a data frame.
    """

    parts: list[tuple[Any, ...]]
    n_features: tuple | None
    names: list | None = None

    @property
    def feature_names(self):
        """Columns of the data frame; None for arrays."""
        return self.names

    def map(self, function, *shared, only=None):
        """See :meth:`RowBlocks.map`; all blocks at once, wherever they are."""
        found = _compute(*self._delayed(function, shared, only))
        return [result for result in found if result is not None]

    def total(self, function, *shared, only=None):
        """See :meth:`RowBlocks.total`; sums of 16 travel, in a tree."""
        import dask

        merge = dask.delayed(_merge, pure=False)
        level = self._delayed(function, shared, only)
        while len(level) > 1:
            level = [
                merge(level[k : k + _MERGED]) for k in range(0, len(level), _MERGED)
            ]
        (found,) = _compute(*level)
        if found is None:
            raise ValueError("X must have rows, got none in all chunks")
        return found

    def every(self, step):
        """See :meth:`RowBlocks.every`."""
        return replace(self, parts=self.parts[::step])

    def beside(self, y, weight):
        """See :meth:`RowBlocks.beside`."""
        parts = [
            (part[0], y.get(number), weight.get(number))
            for number, part in enumerate(self.parts)
        ]
        return replace(self, parts=parts)

    def _delayed(self, function, shared, only):
        import dask

        run = dask.delayed(_run, pure=False)
        shared = [dask.delayed(value) for value in shared]  # sent once, not a block
        return [
            run(function, number, self.n_features, *part, *shared)
            for number, part in enumerate(self.parts)
            if only is None or number in only
        ]


def _compute(*tasks):
    """Results of the tasks.

    Columns travel to their blocks inside the graph, where they outlive a worker; a
    cluster would warn of graphs of 10 MB.
    """
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return dask.compute(*tasks)


def open_collections(X, y=None, sample_weight=None) -> DaskBlocks | None:
    """Blocks of X, y and weights if one of them is a Dask collection, else None.

    Raises
    ------
    ValueError
        If X is none but another is, or their chunks do not match.
    """
    given = {"X": X, "y": y, "sample_weight": sample_weight}
    collections = [name for name, value in given.items() if is_collection(value)]
    if not collections:
        return None
    if "X" not in collections:
        raise ValueError(
            f"X must be a Dask collection as {collections[0]} is, got "
            f"{type(X).__name__}"
        )
    names = list(X.columns) if hasattr(X, "columns") else None
    if hasattr(X, "chunks"):
        if len(X.chunks) == 2 and len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        known = not np.isnan(X.shape[1:]).any()
        n_features, lengths = (X.shape[1:] if known else None), X.chunks[0]
    else:
        n_features, lengths = (() if names is None else (len(names),)), None
    X_blocks = _delayed(X)
    y_blocks, weight_blocks = (
        _aligned(name, given[name], lengths, len(X_blocks))
        for name in ("y", "sample_weight")
    )
    parts = list(zip(X_blocks, y_blocks, weight_blocks, strict=True))
    return DaskBlocks(parts, n_features, names)


def _aligned(name, column, lengths, n_blocks):
    """The blocks of a column, cut where the rows of X are."""
    if column is None:
        return [None] * n_blocks
    known = lengths is not None and not np.isnan(lengths).any()
    if not is_collection(column):
        if not known:
            raise ValueError(
                f"{name} must be a Dask collection where the sizes of the chunks of X "
                "are unknown, got an array; compute_chunk_sizes() finds them"
            )
        column = np.asarray(column)
        if len(column) != sum(lengths):
            raise ValueError(
                f"{name} must have one value for each of the {sum(lengths)} rows of X, "
                f"got {len(column)}"
            )
        return np.split(column, np.cumsum(lengths)[:-1])
    if hasattr(column, "chunks") and known and not np.isnan(column.chunks[0]).any():
        if sum(column.chunks[0]) != sum(lengths):
            raise ValueError(
                f"{name} must have one value for each of the {sum(lengths)} rows of X, "
                f"got {sum(column.chunks[0])}"
            )
        column = column.rechunk({0: lengths})
    blocks = _delayed(column)
    if len(blocks) != n_blocks:
        raise ValueError(
            f"{name} must have as many chunks as X where their sizes are unknown, got "
            f"{len(blocks)} and {n_blocks}; compute_chunk_sizes() finds them"
        )
    return blocks


def _delayed(collection):
    # each planned alone would compute what X and y share once for each
    blocks = collection.to_delayed(optimize_graph=False)
    return list(np.ravel(blocks)) if isinstance(blocks, np.ndarray) else list(blocks)


def _run(function, number, n_features, X, y, weight, *shared):
    """One block's result; None without rows."""
    block = as_block(number, X, y, weight, n_features=n_features)
    return on_block(function, block, *shared) if len(block) else None


def _merge(results):
    found = [result for result in results if result is not None]
    return add_all(found) if found else None


OPENERS.append(open_collections)
