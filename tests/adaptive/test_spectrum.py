"""One decomposition against dense P×P algebra."""

import tracemalloc

import numpy as np
import pytest
from oracles import dense_scatters, repeat_rows, winsorised
from scipy import sparse

from skauc.adaptive import _spectrum
from skauc.adaptive._spectrum import eigenbasis
from skauc.adaptive._winsorised_rows import Clip


def design(n, P, seed=0):
    """Heavy tails, correlated features of unequal scales, unequal classes."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.standard_t(3, size=(n, P)) @ (np.eye(P) + rng.normal(size=(P, P)) / P)
    X = X * np.geomspace(0.1, 10, P) + rng.normal(size=P)
    X[positive] += 0.5
    return X, positive


def check_against_dense(eigen, X, positive, standardize=True, *, raw):
    scale, W0, W1, d = dense_scatters(X, positive, standardize)
    np.testing.assert_allclose(eigen.scale, scale, rtol=1e-10)
    np.testing.assert_allclose(eigen.d, d, rtol=1e-9, atol=1e-12)
    values, vectors = np.linalg.eigh(W0 + W1)
    keep = values > 1e-9 * values[-1]
    np.testing.assert_allclose(eigen.values, values[keep], rtol=1e-9)
    assert eigen.null == np.sum(~keep)
    V = vectors[:, keep]
    np.testing.assert_allclose(np.abs(eigen.b), np.abs(V.T @ d), atol=1e-9)
    for along, spectrum, W in (
        (eigen.along_neg, eigen.spectrum_neg, W0),
        (eigen.along_pos, eigen.spectrum_pos, W1),
    ):
        np.testing.assert_allclose(along, np.diag(V.T @ W @ V), atol=1e-9)
        size = min(len(spectrum), len(d))
        expected = np.sort(np.linalg.eigvalsh(W))
        np.testing.assert_allclose(
            np.sort(spectrum)[-size:], expected[-size:], atol=1e-9 * expected[-1]
        )
        assert expected[: len(d) - size] == pytest.approx(0, abs=1e-9 * expected[-1])
    w = np.random.default_rng(9).normal(size=(len(d), 3))
    view = eigen.project(w, raw @ w)
    for k in range(3):
        x = w[:, k] / scale
        size = np.linalg.norm(x)
        x = x / size
        assert view.size[k] == pytest.approx(size, rel=1e-10)
        assert view.difference[k] == pytest.approx(x @ d, rel=1e-9)
        assert view.square_neg[k] == pytest.approx(x @ W0 @ x, rel=1e-9)
        assert view.square_pos[k] == pytest.approx(x @ W1 @ x, rel=1e-9)
        np.testing.assert_allclose(view.square[:, k], (V.T @ x) ** 2, atol=1e-9)
        # Signs of eigenvectors are free, their products are not.
        np.testing.assert_allclose(view.cross[:, k], (V.T @ x) * (V.T @ d), atol=1e-9)


@pytest.mark.parametrize(("n", "P"), [(40, 3), (30, 29), (30, 30), (30, 31), (20, 70)])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("winsorize", [2.5, 1.5, None])
def test_dense_algebra(n, P, standardize, winsorize):
    X, positive = design(n, P)
    eigen = eigenbasis(X, positive, winsorize=winsorize, standardize=standardize)
    rows = X if winsorize is None else winsorised(X, positive, winsorize)
    assert winsorize is None or not np.allclose(rows, X)
    check_against_dense(eigen, rows, positive, standardize, raw=X)
    assert (eigen.n_neg, eigen.n_pos) == ((~positive).sum(), positive.sum())


def test_winsorising_leaves_normal_data_their_variance(rng):
    X, positive = rng.normal(size=(200000, 1)), rng.random(200000) < 0.3
    eigen = eigenbasis(X, positive, winsorize=2.5)
    assert 1 / eigen.scale[0] == pytest.approx(1, rel=0.01)
    X[0] = 1e9
    one = eigenbasis(X[:2000], positive[:2000], winsorize=2.5)
    assert 1 / one.scale[0] < 1e8


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize(("n", "P"), [(30, 6), (30, 50)])
def test_sparse_is_dense(n, P, winsorize):
    X, positive = design(n, P)
    X[np.abs(X) < np.median(np.abs(X))] = 0
    dense = eigenbasis(X, positive, winsorize=winsorize)
    w = np.random.default_rng(0).normal(size=P)
    for make in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        loose = eigenbasis(make(X), positive, winsorize=winsorize)
        for name in ("scale", "d", "values", "along_neg", "along_pos"):
            np.testing.assert_allclose(
                getattr(loose, name), getattr(dense, name), rtol=1e-8, atol=1e-10
            )
        a, b = (basis.project(w, X @ w) for basis in (loose, dense))
        for name in ("difference", "square_neg", "square_pos", "size"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9)


@pytest.mark.parametrize("P", [40, 41, 60])
def test_primal_is_dual_at_the_border(P):
    """n = 40 rows: columns of zeros move P over the border and must not count."""
    X, positive = design(40, 12)
    wide = np.column_stack([X, np.zeros((40, P - 12))])
    a, b = eigenbasis(X, positive), eigenbasis(wide, positive)
    assert type(b.basis).__name__ == ("FeatureBasis" if P <= 40 else "RowBasis")
    assert (b.n_features, b.null) == (12, 0)
    np.testing.assert_allclose(a.values, b.values, rtol=1e-9)
    np.testing.assert_allclose(np.abs(a.b), np.abs(b.b), rtol=1e-7)
    w = np.random.default_rng(0).normal(size=P)
    one, two = a.project(w[:12]), b.project(w, wide @ w)
    for name in ("difference", "square_neg", "square_pos", "size"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-9)


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize("P", [4, 40])
def test_weights_repeat_rows(P, winsorize):
    X, positive = design(24, P)
    weight = np.random.default_rng(3).integers(0, 4, 24)
    one = eigenbasis(X, positive, weight.astype(float), winsorize=winsorize)
    repeated = repeat_rows(X, weight), repeat_rows(positive, weight)
    two = eigenbasis(*repeated, winsorize=winsorize)
    assert (one.n_neg, one.n_pos) == (two.n_neg, two.n_pos)
    np.testing.assert_allclose(one.values, two.values, rtol=1e-9)
    np.testing.assert_allclose(np.abs(one.b), np.abs(two.b), rtol=1e-8)
    w = np.random.default_rng(0).normal(size=P)
    a, b = one.project(w, X @ w), two.project(w, repeat_rows(X, weight) @ w)
    for name in ("difference", "square_neg", "square_pos", "size"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9)


@pytest.mark.parametrize("P", [4, 40])
@pytest.mark.parametrize("change", ["shift", "scale", "rows", "columns"])
@pytest.mark.parametrize("winsorize", [2.5, None])
def test_invariances(winsorize, change, P):
    X, positive = design(24, P)
    rng = np.random.default_rng(5)
    w = rng.normal(size=P)
    base = eigenbasis(X, positive, winsorize=winsorize)
    if change == "shift":
        Y, y, v = X + 100 * rng.normal(size=P), positive, w
    elif change == "scale":
        unit = 10 ** rng.uniform(-3, 3, P)
        Y, y, v = X * unit, positive, w / unit
    elif change == "rows":
        order = rng.permutation(24)
        Y, y, v = X[order], positive[order], w
    else:
        order = rng.permutation(P)
        Y, y, v = X[:, order], positive, w[order]
    moved = eigenbasis(Y, y, winsorize=winsorize)
    np.testing.assert_allclose(moved.values, base.values, rtol=1e-8)
    np.testing.assert_allclose(np.abs(moved.b), np.abs(base.b), atol=1e-8)
    a, b = base.project(w, X @ w), moved.project(v, Y @ v)
    for name in ("difference", "square_neg", "square_pos", "size"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-8)


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_far_from_the_origin_the_rank_is_that_of_the_deviations(make, winsorize):
    """24 rows less two class means, of which 4 pairs of rows are one row twice."""
    X, positive = design(24, 40)
    X[12:16], positive[12:16] = X[:4], positive[:4]
    for shift in (0.0, 100.0, 1e4):
        eigen = eigenbasis(make(X + shift), positive, winsorize=winsorize)
        assert len(eigen.values) == 24 - 2 - 4


@pytest.mark.parametrize("P", [4, 40])
def test_far_from_the_origin_nothing_is_lost(P):
    X, positive = design(24, P)
    far = X + 1e8
    one, two = eigenbasis(far - 1e8, positive), eigenbasis(far, positive)
    np.testing.assert_allclose(np.abs(two.b), np.abs(one.b), rtol=1e-4)
    V, W = (
        eigen.combine(np.eye(len(eigen.values)), rows)
        for eigen, rows in ((one, far - 1e8), (two, far))
    )
    # 1e-8 of a spread is what a score of these rows is rounded to
    np.testing.assert_allclose(np.abs(W), np.abs(V), atol=1e-5 * np.abs(V).max())


def test_excess_of_sparse_rows_is_that_of_dense_ones_less_a_row_a_class():
    """Also where it is the zeros that lie far out, of which there is no entry."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(90, 4)) * [1, 1, 1, 0.1] + [0, 0, 5, 10]
    X[rng.random(X.shape) < [0.5, 0.9, 0.05, 0.02]] = 0.0
    positive = np.arange(90) % 3 == 0
    clip = Clip.of(X, positive, None, 2.5)
    assert (np.abs(clip.means[:, 3]) > clip.bound[3]).all()
    alive = np.ones(4, dtype=bool)
    dense = clip.excess(X, positive, alive).toarray()
    assert dense[:, 3].any()
    less = dense - clip.excess(sparse.csr_array(X), positive, alive).toarray()
    for mask in (~positive, positive):
        np.testing.assert_allclose(less[mask], less[mask][:1].repeat(mask.sum(), 0))


@pytest.mark.parametrize("P", [4, 40])
def test_constant_and_duplicate_columns(P):
    X, positive = design(24, P)
    base = eigenbasis(X, positive)
    Y = np.column_stack([X, np.full(24, 1e6 + 0.1)])
    wide = eigenbasis(Y, positive)
    assert wide.n_features == P
    np.testing.assert_allclose(wide.values, base.values, rtol=1e-9)
    w = np.append(np.ones(P), 7.0)
    one, two = base.project(w[:-1], X @ w[:-1]), wide.project(w, Y @ w)
    assert two.difference == pytest.approx(one.difference)
    assert two.square_neg == pytest.approx(one.square_neg, rel=1e-8)
    twice = eigenbasis(np.column_stack([X, X]), positive)
    assert twice.null >= P  # rank at most P of 2P features
    np.testing.assert_allclose(twice.values, 2 * base.values, rtol=1e-8)
    half = twice.project(np.r_[w[:-1], w[:-1]] / 2, X @ w[:-1])
    # x has the same score: length 1/√2 of it before, so moments double.
    assert half.difference == pytest.approx(np.sqrt(2) * one.difference, rel=1e-9)
    assert half.square_neg == pytest.approx(2 * one.square_neg, rel=1e-9)


@pytest.mark.parametrize("P", [3, 40])
def test_feature_that_is_the_label(P):
    """Constant within both classes: scaled by its total spread, not dropped."""
    X, positive = design(24, P)
    X[:, 0] = positive
    eigen = eigenbasis(X, positive)
    share = positive.mean()
    assert eigen.scale[0] == pytest.approx(1 / np.sqrt(share * (1 - share)), rel=1e-9)
    only = np.zeros(P)
    only[0] = 1.0
    view = eigen.project(only, X @ only)
    assert view.square_neg + view.square_pos == pytest.approx(0, abs=1e-18)
    assert view.difference == pytest.approx(eigen.scale[0], rel=1e-9)


def test_direction_of_dead_features_ranks_nothing():
    X, positive = design(24, 3)
    X[:, 2] = 5.0
    view = eigenbasis(X, positive).project(np.array([0.0, 0.0, 1.0]))
    assert not view.alive[0]
    assert view.difference == 0


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_no_square_of_the_features(kind):
    rng = np.random.default_rng(0)
    positive = np.arange(30) % 2 == 0
    X = rng.normal(size=(30, 20000))
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.02, X, 0.0))
    w = rng.normal(size=20000)
    eigenbasis(X, positive)
    tracemalloc.start()
    eigenbasis(X, positive).project(w, X @ w)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 30 * 20000 * 8  # P² would be 3.2 GB


def cubes(n, P, kind):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, P)) ** 3 * (rng.random((n, P)) < 0.4)
    positive = np.arange(n) % 3 == 0
    return X, positive, sparse.csr_array(X) if kind == "sparse" else X


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize(("n", "P"), [(25, 60), (60, 8)])
def test_combine_is_the_transpose_of_project(n, P, winsorize, weighted, kind):
    X, positive, rows = cubes(n, P, kind)
    weight = np.arange(n) % 4 + 0.0 if weighted else None
    eigen = eigenbasis(rows, positive, weight, winsorize=winsorize)
    V = np.column_stack([eigen.combine(z, rows) for z in np.eye(len(eigen.values))])
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-8)
    np.testing.assert_allclose(V.T @ eigen.d, eigen.b, atol=1e-8)
    rng = np.random.default_rng(1)
    w = rng.normal(size=P)
    np.testing.assert_allclose(eigen.combine(np.eye(len(eigen.values)), rows), V)
    x = eigen.unit(w)
    assert np.linalg.norm(x) == pytest.approx(1)
    view, g = eigen.project(w, X @ w), rng.normal(size=len(eigen.values))
    np.testing.assert_allclose((V.T @ x) ** 2, view.square[:, 0], atol=1e-8)
    filtered = V @ (g * (V.T @ x))
    np.testing.assert_allclose(view.filtered(0, g, rows), filtered, atol=1e-8)
    several = view.filtered(0, np.column_stack([g, 2 * g]), rows)
    np.testing.assert_allclose(several, np.outer(filtered, [1, 2]), atol=1e-8)
    filtered = V @ (g * eigen.b)
    np.testing.assert_allclose(eigen.filtered_difference(g, rows), filtered, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_coordinates_are_the_deviations_along_the_eigenvectors(weighted):
    X, positive = design(12, 30)
    weight = np.arange(12) % 3 + 1.0 if weighted else None
    eigen = eigenbasis(X, positive, weight, winsorize=None)
    V = eigen.combine(np.eye(len(eigen.values)), X)
    mean = [
        np.average(X[c], axis=0, weights=None if weight is None else weight[c])
        for c in (~positive, positive)
    ]
    expected = (X - np.array(mean)[positive.astype(int)]) * eigen.scale @ V
    found = eigen.basis.coordinates()
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_pos", [8, 21, 22])
def test_classes_of_few_rows_have_the_eigenvalues_of_their_scatter(
    weighted, winsorize, n_pos
):
    """From their Gram matrix up to .7 of the features, with one constant, far away."""
    X, _ = design(60, 30)
    X[:, 4] = 1.5
    X += 1e3
    positive = np.arange(60) < n_pos
    weight = np.arange(60) % 3 + 1.0 if weighted else None
    eigen = eigenbasis(X, positive, weight, winsorize=winsorize)
    assert len(eigen.spectrum_pos) == (n_pos if n_pos < 22 else 29)
    assert len(eigen.spectrum_neg) == 29
    for c, spectrum in enumerate((eigen.spectrum_neg, eigen.spectrum_pos)):
        W = (eigen.basis.scatter_neg, eigen.basis.scatter_pos)[c]
        exact = np.linalg.eigvalsh(W)[-len(spectrum) :]
        np.testing.assert_allclose(spectrum, exact, atol=1e-9 * exact[-1])


def _single_and_double(monkeypatch, X, positive, weight=None, **options):
    found = eigenbasis(X, positive, weight, **options)
    monkeypatch.setattr(_spectrum, "is_even", lambda matrix: False)
    return found, eigenbasis(X, positive, weight, **options)


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize("weighted", [True, False])
def test_many_features_in_single_precision(monkeypatch, rng, weighted, winsorize):
    """Where no eigenvalue is small beside the largest."""
    X, positive = rng.normal(size=(1000, 400)), np.arange(1000) % 3 == 0
    X[positive, :9] += 0.3
    weight = rng.integers(1, 4, 1000).astype(float) if weighted else None
    options = {"winsorize": winsorize}
    found, slow = _single_and_double(monkeypatch, X, positive, weight, **options)
    basis = found.basis
    for part in (basis.vectors, basis.scatter_neg, basis.scatter_pos):
        assert part.dtype == np.float32
    assert slow.basis.vectors.dtype == float
    names = "values", "along_neg", "along_pos", "spectrum_neg", "spectrum_pos"
    for name in names:
        one, two = getattr(found, name), getattr(slow, name)
        assert one.dtype == float
        np.testing.assert_allclose(one, two, atol=1e-4 * two.max())
    np.testing.assert_array_equal(found.d, slow.d)
    np.testing.assert_allclose(np.abs(found.b), np.abs(slow.b), atol=1e-3)
    w = rng.normal(size=(400, 2)) * 1e30
    a, b = found.project(w), slow.project(w)
    for name in ("difference", "square_neg", "square_pos", "size"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-6)
    for power in (-1, 0.5):
        one, two = (
            e.filtered_difference(1e45 * e.values**power, X) for e in (found, slow)
        )
        np.testing.assert_allclose(one, two, atol=1e-5 * np.abs(two).max())
    assert found.combine(np.zeros(400)).tolist() == [0.0] * 400


@pytest.mark.parametrize("constant", [True, False])
def test_few_of_the_digits_keep_double_precision(monkeypatch, rng, constant):
    X, positive = rng.normal(size=(1000, 400)), np.arange(1000) % 3 == 0
    if constant:
        X[:, 7] = 2.0
    else:  # nearly another one, also of what winsorising leaves
        X[:, 7] = X[:, 6] + 1e-3 * X[:, 7]
    found, slow = _single_and_double(monkeypatch, X, positive)
    assert found.basis.vectors.dtype == float
    np.testing.assert_array_equal(found.values, slow.values)


def test_moments_of_a_caller_stay(rng):
    X, positive = rng.normal(size=(50, 4)), np.arange(50) % 2 == 0
    neg, pos = _spectrum.class_moments(X, positive)
    before = neg.scatter.copy(), pos.scatter.copy()
    _spectrum.eigenbasis_of_moments(neg, pos)
    np.testing.assert_array_equal((neg.scatter, pos.scatter), before)
