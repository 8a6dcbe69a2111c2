"""The bootstrap of the AUC of a trained model: .632+ and its relatives.

Every bootstrap sample draws each class with replacement in its own size and refits the
model; the rows that it did not draw (about e⁻¹ of them) are *out of bag* and see the
refit as new rows do. The out-of-bag AUC is pessimistic (a sample holds only 63 % of
the distinct rows), the AUC of the training rows optimistic: Efron & Tibshirani's .632+
weighs them by how much the model overfits. For the error 1 − AUC the no-information
rate is ½.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..statistics._moments import class_moments
from ..statistics._numerics import are_whole, canonical
from ..statistics._ranks import empirical_auc

_MANY_COPIES = 2000  # rows of a bootstrap: beyond, the closed forms are as good
_SEED = 632  # one for all, so that all candidates of a search share their samples
_PAIRS = 250**2  # up to here out-of-bag AUCs are means over pairs
_INSIDE = 0.632  # 1 − 1/e: share of distinct rows in a sample


@dataclass(frozen=True, eq=False)
class Samples:
    """Bootstrap samples of rows of weight w as w rows, in an order of their own.

    Parameters
    ----------
    rows : ndarray of int of shape (m,)
        The row of each copy.
    counts : ndarray of shape (n_boot, m)
        How often each copy was drawn.
    copies : ndarray of shape (n,)
        Of each row.
    drawn : ndarray of shape (n_boot, n)
        How often each row was drawn, per copy.
    """

    rows: np.ndarray
    counts: np.ndarray
    copies: np.ndarray
    drawn: np.ndarray

    @classmethod
    def of_rows(cls, X, positive, weight, draw, n_boot):
        """Of ``draw(mask, n_boot)``, as :func:`bootstrap_counts` or `balanced_counts`.

        None where a weight is no whole number: a part of a row cannot be drawn.
        """
        copies = np.rint(weight)
        if not are_whole(weight).all() or copies.sum() > _MANY_COPIES:
            return None
        copies = copies.astype(int)
        # An order of the rows' own: samples must not depend on how a caller sorts them
        size = _fourth_powers(X, positive, weight)
        order = np.argsort(size, kind="stable")
        rows = np.repeat(order, copies[order])
        # the first class: which one is called positive does not matter
        neg, pos = (
            (weight[c].sum(), weight[c] @ size[c]) for c in (~positive, positive)
        )
        counts = draw(positive[rows] == (pos > neg), n_boot)
        total = np.zeros((n_boot, len(positive)))
        np.add.at(total, (slice(None), rows), counts)
        return cls(rows, counts, copies, total / copies)


def _fourth_powers(X, positive, weight):
    """``Σ_j z_j⁴`` of each row in standardised features: what no unit changes."""
    total = np.add(*class_moments(X, positive, weight, featurewise=True))
    spread = np.sqrt(total.scatter / total.n)
    unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    if not sparse.issparse(X):
        square = X - total.mean
        square *= unit
        square *= square
        return np.einsum("np,np->n", square, square)
    # the mean would fill it: of all entries those of zeros, then what the others add
    rows, centre = canonical(X.tocsr()), total.mean * unit
    zero = centre**4
    # Σ_j (−centre_j)⁴ of a row of zeros, and z⁴ − centre⁴ more for every stored entry
    z = rows.data * unit[rows.indices] - centre[rows.indices]
    more = (z**4 - zero[rows.indices], rows.indices, rows.indptr)
    added = sparse.csr_array(more, shape=X.shape).sum(axis=1)
    return zero.sum() + np.asarray(added).ravel()


def bootstrap_counts(positive, n_boot=20, seed=_SEED):
    """How often each of n_boot stratified samples drew each row.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
    n_boot : int, default=20
    seed : int or Generator, default=632
        The samples depend on it and on ``positive`` alone.

    Returns
    -------
    ndarray of int of shape (n_boot, n)
        Rows of each class sum to its size. Every sample leaves a row of each class
        out of bag; a class of one row is kept whole and has none.
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_boot, len(positive)), dtype=int)
    for rows in (np.flatnonzero(~positive), np.flatnonzero(positive)):
        counts[:, rows] = _draw(rng, len(rows), n_boot)
    return counts


def _draw(rng, n, n_boot):
    share = np.full(n, 1 / n)
    counts = rng.multinomial(n, share, size=n_boot)
    # A sample that drew every row of a class leaves none of it out: drawn again
    while n > 1 and (whole := np.all(counts > 0, axis=1)).any():
        counts[whole] = rng.multinomial(n, share, size=whole.sum())
    return counts


def balanced_counts(positive, n_samples, seed=_SEED):
    """How often each of a few balanced samples holds each row.

    Which rows happened to be drawn is a large part of what five bootstrap samples err
    by. Here every row is left out of m of the K samples, m the whole number next to
    K/e (of five each keeps .6 of the rows, about as many different ones as a bootstrap
    sample draws, .632), and stands K times in all of them together. In each class the
    rows stand on a circle of K places: a row is out of m neighbouring samples and in
    the next ones first when copies fill the class up to its size. The circle of the
    other class takes every second sample, so that of K = 5 samples four fifths of the
    pairs are left out together, each once; bootstrap samples leave out .52 of them.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
    n_samples : int
        K, at least 2.
    seed : int or Generator, default=632
        The samples depend on it and on ``positive`` alone.

    Returns
    -------
    ndarray of int of shape (n_samples, n)
        Rows of each class sum to its size. Where K does not divide it, the numbers of
        rows that the samples leave out differ by one at most, and rows stand about K
        times. A class of one row is kept whole, one of two rows by some samples.
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_samples, len(positive)), dtype=int)
    circle = np.arange(n_samples)
    every_second = np.r_[circle[::2], circle[1::2]]
    for here, samples in ((~positive, circle), (positive, every_second)):
        rows = rng.permutation(np.flatnonzero(here))
        start = _places(len(rows), n_samples)
        for place, sample in enumerate(samples):
            counts[sample, rows] = _kept((place - start) % n_samples, n_samples)
    return counts


def _places(n, n_samples):
    """Of n rows on the circle, each as often as any other, what is left spread out."""
    rounds, rest = divmod(n, n_samples)
    left = np.arange(rest) * n_samples // max(rest, 1)
    return np.r_[np.tile(np.arange(n_samples), rounds), left]


def _kept(since, n_samples):
    """Copies of the rows of a class, by how long since their first sample out."""
    n, n_out = len(since), max(round(n_samples / np.e), 1)
    kept = np.flatnonzero((since >= n_out) | (n == 1))
    kept = kept[np.argsort(since[kept], kind="stable")]
    copies, more = divmod(n, len(kept))
    counts = np.zeros(n, dtype=int)
    counts[kept] = copies
    counts[kept[:more]] += 1
    return counts


def bootstrap_estimate(full, scores, positive, counts, weight=None, method=".632+"):
    """AUC of the model from the scores of its refits.

    Parameters
    ----------
    full : ndarray of shape (n,)
        Scores of the rows under the fit to all of them.
    scores, counts : ndarray of shape (n_boot, n)
        Scores of all rows under every refit; how often its sample drew each row.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Frequency weights.
    method : {".632+", ".632", "oob", "optimism"}, default=".632+"

    Returns
    -------
    float
        NaN where no sample leaves out a row of each class.
    """
    weight = np.ones(len(full)) if weight is None else weight
    apparent = _auc(full, positive, weight)
    if method == "optimism":
        return apparent - mean_optimism(scores, positive, counts, weight)
    outside = out_of_bag_auc(scores, positive, counts, weight)
    if method == "oob":
        return outside
    if method == ".632":
        return (1 - _INSIDE) * apparent + _INSIDE * outside
    return plus_632(apparent, outside)


def plus_632(apparent, outside) -> float:
    """``(1 − w) apparent + w outside``, ``w = .632/(1 − .368R)``.

    R is the relative overfitting ``(Err − err)/(½ − err)`` of the errors 1 − AUC out
    of bag and apparent, in [0, 1]; an out-of-bag AUC below ½ counts as ½. A model that
    ranks its own rows the wrong way round (stacked ones of noise do) overfits that way.
    """
    if apparent < 0.5:
        return 1 - plus_632(1 - apparent, 1 - outside)
    # R = (Err − err)/(½ − err) = (A_apparent − A_out)/(A_apparent − ½)
    outside = np.maximum(outside, 0.5)  # keeps a NaN
    R = (apparent - outside) / (apparent - 0.5) if apparent > outside else 0.0
    w = _INSIDE / (1 - (1 - _INSIDE) * R)
    return float((1 - w) * apparent + w * outside)


def out_of_bag_auc(scores, positive, counts, weight=None) -> float:
    """AUC of the rows that a sample did not draw.

    With few rows the mean over all pairs of how often the positive wins, over the
    samples that leave out both: every pair counts the same, however often it was left
    out. Its standard deviation is 1 to 3 % below that of the mean over the samples,
    n = 20 to 60 and 20 samples; with many rows they agree and the latter is taken.
    """
    weight = np.ones(len(positive)) if weight is None else weight
    n_pos = np.count_nonzero(positive)
    if n_pos * (len(positive) - n_pos) <= _PAIRS:
        return _pair_auc(scores, positive, counts == 0, weight)
    out = (counts == 0) * weight
    each = [_auc(s, positive, c) for s, c in zip(scores, out, strict=True)]
    return float(np.mean(each))


def mean_optimism(scores, positive, counts, weight) -> float:
    """Harrell's: mean AUC of the refits on their own samples less that on all rows."""
    own = [_auc(s, positive, c * weight) for s, c in zip(scores, counts, strict=True)]
    return float(np.mean(own) - np.mean([_auc(s, positive, weight) for s in scores]))


def _auc(score, positive, weight):
    """Weighted AUC of the rows with weight; NaN where a class has none."""
    pos, neg = positive & (weight > 0), ~positive & (weight > 0)
    if not pos.any() or not neg.any():
        return np.nan
    return empirical_auc(score[neg], score[pos], weight[neg], weight[pos])


def _pair_auc(scores, positive, out, weight):
    """Wins of each pair over the samples that leave both out; mean over the pairs.

    Pairs that no sample leaves out together count as the mean of the others.
    """
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    rank = _ranks(scores)
    # a row that was drawn neither wins nor is beaten
    low = np.where(out, rank, -1).take(pos, axis=1)
    high = np.where(out, rank, len(positive)).take(neg, axis=1)
    # Small integers, wide enough for 2·wins + ties
    wins = np.zeros((len(pos), len(neg)), np.min_scalar_type(2 * len(scores)))
    ties = np.zeros_like(wins)
    # Without ties the ranks go up to n − 1
    tied = rank.max(axis=1) < rank.shape[1] - 1
    for i, j, some in zip(low, high, tied, strict=True):
        wins += (i[:, None] > j).view(np.uint8)
        if some:
            ties += (i[:, None] == j).view(np.uint8)
    halves = 2 * wins + ties
    free = out.astype(float)
    # Samples that leave out both rows of a pair
    seen = free[:, pos].T @ free[:, neg]
    # each pair's weight, over the samples that it is seen in
    share = np.outer(weight[pos], weight[neg]) / np.maximum(seen, 1.0)
    # no BLAS: its threads would wait for each other longer than these sums take
    total = np.einsum("pn,pn->", share, seen)
    won = np.einsum("pn,pn->", share, halves)
    return float(won / (2 * total)) if total > 0 else np.nan


def _ranks(scores):
    """Ranks of each row's scores, ties equal: small numbers compare fast."""
    order = np.argsort(scores, axis=1)
    sorted_ = np.take_along_axis(scores, order, axis=1)
    # A signed type that holds −1 and n as well
    above = np.zeros(scores.shape, dtype=np.min_scalar_type(-scores.shape[1] - 1))
    np.cumsum(sorted_[:, 1:] > sorted_[:, :-1], axis=1, out=above[:, 1:])
    rank = np.empty_like(above)
    np.put_along_axis(rank, order, above, axis=1)
    return rank
