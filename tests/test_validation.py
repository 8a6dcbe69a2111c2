"""Every input error is one sentence: name, rule, value."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skauc._validation import (
    check_features,
    check_level,
    check_option,
    check_positive,
    check_score,
    check_weight,
)


@pytest.mark.parametrize(
    ("y", "pos_label", "expected"),
    [
        ([0, 1, 1], None, [False, True, True]),
        ([-1, 1, -1], None, [False, True, False]),
        ([0, 1, 1], 0, [True, False, False]),
        (["b", "a"], None, [True, False]),
        (["b", "a"], "a", [False, True]),
        ([True, False], None, [True, False]),
        ([2.0, 1.0], None, [True, False]),
        (np.array([[0], [1]]), None, [False, True]),
        (pd.Series(["no", "yes"], dtype="category"), None, [False, True]),
        (pd.Series(["no", "yes"], dtype=object), "no", [True, False]),
    ],
)
def test_positive_is_the_larger_label_or_the_one_asked_for(y, pos_label, expected):
    got = check_positive(y, pos_label=pos_label)
    assert got.dtype == bool
    np.testing.assert_array_equal(got, expected)


def test_positive_by_the_classes_of_a_model():
    got = check_positive(["x", "z"], classes=np.array(["x", "z"]), pos_label="x")
    np.testing.assert_array_equal(got, [True, False])


EMPTY_TUPLES = np.empty(2, dtype=object)
EMPTY_TUPLES[:] = [(), ""]


@pytest.mark.parametrize(
    ("y", "options", "text"),
    [
        ([], {}, r"y_true must hold both classes, got no rows"),
        ([1, 1], {}, r"y_true must hold both classes, got only 1$"),
        (["a", "a"], {}, r"y_true must hold both classes, got only 'a'"),
        ([0, 1, 2], {}, r"Only binary classification .* two classes, got 3 classes"),
        ([0.5, 1.2], {}, r"y_true must hold class labels, got continuous or missing"),
        ([0, 1, np.nan], {}, r"y_true must hold class labels, got continuous or miss"),
        (EMPTY_TUPLES, {}, r"y_true must hold class labels, got continuous or missing"),
        ([0, 1], {"pos_label": 2}, r"pos_label must be one of .* 0, 1, got 2"),
        (
            [0, 2, 1],
            {"classes": np.array([0, 1])},
            r"y_true must hold the labels of the fitted model, 0, 1, got 2",
        ),
        (
            ["a", "c"],
            {"classes": np.array([0, 1])},
            r"labels of the fitted model, 0, 1, got 'a', 'c'",
        ),
        (
            [0, 0],
            {"classes": np.array([0, 1])},
            r"y_true must hold both classes, got only 0",
        ),
    ],
)
def test_positive_errors(y, options, text):
    with pytest.raises(ValueError, match=text):
        check_positive(y, **options)


def test_score():
    got = check_score(np.array([[1], [2]], dtype=np.float32), 2)
    assert got.dtype == np.float64
    assert got.shape == (2,)
    np.testing.assert_array_equal(
        check_score([np.inf, 0], 2, allow_infinite=True), [np.inf, 0]
    )


@pytest.mark.parametrize(
    ("score", "options", "text"),
    [
        (
            [1, 2],
            {},
            r"y_score must have one value .* 3 rows of y_true, got shape \(2,",
        ),
        (np.ones((3, 2)), {}, r"got shape \(3, 2\)"),
        ([1, np.nan, 2], {}, r"y_score must be finite, got nan in row 1"),
        ([1, 2, -np.inf], {}, r"y_score must be finite, got -inf in row 2"),
        (
            [1, np.nan, 2],
            {"allow_infinite": True},
            r"must not be NaN, got nan in row 1",
        ),
        ([np.inf, 1, 2], {"name": "s"}, r"^s must be finite, got inf in row 0"),
    ],
)
def test_score_errors(score, options, text):
    with pytest.raises(ValueError, match=text):
        check_score(score, 3, **options)


MASK = np.array([True, False, True])


def test_weight():
    assert check_weight(None, MASK) is None
    np.testing.assert_array_equal(check_weight([0, 1, 2], MASK), [0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ([1, 1], r"sample_weight must have one value .* 3 rows .* got shape \(2,\)"),
        ([1, 1, np.inf], r"sample_weight must be finite, got inf in row 2"),
        ([1, 1, -0.5], r"sample_weight must be >= 0, got -0.5 in row 2"),
        ([0, 1, 0], r"in each class, got only zeros in the positive class"),
        ([1, 0, 1], r"in each class, got only zeros in the negative class"),
    ],
)
def test_weight_errors(weight, text):
    with pytest.raises(ValueError, match=text):
        check_weight(weight, MASK)


def test_level():
    assert check_level("confidence_level", np.float32(0.5)) == 0.5
    for bad in (0, 1, 1.5, -1, np.nan, "0.9", None, True):
        with pytest.raises(ValueError, match=rf"level must lie in \(0, 1\), got {bad}"):
            check_level("level", bad)


def test_option():
    assert check_option("scale", "auc", ("auc", "probit")) == "auc"
    for bad in ("AUC", None, 3):
        with pytest.raises(
            ValueError, match=rf"scale must be one of 'auc', 'probit', got {bad!r}"
        ):
            check_option("scale", bad, ("auc", "probit"))


def test_features():
    X = np.ones((3, 2), dtype=np.float32)
    assert check_features(X, 3) is X  # not copied, not widened
    assert check_features(X.astype(np.longdouble), 3).dtype == np.float64
    assert check_features(sparse.coo_array(X), 3).format == "csr"
    assert check_features(pd.DataFrame(X), 3).shape == (3, 2)
    with pytest.raises(ValueError, match=r"X must have the 4 rows .* got 3 rows"):
        check_features(X, 4)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        check_features(X[:, 0], 3)
