"""Lanczos' quadrature against the eigenvectors of a full matrix."""

import numpy as np
import pytest

from skauc.statistics import _lanczos
from skauc.statistics._lanczos import lanczos, random_signs


def problem(n=40, m=3, dtype=float):
    rng = np.random.default_rng(0)
    R = rng.normal(size=(n, 60)) * np.geomspace(1, 0.1, 60)
    return R @ R.T, rng.normal(size=(n, m)).astype(dtype)


def of_matrix(function, G):
    values, vectors = np.linalg.eigh(G)
    return (vectors * function(values)) @ vectors.T


@pytest.mark.parametrize("unit", [1.0, 1e-4])
def test_polynomials_are_exact(unit):
    G, start = problem()
    G, start = unit * G, unit * start
    ritz = lanczos(lambda v: G @ v, start, 5)
    for i in range(3):
        for power in range(10):  # 2k − 1 = 9
            exact = start[:, i] @ np.linalg.matrix_power(G, power) @ start[:, i]
            found = ritz.square[i] @ ritz.values[i] ** power
            assert found == pytest.approx(exact, rel=1e-9)
        for power in range(5):  # k − 1 = 4
            exact = np.linalg.matrix_power(G, power) @ start[:, i]
            found = ritz.function(ritz.values[i] ** power, i)
            np.testing.assert_allclose(found, exact, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_smooth_functions_converge(dtype):
    G, start = problem(dtype=dtype)
    other = np.random.default_rng(1).normal(size=40)
    exact = of_matrix(lambda x: 1 / (5 + x), G)
    ritz = lanczos(lambda v: G.astype(dtype) @ v, start, 12)
    for i in range(3):
        rest = 1 / (5 + ritz.values[i])
        found = ritz.function(rest, i)
        np.testing.assert_allclose(found, exact @ start[:, i], atol=1e-3)
        # sᵀf(G)v, from the Ritz vectors
        cross = ritz.length[i] * ritz.first[i] * rest @ ritz.along(other, i)
        assert cross == pytest.approx(other @ exact @ start[:, i], abs=3e-3)


def test_some_vectors_at_a_time(monkeypatch):
    """And some rows of the basis: the same as of one vector after the other."""
    G, start = problem(m=5)
    start[:, 3] = 0
    monkeypatch.setattr(_lanczos, "_NUMBERS", 80)  # two of them
    monkeypatch.setattr(_lanczos, "_LEAST", 1)
    widths, rows = [], np.array([7, 0, 31])

    def product(v):
        widths.append(v.shape[1])
        return G @ v

    found = lanczos(product, start, 6, rows)
    assert widths == [2] * 12 + [1] * 6
    assert found.basis.shape == (6, 3, 5)
    for i in range(5):
        alone = lanczos(lambda v: G @ v, start[:, [i]], 6)
        np.testing.assert_allclose(found.values[i], alone.values[0], atol=1e-12)
        np.testing.assert_allclose(found.square[i], alone.square[0], atol=1e-12)
        f = 1 / (1 + found.values[i])
        np.testing.assert_allclose(
            found.function(f, i), alone.function(f, 0)[rows], atol=1e-12
        )
    assert lanczos(product, start, 6, []).basis.shape == (6, 0, 5)


def test_fewer_dimensions_than_steps():
    """Two eigenvectors and nothing more: what is left has no weight."""
    G, _ = problem()
    values, vectors = np.linalg.eigh(G)
    start = np.column_stack([vectors[:, 3] + 2 * vectors[:, -1], np.zeros(40)])
    ritz = lanczos(lambda v: G @ v, start, 6)
    some = ritz.square[0] > 1e-9
    np.testing.assert_allclose(ritz.values[0][some], values[[3, -1]], rtol=1e-9)
    np.testing.assert_allclose(ritz.square[0][some], [1, 4], rtol=1e-9)
    assert not ritz.square[1].any()
    assert not ritz.function(np.ones(6), 1).any()


def test_rounding_beside_a_large_value_is_no_direction():
    """Nearly an eigenvector, and one far smaller: two dimensions and rounding."""
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    G = (U[:, :2] * [1.0, 1e-6]) @ U[:, :2].T
    ritz = lanczos(lambda v: G @ v, U[:, :1] + 1e-4 * U[:, 1:2], 6)
    assert ritz.basis[1].any()
    assert not ritz.basis[2:].any()


def test_signs_are_signs_and_the_same_again():
    signs = random_signs(5000, 4, 7)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    np.testing.assert_array_equal(signs, random_signs(5000, 4, 7))
    # four means of 5000 signs: 4 standard errors of .014
    assert np.abs(signs.mean(axis=0)).max() < 0.057


def cg_residuals(G, s, steps):
    """What the best x of each Krylov space, in the norm of G, leaves of s."""
    K = np.column_stack([np.linalg.matrix_power(G, j) @ s for j in range(steps)])
    left = []
    for k in range(1, steps + 1):
        Q, _ = np.linalg.qr(K[:, :k])
        x = Q @ np.linalg.solve(Q.T @ G @ Q, Q.T @ s)
        left.append(np.linalg.norm(s - G @ x) / np.linalg.norm(s))
    return np.array(left)


@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e60])
def test_steps_end_where_the_inverse_is_known(unit):
    G, start = problem()
    G = unit * (G / 200 + np.eye(40))
    left = np.max([cg_residuals(G / unit, s, 9) for s in start.T], axis=0)
    assert np.all(left[1:] < left[:-1])
    for k in range(1, 8):
        for solved, steps in ((left[k] * 1.001, k + 1), (left[k] * 0.999, k + 2)):
            found = lanczos(lambda v: G @ v, start, 12, solved=solved)
            assert found.basis.shape == (steps, 40, 3)
            whole = lanczos(lambda v: G @ v, start, steps)
            np.testing.assert_array_equal(found.values, whole.values)
            np.testing.assert_array_equal(found.first, whole.first)


def test_the_first_vectors_tell_how_many_steps(monkeypatch):
    G, start = problem(m=5)
    G = G / 200 + np.eye(40)
    monkeypatch.setattr(_lanczos, "_NUMBERS", 80)  # two of them
    monkeypatch.setattr(_lanczos, "_LEAST", 1)
    found = lanczos(lambda v: G @ v, start, 12, solved=0.01)
    steps = len(lanczos(lambda v: G @ v, start[:, :2], 12, solved=0.01).basis)
    assert steps < 12
    whole = lanczos(lambda v: G @ v, start, steps)
    np.testing.assert_array_equal(found.basis, whole.basis)
    np.testing.assert_array_equal(found.values, whole.values)


def test_singular_matrices_take_all_steps():
    """A vector with a part where G is empty is never solved; one without is."""
    G, start = problem()
    values, V = np.linalg.eigh(G)
    G = (V[:, 20:] * (1 + values[20:] / values.max())) @ V[:, 20:].T
    assert len(lanczos(lambda v: G @ v, start, 12, solved=0.1).basis) == 12
    inside = V[:, 20:] @ (V[:, 20:].T @ start)
    assert len(lanczos(lambda v: G @ v, inside, 12, solved=0.1).basis) < 6
    inside[:, 1] = 0
    found = lanczos(lambda v: G @ v, inside, 12, solved=0.1)
    assert len(found.basis) < 6
    assert not found.square[1].any()


def test_single_precision_of_vectors_that_are_exhausted():
    """Neither 0/0 nor what is beyond float32, whatever numpy casts it to."""
    G = np.diag(np.array([4.0, 1.0, 0.0, 0.0, 0.0, 0.0], dtype=np.float32))
    start = np.ones((6, 3), dtype=np.float32)
    start[:, 1] = 0
    start[2:, 2] = 0
    with np.errstate(all="raise", under="ignore"):
        found = lanczos(lambda v: G @ v, start, 5, solved=1e-3)
    assert np.isfinite(found.values).all()
    np.testing.assert_allclose(found.square.sum(axis=1), [6, 0, 2], rtol=1e-5)
