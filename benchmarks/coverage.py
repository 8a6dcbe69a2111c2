"""Coverage and width of every interval method, against known AUCs.

    python benchmarks/coverage.py [--replicates 2000] [--level 0.95] [--only-plot]
    python benchmarks/coverage.py --curves  # partial areas, operating points, bands
    python benchmarks/coverage.py --tests  # planned power, levels of the tests
    python benchmarks/coverage.py --logistic  # the logistic report

150 cells (AUC × sizes × shape of the scores), every method and transform on the same
replicates. Rows are appended to results/coverage.csv as cells finish, so that a run
can be stopped and resumed; the heat map is results/coverage.png.

All pairs are compared outright here, so the placements are independent of the
package's; formulas for limits are the package's own, on arrays of replicates, and the
first replicates of each cell are checked against ``auc_estimate``. The bootstrap
draws B = 999 resamples, the same for all replicates of a cell. ``cortes_mohri`` gets
the errors at the threshold midway between the classes' medians.
"""

import argparse
import csv
from functools import cache
from pathlib import Path

import coverage_curves
import coverage_logistic
import coverage_tests
import numpy as np
from results_table import stamp
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, ndtri
from scipy.stats import qmc
from tqdm import tqdm

from skauc import auc_estimate, cortes_mohri_interval
from skauc.intervals._confidence_limits import (
    larger_variance,
    score_limits,
    wald_limits,
)
from skauc.statistics._auc_variance import balanced_variance, hanley_mcneil_variance

RESULTS = Path(__file__).parent / "results"
AUCS = (0.5, 0.7, 0.9, 0.97, 0.99)
SIZES = ((5, 5), (10, 10), (20, 20), (50, 50), (200, 20), (500, 5))  # n_neg, n_pos
N_BOOTSTRAP = 999
SEED = 20_000  # not the seeds on which the default method was chosen


# ------------------------------------------------------------------ score distributions


def binormal(auc, ratio=1.0):
    """Normal scores, the positives' standard deviation ``ratio``."""
    shift = np.hypot(1, ratio) * ndtri(auc)
    return (
        lambda rng, size: rng.standard_normal(size),
        lambda rng, size: shift + ratio * rng.standard_normal(size),
        shift / 2,
    )


def unequal_variance(auc):
    """Normal scores, the positives twice as wide."""
    return binormal(auc, ratio=2.0)


def exponential(auc):
    """Exponential scores with means 1 and A/(1 − A)."""
    mean = auc / (1 - auc)
    return (
        lambda rng, size: rng.exponential(1.0, size),
        lambda rng, size: rng.exponential(mean, size),
        np.log(2) * (1 + mean) / 2,
    )


def heavy_tailed(auc):
    """Cauchy scores: the difference of two is Cauchy of scale 2."""
    shift = 2 * np.tan(np.pi * (auc - 0.5))
    return (
        lambda rng, size: rng.standard_cauchy(size),
        lambda rng, size: shift + rng.standard_cauchy(size),
        shift / 2,
    )


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
        2.5,
    )


SHAPES = {
    shape.__name__: shape
    for shape in (binormal, unequal_variance, exponential, heavy_tailed, five_valued)
}


# ---------------------------------------------------------------------- many replicates


class Replicates:
    """Summaries of R data sets at once, by comparing all pairs."""

    def __init__(self, neg, pos, threshold):
        self.neg, self.pos, self.threshold = (
            neg.astype(float),
            pos.astype(float),
            threshold,
        )
        neg, pos = self.neg[:, None, :], self.pos[:, :, None]
        self.psi = ((pos > neg) + 0.5 * (pos == neg)).astype(np.float32)
        self.n_neg, self.n_pos = self.neg.shape[1], self.pos.shape[1]
        self.smaller = min(self.n_neg, self.n_pos)
        self.v10, self.v01 = (self.psi.mean(axis=axis, dtype=float) for axis in (2, 1))
        self.auc = self.v10.mean(axis=1)
        self.delong = self.v10.var(axis=1, ddof=1) / self.n_pos
        self.delong += self.v01.var(axis=1, ddof=1) / self.n_neg
        square = (self.psi.astype(float) ** 2).mean(axis=(1, 2))
        excess = self.n_pos * self.v01.var(axis=1) + self.n_neg * self.v10.var(axis=1)
        excess -= square - self.auc**2
        bamber = excess / ((self.n_pos - 1) * (self.n_neg - 1))
        self.bamber = np.where(bamber > 1e-12, bamber, 0)
        self.delong = np.where(self.delong > 1e-12, self.delong, 0)
        self.mean = [s.mean(axis=1) for s in (self.neg, self.pos)]
        self.s2 = [s.var(axis=1, ddof=1) for s in (self.neg, self.pos)]


def wald(variance):
    """Limits from a variance on the scale of a transform."""

    def limits(r, tail, transform):
        error = np.sqrt(variance(r))
        return wald_limits(r.auc, error, r.smaller, tail, tail, transform)

    return limits


def binormal_limits(r, tail, transform):
    """Delta method on ``δ = (x̄₁ − x̄₀)/√(s₀² + s₁²)``."""
    (m0, m1), (a, b) = r.mean, r.s2
    total = a + b
    known = total > 0
    total = np.where(known, total, 1)
    delta = (m1 - m0) / np.sqrt(total)
    variance = (a / r.n_neg + b / r.n_pos) / total
    variance += delta**2 * (a**2 / (r.n_neg - 1) + b**2 / (r.n_pos - 1)) / total**2 / 2
    density = np.exp(-(delta**2) / 2) / np.sqrt(2 * np.pi)
    error = np.where(known, np.sqrt(variance) * density, 0)
    centre = np.where(known, ndtr(delta), r.auc)
    return wald_limits(centre, error, r.smaller, tail, tail, transform)


def newcombe(r, tail, transform):
    """Inverted score of Hanley–McNeil's variance, Newcombe's method 5."""
    return score_limits(
        r.auc, lambda a: balanced_variance(a, r.n_neg, r.n_pos), tail, tail
    )


def score(r, tail, transform):
    """Inverted score of the larger of Newcombe's and DeLong's variance."""
    variance = larger_variance(r.auc, r.delong, r.n_neg, r.n_pos)
    return score_limits(r.auc, variance, tail, tail)


def bayesian(common):
    """Quantiles over 2048 quasi-random draws of the posterior, as in its definition."""

    def limits(r, tail, transform):
        u = qmc.Sobol(4, seed=0).random(2048).T
        n = np.array([r.n_neg, r.n_pos])
        z0, z1 = ndtri(u[0]), ndtri(u[1])
        if common:
            pooled = ((n[0] - 1) * r.s2[0] + (n[1] - 1) * r.s2[1])[:, None]
            variance = [pooled / chdtri(n.sum() - 2, u[2])] * 2
        else:
            variance = [
                (n[c] - 1) * r.s2[c][:, None] / chdtri(n[c] - 1, u[2 + c])
                for c in (0, 1)
            ]
        gap = (r.mean[1] - r.mean[0])[:, None]
        gap = gap + np.sqrt(variance[1] / n[1]) * z1 + np.sqrt(variance[0] / n[0]) * z0
        spread = np.sqrt(variance[0] + variance[1])
        known = np.maximum(*r.s2) > 0 if common else np.minimum(*r.s2) > 0
        auc = ndtr(gap / np.where(known[:, None], spread, 1))
        low, high = np.quantile(auc, [tail, 1 - tail], axis=1)
        exact = wald_limits(r.auc, 0, r.smaller, tail, tail, "none")
        return np.where(known, low, exact[0]), np.where(known, high, exact[1])

    return limits


@cache
def cortes_mohri_of(n_pos, n_neg, k, level):
    """One interval for all replicates with k errors."""
    return cortes_mohri_interval(n_pos, n_neg, k, level)


def cortes_mohri(r, tail, transform):
    """From the errors at the threshold alone."""
    errors = (r.neg > r.threshold).sum(axis=1) + (r.pos <= r.threshold).sum(axis=1)
    level = round(1 - 2 * tail, 12)
    return np.array(
        [cortes_mohri_of(r.n_pos, r.n_neg, int(k), level) for k in errors]
    ).T


def bootstrap(r, tail, transform):
    """Stratified BCa; one set of resampling counts for all replicates."""
    rng = np.random.default_rng(0)
    w0, w1 = (
        rng.multinomial(n, np.full(n, 1 / n), N_BOOTSTRAP).astype(np.float32) / n
        for n in (r.n_neg, r.n_pos)
    )
    drawn = np.empty((len(r.auc), N_BOOTSTRAP))
    for i, psi in enumerate(r.psi):
        drawn[i] = ((w1 @ psi) * w0).sum(axis=1)
    drawn.sort(axis=1)
    u = [r.v01 - r.auc[:, None], r.v10 - r.auc[:, None]]
    skew = sum((x**3).sum(axis=1) / x.shape[1] ** 3 for x in u)
    spread = sum((x**2).sum(axis=1) / x.shape[1] ** 2 for x in u)
    known = spread > 1e-12
    a = skew / (6 * np.where(known, spread, 1) ** 1.5)
    same = np.abs(drawn - r.auc[:, None]) < 1e-5  # float32 sums
    below = ((drawn < r.auc[:, None]) & ~same).mean(axis=1) + same.mean(axis=1) / 2
    bias = ndtri(below)
    limits = []
    for z in (ndtri(tail), -ndtri(tail)):
        level = ndtr(bias + (bias + z) / (1 - a * (bias + z)))
        level = np.where(known, level, 0.5)
        index = level * (N_BOOTSTRAP - 1)
        left = np.floor(index).astype(int)
        right = np.minimum(left + 1, N_BOOTSTRAP - 1)
        rows = np.arange(len(r.auc))
        limits.append(
            drawn[rows, left]
            + (index - left) * (drawn[rows, right] - drawn[rows, left])
        )
    exact = wald_limits(r.auc, 0, r.smaller, tail, tail, "none")
    return tuple(np.where(known, b, e) for b, e in zip(limits, exact, strict=True))


METHODS = {
    "score": (score, (None,)),
    "hanley_mcneil_score": (newcombe, (None,)),
    "delong": (wald(lambda r: r.delong), ("none", "logit", "probit")),
    "bamber": (wald(lambda r: r.bamber), ("none", "logit", "probit")),
    "hanley_mcneil": (
        wald(lambda r: hanley_mcneil_variance(r.auc, r.n_neg, r.n_pos)),
        ("none", "logit", "probit"),
    ),
    "max_variance": (
        wald(lambda r: r.auc * (1 - r.auc) / r.smaller),
        ("none", "logit", "probit"),
    ),
    "binormal": (binormal_limits, ("none", "logit", "probit")),
    "bayesian": (bayesian(common=False), (None,)),
    "bayesian_common": (bayesian(common=True), (None,)),
    "cortes_mohri": (cortes_mohri, (None,)),
    "bootstrap": (bootstrap, (None,)),
}
CHECKED = (
    "score",
    "hanley_mcneil_score",
    "delong",
    "bamber",
    "hanley_mcneil",
    "max_variance",
    "binormal",
)


def simulate(auc, sizes, shape, replicates, seed):
    """Replicates of one cell."""
    rng = np.random.default_rng(seed)
    draw_neg, draw_pos, threshold = SHAPES[shape](auc)
    neg = draw_neg(rng, (replicates, sizes[0]))
    return Replicates(neg, draw_pos(rng, (replicates, sizes[1])), threshold)


def check_against_package(r, limits, method, transform, level, n=3):
    """The same limits from ``auc_estimate`` on the first replicates."""
    y = np.repeat([0, 1], [r.n_neg, r.n_pos])
    for i in range(n):
        estimate = auc_estimate(y, np.concatenate([r.neg[i], r.pos[i]]))
        own = estimate.confidence_interval(level, method, transform)
        np.testing.assert_allclose(own, [b[i] for b in limits], atol=1e-6)


def run(replicates, level):
    """Fill results/coverage.csv, cell by cell."""
    path = RESULTS / "coverage.csv"
    RESULTS.mkdir(exist_ok=True)
    done = (
        {tuple(row[:4]) for row in csv.reader(path.open())} if path.exists() else set()
    )
    cells = [(a, s, shape) for a in AUCS for s in SIZES for shape in SHAPES]
    tail = (1 - level) / 2
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(
                "auc n_neg n_pos scores method transform coverage too_low too_high "
                "width replicates".split()
            )
        for seed, (auc, sizes, shape) in enumerate(tqdm(cells, unit="cell")):
            if tuple(map(str, (auc, *sizes, shape))) in done:
                continue
            r = simulate(auc, sizes, shape, replicates, SEED + seed)
            rows = []
            for method, (function, transforms) in METHODS.items():
                for transform in transforms:
                    low, high = function(r, tail, transform)
                    if method in CHECKED:
                        check_against_package(r, (low, high), method, transform, level)
                    below, above = (high < auc).mean(), (low > auc).mean()
                    numbers = (1 - below - above, below, above, (high - low).mean())
                    cell = (auc, *sizes, shape, method, transform or "")
                    numbers = [round(float(x), 5) for x in numbers]
                    rows.append([*cell, *numbers, replicates])
            writer.writerows(rows)
            file.flush()
    (RESULTS / "coverage.txt").write_text(
        f"{stamp()}\nlevel {level}, {replicates} replicates a cell\n"
    )


def plot(level):
    """Heat map of the coverage, one panel a method."""
    import matplotlib.pyplot as plt
    import pandas as pd

    table = pd.read_csv(RESULTS / "coverage.csv", keep_default_na=False)
    table["name"] = (table.method + " " + table["transform"]).str.strip()
    shown = [f"{m} {t or ''}".strip() for m, (_, ts) in METHODS.items() for t in ts]
    fig, axes = plt.subplots(
        3, -(-len(shown) // 3), figsize=(17, 19), sharey=True, layout="constrained"
    )
    for ax in axes.ravel()[len(shown) :]:
        ax.axis("off")
    for ax, name in zip(axes.ravel(), shown, strict=False):
        part = table[table.name == name]
        grid = part.pivot_table(
            index=["scores", "auc"],
            columns=["n_neg", "n_pos"],
            values="coverage",
            sort=False,
        ).sort_index(level=0, sort_remaining=True)
        image = ax.imshow(grid, cmap="RdBu", vmin=level - 0.1, vmax=level + 0.1)
        ax.set_title(f"{name}\nworst {grid.min().min():.3f}", fontsize=10)
        ax.set_xticks(range(grid.shape[1]), [f"{a}+{b}" for a, b in grid.columns])
        ax.tick_params(axis="x", rotation=90)
        ax.set_yticks(range(len(grid)), [f"{s} {a}" for s, a in grid.index], fontsize=7)
    fig.colorbar(image, ax=axes, label="coverage", shrink=0.5)
    stamp = (RESULTS / "coverage.txt").read_text().replace("\n", "; ")
    fig.suptitle(f"Coverage of {level:.0%} intervals. {stamp}", fontsize=9)
    fig.savefig(RESULTS / "coverage.png", dpi=70, bbox_inches="tight")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--only-plot", action="store_true")
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--logistic", action="store_true")
    arguments = parser.parse_args()
    for asked, part in (
        (arguments.curves, coverage_curves),
        (arguments.tests, coverage_tests),
        (arguments.logistic, coverage_logistic),
    ):
        if asked:
            part.main([])
            raise SystemExit
    if not arguments.only_plot:
        run(arguments.replicates, arguments.level)
    plot(arguments.level)
