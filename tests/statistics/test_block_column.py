"""Columns that stay in their blocks, against the arrays that they are."""

from dataclasses import replace

import numpy as np
import pytest

from skauc import RowBlocks, class_moments
from skauc.statistics import _block_column
from skauc.statistics._block_column import BlockColumn, scores_of
from skauc.statistics._block_matrix import BlockMatrix
from skauc.statistics._columns import (
    class_sums,
    classes_given,
    content,
    dot_products,
    made_beside,
    n_given,
    row_slope,
)
from skauc.statistics._kept_rows import KeptRows
from skauc.statistics._rank_sums import Evenly
from skauc.statistics._ranks import empirical_auc

SIZES = 40, 1, 0, 59, 100


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(200, 4)).round(1) + 3
    ends = np.cumsum(SIZES)
    parts = [(X[b - m : b], np.zeros(m)) for b, m in zip(ends, SIZES, strict=True)]
    lengths = {k: m for k, m in enumerate(SIZES) if m}
    return X, BlockMatrix(RowBlocks(parts), lengths, 4, scores=scores_of)


@pytest.fixture
def column(rows):
    w = np.array([1.0, -0.5, 0.25, 0.0])
    return rows[0] @ w, rows[1] @ w


def stays(found):
    assert isinstance(found, BlockColumn)
    return np.asarray(found)


@pytest.fixture
def nothing_comes(monkeypatch):
    """No column may become an array before :func:`stays` asks for it."""

    def refuse(self, dtype=None, copy=None):
        raise AssertionError("n numbers have travelled")

    monkeypatch.setattr(BlockColumn, "__array__", refuse)


def test_elementwise_functions_make_columns(column):
    z, lazy = column
    for function in (
        lambda z: 2 * z - 1,
        lambda z: np.exp(-np.abs(z)) / (1 + z**2),
        lambda z: np.where(z > 1, -z, 1.0),
        lambda z: ~(z > 1) | (z <= 0),
        lambda z: (z > 1).astype(float),
        lambda z: np.ones_like(z) * z,
        lambda z: np.zeros_like(z, dtype=int) + 3,
        lambda z: np.minimum(z, 2.0),
    ):
        found = function(lazy)
        assert found.dtype == function(z).dtype
        np.testing.assert_allclose(stays(found), function(z), rtol=1e-14)


def test_a_change_in_place_is_another_column(column):
    z, lazy = column
    before = lazy
    lazy *= 2
    np.testing.assert_allclose(stays(before), z, rtol=1e-14)
    np.testing.assert_allclose(stays(lazy), 2 * z, rtol=1e-14)


def test_a_change_in_place_of_an_array_is_one(column):
    z, lazy = column
    array = np.ones(200)
    same = array
    array *= lazy
    np.testing.assert_allclose(same, z, rtol=1e-14)
    np.multiply(same, 2, out=same, where=lazy > 1)
    np.testing.assert_allclose(same, np.where(z > 1, 2 * z, z), rtol=1e-14)
    counts = np.zeros(2)
    np.add.at(counts, (lazy > 1).astype(int), 1)
    np.testing.assert_array_equal(counts, [(z <= 1).sum(), (z > 1).sum()])


@pytest.mark.parametrize(
    "change",
    [
        lambda z: np.multiply(z, 2, out=z),
        lambda z: np.add(np.ones(200), 1, out=z),
        lambda z: np.add.at(z, [0], 1.0),
    ],
)
def test_no_column_is_changed(column, change):
    with pytest.raises(TypeError, match="do not change in place"):
        change(column[1])


def test_what_functions_are_asked_beside(column):
    z, lazy = column
    some = z > 1
    for function in (
        lambda z: np.mean(z, where=some),
        lambda z: np.mean(z, 0),
        lambda z: np.min(z, where=some, initial=99.0),
        lambda z: np.max(z, initial=99.0),
        lambda z: np.all(z > 1, where=some),
        lambda z: np.any(z <= 1, where=some),
        lambda z: np.count_nonzero(z, keepdims=True),
        lambda z: np.average(np.eye(3, 200), axis=1, weights=z**2),
        lambda z: np.average(z, weights=z**2, returned=True),
        lambda z: np.ones_like(z, shape=3),
        lambda z: np.divmod(z, 2.0),
        lambda z: np.corrcoef(z, np.arange(200)),
        list,
    ):
        np.testing.assert_allclose(function(lazy), function(z), rtol=1e-12)
    for sums in (np.sum, np.average, np.ptp):
        with pytest.raises(IndexError, match="axis 1 is out of bounds"):
            sums(lazy, axis=1)


def test_truth_of_numbers(column, nothing_comes):
    z, lazy = column
    for function in (
        lambda z: np.all(z * 0.0 - 1),
        lambda z: np.any(np.where(z > 1, -1.0, 0.0)),
        lambda z: np.all(np.where(z > 1, -1.0, np.where(z > 0, 0.0, 1.0))),
        lambda z: np.where(z > 1, 0, -1).any(),
        lambda z: np.all(np.where(z > 1, 2.0, 0.0)),
        lambda z: np.any(z * 0.0),
        lambda z: (~(z > 1)).all(),
        lambda z: (~(z > -9)).any(),
        lambda z: np.all(np.where(z > 1, 2, -1)),
        lambda z: np.all(np.where(z > 1, 0.5, 0.0)),
    ):
        assert function(lazy) == function(z)
    with pytest.raises(ValueError, match="truth of a column"):
        assert lazy in (1.0, 2.0)


def test_rows_that_are_not_there(column):
    for part in (200, [3, -201]):
        with pytest.raises(IndexError, match=r"rows must lie in \[-200, 200\)"):
            column[1][part]


def test_sums_are_numbers(column, nothing_comes):
    z, lazy = column
    ones = np.ones_like(lazy)
    for function in (
        np.sum,
        np.mean,
        np.min,
        np.max,
        np.ptp,
        np.average,
        lambda z: z.std(),
        lambda z: np.abs(z - 2).max(),
        lambda z: np.abs(z - 9).max(),
        lambda z: np.sum(z, axis=-1),
        lambda z: (z > 1).sum(),
        lambda z: (~(z > 1)).sum(),
        lambda z: np.count_nonzero(z > 1),
        lambda z: np.count_nonzero(np.where(z > 1, 2.0, 0.0)),
        lambda z: (z > -9).all(),
        lambda z: (z > 9).any(),
        lambda z: (~(z > 9)).all(),
        lambda z: z @ (z > 1),
        lambda z: np.average(z, weights=z**2),
        lambda z: np.corrcoef(z, np.abs(z))[0, 1],
        lambda z: len(z) + z.ndim + np.ndim(z) + z.shape[0] + np.shape(z)[0],
    ):
        assert function(lazy) == pytest.approx(function(z), rel=1e-12)
    assert np.sum(ones * (lazy > 1)) == np.sum(z > 1)
    assert np.sum(3 * ones) == 3 * len(z)
    assert (ones.min(), ones.max()) == (1, 1)


def test_products_with_the_rows(rows, column, nothing_comes):
    X, matrix = rows
    z, lazy = column
    np.testing.assert_allclose(lazy @ matrix, z @ X, rtol=1e-13)
    np.testing.assert_allclose(matrix.T @ lazy, z @ X, rtol=1e-13)
    np.testing.assert_allclose(matrix.gram(lazy**2), (X.T * z**2) @ X, rtol=1e-12)
    half = matrix.affine(np.ones(4), np.full(4, 2.0))
    np.testing.assert_allclose(lazy @ half, z @ ((X - 1) / 2), rtol=1e-12)
    assert np.max(half @ np.eye(4)[0]) == ((X[:, 0] - 1) / 2).max()


def test_products_in_any_unit(rows):
    X, matrix = rows
    w = np.array([1.0, -0.5, 0.25, 0.0])
    for size in (1.0, 1.1, -3.0, 0.0):
        np.testing.assert_allclose(stays(matrix @ (size * w)), X @ (size * w))
    W = np.arange(8.0).reshape(4, 2)
    np.testing.assert_allclose(matrix @ W, X @ W, rtol=1e-13)


def test_inner_products_of_pairs(column):
    z, lazy = column
    expected = [z @ z**2, z @ (z > 1), (z**2).sum()]
    for a in (z, lazy):
        found = dot_products((a, a**2), (a > 1, a), (a**2, np.ones_like(a)))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sums_that_a_product_has_found_cost_no_pass(rows, column, monkeypatch):
    _, lazy = column
    g = lazy**2
    g @ rows[1]
    monkeypatch.setattr(BlockColumn, "total", None)
    assert g.sum() == pytest.approx(np.sum(column[0] ** 2))


def test_sums_of_both_classes(column):
    z, lazy = column
    positive, weight = z > 1, np.abs(z)
    counts = np.array([(~positive).sum(), positive.sum()])
    sums = [weight[~positive].sum(), weight[positive].sum()]
    for mask in (positive, lazy > 1):
        np.testing.assert_array_equal(class_sums(mask), counts)
        for one in (weight, np.abs(lazy)):
            np.testing.assert_allclose(class_sums(mask, one), sums, rtol=1e-13)
    twice = 2.0 * np.ones_like(lazy)
    np.testing.assert_array_equal(class_sums(lazy > 1, twice), 2 * counts)


def test_rows_and_columns_at_hand_or_in_blocks(rows, column):
    some = np.array([150, 3, 3])
    for X in rows:
        for z in column:
            found, values = made_beside(X, z, some)
            np.testing.assert_array_equal(found, rows[0][some])
            np.testing.assert_allclose(values, column[0][some], rtol=1e-14)
    two = column[1].beside(column[1] > 1)
    _, values = made_beside(rows[1], two, some)
    expected = np.stack([column[0], column[0] > 1], axis=1)[some]
    np.testing.assert_allclose(values, expected, rtol=1e-14)


def test_rows_that_were_left_out_are_counted(rows, column):
    kept = replace(rows[1], blocks=KeptRows(rows[1].blocks, None))
    less = replace(rows[1], blocks=KeptRows(rows[1].blocks, None, n_left_out=7))
    node = column[1].node
    found = [n_given(BlockColumn(one, node)) for one in (rows[1], kept, less)]
    assert found == [200, 200, 207]
    assert n_given(np.arange(5.0)) == 5


@pytest.mark.parametrize("size", [1, 0.5, 2**31 - 1, 2**31])
def test_ranks_of_weighted_rows(column, size):
    """Counts up to 2³¹ stay whole numbers; what is larger, or no count, does not."""
    z, lazy = column
    positive, weight = z > 1, size * (1 + (z > 2))
    if size >= 2:
        weight = np.where(z > 2, size, 1)
        often = size * (lazy > 2) + (lazy <= 2).astype(float)
    else:
        often = size * (1.0 + (lazy > 2))
    sums = lazy.rank_sums(lazy > 1, weight=often)
    assert isinstance(sums.n_pos, int) == (size in (1, 2**31 - 1))
    assert (sums.n_neg, sums.n_pos) == (weight[~positive].sum(), weight[positive].sum())
    won = np.where(z[:, None] == z, 0.5, z[:, None] > z)[positive][:, ~positive]
    share = np.outer(weight[positive], weight[~positive].astype(float))
    assert sums.auc == pytest.approx((share * won).sum() / share.sum(), rel=1e-12)


def test_some_rows(column):
    z, lazy = column
    some = np.array([199, 0, 40, 41, 40])
    for part in (slice(None, None, 7), some, 5, -1):
        np.testing.assert_allclose(lazy[part], z[part], rtol=1e-14)
    np.testing.assert_allclose(lazy.beside(lazy > 1)[some].T, [z[some], z[some] > 1])
    assert len(lazy[:0]) == 0


def test_what_is_not_known_gets_the_array(column):
    z, lazy = column
    np.testing.assert_allclose(np.sort(lazy), np.sort(z))
    np.testing.assert_allclose(np.concatenate([lazy, lazy]), np.concatenate([z, z]))
    np.testing.assert_allclose(lazy[lazy > 1], z[z > 1])
    np.testing.assert_allclose(lazy + np.arange(200.0), z + np.arange(200))
    np.testing.assert_allclose(np.add.reduce(lazy), z.sum())
    np.testing.assert_allclose(lazy[:, None], z[:, None])
    with pytest.raises(TypeError, match="not copied to other processes"):
        lazy.__reduce__()


def test_contents_tell_columns_apart(column):
    _, lazy = column
    assert content(lazy > 1) == content(lazy > 1)
    other = lazy > np.sort(np.asarray(lazy))[100]
    assert content(lazy > 1) != content(other)
    for numbers in (np.array([0.5, 1.5]), np.array([True, False])):
        assert content(numbers) == content(numbers.copy())
        assert content(numbers) != content(numbers[::-1])
    assert len(content(np.zeros(80, bool))) == 10  # a bit a row


def test_contents_of_many_zeros_are_short_and_tell_columns_apart():
    columns = [np.zeros(80)]
    for places in ([3], [4], [3, 4], range(59), range(60), range(80)):
        for value in (1.0, np.nextafter(1.0, 2), -1.0, np.nan):
            one = np.zeros(80)
            one[places] = value
            columns.append(one)
    columns.append(np.where(np.arange(80) == 4, 2.0, columns[9]))  # another number
    found = [content(one) for one in columns]
    assert len(set(found)) == len(columns)
    assert [len(content(np.repeat([0.0, 1.0], [80 - k, k]))) for k in (0, 59, 60)] == [
        10,
        10 + 8 * 59,
        8 * 80,
    ]
    assert content(columns[1].reshape(8, 10)) == found[1]


def test_slope_over_the_rows(column):
    """Of the scores with their sums, of other columns as of arrays."""
    for z, lazy in (column, (column[0] ** 2, column[1] ** 2)):
        expected = sum((2 * i - 199) * value for i, value in enumerate(z))
        assert row_slope(z) == pytest.approx(expected)
        assert row_slope(lazy) == pytest.approx(expected)
        assert lazy.sum() == pytest.approx(z.sum())


@pytest.mark.parametrize("n_ranges", [1, 7])
def test_ranks(column, n_ranges, monkeypatch):
    z, lazy = column
    positive = np.asarray((lazy**2).astype(int) % 2 == 0)
    monkeypatch.setattr(RowBlocks, "n_ranges", lambda self, n: n_ranges)
    sums = lazy.rank_sums((lazy**2).astype(int) % 2 == 0)
    assert sums.auc == empirical_auc(z[~positive], z[positive])
    assert (sums.n_neg, sums.n_pos) == ((~positive).sum(), positive.sum())


def test_ranks_of_dask_chunks(rng, monkeypatch):
    """There one task cuts its chunk at all edges; files are read once a range."""
    da = pytest.importorskip("dask.array", reason="Dask's arrays are not installed")
    from skauc.distributed._dask_blocks import open_collections

    X = rng.normal(size=(90, 2)).round(1)
    blocks = open_collections(da.from_array(X, chunks=(30, 2)))
    monkeypatch.setattr(type(blocks), "n_ranges", lambda self, n: 5)
    matrix = BlockMatrix(blocks, dict.fromkeys(range(3), 30), 2, scores=scores_of)
    sums = (matrix @ [1.0, 0.0]).rank_sums(matrix @ [0.0, 1.0] > 0.3)
    positive = X[:, 1] > 0.3
    assert sums.auc == empirical_auc(X[~positive, 0], X[positive, 0])


def test_even_samples_are_all_rows_while_they_are_few(column):
    z, lazy = column
    masks = lazy <= 1, lazy > 1
    ((neg, pos),) = lazy.evenly(masks, (np.ones_like(lazy),))
    np.testing.assert_array_equal(neg.value, np.sort(z[z <= 1]))
    np.testing.assert_array_equal(np.sort(pos.number), np.flatnonzero(z > 1))
    np.testing.assert_allclose(z[pos.number.astype(int)], pos.value)


def test_even_samples_of_many_rows(rng):
    """Masses add up, and quantiles by mass are those of all rows."""
    value = rng.normal(size=60_000)
    mass = rng.random(60_000) * np.exp(value)
    parts = np.array_split(np.arange(60_000), 25)
    found = sum(
        (Evenly.of(value[p], mass[p], p.astype(float)) for p in parts[1:]),
        Evenly.of(value[parts[0]], mass[parts[0]], parts[0].astype(float)),
    )
    assert len(found.value) <= 16 * 1024
    assert found.mass.sum() == pytest.approx(mass.sum(), rel=1e-12)
    np.testing.assert_array_equal(value[found.number.astype(int)], found.value)
    for q in (0.01, 0.3, 0.5, 0.9, 0.999):
        at = found.value[np.searchsorted(np.cumsum(found.mass), q * mass.sum())]
        assert mass[value <= at].sum() / mass.sum() == pytest.approx(q, abs=5e-4)


def test_what_is_asked_twice_is_computed_once(column, monkeypatch):
    _, lazy = column
    passes = []
    total = BlockColumn.total
    monkeypatch.setattr(
        BlockColumn,
        "total",
        lambda self, *asked: passes.append(1) or total(self, *asked),
    )
    mask = lazy > 1
    assert mask.sum() + (~mask).sum() == 200
    assert mask.any()
    assert not mask.all()
    assert (np.ones_like(lazy) * mask).sum() == mask.sum()
    assert len(passes) == 1
    assert _block_column.made_column([lazy, 3])[1] == 3


def test_moments_of_a_column(column, nothing_comes):
    """As of one feature, with a mask and weights that stay too."""
    z, lazy = column
    for weight in (None, lambda z: z**2):
        some = [None if weight is None else weight(part) for part in (z, lazy)]
        expected = class_moments(z, z > 1, some[0])
        for one, two in zip(
            class_moments(lazy, lazy > 1, some[1]), expected, strict=True
        ):
            assert one.n == pytest.approx(two.n)
            assert one.mean == pytest.approx(two.mean)
            assert one.scatter == pytest.approx(two.scatter)


@pytest.mark.parametrize("whole", [True, False])
def test_weighted_ranks(column, rng, whole):
    z, lazy = column
    weight = lazy**2 if not whole else (lazy**2).astype(int).astype(float)
    w, positive = np.asarray(weight), z > 1.5
    sums = (-lazy).rank_sums(lazy > 1.5, weight=weight)
    expected = empirical_auc(-z[~positive], -z[positive], w[~positive], w[positive])
    assert sums.auc == pytest.approx(expected, abs=1e-14)
    found = class_sums(lazy > 1.5, weight)
    np.testing.assert_allclose(found, [w[~positive].sum(), w[positive].sum()])
    np.testing.assert_allclose([sums.n_neg, sums.n_pos], found)


def test_columns_are_opened_as_blocks_where_all_of_them_are(column):
    """Beside an array nothing can be asked block by block."""
    z, lazy = column
    asked = _block_column._open_column(lazy)
    lengths = asked.map(lambda block: len(block.X))
    assert [m for m in lengths if m] == [m for m in SIZES if m]
    total = asked.total(lambda block: float(np.sum(block.X)))
    assert total == pytest.approx(z.sum())
    assert _block_column._open_column(lazy, z) is None
    assert _block_column._open_column(z) is None


def test_classes_are_counted_with_the_rows_that_were_left_out(rows, column):
    """Rows that weigh nothing are in the blocks behind those that are kept."""
    z, lazy = column
    less = replace(rows[1], blocks=KeptRows(rows[1].blocks, None, n_left_out=7))
    n_pos = np.count_nonzero(z > 1)
    positive = BlockColumn(less, (lazy > 1).node)
    np.testing.assert_array_equal(classes_given(positive), [207 - n_pos, n_pos])
    for whole in (lazy > 1, z > 1):
        np.testing.assert_array_equal(classes_given(whole), [200 - n_pos, n_pos])
