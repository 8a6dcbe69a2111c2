"""Training rows and held-out rows of models of more than two classes."""

import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
)
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import SVC, LinearSVC

from skauc import (
    IRLSLogisticRegression,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
    diagnose,
)
from skauc.leave_pair_out._objective import stationarity
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._rows_of_classes import (
    _fits,
    _of_any_strength,
    told_rows_of_classes,
)

COSTS = {0: 1, 1: 5, 2: 0.5}
TELLING = [
    LogisticRegression(C=10, max_iter=1000),
    LogisticRegression(class_weight="balanced", max_iter=1000),
    LogisticRegression(class_weight=COSTS, max_iter=1000),
    LogisticRegression(fit_intercept=False, max_iter=1000),
    RidgeClassifier(),
    RidgeClassifier(class_weight="balanced"),
    LinearSVC(intercept_scaling=3),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    SVC(kernel="linear"),
    IRLSLogisticRegression(),
    IRLSLogisticRegression(C=2.0),
    OneVsRestClassifier(LogisticRegression()),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(), LinearSVC(loss="hinge", max_iter=100_000)),
]


def rows_of(n, P, seed, K=3):
    """Rows of K classes, of which little is to be seen."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    return rng.normal(size=(n, P)) + 0.5 * (y[:, None] == np.arange(P)), y


def told(model, X, y, weight=None):
    return told_rows_of_classes(open_estimator(model, X), y, weight)[0]


@pytest.mark.parametrize("model", TELLING, ids=repr)
@pytest.mark.parametrize(("n", "P"), [(150, 12), (90, 4)])
def test_both_kinds_are_told(model, n, P):
    (X, y), (others, labels) = (rows_of(n, P, seed) for seed in (0, 1))
    model.fit(X, y)
    assert told(model, X, y) == "training"
    order = np.random.default_rng(2).permutation(n)
    assert told(model, X[order], y[order]) == "training"
    assert told(model, others, labels) in ("held-out", None)
    if P == 12:
        assert told(model, others, labels) == "held-out"


@pytest.mark.parametrize("kind", [sparse.csr_array, lambda X: X.astype(np.float32)])
def test_rows_of_another_kind(kind):
    (X, y), (others, labels) = (rows_of(150, 12, seed) for seed in (3, 4))
    model = LogisticRegression().fit(kind(X), y)
    assert told(model, kind(X), y) == "training"
    assert told(model, kind(others), labels) == "held-out"


def test_weights_of_the_fit():
    X, y = rows_of(150, 12, 5)
    weight = np.random.default_rng(5).integers(1, 6, 150).astype(float)
    for model in (LogisticRegression(), RidgeClassifier(), LinearSVC()):
        model.fit(X, y, sample_weight=weight)
        assert told(model, X, y, weight) == "training"
        assert told(model, X, y) is None


@pytest.mark.parametrize("costs", ["balanced", COSTS], ids=["balanced", "dict"])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(tol=1e-8),
        LogisticRegression(C=1e-3, tol=1e-8),  # whose penalty counts
        RidgeClassifier(),
        IRLSLogisticRegression(C=1.0),
    ],
    ids=repr,
)
def test_costs_of_classes_beside_weights(model, costs):
    X, y = rows_of(150, 12, 5)
    some = np.flatnonzero((y > 0) | (np.arange(150) % 3 > 0))
    X, y = X[some], y[some]
    weight = np.random.default_rng(5).integers(1, 6, len(y)) + 2.0 * (y == 1)
    model.set_params(class_weight=costs).fit(X, y, sample_weight=weight)
    assert told(model, X, y, weight) == "training"


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_class_that_weighs_nothing_is_named_alone(gone):
    X, y = rows_of(90, 4, 16)
    for model in (LinearDiscriminantAnalysis(), LogisticRegression()):
        model.fit(X, y)
        with pytest.raises(ValueError, match="positive somewhere in each class"):
            auc_posterior(model, X, y, sample_weight=np.where(y == gone, 0.0, 1.0))


def test_the_softmax_is_at_its_optimum():
    X, y = rows_of(120, 6, 6)
    model = LogisticRegression(C=0.3, tol=1e-10, max_iter=10_000).fit(X, y)
    masks = [y == k for k in range(3)]
    for k, (fit, rows) in enumerate(_fits(open_estimator(model, X), X, masks, None)):
        z, slope, curvature = fit.slopes(X, rows)
        p = model.predict_proba(X)[:, k]
        np.testing.assert_allclose(z, model.decision_function(X)[:, k], atol=1e-12)
        np.testing.assert_allclose(slope, p - (y == k), atol=1e-12)
        np.testing.assert_allclose(curvature, p * (1 - p), atol=1e-12)
        # Σ (p_k − 1{k}) x + w_k/C = 0, and with the intercept Σ (p_k − 1{k}) = 0
        np.testing.assert_allclose(X.T @ slope, -model.coef_[k] / 0.3, atol=1e-5)
        assert slope.sum() == pytest.approx(0, abs=1e-5)


def test_what_is_not_known_tells_nothing():
    (X, y), (others, labels) = (rows_of(150, 12, seed) for seed in (7, 8))

    class Own(LogisticRegression):
        def fit(self, X, y):
            return super().fit(X[::2], y[::2])

    silent = (
        Perceptron(),
        LinearSVC(class_weight="balanced"),
        LinearSVC(multi_class="crammer_singer"),
        LogisticRegression(max_iter=3),
        Own(),
    )
    for model in silent:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        assert told(model, others, labels) is None


def test_held_out_rows_of_many_classes_have_their_empirical_auc():
    X, y = rows_of(150, 12, 9)
    model = LogisticRegression(max_iter=1000)
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    ovo = make_scorer(roc_auc_score, response_method="predict_proba", multi_class="ovo")
    found = cross_val_score(model, X, y, cv=cv, scoring=cbauc_scorer).mean()
    expected = cross_val_score(model, X, y, cv=cv, scoring=ovo).mean()
    # the pairs' own scores, less than half a row of 10 towards ½
    assert found == pytest.approx(expected, abs=0.03)
    others, labels = rows_of(3000, 12, 10)
    model.fit(X, y)
    score, truth = model.decision_function(others), []
    for i, j in combinations(range(3), 2):
        pair = np.isin(labels, (i, j))
        truth.append(
            roc_auc_score(labels[pair] == j, (score[:, j] - score[:, i])[pair])
        )
    posterior = auc_posterior(model, others, labels)
    # (An + ½)/(n + 1) of 2000 rows
    assert posterior.mean() == pytest.approx(np.mean(truth), abs=1e-3)
    for pair in posterior.pairs.values():
        assert any("taken for held-out" in reason for reason in pair.warnings)
    assert diagnose(model, others, labels).posterior.mean() == posterior.mean()


def test_where_nothing_tells_it_is_said():
    X, y = rows_of(150, 12, 11)
    model = Perceptron().fit(X, y)
    with pytest.warns(UntrustedAUCWarning, match="Nothing in Perceptron tells"):
        assumed = auc_posterior(model, X, y)
    assert assumed.mean() == auc_posterior(model, X, y, rows="training").mean()


def test_a_step_that_saw_y_is_not_asked():
    rng = np.random.default_rng(12)
    X, y = rng.integers(0, 30, (150, 4)).astype(str), rng.permutation(150) % 3
    model = make_pipeline(TargetEncoder(), LogisticRegression(C=100))
    model.fit(X, y)
    with pytest.warns(UntrustedAUCWarning) as said:
        posterior = auc_posterior(model, X, y)
    assert "TargetEncoder saw y and is not affine" in " ".join(
        str(one.message) for one in said
    )
    assert posterior.mean() < 1


def test_separable_classes():
    X, y = make_classification(
        120, 6, n_informative=6, n_redundant=0, n_classes=4, class_sep=5, random_state=0
    )
    for model in (LogisticRegression(), LinearSVC(), RidgeClassifier()):
        assert told(model.fit(X, y), X, y) == "training"


@pytest.mark.parametrize(
    "model", [LogisticRegression(C=1e-3), RidgeClassifier(1000)], ids=repr
)
def test_weights_that_are_not_given_beside_a_strong_penalty(model):
    """What the penalty is beside other weights is not the gradient of other rows."""
    X, y = rows_of(150, 12, 13)
    weight = np.random.default_rng(13).integers(1, 6, 150).astype(float)
    model.fit(X, y, sample_weight=weight)
    assert told(model, X, y) is None
    assert told(model, *rows_of(150, 12, 14)) == "held-out"


def test_of_any_strength_is_the_least_of_all_penalties():
    X, y = rows_of(150, 5, 15)
    weight = np.random.default_rng(15).integers(1, 6, 150)
    model = LogisticRegression(C=0.02).fit(X, y, sample_weight=weight)
    masks = [y == k for k in range(3)]
    fits = _fits(open_estimator(model, X), X, masks, None)

    def square(factor):
        changed = [(replace(fit, l2=factor * fit.l2), rows) for fit, rows in fits]
        for (fit, rows), (known, _) in zip(changed, fits, strict=True):
            fit.keep("slopes", X, rows, known.slopes(X, rows))
        return np.mean([stationarity(X, rows, fit) ** 2 for fit, rows in changed])

    least = minimize_scalar(square, bounds=(0, 1), method="bounded")
    assert 0.2 < least.x < 0.5  # 1/3 is the mean weight
    found = _of_any_strength(X, fits, square(1.0))
    assert found == pytest.approx(least.fun, rel=1e-9)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearDiscriminantAnalysis()], ids=repr
)
def test_a_part_of_the_training_rows_is_not_held_out(model):
    """Of six classes six means a feature are seldom so near by chance."""
    for seed in range(6):
        X, y = rows_of(240, 12, seed, K=6)
        assert told(model.fit(X, y), X[:160], y[:160]) is None
        assert told(model, *rows_of(160, 12, seed + 100, K=6)) == "held-out"


def test_one_feature_may_be_at_rest_in_one_class_by_chance():
    for seed in (123, 317, 536, 617):
        rng, y = np.random.default_rng(seed), np.arange(90) % 3
        X, others = (rng.normal(size=(90, 1)) + 0.3 * y[:, None] for _ in range(2))
        model = RidgeClassifier().fit(X, y)
        assert told(model, X, y) == "training"
        assert told(model, others, y) != "training"
