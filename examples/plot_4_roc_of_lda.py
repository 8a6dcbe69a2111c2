"""
The ROC curve of LDA, without counting
======================================

Linear discriminant analysis assumes normal classes with a common covariance. Then its
ROC curve is a formula, ``ROC(u) = Φ(δ + Φ⁻¹(u))`` with the area ``Φ(δ/√2)``, and its
best threshold is a formula, too. Does the formula agree with hold-out rows?

Left picture: two features. The area agrees; the operating point agrees less, because
the classes do not vary alike. Right: thirty features, where the formula is far too
optimistic if rows are few. The estimate from rows left out (leave-pair-out) is
much nearer. The Bayesian AUC combines it with a model of the data set: its interval
shows how uncertain it is.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skauc import LinearDiscriminantROC, ROCDisplay, auc_posterior

X, y = load_breast_cancer(return_X_y=True)
SIZES, REPEATS = (40, 60, 100, 200, 400), 30


def split(X, size, seed):
    """Return stratified training and hold-out rows."""
    return train_test_split(X, y, train_size=size, stratify=y, random_state=seed)


# %%
# Two features (radius and texture): the curve of 285 training rows and that of the
# other 284 rows.
train, test, y_train, y_test = split(X[:, :2], 285, 0)
model = LinearDiscriminantROC().fit(train, y_train)
best = model.roc_.youden()
decision = model.decision_function(test)
tpr, fpr = (np.mean(decision[y_test == label] > best.threshold) for label in (1, 0))
print("two features, 285 training rows")
print(f"{'':24} {'formula':>9} {'hold-out':>9}")
print(f"{'AUC':24} {model.auc_:9.4f} {roc_auc_score(y_test, decision):9.4f}")
print(f"{'at the best threshold':24} {best.threshold:+9.3f}")
print(f"{'  false positive rate':24} {best.fpr:9.4f} {fpr:9.4f}")
print(f"{'  true positive rate':24} {best.tpr:9.4f} {tpr:9.4f}")

# %%
# Thirty features: the plug-in curve, the Bayesian AUC and the hold-out AUC over splits.
print(f"\nthirty features, mean AUC of {REPEATS} splits; 'inside' counts the splits")
print("whose 95 % interval contains the hold-out AUC, which is itself uncertain")
names = ("formula", "Bayesian", "rows left out", "hold-out")
header = "".join(f"{name:>15}" for name in names)
print(f"{'training rows':>14}{header} {'inside':>7}")
means = []
for size in SIZES:
    runs, inside = [], 0
    for seed in range(REPEATS):
        rows, others, labels, truth = split(X, size, seed)
        lda = LinearDiscriminantROC().fit(rows, labels)
        held_out = roc_auc_score(truth, lda.decision_function(others))
        posterior = auc_posterior(lda, rows, labels)
        runs.append([lda.auc_, posterior.mean(), posterior.leave_pair_out, held_out])
        low, high = posterior.interval(0.95)
        inside += low <= held_out <= high
    means.append(np.mean(runs, axis=0))
    cells = "".join(f"{value:15.4f}" for value in means[-1])
    print(f"{size:14d}{cells} {inside:4d}/{REPEATS}")
curves = dict(zip(names, np.transpose(means), strict=True))
print("largest optimism (estimate minus hold-out) and largest pessimism:")
for name in names[:-1]:
    bias = curves[name] - curves["hold-out"]
    print(f"{name:>14} {max(bias.max(), 0):+.4f} {min(bias.min(), 0):+.4f}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ROCDisplay(model.roc_, name="formula, training rows").plot(left)
ROCDisplay.from_predictions(y_test, decision, name="hold-out", ax=left)
left.set_title("two features")
left.legend(fontsize=8, loc="lower right")
for (name, values), style in zip(
    curves.items(), ("o-", "s-", "v-", "k^--"), strict=True
):
    right.plot(SIZES, values, style, label=name)
right.set(xscale="log", xlabel="training rows", ylabel="AUC", title="thirty features")
right.set_xticks(SIZES, SIZES)
right.minorticks_off()
right.legend(fontsize=8)
fig.savefig("plot_4_roc_of_lda.png", dpi=90)
print("\nFigure: plot_4_roc_of_lda.png")
