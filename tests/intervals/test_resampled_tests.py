"""Permutation and bootstrap tests: all permutations, pROC, laws, size, error texts."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from skauc import auc_estimate, compare_auc
from skauc.intervals._resampled_tests import (
    _batches,
    _drawn_weights,
    _Levels,
    _signs,
    bootstrap_draws,
    exchange_effects,
    permutation_pvalue,
)
from skauc.intervals._sample import Sample

REFERENCE = Path(__file__).parents[1] / "reference"
ASAH = json.loads((REFERENCE / "proc_asah.json").read_text())
PROC = json.loads((REFERENCE / "proc_tests.json").read_text())
OUTCOME = np.array(ASAH["outcome"])


def small(seed, n=9, ties=True):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    a, b = rng.normal(size=(2, n)) + y
    return y, (np.round(a) if ties else a), b * 100


def pair_auc(y, score, weight):
    gap = score[y == 1][:, None] - score[y == 0]
    pairs = weight[y == 1][:, None] * weight[y == 0]
    return np.average((gap > 0) + 0.5 * (gap == 0), weights=pairs)


def all_differences(y, a, b, swaps, weight=None):
    """Differences of the AUCs for every choice of clusters to swap."""
    weight = np.ones(len(y)) if weight is None else weight
    a, b = rankdata(a), rankdata(b)
    found = []
    for choice in product([False, True], repeat=swaps.max() + 1):
        swap = np.array(choice)[swaps]
        one, two = np.where(swap, b, a), np.where(swap, a, b)
        found.append(pair_auc(y, one, weight) - pair_auc(y, two, weight))
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
def test_exact_pvalues_by_all_permutations(seed):
    y, a, b = small(seed, ties=seed % 2 == 0)
    differences = all_differences(y, a, b, np.arange(9))
    observed = differences[0]
    expected = {
        "two-sided": np.abs(differences) >= abs(observed) - 1e-9,
        "greater": differences >= observed - 1e-9,
        "less": differences <= observed + 1e-9,
    }
    for side, extreme in expected.items():
        result = compare_auc(y, a, b, method="permutation", alternative=side)
        assert result.difference == pytest.approx(observed)
        assert result.pvalue == pytest.approx(extreme.mean(), rel=1e-12)


def test_clusters_are_swapped_together():
    y, a, b = small(5, n=11)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5])
    for weight in (None, np.linspace(0.1, 1, 11)):
        differences = all_differences(y, a, b, groups, weight)
        expected = (np.abs(differences) >= abs(differences[0]) - 1e-9).mean()
        result = compare_auc(
            y, a, b, groups=groups, sample_weight=weight, method="permutation"
        )
        assert result.pvalue == pytest.approx(expected, rel=1e-12)


def test_a_row_of_weight_two_is_two_rows():
    y, a, b = small(7)
    weight = np.array([1, 2, 1, 1, 3, 1, 0, 1, 1])
    once = compare_auc(y, a, b, sample_weight=weight, method="permutation")
    again = [np.repeat(v, weight) for v in (y, a, b)]
    assert once.pvalue == compare_auc(*again, method="permutation").pvalue


def test_counts_are_drawn_and_not_written_out():
    y, a, b = small(7)
    several = compare_auc(
        y, a, b, sample_weight=np.full(9, 5), method="permutation", n_resamples=50_000
    )
    again = [np.repeat(v, 5) for v in (y, a, b)]
    rows = compare_auc(*again, method="permutation", n_resamples=50_000)
    assert several.difference == pytest.approx(rows.difference)
    assert several.pvalue == pytest.approx(
        rows.pvalue, abs=0.01
    )  # √(2pq/50 000) = .003
    assert 0.01 < rows.pvalue < 0.99
    # 10¹² copies of each row, of which memory holds none
    many = compare_auc(
        y, a, b, sample_weight=np.full(9, 1e12), method="permutation", n_resamples=100
    )
    assert many.pvalue == 1 / 101


def test_effects_add_up_to_the_difference():
    y, a, b = small(3, n=40)
    one, two = (Sample.from_rows(s, y == 1, keep_order=True) for s in (a, b))
    effects, copies = exchange_effects(one, two)
    assert len(effects) == 40
    assert np.all(copies == 1)
    assert effects.sum() == pytest.approx(one.auc - two.auc, rel=1e-12)


def test_drawn_permutations_approach_all_of_them():
    y, a, b = small(1, n=20)
    one, two = (Sample.from_rows(s, y == 1, keep_order=True) for s in (a, b))
    exact = permutation_pvalue(one, two, "greater", 100, None)
    signed, _ = exchange_effects(one, two)
    rng = np.random.default_rng(0)
    drawn = rng.choice([-1, 1], size=(200_000, len(signed))) @ signed
    assert exact == pytest.approx((drawn >= signed.sum() - 1e-12).mean(), abs=0.005)
    # beyond 20 rows the package draws too: the same share, plus the data themselves
    far = [np.concatenate([v, v]) for v in (y, a, b)]
    result = compare_auc(*far, method="permutation", n_resamples=50_000)
    again = compare_auc(*far, method="permutation", n_resamples=50_000, random_state=1)
    assert result.pvalue == pytest.approx(again.pvalue, abs=0.01)
    assert result.pvalue * 50_001 == pytest.approx(round(result.pvalue * 50_001))


def test_permutation_is_near_delong_for_many_rows():
    a, b = ASAH["wfns"], ASAH["ndka"]
    normal = compare_auc(OUTCOME, a, b)
    result = compare_auc(OUTCOME, a, b, method="permutation")
    assert result.pvalue == pytest.approx(normal.pvalue, abs=0.01)
    assert result.confidence_interval() == normal.confidence_interval()
    assert compare_auc(OUTCOME, a, a, method="permutation").pvalue == 1.0


def test_size_of_the_permutation_test_of_few_rows():
    # up to the noise of 400 data sets
    rng = np.random.default_rng(0)
    y = np.arange(8) % 2
    p = []
    for _ in range(400):
        common = rng.normal(size=8) + y
        a, b = common + rng.normal(size=(2, 8))
        p.append(compare_auc(y, a, b, method="permutation").pvalue)
    p = np.array(p)
    for level in (0.05, 0.1, 0.3):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / 400)
    assert (p <= 0.3).mean() > 0.1  # and it does reject


# ------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize(("a", "b", "z", "p"), PROC["bootstrap"])
def test_proc_bootstrap(a, b, z, p):
    result = compare_auc(OUTCOME, ASAH[a], ASAH[b], method="bootstrap")
    assert abs(result.statistic) == pytest.approx(z, rel=0.03)  # 10 000 resamples each
    assert result.pvalue == pytest.approx(p, rel=0.15)


def test_bootstrap_error_by_a_loop():
    y, a, b = small(2, n=16)
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(y == c) for c in (0, 1)]
    differences = []
    for _ in range(4000):
        rows = np.concatenate([rng.choice(c, len(c)) for c in classes])
        ones = np.ones(16)
        differences.append(
            pair_auc(y[rows], a[rows], ones) - pair_auc(y[rows], b[rows], ones)
        )
    result = compare_auc(y, a, b, method="bootstrap")
    assert result.standard_error == pytest.approx(np.std(differences), rel=0.05)


def test_bootstrap_of_one_of_many_and_of_different_rows():
    y, a, b = OUTCOME, ASAH["s100b"], ASAH["ndka"]
    options = {"method": "bootstrap", "n_resamples": 2000}
    one = compare_auc(y, a, constant=0.6, **options)
    plain = auc_estimate(y, a).standard_error("delong")
    assert one.standard_error == pytest.approx(plain, rel=0.06)
    apart = compare_auc(y, a, b, y_true_b=y, **options)
    delong = compare_auc(y, a, b, y_true_b=y)
    assert apart.standard_error == pytest.approx(delong.standard_error, rel=0.06)
    many = compare_auc(y, a, b, ASAH["wfns"], **options)
    S = compare_auc(y, a, b, ASAH["wfns"]).covariance
    np.testing.assert_allclose(many.covariance, S, rtol=0.15, atol=3e-5)
    error = np.sqrt(S[0, 0] + S[1, 1] - 2 * S[0, 1])
    assert many.pairs[0].standard_error == pytest.approx(error, rel=0.06)


def test_bootstrap_draws_clusters():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(60), 3)
    y = (groups + np.arange(180)) % 2
    common = np.repeat(rng.normal(size=60), 3)
    a, b = common + y + rng.normal(size=(2, 180)), common + rng.normal(size=180) + y
    a = a[0]
    clustered = compare_auc(y, a, b, groups=groups)
    drawn = compare_auc(y, a, b, groups=groups, method="bootstrap", n_resamples=4000)
    assert drawn.standard_error == pytest.approx(clustered.standard_error, rel=0.06)
    ratio = compare_auc(y, a, b, groups=groups, sample_weight=np.full(180, 0.01),
                        method="bootstrap", n_resamples=4000)  # fmt: skip
    assert ratio.standard_error == pytest.approx(drawn.standard_error, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "t"}, "method must be one of 'delong', .* got 't'"),
        (
            {"method": "welch"},
            "method='welch' needs scores of different rows, y_true_b, got None",
        ),
        (
            {"method": "permutation", "margin": 0.1, "alternative": "less"},
            "method='permutation' needs two scores of the same rows and no margin",
        ),
        (
            {"method": "permutation", "y_true_b": OUTCOME},
            "needs two scores of the same",
        ),
        (
            {"method": "bootstrap", "fpr": (0, 0.1)},
            "fpr and tpr must be None for method='bootstrap', got one",
        ),
        ({"n_resamples": 10}, r"whole number from 100 to 10\*\*7, got 10"),
        ({"random_state": "x"}, "random_state must be None, a whole number >= 0"),
    ],
)
def test_error_texts(options, text):
    with pytest.raises(ValueError, match=text):
        compare_auc(OUTCOME, ASAH["s100b"], ASAH["ndka"], **options)


@pytest.mark.parametrize("copies", [[1, 1, 1], [3, 1, 2], [2, 1, 2]])
def test_sums_of_random_signs(copies):
    copies = np.array(copies)
    signs = _signs(copies, 40_000, np.random.default_rng(0))
    assert np.all((signs + copies) % 2 == 0)
    assert np.abs(signs.mean(axis=0)).max() < 5 * np.sqrt(3 / 40_000)
    np.testing.assert_allclose(signs.var(axis=0), copies, rtol=0.03)
    assert np.abs(np.corrcoef(signs.T) - np.eye(3)).max() < 0.03


def test_aucs_of_weights_from_the_definition():
    rng = np.random.default_rng(0)
    y, score = np.arange(12) % 3 == 0, np.round(rng.normal(size=12), 1)
    sample = Sample.from_rows(score, y, None, None)
    curve = _Levels(sample)
    both = np.concatenate([sample.neg, sample.pos])
    label = np.repeat([0, 1], [len(sample.neg), len(sample.pos)])
    for _ in range(5):
        weight = rng.integers(0, 4, 12).astype(float)
        weight[[0, -1]] = 1.0
        neg, pos = weight[label == 0][None], weight[label == 1][None]
        expected = pair_auc(label, both, weight)
        assert curve.auc(neg, pos) == pytest.approx([expected])


@pytest.mark.parametrize(
    ("total", "width"), [(100, 10), (100, 60_000), (7, 10**7), (66, 60_000)]
)
def test_batches_are_as_many_as_asked(total, width):
    sizes = _batches(total, width)
    assert sum(sizes) == total
    assert min(sizes) >= 1
    assert max(sizes) * width <= max(2_000_000, width)


def test_effects_of_weighted_clusters_add_up_to_the_difference():
    rng = np.random.default_rng(2)
    y, weight, groups = np.arange(30) % 2, rng.uniform(0.5, 3, 30), np.arange(30) // 4
    ranks = [rankdata(rng.normal(size=30)) for _ in range(2)]
    samples = [Sample.from_rows(r, y == 1, weight, groups) for r in ranks]
    effects, copies = exchange_effects(*samples)
    gap = pair_auc(y, ranks[0], weight) - pair_auc(y, ranks[1], weight)
    assert effects @ copies == pytest.approx(gap)
    moved = pair_auc(y, np.where(groups == 3, ranks[1], ranks[0]), weight)
    moved -= pair_auc(y, np.where(groups == 3, ranks[0], ranks[1]), weight)
    assert effects @ copies - 2 * effects[3] == pytest.approx(moved)


def test_drawn_clusters_bring_all_their_rows_with_their_weights():
    rng = np.random.default_rng(3)
    y, weight = np.arange(12) % 2 == 0, rng.uniform(0.5, 3, 12)
    groups = np.repeat([0, 1, 2, 3], [2, 4, 2, 4])
    sample = Sample.from_rows(rng.normal(size=12), y, weight, groups)
    neg, pos = _drawn_weights(sample, 500, rng)
    drawn = np.hstack([neg, pos]) / np.concatenate(sample.counts)
    cluster = np.concatenate([sample.cluster_neg, sample.cluster_pos])
    times = np.array([drawn[:, cluster == g][:, 0] for g in range(4)])
    assert np.allclose(drawn, times[cluster].T)
    assert np.allclose(times.sum(axis=0), 4)
    assert np.allclose(times, np.round(times))


def test_resamples_with_one_row_of_a_class_count():
    # Two clusters of one row a class and one of a negative alone: three in 27 draws
    # hold no positive, and as many as two thirds hold few
    y, score = np.array([1, 0, 0]), np.array([0.5, 0.0, 1.0])
    sample = Sample.from_rows(score, y == 1, None, np.array([0, 1, 2]))
    draws = bootstrap_draws([sample], 4000, np.random.default_rng(0))
    # A draw has k of cluster 0 (k = 1, 2); of the others either row
    assert len(draws) == pytest.approx(4000 * 18 / 27, abs=120)
    assert set(np.round(draws.ravel(), 6)) == {0.0, 0.5, 1.0}
