"""
From odds ratios to decisions: are the probabilities right, and do they help?
=============================================================================

Two models rank the patients equally well. One of them is far too sure of itself: in
these patients, a clinic that acts on its low probabilities does worse than with a
biopsy for everyone. The AUC does not show it, the calibration curve and the decision
curve do.

The study has 150 patients of the Wisconsin breast cancer data with six measurements of
the nuclei; the other 419 patients are the validation. Logistic regression gives a table
of odds ratios. Naive Bayes takes the six measurements for independent, although three
of them are nearly the other three, counts the same evidence twice, and becomes
overconfident. Recalibration on the development patients repairs its probabilities and
leaves its ranking as it was.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skauc import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    IRLSLogisticRegression,
    auc_estimate,
    compare_auc,
    operating_points,
)

data = load_breast_cancer()
kinds = ("texture", "smoothness", "symmetry")
names = [f"{which} {kind}" for kind in kinds for which in ("mean", "worst")]
columns = [list(data.feature_names).index(name) for name in names]
Z = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
malignant = data.target == 0
X, X_new, y, y_new = train_test_split(
    Z[:, columns], malignant, train_size=150, stratify=malignant, random_state=2
)

# %%
# The models. A table of odds ratios is also a forest plot, ``table.plot()``. With few
# patients the intervals of Firth's penalised likelihood are better than Wald's.
logistic = IRLSLogisticRegression(penalty="firth").fit(X, y)
table = logistic.summary(method="profile", feature_names=names).odds_ratios()
print(table)
models = {
    "logistic": logistic,
    "naive Bayes": GaussianNB().fit(X, y),
    "recalibrated": CalibratedClassifierCV(GaussianNB(), cv=5).fit(X, y),
}
probability = {name: m.predict_proba(X_new)[:, 1] for name, m in models.items()}

# %%
# They rank the validation patients equally well.
print()
for name, p in probability.items():
    low, high = auc_estimate(y_new, p).confidence_interval()
    print(f"AUC of {name}: {auc_estimate(y_new, p).auc:.3f} ({low:.3f} to {high:.3f})")
gain = compare_auc(y_new, probability["logistic"], probability["naive Bayes"])
print(f"p of the difference: {gain.pvalue:.2f}")

# %%
# Their probabilities differ. A calibration slope of 1 is right; below 1 they are too
# extreme. Each picture is also a table.
fig, axes = plt.subplots(2, 2, figsize=(9, 9), layout="constrained")
table.plot(axes[0, 0])
for name, ax in (("logistic", axes[0, 1]), ("naive Bayes", axes[1, 0])):
    display = CalibrationDisplay.from_predictions(
        y_new, probability[name], name=name, ax=ax
    )
    numbers = display.to_frame().set_index("part")
    estimate, low, high = numbers.loc["slope", ["estimate", "low", "high"]]
    print(f"slope of {name}: {estimate:.2f} ({low:.2f} to {high:.2f})")

# %%
# Do they help? A clinic that accepts nine needless biopsies for each malignant tumour
# found acts at a probability of .1. The net benefit is the number of malignant tumours
# found per patient, less the needless biopsies at this rate of exchange.
thresholds = np.arange(1, 61) / 100
display = DecisionCurveDisplay.from_predictions(
    y_new, probability, thresholds=thresholds, ax=axes[1, 1]
)
benefit = display.to_frame()
for name in (*models, "treat all"):
    row = benefit[(benefit.model == name) & (benefit.threshold == 0.1)].iloc[0]
    print(
        f"net benefit of {name}: {row.estimate:.3f} ({row.low:.3f} to {row.high:.3f})"
    )

# %%
# What the decision at .1 means for patients, with its intervals. Naive Bayes misses
# malignant tumours, because it is too sure that they are benign.
for name in ("logistic", "naive Bayes"):
    points = operating_points(y_new, probability[name], threshold=0.1)
    for rate in ("sensitivity", "specificity"):
        low, high = (limit[0] for limit in points.confidence_interval(name=rate))
        print(f"{rate} of {name}: {getattr(points, rate)[0]:.3f}", end=" ")
        print(f"({low:.3f} to {high:.3f})")

fig.savefig("plot_14_from_probabilities_to_decisions.png", dpi=80)
print("\nFigure: plot_14_from_probabilities_to_decisions.png")
