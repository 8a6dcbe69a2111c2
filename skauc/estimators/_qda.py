"""Quadratic discriminant analysis with its ROC curve."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from ..roc._quadratic import NormalLaw, QuadraticROC, score_law
from . import _checks as check
from ._discriminant_curves import DIVIDES_BY_N, PredictsArrays, publish_curves


class QuadraticDiscriminantROC(PredictsArrays, QuadraticDiscriminantAnalysis):
    """Scikit-learn's quadratic discriminant analysis, and the ROC curve it implies.

    Answers: if every class is normal with its own covariance, as QDA assumes, what are
    the ROC curve, its area and its best threshold? The fit gains one P×P eigenproblem
    for each pair and class; every number is then a contour integral, milliseconds (the
    best threshold of a regularised rule a search, tenths of a second).

    Parameters
    ----------
    solver, shrinkage, priors, reg_param, store_covariance, tol, covariance_estimator
        As for :class:`sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis`,
        those of them that the installed version has (before scikit-learn 1.8:
        ``priors``, ``reg_param``, ``store_covariance`` and ``tol``).

    Attributes
    ----------
    roc_ : QuadraticROC
        Curve in units of ``decision_function``; two classes only.
    auc_ : float
        Area under ``roc_``; for K > 2 the mean over all pairs of classes (Hand & Till).
    youden_threshold_ : float
        Value of ``decision_function`` with the largest TPR − FPR; two classes only.
    pairwise_roc_ : dict
        ``(class_i, class_j)`` → QuadraticROC of ``decision_j − decision_i``, class_j
        being the positive one, for i < j.

    All other attributes are the parent's.

    Notes
    -----
    In a normal class ``decision_function`` is a quadratic form in normal variables
    (:class:`skauc.QuadraticForm`), and the AUC the probability that the difference of
    two such forms is positive. Whose covariances?

    - Without regularisation the parent's own describe both the rule and the classes,
      whatever its version and solver divide by (n_c − 1 or n_c). The rule is then their
      likelihood ratio, the curve concave (``roc_.is_proper``), and
      ``youden_threshold_`` is ``log(π₁/π₀)``.
    - With ``reg_param``, ``shrinkage`` or ``covariance_estimator`` the rule keeps the
      parent's covariances, while the classes keep the unshrunk ones of their rows
      (divided in the same way; by n_c where ``reg_param=1``): what is shrunk is the
      rule, not the world it is applied to. The best threshold is then searched for.

    Where the parent accepts a class without full rank (with ``tol=0``, and before
    scikit-learn 1.8 with a mere warning), a rule that divides by zero, up to rounding,
    has no curve: its pairs are missing and ``auc_`` is NaN.

    As an estimate from the training rows the plug-in curve is optimistic, more so than
    that of LDA: it has twice the parameters. Trust ``roc_curve`` of other rows.

    References
    ----------
    Rice (1980), https://doi.org/10.1137/0901032; Hand & Till (2001),
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

    def fit(self, X, y):
        """Fit the parent, then the ROC curves of its scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)

        Returns
        -------
        QuadraticDiscriminantROC
        """
        labels = check.discriminant(X, y, self.priors)
        super().fit(X, y)
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
            _root(np.asarray(self.scalings_[k], dtype=float)),
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


def _root(variances):
    """Square roots of variances; negative values are rounding and count as 0."""
    return np.sqrt(np.maximum(variances, 0.0))


def _has_full_rank(rule):
    """Whether every axis of a class has variance, up to rounding."""
    # a singular value of 0 is computed as a few eps (2e-16) of the largest
    return np.min(rule.deviations) > 1e-13 * np.max(rule.deviations)
