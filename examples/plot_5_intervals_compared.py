"""
Which interval for an AUC from few rows?
========================================

Thirty hold-out rows and an AUC: what are its limits? ``auc_estimate`` knows ten
methods, and on few rows they disagree. On the left all of them on the same 15 + 15
tumours of the Wisconsin breast cancer data; rows that were kept aside tell what the AUC
really is. One data set cannot tell which method is right, so on the right each is asked
for hundreds of samples of 10 + 10 scores with a true AUC of .90: a 95 % interval should
contain it 95 times in 100, for normal scores and for scores with outliers. (Other AUCs,
sizes and scores: ``benchmarks/coverage.py``.)
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
    "Bamber (logit)": dict(method="bamber"),
    "bootstrap (BCa)": dict(method="bootstrap", n_resamples=999),
    "binormal": dict(method="binormal"),
    "Bayesian": dict(method="bayesian"),
    "maximal variance": dict(method="max_variance"),
    "Cortes-Mohri": dict(method="cortes_mohri"),
}

# %%
# A model of two features, the next 15 + 15 rows to judge it, the others as the truth.
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
limits = {
    name: estimate.confidence_interval(
        LEVEL, **how, **({"threshold": 0} if name == "Cortes-Mohri" else {})
    )
    for name, how in METHODS.items()
}

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
    """Cortes-Mohri's interval knows the number of errors only."""
    return cortes_mohri_interval(HALF, HALF, k, LEVEL)


def simulate(noise, shift):
    """Coverage and mean width of each method's intervals."""
    found = {name: [] for name in METHODS}
    for _ in range(REPLICATES):
        s = shift * labels + noise(2 * HALF)
        sample = auc_estimate(labels, s)
        errors = int(((s > shift / 2) != labels).sum())
        for name, how in METHODS.items():
            found[name].append(
                from_errors(errors)
                if name == "Cortes-Mohri"
                else sample.confidence_interval(LEVEL, **how)
            )
    low, high = np.moveaxis(np.array(list(found.values())), -1, 0)
    inside = (low <= AUC) & (AUC <= high)
    return inside.mean(axis=1), (high - low).mean(axis=1)


simulated = {name: simulate(*law) for name, law in NOISE.items()}

# %%
# The table and the verdict. The Monte Carlo error of a coverage is about .013.
n_others = len(y_rest) - len(rows)
print(f"AUC of 15 + 15 rows {estimate.auc:.3f}, of {n_others} others {truth:.3f}\n")
print(f"{'':22} {'':>14}  coverage and mean width, 10 + 10 rows")
print(f"{'':22} {'15 + 15 rows':>14} " + "".join(f"{n:>15}" for n in simulated))
for i, (name, (low, high)) in enumerate(limits.items()):
    print(f"{name:22} [{low:.3f}, {high:.3f}]", end="")
    print("".join(f" {c[i]:8.3f} {w[i]:5.2f}" for c, w in simulated.values()))

error = np.sqrt(LEVEL * (1 - LEVEL) / REPLICATES)
worst = np.min([covered for covered, _ in simulated.values()], axis=0)
width = np.mean([width for _, width in simulated.values()], axis=0)
names = np.array(list(METHODS))
holds = worst >= LEVEL - 2 * error
order = np.argsort(width[holds])
print(
    "\nWithin two Monte Carlo errors of 95 % for both kinds of scores, narrowest first:"
)
print("; ".join(names[holds][order]))
least = np.argmin(worst)
print(
    f"The least coverage, {worst[least]:.2f}, is that of the {names[least]} interval."
)

# %%
# Blue: the level is held for both kinds of scores.
height = -np.arange(len(names))
colors = np.where(holds, "#0072B2", "#888888")
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
axes[0].hlines(height, *np.transpose(list(limits.values())), colors=colors, lw=3)
axes[0].axvline(estimate.auc, color="k", lw=1, label="these 30 rows")
axes[0].axvline(truth, color="#D55E00", ls="--", label="rows kept aside")
axes[0].set_yticks(height, names)
axes[0].set(xlabel="AUC", title="95 % intervals, 15 + 15 tumours")
axes[0].legend(loc="upper left", title="AUC of", fontsize=8)
axes[1].axvspan(LEVEL - 2 * error, LEVEL + 2 * error, color="#888888", alpha=0.25, lw=0)
axes[1].axvline(LEVEL, color="k", lw=1)
for (name, (covered, _)), marker in zip(simulated.items(), "oD", strict=True):
    face = colors if marker == "o" else "none"
    axes[1].scatter(
        covered, height, marker=marker, c=face, edgecolors=colors, label=name
    )
axes[1].set(xlabel="coverage", title="10 + 10 rows, true AUC .90")
axes[1].legend(loc="center left", title="scores", fontsize=8)
fig.savefig("plot_5_intervals_compared.png", dpi=90)
print("\nFigure: plot_5_intervals_compared.png")
