"""Model selection without folds: fit once, score the rows that were fitted."""

from __future__ import annotations

import numpy as np


class ResubstitutionSplit:
    """Splitter with one split, in which training and test rows are all rows.

    Answers: how do I tell ``GridSearchCV`` to fit each candidate once? It is meant for
    scorers that may be asked about training rows (:data:`skauc.cbauc_scorer`). With an
    ordinary scorer such as ``"roc_auc"`` it gives the optimistic resubstitution score.
    A successive halving search needs ``random_state``, an integer: without, it draws
    other rows to score than to fit, and a mixture of both kinds has no honest score.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import ResubstitutionSplit
    >>> [(train, test)] = ResubstitutionSplit().split(np.zeros((3, 2)))
    >>> train.tolist(), test.tolist()
    ([0, 1, 2], [0, 1, 2])
    """

    def split(self, X, y=None, groups=None):
        """Yield the one pair ``(train, test)`` of row numbers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y, groups : ignored

        Yields
        ------
        train, test : ndarray of shape (n,)
        """
        shape = getattr(X, "shape", None)
        if shape == () or (shape is None and not hasattr(X, "__len__")):
            raise TypeError(f"X must hold rows, got {X!r}")
        n = len(X) if shape is None else shape[0]
        yield np.arange(n), np.arange(n)

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
        """Return 1."""
        return 1

    def __repr__(self):
        return "ResubstitutionSplit()"
