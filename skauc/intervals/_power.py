"""Before the data: power of a test of AUCs, and the rows that a study needs.

``auc_power`` and ``auc_sample_size`` are one formula. With g the distance of the AUC
(or of the difference of two) from the null hypothesis, σ the standard error that the
study will have and σ₀ the one that the test believes in,

    power = Φ((g − z σ₀)/σ)    (two-sided: + Φ((−g − z σ₀)/σ)).

σ₀ is the error under the null for a *score* test of one AUC, and σ for a *Wald* test,
such as DeLong's. To add a variance, add one entry to ``VARIANCES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_floats, check_option, short
from ..statistics._auc_variance import hanley_mcneil_variance
from ..statistics._planned_variance import binormal_covariance, obuchowski_variance
from ._confidence_limits import ALTERNATIVES


def _binormal(auc, n_neg, n_pos):
    return binormal_covariance(auc, auc, n_neg, n_pos)


VARIANCES: dict[str, Callable] = {
    "obuchowski": obuchowski_variance,
    "hanley_mcneil": hanley_mcneil_variance,
    "binormal": _binormal,
}
TESTS = ("score", "wald")
_LEAST_ROWS = 2  # of a class, for a variance
_MOST_ROWS = 2.0**40  # 10¹²: beyond the patients of this world


class SampleSize(NamedTuple):
    """Rows that a study needs: ``(n_pos, n_neg)``, ints or arrays of them."""

    n_pos: Any
    n_neg: Any


def auc_power(
    auc,
    *,
    n_pos,
    n_neg,
    null=0.5,
    alpha=0.05,
    auc2=None,
    correlation=None,
    margin=0.0,
    alternative="two-sided",
    method=None,
    test=None,
):
    """Power of a test of one AUC, or of the difference of two.

    Answers: will a study of this size notice that the AUC exceeds ½ (or another AUC),
    if it truly does? Everything broadcasts: pass an array to draw a power curve.

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
        The AUC that is expected.
    n_pos, n_neg : float or array-like >= 2
        Rows of each class; of each of the two samples for different rows.
    null : float or array-like in (0, 1), default=0.5
        The AUC under the null hypothesis; unused with ``auc2``.
    alpha : float or array-like in (0, 1), default=0.05
        Level of the test.
    auc2 : float or array-like in (0, 1), default=None
        Second AUC to compare with.
    correlation : float or (float, float) in [-1, 1], default=None
        Correlation of the two scores within a class, or within the negatives and
        within the positives: the two scores are of the same rows. None: they are of
        different rows.
    margin : float or array-like in [0, 1), default=0
        Non-inferiority margin, as in :func:`compare_auc`.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
    method : {"obuchowski", "hanley_mcneil", "binormal"}, default=None
        Variance of an AUC, see Notes. None takes ``"obuchowski"`` for one AUC, the
        formula of pROC, and ``"binormal"`` for two.
    test : {"score", "wald"}, default=None
        Whether the test takes the variance under the null (Mann–Whitney's for ½) or
        the estimated one (DeLong's, :func:`compare_auc`). None takes ``"score"`` for
        one AUC; for two there is ``"wald"`` only.

    Returns
    -------
    float or ndarray
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Notes
    -----
    ``"binormal"`` is the exact variance and covariance of the empirical AUCs of
    normal scores with equal variances. Of 20 000 simulated studies each, planned for
    .8 and .9 (``benchmarks/coverage_tests.py``), the share that rejected was within
    .015 of its promise, for one AUC tested against ½ and for two. Only
    ``test="wald"`` of one AUC falls short (by .02 with 53 rows a class, .06 with 10
    and 30), because DeLong's error is itself uncertain then. ``"hanley_mcneil"`` is
    exact for exponential scores; for normal scores it is too large, by 15 % of the
    standard error for an AUC of 0.8 and four negatives a positive. ``"obuchowski"`` is
    larger still away from ½. The correlation of two AUCs is the binormal one for all
    of them, and the two enter alike: exchanging them changes nothing but the sign.

    References
    ----------
    Obuchowski, Lieber & Wians (2004), https://doi.org/10.1373/clinchem.2004.031823, for
    the formula of one AUC; Hanley & McNeil (1982),
    https://doi.org/10.1148/radiology.143.1.7063747; Hanley & McNeil (1983),
    https://doi.org/10.1148/radiology.148.3.6878708, for two

    Examples
    --------
    >>> from skauc import auc_power
    >>> round(auc_power(0.73, n_pos=41, n_neg=72), 4)
    0.9897
    >>> round(auc_power(0.85, auc2=0.8, correlation=0.6, n_pos=150, n_neg=300), 3)
    0.726
    """
    plan = _Plan.of(
        auc, null, alpha, auc2, correlation, margin, alternative, method, test
    )
    n_pos = _numbers("n_pos", n_pos, "be finite and >= 2", _is_size)
    n_neg = _numbers("n_neg", n_neg, "be finite and >= 2", _is_size)
    _check_shapes(*plan.numbers, n_pos, n_neg)
    power = plan.power(n_neg, n_pos)
    return float(power) if np.ndim(power) == 0 else power


def auc_sample_size(
    auc,
    *,
    power=None,
    width=None,
    null=0.5,
    ratio=1.0,
    alpha=0.05,
    auc2=None,
    correlation=None,
    margin=0.0,
    alternative="two-sided",
    method=None,
    test=None,
) -> SampleSize:
    """Rows that a study needs, for a power or for the width of an interval.

    Answers: how many positives and negatives must be collected, so that the test
    rejects with this probability, or the interval is as narrow as this?

    Parameters
    ----------
    auc, null, alpha, auc2, correlation, margin, alternative, test
        As for :func:`auc_power`.
    power : float or array-like in (0, 1), default=None
        Probability to reject, if the truth is ``auc`` (and ``auc2``).
    width : float or array-like in (0, 1), default=None
        In place of power: ``high − low`` of the interval ``Â ± z SE`` at confidence
        ``1 − alpha``, of the AUC or of the difference of two.
    ratio : float or array-like > 0, default=1
        ``n_neg/n_pos``.
    method : {"obuchowski", "hanley_mcneil", "binormal"}, default=None
        As for :func:`auc_power`; for the width of one interval None takes
        ``"hanley_mcneil"``, the formula of the published tables.

    Returns
    -------
    SampleSize
        ``(n_pos, n_neg)``, whole numbers, 2 or more: the least n_pos that does with
        ``n_neg = ⌈ratio · n_pos⌉``. For two AUCs of different rows, those of each.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or no number of rows will do.

    References
    ----------
    As for :func:`auc_power`.

    Examples
    --------
    >>> from skauc import auc_sample_size
    >>> auc_sample_size(0.73, power=0.95, ratio=1.7)
    SampleSize(n_pos=30, n_neg=51)
    >>> auc_sample_size(0.85, width=0.14)
    SampleSize(n_pos=60, n_neg=60)
    """
    if (power is None) == (width is None):
        got = "none of them" if power is None else "both"
        raise ValueError(f"auc_sample_size needs power or width, got {got}")
    if width is not None and method is None and auc2 is None:
        method = "hanley_mcneil"
    plan = _Plan.of(
        auc, null, alpha, auc2, correlation, margin, alternative, method, test
    )
    ratio = _numbers("ratio", ratio, "be finite and > 0", _is_ratio)
    name, goal = ("power", power) if width is None else ("width", width)
    goal = _numbers(name, goal, "lie in (0, 1)", _is_share)
    shape = _check_shapes(*plan.numbers, ratio, goal)
    if width is None:
        plan.check_reachable()
    elif alternative != "two-sided":
        raise ValueError(
            f"alternative must be 'two-sided' with width, got {alternative!r}"
        )

    def enough(n_pos):
        sizes = _negatives(ratio, n_pos), n_pos
        if width is None:
            return plan.power(*sizes) >= goal
        return plan.width(*sizes) <= goal * (1 + 1e-12)  # a rounding is no row

    n_pos = _least(enough, shape)
    n_neg = _negatives(ratio, n_pos)
    if not shape:
        return SampleSize(int(n_pos), int(n_neg))
    return SampleSize(n_pos.astype(int), n_neg.astype(int))


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is asked of a study, before its size."""

    auc: np.ndarray
    null: np.ndarray
    alpha: np.ndarray
    auc2: np.ndarray | None
    correlation: tuple[float, float] | None
    margin: np.ndarray
    alternative: str
    variance: Callable
    test: str

    @classmethod
    def of(cls, auc, null, alpha, auc2, correlation, margin, alternative, method, test):
        two = auc2 is not None
        if method is None:
            method = "binormal" if two else "obuchowski"
        if test is None:
            test = "wald" if two else "score"
        check_option("alternative", alternative, ALTERNATIVES)
        check_option("method", method, VARIANCES)
        check_option("test", test, TESTS)
        if two and test == "score":
            raise ValueError("test must be 'wald' with auc2, got 'score'")
        if correlation is not None and not two:
            raise ValueError(
                f"correlation must come with auc2, got {short(correlation)} alone"
            )
        margin = _numbers("margin", margin, "lie in [0, 1)", _is_margin)
        if margin.any() and alternative == "two-sided":
            raise ValueError(
                "alternative must be 'greater' or 'less' with a margin, got 'two-sided'"
            )
        return cls(
            _numbers("auc", auc, "lie in (0, 1)", _is_share),
            _numbers("null", null, "lie in (0, 1)", _is_share),
            _numbers("alpha", alpha, "lie in (0, 1)", _is_share),
            None
            if auc2 is None
            else _numbers("auc2", auc2, "lie in (0, 1)", _is_share),
            None if correlation is None else _correlations(correlation),
            margin,
            alternative,
            VARIANCES[method],
            test,
        )._checked()

    def _checked(self):
        border = self.border
        if self.auc2 is None and not ((border > 0) & (border < 1)).all():
            raise ValueError(
                "margin must leave an AUC inside (0, 1) to test, got "
                f"{border[(border <= 0) | (border >= 1)].flat[0]:g}"
            )
        return self

    @property
    def numbers(self):
        """All arrays that broadcast."""
        own = self.auc, self.null, self.alpha, self.margin
        return own if self.auc2 is None else (*own, self.auc2)

    @property
    def border(self):
        """The AUC at the border of the null hypothesis."""
        reference = self.null if self.auc2 is None else self.auc2
        return reference + self.margin * (1 if self.alternative == "less" else -1)

    @property
    def gap(self):
        """How far the truth lies beyond that border."""
        return (self.auc - self.border) * (-1 if self.alternative == "less" else 1)

    def check_reachable(self):
        """Refuse a truth that no study can tell from the null hypothesis."""
        gap = np.broadcast_arrays(self.gap, self.auc)[0]
        bad = gap == 0 if self.alternative == "two-sided" else gap <= 0
        if bad.any():
            rule = {
                "two-sided": "differ from",
                "greater": "exceed",
                "less": "be less than",
            }[self.alternative]
            at = np.flatnonzero(bad)[0]
            auc, border = np.broadcast_arrays(self.auc, self.border)
            raise ValueError(
                f"auc must {rule} the border of the null hypothesis "
                f"{border.flat[at]:g}, got {auc.flat[at]:g}"
            )

    def error(self, n_neg, n_pos):
        """Standard error of the AUC, or of the difference."""
        one = self.variance(self.auc, n_neg, n_pos)
        if self.auc2 is None:
            return np.sqrt(one)
        # Var(Â₁ − Â₂) = V₁ + V₂ − 2 Cov
        two = self.variance(self.auc2, n_neg, n_pos)
        if self.correlation is None:
            return np.sqrt(one + two)
        covariance = binormal_covariance(
            self.auc, self.auc2, n_neg, n_pos, *self.correlation
        )
        # Cov = √(V₁V₂) · r, r the correlation of two binormal empirical AUCs
        exact = [_binormal(auc, n_neg, n_pos) for auc in (self.auc, self.auc2)]
        shared = np.sqrt(one / exact[0]) * np.sqrt(two / exact[1]) * covariance
        return np.sqrt(np.maximum(one + two - 2 * shared, 0))  # 0 up to roundings

    def power(self, n_neg, n_pos):
        """Probability to reject."""
        error = self.error(n_neg, n_pos)
        # σ₀ is the error at the border of the null hypothesis, or the study's own.
        if self.test == "score":
            believed = np.sqrt(self.variance(self.border, n_neg, n_pos))
        else:
            believed = error
        # z = −Φ⁻¹(α/2), or −Φ⁻¹(α) for one side
        sides = 2 if self.alternative == "two-sided" else 1
        reach = -ndtri(self.alpha / sides) * believed
        gap = self.gap
        # Φ((g − zσ₀)/σ), two-sided + Φ((−g − zσ₀)/σ)
        power = _beyond(gap - reach, error)
        return power if sides == 1 else power + _beyond(-gap - reach, error)

    def width(self, n_neg, n_pos):
        """``high − low`` of the interval Â ± z SE."""
        return -2 * ndtri(self.alpha / 2) * self.error(n_neg, n_pos)


def _beyond(distance, error):
    """``Φ(distance/error)``; a study without error knows."""
    safe = np.where(error > 0, error, 1)
    return np.where(error > 0, ndtr(distance / safe), distance > 0)[()]


def _negatives(ratio, n_pos):
    # a product like 1.1 · 10 that is a rounding above a whole number is that number
    return np.maximum(np.ceil(ratio * n_pos * (1 - 1e-12)), _LEAST_ROWS)


def _least(enough, shape):
    """Least whole number from 2 for which ``enough`` holds; elementwise."""
    # Doubled until ``high`` is enough, then halved between: ``low`` never is.
    low, high = np.full(shape, _LEAST_ROWS - 1.0), np.full(shape, float(_LEAST_ROWS))
    while not (done := np.broadcast_to(enough(high), shape)).all():
        low, high = np.where(done, low, high), np.where(done, high, 2 * high)
        if high.max() > _MOST_ROWS:
            raise ValueError(
                "auc_sample_size needs a larger effect, got one beyond 2**40 rows"
            )
    while (high - low > 1).any():
        # Where high = low + 1 the middle is ``low``, never enough: nothing moves there.
        middle = np.floor((low + high) / 2)
        done = enough(np.maximum(middle, _LEAST_ROWS)) & (middle > low)
        low, high = np.where(done, low, middle), np.where(done, middle, high)
    return high


def _numbers(name, values, rule, holds):
    """Check numbers, one or an array of them."""
    numbers = check_floats(name, values)
    bad = ~holds(numbers)
    if bad.any():
        raise ValueError(
            f"{name} must {rule}, got {short(float(numbers[bad].flat[0]))}"
        )
    return numbers


def _correlations(correlation):
    pair = _numbers("correlation", correlation, "lie in [-1, 1]", _is_correlation)
    if pair.shape not in ((), (2,)):
        raise ValueError(
            "correlation must be one number or one for the negatives and one for the "
            f"positives, got shape {pair.shape}"
        )
    return tuple(map(float, np.broadcast_to(pair, 2)))


def _check_shapes(*arrays):
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays if array.ndim)
        raise ValueError(
            f"arguments must be numbers or arrays that broadcast, got shapes {shapes}"
        ) from None


def _is_size(n):
    return (n >= _LEAST_ROWS) & (n < np.inf)


def _is_ratio(ratio):
    return (ratio > 0) & (ratio < np.inf)


def _is_share(share):
    return (share > 0) & (share < 1)


def _is_margin(margin):
    return (margin >= 0) & (margin < 1)


def _is_correlation(r):
    return np.abs(r) <= 1
