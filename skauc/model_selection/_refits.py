"""True refits of a whole estimator, as a source of its AUC."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtri
from sklearn.utils import column_or_1d

from ..leave_pair_out._bootstrap import balanced_counts, bootstrap_estimate
from ..leave_pair_out._second_source import SecondSource
from ..posterior._auc_posterior import AUCPosterior
from ._affine_steps import unseen_fits
from ._any_rows import take_rows
from ._bootstrap_auc import refit_scores
from ._second_source import source_of_rows
from ._training_objective import correlation

REFITS = 5  # where nobody says how many
# Of Hanley and McNeil's. 624 problems, SelectKBest and L1: the squared error of .632+
# with 5 refits is 1.30 (.12) times their variance (of bootstrap samples 1.48), of which
# .33 (.37) vary with the draw. An interval from the refits alone covers .94 (few
# signals .87), with 5/4 only .92 (.83).
REFITS_VARIANCE = 1.5
# 1 − correlation of the scores of rows with those of a clone fitted to them, and that
# of two clones (chance). Target encoder, binning, splines, stack, forest, naive Bayes,
# kernel, neighbours, layers, SGD; 40, 150, 1000 rows: training rows without chance 0,
# with it .001 to .17, 0 to 4.2 times chance (a stack of 40 rows is chance alone);
# held-out rows .3 to 1.2, of 1000 rows .02 to .6, mostly 5 times chance and more.
_SAME, _ALIKE, _NEAR = 5e-4, 4.0, 0.1
_APART, _UNLIKE = 0.05, 5.0


def refits_source(
    estimator, X, y, positive, weight, score, n_refits, *, verbose=0
) -> SecondSource | None:
    """The .632+ AUC of K refits of a clone of the whole estimator, on balanced samples.

    Parameters
    ----------
    estimator : estimator
        Any classifier; its score points to ``classes_[1]``.
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : array-like of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    score : ndarray of shape (n,)
        Of the rows that trained the estimator; it points to the positive class.
    n_refits : int
    verbose : int, default=0
        How much joblib says of the refits that are done; 0 is silent.

    Returns
    -------
    SecondSource or None
        None where a class has fewer than two rows.

    Notes
    -----
    Every row is left out of equally many refits
    (:func:`~skauc.leave_pair_out._bootstrap.balanced_counts`): the draw of five samples
    is less of a chance than with bootstrap samples. The samples depend on the classes
    of the rows alone, so that all candidates of a search share them.
    """
    X, labels, positive, weight, score = _counted(X, y, positive, weight, score)
    if min(positive.sum(), (~positive).sum()) < 2:
        return None
    # the class of the first row: which one is called positive does not matter
    first = positive == positive[0]
    counts = balanced_counts(first, int(n_refits))
    pairs = [(count[first] == 0).any() & (count[~first] == 0).any() for count in counts]
    counts = counts[pairs]  # the others would say nothing
    scores = Parallel(n_jobs=1, verbose=verbose)(
        delayed(refit_scores)(estimator, X, labels, positive, weight, count)
        for count in counts
    )
    auc = bootstrap_estimate(score, np.array(scores), positive, counts, weight)
    w = np.ones(len(labels)) if weight is None else weight
    n_neg, n_pos = float(w[~positive].sum()), float(w[positive].sum())
    return source_of_rows(float(auc), n_neg, n_pos, "refits", REFITS_VARIANCE)


def told_by_refits(estimator, X, y, positive, weight, score) -> str | None:
    """Whether these rows trained an estimator: clones fitted to them score alike then.

    Parameters
    ----------
    estimator, X, y, positive, weight, score
        As for :func:`refits_source`.

    Returns
    -------
    {"training", "held-out"} or None
        None where that does not tell, or no clone can be fitted to these rows.
    """
    whole, rows = (X, column_or_1d(y), positive), _rows_that_count(y, weight)
    X, labels, positive, weight, score = _counted(X, y, positive, weight, score)

    def refit(X, labels, positive, weight):
        once = np.ones(len(labels), dtype=int)
        with unseen_fits():
            return refit_scores(estimator, X, labels, positive, weight, once)

    def apart(a, b):
        return 1 - correlation(a, b, np.ones(len(labels)))

    try:
        first = refit(X, labels, positive, weight)
        if apart(score, first) <= _SAME:
            return "training"
        # Chance sets two clones apart, or that the estimator may have had no weights,
        second = refit(X, labels, positive, None)
        # nor left out the rows that weigh nothing here.
        clones = [first, second]
        if len(rows) < len(whole[1]):
            clones.append(refit(*whole, None)[rows])
    except Exception:
        return None
    chance = apart(first, second)
    # One feature that y has made may point either way, of the same rows.
    from_score = min(apart(s, clone) for clone in clones for s in (score, -score))
    if from_score <= max(_SAME, min(_ALIKE * chance, _NEAR)):
        return "training"
    return "held-out" if from_score > _APART + _UNLIKE * chance else None


def _rows_that_count(y, weight):
    return np.arange(len(y)) if weight is None else np.flatnonzero(weight)


def _counted(X, y, positive, weight, score):
    """Rows that count: X, labels, mask, weights, scores; rows of weight 0 are none."""
    labels = column_or_1d(y)
    if weight is None or weight.all():
        return X, labels, positive, weight, score
    rows = _rows_that_count(y, weight)
    X, labels, positive = take_rows(X, rows), labels[rows], positive[rows]
    return X, labels, positive, weight[rows], score[rows]


def posterior_of_source(source: SecondSource, n: float) -> AUCPosterior:
    """Normal posterior of ``Φ⁻¹(AUC)`` around an estimate from rows left out.

    Parameters
    ----------
    source : SecondSource
    n : float
        Number of rows; keeps the probit finite.

    Returns
    -------
    AUCPosterior
        Its mean is the source's AUC, its spread the delta method's.
    """
    # z = Φ⁻¹((an + ½)/(n + 1)), section 6 of skauc.adaptive
    auc = (source.auc * n + 0.5) / (n + 1)
    z = float(ndtri(auc))
    variance = source.variance * 2 * np.pi * np.exp(z**2)  # over φ(z)²
    return AUCPosterior.normal(z, variance)
