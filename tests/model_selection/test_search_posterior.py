"""What a search knows: conjugate pairs, DeLong, simulated winners; what is compared."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
    NormalInverseWishart,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_difference_posterior,
    auc_posterior,
    cbauc_scorer,
    compare_auc,
    make_cbauc_scorer,
    search_posterior,
)
from skauc.model_selection._candidate import (
    Candidate,
    _luck,
    alike,
    candidate,
    covariance,
    joint_aucs,
    luck,
)
from skauc.model_selection._linear_model import open_two_classes
from skauc.model_selection._model_posterior import model_posterior
from skauc.posterior._auc_posterior import AUCPosterior
from skauc.posterior._joint_aucs import maximum_bias

X, Y = make_classification(
    80, 6, n_informative=3, n_redundant=0, flip_y=0.3, random_state=1
)
CS = [1e-3, 1e-2, 0.1, 1.0]
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
GRID = {"logisticregression__C": CS}
FREE = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
pytestmark = pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(PIPE, GRID, **FREE).fit(X, Y)


@pytest.fixture(scope="module")
def posterior(search):
    return search_posterior(search, X, Y, random_state=0)


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 300])
def test_conjugate_pair_against_its_joint_posterior(n):
    """Normal probits and the scores' correlation, against exact draws (section 7)."""
    A, b = make_classification(n, 4, n_redundant=0, flip_y=0.3, random_state=3)
    models = [
        make_pipeline(PCA(4, svd_solver="full"), LogisticRegression(C=C)).fit(A, b)
        for C in (1e-3, 1.0)
    ]
    prior = NormalInverseWishart(scale=np.eye(4), nu_neg=0.5, nu_pos=0.5, kappa=6)
    got = search_posterior(models, A, b, prior=prior).difference(1, 0)
    exact = auc_difference_posterior(models[1], models[0], A, b, prior=prior)
    assert got.mean() == pytest.approx(exact.mean(), abs=0.1 * exact.std())
    assert got.std() == pytest.approx(exact.std(), rel=0.15)
    assert got.probability == pytest.approx(exact.probability, abs=0.04)


def test_held_out_rows_have_delongs_difference():
    A, b = make_classification(
        400, 5, n_informative=4, n_redundant=0, flip_y=0.3, random_state=2
    )
    models = [
        make_pipeline(SelectKBest(k=k), LogisticRegression()).fit(A[:200], b[:200])
        for k in (1, 3)
    ]
    rows = A[200:], b[200:]
    said = compare_auc(rows[1], *(m.decision_function(rows[0]) for m in models))
    got = search_posterior(models, *rows).difference(0, 1)
    assert got.mean() == pytest.approx(said.difference, abs=0.005)
    # Hanley and McNeil's spread of each, DeLong's correlation
    low, high = said.confidence_interval(0.95)
    assert got.std() == pytest.approx((high - low) / 3.92, rel=0.15)


def test_the_winners_luck_is_taken_off():
    """Simulated: equal models whose scores are the truth and known luck.

    The winner is too high by the mean of the largest luck. A bootstrap about scores
    that are spread by luck already takes off a part of that, never more.
    """
    rng = np.random.default_rng(0)
    m, n, spread, truth = 5, 400, 0.2, 0.8
    rows = rng.standard_normal((m, n))
    rows -= rows.mean(axis=0)  # what all share is no luck
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    R = rows @ rows.T
    noise = rng.multivariate_normal(np.zeros(m), spread**2 * R, size=300)
    off, taken = [], []
    for error in noise:
        found = [
            Candidate(
                AUCPosterior.normal(truth + e, spread**2),
                truth + e,
                np.zeros(0),
                spread * row,
                0.0,
                False,
                spread,
            )
            for e, row in zip(error, rows, strict=True)
        ]
        joint = joint_aucs(found)
        taken.append(maximum_bias(joint.mean, luck(found, alike(found)), 400, 0))
        off.append(error.max())
    assert 0.5 * np.mean(off) < np.mean(taken) < np.mean(off)


def test_joint_covariance_slowly():
    """The formula of the module, entry by entry."""
    rng = np.random.default_rng(1)
    cells, rows = rng.normal(size=(3, 4)), rng.normal(size=(3, 9))
    rows -= rows.mean(axis=1)[:, None]
    shift, heard = np.array([0.1, 0.4, 0.2]), [True, True, False]
    found = [
        Candidate(
            AUCPosterior.normal(0.5, 40.0),
            0.3 * i,
            cells[i],
            rows[i],
            shift[i],
            heard[i],
            0.0,
        )
        for i in range(3)
    ]
    joint = joint_aucs(found)
    rho = np.corrcoef(rows)
    c = np.array([-0.15, 0.15, 0.0])  # about the mean of those that were heard
    for i in range(3):
        for j in range(3):
            expected = cells[i] @ cells[j] + c[i] * c[j]
            expected += np.sqrt(rows[i] @ rows[i] * (rows[j] @ rows[j])) * rho[i, j]
            expected += 0.15**2 * (i == j == 2)
            level = joint.covariance[0, 0] - (
                cells[0] @ cells[0] + rows[0] @ rows[0] + c[0] ** 2
            )
            assert joint.covariance[i, j] - level == pytest.approx(expected, rel=1e-9)
    assert np.diag(joint.covariance).mean() == pytest.approx(40, rel=1e-9)
    level = 0.5 * np.sqrt(41)  # of Z, whose AUC has the mean Φ(.5)
    half_way = np.array([0, 0.3, 0.6]) - shift  # choice less c
    half_way -= half_way.mean()
    assert joint.mean == pytest.approx(level + half_way, rel=1e-9)


def test_covariance_of_several_feature_spaces():
    """Cells of one space by their products, of two by the scores' correlation."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3, 9))
    cells = [rng.normal(size=size) for size in (4, 4, 6)]
    law = AUCPosterior.normal(0.5, 40.0)
    found = [
        Candidate(law, 0.5, c, r, 0.0, False, 0.0)
        for c, r in zip(cells, rows, strict=True)
    ]
    V = covariance(found, alike(found))
    assert V[0, 1] == pytest.approx(rows[0] @ rows[1] + cells[0] @ cells[1], rel=1e-12)
    length = [
        np.linalg.norm(c) / np.linalg.norm(r) for c, r in zip(cells, rows, strict=True)
    ]
    for i in (0, 1):
        expected = rows[i] @ rows[2] * (1 + length[i] * length[2])
        assert V[i, 2] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("refits", "share"), [(None, 0.5), (5, 0.125)])
def test_what_a_candidate_is_made_of(refits, share):
    """c = w_c (z − m)/2 and luck = w_c² s_b, from their definitions."""
    prior = AdaptivePrior(refits=refits)
    model = PIPE.set_params(logisticregression__C=0.1).fit(X, Y)
    asked = model_posterior(
        open_two_classes(model, X),
        Y,
        prior=prior,
        covariance="common",
        sample_weight=None,
        pos_label=None,
        rows="training",
        whole=(model, X, Y),
    )
    got, n = candidate(asked), len(Y)
    z = ndtri((got.posterior.leave_pair_out * n + 0.5) / (n + 1))
    m = asked.projection.model_alone().mean_probit()
    assert got.shift == pytest.approx(share * (z - m) / 2, rel=1e-9)
    assert got.centre == pytest.approx(m + share * (z - m) / 2, rel=1e-9)
    assert got.choice == pytest.approx(m + share * (z - m), rel=1e-9)
    A = ndtr(got.posterior.probit_moments()[0])
    pos, neg = Y.sum(), n - Y.sum()
    # Hanley and McNeil (1982), the mean of both orders of the classes
    square = [
        a * (1 - a)
        + (one - 1) * (a / (2 - a) - a**2)
        + (two - 1) * (2 * a**2 / (1 + a) - a**2)
        for a, one, two in ((A, pos, neg), (1 - A, pos, neg))
    ]
    s_b = np.sqrt(np.mean(square) / (pos * neg)) / norm.pdf(ndtri(A))
    assert got.luck == pytest.approx(share**2 * s_b, rel=1e-9)
    # the scores' deviations from their class means, and nothing else, are its rows
    score = model.decision_function(X)
    for c in (0, 1):
        score[Y == c] -= score[Y == c].mean()
    assert np.corrcoef(got.rows, score)[0, 1] == pytest.approx(1, rel=1e-9)
    total = got.cells @ got.cells + got.rows @ got.rows
    alone = asked.projection.model_alone().probit_moments()[1] / 4
    assert total == pytest.approx(alone, rel=0.02)


def test_a_conjugate_candidate_owes_nothing_to_luck():
    model = PIPE.set_params(logisticregression__C=0.1).fit(X, Y)
    asked = model_posterior(
        open_two_classes(model, X),
        Y,
        prior=NormalInverseWishart(scale=np.eye(6)),
        covariance="common",
        sample_weight=None,
        pos_label=None,
        rows="training",
        whole=(model, X, Y),
    )
    got = candidate(asked)
    assert (got.shift, got.luck, got.heard) == (0.0, 0.0, False)
    assert got.choice == got.posterior.mean_probit()
    deviation = np.sqrt(got.posterior.probit_moments()[1])
    assert np.linalg.norm(got.rows) == pytest.approx(deviation, rel=1e-12)


# Laws ---------------------------------------------------------------------------------


def test_what_is_said_of_a_search(search, posterior):
    assert posterior.p_best.shape == posterior.expected_loss.shape == (4,)
    assert posterior.p_best.sum() == pytest.approx(1, rel=1e-12)
    assert (posterior.expected_loss >= 0).all()
    assert posterior.selected_index == search.best_index_
    assert posterior.row.tolist() == [0, 1, 2, 3]
    assert posterior.score == pytest.approx(search.cv_results_["mean_test_score"])
    half_way = [
        ndtri(score) + ndtri(_model_alone(C).mean())
        for C, score in zip(CS, posterior.score, strict=True)
    ]
    half_way, mean = np.array(half_way) / 2, posterior.joint.mean
    assert np.diff(mean) == pytest.approx(np.diff(half_way), rel=1e-6)
    model = PIPE.set_params(logisticregression__C=CS[2]).fit(X, Y)
    own = auc_posterior(model, X, Y, rows="training")
    assert posterior.auc[2].mean() == pytest.approx(own.mean(), rel=1e-9)
    assert posterior.auc.std()[2] == pytest.approx(own.std(), rel=1e-9)
    low, high = posterior.auc.interval(0.9)
    assert (low[2], high[2]) == pytest.approx(own.interval(0.9), rel=1e-6)


def _model_alone(C):
    model = PIPE.set_params(logisticregression__C=C).fit(X, Y)
    alone = AdaptivePrior(leave_pair_out=False)
    return auc_posterior(model, X, Y, prior=alone, rows="training")


def test_the_selected_is_corrected_downwards(posterior):
    own = posterior.auc[posterior.selected_index]
    bias = own.mean() - posterior.selected.mean()
    assert 0 < bias < own.std()
    assert posterior.bias_of_best_score == pytest.approx(bias, rel=1e-12)
    # in probits: lower by the bias, the variance larger by its square
    mean, variance = own.probit_moments()
    lower, wider = posterior.selected.probit_moments()
    assert wider == pytest.approx(variance + (mean - lower) ** 2, rel=1e-9)
    assert posterior.selected.interval(0.95)[0] < own.interval(0.95)[0]
    assert posterior.selected.second_source == own.second_source
    assert posterior.selected.leave_pair_out == own.leave_pair_out


def test_weights_of_the_fit_are_copies_of_rows():
    rng = np.random.default_rng(5)
    w = rng.integers(0, 4, len(Y))
    name = "logisticregression__sample_weight"
    search = GridSearchCV(make_pipeline(LogisticRegression()), GRID, **FREE)
    weights = {name: w}
    got = search_posterior(
        search.fit(X, Y, **weights), X, Y, random_state=0, fit_params=weights
    )
    many = X.repeat(w, axis=0), Y.repeat(w)
    wanted = search_posterior(search.fit(*many), *many, random_state=0)
    assert got.auc.mean() == pytest.approx(wanted.auc.mean(), abs=1e-5)
    assert got.joint.mean == pytest.approx(wanted.joint.mean, abs=1e-4)
    V = wanted.joint.covariance
    assert got.joint.covariance == pytest.approx(V, abs=1e-3 * V.max())
    unweighted = search_posterior(search.fit(X, Y), X, Y)
    assert np.abs(unweighted.auc.mean() - got.auc.mean()).max() > 0.005


@pytest.mark.parametrize(
    ("fit_params", "text"),
    [
        ([1.0], r"fit_params must be a dict .* got \[1.0\]"),
        (
            {"a__sample_weight": np.ones(80), "b__sample_weight": np.zeros(80)},
            "same sample_weight for all steps, got .'a__sample_weight', 'b__sample",
        ),
        ({"sample_weight": np.ones(3)}, "sample_weight must have .* 80"),
    ],
)
def test_fit_params_that_are_none(search, fit_params, text):
    with pytest.raises(ValueError, match=text):
        search_posterior(search, X, Y, fit_params=fit_params)


def test_one_candidate_has_no_luck():
    model = PIPE.fit(X, Y)
    got = search_posterior([model], X, Y)
    assert got.p_best.tolist() == [1.0]
    assert got.expected_loss.tolist() == [0.0]
    assert got.bias_of_best_score == 0
    assert got.selected == got.auc[0]


@pytest.mark.parametrize("make", [GridSearchCV, RandomizedSearchCV])
def test_whatever_folds_and_scores_the_search_took(make, posterior):
    options = {"n_iter": 4, "random_state": 0} if make is RandomizedSearchCV else {}
    search = make(PIPE, GRID, scoring="roc_auc", cv=3, **options).fit(X, Y)
    got = search_posterior(search, X, Y, random_state=0)
    order = [CS.index(p["logisticregression__C"]) for p in got.params]
    assert got.auc.mean() == pytest.approx(posterior.auc.mean()[order], rel=1e-9)
    assert got.score == pytest.approx(search.cv_results_["mean_test_score"])
    assert got.selected_index == search.best_index_


def test_only_the_last_iteration_of_halving_is_compared():
    search = HalvingGridSearchCV(
        PIPE, GRID, cv=2, scoring="roc_auc", factor=2, random_state=0
    ).fit(X, Y)
    results = search.cv_results_
    got = search_posterior(search, X, Y, random_state=0)
    last = np.flatnonzero(results["iter"] == results["iter"].max())
    assert got.row.tolist() == last.tolist()
    assert len(last) < len(results["iter"])
    assert got.row[got.selected_index] == search.best_index_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_candidates_without_a_score_are_left_out():
    grid = {"logisticregression__C": [-1.0, 0.1, 1.0]}
    search = GridSearchCV(PIPE, grid, **FREE).fit(X, Y)
    got = search_posterior(search, X, Y)
    assert got.row.tolist() == [1, 2]
    assert got.row[got.selected_index] == search.best_index_


def test_several_scores_and_no_refit():
    scoring = make_cbauc_scorer(output="dict")
    search = GridSearchCV(
        PIPE, GRID, scoring=scoring, cv=ResubstitutionSplit(), refit=False
    )
    got = search_posterior(search.fit(X, Y), X, Y)
    assert got.score == pytest.approx(search.cv_results_["mean_test_auc"])
    assert got.selected_index == int(np.argmax(got.joint.mean))


def test_equal_candidates_share():
    grid = {"logisticregression__C": [1e-2, 1.0, 1.0]}
    search = GridSearchCV(PIPE, grid, **FREE).fit(X, Y)
    got = search_posterior(search, X, Y, random_state=1)
    assert got.p_best[1] == got.p_best[2]
    assert got.difference(1, 2).probability == 0.5


@pytest.mark.parametrize(
    "steps",
    [
        [PolynomialFeatures(2, include_bias=False), StandardScaler()],
        [SelectKBest(k=2)],
        [PCA(3)],
    ],
)
def test_other_preprocessing_is_one_data_set(steps):
    other = make_pipeline(*steps, LogisticRegression())
    models = [model.fit(X, Y) for model in (PIPE, other)]
    got = search_posterior(models, X, Y, random_state=0)
    assert np.linalg.eigvalsh(got.joint.covariance).min() > -1e-12
    assert 0 < got.difference(0, 1).std() < 0.3
    assert got.p_best.sum() == pytest.approx(1, rel=1e-12)


def test_models_of_other_rows_are_not_compared_in_silence():
    models = [LogisticRegression().fit(*rows) for rows in ((X, Y), (X[:40], Y[:40]))]
    text = "These rows trained some of the models and not the others"
    with pytest.warns(UntrustedAUCWarning, match=text):
        search_posterior(models, X, Y)
    with pytest.warns(UntrustedAUCWarning, match=text):
        auc_difference_posterior(*models, X, Y, prior="adaptive")


def test_parameters_that_are_arrays():
    priors = [np.array([0.5, 0.5]), np.array([0.4, 0.6])]
    search = GridSearchCV(LinearDiscriminantAnalysis(), {"priors": priors}, **FREE)
    got = search_posterior(search.fit(X, Y), X, Y, random_state=0)
    assert pickle.loads(pickle.dumps(got)) == got
    assert got.to_frame()["param_priors"][1] is got.params[1]["priors"]


def test_jobs_and_seeds(search, posterior):
    again = search_posterior(search, X, Y, random_state=0, n_jobs=2)
    assert again == posterior
    assert pickle.loads(pickle.dumps(posterior)) == posterior
    assert hash(again) == hash(posterior)
    other = search_posterior(search, X, Y, random_state=1, n_draws=1000)
    assert other.p_best == pytest.approx(posterior.p_best, abs=0.06)


def test_jobs_work_under_the_callers_configuration():
    """Columns that are picked by a name are there where scalers return frames."""
    pytest.importorskip("pandas")
    picked = ColumnTransformer([("two", "passthrough", ["x0", "x1"])])
    model = make_pipeline(StandardScaler(), picked, LogisticRegression())
    with config_context(transform_output="pandas"):
        search = GridSearchCV(model, GRID, scoring="roc_auc", cv=3).fit(X, Y)
        got = [search_posterior(search, X, Y, random_state=0, n_jobs=j) for j in (1, 2)]
    assert got[0] == got[1]


def test_a_model_that_ranks_nothing_is_a_half():
    flat = PIPE.set_params(logisticregression__C=1.0).fit(X, Y)
    none = pickle.loads(pickle.dumps(flat))
    none[-1].coef_[:] = 0
    with pytest.warns(UserWarning, match="undefined"):
        got = search_posterior([flat, none], X, Y, random_state=0)
    assert got.auc.mean()[1] == 0.5
    assert got.selected_index == 0
    # it is a half for sure: the difference is the other's posterior
    assert got.joint.mean[1] == 0
    assert not got.joint.covariance[1].any()
    gap = got.difference(0, 1)
    assert gap.mean() == pytest.approx(got.auc[0].mean() - 0.5, abs=1e-3)
    assert gap.std() == pytest.approx(got.auc[0].std(), rel=0.05)


@pytest.mark.filterwarnings("ignore:The AUC is undefined")
@pytest.mark.parametrize("kind", ["ranks nothing", "other features"])
def test_another_candidate_changes_no_difference(kind):
    """What two candidates of one data set differ by is theirs alone."""
    models = [LogisticRegression(C=C).fit(X, Y) for C in CS]
    other = make_pipeline(PolynomialFeatures(2), LogisticRegression()).fit(X, Y)
    if kind == "ranks nothing":
        other = LogisticRegression(C=1e-6, **l1_part(1), solver="liblinear").fit(X, Y)
        assert not other.coef_.any()
    alone = search_posterior(models, X, Y, random_state=0)
    got = search_posterior([*models, other], X, Y, random_state=0)
    for i in range(len(CS)):
        expected = alone.joint.deviation_from(i)
        assert got.joint.deviation_from(i)[:-1] == pytest.approx(expected, rel=1e-9)
    ahead = np.subtract.outer(alone.joint.mean, alone.joint.mean)
    again = np.subtract.outer(got.joint.mean[:-1], got.joint.mean[:-1])
    assert again == pytest.approx(ahead, abs=1e-12)


@pytest.mark.filterwarnings("ignore:The AUC is undefined")
def test_a_selected_model_that_ranks_nothing_stays_a_half():
    noise = np.random.default_rng(3).normal(size=(60, 20))
    y = np.arange(60) % 2
    models = [
        LogisticRegression(C=C, **l1_part(1), solver="liblinear")
        for C in (1e-6, 0.5, 5)
    ]
    search = GridSearchCV(
        make_pipeline(models[0]), {"logisticregression": models}, **FREE
    ).fit(noise, y)
    search.best_index_ = 0
    got = search_posterior(search, noise, y, random_state=0)
    assert got.bias_of_best_score == 0
    assert got.selected.mean() == 0.5


@pytest.mark.parametrize("apart", [30.0, 1e4])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_separated_rows(apart, noise):
    """A loss is no larger than what the AUCs may be wrong by."""
    A = noise * X + apart * Y[:, None]
    models = [LogisticRegression(C=C).fit(A, Y) for C in CS]
    got = search_posterior(models, A, Y, random_state=0)
    assert (got.expected_loss < got.auc.std()).all()
    own = got.auc[0].probit_moments()[1]
    assert np.diag(got.joint.covariance) == pytest.approx(own, rel=0.2)
    if noise == 0:  # scores of two values each: all rank the rows alike
        assert got.p_best == pytest.approx(np.full(4, 0.25))
        assert got.difference(0, 3).probability == 0.5


def test_separated_held_out_rows():
    A = X + 100 * Y[:, None]
    found = []
    for C in CS:
        model = LogisticRegression(C=C).fit(A[::2], Y[::2])
        asked = model_posterior(
            open_two_classes(model, A[1::2]),
            Y[1::2],
            prior=AdaptivePrior(),
            covariance="common",
            sample_weight=None,
            pos_label=None,
            rows="held-out",
        )
        found.append(candidate(asked))
    p_best, loss = joint_aucs(found).best(1000, 0)
    assert p_best == pytest.approx(np.full(4, 0.25))
    assert loss == pytest.approx(np.zeros(4), abs=1e-9)


def test_simplest(posterior):
    assert posterior.simplest(np.arange(4), within=1e9) == 0
    assert posterior.simplest(-np.arange(4), within=1e9) == 3
    assert posterior.simplest(np.arange(4), within=0) == posterior.selected_index
    by_name = posterior.simplest("logisticregression__C", within=1.0)
    assert by_name == posterior.simplest(CS)
    assert posterior.simplest("-logisticregression__C", within=1e9) == 3
    near = posterior.joint.within(1.0)
    assert near[by_name]
    assert not near[:by_name].any()
    # of equally simple ones the better
    assert posterior.simplest(np.zeros(4)) == posterior.selected_index


def test_frame(search, posterior):
    frame = posterior.to_frame(0.9)
    assert frame.index.tolist() == posterior.row.tolist()
    assert frame["param_logisticregression__C"].tolist() == CS
    assert frame["selected"].to_numpy().nonzero()[0].tolist() == [search.best_index_]
    assert frame["p_best"].to_numpy() == pytest.approx(posterior.p_best)
    low, high = posterior.auc.interval(0.9)
    assert frame[["low", "high"]].to_numpy().T == pytest.approx(np.array([low, high]))
    table = search_posterior([PIPE.fit(X, Y)], X, Y).to_frame()
    assert "mean_test_score" not in table


def test_text(posterior):
    assert repr(posterior).startswith("SearchPosterior(4 candidates, selected={'log")


# Errors -------------------------------------------------------------------------------


class Flat(ClassifierMixin, BaseEstimator):
    """No linear model."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: (PIPE, X, Y), TypeError, "search must be a fitted search or a list"),
        (lambda: ([], X, Y), ValueError, "search must hold at least one fitted model"),
        (
            lambda: (
                TunedThresholdClassifierCV(PIPE, store_cv_results=True).fit(X, Y),
                X,
                Y,
            ),
            TypeError,
            "list of fitted models, got TunedThresholdClassifierCV",
        ),
        (lambda: (GridSearchCV(PIPE, GRID), X, Y), NotFittedError, "not fitted"),
        (lambda: ([Flat().fit(X, Y)], X, Y), TypeError, "Flat"),
        (lambda: ([SVC().fit(X, Y)], X, Y), TypeError, "SVC"),
        (lambda: ([PIPE.fit(X, Y)], X, np.zeros(80)), ValueError, "y_true"),
        (lambda: ([PIPE.fit(X, Y)], X[:70], Y), ValueError, "inconsistent numbers"),
        (lambda: ([PIPE.fit(X, Y)], X, np.arange(80) % 3), ValueError, "y_true"),
    ],
)
def test_what_is_no_search(make, error, text):
    with pytest.raises(error, match=text):
        search_posterior(*make())


def test_wrong_options(search, posterior):
    with pytest.raises(ValueError, match="n_draws must be a whole number >= 1, got 0"):
        search_posterior(search, X, Y, n_draws=0)
    with pytest.raises(ValueError, match="prior must be 'adaptive', 'paper'"):
        search_posterior(search, X, Y, prior="flat")
    with pytest.raises(ValueError, match="random_state must be a seed >= 0"):
        search_posterior(search, X, Y, random_state="a")
    with pytest.raises(ValueError, match="order must name a parameter of all"):
        posterior.simplest("C")
    with pytest.raises(ValueError, match="order must hold a number for each of 4"):
        posterior.simplest([1, 2])
    with pytest.raises(ValueError, match="within must be >= 0, got -1"):
        posterior.simplest(CS, within=-1)


@pytest.mark.parametrize("weighted", [False, True])
def test_embedding_of_held_out_rows_is_delongs_placement_values(weighted):
    """DeLong, DeLong & Clarke-Pearson (1988): V/n_c about its mean, of each class."""
    rng = np.random.default_rng(5)
    A, b = rng.normal(size=(60, 2)).round(1), np.arange(60) % 5 == 0  # 48 and 12
    w = np.ones(60) if not weighted else 1.0 + np.arange(60) % 3
    model = LogisticRegression().fit(rng.normal(size=(40, 2)), np.arange(40) % 2)
    score = model.decision_function(A)
    got = candidate(
        model_posterior(
            open_two_classes(model, A),
            b.astype(int),
            prior=AdaptivePrior(),
            covariance="common",
            sample_weight=w if weighted else None,
            pos_label=None,
            rows="held-out",
            whole=None,
        )
    )
    psi = (score[b][:, None] > score[~b]) + 0.5 * (score[b][:, None] == score[~b])
    expected = np.zeros(60)
    for part, V in ((b, psi @ w[~b] / w[~b].sum()), (~b, psi.T @ w[b] / w[b].sum())):
        gap = V - np.average(V, weights=w[part])
        expected[part] = np.sqrt(w[part]) * gap / w[part].sum()
    expected /= np.linalg.norm(expected)
    length = np.linalg.norm(got.rows)
    np.testing.assert_allclose(np.abs(got.rows / length), np.abs(expected), atol=1e-12)
    products = got.rows[b].sum(), expected[b].sum()
    assert products == pytest.approx((0, 0), abs=1e-9) or weighted
    assert length == pytest.approx(np.sqrt(got.posterior.probit_moments()[1]), rel=1e-9)


def _asked(model, prior, rows="training"):
    return model_posterior(
        open_two_classes(model, X),
        Y,
        prior=prior,
        covariance="common",
        sample_weight=None,
        pos_label=None,
        rows=rows,
        whole=(model, X, Y),
    )


def test_what_owes_nothing_to_rows_left_out():
    model = clone(PIPE).fit(X, Y)
    alone = candidate(_asked(model, AdaptivePrior(leave_pair_out=False)))
    assert (alone.luck, alone.heard) == (0.0, False)
    held_out = candidate(_asked(model, AdaptivePrior(), rows="held-out"))
    assert (held_out.shift, held_out.held_out) == (0.0, True)
    assert held_out.luck == np.sqrt(held_out.posterior.probit_moments()[1])
    model[-1].coef_[:] = 0
    with pytest.warns(UserWarning, match="AUC is undefined"):
        nothing = candidate(_asked(model, AdaptivePrior()))
    assert (nothing.shift, nothing.luck, nothing.heard) == (0.0, 0.0, True)


def test_more_refits_than_enough_weigh_no_more():
    model = clone(PIPE).fit(X, Y)
    asked = _asked(model, AdaptivePrior(refits=3))
    posterior = asked.auc()
    found = [
        _luck(posterior, replace(asked, prior=AdaptivePrior(refits=refits)))
        for refits in (10, 20, 400)
    ]
    assert found[1] == found[2] == pytest.approx(4 * found[0], rel=1e-12)  # weight²


def test_a_candidate_behind_a_step_that_breaks_closed_forms():
    """Its posterior is that of the refits, and so are its rows and its luck."""
    broken = make_pipeline(
        SelectKBest(k=3), PolynomialFeatures(2), LogisticRegression()
    )
    got = candidate(_asked(broken.fit(X, Y), AdaptivePrior(refits=3)))
    deviation = np.sqrt(got.posterior.probit_moments()[1])
    assert np.linalg.norm(got.rows) == pytest.approx(deviation, rel=1e-12)
    assert (got.luck, got.shift, len(got.cells)) == (deviation, 0.0, 0)


@pytest.mark.parametrize("size", [2, 3])
def test_a_sketch_keeps_squares_on_average(size):
    """Of 1000 unit vectors, to three standard deviations of their mean."""
    law = AUCPosterior.normal(0.5, 0.04)
    units = [
        Candidate(law, 0.5, np.zeros(0), row, 0.0, True, 0.0) for row in np.eye(1000)
    ]
    squares = [np.sum(unit.sketch(size)[1:] ** 2) for unit in units]
    assert np.mean(squares) == pytest.approx(1, abs=3 * np.sqrt(2 / 1000 / (size - 1)))


class Half:
    """Something with an estimator and no refit, or a refit and no estimator."""

    def __init__(self, name):
        setattr(self, name, LogisticRegression())


@pytest.mark.parametrize("name", ["estimator", "refit"])
def test_half_of_a_search_is_none(name):
    with pytest.raises(TypeError, match="search must be a fitted search or a list"):
        search_posterior(Half(name), X, Y)


def test_luck_is_that_of_four_probits_beyond_them():
    asked = _asked(clone(PIPE).fit(X, Y), AdaptivePrior())
    at = {m: _luck(AUCPosterior.normal(m, 0.01), asked) for m in (3.8, 4.0, 4.2, 9.0)}
    # of Z, whose AUC has the mean Φ(m): .5 % less
    assert at[4.2] == at[9.0] == pytest.approx(at[4.0], rel=0.05) != at[3.8]


def test_scores_that_do_not_vary_within_classes_are_their_own_kind():
    """At right angles to deviations from class means, whatever the weights."""
    rng = np.random.default_rng(0)
    weight, noise = rng.integers(1, 9, len(Y)), rng.normal(size=(len(Y), 1))
    parts = []
    for Z in (Y[:, None] * 1.0, 3.0 * Y[:, None], noise + Y[:, None]):
        model = LogisticRegression().fit(Z, Y)
        asked = model_posterior(
            open_two_classes(model, Z),
            Y,
            prior=NormalInverseWishart(),
            covariance="common",
            sample_weight=weight,
            pos_label=None,
        )
        parts.append(candidate(asked).rows)
    rho = alike([Candidate(None, 0, np.zeros(0), r, 0, False, 0) for r in parts])
    assert rho == pytest.approx(
        np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1.0]]), abs=1e-12
    )
