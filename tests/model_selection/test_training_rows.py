"""Training rows and held-out rows are told apart wherever anything tells."""

import warnings

import numpy as np
import pytest
from model_oracles import newcombe
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
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
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._scored_model import score_model
from skauc.model_selection._second_source import left_out
from skauc.model_selection._training_rows import told_rows

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
