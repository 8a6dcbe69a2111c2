"""Logistic regression by Newton's method, with the inference that belongs to it."""

from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..statistics._checks import check_flag, check_integer, check_interval, check_option
from ..statistics._row_blocks import row_blocks
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import Interval, WaldTable
from ..statistics._warn_caller import warn_caller
from ..statistics._weights import are_counts
from . import _checks as check
from ._base import LinearClassifier
from ._coefficient_tables import CoefficientTable, LikelihoodRatio, WaldTest
from ._logistic_inference import LogisticInference
from ._logistic_problem import LogisticProblem
from ._rows import open_rows, unchanged_by_errors

# Maximum likelihood only, as a property
_CRITERION = {"firth": False, "weighted": False, "error": AttributeError}
_PRIVATE = {"contrasts", "T", "covariance", "scaled", "null"}  # of a solution


class IRLSLogisticRegression(LinearClassifier):
    """Logistic regression by iteratively reweighted least squares (Newton's method).

    Answers: what are the class probabilities of a linear model, how precise are its
    coefficients, and does the estimate exist? Two classes give the binary model, more
    classes the multinomial model. Each iteration costs one pass over X, O(nP²K²/2), and
    the additional memory is one block of rows. For P > n it costs an SVD of the centred
    rows, O(n²P), and then as much as for ``P = n``; no P×P matrix is formed.

    Parameters
    ----------
    C : float, default=inf
        Inverse strength of the ridge penalty ``‖coef‖²/(2C)``; the intercept is not
        penalised. Infinite C gives maximum likelihood.
    penalty : {"l2", "firth"}, default="l2"
        ``"l2"``: a ridge penalty of strength 1/C, which is 0 for the default C.
        ``"firth"``: Jeffreys' prior, ``ℓ + ½ log det(information)``, which reduces the
        bias [3]_ and gives finite estimates even if the classes are separated [4]_. It
        is for two classes, infinite C and weights that are counts of rows. It needs
        fewer features than rows: with as many features as rows every training row gets
        the probability ¾ for its class, whatever the features are. With few rows, or
        separated classes, the penalised likelihood may have several maxima. Profiles
        [5]_ are sought from several starts, and a warning says where these disagree; in
        some small separated sets all of them miss the largest maximum.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    tol : float, default=1e-8
        Tolerance for the mean gradient (with standardised features) and for the last
        Newton step in standard errors; up to .01 also that of the result.
    max_iter : int, default=50
        Largest number of Newton steps.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, multiplied with ``sample_weight``. The products are not
        counts of rows, so standard errors come from the sandwich covariance, and
        results that need the likelihood (information criteria, profiles, likelihood
        ratios) raise an error.
    reference : label, default=None
        Class whose coefficients are 0 when K > 2 and C is infinite; None takes
        ``classes_[0]``. With two classes the reference is always ``classes_[0]``; with
        finite C and K > 2 the parametrisation is symmetric and has no reference.
    keep_rows : bool, default=None
        Whether the model keeps X, y, ``sample_weight`` and ``offset`` of the fit, so
        that profiles and robust errors need not be given them again. These are
        references to the caller's data, not copies (in a Pipeline, to the transformed
        rows, which stay in memory), but a pickled model contains them. None keeps them
        for ``penalty="firth"``, whose :meth:`summary` takes profiles.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the log odds; those of the reference class are 0.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; 0 without one.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    log_likelihood_ : float
        Log likelihood of the training rows, without the penalty.
    deviance_ : float
        ``−2 log_likelihood_``.
    n_iter_ : int
        Number of Newton steps.
    converged_ : bool
        Whether the last step was within ``tol``.
    separation_ : {None, "complete", "quasi-complete"}
        How the classes, or some pair of them, are separated, in which case the estimate
        does not exist [1]_: some coefficients are infinite. None if they are not
        separated. It is checked only without a penalty, by a linear program where the
        steps leave a doubt.
    has_offset_ : bool
        Whether the model was fitted with an offset.
    rank_ : int
        Rank of the features together with the intercept.
    reference_ : label
        Class without a row in ``summary()``, ``standard_errors_``, ``covariance_``.
    n_parameters_ : int
        Number of coefficients and intercepts that the rows determine.
    n_observations_ : float
        Sum of the weights, or the effective number of rows that relative weights are
        raised to.
    weights_are_counts_ : bool
        Whether the weights can be counts of rows. If not, whatever uses the inverse
        information or the likelihood issues a :class:`skauc.SampleWeightWarning`.
    training_rows_ : dict or None
        X, y, ``sample_weight`` and ``offset`` of the fit, if they are kept.
    covariance_, standard_errors_, aic_, bic_
        See the properties. They exist for unpenalised fits of classes that are not
        separated, with no more features than rows. The first two also exist for
        ``penalty="firth"``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X is a frame with names.

    Raises
    ------
    ValueError
        If a parameter, X, y or a weight is invalid.

    Warns
    -----
    ConvergenceWarning
        If the classes are separated (the estimate does not exist), if features are
        linearly dependent (the estimate is not unique; the one of smallest norm is
        used), or if ``max_iter`` is too small.

    See Also
    --------
    sklearn.linear_model.LogisticRegression : Other penalties, no standard errors.
    GaussianAUCClassifier : Trains for the AUC.
    calibration_estimate : Whether the probabilities are right, on held-out rows.
    auc_posterior : The AUC of the fitted model on new rows.

    Notes
    -----
    Newton's step [2]_ d from β solves ``(X̃ᵀDX̃ + Λ)d = X̃ᵀ(y − p) − Λβ``, where X̃
    holds the features and a column of ones, p the probabilities, D the diagonal matrix
    of ``p(1 − p)`` and Λ that of 1/C (0 for the intercept); weights multiply D and
    y − p. Multinomial fits maximise over K − 1 contrasts of the classes: differences
    from the reference for infinite C, orthonormal contrasts for finite C. The latter
    give scikit-learn's symmetric solution without its flat direction.

    **Sampling weights** (each row stands for a number of units of a population, but is
    one observation) are passed to ``fit`` as ``sample_weight``, on any scale; then ask
    for robust errors, with the rows once more: ``model.summary(covariance="HC1", X=X,
    y=y, sample_weight=w)``, or ``covariance="cluster", groups=…`` with the sampled
    clusters. These take each row for one observation whatever its weight, and do not
    depend on the scale of the weights.

    **In a Pipeline** the table of the last step is ``pipe[-1].summary()``. It has the
    names of the features if a transformer returns data frames
    (``pipe[:-1].set_output(transform="pandas")`` before the fit); otherwise pass
    ``feature_names=pipe[:-1]``. With ``IRLSLogisticRegression(keep_rows=True)`` the
    profiles and tests need no rows: these would be the transformed ones.

    References
    ----------
    .. [1] Albert & Anderson (1984), "On the existence of maximum likelihood estimates
       in logistic regression models", https://doi.org/10.1093/biomet/71.1.1
    .. [2] McCullagh & Nelder (1989), *Generalized Linear Models*,
       https://doi.org/10.1007/978-1-4899-3242-6
    .. [3] Firth (1993), "Bias reduction of maximum likelihood estimates",
       https://doi.org/10.1093/biomet/80.1.27
    .. [4] Heinze & Schemper (2002), "A solution to the problem of separation in
       logistic regression", https://doi.org/10.1002/sim.1047
    .. [5] Venzon & Moolgavkar (1988), "A method for computing profile-likelihood-based
       confidence intervals", https://doi.org/10.2307/2347496

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
        C: float = np.inf,
        penalty: str = "l2",
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_iter: int = 50,
        class_weight: dict | str | None = None,
        reference: object = None,
        keep_rows: bool | None = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.reference = reference
        self.keep_rows = keep_rows

    def fit(
        self,
        X: Any,
        y: Values = None,
        sample_weight: Values = None,
        offset: Values = None,
    ) -> Self:
        """Fit the model by Newton's method.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Also rows in blocks: a Dask array or data frame, or a
            :class:`skauc.RowBlocks` of X, y and weights (see Notes).
        y : array-like of shape (n,)
            Labels; None only if X is a RowBlocks, which holds them.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights: 2 counts a row twice, 0 omits it. With infinite C the
            coefficients depend only on the ratios of the weights, while standard errors
            and the likelihood treat them as counts (see
            :class:`skauc.SampleWeightWarning`); relative weights that add up to less
            than their effective number of rows are raised to it. With finite C,
            multiplying the weights by a has the same effect as multiplying C by a.
        offset : array-like of shape (n,), default=None
            Known term of the logit of ``classes_[1]``, for two classes. Predictions do
            not remember it: pass their own ``offset``. Not supported for rows in
            blocks.

        Returns
        -------
        IRLSLogisticRegression

        Notes
        -----
        Rows in blocks give the same result as rows in memory. The fit makes one pass
        over labels and weights, one pass at zero coefficients (two if the mean of a
        feature is large compared with its spread), and one pass for each trial point,
        about 8 in total and more if the classes are nearly separated. Labels and
        weights are gathered as arrays. Each pass sends them to the blocks, and gets
        back matrices of ``(M(P + 1))²`` numbers, with M one less than the number of
        classes, one per block or one per 16 blocks. Persist a collection
        that is expensive to compute. If there are fewer rows than features, the rows
        are gathered, because they are smaller than these matrices. If :meth:`summary`
        or a test needs the rows again, it accepts them in blocks as well, except for
        clusters.
        """
        self._check_parameters()
        given = {"X": X, "y": y, "sample_weight": sample_weight, "offset": offset}
        with unchanged_by_errors(self, X):
            rows = self._rows(**given)
            self.classes_ = rows.classes
            self.weights_are_counts_ = are_counts(rows.weight)
            problem = self._problem()
            solution = problem.maximise(rows, tol=self.tol, max_iter=self.max_iter)
        self.reference_ = self.classes_[problem.reference]
        self.has_offset_ = offset is not None
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        for name in vars(solution).keys() - _PRIVATE:
            setattr(self, f"{name}_", getattr(solution, name))
        self.deviance_ = -2 * solution.log_likelihood
        names = [f"x{j}" for j in range(self.n_features_in_)]
        self.inference_ = LogisticInference(
            problem=problem,
            solution=solution,
            feature_names=list(getattr(self, "feature_names_in_", names)),
            weights_are_counts=self.weights_are_counts_,
        )
        self.n_parameters_ = self.inference_.n_parameters
        keep = problem.is_firth if self.keep_rows is None else self.keep_rows
        self.training_rows_ = given if keep else None
        self._warn()
        return self

    def _check_parameters(self):
        """Check the parameters of the estimator."""
        check_interval("C", self.C, 0, closed="right")
        check_option("penalty", self.penalty, ("l2", "firth"))
        if self.penalty == "firth" and np.isfinite(self.C):
            raise ValueError(f"C must be inf with penalty='firth', got {self.C}")
        check_interval("tol", self.tol, 0, closed="right")
        check_integer("max_iter", self.max_iter, 1)
        check_flag("fit_intercept", self.fit_intercept)
        if self.keep_rows is not None:
            check_flag("keep_rows", self.keep_rows)
        check.class_weight(self.class_weight)

    def _warn(self):
        """Warn where the estimate does not exist or is not unique."""
        full = self.n_features_in_ + bool(self.fit_intercept)
        if self.separation_ is not None:
            text = (
                f"The classes show {self.separation_} separation: the maximum-"
                "likelihood estimate does not exist, because some coefficients are "
                "infinite, and the iterations stopped while they grew; set a finite C, "
                "for example C=1.0, or, for two classes, penalty='firth'"
            )
        elif not self.converged_:
            text = (
                f"Newton's method did not converge in max_iter={self.max_iter} steps; "
                f"raise it, or tol={self.tol}"
            )
        elif np.isinf(self.C) and self.rank_ < full:
            text = (
                f"The features are linearly dependent (rank {self.rank_} of {full}): "
                "many estimates have the largest likelihood, the one of smallest norm "
                "is used, and summary() is NaN where they differ; drop columns or set "
                "a finite C"
            )
        else:
            return
        warn_caller(text, ConvergenceWarning)

    def _problem(self):
        """The problem of the classes, by the parameters of the estimator."""
        labels = self.classes_.tolist()
        reference = labels[0] if self.reference is None else self.reference
        # two classes have the coefficients of the second
        allowed = labels[:1] if len(labels) == 2 else labels
        if np.ndim(reference) > 0 or reference not in allowed:
            raise ValueError(
                f"reference must be one of {allowed} (of two labels the first), got "
                f"{reference!r}"
            )
        return LogisticProblem(
            classes=self.classes_,
            C=self.C,
            penalty=self.penalty,
            fit_intercept=bool(self.fit_intercept),
            reference=labels.index(reference),
            class_weight=self.class_weight,
        )

    def _rows(self, X, y=None, sample_weight=None, offset=None, **known):
        """Check the rows of a fit, or rows that are passed again."""
        known |= {"offset": offset, "binary": self.penalty == "firth"}
        return open_rows(self, X, y, sample_weight, **known)

    def _again(self, rows, groups):
        """The rows of the fit, which are kept, or passed again."""
        rows = rows or self.training_rows_ or {}
        X, y = rows.get("X"), rows.get("y")
        if X is None or (y is None and row_blocks(X) is None):
            raise ValueError(
                "X and y must be passed again, because a fitted model keeps no rows "
                "and profile limits, likelihood-ratio tests of a contrast and robust "
                "errors need them: pass X= and y= of the fit, or fit with "
                f"keep_rows=True, got {'X' if X is None else 'y'}=None"
            )
        return self._rows(**rows, groups=groups, known=self.classes_)

    # Inference ------------------------------------------------------------------------

    @property
    def covariance_(self) -> np.ndarray:
        """Covariance of the estimates, the inverse Fisher information.

        The shape is (M(P + 1), M(P + 1)) with M = K − 1: for each class except the
        reference the intercept (if fitted) and then the features. It is singular if the
        features are linearly dependent. With ``class_weight`` it is the sandwich
        covariance, because weights of classes are not counts of rows. For
        ``penalty="firth"`` the information includes the h/2 rows of either class that
        the penalty adds, as in R's logistf.
        """
        return self._inference("covariance_", error=AttributeError).solution.covariance

    @property
    def standard_errors_(self) -> np.ndarray:
        """Standard errors of the estimates, of shape (M, P + 1).

        One row for each class except the reference, with the intercept (if fitted)
        first.
        """
        inference = self._inference("standard_errors_", error=AttributeError)
        errors = inference.errors(inference.solution.covariance)
        return errors.reshape(len(self.classes_) - 1, -1)

    @property
    def aic_(self) -> float:
        """Akaike's criterion ``−2ℓ + 2k``."""
        self._inference("aic_", **_CRITERION)
        return self.deviance_ + 2 * self.n_parameters_

    @property
    def bic_(self) -> float:
        """Schwarz's criterion ``−2ℓ + k log n``, n being the sum of the weights."""
        self._inference("bic_", **_CRITERION)
        return self.deviance_ + self.n_parameters_ * np.log(self.n_observations_)

    def _inference(self, name=None, **rules):
        """The inference of the fit; raise where it has no answer by this name."""
        check_is_fitted(self, "inference_")
        if name is not None:
            self.inference_.require(name, **rules)
        return self.inference_

    def _asked(self, feature_names, rows, groups=None):
        """The inference with these names, and what returns the rows of the fit."""
        unknown = rows.keys() - {"X", "y", "sample_weight", "offset"}
        if unknown:
            raise TypeError(f"{unknown.pop()!r} is no argument of this method")
        inference = self._inference().named(feature_names)
        return inference, partial(self._again, rows, groups)

    def summary(
        self,
        confidence_level: float = 0.95,
        *,
        covariance: str | None = None,
        method: str | None = None,
        groups: Values = None,
        feature_names: Any = None,
        **rows: Any,
    ) -> CoefficientTable:
        """Table of coefficients with standard errors, z, p-values and intervals.

        Wald intervals need no further computation. Profile intervals cost about 15 fits
        per coefficient, a robust covariance one pass over X. The table of odds ratios
        is ``summary().odds_ratios()``.

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
            that a count stands for. None takes ``"cluster"`` where groups are given,
            ``"HC0"`` with ``class_weight``, whose weights are not counts of rows, and
            ``"model"`` otherwise.
        method : {"wald", "profile"}, default=None
            ``"profile"``: an interval contains all values that a likelihood-ratio test
            does not reject, p-values are those of this test, and the statistic is its
            signed root. With ``penalty="firth"`` the penalised likelihood is used. None
            takes ``"profile"`` for ``penalty="firth"``, as R's logistf does, and
            ``"wald"`` otherwise.
        groups : array-like of shape (n,), default=None
            Cluster of each row, such as a patient, for ``covariance="cluster"``.
        feature_names : sequence of str or fitted transformer, default=None
            Names of the features. For a transformer, such as ``pipeline[:-1]``, they
            are those of its ``get_feature_names_out()``. None takes
            ``feature_names_in_`` if it exists, and x0, x1, … otherwise.
        **rows
            X, y, ``sample_weight`` and ``offset`` of the fit, needed for profiles and
            for a robust covariance other than the default, unless the model has kept
            them (``keep_rows``).

        Returns
        -------
        CoefficientTable
            A table to print, which names the odds; methods ``odds_ratios()``,
            ``summary()`` for texts to paste, and ``to_frame()``.

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
        >>> model = IRLSLogisticRegression(keep_rows=True).fit(X[50:, :1], y[50:])
        >>> model.summary()
        log odds of 2 against 1; 95 % limits, method='wald'
                     estimate  standard_error  statistic     pvalue     low    high
        (Intercept)    -12.57           2.907     -4.325  1.529e-05  -18.27  -6.873
        x0              2.013          0.4654      4.325  1.527e-05   1.101   2.925
        >>> table = model.summary(method="profile").odds_ratios(per={"x0": 0.5})
        >>> table
        odds of 2 against 1; 95 % limits, method='profile'
                       estimate     pvalue        low       high
        (Intercept)   3.472e-06  1.335e-07  6.677e-09  0.0006491
        x0 (per 0.5)      2.736  1.162e-07      1.801      4.516
        >>> print(table.summary())
        (Intercept): 0.00 (0.00 to 0.00)
        x0 (per 0.5): 2.74 (1.80 to 4.52)
        """
        inference, again = self._asked(feature_names, rows, groups)
        return inference.table(confidence_level, method, covariance, groups, again)

    def confidence_interval(
        self, confidence_level: float = 0.95, **options: Any
    ) -> Interval:
        """Confidence limits for all coefficients, as in :meth:`summary`.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        **options
            Options of :meth:`summary`: method, covariance, groups, X, y,
            sample_weight and offset.

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
        return Interval(table.low, table.high)

    def wald_test(
        self,
        contrast: Any,
        null: ArrayLike = 0.0,
        *,
        covariance: str | None = None,
        groups: Values = None,
        feature_names: Any = None,
        **rows: Any,
    ) -> WaldTest:
        """Test whether linear combinations of the coefficients have given values.

        Parameters
        ----------
        contrast : array-like of shape (q, M(P + 1)) or (M(P + 1),), or features
            The matrix L: each row is a combination of the rows of the summary, the
            intercept first. Names of features (``["race_2", "race_3"]``), or a slice of
            columns, stand for all coefficients of these features: the test of a whole
            factor, see :meth:`likelihood_ratio_test`.
        null : float or array-like of shape (q,), default=0.0
            Value of Lθ under the null hypothesis.
        covariance, groups, feature_names, **rows
            As for :meth:`summary`.

        Returns
        -------
        WaldTest
            Named tuple ``(statistic, df, pvalue, estimate, standard_error)``; the
            statistic is ``(Lθ − null)ᵀ(L V Lᵀ)⁻¹(Lθ − null)``, χ² with q degrees of
            freedom [1]_.

        Raises
        ------
        ValueError
            As :meth:`summary`; also if the rows of the contrast are linearly dependent
            or one is not estimable (see Notes there), or if there are not more clusters
            than rows of the contrast.

        References
        ----------
        .. [1] Wald (1943), "Tests of statistical hypotheses concerning several
           parameters when the number of observations is large",
           https://doi.org/10.1090/S0002-9947-1943-0012401-3
        """
        inference, again = self._asked(feature_names, rows, groups)
        return inference.wald_test(contrast, null, covariance, groups, again)

    def predict_interval(
        self, X: Any, confidence_level: float = 0.95, *, offset: Values = None
    ) -> Interval:
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
            As for :meth:`decision_function`.

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
        inference = self._inference("predict_interval")
        if len(self.classes_) > 2:
            raise ValueError(
                "predict_interval is for two classes, got classes_ "
                f"{self.classes_.tolist()}"
            )
        errors = inference.errors_of_logits(self._features(X))
        wald = WaldTable(self.decision_function(X, offset), errors)
        return Interval(*map(expit, wald.limits(confidence_level)))

    def likelihood_ratio_test(
        self,
        contrast: Any,
        null: ArrayLike = 0.0,
        *,
        feature_names: Any = None,
        **rows: Any,
    ) -> LikelihoodRatio:
        """Likelihood-ratio test that linear combinations have given values.

        Answers: does a whole factor matter, or several features together? With
        ``penalty="firth"`` the *penalised* likelihoods are compared [2]_, both with the
        determinant of all features, as in R's logistftest. Costs one fit.

        Parameters
        ----------
        contrast : str, sequence of str, slice or array-like
            Names of features, or a slice of columns, whose coefficients are 0 (for all
            classes): the result is that of a fit without them. The columns of a factor
            in a ColumnTransformer are ``transformer.output_indices_["step"]``, or the
            names that begin with the factor's. Where they depend linearly on the other
            columns, as all columns of a OneHotEncoder do, df counts the degrees of
            freedom that the model loses. Numbers are a matrix L of shape
            (q, M(P + 1)), as for :meth:`wald_test`.
        null : float or array-like of shape (q,), default=0.0
            Value of Lθ under the null hypothesis.
        feature_names, **rows
            As for :meth:`summary`; X and y are needed unless the model has kept them.

        Returns
        -------
        LikelihoodRatio
            Named tuple ``(statistic, df, pvalue)``; the statistic is
            ``2(ℓ − ℓ_restricted)`` [1]_.

        Raises
        ------
        ValueError
            If the fit has a ridge penalty or its classes are separated, or for the
            reasons of :meth:`wald_test`.

        References
        ----------
        .. [1] Wilks (1938), "The large-sample distribution of the likelihood ratio for
           testing composite hypotheses", https://doi.org/10.1214/aoms/1177732360
        .. [2] Heinze & Schemper (2002), "A solution to the problem of separation in
           logistic regression", https://doi.org/10.1002/sim.1047

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skauc import IRLSLogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = IRLSLogisticRegression(keep_rows=True).fit(X[50:, :3], y[50:])
        >>> test = model.likelihood_ratio_test(["x0", "x1"])
        >>> round(test.statistic, 1), test.df
        (9.7, 2)
        """
        inference, again = self._asked(feature_names, rows)
        return inference.likelihood_ratio(contrast, null, again)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.penalty != "firth"
        return tags
