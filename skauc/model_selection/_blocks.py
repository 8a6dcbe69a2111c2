"""Evaluations of a fitted estimator on rows in memory, in a collection or in blocks.

Few rows are gathered into one array. With many rows, the scores of all rows are
computed, and an even sample of rows represents the data set: each sampled row counts
for several rows of its class. The model of the data set and the AUC of rows left out
are computed from the sample. The posterior is then shifted, in probits, by the
difference between the empirical AUC of all scores and that of the sample's scores.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from .._validation import check_labels, distinct_labels
from ..leave_pair_out._left_out import even_sample
from ..statistics._block_matrix import LARGEST_ARRAY, BlockMatrix
from ..statistics._row_blocks import dense, gathered, row_blocks
from ..statistics._rows import Rows
from ._evaluation import Evaluation, Sample
from ._verdict import in_search, judge_blocks, judge_rows, known_verdict
from .reading._fitted_model import fitted_models

_GATHERED = 2**20  # rows with at most so many entries (8 MiB) are gathered
_SAMPLE_ROWS_A_FEATURE = 10  # rows per feature of a sample, at least
_ROWS_A_FEATURE = 100  # with fewer rows per feature, all rows are gathered


def evaluations_of(estimator, X, y, sample_weight, question, *, gather=False) -> list:
    """:func:`evaluations` of a fitted estimator on rows in memory or in blocks.

    Many rows in blocks are sampled, unless all of them are to be gathered.
    """
    blocks = row_blocks(X, y, sample_weight)
    if blocks is None:
        return evaluations(estimator, X, y, sample_weight, question)
    if question.groups is not None and not gather:
        raise ValueError(
            "groups must be None for collections and blocks, got groups; pass arrays"
        )
    matrix, labels, weight = BlockMatrix.of(blocks)
    labels = check_labels(labels, name="y")
    n, P = matrix.shape
    if gather or n * P <= _GATHERED or n < _ROWS_A_FEATURE * P:
        # dense rows of more than 1 GiB are refused, sparse ones are gathered
        small = n * P <= LARGEST_ARRAY or issparse(matrix[:1])
        X = _named(gathered(blocks)[0] if small else matrix[:], matrix, estimator)
        return evaluations(estimator, X, labels, weight, question)
    classes = distinct_labels(labels)
    codes = np.searchsorted(classes, labels).astype(np.min_scalar_type(len(classes)))
    del labels  # the codes take a byte per row
    return _of_sample(estimator, blocks, matrix, classes, codes, weight, question)


def evaluations(estimator, X, y, sample_weight, question) -> list:
    """Evaluations of a fitted estimator: one, or one for each pair of classes.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : rows and labels in memory
    sample_weight : array-like of shape (n,) or None
    question : Question

    Returns
    -------
    list of Evaluation
    """
    models = fitted_models(
        estimator,
        X,
        y,
        sample_weight,
        pos_label=question.pos_label,
        groups=question.groups,
        any_classifier=question.adaptive,
    )
    samples = [Sample(model, model.front, model.score) for model in models]
    verdict, report = known_verdict(question), question.is_report
    if verdict is None:  # a scorer fits nothing
        verdict = judge_rows(models[0], report, not report and in_search(X, y))
    return [Evaluation(sample, question, verdict) for sample in samples]


def of_two_classes(found, name) -> Evaluation:
    """The only evaluation; a ValueError about the labels if there are more classes."""
    if len(found) > 1:
        n = found[0].model.scored.opened.n_classes
        raise ValueError(f"{name} must hold two classes, got {n} classes")
    return found[0]


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

    return pd.DataFrame(dense(X), columns=names)


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
    sample, mass = sample_of_classes(codes, weight, count)
    X, y = _named(matrix[sample], matrix, estimator), classes[codes[sample]]
    sampled = evaluations(estimator, X, y, mass, replace(question, rows="training"))
    if sampled[0].model.linear is None:  # the refits of other classifiers need all rows
        X = _named(matrix[:], matrix, estimator)
        labels = classes[codes]
        return evaluations(estimator, X, labels, weight, question)
    opened, front = sampled[0].model.scored.opened, matrix
    for step in opened.steps:
        front = front.behind(step)
    scores, verdict, out = front @ opened.W.T, known_verdict(question), []
    for model in (one.model for one in sampled):
        part = _sample_of(model, front, scores, classes, codes, weight)
        kind = verdict or judge_blocks(part, blocks, matrix, codes, weight, question)
        out.append(Evaluation(part, question, kind))
    return out


def _sample_of(model, front, scores, classes, codes, weight) -> Sample:
    """The rows that a model stands for, and their scores, from those of all rows."""
    which = slice(None)
    if model.pair is not None:
        which = np.isin(classes, model.pair)[codes]
        front = front.where(which)
    positive = (classes == model.pos_label)[codes[which]]
    rows = Rows(front, positive, weight[which]).as_counts()
    return Sample(model, rows, scores[which] @ model.mix)


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
