"""Which kinds of scores and rows are accepted."""

import numpy as np
import pytest

from skauc import GaussianAUCClassifier, auc_estimate

SCORE = [0.0, 1.0, 2.0, 3.0]  # its AUC is 1 if the last two rows are the positives


def column(values):
    return np.reshape(values, (-1, 1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64, np.longdouble])
def test_score_of_any_number_type(dtype):
    assert auc_estimate([0, 0, 1, 1], np.array(SCORE, dtype=dtype)).auc == 1.0
    assert auc_estimate([0, 0, 1, 1], column(SCORE).astype(dtype)).auc == 1.0


def test_features_must_match_rows():
    with pytest.raises(ValueError, match=r"4"):
        GaussianAUCClassifier().fit(np.ones((4, 2)), [0, 1, 1])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        GaussianAUCClassifier().fit(SCORE, [0, 0, 1, 1])
