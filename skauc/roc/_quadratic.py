"""The ROC curve of a quadratic discriminant between normal classes (section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from ..statistics._checks import check_interval, check_numbers
from ._base import ROCCurve
from ._quadratic_form import QuadraticForm

# Thresholds tried for Youden's point, in deviations: every quarter from a mean, one per
# decade from a vertex, where a density may change on any scale
_FROM_MEAN = np.linspace(-8, 8, 65)
_FROM_VERTEX = np.outer([-1, 1], np.geomspace(1e-8, 0.1, 8)).ravel()


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
        variances, axes = np.linalg.eigh(covariance)
        return cls(mean, axes, np.sqrt(np.maximum(variances, 0.0)))

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


def _checked_normal(name, mean, covariance, shape=None):
    """Mean vector and covariance matrix of a class, as arrays."""
    names = f"mean_{name}", f"covariance_{name}"
    mean = np.atleast_1d(check_numbers(names[0], mean, closed="neither"))
    covariance = np.atleast_2d(check_numbers(names[1], covariance, closed="neither"))
    shape = (mean.size or 1,) if shape is None else shape
    parts = zip(names, (mean, covariance), (shape, 2 * shape), strict=True)
    for part, value, wanted in parts:
        if value.shape != wanted:
            raise ValueError(f"{part} must have shape {wanted}, got {value.shape}")
    # check the correlation matrix, because units must not matter
    deviations = np.sqrt(np.abs(np.diag(covariance)))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.nan_to_num(covariance / deviations / deviations[:, None])
    lowest = np.linalg.eigvalsh(correlation)[0]
    asymmetry = np.abs(correlation - correlation.T).max()
    if asymmetry > 1e-8 or not lowest > 1e-15 * len(mean):
        raise ValueError(
            f"covariance_{name} must be symmetric and positive definite, got "
            f"a correlation matrix with smallest eigenvalue {lowest:.4g} and "
            f"asymmetry {asymmetry:.4g}"
        )
    return mean, covariance


def score_law(x: NormalLaw, neg: NormalLaw, pos: NormalLaw, log_odds) -> QuadraticForm:
    """Law of ``log φ_pos(x) − log φ_neg(x) + log_odds`` for x with the first law."""
    # 2f = ‖T₀z + d₀‖² − ‖T₁z + d₁‖² + log(|Σ₀|/|Σ₁|) + 2 log odds
    T0, T1 = neg.whitened(x.root()), pos.whitened(x.root())
    d0, d1 = neg.whitened(x.mean - neg.mean), pos.whitened(x.mean - pos.mean)
    log_ratio = np.log(neg.deviations).sum() - np.log(pos.deviations).sum()
    offset = (d0 @ d0 - d1 @ d1) / 2 + log_ratio + log_odds
    # With A = V diag(λ) Vᵀ and y = Vᵀz ~ N(0, I):
    # zᵀAz + bᵀz = Σ [λ_j y_j² + (Vᵀb)_j y_j]
    weights, axes = np.linalg.eigh((T0.T @ T0 - T1.T @ T1) / 2)
    return QuadraticForm(weights, axes.T @ (T0.T @ d0 - T1.T @ d1), offset)


@dataclass(frozen=True, eq=False)
class QuadraticROC(ROCCurve):
    """ROC curve of two score distributions that are quadratic forms in normals.

    Answers: what are the ROC curve, its area and its best threshold, if the classes are
    normal with different covariances and the score is a quadratic discriminant? Each
    number is a contour integral, which takes milliseconds for tens of features. A
    partial area is an integral over such integrals and may take a second. No data are
    kept.

    Parameters
    ----------
    neg, pos : QuadraticForm
        Distribution of the score in each class.
    log_odds : float, default=None
        The constant b, if the score is the log likelihood ratio of the two classes plus
        b. None for any other score.

    Raises
    ------
    TypeError
        If ``neg`` or ``pos`` is not a QuadraticForm.
    ValueError
        If ``log_odds`` is not a finite number.

    See Also
    --------
    skauc.QuadraticDiscriminantROC : Makes it from training rows.
    skauc.results.BinormalROC : The curve of normal scores, for a linear discriminant.
    skauc.results.QuadraticForm : Distribution of the score within a class.

    Notes
    -----
    By the lemma of Neyman and Pearson the likelihood ratio has the highest of all ROC
    curves [2]_. The integrals are those of [1]_. This curve is concave and its slope at
    threshold t is ``exp(t − log_odds)``, so that Youden's threshold is ``log_odds``.
    For any other score the best threshold is found by a search.

    A partial area has a relative error of about 1e-10. If the scores of the negative
    class are bounded above, thresholds for a small FPR differ from the bound by little
    more than rounding, and accuracy is lost (one feature with variances 1 and 0.2: a
    relative error of 1e-9 at ``max_fpr=1e-4``, 15 % at 1e-8, no correct digit below). A
    partial area takes hundredths of a second to a second, and longer for a hundred
    features.

    If the distributions are estimated from training rows, the plug-in curve is
    optimistic for new rows.

    References
    ----------
    .. [1] Rice (1980), "Distribution of quadratic forms in normal random variables —
       evaluation by numerical integration", https://doi.org/10.1137/0901032
    .. [2] Krzanowski & Hand (2009), *ROC Curves for Continuous Data*, chapter 2,
       https://doi.org/10.1201/9781439800225

    Examples
    --------
    >>> from skauc.results import QuadraticROC
    >>> roc = QuadraticROC.between_normals(0.0, 1.0, 1.0, 4.0)
    >>> round(roc.auc, 4), round(roc.youden().j, 4)
    (0.7441, 0.3901)
    """

    neg: QuadraticForm
    pos: QuadraticForm
    log_odds: float | None = None

    def __post_init__(self):
        for name, value in (("neg", self.neg), ("pos", self.pos)):
            if not isinstance(value, QuadraticForm):
                raise TypeError(f"{name} must be a QuadraticForm, got {value!r}")
        if self.log_odds is not None:
            check_interval("log_odds", self.log_odds, closed="neither")

    @classmethod
    def between_normals(
        cls,
        mean_neg: ArrayLike,
        covariance_neg: ArrayLike,
        mean_pos: ArrayLike,
        covariance_pos: ArrayLike,
        *,
        log_odds: float = 0.0,
    ) -> QuadraticROC:
        """Curve of the likelihood ratio of two normal classes, the best possible.

        Parameters
        ----------
        mean_neg, mean_pos : array-like of shape (P,)
            Means of the features in each class.
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
            symmetric and positive definite. Definiteness is checked on the correlation
            matrix, so the units of the features do not matter.
        """
        check_interval("log_odds", log_odds, closed="neither")
        m0, S0 = _checked_normal("neg", mean_neg, covariance_neg)
        m1, S1 = _checked_normal("pos", mean_pos, covariance_pos, m0.shape)
        unit = (np.diag(S0) * np.diag(S1)) ** 0.25  # the curve does not depend on it
        # A feature's deviations become √(σ₀/σ₁) and its inverse: features of very
        # different size keep their digits in the eigenvectors
        S0, S1 = (S / unit / unit[:, None] for S in (S0, S1))
        neg = NormalLaw.from_covariance(np.zeros(len(unit)), S0)
        pos = NormalLaw.from_covariance((m1 - m0) / unit, S1)
        of_neg, of_pos = (score_law(x, neg, pos, log_odds) for x in (neg, pos))
        return cls(of_neg, of_pos, log_odds)

    @property
    def auc(self) -> float:
        """Area under the curve ``P(S₁ > S₀)``; ``1 − AUC`` is ``swapped().auc``."""
        difference = self.pos - self.neg
        if difference.std() == 0:
            return float(1 + np.sign(difference.offset)) / 2
        return float(difference.sf(0.0))

    @property
    def auc_probit(self) -> float:
        """``Φ⁻¹(AUC)``; it is infinite only if 1 − AUC underflows."""
        complement = self.swapped().auc
        return float(-ndtri(complement) if complement < 0.5 else ndtri(self.auc))

    @property
    def is_proper(self) -> bool:
        """Whether the score is the log likelihood ratio; the curve is then concave."""
        return self.log_odds is not None

    def swapped(self) -> QuadraticROC:
        """Curve with the classes exchanged; its AUC is 1 − AUC to full accuracy."""
        return QuadraticROC(self.pos, self.neg)

    def fpr(self, threshold: ArrayLike) -> Any:
        """False positive rate ``P(neg > threshold)``, elementwise."""
        return self.neg.sf(threshold)

    def tpr(self, threshold: ArrayLike) -> Any:
        """True positive rate ``P(pos > threshold)``, elementwise."""
        return self.pos.sf(threshold)

    def threshold(self, fpr: ArrayLike) -> Any:
        """Threshold with the given false positive rate, elementwise."""
        return self.neg.isf(check_numbers("fpr", fpr, 0, 1))

    def roc(self, fpr: ArrayLike) -> Any:
        """True positive rate at the given false positive rate, elementwise."""
        threshold = self.threshold(fpr)
        difference = self.pos - self.neg
        if difference.std() == 0 and difference.offset == 0:
            # one point mass for both classes: the curve is the diagonal
            return np.asarray(fpr, dtype=float)[()]
        return self.tpr(threshold)

    def _corners(self):
        """FPR where densities of one or two terms are not smooth, or have a mass."""
        return [self.fpr(form._vertex()) for form in (self.neg, self.pos)]

    def _equal_density_thresholds(self):
        """``log_odds``, or the best of many thresholds and of those next to it."""
        if self.log_odds is not None:
            # The slope of the curve, exp(t − log_odds), is 1 where TPR − FPR is largest
            return [self.log_odds]
        # J changes fast near a vertex, where a density may be infinite
        t = [
            [
                *(form.mean() + form.std() * _FROM_MEAN),
                *(form._vertex() + form.std() * _FROM_VERTEX),
                *(form._vertex(), np.nextafter(form.offset, -np.inf)),
            ]
            for form in (self.neg, self.pos)
        ]
        t = np.unique(t)
        best = int(np.argmin(self._loss(t)))
        ends = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
        options = {"xatol": 1e-9 * (ends[1] - ends[0])}
        between = minimize_scalar(self._loss, bounds=ends, options=options)
        return [t[best], between.x]

    def _loss(self, t):
        """``−J = FPR − TPR``."""
        return self.fpr(t) - self.tpr(t)
