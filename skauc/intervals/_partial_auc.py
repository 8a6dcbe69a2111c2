"""The area under a part of the ROC curve, with its variance.

Going along the curve, let (x, y) = (FPR, TPR). The area over ``a ≤ x ≤ b`` is the mean
over the positives, and falls as negatives move up, by (section 6 of
:mod:`skauc.intervals`)

    V₁(i) = b − clip(x_i, a, b),    V₀(j) = clip(y_j, ROC(a), ROC(b)) − ROC(b),

averaged over the piece of the curve that belongs to the score of the row: a point for a
unique score, a straight line for tied scores. They replace DeLong's placements, and are
equal to them, except for a constant, if a = 0 and b = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._validation import check_either
from ..statistics._checks import check_flag, check_numbers, short
from ..statistics._levels import height
from ..statistics._wald import Interval, interval_tails
from ._limits import EstimateWithLimits, wilson_limits
from ._sample import Sample

# The largest variance with mean ½, 1/4, over the variance 1/12 of a uniform placement
_UNIFORM = 3
# In narrower ranges near a rate of 1 half of the digits cancel (√eps = 1.5e-8)
_NARROWEST = 1e-8


@dataclass(frozen=True)
class Region:
    """Part of the unit square: FPR or TPR between two limits."""

    axis: str
    low: float
    high: float

    @classmethod
    def of(cls, fpr, tpr) -> Region:
        """Region given by one of ``fpr`` and ``tpr``."""
        check_either("a partial area", fpr=fpr, tpr=tpr)
        name, limits = ("fpr", fpr) if tpr is None else ("tpr", tpr)
        pair = check_numbers(name, limits, 0, 1)
        if pair.shape != (2,) or not pair[1] - pair[0] >= _NARROWEST:
            raise ValueError(
                f"{name} must be two numbers 0 <= a < b <= 1, {_NARROWEST:g} or more "
                f"apart, got {short(limits)}"
            )
        return cls(name, *pair.tolist())

    @property
    def width(self) -> float:
        """Largest area."""
        return self.high - self.low

    @property
    def chance(self) -> float:
        """Area of the diagonal."""
        # ∫ₐᵇ x dx = (b − a)(a + b)/2, or ∫ₐᵇ (1 − y) dy
        middle = (self.low + self.high) / 2
        return self.width * (middle if self.axis == "fpr" else 1 - middle)

    @property
    def slope(self) -> float:
        """Derivative of :meth:`standardized`."""
        return 0.5 / (self.width - self.chance)

    def standardized(self, area):
        """McClish's rescaling: ½ for chance, 1 for the largest area."""
        # ½ {1 + (area − chance)/(width − chance)}
        return 0.5 + (area - self.chance) * self.slope


WHOLE = Region("fpr", 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class PartOfSample:
    """A sample and the region of its curve; the partial area and its placements."""

    sample: Sample
    region: Region

    @cached_property
    def placements(self) -> tuple:
        """``V₀`` of a negative and ``V₁`` of a positive at each level."""
        levels, r = self.sample.levels, self.region
        if r.width == 1:  # V₁₀ and V₀₁, which differ from the formulas by a constant
            return levels.placements
        x, y = levels.fpr, levels.tpr
        if r.axis == "fpr":
            low, high = height(x, y, r.low), height(x, y, r.high)
            # V₁ = b − clip(x, a, b),   V₀ = clip(y, ROC(a), ROC(b)) − ROC(b)
            v1 = r.high - _mean_clipped(x, r.low, r.high)
            v0 = _mean_clipped(y, low, high) - high
        else:  # the same after swapping the classes and negating the scores
            # (x, y) becomes (1 − y, 1 − x): tops of vertical pieces are bottoms here
            low, high = (height(y, x, at, side="left") for at in (r.low, r.high))
            v0 = _mean_clipped(y, r.low, r.high) - r.low
            v1 = low - _mean_clipped(x, low, high)
        return v0[::-1], v1[::-1]  # the curve goes down through the levels

    @cached_property
    def area(self) -> float:
        """Partial area: the mean of the placements on the other axis."""
        levels, (at_neg, at_pos) = self.sample.levels, self.placements
        if self.region.width == 1:
            return levels.auc
        over_fpr = self.region.axis == "fpr"
        # The mean of V₁ (of the class on the other axis) is the area itself
        v, w = (at_pos, levels.pos) if over_fpr else (at_neg, levels.neg)
        return float(np.clip(v @ w / w.sum(), 0, self.region.width))

    @cached_property
    def variance(self) -> float:
        """DeLong's variance, or Obuchowski's for clusters, from the placements."""
        return self.sample.mean_variance(*self.placements)

    @property
    def trials(self) -> float:
        """Number of trials whose share varies at least as much (section 6)."""
        # of the class on the axis, only rows within the range count
        sizes = self.sample.effective
        on_axis, other = sizes if self.region.axis == "fpr" else sizes[::-1]
        return min(on_axis * self.region.width, other)

    @cached_property
    def score_trials(self) -> float:
        """The n of the variance ``S(1 − S)/n`` of the share S = area/width."""
        # Var S = Var(area)/width²,   1/n = max(v̂/{Ŝ(1 − Ŝ)}, (1 + 1/m)/(3m))
        width, n = self.region.width, _UNIFORM * self.trials / (1 + 1 / self.trials)
        most, variance = self.area * (width - self.area), self.variance
        return most / variance if variance * n > most > 0 else n


@dataclass(frozen=True, eq=False, repr=False)
class PartialAUC(EstimateWithLimits):
    """Area under a part of the empirical ROC curve, with standard error and interval.

    Made by :meth:`AUCEstimate.partial_auc`.

    Attributes
    ----------
    auc : float
        ``∫ TPR dFPR`` over the range of FPR, or ``∫ (1 − FPR) dTPR`` over the range of
        TPR; rescaled if ``standardize`` is True.
    standardize : bool
        Whether ``auc`` is McClish's ``½ (1 + (area − chance)/(width − chance))``: ½
        for chance, 1 for a perfect curve, and less than ½ below chance.
    _part : PartOfSample
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.results.AUCEstimate.partial_auc : Makes it.
    skauc.compare_auc : Compares partial areas of two scores (``fpr=`` or ``tpr=``).
    skauc.operating_points : Rates at one threshold.

    Notes
    -----
    The curve is the trapezoidal one, cut where the range ends even within tied scores,
    as in pROC and :func:`sklearn.metrics.roc_auc_score`, whose rescaling is McClish's
    [1]_. The standard error is DeLong's [3]_ with placements cut to the range [2]_; it
    includes the uncertainty of the thresholds at the ends of the range.

    Intervals hold all shares S = area/width with ``|Ŝ − S| ≤ z √V(S)`` and ``V(S) =
    S(1 − S) max(v, (1 + 1/m)/(3m))``, where v is DeLong's variance divided by ``Ŝ(1 −
    Ŝ)``. The lower bound is the variance of uniform placements of m rows, with the term
    1/m of Mann and Whitney's variance for the pairs; m is the smaller of n₁ and ``width
    · n₀`` (for a range of TPR, of n₀ and ``width · n₁``). It is needed because a
    variance estimated from few rows is unreliable: with 5 to 20 rows of each class
    intervals cover .93 to 1.00, and .84 without the term.

    Coverage at 95 %, minimum and mean over 20 designs (20 + 20 to 200 + 200 rows,
    normal and Cauchy scores, ``benchmarks/coverage/curves.py``): .80 and .957 for FPR 0
    to .1, .93 and .968 for .1 to .3, .89 and .945 for TPR .8 to 1. The minimum belongs
    to a design with two negatives in the range. DeLong's limits on the logit scale
    cover less: .77 and .912, .84 and .948, .87 and .937.

    References
    ----------
    .. [1] McClish (1989), "Analyzing a portion of the ROC curve",
       https://doi.org/10.1177/0272989X8900900307
    .. [2] Dodd & Pepe (2003), "Partial AUC estimation and regression",
       https://doi.org/10.1111/1541-0420.00071
    .. [3] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595

    Examples
    --------
    >>> from skauc import auc_estimate
    >>> estimate = auc_estimate([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    >>> estimate.partial_auc(fpr=(0, 0.5)).auc
    0.375
    """

    auc: float
    standardize: bool
    _part: PartOfSample = field(repr=False)

    @classmethod
    def _of(cls, sample, region, standardize) -> PartialAUC:
        part = PartOfSample(sample, region)
        scaled = check_flag("standardize", standardize)
        area = part.region.standardized(part.area) if scaled else part.area
        return cls(area, scaled, part, pos_label=sample.pos_label)

    def _head(self):
        region = self._part.region
        head = super()._head() | {region.axis: (region.low, region.high)}
        return head | ({"standardize": True} if self.standardize else {})

    method = "score"

    def _score_variance(self, area):
        """Variance of the area if the true one is ``area``, not standardized."""
        return area * (self._part.region.width - area) / self._part.score_trials

    def _estimates(self, confidence_level):
        region = self._part.region
        columns = super()._estimates(confidence_level) | {"": ["partial AUC"]}
        ends = {"from": [region.low], "to": [region.high]}
        return columns | {"axis": [region.axis]} | ends

    @property
    def standard_error(self) -> float:
        """Standard error of the area; 0 if all placements in the range are equal."""
        slope = self._part.region.slope if self.standardize else 1.0
        return float(np.sqrt(self._part.variance) * slope)

    def confidence_interval(
        self, confidence_level: float = 0.95, *, alternative: str = "two-sided"
    ) -> Interval:
        """Confidence limits for the area, inside its possible range.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives a lower limit only, ``"less"`` an upper one.

        Returns
        -------
        Interval
            ``(low, high)``.

        Raises
        ------
        ValueError
            If an option is invalid, or a class has fewer than two rows.
        """
        tails = interval_tails(confidence_level, alternative)
        part, region = self._part, self._part.region
        # V(S) = S(1 − S)/n of the share S = area/width: Wilson's limits
        successes = part.area / region.width * part.score_trials
        limits = wilson_limits(successes, part.score_trials, *tails)
        areas = [region.width * float(limit) for limit in limits]
        return Interval(*map(region.standardized, areas) if self.standardize else areas)


def _mean_clipped(path, low, high):
    """Mean of ``clip(v, low, high)`` over each straight piece of a rising path."""
    start, end = path[:-1], path[1:]
    # a straight piece inside the limits has its middle as mean
    mean = np.clip((start + end) / 2, low, high)
    # pieces cut by a limit: mean of the ends inside, the limit beyond
    for limit in (low, high):
        cut = np.flatnonzero((start < limit) & (limit < end))
        p, q = start[cut], end[cut]
        c, d = np.clip(p, low, high), np.clip(q, low, high)
        # {low (c − p) + ∫_c^d v dv + high (q − d)}/(q − p), c and d the clipped ends
        inside = (d - c) * (c + d) / 2
        mean[cut] = (low * (c - p) + inside + high * (q - d)) / (q - p)
    return mean
