"""The adaptive prior, and how the second witness enters.

Two witnesses speak about the AUC of a rule, on the probit scale: the *model*, a mixture
of closed forms (:mod:`skauc.adaptive._mixture`) with mean m and variance s_m²; and
*leave-pair-out*, a with variance s_a². They err in different places: the model where
the data are not normal or P ≥ n hides the covariance, leave-pair-out by its noise. How
far they disagree on this data set is asked of nine ridge rules
(:mod:`skauc.leave_pair_out._ridge_path`) with differences ``r_l = a_l − m_l``:

- level ``r̄``, which one bias of the model would shift, and contrasts ``r_l − r̄`` with
  noise s² (DeLong's covariance of the path) and spread SS;
- one discrepancy τ ~ half-Cauchy(0.03), with likelihood
  ``(s² + τ²)^{−ν/2} exp(−(ν/2) SS/(s² + τ²))``, ν = 2 effective contrasts, and for the
  level also ``N(r̄; 0, s_a² + s_m² − 2ρ s_a s_m + τ²)``, ρ = ½ the correlation of the
  errors (both witnesses saw the same rows).

Weights of the witness: in the level ``B = E_τ[(s_m² − ρs_a s_m + τ²)/(s_a² + s_m² −
2ρ s_a s_m + τ²)]`` and in contrasts between rules ``B_c = E_τ[τ²/(τ² + 3s²)]`` (the
factor 3: DeLong does not see the noise of training). For a rule with r = a − m,

    estimate  Φ(m + B r̄ + B_c' (r − r̄)),    choice  m + B_c r + const,

where B_c' has seen the rule's own contrast too, ``N(r − r̄; 0, max(2v_a/φ(m)², s²) +
τ²)``, v_a the variance of its leave-pair-out AUC: a rule far from all ridge rules, such
as a discriminant without shrinkage, may disagree by far more than they do. The constant
(B at the reference rules, times r̄) puts the choice on the scale of the estimate without
letting the level move the ranking. The posterior is the mixture, moved to this mean,
with three times the variance of the precision-weighted combination; without a witness
it is the mixture with three times its variance. The factor 3 is the calibration of the
95 % interval on the simulated development panel.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, ndtri, stdtr
from scipy.stats import norm

from ..leave_pair_out._estimate import LeavePairOut
from ..leave_pair_out._ridge_path import ridge_path
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import area_under_rates
from ..statistics._moments import project_samples
from ._cache import CACHE
from ._mixture import Mixture, mixture
from ._spectrum import Projected, eigenbasis

_TAU = np.append(0.0, np.geomspace(3e-3, 5.0, 50))
_TAU_SCALE = 0.03
_NU = 2.0
_RHO = 0.5
_CONTRAST_NOISE = 3.0
_WIDEN = 3.0
_BOUND = 10.0  # probit of the model: beyond 1 − 1e-23 it only drowns the witness
_COVARIANCES = {
    "common": ("common", "separate"),
    "separate": ("separate",),
    "spherical": ("spherical",),
}


@dataclass(frozen=True)
class AdaptivePrior:
    """Prior on the attainable AUC, learnt from the data: the honest default.

    Answers: how large is the true AUC of this rule, when nobody knows how strongly the
    covariance and the mean difference should be shrunk? The evidence decides, and
    leave-pair-out of the same single fit is heard as a second witness. One
    eigendecomposition a data set, shared by all candidates; milliseconds a candidate.

    Parameters
    ----------
    attainable_power : float, default=2.0
        c of the prior ``2u − 1 ~ Beta(c, 1)`` on the attainable AUC u in (½, 1):
        1 is uniform, larger values expect better features; 2 expects an attainable
        AUC of 0.83 before the data.
    standardize : bool, default=True
        Give each feature its own scale: the answer does not change when a feature
        changes its unit. False keeps one common scale: invariant only when all
        features are multiplied together.
    winsorize : float or None, default=2.5
        Within-class deviations are pulled in to this many standard deviations.
    leave_pair_out : bool, default=True
        Let leave-pair-out enter where the model's objective is known and the rows are
        the ones that trained it (this is detected). False: the model speaks alone.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    Notes
    -----
    Invariant to shifts, to the order of rows and columns and to w → c·w; swapped
    classes give 1 − AUC. With ``covariance="common"`` a common covariance and one a
    class share the prior mass and the evidence weighs them; ``"separate"`` keeps only
    the latter; ``"spherical"`` fixes the standardised covariance at a multiple of I.
    Leave-pair-out knows ``LogisticRegression`` (L2), ``RidgeClassifier``, ``LinearSVC``
    (squared hinge), ``LinearDiscriminantAnalysis`` (no or fixed shrinkage), their
    ``…CV`` forms and this package's estimators. The mathematics stands in
    ``skauc/adaptive/_prior.py`` and ``skauc/adaptive/_mixture.py``.

    References
    ----------
    Airola et al. (2011), leave-pair-out, https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import AdaptivePrior, bayesian_val_score
    >>> X, y = np.random.default_rng(0).standard_normal((40, 200)), np.arange(40) % 2
    >>> noise = bayesian_val_score(LogisticRegression(), X, y, prior=AdaptivePrior())
    >>> 0.4 < noise.mean() < 0.6  # the paper's prior says 1.00 here
    True
    """

    attainable_power: float = 2.0
    standardize: bool = True
    winsorize: float | None = 2.5
    leave_pair_out: bool = True

    def __post_init__(self):
        for name in ("attainable_power", "winsorize"):
            value = getattr(self, name)
            if value is None and name == "winsorize":
                continue
            if not isinstance(value, Real) or not 0 < value < np.inf:
                raise ValueError(f"{name} must be > 0 and finite, got {value!r}")
        for name in ("standardize", "leave_pair_out"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(
                    f"{name} must be True or False, got {getattr(self, name)!r}"
                )

    def learn(self, Z, positive, weight=None, *, covariance="common") -> Learnt:
        """What the evidence says of a data set; kept for the next candidates.

        Parameters
        ----------
        Z : ndarray or sparse matrix of shape (n, P)
        positive : ndarray of bool of shape (n,)
        weight : ndarray of shape (n,), default=None
        covariance : {"common", "spherical", "separate"}, default="common"

        Returns
        -------
        Learnt
        """

        def compute():
            return self._mixture(Z, positive, weight, covariance)

        if Z.shape[1] == 1:  # a score: not kept
            return Learnt(compute(), self.leave_pair_out, Z, positive, weight)
        key = (self, covariance, _fingerprint(Z, positive, weight))
        cells = CACHE.remember(("mixture", *key), compute)
        return Learnt(cells, self.leave_pair_out, Z, positive, weight, key)

    def _mixture(self, Z, positive, weight, covariance):
        eigen = eigenbasis(
            Z,
            positive,
            weight,
            winsorize=self.winsorize,
            standardize=self.standardize,
        )
        if eigen.n_features == 0:
            raise ValueError(
                "X must have a feature whose variance is a positive float64 for "
                "the adaptive prior, got none"
            )
        return mixture(
            eigen, power=self.attainable_power, covariances=_COVARIANCES[covariance]
        )


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """How far leave-pair-out and the model disagree on a data set.

    ``level`` is r̄, ``noise`` is s², ``contrast`` B_c, ``offset`` the constant of the
    choice; ``log_tau`` and ``log_tau_level`` are log posteriors of τ on its grid, from
    the contrasts alone and from the level too.
    """

    level: float
    noise: float
    contrast: float
    offset: float
    log_tau: np.ndarray
    log_tau_level: np.ndarray

    def of_rule(self, r, noise):
        """``B_c'`` and the posterior of τ for a rule; ``noise`` of its contrast."""
        own = _log_normal(r - self.level, max(noise, self.noise) + _TAU**2)
        contrast = _contrast(self.log_tau + own, self.noise)
        return contrast, _softmax(self.log_tau_level + own)


@dataclass(frozen=True, eq=False)
class Learnt:
    """Mixture of one data set beside the rows at hand, which are not kept.

    ``listens`` says whether leave-pair-out is wanted; ``key`` is None where nothing is
    to be kept.
    """

    cells: Mixture
    listens: bool
    Z: np.ndarray | sparse.csr_array
    positive: np.ndarray
    weight: np.ndarray | None
    key: tuple | None = None

    def reference(self) -> Discrepancy:
        """The discrepancy of the data set, computed when it is first needed."""

        def compute():
            return _discrepancy(self.cells, self.Z, self.positive, self.weight)

        if self.key is None:
            return compute()
        return CACHE.remember(("discrepancy", *self.key), compute)

    def project(self, w, score) -> LearntDirection:
        """Posterior of the scores ``X @ w``, shape (n,), of the rows at hand."""
        centre = float(np.average(score, weights=self.weight))
        return LearntDirection(self, self.cells.eigen.project(w, score), centre)


@dataclass(frozen=True, eq=False)
class LearntDirection:
    """Belief about one direction; the verbs of ``ProjectedPosterior``."""

    learnt: Learnt
    view: Projected
    centre: float

    @property
    def listens(self) -> bool:
        """Whether a second witness is wanted."""
        return self.learnt.listens

    def auc(self, witness: LeavePairOut | None = None) -> AUCPosterior:
        """Posterior of the AUC, with or without the second witness."""
        alone = self.learnt.cells.posterior(self.view)
        if not self.view.alive[0]:
            return alone
        if witness is None:
            return alone.with_mean_and_scale(alone.mean_probit(), np.sqrt(_WIDEN))
        return self._joined(alone, witness)

    def rates(self, threshold):
        """Posterior predictive ``FPR(t), TPR(t)``: mixtures of Student tails."""
        weight, *classes = self._predictive()
        t = np.atleast_1d(np.asarray(threshold, dtype=float))
        fpr, tpr = (
            np.concatenate(
                [weight @ stdtr(df, (mean - part[:, None]) / scale).T for part in parts]
            )
            for (mean, scale, df), parts in zip(
                classes, [np.array_split(t, 1 + len(t) // 512)] * 2, strict=True
            )
        )
        return fpr.reshape(np.shape(threshold)), tpr.reshape(np.shape(threshold))

    def error(self, threshold, share_pos) -> float:
        """Bayesian error estimate at the threshold."""
        fpr, tpr = self.rates(threshold)
        return float((1 - share_pos) * fpr + share_pos * (1 - tpr))

    def ebauc(self, thresholds=None) -> float:
        """Area under the predictive curve, end points included.

        Beyond 4096 distinct thresholds an even sample of them is taken; None is a
        fine grid over the whole line (absolute error below 1e-6).
        """
        if thresholds is None:
            unit = max(np.max(scale) for _, scale, _ in self._predictive()[1:])
            thresholds = self.centre + unit * np.sinh(np.linspace(-10, 10, 4001))
        thresholds = np.unique(thresholds)
        if len(thresholds) > 4096:
            picked = np.linspace(0, len(thresholds) - 1, 4096).round().astype(int)
            thresholds = thresholds[picked]
        return area_under_rates(*self.rates(thresholds[::-1]))

    def _predictive(self):
        """Weights, and (mean, scale, df) of the score of a new row of each class."""
        cells, size = self.learnt.cells, float(self.view.size[0])
        n_neg, n_pos = cells.eigen.n_neg, cells.eigen.n_pos
        n = n_neg + n_pos
        alone = cells.posterior(self.view)
        variances, dfs = cells.class_variances(self.view, 0)
        out = [cells.weight]
        for q_c, df_c, lean in zip(
            variances, dfs, (-n_pos / n, n_neg / n), strict=True
        ):
            q = np.where(cells.separate, q_c, alone.q)
            df = np.where(cells.separate, df_c, alone.df)
            # μ_c = common mean + lean·δ: variances 1/n and lean² v beside the row's 1.
            spread = np.sqrt((1 + 1 / n + lean**2 * alone.v) * q / df)
            out.append((self.centre + size * lean * alone.D, size * spread, df))
        return out

    def _joined(self, alone, witness):
        eigen, discrepancy = self.learnt.cells.eigen, self.learnt.reference()
        mean, s_m2 = alone.probit_moments()
        m = np.clip(mean / np.sqrt(1 + s_m2), -_BOUND, _BOUND)
        a, s_a2 = _probit(
            witness.smooth_auc, witness.smooth_variance, eigen.n_neg, eigen.n_pos
        )
        r, level = a - m, discrepancy.level
        own_noise = 2 * s_a2 * (norm.pdf(a) / norm.pdf(m)) ** 2
        contrast, tau_of_rule = discrepancy.of_rule(r, own_noise)
        shares, errors = _combine(s_m2, s_a2)
        tau_of_all = _softmax(discrepancy.log_tau_level)
        share = tau_of_all @ shares
        wobble = tau_of_all @ (shares - share) ** 2 * level**2
        variance = _WIDEN * (tau_of_rule @ errors + wobble)
        estimate = m + share * level + contrast * (r - level)
        choice = m + discrepancy.contrast * r + discrepancy.offset
        return alone.with_mean_and_scale(
            estimate,
            np.sqrt(variance / s_m2),
            choice_probit=float(choice),
            leave_pair_out=witness.auc,
        )


def _discrepancy(cells, Z, positive, weight):
    eigen = cells.eigen
    if weight is None or weight.all():
        path = ridge_path(Z, positive, weight)
    else:
        keep = weight > 0
        path = ridge_path(Z[keep], positive[keep], weight[keep])
    a, s_a2 = _probit(path.auc, np.diag(path.covariance), eigen.n_neg, eigen.n_pos)
    view = eigen.project(path.directions, project_samples(Z, path.directions))
    moments = [cells.posterior(view, k).probit_moments() for k in range(len(a))]
    mean, s_m2 = np.transpose(moments)
    m = np.clip(mean / np.sqrt(1 + s_m2), -_BOUND, _BOUND)
    r = a - m
    slope = norm.pdf(a)
    covariance = path.covariance / np.outer(slope, slope)
    L = len(r)
    s2 = max((np.trace(covariance) - covariance.mean() * L) / (L - 1), 1e-10)
    level, tau2 = r.mean(), _TAU**2
    # Half-Cauchy density times the width of a cell of the grid.
    log_p = np.log(np.append(_TAU[1], _TAU[1:])) - np.log1p(tau2 / _TAU_SCALE**2)
    log_p -= _NU / 2 * (np.log(s2 + tau2) + r.var(ddof=1) / (s2 + tau2))
    contrast = _contrast(log_p, s2)
    s_m2, s_a2 = s_m2.mean(), s_a2.mean()
    spread = s_a2 + s_m2 - 2 * _RHO * np.sqrt(s_a2 * s_m2) + tau2
    log_p_level = log_p + _log_normal(level, spread)
    shares, _ = _combine(s_m2, s_a2)
    offset = float((_softmax(log_p_level) @ shares - contrast) * level)
    return Discrepancy(float(level), s2, contrast, offset, log_p, log_p_level)


def _contrast(log_p, s2):
    """``B_c = E_τ[τ²/(τ² + 3s²)]``."""
    tau2 = _TAU**2
    return float(_softmax(log_p) @ (tau2 / (tau2 + _CONTRAST_NOISE * s2)))


def _softmax(log_p):
    return np.exp(log_p - logsumexp(log_p))


def _log_normal(x, variance):
    return -0.5 * (np.log(variance) + x**2 / variance)


def _combine(s_m2, s_a2):
    """Weight B of the witness, and the variance that it leaves, at every τ."""
    tau2 = _TAU**2
    shared = _RHO * np.sqrt(s_a2 * s_m2)
    model = s_m2 - shared + tau2
    total = s_a2 + s_m2 - 2 * shared + tau2
    shares = np.clip(model / np.maximum(total, np.finfo(float).tiny), 0, 1)
    return shares, s_m2 + tau2 - 2 * shares * model + shares**2 * total


def _probit(auc, variance, n_neg, n_pos):
    """Probit of a leave-pair-out AUC and its variance, away from 0 and 1."""
    n = n_neg + n_pos
    auc = (np.asarray(auc) * n + 0.5) / (n + 1)
    variance = np.maximum(variance, auc * (1 - auc) / (2 * max(n_neg, n_pos)))
    probit = ndtri(auc)
    return probit, variance / norm.pdf(probit) ** 2


def _fingerprint(Z, positive, weight) -> bytes:
    """Digest of the content of a data set.

    A random combination of the rows, feature by feature, tells two data sets apart to
    the last digit that could matter, at the price of one product.
    """
    rng = np.random.default_rng(20190915)
    combination = rng.standard_normal((len(positive), 2))
    sketch = np.ascontiguousarray(Z.T @ combination, dtype=float)
    digest = hashlib.blake2b(repr((Z.shape, sparse.issparse(Z), Z.dtype)).encode())
    for part in (sketch, positive, np.zeros(0) if weight is None else weight):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.digest()
