"""Newton steps by products with dense rows against those with a Hessian."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skauc.leave_pair_out import _optimum, _preconditioned_optimum
from skauc.leave_pair_out._eigenrows import Eigenrows
from skauc.leave_pair_out._losses import loss_value
from skauc.leave_pair_out._objective import PenalisedFit, stationarity
from skauc.leave_pair_out._optimum import at_optimum
from skauc.leave_pair_out._preconditioned_optimum import optimum_near
from skauc.leave_pair_out._smooth_refits import smooth_optimum


def _problem(scaling=np.inf, loss="logistic", l2=2.0, n=600, P=120, heavy=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, P)) * np.exp(rng.normal(size=P)) + 3 * (scaling > 0)
    positive = (X[:, :5] - 3).sum(axis=1) + 3 * rng.normal(size=n) > 0
    weight = np.arange(n) % 3 + 1.0 if heavy else np.ones(n)
    start = 1e-3 * rng.normal(size=P)
    fit = PenalisedFit(loss, l2, weight, start, 0.1 * (scaling > 0), scaling)
    return fit, X, positive, weight


def _kept(fit, X, positive, weight):
    return Eigenrows.of_rows(X, positive, weight, fit.intercept_scaling > 0)


def _objective(fit, X, positive):
    z = X @ fit.w + fit.intercept
    return (
        loss_value(fit.loss, z, positive, fit.case_weight) + fit.l2 / 2 * fit.w @ fit.w
    )


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("scaling", [np.inf, 0.0])
@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
def test_optimum_is_newtons(loss, scaling, heavy):
    fit, X, positive, weight = _problem(scaling, loss, heavy=heavy)
    kept = _kept(fit, X, positive, weight)
    found, reached = optimum_near(fit, X, positive, kept, 1e-4)
    assert reached
    assert stationarity(X, positive, found) < 1e-4
    true = smooth_optimum(fit, X, positive)
    there, here = X @ true.w, X @ found.w
    np.testing.assert_allclose(here - here.mean(), there - there.mean(), atol=3e-3)
    assert found.intercept == pytest.approx(true.intercept, abs=1e-2)
    assert (found.intercept == 0) == (scaling == 0)


@pytest.mark.parametrize("scaling", [np.inf, 0.0])
def test_products_with_turned_rows_are_those_with_the_rows(scaling, monkeypatch):
    fit, X, positive, weight = _problem(scaling, heavy=True)
    kept = _kept(fit, X, positive, weight)
    assert kept.turns(0.1, fit.l2)
    monkeypatch.setattr(_preconditioned_optimum, "_FORCING", 1e-4)
    monkeypatch.setattr(_preconditioned_optimum, "_FAR", 1e-4)
    here, decrement = _preconditioned_optimum._moved(fit, X, positive, kept)
    kept = replace(kept, turned=None)
    there, its = _preconditioned_optimum._moved(fit, X, positive, kept)
    assert decrement == pytest.approx(its, rel=1e-5)
    moved, true = X @ (here.w - fit.w), X @ (there.w - fit.w)
    np.testing.assert_allclose(moved, true, atol=1e-4 * true.std())
    assert here.intercept == pytest.approx(there.intercept, rel=1e-4)


def test_a_step_of_squares_is_the_last():
    """One curvature is that of all rows: no conjugate gradient is asked twice."""
    fit, X, positive, weight = _problem(loss="squared")
    asked, rows = [], np.asarray(X)

    class Rows:
        shape = X.shape

        def __matmul__(self, w):
            asked.append("scores")
            return rows @ w

        def __rmatmul__(self, g):
            return g @ rows

        __array_ufunc__ = None

    kept = _kept(fit, X, positive, weight)
    found, _ = _preconditioned_optimum._moved(fit, Rows(), positive, kept)
    assert len(asked) == 2  # of the fit and of the step
    many = replace(kept, turned=None)
    asked.clear()
    found, _ = _preconditioned_optimum._moved(fit, Rows(), positive, many)
    # of the fit, of one direction, and of the step
    assert len(asked) == 3
    true = smooth_optimum(fit, X, positive)
    np.testing.assert_allclose(found.w, true.w, rtol=1e-3, atol=1e-6)


def test_steps_do_not_lead_up():
    """Rows that a weak penalty leaves separated, from far away."""
    fit, X, positive, weight = _problem(l2=1e-4, n=500, P=290)
    fit = replace(fit, w=100 * fit.w)
    kept, before = _kept(fit, X, positive, weight), _objective(fit, X, positive)
    for _ in range(6):
        fit, promised = _preconditioned_optimum._moved(fit, X, positive, kept)
        now = _objective(fit, X, positive)
        assert promised > 0
        assert now < before
        before = now


def test_few_steps_are_some_of_the_way(monkeypatch):
    fit, X, positive, weight = _problem(l2=1e-4, n=500, P=290)
    kept = _kept(fit, X, positive, weight)
    monkeypatch.setattr(_preconditioned_optimum, "_STEPS", 1)
    found, reached = optimum_near(fit, X, positive, kept, 1e-4)
    assert not reached
    assert _objective(found, X, positive) < _objective(fit, X, positive)
    # neither is a gradient that is small long before the optimum
    found, reached = optimum_near(fit, X, positive, kept, 1e9)
    assert not reached


def test_no_curvature_no_step():
    fit, X, positive, weight = _problem(loss="squared_hinge")
    kept = _kept(fit, X, positive, weight)
    A = np.column_stack([X, np.ones(len(X))])
    w = np.linalg.lstsq(A[:100], np.where(positive, 3.0, -3.0)[:100], rcond=None)[0]
    few = replace(fit, w=w[:-1], intercept=w[-1], case_weight=np.ones(100))
    found = _preconditioned_optimum._moved(few, X[:100], positive[:100], kept)
    assert found is None


@pytest.mark.parametrize("way", ["products", "further", "penalised"])
def test_a_fit_that_stopped_early_is_taken_on_by_products(way, monkeypatch):
    fit, X, positive, weight = _problem()
    model = LogisticRegression(C=0.5, tol=0.1).fit(X, positive)
    fit = replace(fit, w=0.8 * model.coef_[0], intercept=model.intercept_[0])
    true, kept, started = smooth_optimum(fit, X, positive), {}, []

    def remember(name, compute):
        return kept.setdefault(name, compute())

    def newton(fit, *given):
        started.append(fit)
        return true

    monkeypatch.setattr(_optimum, "smooth_optimum", newton)
    if way == "further":
        monkeypatch.setattr(_preconditioned_optimum, "_STEPS", 1)
        monkeypatch.setattr(_preconditioned_optimum, "_CLOSE", 0.0)
    if way == "penalised":
        fit = replace(fit, intercept_scaling=1.0)
    found = at_optimum(fit, X, positive, remember=remember, weight=weight)
    if way == "products":
        assert not started
        np.testing.assert_allclose(X @ found.w, X @ true.w, atol=0.05)
    else:
        assert found is true
        assert (started[0] is fit) == (way == "penalised")
        assert bool(kept) == (way == "further")


def test_scores_of_a_step_are_those_of_its_coefficients():
    fit, X, positive, weight = _problem(heavy=True)
    found, _ = _preconditioned_optimum._moved(
        fit, X, positive, _kept(fit, X, positive, weight)
    )
    assert np.abs(found.w - fit.w).max() > 0.01
    assert found.intercept != fit.intercept
    score = found.slopes(X, positive)[0]
    np.testing.assert_allclose(score, X @ found.w + found.intercept, rtol=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_rows_without_a_curvature_are_not_read(loss, monkeypatch):
    """Of a weak penalty: the steps are those of all rows."""
    fit, X, positive, weight = _problem(loss=loss, l2=1e-2, n=600, P=300)
    kept = _kept(fit, X, positive, weight)
    near = smooth_optimum(fit, X, positive)
    fit = replace(fit, w=0.8 * near.w, intercept=near.intercept)
    felt = kept.felt(fit.slopes(X, positive)[2], fit.l2)
    assert len(felt) < 450
    # until nothing is left: elsewhere steps end at a tenth, and differ by rounding
    monkeypatch.setattr(_preconditioned_optimum, "_FORCING", 1e-3)
    monkeypatch.setattr(_preconditioned_optimum, "_FAR", 1e-3)
    monkeypatch.setattr(_preconditioned_optimum, "_CLOSE", 0.0)
    monkeypatch.setattr(_preconditioned_optimum, "_PRODUCTS", 400)
    moved = []
    for few in (0.0, 1.0):
        monkeypatch.setattr(_preconditioned_optimum, "_FEW", few)
        moved.append(_preconditioned_optimum._moved(fit, X, positive, kept))
    (one, its), (two, theirs) = moved
    assert its == pytest.approx(theirs, rel=5e-3)
    z = X @ (one.w - fit.w)
    # conjugate gradients end at a share of the gradient, at other steps by rounding
    np.testing.assert_allclose(X @ (two.w - fit.w), z, atol=0.06 * z.std())
    assert not np.array_equal(one.w, two.w)
