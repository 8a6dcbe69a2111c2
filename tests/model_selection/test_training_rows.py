"""Training rows and held-out rows are told apart wherever anything tells."""

import tracemalloc
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from model_oracles import newcombe
from scipy import sparse
from scipy.special import ndtr, ndtri
from scipy.stats import chi2, norm
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import NMF, PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
    IRLSLogisticRegression,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
    clear_cache,
    diagnose,
    ebauc_score,
    make_bee_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.model_selection import _affine_steps, _second_source, _training_rows
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._model_posterior import _told
from skauc.model_selection._reasons import stopped_early
from skauc.model_selection._scored_model import score_model
from skauc.model_selection._second_source import left_out
from skauc.model_selection._training_rows import (
    _SHARED,
    _are_independent,
    _by_class_means,
    _by_least_values,
    _by_means,
    _by_objective,
    _by_span,
    _by_support_vectors,
    _cannot_be_training,
    _has_margin,
    _independent_columns,
    _rounded_ones,
    _standard_errors,
    _strange,
    bounds_of_gradient,
    told_rows,
    was_stopped,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def halves(n, P, seed=0, gap=0.8):
    rng = np.random.default_rng(seed)
    y = np.arange(2 * n) // 2 % 2
    X = rng.standard_normal((2 * n, P)) + gap * y[:, None] / np.sqrt(P) * 2
    return (X[::2], y[::2]), (X[1::2], y[1::2])


def told(model, X, y, weight=None):
    return told_rows(score_model(open_estimator(model, X), y, weight, None))


TOLD = [
    LogisticRegression(),
    LogisticRegression(solver="saga", max_iter=2000),
    LogisticRegression(solver="liblinear"),
    LinearSVC(),
    SVC(kernel="linear"),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    make_pipeline(StandardScaler(), Perceptron()),
    make_pipeline(MinMaxScaler(), SGDClassifier(random_state=0)),
]


@pytest.mark.parametrize("model", TOLD, ids=lambda model: repr(model)[:40])
@pytest.mark.parametrize("shape", [(60, 10), (60, 200), (500, 5)])
def test_both_kinds_are_told(model, shape):
    for seed in range(3):
        here, there = halves(*shape, seed=seed)
        model.fit(*here)
        ranges = isinstance(model, Pipeline) and isinstance(model[0], MinMaxScaler)
        # equal ranges prove nothing (counts start at 0 everywhere), others do
        assert told(model, *here) in ({"training", None} if ranges else {"training"})
        assert told(model, *there) == "held-out"


@pytest.mark.parametrize("model", [Perceptron(), SGDClassifier(random_state=0)])
def test_a_combination_of_the_rows_was_trained_by_them(model):
    here, there = halves(40, 200)
    model.fit(*here)
    assert told(model, *here) == "training"
    assert told(model, *there) != "training"


@pytest.mark.parametrize("solver", ["lbfgs", "saga"])
def test_a_solver_that_stopped_early_is_never_on_held_out_rows(solver):
    for seed in range(5):
        here, there = halves(60, 20, seed=seed)
        unit = 10.0 ** np.linspace(-2, 2, 20)
        model = LogisticRegression(solver=solver, max_iter=60)
        model.fit(here[0] * unit, here[1])
        assert told(model, here[0] * unit, here[1]) != "held-out"
        assert told(model, there[0] * unit, there[1]) != "training"


ARRIVED = {
    "saga": LogisticRegression(solver="saga", max_iter=5000, **l1_part(1.0)),
    "elastic net": LogisticRegression(solver="saga", max_iter=5000, **l1_part(0.5)),
    "cg": RidgeClassifier(solver="sparse_cg"),
    "lbfgs": LogisticRegression(),
    "liblinear": LogisticRegression(solver="liblinear"),
}


@pytest.mark.parametrize("unit", ["far", "large", "far, large", "mixed"])
@pytest.mark.parametrize("name", ARRIVED)
def test_a_solver_that_says_it_arrived_may_be_far_from_it(name, unit):
    """In features of any size no training rows are taken for others in silence."""
    for seed in range(2):
        here, there = halves(100, 20, seed=seed)
        size = np.geomspace(1e-4, 1e4, 20) if unit == "mixed" else 1.0
        size, far = {"far, large": (1e8, 1e8), "large": (1e8, 0.0)}.get(
            unit, (size, 0.0 if unit == "mixed" else 10.0)
        )
        here, there = ((X * size + far, y) for X, y in (here, there))
        model = ARRIVED[name].fit(*here)
        assert told(model, *here) != "held-out"
        assert told(model, *there) != "training"


@pytest.mark.parametrize("far", [0.0, 3.0])
def test_held_out_rows_of_an_l1_fit_are_told(far):
    here, there = halves(100, 20)
    for solver in ("liblinear", "saga"):
        model = LogisticRegression(solver=solver, max_iter=5000, **l1_part(1.0))
        model.fit(here[0] + far, here[1])
        assert told(model, there[0] + far, there[1]) == "held-out"


def test_features_without_a_spread_tell_nothing():
    """Of mean 1e8 and beside a penalised intercept, the spread is lost in rounding."""
    here, there = halves(100, 20)
    model = LogisticRegression(solver="liblinear").fit(here[0] + 1e8, here[1])
    assert told(model, there[0] + 1e8, there[1]) is None


def test_an_l1_fit_that_did_not_arrive_is_named_on_known_training_rows():
    (X, y), _ = halves(100, 20)
    X = X + 1e4
    model = LogisticRegression(solver="saga", max_iter=20_000, **l1_part(1.0))
    model.fit(X, y)
    assert model.n_iter_[0] < 20_000
    with pytest.warns(UntrustedAUCWarning, match="not at its optimum|was not reached"):
        auc_posterior(model, X, y, rows="training")


def test_a_stochastic_solver_counts_its_rows():
    (X, y), _ = halves(60, 10)
    model = SGDClassifier(random_state=0).fit(X, y)
    assert told(model, X[:50], y[:50]) == "held-out"
    assert told(model, X, y) != "held-out"


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_rows_in_batches_are_no_held_out_rows():
    """A number of steps that no whole passes make was that of other rows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 60)), np.arange(200) % 2
    further = SGDClassifier(random_state=0).fit(X, y).partial_fit(X[:48], y[:48])
    streamed = SGDClassifier(random_state=0)
    for rows in rng.permuted(np.tile(np.arange(200), (9, 1)), axis=1)[:, :192]:
        for batch in rows.reshape(6, 32):
            streamed.partial_fit(X[batch], y[batch], classes=[0, 1])
    for model in (further, streamed):
        assert told(model, X, y) != "held-out"
        posterior = auc_posterior(model, X, y)
        assert posterior.interval()[0] < 0.5
        assert posterior.warnings


def test_folds_of_a_stochastic_solver_are_held_out_whatever_their_number():
    """Steps on 80 rows are whole passes over 20 as well."""
    (X, y), (others, labels) = halves(80, 10)
    model = SGDClassifier(random_state=0).fit(X, y)
    assert told(model, others[:20], labels[:20]) == "held-out"


def test_rows_of_which_most_trained_a_discriminant_are_neither():
    (X, y), _ = halves(60, 4)
    model = LinearDiscriminantAnalysis().fit(X[:54], y[:54])
    assert told(model, X, y) is None


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_rounded_means_are_those_of_their_rows(kind):
    """In float32 a mean of 10⁶ is rounded to a standard error of 500 rows."""
    (X, y), _ = halves(500, 4)
    X = (30 * X + 1e6).astype(kind)
    assert told(LinearDiscriminantAnalysis(solver="lsqr").fit(X, y), X, y) == "training"


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_sparse_rows_span_what_dense_rows_span(unit):
    """Features in another unit and rows that stand twice do no harm."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(160, 400)) * (rng.random((160, 400)) < 0.1)
    X[:, :3] *= unit
    X[70:80] = X[:10]
    y = np.arange(160) % 2
    for model in (
        SGDClassifier(random_state=0),
        SGDClassifier(loss="log_loss", random_state=0, max_iter=3),
        SGDClassifier(penalty="l1", alpha=0.01, random_state=0),
    ):
        model.fit(X[:80], y[:80])
        for rows in (slice(80), slice(80, None)):
            found = []
            for Z in (X[rows], sparse.csr_array(X[rows])):
                scored = score_model(open_estimator(model, Z), y[rows], None, None)
                found.append(_by_span(scored))
            trained = rows.start is None and model.penalty == "l2"
            assert found[0] == found[1]
            if trained or unit == 1:  # three features in tiny units are all of w
                assert found[0] == ("training" if trained else None)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(solver="liblinear", dual=True), LinearSVC(dual=True)],
    ids=["logistic", "svc"],
)
def test_coordinates_of_the_dual_that_stopped_are_never_on_held_out_rows(model):
    """Of whole numbers, noise: the training AUC, .8, came as that of other rows."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.round(100 * rng.standard_normal((60, 30)))
        y = rng.permutation(60) < 24
        model.fit(X, y)
        assert told(model, X, y) != "held-out"
        assert auc_posterior(model, X, y).interval()[0] < 0.5


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_a_coarse_solver_without_a_largest_number_of_steps():
    (X, y), there = halves(80, 20)
    unit = 10.0 ** np.linspace(-3, 3, 20)
    model = RidgeClassifier(solver="lsqr", tol=1e-2).fit(X * unit, y)
    assert model.max_iter is None
    assert told(model, X * unit, y) != "held-out"
    assert told(model, there[0] * unit, there[1]) != "training"
    assert 0 < auc_posterior(model, X * unit, y).mean() < 1


def test_a_solver_that_stopped_near_its_optimum_needs_no_word():
    (X, y), _ = halves(60, 20)
    unit = 10.0 ** np.linspace(-1, 1, 20)
    optimum = LogisticRegression(tol=1e-10, max_iter=10_000).fit(X * unit, y)
    said = [[], [], []]
    for steps in range(2, 80, 4):
        model = LogisticRegression(max_iter=steps, tol=1e-10).fit(X * unit, y)
        scores = [m.decision_function(X * unit) for m in (model, optimum)]
        scored = score_model(open_estimator(model, X * unit), y, None, None)
        source, reason = left_out(scored)
        near = np.digitize(np.corrcoef(scores)[0, 1], [0.9, 0.999])
        said[near].append((source is None, reason))
    (lost,), (early,), (arrived,) = (set(some) for some in said)
    assert lost[0]
    assert "its optimum was not reached" in lost[1]
    assert not early[0]
    assert "stopped before its optimum" in early[1]
    assert arrived == (False, None)


def test_a_stochastic_solver_counts_rows_of_weight_zero():
    """Which may have been left out since: that it did not see these says nothing."""
    (X, y), _ = halves(200, 5)
    weight = np.resize([0.0, 1.0, 2.0], len(y))
    model = SGDClassifier(random_state=0).fit(X, y, sample_weight=weight)
    some = weight > 0
    assert told(model, X[some], y[some], weight[some]) == told(model, X, y, weight)
    assert told(model, X[some], y[some], weight[some]) != "held-out"


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier()])
def test_held_out_rows_are_judged_by_their_empirical_auc(model):
    here, (X, y) = halves(60, 30)
    model.fit(*here)
    posterior = auc_posterior(model, X, y)
    auc = roc_auc_score(y, model.decision_function(X))
    inside = (60 * auc + 0.5) / 61
    assert posterior.mean() == pytest.approx(inside, rel=1e-9)
    # a normal probit with Hanley and McNeil's variance by the delta method
    deviation = np.sqrt(newcombe(inside, 30, 30)) / norm.pdf(ndtri(inside))
    middle = ndtri(inside) * np.sqrt(1 + deviation**2)
    limits = ndtr(middle + deviation * norm.ppf([0.025, 0.975]))
    assert posterior.interval(0.95) == pytest.approx(limits, rel=1e-6)
    assert posterior.second_source is None
    alone = AdaptivePrior(leave_pair_out=False)
    forced = auc_posterior(model, X, y, rows="training", prior=alone)
    assert forced.mean() < inside - 0.02
    forced = auc_posterior(model, *here, rows="held-out")
    auc = roc_auc_score(here[1], model.decision_function(here[0]))
    assert forced.mean() == pytest.approx((60 * auc + 0.5) / 61, rel=1e-9)


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier()])
def test_rates_of_held_out_rows_are_those_of_one_feature(model):
    here, (X, y) = halves(60, 30)
    model.fit(*here)
    score = model.decision_function(X)
    expected = ebauc_score(y, score, covariance="separate")
    assert make_ebauc_scorer()(model, X, y) == pytest.approx(expected, rel=1e-9)
    # the threshold of both models is 0, and of their score as one feature, too
    itself = LogisticRegression().fit(score[:, None], y)
    itself.coef_, itself.intercept_ = np.ones((1, 1)), np.zeros(1)
    expected = make_bee_scorer()(itself, score[:, None], y)
    assert make_bee_scorer()(model, X, y) == pytest.approx(expected, rel=1e-9)


def test_held_out_rows_have_no_bias():
    """Of 40 models the mean error is within three standard errors of .02."""
    errors = []
    for seed in range(40):
        here, there = halves(60, 30, seed=seed)
        model = LogisticRegression(C=0.1).fit(*here)
        w = model.coef_.ravel()
        truth = ndtr(0.8 * 2 * w.sum() / np.sqrt(30) / np.linalg.norm(w) / np.sqrt(2))
        errors.append(auc_posterior(model, *there).mean() - truth)
    assert abs(np.mean(errors)) < 0.02 + 3 * np.std(errors) / np.sqrt(40)


def test_cross_val_score_means_what_it_says():
    (X, y), (X2, y2) = halves(100, 40, seed=3)
    X, y = np.vstack([X, X2]), np.append(y, y2)
    ours = cross_val_score(LogisticRegression(), X, y, scoring=cbauc_scorer, cv=5)
    theirs = cross_val_score(LogisticRegression(), X, y, scoring="roc_auc", cv=5)
    assert ours.mean() == pytest.approx(theirs.mean(), abs=0.04)


def test_where_nothing_tells_training_rows_are_assumed_and_said():
    (X, y), _ = halves(60, 10)
    model = Lasso(alpha=0.01).fit(X, y)
    with pytest.warns(UntrustedAUCWarning, match="Nothing in Lasso tells"):
        posterior = auc_posterior(model, X, y)
    assert any("which is assumed" in reason for reason in posterior.warnings)
    known = auc_posterior(model, X, y, rows="training")
    assert known.warnings == ("no AUC of rows left out beside the prior",)
    assert known.mean() == posterior.mean()


@pytest.mark.parametrize(
    "make", [make_cbauc_scorer, make_ebauc_scorer, make_bee_scorer]
)
def test_scorers_take_rows(make):
    here, _ = halves(60, 30)
    model = LogisticRegression().fit(*here)
    values = {rows: make(rows=rows)(model, *here) for rows in ("training", "held-out")}
    assert make()(model, *here) == values["training"] < values["held-out"]
    assert "rows='held-out'" in repr(make(rows="held-out"))
    with pytest.raises(ValueError, match="rows must be one of 'auto', .*, got 'test'"):
        make(rows="test")


def test_a_search_says_a_sentence_once():
    (X, y), _ = halves(8, 4)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": np.geomspace(0.01, 1, 20)},
        scoring=cbauc_scorer,
        cv=ResubstitutionSplit(),
        refit=False,
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        search.fit(X, y)
    said = [w for w in said if w.category is UntrustedAUCWarning]
    assert len(said) == 1
    assert str(said[0].message) == (
        "A class has only 4 rows: look at the interval, not at the number"
    )


def test_a_sentence_is_said_of_each_data_set_and_again_after_clear_cache():
    (X, y), _ = halves(8, 4)

    def said(rows):
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, y)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cbauc_scorer(model, rows, y)
        return [w.category for w in caught]

    clear_cache()
    one = [UntrustedAUCWarning]
    assert [said(X), said(X), said(2 * X), said(X), said(2 * X)] == [
        one,
        [],
        one,
        [],
        [],
    ]
    clear_cache()
    assert said(X) == one


def test_diagnosis_shows_the_sentences_of_the_posterior():
    (X, y), _ = halves(8, 4)
    model = LogisticRegression().fit(X, y)
    with pytest.warns(UntrustedAUCWarning, match="a class has only 4 rows|A class"):
        posterior = auc_posterior(model, X, y)
    assert set(posterior.warnings) <= set(diagnose(model, X, y).warnings)


def test_an_intercept_that_rounds_the_decisions_is_named(rng):
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60) > 0
    tiny = X * 1e-14
    model = LinearSVC().fit(tiny, y)
    rounding = np.finfo(float).eps * abs(model.intercept_[0])
    steps = np.ptp(tiny @ model.coef_[0]) / rounding
    assert len(np.unique(model.decision_function(tiny))) < 5
    with pytest.warns(UntrustedAUCWarning, match=f"is left {steps:.2g} steps"):
        posterior = auc_posterior(model, tiny, y, rows="training")
    assert any("digits of decision_function" in text for text in posterior.warnings)
    ordinary = auc_posterior(LinearSVC().fit(X, y), X, y)
    assert ordinary.warnings == ()


# ------------------------------------------------------------- what tells, one by one


def scored(model, X, y, weight=None):
    return score_model(open_estimator(model, X), y, weight, None)


def test_support_vectors_of_sparse_rows_and_of_either_zero():
    here, there = halves(40, 6)
    rows = [np.where(np.abs(X) > 0.5, X, -0.0) for X in (here[0], there[0])]
    model = SVC(kernel="linear").fit(rows[0], here[1])
    assert np.signbit(model.support_vectors_[model.support_vectors_ == 0]).all()
    plain = scored(model, rows[0] + 0.0, here[1])
    assert _by_support_vectors(plain) == "training"
    assert _by_support_vectors(scored(model, rows[1], there[1])) == "held-out"
    model = SVC(kernel="linear").fit(sparse.csr_array(rows[0]), here[1])
    assert told(model, sparse.csr_array(rows[0]), here[1]) == "training"
    assert told(model, sparse.csr_array(rows[1]), there[1]) == "held-out"


@pytest.mark.parametrize(
    ("off", "expected"),
    [(0.0099, "training"), (0.0105, None), (0.49, None), (0.52, "held-out")],
)
def test_means_of_a_discriminant_that_are_off_by_standard_errors(off, expected):
    (X, y), _ = halves(60, 4)
    model = LinearDiscriminantAnalysis().fit(X, y)
    for k in (0, 1):
        part = X[y == k]
        model.means_[k] += off * part.std(axis=0) / np.sqrt(len(part))
    assert _by_class_means(scored(model, X, y)) == expected


@pytest.mark.parametrize(
    ("off", "same"), [(0.0, True), (0.0099, True), (0.0105, False), (1.0, False)]
)
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_means_of_a_scaler_that_are_off_by_standard_errors(off, same, unit):
    X = unit * halves(60, 4)[0][0]
    mean = X.mean(axis=0) + off * X.std(axis=0) / np.sqrt(len(X))
    assert (_standard_errors(X, mean) < 0.01) == same


def test_a_mean_of_exactly_zero_is_known():
    X = np.resize([1.0, -1.0, 2.0, -2.0], 40)[:, None]
    assert _standard_errors(X, np.zeros(1)) == 0
    assert _standard_errors(X, np.full(1, 0.1)) > 0.01


def test_rounded_means_of_a_scaler_are_those_of_its_rows():
    (X, y), _ = halves(500, 4)
    X = (30 * X + 1e6).astype(np.float32)
    model = make_pipeline(StandardScaler(), Perceptron()).fit(X, y)
    model[0].mean_ = X.mean(axis=0, dtype=np.float32)
    assert told(model, X, y) == "training"


def test_two_features_are_told_whatever_the_length_of_w():
    here, there = halves(60, 2)
    model = LogisticRegression().fit(*here)
    model.coef_ *= 3
    assert told(model, *here) == "training"
    assert told(model, *there) == "held-out"


def test_without_the_weights_of_the_fit_the_scaler_tells():
    (X, y), _ = halves(60, 30, seed=1)
    weight = np.random.default_rng(0).integers(1, 3, 60)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(X, y, logisticregression__sample_weight=weight)
    assert told(model, X, y) == "training"
    assert told(model[-1], model[0].transform(X), y) is None


def weighted_noise(seed, n=100, P=60):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, P)), rng.integers(0, 2, n)
    return X, y, (rng.integers(0, 4, n).astype(float), np.where(y, 5.0, 1.0))


WEIGHTED = {
    "l1": LogisticRegression(**l1_part(1), solver="liblinear", C=0.3),
    "l2": LogisticRegression(max_iter=5000),
    "ridge": RidgeClassifier(),
    "squared hinge": LinearSVC(max_iter=50_000),
    "hinge": LinearSVC(loss="hinge", max_iter=50_000, random_state=0),
}


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("name", WEIGHTED)
def test_behind_their_scaler_weighted_rows_are_no_held_out_rows(name):
    """Of noise, fitted with weights that were not given here, L1 said .93."""
    for seed in range(3):
        X, y, weights = weighted_noise(seed)
        for weight in weights:
            model = make_pipeline(StandardScaler(), clone(WEIGHTED[name]))
            model.fit(X, y, **{f"{model.steps[-1][0]}__sample_weight": weight})
            assert told(model, X, y) != "held-out"
            posterior = auc_posterior(model, X, y)
            assert posterior.interval()[0] < 0.5


def test_where_the_optimum_alone_tells_the_posterior_says_so():
    """Rows that are weighted in the fit, and not here, look like other rows."""
    X, y, (weight, _) = weighted_noise(0)
    model = LogisticRegression(max_iter=5000, **l1_part(1), solver="liblinear")
    said = auc_posterior(model.fit(X, y, sample_weight=weight), X, y).warnings
    assert any("these rows are taken for held-out rows" in text for text in said)
    here, there = halves(100, 20)
    for other in (model, LinearDiscriminantAnalysis()):
        other.fit(*here)
        (said,) = auc_posterior(other, *there).warnings
        assert "these rows are taken for held-out rows" in said
        assert auc_posterior(other, *there, rows="held-out").warnings == ()
    for proof in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), Perceptron()),
        SVC(kernel="linear"),
    ):
        assert auc_posterior(proof.fit(*here), *there).warnings == ()


L1 = [
    LogisticRegression(**l1_part(1), solver="liblinear", C=0.5, tol=1e-8),
    LinearSVC(loss="hinge", tol=1e-8, max_iter=100_000, random_state=0),
]


@pytest.mark.parametrize("model", L1, ids=["l1", "hinge"])
def test_objectives_with_corners_are_told_by_their_optimum(model):
    here, there = halves(60, 8)
    model.fit(*here)
    assert told(model, *here) == "training"
    assert told(model, *there) == "held-out"


def test_an_optimum_that_is_not_there_tells_nothing():
    (X, y), _ = halves(60, 8)
    unknown = SGDClassifier(loss="hinge", penalty="l1", random_state=0).fit(X, y)
    assert _by_objective(scored(unknown, X, y)) is None
    model = SGDClassifier(loss="log_loss", penalty="l1", random_state=0).fit(X, y)
    model.alpha = 10.0  # under which all coefficients are 0
    assert _by_objective(scored(model, X, y)) is None
    source, reason = left_out(scored(unknown, X, y), told=False)
    assert source is None
    assert "its optimum was not reached" in reason
    source, reason = left_out(scored(model, X, y), told=False)
    assert source is None
    assert "its optimum was not reached" in reason


def test_a_hinge_that_stopped_early_is_named_on_known_training_rows_too():
    (X, y), _ = halves(60, 8)
    model = LinearSVC(loss="hinge", max_iter=3, C=10.0, random_state=0).fit(X, y)
    assert told(model, X, y) is None
    for known in (True, False):
        _, reason = left_out(scored(model, X, y), told=known)
        assert "optimum" in reason
    for rows in ("training", "auto"):
        with pytest.warns(UntrustedAUCWarning) as said:
            auc_posterior(model, X, y, rows=rows)
        assert any("optimum" in str(warning.message) for warning in said)


def test_who_cannot_have_stopped_on_these_rows():
    """A descent from 0 ends short of the best length, and near it after 50 steps."""
    fit, near = SimpleNamespace(w=np.ones(4)), SimpleNamespace(w=0.9 * np.ones(4))
    short = SimpleNamespace(w=0.39 * np.ones(4))
    long = SimpleNamespace(w=0.42 * np.ones(4))

    def model(**known):
        return SimpleNamespace(**{"solver": "lbfgs", "n_iter_": [60]} | known)

    assert _cannot_be_training(model(), fit, near, 0.8)
    assert not _cannot_be_training(model(), fit, near, 0.95)
    assert not _cannot_be_training(model(n_iter_=[49]), fit, near, 0.8)
    assert _cannot_be_training(model(n_iter_=51), fit, near, 0.8)
    for dual in (True, "auto"):  # coordinates of the dual descend elsewhere
        assert not _cannot_be_training(model(dual=dual), fit, short, 0.8)
    assert _cannot_be_training(model(dual=False), fit, short, 0.8)
    assert not _cannot_be_training(model(solver="saga"), fit, near, 0.8)
    assert _cannot_be_training(model(solver="saga"), fit, short, 0.8)
    assert not _cannot_be_training(model(solver="saga"), fit, long, 0.8)
    assert not _cannot_be_training(model(t_=61.0), fit, short, 0.8)
    assert not _cannot_be_training(model(), fit, None, 0.8)


def test_as_many_features_as_rows_span_everything():
    for P, expected in ((40, None), (41, None), (42, "training")):
        here, there = halves(40, P)
        model = Perceptron().fit(*here)
        assert told(model, *here) == expected
        assert told(model, *there) is None


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_equal_rows_span_as_well(unit):
    (X, y), _ = halves(20, 200)
    X, y = unit * np.vstack([X, X]), np.tile(y, 2)
    assert told(Perceptron().fit(X, y), X, y) == "training"


def test_how_far_from_the_span_of_its_rows_a_direction_may_be():
    """A thousandth of its own length."""
    (X, y), _ = halves(40, 200)
    model = Perceptron().fit(X, y)
    w = model.coef_[0].copy()
    outside = np.linalg.svd(X)[2][-1] * np.linalg.norm(w)
    for off, expected in ((9.9e-4, "training"), (1.05e-3, None)):
        model.coef_ = (w + off * outside)[None]
        assert told(model, X, y) == expected


def test_who_was_stopped():
    assert not was_stopped(SimpleNamespace(n_iter_=[3], max_iter=100))
    assert was_stopped(SimpleNamespace(n_iter_=[100], max_iter=100))
    assert was_stopped(SimpleNamespace(n_iter_=[3], max_iter=100, tol=0.01))
    assert not was_stopped(SimpleNamespace(max_iter=100, tol=0.01))
    assert not was_stopped(SimpleNamespace(n_iter_=None, max_iter=None, tol=0.01))
    assert not was_stopped(SimpleNamespace(n_iter_=[9], max_iter=None, tol=1e-4))
    (X, y), _ = halves(60, 8)
    assert not was_stopped(RidgeClassifier(max_iter=50).fit(X, y))


def test_steps_are_counted_on_all_rows_of_the_last_fit():
    """Also on those set aside to stop by, and not on those of a fit before."""
    (X, y), there = halves(60, 10)
    for how in ({"early_stopping": True}, {"warm_start": True}):
        model = SGDClassifier(random_state=0, **how).fit(there[0][:50], there[1][:50])
        model.fit(X, y)
        assert told(model, X, y) != "held-out"
        assert told(model, X[:-1], y[:-1]) == "held-out"


def test_a_scaler_of_sparse_rows_or_of_missing_values_tells_nothing():
    (X, y), _ = halves(60, 10)
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    scaler = StandardScaler(with_mean=False)
    assert told(make_pipeline(scaler, Perceptron()).fit(rows, y), rows, y) is None
    X[3, 4] = np.nan
    model = make_pipeline(StandardScaler(), SimpleImputer(), Perceptron()).fit(X, y)
    assert told(model, X, y) is None


@pytest.mark.parametrize(
    ("same", "expected"),
    [(0.89, "lost"), (0.91, "early"), (0.9985, "early"), (0.9995, None)],
)
def test_how_near_its_optimum_a_solver_must_have_stopped(same, expected, monkeypatch):
    """By the correlation of the scores, of columns that have none."""
    Z = np.linalg.qr(np.column_stack([np.ones(60), halves(60, 2)[0][0]]))[0][:, 1:]
    fit = PenalisedFit("logistic", 1.0, np.ones(60), np.array([1.0, 0.0]), 3.0, np.inf)
    optimum = replace(fit, w=np.array([same, np.sqrt(1 - same**2)]))
    monkeypatch.setattr(_second_source, "at_optimum", lambda *args, **how: optimum)
    question = fit, Z, np.arange(60) % 2 == 1, "It", None, stopped_early
    found, reason = _second_source._of_stopped(*question)
    assert (found is None) == (expected == "lost")
    texts = {
        "lost": "its optimum was not reached",
        "early": "stopped before its optimum",
    }
    assert (reason is None) if expected is None else (texts[expected] in reason)


def test_a_class_of_one_row_has_none_left_out():
    X = halves(20, 3)[0][0]
    one = (np.arange(20) == 7).astype(int)
    assert left_out(scored(LogisticRegression().fit(X, one), X, one)) == (None, None)


def test_ranges_far_from_zero_are_told_to_their_digits():
    here, there = halves(60, 5)
    model = make_pipeline(MinMaxScaler(), Perceptron()).fit(here[0] + 1e4, here[1])
    assert told(model, there[0] + 1e4, there[1]) == "held-out"
    assert told(model, here[0] + 1e4, here[1]) is None


def test_a_hinge_that_stopped_near_its_optimum_is_told():
    (X, y), there = halves(60, 3)
    model = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=10, random_state=0)
    model.fit(X, y)
    assert was_stopped(model)
    assert told(model, X, y) == "training"
    assert told(model, *there) != "training"


def test_one_row_much_longer_than_the_others_hides_none():
    (X, y), _ = halves(40, 200)
    X[0] *= 1000
    model = Perceptron().fit(X, y)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    model.coef_ = (np.where(y, 1.0, -1.0) @ unit)[None]
    assert told(model, X, y) == "training"


@pytest.mark.parametrize("n", [200, 600])
def test_without_a_penalty_no_unit_matters(n):
    """Features of 1e-4 to 1e4 lost their second source, and the smallest their say."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 8)), np.arange(n) % 2
    X[y == 1, :4] += 0.4
    means = []
    for size in (np.ones(8), np.geomspace(1e-4, 1e4, 8)):
        model = IRLSLogisticRegression().fit(X * size, y)
        posterior = auc_posterior(model, X * size, y)
        assert posterior.warnings == ()
        means.append((posterior.mean(), posterior.std()))
    np.testing.assert_allclose(*means, rtol=1e-4)


def test_rows_left_out_of_a_solver_that_arrived_elsewhere():
    here, there = halves(60, 10)
    model = LogisticRegression().fit(*here)
    assert left_out(scored(model, *here))[1] is None
    assert left_out(scored(model, *there))[1] is not None


def test_how_long_a_gradient_is_strange():
    """The lower 2 % of a random walk in k directions: those beside the model's own."""
    for k in (1, 2, 7):
        expected = np.sqrt(chi2.ppf(0.02, k) / (k + 1))
        assert _strange(k) == pytest.approx(expected, rel=1e-9)
        # of four walks the mean square
        expected = np.sqrt(chi2.ppf(0.02, 4 * k) / 4 / (k + 1))
        assert _strange(k, 4) == pytest.approx(expected, rel=1e-9)
        X = np.random.default_rng(k).normal(size=(100, k + 1))
        assert bounds_of_gradient(X, 5)[1] == _strange(k, 4)
    assert _strange(0) == _strange(1)


def test_which_gradient_is_that_of_other_rows(monkeypatch):
    monkeypatch.setattr(_training_rows, "_is_long", lambda *args: True)
    X, y = halves(60, 3)[0]
    asked = scored(LogisticRegression().fit(X, y), X, y)
    bound = np.sqrt(chi2.ppf(0.02, 2) / 3)  # of three features: two directions
    for gradient, expected in ((0.95 * bound, None), (1.05 * bound, "held-out")):
        asked.__dict__["near"] = asked.objective, gradient
        assert _by_objective(asked) == expected


def partly(case, P):
    """Rows of pure noise, and the part of them, or what was made of them, to fit."""
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((100, P)), np.arange(100) % 2
    chosen = {
        "a part": np.arange(80),
        "resampled": np.r_[np.arange(100), rng.choice(np.flatnonzero(y), 40)],
        "balanced": np.r_[np.flatnonzero(y), np.flatnonzero(1 - y)[:30]],
    }[case]
    return (X, y), (X[chosen], y[chosen])


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("P", [20, 300])
@pytest.mark.parametrize("case", ["a part", "resampled", "balanced"])
def test_rows_of_which_some_trained_the_model_are_no_held_out_rows(case, P):
    """Their empirical AUC was reported, up to 1.00 of noise, without a word."""
    here, fitted = partly(case, P)
    for model in (LogisticRegression(), RidgeClassifier()):
        model = make_pipeline(StandardScaler(), model).fit(*fitted)
        assert told(model, *here) != "held-out"
        low, high = auc_posterior(model, *here).interval(0.95)
        assert low < 0.5 < high


def test_a_part_of_the_rows_that_trained_the_scaler_is_no_held_out_sample():
    (X, y), _ = partly("a part", 20)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert told(model, X[:50], y[:50]) is None


@pytest.mark.parametrize("seed", range(3))
def test_weights_that_are_no_counts_are_named(seed):
    """Of noise they said .9: what is left out of a row of 1.5 leaves a half of it."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 150)), np.arange(60) % 2
    weight = rng.uniform(0.5, 1.5, 60)

    def ask(weight):
        model = LogisticRegression().fit(X, y, sample_weight=weight)
        return auc_posterior(model, X, y, sample_weight=weight)

    with pytest.warns(UntrustedAUCWarning, match="counts of rows.*divide relative"):
        named = ask(weight)
    assert any("divide relative" in said for said in named.warnings)
    remedy = ask(weight / weight.max())
    low, high = remedy.interval(0.95)
    assert low < 0.5 < high
    assert remedy.mean() < named.mean() - 0.05
    assert ask(np.ones(60)).warnings == ()
    for counts in (np.floor(2 * weight) + 1, (weight > 1) * 2.0):
        with pytest.warns(UntrustedAUCWarning, match="copies.*weights by the largest"):
            (said,) = ask(counts).warnings
        assert said.startswith(f"{counts.sum() - (counts > 0).sum():g} of ")


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("P", [8, 40])
def test_rows_of_which_some_trained_a_hinge(P, C):
    """Others have none on the margin; without any there the gradient tells."""
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((200, P)), np.arange(200) % 2
    model = LinearSVC(loss="hinge", C=C, max_iter=10**6, random_state=0)
    model.fit(X[:100], y[:100])
    gap = np.abs(1 - (2 * y - 1) * model.decision_function(X)) < 1e-3
    assert gap[100:].sum() == 0
    for some in (slice(90), slice(110)):
        assert told(model, X[some], y[some]) != "held-out"
        assert auc_posterior(model, X[some], y[some]).interval()[0] < 0.5
    assert told(model, X[100:], y[100:]) == "held-out"
    assert told(model, X[:100], y[:100]) == "training"


def test_how_many_rows_are_on_a_margin_by_chance():
    """Of 1.3 expected, 5 or more are .011 likely; of 1.2, 4 or more .034."""
    near, far = 1 + 9e-3 * np.ones(8), 1 + 2e-2 * np.ones(50)
    for on, expected in ((1, False), (4, False), (5, True)):
        Z = np.r_[np.full(on, 1.0005), near, far][:, None]
        rows, once = np.ones(len(Z), dtype=bool), np.ones(len(Z))
        fit = PenalisedFit("hinge", 1.0, once, np.ones(1), 0.0, np.inf)
        assert _has_margin(Z, rows, fit) == expected
        assert _has_margin(-Z - 1, ~rows, replace(fit, intercept=1.0)) == expected
        once[:on] = 0
        assert not _has_margin(Z, rows, fit)


@pytest.mark.parametrize("P", [5, 40])
@pytest.mark.parametrize("last", [LogisticRegression(), Perceptron()], ids=str)
def test_ranges_of_rows_of_which_some_are_shared(last, P):
    """Rows less or more have other ranges, which passed for those of other rows."""
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((150, P)), np.arange(150) % 2
    model = make_pipeline(MinMaxScaler(), last).fit(X[:100], y[:100])
    for some in (slice(90), slice(60), slice(110), slice(140)):
        assert told(model, X[some], y[some]) != "held-out"
    assert told(model, X[100:], y[100:]) == "held-out"
    single = X[:90].astype(np.float32)  # rounded, as in a file
    assert told(model, single, y[:90]) != "held-out"
    # a least value that many rows have says nothing, though the largest differ
    words = np.c_[rng.poisson(2.0, (150, P)), X[:, :1]].astype(float)
    model.fit(words[:100], y[:100])
    assert told(model, words[100:], y[100:]) == "held-out"
    counts, least = words[:, :P], words[:100, :P].min(axis=0)
    assert _by_least_values(counts[100:], least) is None
    assert _by_least_values(counts[100:], least - 1) is None
    # nor does a floor at 0 that other rows reach once
    floor = np.c_[np.abs(X[:50, :2]), X[:50, 2:4]]
    floor[7, :2] = 0
    lowest = floor.min(axis=0) - [0, 0, 0.1, 0.2]
    assert _by_least_values(floor, lowest) == "held-out"
    assert _by_least_values(floor[:, :2], lowest[:2]) is None
    assert _by_least_values(floor, floor.min(axis=0)) == _SHARED


@pytest.mark.parametrize("P", [1, 3, 30, 300])
def test_means_of_other_rows_are_seldom_called_near(P):
    """With the probability .005, whatever the number of columns."""
    rng = np.random.default_rng(1)
    mix = rng.standard_normal((P, P)) + 2.0 * rng.standard_normal(P)
    near = 0
    for _ in range(1000):
        seen, X = (rng.standard_normal((n, P)) @ mix for n in (40, 60))
        step = SimpleNamespace(n_samples_seen_=40)
        near += _by_means(step, X, seen.mean(axis=0)) != "held-out"
    assert near <= 13  # P(Binomial(1000, .005) > 13) = .0007


def test_independent_columns_are_counted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 8))
    assert _independent_columns(X) == pytest.approx(8, rel=0.02)
    assert _independent_columns(np.hstack([X, 3 * X])) == pytest.approx(8, rel=0.02)
    assert _independent_columns(X[:, :1]) == 1
    assert _independent_columns(np.ones((5, 2))) == 1


def test_no_products_of_many_rows_count_columns():
    X = np.random.default_rng(0).standard_normal((10_000, 40))
    tracemalloc.start()
    try:
        assert _independent_columns(X) == pytest.approx(40, rel=0.05)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 4


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_independent_columns_by_their_correlations(shape):
    n, P = shape
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape) @ (np.eye(P) + rng.standard_normal((P, P)))
    X += rng.standard_normal(P)
    squares = sum(
        np.corrcoef(X[:, j], X[:, k])[0, 1] ** 2 for j in range(P) for k in range(P)
    )
    expected = P**2 / (squares - P * (P - 1) / n)  # r² is 1/n by chance
    assert 1 < expected < P
    found = _independent_columns(np.column_stack([X / 100, np.ones(n)]))
    assert found == pytest.approx(expected)
    assert _independent_columns(sparse.csr_array(X)) == 1


@pytest.mark.parametrize(("P", "seen"), [(2, 40), (3, 40), (3, 90)])
def test_how_near_means_of_other_rows_may_be(P, seen):
    """``√(χ²_{P, .005}/P)`` of the deviation σ√(1/n + 1/m) of the gap."""
    signs = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    X = np.tile(signs.T[:, 1 : P + 1], (15, 1)).astype(float)  # uncorrelated, σ = 1
    step = SimpleNamespace(n_samples_seen_=seen)
    bound = np.sqrt(chi2.ppf(0.005, P) / P * (1 / 60 + 1 / seen))
    for share, expected in ((0.99, "neither"), (1.01, "held-out")):
        assert _by_means(step, X, np.full(P, share * bound)) == expected
    assert _by_means(step, X, np.full(P, 0.001)) == "training"
    assert _by_means(step, np.ones((60, P)), np.full(P, 2.0)) == "training"


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("P", [1, 5, 50])
def test_which_vectors_are_rounded_rows(unit, P):
    """In any unit, beside a column that does not vary."""
    rng = np.random.default_rng(2)
    rows, error = rng.standard_normal((12, P)), rng.standard_normal((12, P))
    rows[:, 0] = np.linspace(-2, 2, 12)
    others = rows + 0.05 * np.sign(error)
    for vectors, expected in ((rows + 1e-4 * error, True), (others, False)):
        found = _rounded_ones(
            np.column_stack([unit * vectors, np.full(12, 7.0)])[::-1],
            np.column_stack([unit * rows, np.full(12, 7.0)]),
        )
        np.testing.assert_array_equal(found, expected)


def test_rounded_is_less_than_a_hundredth_of_what_lies_between_rows():
    rows = np.linspace(-1, 1, 1001)[:, None]
    for share, expected in ((0.0095, True), (0.0105, False)):
        found = _rounded_ones(rows[1:-1] + share * 0.002, rows)
        np.testing.assert_array_equal(found, expected)


def test_rows_are_independent_but_for_their_mean():
    """Not of units of rows or of columns, nor of rows that stand twice, nor of 0."""
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((10, 30))
    sums = 1e-9 * (rows[:2] + rows[2:4])  # short rows count as long ones
    for more, expected in ((0, True), (1, True), (2, False)):
        X = np.vstack([rows, sums[:more], rows[:3], np.zeros((1, 30))])
        for unit in (1.0, 1e-7, np.where(np.arange(30) < 2, 1e8, 1e-3)):
            assert _are_independent(X * unit) == expected
    short = rows * np.where(np.arange(10) < 4, 1e-9, 1.0)[:, None]
    assert _are_independent(short)


def test_copied_features_span_all_rows():
    """A combination of six features is one of any sixty rows of them."""
    here, there = ((np.hstack([X] * 50), y) for X, y in halves(60, 6))
    model = Perceptron().fit(*here)
    assert told(model, *there) is None


@pytest.mark.parametrize(
    "rounded", [lambda X: X.astype(np.float32), lambda X: X.round(4)]
)
def test_support_vectors_of_rounded_rows(rounded):
    """Noise of which the rows came back as float32, or from a file, was .84."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 20)), np.arange(80) % 2
    for model in (
        SVC(kernel="linear"),
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
    ):
        exact = auc_posterior(model.fit(X, y), X, y).mean()
        assert auc_posterior(model, rounded(X), y).mean() == pytest.approx(
            exact, abs=0.01
        )
    other = rng.standard_normal((80, 20))
    assert told(model, rounded(other), y) == "held-out"


@pytest.mark.parametrize("copies", [1, 30])
@pytest.mark.parametrize("P", [1, 2])
def test_rows_near_support_vectors_of_few_features_are_no_rounded_ones(P, copies):
    """Of many rows along a line one is near every vector: they were training rows."""
    (X, y), (other, its_y) = halves(600, P)
    model = SVC(kernel="linear").fit(np.tile(X, copies), y)
    assert told(model, np.tile(other, copies), its_y) == "held-out"
    rounded = np.tile(X.astype(np.float32), copies)
    assert told(model, rounded, y) == "training"
    assert _by_support_vectors(scored(model, rounded[:500], y[:500])) is None


class SelectsInside(LogisticRegression):
    """Looks for its features in its own fit."""

    def fit(self, X, y):
        gap = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
        best = np.argsort(gap)[-3:]
        super().fit(X[:, best], y)
        coef = np.zeros((1, X.shape[1]))
        coef[0, best] = self.coef_
        self.coef_, self.n_features_in_ = coef, X.shape[1]
        return self


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_a_fit_of_somebody_s_own_may_lead_anywhere():
    """Its rows were called held-out: .78 [.67, .87] of noise, and not a word."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 200)), np.arange(80) % 2
    model = SelectsInside().fit(X, y)
    assert told(model, X, y) is None
    posterior = auc_posterior(model, X, y)
    assert "nothing in SelectsInside" in posterior.warnings[0]
    assert posterior.second_source is None
    assert auc_posterior(model, X, y, rows="training").second_source is None
    low, high = posterior.interval(0.95)
    assert low < 0.5 < high
    assert posterior.mean() < 0.65


class Counts(LogisticRegression):
    """A fit of its own that leads to the known optimum."""

    def fit(self, X, y):
        self.n_rows_ = len(X)
        return super().fit(X, y)


def test_a_fit_of_somebody_s_own_that_arrives_is_as_good():
    here, there = halves(60, 10)
    own, known = Counts().fit(*here), LogisticRegression().fit(*here)
    assert told(own, *here) == "training"
    assert told(own, *there) is None
    assert auc_posterior(own, *here).mean() == auc_posterior(known, *here).mean()
    scaled = make_pipeline(StandardScaler(), Counts()).fit(*here)
    assert told(scaled, *there) == "held-out"


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(
    "union",
    [
        lambda scaled: ColumnTransformer(
            [
                ("none", StandardScaler(), []),
                ("bins", KBinsDiscretizer(3), [5]),
                ("numbers", scaled, [0, 1, 2, 3]),
            ],
            remainder="passthrough",
        ),
        lambda scaled: FeatureUnion(
            [("drop", "drop"), ("filled", SimpleImputer()), ("scaled", scaled)]
        ),
    ],
)
def test_a_scaler_in_a_branch_tells(union, as_frame):
    """Of models of which nothing else does: .84 of held-out rows was .95."""
    (X, y), (other, its_y) = halves(64, 6)
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    model = make_pipeline(union(scaled), Perceptron())
    X[3, 1] = other[7, 0] = np.nan
    if as_frame:
        pd = pytest.importorskip("pandas")
        X, other = pd.DataFrame(X), pd.DataFrame(other)
    model.fit(X, y)
    assert told(model, X, y) == "training"
    assert told(model, other, its_y) == "held-out"


def test_means_that_differ_are_not_explained_by_costs_of_classes():
    """Columns that are nearly one: two costs solve what are no six equations."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [0, 2, 3, 20, 22, 23]]
    seen = []
    for seed in range(8):
        half = np.random.default_rng(seed).permutation(len(y))
        here, there = half[::2], half[1::2]
        model = make_pipeline(StandardScaler(), LogisticRegression(C=1e-4))
        model.fit(X[here], y[here])
        if (
            _training_rows._by_steps(
                score_model(open_estimator(model, X[there]), y[there], None, None)
            )
            == "held-out"
        ):
            seen.append(told(model, X[there], y[there]))
    assert seen
    assert "training" not in seen


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LogisticRegression(C=0.01), RidgeClassifier()],
    ids=["C=1", "C=.01", "ridge"],
)
@pytest.mark.parametrize("kinds", [1, 2])
@pytest.mark.parametrize("off", [1e-6, 1e-3])
def test_features_that_are_nearly_one_tell_held_out_rows(model, kinds, off):
    """Ten of each: the length of w tells, and two costs of classes explain nothing."""
    told_of = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        Z = np.repeat(rng.normal(size=(200, kinds)), 10, axis=1)
        Z += off * rng.normal(size=Z.shape)
        y = Z[:, 0] + rng.normal(size=200) > 0.3
        model = clone(model).fit(Z[:100], y[:100])
        assert told(model, Z[:100], y[:100]) == "training"
        told_of.append(told(model, Z[100:], y[100:]))
    assert told_of.count("training") <= 1  # one step may be 0 by chance
    assert told_of.count("held-out") >= 5


def _noise(seed, n=100, P=20):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, P)) + (P < 60) * rng.gamma(1.0, size=(n, 1))
    return X, rng.permutation(np.arange(n) % 2)


def _with_holes(X):
    """Features that are missing in a third of the rows."""
    lost = np.random.default_rng(X.shape[1]).random(X.shape) < 1 / 3
    return np.where(lost, np.nan, X)


class _Blurred(TransformerMixin, BaseEstimator):
    """Rows with noise in them, other noise each time."""

    def fit(self, X, y=None):
        self.rng_ = np.random.default_rng(0)
        return self

    def transform(self, X):
        return X + self.rng_.normal(size=X.shape)


def _sampled():
    return IterativeImputer(sample_posterior=True, max_iter=2, random_state=0)


def _factors():
    return NMF(20, random_state=0, max_iter=1000)


def _part():
    return ColumnTransformer([("all", _sampled(), slice(0, 20))])


@pytest.mark.parametrize(
    ("step", "end"),
    [
        (_factors, SVC(kernel="linear", C=100)),
        (_sampled, SVC(kernel="linear")),
        (_sampled, make_pipeline(StandardScaler(), LogisticRegression())),
        (_part, make_pipeline(StandardScaler(), RidgeClassifier())),
        (_Blurred, make_pipeline(StandardScaler(), LogisticRegression())),
    ],
)
def test_rows_that_a_step_gave_in_its_fit_only_are_not_held_out(step, end):
    """What stands behind such a step never saw the rows that transform gives."""
    found = []
    for seed in range(3):
        X, y = _noise(seed, P=60 if step is _factors else 20)
        X = _with_holes(X) if step in (_sampled, _part) else X
        model = make_pipeline(step(), clone(end)).fit(X, y)
        scored = score_model(open_estimator(model, X), y, None, None)
        found.append(told_rows(scored))
        assert _told(scored, (model, X, y)) in ("training", None)
    assert "held-out" in found  # of the model and its scaler alone


def test_of_more_classes_nothing_tells_behind_such_a_step():
    X, y = _with_holes(_noise(0)[0]), np.arange(100) % 3
    model = make_pipeline(_sampled(), SVC(kernel="linear")).fit(X, y)
    scorer = make_cbauc_scorer(prior=AdaptivePrior(leave_pair_out=False))
    with pytest.warns(UntrustedAUCWarning, match="Nothing in SVC tells"):
        assert scorer(model, X, y) < 0.65


def test_steps_that_give_the_same_rows_again_are_not_fitted_again(monkeypatch):
    X, y = _noise(3)
    others, labels = _noise(4)
    faithful = (
        make_union(PCA(5, random_state=0), SplineTransformer(3)),
        ColumnTransformer([("a", SimpleImputer(), [0, 1]), ("b", "passthrough", [2])]),
        make_pipeline(KNNImputer(), PowerTransformer()),
        Nystroem(n_components=10, random_state=0),
    )
    models = [make_pipeline(step, SVC(kernel="linear")).fit(X, y) for step in faithful]
    kernel = make_pipeline(KernelPCA(5, kernel="rbf", gamma=0.1), SVC(kernel="linear"))
    for model in (*models, kernel.fit(X, y)):
        found = auc_posterior(model, others, labels).mean()
        assert found == auc_posterior(model, others, labels, rows="held-out").mean()
    monkeypatch.setattr(_affine_steps, "_transforms_anew", None)
    for model in models:
        found = auc_posterior(model, others, labels).mean()
        assert found == auc_posterior(model, others, labels, rows="held-out").mean()


class _Plain(BaseEstimator):
    """A step without a fit_transform: a Pipeline calls fit and then transform."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.tanh(X)


class _Drawn(TransformerMixin, BaseEstimator):
    """Rows with noise in them, drawn anew unless there is a seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        rng = np.random.default_rng(self.random_state)
        return X + rng.normal(size=X.shape)


def test_what_a_step_gives_is_asked_as_a_pipeline_asks_it():
    X, y = _noise(5)
    assert not _affine_steps.gives_others(_Plain().fit(X), X, y)
    assert _affine_steps.gives_others(_Drawn().fit(X), X, y)
    assert not _affine_steps.gives_others(_Drawn(0).fit(X), X, y)


def test_fits_that_only_answer_a_question_say_nothing():
    X, y = _noise(6)
    holes = _with_holes(X)
    imputer = IterativeImputer(max_iter=2, tol=1e-9)  # says that it has not converged
    model = make_pipeline(NMF(15, max_iter=50), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer.fit(holes)
        model.fit(X, y)
    answers = []
    for action in ("error", "always"):
        _affine_steps._ANSWERS._items.clear()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter(action)
            rows = _noise(7)
            of_imputer = _affine_steps.gives_others(imputer, holes, y)
            answers.append((of_imputer, auc_posterior(model, *rows).mean()))
        assert not said
    assert answers[0] == answers[1]
    assert not answers[0][0]
