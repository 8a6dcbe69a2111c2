"""Values: two of them are equal when their fields are, arrays elementwise."""

from __future__ import annotations

from dataclasses import fields

import numpy as np


class Value:
    """Parent of frozen dataclasses (``eq=False``) that hold arrays.

    ``==`` compares field by field (those with ``compare=True``), arrays by their
    entries and NaN equal to NaN; equal values hash alike.
    """

    def __eq__(self, other) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        # Field by field, because == of a tuple that holds arrays has no truth value
        return all(map(_same, _fields(self), _fields(other)))

    def __hash__(self) -> int:
        return hash((type(self), *map(_hashable, _fields(self))))


def _fields(value):
    return [getattr(value, field.name) for field in fields(value) if field.compare]


def _same(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    # NaN is the one value that is not itself
    return bool(a == b) or bool(a != a and b != b)


def _hashable(value):
    """What equal fields share and a dictionary can keep."""
    if isinstance(value, np.ndarray):
        # Equal texts may have dtypes of different widths: only their shape is sure
        if value.dtype.kind not in "biuf":
            return value.shape
        return value.shape, (value.astype(float) + 0.0).tobytes()  # −0.0 == 0.0
    if isinstance(value, float | np.floating) and np.isnan(value):
        return "nan"
    return value if getattr(value, "__hash__", None) else type(value).__name__
