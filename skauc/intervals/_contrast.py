"""Contrasts of AUCs under their joint covariance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc

from ..statistics._checks import check_numbers, short
from ..statistics._result import LabelledResult, Result
from ..statistics._wald import Interval, WaldTable

_NO_VARIANCE = 1e-12  # share of the trace below which an axis has no variance
_NO_GAP = 1e-9  # without variance, smaller differences are rounding


def chi_square(L, auc, covariance, smaller) -> tuple[float, int]:
    """``(LÂ)ᵀ(LSLᵀ)⁻¹(LÂ)`` and its degrees of freedom, rank(LSLᵀ).

    Parameters
    ----------
    L : ndarray of shape (r, k)
    auc : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
    smaller : float
        The variance of an AUC is at most ``1/(4 smaller)``.

    Returns
    -------
    statistic : float
    df : int
    """
    L = L / np.abs(L).max(axis=1, keepdims=True)  # scaled rows are the same hypothesis
    # LSLᵀ = U diag(spread) Uᵀ; axes that do not vary are left out of its inverse.
    spread, axes = np.linalg.eigh(L @ covariance @ L.T)
    varies = spread > _NO_VARIANCE * np.trace(covariance)
    gap = axes.T @ (L @ auc)  # (LÂ)ᵀ(LSLᵀ)⁻¹(LÂ) = Σ gap²/spread
    statistic, df = (gap[varies] ** 2 / spread[varies]).sum(), int(varies.sum())
    # A difference that does not vary and is not 0 gets, as in section 4, the largest
    # variance that a contrast c of placements can have, (Σ|c|/2)²/m.
    without = axes[:, ~varies] @ gap[~varies]
    length = np.linalg.norm(without)
    if length > _NO_GAP:
        contrast = without / length @ L
        statistic += length**2 / _largest_variance(contrast, smaller)
        df += 1
    return float(statistic), df


def _largest_variance(contrast, smaller):
    """``(Σ|c|/2)²/m`` of each row."""
    # Each V lies in [0, 1]: Σ cV has a range of Σ|c|, a deviation of at most half.
    return (np.abs(contrast).sum(axis=-1) / 2) ** 2 / smaller


class JointTest(Result):
    """A χ² test of several combinations of AUCs together."""

    statistic: float
    df: int
    _rows_in_text = True

    def _head(self):
        return {name: getattr(self, name) for name in ("statistic", "df", "pvalue")}

    @property
    def pvalue(self) -> float:
        """P-value of the joint hypothesis of the χ² test."""
        return float(chdtrc(self.df, self.statistic)) if self.df else 1.0


@dataclass(frozen=True, eq=False, repr=False)
class AUCContrast(LabelledResult, JointTest):
    """Estimates, standard errors and joint test of linear combinations ``LA`` of AUCs.

    Made by :meth:`AUCComparisons.contrast`.

    Parameters
    ----------
    L : ndarray of shape (r, k)
    estimate : ndarray of shape (r,)
        Estimates ``LÂ`` of the combinations.
    covariance : ndarray of shape (r, r)
        ``LSLᵀ``, where S is the covariance of the AUCs.
    standard_error : ndarray of shape (r,)
    statistic : float
        χ² statistic of the hypothesis ``LA = 0``.
    df : int
        Degrees of freedom of the statistic: the rank of the covariance.
    width : float, default=1
        Largest value of an AUC: less than 1 for partial areas.
    pos_label : label, default=None
        The positive class.

    Examples
    --------
    >>> from skauc import compare_auc
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [1, 2, 3, 4, 6, 5, 7, 8, 9, 10], [3, 1, 8, 2, 6, 4, 7, 5, 10, 9]
    >>> result = compare_auc(y, a, b, [4, 2, 9, 1, 3, 5, 7, 8, 6, 10])
    >>> result.contrast([[1, -0.5, -0.5]])  # the first against the mean of the others
    AUCContrast(statistic=0.8829, df=1, pvalue=0.3474, pos_label=1)
                     estimate  standard_error     low   high  statistic  pvalue
    (1, -0.5, -0.5)      0.14           0.149  -0.152  0.432     0.9396  0.3474
    """

    L: np.ndarray
    estimate: np.ndarray
    covariance: np.ndarray
    standard_error: np.ndarray
    statistic: float
    df: int
    width: float = 1.0

    @classmethod
    def _of(cls, L, comparisons):
        auc = comparisons.auc
        L = np.atleast_2d(check_numbers("L", L, closed="neither"))
        shape = max(len(L), 1), len(auc)
        if L.shape != shape or not L.any(axis=1).all():
            raise ValueError(
                f"L must have one column for each of the {len(auc)} AUCs, and one row "
                f"or more without a row of zeros, got {short(L.tolist())}"
            )
        covariance, smaller = comparisons.covariance, comparisons.n_smallest
        spread = L @ covariance @ L.T
        variance = np.diag(spread)
        none = variance <= _NO_VARIANCE * np.trace(covariance) * np.abs(L).max(1) ** 2
        largest = _largest_variance(_merged(L, comparisons.pairs), smaller)
        error = np.sqrt(np.where(none, largest, variance))
        chi2 = chi_square(L, auc, covariance, smaller)
        known = comparisons.pairs[0].width
        label = comparisons.pos_label
        return cls(L, L @ auc, spread, error, *chi2, known, pos_label=label)

    def _columns(self):
        names = [f"({', '.join(f'{c:g}' for c in row)})" for row in self.L]
        return {"": names, **self._wald.columns()}

    @property
    def _wald(self) -> WaldTable:
        # Σ c A, A in [0, width]: from width·Σ c of the c < 0 to that of the c > 0
        ends = (self.width * part(self.L, 0).sum(axis=1)
                for part in (np.minimum, np.maximum))  # fmt: skip
        return WaldTable(self.estimate, self.standard_error, bounds=tuple(ends))

    @property
    def statistics(self) -> np.ndarray:
        """Normal test statistic of each row; ±inf or 0 if its standard error is 0."""
        return self._wald.statistic

    @property
    def pvalues(self) -> np.ndarray:
        """Two-sided p-value of each row, not adjusted for the other rows."""
        return self._wald.pvalue

    def confidence_interval(self, confidence_level=0.95) -> Interval:
        """Confidence limits for each row.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        Interval
            Arrays ``(low, high)``, inside the range that the row can take for AUCs in
            [0, width].

        Raises
        ------
        ValueError
            If the level lies outside (0, 1).
        """
        return self._wald.limits(confidence_level)


def _merged(L, pairs):
    """Add the columns of L whose scores rank the rows alike to the first of them."""
    L = L.copy()
    order = combinations(range(L.shape[1]), 2)
    for (i, j), pair in zip(order, pairs, strict=True):
        if pair.standard_error == 0:
            L[:, i] += L[:, j]
            L[:, j] = 0
    return L
