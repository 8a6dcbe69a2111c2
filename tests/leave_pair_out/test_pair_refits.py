"""The losses, and the batched refits without a pair."""

import numpy as np
import pytest
from oracles import loop_leave_pair_out, ridge_margins
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from skauc.leave_pair_out._losses import loss_derivatives, loss_value
from skauc.leave_pair_out._pair_refits import refit_margins

LOSSES = ["logistic", "squared", "squared_hinge"]

# ------------------------------------------------------------------------------- losses


def test_logistic_value_is_log_loss(rng):
    z, positive, c = rng.normal(0, 3, 30), rng.random(30) < 0.4, rng.random(30)
    p = 1 / (1 + np.exp(-z))
    expected = log_loss(positive, p, sample_weight=c, normalize=False)
    assert loss_value("logistic", z, positive, c) == pytest.approx(expected, rel=1e-12)


def test_squared_and_hinge_values_by_hand():
    z, positive = np.array([2.0, 0.5, -3.0, 0.25]), np.array([True, True, False, False])
    c = np.array([1.0, 2.0, 3.0, 4.0])
    squared = 0.5 * (1 + 2 * 0.25 + 3 * 4 + 4 * 1.5625)
    assert loss_value("squared", z, positive, c) == pytest.approx(squared, rel=1e-15)
    hinge = 0 + 2 * 0.25 + 0 + 4 * 1.5625
    assert loss_value("squared_hinge", z, positive, c) == pytest.approx(
        hinge, rel=1e-15
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_by_finite_differences(loss, rng):
    positive, c = rng.random(40) < 0.5, rng.random(40) + 0.1
    z = rng.normal(0, 2, 40)
    slope, curvature = loss_derivatives(loss, z, positive, c)
    gradient = approx_fprime(z, lambda t: loss_value(loss, t, positive, c), 1e-7)
    np.testing.assert_allclose(slope, gradient, atol=1e-5)
    step = 1e-6
    up, down = (loss_derivatives(loss, z + s, positive, c)[0] for s in (step, -step))
    np.testing.assert_allclose(curvature, (up - down) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_leading_axes_are_kept(loss, rng):
    z, positive, c = rng.normal(size=(3, 4, 9)), rng.random(9) < 0.5, rng.random(9)
    assert loss_value(loss, z, positive, c).shape == (3, 4)
    slope, curvature = loss_derivatives(loss, z, positive, c)
    for k in np.ndindex(3, 4):
        one = loss_derivatives(loss, z[k], positive, c)
        np.testing.assert_array_equal(slope[k], one[0])
        np.testing.assert_array_equal(curvature[k], one[1])


def test_logistic_far_out_keeps_its_digits():
    z, positive = np.array([-700.0, 700.0, 700.0, -1e5]), np.array([True, False] * 2)
    ones = np.ones(4)
    value = loss_value("logistic", z, positive, ones)
    assert value == pytest.approx(1400.0, rel=1e-14)  # the last two cost e^-700 and 0
    slope, curvature = loss_derivatives("logistic", z, positive, ones)
    tiny = np.exp(-700.0)
    np.testing.assert_allclose(slope, [-1, 1, -tiny, 0], rtol=1e-12)
    np.testing.assert_allclose(curvature, [tiny, tiny, tiny, 0], rtol=1e-12)


# ------------------------------------------------------------------------------- refits


def design(n, P, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 2 == 1
    X = rng.normal(size=(n, P))
    X[positive, 0] += shift
    return X, positive


def test_squared_loss_refits_are_the_normal_equations():
    X, positive = design(16, 3)
    A, c = np.column_stack([X, np.ones(16)]), np.linspace(0.5, 2, 16)
    sign = np.where(positive, 1.0, -1.0)
    expected = ridge_margins(X, sign, positive, 0.7, c)
    penalty = np.array([0.7] * 3 + [0.0])
    margin = refit_margins(
        A, positive, np.zeros(4), "squared", penalty, c, np.ones(16), np.arange(16)
    )
    # The intercept carries a penalty of 1e-10 of the mean square of a column.
    np.testing.assert_allclose(margin, expected, atol=1e-8)


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_logistic_refits_are_sklearn_refits(C):
    X, positive = design(18, 3, shift=4.0)

    def without(i, j):
        keep = np.setdiff1d(np.arange(18), [i, j])
        model = LogisticRegression(C=C, tol=1e-10, max_iter=5000)
        model.fit(X[keep], positive[keep])
        return float((X[i] - X[j]) @ model.coef_[0])

    rows = np.arange(10)
    expected = loop_leave_pair_out(without, positive[rows])
    margin = refit_margins(
        np.column_stack([X, np.ones(18)]),
        positive,
        np.zeros(4),
        "logistic",
        np.array([1 / C] * 3 + [0.0]),
        np.ones(18),
        np.ones(18),
        rows,
    )
    np.testing.assert_allclose(margin, expected, rtol=2e-3, atol=2e-3)


def test_hinge_refits_are_sklearn_refits():
    X, positive = design(20, 4, shift=1.5)

    def without(i, j):
        keep = np.setdiff1d(np.arange(20), [i, j])
        model = LinearSVC(C=5.0, tol=1e-9, max_iter=200000, intercept_scaling=2.0)
        model.fit(X[keep], positive[keep])
        return float((X[i] - X[j]) @ model.coef_[0])

    rows = np.arange(8)
    expected = loop_leave_pair_out(without, positive[rows])
    margin = refit_margins(
        np.column_stack([X, np.full(20, 2.0)]),
        positive,
        np.zeros(5),
        "squared_hinge",
        np.ones(5),
        np.full(20, 5.0),
        np.ones(20),
        rows,
    )
    np.testing.assert_allclose(margin, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_start_does_not_matter(loss):
    X, positive = design(20, 3)
    args = (loss, np.full(3, 0.5), np.ones(20), np.ones(20), np.arange(6))
    near = refit_margins(X, positive, np.zeros(3), *args)
    far = refit_margins(X, positive, np.array([30.0, -20.0, 5.0]), *args)
    np.testing.assert_allclose(near, far, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_two_is_a_row_twice(loss):
    X, positive = design(14, 3)
    weight = np.ones(14)
    weight[:4] = 2.0
    penalty, start = np.full(3, 0.5), np.zeros(3)
    rows = np.arange(6)
    margin = refit_margins(X, positive, start, loss, penalty, weight, weight, rows)
    twice = np.concatenate([np.arange(14), np.arange(4)])
    repeated = refit_margins(
        X[twice], positive[twice], start, loss, penalty, np.ones(18), np.ones(18), rows
    )
    np.testing.assert_allclose(margin, repeated, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unit", [1e-12, 1e9])
def test_units_of_the_features_do_not_matter(loss, unit, rng):
    # Beside a column of ones for the intercept; w grows as its features shrink.
    X = np.column_stack([rng.normal(size=(30, 5)), np.ones(30)])
    positive, ones = rng.random(30) < 0.5, np.ones(30)
    units, penalty = np.r_[np.full(5, unit), 1.0], np.full(6, 3.0)
    question = positive, np.zeros(6), loss
    weights = ones, ones, np.arange(30)
    expected = refit_margins(X, *question, penalty, *weights)
    found = refit_margins(X * units, *question, penalty * units**2, *weights)
    # the margin is a difference of features: it has no digits but theirs
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_row_that_weighs_less_than_one_leaves_as_a_whole(loss):
    X, positive = design(12, 3)
    args = X, positive, np.zeros(3), loss, np.full(3, 0.5), np.full(12, 0.4)
    light, whole = (
        refit_margins(*args, np.full(12, w), np.arange(6)) for w in (0.4, 1.0)
    )
    np.testing.assert_allclose(light, whole, rtol=1e-10)
