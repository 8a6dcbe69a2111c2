"""The empirical ROC curve as a value, and the rules that choose thresholds from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..roc._base import YoudenPoint
from ..statistics._checks import (
    check_interval,
    check_level,
    check_numbers,
    check_option,
    short,
)
from ..statistics._levels import height, in_precision_of
from ..statistics._result import LabelledResult
from ..statistics._types import ArrayLike, Seed, Values
from ._band import BANDS, GRID, ROCBand, drawn_heights
from ._resampling import DRAWS
from ._sample import Sample, sample_of

BEST = ("youden", "closest")
# Rates this close to a target meet it, and points this close are equally good
_ROUNDING = 1e-12


def empirical_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: Values = None,
    groups: Values = None,
    pos_label: object = None,
) -> EmpiricalROC:
    """Empirical ROC curve of a score, with its confidence bands.

    Answers: which true positive rate does the score reach at each false positive rate,
    and how uncertain is that rate, or the whole curve [1]_? The rows must not have
    trained the model. Costs O(n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class; ±inf are allowed, NaN is not.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights; bands and standard errors take them for counts of rows, see
        :class:`skauc.SampleWeightWarning`.
    groups : array-like of shape (n,), default=None
        Group of each row, such as a patient, if rows of one group depend on each other;
        groups must be independent. Bands are wider by the design effect of the AUC.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    EmpiricalROC
        ``fpr``, ``tpr``, ``thresholds`` and ``auc``, without corners on a straight line
        (:func:`operating_points` has every threshold); methods ``band()``,
        ``youden()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the input is invalid, as for :func:`auc_estimate`.

    See Also
    --------
    operating_points : Rates and predictive values at thresholds, with intervals.
    binormal_roc : A smooth curve, if the scores are normal in each class.
    auc_estimate : The area alone, with its interval.

    References
    ----------
    .. [1] Fawcett (2006), "An introduction to ROC analysis",
       https://doi.org/10.1016/j.patrec.2005.10.010

    Examples
    --------
    >>> from skauc import empirical_roc
    >>> roc = empirical_roc([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    >>> roc.auc, roc.youden().threshold
    (0.875, 4.0)
    """
    given = y_true, y_score, sample_weight, groups, pos_label
    return EmpiricalROC._of(sample_of(*given))


@dataclass(frozen=True, eq=False, repr=False)
class EmpiricalROC(LabelledResult):
    """An empirical ROC curve with its area and confidence bands.

    Made by :func:`skauc.empirical_roc`.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (m,)
        Corners from (0, 0) to (1, 1).
    thresholds : ndarray of shape (m,)
        Rows with ``score >= threshold`` are called positive; the first threshold is
        inf, as in scikit-learn.
    auc : float
        Area under the curve.
    n_neg, n_pos : float
        Rows of each class (sum of the weights).
    _sample : Sample
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.empirical_roc : Makes it, from labels and scores.
    skauc.results.ROCBand : What ``band`` returns.
    skauc.results.BinormalROC : The smooth curve of normal scores.

    Notes
    -----
    :meth:`band` offers these methods:

    - ``"pointwise"`` (default): limits that hold for each TPR separately, by the
      Bayesian bootstrap [1]_ with half a row beyond the outermost scores of each class.
    - ``"simultaneous"``: limits that hold for the whole curve, from the same draws
      [2]_.

    At 95 % the minimal coverage, mean coverage and mean width over 20 designs
    (``benchmarks/coverage/curves.py``) are .96, .978 and .26 for points of the curve by
    ``"pointwise"``, and .96, .989 and .37 for whole curves by ``"simultaneous"``.

    References
    ----------
    .. [1] Gu, Ghosal & Roy (2008), "Bayesian bootstrap estimation of ROC curve",
       https://doi.org/10.1002/sim.3366
    .. [2] Besag, Green, Higdon & Mengersen (1995), "Bayesian computation and stochastic
       systems", https://doi.org/10.1214/ss/1177010123

    Examples
    --------
    >>> from skauc import empirical_roc
    >>> roc = empirical_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> roc.fpr, roc.tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """

    fpr: np.ndarray
    tpr: np.ndarray
    thresholds: np.ndarray
    auc: float
    n_neg: float
    n_pos: float
    _sample: Sample = field(repr=False)

    @classmethod
    def _of(cls, sample):
        points = sample.levels
        keep = np.ones(len(points.thresholds), dtype=bool)
        # a corner between two equal steps lies on a straight line (as in roc_curve)
        keep[1:-1] = np.diff(points.above_neg, 2).astype(bool)
        keep[1:-1] |= np.diff(points.above_pos, 2).astype(bool)
        corners = np.append(True, keep)
        thresholds = np.append(np.inf, points.thresholds[keep])
        curve = points.fpr[corners], points.tpr[corners], thresholds, sample.auc
        return cls(*curve, *sample.sizes, sample, pos_label=sample.pos_label)

    def _head(self):
        counts = {"thresholds": len(self.thresholds)}
        return {"auc": self.auc} | counts | {"n_neg": self.n_neg, "n_pos": self.n_pos}

    def _columns(self):
        return {"threshold": self.thresholds, "fpr": self.fpr, "tpr": self.tpr}

    def roc(self, fpr: ArrayLike) -> Any:
        """True positive rate at a false positive rate, interpolated between corners.

        Parameters
        ----------
        fpr : array-like
            Rates in [0, 1].

        Returns
        -------
        ndarray
            At a vertical step the value is its upper end.

        Raises
        ------
        ValueError
            If a rate lies outside [0, 1].
        """
        return height(self.fpr, self.tpr, check_numbers("fpr", fpr, 0, 1))

    def youden(self) -> YoudenPoint:
        """Threshold with the largest TPR − FPR; of equally good ones the highest.

        Returns
        -------
        YoudenPoint
            Named tuple ``(threshold, fpr, tpr, j)``; j is also the distance KS of
            Kolmogorov and Smirnov between the classes, of which credit scoring reports
            the value alone: as a maximum over these rows it is too high for new ones.
            ``operating_points(…, best="youden")`` has its interval, ``"youden_j"``.
        """
        (k,) = _first_best(self.tpr - self.fpr)
        values = self.thresholds[k], self.fpr[k], self.tpr[k], self.tpr[k] - self.fpr[k]
        return YoudenPoint(*map(float, values))

    def band(
        self,
        confidence_level: float = 0.95,
        method: str = "pointwise",
        *,
        fpr: Values = None,
        n_resamples: int = DRAWS,
        random_state: Seed = 0,
    ) -> ROCBand:
        """Confidence band of the curve, pointwise or simultaneous.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        method : {"pointwise", "simultaneous"}, default="pointwise"
            Whether the limits hold for each point alone or for the whole curve; see the
            notes of the class.
        fpr : array-like of shape (m,), default=None
            Rates at which to compute the band; None takes 153 rates, dense near 0 and
            1.
        n_resamples : int, default=4000
            Draws of the Bayesian bootstrap.
        random_state : int or Generator, default=0
            Seed of these draws.

        Returns
        -------
        ROCBand

        Raises
        ------
        ValueError
            If an option is invalid.
        """
        level = check_level("confidence_level", confidence_level)
        check_option("method", method, BANDS)
        grid = GRID if fpr is None else np.atleast_1d(check_numbers("fpr", fpr, 0, 1))
        if grid.ndim != 1 or not len(grid):
            raise ValueError(f"fpr must hold at least one number, got {short(fpr)}")
        levels = self._sample.levels
        low, high = drawn_heights(
            levels, self._sample.effect, grid, n_resamples, random_state
        )
        low, high = BANDS[method](low, high, level)
        low = np.where(grid == 1, 1.0, low)  # every curve ends at (1, 1)
        tpr = height(levels.fpr, levels.tpr, grid)
        return ROCBand(grid, tpr, low, high, level, method, pos_label=self.pos_label)


@dataclass(frozen=True, eq=False)
class ThresholdRule:
    """``kind``, its targets, and for ``best`` the weight of the false alarms."""

    kind: str
    targets: np.ndarray
    weight: float = 1.0

    def __str__(self):
        targets = short(self.targets.tolist())
        return f"{self.kind!r}, targets {targets} and weight {self.weight:.4g}"

    @classmethod
    def of(cls, thresholds, y_score, cost, prevalence, **given) -> ThresholdRule:
        """The rule that one of the arguments names; without one, all thresholds."""
        named = {name: value for name, value in given.items() if value is not None}
        if len(named) > 1:
            raise ValueError(
                "operating_points takes only one of threshold, sensitivity, "
                f"specificity and best, got {' and '.join(named)}"
            )
        kind, value = next(iter(named.items()), ("all", thresholds))
        if cost is not None and kind != "best":
            raise ValueError(f"cost must come with best, got {cost!r} without it")
        if kind == "best":
            weight = 1.0
            if cost is not None:  # (1 − π)/(c π): a false alarm's when a miss weighs 1
                cost = check_interval("cost", cost, 0, closed="neither")
                weight = (1 - prevalence) / (cost * prevalence)
            return cls(check_option("best", value, BEST), np.zeros(1), weight)
        rule = () if kind in ("all", "threshold") else (0, 1, "neither")
        targets = np.atleast_1d(check_numbers(kind, value, *rule))
        if targets.ndim != 1:
            raise ValueError(f"{kind} must be one-dimensional, got {short(value)}")
        if kind == "threshold":
            targets = in_precision_of(y_score, targets)
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
        if self.kind in ("all", "threshold"):  # weights do not move these
            # the number of the corner is the number of levels >= t
            at = np.searchsorted(-thresholds, -self.targets, side="right")
            return np.broadcast_to(at, (*fpr.shape[:-1], len(at)))
        if self.kind == "sensitivity":  # the first corner that reaches it
            return _count(tpr, self.targets - _ROUNDING, "left")
        if self.kind == "specificity":  # the last corner that keeps it
            return _count(fpr, 1 - self.targets + _ROUNDING, "right") - 1
        if self.kind == "youden":
            return _first_best(tpr - self.weight * fpr)
        return _first_best(-((1 - tpr) ** 2) - self.weight * fpr**2)


def _first_best(gain):
    """Number of the first corner with the largest gain, shape (..., 1)."""
    largest = gain.max(axis=-1, keepdims=True)
    # corners that differ by rounding are equally good: take the highest score
    near = gain >= largest - _ROUNDING * np.maximum(np.abs(largest), 1)
    return np.argmax(near, axis=-1)[..., None]


def _count(rates, targets, side):
    """Count the corners below each target, shape (..., number of targets).

    With ``side="right"`` those at the target count too.
    """
    flat = rates.reshape(-1, rates.shape[-1])
    rows = [np.searchsorted(row, targets, side=side) for row in flat]
    return np.array(rows).reshape(*rates.shape[:-1], len(targets))
