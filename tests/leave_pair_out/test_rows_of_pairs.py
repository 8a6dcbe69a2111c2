"""Rows that stand for all in the pairs, in the order of their scores without them."""

import numpy as np
import pytest
from scipy.optimize import brentq

from skauc.leave_pair_out import _influence, _rows_of_pairs
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._losses import loss_derivatives
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._rows_of_pairs import KernelMoments, left_out, wide_rows
from skauc.leave_pair_out._smooth_refits import smooth_optimum


@pytest.mark.parametrize("unit", [1.0, 1e-90, 1e90])
def test_moments_of_a_kernel(unit):
    X = np.random.default_rng(0).normal(size=(9, 4)) + 0.5
    weight = np.array([1, 2, 1, 3, 1, 1, 1, 2, 1])
    K, each = X @ X.T, np.repeat(np.arange(9), weight)
    beside = K[np.ix_(each, each)][~np.eye(len(each), dtype=bool)]
    found = KernelMoments.of(unit * K, weight.astype(float))
    assert found.mean / unit == pytest.approx(beside.mean())
    assert found.variance / unit / unit == pytest.approx(beside.var())
    own = np.mean(np.diag(K)[each])
    assert found.size / unit == pytest.approx(own - beside.mean())
    np.testing.assert_allclose(found.diagonal / unit, np.diag(K))


def without(moments, z, g, curvature, l2, weight):
    """Scores without their rows."""
    return left_out(moments.without_a_row(curvature, l2, weight), z, g, weight)


def test_alpha_solves_its_equation():
    rng = np.random.default_rng(1)
    z, g, curvature = rng.normal(size=(3, 30)) ** [[1], [1], [2]]
    weight = np.where(np.arange(30) % 3 == 0, 2.0, 1.0)
    moments = KernelMoments(rng.uniform(40, 60, 30), 45.0, 5.0, 20.0)

    def equation(alpha):
        one = curvature / weight
        total = sum(f * w / (1 + w * alpha) for f, w in zip(weight, one, strict=True))
        return alpha * (3.0 + total * 20.0 / 45.0) - 45.0

    alpha = brentq(equation, 0, 15)
    own = (moments.diagonal - 5.0) / 45.0
    expected = z + alpha * own * g / weight
    found = without(moments, z, g, curvature, 3.0, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_that_are_one_point_stay_in_their_order():
    K = np.full((5, 5), 2.0)
    z = np.arange(5.0)
    moments = KernelMoments.of(K, np.ones(5))
    np.testing.assert_array_equal(without(moments, z, z, z, 1.0, np.ones(5)), z)


def problem(n=600, P=900):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, P))
    return X, X[:, :5].sum(axis=1) + 2 * rng.normal(size=n) > 0.4


@pytest.mark.parametrize("l2", [300.0, 3.0])
def test_scores_without_a_row_are_those_of_ridge(l2):
    X, positive = problem(120, 200)
    t = np.where(positive, 1.0, -1.0)
    K = X @ X.T
    hat = K @ np.linalg.inv(K + l2 * np.eye(120))
    z = hat @ t
    # exact for squared loss: the residual without the row is that over 1 − h
    slow = t - (t - z) / (1 - np.diag(hat))
    one = np.ones(120)
    found = without(KernelMoments.of(K, one), z, z - t, one, l2, one)
    assert np.corrcoef(found, slow)[0, 1] > 0.99
    assert np.abs(found - slow).mean() < 0.2 * np.abs(z - slow).mean()


def test_the_sample_speaks_for_all_rows_and_for_250_at_most():
    X, positive = problem()
    weight = np.ones(600)
    moments = KernelMoments.of(X @ X.T, weight)
    rng = np.random.default_rng(2)
    z, g = rng.normal(size=(2, 600))
    order = without(moments, z, g, np.full(600, 0.2), 1.0, weight)
    for weight in (np.ones(600), np.full(600, 0.5)):
        rows, counted = wide_rows(order, positive, weight)
        for mask in (positive, ~positive):
            some = mask[rows]
            total = weight[mask].sum()
            assert counted[some].sum() == pytest.approx(min(total, 250))
            if weight[0] == 1:
                assert np.count_nonzero(some) == 150
                assert np.all(np.diff(order[rows[some]]) >= 0)
    few = np.arange(600) < 90  # of one class: every row
    rows, counted = wide_rows(order, few, np.ones(600))
    assert set(rows) >= set(range(90))
    assert counted[few[rows]].sum() == 90


@pytest.mark.parametrize("l2", [30.0, 0.1])
def test_a_sample_of_the_rows_has_their_auc(l2, monkeypatch):
    X, positive = problem()
    fit = PenalisedFit("logistic", l2, np.ones(600), np.zeros(900), 0.0, np.inf)
    fit = smooth_optimum(fit, X, positive)
    some = leave_pair_out(X, positive, fit)
    monkeypatch.setattr(_rows_of_pairs, "_WIDE_ROWS", 10**9)
    all_ = leave_pair_out(X, positive, fit)
    assert some.smooth_auc == pytest.approx(all_.smooth_auc, abs=4e-3)
    # of 250 rows a class, not 300
    ratio = some.smooth_variance / all_.smooth_variance
    assert ratio == pytest.approx(1.2, rel=0.1)


def test_equal_rows_are_ordered_as_one_row_of_that_weight():
    X, positive = problem(60, 90)
    one, weight = np.ones(60), np.where(np.arange(60) % 4 == 0, 2.0, 1.0)
    z = 0.1 * X[:, 0]
    each = np.repeat(np.arange(60), weight.astype(int))
    g, curvature = loss_derivatives("logistic", z, positive, one)
    moments = KernelMoments.of(X @ X.T, weight)
    by_weight = without(moments, z, weight * g, weight * curvature, 2.0, weight)
    ones = np.ones(len(each))
    moments = KernelMoments.of(X[each] @ X[each].T, ones)
    twice = without(moments, z[each], g[each], curvature[each], 2.0, ones)
    np.testing.assert_allclose(by_weight[each], twice, rtol=1e-9)


@pytest.mark.parametrize("unit", [0.5, 1 / 60, 1e-3, 1e-200])
def test_weights_that_count_no_rows_are_relative(unit):
    """Of at most 1: with the penalty in the same unit they say the same."""
    X, positive = problem(60, 90)
    weight, z = np.linspace(0.3, 1.0, 60), 0.1 * X[:, 0]
    g, curvature = weight * np.array(loss_derivatives("logistic", z, positive, 1.0))
    moments = [KernelMoments.of(X @ X.T, f) for f in (weight, unit * weight)]
    one, other = (np.append(of.own(), (of.mean, of.variance)) for of in moments)
    np.testing.assert_allclose(one, other, rtol=1e-9)
    beside = (X @ X.T)[~np.eye(60, dtype=bool)]
    equal = KernelMoments.of(X @ X.T, np.full(60, unit))
    assert equal.variance == pytest.approx(beside.var())
    expected = without(moments[0], z, g, curvature, 2.0, weight)
    units = unit * g, unit * curvature, unit * 2.0, unit * weight
    np.testing.assert_allclose(without(moments[1], z, *units), expected, rtol=1e-9)


def test_few_rows_are_all_in_the_pairs():
    X, positive = problem(320, 400)
    fit = PenalisedFit("squared", 5.0, np.ones(320), np.zeros(400), 0.0, np.inf)
    rows, counted, *_ = _influence.influence(X, positive, fit, np.ones(320))
    assert sorted(rows) == list(range(320))
    assert np.all(counted == 1)
