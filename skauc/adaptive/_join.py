"""Join the model of a data set with an AUC of rows left out (sections 5 and 6)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..posterior._auc_posterior import AUCPosterior
from ..statistics._levels import balanced_variance, normal_pdf, shrunk_auc

# Chosen on half of the panel's data sets, judged on the others: benchmarks/README.md
LEAST_WEIGHT = 2 / 3  # smallest weight of the AUC of rows left out
MISFIT = 0.4  # deviation of the model from an AUC that no row checks, in probits
SPREAD = 0.75  # growth of a report's variance with the number of features
HALF_GROWN = 0.4  # features a row at which half of it is reached
FEW_FEATURES = 10  # with fewer than n/10 features a fit adapts less to its rows
CONTRAST = 1 / 3  # w_c: weight of rows left out in ranking, if requested
_FARTHEST = 4.0  # probits beyond which the delta method does not hold


@dataclass(frozen=True)
class DataSize:
    """Weights of both classes, and the number of features."""

    n_neg: float
    n_pos: float
    n_features: int

    @property
    def spread(self) -> float:
        """Variance of a report in units of the source's: ``1 + ¾ P/(P + .4 n)``."""
        half = HALF_GROWN * (self.n_neg + self.n_pos)
        return 1 + SPREAD * self.n_features / (self.n_features + half)

    def probit(self, auc) -> float:
        """``Φ⁻¹((a n + ½)/(n + 1))``: finite where an AUC of n rows is 0 or 1."""
        return float(ndtri(shrunk_auc(auc, self.n_neg + self.n_pos)))

    def left_out(self, source, sign) -> float:
        """Probit of an AUC of rows left out, or 0 if it has the other sign.

        ``sign`` is that of the mean difference along the direction: an AUC on the other
        side of ½ arises by chance only.
        """
        return sign * max(sign * self.probit(source.auc), 0.0)

    def variance(self, probit) -> float:
        """Hanley and McNeil's variance of an empirical AUC, in probits."""
        # the delta method: Var Z = Var A/φ(z)²
        z = np.clip(probit, -_FARTHEST, _FARTHEST)
        variance = balanced_variance(ndtr(z), self.n_neg, self.n_pos)
        return float(variance / normal_pdf(z) ** 2)

    def excess(self, source) -> float:
        """Variance of a source in units of Hanley and McNeil's, at least 1."""
        auc = ndtr(np.clip(self.probit(source.auc), -_FARTHEST, _FARTHEST))
        expected = balanced_variance(auc, self.n_neg, self.n_pos)
        return max(1.0, source.variance / expected)


def join(m, source, size: DataSize, sign=1.0) -> AUCPosterior:
    """Posterior from the model's probit m and an AUC of rows left out."""
    z = size.left_out(source, sign)
    excess = size.excess(source)
    s2 = excess * size.variance(m + LEAST_WEIGHT * (z - m))
    # James & Stein (1961): (z − m)² holds s² more than the square of the model's error
    w = max(LEAST_WEIGHT, 1 - s2 / max((z - m) ** 2, s2))
    estimate = m + w * (z - m)
    variance = size.spread * excess * size.variance(estimate)
    return _normal(
        estimate,
        variance,
        choice_probit=m,
        leave_pair_out=source.auc,
        second_source=source.method,
    )


def unchecked(m, size: DataSize, auc) -> AUCPosterior:
    """Posterior of a model of which no row could be left out.

    With many rows a feature the estimate goes over to ``auc``, that of the training
    rows.
    """
    # 10 P/n is about 0 where a fit cannot adapt to its rows
    share = min(1.0, FEW_FEATURES * size.n_features / (size.n_neg + size.n_pos))
    estimate = share * m + (1 - share) * size.probit(auc)
    variance = size.variance(estimate) + (share * MISFIT) ** 2
    return _normal(estimate, variance, choice_probit=m)


def uncorrected(m, s2) -> AUCPosterior:
    """Posterior of a model without any rows left out; twice its own deviation."""
    return _normal(m, 4 * s2, choice_probit=m)


def posterior_of_source(source, size: DataSize, **entered) -> AUCPosterior:
    """Posterior of an AUC of rows left out, or held out, alone; normal in probits."""
    z = size.probit(source.auc)
    # the delta method: Var Z = Var A/φ(z)²
    variance = source.variance * 2 * np.pi * np.exp(z**2)
    return _normal(z, variance, choice_probit=z, **entered)


def _normal(estimate, variance, **entered) -> AUCPosterior:
    variance = max(float(variance), np.finfo(float).tiny)
    return AUCPosterior.normal(float(estimate), variance, **entered)
