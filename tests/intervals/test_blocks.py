"""Scores in blocks and collections give what their concatenation gives."""

from itertools import pairwise

import numpy as np
import pytest
from values import same

from skauc import RowBlocks, auc_estimate, compare_auc, empirical_roc, operating_points


@pytest.fixture
def rows():
    rng = np.random.default_rng(4)
    y = np.array(["ill", "well"])[(np.arange(120) % 3 > 0).astype(int)]
    a = np.round(rng.normal(size=120) + (y == "well"), 1)
    return y, a, a + rng.normal(size=120), rng.integers(0, 3, 120)


def in_blocks(*columns, cuts=(0, 7, 7, 50, 120)):
    pairs = list(pairwise(cuts))
    return RowBlocks(lambda: (tuple(c[i:j] for c in columns) for i, j in pairs))


def in_dask(*columns):
    da = pytest.importorskip("dask.array")
    return [
        da.from_array(np.asarray(c), chunks=(50, *np.shape(c)[1:])) for c in columns
    ]


@pytest.mark.parametrize("weighted", [False, True])
def test_an_estimate_of_blocks_is_that_of_rows(rows, weighted):
    y, a, _, w = rows
    weight = w if weighted else None
    expected = auc_estimate(y, a, sample_weight=weight)
    blocks = auc_estimate(in_blocks(a, y, *([w] if weighted else [])))
    assert same(blocks, expected)
    parts = (of.partial_auc(fpr=(0, 0.2)) for of in (blocks, expected))
    assert same(*parts)
    labels, score, *weights = in_dask(y, a, *([w] if weighted else []))
    collection = auc_estimate(labels, score, sample_weight=(weights or [None])[0])
    assert same(collection, expected)


@pytest.mark.parametrize("k", [2, 3])
def test_comparisons_of_blocks_are_those_of_rows(rows, k):
    y, a, b, _ = rows
    scores = np.column_stack([a, b, a - b])[:, :k]
    expected = compare_auc(y, *scores.T)
    assert same(compare_auc(in_blocks(scores, y)), expected)
    assert same(compare_auc(*in_dask(y, *scores.T)), expected)


def test_blocks_of_different_rows(rows):
    y, a, b, _ = rows
    expected = compare_auc(y, a, b[:80], y_true_b=y[:80], method="welch")
    others = in_blocks(b[:80], y[:80], cuts=(0, 40, 80))
    how = {"y_true_b": others, "method": "welch"}
    assert same(compare_auc(in_blocks(a, y), **how), expected)
    assert same(compare_auc(y, a, **how), expected)
    constant = compare_auc(y, a, null=0.6)
    assert same(compare_auc(in_blocks(a, y), null=0.6), constant)


@pytest.mark.parametrize(
    ("row", "bad", "text"),
    [
        (60, np.nan, "y_score must not be NaN, got nan in row 10, in chunk 3"),
        (3, "x", "y_score must hold .*numbers, got 'x', in chunk 0"),
    ],
)
def test_a_bad_score_names_its_chunk(rows, row, bad, text):
    y, a, *_ = rows
    a = a.astype(object) if isinstance(bad, str) else a.copy()
    a[row] = bad
    with pytest.raises(ValueError, match=text):
        auc_estimate(in_blocks(a, y))


def test_what_blocks_refuse(rows):
    y, a, b, w = rows
    blocks = in_blocks(a, y)
    for call, text in [
        (lambda: auc_estimate(blocks, a), "must be inside the blocks"),
        (lambda: auc_estimate(blocks, groups=w), "groups must be None for collections"),
        (lambda: compare_auc(blocks, a, b), "must be inside the blocks"),
        (lambda: compare_auc(blocks), "needs either score_b or null, got none of them"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    mixed = RowBlocks([(a[:60], y[:60]), (a[60:], np.arange(60) % 2)])
    with pytest.raises(ValueError, match="y_true must hold labels of one kind"):
        auc_estimate(mixed)


@pytest.mark.parametrize("call", [auc_estimate, empirical_roc, operating_points])
def test_one_score_is_one_column(call):
    y = np.arange(6) % 2
    blocks = RowBlocks([(np.ones((6, 2)), y)])
    options = {"threshold": 1.0} if call is operating_points else {}
    with pytest.raises(ValueError, match="y_score must be one column .* got 2 columns"):
        call(blocks, None, **options)
