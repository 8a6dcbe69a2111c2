"""What the coefficients of a fit and their covariance say: tables and tests.

One object for all questions: a contrast ``Lθ`` has the variance ``L V Lᵀ``, where V is
the inverse information or a sandwich, and a fall of the likelihood where Lθ is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from .._validation import check_floats
from ..statistics._result import Result, table_text
from ..statistics._wald import WaldTable


class _OddsTable(Result):
    """A table with one row per coefficient, below a line that names the odds."""

    _scale: str  # of the numbers: log odds, or odds
    _titles: tuple[str, ...]  # of the columns before the limits

    def _columns(self):
        names = [t.replace(" ", "_").replace("-", "") for t in self._titles]
        names += ["low", "high"]
        return {"": self.names} | {name: getattr(self, name) for name in names}

    def __repr__(self):
        tail = (1 - self.confidence_level) / 2
        limits = f"[{tail:.4g}", f"{1 - tail:.4g}]"
        text = table_text(self._columns(), ("", *self._titles, *limits))
        return f"{self._scale} {self.odds}\n{text}" if self.odds else text


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable(_OddsTable):
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
        The estimate of the standard errors.
    method : {"wald", "profile"}
    odds : str
        The odds whose logarithm the model is linear in, ``"of 'ill' against 'well'"``.

    Notes
    -----
    A linearly dependent feature set may leave a coefficient that is 0 by convention,
    with standard error 0 and p-value 1.
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
    odds: str = ""
    _scale = "log odds"
    _titles = "coefficient", "standard error", "z", "p-value"

    def odds_ratios(self):
        """Exponentials of the coefficients and of their limits.

        The table names the odds: for two classes those of ``classes_[1]`` against
        ``classes_[0]``, for more those of each class against the reference. The row of
        the intercept holds the odds where all features are 0.

        Returns
        -------
        OddsRatioTable
        """
        with np.errstate(over="ignore"):  # beyond e^709 they are infinite
            ratio, low, high = np.exp([self.coefficient, self.low, self.high])
        table = self.names, ratio, self.pvalue, low, high
        return OddsRatioTable(*table, self.confidence_level, self.odds)


@dataclass(frozen=True, eq=False, repr=False)
class OddsRatioTable(_OddsTable):
    """Odds ratios, one row per coefficient.

    Parameters
    ----------
    names : tuple of str
    odds_ratio, pvalue, low, high : ndarray of shape (n_rows,)
        Odds ratio for one unit more of the feature, p-value of an odds ratio of 1, and
        its interval.
    confidence_level : float
    odds : str
        The odds that are compared, ``"of 'ill' against 'well'"``.
    """

    names: tuple
    odds_ratio: np.ndarray
    pvalue: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    odds: str = ""
    _scale = "odds"
    _titles = "odds ratio", "p-value"


class LikelihoodRatio(NamedTuple):
    """Likelihood-ratio test of two nested fits."""

    statistic: float
    df: int
    pvalue: float


class WaldTest(NamedTuple):
    """Wald test of contrasts ``Lθ = value``, with the contrasts and their errors."""

    statistic: float
    df: int
    pvalue: float
    estimate: np.ndarray
    standard_error: np.ndarray


@dataclass(frozen=True, eq=False)
class Report:
    """Coefficients, each intercept first, with V and the likelihood where needed."""

    names: tuple  # of the rows of the table, M(P + 1)
    odds: str
    coef: np.ndarray
    covariance: np.ndarray
    kind: str = "model"  # of the covariance
    likelihood: Any = None  # FittedLikelihood

    @property
    def errors(self):
        """Standard errors of the coefficients."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def table(self, level) -> CoefficientTable:
        """Wald's table."""
        wald = WaldTable(self.coef, self.errors)
        limits = wald.limits(level)
        numbers = self.coef, self.errors, wald.statistic, wald.pvalue, *limits
        return CoefficientTable(
            self.names, *numbers, level, self.kind, "wald", self.odds
        )

    def profile(self, level) -> CoefficientTable:
        """The table of likelihood-ratio tests."""
        # χ²₁ = z²: the test keeps what has |r| ≤ Φ⁻¹ of the tail
        quantile, identity = -ndtri((1 - level) / 2), np.eye(len(self.coef))
        limits = np.array([self.likelihood.limits(row, quantile) for row in identity])
        # sign(β̂) √{2(ℓ(θ̂) − max ℓ(θ : θ_j = 0))}
        falls = [
            self.likelihood.fall(row[None], -gap[None])
            for row, gap in zip(identity, self.coef, strict=True)
        ]
        self.likelihood.warn()
        z = np.copysign(np.sqrt(falls), self.coef)
        low, high = self.coef + limits.T * self.errors
        numbers = self.coef, self.errors, z, 2 * ndtr(-np.abs(z)), low, high
        return CoefficientTable(
            self.names, *numbers, level, self.kind, "profile", self.odds
        )

    def wald_test(self, contrast, value) -> WaldTest:
        """``(Lθ − value)ᵀ(L V Lᵀ)⁻¹(Lθ − value)``, χ² with as many degrees as rows."""
        L, gap = self.gap(contrast, value)
        S = L @ self.covariance @ L.T
        size = np.sqrt(np.diag(S))
        if not (size > 0).all():
            raise ValueError(
                "contrast must have a variance that is a positive number, got a "
                f"standard error of {size.min():.3g}"
            )
        z = gap / size  # in units of the contrasts' errors
        statistic = max(float(z @ np.linalg.solve(S / size / size[:, None], z)), 0.0)
        df = len(L)
        return WaldTest(
            statistic, df, float(chdtrc(df, statistic)), L @ self.coef, size
        )

    def likelihood_ratio(self, contrast, value) -> LikelihoodRatio:
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = value)}``, χ² with as many degrees as rows."""
        L, gap = self.gap(contrast, value)
        fall = self.likelihood.fall(L, -gap)
        self.likelihood.warn()
        return LikelihoodRatio(fall, len(L), float(chdtrc(len(L), fall)))

    def gap(self, contrast, value):
        """L of shape (q, M(P + 1)) and ``Lθ − value``."""
        L, value = check_contrast(contrast), check_floats("value", value)
        if L.shape[1] != len(self.coef):
            raise ValueError(
                f"contrast must have one column for each of the {len(self.coef)} "
                f"coefficients of summary(), got shape {np.shape(contrast)}"
            )
        if value.shape not in ((), (len(L),)) or not np.isfinite(value).all():
            raise ValueError(
                f"value must be a finite number, or {len(L)} of them, got {value}"
            )
        return L, L @ self.coef - value


def check_contrast(contrast):
    """Check the rows of a contrast: finite, not 0, linearly independent."""
    L = check_floats("contrast", contrast)
    L = L[None] if L.ndim == 1 else L
    if L.ndim != 2 or 0 in L.shape:
        raise ValueError(f"contrast must be a matrix or a row, got shape {L.shape}")
    largest = np.abs(L).max(axis=1, keepdims=True)
    if not (np.isfinite(largest) & (largest > 0)).all():
        raise ValueError(
            f"contrast must be finite, and no row of it 0, got {largest.min()}"
        )
    # Rows in units of their largest: the rank does not depend on their sizes
    rank = np.linalg.matrix_rank(L / largest)
    if rank < len(L):
        raise ValueError(
            f"contrast must have linearly independent rows, got rank {rank} of {len(L)}"
        )
    return L
