"""
Which interval for an AUC from few rows?
========================================

You have thirty hold-out rows and their AUC: what are its limits? ``auc_estimate``
offers four methods, and on few rows they disagree. The left picture shows them for the
same 15 + 15 tumours of the Wisconsin breast cancer data, and an interval from the
number of errors alone; other rows of the data show the true AUC.

One data set cannot decide which method is right. So the right picture shows, for each
method, how often its 95 % interval contains a true AUC of .90, over hundreds of samples
of 10 + 10 scores. If this happens in fewer than 95 samples of 100, the interval is too
narrow; if it happens in more, the interval is wider than necessary. Scores are normal,
or have outliers. Other AUCs, sizes and scores are in ``benchmarks``.
"""

# %%
from functools import cache

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import auc_estimate, cortes_mohri_interval

LEVEL = 0.95
METHODS = {  # options of confidence_interval
    "score (default)": dict(method="score"),
    "Hanley-McNeil score": dict(method="hanley_mcneil_score"),
    "Hanley-McNeil (logit)": dict(method="hanley_mcneil"),
    "DeLong (logit)": dict(method="delong"),
    "DeLong (as in pROC)": dict(method="delong", transform="none"),
}

# %%
# A model of two features, the next 15 + 15 rows to judge it, and all others for its
# true AUC.
X, y = load_breast_cancer(return_X_y=True)
X, malignant = X[:, [1, 5]], y == 0  # mean texture, mean compactness
X_train, X_rest, y_train, y_rest = train_test_split(
    X, malignant, train_size=200, stratify=malignant, random_state=0
)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
score = model.decision_function(X_rest)
rows = np.r_[np.flatnonzero(y_rest)[:15], np.flatnonzero(~y_rest)[:15]]
estimate = auc_estimate(y_rest[rows], score[rows])
truth = roc_auc_score(np.delete(y_rest, rows), np.delete(score, rows))
limits = {n: estimate.confidence_interval(LEVEL, **how) for n, how in METHODS.items()}
errors = int(((score[rows] >= 0) != y_rest[rows]).sum())
limits["Cortes-Mohri"] = cortes_mohri_interval(
    LEVEL, n_pos=15, n_neg=15, n_errors=errors
)

# %%
# Coverage: 300 samples of 10 + 10 scores of each kind, a true AUC of .90.
AUC, HALF, REPLICATES = 0.9, 10, 300
rng = np.random.default_rng(0)
NOISE = {
    "normal": (lambda size: rng.standard_normal(size), np.sqrt(2) * norm.ppf(AUC)),
    "Cauchy": (
        lambda size: rng.standard_cauchy(size),  # a difference of two has scale 2
        2 * np.tan(np.pi * (AUC - 0.5)),
    ),
}
labels = np.repeat([0, 1], HALF)


@cache
def from_errors(k):
    """Return the interval of Cortes and Mohri, which uses only the number of errors."""
    return cortes_mohri_interval(LEVEL, n_pos=HALF, n_neg=HALF, n_errors=k)


def simulate(noise, shift):
    """Return coverage and mean width of each method's intervals."""
    found = {name: [] for name in limits}
    for _ in range(REPLICATES):
        s = shift * labels + noise(2 * HALF)
        sample = auc_estimate(labels, s)
        errors = int(((s > shift / 2) != labels).sum())
        for name, how in METHODS.items():
            found[name].append(sample.confidence_interval(LEVEL, **how))
        found["Cortes-Mohri"].append(from_errors(errors))
    low, high = np.moveaxis(np.array(list(found.values())), -1, 0)
    inside = (low <= AUC) & (AUC <= high)
    return inside.mean(axis=1), (high - low).mean(axis=1)


simulated = {name: simulate(*law) for name, law in NOISE.items()}

# %%
# The table and the verdict. The standard error of a simulated coverage is .013.
error = np.sqrt(LEVEL * (1 - LEVEL) / REPLICATES)
least, largest = LEVEL - 2 * error, LEVEL + 2 * error
coverage, width = np.moveaxis(np.array(list(simulated.values())), 1, 0)
narrow = (coverage < least).any(axis=0)
wide = ~narrow & (coverage > largest).any(axis=0)
KINDS = {
    "near the level": "#0072B2",
    "conservative": "#E69F00",
    "too narrow": "#888888",
}
verdict = np.array(list(KINDS))[np.select([narrow, wide], [2, 1], 0)]
names = np.array(list(limits))
n_others = len(y_rest) - len(rows)
print(f"AUC of 15 + 15 rows: {estimate.auc:.3f}; of {n_others} others: {truth:.3f}\n")
print(f"{'':22} {'':>14}  coverage and mean width, 10 + 10 rows")
print(f"{'':22} {'15 + 15 rows':>14} " + "".join(f"{n:>15}" for n in simulated))
for i, (name, (low, high)) in enumerate(limits.items()):
    print(f"{name:22} [{low:.3f}, {high:.3f}]", end="")
    print("".join(f" {c[i]:8.3f} {w[i]:5.2f}" for c, w in simulated.values()), end="")
    print(f"   {verdict[i]}")

print(f"\nTwo Monte Carlo errors about 95 % are {least:.3f} to {largest:.3f}.")
print("Methods that are not too narrow for either kind of scores, narrowest first:")
order = np.argsort(width.mean(axis=0))
near, far = ("; ".join(names[order][verdict[order] == v]) for v in list(KINDS)[:2])
print(f"  near the level: {near}")
print(f"  wider than necessary for one kind or both (conservative): {far}")
worst = coverage.min(axis=0)
print(f"The smallest coverage is {worst.min():.2f}, of the ", end="")
print(f"{names[np.argmin(worst)]} interval.")

# The interval of Cortes and Mohri covers the AUC here because it is wide. With more
# rows it narrows around the mean AUC of all rankings with as many errors, which is not
# the AUC of this ranking.
errors = round(1000 * norm.sf(norm.ppf(AUC) / np.sqrt(2)))
low, high = cortes_mohri_interval(LEVEL, n_pos=500, n_neg=500, n_errors=errors)
misses = "contains" if low <= AUC <= high else "misses"
print(f"For 500 + 500 normal scores with the expected {errors} errors, Cortes-Mohri's")
print(f"interval is [{low:.3f}, {high:.3f}]: it {misses} the AUC of {AUC:.2f}.")

# %%
# Blue: near the level for both kinds of scores. Orange: conservative. Grey: too narrow.
colors = [KINDS[kind] for kind in verdict]
height = -np.arange(len(names))
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
axes[0].hlines(height, *np.transpose(list(limits.values())), colors=colors, lw=3)
axes[0].axvline(estimate.auc, color="k", lw=1, label="these 30 rows")
axes[0].axvline(truth, color="#CC79A7", ls="--", label="other rows")
axes[0].set_yticks(height, names)
axes[0].set(xlabel="AUC", title="95 % intervals, 15 + 15 tumours")
axes[0].legend(loc="upper left", title="AUC of", fontsize=8)
axes[1].axvspan(least, largest, color="#888888", alpha=0.25, lw=0)
axes[1].axvline(LEVEL, color="k", lw=1)
for (name, (covered, _)), marker in zip(simulated.items(), "oD", strict=True):
    face = colors if marker == "o" else "none"
    axes[1].scatter(covered, height, marker=marker, c=face, edgecolors=colors)
    mfc = "k" if marker == "o" else "none"
    axes[1].plot([], [], "k" + marker, mfc=mfc, label=name)
axes[1].set(xlabel="coverage", title="10 + 10 rows, true AUC .90")
for kind, color in KINDS.items():
    axes[1].plot([], [], color=color, lw=3, label=kind)
axes[1].legend(loc="upper left", title="scores, interval", fontsize=8)
fig.savefig("plot_5_intervals_compared.png", dpi=90)
print("\nFigure: plot_5_intervals_compared.png")
