"""The power of a study that is planned: only sizes and AUCs are known.

Section 9 of :mod:`skauc.intervals` has the formulas. To add a variance, add one entry
to ``VARIANCES``.

References: Bamber (1975), https://doi.org/10.1016/0022-2496(75)90001-2; Obuchowski
(2004), https://doi.org/10.1373/clinchem.2004.031823; Plackett (1954),
https://doi.org/10.1093/biomet/41.3-4.351.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_numbers, check_option, short
from ..statistics._levels import hanley_mcneil_variance
from ..statistics._wald import ALTERNATIVES
from ._limits import bisected

TESTS = ("score", "wald")
_NO_VARIANCE = 1e-30  # of scores of correlation 1, whose variance is rounding
# Gauss–Legendre; 64 nodes leave 1e-13 for |r| ≤ ½ and 1e-9 for the one term of r > ½
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def binormal_covariance(auc_a, auc_b, n_neg, n_pos, corr_neg=1.0, corr_pos=1.0):
    """Covariance of the empirical AUCs of two normal scores of the same rows.

    Parameters
    ----------
    auc_a, auc_b : float or ndarray
        True AUCs, inside (0, 1); with the default correlations the same.
    n_neg, n_pos : float or ndarray
    corr_neg, corr_pos : float or ndarray in [-1, 1], default=1
        Correlation of the scores within each class.

    Returns
    -------
    ndarray
    """
    h, k = ndtri(auc_a), ndtri(auc_b)
    both = _concordance(h, k, (corr_neg + corr_pos) / 2)
    same_pos, same_neg = (_concordance(h, k, r / 2) for r in (corr_pos, corr_neg))
    # A pair meets n₀ − 1 others by its positive row and n₁ − 1 by its negative
    total = both + (n_neg - 1) * same_pos + (n_pos - 1) * same_neg
    return total / (n_neg * n_pos)


def _concordance(h, k, r):
    """``Φ₂(h, k; r) − Φ(h)Φ(k)``, elementwise."""
    h, k, r = (np.asarray(x, dtype=float)[..., None] for x in (h, k, r))
    # ∫₀^{asin r} f(t) dt = (asin r/2) Σ weight f((asin r/2)(1 + node))
    reach = np.arcsin(r) / 2
    t = reach * (1 + _NODES)
    # (h² − 2hk sin t + k²)/2cos² t = hk/(1 + sin t) + (h − k)²/(2 cos² t)
    exponent = h * k / (1 + np.sin(t)) + (h - k) ** 2 / (2 * np.cos(t) ** 2)
    return (reach * np.exp(-exponent) * _WEIGHTS).sum(axis=-1) / (2 * np.pi)


def obuchowski_variance(auc, n_neg, n_pos):
    """Obuchowski's variance, with the two constants as she prints them; elementwise.

    ``0.0099 e^{−a²/2} {5a² + 8 + (a² + 8)/κ}/n₁``, ``a = 1.414 Φ⁻¹(A)``, κ = n₀/n₁:
    of the area under a fitted binormal curve, without the covariance of its two
    parameters, which makes it too large away from A = ½.
    """
    # constants as printed: 1.414 for √2, .0099 for 1/(32π) = .00995
    a2 = (1.414 * ndtri(auc)) ** 2
    return 0.0099 * np.exp(-a2 / 2) * ((5 * a2 + 8) / n_pos + (a2 + 8) / n_neg)


def binormal_variance(auc, n_neg, n_pos):
    """Exact variance of the empirical AUC of a normal score; elementwise."""
    return binormal_covariance(auc, auc, n_neg, n_pos)


VARIANCES: dict[str, Callable] = {
    "obuchowski": obuchowski_variance,
    "hanley_mcneil": hanley_mcneil_variance,
    "binormal": binormal_variance,
}


@dataclass(frozen=True, eq=False)
class Plan:
    """Parameters of a study, without its size.

    ``reference`` is the second AUC of ``two``, or the AUC under the null hypothesis.
    """

    auc: np.ndarray
    reference: np.ndarray
    alpha: np.ndarray
    margin: np.ndarray
    two: bool
    correlation: np.ndarray
    alternative: str
    variance: Callable
    test: str

    @classmethod
    def of(cls, auc, null, alpha, auc2, correlation, margin, alternative, method, test):
        """Check the parameters, and choose test and method where they are None."""
        two = auc2 is not None
        second = {"auc2": auc2} if two else {"null": null}
        shares = {"auc": auc, **second, "alpha": alpha}
        checked = [check_numbers(*s, 0, 1, closed="neither") for s in shares.items()]
        margin = check_numbers("margin", margin, 0, 1, closed="left")
        mann_whitney = not (two or margin.any() or (checked[1] != 0.5).any())
        if test is None:
            test = "score" if mann_whitney else "wald"
        if method is None:
            method = "obuchowski" if mann_whitney else "binormal"
        check_option("alternative", alternative, ALTERNATIVES)
        check_option("method", method, VARIANCES)
        check_option("test", test, TESTS)
        if two and test == "score":
            raise ValueError("test must be 'wald' with auc2, got 'score'")
        if correlation is not None and not two:
            raise ValueError(
                f"correlation must come with auc2, got {short(correlation)} alone"
            )
        if margin.any() and alternative == "two-sided":
            raise ValueError(
                "alternative must be 'greater' or 'less' with a margin, got 'two-sided'"
            )
        law = alternative, VARIANCES[method], test
        plan = cls(*checked, margin, two, _correlations(correlation), *law)
        if not two:  # a test of one AUC needs its variance at the border
            name = "the border of the null hypothesis"
            check_numbers(name, plan.border, 0, 1, closed="neither")
        return plan

    @property
    def sides(self) -> tuple[int, ...]:
        """Signs of the differences that reject the null hypothesis."""
        return {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[self.alternative]

    @property
    def border(self):
        """The AUC at the border of the null hypothesis."""
        return self.reference - self.sides[0] * self.margin

    def error(self, n_neg, n_pos):
        """Standard error of the AUC, or of the difference."""
        sizes, pair = (n_neg, n_pos), (self.auc, self.reference)
        one, two = (self.variance(auc, *sizes) for auc in pair)
        if not self.two:
            return np.sqrt(one)
        # Cov = √(V₁V₂) r, with the correlation r of two binormal empirical AUCs
        covariance = binormal_covariance(*pair, *sizes, *self.correlation)
        exact = [binormal_variance(auc, *sizes) for auc in pair]
        shared = np.sqrt(one / exact[0]) * np.sqrt(two / exact[1]) * covariance
        # Var(Â₁ − Â₂) = V₁ + V₂ − 2 Cov
        return np.sqrt(np.maximum(one + two - 2 * shared, _NO_VARIANCE))

    def power(self, n_neg, n_pos):
        """Probability of a significant test."""
        error = self.error(n_neg, n_pos)
        z = -ndtri(self.alpha / len(self.sides))
        # Φ((g − r)/σ), two-sided + Φ((−g − r)/σ), r the reach on that side
        gaps = (
            side * (self.auc - self.border) - self._reach(z, side, n_neg, n_pos, error)
            for side in self.sides
        )
        return sum(ndtr(gap / error) for gap in gaps)

    def _reach(self, z, side, n_neg, n_pos, error):
        """Smallest significant distance r from the border of the null hypothesis."""
        if self.two:
            return z * error
        if self.test == "score":
            return z * np.sqrt(self.variance(self.border, n_neg, n_pos))

        # r = z √V(border ± r): DeLong's error depends on the observed AUC
        def significant(r):
            return r >= z * np.sqrt(self.variance(self.border + side * r, n_neg, n_pos))

        most = 1 - self.border if side > 0 else self.border
        return bisected(significant, most, 0.0, halvings=30)  # 1e-9

    def width(self, n_neg, n_pos):
        """``high − low`` of the interval Â ± z SE."""
        return -2 * ndtri(self.alpha / 2) * self.error(n_neg, n_pos)


def _correlations(correlation):
    """Correlations within the negatives and the positives; 0 for different rows."""
    if correlation is None:
        return np.zeros(2)
    pair = check_numbers("correlation", correlation, -1, 1)
    if pair.shape not in ((), (2,)):
        raise ValueError(
            "correlation must be one number or one for the negatives and one for the "
            f"positives, got shape {pair.shape}"
        )
    return np.broadcast_to(pair, 2)
