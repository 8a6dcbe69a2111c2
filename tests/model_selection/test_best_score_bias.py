"""Bias of the best score of a search: slow twin, what theory expects, simulation."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from skauc import ResubstitutionSplit, best_score_bias

RNG = np.random.default_rng(8)
X, Y = RNG.standard_normal((90, 6)), np.arange(90) % 2
X[:, 0] += 0.6 * Y
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 6]}


def fitted(scoring="roc_auc", cv=5, **how):
    return GridSearchCV(TREE, GRID, scoring=scoring, cv=cv, **how).fit(X, Y)


# ------------------------------------------------------------------- slow twin


def test_against_fits_and_loops():
    search = fitted()
    errors = []  # the source's words: e_k(θ) = 1 − AUC of candidate θ in fold k
    for train, test in StratifiedKFold(5).split(X, Y):
        errors.append([])
        for params in search.cv_results_["params"]:
            model = clone(TREE).set_params(**params).fit(X[train], Y[train])
            score = model.predict_proba(X[test])[:, 1]
            errors[-1].append(1 - roc_auc_score(Y[test], score))
    best = min(range(6), key=lambda j: sum(e[j] for e in errors))  # the first of ties
    assert best == search.best_index_
    expected = sum(e[best] - min(e) for e in errors) / 5
    assert best_score_bias(search) == pytest.approx(expected, rel=1e-10)
    assert expected > 0.005


def test_of_several_scores_the_one_that_refit_names():
    alone = fitted("balanced_accuracy")
    both = fitted(["roc_auc", "balanced_accuracy"], refit="balanced_accuracy")
    assert best_score_bias(both) == best_score_bias(alone)
    assert best_score_bias(fitted(refit=False)) == best_score_bias(fitted())
    errors = fitted("neg_brier_score")  # the larger is the better there too
    assert best_score_bias(errors) >= 0


def test_of_halving_the_last_round():
    search = HalvingGridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3, 5, 9]},
        scoring="roc_auc",
        cv=3,
        factor=2,
        min_resources=40,
        random_state=0,
    ).fit(X, Y)
    results = search.cv_results_
    last = results["iter"] == results["iter"].max()
    folds = [results[f"split{k}_test_score"] for k in range(3)]
    expected = np.mean([s[last].max() - s[search.best_index_] for s in folds])
    assert 0 < last.sum() < len(last)
    assert best_score_bias(search) == pytest.approx(expected, rel=1e-12)


def test_candidates_that_failed_are_left_out():
    search = fitted(cv=4)
    before = best_score_bias(search)
    others = np.arange(6) != search.best_index_
    worst = np.argmin(search.cv_results_["split2_test_score"][others])
    search.cv_results_["split2_test_score"][np.flatnonzero(others)[worst]] = np.nan
    assert best_score_bias(search) == before


# -------------------------------------------------------------- what theory expects


def largest_of(m):
    """Mean of the largest of m standard normals."""

    def integrand(z):
        return z * m * stats.norm.pdf(z) * stats.norm.cdf(z) ** (m - 1)

    return integrate.quad(integrand, -10, 10)[0]


@pytest.mark.parametrize("K", [2, 4, 10])
def test_expectation_where_nothing_is_better(K):
    # 6 candidates, independent normal scores: the bias of the best mean is σ c/√K,
    # and its estimate expects σ c (1 − 1/√K), as the docstring says
    search, sigma = fitted(cv=K), 0.05
    draws, estimates, biases = 1500, [], []
    rng = np.random.default_rng(K)
    for _ in range(draws):
        scores = 0.7 + sigma * rng.standard_normal((K, 6))
        for k in range(K):
            search.cv_results_[f"split{k}_test_score"] = scores[k]
        search.best_index_ = int(scores.mean(axis=0).argmax())
        estimates.append(best_score_bias(search))
        biases.append(scores.mean(axis=0).max() - 0.7)
    c = largest_of(6)
    for found, expected in (
        (biases, sigma * c / np.sqrt(K)),
        (estimates, sigma * c * (1 - 1 / np.sqrt(K))),
    ):
        error = np.std(found) / np.sqrt(draws)
        assert np.mean(found) == pytest.approx(expected, abs=4 * error)


def test_noise_has_an_auc_of_one_half():
    # eight candidates, each reads one column of noise: whatever wins, its AUC is ½
    pipe = make_pipeline(FunctionTransformer(np.take), GaussianNB())
    columns = [{"indices": [k], "axis": 1} for k in range(8)]
    grid = {"functiontransformer__kw_args": columns}
    rng = np.random.default_rng(5)
    naive, corrected = [], []
    for _ in range(14):
        noise, y = rng.standard_normal((60, 8)), np.arange(60) % 2
        folds = StratifiedKFold(4, shuffle=True, random_state=0)
        search = GridSearchCV(pipe, grid, scoring="roc_auc", cv=folds, refit=False)
        naive.append(search.fit(noise, y).best_score_)
        corrected.append(search.best_score_ - best_score_bias(search))
    error = np.std(corrected) / np.sqrt(14)
    assert np.mean(naive) - 0.5 > 0.05
    assert abs(np.mean(corrected) - 0.5) < 0.02 + 3 * error
    assert abs(np.mean(corrected) - 0.5) < (np.mean(naive) - 0.5) / 2


# ------------------------------------------------------------------------- errors


def test_errors():
    with pytest.raises(ValueError, match="search must have best_score_.* got Decision"):
        best_score_bias(clone(TREE).fit(X, Y))
    with pytest.raises(ValueError, match="search must have best_score_ and"):
        best_score_bias(fitted(refit=lambda results: 0))
    with pytest.raises(ValueError, match="search must be a fitted search, got 0.5"):
        best_score_bias(0.5)
    with pytest.raises(ValueError, match="not fitted yet"):
        best_score_bias(GridSearchCV(TREE, GRID))
    with pytest.raises(ValueError, match="search must have two folds or more, got 1"):
        best_score_bias(fitted(cv=ResubstitutionSplit()))
    search = fitted(cv=2)
    search.cv_results_["split1_test_score"][search.best_index_] = np.nan
    with pytest.raises(ValueError, match=r"in every fold, got \[0\..*, nan\]"):
        best_score_bias(search)
