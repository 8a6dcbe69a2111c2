"""The model of one data set, and the AUC of one direction (sections 1 to 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtr

from ..leave_pair_out._left_out import even_sample
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import area_under_rates
from ..statistics._rows import Rows
from ._covariance import cross_validated, inverse_wishart, of_random_labels
from ._join import DataSize, join, unchecked, uncorrected
from ._prior import AdaptivePrior
from ._scatter import GRAM_RANK, Direction, Scatter
from ._signals import noise_power, probit_of, signals_under

_MOST_ROWS = 600  # rows of the model if there are more features than rows
_THRESHOLDS = 4096  # the curve is linear between so many thresholds, to 1e-6


def data_model(prior: AdaptivePrior, rows: Rows) -> DataModel:
    """Model of a data set under a prior, cached for the next candidates."""
    weights, power = (rows.n_neg, rows.n_pos), prior.attainable_power
    picked = slice(None)
    if rows.shape[1] > max(rows.n, len(rows.weight)) > _MOST_ROWS:
        rows, picked = _sample(rows)
    scatter, models = rows.cached(("adaptive", power), lambda: _learn(rows, power))
    size = DataSize(*weights, scatter.n_features)
    return DataModel(scatter, models, rows, size, prior, picked)


def _learn(rows, power):
    """Decompose rows in memory, and weigh the signals under both covariances."""
    scatter = Scatter.of(rows)
    covariances = [inverse_wishart(scatter)]
    if scatter.n_features > 1:
        second = cross_validated(scatter, rows, covariances[0])
        covariances += [] if second is None else [second]
    return scatter, tuple(signals_under(c, scatter, rows, power) for c in covariances)


def _sample(rows):
    """At most 300 rows of each class, evenly in the order of sums of their features.

    Also their numbers among all rows. Neither the order of rows and columns nor the
    units of the features matter, and a row of weight 2 counts as two equal rows.
    """
    order, most = np.argsort(rows.X @ rows.standard_unit), _MOST_ROWS // 2
    classes = even_sample(order, rows.positive, rows.weight, most)
    picked = np.concatenate([part for part, _ in classes])
    weight = np.concatenate([m * min(1, most / m.sum()) for _, m in classes])
    return replace(rows[picked], weight=weight), picked


@dataclass(frozen=True, eq=False)
class DataModel:
    """The model of a data set together with its rows, which are not cached.

    Parameters
    ----------
    scatter : Scatter
        The decomposition of the data set.
    models : tuple of Signals
        Under each covariance that ranks.
    rows : Rows
        The rows of the model.
    size : DataSize
        Weights of both classes in all rows, and number of features.
    prior : AdaptivePrior
    picked : slice or ndarray of int
        The rows of the model among all rows.
    """

    scatter: Scatter
    models: tuple
    rows: Rows
    size: DataSize
    prior: AdaptivePrior
    picked: Any

    @property
    def key(self) -> tuple:
        """Equal for models of the same rows under the same prior."""
        return self.prior.attainable_power, self.rows.key

    def along(self, w, score=None) -> Projection | None:
        """Projection on the scores ``X @ w``; None if they are constant.

        Parameters
        ----------
        w : ndarray of shape (P,)
        score : ndarray of shape (n,), default=None
            ``X @ w`` of all rows up to a constant, if it is known.
        """
        score = np.asarray(self.rows.X @ w) if score is None else score[self.picked]
        direction = self.scatter.direction(w, score)
        return None if direction is None else Projection(self, direction, score)

    @cached_property
    def weighted(self) -> tuple:
        """All signals, those under the noise of random labels last, and weights."""
        scatter, models = self.scatter, self.models
        energy, power = scatter.energy, self.prior.attainable_power

        def compute():
            noise = of_random_labels(scatter, self.rows, models[0].covariance)
            return signals_under(noise, scatter, self.rows, power)

        # d reaches into the null space where it separates the classes
        if energy[-1] <= GRAM_RANK * energy.sum():
            return models, np.full(len(models), 1 / len(models))
        last = self.rows.cached(("random labels", power), compute)
        share = len(scatter.values) / scatter.n_features
        weight = np.full(len(models), share / len(models))
        return (*models, last), np.append(weight, 1 - share)


@dataclass(frozen=True, eq=False)
class Projection:
    """One direction in the model of a data set.

    Parameters
    ----------
    model : DataModel
    direction : Direction
    score : ndarray of shape (n,)
    """

    model: DataModel
    direction: Direction
    score: np.ndarray

    @cached_property
    def probit(self) -> tuple:
        """Mean m and variance s² of the probit of the AUC, by the model alone."""
        models = np.array([probit_of(*c) for c in self.components])
        share = self.model.weighted[1]
        mean, variance = share @ models
        return float(mean), float(variance + share @ (models[:, 0] - mean) ** 2)

    @property
    def rank(self) -> float:
        """Probit by which candidates are ranked, without noise of random labels.

        That model has the right level where features outnumber rows, but it loses more
        AUC by its choice on real rows with P up to 2500: benchmarks/README.md.
        """
        ranking = self._components_under(self.model.models)
        return float(np.mean([probit_of(*c)[0] for c in ranking]))

    @cached_property
    def components(self) -> list:
        """Weight, mean and variance of Z in the components under each covariance."""
        return self._components_under(self.model.weighted[0])

    def _components_under(self, models):
        scatter = self.model.scatter
        covariances = [signals.covariance for signals in models]
        at, rows = self.direction, self.model.rows
        roots = noise_power(0.5, covariances, scatter, at.x, at.along, rows)
        pairs = zip(models, roots, strict=True)
        return [signals.components(scatter, at, root) for signals, root in pairs]

    @property
    def beliefs(self) -> tuple:
        """Deviations of Z between the components, and the deviation inside them.

        The inner product of the first results of two directions is the covariance of
        their component means.
        """
        between, within = [], 0.0
        models = zip(self.components, self.model.weighted[1], strict=True)
        for (weight, mean, variance), of_model in models:
            share = weight * of_model
            between.append(np.sqrt(share) * (mean - weight @ mean))
            within += share @ variance
        return np.concatenate(between), float(np.sqrt(within))

    @property
    def _sign(self):
        return 1.0 if self.direction.difference >= 0 else -1.0

    def auc(self, source=None) -> AUCPosterior:
        """Posterior of the AUC, joined with an AUC of rows left out if given."""
        (m, s2), size = self.probit, self.model.size
        if source is not None:
            return join(m, source, size, self._sign)
        if size.n_features == 1 or not self.model.prior.leave_pair_out:
            return uncorrected(m, s2)
        return unchecked(m, size, self.model.rows.auc(self.score))

    def towards(self, source, share) -> float:
        """``share (z − m)``: part of the way to an AUC of rows left out, in probits."""
        z = self.model.size.left_out(source, self._sign)
        return share * (z - self.rank)

    def gap(self, source) -> tuple:
        """``z − m`` in probits, and its deviation as both sources explain it.

        m is cut at the probit of a perfect AUC of these rows, which z cannot exceed.
        """
        (m, s2), size = self.probit, self.model.size
        z, most = size.left_out(source, self._sign), size.probit(1.0)
        m = np.clip(m, -most, most)
        # of a model that is sure of a perfect AUC no more than these rows can show
        units = size.spread * size.excess(source)
        variance = min(s2, size.variance(m)) + units * size.variance(z)
        return float(z - m), float(np.sqrt(variance))

    def rates(self, threshold):
        """Posterior predictive ``FPR(t), TPR(t)``: mixtures of Student t tails."""
        weight, df, *classes = self._predictive
        t = np.asarray(threshold, dtype=float)[..., None]
        # P(s > t) = Σ weight T_df((mean − t)/scale)
        fpr, tpr = (stdtr(df, (mean - t) / scale) @ weight for mean, scale in classes)
        return fpr, tpr

    def ebauc(self, thresholds=None) -> float:
        """Area under the predictive curve, end points included.

        More than 4096 distinct thresholds are replaced by an even sample; None is a
        fine grid over the whole line (absolute error below 1e-6).
        """
        if thresholds is None:
            _, _, *classes = self._predictive
            unit = max(scale.max() for _, scale in classes)
            # even steps near the centre, geometric ones out to 1e4 scales
            steps = np.sinh(np.linspace(-10, 10, _THRESHOLDS))
            thresholds = self._centre + unit * steps
        thresholds = np.unique(thresholds)
        if len(thresholds) > _THRESHOLDS:
            even = np.linspace(0, len(thresholds) - 1, _THRESHOLDS).round()
            thresholds = thresholds[even.astype(np.int64)]
        return area_under_rates(*self.rates(thresholds[::-1]))

    @property
    def _centre(self):
        return float(np.average(self.score, weights=self.model.rows.weight))

    @cached_property
    def _predictive(self):
        """Weights, df, and (mean, scale) of the score of a new row of each class."""
        model, direction = self.model, self.direction
        signals, scatter = model.models[0], model.scatter
        D, spread = signals.dense_differences(scatter, direction)
        variance = signals.variance(direction)
        out = [signals.weight, signals.covariance.df]
        # μ_c = grand mean + share·δ, of variance σ²/n + share² Var δ
        for share in (-scatter.n_pos / scatter.n, scatter.n_neg / scatter.n):
            mean = self._centre + direction.size * share * D
            scale = np.sqrt(variance * (1 + 1 / scatter.n) + share**2 * spread)
            out.append((mean, direction.size * scale))
        return out
