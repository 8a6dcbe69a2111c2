"""Rows of one group depend on each other: they are left out together."""

import itertools
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from values import same

import skauc
from skauc import ResubstitutionSplit, auc_posterior, bayesian_val_score

pytestmark = pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
IN_GROUPS = ["whole", "mixed"]  # all rows of a group in one class, or in both


def drawn(G=12, k=4, P=6, kind="whole", effect=1.0, signal=0.5, seed=0):
    """Rows, labels and groups with effects of the groups."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(max(k - 2, 1), k + 3, G)
    group = np.repeat(np.arange(G), sizes)
    y = group % 2 if kind == "whole" else np.arange(len(group)) % 2
    X = rng.normal(size=(len(group), P)) + effect * rng.normal(size=(G, P))[group]
    X[:, 0] += signal * y
    return X, y, group


def sums_between(scores, y, group, weight=None):
    """Won weight and weight of the pairs of each two groups, by a loop, (2, G, G).

    ``scores(a, b)`` are those of all rows without the groups a and b.
    """
    weight = np.ones(len(y)) if weight is None else weight
    names = np.unique(group)
    sums = np.zeros((2, len(names), len(names)))
    for a, b in itertools.permutations(range(len(names)), 2):
        i, j = (group == names[a]) & (y == 0), (group == names[b]) & (y == 1)
        if not (i.any() and j.any()):
            continue
        z = scores(names[a], names[b])
        margin = z[j] - z[i][:, None]
        pairs = np.outer(weight[i], weight[j])
        sums[0, a, b] = np.sum(pairs * ((margin > 0) + 0.5 * (margin == 0)))
        sums[1, a, b] = pairs.sum()
    return sums


def auc_of(sums):
    won, all_pairs = sums.sum(axis=(1, 2))
    return won / all_pairs


def by_refits(model, X, y, group, weight=None):
    """Sums of pairs by refits without both groups."""

    def scores(a, b):
        kept = ~np.isin(group, [a, b])
        how = {} if weight is None else {"sample_weight": weight[kept]}
        return model.fit(X[kept], y[kept], **how).decision_function(X)

    return sums_between(scores, y, group, weight)


@pytest.mark.parametrize("kind", IN_GROUPS)
@pytest.mark.parametrize("P", [6, 80])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_of_groups_of_a_ridge_are_exact(kind, P, weighted):
    X, y, group = drawn(P=P, kind=kind)
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else None
    model = RidgeClassifier(alpha=3.0)
    sums = by_refits(model, X, y, group, weight)
    expected = auc_of(sums)
    model.fit(X, y, sample_weight=weight)
    found = auc_posterior(model, X, y, groups=group, sample_weight=weight)
    assert found.second_source == "group pairs"
    assert found.leave_pair_out == pytest.approx(expected, abs=1e-12)
    # the jackknife over groups, times 2, and with the variance of Student's t
    without = [
        auc_of(np.delete(np.delete(sums, a, axis=1), a, axis=2)) for a in range(12)
    ]
    fewest = 6 if kind == "whole" else 12
    variance = 2 * (fewest - 1) / (fewest - 3) * 11 * np.var(without)
    n = len(y) if weight is None else weight.sum()
    z = ndtri((expected * n + 0.5) / (n + 1))
    in_probits = variance * 2 * np.pi * np.exp(z**2)
    assert found.probit_moments()[1] == pytest.approx(in_probits, rel=1e-6)
    if not weighted:
        scorer = skauc.make_lpo_auc_scorer(groups=group)
        for rows in ((X, y), (skauc.RowBlocks.from_arrays(X, y), None)):
            assert scorer(model, *rows) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", IN_GROUPS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("hinge", [False, True])
def test_pairs_of_few_groups_of_curved_losses_are_exact(kind, C, hinge):
    X, y, group = drawn(G=8, P=20, kind=kind, seed=4)
    how = {"C": C, "tol": 1e-9, "max_iter": 10**5}
    model = LogisticRegression(solver="newton-cg", **how)
    model = LinearSVC(dual=False, **how) if hinge else model
    expected = auc_of(by_refits(model, X, y, group))
    found = auc_posterior(model.fit(X, y), X, y, groups=group, rows="training")
    assert found.second_source == "group pairs"
    assert found.leave_pair_out == pytest.approx(expected, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("kind", IN_GROUPS)
@pytest.mark.parametrize(("C", "error"), [(0.01, 0.003), (1.0, 0.02), (100.0, 0.05)])
def test_one_step_without_two_groups_errs_little(kind, C, error):
    X, y, group = drawn(G=30, P=150, kind=kind, seed=3)
    model = LogisticRegression(C=C, tol=1e-6, solver="newton-cg", max_iter=1000)
    expected = auc_of(by_refits(model, X, y, group))
    found = auc_posterior(model.fit(X, y), X, y, groups=group, rows="training")
    assert found.second_source == "group pairs"
    assert found.leave_pair_out == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("kind", IN_GROUPS)
def test_permutations_of_labels_are_those_that_the_design_allows(kind):
    G = 6 if kind == "whole" else 3
    group = np.repeat(np.arange(G), 2 if kind == "whole" else 3)
    y = group % 2 if kind == "whole" else np.arange(3 * G) % 3 % 2
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    if kind == "whole":
        labelings = [np.isin(group, k) for k in itertools.combinations(range(G), 3)]
    else:  # the place of the one positive row in each group
        places = itertools.product(range(3), repeat=G)
        labelings = [(np.arange(3) == np.array(p)[:, None]).ravel() for p in places]
    model = RidgeClassifier(alpha=2.0)
    observed, *auc = (
        auc_of(by_refits(model, X, 1 * one, group)) for one in (y, *labelings)
    )
    found = skauc.auc_permutation_test(model, X, y, groups=group, n_resamples=49)
    null = found.null_distribution
    assert found.statistic == pytest.approx(observed, abs=1e-12)
    assert np.abs(null[:, None] - auc).min(axis=1).max() < 1e-12
    assert found.pvalue == (np.sum(null > observed - 1e-9) + 1) / 50
    exact = np.mean(np.array(auc) > observed - 1e-9)  # p has a deviation of .07
    assert found.pvalue == pytest.approx(exact, abs=0.18)
    assert np.std(null) == pytest.approx(np.std(auc), rel=0.4)


class Fixed(ClassifierMixin, BaseEstimator):
    """The first feature as score, whatever the rows of the fit."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]


def test_folds_compare_rows_of_different_groups():
    X, y, group = drawn(G=15, kind="mixed", effect=3.0)
    X[:, 0] += 4 * (y == 1) * (group % 5 == 0)  # pairs within these groups are won
    found = bayesian_val_score(Fixed(), X, y, groups=group)
    assert found.second_source == "group folds"
    expected = auc_of(sums_between(lambda a, b: X[:, 0], y, group))
    # 20 folds compare a quarter of all pairs each time
    assert found.leave_pair_out == pytest.approx(expected, abs=0.05)


MODELS = {
    "L2": LogisticRegression(),
    "L1": make_pipeline(
        StandardScaler(),
        LinearSVC(
            C=0.1, penalty="l1", dual=False, tol=1e-6, max_iter=10_000, random_state=0
        ),
    ),
    "squared hinge": LinearSVC(C=0.1, tol=1e-9, max_iter=10**6, random_state=0),
    "rbf": SVC(),
    "forest": RandomForestClassifier(12, max_depth=3, random_state=0),
}
WAYS = dict.fromkeys(["L2", "squared hinge"], "group pairs")
WAYS |= dict.fromkeys(["L1", "rbf", "forest"], "group folds")


@pytest.mark.parametrize("name", sorted(WAYS.keys() - {"forest"}))  # it knows the order
def test_laws_of_groups(name):
    X, y, group = drawn(kind="mixed")
    ask = skauc.make_cbauc_scorer

    def numbers(X, y, group, weight=None):
        how = {"groups": group, "sample_weight": weight}
        p = bayesian_val_score(MODELS[name], X, y, **how)
        model = MODELS[name].fit(X, y)
        score = ask(groups=group)(model, X, y) if weight is None else 0.0
        assert group is None or p.second_source == WAYS[name]
        return np.array([p.mean(), p.std(), score])

    expected = numbers(X, y, group)
    order = np.random.default_rng(0).permutation(len(y))
    assert_allclose(numbers(X[order], y[order], group[order]), expected, atol=1e-4)
    names = np.array(list("kfbgahcdeijl"))[group]
    assert_allclose(numbers(X, y, names), expected, atol=1e-4)
    alone = np.arange(len(y))[::-1]
    found = bayesian_val_score(MODELS[name], X, y, groups=alone)
    assert same(found, bayesian_val_score(MODELS[name], X, y))
    if name == "L2":
        twice = np.repeat(np.arange(len(y)), 1 + (alone < 9))
        doubled = numbers(X[twice], y[twice], group[twice])
        weighted = numbers(X, y, group, 1.0 + (alone < 9))
        assert_allclose(weighted[:2], doubled[:2], atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_one_label_per_group_is_no_signal(name):
    rows = [drawn(G=30, k=5, P=50, signal=0.0, seed=seed) for seed in range(4)]
    found = [bayesian_val_score(MODELS[name], X, y, groups=g) for X, y, g in rows]
    # one set has a deviation of .1
    assert np.mean([p.mean() for p in found]) == pytest.approx(0.5, abs=0.12)
    X, y, _ = rows[0]
    assert bayesian_val_score(MODELS[name], X, y).mean() > 0.75  # it learns the groups


def test_searches_with_groups():
    X, y, group = drawn(G=24, P=40)
    grid, how = {"C": [1e-3, 1.0]}, {"cv": ResubstitutionSplit()}
    scoring = skauc.make_cbauc_scorer(groups=group)
    search = GridSearchCV(LogisticRegression(), grid, scoring=scoring, **how).fit(X, y)
    found = skauc.search_posterior(search, X, y, groups=group, random_state=0)
    report = auc_posterior(search, X, y, groups=group)
    assert found.auc[found.selected_index].mean() == pytest.approx(report.mean())
    assert report.second_source == "group pairs"
    with pytest.raises(ValueError, match=r"use scoring=make_cbauc_scorer\(groups="):
        GridSearchCV(LogisticRegression(), grid, scoring=scoring, **how).fit(
            X, y, groups=group
        )
    with config_context(enable_metadata_routing=True):
        routed = skauc.cbauc_scorer.set_score_request(groups=True)
        again = GridSearchCV(LogisticRegression(), grid, scoring=routed, **how)
        again.fit(X, y, groups=group)
        key = "mean_test_score"
        assert_allclose(again.cv_results_[key], search.cv_results_[key])
        deaf = GridSearchCV(
            LogisticRegression(), grid, scoring=skauc.cbauc_scorer, **how
        )
        with pytest.raises(Exception, match="groups"):
            deaf.fit(X, y, groups=group)


def test_a_search_that_was_split_by_groups_is_reported_with_them():
    X, y, group = drawn(G=24, P=40)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=GroupKFold(3))
    search.fit(X, y, groups=group)
    forgotten = auc_posterior(search, X, y)
    assert "pass groups=" in " ".join(forgotten.warnings)
    assert "pass groups=" not in " ".join(
        auc_posterior(search, X, y, groups=group).warnings
    )
    fitted = bayesian_val_score(search, X, y, groups=group)
    assert fitted.second_source == "group pairs"
    params = {"groups": group}
    joint = skauc.search_posterior(search, X, y, fit_params=params, random_state=0)
    assert joint.selected.second_source == "group pairs"


NUMBERS_OF_GROUPS = []


class SeenGroupKFold(GroupKFold):
    """Folds that tell how many groups they got."""

    def split(self, X, y=None, groups=None):
        NUMBERS_OF_GROUPS.append(0 if groups is None else len(np.unique(groups)))
        return super().split(X, y, groups)


@pytest.mark.parametrize("routing", [False, True])
def test_searches_in_pipelines_get_the_groups_of_their_rows(routing):
    X, y, group = drawn(G=24, P=5)
    inner = GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 9.0]}, cv=SeenGroupKFold(2))
    pipe = make_pipeline(StandardScaler(), inner)
    around = GridSearchCV(pipe, {"standardscaler__with_std": [True]}, cv=2)
    calls = (
        lambda *rows, groups: skauc.cross_val_auc(*rows, 3, groups=groups),
        lambda *rows, groups: skauc.make_cv_auc_scorer(cv=3, groups=groups)(*rows),
        partial(skauc.bootstrap_auc, n_resamples=1),
        skauc.bayesian_val_score,
    )
    for call in calls[: 1 if routing else 4]:
        NUMBERS_OF_GROUPS.clear()
        with config_context(enable_metadata_routing=routing):
            call(around, X, y, groups=group)
        assert min(NUMBERS_OF_GROUPS) > 5
    pipe.fit(X, y, gridsearchcv__groups=group)
    assert "pass groups=" in " ".join(auc_posterior(pipe, X, y).warnings)


def test_held_out_rows_have_the_interval_of_their_groups():
    X, y, group = drawn(G=30)
    model = LogisticRegression().fit(*drawn(seed=5)[:2])
    score = model.decision_function(X)
    expected = skauc.auc_estimate(y, score, groups=group)
    found = auc_posterior(model, X, y, groups=group, rows="held-out")
    assert found.mean() == pytest.approx(expected.auc, abs=0.01)
    assert found.std() == pytest.approx(expected.standard_error(), rel=0.1)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"groups": [1, 2]}, "groups must have one value for each"),
        ({"groups": np.arange(48) % 2}, "in at least 3 groups"),
        ({"groups": np.full(48, np.nan)}, "groups must not be missing, got nan"),
        ({"groups": np.arange(48) // 4, "prior": "paper"}, "for a conjugate prior"),
    ],
)
def test_groups_that_cannot_be_used_are_refused(how, text):
    X, y = np.random.default_rng(0).normal(size=(48, 3)), np.arange(48) % 2
    with pytest.raises(ValueError, match=text):
        bayesian_val_score(LogisticRegression(), X, y, **how)
    blocks = skauc.RowBlocks([(X, y)])
    with pytest.raises(ValueError, match="groups must be None for collections"):
        auc_posterior(LogisticRegression().fit(X, y), blocks, groups=np.arange(48) // 4)
    with pytest.raises(TypeError, match="groups must be None for make_ebauc_scorer"):
        skauc.ebauc_scorer(LogisticRegression().fit(X, y), X, y, groups=y)


def test_scorers_say_what_groups_cost_or_prevent():
    X, y, group = drawn(G=30, P=60)
    hinge = LinearSVC(C=0.1).fit(X, y)
    with pytest.warns(skauc.UntrustedAUCWarning, match="o closed form holds for Lin"):
        skauc.make_cbauc_scorer(groups=group)(hinge, X, y)
    with pytest.raises(ValueError, match=r"squared hinge.*use skauc.make_cv_auc_sc"):
        skauc.make_lpo_auc_scorer(groups=group)(hinge, X, y)
    with pytest.raises(ValueError, match=r"halving .* set_score_request\(groups="):
        skauc.make_cbauc_scorer(groups=group)(hinge, X[:20], y[:20])


@pytest.mark.parametrize("kind", IN_GROUPS)
def test_cross_validation_compares_groups_and_leaves_each_out_for_its_error(kind):
    X, y, group = drawn(G=20, kind=kind)
    cv = StratifiedGroupKFold(4)
    found = skauc.cross_val_auc(RidgeClassifier(), X, y, cv, groups=group)
    folds, scores = list(cv.split(X, y, group)), np.empty(len(y))
    for train, test in folds:
        model = RidgeClassifier().fit(X[train], y[train])
        scores[test] = model.decision_function(X[test])

    def parts(without=None):
        tests = (test[group[test] != without] for _, test in folds)
        return [
            auc_of(sums_between(lambda a, b, t=t: scores[t], y[t], group[t]))
            for t in tests
        ]

    assert found.parts == pytest.approx(parts(), abs=1e-12)
    means = [np.mean(parts(without=a)) for a in range(20)]
    fewest = 10 if kind == "whole" else 20
    variance = (fewest - 1) / (fewest - 3) * 19 * np.var(means)
    assert found.standard_error**2 == pytest.approx(2 * variance, abs=1e-12)
    scorer = skauc.make_cv_auc_scorer(cv=folds, groups=group)
    assert scorer(RidgeClassifier(), X, y) == pytest.approx(found.auc, abs=1e-12)


def test_folds_of_one_group_compare_its_rows():
    X, y, group = drawn(G=9, k=9, kind="mixed", effect=5.0)
    cv = LeaveOneGroupOut()
    found = skauc.cross_val_auc(Fixed(), X, y, cv, groups=group)
    own = [roc_auc_score(y[group == a], X[group == a, 0]) for a in range(9)]
    assert found.parts == pytest.approx(own, abs=1e-12)
    variance = (9 - 1) / (9 - 3) * np.var(own, ddof=1) / 9  # of a mean of nine
    assert found.standard_error**2 == pytest.approx(2 * variance, abs=1e-12)
    scorer = skauc.make_cv_auc_scorer(cv=cv, groups=group)
    assert scorer(Fixed(), X, y) == pytest.approx(found.auc, abs=1e-12)


@pytest.mark.parametrize("kind", IN_GROUPS)
def test_bootstrap_compares_rows_of_different_groups(kind):
    X, y, group = drawn(G=10, kind=kind, effect=3.0)
    X[:, 0] += 4 * (y == 1) * (group % 5 == 0)  # pairs within these groups are won
    known = {"groups": group, "n_resamples": 4}
    found = skauc.bootstrap_auc(Fixed(), X, y, method="oob", **known)
    sums = sums_between(lambda a, b: X[:, 0], y, group)
    assert found.apparent == pytest.approx(auc_of(sums), abs=1e-12)
    y = 1 * (group > 7)
    y[np.argmax(group == 9)] = 0  # positives in one group of each kind: never left out
    with pytest.raises(ValueError, match="2 groups or more with the same classes"):
        skauc.bootstrap_auc(Fixed(), X, y, **known)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["L2", "L1"])
def test_noise_of_groups_is_covered(name):
    inside = []
    for seed in range(40):
        X, y, group = drawn(G=40, k=5, P=20, signal=0.0, seed=seed)
        found = bayesian_val_score(MODELS[name], X, y, groups=group)
        z, variance = found.probit_moments()
        inside.append(abs(z - ndtri(0.5)) < 1.96 * np.sqrt(variance))
    assert np.mean(inside) >= 0.85


def test_inner_folds_of_a_search_hold_all_copies_of_a_row():
    """Otherwise one neighbour, a copy in another fold, would win in every sample."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 2
    X[:, 0] += 1.5 * y
    chosen = []

    class Search(GridSearchCV):
        def fit(self, X, y=None, **params):
            super().fit(X, y, **params)
            chosen.append(self.best_params_["n_neighbors"])
            return self

    search = Search(KNeighborsClassifier(), {"n_neighbors": [1, 25]}, scoring="roc_auc")
    skauc.bootstrap_auc(search, X, y, n_resamples=6)
    assert chosen == [25] * 7
    inner = Search(KNeighborsClassifier(), {"n_neighbors": [1, 25]}, cv=GroupKFold(4))
    skauc.bootstrap_auc(inner, X, y, n_resamples=2, groups=np.arange(80) // 2)
    assert len(chosen) == 10


def test_many_groups_of_a_rare_class_are_not_sampled():
    """A sample of the groups would hold three of its groups, and be sure of them."""
    X, y, group = drawn(G=400, k=2, P=5, effect=0.5, signal=0.0)
    y = 1 * (group < 15)
    found = bayesian_val_score(RidgeClassifier(), X, y, groups=group)
    assert found.second_source == "group pairs"  # 15 × 385 pairs
    low, high = found.interval(0.95)
    assert low < 0.5 < high
    assert high - low > 0.2
    found = bayesian_val_score(
        RidgeClassifier(), X, np.arange(len(y)) % 2, groups=group
    )
    assert found.second_source == "group folds"


def test_only_ratios_of_weights_matter_in_groups():
    X, y, group = drawn(kind="mixed", signal=20.0)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = RidgeClassifier(alpha=1e-3)
    found = [
        bayesian_val_score(model, X, y, groups=group, sample_weight=w).interval(0.95)
        for w in (weight, 1e4 * weight)
    ]
    assert_allclose(found[0], found[1], rtol=1e-4)


def test_searches_that_knew_their_groups_are_reported_with_them():
    X, y, group = drawn(G=24, P=40)
    how = {
        "cv": ResubstitutionSplit(),
        "scoring": skauc.make_cbauc_scorer(groups=group),
    }
    search = GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 10.0]}, **how).fit(X, y)
    assert "pass groups=" in " ".join(auc_posterior(search, X, y).warnings)
    params = {"groups": group}
    twice = skauc.search_posterior(search, X, y, groups=group, fit_params=params)
    assert twice.selected.second_source == "group pairs"


def test_two_groups_of_a_class_are_enough_for_held_out_rows():
    X, y, group = drawn(G=4)
    model = LogisticRegression().fit(X, y)
    found = auc_posterior(model, X, y, groups=group, rows="held-out")
    assert found.second_source is None
    with pytest.raises(ValueError, match="in at least 3 groups"):
        auc_posterior(model, X, y, groups=group, rows="training")
