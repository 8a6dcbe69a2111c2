"""Pairs of a positive and a negative row: which are formed, and their statistic.

The AUC over pairs is the share with ``z_i > z_j``, ties ½. Row and column means of the
wins, the placements ``V10_i, V01_j``, give its variance as DeLong, DeLong &
Clarke-Pearson (1988, https://doi.org/10.2307/2531595) have it:
``var(V10)/n₁ + var(V01)/n₀``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.special import ndtr

from ..statistics._block_column import BlockColumn
from ..statistics._columns import class_sums

# Ridge of 2000 × 20 rows: pairs of 250 rows a class are off by .0010 (root mean square)
# of those of all 1000, a tenth of the standard error; of 100 by .0012, of 500 by .0005
PAIR_ROWS = 250  # rows of a class that enter the pairs; a fixed, stratified sample
# Ridge models of 30 × 10 to 80 × 200 normal and t(3) rows, 150 of each, against the
# counted share. Bias and root mean square error change by: ¼ −.001 to −.006 and −1 to
# −3 %; ½ −.003 to −.022 and −1 to −10 %; 1 −.01 to −.06 and +22 to −27 %
SMOOTH = 0.25  # bandwidth in units of the spread of the margins
# Of Φ: 1 − Φ(8.5) is rounding, and |φ''| < .4, so that h³/6 of it is below 1e-11
_FAR, _PLACES = 8.5, 1024
_NEAR = 1e-6  # gap of fitted scores, over their range, at which rows are compared
_SAME = 16 * np.finfo(float).eps  # what a product or two round


def class_of_one_row(positive, weight=None) -> str | None:
    """The class of which nothing is left without one of its rows, or None.

    Two rows of positive weight leave one, and a single row does that counts at least
    twice: one of its equal copies stays.
    """
    if weight is None:
        n_pos = np.count_nonzero(positive)
        few = {"negative": len(positive) - n_pos < 2, "positive": n_pos < 2}
        return next((name for name in few if few[name]), None)
    totals = class_sums(positive, weight)
    for name, mask, total in zip(
        ("negative", "positive"), (~positive, positive), totals, strict=True
    ):
        if total < 2 and np.count_nonzero(mask & (weight > 0)) < 2:
            return name
    return None


def check_pairs(positive, weight=None):
    """Refuse data of which leave-pair-out would leave a class without rows."""
    name = class_of_one_row(positive, weight)
    if name is not None:
        raise ValueError(
            "y_true must hold at least 2 rows of each class for leave-pair-out, got 1 "
            f"in the {name} class: without it nothing is left of that class"
        )


def difference_of_means(X, positive, weight):
    """Weighted mean of the positives less that of the negatives, (P,)."""
    n_pos, n_neg = weight @ positive, weight @ ~positive
    return X.T @ np.where(positive, weight / n_pos, -weight / n_neg)


def sample_rows(score, positive, weight, limit=PAIR_ROWS):
    """Rows that form the pairs, neg before pos, and how much each counts.

    At most ``limit`` a class, even in the order of the score; a frequency weight is
    that many equal rows. A sample speaks for no more rows than it has.
    """
    classes = ~positive, positive
    if isinstance(score, BlockColumn):
        (sides,) = score.evenly(classes, (weight,))
        sides = [(side.number.astype(int), side.mass) for side in sides]
    else:
        sides = [_in_order(score, weight, np.flatnonzero(c), limit) for c in classes]
    sampled = [_sampled(*side, limit) for side in sides]
    rows, counts = zip(*sampled, strict=True)
    return np.concatenate(rows), np.concatenate(counts)


def _in_order(score, weight, rows, limit):
    """Rows and their counts; in the order of the scores where they are many."""
    if max(len(rows), weight[rows].sum()) > limit:
        rows = rows[np.argsort(score[rows], kind="stable")]
    return rows, weight[rows]


def _sampled(rows, count, limit):
    if max(len(rows), count.sum()) <= limit:
        return rows, count
    at, total = _middles(count, len(rows), limit)
    return rows[at], np.full(limit, min(total / limit, 1.0))


def even_sample(order, weight, limit):
    """At most so many rows a class, even in the order of the scores, and their mass.

    A row is drawn as often as it weighs, and the masses of a class add up to its
    weight. A single weight is that of every row.
    """
    rows, mass = [], []
    for some in order:
        count = weight[some] if isinstance(weight, np.ndarray) else weight
        if len(some) > limit:
            at, total = _middles(count, len(some), limit)
            some, count = some[at], total / limit
        rows.append(some)
        mass.append(np.full(len(some), count))
    return np.concatenate(rows), np.concatenate(mass)


def _middles(count, n, limit):
    """Places of the middles of equal shares of what n rows weigh, and their weight.

    Half of them from either end: where a middle falls between two rows, those of rows
    in the other order are the same.
    """
    if not isinstance(count, np.ndarray):
        return _middles_of_equal(n, limit), n * count
    if are_equal(count):
        return _middles_of_equal(n, limit), n * count[0]
    middle = _middle_shares(limit)
    reach, back = np.cumsum(count), np.cumsum(count[::-1])
    first, from_end = (x.searchsorted(middle * x[-1]) for x in (reach, back))
    return _from_both_ends(first, n - 1 - from_end, limit), reach[-1]


@lru_cache(maxsize=8)  # of the classes of a search, which all candidates ask for
def _middles_of_equal(n, limit):
    # the first row j, from 0, with j + 1 ≥ middle·n
    first = np.ceil(_middle_shares(limit) * n).astype(int) - 1
    places = _from_both_ends(first, n - 1 - first, limit)
    places.flags.writeable = False
    return places


def _middle_shares(limit):
    """Where the middles of so many shares lie, those of the lower half."""
    return (np.arange((limit + 1) // 2) + 0.5) / limit


def _from_both_ends(first, last, limit):
    return np.concatenate([first, last[: limit // 2][::-1]])


def are_equal(weight):
    """Whether no row counts more than another."""
    return weight.min() == weight.max()


@dataclass(frozen=True, eq=False)
class PairStatistic:
    """AUC over pairs, with the placements of positives and negatives.

    Parameters
    ----------
    auc : float
    v10, v01 : ndarray of shape (n_pos,), (n_neg,)
        Share of negatives that each positive beats, and of positives that beat each
        negative.
    w_pos, w_neg : ndarray of shape (n_pos,), (n_neg,)
        How much each row counts.
    """

    auc: float
    v10: np.ndarray
    v01: np.ndarray
    w_pos: np.ndarray
    w_neg: np.ndarray

    def covariance_with(self, other) -> float:
        """DeLong's covariance of two AUCs over the same pairs."""
        return mean_covariance(self.v10, other.v10, self.w_pos) + mean_covariance(
            self.v01, other.v01, self.w_neg
        )


def pair_statistics(margin, positive, weight, smooth):
    """One :class:`PairStatistic` for each smoothing, over all pairs of the rows."""
    w_pos, w_neg = weight[positive], weight[~positive]
    share_pos, share_neg = w_pos / w_pos.sum(), w_neg / w_neg.sum()
    centre = share_pos @ margin @ share_neg
    # E|N(0, σ²)| = σ√(2/π): a spread on which single huge margins have little say
    spread = np.sqrt(np.pi / 2) * (share_pos @ np.abs(margin - centre) @ share_neg)
    out = []
    for bandwidth in smooth:
        if bandwidth * spread > 0:
            # Φ(margin/(¼ s)), or 1, ½, 0 for a margin above, at or below 0
            won = normal_cdf(margin / (bandwidth * spread))
        else:
            tie = 1e-9 * np.abs(margin).max()  # what is 0 by symmetry, but for rounding
            won = (margin > tie) + 0.5 * (np.abs(margin) <= tie)
        # V10_i = Σ_j won_ij/n₀,  V01_j = Σ_i won_ij/n₁,  AUC the mean of either
        v10, v01 = won @ share_neg, share_pos @ won
        auc = min(float(v10 @ share_pos), 1.0)  # a sum of shares may round past 1
        out.append(PairStatistic(auc, v10, v01, w_pos, w_neg))
    return out


def normal_cdf(x):
    """``Φ`` of finite numbers, to 1e-11; a third of the time of scipy's."""
    x = np.clip(x, -_FAR, _FAR)
    a = np.rint(x * _PLACES)
    place = (a + _FAR * _PLACES).astype(np.intp)
    a /= _PLACES
    # Φ(a + h) = Φ(a) + φ(a) h (1 − ah/2) + …, the rest below |φ''(a) h³/6|
    h = np.subtract(x, a, out=x)
    a *= h
    a *= -0.5
    a += 1.0
    a *= h
    distribution, density = _normal_at_places()
    a *= density.take(place)
    a += distribution.take(place)
    return a


@cache
def _normal_at_places():
    """Φ and φ at the places that :func:`normal_cdf` goes out from."""
    most = round(_FAR * _PLACES)
    a = np.arange(-most, most + 1) / _PLACES
    return ndtr(a), np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi)


def mean_covariance(a, b, weight):
    """Covariance of the weighted means of two placements of the same rows."""
    n = weight.sum()
    if n <= 1:
        return 0.25  # one row says nothing about its spread: the largest there can be
    # Σ w (a − ā)(b − b̄)/((n − 1) n)
    a, b = a - weight @ a / n, b - weight @ b / n
    return float((weight * a) @ b / (n - 1) / n)


def equal_rows(X, z, positive, rows):
    """Places (i, j) of the pairs whose two rows are the same.

    No model tells them apart, however few digits a weak penalty leaves their margin:
    so ties are read off the rows. Only pairs of almost equal fitted scores are looked
    at, and what a product rounds (rows behind a PCA) is no difference.
    """
    pos, neg = rows[positive[rows]], rows[~positive[rows]]
    z_pos, z_neg = z[positive[rows]], z[~positive[rows]]
    order, near = np.argsort(z_neg), _NEAR * np.ptp(z)
    first = z_neg.searchsorted(z_pos - near, sorter=order)
    last = z_neg.searchsorted(z_pos + near, side="right", sorter=order)
    places = []
    for i in np.flatnonzero(last > first):
        there = np.sort(order[first[i] : last[i]])
        row, others = X[[pos[i]]], X[neg[there]]
        if hasattr(X, "toarray"):
            row, others = row.toarray(), others.toarray()
        gap = np.abs(others - row).max(axis=1)
        places += [(i, j) for j in there[gap <= _SAME * np.abs(row).max()]]
    # Reshaped for the case of no place at all
    return tuple(np.array(places, dtype=int).reshape(-1, 2).T)
