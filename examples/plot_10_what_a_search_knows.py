"""
Which candidate is best, how surely, and what is it worth?
==========================================================

A search returns a winner and a number that is too high because it won. With one
posterior for a data set ``search_posterior`` says more of the same fits: how probably
each candidate is the best, what taking it may cost, and what the winner is worth now
that it has won. Here on the diabetes data (does the disease progress faster than in the
median patient?), 100 patients to choose with and the other 342 to look whether it was
right. 40 features of noise are added, so that there is something to choose.

``one_sd_rule`` takes the most regularised candidate that cannot be told from the best:
the standard deviation is that of the *difference*, which is small, because candidates
of one data set err together.
"""

# %%
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    SearchDisplay,
    UntrustedAUCWarning,
    cbauc_scorer,
    make_cbauc_scorer,
    one_sd_rule,
    search_posterior,
)

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)
noise = np.random.default_rng(0).normal(size=(len(X), 40))
X_train, X_test, y_train, y_test = train_test_split(
    np.hstack([X, noise]), y, train_size=100, stratify=y, random_state=0
)
pipe = Pipeline([("scale", StandardScaler()), ("logistic", LogisticRegression())])
grid = {"logistic__C": np.logspace(-4, 2, 13)}

# %%
# One fit a candidate, and what the fits know.
search = GridSearchCV(pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
search.fit(X_train, y_train)
posterior = search_posterior(search, X_train, y_train, random_state=0)


def held_out_auc(params):
    """AUC of a candidate on the other patients."""
    model = clone(pipe).set_params(**params).fit(X_train, y_train)
    return roc_auc_score(y_test, model.decision_function(X_test))


held_out = [held_out_auc(params) for params in posterior.params]
k = posterior.selected_index
low, high = posterior.selected.interval(0.95)
print(f"chosen C = {grid['logistic__C'][k]:.3g}: P(best) {posterior.p_best[k]:.2f}")
loss = max(held_out) - held_out[k]
print(f"AUC lost: {posterior.expected_loss[k]:.3f} expected, {loss:.3f} on the others")
print(f"AUC {posterior.selected.mean():.3f} [{low:.3f}, {high:.3f}], ", end="")
print(f"{posterior.bias_of_best_score:.4f} taken off because it won")
print(f"AUC {held_out[k]:.3f} on the other {len(y_test)} patients")

# %%
# The simplest that is hardly worse, in one line, as the search's own choice.
rule = one_sd_rule("logistic__C", simplest="smallest")
simple = GridSearchCV(
    pipe,
    grid,
    scoring=make_cbauc_scorer(output="dict"),
    cv=ResubstitutionSplit(),
    refit=rule,
).fit(X_train, y_train)
print(f"one-SD rule: C = {simple.best_params_['logistic__C']:.3g}, ", end="")
print(f"AUC {held_out[simple.best_index_]:.3f} on the others")

# %%
# Two parameters: how many features, and how strongly regularised. Features that were
# picked by y leave the posterior to the model alone, which it says.
warnings.simplefilter("ignore", UntrustedAUCWarning)
both = Pipeline([*pipe.steps[:1], ("select", SelectKBest()), *pipe.steps[1:]])
wide = {"select__k": [1, 2, 5, 10, 20, 50], "logistic__C": np.logspace(-3, 1, 5)}
search_both = GridSearchCV(both, wide, scoring=cbauc_scorer, cv=ResubstitutionSplit())
search_both.fit(X_train, y_train)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
SearchDisplay(posterior).plot(axes[0])
axes[0].plot(grid["logistic__C"], held_out, "k:", label="other patients")
axes[0].legend(loc="lower right", fontsize="small")
SearchDisplay.from_search(search_both, X_train, y_train, random_state=0, ax=axes[1])
fig.savefig("plot_10_what_a_search_knows.png", dpi=80)
print("Figure: plot_10_what_a_search_knows.png")
