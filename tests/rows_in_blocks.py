"""Rows cut into blocks, and moments compared, for the tests of blocks."""

from itertools import pairwise

import numpy as np
import pytest


def drawn(rng):
    """Features of several sizes far from 0, labels, and weights that may be 0."""
    X = 50 + rng.normal(size=(211, 7)) * np.geomspace(0.1, 10, 7)
    return X, rng.random(211) < 0.3, rng.integers(0, 4, 211).astype(float)


def cut(arrays, sizes):
    """Tuples of consecutive rows, as many as ``sizes`` says."""
    ends = np.cumsum([0, *sizes])
    return [tuple(array[a:b] for array in arrays) for a, b in pairwise(ends)]


def assert_same_moments(got, expected, rtol=1e-12):
    """Errors of the scatter relative to its diagonal."""
    for a, b in zip(got, expected, strict=True):
        assert a.n == pytest.approx(b.n, rel=1e-14)
        deviation = np.sqrt(np.diag(np.atleast_2d(b.scatter)))
        error = (a.mean - b.mean) / deviation * np.sqrt(b.n)
        np.testing.assert_allclose(error, 0, atol=rtol)
        error = (a.scatter - b.scatter) / deviation / deviation[:, None]
        np.testing.assert_allclose(error, 0, atol=rtol)
