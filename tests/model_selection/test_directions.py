"""How many directions features have."""

import numpy as np
import pytest

from skauc.model_selection._directions import count_of_directions


@pytest.mark.parametrize("shape", [(60, 8), (30, 50), (900, 4), (400, 300), (50, 900)])
def test_independent_features_have_one_direction_each(shape):
    X = np.random.default_rng(0).normal(size=shape)
    X *= 10.0 ** (np.arange(shape[1]) % 20 - 10)
    X[:, 1] = 3.0
    n, P = min(shape[0], 200), min(shape[1], 200)
    correlation = np.corrcoef(np.delete(X, 1, axis=1).T)
    expected = np.count_nonzero(np.linalg.eigvalsh(correlation) > 1e-4)
    if max(shape) <= 200:
        assert count_of_directions(X) == expected
    assert min(n - 1, P - 1) - 2 <= count_of_directions(X) <= min(n - 1, P)


def test_nothing_varies():
    assert count_of_directions(np.ones((5, 3))) == 0


@pytest.mark.parametrize("times", [10, 300])
def test_columns_that_are_nearly_one_are_one_direction(times):
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(100, 3)), times, axis=1)
    assert count_of_directions(Z + 1e-3 * rng.normal(size=Z.shape)) == 3
    most = min(3 * times, 99)
    assert count_of_directions(Z + 0.1 * rng.normal(size=Z.shape)) == most


@pytest.mark.parametrize(("apart", "expected"), [(0.95e-4, 1), (1.05e-4, 2)])
def test_hundredths_of_a_feature(apart, expected):
    """The eigenvalues of two features of correlation 1 − c are 2 − c and c."""
    u, v = np.linalg.qr(
        np.column_stack([np.ones(80), np.arange(80), np.arange(80) % 7])
    )[0].T[1:]
    Z = np.column_stack([u, (1 - apart) * u + np.sqrt(1 - (1 - apart) ** 2) * v])
    assert count_of_directions(Z) == expected
    assert count_of_directions(1e9 * Z[:, :1]) == 1
