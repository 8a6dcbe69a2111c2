"""A fitted linear model and its scores of some rows, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, repeat
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d

from .._validation import (
    check_codes,
    check_features,
    check_positive,
    check_score,
    check_weight,
)
from ..leave_pair_out._objective import PenalisedFit, nearest_optimum
from ..statistics._block_column import BlockColumn
from ..statistics._block_matrix import BlockMatrix, Direction, in_memory
from ..statistics._columns import class_sums
from ..statistics._moments import project_samples
from ..statistics._sketch import scores_and_sketch, sketch_of
from ._any_rows import take_rows
from ._entered_features import entered_features
from ._linear_model import LinearModel, pair_models
from ._refit_objective import training_objective
from ._rows_at_hand import LabelColumn
from ._standardised_rows import StandardisedRows
from ._training_objective import largest_gradient

_LARGEST = 1e150  # scores whose squares are floats
_SAME = 1e-6  # of the range of the scores: rounding of two ways to the same score


@dataclass(frozen=True, eq=False)
class ScoredModel:
    """Scores of the rows, and what made them.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P)
        The features that a posterior is asked about.
    w : ndarray of shape (P,)
        Direction in them, towards the positive class; its length means nothing.
    score : ndarray of shape (n,)
        Of the linear model, less its intercept: ``Z @ w`` but for a constant.
    extremes : tuple of two float
        The least and the largest of them.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    threshold : float
        ``score > threshold`` is what the classifier calls positive.
    model : estimator or None
        The linear model; None for a pair of more than two classes.
    front : ndarray, sparse matrix or StandardisedRows
        Rows in front of the linear model; ``rows`` if they are to be an array.
    flipped : bool
        Whether the positive class is the model's ``classes_[0]``.
    w_front : ndarray
        Direction in front of the linear model, with the same scores.
    stages : tuple
        The way from the features that entered to the front.
    supervised : bool, default=False
        Whether a step in front of the linear model, or who chose it, has seen y.
    broken_by : str or None, default=None
        Class name of a step behind which no closed form holds
        (:mod:`skauc.model_selection._entered_features`).
    sketch : ndarray of shape (P,) or None, default=None
        Of Z (:mod:`skauc.statistics._sketch`), if it is known.
    """

    Z: Any
    w: np.ndarray
    score: np.ndarray
    extremes: tuple[float, float]
    positive: np.ndarray
    weight: np.ndarray | None
    threshold: float
    model: object
    front: Any
    flipped: bool
    w_front: np.ndarray
    stages: tuple = ()
    supervised: bool = False
    broken_by: str | None = None
    sketch: np.ndarray | None = None

    @property
    def entry(self) -> Any:
        """The rows as they entered, the same for all candidates of a search."""
        return self.stages[0][1] if self.stages else self.Z

    @property
    def share_pos(self) -> float:
        """Weighted share of the positive class."""
        if self.weight is None:
            return float(class_sums(self.positive)[1] / len(self.positive))
        return float(class_sums(self.positive, self.weight)[1] / self.weight.sum())

    @property
    def feature(self) -> Any:
        """The score as the only feature, of shape (n, 1)."""
        if isinstance(self.score, BlockColumn):
            return self.front.behind(Direction(self.w_front), 1)
        return self.score[:, None]

    @cached_property
    def second_class(self) -> np.ndarray:
        """True for the rows of the model's own ``classes_[1]``."""
        return ~self.positive if self.flipped else self.positive

    @property
    def own_score(self) -> Any:
        """Scores in the direction of ``classes_[1]``."""
        return -self.score if self.flipped else self.score

    @cached_property
    def objective(self) -> Any:
        """PenalisedFit that the model minimised on these rows; None if not known."""
        rows, w = self.floats, self.w_front
        fit = training_objective(self.model, rows, self.second_class, self.weight)
        if isinstance(fit, PenalisedFit) and rows is self.front and w.any():
            # fit.w = unit · w_front: the scores are there but for this factor.
            fit.know_scores(rows, fit.w @ w / (w @ w) * self.score)
        return fit

    @cached_property
    def near(self) -> tuple[PenalisedFit, float]:
        """The objective at its optimum on the ray of w, and its gradient there.

        Asked of an L2 penalty with a smooth loss only.
        """
        enough = largest_gradient(self.front.shape)
        return nearest_optimum(self.floats, self.second_class, self.objective, enough)

    @property
    def floats(self) -> Any:
        """The rows in front, float64 and perhaps not made."""
        return self.front.astype(float, copy=False)

    @cached_property
    def rows(self) -> Any:
        """The rows in front as an array or sparse matrix."""
        made = isinstance(self.front, StandardisedRows)
        return np.asarray(self.front) if made else in_memory(self.front)

    @property
    def samples(self) -> Any:
        """The rows in front, of which moments may be asked."""
        return self.front if isinstance(self.front, BlockMatrix) else self.rows


def score_model(
    opened: LinearModel, y, sample_weight, pos_label, *, enter=True
) -> ScoredModel:
    """Scores of the rows by a linear model of two classes.

    Parameters
    ----------
    opened : LinearModel
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    pos_label : label or None
    enter : bool, default=True
        Whether Z are the features that entered the estimator; else those in front of
        its linear model.

    Returns
    -------
    ScoredModel

    Raises
    ------
    ValueError
        If the input is bad (NaN, one class, lengths, other columns than the model's).
    """
    known = {"pos_label": pos_label, "classes": opened.classes}
    stay = isinstance(y, LabelColumn)
    positive = y.positive(**known) if stay else check_positive(y, **known)
    weight = check_weight(sample_weight, positive)
    front = opened.front
    lazy = isinstance(front, StandardisedRows | BlockMatrix)
    if not lazy or len(front) != len(positive):
        front = check_features(front, len(positive))
    if front.shape[1] != len(opened.w):
        raise ValueError(
            f"X must have the {len(opened.w)} features the model was trained on, got "
            f"{front.shape[1]}"
        )
    classes, threshold = opened.classes, opened.threshold
    if classes is None:  # a regressor on two labels cuts midway between them
        classes = y.distinct if stay else np.unique(y)
        threshold = threshold + _midpoint(classes)
    flipped = bool(pos_label == classes[0])
    # In units of the largest coefficient: only the direction and the cut matter.
    unit = np.abs(opened.w).max() or 1.0
    w, threshold = opened.w / unit, float(threshold / unit)
    if flipped:
        w, threshold = -w, -threshold
    score, sketch = _scores_and_sketch(front, w, opened if enter else None)
    scored = ScoredModel(
        Z=front,
        w=w,
        score=score,
        extremes=_extremes(score),
        positive=positive,
        weight=weight,
        threshold=threshold,
        model=opened.model,
        front=front,
        flipped=flipped,
        w_front=w,
        stages=opened.stages,
        sketch=sketch,
    )
    if not enter or not opened.stages or not w.any():
        return scored
    entered = entered_features(opened.stages, opened.X, w, y)
    return _entered(scored, entered, opened.searched)


def _scores_and_sketch(front, w, opened):
    """Scores, and a sketch of the rows that entered if these are what is read."""
    if opened is not None:
        if isinstance(front, StandardisedRows) and front.X is opened.X:
            return front.scores_and_sketch(w)
        float_rows = isinstance(front, np.ndarray) and front.dtype == np.float64
        if float_rows and not opened.stages:
            return scores_and_sketch(front, w)
        if sparse.issparse(front) and not opened.stages:
            return project_samples(front, w), sketch_of(front)
    return project_samples(front, w), None


def _extremes(score):
    """Least and largest of finite scores; one that is no number is both."""
    low, high = float(score.min()), float(score.max())
    if not -_LARGEST <= low <= high <= _LARGEST:
        found = np.array([low, high]) if isinstance(score, BlockColumn) else score
        check_score(found, len(found), name="X @ coef_", largest=_LARGEST)
    return low, high


def _entered(scored, entered, searched=False):
    """The same scores as a direction in the features that entered."""
    known = {"supervised": entered.supervised or searched}
    if entered.broken_by is not None:
        known |= {"broken_by": entered.broken_by, "sketch": None}
        return replace(scored, Z=scored.samples, **known)
    try:
        Z = entered.Z
        if not isinstance(Z, BlockMatrix):
            Z = check_features(Z, len(scored.score))
    except ValueError:  # text, or no numbers, in columns that no coefficient reaches
        return _in_front(scored, known)
    if isinstance(scored.front, StandardisedRows) and scored.front.X is Z:
        return replace(scored, Z=Z, w=entered.w, **known)  # the scores were made so
    with np.errstate(all="ignore"):
        score = project_samples(Z, entered.w)
        rest = score - scored.score
        # Two ways to one score differ by a constant: A w of x, and w of z.
        same = np.ptp(rest) <= _SAME * np.ptp(scored.score)
    if not same:  # a step that is affine on other rows, but not on these
        return _in_front(scored, known)
    return replace(scored, Z=Z, w=entered.w, sketch=None, **known)


def _in_front(scored, known):
    """The same where the way back fails: a closed form holds only if no step saw y."""
    known |= {"broken_by": "a step" if known["supervised"] else None, "sketch": None}
    return replace(scored, Z=scored.samples, **known)


def score_pairs(
    opened: LinearModel, y, sample_weight, pos_label, *, enter=True
) -> Iterator[tuple[tuple, ScoredModel]]:
    """Name and scores of each pair of classes, on the rows of that pair.

    No pair names its model: that was fitted to the rows of all classes, so nothing
    that is said of its own training rows holds for the pair.

    Parameters
    ----------
    opened, y, sample_weight, pos_label, enter
        As for :func:`score_model`; ``pos_label`` must be None.

    Yields
    ------
    name : tuple of (label, label)
    scored : ScoredModel

    Raises
    ------
    ValueError
        If the input is bad.
    """
    if pos_label is not None:
        raise ValueError(
            "pos_label must be None for more than two classes, got "
            f"{pos_label!r} with {opened.n_classes} classes"
        )
    stay = isinstance(y, LabelColumn)
    labels = y if stay else column_or_1d(y)
    codes = check_codes(y.distinct if stay else labels, opened.classes)
    front, weight = opened.front, sample_weight
    if not stay:
        front = check_features(front, len(labels))
    if weight is not None and not stay:
        weight = check_score(weight, len(labels), name="sample_weight")
    entered: Any = None
    ways: Iterable[LinearModel | None] = repeat(None)
    if enter and opened.stages:
        entered = entered_features(opened.stages, opened.X, opened.w, labels)
        # Pairs of directions in the features that entered, beside those in front.
        ways = pair_models(replace(opened, w=entered.w))
    pairs = combinations(range(opened.n_classes), 2)
    for (i, j), pair, way in zip(pairs, pair_models(opened), ways, strict=False):
        if stay:
            own = y.of(opened.classes[[i, j]])
            take = partial(_of_rows, own.rows)
        else:
            rows = np.flatnonzero((codes == i) | (codes == j))
            own, take = labels[rows], partial(take_rows, rows=rows)
        part = None if weight is None else take(weight)
        pair = replace(pair, front=take(front), model=None, stages=())
        name = tuple(pair.classes.tolist())
        scored = score_model(pair, own, part, None)
        if way is not None and scored.w.any():
            unit = np.abs(pair.w).max()
            Z = take(entered.Z)
            scored = _entered(scored, replace(entered, Z=Z, w=way.w / unit))
        yield name, scored


def _of_rows(rows, part):
    """Features or a column of some rows in blocks."""
    return part.of_rows(rows)


def _midpoint(labels):
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            "y_true must hold numbers for a regressor to be scored, got labels "
            f"{labels.tolist()}"
        )
    return float(labels.astype(float).mean())
