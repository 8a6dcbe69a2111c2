"""
Forty subjects with six rows each
=================================

Do brain images tell patients from controls? Each of 40 subjects was measured six times,
with 2000 features. A subject is recognised from its other measurements, so that a model
that has seen five rows of a subject knows the label of the sixth: folds that split
subjects report a high AUC even if the labels are noise. What counts is the AUC on
*new subjects*. It is known here, because the data are simulated.

``groups=subject`` leaves out all rows of two subjects at once, in closed form: the
search fits each candidate once, and the report makes no further fit. The last question,
whether the AUC is above chance, is answered by permutations of the labels of whole
subjects.
"""

# %%
import time
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_permutation_test,
    auc_posterior,
    make_cbauc_scorer,
)

SUBJECTS, ROWS, FEATURES = 40, 6, 2000
GRID = {"logisticregression__C": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]}
BLUE, ORANGE = "#0072B2", "#D55E00"
warnings.simplefilter("ignore", UntrustedAUCWarning)


def measure(subjects, signal, seed):
    """Return rows, labels and subjects; a subject differs from others as rows do."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(subjects), ROWS)
    patient = subject % 2
    X = rng.normal(size=(len(subject), FEATURES))
    X += rng.normal(size=(subjects, FEATURES))[subject]
    X[:, :100] += signal * patient[:, None]
    return X, patient, subject


def search(scoring, X, y):
    """Return a search of C that fits each candidate once."""
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipe, GRID, scoring=scoring, cv=ResubstitutionSplit())
    return search.fit(X, y)


# %%
# The wrong way and the right way, for labels that are noise and for real differences.
results = {}
for name, signal in {"noise": 0.0, "a difference": 0.55}.items():
    X, y, subject = measure(SUBJECTS, signal, seed=0)
    X_new, y_new, _ = measure(200, signal, seed=1)
    begin = time.perf_counter()
    chosen = search(make_cbauc_scorer(groups=subject), X, y)
    right = auc_posterior(chosen, X, y, groups=subject)
    seconds = time.perf_counter() - begin
    wrong = auc_posterior(search("roc_auc", X, y), X, y)
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    folds = cross_val_score(chosen.best_estimator_, X, y, scoring="roc_auc", cv=cv)
    truth = roc_auc_score(y_new, chosen.decision_function(X_new))
    results[name] = wrong, right, truth, chosen
    print(f"{name}: C = {chosen.best_params_['logisticregression__C']:g}")
    print(f"  5 folds that split subjects   {folds.mean():.3f}")
    print(f"  report that ignores subjects  {wrong.mean():.3f}")
    low, high = right.interval(0.95)
    print(f"  report with groups=subject    {right.mean():.3f} [{low:.3f}, {high:.3f}]")
    print(f"  AUC on 200 new subjects       {truth:.3f}")
    print(f"  search and report: {seconds:.1f} s\n")

# %%
# Is the AUC above chance? Each permutation gives the labels to other subjects, and fits
# the model once.
model = results["a difference"][-1].best_estimator_
test = auc_permutation_test(model, X, y, groups=subject, n_resamples=99)
print(f"permutation test: AUC {test.statistic:.3f}, p = {test.pvalue:.3f}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for place, (wrong, right, truth, _) in enumerate(results.values()):
    for shift, report, color in ((-0.15, wrong, ORANGE), (0.15, right, BLUE)):
        label = {ORANGE: "subjects ignored", BLUE: "groups=subject"}[color]
        label = None if place else f"{label}: report with 95 % interval"
        axes[0].plot(place + shift, report.mean(), "o", color=color, label=label)
        axes[0].vlines(place + shift, *report.interval(0.95), color)
    label = None if place else "AUC on new subjects"
    axes[0].hlines(truth, place - 0.35, place + 0.35, "k", "--", label=label)
axes[0].set(xticks=[0, 1], xlim=(-0.6, 1.6), ylabel="AUC")
axes[0].set_xticklabels(list(results))
axes[0].legend(fontsize=8, loc="lower right")
axes[1].hist(test.null_distribution, 20, color=BLUE, alpha=0.4)
axes[1].axvline(test.statistic, color="k")
axes[1].set(xlabel="AUC of subjects left out", ylabel="permutations")
axes[1].set_title(f"labels permuted between subjects: p = {test.pvalue:.2f}")
fig.savefig("plot_15_subjects_with_several_rows.png", dpi=90)
print("\nFigure: plot_15_subjects_with_several_rows.png")
