"""Pairs of rows: samples of them, the smooth AUC, variances and ties."""

import numpy as np
import pytest
from oracles import repeat_rows
from scipy.special import ndtr
from scipy.stats import norm

from skauc.leave_pair_out._pairs import (
    class_of_one_row,
    equal_rows,
    even_sample,
    mean_covariance,
    normal_cdf,
    pair_statistics,
    sample_rows,
)


def test_covariance_of_weighted_means_repeats_rows(rng):
    a, b, count = rng.normal(size=8), rng.normal(size=8), np.arange(8) % 4 + 1
    expected = np.cov(repeat_rows(a, count), repeat_rows(b, count))[0, 1] / count.sum()
    assert mean_covariance(a, b, count) == pytest.approx(expected, rel=1e-12)
    assert mean_covariance(a[:1], b[:1], np.ones(1)) == 0.25
    two = np.cov(a[:2], b[:2])[0, 1] / 2
    assert mean_covariance(a[:2], b[:2], np.ones(2)) == pytest.approx(two)


@pytest.mark.parametrize("bandwidth", [0.25, 2.0])
def test_smooth_auc_of_normal_margins(bandwidth):
    """``E Φ(M/(hσ)) = Φ(μ/(σ√(1 + h²)))``: the spread of normal margins is their σ."""
    margin = norm.ppf((np.arange(4000) + 0.5) / 4000)[None] * 2.0 + 0.6
    positive, weight = np.arange(4001) < 1, np.ones(4001)
    sharp, smooth = pair_statistics(margin, positive, weight, (0.0, bandwidth))
    assert sharp.auc == pytest.approx(ndtr(0.3), abs=1e-3)
    assert smooth.auc == pytest.approx(ndtr(0.3 / np.hypot(1, bandwidth)), abs=2e-4)


def test_normal_distribution_function():
    x = np.append(np.linspace(-12, 12, 300_001), [-1e300, 0.0, 1e300])
    np.testing.assert_allclose(normal_cdf(x), ndtr(x), rtol=0, atol=1e-11)
    np.testing.assert_allclose(normal_cdf(x) + normal_cdf(-x), 1, rtol=1e-15)


def test_shares_of_the_pairs_are_the_weights():
    margin = np.array([[1.0, -1.0, 0.0], [2.0, 0.5, -3.0]])
    positive = np.array([True, False, False, True, False])
    weight = np.array([1.0, 2.0, 3.0, 5.0, 4.0])
    (sharp,) = pair_statistics(margin, positive, weight, (0.0,))
    share = np.outer([1, 5], [2, 3, 4]) / 54
    won = np.array([[1, 0, 0.5], [1, 1, 0]])
    assert sharp.auc == pytest.approx((share * won).sum(), rel=1e-14)
    np.testing.assert_allclose(sharp.v10, won @ [2, 3, 4] / 9, rtol=1e-14)
    np.testing.assert_allclose(sharp.v01, np.array([1, 5]) @ won / 6, rtol=1e-14)


def test_a_sample_is_even_in_the_weights_and_counts_no_more_than_it_holds():
    score, positive = np.arange(12.0)[::-1], np.arange(12) >= 10
    weight = np.r_[np.full(9, 0.25), 6.0, 1.0, 1.0]
    rows, count = sample_rows(score, positive, weight, limit=5)
    # of the 8.25 in class 0, places .825, 2.475, …: row 9 (the lowest score) holds 6
    assert rows.tolist() == [9, 9, 9, 9, 3, 10, 11]
    assert count.tolist() == [1.0] * 7
    weight[:10] = 0.3
    rows, count = sample_rows(score, positive, weight, limit=5)
    # places between two rows: the lower, and of the upper half the higher
    assert rows.tolist() == [9, 7, 5, 2, 0, 10, 11]
    np.testing.assert_allclose(count, [0.6] * 5 + [1, 1], rtol=1e-12)
    rows, count = sample_rows(score, positive, weight, limit=10)
    assert rows.tolist() == [*range(10), 10, 11]
    np.testing.assert_array_equal(count, weight)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_ties_are_read_off_the_rows_whatever_their_unit(unit):
    X = unit * np.array([[1.0, 2.0], [0.3, 0.1], [1.0, 2.0], [5.0, 5.0], [0.3, 0.2]])
    positive = np.array([False, True, True, False, False])
    z, rows = X @ [1.0, -0.3] * (1 + 1e-15 * np.arange(5)), np.array([0, 3, 4, 1, 2])
    found = equal_rows(X, z[rows], positive, rows)
    assert [part.tolist() for part in found] == [[1], [0]]  # row 2 and row 0
    z[2] += unit  # scores apart are not looked at
    assert not len(equal_rows(X, z[rows], positive, rows)[0])


def test_a_row_that_counts_twice_leaves_one():
    positive = np.array([True, False, False, True])
    for weight, missing in (
        ([2.0, 1, 1, 0], None),
        ([1.5, 1, 1, 0], "positive"),
        ([0.1, 1, 1, 0.1], None),
        ([1, 0, 1, 1], "negative"),
    ):
        assert class_of_one_row(positive, np.array(weight)) == missing


def test_even_sample_of_heavy_rows():
    order = [np.array([3, 1, 0, 2]), np.array([4, 5])]
    weight = np.array([5.0, 0.8, 0.8, 1.4, 2.0, 3.0])
    rows, mass = even_sample(order, weight, 3)
    # reaches 1.4, 2.2, 7.2, 8; places 8/6, 4, 40/6
    assert rows.tolist() == [3, 0, 0, 4, 5]
    np.testing.assert_allclose(mass, [8 / 3] * 3 + [2, 3], rtol=1e-14)
    rows, mass = even_sample(order, weight, 4)
    assert rows.tolist() == [3, 1, 0, 2, 4, 5]
    np.testing.assert_array_equal(mass, weight[rows])


@pytest.mark.parametrize("draw", [sample_rows, even_sample])
@pytest.mark.parametrize("heavy", [1.0, 3.0])
def test_rows_in_the_other_order_are_the_same(draw, heavy):
    """Also where the middles of equal shares fall between rows."""
    weight = np.where(np.arange(600) % 4 < 2, 1.0, heavy)
    positive, score = np.arange(600) < 400, np.sin(np.arange(600))
    order = np.argsort(score)
    drawn = []
    for sign in (1, -1):
        classes = [order[c[order]][::sign] for c in (~positive, positive)]
        if draw is even_sample:
            rows, _ = even_sample(classes, weight, 100)
        else:
            rows, _ = sample_rows(sign * score, positive, weight, 100)
        drawn.append(np.sort(rows).tolist())
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("weight", [3.0, 0.1, 0.0])
def test_even_sample_of_equal_rows(weight):
    """Middles of quarters of ten rows: 1.25, 3.75, 6.25, 8.75."""
    order = [np.arange(10)[::-1], np.array([10, 11])]
    rows, mass = even_sample(order, np.full(12, weight), 4)
    assert rows.tolist() == [8, 6, 3, 1, 10, 11]
    np.testing.assert_allclose(mass, [2.5 * weight] * 4 + [weight] * 2, rtol=1e-14)
    # the middle of one share is that of the rows, which is rounded up
    one, _ = even_sample([np.arange(5)], np.full(5, weight), 1)
    assert one.tolist() == [2]
    two, _ = even_sample([np.arange(4)], np.full(4, weight), 1)
    assert two.tolist() == [1]


@pytest.mark.parametrize("limit", [2, 7, 50, 120])
@pytest.mark.parametrize("none", [0.0, 0.5])
def test_even_sample_from_both_ends_row_after_row(limit, none, rng):
    """The first row that reaches ``(k + ½)/m`` of all, and so from the other end."""
    count = rng.random(300) * (rng.random(300) >= none)
    rows, mass = even_sample([np.arange(300)], count, limit)

    def reached(count, n_middles):
        found = []
        for k in range(n_middles):
            j = reach = 0
            while reach + count[j] < (k + 0.5) / limit * count.sum():
                reach, j = reach + count[j], j + 1
            found.append(j)
        return found

    upper = [299 - j for j in reached(count[::-1], limit // 2)]
    assert rows.tolist() == reached(count, (limit + 1) // 2) + upper[::-1]
    np.testing.assert_allclose(mass, count.sum() / limit, rtol=1e-12)


def test_one_weight_is_that_of_every_row():
    order = [np.arange(300)[::-1], np.arange(300, 306)]
    for found, expected in zip(
        even_sample(order, 2.5, 40),
        even_sample(order, np.full(306, 2.5), 40),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
