"""Named, seeded problems with a known truth, one for each (group, family, seed).

``make(group, family, seed, data_dir, half)`` gives a :class:`Problem` or None where the
cell does not exist. The same call gives the same rows. ``half`` is "judge" or "choose":
see :mod:`benchmarks.panel.halves`.

Groups
------
sim Gaussian, sim other
    A random cell of the product P × rows per class × attainable AUC × covariance ×
    signal × law × imbalance (constants below). "Other" has t3, lognormal, 0/1 or
    contaminated bimodal features, or Gaussian ones with unequal covariances.
few signals
    5 or 10 features of 100 to 2000 shifted by .6 to 1 standard deviations, independent
    noise or five factors with .3 or .8 of every variance, 60 to 200 rows.
real P < .3 n, P < n, P >= n (to 5 n), P >> n
    Stratified training subsets of 30 to 150 rows; the other rows are the truth.
random labels
    Rows of one class of a real set with balanced random labels (even seeds), or
    permuted labels (odd seeds). The truth is ½. Seeds alternate between P < n, P ≥ n.
held-out rows
    Models trained on some rows, asked about others: simulated (even seeds), real (odd).

Seeds walk through the real sets in turn, so that any range of seeds is balanced.
"""

from __future__ import annotations

from benchmarks.panel.problem import Problem
from benchmarks.panel.real import REAL, held_out_real, random_labels, real
from benchmarks.panel.simulated import few_signals, held_out_simulated, simulated

GROUPS = (
    "sim Gaussian",
    "sim other",
    "few signals",
    *REAL,
    "random labels",
    "held-out rows",
)


def make(group, family, seed, data_dir, half="judge") -> Problem | None:
    """The problem of one cell and seed; None where the family has none there."""
    if group in ("sim Gaussian", "sim other"):
        return simulated(group, family, seed, half)
    if group == "few signals":
        return few_signals(seed, half)
    if group == "random labels":
        return random_labels(seed, data_dir, half)
    if group == "held-out rows":
        if seed % 2:
            return held_out_real(seed, data_dir, half)
        return held_out_simulated(seed, half)
    return real(group, seed, data_dir, half)
