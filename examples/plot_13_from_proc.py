"""
From pROC to skauc, line by line
================================

The R package pROC is what most clinical papers cite for ROC curves. This script repeats
an analysis of pROC 1.18 and prints R's numbers beside those of skauc. Where they
differ, the text says why.

The data are in R and in scikit-learn: two species of iris, ranked by the length and by
the width of a sepal. In R::

    d <- iris[51:150, ]
    y <- as.integer(d$Species == "virginica")
    length <- roc(y, d$Sepal.Length, direction = "<")
    width <- roc(y, d$Sepal.Width, direction = "<")
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from skauc import auc_estimate, compare_auc, empirical_roc, operating_points

X, species = load_iris(return_X_y=True)
length, width, y = X[50:, 0], X[50:, 1], (species[50:] == 2).astype(int)
print(f"{'':44} {'pROC':>9} {'skauc':>9}")


def beside(call, printed, computed):
    """Print R's number beside ours."""
    print(f"{call:44} {printed:9.5f} {float(np.squeeze(computed)):9.5f}")


# %%
# The AUC and DeLong's variance. ``auc_estimate`` has other intervals, so that DeLong's
# is asked for by name; pROC uses no transform.
estimate = auc_estimate(y, length)
beside("auc(length)", 0.7896, estimate.auc)
beside("var(length)", 0.00201077, estimate.standard_error("delong") ** 2)
low, high = estimate.confidence_interval(method="delong", transform="none")
beside("ci.auc(length)[1]", 0.70171208, low)
beside("ci.auc(length)[3]", 0.87748792, high)

# %%
# Partial areas. A range of specificities is a range of false positive rates.
part = estimate.partial_auc(fpr=(0, 0.2))
beside("auc(length, partial.auc = c(1, .8))", 0.0781, part.auc)
corrected = estimate.partial_auc(fpr=(0, 0.2), standardize=True)
beside("..., partial.auc.correct = TRUE)", 0.66138889, corrected.auc)

# %%
# The paired test of two curves.
test = compare_auc(y, length, width)
beside("roc.test(length, width)$statistic", 2.52723101, test.statistic)
beside("roc.test(length, width)$p.value", 0.01149659, test.pvalue)

# %%
# The best threshold. pROC returns two, and puts thresholds between the scores. skauc
# returns the highest of the best scores, with the rule score >= threshold.
best = operating_points(y, length, best="youden")
beside('coords(length, "best")$sensitivity[2]', 0.74, best.sensitivity)
beside('coords(length, "best")$specificity[2]', 0.72, best.specificity)
beside('coords(length, "best")$threshold[2]', 6.25, best.threshold)

# %%
# Two differences. pROC's interval of an AUC of 1 is 1 to 1, with a warning; four rows
# cannot be that sure. And pROC turns a score around if its AUC is below ½.
low, high = auc_estimate([0, 0, 1, 1], [1, 2, 3, 4]).confidence_interval()
beside("ci.auc of 2 + 2 rows without error [1]", 1, low)
beside("auc(roc(y, -Sepal.Length))", 0.7896, auc_estimate(y, -length).auc)

# %%
# The default interval of skauc, and DeLong's, for the first of these rows only: the
# fewer the rows, the more they differ.
sizes = (5, 10, 20, 50)
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for shift, (label, options) in enumerate(
    {
        "skauc, default": {},
        "DeLong, as in pROC": {"method": "delong", "transform": "none"},
    }.items()
):
    for place, n in enumerate(sizes):
        rows = np.r_[:n, 50 : 50 + n]
        limits = auc_estimate(y[rows], length[rows]).confidence_interval(**options)
        color = ("#0072B2", "#D55E00")[shift]
        name = label if place == 0 else None
        right.plot([place + 0.2 * shift] * 2, limits, color=color, lw=3, label=name)
right.axhline(1, color="k", lw=0.8)
right.set_xticks(range(len(sizes)), [f"{n} + {n}" for n in sizes])
right.set(xlabel="rows", ylabel="95 % interval of the AUC")
right.legend(loc="lower right")
empirical_roc(y, length).plot(left, name="length", band="pointwise")
fig.savefig("plot_13_from_proc.png", dpi=80)
print("\nFigure: plot_13_from_proc.png")
