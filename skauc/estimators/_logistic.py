"""Logistic regression by Newton's method, with the inference that belongs to it."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._validation import check_level
from ..leave_pair_out._objective import PenalisedFit, with_optimum
from ._base import (
    LinearClassifier,
    check_class_weight,
    check_classes,
    check_finite_features,
    check_flag,
    check_number,
)
from ._coefficient_table import CoefficientTable
from ._irls import irls


class LikelihoodRatio(NamedTuple):
    """Likelihood-ratio test of two nested fits."""

    statistic: float
    df: int
    pvalue: float


class IRLSLogisticRegression(LinearClassifier):
    """Logistic regression by iteratively reweighted least squares (Newton's method).

    Answers: what are the class probabilities of a linear model, how sure are its
    coefficients, and does the estimate exist at all? Binary and multinomial.
    One pass over X an iteration, O(nP²K²/2); extra memory is a block of rows. For
    P > n, one pass of O(n²P) and then as if P were n; no P×P matrix.

    Parameters
    ----------
    C : float, default=np.inf
        Inverse strength of the ridge penalty ``‖coef‖²/(2C)``; the intercept is not
        penalised. Infinite C is maximum likelihood.
    fit_intercept : bool, default=True
    tol : float, default=1e-8
        Bound on the mean gradient (of standardised features) and on the distance
        from the optimum in standard errors.
    max_iter : int, default=50
        Largest number of Newton steps.
    max_halvings : int, default=30
        How often a step that lowers the likelihood is halved.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, multiplied into ``sample_weight``.
    reference : label, default=None
        Class whose coefficients are 0 when K > 2 and C is infinite; None takes
        ``classes_[0]``. Two classes always refer to ``classes_[0]``; with finite C
        and K > 2 the symmetric form has no reference.
    warm_start : bool, default=False
        Start at the last solution.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    log_likelihood_ : float
        Of the training rows, without the penalty.
    deviance_ : float
        ``−2 log_likelihood_``.
    n_iter_, n_halvings_ : int
    converged_ : bool
    separation_ : {None, "complete", "quasi-complete"}
        How the classes are separated (the estimate does not exist), None if they are
        not. Looked for when C is infinite.
    rank_ : int
        Rank of the features together with the intercept.
    reference_ : label
        Class without a row in ``summary()``, ``standard_errors_``, ``covariance_``.
    n_parameters_ : int
    n_observations_ : float
        Sum of the weights.
    covariance_, standard_errors_, aic_, bic_
        See there; for unpenalised, unseparated fits.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Raises
    ------
    ValueError
        If a parameter, X, y or a weight breaks its rule.

    Warns
    -----
    ConvergenceWarning
        If the classes are separated (the estimate does not exist), if features are
        linearly dependent (the estimate is not unique; the one of least norm is
        taken), or if ``max_iter`` is too small.

    Notes
    -----
    Newton's step solves ``(X̃ᵀDX̃ + Λ)d = X̃ᵀ(y − p) − Λβ``. Multinomial fits maximise
    over K − 1 contrasts: reference cells for infinite C, orthonormal ones for finite
    C, which gives scikit-learn's symmetric solution without its flat direction.

    References
    ----------
    Albert & Anderson (1984), https://doi.org/10.1093/biomet/71.1.1 (separation);
    McCullagh & Nelder (1989), https://doi.org/10.1007/978-1-4899-3242-6

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import IRLSLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IRLSLogisticRegression().fit(X[50:, :2], y[50:])
    >>> round(model.log_likelihood_, 2), model.n_iter_
    (-55.16, 5)
    """

    def __init__(
        self,
        *,
        C=np.inf,
        fit_intercept=True,
        tol=1e-8,
        max_iter=50,
        max_halvings=30,
        class_weight=None,
        reference=None,
        warm_start=False,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_halvings = max_halvings
        self.class_weight = class_weight
        self.reference = reference
        self.warm_start = warm_start

    def fit(self, X, y, sample_weight=None):
        """Fit by Newton's method.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Frequency weights: 2 means the row twice, 0 the row gone. With infinite C
            the coefficients depend on their ratios only; standard errors and all that
            follows from the likelihood read them as counts. With finite C, a times
            the weights is a times C.

        Returns
        -------
        IRLSLogisticRegression
        """
        self._check_parameters()
        start = self._last_solution()
        X, y = self._check_rows(X, y)
        check_finite_features(X)
        self.classes_, codes = check_classes(y)
        weight = check_class_weight(sample_weight, codes, self.classes_)
        weight = self._with_class_weight(weight, codes)
        if start is not None and start.shape != self._shape_of_start(X):
            start = None
        reference = self._reference_code()
        self.result_ = irls(
            X,
            codes,
            len(self.classes_),
            sample_weight=weight,
            C=self.C,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            max_halvings=self.max_halvings,
            reference=reference,
            init=start,
        )
        self.reference_ = self.classes_[reference]
        self.n_observations_ = float(len(y) if weight is None else weight.sum())
        self._publish()
        self._warn()
        return self

    def _check_parameters(self):
        check_number("C", self.C, 0, open_low=True)
        check_number("tol", self.tol, 0, open_low=True)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_number("max_halvings", self.max_halvings, 0, integer=True)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)
        if isinstance(self.class_weight, dict):
            for label, factor in self.class_weight.items():
                check_number(
                    f"class_weight of {label!r}", factor, 0, high=np.finfo(float).max
                )
        if not (
            self.class_weight is None
            or isinstance(self.class_weight, dict)
            or (isinstance(self.class_weight, str) and self.class_weight == "balanced")
        ):
            raise ValueError(
                "class_weight must be None, 'balanced' or a dict, got "
                f"{self.class_weight!r}"
            )

    def _last_solution(self):
        """Coefficient rows with their intercepts, for a warm start."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        if not self.fit_intercept:
            return self.coef_
        return np.column_stack([self.coef_, self.intercept_])

    def _shape_of_start(self, X):
        K = len(self.classes_)
        return (1 if K == 2 else K, X.shape[1] + bool(self.fit_intercept))

    def _with_class_weight(self, weight, codes):
        if self.class_weight is None:
            return weight
        labels = self.classes_.tolist()
        if isinstance(self.class_weight, dict):
            unknown = set(self.class_weight) - set(labels)
            if unknown:
                raise ValueError(
                    f"class_weight must name labels of {labels}, got {unknown.pop()!r}"
                )
            factors = np.array([self.class_weight.get(k, 1.0) for k in labels], float)
        else:
            relative = None if weight is None else weight / weight.max()
            total = np.bincount(codes, relative, minlength=len(labels))
            with np.errstate(over="ignore", divide="ignore"):
                factors = total.sum() / (len(labels) * total)
        with np.errstate(over="ignore"):
            product = factors[codes] * (1.0 if weight is None else weight)
        if not np.isfinite(product).all():
            raise ValueError(
                "class_weight times sample_weight must be finite, got "
                f"{self.class_weight!r} with weights up to {weight.max():.3g}"
            )
        return check_class_weight(product, codes, self.classes_)

    def _penalised_fit(self, Z, positive, sample_weight):
        """Training objective, for leave-pair-out without refits."""
        weight = self._with_class_weight(sample_weight, positive.astype(int))
        weight = np.ones(len(positive)) if weight is None else weight
        w, b = self.coef_[0].astype(float), float(self.intercept_[0])
        scaling = np.inf if self.fit_intercept else 0.0
        fit = PenalisedFit("logistic", 1 / self.C, weight, w, b, scaling)
        return with_optimum(fit, Z, positive)

    def _reference_code(self):
        if self.reference is None:
            return 0
        labels = self.classes_.tolist()
        if np.ndim(self.reference) > 0 or self.reference not in labels:
            raise ValueError(
                f"reference must be one of the labels {labels}, got {self.reference!r}"
            )
        code = labels.index(self.reference)
        if len(labels) == 2 and code != 0:
            raise ValueError(
                f"reference must be classes_[0] = {labels[0]!r} for two classes, got "
                f"{self.reference!r}"
            )
        return code

    def _publish(self):
        result, K = self.result_, len(self.classes_)
        self.coef_, self.intercept_ = result.coef, result.intercept
        self.log_likelihood_ = result.log_likelihood
        self.deviance_ = -2 * result.log_likelihood
        self.n_iter_, self.n_halvings_ = result.n_iter, result.n_halvings
        self.converged_, self.separation_ = result.converged, result.separation
        self.rank_ = result.rank
        self.n_parameters_ = result.rank * (K - 1)

    def _warn(self):
        full = self.n_features_in_ + bool(self.fit_intercept)
        if self.separation_ is not None:
            text = (
                f"The classes show {self.separation_} separation: the maximum-"
                "likelihood estimate does not exist and the coefficients were stopped "
                "on their way to infinity; set a finite C (such as C=1.0)"
            )
        elif not self.converged_:
            text = (
                f"Newton's method did not converge in max_iter={self.max_iter} steps "
                f"with max_halvings={self.max_halvings}; raise them or tol={self.tol}"
            )
        elif np.isinf(self.C) and self.rank_ < full:
            text = (
                f"The features are linearly dependent (rank {self.rank_} of {full}): "
                "of all maximum-likelihood estimates the one of least norm is taken; "
                "drop columns or set a finite C"
            )
        else:
            return
        warnings.warn(text, ConvergenceWarning, stacklevel=3)

    # Inference ------------------------------------------------------------------------

    @property
    def covariance_(self):
        """Covariance of the estimates: inverse Fisher information.

        Shape (M(P + 1), M(P + 1)) with M = K − 1: for each class but the reference
        the intercept (if fitted) and then the features. Singular if the features are
        linearly dependent. Not built for P > n; ``standard_errors_`` is.
        """
        self._check_inference("covariance_")
        if self.result_.covariance is None:
            raise AttributeError(
                "covariance_ is not built for more features than rows of positive "
                "weight; standard_errors_ and summary() are, got "
                f"{self.n_features_in_} features"
            )
        return self.result_.covariance

    @property
    def standard_errors_(self):
        """Roots of the diagonal of ``covariance_``, of shape (M, P + 1).

        A row for each class but the reference, the intercept (if fitted) first.
        """
        self._check_inference("standard_errors_")
        return self.result_.standard_errors

    @property
    def aic_(self):
        """Akaike's criterion ``−2ℓ + 2k``."""
        self._check_inference("aic_")
        return self.deviance_ + 2 * self.n_parameters_

    @property
    def bic_(self):
        """Schwarz's criterion ``−2ℓ + k log n``, n being the sum of the weights."""
        self._check_inference("bic_")
        return self.deviance_ + self.n_parameters_ * np.log(self.n_observations_)

    def summary(self, confidence_level=0.95) -> CoefficientTable:
        """Coefficients with standard errors, Wald z, p-values and intervals.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        CoefficientTable
            Prints as a table; ``to_frame()`` makes a DataFrame of it.

        Raises
        ------
        ValueError
            If C is finite (the estimates are biased towards 0 and the inverse
            information is not their covariance) or the classes are separated.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skauc import IRLSLogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> print(IRLSLogisticRegression().fit(X[50:, :1], y[50:]).summary())
                     coefficient  standard error      z  p-value  [0.025  0.975]
        (Intercept)       -12.57           2.907  -4.32  1.5e-05  -18.27  -6.873
        x0                 2.013          0.4654   4.32  1.5e-05   1.101   2.925
        """
        check_level("confidence_level", confidence_level)
        try:
            error = self.standard_errors_
        except AttributeError as refusal:
            check_is_fitted(self)
            raise ValueError(
                str(refusal).replace("standard_errors_", "summary")
            ) from None
        chosen = self.classes_ != self.reference_
        coef = self.coef_ if len(self.classes_) == 2 else self.coef_[chosen]
        intercept = np.broadcast_to(self.intercept_, len(self.classes_))[chosen]
        names = list(getattr(self, "feature_names_in_", []))
        names = names or [f"x{j}" for j in range(self.n_features_in_)]
        if self.fit_intercept:
            coef, names = np.column_stack([intercept, coef]), ["(Intercept)", *names]
        groups = [None]
        if len(self.classes_) > 2:
            groups = self.classes_[chosen].tolist()
        return CoefficientTable.of_wald(coef, error, names, groups, confidence_level)

    def likelihood_ratio_test(self, reduced) -> LikelihoodRatio:
        """Test whether a model nested in this one fits as well.

        Parameters
        ----------
        reduced : IRLSLogisticRegression
            Fitted to the same rows with fewer features; not checked beyond their
            number, the classes and the likelihoods.

        Returns
        -------
        LikelihoodRatio
            Named tuple ``(statistic, df, pvalue)``; statistic ``2(ℓ − ℓ_reduced)``.

        Raises
        ------
        ValueError
            If a fit is penalised or separated, or the two cannot be nested.

        References
        ----------
        Wilks (1938), https://doi.org/10.1214/aoms/1177732360
        """
        for model in (self, reduced):
            try:
                model._check_inference("likelihood_ratio_test")
            except AttributeError as refusal:
                check_is_fitted(model)
                raise ValueError(str(refusal)) from None
        df = self.n_parameters_ - reduced.n_parameters_
        same = self.n_observations_ == reduced.n_observations_
        if df <= 0 or not same or not np.array_equal(self.classes_, reduced.classes_):
            raise ValueError(
                "reduced must be fitted to the same rows with fewer parameters than "
                f"{self.n_parameters_}, got {reduced.n_parameters_} parameters and "
                f"{reduced.n_observations_:g} rows"
            )
        statistic = 2 * (self.log_likelihood_ - reduced.log_likelihood_)
        if statistic < -1e-6 * abs(self.log_likelihood_):
            raise ValueError(
                "reduced must be nested in this model, got a log-likelihood that is "
                f"larger by {-statistic / 2:.4g}"
            )
        statistic = max(statistic, 0.0)
        return LikelihoodRatio(statistic, df, float(chdtrc(df, statistic)))

    def _check_inference(self, name):
        """Refuse inference where the inverse information is not the covariance."""
        check_is_fitted(self, "result_")
        if np.isfinite(self.C):
            raise AttributeError(
                f"{name} is defined for maximum likelihood (C=inf), whose inverse "
                f"information is the covariance of the estimates, got C={self.C}"
            )
        if self.separation_ is not None:
            raise AttributeError(
                f"{name} is not defined where the estimate does not exist, got "
                f"{self.separation_} separation"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
