"""The power of a test of AUCs, and the number of rows that a study needs.

Section 8 of :mod:`skauc.intervals` has the formulas. To add a variance, add one entry
to ``VARIANCES``. References: Bamber (1975),
https://doi.org/10.1016/0022-2496(75)90001-2; Obuchowski
(2004), https://doi.org/10.1373/clinchem.2004.031823; Plackett (1954),
https://doi.org/10.1093/biomet/41.3-4.351.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_either
from ..statistics._checks import check_numbers, check_option, refuse_ignored, short
from ..statistics._levels import balanced_variance, hanley_mcneil_variance
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import check_alternative
from ._limits import bisected

_NO_ERROR = 1e-14  # standard error of scores of correlation 1, which is rounding
# Gauss–Legendre; 64 nodes leave 1e-13 for |r| ≤ ½ and 1e-9 for the one term of r > ½
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_LEAST_ROWS = 2  # least rows of a class with a variance
_MOST_ROWS = 2.0**40  # about 10¹², the limit of the search


def binormal_covariance(auc_a, auc_b, n_neg, n_pos, corr_neg=1.0, corr_pos=1.0):
    """Covariance of the empirical AUCs of two normal scores; 1 is one score twice."""
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
    """Obuchowski's variance: too large away from A = ½, where it lacks a covariance."""
    # .0099 e^{−a²/2} {5a² + 8 + (a² + 8)/κ}/n₁, a = 1.414 Φ⁻¹(A), κ = n₀/n₁, with the
    # constants as she prints them: 1.414 for √2, .0099 for 1/(32π) = .00995
    a2 = (1.414 * ndtri(auc)) ** 2
    return 0.0099 * np.exp(-a2 / 2) * ((5 * a2 + 8) / n_pos + (a2 + 8) / n_neg)


VARIANCES: dict[str, Callable] = {
    "obuchowski": obuchowski_variance,
    "hanley_mcneil": hanley_mcneil_variance,
    "binormal": lambda auc, *sizes: binormal_covariance(auc, auc, *sizes),
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
    mann_whitney: bool

    @classmethod
    def of(cls, auc, null, alpha, auc2, correlation, margin, alternative, method):
        """Check the parameters, and choose the method where it is None."""
        two = auc2 is not None
        if two:
            refuse_ignored("with auc2", null=(null, None), method=(method, None))
        else:
            refuse_ignored("without auc2", correlation=(correlation, None))
        second = {"auc2": auc2} if two else {"null": 0.5 if null is None else null}
        shares = {"auc": auc, **second, "alpha": alpha}
        checked = [check_numbers(*s, 0, 1, closed="neither") for s in shares.items()]
        margin = check_numbers("margin", margin, 0, 1, closed="left")
        is_half = (checked[1] == 0.5) & (margin == 0)
        if not two and is_half.any() and not is_half.all():
            raise ValueError(
                "null and margin must not mix the test against 1/2 with others, which "
                f"have another variance, got null={short(null)}, margin={short(margin)}"
            )
        mann_whitney = not two and is_half.all()
        if method is None:
            method = "obuchowski" if mann_whitney else "binormal"
        check_alternative(alternative, margin)
        check_option("method", method, VARIANCES)
        law = alternative, VARIANCES[method], mann_whitney
        plan = cls(*checked, margin, two, _correlations(correlation), *law)
        # a test of one AUC needs its variance at the border
        outside = np.atleast_1d((plan.border <= 0) | (plan.border >= 1))
        if outside.any() and not two:
            raise ValueError(
                "margin must keep the border of the null hypothesis inside (0, 1), got "
                f"{np.atleast_1d(plan.border)[outside][0]:g}"
            )
        return plan

    @property
    def sides(self) -> tuple:
        """Signs of the differences that reject the null hypothesis."""
        return {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[self.alternative]

    @property
    def border(self):
        """The AUC at the border of the null hypothesis."""
        return self.reference - self.sides[0] * self.margin

    def error(self, n_neg, n_pos):
        """Standard error of the AUC, or of the difference."""
        sizes, pair = (n_neg, n_pos), (self.auc, self.reference)
        variance = self.variance(self.auc, *sizes)
        if self.two:  # Var(Â₁ − Â₂) = V₁ + V₂ − 2 Cov
            covariance = binormal_covariance(*pair, *sizes, *self.correlation)
            variance = variance + self.variance(self.reference, *sizes) - 2 * covariance
        return np.sqrt(np.maximum(variance, 0.0))

    def power(self, n_neg, n_pos):
        """Probability of a significant test."""
        error = self.error(n_neg, n_pos)
        z = -ndtri(self.alpha / len(self.sides))
        # Φ((g − r)/σ), two-sided + Φ((−g − r)/σ), r the reach on that side
        gaps = (
            side * (self.auc - self.border) - self._reach(z, side, n_neg, n_pos, error)
            for side in self.sides
        )
        # one score twice has no error: the test is significant if the gap is positive
        has_error, divisor = error > _NO_ERROR, np.maximum(error, _NO_ERROR)
        return sum(np.where(has_error, ndtr(gap / divisor), gap > 0) for gap in gaps)

    def _reach(self, z, side, n_neg, n_pos, error):
        """Smallest significant distance r from the border of the null hypothesis."""
        if self.two:
            return z * error
        if self.mann_whitney:  # whose error is that under the null hypothesis
            return z * np.sqrt(self.variance(self.border, n_neg, n_pos))

        # r = z √V(border), V the larger of Newcombe's variance and DeLong's at the
        # observed AUC, scaled to A(1 − A)
        least = balanced_variance(self.border, n_neg, n_pos)

        def significant(r):
            observed = self.border + side * r
            scale = self.border * (1 - self.border) / (observed * (1 - observed))
            delong = scale * self.variance(observed, n_neg, n_pos)
            return r >= z * np.sqrt(np.maximum(least, delong))

        most = 1 - self.border if side > 0 else self.border
        return bisected(significant, most, 0.0, halvings=30)  # 1e-9


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


class SampleSize(NamedTuple):
    """Rows that a study needs: ``(n_neg, n_pos)``, ints or arrays of them.

    Attributes
    ----------
    n_neg, n_pos : int or ndarray of int
        Rows of the negative and of the positive class.

    See Also
    --------
    skauc.auc_sample_size : Makes it.
    skauc.auc_power : Power of a study of given size.

    Examples
    --------
    >>> from skauc import auc_sample_size
    >>> auc_sample_size(0.8, null=0.7, power=0.9).n_pos
    125
    """

    n_neg: Any
    n_pos: Any


def auc_power(
    auc: ArrayLike,
    *,
    n_neg: ArrayLike,
    n_pos: ArrayLike,
    null: Values = None,
    alpha: ArrayLike = 0.05,
    auc2: Values = None,
    correlation: Values = None,
    margin: ArrayLike = 0.0,
    alternative: str = "two-sided",
    method: str | None = None,
) -> Any:
    """Power of a test of one AUC, or of the difference of two.

    Answers: how likely is a study of this size to show that the AUC exceeds ½ (or
    another AUC), if it does? All arguments broadcast: pass an array to draw a power
    curve. For the size that a wanted power needs, use :func:`auc_sample_size`.

    ==================================================  ===============================
    call                                                null hypothesis
    ==================================================  ===============================
    ``auc_power(0.8, …)``                               AUC = ½
    ``auc_power(0.8, null=0.7, …)``                     AUC = 0.7
    ``…, auc2=0.75, correlation=0.6``                   AUC = AUC2, scores of the same
                                                        rows
    ``…, auc2=0.75``                                    AUC = AUC2, scores of different
                                                        rows
    ``…, margin=0.05, alternative="greater"``           AUC ≤ null − 0.05, or AUC ≤
                                                        AUC2 − 0.05
    ==================================================  ===============================

    Parameters
    ----------
    auc : float or array-like in (0, 1)
        The true AUC, as far as it can be anticipated.
    n_neg, n_pos : float or array-like >= 2
        Rows of each class; if the two scores are of different rows, in each of the
        samples.
    null : float or array-like in (0, 1), default=None
        The AUC under the null hypothesis, ½ for None; not with ``auc2``.
    alpha : float or array-like in (0, 1), default=0.05
        Level of the test.
    auc2 : float or array-like in (0, 1), default=None
        Second AUC to compare with.
    correlation : float or (float, float) in [-1, 1], default=None
        Correlation of two scores of the same rows within a class [3]_; a pair gives the
        one within the negatives and the one within the positives. None: the scores are
        of different, independent rows.
    margin : float or array-like in [0, 1), default=0
        Non-inferiority margin, as in :func:`compare_auc`.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Direction of the test.
    method : {"obuchowski", "hanley_mcneil", "binormal"}, default=None
        Formula for the variance of one AUC, see Notes; not with ``auc2``. Against ½
        None takes ``"obuchowski"``, the formula of pROC; otherwise, and for two AUCs,
        it is ``"binormal"``.

    Returns
    -------
    float or ndarray
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    auc_sample_size : Numbers of rows for a wanted power or width.
    compare_auc : The test whose power this is.
    auc_estimate : The estimate, once the rows are there.

    Notes
    -----
    The test of one AUC against ½ is Mann and Whitney's, with the variance under the
    null hypothesis. All other tests are those of :func:`compare_auc`.

    ``"binormal"`` is the exact variance and covariance of the empirical AUCs of normal
    scores with equal variances. In simulations of ``compare_auc(null=)`` the power of
    ten plans for one AUC against a constant other than ½ (.6 to .95 against .6 to .9,
    for powers of .8 and .9) was within .02 of the planned value; so was that of plans
    against ½ and for two AUCs (``benchmarks/coverage/tests.py``). ``"hanley_mcneil"``
    [2]_ is exact for exponential scores; for normal scores its standard error is too
    large, by 15 % for an AUC of 0.8 and four negatives per positive. That of
    ``"obuchowski"`` [1]_ is even larger for AUCs far from ½. Exchanging the two AUCs
    changes only the sign of the statistic.

    References
    ----------
    .. [1] Obuchowski, Lieber & Wians (2004), "ROC curves in clinical chemistry: uses,
       misuses, and possible solutions", https://doi.org/10.1373/clinchem.2004.031823
    .. [2] Hanley & McNeil (1982), "The meaning and use of the area under a receiver
       operating characteristic (ROC) curve",
       https://doi.org/10.1148/radiology.143.1.7063747
    .. [3] Hanley & McNeil (1983), "A method of comparing the areas under receiver
       operating characteristic curves derived from the same cases",
       https://doi.org/10.1148/radiology.148.3.6878708

    Examples
    --------
    >>> from skauc import auc_power
    >>> round(auc_power(0.73, n_neg=72, n_pos=41), 4)
    0.9897
    >>> round(auc_power(0.85, auc2=0.8, correlation=0.6, n_neg=300, n_pos=150), 3)
    0.726
    """
    plan = Plan.of(auc, null, alpha, auc2, correlation, margin, alternative, method)
    sizes = [
        check_numbers(name, n, _LEAST_ROWS, closed="left")
        for name, n in (("n_neg", n_neg), ("n_pos", n_pos))
    ]
    power = plan.power(*sizes)
    return power if np.ndim(power) else float(power)


def auc_sample_size(
    auc: ArrayLike,
    *,
    power: Values = None,
    width: Values = None,
    null: Values = None,
    ratio: ArrayLike = 1.0,
    alpha: ArrayLike = 0.05,
    auc2: Values = None,
    correlation: Values = None,
    margin: ArrayLike = 0.0,
    alternative: str = "two-sided",
    method: str | None = None,
) -> SampleSize:
    """Numbers of rows that a study needs for a given power or width of the interval.

    Answers: how many positives and negatives must be collected so that the test rejects
    with the given probability, or the interval has the given width? Rows are
    independent; of groups of m rows, correlated by ρ, multiply by 1 + (m − 1)ρ.

    Parameters
    ----------
    auc, null, alpha, auc2, correlation, margin, alternative
        As for :func:`auc_power`.
    power : float or array-like in (0, 1), default=None
        Probability that the test rejects if the true AUC is ``auc`` (and the second
        ``auc2``).
    width : float or array-like in (0, 1), default=None
        Given in place of power: the width ``high − low`` of the interval ``Â ± z SE``
        at confidence ``1 − alpha``, for the AUC or for the difference of two AUCs.
    ratio : float or array-like > 0, default=1
        ``n_neg/n_pos``.
    method : {"obuchowski", "hanley_mcneil", "binormal"}, default=None
        As for :func:`auc_power`: the formulas of [1]_, of [2]_, or of normal scores.
        For the width of one interval None takes ``"hanley_mcneil"``, the formula of the
        published tables.

    Returns
    -------
    SampleSize
        ``(n_neg, n_pos)``, integers >= 2: the smallest sufficient n_pos, with
        ``n_neg = ⌈ratio · n_pos⌉``. If the two scores are of different rows, each of
        the two samples needs these numbers.

    Raises
    ------
    ValueError
        If an argument is invalid, or no number of rows is sufficient.

    See Also
    --------
    auc_power : Power of a study of given size; its page explains the methods.
    compare_auc : The test for which the rows are planned.

    References
    ----------
    .. [1] Obuchowski, Lieber & Wians (2004), "ROC curves in clinical chemistry: uses,
       misuses, and possible solutions", https://doi.org/10.1373/clinchem.2004.031823
    .. [2] Hanley & McNeil (1982), "The meaning and use of the area under a receiver
       operating characteristic (ROC) curve",
       https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> from skauc import auc_sample_size
    >>> auc_sample_size(0.73, power=0.95, ratio=1.7)
    SampleSize(n_neg=51, n_pos=30)
    >>> auc_sample_size(0.85, width=0.14)
    SampleSize(n_neg=60, n_pos=60)
    """
    check_either("auc_sample_size", power=power, width=width)
    if width is not None:
        sides = alternative, "two-sided"
        given = {"null": (null, None), "margin": (margin, 0.0)}
        refuse_ignored("with width", **given, alternative=sides)
        if method is None and auc2 is None:
            method = "hanley_mcneil"
    plan = Plan.of(auc, null, alpha, auc2, correlation, margin, alternative, method)
    ratio = check_numbers("ratio", ratio, 0, closed="neither")
    name, goal = ("power", power) if width is None else ("width", width)
    goal = check_numbers(name, goal, 0, 1, closed="neither")

    def enough(n_pos):
        sizes = _negatives(ratio, n_pos), n_pos
        if width is None:
            return plan.power(*sizes) >= goal
        # high − low = 2 z SE, and rounding
        return -2 * ndtri(plan.alpha / 2) * plan.error(*sizes) <= goal * (1 + 1e-12)

    if not np.all(enough(_MOST_ROWS)):
        raise ValueError(
            "auc_sample_size needs a larger effect or width, got a study of more than "
            "2**40 rows"
        )
    # bisect between 1 and 2⁴⁰ until less than a row is left
    n_pos = bisected(lambda n: enough(np.ceil(n)), _MOST_ROWS, 1.0, halvings=42)
    sizes = _negatives(ratio, np.ceil(n_pos)), np.ceil(n_pos)
    return SampleSize(*(n.astype(np.int64) if n.ndim else int(n) for n in sizes))


def _negatives(ratio, n_pos):
    """``ratio · n_pos`` rounded up, at least 2."""
    # 1.1 · 10 is above 11 by rounding and must not become 12
    return np.maximum(np.ceil(ratio * n_pos * (1 - 1e-12)), _LEAST_ROWS)
