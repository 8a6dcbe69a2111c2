"""A fitted logistic model: what its inference stands on, and when it is refused."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import check_floats, check_groups, check_option, short
from ..statistics._row_blocks import row_blocks
from ._block_likelihood import (
    BlockLikelihood,
    LabelledBlocks,
    refuse_beside_blocks,
)
from ._checks import check_class_weight, check_finite_features
from ._class_sums import record_features
from ._fitted_likelihood import FittedLikelihood
from ._irls import IRLSResult, coding, relative
from ._likelihood import Likelihood
from ._offset_classifier import OffsetClassifier, check_offset

COVARIANCES = ("model", "HC0", "HC1", "cluster")
_ONE_ROW = 1 - 1e-9  # shares of one row add up to it but for roundings
_SAME = 1e-6  # relative difference of two log-likelihoods of the same float32 rows


class LogisticFit(OffsetClassifier):
    """A fitted logistic model, without its rows.

    What needs them (robust covariances, profiles) takes the X, y, ``sample_weight`` and
    ``offset`` of the fit once more, and notices others.
    """

    C: float
    class_weight: object
    penalty: str
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
    rank_: int
    result_: IRLSResult
    separation_: str | None

    def _rows_of_table(self, name):
        """Coefficients of shape (M, P + 1), their names and the names of the logits."""
        self._require(name, firth=True)
        chosen = self.classes_ != self.reference_
        coef = self.coef_ if len(self.classes_) == 2 else self.coef_[chosen]
        intercept = np.broadcast_to(self.intercept_, len(self.classes_))[chosen]
        names = list(getattr(self, "feature_names_in_", []))
        names = names or [f"x{j}" for j in range(self.n_features_in_)]
        if self.fit_intercept:
            coef, names = np.column_stack([intercept, coef]), ["(Intercept)", *names]
        labels = [None]
        if len(self.classes_) > 2:
            labels = self.classes_[chosen].tolist()
        return coef, names, labels

    def _covariance(self, covariance, groups, rows, rank=1):
        """Covariance of the estimates (None for P > n) and its errors.

        ``rank`` is the one that it must have: that of G clusters, whose scores add up
        to 0, has G − 1 at most.
        """
        check_option("covariance", covariance, COVARIANCES)
        if (groups is None) == (covariance == "cluster"):
            rule = "be given with" if groups is None else "be None without"
            raise ValueError(
                f"groups must {rule} covariance='cluster', got {short(groups)}"
                f" with covariance={covariance!r}"
            )
        if covariance == "model":
            return self.result_.covariance, self.result_.standard_errors
        if self.penalty == "firth":
            raise ValueError(
                f"covariance must be 'model' with penalty='firth', got {covariance!r}"
            )
        fitted, n = self._opened(rows), self.n_observations_
        factor, rest = 1.0, n - self.n_parameters_
        if covariance != "HC0" and rest <= 0:
            raise ValueError(
                f"covariance must be 'model' or 'HC0' where n_parameters_ >= rows, got "
                f"{self.n_parameters_} parameters and {n:g} rows"
            )
        # n/(n − k), k parameters; clusters: G/(G − 1) · (n − 1)/(n − k)
        if covariance == "HC1":
            factor = n / rest
        if groups is not None:
            if isinstance(fitted.frame.model, BlockLikelihood):
                refuse_beside_blocks("groups", groups)
            model = fitted.frame.model
            groups = check_groups(groups, model.n_rows)
            # a row of weight 0 is gone, and its cluster with it
            counted = groups if model.weight is None else groups[model.weight > 0]
            G = len(np.unique(counted))
            if G <= rank:
                why = "" if rank == 1 else f" for a contrast of {rank} rows"
                raise ValueError(
                    f"groups must hold at least {rank + 1} clusters{why}, got {G}"
                )
            factor = G / (G - 1) * (n - 1) / rest
        V, errors = fitted.sandwich(groups)
        return V * factor, errors * np.sqrt(factor)

    def _opened(self, rows):
        """The likelihood of the rows of the fit, which the caller has given again."""
        X, y, sample_weight, offset = rows
        blocks = None if X is None else row_blocks(X, y, sample_weight)
        for name, data in (("X", X), ("y", y)):
            if data is None and blocks is None:
                raise ValueError(f"{name} must be that of the fit, got None")
        if self.result_.covariance is None:
            raise ValueError(
                "X must have no more features than rows of positive weight for a "
                f"profile or a robust covariance, got {self.n_features_in_} features"
            )
        if blocks is not None:
            refuse_beside_blocks("offset", offset)
            rows = LabelledBlocks.read(blocks, self.classes_)
            record_features(self, blocks, rows.n_features, reset=False)
            model = rows.likelihood(self.class_weight, self._T, self.fit_intercept)
            return self._of_likelihood(model, model.count, None)
        X, y = self._check_rows(X, y, reset=False)
        check_finite_features(X)
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y must hold the labels of the fit, {self.classes_.tolist()}, got "
                f"{y[~known].tolist()[0]!r}"
            )
        codes = np.searchsorted(self.classes_, y)
        weight = check_class_weight(sample_weight, codes, self.classes_)
        weight = self._with_class_weight(weight, codes)
        weight, count = relative(weight, codes, len(self.classes_))
        model = Likelihood(X, codes, weight, self._T, self.fit_intercept)
        offset = check_offset(offset, len(y), self.classes_)
        return self._of_likelihood(model, count, offset)

    @property
    def _T(self):  # noqa: N802
        reference = int(np.argmax(self.classes_ == self.reference_))
        # Inference is of infinite C, whose coding is the one with a reference.
        return coding(len(self.classes_), reference, symmetric=False)

    def _of_likelihood(self, model, count, offset):
        """That of the rows given again, which must be those of the fit."""
        coef = self.coef_
        if self.fit_intercept:
            coef = np.column_stack([coef, self.intercept_])
        firth = self.penalty == "firth"
        fitted = FittedLikelihood(model, count, offset, coef, firth=firth)
        again, once = fitted.log_likelihood, self.log_likelihood_
        # Other rows would have another likelihood at these coefficients.
        if not abs(again - once) <= _SAME * abs(once):
            raise ValueError(
                "X, y, sample_weight and offset must be those of the fit, whose "
                f"log-likelihood is {once:.6g}, got {again:.6g}"
            )
        return fitted

    def _check_contrast(self, contrast, value, coef):
        """L of shape (q, M(P + 1)) and ``Lθ − value``."""
        L = check_floats("contrast", contrast)
        L = L[None] if L.ndim == 1 else L
        if L.ndim != 2 or L.shape[1] != len(coef) or not len(L):
            raise ValueError(
                f"contrast must have one column for each of the {len(coef)} "
                f"coefficients of summary(), got shape {np.shape(contrast)}"
            )
        value = check_floats("value", value)
        if value.shape not in ((), (len(L),)) or not np.isfinite(value).all():
            raise ValueError(
                f"value must be a finite number, or {len(L)} of them, got {value}"
            )
        largest = np.abs(L).max(axis=1, keepdims=True)
        if not (np.isfinite(largest) & (largest > 0)).all():
            raise ValueError(
                f"contrast must be finite, and no row of it 0, got {largest.min()}"
            )
        # Rows in units of their largest: the rank does not depend on their sizes.
        rank = np.linalg.matrix_rank(L / largest)
        if rank < len(L):
            raise ValueError(
                f"contrast must have linearly independent rows, got rank {rank} of "
                f"{len(L)}"
            )
        self._check_independent("a contrast")
        with np.errstate(over="ignore", invalid="ignore"):
            gap = L @ coef - value
        if not np.isfinite(gap).all():
            raise ValueError(f"contrast must have finite estimates, got {gap}")
        return L, gap

    def _check_independent(self, what):
        full = self.n_features_in_ + bool(self.fit_intercept)
        if self.rank_ < full:
            raise ValueError(
                f"X must have linearly independent features for {what}, got rank "
                f"{self.rank_} of {full}"
            )

    def _require(self, name, firth=False):
        """As ``_check_inference``, for a method."""
        try:
            self._check_inference(name, firth)
        except AttributeError as refusal:
            check_is_fitted(self)
            raise ValueError(str(refusal)) from None

    def _check_inference(self, name, firth=False):
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
        if self.penalty == "firth" and not firth:
            raise AttributeError(
                f"{name} is defined for maximum likelihood, got penalty='firth'"
            )


def check_total(total, what):
    """Refuse weights of less than one row for what counts rows."""
    if total < _ONE_ROW:
        raise ValueError(
            f"sample_weight must add up to at least 1 with {what}, which counts rows, "
            f"got {total:.3g}"
        )
