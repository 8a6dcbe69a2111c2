"""Leave-one-out scores of all rows of a penalised linear fit, for n ≫ P.

With g and ω the slope and curvature of a row's loss and ``H = Aᵀ diag(ω) A + Λ`` the
Hessian in features A less their ω-weighted mean, the leverage ``h_i = a_iᵀH⁻¹a_i``
gives the score of a row under the fit without it,

    z_i + h_i g_i/(1 − ω_i(h_i + e)),   e = 1/(Σω + ρ),

up to what the intercept does, whose penalty is ρ: without the row it moves by another
``e g_i/(1 − ω_i(h_i + e))``, down for a positive and up for a negative. Between two
rows left out *together*, as in leave-pair-out, that part cancels: it moves both. So it
is left out here, and the pooled scores have none of the pessimism of leave-one-out
(which grows with imbalance). What the two rows of a pair do to each other is told by
the pairs of a sample (:mod:`._left_out_pairs`), and so is what slopes that are no
straight lines do (:mod:`._bent_steps`).

Where a weak penalty lets the rows with curvature be fitted one by one, ``ω_i(h_i + e)``
comes near 1, and e decides. So does then what a solver has left of the gradient G: it
moves the score by another ``−a_iᵀH⁻¹G/(1 − ω_i(h_i + e))``. Where that is not small
beside the steps, the fit is to be taken further to its optimum.

The steps are of order P/n. Of very many rows a sample makes the Hessian. Of many
features, in which no two rows are near, rows are left out one by one, and one curvature
stands for all but the row's own, so that models share a decomposition
(:mod:`._eigenrows`).

An L1 penalty leaves the features with w ≠ 0 (Rad & Maleki 2020,
https://doi.org/10.1111/rssb.12374).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..statistics._block_column import BlockColumn, made_column
from ..statistics._columns import class_sums, made_beside
from ..statistics._numerics import TINY
from ..statistics._ranks import auc_in_order, delong_covariance, placements
from ._bent_steps import bends, bent_push
from ._eigenrows import eigenrows, has_eigenrows
from ._inverse_root import InverseRoot, of_intercept, squares
from ._left_out_pairs import (
    LeftOutRows,
    between_classes,
    moved_by_pairs,
    one_of_equal,
)
from ._objective import ask_again, unscaled
from ._pairs import are_equal, even_sample, sample_rows

# Rows that make the Hessian, so many a feature at least, and rows that are left out.
# Root mean square error of the AUC, 6 data sets and 3 values of C: 5000 × 50 normal
# .0002, t(3) .0003, 6 % positives .0004 (what is taken off: .009, .007, .021; with 1000
# rows left out .0001, .0004, .0003), 20 000 × 50 and 5000 × 10 at most .0001.
_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE, _LEFT_OUT_ROWS = 1000, 20, 500
# Rows of a class of which the pairs are left out. The AUC less that of 1000 a class, of
# its standard error, root mean square: 400 to 20 000 rows of signs, categories of 4 to
# 300 levels, 50 to 300 normal and t(3) features, weak and strong penalties, at most .03
# beside the steps of all rows, .08 beside those of 500.
_PAIRED_ROWS = 100
# What `bends` says of logistic regression, from which on the rows of the pairs are
# taken to the minimum on their line. 800 rows of a category, 5 a level, C = 1, 10 and
# 100: .08, .18, .09, where the AUC by Newton's steps less that of exact refits is
# +.003, +.023, +.023; 8 a level: +.002, +.010, +.010; 20 a level: .06, .09, .08, 0 to
# +.001. At the minima: less than .0005. 400 × 40 normal, 8 % positives, .035: +.005 and
# +.001. Normal and t(3) rows with 30 % positives say .02 or less. A squared hinge is
# exact without (5 a level), and off by +.011 with it (400 × 40, 8 % positives).
_BENT = 0.02
# The rows' own share in how they are held: beyond, they are not near, and the fit
# leaves the line. A category with 1.6 rows a level, C = 100, .36 to .40: +.04 to +.06
# too high by Newton's steps, at the minima −.001 to +.009 (8 data sets each of
# 1000 × 600, with and without a signal and five numbers beside). Normal, rare positives
# and nearly separated, 400 × 20, 600 × 30, 400 × 60: up to .35 the minima are as near
# or nearer, from .37 to .59 farther, by .001 to .008.
_ALONE = 0.5
_FEW_LOOSE = 0.01  # rows of which the others hold nothing: their scores stay
# What the rest of the gradient may add, of a step (standard deviations). The AUC is off
# by less than .002 up to .02, by .005 at .026, .02 at .04 to .05, .14 from .2 on (500 ×
# 150 to 1500 × 750; logistic C up to 10⁴, squared hinge up to 25).
_SETTLED = 0.02
# The rows' own share in how they are held, of which one curvature still tells: beyond,
# e and the rest of the gradient count. Logistic regression with P = n/2, C = 1: .85,
# 100: .97; squared hinge, C = .03: .8, .25: .98.
_CROWDED = 0.9
# Rows of the smaller class, of the features, from which one curvature stands for those
# of both classes. 1000 × 100, logistic, C = 1, 5 data sets: 20 are off by −.11 of exact
# leverages, 50 by −.007; 1000 × 300: 10 by −.65.
_BOTH_CURVED = 0.5
# Of a squared hinge the share beyond which hardly a row inside the margin is left for a
# feature, so that others come in when one goes. LinearSVC, C = 100, nearly separated,
# 250 × 40 to 490 × 60: up to .73 the AUC is right, from .80 off by .018, from .90 by
# .03 to .05 (root mean square; .632+ by .003 to .017). 560 × 102, .81 to .90: by −.006
# to +.010.
_FEW_INSIDE, _ROWS_A_FEATURE, _FEW_FEATURES = 0.8, 5, 99


def leave_one_out_auc(fit, X, positive, weight, further=None, remember=ask_again):
    """AUC of the rows, each under the fit without it, and DeLong's variance.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
        With a smooth loss, at its optimum.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)
        Frequency weights, positive.
    further : callable ``() -> fit or None``, default=None
        Takes the fit to its optimum; asked where it is not near enough, beside how
        weakly the rows are held.
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone for the next fit.

    Returns
    -------
    auc, variance : float
        NaN where the optimum is not reached.

    Notes
    -----
    O(nP²), and O(nP) beyond some thousand rows. Of many features what is O(nP²) is
    remembered, and the next fit costs O(nP) (:mod:`._eigenrows`).
    """
    z, g, curvature = fit.slopes(X, positive)
    limit = max(_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE * X.shape[1])
    if isinstance(z, BlockColumn) and len(z) > 2 * limit:
        columns = z, g, curvature, weight
        return _auc_of_blocks(fit, X, positive, columns, limit // 2)
    z, g, curvature, positive, weight = map(
        made_column, (z, g, curvature, positive, weight)
    )
    columns = z, g, curvature, positive, weight
    found = _of_one_curvature(fit, X, columns, remember)
    if found is not None:
        return found
    if len(z) <= 2 * limit:
        return _of_all_rows(fit, X, columns, further, remember)
    return _of_some_rows(fit, X, columns, limit // 2)


def _of_all_rows(fit, X, columns, further, remember):
    """The same with the leverages of all rows."""
    z, g, curvature, positive, weight = columns
    found, held = _turned(fit, X, columns, remember), None
    if found is None:
        held = InverseRoot.of_fit(fit, X, curvature)
        found = held.leverages_and_rest(X, g)
    h, rest = found
    e = of_intercept(fit, curvature)
    every = LeftOutRows.of_fit(z, g, curvature, weight, h, e)
    if np.average(every.freed == 0, weights=weight) > _FEW_LOOSE:
        return np.nan, np.nan
    by_rest = _spread(rest * every.freed, weight)
    by_step = _spread(h * every.push, weight)
    if further is not None and by_rest > _SETTLED * by_step:
        fit = further()
        if fit is None:
            return np.nan, np.nan
        return leave_one_out_auc(fit, X, positive, weight, None, remember)
    own = curvature @ (every.curvature * h) / max(curvature.sum(), TINY)
    few = X.shape[1] <= min(weight.sum() / _ROWS_A_FEATURE, _FEW_FEATURES)
    if fit.loss == "squared_hinge" and few and own > _FEW_INSIDE:
        return np.nan, np.nan
    ranked = [_in_order(score, positive, weight) for score in (z, every.alone)]
    of_fit, one_by_one = (_of_ranked(*rows) for rows in ranked)
    if held is None or own > _ALONE:
        return one_by_one
    some, count = sample_rows(z, positive, weight, _PAIRED_ROWS)
    rows, half, of_class = every[some], held.half(X[some]), positive[some]
    between = between_classes(half, of_class)
    told = rows, between, of_class, count, weight.sum(), e
    if fit.loss == "logistic" and bends(*told) > _BENT:
        push = bent_push(fit, X, columns[:4], held, rows, some, half, e)
        rows = replace(rows, push=push)
    moved = moved_by_pairs(ranked, rows, between, of_class, count, e)
    return _within(of_fit[0] + moved), one_by_one[1]


def _of_some_rows(fit, X, columns, limit):
    """The same where a sample of each class makes the Hessian, and is left out."""
    z, g, curvature, positive, weight = columns
    order, alike = np.argsort(z), are_equal(weight)
    ranked = positive[order]
    classes = [order[np.flatnonzero(c)] for c in (~ranked, ranked)]
    # each of these rows carries the same share of the curvature of its class
    curved, mass = even_sample(classes, curvature, limit)
    one = float(weight[0]) if alike else weight
    rows, count = even_sample(classes, one, _LEFT_OUT_ROWS // 2)
    raw, *unit = unscaled(X)
    held = InverseRoot.of_fit(fit, raw[curved], mass, unit, sampled=True)
    some = z[rows], g[rows], curvature[rows], weight[rows]
    counts = (weight, [weight]) if alike else (weight[order],)
    of_all = _of_ranked(z[order], ranked, *counts)
    e = of_intercept(fit, mass)
    return _of_sample(of_all, held.half(raw[rows]), some, positive[rows], count, e)


def _of_one_curvature(fit, X, columns, remember):
    """The same with the leverages of :class:`Eigenrows`; None where there are none."""
    z, g, curvature, positive, weight = columns
    if not has_eigenrows(fit, X, remember):
        return None
    if class_sums(positive, weight).min() < _BOTH_CURVED * X.shape[1]:
        return None
    kept = eigenrows(fit, X, positive, weight, remember)
    found = kept and kept.without_a_row(curvature, weight, fit.l2)
    if found is None:
        return None

    e = of_intercept(fit, curvature)

    def left_out(alpha, rows=slice(None)):
        h = alpha / (1 + curvature[rows] * alpha)
        columns = z[rows], g[rows], curvature[rows], weight[rows]
        return LeftOutRows.of_fit(*columns, h, e).alone

    every, some = found
    # δωh = δωα/(1 + ωα) of the row that is left out, the mean over the curvature
    own = curvature * every
    own = one_of_equal(weight) * own / (1 + own)
    if curvature @ own > _CROWDED * curvature.sum():
        return None
    rows, by_size = kept.rows, left_out(every)
    sampled, count = positive[rows], kept.mass * weight[rows]
    of_all = _auc_and_variance(by_size, positive, weight)
    before, after = (
        _auc_and_variance(s, sampled, count)
        for s in (by_size[rows], left_out(some, rows))
    )
    return _moved(of_all, before, after)


def _turned(fit, X, columns, remember):
    """Leverages and rest in single precision; None of rows that are not kept so."""
    _, g, curvature, positive, weight = columns
    w = curvature.sum() / weight.sum()
    kept = eigenrows(fit, X, positive, weight, remember)
    if kept is None or fit.intercept_penalty > 0 or not kept.turns(w, fit.l2):
        return None
    gradient = np.asarray(g @ X) - g.sum() * kept.mean + fit.l2 * fit.w
    return kept.leverages_and_rest(g, curvature, w, fit.l2, fit.free, gradient)


def _auc_of_blocks(fit, X, positive, columns, limit):
    """The same where the columns stay in the blocks: of a sample, rows come."""
    z, g, curvature, weight = columns
    found = z.evenly((~positive, positive), (curvature, weight))
    (curved, mass), (rows, count) = map(_places, found, (limit, _LEFT_OUT_ROWS // 2))
    sizes = [min(len(c.mass), _LEFT_OUT_ROWS // 2) for c in found[1]]
    of_class = np.repeat([False, True], sizes)
    some, values = made_beside(
        X, z.beside(g, curvature, weight), np.concatenate([curved, rows])
    )
    held = InverseRoot.of_fit(fit, some[: len(curved)], mass, sampled=True)
    half, columns = held.half(some[len(curved) :]), values[len(curved) :].T
    some = replace(found[1][0], number=None) + replace(found[1][1], number=None)
    sums = z.rank_sums(positive, some, weight)
    # DeLong: Σ(V01 − AUC)²/((n₀ − 1) n₀) + Σ(V10 − AUC)²/((n₁ − 1) n₁)
    v01, v10 = sums.spreads
    of_all = sums.auc, v01 / (sums.n_neg - 1) + v10 / (sums.n_pos - 1)
    return _of_sample(of_all, half, columns, of_class, count, of_intercept(fit, mass))


def _of_sample(of_all, half, columns, positive, count, e):
    """AUC and variance of all rows, moved as those of a sample that is left out are."""
    every = LeftOutRows.of_fit(*columns, squares(half), e)
    ranked = [_in_order(s, positive, count) for s in (every.score, every.alone)]
    sides = _of_classes(positive, count)
    _, variance = _moved(of_all, *(_of_ranked(*rows, sides) for rows in ranked))
    # in the order of the scores, of each class
    classes = [np.flatnonzero(c) for c in (~positive, positive)]
    some, _ = even_sample(classes, 1.0, _PAIRED_ROWS)
    rows, half, of_class = every[some], half[some], positive[some]
    between = between_classes(half, of_class)
    moved = moved_by_pairs(ranked, rows, between, of_class, count[some], e)
    return _within(of_all[0] + moved), variance


def _within(auc):
    return min(max(auc, 0.0), 1.0)


def _moved(of_all, before, after):
    """AUC and variance of all rows, moved as those of the rows left out are.

    What the step changes is known from few rows. Of an AUC near 1 few rows make the
    variance: of these a sample has hardly any.
    """
    auc, variance = (a + y - x for a, x, y in zip(of_all, before, after, strict=True))
    return _within(auc), max(variance, after[1])


def _places(classes, limit):
    """:func:`even_sample` of what is sorted already."""
    ends = np.cumsum([len(c.mass) for c in classes])
    order = np.split(np.arange(ends[-1]), ends[:-1])
    at, mass = even_sample(order, np.concatenate([c.mass for c in classes]), limit)
    return np.concatenate([c.number for c in classes])[at].astype(int), mass


def _spread(x, weight):
    """Standard deviation of what counts so often."""
    x = x - np.average(x, weights=weight)
    return np.sqrt(np.average(x**2, weights=weight))


def _auc_and_variance(score, positive, weight):
    """The AUC of rows that count so often, and DeLong's variance."""
    return _of_ranked(*_in_order(score, positive, weight))


def _in_order(score, *columns):
    """Rows in ascending order of their scores."""
    order = np.argsort(score)
    return tuple(column[order] for column in (score, *columns))


def _of_classes(positive, weight):
    """Weights of the negatives and of the positives; of both where all are equal."""
    return [weight] if are_equal(weight) else [weight[~positive], weight[positive]]


def _of_ranked(score, positive, weight, sides=None):
    """The same of rows in ascending order of their scores.

    ``sides`` are the weights :func:`_of_classes` in any order, if they are known.
    """
    sides = sides or _of_classes(positive, weight)
    if all(map(are_equal, sides)) and not (score[1:] == score[:-1]).any():
        return auc_in_order(positive, float(sides[0][0]), float(sides[-1][0]))
    w_neg, w_pos = weight[~positive], weight[positive]
    v01, v10 = placements(score[~positive], score[positive], w_neg, w_pos)
    variance = delong_covariance(v01[None], v10[None], w_neg, w_pos)
    return min(float(v10 @ w_pos / w_pos.sum()), 1.0), float(variance[0, 0])
