"""
Choose a model without folds, and report its AUC
================================================

Which C should a logistic regression have? Cross-validation fits every candidate five
times and returns a noisy number. ``cbauc_scorer`` fits every candidate once, on all
rows, and returns the AUC to expect on new rows.

Both searches try 25 values of C on the Wisconsin breast cancer data, first with 60
training rows and then with 398. The remaining rows show which search was right.
"""

# %%
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    auc_posterior,
    cbauc_scorer,
    search_posterior,
)

X, y = load_breast_cancer(return_X_y=True)
pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000))
name = "logisticregression__C"
grid = {name: np.logspace(-4, 4, 25)}
SEARCHES = {
    "skauc": dict(scoring=cbauc_scorer, cv=ResubstitutionSplit()),
    "5-fold CV": dict(scoring="roc_auc", cv=5),
}


# %%
# Step 1: search. ``ResubstitutionSplit`` is a splitter with a single split, in which
# all rows are training rows and test rows; the scorer corrects for this.
def search_both(X_train, y_train, X_test, y_test):
    """Run both searches and print their choice, their estimate and the hold-out AUC."""
    print(f"\n{len(y_train)} training rows, {len(y_test)} hold-out rows")
    print(
        f"{'':10}{'C':>8}{'best_score_':>13}{'hold-out':>10}{'fits':>6}{'seconds':>9}"
    )
    searches = {}
    for label, how in SEARCHES.items():
        start = perf_counter()
        search = GridSearchCV(pipe, grid, **how).fit(X_train, y_train)
        seconds = perf_counter() - start
        truth = roc_auc_score(y_test, search.decision_function(X_test))
        fits = len(search.cv_results_["params"]) * search.n_splits_
        chosen = f"{search.best_params_[name]:8.3g}{search.best_score_:13.4f}"
        print(f"{label:10}{chosen}{truth:10.4f}{fits:6d}{seconds:9.2f}")
        searches[label] = search
    return searches


# %%
# Step 2: report. ``best_score_`` ranks the candidates; the posterior of the chosen
# model is the number to publish, with its interval.
def report(search, X_train, y_train, X_test, y_test):
    """Print the AUC to publish, and the hold-out AUC."""
    posterior = auc_posterior(search, X_train, y_train)
    low, high = posterior.interval(0.95)
    truth = roc_auc_score(y_test, search.decision_function(X_test))
    print(f"reported AUC {posterior.mean():.4f} [{low:.4f}, {high:.4f}]; ", end="")
    print(f"hold-out {truth:.4f}")


# %%
# Step 3: how sure is the choice? ``search_posterior`` returns, for each candidate, the
# probability that it is the best one and the AUC that choosing it may lose.
def how_sure(search, X_train, y_train):
    """Print the probability that the choice is the best, and what it may cost."""
    posterior = search_posterior(search, X_train, y_train, random_state=0)
    chosen = posterior.selected_index
    print(f"P(best) of the chosen C: {posterior.p_best[chosen]:.2f}; ", end="")
    print(f"expected loss of AUC: {posterior.expected_loss[chosen]:.4f}")


# %%
# Step 4: prefer a simple model. ``simplest`` chooses the smallest C whose AUC is within
# half a standard deviation of the best; the deviation is that of the difference.
def choose_simple(search, X_train, y_train, X_test, y_test):
    """Print the simplest good choice, and its hold-out AUC."""
    posterior = search_posterior(search, X_train, y_train, random_state=0)
    chosen = posterior.params[posterior.simplest(name)]
    model = clone(pipe).set_params(**chosen).fit(X_train, y_train)
    truth = roc_auc_score(y_test, model.decision_function(X_test))
    print(f"simplest within half an SD: C = {chosen[name]:.3g}, hold-out {truth:.4f}")


# %%
# The picture: the score of every candidate, its 95 % interval, and its hold-out AUC.
def draw(ax, searches, X_train, y_train, X_test, y_test):
    """Draw both searches and the hold-out AUC against C."""
    C, limits, truth = grid[name], [], []
    for value in C:
        model = clone(pipe).set_params(**{name: value}).fit(X_train, y_train)
        limits.append(auc_posterior(model, X_train, y_train).interval(0.95))
        truth.append(roc_auc_score(y_test, model.decision_function(X_test)))
    band = dict(color="#0072B2", alpha=0.15, lw=0, label="skauc, 95 % interval")
    ax.fill_between(C, *np.transpose(limits), **band)
    for (label, search), color in zip(
        searches.items(), ("#0072B2", "#D55E00"), strict=True
    ):
        score = search.cv_results_["mean_test_score"]
        ax.plot(C, score, color=color, label=f"{label} (chosen: dot)")
        ax.plot(C[np.argmax(score)], score.max(), "o", color=color)
    ax.plot(C, truth, "k--", label="hold-out rows")
    ax.set(xscale="log", xlabel="C", title=f"{len(y_train)} training rows")


# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, train_size in zip(axes, (60, 0.7), strict=True):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=train_size, stratify=y, random_state=0
    )
    rows = X_train, y_train, X_test, y_test
    searches = search_both(*rows)
    report(searches["skauc"], *rows)
    how_sure(searches["skauc"], X_train, y_train)
    choose_simple(searches["skauc"], *rows)
    draw(ax, searches, *rows)
axes[0].set_ylabel("AUC")
axes[1].legend(loc="lower left")
fig.savefig("plot_1_choose_a_model.png", dpi=100)
print("\nFigure: plot_1_choose_a_model.png")
