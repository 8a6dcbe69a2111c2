"""What is kept between candidates: never rows, never more than stated, never stale."""

import gc
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifier

from skauc import (
    AdaptivePrior,
    NormalInverseWishart,
    auc_posterior,
    cbauc_score,
    cbauc_scorer,
    clear_cache,
    ebauc_score,
    make_cbauc_scorer,
)
from skauc.adaptive import _cache as cache_module
from skauc.adaptive._cache import CACHE, Cache, array_bytes


@pytest.fixture(autouse=True)
def _empty_cache():
    clear_cache()


@dataclass(frozen=True, eq=False)
class Kept:
    values: np.ndarray


def kept(n_bytes):
    return Kept(np.zeros(n_bytes, dtype=np.uint8))


def design(n, P, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, P))
    X[:, 0] += y
    return X, y


def ridge(X, y):
    return RidgeClassifier(alpha=3.0).fit(X, y)


# ------------------------------------------------------------------------- the cache


def test_bytes_count_what_views_keep_alive():
    large = np.zeros((100, 10))
    assert array_bytes(Kept(large[:1])) == large.nbytes
    assert array_bytes(Kept(large[:, ::3][::7])) == large.nbytes
    rows = sparse.csr_array(np.eye(5))
    expected = rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    assert array_bytes(rows) == expected
    assert array_bytes(Kept(None)) == array_bytes(3.0) == 0


def test_bytes_of_tuples_are_counted():
    assert array_bytes((np.zeros(4), (np.zeros(2), None), "x")) == 48


def test_limit_and_order():
    entry = 1000 + 1024
    cache = Cache(limit=3 * entry)
    made = []

    def ask(key, size=1000):
        def compute():
            made.append(key)
            return kept(size)

        return cache.remember(key, compute)

    a = ask("a")
    ask("b"), ask("c")
    assert cache.nbytes == 3 * entry
    assert ask("a") is a  # used again: the youngest now
    ask("d")
    assert (len(cache), cache.nbytes) == (3, 3 * entry)
    assert ask("a") is a
    assert made == ["a", "b", "c", "d"]
    ask("b")
    assert made[-1] == "b"
    ask("large", 10 * entry)  # not kept, and nothing else lost for it
    assert (len(cache), cache.nbytes) == (3, 3 * entry)
    ask("half", 2 * entry)
    assert cache.nbytes <= cache.limit
    cache.clear()
    assert (len(cache), cache.nbytes) == (0, 0)


def test_failure_is_not_kept():
    cache = Cache(limit=10_000)
    with pytest.raises(ZeroDivisionError):
        cache.remember("a", lambda: 1 / 0)
    assert len(cache) == 0


def test_threads_count_once():
    cache = Cache(limit=10 * 2024)
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(lambda k: cache.remember(k % 25, lambda: kept(1000)), range(2000))
        )
    assert cache.nbytes == 2024 * len(cache) <= cache.limit


# -------------------------------------------------------------------- what is in it


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(60, 5), (30, 400)])
def test_no_array_of_the_caller_stays_alive(shape, make):
    X, y = design(*shape)
    rows, labels, weight = make(X), y.astype(bool), np.full(len(y), 2.0)
    prior = AdaptivePrior()
    prior.learn(rows, labels, weight).reference()
    cbauc_scorer(ridge(rows, y), rows, y)
    # two models, a reference level, copied rows, bootstrap samples; of wide rows kernel
    # and factor
    kept = 5 if shape == (60, 5) and make is np.array else 7
    assert len(CACHE) == kept
    data = rows.data if sparse.issparse(rows) else rows
    dead = [weakref.ref(one) for one in (data, rows, labels, weight)]
    del rows, data, labels, weight
    gc.collect()
    assert [ref() for ref in dead] == [None] * 4
    assert len(CACHE) == kept


def test_memory_after_large_sets_are_gone():
    """Five held-out sets of 8 MB, scored and deleted; P > n kept a copy of each."""
    model = ridge(*design(50, 20_000))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for seed in range(5):
        X, y = design(50, 20_000, seed=seed)
        cbauc_scorer(model, X, y)
        del X, y
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    counted = CACHE.nbytes
    clear_cache()
    gc.collect()
    rest = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert counted < 5 * 0.3 * 8e6  # four slabs, and 1 value in 80 that is pulled in
    assert held < counted + 1e6  # what is counted is what is held
    assert rest < 1e6


def test_scores_and_single_features_are_not_kept():
    X, y = design(60, 2)
    cbauc_score(y, X[:, 0])
    ebauc_score(y, X[:, 0])
    auc_posterior(ridge(X[:, :1], y), X[:, :1], y)
    assert len(CACHE) == 0
    ours = auc_posterior(ridge(X, y), X, y)
    assert ours.leave_pair_out is not None
    assert len(CACHE) == 3  # the model, copied rows, the bootstrap samples


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_traces_of_the_classes_are_those_of_the_rows_at_hand(make):
    X, y = design(60, 3)
    scorer = make_cbauc_scorer(prior="paper", covariance="spherical")
    weight, prior = np.resize([1.0, 2.0], 60), NormalInverseWishart()
    for rows, labels, count in ((X, y, None), (2 * X, y, None), (X, 1 - y, weight)):
        model, rows = ridge(X, labels), make(rows)
        expected = auc_posterior(
            model, rows, labels, prior=prior, covariance="common", sample_weight=count
        )
        before = len(CACHE)
        found = [scorer(model, rows, labels, sample_weight=count) for _ in range(2)]
        assert len(CACHE) == before + 1
        w = np.ravel(model.coef_) / np.abs(model.coef_).max()
        learnt = prior.learn(rows, labels == 1, count, covariance="spherical")
        alone = learnt.project(w, rows @ w)
        assert found[0] == found[1] == pytest.approx(alone.auc().mean(), rel=1e-12)
        assert found[0] != pytest.approx(expected.mean(), rel=1e-6)
    cbauc_score(y, X[:, 0], covariance="spherical", prior="paper")
    assert len(CACHE) == 3


@pytest.mark.parametrize("P", [5, 80])
def test_too_large_to_keep_is_the_same_answer(P, monkeypatch):
    X, y = design(40, P)
    expected = auc_posterior(ridge(X, y), X, y)
    clear_cache()
    monkeypatch.setattr(CACHE, "limit", 100)
    got = auc_posterior(ridge(X, y), X, y)
    assert len(CACHE) == 0
    assert (got.mean(), got.std()) == (expected.mean(), expected.std())


def test_the_limit_is_the_one_that_is_documented():
    assert CACHE.limit == 256 * 2**20
    assert "256 MiB" in clear_cache.__doc__
    assert cache_module.CACHE is CACHE


def test_eight_threads_and_twelve_sets_are_one_thread():
    sets = [design(40, P, seed=P) for P in range(25, 61, 3)]
    models = [ridge(X, y) for X, y in sets]
    expected = []
    for model, (X, y) in zip(models, sets, strict=True):
        clear_cache()
        expected.append(auc_posterior(model, X, y).mean())
    clear_cache()
    jobs = [*range(12), *range(11, -1, -1), *range(0, 12, 5)] * 2
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda k: auc_posterior(models[k], *sets[k]).mean(), jobs)
        assert list(found) == [expected[k] for k in jobs]
    # twelve models with copied rows and samples, seven kernels of P > n rows, factored
    assert len(CACHE) == 12 + 12 + 12 + 7 + 7


def test_threads_survive_clearing():
    X, y = design(40, 60)
    model = ridge(X, y)
    expected = auc_posterior(model, X, y).mean()

    def ask(k):
        if k % 3 == 0:
            clear_cache()
        return auc_posterior(model, X, y).mean()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(24))) == {expected}
    assert CACHE.nbytes <= CACHE.limit
