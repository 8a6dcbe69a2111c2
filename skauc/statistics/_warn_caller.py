"""Warnings that name the line of the user's call."""

from __future__ import annotations

import inspect
import warnings

_PASSED = __name__.split(".")[0], "sklearn", "joblib"


def _frame_and_level():
    """First frame outside of this package, scikit-learn and joblib, and its level."""
    frame, level = inspect.currentframe(), 0
    while frame and frame.f_back and _package(frame) in _PASSED:
        frame, level = frame.f_back, level + 1
    return frame, level


def _package(frame):
    return frame.f_globals.get("__name__", "").split(".")[0]


def caller() -> tuple[str, int]:
    """File and line of the caller outside of this package, scikit-learn and joblib."""
    frame, _ = _frame_and_level()
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package, scikit-learn and joblib.

    Python shows a warning once for each text and line, so that a search, which scores
    all candidates at the user's line, shows each sentence once.

    Parameters
    ----------
    message : str
        The same text for every candidate of a search.
    category : type
        Class of the warning.
    """
    # level 1 of warnings.warn is this function, level 0 of the walk is _frame_and_level
    warnings.warn(message, category, stacklevel=max(_frame_and_level()[1], 1))
