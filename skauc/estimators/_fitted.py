"""A fitted logistic model, and the checks of what its inference needs."""

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import check_groups
from ..statistics._checks import check_option, short
from ..statistics._row_blocks import row_blocks
from ..statistics._warn_caller import warn_caller
from ..statistics._weights import NOT_COUNTS, SampleWeightWarning
from . import _checks as check
from ._base import OffsetClassifier, check_offset
from ._maximum import opened
from ._report import FittedLikelihood, Report
from ._rows import open_rows

COVARIANCES = ("model", "HC0", "HC1", "cluster")
SAME = 1e-6  # relative difference of two log-likelihoods of the same float32 rows


class LogisticFit(OffsetClassifier):
    """Inference of a fitted logistic model, without its rows.

    Robust covariances and profiles take the X, y, ``sample_weight`` and ``offset`` of
    the fit once more, and other rows are refused.
    """

    def _report(self, kind="model", V=None, *, likelihood=None, names=None):
        """Report of the coefficients with their names, for tables and tests."""
        V = self.result_.covariance if V is None else V
        chosen = self.classes_ != self.reference_
        coef = self.coef_ if len(self.classes_) == 2 else self.coef_[chosen]
        if self.fit_intercept:
            intercept = np.broadcast_to(self.intercept_, len(self.classes_))[chosen]
            coef = np.column_stack([intercept, coef])
        null = self.result_.null
        names, labels = self._row_names(names), self.classes_[chosen].tolist()
        odds = f"against {self.classes_[~chosen].tolist()[0]!r}"
        if len(labels) == 1:
            odds = f"of {labels[0]!r} {odds}"
        else:
            names = [f"{label}: {name}" for label in labels for name in names]
        return Report(tuple(names), odds, coef.ravel(), V, null, kind, likelihood)

    def _row_names(self, names):
        """Names of the rows of a table: intercept and features."""
        if hasattr(names, "get_feature_names_out"):
            names = names.get_feature_names_out()
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        names = [str(name) for name in names]
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"names must hold one name for each of the {self.n_features_in_} "
                f"features, got {len(names)}"
            )
        return ["(Intercept)", *names] if self.fit_intercept else names

    def _chosen_covariance(self, covariance, groups, rows, rank=1):
        """Name (a default for None) and matrix of the covariance."""
        default = "model" if self.class_weight is None else "HC0"
        kind = default if covariance is None else covariance
        check_option("covariance", kind, COVARIANCES)
        if (groups is None) == (kind == "cluster"):
            rule = "be given with" if groups is None else "be None without"
            raise ValueError(
                f"groups must {rule} covariance='cluster', got {short(groups)}"
                f" with covariance={kind!r}"
            )
        if kind != "model" and self.penalty == "firth":
            raise ValueError(
                f"covariance must be 'model' with penalty='firth', got {kind!r}"
            )
        if kind == "model" and default != "model":
            raise ValueError(
                "covariance must be 'HC0', 'HC1' or 'cluster' with class_weight, whose "
                "weights are no counts of rows, got 'model'"
            )
        if kind == "model":
            self._warn_unless_counts()
        if kind == default:
            return kind, self.result_.covariance
        return kind, self._sandwich(kind, groups, rows, rank)

    def _sandwich(self, kind, groups, rows, rank):
        """The robust covariance; with G clusters its rank is at most G − 1."""
        likelihood = self._opened(**rows, groups=groups)
        rows = likelihood.objective.rows
        n = float(rows.n_rows)
        rest = n - self.n_parameters_
        if kind != "HC0" and rest <= 0:
            raise ValueError(
                f"covariance must be 'model' or 'HC0' where n_parameters_ >= rows, got "
                f"{self.n_parameters_} parameters and {n:g} rows"
            )
        # n/(n − k), k parameters; clusters: G/(G − 1) · (n − 1)/(n − k)
        factor = n / rest if kind == "HC1" else 1.0
        if groups is None:
            return likelihood.sandwich() * factor
        G = len(np.unique(rows.groups))
        if G <= rank:
            why = "" if rank == 1 else f" for a contrast of {rank} rows"
            raise ValueError(
                f"groups must hold at least {rank + 1} clusters{why}, got {G}"
            )
        return likelihood.sandwich(rows.groups) * (G / (G - 1) * (n - 1) / rest)

    def _opened(self, X=None, y=None, sample_weight=None, offset=None, groups=None):
        """The likelihood of the rows of the fit, which the caller passes again."""
        if X is None or (y is None and row_blocks(X) is None):
            name = "X" if X is None else "y"
            raise ValueError(
                "X and y must be passed again, because a fitted model keeps no rows "
                "and profile limits, likelihood-ratio tests of a contrast and robust "
                f"errors need them: pass X= and y= of the fit, got {name}=None"
            )
        rows = self._rows(X, y, sample_weight, offset, groups, known=self.classes_)
        rows = rows.raised() if np.isinf(self.C) else rows
        likelihood = FittedLikelihood(*opened(self, rows, self._coefficient_rows()))
        again, once = likelihood.point.log_likelihood, self.log_likelihood_
        # other rows have another likelihood at these coefficients
        if not abs(again - once) <= SAME * abs(once):
            raise ValueError(
                "X, y, sample_weight and offset must be those of the fit, whose "
                f"log-likelihood is {once:.6g}, got {again:.6g}"
            )
        return likelihood

    def _coefficient_rows(self):
        """Coefficients with their intercepts, one row per decision."""
        parts = [self.coef_] + [self.intercept_] * bool(self.fit_intercept)
        return np.column_stack(parts)

    def _rows(self, X, y, sample_weight, offset, groups=None, known=None):
        """Check the rows of a fit, or rows that are passed again."""
        options = {"binary": self.penalty == "firth", "reset": known is None}
        rows = open_rows(self, X, y, sample_weight, known=known, **options)
        if row_blocks(X, y, sample_weight) is not None:
            for name, value in (("offset", offset), ("groups", groups)):
                rule, got = "be None where X comes in blocks", type(value).__name__
                if value is not None:
                    raise ValueError(f"{name} must {rule}, got {got}")
        else:
            offset = check_offset(offset, len(rows.y), rows.classes)
            groups = check_groups(groups, len(rows.y))
            rows = replace(rows, offset=offset, groups=groups)
        rows = rows.counted()
        if self.class_weight is None:
            return rows
        factors = check.class_factors(self.class_weight, rows.counts, rows.classes)
        rows = replace(rows, factors=factors)
        rows.check_totals()
        return rows

    # Refusals -------------------------------------------------------------------------

    def _warn_unless_counts(self):
        """Warn if the weights are not counts, which the inverse information counts."""
        # with class_weight errors are those of the sandwich
        if self.class_weight is None and not self.weights_are_counts_:
            warn_caller(NOT_COUNTS, SampleWeightWarning)

    def _require(
        self, name, *, firth=True, weighted=True, counts=True, error=ValueError
    ):
        """Raise if no covariance of the estimates is known; warn if it is doubtful."""
        check_is_fitted(self, "result_")
        firth_fit, classes = self.penalty == "firth", self.class_weight
        if np.isfinite(self.C):
            rule = "defined for maximum likelihood (C=inf), whose inverse information "
            rule += f"is the covariance of the estimates, got C={self.C}"
        elif self.separation_ is not None:
            rule = "not defined where the estimate does not exist, got "
            rule += f"{self.separation_} separation of the classes"
        elif firth_fit and not firth:
            rule = "defined for maximum likelihood, got penalty='firth'"
            if name == "likelihood_ratio_test":
                rule += "; pass contrast= in place of a reduced model"
        elif classes is not None and (firth_fit or not weighted):
            rule = "not defined with class_weight, whose weights are no counts of rows,"
            rule += f" got class_weight={short(classes)}"
        elif self.result_.covariance is None:
            rule = "defined for no more features than rows of positive weight, got "
            rule += f"{self.n_features_in_} features"
        else:
            return self._warn_unless_counts() if counts else None
        raise error(f"{name} is {rule}")
