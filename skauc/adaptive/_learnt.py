"""What the adaptive prior has learnt of a data set, and says of one direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import stdtr

from ..leave_pair_out._second_source import SecondSource
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import area_under_rates
from ..statistics._numerics import TINY
from ._cache import CACHE
from ._eigenbasis import Projected
from ._join import (
    ENOUGH_REFITS,
    Joined,
    Level,
    alone,
    auc_variance,
    choice_of,
    join,
    join_level,
    probit_of,
)
from ._mixture import Mixture
from ._null import TwoNulls
from ._reference import level_of_ridge_models

_REFITS = 5  # true refits, if nobody says how many
# sources that say their own variance: pairs of some rows, very many rows, few refits
_OWN_VARIANCE = ("leave-one-out", "leave-pair-out", "refits")


@dataclass(frozen=True, eq=False)
class Learnt:
    """Model of one data set beside the rows at hand, which are not kept.

    Parameters
    ----------
    model : TwoNulls
    uses_second_source : bool
        Whether rows left out may enter.
    Z : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    key : tuple or None
        None where nothing is to be kept.
    """

    model: TwoNulls
    uses_second_source: bool
    Z: np.ndarray | sparse.csr_array
    positive: np.ndarray
    weight: np.ndarray | None
    key: tuple | None = None

    def fingerprint_of(self, Z, positive, weight) -> bytes | None:
        """That of these rows if they are the very ones at hand, and it is known."""
        same = Z is self.Z and positive is self.positive and weight is self.weight
        return self.key[-1] if same and self.key is not None else None

    @property
    def cells(self) -> Mixture:
        """The inverse-Wishart mixture of dense signals: what predicts new scores."""
        return self.model.inverse_wishart.dense

    def reference(self) -> Level | None:
        """What the model is off by on ridge models, computed when it is first asked."""

        def compute():
            return level_of_ridge_models(self.model, self.Z, self.positive, self.weight)

        return self.remember("reference", compute)

    def remember(self, name, compute):
        """What is computed of the data set alone, once for all models."""
        if self.key is None:
            return compute()
        return CACHE.remember((name, *self.key), compute)

    def project(self, w, score) -> LearntProjection:
        """Posterior of the scores ``X @ w``, shape (n,), of the rows at hand."""
        view = self.model.eigen.project(w, score)
        return LearntProjection(self, np.asarray(w, dtype=float), view, score)


@dataclass(frozen=True, eq=False)
class LearntProjection:
    """What the model of a data set says of one direction w.

    Parameters
    ----------
    learnt : Learnt
    w : ndarray of shape (P,)
    view : Projected
        w in the eigenbasis of the data set.
    score : ndarray of shape (n,)
        Of the rows at hand.
    """

    learnt: Learnt
    w: np.ndarray
    view: Projected
    score: np.ndarray

    @property
    def centre(self) -> float:
        """Weighted mean of the scores."""
        return float(np.average(self.score, weights=self.learnt.weight))

    @property
    def uses_second_source(self) -> bool:
        """Whether an AUC of rows left out is wanted."""
        return self.learnt.uses_second_source

    def auc(self, second: SecondSource | None = None, n_refits=None) -> AUCPosterior:
        """Posterior of the AUC, joined with a second source if there is one.

        Parameters
        ----------
        second : SecondSource, default=None
            AUC of rows left out. Without one the ridge models of the data set say how
            far the model is off, if the prior lets rows left out enter and there is
            more than one feature.
        n_refits : int, default=None
            Refits behind the second source; None is 5 for ``"refits"``, 20 otherwise.

        Returns
        -------
        AUCPosterior
            Normal in probits.
        """
        if not self.view.alive[0]:
            return AUCPosterior.point_mass_at_half()
        if second is None:
            return _normal(self._without_source())
        joined = self._joined(second, n_refits)
        return _normal(joined, leave_pair_out=second.auc, second_source=second.method)

    def choice(self, second: SecondSource | None = None, n_refits=None) -> float:
        """Probit of the selection score: that of :meth:`auc`, without its spread.

        Parameters
        ----------
        second, n_refits
            As for :meth:`auc`.

        Returns
        -------
        float
        """
        if not self.view.alive[0]:
            return 0.0
        if second is None:
            return float(self._without_source().choice)
        z, n_refits = self._probit_of(second), _n_refits(second, n_refits)
        return float(choice_of(self._probit()[0], z, n_refits))

    @property
    def classes_vary_far_apart(self) -> bool:
        """Whether the classes vary so unlike that the model is hardly theirs."""
        eigen = self.learnt.model.eigen
        return eigen.n_features > 1 and eigen.vary_far_apart

    def model_alone(self) -> AUCPosterior:
        """Posterior of the AUC that no row left out has entered."""
        if not self.view.alive[0]:
            return AUCPosterior.point_mass_at_half()
        return _normal(self._alone())

    def rates(self, threshold):
        """Posterior predictive ``FPR(t), TPR(t)``: mixtures of Student tails."""
        # P(s > t) = Σ weight T_df((mean − t)/scale), some thresholds at a time
        weight, *classes = self._predictive()
        t = np.atleast_1d(np.asarray(threshold, dtype=float))
        parts = np.array_split(t, 1 + len(t) // 512)
        fpr, tpr = (
            np.concatenate(
                [weight @ stdtr(df, (mean - part[:, None]) / scale).T for part in parts]
            )
            for mean, scale, df in classes
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
            # Even steps near the centre, geometric ones out to sinh 10 = 1.1e4 scales
            # of the wider class
            thresholds = self.centre + unit * np.sinh(np.linspace(-10, 10, 4001))
        thresholds = np.unique(thresholds)
        # Between two of 4096 thresholds a smooth curve is straight
        if len(thresholds) > 4096:
            picked = np.linspace(0, len(thresholds) - 1, 4096).round().astype(int)
            thresholds = thresholds[picked]
        return area_under_rates(*self.rates(thresholds[::-1]))

    def _alone(self) -> Joined:
        if self.learnt.model.eigen.n_features > 1:
            return alone(*self._probit())
        # a score: its posterior mean as it is, not bounded
        posterior = self.learnt.cells.posterior(self.view)
        return alone(posterior.mean_probit(), posterior.probit_moments()[1])

    def _without_source(self) -> Joined:
        eigen = self.learnt.model.eigen
        if eigen.n_features == 1 or not self.uses_second_source:
            return self._alone()
        level = self.learnt.reference()
        if level is None:
            return self._alone()
        # a model that ranks the rows the wrong way round is off the other way
        level = level.along(self.view.difference[0])
        m, s_m2 = self._probit()
        return join_level(m, s_m2, level, eigen.n_neg, eigen.n_pos)

    def _joined(self, second, n_refits) -> Joined:
        n_neg, n_pos = self.learnt.model.eigen.n_neg, self.learnt.model.eigen.n_pos
        z, n_refits, excess = self._probit_of(second), _n_refits(second, n_refits), 1.0
        if second.method in _OWN_VARIANCE:
            # in units of Hanley and McNeil's, so that it can be moved to the estimate;
            # less than theirs may be a sample that happens to be separated
            theirs = auc_variance(z, n_neg, n_pos)
            own, least = second.variance / theirs, 1.0
            if second.method == "leave-one-out":
                least = min(1.0, own * _doubt(second.auc, n_neg, n_pos))
            excess = max(least, own)
        m, s_m2 = self._probit()
        sign = 1.0 if self.view.difference[0] >= 0 else -1.0
        found = {"n_refits": n_refits, "excess": excess, "sign": sign}
        return join(m, s_m2, z, n_neg, n_pos, **found)

    def _probit_of(self, second):
        eigen = self.learnt.model.eigen
        return float(probit_of(second.auc, eigen.n_neg + eigen.n_pos))

    def _probit(self):
        return self.learnt.model.probit(self.view, 0, self.w, self.learnt.Z)

    def _predictive(self):
        """Weights, and (mean, scale, df) of the score of a new row of each class."""
        cells, size = self.learnt.cells, float(self.view.size[0])
        n_neg, n_pos = cells.eigen.n_neg, cells.eigen.n_pos
        n = n_neg + n_pos
        dense = cells.posterior(self.view)
        variances, dfs = cells.class_variances(self.view, 0)
        out = [cells.weight]
        for q_c, df_c, lean in zip(
            variances, dfs, (-n_pos / n, n_neg / n), strict=True
        ):
            # A common variance may have seen the mean difference as well (section 3)
            q = np.where(cells.separate, q_c, dense.q)
            df = np.where(cells.separate, df_c, dense.df)
            # μ_c = common mean + lean·δ: variances 1/n and lean² v beside the row's 1.
            spread = np.sqrt((1 + 1 / n + lean**2 * dense.v) * q / df)
            out.append((self.centre + size * lean * dense.D, size * spread, df))
        return out


def _n_refits(second, n_refits):
    if n_refits is not None:
        return n_refits
    return _REFITS if second.method == "refits" else ENOUGH_REFITS


def _doubt(auc, n_neg, n_pos):
    """How many times its estimate a variance of an AUC may be, at two standard errors.

    It is a sum of squares over the rows that are ranked wrong, k of the smaller class;
    if these are off by exponential amounts, its variance is 6/k of its square.
    """
    # S = Σ e² of a Poisson number of rows with mean k, e exponential: Var S/(E S)² =
    # k E e⁴/(k E e²)² = 24/(4k)
    k = max(min(n_neg, n_pos) * min(auc, 1 - auc), np.finfo(float).eps)
    return 1 + 2 * np.sqrt(6 / k)


def _normal(joined: Joined, **entered) -> AUCPosterior:
    return AUCPosterior.normal(
        joined.estimate,
        max(joined.deviation**2, TINY),  # of 1e300 rows it is 0
        choice_probit=float(joined.choice),
        **entered,
    )
