"""Directions with few of the features: the rows know the variance along them."""

from dataclasses import replace

import numpy as np
import pytest

from skauc.adaptive import _mixture
from skauc.adaptive._prior import AdaptivePrior
from skauc.adaptive._spectrum import eigenbasis


def fitted_to_few(rng, n, P, s, share=0.5):
    """Rows, classes, and the discriminant of the first s features."""
    positive = np.arange(n) < share * n
    X = rng.standard_normal((n, P))
    w = np.zeros(P)
    halves = X[positive, :s], X[~positive, :s]
    W = sum((x - x.mean(axis=0)).T @ (x - x.mean(axis=0)) for x in halves)
    w[:s] = np.linalg.solve(W, halves[0].mean(axis=0) - halves[1].mean(axis=0))
    return X, positive, w


@pytest.mark.parametrize("covariances", [("common",), ("separate",)])
def test_variance_along_a_fitted_direction(covariances):
    """``q/(df − 2)`` is xᵀΣx of the truth, Σ = I, though w was fitted to the rows."""
    rng, ratio = np.random.default_rng(0), []
    for _ in range(60):
        X, positive, w = fitted_to_few(rng, 400, 45, 40)
        eigen = eigenbasis(X, positive, winsorize=None)
        cells = _mixture.mixture(eigen, covariances=covariances)
        view = eigen.project(w)
        _, _, q, df = cells.cells(view, 0)
        # scaled features have the variance scale²
        x = eigen.unit(w)
        ratio.append(
            np.ptp(q / (df - 2)) + q[0] / (df[0] - 2) / (x**2 @ eigen.scale**2)
        )
    error = np.std(ratio) / np.sqrt(len(ratio))
    assert np.mean(ratio) == pytest.approx(1, abs=3 * error)
    # (1 − s/n)⁻² is 1.235: neither 1 nor its root, 1.11
    assert error < 0.02


@pytest.mark.parametrize("covariances", [("common",), ("separate",), ("factors",)])
def test_squares_are_those_of_the_rows(covariances):
    """Of classes of unlike spread and size the mean of their own variances."""
    rng = np.random.default_rng(1)
    X, positive, w = fitted_to_few(rng, 300, 20, 4, share=0.2)
    X[positive] *= 2
    eigen = eigenbasis(X, positive, winsorize=None)
    found = _mixture.mixture(eigen, covariances=("common", *covariances))
    _, _, q, df = found.cells(eigen.project(w), 0)
    score = X @ w / np.linalg.norm(w * eigen.per_scale)
    growth = (1 - 4 / 300) ** -2
    pooled = sum(len(s) * s.var() for s in (score[positive], score[~positive])) / 298
    mean = np.mean([s.var(ddof=1) for s in (score[positive], score[~positive])])
    expected = growth * np.where(found.separate, mean, pooled)
    np.testing.assert_allclose(q / (df - 2), expected, rtol=1e-10)
    np.testing.assert_allclose(df[~found.separate], 300)


@pytest.mark.parametrize(
    ("s", "n_pos", "few"),
    [(6, 100, True), (21, 100, False), (6, 29, False), (40, 200, False)],
)
def test_few_features_of_many_rows(s, n_pos, few):
    """Fewer than all, and five rows of the smaller class for each."""
    rng = np.random.default_rng(2)
    X, positive, w = fitted_to_few(rng, 400, 40, s, share=n_pos / 400)
    eigen = eigenbasis(X, positive)
    assert _mixture.keeps_few(eigen, eigen.project(w), 0) == few


@pytest.mark.parametrize("shape", [(300, 100), (300, 600)])
def test_selected_signals_of_logistic_labels(shape):
    """Their spread within the classes is half of what independent features have."""
    n, P = shape
    rng, off, covered = np.random.default_rng(3), [], 0
    for _ in range(10):
        X, more = rng.standard_normal((n, P)), rng.standard_normal((20_000, 5))
        labels = [
            rng.random(len(x))
            < 1 / (1 + np.exp(-3 / np.sqrt(5) * x[:, :5].sum(axis=1)))
            for x in (X, more)
        ]
        w = np.zeros(P)
        w[:5] = 1
        score = more.sum(axis=1)
        pos, neg = np.sort(score[labels[1]]), np.sort(score[~labels[1]])
        truth = np.searchsorted(neg, pos).mean() / len(neg)
        learnt = AdaptivePrior(leave_pair_out=False).learn(X, labels[0])
        posterior = learnt.project(w, X @ w).auc()
        low, high = posterior.interval(0.95)
        off.append(posterior.mean() - truth)
        covered += low <= truth <= high
    assert abs(np.mean(off)) < 0.05  # with the covariance of all features −.08, −.10
    assert covered >= 9


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_feature_that_one_class_does_not_have(share):
    """Its variance within a class is 0: Σ̂ of all features knows better."""
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((200, 10)), np.arange(200) % 2
    X[:, 0] = y * (rng.random(200) >= share)
    w = np.eye(10)[0]
    learnt = AdaptivePrior(leave_pair_out=False).learn(X, y == 1)
    projection = learnt.project(w, X @ w)
    assert not _mixture.keeps_few(learnt.model.eigen, projection.view, 0)
    assert 0.5 < projection.auc().mean() <= 1
    fpr, tpr = projection.rates(0.5)
    assert 0 < fpr < tpr < 1


@pytest.mark.parametrize(("share", "few"), [(0.0095, False), (0.0105, True)])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("turned", [False, True])
def test_a_class_that_hardly_varies(share, few, unit, turned):
    """A hundredth of the variance of both, whatever their sizes."""
    rng = np.random.default_rng(7)
    X, positive = rng.standard_normal((300, 10)), np.arange(300) < 60
    spread = [X[c, 0].std() for c in (positive, ~positive)]
    # v of 60 rows and 1 of 240: of v/share = (60 v + 240)/300
    v = 240 * share / (300 - 60 * share)
    X[positive, 0] *= np.sqrt(v) / spread[0]
    X[~positive, 0] /= spread[1]
    eigen = eigenbasis(unit * X, positive != turned, winsorize=None, standardize=False)
    assert _mixture.keeps_few(eigen, eigen.project(np.eye(10)[0]), 0) == few


def test_no_feature_is_not_few():
    X, positive = (
        np.random.default_rng(8).standard_normal((300, 10)),
        np.arange(300) < 60,
    )
    eigen = eigenbasis(X, positive)
    assert not _mixture.keeps_few(eigen, eigen.project(np.zeros(10)), 0)


def test_noise_is_divided_by_the_variance_of_its_cell():
    """``x'(asI + W)x/(a + n − 2)``, of the rows themselves."""
    rng = np.random.default_rng(9)
    X, positive, w = fitted_to_few(rng, 60, 12, 3)
    eigen = eigenbasis(X, positive, winsorize=None, standardize=False)
    cells = _mixture.mixture(eigen, covariances=("common",))
    view = eigen.project(w)
    _, v, *_ = cells.cells(view, 0)
    _, noise = cells.difference(view, 0)
    x = eigen.unit(w)
    scores = (X * eigen.scale) @ x
    square = sum(len(s) * s.var() for s in (scores[positive], scores[~positive]))
    variance = (cells.a_scale + square) / (cells.a + 60 - 2)
    np.testing.assert_allclose(v, noise / variance, rtol=1e-10)


def test_what_is_unseen_is_no_axis():
    """Rotated coordinates of more features: no direction has few of these."""
    rng = np.random.default_rng(5)
    X, positive, w = fitted_to_few(rng, 400, 30, 30)
    eigen = eigenbasis(X, positive)
    view = eigen.project(w)
    more = replace(eigen, unseen=20)
    assert not _mixture.keeps_few(more, view, 0)
    less = eigen.project(np.where(np.arange(30) < 5, w, 1e-9 * w))
    assert less.support[0] == 5


@pytest.mark.parametrize("unit", [0.1, 10.0])
def test_noise_is_in_units_of_the_variance_it_was_computed_with(unit):
    """Under a sphere, one feature of another size: intervals are as wide as ever."""
    rng = np.random.default_rng(6)
    X, positive = rng.standard_normal((200, 20)), np.arange(200) % 2 == 0
    w = np.eye(20)[0]
    prior = AdaptivePrior(leave_pair_out=False, standardize=False)
    found = []
    for size in (1.0, unit):
        rows = X * np.where(w > 0, size, 1)
        learnt = prior.learn(rows, positive, covariance="spherical")
        cells = learnt.model.inverse_wishart.dense
        view = learnt.project(w, rows @ w).view
        _, noise = cells.difference(view, 0)
        _, v, q, df = cells.cells(view, 0)
        h = 50.0
        # k/h: what the mean difference of 200 rows does not tell, of the variance
        found.append(v * h)
        assert np.all(noise > 0)
        scaled = size * learnt.model.eigen.scale[0]
        assert (q / (df - 2))[0] == pytest.approx(scaled**2, rel=0.3)
        np.testing.assert_array_less(found[-1], 1.1)
