"""Sums and products that keep what they round, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from skauc.roc._contour_integral import (
    _Form,
    _quarter_ratio,
    _two_product,
    two_sum,
    upper_tail,
)

PAIRS = [(1.0, 1e-17), (0.1, 0.2), (1e16, -3.7), (-0.3, 0.3), (1 / 3, 7.7e5)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_what_a_sum_or_product_loses(a, b):
    total, lost = (float(part) for part in two_sum(np.array(a), np.array(b)))
    assert Fraction(total) + Fraction(lost) == Fraction(a) + Fraction(b)
    product, lost = (float(part) for part in _two_product(np.array(a), np.array(b)))
    assert Fraction(product) + Fraction(lost) == Fraction(a) * Fraction(b)


def test_a_sum_that_overflows_has_lost_nothing():
    total, lost = two_sum(np.array([1e308, np.inf]), np.array([1e308, 1.0]))
    assert total.tolist() == [np.inf, np.inf]
    assert lost.tolist() == [0.0, 0.0]


def test_partial_sums_of_quarter_ratios_to_twice_the_digits():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=6) * np.array([1, 1e-3, 5, 0.1, 2, 1e-7])
    slopes = rng.normal(size=6)
    high, low = _quarter_ratio(slopes, weights)
    for b, w, *got in zip(slopes, weights, high, low, strict=True):
        exact = Fraction(b) ** 2 / (4 * Fraction(w))
        assert abs(sum(map(Fraction, got)) - exact) < abs(exact) * Fraction(1, 2**98)
    form = _Form.of(weights, slopes)
    y, rest = np.array([0.7, -3.1]), 1e-20
    order = np.argsort(-np.abs(weights))
    for i in range(2):
        total = Fraction(y[i]) + Fraction(rest)
        expected = [float(total)]
        for j in order:
            total += Fraction(slopes[j]) ** 2 / (4 * Fraction(weights[j]))
            expected.append(float(total))
        got = form.linear(y, rest)[i]
        np.testing.assert_allclose(got, expected, rtol=5e-16)


def test_partial_sums_that_cancel_keep_their_digits():
    form = _Form.of(np.array([1.0, -1.0]), np.array([1e8, 1e8 * (1 + 2.0**-40)]))
    quarters = [Fraction(b) ** 2 / 4 for b in (1e8, 1e8 * (1 + 2.0**-40))]
    expected = [0.3, float(Fraction(0.3) + quarters[0])]
    expected.append(float(Fraction(0.3) + quarters[0] - quarters[1]))
    np.testing.assert_allclose(form.linear(np.array([0.3]))[0], expected, rtol=4e-16)


def test_what_the_threshold_has_no_room_for_is_added():
    form = _Form.of(np.array([-1.0]), np.array([2.0]))  # the end of its support is 1
    assert form.linear(np.array([1.0]), 1e-17)[0].tolist() == [1.0, 1e-17]


def test_below_the_upper_end_every_term_counts():
    """``4 − (z − 2)² − z'²``: 4 less a non-central χ² of two degrees of freedom."""
    weights, slopes = np.array([-1.0, -1.0]), np.array([0.0, 4.0])
    y = np.array([0.5, 2.0, 3.5, 4.5])
    expected = stats.ncx2(2, 4).cdf(4 - y)
    np.testing.assert_allclose(upper_tail(y, weights, slopes)[0], expected, rtol=1e-9)
