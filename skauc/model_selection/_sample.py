"""Rows of a model that are a sample of more rows, of which all scores are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..adaptive._join import DataSize
from ..leave_pair_out._left_out import even_sample
from ..leave_pair_out._objective import optimum
from ..statistics._rows import Rows
from .reading._fitted_model import FittedModel
from .reading._objective_of import objective_of


@dataclass(frozen=True, eq=False)
class Sample:
    """All rows that the rows of a model stand for, and their scores.

    Parameters
    ----------
    model : FittedModel
        On the rows of the sample.
    all_rows : Rows
        All rows in front of the linear model; those of the model if they are all.
    score : ndarray of shape (n,)
        Scores of all rows.
    """

    model: FittedModel
    all_rows: Rows
    score: np.ndarray

    @property
    def is_all(self) -> bool:
        """Whether the sample holds all rows."""
        return self.all_rows is self.model.front

    @property
    def scores_as_feature(self) -> Rows:
        """All rows with their score as the only feature."""
        return replace(self.all_rows, X=self.score[:, None])

    @property
    def size(self) -> DataSize:
        """Weights of both classes and number of entered features."""
        front = self.model.front
        return DataSize(front.n_neg, front.n_pos, self.model.rows.shape[1])

    @cached_property
    def probit_shift(self) -> float:
        """Probit of the AUC of all scores, less that of the scores of the sample."""
        if self.is_all:
            return 0.0
        pairs = (self.all_rows, self.score), (self.model.front, self.model.score)
        of_all, of_sample = (self.size.probit(rows.auc(s)) for rows, s in pairs)
        return of_all - of_sample

    @cached_property
    def fit(self):
        """Objective and optimum on the rows of the model; None if unknown.

        For a sample: its own objective, at the direction of the fit to all rows.
        """
        model, w = self.model, self.model.w_front
        fit = model.fit
        if self.is_all:
            return fit
        if fit is None and model.pair is None:
            # discriminants take no weights: the sample's share scales the penalty
            plain = replace(model.front, weight=np.ones(len(model.score)))
            fit, _ = objective_of(model.linear, plain, flipped=model.flipped)
            if fit is not None:
                l2 = fit.objective.l2 * len(self.score) / len(model.score)
                objective = replace(fit.objective, l2=l2).with_penalty(model.front)
                fit = optimum(replace(fit, objective=objective), model.front)
        if fit is None:
            return None
        return replace(fit, coef=w * (w @ fit.coef) / (w @ w))

    def of_all_rows(self, source):
        """A source of clones of the sample, as one of clones of all rows.

        A fit to n rows has an AUC c/n below that of the best model on new rows, and c/n
        above it on its own rows. Clones of n_s sampled rows are c/n_s below, and the
        model loses ``2c/n = (2 n_s/n)(c/n_s)`` from these rows to new ones.
        """
        if self.is_all:
            return source
        auc = self.model.front.auc(self.model.score)
        share = _size(self.model.positive) / _size(self.all_rows.positive)
        lost = min(2 * share, 1.0) * max(auc - source.auc, 0.0)
        return replace(source, auc=auc - lost)


def _size(positive):
    """``n₀ n₁/(n₀ + n₁)``, to which the precision of a mean difference is in ratio."""
    n, n_pos = len(positive), np.count_nonzero(positive)
    return n_pos * (n - n_pos) / n


def sample_of_classes(labels, weight, count):
    """Row numbers of an even sample of every class, and the weights of these rows.

    Parameters
    ----------
    labels, weight : ndarray of shape (n,)
    count : int
        Number of rows of the sample, split evenly; smaller classes are complete.

    Returns
    -------
    rows : ndarray of int, ascending
    mass : ndarray of float of the same shape
        Adds up to the weight of each class.
    """
    limit = max(count // len(np.unique(labels)), 2)
    parts = even_sample(np.arange(len(labels)), labels, weight, limit)
    sample, mass = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(sample)
    return sample[order], mass[order]
