"""
Select features inside the Pipeline
===================================

A Pipeline keeps the k of a thousand genes that differ most between the classes, and
trains a logistic regression on them. What is its AUC on new rows?

Cross-validation repeats the selection, with five fits for every k. An AUC computed from
the selected columns alone ignores that they were selected: on pure noise it is far too
high. ``auc_posterior`` of the whole Pipeline uses all genes that entered it. Because a
step of the Pipeline used y, the report also refits the whole Pipeline a few times;
``AdaptivePrior(refits=0)`` leaves this out, with a warning.

Left picture: noise. Right: correlated genes, ten of which carry a signal. The true AUC
is known in both cases.
"""

# %%
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skauc import AdaptivePrior, UntrustedAUCWarning, auc_posterior

ROWS, GENES, FACTORS, INFORMATIVE, REPEATS = 80, 1000, 5, 10, 4
SIZES = (3, 10, 30, 100, 1000)
ONE_FIT = AdaptivePrior(refits=0)  # the formula alone
REPORT = AdaptivePrior()  # the default: also refits, where a step used y


def draw(signal, seed):
    """Return genes with a few common factors; the first ten may carry a signal."""
    rng = np.random.default_rng(seed)
    y = np.arange(ROWS) % 2
    loadings = 0.5 * rng.standard_normal((FACTORS, GENES))
    shift = np.zeros(GENES)
    shift[:INFORMATIVE] = signal
    X = rng.standard_normal((ROWS, FACTORS)) @ loadings
    X += rng.standard_normal((ROWS, GENES)) + np.outer(y, shift)
    return X, y, loadings, shift


def true_auc(pipe, loadings, shift):
    """Return Φ(wᵀd/√(2wᵀΣw)) of the fitted direction w, which is 0 at other genes."""
    w = pipe[0].inverse_transform(pipe[-1].coef_)[0]
    return ndtr(w @ shift / np.sqrt(2 * (((loadings @ w) ** 2).sum() + w @ w)))


def estimates(k, X, y, loadings, shift):
    """Return the true AUC of a Pipeline and the estimate of each method."""
    pipe = make_pipeline(SelectKBest(k=k), LogisticRegression(max_iter=1000))
    folds = cross_val_score(pipe, X, y, scoring="roc_auc").mean()
    pipe.fit(X, y)
    naive = auc_posterior(pipe[-1], pipe[0].transform(X), y).mean()
    one_fit = auc_posterior(pipe, X, y, prior=ONE_FIT, rows="training")
    refits = auc_posterior(pipe, X, y, prior=REPORT, rows="training")
    limits = one_fit.interval(0.95)
    truth = true_auc(pipe, loadings, shift)
    return truth, folds, naive, one_fit.mean(), refits.mean(), *limits


# %%
# The posterior of a Pipeline whose steps used y carries a warning.
warnings.simplefilter("ignore", UntrustedAUCWarning)
X, y, *_ = draw(0, 0)
pipe = make_pipeline(SelectKBest(k=10), LogisticRegression()).fit(X, y)
for sentence in auc_posterior(pipe, X, y, prior=ONE_FIT, rows="training").warnings:
    print(f"posterior.warnings: {sentence}")

# %%
# Every k, on a few data sets of each kind.
names = ("truth", "5-fold CV", "naive, 1 fit", "skauc, 1 fit", "skauc, report")
problems = {"noise": 0.0, "genes with a signal": 1.0}
print(f"\n{ROWS} rows, {GENES} genes, {REPEATS} data sets: mean (mean |error|)")
results = {}
for problem, signal in problems.items():
    data = [draw(signal, seed) for seed in range(REPEATS)]
    print(f"{problem:>20}{'truth':>7}" + "".join(f"{name:>17}" for name in names[1:]))
    results[problem] = runs = np.array(
        [[estimates(k, *d) for d in data] for k in SIZES]
    )
    for k, run in zip(SIZES, runs, strict=True):
        truth, *said = run.T[:5]
        cells = (f"{s.mean():9.3f} ({np.abs(s - truth).mean():.3f})" for s in said)
        print(f"{f'k = {k}':>20}{truth.mean():7.3f} " + " ".join(cells))
    errors = np.abs(runs[:, :, 1:5] - runs[:, :, :1]).mean(axis=(0, 1))
    print(f"{'all k, |error|':>20}{'':7}" + "".join(f"{e:17.3f}" for e in errors))
    inside = (runs[..., 5] <= runs[..., 0]) & (runs[..., 0] <= runs[..., 6])
    print(f"  95 % interval of one fit: truth inside {inside.sum()} of {inside.size}")

# %%
STYLES = ("-", "^:", "v--", "o-", "s-.")
COLORS = ("k", "#D55E00", "#999999", "#0072B2", "#009E73")
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (problem, runs) in zip(axes, results.items(), strict=True):
    means = runs.mean(axis=1).T
    label = "skauc, 1 fit: 95 % interval"
    ax.fill_between(SIZES, *means[5:], color=COLORS[3], alpha=0.15, lw=0, label=label)
    for name, values, style, color in zip(names, means, STYLES, COLORS, strict=False):
        ax.plot(SIZES, values, style, color=color, ms=5, label=name)
    ax.set(xscale="log", xlabel="genes kept (k)", title=problem)
    ax.set_xticks(SIZES, SIZES)
    ax.minorticks_off()
axes[0].set_ylabel(f"AUC, mean of {REPEATS} data sets")
axes[1].legend(fontsize=8, loc="lower left")
fig.savefig("plot_9_selection_inside_the_pipeline.png", dpi=90)
print("\nFigure: plot_9_selection_inside_the_pipeline.png")
