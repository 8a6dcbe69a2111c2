"""Logistic regression by Newton's method, with the inference that belongs to it."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._validation import check_option
from ..leave_pair_out._objective import PenalisedFit, with_optimum
from ..statistics._columns import class_sums
from ..statistics._row_blocks import row_blocks
from ._block_likelihood import (
    LabelledBlocks,
    refuse_beside_blocks,
)
from ._checks import (
    check_class_weight,
    check_classes,
    check_finite_features,
    check_flag,
    check_parameter,
)
from ._class_sums import record_features, unchanged_by_errors
from ._class_weight import check_class_weights, class_factors, times_class_weight
from ._irls import coding_of, counted, irls, maximise, strengths
from ._logistic_fit import check_total
from ._logistic_inference import LogisticInference
from ._offset_classifier import check_offset


class IRLSLogisticRegression(LogisticInference):
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
        See there; for unpenalised, unseparated fits, the first two also for Firth's.
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
            None only beside a RowBlocks, which holds it.
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
        from 0 against its spread), one for each trial point, and where rows are many
        four of every tenth block for a start: some 12, the more the nearer the classes
        are to separation. Of each block, or of 16 together, (M(P + 1))² numbers leave
        the place where it is. A collection that is costly to make is best persisted.
        Rows that are fewer than features, and so smaller than those matrices, are
        gathered. What :meth:`summary` and the tests ask of the rows once more they
        take in blocks as well, but for clusters.
        """
        self._check_parameters()
        blocks = row_blocks(X, y, sample_weight)
        if blocks is None:
            return self._publish(*self._fit_rows(X, y, sample_weight, offset))
        refuse_beside_blocks("offset", offset)
        rows = LabelledBlocks.read(blocks)
        with unchanged_by_errors(self):
            if rows.n_features <= rows.n_weighted:
                found = self._fit_blocks(rows)
            else:
                found = self._fit_rows(*rows.gathered())
            record_features(self, blocks, rows.n_features)
        return self._publish(*found)

    def _fit_rows(self, X, y, sample_weight, offset=None):
        """What :meth:`_publish` takes, of rows in memory."""
        start = self._last_solution()
        X, y = self._check_rows(X, y)
        check_finite_features(X)
        firth = self.penalty == "firth"
        self.classes_, codes = check_classes(y, binary=firth)
        weight = check_class_weight(sample_weight, codes, self.classes_)
        weight = self._with_class_weight(weight, codes)
        offset = check_offset(offset, len(y), self.classes_)
        if firth and weight is not None:
            check_total(weight.sum(), "penalty='firth'")
        if start is not None and start.shape != self._shape_of_start(X.shape[1]):
            start = None
        reference = self._reference_code()
        result = irls(
            X,
            codes,
            len(self.classes_),
            sample_weight=weight,
            C=self.C,
            fit_intercept=self.fit_intercept,
            reference=reference,
            init=start,
            offset=offset,
            firth=firth,
            **self._steps(),
        )
        self.has_offset_ = offset is not None
        total = float(len(y) if weight is None else weight.sum())
        return result, reference, total

    def _fit_blocks(self, rows):
        """What :meth:`_publish` takes, of rows in blocks."""
        firth, start = self.penalty == "firth", self._last_solution()
        self.classes_, _ = check_classes(rows.classes, binary=firth)
        reference = self._reference_code()
        T = coding_of(len(self.classes_), reference, self.C)
        model = rows.likelihood(self.class_weight, T, self.fit_intercept)
        total = model.total * model.count
        if firth and model.coding.weighted:
            check_total(total, "penalty='firth'")
        shape = self._shape_of_start(rows.n_features)
        if start is not None and start.shape != shape:
            start = None
        penalties = strengths(self.C, firth, model.count)
        found = maximise(model, start, None, **penalties, **self._steps())
        result = counted(found, model.count, model.sizes)
        self.has_offset_ = False
        return result, reference, total

    def _steps(self):
        names = "tol", "max_iter", "max_halvings"
        return {name: getattr(self, name) for name in names}

    def _check_parameters(self):
        check_parameter("C", self.C, 0, open_low=True)
        check_option("penalty", self.penalty, ("l2", "firth"))
        if self.penalty == "firth" and np.isfinite(self.C):
            raise ValueError(f"C must be inf with penalty='firth', got {self.C}")
        check_parameter("tol", self.tol, 0, open_low=True)
        check_parameter("max_iter", self.max_iter, 1, integer=True)
        check_parameter("max_halvings", self.max_halvings, 0, integer=True)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)
        check_class_weights(self.class_weight)

    def _last_solution(self):
        """Coefficient rows with their intercepts, for a warm start."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        if not self.fit_intercept:
            return self.coef_
        return np.column_stack([self.coef_, self.intercept_])

    def _shape_of_start(self, n_features):
        K = len(self.classes_)
        return (1 if K == 2 else K, n_features + bool(self.fit_intercept))

    def _with_class_weight(self, weight, codes):
        return times_class_weight(self.class_weight, weight, codes, self.classes_)

    def _penalised_fit(self, Z, positive, sample_weight):
        """Training objective, for leave-pair-out without refits; None if not known."""
        if self.penalty == "firth" or self.has_offset_:
            return None
        weight = sample_weight
        if weight is None:
            weight = np.ones_like(positive, dtype=float)
        if self.class_weight is not None:
            total = class_sums(positive, sample_weight)
            neg, pos = class_factors(self.class_weight, total, self.classes_)
            weight = weight * np.where(positive, pos, neg)
        w, b = self.coef_[0].astype(float), float(self.intercept_[0])
        # inf: an intercept that is not penalised; 0: none (PenalisedFit)
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

    def _publish(self, result, reference, total):
        K, self.result_ = len(self.classes_), result
        self.reference_ = self.classes_[reference]
        self.n_observations_ = total
        self.coef_, self.intercept_ = result.coef, result.intercept
        self.log_likelihood_ = result.log_likelihood
        self.deviance_ = -2 * result.log_likelihood
        self.n_iter_, self.n_halvings_ = result.n_iter, result.n_halvings
        self.converged_, self.separation_ = result.converged, result.separation
        self.rank_ = result.rank
        # Dependent features add no parameter; each of K − 1 logits has its own.
        self.n_parameters_ = result.rank * (K - 1)
        self._warn()
        return self

    def _warn(self):
        full = self.n_features_in_ + bool(self.fit_intercept)
        if self.separation_ is not None:
            text = (
                f"The classes show {self.separation_} separation: the maximum-"
                "likelihood estimate does not exist and the coefficients were stopped "
                "on their way to infinity; set a finite C (such as C=1.0) or, for two "
                "classes, penalty='firth'"
            )
        elif not self.converged_:
            text = (
                f"Newton's method did not converge in max_iter={self.max_iter} steps "
                f"with max_halvings={self.max_halvings}; raise them or tol={self.tol}"
            )
        elif np.isinf(self.C) and self.rank_ < full:
            text = (
                f"The features are linearly dependent (rank {self.rank_} of {full}): "
                "of all estimates of largest likelihood the one of least norm is "
                "taken; drop columns or set a finite C"
            )
        else:
            return
        warnings.warn(text, ConvergenceWarning, stacklevel=4)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.penalty != "firth"
        return tags
