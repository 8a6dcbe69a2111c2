"""Ranks of blocks and of Dask collections: those of the concatenated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skauc import RowBlocks, auc_estimate, compare_auc
from skauc.intervals import _block_ranks
from skauc.statistics import _rank_sums, _row_blocks
from skauc.statistics._rank_sums import Runs

FROM_SUMS = (
    *("score", "hanley_mcneil_score", "delong", "bamber", "hanley_mcneil"),
    *("max_variance", "binormal", "bayesian"),
)
N = 250
rng = np.random.default_rng(5)
Y = rng.integers(0, 2, N)
SCORES = rng.normal(size=(N, 3)) + Y[:, None] * [0.5, 1.0, 1.5]
COUNTS = rng.integers(0, 4, N)


@pytest.fixture(params=["few", "one range", "many ranges"])
def path(request, monkeypatch):
    """Which way the ranks go: sent at once, or merged in one range or in many."""
    if request.param == "few":
        return
    monkeypatch.setattr(_block_ranks, "_FEW", 0)
    if request.param == "many ranges":
        monkeypatch.setattr(_rank_sums, "_QUANTILES", 20)
        monkeypatch.setattr(_row_blocks, "RANGE_ENTRIES", 30)


def cuts(n, how):
    """Edges of blocks: one row each, empty ones, one class each after sorting by y."""
    return {
        "one row": np.arange(1, n),
        "empty": np.array([0, 7, 7, n // 2, n]),
        "sevens": np.arange(7, n, 7),
        "whole": np.array([], dtype=int),
    }[how]


def as_blocks(how, *columns):
    at = cuts(len(columns[0]), how)
    parts = [np.split(column, at) for column in columns if column is not None]
    return RowBlocks(list(zip(*parts, strict=True)))


def collections(how, *columns):
    da = pytest.importorskip("dask.array", reason="needs the dask extra")
    n = len(columns[0])
    sizes = tuple(map(int, np.diff([0, *cuts(n, how), n])))
    return [None if c is None else da.from_array(c, chunks=(sizes,)) for c in columns]


def in_blocks(how, y, score, weight=None, **options):
    return auc_estimate(as_blocks(how, y, score, weight), **options)


def in_dask(how, y, score, weight=None, **options):
    y, score, weight = collections(how, y, score, weight)
    return auc_estimate(y, score, sample_weight=weight, **options)


WAYS = {"blocks": in_blocks, "dask": in_dask}


@pytest.fixture(params=WAYS)
def way(request):
    if request.param == "dask":
        dask = pytest.importorskip("dask", reason="needs the dask extra")
        with dask.config.set(scheduler="synchronous"):
            yield WAYS["dask"]
    else:
        yield WAYS["blocks"]


def assert_same(found, whole, methods=FROM_SUMS):
    assert found.auc == whole.auc
    assert (found.n_neg, found.n_pos) == (whole.n_neg, whole.n_pos)
    for method in methods:
        # rounding of two orders of summation
        assert found.standard_error(method) == pytest.approx(
            whole.standard_error(method), rel=1e-12
        ), method
        assert found.confidence_interval(method=method) == pytest.approx(
            whole.confidence_interval(method=method), rel=1e-11
        ), method


@pytest.mark.parametrize("how", ["one row", "empty", "sevens", "whole"])
@pytest.mark.parametrize("digits", [0, 1, 15])
@pytest.mark.parametrize("weight", [None, COUNTS, COUNTS.astype(float)])
def test_blocks_give_what_the_rows_give(path, how, digits, weight):
    score = SCORES[:, 0].round(digits)
    whole = auc_estimate(Y, score, sample_weight=weight)
    assert_same(in_blocks(how, Y, score, weight), whole)


@pytest.mark.parametrize("how", ["one row", "empty", "sevens"])
@pytest.mark.parametrize("weight", [None, COUNTS])
def test_collections_give_what_the_rows_give(path, how, weight):
    part = slice(100)
    weight = None if weight is None else weight[part]
    y, score = Y[part], SCORES[part, 0].round(1)
    whole = auc_estimate(y, score, sample_weight=weight)
    assert_same(in_dask(how, y, score, weight), whole)


def test_infinite_scores(path, way):
    score = SCORES[:, 0].copy()
    score[[1, 5, 200, 210, 211]] = [np.inf, -np.inf, np.inf, -np.inf, np.inf]
    found = way("sevens", Y, score)
    assert_same(found, auc_estimate(Y, score), FROM_SUMS[:6])
    with pytest.raises(
        ValueError, match="y_score must be finite for method='binormal'"
    ):
        found.standard_error("binormal")


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e290])
def test_weights_that_are_ratios(path, way, scale):
    weight = np.random.default_rng(3).random(N) * scale
    score = SCORES[:, 0].round(1)
    found, whole = (
        way("sevens", Y, score, weight),
        auc_estimate(Y, score, sample_weight=weight),
    )
    # sums of weights round
    assert found.auc == pytest.approx(whole.auc, rel=1e-13)
    sizes = whole.n_neg, whole.n_pos
    assert (found.n_neg, found.n_pos) == pytest.approx(sizes, rel=1e-13)
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers"):
        found.standard_error()
    assert "interval95" not in repr(found)


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (np.where(Y, "sick", "healthy"), {}),
        (np.where(Y, "sick", "healthy"), {"pos_label": "healthy"}),
        (np.where(Y, "sick", "healthy").astype(object), {"pos_label": "sick"}),
        (Y.astype(bool), {}),
        (Y * 2.0 - 1, {"pos_label": -1}),
        (Y, {"pos_label": 0}),
    ],
)
def test_labels(path, way, labels, options):
    score = SCORES[:, 0].astype(np.float32)
    found = way("sevens", labels, score, **options)
    assert_same(found, auc_estimate(labels, score, **options))


def test_blocks_of_one_class(path, way):
    order = np.argsort(Y, kind="stable")
    y, score = Y[order], SCORES[order, 0]
    assert_same(way("sevens", y, score), auc_estimate(y, score))


def test_a_score_of_one_value_and_a_heavy_tie(path, way):
    for score in (np.zeros(N), np.where(SCORES[:, 0] > 0, 0.0, SCORES[:, 0])):
        whole = auc_estimate(Y, score)
        assert_same(way("sevens", Y, score), whole, FROM_SUMS[:6])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(-3, 3), st.integers(1, 3)),
        min_size=2,
        max_size=30,
    ).filter(lambda rows: len({row[0] for row in rows}) == 2),
    st.integers(1, 30),
)
def test_auc_of_any_blocks_is_the_share_of_pairs(rows, step):
    """Against the definition: all pairs."""
    y, score, count = (np.array(column) for column in zip(*rows, strict=True))
    found = auc_estimate(
        RowBlocks(
            [
                (y[k : k + step], score[k : k + step], count[k : k + step])
                for k in range(0, len(y), step)
            ]
        )
    )
    gap = np.subtract.outer(np.repeat(score, count * y), np.repeat(score, count * ~y))
    assert found.auc == pytest.approx((np.sign(gap) / 2 + 0.5).mean(), rel=1e-15)


def test_unknown_sizes_and_data_frames():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    frame = pd.DataFrame(
        {"y": np.where(Y, "b", "a"), "s": SCORES[:, 0], "t": SCORES[:, 1]}
    )
    found = dd.from_pandas(frame, npartitions=7)
    found = found[found.s > -1]
    rows = frame[frame.s > -1]
    assert_same(auc_estimate(found.y, found.s), auc_estimate(rows.y, rows.s))
    result = compare_auc(found.y, found.s, found.t)
    whole = compare_auc(rows.y, rows.s, rows.t)
    assert result.difference == whole.difference
    assert result.standard_error == pytest.approx(whole.standard_error, rel=1e-12)


def test_named_blocks_need_no_order(tmp_path):
    whole = auc_estimate(Y, SCORES[:, 0], sample_weight=COUNTS)
    blocks = RowBlocks.from_arrays(SCORES[:, 0], Y, COUNTS, n_rows=9)
    assert_same(auc_estimate(blocks), whole)
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"s": SCORES[:, 0], "y": Y, "w": COUNTS}), file)
    blocks = RowBlocks.from_parquet(file, y="y", sample_weight="w", X="s")
    assert_same(auc_estimate(blocks), whole)


BAD = {
    "NaN": (
        Y,
        np.where(np.arange(N) == 205, np.nan, SCORES[:, 0]),
        None,
        "y_score must not be NaN, got nan in row 2, in chunk 29",
    ),
    "third label": (
        np.where(np.arange(N) == 205, 7, Y),
        SCORES[:, 0],
        None,
        "Only binary .* got 0, 1, 7, in chunk 29",
    ),
    "third label of a chunk": (
        np.where(np.arange(N) // 7 == 29, 7, Y),
        SCORES[:, 0],
        None,
        "Only binary .* got 0, 1, 7, in chunk 29",
    ),
    "texts": (
        Y,
        np.full(N, "a"),
        None,
        "y_score must hold real numbers .* in chunk ",
    ),
    "kinds": (
        np.array([*Y[:150].tolist(), *["a"] * 100], dtype=object),
        Y,
        None,
        "y_true must hold",
    ),
    "one class": (Y * 0, Y, None, "y_true must hold both classes, got only 0"),
    "continuous": (Y + 0.5, Y, None, "class labels, got continuous .*, in chunk "),
    "weight": (
        Y,
        Y,
        np.where(np.arange(N) == 14, -1, 1),
        "sample_weight must be >= 0, got -1.0 in row 0, in chunk 2",
    ),
    "zeros": (Y, Y, Y, "sample_weight must be positive .* in the negative class"),
    "huge": (Y, Y, np.full(N, 1.7e308), "sample_weight must be finite, got inf"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_rows_are_named_with_their_chunk(way, bad):
    y, score, weight, message = BAD[bad]
    with pytest.raises(ValueError, match=message):
        way("sevens", y, score, weight)


def test_collections_that_do_not_match():
    y, score = collections("sevens", Y, SCORES[:, 0])
    with pytest.raises(ValueError, match=f"y_score must .* {N} rows of y_true, got 35"):
        auc_estimate(y, SCORES[:35, 0])
    with pytest.raises(
        ValueError, match=f"y_true must .* the {N} rows of y_score, got"
    ):
        auc_estimate(Y[1:], score)
    with pytest.raises(ValueError, match="y_score must be a Dask collection as y_true"):
        auc_estimate(y, SCORES)
    with pytest.raises(ValueError, match=f"score_a must .* {N} rows of score_a, got"):
        compare_auc(y, score, score[1:])
    for rows in ((Y, score), (y, SCORES[:, 0])):
        assert auc_estimate(*rows).auc == auc_estimate(Y, SCORES[:, 0]).auc
    expected = compare_auc(Y, SCORES[:, 0], SCORES[:, 1])
    other = collections("sevens", SCORES[:, 1])[0]
    for rows in (
        (y, SCORES[:, 0], SCORES[:, 1]),
        (y, SCORES[:, 0], other),
        (Y, SCORES[:, 0], other),
    ):
        assert compare_auc(*rows).pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    short = collections("sevens", SCORES[1:, 0])[0]
    for column in (y, score, short):
        column._chunks = ((np.nan,) * len(column.chunks[0]),)
    with pytest.raises(ValueError, match="score_a must be a Dask collection as y_true"):
        compare_auc(y, SCORES[:, 0], score)
    with pytest.raises(
        ValueError, match=r"score_a and .* got \[\d+, \d+\] in chunk 35"
    ):
        compare_auc(y, score, short)


def test_one_weight_that_is_no_whole_number(way):
    weight = np.where(np.arange(N) == 100, 1.5, 1.0)
    found = way("sevens", Y, SCORES[:, 0], weight)
    whole = auc_estimate(Y, SCORES[:, 0], sample_weight=weight)
    assert found.auc == pytest.approx(whole.auc, rel=1e-13)


def test_bad_pos_label(way):
    with pytest.raises(ValueError, match="pos_label must be one of the labels 0, 1"):
        way("sevens", Y, SCORES[:, 0], pos_label=3)


def test_what_needs_the_rows_says_so(way):
    found = way("sevens", Y, SCORES[:, 0])
    whole = auc_estimate(Y, SCORES[:, 0])
    for ask in (
        found.plot,
        lambda: found.partial_auc(fpr=(0, 0.1)),
        lambda: found.confidence_interval(method="bootstrap"),
        lambda: found.confidence_interval(method="cortes_mohri", threshold=0.0),
    ):
        with pytest.raises(ValueError, match="scores one by one, .* pass arrays"):
            ask()
    options = {"method": "cortes_mohri", "n_errors": 30}
    limits = found.confidence_interval(**options)
    assert limits == whole.confidence_interval(**options)


def test_arguments_beside_blocks():
    blocks = RowBlocks([(Y, SCORES[:, 0])])
    with pytest.raises(ValueError, match="y_score and sample_weight must stand inside"):
        auc_estimate(blocks, SCORES[:, 0])
    with pytest.raises(ValueError, match="groups must be None for collections"):
        auc_estimate(blocks, groups=Y)
    with pytest.raises(ValueError, match="score_a and score_b must stand inside"):
        compare_auc(blocks, None, SCORES[:, 0])


def test_blocks_that_change_are_noticed(monkeypatch):
    monkeypatch.setattr(_block_ranks, "_FEW", 0)
    passes = iter(range(100))

    def blocks():
        n = N - 10 * next(passes)
        yield Y[:n], SCORES[:n, :2]

    with pytest.raises(ValueError, match="blocks must hold the same rows each time"):
        auc_estimate(RowBlocks(lambda: ((y, X[:, 0]) for y, X in blocks())))
    with pytest.raises(ValueError, match="blocks must hold the same rows each time"):
        compare_auc(RowBlocks(blocks))


def assert_same_comparison(found, whole):
    pairs = getattr(found, "pairs", (found,)), getattr(whole, "pairs", (whole,))
    for a, b in zip(*pairs, strict=True):
        assert (a.auc_a, a.auc_b) == (b.auc_a, b.auc_b)
        assert a.standard_error == pytest.approx(b.standard_error, rel=1e-12)
    if hasattr(found, "covariance"):
        np.testing.assert_allclose(found.covariance, whole.covariance, rtol=1e-12)
        assert (found.df, found.n_smallest) == (whole.df, whole.n_smallest)
        assert found.statistic == pytest.approx(whole.statistic, rel=1e-9)


ROUNDED = SCORES.round(1)
COMPARED = {
    "two": (ROUNDED[:, 0], ROUNDED[:, 1]),
    "three": tuple(SCORES.T),
    "same ranking": (SCORES[:, 0], 2 * SCORES[:, 0]),
    "one row apart": (ROUNDED[:, 0], ROUNDED[:, 0] + 1e-9 * (np.arange(N) == 7)),
    "repeated": (ROUNDED[:, 0], ROUNDED[:, 1], ROUNDED[:, 0]),
}


@pytest.mark.parametrize("scores", COMPARED)
@pytest.mark.parametrize("weight", [None, COUNTS])
@pytest.mark.parametrize("way", ["blocks", "dask"])
def test_comparisons_give_what_the_rows_give(path, scores, weight, way):
    scores = COMPARED[scores]
    whole = compare_auc(Y, *scores, sample_weight=weight)
    if way == "blocks":
        found = compare_auc(as_blocks("empty", Y, np.stack(scores, axis=1), weight))
    else:
        y, w, *columns = collections("empty", Y, weight, *scores)
        import dask

        with dask.config.set(scheduler="synchronous"):
            found = compare_auc(y, *columns, sample_weight=w)
    assert_same_comparison(found, whole)


@pytest.mark.parametrize("options", [{}, {"margin": 0.05, "alternative": "greater"}])
def test_one_score_against_a_constant(options):
    whole = compare_auc(Y, SCORES[:, 0], constant=0.6, **options)
    for found in (
        compare_auc(as_blocks("sevens", Y, SCORES[:, 0]), constant=0.6, **options),
        compare_auc(*collections("sevens", Y, SCORES[:, 0]), constant=0.6, **options),
    ):
        assert found.pvalue == pytest.approx(whole.pvalue, rel=1e-10)


def test_a_perfect_score_against_a_constant():
    """Its variance is 0: the constant's takes its place."""
    whole = compare_auc(Y, Y, constant=0.6)
    found = compare_auc(as_blocks("sevens", Y, Y), constant=0.6)
    assert found.standard_error == pytest.approx(whole.standard_error, rel=1e-12)


@pytest.mark.parametrize("method", ["delong", "welch"])
def test_scores_of_other_rows(method):
    a, b = (Y[:150], SCORES[:150, 0]), (Y[150:], SCORES[150:, 1])
    whole = compare_auc(*a, b[1], y_true_b=b[0], method=method)
    a_dask, b_dask = collections("sevens", *a), collections("empty", *b)
    for found in (
        compare_auc(*a_dask, b_dask[1], y_true_b=b_dask[0], method=method),
        compare_auc(*a, b_dask[1], y_true_b=b_dask[0], method=method),
        compare_auc(RowBlocks([a]), y_true_b=RowBlocks([b]), method=method),
        compare_auc(*a, y_true_b=RowBlocks([b]), method=method),
        compare_auc(RowBlocks([a]), None, b[1], y_true_b=b[0], method=method),
    ):
        assert found.pvalue == pytest.approx(whole.pvalue, rel=1e-10)


def test_comparisons_that_need_the_rows_say_so():
    blocks = as_blocks("sevens", Y, SCORES[:, :2])
    for options in (
        {"method": "bootstrap"},
        {"method": "permutation"},
        {"fpr": (0, 1)},
    ):
        with pytest.raises(ValueError, match="pass arrays"):
            compare_auc(blocks, **options)
    with pytest.raises(ValueError, match="needs score_b or constant, got none"):
        compare_auc(as_blocks("sevens", Y, SCORES[:, 0]))
    with pytest.raises(ValueError, match="needs score_b or constant, got both"):
        compare_auc(blocks, constant=0.5)
    weights = as_blocks("sevens", Y, SCORES[:, :2], COUNTS + 0.5)
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers"):
        compare_auc(weights)
    odd = np.where(np.arange(2 * N).reshape(N, 2) == 411, np.nan, SCORES[:, :2])
    with pytest.raises(ValueError, match="score_b must not be NaN, .* in chunk 29"):
        compare_auc(as_blocks("sevens", Y, odd))
    one = RowBlocks([(np.arange(N) > 0, SCORES[:, :2])])
    with pytest.raises(ValueError, match="each class must hold at least 2 rows"):
        compare_auc(one)


def test_no_worker_sends_more_than_runs():
    """Parts travel in the smallest types: 10 bytes a row, 6 for single precision."""
    count = np.stack([1 - Y, Y], axis=1).astype(np.uint8)
    for dtype, size in ((np.float64, 10), (np.float32, 6)):
        runs = Runs.of(SCORES[:, 0].astype(dtype).astype(float), count).packed()
        assert runs.value.nbytes + runs.count.nbytes == size * N


@pytest.mark.parametrize("bare", [0, 3, 9])
@pytest.mark.parametrize("weight", [COUNTS / 4 + 0.5, COUNTS])
def test_blocks_without_weights_count_once(path, bare, weight):
    weight, score = weight.astype(float), SCORES[:, 0].round(1)
    parts = [slice(k, k + 25) for k in range(0, N, 25)]
    weight[parts[bare]] = 1.0
    whole = auc_estimate(Y, score, sample_weight=weight)
    blocks = [(Y[rows], score[rows], weight[rows]) for rows in parts]
    blocks[bare] = blocks[bare][:2]
    found = auc_estimate(RowBlocks(blocks))
    assert found.auc == pytest.approx(whole.auc, rel=1e-14)
    assert (found.n_neg, found.n_pos) == pytest.approx((whole.n_neg, whole.n_pos))


@pytest.mark.parametrize(
    ("rank", "scores", "often"),
    [(auc_estimate, SCORES[:, 0], 1), (compare_auc, SCORES, 2)],  # one for their number
)
def test_blocks_that_are_there_once_only(monkeypatch, rank, scores, often):
    monkeypatch.setattr(_block_ranks, "_FEW", 0)
    left = [[(Y, scores)]] * often
    with pytest.raises(ValueError, match="each time they are read, got none now"):
        rank(RowBlocks(lambda: left.pop() if left else []))


def test_scores_of_no_column():
    blocks = RowBlocks([(Y, SCORES[:, :0])])
    with pytest.raises(ValueError, match=r"score_a must hold one column .*250, 0\)"):
        compare_auc(blocks, constant=0.5)
