"""auc_estimate: published output, independent formulas, laws, edges, error texts."""

import json
from pathlib import Path

import interval_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from skauc import (
    NormalInverseWishart,
    auc_estimate,
    cbauc_score,
    cortes_mohri_interval,
    cortes_mohri_moments,
)
from skauc.intervals import _bootstrap
from skauc.intervals._bootstrap import _Blocks, _resampled_auc
from skauc.intervals._methods import METHODS, _larger
from skauc.statistics._auc_variance import balanced_variance, hanley_mcneil_variance

ASAH = json.loads((Path(__file__).parents[1] / "reference/proc_asah.json").read_text())
Y = np.array(ASAH["outcome"])
NDKA, S100B = np.array(ASAH["ndka"]), np.array(ASAH["s100b"])
WALD = [name for name, method in METHODS.items() if method.transform]
OPTIONS = {"cortes_mohri": {"n_errors": 3}, "bootstrap": {"n_resamples": 499}}


def estimate_of(neg, pos, **kwargs):
    y = np.repeat([0, 1], [len(neg), len(pos)])
    return auc_estimate(y, np.concatenate([neg, pos]), **kwargs)


def normal_samples(n_neg, n_pos, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n_neg), rng.normal(size=n_pos) + shift


# ------------------------------------------------------------- published output


def test_proc_intervals():
    expected = ASAH["expected"]
    low, auc, high = expected["ci_ndka"]
    estimate = auc_estimate(Y, NDKA)
    assert estimate.auc == pytest.approx(auc, rel=1e-14)
    got = estimate.confidence_interval(method="delong", transform="none")
    assert got == pytest.approx((low, high), rel=1e-14)
    female = np.array(ASAH["female"]) == 1
    low, auc, high = expected["ci_ndka_female"]
    estimate = auc_estimate(Y[female], NDKA[female])
    got = estimate.confidence_interval(method="delong", transform="none")
    assert (got.low, estimate.auc, got.high) == pytest.approx((low, auc, high), 1e-9)


def test_proc_and_stata_print_the_same_for_s100b():
    # pROC: "95% CI: 0.6301-0.8326 (DeLong)", var 0.002668682; Stata's roctab: 0.7314,
    # standard error 0.0517, 0.63012 to 0.83262
    estimate = auc_estimate(Y, S100B)
    got = estimate.confidence_interval(method="delong", transform="none")
    assert got == pytest.approx((0.63012, 0.83262), abs=5e-6)
    assert estimate.standard_error("delong") == pytest.approx(0.05165929, abs=5e-9)


@pytest.mark.parametrize(
    ("N", "share", "auc", "printed"),
    [
        (368, 0.63, 0.70, 0.0269),
        (700, 0.67, 0.63, 0.0215),
        (303, 0.54, 0.87, 0.0202),
        (1159, 0.17, 0.85, 0.0176),
        (2473, 0.10, 0.84, 0.0161),
        (201, 0.37, 0.85, 0.0306),
    ],
)
def test_hanley_mcneil_printed_by_cortes_and_mohri(N, share, auc, printed):
    # Their Table 1 takes the n of "share" as the positives of the formula.
    n = round(share * N)
    error = np.sqrt(hanley_mcneil_variance(auc, N - n, n))
    assert error == pytest.approx(printed, rel=0.015)


# ------------------------------------------------------------------- formulas


def test_hanley_mcneil_is_the_variance_of_exponential_scores():
    # Three probabilities by simulation-free integrals: neg ~ Exp(1), pos ~ Exp(λ),
    # A = 1/(1 + λ): P(pos₁ > neg, pos₂ > neg) = 1/(1 + 2λ), P(pos > neg₁, neg₂) =
    # 1 − 2λ/(1 + λ) + λ/(2 + λ)
    rate, n0, n1 = 0.25, 7, 5
    auc = 1 / (1 + rate)
    xxy, xyy = 1 / (1 + 2 * rate), 1 - 2 * rate / (1 + rate) + rate / (2 + rate)
    expected = auc * (1 - auc) + (n1 - 1) * (xxy - auc**2) + (n0 - 1) * (xyy - auc**2)
    got = hanley_mcneil_variance(auc, n0, n1)
    assert got == pytest.approx(expected / (n0 * n1), rel=1e-12)


def test_newcombe_interval_solves_its_equation():
    neg, pos = normal_samples(9, 14)
    estimate = estimate_of(neg, pos)
    z = stats.norm.isf(0.025)
    for limit in estimate.confidence_interval(0.95, "hanley_mcneil_score"):
        q1, q2 = limit / (2 - limit), 2 * limit**2 / (1 + limit)
        n = (9 + 14) / 2  # Newcombe (2006), method 5
        v = limit * (1 - limit) + (n - 1) * (q1 + q2 - 2 * limit**2)
        assert (estimate.auc - limit) ** 2 == pytest.approx(z**2 * v / 126, rel=1e-9)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_score_interval_is_all_admitted_values(shift):
    neg, pos = normal_samples(9, 14, seed=2, shift=shift)
    estimate = estimate_of(neg, pos)
    delong = estimate.standard_error("delong") ** 2
    grid = np.linspace(0, 1, 200_001)
    share = estimate.auc * (1 - estimate.auc)
    variance = np.maximum(
        balanced_variance(grid, 9, 14), delong * grid * (1 - grid) / share
    )
    z2 = stats.norm.isf(0.025) ** 2
    admitted = grid[(grid - estimate.auc) ** 2 <= z2 * variance]
    assert np.diff(admitted).max() < 1.1 / 200_000  # one piece
    got = estimate.confidence_interval()
    assert got == pytest.approx((admitted[0], admitted[-1]), abs=6e-6)


def test_transforms_are_the_delta_method_by_hand():
    estimate = auc_estimate(Y, S100B)
    a, error = estimate.auc, estimate.standard_error("delong")
    z = stats.norm.isf(0.05)
    reach = z * error / (a * (1 - a))
    odds = np.log(a / (1 - a))
    expected = [1 / (1 + np.exp(-odds + reach)), 1 / (1 + np.exp(-odds - reach))]
    got = estimate.confidence_interval(0.9, method="delong", transform="logit")
    assert got == pytest.approx(expected, rel=1e-12)
    probit = stats.norm.ppf(a)
    reach = z * error / stats.norm.pdf(probit)
    expected = stats.norm.cdf([probit - reach, probit + reach])
    got = estimate.confidence_interval(0.9, method="delong", transform="probit")
    assert got == pytest.approx(expected, rel=1e-12)


def test_binormal_error_is_the_delta_methods():
    """``V(mean) = S/n, V(S) = 2S²/(n − 1)``, and the slopes of Φ(δ) by differences."""
    neg, pos = normal_samples(12, 9)

    def auc(m0, s0, m1, s1):
        return stats.norm.cdf((m1 - m0) / np.sqrt(s0 + s1))

    at, variance = [], []
    for x in (neg, pos):
        S, n = x.var(ddof=1), len(x)
        at += [x.mean(), S]
        variance += [S / n, 2 * S**2 / (n - 1)]
    h = 1e-5 * np.eye(4)
    slope = [(auc(*(at + d)) - auc(*(at - d))) / 2e-5 for d in h]
    expected = np.sqrt(np.square(slope) @ variance)
    found = estimate_of(neg, pos)
    assert found.standard_error("binormal") == pytest.approx(expected, rel=1e-8)
    bound = found.auc * (1 - found.auc) / 9  # nothing in [0, 1] varies more
    assert found.standard_error("max_variance") == pytest.approx(np.sqrt(bound))


def test_bootstrap_draws_as_many_as_are_asked(monkeypatch):
    neg, pos = normal_samples(7, 6)
    found = estimate_of(neg, pos)
    monkeypatch.setattr(_bootstrap, "_NUMBERS_AT_ONCE", 13 * 4)
    _, drawn = _resampled_auc(found._sample, n_resamples=9)
    assert len(drawn) == 9
    error = found.standard_error("bootstrap", n_resamples=9)
    assert error == pytest.approx(np.sqrt(((drawn - drawn.mean()) ** 2).sum() / 8))
    low, high = (
        found.confidence_interval(0.9, "bootstrap", alternative=side, n_resamples=199)
        for side in ("greater", "less")
    )
    assert 0 < low[0] < found.auc < high[1]
    assert (low[1], high[0]) == (1, 0)


def test_binormal_error_against_monte_carlo():
    # 40 000 data sets of this law: the spread of the estimates and the mean error
    rng = np.random.default_rng(0)
    neg, pos = rng.normal(0, 1, (4000, 30)), rng.normal(1.2, 2, (4000, 40))
    delta = (pos.mean(1) - neg.mean(1)) / np.sqrt(
        neg.var(1, ddof=1) + pos.var(1, ddof=1)
    )
    spread = stats.norm.cdf(delta).std()
    errors = [
        estimate_of(neg[i], pos[i]).standard_error("binormal") for i in range(300)
    ]
    assert np.mean(errors) == pytest.approx(spread, rel=0.05)
    centre = estimate_of(neg[0], pos[0]).confidence_interval(1e-9, "binormal")
    assert np.mean(centre) == pytest.approx(stats.norm.cdf(delta[0]), rel=1e-8)


def auc_draws(neg, pos, size, seed):
    """AUCs of means and variances drawn from their posterior, σ² ~ (n − 1)s²/χ²."""
    rng = np.random.default_rng(seed)
    draws = []
    for x in (neg, pos):
        df = len(x) - 1
        variance = df * x.var(ddof=1) / rng.chisquare(df, size)
        draws.append((rng.normal(x.mean(), np.sqrt(variance / len(x))), variance))
    (m0, v0), (m1, v1) = draws
    return stats.norm.cdf((m1 - m0) / np.sqrt(v0 + v1))


def test_bayesian_limits_against_draws():
    neg, pos = normal_samples(8, 12, seed=4)
    auc = auc_draws(neg, pos, 400_000, seed=1)
    estimate = estimate_of(neg, pos)
    got = estimate.confidence_interval(0.9, "bayesian")
    assert got == pytest.approx(np.quantile(auc, [0.05, 0.95]), abs=2e-3)
    assert estimate.standard_error("bayesian") == pytest.approx(auc.std(), rel=5e-3)


def test_bayesian_common_is_the_reference_posterior_of_cbauc():
    neg, pos = normal_samples(8, 12, seed=4)
    y, s = np.repeat([0, 1], [8, 12]), np.concatenate([neg, pos])
    prior = NormalInverseWishart(nu_neg=0, nu_pos=0, kappa=-2, scale=0.0)
    mean = cbauc_score(y, s, prior=prior)
    low, high = auc_estimate(y, s).confidence_interval(
        0.01, "bayesian", covariance="common"
    )
    assert low < mean + 0.02
    assert high > mean - 0.02


def test_bootstrap_is_scipys_bca():
    neg, pos = NDKA[Y == 0], NDKA[Y == 1]

    def auc(neg, pos, axis=-1):
        return (
            (pos[..., :, None] > neg[..., None, :])
            + 0.5 * (pos[..., :, None] == neg[..., None, :])
        ).mean(axis=(-1, -2))

    scipys = stats.bootstrap(
        (neg, pos), auc, n_resamples=19_999, batch=200, random_state=3
    )
    estimate = auc_estimate(Y, NDKA)
    got = estimate.confidence_interval(method="bootstrap", n_resamples=19_999)
    expected = tuple(scipys.confidence_interval)
    # a limit of 19 999 draws deviates by .002
    assert got == pytest.approx(expected, abs=7e-3)
    error = estimate.standard_error("bootstrap", n_resamples=19_999)
    assert error == pytest.approx(scipys.standard_error, rel=0.03)


@pytest.mark.parametrize("flip", [1, -1])
def test_limits_without_transform_are_cut_at_nought_and_one_only(flip):
    neg, pos = normal_samples(40, 60, seed=1)
    estimate = estimate_of(flip * (neg + 4), flip * pos)
    reach = stats.norm.ppf(0.95) * estimate.standard_error("delong")
    expected = np.clip([estimate.auc - reach, estimate.auc + reach], 0, 1)
    assert min(estimate.auc, 1 - estimate.auc) < 0.1
    assert 0 in expected or 1 in expected or (expected < 0.1).any()
    got = estimate.confidence_interval(0.9, "delong", transform="none")
    assert got == pytest.approx(tuple(expected), rel=1e-9)


def test_bca_by_a_jackknife_with_loops():
    neg, pos = normal_samples(7, 40, seed=3)
    rows = {"neg": neg, "pos": pos}
    top = bottom = 0.0
    for name, n in (("neg", 7), ("pos", 40)):
        left_out = np.array(
            [
                oracles.psi(**rows | {name: np.delete(rows[name], i)}).mean()
                for i in range(n)
            ]
        )
        u = (n - 1) * (left_out.mean() - left_out)
        top += np.sum(u**3) / n**3
        bottom += np.sum(u**2) / n**2
    acceleration = top / (6 * bottom**1.5)
    assert abs(acceleration) > 0.05  # or the test sees nothing of it
    estimate = estimate_of(neg, pos)
    auc, drawn = _resampled_auc(estimate._sample, n_resamples=2000)
    bias = stats.norm.ppf(np.mean(drawn < auc) + np.mean(drawn == auc) / 2)
    z = bias + stats.norm.ppf([0.05, 0.95])
    expected = np.quantile(drawn, stats.norm.cdf(bias + z / (1 - acceleration * z)))
    got = estimate.confidence_interval(0.9, "bootstrap", n_resamples=2000)
    assert got == pytest.approx(tuple(expected), abs=1e-12)


def test_bca_whose_draws_all_lie_on_one_side_of_the_estimate():
    """The share below is kept half a draw from 0 and 1: z₀ is finite."""
    neg, pos, sides = *normal_samples(9, 11, seed=1), set()
    estimate = estimate_of(neg, pos)
    n = len(neg), len(pos)
    u = [v - estimate.auc for v in estimate._sample.placements]
    skew = sum(np.sum(v**3) / k**3 for v, k in zip(u, n, strict=True))
    spread = sum(np.sum(v**2) / k**2 for v, k in zip(u, n, strict=True))
    a = skew / (6 * spread**1.5)
    for seed in range(20):
        options = {"n_resamples": 2, "random_state": seed}
        auc, drawn = _resampled_auc(estimate._sample, **options)
        below = np.mean(drawn < auc) + np.mean(drawn == auc) / 2
        sides.add(below)
        z = stats.norm.ppf(min(max(below, 0.25), 0.75))
        t = z + stats.norm.ppf([0.2, 0.8])
        expected = np.quantile(drawn, stats.norm.cdf(z + t / (1 - a * t)))
        got = estimate.confidence_interval(0.6, "bootstrap", **options)
        assert got == pytest.approx(tuple(expected), abs=1e-12)
    assert {0.0, 1.0} <= sides


@pytest.mark.parametrize("sizes", [(60, 90), (3000, 900)])  # scores drawn, blocks
def test_bootstrap_error_is_its_variance_over_all_resamples(sizes):
    # of independent draws from both samples, pairs that share a row counted
    neg, pos = normal_samples(*sizes, seed=7)
    kernel = oracles.psi(neg, pos)
    auc, n0, n1 = kernel.mean(), *sizes
    variance = (
        auc * (1 - auc)
        + (n0 - 1) * kernel.mean(axis=1).var()
        + (n1 - 1) * kernel.mean(axis=0).var()
    ) / (n0 * n1)
    error = estimate_of(neg, pos).standard_error("bootstrap", n_resamples=40_000)
    # 40 000 draws: a deviation of 1/√80 000 = .0035
    assert error == pytest.approx(np.sqrt(variance), rel=0.011)


def test_blocks_of_scores_keep_the_auc():
    rng = np.random.default_rng(3)
    neg, pos = rng.normal(size=2000).round(2), rng.normal(0.5, 1, 70).round(2)
    neg = np.concatenate([neg, rng.normal(size=3000)])
    weight = rng.integers(1, 4, 5070)
    estimate = estimate_of(neg, pos, sample_weight=weight)
    blocks = _Blocks.from_sample(estimate._sample)
    assert len(blocks.n_neg) <= 512
    assert blocks.n_neg.sum() == estimate.n_neg
    assert blocks.n_pos.sum() == estimate.n_pos
    auc = blocks.auc(blocks.n_neg, blocks.n_pos)
    assert auc == pytest.approx(estimate.auc, rel=1e-14)


def test_bootstrap_of_many_rows_is_delong():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.3
    estimate = auc_estimate(y, rng.standard_normal(200_000) + y)
    expected = estimate.confidence_interval(method="delong", transform="none")
    got = estimate.confidence_interval(method="bootstrap", n_resamples=4999)
    # a limit of 4 999 draws deviates by .04 standard errors
    close = 0.15 * estimate.standard_error("delong")
    assert got == pytest.approx(expected, abs=close)


def test_cortes_mohri_counts_the_errors():
    estimate = auc_estimate(Y, S100B)
    errors = int(((S100B > 0.205) != Y).sum())
    expected = cortes_mohri_interval(41, 72, errors, 0.9)
    for option in ({"threshold": 0.205}, {"n_errors": errors}):
        assert estimate.confidence_interval(0.9, "cortes_mohri", **option) == expected
    error = estimate.standard_error("cortes_mohri", threshold=0.205)
    assert error == np.sqrt(cortes_mohri_moments(41, 72, errors)[1])


def test_zero_variance_is_clopper_pearson():
    estimate = estimate_of(np.arange(5), np.arange(5, 11))
    expected = stats.binomtest(5, 5).proportion_ci(0.95)
    for method in ("delong", "bamber", "hanley_mcneil", "max_variance", "bootstrap"):
        got = estimate.confidence_interval(method=method)
        assert got == pytest.approx(tuple(expected), rel=1e-12)


# ------------------------------------------------------------------------- laws

scores = st.lists(st.integers(-3, 3), min_size=2, max_size=8)


@settings(deadline=None, max_examples=40)
@given(scores, scores, st.sampled_from(list(METHODS)))
def test_inside_nested_and_one_sided(neg, pos, method):
    estimate = estimate_of(np.array(neg, float), np.array(pos, float))
    options = OPTIONS.get(method, {})
    if method == "cortes_mohri":
        options = {"n_errors": min(3, len(neg))}
    last = (1.0, 0.0)
    for level in (0.5, 0.9, 0.95, 0.999, 1 - 1e-9):
        low, high = estimate.confidence_interval(level, method, **options)
        assert 0 <= low <= high <= 1
        assert high > low  # informative, never a point
        assert low <= last[0] + 1e-6
        assert high >= last[1] - 1e-6
        last = low, high
    low, high = estimate.confidence_interval(0.9, method, **options)
    one = [
        estimate.confidence_interval(0.95, method, alternative=side, **options)
        for side in ("greater", "less")
    ]
    assert one[0] == pytest.approx((low, 1.0), abs=1e-9)
    assert one[1] == pytest.approx((0.0, high), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_swapping_the_classes_mirrors(method, seed):
    neg, pos = normal_samples(7, 11, seed)
    options = OPTIONS.get(method, {})
    low, high = estimate_of(neg, pos).confidence_interval(method=method, **options)
    swapped = estimate_of(pos, neg)
    mirror = swapped.confidence_interval(method=method, **options)
    if method == "cortes_mohri":  # the AUC does not enter
        assert mirror == (low, high)
    elif method == "bootstrap":  # other draws
        assert mirror == pytest.approx((1 - high, 1 - low), abs=0.05)
    elif method == "hanley_mcneil":  # its exponential scores are not symmetric
        assert swapped.auc == pytest.approx(1 - estimate_of(neg, pos).auc)
    else:
        assert mirror == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows(method):
    neg, pos = normal_samples(7, 6, seed=5, shift=0.5)
    y, s = np.repeat([0, 1], [7, 6]), np.concatenate([neg, pos])
    weight = np.array([2, 1, 0, 3, 1, 1, 2, 1, 1, 2, 0, 1, 3])
    options = OPTIONS.get(method, {})
    weighted = auc_estimate(y, s, sample_weight=weight)
    repeated = auc_estimate(np.repeat(y, weight), np.repeat(s, weight))
    assert weighted.auc == pytest.approx(repeated.auc, rel=1e-14)
    assert (weighted.n_neg, weighted.n_pos) == (repeated.n_neg, repeated.n_pos)
    for got, expected in zip(
        weighted.confidence_interval(method=method, **options),
        repeated.confidence_interval(method=method, **options),
        strict=True,
    ):
        assert got == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    "method", [m for m in METHODS if m not in ("binormal", "bayesian", "cortes_mohri")]
)
def test_order_of_the_rows_and_monotone_maps(method):
    rng = np.random.default_rng(8)
    shuffle = rng.permutation(len(Y))
    expected = auc_estimate(Y, NDKA).confidence_interval(method=method)
    got = auc_estimate(Y[shuffle], np.log(NDKA[shuffle]))
    assert got.confidence_interval(method=method) == pytest.approx(expected, rel=1e-13)


def test_sampling_weights_of_independent_rows():
    # linearisation of Σ w w ψ/(Σw Σw), row by row, n_c/(n_c − 1)
    rng = np.random.default_rng(3)
    positive = np.arange(60) % 3 == 0
    score, w = rng.normal(size=60) + positive, rng.uniform(0.2, 3, 60)
    estimate = auc_estimate(positive, score, sample_weight=w, groups=np.arange(60))
    kernel = oracles.psi(score[~positive], score[positive])
    w0, w1 = w[~positive] / w[~positive].sum(), w[positive] / w[positive].sum()
    auc = w1 @ kernel @ w0
    variance = (
        20 / 19 * ((w1 * (kernel @ w0 - auc)) ** 2).sum()
        + 40 / 39 * ((w0 * (w1 @ kernel - auc)) ** 2).sum()
    )
    assert estimate.auc == pytest.approx(auc, rel=1e-12)
    assert estimate.standard_error() == pytest.approx(np.sqrt(variance), rel=1e-12)


def test_clusters_by_loops():
    rng = np.random.default_rng(6)
    patient = np.repeat(np.arange(15), 4)
    positive = rng.random(60) < 0.5
    score = rng.integers(0, 9, 60) + 2.0 * positive + np.repeat(rng.normal(size=15), 4)
    estimate = auc_estimate(positive, score, groups=[f"patient {p}" for p in patient])
    expected = np.sqrt(oracles.loop_obuchowski(score, positive, patient))
    assert estimate.standard_error() == pytest.approx(expected, rel=1e-12)
    default = estimate.confidence_interval()
    assert default == estimate.confidence_interval(method="delong", transform="logit")


# ------------------------------------------------------------------------- edges


@pytest.mark.parametrize("method", ["score", "hanley_mcneil_score", "hanley_mcneil",
                                    "max_variance"])  # fmt: skip
@pytest.mark.parametrize("sizes", [(1, 1), (1, 5), (5, 1)])
def test_one_row_in_a_class(method, sizes):
    low, high = estimate_of(*normal_samples(*sizes)).confidence_interval(method=method)
    assert 0 <= low < high <= 1


@pytest.mark.parametrize("method", METHODS)
def test_perfect_and_useless_scores_are_informative(method):
    options = OPTIONS.get(method, {})
    up = estimate_of(np.arange(9), np.arange(9, 19))
    low, high = up.confidence_interval(method=method, **options)
    assert 0.3 < low < 1
    assert high > 0.99
    same = estimate_of(np.zeros(9), np.zeros(10))
    assert same.auc == 0.5
    low, high = same.confidence_interval(method=method, **options)
    if method != "cortes_mohri":
        assert low < 0.35
        assert high > 0.65
    assert "AUCEstimate(auc=0.5, interval95=(" in repr(same)


def test_infinite_and_subnormal_scores():
    neg, pos = np.array([-np.inf, 0.0, 5e-324]), np.array([5e-324, 1e-323, np.inf])
    estimate = estimate_of(neg, pos)
    assert estimate.auc == oracles.psi(neg, pos).mean()
    assert estimate.confidence_interval().low > 0
    with pytest.raises(
        ValueError, match="y_score must be finite .*'binormal', got inf"
    ):
        estimate.standard_error("binormal")


def test_huge_scores_do_not_overflow():
    neg, pos = normal_samples(9, 9)
    small, large = estimate_of(neg, pos), estimate_of(neg * 1e307, pos * 1e307)
    for method in ("binormal", "bayesian"):
        assert large.confidence_interval(method=method) == pytest.approx(
            small.confidence_interval(method=method), rel=1e-9
        )


def test_ten_million_scores():
    rng = np.random.default_rng(0)
    y = rng.random(10**7) < 0.3
    score = rng.standard_normal(10**7) + y
    estimate = auc_estimate(y, score)
    true = stats.norm.cdf(1 / np.sqrt(2))
    assert estimate.auc == pytest.approx(true, abs=5e-4)
    low, high = estimate.confidence_interval(method="delong")
    assert low < estimate.auc < high
    assert 5e-4 < high - low < 8e-4  # 2 · 1.96 · √(.06/7e6 + .06/3e6), or so


def test_labels_and_direction():
    words = np.where(Y == 1, "poor", "good")
    assert auc_estimate(words, NDKA).auc == auc_estimate(Y, NDKA).auc
    flipped = auc_estimate(words, NDKA, pos_label="good")
    assert flipped.auc == pytest.approx(1 - auc_estimate(Y, NDKA).auc, rel=1e-14)
    assert flipped.auc < 0.5  # never turned round
    assert auc_estimate(Y * 2.0 - 1, NDKA).auc == auc_estimate(Y, NDKA).auc
    assert auc_estimate(Y, NDKA).auc == pytest.approx(roc_auc_score(Y, NDKA), rel=1e-14)


def test_default_transform_of_the_contract():
    call = auc_estimate(Y, NDKA).confidence_interval
    assert call(confidence_level=0.95, method="delong", transform="logit") == call(
        method="delong"
    )
    assert call().low < call().high
    assert call()._fields == ("low", "high")


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_score": np.where(np.arange(113) == 4, np.nan, NDKA)},
         "y_score must not be NaN, got nan in row 4"),
        ({"y_score": NDKA[1:]}, r"each of the 113 rows of y_true, got shape \(112,\)"),
        ({"y_true": np.ones(113)}, "y_true must hold both classes, got only 1.0"),
        ({"groups": [1, 2]}, "groups must have one value .* 113 rows .* got 2"),
        ({"sample_weight": -np.ones(113)}, "sample_weight must be >= 0, got -1.0"),
    ],
)  # fmt: skip
def test_bad_input(change, message):
    arguments = {"y_true": Y, "y_score": NDKA} | change
    with pytest.raises(ValueError, match=message):
        auc_estimate(**arguments)


@pytest.mark.parametrize("transform", ["none", "logit", "probit"])
def test_transforms_leave_methods_with_own_limits_alone(transform):
    estimate = auc_estimate(Y, NDKA)
    for method in ("score", "hanley_mcneil_score", "bayesian"):
        plain = estimate.confidence_interval(method=method)
        assert estimate.confidence_interval(method=method, transform=transform) == plain


@pytest.mark.parametrize("method", ["score", "hanley_mcneil_score", "delong"])
def test_one_sided_limits_are_nested_down_to_small_levels(method):
    estimate = auc_estimate(Y, NDKA)
    low = [
        estimate.confidence_interval(level, method, alternative="greater").low
        for level in (0.99, 0.9, 0.6, 0.5, 0.4, 0.1, 0.01)
    ]
    assert np.all(np.diff(low) > 0)
    assert low[3] == pytest.approx(estimate.auc, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence_level": 95}, r"confidence_level must lie in \(0, 1\), got 95"),
        ({"method": "wald"}, "method must be one of 'score', .* got 'wald'"),
        ({"transform": "log", "method": "delong"}, "transform must be .* got 'log'"),
        ({"alternative": "both"}, "alternative must be .* got 'both'"),
        ({"method": "delong", "n_errors": 3}, "n_errors must not be given .*'delong'"),
        ({"method": "cortes_mohri"}, "threshold= or n_errors=, got none of them"),
        ({"method": "cortes_mohri", "n_errors": 3, "threshold": 1}, "got both"),
        ({"method": "bootstrap", "n_resamples": 0}, "n_resamples must .* got 0"),
        ({"method": "bayesian", "covariance": "full"}, "covariance must .* got 'full'"),
    ],
)
def test_bad_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        auc_estimate(Y, NDKA).confidence_interval(**arguments)


def test_weights_that_are_no_counts_have_no_interval():
    estimate = auc_estimate(Y, NDKA, sample_weight=np.full(113, 0.5))
    assert estimate.auc == pytest.approx(auc_estimate(Y, NDKA).auc, rel=1e-14)
    assert "interval" not in repr(estimate)
    for ask in (estimate.confidence_interval, estimate.standard_error):
        with pytest.raises(
            ValueError, match="whole numbers .* without groups, got 0.5"
        ):
            ask()


@pytest.mark.parametrize("unit", [1e-300, 1 / 113, 1e300, 5e-324])
def test_only_the_ratios_of_weights_matter_for_the_estimate(unit):
    plain = auc_estimate(Y, NDKA, groups=np.arange(113))
    groups = auc_estimate(
        Y, NDKA, sample_weight=np.full(113, unit), groups=np.arange(113)
    )
    assert groups.auc == pytest.approx(plain.auc, rel=1e-14)
    error = plain.standard_error()
    assert groups.standard_error() == pytest.approx(error, rel=1e-12)
    estimate = auc_estimate(Y, NDKA, sample_weight=np.full(113, unit))
    assert estimate.auc == pytest.approx(plain.auc, rel=1e-14)
    with pytest.raises(ValueError, match="whole numbers .* at most 2.* got "):
        estimate.confidence_interval()


def test_huge_counts_take_no_memory():
    few = auc_estimate(Y, NDKA, sample_weight=np.full(113, 10**9))
    for method in ("bamber", "delong", "bootstrap"):
        low, high = few.confidence_interval(method=method)
        assert low < few.auc < high
        assert high - low < 1e-4
    assert few.standard_error("cortes_mohri", threshold=0.2) > 0


WRONG = [
    ({"y_score": ["a"] * 113}, "y_score must hold numbers, got 'a'"),
    ({"y_score": None}, "y_score must hold numbers, got None"),
    ({"y_score": [None] * 113}, "y_score must hold numbers, got None"),
    ({"y_score": [1j] * 113}, "y_score must hold numbers, got 1j"),
    ({"y_true": None}, "y_true must be one-dimensional, got None"),
    ({"y_true": [b"a", b"b"]}, "y_true must hold texts or numbers, got b'a'"),
    ({"y_true": ["a", None] * 56 + ["a"]}, "y_true must hold .* 'a', None"),
    ({"y_true": np.ones((113, 2))}, r"y_true must be .* got shape \(113, 2\)"),
    ({"groups": ["a", None] * 56 + ["a"]}, "groups must hold labels .* 'a', None"),
    ({"groups": 3}, "groups must be one-dimensional, got 3"),
    ({"sample_weight": "a"}, "sample_weight must hold numbers, got 'a'"),
    ({"sample_weight": np.full(113, 1e308)}, "sample_weight must have a finite sum"),
    ({"pos_label": [1]}, r"pos_label must be one of the labels .* got \[1\]"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_wrong_kinds(change, message):
    with pytest.raises(ValueError, match=message):
        auc_estimate(**({"y_true": Y, "y_score": NDKA} | change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap", "n_resamples": "x"}, "n_resamples must .* got 'x'"),
        ({"method": "bootstrap", "n_resamples": np.inf}, "n_resamples must .* inf"),
        ({"method": "bootstrap", "random_state": "x"}, "random_state must .* got 'x'"),
        ({"method": "bayesian", "covariance": [1]}, r"covariance must .* got \[1\]"),
        ({"method": "cortes_mohri", "threshold": "x"}, "threshold must .* got 'x'"),
        ({"method": "cortes_mohri", "threshold": 1, "adaptive": 2}, "adaptive .* 2"),
        ({"method": None, "confidence_level": "a"}, "confidence_level must .* a"),
    ],
)
def test_wrong_kinds_of_options(options, message):
    with pytest.raises(ValueError, match=message):
        auc_estimate(Y, NDKA).confidence_interval(**options)


def test_one_group_has_a_picture_without_limits():
    estimate = auc_estimate([0, 0, 1, 1], [1, 2, 3, 4], groups=[0, 1, 2, 2])
    assert repr(estimate) == "AUCEstimate(auc=1, n_neg=2, n_pos=2)"


def test_too_few_rows_or_clusters():
    with pytest.raises(ValueError, match="'delong' needs at least 2 rows .* got 1"):
        estimate_of(np.arange(4), [5]).confidence_interval(method="delong")
    estimate = auc_estimate([0, 0, 1, 1], [1, 2, 3, 4], groups=[0, 1, 2, 2])
    with pytest.raises(ValueError, match="at least 2 groups .* got 1"):
        estimate.confidence_interval()
    with pytest.raises(ValueError, match="must be 'delong' with groups, got 'score'"):
        auc_estimate(Y, NDKA, groups=Y).confidence_interval(method="score")


def test_variance_of_the_score_interval_is_the_larger_of_two():
    # half of the negatives lie above all positives: much more varies than a model says
    neg, pos = np.r_[np.arange(10.0), np.arange(50.0, 60)], np.arange(20.0, 40)
    estimate = estimate_of(neg, pos)
    delong = estimate.standard_error("delong") ** 2
    model = balanced_variance(estimate.auc, 20, 20)
    assert delong > 1.05 * model
    variance = _larger(estimate._sample)
    assert variance(estimate.auc) == pytest.approx(delong, rel=1e-12)
    scaled = delong * 0.7 * 0.3 / (estimate.auc * (1 - estimate.auc))
    expected = max(scaled, balanced_variance(0.7, 20, 20))
    assert variance(0.7) == pytest.approx(expected, rel=1e-12)
    few = estimate_of(np.array([0.0, 50.0]), np.arange(20.0, 40))
    delong = few.standard_error("delong") ** 2
    assert delong > 1.05 * balanced_variance(few.auc, 2, 20)
    assert _larger(few._sample)(few.auc) == pytest.approx(delong, rel=1e-12)


def test_one_sided_limits_of_cortes_mohri_are_those_of_twice_the_tail():
    estimate = auc_estimate(Y, S100B)
    two = estimate.confidence_interval(0.9, "cortes_mohri", n_errors=20)
    options = {"method": "cortes_mohri", "n_errors": 20}
    low = estimate.confidence_interval(0.95, alternative="greater", **options)
    high = estimate.confidence_interval(0.95, alternative="less", **options)
    assert (low[0], high[1]) == pytest.approx(two, rel=1e-12)
    assert (low[1], high[0]) == (1, 0)


def test_bayesian_common_against_draws():
    neg, pos = normal_samples(3, 4, seed=5)
    rng = np.random.default_rng(2)
    df = len(neg) + len(pos) - 2
    square = (len(neg) - 1) * neg.var(ddof=1) + (len(pos) - 1) * pos.var(ddof=1)
    variance = square / rng.chisquare(df, 1_000_000)
    m0, m1 = (rng.normal(x.mean(), np.sqrt(variance / len(x))) for x in (neg, pos))
    auc = stats.norm.cdf((m1 - m0) / np.sqrt(2 * variance))
    estimate = estimate_of(neg, pos)
    got = estimate.confidence_interval(0.9, "bayesian", covariance="common")
    assert got == pytest.approx(np.quantile(auc, [0.05, 0.95]), abs=1.5e-3)
    error = estimate.standard_error("bayesian", covariance="common")
    assert error == pytest.approx(auc.std(), rel=6e-3)


def test_bayesian_separate_of_few_rows_against_draws():
    neg, pos = normal_samples(3, 4, seed=5)
    auc = auc_draws(neg, pos, 1_000_000, seed=3)
    estimate = estimate_of(neg, pos)
    got = estimate.confidence_interval(0.9, "bayesian")
    assert got == pytest.approx(np.quantile(auc, [0.05, 0.95]), abs=1.5e-3)
    assert estimate.standard_error("bayesian") == pytest.approx(auc.std(), rel=6e-3)


def test_bayesian_of_a_class_that_does_not_vary():
    neg, pos = np.zeros(5), np.array([-0.5, 1.0, 2.0, 2.5])
    estimate = estimate_of(neg, pos)
    exact = stats.binomtest(3, 4).proportion_ci(0.9)  # n_smallest trials
    got = estimate.confidence_interval(0.9, "bayesian")
    assert got == pytest.approx((exact.low, exact.high))
    assert estimate.standard_error("bayesian") == 0
    common = estimate.confidence_interval(0.9, "bayesian", covariance="common")
    assert common != pytest.approx(got, abs=1e-3)
    assert estimate.standard_error("bayesian", covariance="common") > 0


def test_score_interval_of_a_single_row_has_the_models_variance():
    neg, pos = np.arange(20.0), np.array([15.5])
    low, high = estimate_of(neg, pos).confidence_interval(method="score")
    z = stats.norm.ppf(0.975)
    for limit in (low, high):
        variance = balanced_variance(limit, 20, 1)
        assert abs(0.8 - limit) == pytest.approx(z * np.sqrt(variance), rel=1e-6)
