"""Logistic regression by Newton's method, with the inference that belongs to it."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..statistics._checks import check_flag, check_integer, check_interval, check_option
from ..statistics._warn_caller import warn_caller
from ..statistics._weights import are_counts
from . import _checks as check
from ._inference import LogisticInference
from ._maximum import maximise, reference_code
from ._rows import unchanged_by_errors


class IRLSLogisticRegression(LogisticInference):
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
        Tolerance for the mean gradient (with standardised features) and for the
        distance from the optimum in standard errors.
    max_iter : int, default=50
        Largest number of Newton steps.
    max_halvings : int, default=30
        Largest number of times that a step is halved because it lowers the likelihood.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, multiplied with ``sample_weight``. The products are not
        counts of rows, so standard errors come from the sandwich covariance, and
        results that need the likelihood (information criteria, profiles, likelihood
        ratios) raise an error.
    reference : label, default=None
        Class whose coefficients are 0 when K > 2 and C is infinite; None takes
        ``classes_[0]``. With two classes the reference is always ``classes_[0]``; with
        finite C and K > 2 the parametrisation is symmetric and has no reference.

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
    n_iter_, n_halvings_ : int
        Numbers of Newton steps, and of steps that were halved.
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
        C=np.inf,
        penalty="l2",
        fit_intercept=True,
        tol=1e-8,
        max_iter=50,
        max_halvings=30,
        class_weight=None,
        reference=None,
    ):
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_halvings = max_halvings
        self.class_weight = class_weight
        self.reference = reference

    def fit(self, X, y=None, sample_weight=None, offset=None):
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
        with unchanged_by_errors(self, X):
            rows = self._rows(X, y, sample_weight, offset)
            self.classes_ = rows.classes
            self.weights_are_counts_ = are_counts(rows.weight)
            rows = rows.raised() if np.isinf(self.C) else rows
            self.reference_ = self.classes_[reference_code(self, self.classes_)]
            self.result_ = result = maximise(self, rows)
        self.has_offset_ = offset is not None
        self.n_observations_ = rows.total
        for name in set(vars(result)) - {"covariance", "null"}:
            setattr(self, f"{name}_", getattr(result, name))
        self.deviance_ = -2 * result.log_likelihood
        # rank parameters for each of K − 1 logits
        self.n_parameters_ = result.rank * (len(self.classes_) - 1)
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
        check_integer("max_halvings", self.max_halvings, 0)
        check_flag("fit_intercept", self.fit_intercept)
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
                f"Newton's method did not converge in max_iter={self.max_iter} steps "
                f"with max_halvings={self.max_halvings}; raise these or tol={self.tol}"
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.penalty != "firth"
        return tags
