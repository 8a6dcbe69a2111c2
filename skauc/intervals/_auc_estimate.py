"""Intervals for one AUC: ``auc_estimate`` and its result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..statistics._checks import check_option, refuse_ignored
from ..statistics._levels import balanced_variance, hanley_mcneil_variance
from ..statistics._result import WholeAUC
from ..statistics._row_blocks import RowBlocks
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import Interval, interval_tails
from ._limits import EstimateWithLimits, continuous, score_limits, wald_limits
from ._partial_auc import PartialAUC, Region
from ._sample import Sample, sample_of


def _newcombe(sample):
    return lambda auc: balanced_variance(auc, *sample.effective)


def score_variance(sample):
    """The larger of Newcombe's variance and DeLong's, ``V̂ A(1 − A)/{Â(1 − Â)}``."""
    newcombe, largest, scale = _newcombe(sample), sample.auc * (1 - sample.auc), 0.0
    # a class of one row has no estimated variance
    if sample.smaller >= 2 and largest > 0:
        scale = sample.delong_variance / largest
    return lambda a: np.maximum(newcombe(a), a * (1 - a) * scale)


# Variances V(A) by sample. Intervals of the score methods hold all A with
# |Â − A| ≤ z √V(A), those of the others have limits on a scale, by V(Â) (sections 3 and
# 2 of :mod:`skauc.intervals`)
_SCORE = "score", "hanley_mcneil_score"
_VARIANCES = {
    "score": lambda s: continuous(s.auc, score_variance(s), *s.effective),
    "hanley_mcneil_score": _newcombe,
    "delong": lambda sample: lambda auc: sample.delong_variance,
    "hanley_mcneil": lambda s: lambda auc: hanley_mcneil_variance(auc, *s.effective),
}


def auc_estimate(
    y_true: ArrayLike | RowBlocks,
    y_score: Values = None,
    *,
    sample_weight: Values = None,
    groups: Values = None,
    pos_label: object = None,
) -> AUCEstimate:
    """Empirical AUC of a score, with standard errors and confidence intervals.

    Answers: how well does this score separate the classes, and how precisely is that
    known? The AUC is computed from ranks. The rows must not have trained the model; for
    training rows use :func:`skauc.auc_posterior`. An AUC below ½ stays below ½: the
    direction is never flipped. Costs one sort, O(n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,), or RowBlocks
        Labels of two classes; a Dask array or series if the scores are a Dask
        collection. A :class:`RowBlocks` of tuples ``(y_score, y_true)`` or
        ``(y_score, y_true, sample_weight)`` replaces y_true, y_score and sample_weight.
    y_score : array-like of shape (n,), default=None
        Scores, larger for the positive class; ±inf are allowed, NaN is not. Scores that
        differ only by rounding are ties. Integers of 64 bits are ranked exactly. None
        only if y_true is a RowBlocks, which holds them.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights. The AUC depends only on the **ratios** of the weights.
        Intervals and standard errors take them for **counts** of rows (whole numbers; 2
        means that the row occurs twice); for others see
        :class:`skauc.SampleWeightWarning`. With ``groups`` any weights are right,
        because only their ratios matter.
    groups : array-like of shape (n,), default=None
        Cluster of each row, for example the patient to whom several lesions belong: the
        clusters must be independent, the rows within a cluster need not be. Intervals
        then count as many rows as are independent, or are Obuchowski's [2]_
        (``method="delong"``). Dask collections and blocks do not support groups.
    pos_label : label, default=None
        The positive class; None takes the last sorted label, as ``classes_[1]`` of
        every classifier of scikit-learn. Ordered categories are sorted, too.

    Returns
    -------
    AUCEstimate
        ``auc``, ``standard_error()``, ``confidence_interval(0.95)``,
        ``partial_auc(fpr=(0, 0.1))`` and ``plot()``.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, y_true does not have two classes, or the
        weights of a class add up to 0 or are not finite. For collections and blocks the
        error names the chunk.

    See Also
    --------
    auc_posterior : The AUC of a model from the rows that trained it.
    compare_auc : Two or more scores of the same patients, or one score with a constant.
    operating_points : Sensitivity and specificity at a threshold.
    one_vs_rest_auc : More than two classes.

    Notes
    -----
    ``A = Σ_pos Σ_neg ψ(s_i − s_j)/(n₀ n₁)``, where ψ is 1, ½ and 0 for a positive, zero
    and negative difference [1]_. For sampling weights of independent rows pass
    ``groups=np.arange(n)``: the clustered variance is then the linearised variance of
    survey statistics.

    Collections and blocks are read once. Their labels, weights and scores are gathered
    in memory, 8 bytes per number, so the answer equals that of the concatenated rows.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595
    .. [2] Obuchowski (1997), "Nonparametric analysis of clustered ROC curve data",
       https://doi.org/10.2307/2533958

    Examples
    --------
    >>> from skauc import auc_estimate
    >>> estimate = auc_estimate([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    >>> estimate.auc
    0.875
    >>> low, high = estimate.confidence_interval(0.95)
    >>> round(low, 2), round(high, 2)
    (0.45, 0.98)
    """
    given = y_true, y_score, sample_weight, groups, pos_label
    return AUCEstimate._of(sample_of(*given))


@dataclass(frozen=True, eq=False, repr=False)
class AUCEstimate(WholeAUC, EstimateWithLimits):
    """An empirical AUC with its standard errors and confidence intervals.

    Made by :func:`skauc.auc_estimate`.

    Attributes
    ----------
    auc : float
        Share of the pairs (positive, negative) that are ranked correctly; a tie counts
        ½.
    n_neg, n_pos : float
        Rows of each class (sum of the weights; relative weights are first raised to
        their effective number of rows, see :class:`skauc.SampleWeightWarning`).
    _sample : Sample
        The scores of both classes.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.auc_estimate : Makes it, from labels and scores.
    skauc.results.PartialAUC : Area under a part of the curve, made by ``partial_auc``.
    skauc.results.AUCPosterior : The AUC of a model from its training rows.

    Notes
    -----
    ``standard_error`` and ``confidence_interval`` offer these methods:

    - ``"score"`` (default): all A with ``|Â − A| ≤ z √V(A)``, where V is the larger of
      Newcombe's variance [3]_ (see the next method) and DeLong's variance scaled to
      ``A(1 − A)``. Newcombe's variance protects small samples, whose own variance is
      unreliable; DeLong's protects against scores that violate Newcombe's model. A
      perfect ranking counts as half a pair less.
    - ``"hanley_mcneil_score"``: the same with Hanley–McNeil's variance [2]_, in which
      ``(n₀ + n₁)/2`` replaces both class sizes (Newcombe's method 5). It needs only the
      AUC and the sizes.
    - ``"delong"``: variances of the placements [1]_. With ``transform="none"`` the
      limits, clipped to [0, 1], are those of pROC. With ``groups`` placements are added
      up within a group [4]_.
    - ``"hanley_mcneil"``: the variance of exponential scores, evaluated at Â.

    With ``groups`` the sizes n₀ and n₁ of Newcombe's and Hanley–McNeil's variances are
    divided by the design effect, the variance of the AUC over groups divided by that
    over independent rows. In simulations of 12 and 40 groups of 6 rows or 2 to 20 rows
    the default covers .92 to .98, ``"delong"`` .86 to .96
    (``benchmarks/README.md``). Where few of 12 to 40 groups hold most rows of a class
    (geometric, lognormal and halving sizes) the default covers .93 to .97.

    An estimated variance of 0 (AUC 0 or 1, or all scores equal) is no evidence of
    precision. The limits are then Clopper–Pearson's for ``A · min(n₀, n₁)`` successes
    in ``min(n₀, n₁)`` trials.

    Coverage of the default method at 95 %: the mean and the minimum over the true AUCs
    .5, .7, .9, .97 and .99, with 4000 data sets each
    (``benchmarks/coverage/intervals.py``). The columns are the class sizes n₀ + n₁:

    ================  =========  =========  =========  =========  =========  =========
    scores            5 + 5      10 + 10    20 + 20    50 + 50    200 + 20   500 + 5
    ================  =========  =========  =========  =========  =========  =========
    binormal          .961 .930  .966 .958  .967 .952  .968 .951  .971 .957  .972 .962
    unequal variance  .956 .930  .960 .948  .962 .950  .962 .951  .951 .924  .941 .900
    exponential       .956 .928  .960 .944  .964 .958  .959 .951  .950 .934  .956 .946
    Cauchy            .946 .873  .947 .898  .966 .956  .946 .911  .960 .942  .965 .929
    five values       .967 .955  .962 .944  .964 .954  .969 .957  .973 .957  .975 .959
    ================  =========  =========  =========  =========  =========  =========

    The minimal coverage and the mean width over the same 150 settings are .873 and .285
    (``"score"``), .816 and .268 (``"hanley_mcneil_score"``), .825 and .365
    (``"hanley_mcneil"``), .412 and .297 (``"delong"``, logit), .354 and .283
    (``"delong"``, none).

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595
    .. [2] Hanley & McNeil (1982), "The meaning and use of the area under a receiver
       operating characteristic (ROC) curve",
       https://doi.org/10.1148/radiology.143.1.7063747
    .. [3] Newcombe (2006), "Confidence intervals for an effect size measure based on
       the Mann–Whitney statistic. Part 2", https://doi.org/10.1002/sim.2324
    .. [4] Obuchowski (1997), "Nonparametric analysis of clustered ROC curve data",
       https://doi.org/10.2307/2533958

    Examples
    --------
    >>> from skauc import auc_estimate
    >>> estimate = auc_estimate([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    >>> round(estimate.standard_error("delong"), 3)
    0.157
    """

    auc: float
    n_neg: float
    n_pos: float
    _sample: Sample = field(repr=False)

    @classmethod
    def _of(cls, sample):
        return cls(sample.auc, *sample.sizes, sample, pos_label=sample.pos_label)

    method = "score"
    _in_head = "n_neg", "n_pos"

    def partial_auc(
        self, *, fpr: Values = None, tpr: Values = None, standardize: bool = False
    ) -> PartialAUC:
        """Area under a part of the ROC curve, with its standard error and interval.

        Answers: how good is the score where it will be used, for example at a low false
        positive rate or at a high sensitivity?

        Parameters
        ----------
        fpr : (float, float), default=None
            Range ``0 <= a < b <= 1`` of the false positive rate: ``∫ TPR dFPR``.
        tpr : (float, float), default=None
            Range of the true positive rate, in place of ``fpr``: ``∫ (1 − FPR) dTPR``.
        standardize : bool, default=False
            McClish's rescaling to ½ for chance and 1 for a perfect curve.

        Returns
        -------
        PartialAUC

        Raises
        ------
        ValueError
            If not exactly one range is given, or its limits are not
            ``0 <= a < b <= 1``.
        """
        return PartialAUC._of(self._sample, Region.of(fpr, tpr), standardize)

    def _score_variance(self, auc):
        """Variance of the estimate if the true AUC is ``auc``."""
        return _VARIANCES[self.method](self._sample)(auc)

    def standard_error(self, method: str | None = None) -> float:
        """Standard error of the AUC; it can be 0, for example if the AUC is 0 or 1.

        Parameters
        ----------
        method : str, default=None
            See the class; None takes ``"score"``.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            As :meth:`confidence_interval`.
        """
        variance = _VARIANCES[self._checked(method)](self._sample)
        return float(np.sqrt(variance(self.auc)))

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        *,
        method: str | None = None,
        transform: str | None = None,
        alternative: str = "two-sided",
    ) -> Interval:
        """Confidence limits for the AUC, inside [0, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        method : str, default=None
            See the class; None takes ``"score"``.
        transform : {"none", "logit"}, default=None
            Scale on which the limits are ``A ± z SE``. None takes logit, which had the
            best coverage. It must be None for methods that do not use such limits
            (``"score"`` and ``"hanley_mcneil_score"``).
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives ``(low, 1)``, ``"less"`` gives ``(0, high)``.

        Returns
        -------
        Interval
            ``(low, high)``.

        Raises
        ------
        ValueError
            If an option is invalid or would have no effect, or if a class is too small
            for the method.
        """
        tails = interval_tails(confidence_level, alternative)
        method, sample = self._checked(method), self._sample
        if transform is not None:
            check_option("transform", transform, ("none", "logit"))
        if method in _SCORE:
            where = "for a method with limits of its own, such as 'score'"
            refuse_ignored(where, transform=(transform, None))
            limits = score_limits(sample.auc, _VARIANCES[method](sample), *tails)
        else:
            known = sample.auc, self.standard_error(method), sample.smaller
            limits = wald_limits(*known, *tails, transform or "logit")
        return Interval(*map(float, limits))

    def _checked(self, method):
        method = self.method if method is None else method
        check_option("method", method, _VARIANCES)
        self._sample.warn_unless_counts()
        return method
