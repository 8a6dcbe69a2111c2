"""Pairs out of bag against a double loop, and ensembles whose rows are not known."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skauc import (
    AdaptivePrior,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_difference_posterior,
    auc_posterior,
    bayesian_val_score,
    cbauc_scorer,
    diagnose,
    lpo_auc_scorer,
    search_posterior,
)

MOST_ROWS = "skauc.model_selection.reading._ensemble._MOST_ROWS"
SILENT = pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(70) % 2)
X = RNG.normal(size=(70, 6)) + 0.5 * Y[:, None]
COUNTS = RNG.integers(1, 3, 70).astype(float)

# 10 e² = 74 members are enough
FOREST = RandomForestClassifier(85, random_state=0)
BAG = partial(BaggingClassifier, n_estimators=85, random_state=0)
SCALED_SVC = make_pipeline(StandardScaler(), SVC())


def votes_of(ensemble, rows, method="predict_proba", code=1):
    """Votes of the members for a class, by public attributes."""
    columns = getattr(ensemble, "estimators_features_", [slice(None)] * 10**4)
    votes = []
    for member, seen in zip(ensemble.estimators_, columns, strict=False):
        found = getattr(member, method)(rows[:, seen])
        if method == "predict_proba":
            place = np.flatnonzero(member.classes_ == code)
            found = found[:, place[0]] if len(place) else np.zeros(len(rows))
        votes.append(found)
    return np.array(votes, dtype=float)


def out_of(ensemble, n):
    """Whether the members did not draw the rows."""
    return np.array([~np.isin(np.arange(n), s) for s in ensemble.estimators_samples_])


def by_loops(votes, out, positive, weight=None):
    """AUC, and the placements of all rows, by a loop over pairs."""
    weight = np.ones(len(positive)) if weight is None else weight
    won, mass = np.zeros((2, len(positive), len(positive)))
    for i in np.flatnonzero(~positive):
        for j in np.flatnonzero(positive):
            margins = [
                v[j] - v[i] for v, o in zip(votes, out, strict=True) if o[i] & o[j]
            ]
            if margins:
                mass[i, j] = weight[i] * weight[j]
                mean = np.round(np.mean(margins), 6)
                won[i, j] = mass[i, j] * np.heaviside(mean, 0.5)
    with np.errstate(invalid="ignore"):
        sides = won.sum(axis=1) / mass.sum(axis=1), won.sum(axis=0) / mass.sum(axis=0)
    return won.sum() / mass.sum(), sides[0][~positive], sides[1][positive]


def expected_auc(votes, out, *rows):
    """AUC of all members, from those of the members that compare a pair and of halves.

    An AUC that grows as a − c/k, from k members and from k/2.
    """
    auc, half = by_loops(votes, out, *rows)[0], 0.0
    for k in (0, 1):
        half += by_loops(votes[k::2], out[k::2], *rows)[0] / 2
    return np.clip(auc + (1 - share_of(out, *rows)) * (auc - half), 0, 1)


def share_of(out, positive, weight=None):
    """Mean share of the members that saw neither row of a pair."""
    weight = np.ones(len(positive)) if weight is None else weight
    neg, pos = np.flatnonzero(~positive), np.flatnonzero(positive)
    shares = [np.mean(out[:, i] & out[:, j]) for i in neg for j in pos]
    return np.average(shares, weights=np.outer(weight[neg], weight[pos]).ravel())


ENSEMBLES = {
    "forest": (FOREST, "predict_proba"),
    "balanced": (
        clone(FOREST).set_params(class_weight="balanced_subsample"),
        "predict_proba",
    ),
    "pruned, out-of-bag score": (
        clone(FOREST).set_params(ccp_alpha=0.02, oob_score=True, min_samples_leaf=3),
        "predict_proba",
    ),
    "stumps": (clone(FOREST).set_params(max_depth=1), "predict_proba"),
    "extra trees": (
        ExtraTreesClassifier(85, bootstrap=True, random_state=0),
        "predict_proba",
    ),
    "trees": (BAG(), "predict_proba"),
    "columns": (BAG(max_features=0.5), "predict_proba"),
    "halves": (BAG(bootstrap=False, max_samples=0.5), "predict_proba"),
    "pipelines": (BAG(SCALED_SVC), "decision_function"),
    "neighbours": (BAG(KNeighborsClassifier()), "predict_proba"),
}


@SILENT
@pytest.mark.parametrize("name", ENSEMBLES)
def test_pairs_of_members_that_saw_neither(name):
    model, method = ENSEMBLES[name]
    model = clone(model).fit(X, Y)
    expected = expected_auc(votes_of(model, X, method), out_of(model, 70), Y == 1)
    found = auc_posterior(model, X, Y)
    assert found.second_source == "out-of-bag"
    assert found.rows == "training (detected)"
    assert found.leave_pair_out == pytest.approx(expected, abs=1e-6)
    assert lpo_auc_scorer(model, X, Y) == pytest.approx(expected, abs=1e-6)
    assert cbauc_scorer(model, X, Y) == pytest.approx(found.mean(), abs=0.01)


def test_the_width_is_that_of_the_placements():
    """Twice the larger of DeLong's variance over pairs and Hanley and McNeil's.

    A row of weight 2 is two rows.
    """
    model = clone(FOREST).set_params(n_estimators=150, max_samples=0.5)
    model.fit(X, Y, COUNTS)
    posterior = auc_posterior(model, X, Y, sample_weight=COUNTS)
    known = votes_of(model, X), out_of(model, 70), Y == 1, COUNTS
    _, of_neg, of_pos = by_loops(*known)
    auc = expected_auc(*known)
    assert posterior.leave_pair_out == pytest.approx(auc, abs=1e-6)
    copies = COUNTS.astype(int)
    sides = np.repeat(of_neg, copies[Y == 0]), np.repeat(of_pos, copies[Y == 1])
    variance = sum(np.var(side, ddof=1) / len(side) for side in sides)
    n_pos, n = COUNTS[Y == 1].sum(), COUNTS.sum()
    A = (auc * n + 0.5) / (n + 1)
    shape = (1 - A) / (2 - A) + A / (1 + A)
    expected = A * (1 - A) * (1 + (n / 2 - 1) * shape) / (n_pos * (n - n_pos))
    z = norm.ppf(A)
    assert posterior.mean() == pytest.approx(norm.cdf(z))
    _, of_probit = posterior.probit_moments()
    assert of_probit == pytest.approx(2 * max(variance, expected) / norm.pdf(z) ** 2)


@SILENT
def test_rows_of_weight_0_are_gone():
    forest = clone(FOREST).set_params(n_estimators=150, max_samples=0.5)
    some = COUNTS * (np.arange(70) % 7 > 0)
    kept = some > 0
    data = X[kept], Y[kept], some[kept]
    for model in (clone(forest).fit(*data), clone(forest).fit(X, Y, some)):
        found = auc_posterior(model, X, Y, sample_weight=some)
        assert found.second_source == "out-of-bag"
    model = clone(forest).fit(*data)
    found, again = (
        auc_posterior(model, A, b, sample_weight=w).leave_pair_out
        for A, b, w in ((X, Y, some), data)
    )
    assert found == again


@SILENT
def test_containers_and_names_of_labels():
    frame, csr = pd.DataFrame(X, columns=list("abcdef")), sparse.csr_array(X)
    for model in (FOREST, BAG(max_features=0.5)):
        expected = auc_posterior(clone(model).fit(X, Y), X, Y).leave_pair_out
        for rows in (X.tolist(), frame, csr, csr.tocsc()):
            found = auc_posterior(clone(model).fit(rows, Y), rows, Y)
            assert found.leave_pair_out == expected
        for labels in (Y == 1, np.array(["no", "yes"])[Y], 2 * Y - 1):
            found = auc_posterior(clone(model).fit(X, labels), X, labels)
            assert found.leave_pair_out == expected
    missing = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    model = pickle.loads(pickle.dumps(clone(FOREST).fit(missing, Y)))
    expected = expected_auc(votes_of(model, missing), out_of(model, 70), Y == 1)
    found = auc_posterior(model.set_params(n_estimators=3), missing, Y, pos_label=0)
    # trees of scikit-learn 1.6 do not find their own rows again: folds, no wrong number
    assert found.second_source in ("out-of-bag", "folds")
    if found.second_source == "out-of-bag":
        assert found.leave_pair_out == pytest.approx(expected, abs=1e-6)


@SILENT
def test_steps_searches_and_regressors():
    plain = auc_posterior(clone(FOREST).fit(X, Y), X, Y).leave_pair_out
    pipe = Pipeline([("scale", StandardScaler()), ("model", FOREST)])
    grid = GridSearchCV(pipe, {"model__max_depth": [None]}, cv=2)
    for model in (pipe, grid):
        found = auc_posterior(model.fit(X, Y), X, Y)
        # thresholds between scaled values round otherwise
        assert found.leave_pair_out == pytest.approx(plain, abs=0.02)
        assert found.second_source == "out-of-bag"
    regressor = RandomForestRegressor(100, random_state=0).fit(X, Y)
    expected = expected_auc(
        votes_of(regressor, X, "predict"), out_of(regressor, 70), Y == 1
    )
    assert lpo_auc_scorer(regressor, X, Y) == pytest.approx(expected, abs=1e-6)


@SILENT
def test_three_classes_are_pairs_of_classes():
    three = np.arange(70) % 3
    rows = X + 0.5 * three[:, None]
    model = clone(FOREST).fit(rows, three)
    votes = [votes_of(model, rows, code=k) for k in range(3)]
    found = auc_posterior(model, rows, three)
    for (i, j), pair in found.pairs.items():
        mine = np.isin(three, (i, j))
        known = (votes[j] - votes[i])[:, mine], out_of(model, 70)[:, mine]
        expected = expected_auc(*known, three[mine] == j)
        assert pair.leave_pair_out == pytest.approx(expected, abs=1e-6)
        assert pair.second_source == "out-of-bag"
    assert cbauc_scorer(model, rows, three) == pytest.approx(found.mean(), abs=0.01)
    # any classifier, by folds
    svc = SVC().fit(rows, three)
    folds = auc_posterior(svc, rows, three, prior=AdaptivePrior(refits=5))
    assert {pair.second_source for pair in folds.pairs.values()} == {"folds"}
    assert abs(folds.mean() - found.mean()) < 0.1


def test_many_rows_are_an_even_sample(monkeypatch):
    """Of 400 rows a class, against all rows; one in five forms the pairs."""
    rng = np.random.default_rng(1)
    y = np.arange(800) % 2
    rows = rng.normal(size=(800, 3)) + 0.6 * y[:, None]
    model = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(rows, y)
    everyone = lpo_auc_scorer(model, rows, y)
    monkeypatch.setattr(MOST_ROWS, 80)
    sampled = lpo_auc_scorer(model, rows, y)
    assert sampled != everyone
    assert sampled == pytest.approx(everyone, abs=0.02)


# --------------------------------------------------- rows out of bag are not known

ORDER = np.random.default_rng(1).permutation(70)
WITHIN = np.arange(70)
WITHIN[Y == 0] = ORDER[Y[ORDER] == 0]
NOT_KNOWN = {
    "shuffled": (FOREST, ORDER),
    "shuffled within a class": (FOREST, WITHIN),
    "shuffled stumps": (clone(FOREST).set_params(max_depth=1), ORDER),
    "shuffled pipelines": (BAG(SCALED_SVC), ORDER),
    "a subset": (FOREST, np.arange(60)),
    "no bootstrap": (ExtraTreesClassifier(100, random_state=0), None),
    "everyone drawn": (BAG(bootstrap=False), None),
    "warm start": (clone(FOREST).set_params(warm_start=True), None),
    "a step that used y": (make_pipeline(SelectKBest(k=3), FOREST), None),
}


@SILENT
@pytest.mark.parametrize("name", NOT_KNOWN)
def test_rows_that_are_not_known_are_left_out_by_folds(name):
    model, order = NOT_KNOWN[name]
    model = clone(model).fit(X, Y)
    order = np.arange(70) if order is None else order
    # few members make the folds fast
    few = {k: 10 for k in model.get_params() if k.endswith("n_estimators")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = auc_posterior(
            model.set_params(**few), X[order], Y[order], rows="training"
        )
    assert found.second_source == "folds"
    assert found.leave_pair_out < 0.9
    with pytest.raises(TypeError, match="no leave-pair-out AUC in closed form"):
        lpo_auc_scorer(model, X[order], Y[order])


@SILENT
def test_components_adapted_to_the_rows_need_folds():
    wide = RNG.normal(size=(70, 100))
    few = make_pipeline(PCA(5), FOREST).fit(wide, Y)
    assert auc_posterior(few, wide, Y).second_source == "out-of-bag"
    many = make_pipeline(PCA(40), clone(FOREST).set_params(n_estimators=75))
    found = cbauc_scorer(many.fit(wide, Y), wide, Y)
    assert abs(found - 0.5) < 0.2


@SILENT
def test_folds_gain_weight_beside_pairs_with_the_components():
    wide = RNG.normal(size=(64, 100)) + 0.3 * Y[:64, None]
    for k, share in [(4, 0.0), (20, 2 / 3), (28, 1.0)]:
        model = make_pipeline(PCA(k), StandardScaler(), LogisticRegression())
        rows = model.fit(wide, Y[:64]), wide, Y[:64]
        folds = auc_posterior(*rows, prior=AdaptivePrior(refits=20)).leave_pair_out
        expected = (1 - share) * lpo_auc_scorer(*rows) + share * folds
        assert auc_posterior(*rows).leave_pair_out == pytest.approx(expected, rel=1e-9)


@SILENT
def test_samples_of_a_sampler_are_not_those_of_the_rows():
    ensemble = pytest.importorskip("imblearn.ensemble")
    rare = np.arange(70) % 5 == 0
    model = ensemble.BalancedRandomForestClassifier(
        10, bootstrap=True, random_state=0, sampling_strategy="auto", replacement=False
    )
    found = auc_posterior(model.fit(X, rare), X, rare, prior=AdaptivePrior(refits=None))
    assert found.second_source == "folds"


def test_few_members_are_warned_of_with_the_number_that_would_do():
    model = clone(FOREST).set_params(n_estimators=40).fit(X, Y)
    with pytest.warns(UntrustedAUCWarning, match="of so few.*n_estimators=") as w:
        found = auc_posterior(model, X, Y)
    assert found.second_source == "out-of-bag"
    enough = int(str(w[0].message).split("=")[1])
    # e⁻² of the members leave out a pair
    assert enough == pytest.approx(10 * np.e**2, rel=0.15)
    model.set_params(n_estimators=enough + 5).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UntrustedAUCWarning)
        auc_posterior(model, X, Y)


# ------------------------------------------------------------- searches and reports


def test_a_search_of_forests_fits_each_once(count_fits):
    fits = count_fits(RandomForestClassifier)
    grid = {"min_samples_leaf": [1, 4, 10]}
    how = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
    search = GridSearchCV(FOREST, grid, refit=False, **how).fit(X, Y)
    assert fits == [70] * 3
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        model = clone(FOREST).set_params(**params)
        assert bayesian_val_score(model, X, Y).mean() == pytest.approx(score, abs=0.01)


@SILENT
def test_a_grid_of_mixed_kinds_has_reports():
    models = [
        make_pipeline(StandardScaler(), LogisticRegression()),
        FOREST,
        SVC(),
        HistGradientBoostingClassifier(max_iter=5),
        BAG(RidgeClassifier()),
    ]
    pipe = Pipeline([("model", FOREST)])
    search = GridSearchCV(
        pipe, {"model": models}, scoring=cbauc_scorer, cv=ResubstitutionSplit()
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    posterior = search_posterior(search, X, Y, random_state=0)
    assert posterior.p_best.sum() == pytest.approx(1)
    first, second = (clone(model).fit(X, Y) for model in models[:2])
    difference = auc_difference_posterior(first, second, X, Y)
    assert abs(difference.mean()) < 0.3
    assert diagnose(second, X, Y).estimates["out-of-bag"] == pytest.approx(
        lpo_auc_scorer(second, X, Y)
    )


def test_one_warning_a_search_says_that_fits_leave_rows_out():
    grid = {"model": [SVC(C=C) for C in (0.1, 1.0)] + [KNeighborsClassifier()]}
    how = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
    search = GridSearchCV(Pipeline([("model", SVC())]), grid, **how)
    for _ in range(2):
        with pytest.warns(UntrustedAUCWarning) as issued:
            search.fit(X, Y)
        assert ["5 in a scorer" in str(w.message) for w in issued] == [True]
