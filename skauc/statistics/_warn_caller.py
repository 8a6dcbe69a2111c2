"""Warnings that name the caller's line, however deep inside they arise."""

from __future__ import annotations

import inspect
import warnings

_PACKAGE = __file__.rsplit("statistics", 1)[0]


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package.

    Python shows a warning once for each text and line: a search over many candidates,
    which all call from one line of scikit-learn, says a sentence once.

    Parameters
    ----------
    message : str
        The same text for every candidate of a search.
    category : type
        Class of the warning.
    """
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
