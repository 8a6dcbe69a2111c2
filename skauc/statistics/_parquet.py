"""Rows of a Parquet file, in blocks."""

import numpy as np

from ._numerics import rows_read_at_once


def blocks_of_parquet(path, y, sample_weight, X):
    """A function that reads the blocks, and the names of the features.

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
        None for a score.

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
    others = [y] if sample_weight is None else [y, sample_weight]
    if X is None:
        taken = {*others, *_index_columns(source.schema)}
        X = [name for name in source.schema.names if name not in taken]
    features = [X] if isinstance(X, str) else list(X)
    used = features + others
    _check_schema(source.schema, features, used)

    def blocks():
        n_rows = rows_read_at_once(len(features))
        # a column that is both a feature and the weight is read once
        for batch in source.to_batches(columns=[*set(used)], batch_size=n_rows):
            columns = [batch.column(c).to_numpy(zero_copy_only=False) for c in used]
            own, beside = columns[: len(features)], columns[len(features) :]
            yield (own[0] if isinstance(X, str) else np.column_stack(own), *beside)

    return blocks, None if isinstance(X, str) else features


def _check_schema(schema, features, used):
    """Raise if a column is missing, or a feature does not hold numbers."""
    for name in used:
        if name not in schema.names:
            raise ValueError(
                f"X, y and sample_weight must be columns of the file, got {name!r}"
            )
    if not features:
        raise ValueError("X must name one column or more, got none")
    for name in features:
        kind = schema.field(name).type
        if not _holds_numbers(kind):
            raise ValueError(
                f"X must hold columns of real numbers, got {kind} in {name!r}"
            )


def _holds_numbers(kind):
    """Whether a column of this Arrow type holds numbers."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    holds = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    return any(of(kind) for of in holds)


def _index_columns(schema):
    """Columns in which pandas, or Dask, has written the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in index if isinstance(name, str)]
