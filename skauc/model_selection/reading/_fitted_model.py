"""The scores of a fitted linear model on given rows, computed once.

All computations about a model start from :class:`FittedModel`: it holds the scores,
the direction in the features that entered (:mod:`._steps`), the rows in front of the
linear model, and the objective that the model minimised there (:mod:`._objective_of`).
For more than two classes there is one for each pair.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ..._validation import (
    check_codes,
    check_features,
    check_groups,
    check_labels,
    check_score,
    check_weight,
    positive_and_label,
)
from ...statistics._checks import columns_named
from ...statistics._row_blocks import refuse_collection
from ...statistics._rows import Rows
from ...statistics._weights import are_counts
from ._ensemble import Bag, bag_of
from ._estimators import n_columns, n_rows, take_rows
from ._objective_of import objective_of
from ._opened_model import NOT_LINEAR, NotLinearError, OpenedModel
from ._steps import entered_features, has_frozen

_LARGEST = 1e70  # size of the largest score: its square and sums do not overflow
_SAME = 1e-6  # share of the range of the scores that is rounding
_FAR = 1e-7  # deviation, as a share of the mean, below which a prior sees no feature
# Components per row from which on a step adapts itself to the rows, and has done so
_ADAPTING = 1 / 16, 7 / 16
ADAPTED = 0.5  # of it, from which on no row is left out behind the step by pairs alone


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """An opened estimator and its scores of all rows of positive weight.

    Parameters
    ----------
    estimator : fitted estimator
        As the user gave it.
    opened : OpenedModel
    X, y, weight : rows of the user's kind, ndarray of shape (n,), ndarray or None
        Rows of positive weight.
    as_given : tuple (X, y, weight)
        The rows of weight 0 included.
    stages : list of (step, its input, its output)
    front : ndarray or CSR matrix of shape (n, P)
        Rows in front of the linear model.
    group : ndarray of int of shape (n,) or None
        Group of each row; None if rows are independent.
    clones : dict
        Scores by clones that left rows out, which pairs of classes share.
    """

    estimator: object
    opened: OpenedModel
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    as_given: tuple
    stages: list
    front: Any
    group: np.ndarray | None = None
    clones: dict = field(default_factory=dict, init=False, repr=False)

    @property
    def dropped(self) -> bool:
        """Whether there were rows of weight 0."""
        return len(self.as_given[1]) > len(self.y)

    @cached_property
    def codes(self) -> np.ndarray:
        """Class of each row, from 0."""
        return np.unique(self.y, return_inverse=True)[1]

    @cached_property
    def content(self) -> Rows:
        """The rows as they were given; their decisions if they are not numbers."""
        last = self.codes == self.codes.max()
        try:
            X = check_features(self.X, len(self.y))
            return Rows.of(X, last, missing=True)
        except (TypeError, ValueError):  # texts, categories, or missing values
            return Rows.of(self.front, last)

    @cached_property
    def scores(self) -> np.ndarray:
        """``front @ Wᵀ`` of shape (n, k), without intercepts."""
        return np.asarray(self.front @ self.opened.W.T)

    @cached_property
    def entered(self):
        """:class:`EnteredFeatures` of all k directions."""
        W = self.opened.W
        if self.opened.linear is None:  # steps are judged, and no direction leads back
            W = np.zeros((1, n_columns(self.behind)))
        return entered_features(self.stages, self.X, W.T, self.y)

    @property
    def behind(self):
        """Rows behind all steps, of any kind."""
        return self.stages[-1][2] if self.stages else self.X

    @cached_property
    def adapted(self) -> float:
        """How far a step in front has adapted itself to single rows, 0 to 1."""
        return np.interp(self.entered.components / len(self.y), _ADAPTING, (0.0, 1.0))

    @property
    def moved(self) -> bool:
        """Whether a step was fitted to these rows in front of the model."""
        return bool(self.entered.fitted)

    @cached_property
    def bag(self) -> Bag | None:
        """Votes of the members of an ensemble; None if not known, or after use of y."""
        opened = self.opened
        used = opened.resampled_by or opened.searched_by
        if opened.curved is None or used or self.entered.saw_y:
            return None
        if self.adapted >= ADAPTED or has_frozen(opened.curved):
            return None
        kept = np.flatnonzero(self.as_given[2]) if self.dropped else None
        return bag_of(opened.curved, self.behind, self.front, self.y, self.weight, kept)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted linear model of two classes on some rows.

    Parameters
    ----------
    scored : ScoredRows
        Rows and scores of all classes.
    mix : ndarray of shape (k,)
        The direction is ``mix @ W``, with 1 as its largest coefficient.
    threshold : float
        The classifier predicts positive where ``score > threshold``.
    score : ndarray of shape (n,)
        Larger is more positive; ``rows.X @ w`` up to a constant.
    positive : ndarray of bool of shape (n,)
    which : ndarray of int of shape (n,), or slice
        The rows of the pair among those of all classes.
    pos_label : label
    pair : tuple of (label, label) or None
        The two classes among more than two.
    flipped : bool
        Whether the positive class is ``classes_[0]``.
    """

    scored: ScoredRows
    mix: np.ndarray
    threshold: float
    score: np.ndarray
    positive: np.ndarray
    which: Any
    pos_label: Any
    pair: Any = None
    flipped: bool = False

    @property
    def estimator(self) -> object:
        """The fitted estimator as the user gave it."""
        return self.scored.estimator

    @property
    def linear(self) -> Any:
        """The linear model; None for a classifier that is not linear."""
        return self.scored.opened.linear

    @property
    def name(self) -> str:
        """Class name of the model, for error and warning texts."""
        opened = self.scored.opened
        return type(opened.curved if self.linear is None else self.linear).__name__

    @property
    def given_rows(self):
        """The rows of this model as they were given."""
        X = self.scored.X
        return X if self.pair is None else take_rows(X, self.which)

    @cached_property
    def front(self) -> Rows:
        """Features in front of the linear model."""
        return self._rows(self.scored.front)

    @cached_property
    def w_front(self) -> np.ndarray:
        """Direction in front of the linear model, of shape (P,)."""
        return self.mix @ self.scored.opened.W

    @property
    def rows(self) -> Rows:
        """The features that entered; those in front if no closed form holds."""
        return self._entered[0]

    @property
    def w(self) -> np.ndarray:
        """Direction in :attr:`rows`, of shape (P,)."""
        return self._entered[1]

    @property
    def saw_y(self) -> str | None:
        """Class name of a step in front, or of a search around it, that used y."""
        return self._entered[2]

    @property
    def broken_by(self) -> str | None:
        """Class name of the step (or classifier) behind which no closed form holds."""
        return self._entered[3]

    @property
    def fit(self) -> Any:
        """:class:`Fit` at :attr:`front` towards the positive class; None if unknown."""
        return self._fit_and_reason[0]

    @property
    def fit_reason(self) -> str | None:
        """Why rows cannot be left out of ``fit``, as half a sentence, or None."""
        return self._fit_and_reason[1]

    def _rows(self, X):
        """Rows of this model from rows of all classes."""
        given = self.scored.group, self.scored.weight
        group, weight = (v if v is None else v[self.which] for v in given)
        if group is not None and not are_counts(weight):
            weight = weight / weight.mean()  # only their ratios matter in groups
        X = X if self.pair is None else X[self.which]
        return Rows.of(X, self.positive, weight, group).as_counts()

    @cached_property
    def _entered(self):
        """Rows, direction, step that used y, step that rules out a closed form."""
        opened = self.scored.opened
        used = opened.resampled_by or opened.searched_by
        if self.linear is None:
            return self.front, self.w_front, self.name, self.name
        if not opened.steps or not self.w_front.any():
            return self.front, self.w_front, used, None
        entered = self.scored.entered
        used = entered.saw_y or used
        rows = None if entered.broken_by else self._entered_rows(entered)
        if rows is not None:
            return rows, entered.W @ self.mix, used, None
        # also if the steps are not affine on these rows
        return self.front, self.w_front, used, entered.broken_by or entered.saw_y

    def _entered_rows(self, entered):
        """Rows of the features that entered; None if digits are lost there."""
        try:
            X = check_features(entered.features, len(self.scored.y))
        except ValueError:  # texts in columns that no coefficient reaches
            return None
        rows = self.front if X is self.scored.front else self._rows(X)
        mean, square = rows.spread
        if np.any((square > 0) & (square <= rows.n * (_FAR * mean) ** 2)):
            return None
        with np.errstate(all="ignore"):
            # (A w)ᵀx and wᵀz may differ by a constant only
            rest = np.ptp(rows.X @ (entered.W @ self.mix) - self.score)
            return rows if rest <= _SAME * np.ptp(self.score) else None

    @cached_property
    def _fit_and_reason(self):
        """The fit, or the reason why there is none."""
        if self.linear is None:
            return None, f"{self.name} is not linear"
        if self.pair is not None:
            return None, f"{self.name} was trained on more than two classes"
        if self.scored.opened.resampled_by is not None:
            return None, f"{self.scored.opened.resampled_by} resampled the rows"
        return objective_of(self.linear, self.front, flipped=self.flipped)


def fitted_models(
    estimator,
    X,
    y,
    sample_weight=None,
    *,
    pos_label=None,
    groups=None,
    any_classifier=False,
) -> list:
    """Open a fitted estimator and score rows with it.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    pos_label : label or None
        None takes ``classes_[1]``; must be None for more than two classes.
    groups : array-like of shape (n,), default=None
        Groups of rows that depend on each other.
    any_classifier : bool, default=False
        Whether a classifier that is not linear is scored, too: its decisions are the
        only features, ``linear`` is None, ``broken_by`` is its class.

    Returns
    -------
    list of FittedModel
        One for two classes, otherwise one per pair of classes i < j, each on the rows
        of the pair and in the direction of j.

    Raises
    ------
    sklearn.exceptions.NotFittedError, NotLinearError, TypeError
        As :meth:`OpenedModel.of`.
    ValueError
        If the input is bad (NaN, one class, lengths, other columns than the model's).
    """
    opened = OpenedModel.of(estimator)
    if opened.linear is None and not any_classifier:
        raise NotLinearError(NOT_LINEAR.format(name=type(opened.curved).__name__))
    refuse_collection("X", X)
    labels, several = check_labels(y), opened.n_classes > 2
    if not several:
        positive, pos_label = positive_and_label(
            labels, pos_label=pos_label, classes=opened.classes
        )
    elif pos_label is None:
        codes = check_codes(labels, opened.classes)
        positive = codes == codes.max(initial=0)
    else:
        raise ValueError(
            f"pos_label must be None for more than two classes, got {pos_label!r} with "
            f"{opened.n_classes} classes"
        )
    weight = check_weight(sample_weight, positive)
    scored = _scored_rows(estimator, opened, X, labels, weight, groups)
    return _pair_models(scored) if several else [_binary_model(scored, pos_label)]


def _scored_rows(estimator, opened, X, labels, weight, groups):
    """Scores of the rows of positive weight."""
    as_given, group = (X, labels, weight), check_groups(groups, len(labels))
    if n_rows(X) != len(labels):
        raise ValueError(
            f"X must have the {len(labels)} rows of y_true, got {n_rows(X)} rows"
        )
    # rows of weight 0 are dropped here, so that nothing behind this sees them
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        X, labels, weight = take_rows(X, kept), labels[kept], weight[kept]
        group = None if group is None else group[kept]
    stages, front = opened.stages(X)
    if opened.linear is not None:
        opened.check_front(front)
        front = check_features(front, len(labels))
        if front.shape[1] != opened.W.shape[1]:
            raise ValueError(
                f"X must have the {opened.W.shape[1]} features that the model was "
                f"trained on, got {front.shape[1]}"
            )
        opened.check_ranks(front)
    front = front.astype(float, copy=False)
    if group is not None and len(np.unique(group)) == len(group):
        group = None  # groups of one row are independent rows
    return ScoredRows(
        estimator, opened, X, labels, weight, as_given, stages, front, group
    )


def _binary_model(scored, pos_label):
    """Model of two classes, in the direction of the positive class."""
    classes, shift = scored.opened.classes, 0.0
    if classes is None:  # a regressor on two labels is cut midway between them
        classes = np.unique(scored.y)
        if classes.dtype.kind not in "biuf":
            raise ValueError(
                "y_true must hold numbers for a regressor to be scored, got labels "
                f"{classes.tolist()}"
            )
        shift = float(classes.astype(float).mean())
    flipped = bool(pos_label == classes[0])
    mix = np.array([-1.0 if flipped else 1.0])
    return _model(scored, mix, pos_label, shift=shift, flipped=flipped)


def _pair_models(scored):
    """Models of all pairs of classes i < j, each on the rows of its pair."""
    opened, k, models = scored.opened, np.eye(len(scored.opened.W)), []
    for number, (i, j) in enumerate(combinations(range(opened.n_classes), 2)):
        # W has a row for each pair, or s = (w_j − w_i)ᵀz
        mix = k[number] if opened.one_vs_one else k[j] - k[i]
        classes = opened.classes[[i, j]]
        which = np.flatnonzero(np.isin(scored.y, classes))
        positive_and_label(scored.y[which], classes=classes)
        pair = tuple(classes.tolist())
        models.append(_model(scored, mix, pair[1], which, pair=pair))
    return models


def _model(scored, mix, pos_label, which=slice(None), *, shift=0.0, **known):
    """Model of a direction, scaled so that its largest coefficient is 1."""
    opened = scored.opened
    mix = mix / (np.abs(mix @ opened.W).max() or 1.0)
    score, positive = scored.scores[which] @ mix, scored.y[which] == pos_label
    with columns_named(scored.X):
        score = check_score(score, len(positive), name="X @ coef_", largest=_LARGEST)
    cut = float(mix @ (opened.cut + shift))
    return FittedModel(scored, mix, cut, score, positive, which, pos_label, **known)
