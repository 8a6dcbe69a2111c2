"""The Bayesian twin of ``compare_auc``: two linear models under one joint posterior.

Prior and posterior are those of :mod:`skauc.posterior._auc_posterior`. Two linear
models ``W = [w_a w_b]`` see two dimensions of it,

    WᵀΣW ~ IW₂(WᵀS*W, κ* − P + 2),   Wᵀ(μ₁ − μ₀) | Σ ~ N(D, V),
    V = WᵀΣ₀W/ν₀* + WᵀΣ₁W/ν₁*,       AUC_a = Φ(d_a/√(w_aᵀ(Σ₀ + Σ₁)w_a)),

with Σ₀ = Σ₁ or one each. ``Σ = R(BBᵀ)⁻¹Rᵀ`` for any root R of the scatter and
Bartlett's triangular B makes draws; the probability that a is better is a normal one
given Σ, and only Σ is averaged over.

The root is taken of ``[w_a, w_b − βw_a]``, whose scores are nearly uncorrelated: two
almost equal rules keep the digits in which they differ (of a correlation 1 − ε only √ε
would be left), and one rule twice is a tie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import chdtri, ndtr, ndtri
from scipy.stats import qmc

from .._validation import (
    check_counts,
    check_features,
    check_level,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..posterior._auc_posterior import NormalInverseWishart
from ..roc._base import as_rate
from ..statistics._moments import class_moments, project_samples
from ..statistics._numbers import as_numbers
from ._linear_model import open_two_classes

_TIE = 1e-12  # AUCs nearer than this are equal: rounding of one and the same rule


def auc_difference_posterior(
    estimator_a,
    estimator_b,
    X,
    y,
    *,
    prior="paper",
    covariance="common",
    n_draws=2**14,
    random_state=0,
    sample_weight=None,
    pos_label=None,
) -> AUCDifferencePosterior:
    """Posterior of ``AUC_a − AUC_b`` for two fitted linear models.

    Answers: how sure is it that the first model has the larger true AUC? Both speak
    about the same rows, usually those that trained them, and both are judged by
    one posterior of the features, so that what they share cancels. Assumes normal
    features. Costs two ``X @ coef_`` and the draws.

    Parameters
    ----------
    estimator_a, estimator_b : fitted estimator
        As for :func:`auc_posterior`. Where they see different features (other
        Pipelines), the prior speaks about all features of both, side by side.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    prior : "paper" or NormalInverseWishart, default="paper"
        See :class:`NormalInverseWishart`: ``"paper"`` is not honest unless P is small
        against n. The adaptive prior has no joint form here.
    covariance : {"common", "separate"}, default="common"
        One covariance for both classes or one each.
    n_draws : int, default=16384
        Quasi-random draws, rounded up to a power of 2.
    random_state : int or Generator, default=0
        Seed of their scrambling.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which set the width of the posterior, at
        least 1 in each class; multiply relative ones by n / their sum.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.

    Returns
    -------
    AUCDifferencePosterior

    Raises
    ------
    TypeError
        If a model is not linear.
    ValueError
        If the input is bad, the models know other classes, coefficients are all 0,
        or the posterior is not proper.

    Notes
    -----
    See the module's formulas; the error of a probability is about 1e-4 at the
    default number of draws.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC); Smith & Hocking (1972),
    https://doi.org/10.2307/2346290, for the draws.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import auc_difference_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = (X - X.mean(axis=0))[:, :2] / X.std(axis=0)[:2]
    >>> a, b = (LogisticRegression(C=C).fit(Z, y) for C in (1, 1e-4))
    >>> round(auc_difference_posterior(a, b, Z, y).probability, 2)
    0.97
    """
    conjugate = _check_conjugate(prior)
    check_option("covariance", covariance, ("common", "separate"))
    a, b = open_two_classes(estimator_a, X), open_two_classes(estimator_b, X)
    if (
        a.classes is not None
        and b.classes is not None
        and not np.array_equal(a.classes, b.classes)
    ):
        raise ValueError(
            f"estimator_b must know the classes of estimator_a, {a.classes.tolist()}, "
            f"got {b.classes.tolist()}"
        )
    positive = check_positive(y, pos_label=pos_label, classes=a.classes)
    weight = check_weight(sample_weight, positive)
    check_counts(weight, positive)
    scores, W = _both_scores(a, b, len(positive))
    if a.classes is not None and pos_label is not None and pos_label == a.classes[0]:
        scores, W = -scores, -W
    beta = _slope(class_moments(scores, positive, weight))
    scores, W = (
        np.column_stack([m[:, 0], m[:, 1] - beta * m[:, 0]]) for m in (scores, W)
    )
    neg, pos = class_moments(scores, positive, weight)
    belief = _joint_posterior(neg, pos, W, beta, conjugate, covariance)
    return belief.draw(n_draws, random_state)


def _check_conjugate(prior):
    if isinstance(prior, str) and prior == "paper":
        return NormalInverseWishart()
    if not isinstance(prior, NormalInverseWishart):
        raise ValueError(
            "prior must be 'paper' or a NormalInverseWishart for two models, got "
            f"{prior!r}"
        )
    return prior


@dataclass(frozen=True, eq=False)
class AUCDifferencePosterior:
    """Posterior of the difference of two AUCs, with scipy's verbs.

    Made by :func:`auc_difference_posterior`.

    Parameters
    ----------
    draws_a, draws_b : ndarray of shape (n_draws,)
        Joint draws of the two AUCs.
    probability : float
        ``P(AUC_a > AUC_b | data)``, equal rules counted ½.

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

    def __repr__(self):
        low, high = self.interval(0.95)
        return (
            f"AUCDifferencePosterior(mean={self.mean():.4g}, interval95=({low:.4g}, "
            f"{high:.4g}), probability={self.probability:.4g})"
        )

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

    def std(self) -> float:
        """Posterior standard deviation of the difference."""
        return float(self.difference.std())

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
        tail = (1 - check_level("confidence_level", confidence_level)) / 2
        return float(self.ppf(tail)), float(self.ppf(1 - tail))


@dataclass(frozen=True, eq=False)
class _JointPosterior:
    """D, and for each class ν_c*, a root of the scatter and its degrees of freedom."""

    D: np.ndarray
    nu: np.ndarray
    roots: list[np.ndarray]
    df: np.ndarray
    shared: bool

    def draw(self, n_draws, random_state) -> AUCDifferencePosterior:
        if n_draws != int(n_draws) or n_draws < 1:
            raise ValueError(f"n_draws must be a whole number >= 1, got {n_draws}")
        classes = 1 if self.shared else 2
        engine = qmc.Sobol(5 * classes, seed=np.random.default_rng(random_state))
        u = engine.random_base2(int(np.ceil(np.log2(max(n_draws, 2)))))
        u = np.clip(u.T, 1e-12, 1 - 1e-12).reshape(classes, 5, -1)
        # Halves of the covariances, Σ_c = M_c M_cᵀ, and of V
        M = [
            _draw_half(R, df, v[:3])
            for R, df, v in zip(self.roots, self.df, u, strict=True)
        ]
        if self.shared:
            halves = [M[0] * np.sqrt((1 / self.nu).sum())]
            M = M * 2
        else:
            halves = [m / np.sqrt(nu) for m, nu in zip(M, self.nu, strict=True)]
        V = sum(_square(half) for half in halves)
        total = _square(M[0]) + _square(M[1])
        spread = np.sqrt(total[[0, 1], [0, 1]])
        gap = self.D[:, None] + sum(
            np.einsum("ikn,kn->in", half, ndtri(v[3:]))
            for half, v in zip(halves, u, strict=True)
        )
        auc_a, auc_b = ndtr(gap / spread)
        return AUCDifferencePosterior(auc_a, auc_b, self._probability(V, spread))

    def _probability(self, V, spread):
        """``E_Σ P(d_a/spread_a > d_b/spread_b | Σ)``."""
        gap = self.D[0] / spread[0] - self.D[1] / spread[1]
        variance = (
            V[0, 0] / spread[0] ** 2
            + V[1, 1] / spread[1] ** 2
            - 2 * V[0, 1] / (spread[0] * spread[1])
        )
        same = (variance < _TIE) & (np.abs(gap) < _TIE)
        z = gap / np.sqrt(np.maximum(variance, _TIE**2))
        return float(np.where(same, 0.5, ndtr(z)).mean())


def _both_scores(a, b, n):
    """Scores of both rules, (n, 2), and W on the features that they see."""
    Z_a, Z_b = check_features(a.front, n), check_features(b.front, n)
    for Z, rule in ((Z_a, a), (Z_b, b)):
        if Z.shape[1] != len(rule.w):
            raise ValueError(
                f"X must have the {len(rule.w)} features the model was trained on, "
                f"got {Z.shape[1]}"
            )
        if not rule.w.any():
            raise ValueError(
                f"{type(rule.model).__name__} must have a coefficient other than 0, "
                "got only 0"
            )
    scores = [
        check_score(project_samples(Z, rule.w), n, name="X @ coef_")
        for Z, rule in ((Z_a, a), (Z_b, b))
    ]
    if _equal(Z_a, Z_b):
        W = np.column_stack([a.w, b.w])
    else:
        W = np.zeros((len(a.w) + len(b.w), 2))
        W[: len(a.w), 0], W[len(a.w) :, 1] = a.w, b.w
    return np.column_stack(scores), W


def _equal(Z_a, Z_b):
    if Z_a is Z_b:
        return True
    if Z_a.shape != Z_b.shape or sparse.issparse(Z_a) != sparse.issparse(Z_b):
        return False
    if sparse.issparse(Z_a):
        return (Z_a != Z_b).nnz == 0
    return np.array_equal(Z_a, Z_b)


def _slope(moments):
    """β of the second score on the first, within the classes."""
    scatter = sum(part.scatter for part in moments)
    return scatter[0, 1] / scatter[0, 0] if scatter[0, 0] > 0 else 0.0


def _joint_posterior(neg, pos, W, beta, prior, covariance):
    """The joint posterior of the rules a and b from ``W = [w_a, w_b − βw_a]``."""
    views = [prior.project(w) for w in W.T]  # checks shapes and κ
    m = np.array([[v.mean_neg for v in views], [v.mean_pos for v in views]])
    S = np.asarray(prior.scale)
    S = W.T @ S @ W if S.ndim == 2 else (W * np.reshape(S, (-1, 1))).T @ W
    nu, n = np.array([prior.nu_neg, prior.nu_pos]), np.array([neg.n, pos.n])
    mean, nu_star, scatter = [], nu + n, []
    for c, part in enumerate((neg, pos)):
        shift = part.mean - m[c]
        mean.append((n[c] * part.mean + nu[c] * m[c]) / nu_star[c])
        scatter.append(
            part.scatter + n[c] * nu[c] / nu_star[c] * np.outer(shift, shift)
        )
    shared = covariance == "common"
    if shared:
        scatter, n = [S + scatter[0] + scatter[1]], n.sum(keepdims=True)
    else:
        scatter = [S + part for part in scatter]
    df = views[0].kappa + n - views[0].n_features + 2
    back = np.array([[1.0, 0.0], [beta, 1.0]])  # to a and b
    roots = [back @ _root(part) for part in scatter]
    if not (df > 1).all() or not all(root.any(axis=1).all() for root in roots):
        raise ValueError(
            "prior is improper and the data cannot make it proper: the posterior "
            f"needs df > 1 and scores that vary, got df = {df.min():g}; use a proper "
            "prior (scale > 0, kappa > P - 1)"
        )
    return _JointPosterior(back @ (mean[1] - mean[0]), nu_star, roots, df, shared)


def _root(scatter):
    """Cholesky's R, ``RRᵀ = scatter``; a score that does not vary has a row of 0."""
    a = np.sqrt(scatter[0, 0])
    below = scatter[0, 1] / a if a > 0 else 0.0
    return np.array([[a, 0.0], [below, np.sqrt(max(scatter[1, 1] - below**2, 0.0))]])


def _draw_half(root, df, u):
    """Draws of ``M = R B⁻ᵀ``, shape (2, 2, n); MMᵀ is inverse-Wishart."""
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
