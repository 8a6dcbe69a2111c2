"""What pairs say beside rows left out one by one, pair after pair."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from skauc.leave_pair_out import _left_out_pairs
from skauc.leave_pair_out._leave_one_out import leave_one_out_auc
from skauc.leave_pair_out._left_out_pairs import (
    LeftOutRows,
    between_classes,
    moved_by_pairs,
    one_of_equal,
    won_in_part,
)
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._smooth_refits import smooth_optimum

E = 0.05


def _won(score, positive, weight, width):
    """Share of all pairs, each from the definition."""
    won = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            part = np.clip((score[i] - score[j]) / (2 * width) + 0.5, 0, 1)
            won += weight[i] * weight[j] * part
            total += weight[i] * weight[j]
    return won / total


def _ranked(score, positive, weight):
    order = np.argsort(score)
    return score[order], positive[order], weight[order]


def _moved(every, positive, weight, half, count=None, some=slice(None)):
    ranked = [_ranked(s, positive, weight) for s in (every.score, every.alone)]
    count = weight if count is None else count
    between = between_classes(half[some], positive[some])
    return moved_by_pairs(ranked, every[some], between, positive[some], count, E)


def _rows(n=9, seed=2):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=n), rng.normal(size=n), rng.random(n)
    half = rng.normal(size=(n, 3)) / np.sqrt(n)
    return *columns, half, np.arange(n) % 3 == 0, rng


@pytest.mark.parametrize("width", [1e-9, 0.3, 0.37, 100.0])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_all_pairs_won_in_part(width, shift, rng):
    score, positive = rng.normal(size=60).round(1), rng.random(60) < 0.4
    weight = rng.random(60)
    found = won_in_part(*_ranked(score + shift, positive, weight), width)
    assert found == pytest.approx(_won(score, positive, weight, width), rel=1e-7)
    turned = won_in_part(*_ranked(-score - shift, ~positive, weight), width)
    assert turned == pytest.approx(found, rel=1e-7)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("bent", [1.0, 1.5])
def test_margins_of_pairs_one_by_one(coupled, bent, monkeypatch):
    """By the definition: to first order, or both equations; of some of the rows.

    Steps of rows that bend are others than those by which each is left out alone.
    """
    monkeypatch.setattr(_left_out_pairs, "_COUPLED", 0.0 if coupled else np.inf)
    score, g, curvature, half, positive, rng = _rows(42)
    half = 1.5 * half
    weight, often, count = np.arange(42) % 2 + 1.0, rng.random(42), rng.random(36)
    some = rng.permutation(42)[:36]
    Q = half @ half.T
    every = LeftOutRows.of_fit(score, g, curvature, weight, Q.diagonal(), E)
    every = replace(every, push=bent * every.push)
    found = _moved(every, positive, often, half, count, some)

    push = g / weight / (1 - curvature / weight * (Q.diagonal() + E))
    one_by_one = score + Q.diagonal() * push
    pairs = [(i, j) for i in some[positive[some]] for j in some[~positive[some]]]
    counts = dict(zip(some, count, strict=True))
    mass = np.array([counts[i] * counts[j] for i, j in pairs])
    mass /= mass.sum()
    fitted, alone = (
        np.array([s[i] - s[j] for i, j in pairs]) for s in (score, one_by_one)
    )
    push = bent * push
    both = fitted + [
        (Q[i, i] - Q[i, j]) * push[i] - (Q[j, j] - Q[i, j]) * push[j] for i, j in pairs
    ]
    if coupled:
        for k, (i, j) in enumerate(pairs):
            S = np.array([i, j])
            inside, omega = Q[np.ix_(S, S)] + E, curvature[S] / weight[S]
            step = np.linalg.solve(np.eye(2) - inside * omega, inside @ (g / weight)[S])
            both[k] = fitted[k] + bent * (step[0] - step[1])
    width = 0.2 * mass @ np.abs(fitted - mass @ fitted)
    before, after = (_won(s, positive, often, width) for s in (score, one_by_one))
    won = [np.clip(m / (2 * width) + 0.5, 0, 1) for m in (both, alone)]
    expected = after - before + mass @ (won[0] - won[1])
    assert found == pytest.approx(expected, rel=1e-10)
    assert mass @ np.abs(won[0] - won[1]) > 0.01 < abs(after - before)


@pytest.mark.parametrize("coupled", [0.05, 0.076, 0.2])  # rows .081, weights .073
def test_pairs_of_weights_are_those_of_rows_that_stand_as_often(coupled, monkeypatch):
    """Whether their slopes move each other is a mean over the rows that count."""
    monkeypatch.setattr(_left_out_pairs, "_COUPLED", coupled)
    score, g, curvature, half, positive, _ = _rows(seed=1)
    weight, h = np.where((half**2).sum(axis=1) > 0.4, 5.0, 1.0), (half**2).sum(axis=1)
    assert set(weight) == {1.0, 5.0}
    every = LeftOutRows.of_fit(score, g, curvature, weight, h, E)
    moved = _moved(every, positive, weight, half)
    rows = np.repeat(np.arange(9), weight.astype(int))
    one = np.ones(len(rows))
    columns = score[rows], (g / weight)[rows], (curvature / weight)[rows], one, h[rows]
    each = LeftOutRows.of_fit(*columns, E), positive[rows], one
    found = _moved(*each, half[rows])
    assert found == pytest.approx(moved, rel=1e-10)


def test_the_name_of_a_class_says_nothing():
    score, g, curvature, half, positive, _ = _rows()
    one, h = np.ones(9), (half**2).sum(axis=1)
    here, there = (
        _moved(
            LeftOutRows.of_fit(sign * score, sign * g, curvature, one, h, E),
            positive if sign > 0 else ~positive,
            *(one, half),
        )
        for sign in (1.0, -1.0)
    )
    assert here == pytest.approx(there, rel=1e-12)


def test_scores_that_are_all_equal_are_not_moved():
    one, half = np.ones(9), np.zeros((9, 3))
    every = LeftOutRows.of_fit(3.0 * one, one, one, one, 0.0 * one, E)
    assert _moved(every, np.arange(9) < 4, one, half) == 0


def test_few_rows_that_are_not_equal_are_in_no_sample(rng):
    """A rare feature and no intercept: the scores of all rows of the pairs are 0."""
    X = np.zeros((2000, 1))
    X[:4, 0] = 1.0, -1.0, 1.5, -1.2
    positive = np.arange(2000) % 2 == 0
    fit = PenalisedFit("logistic", 1e-3, np.ones(2000), np.array([0.1]), 0.0, 0.0)
    fit = smooth_optimum(fit, X, positive)
    auc, variance = leave_one_out_auc(fit, X, positive, np.ones(2000))
    assert auc == pytest.approx(0.502, abs=0.002)
    assert variance > 0


@pytest.mark.parametrize(("mean", "coupled"), [(0.0199, False), (0.0201, True)])
@pytest.mark.parametrize("unit", [1.0, 10.0])
def test_rows_of_a_pair_move_each_other_from_a_fiftieth_on(mean, coupled, unit):
    """The mean of ``ω h/(1 − ω(h + e))`` over the rows that count, of any unit."""
    score, g, curvature, half, positive, rng = _rows(12)
    h, count, half = unit * (half**2).sum(axis=1), 9 * rng.random(12), unit**0.5 * half

    def of(factor):
        return factor * curvature * h / (1 - factor * curvature * (h + E))

    most = 0.99 / np.max(curvature * (h + E))
    factor = brentq(lambda f: count @ of(f) - mean * count.sum(), 0, most)
    columns = score, g, factor * curvature, np.ones(12), h, E
    every, found = LeftOutRows.of_fit(*columns), []
    for least in (0.02, 0.0, np.inf):
        with pytest.MonkeyPatch.context() as patch:
            if least != 0.02:
                patch.setattr(_left_out_pairs, "_COUPLED", least)
            found.append(_moved(every, positive, np.ones(12), half, count))
    assert found[0] == found[1 if coupled else 2]
    assert found[1] != found[2]


@pytest.mark.parametrize("shift", [100.0, -100.0])
@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.parametrize("far", [1.0, -1.0])
def test_what_is_a_tie_of_rounding(shift, unit, far):
    """Rows of the pairs that are all equal: scores of all say what is nothing."""
    same, zero = np.full(6, shift), np.zeros(6)
    # beside these ties of rounding, and margins that are small and none
    others = shift + np.array([0, 1e-13, 1e-8, 5e-8, 8e-8, far])
    alone = shift + np.array([1e-13, 0, 3e-8, 7e-8, 5e-8, far])
    score, alone = unit * np.append(same, others), unit * np.append(same, alone)
    positive = np.arange(12) % 2 == 0
    rows = LeftOutRows(score, alone, *(np.append(zero, np.ones(6)) for _ in range(5)))
    width = 1e-9 * unit * np.ptp(score / unit)
    before, after = (
        np.mean(np.clip(np.subtract.outer(s[::2], s[1::2]) / (2 * width) + 0.5, 0, 1))
        for s in (score, alone)
    )
    of_pairs = np.zeros((12, 3)), np.ones(6), slice(6)
    found = _moved(rows, positive, np.ones(12), *of_pairs)
    assert found == pytest.approx(after - before, abs=1e-4)
    assert abs(after - before) > 0.02


def test_one_of_equal_rows_or_a_part_of_one():
    found = one_of_equal(np.array([0.0, 0.5, 1.0, 4.0]))
    np.testing.assert_array_equal(found, [1, 1, 1, 0.25])


def test_a_pair_that_no_other_row_holds():
    """Its determinant is 0: so far one is above the other, but no number is lost."""
    score, push, one = np.array([0.3, -0.2]), np.array([1.0, -2.0]), np.ones(2)
    positive = np.array([True, False])
    rows = LeftOutRows(score, score + push, one, one, one / 2, 2 * one, push)
    between = np.array([[1.0]])
    ranked = [_ranked(s, positive, one) for s in (score, rows.alone)]
    assert -1 <= moved_by_pairs(ranked, rows, between, positive, one, 0.0) <= 1
    # nor is a row moved that nothing else holds
    alone = LeftOutRows.of_fit(score, push, one, one, one - E, E)
    np.testing.assert_array_equal(alone.push, 0)
    np.testing.assert_array_equal(alone.freed, 0)
