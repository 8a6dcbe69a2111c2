"""Labels without a sort against those of one; sizes of features."""

import re

import numpy as np
import pytest

from skauc.estimators._checks import (
    check_feature_sizes,
    codes_of,
    distinct,
    few_labels,
)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64, float, str])
@pytest.mark.parametrize("labels", [[0, 1], [3, 5], [0, 1, 2, 7], [100, 2, 50]])
def test_labels_are_those_of_a_sort(labels, dtype):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.array(labels, dtype=dtype), [900, *labels[1:]]))
    classes, codes = np.unique(y, return_inverse=True)
    found = distinct(y)
    np.testing.assert_array_equal(found, classes)
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(codes_of(y, found), codes)
    assert (few_labels(y) is None) == (dtype in (float, str))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64])
def test_two_labels_come_in_order(dtype):
    y = np.array([1, 0, 0, 1], dtype=dtype)
    for column in (y, ~y if dtype is bool else 1 - y):
        found = few_labels(column)
        assert found.tolist() == [0, 1]
        assert found.dtype == dtype
    if dtype is not bool:
        y[-1] = 2
        assert few_labels(y) is None  # of four rows


@pytest.mark.parametrize("low", [-128, -(2**63), 2**63 - 256])
def test_labels_at_the_ends_of_their_type(low):
    labels = [low, low + 3, low + 255]
    dtype = np.int8 if low == -128 else np.int64
    y = np.repeat(np.array(labels, dtype=dtype), 800)
    assert few_labels(y).tolist() == labels
    far = np.repeat(np.array([2**64 - 9, 2**64 - 1, 2**64 - 3], np.uint64), 99)
    assert few_labels(far).tolist() == sorted({*far.tolist()})


def test_a_range_of_an_eighth_of_the_rows():
    y = np.append(np.arange(3), np.zeros(12, dtype=int))
    assert few_labels(y) is None
    np.testing.assert_array_equal(few_labels(np.append(y, 0)), [0, 1, 2])


@pytest.mark.parametrize(
    "y", [np.zeros(9, int), np.zeros(0, int), np.eye(2, dtype=int)]
)
def test_no_labels_of_one_class_or_of_a_table(y):
    assert few_labels(y) is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_features_of_ordinary_size_wherever_their_rows_are(order, dtype):
    X = np.zeros((500, 3), dtype=dtype, order=order)
    X[:, 0], X[1, 1], X[400, 2] = 1, 7, 9
    check_feature_sizes(X)
    check_feature_sizes(X[:300])
    check_feature_sizes(X + 1)


@pytest.mark.parametrize("size", [1e71, -1e200, 1e-71, -1e-200])
@pytest.mark.parametrize("row", [0, 400])
def test_a_size_that_is_not_ordinary_is_found_wherever_it_is(size, row):
    X = np.zeros((500, 3))
    X[:, :2], X[row, 2] = 1.0, size
    said = re.escape(f"got {abs(size):.3g} in feature 2")
    with pytest.raises(ValueError, match=said):
        check_feature_sizes(X)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_no_number_hides_no_size(odd):
    X = np.ones((500, 3))
    X[450, 1], X[450, 2] = odd, 1e80
    with pytest.raises(ValueError, match=r"got 1e\+80 in feature 2"):
        check_feature_sizes(X)
