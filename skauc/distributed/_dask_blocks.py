"""Blocks of Dask arrays and data frames.

A chunk that X, y and weights share is computed once in each pass; results are merged in
a tree.
"""

from __future__ import annotations

import numpy as np

from ..statistics._block import add_all, as_block, on_block
from ..statistics._collections import is_collection
from ..statistics._row_blocks import OPENERS, RowBlocks

_MERGED = 16  # results summed by one task: a tree of depth 2 for 256 blocks


class DaskBlocks(RowBlocks):
    """Blocks of collections with equal chunks, one delayed tuple per block.

    Parameters
    ----------
    parts : list of tuple of Delayed
        X, y and weight of each block; None for a column that was not given.
    n_features : tuple or None
        ``X.shape[1:]``; None if it is not known.
    names : list or None
        Columns of a data frame.
    called : (str, str), default=("X", "y")
        Names of X and y in an error.
    """

    def __init__(self, parts, n_features, names=None, called=("X", "y")):
        super().__init__(parts)
        self.parts, self.n_features = parts, n_features
        self._feature_names, self.called = names, called

    def map(self, function, *shared, each=None):
        """As :meth:`RowBlocks.map`, for all blocks at once on Dask's workers."""
        results = _compute(*self._delayed(function, shared, each))
        return self._not_empty([result for result in results if result is not None])

    def total(self, function, *shared, each=None):
        """As :meth:`RowBlocks.total`; tasks sum 16 results each, in a tree."""
        (total,) = _compute(_tree(self._delayed(function, shared, each)))
        return self._not_empty(total)

    def _delayed(self, function, shared, each):
        """One delayed result per block."""
        import dask

        run = dask.delayed(_run, pure=False)
        shared = [dask.delayed(value) for value in shared]  # sent once, not per block
        known = {"n_features": self.n_features, "called": self.called}
        own = {number: () for number in range(len(self.parts))}
        if each is not None:
            own = {number: (value,) for number, value in each.items()}
        return [
            run(function, number, known, self.parts[number], given, *shared)
            for number, given in own.items()
        ]


def _run(function, number, known, part, given, *shared):
    """The result of one block; None without rows."""
    block = as_block(number, *part, **known)
    return on_block(function, block, *given, *shared) if len(block) else None


def _compute(*tasks):
    """Results of the tasks.

    The graph holds the columns, so that they survive the loss of a worker; the
    cluster's warning about graphs of 10 MB is therefore suppressed.
    """
    import dask

    # the import of distributed sets its defaults; without it there is no cluster
    if "distributed" not in dask.config.config:
        return dask.compute(*tasks)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return dask.compute(*tasks)


def _tree(results):
    """One delayed sum of delayed results, which are separate arguments."""
    import dask

    merge = dask.delayed(_merge, pure=False)
    while len(results) > 1:
        results = [
            merge(*results[k : k + _MERGED]) for k in range(0, len(results), _MERGED)
        ]
    return results[0]


def _merge(*results):
    """Sum of the results of blocks with rows; None if there are none."""
    found = [result for result in results if result is not None]
    return add_all(found) if found else None


def open_collections(
    X, y=None, sample_weight=None, called=("X", "y")
) -> DaskBlocks | None:
    """Blocks of X, y and weights if one of them is a Dask collection, else None.

    Parameters
    ----------
    X : anything, or tuple of anything
        A tuple holds several scores of the same rows: the columns of X.
    y, sample_weight : anything
    called : (str, str), default=("X", "y")

    Raises
    ------
    ValueError
        If X is no collection but another is, or their chunks do not match.
    """
    columns = list(X) if isinstance(X, tuple) else [X]
    names = [called[0], *["a later score"] * (len(columns) - 1)]
    names += [called[1], "sample_weight"]
    given = [*columns, y, sample_weight]
    if not any(map(is_collection, given)):
        return None
    given[0] = _as_collection(given, names)
    for name, value in zip(names, given, strict=True):
        if is_collection(value) and not hasattr(type(value), "ndim"):
            raise ValueError(
                f"{name} must be a Dask array or data frame, got "
                f"{type(value).__name__}, whose rows are not known"
            )
    first = given[0] = _whole_rows(given[0], called[0])
    lengths = first.chunks[0] if hasattr(first, "chunks") else None
    given[1:] = [
        _cut_like(name, value, lengths, called[0])
        for name, value in zip(names[1:], given[1:], strict=True)
    ]
    blocks = _blocks_of(given, names)
    if len(columns) == 1:
        features = list(first.columns) if hasattr(first, "columns") else None
        features = features if first.ndim == 2 else None
        return DaskBlocks([*zip(*blocks, strict=True)], _width(first), features, called)
    import dask

    stack = dask.delayed(_side_by_side, pure=False)
    scores = enumerate(zip(*blocks[: len(columns)], strict=True))
    stacked = [stack(called[0], number, *part) for number, part in scores]
    parts = zip(stacked, *blocks[len(columns) :], strict=True)
    return DaskBlocks([*parts], (len(columns),), None, called)


def _as_collection(given, names):
    """The first column as a collection; an array gets the chunks of another column."""
    first = given[0]
    if is_collection(first):
        return first
    name, other = next(
        pair for pair in zip(names, given, strict=True) if is_collection(pair[1])
    )
    lengths = getattr(other, "chunks", [(np.nan,)])[0]
    if np.ndim(first) != 1 or np.isnan(lengths).any():
        raise ValueError(
            f"{names[0]} must be a Dask collection as {name} is, got "
            f"{type(first).__name__}"
        )
    import dask.array as da

    _check_length(names[0], first, sum(lengths), name)
    return da.from_array(np.asarray(first), chunks=(lengths,))


def _whole_rows(X, name):
    """Rechunk so that each chunk has all features, which products need."""
    if X.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions, got shape {X.shape}")
    split = len(getattr(X, "chunks", ())) == 2 and len(X.chunks[1]) > 1
    return X.rechunk({1: -1}) if split else X


def _width(X):
    """``X.shape[1:]``; None if Dask does not know it."""
    if not hasattr(X, "chunks"):
        return () if X.ndim == 1 else (len(X.columns),)
    return None if np.isnan(X.shape[1:]).any() else X.shape[1:]


def _cut_like(name, column, lengths, rows):
    """A column with the chunks of the rows, if their sizes are known."""
    if column is None:
        return None
    known = lengths is not None and not np.isnan(lengths).any()
    if is_collection(column):
        if not hasattr(column, "chunks"):
            return column
        column = column.rechunk({axis: -1 for axis in range(1, column.ndim)})
        if known and not np.isnan(column.chunks[0]).any():
            _check_length(name, column, sum(lengths), rows)
            column = column.rechunk({0: lengths})
        return column
    if not known:
        raise ValueError(
            f"{name} must be a Dask collection if the sizes of the chunks of {rows} "
            f"are unknown, got an array; {_remedy(lengths)} computes them"
        )
    column = np.asarray(column)
    _check_length(name, column, sum(lengths), rows)
    return np.split(column, np.cumsum(lengths)[:-1])


def _check_length(name, column, n_rows, rows):
    """Raise unless a column has one value per row."""
    if np.shape(column)[:1] != (n_rows,):
        raise ValueError(
            f"{name} must have one value for each of the {n_rows} rows of {rows}, got "
            f"{np.shape(column)[0] if np.ndim(column) else column!r}"
        )


def _remedy(lengths):
    """Name of Dask's method that computes the sizes of chunks."""
    return "to_dask_array(lengths=True)" if lengths is None else "compute_chunk_sizes()"


def _blocks_of(given, names):
    """Delayed blocks of each column; None for columns that were not given."""
    rows = _delayed(given[0])
    blocks = [rows]
    for name, column in zip(names[1:], given[1:], strict=True):
        if column is None:
            column = [None] * len(rows)
        elif is_collection(column):
            column = _delayed(column)
        if len(column) != len(rows):
            lengths = given[0].chunks[0] if hasattr(given[0], "chunks") else None
            raise ValueError(
                f"{name} must have as many chunks as {names[0]} if their sizes are "
                f"unknown, got {len(column)} and {len(rows)}; {_remedy(lengths)} of "
                "both computes them"
            )
        blocks.append(column)
    return blocks


def _delayed(collection):
    """Delayed blocks of a collection, in order."""
    # without optimisation, so that X and y share the tasks of common chunks
    blocks = collection.to_delayed(optimize_graph=False)
    return list(np.ravel(blocks)) if isinstance(blocks, np.ndarray) else list(blocks)


def _side_by_side(name, number, *parts):
    """Join the scores of one block as columns."""
    lengths = [len(part) for part in parts]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"{name} and the other scores must have the same number of rows, got "
            f"{lengths} in chunk {number}"
        )
    return np.column_stack(parts)


OPENERS.append(open_collections)
