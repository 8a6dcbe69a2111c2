"""Rows in blocks as a matrix: the products, parts and moments of the array."""

import pickle
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from skauc import RowBlocks, class_moments
from skauc.statistics import _block_matrix
from skauc.statistics._block_matrix import BlockMatrix, in_memory, rows_behind

EDGES = [0, 3, 3, 4, 25, 40]  # a block without rows, a block of one


def array(seed=0):
    return np.random.default_rng(seed).normal(size=(EDGES[-1], 5)) + 2


def matrix(X, make=np.asarray, **given):
    """Blocks numbered 0 to 4, of which 1 is empty."""
    parts = list(pairwise(EDGES))
    blocks = RowBlocks([(make(X[i:j]), np.zeros(j - i)) for i, j in parts])
    lengths = {k: j - i for k, (i, j) in enumerate(parts) if j > i}
    return BlockMatrix(blocks, lengths, X.shape[1], **given)


@dataclass(frozen=True)
class Rows:
    """The mask of some rows of the blocks, by their numbers among all."""

    numbers: tuple

    def of(self, block, names, known):
        first = EDGES[block.number]
        return np.isin(np.arange(first, first + len(block)), self.numbers)


@dataclass(frozen=True)
class FirstAboveTwo:
    """The mask of rows whose first feature is above 2."""

    def of(self, block, names, known):
        return block.X[:, 0] > 2


def some(lazy, rows):
    """A part of a matrix of all rows."""
    lengths = {
        k: int(np.sum((rows >= i) & (rows < j)))
        for k, (i, j) in enumerate(pairwise(EDGES))
    }
    lengths = {k: m for k, m in lengths.items() if m}
    return lazy.where(SimpleNamespace(node=Rows(tuple(rows))), lengths)


@pytest.fixture(params=["all", "some", "scaled", "sparse", "dask"])
def pair(request):
    """An array and the matrix that stands for it."""
    X = array()
    if request.param == "all":
        return X, matrix(X)
    if request.param == "some":
        rows = np.array([0, 5, 6, 20, 31, 39])  # of block 2 none is left
        return X[rows], some(matrix(X), rows)
    if request.param == "scaled":
        scaler = StandardScaler().fit(X[:10])
        return scaler.transform(X), matrix(X).behind(scaler)
    if request.param == "sparse":
        X[np.abs(X) > 2] = 0
        return X, matrix(X, sparse.csr_matrix)
    chunked = pytest.importorskip("dask.array")
    from skauc.distributed._dask_blocks import open_collections

    blocks = open_collections(chunked.from_array(X, chunks=((3, 1, 21, 15), 2)))
    return X, BlockMatrix(blocks, {0: 3, 1: 1, 2: 21, 3: 15}, 5)


def test_products(pair):
    X, lazy = pair
    w, W = np.arange(5.0), np.arange(10.0).reshape(5, 2)
    g = np.linspace(-1, 1, len(X))
    assert (lazy.shape, lazy.ndim) == (X.shape, X.ndim)
    assert len(lazy) == len(X)
    assert lazy @ w == pytest.approx(X @ w, rel=1e-14)
    assert lazy @ W == pytest.approx(X @ W, rel=1e-14)
    assert g @ lazy == pytest.approx(g @ X, rel=1e-12)
    assert lazy.T @ g == pytest.approx(X.T @ g, rel=1e-12)
    G = np.stack([g, g**2])
    assert G @ lazy == pytest.approx(G @ X, rel=1e-12)
    assert w @ lazy.T == pytest.approx(X @ w, rel=1e-14)
    assert lazy.gram(g**2) == pytest.approx(X.T @ (X * g[:, None] ** 2), rel=1e-12)
    assert lazy.min(axis=0) == pytest.approx(X.min(axis=0), rel=1e-14)


def test_a_product_is_remembered_and_not_shared(pair):
    X, lazy = pair
    w = np.ones(5)
    scores = lazy @ w
    scores[:] = 0
    assert lazy @ w == pytest.approx(X @ w, rel=1e-14)


@pytest.mark.parametrize(
    "rows",
    [slice(None, None, 3), slice(2, 5), [4, 0, 3, 3], np.array([], dtype=int)],
    ids=str,
)
def test_parts_come_in_the_order_asked(pair, rows):
    X, lazy = pair
    assert lazy[rows] == pytest.approx(X[rows], rel=1e-14)
    assert lazy[rows, [1, 0]] == pytest.approx(X[rows][:, [1, 0]], rel=1e-14)
    assert lazy[:, ::2] @ np.ones(3) == pytest.approx(X[:, ::2] @ np.ones(3))


def test_affine_features(pair):
    X, lazy = pair
    origin, scale = np.arange(5.0), np.array([1.0, 2.0, np.inf, 4.0, 5.0])
    expected = np.column_stack([(X - origin) / scale, np.ones(len(X))])
    assert lazy.affine(origin, scale, ones=True)[:] @ np.ones(6) == pytest.approx(
        expected.sum(axis=1)
    )
    assert in_memory(lazy.affine(origin, scale)) == pytest.approx(expected[:, :-1])


def test_parts_of_parts():
    X, whole = array(), matrix(array())
    lazy = some(whole, np.array([1, 2, 3, 24, 25, 30]))
    condition = SimpleNamespace(node=FirstAboveTwo())
    kept = [k for k in (1, 2, 3, 24, 25, 30) if X[k, 0] > 2]
    lengths = {0: 0, 3: 0, 4: 0}
    for k in kept:
        lengths[0 if k < 3 else 3 if k < 25 else 4] += 1
    part = lazy.where(condition, {k: m for k, m in lengths.items() if m})
    assert in_memory(part) == pytest.approx(X[kept])
    g = np.linspace(-1, 1, len(kept))
    assert g @ part == pytest.approx(g @ X[kept])
    scaler = StandardScaler().fit(X)
    behind = whole.behind(scaler).of_rows(part)
    assert in_memory(behind) == pytest.approx(scaler.transform(X)[kept])


@pytest.mark.parametrize("weighted", [False, True])
def test_moments(pair, weighted):
    X, lazy = pair
    positive = np.arange(len(X)) % 3 == 0
    weight = np.linspace(0, 2, len(X)) if weighted else None
    for featurewise in (False, True):
        expected = class_moments(X, positive, weight, featurewise=featurewise)
        found = class_moments(lazy, positive, weight, featurewise=featurewise)
        for one, other in zip(found, expected, strict=True):
            assert one.n == pytest.approx(other.n, rel=1e-14)
            assert one.mean == pytest.approx(other.mean, rel=1e-12)
            assert one.scatter == pytest.approx(other.scatter, rel=1e-11, abs=1e-12)


def test_featurewise_moments_of_all_rows(pair):
    X, lazy = pair
    found = lazy.moments()
    assert found.n == len(X)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.scatter, X.var(axis=0) * len(X), rtol=1e-11)


def test_sparse_rows_stay_sparse_behind_steps_that_keep_them_so():
    X = sparse.csr_matrix(np.eye(4))
    scaler = StandardScaler(with_mean=False).fit(X)
    assert sparse.issparse(rows_behind(X, None, (scaler,)))


def test_sketch_tells_data_apart(pair):
    _, lazy = pair
    assert lazy.sketch().shape == (2, 5)
    assert np.array_equal(lazy.sketch(), lazy.sketch())
    assert not np.allclose(matrix(array(1)).sketch(), matrix(array()).sketch())


def test_all_rows_are_made_up_to_a_limit(monkeypatch, pair):
    X, lazy = pair
    assert np.asarray(lazy) == pytest.approx(X)
    assert lazy.astype(float) is lazy
    monkeypatch.setattr(_block_matrix, "LARGEST_MADE", X.size - 1)
    message = f"X must hold at most 1 GiB .* got {len(X)} rows of 5 features"
    with pytest.raises(ValueError, match=message):
        np.asarray(lazy)
    assert lazy[:-1] == pytest.approx(X[:-1])


def test_is_not_copied_to_other_processes():
    with pytest.raises(TypeError, match="rows in blocks are not copied"):
        pickle.dumps(matrix(array()))
