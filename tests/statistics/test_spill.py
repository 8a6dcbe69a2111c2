"""Arrays on disk."""

import numpy as np

from skauc.statistics._spill import Spill


def test_spilled_arrays_come_back():
    arrays = [np.arange(5), np.zeros((0, 2)), np.array([[1.5, -2.0]])]
    with Spill() as spill:
        slots = [spill.put(array) for array in arrays]
        for slot, array in reversed(list(zip(slots, arrays, strict=True))):
            np.testing.assert_array_equal(spill.get(slot), array)
