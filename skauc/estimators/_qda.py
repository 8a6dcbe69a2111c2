"""Quadratic discriminant analysis with its ROC curve."""

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from ..roc._quadratic import NormalLaw, QuadraticROC, score_law
from ..statistics._checks import columns_named
from . import _checks as check
from ._discriminant_curves import DIVIDES_BY_N, NumpyCurves, publish_curves


class QuadraticDiscriminantROC(NumpyCurves, QuadraticDiscriminantAnalysis):
    """Quadratic discriminant analysis of scikit-learn, with its implied ROC curve.

    Answers: what are the ROC curve, its area and its best threshold, if each class is
    normal with its own covariance, as QDA assumes? The fit solves one additional P×P
    eigenproblem for each pair of classes and each class of the pair. Every number is
    then a contour integral [1]_, which takes milliseconds; the best threshold of a
    regularised rule needs a search, which takes tenths of a second.

    Parameters
    ----------
    solver, shrinkage, priors, reg_param, store_covariance, tol, covariance_estimator
        As for :class:`sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis`.
        Before scikit-learn 1.8 only ``priors``, ``reg_param``, ``store_covariance`` and
        ``tol`` exist.

    Attributes
    ----------
    roc_ : QuadraticROC
        Curve in units of ``decision_function``; two classes only.
    auc_ : float
        Area under ``roc_``; for K > 2 the mean over all pairs of classes [2]_.
    youden_threshold_ : float
        Value of ``decision_function`` with the largest TPR − FPR; two classes only.
    pairwise_roc_ : dict
        Maps ``(class_i, class_j)``, i < j, to the QuadraticROC of
        ``decision_j − decision_i``, with class_j as the positive class.

    The other attributes, such as ``means_``, are those of
    :class:`sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis`.

    See Also
    --------
    LinearDiscriminantROC : One covariance for all classes, and fewer parameters.
    empirical_roc : The curve of held-out rows.
    skauc.results.QuadraticROC :
        The curve, which can be made from means and covariances, too.
    sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis :
        The same without curves.

    Notes
    -----
    In a normal class ``decision_function`` is a quadratic form in normal variables
    (:class:`skauc.results.QuadraticForm`), and the AUC is the probability that the
    difference of two such forms is positive. The covariances of these forms are chosen
    as follows:

    - Without regularisation scikit-learn's covariances describe both the rule and the
      classes, whether its version and solver divide by n_c − 1 or by n_c. The rule is
      then the likelihood ratio of the classes, the curve is concave
      (``roc_.is_proper``), and ``youden_threshold_`` is ``log(π₁/π₀)``.
    - With ``reg_param``, ``shrinkage`` or ``covariance_estimator`` the rule has
      scikit-learn's regularised covariances, while the classes have the unshrunk
      covariances of their rows (with the same divisor; n_c if ``reg_param=1``), because
      regularisation changes the rule but not the classes to which it is applied. The
      best threshold is then found by a search.

    Scikit-learn accepts a class without full rank if ``tol=0``, and before version 1.8
    with a warning only. If the rule then divides by a number that is 0 up to rounding,
    it has no curve: the pairs of this class are missing in ``pairwise_roc_`` and
    ``auc_`` is NaN.

    **Not** an estimate for new rows: the plug-in curve of the training rows is
    optimistic, more so than that of LDA, because QDA has about twice as many
    parameters. Use :func:`skauc.empirical_roc` on held-out rows for that.

    References
    ----------
    .. [1] Rice (1980), "Distribution of quadratic forms in normal random variables —
       evaluation by numerical integration", https://doi.org/10.1137/0901032
    .. [2] Hand & Till (2001), "A simple generalisation of the area under the ROC curve
       for multiple class classification problems",
       https://doi.org/10.1023/A:1010920819831

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauc import QuadraticDiscriminantROC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = QuadraticDiscriminantROC().fit(X[:, :3], y)
    >>> round(model.auc_, 3), round(model.youden_threshold_, 3)
    (0.967, 0.521)
    """

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit the discriminant and the ROC curves of its scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)

        Returns
        -------
        QuadraticDiscriminantROC
        """
        labels, given = check.discriminant(X, y, self.priors)
        with columns_named(X):
            super().fit(X, given)
        rules = classes = [self._rule(k) for k in range(len(self.classes_))]
        if self._is_regularised():
            rows = np.asarray(X, dtype=float)
            classes = [self._unshrunk(rows[labels == c]) for c in self.classes_]
        publish_curves(self, partial(self._curve, rules, classes))
        return self

    def _uses_eigen(self):
        """Whether the solver is "eigen", which scikit-learn has since 1.8."""
        return getattr(self, "solver", "svd") == "eigen"

    def _is_regularised(self):
        """Whether the covariances of the rule differ from those of the rows."""
        if self._uses_eigen():
            return bool(self.shrinkage) or self.covariance_estimator is not None
        return self.reg_param > 0

    def _rule(self, k):
        """Normal law of class k under the rule of the parent."""
        return NormalLaw(
            np.asarray(self.means_[k], dtype=float),
            np.asarray(self.rotations_[k], dtype=float),
            # negative variances are rounding
            np.sqrt(np.maximum(np.asarray(self.scalings_[k], dtype=float), 0.0)),
        )

    def _unshrunk(self, rows):
        """Normal law of a class with the covariance of its rows.

        ``(S² − r)/(1 − r)`` of the rule would cancel for small S².
        """
        law, n = NormalLaw.from_samples(rows), len(rows)
        if self._uses_eigen() or self.reg_param == 1 or DIVIDES_BY_N:
            return law
        # n_c − 1 in place of n_c
        return replace(law, deviations=law.deviations * np.sqrt(n / (n - 1)))

    def _curve(self, rules, classes, i, j):
        """Curve of ``decision_j − decision_i``; of ``decision`` for two classes."""
        if not (_has_full_rank(rules[i]) and _has_full_rank(rules[j])):
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            log_odds = float(np.log(self.priors_[j]) - np.log(self.priors_[i]))
        if not np.isfinite(log_odds):  # a prior of 0: the curve of the likelihood ratio
            log_odds = 0.0
        neg, pos = (score_law(classes[k], rules[i], rules[j], log_odds) for k in (i, j))
        return QuadraticROC(neg, pos, None if self._is_regularised() else log_odds)


def _has_full_rank(rule):
    """Whether every axis of a class has variance, up to rounding."""
    # a singular value of 0 is computed as a few eps (2e-16) of the largest
    return np.min(rule.deviations) > 1e-13 * np.max(rule.deviations)
