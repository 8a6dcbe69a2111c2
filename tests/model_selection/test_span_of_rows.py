"""What of a direction is no combination of sparse rows: against least squares."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from skauc import clear_cache
from skauc.adaptive._cache import CACHE
from skauc.leave_pair_out import _sparse_optimum
from skauc.model_selection._linear_model import open_two_classes
from skauc.model_selection._scored_model import score_model
from skauc.model_selection._span_of_rows import OwnFeatures, _peeled, rest_by_products
from skauc.model_selection._training_rows import told_rows

ENOUGH = 9e-4


def rest_of(X, w):
    return w - np.linalg.lstsq(X.T, w, rcond=None)[0] @ X


@pytest.mark.parametrize("P", [90, 300])
@pytest.mark.parametrize("outside", [0.0, 2e-4, 0.1, 1.0])
def test_what_is_left_of_a_direction_outside_of_sparse_rows(outside, P, monkeypatch):
    """Length of the rest of least squares, as far as a thousandth of w is told."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(40, P)) * (rng.random((40, P)) < 18 / P)
    X[5] = X[6]
    inside, other = rng.normal(size=40) @ X, rest_of(X, rng.normal(size=P))
    w = inside + outside * np.linalg.norm(inside) / np.linalg.norm(other) * other
    rest = np.linalg.norm(rest_of(X, w))
    found = rest_by_products(sparse.csr_array(X), w, ENOUGH)
    length = np.linalg.norm(w)
    assert found == pytest.approx(rest, rel=1e-3, abs=1e-3 * length)
    assert (found < 1e-3 * length) == (outside < 1e-3)
    assert rest_by_products(sparse.csr_array(X), np.zeros(P), ENOUGH) == 0
    # in any unit of rows and of w, and of 40 rows 40 products are enough
    monkeypatch.setattr(_sparse_optimum, "_PRODUCTS", 40)
    for unit in (2.0**-30, 2.0**30):
        rows = sparse.csr_array(X)
        assert rest_by_products(unit * rows, w, ENOUGH) == found
        assert rest_by_products(rows, unit * w, ENOUGH) == unit * found


def test_features_of_a_single_row_tell_its_share():
    """A row that has none waits until the others are told."""
    X = np.array(
        [
            [2.0, 0, 0, 1, 3, 0],
            [0, -1, 0, 1, 0, 2],
            [0, 0, 0.5, 1, 0, 0],
            [0, 0, 0, 1, 4, 5],  # shares every feature
        ]
    )
    rows, alpha = sparse.csr_array(X), np.array([3, -2, 0.7, 5])
    np.testing.assert_allclose(_peeled(rows, alpha @ X), 0, atol=1e-14)
    # what is no combination is not made longer
    far = np.array([1.0, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(_peeled(rows, far), far)


def test_rows_without_a_feature_of_their_own_are_left_to_least_squares():
    rows, w = sparse.csr_array(np.ones((3, 5))), np.arange(5.0)
    np.testing.assert_array_equal(_peeled(rows, w), w)
    assert rest_by_products(rows, np.full(5, 7.0), ENOUGH) < 1e-12


def test_what_depends_on_the_rows_alone_is_kept():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 200)) * (rng.random((30, 200)) < 0.02)
    rows, kept = sparse.csr_array(X), {}

    def remember(name, compute):
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    for _ in range(2):
        w = rng.normal(size=200)
        found = rest_by_products(rows, w, ENOUGH, remember)
        assert found == rest_by_products(rows, w, ENOUGH)
    (own,) = kept.values()
    entry = np.count_nonzero(X, axis=0) == 1
    assert sorted(rows.indices[own.entry]) == np.flatnonzero(entry).tolist()
    row = np.repeat(np.arange(30), np.count_nonzero(X, axis=1))
    np.testing.assert_array_equal(own.row, row[own.entry])
    again = OwnFeatures.of(rows)
    np.testing.assert_array_equal(again.entry, own.entry)


def test_own_features_are_those_of_rows_as_they_are_stored():
    """Zeros that are stored, and another order of entries, have places of their own."""
    rng = np.random.default_rng(2)
    X = rng.exponential(size=(40, 300)) * (rng.random((40, 300)) < 0.03)
    y = np.arange(40) % 2
    model = SGDClassifier(random_state=0, alpha=0.01).fit(X, y)
    rows, zeros = sparse.csr_array(X), sparse.csr_array(X + 1)
    zeros.data = X.ravel()
    turned = rows.copy()
    for start, stop in pairwise(rows.indptr):
        for part in (turned.data, turned.indices):
            part[start:stop] = part[start:stop][::-1]
    clear_cache()
    for stored in (rows, zeros, turned, rows):
        scored = score_model(open_two_classes(model, stored), y, None, None)
        assert told_rows(scored) == "training"
    assert len(CACHE) == 2  # of equal sketches those with zeros have more entries
