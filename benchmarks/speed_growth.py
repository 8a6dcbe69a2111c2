"""How the cost of every public operation grows with n and with P.

The slope of log time over log size, fitted to the upper half of the sizes, stands
beside what the operation's docstring says; so does the peak of new allocations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from results_table import write_picture
from speed_clock import peak_bytes, seconds

import skauc

# Products grow more slowly than they count while calls and caches weigh, and faster
# where the rows leave a cache: what is above the docstring by more than this is told
MARGIN = 0.3
BLOCK = 20_000  # rows of a stream


@dataclass(frozen=True)
class Operation:
    """A public operation and the sizes at which it is timed.

    Parameters
    ----------
    name : str
    make : callable
        ``make(n, P)`` returns what is timed.
    grows : {"n", "P"}
    power : float
        What the docstring says, of the largest term.
    other : int
        The size that stays.
    sizes : tuple of int
    """

    name: str
    make: Callable
    grows: str
    power: float
    other: int
    sizes: tuple[int, ...]


def rows(n, P, seed=0):
    """Normal rows of which five features tell the class."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, P))
    y = (X[:, : min(P, 5)].sum(axis=1) + 2 * rng.standard_normal(n) > 0).astype(int)
    return X, y


def scores(n):
    """Labels and two scores."""
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    return y, y + rng.standard_normal(n), y + rng.standard_normal(n)


def of_scores(function):
    """An operation on ``y_true, y_score``."""

    def make(n, P):
        y, a, _ = scores(n)
        return lambda: function(y, a)

    return make


def of_rows(function):
    """An operation on ``X, y``."""

    def make(n, P):
        X, y = rows(n, P)
        return lambda: function(X, y)

    return make


def of_model(function, *, first=False):
    """An operation on a fitted model, ``X, y``; the data set known unless first."""

    def make(n, P):
        X, y = rows(n, P)
        model = _model().fit(X, y)

        def run():
            if first:
                skauc.clear_cache()
            return function(model, X, y)

        run()
        return run

    return make


def streamed(n, P):
    """``partial_fit`` of blocks that are drawn again and again from one."""
    X, y = rows(min(n, BLOCK), P)

    def run():
        model = skauc.GaussianAUCClassifier(solver="closed_form")
        for _ in range(max(n // BLOCK, 1)):
            model.partial_fit(X, y, classes=[0, 1])

    return run


def _model():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=0.1, tol=1e-6, max_iter=5_000)


def _paper(**options):
    return skauc.make_cbauc_scorer(prior="paper", **options)


def operations(fast):
    """All of them. The powers are those of the docstrings."""
    steps = 3 if fast else 5

    def sizes(low, high):
        top = low * 4 if fast else high
        return tuple(int(s) for s in np.geomspace(low, top, steps))

    many, few, wide = sizes(2_000, 1_000_000), sizes(500, 8_000), sizes(200, 100_000)
    middle, narrow = sizes(20_000, 300_000), sizes(50, 800)
    on_scores = {
        "auc_estimate": lambda y, a: skauc.auc_estimate(y, a).auc,
        "AUCEstimate.confidence_interval": lambda y, a: skauc.auc_estimate(
            y, a
        ).confidence_interval(),
        "compare_auc": lambda y, a: skauc.compare_auc(y, a, -a),
        "hand_till_auc": lambda y, a: skauc.hand_till_auc(
            y, np.column_stack([1 / (1 + np.exp(a)), 1 / (1 + np.exp(-a))])
        ),
        "ebauc_score": lambda y, a: skauc.ebauc_score(y, a, prior="paper"),
        "cbauc_score": lambda y, a: skauc.cbauc_score(y, a, prior="paper"),
        "binormal_auc_score": skauc.binormal_auc_score,
        "binormal_roc": skauc.binormal_roc,
        "class_moments, scores": lambda y, a: skauc.class_moments(a, y == 1),
    }
    for name, function in on_scores.items():
        yield Operation(name, of_scores(function), "n", 1, 1, many)
    for name, function in {
        "class_moments": lambda X, y: skauc.class_moments(X, y == 1),
        "GaussianAUCClassifier.fit": skauc.GaussianAUCClassifier().fit,
        "IRLSLogisticRegression.fit": skauc.IRLSLogisticRegression(max_iter=4).fit,
        "LinearDiscriminantROC.fit": skauc.LinearDiscriminantROC(solver="lsqr").fit,
    }.items():
        yield Operation(name, of_rows(function), "n", 1, 20, middle)
        yield Operation(name, of_rows(function), "P", 2, 2_000, narrow)
    qda = skauc.QuadraticDiscriminantROC().fit
    yield Operation("QuadraticDiscriminantROC.fit", of_rows(qda), "n", 1, 20, middle)
    featurewise = of_rows(lambda X, y: skauc.class_moments(X, y == 1, featurewise=True))
    yield Operation("class_moments, featurewise", featurewise, "n", 1, 20, middle)
    yield Operation("class_moments, featurewise", featurewise, "P", 1, 50, wide)
    gaussian = skauc.GaussianAUCClassifier(shrinkage=0.1).fit
    yield Operation(
        "GaussianAUCClassifier.fit, P > n", of_rows(gaussian), "P", 1, 50, wide
    )
    newton = skauc.IRLSLogisticRegression(C=1.0).fit
    yield Operation(
        "IRLSLogisticRegression.fit, P > n", of_rows(newton), "P", 1, 50, wide
    )
    yield Operation(
        "GaussianAUCClassifier.partial_fit",
        streamed,
        "n",
        1,
        20,
        sizes(40_000, 10_000_000),
    )
    for covariance in ("common", "separate", "spherical"):
        score = of_model(_paper(covariance=covariance))
        name = f"cbauc_scorer, paper, {covariance}"
        yield Operation(name, score, "n", 1, 20, middle)
        yield Operation(name, score, "P", 1, 200, wide)
    for name, scorer, power in (
        ("cbauc_scorer", skauc.cbauc_scorer, 1),
        ("ebauc_scorer", skauc.ebauc_scorer, 1),
        ("bee_scorer", skauc.bee_scorer, 1),
        ("lpo_auc_scorer", skauc.lpo_auc_scorer, 1),
    ):
        yield Operation(name, of_model(scorer), "n", power, 20, few)
        yield Operation(name, of_model(scorer), "P", 1, 60, wide)
    first = of_model(skauc.cbauc_scorer, first=True)
    yield Operation("cbauc_scorer, first of a data set", first, "n", 1, 20, few)
    yield Operation("cbauc_scorer, first of a data set", first, "P", 1, 60, wide)
    posterior = of_model(skauc.auc_posterior)
    yield Operation("auc_posterior", posterior, "n", 1, 20, few)
    yield Operation("auc_posterior", posterior, "P", 1, 60, wide)
    small = few[:3]
    for name, function in {
        "bayesian_val_score": lambda X, y: skauc.bayesian_val_score(_model(), X, y),
        "diagnose": lambda X, y: skauc.diagnose(_model(), X, y),
        "cross_val_auc": lambda X, y: skauc.cross_val_auc(_model(), X, y),
        "bootstrap_auc": lambda X, y: skauc.bootstrap_auc(_model(), X, y, n_boot=5),
        "cv_auc_scorer": lambda X, y: skauc.cv_auc_scorer(_model(), X, y),
        "auc_difference_posterior": lambda X, y: skauc.auc_difference_posterior(
            _model().fit(X, y),
            _model().set_params(C=1e-3).fit(X, y),
            X,
            y,
            prior="paper",
        ),
    }.items():
        yield Operation(name, of_rows(function), "n", 1, 20, small)
    yield Operation(
        "cortes_mohri_moments",
        lambda n, P: lambda: skauc.cortes_mohri_moments(n // 2, n // 2, n // 10),
        "n",
        0,
        1,
        many,
    )


def growth_rows(fast):
    """Slopes of all operations, and the points that they were fitted to."""
    table, points = [], {}
    for operation in operations(fast):
        times, memory = [], []
        for size in operation.sizes:
            n_P = (size, operation.other)
            run = operation.make(*(n_P if operation.grows == "n" else n_P[::-1]))
            (time,) = seconds(run, repeats=2)
            times.append(max(float(time), 1e-6))
            memory.append(peak_bytes(run))
            print(operation.name, operation.grows, size, times[-1], flush=True)
        slope = _slope(operation.sizes, times)
        points[operation.name, operation.grows] = operation.sizes, times
        table.append(
            {
                "operation": operation.name,
                "grows in": operation.grows,
                "other size": operation.other,
                "from": operation.sizes[0],
                "to": operation.sizes[-1],
                "docstring": operation.power,
                "slope": slope,
                "faster than said": slope > operation.power + MARGIN,
                "seconds at most": times[-1],
                "peak MB": memory[-1] / 1e6,
                "memory slope": _slope(operation.sizes, np.maximum(memory, 1)),
            }
        )
    return table, points


def _slope(sizes, values):
    """Least squares in log-log over the upper half of the sizes."""
    upper = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[upper:]), np.log(values[upper:]), 1)[0])


def draw(points, path):
    """Time against size, log-log, one panel for n and one for P."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 7.5), layout="constrained")
    for axis, grows in zip(figure.subplots(1, 2), "nP", strict=True):
        shown = [(name, p) for (name, g), p in points.items() if g == grows]
        for k, (name, (sizes, times)) in enumerate(shown):
            colour = colormaps["tab20"](k % 20)
            line = ["-", "--", ":"][k // 20]
            axis.loglog(sizes, times, line, marker=".", color=colour, label=name)
        axis.set(xlabel=grows, ylabel="processor seconds", title=f"Growth in {grows}")
        axis.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    write_picture(figure, path)
