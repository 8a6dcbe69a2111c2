"""Directions in place of scores: the same correlations, and memory without m·n."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from skauc import ResubstitutionSplit, cbauc_scorer, search_posterior
from skauc.intervals._projection import check_prior
from skauc.model_selection import _score_correlation as module
from skauc.model_selection._score_correlation import (
    Direction,
    SharedRows,
    correlation,
    shared_rows,
)
from skauc.model_selection._search_candidates import candidates_of

RNG = np.random.default_rng(4)
N, P = 700, 6
Y = RNG.random(N) < 0.3
Z = RNG.standard_normal((N, P)) @ RNG.standard_normal((P, P)) + 0.5 * Y[:, None]
W = RNG.standard_normal((P, 4))
pytestmark = pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")


def slowly(rows, W, weight):
    """Columns ``√w (s − mean of the class)``, from their definition."""
    score = rows @ W
    for c in (Y, ~Y):
        score[c] -= np.average(score[c], axis=0, weights=weight[c])
    return np.sqrt(weight)[:, None] * score


@pytest.mark.parametrize("block", [64, 2**16])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse", "float32", "integers", "far"])
def test_correlation_of_directions_and_vectors(monkeypatch, kind, weighted, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    rows, exact = Z, Z
    if kind == "sparse":
        rows = sparse.csr_array(Z)
    if kind == "float32":
        rows = Z.astype(np.float32)
        exact = rows.astype(float)
    if kind == "integers":
        exact = rows = np.rint(10 * Z).astype(int)
    if kind == "far":  # a power of 2: the differences of the rows are still exact
        exact = np.rint(2**20 * Z) / 2**20
        rows = exact + 2.0**30
    weight = 1.0 + np.arange(N) % 3 if weighted else None
    other = RNG.standard_normal(N)
    vectors = slowly(exact, W, np.ones(N) if weight is None else weight)
    vectors = np.column_stack([vectors, other, np.zeros(N)])
    wanted = vectors.T @ vectors
    size = np.sqrt(np.diag(wanted))
    size[-1] = 1.0
    parts = [Direction(w, 1.0) for w in W.T]
    parts += [1e-200 * other, np.zeros(N)]
    got = correlation(parts, SharedRows(rows, Y, weight))
    np.testing.assert_allclose(got, wanted / np.outer(size, size), 1e-12, 1e-13)
    assert np.diag(got).tolist() == [1] * 5 + [0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize(
    "steps", [[StandardScaler()], [SelectKBest(k=3)], [StandardScaler(), PCA(4)]]
)
def test_same_posterior_as_from_scores(monkeypatch, steps, frame, weighted):
    X = Z[:150]
    if frame:
        X = pytest.importorskip("pandas").DataFrame(X, columns=list("abcdef"))
    model = make_pipeline(*steps, LogisticRegression(max_iter=2000))
    name = "logisticregression__sample_weight"
    params = {name: 1.0 + np.arange(150) % 3} if weighted else {}
    grid = {"logisticregression__C": [1e-3, 0.1, 1.0]}
    options = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
    search = GridSearchCV(model, grid, **options).fit(X, Y[:150], **params)
    prior = check_prior("adaptive")
    found = candidates_of(search, X, Y[:150], prior, None, params).candidates
    assert all(isinstance(c.rows, Direction) for c in found)
    asked = {"fit_params": params, "random_state": 0}
    got = search_posterior(search, X, Y[:150], **asked)
    monkeypatch.setattr(SharedRows, "give", lambda *_: False)
    wanted = search_posterior(search, X, Y[:150], **asked)
    for name in ("mean", "covariance"):
        here, there = getattr(got.joint, name), getattr(wanted.joint, name)
        np.testing.assert_allclose(here, there, rtol=1e-12)
    bias = wanted.bias_of_best_score
    # of draws with a root of the covariance, which turns 1e-16 into 1e-8
    assert got.bias_of_best_score == pytest.approx(bias, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda: make_pipeline(PolynomialFeatures(2), RidgeClassifier()), Z),
        (LogisticRegression, Z[:5]),
    ],
    ids=["no affine step", "more features than rows"],
)
def test_when_scores_are_kept(make, rows):
    y = Y[: len(rows)].copy()
    y[:2] = False, True
    models = [make().fit(rows, y)]
    found = candidates_of(models, rows, y, check_prior("adaptive"), None).candidates
    assert found[0].rows.shape == (len(rows),)


def test_rows_that_are_no_numbers_are_not_shared():
    assert shared_rows([["a"], ["b"]], Y[:2], None).Z is None
    assert not shared_rows([["a"], ["b"]], Y[:2], None).give(Z, W[0])


def test_memory_does_not_grow_with_candidates_times_rows():
    """60 candidates more on 12 000 rows are 6 MB of scores."""
    n, more = 12_000, 60
    rows = RNG.standard_normal((n, 4))
    y = rows[:, 0] + RNG.standard_normal(n) > 0
    alphas = np.logspace(-2, 6, more + 20)
    models = [RidgeClassifier(alpha).fit(rows, y) for alpha in alphas]
    peak = []
    for some in (models[:20], models[:20], models):  # the first fills the cache
        tracemalloc.start()
        search_posterior(some, rows, y, n_draws=50)
        peak.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peak[2] - peak[1] < 0.25 * more * n * 8
