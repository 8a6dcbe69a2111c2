"""Values are equal if all that they hold is equal, NaN to NaN."""

from dataclasses import replace

import numpy as np
import pytest

from skauc import AUCPosterior


def held(part):
    """Return a value that holds anything."""
    return replace(AUCPosterior.normal(0.5, 0.1), rows=part)


NAN = float("nan")
EQUAL = [
    (1.0, 1),
    (NAN, NAN),
    (None, None),
    ("a", "a"),
    ((1.0, NAN), (1.0, NAN)),
    ({"a": 1, "b": (2, NAN)}, {"b": (2, NAN), "a": 1}),
    (np.array([0.0, NAN]), np.array([-0.0, NAN])),
    (np.array(["a"], dtype=object), np.array(["a"], dtype=object)),
]
OTHER = [
    (1.0, 2.0),
    (NAN, 1.0),
    (1.0, NAN),
    (None, 0.0),
    ((1, 2), (1, 3)),
    ((1, 2), (2, 2)),
    ((1, 2), (1, 2, 3)),
    ((1, 2), 1),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, (1,)),
    (np.array([0.0, 1.0]), np.array([0.0, 2.0])),
    (np.array([0.0]), np.array([0.0, 0.0])),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_values_have_one_hash(one, other):
    assert held(one) == held(other)
    assert hash(held(one)) == hash(held(other))
    assert held(one) != "held"


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_one_difference_makes_another_value(one, other):
    assert held(one) != held(other)
    assert held(other) != held(one)
