"""Belief about the AUC of a linear rule: CBAUC, BEE and EBAUC.

Prior: ``Σ ~ IW(S, κ)`` and ``μ_c | Σ ~ N(m_c, Σ/ν_c)``. Posterior, with ``n_c, x̄_c,
W_c`` of :mod:`skauc.statistics._moments`:

    κ* = κ + n,  ν_c* = ν_c + n_c,  m_c* = (n_c x̄_c + ν_c m_c)/ν_c*,
    S* = S + W + Σ_c (n_c ν_c/ν_c*)(x̄_c − m_c)(x̄_c − m_c)ᵀ.

A rule ``s = wᵀx`` sees only one dimension of it. With ``q = wᵀS*w``,
``D = wᵀ(m₁* − m₀*)``, ``v = 1/ν₀* + 1/ν₁*`` and ``df = κ* − P + 1``,

    wᵀΣw = q/χ²_df,   wᵀ(μ₁ − μ₀) | Σ ~ N(D, v wᵀΣw),
    AUC = Φ(Z),       Z = (D √(χ²_df/q) + √v N(0,1))/√2,
    CBAUC = E[AUC] = T_df( D/√((2 + v) q/df) ).

One such quadruple ``(D, v, q, df)`` is a *cell*; an :class:`AUCPosterior` is a finite
mixture of cells. ``covariance="spherical"`` (Σ = σ²I) is one cell too, with
``q = ‖w‖² tr S*``, ``df = P(κ* + P + 1) − 2``. ``"separate"`` (one Σ_c per class) is
one cell for every value of the variance ratio ``ρ = σ₁²/σ₀²``: with
``B = χ²_df₀/(χ²_df₀ + χ²_df₁) ~ Beta(df₀/2, df₁/2)`` and ``ρ = (q₁/q₀) B/(1 − B)``,

    1/σ₀² | ρ = χ²_{df₀+df₁}/(q₀ + q₁/ρ),
    cell(ρ) = (D, 2(1/ν₀* + ρ/ν₁*)/(1 + ρ), (1 + ρ)(q₀ + q₁/ρ)/2, df₀ + df₁),

and a trapezoidal rule in logit B, whose error falls exponentially, makes the mixture
finite.

References: Hassan et al. (2019) for CBAUC and EBAUC; Dalton & Dougherty (2011),
https://doi.org/10.1109/TSP.2010.2084573, for the Bayesian error estimator (BEE).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.optimize import brentq
from scipy.special import (
    betaln,
    gammaln,
    logsumexp,
    ndtr,
    ndtri,
    ndtri_exp,
    roots_laguerre,
    roots_legendre,
    stdtr,
)

from ..roc._base import as_rate
from ..statistics._moments import Moments, class_moments
from ..statistics._numbers import as_number, as_numbers
from ._noncentral_t import ProbitLaw

COVARIANCES = ("common", "spherical", "separate")
_LEGENDRE = roots_legendre(64)
_LAGUERRE = roots_laguerre(48)
_LARGE_DF = 100.0  # both forms of the variance of √χ² have 11 digits here
# ½ − 1/(8 df) − 1/(16 df²) + …: see _root_chi2_moments
_ROOT_CHI2_VARIANCE = (1 / 2, -1 / 8, -1 / 16, 5 / 128, 23 / 256, -53 / 1024)


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """Conjugate prior ``Σ ~ IW(S, κ)``, ``μ_c | Σ ~ N(m_c, Σ/ν_c)``.

    Answers: what is believed about the classes before the data? The defaults are the
    published experiments' (``prior="paper"``): m = 0, ν = ½, κ = P + 2, S = I.

    Parameters
    ----------
    mean_neg, mean_pos : float or array-like of shape (P,), default=0
        Prior means m₀, m₁ of the classes.
    nu_neg, nu_pos : float, default=0.5
        Prior sample sizes ν₀, ν₁ of the means; 0 is the flat (improper) prior.
    kappa : float, default=None
        Degrees of freedom κ; None means P + 2.
    scale : float or array-like of shape (P,) or (P, P), default=1.0
        S: a multiple of the identity, a diagonal, or a positive definite matrix.
        0 is the improper prior, which needs more rows than features.

    Raises
    ------
    ValueError
        If ν is negative, κ not finite or S not positive definite (0 excepted). When
        the prior meets data: if κ ≤ P − 1 with S ≠ 0, or if an improper prior has too
        few rows to become proper.

    Notes
    -----
    **Not for choosing models when P is not small against n.** With ν = ½ the best
    attainable AUC is ``Φ(√P)`` or so before any data is seen, almost surely 1 for
    P > 10, and the rows that trained w are used again without a penalty: on pure
    noise with P ≥ n the posterior mean is 1.00. The prior is neither shift nor scale
    invariant; the published experiments standardise the features first.

    References
    ----------
    Dalton & Dougherty (2011), https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import NormalInverseWishart
    >>> NormalInverseWishart(scale=0.0, nu_neg=0, nu_pos=0).scale
    0.0
    """

    mean_neg: float | np.ndarray = 0.0
    mean_pos: float | np.ndarray = 0.0
    nu_neg: float = 0.5
    nu_pos: float = 0.5
    kappa: float | None = None
    scale: float | np.ndarray = 1.0

    def __post_init__(self):
        for name in ("mean_neg", "mean_pos", "scale"):
            value = as_numbers(name, getattr(self, name))
            if not np.isfinite(value).all() or value.ndim > 1 + (name == "scale"):
                raise ValueError(
                    f"{name} must be finite, a number or an array over features, "
                    f"got {getattr(self, name)!r}"
                )
            object.__setattr__(self, name, value if value.ndim else float(value))
        for name in ("nu_neg", "nu_pos"):
            if not 0 <= as_number(name, getattr(self, name)) < np.inf:
                raise ValueError(
                    f"{name} must be >= 0 and finite, got {getattr(self, name)}"
                )
        if self.kappa is not None and not np.isfinite(as_number("kappa", self.kappa)):
            raise ValueError(f"kappa must be finite or None, got {self.kappa}")
        lowest = _smallest_eigenvalue(self.scale)
        if not (lowest > 0 or (np.ndim(self.scale) == 0 and self.scale == 0)):
            raise ValueError(
                "scale must be positive definite (or 0, the improper prior), got "
                f"smallest eigenvalue {lowest:.6g}"
            )

    def learn(self, Z, positive, weight=None, *, covariance="common"):
        """The rows under this prior, to be projected on directions.

        Parameters
        ----------
        Z : ndarray or sparse matrix of shape (n, P)
        positive : ndarray of bool of shape (n,)
        weight : ndarray of shape (n,), default=None
        covariance : {"common", "spherical", "separate"}, default="common"

        Returns
        -------
        ConjugateRows
        """
        return ConjugateRows(self, Z, positive, weight, covariance)

    def project(self, w) -> ProjectedPrior:
        """Prior of the scores ``wᵀx``.

        Parameters
        ----------
        w : ndarray of shape (P,)

        Returns
        -------
        ProjectedPrior

        Raises
        ------
        ValueError
            If shapes disagree with P, or κ ≤ P − 1 although S is not 0.
        """
        P = len(w)
        for name in ("mean_neg", "mean_pos", "scale"):
            shape = np.shape(getattr(self, name))
            if any(side != P for side in shape):
                raise ValueError(
                    f"{name} must match the {P} features the linear model sees, got "
                    f"shape {shape}"
                )
        kappa = P + 2.0 if self.kappa is None else float(self.kappa)
        if kappa <= P - 1 and np.any(self.scale):
            raise ValueError(
                f"kappa must exceed P - 1 = {P - 1} for a proper prior, got {kappa:g}"
            )
        S = np.asarray(self.scale)
        square = w @ S @ w if S.ndim == 2 else (S * w) @ w
        trace = np.trace(S) if S.ndim == 2 else np.sum(np.broadcast_to(S, P))
        return ProjectedPrior(
            mean_neg=float(np.sum(self.mean_neg * w)),
            mean_pos=float(np.sum(self.mean_pos * w)),
            square=float(square),
            trace=float(trace),
            kappa=kappa,
            n_features=P,
        )


@dataclass(frozen=True, eq=False)
class ConjugateRows:
    """Rows under a conjugate prior, which needs nothing of them but projections."""

    prior: NormalInverseWishart
    Z: object
    positive: np.ndarray
    weight: np.ndarray | None
    covariance: str

    def project(self, w, score) -> ProjectedPosterior:
        """Posterior of the scores ``Z @ w``, shape (n,)."""
        neg, pos = class_moments(score, self.positive, self.weight)
        features = None
        if self.covariance == "spherical":
            rows = self.Z, self.positive, self.weight
            features = class_moments(*rows, featurewise=True)
        return projected_posterior(neg, pos, w, self.prior, self.covariance, features)


@dataclass(frozen=True)
class ProjectedPrior:
    """``wᵀm_c``, ``wᵀSw``, ``tr S``, κ and P: all that one direction needs."""

    mean_neg: float
    mean_pos: float
    square: float
    trace: float
    kappa: float
    n_features: int


@dataclass(frozen=True)
class ProjectedPosterior:
    """Posterior of the scores: ``σ_c² = q_c/χ²_{df_c}``, ``μ_c ~ N(m_c, σ_c²/ν_c)``.

    ``shared`` says that both classes have *one* variance (the same draw of it).
    """

    mean_neg: float
    mean_pos: float
    nu_neg: float
    nu_pos: float
    q_neg: float
    q_pos: float
    df_neg: float
    df_pos: float
    shared: bool

    @property
    def v(self) -> float:
        """``1/ν₀* + 1/ν₁*``."""
        return 1 / self.nu_neg + 1 / self.nu_pos

    def auc(self) -> AUCPosterior:
        """Posterior of the AUC; its mean is CBAUC."""
        if not self.shared:
            return self._independent_variances()
        D = self.mean_pos - self.mean_neg
        return AUCPosterior.from_cells(D, self.v, self.q_neg, self.df_neg)

    def _independent_variances(self):
        weight, ratio = _variance_ratio(self.df_neg, self.df_pos)
        rho = ratio * (self.q_pos / self.q_neg)
        v = 2 * (1 / self.nu_neg + rho / self.nu_pos) / (1 + rho)
        q = (1 + rho) * (self.q_neg + self.q_pos / rho) / 2
        D = self.mean_pos - self.mean_neg
        return AUCPosterior.from_cells(D, v, q, self.df_neg + self.df_pos, weight)

    def rates(self, threshold):
        """Predictive rates ``T_df((wᵀm_c* − t)/√((1 + 1/ν_c*) q_c/df_c))``."""
        scale_neg = np.sqrt((1 + 1 / self.nu_neg) * self.q_neg / self.df_neg)
        scale_pos = np.sqrt((1 + 1 / self.nu_pos) * self.q_pos / self.df_pos)
        fpr = stdtr(self.df_neg, (self.mean_neg - threshold) / scale_neg)
        tpr = stdtr(self.df_pos, (self.mean_pos - threshold) / scale_pos)
        return fpr, tpr

    def error(self, threshold, share_pos) -> float:
        """Bayesian error estimate ``π₀ FPR + π₁ (1 − TPR)`` at the threshold."""
        fpr, tpr = self.rates(threshold)
        return float((1 - share_pos) * fpr + share_pos * (1 - tpr))

    def ebauc(self, thresholds=None) -> float:
        """Area under the predictive ``(FPR(t), TPR(t))``, end points included.

        ``thresholds=None`` is the limit of infinitely many, ``P(T₁ > T₀)`` for
        independent predictive Student variables.
        """
        if thresholds is None:
            return self._independent_variances().mean()
        return area_under_rates(*self.rates(np.unique(thresholds)[::-1]))


def area_under_rates(fpr, tpr) -> float:
    """Trapezoid under the points (FPR, TPR) with the corners (0, 0) and (1, 1)."""
    fpr, tpr = np.concatenate([[0], fpr, [1]]), np.concatenate([[0], tpr, [1]])
    return float(np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2)


def projected_posterior(
    neg: Moments,
    pos: Moments,
    w,
    prior: NormalInverseWishart,
    covariance: str,
    features: tuple[Moments, Moments] | None = None,
) -> ProjectedPosterior:
    """Posterior of the scores from their moments; O(P), no P×P matrix.

    Parameters
    ----------
    neg, pos : Moments
        Moments of the scores ``X @ w``, one-dimensional.
    w : ndarray of shape (P,)
    prior : NormalInverseWishart
    covariance : {"common", "spherical", "separate"}
    features : tuple of Moments, default=None
        Feature-wise moments ``neg, pos``; ``"spherical"`` needs them for ``tr S*``.

    Returns
    -------
    ProjectedPosterior

    Raises
    ------
    ValueError
        If the posterior is not proper: the prior is improper and n is too small.
    """
    view = prior.project(w)
    nu = np.array([prior.nu_neg, prior.nu_pos], dtype=float)
    n = np.array([neg.n, pos.n])
    sample = np.array([float(neg.mean), float(pos.mean)])
    m = np.array([view.mean_neg, view.mean_pos])
    nu_star = nu + n
    # wᵀ(W_c + (n_c ν_c/ν_c*)(x̄_c − m_c)(x̄_c − m_c)ᵀ)w
    square = np.array([float(neg.scatter), float(pos.scatter)])
    square = square + n * nu / nu_star * (sample - m) ** 2
    if covariance == "separate":
        q, df = view.square + square, view.kappa + n - view.n_features + 1
    elif covariance == "common":
        q = np.full(2, view.square + square.sum())
        df = np.full(2, view.kappa + n.sum() - view.n_features + 1)
    else:
        if features is None:
            raise ValueError("features must be given for 'spherical', got None")
        trace = view.trace + sum(
            part.scatter.sum()
            + n_c * nu_c / (n_c + nu_c) * ((part.mean - m_c) ** 2).sum()
            for part, n_c, nu_c, m_c in zip(
                features, n, nu, (prior.mean_neg, prior.mean_pos), strict=True
            )
        )
        P = view.n_features
        q = np.full(2, (w @ w) * trace)
        df = np.full(2, P * (view.kappa + n.sum() + P + 1) - 2)
    if not (df > 0).all() or not (q > 0).all():
        raise ValueError(
            "prior is improper and the data cannot make it proper: the posterior "
            f"needs df > 0 and q > 0, got df = {df.min():g} and q = {q.min():g} with "
            f"{n[0]:g} + {n[1]:g} rows and P = {view.n_features}; use a proper prior "
            "(scale > 0, kappa > P - 1)"
        )
    if view.trace == 0 and covariance != "spherical":
        known = n - (nu == 0)  # a flat mean uses one row up
        known = known.min() if covariance == "separate" else known.sum()
        if known < view.n_features:
            raise ValueError(
                "scale must be > 0 when the rows cannot make the covariance proper: "
                f"scale=0.0 with P = {view.n_features} features and {n[0]:g} + "
                f"{n[1]:g} rows gives a scatter of rank {known:g}"
            )
    mean = (n * sample + nu * m) / nu_star
    return ProjectedPosterior(
        mean_neg=float(mean[0]),
        mean_pos=float(mean[1]),
        nu_neg=float(nu_star[0]),
        nu_pos=float(nu_star[1]),
        q_neg=float(q[0]),
        q_pos=float(q[1]),
        df_neg=float(df[0]),
        df_pos=float(df[1]),
        shared=covariance != "separate",
    )


@dataclass(frozen=True, eq=False)
class AUCPosterior:
    """Posterior distribution of an AUC, with scipy's frozen-distribution verbs.

    Answers: how large is the true AUC of this rule, and how sure are we? It is a
    finite mixture of cells ``AUC = Φ((D √(χ²_df/q) + √v N)/√2)``; one cell for the
    common and spherical covariance, a few hundred for the separate one.

    Parameters
    ----------
    weight, D, v, q, df : ndarray of shape (n_cells,)
        Weights that add up to 1, and the parameters of the cells: difference of the
        projected means, ``1/ν₀* + 1/ν₁*``, projected scatter, degrees of freedom.
    choice_probit : float, default=None
        What candidates should be ranked by, if that is not the mean (see ``choice``).
    leave_pair_out : float, default=None
        The leave-pair-out AUC that entered; None if there was no second witness.
    second_source : str, default=None
        How the AUC of rows left out was found that entered; None if there was none.
    warnings : tuple of str, default=()
        Why the number should not be trusted as it is, each in one sentence.

    Notes
    -----
    ``mean`` is CBAUC, ``Σ weight · T_df(D/√((2 + v) q/df))``. ``var`` comes from
    ``E[AUC(1 − AUC)]``, one integral of the bivariate Student t (Dunnett & Sobel 1954).
    ``cdf`` is a noncentral t probability, integrated on the wider of its two sources
    of spread (the other one in closed form), so that neither large samples nor
    separable data break it. 1 − AUC keeps its relative accuracy in
    ``swapped().mean()`` and ``mean_probit()``.

    References
    ----------
    Dunnett & Sobel (1954), https://doi.org/10.1093/biomet/41.1-2.153

    Examples
    --------
    >>> from skauc import AUCPosterior
    >>> posterior = AUCPosterior.from_cells(D=2.0, v=0.1, q=40.0, df=43)
    >>> round(posterior.mean(), 3), round(posterior.std(), 3)
    (0.92, 0.04)
    >>> low, high = posterior.interval(0.95)
    >>> round(low, 3), round(high, 3)
    (0.822, 0.977)
    """

    weight: np.ndarray
    D: np.ndarray
    v: np.ndarray
    q: np.ndarray
    df: np.ndarray
    choice_probit: float | None = None
    leave_pair_out: float | None = None
    second_source: str | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_cells(cls, D, v, q, df, weight=1.0) -> AUCPosterior:
        """Mixture from cell parameters that broadcast against each other."""
        arrays = np.broadcast_arrays(*np.atleast_1d(weight, D, v, q, df))
        weight, D, v, q, df = (np.array(a, dtype=float) for a in arrays)
        return cls(weight, D, v, q, df)

    @classmethod
    def point_mass_at_half(cls) -> AUCPosterior:
        """Posterior of a rule that ranks nothing: AUC ½ for sure."""
        return cls.from_cells(D=0.0, v=1e-300, q=1.0, df=1.0)

    def __repr__(self):
        low, high = self.interval(0.95)
        text = f"mean={self.mean():.4g}, interval95=({low:.4g}, {high:.4g})"
        if self.leave_pair_out is not None:
            text += f", leave_pair_out={self.leave_pair_out:.4g}"
        return f"AUCPosterior({text})"

    @property
    def _t(self):
        """Argument of the Student CDF whose mixture is the mean."""
        return self.D / np.sqrt((2 + self.v) * self.q / self.df)

    def swapped(self) -> AUCPosterior:
        """Posterior of 1 − AUC (the classes exchanged)."""
        choice, witness = self.choice_probit, self.leave_pair_out
        return AUCPosterior(
            self.weight,
            -self.D,
            self.v,
            self.q,
            self.df,
            None if choice is None else -choice,
            None if witness is None else 1 - witness,
            self.second_source,
            self.warnings,
        )

    def mean(self) -> float:
        """Posterior mean of the AUC: CBAUC."""
        below = self.weight @ stdtr(self.df, self._t)
        above = self.weight @ stdtr(self.df, -self._t)
        return float(below if below <= above else 1 - above)

    def mean_probit(self) -> float:
        """``Φ⁻¹(mean)`` without saturating where the mean rounds to 0 or 1."""
        flip = self.mean() > 0.5
        t = -self._t if flip else self._t
        with np.errstate(divide="ignore"):  # a weight may be 0
            log_weight = np.log(self.weight)
        log_tail = logsumexp(_log_stdtr(self.df, t) + log_weight)
        return float(-ndtri_exp(log_tail) if flip else ndtri_exp(log_tail))

    def choice(self, scale="auc") -> float:
        """Score by which the candidates of *one* data set should be ranked.

        The mean, unless the prior keeps a part of it that is common to all candidates
        of a data set out of their ranking (:class:`skauc.AdaptivePrior`).

        Parameters
        ----------
        scale : {"auc", "probit"}, default="auc"

        Returns
        -------
        float
        """
        if scale not in ("auc", "probit"):
            raise ValueError(f"scale must be 'auc' or 'probit', got {scale!r}")
        probit = self.choice_probit
        if probit is None:
            return self.mean() if scale == "auc" else self.mean_probit()
        return float(ndtr(probit)) if scale == "auc" else probit

    def probit_moments(self) -> tuple[float, float]:
        """Mean and variance of ``Z = Φ⁻¹(AUC)``."""
        root, spread = _root_chi2_moments(self.df)
        mean = self.D * root / np.sqrt(2 * self.q)
        variance = (self.D**2 * spread / self.q + self.v) / 2
        centre = self.weight @ mean
        return float(centre), float(self.weight @ (variance + (mean - centre) ** 2))

    def moved(
        self, mean_probit, stretch, *, choice_probit=None, leave_pair_out=None
    ) -> AUCPosterior:
        """Posterior with another mean and spread: Z becomes ``shift + stretch·Z``.

        Cell by cell, mean and variance of Z exactly: what of the variance rides on χ²,
        ``D²V/2`` with ``V = (df − E[χ_df]²)/q``, changes with D, and v takes the rest
        (never less than a hundredth of its share). The shift is solved so that the
        posterior mean is ``Φ(mean_probit)``.

        Parameters
        ----------
        mean_probit : float
            Φ⁻¹ of the wanted posterior mean.
        stretch : float
            Factor of the standard deviation of Z.
        choice_probit, leave_pair_out : float, default=None
            See the class.

        Returns
        -------
        AUCPosterior
        """
        root, spread = _root_chi2_moments(self.df)
        unit, V = np.sqrt(2 * self.q) / root, spread / self.q
        wanted = stretch**2 * (self.v + self.D**2 * V)

        def at(shift):
            D = stretch * self.D + shift * unit
            return AUCPosterior(
                self.weight,
                D,
                np.maximum(wanted - D**2 * V, 0.01 * stretch**2 * self.v),
                self.q,
                self.df,
                choice_probit,
                leave_pair_out,
            )

        def excess(shift):
            return at(shift).mean_probit() - mean_probit

        low = high = mean_probit - stretch * self.probit_moments()[0]
        step = 0.1
        while excess(low) > 0 and step < 1e9:
            low, step = low - step, 2 * step
        step = 0.1
        while excess(high) < 0 and step < 1e9:
            high, step = high + step, 2 * step
        shift = low if low == high else brentq(excess, low, high, xtol=1e-13)
        return at(shift)

    def var(self) -> float:
        """Posterior variance of the AUC."""
        # E[Φ(Z)(1 − Φ(Z))] = ∫_ρ^1 (1 + 2t²/(df(1 + r)))^(−df/2) dr/(2π √(1 − r²)),
        # ρ = v/(2 + v), in r = sin θ.
        start = np.arcsin(self.v / (2 + self.v))
        nodes, weights = _LEGENDRE
        half = (np.pi / 2 - start) / 2
        theta = start[:, None] + half[:, None] * (1 + nodes)
        ratio = (self._t**2 / self.df)[:, None]
        power = np.exp(
            -self.df[:, None] / 2 * np.log1p(2 * ratio / (1 + np.sin(theta)))
        )
        spread = half * (power @ weights) / (2 * np.pi)
        mean, rest = self.mean(), self.swapped().mean()
        return float(max(mean * rest - self.weight @ spread, 0.0))

    def std(self) -> float:
        """Posterior standard deviation of the AUC."""
        return float(np.sqrt(self.var()))

    def median(self) -> float:
        """Posterior median of the AUC."""
        return float(self.ppf(0.5))

    def cdf(self, x):
        """``P(AUC ≤ x | data)``, elementwise."""
        return self._on_probit_scale(x, self._probit_law().cdf, below=0.0, above=1.0)

    def sf(self, x):
        """``P(AUC > x | data)``, elementwise, accurate when it is small."""
        mirrored = self.swapped()._probit_law()

        def tail(z):
            return mirrored.cdf(-z)

        return self._on_probit_scale(x, tail, below=1.0, above=0.0)

    def pdf(self, x):
        """Posterior density of the AUC on (0, 1), elementwise."""
        law = self._probit_law()

        def density(z):
            value = law.pdf(z)
            with np.errstate(over="ignore", divide="ignore"):
                return np.sqrt(2 * np.pi) * np.exp(np.log(value) + z**2 / 2)

        return self._on_probit_scale(x, density, below=0.0, above=0.0, open_ends=True)

    def ppf(self, q):
        """Quantiles of the AUC, elementwise."""
        q = as_rate("q", q)
        quantiles = [self._quantile(level) for level in q.ravel()]
        return np.reshape(ndtr(quantiles), q.shape)[()]

    def interval(self, confidence_level=0.95):
        """Equal-tailed credible interval ``(low, high)``.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError
            If the level lies outside (0, 1).
        """
        if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
            raise ValueError(
                f"confidence_level must lie in (0, 1), got {confidence_level}"
            )
        tail = (1 - confidence_level) / 2
        return float(self.ppf(tail)), float(self.ppf(1 - tail))

    def rvs(self, size=None, random_state=None):
        """Draws from the posterior of the AUC.

        Parameters
        ----------
        size : int or tuple of int, default=None
            Shape of the result; None gives one float.
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        float or ndarray
        """
        rng = random_state
        if not isinstance(rng, np.random.RandomState):
            try:
                rng = np.random.default_rng(rng)
            except (TypeError, ValueError):
                raise ValueError(
                    "random_state must be a seed >= 0, a Generator, a RandomState or "
                    f"None, got {rng!r}"
                ) from None
        try:
            cell = rng.choice(
                len(self.weight), size=size, p=self.weight / self.weight.sum()
            )
        except (TypeError, ValueError):
            raise ValueError(f"size must be a shape or None, got {size!r}") from None
        chi2 = rng.chisquare(self.df[cell])
        normal = rng.standard_normal(size)
        z = self.D[cell] * np.sqrt(chi2 / self.q[cell]) + np.sqrt(self.v[cell]) * normal
        return ndtr(z / np.sqrt(2))

    def _on_probit_scale(self, x, function, *, below, above, open_ends=False):
        x = as_numbers("x", x)
        inside = (x > 0) & (x < 1) if open_ends else (x >= 0) & (x <= 1)
        out = np.where(np.isnan(x), np.nan, np.where(x <= 0.5, below, above))
        out[inside] = [function(z) for z in ndtri(x[inside])]
        return out[()]

    def _probit_law(self):
        """Law of Z: ``√2 Z = μR + √v N``, ``μ = D√(df/q)``, ``R = √(χ²_df/df)``."""
        mu = self.D * np.sqrt(self.df / self.q)
        return ProbitLaw(self.weight, mu, np.sqrt(self.v), self.df)

    def _quantile(self, level):
        if level in (0.0, 1.0):
            return np.inf if level else -np.inf
        start = np.clip(self.mean_probit(), -1e150, 1e150)
        if level > 0.5:  # the upper tail by symmetry, to keep its digits
            return -self.swapped()._probit_law().quantile(1 - level, -start)
        return self._probit_law().quantile(level, start)


def _root_chi2_moments(df):
    """Mean and variance of ``√χ²_df``.

    ``m = √2 Γ((df + 1)/2)/Γ(df/2)`` and ``df − m²``. For large df the logarithms of
    both gammas, and then df and m², agree in more digits than there are; the expansion
    of their ratio (Tricomi & Erdélyi 1951), squared, has them all:
    ``m² = df − ½ + 1/(8 df) + 1/(16 df²) − …``.
    """
    large = np.maximum(df, _LARGE_DF)
    variance = np.polynomial.polynomial.polyval(1 / large, _ROOT_CHI2_VARIANCE)
    mean = np.sqrt(large - variance)
    small = np.minimum(df, _LARGE_DF)
    root = np.sqrt(2) * np.exp(gammaln((small + 1) / 2) - gammaln(small / 2))
    few = np.asarray(df) < _LARGE_DF
    return np.where(few, root, mean), np.where(few, small - root**2, variance)


def _variance_ratio(df_neg, df_pos):
    """Rule for ``B/(1 − B)``, ``B ~ Beta(df₀/2, df₁/2)``: weights and nodes.

    Trapezoidal in u, ``logit B = t = mode + core·sinh u``: the log density of t,
    ``a t − (a + b) log(1 + e^t)``, is concave with tails e^{at} and e^{−bt}, so each
    end lies at most ``drop/a`` (or /b) plus a normal width away from the mode. The
    drop goes down to 1e-300, because the rare ratios carry all of 1 − AUC where the
    classes are far apart.
    """
    a, b = df_neg / 2, df_pos / 2
    drop, mode, core = 690.0, np.log(a / b), 6 * np.sqrt(1 / a + 1 / b)
    reach = np.sqrt(2 * drop) * core / 6 + drop / np.array([a, b])
    low, high = np.arcsinh(np.minimum(reach, 300.0) / core)  # e^±300 is no overflow
    u = np.linspace(-low, high, 301)
    t = mode + core * np.sinh(u)
    log_density = a * t - (a + b) * np.logaddexp(0, t)
    weight = np.exp(log_density - log_density.max()) * np.cosh(u)
    keep = weight > 1e-300
    return weight[keep] / weight[keep].sum(), np.exp(t[keep])


def _log_stdtr(df, t):
    """Log of the Student-t CDF; finite where the CDF itself underflows.

    Far left, ``T_df(t) = f(t) (t² + df)/2 ∫ e^{−y(df−1)/2}/√((t²+df)e^y − df) dy`` by
    Gauss–Laguerre; where t² dwarfs df, its leading term ``∝ |t|^−df``.
    """
    df, t = np.broadcast_arrays(*np.atleast_1d(df, t))
    value = stdtr(df, np.maximum(t, -1e100))
    out = np.log(np.maximum(value, np.finfo(float).tiny))
    out[t == -np.inf] = -np.inf
    with np.errstate(divide="ignore"):
        log_t = np.log(-np.minimum(t, 0.0))
    power = (log_t > 0.5 * np.log(df) + 40) & np.isfinite(log_t)
    lead = df[power] / 2 * np.log(df[power]) - df[power] * log_t[power]
    out[power] = lead - np.log(df[power]) - betaln(df[power] / 2, 0.5)
    far = (value < 1e-250) & ~power & np.isfinite(t)
    if far.any():
        df, t = df[far][:, None], np.abs(t[far])[:, None]
        nodes, weights = _LAGUERRE
        growth = np.expm1(2 * nodes / (df - 1))
        # ((t² + df) e^y − df)^(−½) = (1 + (1 + df/t²)(e^y − 1))^(−½) / t
        integral = ((1 + (1 + df / t**2) * growth) ** -0.5) @ weights
        log_pdf = -(df + 1) / 2 * np.log1p(t**2 / df) - betaln(df / 2, 0.5)
        log_pdf = log_pdf - np.log(df) / 2
        factor = np.log(t + df / t) - np.log(df - 1)
        out[far] = (log_pdf + factor)[:, 0] + np.log(integral)
    return out


def _smallest_eigenvalue(scale):
    if np.ndim(scale) < 2:
        return float(np.min(scale))
    if scale.shape[0] != scale.shape[1] or not np.allclose(scale, scale.T):
        raise ValueError(
            f"scale must be a symmetric (P, P) matrix, got shape {scale.shape}"
        )
    return float(np.linalg.eigvalsh((scale + scale.T) / 2)[0])
