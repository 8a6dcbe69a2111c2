"""Many sparse rows by products with them, against their decomposition."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from skauc import AdaptivePrior, clear_cache
from skauc.adaptive import _ritz_basis, _spectrum
from skauc.adaptive._cross_validated import (
    _SEED,
    _fold_by_products,
    balanced_folds,
    cross_validated_spectrum,
    decreasing,
)
from skauc.adaptive._ritz_basis import (
    _SEED as SEED_OF_TRACE,
)
from skauc.adaptive._ritz_basis import (
    RitzBasis,
    RowProducts,
    _with_trace,
    density,
    nodes_of,
    on_nodes,
    reciprocal,
    ritz_of_difference,
)
from skauc.adaptive._spectrum import eigenbasis, row_keys, row_squares
from skauc.statistics._lanczos import random_signs


def texts(n=400, P=1500, topics=8, seed=0):
    """Rows of some topics' words, each of length 1; the classes prefer some topics."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 2 == 0
    usual = 1 / (np.arange(P) + 10.0)
    words = usual * np.exp(rng.normal(size=(topics, P)))
    words /= words.sum(axis=1, keepdims=True)
    mix = rng.dirichlet(np.full(topics, 0.4), n)
    mix[positive] *= np.linspace(0.6, 1.6, topics)
    mix /= mix.sum(axis=1, keepdims=True)
    counts = rng.poisson(60 * mix @ words)
    X = sparse.csr_array(np.log1p(counts))
    length = np.sqrt(X.multiply(X).sum(axis=1))
    return sparse.csr_array(X / length[:, None]), positive


@pytest.fixture
def by_products(monkeypatch):
    """Either way on the same rows."""

    def choose(whether):
        clear_cache()
        monkeypatch.setattr(_spectrum, "_GRAM_ROWS", 0 if whether else 10**9)
        monkeypatch.setattr(_spectrum, "_FEW_ROWS", 0)

    return choose


@pytest.mark.parametrize(
    ("n", "smaller", "varying", "products"),
    [
        (1000, 400, 5000, False),
        (1001, 400, 5000, True),
        (1001, 10, 5000, True),
        (1001, 9, 5000, False),
        (1001, 400, 1001, False),
        (1001, 400, 1002, True),
        (2000, 9, 5000, False),
        (2000, 400, 1500, False),
        (2001, 9, 1500, True),
    ],
)
def test_which_rows_go_by_products(n, smaller, varying, products):
    scale = np.append(np.ones(varying), np.zeros(10))
    positive = np.arange(n) < smaller
    assert _spectrum._takes_products(positive, scale) == products
    assert _spectrum._takes_products(~positive, scale) == products


CASES = {
    "topics": {},
    "one topic": {"topics": 1, "P": 3000},
    "few words": {"P": 500},
}


def both(by_products, function):
    out = []
    for whether in (False, True):
        by_products(whether)
        out.append(function())
    return out


def hats(nodes, values, mass):
    """A measure of the mass on nodes: against the hat function of each."""
    return np.array([mass @ np.interp(values, nodes, e) for e in np.eye(len(nodes))])


def few_rows(n=12, P=30, weighted=True):
    """So few that Lanczos' steps reach all dimensions; R as a full matrix."""
    rng = np.random.default_rng(6)
    Z = rng.gamma(1.0, size=(n, P)) * (rng.random((n, P)) < 0.5) * np.geomspace(3, 1, P)
    positive = np.arange(n) % 2 == 1
    root = np.sqrt(np.arange(n) % 3 + 1.0) if weighted else np.ones(n)
    return RowProducts.of_rows(sparse.csr_array(Z), root, positive), Z


def full(rows, Z):
    """R: weighted deviations from the weighted class means, of the rows that count."""
    count = rows.root.astype(float) ** 2
    R = np.zeros_like(Z)
    for c in (rows.positive, ~rows.positive):
        if (count[c] > 0).any():
            mean = np.average(Z[c], axis=0, weights=count[c])
            R[c] = np.sqrt(count[c])[:, None] * (Z[c] - mean)
    return R


def means_of(rows):
    Z, count = rows.Z.toarray().astype(float), rows.root.astype(float) ** 2
    classes = (~rows.positive, rows.positive)
    return np.array([np.average(Z[c], axis=0, weights=count[c]) for c in classes])


def eigen_of(R, dimensions):
    values, U = np.linalg.eigh(R @ R.T)
    values, U = values[-dimensions:], U[:, -dimensions:]
    return values, U, R.T @ U / np.sqrt(values)


def test_products_are_those_of_the_matrix(monkeypatch):
    rows, Z = few_rows()
    x = np.random.default_rng(0).normal(size=(30, 2))
    parts = {
        "all": rows,
        "some": rows.some(np.arange(12) > 4),
        "pos": rows.of_class(True),
        "neg": rows.of_class(False),
    }
    for part in parts.values():
        R = full(part, Z)
        np.testing.assert_allclose(part.scores(x), R @ x, atol=1e-4)
        v = R @ x
        np.testing.assert_allclose(part.transposed(v), R.T @ v, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(
            part.gram(v), R @ R.T @ v, atol=1e-5 * np.abs(R @ R.T @ v).max()
        )
    assert not parts["pos"].root[~rows.positive].any()
    assert not parts["neg"].root[rows.positive].any()
    # what is shared is not changed, what is kept is a copy
    assert rows.positive is parts["pos"].positive
    squares = row_squares(rows, means_of(rows))
    monkeypatch.setattr(_spectrum, "_BLOCK_SPARSE_ROWS", 3)  # some rows at a time
    np.testing.assert_allclose(row_squares(rows, means_of(rows)), squares, rtol=1e-12)
    R = full(rows, Z)
    np.testing.assert_allclose(squares, (R**2).sum(axis=1), rtol=1e-4)
    # |r|² ± rᵀd of rows without their weights
    d = np.random.default_rng(1).normal(size=30)
    r = R / rows.root[:, None]
    keys = (r**2).sum(axis=1) + np.where(rows.positive, 1, -1) * (r @ d)
    np.testing.assert_allclose(row_keys(rows, squares, R @ d), keys, rtol=1e-4)


def test_squares_of_rows_that_are_their_mean():
    Z = np.repeat(np.random.default_rng(0).normal(size=(2, 9)), 3, axis=0) * 1e3
    rows = RowProducts.of_rows(sparse.csr_array(Z), np.ones(6), np.arange(6) > 2)
    squares = row_squares(rows, Z[[0, 3]])
    assert (squares >= 0).all()
    assert squares.max() < 1
    Z = np.round(Z[:, :3] / 1e3 * 8)
    rows = RowProducts.of_rows(sparse.csr_array(Z), np.ones(6), np.arange(6) > 2)
    assert not row_squares(rows, Z[[0, 3]]).any()


def test_projections_are_those_of_the_eigenvectors():
    rows, Z = few_rows()
    R = full(rows, Z)
    values, _, V = eigen_of(R, 10)
    rng = np.random.default_rng(2)
    x, d = rng.normal(size=(30, 3)), rng.normal(size=30)
    nodes = np.geomspace(values[0] / 2, values[-1] * 2, 20)
    gap = (R @ d).astype(np.float32)
    basis = RitzBasis(rows, nodes, gap, ritz_of_difference(rows, gap), R @ d)
    square, cross, filtered, neg, pos = basis.project(x)
    g = 1 / (1 + nodes)
    inside = np.interp(values, nodes, g)
    for k in range(3):
        a, b = V.T @ x[:, k], V.T @ d
        for found, mass in ((square, a**2), (cross, a * b)):
            expected = hats(nodes, values, mass)
            near = 2e-3 * np.abs(expected).max()
            np.testing.assert_allclose(found[:, k], expected, atol=near)
        np.testing.assert_allclose(
            filtered(k, g, None), V @ (inside * a), atol=1e-4 * np.abs(inside).max()
        )
        s = R @ x[:, k]
        assert neg[k] == pytest.approx(np.sum(s[~rows.positive] ** 2), rel=1e-5)
        assert pos[k] == pytest.approx(np.sum(s[rows.positive] ** 2), rel=1e-5)
    np.testing.assert_allclose(
        basis.filtered(basis.of_difference, 0, g),
        V @ (inside * (V.T @ d)),
        atol=1e-4 * np.abs(inside).max(),
    )


KINDS = [("all", 2), ("some", 2), ("all", 1142), ("some", 1142), ("pos", 1142)]


@pytest.mark.parametrize(("which", "m"), KINDS)
def test_density_is_that_of_its_random_signs(monkeypatch, which, m):
    n, P = 14, 30
    rows, Z = few_rows(n, P)
    used = np.arange(n) > 1 if which == "some" else np.ones(n, bool)
    used = rows.positive if which == "pos" else used
    part = rows.some(used)
    R = full(part, Z)
    rank = {"all": 12, "some": 10, "pos": 6}[which]
    values, U, _ = eigen_of(R, rank)
    order = np.random.default_rng(3).permutation(n)
    assert _ritz_basis._NUMBERS // n == 1142
    monkeypatch.setattr(_ritz_basis, "_NUMBERS", m * n)
    s = np.empty((n, m))
    s[order] = random_signs(n, m, SEED_OF_TRACE)
    s[~used] = 0
    # less what R is blind to: the roots of each class
    for c in (used & rows.positive, used & ~rows.positive):
        u = np.where(c, rows.root, 0)
        if c.any():
            s -= np.outer(u, u @ s) / (u @ u)
    share = rank * np.mean((U.T @ s) ** 2 / np.sum(s**2, axis=0), axis=1)
    trace = np.sum(R**2)
    mean = share @ values / share.sum()
    apart = share @ (values - mean) ** 2
    tilted = share * (1 + (trace - share @ values) * (values - mean) / apart)
    found = density(part, order, trace, P)
    assert found.counts.sum() == pytest.approx(share.sum(), rel=1e-4)
    assert found.counts @ found.values == pytest.approx(trace, rel=1e-6)
    assert np.all(np.diff(found.values) >= 0)
    # Ritz values are eigenvalues here, but for zeros that are none by rounding
    some = found.values > values[0] / 2
    assert found.counts[~some].sum() < 1e-4
    nearest = np.abs(found.values[some, None] - values).argmin(axis=1)
    assert np.mean(np.abs(found.values[some] / values[nearest] - 1) < 1e-3) > 0.98
    at = np.bincount(nearest, found.counts[some], rank)
    # single precision, after as many steps as there are dimensions: eigenvalues that
    # are close take from each other
    np.testing.assert_allclose(np.cumsum(at), np.cumsum(tilted), rtol=5e-3)
    np.testing.assert_allclose(at, tilted, rtol=3e-2)
    of_positive = np.sum(U[rows.positive] ** 2, axis=0)
    assert np.mean(np.abs(found.share[some] - of_positive[nearest]) < 0.01) > 0.98


def test_few_signs_of_very_many_rows():
    n = 9000
    X = sparse.csr_array(np.linspace(0, 1, n)[:, None])
    rows = RowProducts.of_rows(X, np.ones(n), np.arange(n) % 2 == 0)
    found = density(rows, np.arange(n), n / 12, 1)
    # of two vectors one Ritz value that is not 0 each; there is one eigenvalue
    assert found.counts.size == 2
    np.testing.assert_allclose(found.values, n / 12, rtol=1e-3)


@pytest.mark.parametrize("m", [100, 1142])
def test_more_than_signs_may_count_too_few_is_the_number_of_features(monkeypatch, m):
    """Of x features that vary, up to .02 x + 4 √(2x/m) less."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(14, 3))  # three eigenvalues, where twelve may be
    order, positive = np.arange(14), np.arange(14) % 2 == 0
    rows = RowProducts.of_rows(sparse.csr_array(X), np.ones(14), positive)
    monkeypatch.setattr(_ritz_basis, "_NUMBERS", m * 14)
    trace = np.sum(full(rows, X) ** 2)
    seen = density(rows, order, trace, 12).counts.sum()
    # x (1 − .02) − 4 √(2/m) √x = seen
    b = 4 * np.sqrt(2 / m)
    x = ((b + np.sqrt(b**2 + 4 * 0.98 * seen)) / (2 * 0.98)) ** 2
    for nearly, expected in ((0.9995 * x, 0.9995 * x), (1.0005 * x, seen)):
        found = density(rows, order, trace, nearly)
        assert found.counts.sum() == pytest.approx(expected, rel=1e-6)


def test_a_feature_that_two_signs_hardly_see_is_one(monkeypatch):
    """They may count 4 dimensions too few: whatever is seen stands for it."""
    monkeypatch.setattr(_ritz_basis, "_NUMBERS", 2 * 14)
    order, positive = np.arange(14), np.arange(14) % 2 == 0
    seen = []
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(14, 1))
        rows = RowProducts.of_rows(sparse.csr_array(X), np.ones(14), positive)
        asked = rows, order, np.sum(full(rows, X) ** 2)
        seen.append(density(*asked, 12).counts.sum())
        assert density(*asked, 1).counts.sum() == pytest.approx(1)
    assert min(seen) < 0.1


def test_counts_are_tilted_to_the_trace():
    values, counts = np.array([1.0, 2.0, 5.0, 7.0]), np.array([4.0, 3.0, 2.0, 1.0])
    small = 2.0**-20
    where, found = _with_trace(small * values, counts, 30 * small)
    assert found @ where == pytest.approx(30 * small)
    where, found = _with_trace(values, counts, 30.0)
    np.testing.assert_array_equal(where, values)
    assert found.sum() == pytest.approx(10)
    assert found @ values == pytest.approx(30)
    # by a line in λ
    assert np.ptp(np.diff(found / counts) / np.diff(values)) < 1e-12
    # no trace is worth a count below 0 or another sum: then the values are in its unit
    two, others = np.full(4, 2.0), (12.3, 1.0, 1e9)  # 12.3: of 7 there were −½
    for some, trace in (*((values, t) for t in others), (two, 1.0)):
        where, found = _with_trace(some, counts, trace)
        np.testing.assert_array_equal(found, counts)
        np.testing.assert_allclose(where, some * trace / (counts @ some))
    assert len(_with_trace(np.empty(0), np.empty(0), 1.0)[0]) == 0


def test_nodes_are_even_in_the_logarithm():
    nodes = nodes_of(0.5, 80.0)
    assert (nodes[0], nodes[-1]) == (pytest.approx(0.5), pytest.approx(80))
    np.testing.assert_allclose(np.diff(np.log(nodes)), np.log(160) / (len(nodes) - 1))
    assert nodes_of(3.0, 3.01)[[0, -1]] == pytest.approx([3, 3.01])
    np.testing.assert_array_equal(nodes_of(3.0, 3.0), [3.0])
    np.testing.assert_array_equal(nodes_of(3.0, 2.0), [2.0])


def test_reciprocals_of_what_there_is():
    for unit in (1.0, 2.0**-40):
        found = reciprocal(unit * np.array([0.0, 1e-8, 4.0, 10.0]))
        np.testing.assert_array_equal(unit * found, [0, 0, 0.25, 0.1])
    np.testing.assert_array_equal(reciprocal(np.zeros(3)), np.zeros(3))


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_parts_of_the_basis(by_products, weighted, winsorize):
    """Of few rows the measures along d are exact, the others those of the density."""
    _, Z = few_rows()
    X, positive = sparse.csr_array(Z), np.arange(12) % 2 == 1
    weight = np.arange(12) % 3 + 1.0 if weighted else None
    slow, fast = both(
        by_products, lambda: eigenbasis(X, positive, weight, winsorize=winsorize)
    )
    nodes = fast.values
    np.testing.assert_allclose(fast.along_neg + fast.along_pos, nodes, rtol=1e-9)
    np.testing.assert_allclose(
        fast.b**2, hats(nodes, slow.values, slow.b**2), atol=1e-4 * (slow.b @ slow.b)
    )
    assert nodes[-1] == pytest.approx(slow.values[-1], rel=1e-3)
    assert fast.values @ fast.stands_for == pytest.approx(slow.values.sum(), rel=1e-5)
    for one, two in zip(slow.groups, fast.groups, strict=True):
        values, counts = two
        assert counts @ values == pytest.approx(one[0] @ np.ones_like(one[0]), rel=1e-5)
        assert values.max() == pytest.approx(one[0].max(), rel=1e-3)
    # classes hold what their share of each eigenvalue is, by the counts of the density
    rows = fast.basis.rows
    squares = row_squares(rows, means_of(rows))
    order = np.argsort(row_keys(rows, squares, fast.basis.gap), kind="stable")
    whole = density(rows, order, slow.values.sum(), fast.n_features)
    least = fast.basis.of_difference.values[0]
    least = least[least > 1e-6 * least.max()].min()
    assert nodes[0] == pytest.approx(min(whole.values[0], least), rel=1e-3)
    np.testing.assert_allclose(
        fast.stands_for, hats(nodes, whole.values, whole.counts), atol=1e-4
    )
    for along, share in (
        (fast.along_pos, whole.share),
        (fast.along_neg, 1 - whole.share),
    ):
        at = hats(nodes, whole.values, whole.counts * share)
        np.testing.assert_allclose(along * fast.stands_for, nodes * at, atol=1e-3)
    # at a node for which no eigenvalue stands: that of all, by least squares
    at = hats(nodes, whole.values, whole.counts * whole.share)
    empty = fast.stands_for == 0
    assert empty.any()
    usual = np.linalg.lstsq(fast.stands_for[:, None], at, rcond=None)[0]
    np.testing.assert_allclose(
        fast.along_pos[empty] / nodes[empty], usual[0], rtol=1e-3
    )
    assert fast.null == slow.null


def test_nodes_reach_all_ritz_values(monkeypatch, by_products):
    """Those of random signs, and those of the difference where they lie beyond."""
    by_products(True)
    monkeypatch.setattr(_ritz_basis, "_NUMBERS", 120)
    beyond = np.zeros(2, dtype=bool)
    for seed in range(6):
        X, positive = texts(60, 90, seed=seed)
        eigen = eigenbasis(X, positive)
        rows = eigen.basis.rows
        squares = row_squares(rows, means_of(rows))
        order = np.argsort(row_keys(rows, squares, eigen.basis.gap), kind="stable")
        whole = density(rows, order, squares.sum(), eigen.n_features).values
        some = eigen.basis.of_difference.values[0]
        some = some[some > 1e-6 * some.max()]
        ends = min(whole.min(), some.min()), max(whole.max(), some.max())
        assert eigen.values[[0, -1]] == pytest.approx(ends, rel=1e-5)
        beyond |= [some.min() < whole.min(), some.max() > whole.max() * (1 + 1e-4)]
    assert beyond.any()


@pytest.mark.parametrize(("P", "whether"), [(40, True), (40, False), (9, False)])
def test_three_rows_of_a_class_leave_two(by_products, P, whether):
    """Of two different rows nothing is left out; of three, one at a time."""
    _, Z = few_rows(16, P)
    by_products(whether)
    for k in (2, 3):
        positive, X = np.arange(16) < k, sparse.csr_array(Z)
        found = cross_validated_spectrum(eigenbasis(X, positive), X, positive)
        assert (found is None) == (k == 2)


def test_a_null_space_of_one_direction_has_a_variance(by_products):
    _, Z = few_rows(16, 15)
    wide = sparse.csr_array(np.column_stack([Z, np.zeros((16, 9))]))
    positive = np.arange(16) % 2 == 1
    by_products(True)
    eigen = eigenbasis(wide, positive)
    assert eigen.null == 1
    assert cross_validated_spectrum(eigen, wide, positive).null > 0


@pytest.mark.parametrize("alive", [5, 20, 40, 57])
def test_fewer_features_vary_than_there_are_rows(by_products, alive):
    X, positive = texts(60, alive)
    wide = sparse.csr_array(np.column_stack([X.toarray(), np.zeros((60, 80 - alive))]))
    w = wide[positive].mean(axis=0) - wide[~positive].mean(axis=0)

    def ask():
        learnt = AdaptivePrior().learn(wide, positive)
        return learnt.model.eigen, learnt.project(w, wide @ w).model_alone()

    (slow, exact), (fast, found) = both(by_products, ask)
    assert slow.n_features == fast.n_features == alive
    # 58 dimensions are nearly all of 59; of 58 random signs see few less well
    assert fast.stands_for.sum() == pytest.approx(alive, rel=0.1 if alive < 9 else 1e-9)
    assert fast.null == 0
    assert fast.values @ fast.stands_for == pytest.approx(slow.values.sum(), rel=0.02)
    assert found.mean() == pytest.approx(exact.mean(), abs=0.03)


def fold_of(Z, count, positive, out, signs):
    """A fold written with eigenvectors: squares of combinations of rows left out."""
    c = np.where(out, 0, count)
    means = np.array(
        [np.average(Z[k], axis=0, weights=c[k]) for k in (~positive, positive)]
    )
    size = np.array([c[~positive].sum(), c[positive].sum()])[positive.astype(int)]
    r = (Z - means[positive.astype(int)]).astype(float)
    R = np.sqrt(c)[:, None] * r
    values, _, V = eigen_of(R, 12)
    honest = np.where(out, count * size / (size + 1), 0.0)
    combined = (np.sqrt(honest)[:, None] * signs).T @ r
    square = np.mean((combined @ V) ** 2, axis=0)
    total = honest @ np.sum(r**2, axis=1)
    return values, square, total


@pytest.mark.parametrize("P", [12, 13, 40])
@pytest.mark.parametrize("first", [0, 4, 10])
def test_one_fold_by_products(first, P):
    n = 16
    rows, Z = few_rows(n, P)
    positive, count = rows.positive, rows.root.astype(float) ** 2
    out = (np.arange(n) >= first) & (np.arange(n) < first + 2)
    order = np.random.default_rng(5).permutation(n)
    signs = np.empty((n, 16))
    signs[order] = random_signs(n, 16, _SEED)
    values, square, total = fold_of(Z, count, positive, out, signs)
    trace = values.sum()
    seen = density(rows.some(~out), order, trace, P)
    nearest = np.abs(seen.values[:, None] - values).argmin(axis=1)
    many = np.bincount(nearest, seen.counts, 12)
    part = _fold_by_products(rows, out, order, P)
    n_out = count[out].sum()
    assert part.rows == pytest.approx(n_out)
    # largest first; the smallest of twelve features' has few digits of seven
    rtol = 0.05 if P == 12 else 0.003
    np.testing.assert_allclose(part.values, (square / many / n_out)[::-1], rtol=rtol)
    shares = (np.cumsum(many[::-1]) - many[::-1] / 2) / many.sum()
    np.testing.assert_allclose(part.shares, shares, atol=2e-3)
    null = max(total - square.sum(), 0) / max(P - 12, 1) / n_out
    assert part.null == pytest.approx(null, abs=1e-3 * total / n_out)


def test_a_fold_beside_rows_that_are_all_the_same_says_nothing():
    n = 16
    positive = np.arange(n) % 2 == 1
    Z = np.where(positive[:, None], 1.0, 2.0) * np.ones(30)
    out, order = np.arange(n) < 2, np.arange(n)
    Z[:2] = np.arange(60).reshape(2, 30)
    rows = RowProducts.of_rows(sparse.csr_array(Z), np.ones(n), positive)
    assert _fold_by_products(rows, out, order, 30) is None
    Z[2, 0] += 1.0  # one direction
    rows = RowProducts.of_rows(sparse.csr_array(Z), np.ones(n), positive)
    assert _fold_by_products(rows, out, order, 30) is not None


def test_a_null_space_of_one_feature_has_its_variance(by_products):
    _, Z = few_rows(16, 15)  # 16 rows less two means
    by_products(True)
    X, positive = sparse.csr_array(Z), np.arange(16) % 2 == 1
    eigen = eigenbasis(X, positive)
    assert eigen.null == pytest.approx(1, abs=1e-6)
    found = cross_validated_spectrum(eigen, X, positive)
    assert found.null > 1e-6 * eigen.values.max()


def test_folds_by_products_are_joined_at_their_shares(by_products):
    """All of them: folds by the keys of the rows, then the best decreasing fit."""
    _, Z = few_rows(16, 40)
    X, positive = sparse.csr_array(Z), np.arange(16) % 2 == 1
    weight = np.arange(16) % 3 + 1.0
    by_products(True)
    eigen = eigenbasis(X, positive, weight)
    rows = eigen.basis.rows
    r = rows.Z.toarray().astype(float) - means_of(rows)[positive.astype(int)]
    keys = (r**2).sum(axis=1) + np.where(positive, 1, -1) * (r @ eigen.d)
    fold = balanced_folds(keys, positive)
    order = np.argsort(keys)
    parts = [_fold_by_products(rows, fold == k, order, 40) for k in range(8)]
    many = eigen.stands_for[::-1]
    middle = np.array([many[:k].sum() + many[k] / 2 for k in range(len(many))])
    by_rows = np.array([p.rows for p in parts]) / weight.sum()
    values = sum(
        w * np.interp(middle / many.sum(), p.shares, p.values)
        for w, p in zip(by_rows, parts, strict=True)
    )
    found = cross_validated_spectrum(eigen, X, positive, weight)
    expected = best_decreasing(values, many)
    seen = many > 0
    np.testing.assert_allclose(found.values[::-1][seen], expected[seen], rtol=1e-4)
    assert found.null == pytest.approx(by_rows @ [p.null for p in parts], rel=1e-5)


def best_decreasing(values, weight):
    """min over i ≤ k of max over j ≥ k of the weighted mean of values i to j."""

    def mean(i, j):
        w = weight[i : j + 1]
        return values[i : j + 1] @ w / w.sum() if w.sum() > 0 else -np.inf

    n = len(values)
    return np.array(
        [
            min(
                max((mean(i, j) for j in range(k, n)), default=np.inf)
                for i in range(k + 1)
            )
            for k in range(n)
        ]
    )


def test_weighted_decreasing_is_the_nearest_decreasing_sequence():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=12), rng.uniform(0.2, 3, 12)
    found = decreasing(values, weight)
    np.testing.assert_allclose(found, best_decreasing(values, weight), atol=1e-12)
    found = decreasing(values, weight / 100)
    np.testing.assert_allclose(found, best_decreasing(values, weight), atol=1e-12)
    # neither of two without a weight counts more; beside one with a weight they do not
    np.testing.assert_allclose(decreasing([1.0, 4.0], [0.0, 0.0]), [2.5, 2.5])
    np.testing.assert_allclose(decreasing([1.0, 4.0], [0.0, 2.0]), [4.0, 4.0])
    np.testing.assert_allclose(decreasing([1.0, 4.0], [2.0, 0.0]), [1.0, 1.0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("winsorize", [2.5, None])
def test_functions_of_the_scatter(by_products, winsorize, weighted):
    X, positive = texts()
    weight = np.arange(400) % 3 + 0.0 if weighted else None
    slow, fast = both(
        by_products, lambda: eigenbasis(X, positive, weight, winsorize=winsorize)
    )
    assert isinstance(fast.basis, RitzBasis)
    assert (fast.n_neg, fast.n_pos) == (slow.n_neg, slow.n_pos)
    assert fast.null == slow.null
    np.testing.assert_allclose(fast.scale, slow.scale, rtol=1e-9)
    np.testing.assert_allclose(fast.d, slow.d, atol=1e-9)
    # tr W is known; log det(I + W/s) is that of 16 000 random signs
    trace = slow.values.sum()
    assert fast.values @ fast.stands_for == pytest.approx(trace, rel=1e-5)
    for s in (trace / 400, trace / 4000):
        exact = np.log1p(slow.values / s).sum()
        found = fast.stands_for @ np.log1p(fast.values / s)
        assert found == pytest.approx(exact, rel=3e-3)
        for one, two in zip(slow.groups, fast.groups, strict=True):
            exact = np.sum(one[1] * np.log1p(one[0] / s))
            assert np.sum(two[1] * np.log1p(two[0] / s)) == pytest.approx(
                exact, rel=5e-3
            )
        for name in ("along_neg", "along_pos"):
            exact = np.sum(getattr(slow, name) / (s + slow.values))
            found = getattr(fast, name) / (s + fast.values) @ fast.stands_for
            assert found == pytest.approx(exact, rel=0.02)
        inside = slow.b**2 @ (1 / (s + slow.values))
        assert fast.b**2 @ (1 / (s + fast.values)) == pytest.approx(inside, rel=1e-3)
    w = np.random.default_rng(1).normal(size=(X.shape[1], 2))
    one, two = (eigen.project(w, X @ w) for eigen in (slow, fast))
    for name in ("difference", "square_neg", "square_pos", "size"):
        np.testing.assert_allclose(
            getattr(two, name), getattr(one, name), rtol=1e-5, atol=1e-7
        )
    s, pairs = trace / 400, ((one, slow), (two, fast))
    inside = slow.b**2 @ (1 / (s + slow.values))
    exact, found = (e.square.T @ (1 / (s + v.values)) for e, v in pairs)
    np.testing.assert_allclose(found, exact, rtol=2e-3)
    # |xᵀ f(W) d|² ≤ xᵀ f(W) x · dᵀ f(W) d
    most = np.sqrt(exact * inside).max()
    exact, found = (e.cross.T @ (1 / (s + v.values)) for e, v in pairs)
    np.testing.assert_allclose(found, exact, atol=3e-3 * most)
    for k in range(2):
        exact = one.filtered(k, 1 / (s + slow.values), X)
        found = two.filtered(k, 1 / (s + fast.values), X)
        assert np.linalg.norm(found - exact) < 5e-3 * np.linalg.norm(exact)
        several = np.outer(1 / (s + fast.values), [3, -1])
        # The rows are of single precision
        np.testing.assert_allclose(
            two.filtered(k, several, X),
            np.outer(found, [3, -1]),
            atol=1e-5 * np.abs(found).max(),
        )
    exact = slow.filtered_difference(1 / (s + slow.values), X)
    found = fast.filtered_difference(1 / (s + fast.values), X)
    assert np.linalg.norm(found - exact) < 2e-3 * np.linalg.norm(exact)


@pytest.mark.parametrize("case", CASES)
def test_cross_validated_variances(by_products, case):
    X, positive = texts(**CASES[case])

    def ask():
        eigen = eigenbasis(X, positive)
        return eigen, cross_validated_spectrum(eigen, X, positive)

    (slow, exact), (fast, found) = both(by_products, ask)
    assert found.null == pytest.approx(exact.null, rel=0.03)
    assert np.all(np.diff(found.values) >= 0)
    # along directions of all rows, as a candidate's, and along the difference
    w = np.random.default_rng(1).normal(size=(X.shape[1], 1))
    for x in (w, X.T @ (X @ w), slow.d[:, None] * slow.scale[:, None]):
        one, two = (eigen.project(x, X @ x).square[:, 0] for eigen in (slow, fast))
        assert found.along(two) == pytest.approx(exact.along(one), rel=0.05)


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_auc_of_the_model(by_products, case, permuted):
    X, positive = texts(**CASES[case])
    if permuted:
        positive = np.random.default_rng(3).permutation(positive)
    w = X[positive].mean(axis=0) - X[~positive].mean(axis=0)

    def ask():
        learnt = AdaptivePrior().learn(X, positive)
        return learnt.project(w, X @ w).model_alone()

    slow, fast = both(by_products, ask)
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.004)
    assert fast.std() == pytest.approx(slow.std(), rel=0.1, abs=0.002)


def test_order_of_rows_and_names_of_classes_do_not_matter(by_products):
    X, positive = texts()
    w = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    by_products(True)
    order = np.random.default_rng(2).permutation(400)
    means = [
        AdaptivePrior().learn(rows, c).project(v, rows @ v).model_alone().mean()
        for rows, c, v in (
            (X, positive, w),
            (X[order], positive[order], w),
            (X, ~positive, -w),
        )
    ]
    np.testing.assert_allclose(means, means[0], atol=1e-5)


def test_measures_keep_their_mass_and_mean():
    nodes = np.geomspace(1, 100, 30)
    values = np.random.default_rng(0).uniform(1, 100, 200)
    mass = np.random.default_rng(1).uniform(size=200)
    found = on_nodes(nodes, values, mass)
    assert found.sum() == pytest.approx(mass.sum())
    assert found @ nodes == pytest.approx(mass @ values)
    # beyond the ends they stand at the ends
    np.testing.assert_allclose(
        on_nodes(nodes, np.array([0.5, 200]), np.array([2.0, 3.0]))[[0, -1]], [2, 3]
    )
    assert on_nodes(np.array([5.0]), values, mass) == pytest.approx(mass.sum())


@pytest.mark.parametrize("n", [1100, 4000])
def test_no_square_of_the_rows(n):
    X = sparse.csr_array(sparse.random(n, 6000, 0.01, random_state=0))
    positive = np.arange(n) % 3 == 0
    w = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    clear_cache()
    tracemalloc.start()
    learnt = AdaptivePrior().learn(X, positive)
    learnt.project(w, X @ w).model_alone()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # some vectors of n and of P numbers beside a copy of the rows
    size = X.data.nbytes + X.indices.nbytes
    assert peak < (3 if n == 4000 else 9) * size
    assert isinstance(learnt.model.eigen.basis, RitzBasis)


def beside(columns, P=1500):
    """Some columns beside empty ones."""
    n, k = columns.shape
    empty = sparse.csr_array((n, P - k))
    return sparse.csr_array(sparse.hstack([sparse.csr_array(columns), empty]))


@pytest.mark.parametrize("k", [2, 3, 60, 200])
def test_fewer_features_that_vary_than_rows(by_products, k, monkeypatch):
    """Signs count their rank with an error: it may not leave a null space below 0."""
    X, positive = texts()
    monkeypatch.setattr(_spectrum, "_MOST_ROWS", 0)
    X = beside(X.tocsc()[:, :k].toarray())
    slow, fast = both(by_products, lambda: eigenbasis(X, positive, None))
    assert isinstance(fast.basis, RitzBasis)
    assert fast.null == slow.null == 0
    assert all(many.sum() <= k * (1 + 1e-9) for _, many in fast.groups)
    one, two = both(by_products, lambda: model_of(X, positive))
    assert two == pytest.approx(one, abs=0.03)


def test_a_gram_matrix_where_fewer_features_vary(by_products):
    """Evidence then hangs on the smallest eigenvalues, which few steps do not tell."""
    X, positive = texts()
    X = beside(X.tocsc()[:, :200].toarray())
    by_products(True)
    assert not isinstance(eigenbasis(X, positive, None).basis, RitzBasis)


def model_of(X, positive, weight=None):
    """Mean AUC that the model alone gives the difference of the class means."""
    learnt = AdaptivePrior(leave_pair_out=False).learn(
        X, positive, weight, covariance="common"
    )
    w = np.asarray(X[positive].mean(axis=0) - X[~positive].mean(axis=0)).ravel()
    return learnt.project(w, X @ w).auc().mean()


def odd_rows(kind):
    X, positive = texts()
    if kind == "the label alone":
        return beside(1.0 * positive[:, None]), positive
    if kind == "one row of a class":
        return X, np.arange(400) == 7
    which = np.arange(400) % {"two rows": 2, "five rows": 5}[kind]
    positive = (which == 0) ^ (np.random.default_rng(2).random(400) < 0.3)
    return sparse.csr_array(X[which]), positive


@pytest.mark.parametrize(
    "kind", ["the label alone", "one row of a class", "two rows", "five rows"]
)
def test_odd_rows(by_products, kind, monkeypatch):
    monkeypatch.setattr(_spectrum, "_MOST_ROWS", 0)
    X, positive = odd_rows(kind)
    one, two = both(by_products, lambda: model_of(X, positive))
    assert two == pytest.approx(one, abs=0.05)


def test_weights_beyond_single_precision(by_products):
    X, positive = texts()
    weight = np.ones(400)
    weight[:5] = 1e-100
    one, two = both(by_products, lambda: model_of(X, positive, weight))
    assert two == pytest.approx(one, abs=0.01)


def test_features_far_from_the_origin(by_products):
    X, positive = texts()
    rng = np.random.default_rng(4)
    far = sparse.csr_array(1e6 + rng.normal(size=(400, 3)))
    X = sparse.csr_array(sparse.hstack([X, far]))
    slow, fast = both(
        by_products, lambda: eigenbasis(X, positive, None, winsorize=None)
    )
    s = slow.values.sum() / 400
    exact = np.log1p(slow.values / s).sum()
    found = fast.stands_for @ np.log1p(fast.values / s)
    assert found == pytest.approx(exact, rel=3e-3)
    along = slow.energy.sum(), fast.energy.sum()
    assert along[1] == pytest.approx(along[0], rel=0.01)


@pytest.mark.parametrize("share", [0.98, 1.02])
def test_single_precision_where_it_has_the_digits(by_products, share):
    """Not of class means beyond √1000 deviations, or of weights below 1e-18."""
    rng = np.random.default_rng(5)
    X, positive = rng.normal(size=(40, 60)), np.arange(40) % 4 == 0
    for c in (positive, ~positive):
        X[c] -= X[c].mean(axis=0)
    by_products(True)

    def kind(X, weight=None):
        rows = sparse.csr_array(X)
        eigen = eigenbasis(rows, positive, weight, winsorize=None, standardize=False)
        return eigen.basis.rows.Z.dtype

    # n P m² over the squares of the deviations
    far = X + np.sqrt(1000 * share * np.mean(X**2))
    assert kind(far) == (np.float64 if share > 1 else np.float32)
    weight = np.ones(40)
    weight[7] = (share / 1e9) ** 2  # the root's reciprocal is 1e9/share
    assert kind(X, weight) == (np.float32 if share > 1 else np.float64)
