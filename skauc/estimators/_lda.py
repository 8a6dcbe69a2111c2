"""Linear discriminant analysis with its ROC curve in closed form."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from scipy import linalg, sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from .._validation import check_interval, check_option, short
from ..roc._binormal import BinormalROC
from ..statistics._block_matrix import BlockMatrix
from ..statistics._collections import refuse_collection
from ..statistics._moments import group_moments
from ..statistics._row_blocks import row_blocks
from ..statistics._warn_caller import warn_caller
from . import _checks as check
from ._discriminant_curves import DIVIDES_BY_N, PredictsArrays, publish_curves
from ._rayleigh import ledoit_wolf_weight, shrunk
from ._rows import fourth_powers, open_rows, record_features, unchanged_by_errors


class _NoShrinkageError(NotImplementedError, ValueError):
    """A wrong value, for which the parent raises a NotImplementedError."""


class LinearDiscriminantROC(PredictsArrays, LinearDiscriminantAnalysis):
    """Linear discriminant analysis of scikit-learn, with the ROC curve that it implies.

    Answers: what are the ROC curve, its area and its best threshold, if the classes are
    normal with a common covariance, as LDA assumes? The fit costs one additional
    product ``X @ coef_``.

    Parameters
    ----------
    solver, shrinkage, priors, n_components, store_covariance, tol, \
covariance_estimator
        As for :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.
    denominator : {"unbiased", "ml"}, default="unbiased"
        Divisor of the pooled variance of the scores: n − K (``"unbiased"``) or n
        (``"ml"``).

    Attributes
    ----------
    roc_ : BinormalROC
        Curve in units of ``decision_function``; two classes only.
    auc_ : float
        Area under ``roc_``; for K > 2 the mean over all pairs of classes (Hand & Till).
    youden_threshold_ : float
        Value of ``decision_function`` with the largest TPR − FPR; two classes only.
    pairwise_roc_ : dict
        Maps ``(class_i, class_j)``, i < j, to the BinormalROC of
        ``decision_j − decision_i``, with class_j as the positive class.

    All other attributes are those of scikit-learn's class.

    Raises
    ------
    ValueError
        If ``denominator`` is not known, or for the reasons of scikit-learn's class.

    Notes
    -----
    The score ``f = αᵀx + β`` (``coef_`` and ``intercept_``) of class c is normal with
    mean ``αᵀμ_c + β`` and variance ``γ² = αᵀΣα``, so that at a threshold θ
    ``FPR(θ) = Φ((αᵀμ₀ + β − θ)/γ)``, ``TPR(θ) = Φ((αᵀμ₁ + β − θ)/γ)`` and
    ``AUC = Φ(δ/√2)``, ``δ = αᵀ(μ₁ − μ₀)/γ``, exactly. γ is estimated from the projected
    rows, even if the covariance of the solver is shrunk, estimated by another estimator
    or weighted by given priors. With shrinkage δ is therefore not a Mahalanobis
    distance. ``decision_function`` contains the term ``log(π₁/π₀)``, which equals
    ``youden_threshold_`` without shrinkage.

    **Not** an estimate for new rows: the plug-in curve of the training rows is
    optimistic. Use :func:`skauc.auc_posterior` for that.

    References
    ----------
    Su & Liu (1993), https://doi.org/10.1080/01621459.1993.10476417; Hand & Till
    (2001), https://doi.org/10.1023/A:1010920819831

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauc import LinearDiscriminantROC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(LinearDiscriminantROC().fit(X, y).auc_, 3)
    0.997
    """

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
        *,
        denominator="unbiased",
    ):
        super().__init__(
            solver=solver,
            shrinkage=shrinkage,
            priors=priors,
            n_components=n_components,
            store_covariance=store_covariance,
            tol=tol,
            covariance_estimator=covariance_estimator,
        )
        self.denominator = denominator

    def fit(self, X, y=None):
        """Fit the discriminant and the ROC curves of its scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Also a Dask array or data frame, or :class:`RowBlocks`. The moments of the
            classes are computed block by block in float64, after a pass over the
            labels; ``shrinkage="auto"`` needs one more pass. The rows are gathered only
            if there are fewer rows than features.
        y : array-like of shape (n,)
            Labels; None only if X is a RowBlocks, which holds them.

        Returns
        -------
        LinearDiscriminantROC
        """
        check_option("denominator", self.denominator, ("unbiased", "ml"))
        if self.solver == "svd" and self.shrinkage is not None:
            raise _NoShrinkageError(
                "shrinkage must be None for solver='svd', which has no covariance to "
                f"shrink, got {short(self.shrinkage)}; use solver='lsqr' or 'eigen'"
            )
        blocks = row_blocks(X, y)
        if blocks is not None:
            with unchanged_by_errors(self, X):
                return self._fit_blocks(blocks)
        labels = check.discriminant(X, y, self.priors)
        # classes of one mean have explained_variance_ratio_ 0/0 = NaN
        quiet = np.errstate(invalid="ignore")
        with unchanged_by_errors(self, X), self._named_errors(), quiet:
            super().fit(X, check.own_dtype(y, labels))
            check.class_count(self.classes_)
        # the parent also takes numbers that are written as text
        scores = np.asarray(X, dtype=float) @ self.coef_.T.astype(float)
        groups = [labels == label for label in self.classes_]
        self._fit_curves(group_moments(scores, groups), len(labels))
        return self

    def transform(self, X):
        """Scikit-learn's method; X must be an array."""
        refuse_collection("X", X)
        return super().transform(X)

    def _fit_blocks(self, blocks):
        """Fit rows in blocks from the moments of their classes."""
        _check_streams(self)
        rows = open_rows(self, blocks, None)
        if rows.weight is not None:
            raise ValueError("sample_weight must be None, got weights")
        check.priors(self.priors, len(rows.classes))
        if not isinstance(rows.X, BlockMatrix):
            X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
            self.fit(X, rows.classes[rows.y])
            record_features(self, blocks, rows.n_features)
            return self
        parts = rows.class_moments()
        with self._named_errors():
            _fit_from_moments(self, rows, parts)
        self._fit_curves([part.project(self.coef_.T) for part in parts], rows.n_rows)
        return self

    @contextmanager
    def _named_errors(self):
        """Replace errors of the parent for constant features by one sentence."""
        try:
            yield
        except (IndexError, ValueError) as error:
            # without a varying feature the parent raises an IndexError, or an error of
            # LAPACK before scipy 1.14
            if isinstance(error, ValueError) and "work array" not in str(error):
                raise
            raise ValueError(
                "X must vary within the classes by more than tol allows, got rank 0 "
                f"with tol={self.tol!r}"
            ) from None

    def _fit_curves(self, moments, n):
        """Set the curves from the moments of the scores of each class."""
        K, means = len(self.classes_), np.array([part.mean for part in moments])
        # W/n, or W/(n − K)
        divisor = n if self.denominator == "ml" else n - K
        pooled = sum(part.scatter for part in moments) / divisor
        # with two classes the parent has only the decision of the second class
        decide = np.eye(K) if K > 2 else np.array([[0.0], [1.0]])

        def curve(i, j):
            contrast = decide[j] - decide[i]
            offset = contrast @ self.intercept_
            if not np.isfinite(offset):  # a prior of 0: the curve is that of X @ coef_
                offset = 0.0
            # γ² = αᵀΣα of the scores, αᵀμ + β their means (see Notes)
            deviation = float(np.sqrt(max(contrast @ pooled @ contrast, 0.0)))
            neg, pos = (float(contrast @ means[k] + offset) for k in (i, j))
            return BinormalROC(neg, deviation, pos, deviation)

        publish_curves(self, curve)


# From moments -------------------------------------------------------------------------


def _check_streams(model):
    """Raise if a parameter of the model needs all rows at once, or breaks its rule."""
    check_option("solver", model.solver, ("svd", "lsqr", "eigen"))
    if model.covariance_estimator is not None:
        raise ValueError(
            "covariance_estimator must be None for rows in blocks, because it needs "
            f"all rows at once, got {short(model.covariance_estimator, 60)}"
        )
    if isinstance(model.shrinkage, str):
        check_option("shrinkage", model.shrinkage, ("auto",))
    elif model.shrinkage is not None:
        check_interval("shrinkage", model.shrinkage, 0, 1)


def _fit_from_moments(model, rows, parts):
    """Set scikit-learn's attributes, which need the moments of the classes only.

    With shares π_k, means m_k, covariances S_k = W_k/n_k and x̄ = Σ π_k m_k its solvers
    are

        lsqr, eigen   S = Σ π_k shrunk(S_k),   coef = S⁻¹m_k
        eigen         B v = λ S v,   B = shrunk(total covariance) − S,   VᵀSV = I
        svd           S = Σ W_k/n,   coef = AAᵀ(m_k − x̄),   AᵀSA = I
    """
    n, means = (np.array([getattr(c, name) for c in parts]) for name in ("n", "mean"))
    if n.sum() == len(n):
        raise ValueError(
            "The number of samples must be more than the number of classes."
        )
    model.classes_, model.means_ = rows.classes, means
    model.priors_ = _priors(model.priors, n)
    most = min(len(n) - 1, means.shape[1])
    if model.n_components is not None and model.n_components > most:
        raise ValueError(
            "n_components cannot be larger than min(n_features, n_classes - 1)."
        )
    model._max_components = most if model.n_components is None else model.n_components
    model._n_features_out = model._max_components
    # moments of all rows: the last covariance is the total one
    total = sum(parts[1:], parts[0])
    covariances = _covariances(model.shrinkage, rows, (*parts, total))
    # S = Σ π_k shrunk(S_k)
    S = np.tensordot(model.priors_, covariances[:-1], 1)
    if model.solver != "svd" or model.store_covariance:
        model.covariance_ = S
    if model.solver == "svd":
        _solve_svd(model, sum(part.scatter for part in parts), n.sum())
        return
    if model.solver == "eigen":
        values, V = linalg.eigh(covariances[-1] - S, S)
        _set_axes(model, values[::-1], V[:, ::-1])
    # S⁻¹m_k; least squares also solves a singular S
    _set_rule(model, linalg.lstsq(S, means.T)[0].T, means)


def _priors(given, n):
    """Priors that add up to 1; None takes the shares of the classes."""
    priors = n / n.sum() if given is None else np.asarray(given, dtype=float)
    if abs(priors.sum() - 1) > 1e-5:
        warn_caller("The priors do not sum to 1. Renormalizing", UserWarning)
        priors = priors / priors.sum()
    return priors


def _set_rule(model, coef, means):
    """Set coefficients and intercepts; for two classes, second less first."""
    with np.errstate(divide="ignore"):
        intercept = np.log(model.priors_) - np.einsum("kp,kp->k", means, coef) / 2
    if len(means) == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    model.coef_, model.intercept_ = coef, intercept


def _set_axes(model, values, V):
    """Set the axes V, in falling order of the variances between the classes."""
    shares = values / values.sum()
    model.explained_variance_ratio_ = shares[: model._max_components]
    model.scalings_ = V


def _solve_svd(model, scatter, n):
    """Set the rule and the axes of the solver "svd"."""
    deviation = np.sqrt(np.diag(scatter) / n)
    deviation[deviation == 0] = 1.0
    K, means = len(model.means_), model.means_
    divisor = n if DIVIDES_BY_N else n - K
    values, V = linalg.eigh(scatter / divisor / deviation / deviation[:, None])
    root = np.sqrt(np.maximum(values, 0))[::-1]
    kept = root > model.tol
    if not kept.any():
        raise IndexError("rank 0")
    A = V[:, ::-1][:, kept] / deviation[:, None] / root[kept]
    model.xbar_ = model.priors_ @ means
    centred = means - model.xbar_
    # Axes of the weighted class means in whitened coordinates
    weighted = np.sqrt(n * model.priors_ / (K - 1))[:, None] * centred @ A
    _, root, Vt = linalg.svd(weighted, full_matrices=False)
    _set_axes(model, root**2, A @ Vt[root > model.tol * root[0]].T)
    _set_rule(model, centred @ model.scalings_ @ model.scalings_.T, centred)
    model.intercept_ = model.intercept_ - model.coef_ @ model.xbar_


def _covariances(shrinkage, rows, parts):
    """S_k of each class, and last the total covariance, shrunk."""
    if shrinkage != "auto":
        P, alpha = len(parts[0].mean), shrinkage or 0.0
        return [shrunk(part.scatter / part.n, alpha, P) for part in parts]
    # Ledoit & Wolf's α of standardised features needs a second pass
    variances = np.array([np.diag(part.scatter) / part.n for part in parts])
    scales = np.where(variances > 0, np.sqrt(variances), 1.0)
    codes = *range(len(parts) - 1), None
    fourth = rows.sum(fourth_powers, codes, [part.mean for part in parts], scales)
    covariances = []
    for part, scale, power in zip(parts, scales, fourth, strict=True):
        C = part.scatter / part.n / scale / scale[:, None]
        # The rows z/√n have the Gram matrix C, and fourth powers that add up to this
        alpha = ledoit_wolf_weight(C, len(C), part.n, power / part.n**2)
        covariances.append(shrunk(C, alpha, len(C)) * scale * scale[:, None])
    return covariances
