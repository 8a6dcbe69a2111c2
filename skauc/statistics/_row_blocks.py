"""Rows in blocks: a result is computed from each block, and sums are added up.

A sum over rows (moments, gradients, products) is a function of one :class:`Block`,
given to :meth:`RowBlocks.total`. On one machine the blocks are read one after the
other, or as many at once as joblib has jobs; ``distributed`` registers its opener of
collections in ``OPENERS``, so that no engine is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from ._checks import as_numbers, check_integer, is_collection, one_a_row, refuse_mask

# size of copied and multiplied rows: they stay in the level-2 cache of a core
BLOCK_BYTES = 2**20
# size of rows that are read at once: the overhead of a block is 5 %
READ_BYTES = 2**24
_TAKE_BLOCKS = (
    "class_moments, auc_estimate, compare_auc, auc_posterior, bayesian_val_score, the "
    "scorers of a posterior and the fits of GaussianAUCClassifier and "
    "IRLSLogisticRegression take rows in blocks; predict on each block, by map of "
    "RowBlocks, or by map_blocks or map_partitions of Dask"
)
OPENERS: list[Callable] = []  # (X, y, weight, names) -> RowBlocks


def block_rows(n_columns, size=BLOCK_BYTES, *, least=1) -> int:
    """Rows of a float64 block of so many bytes, at least ``least``."""
    return max(size // (8 * max(n_columns, 1)), least)


def parts_of(count: int, step: int):
    """Slices of ``step`` elements each that cover ``count`` elements."""
    return (slice(start, start + step) for start in range(0, count, step))


def dense(X) -> np.ndarray:
    """Rows as an ndarray."""
    return X.toarray() if sparse.issparse(X) else X


@dataclass(frozen=True, eq=False)
class Block:
    """A block of rows.

    Parameters
    ----------
    number : int
        Number of the block, from 0.
    X : ndarray of shape (m, P) or (m,), or CSR matrix of shape (m, P)
        Numbers, finite or not.
    y : ndarray of shape (m,) or None
    weight : ndarray of shape (m,) or None
    """

    number: int
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None

    def __len__(self):
        return self.X.shape[0]


def as_block(number, X, y, weight=None, *, n_features, called, names=None) -> Block:
    """Clean arrays of one block.

    Parameters
    ----------
    number : int
    X, y, weight : array-like
    n_features : tuple or None
        ``X.shape[1:]`` of the other blocks, if it is known.
    called : (str, str)
        Names of X and y in an error.
    names : list, default=None
        Columns of the other blocks, if they are frames.

    Raises
    ------
    ValueError
        If X holds no numbers, has another width or other columns, or lengths differ;
        the chunk is named.
    """
    try:
        check_columns(called[0], columns_of(X), names, "the other chunks")
        X = _features(called[0], X, n_features)
        y = _column(called[1], y, X.shape[0])
        weight = _column("sample_weight", weight, X.shape[0])
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {number}") from None
    return Block(number, X, y, weight)


def _features(name, X, n_features):
    """Check real numbers in one or two dimensions, as wide as the other blocks."""
    X = as_rows(name, X)
    if X.dtype.kind == "O":
        X = as_numbers(name, X)
    if X.dtype.kind not in "biuf" or X.ndim > 2:
        raise ValueError(
            f"{name} must hold real numbers in one or two dimensions, got dtype "
            f"{X.dtype} and shape {X.shape}"
        )
    if n_features is not None and X.shape[0] and X.shape[1:] != n_features:
        raise ValueError(
            f"{name} must have {', '.join(map(str, n_features)) or 'no'} columns "
            f"as the other chunks, got shape {X.shape}"
        )
    return X


def _column(name, column, n_rows):
    """Check labels or weights, one per row."""
    return None if column is None else one_a_row(name, as_rows(name, column), n_rows)


def as_rows(name, value):
    """Convert to a container whose slices ``[a:b]`` are cheap."""
    if sparse.issparse(value):
        return value.tocsr()
    refuse_mask(name, value)
    try:
        array = np.asanyarray(value)
    except ValueError:  # lists of several lengths
        array = np.empty(())
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array of rows, got {value!r:.60}")
    return array


def columns_of(X):
    """The columns of a data frame; None for anything else."""
    return list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else None


def check_columns(name, columns, expected, source):
    """Raise if columns are not those of the source; None for columns without names."""
    if columns is None or expected is None or len(columns) != len(expected):
        return  # the check of the width reports another number of columns
    for own, other in zip(columns, expected, strict=True):
        if own != other:
            raise ValueError(
                f"{name} must have the columns of {source} in their order, got {own!r} "
                f"in place of {other!r}"
            )


def on_block(function, block, *given):
    """Return ``function(block, *given)``; an error names the chunk."""
    try:
        return function(block, *given)
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {block.number}") from None


def add_all(results):
    """Sum of results: numbers, arrays, moments, or tuples; None is left out."""
    return reduce(_add, results, None)


def _add(a, b):
    """Sum of two results."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        return tuple(_add(x, y) for x, y in zip(a, b, strict=True))
    return a + b


class RowBlocks:
    """Data set that is read block by block, once for each pass over the rows.

    Answers: how are data analysed that do not fit into memory, such as memory maps,
    Parquet files, or blocks that a function reads? Functions that mention RowBlocks in
    their documentation accept it in place of their arrays; they accept Dask collections
    in the same way. The features of one block at a time are in memory, and sums over
    the blocks. With ``joblib.parallel_config(n_jobs=…)`` they are the features of one
    block per job, and the blocks may be read in another thread. Labels, weights and
    scores are arrays of n numbers in memory, except in :func:`class_moments`.

    Parameters
    ----------
    blocks : iterable of tuples, or callable that returns one
        Each block is a tuple ``(X, y)`` or ``(X, y, sample_weight)``, in this order for
        every function; where a function takes scores, they are X. Every reading must
        give the same blocks: pass a list, an object with ``__iter__``, or a function
        that starts again; not a generator. X is dense, sparse or a frame, with the same
        columns in all blocks. Blocks may be empty, or hold a single row or class.

    Raises
    ------
    ValueError
        If ``blocks`` cannot be read, or cannot be read twice. The function that reads
        an invalid block raises an error that names the number of the block.

    See Also
    --------
    class_moments : Counts, means and scatter matrices of all blocks.
    auc_estimate : The AUC of a score in blocks.
    IRLSLogisticRegression : Logistic regression of rows in blocks.

    Notes
    -----
    Results do not depend on how the rows are divided into blocks, up to rounding:
    moments are merged around their means [1]_.

    References
    ----------
    .. [1] Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance",
       https://doi.org/10.1080/00031305.1983.10483115

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

    def __init__(self, blocks: Iterable | Callable[[], Iterable]) -> None:
        if not callable(blocks):
            _check_iterable(blocks, "got")
            # a generator is its own iterator, and a second pass over it would be empty
            if iter(blocks) is blocks:
                raise ValueError(
                    "blocks must be readable again, got an iterator; pass the function "
                    "that returns it"
                )
        self._blocks = blocks
        self.feature_names: list | None = None  # of the columns of X
        self._called = "X", "y"  # names of X and y in an error

    @classmethod
    def from_arrays(
        cls, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> RowBlocks:
        """Blocks of arrays, or of memory maps as ``np.load(file, mmap_mode="r")``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, P) or (n,)
        y : array of shape (n,)
        sample_weight : array of shape (n,), default=None
        n_rows : int, default=None
            Number of rows in a block; None makes blocks of about 16 MiB.

        Returns
        -------
        RowBlocks

        Raises
        ------
        ValueError
            If an argument is not an array, lengths differ, or ``n_rows`` is not a
            positive integer.
        """
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        arrays = {k: as_rows(k, v) for k, v in given.items() if v is not None}
        lengths = [array.shape[0] for array in arrays.values()]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"X, y and sample_weight must have one length, got {lengths}"
            )
        if n_rows is None:
            step = block_rows(int(np.prod(arrays["X"].shape[1:])), READ_BYTES)
        else:
            step = check_integer("n_rows", n_rows, 1)

        def blocks():
            for start in range(0, lengths[0], step):
                rows = slice(start, start + step)
                yield tuple(array[rows] for array in arrays.values())

        return cls(blocks)

    def __repr__(self):
        return f"{type(self).__name__}(...)"

    def map(self, function: Callable, *shared: Any, each: dict | None = None) -> list:
        """List of ``function(block, *shared)`` over all blocks that are not empty.

        Parameters
        ----------
        function : callable
            A function defined in a module, so that it can be pickled. Its result should
            be small.
        *shared
            Further arguments, the same for all blocks.
        each : dict of int to object, default=None
            Additional argument for each block by its number, passed as
            ``function(block, each[number], *shared)``. Blocks that are not in the dict
            are skipped.

        Returns
        -------
        list

        Raises
        ------
        ValueError
            If the function raises it (the number of the block is added to the text), if
            a block is not numeric or has another number of columns than the first, or
            if all blocks are empty.
        """
        return self._not_empty(list(self._results(function, shared, each)) or None)

    def total(self, function: Callable, *shared: Any, each: dict | None = None) -> Any:
        """Sum of ``function(block, *shared)`` over all blocks; see :meth:`map`.

        Results are numbers, arrays, :class:`skauc.results.Moments` or other objects
        that can be added, or tuples of them. Only these results or sums of them are
        sent between processes.

        Raises
        ------
        ValueError
            As :meth:`map`.
        """
        # added one by one, so that at most two results are in memory
        return self._not_empty(add_all(self._results(function, shared, each)))

    def _not_empty(self, results):
        """Return the results; raise if they are None, because no block has rows."""
        if results is None:
            raise ValueError(
                f"{self._called[0]} must have at least one row, got only empty chunks"
            )
        return results

    def _results(self, function, shared, each):
        """Results in order; joblib's number of jobs sets the blocks at once."""
        how = {"require": "sharedmem", "return_as": "generator"}
        n_jobs = effective_n_jobs(None)  # None would be 1 where joblib has processes
        return Parallel(n_jobs, pre_dispatch=n_jobs, **how)(
            delayed(on_block)(function, *block, *shared)
            for block in self._with_rows(each)
        )

    def _with_rows(self, each):
        """Yield ``(block,)`` or ``(block, each[number])`` of blocks with rows."""
        width, last = None, None if each is None else max(each, default=-1) + 1
        for number, parts in enumerate(islice(self._read(), last)):
            if each is not None and number not in each:
                continue
            known = {"called": self._called, "names": self.feature_names}
            block = as_block(number, *parts, n_features=width, **known)
            if len(block):
                # the first block with rows sets the width of all blocks
                width = block.X.shape[1:]
                if self.feature_names is None:
                    self.feature_names = columns_of(parts[0])
                yield (block,) if each is None else (block, each[number])

    def _read(self):
        """Yield the tuples of the blocks."""
        blocks = self._blocks() if callable(self._blocks) else self._blocks
        _check_iterable(blocks, "got one that returns")
        for number, parts in enumerate(blocks):
            if not isinstance(parts, tuple) or len(parts) not in (2, 3):
                raise ValueError(
                    "blocks must be tuples (X, y) or (X, y, sample_weight), got "
                    f"{type(parts).__name__} in chunk {number}"
                )
            yield parts


def refuse_beside(**given):
    """Refuse arguments that must stand inside the blocks."""
    if any(value is not None for value in given.values()):
        raise ValueError(
            f"{' and '.join(given)} must be inside the blocks, got further arguments"
        )


def with_names(blocks, called, **beside) -> RowBlocks:
    """The same blocks, with nothing beside; X and y have other names in an error."""
    refuse_beside(**beside)
    found = copy(blocks)
    found._called = called
    return found


def gathered(blocks) -> tuple:
    """All rows in memory, as X, y and weight; for small data sets only.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n, P), or ndarray of shape (n,)
    y, weight : ndarray of shape (n,) or None
    """
    X, y, weight = zip(*blocks.map(attrgetter("X", "y", "weight")), strict=True)
    is_sparse = any(map(sparse.issparse, X))
    rows = sparse.vstack(X, format="csr") if is_sparse else np.concatenate(X)
    sizes = [part.shape[0] for part in X]
    return rows, joined_labels(y), joined_weights(weight, sizes)


def _check_iterable(blocks, got):
    """Raise unless the blocks can be iterated over."""
    if not isinstance(blocks, Iterable) or isinstance(blocks, str | bytes):
        raise ValueError(
            "blocks must be an iterable of tuples (X, y), or a function that returns "
            f"one, {got} {type(blocks).__name__}"
        )


def row_blocks(X, y=None, sample_weight=None, called=("X", "y")) -> RowBlocks | None:
    """The rows in blocks, if they come as a collection or as blocks; None for arrays.

    Parameters
    ----------
    X, y, sample_weight : anything
    called : (str, str), default=("X", "y")
        Names of X and y in an error.

    Returns
    -------
    RowBlocks or None
    """
    if isinstance(X, RowBlocks):
        refuse_beside(y=y, sample_weight=sample_weight)
        return X
    columns = *(X if isinstance(X, tuple) else (X,)), y, sample_weight
    if not any(map(is_collection, columns)):
        return None
    opened = (opener(X, y, sample_weight, called) for opener in OPENERS)
    return next(opened, None)


def refuse_collection(name, value):
    """Raise where rows in blocks would have to be gathered, or values are masked.

    Parameters
    ----------
    name : str
    value : anything

    Raises
    ------
    ValueError
        If it is a collection, or :class:`RowBlocks`, or an array with masked values.
    """
    refuse_mask(name, value)
    if isinstance(value, RowBlocks) or is_collection(value):
        raise ValueError(
            f"{name} must be an array where all rows are needed at once, got a "
            f"{type(value).__name__}, which is not gathered; {_TAKE_BLOCKS}"
        )


def joined_labels(labels):
    """Labels of all blocks; None if a block has none."""
    if any(y is None for y in labels):
        return None
    # np.concatenate would make texts of numbers beside texts
    mixed = len({y.dtype.kind in "OUS" for y in labels}) > 1
    return np.concatenate([y.astype(object) if mixed else y for y in labels])


def joined_weights(weights, lengths):
    """Weights of all blocks; rows of blocks without weights count once."""
    if all(weight is None for weight in weights):
        return None
    pairs = zip(weights, lengths, strict=True)
    return np.concatenate([np.ones(n) if w is None else w for w, n in pairs])
