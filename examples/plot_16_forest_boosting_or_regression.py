"""
A forest, boosting or a logistic regression?
============================================

One search may hold classifiers of any kind. Each is scored by what its fit leaves over:
a linear model by the Bayesian AUC of the data set, a forest by the trees that did not
see the rows of a pair, and every other classifier, such as boosting, by five folds. One
warning says which candidates were refitted.

The rows are 442 patients with diabetes; the question is whether the disease progressed
more than in the median patient. 150 patients choose and train, the others judge.
"""

# %%
import time
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
)

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)
X, X_new, y, y_new = train_test_split(X, y, train_size=150, stratify=y, random_state=0)

# %%
# The grid: eight penalties of a logistic regression, six forests, two boosted models.
pipe = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
forest = RandomForestClassifier(random_state=0)
grid = [
    {"model": [LogisticRegression()], "model__C": np.logspace(-4, 3, 8)},
    {
        "model": [forest],
        "model__min_samples_leaf": [1, 3, 10],
        "model__max_features": [0.3, "sqrt"],
    },
    {
        "model": [GradientBoostingClassifier(random_state=0)],
        "model__learning_rate": [0.03, 0.1],
    },
]


def timed(name, search):
    """Fit a search; print its time, its choice and the AUC of the choice."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UntrustedAUCWarning)
        search.fit(X, y)
    seconds = time.perf_counter() - start
    chosen = search.best_estimator_
    auc = roc_auc_score(y_new, chosen.predict_proba(X_new)[:, 1])
    print(f"{name:24} {seconds:5.1f} s  {type(chosen[-1]).__name__:22}", end=" ")
    print(f"AUC of the other patients {auc:.3f}")
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print("   ", text)
    return search


# %%
# A five-fold search fits every candidate five times. The other search fits the linear
# models and the forests once.
folds = timed("five folds", GridSearchCV(pipe, grid, scoring="roc_auc"))
once = timed(
    "cbauc_scorer",
    GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit()),
)

# %%
# A report of a forest costs no fit: pairs of rows are compared by the trees that saw
# neither of them. That of boosting refits it in folds, and says how often.
print()
reports = {}
for kind, model in {
    "logistic regression": LogisticRegression(C=0.01),
    "forest": RandomForestClassifier(min_samples_leaf=3, random_state=0),
    "boosting": GradientBoostingClassifier(learning_rate=0.03, random_state=0),
}.items():
    fitted = Pipeline([("scale", StandardScaler()), ("model", model)]).fit(X, y)
    start = time.perf_counter()
    posterior = auc_posterior(fitted, X, y)
    seconds = time.perf_counter() - start
    low, high = posterior.interval(0.95)
    truth = roc_auc_score(y_new, fitted.predict_proba(X_new)[:, 1])
    reports[kind] = posterior.mean(), low, high, truth
    print(f"{kind:20} {posterior.mean():.3f} [{low:.3f}, {high:.3f}]", end=" ")
    print(f"other patients {truth:.3f}; {seconds:.2f} s")

# %%
fig, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
for place, (mean, low, high, truth) in enumerate(reports.values()):
    ax.plot([low, high], [place, place], color="#0072B2")
    ax.plot(mean, place, "o", color="#0072B2", label=None if place else "report")
    ax.plot(truth, place, "k|", ms=16, label=None if place else "other patients")
ax.set_yticks(range(len(reports)), reports)
ax.set(xlabel="AUC, 95 % interval", ylim=(-0.6, 2.6))
ax.legend(loc="upper left")
fig.savefig("plot_16_forest_boosting_or_regression.png", dpi=90)
print("\nFigure: plot_16_forest_boosting_or_regression.png")
