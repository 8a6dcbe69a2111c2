"""The classifier with the largest Gaussian AUC."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from ..roc._binormal import BinormalROC
from ..statistics._checks import check_flag, check_interval, check_option
from ..statistics._moments import Moments
from ..statistics._warn_caller import warn_caller
from . import _checks as check
from ._base import LinearClassifier
from ._rayleigh import RayleighProblem, best_direction, shrinkage_weight
from ._rows import open_rows, unchanged_by_errors

_SEPARABLE = (
    "The classes are perfectly separable because Σ is singular ({size}): the AUC of "
    'the training rows is 1; set shrinkage, for example to "auto"'
)
_DEPENDENT = (
    "Σ is singular ({size}): the features are linearly dependent, and the solution of "
    "smallest norm is used; drop features or set shrinkage"
)
_STEP_OFF = 1e-6  # share of the way to the middle by which a threshold leaves rows


def _can_stream(model):
    """Whether moments determine the shrinkage; Ledoit–Wolf's needs every row."""
    if isinstance(model.shrinkage, str) and model.shrinkage == "auto":
        raise AttributeError(
            "shrinkage must be None or a number in partial_fit, which does "
            "not see all rows at once, got 'auto'"
        )
    return True


class GaussianAUCClassifier(LinearClassifier):
    """Linear classifier that maximizes the AUC of normal classes.

    Answers: which linear score ranks positives above negatives most often, if both
    classes are normal with different covariances? Costs one pass over X, O(nP²), and
    the solution of a P×P system, O(P³). For P > n it costs O(n²P) and forms no P×P
    matrix.

    Parameters
    ----------
    shrinkage : None, float in [0, 1] or "auto", default=None
        Weight α of the multiple of the identity in the covariance. ``"auto"`` is the
        weight of Ledoit and Wolf [3]_, which needs all rows at once. To choose α by the
        Bayesian AUC, search over numbers with :data:`skauc.cbauc_scorer`.
    standardize : bool, default=True
        Shrink towards the diagonal of Σ (the identity for standardised features)
        instead of the identity. It has no effect without shrinkage.
    threshold : {"youden", "prior"}, default="youden"
        Where ``decision_function`` is 0: at the point of ``roc_`` with the largest
        TPR − FPR (``"youden"``), or at that of Bayes' rule with the class frequencies
        and equal variances (``"prior"``).

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Coefficients, scaled so that the pooled within-class standard deviation of
        ``X @ coef_`` is 1, with the sign that gives ``classes_[1]`` the higher scores.
    intercept_ : ndarray of shape (1,)
        Intercept; it makes ``decision_function`` 0 at the threshold.
    classes_ : ndarray of shape (2,)
        Both labels, sorted.
    auc_ : float
        Plug-in AUC ``Φ(√(μᵀΣ⁻¹μ))`` of the training rows. It is optimistic; for an
        estimate use :func:`skauc.auc_posterior`.
    roc_ : BinormalROC
        Plug-in curve with separate variances, in units of ``decision_function``.
    shrinkage_ : float
        The α that was used.
    slope_ : float
        Log odds per unit of ``decision_function``.
    moments_ : tuple of Moments
        Class moments ``(neg, pos)``; not stored if P > n.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X is a frame with names.

    Raises
    ------
    ValueError
        If a parameter, X, y or a weight is invalid; if a class has only one row (its
        weights add up to 1 or less).

    Warns
    -----
    ConvergenceWarning
        If Σ is singular (the classes may then be perfectly separable), or if all class
        means are equal.

    See Also
    --------
    LinearDiscriminantROC : One covariance for both classes.
    IRLSLogisticRegression : Probabilities and a table of coefficients.
    auc_posterior : The AUC of the fitted model on new rows.
    RowBlocks : Rows in files or in blocks.

    Notes
    -----
    Let μ be the difference of the class means and Σ the sum of the class covariances.
    For normal classes the score xᵀθ has the AUC ``Φ(θᵀμ/√(θᵀΣθ))`` [1]_, which is
    largest for ``θ* ∝ Σ⁻¹μ`` [2]_: the solution of this linear system is exact, whereas
    an iteration such as BFGS may stop at the minimiser −θ*, where the gradient is 0,
    too.

    ``predict_proba`` is ``expit(slope_ · decision)``, the equal-variance normal link:
    it is monotone in the decision and ½ at the threshold. With separate variances the
    posterior odds would be quadratic in the score and not monotone.

    A singular Σ has a null space. If the projection of μ on this null space is not 0,
    it separates the training rows perfectly and is the solution; otherwise the solution
    of smallest norm is used. In both cases ``shrinkage`` is the remedy.

    References
    ----------
    .. [1] Ghanbari & Scheinberg (2018), "Directly and efficiently optimizing prediction
       error and AUC of linear classifiers", https://arxiv.org/abs/1802.02535
    .. [2] Su & Liu (1993), "Linear combinations of multiple diagnostic markers",
       https://doi.org/10.1080/01621459.1993.10476417
    .. [3] Ledoit & Wolf (2004), "A well-conditioned estimator for large-dimensional
       covariance matrices", https://doi.org/10.1016/S0047-259X(03)00096-4

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import GaussianAUCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianAUCClassifier().fit(X[50:, :2], y[50:])
    >>> round(model.auc_, 3)
    0.788
    """

    def __init__(self, *, shrinkage=None, standardize=True, threshold="youden"):
        self.shrinkage = shrinkage
        self.standardize = standardize
        self.threshold = threshold

    def fit(self, X, y=None, sample_weight=None):
        """Fit the classifier in one pass over the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Also a Dask array or data frame, or :class:`RowBlocks`. Their moments are
            computed block by block after a pass over labels and weights;
            ``shrinkage="auto"`` needs one more pass. The rows are gathered only if
            there are fewer rows than features.
        y : array-like of shape (n,)
            Labels of two classes; None only if X is a RowBlocks, which holds them.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights: 2 counts a row twice, 0 omits it. Relative weights are
            accepted, and count as their effective number of rows of each class, see
            :class:`skauc.SampleWeightWarning`.

        Returns
        -------
        GaussianAUCClassifier
        """
        self._check_parameters()
        with unchanged_by_errors(self, X):
            given = open_rows(self, X, y, sample_weight, binary=True)
            rows = given.raised(by_class=True)
            self.classes_ = rows.classes
            if rows.n_rows < rows.n_features:
                self.__dict__.pop("moments_", None)
                problem = RayleighProblem.of_few_rows(rows, self.standardize)
            else:
                parts = self.moments_ = rows.class_moments()
                problem = RayleighProblem.of_moments(*parts, self.standardize, rows)
            return self._solve(problem, given.counts)

    @available_if(_can_stream)
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Add rows to the moments and fit again; equals ``fit`` on all rows so far.

        Rows that break a rule raise, and leave the model as it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Or a Dask collection or :class:`RowBlocks`, as in :meth:`fit`.
        y : array-like of shape (n,)
        classes : array-like of shape (2,), default=None
            Both labels; needed in the first call.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        GaussianAUCClassifier
            Not yet able to predict while a class has fewer than two rows.
        """
        self._check_parameters()
        first = not hasattr(self, "moments_")
        if first and hasattr(self, "coef_"):
            raise ValueError(
                "partial_fit cannot continue a fit with more features than rows, "
                f"because it keeps no moments, got {self.n_features_in_} features"
            )
        if first and classes is None:
            text = "classes must be given in the first call of partial_fit, got None"
            raise ValueError(text)
        given = self.classes_ if classes is None else np.unique(classes)
        known = given if first else self.classes_
        check.class_count(known, binary=True)
        if not np.array_equal(given, known):
            raise ValueError(
                f"classes must be those of the first call, {known.tolist()}, got "
                f"{given.tolist()}"
            )
        with unchanged_by_errors(self, X):
            rows = open_rows(self, X, y, sample_weight, known=known, binary=True)
            parts = rows.class_moments()
            if not first:
                parts = map(Moments.__add__, self.moments_, parts)
            self.classes_, self.moments_ = known, tuple(parts)
            counts = [part.n for part in self.moments_]
            if min(counts) > 1:
                problem = RayleighProblem.of_moments(*self.moments_, self.standardize)
                self._solve(problem, counts)
        return self

    def _check_parameters(self):
        """Check the parameters of the estimator."""
        if isinstance(self.shrinkage, str):
            check_option("shrinkage", self.shrinkage, ("auto",))
        elif self.shrinkage is not None:
            check_interval("shrinkage", self.shrinkage, 0, 1)
        check_option("threshold", self.threshold, ("youden", "prior"))
        check_flag("standardize", self.standardize)

    def _solve(self, problem, counts):
        """Set the fitted attributes from the solution of a problem of so many rows."""
        self.shrinkage_ = shrinkage_weight(problem, self.shrinkage)
        theta, scores = problem.unit_deviation(self._direction(problem))
        coef, roc = problem.leave(theta), BinormalROC.from_moments(*scores)
        # With a pooled deviation of 1, log odds per unit are the difference of means.
        self.auc_, self.slope_ = roc.auc, roc.mean_pos - roc.mean_neg
        centre = coef @ problem.origin  # X @ coef_ less the projected scores
        cut = self._threshold(roc, np.log(counts[1] / counts[0]))
        # Scores of θ are X @ coef_ − coef·origin; the decision is 0 at the cut.
        self.coef_, self.intercept_ = coef[None, :], np.array([-cut - centre])
        self.roc_ = BinormalROC(
            roc.mean_neg - cut, roc.std_neg, roc.mean_pos - cut, roc.std_pos
        )
        return self

    def _direction(self, problem):
        """θ* up to scale."""
        mu, sigma = problem.pos.mean - problem.neg.mean, problem.shrunk(self.shrinkage_)
        if not mu.any():
            text = "The class means are equal: no direction separates them (AUC 1/2)"
            warn_caller(text, ConvergenceWarning)
            return mu
        # n rows have at most n − 2 dimensions within the classes
        few = problem.basis is not None and self.shrinkage_ == 0
        theta, rank, piles = best_direction(sigma, mu, few)
        if rank < len(mu):
            size = f"rank {rank} with {self.n_features_in_} features"
            text = (_SEPARABLE if piles else _DEPENDENT).format(size=size)
            warn_caller(text, ConvergenceWarning)
        return theta

    def _threshold(self, roc, log_odds):
        """Return the projected score at which the decision is 0."""
        middle = (roc.mean_neg + roc.mean_pos) / 2
        if self.slope_ == 0:
            return middle
        if self.threshold == "prior":
            # log odds for variance 1 in both classes: slope (s − middle) + log(n₁/n₀)
            return middle - log_odds / self.slope_
        threshold = roc.youden().threshold
        if not np.isfinite(threshold):
            return middle
        if 0 in (roc.std_neg, roc.std_pos):  # the cut is on the rows of a class
            threshold += _STEP_OFF * (middle - threshold)
        return threshold

    def _logits(self, decision):
        """Return the log odds under equal variances."""
        return super()._logits(self.slope_ * decision)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
