"""Moments against exact two-pass sums over repeated rows."""

import sys
import tracemalloc

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skauc import Moments, class_moments
from skauc.statistics import _moments, _numerics
from skauc.statistics._moments import around

FORMATS = ["csr_array", "csc_array", "coo_array", "csr_matrix"]


def assert_moments(got, n, mean, scatter, rtol=1e-12):
    """Compare; scatters within rtol of the features' own sizes."""
    assert got.n == pytest.approx(n, rel=1e-14)
    np.testing.assert_allclose(got.mean, mean, rtol=1e-13, atol=1e-14)
    size = np.sqrt(np.diag(scatter)) if np.ndim(scatter) == 2 else None
    if size is None:
        np.testing.assert_allclose(got.scatter, scatter, rtol=rtol)
    else:
        error = np.abs(got.scatter - scatter)
        assert np.all(error <= rtol * np.outer(size, size))


# ----------------------------------------------------------------------- oracle


def test_two_pass_sums(rng):
    X = rng.normal(size=(37, 4)) @ rng.normal(size=(4, 4)) + [0, 5, -30, 1e4]
    assert_moments(Moments.from_samples(X), *oracles.two_pass_moments(X))


def test_integer_weights_are_repeated_rows(rng):
    X = rng.normal(size=(30, 3)) + 7
    weight = rng.integers(0, 4, 30)
    expected = oracles.two_pass_moments(oracles.repeat_rows(X, weight))
    assert_moments(Moments.from_samples(X, weight), *expected)


def test_class_moments_are_the_moments_of_each_class(rng):
    X, positive = rng.normal(size=(50, 3)), rng.uniform(size=50) < 0.3
    weight = rng.integers(0, 3, 50)
    parts = class_moments(X, positive, weight)
    for part, mask in zip(parts, (~positive, positive), strict=True):
        rows = oracles.repeat_rows(X[mask], weight[mask])
        assert_moments(part, *oracles.two_pass_moments(rows))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("featurewise", [False, True])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("entries", [2**16, 40])  # of one part, of some
def test_sparse_is_dense(rng, form, featurewise, weighted, entries, monkeypatch):
    monkeypatch.setattr(_moments, "_SPARSE_ENTRIES", entries)
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


@pytest.mark.parametrize("featurewise", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_huge_means(rng, form, weighted, featurewise):
    # A spread of 1 on top of 1e8: the rows themselves are exact floats, and the
    # fractional weights do not add up exactly.
    X = np.round(rng.normal(size=(400, 3)), 6) + np.array([1e8, -1e8, 0])
    weight = rng.integers(1, 6, 400) if weighted else np.ones(400, dtype=int)
    n, mean, scatter = oracles.two_pass_moments(oracles.repeat_rows(X, weight))
    scatter = np.diag(scatter) if featurewise else scatter
    sample = X if form == "dense" else sparse.csr_array(X)
    got = Moments.from_samples(sample, weight * 0.3, featurewise=featurewise)
    # Means round at 1e-8, so squares around them at 1e-8 of a standard deviation.
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


def test_project_samples_in_float64(rng, monkeypatch):
    monkeypatch.setattr(_numerics, "BLOCK_BYTES", 200)
    X, w = rng.normal(size=(50, 3)).astype(np.float32), rng.normal(size=3)
    expected = [sum(float(x) * b for x, b in zip(row, w, strict=True)) for row in X]
    for sample in (X, sparse.csr_array(X), X.astype(float)):
        got = _moments.project_samples(sample, w)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


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
def test_many_blocks_are_one(rng, monkeypatch, form, featurewise):
    X, weight = rng.normal(size=(500, 3)) + 1e6, rng.integers(0, 3, 500)
    n, mean, scatter = oracles.two_pass_moments(oracles.repeat_rows(X, weight))
    monkeypatch.setattr(_numerics, "BLOCK_BYTES", 3 * 8 * 7)
    assert _moments._block_rows(3, featurewise) == 7
    sample = X if form == "dense" else sparse.csr_array(X)
    got = Moments.from_samples(sample, weight, featurewise=featurewise)
    scatter = np.diag(scatter) if featurewise else scatter
    assert_moments(got, n, mean, scatter, rtol=1e-8)


def test_featurewise_is_the_diagonal(rng):
    X, weight = rng.normal(size=(60, 4)), rng.uniform(size=60)
    full = Moments.from_samples(X, weight)
    part = Moments.from_samples(X, weight, featurewise=True)
    assert part.scatter.shape == (4,)
    np.testing.assert_allclose(part.scatter, np.diag(full.scatter), rtol=1e-13)


def test_one_dimension_is_one_column(rng):
    x, weight = rng.normal(size=20), rng.uniform(size=20)
    line, column = (
        Moments.from_samples(x, weight),
        Moments.from_samples(x[:, None], weight),
    )
    assert np.shape(line.mean) == np.shape(line.scatter) == ()
    assert float(line.mean) == pytest.approx(column.mean[0], rel=1e-14)
    assert float(line.scatter) == pytest.approx(column.scatter[0, 0], rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_constant_feature_has_scatter_exactly_zero(rng, monkeypatch, weighted):
    monkeypatch.setattr(_numerics, "BLOCK_BYTES", 160)
    X = np.column_stack([np.full(101, 0.1), rng.normal(size=101)])
    weight = rng.uniform(size=101) if weighted else None
    for sample in (X, X.astype(np.float32)):
        for featurewise in (False, True):
            got = Moments.from_samples(sample, weight, featurewise=featurewise)
            assert np.all(got.scatter[0] == (0 if not featurewise else 0.0))
            assert got.mean[0] == float(sample[0, 0])
    # Sparse falls back to dense blocks, where the same holds.
    got = Moments.from_samples(sparse.csr_array(X), weight)
    assert got.scatter[0, 0] == got.scatter[0, 1] == 0.0


def test_shift_and_permutation(rng):
    X, weight = rng.normal(size=(200, 3)), rng.uniform(size=200)
    base = Moments.from_samples(X, weight)
    for shift in (1.0, 1e6):
        moved = Moments.from_samples(X + shift, weight)
        np.testing.assert_allclose(moved.scatter, base.scatter, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(moved.mean, base.mean + shift, rtol=1e-13)
    order = rng.permutation(200)
    assert_moments(
        Moments.from_samples(X[order], weight[order]), base.n, base.mean, base.scatter
    )


# ------------------------------------------------------------------------- edge


def test_input_is_never_modified(rng, tmp_path):
    X = rng.normal(size=(30, 3))
    np.save(tmp_path / "X.npy", X)
    frozen = np.load(tmp_path / "X.npy", mmap_mode="r")
    positive = rng.uniform(size=30) < 0.5
    weight = rng.uniform(size=30)
    weight.flags.writeable = False
    plain = X.copy()
    by_row, by_column = sparse.csr_array(X), sparse.csc_array(X)
    for sample in (frozen, plain, by_row, by_column):
        for featurewise in (False, True):
            class_moments(sample, positive, weight, featurewise=featurewise)
            class_moments(sample, positive, featurewise=featurewise)
    Moments.from_samples(plain[:, 0])
    np.testing.assert_array_equal(frozen, X)
    np.testing.assert_array_equal(plain, X)
    np.testing.assert_array_equal(by_row.toarray(), X)
    np.testing.assert_array_equal(by_column.toarray(), X)


@pytest.mark.parametrize("P", [3, 20])
def test_means_keep_what_rounding_takes(rng, P):
    """However the rows are cut: of 1e8 + 1 the mean has 24 digits, of which 8 stand."""
    X = rng.normal(size=(1001, P)) + 1e8
    near = X - 1e8  # exactly
    cuts = (), (500,), (1, 2, 3, 700, 700)
    for cut in cuts:
        parts = [Moments.from_samples(part) for part in np.split(X, cut) if len(part)]
        whole = sum(parts[1:], parts[0])
        expected = Moments.from_samples(near)
        found = (whole.mean - 1e8) + whole.rest
        np.testing.assert_allclose(found, expected.mean, rtol=0, atol=1e-14)
        np.testing.assert_allclose(around(whole, 1e8).mean, found)
        np.testing.assert_allclose(
            whole.scatter, expected.scatter, rtol=1e-11, atol=1e-11 * 1001
        )
    w = np.ones(P)
    assert whole.project(w).mean == pytest.approx(near.mean(0) @ w + 1e8 * P, rel=1e-15)
    contrast = np.eye(P)[0] - np.eye(P)[1]  # cancels all but what was rounded off
    expected = pytest.approx((near @ contrast).mean(), abs=1e-14)
    assert whole.project(contrast).mean == expected
    huge = Moments.from_samples(np.full((2, 2), 1e308)[:, 0])
    assert np.all(huge.rest == 0)


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


def test_integers_and_booleans():
    assert_moments(
        Moments.from_samples(np.array([[True], [False], [True]])), 3, [2 / 3], [[2 / 3]]
    )
    assert float(Moments.from_samples([1, 2, 6]).scatter) == 14.0


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
    assert peak < 3 * _numerics.BLOCK_BYTES + 4 * 8 * len(X)
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


# ------------------------------------------------------------------- error text


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("featurewise", [False, True])
@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_not_finite(bad, featurewise, form):
    X = np.array([[bad, 1.0], [0.0, 2.0], [1.0, 4.0]])
    sample = X if form == "dense" else sparse.csr_array(X)
    count = 1 if featurewise or bad == 1e200 else 3
    with pytest.raises(ValueError, match=rf"X must be finite .* with {count} non-fin"):
        Moments.from_samples(sample, featurewise=featurewise)


def test_error_texts():
    X = np.ones((3, 2))
    with pytest.raises(
        ValueError, match=r"sample_weight must have .* \(3,\), got .*2,"
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


def scatters_beside_two_passes(parts, X, positive, weight):
    """Of each class, its own and that of two passes; counts and means are alike."""
    for part, mask in zip(parts, (~positive, positive), strict=True):
        rows = X[mask]
        if weight is not None:
            rows = oracles.repeat_rows(rows, weight[mask].astype(int))
        n, mean, scatter = oracles.two_pass_moments(rows)
        assert part.n == pytest.approx(n, rel=1e-14)
        np.testing.assert_allclose(part.mean, mean, rtol=1e-13, atol=1e-14)
        yield part.scatter, scatter


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e8])
@pytest.mark.parametrize("weighted", [False, True, "zeros"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32])
def test_traces_are_those_of_two_passes(rng, monkeypatch, offset, weighted, form):
    monkeypatch.setattr(_moments, "_RAW_BYTES", 2**10)
    X = form(rng.normal(size=(70, 5)) * [1, 2, 0, 10, 0.1] + offset)
    positive, weight = rng.uniform(size=70) < 0.4, None
    if weighted:
        weight = rng.integers(weighted != "zeros", 4, 70).astype(float)
    parts = _moments.class_traces(X, positive, weight)
    dense = X.toarray() if sparse.issparse(X) else X.astype(float)
    # the mean of numbers near 1e8 is rounded by 1e-8
    rtol = 1e-12 if offset < 1e8 else 1e-8
    for found, scatter in scatters_beside_two_passes(parts, dense, positive, weight):
        assert found == pytest.approx(np.trace(scatter), rel=rtol)


@pytest.mark.parametrize("mean", [0.0, 0.9, 5.0, 1e6])
def test_equal_columns_stay_equal_to_a_few_roundings(rng, mean):
    X = rng.normal(size=(3000, 19)) + mean
    X[:, 18] = X[:, 0]  # at another place of a block of columns
    for part in class_moments(X, rng.uniform(size=3000) < 0.4):
        W = part.scatter
        contrast = W[0, 0] - 2 * W[0, 18] + W[18, 18]
        assert abs(contrast) <= 16 * np.finfo(float).eps * W[0, 0]


@pytest.mark.parametrize("offset", [0.0, 0.9, 1e8])
@pytest.mark.parametrize("weighted", [False, True, "zeros"])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_diagonals_are_those_of_two_passes(rng, monkeypatch, offset, weighted, dtype):
    monkeypatch.setattr(_moments, "_READ_BYTES", 2**10)  # 25 rows a block
    X = (rng.normal(size=(70, 5)) * [1, 2, 0, 10, 0.1] + offset).astype(dtype)
    positive, weight = rng.uniform(size=70) < 0.4, None
    X[:, 4] = np.where(positive, 0.3, 0.7)  # varies, but in neither class
    if weighted:
        weight = rng.integers(weighted != "zeros", 4, 70).astype(float)
    parts = class_moments(X, positive, weight, featurewise=True)
    # the mean of numbers near 1e8 is rounded by 1e-8
    rtol, dense = 1e-11 if offset < 1e8 else 1e-7, X.astype(float)
    for found, scatter in scatters_beside_two_passes(parts, dense, positive, weight):
        assert found[4] < 1e-28
        expected = np.diag(scatter)[:4]
        np.testing.assert_allclose(found[:4], expected, rtol=rtol, atol=1e-28)


def test_no_pass_of_products_where_it_would_cost_digits(rng):
    X = np.concatenate([rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + 1e3])
    groups = np.arange(600) < 300, np.arange(600) >= 300
    near, far = _moments._raw_featurewise(X, groups, None)
    np.testing.assert_allclose(near.scatter, 300 * X[:300].var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(near.mean, X[:300].mean(axis=0), rtol=1e-12)
    assert far is None
    (moved,) = _moments._raw_featurewise(X[:300] + 2, groups[0][None, :300], None)
    np.testing.assert_allclose(moved.mean, X[:300].mean(axis=0) + 2, rtol=1e-13)
    np.testing.assert_allclose(moved.scatter, near.scatter, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_in_other_units(rng, weighted):
    X = rng.normal(size=(40, 3))
    weight = rng.uniform(1, 2, 40) if weighted else None
    sums, origin = _moments.RawSums.around_zero(3), np.array([5.0, -1e8, 0.0])
    for part in np.split(np.arange(40), [13]):
        sums.add(X[part], None if weight is None else weight[part])
    got = _moments.in_units(sums.moments(), origin, 0.5)
    w = np.ones(40) if weight is None else weight
    mean = np.average(X, axis=0, weights=w)
    assert got.n == pytest.approx(w.sum(), rel=1e-14)
    np.testing.assert_allclose((got.mean - origin) + got.rest, mean / 2, rtol=1e-12)
    expected = np.cov(X.T, aweights=w, ddof=0) * w.sum() / 4
    np.testing.assert_allclose(got.scatter, expected, rtol=1e-12)


def test_blocks_of_a_group_are_its_rows_in_turn():
    """Of many rows, of fewer with more features, and of a row a feature."""
    for P, step in ((95, 3000), (96, 500), (700, 700)):
        parts = list(_moments.RawSums.around_zero(P).parts(np.arange(5, 7000)))
        np.testing.assert_array_equal(np.concatenate(parts), np.arange(5, 7000))
        assert {len(part) for part in parts[:-1]} == {step}


@pytest.mark.parametrize("mean", [0.9, 1.1, -1.1])
def test_rows_farther_from_zero_than_they_vary_have_an_origin(mean):
    """Of rows ±1 around the mean, whose variance is 1."""
    rows = np.array([[mean + 1, 0.0], [mean - 1, 1.0]])
    origin = _moments._origin(rows)
    assert (origin is None) == (abs(mean) < 1)
    assert origin is None or origin.tolist() == rows[0].tolist()
    assert _moments._origin(rows[:0]) is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0, 1])  # with 1 some rows are far from 0
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_one_pass_is_two_passes(rng, monkeypatch, order, offset, dtype):
    monkeypatch.setattr(_moments, "_LONG", 51)  # rows a block
    X = np.asarray(rng.normal(size=(300, 20)) + offset * np.arange(20), dtype, order)
    given, i = X.copy(), np.arange(300)
    # runs of rows, and blocks without a row of one class
    for positive in (i > 250, (i // 60) % 2 == 0, i % 3 == 0):
        for weight in (None, 1.0 + i % 2):
            parts = class_moments(X, positive, weight)
            for part, mask in zip(parts, (~positive, positive), strict=True):
                rows = X[mask].astype(float)
                if weight is not None:
                    rows = oracles.repeat_rows(rows, weight[mask].astype(int))
                assert_moments(part, *oracles.two_pass_moments(rows))
    np.testing.assert_array_equal(X, given)


def test_size_counts_the_arrays(rng):
    small, large = (Moments.from_samples(rng.normal(size=(9, P))) for P in (2, 50))
    numbers = [
        P**2 + 2 * P for P in (2, 50)
    ]  # scatter, mean and what it was rounded by
    assert sys.getsizeof(large) - sys.getsizeof(small) == 8 * np.diff(numbers)[0]
    assert sys.getsizeof(Moments.from_samples([1.0, 2.0])) > 0


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


def test_traces_keep_what_rounding_takes_from_the_means(rng):
    X = np.round(rng.normal(size=(100, 5)) * 2**20) / 2**20
    positive = np.arange(100) % 2 == 1
    near, far = (_moments.class_traces(X + far, positive) for far in (0.0, 2.0**27))
    gap = (far[1].mean - far[0].mean) + (far[1].rest - far[0].rest)
    np.testing.assert_allclose(gap, near[1].mean - near[0].mean, atol=1e-15)


def test_traces_of_ordinary_rows_need_no_second_pass(rng):
    X, positive = rng.normal(size=(60, 4)), np.arange(60) % 3 == 0
    X[:, 1] += 2
    for part, mask in zip(
        _moments._raw_traces(X, positive, None), (~positive, positive), strict=True
    ):
        expected = mask.sum() * X[mask].var(axis=0).sum()
        assert part.scatter == pytest.approx(expected, rel=1e-12)


def test_sums_of_ordinary_rows_need_no_second_pass(rng):
    X = rng.normal(size=(60, 20)) + np.arange(20) % 2
    groups = np.arange(60) < 20, np.arange(60) >= 20
    for part, mask in zip(_moments._raw(X, groups, None), groups, strict=True):
        assert_moments(part, *oracles.two_pass_moments(X[mask]))
    none, every = np.zeros(60, dtype=bool), np.ones(60, dtype=bool)
    gone, whole = _moments._raw(X, (none, every), None)
    assert gone is None
    assert_moments(whole, *oracles.two_pass_moments(X))
    # around 0 the mean takes all digits from the spread
    sums = _moments.RawSums.around_zero(20)
    sums.add(X + 1e9, None)
    assert sums.moments() is None
