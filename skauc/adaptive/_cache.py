"""What is kept of the data sets seen last, so that candidates share one decomposition.

Values are frozen dataclasses of arrays made here; neither the rows, labels or weights
of a caller nor views of them may enter. The size is the sum of the arrays' bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import fields, is_dataclass
from functools import lru_cache
from threading import Lock

import numpy as np
from scipy import sparse

LIMIT_BYTES = 256 * 2**20  # three P×P matrices of P = 3300, in single precision 4700
_ENTRY_BYTES = 1024  # key and objects of an entry, so that many small ones count too


class Cache:
    """Values by key, the least recently used ones go first; safe under threads.

    Parameters
    ----------
    limit : int
        Bytes that all values together never exceed; a larger value is not kept.
    """

    def __init__(self, limit):
        self.limit = limit
        self._items = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self):
        return len(self._items)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._bytes

    def remember(self, key, compute):
        """Return the value of a key, computed and kept if it is not there."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key][0]
        value = compute()  # outside the lock: threads may compute the same value
        size = array_bytes(value) + _ENTRY_BYTES
        with self._lock:
            self._drop(key)
            if size <= self.limit:
                while self._bytes + size > self.limit:
                    self._drop(next(iter(self._items)))
                self._items[key] = value, size
                self._bytes += size
        return value

    def clear(self):
        """Forget everything."""
        with self._lock:
            self._items.clear()
            self._bytes = 0

    def _drop(self, key):
        _, size = self._items.pop(key, (None, 0))
        self._bytes -= size


def array_bytes(value) -> int:
    """Bytes of all arrays of a dataclass, those that views keep alive included.

    An array that is there twice counts once.
    """
    return sum({id(array): array.nbytes for array in _arrays(value)}.values())


def _arrays(value):
    """The arrays that own the memory."""
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        yield value
    elif sparse.issparse(value):
        yield from _arrays((value.data, value.indices, value.indptr))
    elif isinstance(value, tuple):
        for part in value:
            yield from _arrays(part)
    elif is_dataclass(value):
        yield from _arrays(tuple(getattr(value, name) for name in _names(type(value))))


@lru_cache  # of the few classes whose values are kept
def _names(kind):
    return [field.name for field in fields(kind)]


CACHE = Cache(LIMIT_BYTES)
FORGET = [CACHE.clear]  # what clear_cache calls; folders above this one add theirs


def clear_cache() -> None:
    """Forget what the adaptive prior keeps of the data sets seen last.

    Answers: how do I get that memory back? The decomposition of a data set is shared
    by all candidates that are scored on it. It is kept for the data sets used last, at
    most 256 MiB in all and in each process: eigenvalues, eigenvectors and evidence,
    of sparse rows with more features what winsorising makes of them, never the rows,
    labels or weights themselves; and of a conjugate prior with a spherical covariance
    the means and traces of the classes. What is larger (above some 3300 to 4700
    features, if there are as many rows) is computed for each candidate, and nothing is
    kept of scores, or data sets of one feature. Results do not depend on it. Warnings
    that a search has said of a data set are said again afterwards.

    Examples
    --------
    >>> from skauc import clear_cache
    >>> clear_cache()
    """
    for forget in FORGET:
        forget()
