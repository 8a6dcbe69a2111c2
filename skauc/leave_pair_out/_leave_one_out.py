"""Leave-one-out scores of all rows of a penalised linear fit, for n ≫ P.

With g and ω the slope and curvature of a row's loss and ``H = Aᵀ diag(ω) A + Λ`` the
Hessian in features A less their ω-weighted mean, the leverage ``h_i = a_iᵀH⁻¹a_i``
gives the score of a row under the fit without it,

    z_i + h_i g_i/(1 − ω_i(h_i + e)),   e = 1/(Σω + ρ),

up to what the intercept does, whose penalty is ρ: without the row it moves by another
``e g_i/(1 − ω_i(h_i + e))``, down for a positive and up for a negative. Between two
rows left out *together*, as in leave-pair-out, that part cancels: it moves both. So it
is left out here, and the pooled scores have none of the pessimism of leave-one-out
(which grows with imbalance). What remains of the pair's interaction averages to 0 over
pairs. Where a weak penalty lets the rows with curvature be fitted one by one,
``ω_i(h_i + e)`` comes near 1, and e decides. So does then what a solver has left of the
gradient G: it moves the score by another ``−a_iᵀH⁻¹G/(1 − ω_i(h_i + e))``. Where that
is not small beside the steps, the fit is to be taken further to its optimum.

The steps are of order P/n. Of very many rows an even sample tells what they take off
the AUC, and all rows tell the AUC that it is taken off. Of many features one curvature
stands for all but the row's own, so that models share a decomposition
(:mod:`._eigenrows`).

An L1 penalty leaves the features with w ≠ 0 (Rad & Maleki 2020,
https://doi.org/10.1111/rssb.12374).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from ..statistics._block_column import BlockColumn, made_beside, made_column
from ..statistics._numerics import TINY
from ..statistics._ranks import delong_covariance, placements, placements_in_order
from ._eigenrows import centred_blocks, eigenrows
from ._objective import ask_again, unscaled
from ._pairs import are_equal, even_sample

# Rows that make the Hessian, so many a feature at least, and rows that are left out.
# Root mean square error of the AUC, 6 data sets and 3 values of C: 5000 × 50 normal
# .0002, t(3) .0003, 6 % positives .0004 (what is taken off: .009, .007, .021; with 1000
# rows left out .0001, .0004, .0003), 20 000 × 50 and 5000 × 10 at most .0001.
_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE, _LEFT_OUT_ROWS = 1000, 20, 500
_JITTER = 1e-13  # of a unit diagonal: rounding of the sums
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
    found = _of_one_curvature(fit, X, (z, g, curvature, positive, weight), remember)
    if found is not None:
        return found
    if len(z) <= 2 * limit:
        h, rest = _turned(fit, X, (z, g, curvature, positive, weight), remember)
        part, freed = _freed(h, curvature, weight, of_intercept(fit, curvature))
        step = part * h * g * freed
        if np.average(freed == 0, weights=weight) > _FEW_LOOSE:
            return np.nan, np.nan
        moved, by_step = (_spread(x, weight) for x in (rest * freed, step))
        if further is not None and moved > _SETTLED * by_step:
            fit = further()
            if fit is None:
                return np.nan, np.nan
            return leave_one_out_auc(fit, X, positive, weight)
        return _auc_and_variance(z + step, positive, weight)
    order = np.argsort(z)
    ranked = positive[order]
    classes = [order[np.flatnonzero(c)] for c in (~ranked, ranked)]
    # each of these rows carries the same share of the curvature of its class
    curved, mass = even_sample(classes, curvature, limit // 2)
    rows, count = even_sample(classes, weight, _LEFT_OUT_ROWS // 2)
    raw, *unit = unscaled(X)
    h = leverages(fit, raw[curved], mass, raw[rows], unit)
    score, some = z[rows], positive[rows]
    e = of_intercept(fit, mass)
    left_out = score + _steps(h, g[rows], curvature[rows], weight[rows], e)
    of_all = _of_ranked(z[order], ranked, weight[order])
    before = _auc_and_variance(score, some, count)
    return _moved(of_all, before, _auc_and_variance(left_out, some, count))


def _of_one_curvature(fit, X, columns, remember):
    """The same with the leverages of :class:`Eigenrows`; None where there are none."""
    z, g, curvature, positive, weight = columns
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
    before = _auc_and_variance(by_size[rows], sampled, count)
    return _moved(
        of_all, before, _auc_and_variance(left_out(some, rows), sampled, count)
    )


def _turned(fit, X, columns, remember):
    """Leverages and rest, in single precision of few rows that are remembered."""
    _, g, curvature, positive, weight = columns
    found, w = None, curvature.sum() / weight.sum()
    kept = eigenrows(fit, X, positive, weight, remember)
    if kept is not None and fit.intercept_penalty == 0 and kept.turns(w, fit.l2):
        total = g.sum()
        gradient = np.asarray(g @ X) - total * kept.mean + fit.l2 * fit.w
        found = kept.leverages_and_rest(curvature, w, fit.l2, fit.free, gradient, total)
    return found or leverages_and_rest(fit, X, curvature, g)


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
    h = leverages(fit, some[: len(curved)], mass, some[len(curved) :])
    before, *slope = values[len(curved) :].T
    left_out = before + _steps(h, *slope, of_intercept(fit, mass))
    after = _auc_and_variance(left_out, of_class, count)
    before = _auc_and_variance(before, of_class, count)
    some = replace(found[1][0], number=None) + replace(found[1][1], number=None)
    sums = z.rank_sums(positive, some, weight)
    # DeLong: Σ(V01 − AUC)²/((n₀ − 1) n₀) + Σ(V10 − AUC)²/((n₁ − 1) n₁)
    v01, v10 = sums.spreads
    of_all = sums.auc, v01 / (sums.n_neg - 1) + v10 / (sums.n_pos - 1)
    return _moved(of_all, before, after)


def _moved(of_all, before, after):
    """AUC and variance of all rows, moved as those of the rows left out are.

    What the step changes is known from few rows. Of an AUC near 1 few rows make the
    variance: of these a sample has hardly any.
    """
    auc, variance = (a + y - x for a, x, y in zip(of_all, before, after, strict=True))
    return min(max(auc, 0.0), 1.0), max(variance, after[1])


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
    h, e = leverages(fit, X, curvature), of_intercept(fit, curvature)
    return z + _steps(h, g, curvature, weight, e)


def of_intercept(fit, curvature) -> float:
    """e, what an intercept adds to every leverage; 0 where there is none."""
    if fit.intercept_scaling == 0:
        return 0.0
    return 1 / max(curvature.sum() + fit.intercept_penalty, TINY)


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


def leverages(fit, X, curvature, rows=None, unit=None):
    """``h_i`` of every row, without what an intercept adds (:func:`of_intercept`).

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray or sparse matrix of shape (n, P)
        Rows that make the Hessian.
    curvature : ndarray of shape (n,)
        What each adds to it.
    rows : ndarray or sparse matrix of shape (m, P), default=None
        Rows whose leverage is asked, if those of X are but a sample.
    unit : sequence of two ndarray of shape (P,), default=None
        Centre and scale of the features in which the fit was penalised, if these are
        not they.

    Returns
    -------
    ndarray of shape (m,)
    """
    return leverages_and_rest(fit, X, curvature, None, rows, unit)[0]


def leverages_and_rest(fit, X, curvature, g, rows=None, unit=None):
    """The same, and what the solver has left of the gradient moves the scores by.

    Parameters
    ----------
    fit, X, curvature, rows, unit
        As for :func:`leverages`.
    g : ndarray of shape (n,) or None
        Slopes of the losses of X.

    Returns
    -------
    h : ndarray of shape (m,)
    rest : ndarray of shape (m,)
        ``a_iᵀH⁻¹G``, G the gradient of all that is penalised by squares; 0 without g.
    """
    origin, scale = unit or (np.zeros(X.shape[1]), np.ones(X.shape[1]))
    if getattr(fit, "l1", 0.0) > 0:
        origin, scale = origin[fit.w != 0], scale[fit.w != 0]
    X, sampled = _active_features(fit, X), rows is not None
    rows = _active_features(fit, rows) if sampled else X
    n, P = X.shape
    if P == 0 or not curvature.any():
        nothing = np.zeros(rows.shape[0])
        return nothing, nothing
    # λ‖w‖² of scaled features is λ·scale² of each raw one
    ridge, mean = fit.l2 * scale**2, origin
    H = np.diag(ridge)
    if fit.intercept_scaling > 0:
        # The Hessian's column of the intercept, less origin, is (Σω + ρ)·pull: without
        # it Σω(x − m)(x − m)ᵀ + ρ·pull pullᵀ + Λ is left, m = origin + pull
        total = np.asarray(curvature @ X).ravel() - curvature.sum() * origin
        pull = of_intercept(fit, curvature) * total
        mean = origin + pull
        H += fit.intercept_penalty * np.outer(pull, pull)
    for part, A in centred_blocks(X, mean):
        A *= np.sqrt(curvature[part])[:, None]
        H += A.T @ A
    root = _inverse_root(H)
    # h_i = ‖H^{-1/2} a_i‖²
    toward = None if g is None else root @ _gradient(fit, X, g, origin, mean, scale)
    h, rest = np.empty(rows.shape[0]), np.zeros(rows.shape[0])
    for part, A in centred_blocks(rows, mean):
        half = A @ root.T
        h[part] = np.einsum("np,np->n", half, half)
        if toward is not None:
            rest[part] = half @ toward
    if sampled:  # (n + 1)/(n − d − 2): the mean of xᵀH⁻¹x of another row, if normal
        # d = tr H⁻¹(H − Λ), the degrees of freedom of the fit; H⁻¹ = rootᵀ root
        d = P - np.sum(root**2 @ ridge)
        h *= max(n - d - 2, 0.0) / (n + 1)
    return h, rest


def _gradient(fit, X, g, origin, mean, scale):
    """Of the objective in w where b follows; 0 at the optimum, and of an L1 penalty."""
    if getattr(fit, "l1", 0.0) > 0:
        return np.zeros(X.shape[1])
    # Σg(x − m) + λ·scale·w − ρb(m − origin): the step of b is taken out
    gradient = np.asarray(X.T @ g).ravel() - g.sum() * mean + fit.l2 * scale * fit.w
    return gradient - fit.intercept_penalty * fit.intercept * (mean - origin)


def _active_features(fit, X):
    if getattr(fit, "l1", 0.0) == 0:
        return X
    active = np.flatnonzero(fit.w)
    return X.tocsc()[:, active].tocsr() if hasattr(X, "tocsc") else X[:, active]


def _inverse_root(H):
    """L⁻¹ of ``H = LLᵀ``, features in units of their own curvature."""
    # H⁻¹ = unit (unit H unit)⁻¹ unit
    unit = 1 / np.sqrt(np.maximum(H.diagonal(), TINY))
    H = H * unit
    H *= unit[:, None]
    H.flat[:: len(H) + 1] += _JITTER
    root, failed = lapack.dtrtri(np.linalg.cholesky(H), lower=1)
    if failed:
        raise np.linalg.LinAlgError("a feature has no curvature")
    return root * unit
