"""Hand–Till and cross-validated AUC: against scikit-learn, DeLong and repetition."""

import json
from itertools import combinations
from pathlib import Path

import interval_oracles as oracles
import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import beta
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.preprocessing import StandardScaler

from skauc import auc_estimate, cross_val_auc, hand_till_auc

ASAH = json.loads((Path(__file__).parents[1] / "reference/proc_asah.json").read_text())
X, Y = make_classification(120, 6, n_informative=3, flip_y=0.3, random_state=4)


def three_classes(n=90, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return y, spread * rng.normal(size=(n, 3)) + np.eye(3)[y]


# ------------------------------------------------------------------- Hand–Till


def test_hand_till_is_sklearns_and_the_loops():
    y, score = three_classes()
    proba = softmax(score, axis=1)
    result = hand_till_auc(y, proba)
    expected = roc_auc_score(y, proba, multi_class="ovo", average="macro")
    assert result.auc == pytest.approx(expected, rel=1e-12)
    rounded = score.round(0)  # with ties
    assert hand_till_auc(y, rounded).auc == pytest.approx(
        oracles.loop_hand_till(y, rounded), rel=1e-12
    )


def test_hand_till_of_one_marker_is_procs():
    # multiclass.roc(aSAH$gos6, aSAH$s100b, direction = "<"): 0.3487473175
    y, s = np.array(ASAH["gos6"]), np.array(ASAH["s100b"])
    parts = [
        auc_estimate(y[rows], s[rows]).auc
        for i, j in combinations(np.unique(y), 2)
        for rows in [np.isin(y, (i, j))]
    ]
    # the same marker for every pair, larger for the higher class of the pair
    assert np.mean(parts) == pytest.approx(
        ASAH["expected"]["hand_till_s100b_gos6"], abs=5e-11
    )
    order = np.column_stack([-s, s])
    for i, j in combinations(np.unique(y), 2):
        rows = np.isin(y, (i, j))
        pair = hand_till_auc(y[rows], order[rows])
        assert pair.auc == pytest.approx(auc_estimate(y[rows], s[rows]).auc, abs=1e-14)


def test_two_classes_are_delong():
    y, s = np.array(ASAH["outcome"]), np.array(ASAH["ndka"])
    result = hand_till_auc(y, np.column_stack([-s, s]))
    estimate = auc_estimate(y, s)
    assert result.auc == pytest.approx(estimate.auc, rel=1e-14)
    assert result.standard_error == pytest.approx(
        estimate.standard_error("delong"), rel=1e-12
    )
    assert result.confidence_interval(0.9) == pytest.approx(
        estimate.confidence_interval(0.9, "delong"), rel=1e-12
    )


def test_hand_till_error_against_repetition():
    draws = [hand_till_auc(*three_classes(120, seed)) for seed in range(600)]
    spread = np.std([d.auc for d in draws])
    # standard error of a standard deviation from 600 draws: 3 %
    assert np.mean([d.standard_error for d in draws]) == pytest.approx(spread, rel=0.1)
    truth = np.mean([d.auc for d in draws])
    covered = [
        low <= truth <= high for low, high in (d.confidence_interval() for d in draws)
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.03)


def test_hand_till_laws():
    y, score = three_classes()
    result = hand_till_auc(y, score)
    names = np.array(["a", "b", "c"])
    shuffled = hand_till_auc(names[y], score[:, [2, 0, 1]], labels=["c", "a", "b"])
    assert shuffled.auc == pytest.approx(result.auc, rel=1e-12)
    assert shuffled.standard_error == pytest.approx(result.standard_error, rel=1e-12)
    stretched = hand_till_auc(y, np.exp(score))
    assert stretched.auc == result.auc
    low, high = hand_till_auc(y, np.eye(3)[y]).confidence_interval()
    assert 0.7 < low < 0.95
    assert high == 1


@pytest.mark.parametrize(
    ("y", "score", "options", "message"),
    [
        ([0, 1, 2], np.ones((3, 2)), {}, r"3 classes, \(3, 3\), got shape \(3, 2\)"),
        ([0, 1, 2], np.ones((3, 3)), {}, "2 rows or more a class, got 1"),
        ([0, 0, 1, 1], np.ones((4, 2)), {"labels": [0, 2]}, "labels must name"),
        ([0, 0, 1, 1], np.full((4, 2), np.nan), {}, "y_score must not be NaN"),
        ([0, 0], np.ones((2, 1)), {}, r"two classes or more once.* got \[0\]"),
    ],
)
def test_hand_till_errors(y, score, options, message):
    with pytest.raises(ValueError, match=message):
        hand_till_auc(y, score, **options)


# ------------------------------------------------------------- cross-validation


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(8, random_state=0)]
)
def test_mean_is_cross_val_score(model):
    cv = StratifiedKFold(4, shuffle=True, random_state=2)
    result = cross_val_auc(model, X, Y, cv)
    folds = cross_val_score(model, X, Y, cv=cv, scoring="roc_auc")
    np.testing.assert_allclose(result.parts, folds, rtol=1e-12)
    assert result.auc == pytest.approx(folds.mean(), rel=1e-12)


def test_error_is_delongs_of_the_folds_with_ties():
    # a tree-like model with few values: ties count ½ in the influence too
    model = RandomForestClassifier(3, max_depth=2, random_state=0)
    cv = StratifiedKFold(5, shuffle=True, random_state=2)
    variances = []
    for train, test in cv.split(X, Y):
        score = clone(model).fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        neg, pos = score[Y[test] == 0], score[Y[test] == 1]
        variances.append(oracles.loop_delong([neg], [pos])[0, 0])
    result = cross_val_auc(model, X, Y, cv)
    assert result.standard_error == pytest.approx(
        np.sqrt(np.sum(variances)) / 5, rel=1e-12
    )


def test_repeats_do_not_shrink_the_error_like_new_rows():
    once = cross_val_auc(
        LogisticRegression(), X, Y, StratifiedKFold(5, shuffle=True, random_state=0)
    )
    repeated = cross_val_auc(
        LogisticRegression(),
        X,
        Y,
        RepeatedStratifiedKFold(n_splits=5, n_repeats=8, random_state=0),
    )
    assert len(repeated.parts) == 40
    # eight times the rows would give .35; the same rows in other folds do not
    assert repeated.standard_error > 0.7 * once.standard_error


def test_coverage_of_the_mean_auc_of_the_trained_rules():
    # the target it states: the mean true AUC of the five trained rules
    rng = np.random.default_rng(1)
    w = np.array([1.0, 0.5, 0, 0])
    fresh_y = rng.random(5_000) < 0.5
    fresh = rng.normal(size=(5_000, 4)) + np.outer(fresh_y, w)
    covered = []
    for _ in range(120):
        y = np.arange(100) % 2 == 0
        Z = rng.normal(size=(100, 4)) + np.outer(y, w)
        cv = StratifiedKFold(5)
        truth = np.mean(
            [
                roc_auc_score(
                    fresh_y,
                    LogisticRegression().fit(Z[a], y[a]).decision_function(fresh),
                )
                for a, _ in cv.split(Z, y)
            ]
        )
        low, high = cross_val_auc(LogisticRegression(), Z, y, cv).confidence_interval()
        covered.append(low <= truth <= high)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 120)


def test_labels_direction_and_perfect_folds():
    words = np.where(Y == 1, "yes", "no")
    plain = cross_val_auc(LogisticRegression(), X, Y)
    named = cross_val_auc(LogisticRegression(), X, words, pos_label="no")
    assert named.auc == pytest.approx(plain.auc, rel=1e-12)  # model and labels turn
    iris = load_iris()
    two = iris.target < 2
    perfect = cross_val_auc(LogisticRegression(), iris.data[two], iris.target[two])
    assert perfect.auc == 1
    assert 0.9 < perfect.confidence_interval().low < 1


def test_cross_val_errors():
    with pytest.raises(ValueError, match="two rows or more of each class .* got 1"):
        cross_val_auc(LogisticRegression(), X[:20], np.arange(20) < 5)
    with pytest.raises(ValueError, match="transform must be one of .* got 'log'"):
        cross_val_auc(LogisticRegression(), X, Y).confidence_interval(transform="log")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, None, 1], np.ones((3, 2))), "y_true must hold labels of one kind"),
        ((None, np.ones((3, 2))), "y_true must be one-dimensional, got None"),
        (([0, 0, 1, 1], "x"), "y_score must hold numbers, got 'x'"),
    ],
)
def test_hand_till_wrong_kinds(arguments, message):
    with pytest.raises(ValueError, match=message):
        hand_till_auc(*arguments)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (2.0, 1.0)])
def test_regressors_on_two_numbers(labels):
    y = np.array(labels)[Y]
    cv = StratifiedKFold(5)
    result = cross_val_auc(Ridge(), X, y)
    expected = [
        roc_auc_score(y[test], Ridge().fit(X[train], y[train]).predict(X[test]))
        for train, test in cv.split(X, y)
    ]
    np.testing.assert_allclose(result.parts, expected, rtol=1e-12)
    order = np.argsort(y)  # sorted labels: folds are stratified for regressors too
    assert np.isfinite(cross_val_auc(Ridge(), X[order], y[order]).auc)
    turned = cross_val_auc(Ridge(), X, y, pos_label=min(labels))
    assert turned.auc == pytest.approx(result.auc, rel=1e-12)


def test_an_estimator_without_a_score():
    with pytest.raises(TypeError, match="must have decision_function.* StandardScaler"):
        cross_val_auc(StandardScaler(), X, Y)


@pytest.mark.parametrize("transform", ["none", "logit", "probit"])
def test_scores_that_all_tie_have_exact_limits(transform):
    """They vary by nothing; of 4 rows of the smallest class two are won."""
    result = hand_till_auc(np.repeat([0, 1, 2], 4), np.full((12, 3), 1 / 3))
    limits = beta.ppf([0.025, 0.975], [2, 3], [3, 2])
    assert result.confidence_interval(transform=transform) == pytest.approx(limits)
