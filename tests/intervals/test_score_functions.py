"""Functions of labels and one score: against numpy, and where they say nothing."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skauc import UntrustedAUCWarning, binormal_roc, cbauc_score, ebauc_score


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("weighted", [False, True])
def test_binormal_roc_has_the_means_and_deviations_of_the_classes(unit, weighted):
    rng = np.random.default_rng(0)
    y = np.arange(23) % 3 == 0
    score = unit * (rng.normal(size=23) * 2 + y + 5)
    count = rng.integers(1, 4, 23) if weighted else np.ones(23, int)
    roc = binormal_roc(y, score, sample_weight=count if weighted else None)
    for part, mean, std in (
        (~y, roc.mean_neg, roc.std_neg),
        (y, roc.mean_pos, roc.std_pos),
    ):
        rows = np.repeat(score[part], count[part]) / unit
        assert mean / unit == pytest.approx(rows.mean(), rel=1e-12)
        assert std / unit == pytest.approx(rows.std(ddof=1), rel=1e-12)


def test_a_score_of_one_value_has_an_ebauc_of_a_half():
    with pytest.warns(UndefinedMetricWarning, match="all scores are equal"):
        assert ebauc_score([0, 1, 0, 1], np.full(4, 3.0)) == 0.5


def test_rows_that_do_not_count_rank_nothing():
    y, score = [0, 1, 1, 0], [1.0, 1.0, 1.0, 5.0]
    with pytest.warns(UndefinedMetricWarning, match="all scores are equal"):
        assert cbauc_score(y, score, sample_weight=[1, 1, 2, 0]) == 0.5
    assert cbauc_score(y, score) < 0.5
    # one number except for rounding, on either side of 0
    for same in (1.0, -1.0):
        with pytest.warns(UndefinedMetricWarning, match="all scores are equal"):
            assert cbauc_score(y, same * np.array([1, 1, 1, 1 + 1e-15])) == 0.5


@pytest.mark.parametrize("of", [cbauc_score, ebauc_score])
def test_an_auc_that_the_ranks_exclude_is_doubted(of, rng):
    y = np.repeat([0, 1], 150)
    score = rng.normal(size=300) + y
    assert of(y, score) == pytest.approx(0.76, abs=0.06)  # normal scores: no doubt
    with pytest.warns(UntrustedAUCWarning, match="outside the 95 % interval"):
        assert of(y, np.exp(3 * score)) < 0.6
