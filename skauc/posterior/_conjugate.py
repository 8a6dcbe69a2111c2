"""The conjugate prior and its posterior of one linear model (sections 1, 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import stdtr

from ..statistics._checks import as_numbers, check_interval
from ..statistics._moments import Moments
from ._auc_posterior import AUCPosterior

COVARIANCES = ("common", "separate")
_LIGHTEST = 1e-300  # smaller weights are 0
_DROP = 690.0  # −log _LIGHTEST: the log density is followed so far below its mode
# Against 2401 nodes (df of 5 to 2000 a class): 75 leave 2e-6 of 1 − AUC, 151 1e-14
_RATIO_NODES = 301  # nodes; the error of the trapezoidal rule falls exponentially


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """Conjugate prior ``Σ ~ IW(S, κ)``, ``μ_c | Σ ~ N(m_c, Σ/ν_c)``.

    Answers: how large is the AUC of a linear model under this prior of the class means
    and covariances? The defaults are those of the published experiments
    (``prior="paper"``) [2]_: m = 0, ν = ½, κ = P + 2, S = I.

    Parameters
    ----------
    mean_neg, mean_pos : float or array-like of shape (P,), default=0
        Prior means m₀, m₁ of the classes.
    nu_neg, nu_pos : float, default=0.5
        Prior sample sizes ν₀, ν₁ of the means; 0 is the flat (improper) prior.
    kappa : float, default=None
        Degrees of freedom κ; None means P + 2.
    scale : float or array-like of shape (P,) or (P, P), default=1.0
        The matrix S: a multiple of the identity, a diagonal, or a positive definite
        matrix. 0 is the improper prior, which needs more rows than features.

    Raises
    ------
    ValueError
        If ν is negative, κ is not finite, or S is neither 0 nor positive definite. When
        the prior is used with data: if κ ≤ P − 1 and S ≠ 0, or if the prior is improper
        and there are too few rows for a proper posterior.

    See Also
    --------
    AdaptivePrior : The default, which also serves more features than rows.
    auc_posterior : Takes it as ``prior=``.
    cbauc_score : Takes it for the scores of held-out rows.

    Notes
    -----
    The posterior is that of [1]_.

    **Not for choosing models unless P is much smaller than n.** With ν = ½ the prior
    expects an attainable AUC of about ``Φ(√P)``, which is almost 1 for P > 10. Moreover
    the training rows of w are used again without a penalty: on pure noise with P ≥ n
    the posterior mean is 1.00. The result depends on shifts and scales of the features;
    the published experiments standardise them first.

    References
    ----------
    .. [1] Dalton & Dougherty (2011), "Bayesian minimum mean-square error estimation for
       classification error — part II", https://doi.org/10.1109/TSP.2010.2084573
    .. [2] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771

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
                    f"{name} must be finite, a number or an array with one value per "
                    f"feature, got {getattr(self, name)!r}"
                )
            object.__setattr__(self, name, value if value.ndim else float(value))
        for name in ("nu_neg", "nu_pos"):
            check_interval(name, getattr(self, name), 0, closed="left")
        if self.kappa is not None:
            check_interval("kappa", self.kappa, closed="neither")
        lowest = _smallest_eigenvalue(self.scale)
        if not (lowest > 0 or (np.ndim(self.scale) == 0 and self.scale == 0)):
            raise ValueError(
                "scale must be positive definite (or 0, the improper prior), got "
                f"smallest eigenvalue {lowest:.6g}"
            )

    def project(
        self, w: np.ndarray, neg: Moments, pos: Moments, covariance: str
    ) -> ProjectedPosterior:
        """Posterior of the scores ``wᵀx`` from their moments; O(P), no P×P matrix.

        Parameters
        ----------
        w : ndarray of shape (P,)
            Coefficients of the linear model.
        neg, pos : Moments
            Moments of the scores ``X @ w``, one-dimensional.
        covariance : {"common", "separate"}
            One covariance for both classes, or one for each.

        Returns
        -------
        ProjectedPosterior

        Raises
        ------
        ValueError
            If a shape does not fit P, or κ ≤ P − 1 and S ≠ 0; if the posterior is not
            proper, because the prior is improper and n is too small.
        """
        P, shared = len(w), covariance == "common"
        mean, nu, q, kappa = self._update(w, neg, pos, shared)
        df, rows = kappa - P + 1, f"{neg.n:g} + {pos.n:g} rows"
        # "not >" instead of "<=" refuses NaN as well
        if not (df >= 1).all() or not (q > 0).all():
            raise ValueError(
                "prior is improper and the data cannot make it proper: the posterior "
                f"needs df >= 1 and q > 0, got df = {df.min():g} and q = {q.min():g} "
                f"with {rows} and P = {P}; use a proper prior (scale > 0, kappa > P - "
                "1)"
            )
        # a flat prior of a class mean takes one row
        known = np.array([neg.n - (self.nu_neg == 0), pos.n - (self.nu_pos == 0)])
        rank = known.sum() if shared else known.min()
        if not np.any(self.scale) and rank < P:
            raise ValueError(
                "scale must be > 0 when the rows cannot make the covariance proper: "
                f"scale=0.0 with P = {P} features and {rows} gives a scatter of rank "
                f"{rank:g}"
            )
        q, df = (np.broadcast_to(part, 2) for part in (q, df))
        return ProjectedPosterior(mean, nu, q, df, shared)

    def _update(self, w, neg, pos, shared):
        """Section 1: ``wᵀm_c*`` and ν_c*, ``wᵀS*w`` and κ* of each covariance."""
        P = len(w)
        for name in ("mean_neg", "mean_pos", "scale"):
            shape = np.shape(getattr(self, name))
            if any(side != P for side in shape):
                raise ValueError(
                    f"{name} must match the {P} features of the linear model, got "
                    f"shape {shape}"
                )
        kappa = P + 2.0 if self.kappa is None else float(self.kappa)
        if kappa <= P - 1 and np.any(self.scale):
            raise ValueError(
                f"kappa must exceed P - 1 = {P - 1} for a proper prior, got {kappa:g}"
            )
        # wᵀSw, without a P×P matrix where S is a diagonal or a multiple of I
        S = np.asarray(self.scale)
        square = w @ S @ w if S.ndim == 2 else np.sum(S * w**2)
        prior = np.array([np.sum(m * w) for m in (self.mean_neg, self.mean_pos)])
        n, nu = np.array([neg.n, pos.n]), np.array([self.nu_neg, self.nu_pos])
        sample, W = (neg.mean, pos.mean), np.array([neg.scatter, pos.scatter])
        # m_c* = (n_c x̄_c + ν_c m_c)/ν_c*
        mean = (n * sample + nu * prior) / (nu + n)
        # W_c + (n_c ν_c/ν_c*)(x̄_c − m_c)²
        W = W + n * nu / (nu + n) * (sample - prior) ** 2
        if shared:
            W, total = W.sum(keepdims=True), n.sum(keepdims=True)
        return mean, nu + n, square + W, kappa + (total if shared else n)


@dataclass(frozen=True, eq=False)
class ProjectedPosterior:
    """Posterior of the scores: ``σ_c² = q_c/χ²_{df_c}``, ``μ_c ~ N(m_c, σ_c²/ν_c)``.

    The arrays hold the parameters of both classes, shape (2,). If ``shared``, both
    classes have *one* random variance.
    """

    mean: np.ndarray
    nu: np.ndarray
    q: np.ndarray
    df: np.ndarray
    shared: bool

    def auc(self) -> AUCPosterior:
        """Posterior of the AUC; its mean is CBAUC."""
        if not self.shared:
            return self._independent_variances()
        D, v = self.mean[1] - self.mean[0], (1 / self.nu).sum()
        return AUCPosterior.from_components(D, v, self.q[0], self.df[0])

    def _independent_variances(self):
        weight, ratio = _variance_ratio(*self.df)
        # section 4
        # ρ = σ₁²/σ₀² = (q₁/q₀) B/(1 − B),   v = 2(1/ν₀* + ρ/ν₁*)/(1 + ρ),
        # q = (1 + ρ)(q₀ + q₁/ρ)/2,   df = df₀ + df₁
        (nu_neg, nu_pos), (q_neg, q_pos) = self.nu, self.q
        rho = ratio * (q_pos / q_neg)
        v = 2 * (1 / nu_neg + rho / nu_pos) / (1 + rho)
        q = (1 + rho) * (q_neg + q_pos / rho) / 2
        D = self.mean[1] - self.mean[0]
        return AUCPosterior.from_components(D, v, q, self.df.sum(), weight)

    def rates(self, threshold):
        """Predictive rates ``T_df((wᵀm_c* − t)/√((1 + 1/ν_c*) q_c/df_c))``."""
        # P(s > t) of a new row: T_df(−x) is its upper tail without a 1 − …
        deviation = np.sqrt((1 + 1 / self.nu) * self.q / self.df)
        classes = zip(self.df, self.mean, deviation, strict=True)
        fpr, tpr = (stdtr(df, (mean - threshold) / std) for df, mean, std in classes)
        return fpr, tpr

    def ebauc(self, thresholds=None) -> float:
        """Area under the predictive ``(FPR(t), TPR(t))``, end points included.

        ``thresholds=None`` is the limit of infinitely many, ``P(T₁ > T₀)`` for
        independent predictive Student variables.
        """
        if thresholds is None:
            # P(T₁ > T₀) = E[AUC] with independent variances, T_c the score of a new row
            return self._independent_variances().mean()
        return area_under_rates(*self.rates(np.unique(thresholds)[::-1]))


def area_under_rates(fpr, tpr) -> float:
    """Trapezoid under the points (FPR, TPR) with the corners (0, 0) and (1, 1)."""
    fpr, tpr = np.concatenate([[0], fpr, [1]]), np.concatenate([[0], tpr, [1]])
    return float(trapezoid(tpr, fpr))


def _variance_ratio(df_neg, df_pos):
    """Quadrature for ``B/(1 − B)``, ``B ~ Beta(df₀/2, df₁/2)``: weights and nodes.

    Trapezoidal in u, ``logit B = t = mode + core·sinh u``: the log density of t,
    ``a t − (a + b) log(1 + e^t)``, is concave with tails e^{at} and e^{−bt}, so each
    end lies at most ``drop/a`` (or /b) plus a normal width away from the mode. The
    drop goes down to 1e-300, because the rare ratios carry all of 1 − AUC where the
    classes are far apart.
    """
    # The mode solves a = (a + b) expit(t); there the density is as wide as a normal one
    # of variance 1/a + 1/b. sinh takes even steps over six such widths, then longer and
    # longer ones, out to where the density is e^−690 of its height
    a, b = df_neg / 2, df_pos / 2
    mode, core = np.log(a / b), 6 * np.sqrt(1 / a + 1 / b)
    reach = np.sqrt(2 * _DROP) * core / 6 + _DROP / np.array([a, b])
    low, high = np.arcsinh(np.minimum(reach, 300.0) / core)  # e^±300 is no overflow
    u = np.linspace(-low, high, _RATIO_NODES)
    t = mode + core * np.sinh(u)
    # log Beta density of t = logit B;  dt = core cosh(u) du
    log_density = a * t - (a + b) * np.logaddexp(0, t)
    weight = np.exp(log_density - log_density.max()) * np.cosh(u)
    keep = weight > _LIGHTEST
    return weight[keep] / weight[keep].sum(), np.exp(t[keep])


def _smallest_eigenvalue(scale):
    if np.ndim(scale) < 2:
        return float(np.min(scale))
    if scale.shape[0] != scale.shape[1] or not np.allclose(scale, scale.T):
        raise ValueError(
            f"scale must be a symmetric (P, P) matrix, got shape {scale.shape}"
        )
    return float(np.linalg.eigvalsh(scale)[0])
