"""How much of the identity is mixed into Σ: three methods for the weight α.

The formulas are section 3 of :mod:`skauc.estimators`; Σ and the rows are those of a
``RayleighProblem``, in its working coordinates.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..adaptive._mixture import mixture
from ..adaptive._spectrum import eigenbasis_of_moments

# α from hardly any to all but a thousandth, 100 values, logarithmic at both ends
_PATH = np.append(np.geomspace(1e-4, 0.5, 70), 1 - np.geomspace(0.5, 1e-3, 31)[1:])
_STRIDE = 5  # first every fifth value, then all around the best: 30 posteriors, not 100
_ROUNDING = 1e-9  # of the range of the probits: nearer values are one


def shrinkage_weight(problem, method) -> float:
    """The number α that None, a number or the name of a method stands for.

    Parameters
    ----------
    problem : RayleighProblem
    method : None, float, "auto", "oas" or "bayes"

    Returns
    -------
    float
    """
    if isinstance(method, str):
        return _METHODS[method](problem)
    return float(method or 0)


def _sizes(problem):
    """n, P, ‖Σ‖², τ and ‖Σ − τI‖² (Frobenius)."""
    n, P, sigma = problem.neg.n + problem.pos.n, problem.n_features, problem.sigma
    square, tau = np.sum(sigma**2), np.trace(sigma) / P
    # ‖Σ − τI‖² = ‖Σ‖² − Pτ²
    return n, P, square, tau, square - P * tau**2


def _ledoit_wolf(problem):
    """Ledoit & Wolf (2004), section 3.3: b²/d²."""
    n, _, square, _, spread = _sizes(problem)
    # Σ_i ‖n z_i z_iᵀ − Σ‖²/n² = Σ_i ‖z_i‖⁴ − ‖Σ‖²/n: the error of Σ, estimated as if
    # all rows were alike. Those of two covariances, Σ_i ‖z_i‖⁴ − Σ_c ‖Σ̂_c‖²/n_c, fall
    # short of E‖Σ − EΣ‖² by 6 to 39 %, because ‖Σ̂_c‖² is above ‖EΣ̂_c‖²; this is off
    # by −11 to 11 %. What α leaves, ‖Σ_α − EΣ‖², would be .97 to 1.06 as much (eight
    # designs of normal rows, 45 : 5 to 200 : 20 and 50 : 50, 3 to 40 features)
    noise = problem.fourth_powers() - square / n
    return float(min(max(noise, 0.0) / spread, 1.0)) if spread > 0 else 0.0


def _oracle_approximating(problem):
    """Chen et al. (2010), eq. 23 without its terms 2/P, like scikit-learn's ``oas``."""
    n, P, square, tau, spread = _sizes(problem)
    if spread <= 0:
        return 1.0
    # (‖Σ‖² + (Pτ)²)/{(n + 1)‖Σ − τI‖²}, at most 1
    return float(min((square + (P * tau) ** 2) / ((n + 1) * spread), 1.0))


def _largest_bayesian_auc(problem):
    """α with the largest Bayesian AUC: every fifth of the path, then around it."""
    if not problem.mu.any() or not problem.sigma.any():
        return 1.0  # no direction separates the classes, or each does
    # ((1 − α)Σ + ατI)⁻¹μ = V diag{1/((1 − α)λ + ατ)} Vᵀμ: one decomposition for all α
    values, V = linalg.eigh(problem.sigma)
    values, m = np.maximum(values, 0), V.T @ problem.mu
    tau = values.sum() / problem.n_features
    alpha = _PATH[:, None]
    path = (m / ((1 - alpha) * values + alpha * tau)) @ V.T
    probit = _probit_of_bayesian_auc(problem)
    tried = np.arange(0, len(_PATH), _STRIDE)
    best = tried[_last_best(probit(path[tried]))]
    # All between the neighbours that were tried before.
    tried = np.arange(max(best - _STRIDE + 1, 0), min(best + _STRIDE, len(_PATH)))
    return float(_PATH[tried[_last_best(probit(path[tried]))]])


def _probit_of_bayesian_auc(problem):
    """``Φ⁻¹`` of the Bayesian AUC as a function of directions, one a row.

    Under the adaptive prior (:mod:`skauc.adaptive`), from the moments alone: neither
    winsorised rows nor leave-pair-out, which would need the rows.
    """
    eigen = eigenbasis_of_moments(
        problem.neg, problem.pos, standardize=False, unseen=problem.n_extra_dimensions
    )
    components = mixture(eigen)

    def probit(directions):
        projected = eigen.project(directions.T)
        posteriors = (
            components.posterior(projected, k) for k in range(len(directions))
        )
        return np.array([posterior.mean_probit() for posterior in posteriors])

    return probit


def _last_best(values):
    """Of values that differ by rounding only, the one with the strongest shrinkage."""
    return np.flatnonzero(np.max(values) - values <= _ROUNDING * np.ptp(values))[-1]


_METHODS = {
    "auto": _ledoit_wolf,
    "oas": _oracle_approximating,
    "bayes": _largest_bayesian_auc,
}
