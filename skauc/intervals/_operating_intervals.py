"""Intervals for what operating points say, in one registry.

A method says which values of which points it serves, and gives limits for all points
at once. To add one, add one entry to ``INTERVALS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from ._band import pointwise_tails
from ._limits import (
    clopper_pearson_limits,
    odds_ratio_limits,
    ratio_limits,
    wilson_limits,
)
from ._operating_comparison import drawn_points
from ._threshold_rule import BEST

RATES = ("sensitivity", "specificity")
_VALUES = ("ppv", "npv")
_RATIOS = ("lr_positive", "lr_negative")
NAMES = ("threshold", *RATES, *_VALUES, *_RATIOS, "accuracy", "odds_ratio")
_OPTIONS = ("n_draws", "random_state")
# A rate at a target of the other: the threshold between them is estimated
CROSSED = {"sensitivity": "specificity", "specificity": "sensitivity"}


@dataclass(frozen=True)
class IntervalMethod:
    """``limits(points, name, tail_low, tail_high)`` of the names that it serves."""

    serves: Callable
    limits: Callable
    options: tuple[str, ...] = ()


def _is_share(points, name):
    observed = not points.prevalence_given and name in _VALUES
    return observed or name in (*RATES, "accuracy")


def _share_limits(limits_of):
    def limits(points, name, tail_low, tail_high):
        tp, fn, fp, tn = points._table
        tails = tail_low, tail_high
        if name == "accuracy" and points.prevalence_given:
            return _weighted_limits(points, limits_of, tail_low, tail_high)
        counts = {
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "ppv": (tp, tp + fp),
            "npv": (tn, tn + fn),
            "accuracy": (tp + tn, tp + fn + fp + tn),
        }
        return limits_of(*counts[name], *tails)

    return limits


def _weighted_limits(points, limits_of, tail_low, tail_high):
    """Limits of ``π Se + (1 − π) Sp`` from those of both rates (Zou & Donner)."""
    tp, fn, fp, tn = points._table
    weights = points.prevalence, 1 - points.prevalence
    rates = points.sensitivity, points.specificity
    each = [
        limits_of(x, n, tail_low, tail_high) for x, n in ((tp, tp + fn), (tn, tn + fp))
    ]
    # p̂ − √Σ{w(r̂ − l)}², p̂ + √Σ{w(u − r̂)}² for p = Σ w r, r in (l, u) each
    reach = [
        np.sqrt(
            sum(
                (w * (rate - limits[side])) ** 2
                for w, rate, limits in zip(weights, rates, each, strict=True)
            )
        )
        for side in (0, 1)
    ]
    low = points.accuracy - reach[0] if tail_low else np.zeros_like(reach[0])
    high = points.accuracy + reach[1] if tail_high else np.ones_like(reach[1])
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _is_ratio(points, name):
    predicted = points.prevalence_given and name in _VALUES
    return predicted or name in (*_RATIOS, "odds_ratio")


def _ratio_intervals(points, name, tail_low, tail_high):
    tp, fn, fp, tn = points._table
    n_neg, n_pos = points._sample.sizes
    prior = logit(points.prevalence)
    tails = tail_low, tail_high
    if name == "odds_ratio":
        return odds_ratio_limits(points._table, *tails)
    # odds of PPV = LR+ · π/(1 − π),   odds of NPV = (1/LR−) · (1 − π)/π
    if name in ("lr_positive", "ppv"):
        low, high = ratio_limits(tp, n_pos, fp, n_neg, *tails)
        return (low, high) if name == "lr_positive" else _after(prior, low, high)
    if name == "lr_negative":
        return ratio_limits(fn, n_pos, tn, n_neg, *tails)
    return _after(-prior, *ratio_limits(tn, n_neg, fn, n_pos, *tails))


def _after(prior, low, high):
    """Probabilities whose odds are the prior ones times a likelihood ratio."""
    with np.errstate(divide="ignore"):
        return expit(prior + np.log(low)), expit(prior + np.log(high))


def _has_rank(points, name):
    return name == "threshold" and points.chosen_by in RATES


def _rank_limits(points, name, tail_low, tail_high):
    return points._rule.order_statistics(points._sample.levels, tail_low, tail_high)


def is_crossed(points, name):
    """Whether a target of the other rate chose the thresholds."""
    return CROSSED.get(points.chosen_by) == name


def _is_drawn(points, name):
    best = points.chosen_by in BEST and name in ("threshold", *RATES)
    return best or is_crossed(points, name)


def _drawn_limits(points, name, tail_low, tail_high, n_draws=None, random_state=0):
    if is_crossed(points, name):
        curve = points._sample.levels
        if name == "specificity":
            curve = curve.swapped()
        # Specificity 1 − FPR is the target, or sensitivity, which it is after swapping.
        grid = 1 - points._rule.targets
        return pointwise_tails(curve, grid, tail_low, tail_high, n_draws, random_state)
    draws = drawn_points((points,), n_draws, random_state)
    drawn = np.concatenate([one[name] for (one,) in draws])
    ends = (-np.inf, np.inf) if name == "threshold" else (0.0, 1.0)
    how = {"axis": 0, "method": "inverted_cdf"}  # thresholds are scores, and may be inf
    none = np.ones(len(points.threshold))
    return (
        np.quantile(drawn, tail_low, **how) if tail_low else ends[0] * none,
        np.quantile(drawn, 1 - tail_high, **how) if tail_high else ends[1] * none,
    )


def is_optimistic(points, name):
    """Whether the same rows chose the threshold by this rate."""
    return points.chosen_by in BEST and name in RATES


def _corrected_limits(points, name, tail_low, tail_high, n_draws=None, random_state=0):
    """Wilson's limits around the rate less its optimism.

    The rate of a draw at its own best threshold, less the rate of the rows there,
    stands for the rate of the rows less that of new rows.
    """
    draws = drawn_points((points,), n_draws, random_state)
    gaps = np.concatenate([one[name] - one["later"][name] for (one,) in draws])
    n_neg, n_pos = points._sample.sizes
    n = n_pos if name == "sensitivity" else n_neg
    rate = np.clip(getattr(points, name) - gaps.mean(axis=0), 0, 1)
    return wilson_limits(rate * n, n, tail_low, tail_high)


INTERVALS = {
    "wilson": IntervalMethod(_is_share, _share_limits(wilson_limits)),
    "clopper_pearson": IntervalMethod(_is_share, _share_limits(clopper_pearson_limits)),
    "log": IntervalMethod(_is_ratio, _ratio_intervals),
    "order_statistics": IntervalMethod(_has_rank, _rank_limits),
    "bayesian_bootstrap": IntervalMethod(_is_drawn, _drawn_limits, _OPTIONS),
    "optimism_corrected": IntervalMethod(is_optimistic, _corrected_limits, _OPTIONS),
}
