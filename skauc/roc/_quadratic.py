"""The ROC curve of a quadratic discriminant between normal classes.

The log likelihood ratio of two normal densities,

    f(x) = log φ(x; μ₁, Σ₁) − log φ(x; μ₀, Σ₀) + log odds,

is a quadratic function. For x = m + Lz, z ~ N(0, I), and ``T_k = Σ_k^{−½}L``,
``d_k = Σ_k^{−½}(m − μ_k)`` it is ``zᵀAz + bᵀz + c`` with

    A = ½(T₀ᵀT₀ − T₁ᵀT₁),  b = T₀ᵀd₀ − T₁ᵀd₁,
    c = ½(d₀ᵀd₀ − d₁ᵀd₁) + ½ log(|Σ₀|/|Σ₁|) + log odds:

a quadratic form in normals in every normal class, whether the
discriminant's own or another.
The AUC is ``P(S₁ − S₀ > 0)``, one quadratic form in the normals of both classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from ..statistics._numbers import as_numbers, as_rate
from ._base import ROCCurve, YoudenPoint
from ._quadratic_form import QuadraticForm

# Thresholds tried for Youden's point, in deviations from a mean and from a vertex
# Quarters of a deviation, between which brentq finds the crossing; and beside a vertex,
# where a density may change on any scale, one threshold a decade
_FROM_MEAN = np.linspace(-8, 8, 65)
_FROM_VERTEX = np.outer([-1, 1], np.geomspace(1e-8, 0.1, 8)).ravel()
_LEVELS, _AGREEMENT = 6, 1e-11  # of the double exponential quadrature


@dataclass(frozen=True, eq=False)
class NormalLaw:
    """``N(mean, Σ)``, ``Σ = axes diag(deviations²) axesᵀ``; r ≤ P axes.

    Parameters
    ----------
    mean : ndarray of shape (P,)
    axes : ndarray of shape (P, r), orthonormal columns
    deviations : ndarray of shape (r,)
    """

    mean: np.ndarray
    axes: np.ndarray
    deviations: np.ndarray

    @classmethod
    def from_covariance(cls, mean, covariance) -> NormalLaw:
        """From a mean and a covariance matrix."""
        # Eigenvalues of a singular covariance may round below 0
        variances, axes = np.linalg.eigh(np.atleast_2d(covariance))
        return cls(
            np.atleast_1d(np.asarray(mean, dtype=float)),
            axes,
            np.sqrt(np.maximum(variances, 0.0)),
        )

    @classmethod
    def from_samples(cls, X) -> NormalLaw:
        """Mean and covariance (divided by n) of the rows of X."""
        mean = X.mean(axis=0)
        # (X − x̄)ᵀ(X − x̄)/n = V (s²/n) Vᵀ
        _, singular, axes = np.linalg.svd(X - mean, full_matrices=False)
        return cls(mean, axes.T, singular / np.sqrt(len(X)))

    def root(self):
        """L of ``x = mean + Lz``."""
        return self.axes * self.deviations

    def whitened(self, X):
        """``Σ^{−½}X``."""
        return (self.axes / self.deviations).T @ X


def _check_log_odds(log_odds):
    values = as_numbers("log_odds", log_odds)
    if values.ndim or not np.isfinite(values):
        raise ValueError(f"log_odds must be a finite number, got {log_odds}")


def _checked_normal(name, mean, covariance, like=None):
    """Mean vector and covariance matrix of a class, as arrays."""
    mean = np.atleast_1d(as_numbers(f"mean_{name}", mean))
    covariance = np.atleast_2d(as_numbers(f"covariance_{name}", covariance))
    if mean.ndim != 1 or len(mean) == 0:
        raise ValueError(f"mean_{name} must be a vector, got shape {mean.shape}")
    if like is not None and mean.shape != like:
        raise ValueError(
            f"mean_neg and mean_{name} must have the same length, got shapes "
            f"{like} and {mean.shape}"
        )
    if covariance.shape != 2 * mean.shape:
        raise ValueError(
            f"covariance_{name} must have shape {2 * mean.shape}, like mean_{name}, "
            f"got {covariance.shape}"
        )
    for part, value in (("mean", mean), ("covariance", covariance)):
        if not np.all(np.isfinite(value)):
            raise ValueError(f"{part}_{name} must be finite, got {value}")
    _check_definite(name, covariance)
    return mean, covariance


def _check_definite(name, covariance):
    """By the correlation matrix: units do not matter."""
    variances = np.diag(covariance)
    if np.any(variances <= 0):
        raise ValueError(
            f"covariance_{name} must be positive definite, got variances {variances}"
        )
    deviations = np.sqrt(variances)
    # Divided twice: the product of two deviations may under- or overflow
    correlation = covariance / deviations / deviations[:, None]
    if np.abs(correlation - correlation.T).max() > 1e-8:
        raise ValueError(f"covariance_{name} must be symmetric, got {covariance}")
    eigenvalues = np.linalg.eigvalsh(correlation)
    if eigenvalues[0] <= 1e-15 * len(variances):
        raise ValueError(
            f"covariance_{name} must be positive definite, got a correlation matrix "
            f"with eigenvalues {eigenvalues}"
        )


def score_law(x: NormalLaw, neg: NormalLaw, pos: NormalLaw, log_odds) -> QuadraticForm:
    """``log φ_pos(x) − log φ_neg(x) + log_odds`` where x has the first distribution."""
    # 2f = ‖T₀z + d₀‖² − ‖T₁z + d₁‖² + log(|Σ₀|/|Σ₁|) + 2 log odds
    T0, T1 = neg.whitened(x.root()), pos.whitened(x.root())
    d0, d1 = neg.whitened(x.mean - neg.mean), pos.whitened(x.mean - pos.mean)
    log_ratio = np.log(neg.deviations).sum() - np.log(pos.deviations).sum()
    return QuadraticForm.from_matrix(
        (T0.T @ T0 - T1.T @ T1) / 2,
        T0.T @ d0 - T1.T @ d1,
        (d0 @ d0 - d1 @ d1) / 2 + log_ratio + log_odds,
    )


@dataclass(frozen=True, eq=False)
class QuadraticROC(ROCCurve):
    """ROC curve of two score distributions that are quadratic forms in normals.

    Answers: if the classes are normal with their own covariances and a quadratic
    discriminant scores them, what are the ROC curve, its area and its best
    threshold? Each number is a contour integral, milliseconds for tens of features; a
    partial area is an integral of such, up to seconds; no data are kept.

    Parameters
    ----------
    neg, pos : QuadraticForm
        Distribution of the score in each class.
    log_odds : float, default=None
        Where the score is the log likelihood ratio of the two classes plus a constant:
        that constant. None for any other score.

    Raises
    ------
    TypeError
        If ``neg`` or ``pos`` is no QuadraticForm.
    ValueError
        If ``log_odds`` is no finite number.

    Notes
    -----
    By Neyman and Pearson the likelihood ratio gives the highest curve there is. It is
    concave, its slope at threshold t is ``exp(t − log_odds)``, and so Youden's
    threshold is ``log_odds``. Any other score's best threshold is searched for.

    A partial area has a relative error of about 1e-10. Where the scores of the negative
    class are bounded above, thresholds for a small FPR are lost in the rounding of that
    bound and digits go with them (one feature, variances 1 and 0.2: 1e-9 at
    ``max_fpr=1e-4``, 15 % at 1e-8, nothing is right below). It takes hundredths of a
    second to a second, more for a hundred features.

    As an *estimate* from the rows that gave the distributions the plug-in curve is
    optimistic.

    References
    ----------
    Rice (1980), https://doi.org/10.1137/0901032; Krzanowski & Hand (2009), *ROC Curves
    for Continuous Data*, chapter 2, https://doi.org/10.1201/9781439800225

    Examples
    --------
    >>> from skauc import QuadraticROC
    >>> roc = QuadraticROC.between_normals(0.0, 1.0, 1.0, 4.0)
    >>> round(roc.auc, 4), round(roc.youden().j, 4)
    (0.7441, 0.3901)
    """

    neg: QuadraticForm
    pos: QuadraticForm
    log_odds: float | None = None

    def __post_init__(self):
        for name in ("neg", "pos"):
            if not isinstance(getattr(self, name), QuadraticForm):
                raise TypeError(
                    f"{name} must be a QuadraticForm, got {getattr(self, name)!r}"
                )
        if self.log_odds is not None:
            _check_log_odds(self.log_odds)

    @classmethod
    def between_normals(
        cls, mean_neg, covariance_neg, mean_pos, covariance_pos, *, log_odds=0.0
    ) -> QuadraticROC:
        """Curve of the likelihood ratio of two normal classes: the best there is.

        Parameters
        ----------
        mean_neg, mean_pos : array-like of shape (P,)
        covariance_neg, covariance_pos : array-like of shape (P, P)
            Positive definite.
        log_odds : float, default=0.0
            Added to the log likelihood ratio.

        Returns
        -------
        QuadraticROC

        Raises
        ------
        ValueError
            If a shape does not fit, a number is not finite, or a covariance is not
            symmetric and positive definite. The correlation matrix decides: units of
            the features do not matter.
        """
        _check_log_odds(log_odds)
        m0, S0 = _checked_normal("neg", mean_neg, covariance_neg)
        m1, S1 = _checked_normal("pos", mean_pos, covariance_pos, like=m0.shape)
        unit = (np.diag(S0) * np.diag(S1)) ** 0.25  # the curve does not depend on it
        # A feature's deviations become √(σ₀/σ₁) and its inverse: features of very
        # different size keep their digits in the eigenvectors
        S0, S1 = (S / unit / unit[:, None] for S in (S0, S1))
        neg = NormalLaw.from_covariance(np.zeros(len(unit)), S0)
        pos = NormalLaw.from_covariance((m1 - m0) / unit, S1)
        return cls(
            score_law(neg, neg, pos, log_odds),
            score_law(pos, neg, pos, log_odds),
            log_odds,
        )

    @property
    def auc(self) -> float:
        """``P(S₁ > S₀)``; ``1 − AUC`` is the auc of :meth:`swapped`."""
        difference = self.pos - self.neg
        if difference.std() == 0:
            return float(1 + np.sign(difference.offset)) / 2
        return float(difference.sf(0.0))

    @property
    def auc_probit(self) -> float:
        """``Φ⁻¹(AUC)``; saturates only where 1 − AUC underflows."""
        complement = self.swapped().auc
        return float(-ndtri(complement) if complement < 0.5 else ndtri(self.auc))

    @property
    def is_proper(self) -> bool:
        """Whether the score is the log likelihood ratio: then the curve is concave."""
        return self.log_odds is not None

    def swapped(self) -> QuadraticROC:
        """Curve with the classes exchanged; its AUC is 1 − AUC to full accuracy."""
        return QuadraticROC(self.pos, self.neg)

    def fpr(self, threshold):
        """False positive rate ``P(neg > threshold)``, elementwise."""
        return self.neg.sf(threshold)

    def tpr(self, threshold):
        """True positive rate ``P(pos > threshold)``, elementwise."""
        return self.pos.sf(threshold)

    def threshold(self, fpr):
        """Threshold with the given false positive rate, elementwise."""
        return self.neg.isf(as_rate("fpr", fpr))

    def roc(self, fpr):
        """True positive rate at the given false positive rate, elementwise."""
        threshold = self.threshold(fpr)
        if self._is_chance():
            return np.asarray(fpr, dtype=float)[()]
        return self.tpr(threshold)

    def _is_chance(self):
        """One point mass: only guessing moves along the curve."""
        difference = self.pos - self.neg
        return difference.std() == 0 and difference.offset == 0

    def _partial_area(self, max_fpr):
        if max_fpr == 1:
            return self.auc
        if self._is_chance():
            return max_fpr**2 / 2
        if self.neg.std() == 0:
            # At FPR 0 a share P(S₁ > c₀) of the positives is found, and no more below 1
            return max_fpr * self.pos.sf(self.neg.offset)
        # The curve has a corner where the densities of one or two terms are not smooth,
        # and a jump at a point mass.
        marks = {
            float(self.fpr(distribution.vertex()))
            for distribution in self._distributions
        }
        ends = [0.0, *sorted(v for v in marks if 0 < v < max_fpr), max_fpr]
        return sum(_integrate(self.roc, a, b) for a, b in pairwise(ends))

    def youden(self) -> YoudenPoint:
        """Threshold at which ``J = TPR − FPR`` is largest: ``log_odds`` if it is known.

        Returns
        -------
        YoudenPoint
            Named tuple ``(threshold, fpr, tpr, j)``.
        """
        if self.log_odds is not None:
            # The slope of the curve, exp(t − log_odds), is 1 where TPR − FPR is largest
            return self._point(self.log_odds)
        return super().youden()

    def _equal_density_thresholds(self):
        """The best of many thresholds, and where the densities cross beside it."""
        # J changes fast beside a vertex, where a density may be infinite
        points = [
            [
                [distribution.vertex(), np.nextafter(distribution.offset, -np.inf)],
                distribution.mean() + distribution.std() * _FROM_MEAN,
                distribution.vertex() + distribution.std() * _FROM_VERTEX,
            ]
            for distribution in self._distributions
        ]
        t = np.unique(np.concatenate([*points[0], *points[1]]))
        t = t[np.isfinite(t)]
        best = int(np.argmax(self.tpr(t) - self.fpr(t)))

        def gain(x):  # slope of −J
            return self.pos.pdf(x) - self.neg.pdf(x)

        found = [t[best]]
        for a, b in zip(t[best - 1 : best + 1], t[best : best + 2], strict=False):
            slopes = gain(np.array([a, b]))
            if np.all(np.isfinite(slopes)) and slopes[0] * slopes[1] < 0:
                # Relative accuracy alone: the threshold may be near 0
                found.append(brentq(gain, a, b, xtol=1e-300))
        return found

    @property
    def _distributions(self):
        return self.neg, self.pos


def _integrate(function, low, high):
    """Double exponential quadrature: ``t = low + (high − low)(1 + tanh g)/2``.

    ``g = ½π sinh v``, trapezoid rule in v (Takahasi & Mori); steep ends do no harm.
    """
    step, before = 0.5, 0.0
    for _ in range(_LEVELS):
        # At |v| = 3.5 the weight is 1/cosh² 26 = e^−51
        # dg/dv = ½π cosh v = √(g² + (½π)²)
        g = np.pi / 2 * np.sinh(np.arange(-3.5, 3.5 + step / 2, step))
        dg = np.sqrt(g**2 + (np.pi / 2) ** 2)
        # (1 + tanh g)/2 = expit(2g), which has its digits next to low too
        t = low + (high - low) * expit(2 * g)
        dt = (high - low) / 2 * dg / np.cosh(g) ** 2
        now = step * np.sum(function(t) * dt)
        if abs(now - before) <= _AGREEMENT * abs(now):
            break
        step, before = step / 2, now
    return now
