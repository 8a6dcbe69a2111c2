"""The simplest of the hardly worse: by hand, by its joint posterior, in searches."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
    make_cbauc_scorer,
    one_sd_rule,
    search_posterior,
)
from skauc.model_selection._candidate import CONTRASTS, Candidate, contrast_names
from skauc.posterior._auc_posterior import AUCPosterior

X, Y = make_classification(
    80, 6, n_informative=3, n_redundant=0, flip_y=0.3, random_state=1
)
CS = np.logspace(-3, 1, 7)
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
GRID = {"logisticregression__C": CS}
RULE = one_sd_rule("logisticregression__C", simplest="smallest")
DICT = make_cbauc_scorer(output="dict")


def results(choice, place, values):
    """``cv_results_`` of candidates at known places of the sketch."""
    contrasts = np.zeros((len(choice), CONTRASTS))
    contrasts[:, : place.shape[1]] = place
    out = dict(
        zip((f"mean_test_{n}" for n in contrast_names()), contrasts.T, strict=True)
    )
    return out | {
        "mean_test_choice": np.array(choice),
        "params": [{"C": v} for v in values],
    }


# Oracle -------------------------------------------------------------------------------


def test_by_hand():
    place = np.array([[0.0, 3.0], [0.3, 0.4], [0.0, 0.0], [0.6, 0.0]])
    found = results([0.0, 0.7, 0.9, 1.4], place, [1.0, 2.0, 3.0, 4.0])
    # less the first coordinate they are behind the best by .9, .5, 0, .1
    # and differ from it with deviations of 3, .5, 0, .6
    assert one_sd_rule("C")(found) == 0
    assert one_sd_rule("C", within=0.2)(found) == 2
    assert one_sd_rule("C", "largest", within=0.2)(found) == 3
    assert one_sd_rule("C", within=0)(found) == 2
    assert one_sd_rule("C", within=0.29)(found) == 2
    assert one_sd_rule("C", within=0.31)(found) == 0


def test_equally_simple_and_failed_candidates():
    found = results([0.5, 0.6, np.nan, 0.7], np.eye(4), [1, 1, 0, 2])
    assert one_sd_rule("C")(found) == 1


def test_one_model_twice_but_for_rounding():
    place = np.array([[0.0], [1e-16], [9.0]])
    found = results([0.5 - 1e-15, 0.5, 0.4], place, [1, 2, 3])
    assert one_sd_rule("C")(found) == 0
    assert one_sd_rule("C", within=0)(found) == 0


def test_folds_by_nadeau_and_bengio():
    split = np.array([[0.70, 0.80, 0.75], [0.80, 0.82, 0.81], [0.78, 0.80, 0.82]])
    found = {f"split{k}_test_score": split[:, k] for k in range(3)}
    found["params"] = [{"C": c} for c in (1, 2, 3)]
    gaps = split - split[1]
    sd = np.sqrt((1 / 3 + 1 / 2) * gaps.var(axis=1, ddof=1))
    behind = -gaps.mean(axis=1)
    for within in (0.5, 1.0, 0.999 * behind[0] / sd[0], 1.001 * behind[0] / sd[0]):
        near = np.flatnonzero(behind <= within * sd)
        assert one_sd_rule("C", within=within)(found) == near[0]


def test_sketch_keeps_distances():
    rng = np.random.default_rng(0)
    law, apart, sketched = AUCPosterior.normal(0.5, 0.04), [], []
    for _ in range(200):
        two = [
            Candidate(law, 0.5, rng.normal(size=7), rng.normal(size=40), 0.0, True, 0.0)
            for _ in range(2)
        ]
        gap = [a - b for a, b in zip(*((c.cells, c.rows) for c in two), strict=True)]
        apart.append(np.sqrt(sum(g @ g for g in gap)))
        sketched.append(np.linalg.norm(two[0].sketch(32) - two[1].sketch(32)))
    ratio = np.array(sketched) / apart
    # χ²_31/31: mean 1 and standard deviation 1/√62 = .127
    assert ratio.mean() == pytest.approx(1, abs=0.1)
    assert ratio.std() == pytest.approx(1 / np.sqrt(62), rel=0.35)


def test_sketch_of_many_rows_in_blocks(monkeypatch):
    law, rows = AUCPosterior.normal(0.5, 0.04), np.arange(50.0)
    many = Candidate(law, 0.5, np.zeros(0), rows, 0.3, True, 0.0)
    whole = many.sketch(8)
    monkeypatch.setattr("skauc.model_selection._candidate._BLOCK", 7)
    assert many.sketch(8) == pytest.approx(whole, rel=1e-12)
    assert whole[0] == 0.3


def test_sketch_of_a_search_is_its_joint_posterior():
    search = GridSearchCV(
        PIPE, GRID, scoring=DICT, cv=ResubstitutionSplit(), refit="choice"
    ).fit(X, Y)
    exact = search_posterior(search, X, Y)
    found = search.cv_results_
    place = np.column_stack([found[f"mean_test_{n}"] for n in contrast_names()])
    best = search.best_index_
    got = np.linalg.norm(place - place[best], axis=1)
    expected = exact.joint.deviation_from(best)
    keep = np.arange(len(CS)) != best
    assert np.abs(np.log(got[keep] / expected[keep])).max() < 0.45  # 3.5 × .127
    choice = found["mean_test_choice"] - place[:, 0]
    ahead = exact.joint.mean - exact.joint.mean[best]
    assert choice - choice[best] == pytest.approx(ahead, abs=1e-9)


# Laws ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [ResubstitutionSplit(), 3])
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_in_a_search(cv, n_jobs):
    search = GridSearchCV(PIPE, GRID, scoring=DICT, cv=cv, refit=RULE, n_jobs=n_jobs)
    search.fit(X, Y)
    best = int(np.argmax(search.cv_results_["mean_test_choice"]))
    assert search.best_index_ <= best
    assert search.best_params_["logisticregression__C"] == CS[search.best_index_]
    assert search.predict(X).shape == Y.shape


def test_over_ordinary_folds():
    search = GridSearchCV(PIPE, GRID, scoring="roc_auc", cv=5, refit=RULE).fit(X, Y)
    best = int(np.argmax(search.cv_results_["mean_test_score"]))
    assert search.best_index_ <= best


def test_numbers_are_those_of_the_posterior():
    model = PIPE.fit(X, Y)
    posterior = auc_posterior(model, X, Y, rows="training")
    got = DICT(model, X, Y)
    assert list(got)[:5] == ["auc", "std", "low", "high", "choice"]
    assert got["auc"] == pytest.approx(posterior.mean(), rel=1e-12)
    assert got["std"] == pytest.approx(posterior.std(), rel=1e-12)
    assert (got["low"], got["high"]) == pytest.approx(posterior.interval(0.95))
    assert got["choice"] == pytest.approx(posterior.choice("probit"), rel=1e-12)
    assert all(isinstance(value, float) for value in got.values())


def test_numbers_of_three_classes():
    A, b = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(A, b)
    got = DICT(model, A, b)
    assert got["auc"] == pytest.approx(auc_posterior(model, A, b).mean(), rel=1e-9)
    probit = make_cbauc_scorer(scale="probit")
    assert got["choice"] == pytest.approx(probit(model, A, b), rel=1e-9)


def test_pickle_and_equality():
    assert pickle.loads(pickle.dumps(RULE)) == RULE
    assert repr(RULE).startswith("OneSDRule(parameter='logisticregression__C'")


# Errors -------------------------------------------------------------------------------


def test_one_score_has_no_differences():
    search = GridSearchCV(
        PIPE, GRID, scoring=cbauc_scorer, cv=ResubstitutionSplit(), refit=RULE
    )
    with pytest.warns(UntrustedAUCWarning, match="so that the largest is taken"):
        search.fit(X, Y)
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_score"])


def test_several_other_scores():
    found = {"mean_test_a": [0.5], "mean_test_b": [0.5], "params": [{"C": 1}]}
    text = r"one score or those of make_cbauc_scorer\(output=\"dict\"\), got \['mean"
    with pytest.raises(ValueError, match=text):
        one_sd_rule("C")(found)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: one_sd_rule(3), "parameter must be a name, got 3"),
        (lambda: one_sd_rule("C", "few"), "simplest must be"),
        (lambda: one_sd_rule("C", within=-1), "within must be >= 0, got -1"),
        (lambda: make_cbauc_scorer(output="list"), "output must be"),
        (
            lambda: one_sd_rule("D")(results([0.5], np.eye(1), [1])),
            "parameter must be one that the search tries, got 'D' where it tries",
        ),
        (
            lambda: one_sd_rule("C")(results([np.nan], np.eye(1), [1])),
            "cv_results must hold a finite score, got none",
        ),
        (
            lambda: one_sd_rule("C")(results([0.5], np.eye(1), ["a"])),
            "C must hold real numbers",
        ),
    ],
)
def test_errors(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_two_folds_are_folds():
    split = np.array([[0.70, 0.80], [0.80, 0.82]])
    found = {f"split{k}_test_score": split[:, k] for k in range(2)}
    found["params"] = [{"C": c} for c in (1, 2)]
    # behind by .06, with Nadeau and Bengio's deviation √((1/2 + 1) · .0032) = .069
    assert one_sd_rule("C")(found) == 0
    assert one_sd_rule("C", within=0.8)(found) == 1


def test_the_best_does_not_differ_from_itself():
    """Two candidates at one place, far from 0: their difference has no deviation."""
    found = results([0.5, 0.6], np.array([[0.0, 9.0], [0.0, 9.0]]), [1, 2])
    assert one_sd_rule("C")(found) == 1
