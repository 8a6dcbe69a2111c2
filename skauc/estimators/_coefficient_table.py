"""The table of coefficients that a regression prints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..statistics._result import Result, aligned

_COLUMNS = ("coefficient", "standard_error", "z", "pvalue", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable(Result):
    """Wald inference, one row a coefficient.

    Parameters
    ----------
    names : tuple of str
        Rows; for more than two classes ``"class: feature"``.
    coefficient, standard_error, z, pvalue, low, high : ndarray of shape (n_rows,)
        ``z = coefficient/standard_error`` and its two-sided normal p-value.
    confidence_level : float
        Of the interval ``[low, high]``.

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

    @classmethod
    def of_wald(cls, coef, error, names, groups, confidence_level):
        """Table from coefficients and standard errors of shape (M, n_names)."""
        labels = [n if g is None else f"{g}: {n}" for g in groups for n in names]
        coef, error = np.ravel(coef), np.ravel(error)
        known = error > 0
        z = np.full(len(coef), np.nan)
        z[known] = coef[known] / error[known]
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
