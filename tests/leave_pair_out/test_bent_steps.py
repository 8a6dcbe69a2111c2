"""Rows left out where those near them bend: against minima and refits without them."""

from dataclasses import replace

import numpy as np
import pytest
from left_out_scores import left_out_rows
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

from skauc.leave_pair_out import _bent_steps, _leave_one_out
from skauc.leave_pair_out._bent_steps import bends, bent_push
from skauc.leave_pair_out._inverse_root import InverseRoot, of_intercept
from skauc.leave_pair_out._leave_one_out import leave_one_out_auc
from skauc.leave_pair_out._left_out_pairs import between_classes
from skauc.leave_pair_out._losses import loss_derivatives
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._smooth_refits import smooth_optimum
from skauc.model_selection._refit_objective import training_objective
from skauc.statistics import _numerics


def _levels(n, levels, seed=0):
    rng = np.random.default_rng(seed)
    level = np.arange(n) % levels
    X = (level[:, None] == np.arange(levels)).astype(float)
    z = rng.normal(size=levels)[level] - 0.5
    return X, rng.random(n) < 1 / (1 + np.exp(-z))


def _fit(X, positive, weight, scaling, l2=0.1):
    w = np.zeros(X.shape[1])
    start = PenalisedFit("logistic", l2, weight, w, 0.0, scaling)
    return smooth_optimum(start, X, positive)


def _told(fit, X, positive, weight, some):
    columns = *fit.slopes(X, positive), positive
    held, e = InverseRoot.of_fit(fit, X, columns[2]), of_intercept(fit, columns[2])
    rows = left_out_rows(fit, X, positive, weight)[some]
    return bent_push(fit, X, columns, held, rows, some, held.half(X[some]), e)


def _minimum(fit, X, positive, weight, i):
    """Of the objective without one of the rows i, along H⁻¹a_i, b a column."""
    n, P = X.shape
    _, _, curvature = fit.slopes(X, positive)
    A, ridge = X, np.full(P, fit.l2)
    if fit.intercept_scaling > 0:
        A = np.column_stack([X, np.ones(n)])
        ridge = np.append(ridge, fit.l2 / fit.intercept_scaling**2)
    theta = np.append(fit.w, fit.intercept)[: A.shape[1]]
    along = np.linalg.solve((A.T * curvature) @ A + np.diag(ridge), A[i])
    less = fit.case_weight * (1 - (np.arange(n) == i) / weight)

    def slope(t):
        moved = theta + t * along
        slopes, _ = loss_derivatives("logistic", A @ moved, positive, less)
        return along @ (A.T @ slopes + ridge * moved)

    return brentq(slope, -60, 60, xtol=1e-13)


def _equation(fit, X, positive, weight, i):
    """By the text, of one row: Newton's t, the equation of t, its slope, and h + e."""
    n, P = X.shape
    z, g, omega = fit.slopes(X, positive)
    A, ridge = np.column_stack([X, np.ones(n)]), np.append(np.full(P, fit.l2), 0.0)
    if fit.intercept_scaling == 0:
        A, ridge = X, ridge[:P]
    near = A @ np.linalg.solve((A.T * omega) @ A + np.diag(ridge), A[i])
    part, h = 1 / weight[i], near[i]
    first = part * g[i] / (1 - part * omega[i] * h)
    stay = np.where(np.arange(n) == i, 1 - part, 1.0) * (np.abs(near * first) > 0.1)

    def of(t):
        slope, bent = loss_derivatives("logistic", z + t * near, positive, weight)
        bend = stay @ (near * (slope - g - t * omega * near))
        left = t * h + bend - part * (g[i] + omega[i] * t * h) * h
        return left, h - part * omega[i] * h**2 + stay @ (near**2 * (bent - omega))

    return first, of, h, near * first


@pytest.mark.parametrize("counts", [False, True])
def test_rows_that_move_by_a_tenth_bend(counts, monkeypatch):
    """Those alone, and to the root of the equation."""
    X, positive = _levels(60, 6)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(60, 2))])
    weight = np.arange(60) % 2 + 1.0 if counts else np.ones(60)
    fit, every = _fit(X, positive, weight, np.inf), np.arange(60)
    told = _told(fit, X, positive, weight, every)
    moved, newton, expected, leverage = [], [], [], []
    for i in every:
        first, of, h, steps = _equation(fit, X, positive, weight, i)
        expected.append(brentq(lambda t, of=of: of(t)[0], -60, 60, xtol=1e-13))
        leverage.append(h)
        moved.extend(np.abs(steps))
        # alone, until a score moves by less than a thousandth
        [alone] = _told(fit, X, positive, weight, np.array([i]))
        assert abs(h * (alone - expected[-1])) < 1e-4
        newton.append(first)
    assert np.abs(leverage * np.subtract(newton, expected)).max() > 0.05
    assert np.abs(leverage * (told - expected)).max() < 1e-4
    for low, high in ((0.05, 0.1), (0.1, 0.11), (0.11, 0.2)):
        assert np.sum((low < np.array(moved)) & (np.array(moved) < high)) > 5
    monkeypatch.setattr(_bent_steps, "_SETTLED", 0.0)
    monkeypatch.setattr(_numerics, "BLOCK_BYTES", 8 * 8 * 7)  # seven rows
    np.testing.assert_allclose(
        _told(fit, X, positive, weight, every), expected, rtol=1e-6
    )


@pytest.mark.parametrize("turned", [False, True])
def test_steps_where_slopes_are_flat(turned):
    """The only positive of a level: no step is longer than a hundredth allows."""
    X, positive = _only_positive()
    positive, one = positive != turned, np.ones(30)
    fit = _fit(X, positive, one, np.inf, 1e-4)
    t, of, h, _ = _equation(fit, X, positive, one, 3)
    freed, steep = t / fit.slopes(X, positive)[1][3], []
    for _ in range(6):
        left, slope = of(t)
        steep.append(freed * slope / h)
        t -= freed * left / (h * max(steep[-1], 0.01))
    [told] = _told(fit, X, positive, one, np.array([3]))
    assert told == pytest.approx(t, rel=1e-4)
    assert min(steep) < 0.005 < 0.02 < max(steep)


def _only_positive():
    X = (np.arange(30)[:, None] % 3 == np.arange(3)).astype(float)
    return X, (np.arange(30) % 3 > 0) & (np.arange(30) > 6) | (np.arange(30) == 3)


def test_a_row_of_nothing_moves_nothing():
    X, positive = _levels(20, 3)
    X[5] = 0.0
    fit, one = _fit(X, positive, np.ones(20), 0.0), np.ones(20)
    push = _told(fit, X, positive, one, np.array([5, 7]))
    assert push[0] == left_out_rows(fit, X, positive).push[5]
    rows = left_out_rows(fit, 0 * X, positive)
    nothing = np.zeros((positive.sum(), (~positive).sum()))
    assert bends(rows, nothing, positive, one, 20.0, 0.0) == 0


@pytest.mark.parametrize("scaling", [0.0, 0.5, np.inf])
@pytest.mark.parametrize("counts", [False, True])
def test_rows_move_to_the_minimum_on_their_line(scaling, counts, monkeypatch):
    X, positive = _levels(40, 6)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=40)])
    weight = np.arange(40) % 3 + 1.0 if counts else np.ones(40)
    fit, some = _fit(X, positive, weight, scaling), np.array([30, 3, 17, 8, 25, 12])
    assert set(positive[some]) == {False, True}
    expected = [_minimum(fit, X, positive, weight, i) for i in some]
    first = left_out_rows(fit, X, positive, weight)[some].push
    assert np.abs(first - expected).max() > 0.02
    near = _told(fit, X, positive, weight, some)
    # what moves a score by less than a tenth does not bend
    assert np.abs(near - expected).max() < 0.2 * np.abs(first - expected).max()
    monkeypatch.setattr(_bent_steps, "_FAR", 0.0)
    monkeypatch.setattr(_bent_steps, "_SETTLED", 0.0)
    # the fit is at its optimum to 1e-6 or so
    exact = _told(fit, X, positive, weight, some)
    np.testing.assert_allclose(exact, expected, rtol=1e-4)


def test_a_row_that_nothing_else_holds_is_not_pushed():
    X, positive = _levels(20, 3)
    X = np.column_stack([X, np.arange(20) == 4])
    fit = PenalisedFit("logistic", 1e-15, np.ones(20), np.ones(4), 0.1, 0.0)
    push = _told(fit, X, positive, np.ones(20), np.array([4, 7]))
    assert push[0] == 0
    assert np.isfinite(push).all()


def test_far_minima_are_approached(monkeypatch):
    """The only positive of a level: its score goes where the slopes are flat."""
    X, positive = _only_positive()
    fit, some = _fit(X, positive, np.ones(30), np.inf, 1e-3), np.array([3])
    expected = _minimum(fit, X, positive, np.ones(30), 3)
    push = _told(fit, X, positive, np.ones(30), some)
    first = left_out_rows(fit, X, positive)[some].push
    assert abs(push[0] - expected) < 0.2 * abs(first[0] - expected)
    monkeypatch.setattr(_bent_steps, "_STEPS", 40)
    push = _told(fit, X, positive, np.ones(30), some)
    assert push[0] == pytest.approx(expected, rel=0.05)


def test_how_far_slopes_bend():
    X, positive = _levels(12, 4)
    weight = np.arange(12) % 2 + 1.0
    fit = _fit(X, positive, weight, np.inf)
    rows, e = (
        left_out_rows(fit, X, positive, weight),
        of_intercept(fit, fit.slopes(X, positive)[2]),
    )
    curvature = fit.slopes(X, positive)[2]
    half = InverseRoot.of_fit(fit, X, curvature).half(X)
    count, Q = np.linspace(1, 2, 12), half @ half.T + e
    bent = size = mass = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            often = count[i] * count[j]
            slopes = curvature / weight
            bent += often * slopes[j] * abs(rows.push[i]) * Q[i, j] ** 3
            bent += often * slopes[i] * abs(rows.push[j]) * Q[i, j] ** 3
            size += often * (Q[i, i] + Q[j, j])
            mass += often
    found = bends(rows, between_classes(half, positive), positive, count, 50.0, e)
    assert found == pytest.approx(50 * bent / size, rel=1e-10)


def _refitted(kinds, weights, positive, C):
    """Scores of kinds of rows that stand so often."""
    keep = weights > 0
    model = LogisticRegression(C=C, tol=1e-9, max_iter=1000)
    return model.fit(kinds[keep], positive[keep], weights[keep]).decision_function(
        kinds
    )


@pytest.mark.parametrize("scaled", [1.0, -1.0])
@pytest.mark.parametrize(("levels", "C"), [(60, 10.0), (60, 100.0), (180, 100.0)])
def test_few_rows_a_level(levels, C, scaled, monkeypatch):
    """All pairs are refitted; Newton's step promises too much."""
    X, positive = _levels(300, levels, seed=2)
    positive = positive if scaled > 0 else ~positive
    model = LogisticRegression(C=C, tol=1e-10, max_iter=1000).fit(X, positive)
    fit = training_objective(model, X, positive)
    z = model.decision_function(X)
    level = X.argmax(axis=1)
    n_pos, n_neg = (
        np.bincount(level[c], minlength=levels) for c in (positive, ~positive)
    )
    # levels with as many rows of each class are alike
    alike, kind = np.unique([n_pos, n_neg], axis=1, return_inverse=True)
    kind, first = kind.ravel(), {}
    kinds, one = np.vstack([np.eye(levels)] * 2), np.arange(2 * levels) < levels
    won = total = 0.0
    for a in np.flatnonzero(n_pos):
        for b in np.flatnonzero(n_neg):
            name = kind[a], kind[b], a == b
            if name not in first:
                count = np.append(n_pos, n_neg).astype(float)
                count[[a, levels + b]] -= 1
                refit = _refitted(kinds, count, one, C)
                margin = refit[a] - refit[b]
                first[name] = 0.5 if abs(margin) < 1e-6 else margin > 0
            won += n_pos[a] * n_neg[b] * first[name]
            total += n_pos[a] * n_neg[b]
    auc, variance = leave_one_out_auc(fit, X, positive, np.ones(300))
    assert auc == pytest.approx(won / total, abs=0.15 * np.sqrt(variance))
    monkeypatch.setattr(_leave_one_out, "_BENT", np.inf)
    first_order, _ = leave_one_out_auc(fit, X, positive, np.ones(300))
    assert first_order > won / total + 0.5 * np.sqrt(variance)
    assert len(alike.T) < 20 < len(z)


def test_rows_that_stand_twice_weigh_two():
    X, positive = _levels(200, 30)
    fit = _fit(X, positive, np.full(200, 2.0), np.inf)
    weight = np.full(200, 2.0)
    here, _ = leave_one_out_auc(fit, X, positive, weight)
    twice = np.repeat(np.arange(200), 2)
    each = replace(fit, case_weight=np.ones(400))
    there, _ = leave_one_out_auc(each, X[twice], positive[twice], np.ones(400))
    assert here == pytest.approx(there, abs=1e-6)
