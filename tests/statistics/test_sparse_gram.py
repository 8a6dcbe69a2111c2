"""Gram matrices of sparse rows against those of dense ones."""

import numpy as np
import pytest
from scipy import sparse

from skauc.statistics._sparse_gram import RowGram, SparseGram


def rows(dtype=float):
    """Columns of no row, of one, of some and of all; a row of none."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(12, 40)) * (rng.random((12, 40)) < 0.15)
    Z[:, 7], Z[3], Z[:, [0, 39]] = rng.normal(size=12), 0, 0
    Z[5, 39] = -2
    count = np.count_nonzero(Z, axis=0)
    assert {0, 1, 2} < set(count)
    return sparse.csr_array(Z.astype(dtype)), Z


@pytest.mark.parametrize("kind", [SparseGram, RowGram])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_and_columns(kind, dtype):
    Z, dense = rows(dtype)
    gram, rng = kind.of_rows(Z), np.random.default_rng(1)
    tol = {
        "rtol": 1e-12 if dtype is np.float64 else 1e-5,
        "atol": 10 * np.finfo(dtype).eps,
    }
    v = rng.normal(size=(12, 5)).astype(dtype)
    found = gram.product(v)
    np.testing.assert_allclose(found, dense @ (dense.T @ v), **tol)
    assert found.dtype == gram.dtype == dtype
    assert gram.n_rows == 12
    some = np.array([7, 0, 3, 11])
    np.testing.assert_allclose(gram.columns(some), (dense @ dense.T)[:, some], **tol)


def test_columns_of_one_row_are_not_multiplied():
    Z, dense = rows()
    gram, count = SparseGram.of_rows(Z), np.count_nonzero(dense, axis=0)
    assert gram.by_columns.shape == (12, np.count_nonzero(count > 1))
    # those that most rows have stand first
    many = np.diff(gram.by_columns.indptr)
    np.testing.assert_array_equal(many, np.sort(count[count > 1])[::-1])


def test_entries_that_stand_twice_and_zeros_that_are_there():
    Z, dense = rows()
    place = Z.tocoo()
    twice = np.concatenate([place.row, place.row, [4]])
    column = np.concatenate([place.col, place.col, [0]])
    data = np.concatenate([place.data / 4, 3 * place.data / 4, [0.0]])
    order = np.argsort(twice, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(twice, minlength=12)))
    again = sparse.csr_array((data[order], column[order], start), shape=Z.shape)
    assert again.nnz == 2 * Z.nnz + 1
    gram = SparseGram.of_rows(again)
    np.testing.assert_allclose(gram.product(np.eye(12)), dense @ dense.T, atol=1e-12)


def test_no_entries():
    gram = SparseGram.of_rows(sparse.csr_array((3, 5)))
    assert not gram.product(np.ones((3, 2))).any()
    assert not gram.columns(np.array([1])).any()
