"""Results of a comparison of AUCs over shared folds.

``d_j`` is the difference of the AUCs of two models in fold j of J; n_test and n_train
are the sizes of the folds. The training rows of folds overlap, so that the d_j are not
independent. Nadeau & Bengio's variance of their mean assumes that their correlation is
``n_test/(n_train + n_test)``,

    V = s² (1/J + n_test/n_train),    s² = Σ (d_j − d̄)²/(J − 1),

and that ``(d̄ − Δ)/√V`` is Student's t with J − 1 degrees of freedom. This gives the
test, the interval and, under a flat prior, the posterior of Δ (Corani & Benavoli).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from ..statistics._checks import check_interval
from ._comparison import AUCComparison, AUCComparisons, ComparedPairs, TestedDifference

# A smaller standard deviation of the differences is rounding
_ROUNDING = 64 * np.finfo(float).eps


class PracticalProbabilities(NamedTuple):
    """Probabilities that a model is better, equivalent or worse; their sum is 1.

    Attributes
    ----------
    better, equivalent, worse : float
        Probability that the AUC of the first model exceeds that of the second by more
        than the margin, lies within the margin, or is lower by more than the margin.

    See Also
    --------
    skauc.results.CrossValAUCComparison.probability : Makes it.
    skauc.compare_cross_val_auc : Compares two estimators by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import AUCComparison, CrossValAUCComparison
    >>> a, b = np.array([0.9, 0.8, 0.85, 0.9]), np.array([0.8, 0.8, 0.8, 0.85])
    >>> influence = AUCComparison(0.8625, 0.8125, standard_error=0.03)
    >>> probability = CrossValAUCComparison(a, b, 1 / 3, influence).probability(0.02)
    >>> round(probability.better, 2), round(sum(probability), 6)
    (0.8, 1.0)
    """

    better: float
    equivalent: float
    worse: float


@dataclass(frozen=True, eq=False, repr=False)
class CrossValAUCComparison(TestedDifference):
    """Difference of the cross-validated AUCs of two models over the same folds.

    Made by :func:`skauc.compare_cross_val_auc`. The attributes describe the corrected t
    test, whose confidence interval is also a credible interval; ``influence`` holds the
    test that uses the influence of the rows.

    Attributes
    ----------
    folds_a, folds_b : ndarray of shape (J,)
        AUC of each fold.
    test_train_ratio : float > 0
        Number of test rows divided by the number of training rows of a fold: 1/(K − 1)
        for K folds.
    influence : AUCComparison
        Test of the same difference with a standard error from the influence of the
        rows.
    rope : float in [0, 1), default=0.01
        Region of practical equivalence: differences of absolute value up to ``rope`` do
        not matter.
    names : tuple of two str, default=("a", "b")
        Names of the models.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.compare_cross_val_auc : Makes it, from two estimators.
    skauc.results.CrossValAUCComparisons : Three or more estimators.
    skauc.results.AUCComparison : Two scores of held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import AUCComparison, CrossValAUCComparison
    >>> a, b = np.array([0.9, 0.8, 0.85, 0.9]), np.array([0.8, 0.8, 0.8, 0.85])
    >>> influence = AUCComparison(0.8625, 0.8125, standard_error=0.03)
    >>> result = CrossValAUCComparison(a, b, 1 / 3, influence)
    >>> round(result.statistic, 2), round(result.pvalue, 2)
    (1.6, 0.21)
    >>> [round(p, 2) for p in result.probability(margin=0.02)]
    [0.8, 0.15, 0.06]
    """

    folds_a: np.ndarray
    folds_b: np.ndarray
    test_train_ratio: float
    influence: AUCComparison
    rope: float = 0.01
    names: tuple[str, str] = ("a", "b")

    def _head(self):
        return super()._head() | self.probability()._asdict()

    def _estimates(self, confidence_level):
        influence = {
            "influence_error": [self.influence.standard_error],
            "influence_pvalue": [self.influence.pvalue],
        }
        shares = {name: [p] for name, p in self.probability()._asdict().items()}
        return super()._estimates(confidence_level) | influence | shares

    @property
    def auc_a(self) -> float:
        """Mean AUC of the first model."""
        return float(np.mean(self.folds_a))

    @property
    def auc_b(self) -> float:
        """Mean AUC of the second model."""
        return float(np.mean(self.folds_b))

    @property
    def differences(self) -> np.ndarray:
        """Differences ``d_j`` of the folds' AUCs, of shape (J,)."""
        return np.asarray(self.folds_a) - np.asarray(self.folds_b)

    @property
    def difference(self) -> float:
        """Mean difference over the folds."""
        return float(self.differences.mean())

    @property
    def df(self) -> int:
        """Degrees of freedom: J − 1."""
        return len(self.differences) - 1

    @property
    def alternative(self) -> str:
        """Alternative of the tests, as in :class:`AUCComparison`."""
        return self.influence.alternative

    @property
    def standard_error(self) -> float:
        """``√{s² (1/J + n_test/n_train)}``, with the variance s² of ``differences``.

        If s is 0, it is the standard error of ``influence``.
        """
        spread = self.differences.std(ddof=1)
        if spread <= _ROUNDING:
            return self.influence.standard_error
        # √V, V = s² (1/J + n_test/n_train), J = df + 1
        return float(spread * np.sqrt(1 / (self.df + 1) + self.test_train_ratio))

    def probability(self, margin: float | None = None) -> PracticalProbabilities:
        """Posterior probabilities that the first model is better by more than a margin.

        Parameters
        ----------
        margin : float in [0, 1), default=None
            Half the width of the region of practical equivalence; None takes ``rope``.

        Returns
        -------
        PracticalProbabilities
            ``(better, equivalent, worse)``: ``P(Δ > margin)``, ``P(|Δ| ≤ margin)`` and
            ``P(Δ < −margin)`` under Student's t around the difference.

        Raises
        ------
        ValueError
            If the margin lies outside [0, 1).
        """
        margin = self.rope if margin is None else margin
        margin = check_interval("margin", margin, 0, 1, closed="left")
        gap, error = self.difference, self.standard_error
        if error == 0:
            sure = gap > margin, abs(gap) <= margin, gap < -margin
            return PracticalProbabilities(*map(float, sure))
        # (Δ − d̄)/√V is Student's t: P(Δ > margin) = F((d̄ − margin)/√V)
        ends = np.array([gap - margin, margin - gap, -margin - gap]) / error
        better, below, worse = stdtr(self.df, ends).tolist()
        return PracticalProbabilities(better, below - worse, worse)


@dataclass(frozen=True, eq=False, repr=False)
class CrossValAUCComparisons(ComparedPairs):
    """Pairwise comparisons of three or more models over the same folds.

    Made by :func:`skauc.compare_cross_val_auc`.

    Attributes
    ----------
    names : tuple of str
        Names of the k models.
    pairs : tuple of CrossValAUCComparison
        All pairs, in the order (0, 1), (0, 2), …, (1, 2), …; their p-values are not
        adjusted.
    influence : AUCComparisons
        The AUCs with their covariance from the influence of the rows, and an overall
        test.

    See Also
    --------
    skauc.compare_cross_val_auc : Makes it, from three or more estimators.
    skauc.results.CrossValAUCComparison : One of its ``pairs``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skauc import compare_cross_val_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trees = {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0)
    ...          for d in (1, 3)}
    >>> result = compare_cross_val_auc({"Bayes": GaussianNB(), **trees}, X, y)
    >>> (result.adjusted_pvalues < 0.05).tolist()
    [True, True, False]
    """

    names: tuple[str, ...]
    pairs: tuple[CrossValAUCComparison, ...]
    influence: AUCComparisons

    @property
    def auc(self) -> np.ndarray:
        """Mean AUC of each model, of shape (k,)."""
        return self.influence.auc
