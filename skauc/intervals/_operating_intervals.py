"""Intervals and comparisons of the values of operating points.

``methods_of`` names the methods that are valid for a value of points; each of
``METHODS`` returns limits for all points at once. Groups of rows divide counts by the
design effect of the value, from its influence function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import binom

from ..statistics._checks import check_option, generator
from ._band import drawn_heights, quantiles
from ._comparison import TestedDifference
from ._empirical_roc import BEST
from ._limits import bisected, clopper_pearson_limits, wilson_limits
from ._resampling import DRAWS, bayesian_weights

RATES = ("sensitivity", "specificity")
_VALUES = ("ppv", "npv")
_RATIOS = ("lr_positive", "lr_negative")
NAMES = ("threshold", *RATES, *_VALUES, *_RATIOS, "accuracy", "f1", "youden_j")
# A rate at a target of the other rate, whose threshold is estimated
CROSSED = dict(zip(RATES, RATES[::-1], strict=True))
_STEP = 1e-20  # of a derivative by an imaginary step, which loses no digits
_NO_GAP = 1e-12  # smaller differences of rates are rounding


def at_prevalence(table, prevalence):
    """Shares of true positives, misses, false alarms and quiet rows at a prevalence."""
    tp, fn, fp, tn = table
    sick, well = prevalence / (tp + fn), (1 - prevalence) / (fp + tn)
    return sick * tp, sick * fn, well * fp, well * tn


def parts_of(name, tp, fn, fp, tn):
    """The numbers whose ratio is a value, from counts or shares of rows."""
    return {
        "sensitivity": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "lr_positive": (tp * (fp + tn), fp * (tp + fn)),
        "lr_negative": (fn * (fp + tn), tn * (tp + fn)),
        "accuracy": (tp + tn, tp + fn + fp + tn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "youden_j": (tp * tn - fn * fp, (tp + fn) * (fp + tn)),
    }[name]


def value_of(name, table) -> np.ndarray:
    """A value from counts or shares of rows; inf for x/0, nan for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(*parts_of(name, *table))


# ------------------------------------- rates of new rows, at the thresholds of these


def _design_effects(points, name):
    """Design effect of a value at each point, 1 without groups."""
    sample = points._sample
    if sample.clusters is None:
        return sample.effect
    # ∂f/∂count is Im f(count + ih)/h, of which the scale does not matter
    steps = 1j * _STEP * np.eye(4)[..., None]
    table = np.array(points._table)[:, None] + steps
    if points._prevalence_given:
        table = at_prevalence(table, points.prevalence)
    slopes = np.nan_to_num(value_of(name, table).imag, posinf=0, neginf=0)
    effects = []
    for threshold, (tp, fn, fp, tn) in zip(points.threshold, slopes.T, strict=True):
        called = sample.levels.value >= threshold
        by_level = np.where(called, fp, tn), np.where(called, tp, fn)
        effects.append(sample.effect_of(*sample.of_rows(*by_level)))
    return np.array(effects)


def _new_rows(points, name, **drawn):
    """Counts to expect of as many new rows; groups divide them by a design effect."""
    usual = drawn in ({}, {"n_resamples": DRAWS, "random_state": 0})
    table = points._expected if usual else expected_counts(points, **drawn)
    effects = _design_effects(points, name)
    return [count / effects for count in table]


def expected_counts(points, **drawn):
    """Counts to expect of as many new rows: at a best point without the optimism.

    The optimism of a rate is the mean over Bayesian bootstrap draws of the rate of a
    draw at its own best threshold less the rate of these rows at that threshold.
    """
    if points.chosen_by not in BEST:
        return points._table
    sums, number = 0.0, 0
    for (chosen,) in drawn_points((points,), **drawn):
        gaps = [chosen[name] - chosen["later"][name] for name in RATES]
        sums, number = sums + np.sum(gaps, axis=1), number + len(gaps[0])
    n_neg, n_pos = points._sample.sizes
    hits, quiet = np.clip(
        [points.sensitivity, points.specificity] - sums / number, 0, 1
    )
    return n_pos * hits, n_pos * (1 - hits), n_neg * (1 - quiet), n_neg * quiet


def _share_limits(limits_of, points, name, tail_low, tail_high, **drawn):
    """Limits of a share of rows."""
    table = _new_rows(points, name, **drawn)
    given = table, limits_of, tail_low, tail_high
    if name == "youden_j":  # Se + Sp − 1 is twice the accuracy at ½, less 1
        return tuple(2 * p - 1 for p in _weighted_limits("accuracy", 0.5, *given))
    if name in _RATIOS:  # LR+ and 1/LR− are the odds of the predictive values at ½
        low, high = _weighted_limits(_VALUES[_RATIOS.index(name)], 0.5, *given)
        with np.errstate(divide="ignore"):
            if name == "lr_positive":
                return low / (1 - low), high / (1 - high)
            return 1 / high - 1, 1 / low - 1
    if name not in RATES and points._prevalence_given:
        return _weighted_limits(name, points.prevalence, *given)
    if name != "f1":
        return limits_of(*parts_of(name, *table), tail_low, tail_high)
    # 2 tp/(2 tp + fp + fn) = 2 J/(1 + J), J = tp/(tp + fp + fn)
    tp, fn, fp, _ = table
    limits = limits_of(tp, tp + fn + fp, tail_low, tail_high)
    return tuple(2 * share / (1 + share) for share in limits)


def _weighted_limits(name, sick, table, limits_of, tail_low, tail_high):
    """Limits of a value at a prevalence π from those of both rates (MOVER).

    It is at least p where ``a(p) Se + b(p) Sp >= c(p)``, which the rows leave open from
    ``−√{a²(Se − l)² + b²(Sp − l)²}`` to ``√{a²(u − Se)² + b²(u − Sp)²}`` (Zou & Donner
    2008, https://doi.org/10.1002/sim.3095). A rate of 0 or 1 is not taken for known.
    """
    tp, fn, fp, tn = table
    hits, quiet = tp / (tp + fn), tn / (tn + fp)
    well = 1 - sick
    weights = {
        "accuracy": lambda p: (sick, well, p),
        # 2 π Se/{π Se + π + (1 − π)(1 − Sp)} >= p
        "f1": lambda p: ((2 - p) * sick, p * well, p),
        # π Se/{π Se + (1 − π)(1 − Sp)} >= p,   (1 − π) Sp/{(1 − π) Sp + π(1 − Se)} >= p
        "ppv": lambda p: ((1 - p) * sick, p * well, p * well),
        "npv": lambda p: (p * sick, (1 - p) * well, p * sick),
    }[name]
    of_hits = limits_of(tp, tp + fn, tail_low, tail_high)
    of_quiet = limits_of(tn, tn + fp, tail_low, tail_high)

    def open_to(side, sign):
        def inside(p):
            a, b, c = weights(p)
            reach = np.hypot(a * (hits - of_hits[side]), b * (quiet - of_quiet[side]))
            return sign * (a * hits + b * quiet - c) >= reach

        return inside

    zero, one = np.zeros_like(hits), np.ones_like(hits)
    low = bisected(open_to(0, 1), zero, one) if tail_low else zero
    high = bisected(open_to(1, -1), one, zero) if tail_high else one
    return low, high


# ------------------------------------------------- at the thresholds of the population


def _rank_limits(points, name, tail_low, tail_high):
    """Limits of the threshold with a given share of a class above, for any law.

    The number of rows at or above the true threshold is binomial; the limits are the
    scores of the ranks that it passes with a probability of at most the tails. For a
    specificity the upper limit is the next higher score, because the threshold is the
    lowest score with at most ``1 − specificity`` at or above it.
    """
    levels, share = points._sample.levels, points._rule.targets
    above = levels.above_pos
    if points.chosen_by == "specificity":
        above, share = levels.above_neg, 1 - share
    # of groups as many rows as are independent, each for n/m rows
    n = above[-1]
    m = np.maximum(np.rint(n / _design_effects(points, points.chosen_by)), 1)
    # K ~ Bin(m, share) rows lie above: P(K ≥ deep) ≤ tail_low, P(K < high) ≤ tail_high
    deep = binom.isf(tail_low, m, share) + 1 if tail_low else share + np.inf
    high = binom.ppf(tail_high, m, share) if tail_high else 0 * share
    padded = np.concatenate([[np.inf], levels.thresholds, [-np.inf]])
    corners = np.append(0, above)
    # a sum of weights may be less than its rank by rounding
    ranks = (rank * n / m * (1 - 1e-12) for rank in (deep, high))
    low, high = (np.searchsorted(corners, rank) for rank in ranks)
    if points.chosen_by == "specificity":
        high = np.maximum(high - 1, 0)
    return padded[low], padded[high]


def drawn_points(several, n_resamples, random_state):
    """Sensitivity and specificity in each draw of the rows.

    Parameters
    ----------
    several : sequence of OperatingPoints
        Points of the same rows in the same order; a draw gives one weight per row.
    n_resamples : int
    random_state

    Yields
    ------
    list of dict of ndarray of shape (draws, k)
    """
    sample, *others = (points._sample for points in several)
    influence = sample.influence
    for other in others:  # on the difference of both AUCs
        influence = map(np.subtract, influence, other.influence)
    effect = sample.effect_of(*influence)
    counts = [count / effect for count in sample.counts]
    for weights in bayesian_weights(counts, n_resamples, random_state):
        yield [_points_of_draw(points, weights) for points in several]


def _points_of_draw(points, weights):
    """Choose the points of one score again, with drawn weights of its rows."""
    levels = points._sample.levels
    pairs = zip(weights, levels.row_levels, strict=True)
    fpr, tpr = (_rates(*pair, len(levels.value)) for pair in pairs)
    at = points._rule.corners(levels.thresholds, fpr, tpr)
    drawn = tuple(np.take_along_axis(rate, at, axis=1) for rate in (tpr, fpr))
    return {
        "sensitivity": drawn[0],
        "specificity": 1 - drawn[1],
        # rates of the original rows at the threshold of a draw, without optimism
        "later": {"sensitivity": levels.tpr[at], "specificity": 1 - levels.fpr[at]},
    }


def _rates(weight, level, n_levels):
    """Share of the weight at or above each corner, shape (draws, n_levels + 1)."""
    sums = [np.bincount(n_levels - level, of_draw, n_levels + 1) for of_draw in weight]
    above = np.cumsum(sums, axis=1)
    return above / above[:, -1:]


def _drawn_limits(points, name, tail_low, tail_high, n_resamples, random_state):
    """Limits of a value where the population has the wanted rate."""
    target, sample = points._rule.targets, points._sample
    if name == points.chosen_by:
        return target, target
    rng = generator(random_state)
    # the target is the specificity 1 − FPR; a sensitivity becomes one by swapping
    swapped = points.chosen_by == "sensitivity"
    curve = sample.levels.swapped() if swapped else sample.levels
    crossed = drawn_heights(curve, sample.effect, 1 - target, n_resamples, rng)
    share = points.prevalence
    if not (points._prevalence_given or name in (*_RATIOS, *RATES)):
        n_neg, n_pos = sample.sizes
        neg, pos = map(np.ones_like, sample.counts)
        effect = sample.effect_of(-n_pos * neg, n_neg * pos)
        share = rng.beta(n_pos / effect, n_neg / effect, size=(n_resamples, 1))
    pairs = [(target, rate) if swapped else (rate, target) for rate in crossed]
    low, high = (
        value_of(name, at_prevalence((hits, 1 - hits, 1 - quiet, quiet), share))
        for hits, quiet in pairs
    )
    if name == "lr_negative":  # the only value that falls with both rates
        low, high = high, low
    top = np.inf if name in _RATIOS else 1.0
    # 0/0 in a draw says nothing
    low = np.nan_to_num(low, posinf=np.inf)
    high = np.where(np.isnan(high), top, high)
    ends = -1.0 if name == "youden_j" else 0.0, top
    return quantiles(low, high, tail_low, tail_high, ends)


# The first one that is valid for a value is its default
METHODS: dict[str, Callable] = {
    "bayesian_bootstrap": _drawn_limits,
    "wilson": partial(_share_limits, wilson_limits),
    "clopper_pearson": partial(_share_limits, clopper_pearson_limits),
    "order_statistics": _rank_limits,
}


def methods_of(points, name) -> list:
    """Methods whose limits are valid for a name."""
    if points.at == "population" and points.chosen_by in RATES:
        ranked = name == "threshold"
        return ["order_statistics"] if ranked else ["bayesian_bootstrap"]
    if name == "threshold":
        return []
    return ["wilson", "clopper_pearson"]


@dataclass(frozen=True, eq=False, repr=False)
class OperatingComparison(TestedDifference):
    """Difference of a rate between two scores of the same rows, at each point.

    Made by :meth:`OperatingPoints.compare`.

    Attributes
    ----------
    name : {"sensitivity", "specificity"}
        The rate that is compared.
    rate_a, rate_b : ndarray of shape (k,)
        The rate of either score at each point.
    standard_error : ndarray of shape (k,)
        Standard error of the difference; inf if the rows do not determine it.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.results.OperatingPoints.compare : Makes it.
    skauc.compare_auc : The difference of whole or partial areas.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import OperatingComparison
    >>> result = OperatingComparison(
    ...     "sensitivity", np.array([0.8]), np.array([0.6]), np.array([0.1])
    ... )
    >>> result.pvalue.round(4)
    array([0.0455])
    """

    name: str
    rate_a: np.ndarray
    rate_b: np.ndarray
    standard_error: np.ndarray

    def _head(self):
        names = ("name", "difference", "standard_error", "pvalue")
        return {name: getattr(self, name) for name in names}

    def _estimates(self, confidence_level):
        rates = {f"{self.name}_a": self.rate_a, f"{self.name}_b": self.rate_b}
        return super()._estimates(confidence_level) | rates

    @property
    def difference(self) -> np.ndarray:
        """``rate_a − rate_b``."""
        return self.rate_a - self.rate_b


def compared(a, b, name, n_resamples, random_state) -> OperatingComparison:
    """Compare a rate of two OperatingPoints; the error by paired Bayesian bootstrap."""
    if type(b) is not type(a):
        raise TypeError(f"other must be an OperatingPoints, got {type(b).__name__}")
    _check_same_rows(a._sample, b._sample)
    _check_same_rule(a, b)
    k = len(a.threshold)
    if len(b.threshold) != k:
        raise ValueError(f"other must have {k} points, got {len(b.threshold)}")
    if name is None:
        name = CROSSED.get(a.chosen_by, "sensitivity")
    check_option("name", name, RATES)
    rates = getattr(a, name), getattr(b, name)
    gaps = [
        one[name] - two[name]
        for one, two in drawn_points((a, b), n_resamples, random_state)
    ]
    error = np.concatenate(gaps).std(axis=0, ddof=1)
    # As in section 4 of skauc.intervals: where rates differ and no draw varies, the
    # largest possible error takes the place of 0
    apart = np.abs(rates[0] - rates[1]) > _NO_GAP
    error = np.where(apart & (error <= _NO_GAP), a._sample.smaller**-0.5, error)
    # there the outermost row is the threshold in most draws, so that the variance is
    # underestimated
    for points in (a, b):
        if points.chosen_by in RATES:
            n = points._sample.effective[points.chosen_by == "sensitivity"]
            # n(1 − target) < 1: less than the outermost row lies beyond the target
            beyond = n * (1 - points._rule.targets) < 1 - _NO_GAP * n
            error = np.where(beyond, np.inf, error)
    label = a._sample.pos_label
    return OperatingComparison(name, *rates, error, pos_label=label)


def _check_same_rows(a, b):
    """Raise unless two samples hold the same classes, weights and groups in order."""
    same = a.pos_label == b.pos_label and np.array_equal(a.positive, b.positive)
    of_a, of_b = ([*rows.counts, *(rows.clusters or ())] for rows in (a, b))
    same = same and len(of_a) == len(of_b)
    if not (same and all(map(np.array_equal, of_a, of_b))):
        raise ValueError(
            f"other must be points of the same rows in the same order, {a.sizes} "
            f"negatives and positives ({a.pos_label!r}), got {b.sizes} "
            f"({b.pos_label!r}), with other labels, weights or groups"
        )


def _check_same_rule(a, b):
    """Raise unless one rule chose the thresholds; given thresholds may differ."""
    mine, other = a._rule, b._rule
    same = (mine.kind, mine.weight) == (other.kind, other.weight)
    given = same and mine.kind not in (*RATES, *BEST)
    if not given and not (same and np.array_equal(mine.targets, other.targets)):
        raise ValueError(
            "other must choose its thresholds by the rule of this one, "
            f"{mine}, got {other}"
        )
