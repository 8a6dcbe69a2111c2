"""The parent class of the linear classifiers.

A fitted model is ``coef_`` and ``intercept_``; ``decision = X @ coef_.T + intercept_``,
one column for two classes (towards ``classes_[1]``), K columns for K > 2.
"""

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..statistics._checks import columns_named
from ..statistics._row_blocks import refuse_collection
from ..statistics._types import Values
from . import _checks as check


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Classifier whose decision is linear; subclasses fit it.

    Probabilities are ``expit`` (two classes) or ``softmax`` (more) of
    ``_logits(decision)``, which a subclass may rescale: they stay monotone in
    the decision, and their largest class is the predicted one.
    """

    def decision_function(self, X: Any, offset: Values = None) -> np.ndarray:
        """Signed distance to the decision boundary, in units of ``X @ coef_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None
            Added to the decision, for two classes; None is 0, even if the model was
            fitted with an offset. The decision of :class:`IRLSLogisticRegression` is
            the logit of ``classes_[1]``.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        check_is_fitted(self, "coef_")
        decision = np.asarray(self._features(X) @ self.coef_.T) + self.intercept_
        decision = decision[:, 0] if decision.shape[1] == 1 else decision
        offset = check.offset(offset, len(decision), self.classes_)
        return decision if offset is None else decision + offset

    def _features(self, X):
        """Check the features of new rows."""
        refuse_collection("X", X)
        with columns_named(X):
            return validate_data(self, X, **check.FEATURES, reset=False)

    def predict(self, X: Any, offset: Values = None) -> np.ndarray:
        """Label of the class with the largest decision.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None
            As for :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n,)
        """
        decision = self.decision_function(X, offset)
        chosen = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[chosen.astype(np.int64)]

    def predict_proba(self, X: Any, offset: Values = None) -> np.ndarray:
        """Class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None
            As for :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return softmax(self._logits(self.decision_function(X, offset)), axis=1)

    def predict_log_proba(self, X: Any, offset: Values = None) -> np.ndarray:
        """Logarithm of the class probabilities, finite also where they underflow.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        offset : array-like of shape (n,), default=None
            As for :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return log_softmax(self._logits(self.decision_function(X, offset)), axis=1)

    def _logits(self, decision):
        """Return a logit for each class; of two classes that of the first one is 0."""
        if decision.ndim == 2:
            return decision
        return np.column_stack([np.zeros_like(decision), decision])
