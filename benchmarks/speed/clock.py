"""Processor seconds, peak memory, and the ratio of two ways that take turns."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np


def seconds(*functions: Callable, repeats: int) -> np.ndarray:
    """Smallest processor time of each function; they run in turn."""
    times = np.empty((repeats, len(functions)))
    for row in times:
        for k, function in enumerate(functions):
            start = process_time()
            function()
            row[k] = process_time() - start
    return times.min(axis=0)


def peak_bytes(function: Callable) -> int:
    """Peak of new allocations."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@dataclass(frozen=True)
class Case:
    """One line of a table of ratios.

    Parameters
    ----------
    what, peer : str
    n, P : int
    ours, theirs : callable
    goal : float
        Largest ratio that is aimed at; NaN where there is none.
    size : float, default=nan
        Bytes of X, the unit of memory.
    repeats : int, default=5
    """

    what: str
    peer: str
    n: int
    P: int
    ours: Callable
    theirs: Callable
    goal: float = np.nan
    size: float = np.nan
    repeats: int = 5

    def row(self) -> dict:
        """The case, measured."""
        own, other = seconds(self.ours, self.theirs, repeats=self.repeats)
        memory = peak_bytes(self.ours) / self.size if self.size > 0 else np.nan
        return {
            "what": self.what,
            "peer": self.peer,
            "n": self.n,
            "P": self.P,
            "seconds": float(own),
            "peer_seconds": float(other),
            "ratio": float(own / max(other, 1e-9)),
            "goal": self.goal,
            "extra_memory": float(memory),
        }
