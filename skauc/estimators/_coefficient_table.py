"""The table of coefficients that a regression prints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..statistics._result import Result, aligned

_COLUMNS = ("coefficient", "standard_error", "z", "pvalue", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable(Result):
    """Inference of coefficients, a row each.

    Parameters
    ----------
    names : tuple of str
        Rows; for more than two classes ``"class: feature"``.
    coefficient, standard_error, z, pvalue, low, high : ndarray of shape (n_rows,)
        ``z = coefficient/standard_error`` and its two-sided normal p-value; for
        ``method="profile"`` z is the signed root of the likelihood-ratio statistic.
    confidence_level : float
        Of the interval ``[low, high]``.
    covariance : {"model", "HC0", "HC1", "cluster"}
        What the standard errors stand on.
    method : {"wald", "profile"}

    Notes
    -----
    A linearly dependent feature set may leave a coefficient with standard error 0
    (one that is 0 by convention); its z and p-value are NaN.
    """

    names: tuple
    coefficient: np.ndarray
    standard_error: np.ndarray
    z: np.ndarray
    pvalue: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    covariance: str = "model"
    method: str = "wald"

    @classmethod
    def of_wald(cls, coef, error, names, groups, confidence_level, covariance="model"):
        """Table from coefficients and standard errors of shape (M, n_names)."""
        labels = [n if g is None else f"{g}: {n}" for g in groups for n in names]
        coef, error = np.ravel(coef), np.ravel(error)
        known = error > 0
        z = np.full(len(coef), np.nan)
        z[known] = coef[known] / error[known]
        # Wald: β̂ ± Φ⁻¹((1 + level)/2) SE
        half = ndtri((1 + confidence_level) / 2) * error
        return cls(
            tuple(labels),
            coef,
            error,
            z,
            2 * ndtr(-np.abs(z)),
            coef - half,
            coef + half,
            confidence_level,
            covariance,
        )

    @classmethod
    def of_profile(cls, coef, error, root, limits, names, groups, confidence_level):
        """Table from roots of likelihood-ratio statistics and limits in errors.

        Parameters
        ----------
        coef : ndarray of shape (M, n_names)
        error, root : ndarray of shape (M n_names,)
        limits : ndarray of shape (M n_names, 2)
        names, groups, confidence_level
            As for the other.
        """
        labels = [n if g is None else f"{g}: {n}" for g in groups for n in names]
        coef = np.ravel(coef)
        # sign(β̂) √{2(ℓ(θ̂) − max ℓ(θ : β = 0))}
        z = np.copysign(root, coef)
        # The limits are in standard errors from the estimate.
        low, high = coef + limits.T * error
        pvalue = 2 * ndtr(-np.abs(z))
        table = tuple(labels), coef, error, z, pvalue, low, high, confidence_level
        return cls(*table, method="profile")

    def odds_ratios(self):
        """Exponentials of the coefficients and of their limits.

        For more than two classes the odds are against the reference class. Of the
        intercept it is the odds where all features are 0.

        Returns
        -------
        OddsRatioTable
        """
        with np.errstate(over="ignore"):  # beyond e^709 they are infinite
            ratio, low, high = np.exp([self.coefficient, self.low, self.high])
        return OddsRatioTable(
            self.names, ratio, self.pvalue, low, high, self.confidence_level
        )

    def _columns(self):
        return {"": self.names} | {name: getattr(self, name) for name in _COLUMNS}

    def __str__(self):
        tail = (1 - self.confidence_level) / 2
        head = ("coefficient", "standard error", "z", "p-value")
        head = ("", *head, f"[{tail:.4g}", f"{1 - tail:.4g}]")
        rows = [head] + [
            (
                name,
                f"{b:.4g}",
                f"{se:.4g}",
                f"{z:.2f}",
                f"{p:.2g}",
                f"{lo:.4g}",
                f"{hi:.4g}",
            )
            for name, b, se, z, p, lo, hi in zip(
                self.names, *(getattr(self, c) for c in _COLUMNS), strict=True
            )
        ]
        return aligned(rows)

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class OddsRatioTable(Result):
    """Odds ratios, one row a coefficient.

    Parameters
    ----------
    names : tuple of str
    odds_ratio, pvalue, low, high : ndarray of shape (n_rows,)
        Odds ratio for one unit more of the feature, p-value of an odds ratio of 1, and
        its interval.
    confidence_level : float
    """

    names: tuple
    odds_ratio: np.ndarray
    pvalue: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float

    def _columns(self):
        columns = ("odds_ratio", "pvalue", "low", "high")
        return {"": self.names} | {name: getattr(self, name) for name in columns}

    def __str__(self):
        tail = (1 - self.confidence_level) / 2
        head = ("", "odds ratio", "p-value", f"[{tail:.4g}", f"{1 - tail:.4g}]")
        columns = self.names, self.odds_ratio, self.pvalue, self.low, self.high
        rows = [
            (name, f"{ratio:.4g}", f"{p:.2g}", f"{low:.4g}", f"{high:.4g}")
            for name, ratio, p, low, high in zip(*columns, strict=True)
        ]
        return aligned([head, *rows])

    __repr__ = __str__
