"""Hand–Till and cross-validated AUC: against scikit-learn, DeLong and repetition."""

import json
from itertools import combinations
from pathlib import Path

import interval_oracles as oracles
import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import roc_auc_score
from values import same

from skauc import (
    UntrustedAUCWarning,
    auc_estimate,
    hand_till_auc,
    one_vs_rest_auc,
)

ASAH = json.loads((Path(__file__).parents[1] / "reference/proc_asah.json").read_text())


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


@pytest.mark.filterwarnings("ignore:A class has only")
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


def test_few_rows_are_doubted_once():
    y, score = three_classes(24)
    y[:] = np.repeat([0, 1, 2], [7, 8, 9])
    for average in (hand_till_auc, lambda *given: one_vs_rest_auc(*given).average()):
        with pytest.warns(UntrustedAUCWarning, match="only 7 rows") as caught:
            average(y, score)
        assert len(caught) == 1


def test_two_classes_are_delong():
    y, s = np.array(ASAH["outcome"]), np.array(ASAH["ndka"])
    result = hand_till_auc(y, np.column_stack([-s, s]))
    estimate = auc_estimate(y, s)
    assert result.auc == pytest.approx(estimate.auc, rel=1e-14)
    assert result.standard_error == pytest.approx(
        estimate.standard_error("delong"), rel=1e-12
    )
    assert result.confidence_interval(0.9) == pytest.approx(
        estimate.confidence_interval(0.9, method="delong"), rel=1e-12
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
        (
            [0, 1, 2],
            np.ones((3, 3)),
            {},
            "at least 2 rows .* of each class, got 1 of 0",
        ),
        ([0, 0, 1, 1], np.ones((4, 2)), {"labels": [0, 2]}, "labels must name"),
        ([0, 0, 1, 1], np.full((4, 2), np.nan), {}, "must be a number, got nan"),
        ([0, 0], np.ones((2, 1)), {}, r"two classes or more .* got \[0\]"),
    ],
)
def test_hand_till_errors(y, score, options, message):
    with pytest.raises(ValueError, match=message):
        hand_till_auc(y, score, **options)


# ------------------------------------------------------------- cross-validation


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_a_frame_are_found_by_the_names_of_classes(kind, rng):
    frames = pytest.importorskip(kind)
    names = ["setosa", "versicolor", "virginica"]
    code = np.arange(60) % 3
    P = rng.dirichlet(np.ones(3), 60) + np.eye(3)[code]
    y, order = np.array(names)[code], [2, 0, 1]
    frame = frames.DataFrame({names[k]: P[:, k] for k in order})
    how = "columns" if kind == "pandas" else "mapping"
    for call in (hand_till_auc, one_vs_rest_auc):
        expected = call(y, P)
        assert same(call(y, frame), expected)
        with pytest.raises(ValueError, match="y_score must have the classes"):
            call(y, frame.rename(**{how: {names[0]: "p_setosa"}}))
        assert same(call(code, frames.DataFrame(P)), call(code, P))
