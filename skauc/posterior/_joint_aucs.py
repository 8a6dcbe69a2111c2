"""The AUCs of many models under one joint posterior, normal in probits.

``Z = Φ⁻¹(AUC) ~ N(m, V)``. What all models share, an error that the rows or the model
of the data set put on each of them, stands in V as a constant and cancels in every
difference: the probability of being the best, the loss by taking another, and the
standard deviation of a difference are those of the contrasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from ..statistics._numbers import as_count, as_index
from ..statistics._values import Value
from ._distribution import generator
from ._joint import AUCDifferencePosterior

# AUCs within it are equally good: two solvers of one problem differ by that much
TIE = 1e-4
_SAME = 1e-12  # of a variance of a difference: rounding of one and the same model
_BLOCK = 2**17  # numbers drawn at once: 1 MB
_PAIR_DRAWS = 4096  # Sobol points: the error of a mean is below 1e-5
_END = 1e-12  # Sobol points may be 0, whose normal quantile is −∞


@dataclass(frozen=True, eq=False)
class JointAUCs(Value):
    """Joint posterior of m AUCs.

    Parameters
    ----------
    mean : ndarray of shape (m,)
        Means of ``Z = Φ⁻¹(AUC)``.
    covariance : ndarray of shape (m, m)
        Their covariance, positive semidefinite but for rounding.
    """

    mean: np.ndarray
    covariance: np.ndarray

    def best(self, n_draws, random_state) -> tuple[np.ndarray, np.ndarray]:
        """Probability of being the best, and the AUC lost on average by each model.

        Parameters
        ----------
        n_draws : int
        random_state : int, Generator, RandomState or None

        Returns
        -------
        p_best, expected_loss : ndarray of shape (m,)
            In a draw, models within 1e-4 of the largest AUC share its win.
        """
        wins = loss = np.zeros(len(self.mean))
        for auc in self._draws(n_draws, random_state):
            # loss_i = E[max_k AUC_k − AUC_i]
            behind = auc.max(axis=1, keepdims=True) - auc
            won = behind <= TIE
            wins = wins + (won / won.sum(axis=1, keepdims=True)).sum(axis=0)
            loss = loss + behind.sum(axis=0)
        return wins / wins.sum(), loss / n_draws

    def difference(
        self, i, j, random_state=0, n_draws=_PAIR_DRAWS
    ) -> AUCDifferencePosterior:
        """Posterior of ``AUC_i − AUC_j``.

        Parameters
        ----------
        i, j : int
        random_state : int, Generator, RandomState or None, default=0
            Seed of the scrambling of the quasi-random draws.
        n_draws : int, default=4096
            Rounded up to a power of 2.

        Returns
        -------
        AUCDifferencePosterior
        """
        i, j = (as_index(name, k, len(self.mean)) for name, k in (("i", i), ("j", j)))
        pair, n_draws = np.array([i, j]), as_count("n_draws", n_draws)
        engine = qmc.Sobol(2, seed=generator(random_state))
        u = engine.random_base2(int(np.ceil(np.log2(max(n_draws, 2)))))
        normal = ndtri(np.clip(u, _END, 1 - _END))
        # (Z_i, Z_j) = m + A N with AAᵀ their covariance
        root = root_of(self.covariance[np.ix_(pair, pair)])
        a, b = ndtr(self.mean[pair] + normal @ root.T).T
        # P(Z_i > Z_j) = Φ((m_i − m_j)/√Var(Z_i − Z_j)), in closed form: draws of almost
        # equal models would count their rounding
        apart, spread = self._ahead_of(j)[i], self.deviation_from(j)[i]
        if spread > 0:
            probability = ndtr(apart / spread)
        else:
            probability = 0.5 + 0.5 * np.sign(apart)
        return AUCDifferencePosterior(a, b, float(probability))

    def deviation_from(self, j) -> np.ndarray:
        """Standard deviations of ``Z_i − Z_j`` for all i, shape (m,)."""
        # Var(Z_i − Z_j) = V_ii + V_jj − 2V_ij; below 1e-12 of its parts it is rounding
        own = np.diag(self.covariance)
        variance = own + own[j] - 2 * self.covariance[j]
        return np.sqrt(np.where(variance > _SAME * (own + own[j]), variance, 0.0))

    def within(self, deviations) -> np.ndarray:
        """Models whose Z is within so many standard deviations of the difference.

        Of the difference to the model with the largest mean; shape (m,), bool.
        """
        best = int(np.argmax(self.mean))
        return -self._ahead_of(best) <= deviations * self.deviation_from(best)

    def _ahead_of(self, j):
        """Means of ``Z_i − Z_j``, 0 where it is one model twice but for rounding."""
        own, ahead = np.diag(self.covariance), self.mean - self.mean[j]
        rounding = np.abs(ahead) <= np.sqrt(_SAME * (own + own[j]))
        return np.where((self.deviation_from(j) == 0) & rounding, 0.0, ahead)

    def _draws(self, n_draws, random_state):
        """Draws of the AUCs, (size, m) each."""
        root, rng = root_of(self.covariance), generator(random_state)
        for size in _blocks(n_draws, len(self.mean)):
            yield ndtr(self.mean + rng.standard_normal((size, root.shape[1])) @ root.T)


def maximum_bias(score, noise, n_draws, random_state) -> float:
    """How much too high the largest of noisy scores is, on the average.

    ``E e_k`` with ``e ~ N(0, noise)`` and k the largest of ``score + e``: what the
    winner of a search owes to its luck. Noise that all scores share has none.

    Parameters
    ----------
    score : ndarray of shape (m,)
    noise : ndarray of shape (m, m)
        Covariance of the errors of the scores around the truth.
    n_draws : int
    random_state : int, Generator, RandomState or None

    Returns
    -------
    float
    """
    # The mean of all errors moves no argmax and has expectation 0: it is left out
    total, root, rng = 0.0, root_of(_centred(noise)), generator(random_state)
    for size in _blocks(n_draws, len(score)):
        error = rng.standard_normal((size, root.shape[1])) @ root.T
        best = np.argmax(score + error, axis=1)
        total += error[np.arange(size), best].sum()
    # E e_k ≥ max s − E s_k ≥ 0 for the winner k: below 0 is what the draws err
    return max(float(total / n_draws), 0.0)


def root_of(covariance) -> np.ndarray:
    """A root A of a positive semidefinite matrix, ``AAᵀ``; shape (m, m)."""
    # A = V diag(√λ); negative λ are rounding
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _blocks(n_draws, m):
    """Sizes in which draws of m numbers are made."""
    step = max(_BLOCK // m, 1)
    full, rest = divmod(n_draws, step)
    return [step] * full + [rest] * (rest > 0)


def _centred(matrix):
    """The covariance of the contrasts: ``CMC``, ``C = I − 11ᵀ/m``."""
    rows = matrix - matrix.mean(axis=0)
    return rows - rows.mean(axis=1, keepdims=True)
