"""The optimum by products with sparse rows, against a slow minimiser of dense ones."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from skauc.leave_pair_out import _sparse_optimum
from skauc.leave_pair_out._losses import RoundedHinge
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._sparse_optimum import optimum_by_products


def problem(n=40, P=70):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(n, P)) * (rng.random((n, P)) < 0.2)
    X *= np.geomspace(0.1, 10, P)
    positive = np.arange(n) < n // 3
    X[positive, :5] += 0.5
    return X, positive, rng.uniform(0.5, 2.0, n)


def loss_of(loss, z, positive):
    u = np.where(positive, 1.0, -1.0) * z
    if loss == "logistic":
        return np.logaddexp(0, -u)
    if loss == "squared":
        return (1 - u) ** 2 / 2
    if loss == "squared_hinge":
        return np.maximum(1 - u, 0) ** 2
    slack, width = np.maximum(1 - u, 0), loss.width
    return np.where(slack < width, slack**2 / (2 * width), slack - width / 2)


def objective(theta, fit, X, positive):
    """Written from its definition; without an intercept the last entry is not used."""
    s = fit.intercept_scaling
    b = theta[-1] if s > 0 else 0.0
    value = fit.case_weight @ loss_of(fit.loss, X @ theta[:-1] + b, positive)
    return value + fit.l2 / 2 * (
        theta[:-1] @ theta[:-1] + (b**2 / s**2 if 0 < s < np.inf else 0.0)
    )


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("l2", [3.0, 0.1])
@pytest.mark.parametrize(
    "loss", ["logistic", "squared", "squared_hinge", RoundedHinge(1.0)]
)
def test_nothing_is_lower(loss, l2, scaling):
    X, positive, c = problem()
    fit = PenalisedFit(loss, l2, c, np.zeros(X.shape[1]), 0.0, scaling)
    found = optimum_by_products(fit, sparse.csr_array(X), positive)
    question = fit, X, positive
    best = minimize(
        objective,
        np.zeros(X.shape[1] + 1),
        question,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10**7, "ftol": 1e-15, "gtol": 1e-9},
    )
    value = objective(np.append(found.w, found.intercept), *question)
    assert value <= best.fun * (1 + 1e-8)
    score, slow = X @ found.w, X @ best.x[:-1]
    np.testing.assert_allclose(score, slow, atol=2e-3 * np.ptp(slow))
    assert found.loss == loss
    assert (found.intercept == 0) == (scaling == 0)


def test_the_start_does_not_matter():
    X, positive, c = problem()
    rows, P = sparse.csr_array(X), X.shape[1]
    start = PenalisedFit("logistic", 0.3, c, np.zeros(P), 0.0, np.inf)
    astray = PenalisedFit("logistic", 0.3, c, np.full(P, 1e3), -50.0, np.inf)
    # every row beyond the margin: no curvature where it begins
    flat = PenalisedFit("squared_hinge", 0.3, c, np.zeros(P), 0.0, np.inf)
    first, second = (optimum_by_products(f, rows, positive) for f in (start, astray))
    np.testing.assert_allclose(first.w, second.w, atol=1e-3 * np.abs(first.w).max())
    on_top = optimum_by_products(flat, rows, positive)
    far = PenalisedFit("squared_hinge", 0.3, c, 30 * on_top.w, 0.0, np.inf)
    again = optimum_by_products(far, rows, positive)
    np.testing.assert_allclose(on_top.w, again.w, atol=1e-3 * np.abs(again.w).max())


def test_an_optimum_that_is_not_reached_is_none(monkeypatch):
    X, positive, c = problem()
    monkeypatch.setattr(_sparse_optimum, "_STEPS", 1)
    fit = PenalisedFit("logistic", 0.01, c, np.zeros(X.shape[1]), 0.0, np.inf)
    assert optimum_by_products(fit, sparse.csr_array(X), positive) is None


def test_no_square_matrix_is_made(monkeypatch):
    """30 000 rows of 40 000 features: a square matrix would be 7 GB."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((30_000, 40_000), density=1e-4, rng=rng, format="csr")
    positive = rng.random(30_000) < 0.4
    fit = PenalisedFit("logistic", 1.0, np.ones(30_000), np.zeros(40_000), 0.0, np.inf)
    found = optimum_by_products(fit, X, positive)
    z = X @ found.w + found.intercept
    g = 1 / (1 + np.exp(-z)) - positive
    assert abs(g.sum()) < 1e-2 * np.abs(g).sum()
    assert np.linalg.norm(X.T @ g + found.w) < 1e-3 * np.linalg.norm(X.T @ positive)
