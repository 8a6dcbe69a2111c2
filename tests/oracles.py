"""Slow and obvious: what the package computes fast, written out from the definition.

Nothing here imports skauc.
"""

from math import fsum

import mpmath as mp
import numpy as np
from scipy import stats
from scipy.special import stdtr

# ------------------------------------------------------------------------- samples


def repeat_rows(X, weight):
    """Integer weights as what they mean: rows written several times."""
    return np.repeat(np.asarray(X), weight, axis=0)


def two_pass_moments(X):
    """Count, mean and scatter of the rows, feature by feature, with exact sums."""
    X = np.asarray(X, dtype=float)
    n, P = X.shape
    mean = np.array([fsum(X[:, j]) / n for j in range(P)])
    scatter = np.array(
        [
            [fsum((X[:, j] - mean[j]) * (X[:, k] - mean[k])) for k in range(P)]
            for j in range(P)
        ]
    )
    return n, mean, scatter


# --------------------------------------------------------------------------- ranks


def pairwise_auc(neg, pos, weight_neg=None, weight_pos=None):
    """All pairs, ties ½, a pair weighs the product of its rows."""
    weight_neg = np.ones(len(neg)) if weight_neg is None else weight_neg
    weight_pos = np.ones(len(pos)) if weight_pos is None else weight_pos
    won = total = 0.0
    for a, wa in zip(neg, weight_neg, strict=True):
        for b, wb in zip(pos, weight_pos, strict=True):
            won += wa * wb * (1.0 if b > a else 0.5 if b == a else 0.0)
            total += wa * wb
    return won / total


def kernel(a, b):
    return 1.0 if b > a else 0.5 if b == a else 0.0


def loop_placements(neg, pos):
    v01 = [sum(kernel(a, b) for b in pos) / len(pos) for a in neg]
    v10 = [sum(kernel(a, b) for a in neg) / len(neg) for b in pos]
    return np.array(v01), np.array(v10)


# ---------------------------------------------------------------- posterior, P > 1


def absorb(rows, m, nu, kappa, S):
    """Conjugate update of one class, one row at a time."""
    m, S = np.array(m, dtype=float), np.array(S, dtype=float)
    for x in rows:
        S += nu / (nu + 1) * np.outer(x - m, x - m)
        m = (nu * m + x) / (nu + 1)
        nu, kappa = nu + 1, kappa + 1
    return m, nu, kappa, S


def _draw_means(rng, m, nu, Sigma):
    """μ ~ N(m, Σ/ν), one for each Σ of a stack."""
    root = np.linalg.cholesky(Sigma / nu)
    return m + np.einsum("kij,kj->ki", root, rng.standard_normal(Sigma.shape[:2]))


def _auc(w, mu0, mu1, Sigma0, Sigma1):
    variance = np.einsum("i,kij,j->k", w, Sigma0 + Sigma1, w)
    return stats.norm.cdf((mu1 - mu0) @ w / np.sqrt(variance))


def sample_common(neg, pos, w, m0, m1, nu0, nu1, kappa, S, size, rng):
    """AUC drawn from the full P × P posterior with one Σ."""
    m0, nu0, kappa, S = absorb(neg, m0, nu0, kappa, S)
    m1, nu1, kappa, S = absorb(pos, m1, nu1, kappa, S)
    Sigma = stats.invwishart(kappa, S).rvs(size, random_state=rng)
    mu0, mu1 = _draw_means(rng, m0, nu0, Sigma), _draw_means(rng, m1, nu1, Sigma)
    return _auc(w, mu0, mu1, Sigma, Sigma)


def sample_separate(neg, pos, w, m0, m1, nu0, nu1, kappa, S, size, rng):
    """AUC drawn with one Σ for each class, each with the whole prior."""
    m0, nu0, kappa0, S0 = absorb(neg, m0, nu0, kappa, S)
    m1, nu1, kappa1, S1 = absorb(pos, m1, nu1, kappa, S)
    Sigma0 = stats.invwishart(kappa0, S0).rvs(size, random_state=rng)
    Sigma1 = stats.invwishart(kappa1, S1).rvs(size, random_state=rng)
    mu0, mu1 = _draw_means(rng, m0, nu0, Sigma0), _draw_means(rng, m1, nu1, Sigma1)
    return _auc(w, mu0, mu1, Sigma0, Sigma1)


# ---------------------------------------------------------------- Student, mpmath


def student_cdf(df, t):
    """T_df(t) at the working precision of mpmath; call it with t ≤ 0 for tails."""
    df, t = mp.mpf(df), mp.mpf(t)
    tail = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t <= 0 else 1 - tail


def proposition_1(D, v, q, df):
    """½ + ½ sgn(A) I(A²/(A² + q); ½, df/2), A = D/√(2 + v), in mpmath."""
    A = mp.mpf(D) / mp.sqrt(2 + mp.mpf(v))
    x = A**2 / (A**2 + mp.mpf(q))
    half = mp.betainc(mp.mpf(1) / 2, mp.mpf(df) / 2, 0, x, regularized=True) / 2
    return mp.mpf(1) / 2 + mp.sign(A) * half


def second_moment(D, v, q, df):
    """E[AUC] and E[AUC²] of a cell: two nested integrals, normal and χ².

    Given χ², Z is normal, and E[Φ(Z)^k] is a sum over Gauss–Hermite nodes. For the
    upper tail ask for D < 0, where nothing is near 1.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    chi2 = stats.chi2(df)
    y = np.linspace(np.log(chi2.ppf(1e-100)), np.log(chi2.isf(1e-18)), 4001)
    outer = chi2.pdf(np.exp(y)) * np.exp(y)
    outer /= outer.sum()
    z = D * np.sqrt(np.exp(y) / q)[:, None] / np.sqrt(2) + np.sqrt(v / 2) * nodes
    auc = stats.norm.cdf(z)
    return outer @ auc @ weights, outer @ auc**2 @ weights


def student_race(m0, s0, df0, m1, s1, df1):
    """P(T₁ < T₀) of two independent location-scale Student variables.

    One trapezoidal sum in sinh charts around both centres (a partition of unity), so
    that also a tiny probability keeps its digits.
    """
    D, k = m1 - m0, s0 / s1
    c = -D / s1
    u, step = np.linspace(-25, 25, 100001), 50 / 100000
    total = 0.0
    for centre, scale in ((0.0, 1.0), (c, k)):
        x = centre + scale * np.sinh(u)
        own = (1 + x**2, k + (x - c) ** 2 / k)
        share = own[1 if centre == 0.0 and scale == 1.0 else 0] / (own[0] + own[1])
        density = np.exp(stats.t.logpdf(x, df1)) * stdtr(df0, (-D - s1 * x) / s0)
        total += np.sum(share * scale * np.cosh(u) * density) * step
    return total


def cumulant(law, s):
    """``log E exp(sS)`` of a quadratic form S, elementwise; real or complex s."""
    s = np.asarray(s)
    D = 1 - 2 * law.weights * s[..., None]
    terms = (law.slopes * s[..., None]) ** 2 / D - np.log(D)
    return (law.offset * s + terms.sum(axis=-1) / 2)[()]
