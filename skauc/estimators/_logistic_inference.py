"""What may be inferred from a maximum-likelihood fit: errors, tests, criteria."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, expit, ndtri
from sklearn.utils.validation import validate_data

from .._validation import check_level, check_option
from ._coefficient_table import CoefficientTable
from ._logistic_fit import COVARIANCES, LogisticFit, check_total

_METHODS = ("wald", "profile")


class LikelihoodRatio(NamedTuple):
    """Likelihood-ratio test of two nested fits."""

    statistic: float
    df: int
    pvalue: float


class WaldTest(NamedTuple):
    """Wald test of contrasts ``Lθ = value``, with the contrasts and their errors."""

    statistic: float
    df: int
    pvalue: float
    estimate: np.ndarray
    standard_error: np.ndarray


class LogisticInference(LogisticFit):
    """Inference of a fitted logistic model."""

    @property
    def covariance_(self):
        """Covariance of the estimates: inverse Fisher information.

        Shape (M(P + 1), M(P + 1)) with M = K − 1: for each class but the reference
        the intercept (if fitted) and then the features. Singular if the features are
        linearly dependent. For ``penalty="firth"`` that of the rows together with the
        h/2 rows of either class that the penalty adds, as logistf's. Not built for
        P > n; ``standard_errors_`` is.
        """
        self._check_inference("covariance_", firth=True)
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
        self._check_inference("standard_errors_", firth=True)
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

    def summary(
        self,
        confidence_level=0.95,
        *,
        covariance="model",
        method="wald",
        X=None,
        y=None,
        groups=None,
        sample_weight=None,
        offset=None,
    ) -> CoefficientTable:
        """Coefficients with standard errors, z, p-values and intervals.

        Wald's are free; a profile costs some 15 fits a coefficient, a robust covariance
        one pass over X.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        covariance : {"model", "HC0", "HC1", "cluster"}, default="model"
            ``"model"``: the inverse information. ``"HC0"``: the sandwich
            ``H⁻¹(Σ w s sᵀ)H⁻¹`` of the scores s, right where the model is not.
            ``"HC1"``: that times n/(n − k). ``"cluster"``: sums of ``w s`` over
            clusters, times ``G/(G − 1) · (n − 1)/(n − k)``, as statsmodels. n is the
            sum of the weights, k ``n_parameters_``, G the number of clusters that
            have weight.
        method : {"wald", "profile"}, default="wald"
            ``"profile"``: intervals are all values that a likelihood-ratio test keeps,
            p-values are that test's, and z is its signed root. With
            ``penalty="firth"`` the likelihood is the penalised one.
        X, y, sample_weight, offset : default=None
            Of the fit; for a robust covariance and for profiles.
        groups : array-like of shape (n,), default=None
            Clusters, for ``covariance="cluster"``.

        Returns
        -------
        CoefficientTable
            Prints as a table; ``odds_ratios()``, ``to_frame()``.

        Raises
        ------
        ValueError
            If C is finite (the estimates are biased towards 0 and the inverse
            information is not their covariance) or the classes are separated; if X
            and y are not those of the fit.

        Notes
        -----
        Coverage at 95 % by simulation (``benchmarks/coverage_logistic.py``): with 30
        rows and three features .97 to .98 by Wald and .91 by profiles, .95 by both with
        ``penalty="firth"``; from 200 rows on .94 to .95. Clusters are taken by the
        normal distribution: with 10 of them .87, with 20 .93, from 50 on .94; of a
        feature that is constant in clusters of 10 rows, .76 where they are forgotten.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skauc import IRLSLogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = IRLSLogisticRegression().fit(X[50:, :1], y[50:])
        >>> print(model.summary())
                     coefficient  standard error      z  p-value  [0.025  0.975]
        (Intercept)       -12.57           2.907  -4.32  1.5e-05  -18.27  -6.873
        x0                 2.013          0.4654   4.32  1.5e-05   1.101   2.925
        >>> print(model.summary(method="profile", X=X[50:, :1], y=y[50:]).odds_ratios())
                     odds ratio  p-value     [0.025     0.975]
        (Intercept)   3.472e-06  1.3e-07  6.677e-09  0.0006491
        x0                7.485  1.2e-07      3.243      20.39
        """
        check_level("confidence_level", confidence_level)
        check_option("method", method, _METHODS)
        rows = X, y, sample_weight, offset
        coef, names, labels = self._rows_of_table("summary")
        if method == "wald":
            _, errors = self._covariance(covariance, groups, rows)
            return CoefficientTable.of_wald(
                coef, errors, names, labels, confidence_level, covariance
            )
        if check_option("covariance", covariance, COVARIANCES) != "model":
            raise ValueError(
                f"covariance must be 'model' with method='profile', got {covariance!r}"
            )
        check_total(self.n_observations_, "method='profile'")
        errors = self.standard_errors_.ravel()
        fitted, identity = self._opened(rows), np.eye(coef.size)
        self._check_independent("method='profile'")
        # χ²₁ = z²: the likelihood-ratio test keeps what has |r| ≤ Φ⁻¹ of the tail.
        quantile = -ndtri((1 - confidence_level) / 2)
        limits = np.array([fitted.limits(row, quantile) for row in identity])
        # 2{ℓ(θ̂) − max ℓ(θ : θ_j = 0)}, for the p-values
        falls = [
            fitted.fall(row[None], -gap[None])
            for row, gap in zip(identity, coef.ravel(), strict=True)
        ]
        return CoefficientTable.of_profile(
            coef, errors, np.sqrt(falls), limits, names, labels, confidence_level
        )

    def confidence_interval(
        self,
        confidence_level=0.95,
        *,
        method="wald",
        covariance="model",
        X=None,
        y=None,
        groups=None,
        sample_weight=None,
        offset=None,
    ):
        """Limits of all coefficients, as :meth:`summary` has them.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        method, covariance, X, y, groups, sample_weight, offset
            As for :meth:`summary`.

        Returns
        -------
        low, high : ndarray of shape (M(P + 1),)
            In the order of the summary's rows, the intercept first.

        Raises
        ------
        ValueError
            As :meth:`summary`.
        """
        table = self.summary(
            confidence_level,
            covariance=covariance,
            method=method,
            X=X,
            y=y,
            groups=groups,
            sample_weight=sample_weight,
            offset=offset,
        )
        return table.low, table.high

    def wald_test(
        self,
        contrast,
        value=0.0,
        *,
        covariance="model",
        X=None,
        y=None,
        groups=None,
        sample_weight=None,
        offset=None,
    ) -> WaldTest:
        """Test whether linear combinations of the coefficients have given values.

        Parameters
        ----------
        contrast : array-like of shape (q, M(P + 1)) or (M(P + 1),)
            L: rows are combinations of the summary's rows, the intercept first.
        value : float or array-like of shape (q,), default=0.0
            What Lθ is under the hypothesis.
        covariance, X, y, groups, sample_weight, offset
            As for :meth:`summary`.

        Returns
        -------
        WaldTest
            Named tuple ``(statistic, df, pvalue, estimate, standard_error)``;
            statistic ``(Lθ − value)ᵀ(L V Lᵀ)⁻¹(Lθ − value)``, χ² with q degrees.

        Raises
        ------
        ValueError
            As :meth:`summary`, or if the rows of the contrast or the features are
            linearly dependent, or clusters are no more than rows of the contrast.

        References
        ----------
        Wald (1943), https://doi.org/10.1090/S0002-9947-1943-0012401-3
        """
        coef, _, _ = self._rows_of_table("wald_test")
        L, gap = self._check_contrast(contrast, value, coef.ravel())
        rows = X, y, sample_weight, offset
        V, _ = self._covariance(covariance, groups, rows, rank=len(L))
        # In units of the coefficients' errors, in which no square over- or underflows.
        error = np.sqrt(np.diag(V))
        scaled = L * error
        # LVLᵀ = (L∘e)(V/eeᵀ)(L∘e)ᵀ, e the errors
        S = scaled @ (V / error / error[:, None]) @ scaled.T
        size = np.sqrt(np.diag(S))
        if not (size > 0).all() or not np.isfinite(size).all():
            raise ValueError(
                "contrast must have a variance that is a positive number, got a "
                f"standard error of {size.min():.3g}"
            )
        # (Lθ − value)ᵀ(LVLᵀ)⁻¹(Lθ − value), in units of the contrasts' errors
        z = gap / size
        statistic = max(float(z @ np.linalg.solve(S / size / size[:, None], z)), 0.0)
        df = len(L)
        pvalue = float(chdtrc(df, statistic))
        return WaldTest(statistic, df, pvalue, L @ coef.ravel(), size)

    def predict_interval(self, X, confidence_level=0.95, *, offset=None):
        """Confidence limits of the probability of ``classes_[1]``, row by row.

        Answers how well the model knows each row's *probability*, not what its label
        will be: ``expit(η ± z √(x̃ᵀVx̃))``, η the row's decision, z the normal quantile
        of the level, x̃ the row with a 1 for the intercept and V ``covariance_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        confidence_level : float in (0, 1), default=0.95
        offset : array-like of shape (n,), default=None

        Returns
        -------
        low, high : ndarray of shape (n,)

        Raises
        ------
        ValueError
            For more than two classes, finite C or separated classes.
        """
        check_level("confidence_level", confidence_level)
        self._require("predict_interval", firth=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "predict_interval is for two classes, got classes_ "
                f"{self.classes_.tolist()}"
            )
        try:
            V = self.covariance_
        except AttributeError as refusal:
            raise ValueError(f"predict_interval needs covariance_: {refusal}") from None
        center = self.decision_function(X, offset)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        # √(x̃ᵀVx̃) = ‖rootᵀx̃‖ with root rootᵀ = V, in units of the errors
        error = np.sqrt(np.maximum(np.diag(V), 0))
        unit = np.where(error > 0, error, 1.0)
        values, vectors = np.linalg.eigh(V / unit / unit[:, None])
        root = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
        with np.errstate(over="ignore", invalid="ignore"):
            parts = np.asarray(X @ root[-self.n_features_in_ :])
            if self.fit_intercept:
                parts = parts + root[0]
            # ‖v‖ = max|v| ‖v/max|v|‖, whose squares neither overflow nor vanish
            largest = np.abs(parts).max(axis=1, keepdims=True, initial=0.0)
            largest[largest == 0] = 1.0
            spread = largest[:, 0] * np.linalg.norm(parts / largest, axis=1)
        if not np.isfinite(spread).all():
            raise ValueError(
                "X must have rows whose linear predictor has a finite error, got "
                f"{spread[~np.isfinite(spread)][0]}"
            )
        half = -ndtri((1 - confidence_level) / 2) * spread
        return expit(center - half), expit(center + half)

    def likelihood_ratio_test(
        self,
        reduced=None,
        *,
        contrast=None,
        value=0.0,
        X=None,
        y=None,
        sample_weight=None,
        offset=None,
    ) -> LikelihoodRatio:
        """Test whether a model nested in this one fits as well.

        Parameters
        ----------
        reduced : IRLSLogisticRegression, default=None
            Fitted to the same rows with fewer features; not checked beyond their
            number, the classes and the likelihoods. Maximum likelihood only.
        contrast, value : default=None, 0.0
            Instead of ``reduced``: the hypothesis ``L θ = value``, as for
            :meth:`wald_test`. With ``penalty="firth"`` the *penalised* likelihoods are
            compared, the determinant being that of all features (as logistftest).
        X, y, sample_weight, offset : default=None
            Of the fit; with ``contrast``.

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
        Wilks (1938), https://doi.org/10.1214/aoms/1177732360; Heinze & Schemper (2002),
        https://doi.org/10.1002/sim.1047
        """
        if (reduced is None) == (contrast is None):
            raise ValueError(
                "likelihood_ratio_test must get one of reduced and contrast, got "
                f"{'none' if reduced is None else 'both'}"
            )
        if contrast is not None:
            coef, _, _ = self._rows_of_table("likelihood_ratio_test")
            L, gap = self._check_contrast(contrast, value, coef.ravel())
            fall = self._opened((X, y, sample_weight, offset)).fall(L, -gap)
            return LikelihoodRatio(fall, len(L), float(chdtrc(len(L), fall)))
        for model in (self, reduced):
            model._require("likelihood_ratio_test")
        df = self.n_parameters_ - reduced.n_parameters_
        same = self.n_observations_ == reduced.n_observations_
        if df <= 0 or not same or not np.array_equal(self.classes_, reduced.classes_):
            raise ValueError(
                "reduced must be fitted to the same rows with fewer parameters than "
                f"{self.n_parameters_}, got {reduced.n_parameters_} parameters and "
                f"{reduced.n_observations_:g} rows"
            )
        statistic = 2 * (self.log_likelihood_ - reduced.log_likelihood_)
        # More than two likelihoods of the same float32 rows differ by (_logistic_fit).
        if statistic < -1e-6 * abs(self.log_likelihood_):
            raise ValueError(
                "reduced must be nested in this model, got a log-likelihood that is "
                f"larger by {-statistic / 2:.4g}"
            )
        statistic = max(statistic, 0.0)
        return LikelihoodRatio(statistic, df, float(chdtrc(df, statistic)))
