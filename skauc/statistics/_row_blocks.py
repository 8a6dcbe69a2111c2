"""Rows in blocks: what is computed of each block is added up, wherever the block is.

Everything that is a sum over rows (moments, gradients, counts of ranks) is written
once, as a function of one :class:`Block`, and given to :meth:`RowBlocks.total`. On one
machine the blocks are read one after the other; ``distributed`` registers who opens the
collections of an engine that holds them elsewhere, so that nothing here or above knows
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import sparse

from ._block import add_all, as_block, as_rows, columns_of, on_block
from ._numbers import as_count
from ._numerics import rows_read_at_once
from ._parquet import blocks_of_parquet
from ._spill import Spill

RANGE_ENTRIES = 2**23  # of 16 to 48 bytes: a range and its sort take about 0.6 GiB
OPENERS: list[Callable] = []  # (X, y, weight, names) -> RowBlocks, or None: not mine


class RowBlocks:
    """Rows that are read block by block, as often as a pass over them is needed.

    For more rows than memory holds: memory maps, Parquet files, or whatever a function
    can read again. Functions that say so take it in place of their arrays, and Dask's
    collections in the same way; one block is held at a time, and what is summed up.

    Parameters
    ----------
    blocks : iterable of tuples, or callable that returns one
        Each ``(X, y)`` or ``(X, y, sample_weight)`` of some rows, in the order of the
        arguments of the function that takes them. It must give the same blocks each
        time it is read: a list, an object with ``__iter__``, or a function that
        begins anew; not a generator. X is dense, sparse or a frame, of which all have
        the same columns; chunks may be empty, or hold one row or one class.

    Raises
    ------
    ValueError
        If ``blocks`` cannot be read, or not again. What is wrong inside a block is said
        by the function that reads it, with the number of the block.

    Notes
    -----
    Whatever is summed is the same for any cut of the rows, up to rounding: moments are
    merged around their means (Chan, Golub & LeVeque), never subtracted.

    References
    ----------
    Chan, Golub & LeVeque (1983), https://doi.org/10.1080/00031305.1983.10483115

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import RowBlocks, class_moments
    >>> def blocks():
    ...     for seed in range(3):
    ...         X = np.random.default_rng(seed).normal(size=(100, 2))
    ...         yield X, X[:, 0] > 0
    >>> neg, pos = class_moments(RowBlocks(blocks))
    >>> neg.n + pos.n
    300.0
    """

    called = ("X", "y")

    def __init__(self, blocks):
        if not callable(blocks):
            if not isinstance(blocks, Iterable) or isinstance(blocks, str | bytes):
                raise ValueError(
                    "blocks must be an iterable of tuples (X, y), or a function that "
                    f"returns one, got {type(blocks).__name__}"
                )
            # A generator is its own iterator: a second pass over it would find nothing
            if iter(blocks) is blocks:
                raise ValueError(
                    "blocks must be readable again, got an iterator; pass the function "
                    "that returns it"
                )
        self._blocks = blocks
        self._feature_names: list | None = None

    @classmethod
    def from_arrays(cls, X, y, sample_weight=None, *, n_rows=None) -> RowBlocks:
        """Blocks of arrays, such as memory maps: ``np.load(file, mmap_mode="r")``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, P) or (n,)
        y : array of shape (n,)
        sample_weight : array of shape (n,), default=None
        n_rows : int, default=None
            Rows of a block; None takes blocks of about 16 MiB.

        Returns
        -------
        RowBlocks

        Raises
        ------
        ValueError
            If something is no array, lengths differ, or ``n_rows`` is no count.
        """
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        arrays = {k: as_rows(k, v) for k, v in given.items() if v is not None}
        lengths = [array.shape[0] for array in arrays.values()]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"X, y and sample_weight must have one length, got {lengths}"
            )
        if n_rows is None:
            step = rows_read_at_once(int(np.prod(arrays["X"].shape[1:])))
        else:
            step = as_count("n_rows", n_rows)

        def blocks():
            for start in range(0, lengths[0], step):
                rows = slice(start, start + step)
                yield tuple(array[rows] for array in arrays.values())

        return _NamedBlocks(blocks)

    @classmethod
    def from_parquet(cls, path, *, y, sample_weight=None, X=None) -> RowBlocks:
        """Blocks of a Parquet file or directory; needs pyarrow.

        Parameters
        ----------
        path : str or Path
        y, sample_weight : str
            Columns of the labels and of the weights.
        X : list of str, or str, default=None
            Columns of the features, or the one of a score; None takes all others but
            those that were the index of a data frame.

        Returns
        -------
        RowBlocks
            Of about 16 MiB each, or a row group where that is less.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        ValueError
            If a column is not in the file, or one of the features holds no numbers.
        """
        blocks, features = blocks_of_parquet(path, y, sample_weight, X)
        found = _NamedBlocks(blocks)
        # Without pandas there are no frames that the names could be compared with
        if features is not None and find_spec("pandas") is not None:
            found._feature_names = features
        return found

    def __repr__(self):
        return "RowBlocks(...)"

    @property
    def feature_names(self) -> list | None:
        """Names of the columns of X, where they have some."""
        return self._feature_names

    def map(self, function, *shared, only=None) -> list:
        """``function(block, *shared)`` of every block that has rows, in their order.

        Parameters
        ----------
        function : callable
            Of a module, so that it can be sent; its result should be small.
        *shared
            What all blocks are told.
        only : set of int, default=None
            Numbers of the blocks that are asked; None asks all.

        Returns
        -------
        list

        Raises
        ------
        ValueError
            The function's own, with the number of the block; if a block holds no
            numbers, or is as wide as no other.
        """
        return list(self._results(function, shared, only))

    def total(self, function, *shared, only=None):
        """The sum of ``function(block, *shared)`` over the blocks.

        Results are numbers, arrays, :class:`Moments`, other things that can be added,
        or tuples of them. Only they, or sums of them, leave the place where a block is.

        Raises
        ------
        ValueError
            As :meth:`map`; if no block has rows.
        """
        total = None
        for result in self._results(function, shared, only):
            # Added as they come: two results are held
            total = result if total is None else add_all([total, result])
        if total is None:
            raise ValueError(f"{self.called[0]} must have rows, got none in all chunks")
        return total

    def _results(self, function, shared, only):
        P = None
        for number, parts in enumerate(self._read()):
            if only is not None and number not in only:
                continue
            known = {
                "n_features": P,
                "called": self.called,
                "names": self.feature_names,
            }
            block = as_block(number, *parts, **known)
            if len(block):
                # The first block with rows says how wide the others must be
                P = block.X.shape[1:]
                if self._feature_names is None:
                    self._feature_names = columns_of(parts[0])
                found = on_block(function, block, *shared)
                if found is not None:
                    yield found

    def exchange(self, cut, merge, edges) -> list:
        """What lies between two edges, of all blocks together, for each two edges.

        Parameters
        ----------
        cut : callable
            ``cut(block, edges)`` returns the parts of a block from each edge to the
            next.
        merge : callable
            ``merge(parts)`` of the parts of all blocks between two edges; small.
        edges : ndarray of shape (r + 1,)

        Returns
        -------
        list
            r results. Here each takes a pass over the blocks, so that what lies between
            two edges is all that is held.
        """
        return [
            merge(self._between(cut, two_edges))
            for two_edges in sliding_window_view(edges, 2)
        ]

    def _between(self, cut, two_edges):
        """The parts of all blocks; a pass of its own."""
        parts = [part for (part,) in self.map(cut, two_edges)]
        if not parts:
            raise ValueError(
                "blocks must hold the same rows each time they are read, got none now"
            )
        return parts

    def look_up(self, cuts, answer, finish, edges):
        """Send what lies in a range through one place, and the answers back.

        Parameters
        ----------
        cuts : list of callable
            ``cut(block, edges)`` as for :meth:`exchange`, one for each of k columns.
        answer : callable
            ``answer(parts)`` returns a summary of a range, small, and for each part an
            array.
        finish : callable
            ``finish(block, summaries, answers)`` of a block, small; of both a list for
            each column with an entry for each range.
        edges : list of ndarray
            Of each column.

        Returns
        -------
        summaries : list of list
        total
            The sum of what ``finish`` returns. Here each range of each column takes a
            pass over the blocks, and the answers wait in a temporary file.
        """
        with Spill() as spill:

            def one_range(cut, two_edges):
                summary, found = answer(self._between(cut, two_edges))
                return summary, [spill.put(one) for one in found]

            ranges = [
                [one_range(cut, two) for two in sliding_window_view(at, 2)]
                for cut, at in zip(cuts, edges, strict=True)
            ]
            summaries = [[summary for summary, _ in column] for column in ranges]
            # From range by range, as answered, to block by block, as they are read
            slots = [zip(*(s for _, s in column), strict=True) for column in ranges]
            of_blocks = zip(*slots, strict=True)

            def with_answers(block):
                # Blocks are read in the order of the passes that have asked
                found = [[spill.get(slot) for slot in one] for one in next(of_blocks)]
                return finish(block, summaries, found)

            return summaries, self.total(with_answers)

    def n_ranges(self, entries) -> int:
        """Ranges into which :meth:`exchange` should cut so many entries."""
        return math.ceil(entries / RANGE_ENTRIES)

    def n_columns(self) -> int:
        """Columns of X, 1 if it is one-dimensional; reads the first block."""
        for parts in self._read():
            X = as_block(0, *parts, called=self.called).X
            if 0 in X.shape[1:]:
                raise ValueError(
                    f"{self.called[0]} must hold one column or more, got shape "
                    f"{X.shape}, in chunk 0"
                )
            return X.shape[1] if X.ndim > 1 else 1
        return 1

    def nothing_beside(self, **given):
        """Refuse arguments that must stand inside the blocks."""
        if any(value is not None for value in given.values()):
            raise ValueError(
                f"{' and '.join(given)} must stand inside the blocks, got them beside"
            )

    def labels_first(self, called) -> RowBlocks:
        """These blocks for a function whose labels come before its scores.

        Parameters
        ----------
        called : (str, str)
            What the function calls its scores and its labels.
        """
        # Blocks come in the order of the function's arguments: (y_true, y_score)
        blocks = RowBlocks(lambda: ((X, y, *w) for y, X, *w in self._read()))
        blocks.called = called
        return blocks

    def gather(self, *, weighted=False) -> tuple[Any, Any, Any]:
        """All rows in memory: X, y and weight; for few of them.

        Parameters
        ----------
        weighted : bool, default=False
            Leave out the rows of weight 0, of which there may be many.

        Returns
        -------
        X : ndarray or CSR matrix of shape (n, P), or ndarray of shape (n,)
        y, weight : ndarray of shape (n,) or None
        """
        X, y, weight = zip(*self.map(_rows_of, weighted), strict=True)
        is_sparse = any(map(sparse.issparse, X))
        joined = sparse.vstack(X, format="csr") if is_sparse else np.concatenate(X)
        labels = None if y[0] is None else np.concatenate(y)
        if all(part is None for part in weight):
            return joined, labels, None
        pairs = zip(X, weight, strict=True)
        # Some blocks have weights: rows of the others count once
        filled = [np.ones(rows.shape[0]) if w is None else w for rows, w in pairs]
        return joined, labels, np.concatenate(filled)

    def beside(self, y, weight) -> RowBlocks:
        """The same rows with other columns beside them.

        Parameters
        ----------
        y, weight : dict of int to ndarray
            By the number of the block; of a block that is not there, None.
        """
        return self._derived(
            lambda: (
                (parts[0], y.get(number), weight.get(number))
                for number, parts in enumerate(self._read())
            )
        )

    def every(self, step) -> RowBlocks:
        """Every step-th block, from the first one."""
        return self._derived(lambda: islice(self._read(), 0, None, step))

    def _derived(self, blocks):
        found = RowBlocks(blocks)
        found.called = self.called
        found._feature_names = self._feature_names
        return found

    def _read(self):
        blocks = self._blocks() if callable(self._blocks) else self._blocks
        if not isinstance(blocks, Iterable):
            raise ValueError(
                "blocks must be a function that returns an iterable of tuples (X, y), "
                f"got one that returns {type(blocks).__name__}"
            )
        for number, parts in enumerate(blocks):
            if not isinstance(parts, tuple) or len(parts) not in (2, 3):
                raise ValueError(
                    "blocks must be tuples (X, y) or (X, y, sample_weight), got "
                    f"{type(parts).__name__} in chunk {number}"
                )
            yield parts


class _NamedBlocks(RowBlocks):
    """Blocks whose X and y were named: no function's order of arguments counts."""

    def labels_first(self, called) -> RowBlocks:
        """See :meth:`RowBlocks.labels_first`; only the names are others."""
        blocks = _NamedBlocks(self._blocks)
        blocks._feature_names, blocks.called = self._feature_names, called
        return blocks


def row_blocks(X, y=None, sample_weight=None, called=("X", "y")) -> RowBlocks | None:
    """The rows in blocks, if they come as a collection or as blocks; None for arrays.

    Parameters
    ----------
    X, y, sample_weight : anything
    called : (str, str), default=("X", "y")
        What X and y are called in an error.

    Returns
    -------
    RowBlocks or None
    """
    if isinstance(X, RowBlocks):
        X.nothing_beside(y=y, sample_weight=sample_weight)
        return X
    # skauc.distributed registers what it can open: no engine is imported here
    for opener in OPENERS:
        blocks = opener(X, y, sample_weight, called)
        if blocks is not None:
            return blocks
    return None


def _rows_of(block, weighted):
    X, y, weight = block.X, block.y, block.weight
    if not weighted or weight is None:
        return X, y, weight
    kept = np.asarray(weight) > 0
    return X[kept], y[kept], weight[kept]
