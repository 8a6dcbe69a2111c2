"""The binormal ROC curve (section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from ..statistics._checks import as_numbers, check_flag, check_interval, check_numbers
from ..statistics._moments import Moments
from ._base import ROCCurve

_LARGEST = 1e100  # largest size of moments: squares and ratios do not overflow
_RISE = np.array([-9, 0, 9])  # deviations; Φ(±9) rounds to 0 or 1


@dataclass(frozen=True)
class BinormalROC(ROCCurve):
    """ROC curve of two normal score distributions.

    Answers: what are the ROC curve, its area and its best threshold, if the scores are
    normal in each class? All results have closed forms and cost O(1); no data are kept.

    Parameters
    ----------
    mean_neg, std_neg, mean_pos, std_pos : float
        Mean and standard deviation of the scores of each class.

    Raises
    ------
    ValueError
        If a standard deviation is negative or lies strictly between 0 and 1e-100, or if
        a parameter is not finite or larger than 1e100 in absolute value.

    See Also
    --------
    skauc.binormal_roc : Makes it from scores.
    skauc.results.QuadraticROC : The curve of a quadratic discriminant.
    skauc.empirical_roc : The curve without an assumption about the scores.
    skauc.ROCDisplay : Draws it.

    Notes
    -----
    ``AUC = Φ((μ₁ − μ₀)/√(σ₀² + σ₁²))`` [1]_. If one standard deviation is 0, the curve
    has a jump; if both are 0, the AUC is 0, ½ or 1. The curve is concave (proper) only
    if ``σ₀ = σ₁`` and ``μ₁ ≥ μ₀``; otherwise it crosses the chance line near one
    corner.

    The absolute error of a partial area is about 1e-15. Its relative error is below
    1e-10 if the area is above 1e-15 and ``max_fpr`` is below 0.99.

    **Not** an estimate for training scores, for which the plug-in curve is optimistic;
    use :func:`skauc.auc_posterior` there.

    References
    ----------
    .. [1] Krzanowski & Hand (2009), *ROC Curves for Continuous Data*, chapter 2,
       https://doi.org/10.1201/9781439800225

    Examples
    --------
    >>> from skauc.results import BinormalROC
    >>> roc = BinormalROC(mean_neg=0.0, std_neg=1.0, mean_pos=1.0, std_pos=1.0)
    >>> round(roc.auc, 4), round(roc.youden().threshold, 4)
    (0.7602, 0.5)
    """

    mean_neg: float
    std_neg: float
    mean_pos: float
    std_pos: float

    def __post_init__(self):
        for name in ("mean_neg", "std_neg", "mean_pos", "std_pos"):
            is_deviation = name.startswith("std")
            lowest = 0 if is_deviation else -_LARGEST
            value = check_interval(name, getattr(self, name), lowest, _LARGEST)
            if is_deviation and 0 < value < 1 / _LARGEST:
                raise ValueError(
                    f"{name} must be 0 or at least {1 / _LARGEST:g}, got {value}"
                )
            object.__setattr__(self, name, value)

    @classmethod
    def from_moments(
        cls, neg: Moments, pos: Moments, *, equal_variance: bool = False
    ) -> BinormalROC:
        """Binormal curve with the sample means and variances of the scores.

        Parameters
        ----------
        neg, pos : Moments
            One-dimensional moments (see :meth:`Moments.project`).
        equal_variance : bool, default=False
            True pools the variances of both classes (divisor n − 2). False uses the
            variance of each class (divisor n_c − 1).

        Returns
        -------
        BinormalROC

        Raises
        ------
        ValueError
            If a class has too few rows for a variance.
        """
        if check_flag("equal_variance", equal_variance):
            df = neg.n + pos.n - 2
            if df <= 0:
                raise ValueError(
                    "the negative and the positive class must hold more than 2 rows "
                    f"together for a pooled variance, got {neg.n + pos.n:g}"
                )
            std_neg = std_pos = np.sqrt((neg.scatter + pos.scatter) / df)
        else:
            check_own_variances(neg, pos, "; equal_variance=True pools them")
            std_neg, std_pos = np.sqrt(neg.covariance), np.sqrt(pos.covariance)
        return cls(float(neg.mean), std_neg, float(pos.mean), std_pos)

    @property
    def auc(self) -> float:
        """Area under the curve; ``1 − AUC`` is ``swapped().auc``."""
        return float(ndtr(self.auc_probit))

    @property
    def auc_probit(self) -> float:
        """``Φ⁻¹(AUC)``, the separation of the classes; it never saturates."""
        gap = self.mean_pos - self.mean_neg
        spread = np.hypot(self.std_neg, self.std_pos)
        if spread == 0:
            return float(np.sign(gap) * np.inf) if gap else 0.0
        return float(gap / spread)

    @property
    def is_proper(self) -> bool:
        """Whether the curve is concave (the score orders by likelihood ratio)."""
        return self.std_neg == self.std_pos and self.mean_pos >= self.mean_neg

    def swapped(self) -> BinormalROC:
        """Curve with the classes exchanged; its AUC is 1 − AUC to full accuracy."""
        return BinormalROC(self.mean_pos, self.std_pos, self.mean_neg, self.std_neg)

    def fpr(self, threshold: ArrayLike) -> Any:
        """False positive rate ``P(neg > threshold)``, elementwise."""
        return _above(self.mean_neg - as_numbers("threshold", threshold), self.std_neg)

    def tpr(self, threshold: ArrayLike) -> Any:
        """True positive rate ``P(pos > threshold)``, elementwise."""
        return _above(self.mean_pos - as_numbers("threshold", threshold), self.std_pos)

    def threshold(self, fpr: ArrayLike) -> Any:
        """Threshold with the given false positive rate, elementwise."""
        return self.mean_neg - self._depth(fpr)

    def roc(self, fpr: ArrayLike) -> Any:
        """True positive rate at the given false positive rate, elementwise."""
        gap, depth = self.mean_pos - self.mean_neg, self._depth(fpr)
        if self.std_neg == self.std_pos == gap == 0:
            # one point mass for both classes: the curve is the diagonal
            return np.asarray(fpr, dtype=float)[()]
        # ROC(u) = Φ(a + b Φ⁻¹(u)) = Φ((μ₁ − μ₀ + σ₀ Φ⁻¹(u))/σ₁)
        return _above(gap + depth, self.std_pos)

    def _depth(self, fpr):
        """``σ₀ Φ⁻¹(FPR)``, by which the threshold lies below the negative mean."""
        fpr = check_numbers("fpr", fpr, 0, 1)
        if self.std_neg == 0:
            # FPR is 0 from the point mass on, and 1 below it
            return np.where(fpr == 1, np.inf, 0.0)[()]
        return self.std_neg * ndtri(fpr)

    def _corners(self):
        """FPR where the curve rises: within nine deviations of the positive mean."""
        if self.std_neg == 0:
            return []
        z = (self.mean_neg - self.mean_pos + self.std_pos * _RISE) / self.std_neg
        return ndtr(z).tolist()

    def _equal_density_thresholds(self):
        """The midpoint of the means, or both roots of a quadratic."""
        if self.std_neg == self.std_pos:
            return [(self.mean_neg + self.mean_pos) / 2]
        if 0 in (self.std_neg, self.std_pos):
            # best is the lowest t with FPR 0, the point mass of the negatives, or the
            # highest t with TPR 1, below that of the positives
            return [self.mean_neg, np.nextafter(self.mean_pos, -np.inf)]
        # In units of the wider deviation around the mean of the narrower class:
        # A x² + 2er² x − r²(e² − 2 log r) = 0 with r < 1, A = 1 − r²
        (narrow, centre), (wide, other) = sorted(
            [(self.std_neg, self.mean_neg), (self.std_pos, self.mean_pos)]
        )
        r, e = narrow / wide, (other - centre) / wide
        A, log = (1 - r) * (1 + r), -2 * np.log(r)
        # x₁ = −sign(e) r(|e|r + √(e² − 2A log r))/A and, because the difference of
        # these two terms would cancel, x₂ = −r²(e² − 2 log r)/(A x₁)
        total = abs(e) * r + np.sqrt(e**2 + A * log)
        sign = np.copysign(1.0, e)
        roots = [-sign * r * total / A, sign * r * (e**2 + log) / total]
        return [centre + wide * x for x in roots]


def check_own_variances(neg, pos, instead=""):
    """Raise for the moments of a class of one row, which has no variance."""
    for name, part in (("negative", neg), ("positive", pos)):
        if part.n <= 1:
            raise ValueError(
                f"the {name} class must hold more than 1 row (or weights that add up "
                f"to more than 1) for its own variance, got {part.n:g}{instead}"
            )


def _above(distance, std):
    """``P(N(distance, std²) > 0)``; a point mass where std is 0."""
    return ndtr(distance / std) if std else np.where(distance > 0, 1.0, 0.0)[()]
