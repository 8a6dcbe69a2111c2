"""Methods that all posteriors of an AUC share.

A child class has ``mean``, ``var`` and ``ppf``; spread, interval, text, tables and the
picture follow from these.
"""

from typing import Any

import numpy as np

from ..statistics._checks import check_level, generator
from ..statistics._result import EstimatedAUC, WholeAUC
from ..statistics._types import Seed
from ..statistics._wald import Interval


class Distribution(EstimatedAUC):
    """Parent of the posteriors of an AUC and of a difference of two."""

    mean: Any
    var: Any
    ppf: Any

    def std(self) -> float:
        """Posterior standard deviation."""
        return float(np.sqrt(self.var()))

    def median(self) -> float:
        """Posterior median."""
        return float(self.ppf(0.5))

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Equal-tailed credible interval ``(low, high)``.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        Interval
            ``(low, high)``.

        Raises
        ------
        ValueError
            If the level lies outside (0, 1).
        """
        tail = (1 - check_level("confidence_level", confidence_level)) / 2
        return Interval(float(self.ppf(tail)), float(self.ppf(1 - tail)))

    def _head(self):
        return {"mean": self.mean(), "interval95": tuple(self.interval(0.95))}

    def _moments(self, confidence_level):
        return self.mean(), self.std(), *self.interval(confidence_level)


class AUCDistribution(WholeAUC, Distribution):
    """Parent of the posteriors of an AUC, whose ``_draw(size, rng)`` makes draws."""

    _draw: Any

    def rvs(self, size: Any = None, random_state: Seed = None) -> Any:
        """Random draws from the posterior of the AUC.

        Parameters
        ----------
        size : int or tuple of int, default=None
            Shape of the result; None gives one float.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the draws; None draws other numbers in every call.

        Returns
        -------
        float or ndarray
        """
        rng = generator(random_state)
        try:
            return self._draw(size, rng)
        except (TypeError, ValueError):
            raise ValueError(f"size must be a shape or None, got {size!r}") from None
