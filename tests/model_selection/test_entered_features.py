"""Linear models as directions in the features that entered their Pipeline."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import FeatureAgglomeration
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection

from skauc import auc_posterior
from skauc.model_selection import _affine_steps
from skauc.model_selection._entered_features import branches, entered_features
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._scored_model import score_model

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 12)) * RNG.uniform(0.1, 5, 12) + 3
Y = (X[:, 0] + RNG.standard_normal(60) > np.median(X[:, 0])).astype(int)
NAMES = [f"c{k}" for k in range(12)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(kind=RNG.choice(list("abc"), 60))
# How far a solver came does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Wrapped(TransformerMixin, BaseEstimator):
    """A step of a class that nobody knows."""

    def __init__(self, inner):
        self.inner = inner

    def fit(self, X, y):
        self.inner_ = clone(self.inner).fit(X, y)
        return self

    def transform(self, X):
        return self.inner_.transform(X)


def entered(steps, rows=X, y=Y):
    model = make_pipeline(*steps, LogisticRegression()).fit(rows, y)
    opened = open_estimator(model, rows)
    return model, entered_features(opened.stages, opened.X, opened.w, y)


def check(steps, rows=X):
    """The scores are those of the Pipeline but for a constant."""
    model, found = entered(steps, rows)
    rest = found.Z @ found.w - model.decision_function(rows)
    assert np.ptp(rest) < 1e-9 * np.ptp(model.decision_function(rows))
    return found


AFFINE = {
    "scaler": ([StandardScaler()], False),
    "uncentred": ([StandardScaler(with_std=False)], False),
    "ranges": ([MinMaxScaler(), RobustScaler(), MaxAbsScaler()], False),
    "PCA": ([PCA(5, whiten=True), "passthrough"], False),
    "SVD": ([TruncatedSVD(5)], False),
    "ICA": ([FastICA(4, random_state=0)], False),
    "factors": ([FactorAnalysis(3)], False),
    "random": ([GaussianRandomProjection(3, random_state=0)], False),
    "clusters": ([FeatureAgglomeration(5)], False),
    "variance": ([VarianceThreshold()], False),
    "identity": ([FunctionTransformer()], False),
    "unknown scaler": ([Wrapped(StandardScaler())], False),
    "k best": ([StandardScaler(), SelectKBest(k=5)], True),
    "RFE": ([RFE(LogisticRegression(), n_features_to_select=4)], True),
    "from L1": ([StandardScaler(), SelectFromModel(Lasso(alpha=0.05))], True),
    "LDA": ([LinearDiscriminantAnalysis()], True),
    "NCA": ([NeighborhoodComponentsAnalysis(3, random_state=0)], True),
    "unknown PLS": ([Wrapped(PLSRegression(3))], True),
    "nested": ([make_pipeline(make_pipeline(StandardScaler()), PCA(4))], False),
    "union": (
        [make_union(PCA(3), SelectKBest(k=4), make_pipeline(StandardScaler(), PCA(2)))],
        True,
    ),
    "columns": (
        [
            ColumnTransformer(
                [("a", StandardScaler(), [0, 2]), ("b", PCA(2), slice(4, 8))],
                remainder="passthrough",
                transformer_weights={"a": 3},
            ),
            SelectKBest(k=3),
        ],
        True,
    ),
}


@pytest.mark.parametrize("name", AFFINE)
def test_affine_steps_compose(name):
    steps, supervised = AFFINE[name]
    found = check(steps)
    np.testing.assert_array_equal(found.Z, X)
    assert found.supervised == supervised
    assert found.broken_by is None


def test_dropped_columns_did_not_enter():
    steps = ColumnTransformer([("a", "passthrough", [1, 3]), ("b", "drop", [0, 2])])
    np.testing.assert_array_equal(check([steps]).Z, X[:, [1, 3]])


@pytest.mark.parametrize(
    ("steps", "n_features"),
    [
        ([Normalizer()], 12),
        ([FunctionTransformer(np.abs)], 12),
        ([QuantileTransformer(n_quantiles=20)], 12),
        ([SimpleImputer(), SplineTransformer(3)], 60),
        ([PolynomialFeatures(2, include_bias=False), SelectKBest(k=10)], 90),
        ([Normalizer(), StandardScaler(), SelectKBest(k=3)], 12),
    ],
)
def test_features_start_behind_a_step_that_is_not_affine(steps, n_features):
    found = check(steps)
    assert found.Z.shape[1] == n_features
    assert found.broken_by is None


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ([SelectKBest(k=4), PolynomialFeatures(2)], "PolynomialFeatures"),
        ([LinearDiscriminantAnalysis(), SplineTransformer(3)], "SplineTransformer"),
        (
            [make_column_transformer((TargetEncoder(), ["kind"]), (PCA(2), NAMES))],
            "TargetEncoder",
        ),
    ],
)
def test_a_step_that_saw_y_and_is_not_affine_breaks_it(steps, name):
    rows = FRAME if name == "TargetEncoder" else X
    _, found = entered(steps, rows)
    assert found.supervised
    assert found.broken_by == name


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_several_kinds(kind):
    rows = (
        FRAME
        if kind == "pandas"
        else pl.DataFrame({c: FRAME[c].to_list() for c in FRAME})
    )
    columns = make_column_transformer(
        (make_pipeline(StandardScaler(), SelectKBest(k=4)), NAMES[:8]),
        # scikit-learn 1.6 puts no polars columns beside sparse ones
        (OneHotEncoder(sparse_output=kind == "pandas"), ["kind"]),
        ("passthrough", NAMES[9:11]),
    )
    found = check([columns, SelectKBest(k=5)], rows)
    assert found.Z.shape[1] == 8 + 3 + 2
    assert found.supervised
    columns.set_params(onehotencoder__sparse_output=False)
    if kind == "pandas":
        assert check([columns.set_output(transform="pandas")], rows).Z.shape[1] == 13


def test_named_and_boolean_columns():
    numbers = FRAME.drop(columns="kind")
    for columns in (slice("c2", "c5"), np.arange(12) < 3, lambda rows: ["c1", "c7"]):
        found = check([ColumnTransformer([("a", PCA(2), columns)])], numbers)
        assert found.Z.shape[1] in (4, 3, 2)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows_stay_sparse(make):
    rows = make(np.where(np.abs(X) > 3, X, 0.0))
    found = check([MaxAbsScaler(), SelectKBest(k=4), TruncatedSVD(2)], rows)
    assert sparse.issparse(found.Z)
    assert found.Z.shape == (60, 12)


def test_directions_of_several_classes_at_once():
    y = np.arange(60) % 3
    model = make_pipeline(StandardScaler(), PCA(4), LogisticRegression()).fit(X, y)
    opened = open_estimator(model, X)
    found = entered_features(opened.stages, opened.X, opened.w, y)
    rest = X @ found.w.T - model.decision_function(X)
    assert np.ptp(rest, axis=0).max() < 1e-10


def test_an_unknown_step_is_asked_once_a_search(monkeypatch):
    asked = []
    answer = _affine_steps._depends_on_labels
    monkeypatch.setattr(
        _affine_steps, "_depends_on_labels", lambda *a: asked.append(1) or answer(*a)
    )
    monkeypatch.setattr(_affine_steps, "_ANSWERS", _affine_steps._Answers())
    for C in (0.1, 1.0, 10.0):
        model = make_pipeline(Wrapped(PCA(3)), LogisticRegression(C=C)).fit(X, Y)
        opened = open_estimator(model, X)
        assert not entered_features(opened.stages, X, opened.w, Y).supervised
    assert len(asked) == 1
    model = make_pipeline(Wrapped(PCA(2)), LogisticRegression()).fit(X, Y)
    opened = open_estimator(model, X)
    entered_features(opened.stages, X, opened.w, Y)
    assert len(asked) == 2


class Scaled(TransformerMixin, BaseEstimator):
    """A step that looks at y, in tiny units."""

    def fit(self, X, y):
        self.by_ = X.T @ (y - np.mean(y))
        return self

    def transform(self, X):
        return 1e-12 * X * self.by_


def test_a_frozen_step_sees_what_its_estimator_saw():
    for step, seen in [
        (SelectKBest(k=3), True),
        (StandardScaler(), False),
        (make_pipeline(StandardScaler(), SelectKBest(k=3)), True),
        (Wrapped(PCA(3)), False),
        (Wrapped(SelectKBest(k=3)), True),
    ]:
        frozen = FrozenEstimator(step.fit(X, Y))
        assert _affine_steps.sees_y(frozen, X, Y) == seen
        assert check([frozen]).supervised == seen


def test_looking_at_y_has_no_unit():
    assert _affine_steps.sees_y(Scaled().fit(X, Y), X, Y)


def test_chance_is_not_taken_for_a_look_at_y():
    for step in (RandomTreesEmbedding(5), Wrapped(RandomTreesEmbedding(5))):
        assert not _affine_steps.sees_y(step.fit(X, Y), X, Y)


def test_unknown_steps_of_frames_are_tried_in_silence():
    frame = FRAME[NAMES]
    step = SimpleImputer().fit(frame)
    transpose = _affine_steps.transpose_of(step, frame, step.transform(frame))
    np.testing.assert_allclose(transpose(np.eye(len(NAMES))), np.eye(len(NAMES)))


def test_steps_that_do_nothing_inside_a_union():
    kept = Pipeline([("not", None), ("nor", "passthrough"), ("pca", PCA(3))])
    union = FeatureUnion([("kept", kept), ("out", "drop"), ("best", SelectKBest(k=2))])
    found = check([union])
    np.testing.assert_array_equal(found.Z, X)
    assert found.broken_by is None
    without = FeatureUnion([("kept", PCA(3)), ("best", SelectKBest(k=2))])
    np.testing.assert_allclose(found.w, check([without]).w, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_whether_a_step_is_affine_has_no_unit(unit):
    bent = FunctionTransformer(lambda Z: unit * np.abs(Z - 3)).fit(X)
    straight = Wrapped(PCA(3)).fit(unit * X, Y)
    assert _affine_steps.transpose_of(bent, X, bent.transform(X)) is None
    behind = straight.transform(unit * X)
    assert _affine_steps.transpose_of(straight, unit * X, behind) is not None


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_whether_the_scores_are_the_same_has_no_unit(unit):
    """A step of ranges, cut at their ends, is affine on most rows and not on all."""
    model = make_pipeline(PCA(3), LogisticRegression()).fit(X, Y)
    model[0].mean_ *= unit  # the same model of rows in another unit
    model[1].coef_ /= unit
    scored = score_model(open_estimator(model, unit * X), Y, None, None)
    assert scored.Z.shape[1] == 12
    cut = make_pipeline(MinMaxScaler((0, unit), clip=True), LogisticRegression())
    cut.fit(X, Y)[0].min_ *= 0.5
    cut[0].scale_ *= 1.2  # some rows lie outside
    scored = score_model(open_estimator(cut, X), Y, None, None)
    assert scored.Z is scored.front


def test_the_smallest_bend_that_is_seen():
    """Of a ten thousandth, on rows of about 1."""
    rows = X / np.abs(X).max(axis=0)
    bent = FunctionTransformer(lambda Z: Z + 1e-4 * Z**2).fit(rows)
    assert _affine_steps.transpose_of(bent, rows, bent.transform(rows)) is None


def test_weights_of_a_union_near_one():
    union = FeatureUnion(
        [("a", PCA(3)), ("b", SelectKBest(k=2))], transformer_weights={"a": 1.1}
    )
    check([union])


@pytest.mark.parametrize("where", [slice(0, 6), slice(59, 60), slice(0, 60, 5)])
@pytest.mark.parametrize(
    "steps",
    [
        [SimpleImputer(), StandardScaler(), SelectKBest(k=3)],
        [StandardScaler(), SimpleImputer(add_indicator=True), SelectKBest(k=3)],
    ],
)
def test_an_imputer_makes_the_features_wherever_numbers_are_missing(steps, where):
    rows = X.copy()
    rows[where, 2] = np.nan
    found = check(steps, rows)
    assert found.supervised
    assert found.broken_by is None
    assert found.Z.shape[1] in (12, 13)


def test_missing_numbers_are_on_no_line():
    """Though all of them are made one number: rows without them are not."""
    rows = X.copy()
    rows[:, 2] = np.nan
    filled = SimpleImputer(
        strategy="constant", fill_value=1.0, keep_empty_features=True
    )
    filled = Wrapped(filled).fit(rows, Y)
    assert _affine_steps.transpose_of(filled, rows, filled.transform(rows)) is None


def test_a_step_that_bends_for_one_row_is_not_affine():
    rows = X.copy()
    rows[50] += 100
    found = check(
        [FunctionTransformer(np.clip, kw_args={"a_min": -999, "a_max": 40})], rows
    )
    assert found.Z.max() == 40


def test_missing_numbers_in_front_of_a_scaler_at_the_end():
    rows = np.random.default_rng(1).standard_normal((60, 80))
    rows[40, 2] = np.nan
    steps = [SimpleImputer(), StandardScaler(), LogisticRegression()]
    model = make_pipeline(*steps).fit(rows, Y)
    filled = model[0].transform(rows)
    same = make_pipeline(*steps[1:]).fit(filled, Y)
    expected = auc_posterior(same, filled, Y, rows="training")
    assert auc_posterior(model, rows, Y, rows="training").mean() == pytest.approx(
        expected.mean(), rel=1e-9
    )


@pytest.mark.parametrize(("largest", "affine"), [(np.inf, True), (10.0, False)])
def test_rows_too_wide_for_a_block_are_asked_two_at_a_time(
    largest, affine, monkeypatch
):
    """A cut that is for one late row only."""
    monkeypatch.setattr(_affine_steps, "_NUMBERS_AT_ONCE", 4)
    X = np.random.default_rng(0).normal(size=(31, 6))
    X[-1] = 20.0
    step = FunctionTransformer(lambda rows: 3 * np.minimum(rows, largest) + 1)
    found = _affine_steps.transpose_of(step, X, step.fit_transform(X))
    assert (found is not None) == affine
    if affine:
        np.testing.assert_allclose(found(np.eye(6)), 3 * np.eye(6), atol=1e-12)


# ------------------------------------------------------- rows that have no columns


def objects(rows):
    out = np.empty(len(rows), dtype=object)
    out[:] = rows
    return out


TEXTS = [
    " ".join(f"w{k}" for k in np.random.default_rng(i).integers(5 * y, 40, 20))
    for i, y in enumerate(Y)
]
TEXTS[0] = ""
ROWS_OF = {
    "texts": (TfidfVectorizer(), TEXTS, [objects, np.array, pd.Series]),
    "mappings": (
        DictVectorizer(),
        [{"a": x[0], "b": x[1], "c": "xyz"[i % 3]} for i, x in enumerate(X)],
        [objects, pd.Series],
    ),
    "sequences": (
        FunctionTransformer(lambda S: np.array([[sum(s), len(s), s[0]] for s in S])),
        [x[: 3 + i % 5].tolist() for i, x in enumerate(X)],
        [objects, pd.Series],
    ),
}


@pytest.mark.parametrize("name", ROWS_OF)
def test_rows_that_have_no_columns_answer_like_their_list(name):
    """They were counted by a second axis that is not there."""
    step, rows, kinds = ROWS_OF[name]
    model = make_pipeline(step, LogisticRegression()).fit(rows, Y)
    behind = step.transform(rows)
    expected = auc_posterior(model[-1], behind, Y).mean()
    for kind in (list, *kinds):
        found = score_model(open_estimator(model, kind(rows)), Y, None, None)
        assert found.Z.shape == behind.shape
        assert found.broken_by is None
        answer = auc_posterior(model, kind(rows), Y).mean()
        assert answer == pytest.approx(expected, rel=1e-9)


def test_images_are_judged_in_what_a_step_makes_of_them():
    images = X.reshape(60, 3, 4)
    flat = FunctionTransformer(lambda A: np.reshape(A, (len(A), -1)))
    model = make_pipeline(flat, LogisticRegression()).fit(images, Y)
    expected = auc_posterior(model[-1], X, Y).mean()
    for rows in (images, list(images)):
        assert auc_posterior(model, rows, Y).mean() == pytest.approx(expected, rel=1e-9)


def test_a_column_of_texts_beside_numbers():
    frame = FRAME[NAMES[:2]].assign(text=TEXTS)
    columns = make_column_transformer(
        (TfidfVectorizer(), "text"), (StandardScaler(), NAMES[:2])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(frame, Y)
    found = score_model(open_estimator(model, frame), Y, None, None)
    assert found.Z.shape[1] == model[-1].n_features_in_
    assert not found.supervised
    np.testing.assert_allclose(
        np.ptp(found.Z @ found.w - found.score), 0, atol=1e-9 * np.ptp(found.score)
    )


def test_branches_behind_a_step_that_is_not_affine():
    """Directions of both arrive at its features, and add up."""
    union = make_union(StandardScaler(), SelectKBest(k=4))
    found = check([Normalizer(), union])
    assert found.Z.shape == X.shape
    assert found.supervised


def test_columns_behind_another_step():
    columns = ColumnTransformer([("a", PCA(2), [0, 3, 4]), ("b", "passthrough", [7])])
    for first in (StandardScaler(), Normalizer()):
        found = check([first, columns])
        assert found.Z.shape[0] == 60
        assert not found.supervised


def test_the_first_step_that_broke_it_is_named():
    steps = [SelectKBest(k=4), PolynomialFeatures(2), StandardScaler(), Normalizer()]
    _, found = entered(steps)
    assert found.broken_by == "PolynomialFeatures"
    assert found.supervised


def test_a_column_of_texts_by_its_number():
    rows = np.column_stack([np.array(TEXTS, dtype=object), X[:, 0].astype(object)])
    columns = make_column_transformer((TfidfVectorizer(), 0), (StandardScaler(), [1]))
    model = make_pipeline(columns, LogisticRegression()).fit(rows, Y)
    found = score_model(open_estimator(model, rows), Y, None, None)
    rest = found.Z @ found.w - found.score
    np.testing.assert_allclose(np.ptp(rest), 0, atol=1e-9 * np.ptp(found.score))


def test_branches_are_those_that_were_fitted():
    columns = ColumnTransformer(
        [
            ("none", PCA(), []),
            ("out", "drop", [6]),
            ("a", StandardScaler(), [2, 0]),
            ("b", "passthrough", []),
        ]
    )
    [(step, rows)] = branches(columns.fit(X), X)
    np.testing.assert_array_equal(rows, X[:, [2, 0]])
    np.testing.assert_allclose(step.mean_, rows.mean(axis=0))
    union = make_union(StandardScaler(), "drop", "passthrough").fit(X)
    assert [(type(step), rows is X) for step, rows in branches(union, X)][:1] == [
        (StandardScaler, True)
    ]
