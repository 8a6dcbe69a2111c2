"""Older place of ``Value``."""

from ._result import Value

__all__ = ["Value"]
