"""Linear discriminant analysis with its ROC curve in closed form."""

from typing import Any, Self

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ..roc._binormal import BinormalROC
from ..statistics._moments import group_moments
from ..statistics._types import Values
from . import _checks as check
from ._discriminant_curves import NumpyCurves, publish_curves
from ._rows import unchanged_by_errors


class LinearDiscriminantROC(NumpyCurves, LinearDiscriminantAnalysis):
    """Linear discriminant analysis of scikit-learn, with the ROC curve that it implies.

    Answers: what are the ROC curve, its area and its best threshold, if the classes are
    normal with a common covariance, as LDA assumes? The fit costs one additional
    product ``X @ coef_``.

    Parameters
    ----------
    solver, shrinkage, priors, n_components, store_covariance, tol, \
covariance_estimator
        As for :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    Attributes
    ----------
    roc_ : BinormalROC
        Curve in units of ``decision_function``; two classes only.
    auc_ : float
        Area under ``roc_``; for K > 2 the mean over all pairs of classes [2]_.
    youden_threshold_ : float
        Value of ``decision_function`` with the largest TPR − FPR; two classes only.
    pairwise_roc_ : dict
        Maps ``(class_i, class_j)``, i < j, to the BinormalROC of
        ``decision_j − decision_i``, with class_j as the positive class.

    The other attributes, such as ``coef_``, are those of
    :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    Raises
    ------
    ValueError
        If X or y is invalid, or a parameter does not fit the solver.

    See Also
    --------
    QuadraticDiscriminantROC : One covariance for each class, and a curved boundary.
    GaussianAUCClassifier : The linear score with the largest AUC if covariances differ.
    auc_posterior : The AUC of the fitted model on new rows.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The same without curves.

    Notes
    -----
    The score ``f = αᵀx + β`` (``coef_`` and ``intercept_``) of class c is normal with
    mean ``αᵀμ_c + β`` and variance ``γ² = αᵀΣα``, so that at a threshold θ
    ``FPR(θ) = Φ((αᵀμ₀ + β − θ)/γ)``, ``TPR(θ) = Φ((αᵀμ₁ + β − θ)/γ)`` and
    ``AUC = Φ(δ/√2)``, ``δ = αᵀ(μ₁ − μ₀)/γ``, exactly [1]_. γ is estimated from the
    projected rows (with the divisor n − K for K classes), even if the covariance of the
    solver is shrunk, estimated by another estimator or weighted by given priors. With
    shrinkage δ is therefore not a Mahalanobis distance. ``decision_function`` contains
    the term ``log(π₁/π₀)``, which equals ``youden_threshold_`` without shrinkage.

    **Not** an estimate for new rows: the plug-in curve of the training rows is
    optimistic. Use :func:`skauc.auc_posterior` for that.

    References
    ----------
    .. [1] Su & Liu (1993), "Linear combinations of multiple diagnostic markers",
       https://doi.org/10.1080/01621459.1993.10476417
    .. [2] Hand & Till (2001), "A simple generalisation of the area under the ROC curve
       for multiple class classification problems",
       https://doi.org/10.1023/A:1010920819831

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauc import LinearDiscriminantROC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(LinearDiscriminantROC().fit(X, y).auc_, 3)
    0.997
    """

    def fit(self, X: Any, y: Values = None) -> Self:
        """Fit the discriminant and the ROC curves of its scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows in blocks are refused; :class:`GaussianAUCClassifier` and
            :class:`IRLSLogisticRegression` take them.
        y : array-like of shape (n,)

        Returns
        -------
        LinearDiscriminantROC
        """
        labels, given = check.discriminant(X, y, self.priors)
        # classes of one mean have explained_variance_ratio_ 0/0 = NaN
        quiet = np.errstate(invalid="ignore")
        with unchanged_by_errors(self, X), quiet:
            try:
                super().fit(X, given)
            except (IndexError, ValueError) as error:
                # without a varying feature the parent raises an IndexError, or an error
                # of LAPACK before scipy 1.14
                if isinstance(error, ValueError) and "work array" not in str(error):
                    raise
                raise ValueError(
                    "X must vary within the classes by more than tol allows, got rank "
                    f"0 with tol={self.tol!r}"
                ) from None
            check.class_count(self.classes_)
        # the parent also takes numbers that are written as text
        scores = np.asarray(X, dtype=float) @ self.coef_.T.astype(float)
        groups = [labels == label for label in self.classes_]
        K = len(groups)
        # with two classes the parent has only the decision of the second class
        decide = np.eye(K) if K > 2 else np.array([[0.0], [1.0]])

        def curve(i, j):
            contrast = decide[j] - decide[i]
            offset = contrast @ self.intercept_
            if not np.isfinite(offset):  # a prior of 0: the curve is that of X @ coef_
                offset = 0.0
            # of αᵀx + β: the means of two classes, the variance of all (see Notes)
            parts = group_moments(scores @ contrast, groups)
            deviation = np.sqrt(sum(part.scatter for part in parts) / (len(labels) - K))
            neg, pos = (parts[k].mean + offset for k in (i, j))
            return BinormalROC(neg, deviation, pos, deviation)

        publish_curves(self, curve)
        return self
