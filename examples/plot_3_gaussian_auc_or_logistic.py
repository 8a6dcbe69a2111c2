"""
Train for the AUC, or for the log-loss?
=======================================

A logistic regression minimises the log-loss, not the AUC. With few positives it looks
for a direction in which the *negatives* vary little, although a large spread of the
positives reverses as many pairs. ``GaussianAUCClassifier`` finds the direction with the
largest AUC for normal classes, each with its own covariance.

Where does it rank better, and where does it not? Left picture: a problem with one
positive in six rows, and both directions. Right: the gain in hold-out AUC against the
number of training rows, for this problem, for heavy tails and for real data.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from skauc import GaussianAUCClassifier

MODELS = {
    "Gaussian-AUC": GaussianAUCClassifier(shrinkage="auto"),
    "logistic": LogisticRegression(),
}
SIZES, REPEATS = (30, 60, 120, 250), 40


def normal(rng, n=3000, tail=np.inf):
    """Return rows whose positives, one in six, vary more in one direction.

    With a finite ``tail`` the rows have the tails of Student's t.
    """
    y = (np.arange(n) < n // 6).astype(int)
    X = rng.standard_normal((n, 2))
    X[y == 1] *= [3.0, 0.4]
    if np.isfinite(tail):
        X /= np.sqrt(rng.chisquare(tail, (n, 1)) / tail)
    return X + np.outer(y, [1.2, 0.8]), y


def heavy(rng):
    """Return the same classes with the tails of Student's t, 2 degrees of freedom."""
    return normal(rng, tail=2)


def cancer(rng):
    """Return the ten mean features of the Wisconsin breast cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X[:, :10]), y


# %%
# Hold-out AUC over random splits, both models on the same rows. The splits of the real
# data overlap, so that the standard errors of the last problem are a little too small.
problems = {"normal, unequal covariances": normal, "heavy tails": heavy}
problems["breast cancer"] = cancer
print("hold-out AUC, Gaussian-AUC minus logistic (standard error)")
print(f"{'training rows':28}" + "".join(f"{n:>18}" for n in SIZES))
table = {}
for name, problem in problems.items():
    gains = np.empty((len(SIZES), REPEATS))
    for repeat in range(REPEATS):
        X, y = problem(np.random.default_rng(repeat))
        for i, size in enumerate(SIZES):
            train, test, y_train, y_test = train_test_split(
                X, y, train_size=size, stratify=y, random_state=repeat
            )
            auc, base = (
                roc_auc_score(y_test, m.fit(train, y_train).decision_function(test))
                for m in MODELS.values()
            )
            gains[i, repeat] = auc - base
    table[name] = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(REPEATS)
    cells = [f"{m:+.4f} ({s:.4f})" for m, s in zip(*table[name], strict=True)]
    print(f"{name:28}" + "".join(f"{cell:>18}" for cell in cells))
for name, (mean, error) in table.items():
    ahead, behind = (mean > 2 * error).sum(), (mean < -2 * error).sum()
    print(f"{name}: better at {ahead}, worse at {behind} of {len(SIZES)} sizes")

# %%
# The directions on the first problem, and the gains.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
X, y = normal(np.random.default_rng(0), n=900)
for label, color in ((0, "0.75"), (1, "0.3")):
    left.plot(*X[y == label].T, ".", ms=3, color=color, label=f"class {label}")
for (name, model), color in zip(MODELS.items(), ("#0072B2", "#D55E00"), strict=True):
    w = model.fit(X, y).coef_[0] / np.linalg.norm(model.coef_[0])
    left.annotate("", 5 * w, (0, 0), arrowprops=dict(color=color, width=1.5))
    left.plot(
        [], [], color=color, label=f"{name}: AUC {roc_auc_score(y, X @ w):.3f} here"
    )
left.set(xlim=(-8, 11), ylim=(-5, 9), aspect="equal", title="direction of the score")
left.legend(fontsize=8, loc="upper left")
for (name, (mean, error)), color in zip(
    table.items(), ("#009E73", "#CC79A7", "#E69F00"), strict=True
):
    right.errorbar(SIZES, mean, 2 * error, color=color, marker="o", label=name)
right.axhline(0, color="k", lw=0.8)
right.set(xscale="log", xlabel="training rows", title="gain in hold-out AUC")
right.set_xticks(SIZES, SIZES)
right.minorticks_off()
right.legend(fontsize=8)
fig.savefig("plot_3_gaussian_auc_or_logistic.png", dpi=90)
print("\nFigure: plot_3_gaussian_auc_or_logistic.png")
