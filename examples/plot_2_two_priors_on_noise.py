"""
What does a Bayesian AUC report if there is only noise?
=======================================================

A Bayesian AUC combines a prior with the data. The published prior expects, if features
are many, that the best linear model is perfect; on pure noise it reports an AUC near 1.
The adaptive prior, which is the default, is a prior on the attainable AUC itself: with
probability 1/3 there is no signal at all.

Left picture: the two priors. Middle: their posteriors for twenty data sets of pure
noise with 60 features and 40 rows. Right: the same for features that carry a signal.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2, norm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from skauc import bayesian_val_score

P, ROWS, REPEATS = 60, 20, 20
PRIORS = {"paper": "#D55E00", "adaptive": "#0072B2"}
model = LogisticRegression(max_iter=1000)


def draw(shift, seed):
    """Return rows from N(0, I) and N(shift, I), 20 of each class."""
    X = np.random.default_rng(seed).standard_normal((2 * ROWS, P))
    y = np.repeat([0, 1], ROWS)
    return X + np.outer(y, shift), y


def true_auc(shift, X, y):
    """Return Φ(wᵀd/√(2wᵀw)), the AUC of the fitted direction w on new rows."""
    w = model.fit(X, y).coef_[0]
    return norm.cdf(w @ shift / np.sqrt(2 * w @ w))


# %%
# For every data set: the true AUC, both posteriors and cross-validation.
problems = {"pure noise": np.zeros(P), "signal": np.full(P, 1.8 / np.sqrt(P))}
print(f"{P} features, {ROWS} rows in each class, {REPEATS} data sets")
print("mean estimate (mean absolute error)")
print(f"{'':12} {'true AUC':>8} {'paper':>15} {'adaptive':>15} {'5-fold CV':>15}")
results = {}
for name, shift in problems.items():
    runs = []
    for seed in range(REPEATS):
        X, y = draw(shift, seed)
        paper, ours = (bayesian_val_score(model, X, y, prior=p) for p in PRIORS)
        folds = cross_val_score(model, X, y, scoring="roc_auc").mean()
        truth = true_auc(shift, X, y)
        runs.append([truth, paper.mean(), ours.mean(), folds, *ours.interval(0.95)])
    results[name] = np.transpose(runs)
    truth, *estimates, low, high = results[name]
    print(f"{name:12} {truth.mean():8.3f} ", end="")
    for estimate in estimates:
        error = np.abs(estimate - truth).mean()
        print(f"{estimate.mean():8.3f} ({error:.3f})", end="")
    inside = ((low <= truth) & (truth <= high)).sum()
    print(f"   {inside} of {REPEATS} 95 % intervals contain the true AUC")

# %%
# The priors on the attainable AUC u = Φ(Δ/√2). Under the published prior Δ² ~ 4 χ²_P
# (ν is ½ in both classes). Under the adaptive prior u = ½ with probability ⅓, else
# (2u − 1) ~ Beta(2, 1), for every number P of features.
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
u = np.linspace(0.5, 1, 400)[:-1]
for features, style in ((2, "-"), (10, "--"), (60, ":")):
    prior = chi2.cdf(2 * ndtri(u) ** 2 / 4, features)
    label = f"paper, {features} features"
    axes[0].plot(u, prior, style, color=PRIORS["paper"], label=label)
adaptive = (1 + 2 * (2 * u - 1) ** 2) / 3
axes[0].plot(u, adaptive, color=PRIORS["adaptive"], label="adaptive, any P")
axes[0].set(title="prior", xlabel="u", ylabel="P(attainable AUC ≤ u)")
axes[0].legend(fontsize=8)

for ax, (name, run) in zip(axes[1:], results.items(), strict=True):
    truth, paper, ours, _, low, high = run[:, np.argsort(run[2])]
    row, blue = np.arange(REPEATS), PRIORS["adaptive"]
    ax.hlines(row, low, high, color=blue, alpha=0.4)
    ax.plot(ours, row, "o", color=blue, ms=4, label="adaptive, 95 % interval")
    ax.plot(paper, row, "D", color=PRIORS["paper"], ms=4, label="paper")
    ax.plot(truth, row, "k|", ms=7, label="true AUC")
    ax.set(title=f"posterior: {name}", xlabel="AUC", xlim=(0.2, 1.02))
    ax.set(yticks=[], ylabel="data sets")
axes[2].legend(fontsize=8, loc="upper left")
fig.savefig("plot_2_two_priors_on_noise.png", dpi=90)
print("\nFigure: plot_2_two_priors_on_noise.png")
