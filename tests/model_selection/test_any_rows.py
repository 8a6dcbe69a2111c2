"""Rows of whatever kind."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skauc.model_selection._any_rows import (
    column_positions,
    has_columns,
    n_columns,
    n_rows,
    numeric,
    same_rows,
    take_rows,
)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, list])
def test_rows_of_every_kind(make):
    X = make([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    assert n_rows(X) == 3
    taken = take_rows(X, [2, 0])
    if sparse.issparse(taken):
        taken = taken.toarray()
    assert np.array_equal(taken, [[3.0, 0.0], [1.0, 0.0]])


def test_texts_mappings_and_images_are_one_column():
    table = [[1.0, 0.0, 2.0], [0.0, 2.0, 1.0]]
    for X in (table, np.array(table), sparse.csr_array(table), pd.DataFrame(table)):
        assert has_columns(X)
        assert n_columns(X) == 3
    texts, mappings = ["", "two words"], [{"a": 1, "b": 2}, {}]
    ragged = np.empty(2, dtype=object)
    ragged[:] = [[1.0, 2.0], [3.0]]
    images = np.zeros((2, 4, 5))
    for X in (texts, np.array(texts), pd.Series(texts), mappings, ragged, images):
        assert not has_columns(X)
        assert n_columns(X) == 1
    assert not has_columns(list(images))


def test_what_has_no_rows_is_named():
    with pytest.raises(TypeError, match="X must be an array of rows, got 1j"):
        n_rows(1j)


def test_equal_rows():
    A = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    other = A.copy()
    other[2, 1] = 1.0
    for make in (np.array, sparse.csr_array):
        assert same_rows(make(A), make(A))
        assert not same_rows(make(A), make(other))
        assert not same_rows(make(A), make(A[:2]))
    assert not same_rows(A, sparse.csr_array(A))
    assert not same_rows(sparse.csr_array(A), A)


def test_numbers_of_several_kinds_become_floats():
    X = np.ones((3, 2), dtype=np.float32)
    assert numeric(X) is X
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}, dtype=object)
    assert numeric(frame).dtype == float
    assert numeric(frame).tolist() == [[1.0, 0.5], [2.0, 1.5]]


def test_slices_of_names_hold_both_ends():
    names = ["a", "b", "c"]
    assert column_positions(slice(None, "b"), names, 3) == [0, 1]
    assert column_positions(slice("b", None), names, 3) == [1, 2]
    assert column_positions(slice("b", "b"), names, 3) == [1]
