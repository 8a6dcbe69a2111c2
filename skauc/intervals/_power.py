"""Power of a test of AUCs, and the number of rows that a study needs.

``auc_power`` and ``auc_sample_size`` use the same formula, in ``_plan``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._validation import check_either, check_numbers
from ._limits import bisected
from ._plan import Plan

_LEAST_ROWS = 2  # least rows of a class with a variance
_MOST_ROWS = 2.0**40  # about 10¹², the limit of the search


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
    n_pos, n_neg : float or array-like >= 2
        Rows of each class; if the two scores are of different rows, in each of the
        samples.
    null : float or array-like in (0, 1), default=0.5
        The AUC under the null hypothesis; unused with ``auc2``.
    alpha : float or array-like in (0, 1), default=0.05
        Level of the test.
    auc2 : float or array-like in (0, 1), default=None
        Second AUC to compare with.
    correlation : float or (float, float) in [-1, 1], default=None
        Correlation of two scores of the same rows within a class; a pair gives the one
        within the negatives and the one within the positives. None: the scores are of
        different, independent rows.
    margin : float or array-like in [0, 1), default=0
        Non-inferiority margin, as in :func:`compare_auc`.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
    method : {"obuchowski", "hanley_mcneil", "binormal"}, default=None
        Formula for the variance of an AUC, see Notes. For one AUC against ½ None takes
        ``"obuchowski"``, the formula of pROC; otherwise it takes ``"binormal"``.
    test : {"score", "wald"}, default=None
        Whether the test uses the variance under the null hypothesis (``"score"``; the
        Mann–Whitney test for ½) or the estimated variance (``"wald"``; DeLong's in
        :func:`compare_auc`). For one AUC against ½ None takes ``"score"``; otherwise it
        takes ``"wald"``, the only choice for two AUCs.

    Returns
    -------
    float or ndarray
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is invalid.

    Notes
    -----
    ``"binormal"`` is the exact variance and covariance of the empirical AUCs of normal
    scores with equal variances. In simulations of ``compare_auc(constant=)`` the power
    of ten plans for one AUC against a constant other than ½ (.6 to .95 against .6 to
    .9, for powers of .8 and .9) was within .02 of the planned value; so was that of
    plans against ½ and for two AUCs (``benchmarks/coverage/tests.py``).
    ``"hanley_mcneil"`` is exact for exponential scores; for normal scores its standard
    error is too large, by 15 % for an AUC of 0.8 and four negatives per positive.
    ``"obuchowski"`` is even larger for AUCs far from ½. All methods use the binormal
    correlation of two AUCs. Exchanging the two AUCs changes only the sign of the
    statistic.

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
    plan = Plan.of(
        auc, null, alpha, auc2, correlation, margin, alternative, method, test
    )
    sizes = [
        check_numbers(name, n, _LEAST_ROWS, closed="left")
        for name, n in (("n_neg", n_neg), ("n_pos", n_pos))
    ]
    power = plan.power(*sizes)
    return power if np.ndim(power) else float(power)


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
    """Numbers of rows that a study needs for a given power or width of the interval.

    Answers: how many positives and negatives must be collected so that the test rejects
    with the given probability, or the interval has the given width?

    Parameters
    ----------
    auc, null, alpha, auc2, correlation, margin, alternative, test
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
        As for :func:`auc_power`; for the width of one interval None takes
        ``"hanley_mcneil"``, the formula of the published tables.

    Returns
    -------
    SampleSize
        ``(n_pos, n_neg)``, integers >= 2: the smallest sufficient n_pos, with
        ``n_neg = ⌈ratio · n_pos⌉``. If the two scores are of different rows, each of
        the two samples needs these numbers.

    Raises
    ------
    ValueError
        If an argument is invalid, or no number of rows is sufficient.

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
    check_either("auc_sample_size", power=power, width=width)
    if width is not None and method is None and auc2 is None:
        method = "hanley_mcneil"
    plan = Plan.of(
        auc, null, alpha, auc2, correlation, margin, alternative, method, test
    )
    ratio = check_numbers("ratio", ratio, 0, closed="neither")
    name, goal = ("power", power) if width is None else ("width", width)
    goal = check_numbers(name, goal, 0, 1, closed="neither")
    if width is not None and alternative != "two-sided":
        raise ValueError(
            f"alternative must be 'two-sided' with width, got {alternative!r}"
        )

    def enough(n_pos):
        sizes = _negatives(ratio, n_pos), n_pos
        if width is None:
            return plan.power(*sizes) >= goal
        return plan.width(*sizes) <= goal * (1 + 1e-12)  # allow for rounding

    if not np.all(enough(_MOST_ROWS)):
        raise ValueError(
            "auc_sample_size needs a larger effect beyond the null hypothesis, or a "
            "larger width, got a study of more than 2**40 rows"
        )
    # bisect between 1 and 2⁴⁰ until less than a row is left
    n_pos = bisected(lambda n: enough(np.ceil(n)), _MOST_ROWS, 1.0, halvings=42)
    sizes = np.ceil(n_pos), _negatives(ratio, np.ceil(n_pos))
    return SampleSize(*(n.astype(int) if n.ndim else int(n) for n in sizes))


def _negatives(ratio, n_pos):
    """``ratio · n_pos`` rounded up, at least 2."""
    # 1.1 · 10 is above 11 by rounding and must not become 12
    return np.maximum(np.ceil(ratio * n_pos * (1 - 1e-12)), _LEAST_ROWS)
