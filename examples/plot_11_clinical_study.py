"""
A clinical study, from odds ratios to validation
================================================

Which measurements of a biopsy tell a malignant tumour from a benign one? How well does
a model of them rank new patients, are its probabilities right, and which threshold
would a clinic use? The study has 150 patients of the Wisconsin breast cancer data. The
other 419 patients are the validation.

The steps are those of a report for a journal: a table of odds ratios, a test of a new
measurement, the AUC from the development patients, and then the AUC, the calibration
and the decisions in the validation patients.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from skauc import (
    IRLSLogisticRegression,
    auc_estimate,
    auc_posterior,
    calibration_estimate,
    compare_auc,
    empirical_roc,
    operating_points,
)

data = load_breast_cancer()
names = ["mean radius", "mean texture", "mean smoothness"]
columns = [list(data.feature_names).index(name) for name in names]
Z = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
malignant = data.target == 0
X, X_new, y, y_new = train_test_split(
    Z[:, columns], malignant, train_size=150, stratify=malignant, random_state=1
)
print(f"development: {y.sum()} malignant, {(~y).sum()} benign")
print(f"validation: {y_new.sum()} malignant, {(~y_new).sum()} benign")

# %%
# The table of odds ratios, for one standard deviation of each measurement. With few
# patients the intervals of the profile likelihood are better than Wald's. They need
# the rows of the fit, which the model keeps if it is asked to.
model = IRLSLogisticRegression(keep_rows=True).fit(X, y)
table = model.summary(method="profile", feature_names=names).odds_ratios()
print(table)
print(table.summary())

# %%
# Does smoothness add anything to radius and texture? The likelihood-ratio test answers
# for the coefficients, and says nothing about the ranking of new patients.
test = model.likelihood_ratio_test("mean smoothness", feature_names=names)
print(f"\nsmoothness: chi2 = {test.statistic:.1f}, p = {test.pvalue:.1e}")

# %%
# The AUC to expect in new patients, from the development patients alone.
posterior = auc_posterior(model, X, y)
low, high = posterior.interval(0.95)
print(f"AUC from the development patients: {posterior.mean():.3f}", end=" ")
print(f"[{low:.3f}, {high:.3f}]")

# %%
# Validation: the AUC, and whether the third measurement ranks new patients better.
score = model.decision_function(X_new)
two = IRLSLogisticRegression().fit(X[:, :2], y)
estimate = auc_estimate(y_new, score)
low, high = estimate.confidence_interval(0.95)
print(f"\nAUC in the validation patients: {estimate.auc:.3f} [{low:.3f}, {high:.3f}]")
gain = compare_auc(y_new, score, two.decision_function(X_new[:, :2]))
low, high = gain.confidence_interval(0.95)
print(f"gain by smoothness: {gain.difference:.3f} [{low:.3f}, {high:.3f}]", end=", ")
print(f"p = {gain.pvalue:.1e}")

# %%
# Are the probabilities right? A slope below 1 says that they are too extreme.
calibration = calibration_estimate(y_new, model.predict_proba(X_new)[:, 1])
low, high = calibration.confidence_interval()
print(f"calibration slope: {calibration.slope:.2f} [{low:.2f}, {high:.2f}]")

# %%
# The threshold comes from the development patients: 95 % sure to find 90 %. (These rows
# trained the model, but three coefficients hardly adapt to 150 patients.) The
# validation patients show what the threshold does.
found = operating_points(
    y, model.decision_function(X), sensitivity=0.9, at="population"
)
threshold = found.confidence_interval(
    0.95, name="threshold", alternative="greater"
).low[0]
decision = operating_points(y_new, score, threshold=threshold)
for name in ("sensitivity", "specificity"):
    low, high = (limit[0] for limit in decision.confidence_interval(name=name))
    print(f"{name} in the validation patients: ", end="")
    print(f"{getattr(decision, name)[0]:.3f} [{low:.3f}, {high:.3f}]")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
empirical_roc(y_new, score).plot(left, name="validation")
left.plot(1 - decision.specificity, decision.sensitivity, "ks", label="threshold")
left.legend(loc="lower right")
probability = model.predict_proba(X_new)[:, 1]
edges = np.quantile(probability, np.linspace(0, 1, 9))
group = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, 7)
said = [probability[group == g].mean() for g in range(8)]
seen = [y_new[group == g].mean() for g in range(8)]
right.plot([0, 1], [0, 1], "k:")
right.plot(said, seen, "o-", color="#0072B2")
right.set(xlabel="predicted probability", ylabel="share of malignant tumours")
right.set_title("validation patients, in eight groups")
fig.savefig("plot_11_clinical_study.png", dpi=80)
print("\nFigure: plot_11_clinical_study.png")
