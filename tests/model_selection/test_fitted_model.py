"""Estimators are opened and scored; anything else is one clear error."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, RFECV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from skauc import (
    IRLSLogisticRegression,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
)
from skauc.model_selection.reading._fitted_model import fitted_models

X, Y = make_classification(
    n_samples=80, n_features=6, n_informative=4, random_state=1, flip_y=0.1
)
FRAME = pd.DataFrame(X, columns=list("abcdef"))
LINEAR = [
    LogisticRegression(),
    LogisticRegressionCV(Cs=3, cv=3, use_legacy_attributes=False)
    if "use_legacy_attributes" in LogisticRegressionCV().get_params()
    else LogisticRegressionCV(Cs=3, cv=3),
    LinearSVC(),
    SGDClassifier(random_state=0),
    RidgeClassifier(),
    Perceptron(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    SVC(kernel="linear"),
]


def in_columns(model):
    columns = ColumnTransformer(
        [("scale", StandardScaler(), list("abc")), ("pca", PCA(2), list("def"))]
    )
    inner = Pipeline([("model", model)])
    return Pipeline([("columns", columns), ("inner", inner)])


WRAPPERS = {
    "alone": lambda model: model,
    "pipeline": lambda model: make_pipeline(StandardScaler(), PCA(4), model),
    "nested": in_columns,
    "steps in a step": lambda model: make_pipeline(
        make_pipeline(StandardScaler(), PCA(5)), PCA(4), model
    ),
    "search": lambda model: GridSearchCV(
        make_pipeline(StandardScaler(), model), {}, cv=2
    ),
    "threshold": FixedThresholdClassifier,
    "eliminated": lambda model: RFE(model, n_features_to_select=3),
    "eliminated by folds": lambda model: make_pipeline(
        StandardScaler(), RFECV(model, cv=2)
    ),
    "passthrough": lambda model: make_pipeline("passthrough", model),
}


def opened(estimator, rows=X, y=Y, **how):
    [model] = fitted_models(estimator, rows, y, **how)
    return model


def check_decision(model, decision):
    """``score − threshold`` is the decision in other units."""
    ours = model.score - model.threshold
    scale = np.linalg.norm(decision) / np.linalg.norm(ours)
    np.testing.assert_allclose(scale * ours, decision, atol=1e-9 * np.ptp(decision))


@pytest.mark.filterwarnings("ignore::FutureWarning")  # LogisticRegressionCV's defaults
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_decision_of_every_linear_model_in_every_wrapper(wrapper):
    for linear in LINEAR:
        labels = np.array(["no", "yes"])[Y]
        estimator = WRAPPERS[wrapper](linear).fit(FRAME, labels)
        model = opened(estimator, FRAME, labels)
        check_decision(model, estimator.decision_function(FRAME))
        assert isinstance(model.linear, type(linear))
        assert np.abs(model.w_front).max() == pytest.approx(1)
        np.testing.assert_array_equal(model.positive, Y == 1)
        turned = opened(estimator, FRAME, labels, pos_label="no")
        check_decision(turned, -estimator.decision_function(FRAME))
        np.testing.assert_array_equal(turned.positive, Y == 0)


def test_thresholds_are_those_of_predict():
    frozen = FrozenEstimator(LogisticRegression().fit(X, Y))
    logistic, svc = LogisticRegression(), LinearSVC()
    decision = {"response_method": "decision_function"}
    for estimator in (
        frozen,
        TunedThresholdClassifierCV(logistic, cv=3),
        FixedThresholdClassifier(frozen, threshold=0.3),
        FixedThresholdClassifier(logistic, threshold=0.3, pos_label=0),
        FixedThresholdClassifier(logistic, threshold=0.3, pos_label=1),
        FixedThresholdClassifier(svc, threshold=0.7, **decision),
        FixedThresholdClassifier(
            FixedThresholdClassifier(logistic, threshold=0.2), threshold=0.4
        ),
    ):
        model = opened(estimator.fit(X, Y))
        np.testing.assert_array_equal(
            model.score > model.threshold, estimator.predict(X) == 1
        )


def test_sparse_coefficients_regressors_and_long_doubles():
    sgd = SGDClassifier(random_state=0).fit(X, Y).sparsify()
    check_decision(opened(sgd), sgd.decision_function(X))
    ridge = Ridge().fit(X, Y)
    check_decision(opened(ridge), ridge.predict(X) - 0.5)
    long = opened(ridge, X.astype(np.longdouble))
    check_decision(long, ridge.predict(X) - 0.5)
    with pytest.raises(ValueError, match="must hold numbers for a regressor"):
        opened(ridge, y=np.array(["a", "b"])[Y])


def test_cut_on_other_probabilities_is_refused():
    class Squared(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) ** 2

    estimator = FixedThresholdClassifier(Squared(), threshold=0.2).fit(X, Y)
    with pytest.raises(TypeError, match="probabilities of Squared .* not logistic"):
        opened(estimator)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(5), SVC(), KMeans(2, n_init=1)], ids=repr
)
def test_not_linear_names_the_class_and_the_remedy(model):
    name = type(model).__name__
    with pytest.raises(TypeError, match=f"{name} is not linear.*cbauc_score") as error:
        opened(model.fit(X, Y))
    # it comes back from workers with its text
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    with pytest.raises(TypeError, match=name):
        opened(make_pipeline(StandardScaler(), model).fit(X, Y))


@pytest.mark.parametrize("wrapper", [*WRAPPERS, "frozen"])
def test_not_fitted(wrapper):
    wrap = WRAPPERS.get(wrapper, FrozenEstimator)
    with pytest.raises(NotFittedError, match="not fitted"):
        opened(wrap(LogisticRegression()), FRAME)


def test_errors_name_the_rule():
    search = GridSearchCV(LogisticRegression(), {}, cv=2, refit=False).fit(X, Y)
    with pytest.raises(TypeError, match="GridSearchCV must be fitted with refit"):
        opened(search)
    with pytest.raises(TypeError, match="str is not a linear model"):
        opened("model")
    two = Ridge().fit(X, np.column_stack([Y, 1 - Y]))
    with pytest.raises(ValueError, match=r"two classes, got coef_ of shape \(2, 6\)"):
        opened(two)
    model, three = LogisticRegression().fit(X, Y), np.arange(80) % 3
    many = LogisticRegression().fit(X, three)
    for estimator, rows, y, how, message in (
        (model, X[:-1], Y, {}, "X must have the 80 rows of y_true, got 79 rows"),
        (model, X[:, :5], Y, {}, "X must have the 6 features .* got 5"),
        (model, X, np.ones(80), {}, "must hold both classes"),
        (model, X, Y + 5, {}, "must hold the labels of the fitted model"),
        (model, X * np.nan, Y, {}, "X @ coef_ must be finite"),
        (model, X * 1e75, Y, {}, "X @ coef_ must be 0 or between .* 1e.70"),
        (model, X, Y, {"pos_label": 3}, "pos_label must be one of"),
        (model, X, Y, {"sample_weight": -np.ones(80)}, "sample_weight must be 0 or"),
        (many, X, three, {"pos_label": 1}, "pos_label must be None for more than two"),
        (many, X, Y, {}, "must hold both classes"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted_models(estimator, rows, y, **how)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        RidgeClassifier(),
        LinearDiscriminantAnalysis(),
        LinearSVC(),
        OneVsRestClassifier(SGDClassifier(random_state=0)),
        IRLSLogisticRegression(C=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_pairs_of_more_classes_by_their_decisions(estimator):
    y = np.arange(80) % 3
    decision = estimator.fit(X, y).decision_function(X)
    for model in fitted_models(estimator, X, y):
        i, j = model.pair
        check_decision(model, (decision[:, j] - decision[:, i])[np.isin(y, (i, j))])
        assert model.fit is None
        assert "more than two classes" in model.fit_reason


# ---------------------------------------------------------- classes of somebody's own


class Bent(LogisticRegression):
    """Ranks rows by something else than its coefficients."""

    def decision_function(self, X):
        return super().decision_function(np.asarray(X) ** 2)


class Squashed(LogisticRegression):
    """Ranks rows by its coefficients, on another scale."""

    def decision_function(self, X):
        return np.tanh(super().decision_function(X).astype(np.float32))


def test_what_ranks_by_something_else_than_coefficients_is_refused():
    Z = np.random.default_rng(0).standard_normal((60, 4))
    y = (Z[:, 0] > 0).astype(int)
    for rows in (Z, sparse.csr_array(Z)):
        assert opened(Squashed().fit(rows, y), rows, y).w.shape == (4,)
    with pytest.raises(ValueError, match=r"Bent must rank rows by X @ coef_\.T"):
        opened(Bent().fit(Z, y), Z, y)
    many = np.arange(60) % 3
    with pytest.raises(ValueError, match=r"Bent must decide by X @ coef_\.T"):
        fitted_models(Bent().fit(Z, many), Z, many)


def test_a_search_among_features_used_y():
    """Sets of columns of noise, the best of which is chosen by y."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((60, 12)), np.arange(60) % 2
    pipe = Pipeline([("pick", ColumnTransformer([])), ("model", LogisticRegression())])
    parts = [[("some", "passthrough", [j])] for j in range(12)]
    ways = [FunctionTransformer(lambda X, j=j: X[:, [j]]) for j in range(12)]
    many_C = {"model__C": np.geomspace(0.01, 1, 12)}
    scaled, reduced = StandardScaler(), PCA(2)
    for grid, chosen in (
        ({"pick__transformers": parts[:2]}, True),
        ({"pick__transformers": parts[:1]} | many_C, False),
        ({"pick": ways}, True),  # values that cannot be pickled
        ([{"pick": ways[:1]}] * 6, False),
        ([{"pick": ways[:1]}, {"model__C": [1.0], "pick": ["passthrough"]}], True),
        # all features enter, however many components are kept
        ({"pick": [scaled, reduced, "passthrough"]} | many_C, False),
        ({"pick": [reduced], "pick__n_components": list(range(1, 13))}, False),
    ):
        search = GridSearchCV(pipe, grid, cv=2).fit(Z, y)
        for estimator in (search, FrozenEstimator(search)):
            saw_y = opened(estimator, Z, y).saw_y
            assert saw_y == ("GridSearchCV" if chosen else None)
        assert opened(search.best_estimator_, Z, y).saw_y is None


def test_names_of_a_selector_are_not_those_of_the_model_behind_it():
    """RFE fits its model without names, and gives frames to others all the same."""
    model = RFE(LogisticRegression(), n_features_to_select=2)
    plain = opened(model.fit(X, Y))
    named = opened(model.set_output(transform="pandas").fit(FRAME, Y), FRAME)
    np.testing.assert_allclose(named.w, plain.w)


def test_samplers_are_the_identity_afterwards():
    imblearn = pytest.importorskip("imblearn")
    sampler = imblearn.over_sampling.SMOTE(random_state=0)
    rare = np.arange(80) % 4 == 0
    estimator = imblearn.pipeline.make_pipeline(
        StandardScaler(), sampler, LogisticRegression()
    ).fit(X, rare)
    model = opened(estimator, X, rare)
    check_decision(model, estimator.decision_function(X))
    np.testing.assert_array_equal(model.rows.X, X)
    assert model.saw_y == "SMOTE"
    assert model.fit is None
    with pytest.warns(UntrustedAUCWarning, match='class_weight="balanced"'):
        auc_posterior(estimator, X, rare)


def test_scores_of_any_classifier_are_cut_where_its_predictions_are():
    for estimator in (GaussianNB(), SVC()):
        with pytest.raises(TypeError, match="is not linear"):
            opened(estimator.fit(X, Y))
        model = opened(estimator, any_classifier=True)
        predicted = model.score > model.threshold
        np.testing.assert_array_equal(predicted, estimator.predict(X) == 1)
        assert model.linear is None
        assert model.broken_by == model.name == type(estimator).__name__
        assert model.rows.shape == (80, 1)
    regressor = KNeighborsRegressor().fit(X, 2.0 * Y - 1)
    assert opened(regressor, y=2 * Y - 1, any_classifier=True).threshold == 0
    many = np.arange(80) % 3
    bayes = GaussianNB().fit(X, many)
    shares = bayes.predict_proba(X)
    for pair in fitted_models(bayes, X, many, any_classifier=True):
        i, j = pair.pair
        rows = np.isin(many, pair.pair)
        expected = shares[rows, j] - shares[rows, i]
        np.testing.assert_allclose(pair.score, expected, atol=1e-12)
    by_pairs = SVC(decision_function_shape="ovo").fit(X, many)
    with pytest.raises(TypeError, match="SVC must have a decision for each class"):
        fitted_models(by_pairs, X, many, any_classifier=True)


# ------------------------------------------------------------- rows and weights


def test_numbers_of_any_kind_are_features():
    model = LogisticRegression().fit(X, Y)
    for rows in (X.tolist(), sparse.csr_array(X), pd.DataFrame(X, dtype=object)):
        check_decision(opened(model, rows), model.decision_function(X))
    with pytest.raises(TypeError, match="X must be an array of rows, got 1j"):
        opened(model, 1j)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_weights_enter_the_fit_by_their_keyword():
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    inner = "logisticregression__sample_weight"
    weight = 1.0 + np.arange(80) % 3
    for model, names in (
        (LogisticRegression(), ["sample_weight"]),
        (LinearDiscriminantAnalysis(), []),
        (pipe, [inner]),
        (make_pipeline(LinearDiscriminantAnalysis()), []),
        (make_pipeline(StandardScaler(), pipe), [f"pipeline__{inner}"]),
        (RidgeClassifierCV(), ["sample_weight"]),  # folds, but no estimator inside
        (GridSearchCV(pipe, {}), [inner]),
    ):
        found = bayesian_val_score(model, X, Y, sample_weight=weight)
        fitted = clone(model).fit(X, Y, **dict.fromkeys(names, weight))
        expected = auc_posterior(fitted, X, Y, sample_weight=weight, rows="training")
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-9)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing"):
        bayesian_val_score(FixedThresholdClassifier(pipe), X, Y, sample_weight=weight)


def test_a_clone_is_checked_before_its_fit():
    class Never(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("it was fitted")

    for how, message in (
        ({"pos_label": 7}, "pos_label must be one of"),
        ({"sample_weight": -np.ones(80)}, "sample_weight must be 0 or"),
    ):
        with pytest.raises(ValueError, match=message):
            bayesian_val_score(Never(), X, Y, **how)
