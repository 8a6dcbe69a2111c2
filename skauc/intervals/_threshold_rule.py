"""How thresholds are chosen from a ROC curve, on the sample or on a draw of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from .._validation import check_interval, check_numbers, check_option, short
from ..statistics._result import Value

BEST = ("youden", "closest")
# Of rates: one this close to its target meets it, and points this close are as good
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ThresholdRule(Value):
    """``kind``, its targets, and for ``best`` the weight of the false alarms."""

    kind: str
    targets: np.ndarray
    weight: float = 1.0

    @classmethod
    def of(cls, threshold, sensitivity, specificity, best, weight) -> ThresholdRule:
        """The rule that at most one of the arguments names; all thresholds without."""
        given = {
            "threshold": threshold,
            "sensitivity": sensitivity,
            "specificity": specificity,
            "best": best,
        }
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            raise ValueError(
                "operating_points takes one of threshold, sensitivity, specificity and "
                f"best, got {' and '.join(named)}"
            )
        if not named:
            return cls("all", np.empty(0))
        (kind,) = named
        if kind == "best":
            return cls(check_option("best", best, BEST), np.zeros(1), weight)
        rule = () if kind == "threshold" else (0, 1, "neither")
        targets = np.atleast_1d(check_numbers(kind, given[kind], *rule))
        if targets.ndim != 1:
            raise ValueError(
                f"{kind} must be one-dimensional, got {short(given[kind])}"
            )
        return cls(kind, targets)

    def corners(self, thresholds, fpr, tpr) -> np.ndarray:
        """Number of the corner of each target, from 0 at (0, 0).

        Parameters
        ----------
        thresholds : ndarray of shape (K,)
            Falling.
        fpr, tpr : ndarray of shape (..., K + 1)

        Returns
        -------
        ndarray of int of shape (..., number of targets)
        """
        if self.kind in ("all", "threshold"):  # not moved by any weights
            at = np.arange(1, len(thresholds) + 1)
            if self.kind == "threshold":
                # As many corners as there are scores >= t.
                at = np.searchsorted(-thresholds, -self.targets, side="right")
            return np.broadcast_to(at, (*fpr.shape[:-1], len(at)))
        if self.kind == "sensitivity":  # the first that reaches it
            return _count(tpr, self.targets - _ROUNDING, "left")
        if self.kind == "specificity":  # the last that keeps it
            return _count(fpr, 1 - self.targets + _ROUNDING, "right") - 1
        if self.kind == "youden":
            return _first_best(tpr - self.weight * fpr)
        return _first_best(-((1 - tpr) ** 2) - self.weight * fpr**2)

    def beyond_the_rows(self, n_neg, n_pos) -> np.ndarray:
        """Whether less than one row of its class lies beyond each target."""
        # n(1 − target) < 1: the target asks for less than the outermost row.
        n = {"sensitivity": n_pos, "specificity": n_neg}.get(self.kind, np.inf)
        return n * (1 - self.targets) < 1 - _ROUNDING * n

    def order_statistics(self, points, tail_low, tail_high):
        """Limits of the threshold at which a class has a given share above, any law.

        The number of rows at or above the true threshold is binomial; the limits are
        the scores of the ranks that it passes with a probability of at most the tails.
        """
        if self.kind == "sensitivity":
            above, share = points.above_pos, self.targets
        else:
            above, share = points.above_neg, 1 - self.targets
        n = above[-1]
        # K ~ Bin(n, share) rows lie above: P(K ≥ deep) ≤ tail_low, and
        # P(K < high) ≤ tail_high.
        deep = binom.isf(tail_low, n, share) + 1 if tail_low else np.inf
        high = binom.ppf(tail_high, n, share) if tail_high else 0
        padded = np.concatenate([[np.inf], points.thresholds, [-np.inf]])
        rank_low, rank_high = np.broadcast_arrays(deep, high, share)[:2]
        corners = np.append(0, above)
        return (
            padded[np.searchsorted(corners, rank_low)],
            padded[np.searchsorted(corners, rank_high)],
        )


def _first_best(gain):
    """Number of the first corner with the largest gain, shape (..., 1)."""
    largest = gain.max(axis=-1, keepdims=True)
    # A corner that is better by a rounding is no better: the highest score counts.
    near = gain >= largest - _ROUNDING * np.maximum(np.abs(largest), 1)
    return np.argmax(near, axis=-1)[..., None]


def _count(rates, targets, side):
    """Count the corners below each target, shape (..., number of targets).

    With ``side="right"`` those at the target count too.
    """
    flat = rates.reshape(-1, rates.shape[-1])
    rows = [np.searchsorted(row, targets, side=side) for row in flat]
    return np.array(rows).reshape(*rates.shape[:-1], len(targets))


def relative_weight(cost, prevalence) -> float:
    """``(1 − π)/(c π)``: what a false alarm weighs when a miss weighs 1."""
    if cost is None:
        return 1.0
    cost = check_interval("cost", cost, 0, closed="neither")
    return (1 - prevalence) / (cost * prevalence)
