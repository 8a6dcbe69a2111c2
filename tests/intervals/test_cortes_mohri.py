"""Cortes–Mohri: moments against enumeration and mpmath, intervals against laws."""

import interval_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skauc import cortes_mohri_interval, cortes_mohri_moments
from skauc.intervals._cortes_mohri import _error_rate

ROUNDINGS = 4e-15  # some 18 roundings; the largest of 10⁵ cases was 1.2e-15

# ----------------------------------------------------------------------- oracle


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (2, 2), (3, 2), (4, 4), (3, 6)])
def test_all_rankings_and_thresholds(m, n):
    means, variances = oracles.enumerate_rankings(m, n)
    mean, variance = cortes_mohri_moments(m, n, np.arange(m + n + 1))
    assert mean == pytest.approx([float(e) for e in means], rel=ROUNDINGS, abs=0)
    expected = [float(v) for v in variances]
    assert variance == pytest.approx(expected, rel=ROUNDINGS, abs=0)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 150), st.integers(1, 150), st.floats(0, 1))
def test_definition_with_exact_fractions(m, n, share):
    k = round(share * (m + n))
    expected = [float(x) for x in oracles.sum_over_false_positives(m, n, k)]
    got = cortes_mohri_moments(m, n, k)
    assert got == pytest.approx(expected, rel=ROUNDINGS, abs=0)


def test_whole_numbers_for_all_small_sizes_and_some_large():
    cases = [
        (m, n, k) for m in range(1, 21) for n in range(1, 21) for k in range(m + n)
    ]
    rng = np.random.default_rng(0)
    for _ in range(300):
        m, n = (int(10 ** rng.uniform(0, 6)) for _ in "mn")
        near = rng.choice([m, n, (m + n) / 2]) + 2 * rng.normal() * np.sqrt(m + n)
        for k in (rng.uniform(0, m + n), near, 10 ** rng.uniform(0, 6)):
            cases.append((m, n, int(np.clip(k, 0, m + n))))
    expected = np.array([oracles.moments_in_whole_numbers(*case) for case in cases])
    got = np.transpose(cortes_mohri_moments(*np.transpose(cases)))
    np.testing.assert_allclose(got, expected, rtol=ROUNDINGS, atol=0)


def test_numbers_of_errors_need_not_be_few():
    k = np.arange(20_001)  # more than are computed at once
    mean, variance = cortes_mohri_moments(10_000, 10_000, k)
    np.testing.assert_allclose(mean, (20_000 - k) / 20_000, rtol=ROUNDINGS)
    for case in (0, 8191, 8192, 20_000):
        assert variance[case] == cortes_mohri_moments(10_000, 10_000, case)[1]


LARGE = [
    (5_000, 5_000, 5_000),  # arcsine law of the false positives
    (5_000, 5_100, 5_050),  # between the sizes, still wide
    (3_000, 9_000, 5_000),
    (1_000, 1_900_000, 4_000),
    (10_000_000, 10_000_000, 1_500),
    (19_999_000, 1_000, 3_000),
    (400, 200, 60),
    (400, 200, 550),
]


@pytest.mark.parametrize(("m", "n", "k"), LARGE)
def test_definition_in_mpmath(m, n, k):
    mean, variance = oracles.mp_sum_over_false_positives(m, n, k)
    got = cortes_mohri_moments(m, n, k)
    assert abs(got[0] / mean - 1) < ROUNDINGS
    assert abs(got[1] / variance - 1) < ROUNDINGS


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
    got = cortes_mohri_moments(m, n, k)
    assert abs(got[0] / mean - 1) < ROUNDINGS
    assert abs(got[1] / variance - 1) < ROUNDINGS


# ------------------------------------------------------------------------- laws


def test_balanced_mean_is_one_minus_the_error_rate():
    k = np.arange(0, 41)
    mean, _ = cortes_mohri_moments(40, 40, k)
    np.testing.assert_allclose(mean, 1 - k / 80, rtol=ROUNDINGS)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 400), st.integers(1, 400), st.floats(0, 1))
def test_classes_swap_and_errors_mirror(m, n, share):
    k = round(share * (m + n))
    mean, variance = cortes_mohri_moments(m, n, k)
    swapped = cortes_mohri_moments(n, m, k)
    assert swapped == pytest.approx((mean, variance), rel=ROUNDINGS, abs=0)
    if k >= max(m, n):
        mirrored = cortes_mohri_moments(m, n, m + n - k)
        assert mean == pytest.approx(1 - mirrored[0], abs=1e-15)
        assert variance == pytest.approx(mirrored[1], rel=ROUNDINGS, abs=0)


def test_no_errors_and_all_errors():
    assert cortes_mohri_moments(7, 9, 0) == (1.0, 0.0)
    assert cortes_mohri_moments(7, 9, 16) == (0.0, 0.0)


def test_broadcasts():
    mean, variance = cortes_mohri_moments([[3], [4]], 5, [0, 1, 2])
    assert mean.shape == variance.shape == (2, 3)
    assert mean[1, 2] == cortes_mohri_moments(4, 5, 2)[0]
    assert cortes_mohri_moments(3, 5, [])[0].shape == (0,)
    assert isinstance(cortes_mohri_moments(3, 5, 1)[0], float)


# ---------------------------------------------------------------------- intervals


def chebyshev_union(m, n, errors, level):
    mean, variance = cortes_mohri_moments(m, n, errors)
    reach = np.sqrt(variance / (1 - level))
    return max((mean - reach).min(), 0), min((mean + reach).max(), 1)


@pytest.mark.parametrize("how", ["clopper_pearson", "wilson"])
def test_plain_interval_is_the_union_over_scipys_error_interval(how):
    m, n, k, level = 60, 90, 31, 0.9
    test = stats.binomtest(k, m + n)
    method = "exact" if how == "clopper_pearson" else "wilson"
    low, high = test.proportion_ci(np.sqrt(level), method=method)
    errors = np.arange(np.ceil(low * 150), np.floor(high * 150) + 1)
    got = cortes_mohri_interval(m, n, k, level, error_interval=how, adaptive=False)
    expected = chebyshev_union(m, n, errors, np.sqrt(level))
    assert got == pytest.approx(expected, rel=1e-12)


def test_papers_error_intervals():
    # eqs. 15 and 16 at level √.95: half widths 1/(2√(N ε')) and z/(2√N)
    m, n, k, N = 50, 50, 20, 100
    inner = np.sqrt(0.95)
    for how, half in (
        ("chebyshev", 1 / (2 * np.sqrt(N * (1 - inner)))),
        ("normal", stats.norm.isf((1 - inner) / 2) / (2 * np.sqrt(N))),
    ):
        errors = np.arange(
            np.ceil(N * max(0.2 - half, 0)), np.floor(N * (0.2 + half)) + 1
        )
        got = cortes_mohri_interval(m, n, k, error_interval=how, adaptive=False)
        assert got == pytest.approx(chebyshev_union(m, n, errors, inner), rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 1000),
    st.integers(1, 1000),
    st.floats(0, 1),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_adaptive_interval_over_every_number_of_errors(m, n, share, level):
    k = round(share * (m + n))
    slow = oracles.adaptive_interval_over_every_k(m, n, k, level, cortes_mohri_moments)
    got = cortes_mohri_interval(m, n, k, level)
    # the search for the shortest stops at 1e-5 of log a₁, for both
    assert got == pytest.approx(slow, abs=2e-6)


@pytest.mark.parametrize(
    "case",
    [
        (30_000, 30_000, 6_000, 0.95),
        (30_000, 30_000, 30_000, 0.95),  # k₀ = m = n: the limits have a corner there
        (30_000, 29_900, 29_870, 0.9),
        (20_000, 60_000, 21_000, 0.99),
        (100_000, 3_000, 60_000, 0.8),
        (500_000, 500_000, 180_000, 0.95),
    ],
)
def test_adaptive_interval_on_a_grid_is_that_over_every_number_of_errors(case):
    low, high = oracles.adaptive_interval_over_every_k(*case, cortes_mohri_moments)
    got = cortes_mohri_interval(*case)
    assert got == pytest.approx((low, high), abs=5e-5 * (high - low))


@pytest.mark.parametrize("how", ["chebyshev", "clopper_pearson"])
@pytest.mark.parametrize("case", [(10**6, 10**6, 3 * 10**5), (5000, 9 * 10**5, 5100)])
def test_plain_interval_on_a_grid_is_that_over_every_number_of_errors(case, how):
    m, n, k = case
    inner = np.sqrt(0.95)
    if how == "chebyshev":
        half = 1 / (2 * np.sqrt((m + n) * (1 - inner)))
        low, high = max(k / (m + n) - half, 0), k / (m + n) + half
    else:
        low, high = stats.binomtest(k, m + n).proportion_ci(inner)
    errors = np.arange(np.ceil((m + n) * low), np.floor((m + n) * high) + 1)
    got = cortes_mohri_interval(*case, error_interval=how, adaptive=False)
    assert got == pytest.approx(chebyshev_union(m, n, errors, inner), rel=1e-13)


def test_interval_of_any_size_shrinks_with_the_root():
    # of the size: the deviations of K/N and of A given K do
    widths = []
    for half in (10**4, 10**8, 10**12, 2**52):
        low, high = cortes_mohri_interval(half, half, 2 * half // 5)
        assert low < 0.8 < high
        widths.append((high - low) * np.sqrt(half))
    assert widths == pytest.approx(widths[-1:] * 4, rel=2e-3)


def test_adaptive_interval_keeps_its_promise():
    # Chebyshev's risk of each k for these limits, averaged over the law of K
    m, n, k0, level = 40, 60, 12, 0.95
    low, high = cortes_mohri_interval(m, n, k0, level)
    k = np.arange(m + n + 1)
    mean, variance = cortes_mohri_moments(m, n, k)
    gap = np.minimum(mean - low, high - mean if high < 1 else 1)
    risk = np.minimum(variance / np.maximum(gap, 1e-9) ** 2, 1)
    law = stats.binom(m + n, (k0 + 0.5) / (m + n + 1)).pmf(k)
    assert risk @ law <= 1 - level + 1e-9


def test_adaptive_is_shorter_than_the_plain_one():
    for case in [(50, 50, 10), (268, 500, 184), (30, 300, 12)]:
        low, high = cortes_mohri_interval(*case)
        plain = cortes_mohri_interval(*case, adaptive=False)
        assert high - low < plain.high - plain.low


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
    low, high = cortes_mohri_interval(N - n, n, round(rate * N))
    assert np.sqrt(0.05) * (high - low) / 2 == pytest.approx(printed, rel=0.08)


@pytest.mark.parametrize("level", [1e-12, 1 - 1e-12])
def test_extreme_levels(level):
    for case in [(5, 5, 0), (5, 500, 3), (40, 40, 20)]:
        low, high = cortes_mohri_interval(*case, level)
        assert 0 <= low <= high <= 1
        assert (low == 0) == (level > 0.5)


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("case", [(1, 1, 0), (5, 500, 2), (20, 20, 40), (9, 9, 9)])
def test_intervals_are_nested_and_inside(case, adaptive):
    last = None
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        low, high = cortes_mohri_interval(*case, level, adaptive=adaptive)
        assert 0 <= low <= high <= 1
        if last:
            assert low <= last[0] + 1e-6
            assert high >= last[1] - 1e-6
        last = low, high


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 3, 1), "n_pos must be a whole number >= 1, got 0"),
        ((3, 2.5, 1), "n_neg must be a whole number >= 1, got 2.5"),
        ((3, 2, 6), r"n_errors must be a whole number in \[0, 5\], got 6"),
        ((3, 2, -1), "got -1"),
        ((3, np.nan, 1), "n_neg must be a whole number >= 1, got nan"),
        ((3, 4, np.inf), "n_errors must be <= 2\\*\\*53, got inf"),
        ((1e300, 4, 1), "n_pos must be <= 2\\*\\*53, got 1e\\+300"),
        ((3, None, 1), "n_neg must be a whole number >= 1, got None"),
        ((3, 4, "1"), "n_errors must be a whole number >= 0, got '1'"),
        ((True, 4, 1), "n_pos must be a whole number >= 1, got True"),
        (([[1], [1, 2]], 4, 1), "n_pos must be .* got lists of several lengths"),
        (([1, 2], [1, 2, 3], 1), r"must broadcast, got shapes \(2,\), \(3,\), \(\)"),
    ],
)
def test_errors_of_the_counts(arguments, message):
    with pytest.raises(ValueError, match=message):
        cortes_mohri_moments(*arguments)
    with pytest.raises(ValueError, match=message):
        cortes_mohri_interval(*arguments)


def test_errors_of_the_options():
    with pytest.raises(ValueError, match=r"confidence_level .* got 1.5"):
        cortes_mohri_interval(5, 5, 1, 1.5)
    with pytest.raises(ValueError, match="error_interval must be one of .* got 'wald'"):
        cortes_mohri_interval(5, 5, 1, error_interval="wald")
    with pytest.raises(ValueError, match="adaptive must be True or False, got 'no'"):
        cortes_mohri_interval(5, 5, 1, adaptive="no")
    with pytest.raises(ValueError, match=r"must be one number each, got shape \(2,\)"):
        cortes_mohri_interval(5, 5, [1, 2])


@pytest.mark.parametrize("k", [0, 1, 3, 10])
@pytest.mark.parametrize("level", [0.6, 0.95])
def test_error_rates_are_scipys(k, level):
    for how, method in (("wilson", "wilson"), ("clopper_pearson", "exact")):
        expected = stats.binomtest(k, 10).proportion_ci(level, method)
        got = _error_rate(k, 10, level, how)
        assert got == pytest.approx(tuple(expected), rel=1e-10, abs=1e-15)
