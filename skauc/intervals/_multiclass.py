"""Averages of AUCs over pairs of classes, over classes, or over folds.

In an average of AUCs a row enters several terms. The variance is the sum of squares of
the *influences* of the rows, where the influence of a row is summed over all terms.
Influences come from placements, so that ties count ½.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from .._validation import check_groups, check_labels, counted_rows, distinct_labels
from ..statistics._checks import check_numbers, short
from ..statistics._result import MOMENTS, Estimates, WholeAUC
from ..statistics._row_blocks import refuse_collection
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import Interval, interval_tails
from ._auc_estimate import AUCEstimate
from ._limits import EstimateWithLimits, wald_limits
from ._sample import Sample


@dataclass(frozen=True, eq=False, repr=False)
class AveragedAUC(WholeAUC, EstimateWithLimits):
    """An average of several AUCs, with its standard error and confidence interval.

    Made by :func:`skauc.hand_till_auc` and :func:`skauc.cross_val_auc`.

    Attributes
    ----------
    auc : float
        The average.
    standard_error : float
        Computed from the joint influence of each row on all the averaged AUCs.
    parts : ndarray
        The averaged AUCs: shape (n_folds,), or (K, K) where ``parts[i, j]`` is the AUC
        of column i for class i against class j (NaN on the diagonal).
    n_smallest : int
        Rows of the smallest class.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.hand_till_auc : Makes it, as the mean over pairs of classes.
    skauc.cross_val_auc : Makes it, as the mean over folds.
    skauc.results.OneVsRestAUC.average : Makes it, as the mean over classes.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import AveragedAUC
    >>> result = AveragedAUC(0.9, 0.03, np.array([0.88, 0.92]), n_smallest=40)
    >>> low, high = result.confidence_interval(0.95)
    >>> round(low, 3), round(high, 3)
    (0.824, 0.945)
    """

    auc: float
    standard_error: float
    parts: np.ndarray
    n_smallest: int

    method = "influence"

    def confidence_interval(
        self, confidence_level: float = 0.95, *, alternative: str = "two-sided"
    ) -> Interval:
        """Confidence limits for the average, ``A ± z SE`` on the logit scale.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives ``(low, 1)``.

        Returns
        -------
        Interval
            ``(low, high)``; for averages 0 and 1 Clopper–Pearson limits with the size
            of the smallest class.

        Raises
        ------
        ValueError
            If an option is invalid.
        """
        tails = interval_tails(confidence_level, alternative)
        moments = self.auc, self.standard_error, self.n_smallest
        limits = wald_limits(*moments, *tails, "logit")
        return Interval(*map(float, limits))


def hand_till_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: Values = None,
    sample_weight: Values = None,
    groups: Values = None,
) -> AveragedAUC:
    """Multiclass AUC of Hand and Till, with a confidence interval.

    Answers: how well do the scores of K classes separate two classes, on average over
    all pairs of classes? The value equals that of
    ``roc_auc_score(multi_class="ovo", average="macro")``, but the scores need not be
    probabilities. Costs O(K² n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of K ≥ 2 classes.
    y_score : array-like of shape (n, K)
        Column i is larger for class i; ±inf are allowed, NaN is not. The columns of a
        frame are found by the names of the classes.
    labels : array-like of shape (K,), default=None
        Class of each column; None takes the sorted labels of y_true.
    sample_weight, groups : array-like of shape (n,), default=None
        As for :func:`auc_estimate`.

    Returns
    -------
    AveragedAUC
        ``auc``, ``standard_error``, ``confidence_interval(0.95)``, and ``parts``, the
        matrix of the averaged AUCs.

    Raises
    ------
    ValueError
        If shapes or labels disagree, a score is NaN or a class has fewer than 2 rows.

    See Also
    --------
    one_vs_rest_auc : Each class against all others, with an interval for each.
    auc_posterior : The same average from the rows that trained a model.
    auc_estimate : Two classes.

    Notes
    -----
    ``M = Σ_{i≠j} A(i|j)/(K(K − 1))`` where A(i|j) is the AUC of column i for class i
    against class j [1]_. A row r of class c contributes ``u_r``, the sum of its
    placements in the 2(K − 1) terms that it enters, and ``Var M ≈ Σ_c var(u)/n_c``; the
    rows of a group add up first. For K = 2 and two columns that rank the rows equally
    this is DeLong's variance [2]_.

    References
    ----------
    .. [1] Hand & Till (2001), "A simple generalisation of the area under the ROC curve
       for multiple class classification problems",
       https://doi.org/10.1023/A:1010920819831
    .. [2] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import hand_till_auc
    >>> X, y = load_iris(return_X_y=True)
    >>> hand_till_auc(y, -abs(X[:, [2]] - [1.5, 4.3, 5.6]))
    AveragedAUC(auc=0.9809, interval95=(0.9664, 0.9892))
    """
    checked = check_class_scores(y_true, y_score, labels, sample_weight, groups)
    y, score, classes, weight, cluster = checked
    K = len(classes)
    parts, terms = np.full((K, K), np.nan), []
    for i, j in permutations(range(K), 2):
        # A(i|j): scores of column i, class i is positive, class j negative
        rows = np.flatnonzero((y == classes[i]) | (y == classes[j]))
        beside = (v if v is None else v[rows] for v in (weight, cluster))
        [sample] = Sample.split([score[rows, i]], y[rows] == classes[i], *beside)
        parts[i, j] = sample.auc
        terms.append((sample, rows))
    # M = Σ_{i≠j} A(i|j)/(K(K − 1))
    return _averaged(parts, terms, cluster)


def _averaged(parts, terms, cluster) -> AveragedAUC:
    """Mean of AUCs; ``terms`` are the samples with the numbers of their rows."""
    influence: np.ndarray = np.zeros(1 + max(rows.max() for _, rows in terms))
    for sample, rows in terms:
        influence[rows] += sample.influences() / len(terms)
    if cluster is not None:  # which may hold rows of several classes
        influence = np.bincount(cluster, influence)
    error = float(np.sqrt(influence @ influence))  # Var Ā = Σ influence²
    weakest = min((sample for sample, _ in terms), key=lambda each: each.smaller)
    weakest.warn_of_few()
    return AveragedAUC(float(np.nanmean(parts)), error, parts, int(weakest.smaller))


def check_class_scores(y_true, y_score, labels, sample_weight=None, groups=None):
    """Labels of K classes, a column of scores for each, the classes, and weights."""
    given = y_true, sample_weight, y_score, groups
    y_true, weight, y_score, groups = counted_rows(*given)
    y = check_labels(y_true)
    name, given = ("y_true", y) if labels is None else ("labels", labels)
    classes = check_labels(given, name=name)
    names = distinct_labels(classes, name=name)
    classes = names if labels is None else classes
    K = len(classes)
    if K < 2 or len(names) < K or len(y) == 0 or not np.isin(y, names).all():
        raise ValueError(
            "labels must name two classes or more and each class of y_true once, got "
            f"{short(classes.tolist())}"
        )
    score = check_numbers("y_score", _in_order_of(classes, y_score, labels))
    if score.shape != (len(y), K):
        raise ValueError(
            f"y_score must have one row for each label and one column for each of the "
            f"{K} classes, {(len(y), K)}, got shape {score.shape}"
        )
    for c, label in zip(classes, classes.tolist(), strict=True):
        if (y == c).sum() < 2:
            raise ValueError(
                "y_true must hold at least 2 rows (of positive weight) of each class, "
                f"got {(y == c).sum()} of {label!r}"
            )
    return y, score, classes, weight, check_groups(groups, len(y))


def _in_order_of(classes, y_score, labels):
    """The columns of a frame by the names of the classes; an array as it is."""
    refuse_collection("y_score", y_score)
    columns = list(getattr(y_score, "columns", ()))
    unnamed = list(range(len(columns))), [f"column_{i}" for i in range(len(columns))]
    names, wanted = list(map(str, columns)), list(map(str, classes.tolist()))
    if sorted(names) == sorted(wanted):
        return np.asarray(y_score)[:, [names.index(label) for label in wanted]]
    if labels is None and columns not in ([], *unnamed):
        raise ValueError(
            f"y_score must have the classes {short(wanted)} as its columns, got "
            f"{short(names)}; rename the columns, or pass labels= for the class of each"
        )
    return y_score


def one_vs_rest_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: Values = None,
    sample_weight: Values = None,
    groups: Values = None,
) -> OneVsRestAUC:
    """AUC of each class against all others, with intervals.

    Answers: which of the K classes does a model separate well from all others, and how
    precisely is that known? Each class has the intervals of :func:`auc_estimate`. The
    mean over the classes, ``roc_auc_score(multi_class="ovr")``, has an interval that
    accounts for the dependence between the classes. Costs O(K n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of K ≥ 2 classes.
    y_score : array-like of shape (n, K)
        Column i is larger for class i; ±inf are allowed, NaN is not. The columns of a
        frame are found by the names of the classes.
    labels : array-like of shape (K,), default=None
        Class of each column; None takes the sorted labels of y_true.
    sample_weight, groups : array-like of shape (n,), default=None
        As for :func:`auc_estimate`.

    Returns
    -------
    OneVsRestAUC
        Arrays ``auc`` and ``confidence_interval(0.95)`` over the classes, and
        ``average()``.

    Raises
    ------
    ValueError
        If shapes or labels disagree, a score is NaN or a class has fewer than 2 rows.

    See Also
    --------
    hand_till_auc : An average over pairs, which does not depend on class frequencies.
    auc_estimate : Two classes.

    Notes
    -----
    The standard errors are DeLong's [2]_. Each AUC compares a class with the rows of
    all other classes [1]_, so it depends on their frequencies. The average of
    :func:`hand_till_auc` does not.

    References
    ----------
    .. [1] Provost & Domingos (2000), CeDER working paper IS-00-04, Stern School of
       Business; published as "Tree induction for probability-based ranking" (2003),
       https://doi.org/10.1023/A:1024099825458
    .. [2] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import one_vs_rest_auc
    >>> X, y = load_iris(return_X_y=True)
    >>> one_vs_rest_auc(y, -abs(X[:, [0]] - [5.0, 5.9, 6.6]))
    OneVsRestAUC(average=0.8344)
       estimate  standard_error     low    high
    0    0.9332         0.02271  0.8718  0.9652
    1    0.7647          0.0412  0.6737   0.834
    2    0.8052         0.03802  0.7187  0.8675
    """
    checked = check_class_scores(y_true, y_score, labels, sample_weight, groups)
    y, score, classes, weight, cluster = checked
    samples = [
        Sample.split([column], y == c, weight, cluster)[0]
        for c, column in zip(classes, score.T, strict=True)
    ]
    return OneVsRestAUC(classes, tuple(map(AUCEstimate._of, samples)), cluster)


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestAUC(Estimates):
    """AUCs of K classes, each class against all others.

    Made by :func:`skauc.one_vs_rest_auc`.

    Attributes
    ----------
    labels : ndarray of shape (K,)
        The classes, in the order of the columns of the scores.
    estimates : tuple of AUCEstimate
        One estimate per class, in the order of the labels.
    _cluster : ndarray of int of shape (n,) or None
        Clusters of the rows of positive weight.

    See Also
    --------
    skauc.one_vs_rest_auc : Makes it, from labels and scores.
    skauc.results.AveragedAUC : What ``average`` returns.
    skauc.results.AUCEstimate : The estimate of one class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import one_vs_rest_auc
    >>> X, y = load_iris(return_X_y=True)
    >>> result = one_vs_rest_auc(y, -abs(X[:, [0]] - [5.0, 5.9, 6.6]))
    >>> result.auc.round(2)
    array([0.93, 0.76, 0.81])
    >>> result.average()
    AveragedAUC(auc=0.8344, interval95=(0.7882, 0.8721))
    """

    labels: np.ndarray
    estimates: tuple[AUCEstimate, ...]
    _cluster: np.ndarray | None = field(repr=False)

    _rows_in_text = True

    def _head(self):
        return {"average": self.auc.mean()}

    def _estimates(self, confidence_level):
        rows = np.transpose([e._moments(confidence_level) for e in self.estimates])
        return {"": self.labels.tolist()} | dict(zip(MOMENTS, rows, strict=True))

    @property
    def auc(self) -> np.ndarray:
        """AUC of each class, shape (K,)."""
        return np.array([estimate.auc for estimate in self.estimates])

    def standard_error(self, method: str | None = None) -> np.ndarray:
        """Standard errors, shape (K,); see :meth:`AUCEstimate.standard_error`."""
        return np.array([e.standard_error(method) for e in self.estimates])

    def confidence_interval(
        self, confidence_level: float = 0.95, **options: Any
    ) -> Interval:
        """Confidence limits for the AUC of each class separately.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
            Pass ``1 − 0.05/K`` for limits that hold for all K classes together
            (Bonferroni).
        **options
            ``method``, ``transform`` and ``alternative``, as for
            :meth:`AUCEstimate.confidence_interval`.

        Returns
        -------
        Interval
            Arrays ``(low, high)`` of shape (K,).

        Raises
        ------
        ValueError
            As :meth:`AUCEstimate.confidence_interval`.
        """
        limits = [
            e.confidence_interval(confidence_level, **options) for e in self.estimates
        ]
        return Interval(*np.transpose(limits))

    def average(self) -> AveragedAUC:
        """Mean AUC over the classes, with a standard error that uses their covariance.

        Returns
        -------
        AveragedAUC

        Raises
        ------
        ValueError
            If a class has fewer than two rows or groups.

        Notes
        -----
        A row contributes to the error through each of the K AUCs, as a positive of its
        own class and as a negative of the others. For K = 2 and two columns that rank
        the rows equally the result is DeLong's standard error.
        """
        samples = [estimate._sample for estimate in self.estimates]
        every = np.arange(sum(map(len, samples[0].scores)))
        return _averaged(self.auc, [(each, every) for each in samples], self._cluster)
