"""Collections of rows in blocks and frames: errors that name them and their columns."""

from contextlib import contextmanager

import numpy as np

from ._checks import refuse_mask
from ._row_blocks import RowBlocks

_TAKE_BLOCKS = (
    "class_moments, auc_estimate, compare_auc, auc_posterior, bayesian_val_score, the "
    "scorers of a posterior and the fits of GaussianAUCClassifier and "
    "IRLSLogisticRegression"
)
# Parts of errors about values of X, here or of scikit-learn
_ABOUT_VALUES = "NaN", "in feature", "infinity", "X @ coef_ must be finite"


_MISSING = "nan", "inf", "-inf", "None", "<NA>", "NaT"


def is_collection(value) -> bool:
    """Whether the rows are in a collection such as Dask's; does not import it."""
    graph = getattr(type(value), "__dask_graph__", None)
    return graph is not None and value.__dask_graph__() is not None


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
    kind = kind_of_blocks(value)
    if kind is not None:
        remedy = f"{_predicting(value)} predicts on each block, " if name == "X" else ""
        raise ValueError(
            f"{name} must be an array where all rows are needed at once, got {kind}, "
            f"which is not gathered; {remedy}{_TAKE_BLOCKS} take rows in blocks"
        )


def kind_of_blocks(value) -> str | None:
    """Name of the container of rows in blocks, for an error; None for arrays."""
    if isinstance(value, RowBlocks):
        return "RowBlocks"
    return f"Dask's {type(value).__name__}" if is_collection(value) else None


def _predicting(value):
    """A call that predicts on each block of such rows."""
    if isinstance(value, RowBlocks):
        return "blocks.map(lambda block: model.predict(block.X))"
    if hasattr(value, "map_blocks"):
        options = "drop_axis=1, dtype=model.classes_.dtype"
        return f"X.map_blocks(model.predict, {options})"
    return "X.map_partitions(model.predict)"


@contextmanager
def columns_named(X):
    """Name the columns of a frame in an error about a text or missing values in it."""
    try:
        yield
    except ValueError as error:
        text = _odd_columns(X, str(error))
        if text is None:
            raise
        raise ValueError(text) from error


def _odd_columns(X, error):
    """Sentence about columns with texts or missing values; None if there are none."""
    is_frame = hasattr(X, "columns") and not is_collection(X)
    if not is_frame and not (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        return None
    columns, missing = np.atleast_2d(np.asarray(X, dtype=object)).T, {}
    names = X.columns if is_frame else range(len(columns))
    for name, values in zip(names, columns, strict=True):
        texts = [v for v in values if isinstance(v, str)]
        value = next((v for v in texts if repr(v) in error), None)
        if value is not None and "string to float" in error:
            return (
                f"X must hold numbers, got {value!r} in column {name!r}; encode the "
                "column, for example by OneHotEncoder in a ColumnTransformer"
            )
        if not texts:
            missing[name] = sum(str(v) in _MISSING for v in values)
    found = [f"{n} in column {name!r}" for name, n in missing.items() if n]
    if not found or not any(part in error for part in _ABOUT_VALUES):
        return None
    return (
        f"X must be finite, got missing or infinite values: {', '.join(found[:5])}; "
        "drop these rows or impute the values, for example by SimpleImputer"
    )
