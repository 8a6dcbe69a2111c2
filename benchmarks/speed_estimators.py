"""Speed and memory of the estimators, as ratios to named peers of the same run.

Usage: ``python benchmarks/speed_estimators.py`` (about five minutes; 1.5 GB of memory);
writes ``results/speed_estimators.csv``. ``--quick`` takes a tenth of the rows.
``--cpu-time`` counts processor seconds, for a busy machine; set OMP_NUM_THREADS=1 then.

1. ``GaussianAUCClassifier`` (closed form) against one ``X.T @ X``, n = 10⁶, P = 100.
2. ``shrinkage="bayes"``, 100 values from one decomposition, against one plain fit.
3. ``IRLSLogisticRegression`` against scikit-learn's ``newton-cholesky`` and, where it
   is installed, statsmodels. Each solver gets the loosest tolerance of a list with
   which its objective is within 1e-9 (relative) of the optimum.
4. ``LinearDiscriminantROC`` against its parent.

Times are the smallest of several runs, the two sides taking turns, so that a busy
machine troubles both alike. Memory is the peak of new allocations during ``fit``
(tracemalloc), in shares of X.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from time import perf_counter, process_time

import numpy as np
from results_table import write_table
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from skauc import GaussianAUCClassifier, IRLSLogisticRegression, LinearDiscriminantROC

CLOCKS = {"wall": perf_counter, "cpu": process_time}
clock = "wall"
TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


def take_turns(ours, peer, repeats):
    """Smallest wall times of two functions that run in turn."""
    times = np.empty((repeats, 2))
    for row in times:
        for k, function in enumerate((ours, peer)):
            start = CLOCKS[clock]()
            function()
            row[k] = CLOCKS[clock]() - start
    return times.min(axis=0)


def peak_memory(function, X):
    """Peak of new allocations, in shares of X."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / X.nbytes


def row(what, peer, X, seconds, target, memory=float("nan")):
    """One line of the table."""
    return {
        "what": what,
        "peer": peer,
        "clock": clock,
        "n": X.shape[0],
        "P": X.shape[1],
        "seconds": seconds[0],
        "peer_seconds": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "target": target,
        "extra_memory": memory,
    }


def gaussian_rows(scale):
    """Closed form against one product; the path of shrinkages against one fit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000 // scale, 100))
    y = (rng.random(len(X)) < 0.4).astype(int)
    model = GaussianAUCClassifier(solver="closed_form")
    times = take_turns(lambda: model.fit(X, y), lambda: X.T @ X, 5)
    memory = peak_memory(lambda: model.fit(X, y), X)
    yield row("GaussianAUC, closed form", "X.T @ X", X, times, "<= 1.3", memory)
    X, y = X[:20_000], y[:20_000]
    path = GaussianAUCClassifier(solver="closed_form", shrinkage="bayes")
    times = take_turns(lambda: path.fit(X, y), lambda: model.fit(X, y), 5)
    yield row('GaussianAUC, "bayes"', "closed form", X, times, "<= 3")
    X, y = rng.standard_normal((200, 5000)), np.repeat([0, 1], 100)
    plain = GaussianAUCClassifier(solver="closed_form", shrinkage=0.1)
    times = take_turns(lambda: path.fit(X, y), lambda: plain.fit(X, y), 5)
    memory = peak_memory(lambda: path.fit(X, y), X)
    yield row('GaussianAUC, "bayes"', "closed form", X, times, "<= 3", memory)


def within_gap(make, X, y, optimum):
    """The estimator with the loosest tolerance that reaches the optimum to 1e-9."""
    for tol in TOLERANCES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(tol).fit(X, y)
        gap = log_loss(y, model.predict_proba(X)) - optimum
        if gap <= 1e-9 * abs(optimum):
            return make(tol)
    raise RuntimeError(f"{make(0)} does not come within 1e-9 of the optimum")


def logistic_rows(scale):
    """Binary and multinomial Newton against scikit-learn's and statsmodels'."""
    rng = np.random.default_rng(1)
    for n, P, K in ((500_000, 50, 2), (100_000, 40, 5)):
        X = rng.standard_normal((n // scale, P))
        logits = X @ (rng.standard_normal((P, K)) * 0.3)
        y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        best = IRLSLogisticRegression(tol=1e-10).fit(X, y)
        optimum = log_loss(y, best.predict_proba(X))

        def ours(tol):
            return IRLSLogisticRegression(tol=tol)

        def theirs(tol):
            return LogisticRegression(
                C=np.inf, solver="newton-cholesky", tol=tol, max_iter=100
            )

        model, peer = (within_gap(make, X, y, optimum) for make in (ours, theirs))
        times = take_turns(
            lambda m=model, X=X, y=y: m.fit(X, y),
            lambda m=peer, X=X, y=y: m.fit(X, y),
            3,
        )
        what = f"IRLS, K = {K}, tol {model.tol:g}"
        memory = peak_memory(lambda m=model, X=X, y=y: m.fit(X, y), X)
        name = f"newton-cholesky, tol {peer.tol:g}"
        yield row(what, name, X, times, "<= 1", memory)
        yield from statsmodels_rows(what, model, X, y, K)


def statsmodels_rows(what, model, X, y, K):
    """Against statsmodels at its defaults, one turn less often: it is slow."""
    try:
        import statsmodels.api as sm
    except ImportError:
        return
    design = sm.add_constant(X)
    kind = sm.Logit if K == 2 else sm.MNLogit
    times = take_turns(
        lambda: model.fit(X, y), lambda: kind(y, design).fit(disp=0, method="newton"), 1
    )
    yield row(what, "statsmodels, newton", X, times, "<= 0.33")


def lda_rows(scale):
    """The curve on top of the parent's fit."""
    rng = np.random.default_rng(2)
    for n, P, K in ((100_000, 50, 2), (100_000, 50, 5)):
        X = rng.standard_normal((n // scale, P))
        y = rng.integers(0, K, len(X))
        for solver in ("svd", "lsqr"):
            times = take_turns(
                lambda s=solver, X=X, y=y: LinearDiscriminantROC(solver=s).fit(X, y),
                lambda s=solver, X=X, y=y: LinearDiscriminantAnalysis(solver=s).fit(
                    X, y
                ),
                7,
            )
            what = f"LinearDiscriminantROC, {solver}, K = {K}"
            yield row(what, "its parent", X, times, "<= 1.05")


def main():
    """Run all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--cpu-time", action="store_true", help="processor seconds")
    arguments = parser.parse_args()
    scale = 10 if arguments.quick else 1
    if arguments.cpu_time:
        global clock
        clock = "cpu"
    rows = [*gaussian_rows(scale), *logistic_rows(scale), *lda_rows(scale)]
    write_table("speed_estimators", rows)


if __name__ == "__main__":
    main()
