"""Partial areas: pROC's and scikit-learn's numbers, brute force, laws, error texts."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.metrics import roc_auc_score, roc_curve

from skauc import auc_estimate, compare_auc

REFERENCE = Path(__file__).parents[1] / "reference"
ASAH = json.loads((REFERENCE / "proc_asah.json").read_text())
Y = np.array(ASAH["outcome"])
PROC = json.loads((REFERENCE / "proc_curves.json").read_text())
RANGES = [
    {"fpr": (0, 0.1)},
    {"fpr": (0.13, 0.48)},
    {"tpr": (0.9, 1)},
    {"tpr": (0.3, 0.7)},
]


def tied_sample(seed=0, n=40, values=9):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 5 < 2
    return y, np.floor(rng.normal(4 + y, 2, n)) % values


def dense_area(y, score, axis, low, high):
    """Mean height of scikit-learn's curve at a million places of the range."""
    x, y, _ = roc_curve(y, score, drop_intermediate=False)
    at = low + (high - low) * (np.arange(1_000_000) + 0.5) / 1_000_000
    if axis == "fpr":
        return np.interp(at, x, y).mean() * (high - low)
    return (1 - np.interp(at, y, x)).mean() * (high - low)


# ------------------------------------------------------------- published output


@pytest.mark.parametrize(
    ("how", "area"),
    [
        ({"fpr": (0, 0.1)}, 0.0334417344173442),
        ({"fpr": (0.1, 0.2)}, 0.0598373983739837),
        ({"tpr": (0.9, 1)}, 0.0400999322493225),
        ({"fpr": (0, 0.1), "standardize": True}, 0.649693339038653),
    ],
)
def test_proc_tests_of_wfns(how, area):
    got = auc_estimate(Y, ASAH["wfns"]).partial_auc(**how)
    assert got.auc == pytest.approx(area, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "axis", "low", "high", "corrected", "area"), PROC["partial"]
)
def test_proc_areas(name, axis, low, high, corrected, area):
    got = auc_estimate(Y, ASAH[name]).partial_auc(
        **{axis: (low, high)}, standardize=corrected
    )
    assert got.auc == pytest.approx(area, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_max_fpr(weighted):
    for max_fpr in [0.05, 0.3, 0.5, 1.0]:
        y, score = tied_sample()
        weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else None
        got = auc_estimate(y, score, sample_weight=weight).partial_auc(
            fpr=(0, max_fpr), standardize=True
        )
        expected = roc_auc_score(y, score, max_fpr=max_fpr, sample_weight=weight)
        assert got.auc == pytest.approx(expected, rel=1e-12)


# ------------------------------------------------------------------- formulas


@pytest.mark.parametrize("how", RANGES)
def test_area_from_its_definition(how):
    for seed in range(3):
        y, score = tied_sample(seed)
        ((axis, (low, high)),) = how.items()
        got = auc_estimate(y, score).partial_auc(**how)
        assert got.auc == pytest.approx(dense_area(y, score, axis, low, high), abs=1e-6)


@pytest.mark.parametrize("how", RANGES)
def test_error_is_the_derivative_with_respect_to_each_row(how):
    # The infinitesimal jackknife, by weights moved a little: variance is the sum over
    # classes of n/(n − 1) Σ (dA/dw_i)², since weights enter as shares.
    y, score = tied_sample(4)
    step, slopes = 1e-5, np.empty(len(y))
    for i in range(len(y)):
        moved = []
        for sign in (1, -1):
            weight = np.ones(len(y))
            weight[i] += sign * step
            moved.append(
                auc_estimate(y, score, sample_weight=weight).partial_auc(**how).auc
            )
        slopes[i] = (moved[0] - moved[1]) / (2 * step)
    n = np.where(y, y.sum(), (~y).sum())
    expected = np.sqrt((slopes**2 * n / (n - 1)).sum())
    got = auc_estimate(y, score).partial_auc(**how).standard_error
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("how", [{"fpr": (0, 1)}, {"tpr": (0, 1)}])
def test_the_whole_range_is_delong(how):
    y, score = tied_sample(2)
    estimate = auc_estimate(y, score)
    part = estimate.partial_auc(**how)
    assert part.auc == pytest.approx(estimate.auc, rel=1e-14)
    assert part.standard_error == pytest.approx(
        estimate.standard_error("delong"), rel=1e-12
    )
    groups = np.arange(len(y)) // 2
    clustered = auc_estimate(y, score, groups=groups)
    assert clustered.partial_auc(**how).standard_error == pytest.approx(
        clustered.standard_error("delong"), rel=1e-12
    )


def test_few_rows_are_covered():
    """Below FPR .1 the 95 % intervals of 5 + 5 rows held .84 of the areas."""
    shift, rng = 2**0.5 * norm.ppf(0.7), np.random.default_rng(0)
    area = quad(lambda x: norm.cdf(shift + norm.ppf(x)), 0, 0.1)[0]
    scores = rng.normal(size=(200, 10)) + np.repeat([0, shift], 5)
    found = (
        auc_estimate(np.arange(10) > 4, s).partial_auc(fpr=(0, 0.1)) for s in scores
    )
    low, high = np.transpose([part.confidence_interval() for part in found])
    assert np.mean((low <= area) & (area <= high)) > 0.92


def test_perfect_scores_are_not_certain():
    part = auc_estimate([0] * 10 + [1] * 8, range(18)).partial_auc(fpr=(0, 0.2))
    assert part.auc == pytest.approx(0.2)
    assert part.standard_error == 0
    low, high = part.confidence_interval()
    assert 0 < low < 0.15
    assert high == pytest.approx(0.2)


def test_perfect_scores_below_a_level_of_a_half():
    """One side of a level of .3 lies below the estimate (Wilson's limit)."""
    y, score = np.repeat([0, 1], [2, 3]), np.arange(5.0)
    part = auc_estimate(y, score).partial_auc(fpr=(0, 1))
    _, high = part.confidence_interval(0.3, alternative="less")
    assert 0.8 < high < 1


@pytest.mark.filterwarnings("ignore:The rows are those of fewer than 6 groups")
def test_perfect_scores_of_clusters_are_not_certain():
    """Placements that are equal except for rounding have no variance."""
    y, score = np.arange(9) % 3 == 0, np.arange(9) * 0.1
    estimate = auc_estimate(y, score + 5 * y, groups=np.arange(9) // 2)
    part = estimate.partial_auc(fpr=(0.13, 0.48))
    assert part.standard_error == 0
    low, high = part.confidence_interval()
    assert (low < 0.3, high) == (True, pytest.approx(0.35))


# ------------------------------------------------------------------------ laws


@pytest.mark.parametrize("limits", [(0.9, 1), (0.8, 1), (0.7, 0.9), (0.1, 0.3)])
def test_limits_between_two_rows_are_the_same_on_both_axes(limits):
    # 1 − 0.9 is less than 0.1, where the curve of 10 or 20 rows jumps
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [50, 20])
    score = rng.normal(y)
    low, high = limits
    one = auc_estimate(y, score).partial_auc(tpr=limits)
    mirrored = round(1 - high, 12), round(1 - low, 12)
    other = auc_estimate(1 - y, -score).partial_auc(fpr=mirrored)
    assert one.auc == pytest.approx(other.auc, rel=1e-12)
    assert one.standard_error == pytest.approx(other.standard_error, rel=1e-12)


# ------------------------------------------------------------------- comparisons


def test_comparing_the_whole_range_is_delongs_test():
    a, b = ASAH["wfns"], ASAH["s100b"]
    for how in ({"fpr": (0, 1)}, {"tpr": (0, 1)}):
        result, plain = compare_auc(Y, a, b, **how), compare_auc(Y, a, b)
        assert result.statistic == pytest.approx(plain.statistic, rel=1e-10)
        assert result.auc_a == plain.auc_a == auc_estimate(Y, a).auc
        assert result.auc_b == plain.auc_b


def test_other_comparisons_of_parts():
    y, a = tied_sample(1)
    b = a + np.random.default_rng(3).normal(0, 2, len(y)).round()
    one, two = (auc_estimate(y, s).partial_auc(fpr=(0, 0.4)) for s in (a, b))
    unpaired = compare_auc(y, a, b, y_true_b=y, fpr=(0, 0.4))
    error = np.hypot(one.standard_error, two.standard_error)
    assert unpaired.standard_error == pytest.approx(error, rel=1e-12)
    many = compare_auc(y, a, b, a, fpr=(0, 0.4))
    assert many.auc == pytest.approx([one.auc, two.auc, one.auc])
    assert many.pairs[1].pvalue == 1
    assert compare_auc(y, a, a, tpr=(0.5, 1)).pvalue == 1


# ------------------------------------------------------------------- error texts


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({}, "needs either fpr or tpr, got none of them"),
        ({"fpr": (0, 1), "tpr": (0, 1)}, "got fpr and tpr"),
        (
            {"fpr": (0.2, 0.1)},
            r"fpr must be two numbers 0 <= a < b <= 1, .* got \(0.2, 0.1\)",
        ),
        ({"fpr": (0, 1e-300)}, r"1e-08 or more apart, got \(0, 1e-300\)"),
        ({"tpr": 0.1}, "tpr must be two numbers 0 <= a < b <= 1, .* got 0.1"),
        ({"fpr": (0, 1.5)}, r"fpr must lie in \[0, 1\], got 1.5"),
        (
            {"fpr": (0, 1), "standardize": "a"},
            "standardize must be True or False, got 'a'",
        ),
    ],
)
def test_errors(how, text):
    with pytest.raises(ValueError, match=text):
        auc_estimate([0, 0, 1, 1], [1, 2, 3, 4]).partial_auc(**how)


def test_errors_of_intervals_and_comparisons():
    part = auc_estimate([0, 1], [1, 2]).partial_auc(fpr=(0, 0.5))
    assert repr(part) == "PartialAUC(auc=0.5, fpr=(0, 0.5), pos_label=1)"
    with pytest.raises(ValueError, match="each class must hold at least 2 rows"):
        part.confidence_interval()
    with pytest.raises(ValueError, match=r"null must lie in \[0, 0.1\], got 0.5"):
        compare_auc([0, 0, 1, 1], [1, 2, 3, 4], null=0.5, fpr=(0, 0.1))
