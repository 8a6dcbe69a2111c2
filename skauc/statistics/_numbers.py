"""Anything becomes float numbers, or one sentence says which argument cannot."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np


def as_numbers(name: str, value) -> np.ndarray:
    """Array of float64; texts, complex numbers and ragged lists are refused."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biufO":
            return array.astype(float, copy=False)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must hold real numbers, got {_short(value)}")


def as_number(name: str, value) -> float:
    """One float64."""
    array = as_numbers(name, value)
    if array.ndim:
        raise ValueError(f"{name} must be one number, got {_short(value)}")
    return float(array)


def as_rate(name: str, value) -> np.ndarray:
    """Array of numbers in [0, 1]."""
    value = as_numbers(name, value)
    # Asked this way round, NaN is refused as well; so in all checks below
    if not np.all((value >= 0) & (value <= 1)):
        raise ValueError(f"{name} must lie in [0, 1], got {value}")
    return value


def as_level(name: str, value) -> float:
    """One number in (0, 1)."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return float(value)


def as_verbosity(value) -> int:
    """A whole number >= 0: how much is said of work that is done; True is 1."""
    whole = isinstance(value, Integral | np.bool_)
    if not whole or not 0 <= value < 2**31:
        raise ValueError(f"verbose must be an integer >= 0, got {value!r:.60}")
    return int(value)


def as_flag(name: str, value) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {_short(value)}")
    return bool(value)


def as_index(name: str, value, n: int) -> int:
    """Index of one of n things, counted from 0; from −n on, from the end."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer, got {_short(value)}")
    if not -n <= int(value) < n:
        raise ValueError(f"{name} must lie in [{-n}, {n - 1}], got {value}")
    return int(value) % n


def as_count(name: str, value) -> int:
    """A whole number >= 1."""
    number = float(value) if isinstance(value, Real) else np.nan
    if isinstance(value, bool) or not number >= 1 or not number.is_integer():
        raise ValueError(f"{name} must be a whole number >= 1, got {_short(value)}")
    return int(number)


def _short(value, longest=60):
    text = repr(value)
    return text if len(text) <= longest else text[:longest] + "…"
