"""What an answer to a run is worth, and means over runs with errors over data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from benchmarks.panel.problems import GROUPS

BOOTSTRAPS, Z95, Z80 = 1000, 1.959963984540054, 1.2815515655446004
POOLED_GROUPS = {
    "simulated": GROUPS[:2],
    "few signals": GROUPS[2:3],
    "real P < n": GROUPS[3:5],
    "real P >= n": GROUPS[5:7],
    "real P >= 2500": GROUPS[7:8],
    "random labels": GROUPS[8:9],
    "factors, P = 10 000": GROUPS[9:10],
}


@dataclass(frozen=True, eq=False)
class Estimates:
    """What a method says of the m candidates of a run.

    ``low, high`` are limits at 95 %, ``low80, high80`` at 80 %.
    ``score`` ranks them (None: by ``auc``); NaN in ``auc`` is "does not know", perhaps
    because of an error in ``raised``, or because no more than ``asked`` were requested.
    """

    auc: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    score: np.ndarray | None = None
    raised: set = frozenset()
    asked: int | None = None
    low80: np.ndarray | None = None
    high80: np.ndarray | None = None


def record(run, name, answer):
    """What a method's answer to a run is worth."""
    truth, known, peer = run.truth, np.isfinite(answer.auc), run.peer
    score = answer.auc if answer.score is None else answer.score
    chosen = np.argmax(np.where(np.isfinite(score), score, -np.inf))
    # 5-fold CV's interval is Student's t of its folds
    reach = stdtrit(4, 0.975) * run.folds.std(axis=0, ddof=1) / np.sqrt(5)
    folds = np.clip(peer - reach, 0, 1), np.clip(peer + reach, 0, 1)

    def covers(middle, low, high, z=Z95):
        if low is None:
            return np.nan
        return mean(covered(truth, run.truth_variance, middle, low, high, z))

    def mean(values):
        return float(values[known].mean()) if known.any() else np.nan

    return {
        "group": run.key.group,
        "family": run.key.family,
        "seed": run.key.seed,
        "cluster": run.cluster,
        "method": name,
        "error": mean(np.abs(answer.auc - truth)),
        "bias": mean(answer.auc - truth),
        "cv error": mean(np.abs(peer - truth)),
        "loss": float(truth.max() - truth[chosen]),
        "cv loss": float(truth.max() - truth[np.argmax(peer)]),
        "cover": covers(answer.auc, answer.low, answer.high),
        "cover80": covers(answer.auc, answer.low80, answer.high80, Z80),
        "width": np.nan if answer.low is None else mean(answer.high - answer.low),
        "cv cover": covers(peer, *folds),
        "cv width": mean(folds[1] - folds[0]),
        "square": mean((answer.auc - truth) ** 2 - run.truth_variance),
        "unknown": float(1 - known.sum() / (answer.asked or len(known))),
        "raised": sorted(answer.raised),
    }


def covered(truth, variance, middle, low, high, z):
    """Whether each interval holds the truth, which is known up to a variance."""
    low = middle - np.hypot(middle - low, z * np.sqrt(variance))
    high = middle + np.hypot(high - middle, z * np.sqrt(variance))
    return (low <= truth) & (truth <= high)


def ratio(values, peer, cluster):
    """Ratio of two sums, and its standard error by a bootstrap over clusters."""
    values, peer = np.asarray(values, float), np.asarray(peer, float)
    if not len(values) or not peer.sum() > 1e-9 or not np.isfinite(values).all():
        return np.nan, np.nan
    _, which = np.unique(cluster, return_inverse=True)
    top, bottom = np.bincount(which, values), np.bincount(which, peer)
    value = top.sum() / bottom.sum()
    if len(top) < 3:
        return value, np.nan
    rng = np.random.default_rng(0)
    count = rng.multinomial(len(top), np.full(len(top), 1 / len(top)), BOOTSTRAPS)
    below = count @ bottom
    again = (count @ top)[below > 1e-9] / below[below > 1e-9]
    low, high = np.quantile(again, (0.16, 0.84))  # losses are often nought: robust
    return value, (high - low) / 2
