"""What is kept of the rows for the next candidate."""

from __future__ import annotations

import numpy as np

from skauc import clear_cache
from skauc.adaptive._prior import fingerprint
from skauc.model_selection._second_source import kept_of


def test_values_of_other_rows_are_not_taken():
    """Whether the rows' fingerprint is told or taken; of a score nothing is kept."""
    clear_cache()
    rng, positive = np.random.default_rng(0), np.arange(8) % 2 == 1
    one, two = rng.normal(size=(2, 8, 3))
    key = fingerprint(one, positive, None)
    asked = []

    def ask(Z, answer, known_by=None):
        def compute():
            asked.append(answer)
            return answer

        return kept_of(Z, positive, None, lambda: known_by)("a name", compute)

    assert [ask(one, 1), ask(two, 2), ask(one, 3), ask(one, 4, key)] == [1, 2, 1, 1]
    assert [ask(one[:, :1], 5), ask(one[:, :1], 6)] == [5, 6]
    assert asked == [1, 2, 5, 6]
