"""Blocks of Dask arrays and data frames."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..statistics._block import add_all, as_block, on_block
from ..statistics._collections import is_collection
from ..statistics._row_blocks import OPENERS, RowBlocks

_LEAST_ENTRIES = 2**20  # of a range of scores: its merge takes a tenth of a second
_SEVERAL = 32  # ranges at least where there are so many entries: work for the workers
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
    called : (str, str), default=("X", "y")
        What X and y are called in an error.
    """

    parts: list[tuple[Any, ...]]
    n_features: tuple | None
    names: list | None = None
    called: tuple[str, str] = ("X", "y")

    @property
    def feature_names(self):
        """Columns of the data frame; None for arrays."""
        return self.names

    @property
    def _known(self):
        """What is known of each block before it is there."""
        return {"n_features": self.n_features, "called": self.called}

    def map(self, function, *shared, only=None):
        """See :meth:`RowBlocks.map`; all blocks at once, wherever they are."""
        found = _compute(*self._delayed(function, shared, only))
        return [result for result in found if result is not None]

    def total(self, function, *shared, only=None):
        """See :meth:`RowBlocks.total`; sums of 16 travel, in a tree."""
        (found,) = _compute(_tree(self._delayed(function, shared, only)))
        if found is None:
            raise ValueError(f"{self.called[0]} must have rows, got none in all chunks")
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

    def exchange(self, cut, merge, edges):
        """See :meth:`RowBlocks.exchange`; one pass, each range merged by one worker."""
        import dask

        # A task a block cuts, a task a range merges: each range is on one worker only.
        merge = dask.delayed(partial(_merge_parts, merge), pure=False)
        parts = self._delayed(cut, (edges,), run=_cut, nout=len(edges) - 1)
        found = [merge(*one) for one in zip(*parts, strict=True)]
        return list(_compute(*found))

    def look_up(self, cuts, answer, finish, edges):
        """See :meth:`RowBlocks.look_up`; answers go from worker to worker."""
        import dask

        # Of each range: its summary, and an answer for each block.
        nout = 1 + len(self.parts)
        answer = dask.delayed(partial(_answers, answer), pure=False, nout=nout)
        run = dask.delayed(_run, pure=False)
        # The ranges of all columns stand in one row; column j's end at ends[j].
        ends = np.cumsum([len(at) - 1 for at in edges]).tolist()
        parts = self._delayed(cuts, (edges,), run=_cut_all, nout=ends[-1])
        ranges = [list(answer(*one)) for one in zip(*parts, strict=True)]
        summaries = dask.delayed(partial(_in_columns, ends), pure=False)(
            *(one[0] for one in ranges)
        )
        finish = partial(_finish, finish, ends)
        found = [
            run(
                finish,
                number,
                self._known,
                *part,
                summaries,
                *(one[1 + number] for one in ranges),
            )
            for number, part in enumerate(self.parts)
        ]
        return _compute(summaries, _tree(found))

    def n_ranges(self, entries):
        """See :meth:`RowBlocks.n_ranges`; smaller ones, for all workers to share."""
        several = min(math.ceil(entries / _LEAST_ENTRIES), _SEVERAL)
        return max(several, super().n_ranges(entries))

    def _delayed(self, function, shared, only=None, run=None, nout=None):
        import dask

        run = dask.delayed(run or _run, pure=False, nout=nout)
        shared = [dask.delayed(value) for value in shared]  # sent once, not a block
        return [
            run(function, number, self._known, *part, *shared)
            for number, part in enumerate(self.parts)
            if only is None or number in only
        ]


def _compute(*tasks):
    """Results of the tasks.

    Columns travel to their blocks inside the graph, where they outlive a worker; a
    cluster would warn of graphs of 10 MB.
    """
    import dask

    if "distributed" not in dask.config.config:  # its defaults come with its import
        return dask.compute(*tasks)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return dask.compute(*tasks)


def open_collections(
    X, y=None, sample_weight=None, called=("X", "y")
) -> DaskBlocks | None:
    """Blocks of X, y and weights if one of them is a Dask collection, else None.

    Raises
    ------
    ValueError
        If X is none but another is, or their chunks do not match.
    """
    several = isinstance(X, tuple) and any(map(is_collection, (*X, y, sample_weight)))
    names = (*called, "sample_weight")
    given = dict(zip(names, (X[0] if several else X, y, sample_weight), strict=True))
    further = X[1:] if several else ()
    collections = [name for name, value in given.items() if is_collection(value)]
    if not collections and not several:
        return None
    if called[0] not in collections:
        found = _cut_like(called[0], given, further)
        if found is not None:
            given[called[0]] = found
            collections.insert(0, called[0])
    if called[0] not in collections:
        raise ValueError(
            f"{called[0]} must be a Dask collection as "
            f"{[*collections, 'a later score'][0]} is, got "
            f"{type(given[called[0]]).__name__}"
        )
    import dask

    for name, value in (*given.items(), *(("a score", one) for one in further)):
        if is_collection(value) and not hasattr(type(value), "ndim"):
            raise ValueError(
                f"{name} must be a Dask array or data frame, got "
                f"{type(value).__name__}, of which the rows are not known"
            )
    X = given[called[0]]
    if X.ndim not in (1, 2):
        raise ValueError(
            f"{called[0]} must have one or two dimensions, got shape {X.shape}"
        )
    features = list(X.columns) if hasattr(X, "columns") and X.ndim == 2 else None
    if hasattr(X, "chunks"):
        if len(X.chunks) == 2 and len(X.chunks[1]) > 1:
            # A block holds whole rows: products and scatter need all features of a row.
            X = X.rechunk({1: -1})
        # Dask's unknown sizes are nan.
        known = not np.isnan(X.shape[1:]).any()
        n_features, lengths = (X.shape[1:] if known else None), X.chunks[0]
    else:
        n_features, lengths = (() if features is None else (len(features),)), None
    rows = _delayed(X)
    n_blocks = len(rows)
    if several:
        more = [
            _aligned(called[0], column, lengths, n_blocks, called[0])
            for column in further
        ]
        stack = dask.delayed(_side_by_side, pure=False)
        parts = enumerate(zip(rows, *more, strict=True))
        rows = [stack(called[0], number, list(part)) for number, part in parts]
        n_features = (1 + len(further),)
    columns = [
        _aligned(called[1], y, lengths, n_blocks, called[0]),
        _aligned("sample_weight", sample_weight, lengths, n_blocks, called[0]),
    ]
    parts = _with_recipes(list(zip(rows, *columns, strict=True)))
    return DaskBlocks(parts, n_features, features, called)


def _cut_like(name, given, further):
    """An array of scores as a collection, cut where another one is known to be.

    None if it is no column, or no other's sizes are known.
    """
    import dask.array as da

    value = given[name]
    others = [(n, v) for n, v in given.items() if n != name]
    others += [("a later score", v) for v in further]
    known = [
        (n, v.chunks[0])
        for n, v in others
        if hasattr(v, "chunks") and not np.isnan(v.chunks[0]).any()
    ]
    if is_collection(value) or np.ndim(value) != 1 or not known:
        return None
    column, (other, lengths) = np.asarray(value), known[0]
    if len(column) != sum(lengths):
        raise ValueError(
            f"{name} must have one value for each of the {sum(lengths)} rows of "
            f"{other}, got {len(column)}"
        )
    return da.from_array(column, chunks=(lengths,))


def _aligned(name, column, lengths, n_blocks, rows):
    """The blocks of a column, cut where the rows are, which are called ``rows``."""
    if column is None:
        return [None] * n_blocks
    is_frame = lengths is None
    finding = "to_dask_array(lengths=True)" if is_frame else "compute_chunk_sizes()"
    known = lengths is not None and not np.isnan(lengths).any()
    if hasattr(column, "chunks"):
        column = column.rechunk({axis: -1 for axis in range(1, column.ndim)})
    if not is_collection(column):
        if not known:
            raise ValueError(
                f"{name} must be a Dask collection where the sizes of the chunks of "
                f"{rows} are unknown, got an array; {finding} finds them"
            )
        column = np.asarray(column)
        if np.shape(column)[:1] != (sum(lengths),):
            raise ValueError(
                f"{name} must have one value for each of the {sum(lengths)} rows of "
                f"{rows}, got shape {np.shape(column)}"
            )
        return np.split(column, np.cumsum(lengths)[:-1])
    if hasattr(column, "chunks") and known and not np.isnan(column.chunks[0]).any():
        if sum(column.chunks[0]) != sum(lengths):
            raise ValueError(
                f"{name} must have one value for each of the {sum(lengths)} rows of "
                f"{rows}, got {sum(column.chunks[0])}"
            )
        column = column.rechunk({0: lengths})
    blocks = _delayed(column)
    if len(blocks) != n_blocks:
        raise ValueError(
            f"{name} must have as many chunks as {rows} where their sizes are unknown, "
            f"got {len(blocks)} and {n_blocks}; {finding} of both finds them"
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
    # A task that two blocks need (a file, a shuffle) must not run once for each.
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


def _run(function, number, known, X, y, weight, *shared):
    """One block's result; None without rows."""
    X, y, weight = _made([X, y, weight])
    block = as_block(number, X, y, weight, **known)
    return on_block(function, block, *shared) if len(block) else None


def _cut(cut, number, known, X, y, weight, edges):
    """A block's parts; None for each without rows."""
    parts = _run(cut, number, known, X, y, weight, edges)
    return [None] * (len(edges) - 1) if parts is None else parts


def _cut_all(cuts, number, known, X, y, weight, edges):
    """The parts of all columns, one column after the other."""
    rows = number, known, X, y, weight
    return [
        part
        for cut, at in zip(cuts, edges, strict=True)
        for part in _cut(cut, *rows, at)
    ]


def _side_by_side(name, number, parts):
    """Columns of a block."""
    lengths = [len(part) for part in parts]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"{name} and the other scores must have as many rows as each other, got "
            f"{lengths} in chunk {number}"
        )
    return np.column_stack(parts)


def _merge_parts(merge, *parts):
    return merge([part for part in parts if part is not None])


def _answers(answer, *parts):
    """A summary, then an answer for each block; None for those without rows."""
    there = [number for number, part in enumerate(parts) if part is not None]
    summary, found = answer([parts[number] for number in there])
    answers = [None] * len(parts)
    for number, one in zip(there, found, strict=True):
        answers[number] = one
    return [summary, *answers]


def _in_columns(ends, *ranges):
    """What there is of each range, in a list for each column."""
    return [list(ranges[a:b]) for a, b in pairwise([0, *ends])]


def _finish(finish, ends, block, summaries, *answers):
    return finish(block, summaries, _in_columns(ends, *answers))


def _tree(results):
    """One delayed sum of delayed results.

    They are arguments, each on its own: in a list Dask would copy the graph of each.
    """
    import dask

    merge = dask.delayed(_merge, pure=False)
    while len(results) > 1:
        results = [
            merge(*results[k : k + _MERGED]) for k in range(0, len(results), _MERGED)
        ]
    return results[0]


def _merge(*results):
    found = [result for result in results if result is not None]
    return add_all(found) if found else None


OPENERS.append(open_collections)
