"""Searches: joint posterior, rule of choice, bias of the best score, the splitter."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    check_cv,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn_versions import l1_part
from values import same

from skauc import (
    AdaptivePrior,
    NormalInverseWishart,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
    compare_auc,
    make_cbauc_scorer,
    make_cv_auc_scorer,
    one_sd_rule,
    search_posterior,
)
from skauc.model_selection._candidates import (
    Candidate,
    alike,
    joint_aucs,
    selection_bias,
)
from skauc.results import AUCPosterior

X, Y = make_classification(
    80, 6, n_informative=3, n_redundant=0, flip_y=0.3, random_state=1
)
CS = [1e-3, 1e-2, 0.1, 1.0]
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
NAME = "logisticregression__C"
GRID = {NAME: CS}
FREE = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
L1 = {"solver": "liblinear", **l1_part(1)}
pytestmark = [
    pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning"),
    pytest.mark.filterwarnings("ignore:The AUC is undefined"),
]


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(PIPE, GRID, **FREE).fit(X, Y)


@pytest.fixture(scope="module")
def posterior(search):
    return search_posterior(search, X, Y, random_state=0)


# ------------------------------------------------------------ the joint posterior


def test_joint_covariance_by_its_definition():
    """Entry by entry; candidates 0 to 2 share a model of the data, 3 has its own."""
    rng = np.random.default_rng(1)
    between, rows = rng.normal(size=(4, 5)), rng.normal(size=(4, 9))
    shift, known = np.array([0.1, 0.4, 0.2, 0.0]), [True, True, False, True]
    law = AUCPosterior.normal(0.5, 40.0)
    found = [
        Candidate(law, 0.3 * i, rows[i], between[i], "ab"[i == 3], shift[i], known[i])
        for i in range(4)
    ]
    joint = joint_aucs(found, alike(found))
    rho = np.array([[a @ b / np.sqrt(a @ a * (b @ b)) for b in rows] for a in rows])
    c = np.where(known, shift - shift[known].mean(), 0.0)
    V = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            shared = between[i] @ between[j]
            if (i == 3) != (j == 3):
                shared = (
                    rho[i, j] * np.linalg.norm(between[i]) * np.linalg.norm(between[j])
                )
            V[i, j] = shared + rows[i] @ rows[j] + c[i] * c[j]
            V[i, j] += shift[known].var() * (i == j == 2)
    common = 40.0 - np.diag(V).mean()
    np.testing.assert_allclose(joint.covariance, V + common, rtol=1e-9)
    half_way = 0.3 * np.arange(4) - shift
    level = law.probit_moments()[0] - half_way.mean()
    assert joint.mean == pytest.approx(half_way + level, rel=1e-9)


def test_the_winners_luck_is_taken_off():
    """Equal models whose scores are the truth and known luck."""
    rng = np.random.default_rng(0)
    m, n, spread, truth = 5, 400, 0.2, 0.8
    rows = rng.standard_normal((m, n))
    rows -= rows.mean(axis=0)  # what all share is no luck
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    law, off, taken = AUCPosterior.normal(truth, spread**2), [], []
    for error in rng.multivariate_normal(np.zeros(m), spread**2 * rows @ rows.T, 200):
        found = [
            Candidate(law, truth + e, spread * row, luck=spread)
            for e, row in zip(error, rows, strict=True)
        ]
        taken.append(selection_bias(found, np.argmax(error), alike(found), 400, 0))
        off.append(error.max())
    # a bootstrap around scores that are spread by luck takes off a part of it
    assert 0.5 * np.mean(off) < np.mean(taken) < np.mean(off)


def test_winner_of_two_scores_of_unequal_correlated_noise():
    """``E max(e₁, e₂) = E|e₁ − e₂|/2``; what both share has the mean 0."""
    law, expected = (
        AUCPosterior.normal(0.5, 1.0),
        np.sqrt(0.06) * np.sqrt(2 / np.pi) / 2,
    )
    for shared in (0.0, 4.0):
        noise = np.array([[9, 2], [2, 1]]) / 100 + shared
        # rows with these inner products, of the length of the luck
        two = [
            Candidate(law, 0.5, row, luck=np.linalg.norm(row))
            for row in np.linalg.cholesky(noise)
        ]
        got = selection_bias(two, 0, alike(two), 200_000, 0)
        assert got == pytest.approx(expected, rel=0.02)


def test_held_out_rows_have_delongs_difference():
    A, b = make_classification(
        400, 5, n_informative=4, n_redundant=0, flip_y=0.3, random_state=2
    )
    models = [
        make_pipeline(SelectKBest(k=k), LogisticRegression()).fit(A[:200], b[:200])
        for k in (1, 3)
    ]
    rows = A[200:], b[200:]
    delong = compare_auc(rows[1], *(m.decision_function(rows[0]) for m in models))
    got = search_posterior(models, *rows).difference(0, 1)
    assert got.mean() == pytest.approx(delong.difference, abs=0.005)
    assert got.std() == pytest.approx(delong.standard_error, rel=0.15)


def test_a_search_is_its_posteriors(search, posterior):
    assert posterior.p_best.sum() == pytest.approx(1, rel=1e-12)
    assert (posterior.expected_loss >= 0).all()
    assert posterior.selected_index == search.best_index_
    assert posterior.row.tolist() == [0, 1, 2, 3]
    assert posterior.score == pytest.approx(search.cv_results_["mean_test_score"])
    models = [clone(PIPE).set_params(**{NAME: C}).fit(X, Y) for C in CS]
    alone = AdaptivePrior(leave_pair_out=False)
    m = [auc_posterior(model, X, Y, prior=alone).choice("probit") for model in models]
    assert ndtri(posterior.score) == pytest.approx(m, abs=1e-9)
    # one sixth of the way to the rows left out
    left_out = np.array([one.leave_pair_out for one in posterior.auc])
    z = ndtri((left_out * len(Y) + 0.5) / (len(Y) + 1))
    expected = m + (z - m) / 6
    assert np.diff(posterior.joint.mean) == pytest.approx(np.diff(expected), rel=1e-6)
    k = posterior.selected_index
    own = auc_posterior(models[k], X, Y)
    assert posterior.auc[k].mean() == pytest.approx(own.mean(), rel=1e-9)
    assert posterior.auc[k].interval(0.9) == pytest.approx(own.interval(0.9), rel=1e-6)
    # a ranking by the model is not lowered
    assert posterior.bias_of_best_score == 0
    assert posterior.selected.mean() == posterior.auc[k].mean()


def test_the_table_says_what_the_joint_posterior_says(posterior):
    root = np.linalg.cholesky(posterior.joint.covariance + 1e-12 * np.eye(4))
    normal = np.random.default_rng(0).normal(size=(200_000, 4))
    drawn = ndtr(posterior.joint.mean + normal @ root.T)
    assert posterior.auc.mean() == pytest.approx(drawn.mean(axis=0), abs=2e-3)
    low, high = posterior.auc.interval(0.9)
    assert low == pytest.approx(np.quantile(drawn, 0.05, axis=0), abs=5e-3)
    assert high == pytest.approx(np.quantile(drawn, 0.95, axis=0), abs=5e-3)


@pytest.mark.slow
def test_intervals_of_all_candidates_contain_the_truth():
    # many rows, a rare class, an L1 penalty: only the selected model is refitted, and
    # the training AUC of the others is far above the truth
    covered = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.arange(11_500) % 33 == 0
        Z = rng.normal(size=(len(y), 60))
        Z[:, :5] += 0.3 * y[:, None]
        train, new = slice(1500), slice(1500, None)
        grid = {NAME: np.logspace(-2, 2, 6)}
        pipe = clone(PIPE).set_params(logisticregression=LogisticRegression(**L1))
        search = GridSearchCV(pipe, grid, **FREE).fit(Z[train], y[train])
        got = search_posterior(search, Z[train], y[train], random_state=0)
        models = [
            clone(pipe).set_params(**p).fit(Z[train], y[train]) for p in got.params
        ]
        truth = [roc_auc_score(y[new], m.decision_function(Z[new])) for m in models]
        low, high = got.auc.interval(0.95)
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered) > 0.8  # .00 when each had its own model of the data set


def test_the_selected_one_of_requested_refits_is_lowered():
    prior = AdaptivePrior(refits=4)
    Z, y = np.random.default_rng(0).normal(size=(60, 12)), np.arange(60) % 2
    models = [  # of different features, so that their luck differs
        make_pipeline(
            ColumnTransformer([("own", "passthrough", slice(k, k + 3))]),
            LogisticRegression(),
        ).fit(Z, y)
        for k in range(0, 12, 3)
    ]
    posterior = search_posterior(models, Z, y, prior=prior, random_state=0)
    own = posterior.auc[posterior.selected_index]
    bias = own.mean() - posterior.selected.mean()
    assert 0.005 < bias < own.std()
    assert posterior.bias_of_best_score == pytest.approx(bias, rel=1e-12)
    mean, variance = own.probit_moments()
    lower, wider = posterior.selected.probit_moments()
    assert wider == pytest.approx(variance + (mean - lower) ** 2, rel=1e-9)
    for name in ("second_source", "leave_pair_out", "rows", "warnings"):
        assert getattr(posterior.selected, name) == getattr(own, name)


def test_only_the_best_is_refitted():
    models = [LogisticRegression(C=C, **L1).fit(X, Y) for C in (0.05, 0.1, 0.3, 1, 3)]
    got = search_posterior(models, X, Y, random_state=0)
    refitted = [one.second_source == "refits" for one in got.auc]
    assert np.flatnonzero(refitted).tolist() == [got.selected_index]
    own = auc_posterior(models[got.selected_index], X, Y)
    assert got.selected.mean() == pytest.approx(own.mean(), rel=1e-9)


def test_a_search_fits_each_candidate_once_on_all_rows_and_so_does_its_report(
    count_fits,
):
    fits = count_fits(LogisticRegression)
    search = GridSearchCV(PIPE, GRID, **FREE).fit(X, Y)
    assert fits == [80] * 5  # four candidates and the refit
    fits.clear()
    search_posterior(search, X, Y)
    assert fits == [80] * 4


def test_weights_that_do_not_reach_the_scorer_are_asked_for():
    weight = np.arange(80) % 4 + 1.0
    given = {f"{step}__sample_weight": weight for step in PIPE.named_steps}
    with pytest.warns(UntrustedAUCWarning, match="could not be detected .* assumed"):
        GridSearchCV(PIPE, GRID, **FREE).fit(X, Y, **given)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_five_folds_that_ranked_the_selected_candidate_are_among_its_twenty(count_fits):
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, **FREE).fit(X, Y)
    fits = count_fits(SVC)
    search_posterior(search, X, Y)
    assert sorted(fits) == [64] * (5 + 20) + [80] * 2


def test_sets_of_features_in_a_search_are_doubted():
    # 15 sets of 5 of 200 features of noise: the best one looks like .65
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(60, 200)), np.arange(60) % 2
    sets = [[("own", "passthrough", rng.choice(200, 5, False))] for _ in range(15)]
    pipe = make_pipeline(ColumnTransformer(sets[0]), LogisticRegression())
    grid = {"columntransformer__transformers": sets}
    search = GridSearchCV(pipe, grid, **FREE).fit(Z, y)
    with pytest.warns(UntrustedAUCWarning, match="15 different sets of features"):
        got = search_posterior(search, Z, y)
    assert any("corrects it by refits" in text for text in got.selected.warnings)
    honest = auc_posterior(search, Z, y, prior=AdaptivePrior(refits=3))
    assert honest.second_source == "refits"
    assert honest.mean() < got.selected.mean() - 0.05


def test_candidates_of_other_features_have_their_own_level():
    """The error of the model of 500 features is not that of the model of three."""
    rng, y = np.random.default_rng(1), np.arange(100) % 2
    signal = rng.normal(size=(100, 3)) + 0.8 * y[:, None]
    noise = rng.normal(size=(100, 500)) * (1 + 2 * y[:, None])
    Z = np.column_stack([signal, noise])
    models = [
        make_pipeline(
            ColumnTransformer([("own", "passthrough", list(columns))]),
            LogisticRegression(max_iter=2000),
        ).fit(Z, y)
        for columns in (range(3), range(3, 503))
    ]
    got = search_posterior(models, Z, y, random_state=0)
    own = auc_posterior(models[0], Z, y)
    assert got.auc[0].mean() == pytest.approx(own.mean(), abs=0.02)
    assert got.auc[0].std() == pytest.approx(own.std(), rel=0.2)


def test_one_candidate_and_equal_candidates():
    got = search_posterior([clone(PIPE).fit(X, Y)], X, Y)
    assert (got.p_best.tolist(), got.expected_loss.tolist()) == ([1.0], [0.0])
    assert got.bias_of_best_score == 0
    assert same(got.selected, got.auc[0])
    assert "mean_test_score" not in got.to_frame()
    twice = GridSearchCV(PIPE, {NAME: [1e-2, 1.0, 1.0]}, **FREE).fit(X, Y)
    got = search_posterior(twice, X, Y, random_state=1)
    assert got.p_best[1] == got.p_best[2]
    assert got.difference(1, 2).probability == 0.5


@pytest.mark.parametrize("make", [GridSearchCV, RandomizedSearchCV])
def test_any_folds_and_scores(make, posterior):
    options = {"n_iter": 4, "random_state": 0} if make is RandomizedSearchCV else {}
    search = make(PIPE, GRID, scoring="roc_auc", cv=3, **options).fit(X, Y)
    got = search_posterior(search, X, Y, random_state=0)
    order = [CS.index(p[NAME]) for p in got.params]
    assert got.auc.mean() == pytest.approx(posterior.auc.mean()[order], abs=0.03)
    assert got.joint.mean[0] - got.joint.mean[1] == pytest.approx(
        posterior.joint.mean[order[0]] - posterior.joint.mean[order[1]], rel=1e-6
    )
    assert got.selected_index == search.best_index_


def test_halving_failed_candidates_and_several_scores():
    search = HalvingGridSearchCV(
        PIPE, GRID, cv=2, scoring="roc_auc", factor=2, random_state=0
    ).fit(X, Y)
    results = search.cv_results_
    got = search_posterior(search, X, Y, random_state=0)
    last = np.flatnonzero(results["iter"] == results["iter"].max())
    assert got.row.tolist() == last.tolist()
    assert got.row[got.selected_index] == search.best_index_
    several = {"own": cbauc_scorer, "other": "roc_auc"}
    search = GridSearchCV(PIPE, GRID, scoring=several, cv=2, refit=False)
    search.fit(X, Y).cv_results_["mean_test_own"][0] = np.nan
    got = search_posterior(search, X, Y)
    assert got.row.tolist() == [1, 2, 3]
    assert got.score is None
    search.refit = "other"
    assert search_posterior(search, X, Y).score.tolist() == pytest.approx(
        search.cv_results_["mean_test_other"].tolist()
    )


def test_the_scorers_prior_is_taken():
    """A forest needs the refits that the scorer makes."""
    prior = AdaptivePrior(refits=2)
    models = [PIPE, RandomForestClassifier(5, random_state=0)]
    scoring = {"cv": make_cv_auc_scorer(cv=2), "model": make_cbauc_scorer(prior=prior)}
    pipe = make_pipeline(StandardScaler(), PIPE)
    grid = {"pipeline": models}
    how = {"scoring": scoring, "refit": "model", "cv": ResubstitutionSplit()}
    search = GridSearchCV(pipe, grid, **how)
    got = search_posterior(search.fit(X, Y), X, Y)
    assert [one.second_source for one in got.auc] == ["refits", "folds"]
    with pytest.raises(TypeError, match="RandomForestClassifier is not linear"):
        search_posterior(search, X, Y, prior="paper")


def test_several_data_sets_and_conjugate_priors():
    """Pipelines with other entered features are compared by their scores."""
    steps = [
        [PolynomialFeatures(2, include_bias=False), StandardScaler()],
        [SelectKBest(k=2)],
        [SelectKBest(k=2), PolynomialFeatures(2)],
        [StandardScaler()],
    ]
    models = [make_pipeline(*s, LogisticRegression()).fit(X, Y) for s in steps]
    for prior in ("adaptive", NormalInverseWishart(), AdaptivePrior(refits=2)):
        got = search_posterior(models, X, Y, prior=prior, random_state=0)
        assert np.linalg.eigvalsh(got.joint.covariance).min() > -1e-9
        for i in range(3):
            assert 0 < got.difference(i, 3).std() < 0.3
        assert got.p_best.sum() == pytest.approx(1, rel=1e-12)


def test_another_candidate_changes_no_difference():
    models = [LogisticRegression(C=C).fit(X, Y) for C in CS]
    none = LogisticRegression(C=1e-6, **L1).fit(X, Y)
    poly = make_pipeline(PolynomialFeatures(2), LogisticRegression()).fit(X, Y)
    alone = search_posterior(models, X, Y, random_state=0)
    ahead = np.subtract.outer(alone.joint.mean, alone.joint.mean)
    for other in (none, poly):
        got = search_posterior([*models, other], X, Y, random_state=0)
        again = np.subtract.outer(got.joint.mean[:-1], got.joint.mean[:-1])
        assert again == pytest.approx(ahead, abs=1e-12)
        if other is none:
            expected = alone.joint.deviation_from(0)
            assert got.joint.deviation_from(0)[:-1] == pytest.approx(expected, rel=1e-9)


def test_a_model_that_ranks_nothing_is_a_half():
    models = [clone(PIPE).fit(X, Y) for _ in range(2)]
    models[1][-1].coef_[:] = 0
    got = search_posterior(models, X, Y, random_state=0)
    assert got.auc.mean()[1] == 0.5
    assert got.joint.mean[1] == 0
    assert not got.joint.covariance[1].any()
    gap = got.difference(0, 1)
    assert gap.mean() == pytest.approx(got.auc[0].mean() - 0.5, abs=1e-3)
    assert gap.std() == pytest.approx(got.auc[0].std(), rel=0.05)
    search = GridSearchCV(PIPE, GRID, **FREE).fit(X, Y)
    search.estimator = make_pipeline(StandardScaler(), LogisticRegression(**L1))
    search.cv_results_["params"][0] = {NAME: 1e-6}
    search.best_index_ = 0
    got = search_posterior(search, X, Y, random_state=0)
    assert (got.bias_of_best_score, got.selected.mean()) == (0, 0.5)


@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_separated_rows(noise):
    """A loss is no larger than the deviation of an AUC."""
    A = noise * X + 1e4 * Y[:, None]
    models = [LogisticRegression(C=C).fit(A, Y) for C in CS]
    got = search_posterior(models, A, Y, random_state=0)
    assert (got.expected_loss < got.auc.std()).all()
    assert got.p_best == pytest.approx(np.full(4, 0.25), abs=0.1)


def test_weights_of_the_fit_repeat_rows():
    w = np.random.default_rng(5).integers(0, 4, len(Y))
    weights = {"logisticregression__sample_weight": w}
    search = GridSearchCV(PIPE[-1:], GRID, **FREE)
    got = search_posterior(search.fit(X, Y, **weights), X, Y, fit_params=weights)
    many = X.repeat(w, axis=0), Y.repeat(w)
    wanted = search_posterior(search.fit(*many), *many)
    # other folds and samples: copies of a row are not kept together
    assert got.auc.mean() == pytest.approx(wanted.auc.mean(), abs=0.02)
    assert [one.warnings for one in got.auc] == [one.warnings for one in wanted.auc]


def test_jobs_seeds_and_text(search, posterior):
    again = search_posterior(search, X, Y, random_state=0)
    assert same(again, posterior)
    assert same(pickle.loads(pickle.dumps(posterior)), posterior)
    other = search_posterior(search, X, Y, random_state=1, n_resamples=1000)
    assert other.p_best == pytest.approx(posterior.p_best, abs=0.06)
    assert repr(posterior).startswith("SearchPosterior(4 candidates, selected={'log")


def test_simplest_and_frame(search, posterior):
    assert posterior.simplest(np.arange(4), within=1e9) == 0
    assert posterior.simplest(f"-{NAME}", within=1e9) == 3
    best = int(np.argmax(posterior.joint.mean))
    assert posterior.simplest(np.arange(4), within=0) == best
    assert posterior.simplest(np.zeros(4)) == best  # the better of equally simple ones
    by_name = posterior.simplest(NAME, within=1.0)
    near = posterior.joint.within(1.0)
    assert near[by_name]
    assert not near[:by_name].any()
    frame = posterior.to_frame(0.9)
    assert frame[f"param_{NAME}"].tolist() == CS
    assert frame["selected"].to_numpy().nonzero()[0].tolist() == [search.best_index_]
    assert frame["p_best"].to_numpy() == pytest.approx(posterior.p_best)
    low, high = posterior.auc.interval(0.9)
    assert frame[["low", "high"]].to_numpy().T == pytest.approx(np.array([low, high]))


def fitted(model=PIPE, rows=slice(None)):
    return clone(model).fit(X[rows], Y[rows])


TUNED = TunedThresholdClassifierCV(PIPE, store_cv_results=True, cv=2)
UNEQUAL = {"a__sample_weight": np.ones(80), "b__sample_weight": np.zeros(80)}


BAD = [  # arguments, text of the error
    ({"search": PIPE}, "must be a fitted search"),
    ({"search": []}, "at least one fitted mode"),
    ({"search": fitted(TUNED)}, "list of fitted models, got TunedThresholdCl"),
    ({"search": GridSearchCV(PIPE, GRID)}, "not fitted"),
    ({"search": [fitted(SVC())], "prior": "paper"}, "SVC"),
    ({"y": 0 * Y}, "y_true"),
    ({"y": np.arange(80) % 3}, "y_true"),
    ({"X": X[:70]}, "inconsistent number"),
    ({"fit_params": [1.0]}, r"fit_params must be a dict .* got \[1.0\]"),
    ({"fit_params": UNEQUAL}, "same .* got .'a__sample_weight', 'b__sample_weight'"),
    ({"fit_params": {"sample_weight": [1]}}, "sample_weight must have .* 80"),
    ({"n_resamples": 0}, "n_resamples must be .* >= 1, got 0"),
    ({"prior": "flat"}, "prior must be 'adaptive', 'paper'"),
    ({"random_state": "a"}, "random_state must be"),
]


@pytest.mark.parametrize(("change", "text"), BAD)
def test_errors(change, text, search):
    with pytest.raises((TypeError, ValueError), match=text):
        search_posterior(**{"search": search, "X": X, "y": Y} | change)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda p: p.simplest("C"), "order must name a parameter of all"),
        (lambda p: p.simplest([1, 2]), "order must hold a number for .*4"),
        (lambda p: p.simplest(CS, within=-1), "within must be >= 0"),
        (lambda p: p.difference(0, 4), "j must "),
    ],
)
def test_errors_of_the_posterior(ask, text, posterior):
    with pytest.raises(ValueError, match=text):
        ask(posterior)


def test_models_of_other_rows_are_not_compared_in_silence():
    models = [LogisticRegression().fit(*rows) for rows in ((X, Y), (X[:40], Y[:40]))]
    text = "These rows trained some of the models and not the others"
    with pytest.warns(UntrustedAUCWarning, match=text):
        search_posterior(models, X, Y)


# --------------------------------------------------------------------- the 1-SD rule


def results(split, values):
    """``cv_results_`` of candidates with known scores (m, K) of folds."""
    split = np.array(split)
    out = {f"split{k}_test_score": column for k, column in enumerate(split.T)}
    out["mean_test_score"] = split.mean(axis=1)
    return out | {"params": [{"C": value} for value in values]}


def test_rule_by_hand():
    # behind the best by .4, .2, 0, .1, with deviations of (1/2 + 1)^½ times these gaps
    split = [[0.2, 0.6], [0.6, 0.6], [0.8, 0.8], [0.4, 1.0]]
    found = results(split, [1.0, 2.0, 3.0, 4.0])
    sd = np.sqrt(1.5) * np.std(np.array(split) - 0.8, axis=1, ddof=1)
    for options, expected in (
        ({"within": 0.99 * 0.4 / sd[0]}, 2),
        ({"within": 1.01 * 0.4 / sd[0]}, 0),
        ({"simplest": "largest", "within": 1.01 * 0.1 / sd[3]}, 3),
        ({"within": 0}, 2),
    ):
        assert one_sd_rule("C", **options)(found) == expected
    failed = results([[0.5, 0.5], [0.6, 0.6], [np.nan] * 2, [0.6, 0.8]], [1, 1, 0, 2])
    assert one_sd_rule("C")(failed) == 1  # the better of equally simple ones
    rounded = results([[0.5 - 1e-15] * 2, [0.5] * 2, [0.4] * 2], [1, 2, 3])
    assert one_sd_rule("C", within=0)(rounded) == 0


def test_rule_of_folds_is_nadeaus_and_bengios():
    split = np.array([[0.70, 0.80, 0.75], [0.80, 0.82, 0.81], [0.78, 0.80, 0.82]])
    found = results(split, (1, 2, 3))
    gaps = split - split[1]
    sd = np.sqrt((1 / 3 + 1 / 2) * gaps.var(axis=1, ddof=1))
    behind = -gaps.mean(axis=1)
    for within in (0.5, 1.0, 0.999 * behind[0] / sd[0], 1.001 * behind[0] / sd[0]):
        near = np.flatnonzero(behind <= within * sd)
        assert one_sd_rule("C", within=within)(found) == near[0]


@pytest.mark.parametrize("scoring", [cbauc_scorer, "roc_auc"], ids=str)
def test_rule_over_folds(scoring):
    rule = one_sd_rule(NAME)
    search = GridSearchCV(PIPE, GRID, scoring=scoring, cv=5, refit=rule).fit(X, Y)
    assert search.best_index_ <= np.argmax(search.cv_results_["mean_test_score"])
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert repr(rule).startswith(f"OneSDRule(parameter='{NAME}'")


def test_rule_of_one_score():
    search = GridSearchCV(PIPE, GRID, **FREE, refit=one_sd_rule(NAME))
    with pytest.warns(UntrustedAUCWarning, match="so that the best score is selected"):
        search.fit(X, Y)
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: one_sd_rule(3), "parameter must be a name, got 3"),
        (
            lambda: one_sd_rule("D")(results([[0.5]], [1])),
            "parameter must name a parameter of all candidates, got 'D' where",
        ),
        (
            lambda: one_sd_rule("C")(results([[np.nan] * 2], [1])),
            "cv_results must hold a finite score, got none",
        ),
        (lambda: one_sd_rule("C")(results([[0.5]], ["a"])), "C must hold numbers"),
        (
            lambda: one_sd_rule("C")(
                {"mean_test_a": [0.5], "mean_test_b": [0.5], "params": [{"C": 1}]}
            ),
            r"cv_results_ must hold one score, got \['mean",
        ),
    ],
)
def test_errors_of_the_rule(make, text):
    with pytest.raises(ValueError, match=text):
        make()


# ------------------------------------------------------------------------ splitter


def test_split_is_all_rows_once():
    for data in (X, X.tolist(), sparse.csr_array(X)):
        [(train, test)] = ResubstitutionSplit().split(data)
        np.testing.assert_array_equal(train, np.arange(80))
        np.testing.assert_array_equal(test, np.arange(80))
    assert ResubstitutionSplit().get_n_splits() == 1
    assert repr(check_cv(ResubstitutionSplit())) == "ResubstitutionSplit()"
    with pytest.raises(
        ValueError, match="groups must be None without metadata routing"
    ):
        GridSearchCV(PIPE, GRID, **FREE).fit(X, Y, groups=np.arange(80) // 2)
    with pytest.raises(TypeError, match="X must be an array of rows, got 3"):
        next(ResubstitutionSplit().split(3))


def test_searches_whose_rows_are_not_comparable_are_doubted():
    groups = np.arange(len(Y)) // 2
    grid, how = {"C": [0.1, 1.0]}, {"scoring": "roc_auc"}
    search = GridSearchCV(LogisticRegression(), grid, cv=GroupKFold(3), **how)
    search.fit(X, Y, groups=groups)
    with pytest.warns(UntrustedAUCWarning, match="rows depend on each other"):
        found = search_posterior(search, X, Y, random_state=0)
    assert any("rows depend on each other" in text for text in found.selected.warnings)
    search = HalvingGridSearchCV(LogisticRegression(), grid, **how).fit(X, Y)
    with pytest.warns(UntrustedAUCWarning, match="without random_state"):
        search_posterior(search, X, Y, random_state=0)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("error_score", [0, np.nan])
def test_candidates_whose_fit_fails_are_left_out(error_score):
    grid = {"logisticregression__C": [0.1, -1.0, 1.0]}
    how = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
    with pytest.warns(FitFailedWarning):
        search = GridSearchCV(PIPE, grid, error_score=error_score, **how).fit(X, Y)
    found = search_posterior(search, X, Y, random_state=0)
    assert found.row.tolist() == [0, 2]
    whole = GridSearchCV(PIPE, {"logisticregression__C": [0.1, 1.0]}, **how).fit(X, Y)
    expected = search_posterior(whole, X, Y, random_state=0)
    assert found.p_best == pytest.approx(expected.p_best)
    assert found.params == expected.params
    assert same(found.selected, expected.selected)
    search.error_score = "raise"
    if error_score == 0:
        with pytest.raises(ValueError, match="C"):
            search_posterior(search, X, Y)
