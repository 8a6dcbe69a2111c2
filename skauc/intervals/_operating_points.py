"""Operating points of a score: rates at a threshold, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._validation import check_interval, check_option
from ..statistics._result import Result
from ..statistics._wald import Interval, interval_tails
from ._empirical_roc import ThresholdRule
from ._operating_intervals import (
    INTERVALS,
    NAMES,
    OperatingComparison,
    compared,
)
from ._sample import Sample


def operating_points(
    y_true,
    y_score,
    *,
    threshold=None,
    sensitivity=None,
    specificity=None,
    best=None,
    prevalence=None,
    cost=None,
    sample_weight=None,
    pos_label=None,
) -> OperatingPoints:
    """Sensitivity, specificity, predictive values and ratios at thresholds of a score.

    Answers: what happens if ``score >= threshold`` is called positive; which threshold
    reaches a wanted sensitivity or specificity, or is best; and how sure is all that?
    A threshold t calls **score >= t** positive. For scores of rows that did not train
    the model, and are independent: of several rows of a patient the intervals would be
    too narrow (the AUC and its partial areas take ``groups``). One sort, then O(1) a
    threshold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class; ±inf are allowed, NaN is not.
    threshold : float or array-like of shape (k,), default=None
        Thresholds to judge.
    sensitivity : float or array-like of shape (k,), default=None
        Targets in (0, 1): the highest scores that reach them become the thresholds.
    specificity : float or array-like of shape (k,), default=None
        Targets in (0, 1): the lowest scores that keep them, inf where none does.
    best : {"youden", "closest"}, default=None
        The score with the largest ``sensitivity + r specificity``, or with the least
        ``(1 − sensitivity)² + r (1 − specificity)²``; the highest of several. r is 1
        without a cost. With none of the four, every distinct score is a threshold.
    prevalence : float in (0, 1), default=None
        Share of positives where the score will be used, for the predictive values,
        the accuracy and the cost; None takes that of the sample.
    cost : float, default=None
        Cost of a missed positive, in false alarms: ``r = (1 − π)/(cost π)`` with the
        prevalence π, as pROC's ``best.weights``.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; intervals need counts of rows.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    OperatingPoints

    Raises
    ------
    ValueError
        If the input breaks a rule, or more than one of the four is given.

    References
    ----------
    Pepe (2003), The Statistical Evaluation of Medical Tests, chapter 2; Perkins &
    Schisterman (2006), https://doi.org/10.1093/aje/kwj063, for the best threshold

    Examples
    --------
    >>> from skauc import operating_points
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8]
    >>> points = operating_points(y, score, threshold=[4, 7])
    >>> points.sensitivity, points.specificity
    (array([1. , 0.5]), array([0.75, 1.  ]))
    >>> operating_points(y, score, best="youden").threshold
    array([4.])
    """
    sample = Sample.from_input(
        y_true, y_score, sample_weight, None, pos_label, keep_order=True
    )
    n_neg, n_pos = sample.sizes
    share = n_pos / (n_neg + n_pos)
    if prevalence is not None:
        share = check_interval("prevalence", prevalence, 0, 1, closed="neither")
    targets = {"threshold": threshold, "sensitivity": sensitivity}
    targets |= {"specificity": specificity, "best": best}
    rule = ThresholdRule.of(cost, share, **targets)
    points = sample.levels
    at = rule.corners(points.thresholds, points.fpr, points.tpr)
    # corner 0 is (0, 0), with the threshold inf and no row above it
    above_neg, above_pos = (
        np.append(0.0, above)[at] for above in (points.above_neg, points.above_pos)
    )
    chosen = np.append(np.inf, points.thresholds)[at]
    return OperatingPoints(
        threshold=rule.targets if rule.kind == "threshold" else chosen,
        true_positives=above_pos,
        false_negatives=points.above_pos[-1] - above_pos,
        false_positives=above_neg,
        true_negatives=points.above_neg[-1] - above_neg,
        prevalence=share,
        prevalence_given=prevalence is not None,
        _rule=rule,
        _sample=sample,
    )


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoints(Result):
    """Effect of thresholds of a score: one value per point in every array.

    Made by :func:`operating_points`.

    Parameters
    ----------
    threshold : ndarray of shape (k,)
        ``score >= threshold`` is called positive.
    true_positives, false_negatives, false_positives, true_negatives : ndarray
        Rows (sums of the weights), of shape (k,).
    prevalence : float
    prevalence_given : bool
        Whether the user gave it, or it is the sample's.
    _rule : ThresholdRule
    _sample : Sample

    Notes
    -----
    Undefined ratios are nan: a predictive value where no row is called so, 0/0. Their
    intervals say that nothing is known.

    The methods of :meth:`interval`. The default is the first that fits of
    ``"optimism_corrected"``, ``"bayesian_bootstrap"``, ``"wilson"``, ``"log"`` and
    ``"order_statistics"``:

    - ``"wilson"``, ``"clopper_pearson"``: sensitivity, specificity; the predictive
      values and the accuracy of the sample. For an accuracy at a given prevalence the
      limits of both rates are joined (Zou & Donner 2008).
    - ``"log"``: the likelihood ratios (Simel et al. 1991) and the odds ratio (Woolf),
      and predictive values at a given prevalence, whose odds are likelihood ratio
      times prior odds (Mercaldo, Lau & Zhou 2007).
    - ``"order_statistics"``: the threshold of a wanted sensitivity or specificity,
      for scores of any distribution.
    - ``"bayesian_bootstrap"``: the specificity at a wanted sensitivity, and the
      sensitivity at a wanted specificity, **with** the uncertainty of the threshold
      (the pointwise band of :meth:`EmpiricalROC.band`); the threshold and both rates
      of a best point, chosen anew in every draw. For best points it knows only
      the observed scores: one that separates the classes does not vary.

    - ``"optimism_corrected"``: both rates of a best point **on new rows**, at the
      threshold that these rows chose (the default there): Wilson's limits around the
      rate less its optimism, the mean of what the rate of a Bayesian bootstrap draw at
      its own best threshold exceeds the rate of the rows at that threshold.

    Whose rate is it? ``sensitivity`` and ``specificity`` are those of these rows. For a
    best point they exceed those of new rows at the same threshold: by .14 in the mean
    for the sensitivity of 10 positives and 200 negatives (normal scores one standard
    deviation apart), .10 for 20 and 40, .06 for 50 and 50. Intervals of 95 % cover the
    sensitivity on new rows in .94 to .98 of such samples with ``"optimism_corrected"``,
    .85 to .95 with ``"wilson"``; ``"bayesian_bootstrap"`` is for the rates at the best
    threshold of all. A wanted rate is met by these rows, not by new ones: a threshold
    for a sensitivity of .9 has .81 on new rows in the mean with 10 positives, and .85
    with 20; :meth:`interval` of the sensitivity covers that (.94 to .95).

    Coverage at 95 % over 20 designs (``benchmarks/coverage/curves.py``): at a known
    threshold .91 at least and .95 or more in the mean, for every value; of the
    specificity at a wanted sensitivity of .9, .94 and .977 by ``"bayesian_bootstrap"``,
    and .15 and .607 by ``"wilson"``, which forgets that the threshold is estimated.

    References
    ----------
    Simel, Samsa & Matchar (1991), https://doi.org/10.1016/0895-4356(91)90128-V;
    Mercaldo, Lau & Zhou (2007), https://doi.org/10.1002/sim.2677; Zou & Donner (2008),
    https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> from skauc import operating_points
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8]
    >>> points = operating_points(y, score, threshold=5)
    >>> low, high = points.interval("sensitivity", 0.95)
    >>> low.round(2), high.round(2)
    (array([0.3]), array([0.95]))
    """

    threshold: np.ndarray
    true_positives: np.ndarray
    false_negatives: np.ndarray
    false_positives: np.ndarray
    true_negatives: np.ndarray
    prevalence: float
    prevalence_given: bool
    _rule: ThresholdRule = field(repr=False)
    _sample: Sample = field(repr=False)

    def __repr__(self):
        if len(self.threshold) != 1:
            return (
                f"OperatingPoints({len(self.threshold)} points, chosen by "
                f"{self.chosen_by!r}, prevalence={self.prevalence:.4g})"
            )
        return (
            f"OperatingPoints(threshold={self.threshold[0]:.4g}, "
            f"sensitivity={self.sensitivity[0]:.4g}, "
            f"specificity={self.specificity[0]:.4g}, chosen by {self.chosen_by!r})"
        )

    def _columns(self):
        return {name: getattr(self, name) for name in NAMES}

    @property
    def chosen_by(self) -> str:
        """Rule of the thresholds: a name of an argument, of a best point, or all."""
        return self._rule.kind

    @property
    def _table(self):
        return (
            self.true_positives,
            self.false_negatives,
            self.false_positives,
            self.true_negatives,
        )

    @property
    def _shares(self):
        """Hits, misses, false alarms, true negatives among all, at the prevalence."""
        n_neg, n_pos = self._sample.sizes
        # tp·π/n₁ = π Se, fp·(1 − π)/n₀ = (1 − π)(1 − Sp), …
        sick, well = self.prevalence / n_pos, (1 - self.prevalence) / n_neg
        tp, fn, fp, tn = self._table
        return tp * sick, fn * sick, fp * well, tn * well

    @property
    def sensitivity(self) -> np.ndarray:
        """Share of the positives that are called positive."""
        return self.true_positives / (self.true_positives + self.false_negatives)

    @property
    def specificity(self) -> np.ndarray:
        """Share of the negatives that are called negative."""
        return self.true_negatives / (self.true_negatives + self.false_positives)

    @property
    def ppv(self) -> np.ndarray:
        """Share of positives among those called positive, at the prevalence."""
        hit, _, alarm, _ = self._shares
        return _ratio(hit, hit + alarm)

    @property
    def npv(self) -> np.ndarray:
        """Share of negatives among those called negative, at the prevalence."""
        _, miss, _, quiet = self._shares
        return _ratio(quiet, quiet + miss)

    @property
    def lr_positive(self) -> np.ndarray:
        """``sensitivity/(1 − specificity)``: effect of a positive call on the odds."""
        return _ratio(self.sensitivity, self.false_positives / self._sample.sizes[0])

    @property
    def lr_negative(self) -> np.ndarray:
        """``(1 − sensitivity)/specificity``: effect of a negative call on the odds."""
        return _ratio(self.false_negatives / self._sample.sizes[1], self.specificity)

    @property
    def accuracy(self) -> np.ndarray:
        """Share of right calls at the prevalence."""
        # π Se + (1 − π) Sp
        hit, _, _, quiet = self._shares
        return hit + quiet

    @property
    def odds_ratio(self) -> np.ndarray:
        """``LR+/LR−``, the diagnostic odds ratio."""
        n_neg, n_pos = self._sample.sizes
        # use rates, because products of four weights may overflow
        alarm, miss = self.false_positives / n_neg, self.false_negatives / n_pos
        return _ratio(self.sensitivity * self.specificity, miss * alarm)

    def interval(
        self,
        name,
        confidence_level=0.95,
        method=None,
        alternative="two-sided",
        **options,
    ) -> Interval:
        """Limits of one of the values, at every point.

        Parameters
        ----------
        name : str
            ``"sensitivity"``, ``"specificity"``, ``"ppv"``, ``"npv"``,
            ``"lr_positive"``, ``"lr_negative"``, ``"accuracy"``, ``"odds_ratio"`` or
            ``"threshold"``.
        confidence_level : float in (0, 1), default=0.95
        method : str, default=None
            See the class; None takes the first that fits.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives lower limits only, ``"less"`` upper ones.
        **options
            ``n_draws`` (4000) and ``random_state`` (0) for ``"bayesian_bootstrap"``
            and ``"optimism_corrected"``.

        Returns
        -------
        Interval
            ``(low, high)``, arrays of shape (k,).

        Raises
        ------
        ValueError
            If an option breaks its rule, the weights are no counts of rows, or the
            thresholds were given and have no interval.
        """
        check_option("name", name, NAMES)
        tails = interval_tails(confidence_level, alternative)
        fitting = [key for key, how in INTERVALS.items() if how.serves(self, name)]
        if not fitting:
            raise ValueError(
                "name must not be 'threshold' where no target and no best point chose "
                f"the thresholds, got thresholds chosen by {self.chosen_by!r}"
            )
        method = fitting[0] if method is None else method
        chosen = INTERVALS[check_option("method", method, fitting)]
        for option in options:
            if option not in chosen.options:
                raise ValueError(f"{option} must not be given for method={method!r}")
        self._sample.check_variance()
        return Interval(*chosen.limits(self, name, *tails, **options))

    def compare(
        self, other, name=None, *, n_draws=None, random_state=0
    ) -> OperatingComparison:
        """Compare a rate with that of another score on the same rows, point by point.

        Answers: at the same specificity, does this score find more? Both scores choose
        their thresholds by the same kind of rule, so that the estimated thresholds are
        part of the error.

        Parameters
        ----------
        other : OperatingPoints
            Points of the same rows in the same order, as many as these.
        name : {"sensitivity", "specificity"}, default=None
            None takes the rate that is not the target: specificity at a wanted
            sensitivity, and else sensitivity.
        n_draws : int, default=None
            Draws of the Bayesian bootstrap; None takes 4000.
        random_state : int or Generator, default=0

        Returns
        -------
        OperatingComparison

        Raises
        ------
        ValueError
            If the points are not of the same rows or not as many.

        Notes
        -----
        The error is the deviation of the difference over paired draws of weights for
        the rows, each of which chooses both thresholds anew: it contains the density
        term of the empirical process without an estimate of a density. The difference
        is taken as normal. Where less than one row of the target's class lies beyond
        the target (a specificity of .99 of 50 negatives) the error is inf and p is 1.
        Costs O(n) a draw: 20 s for 4000 draws of 10⁵ rows.
        """
        return compared(self, other, name, n_draws, random_state)


def _ratio(above, below):
    """``above/below``, inf for x/0 and nan for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(above, below)
