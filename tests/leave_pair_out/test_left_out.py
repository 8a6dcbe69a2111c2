"""Pairs left out in closed form, against refits without them."""

import itertools
from functools import partial

import numpy as np
import pytest
from left_out_designs import LOSSES, draw, fit_of, model, refitted_auc, rows_and_fit
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from skauc.leave_pair_out._left_out import second_source
from skauc.leave_pair_out._objective import Fit, Objective, at_optimum
from skauc.model_selection.reading._fitted_model import fitted_models
from skauc.statistics._rows import Rows


def leave_pair_out(fit, rows):
    """AUC and variance."""
    found = second_source(fit, rows)
    return found.auc, found.variance


@pytest.mark.parametrize("shape", [(18, 5), (18, 16), (14, 30)])
def test_pairs_of_a_ridge_are_exact(shape):
    for C in [0.01, 1.0, 1e3]:
        rows, fit = rows_and_fit("squared", C, *shape, seed=1)
        expected = refitted_auc(partial(model, "squared", C), rows.X, rows.positive)
        assert leave_pair_out(fit, rows)[0] == pytest.approx(expected, abs=1e-12)


def curved(name, C, class_weight=None):
    """An estimator with a curved loss, fitted as closely as its solver can."""
    known = {"C": C, "class_weight": class_weight, "tol": 1e-10}
    if name == "logistic":
        return LogisticRegression(solver="newton-cholesky", **known)
    if name == "liblinear":
        return LogisticRegression(
            solver="liblinear", max_iter=10**5, random_state=0, **known
        )
    free = {"fit_intercept": name == "hinge", "dual": False}
    return LinearSVC(max_iter=10**5, random_state=0, **free, **known)


CURVED = ["logistic", "liblinear", "hinge", "hinge without an intercept"]


def error_of_pairs(name, C, shape, *, share=0.5, costs=None, weight=None, seed=3):
    """Leave-pair-out AUC, less that of refits by scikit-learn."""
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=shape), np.arange(shape[0]) % 10 < 10 * share
    X[positive, :2] += 0.8
    t = np.where(positive, 1, -1)
    full = curved(name, C, costs).fit(X, t, weight)
    [opened] = fitted_models(full, X, t, weight)
    found = second_source(opened.fit, opened.front).auc
    return found - refitted_auc(lambda: curved(name, C, costs), X, positive, weight)


# liblinear's tolerance is beyond rounding for large C
LOUD = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@LOUD
@pytest.mark.parametrize("name", CURVED)
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_pairs_of_curved_losses_are_those_of_refits(name, C):
    """Rows that overlap, and few separated rows of a class of high cost."""
    assert error_of_pairs(name, C, (16, 3)) == pytest.approx(0, abs=1e-9)
    costs = {-1: 1.0, 1: 30.0}
    found = error_of_pairs(name, C, (16, 12), share=0.2, costs=costs)
    assert found == pytest.approx(0, abs=1e-9)


def test_one_copy_of_each_row_of_a_pair_is_left_out():
    weight = np.resize([1.0, 2.0, 3.0], 16)
    for name in CURVED[::2]:
        found = error_of_pairs(name, 10.0, (16, 4), weight=weight)
        assert found == pytest.approx(0, abs=1e-9)


@LOUD
@pytest.mark.slow
def test_pairs_of_curved_losses_at_all_sizes():
    errors = []
    for C, P, name in itertools.product([1e-4, 1.0, 1e2], [3, 15, 60], CURVED):
        costs = {-1: 1.0, 1: 2.5} if P == 15 else None
        errors.append(error_of_pairs(name, C, (30, P), costs=costs))
    for P, name in itertools.product([3, 15, 60], CURVED[:1]):  # liblinear would stop
        errors.append(error_of_pairs(name, 1e4, (30, P)))
    for C, P, name in itertools.product([1.0, 1e2], [30], CURVED[::2]):
        errors.append(error_of_pairs(name, C, (60, P), share=0.1))
    assert abs(np.mean(errors)) < 0.003
    assert np.max(np.abs(errors)) < 0.03


@pytest.mark.parametrize("loss", ["logistic", "squared hinge"])
@pytest.mark.parametrize("shape", [(40, 12), (30, 30), (30, 3000)])
def test_joined_rows_are_near_to_pairs(loss, shape, monkeypatch):
    rng, errors = np.random.default_rng(1), []
    X, positive = rng.normal(size=shape), np.arange(shape[0]) % 2 == 1
    X[positive, :2] += 0.8
    X -= X.mean(axis=0)  # a scaler in front
    rows = Rows.of(X, positive)
    for C, free in itertools.product([1e-2, 1.0, 1e2, 1e4], [True, False]):
        fit = Fit(Objective(LOSSES[loss], 1 / C, free=free), np.zeros(shape[1]))
        monkeypatch.setattr("skauc.leave_pair_out._left_out.EXACT", np.inf)
        expected = second_source(fit, rows).auc
        monkeypatch.setattr("skauc.leave_pair_out._left_out.EXACT", 0)
        errors.append(second_source(fit, rows).auc - expected)
    assert np.mean(np.abs(errors)) < 0.012
    assert np.max(np.abs(errors)) < 0.025


@pytest.mark.parametrize("shape", [(16, 4), (12, 20)])
def test_pairs_with_a_penalised_intercept(shape):
    """A constant column without a free intercept is liblinear's."""
    for column in [0.0, 1.0, 30.0]:
        rows, fit = rows_and_fit("squared", 0.1, *shape, seed=3)
        objective = Objective(fit.objective.loss, 10.0, column, free=False)
        fit = at_optimum(type(fit)(objective, 0 * fit.coef), rows)
        X = np.column_stack([rows.X, np.full(len(rows.X), column)])

        def make():
            return Ridge(alpha=10.0, fit_intercept=False)

        full = make().fit(X, np.where(rows.positive, 1, -1)).coef_
        assert fit.coef == pytest.approx(full[:-1], abs=1e-9)
        assert fit.intercept == pytest.approx(column * full[-1], abs=1e-9)
        expected = refitted_auc(make, X, rows.positive)
        assert leave_pair_out(fit, rows)[0] == pytest.approx(expected, abs=1e-12)


def test_variance_is_the_larger_of_delongs_and_hanley_and_mcneils():
    rows, fit = rows_and_fit("squared", 1.0, 60, 4, seed=4, distance=1.0)
    auc, variance = leave_pair_out(fit, rows)
    # normal scores: both are near to each other
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    n0, n1 = rows.n_neg, rows.n_pos
    expected = auc * (1 - auc) + (n1 - 1) * (q1 - auc**2) + (n0 - 1) * (q2 - auc**2)
    assert variance == pytest.approx(expected / (n0 * n1), rel=0.35)


def test_variance_of_separated_rows_is_positive():
    X, positive = draw(40, 3, distance=30.0)
    auc, variance = leave_pair_out(
        fit_of("squared", 1.0, X, positive), Rows.of(X, positive)
    )
    assert auc == 1
    assert 1e-5 < variance < 1e-2


def test_sample_of_pairs_is_near_to_all(monkeypatch):
    """An even sample loses as much as all pairs do."""
    rows, fit = rows_and_fit("logistic", 1.0, 900, 30, seed=5)
    sampled = leave_pair_out(fit, rows)
    monkeypatch.setattr("skauc.leave_pair_out._left_out.PAIR_ROWS", 1000)
    everyone = leave_pair_out(fit, rows)
    assert sampled[0] == pytest.approx(everyone[0], abs=0.1 * everyone[1] ** 0.5)
    assert sampled[1] == pytest.approx(everyone[1], rel=0.1)


def test_equal_rows_tie():
    """Rows of few distinct values: pairs of equal rows count ½ under every model."""
    rng = np.random.default_rng(6)
    X = np.eye(4)[rng.integers(0, 4, 40)]
    positive = rng.random(40) < 0.2 + 0.2 * X.argmax(axis=1)
    found = leave_pair_out(fit_of("squared", 10.0, X, positive), Rows.of(X, positive))
    expected = refitted_auc(lambda: Ridge(alpha=0.1), np.round(X), positive)
    assert found[0] == pytest.approx(expected, abs=0.01)


def test_a_rare_class_of_high_cost_is_in_the_sampled_hessian(monkeypatch):
    """With 20 of 6000 rows of half the weight, against the Hessian of all rows."""
    rng = np.random.default_rng(0)
    positive = np.arange(6000) < 20
    X = rng.standard_normal((6000, 15)) + 0.2 * positive[:, None]
    rows, fit = Rows.of(X, positive), fit_of("squared", 1.0, X, positive)
    cost = fit.objective.__class__(fit.objective.loss, 1.0, class_weight=(0.5, 150.0))
    fit = at_optimum(type(fit)(cost, 0 * fit.coef), rows)
    found = leave_pair_out(fit, rows)[0]
    monkeypatch.setattr("skauc.leave_pair_out._left_out.HESSIAN_ROWS", 6000)
    expected = leave_pair_out(fit, rows)[0]
    assert found == pytest.approx(expected, abs=0.01)
