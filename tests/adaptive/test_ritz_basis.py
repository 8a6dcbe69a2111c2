"""Many sparse rows by products with them, against their decomposition."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from skauc import AdaptivePrior, clear_cache
from skauc.adaptive import _spectrum
from skauc.adaptive._cross_validated import cross_validated_spectrum
from skauc.adaptive._ritz_basis import RitzBasis, on_nodes
from skauc.adaptive._spectrum import eigenbasis


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
    return X / np.sqrt(X.multiply(X).sum(axis=1))[:, None], positive


@pytest.fixture
def by_products(monkeypatch):
    """Either way on the same rows."""

    def choose(whether):
        clear_cache()
        monkeypatch.setattr(_spectrum, "_GRAM_ROWS", 0 if whether else 10**9)

    return choose


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
    # some vectors of n and of P numbers, and copies of the rows
    assert peak < 8 * n**2 / 2 if n == 4000 else peak < 24 * X.data.nbytes
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
