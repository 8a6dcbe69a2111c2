"""How many directions features have."""

import numpy as np
import pytest

from skauc.model_selection._directions import (
    count_of_directions,
    spectrum_of_columns,
)


@pytest.mark.parametrize("shape", [(60, 8), (30, 50), (900, 4)])
def test_spectrum_is_that_of_the_correlation_matrix(shape):
    X = np.random.default_rng(0).normal(size=shape) @ np.diag(
        10.0 ** np.arange(-2, shape[1] - 2)
    )
    found = spectrum_of_columns(np.column_stack([X, np.ones(len(X))]))
    assert found.sum() == pytest.approx(1, rel=1e-12)
    if len(X) <= 200:
        expected = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1] / shape[1]
        k = min(shape)
        np.testing.assert_allclose(found[:k], expected[:k], atol=1e-12)


def test_nothing_varies():
    assert spectrum_of_columns(np.ones((5, 3))).size == 0
    assert count_of_directions(np.ones((5, 3))) == 0


def test_columns_that_are_nearly_one_are_one_direction():
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(100, 3)), 10, axis=1)
    assert count_of_directions(Z + 1e-3 * rng.normal(size=Z.shape)) == 3
    assert count_of_directions(Z + 0.1 * rng.normal(size=Z.shape)) == 30
