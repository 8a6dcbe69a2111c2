"""Which rows form the pairs where there are more features than rows.

Scores of training rows say little there: most margins are of nearly one size. What they
are without their row is ``z_i + α_i g_i``, ``α_i = x̃_iᵀH₋ᵢ⁻¹x̃_i``, and an even sample
in this order has the AUC of all rows. To put them in order α need not be exact. With
the mean of the kernel's diagonal and the variance beside it, ``k = dσ²`` and ``dσ⁴`` as
of d features of variance σ², it solves

    α = k/(λ + n κ σ²),   κ = mean ω/(1 + ωα).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics._moments import project_samples
from ..statistics._numerics import TINY
from ._objective import ask_again
from ._pairs import PAIR_ROWS, difference_of_means, sample_rows

# Rows of a class. Logistic regression, C from .001 to 100, 500 × 700 to 1000 × 1500
# normal, t(3), 30 common factors, of all or of one class: pairs of these are off by
# .0012 (root mean square) of those of all rows, of 250 by .0007, of 100 by .0016; in
# the order of the fitted scores of 250 by .0045. The standard error is .015 to .022.
_WIDE_ROWS = 150
_ITERATIONS = 30  # of α: with 1.1 n features 4 % are left


def pair_rows(X, positive, weight, remember=ask_again):
    """The rows of the pairs, the same for all models, and how much each counts.

    They are even in the order of the scores along the difference of the class means.
    """

    def compute():
        score = project_samples(X, difference_of_means(X, positive, weight))
        return sample_rows(score, positive, weight)

    return remember(("rows of pairs", X.shape[0]), compute)


@dataclass(frozen=True, eq=False)
class KernelMoments:
    """Of a kernel: its diagonal, and mean and variance of the numbers beside it.

    A frequency weight is that many equal rows, one below 1 a single row.
    """

    diagonal: np.ndarray
    size: float
    mean: float
    variance: float

    @classmethod
    def of(cls, K, weight):
        diagonal, n = K.diagonal().copy(), weight.sum()
        unit = diagonal.max() or 1.0  # squares of squares are floats
        inside, own, share = K / unit, diagonal / unit, weight / n
        # of f equal rows each is beside f − 1, and no row beside itself
        itself = share * (np.minimum(weight, 1.0) / n)
        beside = max(1 - itself.sum(), TINY)
        mean = (share @ inside @ share - itself @ own) / beside
        inside *= inside
        square = (share @ inside @ share - itself @ own**2) / beside
        variance = max(float(square - mean**2), 0.0)
        size = unit * (share @ own - mean)
        return cls(diagonal, float(size), float(unit * mean), variance * unit**2)

    def own(self):
        """Squares of the rows over their mean."""
        if not self.size > TINY:
            return np.ones_like(self.diagonal)
        return np.maximum(self.diagonal - self.mean, 0.0) / self.size

    def without_a_row(self, curvature, l2, weight):
        """About α of every row, without it or one of equal ones, (n,)."""
        k = self.size
        if not k > TINY:
            return np.zeros_like(self.diagonal)
        alpha, one = k / l2, np.minimum(1.0, 1.0 / weight) * curvature
        for _ in range(_ITERATIONS):
            # n κ of as many rows as the weights are
            total = np.sum(curvature / (1 + one * alpha))
            alpha = k / (l2 + total * (self.variance / k))
        return alpha * self.own()


def left_out(alpha, z, g, weight):
    """About what the scores are without their rows, or one of equal ones."""
    return z + alpha * (g * np.minimum(1.0, 1.0 / weight))


def wide_rows(order, positive, weight):
    """Rows of the pairs and their counts, even in the order of what z is without them.

    They speak for no more rows than :data:`~skauc.leave_pair_out._pairs.PAIR_ROWS`.
    """
    rows, counted = sample_rows(order, positive, weight, _WIDE_ROWS)
    for mask in (positive, ~positive):
        some = mask[rows]
        total = min(weight[mask].sum(), PAIR_ROWS)
        if total > counted[some].sum():
            counted[some] *= total / counted[some].sum()
    return rows, counted
