"""Posteriors of several AUCs, asked all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..statistics._values import Value
from ._auc_posterior import AUCPosterior


@dataclass(frozen=True, eq=False)
class AUCPosteriors(Value):
    """Posteriors of the AUCs of several models: a sequence that answers in arrays.

    Parameters
    ----------
    posteriors : tuple of AUCPosterior

    Examples
    --------
    >>> from skauc import AUCPosterior, AUCPosteriors
    >>> both = AUCPosteriors(tuple(AUCPosterior.normal(m, 0.04) for m in (0.0, 1.0)))
    >>> both.mean().round(2), len(both)
    (array([0.5 , 0.84]), 2)
    """

    posteriors: tuple[AUCPosterior, ...]

    def __len__(self) -> int:
        return len(self.posteriors)

    def __getitem__(self, i) -> AUCPosterior:
        return self.posteriors[i]

    def __iter__(self) -> Iterator[AUCPosterior]:
        return iter(self.posteriors)

    def mean(self) -> np.ndarray:
        """Posterior means, shape (m,)."""
        return np.array([posterior.mean() for posterior in self.posteriors])

    def std(self) -> np.ndarray:
        """Posterior standard deviations, shape (m,)."""
        return np.array([posterior.std() for posterior in self.posteriors])

    def interval(self, confidence_level=0.95) -> tuple[np.ndarray, np.ndarray]:
        """Equal-tailed credible intervals.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        low, high : ndarray of shape (m,)
        """
        found = [p.interval(confidence_level) for p in self.posteriors]
        low, high = np.array(found).reshape(-1, 2).T
        return low, high


def said_of(*posteriors: AUCPosterior) -> tuple[str, ...]:
    """What makes any of them doubtful, each sentence once.

    Parameters
    ----------
    *posteriors : AUCPosterior

    Returns
    -------
    tuple of str
    """
    return tuple(dict.fromkeys(said for one in posteriors for said in one.warnings))
