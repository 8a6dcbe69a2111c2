"""Methods that all posteriors of an AUC share.

A child class has ``mean``, ``var``, ``ppf`` and ``_table_rows``; spread, interval,
text, tables and the picture follow from these.
"""

import numpy as np

from ..statistics._checks import check_level
from ..statistics._result import Result, data_frame, picture


class Distribution(Result):
    """Parent of the posteriors of an AUC and of a difference of two."""

    def mean(self) -> float:
        """Posterior mean; each child has its own."""
        raise NotImplementedError

    def var(self) -> float:
        """Posterior variance; each child has its own."""
        raise NotImplementedError

    def ppf(self, q):
        """Posterior quantiles; each child has its own."""
        raise NotImplementedError

    def _table_rows(self, confidence_level) -> dict:
        """Rows of the table: their names, and a dict of numbers each."""
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
        tail = (1 - check_level("confidence_level", confidence_level)) / 2
        return float(self.ppf(tail)), float(self.ppf(1 - tail))

    def to_frame(self, confidence_level=0.95):
        """Mean, standard deviation and interval as a pandas table.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        pandas.DataFrame
            Columns ``mean, std, low, high`` and the further numbers of the posterior.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = self._table_rows(confidence_level)
        return data_frame(list(rows.values()), index=list(rows))

    def _columns(self):
        rows = self._table_rows(0.95)
        columns = {"": list(rows)}
        for name in next(iter(rows.values())):
            values = (row[name] for row in rows.values())
            columns[name] = ["" if value is None else value for value in values]
        return columns

    def _head(self):
        return {"mean": self.mean(), "interval95": self.interval(0.95)}

    def _summary(self, confidence_level):
        """The four numbers that every row of a table starts with."""
        low, high = self.interval(confidence_level)
        return {"mean": self.mean(), "std": self.std(), "low": low, "high": high}


class AUCDistribution(Distribution):
    """Parent of the posteriors of an AUC, which can be drawn."""

    def plot(self, ax=None, *, name=None, **options):
        """Draw the density with its mean and interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        name : str, default=None
            Name in the legend.
        **options
            Options of :meth:`skauc.AUCPosteriorDisplay.plot`, such as
            ``confidence_level``.

        Returns
        -------
        AUCPosteriorDisplay
        """
        return picture(self, ax, name=name, **options)
