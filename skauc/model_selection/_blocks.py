"""Evaluations of a model on rows that come in blocks.

Few rows are gathered into one array. With many rows, the scores of all rows are
computed, and an even sample of rows represents the data set: each sampled row counts
for several rows of its class. The model of the data set and the AUC of rows left out
are computed from the sample. The posterior is then shifted, in probits, by the
difference between the empirical AUC of all scores and that of the sample's scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from .._validation import check_column, check_positive, distinct_labels
from ..intervals._projection import project
from ..leave_pair_out._left_out import second_source
from ..leave_pair_out._objective import optimum, stationarity
from ..statistics._block_matrix import LARGEST_ARRAY, BlockMatrix
from ..statistics._moments import class_moments
from ..statistics._row_blocks import row_blocks
from ..statistics._rows import Rows
from ._doubts import relative_weights
from ._estimators import TAKE_BLOCKS
from ._objective_of import objective_of
from ._opened_model import OpenedModel
from ._posterior import Evaluation, auc_of_scores, evaluations
from ._training_rows import (
    ASSUMED,
    CONTRACT,
    DETECTED,
    HELD_OUT,
    Judgement,
    distance,
    equal_means,
)

_GATHERED = 2**20  # rows with at most so many entries (8 MiB) are gathered
_SAMPLE_ROWS_A_FEATURE = 10  # rows per feature of a sample, at least
_ROWS_A_FEATURE = 100  # with fewer rows per feature, all rows are gathered
_SAME = 1e-6  # largest distance of the scores of two fits to the same rows
_AT_REST = 0.2  # gradient of training rows, in units of its random walk


def rows_in_memory(X, y, sample_weight=None):
    """X, y and weights as arrays; rows that come in blocks are gathered."""
    blocks = row_blocks(X, y, sample_weight)
    if blocks is None:
        return X, y, sample_weight
    X, labels, weight = blocks.gather()
    return X, check_column("y", labels), weight


def evaluations_of(estimator, X, y, sample_weight=None, **question) -> list[Evaluation]:
    """Evaluations of a fitted estimator on rows in memory or in blocks.

    ``question`` holds the keywords of :func:`evaluations`.
    """
    blocks = row_blocks(X, y, sample_weight)
    if blocks is None:
        return evaluations(estimator, X, y, sample_weight=sample_weight, **question)
    matrix, labels, weight = BlockMatrix.of(blocks)
    labels = check_column("y", labels)
    n, P = matrix.shape
    if n * P <= _GATHERED or n < _ROWS_A_FEATURE * P:
        # dense rows of more than 1 GiB are refused, sparse ones are gathered
        small = n * P <= LARGEST_ARRAY or issparse(matrix[:1])
        X = _named(blocks.gather()[0] if small else matrix[:], matrix, estimator)
        return evaluations(estimator, X, labels, sample_weight=weight, **question)
    classes = distinct_labels(labels)
    codes = np.searchsorted(classes, labels).astype(np.min_scalar_type(len(classes)))
    del labels  # the codes take a byte per row
    known = blocks, matrix, classes, codes, weight
    return _of_sample(estimator, *known, question)


def _named(X, matrix, estimator):
    """Rows as a frame if estimator and blocks have feature names, else unchanged.

    Raises
    ------
    ValueError
        If the estimator was fitted with other columns.
    """
    matrix.check_names(estimator)
    names = matrix.feature_names
    if names is None or not hasattr(estimator, "feature_names_in_"):
        return X
    import pandas as pd

    return pd.DataFrame(X.toarray() if hasattr(X, "toarray") else X, columns=names)


def _of_sample(estimator, blocks, matrix, classes, codes, weight, question):
    """Evaluations on an even sample that represents all rows; y = classes[codes]."""
    if weight is None:
        weight = np.broadcast_to(1.0, len(codes))  # takes no memory
    elif not weight.all():
        counted = weight > 0
        matrix, codes = matrix.where(counted), codes[counted]
        weight = weight[counted]
    P = matrix.shape[1]
    count = max(_GATHERED // P, _SAMPLE_ROWS_A_FEATURE * P)
    sample, mass = even_sample(codes, weight, count)
    X, y = _named(matrix[sample], matrix, estimator), classes[codes[sample]]
    how = question | {"rows": "training"}
    sampled = evaluations(estimator, X, y, sample_weight=mass, **how)
    if sampled[0].model.linear is None:  # the refits of other classifiers need all rows
        X = _named(matrix[:], matrix, estimator)
        labels = classes[codes]
        return evaluations(estimator, X, labels, sample_weight=weight, **question)
    opened, front = sampled[0].model.scored.opened, matrix
    for step in opened.steps:
        front = front.behind(step)
    known = opened.W, classes, codes, weight, question["pos_label"]
    whole = _Whole(blocks, matrix, front, *known)
    how = question["rows"], question.get("clones", True)
    return [_SampledEvaluation.of(one, whole, *how) for one in sampled]


def even_sample(labels, weight, count):
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
    sample, mass = [], []
    classes = np.unique(labels)
    for label in classes:
        in_class = labels == label
        rows = np.flatnonzero(in_class)
        size = min(len(rows), max(count // len(classes), 2))
        kept = rows[np.linspace(0, len(rows) - 1, size).astype(int)]
        total = np.sum(weight, where=in_class)
        sample.append(kept)
        mass.append(weight[kept] * (total / weight[kept].sum()))
    sample, mass = np.concatenate(sample), np.concatenate(mass)
    order = np.argsort(sample)
    return sample[order], mass[order]


@dataclass(frozen=True, eq=False)
class _Whole:
    """All rows as they came and in front of the linear model."""

    blocks: object
    entry: BlockMatrix
    matrix: BlockMatrix
    W: np.ndarray
    classes: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    pos_label: object

    @cached_property
    def scores(self) -> np.ndarray:
        """Scores ``X @ Wᵀ`` of shape (n, k), from which those of all pairs are made."""
        return self.matrix @ self.W.T

    def rows_of(self, model) -> Rows:
        """The rows of the two classes of a model."""
        if model.pair is None:
            known = {
                "pos_label": self.pos_label,
                "classes": model.scored.opened.classes,
            }
            positive = check_positive(self.classes, **known)[self.codes]
            return Rows(self.matrix, positive, self.weight)
        which = self._which(model)
        positive = (self.classes == model.pair[1])[self.codes[which]]
        return Rows(self.matrix.where(which), positive, self.weight[which])

    def score_of(self, model) -> np.ndarray:
        """The scores of these rows."""
        if model.pair is None:
            return self.matrix @ model.w_front
        return self.scores[self._which(model)] @ model.mix

    def _which(self, model):
        """Mask of the rows of a pair of classes."""
        return np.isin(self.classes, model.pair)[self.codes]


@dataclass(frozen=True, eq=False)
class _SampledEvaluation(Evaluation):
    """Evaluation of a model on many rows, from a sample of rows and all scores.

    Parameters
    ----------
    model, prior, covariance, rows, report, pairs
        See :class:`Evaluation`; the rows of the model are the sample.
    all_rows : Rows
        All rows in front of the linear model, in blocks.
    score : ndarray of shape (n,)
        Scores of all rows.
    """

    all_rows: Rows = field(kw_only=True)
    score: np.ndarray = field(kw_only=True)

    @classmethod
    def of(cls, sampled, whole, rows, clones) -> _SampledEvaluation:
        """Evaluation of all rows from that of the sample."""
        all_rows = whole.rows_of(sampled.model)
        if rows != "auto":
            judgement = Judgement(rows, "given")
        elif not sampled.adaptive:
            judgement = Judgement("training", "assumed")
        else:
            judgement = _judge(sampled.model, whole, all_rows, clones)
        known = sampled.model, sampled.prior, sampled.covariance
        how = sampled.report, sampled.pairs
        score = whole.score_of(sampled.model)
        return cls(*known, judgement, *how, all_rows=all_rows, score=score)

    @property
    def choice(self) -> float:
        """Ranking score in probits, moved as the posterior is."""
        return self.posterior.choice("probit")

    @property
    def score_rows(self) -> Rows:
        """All rows with their score as the only feature."""
        return replace(self.all_rows, X=self.score[:, None])

    @cached_property
    def projection(self):
        """As in :class:`Evaluation`; a conjugate prior uses all rows."""
        if self.held_out or self.adaptive or self.reason_unranked is not None:
            return super().projection
        w = self.model.w_front
        return project(self.prior, self.all_rows, w, self.score, self.covariance)

    @cached_property
    def fit(self):
        """Objective of the sample at the direction of the fit to all rows."""
        model, w = self.model, self.model.w_front
        fit = model.fit
        if fit is None and model.pair is None:
            # discriminants take no weights: the sample's share scales the penalty
            plain = replace(model.front, weight=np.ones(len(model.score)))
            fit, _ = objective_of(model.linear, plain, flipped=model.flipped)
            if fit is not None:
                l2 = fit.objective.l2 / self._share
                objective = replace(fit.objective, l2=l2).with_penalty(model.front)
                fit = optimum(replace(fit, objective=objective), model.front)
        if fit is None:
            return None
        return replace(fit, coef=w * (w @ fit.coef) / (w @ w))

    @property
    def _share(self):
        """Share of all rows that is in the sample."""
        return len(self.model.score) / len(self.score)

    def _left_out(self):
        return second_source(self.fit, self.model.front, gradient=0.0)

    def _refitted(self, n_refits, whole):
        source, reasons = super()._refitted(n_refits, whole)
        if source is None:
            return None, reasons
        # A fit to n rows has an AUC c/n below that of the best model on new rows, and
        # c/n above it on its own rows. Clones of n_s sampled rows are c/n_s below, and
        # the model loses 2c/n = (2 n_s/n)(c/n_s) from these rows to new ones.
        auc = auc_of_scores(self.model.score, self.model.front)
        share = _size(self.model.positive) / _size(self.all_rows.positive)
        lost = min(2 * share, 1.0) * max(auc - source.auc, 0.0)
        return replace(source, auc=auc - lost), reasons

    def _stopped_early(self):
        return False  # the gradient on a sample does not show it

    def _joined(self):
        posterior = super()._joined()
        if self.held_out or not self.adaptive:
            return posterior
        of_all = self.size.probit(auc_of_scores(self.score, self.all_rows))
        of_sample = self.size.probit(auc_of_scores(self.model.score, self.model.front))
        return _moved(posterior, of_all - of_sample)

    def _doubts_of_weights(self):
        return relative_weights(self.all_rows.weight)

    def _doubts_of_copies(self):
        return []  # the weights of a sample are not copies


def _size(positive):
    """``n₀ n₁/(n₀ + n₁)``, to which the precision of a mean difference is in ratio."""
    n, n_pos = len(positive), np.count_nonzero(positive)
    return n_pos * (n - n_pos) / n


def _moved(posterior, shift):
    """A normal posterior, shifted in probits."""
    # Z = D/√2 + …: see AUCPosterior.normal
    known = {"D": posterior.D + np.sqrt(2) * shift}
    known["choice_probit"] = posterior.choice_probit + shift
    if posterior.leave_pair_out is not None:
        known["leave_pair_out"] = float(ndtr(ndtri(posterior.leave_pair_out) + shift))
    return replace(posterior, **known)


def _judge(model, whole, rows, clones):
    """Whether all rows trained a model: by its gradient, its scaler, or another fit."""
    opened, fit = model.scored.opened, model.fit
    # the objective of a discriminant is that of the sample: its direction differs
    if fit is not None and distance(fit.score(model.front.X), model.score) <= _SAME:
        if stationarity(fit, rows) <= _AT_REST:
            return DETECTED
    if opened.steps and type(opened.steps[0]) is StandardScaler:
        return _by_means(opened.steps[0].mean_, whole)
    if not clones:
        return CONTRACT
    if isinstance(opened.whole, TAKE_BLOCKS) and not opened.steps:
        try:
            again = OpenedModel.of(clone(opened.whole).fit(whole.blocks))
        except ValueError:  # a discriminant takes no blocks with weights
            return ASSUMED
        X = model.front.X
        D = distance(X @ opened.W.T, X @ again.W.T)
        return DETECTED if D <= _SAME else HELD_OUT
    return ASSUMED


def _by_means(kept, whole):
    """Compare the means that a scaler kept with those of all rows."""
    if kept is None:
        return ASSUMED
    mask = whole.codes == whole.codes[0]
    neg, pos = class_moments(whole.entry, mask, whole.weight, featurewise=True)
    all_rows = neg + pos
    if equal_means(all_rows.mean, kept, np.sqrt(all_rows.scatter) / all_rows.n):
        return DETECTED
    # a scaler that took no weights has other means
    return ASSUMED if np.any(whole.weight != 1) else HELD_OUT
