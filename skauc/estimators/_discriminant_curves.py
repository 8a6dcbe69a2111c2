"""What a discriminant tells of the ROC curves of its pairs of classes."""

from __future__ import annotations

import numpy as np

from ..statistics._collections import refuse_collection


class PredictsArrays:
    """A discriminant's predictions, which refuse to gather a collection.

    Stands before scikit-learn's class, whose documentation holds.
    """

    def decision_function(self, X):
        """See the parent; X must be an array."""
        refuse_collection("X", X)
        return super().decision_function(X)

    def predict(self, X):
        """See the parent; X must be an array."""
        refuse_collection("X", X)
        return super().predict(X)

    def predict_proba(self, X):
        """See the parent; X must be an array."""
        refuse_collection("X", X)
        return super().predict_proba(X)

    def predict_log_proba(self, X):
        """See the parent; X must be an array."""
        refuse_collection("X", X)
        return super().predict_log_proba(X)


def publish_curves(model, curves) -> None:
    """Set ``pairwise_roc_``, ``auc_`` and, for two classes, what there is one of.

    Parameters
    ----------
    model : estimator
        With ``classes_``; gains ``pairwise_roc_`` and ``auc_`` (the mean over all
        pairs, Hand & Till; NaN if a pair has no curve), for two classes with a curve
        also ``roc_`` and ``youden_threshold_``.
    curves : dict
        ``(class_i, class_j)``, i < j, → curve of the pair, class_j being positive.
    """
    for name in ("roc_", "youden_threshold_"):
        model.__dict__.pop(name, None)  # of an earlier fit
    K = len(model.classes_)
    areas = [roc.auc for roc in curves.values()]
    model.pairwise_roc_ = curves
    model.auc_ = float(np.mean(areas)) if len(areas) == K * (K - 1) // 2 else np.nan
    if K == 2 and curves:
        (model.roc_,) = curves.values()
        model.youden_threshold_ = model.roc_.youden().threshold
