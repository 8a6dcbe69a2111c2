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
    correlation: tuple[float, float] | None
    alternative: str
    variance: Callable
    test: str

    @classmethod
    def of(cls, auc, null, alpha, auc2, correlation, margin, alternative, method, test):
        """Check the parameters, and choose test and method where they are None."""
        two = auc2 is not None
        scalar = np.ndim(null) == np.ndim(margin) == 0
        mann_whitney = not two and scalar and (null, margin) == (0.5, 0)
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
        margin = check_numbers("margin", margin, 0, 1, closed="left")
        if margin.any() and alternative == "two-sided":
            raise ValueError(
                "alternative must be 'greater' or 'less' with a margin, got 'two-sided'"
            )
        shares = {"auc": auc, "auc2" if two else "null": auc2 if two else null}
        shares = {**shares, "alpha": alpha}
        checked = (check_numbers(*s, 0, 1, closed="neither") for s in shares.items())
        pair = None if correlation is None else _correlations(correlation)
        law = alternative, VARIANCES[method], test
        plan = cls(*checked, margin, two, pair, *law)
        # a test of one AUC needs its variance at the border
        outside = plan.border[(plan.border <= 0) | (plan.border >= 1)]
        if outside.size and not two:
            raise ValueError(
                "margin must keep the border of the null hypothesis inside (0, 1), got "
                f"{outside.flat[0]:g}"
            )
        return plan

    def shape(self, *arrays):
        """Shape of all parameters that broadcast, with that of other arrays."""
        numbers = (self.auc, self.reference, self.alpha, self.margin, *arrays)
        try:
            return np.broadcast_shapes(*map(np.shape, numbers))
        except ValueError:
            shapes = ", ".join(str(number.shape) for number in numbers if number.ndim)
            raise ValueError(
                "arguments must be numbers or arrays that broadcast, got shapes "
                f"{shapes}"
            ) from None

    @property
    def sign(self):
        """Sign of the alternative; 1 for a two-sided one."""
        return -1 if self.alternative == "less" else 1

    @property
    def border(self):
        """The AUC at the border of the null hypothesis."""
        return np.asarray(self.reference - self.sign * self.margin)

    @property
    def gap(self):
        """Distance of the true AUC beyond that border."""
        return self.sign * (self.auc - self.border)

    def check_reachable(self):
        """Raise if the true AUC is not beyond the border of the null hypothesis."""
        rule = {"two-sided": "differ from", "greater": "exceed", "less": "be less than"}
        gap, auc, border = np.broadcast_arrays(self.gap, self.auc, self.border)
        bad = gap == 0 if self.alternative == "two-sided" else gap <= 0
        if bad.any():
            raise ValueError(
                f"auc must {rule[self.alternative]} the border of the null hypothesis "
                f"{border[bad][0]:g}, got {auc[bad][0]:g}"
            )

    def error(self, n_neg, n_pos):
        """Standard error of the AUC, or of the difference."""
        sizes = n_neg, n_pos
        one = self.variance(self.auc, *sizes)
        if not self.two:
            return np.sqrt(one)
        # Var(Â₁ − Â₂) = V₁ + V₂ − 2 Cov
        two = self.variance(self.reference, *sizes)
        if self.correlation is None:
            return np.sqrt(one + two)
        pair = self.auc, self.reference
        covariance = binormal_covariance(*pair, *sizes, *self.correlation)
        # Cov = √(V₁V₂) · r, r the correlation of two binormal empirical AUCs
        exact = [binormal_variance(auc, *sizes) for auc in pair]
        shared = np.sqrt(one / exact[0]) * np.sqrt(two / exact[1]) * covariance
        return np.sqrt(np.maximum(one + two - 2 * shared, 0))  # 0 except for rounding

    def power(self, n_neg, n_pos):
        """Probability of a significant test."""
        sizes = n_neg, n_pos
        error = self.error(*sizes)
        # z = −Φ⁻¹(α/2), or −Φ⁻¹(α) for one side
        two_sided = self.alternative == "two-sided"
        z = -ndtri(self.alpha / 2 if two_sided else self.alpha)
        # Φ((g − r)/σ), two-sided + Φ((−g − r)/σ), r the reach on that side
        power = _beyond(self.gap - self._reach(z, self.sign, sizes, error), error)
        if two_sided:
            power = power + _beyond(-self.gap - self._reach(z, -1, sizes, error), error)
        return power

    def _reach(self, z, toward, sizes, error):
        """Smallest significant distance r from the border of the null hypothesis."""
        if self.two:
            return z * error
        if self.test == "score":
            return z * np.sqrt(self.variance(self.border, *sizes))

        # r = z √V(border ± r): DeLong's error depends on the observed AUC
        def significant(r):
            return r >= z * np.sqrt(self.variance(self.border + toward * r, *sizes))

        most = 1 - self.border if toward > 0 else self.border
        return bisected(significant, most, 0.0, halvings=30)  # 1e-9

    def width(self, n_neg, n_pos):
        """``high − low`` of the interval Â ± z SE."""
        return -2 * ndtri(self.alpha / 2) * self.error(n_neg, n_pos)


def _beyond(distance, error):
    """``Φ(distance/error)``; 0 or 1 for an error of 0."""
    safe = np.where(error > 0, error, 1)
    return np.where(error > 0, ndtr(distance / safe), distance > 0)


def _correlations(correlation):
    pair = check_numbers("correlation", correlation, -1, 1)
    if pair.shape not in ((), (2,)):
        raise ValueError(
            "correlation must be one number or one for the negatives and one for the "
            f"positives, got shape {pair.shape}"
        )
    return tuple(map(float, np.broadcast_to(pair, 2)))
