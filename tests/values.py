"""Comparison of frozen values: by all that they hold."""

from dataclasses import fields, is_dataclass

import numpy as np


def same(a, b) -> bool:
    """Return whether two values hold the same: arrays by entries, NaN equals NaN."""
    if is_dataclass(a) and is_dataclass(b):
        names = [field.name for field in fields(a) if field.compare]
        return type(a) is type(b) and all(
            same(getattr(a, name), getattr(b, name)) for name in names
        )
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) or bool(a != a and b != b)
