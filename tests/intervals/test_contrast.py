"""Contrasts of AUCs: pROC's covariance, laws, edges, error texts."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from skauc import compare_auc

REFERENCE = Path(__file__).parents[1] / "reference"
SAS = json.loads((REFERENCE / "sas_delong.json").read_text())
PROC = json.loads((REFERENCE / "proc_tests.json").read_text())
Y = np.array(SAS["benefit"])
SCORES = SAS["albumin"], SAS["total_protein"], -np.array(SAS["kg_score"])


@pytest.mark.parametrize("name", PROC["contrasts"])
def test_contrasts_of_delongs_patients(name):
    expected = PROC["contrasts"][name]
    result = compare_auc(Y, *SCORES).contrast(expected["L"])
    np.testing.assert_allclose(result.estimate, expected["estimate"], rtol=1e-10)
    error = expected["standard_error"]
    np.testing.assert_allclose(result.standard_error, error, rtol=1e-10)
    assert result.statistic == pytest.approx(expected["chi_square"], rel=1e-9)
    assert result.df == expected["df"]
    assert result.pvalue == pytest.approx(expected["pvalue"], rel=1e-9)
    z = np.divide(expected["estimate"], error)
    np.testing.assert_allclose(result.statistics, z, rtol=1e-9)
    np.testing.assert_allclose(result.pvalues, 2 * stats.norm.sf(abs(z)), rtol=1e-9)
    low, high = result.confidence_interval(0.9)
    reach = stats.norm.ppf(0.95) * np.array(error)
    np.testing.assert_allclose(low, result.estimate - reach, rtol=1e-9)
    np.testing.assert_allclose(high, result.estimate + reach, rtol=1e-9)


def test_every_basis_of_the_differences_is_the_overall_test():
    overall = compare_auc(Y, *SCORES)
    for L in ([[1, 0, -1], [0, 3, -3]], [[1, -1, 0], [0, 1, -1], [2, 0, -2]]):
        result = overall.contrast(L)
        assert result.df == 2  # the third row follows from the others
        assert result.statistic == pytest.approx(overall.statistic, rel=1e-9)


def test_a_pair_is_its_comparison():
    overall = compare_auc(Y, *SCORES)
    row, pair = overall.contrast([1, 0, -1]), overall.pairs[1]
    assert row.statistic == pytest.approx(pair.statistic**2, rel=1e-9)
    assert row.pvalue == pytest.approx(pair.pvalue, rel=1e-9)
    limits = np.ravel(row.confidence_interval())
    np.testing.assert_allclose(limits, pair.confidence_interval(), rtol=1e-9)
    assert len(overall.contrast(np.eye(3)).to_frame()) == 3


def test_a_score_twice():
    a = SCORES[0]
    result = compare_auc(Y, a, np.exp(a), SCORES[2]).contrast(
        [[1, -1, 0], [1, 0, -1], [0, 1, -1]]
    )
    assert result.df == 1
    assert result.standard_error[0] == 0.0
    assert result.pvalues[0] == 1.0
    assert result.standard_error[1] == pytest.approx(result.standard_error[2])


def test_no_variance_is_the_largest_variance():
    y = np.repeat([0, 1], 5)
    up, down = np.arange(10), -np.arange(10)
    overall = compare_auc(y, up, down, np.exp(up))
    result = overall.contrast([[1, -1, 0], [0.5, -1, 0.5], [1, 0, -1]])
    np.testing.assert_allclose(result.standard_error, [0.2**0.5, 0.2**0.5, 0])
    assert result.df == 1
    assert result.statistic == pytest.approx(5)  # 1²/(1/5)
    assert overall.pairs[0].standard_error == pytest.approx(0.2**0.5)


@pytest.mark.parametrize(
    ("L", "text"),
    [
        (
            [1, -1],
            r"L must have one column for each of the 3 AUCs, .*, got \[\[1.0, -1.0\]\]",
        ),
        (np.ones((0, 3)), r"and one row or more .*, got \[\]"),
        ([[1, -1, 0], [0, 0, 0]], "without a row of zeros, got"),
        ([1, -1, np.nan], "L must be a finite number, got nan"),
        (["a", "b", "c"], "L must hold numbers, got"),
    ],
)
def test_error_texts(L, text):
    with pytest.raises(ValueError, match=text):
        compare_auc(Y, *SCORES).contrast(L)
