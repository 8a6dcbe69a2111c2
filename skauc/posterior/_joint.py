"""Two linear models under one joint posterior (section 7).

The root of the scatter is taken of ``[w_a, w_b − βw_a]``, whose scores are nearly
uncorrelated: two almost equal models keep the digits in which they differ (of a
correlation 1 − ε only √ε would be left), and one model twice is a tie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr, ndtri
from scipy.stats import qmc

from ..statistics._moments import class_moments
from ..statistics._numbers import as_numbers, as_rate
from ._conjugate import NormalInverseWishart
from ._distribution import Distribution, generator

_TIE = 1e-12  # AUCs nearer than this are equal: rounding of one and the same model
_END = 1e-12  # Sobol points may be 0, whose normal quantile is −∞


@dataclass(frozen=True, eq=False, repr=False)
class AUCDifferencePosterior(Distribution):
    """Posterior of the difference of two AUCs, with scipy's verbs.

    Made by :func:`auc_difference_posterior`.

    Parameters
    ----------
    draws_a, draws_b : ndarray of shape (n_draws,)
        Joint draws of the two AUCs.
    probability : float
        ``P(AUC_a > AUC_b | data)``, equal models counted ½.
    warnings : tuple of str, default=()
        What makes the AUC of either model doubtful, as of :class:`AUCPosterior`.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import AUCDifferencePosterior
    >>> a, b = np.array([0.8, 0.9]), np.array([0.7, 0.6])
    >>> round(AUCDifferencePosterior(a, b, probability=1.0).mean(), 2)
    0.2
    """

    draws_a: np.ndarray
    draws_b: np.ndarray
    probability: float
    warnings: tuple[str, ...] = ()

    def __repr__(self):
        low, high = self.interval(0.95)
        text = (
            f"AUCDifferencePosterior(mean={self.mean():.4g}, interval95=({low:.4g}, "
            f"{high:.4g}), probability={self.probability:.4g}"
        )
        if self.warnings:
            text += f", warnings={self.warnings!r}"
        return text + ")"

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

    def cdf(self, x):
        """``P(AUC_a − AUC_b ≤ x | data)``, elementwise."""
        x = as_numbers("x", x)
        below = np.searchsorted(np.sort(self.difference), x, side="right")
        return below / len(self.draws_a)

    def sf(self, x):
        """``P(AUC_a − AUC_b > x | data)``; non-inferiority is ``sf(-margin)``."""
        return 1 - self.cdf(x)

    def ppf(self, q):
        """Quantiles of the difference, elementwise."""
        return np.quantile(self.difference, as_rate("q", q))

    def _rows(self, confidence_level):
        row = self._summary(confidence_level) | {"probability": self.probability}
        return {"AUC_a - AUC_b": row}


@dataclass(frozen=True, eq=False)
class JointPosterior:
    """Posterior of the means and covariances of two scores.

    Parameters
    ----------
    D : ndarray of shape (2,)
        ``Wᵀ(m₁* − m₀*)``.
    nu : ndarray of shape (2,)
        ν₀*, ν₁*.
    roots : list of ndarray of shape (2, 2)
        R with RRᵀ = WᵀS*W, of each class, or one where they share a covariance.
    df : ndarray of shape (len(roots),)
        κ* − P + 2.
    shared : bool
        Whether the classes share a covariance.
    """

    D: np.ndarray
    nu: np.ndarray
    roots: list[np.ndarray]
    df: np.ndarray
    shared: bool

    def draw(self, n_draws, random_state) -> AUCDifferencePosterior:
        if n_draws != int(n_draws) or n_draws < 1:
            raise ValueError(f"n_draws must be a whole number >= 1, got {n_draws}")
        u = self._uniforms(n_draws, random_state)
        # M Mᵀ is the covariance Σ_c of the two scores
        M = [
            _draw_half(R, df, v[:3])
            for R, df, v in zip(self.roots, self.df, u, strict=True)
        ]
        if self.shared:  # V = Σ (1/ν₀* + 1/ν₁*)
            halves = [M[0] * np.sqrt((1 / self.nu).sum())]
            M = M * 2
        else:
            halves = [m / np.sqrt(nu) for m, nu in zip(M, self.nu, strict=True)]
        total = _square(M[0]) + _square(M[1])
        spread = np.sqrt(total[[0, 1], [0, 1]])
        # d ~ N(D, V), AUC = Φ(d/√(wᵀ(Σ₀ + Σ₁)w))
        gap = self.D[:, None] + sum(
            np.einsum("ikn,kn->in", half, ndtri(v[3:]))
            for half, v in zip(halves, u, strict=True)
        )
        auc_a, auc_b = ndtr(gap / spread)
        return AUCDifferencePosterior(auc_a, auc_b, self._probability(halves, spread))

    def _uniforms(self, n_draws, random_state):
        """Sobol points of shape (classes, 5, n): three for Bartlett's B, two for d."""
        classes = 1 if self.shared else 2
        engine = qmc.Sobol(5 * classes, seed=generator(random_state))
        # Sobol points are balanced in powers of 2 alone
        u = engine.random_base2(int(np.ceil(np.log2(max(n_draws, 2)))))
        return np.clip(u.T, _END, 1 - _END).reshape(classes, 5, -1)

    def _probability(self, halves, spread):
        """``E_Σ P(d_a/spread_a > d_b/spread_b | Σ)``."""
        # Given Σ: d_a/s_a − d_b/s_b ~ N(D_a/s_a − D_b/s_b, Σ_c ‖h_a/s_a − h_b/s_b‖²),
        # h the rows of the half H of class c and s the spread
        gap = self.D[0] / spread[0] - self.D[1] / spread[1]
        # V = Σ HHᵀ; of almost equal rules only the difference of its rows has digits
        apart = [half[0] / spread[0] - half[1] / spread[1] for half in halves]
        variance = sum(np.einsum("kn,kn->n", part, part) for part in apart)
        same = (variance < _TIE) & (np.abs(gap) < _TIE)
        z = gap / np.sqrt(np.maximum(variance, _TIE**2))
        return float(np.where(same, 0.5, ndtr(z)).mean())


def _slope(moments):
    """β of the second score on the first, within the classes."""
    # β = W_ab/W_aa
    scatter = sum(part.scatter for part in moments)
    return scatter[0, 1] / scatter[0, 0] if scatter[0, 0] > 0 else 0.0


def joint_posterior(
    scores, W, positive, weight, prior: NormalInverseWishart, covariance: str
) -> JointPosterior:
    """Joint posterior of two linear models.

    Parameters
    ----------
    scores : ndarray of shape (n, 2)
    W : ndarray of shape (P, 2)
        Coefficients ``[w_a w_b]`` of all features that either model sees.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    prior : NormalInverseWishart
    covariance : {"common", "separate"}

    Returns
    -------
    JointPosterior

    Raises
    ------
    ValueError
        If the posterior is not proper: the prior is improper and n is too small.
    """
    beta = _slope(class_moments(scores, positive, weight))
    scores, W = (
        np.column_stack([m[:, 0], m[:, 1] - beta * m[:, 0]]) for m in (scores, W)
    )
    neg, pos = class_moments(scores, positive, weight)
    return _of_moments(neg, pos, W, beta, prior, covariance)


def _of_moments(neg, pos, W, beta, prior, covariance):
    """From the moments of the scores of ``W = [w_a, w_b − βw_a]``."""
    projected = [prior.project(w) for w in W.T]  # checks shapes and κ
    m = np.array([[v.mean_neg for v in projected], [v.mean_pos for v in projected]])
    # WᵀSW, without a P×P matrix where S is a diagonal or a multiple of I
    S = np.asarray(prior.scale)
    S = W.T @ S @ W if S.ndim == 2 else (W * np.reshape(S, (-1, 1))).T @ W
    nu, n = np.array([prior.nu_neg, prior.nu_pos]), np.array([neg.n, pos.n])
    mean, nu_star, scatter = [], nu + n, []
    for c, part in enumerate((neg, pos)):
        shift = part.mean - m[c]
        # section 1, m_c* and S* of the two scores
        mean.append((n[c] * part.mean + nu[c] * m[c]) / nu_star[c])
        scatter.append(
            part.scatter + n[c] * nu[c] / nu_star[c] * np.outer(shift, shift)
        )
    shared = covariance == "common"
    if shared:
        scatter, n = [S + scatter[0] + scatter[1]], n.sum(keepdims=True)
    else:
        scatter = [S + part for part in scatter]
    # κ* − P + 2: two dimensions keep one degree of freedom more than one does
    df = projected[0].kappa + n - projected[0].n_features + 2
    back = np.array([[1.0, 0.0], [beta, 1.0]])  # to a and b
    roots = [back @ _root(part) for part in scatter]
    # The second χ² of Bartlett's B has df − 1 degrees of freedom
    if not (df > 1).all() or not all(root.any(axis=1).all() for root in roots):
        raise ValueError(
            "prior is improper and the data cannot make it proper: the posterior "
            f"needs df > 1 and scores that vary, got df = {df.min():g}; use a proper "
            "prior (scale > 0, kappa > P - 1)"
        )
    return JointPosterior(back @ (mean[1] - mean[0]), nu_star, roots, df, shared)


def _root(scatter):
    """Cholesky's R, ``RRᵀ = scatter``; a score that does not vary has a row of 0."""
    # R = [[a, 0], [W_ab/a, √(W_bb − (W_ab/a)²)]]; rounding can make the last square < 0
    a = np.sqrt(scatter[0, 0])
    below = scatter[0, 1] / a if a > 0 else 0.0
    return np.array([[a, 0.0], [below, np.sqrt(max(scatter[1, 1] - below**2, 0.0))]])


def _draw_half(root, df, u):
    """Draws of ``M = R B⁻ᵀ``, shape (2, 2, n); MMᵀ is inverse-Wishart."""
    # Bartlett: B = [[√χ²_df, 0], [N, √χ²_{df−1}]], BBᵀ ~ Wishart(I, df)
    first, second = np.sqrt(chdtri(df, u[0])), np.sqrt(chdtri(df - 1, u[1]))
    below = ndtri(u[2])
    # B⁻ᵀ = [[1/first, −below/(first second)], [0, 1/second]]
    return np.array(
        [
            [root[0, 0] / first, -root[0, 0] * below / (first * second)],
            [
                root[1, 0] / first,
                root[1, 1] / second - root[1, 0] * below / (first * second),
            ],
        ]
    )


def _square(M):
    """``MMᵀ`` of each draw."""
    return np.einsum("ikn,jkn->ijn", M, M)
