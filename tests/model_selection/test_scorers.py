"""Scorers as scikit-learn meets them."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_backend
from scipy import sparse, stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import UndefinedMetricWarning, UnsetMetadataPassedError
from sklearn.feature_selection import SelectKBest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import skauc
from skauc import (
    AdaptivePrior,
    NormalInverseWishart,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_difference_posterior,
    auc_posterior,
    bee_scorer,
    cbauc_scorer,
    cv_auc_scorer,
    diagnose,
    ebauc_scorer,
    lpo_auc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_cv_auc_scorer,
    make_ebauc_scorer,
)
from skauc.model_selection._scorers import _mean_probit
from skauc.model_selection._warnings import _Said

X, Y = make_classification(
    n_samples=100, n_features=6, n_informative=3, random_state=5, flip_y=0.15
)
WEIGHT = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
MODEL = LogisticRegression().fit(X, Y)
READY = [cbauc_scorer, ebauc_scorer, bee_scorer, cv_auc_scorer]
GRID = {"logisticregression__C": [1e-3, 1e-1, 10.0]}
PIPE = make_pipeline(StandardScaler(), LogisticRegression())


def test_cbauc_scorer_is_the_posterior_mean():
    for covariance in ("common", "spherical", "separate"):
        scorer = make_cbauc_scorer(prior="paper", covariance=covariance)
        posterior = auc_posterior(MODEL, X, Y, prior="paper", covariance=covariance)
        assert scorer(MODEL, X, Y) == posterior.mean()


def test_probit_scale_is_the_same_order():
    scorer = make_cbauc_scorer(prior="paper", scale="probit")
    assert stats.norm.cdf(scorer(MODEL, X, Y)) == pytest.approx(
        make_cbauc_scorer(prior="paper")(MODEL, X, Y), rel=1e-12
    )


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


def test_bee_is_the_error_at_the_threshold_of_predict():
    """Against the paper's prior with n → ∞: the error on many new rows."""
    rng = np.random.default_rng(2)
    y = (np.arange(200_000) % 4 == 0).astype(int)
    Z = rng.standard_normal((len(y), 3)) + y[:, None]
    model = LogisticRegression().fit(Z[:500], y[:500])
    accuracy = make_bee_scorer(prior="paper")(model, Z, y)
    assert accuracy == pytest.approx(model.score(Z, y), abs=4 * 0.5 / np.sqrt(len(y)))


def test_bee_of_a_constant_rule():
    flat = LogisticRegression().fit(X, Y)
    flat.coef_, flat.intercept_ = np.zeros_like(flat.coef_), np.array([-1.0])
    with pytest.warns(UndefinedMetricWarning):
        assert bee_scorer(flat, X, Y) == pytest.approx((1 - Y).mean())


def test_cv_auc_scorer_is_cross_val_score():
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_score(LogisticRegression(), X, Y, cv=cv, scoring="roc_auc")
    assert cv_auc_scorer(MODEL, X, Y) == pytest.approx(expected.mean(), rel=1e-14)
    given = make_cv_auc_scorer(cv=cv, n_jobs=2)
    assert given(MODEL, X, Y) == pytest.approx(expected.mean(), rel=1e-14)


def test_cv_auc_pooling_weighs_folds_by_pairs():
    cv = KFold(4)
    auc, pairs = [], []
    for train, test in cv.split(X):
        model = LogisticRegression().fit(X[train], Y[train])
        auc.append(roc_auc_score(Y[test], model.decision_function(X[test])))
        pairs.append(Y[test].sum() * (1 - Y[test]).sum())
    pooled = make_cv_auc_scorer(cv=cv, pooling="pairs")(MODEL, X, Y)
    assert pooled == pytest.approx(np.average(auc, weights=pairs), rel=1e-13)
    assert len(set(pairs)) > 1


def test_cv_auc_never_flips_signs_on_noise():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    values = [
        cv_auc_scorer(LogisticRegression(), rng.standard_normal((40, 5)), y)
        for _ in range(60)
    ]
    # Mean 0.48 in the literature's run; flipping gives 0.67. Standard error 0.013.
    assert np.mean(values) == pytest.approx(0.49, abs=0.05)
    assert min(values) < 0.4


def test_cv_auc_works_for_any_classifier_and_label():
    labels = np.array(["a", "b"])[Y]
    for model in (SVC(), DecisionTreeClassifier(max_depth=2, random_state=0)):
        up = cv_auc_scorer(model.fit(X, labels), X, labels)
        scorer = make_cv_auc_scorer(pos_label="a")
        assert scorer(model, X, labels) == pytest.approx(up, rel=1e-12)
        assert up > 0.6


def test_cv_auc_weights_repeat_rows():
    cv = [(np.arange(50, 100), np.arange(50)), (np.arange(50), np.arange(50, 100))]
    scorer = make_cv_auc_scorer(cv=cv)
    rows = np.repeat(np.arange(100), WEIGHT.astype(int))
    half = np.searchsorted(rows, 50)
    everyone = np.arange(len(rows))
    cv = [(everyone[half:], everyone[:half]), (everyone[:half], everyone[half:])]
    model = LogisticRegression(tol=1e-10, max_iter=1000)
    repeated = make_cv_auc_scorer(cv=cv)(model, X[rows], Y[rows])
    assert scorer(model, X, Y, sample_weight=WEIGHT) == pytest.approx(
        repeated, rel=1e-9
    )


def test_cv_auc_weight_zero_is_no_row():
    weight = np.ones(100)
    weight[::3] = 0
    rows = weight > 0
    a = cv_auc_scorer(MODEL, X, Y, sample_weight=weight)
    assert a == pytest.approx(cv_auc_scorer(MODEL, X[rows], Y[rows]), rel=1e-9)


def test_cv_takes_any_integer_and_iterators():
    expected = cv_auc_scorer(MODEL, X, Y)
    assert make_cv_auc_scorer(cv=np.int64(5))(MODEL, X, Y) == expected
    scorer = make_cv_auc_scorer(cv=iter(list(KFold(4).split(X))))
    assert scorer(MODEL, X, Y) == scorer(MODEL, X, Y)


@pytest.mark.filterwarnings("ignore:Nothing in Ridge:skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (1, 2)])
def test_regressors_on_two_labels(labels):  # nothing tells their rows
    y = np.array(labels)[Y]
    model = Ridge().fit(X, y)
    reference = Ridge().fit(X, Y)
    for scorer in READY:
        expected = scorer(reference, X, Y)
        assert scorer(model, X, y) == pytest.approx(expected, rel=1e-9)
    up = make_cbauc_scorer()(model, X, y)
    down = make_cbauc_scorer(pos_label=labels[0])(model, X, y)
    assert down == pytest.approx(up, rel=1e-9)
    accuracy = np.mean((model.predict(X) > np.mean(labels)) == Y)
    assert bee_scorer(model, X, y) == pytest.approx(accuracy, abs=0.1)


def test_nested_pipelines_weigh_the_fit():
    flat = make_pipeline(StandardScaler(), StandardScaler(), LogisticRegression())
    nested = make_pipeline(StandardScaler(), PIPE)
    a, b = (
        cv_auc_scorer(model, X, Y, sample_weight=WEIGHT) for model in (flat, nested)
    )
    assert a == pytest.approx(b, rel=1e-12)


def test_separate_covariances_never_exceed_one():
    rng = np.random.default_rng(0)
    for n in range(4, 34):
        y = np.repeat([0, 1], [n, 30])
        Z = rng.standard_normal((len(y), 2)) + 100 * y[:, None]
        model = RidgeClassifier().fit(Z, y)
        scorer = make_cbauc_scorer(prior="paper", covariance="separate")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                assert scorer(model, Z, y) < 1
            except UndefinedMetricWarning:
                continue


def test_cv_auc_says_when_folds_are_too_many():
    rows = np.r_[np.flatnonzero(Y)[:3], np.flatnonzero(1 - Y)[:9]]
    with pytest.raises(ValueError, match="got cv = 5 with 3 rows"):
        cv_auc_scorer(MODEL, X[rows], Y[rows])
    order = np.argsort(Y)
    with pytest.raises(ValueError, match="cv must leave both classes in every"):
        make_cv_auc_scorer(cv=KFold(2))(MODEL, X[order], Y[order])


@pytest.mark.parametrize("scorer", READY, ids=repr)
def test_repr_and_pickle(scorer):
    assert repr(scorer).startswith("make_")
    again = pickle.loads(pickle.dumps(scorer))
    assert repr(again) == repr(scorer)
    assert again(MODEL, X, Y) == scorer(MODEL, X, Y)
    rebuilt = eval(repr(scorer), globals())
    assert rebuilt(MODEL, X, Y) == scorer(MODEL, X, Y)


@pytest.mark.parametrize("scorer", READY, ids=repr)
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_search_is_the_serial_search(scorer, backend):
    def search(n_jobs):
        return GridSearchCV(
            PIPE, GRID, scoring=scorer, cv=ResubstitutionSplit(), n_jobs=n_jobs
        ).fit(X, Y)

    with parallel_backend(backend):
        parallel = search(2)
    np.testing.assert_array_equal(
        parallel.cv_results_["mean_test_score"],
        search(1).cv_results_["mean_test_score"],
    )


MULTI = {
    "cbauc": cbauc_scorer,
    "ebauc": ebauc_scorer,
    "cv_auc": cv_auc_scorer,
    "plain": "roc_auc",
}


def test_multimetric_search():
    search = GridSearchCV(
        PIPE, GRID, scoring=MULTI, refit="cbauc", cv=ResubstitutionSplit()
    ).fit(X, Y)
    expected = cbauc_scorer(search.best_estimator_, X, Y)
    assert search.best_score_ == pytest.approx(expected, rel=1e-12)
    assert search.score(X, Y) == pytest.approx(expected, rel=1e-12)
    assert search.n_splits_ == 1
    for name in MULTI:
        assert np.isfinite(search.cv_results_[f"mean_test_{name}"]).all()


@pytest.mark.filterwarnings("ignore:.* are copies of others")
def test_multimetric_scorer_passes_weights_without_routing():
    result = cross_validate(
        LogisticRegression(),
        X,
        Y,
        scoring={"cbauc": cbauc_scorer},
        cv=ResubstitutionSplit(),
        params={"sample_weight": WEIGHT},
        return_estimator=True,
    )
    model = result["estimator"][0]
    weighted = LogisticRegression().fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_allclose(model.coef_, weighted.coef_)
    expected = [
        cbauc_scorer(model, X, Y, sample_weight=WEIGHT),
        cbauc_scorer(model, X, Y),  # before scikit-learn 1.9 weights stay with fit
    ]
    assert min(abs(result["test_cbauc"][0] - e) for e in expected) < 1e-12


@pytest.mark.filterwarnings("ignore:.* are copies of others")
@pytest.mark.parametrize("multi", [False, True])
def test_weights_with_metadata_routing(multi):
    with config_context(enable_metadata_routing=True):
        scorer = cbauc_scorer.set_score_request(sample_weight=True)
        other = make_ebauc_scorer().set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        search = GridSearchCV(
            model,
            {"C": [0.01, 1.0]},
            scoring={"cbauc": scorer, "ebauc": other} if multi else scorer,
            refit="cbauc" if multi else True,
            cv=ResubstitutionSplit(),
        ).fit(X, Y, sample_weight=WEIGHT)
    expected = cbauc_scorer(search.best_estimator_, X, Y, sample_weight=WEIGHT)
    assert search.best_score_ == pytest.approx(expected, rel=1e-12)
    assert search.best_score_ != cbauc_scorer(search.best_estimator_, X, Y)


def test_ready_made_scorers_stay_as_they_are():
    with config_context(enable_metadata_routing=True):
        asked = cbauc_scorer.set_score_request(sample_weight=True)
        assert asked is not cbauc_scorer
        own = make_cbauc_scorer()
        assert own.set_score_request(sample_weight=True) is own
        requests = cbauc_scorer.get_metadata_routing().score.requests
        assert not requests.get("sample_weight")
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        cbauc_scorer.set_score_request(sample_weight=True)


@pytest.mark.parametrize("scorer", READY, ids=repr)
def test_frames_and_string_labels(scorer):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = pd.Series(np.array(["no", "yes"])[Y])
    model = PIPE.fit(frame, labels)
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    expected = scorer(plain, X, Y)
    assert scorer(model, frame, labels) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "make", [make_cbauc_scorer, make_ebauc_scorer, make_bee_scorer, make_cv_auc_scorer]
)
def test_pos_label_turns_model_and_labels_together(make):
    labels = np.array(["no", "yes"])[Y]
    model = LogisticRegression().fit(X, labels)
    up, down = make()(model, X, labels), make(pos_label="no")(model, X, labels)
    assert down == pytest.approx(up, rel=1e-9)


def test_held_out_rows_work_too():
    scores = cross_val_score(LogisticRegression(), X, Y, cv=5, scoring=cbauc_scorer)
    assert scores.shape == (5,)
    assert ((scores > 0.5) & (scores < 1)).all()


def test_bad_options():
    with pytest.raises(ValueError, match="scale must be one of .* got 'logit'"):
        make_cbauc_scorer(scale="logit")
    with pytest.raises(ValueError, match="prior must be .* got 3"):
        make_cbauc_scorer(prior=3)
    with pytest.raises(ValueError, match="pooling must be one of .* got 'sum'"):
        make_cv_auc_scorer(pooling="sum")
    with pytest.raises(ValueError, match="thresholds must be one of .* got 'some'"):
        make_ebauc_scorer(thresholds="some")


def test_own_prior():
    prior = NormalInverseWishart(scale=2.0)
    scorer = make_cbauc_scorer(prior=prior)
    expected = auc_posterior(MODEL, X, Y, prior=prior).mean()
    assert scorer(MODEL, X, Y) == expected
    assert pickle.loads(pickle.dumps(scorer))(MODEL, X, Y) == expected


# ----------------------------------------------------------- columns, routing, cuts


FRAMES = {
    "pandas": lambda columns: pd.DataFrame(X, columns=list("abcdef"))[list(columns)],
    "polars": lambda columns: pl.DataFrame(X, schema=list("abcdef"))[list(columns)],
}
ASKED = {
    **{scorer._factory: scorer for scorer in [*READY, lpo_auc_scorer]},
    "auc_posterior": auc_posterior,
    "diagnose": diagnose,
    "difference": lambda model, X, y: auc_difference_posterior(model, model, X, y),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("model", [LogisticRegression(), PIPE], ids=["alone", "pipe"])
@pytest.mark.parametrize("ask", ASKED)
def test_columns_are_told_by_their_names(ask, model, kind):
    make, ask = FRAMES[kind], ASKED[ask]
    model = clone(model).fit(make("abcdef"), Y)
    ask(model, make("abcdef"), Y)
    for columns in ("bacdef", "abcde"):
        with pytest.raises(ValueError, match="feature names should match"):
            ask(model, make(columns), Y)
    other = make("abcdef")
    other = other.rename(
        **({"columns": {"a": "z"}} if kind == "pandas" else {"mapping": {"a": "z"}})
    )
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- z"):
        ask(model, other, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        ask(model, X, Y)
    unnamed = clone(model).fit(X, Y)
    if ask is not cv_auc_scorer:  # refits, and takes what can be fitted
        with pytest.warns(UserWarning, match="fitted without feature names"):
            ask(unnamed, make("abcdef"), Y)


@pytest.mark.parametrize("scorer", [*READY, lpo_auc_scorer], ids=repr)
def test_columns_picked_by_name_may_come_in_any_order(scorer):
    picked = ColumnTransformer([("scale", StandardScaler(), list("ace"))])
    frame = FRAMES["pandas"]("abcdef")
    model = make_pipeline(picked, LogisticRegression()).fit(frame, Y)
    expected = scorer(model, frame, Y)
    turned = scorer(model, FRAMES["pandas"]("fedcba"), Y)
    assert turned == pytest.approx(expected, rel=1e-12)  # sums in another order
    named = model.set_output(transform="pandas").fit(frame, Y)
    assert scorer(named, FRAMES["pandas"]("fedcba"), Y) == pytest.approx(expected)


@pytest.mark.parametrize("scorer", [*READY, lpo_auc_scorer], ids=repr)
def test_names_that_a_scaler_gives_are_its_own(scorer):
    pytest.importorskip("pandas")
    named = clone(PIPE).set_output(transform="pandas").fit(X, Y)
    expected = scorer(clone(PIPE).fit(X, Y), X, Y)
    assert scorer(named, X, Y) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("scorer", [*READY, lpo_auc_scorer], ids=repr)
def test_weights_that_nobody_asked_for_are_an_error(scorer):
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        for scoring in (scorer, {"one": scorer}):
            with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
                GridSearchCV(
                    model, {}, scoring=scoring, refit=False, cv=ResubstitutionSplit()
                ).fit(X, Y, sample_weight=WEIGHT)
        refused = scorer.set_score_request(sample_weight=False)
        search = GridSearchCV(
            model, {}, scoring=refused, cv=ResubstitutionSplit(), error_score="raise"
        )
        if scorer is not lpo_auc_scorer:
            search.fit(X, Y, sample_weight=WEIGHT)
            assert search.best_score_ == scorer(search.best_estimator_, X, Y)


@pytest.mark.parametrize("prior", ["paper", "adaptive"])
@pytest.mark.parametrize("covariance", ["common", "separate", "spherical"])
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 1.0, 1.5, np.inf])
def test_a_cut_that_no_probability_passes(threshold, covariance, prior):
    model = FixedThresholdClassifier(LogisticRegression(), threshold=threshold)
    accuracy = model.fit(X, Y).score(X, Y)  # the share of one class
    scorer = make_bee_scorer(prior=prior, covariance=covariance)
    assert scorer(model, X, Y) == pytest.approx(accuracy, rel=1e-12)
    turned = make_bee_scorer(prior=prior, covariance=covariance, pos_label=0)
    assert turned(model, X, Y) == pytest.approx(accuracy, rel=1e-12)


# ------------------------------------------------------------- permuted training rows


@pytest.mark.parametrize("model", [LogisticRegression(), PIPE], ids=["alone", "pipe"])
def test_permutation_importance_on_training_rows_is_named(model):
    model = clone(model).fit(X, Y)

    def importance(scoring, X, y):
        return permutation_importance(
            model, X, y, scoring=scoring, n_repeats=3, random_state=0
        ).importances_mean

    with pytest.warns(UntrustedAUCWarning, match="permuted training rows are neither"):
        importance(cbauc_scorer, X, Y)
    prior = AdaptivePrior(leave_pair_out=False)
    with pytest.warns(UntrustedAUCWarning, match="permuted training rows are neither"):
        importance(make_cbauc_scorer(prior=prior), X, Y)
    same = make_cbauc_scorer(prior=prior, rows="training")
    ours = importance(same, X, Y)
    ranks = importance("roc_auc", X, Y)
    assert ours.argmax() == ranks.argmax()
    assert ours.min() > -0.02
    with pytest.raises(ValueError, match="X must be the rows"):
        importance(lpo_auc_scorer, X, Y)


@pytest.mark.filterwarnings("ignore:.* are copies of others")
def test_other_rows_are_not_taken_for_permuted_ones():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2  # the same labels in every set
    Z = rng.normal(size=(3, 60, 6)) + 0.5 * y[:, None]
    pipe = clone(PIPE).fit(Z[0], y)
    cbauc_scorer(pipe, Z[0], y)
    cbauc_scorer(pipe, Z[1], y)  # held out: no warning
    permutation_importance(pipe, Z[1], y, scoring=cbauc_scorer, n_repeats=2)
    weighted = clone(PIPE).fit(Z[2], y, logisticregression__sample_weight=1.0 + y)
    cbauc_scorer(weighted, Z[2], y, sample_weight=1.0 + y)
    with pytest.warns(UntrustedAUCWarning, match="pass the weights it was fitted with"):
        cbauc_scorer(weighted, Z[2], y)  # the same rows: only the weights are missing


# ------------------------------------------------------------------------ bad labels


@pytest.mark.parametrize("ask", [*ASKED, "bayesian_val_score", "cross_val_auc"])
@pytest.mark.parametrize("kind", [object, float])
def test_missing_labels_are_one_sentence(ask, kind):
    ask = ASKED.get(ask) or getattr(skauc, ask)
    names = np.array(["no", "yes"], dtype=object)[Y] if kind is object else Y * 1.0
    model = LogisticRegression().fit(X, names)
    names[[3, 5]] = None
    with pytest.raises(ValueError, match="y_true must hold"):
        ask(model, X, names)


@pytest.mark.parametrize(
    ("make", "options", "others"),
    [
        (make_cbauc_scorer, {"scale": "probit"}, {"scale": "auc"}),
        (make_cbauc_scorer, {"prior": "paper"}, {"prior": "adaptive"}),
        (
            make_cbauc_scorer,
            {"prior": NormalInverseWishart(scale=np.array([1.0, 2.0]))},
            {"prior": NormalInverseWishart(scale=np.array([1.0, 3.0]))},
        ),
        (make_ebauc_scorer, {"thresholds": "all"}, {}),
        (make_bee_scorer, {"pos_label": 1}, {}),
        (
            make_cv_auc_scorer,
            {"cv": StratifiedKFold(3)},
            {"cv": StratifiedKFold(4)},
        ),
        (make_cv_auc_scorer, {"cv": [(np.arange(3), np.arange(3))]}, {"cv": 3}),
    ],
)
def test_scorers_made_alike_are_equal(make, options, others):
    scorer = make(**options)
    assert scorer == make(**options)
    assert hash(scorer) == hash(make(**options))
    assert scorer == copy.deepcopy(scorer) == pickle.loads(pickle.dumps(scorer))
    assert scorer != make(**others)
    assert scorer != repr(scorer)


def test_ready_made_scorers_equal_their_copies():
    assert cbauc_scorer == make_cbauc_scorer() == copy.copy(cbauc_scorer)
    assert cbauc_scorer != ebauc_scorer
    with config_context(enable_metadata_routing=True):
        assert cbauc_scorer.set_score_request(sample_weight=True) != cbauc_scorer


@pytest.mark.parametrize("label", [None, 0, 1])
def test_regressor_is_refused_whichever_label_is_positive(label):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.arange(30) % 2
    scorer = skauc.make_lpo_auc_scorer(pos_label=label)
    with pytest.raises(TypeError, match="Ridge has no leave-pair-out in closed form"):
        scorer(Ridge().fit(X, y), X, y)


def test_cv_auc_of_rows_that_are_missing():
    model, y = SVC(kernel="linear"), [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cv_auc_scorer(model, [[1.0]], y, sample_weight=[1, 1, 1, 1, 1, 0])


def test_cv_auc_of_rows_without_any():
    """A fitted model is asked about a row to compare its columns: there is none."""
    frame = pd.DataFrame(X)
    frame.columns = list("abcdef")
    model = LogisticRegression().fit(frame, Y)
    for n in (0, 1):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            cv_auc_scorer(model, frame[:n], Y[:40])


@pytest.mark.parametrize("probit", [[-1.0, 0.3], [1.0, -0.3], [-0.7], [0.7]])
def test_probit_of_a_mean_of_aucs(probit):
    expected = stats.norm.ppf(stats.norm.cdf(probit).mean())
    assert _mean_probit(probit) == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_model_that_ranks_nothing():
    model = LogisticRegression().fit(X, Y)
    model.coef_[:] = 0
    assert ebauc_scorer(model, X, Y) == 0.5
    y = Y[Y.argsort()][20:]  # more positives
    for sign, share in ((1.0, y.mean()), (-1.0, 1 - y.mean())):
        model.intercept_[:] = sign
        assert bee_scorer(model, X[20:], y) == pytest.approx(share, rel=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_rows_of_weight_zero_decide_nothing():
    """The first row's score is another, but it is no row: all others get one answer."""
    rows = np.vstack([[5.0] + [0.0] * 5, np.zeros((9, 6))])
    y, weight = np.array([0, 1, 1, 1, 1, 1, 1, 0, 0, 0]), np.r_[0.0, np.ones(9)]
    model = LogisticRegression().fit(X, Y)
    model.coef_[:], model.intercept_[:] = [[1.0, 0, 0, 0, 0, 0]], -1.0
    assert bee_scorer(model, rows, y, sample_weight=weight) == pytest.approx(3 / 9)


def test_thresholds_of_rows_of_weight_zero_are_none():
    weight = np.resize([0.0, 1.0, 2.0], len(Y))
    some = weight > 0
    scorer = make_ebauc_scorer(rows="training", prior="paper")
    expected = scorer(MODEL, X[some], Y[some], sample_weight=weight[some])
    got = scorer(MODEL, X, Y, sample_weight=weight)
    assert got == pytest.approx(expected, rel=1e-12)
    assert got != pytest.approx(scorer(MODEL, X, Y), rel=1e-6)


def test_permuted_rows_are_known_whichever_class_is_positive():
    rng = np.random.default_rng(0)
    permuted = X.copy()
    permuted[:, 0] = rng.permutation(X[:, 0])
    model = LogisticRegression(C=0.5).fit(X, Y)
    cbauc_scorer(model, X, Y)
    turned = make_cbauc_scorer(pos_label=0)
    with pytest.warns(UntrustedAUCWarning, match="permuted training rows are neither"):
        turned(model, permuted, Y)


def test_folds_in_lists_are_compared():
    one, two = (np.arange(4), np.arange(4, 8)), (np.arange(4, 8), np.arange(4))
    scorers = [make_cv_auc_scorer(cv=cv) for cv in ([one, two], [one], [two, one])]
    assert scorers[0] == make_cv_auc_scorer(cv=[one, two])
    assert scorers[0] != scorers[1]
    assert scorers[0] != scorers[2]


def test_a_sentence_is_said_once_whatever_the_first_step_makes():
    rows, y = X[:8], np.arange(8) % 2
    skauc.clear_cache()
    with pytest.warns(UntrustedAUCWarning, match="A class has only 4 rows"):
        cbauc_scorer(make_pipeline(PCA(2), LogisticRegression()).fit(rows, y), rows, y)
    cbauc_scorer(make_pipeline(PCA(3), LogisticRegression()).fit(rows, y), rows, y)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_a_sentence_is_said_once_of_the_same_rows_and_labels(kind):
    said, rows, y = _Said(), kind(np.maximum(X[:8], 0)), np.arange(8) % 2 == 0
    for question in (
        ("one", rows, y),
        ("another", rows, y),
        ("one", 2 * rows, y),
        ("one", rows[:, [1, 0, 2, 3, 4, 5]], y),
        ("one", rows, ~y),
    ):
        with pytest.warns(UntrustedAUCWarning):
            said.warn_once(*question)
        said.warn_once(*copy.deepcopy(question))


@pytest.mark.parametrize("label", [0, 1])
def test_the_smaller_class_is_named_whichever_it_is(label):
    rows = np.r_[np.flatnonzero(Y == label)[:5], np.flatnonzero(Y != label)[:30]]
    model = LogisticRegression().fit(X[rows], Y[rows])
    (said,) = auc_posterior(model, X[rows], Y[rows], prior="paper").warnings
    assert said.startswith("a class has only 5 rows")


@pytest.mark.parametrize(
    "prior",
    ["adaptive", "paper", AdaptivePrior(leave_pair_out=False), AdaptivePrior(refits=3)],
)
@pytest.mark.parametrize("case", ["training", "held-out", "supervised", "broken", "0"])
def test_the_choice_is_that_of_the_posterior(prior, case):
    """Though the scorer asks for no spread."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 6)), np.arange(90) % 3 == 0
    X[y] += 0.4
    steps = {"supervised": [SelectKBest(k=2)]}
    steps["broken"] = [*steps["supervised"], PolynomialFeatures()]
    rows = X
    last = LogisticRegression(C=1e-20 if case == "0" else 1.0)
    model = make_pipeline(*steps.get(case, []), last).fit(rows, y)
    if case == "0":
        model[-1].coef_[:] = 0.0
    if case == "held-out":
        rows = rng.normal(size=(90, 6)) + 0.4 * y[:, None]
    for scale in ("auc", "probit"):
        scorer = make_cbauc_scorer(prior=prior, scale=scale)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = auc_posterior(model, rows, y, prior=prior)
            found = scorer(model, rows, y)
        assert type(found) is float
        assert found == pytest.approx(posterior.choice(scale), rel=1e-12, abs=1e-14)
