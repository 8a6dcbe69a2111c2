"""Blocks of Dask arrays and data frames."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
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
    parts : list of tuple of Delayed or _Recipe
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

    def map(self, function, *shared):
        """See :meth:`RowBlocks.map`; all blocks at once, wherever they are."""
        import dask

        found = dask.compute(*self._delayed(function, shared))
        return [result for result in found if result is not None]

    def total(self, function, *shared):
        """See :meth:`RowBlocks.total`; sums of 16 travel, in a tree."""
        import dask

        merge = dask.delayed(_merge, pure=False)
        level = self._delayed(function, shared)
        while len(level) > 1:
            level = [
                merge(level[k : k + _MERGED]) for k in range(0, len(level), _MERGED)
            ]
        (found,) = dask.compute(*level)
        if found is None:
            raise ValueError("X must have rows, got none in all chunks")
        return found

    def _delayed(self, function, shared):
        import dask

        run = dask.delayed(_run, pure=False)
        shared = [dask.delayed(value) for value in shared]  # sent once, not a block
        return [
            run(function, number, self.n_features, *part, *shared)
            for number, part in enumerate(self.parts)
        ]


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
    return DaskBlocks(_with_recipes(parts), n_features, names)


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


class _Recipe:
    """How a part of a block is made: it goes into the task that sums the block up.

    As tasks of their own, rows could be made on one worker and summed up on another
    that has less to do: they would travel.
    """

    def __init__(self, graph, key):
        self.graph, self.key = graph, key


def _with_recipes(parts):
    """Recipes in place of what only one block needs; what lies there already stays."""
    from dask.optimization import cull

    graphs = {id(g): g for part in parts for g in map(_graph, part) if g is not None}
    keys = [[c.key for c in part if _graph(c) is not None] for part in parts]
    graph, needs = cull(
        {k: task for g in graphs.values() for k, task in dict(g).items()},
        [key for of_block in keys for key in of_block],
    )
    needed = [_reached(of_block, needs) for of_block in keys]
    times = Counter(key for of_block in needed for key in of_block)
    found = []
    for part, of_block in zip(parts, needed, strict=True):
        if any(times[key] > 1 or _lies_there(graph[key]) for key in of_block):
            found.append(part)
            continue
        own = {key: graph[key] for key in of_block}
        found.append(
            tuple(c if _graph(c) is None else _Recipe(own, c.key) for c in part)
        )
    return found


def _graph(column):
    return column.__dask_graph__() if is_collection(column) else None


def _reached(keys, needs):
    """The keys and all that they need."""
    reached, waiting = set(), list(keys)
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            waiting.extend(needs[key])
    return reached


def _lies_there(task):
    """Whether it is the future of a cluster, whose rows are on a worker."""
    value = getattr(task, "value", task)
    return type(value).__module__.split(".")[0] == "distributed"


def _made(columns):
    """The columns of a block, of which some may be recipes, together."""
    from dask import get

    recipes = [column for column in columns if isinstance(column, _Recipe)]
    if not recipes:
        return columns
    made = iter(get(recipes[0].graph, [recipe.key for recipe in recipes]))
    return [next(made) if isinstance(c, _Recipe) else c for c in columns]


def _run(function, number, n_features, X, y, weight, *shared):
    """One block's result; None without rows."""
    X, y, weight = _made([X, y, weight])
    block = as_block(number, X, y, weight, n_features=n_features)
    return on_block(function, block, *shared) if len(block) else None


def _merge(results):
    found = [result for result in results if result is not None]
    return add_all(found) if found else None


OPENERS.append(open_collections)
