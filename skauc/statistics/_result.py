"""What a result answers when a person looks at it: text, HTML, a frame, a picture.

A result tells its numbers once, as the columns of a table (``_columns``); everything
that shows them reads that. Results are values: equal if their fields are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from ._values import Value


class Result(Value):
    """Parent of the values (``eq=False``) that public functions return."""

    def _columns(self) -> Mapping[str, Sequence]:
        """Columns of the result's table; one named ``""`` holds the rows' names."""
        raise NotImplementedError

    def to_frame(self):
        """Return the numbers as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns = dict(self._columns())
        names = columns.pop("", None)
        return data_frame(columns, index=None if names is None else list(names))

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(shown(v))}</td>' for v in row)}</tr>"
            for row in zip(*columns.values(), strict=True)
        )
        return f"<table><tr>{head}</tr>{body}</table>"


def data_frame(rows_or_columns, index=None):
    """A pandas DataFrame; pandas is only asked for here."""
    try:
        import pandas as pd
    except ImportError as missing:
        raise ImportError("to_frame needs pandas: pip install pandas") from missing
    return pd.DataFrame(rows_or_columns, index=index)


@singledispatch
def picture(value, ax=None, **options) -> Any:
    """Draw a result; :mod:`skauc.displays` registers how, for each type it knows.

    So ``result.plot()`` needs no import from the folders above it.

    Parameters
    ----------
    value : Result
    ax : matplotlib Axes, default=None
    **options
        For the display's ``plot``.

    Returns
    -------
    display

    Raises
    ------
    TypeError
        If no display draws this type.
    """
    raise TypeError(f"no display draws a value of type {type(value).__name__}")


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Rows of text, the first column to the left and the others to the right."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [v.rjust(w) for v, w in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    )


def shown(value) -> str:
    """Four digits of a number, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
