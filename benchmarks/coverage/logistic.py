"""Coverage of the logistic report: coefficients, predictions, calibration.

    python -m benchmarks.coverage.logistic [--fast] [--replicates 600] [--out DIR]

Every number is the package's own answer to a data set. The truth is that of the
simulation; where the model is wrong (a square is left out; rows of a cluster share a
random intercept) it is what the fit tends to, computed by quadrature.
``results/logistic/cells.csv`` has a row for each quantity, method, design and
size: coverage, misses below and above, median width, and the share of data sets that
were refused (separated classes have no maximum-likelihood estimate; coverage is that
of the others).
"""

from functools import cache
from itertools import chain

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.coverage.tally import COUNTS, LEVEL, counts
from benchmarks.tools.runs import parse, resume
from benchmarks.tools.table import write_table
from skauc import IRLSLogisticRegression, calibration_estimate, hosmer_lemeshow

SEED = 60_000
NEW_ROWS = 20  # of which probabilities are predicted
# intercept and slopes of a normal feature, one correlated by ½ with it, a 0/1 feature
EFFECTS = {
    "moderate effects": ((-0.5, 1.0, -0.5, 0.5), (30, 60, 200)),
    "strong effects": ((0.0, 2.5, -1.5, 1.0), (30, 60, 200)),
    "5 % events": ((-3.7, 0.8, 0.4, 0.8), (100, 200, 500)),
}
WRONG = ("a square left out", (50, 100, 400))
CLUSTERED = ("10 rows a cluster", (10, 20, 50, 100))  # clusters
CALIBRATION = {"right": (0.0, 1.0), "too extreme": (-0.5, 0.5)}
CALIBRATION_SIZES = (50, 150, 500)
KEYS = ["quantity", "method"]
COLUMNS = [*KEYS, "design", "n", "coverage", "SE", *COUNTS[1:], "refused", "replicates"]


def features(rng, n):
    """Three features."""
    X = rng.standard_normal((n, 3))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    X[:, 2] = X[:, 2] > 0
    return X


def labels(rng, eta):
    """Labels of these log-odds; of one class only they are drawn again."""
    while True:
        y = (rng.uniform(size=len(eta)) < expit(eta)).astype(int)
        if 0 < y.sum() < len(y):
            return y


def fitted(X, y, penalty):
    """The fit, or None where its classes are separated."""
    model = IRLSLogisticRegression(penalty=penalty).fit(X, y)
    return None if model.separation_ else model


def coefficients(rng, n, theta):
    """Limits of slopes and intercept, and of probabilities of new rows."""
    theta = np.array(theta)
    X = features(rng, n)
    y = labels(rng, theta[0] + X @ theta[1:])
    new = features(rng, NEW_ROWS)
    truth = expit(theta[0] + new @ theta[1:])
    for penalty, name in (("l2", "maximum likelihood"), ("firth", "Firth")):
        model = fitted(X, y, penalty)
        for method in ("wald", "profile"):
            how = {"method": method, "X": X, "y": y}
            limits = model and model.confidence_interval(LEVEL, **how)
            for what, part in (("intercept", slice(1)), ("slopes", slice(1, None))):
                found = model and [limit[part] for limit in limits]
                yield what, f"{name}, {method}", found, theta[part]
        limits = model and model.predict_interval(new, LEVEL)
        yield "probabilities of new rows", name, limits, truth


@cache
def grid():
    """A normal, a 0/1 feature and a random intercept on a grid, with weights."""
    nodes, weight = np.polynomial.hermite_e.hermegauss(40)
    weight = weight / weight.sum()
    parts = np.meshgrid(nodes, (0.0, 1.0), nodes, indexing="ij")
    weights = np.meshgrid(weight, (0.5, 0.5), weight, indexing="ij")
    return [part.ravel() for part in parts], np.prod(weights, axis=0).ravel()


def limit_of_fit(log_odds):
    """What a fit to the two features tends to."""
    (x, z, u), weight = grid()
    p, X = expit(log_odds(x, z, u)), np.column_stack([x, z])
    rows, y = np.concatenate([X, X]), np.repeat([1, 0], len(x))
    weight = np.concatenate([weight * p, weight * (1 - p)])
    model = IRLSLogisticRegression().fit(rows, y, sample_weight=weight)
    return model.coef_[0]


def left_out(x, z, u):
    """Log-odds with a square."""
    return -1 + x + 0.5 * z + 0.6 * x**2


def of_cluster(x, z, u):
    """Log-odds with a random intercept."""
    return -0.5 + 0.8 * x + z + 1.2 * u


def slopes(model, names, truth, **how):
    """Limits of both slopes of a model, and their truth."""
    limits = model and model.confidence_interval(LEVEL, **how)
    for k, name in enumerate(names, start=1):
        found = model and [limit[k] for limit in limits]
        yield name, how["covariance"], found, truth[k - 1]


def wrong_model(rng, n, truth):
    """Limits of the slopes where a square is left out."""
    X = np.column_stack([rng.standard_normal(n), rng.uniform(size=n) < 0.5])
    y = labels(rng, left_out(*X.T, 0.0))
    model = fitted(X, y, "l2")
    for method in ("model", "HC0", "HC1"):
        names = "slope of the squared feature", "slope of the other feature"
        yield from slopes(model, names, truth, covariance=method, X=X, y=y)


def clusters(rng, count, truth):
    """Limits of the slopes of rows in clusters, the first feature constant in each."""
    groups = np.repeat(np.arange(count), 10)
    x, u = rng.standard_normal((2, count))[:, groups]
    X = np.column_stack([x, rng.uniform(size=len(x)) < 0.5])
    y = labels(rng, of_cluster(*X.T, u))
    model = fitted(X, y, "l2")
    for method in ("model", "HC1", "cluster"):
        names = "slope of a feature of the cluster", "slope of a feature of the row"
        options = {"groups": groups} if method == "cluster" else {}
        yield from slopes(model, names, truth, covariance=method, X=X, y=y, **options)


def calibration(rng, n, truth):
    """Limits of calibration slope and intercepts, and the tests of calibration."""
    intercept, slope = truth
    said = rng.normal(-0.5, 1.2 / slope, n)
    y = labels(rng, intercept + slope * said)
    try:
        found = calibration_estimate(y, expit(said))
    except ValueError:  # separated
        found = None
    level = _in_the_large(intercept, slope)
    names = {"slope": slope, "intercept": intercept, "in_the_large": level}
    for name, right in names.items():
        limits = found and found.confidence_interval(LEVEL, name=name)
        yield f"calibration {name}", "wald", limits, right
    if truth == (0.0, 1.0):
        tests = {"calibration slope 1, intercept 0": found}
        tests["Hosmer-Lemeshow"] = hosmer_lemeshow(y, expit(said), rows="held-out")
        for name, test in tests.items():  # rejected: 0 is left out
            limits = test and np.full(2, float(test.pvalue <= 1 - LEVEL))
            yield name, "test", limits, 0.0


@cache
def _in_the_large(intercept, slope):
    """The a at which ``E expit(a + l) = E expit(intercept + slope l)``."""
    nodes, weight = np.polynomial.hermite_e.hermegauss(80)
    said = -0.5 + 1.2 / slope * nodes
    wanted = weight @ expit(intercept + slope * said)
    return brentq(lambda a: weight @ expit(a + said) - wanted, -20, 20, xtol=1e-14)


def designs():
    """Name, size, what is asked, and the truth of each cell."""
    for name, (theta, sizes) in EFFECTS.items():
        for n in sizes:
            yield name, n, coefficients, theta
    for n in WRONG[1]:
        yield WRONG[0], n, wrong_model, tuple(limit_of_fit(left_out))
    for count in CLUSTERED[1]:
        yield CLUSTERED[0], count, clusters, tuple(limit_of_fit(of_cluster))
    for name, truth in CALIBRATION.items():
        for n in CALIBRATION_SIZES:
            yield f"probabilities {name}", n, calibration, truth


def cell(seed, replicates):
    """Rows of one cell; a data set without an estimate has no counts."""
    name, n, ask, truth = [*designs()][seed]
    rng, found = np.random.default_rng(SEED + seed), []
    for _ in range(replicates):
        for what, method, limits, right in ask(rng, n, truth):
            numbers = np.full(4, np.nan)
            if limits is not None:
                numbers[:3] = counts(limits, right)[:3]
                # the 0 or 1 of a test has no width
                numbers[3] = np.median(np.subtract(limits[1], limits[0])) or np.nan
            found.append((what, method, *numbers))
    return table(pd.DataFrame(found, columns=[*KEYS, *COUNTS]), name, n)


def table(found, name, n):
    """Rows of a cell from the counts of its data sets."""
    groups = found.groupby(KEYS, sort=False)
    kept, rows = groups["coverage"].count(), groups[[*COUNTS]].mean()
    rows["SE"] = groups["coverage"].std(ddof=0) / np.sqrt(kept)
    rows["width"] = groups["width"].median()
    rows["replicates"] = groups.size()
    rows["refused"] = 1 - kept / rows["replicates"]
    return rows.reset_index().assign(design=name, n=n)[COLUMNS].to_dict("records")


def main(argv=None):
    """Simulate and write the table."""
    arguments = parse(__doc__, argv, folder="logistic", replicates=600)
    cells, replicates = [*designs()], arguments.replicates
    seeds = range(len(cells))
    if arguments.fast:  # the first cell of each kind
        first = {cells[seed][2]: seed for seed in reversed(seeds)}
        seeds, replicates = first.values(), 4
    jobs = [(seed, replicates) for seed in seeds]
    rows = [*chain.from_iterable(resume("logistic", cell, jobs, arguments))]
    write_table("cells", rows, arguments.out)


if __name__ == "__main__":
    main()
