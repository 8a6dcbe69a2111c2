"""Rows in blocks on one machine: sums are those of the concatenated rows."""

import subprocess
import sys

import numpy as np
import pytest
from rows_in_blocks import assert_same_moments, cut, drawn

from skauc import GaussianAUCClassifier, RowBlocks, binormal_roc, class_moments
from skauc.statistics._row_blocks import gathered, row_blocks


@pytest.fixture
def rows(rng):
    return drawn(rng)


def test_map_keeps_the_order_and_leaves_out_empty_blocks(rows):
    blocks = RowBlocks(cut(rows[:2], [3, 0, 200, 8]))
    assert blocks.map(len) == [3, 200, 8]
    assert blocks.map(lambda block, more: block.number + more, 10) == [10, 12, 13]
    assert blocks.total(len) == 211


def test_a_function_that_begins_anew_is_read_as_often_as_asked(rows):
    reads = []

    def blocks():
        reads.append(None)
        return iter(cut(rows[:2], [100, 111]))

    source = RowBlocks(blocks)
    assert source.total(len) == source.total(len) == 211
    assert len(reads) == 2


def test_blocks_of_arrays_are_about_16_mebibytes():
    X = np.zeros((3 * 2**18, 8), dtype=np.float32)
    assert RowBlocks.from_arrays(X, X[:, 0] == 0).map(len) == [2**18] * 3


def test_arrays_are_no_blocks(rows):
    assert row_blocks(*rows) is None
    assert row_blocks(rows[0].tolist()) is None


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        (3, "blocks must be an iterable of tuples .X, y., .* got int"),
        ("ab", "blocks must be an iterable of tuples .* got str"),
        ((b for b in []), "blocks must be readable again, got an iterator"),
    ],
)
def test_what_cannot_be_read_again_is_refused(blocks, text):
    with pytest.raises(ValueError, match=text):
        RowBlocks(blocks)


def test_lengths_of_arrays_must_agree():
    with pytest.raises(ValueError, match=r"must have one length, got \[3, 2\]"):
        RowBlocks.from_arrays(np.zeros((3, 2)), np.zeros(2))


@pytest.mark.parametrize("n_rows", [0, -1, 2.5, True, "7"])
def test_rows_of_a_block_must_be_a_count(rows, n_rows):
    with pytest.raises(ValueError, match=r"n_rows must be a whole number >= 1, got"):
        RowBlocks.from_arrays(*rows, n_rows=n_rows)


def test_other_things_than_tuples_are_refused(rows):
    with pytest.raises(ValueError, match=r"tuples .* got ndarray in chunk 1"):
        class_moments(RowBlocks([rows[:2], rows[0]]))
    with pytest.raises(ValueError, match="must be inside the blocks, got further"):
        class_moments(RowBlocks([rows[:2]]), rows[1])


def test_an_empty_chunk_may_have_any_width(rows):
    empty = np.zeros((0, 99)), np.zeros(0, dtype=bool)
    blocks = RowBlocks([empty, rows[:2], empty])
    assert_same_moments(class_moments(blocks), class_moments(*rows[:2]))


@pytest.mark.slow
def test_dask_is_not_imported_before_a_collection_comes_in():
    code = (
        "import sys, skauc; X = [[0.0], [1.0], [3.0], [4.0]]; y = [0, 0, 1, 1];"
        "skauc.GaussianAUCClassifier().fit(skauc.RowBlocks([(X, y)]));"
        "assert not {'dask', 'distributed'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_of_frames_are_the_same_in_all_chunks(rows):
    frame = pytest.importorskip("pandas", reason="pandas is not installed").DataFrame
    X, positive, _ = rows
    table = frame(X, columns=list("abcdefg"))
    parts = [(table[:99], positive[:99]), (table[99:], positive[99:])]
    model = GaussianAUCClassifier().fit(RowBlocks(parts))
    assert model.feature_names_in_.tolist() == list("abcdefg")
    assert_same_moments(model.moments_, class_moments(X, positive))
    parts[1] = table.loc[99:, list("abcfedg")], positive[99:]
    with pytest.raises(ValueError, match=r"got 'f' in place of 'd', in chunk 1$"):
        class_moments(RowBlocks(parts))


def test_a_function_must_return_blocks():
    with pytest.raises(ValueError, match="got one that returns NoneType"):
        class_moments(RowBlocks(lambda: None))


def test_a_frame_of_one_column_is_that_column(rows):
    X, y, weight = rows
    columns = RowBlocks([(X, y[:, None], weight[:, None])])
    assert_same_moments(class_moments(columns), class_moments(X, y, weight))


BAD = {
    "complex": (lambda X: X + 1j, "X must hold real numbers .* complex128"),
    "objects": (lambda X: np.full(X.shape, "seven", object), "numbers, got 'seven'"),
    "three": (lambda X: X[:, :, None], "X must hold real numbers in one or two"),
    "number": (lambda X: 3.0, "X must be an array of rows, got 3.0"),
    "ragged": (lambda X: [[1.0], [1.0, 2.0]], "X must be an array of rows, got"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_chunk(rows, case):
    change, text = BAD[case]
    parts = cut(rows, [60, 151])
    parts[1] = (change(parts[1][0]), *parts[1][1:])
    with pytest.raises(ValueError, match=rf"{text}.*in chunk 1$"):
        class_moments(RowBlocks(parts))


def test_total_holds_two_results_at_a_time(rows):
    held = []

    class Result:
        def __init__(self):
            held.append(self)

        def __add__(self, other):
            assert len(held) <= 3
            held.clear()
            return Result()

    RowBlocks(cut(rows[:2], [1] * 211)).total(lambda block: Result())


def test_each_block_gets_its_own_argument(rows):
    blocks = RowBlocks(cut(rows[:2], [3, 0, 200, 8]))
    found = blocks.map(lambda *given: (len(given[0]), *given[1:]), 7, each={3: "c"})
    assert found == [(8, "c", 7)]
    assert blocks.total(lambda block, own: own * len(block), each={0: 2, 2: 1}) == 206


@pytest.mark.parametrize("edges", [[0, 9], [0, 2, 3, 9]])
def test_gathered_rows_are_the_arrays(edges):
    X, y = np.arange(18.0).reshape(9, 2), np.arange(9) % 2
    weight = np.array([0.5, 0, 1, 2, 0, 0.25, 1, 3, 0])
    blocks = RowBlocks(cut((X, y, weight), np.diff(edges)))
    for got, given in zip(gathered(blocks), (X, y, weight), strict=True):
        np.testing.assert_array_equal(got, given)
    got = gathered(RowBlocks(cut((X, y), np.diff(edges))))
    np.testing.assert_array_equal(got[0], X)
    assert got[2] is None
    texts = RowBlocks([(X[:2], np.arange(2)), (X[:2], np.array(["0", "1"]))])
    assert gathered(texts)[1].tolist() == [0, 1, "0", "1"]


def test_collections_are_refused_where_all_rows_are_needed(rows):
    model = GaussianAUCClassifier().fit(*rows)
    with pytest.raises(ValueError, match=r"^X must be .* a RowBlocks, .* predict on"):
        model.predict(RowBlocks([rows]))
    with pytest.raises(ValueError, match=r"^y_score must .*gathered; class_moments"):
        binormal_roc(rows[1], RowBlocks([rows]))
