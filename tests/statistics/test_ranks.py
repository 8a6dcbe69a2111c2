"""Rank statistics against all pairs."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import skauc
from skauc.statistics._levels import (
    Levels,
    balanced_variance,
    empirical_auc,
    hanley_mcneil_variance,
    placements,
)

scores = st.lists(st.sampled_from([-np.inf, -2, 0, 0.5, 1, np.inf]), min_size=1)


def auc_of(neg, pos, *weights):
    positive = np.repeat([False, True], [len(neg), len(pos)])
    weight = np.concatenate(weights) if weights else None
    return empirical_auc(np.concatenate([neg, pos]), positive, weight)


# ----------------------------------------------------------------------- oracle


@settings(deadline=None, max_examples=60)
@given(neg=scores, pos=scores)
def test_all_pairs_with_ties(neg, pos):
    neg, pos = np.array(neg, float), np.array(pos, float)
    assert auc_of(neg, pos) == pytest.approx(oracles.pairwise_auc(neg, pos), abs=1e-14)
    for got, expected in zip(
        placements(neg, pos), oracles.loop_placements(neg, pos), strict=True
    ):
        np.testing.assert_allclose(got, expected, atol=1e-14)


def test_weights(rng):
    neg, pos = rng.integers(0, 6, 30) / 2, rng.integers(2, 8, 20) / 2
    weight_neg, weight_pos = rng.uniform(size=30), rng.uniform(size=20)
    weight_neg[:3] = 0
    got = auc_of(neg, pos, weight_neg, weight_pos)
    expected = oracles.pairwise_auc(neg, pos, weight_neg, weight_pos)
    assert got == pytest.approx(expected, rel=1e-13)
    sklearn = roc_auc_score(
        np.repeat([0, 1], [30, 20]),
        np.concatenate([neg, pos]),
        sample_weight=np.concatenate([weight_neg, weight_pos]),
    )
    assert got == pytest.approx(sklearn, rel=1e-12)


# -------------------------------------------------------------------------- law


def test_swap_monotone_permutation(rng):
    neg, pos = rng.integers(0, 12, 50) / 8, rng.integers(3, 15, 30) / 8
    auc = auc_of(neg, pos)
    assert auc_of(pos, neg) == pytest.approx(1 - auc, abs=1e-15)
    assert auc_of(neg**3, pos**3) == auc  # eighths: no rounding
    shuffled = rng.permutation(neg), rng.permutation(pos)
    assert auc_of(*shuffled) == pytest.approx(auc, rel=1e-14)
    v01, v10 = placements(neg, pos)
    assert v01.mean() == pytest.approx(v10.mean(), abs=1e-14)


# ------------------------------------------------------------------------- edge


def test_near_ties_one_ulp_apart():
    one = np.nextafter(1.0, 2.0)
    assert auc_of(np.array([1.0]), np.array([one])) == 0.5  # rounding of equal scores
    assert auc_of(np.array([one]), np.array([1.0])) == 0.5
    tiny = 5e-324
    assert auc_of(np.array([0.0]), np.array([tiny])) == 1.0
    assert auc_of(np.array([-tiny]), np.array([-0.0])) == 1.0
    assert auc_of(np.array([0.0]), np.array([-0.0])) == 0.5


def test_counts_are_whole_numbers_for_many_rows(rng):
    # 10⁶ + 10⁶ rows of 10 values: all pairs in closed form from the counts
    neg, pos = rng.integers(0, 10, 10**6), rng.integers(0, 10, 10**6)
    c0, c1 = np.bincount(neg).tolist(), np.bincount(pos).tolist()
    half_pairs = sum(
        c1[v] * (2 * sum(c0[:v]) + c0[v]) for v in range(10)
    )  # exact Python integers
    got = auc_of(neg.astype(float), pos.astype(float))
    assert got == half_pairs / (2 * 10**12)


def test_no_auc_is_above_one(rng):
    """Sums of weights in another order are some roundings larger than all of them."""
    neg, pos = np.arange(20.0), np.arange(20.0) + 30
    for w_neg, w_pos in rng.random((200, 2, 20)):
        assert auc_of(neg, pos, w_neg, w_pos) <= 1


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_joined_levels_keep_the_weights(unit, rng):
    neg, pos = rng.normal(size=90), rng.normal(size=50) + 1
    weight = [unit * rng.integers(1, 4, size) for size in (90, 50)]
    levels = Levels.of(neg, pos, *weight)
    for most in (3, 20):
        coarse = levels.coarse(most)
        assert most / 2 < len(coarse.value) <= most + 1
        for joined, every in ((coarse.neg, levels.neg), (coarse.pos, levels.pos)):
            below = np.searchsorted(levels.value, coarse.value[1:])
            expected = np.add.reduceat(every, np.append(0, below))
            np.testing.assert_allclose(joined, expected, rtol=1e-12)
    # each class has a half of every block, so that a smaller class is not joined first
    share = (coarse.neg / coarse.neg.sum() + coarse.pos / coarse.pos.sum()) / 2
    assert share.max() < 2 / 20


def test_newcombes_variance_is_that_of_equal_classes():
    """``V(A; m, m) m²/(n₀ n₁)`` with ``m = (n₀ + n₁)/2``: Newcombe (2006), method 5."""
    auc = np.array([0.5, 0.8, 0.99])
    expected = hanley_mcneil_variance(auc, 30, 30) * 30**2 / (20 * 40)
    np.testing.assert_allclose(balanced_variance(auc, 20, 40), expected, rtol=1e-14)


# ------------------------------------------------- scores that differ by rounding only

PATTERNS = np.array([-1.3, -0.4, 0.0, 0.2, 0.9, 2.1])
TRANSFORMED = {
    "decisions": lambda s: s,
    "probabilities": lambda s: 1 / (1 + np.exp(-s)),
    "tiny probabilities": lambda s: np.exp(9 * s - 60),
    "probabilities near 1": lambda s: 1 / (1 + np.exp(-s - 9)),
    "almost constant": lambda s: 0.5 + 1e-6 * s,
    "far from 0": lambda s: s + 1e5,
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_scores_of_equal_rows_are_ties(name, rng):
    pattern = rng.integers(0, 6, 203)
    y = rng.random(203) < 0.2 + 0.1 * pattern
    score = TRANSFORMED[name](PATTERNS)[pattern]
    size = np.abs(score)
    if score.min() < 0 < score.max():  # a difference of larger terms
        size = np.maximum(size, np.median(size))
    last_place = np.spacing(size)
    noisy = score + last_place * rng.integers(-1, 2, 203)
    assert len(np.unique(noisy)) > 6
    expected = roc_auc_score(y, pattern)
    levels = Levels.of(noisy[~y], noisy[y])
    assert levels.auc == pytest.approx(expected, abs=1e-14)
    assert len(levels.value) == 6
    assert empirical_auc(noisy, y) == pytest.approx(expected, abs=1e-14)
    weighted = empirical_auc(noisy, y, rng.integers(0, 3, 203) * 1.0)
    assert weighted != expected
    (_, level), ranks = Levels.of(noisy[:0], noisy).row_levels, np.unique(pattern)
    np.testing.assert_array_equal(level, np.searchsorted(ranks, pattern))


WIDE = {
    "one probability of 1": lambda u: np.append(10 ** (-20 + 15 * u[1:]), 1.0),
    "300 decades": lambda u: 10 ** (300 * u - 300),
    "certain of everything": lambda u: 1 / (1 + np.exp(100 * (u - 0.5))),
    "log odds": lambda u: 1400 * u - 700,
    "seconds of a clock": lambda u: 1.6e9 + np.round(u, 6),
    "both signs": lambda u: np.sign(u - 0.5) * 10 ** (-20 * np.abs(2 * u - 1)),
    "identifiers": lambda u: 1e15 + np.floor(1e4 * u),
    "infinite": lambda u: np.where(u > 0.9, np.inf, u),
    "beyond squares": lambda u: 3.4e308 * (u - 0.5),
}


@pytest.mark.parametrize("name", WIDE)
def test_scores_of_a_wide_range_keep_their_order(name, rng):
    score = WIDE[name](rng.permutation(np.linspace(0.001, 0.999, 3000)))
    y = rng.random(3000) < 0.3
    expected = roc_auc_score(y, np.unique(score, return_inverse=True)[1])
    assert Levels.of(score[~y], score[y]).auc == pytest.approx(expected, abs=1e-13)
    assert empirical_auc(score, y) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("largest", [2**53, 2**60, 2**63 - 1001])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_are_ranked_exactly(dtype, largest, rng):
    steps = rng.integers(0, 1000, 200)
    y = rng.random(200) < 0.3 + 0.0004 * steps
    score = (largest + steps).astype(dtype)
    expected = roc_auc_score(y, steps)
    estimate = skauc.auc_estimate(y, score)
    assert estimate.auc == pytest.approx(expected, abs=1e-13)
    assert skauc.compare_auc(y, score, steps).difference == 0
    assert estimate.standard_error("delong") == pytest.approx(
        skauc.auc_estimate(y, steps).standard_error("delong"), rel=1e-12
    )
