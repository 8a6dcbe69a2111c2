"""The dense family as a finite mixture of closed forms (sections 2 to 4).

A cell is ``(covariance, a, γ, u)``: ``a ∈ max(P, 4)/16 · {1, 2, …, 512}`` or, as of a
sphere, 10⁴ P, s by maximum evidence of W ~ Wishart(n − 2) (or of W₀, W₁ with n_c − 1,
one Σ_c each; then ``η = ℓ₀/n₀ + ℓ₁/n₁`` in the place of ℓ/h, and Satterthwaite's df for
the mean of the class variances), u on an even grid of 2u − 1 with the last sixteenth
refined. Beside these stand covariances of q factors in white noise (:mod:`._factors`).
The weights are evidence × prior; cells without weight are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from ..posterior._auc_posterior import AUCPosterior
from ..statistics._numerics import TINY, log_sum_exp
from ._cross_validated import MANY, Spectrum
from ._eigenbasis import Eigenbasis, Projected
from ._factors import factors, numbers_of_factors, variance

# How fine the grids are. Largest change of m, in probits, over 24 simulated problems of
# 30 × 10 to 200 × 50, 60 × 500 and 40 × 100: γ in steps of ¼ .002, with γ = 3 .008; a
# in half octaves .001, from P/64 to 64 P .004, from P/4 only .033, to 8 P only .018; 32
# cells of u .002, 8 cells .014; _TAIL to 4.1 only < 5e-5
GAMMAS = (0.0, 0.5, 1.0, 1.5, 2.0)
SPHERICAL = 1e4  # a/P at which Σ is as good as sI
# The last is the limit. Of independent features a = 32 P costs (n/a)² P²/8 nats, half
# of that with one covariance a class, which would win so, and has no slab: .58 of five
# strong signals in 1000 × 2000, whose AUC is .92
A_STEPS = np.append(2.0 ** np.arange(10) / 16, SPHERICAL)
_EVEN = 16  # cells of u
_TAIL = (2.3, 2.8, 3.4, 4.1, 5.0, 6.0, 7.5, 9.5)  # Φ⁻¹(u) in its last cell
_ROWS_A_FEATURE = 5  # of the smaller class, of which the variance along w is known
_VARIES = 0.01  # of the variance of both classes that of each: a rare word has none
_LOST = 1e-12  # mass of the cells that may be dropped
_BELOW = 60.0  # nats: e⁻⁶⁰ of many cells together is far less than that


@dataclass(frozen=True, eq=False)
class Mixture:
    """Cells of the adaptive prior after the data; rows are cells.

    Parameters
    ----------
    eigen : Eigenbasis
    weight : ndarray of shape (n_cells,)
        Posterior weights, adding up to 1.
    shrink : ndarray of shape (n_cells, r [+ 1])
        k, how much of each ``b_i`` is believed; the last column is the null space.
    noise : ndarray of shape (n_cells, r [+ 1])
        η, the sampling variance of each ``b_i``.
    spread : ndarray of shape (n_cells, r [+ 1])
        ``k η``, the posterior variance of each signal, which every direction asks for.
    a_scale, a, gamma, attainable : ndarray of shape (n_cells,)
        ``a s``, a, γ and u.
    separate : ndarray of bool of shape (n_cells,)
    factors : ndarray of int of shape (n_cells,)
        q where Σ is that of factors in white noise, else 0.
    spectrum : Spectrum, default=None
        Cross-validated variances in the place of ``(as + λ)/(a + n − 2)``.
    """

    eigen: Eigenbasis
    weight: np.ndarray
    shrink: np.ndarray
    noise: np.ndarray
    spread: np.ndarray
    a_scale: np.ndarray
    a: np.ndarray
    gamma: np.ndarray
    attainable: np.ndarray
    separate: np.ndarray
    factors: np.ndarray
    spectrum: Spectrum | None = None

    def posterior(self, view: Projected, k: int = 0) -> AUCPosterior:
        """Posterior of the AUC of the k-th direction of a view, of dense signals."""
        if not view.alive[k]:
            return AUCPosterior.point_mass_at_half()
        D, v, q, df = self.cells(view, k)
        return AUCPosterior.from_cells(D, v, q, df, self.weight)

    def cells(self, view: Projected, k: int):
        """``D, v, q, df`` of every cell."""
        D, noise = self.difference(view, k)
        q, df = self._variance(view, k)
        return self.observed(view, k, D, noise, q, df, self.factors, self.separate)

    def _of_few(self, view, k, D, noise, q, df, separate):
        """A cell ``D, v, q, df`` of few features, whose variance the rows know.

        v is the noise in units of the variance that it was computed with.
        """
        counted = squares_of_few(self.eigen, view, k)
        classes = mean_of_classes(*counted)
        (q_neg, q_pos), _ = counted
        pooled = q_neg + q_pos, self.eigen.n_neg + self.eigen.n_pos
        q_few, df_few = (
            np.where(separate, of_each, of_all)
            for of_each, of_all in zip(classes, pooled, strict=True)
        )
        return D, noise * (df - 2) / q, q_few, df_few

    def observed(self, view, k, D, noise, q, df, n_factors, separate=False):
        """A cell ``D, v, q, df`` after the mean difference has told of Σ, too."""
        if keeps_few(self.eigen, view, k):
            return self._of_few(view, k, D, noise, q, df, separate)
        n, h = self.eigen.n_neg + self.eigen.n_pos, self.eigen.h
        # E[h(xᵀd − xᵀδ)² | d] = h((xᵀd − D)² + noise): one more square, one more degree
        more, df = h * ((view.difference[k] - D) ** 2 + noise), df + 1
        if np.any(n_factors):
            # It turns factor i by √(hℓ_i) xᵀ(d − δ)/mℓ_i towards x: Σ_i ℓ_i turn_i², of
            # x away from the factors, as nearly all of x is
            m = max(n - 2, 1)  # whose square may be no number
            turned = (df - 2) * n_factors / m / m
            more = np.where(np.asarray(n_factors) > 0, turned, 1.0) * more
        q = q + more
        # E xᵀΣx = q/(df − 2), and v is the noise in units of it
        return D, noise * (df - 2) / q, q, df

    def difference(self, view, k):
        """Posterior mean and variance of xᵀδ in each cell."""
        # xᵀδ = Σ a_i δ_i, E δ_i = k_i b_i, Var δ_i = k_i η_i; the null space is one
        # coordinate, the part of x and of xᵀd that V does not reach
        ab = view.cross[:, k]
        if self.eigen.null:
            ab = np.append(ab, view.difference[k] - ab.sum())
        return self.shrink @ ab, self.spread @ _squares(self.eigen, view, k)

    def class_variances(self, view, k):
        """``q_c, df_c`` of wᵀΣ_c w in each cell of separate covariances."""
        if keeps_few(self.eigen, view, k):
            return squares_of_few(self.eigen, view, k)
        return self._class_variances(view, k)

    def _class_variances(self, view, k):
        # df_c = κ + (n_c − 1) − P + 1 with κ = P + 1 + a
        df = self.a + self.eigen.n_neg + 1, self.a + self.eigen.n_pos + 1
        q = self.a_scale + view.square_neg[k], self.a_scale + view.square_pos[k]
        return q, df

    def _variance(self, view, k):
        if self.spectrum is not None:
            df = self.a + self.eigen.n_neg + self.eigen.n_pos
            return df * self.spectrum.along(view.square[:, k]), df
        # q = xᵀ(asI + W)x, |x| = 1
        q = self.a_scale + view.square_neg[k] + view.square_pos[k]
        df = self.a + self.eigen.n_neg + self.eigen.n_pos
        q_both, df_both = mean_of_classes(*self._class_variances(view, k))
        df = np.where(self.separate, df_both, df)
        q = np.where(self.separate, q_both, q)
        some = self.factors > 0
        if some.any():
            ell = self.noise[some] * self.eigen.h
            q[some], df[some] = of_factors(self.eigen, view, k, ell, self.factors[some])
        return q, df


def mean_of_classes(q, df):
    """``q, df`` of the mean of the class variances, (σ₀² + σ₁²)/2."""
    # Satterthwaite: df = (x₀ + x₁)²/Σ x_c²/df_c
    x_neg, x_pos = (q_c / (df_c - 2) / 2 for q_c, df_c in zip(q, df, strict=True))
    both = x_neg + x_pos
    found = both**2 / (x_neg**2 / df[0] + x_pos**2 / df[1])
    # E[q/χ²_df] = q/(df − 2) exists for df > 2
    found = np.maximum(found, 3.0)
    return both * (found - 2), found


def keeps_few(eigen, view, k) -> bool:
    """Whether w has few of the features, and the classes many rows for each of them.

    Then these rows know the variance along w better than Σ̂, which is of all features;
    but for what hardly varies within a class, and where features are not axes.
    """
    support, rows = view.support[k], (eigen.n_neg, eigen.n_pos)
    if eigen.unseen or support >= eigen.n_features:
        return False
    if _ROWS_A_FEATURE * support > min(rows):
        return False
    squares = view.square_neg[k], view.square_pos[k]
    least = min(square / n for square, n in zip(squares, rows, strict=True))
    return bool(least > _VARIES * sum(squares) / sum(rows))


def squares_of_few(eigen, view, k):
    """``q_c, df_c`` of wᵀΣ_c w of few features, of which nothing was believed before.

    A direction of s features that was fitted to the rows has less variance on them:
    ``xᵀWx/n = (1 − s/n)² xᵀΣx`` of ``x = W⁻¹d``, for s and n large.
    """
    growth = (1 - view.support[k] / (eigen.n_neg + eigen.n_pos)) ** -2
    q = growth * view.square_neg[k], growth * view.square_pos[k]
    return q, (eigen.n_neg + 1, eigen.n_pos + 1)


def of_factors(eigen, view, k, ell, q):
    """``q, df`` of the variance along a direction, of covariances with q factors."""
    square, m = _squares(eigen, view, k), eigen.n_neg + eigen.n_pos - 2
    found, df = variance(square, ell, len(eigen.values), eigen.null, q, m)
    df = np.maximum(df, 3.0)
    # E xᵀΣx = q/(df − 2)
    return found * (df - 2), df


def _squares(eigen, view, k):
    """a² of a direction, and what of it lies in the null space, (r [+ 1],)."""
    square = view.square[:, k]
    if eigen.null:
        square = np.append(square, max(1.0 - square.sum(), 0.0))
    return square


def mixture(
    eigen: Eigenbasis, *, power=2.0, covariances=("common", "separate")
) -> Mixture:
    """Evidence of every cell, once per data set.

    Parameters
    ----------
    eigen : Eigenbasis
    power : float, default=2.0
        c of the prior ``2u − 1 ~ Beta(c, 1)`` of the attainable AUC.
    covariances : tuple of {"common", "separate", "factors", "spherical"}
        Covariance models that share the prior mass.

    Returns
    -------
    Mixture
    """
    prior = attainable_prior(power)
    nulls = [cell for name in covariances for cell in covariance_cells(eigen, name)]
    return normalised(eigen, dense_cells(eigen, prior, nulls), ndtr(prior[0]))


def covariance_cells(eigen, covariance):
    """Every a that is tried, with log evidence of W, as, ℓ, η and the covariance.

    Of ``"factors"`` every q that the scatter shows, with q at the end; 0 elsewhere. For
    n > 20 P there are none.
    """
    if covariance == "factors":
        yield from _factor_cells(eigen)
        return
    a = strengths(eigen, covariance)
    for cell in zip(a, *covariance_cell(eigen, a, covariance), strict=True):
        yield *cell, covariance, 0


def _factor_cells(eigen):
    n, n_values = eigen.n_neg + eigen.n_pos, len(eigen.values)
    # nodes of a quadrature are not eigenvalues; of many rows the sample is enough
    if eigen.counts is not None or n > MANY * eigen.n_features:
        return
    df = n - 2
    for q in numbers_of_factors(n_values, df):
        found = factors(eigen.values, eigen.null, df, q)
        if found is None:
            continue
        ell = np.append(found.values, [found.null] * (eigen.null > 0))
        a = SPHERICAL * eigen.n_features  # what is left is a sphere
        yield a, found.log_evidence, a * found.noise, ell, ell / eigen.h, "factors", q


def dense_cells(eigen, prior, nulls):
    """Every (γ, u) of some (covariance, a), but for those that weigh nothing.

    Log evidence of all u, k, η and the rest, one γ after the other.
    """
    # A signal adds variance: p(b | Σ̂, γ, u) is at most p(0 | Σ̂, no signal)
    bound = [
        log_w - 0.5 * (eigen.multiplicity @ np.log(noise))
        for _, log_w, _, _, noise, *_ in nulls
    ]
    first = int(np.argmax(bound))
    cells = {first: list(_dense_cells(eigen, prior, *nulls[first]))}
    least = max(log_evidence.max() for log_evidence, *_ in cells[first]) - _BELOW
    for k, null in enumerate(nulls):
        if k != first and bound[k] > least:
            cells[k] = list(_dense_cells(eigen, prior, *null))
    return [cell for k in sorted(cells) for cell in cells[k]]


def _dense_cells(eigen, prior, a, log_w, a_scale, ell, noise, covariance, q=0):
    """Of one (covariance, a) with every γ: log evidence of all u, k, η and the rest."""
    probit, log_prior = prior
    signals = signal_cells(eigen, ell, noise, GAMMAS, probit)
    for gamma, log_b, shrink in zip(GAMMAS, *signals, strict=True):
        head = (a_scale, a, gamma, covariance == "separate", q)
        # log p(W) + log p(d | γ, u) + log prior of u − log of the number of γ
        yield log_w + log_b + log_prior - np.log(len(GAMMAS)), shrink, noise, head


def strengths(eigen, covariance):
    """The a that are tried: a sixteenth of P to 32 P, and a sphere's, 10⁴ P."""
    # one feature is no sphere: its variance would be known
    steps = A_STEPS if eigen.n_features > 1 else A_STEPS[:-1]
    if covariance == "spherical":
        steps = [SPHERICAL]
    return max(eigen.n_features, 4) * np.asarray(steps)


@lru_cache  # of the few powers that a program asks for
def attainable_prior(power):
    """``Φ⁻¹(u)`` of the cells of the attainable AUC, and their log prior mass."""
    # Even cells up to 2u − 1 = 15/16, Φ⁻¹(u) = 1.86; beyond, steps in probits
    edges = np.arange(_EVEN) / _EVEN  # of 2u − 1
    # Of the middles: u = ½ + (2u − 1)/2
    even = ndtri(0.5 + (edges[:-1] + edges[1:]) / 4)
    tail = np.array([ndtri(0.5 + edges[-1] / 2), *_TAIL])
    # Mass of (2u − 1)^c between two edges; near 1 through log(1 − 2(1 − u)).
    log_share = np.log1p(-2 * ndtr(-tail)) * power
    with np.errstate(divide="ignore"):
        even_mass = np.log(np.diff(edges**power))
        # (2u − 1)^c − 1 = expm1(c log(2u − 1)), with digits near u = 1
        tail_mass = np.log(np.diff(np.expm1(log_share)))
    probit = np.append(even, (tail[1:] + tail[:-1]) / 2)
    log_mass = np.append(even_mass, tail_mass)
    log_mass -= log_sum_exp(log_mass)
    probit.flags.writeable = log_mass.flags.writeable = False
    return probit, log_mass


def covariance_cell(eigen, a, covariance):
    """Log evidence of W, ``as`` at its maximum, ℓ and η of one (covariance, a).

    ℓ are the eigenvalues of Σ̂ along those of W, η the noise of ``b = Vᵀd``, both of
    shape (r [+ 1],): the last one is that of the null space, if there is one. Of
    several a, (K,), there are as many of all four.
    """
    a = np.asarray(a)
    separate = covariance == "separate"
    P, n_neg, n_pos = eigen.n_features, eigen.n_neg, eigen.n_pos
    # κ = P + 1 + a, the df of W_c or W: one is lost with each mean
    n, kappa = n_neg + n_pos, P + 1 + a
    values, along_neg, along_pos = (
        np.append(x, [0.0] * (eigen.null > 0))
        for x in (eigen.values, eigen.along_neg, eigen.along_pos)
    )
    groups = [(n - 2, eigen.values, eigen.stands_for)]
    if separate:
        classes = zip((n_neg - 1, n_pos - 1), eigen.groups, strict=True)
        groups = [(df, *spectrum) for df, spectrum in classes]

    def log_evidence(t):
        # log p(W | a, s) = κ/2 log|asI| − (κ + df)/2 log|asI + W| up to a constant, at
        # as = e^t, concave; of both terms, of size κP, only what differs is written
        total = 0.0
        for df, spectrum, many in groups:
            logs = np.log1p(spectrum * np.exp(-t)[..., None])
            log_det = np.sum(many * logs, axis=-1)
            total = total - (df * P * t + (kappa[..., None] + df) * log_det) / 2
        return total

    if covariance == "spherical":  # the limit a → ∞, the only cell of its kind
        a_scale, best = a * _typical_variance(eigen), np.zeros(a.shape)
    else:
        a_scale, best = _maximise(log_evidence, np.log(a * _typical_variance(eigen)))
    for df, *_ in groups:
        # log Γ_P((κ + df)/2) − log Γ_P(κ/2), which does not depend on s
        best = best + _log_multigamma_ratio(kappa / 2, df, P)
    scatter, strength = a_scale[..., None], a[..., None]
    if separate:
        # E Σ_c = (asI + W_c)/(κ + n_c − 1 − P − 1);  d has the noise Σ₀/n₀ + Σ₁/n₁
        ell_neg = (scatter + along_neg) / (strength + n_neg - 1)
        ell_pos = (scatter + along_pos) / (strength + n_pos - 1)
        noise = ell_neg / n_neg + ell_pos / n_pos
        if eigen.unlike != 1:  # s, of both classes, is all that the null space has
            expected = eigen.trace / max(n - 2, 1.0) / eigen.h
            noise *= expected / (noise @ eigen.multiplicity)[..., None]
        return best, a_scale, (ell_neg + ell_pos) / 2, noise
    # E Σ = (asI + W)/(κ + n − 2 − P − 1);  d has the noise Σ(1/n₀ + 1/n₁) = Σ/h
    ell = (scatter + values) / (strength + n - 2)
    return best, a_scale, ell, ell / eigen.h


def _maximise(function, start):
    """Place (as e^t) and value of the maximum near start: grids and a parabola.

    Of several starts, (K,): the function, which is concave, takes (K, m) places.
    """
    flat, low, high = True, start - 9, start + 9
    # e^±9 around the typical variance, 1.8 apart; between the neighbours of the best
    # .3, .1 and .02 apart; then a parabola
    for n_places in (11, 13, 7, 11):
        t = np.linspace(low, high, n_places, axis=-1)
        values = function(t)
        flat &= values.min(axis=-1) == values.max(axis=-1)
        k = _inner(values)
        low, high = _at(t, k - 1), _at(t, k + 1)
    left, middle, right = (_at(values, k + step) for step in (-1, 0, 1))
    bend = left - 2 * middle + right
    peak = bend < 0
    shift = np.where(peak, 0.5 * (left - right) / np.where(peak, bend, 1.0), 0.0)
    best = _at(t, k) + np.clip(shift, -1, 1) * (t[..., 1] - t[..., 0])
    # one row a class says nothing about the scale
    best = np.where(flat, start, best)
    return np.exp(best), function(best[..., None])[..., 0]


def _inner(values):
    """Place of the largest of each row, but for the ends."""
    return np.clip(np.argmax(values, axis=-1), 1, values.shape[-1] - 2)


def _at(values, k):
    """The k-th of each row."""
    return np.take_along_axis(values, np.asarray(k)[..., None], axis=-1)[..., 0]


def _typical_variance(eigen):
    n = eigen.n_neg + eigen.n_pos
    # tr W/(n − 2), or h|d|² where no class varies; over P
    within = eigen.trace / max(n - 2, 1.0)
    between = eigen.n_neg * eigen.n_pos / n * (eigen.d @ eigen.d)
    return max(within or between, TINY) / eigen.n_features


def signal_cells(eigen, ell, noise, gamma, probit):
    """Log evidence of b and the shrinkage k, for every γ and attainable AUC.

    Of shapes (n_gamma, n_u) and (n_gamma, n_u, r [+ 1]); ℓ and η (``noise``) are those
    of :func:`covariance_cell`, ``probit`` is Φ⁻¹ of the attainable AUCs.
    """
    # The null space is P − r equal directions: their log variance counts so often,
    # their energies are one sum
    multiplicity, energy = eigen.multiplicity, eigen.energy
    log_ell = np.log(ell)
    # ℓ^γ over its largest value, so that no power overflows
    shape = np.exp(np.asarray(gamma)[..., None] * (log_ell - log_ell.max()))
    # τ Σ ℓ^{γ−1} = 2Φ⁻¹(u)²
    tau = 2 * probit**2 / ((shape / ell) @ multiplicity)[..., None]
    signal = tau[..., None] * shape[..., None, :]
    total = signal + noise
    # log Π N(b_i; 0, τℓ_i^γ + η_i), without (2π)^{−P/2};  k = τℓ^γ/(τℓ^γ + η)
    log_b = -0.5 * np.log(total) @ multiplicity - 0.5 * (1 / total) @ energy
    return log_b, signal / total


def _log_multigamma_ratio(x, df, P):
    """``log Γ_P(x + df/2) − log Γ_P(x)`` of the multivariate gamma function; (K,)."""
    # log Γ_P(x) = (P(P − 1)/4) log π + Σ_{j<P} log Γ(x − j/2)
    n_terms, more, less = P, x + df / 2, x
    if df < P and df == int(df):
        # steps of ½: of both sums only df terms at the other end are not the same
        n_terms, more, less = int(df), x + df / 2, x + (df - P) / 2
    steps = np.arange(n_terms) / 2
    return np.sum(
        gammaln(more[..., None] - steps) - gammaln(less[..., None] - steps), -1
    )


def normalised(eigen, cells, attainable):
    """Mixture of cells: log weight (n_u,), k, η and (as, a, γ, separate, factors)."""
    log_weight = np.concatenate([cell[0] for cell in cells])
    log_weight = log_weight - log_sum_exp(log_weight)
    # All that are dropped together weigh less than _LOST
    keep = np.flatnonzero(log_weight > np.log(_LOST / len(log_weight)))
    weight = np.exp(log_weight[keep])
    cell, u = np.divmod(keep, len(attainable))
    head = np.array([c[3] for c in cells])[cell]
    shrink = np.array([c[1] for c in cells])[cell, u]
    noise = np.array([c[2] for c in cells])[cell]
    return Mixture(
        eigen=eigen,
        weight=weight / weight.sum(),
        shrink=shrink,
        noise=noise,
        spread=shrink * noise,
        a_scale=head[:, 0],
        a=head[:, 1],
        gamma=head[:, 2],
        attainable=attainable[u],
        separate=head[:, 3] == 1,
        factors=head[:, 4].astype(int),
    )
