"""How long Newton's steps are: halved until they lower the objective enough."""

import numpy as np
import pytest

from skauc.leave_pair_out._newton import first_lower, line_search

# An objective that falls along a step by ``gain · (t − a t²)``: by 1e-4 of what its
# slope promises if ``a t ≤ 1 − 1e-4``.
BENT = {0.5: 1, 0.999895: 1, 0.999905: 1 / 2, 2.1: 1 / 4, 3.9: 1 / 4, 70.0: 1 / 128}


@pytest.mark.parametrize("gain", [1e-3, 1.0, 40.0])
def test_every_step_is_the_longest_half_that_falls_enough(gain):
    """NaN, and what never falls, leaves everything where it was."""
    bent = np.array([*BENT, np.nan, 1e12])
    expected = np.array([*BENT.values(), 0, 0])
    at = [np.linspace(2, 9, 8), np.arange(24.0).reshape(8, 3)]

    def reached(some, t):
        fall = gain * (t - bent[some] * t**2)
        return [at[0][some] - fall, at[1][some] + t[:, None]]

    new, t = line_search(at, np.full(8, gain), reached)
    np.testing.assert_array_equal(t, expected)
    fall = np.where(t > 0, gain * (t - np.nan_to_num(bent) * t**2), 0.0)
    np.testing.assert_allclose(new[0], at[0] - fall, rtol=1e-14)
    np.testing.assert_array_equal(new[1], at[1] + t[:, None])


@pytest.mark.parametrize("only", BENT)
def test_none_is_tried_again_where_all_fall_enough(only):
    asked, longest = [], BENT[only]

    def reached(some, t):
        asked.append(t.copy())
        return [5 - (t - only * t**2)]

    _, t = line_search([np.full(1, 5.0)], np.ones(1), reached)
    assert t == longest
    assert np.concatenate(asked).tolist() == [0.5**k for k in range(len(asked))]
    assert asked[-1] == longest


@pytest.mark.parametrize("gain", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("bent", BENT)
def test_the_first_that_is_lower_is_the_longest(bent, gain):
    def value(t):
        return 5 - gain * (t - bent * t**2)

    assert first_lower(value, lambda t: t, 5.0, -gain) == BENT[bent]


def test_of_what_never_falls_none_is_the_first():
    assert first_lower(lambda t: np.nan, lambda t: t, 5.0, -1.0) is None
    assert first_lower(lambda t: 5.0 + t, lambda t: t, 5.0, -1.0) is None
