"""The model of a data set: two nulls, under each of them three kinds of signal.

Sections 2 to 6 of :mod:`skauc.adaptive`. A *null* is a covariance Σ̂ with its degrees of
freedom, and so the noise Σ̂/h of d. Under each of them the evidence of d weighs no
signal, the dense and the slab family.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, islice

import numpy as np
from scipy.special import ndtr

from ..posterior._auc_posterior import AUCPosterior
from ..statistics._numerics import log_sum_exp
from ._cross_validated import Spectrum
from ._eigenbasis import Eigenbasis, Projected
from ._join import pooled
from ._mixture import (
    Mixture,
    attainable_prior,
    covariance_cells,
    dense_cells,
    normalised,
    of_factors,
)
from ._slab import SlabPosterior, power_of_covariance, slab

# Prior mass of no signal where all Σ̂ have a slab (section 4). Random labels, bias .049
# (0), .046 (⅓), .044 (½); real P < n MAE .76, .77, .78 of five-fold CV's.
NONE = 1 / 3
# With all slab cells m moves by at most .004 probits, with a tenth left out by .015; of
# _FAINT 6 to 50 nothing depends (the problems of GAMMAS in _mixture)
_FAINT = 12.0  # nats below the best evidence of W: Σ̂ has no slab, of factors no cell
_LIGHT = 1e-2  # share of the whole mass that the slab cells left out may hold together
_HALF = AUCPosterior.point_mass_at_half()


@dataclass(frozen=True, eq=False)
class SlabUnder:
    """The slab under one Σ̂: kept cells and their weights.

    Parameters
    ----------
    cells : SlabPosterior
        What is known of ω in the kept cells.
    weight : ndarray
        Posterior weights of the kept cells, within the null.
    ell : ndarray of shape (r,)
        ℓ, the eigenvalues of Σ̂ along those of W.
    null : float
        ℓ₀, its eigenvalue in the null space of W.
    a_scale, a : float
        Of the inverse-Wishart cell; not used with factors, as with a spectrum.
    factors : int
        How many Σ̂ has in white noise, or 0.
    """

    cells: SlabPosterior
    weight: np.ndarray
    ell: np.ndarray
    null: float
    a_scale: float
    a: float
    factors: int


@dataclass(frozen=True, eq=False)
class Null:
    """What is known under one null.

    Parameters
    ----------
    dense : Mixture
        Cells of the dense family, whose weights add up to 1.
    share_dense : float
        Posterior mass of that family.
    slabs : tuple of SlabUnder
        The slab under each Σ̂ that has one; their weights are shares of the whole.
    none : float
        Posterior mass of no signal.
    """

    dense: Mixture
    share_dense: float
    slabs: tuple[SlabUnder, ...]
    none: float

    def posterior(self, view: Projected, k: int, roots) -> AUCPosterior:
        """Posterior of the AUC of the k-th direction of a view.

        Parameters
        ----------
        view : Projected
            Some directions in the eigenbasis.
        k : int
            Which of them is asked of.
        roots : iterable of ndarray of shape (P,)
            ``Σ̂^½x`` of every slab, :func:`roots_of`.

        Returns
        -------
        AUCPosterior
        """
        if not view.alive[k]:
            return AUCPosterior.point_mass_at_half()
        parts = [(self.share_dense * self.dense.weight, *self.dense.cells(view, k))]
        # weight_dense + weight_slab + weight_none = 1: one mixture of all cells
        parts += [
            self._slab_cells(part, view, k, root)
            for part, root in zip(self.slabs, roots, strict=True)
        ]
        if self.none > 0:
            parts.append((self.none, _HALF.D, _HALF.v, _HALF.q, _HALF.df))
        weight, D, v, q, df = _end_to_end(parts)
        return AUCPosterior(weight / weight.sum(), D, v, q, df)

    def _slab_cells(self, part, view, k, root):
        eigen = self.dense.eigen
        # xᵀδ = (Σ̂^½x)ᵀω with ω = Σ̂^{−½}δ
        some = np.flatnonzero(eigen.scale > 0)  # faster than a mask
        D, noise = part.cells.difference(root[some])
        # df = a + n, q = xᵀ(asI + W)x; under the other null q = df·xᵀΣ̂x
        df = part.a + eigen.n_neg + eigen.n_pos
        q = part.a_scale + view.square_neg[k] + view.square_pos[k]
        if self.dense.spectrum is not None:
            q = df * self.dense.spectrum.along(view.square[:, k])
        elif part.factors:
            ell = np.append(part.ell, [part.null] * (eigen.null > 0))
            q, df = of_factors(eigen, view, k, ell, part.factors)
        seen = self.dense.observed(view, k, D, noise, q, df, part.factors)
        return part.weight, *seen


def roots_of(slabs, view: Projected, k: int, x, X) -> list[np.ndarray]:
    """``Σ̂^½x`` of the k-th direction of a view under every slab.

    Parameters
    ----------
    slabs : sequence of SlabUnder
    view : Projected
    k : int
    x : ndarray of shape (P,) or None
        The direction in scaled features, of length 1; asked where W has a null space.
    X : ndarray or sparse matrix of shape (n, P)
        The rows that were decomposed.

    Returns
    -------
    list of ndarray of shape (P,)
    """
    if not slabs:
        return []
    ell, null = (
        np.array([getattr(s, name) for s in slabs]) for name in ("ell", "null")
    )
    roots = power_of_covariance(0.5, ell.T, null, x, lambda g: view.filtered(k, g, X))
    return list(roots.T)


def _end_to_end(parts):
    """``weight, D, v, q, df`` of all parts; a number stands for all of its cells."""
    ends = list(accumulate(np.size(weight) for weight, *_ in parts))
    out, start = np.empty((5, ends[-1])), 0
    for part, end in zip(parts, ends, strict=True):
        for row, value in zip(out, part, strict=True):
            row[start:end] = value
        start = end
    return out


@dataclass(frozen=True, eq=False)
class TwoNulls:
    """The model of a data set; ``cross_validated`` is None where there is but one null.

    Parameters
    ----------
    inverse_wishart : Null
    cross_validated : Null or None
    """

    inverse_wishart: Null
    cross_validated: Null | None

    @property
    def eigen(self) -> Eigenbasis:
        """The decomposition of the data set."""
        return self.inverse_wishart.dense.eigen

    @property
    def nulls(self) -> list[Null]:
        """Those that there are."""
        both = (self.inverse_wishart, self.cross_validated)
        return [null for null in both if null is not None]

    def posteriors(self, view: Projected, k: int, w, X) -> list[AUCPosterior]:
        """Posterior of the AUC of one direction under each null.

        Parameters
        ----------
        view : Projected
        k : int
            Which direction of the view.
        w : ndarray of shape (P,)
            The same direction.
        X : ndarray or sparse matrix of shape (n, P)
            The rows that were decomposed.

        Returns
        -------
        list of AUCPosterior
        """
        slabs = [part for null in self.nulls for part in null.slabs]
        x = self.eigen.unit(w) if self.eigen.null else None  # V reaches all of it
        # of both nulls at once: one product with the rows for P > n
        roots = iter(roots_of(slabs, view, k, x, X))
        return [
            null.posterior(view, k, islice(roots, len(null.slabs)))
            for null in self.nulls
        ]

    def probit(self, view: Projected, k: int, w, X) -> tuple[float, float]:
        """Mean m and variance s_m² of the probit of the AUC of one direction.

        Parameters
        ----------
        view, k, w, X
            As for :meth:`posteriors`.

        Returns
        -------
        m, s_m2 : float
        """
        found = [one.probit_moments() for one in self.posteriors(view, k, w, X)]
        return pooled(found[0], found[-1])


def one_feature(eigen: Eigenbasis, *, power, covariances) -> TwoNulls:
    """Model of a score: no other features, so neither a second null nor a slab.

    A score is asked how well it ranks, not whether it is one of many that do not.
    """
    dense = inverse_wishart_null(
        eigen, None, power=power, covariances=covariances, families=("dense",)
    )
    return TwoNulls(replace(dense, none=0.0, share_dense=1.0), None)


def inverse_wishart_null(
    eigen: Eigenbasis,
    filtered,
    *,
    power,
    covariances=("common", "separate", "factors"),
    families=("dense", "slab"),
) -> Null:
    """The inverse-Wishart null, its cells weighed by their evidence of W.

    Parameters
    ----------
    eigen : Eigenbasis
    filtered : callable
        ``g -> V diag(g) Vᵀd``, (r,) to (P,).
    power : float
        c of the prior of the attainable AUC.
    covariances : tuple of {"common", "separate", "factors", "spherical"}
    families : tuple of {"dense", "slab"}

    Returns
    -------
    Null
    """
    nulls = [cell for name in covariances for cell in covariance_cells(eigen, name)]
    return _null(eigen, filtered, power, nulls, None, families)


def cross_validated_null(
    eigen: Eigenbasis, filtered, spectrum: Spectrum, *, power
) -> Null:
    """The cross-validated null; see :func:`inverse_wishart_null`.

    Its degrees of freedom ``a + n`` are those of the inverse-Wishart cell that W likes
    best. With n − 2 of them the direction's own fit to d, ``h(xᵀd − D)²``, would swamp
    q for P ≫ n: .60 where the truth is .99.
    """
    # The a by its evidence of W: the cross-validated spectrum has none of its own
    cells = covariance_cells(eigen, "common")
    a, _, a_scale, *_ = max(cells, key=lambda cell: cell[1])
    ell = np.append(spectrum.values, [spectrum.null] * (eigen.null > 0))
    null = (a, 0.0, a_scale, ell, ell / eigen.h, "common", 0)
    return _null(eigen, filtered, power, [null], spectrum, ("dense", "slab"))


def _null(eigen, filtered, power, nulls, spectrum, families):
    probit, log_prior = prior = attainable_prior(power)
    best = max(log_w for _, log_w, *_ in nulls)
    nulls = [n for n in nulls if n[-2] != "factors" or n[1] > best - _FAINT]
    dense, none, slabs = dense_cells(eigen, prior, nulls), [], []
    for a, log_w, a_scale, ell, noise, covariance, q in nulls:
        # log p(W) + log p(d | no signal)
        silence = log_w + _log_no_signal(eigen, noise)
        none.append(silence)
        # noise that is not Σ̂/h does not leave the ω̂_j independent
        is_faint = log_w <= best - _FAINT
        if covariance != "separate" and "slab" in families and not is_faint:
            found = _slab_of(eigen, filtered, ell, probit, log_prior)
            slabs.append((silence + found[0], *found[1:], a_scale, a, q))
    log_dense = log_sum_exp(np.concatenate([cell[0] for cell in dense]))
    # without a slab its share is the dense family's: log ½ cancels in the ratio below
    log_slab = (
        log_sum_exp(np.concatenate([part[0] for part in slabs])) if slabs else -np.inf
    )
    # Prior masses of every Σ̂: none NONE, dense and slab half of the rest each, where
    # there is a slab; they are not scaled to add up to the same for all Σ̂ (section 4)
    odds = np.array([log_dense, log_slab]) + np.log((1 - NONE) / (2 if slabs else 1))
    silent = log_sum_exp(none) + np.log(NONE)
    total = log_sum_exp([*odds, silent])
    mixture = replace(normalised(eigen, dense, ndtr(probit)), spectrum=spectrum)
    return Null(
        mixture,
        float(np.exp(odds[0] - total)),
        tuple(_kept(slabs, log_slab, np.exp(odds[1] - total))),
        float(np.exp(silent - total)),
    )


def _slab_of(eigen, filtered, ell, probit, log_prior):
    """Log evidence, relative to none, of every slab cell under one Σ̂; cells, ℓ, ℓ₀."""
    null = float(ell[-1]) if eigen.null else 0.0
    values = ell[: len(eigen.values)]
    # ω̂ = Σ̂^{−½}d by the symmetric root: ω̂_j is still feature j's
    omega = power_of_covariance(-0.5, values, null, eigen.d, filtered)
    cells = slab(omega[eigen.scale > 0], eigen.h, probit)
    n_shares = len(cells.tau) // len(probit)
    # log p(d | slab, π, u)/p(d | none) + log prior of u − log of the number of π
    log_s = cells.log_evidence + log_prior[cells.cell_of_u] - np.log(n_shares)
    return log_s, cells, values, null


def _kept(slabs, log_slab, share):
    """Slabs with the cells that are needed: the lightest go first, of all slabs."""
    if not slabs:
        return
    # share · p(cell | slab family)
    weights = [share * np.exp(part[0] - log_slab) for part in slabs]
    together = np.sort(np.concatenate(weights))
    least = together[np.searchsorted(np.cumsum(together), _LIGHT) :]
    if not len(least):
        return
    for (_, cells, *of_covariance), weight in zip(slabs, weights, strict=True):
        kept = np.flatnonzero(weight >= least[0])
        if len(kept):
            yield SlabUnder(cells.posterior(kept), weight[kept], *of_covariance)


def _log_no_signal(eigen, noise):
    """``log Π N(b; 0, η)``, without the constant that the signal cells leave out."""
    # −½ Σ [log η_i + b_i²/η_i], the null space as P − r equal terms
    return -0.5 * (eigen.multiplicity @ np.log(noise) + np.sum(eigen.energy / noise))
