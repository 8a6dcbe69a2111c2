"""Coverage of partial areas, operating points and bands, against known curves.

    python -m benchmarks.coverage.curves [--fast] [--replicates 150] [--out DIR]

Scores are binormal (standard deviations 1 and 1, or 1 and 2) or Cauchy; the truth is
the curve of their distributions. Every number is the package's own answer to a data
set; ``results/curves/cells.csv`` has one row for each quantity, method and cell:
coverage, misses below and above, and the mean width.
"""

from functools import cache
from itertools import chain

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import cauchy, norm

from benchmarks.coverage.tally import COUNTS, LEVEL, counts, means
from benchmarks.tools.runs import parse, resume
from benchmarks.tools.table import write_table
from skauc import auc_estimate, compare_auc, empirical_roc, operating_points

SIZES = ((20, 20), (50, 50), (200, 200), (200, 20), (20, 200))  # n_neg, n_pos
SEED = 40_000
GRID = np.concatenate([[0.001], np.linspace(0.01, 0.99, 50), [0.999]])


class Curve:
    """Two distributions of scores; their ROC curve and its inverse."""

    def __init__(self, neg, pos):
        self.neg, self.pos = neg, pos

    def tpr(self, fpr):
        """Height of the curve."""
        return self.pos.sf(self.neg.isf(fpr))

    def fpr(self, tpr):
        """The false positive rate that a true positive rate costs."""
        return self.neg.sf(self.pos.isf(tpr))

    @cache  # noqa: B019  (the curves live as long as the module)
    def area(self, axis, low, high):
        """Area over a range of one of the rates."""
        height = self.tpr if axis == "fpr" else lambda u: 1 - self.fpr(u)
        return quad(height, low, high, limit=200)[0]

    def draw(self, rng, n_neg, n_pos):
        """Labels and scores of a data set."""
        neg = self.neg.rvs(n_neg, random_state=rng)
        pos = self.pos.rvs(n_pos, random_state=rng)
        return np.repeat([0, 1], [n_neg, n_pos]), np.concatenate([neg, pos])


CURVES = {
    "binormal, AUC .76": Curve(norm(0, 1), norm(1, 1)),
    "binormal, AUC .92": Curve(norm(0, 1), norm(2, 1)),
    "unequal variance, AUC .81": Curve(norm(0, 1), norm(2, 2)),
    "Cauchy, AUC .75": Curve(cauchy(0, 1), cauchy(2, 1)),
}
PARTS = (("fpr", 0.0, 0.1), ("fpr", 0.1, 0.3), ("tpr", 0.8, 1.0))
BANDS = ("pointwise", "simultaneous")
KEYS = ["quantity", "method"]
COLUMNS = [*KEYS, "scores", "n_neg", "n_pos", *COUNTS, "replicates"]


def partial_areas(curve, y, score):
    """Limits and truth of partial areas and of their paired differences."""
    estimate = auc_estimate(y, score)
    for axis, low, high in PARTS:
        truth = curve.area(axis, low, high) / (high - low)
        part = estimate.partial_auc(**{axis: (low, high)})
        limits = np.divide(part.confidence_interval(LEVEL), high - low)
        yield f"partial area, {axis} {low:g} to {high:g}", "score", limits, truth


def differences(curve, y, score, other):
    """Differences of two scores with the same curve: the truth is 0."""
    for axis, low, high in PARTS:
        result = compare_auc(y, score, other, **{axis: (low, high)})
        limits = np.divide(result.confidence_interval(LEVEL), high - low)
        yield f"difference of areas, {axis} {low:g} to {high:g}", "delong", limits, 0.0
    one, two = (operating_points(y, s, specificity=0.8) for s in (score, other))
    result = one.compare(two, n_resamples=300)
    limits = np.ravel(result.confidence_interval(LEVEL))
    what = "difference of sensitivities, specificity .8"
    yield what, "bayesian_bootstrap", limits, 0.0


def values(curve, threshold, share=0.1):
    """True values at a threshold, where a share of the rows is positive."""
    se, alarms = curve.pos.sf(threshold), curve.neg.sf(threshold)
    tp, fn, fp, tn = share * np.array([se, 1 - se, 0, 0]) + (1 - share) * np.array(
        [0, 0, alarms, 1 - alarms]
    )
    return {
        "sensitivity": se,
        "specificity": 1 - alarms,
        "ppv": tp / (tp + fp),
        "npv": tn / (tn + fn),
        "lr_positive": se / alarms,
        "lr_negative": (1 - se) / (1 - alarms),
        "accuracy": tp + tn,
        "f1": 2 * tp / (2 * tp + fp + fn),
    }


def points(curve, y, score):
    """Limits and truth of all values, at known, chosen and the population's points."""
    known = curve.neg.isf(0.2)
    for rule, given, where in (
        ("a known threshold", {"threshold": known}, None),
        ("sensitivity .9", {"sensitivity": 0.9}, curve.pos.isf(0.9)),
        ("specificity .8", {"specificity": 0.8}, known),
        ("the best threshold", {"best": "youden"}, None),
    ):
        for at in ("chosen",) if where is None else ("chosen", "population"):
            found = operating_points(y, score, prevalence=0.1, at=at, **given)
            drawn = {"n_resamples": 1000} if at != "chosen" or "best" in given else {}
            if at == "population":
                limits = np.ravel(found.confidence_interval(LEVEL, name="threshold"))
                yield f"threshold at {rule}", at, limits, where
            truths = values(curve, where if at != "chosen" else found.threshold[0])
            for name, truth in truths.items():
                if name not in given or at == "chosen":
                    limits = found.confidence_interval(LEVEL, name=name, **drawn)
                    yield f"{name} at {rule}", at, np.ravel(limits), truth


def bands(curve, y, score):
    """Limits of bands over the grid, and the true curve."""
    roc = empirical_roc(y, score)
    for method in BANDS:
        band = roc.band(LEVEL, method, fpr=GRID, n_resamples=1000)
        yield f"band: {method}", method, (band.low, band.high), curve.tpr(GRID)


def cell(name, size, seed, replicates):
    """Rows of one cell: a curve and the sizes of its classes."""
    rng, curve, found = np.random.default_rng(SEED + seed), CURVES[name], []
    for replicate in range(replicates):
        y, score = curve.draw(rng, *size)
        other = curve.draw(rng, *size)[1]
        answers = [*partial_areas(curve, y, score), *points(curve, y, score)]
        if replicate < max(replicates // 3, 2):  # the slow ones
            answers += [*bands(curve, y, score), *differences(curve, y, score, other)]
        for what, method, limits, truth in answers:
            curve_at_once = np.ndim(truth) > 0 and method != "pointwise"
            found.append((what, method, *counts(limits, truth, curve_at_once)))
    where = {"scores": name, "n_neg": size[0], "n_pos": size[1]}
    return means(found, KEYS).assign(**where)[COLUMNS].to_dict("records")


def main(argv=None):
    """Simulate and write both tables."""
    arguments = parse(__doc__, argv, folder="curves", replicates=150)
    sizes, replicates = SIZES, arguments.replicates
    if arguments.fast:
        sizes, replicates = SIZES[:1], 6
    cells = [(name, size) for name in CURVES for size in sizes]
    jobs = [(*of, seed, replicates) for seed, of in enumerate(cells)]
    rows = pd.DataFrame(chain.from_iterable(resume("curves", cell, jobs, arguments)))
    write_table("cells", rows, arguments.out)
    columns = {"least": ("coverage", "min"), "mean": ("coverage", "mean")}
    columns |= {"mean width": ("width", "mean")}
    table = rows.groupby(KEYS, sort=False).agg(**columns).reset_index()
    write_table("summary", table, arguments.out)


if __name__ == "__main__":
    main()
