"""Named, seeded problems with a known truth, one for each (group, family, seed).

``make(group, family, seed, data_dir, half)`` gives a :class:`Problem` or None where the
cell does not exist. The same call gives the same rows. ``half`` is "judge" or "choose":
see :mod:`benchmarks.panel.halves`. Seeds walk through the real sets in turn, so that
any range of seeds is balanced. The truth of a real set is the AUC of all other rows; of
random labels (of the rows of one class, or permuted) it is ½.
"""

from __future__ import annotations

from benchmarks.panel.families import CURVED
from benchmarks.panel.problem import Problem
from benchmarks.panel.real import REAL, random_labels, real
from benchmarks.panel.simulated import factors, few_signals, simulated

GROUPS = ("sim Gaussian", "sim other", "few signals", *REAL, "random labels", "factors")


def make(group, family, seed, data_dir, half="judge") -> Problem | None:
    """The problem of one cell and seed; None where the family has none there."""
    if family in CURVED and group not in (*REAL, "random labels"):
        return None
    if group in ("sim Gaussian", "sim other"):
        return simulated(group, family, seed, half)
    if group == "few signals":
        return few_signals(seed, half)
    if group == "factors":
        return factors(seed, half)
    if group == "random labels":
        return random_labels(seed, data_dir, half)
    return real(group, seed, data_dir, half)
