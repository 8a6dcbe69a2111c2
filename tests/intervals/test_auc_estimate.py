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

from skauc import SampleWeightWarning, auc_estimate

ASAH = json.loads((Path(__file__).parents[1] / "reference/proc_asah.json").read_text())
Y = np.array(ASAH["outcome"])
NDKA, S100B = np.array(ASAH["ndka"]), np.array(ASAH["s100b"])
METHODS = ["score", "hanley_mcneil_score", "delong", "hanley_mcneil"]


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
    y, score = oracles.rows_of_auc(N - n, n, auc)
    error = auc_estimate(y, score).standard_error("hanley_mcneil")
    assert error == pytest.approx(printed, rel=0.015)


# ------------------------------------------------------------------- formulas


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_score_interval_is_all_admitted_values(shift):
    neg, pos = normal_samples(9, 14, seed=2, shift=shift)
    estimate = estimate_of(neg, pos)
    delong = estimate.standard_error("delong") ** 2
    grid = np.linspace(0, 1, 200_001)
    share = estimate.auc * (1 - estimate.auc)
    variance = np.maximum(
        oracles.newcombe_variance(grid, 9, 14), delong * grid * (1 - grid) / share
    )
    z2 = stats.norm.isf(0.025) ** 2
    admitted = grid[(grid - estimate.auc) ** 2 <= z2 * variance]
    assert np.diff(admitted).max() < 1.1 / 200_000  # one piece
    got = estimate.confidence_interval()
    assert got == pytest.approx((admitted[0], admitted[-1]), abs=6e-6)


def test_wald_limits_stay_between_0_and_1():
    estimate = estimate_of(np.arange(8.0), np.arange(6.5, 14))
    low, high = estimate.confidence_interval(method="delong", transform="none")
    half = stats.norm.ppf(0.975) * estimate.standard_error("delong")
    assert estimate.auc + half > 1
    assert (low, high) == (pytest.approx(estimate.auc - half), 1)


# ------------------------------------------------------------------------- laws

scores = st.lists(st.integers(-3, 3), min_size=2, max_size=8)


@settings(deadline=None, max_examples=40)
@given(scores, scores, st.sampled_from(METHODS))
def test_inside_nested_and_one_sided(neg, pos, method):
    estimate = estimate_of(np.array(neg, float), np.array(pos, float))
    last = (1.0, 0.0)
    for level in (0.5, 0.9, 0.95, 0.999, 1 - 1e-9):
        low, high = estimate.confidence_interval(level, method=method)
        assert 0 <= low <= high <= 1
        assert high > low  # informative, never a point
        assert low <= last[0] + 1e-6
        assert high >= last[1] - 1e-6
        last = low, high
    low, high = estimate.confidence_interval(0.9, method=method)
    one = [
        estimate.confidence_interval(0.95, method=method, alternative=side)
        for side in ("greater", "less")
    ]
    assert one[0] == pytest.approx((low, 1.0), abs=1e-9)
    assert one[1] == pytest.approx((0.0, high), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_swapping_the_classes_mirrors(method):
    for seed in range(3):
        neg, pos = normal_samples(7, 11, seed)
        low, high = estimate_of(neg, pos).confidence_interval(method=method)
        swapped = estimate_of(pos, neg)
        mirror = swapped.confidence_interval(method=method)
        if method == "hanley_mcneil":  # its exponential scores are not symmetric
            assert swapped.auc == pytest.approx(1 - estimate_of(neg, pos).auc)
        else:
            assert mirror == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
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
    assert estimate.standard_error("delong") == pytest.approx(expected, rel=1e-12)


# ------------------------------------------------------------------------- edges


@pytest.mark.parametrize("method", ["score", "hanley_mcneil_score", "hanley_mcneil"])
def test_one_row_in_a_class(method):
    for sizes in [(1, 1), (1, 5), (5, 1)]:
        low, high = estimate_of(*normal_samples(*sizes)).confidence_interval(
            method=method
        )
        assert 0 <= low < high <= 1


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize("unit", [1e-60, 1 / 113, 1e60])
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
    with pytest.warns(SampleWeightWarning, match=r"groups=np.arange\(n\)"):
        limits = estimate.confidence_interval()
    if unit < 1:  # equal weights are worth as many rows
        assert limits == pytest.approx(auc_estimate(Y, NDKA).confidence_interval())


def test_too_few_rows_or_clusters():
    with pytest.raises(ValueError, match="must hold at least 2 rows .* got 1"):
        estimate_of(np.arange(4), [5]).confidence_interval(method="delong")
    estimate = auc_estimate([0, 0, 1, 1], [1, 2, 3, 4], groups=[0, 1, 2, 2])
    with pytest.raises(ValueError, match="at least 2 groups .* got 1"):
        estimate.confidence_interval()


def test_stand_ins_for_missing_scores_tie_no_others(rng):
    """Sentinels of any size among most of the rows, as nan_to_num makes of logits."""
    y = rng.integers(0, 2, 300)
    score = rng.normal(size=300) + y
    for stand_in in (-1e15, np.finfo(np.float32).min, np.finfo(float).min):
        odd = np.where(rng.random(300) < 0.6, stand_in, score)
        expected = roc_auc_score(y, odd)
        assert auc_estimate(y, odd).auc == pytest.approx(expected, abs=1e-12)
