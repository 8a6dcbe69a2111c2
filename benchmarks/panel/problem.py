"""One problem: training rows, and the true AUC of scores of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows that train, and the true AUC of linear scores.

    ``truth(W)`` takes coefficients (P, m) on the original features and gives the AUCs
    (m,) and the variances (m,) with which they are known. ``cluster`` names what two
    runs share when they are not independent. ``held_out`` are the rows and labels that
    stand for the truth of scores that are not linear; None where these have AUC ½, or
    no rows were held out.
    """

    group: str
    X: np.ndarray
    y: np.ndarray
    truth: Callable
    cluster: str
    design: dict
    held_out: tuple | None = None
