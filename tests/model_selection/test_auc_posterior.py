"""auc_posterior and bayesian_val_score: which model gets which answer, and its laws."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.covariance import OAS
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    NormalInverseWishart,
    ResubstitutionSplit,
    SampleWeightWarning,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    bee_scorer,
    cbauc_scorer,
    clear_cache,
    cv_auc_scorer,
    ebauc_scorer,
    lpo_auc_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)
from skauc.results import AUCPosterior, PairwiseAUCPosterior

X, Y = make_classification(
    120, 6, n_informative=3, n_redundant=0, flip_y=0.2, random_state=1
)
MODEL = LogisticRegression(C=0.5).fit(X, Y)
FREE = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
SILENT = pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")


def behind(*steps, last=None):
    return make_pipeline(*steps, last or LogisticRegression())


# -------------------------------------------------------------- which source answers

NEWTON = {  # smooth losses with an L2 penalty, and discriminants
    "logistic": LogisticRegression(C=0.5),
    "liblinear": LogisticRegression(solver="liblinear"),
    "balanced": LogisticRegression(class_weight="balanced"),
    "logistic cv": LogisticRegressionCV(Cs=3),
    "ridge": RidgeClassifier(),
    "ridge cv": RidgeClassifierCV(),
    "squared hinge": LinearSVC(),
    "lda": LinearDiscriminantAnalysis(),
    "lda shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "gaussian": GaussianAUCClassifier(shrinkage=0.1),
    "irls": IRLSLogisticRegression(C=1.0),
    "lda roc": LinearDiscriminantROC(),
    "scaled": behind(StandardScaler()),
    "components": behind(StandardScaler(), PCA(3)),
    "columns": behind(
        ColumnTransformer([("a", StandardScaler(), [3, 0]), ("b", "passthrough", [1])])
    ),
    "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **FREE),
    "frozen": FrozenEstimator(MODEL),
    "tuned": TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    "fixed": FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
}
REFITTED = {  # other losses and penalties, and steps that used y
    "l1": LogisticRegression(C=0.5, solver="liblinear", **l1_part(1)),
    "elastic net": LogisticRegression(solver="saga", max_iter=5000, **l1_part(0.5)),
    "hinge": LinearSVC(loss="hinge", C=0.1, max_iter=100_000, random_state=0),
    "svc": SVC(kernel="linear"),
    "sgd": SGDClassifier(alpha=0.1, random_state=0),
    "perceptron": Perceptron(random_state=0),
    "lda of another covariance": LinearDiscriminantAnalysis(
        solver="lsqr", covariance_estimator=OAS()
    ),
    "selected": behind(SelectKBest(k=3)),
    "eliminated": RFE(LogisticRegression(), n_features_to_select=4),
    "discriminant in front": behind(LinearDiscriminantAnalysis()),
    "polynomials of selected": behind(SelectKBest(k=2), PolynomialFeatures(2)),
    "search of steps": GridSearchCV(
        behind(SelectKBest()), {"selectkbest__k": [2, 4]}, **FREE
    ),
}


@SILENT
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of LogisticRegressionCV
@pytest.mark.parametrize("name", [*NEWTON, *REFITTED])
def test_source_and_rows(name):
    model = clone(NEWTON.get(name) or REFITTED[name]).fit(X, Y)
    posterior = auc_posterior(model, X, Y)
    assert posterior.second_source == ("leave-pair-out" if name in NEWTON else "refits")
    assert posterior.rows == "training (detected)"
    assert str(posterior.rows) in repr(posterior)
    low, high = posterior.interval(0.95)
    assert low < posterior.mean() < high
    assert 0.5 < posterior.leave_pair_out < 1
    assert cbauc_scorer(model, X, Y) == pytest.approx(posterior.choice(), abs=0.03)
    if name in NEWTON:  # a closed form needs no refits, and enters both
        assert cbauc_scorer(model, X, Y) == pytest.approx(posterior.choice(), rel=1e-9)


def test_any_classifier_has_folds():
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    with pytest.warns(UntrustedAUCWarning, match="a classifier neither linear nor an"):
        found = auc_posterior(forest, X, Y, prior=AdaptivePrior(refits=5))
    assert found.second_source == "folds"
    assert found.mean() < roc_auc_score(Y, forest.predict_proba(X)[:, 1])
    with pytest.warns(UntrustedAUCWarning) as issued:
        assert auc_posterior(forest, X, Y).second_source == "folds"
    assert "Fewer than 10 of the 10 members" in str(issued[0].message)
    with pytest.raises(TypeError, match="RandomForestClassifier is not linear"):
        auc_posterior(forest, X, Y, prior=AdaptivePrior(refits=0))


@SILENT
def test_folds_are_those_of_cross_validation():
    """Pairs within folds, each row left out once in a repeat of five folds."""
    A, b = X[:60], Y[:60]
    forest = RandomForestClassifier(10, random_state=0).fit(A, b)
    found = auc_posterior(forest, A, b, prior=AdaptivePrior(refits=10))
    plain = [
        roc_auc_score(
            b[test], clone(forest).fit(A[train], b[train]).predict_proba(A[test])[:, 1]
        )
        for seed in range(8)
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(
            A, b
        )
    ]
    # two repeats against eight: their difference has a deviation of about .03
    assert found.leave_pair_out == pytest.approx(np.mean(plain), abs=0.08)


@pytest.fixture
def fits(count_fits):
    return count_fits(SVC, LogisticRegression)


@pytest.mark.parametrize(("n", "count"), [(199, 20), (200, 10), (499, 10), (500, 5)])
def test_reports_refit_and_scorers_do_not(n, count, fits):
    A, b = make_classification(n, 4, flip_y=0.2, random_state=0)
    model = SVC(kernel="linear").fit(A, b)
    make_cbauc_scorer(rows="training")(model, A, b)
    assert len(fits) == 1
    auc_posterior(model, A, b, rows="training")
    assert len(fits) == 1 + count


@SILENT
@pytest.mark.parametrize("refits", [0, 3])
@pytest.mark.parametrize("steps", [(), (SelectKBest(k=3),)], ids=["alone", "selected"])
def test_refits_that_are_requested(refits, steps, fits):
    """Reports and scorers alike refit the whole estimator."""
    model = behind(*steps, last=SVC(kernel="linear")).fit(X, Y)
    question = {"prior": AdaptivePrior(refits=refits), "rows": "training"}
    found = auc_posterior(model, X, Y, **question)
    assert found.second_source == ("refits" if refits else None)
    assert len(fits) == 1 + refits
    score = make_cbauc_scorer(**question)(model, X, Y)
    assert score == pytest.approx(found.choice(), rel=1e-9)
    assert len(fits) == 1 + 2 * refits


def test_a_closed_form_fits_nothing(fits):
    model = LogisticRegression().fit(X, Y)
    for rows in ("training", "auto"):  # the gradient shows which rows they are
        auc_posterior(model, X, Y, rows=rows)
    assert fits == [120]
    bayesian_val_score(model, X, Y)
    assert fits == [120] * 2
    clear_cache()
    selected = behind(SelectKBest(k=3)).fit(X, Y)
    make_cbauc_scorer(rows="training")(selected, X, Y)
    assert fits == [120] * 3
    auc_posterior(selected, X, Y, rows="training")
    assert len(fits) == 3 + 20


# --------------------------------------------------------------- held-out rows, pairs


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_rows_have_their_empirical_auc(weighted):
    model = LogisticRegression().fit(X[:60], Y[:60])
    new, label = X[60:], Y[60:]
    w = 1.0 + np.arange(60) % 3 if weighted else None
    found = auc_posterior(model, new, label, rows="held-out", sample_weight=w)
    auc = roc_auc_score(label, model.decision_function(new), sample_weight=w)
    n = 60 if w is None else w.sum()
    expected = (auc * n + 0.5) / (n + 1)
    assert found.choice() == pytest.approx(expected, rel=1e-9)
    assert found.mean() == pytest.approx(expected, rel=1e-9)
    assert (found.rows, found.second_source) == ("held-out (given)", None)
    assert found.warnings == ()


@pytest.mark.slow
def test_intervals_of_held_out_rows_cover_unequal_classes():
    """As those of auc_estimate do: 40 + 10 rows with deviations 1 and 3."""
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    truth, y = stats.norm.cdf(1.5 / np.sqrt(10)), np.arange(50) >= 40
    inside = []
    for seed in range(300):
        score = np.random.default_rng(seed).normal(size=50) * (1 + 2 * y) + 1.5 * y
        found = auc_posterior(model, score[:, None], y.astype(int), rows="held-out")
        low, high = found.interval(0.95)
        inside.append(low <= truth <= high)
    assert 0.92 <= np.mean(inside) <= 0.98


def test_rows_that_are_judged_to_be_held_out():
    """A report says so, since a part of the training rows looks the same."""
    model, old = behind(StandardScaler()).fit(X, Y), X[:, 0] > 0
    with pytest.warns(UntrustedAUCWarning, match="they are treated as held-out rows"):
        found = auc_posterior(model, X[old], Y[old])
    assert found.rows == "held-out (detected)"
    clear_cache()
    with pytest.warns(UntrustedAUCWarning, match="they are treated as held-out rows"):
        cbauc_scorer(model, X[old], Y[old])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = auc_posterior(model, X[old], Y[old], rows="held-out")
    assert given.mean() == found.mean()
    with pytest.warns(UntrustedAUCWarning, match="is not at its optimum on these rows"):
        training = auc_posterior(model, X[old], Y[old], rows="training")
    assert training.rows == "training (given)"


A3, B3 = make_classification(
    150, 5, n_informative=4, n_redundant=0, n_classes=3, class_sep=0.6, random_state=2
)
PAIRS = [(0, 1), (0, 2), (1, 2)]


def pair_rule(model, i, j):
    """The pair's rule as a model of two classes."""
    rows = np.isin(B3, (i, j))
    pair = LogisticRegression().fit(A3[rows], B3[rows])
    pair.coef_ = (model.coef_[j] - model.coef_[i])[None]
    pair.intercept_ = model.intercept_[[j]] - model.intercept_[[i]]
    return pair, A3[rows], B3[rows]


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LinearDiscriminantAnalysis(), RidgeClassifier()],
    ids=repr,
)
@pytest.mark.parametrize("prior", ["paper", AdaptivePrior(leave_pair_out=False)])
def test_more_than_two_classes_are_their_pairs(model, prior):
    model = clone(model).fit(A3, B3)
    found = auc_posterior(model, A3, B3, prior=prior, rows="training")
    assert isinstance(found, PairwiseAUCPosterior)
    assert list(found.pairs) == PAIRS
    assert found.rows == "training (given)"
    doubts = [doubt for pair in found.pairs.values() for doubt in pair.warnings]
    assert set(found.warnings) == set(doubts)
    means, areas = [], []
    for i, j in PAIRS:
        pair = pair_rule(model, i, j)
        one = auc_posterior(*pair, prior=prior, rows="training")
        assert found.pairs[i, j].mean() == pytest.approx(one.mean(), rel=1e-9)
        assert found.pairs[i, j].std() == pytest.approx(one.std(), rel=1e-9)
        means.append(one.choice())
        areas.append(make_ebauc_scorer(prior=prior, rows="training")(*pair))
    for make, values in ((make_cbauc_scorer, means), (make_ebauc_scorer, areas)):
        scorer = make(prior=prior, rows="training")
        assert scorer(model, A3, B3) == pytest.approx(np.mean(values), rel=1e-9)
        thin = sparse.csr_array(A3)
        assert scorer(model, thin, B3) == pytest.approx(np.mean(values), rel=1e-7)


@pytest.mark.parametrize(
    ("whole", "single"),
    [
        (SVC(kernel="linear", tol=1e-8), SVC(kernel="linear", tol=1e-8)),
        (OneVsOneClassifier(RidgeClassifier()), RidgeClassifier()),
    ],
    ids=["svc", "ridge"],
)
def test_one_vs_one_models_are_the_models_of_the_pairs(whole, single):
    prior = AdaptivePrior(leave_pair_out=False)
    found = auc_posterior(clone(whole).fit(A3, B3), A3, B3, prior=prior)
    for i, j in PAIRS:
        rows = np.isin(B3, (i, j))
        pair = clone(single).fit(A3[rows], B3[rows])
        one = auc_posterior(pair, A3[rows], B3[rows], prior=prior)
        assert found.pairs[i, j].mean() == pytest.approx(one.mean(), rel=1e-5)


# ------------------------------------------------------------------------------- laws


def same(found, expected, rel=1e-8):
    assert found.mean() == pytest.approx(expected.mean(), rel=rel)
    assert found.std() == pytest.approx(expected.std(), rel=max(rel, 1e-6))
    assert found.second_source == expected.second_source
    assert found.rows == expected.rows


TURN = np.random.default_rng(1).uniform(0.1, 10, 6)
LAWS = {  # model, X, y, options that must give the same answer as LAW_MODEL, X, Y
    "scale of coefficients": lambda m: (with_coef(m, 1e-9 * m.coef_), X, Y, {}),
    "scale and shift of features": lambda m: (
        with_coef(m, m.coef_ / TURN, m.intercept_ - m.coef_ @ (3 / TURN)),
        TURN * X + 3,
        Y,
        {},
    ),
    "another feature": lambda m: (
        with_coef(m, np.append(m.coef_, [[0.0]], axis=1)),
        np.column_stack([X, np.full(len(Y), 5.0)]),
        Y,
        {},
    ),
    "pos_label": lambda m: (m, X, Y, {"pos_label": 0}),
    "weights of one": lambda m: (m, X, Y, {"sample_weight": np.ones(len(Y))}),
}
PRIORS = {
    "adaptive": "adaptive",
    "alone": AdaptivePrior(leave_pair_out=False),
    "flat": NormalInverseWishart(nu_neg=0, nu_pos=0, scale=0.0),
}


def with_coef(model, coef, intercept=None):
    """The model with other coefficients, of as many features."""
    out = LogisticRegression(C=0.5).fit(np.zeros((len(Y), coef.shape[1])), Y)
    out.coef_ = coef
    out.intercept_ = model.intercept_ if intercept is None else intercept
    return out


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("law", LAWS)
def test_laws(law, prior):
    question = {"prior": PRIORS[prior], "rows": "training"}
    if law == "another feature" and prior == "flat":
        pytest.skip("a conjugate prior speaks about every feature")
    if prior == "adaptive" and ("scale" in law or law == "another feature"):
        question["prior"] = PRIORS["alone"]  # the optimum depends on the units
    model = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(X, Y)
    expected = auc_posterior(model, X, Y, **question)
    other, *data, more = LAWS[law](model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(auc_posterior(other, *data, **question | more), expected, rel=1e-6)


@SILENT
@pytest.mark.parametrize("n", [2, 3, 10])
def test_small_classes_and_single_features(n):
    for P in [1, 2, 40]:
        rng = np.random.default_rng(P)
        y = (np.arange(n + 20) < n).astype(int)
        rows = rng.normal(size=(n + 20, P)) + 0.5 * y[:, None]
        found = bayesian_val_score(LogisticRegression(), rows, y)
        low, high = found.interval(0.95)
        assert 0 < low < found.mean() < high < 1
        assert high - low > 0.2
        assert found.second_source is not None
        assert np.isfinite(cbauc_scorer(LogisticRegression().fit(rows, y), rows, y))


def test_one_row_of_a_class_is_defined_by_the_prior():
    y = (np.arange(len(Y)) == 0).astype(int)
    model = LogisticRegression().fit(X, y)
    for covariance in ("common", "separate"):
        question = {"prior": "paper", "covariance": covariance}
        with pytest.warns(UntrustedAUCWarning, match="A class has only 1 row, so"):
            posterior = auc_posterior(model, X, y, **question)
        assert 0 < posterior.mean() < 1
        assert posterior.std() > 0


def published_formula(X, y, w, *, nu=0.5):
    """CBAUC of the paper from P×P matrices: m = 0, S = I, κ = P + 2."""
    P, n = X.shape[1], len(y)
    parts = [X[y == c] for c in (0, 1)]
    S = np.eye(P)
    for part in parts:
        centred = part - part.mean(axis=0)
        n_c, mean = len(part), part.mean(axis=0)
        S = S + centred.T @ centred + n_c * nu / (n_c + nu) * np.outer(mean, mean)
    nus = [len(part) + nu for part in parts]
    means = [part.sum(axis=0) / nu_c for part, nu_c in zip(parts, nus, strict=True)]
    D = w @ (means[1] - means[0])
    v, df = sum(1 / nu_c for nu_c in nus), P + 2 + n - P + 1
    return stats.t.cdf(D / np.sqrt((2 + v) * (w @ S @ w) / df), df)


def test_the_published_prior_is_the_published_formula():
    """In a Pipeline it speaks about the features in front of the model."""
    expected = published_formula(X, Y, MODEL.coef_[0])
    found = auc_posterior(MODEL, X, Y, prior="paper")
    assert found.mean() == pytest.approx(expected, rel=1e-12)
    pipe = behind(StandardScaler()).fit(100 * X, Y)
    expected = published_formula(pipe[0].transform(100 * X), Y, pipe[-1].coef_[0])
    found = auc_posterior(pipe, 100 * X, Y, prior="paper")
    assert found.mean() == pytest.approx(expected, rel=1e-12)


def test_extreme_units_and_shifts():
    flat = PRIORS["flat"]
    base = auc_posterior(MODEL, X, Y, prior=flat).mean()
    for unit in (1e-60, 1e60):
        scaled = with_coef(MODEL, MODEL.coef_ / unit)
        found = auc_posterior(scaled, X * unit, Y, prior=flat)
        assert found.mean() == pytest.approx(base, rel=1e-12)
    for prior, same_answer in ((flat, True), ("paper", False)):
        base = auc_posterior(MODEL, X, Y, prior=prior).mean()
        moved = auc_posterior(MODEL, X + 20, Y, prior=prior).mean()
        assert (moved == pytest.approx(base, rel=1e-9)) is same_answer


@pytest.mark.parametrize(
    "model", [LinearDiscriminantAnalysis(), IRLSLogisticRegression()], ids=repr
)
def test_a_feature_of_small_units(model):
    """A weak penalty that is added for numerics must not remove it."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 4))
    X[:, 0] += 2 * y
    expected = auc_posterior(model.fit(X, y), X, y)
    for unit in (1e-4, 1e-7):
        Z = X * [unit, 1, 1, 1]
        found = auc_posterior(model.fit(Z, y), Z, y)
        assert found.leave_pair_out == pytest.approx(expected.leave_pair_out, rel=1e-6)
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-6)


# the model of the data set does not see the small difference, and its report says so
@pytest.mark.filterwarnings("ignore:The AUC is 0.57 by the model")
@pytest.mark.parametrize("gap", [1e-3, 1e-4])
def test_classes_that_a_small_difference_of_features_separates(gap):
    rng = np.random.default_rng(0)
    y, a = np.arange(200) % 2, rng.normal(size=200)
    X = np.c_[a, a + gap * (rng.normal(size=200) + 8 * y), rng.normal(size=(200, 3))]
    model = LogisticRegression(
        C=1e12, solver="newton-cholesky", max_iter=300, tol=1e-10
    )
    assert auc_posterior(model.fit(X, y), X, y).mean() > 0.95


@pytest.mark.filterwarnings("ignore:It could not be detected")
def test_models_of_a_feature_that_is_constant_in_each_class():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = np.c_[y, rng.normal(size=(100, 3))]
    for model in (
        LogisticRegression(),
        LogisticRegression(solver="liblinear", **l1_part(1.0)),
    ):
        assert cbauc_scorer(model.fit(X, y), X, y) > 0.99
        assert auc_posterior(model, X, y, rows="training").mean() > 0.99


def test_rows_that_are_alike_behind_a_selector_in_any_order():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    chance = 0.5 + 0.25 * np.outer(y - 0.5, np.arange(60) < 12)
    X = (rng.random((40, 60)) < chance).astype(float)
    model = make_pipeline(SelectKBest(k=2), LogisticRegression()).fit(X, y)
    orders = [np.arange(40)] + [rng.permutation(40) for _ in range(3)]
    found = [auc_posterior(model, X[i], y[i], rows="training").mean() for i in orders]
    assert found == pytest.approx([found[0]] * 4, rel=1e-6)


def test_models_that_rank_nothing():
    flat = with_coef(MODEL, 0 * MODEL.coef_)
    for model, rows, text in (
        (flat, X, "1/2 because the coefficients of Logistic.* are all 0"),
        (MODEL, np.full_like(X, 0.1), "1/2 because all scores of Logistic.* are equal"),
    ):
        with pytest.warns(UndefinedMetricWarning, match=text):
            posterior = auc_posterior(model, rows, Y, rows="training")
        assert isinstance(posterior, AUCPosterior)
        assert posterior.mean() == 0.5
        assert posterior.interval() == pytest.approx((0.5, 0.5), abs=1e-12)


# -------------------------------------------------------------------------- sentences


def noise(n, P, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, P)), (np.arange(n) < share * n).astype(int)


def oversampled(near):
    rows, y = noise(160, 10, 1 / 8)
    some = np.append(np.arange(160), np.arange(120) % 20)
    rng = np.random.default_rng(1)
    return rows[some] + near * rng.normal(size=(280, 10)), y[some]


def fitted(model, rows, y, **weight):
    return clone(model).fit(rows, y, **weight), rows, y


SKEWED = np.arange(len(Y)) % 5 + 1.0
RELATIVE = np.resize([0.5, 1.7, 2.0], len(Y))
STOPPED = LogisticRegression(solver="saga", max_iter=1, random_state=0)
BROKEN = behind(SelectKBest(k=2), PolynomialFeatures(2))
NEVER = AdaptivePrior(refits=0)
L1 = REFITTED["l1"]
ROWS = {"rows": "training"}
METHOD = FunctionTransformer(SelectKBest(k=3).fit(X, Y).transform)
FROZEN = "a FrozenEstimator, .* is not refitted, .*: if it was fitted to these rows"
SENTENCES = {
    "few rows": (
        lambda: fitted(L1, X[40:57], Y[40:57]),
        {},
        "a class has only . rows, .*: report its interval, not only its mean",
    ),
    "relative weights": (
        lambda: fitted(MODEL, X, Y, sample_weight=RELATIVE),
        {"sample_weight": RELATIVE},
        r"The weights w in sample_weight are not counts of rows: .* divide w by",
    ),
    "copies": (
        lambda: fitted(MODEL, *oversampled(0)),
        {},
        "120 of 280 rows are copies of others .a weight of 2 counts as one copy",
    ),
    "near copies": (
        lambda: fitted(MODEL, *oversampled(0.01)),
        {},
        r"50 % of the rows have a near copy of the same class.*class_weight",
    ),
    "held-out": (
        lambda: (behind(StandardScaler()).fit(X, Y), X[X[:, 0] > 0], Y[X[:, 0] > 0]),
        {},
        "treated as held-out rows. If any of them trained the model",
    ),
    "nothing left out": (
        lambda: fitted(L1, *noise(40, 60)),
        {"prior": NEVER},
        "[Tt]here are 60 features for 40 rows and no AUC of rows left out",
    ),
    "supervised step": (
        lambda: fitted(behind(SelectKBest(k=3)), X, Y),
        {"prior": NEVER},
        r"SelectKBest used y, and a single fit cannot .*AdaptivePrior\(refits=5\)",
    ),
    "no closed form": (
        lambda: fitted(BROKEN, X, Y),
        {},
        "no closed form holds for PolynomialFeatures: its AUC comes only from fits",
    ),
    "closed form anyway": (
        lambda: fitted(BROKEN, X, Y),
        {"prior": NEVER},
        "no closed form holds for PolynomialFeatures, but one was used because",
    ),
    "frozen": (
        lambda: (FrozenEstimator(MODEL), X, Y),
        {"prior": AdaptivePrior(refits=3)},
        FROZEN,
    ),
    "frozen members": (
        lambda: fitted(BaggingClassifier(FrozenEstimator(MODEL), 80), X, Y),
        {},
        FROZEN,
    ),
    "a method of a fitted step": (lambda: fitted(behind(METHOD), X, Y), {}, FROZEN),
    "folds as lists": (
        lambda: fitted(
            CalibratedClassifierCV(cv=list(StratifiedKFold(3).split(X, Y))), X, Y
        ),
        {},
        "CalibratedClassifierCV .* not a list of folds.*training rows, .* far too high",
    ),
    "refits failed": (
        lambda: fitted(SVC(kernel="linear"), X, (np.arange(len(Y)) == 3).astype(int)),
        ROWS,
        "SVC could not be refitted to resampled rows",
    ),
    "stopped early": (
        lambda: fitted(STOPPED, X, Y),
        {},
        "LogisticRegression is not at its optimum on these rows, .* raise max_iter",
    ),
    "assumed": (
        lambda: fitted(
            behind(StandardScaler()), X, Y, logisticregression__sample_weight=SKEWED
        ),
        {},
        "it could not be detected whether these rows trained the LogisticRegression",
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SENTENCES)
def test_every_sentence_is_warned_of(name):
    """And every warning is a sentence of the posterior."""
    make, question, text = SENTENCES[name]
    model, rows, y = make()
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        posterior = auc_posterior(model, rows, y, **question)
    kinds = UntrustedAUCWarning, SampleWeightWarning
    said = [str(w.message) for w in issued if w.category in kinds]
    sentences = posterior.warnings
    assert set(said) == {s[0].upper() + s[1:] for s in sentences}
    assert any(re.match(f".*{text}", sentence) for sentence in sentences)


def test_a_clean_answer_has_no_warnings():
    for model in (*NEWTON.values(), L1, behind(SelectKBest(k=3))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            model = clone(model).fit(X, Y)
        assert auc_posterior(model, X, Y).warnings == ()


@pytest.mark.parametrize("scorer", [lpo_auc_scorer, cv_auc_scorer], ids=["lpo", "cv"])
def test_every_search_says_it_once_per_data_set(scorer):
    rows, y = oversampled(0)
    for _ in range(3):
        for data in ((rows, y), (rows[:250], y[:250])):
            model, grid = behind(StandardScaler()), {"logisticregression__C": [0.1, 1]}
            search = GridSearchCV(
                model, grid, scoring=scorer, cv=ResubstitutionSplit(), refit=False
            )
            with pytest.warns(UntrustedAUCWarning, match="are copies") as said:
                search.fit(*data)
            # folds are made anew for each of the two candidates
            assert len(said) == (2 if scorer is cv_auc_scorer else 1)


def test_copies_among_held_out_rows_and_coarse_features_are_no_doubt():
    rows, y = oversampled(0)
    model = LogisticRegression().fit(rows, y)
    assert not auc_posterior(model, rows, y, rows="held-out").warnings
    coarse = np.sign(X).round()
    assert not bayesian_val_score(LogisticRegression(), coarse, Y).warnings


@pytest.mark.parametrize("scorer", [ebauc_scorer, bee_scorer], ids=repr)
def test_scorers_of_closed_forms_say_where_none_holds(scorer):
    clear_cache()
    with pytest.warns(UntrustedAUCWarning, match="Score held-out rows"):
        scorer(clone(BROKEN).fit(X, Y), X, Y)


def test_names_of_features_that_only_the_fit_had():
    model = LogisticRegression().fit(pd.DataFrame(X).add_prefix("x"), Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        auc_posterior(model, X, Y, rows="training")


def test_three_classes_of_many_rows_have_a_narrow_interval():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 6000)
    X = rng.standard_normal((6000, 5)) + 0.5 * np.eye(3, 5)[y]
    found = auc_posterior(LogisticRegression().fit(X, y), X, y)
    assert found.std() < 0.02
    # two means are √½ apart along the best direction of their pair: AUC Φ(½)
    assert abs(found.mean() - stats.norm.cdf(0.5)) < 4 * found.std()
