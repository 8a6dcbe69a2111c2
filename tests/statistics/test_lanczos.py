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
