"""Scorers as scikit-learn meets them."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import UndefinedMetricWarning, UnsetMetadataPassedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
    GaussianAUCClassifier,
    NormalInverseWishart,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    bee_scorer,
    cbauc_scorer,
    clear_cache,
    cv_auc_scorer,
    ebauc_scorer,
    lpo_auc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_cv_auc_scorer,
    make_ebauc_scorer,
    make_lpo_auc_scorer,
)

X, Y = make_classification(
    n_samples=100, n_features=6, n_informative=3, random_state=5, flip_y=0.15
)
WEIGHT = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
MODEL = LogisticRegression().fit(X, Y)
READY = [cbauc_scorer, ebauc_scorer, bee_scorer, cv_auc_scorer, lpo_auc_scorer]
PAPER = make_ebauc_scorer(prior="paper", covariance="common")
MAKE = [make_cbauc_scorer, make_ebauc_scorer, make_bee_scorer, make_cv_auc_scorer]
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
GRID = {"logisticregression__C": [1e-3, 1e-1, 10.0]}
COPIES = pytest.mark.filterwarnings("ignore:.* are copies of others")
UNDEFINED = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.UndefinedMetricWarning"
)


# ------------------------------------------------------------------ their numbers


@pytest.mark.parametrize(
    "question",
    [{"prior": "paper", "covariance": c} for c in ("common", "separate")]
    + [{"prior": NormalInverseWishart(scale=2.0)}, {}, {"rows": "held-out"}]
    + [{"prior": AdaptivePrior(leave_pair_out=False)}],
    ids=str,
)
def test_cbauc_is_the_choice_of_the_posterior(question):
    posterior = auc_posterior(MODEL, X, Y, **question)
    for scale in ("auc", "probit"):
        found = make_cbauc_scorer(scale=scale, **question)(MODEL, X, Y)
        assert type(found) is float
        assert found == pytest.approx(posterior.choice(scale), rel=1e-12)
    probit = make_cbauc_scorer(scale="probit", **question)(MODEL, X, Y)
    auc = make_cbauc_scorer(**question)(MODEL, X, Y)
    assert stats.norm.cdf(probit) == pytest.approx(auc, rel=1e-12)


def test_probit_scale_ranks_where_the_auc_saturates():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    Z = rng.standard_normal((2000, 2)) + 40 * y[:, None]
    models = []
    for direction in ([1.0, 1.0], [1.0, 0.5], [1.0, 0.0]):  # from best to worst
        model = LogisticRegression().fit(Z, y)
        model.coef_ = np.array([direction])
        models.append(model)
    with pytest.warns(UndefinedMetricWarning, match='rounds to 1.0.*scale="probit"'):
        plain = [make_cbauc_scorer(prior="paper")(model, Z, y) for model in models]
    assert plain == [1.0, 1.0, 1.0]
    probit = make_cbauc_scorer(prior="paper", scale="probit")
    values = [probit(model, Z, y) for model in models]
    assert values[0] > values[1] > values[2] > 8
    assert np.isfinite(values).all()


def test_ebauc_of_all_thresholds_is_cbauc_of_separate_covariances():
    A = X[:, :1]
    model = LogisticRegression().fit(A, Y)
    ebauc = make_ebauc_scorer(prior="paper", thresholds="all")(model, A, Y)
    cbauc = make_cbauc_scorer(prior="paper", covariance="separate")(model, A, Y)
    assert ebauc == pytest.approx(cbauc, rel=1e-12)


def test_bee_is_the_error_at_the_threshold_of_predict():
    """With n → ∞ it is the error on many new rows."""
    rng = np.random.default_rng(2)
    y = (np.arange(100_000) % 4 == 0).astype(int)
    Z = rng.standard_normal((len(y), 3)) + y[:, None]
    model = LogisticRegression().fit(Z[:500], y[:500])
    for prior in ("paper", "adaptive"):
        accuracy = make_bee_scorer(prior=prior, rows="training")(model, Z, y)
        expected = model.score(Z, y)
        assert accuracy == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(len(y)))


@UNDEFINED
@pytest.mark.parametrize("prior", ["paper", "adaptive"])
@pytest.mark.parametrize("threshold", [-0.5, 1.5, np.inf])
def test_a_cut_that_no_row_or_every_row_passes(threshold, prior):
    model = FixedThresholdClassifier(LogisticRegression(), threshold=threshold)
    accuracy = model.fit(X, Y).score(X, Y)  # the share of one class
    for label in (None, 0):
        scorer = make_bee_scorer(prior=prior, pos_label=label)
        assert scorer(model, X, Y) == pytest.approx(accuracy, rel=1e-12)
    flat, y = clone(MODEL).fit(X, Y), Y[Y.argsort()][20:]  # more positives
    flat.coef_[:] = 0
    assert ebauc_scorer(flat, X, Y) == 0.5
    for sign, share in ((1.0, y.mean()), (-1.0, 1 - y.mean())):
        flat.intercept_[:] = sign
        assert bee_scorer(flat, X[20:], y) == pytest.approx(share, rel=1e-12)


HELD_OUT = pytest.mark.filterwarnings("ignore:.* treated as held-out rows")
IN_FOLDS = {
    "logistic": LogisticRegression(),
    "strong penalty": LogisticRegression(C=0.01),
    "chosen penalty": LogisticRegressionCV(Cs=[0.1, 1.0], cv=3),
    "squared hinge": LinearSVC(),
    "ridge": RidgeClassifier(),
    "discriminant": LinearDiscriminantAnalysis(),
    "support vectors": SVC(kernel="linear"),
    "scaled": make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
}


@HELD_OUT
@pytest.mark.filterwarnings("ignore::FutureWarning")  # LogisticRegressionCV's defaults
@pytest.mark.parametrize("name", IN_FOLDS)
def test_held_out_rows_of_cross_validation(name):
    """The evidence that needs no fit recognises folds of 24 to 40 rows."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((200, 5)), np.arange(200) % 2
        n = 40 - seed % 3 * 8
        how = {"X": X[: 5 * n], "y": y[: 5 * n], "cv": 5}
        ours = cross_val_score(IN_FOLDS[name], scoring=cbauc_scorer, **how)
        theirs = cross_val_score(IN_FOLDS[name], scoring="roc_auc", **how)
        assert ours == pytest.approx((theirs * n + 0.5) / (n + 1), rel=1e-9)


def test_a_fold_that_was_not_trained_on_is_warned_of():
    with pytest.warns(UntrustedAUCWarning, match="treated as held-out rows"):
        cross_val_score(IN_FOLDS["scaled"], X, Y, scoring=cbauc_scorer)


# ------------------------------------------------------------------ rows left out


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (RidgeClassifier(alpha=3.0), 0.0),  # exact
        (
            LogisticRegression(C=0.3, solver="newton-cholesky", tol=1e-10),
            0.01,
        ),  # a Newton step
        (
            make_pipeline(StandardScaler(), RidgeClassifier()),
            0.02,
        ),  # one scaler for all
    ],
    ids=str,
)
def test_lpo_is_scikit_learns_leave_pair_out(model, error):
    A, b = X[:20], Y[:20]
    won = []
    for i in np.flatnonzero(b):
        for j in np.flatnonzero(b == 0):
            rows = np.setdiff1d(np.arange(20), [i, j])
            score = clone(model).fit(A[rows], b[rows]).decision_function(A[[i, j]])
            won.append(float(score[0] > score[1]))
    found = lpo_auc_scorer(model.fit(A, b), A, b)
    assert found == pytest.approx(np.mean(won), abs=error + 1e-9)
    assert 0.5 < found < roc_auc_score(b, model.decision_function(A))


@pytest.mark.filterwarnings("ignore")  # classes that are separated, early stops
def test_lpo_is_that_of_an_optimum():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((50, 120)), np.arange(50) % 2
    near, far = (
        LogisticRegression(solver="saga", max_iter=k, random_state=0).fit(A, b)
        for k in (100, 3)
    )
    separated = LogisticRegression(C=1e8, max_iter=1000).fit(A, b)
    for model in (near, separated, far):
        prior = AdaptivePrior(refits=0) if model is far else "adaptive"
        found = auc_posterior(model, A, b, prior=prior).leave_pair_out
        assert lpo_auc_scorer(model, A, b) == pytest.approx(found, abs=1e-12)
    with pytest.warns(UntrustedAUCWarning, match="rows left out of the optimum"):
        lpo_auc_scorer(far, A, b)


def test_a_model_that_keeps_its_cross_validation_is_no_search():
    model = RidgeClassifierCV(store_cv_results=True).fit(X, Y)
    plain = RidgeClassifier(alpha=model.alpha_).fit(X, Y)
    assert cbauc_scorer(model, X, Y) == pytest.approx(cbauc_scorer(plain, X, Y))


def test_lpo_errors():
    with pytest.raises(ValueError, match="X must be the rows .* that trained the Log"):
        lpo_auc_scorer(LogisticRegression().fit(X[:60], Y[:60]), X[60:], Y[60:])
    for label in (None, 0, 1):
        with pytest.raises(
            TypeError, match="Ridge has no leave-pair-out AUC in closed"
        ):
            make_lpo_auc_scorer(pos_label=label)(Ridge().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="y_true must hold two classes, got 3"):
        lpo_auc_scorer(
            LogisticRegression().fit(X, Y + (X[:, 0] > 1)), X, Y + (X[:, 0] > 1)
        )
    one = (np.arange(len(Y)) == 3).astype(int)
    with pytest.warns(UndefinedMetricWarning, match="undefined and set to nan because"):
        assert np.isnan(lpo_auc_scorer(LogisticRegression().fit(X, one), X, one))
    flat = clone(MODEL).fit(X, Y)
    flat.coef_[:] = 0
    with pytest.warns(UndefinedMetricWarning, match="1/2 because the coefficients"):
        assert lpo_auc_scorer(flat, X, Y) == 0.5


def test_cv_is_cross_val_score():
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_score(LogisticRegression(), X, Y, cv=cv, scoring="roc_auc")
    for scorer in (cv_auc_scorer, make_cv_auc_scorer(cv=cv, n_jobs=2)):
        with parallel_config("threading"):
            assert scorer(MODEL, X, Y) == pytest.approx(expected.mean(), rel=1e-14)
    assert make_cv_auc_scorer(cv=np.int64(5))(MODEL, X, Y) == cv_auc_scorer(MODEL, X, Y)
    once = make_cv_auc_scorer(cv=iter(list(KFold(4).split(X))))
    assert once(MODEL, X, Y) == once(MODEL, X, Y)


def test_cv_never_flips_signs_on_noise():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    model = RidgeClassifier()
    values = [cv_auc_scorer(model, rng.normal(size=(40, 5)), y) for _ in range(40)]
    # mean .48 in the literature's run; flipping gives .67; the standard error is .013
    assert np.mean(values) == pytest.approx(0.49, abs=0.05)
    assert min(values) < 0.4


@COPIES
def test_cv_weights_repeat_rows():
    halves = [(np.arange(50, 100), np.arange(50)), (np.arange(50), np.arange(50, 100))]
    rows = np.repeat(np.arange(100), WEIGHT.astype(int))
    sides = np.flatnonzero(rows >= 50), np.flatnonzero(rows < 50)
    model = LogisticRegression(tol=1e-10, max_iter=1000)
    found = make_cv_auc_scorer(cv=halves)(model, X, Y, sample_weight=WEIGHT)
    repeated = make_cv_auc_scorer(cv=[sides, sides[::-1]])(model, X[rows], Y[rows])
    assert found == pytest.approx(repeated, rel=1e-9)
    weight = np.resize([0.0, 1.0, 1.0], 100)
    some = weight > 0
    found = cv_auc_scorer(MODEL, X, Y, sample_weight=weight)
    assert found == pytest.approx(cv_auc_scorer(MODEL, X[some], Y[some]), rel=1e-9)
    nested = make_pipeline(StandardScaler(), PIPE)  # the weights arrive at the fit
    flat = make_pipeline(StandardScaler(), StandardScaler(), LogisticRegression())
    a, b = (cv_auc_scorer(m, X, Y, sample_weight=WEIGHT) for m in (flat, nested))
    assert a == pytest.approx(b, rel=1e-12)


def test_cv_of_any_classifier_and_label():
    labels = np.array(["a", "b"])[Y]
    for model in (SVC(), DecisionTreeClassifier(max_depth=2, random_state=0)):
        up = cv_auc_scorer(model.fit(X, labels), X, labels)
        scorer = make_cv_auc_scorer(pos_label="a")
        assert scorer(model, X, labels) == pytest.approx(up, rel=1e-12)
        assert up > 0.6


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_cv_errors():
    few = np.r_[np.flatnonzero(Y)[:3], np.flatnonzero(1 - Y)[:9]]
    for rows, cv in ((few, 5), (np.argsort(Y), KFold(2))):
        with pytest.raises(ValueError, match="1 or more rows of each class.*got 0"):
            make_cv_auc_scorer(cv=cv)(MODEL, X[rows], Y[rows])
    for n in (0, 1):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            cv_auc_scorer(SVC(), X[:n], Y)


@pytest.mark.filterwarnings("ignore:it could not be detected:skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (1, 2)])
def test_regressors_on_two_labels(labels):
    y = np.array(labels)[Y]
    model, reference = Ridge().fit(X, y), Ridge().fit(X, Y)
    for scorer in READY[:4]:
        assert scorer(model, X, y) == pytest.approx(scorer(reference, X, Y), rel=1e-9)
    up = make_cbauc_scorer()(model, X, y)
    assert make_cbauc_scorer(pos_label=labels[0])(model, X, y) == pytest.approx(up)
    accuracy = np.mean((model.predict(X) > np.mean(labels)) == Y)
    assert bee_scorer(model, X, y) == pytest.approx(accuracy, abs=0.1)


@HELD_OUT
@pytest.mark.parametrize("cv", [ResubstitutionSplit(), 5], ids=str)
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_scores_of_searches_are_finite(cv, n_jobs):
    scoring = {repr(scorer): scorer for scorer in READY[:4]} | {"plain": "roc_auc"}
    search = GridSearchCV(
        PIPE, GRID, scoring=scoring, refit=repr(cbauc_scorer), cv=cv, n_jobs=n_jobs
    ).fit(X, Y)
    for name in scoring:
        assert np.isfinite(search.cv_results_[f"mean_test_{name}"]).all()
    if cv != 5:
        expected = cbauc_scorer(search.best_estimator_, X, Y)
        assert search.best_score_ == pytest.approx(expected, rel=1e-12)
        assert search.score(X, Y) == pytest.approx(expected, rel=1e-12)


# -------------------------------------------------------- objects, routing, frames


@pytest.mark.parametrize("scorer", [*READY, PAPER], ids=repr)
def test_repr_and_pickle(scorer):
    again = pickle.loads(pickle.dumps(scorer))
    rebuilt = eval(repr(scorer), globals())
    assert again(MODEL, X, Y) == rebuilt(MODEL, X, Y) == scorer(MODEL, X, Y)


@COPIES
@pytest.mark.parametrize("multi", [False, True])
def test_weights_with_metadata_routing(multi):
    with config_context(enable_metadata_routing=True):
        scorer = cbauc_scorer.set_score_request(sample_weight=True)
        other = make_ebauc_scorer().set_score_request(sample_weight=True)
        search = GridSearchCV(
            LogisticRegression().set_fit_request(sample_weight=True),
            {"C": [0.01, 1.0]},
            scoring={"cbauc": scorer, "ebauc": other} if multi else scorer,
            refit="cbauc" if multi else True,
            cv=ResubstitutionSplit(),
        ).fit(X, Y, sample_weight=WEIGHT)
    expected = cbauc_scorer(search.best_estimator_, X, Y, sample_weight=WEIGHT)
    assert search.best_score_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize(
    "steps", [[StandardScaler()], [MinMaxScaler()], [SelectKBest(k=5)], [None]], ids=str
)
@pytest.mark.parametrize("last", [LogisticRegression(), SVC(kernel="linear")], ids=str)
@pytest.mark.filterwarnings("ignore:It could not be detected")
def test_weights_of_a_step_change_no_verdict_within_a_table(steps, last):
    """They do not reach the scorer, and all candidates are scored as training rows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 30)), np.arange(120) % 2
    weight = rng.exponential(size=120) ** 2
    name = type(last).__name__.lower()
    grid = {f"{name}__C": np.geomspace(1e-4, 1e2, 4)}
    scores = []
    for scorer in (cbauc_scorer, make_cbauc_scorer(rows="training")):
        how = {"scoring": scorer, "cv": ResubstitutionSplit()}
        search = GridSearchCV(make_pipeline(*steps, last), grid, **how)
        search.fit(X, y, **{f"{name}__sample_weight": weight})
        scores.append(search.cv_results_["mean_test_score"])
    np.testing.assert_allclose(*scores, rtol=1e-9)


L1 = LogisticRegression(solver="liblinear", **l1_part(1.0))
LINEAR = {
    "logistic": LogisticRegression(),
    "l1": L1,
    "hinge": LinearSVC(loss="hinge"),
    "svc": SVC(kernel="linear"),
    "sgd": SGDClassifier(),
    "lda": LinearDiscriminantAnalysis(),
    "ridge": RidgeClassifier(),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:It could not be detected")
@pytest.mark.parametrize("name", LINEAR)
def test_a_scorer_fits_nothing(name, count_fits):
    model = LINEAR[name]
    fits = count_fits(type(model))
    for steps in ([], [StandardScaler()], [MinMaxScaler()], [SelectKBest(k=3)]):
        fitted = make_pipeline(*steps, model).fit(X, Y)
        clear_cache()
        fits.clear()
        for scorer in (cbauc_scorer, ebauc_scorer, bee_scorer):
            scorer(fitted, X, Y)
        assert fits == []


@pytest.mark.filterwarnings("ignore:a class has only:skauc.UntrustedAUCWarning")
@pytest.mark.parametrize(
    "model", [SVC(), make_pipeline(StandardScaler(), SVC()), KNeighborsClassifier(), L1]
)
def test_a_fold_that_a_curved_model_contradicts_is_held_out(model, count_fits):
    """By support vectors, a scaler's means, the number of rows, or a subgradient."""
    clear_cache()  # the warning comes once for the rows of a fold
    fits = count_fits(SVC, KNeighborsClassifier, LogisticRegression)
    folds = {"cv": 5, "error_score": "raise"}
    with pytest.warns(UntrustedAUCWarning, match="treated as held-out rows"):
        found = cross_val_score(model, X, Y, scoring=cbauc_scorer, **folds)
    held_out = make_cbauc_scorer(rows="held-out")
    assert found == pytest.approx(
        cross_val_score(model, X, Y, scoring=held_out, **folds)
    )
    assert len(fits) == 5 + 5


UNITS = FunctionTransformer(partial(np.multiply, np.geomspace(1, 1e4, 6)))
UNKNOWN = {
    "three classes": (LogisticRegression(), 3),
    "no objective": (GaussianAUCClassifier(shrinkage="auto"), 2),
    "unlike units": (make_pipeline(UNITS, LogisticRegression()), 2),
    "curved": (GaussianNB(), 2),
}


@pytest.mark.filterwarnings("ignore:No closed form holds for a classifier neither")
@pytest.mark.parametrize("name", UNKNOWN)
def test_rows_of_a_search_are_known_and_all_others_judged_or_doubted(name):
    (model, n_classes), doubt = UNKNOWN[name], "It could not be detected"
    y = np.arange(len(X)) % n_classes
    search = GridSearchCV(model, {}, scoring=cbauc_scorer, cv=ResubstitutionSplit())
    last = cbauc_scorer if name == "curved" else ebauc_scorer
    # a search that is over tells nothing of the rows of another fold
    for given, scorer in (model, cbauc_scorer), (search, cbauc_scorer), (model, last):
        with pytest.warns(UntrustedAUCWarning, match=doubt):
            cross_val_score(given, X, y, scoring=scorer, cv=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", doubt)
        score = search.fit(X, np.tile(y, (2, 1)).T[:, 1]).best_score_  # any memory
    assert score == make_cbauc_scorer(rows="training")(search.best_estimator_, X, y)


UNSETTLED = {
    "lbfgs": LogisticRegression(),
    "five steps": LogisticRegression(max_iter=5),
    "liblinear": LogisticRegression(solver="liblinear", tol=0.01),
    "saga": LogisticRegression(solver="saga", tol=0.1, random_state=0),
    "l1": clone(L1).set_params(C=1e3, random_state=0),
    "elastic net": LogisticRegression(
        solver="saga", C=1e3, random_state=0, **l1_part(0.5)
    ),
    "squared hinge": LinearSVC(random_state=0),
    "sag": RidgeClassifier(solver="sag", tol=0.01, random_state=0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", UNSETTLED)
@pytest.mark.parametrize(
    ("low", "high", "mean"),
    [(1, 1, 0), (0.15, 7, 0), (1e-3, 1e3, 0), (0.01, 0.01, 0), (1, 1, 5), (10, 10, 2)],
)
def test_a_solver_that_stopped_early_changes_no_verdict(name, low, high, mean):
    for shape in [(40, 3), (150, 6), (60, 200)]:
        rng = np.random.default_rng(0)
        X = mean + rng.standard_normal(shape)
        X *= np.geomspace(low, high, shape[1])
        y = np.arange(len(X)) % 2
        model = clone(UNSETTLED[name]).fit(X, y)
        given = pytest.approx(make_cbauc_scorer(rows="training")(model, X, y), abs=1e-9)
        search = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
        with warnings.catch_warnings():
            warnings.simplefilter("error", UntrustedAUCWarning)
            assert cross_val_score(model, X, y, **search) == pytest.approx(
                given, abs=1e-9
            )
        with warnings.catch_warnings():  # without a search
            warnings.filterwarnings("ignore", "It could not be detected")
            assert cbauc_scorer(model, X[::-1], y[::-1]) == given


@pytest.mark.parametrize("scorer", READY, ids=repr)
def test_requests_of_ready_made_scorers(scorer):
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        scorer.set_score_request(sample_weight=True)
    with config_context(enable_metadata_routing=True):
        requested = scorer.set_score_request(sample_weight=True)
        assert requested is not scorer
        assert not scorer.get_metadata_routing().score.requests.get("sample_weight")
        model = LogisticRegression().set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            GridSearchCV(model, {}, scoring=scorer, cv=ResubstitutionSplit()).fit(
                X, Y, sample_weight=WEIGHT
            )


@pytest.mark.parametrize("scorer", READY, ids=repr)
def test_frames_and_texts(scorer):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = pd.Series(np.array(["no", "yes"])[Y])
    expected = scorer(clone(PIPE).fit(X, Y), X, Y)
    model = clone(PIPE).fit(frame, labels)
    assert scorer(model, frame, labels) == pytest.approx(expected, rel=1e-12)
    named = clone(PIPE).set_output(transform="pandas").fit(X, Y)
    assert scorer(named, X, Y) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="feature names should match"):
        scorer(model, frame[list("bacdef")], labels)
    picked = ColumnTransformer([("scale", StandardScaler(), list("ace"))])
    model = make_pipeline(picked, LogisticRegression()).fit(frame, Y)
    expected = scorer(model, frame, Y)
    turned = scorer(model, frame[list("fedcba")], Y)
    assert turned == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", [*MAKE, make_lpo_auc_scorer])
def test_pos_label_turns_model_and_labels_together(make):
    labels = np.array(["no", "yes"])[Y]
    model = LogisticRegression().fit(X, labels)
    up, down = make()(model, X, labels), make(pos_label="no")(model, X, labels)
    assert down == pytest.approx(up, rel=1e-9)


def test_separate_covariances_never_exceed_one():
    rng = np.random.default_rng(0)
    scorer = make_cbauc_scorer(prior="paper", covariance="separate")
    for n in range(10, 34):
        y = np.repeat([0, 1], [n, 30])
        Z = rng.standard_normal((len(y), 2)) + 100 * y[:, None]
        model = RidgeClassifier().fit(Z, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            assert scorer(model, Z, y) <= 1
