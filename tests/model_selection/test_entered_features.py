"""Linear models as directions in the features that entered their Pipeline."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, FastICA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    VarianceThreshold,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
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

from skauc import UntrustedAUCWarning, bayesian_val_score, bootstrap_auc, clear_cache
from skauc.model_selection.reading._fitted_model import fitted_models

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 12)) * RNG.uniform(0.1, 5, 12) + 3
Y = (X[:, 0] + RNG.standard_normal(60) > np.median(X[:, 0])).astype(int)
NAMES = [f"c{k}" for k in range(12)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(kind=RNG.choice(list("abc"), 60))
# How far a solver came does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Wrapped(TransformerMixin, BaseEstimator):
    """A step of a class that is not known."""

    def __init__(self, inner):
        self.inner = inner

    def fit(self, X, y):
        self.inner_ = clone(self.inner).fit(X, y)
        return self

    def transform(self, X):
        return self.inner_.transform(X)


def entered(steps, rows=X, y=Y):
    """The model of a Pipeline, whose scores it has but for a constant."""
    pipeline = make_pipeline(*steps, LogisticRegression()).fit(rows, y)
    [model] = fitted_models(pipeline, rows, y)
    decision = pipeline.decision_function(rows)
    unit = np.abs(pipeline[-1].coef_).max()
    rest = unit * (model.rows.X @ model.w) - decision
    assert np.ptp(rest) < 1e-9 * np.ptp(decision)
    return model


AFFINE = {
    "scaler": ([StandardScaler()], None),
    "uncentred": ([StandardScaler(with_std=False)], None),
    "ranges": ([MinMaxScaler(), RobustScaler(), MaxAbsScaler()], None),
    "PCA": ([PCA(5, whiten=True), "passthrough"], None),
    "SVD": ([TruncatedSVD(5)], None),
    "random": ([GaussianRandomProjection(3, random_state=0)], None),
    "variance": ([VarianceThreshold()], None),
    "k best": ([StandardScaler(), SelectKBest(k=5)], "SelectKBest"),
    "RFE": ([RFE(LogisticRegression(), n_features_to_select=4)], "RFE"),
    "from L1": (
        [StandardScaler(), SelectFromModel(Lasso(alpha=0.05))],
        "SelectFromModel",
    ),
    "LDA": ([LinearDiscriminantAnalysis()], "LinearDiscriminantAnalysis"),
    "NCA": (
        [NeighborhoodComponentsAnalysis(3, random_state=0)],
        "NeighborhoodComponentsAnalysis",
    ),
    "nested": ([make_pipeline(make_pipeline(StandardScaler()), PCA(4))], None),
    "union": (
        [make_union(PCA(3), SelectKBest(k=4), make_pipeline(StandardScaler(), PCA(2)))],
        "SelectKBest",
    ),
    "weights of a union": (
        [
            FeatureUnion(
                [("a", PCA(3)), ("out", "drop"), ("b", make_pipeline(None, PCA(2)))],
                transformer_weights={"a": 1.1},
            )
        ],
        None,
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
        "SelectKBest",
    ),
    "frozen": ([FrozenEstimator(SelectKBest(k=3).fit(X, Y))], "SelectKBest"),
    "frozen scaler": ([FrozenEstimator(StandardScaler().fit(X))], None),
}


@pytest.mark.parametrize("name", AFFINE)
def test_affine_steps_compose(name):
    steps, saw_y = AFFINE[name]
    model = entered(steps)
    np.testing.assert_array_equal(model.rows.X, X)
    assert (model.saw_y is None) == (saw_y is None)
    if name != "frozen":
        assert model.saw_y == saw_y
    assert model.broken_by is None


def test_dropped_columns_did_not_enter():
    steps = ColumnTransformer([("a", "passthrough", [1, 3]), ("b", "drop", [0, 2])])
    np.testing.assert_array_equal(entered([steps]).rows.X, X[:, [1, 3]])


@pytest.mark.parametrize(
    ("steps", "n_features"),
    [
        ([Normalizer()], 12),
        ([FunctionTransformer(np.abs)], 12),
        ([QuantileTransformer(n_quantiles=20)], 12),
        ([SimpleImputer(), SplineTransformer(3)], 60),
        ([PolynomialFeatures(2, include_bias=False), SelectKBest(k=10)], 90),
        ([Normalizer(), StandardScaler(), SelectKBest(k=3)], 12),
        ([Normalizer(), make_union(StandardScaler(), SelectKBest(k=4))], 12),
        ([Normalizer(), ColumnTransformer([("a", PCA(2), [0, 3, 4])])], 2),
        ([FastICA(4, random_state=0)], 4),
        ([Wrapped(StandardScaler()), SelectKBest(k=3)], 12),
    ],
)
def test_features_start_behind_a_step_that_is_not_affine(steps, n_features):
    model = entered(steps)
    assert model.rows.shape[1] == n_features
    assert model.broken_by is None


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ([SelectKBest(k=4), PolynomialFeatures(2)], "PolynomialFeatures"),
        ([LinearDiscriminantAnalysis(), SplineTransformer(3)], "SplineTransformer"),
        ([Wrapped(PLSRegression(3))], "Wrapped"),
        (
            [SelectKBest(k=4), PolynomialFeatures(2), StandardScaler(), Normalizer()],
            "PolynomialFeatures",
        ),
        (
            [make_column_transformer((TargetEncoder(), ["kind"]), (PCA(2), NAMES))],
            "TargetEncoder",
        ),
    ],
)
def test_a_step_with_y_that_is_not_affine_breaks_it(steps, name):
    model = entered(steps, FRAME if name == "TargetEncoder" else X)
    assert model.saw_y is not None
    assert model.broken_by == name
    assert model.rows is model.front


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_several_kinds(kind):
    rows = FRAME if kind == "pandas" else pl.DataFrame(FRAME.to_dict("list"))
    columns = make_column_transformer(
        (make_pipeline(StandardScaler(), SelectKBest(k=4)), NAMES[:8]),
        # scikit-learn 1.6 puts no polars columns beside sparse ones
        (OneHotEncoder(sparse_output=kind == "pandas"), ["kind"]),
        ("passthrough", NAMES[9:11]),
    )
    model = entered([columns, SelectKBest(k=5)], rows)
    assert model.rows.shape[1] == 8 + 3 + 2
    assert model.saw_y == "SelectKBest"
    columns.set_params(onehotencoder__sparse_output=False)
    if kind == "pandas":
        columns.set_output(transform="pandas")
        assert entered([columns], rows).rows.shape[1] == 13


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows_stay_sparse(make):
    rows = make(np.where(np.abs(X) > 3, X, 0.0))
    model = entered([MaxAbsScaler(), SelectKBest(k=4), TruncatedSVD(2)], rows)
    assert sparse.issparse(model.rows.X)
    assert model.rows.shape == (60, 12)


def test_pairs_of_classes_share_the_way_back():
    y = np.arange(60) % 3
    pipeline = make_pipeline(StandardScaler(), PCA(4), LogisticRegression()).fit(X, y)
    models = fitted_models(pipeline, X, y)
    assert [model.pair for model in models] == [(0, 1), (0, 2), (1, 2)]
    decision = pipeline.decision_function(X)
    for model in models:
        i, j = model.pair
        rows = np.isin(y, model.pair)
        theirs = (decision[:, j] - decision[:, i])[rows]
        np.testing.assert_array_equal(model.rows.X, X[rows])
        np.testing.assert_array_equal(model.positive, y[rows] == j)
        scale = np.ptp(theirs) / np.ptp(model.score)
        ours = scale * (model.rows.X @ model.w)
        assert np.ptp(ours - theirs) < 1e-9 * np.ptp(theirs)
        np.testing.assert_allclose(scale * (model.score - model.threshold), theirs)


class Chosen(TransformerMixin, BaseEstimator):
    """A step whose code can change, as that of an edited cell does."""

    @staticmethod
    def choose(X, y):
        return np.arange(3)

    def fit(self, X, y=None):
        self.kept_ = Chosen.choose(X, y)
        return self

    def transform(self, X):
        return X[:, self.kept_]


@pytest.mark.parametrize(
    "last", [LogisticRegression(), KNeighborsClassifier()], ids=str
)
def test_code_that_changed_has_its_own_report(last, monkeypatch):
    """The first version ignores y; the second one finds the best of 200 features."""
    noise, y = np.random.default_rng(1).normal(size=(40, 200)), np.arange(40) % 2

    def report():
        return bayesian_val_score(make_pipeline(Chosen(), last), noise, y)

    def best(X, y):
        return np.argsort(-abs((y - y.mean()) @ X))[:3]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntrustedAUCWarning)
        first = report()
        monkeypatch.setattr(Chosen, "choose", staticmethod(best))
        second = report()
        clear_cache()
        assert second.mean() == report().mean() != first.mean()
    assert second.interval(0.95)[0] < 0.5


class Scaled(TransformerMixin, BaseEstimator):
    """A step that uses y, in tiny units."""

    def fit(self, X, y):
        self.by_ = X.T @ (y - np.mean(y))
        return self

    def transform(self, X):
        return 1e-12 * X * self.by_


@pytest.mark.parametrize(
    ("step", "uses_y"),
    [
        (SelectKBest(k=3), True),
        (StandardScaler(), False),
        (make_pipeline(StandardScaler(), SelectKBest(k=3)), True),
        (Wrapped(PCA(3)), False),
        (Wrapped(SelectKBest(k=3)), True),
        (Scaled(), True),
        # chance is no use of y
        (RandomTreesEmbedding(5), False),
        (Wrapped(RandomTreesEmbedding(5)), False),
    ],
)
def test_whether_a_step_used_y(step, uses_y):
    fitted = clone(step).fit(X, Y)
    kept = map(FunctionTransformer, (fitted.transform, partial(fitted.transform)))
    for one in (step, FrozenEstimator(fitted), *kept):
        model = make_pipeline(one, LogisticRegression()).fit(X, Y)
        assert (fitted_models(model, X, Y)[0].saw_y is not None) == uses_y


PASSED = {
    "time stamp": lambda rng, n: 1.6e9 + rng.integers(0, 10**7, n),
    "milliseconds": lambda rng, n: 1.6e12 + rng.integers(0, 10**10, n),
    "identifier": lambda rng, n: rng.integers(10**7, 10**8, n),
    "constant": lambda rng, n: np.full(n, 1e9),
    "far": lambda rng, n: 1e9 + rng.normal(size=n),
    "small": lambda rng, n: 1e-9 * rng.normal(size=n),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.1, np.nan, 1e9),
}


@pytest.mark.parametrize("name", PASSED)
def test_a_column_of_another_unit_hides_no_step_that_used_y(name):
    """The step is behind another one, and so judged as a whole."""
    rng = np.random.default_rng(0)
    n, y = 80, np.arange(80) % 2
    X = np.column_stack([rng.normal(size=(n, 50)), rng.integers(0, 8, n)])
    X = np.column_stack([X, PASSED[name](rng, n)])
    best = make_pipeline(FunctionTransformer(_first_50), SelectKBest(k=5))
    one_hot = ("o", OneHotEncoder(), [50])
    passed = ("passed", "passthrough", [51])
    supervised = [
        ColumnTransformer([("k", SelectKBest(k=5), slice(0, 50)), passed]),
        ColumnTransformer([("t", TargetEncoder(), [50]), passed]),
        ColumnTransformer(
            [("k", SelectKBest(k=5), slice(0, 50)), one_hot, passed],
            sparse_threshold=1.0,
        ),
        FeatureUnion([("k", best), ("all", FunctionTransformer())]),
    ]
    innocent = ColumnTransformer(
        [("s", StandardScaler(), slice(0, 50)), one_hot, passed]
    )
    for step in (*supervised, innocent):
        ends = SimpleImputer(), MaxAbsScaler(), LogisticRegression()
        model = make_pipeline(FunctionTransformer(), step, *ends).fit(X, y)
        saw_y = fitted_models(model, X, y)[0].saw_y is not None
        assert saw_y == (step is not innocent)


def _first_50(X):
    return X[:, :50]


def test_features_far_from_0_behind_a_scaler_are_those_near_0():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    expected = bayesian_val_score(model, X, Y).mean()
    for far in (1e8, 1e8 * (np.arange(12) < 2), 1e12):
        found = bayesian_val_score(model, X + far, Y).mean()
        assert found == pytest.approx(expected, rel=1e-4)


def test_a_step_that_clips_these_rows_is_not_affine_here():
    cut = make_pipeline(MinMaxScaler(clip=True), LogisticRegression()).fit(X, Y)
    cut[0].min_ *= 0.5
    cut[0].scale_ *= 1.2  # rows lie outside now
    [model] = fitted_models(cut, X, Y)
    assert model.rows is model.front
    assert model.broken_by is None


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
    model = entered(steps, rows)
    assert model.saw_y == "SelectKBest"
    assert model.broken_by is None
    assert model.rows.shape[1] in (12, 13)


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
    "images": (
        FunctionTransformer(lambda A: np.reshape(A, (len(A), -1))),
        X.reshape(60, 3, 4),
        [np.array],
    ),
}


@pytest.mark.parametrize("name", ROWS_OF)
def test_rows_without_columns_are_judged_behind_their_step(name):
    step, rows, kinds = ROWS_OF[name]
    pipeline = make_pipeline(step, LogisticRegression()).fit(rows, Y)
    behind = step.transform(rows)
    for kind in (list, *kinds):
        [model] = fitted_models(pipeline, kind(rows), Y)
        assert model.rows.shape == behind.shape
        assert model.broken_by is None
        rest = model.rows.X @ model.w - model.score
        assert np.ptp(rest) <= 1e-9 * np.ptp(model.score)


def test_a_column_of_texts_beside_numbers():
    frame = FRAME[NAMES[:2]].assign(text=TEXTS)
    array = np.column_stack([np.array(TEXTS, dtype=object), X[:, 0].astype(object)])
    for rows, text, numbers in ((frame, "text", NAMES[:2]), (array, 0, [1])):
        columns = make_column_transformer(
            (TfidfVectorizer(), text), (StandardScaler(), numbers)
        )
        model = entered([columns], rows)
        assert model.rows.shape == model.front.shape
        assert model.saw_y is None


def test_a_frozen_step_that_used_no_y_and_one_that_did():
    for step, frozen in (
        (StandardScaler(), False),
        (make_pipeline(StandardScaler(), PCA(3)), False),
        (make_pipeline(StandardScaler(), None), False),
        (SelectKBest(k=3), True),
        (make_pipeline(StandardScaler(), SelectKBest(k=3)), True),
        (TargetEncoder(), True),
    ):
        model = make_pipeline(FrozenEstimator(step.fit(X, Y)), LogisticRegression())
        if frozen:
            with pytest.warns(UntrustedAUCWarning, match="Frozen.* is not refitted"):
                bootstrap_auc(model, X, Y, n_resamples=2)
        else:
            assert 0 <= bootstrap_auc(model, X, Y, n_resamples=2).auc <= 1
        bootstrap_auc(make_pipeline(step, LogisticRegression()), X, Y, n_resamples=2)


class Numbers(SelectorMixin, BaseEstimator):
    """Selects the columns of numbers."""

    def fit(self, X, y=None):
        self.numbers_ = np.array([dtype.kind == "f" for dtype in X.dtypes])
        return self

    def _get_support_mask(self):
        return self.numbers_

    def transform(self, X):
        return X.loc[:, self.numbers_]


def test_texts_that_a_selector_drops_are_no_features():
    model = entered([Numbers(), StandardScaler()], FRAME)
    assert model.rows.shape == (60, 12)
    assert model.broken_by is None
