"""Which rows are at hand, of a model of more than two classes.

The model was fitted to the rows of all classes, so that all of them are asked at once,
and what is found holds for every pair. Evidence is that of two classes
(:mod:`skauc.model_selection._training_rows`): support vectors, class means, steps in
front, and the gradient of a smooth loss with an L2 penalty, one class at a time,

    Σ c g_k x = −λ w_k,

where g_k is the slope of class k against the rest, or, of the softmax, ``p_k − 1{k}``.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial, reduce

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from .._validation import check_codes, check_features, check_weight
from ..estimators._logistic import IRLSLogisticRegression
from ..leave_pair_out._objective import PenalisedFit, stationarity
from ..statistics._block_matrix import BlockMatrix
from ..statistics._columns import class_sums
from ..statistics._moments import project_samples
from ._any_estimator import has_known_fit
from ._linear_model import LinearModel
from ._scored_model import ScoredModel
from ._training_objective import (
    balances_rows,
    penalised_fit,
    strength_of_logistic,
)
from ._training_rows import (
    LEAST_OF_ONE,
    are_training_rows_of_steps,
    bounds_of_gradient,
    is_long,
    told_by_means_of_classes,
    told_rows,
    was_stopped,
    weights_may_tell,
)

_SOFTMAX = LogisticRegression | LogisticRegressionCV | IRLSLogisticRegression
_ONE_VS_REST = RidgeClassifier | RidgeClassifierCV | LinearSVC


def told_rows_of_classes(opened: LinearModel, labels, sample_weight) -> tuple:
    """Tell training rows from held-out rows, of a model of more than two classes.

    Parameters
    ----------
    opened : LinearModel
    labels : ndarray or LabelColumn of shape (n,)
    sample_weight : array-like or BlockColumn of shape (n,), or None

    Returns
    -------
    rows : {"training", "held-out"} or None
        None where nothing tells them apart.
    doubtful : bool
        Whether held-out rows may be training rows whose weights are not given.
    """
    front = opened.front
    if isinstance(front, BlockMatrix):
        masks = [labels.equal(label) for label in opened.classes]
    else:
        codes = check_codes(labels, opened.classes)
        masks = [codes == k for k in range(opened.n_classes)]
        front = check_features(front, len(codes)).astype(float, copy=False)
    weight = check_weight(sample_weight, masks[0])
    # some pair has no rows to be asked of, which is said there
    if not all(class_sums(rows, weight)[1] > 0 for rows in masks):
        return None, False
    w = opened.w[0]  # any tells the span of the rows
    whole = _AllClasses(
        Z=front,
        w=w,
        score=np.zeros(len(labels)),
        extremes=(0.0, 0.0),
        positive=masks[0],
        weight=weight,
        threshold=0.0,
        model=opened.model,
        front=front,
        flipped=False,
        w_front=w,
        stages=opened.stages,
    )
    # Unknown weights of the fit do no harm: of pairs no row is left out.
    if are_training_rows_of_steps(whole):
        return "training", False
    told = told_rows(whole, partial(_by_gradients, opened=opened, masks=masks))
    return told, told == "held-out" and weights_may_tell(whole)


class _AllClasses(ScoredModel):
    """The rows of all classes; no two of them have an objective of their own."""

    objective = None


def _by_gradients(scored, opened, masks):
    """Class means of a discriminant, or the gradients of all classes."""
    model, Z = opened.model, scored.front
    if isinstance(model, LinearDiscriminantAnalysis):
        return told_by_means_of_classes(scored, model.means_, masks)
    parts = getattr(model, "estimators_", [model])
    if not has_known_fit(model) or not all(map(has_known_fit, parts)):
        return None
    fits = _fits(opened, Z, masks, scored.weight)
    if not any(fit.w.any() for fit, _ in fits):
        return None
    first = stationarity(Z, fits[0][1], fits[0][0])
    # as small it is on no other rows; of one feature it may be in one of the classes
    if first <= LEAST_OF_ONE and min(Z.shape) > 1:
        return "training"
    squares = [first**2, *(stationarity(Z, rows, fit) ** 2 for fit, rows in fits[1:])]
    square = np.mean(squares)
    least, strange = bounds_of_gradient(Z, len(masks))
    if square <= least**2:
        return "training"
    if any(map(was_stopped, parts)) or not square > strange**2:
        return None
    if not _of_any_strength(Z, fits, square) > strange**2:
        return None
    long = all(is_long(Z, rows, fit) for fit, rows in fits)
    return "held-out" if long else None


def _of_any_strength(Z, fits, square):
    """Mean square of the gradients under the penalty that makes it least.

    Of training rows whose weights are not given the penalty is that of other weights:
    of a strong one that alone was as much as other rows make.
    """
    if not fits[0][0].l2 > 0:
        return square

    def under(factor):
        found = []
        for fit, rows in fits:
            other = replace(fit, l2=factor * fit.l2)
            other.keep("slopes", Z, rows, fit.slopes(Z, rows))
            found.append(stationarity(Z, rows, other) ** 2)
        return np.mean(found)

    # |g + fλw|² = a + bf + cf², of f = 0, 1 and 2
    a, twice = under(0.0), under(2.0)
    c = (twice - 2 * square + a) / 2
    b = square - a - c
    factor = max(-b / (2 * c), 0.0) if c > 0 else 1.0
    return a + b * factor + c * factor**2


def _fits(opened, Z, masks, weight):
    """What each class minimised, and its rows; none where that is not known."""
    model = opened.model
    if isinstance(model, OneVsRestClassifier):
        parts = zip(model.estimators_, masks, strict=True)
        found = [(penalised_fit(part, Z, rows, weight), rows) for part, rows in parts]
        return [] if any(fit is None for fit, _ in found) else found
    if isinstance(model, _SOFTMAX):
        return _softmax(opened, Z, masks, weight)
    if not isinstance(model, _ONE_VS_REST):
        return []
    weight = _with_costs(model, masks, weight)
    # liblinear has the costs of a class for its own rows only
    costly = isinstance(model, LinearSVC) and model.class_weight is not None
    if costly:
        return []
    found = []
    for k, rows in enumerate(masks):
        part = copy(model)  # as if it were of two classes
        part.coef_, part.intercept_ = opened.w[k : k + 1], -opened.threshold[k : k + 1]
        part.class_weight = None
        found.append((penalised_fit(part, Z, rows, weight), rows))
    return [] if any(fit is None for fit, _ in found) else found


def _softmax(opened, Z, masks, weight):
    model = opened.model
    # one class against the rest, as older versions may
    if getattr(model, "solver", None) == "liblinear":
        return []
    if getattr(model, "multi_class", None) == "ovr":
        return []
    strength = _strength(model)
    if strength is None:
        return []
    weight = _with_costs(model, masks, weight)
    logits = [
        project_samples(Z, w) - threshold
        for w, threshold in zip(opened.w, opened.threshold, strict=True)
    ]
    largest = reduce(np.maximum, logits)  # no exponential overflows
    apart = [
        ((z == largest) | ~rows).all() for z, rows in zip(logits, masks, strict=True)
    ]
    if strength == 0 and all(apart):  # no optimum: no row moves such a model
        return []
    powers = [np.exp(z - largest) for z in logits]
    total = reduce(np.add, powers)
    free = np.inf if model.fit_intercept else 0.0
    found = []
    for k, rows in enumerate(masks):
        w, b = opened.w[k], -float(opened.threshold[k])
        fit = PenalisedFit("logistic", strength, weight, w, b, free)
        p = powers[k] / total
        # ∂/∂z_k of −Σ_j 1{j} log p_j; its curvature
        values = logits[k], weight * (p - rows), weight * p * (1 - p)
        found.append((fit.keep("slopes", Z, rows, values), rows))
    return found


def _strength(model):
    """λ of an L2 penalty on each class; None of another."""
    if not isinstance(model, IRLSLogisticRegression):
        return strength_of_logistic(model)
    known = model.penalty != "firth" and not model.has_offset_
    return 1 / float(model.C) if known else None


def _with_costs(model, masks, weight):
    """Weights of the rows times those of their classes."""
    given = np.ones_like(masks[0], dtype=float) if weight is None else weight
    costs = model.class_weight
    if costs is None:
        return given
    if isinstance(costs, str):  # "balanced": n/(K n_k), of rows or of weights
        ours = isinstance(model, IRLSLogisticRegression)
        by_rows = not ours and balances_rows(model, weight)
        total = np.array(
            [class_sums(rows, None if by_rows else weight)[1] for rows in masks]
        )
        per_class = (total.sum() / (len(masks) * total)).tolist()
    else:
        per_class = [costs.get(label, 1.0) for label in model.classes_.tolist()]
    of_class = [c * rows for c, rows in zip(per_class, masks, strict=True)]
    return reduce(np.add, of_class) * given
