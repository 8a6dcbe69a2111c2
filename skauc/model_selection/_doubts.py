"""Sentences about AUCs that should not be trusted, and the warning that shows them.

A sentence names what is doubtful, how large the effect can be where that is known,
and what the user can do.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from ..intervals._sample import FEW_GROUPS, FEW_ROWS
from ..leave_pair_out._coordinates import centred_rows
from ..statistics._rows import Rows
from ..statistics._warn_caller import UntrustedAUCWarning, warn_caller
from ..statistics._weights import NOT_COUNTS, SampleWeightWarning, are_counts
from .reading._estimators import (
    has_columns,
    n_columns,
    row_keys,
    searches_in,
    take_columns,
    take_rows,
)
from .reading._steps import has_frozen

COPIES = 0.05  # share of copied rows that moves an AUC by more than its error
# Distance of a near copy, in units of the distance to the tenth neighbour, if so near
# ones have the probability _RARE by chance, and in any case if they have _RAREST. No
# real data of 22 sets of independent rows has many, but for quoted texts
_NEAR, _RARE, _RAREST, _FAR = 0.1, 1e-3, 1e-12, 0.8
_NEIGHBOURS = 10  # neighbours of a row; rows with more copies have no near copy
_ROWS_TRIED = 250  # rows whose neighbours are searched
_MOST_ROWS = 4000  # rows among which near copies are searched
_SEARCHES = [0]  # number of searches that have begun
# Shares of the sets of equal rows with both labels, in units of chance, and of the
# pairs that are equal in half of the columns
_MIXED, _WHOLE = 0.25, 0.7
_SETS = 4.0  # pairs with both labels that chance must lead to expect
# −log of the probability by chance that no set of equal rows has both labels: eight
# pairs, or one row that stands there nine times
_SURPRISE = 5.5


def begin_search() -> None:
    """Let the reasons of earlier searches be issued again."""
    _SEARCHES[0] += 1


def warn(reasons, rows=None, score=None) -> None:
    """Issue reasons as warnings; with ``rows``, once for all models of a search.

    A model whose ``score`` comes again belongs to a new search, or to a new call.
    """
    for reason in reasons:
        text = f"{reason[0].upper()}{reason[1:]}"
        kind = SampleWeightWarning if reason == NOT_COUNTS else UntrustedAUCWarning
        if rows is None:
            warn_caller(text, kind)
            continue
        models = rows.cached(("warned", _SEARCHES[0], reason), set)
        model = hash(score.tobytes())
        if not models or model in models:
            warn_caller(text, kind)
            models.clear()
        models.add(model)


# ---------------------------------------------------------------- rows and weights


def few_rows(rows) -> Iterator[str]:
    """Sentences if the rows of a class are few, or come from few groups."""
    n, groups = round(min(rows.n_neg, rows.n_pos), 9), min(rows.independent)
    if n < FEW_ROWS:
        yield (
            f"a class has only {n:g} row{'' if n == 1 else 's'}, so that the AUC is "
            "uncertain: report its interval, not only its mean"
        )
    if rows.group is not None and groups < FEW_GROUPS:
        yield (
            f"the rows of a class come from only {groups:g} groups, so that the "
            "interval may be too narrow: its width is estimated from the groups"
        )


def copies_of(model) -> list:
    """Sentence if rows of a model occur several times, exactly or nearly."""
    group, is_linear = model.front.group, model.linear is not None
    # without a linear model its rows hold the decision only
    rows = model.rows if is_linear else model.scored.content
    if group is None and (is_linear or rows.shape[1] > 1):
        found = _copies_among(rows)
        # steps may make so many rows equal that copies among the given ones hide
        if found or not model.scored.stages:
            return found
    return equal_rows(model.given_rows, model.positive, group)


def _copies_among(rows) -> list:
    """Sentence about equal and near copies, searched once for all models of rows."""
    return list(rows.cached("copies", lambda: tuple(_copies(rows))))


def _copies(rows):
    equal = count_copies(rows.X, rows.positive)
    n_copies = equal + float(np.maximum(rows.weight - 1, 0).sum())
    if n_copies >= COPIES * rows.n and are_counts(rows.weight):
        yield COPIED_ROWS.format(n_copies, rows.n)
    elif equal == 0 and (share := _near_copies(rows)) >= COPIES:
        yield (
            f"{100 * share:.0f} % of the rows have a near copy of the same class, much "
            "nearer than chance allows. It remains when a row is left out, so that the "
            'AUC is too high. Use class_weight="balanced" instead of oversampled rows, '
            "and pass groups= for several rows of one subject"
        )


def equal_rows(X, positive, groups=None) -> list:
    """Sentence if many rows of any kind occur several times, in different groups."""
    n_copies = count_copies(X, positive, groups)
    if n_copies < COPIES * len(positive):
        return []
    return [COPIED_ROWS.format(n_copies, len(positive))]


def warn_of_frozen(estimator) -> None:
    """Issue the sentence about parts that no refit changes."""
    if has_frozen(estimator):
        warn([FROZEN_IN_REFITS])


def warn_of_copies(X, positive, groups=None) -> None:
    """Issue the sentence about copies, near ones of numbers included."""
    array = np.asarray(X)
    if groups is None and array.ndim == 2 and array.dtype.kind in "biuf":
        warn(_copies_among(Rows.of(array, positive, missing=True)))
    else:
        warn(equal_rows(X, positive, groups))


def count_copies(X, positive, groups=None) -> int:
    """Number of rows that equal an earlier one of their class, if chance has few.

    0 if the labels of equal rows differ nearly as often as those of any rows, or if
    rows that are equal in half of the columns mostly differ in the other half: then
    rows are equal because they have few values.
    """
    if has_columns(X) and n_columns(X) == 1:
        return 0
    keys = row_keys(X)
    if groups is not None:  # copies within a group are left out together
        codes = np.unique(groups, return_inverse=True)[1].ravel()
        _, kept = np.unique([keys, codes], axis=1, return_index=True)
        keys, positive, X = keys[kept], positive[kept], take_rows(X, kept)
    n_neg, n_pos = _multiplicities(keys, positive)
    n_copies = int(np.maximum(n_neg - 1, 0).sum() + np.maximum(n_pos - 1, 0).sum())
    if n_copies < COPIES * len(keys):
        return 0
    # a set of m rows has both labels with probability 1 − πᵐ − (1 − π)ᵐ
    sizes, share = n_neg + n_pos, positive.mean()
    pure = share**sizes + (1 - share) ** sizes
    if np.count_nonzero(n_neg * n_pos) > _MIXED * np.sum(1 - pure):
        return 0
    if -np.log(np.maximum(pure, 1e-300)).sum() < _SURPRISE:
        return 0
    columns = np.arange(n_columns(X))
    # neighbouring columns may depend on each other, and others may be constant
    for first in (
        (columns < len(columns) // 2, columns % 2 < 1) if has_columns(X) else ()
    ):
        halves = (take_columns(X, np.flatnonzero(half)) for half in (first, ~first))
        partly = min(_pairs(row_keys(half), positive) for half in halves)
        if _pairs(keys, positive) < _WHOLE * partly:
            return 0
    return n_copies


def _multiplicities(keys, positive):
    """Numbers of negative and of positive rows with each key."""
    _, codes = np.unique(keys, return_inverse=True)
    return np.bincount(codes, ~positive), np.bincount(codes, positive)


def _pairs(keys, positive):
    """Number of pairs of equal rows of the same class."""
    return sum(float(m @ (m - 1)) / 2 for m in _multiplicities(keys, positive))


def _near_copies(rows):
    """Share of rows whose nearest row, of their class, is nearer than chance allows.

    In D dimensions the distance of the first of ten neighbours is less than r times
    that of the tenth with a probability below ``10 r^D``.
    """
    n = rows.shape[0]
    if not 2 * _NEIGHBOURS <= n <= _MOST_ROWS:
        return 0.0
    if sparse.issparse(rows.X):
        X = rows.X.multiply(rows.standard_unit).tocsr()  # distances need no centre
    else:
        X = centred_rows(rows, slice(None), True, rows.standard_unit)
        if not np.isfinite(X).all():
            return 0.0
    chosen = np.linspace(0, n - 1, min(n, _ROWS_TRIED)).astype(np.int64)
    # the nearest neighbour of a row is the row itself
    search = NearestNeighbors(n_neighbors=_NEIGHBOURS + 1, algorithm="brute").fit(X)
    distance, neighbour = search.kneighbors(X[chosen])
    same = rows.positive[neighbour[:, 1]] == rows.positive[chosen]
    first, fifth, tenth = distance[:, [1, _NEIGHBOURS // 2, _NEIGHBOURS]].T
    if not fifth.any():  # few different rows
        return 0.0
    # (fifth/tenth)^D ~ Beta(5, 5), whose upper quartile is .61
    with np.errstate(divide="ignore", invalid="ignore"):
        dimension = np.log(0.61) / np.nanquantile(np.log(fifth / tenth), 0.75)
        rare, rarest = ((p / _NEIGHBOURS) ** (1 / dimension) for p in (_RARE, _RAREST))
    near = min(max(min(rare, _NEAR), rarest), _FAR)
    # equal rows have been judged; the distance of rows that rounding changed is not 0
    gap = np.ravel(abs(X[chosen] - X[neighbour[:, 1]]).sum(axis=1))
    close = (gap > 0) & (first < near * tenth)
    share = rows.positive.mean()
    by_chance = 2 * share * (1 - share) * close.sum()
    if by_chance < _SETS or np.sum(close & ~same) > _MIXED * by_chance:
        return 0.0
    return float(np.mean(close & same))


# ------------------------------------------------------- which rows trained the model

COPIED_ROWS = (
    "{:.6g} of {:.6g} rows are copies of others (a weight of 2 counts as one copy). A "
    "copy remains when a row is left out, so that the AUC is too high. Fit each "
    "distinct row once and use class_weight, or divide the weights by the largest one"
)
ROWS_ASSUMED = (
    "it could not be detected whether these rows trained the {name}; they are assumed "
    'to be its training rows. Pass rows="training" and the sample_weight of the fit, '
    'or rows="held-out"; ResubstitutionSplit tells it in a search of all rows'
)
JUDGED_HELD_OUT = (
    "a model fitted to these rows would differ from this one, so they are treated as "
    "held-out rows. If any of them trained the model, the AUC is too high: pass "
    'rows="training" and the sample_weight of the fit, or rows="held-out" if none of '
    "them was used"
)
UNLIKE_INTERCEPTS = (
    "models with a free intercept and models with a penalized one, or none, differ "
    "more by rows left out than by this posterior, which compares training scores "
    "alone: compare them by skauc.lpo_auc_scorer or cross-validation"
)
TRAINED_A_SUBSET = (
    "these rows trained some of the models and not the others, so that their "
    "differences cannot be trusted: compare models that were fitted to the same rows"
)

# ------------------------------------------------------------------- rows left out

NO_ROWS_LEFT_OUT = (
    "there are {n_features} features for {n:g} rows and no AUC of rows left out, so "
    "that the estimate depends on the prior. Use AdaptivePrior(refits=5)"
)
SUPERVISED_STEP = (
    "{name} used y, and a single fit cannot correct for that: the AUC can be too high "
    "(few strong features) or too low (by up to 0.18 for text). Use "
    "AdaptivePrior(refits=5), which refits the whole estimator"
)
STEP_STAYS = (
    "a step in front of {name} used y, or fits the rows closely, and is not fitted "
    "again when a pair is left out, so that the AUC can be much too high. Use "
    "skauc.make_cv_auc_scorer, which refits the whole estimator"
)
RESAMPLED = (
    "{name} resampled the rows of the fit, so that only refits of the whole estimator "
    'can leave rows out: use class_weight="balanced" instead of it, or '
    "AdaptivePrior(refits=5)"
)
NO_CLOSED_FORM = (
    "no closed form holds for {name}: its AUC comes only from fits that leave rows "
    "out (20 or 5 in a report, 5 in a scorer)"
)
CLOSED_FORM_ANYWAY = (
    "no closed form holds for {name}, but one was used because no refits were made: "
    "the result can be too high. Score held-out rows"
)
FEW_MEMBERS = (
    "fewer than {least} of the {n} members of {name} compare a pair of rows that they "
    "did not see, in the mean over pairs. The AUC is that of so few, too low by about "
    ".05 (25 trees), or is computed by fits: use n_estimators={enough}"
)
FROZEN_IN_REFITS = (
    "a FrozenEstimator, or a fitted estimator whose method a step calls, is not "
    "refitted, so that no row is left out of it: if it was fitted to these rows, the "
    "AUC is too high. Pass the estimator itself"
)
REFITS_FAILED = (
    "{name} could not be refitted to resampled rows (its cv, for example, must be a "
    "splitter, not a list of folds): the AUC comes from the model of the data set "
    "alone, or, if the classifier is not linear, from its training rows, and is then "
    "far too high. bootstrap_auc shows the error of a refit"
)
STOPPED_EARLY = (
    "{name} is not at its optimum on these rows, so that the AUC comes from {source}: "
    "raise max_iter, scale the features, or pass the sample_weight of the fit"
)
TWO_ANSWERS = (
    "the AUC is {model:.2f} by the model of the data set and {left_out:.2f} by rows "
    "left out: their errors do not explain the gap (rows of very different size, or "
    "classes of very different variance). The report comes from rows left out alone; "
    "a scorer ranks by the model: rank such candidates by cross-validation"
)


def without_closed_form(model, source) -> list:
    """Sentence about a model that no closed form holds for, by the way of its AUC."""
    if source is None:
        text = CLOSED_FORM_ANYWAY.format(name=model.broken_by)
        return [] if model.linear is None else [text]
    if source.method == "out-of-bag":
        return []
    # one sentence for all models of a search
    curved = "a classifier neither linear nor an ensemble with enough rows out of bag"
    name = curved if model.linear is None else model.broken_by
    return [NO_CLOSED_FORM.format(name=name)]


# -------------------------------------------------------------------------- a search


ONE_SCORE = (
    "one score per candidate does not show how sure the differences between candidates "
    "are, so that the best score is selected. Use folds, or "
    "search_posterior(search, X, y).simplest(...) after the search"
)


OTHER_FEATURES = (
    "the candidates use {n} different sets of features, so that the search also chose "
    "features, and the AUC of the selected candidate is not corrected for that: it is "
    "too high if there are many sets. auc_posterior(search, X, y) corrects it by "
    "refits of the whole search"
)


def of_search(search) -> list:
    """Reasons why the candidates of a search cannot be compared on their rows."""
    if not hasattr(search, "factor") or search.random_state is not None:
        return []
    return [
        f"{type(search).__name__} without random_state draws other rows for every "
        "candidate of a round, so that its ranking and best_score_ cannot be trusted: "
        "pass random_state"
    ]


def scorers_of(search) -> list:
    """The scorers of a fitted search."""
    scorers = getattr(search, "scorer_", None)
    return list(scorers.values()) if isinstance(scorers, dict) else [scorers]


def split_by_groups(model) -> list:
    """Sentence if a search was split or scored as rows that depend on each other."""
    for search in (model, *(search for _, search in searches_in(model))):
        name = type(getattr(search, "cv", None)).__name__
        if any(getattr(one, "knows_groups", False) for one in scorers_of(search)):
            name = "a scorer with groups"
        elif "Group" not in name and "TimeSeries" not in name:
            continue
        in_time = "TimeSeries" in name
        remedy = "report cross_val_auc with this cv" if in_time else "pass groups="
        return [
            f"{name} was used because rows depend on each other, but the posterior "
            f"takes all rows for independent, so that the AUC is too high: {remedy}"
        ]
    return []
