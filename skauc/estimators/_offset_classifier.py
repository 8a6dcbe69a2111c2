"""Predictions of a linear classifier to whose logit an offset may be added."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import accuracy_score

from .._validation import check_score, short
from ._base import LinearClassifier

_LARGEST_OFFSET = 1e150  # its square is a number


class OffsetClassifier(LinearClassifier):
    """Linear classifier whose methods take ``offset``, of two classes; None is 0."""

    def decision_function(self, X, offset=None):
        """Linear predictor ``X @ coef_ + intercept_ + offset``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None
            Added to the logit of ``classes_[1]``, for two classes; None is 0, whatever
            the model was fitted with.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        decision = super().decision_function(X)
        offset = check_offset(offset, len(decision), self.classes_)
        return decision if offset is None else decision + offset

    def predict(self, X, offset=None):
        """Label of the most probable class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._label_of(self.decision_function(X, offset))

    def predict_proba(self, X, offset=None):
        """Class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._probability_of(self.decision_function(X, offset))

    def predict_log_proba(self, X, offset=None):
        """Logarithm of the class probabilities, finite also where they underflow.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._log_probability_of(self.decision_function(X, offset))

    def score(self, X, y, sample_weight=None, offset=None):
        """Accuracy.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        offset : array-like of shape (n,), default=None

        Returns
        -------
        float
        """
        predicted = self.predict(X, offset)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))


def check_offset(offset, n, classes) -> np.ndarray | None:
    """Check an offset: one finite number a row, for two classes."""
    if offset is None:
        return None
    if len(classes) > 2:
        raise ValueError(
            f"offset must be None for more than two classes, got {short(offset)}"
        )
    return check_score(offset, n, name="offset", largest=_LARGEST_OFFSET)
