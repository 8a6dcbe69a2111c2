"""Older names of the checks in ``_checks``."""

from ._checks import (
    as_index,
    as_number,
    as_numbers,
    as_rate,
    as_verbosity,
    check_integer,
)
from ._checks import check_flag as as_flag
from ._checks import check_level as as_level


def as_count(name: str, value) -> int:
    """Check a whole number >= 1."""
    return check_integer(name, value, 1)


__all__ = [
    "as_count",
    "as_flag",
    "as_index",
    "as_level",
    "as_number",
    "as_numbers",
    "as_rate",
    "as_verbosity",
]
