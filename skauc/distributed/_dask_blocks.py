"""Blocks of Dask arrays and data frames.

A chunk that X, y and weights share is computed once in each pass; results are merged in
a tree.
"""

import numpy as np

from ..statistics._checks import is_collection
from ..statistics._row_blocks import OPENERS, RowBlocks, add_all, as_block, on_block

_LATER = "a later score"  # its name in an error
_MERGED = 16  # results summed by one task: a tree of depth 2 for 256 blocks


class DaskBlocks(RowBlocks):
    """Blocks of collections with equal chunks, one delayed tuple per block.

    Parameters
    ----------
    parts : list of tuple of Delayed
        X, further scores, y and weight of each block; None for what was not given.
    n_features : tuple or None
        ``X.shape[1:]``; None if it is not known.
    names : list or None
        Columns of a data frame.
    called : (str, str)
        Names of X and y in an error.
    """

    def __init__(self, parts, n_features, names, called):
        super().__init__(parts)
        self.parts, self.n_features = parts, n_features
        self.feature_names, self._called = names, called

    def map(self, function, *shared, each=None):
        """As :meth:`RowBlocks.map`, for all blocks at once on Dask's workers."""
        results = _compute(*self._delayed(function, shared, each))
        return self._not_empty([r for r in results if r is not None] or None)

    def total(self, function, *shared, each=None):
        """As :meth:`RowBlocks.total`; tasks sum 16 results each, in a tree."""
        (total,) = _compute(_tree(self._delayed(function, shared, each)))
        return self._not_empty(total)

    def _delayed(self, function, shared, each):
        """One delayed result per block."""
        import dask

        run = dask.delayed(_run, pure=False)
        shared = [dask.delayed(value) for value in shared]  # sent once, not per block
        known = {"n_features": self.n_features, "called": self._called}
        own = {number: () for number in range(len(self.parts))}
        if each is not None:
            own = {number: (value,) for number, value in each.items()}
        return [
            run(function, number, known, self.parts[number], given, *shared)
            for number, given in own.items()
        ]


def _run(function, number, known, part, given, *shared):
    """The result of one block; None without rows."""
    X, *later, y, weight = part
    if later:  # scores of the same rows: the columns of X
        called = known["called"][0], _LATER
        later = [
            as_block(number, X, score, n_features=None, called=called).y
            for score in later
        ]
        X = np.column_stack([X, *later])
    block = as_block(number, X, y, weight, **known)
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
    """One delayed sum of delayed results; lists of them would take a tenth longer."""
    import dask

    add = dask.delayed(_added, pure=False)
    while len(results) > 1:
        groups = range(0, len(results), _MERGED)
        results = [add(*results[k : k + _MERGED]) for k in groups]
    return results[0]


def _added(*results):
    """Sum of the results of blocks with rows; None if there are none."""
    return add_all(results)


def open_collections(X, y, sample_weight, called) -> DaskBlocks:
    """Blocks of X, y and weights, one of which is a Dask collection.

    Parameters
    ----------
    X : anything, or tuple of anything
        A tuple holds several scores of the same rows: the columns of X.
    y, sample_weight : anything
    called : (str, str)

    Raises
    ------
    ValueError
        If X is no collection but another is, or their chunks do not match.
    """
    first, *later = X if isinstance(X, tuple) else (X,)
    names = [called[0], *[_LATER] * len(later), called[1], "sample_weight"]
    given = list(zip(names, [first, *later, y, sample_weight], strict=True))
    collections = [(name, value) for name, value in given if is_collection(value)]
    for name, value in collections:
        if not hasattr(type(value), "ndim"):
            raise ValueError(
                f"{name} must be a Dask array or data frame, got "
                f"{type(value).__name__}, whose rows are not known"
            )
    source, rows = collections[0]
    width, features = _outline(called[0], first, source)
    lengths = rows.chunks[0] if hasattr(rows, "chunks") else None
    blocks = _blocks_of(
        [(name, _cut_like(name, value, lengths, source)) for name, value in given],
        _remedy(lengths),
    )
    if later:
        width, features = (1 + len(later),), None
    return DaskBlocks([*zip(*blocks, strict=True)], width, features, called)


def _outline(name, X, source):
    """``X.shape[1:]`` and the columns of a frame; None for what Dask does not know."""
    if not is_collection(X) and np.ndim(X) != 1:
        raise ValueError(
            f"{name} must be a Dask collection as {source} is, got {type(X).__name__}"
        )
    if np.ndim(X) not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions, got shape {X.shape}")
    if np.ndim(X) == 2 and hasattr(X, "columns"):
        return (len(X.columns),), list(X.columns)
    width = np.shape(X)[1:]
    return None if np.isnan(width).any() else width, None


def _cut_like(name, column, lengths, rows):
    """A column with the chunks of the rows, if their sizes are known."""
    lazy = is_collection(column)
    if column is None or (lazy and not hasattr(column, "chunks")):  # a frame
        return column
    known = lengths is not None and not np.isnan(lengths).any()
    if not lazy and not known:
        raise ValueError(
            f"{name} must be a Dask collection if the sizes of the chunks of {rows} "
            f"are unknown, got an array; {_remedy(lengths)} computes them"
        )
    column = column if lazy else np.asarray(column)
    if lazy and column.ndim == 2 and len(column.chunks[1]) > 1:
        column = column.rechunk({1: -1})  # products need all features
    if not known or (lazy and np.isnan(column.chunks[0]).any()):
        return column
    if column.shape[:1] != (sum(lengths),):
        raise ValueError(
            f"{name} must have one value for each of the {sum(lengths)} rows of "
            f"{rows}, got {len(column) if column.ndim else column!r}"
        )
    if lazy:
        return column.rechunk({0: lengths})
    return np.split(column, np.cumsum(lengths)[:-1])


def _remedy(lengths):
    """Name of Dask's method that computes the sizes of chunks."""
    return "to_dask_array(lengths=True)" if lengths is None else "compute_chunk_sizes()"


def _blocks_of(given, remedy):
    """Blocks of each column, an equal number; None for columns that were not given."""
    blocks = [_delayed(value) if is_collection(value) else value for _, value in given]
    n_blocks = len(blocks[0])
    for (name, _), column in zip(given, blocks, strict=True):
        if column is not None and len(column) != n_blocks:
            raise ValueError(
                f"{name} must have as many chunks as {given[0][0]} if their sizes are "
                f"unknown, got {len(column)} and {n_blocks}; {remedy} of both computes "
                "them"
            )
    return [[None] * n_blocks if column is None else column for column in blocks]


def _delayed(collection):
    """Delayed blocks of a collection, in order."""
    # without optimisation, so that X and y share the tasks of common chunks
    blocks = collection.to_delayed(optimize_graph=False)
    return list(np.ravel(blocks)) if isinstance(blocks, np.ndarray) else list(blocks)


OPENERS.append(open_collections)
