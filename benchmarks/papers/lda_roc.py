"""The ROC curve of LDA, and whether its theoretical AUC tells the truth.

M. Krukowski (2025), *ROC curves for LDA classifiers*, https://arxiv.org/abs/2507.18307:
for two normal classes with one covariance the score f(x) = αᵀx + β has

    FPR(θ) = Φ((αᵀμ₀ + β − θ)/γ),  TPR(θ) = Φ((αᵀμ₁ + β − θ)/γ),  γ² = αᵀΣα,
    δ = αᵀ(μ₁ − μ₀)/γ,  AUC = Φ(δ/√2),  J = 2Φ(δ/2) − 1 at θ = 0,

illustrated on the Wisconsin breast cancer data (figure 2). Here: figure 2; the closed
form against the paper's trapezoid; and the theoretical AUC of the training rows
against the empirical AUC of the others over 1000 random splits, for a few features and
for all 30, at several training sizes, with the Bayesian AUC beside it.

Where the text is silent. The split is ``train_test_split(..., random_state=45)``, with
.20, .25 and .30 of test rows; the features are those of the paper's introduction ("mean
area, concavity and fractal dimension"), the first two of the file, and all 30. Figure 2
prints no number. Class 1 is benign, as in the paper's listing, although its text calls
malignant positive: no area and no J depends on it.

    python -m benchmarks.papers.lda_roc  # ten minutes; --fast: seconds

Writes ``results/lda_roc/{fig2,sizes,claims}.csv`` and two pictures.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from scipy.integrate import quad, trapezoid
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc
from benchmarks.tools.picture import Panel, draw
from benchmarks.tools.runs import claim, parse, resume
from benchmarks.tools.table import write_table

FEATURES = {
    "area, concavity, fractal": ("area", "concavity", "fractal dimension"),
    "radius, texture": ("radius", "texture"),
    "all 30": None,
}
TEST_SHARES = (0.2, 0.25, 0.3)
SIZES = (40, 60, 100, 200, 398)
SPLITS, BATCH = 1000, 25
PLUG_IN, ADAPTIVE, PAPER = "plug-in", "Bayesian, adaptive", "Bayesian, paper's prior"
LEAVE_PAIR_OUT, CV, TEST = "leave-pair-out", "5-fold CV", "test"
ESTIMATES = (PLUG_IN, "resubstitution", ADAPTIVE, PAPER, LEAVE_PAIR_OUT, CV)
CUT = 0.001  # the paper integrates over FPR in [0.001, 0.999]


def data(features):
    """Rows of the Wisconsin data with the features of a set; 1 is benign."""
    file = load_breast_cancer()
    if FEATURES[features] is None:
        return file.data, file.target
    names = list(file.feature_names)
    wanted = [names.index(f"mean {name}") for name in FEATURES[features]]
    return file.data[:, wanted], file.target


def fit(X, y):
    """LDA on standardised features: it does not see the units, priors do."""
    return make_pipeline(StandardScaler(), skauc.LinearDiscriminantROC()).fit(X, y)


def trapezoid_over_thresholds(roc, points=1000):
    """The paper's AUC: trapezoid over even θ with FPR(θ) from 0.999 down to 0.001."""
    theta = np.linspace(roc.threshold(1 - CUT), roc.threshold(CUT), points)[::-1]
    return float(trapezoid(roc.tpr(theta), roc.fpr(theta)))


def one_split(features, share):
    """Training rows, test labels and test scores of ``random_state=45``; the model."""
    X, y = data(features)
    X, X_test, y, y_test = train_test_split(X, y, test_size=share, random_state=45)
    model = fit(X, y)
    return model, X, y, y_test, model.decision_function(X_test)


def figure_2_row(features, share):
    """Everything the paper computes on one split, and its oracle."""
    model, X, y, y_test, score = one_split(features, share)
    lda, roc = model[-1], model[-1].roc_
    delta = (roc.mean_pos - roc.mean_neg) / roc.std_neg
    u, best = np.linspace(0, 1, 2001), float(2 * ndtr(delta / 2) - 1)
    theta = np.linspace(roc.mean_neg - 3, roc.mean_pos + 3.1, 20001)
    rise = roc.tpr(theta) - roc.fpr(theta)
    area = quad(lambda u: float(roc.roc(u)), 0, 1, epsabs=1e-13, limit=1000)[0]
    test = skauc.auc_estimate(y_test, score)
    low, high = test.confidence_interval(0.95, method="delong")
    ends = roc.partial_auc(CUT) + roc.auc - roc.partial_auc(1 - CUT)
    log_odds = np.log(np.mean(y == 1) / np.mean(y == 0))
    loses = lda.auc_ - trapezoid_over_thresholds(roc)
    row = {"features": features, "test share": share, "training rows": len(y)}
    row |= {"delta": float(delta), "AUC closed form": float(ndtr(delta / np.sqrt(2)))}
    row |= {"integral - closed form": area - lda.auc_, "trapezoid": lda.auc_ - loses}
    row |= {"trapezoid loses": loses, "of that, cut ends": ends}
    row |= {"test AUC": test.auc, "test low": float(low), "test high": float(high)}
    row |= {"Youden J": best, "largest J - Youden J": float(rise.max()) - best}
    row["Youden theta"] = float(lda.youden_threshold_ - log_odds)
    row["largest bend"] = float(np.diff(roc.roc(u), 2).max())
    row["AUC, classes swapped"] = fit(X, 1 - y)[-1].auc_ - lda.auc_
    return row


def panel_of_figure_2(features):
    """Analytic curve of the training rows and the empirical one of the test rows."""
    model, _, _, y_test, score = one_split(features, 0.25)
    roc, u = model[-1].roc_, np.linspace(0, 1, 201)
    fpr, tpr, _ = roc_curve(y_test, score, drop_intermediate=False)
    lines = {"theory": (u, roc.roc(u)), "test": (fpr, tpr)}
    title = f"{features}: {roc.auc:.3f}, {roc_auc_score(y_test, score):.3f}"
    return Panel(title, "false positive rate", "true positive rate", lines)


def batch(features, size, first, count):
    """What :func:`one_estimate` returns, for ``count`` splits from ``first`` on."""
    X, y = data(features)
    return [one_estimate(X, y, size, seed) for seed in range(first, first + count)]


def one_estimate(X, y, size, seed):
    """What each estimate says of one training set, and what the other rows say."""
    X, X_test, y, y_test = train_test_split(X, y, train_size=size, random_state=seed)
    model = fit(X, y)
    test = skauc.auc_estimate(y_test, model.decision_function(X_test))
    return {
        PLUG_IN: model[-1].auc_,
        "resubstitution": float(roc_auc_score(y, model.decision_function(X))),
        ADAPTIVE: skauc.auc_posterior(model, X, y).mean(),
        PAPER: skauc.auc_posterior(model, X, y, prior="paper").mean(),
        LEAVE_PAIR_OUT: skauc.lpo_auc_scorer(model, X, y),
        CV: float(cross_val_score(model, X, y, cv=5, scoring="roc_auc").mean()),
        TEST: test.auc,
        "test SE": float(test.standard_error("delong")),
    }


def run_splits(arguments):
    """What every estimate says in all splits of every feature set and size."""
    sizes, splits = (SIZES[1::3], BATCH) if arguments.fast else (SIZES, SPLITS)
    jobs = list(product(FEATURES, sizes, range(0, splits, BATCH), (BATCH,)))
    results = resume("lda_roc", batch, jobs, arguments)
    parts = [
        pd.DataFrame(found).assign(features=job[0], rows=job[1])
        for job, found in zip(jobs, results, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def size_rows(runs):
    """Bias, correlation and error of each estimate of the test AUC, cell by cell."""
    rows = []
    for (features, size), run in runs.groupby(["features", "rows"], sort=False):
        for name in ESTIMATES:
            error, test = run[name] - run[TEST], run[TEST]
            row = {"features": features, "rows": size, "estimate": name}
            row |= {"splits": len(run), "mean": run[name].mean(), "sd": run[name].std()}
            row |= {"test mean": test.mean(), "test sd": test.std()}
            row |= {"SE of one test": run["test SE"].mean(), "bias": error.mean()}
            row |= {"bias SE": error.sem(), "correlation": run[name].corr(test)}
            rows.append(row | {"RMSE": np.sqrt((error**2).mean())})
    return pd.DataFrame(rows)


def panel_of_sizes(runs):
    """Mean of each estimate and of the test AUC by size, all 30 features."""
    means = runs[runs["features"] == "all 30"].groupby("rows").mean(numeric_only=True)
    lines = {name: (means.index, means[name]) for name in (*ESTIMATES, TEST)}
    return Panel("LDA on all 30 features", "training rows", "AUC", lines, "x")


def spread(column):
    """Name, smallest and largest value of a column."""
    return f"{column.name} {column.min():.4f} to {column.max():.4f}"


def curve_claims(rows):
    """What the paper proves of the curve, and what figure 2 shows."""
    table = pd.DataFrame(rows)
    size = table.drop(columns="features").abs()
    inside = size["AUC closed form"].between(size["test low"], size["test high"])
    rise, theta = size["largest J - Youden J"], size["Youden theta"]
    text = "the theoretical curve fits the empirical one (random_state=45)"
    laws = (
        ("the curve is concave", table["largest bend"], 1e-15),
        ("its area is Φ(δ/√2)", size["integral - closed form"], 1e-10),
        ("J = 2Φ(δ/2) − 1 is the largest, at θ = 0", np.maximum(rise, theta), 1e-6),
        ("the trapezoid over FPR in [0.001, 0.999] is the AUC",
         size["trapezoid loses"], 1e-4),
        ("benign or malignant as class 1: the same AUC",
         size["AUC, classes swapped"], 1e-10),
    )  # fmt: skip
    claims = [
        claim("2", text, f"off by {off.max():.1e} at most", off <= most, f"<= {most:g}")
        for text, off, most in laws
    ]
    found = f"theory inside the interval in {inside.sum()} of {len(inside)}"
    return [*claims, claim("2", text, found, inside, "inside DeLong's 95 % interval")]


def size_claims(table):
    """Whether the theory tracks over random splits, and what corrects it."""
    all_30 = table["features"] == "all 30"
    plug_in = table["estimate"] == PLUG_IN
    few = table[~all_30 & plug_in & (table["rows"] >= 60)]
    theory = table[all_30 & plug_in]
    judged = [
        (
            "few features, 60 rows and more: theory tracks the test AUC on average",
            spread(few["bias"]),
            few["bias"].abs() <= few["SE of one test"],
            "|bias| <= standard error of one test AUC",
        ),
        (
            "few features, 60 rows and more: theory tracks it split by split",
            spread(few["correlation"]),
            few["correlation"] >= 0.5,
            "correlation >= 0.5",
        ),
        (
            "30 features: theory is optimistic",
            spread(theory["bias"]),
            theory["bias"] > 3 * theory["bias SE"],
            "bias > 3 standard errors, every size",
        ),
    ]
    for name in (ADAPTIVE, PAPER, LEAVE_PAIR_OUT, CV):
        bias = table.loc[all_30 & (table["estimate"] == name), "bias"]
        better = bias.abs().to_numpy() < theory["bias"].abs().to_numpy()
        text = f"30 features: {name} is nearer to the test AUC on average"
        rule = "|bias| below the plug-in's, every size"
        judged.append((text, spread(bias), better, rule))
    return [claim("splits", *row) for row in judged]


def main(argv=None):
    """Figure 2, the splits, the claims; returns the three tables."""
    arguments = parse(__doc__, argv, folder="lda_roc")
    out = arguments.out
    figure_2 = [figure_2_row(f, share) for f in FEATURES for share in TEST_SHARES]
    draw(out / "fig2.png", [panel_of_figure_2(features) for features in FEATURES])
    runs = run_splits(arguments)
    draw(out / "sizes.png", [panel_of_sizes(runs)])
    sizes = size_rows(runs)
    claims = curve_claims(figure_2) + size_claims(sizes)
    tables = {"fig2": figure_2, "sizes": sizes, "claims": claims}
    for name, rows in tables.items():
        write_table(name, rows, out)
    return tables


if __name__ == "__main__":
    main()
