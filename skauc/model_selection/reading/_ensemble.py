"""Votes of the members of an ensemble, and the rows that each of them left out.

Forests and bagging show the rows that each member drew in the public attributes
``estimators_``, ``estimators_samples_`` and ``estimators_features_``. The numbers of
the rows are drawn again from seeds, whatever rows are scored, so that a few members
show whether these rows, in this order, are those of the fit: a tree keeps the number of
its rows in every leaf, and a member of another kind is fitted once more. Ensembles of
which this, or the mean vote, is not what it should be have no known rows out of bag.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ...leave_pair_out._left_out import even_sample
from ._estimators import take_columns

_MOST_ROWS = 1000  # rows of a class that form pairs: their noise is below DeLong's
_TRIED = 5  # trees whose leaves are compared: shuffled rows fill few leaves alike
_NEAR = 0.1  # distance of a member from its clone in units of that from another one
# Shares of the range of the scores and of the largest one that sums of votes may err by
_FLOAT32, _ROUNDING = 1e-4, 1e-6


@dataclass(frozen=True, eq=False)
class Bag:
    """An even sample of the rows of each class, as the members of an ensemble see it.

    Parameters
    ----------
    rows : ndarray of int of shape (m,)
        Row numbers.
    mass : ndarray of shape (m,)
        Adds up to the weight of each class.
    votes : ndarray of float32 of shape (T, m, k)
        Score of each row by each member, in units of the largest score.
    out : ndarray of bool of shape (T, m)
        Whether a member was not fitted to the row.
    """

    rows: np.ndarray
    mass: np.ndarray
    votes: np.ndarray
    out: np.ndarray


def bag_of(ensemble, X, scores, y, weight, kept) -> Bag | None:
    """The members of an ensemble; None if their rows are not known to be these ones.

    Parameters
    ----------
    ensemble : fitted estimator
    X : array-like, sparse matrix or frame of shape (n, n_features)
        Its training rows.
    scores : ndarray of shape (n, k)
        Decisions of the ensemble.
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
    kept : ndarray of int of shape (n,) or None
        Numbers of these rows among those that may have been fitted; None for all.
    """
    # members that were kept from another fit know other rows than their samples show
    if getattr(ensemble, "warm_start", False):
        return None
    try:
        return _drawn(_Members(ensemble, X, scores), scores, y, weight, kept)
    except Warning:  # which the user made an error
        raise
    except Exception:  # no samples, another library's, or parameters set after the fit
        return None


def _drawn(members, scores, y, weight, kept):
    """The bag, if the members vote as the ensemble does and drew these rows."""
    weight = np.ones(len(y)) if weight is None else weight
    codes = np.unique(y, return_inverse=True)[1]
    order = np.argsort(scores[:, 0], kind="stable")
    sampled = even_sample(order, codes, weight, _MOST_ROWS)
    rows, mass = map(np.concatenate, zip(*sampled, strict=True))
    votes = np.array([members.vote(t, rows) for t in range(len(members.samples))])
    error = votes.mean(axis=0) - scores[rows] / members.unit
    if np.abs(error).max() > _FLOAT32 * np.ptp(scores) / members.unit + _ROUNDING:
        return None
    # weights of 0 may have been dropped before the fit, or in it
    plain = np.arange(len(y))
    for numbers in (plain,) if kept is None else (kept, plain):
        if members.drew(numbers, codes, rows, votes):
            drawn = [np.isin(numbers[rows], sample) for sample in members.samples]
            return Bag(rows, mass, votes, ~np.array(drawn))
    return None


class _Members:
    """The T members of an ensemble, and rows as they take them."""

    def __init__(self, ensemble, X, scores):
        self.samples = ensemble.estimators_samples_
        self.estimators = ensemble.estimators_
        T = len(self.samples)
        self.columns = getattr(ensemble, "estimators_features_", [None] * T)
        self.X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        self.trees = all(hasattr(member, "tree_") for member in self.estimators)
        if self.trees:
            self.X = self.X.astype(np.float32)  # as trees take it: no check is needed
        dense_trees = self.trees and not sparse.issparse(X)
        self.how = {"check_input": False} if dense_trees else {}
        names = "decision_function", "predict_proba", "predict"
        self.method = next(name for name in names if hasattr(ensemble, name))
        self.n_classes = len(getattr(ensemble, "classes_", ()))
        self.unit = float(np.abs(scores).max()) or 1.0

    def vote(self, t, rows, member=None):
        """Votes (m, k) of a member, or of its clone, in units of the largest score."""
        member, K = self.estimators[t] if member is None else member, self.n_classes
        votes = getattr(member, self.method)(self._take(t, rows), **self.how)
        votes = np.reshape(votes, (len(rows), -1)) / self.unit
        if self.method == "predict_proba":
            # members are fitted to the codes of the classes, and may have seen a few
            every = np.zeros((len(rows), K))
            every[:, member.classes_.astype(np.int64)] = votes
            votes = every[:, 1:] if K == 2 else every
        return votes.astype(np.float32)

    def drew(self, numbers, codes, rows, votes):
        """Whether a few members were fitted to what they drew of the numbered rows."""
        tried = np.linspace(0, len(votes) - 1, _TRIED if self.trees else 1)
        for t in np.unique(tried.astype(np.int64)):
            size = max(self.samples[t].max(), numbers.max()) + 1
            times = np.bincount(self.samples[t], minlength=size)[numbers]
            if self.trees:
                same = self._fills_leaves(t, times)
            else:
                same = self._is_its_clone(t, times, codes, rows, votes)
            if not same:
                return False
        return True

    def _fills_leaves(self, t, times):
        """Whether the drawn rows fill the leaves of a tree as those of its fit did."""
        drawn = np.flatnonzero(times)
        tree = self.estimators[t].tree_
        leaf = self.estimators[t].apply(self._take(t, drawn), **self.how)
        size = np.where(tree.children_left < 0, tree.n_node_samples, 0)
        # copies are rows of their own, or weights
        found = (np.bincount(leaf, w, len(size)) for w in (None, times[drawn]))
        return any(np.array_equal(one, size) for one in found)

    def _is_its_clone(self, t, times, codes, rows, votes):
        """Whether a clone fitted to the drawn rows is nearer than another member."""
        drawn = np.repeat(np.arange(len(times)), times)
        again = clone(self.estimators[t]).fit(self._take(t, drawn), codes[drawn])
        vote = self.vote(t, rows, again)
        three = [np.ravel(one) for one in (votes[t], vote, votes[t - 1])]
        apart = 1 - np.corrcoef(three)[0]
        return bool(apart[1] <= _NEAR * apart[2])

    def _take(self, t, rows):
        """Rows of the columns that a member sees."""
        X, columns = self.X[rows], self.columns[t]
        if columns is None or np.array_equal(columns, np.arange(X.shape[1])):
            return X
        return take_columns(X, columns)
