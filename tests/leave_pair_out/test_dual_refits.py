"""Elastic nets in the dimension of the rows against scikit-learn and dense twins."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn_versions import l1_part

from skauc.leave_pair_out import _dual_refits
from skauc.leave_pair_out._bootstrap import bootstrap_counts
from skauc.leave_pair_out._dual_refits import dual_optimum, refit_dual, suits_dual
from skauc.leave_pair_out._losses import RoundedHinge, loss_terms, loss_value
from skauc.leave_pair_out._objective import ElasticNetFit
from skauc.model_selection._refit_objective import training_objective

LOSSES = ["logistic", "squared"]
TIGHT = {"tol": 1e-7, "max_iter": 1_000_000}


def _rows(n=24, P=90, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, P)) * (rng.random((n, P)) < 0.4) + 0.3
    X[:, :3] += positive[:, None]
    return X, positive


def _fit(X, loss="logistic", l1=0.3, l2=0.5, scaling=np.inf):
    n, P = X.shape
    c = np.random.default_rng(5).uniform(0.5, 2, n)
    return ElasticNetFit(loss, l2, c, np.full(P, 1e-3), 0.0, scaling, l1=l1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ratio", [0.02, 0.3])
def test_refits_are_those_of_scikit_learn(ratio, intercept, form, monkeypatch):
    monkeypatch.setattr(_dual_refits, "_GAP", 1e-9)
    X, positive = _rows()
    model = LogisticRegression(
        solver="saga", C=0.5, fit_intercept=intercept, **TIGHT, **l1_part(ratio)
    )
    fit = training_objective(model.fit(X, positive), X, positive)
    full = X @ fit.w + fit.intercept
    counts = bootstrap_counts(positive, 3)
    # from 0 as well as from the optimum
    for start in (fit, replace(fit, w=0 * fit.w, intercept=0.0)):
        refits = refit_dual(start, form(X), positive, counts)
        assert refits.full_converged
        assert refits.converged.all()
        np.testing.assert_allclose(refits.full, full, atol=1e-3)
        for c, found in zip(counts.astype(float), refits.scores, strict=True):
            model.fit(X, positive, sample_weight=c)
            np.testing.assert_allclose(found, model.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("scaling", [0.0, np.inf])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_slope_is_left_at_the_optimum(loss, scaling, monkeypatch):
    monkeypatch.setattr(_dual_refits, "_GAP", 1e-10)
    X, positive = _rows()
    fit = _fit(X, loss, scaling=scaling)
    found = dual_optimum(fit, sparse.csr_array(X), positive)
    z = X @ found.w + found.intercept
    _, g, _ = loss_terms(loss, z, positive, fit.case_weight)
    on, slope = found.w != 0, g @ X + fit.l2 * found.w
    assert 10 < np.count_nonzero(on) < 90
    np.testing.assert_allclose(slope[on] + 0.3 * np.sign(found.w[on]), 0, atol=1e-4)
    assert np.all(np.abs(slope[~on]) < 0.3 + 1e-4)
    if scaling:
        assert g.sum() == pytest.approx(0, abs=0.01)
    else:
        assert found.intercept == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_objectives_and_their_gap(loss):
    """Minus the dual is the largest lower bound of the primal: over all scores."""
    X, positive = _rows()
    fit, rng = _fit(X, loss, scaling=0.0), np.random.default_rng(1)
    problem = _problem(fit, X, positive)
    best = problem.newton(problem.at(np.zeros(24), fit.l2), fit.l2, 60)
    assert 0 <= best.primal + best.dual <= 1e-4 * best.primal
    for _ in range(20):
        point = problem.at(best.z + 0.3 * rng.normal(size=24), fit.l2)
        lost = loss_value(loss, X @ point.w, positive, fit.case_weight)
        paid = 0.3 * np.abs(point.w).sum() + 0.25 * point.w @ point.w
        assert point.primal == pytest.approx(lost + paid)
        assert point.dual > best.dual
        assert -point.dual < best.primal < point.primal


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scaling", [0.0, np.inf])
def test_a_step_solves_its_system_and_goes_down(loss, scaling):
    X, positive = _rows()
    fit = _fit(X, loss, scaling=scaling)
    problem = _problem(fit, X, positive)
    z = np.random.default_rng(3).normal(size=24)
    point = problem.at(z, fit.l2)
    dz, slope = problem._step(point, fit.l2)
    # Δα = −ωΔz, and Δz = K Δα/l2 − (z − Xw − b)
    Z = X - X.mean(axis=0) if scaling else X
    E = np.flatnonzero(point.w)
    K = Z[:, E] @ Z[:, E].T + (problem.rows.level if scaling else 0)
    system = np.eye(24) + K * point.curvature / fit.l2
    residual = z - (Z @ point.w + point.b)
    expected = np.linalg.solve(system, -residual)
    np.testing.assert_allclose(dz, expected, rtol=1e-6, atol=1e-6)
    eps = 1e-6
    up, down = (problem.at(z + s * eps * dz, fit.l2).dual for s in (1, -1))
    assert (up - down) / (2 * eps) == pytest.approx(slope, rel=1e-4)
    assert slope < 0


def _problem(fit, X, positive):
    rows = _dual_refits._Rows.of_fit(fit, X)
    return _dual_refits._Problem(rows, positive, fit.case_weight, fit.loss, fit.l1)


@pytest.mark.parametrize("scaling", [0.0, np.inf])
def test_sparse_rows_are_those_of_dense_ones(scaling):
    X, _ = _rows()
    fit, rng = _fit(X, scaling=scaling), np.random.default_rng(2)
    some, on = np.flatnonzero(rng.random(90) < 0.4), np.arange(3, 20)
    w, alpha = rng.normal(size=90), rng.normal(size=17)
    mean = X.mean(axis=0) if scaling else np.zeros(90)
    for form in (np.asarray, sparse.csr_matrix):
        rows = _dual_refits._Rows.of_fit(fit, form(X)).drawn(on)
        Z = X[on] - mean
        np.testing.assert_allclose(rows.scores(w, 2.0), Z @ w + 2.0)
        np.testing.assert_allclose(rows.transposed(alpha), alpha @ Z)
        K = Z[:, some] @ Z[:, some].T + rows.level
        np.testing.assert_allclose(rows.gram(some), K, rtol=1e-9, atol=1e-8)
        assert (rows.level > 0) == (scaling > 0)


@pytest.mark.parametrize(
    ("l2", "C"), [(1e-3, 1.0), (1e4, 1.0), (0.1, 100.0), (100.0, 0.01)]
)
def test_the_penalty_of_the_intercept_is_not_felt(l2, C, monkeypatch):
    """Of two classes in the ratio 1:2 its slope is 0, whatever the other penalties."""
    monkeypatch.setattr(_dual_refits, "_GAP", 1e-9)
    X, positive = _rows()
    fit = replace(_fit(X, l2=l2), case_weight=np.full(24, C))
    found = dual_optimum(fit, X, positive)
    z = X @ found.w + found.intercept
    _, g, _ = loss_terms("logistic", z, positive, fit.case_weight)
    assert abs(g.sum()) < 1e-3 * np.abs(g).sum()


def test_larger_penalties_come_first_where_steps_are_short(monkeypatch):
    monkeypatch.setattr(_dual_refits, "_GAP", 1e-9)
    X, positive = _rows()
    fit = _fit(X, l2=1e-3)
    expected = dual_optimum(fit, X, positive)
    asked, newton = [], _dual_refits._Problem.newton

    def seen(self, point, l2, steps):
        asked.append(l2)
        return newton(self, point, l2, steps)

    monkeypatch.setattr(_dual_refits, "_STEPS", 0)
    monkeypatch.setattr(_dual_refits._Problem, "newton", seen)
    found = dual_optimum(fit, X, positive)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-3)
    assert asked[0] == asked[-1] == 1e-3
    # scores of no slopes but those at 0 are of the size of a margin there
    Z, alpha = X - X.mean(axis=0), fit.case_weight * (positive - 0.5)
    u = Z.T @ alpha
    w = np.sign(u) * np.maximum(np.abs(u) - 0.3, 0)
    assert asked[1] == pytest.approx(np.abs(Z @ w).max())
    ratio = np.array(asked[2:]) / asked[1:-1]
    assert len(ratio) > 2
    np.testing.assert_allclose(ratio, ratio[0])
    assert 0.3 <= ratio[0] < 0.5
    monkeypatch.setattr(_dual_refits, "_MORE_STEPS", 0)
    assert dual_optimum(fit, X, positive) is None
    assert refit_dual(fit, X, positive, np.ones((1, 24))) is None


def test_a_refit_has_the_case_weights_of_its_rows(monkeypatch):
    monkeypatch.setattr(_dual_refits, "_GAP", 1e-9)
    X, positive = _rows()
    fit, counts = _fit(X), bootstrap_counts(positive, 2)
    refits = refit_dual(fit, X, positive, counts)
    for count, found in zip(counts, refits.scores, strict=True):
        rows = np.repeat(np.arange(24), count)
        again = replace(fit, case_weight=fit.case_weight[rows])
        again = dual_optimum(again, X[rows], positive[rows])
        np.testing.assert_allclose(found, X @ again.w + again.intercept, atol=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_start_is_the_fit(form, monkeypatch):
    starts = []
    monkeypatch.setattr(
        _dual_refits, "_optimum", lambda *question: starts.append(question[-1])
    )
    X, positive = _rows()
    fit = replace(_fit(X), w=np.linspace(-1, 1, 90), intercept=0.7)
    assert dual_optimum(fit, form(X), positive) is None
    assert refit_dual(fit, form(X), positive, np.ones((1, 24), int)) is None
    np.testing.assert_allclose(starts, np.tile(X @ fit.w + 0.7, (2, 1)))


def test_the_start_is_nothing_where_that_costs_less(monkeypatch):
    starts, newton = [], _dual_refits._Problem.newton

    def seen(self, point, *question):
        starts.append(point.z)
        return newton(self, point, *question)

    X, positive = _rows()
    found = dual_optimum(_fit(X, scaling=0.0), X, positive)
    monkeypatch.setattr(_dual_refits._Problem, "newton", seen)
    for w in (found.w, -99 * found.w):
        dual_optimum(replace(found, w=w), X, positive)
    np.testing.assert_allclose(starts, [X @ found.w, np.zeros(24)])


def test_a_square_loss_without_corners_is_solved_in_one_step(monkeypatch):
    """Newton's whole step is the optimum of a quadratic."""
    monkeypatch.setattr(_dual_refits, "_GAP", 1e-9)
    X, positive = _rows()
    fit = _fit(X, "squared", l1=0.0, scaling=0.0)
    problem = _problem(fit, X, positive)
    found = problem.newton(problem.at(np.zeros(24), fit.l2), fit.l2, 1)
    c, t = fit.case_weight, np.where(positive, 1.0, -1.0)
    H = (X.T * c) @ X + fit.l2 * np.eye(90)
    np.testing.assert_allclose(found.w, np.linalg.solve(H, X.T @ (c * t)), atol=1e-6)


def test_the_gap_is_a_share_of_the_objective():
    def solved(primal, gap):
        rest = dict.fromkeys(("z", "alpha", "curvature", "w", "b", "fitted"))
        return _dual_refits._Point(**rest, dual=gap - primal, primal=primal).solved

    assert solved(100.0, 0.009)
    assert not solved(100.0, 0.012)
    assert not solved(0.01, 1.2e-6)


def test_a_step_of_a_penalty_below_rounding_goes_down():
    """One feature is active: 23 directions of the rows have the penalty alone."""
    X, positive = _rows()
    fit = _fit(X, "squared", scaling=0.0, l1=0.0)
    problem = _problem(fit, X[:, :1], positive)
    point = problem.at(np.random.default_rng(0).normal(size=24), 1e-18)
    assert problem._step(point, 1e-18)[1] < 0


def test_without_factors_the_step_goes_to_the_fitted_scores(monkeypatch):
    X, positive = _rows()
    problem = _problem(_fit(X), X, positive)
    point = problem.at(np.linspace(-1, 1, 24), 0.5)
    monkeypatch.setattr(_dual_refits.lapack, "dpotrf", lambda D, **_: (D, 1))
    dz, slope = problem._step(point, 0.5)
    np.testing.assert_allclose(point.z + dz, point.fitted)
    assert slope == 0


@pytest.mark.parametrize(
    ("slope", "falls", "length"),
    [
        (-8.0, [8.1e-4], 1.0),  # by 1e-4 of the slope
        (-8.0, [7e-4, 3.9e-4, 2.1e-4], 0.25),
        (0.0, [-1e-9, -4e-11], 0.5),  # 1e-12 of the objective may be rounding
        (-8.0, [np.nan, np.nan, 1.0], 0.25),
        (-8.0, [-1.0] * 100, None),
    ],
)
def test_a_step_is_halved_until_it_goes_down(slope, falls, length):
    falls = iter(falls)

    def at(z, l2):
        return SimpleNamespace(z=z, dual=100.0 - next(falls))

    point = SimpleNamespace(z=np.ones(2), dual=100.0, primal=50.0)
    found = _dual_refits._Problem._lower(
        SimpleNamespace(at=at), point, np.array([1.0, -2.0]), slope, 0.5
    )
    if length is None:
        assert found is None
    else:
        np.testing.assert_allclose(found.z, [1 + length, 1 - 2 * length])


def test_the_penalties_before_the_last():
    np.testing.assert_allclose(_dual_refits._ladder(1.0, 0.09), [1, 0.3, 0.09])
    np.testing.assert_allclose(_dual_refits._ladder(1.0, 0.1), [1, 10**-0.5, 0.1])
    assert _dual_refits._ladder(0.5, 1.0) == [1.0]
    assert _dual_refits._ladder(0.0, 1.0) == [1.0]


def test_a_solver_astray_is_left_for_nothing():
    X, positive = _rows()
    fit = _fit(X)
    expected = dual_optimum(fit, X, positive)
    for far in (1e6 * np.ones(90), -1e3 * expected.w):
        found = dual_optimum(replace(fit, w=far), X, positive)
        np.testing.assert_allclose(found.w, expected.w, atol=0.02)


def test_where_the_rows_are_the_smaller_dimension():
    X, _ = _rows()
    fit = _fit(X)
    assert suits_dual(fit, X)
    assert suits_dual(replace(fit, intercept_scaling=0.0), X)
    assert not suits_dual(replace(fit, intercept_scaling=1.0), X)
    assert not suits_dual(replace(fit, l2=0.0), X)
    assert suits_dual(replace(fit, loss="squared"), X)
    assert not suits_dual(replace(fit, loss="squared_hinge"), X)
    assert not suits_dual(replace(fit, loss=RoundedHinge(2.0)), X)
    for k in (23, 24):
        some = replace(fit, w=(np.arange(90) < k).astype(float))
        assert suits_dual(some, X) == (k == 24)
