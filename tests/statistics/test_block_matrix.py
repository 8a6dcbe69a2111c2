"""Rows in blocks as a matrix: the products, rows and moments of the array."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from skauc import RowBlocks, class_moments
from skauc.statistics import _block_matrix
from skauc.statistics._block_matrix import BlockMatrix
from skauc.statistics._row_blocks import row_blocks
from skauc.statistics._rows import Rows

EDGES = [0, 3, 3, 4, 25, 40]  # a block without rows, a block of one


@pytest.fixture
def columns(rng):
    return rng.normal(size=(40, 5)) + 2, rng.random(40) < 0.4, np.arange(40.0) % 3


def in_blocks(X, *columns, make=np.asarray):
    parts = [slice(a, b) for a, b in pairwise(EDGES)]
    return RowBlocks([(make(X[p]), *(c[p] for c in columns)) for p in parts])


def chunked(X, y):
    da = pytest.importorskip("dask.array", reason="Dask's arrays are not installed")
    sizes = tuple(np.diff(EDGES))
    return row_blocks(da.from_array(X, (sizes, 2)), da.from_array(y, (sizes,)))


@pytest.fixture(params=["all", "some", "scaled", "sparse", "dask", "some of dask"])
def pair(request, columns):
    """An array and the matrix of the same rows."""
    X, y, _ = columns
    case = request.param
    if case == "sparse":
        X = X * (X > 2)
    kind = sparse.csr_matrix if case == "sparse" else np.asarray
    blocks = chunked(X, y) if "dask" in case else in_blocks(X, y, make=kind)
    matrix, labels, weight = BlockMatrix.of(blocks)
    np.testing.assert_array_equal(labels, y)
    assert weight is None
    if "some" in case:
        first, second = X[:, 0] > 1, np.arange(np.sum(X[:, 0] > 1)) % 4 > 0
        return X[first][second], matrix.where(first).where(second)
    if case == "scaled":
        scaler = StandardScaler().fit(X[:10])
        return scaler.transform(X), matrix.behind(scaler)
    return X, matrix


def test_products(pair):
    X, matrix = pair
    w, W = np.arange(5.0), np.arange(10.0).reshape(5, 2)
    g = np.linspace(-1, 1, len(X))
    assert (matrix.shape, len(matrix)) == (X.shape, len(X))
    assert matrix @ w == pytest.approx(X @ w, rel=1e-14)
    assert matrix @ W == pytest.approx(X @ W, rel=1e-14)
    assert g @ matrix == pytest.approx(g @ X, rel=1e-12)
    G = np.stack([g, g**2])
    assert G @ matrix == pytest.approx(G @ X, rel=1e-12)
    assert matrix.total(count, y=g > 0, weight=g) == pytest.approx(np.sum(g[g > 0]))


def count(block):
    return block.weight @ block.y


def test_rows_come_in_the_order_of_the_numbers(pair):
    X, matrix = pair
    slices = slice(None), slice(None, None, 3), slice(2, 5)
    mask, nothing = np.arange(len(X)) % 3 == 1, np.array([], dtype=int)
    for rows in (*slices, [4, 0, -1, 3, 3], nothing, mask):
        found = matrix[rows]
        found = found.toarray() if sparse.issparse(found) else found
        assert found == pytest.approx(X[rows], rel=1e-14)


def test_moments(pair):
    for weighted in [False, True]:
        for featurewise in [False, True]:
            X, matrix = pair
            positive = np.arange(len(X)) % 3 == 0
            weight = np.linspace(0, 2, len(X)) if weighted else None
            expected = class_moments(X, positive, weight, featurewise=featurewise)
            found = class_moments(matrix, positive, weight, featurewise=featurewise)
            for one, other in zip(found, expected, strict=True):
                assert one.n == pytest.approx(other.n, rel=1e-14)
                assert one.mean == pytest.approx(other.mean, rel=1e-12)
                assert one.scatter == pytest.approx(other.scatter, rel=1e-11, abs=1e-12)


def test_labels_and_weights_are_gathered(columns):
    X, y, weight = columns
    texts = np.where(y, "yes", "no")
    _, labels, found = BlockMatrix.of(in_blocks(X, texts, weight))
    np.testing.assert_array_equal(labels, texts)
    np.testing.assert_array_equal(found, weight)
    some = RowBlocks([(X[:9], y[:9]), (X[9:], y[9:], weight[9:])])
    _, _, found = BlockMatrix.of(some)
    np.testing.assert_array_equal(found, np.r_[np.ones(9), weight[9:]])


def test_rows_of_a_data_set(pair):
    """The key and the parts of ``Rows``, whose X stays in the blocks."""
    X, matrix = pair
    positive = np.arange(len(X)) % 2 == 0
    rows = Rows(matrix, positive, np.ones(len(X)))
    assert rows.shape == X.shape
    some = rows[positive].X
    some = some.toarray() if sparse.issparse(some) else some
    assert some == pytest.approx(X[positive])
    assert len(rows.key) == 20


def test_names_of_columns(columns):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y, _ = columns
    frame = pd.DataFrame(X, columns=list("abcde"))
    matrix = BlockMatrix.of(RowBlocks([(frame[:9], y[:9]), (frame[9:], y[9:])]))[0]
    assert matrix.feature_names == list("abcde")
    scaler = StandardScaler().fit(frame)
    matrix.check_names(scaler)
    scaled = matrix.behind(scaler)
    assert scaled.feature_names is None
    assert scaled[:] == pytest.approx(scaler.transform(frame))
    with pytest.raises(ValueError, match="got 'a' in place of 'b'"):
        matrix.check_names(StandardScaler().fit(frame[list("bacde")]))
    with pytest.raises(ValueError, match="X must have the 4 features .* got 5"):
        matrix.check_names(StandardScaler().fit(X[:, :4]))


def test_all_rows_come_into_memory_up_to_a_limit(monkeypatch, pair):
    X, matrix = pair
    rows = matrix[:]
    assert (rows.toarray() if sparse.issparse(rows) else rows) == pytest.approx(X)
    monkeypatch.setattr(_block_matrix, "LARGEST_ARRAY", X.size - 1)
    text = f"X must hold at most 1 GiB .* got {len(X)} rows of 5 features"
    with pytest.raises(ValueError, match=text):
        matrix[:]
    assert matrix[:-1].shape == (len(X) - 1, 5)


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ((np.full((2, 5), np.nan), [0, 1], [1, 1]), "X must be finite, got nan"),
        ((np.ones((2, 5)), [0, 1], [1, -1]), "sample_weight must be 0 or between"),
        ((np.ones(2), [0, 1], [1, 1]), "X must have 5 columns"),
    ],
)
def test_bad_blocks_are_named(columns, bad, text):
    blocks = RowBlocks([columns, tuple(map(np.asarray, bad))])
    with pytest.raises(ValueError, match=rf"{text}.* in chunk 1$"):
        BlockMatrix.of(blocks)
    X, y, _ = bad
    if "finite, got" in text:
        BlockMatrix.of(RowBlocks([columns, (X, np.array(y), np.zeros(2))]))
    with pytest.raises(ValueError, match="X must have at least one row, got only emp"):
        BlockMatrix.of(RowBlocks([]))
