"""Warnings that name the line of the user's call."""

import functools
import inspect
import warnings

# a cached property is called by functools
_INSIDE = __file__.rsplit("statistics", 1)[0], functools.__file__


class UntrustedAUCWarning(UserWarning):
    """Warning that a computed AUC should not be trusted as it is.

    Parameters
    ----------
    message : str
        The reason, its size if it is known, and a remedy.

    Examples
    --------
    >>> import warnings
    >>> from skauc import UntrustedAUCWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UntrustedAUCWarning)  # stop instead
    """

    def __init__(self, message):
        super().__init__(message)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package.

    Python shows a warning once for each text and line. In a search all candidates are
    scored from one line of scikit-learn, so that each sentence is shown once.

    Parameters
    ----------
    message : str
        The same text for every candidate of a search.
    category : type
        Class of the warning.
    """
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_back and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
