"""
Choose a model without folds
============================

Which C should a logistic regression have? Five-fold cross-validation fits every
candidate five times and returns a noisy number. ``cbauc_scorer`` fits it once and
returns a Bayesian AUC, with a credible interval. Here both search 25 values of C on the
Wisconsin breast cancer data, first with 60 training rows, then with 398; rows that were
never touched tell which one was right.
"""

# %%
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import ResubstitutionSplit, auc_posterior, cbauc_scorer

X, y = load_breast_cancer(return_X_y=True)
pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000))
grid = {"logisticregression__C": np.logspace(-4, 4, 25)}
searches = {
    "Bayesian AUC, 1 fit": dict(scoring=cbauc_scorer, cv=ResubstitutionSplit()),
    "5-fold CV": dict(scoring="roc_auc", cv=5),
}


def run(train_size):
    """Both searches on the same training rows; prints one line each."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=train_size, stratify=y, random_state=0
    )
    print(f"\n{len(y_train)} training rows, {len(y_test)} hold-out rows")
    print(f"{'':20} {'C':>8} {'estimate':>9} {'95 % interval':>16} ", end="")
    print(f"{'hold-out':>9} {'fits':>5} {'seconds':>8}")
    results = {}
    for name, how in searches.items():
        start = perf_counter()
        search = GridSearchCV(pipe, grid, refit=True, **how).fit(X_train, y_train)
        seconds = perf_counter() - start
        interval = ""
        if how["scoring"] is cbauc_scorer:
            low, high = auc_posterior(search, X_train, y_train).interval(0.95)
            interval = f"[{low:.4f}, {high:.4f}]"
        truth = roc_auc_score(y_test, search.decision_function(X_test))
        fits = len(search.cv_results_["params"]) * search.n_splits_
        C = search.best_params_["logisticregression__C"]
        print(f"{name:20} {C:8.3g} {search.best_score_:9.4f} {interval:>16} ", end="")
        print(f"{truth:9.4f} {fits:5d} {seconds:8.2f}")
        results[name] = search, truth
    return results, (X_train, y_train, X_test, y_test)


def verdict(results):
    """Say which search chose and estimated better on the hold-out rows."""
    (ours, our_truth), (cv, cv_truth) = results.values()
    gain = our_truth - cv_truth
    if abs(gain) < 1e-12:
        print("Both choices are worth the same on the hold-out rows;")
    else:
        word = "more" if gain > 0 else "less"
        print(
            f"The Bayesian choice ranks {abs(gain):.4f} {word} of hold-out pairs right;"
        )
    our_error, cv_error = ours.best_score_ - our_truth, cv.best_score_ - cv_truth
    print(f"estimate minus hold-out: {our_error:+.4f} Bayesian, {cv_error:+.4f} CV.")


def draw(ax, results, data):
    """Score against C, the credible band and the hold-out truth."""
    X_train, y_train, X_test, y_test = data
    C = grid["logisticregression__C"]
    bands, truth = [], []
    for c in C:
        model = pipe.set_params(logisticregression__C=c).fit(X_train, y_train)
        bands.append(auc_posterior(model, X_train, y_train).interval(0.95))
        truth.append(roc_auc_score(y_test, model.decision_function(X_test)))
    label = "95 % credible band"
    ax.fill_between(
        C, *np.transpose(bands), color="#0072B2", alpha=0.15, lw=0, label=label
    )
    for (name, (search, _)), color in zip(
        results.items(), ("#0072B2", "#D55E00"), strict=True
    ):
        score = search.cv_results_["mean_test_score"]
        ax.plot(C, score, color=color, label=name)
        ax.plot(C[np.argmax(score)], score.max(), "o", color=color)
    ax.plot(C, truth, "k--", label="hold-out truth")
    ax.set(xscale="log", xlabel="C", title=f"{len(y_train)} training rows")


# %%
# Sixty rows: here the choice matters. Then 70 % of the rows.
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, train_size in zip(axes, (60, 0.7), strict=True):
    results, data = run(train_size)
    verdict(results)
    draw(ax, results, data)
axes[0].set_ylabel("AUC")
axes[1].legend(loc="lower left")
fig.savefig("plot_1_select_without_folds.png", dpi=120)
print("\nFigure: plot_1_select_without_folds.png")
