"""Whether given rows trained a fitted model, decided by another fit.

One clone is fitted to the rows, and another one to a bootstrap resample of them. Let
``D = 1 − correlation`` be the distance of two score vectors. D between the model and
the first clone is compared with D_b between the two clones: D < .1 D_b if the rows
trained the model, and D of the size of D_b or larger if they did not. For solvers that
draw random numbers, further clones show how far fits to the same rows differ. Cheaper
evidence is used first: the gradient of a smooth objective is 0 on its training rows,
with an L1 penalty one of its subgradients, a scaler in front stores their means, a
support vector machine some of them. A scorer fits no clones: its rows are training rows
in a search that fits and scores all rows, and are assumed to be in all others, unless
this evidence contradicts it.
"""

from collections import deque
from functools import partial
from itertools import combinations

import joblib
import numpy as np
from scipy.sparse import issparse
from scipy.stats import f
from sklearn.base import clone
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from ..leave_pair_out._objective import stationarity
from ..statistics._moments import class_moments
from .reading._estimators import (
    TAKE_BLOCKS,
    fitted_to_rows,
    n_rows,
    numeric,
    row_contents,
    take_rows,
)
from .reading._fitted_model import FittedModel
from .reading._opened_model import OpenedModel, decisions
from .reading._steps import is_repeatable

_AT_REST = 0.01  # gradient, in units of its random walk, at which solvers stop
NEAR_REST = 0.2  # gradient at which solvers stop on badly scaled features
# Gradient beyond which other rows or weights were fitted, in units of the random walk
# of the slopes at score 0. Solvers that converged in features of similar units stop
# below .003; other rows, unless they are separated, had more than .04 (13 designs; with
# L1 and elastic net, in 15 designs of other units, means, weights and dtypes, no
# training rows of 6480 fits were taken for other rows)
_MOVED = 0.02
_TOLERANCE, _UNITS = 1e-3, 100.0  # largest tol of such a solver, and ratio of units
_SAME_MEAN = 0.01  # standard errors between equal means; other samples differ by √2
PARALLEL = 1e-6  # distance of the scores of two fits to the same rows
_SAME_ROW = 1e-6  # relative difference of a stored row from the same row
_EQUAL = 1e-10  # distance of two score vectors that differ by rounding
# D below the first share of D_b: training rows; above the second: held-out rows. With
# 22 kinds of estimators and 40 designs all training rows were detected.
_NEAR, _FAR = 0.1, 0.5
_DIRECTIONS, _BY_CHANCE = 10, 1e-3  # fewer directions: a smaller share is near
# Times the distance of two clones of the same rows, for solvers that draw (SGD and
# passive-aggressive, 20 designs)
_ALIKE, _UNLIKE, _SMALL = 2.0, 3.0, 0.3


# Verdicts: whether rows are training or held-out rows, and how that is known
DETECTED = "training (detected)"
HELD_OUT = "held-out (detected)"
ASSUMED = "training (assumed)"
CONTRACT = "training (given)"
ALL_ROWS: deque = deque(maxlen=1)  # digest of the rows that a search fits and scores


def known_verdict(question) -> str | None:
    """The user's answer, or what a conjugate prior assumes; None if rows decide."""
    if question.rows != "auto":
        return f"{question.rows} (given)"
    return None if question.adaptive else ASSUMED


def digest_of(X, y) -> str:
    """Digest of the labels and of two rows, the same in all processes."""
    ends = np.array([0, n_rows(X) - 1])
    y = np.ascontiguousarray(y)  # joblib hashes the strides, too
    return joblib.hash([y, *row_contents(take_rows(X, ends))])


def in_search(X, y) -> bool:
    """Whether the last search fits and scores these rows; by others it is over."""
    found = bool(ALL_ROWS) and digest_of(X, y) in ALL_ROWS
    if not found:
        ALL_ROWS.clear()
    return found


def judge_rows(model: FittedModel, clones, searched=False) -> str:
    """Judge whether the rows of a model trained it.

    Parameters
    ----------
    model : FittedModel
        For more than two classes, any of the pairs: the rows of all classes are judged.
    clones : bool
        Whether clones may be fitted. Otherwise rows are training rows, as a scorer
        expects, unless they contradict the fit.
    searched : bool, default=False
        Whether a search fits and scores all rows, so that only weights may differ.

    Returns
    -------
    Verdict
        ``training (assumed)`` if it cannot be decided.
    """
    scored = model.scored
    if scored.bag is not None:  # its members were fitted to these rows
        return DETECTED
    # by gradient and scaler, then by clones
    opened = scored.opened
    repeatable = opened.resampled_by is None and all(
        is_repeatable(step) for step, _ in scored.entered.fitted
    )
    if searched:  # its weights may not reach the scorer, or these rows came before
        kept = _keeps_rows(scored, strict=True)
        return ASSUMED if repeatable and (kept is False or _moved(model)) else CONTRACT
    gradient, same = np.inf, None
    if repeatable:
        same = _same_means(scored)
        same = _keeps_rows(scored, not clones) if same is None else same
        # with 1 or 2 features it is small on other rows, too, once in a hundred cases
        free = min(len(model.score), int(np.count_nonzero(model.w_front)))
        if free > 2 and is_parallel(model):
            gradient = stationarity(model.fit, model.front)
        if gradient <= _AT_REST:
            return DETECTED
        if same is False and not scored.dropped:  # it may have seen weight 0
            return HELD_OUT
        # without a gradient, a clone that does not draw shows weights not passed
        alone = np.isinf(gradient) and (not clones or _draws(opened.whole))
        if same and (gradient <= NEAR_REST or alone):
            return DETECTED
    if not clones:
        return HELD_OUT if repeatable and not same and _moved(model) else ASSUMED
    verdict = _by_clones(scored, repeatable and opened.linear is not None)
    # the step had these rows, but the model other weights or another order
    return ASSUMED if same and verdict is HELD_OUT else verdict


def is_parallel(model) -> bool:
    """Whether a fit is known, and has the model's direction."""
    if model.fit is None:  # a discriminant is solved again: its direction may differ
        return False
    return distance(model.fit.score(model.front.X), model.score) <= PARALLEL


def _moved(model):
    """Whether the objective is clearly not at its optimum on these rows."""
    fit, front, linear = model.fit, model.front, model.linear
    units = front.standard_unit
    units = units[units > 0]
    if fit is None or not len(units):
        return False
    steps, most = (getattr(linear, name, None) for name in ("n_iter_", "max_iter"))
    stopped = steps is not None and most is not None and np.max(steps) >= most
    stopped |= "sag" in str(getattr(linear, "solver", ""))  # by the coefficients alone
    tol = getattr(linear, "tol", 0.0)
    if stopped or tol > _TOLERANCE or units.max() > _UNITS * units.min():
        return False  # such solvers leave a gradient on their training rows, too
    sign = front.sign
    slopes = (fit.objective.loss.slope(z, sign) for z in (fit.score(front.X), 0 * sign))
    here, at_zero = (np.sqrt(np.mean(slope**2)) for slope in slopes)
    # solvers stop where the mean gradient of every feature is below tol
    left = tol * np.sqrt(front.n) * units.max()
    most = (_MOVED * at_zero + left) / max(here, 1e-300)
    return bool(stationarity(fit, front, enough=most) > most)


def judge_blocks(sample, blocks, matrix, codes, weight, question):
    """Whether all rows trained a model: by its gradient, its scaler, or another fit."""
    model, opened = sample.model, sample.model.scored.opened
    # the objective of a discriminant is that of the sample: its direction differs
    if is_parallel(model) and stationarity(model.fit, sample.all_rows) <= NEAR_REST:
        return DETECTED
    if opened.steps and type(opened.steps[0]) is StandardScaler:
        return _by_means(opened.steps[0].mean_, matrix, codes, weight)
    if not question.is_report or not isinstance(opened.whole, TAKE_BLOCKS):
        return ASSUMED  # a scorer fits nothing
    again, X = OpenedModel.of(clone(opened.whole).fit(blocks)), model.front.X
    same = distance(X @ opened.W.T, X @ again.W.T) <= PARALLEL
    return DETECTED if same else HELD_OUT


# ------------------------------------------------------------------ steps in front

_KEEP_MEANS = StandardScaler, PCA, IncrementalPCA


def _same_means(scored):
    """Whether the first scaler or PCA in front keeps the means of these rows, or None.

    None if no such step keeps means of dense rows.
    """
    for step, rows in scored.entered.fitted:
        if type(step) not in _KEEP_MEANS or step.mean_ is None:
            continue  # its rows may be texts
        X = numeric(rows)
        if not issparse(X):
            kept = step.mean_
            n, eps = len(X), np.finfo(X.dtype if X.dtype.kind == "f" else float).eps
            error = np.nanstd(X, axis=0, dtype=float) / np.sqrt(n)
            # a scaler may have been fitted with or without the weights
            means = [np.nanmean(X, axis=0)]
            if scored.weight is not None:
                valid = np.ma.masked_invalid(X)
                means.append(np.ma.average(valid, axis=0, weights=scored.weight).data)
            # n eps is the rounding of a sum of n numbers
            rounding = n * eps * np.abs(kept)
            return any(equal_means(mean, kept, error, rounding) for mean in means)
    return None


def equal_means(mean, kept, error, rounding=0.0) -> bool:
    """Whether the means of the columns differ by less than .01 standard errors."""
    varies = error > 0
    if not varies.any():
        return True
    gap = np.maximum(np.abs(kept - mean) - rounding, 0.0)[varies] / error[varies]
    return bool(np.sqrt(np.mean(gap**2)) < _SAME_MEAN)


def _by_means(kept, matrix, codes, weight):
    """Compare the means that a scaler kept with those of all rows."""
    if kept is None:
        return ASSUMED
    neg, pos = class_moments(matrix, codes == codes[0], weight, featurewise=True)
    all_rows = neg + pos
    if equal_means(all_rows.mean, kept, np.sqrt(all_rows.scatter) / all_rows.n):
        return DETECTED
    # a scaler that took no weights has other means
    return ASSUMED if np.any(weight != 1) else HELD_OUT


def _keeps_rows(scored, strict):
    """Whether a model keeps class means or support vectors of these rows, or None.

    Means and vectors of rounded rows, or of most of the rows, are nearly the same:
    False is returned for them, and for another number of rows, if ``strict``.
    """
    opened, front, y = scored.opened, scored.front, scored.y
    if scored.dropped or scored.weight is not None:
        return None
    model = opened.curved if opened.linear is None else opened.linear
    if isinstance(model, LinearDiscriminantAnalysis):
        if not np.isin(model.classes_, y).all():
            return False
        means = np.array([front[y == label].mean(axis=0) for label in model.classes_])
        error = np.std(front, axis=0) / np.sqrt(len(y)) + np.zeros(means.shape)
        same = equal_means(means, model.means_, error)
    elif not getattr(model, "support_vectors_", np.empty(0)).shape[0]:
        # neighbours keep their number of rows; other models keep nothing
        same = getattr(model, "n_samples_fit_", None) in (None, len(y))
        return None if same or not strict else False
    elif same := model.support_.max() < len(y):
        rows = numeric(take_rows(scored.behind, model.support_))
        gap = abs(rows - model.support_vectors_)
        same = (gap - _SAME_ROW * abs(model.support_vectors_)).max() <= 0
    return True if same else False if strict else None


# -------------------------------------------------------------------------- clones


def _by_clones(scored, repeatable):
    """Verdict of the first training that explains the model, or of the last."""
    verdict, score = ASSUMED, scored.scores - scored.opened.cut
    for training in _trainings(scored, repeatable):
        try:
            verdict = _compare(training, score)
        except Exception:  # a clone cannot be fitted to these rows
            return ASSUMED
        if verdict is DETECTED:
            break
    return verdict


def _trainings(scored, repeatable):
    """Yield the fits that may have trained the model: with and without weights.

    An estimator, its rows, labels and weights, and the rows that clones score.
    """
    X, y, weight, whole = scored.X, scored.y, scored.weight, scored.opened.whole
    # the linear model alone, on the rows in front
    part = (scored.opened.linear, scored.front) if repeatable else (whole, X)
    for w in (weight, None) if weight is not None else (None,):
        yield *part, y, w, part[1]
    if scored.dropped:  # with the rows of weight 0
        all_rows, labels, all_weights = scored.as_given
        for w in (all_weights, None):
            yield whole, all_rows, labels, w, X


def _scores_of_clone(estimator, X, y, weight, rows, name):
    """Scores (n, k) of rows by a clone fitted to all of X, or to a "resample"."""
    drawn, rng = np.arange(len(y)), np.random.default_rng(0)
    if name == "resample":  # a stratified bootstrap sample
        labels = (drawn[y == label] for label in np.unique(y))
        drawn = np.concatenate([rng.choice(mine, len(mine)) for mine in labels])
    return decisions(fitted_to_rows(estimator, X, y, weight, drawn), rows)


def _compare(training, score):
    """Judge by the distance from a clone, in units of that between two clones."""
    clone_of, measure = partial(_scores_of_clone, *training), distance
    first = clone_of("clone")
    D = distance(score, first)
    if D <= _EQUAL and _gap(score, first) <= _EQUAL:
        return DETECTED
    other = clone_of("resample")
    unit = distance(other, first)
    if min(unit, 2 - unit) <= _EQUAL:  # all scores of one feature are parallel
        measure = _gap
        D, unit = measure(score, first), measure(other, first)
    if not np.isfinite(D + unit):
        return ASSUMED
    # D/D_b of other rows is about F(d − 1, d − 1) in d directions, because D is free of
    # scale: small by chance if d is
    estimator, *_, rows = training
    free = max(min(getattr(rows, "shape", (np.inf,))) - 1, 1)
    by_chance = f.ppf(_BY_CHANCE, free, free) if free < _DIRECTIONS - 1 else 1.0
    if D <= min(_NEAR, by_chance) * unit:
        return DETECTED
    clones = [first]
    if _draws(estimator):
        clones.append(clone_of("again"))
        if measure(*clones) > _EQUAL:
            clones.append(clone_of("once more"))
    # mean distances of the model from clones, and between clones of the same rows
    D = np.mean([measure(score, clone) for clone in clones])
    chance = np.mean([measure(a, b) for a, b in combinations(clones, 2)] or 0.0)
    if D <= min(_ALIKE * chance, _SMALL * unit):
        return DETECTED
    if measure is distance and 2 - D <= _EQUAL:
        return ASSUMED  # the same fit in reverse: chance may reverse a fit to noise
    return HELD_OUT if D > _FAR * unit + _UNLIKE * chance else ASSUMED


def _draws(estimator):
    """Whether two fits to the same rows may differ by chance."""
    params = estimator.get_params()
    return any(
        not isinstance(seed, int | np.integer)
        for name, seed in params.items()
        if name.endswith("random_state")
        # a support vector machine draws for its probabilities alone
        and params.get(f"{name.removesuffix('random_state')}probability", True) is True
    )


def distance(a, b):
    """``1 − correlation`` of the scores, over all columns; NaN if one is constant."""
    a, b = (np.reshape(s, (len(s), -1)) for s in (a, b))
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(1 - np.vdot(a, b) / np.sqrt(np.vdot(a, a) * np.vdot(b, b)))


def _gap(a, b):
    """Mean square difference of the scores over their variance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(((a - b) ** 2).mean() / b.var())
