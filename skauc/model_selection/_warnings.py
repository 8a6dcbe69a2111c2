"""The one class of warnings about numbers, so that they can be filtered."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import joblib
from scipy import sparse

from ..adaptive._cache import FORGET
from ..adaptive._prior import fingerprint
from ..intervals._warn_caller import warn_caller


class UntrustedAUCWarning(UserWarning):
    """An AUC was computed as asked, but should not be trusted or compared as it is.

    Parameters
    ----------
    message : str
        Why, in one sentence.

    Examples
    --------
    >>> import warnings
    >>> from skauc import UntrustedAUCWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UntrustedAUCWarning)  # stop instead
    """

    def __init__(self, message):
        super().__init__(message)


class _Said:
    """Sentences said of the data sets seen last, so that a search says each once.

    Python's own memory does not do that: scikit-learn carries the filters into every
    fit of a search, which makes Python forget.
    """

    _MOST = 256  # digests

    def __init__(self):
        self._items = OrderedDict()
        self._lock = Lock()

    def warn_once(self, reason: str, rows, positive) -> None:
        """Warn, unless it was said of these rows and labels."""
        key = reason, _digest(rows, positive)
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return
        warn_of(reason)  # where that is an error it is one for every candidate
        with self._lock:
            self._items[key] = None
            while len(self._items) > self._MOST:
                self._items.popitem(last=False)

    def clear(self) -> None:
        """Forget what was said."""
        with self._lock:
            self._items.clear()


def _digest(rows, positive):
    if sparse.issparse(rows) and rows.shape[0] == len(positive):
        return fingerprint(rows, positive, None)  # several times faster
    try:
        return joblib.hash((rows, positive))
    except Exception:  # of what cannot be pickled it is said every time
        return object()


SAID = _Said()
FORGET.append(SAID.clear)


def warn_of(reason: str) -> None:
    """Warn of a reason for mistrust."""
    warn_caller(f"{reason[0].upper()}{reason[1:]}", UntrustedAUCWarning)
