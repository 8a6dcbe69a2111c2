"""Classes that vary unlike each other: the noise of their mean difference."""

import numpy as np
import pytest
from oracles import dense_scatters

from skauc.adaptive._mixture import covariance_cells
from skauc.adaptive._prior import AdaptivePrior
from skauc.adaptive._spectrum import eigenbasis

ALONE = AdaptivePrior(leave_pair_out=False)


def noise(n, P, n_pos, spread, seed=0):
    """No feature tells the classes apart, but for how much it varies."""
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n) < n_pos)
    return rng.normal(size=(n, P)) * np.where(positive, spread, 1.0)[:, None], positive


@pytest.mark.parametrize("P", [100, 300])
@pytest.mark.parametrize("spread", [0.4, 2.5])
def test_noise_of_the_mean_difference_by_the_scatters(P, spread):
    X, positive = noise(80, P, 20, spread)
    _, W0, W1, _ = dense_scatters(X, positive)
    neg, pos = np.trace(W0) / 59, np.trace(W1) / 19
    pooled = np.trace(W0 + W1) / 78
    expected = (neg / 60 + pos / 20) / (pooled / 60 + pooled / 20)
    eigen = eigenbasis(X, positive, winsorize=None)
    assert eigen.unlike == pytest.approx(expected, rel=1e-6)
    assert (eigen.unlike > 1) == (spread > 1)
    assert eigen.h == pytest.approx(15 / expected, rel=1e-6)
    other = eigenbasis(X, ~positive, winsorize=None)
    assert other.unlike == pytest.approx(eigen.unlike, rel=1e-6)


def test_rows_written_twice_or_weighing_two_have_the_same_noise():
    X, positive = noise(60, 100, 12, 2.0)
    twice = eigenbasis(np.vstack([X, X]), np.append(positive, positive))
    heavy = eigenbasis(X, positive, np.full(60, 2.0))
    assert heavy.unlike == pytest.approx(twice.unlike, rel=1e-6)


@pytest.mark.parametrize("n_pos", [1, 6, 30])
def test_classes_that_may_well_vary_alike_are_pooled(n_pos):
    for seed in range(5):
        eigen = eigenbasis(*noise(60, 80, n_pos, 1.0, seed))
        assert eigen.unlike == 1.0
        assert eigen.h == pytest.approx(n_pos * (60 - n_pos) / 60)


def test_rows_that_see_every_direction_need_no_trace():
    eigen = eigenbasis(*noise(60, 20, 12, 3.0))
    assert eigen.null == 0
    assert eigen.unlike == 1.0


def test_as_many_rows_in_both_classes_are_pooled_whatever_they_vary():
    eigen = eigenbasis(*noise(60, 200, 30, 3.0))
    assert eigen.unlike == pytest.approx(1.0)


def test_a_class_that_does_not_vary_has_no_noise():
    X, positive = noise(40, 90, 10, 0.0)
    X[positive] = X[positive][0]
    eigen = eigenbasis(X, positive, winsorize=None)
    # tr W₀/29n₀ over tr W₀/38 (1/n₀ + 1/n₁)
    assert eigen.unlike == pytest.approx((1 / 29 / 30) / ((1 / 30 + 1 / 10) / 38))


@pytest.mark.parametrize("covariance", ["common", "separate"])
@pytest.mark.parametrize(("n_pos", "spread"), [(12, 2.0), (48, 2.0), (12, 0.5)])
def test_a_null_expects_the_difference_that_there_is(covariance, n_pos, spread):
    sizes = []
    for seed in range(10):
        eigen = eigenbasis(*noise(60, 200, n_pos, spread, seed), winsorize=None)
        cells = list(covariance_cells(eigen, covariance))
        *_, best = sorted(cells, key=lambda cell: cell[1])
        sizes.append((eigen.d @ eigen.d, best[4] @ eigen.multiplicity))
    found, expected = np.mean(sizes, axis=0)
    # |d|² of 200 features and ten data sets varies by 3 %
    assert expected == pytest.approx(found, rel=0.15)


@pytest.mark.parametrize(("spread", "most"), [(1.5, 0.65), (2.0, 0.82)])
def test_a_small_class_that_varies_more_is_no_signal(spread, most):
    said = []
    for seed in range(6):
        X, positive = noise(60, 200, 12, spread, seed)
        w = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
        said.append(ALONE.learn(X, positive).project(w, X @ w).auc().mean())
    assert np.mean(said) < most  # .9 and .99 with one variance for both


@pytest.mark.parametrize(
    ("P", "n_pos", "spread", "far"),
    [
        (200, 12, 2.0, True),
        (200, 30, 3.0, True),
        (200, 12, 0.4, True),
        (20, 12, 3.0, True),
        (20, 30, 3.0, False),  # rows see both
        (20, 48, 3.0, False),  # and the larger one's noise is Σ's
        (200, 30, 1.2, False),
        (200, 12, 1.0, False),
    ],
)
def test_which_classes_vary_far_apart(P, n_pos, spread, far):
    X, positive = noise(60, P, n_pos, spread)
    for c in (positive, ~positive):
        assert eigenbasis(X, c).vary_far_apart == far


def spread_of(n, P, n_pos, ratio):
    """Classes whose mean variances have this ratio on these very rows."""
    X, positive = noise(n, P, n_pos, 1.0)
    for c in (positive, ~positive):
        X[c] -= X[c].mean(axis=0)
        X[c] /= np.sqrt(np.sum(X[c] ** 2) / (c.sum() - 1))
    X[positive] *= np.sqrt(ratio)
    return X, positive


@pytest.mark.parametrize(
    ("P", "n_pos", "ratio", "far"),
    [
        (20, 20, 1.9, False),  # noise 1.465 times that of one variance
        (20, 20, 2.8, True),  # 1.81 times
        (200, 50, 2.5, False),  # of as many rows in both classes once
        (200, 50, 3.6, True),
    ],
)
def test_how_far_apart_is_far(P, n_pos, ratio, far):
    eigen = eigenbasis(*spread_of(100, P, n_pos, ratio), winsorize=None)
    assert eigen.vary_far_apart == far


def test_three_standard_errors():
    # 65 = 1/(1/200 + 1/97) directions: log s² errs by √(2/65 (1/79 + 1/19)) = .045
    some, more = (
        eigenbasis(*spread_of(100, 200, 20, ratio), winsorize=None)
        for ratio in (1.1, 1.25)
    )
    assert some.unlike == 1
    assert more.unlike > 1
