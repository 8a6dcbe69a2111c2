"""The span of the rows against the decomposition written out."""

import numpy as np
import pytest
from scipy import sparse

from skauc.statistics._row_space import RowSpace


def make(n=9, P=40, rank=None, seed=0):
    rng = np.random.default_rng(seed)
    if rank is None:
        return rng.normal(size=(n, P)) + 5
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, P)) + 5


@pytest.mark.parametrize("block", [1, 2**21])
@pytest.mark.parametrize("rank", [None, 3])
def test_coordinates_and_back(monkeypatch, block, rank):
    monkeypatch.setattr("skauc.statistics._numerics.BLOCK_BYTES", block)
    X, scale = make(rank=rank), np.linspace(0.5, 2, 40)
    shares = np.linspace(1, 3, 9)
    shares /= shares.sum()
    centre = shares @ X
    Z = (X - centre) / scale
    V = np.linalg.svd(Z)[2][: np.linalg.matrix_rank(Z)].T
    theta = np.random.default_rng(1).normal(size=V.shape[1])
    coef = np.random.default_rng(2).normal(size=40)
    for rows in (X, sparse.csr_array(X)):
        space = RowSpace.of_rows(rows, centre, scale, shares)
        z = space.coordinates
        assert z.shape == (9, rank or 8)
        assert z @ z.T == pytest.approx(Z @ Z.T, abs=1e-10)
        assert (X - centre) @ space.leave(theta) == pytest.approx(z @ theta, abs=1e-10)
        assert np.linalg.norm(scale * space.leave(theta)) == pytest.approx(
            np.linalg.norm(theta)
        )
        inside = V @ (V.T @ (scale * coef)) / scale  # its part in the span
        assert space.leave(space.enter(coef)) == pytest.approx(inside, abs=1e-10)


def test_short_directions_are_kept():
    # The Gram matrix would lose what is below 1e-8 of the longest direction.
    X = make(n=3)
    X[:, 0] *= 1e11
    centre = X.mean(axis=0)
    space = RowSpace.of_rows(X, centre, 1.0, np.full(3, 1 / 3))
    assert space.coordinates.shape[1] == 2
    short = np.linalg.svd(X - centre)[1][1]
    assert np.linalg.norm(space.coordinates[:, 1]) == pytest.approx(short, rel=1e-3)


def test_a_centre_that_is_rounded_adds_no_direction():
    rng = np.random.default_rng(0)
    X = 1e10 + rng.integers(0, 9, size=(6, 50)) / 8
    space = RowSpace.of_rows(X, X.mean(axis=0) + 1e-6, 1.0, np.full(6, 1 / 6))
    assert space.coordinates.shape[1] == 5


def test_rows_at_the_centre_keep_one_coordinate_of_zeros():
    space = RowSpace.of_rows(np.ones((3, 7)), np.ones(7), 1.0, None)
    assert space.coordinates == pytest.approx(np.zeros((3, 1)))
    assert space.leave(np.ones(1)) == pytest.approx(np.zeros(7))
