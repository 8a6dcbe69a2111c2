"""Counts of limits that hold, or miss, a true value, over simulated data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd

LEVEL = 0.95
COUNTS = ("coverage", "too_low", "too_high", "width")


def counts(limits, truth, curve=False):
    """Shares of the limits that hold, lie below and lie above the truth; the width.

    With ``curve`` all limits must hold the truth at once.
    """
    low, high = np.asarray(limits, dtype=float)
    below, above = high < truth, low > truth
    width = float(np.mean(high - low))
    if curve:
        below, above = below.any(), above.any()
    held = np.mean(~(below | above))
    return float(held), float(np.mean(below)), float(np.mean(above)), width


def means(answers, keys):
    """Mean counts of the answers ``(*keys, *counts)`` that share their keys."""
    frame = pd.DataFrame(answers, columns=[*keys, *COUNTS])
    groups = frame.groupby(keys, sort=False)
    return groups.mean().assign(replicates=groups.size()).reset_index()
