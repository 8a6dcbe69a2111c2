"""Leave-one-out scores of all rows of a penalised linear fit, for n ≫ P.

With g and ω the slope and curvature of a row's loss and ``H = Aᵀ diag(ω) A + Λ`` the
Hessian in features A less their ω-weighted mean, the leverage ``h_i = a_iᵀH⁻¹a_i``
gives the score of a row under the fit without it,

    z_i + h_i g_i/(1 − ω_i(h_i + e)),   e = 1/(Σω + ρ),

up to what the intercept does, whose penalty is ρ: without the row it moves by another
``e g_i/(1 − ω_i(h_i + e))``, down for a positive and up for a negative. Between two
rows left out *together*, as in leave-pair-out, that part cancels: it moves both. So it
is left out here, and the pooled scores have none of the pessimism of leave-one-out
(which grows with imbalance). The other row of a pair moves the margin by another

    h_ij (g_j/(1 − ω_j(h_j + e)) − g_i/(1 − ω_i(h_i + e))),   h_ij = a_iᵀH⁻¹a_j,

to first order in ``ω h_ij``; where that is not small the two equations are solved.
Over all pairs that averages to 0, but rows whose scores are near may be near
themselves, as the levels of a category are. Equal rows tie, whichever of them are left
out: one by one the positive falls below the negative. So the pairs of a sample tell
what is taken off the AUC. A pair whose margin is small is won in part: cells of which
the fit has the order by chance do not change places as a whole.

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

from ..statistics._block_column import (
    BlockColumn,
    class_sums,
    made_beside,
    made_column,
)
from ..statistics._numerics import TINY
from ..statistics._ranks import delong_covariance, placements, placements_in_order
from ._eigenrows import eigenrows
from ._inverse_root import InverseRoot, of_intercept, squares
from ._objective import ask_again, unscaled
from ._pairs import are_equal, even_sample, sample_rows

# Rows that make the Hessian, so many a feature at least, and rows that are left out.
# Root mean square error of the AUC, 6 data sets and 3 values of C: 5000 × 50 normal
# .0002, t(3) .0003, 6 % positives .0004 (what is taken off: .009, .007, .021; with 1000
# rows left out .0001, .0004, .0003), 20 000 × 50 and 5000 × 10 at most .0001.
_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE, _LEFT_OUT_ROWS = 1000, 20, 500
# Rows of a class of which the pairs are left out; the share of the spread of their
# margins within which a pair is won in part; and the mean step, of that, up to which
# it is. The AUC less that of all rows and pairs, over its standard error, root mean
# square: 300 to 20 000 rows of 3 signs alone and beside 2 normal features, counts, 5
# to 200 normal features, at most .04; without the pairs −2 to −14 (3 signs). Mean
# absolute error of pairs that are counted, and of those won in part: 1000 rows of 3
# signs or 2 counts .0135, .012, 5000 rows .011, .0085, as cells of one effect change
# places.
_PAIRED_ROWS, _WIDTH, _NARROW = 150, 0.2, 0.1
# The last, of few features: rows of few levels with a weak signal have margins that are
# no wider. Two categories of two levels, 700 rows: .434 counted, .552 in part, folds
# .559.
_NARROW_OF_FEW, _NARROW_FEATURES = 1.0, 20
_TIE = 1e-9  # of the largest margin: what is 0 but for rounding
# The mean of ω h/(1 − ω(h + e)) from which on rows of a pair move each other's slopes:
# levels of a category with five and with twenty rows, ridge, are off by −.017 and −.034
# without (800 × 150, 800 × 40: scores that are equal without the pair are taken apart).
# Of logistic regression one Newton step is not enough there: five to eight rows a level
# are off by +.02 to +.03.
_COUPLED = 0.02
_ALONE = 0.5  # the rows' own share in how they are held: beyond, they are not near
_HELD = 1e-10  # of a row, what the others must hold of it
_FEW_LOOSE = 0.01  # rows of which they hold less: their scores stay
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
_RARE = 0.5
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
    fit, X, positive
        As for :func:`leave_one_out_scores`.
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
    part, freed = _freed(h, curvature, weight, e)
    push = part * g * freed
    if np.average(freed == 0, weights=weight) > _FEW_LOOSE:
        return np.nan, np.nan
    moved, by_step = (_spread(x, weight) for x in (rest * freed, h * push))
    if further is not None and moved > _SETTLED * by_step:
        fit = further()
        if fit is None:
            return np.nan, np.nan
        return leave_one_out_auc(fit, X, positive, weight, None, remember)
    own = curvature @ (part * curvature * h) / max(curvature.sum(), TINY)
    few = X.shape[1] <= min(weight.sum() / _ROWS_A_FEATURE, _FEW_FEATURES)
    if fit.loss == "squared_hinge" and few and own > _FEW_INSIDE:
        return np.nan, np.nan
    one_by_one, variance = _auc_and_variance(z + h * push, positive, weight)
    if held is None or own > _ALONE:
        return one_by_one, variance
    of_fit, _ = _auc_and_variance(z, positive, weight)
    rows, count = sample_rows(z, positive, weight, _PAIRED_ROWS)
    some = z[rows], g[rows], curvature[rows], weight[rows]
    pairs = held.half(X[rows]), some, positive[rows], count, e
    return _by_pairs(of_fit, one_by_one, *pairs), variance


def _of_some_rows(fit, X, columns, limit):
    """The same where a sample of each class makes the Hessian, and is left out."""
    z, g, curvature, positive, weight = columns
    order = np.argsort(z)
    ranked = positive[order]
    classes = [order[np.flatnonzero(c)] for c in (~ranked, ranked)]
    # each of these rows carries the same share of the curvature of its class
    curved, mass = even_sample(classes, curvature, limit)
    rows, count = even_sample(classes, weight, _LEFT_OUT_ROWS // 2)
    raw, *unit = unscaled(X)
    held = InverseRoot.of_fit(fit, raw[curved], mass, unit, sampled=True)
    some = z[rows], g[rows], curvature[rows], weight[rows]
    of_all = _of_ranked(z[order], ranked, weight[order])
    e = of_intercept(fit, mass)
    return _of_sample(of_all, held.half(raw[rows]), some, positive[rows], count, e)


def _of_one_curvature(fit, X, columns, remember):
    """The same with the leverages of :class:`Eigenrows`; None where there are none."""
    z, g, curvature, positive, weight = columns
    if class_sums(positive, weight).min() < _RARE * X.shape[1]:
        return None
    kept = eigenrows(fit, X, positive, weight, remember)
    found = kept and kept.without_a_row(curvature, weight, fit.l2)
    if found is None:
        return None

    e = of_intercept(fit, curvature)

    def left_out(alpha, rows=slice(None)):
        h = alpha / (1 + curvature[rows] * alpha)
        return z[rows] + _steps(h, g[rows], curvature[rows], weight[rows], e)

    every, some = found
    # δωh = δωα/(1 + ωα) of the row that is left out, the mean over the curvature
    own = curvature * every
    own = _part(weight) * own / (1 + own)
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
    score, g, curvature, weight = columns
    left_out = score + _steps(squares(half), g, curvature, weight, e)
    before, after = (_auc_and_variance(s, positive, count) for s in (score, left_out))
    one_by_one, variance = _moved(of_all, before, after)
    # in the order of the scores, of each class
    classes = [np.flatnonzero(c) for c in (~positive, positive)]
    some, _ = even_sample(classes, np.ones_like(count), _PAIRED_ROWS)
    columns = tuple(column[some] for column in columns)
    pairs = half[some], columns, positive[some], count[some], e
    return _by_pairs(of_all[0], one_by_one, *pairs), variance


def _by_pairs(of_fit, one_by_one, half, columns, positive, count, e):
    """The AUC where the two rows of a pair are left out.

    Parameters
    ----------
    of_fit, one_by_one : float
        AUC of all rows under the fit, and each without itself.
    half : ndarray of shape (m, P)
        :meth:`InverseRoot.half` of a few rows.
    columns : tuple of ndarray of shape (m,)
        Their scores, slopes, curvatures and frequency weights.
    positive : ndarray of bool of shape (m,)
    count : ndarray of shape (m,)
        How often each counts.
    e : float
        :func:`of_intercept`.

    Returns
    -------
    float
    """
    score, g, curvature, weight = columns
    h = squares(half)
    part, freed = _freed(h, curvature, weight, e)
    push = part * g * freed
    left_out = score + h * push
    # a pair: rows of positives, columns of negatives
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    share = count[pos] / count[pos].sum(), count[neg] / count[neg].sum()
    fitted, alone = (s[pos][:, None] - s[neg] for s in (score, left_out))
    between = half[pos] @ half[neg].T
    up, down = push[pos][:, None], push[neg]
    bend = part * curvature * freed
    if np.average(bend * h, weights=count) > _COUPLED:
        # each row moves the other's slope: Cramer's rule for the two
        near = between + e
        det = 1 - bend[pos][:, None] * bend[neg] * near**2
        det = np.maximum(det, _HELD)
        up, down = (
            (up + bend[pos][:, None] * near * down) / det,
            (down + bend[neg] * near * up) / det,
        )
    both = fitted + (h[pos][:, None] - between) * up - (h[neg] - between) * down

    def mean(of_pairs):
        return float(share[0] @ of_pairs @ share[1])

    auc, before = of_fit, fitted
    width = _WIDTH * mean(np.abs(fitted - mean(fitted)))
    narrow = _NARROW_OF_FEW if half.shape[1] <= _NARROW_FEATURES else _NARROW
    if mean(np.abs(both - fitted)) >= narrow * width:
        auc, before, width = one_by_one, alone, _TIE * np.abs(alone).max()
    return _within(auc + mean(_won(both, width) - _won(before, width)))


def _won(margin, width):
    """1 of a pair whose positive is higher, ½ of a tie, between them within a width."""
    return np.clip(margin / max(2 * width, TINY) + 0.5, 0.0, 1.0)


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


def leave_one_out_scores(fit, X, positive, weight=None):
    """Scores of the rows, each under the fit without it.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
        With a smooth loss, at its optimum.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Frequency weights f: of f equal rows one is left out.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    O(nP²), in blocks of rows, and one P×P matrix, P the features with w ≠ 0 if the
    penalty is L1. A row that nothing else holds (``ω_i(h_i + e) = 1``) keeps its score.
    """
    z, g, curvature = fit.slopes(X, positive)
    weight = np.ones(len(z)) if weight is None else weight
    h, _ = InverseRoot.of_fit(fit, X, curvature).leverages_and_rest(X, g)
    e = of_intercept(fit, curvature)
    return z + _steps(h, g, curvature, weight, e)


def _steps(h, g, curvature, weight, e):
    """``h_i g_i/(1 − ω_i(h_i + e))``, 0 where nothing else holds a row."""
    part, freed = _freed(h, curvature, weight, e)
    return part * h * g * freed


def _freed(h, curvature, weight, e):
    """δ and ``1/(1 − δω_i(h_i + e))``, 0 where the others hold nothing of a row.

    Of f equal rows one is left out, the fraction δ = 1/f, of g and of ω.
    """
    part = _part(weight)
    left = 1 - part * curvature * (h + e)
    return part, np.where(left > _HELD, 1 / np.maximum(left, _HELD), 0.0)


def _part(weight):
    """δ, one of f equal rows, or a row as a whole."""
    return np.minimum(1.0, 1 / np.maximum(weight, TINY))


def _spread(x, weight):
    """Standard deviation of what counts so often."""
    x = x - np.average(x, weights=weight)
    return np.sqrt(np.average(x**2, weights=weight))


def _auc_and_variance(score, positive, weight):
    """The AUC of rows that count so often, and DeLong's variance."""
    order = np.argsort(score)
    return _of_ranked(score[order], positive[order], weight[order])


def _of_ranked(score, positive, weight):
    """The same of rows in ascending order of their scores."""
    neg, pos = np.flatnonzero(~positive), np.flatnonzero(positive)
    w_neg, w_pos = weight[neg], weight[pos]
    if are_equal(w_neg) and are_equal(w_pos):  # then no row counts more than another
        v01, v10 = placements_in_order(score, neg, pos)
    else:
        v01, v10 = placements(score[neg], score[pos], w_neg, w_pos)
    variance = delong_covariance(v01[None], v10[None], w_neg, w_pos)
    return min(float(v10 @ w_pos / w_pos.sum()), 1.0), float(variance[0, 0])
