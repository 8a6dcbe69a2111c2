"""The power of a test of AUCs, and the number of rows that a study needs.

Section 8 of :mod:`skauc.intervals` has the formulas. To add a variance, add one entry
to ``VARIANCES``. References: Bamber (1975),
https://doi.org/10.1016/0022-2496(75)90001-2; Obuchowski
(2004), https://doi.org/10.1373/clinchem.2004.031823; Plackett (1954),
https://doi.org/10.1093/biomet/41.3-4.351.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincc, ndtr, ndtri

from .._validation import check_either
from ..statistics._checks import check_numbers, check_option, refuse_ignored
from ..statistics._levels import balanced_variance, hanley_mcneil_variance
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import check_alternative
from ._limits import bisected, continuous, score_limits

_NO_VARIANCE = 1e-28  # in place of 0, that of equal scores of correlation 1
# Gauss–Legendre; 64 nodes leave 1e-13 for |r| ≤ ½ and 1e-9 for the one term of r > ½
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_INSIDE = 1e-9  # AUCs 0 and 1 have no variance
_LEAST_ROWS = 2  # least rows of a class with a variance
_MOST_ROWS = 2**40  # about 10¹², the limit of the search


def binormal_covariance(auc_a, auc_b, n_neg, n_pos, corr_neg, corr_pos):
    """Covariance of the empirical AUCs of two normal scores of the same rows."""
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


VARIANCES: dict[str, Any] = {
    "obuchowski": obuchowski_variance,
    "hanley_mcneil": hanley_mcneil_variance,
    # the covariance of a score with itself
    "binormal": lambda auc, n0, n1: binormal_covariance(auc, auc, n0, n1, 1, 1),
}


@dataclass(frozen=True, eq=False)
class Plan:
    """Parameters of a study, without its size; arrays that broadcast.

    ``reference`` is the second AUC of ``two``, or the AUC under the null hypothesis,
    whose ``border`` lies the margin beside it. Differences with the signs ``sides``
    reject it.
    """

    auc: np.ndarray
    reference: np.ndarray
    alpha: np.ndarray
    border: np.ndarray
    two: bool
    correlation: np.ndarray
    sides: tuple
    method: str

    @classmethod
    def of(cls, auc, null, alpha, auc2, correlation, margin, alternative, method):
        """Check the parameters."""
        two = auc2 is not None
        if two:
            refuse_ignored("with auc2", null=(null, None), method=(method, None))
        else:
            refuse_ignored("without auc2", correlation=(correlation, None))
        second = {"auc2": auc2} if two else {"null": 0.5 if null is None else null}
        shares = {"auc": auc, **second, "alpha": alpha}
        checked = [check_numbers(*s, 0, 1, closed="neither") for s in shares.items()]
        margin = check_numbers("margin", margin, 0, 1, closed="left")
        check_alternative(alternative, margin)
        if method is None:
            is_half = not two and np.all(checked[1] == 0.5) and not margin.any()
            method = "obuchowski" if is_half else "binormal"
        check_option("method", method, VARIANCES)
        signs = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
        border = checked[1] - signs[0] * margin
        if not two:  # the test needs the variance at the border
            check_numbers("null moved by margin", border, 0, 1, closed="neither")
        return cls(*checked, border, two, _correlations(correlation), signs, method)

    def variance(self, auc, auc2, *sizes):
        """Variance of the AUC, or of the difference of two."""
        of = VARIANCES[self.method]
        if not self.two:
            return of(auc, *sizes)
        # Var(Â₁ − Â₂) = V₁ + V₂ − 2 Cov
        covariance = binormal_covariance(auc, auc2, *sizes, *self.correlation)
        return np.maximum(of(auc, *sizes) + of(auc2, *sizes) - 2 * covariance, 0.0)

    def score_variance(self, observed, *sizes):
        """V of the score interval of an observed AUC."""
        scale = self.variance(observed, observed, *sizes) / (observed * (1 - observed))

        def larger(a):
            return np.maximum(balanced_variance(a, *sizes), scale * a * (1 - a))

        return continuous(observed, larger, *sizes)

    def power(self, *sizes):
        """Probability of a significant test."""
        return sum(self._rejects(side, *sizes) for side in self.sides)

    def _rejects(self, side, *sizes):
        """Probability of a significant test on a side."""
        z = -ndtri(self.alpha / len(self.sides))
        # a difference of −1 to 1 is taken to 0 to 1, as an AUC is
        mid, span = (self.reference, 2) if self.two else (0.5, 1)
        own, border = (0.5 + side * (a - mid) / span for a in (self.auc, self.border))
        variance = self.variance(self.auc, self.reference, *sizes)

        def significant(r):
            return r >= z * np.sqrt(self._estimated(side * r, *sizes))

        # of a perfect ranking, which counts as half a pair less
        most = span * (1 - border) - 1 / (8 * sizes[0] * sizes[1])
        possible = significant(most)
        if self.method == "obuchowski":  # pROC's plan of Mann and Whitney's test
            reach = z * np.sqrt(self.variance(self.border, self.border, *sizes))
            return possible * ndtr((own - border - reach) / np.sqrt(variance))
        # above level ½ the border itself is significant
        reach = bisected(significant, most, -span * border, halvings=31)  # 1e-9
        least = np.where(possible, border + reach / span, 1.0)
        # the beta law of this mean and variance; a score twice has no variance
        n = own * (1 - own) / np.maximum(variance / span**2, _NO_VARIANCE) - 1
        return betaincc(own * n, (1 - own) * n, np.clip(least, 0.0, 1.0))

    def _estimated(self, gap, *sizes):
        """Variance in a test that finds the border exceeded by ``gap``."""
        if not self.two:
            observed = np.clip(self.border + gap, _INSIDE, 1 - _INSIDE)
            return self.score_variance(observed, *sizes)(self.border)
        # each AUC makes half of what is found in excess
        middle = (self.auc + self.reference) / 2
        half = (self.border - self.reference + gap) / 2
        pair = np.clip((middle + half, middle - half), _INSIDE, 1 - _INSIDE)
        return self.variance(*pair, *sizes)

    def width(self, *sizes):
        """Width of the interval whose estimate is the true AUC, or difference."""
        tail = self.alpha / 2
        if self.two:
            error = np.sqrt(self.variance(self.auc, self.reference, *sizes))
            return -2 * ndtri(tail) * error
        variance = self.score_variance(self.auc, *sizes)
        low, high = score_limits(self.auc, variance, tail, tail)
        return high - low


def _correlations(correlation):
    """Correlations within the negatives and the positives; 0 for different rows."""
    given = 0.0 if correlation is None else correlation
    pair = check_numbers("correlation", given, -1, 1)
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
    127
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
    n_neg, n_pos : float or array-like in [2, 2⁴⁰]
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
    method : {"binormal", "hanley_mcneil", "obuchowski"}, default=None
        Formula for the variance of one AUC, see Notes; not with ``auc2``. Against ½
        None takes ``"obuchowski"``, the plan of pROC, and ``"binormal"`` otherwise.
        Prefer ``"binormal"`` for classes of unequal size or of fewer than 10 rows.

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
    The tests are those of :func:`compare_auc`, whose estimated variance differs with
    the AUC that is found. ``"binormal"`` is the exact variance and covariance of the
    empirical AUCs of normal scores with equal variances. In 299 simulated studies of
    such scores (AUCs of .6 to .999, constants of ½ to .9, classes of equal size or one
    ten times the other, powers of .1 to .99) the power of one AUC was .01 less than
    planned on average: at most .06 less and .01 more with 8 rows of each class or more,
    .09 less and .05 more with fewer, and within .04 for AUCs above .9. That of two AUCs
    with 15 rows of each class or more was .02 from the planned one on average, at most
    .06 less, and .09 more for AUCs above .9 of unequal classes. Exchanging the two AUCs
    changes only the sign of the statistic.

    ``"hanley_mcneil"`` [2]_ is exact for exponential scores. If the scores of the
    smaller class spread more than those of the other class, as exponential scores do,
    the power is less than planned for normal scores, for 5 to 17 rows against ten times
    as many by up to .2 against ½ and .27 against other constants. ``"obuchowski"`` [1]_
    takes the variance of the test for known and the AUC for normal, as pROC does: its
    power is up to .09 too high for unequal classes or fewer than 10 rows.

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
    >>> round(auc_power(0.73, n_neg=72, n_pos=41, method="binormal"), 3)
    0.989
    >>> round(auc_power(0.85, auc2=0.8, correlation=0.6, n_neg=300, n_pos=150), 3)
    0.728
    """
    plan = Plan.of(auc, null, alpha, auc2, correlation, margin, alternative, method)
    given = {"n_neg": n_neg, "n_pos": n_pos}
    sizes = [check_numbers(*n, _LEAST_ROWS, _MOST_ROWS) for n in given.items()]
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
        Given in place of power: the width ``high − low`` at confidence ``1 − alpha`` of
        the interval of :func:`auc_estimate`, or of that of the difference of two AUCs,
        ``± z SE``.
    ratio : float or array-like in (0, 2⁴⁰), default=1
        ``n_neg/n_pos``.
    method : {"binormal", "hanley_mcneil", "obuchowski"}, default=None
        As for :func:`auc_power`: the formulas of normal scores, of [2]_, or of [1]_.
        For a width None takes ``"binormal"``.

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

    Notes
    -----
    The mean width of intervals of normal scores is within 4 % of the planned one (AUCs
    of .6 to .999, 5 to 2000 rows of a class). Where the scores of a smaller class
    spread more than those of the other class, as exponential scores do, intervals are
    up to a quarter wider; ``method="hanley_mcneil"`` plans for that if the smaller
    class is the positive one.

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
    SampleSize(n_neg=61, n_pos=61)
    """
    check_either("auc_sample_size", power=power, width=width)
    if width is not None:
        given = {"null": (null, None), "alternative": (alternative, "two-sided")}
        refuse_ignored("with width", margin=(margin, 0.0), **given)
        method = "binormal" if method is None and auc2 is None else method
    plan = Plan.of(auc, null, alpha, auc2, correlation, margin, alternative, method)
    ratio = check_numbers("ratio", ratio, 0, _MOST_ROWS, closed="neither")
    name, goal = ("power", power) if width is None else ("width", width)
    goal = check_numbers(name, goal, 0, 1, closed="neither")

    def enough(n_pos):
        sizes = _negatives(ratio, n_pos), n_pos
        if width is None:
            return plan.power(*sizes) >= goal
        return plan.width(*sizes) <= goal

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
