"""Gram matrices against sums of products written out in whole numbers."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from skauc.statistics._numerics import (
    BLOCK_BYTES,
    block_rows,
    centred_gram,
    eigenvalue_cutoff,
    is_even,
    log_sum_exp,
)


def exact(X, centre, group, root, scale):
    """The Gram matrix in fractions, element by element."""
    rows = [
        [
            Fraction(float(r)) * (Fraction(float(x)) - Fraction(float(c))) * Fraction(s)
            for x, c, s in zip(row, centre[g], scale, strict=True)
        ]
        for row, g, r in zip(X, group, root, strict=True)
    ]
    return np.array(
        [
            [float(sum(a * b for a, b in zip(r, q, strict=True))) for q in rows]
            for r in rows
        ]
    )


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 4)) * (rng.uniform(size=(7, 4)) < 0.6)
    group = np.array([0, 1, 1, 0, 0, 1, 0])
    return X, rng.normal(size=(2, 4)), group, rng.uniform(1, 2, 7), rng.uniform(1, 3, 4)


def blocked(self, *args, **kwargs):
    raise AssertionError("sparse rows were made dense")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_groups_roots_and_scales(problem, kind, monkeypatch):
    X, centre, group, root, scale = problem
    given = kind(X)
    if sparse.issparse(given):  # the n × n product may be dense, the rows never
        monkeypatch.setattr(type(given), "todense", blocked)
    got, rounding = centred_gram(given, centre, group, root=root, scale=scale)
    np.testing.assert_allclose(got, exact(X, centre, group, root, scale), rtol=1e-12)
    assert (rounding > 0) == sparse.issparse(given)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_one_centre_and_none(problem, kind):
    X, centre, group, _, _ = problem
    one = np.ones(7)
    got, _ = centred_gram(kind(X), centre[0])
    expected = exact(X, centre[:1], 0 * group, one, np.ones(4))
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    got, _ = centred_gram(kind(X))
    np.testing.assert_allclose(got, X @ X.T, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_far_from_the_origin_keep_their_digits(kind):
    X = np.arange(12.0).reshape(4, 3) ** 1.5
    near, _ = centred_gram(X, X.mean(axis=0))
    far, _ = centred_gram(kind(X + 2.0**30), (X + 2.0**30).mean(axis=0))
    np.testing.assert_allclose(far, near, rtol=1e-6, atol=1e-5)


def test_sparse_rows_are_moved_where_no_row_has_a_zero():
    """Every entry in two parts, one feature that must stay; the input is as before."""
    X = np.arange(12.0).reshape(4, 3) + np.array([2.0**30, 1, 2.0**10])
    X[2, 2] = 0
    rows = sparse.csr_array(X)
    column = np.repeat(rows.indices, 2)
    parts = (np.repeat(rows.data / 2, 2), column, 2 * rows.indptr)
    halves = sparse.csr_array(parts, shape=(4, 3))
    centre, group = np.array([X[:2].mean(axis=0), X[2:].mean(axis=0)]), [0, 0, 1, 1]
    true, _ = centred_gram(X, centre, group)
    for given in (rows, halves):
        got, rounding = centred_gram(given, centre, group)
        np.testing.assert_allclose(got, true, rtol=1e-9, atol=1e-9)
        assert rounding < 1e-8
    assert halves.nnz == 22
    np.testing.assert_array_equal(rows.toarray(), X)


def test_rounding_bounds_the_error_of_sparse_rows():
    rng = np.random.default_rng(1)
    X = 1e6 + rng.normal(size=(30, 50))
    X[0] = 0  # features with entries in all rows would be moved to the origin
    centre = X.mean(axis=0)
    got, rounding = centred_gram(sparse.csr_array(X), centre)
    true, _ = centred_gram(X, centre)
    error = np.linalg.eigvalsh(got - true)
    assert 0 < np.abs(error).max() < 30 * rounding
    assert rounding == pytest.approx(np.finfo(float).eps * np.sum(X**2), rel=1e-12)


def test_integers_become_floats():
    got, _ = centred_gram(sparse.csr_array(np.eye(3, dtype=int)), np.full(3, 0.5))
    np.testing.assert_allclose(got, np.eye(3) - 0.25, rtol=1e-15)


def test_cutoff():
    assert eigenvalue_cutoff(np.array([1.0, 5.0])) == pytest.approx(5e-10, rel=1e-14)
    assert eigenvalue_cutoff(np.array([1.0, 5.0]), share=1e-3) == pytest.approx(5e-3)
    assert eigenvalue_cutoff(np.array([1.0]), rounding=0.25) == 0.25
    assert eigenvalue_cutoff(np.zeros(2)) > 0
    assert eigenvalue_cutoff(np.zeros(0)) > 0


def test_blocks_hold_their_bytes():
    rows = block_rows(100)
    assert rows * 100 * 8 <= BLOCK_BYTES < (rows + 1) * 100 * 8
    assert block_rows(10**9) == 1
    assert block_rows(10**9, least=64) == 64
    assert block_rows(0) > 0


def test_rounding_of_sparse_rows_has_the_unit_of_the_weights(problem):
    X, centre, group, root, _ = problem
    rows = sparse.csr_array(X)
    one = centred_gram(rows, centre, group, root=root)[1]
    two = centred_gram(rows, centre, group, root=1e-3 * root)[1]
    assert two == pytest.approx(1e-6 * one, rel=1e-12, abs=0)
    plain = centred_gram(rows, centre, group)[1]
    ones = centred_gram(rows, centre, group, root=np.ones(len(X)))[1]
    assert plain == pytest.approx(ones, rel=1e-12, abs=0)
    assert plain > 0


@pytest.mark.parametrize("x", [[0.0, -1.0], [1e4, 1e4 - 2], [-1e4, -np.inf], [3.0]])
def test_sum_of_exponentials_that_are_no_floats(x):
    assert log_sum_exp(x) == pytest.approx(logsumexp(x), rel=1e-14)


def _of_spectrum(values):
    rng = np.random.default_rng(7)
    Q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    return (Q * values) @ Q.T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize(("least", "even"), [(2e-5, True), (5e-6, False), (0.0, False)])
def test_where_single_precision_tells_all_eigenvalues(least, even, unit, dtype):
    values = np.geomspace(0.01, 1, 400)
    values[0] = least
    assert is_even((unit * _of_spectrum(values)).astype(dtype)) == even


@pytest.mark.parametrize("unit", [0.0, 1e-40, 1e40, np.inf, np.nan])
def test_what_single_precision_does_not_hold_is_not_even(unit):
    with np.errstate(invalid="ignore"):
        assert not is_even(unit * np.eye(400))
    assert not is_even(np.eye(399))  # of few features double precision is as cheap
    assert not is_even(np.zeros((0, 0)))
