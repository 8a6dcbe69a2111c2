"""Squares along the eigenvectors that are never made, against those that are."""

import numpy as np
import pytest
from scipy import linalg

from skauc.adaptive import _tridiagonal
from skauc.adaptive._tridiagonal import _done, squares_along


@pytest.mark.parametrize("has", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("P", [1, 2, 3, 40])
@pytest.mark.parametrize("m", [0, 1, 60])
def test_squares_along_eigenvectors(monkeypatch, P, m, dtype, has):
    monkeypatch.setattr(_tridiagonal, "_HAS_STEVD", has and _tridiagonal._HAS_STEVD)
    rng = np.random.default_rng(P)
    root, rows = rng.normal(size=(P, P)), rng.normal(size=(m, P)).astype(dtype)
    matrix = (root @ root.T).astype(dtype)
    before = matrix.copy(), rows.copy()
    values, V = np.linalg.eigh(matrix.astype(float))
    found, squares = squares_along(matrix, rows)
    digits = 1e-10 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(found, values, atol=digits * values[-1])
    wanted = ((rows @ V) ** 2).sum(axis=0)
    np.testing.assert_allclose(squares, wanted, atol=digits * P * max(m, 1))
    assert squares.dtype == found.dtype == dtype
    for now, then in zip((matrix, rows), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_what_was_not_found_is_said():
    with pytest.raises(linalg.LinAlgError, match="no eigenvalues were found, info = 3"):
        _done((np.zeros(2), 3))
