"""Arrays that wait on disk until they are asked for again."""

from __future__ import annotations

from tempfile import TemporaryFile

import numpy as np


class Spill:
    """A temporary file of arrays, gone when it is closed.

    ``with Spill() as spill: slot = spill.put(array)``, then ``spill.get(slot)``.
    """

    def __enter__(self):
        self._file = TemporaryFile(prefix="skauc-")
        return self

    def __exit__(self, *_):
        self._file.close()

    def put(self, array) -> int:
        """Where the array is, behind all others."""
        slot = self._file.seek(0, 2)
        np.save(self._file, array, allow_pickle=False)
        return slot

    def get(self, slot) -> np.ndarray:
        """The array that was put there."""
        self._file.seek(slot)
        return np.load(self._file, allow_pickle=False)
