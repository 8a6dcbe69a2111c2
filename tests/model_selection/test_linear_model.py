"""Estimators become (Z, w, threshold); anything else is one clear error."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, RFECV, SelectKBest
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
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from skauc import (
    AdaptivePrior,
    IRLSLogisticRegression,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    cbauc_scorer,
)
from skauc.model_selection._any_estimator import is_known, weight_for_fit
from skauc.model_selection._linear_model import open_two_classes

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


def wrap_in_column_transformer(model):
    columns = ColumnTransformer(
        [("scale", StandardScaler(), list("abc")), ("pca", PCA(2), list("def"))]
    )
    inner = Pipeline([("model", model)])
    return Pipeline([("columns", columns), ("inner", inner)])


def wrap_in_search(model):
    return GridSearchCV(make_pipeline(StandardScaler(), model), {}, cv=2)


WRAPPERS = {
    "alone": lambda model: model,
    "pipeline": lambda model: make_pipeline(StandardScaler(), PCA(4), model),
    "nested": wrap_in_column_transformer,
    "steps in a step": lambda model: make_pipeline(
        make_pipeline(StandardScaler(), PCA(5)), PCA(4), model
    ),
    "search": wrap_in_search,
    "threshold": FixedThresholdClassifier,
    "eliminated": lambda model: RFE(model, n_features_to_select=3),
    "eliminated by folds": lambda model: make_pipeline(
        StandardScaler(), RFECV(model, cv=2)
    ),
    "passthrough": lambda model: make_pipeline("passthrough", model),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")  # LogisticRegressionCV's defaults
@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_decision_of_every_linear_model_in_every_wrapper(model, wrapper):
    labels = np.array(["no", "yes"])[Y]
    estimator = WRAPPERS[wrapper](model).fit(FRAME, labels)
    rule = open_two_classes(estimator, FRAME)
    decision = np.asarray(rule.front) @ rule.w - rule.threshold
    np.testing.assert_allclose(
        decision, estimator.decision_function(FRAME), rtol=1e-9, atol=1e-9
    )
    assert rule.classes.tolist() == ["no", "yes"]


def test_frozen_and_tuned():
    frozen = FrozenEstimator(LogisticRegression().fit(X, Y))
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=3).fit(X, Y)
    fixed = FixedThresholdClassifier(frozen, threshold=0.3).fit(X, Y)
    fixed_neg = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.3, pos_label=0
    ).fit(X, Y)
    fixed_pos = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.3, pos_label=1
    ).fit(X, Y)
    for model in (frozen, tuned, fixed, fixed_neg, fixed_pos):
        rule = open_two_classes(model, X)
        np.testing.assert_array_equal(X @ rule.w > rule.threshold, model.predict(X))


def test_threshold_on_the_decision_function():
    model = FixedThresholdClassifier(
        LinearSVC(), threshold=0.7, response_method="decision_function"
    ).fit(X, Y)
    rule = open_two_classes(model, X)
    np.testing.assert_array_equal(X @ rule.w > rule.threshold, model.predict(X))


def test_sparse_coefficients_and_regressors():
    model = SGDClassifier(random_state=0).fit(X, Y).sparsify()
    assert sparse.issparse(model.coef_)
    rule = open_two_classes(model, X)
    np.testing.assert_allclose(X @ rule.w - rule.threshold, model.decision_function(X))
    rule = open_two_classes(Ridge().fit(X, Y), X)
    np.testing.assert_allclose(
        X @ rule.w - rule.threshold, Ridge().fit(X, Y).predict(X)
    )


def test_outer_threshold_replaces_the_inner_one():
    inner = FixedThresholdClassifier(LogisticRegression(), threshold=0.2)
    model = FixedThresholdClassifier(inner, threshold=0.4).fit(X, Y)
    rule = open_two_classes(model, X)
    np.testing.assert_array_equal(X @ rule.w > rule.threshold, model.predict(X))


def test_cut_on_other_probabilities_is_refused():
    class Squared(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) ** 2

    model = FixedThresholdClassifier(Squared(), threshold=0.2).fit(X, Y)
    with pytest.raises(
        TypeError, match="probabilities of Squared that are not logistic"
    ):
        open_two_classes(model, X)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(5), SVC(), KMeans(2, n_init=1)], ids=repr
)
def test_not_linear_names_the_class_and_the_remedy(model):
    name = type(model).__name__
    with pytest.raises(TypeError, match=f"{name} is not linear.*cbauc_score"):
        open_two_classes(model.fit(X, Y), X)
    with pytest.raises(TypeError, match=name):
        open_two_classes(make_pipeline(StandardScaler(), model).fit(X, Y), X)


@pytest.mark.parametrize("wrapper", [*WRAPPERS, "frozen"])
def test_not_fitted(wrapper):
    wrap = WRAPPERS.get(wrapper, FrozenEstimator)
    with pytest.raises(NotFittedError, match="not fitted"):
        open_two_classes(wrap(LogisticRegression()), FRAME)


def test_search_without_refit():
    search = GridSearchCV(LogisticRegression(), {}, cv=2, refit=False).fit(X, Y)
    with pytest.raises(TypeError, match="GridSearchCV must be fitted with refit"):
        open_two_classes(search, X)


def test_more_than_two_classes():
    model = LogisticRegression().fit(X, np.arange(80) % 3)
    with pytest.raises(
        ValueError, match="LogisticRegression must separate two classes"
    ):
        open_two_classes(model, X)


def test_not_an_estimator():
    with pytest.raises(TypeError, match="str is not linear"):
        open_two_classes("model", X)


def test_rows_of_long_doubles():
    for model in (Ridge(), make_pipeline(SelectKBest(k=3), LogisticRegression())):
        model.fit(X, Y)
        with pytest.warns(UntrustedAUCWarning):
            found = auc_posterior(model, X.astype(np.longdouble), Y)
        with pytest.warns(UntrustedAUCWarning):
            expected = auc_posterior(model, X, Y)
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-9)


def test_a_search_by_predictions_left_out_says_what_it_needs():
    """RidgeClassifierCV scores those with a stand-in that has no coefficients."""
    with pytest.raises(TypeError, match="no model with coef_.: score .*cbauc_score"):
        RidgeClassifierCV(scoring=cbauc_scorer).fit(X, Y)


@pytest.mark.parametrize("scorer", [auc_posterior, bayesian_val_score])
def test_more_than_two_classes_have_no_refits(scorer):
    """The remedy was what had been asked already."""
    labels = np.arange(len(X)) % 3
    with pytest.raises(TypeError, match="GaussianNB is not linear.*hand_till_auc"):
        scorer(GaussianNB().fit(X, labels), X, labels, prior=AdaptivePrior(refits=5))


def test_refusals_come_back_from_workers_with_their_text():
    with pytest.raises(TypeError, match="KMeans is not linear") as refused:
        open_two_classes(KMeans(2, n_init=1, random_state=0).fit(X), X)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_weight_for_fit_finds_the_keyword():
    weight = np.ones(3)
    assert set(weight_for_fit(LogisticRegression(), weight)) == {"sample_weight"}
    assert not weight_for_fit(LinearDiscriminantAnalysis(), weight)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    assert set(weight_for_fit(pipe, weight)) == {"logisticregression__sample_weight"}
    assert not weight_for_fit(make_pipeline(LinearDiscriminantAnalysis()), weight)
    inner = "pipeline__logisticregression__sample_weight"
    assert set(weight_for_fit(make_pipeline(StandardScaler(), pipe), weight)) == {inner}
    # has folds of its own, but no estimator inside
    assert set(weight_for_fit(RidgeClassifierCV(), weight)) == {"sample_weight"}
    search = GridSearchCV(pipe, {})
    assert set(weight_for_fit(search, weight)) == {"logisticregression__sample_weight"}
    with pytest.raises(ValueError, match="FixedThresholdClassifier must be used with"):
        weight_for_fit(FixedThresholdClassifier(pipe), weight)


@pytest.mark.parametrize("wrap", [OneVsRestClassifier, OneVsOneClassifier])
def test_one_part_of_two_classes(wrap):
    model = wrap(LogisticRegression()).fit(X, Y)
    rule = open_two_classes(model, X)
    theirs = model.estimators_[0].decision_function(X)
    np.testing.assert_allclose(X @ rule.w - rule.threshold, theirs, rtol=1e-9)
    assert abs(rule.threshold) > 0.01


class NearestMean(ClassifierMixin, BaseEstimator):
    """A linear model through the origin, which has no ``intercept_``."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.coef_ = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
        return self

    def decision_function(self, X):
        return X @ self.coef_

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_a_model_without_intercept():
    model = NearestMean().fit(X, Y)
    assert open_two_classes(model, X).threshold == 0
    how = {"threshold": 0.3, "response_method": "decision_function"}
    cut = FixedThresholdClassifier(NearestMean(), **how).fit(X, Y)
    assert open_two_classes(cut, X).threshold == pytest.approx(0.3, rel=1e-12)


def test_two_outputs_are_not_two_classes():
    model = Ridge().fit(X, np.column_stack([Y, 1 - Y]))
    with pytest.raises(ValueError, match=r"two classes, got coef_ of shape \(2, 6\)"):
        open_two_classes(model, X)


class Bent(LogisticRegression):
    """Ranks rows by something else than its coefficients."""

    def decision_function(self, X):
        return super().decision_function(np.asarray(X) ** 2)


class Squashed(LogisticRegression):
    """Ranks rows by its coefficients, on another scale."""

    def decision_function(self, X):
        return np.tanh(super().decision_function(X).astype(np.float32))


class RoundedUp(Ridge):
    """A regressor whose predictions bend."""

    def predict(self, X):
        return np.abs(super().predict(X))


def test_what_ranks_by_something_else_than_coefficients_is_refused():
    """Of Bent .74 was said, where its own decisions have .59."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = (X[:, 0] > 0).astype(int)
    for rows in (X, sparse.csr_array(X)):
        opened = open_two_classes(Squashed().fit(rows, y), rows)
        assert opened.w.shape == (4,)
    with pytest.raises(
        ValueError, match=r"Bent must rank rows by X @ coef_\.T .*decis"
    ):
        open_two_classes(Bent().fit(X, y), X)
    with pytest.raises(ValueError, match="RoundedUp must rank rows .* another predict"):
        open_two_classes(RoundedUp().fit(X, y - 0.5), X)


class Named(ClassifierMixin, BaseEstimator):
    """Names classes, and ranks no rows."""

    def fit(self, X, y):
        self.classes_, self.coef_ = np.unique(y), np.array([[1.0, -2.0, 0.0, 3.0]])
        self.intercept_ = np.array([0.5])
        return self

    def predict(self, X):
        return self.classes_[(X @ self.coef_[0] + 0.5 > 0).astype(int)]


class Bare(BaseEstimator):
    """Coefficients, and nothing that says what they are for."""

    fit = Named.fit


def test_whose_methods_are_known():
    for known in (LogisticRegression.fit, IRLSLogisticRegression.fit):
        assert is_known(known)
    for other in (Named.fit, Bent.decision_function, np.linalg.norm, None):
        assert not is_known(other)


@pytest.mark.parametrize("model", [Named(), Bare()])
def test_coefficients_that_no_decision_contradicts(model):
    X = np.random.default_rng(0).standard_normal((60, 4))
    opened = open_two_classes(model.fit(X, (X[:, 0] > 0).astype(int)), X)
    np.testing.assert_array_equal(opened.w, [1, -2, 0, 3])


def test_a_search_among_many_ways_has_seen_y():
    """A hundred sets of columns of noise, the best chosen: [.50, .84], not a word."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 12)), np.arange(60) % 2
    pipe = Pipeline([("pick", ColumnTransformer([])), ("model", LogisticRegression())])
    parts = [[("some", "passthrough", [j])] for j in range(12)]

    def opened(ways, **more):
        grid = {"pick__transformers": parts[:ways]} | more
        return open_two_classes(GridSearchCV(pipe, grid, cv=2).fit(X, y), X)

    assert not opened(10, model__C=[0.1, 1.0]).searched
    assert opened(11).searched
    # whatever stands between: the last step alone is the model
    between = Pipeline([pipe.steps[0], ("same", StandardScaler()), pipe.steps[1]])
    grid = {"pick__transformers": parts[:1], "model__C": np.geomspace(0.01, 1, 12)}
    found = GridSearchCV(between, grid, cv=2).fit(X, y)
    assert not open_two_classes(found, X).searched
    search = GridSearchCV(pipe, {"pick__transformers": parts}, cv=2).fit(X, y)
    with pytest.warns(
        UntrustedAUCWarning, match="saw y, so that only the prior speaks"
    ):
        posterior = auc_posterior(FrozenEstimator(search), X, y)
    assert posterior.second_source is None
    assert auc_posterior(search.best_estimator_, X, y).second_source == ".632+"
    # values that cannot be pickled, equal ones, and ones that have no hash
    ways = [FunctionTransformer(lambda X, j=j: X[:, [j]]) for j in range(12)]
    for grid, many in (({"pick": ways}, True), ([{"pick": ways[:2]}] * 6, False)):
        search = GridSearchCV(pipe, grid, cv=2).fit(X, y)
        assert open_two_classes(search, X).searched is many
    of_C = GridSearchCV(LogisticRegression(), {"C": np.geomspace(0.01, 1, 12)}, cv=2)
    assert not open_two_classes(of_C.fit(X, y), X).searched


def test_names_of_a_selector_are_not_those_of_the_model_behind_it():
    """RFE fits its model without names, and gives frames to others all the same."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    y = np.arange(60) % 2
    model = RFE(LogisticRegression(), n_features_to_select=2)
    plain = open_two_classes(model.fit(frame.to_numpy(), y), frame.to_numpy())
    named = open_two_classes(model.set_output(transform="pandas").fit(frame, y), frame)
    np.testing.assert_allclose(named.model.coef_, plain.model.coef_)
