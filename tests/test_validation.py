"""Which class is positive, and which kinds of labels and rows are accepted."""

import numpy as np
import pandas as pd
import pytest

from skauc import GaussianAUCClassifier, auc_estimate

SCORE = [0.0, 1.0, 2.0, 3.0]  # its AUC is 1 if the last two rows are the positives


def column(values):
    return np.reshape(values, (-1, 1))


@pytest.mark.parametrize(
    ("y", "pos_label", "auc"),
    [
        ([0, 0, 1, 1], None, 1.0),
        ([0, 0, 1, 1], 0, 0.0),
        ([1, 1, -1, -1], None, 0.0),
        ([2.0, 2.0, 3.0, 3.0], None, 1.0),
        ([False, False, True, True], None, 1.0),
        (["a", "a", "b", "b"], None, 1.0),
        (["b", "b", "a", "a"], None, 0.0),
        (["b", "b", "a", "a"], "a", 1.0),
        ([1, 1, 10**6, 10**6], None, 1.0),
    ],
)
def test_larger_label_is_positive_unless_pos_label_names_one(y, pos_label, auc):
    for kind in (list, tuple, np.array, column, pd.Series):
        assert auc_estimate(kind(y), SCORE, pos_label=pos_label).auc == auc, kind


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64, np.longdouble])
def test_score_of_any_number_type(dtype):
    assert auc_estimate([0, 0, 1, 1], np.array(SCORE, dtype=dtype)).auc == 1.0
    assert auc_estimate([0, 0, 1, 1], column(SCORE).astype(dtype)).auc == 1.0


def test_features_must_match_rows():
    with pytest.raises(ValueError, match=r"4"):
        GaussianAUCClassifier().fit(np.ones((4, 2)), [0, 1, 1])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        GaussianAUCClassifier().fit(SCORE, [0, 0, 1, 1])
