"""Collections of rows in blocks, and the error where all rows are needed at once."""

from __future__ import annotations

from ._row_blocks import RowBlocks

_TAKE_BLOCKS = (
    "class_moments, auc_estimate, compare_auc, auc_posterior, bayesian_val_score, the "
    "scorers of a posterior and the fits of GaussianAUCClassifier and "
    "IRLSLogisticRegression"
)


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
