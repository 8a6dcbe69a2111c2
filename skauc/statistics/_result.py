"""Parents of the values that public functions return.

A result defines the columns of its table (``_columns``) and the numbers of its first
line (``_head``); text, HTML and data frame are written from these.
"""

from dataclasses import dataclass, field
from functools import singledispatch
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ._checks import check_integer

_MOST_ROWS = 20  # of a table in text or HTML; to_frame has all rows
MOMENTS = "estimate", "standard_error", "low", "high"


class Estimate(NamedTuple):
    """An estimate and its limits.

    Attributes
    ----------
    estimate : float
        The estimate itself.
    low, high : float
        Limits of its interval.

    See Also
    --------
    skauc.results.AUCEstimate.gini : Returns it, for the Gini coefficient.
    skauc.results.Interval : The limits alone.

    Examples
    --------
    >>> from skauc import auc_estimate
    >>> gini = auc_estimate([0, 0, 1, 1], [1, 3, 2, 4]).gini()
    >>> gini.estimate
    0.5
    """

    estimate: float
    low: float
    high: float


class Result:
    """Parent of the values (``eq=False, repr=False``) that public functions return.

    ``_rows_in_text`` says whether the text shows the table below the first line.
    """

    _rows_in_text = False
    _in_head: tuple = ()  # attributes on the first line of the text
    pos_label: Any = None  # the positive class, where the result depends on it

    def _columns(self) -> dict:
        """Columns of the result's table; one named ``""`` holds the rows' names."""
        raise NotImplementedError

    def _head(self) -> dict:
        """Names and values on the first line of the text."""
        return {name: getattr(self, name) for name in self._in_head}

    def summary(self) -> str:
        """Text to paste: the numbers of a test or of a curve.

        Returns
        -------
        str
            Such as ``"statistic=6.035, df=8, pvalue=0.6433"``.
        """
        return ", ".join(f"{name}={shown(v)}" for name, v in self._head().items())

    def to_frame(self) -> Any:
        """Return the numbers as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self._frame(self._columns())

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result: curves, points on their curve, or a forest plot.

        A forest plot has one row for each estimate with its limits.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **options
            Of the display (``confidence_level``, …), or style of the intervals of a
            forest plot, as for matplotlib's ``errorbar``.

        Returns
        -------
        display
            With the matplotlib objects in ``ax_``, ``figure_``, ``line_``,
            ``points_`` or ``intervals_``.

        Raises
        ------
        TypeError
            If the result has no estimates with limits.
        """
        return picture(self, ax, **options)

    def _frame(self, columns):
        columns = self._labelled(columns)
        names = columns.pop("", None)
        return data_frame(columns, index=None if names is None else list(names))

    def _labelled(self, columns) -> dict:
        """The columns, and the positive class where the result depends on it."""
        columns = dict(columns)
        if self.pos_label is None:
            return columns
        n = len(next(iter(columns.values())))
        return columns | {"pos_label": [self.pos_label] * n}

    def __repr__(self) -> str:
        head = Result.summary(self)
        if self.pos_label is not None:
            head += f"{', ' if head else ''}pos_label={self.pos_label!r}"
        text = f"{type(self).__name__}({head})"
        if not self._rows_in_text:
            return text
        table = table_text(self._columns())
        return f"{text}\n{table}" if head else table

    def _repr_html_(self) -> str:
        columns = self._labelled(self._columns())
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(shown(v))}</td>' for v in row)}</tr>"
            for row in zip(*_first(columns), strict=True)
        )
        body += "".join(f"<tr><td>{rest}</td></tr>" for rest in _rest(columns))
        return f"<table><tr>{head}</tr>{body}</table>"


class Estimates(Result):
    """Parent of results that hold estimates and have limits at any level."""

    def _estimates(self, confidence_level) -> dict:
        """Columns that begin with the names of the rows, estimate, low and high."""
        raise NotImplementedError

    def _columns(self):
        return self._estimates(0.95)

    def to_frame(self, confidence_level: float = 0.95) -> Any:
        """Return the numbers as a pandas DataFrame.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        pandas.DataFrame
            One row per estimate, with the columns ``estimate``, ``low`` and ``high``.
            The columns of all results that hold one AUC are the same, so that
            ``pandas.concat`` joins their tables.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self._frame(self._estimates(confidence_level))

    def summary(self, confidence_level: float = 0.95, *, digits: int = 2) -> str:
        """Text such as ``"0.91 (0.84 to 0.95)"``, to paste; one line per estimate.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        digits : int, default=2
            Digits after the decimal point.

        Returns
        -------
        str
            Of several estimates every line begins with the name of its row.
        """
        lines = interval_lines(self._estimates(confidence_level), digits)
        return "\n".join(lines) if len(lines) > 1 else lines[0].partition(": ")[2]


class EstimatedAUC(Estimates):
    """Parent of results that hold one AUC; their tables have the same columns."""

    method: Any  # its name, for the table

    def _moments(self, confidence_level) -> tuple:
        """Estimate, standard error, and limits."""
        raise NotImplementedError

    def _estimates(self, confidence_level):
        row = dict(zip(MOMENTS, self._moments(confidence_level), strict=True))
        doubts = "; ".join(getattr(self, "warnings", ()))
        row |= {"method": self.method, "warnings": doubts}
        return {"": ["AUC"]} | {name: [value] for name, value in row.items()}


class WholeAUC(EstimatedAUC):
    """Parent of results that hold one whole AUC."""

    def gini(self, confidence_level: float = 0.95) -> Estimate:
        """Gini coefficient ``2 AUC − 1``, also called accuracy ratio or Somers' D.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        Estimate
            ``(estimate, low, high)``.
        """
        auc, _, low, high = self._moments(confidence_level)
        return Estimate(2 * auc - 1, 2 * low - 1, 2 * high - 1)


@dataclass(frozen=True, eq=False, repr=False)
class LabelledResult(Result):
    """Parent of results that depend on which class is positive, and name it.

    Parameters
    ----------
    pos_label : label, default=None
        The positive class, in every text and table; None if it is not known.
    """

    pos_label: Any = field(default=None, kw_only=True)


def interval_lines(columns, digits) -> list:
    """Name, estimate and limits of each row of a table."""
    check_integer("digits", digits, 0, 15)
    names = columns.get("", range(len(columns["estimate"])))
    at = columns.get("threshold", [0])
    if at[0] != at[-1]:
        names = map("{} at {:.4g}".format, names, at)
    numbers = (columns[name] for name in ("estimate", "low", "high"))
    return [
        f"{name}: {value:z.{digits}f} ({low:z.{digits}f} to {high:z.{digits}f})"
        for name, value, low, high in zip(names, *numbers, strict=True)
    ]


def table_text(columns: dict) -> str:
    """Write columns below their titles: the first to the left, others to the right."""
    texts = [
        [title, *map(shown, column)]
        for title, column in zip(columns, _first(columns), strict=True)
    ]
    formats = [f"{'>' if k else '<'}{max(map(len, t))}" for k, t in enumerate(texts)]
    rows = zip(*texts, strict=True)
    lines = ["  ".join(map(format, row, formats)).rstrip() for row in rows]
    return "\n".join([*lines, *_rest(columns)])


def _first(columns):
    return [column[:_MOST_ROWS] for column in columns.values()]


def _rest(columns):
    """Line for the rows that are not shown, if there are any."""
    n = len(next(iter(columns.values()))) - _MOST_ROWS
    return [f"… and {n} more (to_frame() has all rows)"] if n > 0 else []


def data_frame(rows_or_columns, index=None):
    """Make a pandas DataFrame; pandas is imported here only."""
    try:
        import pandas as pd
    except ImportError as missing:
        raise ImportError("to_frame needs pandas: pip install pandas") from missing
    return pd.DataFrame(rows_or_columns, index=index)


@singledispatch
def picture(value, ax=None, **options) -> Any:
    """Draw a result by the display that is registered for its type.

    :mod:`skauc.displays` registers its displays, so that this folder does not import
    it.

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


def shown(value) -> str:
    """Write four digits of a number, also inside tuples and arrays."""
    if isinstance(value, tuple | np.ndarray):
        text = ", ".join(map(shown, value[:_MOST_ROWS]))
        if len(value) > _MOST_ROWS:
            text += f", … and {len(value) - _MOST_ROWS} more"
        return f"({text})" if isinstance(value, tuple) else f"[{text}]"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
