"""AUCs that are averages: over pairs of classes, over folds.

An average of AUCs is a U-statistic whose rows enter several of its terms. Its variance
is read off the rows: sum what a row contributes to every term (its *influence*, from
the placements, so that ties count ½ there too), then square.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from .._validation import (
    check_column,
    check_floats,
    check_level,
    check_number,
    check_option,
    check_score,
    short,
)
from ..statistics._ranks import placements
from ..statistics._result import Result
from ._confidence_limits import (
    ALTERNATIVES,
    TRANSFORMS,
    Interval,
    interval_tails,
    wald_limits,
)


@dataclass(frozen=True, eq=False, repr=False)
class AveragedAUC(Result):
    """An average of AUCs with its standard error.

    Made by :func:`skauc.hand_till_auc` and :func:`skauc.cross_val_auc`.

    Parameters
    ----------
    auc : float
        The average.
    standard_error : float
        From the joint influence of the rows on all terms.
    parts : ndarray
        The AUCs averaged: of shape (n_folds,), or (K, K) with ``parts[i, j]`` the AUC
        of column i for class i against class j (NaN on the diagonal).
    n_smallest : int
        Rows of the smallest class.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import AveragedAUC
    >>> result = AveragedAUC(0.9, 0.03, np.array([0.88, 0.92]), n_smallest=40)
    >>> low, high = result.confidence_interval(0.95)
    >>> round(low, 3), round(high, 3)
    (0.824, 0.945)
    """

    auc: float
    standard_error: float
    parts: np.ndarray
    n_smallest: int

    def __post_init__(self):
        check_number("auc", self.auc, "lie in [0, 1]", lambda auc: 0 <= auc <= 1)
        check_number(
            "standard_error",
            self.standard_error,
            "be finite and >= 0",
            lambda error: 0 <= error < np.inf,
        )
        check_number(
            "n_smallest", self.n_smallest, "be >= 1", lambda n: 1 <= n < np.inf
        )

    def __repr__(self):
        low, high = self.confidence_interval()
        return (
            f"AveragedAUC(auc={self.auc:.4g}, interval95=({low:.4g}, {high:.4g}), "
            f"parts of shape {np.shape(self.parts)})"
        )

    def _columns(self):
        low, high = self.confidence_interval()
        return {
            "auc": [self.auc],
            "standard_error": [self.standard_error],
            "low": [low],
            "high": [high],
        }

    def confidence_interval(
        self, confidence_level=0.95, transform="logit", alternative="two-sided"
    ) -> Interval:
        """Limits for the average, inside [0, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        transform : {"none", "logit", "probit"}, default="logit"
            Scale of ``A ± z SE``.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives ``(low, 1)``.

        Returns
        -------
        Interval
            ``(low, high)``; Clopper–Pearson's on the smallest class where the AUC is
            0 or 1.

        Raises
        ------
        ValueError
            If an option breaks its rule.
        """
        level = check_level("confidence_level", confidence_level)
        check_option("transform", transform, TRANSFORMS)
        check_option("alternative", alternative, ALTERNATIVES)
        tails = interval_tails(level, alternative)
        # Placements are whole half pairs over n and round to some 1e-16: an error below
        # 1e-14 is 0, and the limits are then the exact ones.
        error = self.standard_error if self.standard_error > 1e-14 else 0.0
        limits = wald_limits(self.auc, error, self.n_smallest, *tails, transform)
        return Interval(*map(float, limits))


def hand_till_auc(y_true, y_score, *, labels=None) -> AveragedAUC:
    """Multiclass AUC of Hand & Till with a joint DeLong interval.

    Answers: how well do the scores of K classes tell two classes apart, on average
    over the pairs? Equal to ``roc_auc_score(multi_class="ovo", average="macro")``,
    but the scores need be no probabilities. Costs O(K² n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of K ≥ 2 classes.
    y_score : array-like of shape (n, K)
        Column i is larger for class i; ±inf are allowed, NaN is not.
    labels : array-like of shape (K,), default=None
        Class of each column; None takes the sorted labels of y_true.

    Returns
    -------
    AveragedAUC

    Raises
    ------
    ValueError
        If shapes or labels disagree, a score is NaN or a class has fewer than 2 rows.

    Notes
    -----
    ``M = Σ_{i≠j} A(i|j)/(K(K − 1))`` with A(i|j) the AUC of column i for class i
    against class j. A row r of class c contributes ``u_r``, the sum of its placements
    in the 2(K − 1) terms that it enters; ``Var M ≈ Σ_c var(u)/n_c``. For K = 2 and
    columns that order the rows alike it is DeLong's variance.

    References
    ----------
    Hand & Till (2001), https://doi.org/10.1023/A:1010920819831; DeLong, DeLong &
    Clarke-Pearson (1988), https://doi.org/10.2307/2531595

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import hand_till_auc
    >>> X, y = load_iris(return_X_y=True)
    >>> hand_till_auc(y, -abs(X[:, [2]] - [1.5, 4.3, 5.6]))
    AveragedAUC(auc=0.9804, interval95=(0.9658, 0.9889), parts of shape (3, 3))
    """
    y, score, classes = check_class_scores(y_true, y_score, labels)
    K = len(classes)
    rows = [np.flatnonzero(y == c) for c in classes]
    smallest = min(map(len, rows))
    if smallest < 2:
        raise ValueError(f"y_true must hold 2 rows or more a class, got {smallest}")
    parts, influence = np.full((K, K), np.nan), np.zeros(len(y))
    for i, j in permutations(range(K), 2):
        # A(i|j): column i, class i as the positives, class j as the negatives.
        v01, v10 = placements(score[rows[j], i], score[rows[i], i])
        parts[i, j] = v10.mean()
        influence[rows[j]] += v01
        influence[rows[i]] += v10
    # M = Σ_{i≠j} A(i|j)/(K(K − 1)),   Var M ≈ Σ_c var(u)/n_c
    influence /= K * (K - 1)
    variance = sum(influence[r].var(ddof=1) / len(r) for r in rows)
    auc = parts[~np.eye(K, dtype=bool)].mean()
    return AveragedAUC(float(auc), float(np.sqrt(variance)), parts, smallest)


def check_class_scores(y_true, y_score, labels):
    """Labels of K classes, a column of scores for each, and the classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_score : array-like of shape (n, K)
    labels : array-like of shape (K,) or None

    Returns
    -------
    y : ndarray of shape (n,)
    score : ndarray of float of shape (n, K)
    classes : ndarray of shape (K,)

    Raises
    ------
    ValueError
        If shapes or labels disagree, or a score is NaN.
    """
    y = check_column("y_true", y_true)
    classes = check_column("labels", y if labels is None else labels)
    try:
        names = np.unique(classes)
        unknown = len(y) == 0 or not np.isin(y, names).all()
    except TypeError:
        raise ValueError(
            f"{'y_true' if labels is None else 'labels'} must hold labels of one kind "
            f"without missing values, got {', '.join(map(repr, classes[:5].tolist()))}"
        ) from None
    classes = names if labels is None else classes
    K = len(classes)
    if K < 2 or len(names) < K or unknown:
        raise ValueError(
            "labels must name two classes or more once, and all of y_true, got "
            f"{short(classes.tolist())}"
        )
    score = check_floats("y_score", y_score)
    if score.shape != (len(y), K):
        raise ValueError(
            f"y_score must have one row a label and one column for each of the {K} "
            f"classes, {(len(y), K)}, got shape {score.shape}"
        )
    for column in score.T:
        check_score(column, len(y), allow_infinite=True)
    return y, score, classes
