"""Sorted runs, and sums of ranks that add up over ranges."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skauc.statistics._block import add_all
from skauc.statistics._rank_sums import Evenly, RankSums, Runs, half_pairs

# scores with ties and infinities, and counts of both classes
rows = st.lists(
    st.tuples(
        st.sampled_from([-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1e300, np.inf]),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=12,
)


def as_runs(rows):
    value, neg, pos = (np.array(column) for column in zip(*rows, strict=True))
    return Runs.of(value.astype(float), np.stack([neg, pos], axis=1))


def repeated(rows):
    """The rows one by one: negatives, positives."""
    return [np.concatenate([[row[0]] * row[c] for row in rows] or [[]]) for c in (1, 2)]


def slow_sums(neg, pos):
    """From the definition, pair by pair."""
    twice = 2 * (pos[:, None] > neg) + (pos[:, None] == neg)  # (n_pos, n_neg)
    scatter = [
        ((m - m.mean()) ** 2).sum() if len(m) else 0.0
        for m in (twice.sum(axis=0), twice.sum(axis=1))
    ]
    return len(neg), len(pos), twice.sum(), (pos[:, None] == neg).sum(), *scatter


def check(sums, rows):
    n_neg, n_pos, pairs, tied, scatter01, scatter10 = slow_sums(*repeated(rows))
    found = sums.n_neg, sums.n_pos, sums.half_pairs, sums.tied_pairs
    assert found == (n_neg, n_pos, pairs, tied)
    # squares of small whole numbers around a mean: a few roundings of the largest
    assert sums.scatter01 == pytest.approx(scatter01, rel=1e-12, abs=1e-10)
    assert sums.scatter10 == pytest.approx(scatter10, rel=1e-12, abs=1e-10)


@given(rows)
def test_sums_of_one_range_are_those_of_all_pairs(rows):
    check(RankSums.of(as_runs(rows), np.inf), rows)


@given(rows, st.lists(st.sampled_from([-2.5, -1.0, 0.0, 0.25, 2.0]), max_size=4))
def test_ranges_add_up(rows, inner):
    edges = np.r_[-np.inf, np.sort(inner), np.inf]
    ranges = as_runs(rows).cut(edges)
    assert sum(map(len, ranges)) == len(as_runs(rows))
    check(add_all([RankSums.of(part, np.inf) for part in ranges]), rows)


@given(rows, rows)
def test_runs_of_two_parts_merge(a, b):
    both, at_once = Runs.merged([as_runs(a), as_runs(b)]), as_runs(a + b)
    np.testing.assert_array_equal(both.value, at_once.value)
    np.testing.assert_array_equal(both.count, at_once.count)
    assert (np.diff(both.value) > 0).all() or len(both) == 1


def test_weights_stay_weights_and_counts_stay_counts():
    value = np.array([2.0, 1.0, 2.0])
    weights = Runs.of(value, np.array([[0.25, 0.0], [0.0, 0.5], [0.5, 0.25]]))
    np.testing.assert_array_equal(weights.count, [[0.0, 0.5], [0.75, 0.25]])
    assert Runs.of(value, np.ones((3, 2), np.int8)).count.dtype == np.int64


def test_the_last_edge_is_not_in_the_range_but_for_infinity():
    value = np.array([-np.inf, -1.0, 0.0, 2.0, np.inf])
    runs = Runs(value, np.ones((5, 2), int))
    for edges in ([-1.0, 0.5, 2.0], [-np.inf, 0.0, 1.0, 2.5], [-1.0, 0.0, np.inf]):
        inside = [(a <= value) & (value < b) for a, b in pairwise(edges)]
        inside[-1] |= (value == np.inf) & (edges[-1] == np.inf)
        for part, expected in zip(runs.cut(np.array(edges)), inside, strict=True):
            np.testing.assert_array_equal(part.value, value[expected])


def test_half_pairs_by_hand():
    """Two negatives at 1, a tie of each at 2, two positives at 3."""
    runs = Runs(np.array([1.0, 2.0, 3.0]), np.array([[2, 0], [1, 1], [0, 2]]))
    below, above = half_pairs(runs)
    np.testing.assert_array_equal(below, [2, 5, 6])
    np.testing.assert_array_equal(above, [6, 5, 2])
    sums = RankSums.of(runs, 3.0)
    assert (sums.half_pairs, sums.tied_pairs, sums.auc) == (17, 1, 17 / 18)
    assert [float(c.mean) for c in sums.moments] == pytest.approx([4 / 9, 8 / 9])


def test_whole_numbers_stay_exact_beyond_floats():
    """10⁹ and 10⁹ + 1 rows of a class: the pairs need 61 bits, a float has 53."""
    m = 10**9
    low = RankSums.of(Runs(np.array([0.0]), np.array([[m, 1]])), np.inf)
    high = RankSums.of(Runs(np.array([1.0]), np.array([[1, m]])), np.inf)
    assert (low + high).half_pairs == 2 * m + 2 * m * m
    one = RankSums.of(Runs(np.array([0.0, 1.0]), np.array([[m, 1], [1, m]])), np.inf)
    assert one.half_pairs == 2 * m + 2 * m * m


def test_pairs_that_int64_does_not_hold_are_counted_in_floats():
    runs = Runs(np.array([0.0, 1.0]), np.array([[2**40, 0], [0, 2**40]]))
    assert RankSums.of(runs, np.inf).half_pairs == 2.0**81


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**33])
def test_pairs_are_whole_numbers_as_long_as_int64_holds_them(size):
    """A sum of half pairs of 2⁶³ and more is a float; below not a pair is lost."""
    runs = Runs(np.array([0.0, 1.0]), np.array([[size, 0], [0, size]]))
    sums, pairs = RankSums.of(runs, np.inf), 2 * size**2
    assert sums.half_pairs == (pairs if pairs < 2**63 else float(pairs))
    assert isinstance(sums.half_pairs, int if pairs < 2**63 else float)
    assert sums.auc == 1


def test_packed_runs_are_the_same():
    value = np.array([-np.inf, 0.1, 1e300, np.inf])
    for size in (1, 127, 128, 2**20, 2**40):
        runs = Runs(value, np.array([[size, 0]] * 4))
        packed = runs.packed()
        np.testing.assert_array_equal(packed.value, value)
        np.testing.assert_array_equal(packed.count, runs.count)
        assert packed.count.dtype.kind == "i"
    single = Runs(np.array([0.5, np.inf]), np.ones((2, 2), int)).packed()
    assert single.value.dtype == np.float32
    assert single.__sizeof__() == 2 * 4 + 4


@given(rows)
def test_spreads_are_the_variances_of_the_placements(rows):
    neg, pos = repeated(rows)
    if not (len(neg) and len(pos)):
        return
    won = (pos[:, None] > neg) + (pos[:, None] == neg) / 2
    expected = won.mean(axis=0).var(), won.mean(axis=1).var()
    sums = RankSums.of(as_runs(rows), np.inf)
    assert sums.spreads == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert sums.auc == pytest.approx(won.mean(), rel=1e-14)


def test_even_scores_are_the_middle_of_each_share():
    found = Evenly.of(np.arange(11.0 * 1024)[::-1])
    np.testing.assert_array_equal(found.value, np.arange(5, 11 * 1024, 11))
    np.testing.assert_array_equal(found.mass, np.full(1024, 11.0))


def test_even_scores_of_two_parts_are_all_of_both():
    value = np.arange(2000.0)
    both = Evenly.of(value[::2]) + Evenly.of(value[1::2])
    np.testing.assert_array_equal(both.value, value)
    np.testing.assert_array_equal(both.mass, np.ones(2000))


def test_ranges_hold_equally_much():
    assert Evenly.of(np.arange(100.0)).edges(4).tolist() == [
        -np.inf,
        24,
        49,
        74,
        np.inf,
    ]
    heavy = Evenly.of(np.arange(5.0), np.array([1.0, 1, 1, 1, 4]))
    assert heavy.edges(2).tolist() == [-np.inf, 3, np.inf]


def test_no_auc_of_weighted_runs_is_above_one(rng):
    value = np.arange(40.0)
    for weight in rng.random((200, 40)):
        count = np.stack([weight * (value < 20), weight * (value >= 20)], axis=1)
        lower, upper = Runs(value[:17], count[:17]), Runs(value[17:], count[17:])
        sums = RankSums.of(lower, np.inf) + RankSums.of(upper, np.inf)
        assert sums.auc <= 1
