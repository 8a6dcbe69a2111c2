"""What every posterior of an AUC says, whatever its distribution is.

A child has ``mean``, ``var``, ``ppf`` and ``_rows``; spread, interval, tables and the
picture follow.
"""

from __future__ import annotations

from html import escape

import numpy as np

from ..statistics._numbers import as_level
from ..statistics._result import data_frame, picture
from ..statistics._values import Value


class Distribution(Value):
    """Parent of the posteriors of an AUC and of a difference of two."""

    def var(self) -> float:
        """Posterior variance; each child has its own."""
        raise NotImplementedError

    def ppf(self, q):
        """Posterior quantiles; each child has its own."""
        raise NotImplementedError

    def std(self) -> float:
        """Posterior standard deviation."""
        return float(np.sqrt(self.var()))

    def median(self) -> float:
        """Posterior median."""
        return float(self.ppf(0.5))

    def interval(self, confidence_level=0.95):
        """Equal-tailed credible interval ``(low, high)``.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError
            If the level lies outside (0, 1).
        """
        tail = (1 - as_level("confidence_level", confidence_level)) / 2
        return float(self.ppf(tail)), float(self.ppf(1 - tail))

    def to_frame(self, confidence_level=0.95):
        """Mean, standard deviation and interval as a pandas table.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        pandas.DataFrame
            Columns ``mean, std, low, high`` and what else the posterior knows.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = self._rows(confidence_level)
        return data_frame(list(rows.values()), index=list(rows))

    def _repr_html_(self):
        rows = self._rows(0.95)
        head = "".join(f"<th>{escape(name)}</th>" for name in next(iter(rows.values())))
        body = "".join(
            f"<tr><th>{escape(_text(key))}</th>"
            + "".join(f"<td>{escape(_text(value))}</td>" for value in row.values())
            + "</tr>"
            for key, row in rows.items()
        )
        return f"<table><tr><th></th>{head}</tr>{body}</table>"

    def _summary(self, confidence_level):
        """The four numbers that every row of a table starts with."""
        low, high = self.interval(confidence_level)
        return {"mean": self.mean(), "std": self.std(), "low": low, "high": high}


class AUCDistribution(Distribution):
    """Parent of the posteriors of an AUC, which can be drawn."""

    def plot(self, ax=None, *, name=None, **options):
        """Draw the density with mean and interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        name : str, default=None
            For the legend.
        **options
            For :meth:`skauc.AUCPosteriorDisplay.plot` (``confidence_level``, …).

        Returns
        -------
        AUCPosteriorDisplay
        """
        return picture(self, ax, name=name, **options)


def generator(random_state):
    """A numpy Generator, or the RandomState that was given."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be a seed >= 0, a Generator, a RandomState or "
            f"None, got {random_state!r}"
        ) from None


def _text(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
