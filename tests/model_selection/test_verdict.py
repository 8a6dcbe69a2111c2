"""Training rows and held-out rows: one table of models × rows × what is detected."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import NMF, PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
    GaussianAUCClassifier,
    UntrustedAUCWarning,
    auc_posterior,
)
from skauc.results import PairwiseAUCPosterior
from skauc.statistics._rows import Cache

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TRAINING, HELD_OUT = "training (detected)", "held-out (detected)"
ASSUMED = "training (assumed)"
CLOSED, REFITTED = AdaptivePrior(leave_pair_out=False), AdaptivePrior(refits=2)


def halves(n, P, seed=0, gap=0.8, n_classes=2):
    """Training rows and held-out rows of one source."""
    rng = np.random.default_rng(seed)
    y = np.arange(2 * n) // 2 % n_classes
    X = rng.standard_normal((2 * n, P)) + gap * y[:, None] / np.sqrt(P) * 2
    return (X[::2], y[::2]), (X[1::2], y[1::2])


def judged(estimator, X, y, weight=None, rows="auto"):
    question = {"sample_weight": weight, "rows": rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntrustedAUCWarning)
        try:
            found = auc_posterior(estimator, X, y, prior=CLOSED, **question)
        except TypeError:  # it is not linear
            found = auc_posterior(estimator, X, y, prior=REFITTED, **question)
    pairs = found.pairs.values() if isinstance(found, PairwiseAUCPosterior) else [found]
    [judgement] = {one.rows for one in pairs}
    return judgement


def scaled(model):
    return make_pipeline(StandardScaler(), model)


L1, ELASTIC = l1_part(1.0), l1_part(0.5)
DETECTED = {
    "logistic": LogisticRegression(),
    "weak penalty": LogisticRegression(C=100.0, max_iter=1000),
    "saga": LogisticRegression(solver="saga", max_iter=500),
    "stopped": LogisticRegression(solver="saga", max_iter=5, random_state=0),
    "liblinear": LogisticRegression(solver="liblinear"),
    "l1": LogisticRegression(solver="liblinear", **L1),
    "elastic net": LogisticRegression(solver="saga", max_iter=300, **ELASTIC),
    "svc": SVC(kernel="linear"),
    "nu svc": NuSVC(kernel="linear", nu=0.4),
    "linear svc": LinearSVC(),
    "hinge": LinearSVC(loss="hinge"),
    "ridge": RidgeClassifier(),
    "sag": RidgeClassifier(solver="sag"),
    "lda": LinearDiscriminantAnalysis(),
    "lda, auto": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "gaussian": GaussianAUCClassifier(),
    "lasso": Lasso(alpha=0.01),
    "perceptron": scaled(Perceptron()),
    "sgd": scaled(SGDClassifier(random_state=0)),
    "k best": scaled(make_pipeline(SelectKBest(k=3), LogisticRegression())),
    "pca": make_pipeline(PCA(3), LinearSVC(loss="hinge", random_state=0)),
    "ranges": make_pipeline(MinMaxScaler(), LogisticRegression()),
    "robust": make_pipeline(RobustScaler(), MaxAbsScaler(), SVC(kernel="linear")),
    "search": GridSearchCV(scaled(LogisticRegression()), {}, cv=2),
    "curved": make_pipeline(
        SelectKBest(k=3), PolynomialFeatures(2), LogisticRegression()
    ),
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(10, random_state=0),
    "kernel": SVC(),
}
# The solvers draw anew in every clone: no clone can decide without a scaler in front.
DRAWN = {"sgd anew": SGDClassifier(), "forest anew": RandomForestClassifier(10)}


@pytest.mark.parametrize("name", DETECTED)
def test_both_kinds_are_detected(name):
    for shape in [(60, 10), (60, 200), (300, 5)]:
        if shape == (300, 5) and name in ("forest", "kernel", "naive Bayes"):
            continue  # the same as with fewer rows
        for gap in (0.0, 0.8):
            here, there = halves(*shape, seed=1, gap=gap)
            model = clone(DETECTED[name]).fit(*here)
            assert judged(model, *here) == TRAINING, (shape, gap)
            assert judged(model, *there) == HELD_OUT, (shape, gap)


@pytest.mark.parametrize("name", DRAWN)
def test_chance_decides_nothing_wrongly(name):
    found = []
    for seed in range(3):
        here, there = halves(60, 10, seed)
        model = clone(DRAWN[name]).fit(*here)
        found.append((judged(model, *here), judged(model, *there)))
    assert not any(trained == HELD_OUT for trained, _ in found)
    assert not any(held_out == TRAINING for _, held_out in found)


CLASSES = {
    "softmax": LogisticRegression(),
    "saga": LogisticRegression(solver="saga", max_iter=10),
    "pairs": SVC(kernel="linear"),
    "lda": LinearDiscriminantAnalysis(),
    "ridge": RidgeClassifier(),
    "one vs rest": OneVsRestClassifier(LinearSVC()),
    "one vs one": OneVsOneClassifier(LogisticRegression()),
    "balanced": LogisticRegression(class_weight="balanced"),
    "scaled": scaled(LinearSVC()),
    "perceptron": scaled(Perceptron()),
}


@pytest.mark.parametrize("name", CLASSES)
def test_the_rows_of_more_classes_are_judged_at_once(name):
    here, there = halves(90, 8, n_classes=3)
    model = clone(CLASSES[name]).fit(*here)
    assert judged(model, *here) == TRAINING
    assert judged(model, *there) == HELD_OUT


def sparse_rows(X):
    return sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))


def frame(X):
    return pytest.importorskip("pandas").DataFrame(X).add_prefix("c")


KINDS = {
    "sparse": (sparse_rows, LogisticRegression()),
    "sparse l1": (sparse_rows, LogisticRegression(solver="liblinear", **L1)),
    "sparse scaler": (sparse_rows, make_pipeline(MaxAbsScaler(), SVC(kernel="linear"))),
    "frame": (frame, scaled(LogisticRegression())),
    "list": (np.ndarray.tolist, scaled(SVC(kernel="linear"))),
    "float32": (lambda X: X.astype(np.float32), scaled(LogisticRegression())),
    "true and false": (lambda X: X > 0, make_pipeline(PCA(3), LogisticRegression())),
    "far": (lambda X: X + 1e4, scaled(LinearDiscriminantAnalysis())),
    "mixed units": (
        lambda X: X * np.geomspace(1e-3, 1e3, X.shape[1]),
        LogisticRegression(),
    ),
    "units of 1e8": (lambda X: 1e8 * X, LogisticRegression(solver="liblinear")),
    "equal features": (lambda X: np.hstack([X[:, :3]] * 30), LinearSVC()),
}


@pytest.mark.parametrize("name", KINDS)
def test_rows_of_any_kind(name):
    make, model = KINDS[name]
    (X, y), (others, labels) = halves(100, 10)
    model = clone(model).fit(make(X), y)
    assert judged(model, make(X), y) == TRAINING
    assert judged(model, make(others), labels) == HELD_OUT


@pytest.mark.parametrize("P", [1, 2])
def test_few_features_are_the_hard_case(P):
    """Other rows may lead to nearly the same direction; the answers are near, too."""
    found = []
    for seed in range(12):
        here, there = halves(100, P, seed)
        model = LogisticRegression().fit(*here)
        assert judged(model, *here) == TRAINING
        found.append(judged(model, *there))
    assert found.count(TRAINING) <= 2
    assert found.count(HELD_OUT) >= 6


def test_rounded_rows_are_the_same_rows():
    (X, y), (others, labels) = halves(80, 20, gap=0.0)
    for model in (SVC(kernel="linear"), scaled(SVC(kernel="linear"))):
        model.fit(X, y)
        assert judged(model, X.astype(np.float32), y) == TRAINING
        assert judged(model, X.round(4), y) == TRAINING
        assert judged(model, others.astype(np.float32), labels) == HELD_OUT


# ----------------------------------------------------------------- weights, parts


WEIGHTED = {
    "l1": LogisticRegression(solver="liblinear", C=0.3, **L1),
    "l2": LogisticRegression(max_iter=5000),
    "ridge": RidgeClassifier(),
    "hinge": LinearSVC(loss="hinge", max_iter=50_000, random_state=0),
    "svc": SVC(C=0.1),
    "bayes": GaussianNB(),
    "auc": GaussianAUCClassifier(),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_the_fit(name):
    """Not given here, they make the rows no held-out rows behind their scaler."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 60)), rng.integers(0, 2, 100)
    for weight in (rng.integers(0, 4, 100).astype(float), np.where(y, 5.0, 1.0)):
        model = scaled(clone(WEIGHTED[name]))
        model.fit(X, y, **{f"{model.steps[-1][0]}__sample_weight": weight})
        assert judged(model, X, y, weight) == TRAINING
        near = TRAINING if weight.min() else ASSUMED  # costs hardly turn a direction
        assert judged(model, X, y) in (ASSUMED, near)
        others = rng.standard_normal((100, 60))
        assert judged(model, others, y, weight) == HELD_OUT


def test_weights_that_the_fit_did_not_have():
    (X, y), (others, labels) = halves(60, 8)
    weight = np.arange(60) % 3.0
    for model in (SVC(kernel="linear"), GaussianNB(), KNeighborsClassifier(5)):
        for rows in (np.arange(60), np.flatnonzero(weight)):
            fit = clone(model).fit(X[rows], y[rows])
            assert judged(fit, X, y, weight) == TRAINING
            assert judged(fit, others, labels, weight) == HELD_OUT


def test_rows_in_another_order_than_a_scaler_and_no_model_saw():
    """Permuted columns keep their means: no held-out rows, and not detected either."""
    (X, y), _ = halves(60, 10)
    model = scaled(LogisticRegression()).fit(X, y)
    permuted = np.random.default_rng(0).permuted(X, axis=0)
    assert judged(model, permuted, y) == ASSUMED


def test_most_of_the_rows_are_no_held_out_rows():
    (X, y), _ = halves(100, 4)
    for model in (LinearDiscriminantAnalysis(), LogisticRegression()):
        model.fit(X[:95], y[:95])
        assert judged(model, X, y) != HELD_OUT


# ------------------------------------------------------------ steps in front


def _noise(seed, n=100, P=20):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, P)) + (P < 60) * rng.gamma(1.0, size=(n, 1))
    return X, rng.permutation(np.arange(n) % 2)


def _with_holes(X):
    lost = np.random.default_rng(X.shape[1]).random(X.shape) < 1 / 3
    return np.where(lost, np.nan, X)


SAMPLED = IterativeImputer(sample_posterior=True, max_iter=2, random_state=0)
UNREPEATABLE = {
    "factors": (NMF(20, random_state=0, max_iter=1000), SVC(kernel="linear", C=100)),
    "imputer": (SAMPLED, SVC(kernel="linear")),
    "imputer, scaler": (SAMPLED, scaled(LogisticRegression())),
    "branch": (
        ColumnTransformer([("all", SAMPLED, slice(0, 10))]),
        scaled(RidgeClassifier()),
    ),
}


@pytest.mark.parametrize("name", UNREPEATABLE)
def test_rows_that_a_step_passed_on_in_its_fit_only_are_not_held_out(name):
    """The model behind such a step never saw the rows that transform returns."""
    step, end = UNREPEATABLE[name]
    X, y = _noise(0, n=60, P=40 if name == "factors" else 10)
    X = _with_holes(X) if name in ("imputer", "imputer, scaler", "branch") else X
    model = make_pipeline(clone(step), clone(end)).fit(X, y)
    assert judged(model, X, y) != HELD_OUT


def test_a_scaler_in_a_branch_is_evidence():
    (X, y), (others, labels) = halves(64, 6)
    X[3, 1] = others[7, 0] = np.nan
    inner = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer(
        [("none", StandardScaler(), []), ("numbers", inner, ["c0", "c1", "c2", "c3"])]
    )
    union = FeatureUnion(
        [("drop", "drop"), ("filled", SimpleImputer()), ("scaled", inner)]
    )
    for step, make in ((columns, frame), (union, np.asarray)):
        model = make_pipeline(step, SGDClassifier()).fit(make(X), y)
        assert judged(model, make(X), y) == TRAINING
        assert judged(model, make(others), labels) == HELD_OUT


class TargetMean(TransformerMixin, BaseEstimator):
    """Keeps a mean that is none of the columns."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def transform(self, X):
        return X - self.mean_


def test_a_mean_of_something_else_is_no_evidence():
    here, there = halves(60, 5)
    model = make_pipeline(TargetMean(), LogisticRegression()).fit(*here)
    assert judged(model, *here) == TRAINING
    assert judged(model, *there) == HELD_OUT


def test_whole_estimators_with_chance_and_stacks():
    (X, y), (others, labels) = halves(80, 5)
    kind = np.random.default_rng(0).integers(0, 30, (160, 1))
    members = [("a", LogisticRegression()), ("b", GaussianNB())]
    for model, columns in (
        (StackingClassifier(members, cv=3), False),
        (make_pipeline(TargetEncoder(), LogisticRegression()), True),
    ):
        rows, other = (kind[:80], kind[80:]) if columns else (X, others)
        model.fit(rows, y)
        assert judged(model, rows, y) != HELD_OUT
        assert judged(model, other, labels) != TRAINING


def test_chance_may_reverse_a_fit_to_noise():
    """Half of the fits to a feature of noise rank in the reverse order."""
    for seed in range(12):
        kind = np.random.default_rng(seed).integers(0, 30, (80, 1))
        model = make_pipeline(TargetEncoder(), LogisticRegression())
        model.fit(kind, np.arange(80) % 2)
        assert judged(model, kind, np.arange(80) % 2) != HELD_OUT


@pytest.mark.parametrize("n_classes", [2, 3])
def test_texts_that_are_encoded_before_any_scaler(n_classes):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.arange(200) % n_classes
    table = pandas.DataFrame({f"c{k}": rng.normal(size=200) + y for k in range(4)})
    table["kind"] = rng.choice(["m", "f"], 200)
    numbers = ("numbers", "passthrough", [f"c{k}" for k in range(4)])
    encode = ColumnTransformer([("kind", OneHotEncoder(), ["kind"]), numbers])
    for last in (LogisticRegression(), LinearSVC(loss="hinge", random_state=0)):
        model = make_pipeline(encode, last).fit(table[:100], y[:100])
        assert judged(model, table[:100], y[:100]) == TRAINING
        assert judged(model, table[100:], y[100:]) == HELD_OUT


def test_a_scaler_with_weights_and_missing_values():
    (X, y), _ = halves(200, 5)
    X, weight = _with_holes(X), np.random.default_rng(0).integers(1, 6, 200) * 1.0
    fill = FunctionTransformer(np.nan_to_num)
    model = make_pipeline(StandardScaler(), fill, LinearSVC(loss="hinge"))
    given = {"linearsvc__sample_weight": weight}
    model.fit(X, y, standardscaler__sample_weight=weight, **given)
    assert judged(model, X, y, weight) == TRAINING


def test_samplers_are_refitted_with_the_whole():
    imblearn = pytest.importorskip("imblearn")
    (X, y), (others, labels) = halves(80, 5, n_classes=4)
    sampler = imblearn.over_sampling.SMOTE(random_state=0)
    model = imblearn.pipeline.make_pipeline(sampler, LogisticRegression())
    model.fit(X, y == 0)
    assert judged(model, X, y == 0) == TRAINING
    assert judged(model, others, labels == 0) == HELD_OUT


def test_frozen_models_and_steps():
    (X, y), (others, labels) = halves(60, 8)
    model = LogisticRegression().fit(X, y)
    assert judged(FrozenEstimator(model), X, y) == TRAINING
    assert judged(FrozenEstimator(model), others, labels) == HELD_OUT
    # a scaler of other rows does not speak for the model
    elsewhere = FrozenEstimator(StandardScaler().fit(others))
    model = make_pipeline(elsewhere, SVC(kernel="linear")).fit(X, y)
    assert judged(model, X, y) == TRAINING


# ------------------------------------------------------------------ the verdict


def test_what_the_user_says_holds():
    here, _ = halves(40, 5)
    model = LogisticRegression().fit(*here)
    assert judged(model, *here, rows="held-out") == "held-out (given)"
    assert judged(model, *here, rows="training") == "training (given)"
    with pytest.raises(ValueError, match="rows must be one of 'auto', .*, got 'test'"):
        judged(model, *here, rows="test")


class Never(LogisticRegression):
    def fit(self, X, y):
        if hasattr(self, "coef_") or Never.trained:
            raise RuntimeError("never again")
        Never.trained = True
        return super().fit(X, y)

    trained = False


def test_where_no_clone_can_be_fitted_training_rows_are_assumed():
    here, there = halves(40, 5)
    model = Never().fit(*here)
    assert judged(model, *here) == ASSUMED
    assert judged(model, *there) == ASSUMED


def test_a_scaled_smooth_model_needs_no_clone(count_fits):
    here, there = halves(100, 20)
    model = scaled(LogisticRegression()).fit(*here)
    fits = count_fits(LogisticRegression)
    assert judged(model, *here) == TRAINING
    assert judged(model, *there) == HELD_OUT
    assert not fits


def test_fits_that_only_answer_a_question_are_silent():
    here, there = halves(60, 20)
    model = LinearSVC(loss="hinge", max_iter=3).fit(*here)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judged(model, *here)
        judged(model, *there)


def test_held_out_rows_of_two_features_do_not_pass_for_training_rows():
    """D/D_b of other rows is below .1 in about one of ten cases."""
    detected = 0
    for seed in range(60):
        here, there = halves(20, 2, seed)
        detected += judged(LogisticRegression().fit(*here), *there) == TRAINING
    assert detected <= 1


def test_kept_results_cannot_be_written():
    cache = Cache()
    kept = cache.cached("name", lambda: (np.arange(3.0), [np.ones((2, 2))[:1]]))
    for array in (kept[0], kept[1][0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_a_model_that_gives_its_rows_their_labels_knows_them():
    """One neighbour: no clone of copied rows differs, whichever rows it draws."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 8)), 4, axis=0) + 0.2 * rng.normal(size=(80, 8))
    y = np.repeat(np.arange(20) % 2, 4)
    model = KNeighborsClassifier(1).fit(X, y)
    assert auc_posterior(model, X, y).rows == "training (detected)"
