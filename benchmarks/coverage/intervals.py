"""Coverage and width of every interval for the AUC, against known AUCs.

    python -m benchmarks.coverage.intervals [--replicates 2000] [--fast]

150 cells (AUC × sizes × shape of the scores), every method and transform on the same
data sets. A full run takes
hours of one core and resumes where it was stopped (``--n-jobs``). Writes
``results/intervals/cells.csv`` and ``methods.csv``.
"""

from __future__ import annotations

from itertools import chain, product

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from benchmarks.coverage.tally import COUNTS, LEVEL, counts, means
from benchmarks.tools.runs import parse, resume
from benchmarks.tools.table import write_table
from skauc import auc_estimate

AUCS = (0.5, 0.7, 0.9, 0.97, 0.99)
SIZES = ((5, 5), (10, 10), (20, 20), (50, 50), (200, 20), (500, 5))  # n_neg, n_pos
SEED = 20_000  # not the seeds on which the default method was chosen
KEYS = ["method", "transform"]
COLUMNS = ["auc", "n_neg", "n_pos", "scores", *KEYS, *COUNTS, "replicates"]
WALD = ("none", "logit")
METHODS = {  # method: its transforms
    "score": ("",),
    "hanley_mcneil_score": ("",),
    "delong": WALD,
    "hanley_mcneil": WALD,
}


def shifted(draw, shift, ratio=1.0):
    """Draws of both classes."""
    return draw, lambda rng, size: shift + ratio * draw(rng, size)


def binormal(auc, ratio=1.0):
    """Normal scores, the positives' standard deviation ``ratio``."""
    return shifted(Generator.standard_normal, np.hypot(1, ratio) * ndtri(auc), ratio)


def unequal_variance(auc):
    """Normal scores, the positives twice as wide."""
    return binormal(auc, ratio=2.0)


def exponential(auc):
    """Exponential scores with means 1 and A/(1 − A)."""
    mean = auc / (1 - auc)
    return (
        lambda rng, size: rng.exponential(1.0, size),
        lambda rng, size: rng.exponential(mean, size),
    )


def heavy_tailed(auc):
    """Cauchy scores: the difference of two is Cauchy of scale 2."""
    return shifted(Generator.standard_cauchy, 2 * np.tan(np.pi * (auc - 0.5)))


def five_valued(auc):
    """Binormal scores cut into five values around the middle; the AUC counts ties ½."""

    def cells(shift):
        cuts = shift / 2 + np.array([-1, -1 / 3, 1 / 3, 1])
        neg = np.diff(ndtr(cuts), prepend=0, append=1)
        return cuts, neg, np.diff(ndtr(cuts - shift), prepend=0, append=1)

    def excess(shift):
        _, neg, pos = cells(shift)
        return pos @ (np.cumsum(neg) - neg / 2) - auc

    shift = brentq(excess, 0, 20, xtol=1e-13) if auc > 0.5 else 0.0
    cuts, _, _ = cells(shift)
    return (
        lambda rng, size: np.searchsorted(cuts, rng.standard_normal(size)),
        lambda rng, size: np.searchsorted(cuts, shift + rng.standard_normal(size)),
    )


SHAPES = {
    shape.__name__: shape
    for shape in (binormal, unequal_variance, exponential, heavy_tailed, five_valued)
}


def limits(estimate):
    """Each method's limits for one data set."""
    for method, transforms in METHODS.items():
        for transform in transforms:
            how = {"transform": transform} if transform else {}
            limits = estimate.confidence_interval(LEVEL, method=method, **how)
            yield method, transform, limits


def cell(auc, n_neg, n_pos, shape, replicates):
    """Rows of one cell, one for each method and transform."""
    place = (AUCS.index(auc), SIZES.index((n_neg, n_pos)), [*SHAPES].index(shape))
    rng = np.random.default_rng([SEED, *place])
    draw_neg, draw_pos = SHAPES[shape](auc)
    y, found = np.repeat([False, True], [n_neg, n_pos]), []
    for _ in range(replicates):
        score = np.concatenate([draw_neg(rng, n_neg), draw_pos(rng, n_pos)])
        for *how, interval in limits(auc_estimate(y, score)):
            found.append((*how, *counts(interval, auc)))
    where = {"auc": auc, "n_neg": n_neg, "n_pos": n_pos, "scores": shape}
    return means(found, KEYS).assign(**where)[COLUMNS].to_dict("records")


def main(argv=None):
    """Simulate all cells and write the two tables."""
    arguments = parse(__doc__, argv, folder="intervals", replicates=2000)
    aucs, sizes, replicates = AUCS, SIZES, arguments.replicates
    if arguments.fast:
        aucs, sizes, replicates = (0.7,), SIZES[2:3], 20
    cells = product(aucs, sizes, SHAPES)
    jobs = [(auc, *size, shape, replicates) for auc, size, shape in cells]
    rows = pd.DataFrame(chain.from_iterable(resume("intervals", cell, jobs, arguments)))
    write_table("cells", rows, arguments.out)
    groups = rows.assign(few=rows["coverage"] < 0.93).groupby(KEYS, sort=False)
    columns = {"least coverage": ("coverage", "min"), "mean": ("coverage", "mean")}
    columns |= {"cells below .93": ("few", "sum"), "cells": ("few", "size")}
    table = groups.agg(**columns, **{"mean width": ("width", "mean")}).reset_index()
    write_table("methods", table, arguments.out)


if __name__ == "__main__":
    main()
