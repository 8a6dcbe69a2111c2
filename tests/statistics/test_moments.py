"""Moments against exact two-pass sums over repeated rows."""

import tracemalloc
from itertools import product

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skauc import class_moments
from skauc.results import Moments

FORMATS = ["csr_array", "csc_array", "coo_array", "csr_matrix"]


def assert_moments(got, n, mean, scatter, rtol=1e-12):
    """Compare; scatters within rtol of the features' own sizes."""
    assert got.n == pytest.approx(n, rel=1e-14)
    np.testing.assert_allclose(got.mean, mean, rtol=1e-12, atol=1e-14)
    size = np.sqrt(np.diag(scatter)) if np.ndim(scatter) == 2 else None
    if size is None:
        np.testing.assert_allclose(got.scatter, scatter, rtol=rtol)
    else:
        error = np.abs(got.scatter - scatter)
        assert np.all(error <= rtol * np.outer(size, size))


# ----------------------------------------------------------------------- oracle


@pytest.mark.parametrize("form", FORMATS)
def test_sparse_is_dense(form):
    for featurewise in [False, True]:
        for weighted in [False, True]:
            rng = np.random.default_rng(20240601)
            X = rng.normal(size=(80, 5)) * (rng.uniform(size=(80, 5)) < 0.3)
            X[:, 1] = 0
            X[:, 4] += 3
            weight = rng.integers(0, 4, 80) if weighted else None
            rows = oracles.repeat_rows(X, weight) if weighted else X
            n, mean, scatter = oracles.two_pass_moments(rows)
            got = Moments.from_samples(
                getattr(sparse, form)(X), weight, featurewise=featurewise
            )
            scatter = np.diag(scatter) if featurewise else scatter
            assert_moments(got, n, mean, scatter, rtol=1e-10)


@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_huge_means(form):
    for featurewise in [False, True]:
        for weighted in [False, True]:
            rng = np.random.default_rng(20240601)
            # A spread of 1 on top of 1e8: the rows themselves are exact floats, and the
            # fractional weights do not add up exactly.
            X = np.round(rng.normal(size=(400, 3)), 6) + np.array([1e8, -1e8, 0])
            weight = rng.integers(1, 6, 400) if weighted else np.ones(400, dtype=int)
            n, mean, scatter = oracles.two_pass_moments(oracles.repeat_rows(X, weight))
            scatter = np.diag(scatter) if featurewise else scatter
            sample = X if form == "dense" else sparse.csr_array(X)
            got = Moments.from_samples(sample, weight * 0.3, featurewise=featurewise)
            # Means round at 1e-8, so squares around them at 1e-8 of a deviation.
            assert_moments(got, n * 0.3, mean, scatter * 0.3, rtol=1e-7)


def test_explicit_zeros_and_duplicates():
    row, col = [0, 0, 1, 2, 2, 3], [0, 0, 1, 0, 1, 1]
    value = [1.0, 2.0, 0.0, 5.0, -1.0, 0.0]
    X = sparse.coo_array((value, (row, col)), shape=(4, 2))
    csr = sparse.csr_array(
        (np.array(value), np.array(col), np.array([0, 2, 3, 5, 6])), shape=(4, 2)
    )
    assert csr.nnz == 6  # really duplicated and really explicit
    expected = oracles.two_pass_moments([[3, 0], [0, 0], [5, -1], [0, 0]])
    for sample in (X, csr):
        assert_moments(Moments.from_samples(sample), *expected)
        got = Moments.from_samples(sample, featurewise=True)
        assert_moments(got, 4, expected[1], np.diag(expected[2]))
    assert csr.nnz == 6
    np.testing.assert_array_equal(csr.data, value)


@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_float32_accumulates_in_float64(rng, form):
    X = (rng.normal(size=(5000, 2)) + 1000).astype(np.float32)
    expected = oracles.two_pass_moments(X)
    sample = X if form == "dense" else sparse.csr_array(X)
    for weight in (None, np.ones(5000, dtype=np.float32)):
        got = Moments.from_samples(sample, weight)
        assert got.scatter.dtype == got.mean.dtype == np.float64
        # Float32 sums would be wrong by 1e-2 here; sparse rows subtract the squares of
        # means 1000 times the spread (10⁶ eps, times rounding in 5000 terms).
        assert_moments(got, *expected, rtol=1e-11 if form == "dense" else 1e-7)


def test_project_is_the_moments_of_the_scores(rng):
    X, w = rng.normal(size=(40, 5)) + 2, rng.normal(size=5)
    direct = Moments.from_samples(X @ w)
    projected = Moments.from_samples(X).project(w)
    assert np.shape(projected.mean) == np.shape(projected.scatter) == ()
    assert float(projected.mean) == pytest.approx(float(direct.mean), rel=1e-13)
    assert float(projected.scatter) == pytest.approx(float(direct.scatter), rel=1e-13)
    both = Moments.from_samples(X).project(np.column_stack([w, -2 * w]))
    np.testing.assert_allclose(both.mean, [projected.mean, -2 * projected.mean])
    np.testing.assert_allclose(
        both.scatter, projected.scatter * np.array([[1, -2], [-2, 4]])
    )


def test_covariance_is_unbiased(rng):
    X = rng.normal(size=(9, 3))
    np.testing.assert_allclose(Moments.from_samples(X).covariance, np.cov(X.T))


# -------------------------------------------------------------------------- law

small = st.floats(-1e3, 1e3, allow_nan=False, width=32)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(small, small, st.integers(0, 3)), min_size=2, max_size=12),
    data=st.data(),
)
def test_merged_is_whole(rows, data):
    cut = data.draw(st.integers(0, len(rows)))
    table = np.array(rows)
    X, weight = table[:, :2], table[:, 2].astype(int)
    parts = [
        Moments.from_samples(X[part], weight[part])
        for part in (slice(None, cut), slice(cut, None))
    ]
    whole, swapped = parts[0] + parts[1], parts[1] + parts[0]
    repeated = oracles.repeat_rows(X, weight)
    assert whole.n == len(repeated)
    if len(repeated):
        n, mean, scatter = oracles.two_pass_moments(repeated)
        tolerance = 1e-12 * (1 + np.abs(repeated).max()) ** 2 * n
        for got in (whole, swapped):
            np.testing.assert_allclose(got.mean, mean, atol=tolerance)
            np.testing.assert_allclose(got.scatter, scatter, atol=tolerance)


@pytest.mark.parametrize("form", ["dense", "csr_array"])
@pytest.mark.parametrize("featurewise", [False, True])
def test_many_blocks_are_one(rng, form, featurewise):
    """Rows of 5 MiB, of which a MiB is summed at a time."""
    X, weight = rng.normal(size=(218_000, 3)) + 1e6, rng.integers(0, 3, 218_000)
    n, mean, scatter = oracles.two_pass_moments(oracles.repeat_rows(X, weight))
    sample = X if form == "dense" else sparse.csr_array(X)
    got = Moments.from_samples(sample, weight, featurewise=featurewise)
    scatter = np.diag(scatter) if featurewise else scatter
    assert_moments(got, n, mean, scatter, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_constant_feature_has_scatter_exactly_zero(rng, weighted):
    n = 200_000  # of which 65 536 rows are summed at a time
    X = np.column_stack([np.full(n, 0.1), rng.normal(size=n)])
    weight = rng.uniform(size=n) if weighted else None
    for sample in (X, X.astype(np.float32)):
        for featurewise in (False, True):
            got = Moments.from_samples(sample, weight, featurewise=featurewise)
            assert np.all(got.scatter[0] == (0 if not featurewise else 0.0))
            assert got.mean[0] == float(sample[0, 0])
    # Sparse falls back to dense blocks, where the same holds.
    got = Moments.from_samples(sparse.csr_array(X), weight)
    assert got.scatter[0, 0] == got.scatter[0, 1] == 0.0


# ------------------------------------------------------------------------- edge


def test_input_is_never_modified(rng):
    X, weight = rng.normal(size=(30, 3)), rng.uniform(size=30)
    by_row, by_column = sparse.csr_array(X), sparse.csc_array(X)
    for array in (X, weight, by_row.data, by_column.data):
        array.flags.writeable = False
    for sample, featurewise in product((X, by_row, by_column), (False, True)):
        class_moments(sample, weight < 0.5, weight, featurewise=featurewise)
        class_moments(sample, weight < 0.5, featurewise=featurewise)
    Moments.from_samples(X[:, 0])


def test_no_rows_and_one_row():
    none = Moments.from_samples(np.ones((2, 3)), [0, 0])
    assert none.n == 0
    assert np.all(none.mean == 0)
    assert none.scatter.shape == (3, 3)
    one = Moments.from_samples([[1.0, 2.0, 3.0]])
    assert_moments(none + one, 1, [1, 2, 3], np.zeros((3, 3)))
    assert_moments(one + none, 1, [1, 2, 3], np.zeros((3, 3)))
    assert (none + none).n == 0
    assert np.isnan(one.covariance).all()


def peak_extra_bytes(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_is_a_few_blocks(dtype):
    X = np.ones((200_000, 20), dtype=dtype)
    X[::3] = 2
    positive = np.arange(len(X)) % 2 == 0
    weight = np.full(len(X), 0.5)
    peak = peak_extra_bytes(lambda: class_moments(X, positive, weight))
    # three blocks; index and weights of the rows; float64 X alone is 32 MB
    assert peak < 3 * 2**19 + 4 * 8 * len(X)
    assert peak < X.size * 8


@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_featurewise_never_builds_p_by_p(form):
    P = 20_000
    X = np.zeros((40, P))
    X[:, ::100] = np.arange(40)[:, None]
    sample = X if form == "dense" else sparse.csr_array(X)
    positive = np.arange(40) % 2 == 0
    peak = peak_extra_bytes(lambda: class_moments(sample, positive, featurewise=True))
    assert peak < 4 * X.nbytes < P * P * 8 / 100


def test_of_a_sparse_matrix_only_columns_that_cancel_become_dense(monkeypatch):
    X, read = np.zeros((40, 50)), []
    X[:, ::10], X[:, 3] = np.arange(40)[:, None] % 3 == 0, 7.0

    def dense(X):
        read.append(X.shape[1])
        return X.toarray()

    monkeypatch.setattr("skauc.statistics._moments.dense", dense)
    got = Moments.from_samples(sparse.csr_array(X), featurewise=True)
    assert got.scatter == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(axis=0))
    assert got.scatter[3] == 0
    assert set(read) == {1}


# ------------------------------------------------------------------- error text


def test_error_texts():
    X = np.ones((3, 2))
    with pytest.raises(
        ValueError, match=r"sample_weight must have .* 3 rows, got .*2,"
    ):
        Moments.from_samples(X, [1, 2])
    with pytest.raises(ValueError, match=r"sample_weight must .* got -1.0 in row 2"):
        Moments.from_samples(X, [1, 0, -1])
    with pytest.raises(ValueError, match=r"sample_weight must .* got nan in row 0"):
        class_moments(X, np.array([True, False, True]), [np.nan, 0, 1])
    with pytest.raises(ValueError, match=r"X must have 1 or 2 dim.* \(1, 3, 2\)"):
        Moments.from_samples(X[None])
    with pytest.raises(
        ValueError, match=r"boolean mask of shape \(3,\), got dtype int"
    ):
        class_moments(X, np.array([0, 1, 1]))
    with pytest.raises(ValueError, match=r"boolean mask .* bool and shape \(2,\)"):
        class_moments(X, np.array([True, False]))
    full, diagonal = Moments.from_samples(X), Moments.from_samples(X, featurewise=True)
    with pytest.raises(ValueError, match=r"got \(2, 2\) and \(2,\)"):
        full + diagonal
    with pytest.raises(ValueError, match=r"got a scatter of shape \(2,\).*featurewise"):
        diagonal.project([1, 1])
    with pytest.raises(ValueError, match=r"w must have 2 rows, got shape \(3,\)"):
        full.project([1, 1, 1])
    with pytest.raises(TypeError):
        full + 1


@pytest.mark.parametrize("mean", [0.0, 0.9, 5.0, 1e6])
def test_equal_columns_stay_equal_to_a_few_roundings(rng, mean):
    X = rng.normal(size=(3000, 19)) + mean
    X[:, 18] = X[:, 0]  # at another place of a block of columns
    for part in class_moments(X, rng.uniform(size=3000) < 0.4):
        W = part.scatter
        contrast = W[0, 0] - 2 * W[0, 18] + W[18, 18]
        assert abs(contrast) <= 16 * np.finfo(float).eps * W[0, 0]


@pytest.mark.parametrize("P", [3, 20])
def test_a_class_far_from_the_first_rows_keeps_its_digits(rng, P):
    """Of the rows of one class nothing tells where those of the other lie."""
    X = rng.normal(size=(600, P))
    positive = np.arange(600) >= 300
    far = np.where(positive[:, None], X + 1e8, X)
    _, pos = class_moments(far, positive)
    near = far[positive] - 1e8  # exactly
    expected = np.cov(near.T) * 299
    np.testing.assert_allclose(pos.scatter, expected, rtol=1e-8, atol=1e-6)


FINITE = [(bad, float) for bad in (1e200, 1e80, 1e-90)]
ANY_DTYPE = [(v, d) for v in (np.nan, np.inf, -np.inf) for d in ("f2", "f4", float)]


@pytest.mark.parametrize(("bad", "dtype"), FINITE + ANY_DTYPE)
def test_values_outside_the_range(bad, dtype):
    X = np.array([[1.0, bad], [2.0, 0.0], [4.0, bad / 2]], dtype)
    # SciPy has no sparse half precision
    samples = [X] if dtype == "f2" else [X, sparse.csr_array(X)]
    for sample, featurewise in product(samples, [False, True]):
        with pytest.raises(ValueError, match="X must be finite, .* in feature 1$"):
            Moments.from_samples(sample, featurewise=featurewise)


def test_a_value_outside_the_range_is_reported():
    def text(bad):
        with pytest.raises(ValueError, match="in feature 1") as error:
            Moments.from_samples([[1.0, 0.5], [2.0, bad]])
        return str(error.value)

    assert text(-1e200).endswith("got 1e+200 in feature 1")
    assert text(np.nan).endswith("got NaN in feature 1")
    assert text(-np.inf).endswith("got inf in feature 1")
    with pytest.raises(ValueError, match="got 3e-90 in feature 0"):
        Moments.from_samples([[1e-90], [-3e-90]])


def test_one_small_value_among_zeros_is_within_the_range():
    X = np.zeros((100, 1))
    X[0] = 2e-70
    assert Moments.from_samples(X).mean == pytest.approx(2e-72)


@pytest.mark.parametrize("size", [2e-70, 1e-30, 1e30, 1e69])
def test_values_within_the_range(rng, size):
    X = rng.normal(size=(20, 3)) + 1
    expected = Moments.from_samples(X)
    got = Moments.from_samples(X * size)
    np.testing.assert_allclose(got.mean / size, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(got.scatter / size**2, expected.scatter, rtol=1e-12)


def two_passes(X, mask, weight):
    """Moments of the repeated rows of a class."""
    rows = X[mask].astype(float)
    if weight is not None:
        rows = oracles.repeat_rows(rows, weight[mask].astype(int))
    return oracles.two_pass_moments(rows)


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_blocks_of_two_classes(dtype):
    """Mixed classes, runs, and a class that begins late; diagonals too."""
    size = 30_000  # of which 26 214 rows are summed at a time
    i = np.arange(size)
    cases = ("C", 0.0, False), ("F", 1e8, True), ("C", 1e8, "zeros"), ("F", 1.0, False)
    for order, offset, weighted in cases:
        rng = np.random.default_rng(20240601)
        X = rng.normal(size=(size, 5)) * [1, 2, 0, 10, 0.1] + offset
        X = np.asarray(X, dtype, order)
        weight = rng.integers(weighted != "zeros", 4, size) if weighted else None
        rtol = 1e-11 if offset < 1e8 else 1e-7  # the mean near 1e8 is rounded
        for positive in (i > 20_000, (i // 4500) % 2 == 0, i % 3 == 0):
            given, masks = (X, positive, weight), (~positive, positive)
            parts = class_moments(*given), class_moments(*given, featurewise=True)
            for full, diagonal, mask in zip(*parts, masks, strict=True):
                n, mean, scatter = two_passes(X, mask, weight)
                assert_moments(full, n, mean, scatter, rtol)
                np.testing.assert_allclose(diagonal.mean, mean, 1e-12, 1e-14)
                squares = np.diag(scatter)
                np.testing.assert_allclose(diagonal.scatter, squares, rtol, 1e-28)


@pytest.mark.parametrize("n_first", [1, 30, 200, 3000])
def test_a_drift_of_the_mean_costs_few_digits(rng, n_first):
    """The first rows lie far from all others."""
    near = np.round(rng.normal(size=(6000, 3)), 6)
    X = near + 2.0**20 * (np.arange(6000) >= n_first)[:, None]
    got, expected = Moments.from_samples(X), oracles.two_pass_moments(X)
    assert_moments(got, *expected, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_offsets_cost_no_digits_of_the_scatter(rng, weighted):
    """Three blocks, and means up to 1e10 deviations, against extended precision."""
    n = 40_000
    X = rng.normal(size=(n, 8)) + 10.0 ** np.arange(3, 11)
    weight = 10.0 ** rng.uniform(-3, 3, n) if weighted else np.ones(n)
    positive = np.arange(n) % 3 == 0
    for got, mask in zip(
        class_moments(X, positive, weight), (~positive, positive), strict=True
    ):
        rows, w = X[mask].astype(np.longdouble), weight[mask].astype(np.longdouble)
        mean = w @ rows / w.sum()
        deviations = rows - mean
        scatter = (deviations * w[:, None]).T @ deviations
        size = np.sqrt(np.diag(scatter))
        assert np.all(np.abs(got.scatter - scatter) <= 1e-12 * np.outer(size, size))
