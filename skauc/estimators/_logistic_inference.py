"""What may be inferred from a maximum-likelihood fit: errors, tests, criteria."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc
from sklearn.utils.validation import check_is_fitted

from .._validation import check_level
from ._coefficient_table import CoefficientTable
from ._irls import IRLSResult


class LikelihoodRatio(NamedTuple):
    """Likelihood-ratio test of two nested fits."""

    statistic: float
    df: int
    pvalue: float


class LogisticInference:
    """Inference of a fitted logistic model, from its ``result_`` and likelihood."""

    C: float
    fit_intercept: bool
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    deviance_: float
    log_likelihood_: float
    n_features_in_: int
    n_observations_: float
    n_parameters_: int
    reference_: object
    result_: IRLSResult
    separation_: str | None

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
