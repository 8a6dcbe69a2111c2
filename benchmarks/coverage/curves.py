"""Coverage of partial areas, operating points and bands, against known curves.

    python -m benchmarks.coverage.curves [--fast] [--replicates 150] [--out DIR]

Scores are binormal (standard deviations 1 and 1, or 1 and 2) or Cauchy; the truth is
the curve of their distributions. Every number is the package's own answer to a data
set; ``results/curves/cells.csv`` has one row for each quantity, method and cell:
coverage, misses below and above, and the mean width.
"""

from functools import cache

import numpy as np
from scipy.integrate import quad
from scipy.stats import cauchy, norm

from benchmarks.tools.runs import parser, read
from benchmarks.tools.table import write_table
from skauc import auc_estimate, compare_auc, empirical_roc, operating_points

SIZES = ((20, 20), (50, 50), (200, 200), (200, 20), (20, 200))  # n_neg, n_pos
SEED = 40_000
LEVEL = 0.95
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
        y = np.repeat([0, 1], [n_neg, n_pos])
        return y, np.concatenate(
            [
                part.rvs(n, random_state=rng)
                for part, n in ((self.neg, n_neg), (self.pos, n_pos))
            ]
        )


CURVES = {
    "binormal, AUC .76": Curve(norm(0, 1), norm(1, 1)),
    "binormal, AUC .92": Curve(norm(0, 1), norm(2, 1)),
    "unequal variance, AUC .81": Curve(norm(0, 1), norm(2, 2)),
    "Cauchy, AUC .75": Curve(cauchy(0, 1), cauchy(2, 1)),
}
PARTS = (("fpr", 0.0, 0.1), ("fpr", 0.1, 0.3), ("tpr", 0.8, 1.0))
BANDS = ("pointwise", "simultaneous")


def partial_areas(curve, y, score):
    """Limits and truth of partial areas and of their paired differences."""
    estimate = auc_estimate(y, score)
    for axis, low, high in PARTS:
        truth = curve.area(axis, low, high) / (high - low)
        part = estimate.partial_auc(**{axis: (low, high)})
        for method in ("score", "delong"):
            limits = np.divide(part.confidence_interval(LEVEL, method), high - low)
            yield f"partial area, {axis} {low:g} to {high:g}", method, limits, truth


def differences(curve, y, score, other):
    """Differences of two scores with the same curve: the truth is 0."""
    for axis, low, high in PARTS:
        result = compare_auc(y, score, other, **{axis: (low, high)})
        limits = np.divide(result.confidence_interval(LEVEL), high - low)
        yield f"difference of areas, {axis} {low:g} to {high:g}", "delong", limits, 0.0
    one, two = (operating_points(y, s, specificity=0.8) for s in (score, other))
    result = one.compare(two, n_draws=300)
    limits = np.ravel(result.confidence_interval(LEVEL))
    yield (
        "difference of sensitivities, specificity .8",
        "bayesian_bootstrap",
        limits,
        0.0,
    )


def points(curve, y, score):
    """Limits and truth at a known threshold, and at targets."""
    threshold = curve.neg.isf(0.2)
    se, sp = curve.pos.sf(threshold), 0.8
    given = operating_points(y, score, threshold=threshold, prevalence=0.1)
    truths = {
        "sensitivity": se,
        "specificity": sp,
        "ppv": 0.1 * se / (0.1 * se + 0.9 * (1 - sp)),
        "npv": 0.9 * sp / (0.9 * sp + 0.1 * (1 - se)),
        "lr_positive": se / (1 - sp),
        "lr_negative": (1 - se) / sp,
        "accuracy": 0.1 * se + 0.9 * sp,
        "odds_ratio": se / (1 - se) * sp / (1 - sp),
    }
    for name, truth in truths.items():
        shares = name in ("sensitivity", "specificity", "accuracy")
        for method in ("wilson", "clopper_pearson") if shares else ("log",):
            limits = np.ravel(given.interval(name, LEVEL, method))
            yield f"{name} at a known threshold", method, limits, truth
    targets = (
        ("sensitivity", 0.9, curve.pos.isf(0.9), "specificity", 1 - curve.fpr(0.9)),
        ("specificity", 0.8, curve.neg.isf(0.2), "sensitivity", curve.tpr(0.2)),
    )
    for name, target, where, other, truth in targets:
        chosen = operating_points(y, score, **{name: target})
        limits = np.ravel(chosen.interval("threshold", LEVEL))
        yield f"threshold at {name} {target}", "order_statistics", limits, where
        for method in ("bayesian_bootstrap", "wilson"):
            drawn = {"n_draws": 1000} if method == "bayesian_bootstrap" else {}
            limits = np.ravel(chosen.interval(other, LEVEL, method, **drawn))
            yield f"{other} at {name} {target}", method, limits, truth


def bands(curve, y, score):
    """Limits of bands over the grid, and the true curve."""
    roc = empirical_roc(y, score)
    for method in BANDS:
        options = {"n_draws": 1000}
        band = roc.band(LEVEL, method, fpr=GRID, **options)
        yield f"band: {method}", method, (band.low, band.high), curve.tpr(GRID)


def tally(found, answers):
    """Add one data set's limits to the counts."""
    for what, method, (low, high), truth in answers:
        below, above = np.asarray(high) < truth, np.asarray(low) > truth
        if np.ndim(truth) and method != "pointwise":  # the whole curve at once
            held = not (below.any() or above.any())
            sides = below.any(), above.any()
        else:
            held, sides = np.mean(~(below | above)), (np.mean(below), np.mean(above))
        width = np.mean(np.subtract(high, low))
        found.setdefault((what, method), []).append((held, *sides, width))


def run(replicates, sizes):
    """Rows of the table."""
    rows = []
    cells = [(name, size) for name in CURVES for size in sizes]
    for seed, (name, size) in enumerate(cells):
        rng, curve, found = np.random.default_rng(SEED + seed), CURVES[name], {}
        for replicate in range(replicates):
            y, score = curve.draw(rng, *size)
            other = curve.draw(rng, *size)[1]
            tally(found, partial_areas(curve, y, score))
            tally(found, points(curve, y, score))
            if replicate < max(replicates // 3, 2):  # the slow ones
                tally(found, bands(curve, y, score))
                tally(found, differences(curve, y, score, other))
        for (what, method), numbers in found.items():
            held, below, above, width = np.mean(numbers, axis=0)
            rows.append(
                {
                    "quantity": what,
                    "method": method,
                    "scores": name,
                    "n_neg": size[0],
                    "n_pos": size[1],
                    "coverage": float(held),
                    "too_low": float(below),
                    "too_high": float(above),
                    "width": float(width),
                    "replicates": len(numbers),
                }
            )
    return rows


def summary(rows):
    """Least and mean coverage over the cells of each quantity and method."""
    cells = {}
    for row in rows:
        cells.setdefault((row["quantity"], row["method"]), []).append(row)
    return [
        {
            "quantity": what,
            "method": method,
            "least": min(row["coverage"] for row in group),
            "mean": float(np.mean([row["coverage"] for row in group])),
            "mean width": float(np.mean([row["width"] for row in group])),
        }
        for (what, method), group in cells.items()
    ]


def main(argv=None):
    """Simulate and write both tables."""
    command = parser(__doc__)
    command.add_argument("--replicates", type=int, default=150)
    arguments = read(command, argv, "curves")
    if arguments.fast:
        rows = run(6, SIZES[:1])
    else:
        rows = run(arguments.replicates, SIZES)
    write_table("cells", rows, arguments.out)
    write_table("summary", summary(rows), arguments.out)


if __name__ == "__main__":
    main()
