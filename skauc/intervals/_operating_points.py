"""Operating points of a score: rates at a threshold, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..statistics._checks import check_interval, check_option, refuse_ignored
from ..statistics._result import Estimates, LabelledResult
from ..statistics._types import ArrayLike, Seed, Values
from ..statistics._wald import Interval, interval_tails
from ._empirical_roc import BEST, ThresholdRule
from ._operating_intervals import (
    CROSSED,
    METHODS,
    NAMES,
    OperatingComparison,
    at_prevalence,
    compared,
    expected_counts,
    methods_of,
    value_of,
)
from ._resampling import DRAWS
from ._sample import Sample, sample_of

_COUNTS = "true_positives", "false_negatives", "false_positives", "true_negatives"


def operating_points(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: Values = None,
    sensitivity: Values = None,
    specificity: Values = None,
    best: str | None = None,
    prevalence: float | None = None,
    cost: float | None = None,
    at: str = "chosen",
    sample_weight: Values = None,
    groups: Values = None,
    pos_label: object = None,
) -> OperatingPoints:
    """Sensitivity, specificity, predictive values and ratios at thresholds of a score.

    Answers: how good are the decisions of the rule **score >= threshold** [1]_, which
    threshold reaches a wanted sensitivity or specificity, and which threshold is best?
    Every value has intervals. The rows must not have trained the model. Costs one sort,
    then O(1) per threshold, or O(n) for its intervals with groups. Intervals that draw
    weights cost O(n) per draw: those of a best point take 10 s for 200 000 rows and
    4000 draws.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class; ±inf are allowed, NaN is not.
    threshold : float or array-like of shape (k,), default=None
        Thresholds to evaluate. If the scores have the dtype float16 or float32, they
        are rounded to it, as NumPy compares them: a score of .7 reaches .7.
    sensitivity : float or array-like of shape (k,), default=None
        Targets in (0, 1). The threshold is the highest score that reaches the target.
    specificity : float or array-like of shape (k,), default=None
        Targets in (0, 1). The threshold is the lowest score that reaches the target, or
        inf if no score does.
    best : {"youden", "closest"}, default=None
        The threshold is the score with the largest ``sensitivity + r specificity``
        (``"youden"``) or the smallest ``(1 − sensitivity)² + r (1 − specificity)²``
        (``"closest"``); of equally good scores the highest [2]_; inf if it is best to
        call no row positive. Without a cost r is 1.
        If none of threshold, sensitivity, specificity and best is given, every distinct
        score is a threshold.
    prevalence : float in (0, 1), default=None
        Share of positives in the population where the score will be used. It enters the
        predictive values, the accuracy and the cost; None takes the share in the
        sample.
    cost : float, default=None
        Cost of a missed positive relative to a false positive: ``r = (1 − π)/(cost π)``
        with the prevalence π, as in pROC's ``best.weights``.
    at : {"chosen", "population"}, default="chosen"
        The question that all intervals answer if these rows choose the threshold.
        ``"chosen"``: which values will new rows have at *this* threshold? Ask it if you
        will use the threshold. ``"population"``: which values has the score at the
        threshold with the wanted rate in the population? Ask it to describe the score,
        for example by its specificity at a sensitivity of .9; not with ``best``. For
        given thresholds both questions are the same.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights; intervals take them for counts of rows, see
        :class:`skauc.SampleWeightWarning`.
    groups : array-like of shape (n,), default=None
        Group of each row, such as a patient, if rows of one group depend on each other;
        groups must be independent. All intervals are wider by the design effect.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    OperatingPoints
        Arrays ``threshold``, ``sensitivity``, ``specificity``, ``ppv``, ``npv``, …;
        ``confidence_interval(0.95, name=…)`` gives the limits of one of them.

    Raises
    ------
    ValueError
        If the input is invalid, or more than one of threshold, sensitivity, specificity
        and best is given.

    See Also
    --------
    empirical_roc : The whole curve, with a band.
    skauc.results.OperatingPoints.compare :
        Two scores at the same specificity or sensitivity.
    auc_estimate : The quality over all thresholds.
    DecisionCurveDisplay : Net benefit of decisions by probabilities.

    References
    ----------
    .. [1] Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification
       and Prediction*, chapter 2, https://doi.org/10.1093/oso/9780198509844.001.0001
    .. [2] Perkins & Schisterman (2006), "The inconsistency of 'optimal' cutpoints
       obtained using two criteria based on the receiver operating characteristic
       curve", https://doi.org/10.1093/aje/kwj063

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
    sample = sample_of(y_true, y_score, sample_weight, groups, pos_label)
    points, share = sample.levels, sample.share_pos
    check_option("at", at, ("chosen", "population"))
    if at == "population" and best is not None:
        raise ValueError(
            "at must be 'chosen' with best: no interval is known that holds the best "
            f"point of a population as often as it states, got {at!r}"
        )
    if prevalence is not None:
        share = check_interval("prevalence", prevalence, 0, 1, closed="neither")
    rule = ThresholdRule.of(
        points.thresholds, y_score, cost, share, threshold=threshold,
        sensitivity=sensitivity, specificity=specificity, best=best,
    )  # fmt: skip
    corners = rule.corners(points.thresholds, points.fpr, points.tpr)
    if points.thresholds[0] == np.inf:  # no threshold lies above a score of inf
        corners = np.maximum(corners, 1)
    # corner 0 is (0, 0), with the threshold inf and no row above it
    above_neg, above_pos = (
        np.append(0.0, above)[corners] for above in (points.above_neg, points.above_pos)
    )
    chosen = np.append(np.inf, points.thresholds)[corners]
    return OperatingPoints(
        threshold=rule.targets if rule.kind == "threshold" else chosen,
        true_positives=above_pos,
        false_negatives=points.above_pos[-1] - above_pos,
        false_positives=above_neg,
        true_negatives=points.above_neg[-1] - above_neg,
        prevalence=share,
        at=at,
        _prevalence_given=prevalence is not None,
        _rule=rule,
        _sample=sample,
        pos_label=sample.pos_label,
    )


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoints(Estimates, LabelledResult):
    """Quality of the decisions at thresholds of a score; arrays have a value per point.

    Made by :func:`skauc.operating_points`.

    Attributes
    ----------
    threshold : ndarray of shape (k,)
        ``score >= threshold`` is called positive.
    true_positives, false_negatives, false_positives, true_negatives : ndarray
        Rows (sums of the weights), of shape (k,).
    prevalence : float
        Share of positives to which predictive values, accuracy and cost refer.
    at : {"chosen", "population"}
        The question that the intervals answer, see :func:`skauc.operating_points`.
    _prevalence_given : bool
        True if the user gave the prevalence, False if it is that of the sample.
    _rule : ThresholdRule
    _sample : Sample
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.operating_points : Makes it, from labels and scores.
    skauc.results.OperatingComparison : What ``compare`` returns.
    skauc.results.ROCBand : Limits for the whole curve.

    Notes
    -----
    An undefined ratio 0/0 is nan, for example the positive predictive value if no row
    is called positive. Its interval is the whole range of the value.

    **Groups.** Counts are divided by the design effect, the variance of the value over
    groups of rows divided by that over independent rows [3]_; draws by that of the AUC.
    In simulations of 12 and 40 groups of 6 rows, with labels of groups or of rows and
    effects of groups of 0 to 1, 95 % intervals cover .94 to .97 on average, and .87 to
    1 in single designs; where few of 12 to 40 groups hold most rows, .88 to .96.

    **One question.** All intervals of a result answer the same question, which ``at``
    names and every table states.

    ``at="chosen"`` (default): which values will new rows have at the threshold that
    these rows chose? A threshold for a wanted sensitivity depends on the positives
    only, and the rates of new rows vary as at a known threshold. At a best point the
    rates of these rows exceed those of new rows. For normal scores one standard
    deviation apart the mean excess of the sensitivity is .14 with 10 positives and 200
    negatives, .10 with 20 and 40, and .06 with 50 and 50. The limits of a best point
    are therefore limits around the rates minus their optimism. The optimism is a mean
    over Bayesian bootstrap draws: the rate of the draw at its own best threshold minus
    the rate of the rows at that threshold. Only these rows reach a wanted rate exactly:
    a threshold for a sensitivity of .9 has a mean sensitivity of .81 on new rows with
    10 positives, and .85 with 20.

    - ``"wilson"`` (default), ``"clopper_pearson"``: for sensitivity and specificity,
      and for the predictive values, the accuracy and F1 at the prevalence of the
      sample. For the likelihood ratios, Youden's J and all values at a given prevalence
      the limits of both rates are combined [2]_ (method of variance estimates
      recovery, for ratios [1]_): a sensitivity of 1 in few rows is not taken for known.
      The odds of predictive values at a given prevalence are the likelihood ratios
      times the prior odds.

    ``at="population"``: which values has the score at the threshold with the wanted
    rate in the population? That threshold is not known, so that intervals are wider.
    Both limits of the wanted rate itself are its target. A best point has no such
    interval: resamples choose it too irregularly (their 95 % limits cover the
    population's in .42 to .95).

    - ``"order_statistics"``: for the threshold. It holds for scores of any
      distribution.
    - ``"bayesian_bootstrap"``: for all other values. At a wanted sensitivity the draws
      are those of the pointwise band (:meth:`EmpiricalROC.band`), and every value
      follows from the specificity of a draw. A prevalence that was not given is drawn,
      too.

    In simulations of 40 to 400 rows, with given and with drawn class sizes, 95 %
    intervals of every value cover .94 to .97 on average with ``at="chosen"`` and .95 to
    .98 with ``at="population"`` (``benchmarks/coverage/curves.py``).

    References
    ----------
    .. [1] Donner & Zou (2012), "Closed-form confidence intervals for functions of the
       normal mean and standard deviation", https://doi.org/10.1177/0962280210383082
    .. [2] Zou & Donner (2008), "Construction of confidence limits about effect
       measures: a general approach", https://doi.org/10.1002/sim.3095
    .. [3] Korn & Graubard (1998), "Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data", Survey
       Methodology 24, 193–201,
       https://www150.statcan.gc.ca/n1/en/catalogue/12-001-X19980024356

    Examples
    --------
    >>> from skauc import operating_points
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8]
    >>> points = operating_points(y, score, threshold=5)
    >>> low, high = points.confidence_interval(0.95, name="sensitivity")
    >>> low.round(2), high.round(2)
    (array([0.3]), array([0.95]))
    """

    threshold: np.ndarray
    true_positives: np.ndarray
    false_negatives: np.ndarray
    false_positives: np.ndarray
    true_negatives: np.ndarray
    prevalence: float
    at: str
    _prevalence_given: bool
    _rule: ThresholdRule = field(repr=False)
    _sample: Sample = field(repr=False)

    def _head(self):
        names = NAMES[:3] if len(self.threshold) == 1 else ()
        head = {name: getattr(self, name)[0] for name in names}
        if not names:
            head = {"points": len(self.threshold), "prevalence": self.prevalence}
        return head | {"chosen_by": repr(self.chosen_by), "at": repr(self.at)}

    def _columns(self):  # without limits: to draw them takes seconds
        values = {name: getattr(self, name) for name in NAMES}
        return values | {"at": [self.at] * len(self.threshold)}

    def _estimates(self, confidence_level):
        tails, k = interval_tails(confidence_level), len(self.threshold)
        names = [name for name in NAMES if methods_of(self, name)]
        wanted = self.chosen_by if self.at == "population" else None
        drawn = {"n_resamples": DRAWS, "random_state": 0}
        limits = [self._limits(name, None, tails, drawn) for name in names]
        rows = {
            "threshold": [self.threshold] * len(names),
            "estimate": [
                self._rule.targets if name == wanted else getattr(self, name)
                for name in names
            ],
            "low": [low for low, _ in limits],
            "high": [high for _, high in limits],
        }
        # one point after the other
        flat = {k: np.transpose(v).ravel().tolist() for k, v in rows.items()}
        return {"": names * k, **flat, "at": [self.at] * len(names) * k}

    def _limits(self, name, method, tails, drawn):
        """Limits by a method, None for the first that is valid; draws if it draws."""
        fitting = methods_of(self, name)
        if not fitting:
            raise ValueError(
                "name must not be 'threshold' unless a wanted rate chose the "
                "thresholds and at='population': a threshold that is used is known, "
                f"got thresholds chosen by {self.chosen_by!r} and at={self.at!r}"
            )
        method = fitting[0] if method is None else method
        limits = METHODS[check_option("method", method, fitting)]
        if method == "bayesian_bootstrap" or self.chosen_by in BEST:
            return limits(self, name, *tails, **drawn)
        given = zip(drawn.items(), (DRAWS, 0), strict=True)
        refuse_ignored(f"for method={method!r}", **{k: (v, d) for (k, v), d in given})
        return limits(self, name, *tails)

    @cached_property
    def _expected(self):
        """Counts to expect of new rows by the default draws, made once."""
        return expected_counts(self, n_resamples=DRAWS, random_state=0)

    @property
    def chosen_by(self) -> str:
        """Rule that chose the thresholds, such as ``"sensitivity"`` or ``"youden"``."""
        return self._rule.kind

    @property
    def _table(self):
        return tuple(getattr(self, name) for name in _COUNTS)

    def _value(self, name):
        """A value of these rows at the prevalence."""
        return value_of(name, at_prevalence(self._table, self.prevalence))

    @property
    def sensitivity(self) -> np.ndarray:
        """Share of the positives that are called positive."""
        return self._value("sensitivity")

    @property
    def specificity(self) -> np.ndarray:
        """Share of the negatives that are called negative."""
        return self._value("specificity")

    @property
    def ppv(self) -> np.ndarray:
        """Positive predictive value: share of positives among rows called positive."""
        return self._value("ppv")

    @property
    def npv(self) -> np.ndarray:
        """Negative predictive value: share of negatives among rows called negative."""
        return self._value("npv")

    @property
    def lr_positive(self) -> np.ndarray:
        """``sensitivity/(1 − specificity)``: effect of a positive call on the odds."""
        return self._value("lr_positive")

    @property
    def lr_negative(self) -> np.ndarray:
        """``(1 − sensitivity)/specificity``: effect of a negative call on the odds."""
        return self._value("lr_negative")

    @property
    def accuracy(self) -> np.ndarray:
        """Share of correct calls, at the prevalence."""
        return self._value("accuracy")

    @property
    def f1(self) -> np.ndarray:
        """Harmonic mean of sensitivity and positive predictive value."""
        return self._value("f1")

    @property
    def youden_j(self) -> np.ndarray:
        """Youden's J, ``sensitivity + specificity − 1``: the distance KS where best."""
        return self._value("youden_j")

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        *,
        name: str | None = None,
        method: str | None = None,
        alternative: str = "two-sided",
        n_resamples: int = DRAWS,
        random_state: Seed = 0,
    ) -> Interval:
        """Confidence limits for one of the values, at every point.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        name : str, default=None
            ``"sensitivity"``, ``"specificity"``, ``"ppv"``, ``"npv"``,
            ``"lr_positive"``, ``"lr_negative"``, ``"accuracy"``, ``"f1"``,
            ``"youden_j"`` or ``"threshold"``; None takes the specificity if a
            sensitivity was wanted, and the sensitivity otherwise.
        method : str, default=None
            See the notes of the class; None takes the first method that applies.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives lower limits only, ``"less"`` upper ones.
        n_resamples : int, default=4000
            Draws of ``"bayesian_bootstrap"``, and of the optimism of a best point.
        random_state : int or Generator, default=0
            Seed of these draws. Neither may be given where nothing is drawn.

        Returns
        -------
        Interval
            ``(low, high)``, arrays of shape (k,).

        Raises
        ------
        ValueError
            If an option is invalid, or an interval is requested for thresholds that
            were given.
        """
        if name is None:
            name = CROSSED.get(self.chosen_by, "sensitivity")
        check_option("name", name, NAMES)
        tails = interval_tails(confidence_level, alternative)
        drawn = {"n_resamples": n_resamples, "random_state": random_state}
        return Interval(*self._limits(name, method, tails, drawn))

    def compare(
        self,
        other: OperatingPoints,
        *,
        name: str | None = None,
        n_resamples: int = DRAWS,
        random_state: Seed = 0,
    ) -> OperatingComparison:
        """Compare a rate with that of another score of the same rows, at each point.

        Answers: does this score have a higher sensitivity than the other one at the
        same specificity? Both scores must choose their thresholds by the same rule (for
        example the same sensitivities); given thresholds may differ. The standard error
        includes the uncertainty of both thresholds.

        Parameters
        ----------
        other : OperatingPoints
            Points of another score of the same rows in the same order, with the same
            number of points.
        name : {"sensitivity", "specificity"}, default=None
            None takes the specificity if a sensitivity was wanted, and the sensitivity
            otherwise.
        n_resamples : int, default=4000
            Draws of the Bayesian bootstrap.
        random_state : int or Generator, default=0
            Seed of these draws.

        Returns
        -------
        OperatingComparison

        Raises
        ------
        ValueError
            If the rows, their order, the kind of rule, its targets or the number of
            points differ.

        Notes
        -----
        The standard error is the standard deviation of the difference over draws of
        weights for the rows (Bayesian bootstrap). Each draw chooses both thresholds
        anew, which accounts for the density term of the empirical process without
        estimating a density. The difference is assumed to be normal. If less than one
        row of the target's class lies beyond the target (for example a specificity of
        .99 with 50 negatives), the standard error is inf and p is 1. Costs O(n) per
        draw: 20 s for 4000 draws of 10⁵ rows.
        """
        return compared(self, other, name, n_resamples, random_state)
