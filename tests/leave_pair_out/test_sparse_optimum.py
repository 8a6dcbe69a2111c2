"""The optimum by products with sparse rows, against a slow minimiser of dense ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize

from skauc.leave_pair_out import _newton, _sparse_optimum
from skauc.leave_pair_out._influence import kernel
from skauc.leave_pair_out._losses import RoundedHinge, loss_terms
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._sparse_optimum import (
    SingleKernel,
    optimum_by_kernel,
    optimum_by_products,
)


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


@pytest.mark.parametrize("P", [70, 30])
@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("l2", [3.0, 0.1])
@pytest.mark.parametrize(
    "loss", ["logistic", "squared", "squared_hinge", RoundedHinge(1.0)]
)
def test_nothing_is_lower(loss, l2, scaling, P):
    """In the space of the rows, P > n, and in that of the features."""
    X, positive, c = problem(P=P)
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


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("loss", ["logistic", RoundedHinge(1.0), RoundedHinge(0.3)])
@pytest.mark.parametrize("l2", [300.0, 3.0, 0.3])  # of less, corners are out of reach
def test_a_kernel_that_is_there_is_as_good_as_products(loss, l2, scaling):
    """And rows beyond the corner, or outside of it, have their force, as any others."""
    X, positive, c = problem()
    w = 0.1 * np.random.default_rng(1).normal(size=X.shape[1])
    fit = PenalisedFit(loss, l2, c, w, -0.2 * (scaling > 0), scaling)
    rows = sparse.csr_array(X)
    one = optimum_by_products(fit, rows, positive, 1e-10)
    two = optimum_by_products(fit, rows, positive, 1e-10, kernel(rows, fit))
    space = _sparse_optimum._Rows.of_fit(fit, rows)  # of features: no kernel at all
    three = _sparse_optimum._newton(space, fit, positive, 1e-10)
    size = np.abs(X @ one.w).max()
    for other in (two, three):
        np.testing.assert_allclose(X @ other.w, X @ one.w, atol=1e-4 * size)
        assert other.intercept == pytest.approx(one.intercept, abs=1e-4 * size)
    # at the optimum the forces of the rows hold w: λw = −Xᵀg
    _, g, _ = loss_terms(loss, X @ one.w + one.intercept, positive, c)
    np.testing.assert_allclose(-X.T @ g, l2 * one.w, atol=1e-3 * l2 * size)


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
    X = sparse.random(30_000, 40_000, density=1e-4, random_state=rng, format="csr")
    positive = rng.random(30_000) < 0.4
    fit = PenalisedFit("logistic", 1.0, np.ones(30_000), np.zeros(40_000), 0.0, np.inf)
    found = optimum_by_products(fit, X, positive)
    z = X @ found.w + found.intercept
    g = 1 / (1 + np.exp(-z)) - positive
    assert abs(g.sum()) < 1e-2 * np.abs(g).sum()
    assert np.linalg.norm(X.T @ g + found.w) < 1e-3 * np.linalg.norm(X.T @ positive)


def small(loss="squared", scaling=2.0, l2=0.7, n=20, P=5):
    """Few rows, a fit with coefficients, and its dense rows with the intercept's."""
    rng = np.random.default_rng(3)
    positive = np.arange(n) < n // 3
    X = rng.normal(size=(n, P)) * np.geomspace(0.2, 5, P) + 0.8 * positive[:, None]
    X[rng.random((n, P)) < 0.3] = 0.0
    w, c = rng.normal(size=P) / 4, rng.uniform(0.5, 2.0, n)
    fit = PenalisedFit(loss, l2, c, w, 0.3 if scaling else 0.0, scaling)
    Z = np.column_stack([X, np.full(n, 1.0 if scaling else 0.0)])
    share = l2 / scaling**2 if 0 < scaling < np.inf else 0.0
    return fit, X, positive, Z, np.append(np.full(P, l2), share)


def conjugate_gradients(H, b, forcing):
    """The textbook's, with the diagonal as preconditioner, until r'M^-1 r is small."""
    M = np.diag(1 / np.where(np.diag(H) > 0, np.diag(H), 1.0))
    x, r = np.zeros(len(b)), b
    p = M @ r
    first = r @ M @ r
    while r @ M @ r > forcing**2 * first:
        alpha = (r @ M @ r) / (p @ H @ p)
        x, new = x + alpha * p, r - alpha * (H @ p)
        p = M @ new + (new @ M @ new) / (r @ M @ r) * p
        r = new
    return x


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
def test_a_newton_step_is_that_of_conjugate_gradients(scaling):
    """Left where a hundredth of the gradient is; with the dense Hessian."""
    fit, X, _, Z, penalty = small(scaling=scaling)
    rows = _sparse_optimum._Rows.of_fit(fit, sparse.csr_array(X))
    rng = np.random.default_rng(0)
    for _ in range(20):
        curvature = rng.uniform(0.1, 3.0, len(X)) * (rng.random(len(X)) < 0.7)
        gradient = rng.normal(size=Z.shape[1]) * (30.0 if scaling else 0.1)
        if not scaling:
            gradient[-1] = 0.0
        H = (Z.T * curvature) @ Z + np.diag(penalty)
        slow = conjugate_gradients(H, -gradient, 1e-2)
        step = rows.newton_step(curvature, gradient)
        np.testing.assert_allclose(step, slow, atol=1e-9 * np.abs(slow).max())
        assert rows.energy(step) == pytest.approx(step**2 @ penalty / 2)


@pytest.mark.parametrize("unit", [1.0, 1e-5])
@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5, 2.0])
def test_a_newton_step_of_fewer_rows_than_features(scaling, unit, monkeypatch):
    """The same from a system of the rows; a free intercept to four digits."""
    fit, X, _, Z, penalty = small(scaling=scaling, n=12, P=30)
    rows = _sparse_optimum._Rows.of_fit(fit, sparse.csr_array(X))
    monkeypatch.setattr(
        _sparse_optimum._Rows, "_of_features", lambda *_: pytest.fail("of P numbers")
    )
    rng = np.random.default_rng(0)
    for _ in range(20):
        curvature = unit * rng.uniform(0.1, 3.0, 12) * (rng.random(12) < 0.7)
        gradient = Z.T @ rng.normal(size=12) + penalty * rng.normal(size=31)
        H = (Z.T * curvature) @ Z + np.diag(penalty)
        inverse = 1 / np.maximum(np.diag(H), 1e-300)
        for forcing in (1e-2, 1e-8):
            monkeypatch.setattr(_sparse_optimum, "_FORCING", forcing)
            step = rows.newton_step(curvature, gradient)
            left = H @ step + gradient
            start = gradient @ (inverse * gradient)
            assert left @ (inverse * left) <= (forcing + 2e-4) ** 2 * start
        if scaling == 0:
            assert step[-1] == 0
            continue
        slow = -np.linalg.solve(H, gradient)
        atol = 1e-3 if scaling == np.inf else 1e-6
        np.testing.assert_allclose(step, slow, atol=atol * np.abs(slow).max())


def test_a_newton_step_from_nowhere_is_none():
    fit, X, _, Z, _ = small()
    rows = _sparse_optimum._Rows.of_fit(fit, sparse.csr_array(X))
    assert not rows.newton_step(np.ones(len(X)), np.zeros(Z.shape[1])).any()


def first_step(fit, positive, Z, penalty, theta):
    """Newton's from theta, halved until the objective falls by 1e-4 of its slope."""

    def objective(theta):
        losses = fit.case_weight @ loss_of(fit.loss, Z @ theta, positive)
        return losses + penalty @ theta**2 / 2

    if objective(theta) > objective(0 * theta):
        theta = 0 * theta
    t, z, e = np.where(positive, 1.0, -1.0), Z @ theta, 1e-4
    low, middle, high = (loss_of(fit.loss, z + k * e, positive) for k in (-1, 0, 1))
    g = fit.case_weight * (high - low) / (2 * e)
    curvature = fit.case_weight * (high - 2 * middle + low) / e**2
    if fit.loss == "logistic":
        p = 1 / (1 + np.exp(-t * z))
        g, curvature = -t * fit.case_weight * (1 - p), fit.case_weight * p * (1 - p)
    if not curvature.any():
        curvature = 1e-3 * fit.case_weight
    gradient = Z.T @ g + penalty * theta
    step = -np.linalg.solve((Z.T * curvature) @ Z + np.diag(penalty), gradient)
    length = 1.0
    while (
        objective(theta + length * step)
        > objective(theta) + 1e-4 * length * gradient @ step
    ):
        length /= 2
    return theta + length * step, length


@pytest.mark.parametrize(
    ("loss", "l2", "start", "length"),
    [
        ("logistic", 0.7, "near", 1.0),
        ("squared_hinge", 0.7, "near", 1.0),
        ("logistic", 0.02, 1, 0.5),
        ("logistic", 0.7, 135, 0.5),  # the losses fall, their sum with w² does not
        ("logistic", 0.7, "astray", 1.0),  # w = 0 costs less
        ("logistic", 30.0, "apart", 1.0),  # few losses, and yet w = 0 costs less
        ("squared_hinge", 1e-3, "apart", 1.0),  # no row bends
    ],
)
def test_the_first_step_is_newtons(loss, l2, start, length, monkeypatch):
    fit, X, positive, Z, penalty = small(loss, l2=l2)
    theta = np.append(fit.w, fit.intercept)
    if start == "apart":
        Z[:, 0] = X[:, 0] = np.where(positive, 2.0, -2.0)
        theta = np.append(np.eye(5)[0], 0.0)
    elif start == "astray":
        theta = 100 * theta
    elif start != "near":
        theta = np.random.default_rng(start).normal(size=6)
        theta[:5] /= np.geomspace(0.2, 5, 5)
    fit = replace(fit, w=theta[:-1], intercept=theta[-1])
    monkeypatch.setattr(_sparse_optimum, "_FORCING", 1e-9)
    expected, taken = first_step(fit, positive, Z, penalty, theta)
    assert taken == length
    found = optimum_by_products(fit, sparse.csr_array(X), positive, np.inf)
    theta = np.append(found.w, found.intercept)
    np.testing.assert_allclose(theta, expected, atol=1e-6 * np.abs(expected).max())


@pytest.fixture
def rows_alone(monkeypatch):
    """More features than rows are not left to the space of the features."""
    monkeypatch.setattr(
        _sparse_optimum._Rows, "of_fit", lambda *_: pytest.fail("of P numbers")
    )


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
@pytest.mark.parametrize(
    ("loss", "l2", "start", "length"),
    [
        ("logistic", 0.7, "near", 1.0),
        ("squared", 0.7, "near", 1.0),
        ("squared_hinge", 0.7, "near", 1.0),
        ("logistic", 0.7, "halved", 0.5),
        ("logistic", 0.02, "halved", 0.5),
        ("logistic", 0.7, "astray", 1.0),  # w = 0 costs less
        ("logistic", 8.0, "apart", 1.0),  # few losses, and yet w = 0 costs less
        ("squared_hinge", 1e-3, "apart", 1.0),  # no row bends
    ],
)
def test_the_first_step_of_more_features_than_rows_is_newtons(
    loss, l2, start, length, scaling, monkeypatch, rows_alone
):
    monkeypatch.setattr(_sparse_optimum, "_FIRST", 1e-10)
    fit, X, positive, Z, penalty = small(loss, scaling, l2, n=12, P=30)
    theta = np.append(fit.w, fit.intercept)
    if start == "apart":
        t = np.where(positive, 1.0, -1.0)
        theta = np.append(np.linalg.pinv(X) @ (2 * t), 0.1 * (scaling > 0))
    elif start == "halved":
        rng = np.random.default_rng(4)
        z = 2 * np.where(positive, 1.0, -1.0) * rng.exponential(2.0, 12)
        theta[:-1] = np.linalg.pinv(X) @ (z + rng.normal(size=12))
    elif start == "astray":
        theta = 100 * theta
    fit = replace(fit, w=theta[:-1], intercept=theta[-1])
    used = len(theta) if scaling else len(theta) - 1
    question = positive, Z[:, :used], penalty[:used], theta[:used]
    expected, taken = first_step(fit, *question)
    assert taken == length
    found = optimum_by_products(fit, sparse.csr_array(X), positive, np.inf)
    theta = np.append(found.w, found.intercept)
    atol = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(theta[:used], expected, atol=atol)
    assert scaling or theta[-1] == 0


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
def test_rows_start_at_the_fit_while_it_costs_less_than_nothing(scaling, monkeypatch):
    fit, X, positive, *_ = small("squared", scaling, 5.0, n=12, P=30)
    along = np.append(np.linalg.pinv(X) @ np.where(positive, 1.0, -1.0), 0.3)
    along[-1] *= scaling > 0
    zero = objective(0 * along, fit, X, positive)
    far = brentq(lambda k: objective(k * along, fit, X, positive) - zero, 0.01, 100)
    starts, point = [], _sparse_optimum._RowSpace.newton_point

    def seen(self, at, *slopes):
        starts.append(at.z)
        return point(self, at, *slopes)

    monkeypatch.setattr(_sparse_optimum._RowSpace, "newton_point", seen)
    for k in (0.98 * far, 1.02 * far):
        start = replace(fit, w=k * along[:-1], intercept=k * along[-1])
        optimum_by_products(start, sparse.csr_array(X), positive, np.inf)
    there = 0.98 * far * (X @ along[:-1] + along[-1])
    np.testing.assert_allclose(starts, [there, np.zeros(12)])


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
@pytest.mark.parametrize("P", [5, 30])
@pytest.mark.parametrize("length", [1.0, 0.5, 0.25, 0.125])
def test_a_square_falls_by_what_its_slope_promises(length, P, scaling, monkeypatch):
    """Along Newton's step by ``t(1 − t/2)`` of it: a share that t alone decides."""
    for name in ("_FORCING", "_FIRST"):
        monkeypatch.setattr(_sparse_optimum, name, 1e-10)
    fit, X, positive, Z, penalty = small("squared", scaling, 5.0, n=12, P=P)
    used = P + (scaling > 0)
    Z, penalty, c = Z[:, :used], penalty[:used], fit.case_weight
    H = (Z.T * c) @ Z + np.diag(penalty)
    best = np.linalg.solve(H, Z.T @ (c * np.where(positive, 1.0, -1.0)))
    theta = np.zeros(P + 1)
    theta[:used] = 0.3 * best
    fit = replace(fit, w=theta[:-1], intercept=theta[-1])
    expected = theta[:used] + length * (best - theta[:used])
    for less in (1e-3, length / 2 - 1e-3):  # twice as far falls short of it
        monkeypatch.setattr(_newton, "ARMIJO", 1 - length / 2 - less)
        found = optimum_by_products(fit, sparse.csr_array(X), positive, np.inf)
        theta = np.append(found.w, found.intercept)
        np.testing.assert_allclose(theta[:used], expected, atol=1e-7)


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
@pytest.mark.parametrize("forcing", [1e-3, 1e-2])
def test_a_point_in_the_space_of_the_rows_is_that_of_conjugate_gradients(
    scaling, forcing
):
    """From nothing to a thousandth, else to a hundredth of what is left.

    A row without curvature has the force of its slope.
    """
    fit, X, *_ = small(scaling=scaling, n=12, P=30, l2=10.0)
    rng, s = np.random.default_rng(0), 0.0 if np.isinf(scaling) else scaling
    K = X @ X.T + s**2
    rows = _sparse_optimum._RowSpace(sparse.csr_array(X), fit)
    for _ in range(40):
        curvature = rng.uniform(0.1, 3.0, 12) * (rng.random(12) < 0.8)
        z, g = rng.normal(size=12), rng.normal(size=12)
        alpha = rng.normal(size=12) * (forcing == 1e-2)
        D, on = np.sqrt(curvature), curvature > 0
        inverse = np.where(on, 1 / np.where(on, D, 1.0), 0.0)
        project = np.eye(12)
        if np.isinf(scaling):
            project -= np.outer(D, D) / (D @ D)
        system = project @ (fit.l2 * np.eye(12) + D[:, None] * K * D)
        fixed = np.where(on, 0.0, -g / fit.l2)
        gamma, missing = project @ (alpha * inverse), np.zeros(12)
        if np.isinf(scaling):  # 1ᵀ(Dγ + α₀) = 0
            missing = -D * fixed.sum() / (D @ D)
        whole = fit.l2 * np.eye(12) + D[:, None] * K * D
        wanted = D * (z - K @ fixed) - g * inverse - whole @ missing
        r = project @ wanted - system @ gamma
        p, first = r, r @ r
        while r @ r > forcing**2 * first:
            step = (r @ r) / (p @ system @ p)
            gamma, new = gamma + step * p, r - step * (system @ p)
            p, r = new + (new @ new) / (r @ r) * p, new
        gamma = gamma + missing
        force, b = D * gamma + fixed, 0.0
        if np.isinf(scaling):  # the weighted mean of what the rows would have
            assert force.sum() == pytest.approx(0, abs=1e-9)
            target = z[on] - ((g + fit.l2 * force) / np.where(on, curvature, 1.0))[on]
            b = np.average(target - (K @ force)[on], weights=curvature[on])
        at = _sparse_optimum._Point(alpha, K @ alpha, z, 0.0, 0.0, 0.0)
        point = rows.newton_point(at, g, curvature)
        np.testing.assert_allclose(point.alpha, force, atol=1e-8)
        # conjugate gradients stop at a residual; K enlarges what is left
        np.testing.assert_allclose(point.inner, K @ force, atol=1e-6)
        np.testing.assert_allclose(point.z, K @ force + b, atol=1e-6)
        assert point.b == pytest.approx(b, abs=1e-7)


def near_the_optimum(share, P=5):
    """Squared loss, from where Newton's step promises that share of the objective."""
    fit, X, positive, Z, penalty = small("squared", l2=5.0, P=P)
    fit = replace(fit, case_weight=30 * fit.case_weight)
    c, t = fit.case_weight, np.where(positive, 1.0, -1.0)
    H = (Z.T * c) @ Z + np.diag(penalty)
    best = np.linalg.solve(H, Z.T @ (c * t))
    value = c @ (Z @ best - t) ** 2 / 2 + penalty @ best**2 / 2
    along = np.linspace(1, 2, len(best))
    start = best + np.sqrt(share * value / (along @ H @ along)) * along
    return replace(fit, w=start[:-1], intercept=start[-1]), X, positive, best


@pytest.mark.parametrize("P", [5, 30])
@pytest.mark.parametrize(("share", "steps"), [(7e-10, 1), (1.5e-9, 2), (1e-7, 2)])
def test_the_step_that_promises_a_billionth_is_the_last(share, steps, P, monkeypatch):
    for name in ("_FORCING", "_FIRST"):
        monkeypatch.setattr(_sparse_optimum, name, 1e-9)
    fit, X, positive, best = near_the_optimum(share, P)
    space, name = _sparse_optimum._Rows, "newton_step"
    if P > 20:
        space, name = _sparse_optimum._RowSpace, "newton_point"
    taken, step = [], getattr(space, name)
    monkeypatch.setattr(space, name, lambda *args: taken.append(1) or step(*args))
    found = optimum_by_products(fit, sparse.csr_array(X), positive)
    assert len(taken) == steps
    np.testing.assert_allclose(found.w, best[:-1], rtol=1e-7)
    assert found.intercept == pytest.approx(best[-1])


@pytest.mark.parametrize("P", [5, 30])
@pytest.mark.parametrize("share", [7e-7, 1e-8, 1.5e-6, 1e-4])
def test_a_step_that_cannot_be_taken_is_rounding_or_no_optimum(share, P, monkeypatch):
    for name in ("_FORCING", "_FIRST"):
        monkeypatch.setattr(_sparse_optimum, name, 1e-9)
    fit, X, positive, _ = near_the_optimum(share, P)
    terms = _sparse_optimum.loss_terms
    start = sparse.csr_array(X) @ fit.w + fit.intercept

    def never_lower(loss, z, positive, c):
        value, *rest = terms(loss, z, positive, c)
        return value + 1e3 * np.any(z != start), *rest

    monkeypatch.setattr(_sparse_optimum, "loss_terms", never_lower)
    found = optimum_by_products(fit, sparse.csr_array(X), positive)
    if P > 20:
        space = _sparse_optimum._RowSpace(sparse.csr_array(X), fit)
        alone = _sparse_optimum._newton(space, fit, positive, 1e-9)
        assert (alone is None) == (share > 1e-6)
    if share > 1e-6:
        assert found is None
    else:
        np.testing.assert_array_equal(found.w, fit.w)
        assert found.intercept == fit.intercept


@pytest.mark.parametrize("by_kernel", [False, True])
@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", RoundedHinge(0.3)])
def test_points_on_the_way_are_what_their_coefficients_say(loss, scaling, by_kernel):
    """Scores, penalty and slope of parts of steps, from w and b of each point."""
    fit, X, positive, *_ = small(loss, scaling, n=12, P=30)
    rows, c = sparse.csr_array(X), fit.case_weight
    K = kernel(rows, fit) if by_kernel else None
    space = _sparse_optimum._RowSpace(rows, fit, K)
    matrix = X @ X.T + (0.0 if np.isinf(scaling) else scaling**2)
    if by_kernel and np.isinf(scaling):
        matrix = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T

    def coefficients(at):
        found = space.fit(at, fit)
        return np.append(found.w, found.intercept)

    at = space.start(fit)
    for part in (0.3, 0.6, 1.0):
        _, g, curvature = loss_terms(loss, at.z, positive, c)
        bent = curvature if curvature.any() else 1e-3 * c
        slope, reached = space.ray(at, g, bent)
        before, whole = coefficients(at), coefficients(reached(1.0))
        low, high = (
            objective(before + e * (whole - before), fit, X, positive)
            for e in (-1e-5, 1e-5)
        )
        assert slope == pytest.approx((high - low) / 2e-5, rel=1e-4)
        at, theta = reached(part), before + part * (whole - before)
        np.testing.assert_allclose(coefficients(at), theta, atol=1e-12)
        np.testing.assert_allclose(at.inner, matrix @ at.alpha, atol=1e-10)
        np.testing.assert_allclose(at.z, X @ theta[:-1] + theta[-1], atol=1e-10)
        zero = objective(theta, replace(fit, case_weight=0 * c), X, positive)
        assert at.penalty == pytest.approx(zero, rel=1e-9)


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 0.5])
@pytest.mark.parametrize("width", [0.3, 2.0])
def test_a_rounded_hinge_starts_in_its_corner_as_well(width, scaling, monkeypatch):
    """At the least of ``Σ c (1 − tz)²/(2·width)`` and the penalty, from equations."""
    monkeypatch.setattr(_sparse_optimum, "_FIRST", 1e-12)
    fit, X, positive, Z, penalty = small(RoundedHinge(width), scaling, n=12, P=30)
    space = _sparse_optimum._RowSpace(sparse.csr_array(X), fit)
    at_fit, corner = space.starts(fit, positive)
    np.testing.assert_allclose(at_fit.z, X @ fit.w + fit.intercept)
    used = 30 + (scaling > 0)
    bent = Z[:, :used].T * fit.case_weight / width
    H = bent @ Z[:, :used] + np.diag(penalty[:used])
    best = np.linalg.solve(H, bent @ np.where(positive, 1.0, -1.0))
    found = space.fit(corner, fit)
    np.testing.assert_allclose(np.append(found.w, found.intercept)[:used], best)
    np.testing.assert_allclose(corner.z, Z[:, :used] @ best)
    assert corner.penalty == pytest.approx(penalty[:used] @ best**2 / 2)
    assert found.intercept == 0 or scaling


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_what_is_solved_is_not_asked_again(unit, monkeypatch):
    """From the optimum of squares a second step takes no product."""
    for name in ("_FORCING", "_FIRST"):
        monkeypatch.setattr(_sparse_optimum, name, 1e-14)
    fit, X, positive, *_ = small("squared", 0.0, 50.0, n=12, P=30)
    fit = replace(fit, w=0 * fit.w, case_weight=unit * fit.case_weight, l2=unit * 50.0)
    space, c = _sparse_optimum._RowSpace(sparse.csr_array(X), fit), fit.case_weight
    target = 5.0 * np.where(positive, 1.0, -1.0)
    at = space.newton_point(space.start(fit), -c * target, c)
    monkeypatch.setattr(_sparse_optimum, "_FORCING", 1e-2)
    asked, kernel_of = [], space.kernel
    space.kernel = lambda v: asked.append(1) or kernel_of(v)
    again = space.newton_point(at, c * (at.z - target), c)
    assert not asked
    np.testing.assert_allclose(again.z, at.z)


def wide(n=80, P=150):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, P)) * np.geomspace(2, 0.2, P) + 0.4
    positive = X[:, :4].sum(axis=1) + 2 * rng.normal(size=n) > 1.5
    return X, positive, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("l2", [300.0, 3.0, 0.1])
@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e30])  # squares beyond single precision
def test_dense_rows_from_their_kernel_in_single_precision(
    scaling, l2, unit, monkeypatch
):
    monkeypatch.setattr(_sparse_optimum, "_FEW_ROWS", 0.1)  # 800 products
    X, positive, c = wide()
    w = 0.05 * np.random.default_rng(1).normal(size=X.shape[1])
    b, far = -0.2 * (scaling > 0), scaling * unit
    fit = PenalisedFit("logistic", l2 * unit**2, c, w / unit, b, far)
    Z = unit * X
    K = kernel(Z, fit)
    found = optimum_by_kernel(fit, Z, positive, K, SingleKernel.of(K))
    z = Z @ found.w + found.intercept
    _, g, _ = loss_terms("logistic", z, positive, c)
    # at the optimum the forces of the rows hold w: λw = −Xᵀg
    pull = -(X.T @ g) / l2
    np.testing.assert_allclose(found.w * unit, pull, atol=2e-3 * np.linalg.norm(pull))
    if scaling == np.inf:
        assert abs(g.sum()) < 1e-6 * np.abs(g).sum()
    elif scaling:
        assert found.intercept == pytest.approx(-(far**2) * g.sum() / fit.l2, rel=2e-3)
    else:
        assert found.intercept == 0


def test_few_products_are_taken_and_the_gradient_is_looked_at(monkeypatch):
    """Otherwise None: there are factorisations."""
    X, positive, c = wide()
    fit = PenalisedFit("logistic", 0.1, c, np.zeros(X.shape[1]), 0.0, np.inf)
    K = kernel(X, fit)
    question = fit, X, positive, K, SingleKernel.of(K)
    assert optimum_by_kernel(*question) is None
    monkeypatch.setattr(_sparse_optimum, "_FEW_ROWS", 0.1)
    assert optimum_by_kernel(*question) is not None
    monkeypatch.setattr(_sparse_optimum, "_GRADIENT", 1e-12)
    assert optimum_by_kernel(*question) is None


def test_a_gradient_in_the_space_of_the_rows_is_that_of_the_features():
    """``Xᵀ(g + λα)`` over ``Xᵀg`` exceeds .001, or not."""
    X, _, c = wide()
    fit = PenalisedFit("logistic", 2.0, c, np.zeros(X.shape[1]), 0.0, 0.0)
    K = kernel(X, fit)
    space = _sparse_optimum._RowSpace(X, fit, K, SingleKernel.of(K))
    rng = np.random.default_rng(2)
    for off, flat in ((9e-4, True), (1.1e-3, False)):
        g, u = rng.normal(size=(2, 80))
        u *= np.linalg.norm(X.T @ g) / np.linalg.norm(X.T @ u)
        alpha = (off * u - g) / 2.0
        at = _sparse_optimum._Point(alpha, K @ alpha, K @ alpha, 0.0, 0.0, 0.0)
        assert space.is_flat(at, g) == flat
        assert not space.is_flat(replace(at, share=0.5), g)


@pytest.mark.parametrize(("off", "flat"), [(9e-4, True), (1.1e-3, False)])
def test_a_small_gradient_is_told_where_single_precision_has_no_digits(off, flat):
    """Beside a common factor that the slopes have no part in."""
    X, _, c = wide()
    rng = np.random.default_rng(3)
    factor, g = rng.normal(size=(2, 80))
    X = X + 300 * factor[:, None]
    g -= factor * (factor @ g) / (factor @ factor)
    fit = PenalisedFit("logistic", 2.0, c, np.zeros(X.shape[1]), 0.0, 0.0)
    K = kernel(X, fit)
    space = _sparse_optimum._RowSpace(X, fit, K, SingleKernel.of(K))
    alpha = (off - 1) * g / 2.0
    at = _sparse_optimum._Point(alpha, K @ alpha, K @ alpha, 0.0, 0.0, 0.0)
    assert space.is_flat(at, g) == flat


def test_a_product_in_single_precision_has_any_size():
    K = np.array([[2.0, 0.5], [0.5, 1.0]])
    for a in (1.0, 1e-200, 1e200):
        for b in (1.0, 1e-90, 1e90):
            v = b * np.array([0.3, -0.7])
            product = SingleKernel.of(a * K) @ v
            np.testing.assert_allclose(product / a, K @ v, rtol=1e-6)
    assert not (SingleKernel.of(K) @ np.zeros(2)).any()
    assert not (SingleKernel.of(0 * K) @ np.ones(2)).any()
