"""One class against the rest, for each of K classes, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._validation import check_groups, check_non_negative
from ..statistics._result import Result, aligned
from ._auc_estimate import AUCEstimate
from ._averaged_auc import AveragedAUC, check_class_scores
from ._confidence_limits import Interval
from ._sample import Sample


def one_vs_rest_auc(
    y_true, y_score, *, labels=None, sample_weight=None, groups=None
) -> OneVsRestAUC:
    """AUC of each class against all others, with intervals.

    Answers: which classes does a model of K classes find, and how sure is that? Each
    class has the intervals of :func:`auc_estimate`, and the mean over the classes,
    ``roc_auc_score(multi_class="ovr")``, one of its own. Costs O(K n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of K ≥ 2 classes.
    y_score : array-like of shape (n, K)
        Column i is larger for class i; ±inf are allowed, NaN is not.
    labels : array-like of shape (K,), default=None
        Class of each column; None takes the sorted labels of y_true.
    sample_weight, groups : array-like of shape (n,), default=None
        As for :func:`auc_estimate`.

    Returns
    -------
    OneVsRestAUC

    Raises
    ------
    ValueError
        If shapes or labels disagree, a score is NaN or a class has fewer than 2 rows.

    Notes
    -----
    The rest is what the data hold of the other classes: its AUC changes with their
    shares, that of :func:`hand_till_auc` does not.

    References
    ----------
    Provost & Domingos (2000), CeDER working paper IS-00-04, Stern School of Business;
    DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import one_vs_rest_auc
    >>> X, y = load_iris(return_X_y=True)
    >>> one_vs_rest_auc(y, -abs(X[:, [0]] - [5.0, 5.9, 6.6]))
    OneVsRestAUC(average=0.8335)
          auc  standard_error     low    high  n_neg  n_pos
    0  0.9332         0.02271  0.8718  0.9652    100     50
    1  0.7662         0.04109  0.6754  0.8353    100     50
    2  0.8012         0.03836  0.7142  0.8643    100     50
    """
    y, score, classes = check_class_scores(y_true, y_score, labels)
    weight = (
        None if sample_weight is None else check_non_negative(sample_weight, len(y))
    )
    rows = np.ones(len(y), bool) if weight is None else weight > 0
    for c, name in zip(classes, classes.tolist(), strict=True):
        if (y[rows] == c).sum() < 2:
            raise ValueError(
                "y_true must hold 2 rows or more (of positive weight) a class, got "
                f"{(y[rows] == c).sum()} of {name!r}"
            )
    cluster = check_groups(groups, len(y))
    estimates = []
    for c, column in zip(classes, score.T, strict=True):
        sample = Sample.from_rows(column, y == c, weight, cluster, keep_order=True)
        n_neg, n_pos = sample.sizes
        estimates.append(AUCEstimate(sample.auc, n_neg, n_pos, sample))
    return OneVsRestAUC(classes, tuple(estimates), y[rows])


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestAUC(Result):
    """AUCs of K classes, each against the rest.

    Made by :func:`one_vs_rest_auc`.

    Parameters
    ----------
    labels : ndarray of shape (K,)
    estimates : tuple of AUCEstimate
        One a class, in the order of the labels.
    _y : ndarray of shape (n,)
        Labels of the rows.

    Examples
    --------
    >>> from skauc import one_vs_rest_auc
    >>> y = ["a", "a", "a", "b", "b", "b", "c", "c", "c"]
    >>> score = [[3, 1, 0], [2, 1, 1], [1, 2, 0], [1, 3, 0], [0, 2, 1],
    ...          [0, 1, 1], [0, 1, 2], [1, 0, 3], [0, 0, 1]]
    >>> result = one_vs_rest_auc(y, score)
    >>> result.auc.round(2)
    array([0.94, 0.83, 0.92])
    >>> result.average()
    AveragedAUC(auc=0.8981, interval95=(0.7161, 0.9686), parts of shape (3,))
    """

    labels: np.ndarray
    estimates: tuple[AUCEstimate, ...]
    _y: np.ndarray = field(repr=False)

    def __repr__(self):
        columns = self._columns()
        table = [tuple(columns)]
        for row in zip(*columns.values(), strict=True):
            table.append((str(row[0]), *(f"{value:.4g}" for value in row[1:])))
        return f"OneVsRestAUC(average={self.auc.mean():.4g})\n{aligned(table)}"

    def _columns(self):
        parts = [estimate._columns() for estimate in self.estimates]
        columns = {name: [part[name][0] for part in parts] for name in parts[0]}
        return {"": self.labels.tolist(), **columns}

    @property
    def auc(self) -> np.ndarray:
        """Of each class, shape (K,)."""
        return np.array([estimate.auc for estimate in self.estimates])

    def standard_error(self, method=None, **options) -> np.ndarray:
        """Standard errors, shape (K,); see :meth:`AUCEstimate.standard_error`."""
        return np.array([e.standard_error(method, **options) for e in self.estimates])

    def confidence_interval(
        self, confidence_level=0.95, method=None, **options
    ) -> Interval:
        """Limits of each class's AUC; they do not hold together.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
            For all K together pass ``1 − 0.05/K`` (Bonferroni).
        method, **options
            As for :meth:`AUCEstimate.confidence_interval`.

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
            e.confidence_interval(confidence_level, method, **options)
            for e in self.estimates
        ]
        return Interval(*np.transpose(limits))

    def average(self) -> AveragedAUC:
        """Mean over the classes, with the error of all K under their covariance.

        Returns
        -------
        AveragedAUC

        Raises
        ------
        ValueError
            If the weights are no counts and there are no groups.

        Notes
        -----
        A row contributes to the error through each of the K AUCs, as a positive of
        its own class and as a negative of the others. With K = 2 and columns that
        order the rows alike it is DeLong's.
        """
        K, y = len(self.labels), self._y
        influence = np.zeros(len(y))
        for c, estimate in zip(self.labels, self.estimates, strict=True):
            estimate._sample.check_variance()
            for rows, part in zip((y != c, y == c), _parts(estimate), strict=True):
                influence[rows] += part / K
        sample = self.estimates[0]._sample
        # A sample keeps its rows by class: the weights go back to the rows of _y.
        first = y == self.labels[0]
        count = np.ones(len(y))
        count[~first], count[first] = sample.counts
        if sample.cluster_neg is not None:
            # A cluster may hold positives and negatives of a class: one sum of all.
            cluster = np.empty(len(y), int)
            cluster[~first], cluster[first] = sample.cluster_neg, sample.cluster_pos
            variance = (np.bincount(cluster, influence * count) ** 2).sum()
            smallest = min(len(np.unique(cluster[y == c])) for c in self.labels)
        else:
            # Var Ā = Σ w u², or the squares of the clusters' sums: u is scaled for it.
            variance = count @ influence**2
            smallest = int(min(count[y == c].sum() for c in self.labels))
        error = float(np.sqrt(variance))
        return AveragedAUC(float(self.auc.mean()), error, self.auc, smallest)


def _parts(estimate):
    """``(V − A)/√{n(n − 1)}`` of the negatives and the positives (section 1)."""
    sample = estimate._sample
    for v, count, cluster in zip(
        sample.placements,
        sample.counts,
        (sample.cluster_neg, sample.cluster_pos),
        strict=True,
    ):
        n = total = count.sum()
        if cluster is not None:
            n = len(np.unique(cluster))
            if n < 2:
                raise ValueError(
                    f"each class must hold at least 2 groups for an error, got {n}"
                )
        # With w whole numbers, Σ w part² = Σ w (V − A)²/{n(n − 1)}, DeLong's variance.
        yield (v - np.average(v, weights=count)) / total * np.sqrt(n / (n - 1))
