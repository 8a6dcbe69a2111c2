"""A random combination of rows, and the scores that are read with it."""

import numpy as np
import pytest
from scipy import sparse

from skauc.statistics import _sketch
from skauc.statistics._sketch import scores_and_sketch, sketch_of


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("share", [1, 3000])
def test_scores_and_sketch_are_those_of_two_products(order, share, monkeypatch, rng):
    """In one block, and in many; the sketch to the last digit the same."""
    monkeypatch.setattr(_sketch, "_SHARE", share)
    X, w = np.asarray(rng.normal(size=(1003, 7)), order=order), rng.normal(size=7)
    scores, sketch = scores_and_sketch(X, w)
    u = np.random.default_rng(20190915).random(1003)
    np.testing.assert_allclose(scores, X @ w, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(sketch, u @ X, rtol=1e-13, atol=1e-12)
    assert sketch.tobytes() == sketch_of(X).tobytes()


def test_sketch_of_other_kinds_of_rows(rng):
    X = rng.integers(-3, 4, (400, 5))
    u = np.random.default_rng(20190915).random(400)
    for rows in (X, X.astype(np.float32), sparse.csr_array(X), sparse.csc_array(X)):
        found = sketch_of(rows)
        assert found.dtype == float
        np.testing.assert_allclose(found, u @ X, rtol=1e-6)


def test_a_sketch_tells_a_change_of_one_entry_and_of_the_order(rng):
    X = rng.normal(size=(300, 4))
    changed, turned = X.copy(), X[::-1].copy()
    changed[217, 2] += 1e-9
    assert np.flatnonzero(sketch_of(changed) != sketch_of(X)).tolist() == [2]
    assert (sketch_of(turned) != sketch_of(X)).all()
