"""Inference of a fitted logistic model: errors, tests, criteria."""

import numpy as np
from scipy.special import chdtrc, expit, ndtri
from sklearn.utils.validation import validate_data

from ..statistics._checks import check_level, check_option, refuse_ignored
from ._fitted import COVARIANCES, SAME, LogisticFit
from ._report import (
    CoefficientTable,
    LikelihoodRatio,
    WaldTest,
    check_contrast,
    is_estimable,
)

_METHODS = ("wald", "profile")
# Maximum likelihood only, as a property
_CRITERION = {"firth": False, "weighted": False, "error": AttributeError}


class LogisticInference(LogisticFit):
    """Inference of a fitted logistic model."""

    @property
    def covariance_(self):
        """Covariance of the estimates, the inverse Fisher information.

        The shape is (M(P + 1), M(P + 1)) with M = K − 1: for each class except the
        reference the intercept (if fitted) and then the features. It is singular if the
        features are linearly dependent. With ``class_weight`` it is the sandwich
        covariance, because weights of classes are not counts of rows. For
        ``penalty="firth"`` the information includes the h/2 rows of either class that
        the penalty adds, as in R's logistf.
        """
        self._require("covariance_", error=AttributeError)
        return self.result_.covariance

    @property
    def standard_errors_(self):
        """Standard errors of the estimates, of shape (M, P + 1).

        One row for each class except the reference, with the intercept (if fitted)
        first.
        """
        self._require("standard_errors_", error=AttributeError)
        return self._report().errors.reshape(len(self.classes_) - 1, -1)

    @property
    def aic_(self):
        """Akaike's criterion ``−2ℓ + 2k``."""
        self._require("aic_", **_CRITERION)
        return self.deviance_ + 2 * self.n_parameters_

    @property
    def bic_(self):
        """Schwarz's criterion ``−2ℓ + k log n``, n being the sum of the weights."""
        self._require("bic_", **_CRITERION)
        return self.deviance_ + self.n_parameters_ * np.log(self.n_observations_)

    def summary(
        self,
        confidence_level=0.95,
        *,
        covariance=None,
        method="wald",
        X=None,
        y=None,
        groups=None,
        sample_weight=None,
        offset=None,
        names=None,
    ) -> CoefficientTable:
        """Table of coefficients with standard errors, z, p-values and intervals.

        Wald intervals need no further computation. Profile intervals cost about 15 fits
        per coefficient, a robust covariance one pass over X.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        covariance : {"model", "HC0", "HC1", "cluster"}, default=None
            ``"model"``: the inverse information. ``"HC0"``: the sandwich
            ``H⁻¹(Σ w² s sᵀ)H⁻¹`` of the scores s, where the weights w include the
            factors of the classes; it is valid even if the model is wrong. ``"HC1"``:
            the same times n/(n − k). ``"cluster"``: the sandwich of the sums of ``w s``
            over clusters, times ``G/(G − 1) · (n − 1)/(n − k)``, as in statsmodels. n
            is the number of rows of positive weight, k is ``n_parameters_`` and G the
            number of clusters among these rows. A row is one observation, whatever its
            weight: these errors are those of sampling weights on any scale. Repeat rows
            that a count stands for. None takes ``"model"``, or ``"HC0"`` with
            ``class_weight``, whose weights are not counts of rows.
        method : {"wald", "profile"}, default="wald"
            ``"profile"``: an interval contains all values that a likelihood-ratio test
            does not reject, p-values are those of this test, and z is its signed root.
            With ``penalty="firth"`` the penalised likelihood is used.
        X, y, sample_weight, offset : default=None
            Data of the fit, needed for profiles and for a robust covariance other than
            the default.
        groups : array-like of shape (n,), default=None
            Cluster of each row, for ``covariance="cluster"``.
        names : sequence of str of length n_features, or a fitted transformer
            Names of the features. For a transformer, such as ``pipeline[:-1]``, they
            are those of its ``get_feature_names_out()``. None takes
            ``feature_names_in_`` if it exists, and x0, x1, … otherwise.

        Returns
        -------
        CoefficientTable
            A table to print, which names the odds; methods ``odds_ratios()`` and
            ``to_frame()``.

        Raises
        ------
        ValueError
            If C is finite (the estimates are biased towards 0 and the inverse
            information is not their covariance), if the classes are separated or there
            are more features than rows; if X and y are not those of the fit; for a
            profile or ``penalty="firth"`` with ``class_weight``.

        Notes
        -----
        If features are linearly dependent, many coefficients have the same likelihood.
        A coefficient on which they differ is not estimable: its row is NaN, as R prints
        NA, whatever the units of the features. Contrasts on which they agree are
        estimable, and :meth:`wald_test` takes them.

        Coverage at 95 % by simulation (``benchmarks/coverage/logistic.py``): with 30
        rows and three features Wald intervals cover .97 to .98, profile intervals .91,
        and both .95 with ``penalty="firth"``; from 200 rows on all cover .94 to .95.
        Intervals with clusters use the normal distribution; they cover .87 with 10
        clusters, .93 with 20, and .94 from 50 on. If the clusters of 10 rows are
        ignored, the interval for a feature that is constant within them covers .76.
        With ``class_weight``, 6 % positives and 400 rows, ``"HC0"`` covers .91 to .95.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skauc import IRLSLogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = IRLSLogisticRegression().fit(X[50:, :1], y[50:])
        >>> model.summary()
        log odds of 2 against 1
                     coefficient  standard error       z    p-value  [0.025  0.975]
        (Intercept)       -12.57           2.907  -4.325  1.529e-05  -18.27  -6.873
        x0                 2.013          0.4654   4.325  1.527e-05   1.101   2.925
        >>> model.summary(method="profile", X=X[50:, :1], y=y[50:]).odds_ratios()
        odds of 2 against 1
                     odds ratio    p-value     [0.025     0.975]
        (Intercept)   3.472e-06  1.335e-07  6.677e-09  0.0006491
        x0                7.485  1.162e-07      3.243      20.39
        """
        check_level("confidence_level", confidence_level)
        check_option("method", method, _METHODS)
        rows = {"X": X, "y": y, "sample_weight": sample_weight, "offset": offset}
        self._require("summary", counts=method == "profile")
        if method == "wald":
            V = self._chosen_covariance(covariance, groups, rows)
            return self._report(*V, names=names).table(confidence_level, method)
        if covariance not in (None, "model"):
            check_option("covariance", covariance, COVARIANCES)
            raise ValueError(
                f"covariance must be 'model' with method='profile', got {covariance!r}"
            )
        self._require("method='profile'", weighted=False)
        likelihood = self._opened(**rows)
        report = self._report(likelihood=likelihood, names=names)
        return report.table(confidence_level, method)

    def confidence_interval(self, confidence_level=0.95, **options):
        """Confidence limits for all coefficients, as in :meth:`summary`.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        **options
            Options of :meth:`summary`: method, covariance, X, y, groups, sample_weight
            and offset.

        Returns
        -------
        low, high : ndarray of shape (M(P + 1),)
            Limits in the order of the rows of the summary, the intercept first.

        Raises
        ------
        ValueError
            As :meth:`summary`.
        """
        table = self.summary(confidence_level, **options)
        return table.low, table.high

    def wald_test(
        self,
        contrast,
        value=0.0,
        *,
        covariance=None,
        groups=None,
        **rows,
    ) -> WaldTest:
        """Test whether linear combinations of the coefficients have given values.

        Parameters
        ----------
        contrast : array-like of shape (q, M(P + 1)) or (M(P + 1),)
            The matrix L: each row is a combination of the rows of the summary, the
            intercept first.
        value : float or array-like of shape (q,), default=0.0
            Value of Lθ under the null hypothesis.
        covariance, groups
            As for :meth:`summary`.
        **rows
            X, y, sample_weight and offset of the fit, needed for a robust covariance.

        Returns
        -------
        WaldTest
            Named tuple ``(statistic, df, pvalue, estimate, standard_error)``; the
            statistic is ``(Lθ − value)ᵀ(L V Lᵀ)⁻¹(Lθ − value)``, χ² with q degrees of
            freedom.

        Raises
        ------
        ValueError
            As :meth:`summary`; also if the rows of the contrast are linearly dependent
            or one is not estimable (see Notes there), or if there are not more clusters
            than rows of the contrast.

        References
        ----------
        Wald (1943), https://doi.org/10.1090/S0002-9947-1943-0012401-3
        """
        self._require("wald_test", counts=False)
        rank = len(check_contrast(contrast))
        V = self._chosen_covariance(covariance, groups, rows, rank)
        return self._report(*V).wald_test(contrast, value)

    def predict_interval(self, X, confidence_level=0.95, *, offset=None):
        """Confidence limits for the probability of ``classes_[1]`` of each row.

        Answers: how precisely does the model know the *probability* of each row? They
        are not limits for the label. ``expit(η ± z √(x̃ᵀVx̃))``, where η is the
        decision of the row, z the normal quantile of the level, x̃ the row with a 1 for
        the intercept, and V is ``covariance_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        confidence_level : float in (0, 1), default=0.95
        offset : array-like of shape (n,), default=None

        Returns
        -------
        low, high : ndarray of shape (n,)
            NaN for a row that breaks a linear dependence of the features of the fit:
            its logit is not estimable.

        Raises
        ------
        ValueError
            For more than two classes, finite C or separated classes.
        """
        check_level("confidence_level", confidence_level)
        self._require("predict_interval")
        if len(self.classes_) > 2:
            raise ValueError(
                "predict_interval is for two classes, got classes_ "
                f"{self.classes_.tolist()}"
            )
        centre = self.decision_function(X, offset)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        # √(x̃ᵀVx̃) = ‖rootᵀx̃‖ with root rootᵀ = V, in units of the errors
        error = self.standard_errors_[0]
        unit = np.where(error > 0, error, 1.0)
        values, vectors = np.linalg.eigh(self.covariance_ / unit / unit[:, None])
        root = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
        parts = np.asarray(X @ root[-self.n_features_in_ :])
        if self.fit_intercept:
            parts = parts + root[0]
        half = -ndtri((1 - confidence_level) / 2) * np.linalg.norm(parts, axis=1)
        null = self.result_.null
        intercept = null[0] if self.fit_intercept else 0.0
        known = is_estimable(X, null[-self.n_features_in_ :], intercept)
        half = np.where(known, half, np.nan)
        return expit(centre - half), expit(centre + half)

    def likelihood_ratio_test(
        self,
        reduced=None,
        *,
        contrast=None,
        value=0.0,
        **rows,
    ) -> LikelihoodRatio:
        """Likelihood-ratio test of a model that is nested in this one.

        Parameters
        ----------
        reduced : IRLSLogisticRegression, default=None
            Maximum-likelihood fit to the same rows with fewer features. Only the number
            of features, the classes and the likelihoods are checked.
        contrast, value : default=None, 0.0
            In place of ``reduced``: the hypothesis ``L θ = value``, as for
            :meth:`wald_test`. With ``penalty="firth"`` the *penalised* likelihoods are
            compared, both with the determinant of all features, as in R's logistftest.
        **rows
            X, y, sample_weight and offset of the fit, needed with ``contrast``.

        Returns
        -------
        LikelihoodRatio
            Named tuple ``(statistic, df, pvalue)``; the statistic is
            ``2(ℓ − ℓ_reduced)``.

        Raises
        ------
        ValueError
            If a fit is penalised or its classes are separated, or if the models cannot
            be nested.

        References
        ----------
        Wilks (1938), https://doi.org/10.1214/aoms/1177732360; Heinze & Schemper (2002),
        https://doi.org/10.1002/sim.1047
        """
        if (reduced is None) == (contrast is None):
            raise ValueError(
                "likelihood_ratio_test needs either reduced or contrast, got "
                f"{'none' if reduced is None else 'both'}"
            )
        if contrast is not None:
            self._require("likelihood_ratio_test", weighted=False)
            likelihood = self._opened(**rows)
            return self._report(likelihood=likelihood).likelihood_ratio(contrast, value)
        for model in (self, reduced):
            model._require("likelihood_ratio_test", firth=False, weighted=False)
        refuse_ignored("without contrast", value=(value, 0.0))
        df = self.n_parameters_ - reduced.n_parameters_
        same = self.n_observations_ == reduced.n_observations_
        if df <= 0 or not same or not np.array_equal(self.classes_, reduced.classes_):
            raise ValueError(
                "reduced must be fitted to the same rows with fewer parameters than "
                f"{self.n_parameters_}, got {reduced.n_parameters_} parameters and "
                f"{reduced.n_observations_:g} rows"
            )
        statistic = 2 * (self.log_likelihood_ - reduced.log_likelihood_)
        if statistic < -SAME * abs(self.log_likelihood_):
            raise ValueError(
                "reduced must be nested in this model, got a log-likelihood that is "
                f"larger by {-statistic / 2:.4g}"
            )
        statistic = max(statistic, 0.0)
        return LikelihoodRatio(statistic, df, float(chdtrc(df, statistic)))
