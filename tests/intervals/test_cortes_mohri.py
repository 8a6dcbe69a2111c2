"""Cortes–Mohri: moments against enumeration and mpmath, intervals against laws."""

import interval_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skauc import cortes_mohri_interval, cortes_mohri_moments


def moments(m, n, k):
    return cortes_mohri_moments(n_pos=m, n_neg=n, n_errors=k)


def interval(m, n, k, level=0.95):
    return cortes_mohri_interval(level, n_pos=m, n_neg=n, n_errors=k)


ROUNDINGS = 4e-15  # some 18 roundings; the largest of 10⁵ cases was 1.2e-15

# ----------------------------------------------------------------------- oracle


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (2, 2), (3, 2), (4, 4), (3, 6)])
def test_all_rankings_and_thresholds(m, n):
    means, variances = oracles.enumerate_rankings(m, n)
    mean, variance = moments(m, n, np.arange(m + n + 1))
    assert mean == pytest.approx([float(e) for e in means], rel=ROUNDINGS, abs=0)
    expected = [float(v) for v in variances]
    assert variance == pytest.approx(expected, rel=ROUNDINGS, abs=0)


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (400, 200, 60),
        (100_000, 1_000, 200),
        (1_000_000, 100_000, 10_000),
        (10_000_000, 10_000_000, 20_000),
        (13_000_000, 7_000_000, 6_990_000),
        (10_000_000, 9_999_000, 9_999_000),
    ],
)
def test_published_form_in_mpmath_up_to_twenty_million(m, n, k):
    mean, variance = oracles.mp_published(m, n, k)
    got = moments(m, n, k)
    assert abs(got[0] / mean - 1) < ROUNDINGS
    assert abs(got[1] / variance - 1) < ROUNDINGS


# ------------------------------------------------------------------------- laws


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 400), st.integers(1, 400), st.floats(0, 1))
def test_classes_swap_and_errors_mirror(m, n, share):
    k = round(share * (m + n))
    mean, variance = moments(m, n, k)
    swapped = moments(n, m, k)
    assert swapped == pytest.approx((mean, variance), rel=ROUNDINGS, abs=0)
    if k >= max(m, n):
        mirrored = moments(m, n, m + n - k)
        assert mean == pytest.approx(1 - mirrored[0], abs=1e-15)
        assert variance == pytest.approx(mirrored[1], rel=ROUNDINGS, abs=0)


def test_no_errors_and_all_errors():
    assert moments(7, 9, 0) == (1.0, 0.0)
    assert moments(7, 9, 16) == (0.0, 0.0)


def test_broadcasts():
    mean, variance = moments([[3], [4]], 5, [0, 1, 2])
    assert mean.shape == variance.shape == (2, 3)
    assert mean[1, 2] == moments(4, 5, 2)[0]
    assert moments(3, 5, [])[0].shape == (0,)
    assert isinstance(moments(3, 5, 1)[0], float)


# ---------------------------------------------------------------------- intervals


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 1000),
    st.integers(1, 1000),
    st.floats(0, 1),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_adaptive_interval_over_every_number_of_errors(m, n, share, level):
    k = round(share * (m + n))
    slow = oracles.adaptive_interval_over_every_k(m, n, k, level, moments)
    got = cortes_mohri_interval(level, n_pos=m, n_neg=n, n_errors=k)
    # the search for the shortest stops at 1e-5 of log a₁, for both
    assert got == pytest.approx(slow, abs=2e-6)


# Table 1 of the paper: N, share of negatives, error rate, printed σ of its method. Its
# text does not say how σ is read off an interval; √.05 · half width of the adaptive
# one at 95 % is our reading, within 8 % in every row.
TABLE_1 = [
    ("pima", 368, 0.63, 0.24, 0.0297),
    ("yeast", 700, 0.67, 0.26, 0.0277),
    ("credit", 303, 0.54, 0.13, 0.0176),
    ("internet-ads", 1159, 0.17, 0.05, 0.0177),
    ("page-blocks", 2473, 0.10, 0.03, 0.0164),
    ("ionosphere", 201, 0.37, 0.13, 0.0271),
]


@pytest.mark.parametrize(("name", "N", "share", "rate", "printed"), TABLE_1)
def test_deviations_of_the_papers_table_1(name, N, share, rate, printed):
    n = round(share * N)
    low, high = cortes_mohri_interval(n_pos=N - n, n_neg=n, n_errors=round(rate * N))
    assert np.sqrt(0.05) * (high - low) / 2 == pytest.approx(printed, rel=0.08)


def test_intervals_are_nested_and_inside():
    for case in [(1, 1, 0), (5, 500, 2), (20, 20, 40), (9, 9, 9)]:
        last = None
        for level in (0.5, 0.8, 0.9, 0.95, 0.99):
            low, high = interval(*case, level)
            assert 0 <= low <= high <= 1
            if last:
                assert low <= last[0] + 1e-6
                assert high >= last[1] - 1e-6
            last = low, high


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize("function", [moments, interval])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 3, 1), "n_pos must be a whole number >= 1, got 0"),
        ((3, 2.5, 1), "n_neg must be a whole number >= 1, got 2.5"),
        ((3, 2, 6), "n_errors must be a whole number from 0 to 5, got 6"),
        ((3, 2, -1), "n_errors must be a whole number .*, got -1"),
        ((3, np.nan, 1), "n_neg must be a whole number >= 1, got nan"),
        ((3, 4, np.inf), "n_errors must be a whole number .*, got inf"),
        ((1e300, 4, 1), "n_pos must be a whole number <= 2\\*\\*53, got 1e"),
        ((3, None, 1), "n_neg must (be a whole number >= 1|hold numbers), got None"),
        ((3, 4, "1"), "n_errors must .* number.*, got '1'"),
        (([[1], [1, 2]], 4, 1), "n_pos must .* number.*, got"),
    ],
)
def test_errors_of_the_counts(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_numbers_of_other_shapes():
    with pytest.raises(ValueError, match="cannot be broadcast to a single shape"):
        moments([1, 2], [1, 2, 3], 1)
    with pytest.raises(ValueError, match=r"n_errors must be a whole .* got \[1, 2\]"):
        cortes_mohri_interval(n_pos=5, n_neg=5, n_errors=[1, 2])
