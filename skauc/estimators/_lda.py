"""Linear discriminant analysis with its ROC curve in closed form."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_X_y, validate_data

from .._validation import check_column, check_option, short
from ..roc._binormal import BinormalROC
from ..statistics._collections import refuse_collection
from ..statistics._moments import Moments, group_moments, project_samples
from ..statistics._row_blocks import RowBlocks, row_blocks
from ._checks import check_discriminant, check_feature_sizes, check_priors
from ._class_sums import class_sums, record_features, unchanged_by_errors
from ._discriminant_curves import PredictsArrays, publish_curves
from ._lda_moments import check_streams, fit_parent, parent_divides_by_n

_DIGITS_KEPT = 1e-4  # of the sixteen of a float, four may cancel
_LEAST_SINGULAR = 1e-4  # the parent's tol: of directions whitened by less, digits go
# Means over standard deviations from where the parent's means and intercept are not
# right to 1e-10; coefficients at 10⁸ were wrong by 6e-7, decisions by .2 to 50
_FAR, _FAR_ROWS = 1e5, 1000


class _NoShrinkageError(NotImplementedError, ValueError):
    """A wrong value, for which the parent raises a NotImplementedError."""


class LinearDiscriminantROC(PredictsArrays, LinearDiscriminantAnalysis):
    """Scikit-learn's linear discriminant analysis, and the ROC curve it implies.

    Answers: if the classes are normal with one covariance, as LDA assumes, what are
    the ROC curve, its area and its best threshold? Adds one ``X @ coef_`` to the fit;
    with a solver that keeps the covariance of the rows, or whitens it, O(KP²).

    Parameters
    ----------
    solver, shrinkage, priors, n_components, store_covariance, tol, \
covariance_estimator
        As for :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.
    denominator : {"unbiased", "ml"}, default="unbiased"
        Whether the pooled variance of the scores is divided by n − K or by n.

    Attributes
    ----------
    roc_ : BinormalROC
        Curve in units of ``decision_function``; two classes only.
    auc_ : float
        Area under ``roc_``; for K > 2 the mean over all pairs of classes (Hand & Till).
    youden_threshold_ : float
        Value of ``decision_function`` with the largest TPR − FPR; two classes only.
    pairwise_roc_ : dict
        ``(class_i, class_j)`` → BinormalROC of ``decision_j − decision_i``, class_j
        being the positive one, for i < j.

    All other attributes are the parent's.

    Raises
    ------
    ValueError
        If ``denominator`` is not known, or the parent's rules are broken.

    Notes
    -----
    The score ``f = αᵀx + β`` (``coef_`` and ``intercept_``) of class c is normal with
    mean ``αᵀμ_c + β`` and variance ``γ² = αᵀΣα``, so that at a threshold θ
    ``FPR(θ) = Φ((αᵀμ₀ + β − θ)/γ)``, ``TPR(θ) = Φ((αᵀμ₁ + β − θ)/γ)`` and
    ``AUC = Φ(δ/√2)``, ``δ = αᵀ(μ₁ − μ₀)/γ``, exactly. γ is that of the rows: of the
    projected scores wherever the solver's covariance is shrunk, estimated otherwise,
    weighted by given priors or too singular to keep γ's digits; with shrinkage δ is
    therefore not a Mahalanobis distance. ``decision_function`` contains
    ``log(π₁/π₀)``; without shrinkage that is ``youden_threshold_``.

    As an estimate from the training rows the plug-in curve is optimistic;
    :func:`skauc.auc_posterior` is the honest one.

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
        """Fit the parent, then the ROC curves of its scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Or a Dask array or data frame, or :class:`RowBlocks`: the moments of the
            classes are taken where the rows are, in one pass (two for
            ``shrinkage="auto"``, or where collinear features leave the curve too few
            digits), in float64; only if there are fewer rows than features the rows
            are gathered.
        y : array-like of shape (n,)
            None only if the blocks hold it.

        Returns
        -------
        LinearDiscriminantROC
        """
        check_option("denominator", self.denominator, ("unbiased", "ml"))
        if self.solver == "svd" and self.shrinkage is not None:
            raise _NoShrinkageError(
                "shrinkage must be None for solver='svd', which has no covariance to "
                f"shrink, got {short(self.shrinkage)}; take solver='lsqr' or 'eigen'"
            )
        blocks = row_blocks(X, y)
        if blocks is not None:
            with unchanged_by_errors(self):
                return self._fit_blocks(blocks)
        keeps = self._keeps_moments()
        labels = check_discriminant(X, y, self.priors, sizes=not keeps)
        if self._lies_far(X):
            return self._fit_far(X, labels)
        with self._named_errors(X), np.errstate(over="ignore", invalid="ignore"):
            super().fit(X, y)
        rows = np.asarray(X)
        if keeps:
            # Σ x²/n = diag W/n + Σ π_k m_k²
            square = np.diag(self.covariance_) + self.priors_ @ self.means_**2
            check_feature_sizes(rows, square=len(rows) * square)
        n, moments = len(labels), None
        if rows.dtype == float:
            moments = self._score_moments() if keeps else self._whitened_moments(n)
        self._fit_curves(moments or self._projected_moments(rows, labels), n)
        return self

    def _lies_far(self, X):
        """Whether a feature of the first rows is far from 0, beside its spread."""
        try:
            rows = np.asarray(X)
        except ValueError:  # rows of several lengths: the parent says so
            return False
        if self.covariance_estimator is not None or rows.dtype.kind != "f":
            return False
        if rows.ndim != 2 or len(rows) <= rows.shape[1]:
            return False
        first = rows[:_FAR_ROWS].astype(float)
        with np.errstate(all="ignore"):  # what is no number is said by the parent
            # Around the first row, because the squares of x far from 0 lose the spread.
            first = first - first[0]
            spread = first.std(axis=0)
            return bool(np.any((np.abs(rows[0]) > _FAR * spread) & (spread > 0)))

    def _fit_far(self, X, labels):
        """From moments, which keep the digits that the parent's means have lost."""
        rows, labels = check_X_y(X, labels, ensure_min_samples=2, estimator=self)
        with unchanged_by_errors(self):
            self._fit_blocks(RowBlocks.from_arrays(rows, labels))
            validate_data(self, X, skip_check_array=True)  # the names of the columns
        return self

    def transform(self, X):
        """See the parent; X must be an array."""
        refuse_collection("X", X)
        return super().transform(X)

    def _fit_blocks(self, blocks):
        check_streams(self)
        sums = class_sums(blocks, weighted=False)
        check_priors(self.priors, len(sums.classes))
        if sums.rows is not None:
            X, y, _ = sums.rows
            self.fit(X if isinstance(X, np.ndarray) else X.toarray(), y)
        else:
            with self._named_errors(None):
                fit_parent(self, blocks, sums)
            moments = [part.project(self.coef_.T) for part in sums.moments]
            within = sum(part.scatter for part in sums.moments)
            if not self._keeps_digits(within):
                moments = blocks.total(
                    _score_moments_of_block, self.coef_, sums.classes
                )
            self._fit_curves(_means_and_covariance(moments), sums.n_rows)
        record_features(self, blocks, self.means_.shape[1])
        return self

    @contextmanager
    def _named_errors(self, X):
        """What the parent raises where nothing varies, in one sentence."""
        try:
            yield
        except (IndexError, ValueError) as error:
            # The parent's whitened rows have no column left: an IndexError, or what
            # LAPACK says before scipy 1.14
            if isinstance(error, ValueError) and "work array" not in str(error):
                check_feature_sizes(X)
                raise
            raise ValueError(
                "X must vary within the classes by more than tol allows, got rank 0 "
                f"with tol={self.tol!r}"
            ) from None

    def _keeps_moments(self):
        """Whether the parent's means_ and covariance_ are W/n of the rows."""
        changed = (self.shrinkage, self.covariance_estimator, self.priors)
        named = isinstance(self.solver, str) and self.solver in ("lsqr", "eigen")
        unchanged = named and all(c is None for c in changed)
        return unchanged and parent_divides_by_n(self.solver)

    def _score_moments(self):
        """Class means and pooled scatter / n of ``X @ coef_.T`` without a pass over X.

        None where αᵀΣα loses more than four digits of its terms: the projected rows
        have them.
        """
        if not self._keeps_digits(self.covariance_):
            return None
        coef = self.coef_
        # αᵀm_k and αᵀΣα, with Σ = W/n
        return self.means_ @ coef.T, coef @ self.covariance_ @ coef.T

    def _whitened_moments(self, n):
        """The same of solver "svd", whose ``scalings_`` are whitened: SᵀWS/n = I.

        None where ``tol`` lets singular values pass whose digits are gone.
        """
        if self.solver != "svd" or self.tol < _LEAST_SINGULAR:
            return None
        K, c = len(self.means_), (self.means_ - self.xbar_) @ self.scalings_
        if K == 2:
            c = c[1:] - c[:1]
        # α = Sc of c = Sᵀ(m_k − x̄), of two classes their difference: αᵀWα/n = cᵀc
        covariance = c @ c.T
        if not parent_divides_by_n("svd"):  # SᵀWS/(n − K) = I
            covariance *= 1 - K / n
        return self.means_ @ self.coef_.T, covariance

    def _keeps_digits(self, within):
        # αᵀΣα against (Σ_p |α_p| σ_p)², the largest that its terms can add up to
        variance = np.einsum("kp,pq,kq->k", self.coef_, within, self.coef_)
        terms = np.abs(self.coef_) @ np.sqrt(np.diag(within))
        return bool(np.all(variance >= _DIGITS_KEPT * terms**2))

    def _projected_moments(self, X, y):
        scores = project_samples(X, self.coef_.T.astype(float))
        parts = [Moments.from_samples(scores[y == label]) for label in self.classes_]
        return _means_and_covariance(parts)

    def _fit_curves(self, moments, n):
        (means, covariance), K = moments, len(self.classes_)
        # W/n, or W/(n − K)
        pooled = covariance * (1 if self.denominator == "ml" else n / (n - K))
        curves = {
            (self.classes_[i], self.classes_[j]): self._curve(means, pooled, i, j)
            for i, j in combinations(range(K), 2)
        }
        publish_curves(self, curves)

    def _curve(self, means, pooled, i, j):
        """Curve of ``decision_j − decision_i``; of ``decision`` for two classes."""
        # f = decision_j − decision_i; with two classes the parent has that one only.
        contrast, offset = np.ones(1), self.intercept_[0]
        if len(self.classes_) > 2:
            contrast = np.eye(len(pooled))[j] - np.eye(len(pooled))[i]
            offset = self.intercept_[j] - self.intercept_[i]
        if not np.isfinite(offset):  # a prior of 0: the curve is that of X @ coef_
            offset = 0.0
        # γ² = αᵀΣα of the scores, αᵀμ + β their means (see Notes)
        deviation = float(np.sqrt(max(contrast @ pooled @ contrast, 0.0)))
        return BinormalROC(
            float(contrast @ means[i] + offset),
            deviation,
            float(contrast @ means[j] + offset),
            deviation,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # the curves are numpy's
        return tags


def _means_and_covariance(parts):
    scatter = sum(part.scatter for part in parts)
    return np.array([part.mean for part in parts]), scatter / sum(p.n for p in parts)


def _score_moments_of_block(block, coef, classes):
    scores, y = project_samples(block.X, coef.T), check_column("y", block.y)
    return tuple(group_moments(scores, [y == label for label in classes]))
