"""Newton steps in the span of the rows: by factors, by products, and solved at once."""

import numpy as np
import pytest

from skauc.leave_pair_out import _row_space
from skauc.leave_pair_out._bootstrap import bootstrap_counts
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._row_space import (
    Leading,
    RowSpace,
    factor_of,
    projected_gradients,
)
from skauc.leave_pair_out._smooth_refits import FOR_AUC, refit_smooth

SCALINGS = [0.0, 0.5, np.inf]  # no intercept, a penalised and a free one


def rows(n=40, P=90, common=2, seed=0):
    """Rows with a few common factors: eigenvalues that stand out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) + 3 * rng.normal(size=(n, common)) @ rng.normal(
        size=(common, P)
    )
    positive = X[:, 0] + rng.normal(size=n) > 0
    return X - X.mean(axis=0), positive


def system(free, k=3, n=40):
    """A kernel and states of k samples on it; the last has rows without curvature."""
    X, _ = rows(n)
    rng = np.random.default_rng(1)
    K, theta = X @ X.T, rng.normal(size=(k, n + 1)) * np.r_[np.ones(n), float(free)]
    curvature, g = rng.uniform(0.1, 3.0, (k, n)), rng.normal(size=(k, n))
    curvature[-1, ::3] = 0.0
    return K, theta, curvature, g


def newton_step(K, theta, curvature, g, l2, free):
    """``λΔα + ω(KΔα + Δb) = −(λα + g)``, ``1ᵀ(α + Δα) = 0`` as one linear system."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = l2 * np.eye(n) + curvature[:, None] * K
    A[:n, n] = curvature if free else 0.0
    A[n, :n], A[n, n] = (1.0, 0.0) if free else (0.0, 1.0)
    alpha = theta[:n]
    right = np.append(-(l2 * alpha + g), -alpha.sum() if free else 0.0)
    return np.linalg.solve(A, right)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("l2", [0.3, 30.0, 3000.0])
def test_steps_are_newtons(l2, free, monkeypatch):
    K, theta, curvature, g = system(free)
    space = RowSpace(K, factor_of(K), l2, free, Leading.of_kernel(K))
    step = [
        newton_step(K, *of, l2, free) for of in zip(theta, curvature, g, strict=True)
    ]
    factors = space.factors(curvature)
    by_factors = space.solve(factors, theta, g, curvature)
    np.testing.assert_allclose(by_factors, step, rtol=1e-8, atol=1e-9)
    monkeypatch.setattr(_row_space, "_LEFT", 1e-10)
    monkeypatch.setattr(_row_space, "_PRODUCTS", 60)
    none = np.full(3, None)
    by_products = space.solve(none, theta, g, curvature)
    np.testing.assert_allclose(by_products, step, rtol=1e-6, atol=1e-7)
    some = np.array([factors[0], None, factors[2]], dtype=object)
    both = space.solve(some, theta, g, curvature)
    # sums of two rows and of three may be added in another order
    np.testing.assert_allclose(both[[0, 2]], by_factors[[0, 2]], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(both[1], step[1], rtol=1e-6, atol=1e-7)


def test_kernel_of_directions_and_a_level_is_told_apart():
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    values = np.r_[np.full(25, 2.0), 9.0, 20.0, 50.0, 70.0, 90.0]
    K = (U * values) @ U.T
    found = Leading.of_kernel(K)
    assert found.level == pytest.approx(2.0)
    assert found.V.shape == (30, 5)
    np.testing.assert_allclose(found.V @ found.V.T + 2 * np.eye(30), K, atol=1e-12)
    curvature = rng.uniform(0.0, 2.0, (4, 30))
    x = rng.normal(size=(4, 30))
    s = np.sqrt(curvature)
    M = [np.diag(np.full(30, 0.7)) + a[:, None] * K * a for a in s]
    expected = [np.linalg.solve(m, v) for m, v in zip(M, x, strict=True)]
    np.testing.assert_allclose(found.inverse(0.7, curvature)(x), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (np.r_[np.ones(25), np.full(5, 5.0)], True),
        (np.r_[np.ones(24), np.full(6, 4.2)], False),  # a direction for five rows
        (np.r_[np.ones(24), np.full(6, 3.8)], True),  # that hardly stand out
        (np.r_[0.0, np.ones(29)], True),  # centred rows
        (np.r_[0.0, 9e-4, np.ones(28)], False),  # rows that stand twice
        (np.r_[0.0, 1.05e-3, np.ones(28)], True),
        (np.r_[np.ones(29), 9.9e3], True),
        (np.r_[np.ones(29), 1.01e4], False),  # one direction dwarfs all
    ],
)
def test_kernels_without_a_level(values, told):
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    K = (U * values) @ U.T
    for unit in (1.0, 1e-9, 1e9):
        assert (Leading.of_kernel(unit * K) is not None) == told


@pytest.mark.parametrize("scaling", SCALINGS)
def test_coefficients_have_the_scores_of_the_rows(scaling):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 30)) + 2.0
    fit = PenalisedFit("logistic", 2.0, np.ones(20), np.zeros(30), 0.0, scaling)
    free = np.isinf(scaling)
    centred = X - X.mean(axis=0) * free
    K = centred @ centred.T + (0.0 if free else scaling**2)
    theta = np.append(rng.normal(size=20), 0.7 * free)
    space = RowSpace(K, factor_of(K), fit.l2, free)
    w, intercept = space.coefficients(theta, X, fit)
    z = space.scores(theta[None])
    np.testing.assert_allclose(X @ w + intercept, z[0], atol=1e-11)
    # λ‖w‖², and that of the intercept if there is a penalty of it
    b = 0.0 if free or scaling == 0 else intercept / scaling
    energy = space.inner(space.pull(theta[None], z), theta[None])
    assert energy == pytest.approx(fit.l2 * (w @ w + b**2))


@pytest.mark.parametrize("constrained", [False, True])
def test_projected_gradients_solve_the_bordered_system(constrained, monkeypatch):
    monkeypatch.setattr(_row_space, "_LEFT", 1e-12)
    monkeypatch.setattr(_row_space, "_PRODUCTS", 40)
    rng = np.random.default_rng(2)
    k, n = 4, 15
    B = rng.normal(size=(k, n, n))
    D = B @ np.swapaxes(B, 1, 2) + np.eye(n)
    diagonal = np.einsum("knn->kn", D)
    right, s = rng.normal(size=(2, k, n)) * [[[1.0]], [[float(constrained)]]]
    missing = rng.normal(size=k) * constrained

    def product(u):
        return np.einsum("kij,kj->ki", D, u)

    u, db = projected_gradients(product, lambda x: x / diagonal, right, s, missing)
    for j in range(k):
        A = np.block([[D[j], s[j][:, None]], [s[j], float(not constrained)]])
        expected = np.linalg.solve(A, np.append(right[j], missing[j]))
        np.testing.assert_allclose(np.append(u[j], db[j]), expected, atol=1e-8)


def test_conjugate_gradients_stop_where_little_is_left():
    """In a multiple of the identity one product is enough."""
    asked = []

    def product(u):
        asked.append(u)
        return 2.0 * u

    right = np.random.default_rng(0).normal(size=(2, 5))
    zero = np.zeros((2, 5))
    u, db = projected_gradients(product, lambda x: x, right, zero, np.zeros(2))
    np.testing.assert_allclose(u, right / 2, rtol=1e-14)
    np.testing.assert_array_equal(db, 0.0)
    assert len(asked) == 2  # of the start, and of the first direction


def refits(scaling, C=1.0, common=2):
    X, positive = rows(common=common)
    fit = PenalisedFit(
        "logistic", 1.0, np.full(40, C), np.zeros(90), 0.1 * (scaling > 0), scaling
    )
    return refit_smooth(fit, X, positive, bootstrap_counts(positive, 6))


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
def test_refits_by_products_are_those_by_factors(scaling, C, monkeypatch):
    with monkeypatch.context() as no:
        if C <= 1:
            no.setattr(RowSpace, "factors", None)  # none are asked for
        products = refits(scaling, C)
    monkeypatch.setattr(Leading, "of_kernel", lambda K: None)
    factors = refits(scaling, C)
    assert products.converged.all()
    tol = 2e-4 * factors.scores.std()
    np.testing.assert_allclose(products.scores, factors.scores, atol=tol)
    np.testing.assert_allclose(products.full, factors.full, atol=tol)


@pytest.mark.parametrize("level", [1e-6, 1e6])
def test_products_that_do_not_get_on_give_way_to_factors(level, monkeypatch):
    """A level that is far off, and one product a step."""
    expected = refits(np.inf)
    wrong = Leading(np.zeros((40, 0)), np.zeros((40, 0)), level)
    monkeypatch.setattr(Leading, "of_kernel", lambda K: wrong)
    monkeypatch.setattr(_row_space, "_PRODUCTS", 1)
    found = refits(np.inf)
    assert found.converged.all()
    tol = 2e-4 * expected.scores.std()
    np.testing.assert_allclose(found.scores, expected.scores, atol=tol)


@pytest.mark.parametrize("factor", [-1.0, np.nan])
def test_directions_that_lead_nowhere_are_not_taken(factor, monkeypatch):
    """Upwards, or no numbers: factors come, and the optimum is the same."""
    expected, right = refits(np.inf), RowSpace._by_products
    monkeypatch.setattr(RowSpace, "_by_products", lambda *of: factor * right(*of))
    found = refits(np.inf)
    assert found.converged.all()
    tol = 2e-4 * expected.scores.std()
    np.testing.assert_allclose(found.scores, expected.scores, atol=tol)


@pytest.mark.parametrize(("scaling", "seed"), [(0.0, 1), (np.inf, 5)])
def test_rows_left_out_along_a_direction_that_dwarfs_all(scaling, seed):
    """Products would leave little of the decrement, and much of these rows' scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 66))
    X += 1e3 * (1.0 if scaling == 0 else rng.normal(size=(60, 1)))
    positive = rng.random(60) < 0.4
    counts = bootstrap_counts(positive, 20)
    fit = PenalisedFit("logistic", 1e-4, np.ones(60), np.zeros(66), 0.0, scaling)
    found = refit_smooth(fit, X, positive, counts, tol=FOR_AUC)
    close = refit_smooth(fit, X, positive, counts, tol=(1e-13, 1e-12))
    assert found.converged.all()
    for a, b, count in zip(found.scores, close.scores, counts, strict=True):
        out = count == 0
        assert np.corrcoef(a[out], b[out])[0, 1] > 0.999
