"""How many draws, and from which random numbers."""

from __future__ import annotations

import numpy as np

from .._validation import check_number, short

_DRAWS = 4000  # a simultaneous limit is then about the 15th smallest draw


def checked_draws(n_draws):
    """How many draws, ``_DRAWS`` unless told."""
    if n_draws is None:
        return _DRAWS
    rule = "be a whole number from 20 to 10**6"
    return int(
        check_number(
            "n_draws", n_draws, rule, lambda n: 20 <= n <= 10**6 and n == int(n)
        )
    )


def generator(random_state):
    """The numpy Generator that ``random_state`` names."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, a whole number >= 0 or a numpy Generator, got "
            f"{short(random_state)}"
        ) from None
