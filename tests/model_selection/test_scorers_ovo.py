"""Bayesian AUC of linear models of more than two classes, averaged over pairs."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from skauc import (
    AdaptivePrior,
    IRLSLogisticRegression,
    ResubstitutionSplit,
    auc_posterior,
    cbauc_scorer,
    ebauc_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)
from skauc.model_selection._linear_model import open_estimator, pair_models

X, Y = make_classification(
    150, 5, n_informative=4, n_redundant=0, n_classes=3, class_sep=0.6, random_state=2
)
MODELS = [
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    RidgeClassifier(),
    LinearSVC(),
]


def binary_model(model, i, j):
    """The pair's rule as a binary model of its own."""
    pair = LogisticRegression().fit(X[np.isin(Y, (i, j))], Y[np.isin(Y, (i, j))])
    pair.coef_ = (model.coef_[j] - model.coef_[i])[None]
    pair.intercept_ = model.intercept_[[j]] - model.intercept_[[i]]
    return pair


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("covariance", ["common", "separate", "spherical"])
def test_mean_over_pairs_of_binary_models(model, covariance):
    model.fit(X, Y)
    expected = [
        auc_posterior(
            binary_model(model, i, j),
            X[rows],
            Y[rows],
            prior="paper",
            covariance=covariance,
        ).mean()
        for i, j in combinations(range(3), 2)
        for rows in [np.isin(Y, (i, j))]
    ]
    scorer = make_cbauc_scorer(prior="paper", covariance=covariance)
    assert scorer(model, X, Y) == pytest.approx(np.mean(expected), rel=1e-12)
    assert scorer(model, sparse.csr_array(X), Y) == pytest.approx(
        np.mean(expected), rel=1e-9
    )


def test_ebauc_is_averaged_too():
    model = LogisticRegression().fit(X, Y)
    training = make_ebauc_scorer(rows="training")
    expected = [
        training(binary_model(model, i, j), X[rows], Y[rows])
        for i, j in combinations(range(3), 2)
        for rows in [np.isin(Y, (i, j))]
    ]
    assert ebauc_scorer(model, X, Y) == pytest.approx(np.mean(expected), rel=1e-12)


def test_two_classes_are_as_before():
    y = Y > 0
    model = LogisticRegression().fit(X, y)
    for ovo, strict in (
        (make(rows="training"), make(rows="training", multi_class="raise"))
        for make in (make_cbauc_scorer, make_ebauc_scorer)
    ):
        assert ovo(model, X, y) == strict(model, X, y)
        assert ovo(model, X, ~y) == pytest.approx(1 - strict(model, X, y), abs=0.02)


def test_grid_search_on_iris():
    iris = load_iris()
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(
        pipe,
        {"logisticregression__C": [1e-3, 1.0]},
        scoring=make_cbauc_scorer(scale="probit"),
        cv=ResubstitutionSplit(),
    ).fit(iris.data, iris.target)
    assert np.isfinite(search.best_score_)
    assert cbauc_scorer(search, iris.data, iris.target) > 0.97


def test_probit_scale():
    model = LogisticRegression().fit(X, Y)
    auc = make_cbauc_scorer(prior="paper")(model, X, Y)
    probit = make_cbauc_scorer(prior="paper", scale="probit")
    assert ndtr(probit(model, X, Y)) == pytest.approx(auc, rel=1e-12)
    reverse = LogisticRegression().fit(X, Y)
    reverse.coef_ = -model.coef_
    assert ndtr(probit(reverse, X, Y)) < 0.5
    apart = X + 1e4 * np.eye(5)[Y]  # every pair's AUC rounds to 1
    assert 8 < probit(LogisticRegression().fit(apart, Y), apart, Y) < np.inf


def test_noise_is_called_noise():
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(60, 40)), np.arange(60) % 3
    model = LogisticRegression().fit(noise, y)
    assert cbauc_scorer(model, noise, y) < 0.75
    assert make_cbauc_scorer(prior="paper")(model, noise, y) > 0.9


@pytest.mark.filterwarnings("ignore:.*near copy")  # of rows that are repeated
def test_names_weights_and_missing_scale():
    words = np.array(["ant", "bee", "cow"])[Y]
    model = LogisticRegression().fit(X, words)
    plain = cbauc_scorer(LogisticRegression().fit(X, Y), X, Y)
    assert cbauc_scorer(model, X, words) == pytest.approx(plain, rel=1e-9)
    weight = np.arange(150) % 3
    weighted = cbauc_scorer(model, X, words, sample_weight=weight)
    repeated = cbauc_scorer(
        model, np.repeat(X, weight, axis=0), np.repeat(words, weight)
    )
    assert weighted == pytest.approx(repeated, rel=1e-9)


def test_errors():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match='two classes.*3 classes; .*multi_class="ovo"'):
        make_cbauc_scorer(multi_class="raise")(model, X, Y)
    with pytest.raises(ValueError, match="multi_class must be one of .* got 'ovr'"):
        make_ebauc_scorer(multi_class="ovr")
    with pytest.raises(ValueError, match="pos_label must be None .* got 2"):
        make_cbauc_scorer(pos_label=2)(model, X, Y)
    with pytest.raises(ValueError, match="labels of the fitted model"):
        cbauc_scorer(model, X, Y + 5)
    with pytest.raises(ValueError, match="y_true must hold both classes, got only 0"):
        cbauc_scorer(model, X[Y == 0], Y[Y == 0])
    with pytest.raises(ValueError, match=r"sample_weight .* got shape \(149,\)"):
        cbauc_scorer(model, X, Y, sample_weight=np.ones(149))
    trees = OneVsRestClassifier(DecisionTreeClassifier(max_depth=1)).fit(X, Y)
    with pytest.raises(TypeError, match="OneVsRestClassifier is not linear"):
        cbauc_scorer(trees, X, Y)

    class Bent(LogisticRegression):
        def decision_function(self, X):
            return super().decision_function(X) ** 3

    with pytest.raises(ValueError, match=r"Bent must decide by X @ coef_\.T"):
        cbauc_scorer(Bent().fit(X, Y), X, Y)


# ------------------------------------------------- one rule a class, one rule a pair


def classes(K, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, 40 * K)
    return rng.normal(size=(40 * K, 5)) + 1.5 * rng.normal(size=(K, 5))[y], y


@pytest.mark.parametrize("K", [3, 4, 5])
@pytest.mark.parametrize("make", [SVC, NuSVC], ids=lambda kind: kind.__name__)
def test_libsvm_decides_pair_by_pair(make, K):
    Z, y = classes(K)
    options = {"nu": 0.3} if make is NuSVC else {}
    model = make(kernel="linear", decision_function_shape="ovo", **options).fit(Z, y)
    rules = list(pair_models(open_estimator(model, Z)))
    ours = np.column_stack([Z @ rule.w - rule.threshold for rule in rules])
    # libsvm's columns say the *first* class of the pair where they are positive
    np.testing.assert_allclose(-ours, model.decision_function(Z), atol=1e-8)
    votes = np.zeros((len(y), K))
    for rule, value in zip(rules, ours.T, strict=True):
        np.add.at(votes, (np.arange(len(y)), rule.classes[(value > 0).astype(int)]), 1)
    predicted = votes.argmax(axis=1)
    assert np.mean(predicted == model.predict(Z)) == 1


@pytest.mark.parametrize("K", [3, 4])
@pytest.mark.parametrize("prior", ["paper", "adaptive"])
def test_linear_svc_is_the_mean_of_the_pairs_own_svcs(K, prior):
    """Libsvm solves each pair on its own rows: two classes at a time say the same."""
    Z, y = classes(K)
    quiet = AdaptivePrior(leave_pair_out=False) if prior == "adaptive" else prior
    expected, areas = [], []
    for i, j in combinations(range(K), 2):
        rows = np.isin(y, (i, j))
        pair = SVC(kernel="linear", tol=1e-8).fit(Z[rows], y[rows])
        expected.append(auc_posterior(pair, Z[rows], y[rows], prior=quiet).mean())
        areas.append(make_ebauc_scorer(prior=quiet)(pair, Z[rows], y[rows]))
    model = SVC(kernel="linear", tol=1e-8).fit(Z, y)
    prior = quiet  # a pair has no rows left out of its own
    assert make_cbauc_scorer(prior=prior)(model, Z, y) == pytest.approx(
        np.mean(expected), rel=1e-5
    )
    assert make_ebauc_scorer(prior=prior)(model, Z, y) == pytest.approx(
        np.mean(areas), rel=1e-5
    )
    loose = SVC(kernel="linear", tol=1e-8).fit(sparse.csr_array(Z), y)
    assert make_cbauc_scorer(prior=prior)(loose, Z, y) == pytest.approx(
        np.mean(expected), rel=1e-5
    )


ONE_VS_REST = [
    *MODELS,
    IRLSLogisticRegression(C=1.0),
    LinearSVC(multi_class="crammer_singer", max_iter=100_000),
    OneVsRestClassifier(RidgeClassifier()),
    SGDClassifier(random_state=0),
]


@pytest.mark.parametrize("K", [3, 4])
@pytest.mark.parametrize("model", ONE_VS_REST, ids=str)
def test_one_rule_a_class_is_its_decision_function(model, K):
    Z, y = classes(K)
    decision = model.fit(Z, y).decision_function(Z)
    rules = pair_models(open_estimator(model, Z))
    for (i, j), rule in zip(combinations(range(K), 2), rules, strict=True):
        np.testing.assert_allclose(
            Z @ rule.w - rule.threshold, decision[:, j] - decision[:, i], atol=1e-8
        )
        assert rule.classes.tolist() == [i, j]


def test_one_vs_one_of_linear_models():
    Z, y = classes(4)
    model = OneVsOneClassifier(RidgeClassifier()).fit(Z, y)
    rules = pair_models(open_estimator(model, Z))
    for part, rule in zip(model.estimators_, rules, strict=True):
        np.testing.assert_allclose(
            Z @ rule.w - rule.threshold, part.decision_function(Z), atol=1e-10
        )
    two = OneVsOneClassifier(RidgeClassifier()).fit(Z[y < 2], y[y < 2])
    plain = RidgeClassifier().fit(Z[y < 2], y[y < 2])
    assert cbauc_scorer(two, Z[y < 2], y[y < 2]) == pytest.approx(
        cbauc_scorer(plain, Z[y < 2], y[y < 2]), rel=1e-9
    )


def test_linear_svc_on_iris():
    iris = load_iris()
    for model in (SVC(kernel="linear"), NuSVC(kernel="linear", nu=0.1)):
        model.fit(iris.data, iris.target)
        assert 0.99 < cbauc_scorer(model, iris.data, iris.target) < 1
        assert 0.99 < ebauc_scorer(model, iris.data, iris.target) < 1


def test_labels_of_several_kinds():
    names = np.array(["ant", "bee", "cow"], dtype=object)[Y]
    model = LogisticRegression().fit(X, names)
    names[[3, 5, 7]] = None
    for scorer in (cbauc_scorer, ebauc_scorer, auc_posterior):
        with pytest.raises(ValueError, match="y_true must hold .*'cow', got None"):
            scorer(model, X, names)
