"""The permutation test: all permutations, laws, error texts."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from skauc import compare_auc

REFERENCE = Path(__file__).parents[1] / "reference"
ASAH = json.loads((REFERENCE / "proc_asah.json").read_text())
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


@pytest.mark.filterwarnings("ignore:The rows are those of fewer than 6 groups")
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


def test_permutation_is_near_delong_for_many_rows():
    a, b = ASAH["wfns"], ASAH["ndka"]
    normal = compare_auc(OUTCOME, a, b)
    result = compare_auc(OUTCOME, a, b, method="permutation")
    assert result.pvalue == pytest.approx(normal.pvalue, abs=0.01)
    assert result.confidence_interval() == normal.confidence_interval()
    assert compare_auc(OUTCOME, a, a, method="permutation").pvalue == 1.0


def test_permutations_of_heavy_weights():
    """A hundred copies of each row: the difference is far beyond chance."""
    weight = np.full(113, 100)
    heavy = compare_auc(
        OUTCOME, ASAH["s100b"], ASAH["ndka"], sample_weight=weight,
        method="permutation", n_resamples=200,
    )  # fmt: skip
    assert heavy.pvalue == 1 / 201


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "t"}, "method must be one of 'delong', .* got 't'"),
        (
            {"method": "welch"},
            "method='welch' needs scores of different rows, y_true_b, got None",
        ),
        (
            {"margin": 0.1, "alternative": "less"},
            "method='permutation' needs two scores of the same rows and no margin",
        ),
        ({"y_true_b": OUTCOME}, "needs two scores of the same"),
        ({"fpr": (0, 0.1)}, "fpr and tpr must be None for method='permutation', got"),
        ({"n_resamples": 10}, r"whole number from 100 to 10000000, got 10"),
        ({"random_state": "x"}, "random_state must be None, a whole number >= 0"),
    ],
)
def test_error_texts(options, text):
    how = {"method": "permutation"} | options
    with pytest.raises(ValueError, match=text):
        compare_auc(OUTCOME, ASAH["s100b"], ASAH["ndka"], **how)
