"""The two halves of the panel: one may choose constants, the other judges them.

Sets that resemble each other are on one side. A change of the division is a new panel.
"""

from __future__ import annotations

from itertools import count

import numpy as np

HALVES = ("judge", "choose")
CHOOSING_SETS = (
    *("wine-0-1", "wine-1-2", "heart_statlog", "german_credit", "pima", "phoneme"),
    *("ionosphere", "sonar", "banknote", "ma_golub", "ma_singh", "arrhythmia"),
    "internet_ads",
)
CHOOSING_LAWS = ("t3", "0/1")
COVARIANCES = ("identity", "AR(.8)", "5 factors")
SIGNALS = ("sparse", "dense", "top components")


def half_of_set(name) -> str:
    """Half of a real set; all pairs of digits choose."""
    chooses = name in CHOOSING_SETS or name.startswith("digits-")
    return "choose" if chooses else "judge"


def half_of_design(design) -> str:
    """Half of a simulated design."""
    if "decay" in design:
        chooses = design["decay"] == 0.5
    elif "signals" in design:
        chooses = design["signals"] == 5
    elif design["law"] != "Gaussian":
        chooses = design["law"] in CHOOSING_LAWS
    else:
        place = COVARIANCES.index(design["covariance"])
        chooses = (place + SIGNALS.index(design["signal"])) % 2 == 0
    return "choose" if chooses else "judge"


def design_of_half(draw, salt, half) -> dict:
    """The first of ``draw(rng)``, over fixed seeds, that belongs to a half."""
    for attempt in count():
        design = draw(np.random.default_rng([*salt, attempt]))
        if half_of_design(design) == half:
            return design
