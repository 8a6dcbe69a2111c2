"""Blocks of Dask collections: cut alike, summed in a tree, told apart in errors."""

import numpy as np
import pytest
from rows_in_blocks import assert_same_moments, drawn

from skauc import GaussianAUCClassifier, class_moments
from skauc.statistics._row_blocks import row_blocks

pytest.importorskip("dask", reason="Dask is not installed: pip install skauc[dask]")
da = pytest.importorskip("dask.array", reason="Dask's arrays are not installed")


@pytest.fixture
def rows(rng):
    return drawn(rng)


def arrays(rows, chunks):
    X, *columns = rows
    return (
        da.from_array(X, chunks=(chunks, X.shape[1])),
        *(da.from_array(column, chunks=chunks) for column in columns),
    )


def with_unknown_sizes(collection):
    """The same rows, of which Dask does not know how many a chunk holds."""
    return collection[da.ones(len(collection), chunks=collection.chunks[0]) > 0]


def test_columns_are_cut_where_the_rows_are(rows):
    X, positive, weight = rows
    expected = class_moments(*rows)
    X = da.from_array(X, chunks=(60, 3))  # and columns are put together
    cut_elsewhere = da.from_array(positive, chunks=17)
    assert_same_moments(class_moments(X, cut_elsewhere, weight), expected)
    as_column = da.from_array(positive, chunks=60)[:, None]
    blocks = row_blocks(X, as_column[:, 0], weight)
    assert blocks.map(len) == [60, 60, 60, 31]


def test_data_frame(rows):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip(
        "dask.dataframe", reason="Dask's data frames are not installed"
    )
    X, positive, weight = rows
    names = [f"x{j}" for j in range(7)]
    frame = pd.DataFrame(X, columns=names).assign(label=positive, weight=weight)
    frame["x3"] = frame["x3"].astype("Float64")
    lazy = dd.from_pandas(frame, npartitions=4)
    lazy = lazy[lazy.label | ~lazy.label]  # sizes are not known any more
    got = class_moments(lazy[names], lazy.label, lazy.weight)
    assert_same_moments(got, class_moments(*rows))
    assert row_blocks(lazy[names], lazy.label).feature_names == names
    model = GaussianAUCClassifier().fit(lazy[names], lazy.label)
    assert model.feature_names_in_.tolist() == names
    in_memory = GaussianAUCClassifier().fit(X, positive)
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=1e-8)


def test_arrays_of_delayed_blocks_of_unknown_width(rows):
    import dask

    X, positive, _ = rows
    blocks = [
        da.from_delayed(dask.delayed(X[part]), (np.nan, np.nan), dtype=float)
        for part in (slice(0, 100), slice(100, 211))
    ]
    y = with_unknown_sizes(da.from_array(positive, chunks=((100, 111),)))
    got = class_moments(da.concatenate(blocks, allow_unknown_chunksizes=True), y)
    assert_same_moments(got, class_moments(X, positive))


def test_sums_of_sixteen_travel(rows):
    merged = []

    class Result:
        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            merged.append(None)
            return Result(self.n + other.n)

    total = row_blocks(*arrays(rows, 1)).total(lambda block: Result(len(block)))
    assert total.n == 211
    assert len(merged) == 210  # a tree adds no more often than a line


def counted(seen):
    def touch(block):
        seen.append(len(block))
        return block

    return touch


def test_what_comes_in_is_computed_once_per_pass(rows):
    seen = []
    both = da.from_array(np.column_stack(rows[:2]), chunks=(50, 8))
    both = both.map_blocks(counted(seen), dtype=float, meta=np.empty((0, 0)))
    class_moments(both[:, :7], both[:, 7] > 0)
    assert sorted(seen) == [11, 50, 50, 50, 50]


def test_a_frame_is_computed_once_per_pass(rows):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip(
        "dask.dataframe", reason="Dask's data frames are not installed"
    )
    seen = []
    frame = pd.DataFrame(np.column_stack(rows[:2]), columns=list("abcdefgy"))
    both = dd.from_pandas(frame, npartitions=4)
    both = both.map_partitions(counted(seen), meta=frame.iloc[:0])
    class_moments(both[list("abcdefg")], both.y > 0)
    assert sum(seen) == 211


def test_what_does_not_match_is_said_before_anything_is_computed(rows):
    X, y, weight = arrays(rows, 50)
    unknown = with_unknown_sizes(X)
    for given, text in [
        ((X, y[1:]), "y must have one value for each of the 211 rows of X, got 210"),
        ((X, rows[1][1:]), "y must have one value for each of the 211 rows of X"),
        ((rows[0], y), "X must be a Dask collection as y is, got ndarray"),
        ((unknown, rows[1]), "y must be a Dask collection if the sizes"),
        (
            (unknown, y.rechunk(211)),
            "y must have as many chunks as X .* got 1 and 5; compute_chunk_sizes",
        ),
        ((X, y, weight[:3]), "sample_weight must have one value for each of the 211"),
    ]:
        with pytest.raises(ValueError, match=text):
            class_moments(*given)


def test_what_has_no_rows_is_refused(rows):
    bag = pytest.importorskip("dask.bag", reason="Dask's bags are not installed")
    from dask import delayed

    X, y, _ = arrays(rows, 50)
    for given, text in [
        ((delayed(rows[0]), y), "X must be a Dask array or data frame, got Delayed"),
        ((X, delayed(rows[1])), "y must be a Dask array or data frame, got Delayed"),
        ((X, bag.from_sequence(rows[1])), "y must be a Dask array .* got Bag"),
        ((X[:, :, None], y), r"X must have one or two dimensions, got .*211, 7, 1"),
    ]:
        with pytest.raises(ValueError, match=text):
            class_moments(*given)


def test_labels_in_columns(rows):
    X, y, _ = arrays(rows, 50)
    expected = GaussianAUCClassifier().fit(*rows[:2]).coef_
    found = GaussianAUCClassifier().fit(X, y[:, None]).coef_
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    two = da.stack([y, y], axis=1)  # in a chunk each
    with pytest.raises(ValueError, match=r"^y must .*, got shape \(\d+, 2\)"):
        GaussianAUCClassifier().fit(X, two)
