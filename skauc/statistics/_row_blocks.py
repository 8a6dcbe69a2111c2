"""Rows in blocks: what is computed of each block is added up, wherever the block is.

Everything that is a sum over rows (moments, gradients, counts of ranks) is written
once, as a function of one :class:`Block`, and given to :meth:`RowBlocks.total`. On one
machine the blocks are read one after the other; ``distributed`` registers who opens the
collections of an engine that holds them elsewhere, so that nothing here or above knows
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ._numbers import as_count
from ._numerics import block_rows

_TAKE_BLOCKS = (
    "class_moments, auc_estimate, compare_auc, auc_posterior and the fits of "
    "GaussianAUCClassifier, IRLSLogisticRegression and LinearDiscriminantROC"
)
_READ = 8  # blocks of a cache at once: what a block costs beside its rows is 5 %
OPENERS: list[Callable] = []  # (X, y, sample_weight) -> RowBlocks, or None: not mine


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the rows.

    Parameters
    ----------
    number : int
        Which block, from 0.
    X : ndarray of shape (m, P) or (m,), or CSR matrix of shape (m, P)
        Finite or not; numbers.
    y : ndarray of shape (m,) or None
    weight : ndarray of shape (m,) or None
    """

    number: int
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None

    def __len__(self):
        return self.X.shape[0]


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
        begins anew; not a generator. X is dense, sparse or a frame; chunks may be
        empty, or hold one row or one class.

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

    def __init__(self, blocks):
        if not callable(blocks):
            if not isinstance(blocks, Iterable) or isinstance(blocks, str | bytes):
                raise ValueError(
                    "blocks must be an iterable of tuples (X, y), or a function that "
                    f"returns one, got {type(blocks).__name__}"
                )
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
        arrays = {k: _as_rows(k, v) for k, v in given.items() if v is not None}
        lengths = [array.shape[0] for array in arrays.values()]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"X, y and sample_weight must have one length, got {lengths}"
            )
        if n_rows is None:
            step = _READ * block_rows(int(np.prod(arrays["X"].shape[1:])))
        else:
            step = as_count("n_rows", n_rows)

        def blocks():
            for start in range(0, lengths[0], step):
                rows = slice(start, start + step)
                yield tuple(array[rows] for array in arrays.values())

        return cls(blocks)

    @classmethod
    def from_parquet(cls, path, *, y, sample_weight=None, X=None) -> RowBlocks:
        """Blocks of a Parquet file or directory; needs pyarrow.

        Parameters
        ----------
        path : str or Path
        y, sample_weight : str
            Columns of the labels and of the weights.
        X : list of str, or str, default=None
            Columns of the features, or the one of a score; None takes all others.

        Returns
        -------
        RowBlocks

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        ValueError
            If a column is not in the file.
        """
        try:
            from pyarrow import dataset
        except ImportError as missing:
            raise ImportError(
                "from_parquet needs pyarrow: pip install pyarrow"
            ) from missing
        source = dataset.dataset(path, format="parquet")
        others = [c for c in source.schema.names if c not in (y, sample_weight)]
        features = others if X is None else X
        named = [features] if isinstance(features, str) else list(features)
        used = [*named, y, *([] if sample_weight is None else [sample_weight])]
        for name in used:
            if name not in source.schema.names:
                raise ValueError(
                    f"X, y and sample_weight must be columns of the file, got {name!r}"
                )

        def column(batch, name):
            return batch.column(name).to_numpy(zero_copy_only=False)

        def blocks():
            for batch in source.to_batches(columns=list(dict.fromkeys(used))):
                columns = [column(batch, name) for name in used]
                rows = columns[0]
                if not isinstance(features, str):
                    rows = np.column_stack(columns[: len(named)])
                yield (rows, *columns[len(named) :])

        found = cls(blocks)
        found._feature_names = None if isinstance(features, str) else list(features)
        return found

    @property
    def feature_names(self) -> list | None:
        """Names of the columns of X, where they have some."""
        return self._feature_names

    def map(self, function, *shared) -> list:
        """``function(block, *shared)`` of every block that has rows, in their order.

        Parameters
        ----------
        function : callable
            Of a module, so that it can be sent; its result should be small.
        *shared
            What all blocks are told.

        Returns
        -------
        list

        Raises
        ------
        ValueError
            The function's own, with the number of the block; if a block holds no
            numbers, or is as wide as no other.
        """
        return list(self._results(function, shared))

    def total(self, function, *shared):
        """The sum of ``function(block, *shared)`` over the blocks.

        Results are numbers, arrays, :class:`Moments`, other things that can be added,
        or tuples of them. Only they, or sums of them, leave the place where a block is.

        Raises
        ------
        ValueError
            As :meth:`map`; if no block has rows.
        """
        total = None
        for result in self._results(function, shared):
            total = result if total is None else add_all([total, result])
        if total is None:
            raise ValueError("X must have rows, got none in all chunks")
        return total

    def _results(self, function, shared):
        P = None
        for number, parts in enumerate(self._read()):
            block = as_block(number, *parts, n_features=P)
            if len(block):
                P = block.X.shape[1:]
                yield on_block(function, block, *shared)

    def _read(self):
        for number, parts in enumerate(
            self._blocks() if callable(self._blocks) else self._blocks
        ):
            if not isinstance(parts, tuple) or len(parts) not in (2, 3):
                raise ValueError(
                    "blocks must be tuples (X, y) or (X, y, sample_weight), got "
                    f"{type(parts).__name__} in chunk {number}"
                )
            yield parts


def _as_rows(name, value):
    """Rows that ``[a:b]`` cuts without copying the rest."""
    if sparse.issparse(value):
        return value.tocsr()
    try:
        array = np.asanyarray(value)
    except ValueError:  # lists of several lengths
        array = np.empty(())
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array of rows, got {value!r:.60}")
    return array


def row_blocks(X, y=None, sample_weight=None) -> RowBlocks | None:
    """The rows in blocks, if they come as a collection or as blocks; None for arrays.

    Parameters
    ----------
    X, y, sample_weight : anything

    Returns
    -------
    RowBlocks or None
    """
    if isinstance(X, RowBlocks):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "y and sample_weight must stand inside the blocks, got them beside"
            )
        return X
    for opener in OPENERS:
        blocks = opener(X, y, sample_weight)
        if blocks is not None:
            return blocks
    return None


def is_collection(value) -> bool:
    """Whether the rows are in a collection such as Dask's; does not import it."""
    graph = getattr(type(value), "__dask_graph__", None)
    return graph is not None and value.__dask_graph__() is not None


def refuse_collection(name, value):
    """Raise where rows in blocks would have to be gathered.

    Parameters
    ----------
    name : str
    value : anything

    Raises
    ------
    ValueError
        If it is a collection, or :class:`RowBlocks`.
    """
    if isinstance(value, RowBlocks) or is_collection(value):
        raise ValueError(
            f"{name} must be an array where all rows are needed at once, got "
            f"{type(value).__name__}, which is not gathered; {_TAKE_BLOCKS} take rows "
            "in blocks, and X.map_blocks(model.predict) predicts where they are"
        )


def as_block(number, X, y=None, weight=None, *, n_features=None) -> Block:
    """One block of clean arrays.

    Parameters
    ----------
    number : int
    X, y, weight : array-like
    n_features : tuple, default=None
        ``X.shape[1:]`` of the other blocks, if it is known.

    Raises
    ------
    ValueError
        If X holds no numbers, has another width, or lengths differ; the chunk is named.
    """
    try:
        return Block(number, *_checked(X, y, weight, n_features))
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {number}") from None


def _checked(X, y, weight, n_features):
    X = _as_rows("X", X)
    if X.dtype.kind == "O":
        X = _floats(X)
    if X.dtype.kind not in "biuf" or X.ndim > 2:
        raise ValueError(
            "X must hold real numbers in one or two dimensions, got dtype "
            f"{X.dtype} and shape {X.shape}"
        )
    if n_features is not None and X.shape[0] and X.shape[1:] != n_features:
        raise ValueError(
            f"X must have {n_features or 'no'} columns as the other chunks, got shape "
            f"{X.shape}"
        )
    columns = [
        None if column is None else _as_rows(name, column)
        for name, column in (("y", y), ("sample_weight", weight))
    ]
    for name, column in zip(("y", "sample_weight"), columns, strict=True):
        if column is not None and len(column) != X.shape[0]:
            raise ValueError(
                f"{name} must have one value for each of the {X.shape[0]} rows, got "
                f"{len(column)}"
            )
    return X, *columns


def _floats(X):
    try:
        return X.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("X must hold real numbers, got objects") from None


def on_block(function, block, *shared):
    """``function(block, *shared)``; what it raises names the chunk."""
    try:
        return function(block, *shared)
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {block.number}") from None


def add_all(results):
    """Sum of results that are numbers, arrays, moments, or tuples of such."""
    total = results[0]
    for result in results[1:]:
        total = _add(total, result)
    return total


def _add(a, b):
    if isinstance(a, tuple):
        return tuple(_add(x, y) for x, y in zip(a, b, strict=True))
    return a + b
