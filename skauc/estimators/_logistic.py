"""Logistic regression by Newton's method, with the inference that belongs to it."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._validation import check_flag, check_integer, check_interval, check_option
from ..statistics._warn_caller import warn_caller
from . import _checks as check
from ._inference import LogisticInference, check_total
from ._rows import unchanged_by_errors


class IRLSLogisticRegression(LogisticInference):
    """Logistic regression by iteratively reweighted least squares (Newton's method).

    Answers: what are the class probabilities of a linear model, how sure are its
    coefficients, and does the estimate exist at all? Binary and multinomial.
    One pass over X per iteration, O(nP²K²/2); extra memory is a block of rows. For
    P > n, an SVD of the centred rows, O(n²P), and then as if P were n; no P×P matrix.

    Parameters
    ----------
    C : float, default=np.inf
        Inverse strength of the ridge penalty ``‖coef‖²/(2C)``; the intercept is not
        penalised. Infinite C is maximum likelihood.
    penalty : {"l2", "firth"}, default="l2"
        ``"l2"``: the ridge of strength 1/C, which at the default C is none.
        ``"firth"``: Jeffreys' prior, ``ℓ + ½ log det(information)``: less biased, and
        finite where the classes are separated. For two classes and infinite C; weights
        are counts of rows. For fewer features than rows: with as many, whatever they
        are, it makes every training row ¾ probable.
    fit_intercept : bool, default=True
    tol : float, default=1e-8
        Bound on the mean gradient (of standardised features) and on the distance
        from the optimum in standard errors.
    max_iter : int, default=50
        Largest number of Newton steps.
    max_halvings : int, default=30
        How often a step that lowers the likelihood is halved.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, multiplied into ``sample_weight``. They are no counts
        of rows: standard errors are then those of the sandwich, and results that need
        the likelihood (criteria, profiles, likelihood ratios) are refused.
    reference : label, default=None
        Class whose coefficients are 0 when K > 2 and C is infinite; None takes
        ``classes_[0]``. Two classes always refer to ``classes_[0]``; with finite C
        and K > 2 the symmetric form has no reference.
    warm_start : bool, default=False
        Start at the last solution; not for P > n.

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
        not. Looked for when nothing is penalised.
    has_offset_ : bool
    rank_ : int
        Rank of the features together with the intercept.
    reference_ : label
        Class without a row in ``summary()``, ``standard_errors_``, ``covariance_``.
    n_parameters_ : int
    n_observations_ : float
        Sum of the weights.
    covariance_, standard_errors_, aic_, bic_
        See there; for unpenalised, unseparated fits of no more features than rows, the
        first two also for Firth's.
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
    Newton's step d from β solves ``(X̃ᵀDX̃ + Λ)d = X̃ᵀ(y − p) − Λβ``: X̃ the features and
    a column of ones, p the probabilities, D the diagonal of p(1 − p), Λ that of 1/C (0
    for the intercept); weights multiply D and y − p. Multinomial fits maximise
    over K − 1 contrasts: reference cells for infinite C, orthonormal ones for finite
    C, which gives scikit-learn's symmetric solution without its flat direction.

    References
    ----------
    Albert & Anderson (1984), https://doi.org/10.1093/biomet/71.1.1 (separation);
    McCullagh & Nelder (1989), https://doi.org/10.1007/978-1-4899-3242-6; Firth (1993),
    https://doi.org/10.1093/biomet/80.1.27; Heinze & Schemper (2002),
    https://doi.org/10.1002/sim.1047 (separation); Venzon & Moolgavkar (1988),
    https://doi.org/10.2307/2347496 (profile likelihood)

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
        warm_start=False,
    ):
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_halvings = max_halvings
        self.class_weight = class_weight
        self.reference = reference
        self.warm_start = warm_start

    def fit(self, X, y=None, sample_weight=None, offset=None):
        """Fit by Newton's method.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Or rows in blocks: a Dask array or data frame, or a
            :class:`skauc.RowBlocks` of X, y and weights. See the notes.
        y : array-like of shape (n,)
            None only if X is a RowBlocks, which holds it.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights: 2 means the row twice, 0 the row gone. With infinite C
            the coefficients depend on their ratios only; standard errors and all that
            follows from the likelihood read them as counts. With finite C, a times
            the weights is a times C.
        offset : array-like of shape (n,), default=None
            Known part of the logit of ``classes_[1]``, for two classes. Predictions
            add the ``offset`` that they are given, none by themselves. None for rows
            in blocks.

        Returns
        -------
        IRLSLogisticRegression

        Notes
        -----
        Rows in blocks give the answer of the rows in memory. Passes over the blocks:
        one of labels and weights, one at zero coefficients (two if a feature is far
        from 0 against its spread), and one for each trial point: some 8, the more the
        nearer the classes are to separation. (M(P + 1))² numbers per block, or per 16
        blocks together, leave the place of the block. A collection that is costly to
        make is best persisted.
        Rows that are fewer than features, and so smaller than those matrices, are
        gathered. Where :meth:`summary` and the tests need the rows once more, they
        take them in blocks as well, except for clusters.
        """
        self._check_parameters()
        warm = self.warm_start and hasattr(self, "coef_")
        start = self._coefficient_rows() if warm else None
        with unchanged_by_errors(self):
            rows = self._rows(X, y, sample_weight, offset)
            self.classes_ = rows.classes
            if self.penalty == "firth":
                check_total(rows.total, "penalty='firth'")
            self.reference_ = self.classes_[self._reference_code()]
            K = len(self.classes_)
            shape = (1 if K == 2 else K, rows.n_features + bool(self.fit_intercept))
            if start is not None and start.shape != shape:
                start = None
            self.result_ = result = self._fit().maximise(rows, start)
        self.has_offset_ = offset is not None
        self.n_observations_ = rows.total
        for name in set(vars(result)) - {"covariance"}:
            setattr(self, f"{name}_", getattr(result, name))
        self.deviance_ = -2 * result.log_likelihood
        # rank parameters for each of K − 1 logits
        self.n_parameters_ = result.rank * (K - 1)
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
        check_flag("warm_start", self.warm_start)
        check.class_weight(self.class_weight)

    def _reference_code(self):
        """Return the code of the reference class."""
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

    def _warn(self):
        """Warn where the estimate does not exist or is not unique."""
        full = self.n_features_in_ + bool(self.fit_intercept)
        if self.separation_ is not None:
            text = (
                f"The classes show {self.separation_} separation: the maximum-"
                "likelihood estimate does not exist, and the iterations stopped while "
                "the coefficients grew; set a finite C, for example C=1.0, or, for two "
                "classes, penalty='firth'"
            )
        elif not self.converged_:
            text = (
                f"Newton's method did not converge in max_iter={self.max_iter} steps "
                f"with max_halvings={self.max_halvings}; raise these or tol={self.tol}"
            )
        elif np.isinf(self.C) and self.rank_ < full:
            text = (
                f"The features are linearly dependent (rank {self.rank_} of {full}): "
                "many estimates have the largest likelihood, and the one of smallest "
                "norm is used; drop columns or set a finite C"
            )
        else:
            return
        warn_caller(text, ConvergenceWarning)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.penalty != "firth"
        return tags
