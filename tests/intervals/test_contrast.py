"""The joint test of several AUCs: pROC's covariance, equal scores, no variance."""

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
def test_combinations_of_delongs_patients(name):
    """Any contrast LA follows from the AUCs and their covariance S: (LSL')⁻¹."""
    expected, result = PROC["contrasts"][name], compare_auc(Y, *SCORES)
    L = np.atleast_2d(expected["L"])
    estimate, spread = L @ result.auc, L @ result.covariance @ L.T
    np.testing.assert_allclose(estimate, np.ravel(expected["estimate"]), rtol=1e-10)
    error = np.ravel(expected["standard_error"])
    np.testing.assert_allclose(np.sqrt(np.diag(spread)), error, rtol=1e-10)
    chi_square = estimate @ np.linalg.pinv(spread, hermitian=True) @ estimate
    assert chi_square == pytest.approx(expected["chi_square"], rel=1e-8)
    assert stats.chi2.sf(chi_square, expected["df"]) == pytest.approx(
        expected["pvalue"], rel=1e-8
    )


def test_the_overall_test_is_that_of_any_basis_of_the_differences():
    result = compare_auc(Y, *SCORES)
    for L in ([[1, 0, -1], [0, 3, -3]], [[1, -1, 0], [0, 1, -1]]):
        gap = np.array(L) @ result.auc
        spread = L @ result.covariance @ np.transpose(L)
        assert result.statistic == pytest.approx(gap @ np.linalg.solve(spread, gap))
    assert result.df == 2
    assert result.pvalue == pytest.approx(stats.chi2.sf(result.statistic, 2))


def test_a_score_twice():
    a = SCORES[0]
    result = compare_auc(Y, a, np.exp(a), SCORES[2])
    assert result.df == 1
    assert result.pairs[0].standard_error == 0.0
    assert result.pairs[1].standard_error == result.pairs[2].standard_error


def test_no_variance_is_the_largest_variance():
    y, up = np.repeat([0, 1], 5), np.arange(10)
    result = compare_auc(y, up, -up, np.exp(up))
    assert result.df == 1
    assert result.statistic == pytest.approx(5)  # 1²/(1/5)
    assert result.pairs[0].standard_error == pytest.approx(0.2**0.5)
