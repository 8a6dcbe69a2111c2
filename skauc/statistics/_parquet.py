"""Rows of a Parquet file, in blocks."""

from __future__ import annotations

import numpy as np

from ._numerics import rows_read_at_once


def blocks_of_parquet(path, y, sample_weight, X):
    """What reads the blocks, and the names of the features.

    Parameters
    ----------
    path : str or Path
    y, sample_weight : str
        Columns of the labels and of the weights; None for no weights.
    X : list of str, str or None
        Columns of the features, the one of a score, or all others.

    Returns
    -------
    blocks : callable
        ``blocks()`` gives tuples of arrays.
    names : list of str or None
        None of a score.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        If a column is not in the file, or one of the features holds no numbers.
    """
    try:
        from pyarrow import dataset
    except ImportError as missing:
        raise ImportError(
            "from_parquet needs pyarrow: pip install pyarrow"
        ) from missing
    source = dataset.dataset(path, format="parquet")
    beside = {y, sample_weight, *_index_columns(source.schema)}
    others = [c for c in source.schema.names if c not in beside]
    features = others if X is None else X
    named = [features] if isinstance(features, str) else list(features)
    used = [*named, y, *([] if sample_weight is None else [sample_weight])]
    for name in used:
        if name not in source.schema.names:
            raise ValueError(
                f"X, y and sample_weight must be columns of the file, got {name!r}"
            )
    if not named:
        raise ValueError("X must name one column or more, got none")
    for name in named:
        kind = source.schema.field(name).type
        if not _holds_numbers(kind):
            raise ValueError(
                f"X must hold columns of real numbers, got {kind} in {name!r}"
            )
    n_rows = rows_read_at_once(len(named))

    def column(batch, name):
        return batch.column(name).to_numpy(zero_copy_only=False)

    def blocks():
        # A column named twice, as a feature and as the weight, is read once
        distinct = list(dict.fromkeys(used))
        for batch in source.to_batches(columns=distinct, batch_size=n_rows):
            columns = [column(batch, name) for name in used]
            rows = columns[0]
            if not isinstance(features, str):
                rows = np.column_stack(columns[: len(named)])
            yield (rows, *columns[len(named) :])

    return blocks, None if isinstance(features, str) else named


def _holds_numbers(kind):
    """Whether a column of this type of Arrow's holds numbers."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    holds = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    return any(of(kind) for of in holds)


def _index_columns(schema):
    """Columns in which pandas, or Dask, has written the index of a frame."""
    told = schema.pandas_metadata or {}
    return [name for name in told.get("index_columns", []) if isinstance(name, str)]
