"""Rows of whatever kind."""

import numpy as np
import pytest
from scipy import sparse

from skauc.model_selection._any_rows import n_rows, take_rows


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, list])
def test_rows_of_every_kind(make):
    X = make([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    assert n_rows(X) == 3
    taken = take_rows(X, [2, 0])
    if sparse.issparse(taken):
        taken = taken.toarray()
    assert np.array_equal(taken, [[3.0, 0.0], [1.0, 0.0]])


def test_what_has_no_rows_is_named():
    with pytest.raises(TypeError, match="X must be an array of rows, got 1j"):
        n_rows(1j)
