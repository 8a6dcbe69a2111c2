"""Two linear models, or many, under one joint posterior (section 8)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from ..statistics._checks import as_numbers, check_integer, check_numbers, generator
from ._distribution import Distribution

_END = 1e-12  # Sobol points may be 0, whose normal quantile is −∞
# AUCs within it are equally good: two solvers of one problem differ by that much
TIE = 1e-4
_SAME = 1e-12  # share of V_ii + V_jj below which the variance of a difference is 0
_PAIR_DRAWS = 4096  # Sobol points: the error of a mean is below 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class AUCDifferencePosterior(Distribution):
    """Posterior of the difference of two AUCs, used like a scipy distribution.

    Answers: by how much is one model better than another, and how probable is it?

    Attributes
    ----------
    draws_a, draws_b : ndarray of shape (n_resamples,)
        Joint draws of the two AUCs.
    probability : float
        ``P(AUC_a > AUC_b | data)``; equal models count ½.
    warnings : tuple of str, default=()
        Reasons why the AUC of either model is doubtful, as in :class:`AUCPosterior`.
    names : tuple of two str, default=("a", "b")
        Names of the models.
    pos_label : label, default=None
        The positive class; None if it is not known.

    See Also
    --------
    skauc.auc_difference_posterior : Makes it, for two fitted models.
    skauc.results.SearchPosterior.difference : Makes it, for two candidates of a search.
    skauc.results.AUCComparison : Difference and test for scores of held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc.results import AUCDifferencePosterior
    >>> a, b = np.array([0.8, 0.9]), np.array([0.7, 0.6])
    >>> round(AUCDifferencePosterior(a, b, probability=1.0).mean(), 2)
    0.2
    """

    draws_a: np.ndarray
    draws_b: np.ndarray
    probability: float
    warnings: tuple[str, ...] = ()
    names: tuple[str, str] = ("a", "b")
    pos_label: Any = None

    method = "posterior"

    @property
    def difference(self) -> np.ndarray:
        """Draws of ``AUC_a − AUC_b``."""
        return self.draws_a - self.draws_b

    def mean(self) -> float:
        """Posterior mean of the difference."""
        return float(self.difference.mean())

    def var(self) -> float:
        """Posterior variance of the difference."""
        return float(self.difference.var())

    def cdf(self, x: ArrayLike) -> Any:
        """``P(AUC_a − AUC_b ≤ x | data)``, elementwise."""
        x = as_numbers("x", x)
        below = np.searchsorted(np.sort(self.difference), x, side="right")
        return below / len(self.draws_a)

    def sf(self, x: ArrayLike) -> Any:
        """``P(AUC_a − AUC_b > x | data)``; non-inferiority is ``sf(-margin)``."""
        return 1 - self.cdf(x)

    def ppf(self, q: ArrayLike) -> Any:
        """Quantiles of the difference, elementwise."""
        return np.quantile(self.difference, check_numbers("q", q, 0, 1))

    def _head(self):
        head = {"pair": " - ".join(self.names)} | super()._head()
        head |= {"probability": self.probability}
        return head | {"warnings": repr(self.warnings)} if self.warnings else head

    def _estimates(self, confidence_level):
        names = {"": [" - ".join(self.names)], "probability": [self.probability]}
        return super()._estimates(confidence_level) | names


@dataclass(frozen=True, eq=False)
class JointAUCs:
    """Joint posterior of m AUCs.

    Parameters
    ----------
    mean : ndarray of shape (m,)
        Means of ``Z = Φ⁻¹(AUC)``.
    covariance : ndarray of shape (m, m)
        Their covariance, positive semidefinite except for rounding.
    """

    mean: np.ndarray
    covariance: np.ndarray

    @property
    def moments(self) -> list:
        """Mean and variance of the Z of each model."""
        pairs = zip(self.mean, np.diag(self.covariance), strict=True)
        return [(float(mean), float(variance)) for mean, variance in pairs]

    def best(self, n_resamples, random_state) -> tuple:
        """Probability of being the best, and the AUC lost on average by each model.

        Parameters
        ----------
        n_resamples : int
        random_state : int, Generator, RandomState or None

        Returns
        -------
        p_best, expected_loss : ndarray of shape (m,)
            In a draw, models within 1e-4 of the largest AUC share its win. An AUC on
            the other side of ½ than its mean counts as ½, that of no ranking.
        """
        draws = _normal_draws(self.covariance, n_resamples, random_state)
        sign = np.sign(self.mean)
        auc = ndtr(sign * np.maximum(sign * (self.mean + draws), 0.0))
        # loss_i = E[max_k AUC_k − AUC_i]
        behind = auc.max(axis=1, keepdims=True) - auc
        won = behind <= TIE
        share = won / won.sum(axis=1, keepdims=True)
        return share.mean(axis=0), behind.mean(axis=0)

    def difference(
        self, i, j, random_state=0, n_resamples=_PAIR_DRAWS
    ) -> AUCDifferencePosterior:
        """Posterior of ``AUC_i − AUC_j``.

        Parameters
        ----------
        i, j : int
        random_state : int, Generator, RandomState or None, default=0
            Seed of the scrambling of the quasi-random draws.
        n_resamples : int, default=4096
            Rounded up to a power of 2.

        Returns
        -------
        AUCDifferencePosterior
        """
        m = len(self.mean)
        i, j = (check_integer(name, k, -m, m - 1) for name, k in (("i", i), ("j", j)))
        pair = np.array([i, j])
        n_resamples = check_integer("n_resamples", n_resamples, 1)
        # scrambled Sobol points in (0, 1), balanced only for powers of 2
        engine = qmc.Sobol(2, seed=generator(random_state))
        u = engine.random_base2(int(np.ceil(np.log2(max(n_resamples, 2)))))
        normal = ndtri(np.clip(u, _END, 1 - _END))
        # (Z_i, Z_j) = m + A N with AAᵀ their covariance
        root = root_of(self.covariance[np.ix_(pair, pair)])
        a, b = ndtr(self.mean[pair] + normal @ root.T).T
        # P(Z_i > Z_j) = Φ((m_i − m_j)/√Var(Z_i − Z_j)), in closed form: draws of almost
        # equal models would count their rounding
        apart, spread = self._ahead_of(j)[i], self.deviation_from(j)[i]
        probability = ndtr(apart / spread) if spread > 0 else (1 + np.sign(apart)) / 2
        return AUCDifferencePosterior(a, b, float(probability))

    def deviation_from(self, j) -> np.ndarray:
        """Standard deviations of ``Z_i − Z_j`` for all i, shape (m,)."""
        # Var(Z_i − Z_j) = V_ii + V_jj − 2V_ij; below 1e-12 of its parts it is rounding
        own = np.diag(self.covariance)
        variance = own + own[j] - 2 * self.covariance[j]
        return np.sqrt(np.where(variance > _SAME * (own + own[j]), variance, 0.0))

    def within(self, deviations) -> np.ndarray:
        """Mask (m,) of the models that are nearly as good as the best one.

        The mean of their Z is below the largest mean by at most so many standard
        deviations of the difference.
        """
        best = int(np.argmax(self.mean))
        return -self._ahead_of(best) <= deviations * self.deviation_from(best)

    def _ahead_of(self, j):
        """Means of ``Z_i − Z_j``; 0 if they differ only by rounding."""
        own, ahead = np.diag(self.covariance), self.mean - self.mean[j]
        rounding = np.abs(ahead) <= np.sqrt(_SAME * (own + own[j]))
        return np.where((self.deviation_from(j) == 0) & rounding, 0.0, ahead)


def maximum_bias(score, noise, n_resamples, random_state) -> float:
    """Mean error of the largest of several noisy scores.

    ``E e_k`` with ``e ~ N(0, noise)`` and ``k = argmax(score + e)``: the bias of the
    best score of a search. Noise that all scores share adds nothing.

    Parameters
    ----------
    score : ndarray of shape (m,)
    noise : ndarray of shape (m, m)
        Covariance of the errors of the scores around the truth.
    n_resamples : int
    random_state : int, Generator, RandomState or None

    Returns
    -------
    float
    """
    # The mean of all errors moves no argmax and has expectation 0: it is left out, with
    # the covariance CMC of the contrasts, C = I − 11ᵀ/m
    contrasts = noise - noise.mean(axis=0)
    contrasts = contrasts - contrasts.mean(axis=1, keepdims=True)
    error = _normal_draws(contrasts, n_resamples, random_state)
    best = np.argmax(score + error, axis=1)
    # E e_k ≥ max s − E s_k ≥ 0 for the winner k: negative values are random error
    return max(float(error[np.arange(n_resamples), best].mean()), 0.0)


def root_of(covariance) -> np.ndarray:
    """A root A of a positive semidefinite matrix, ``AAᵀ``; shape (m, m)."""
    # A = V diag(√λ); negative λ are rounding
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _normal_draws(covariance, n_resamples, random_state):
    """Draws of ``N(0, covariance)``, of shape (n_resamples, m)."""
    normal = generator(random_state).standard_normal((n_resamples, len(covariance)))
    return normal @ root_of(covariance).T
