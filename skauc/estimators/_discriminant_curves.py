"""The ROC curves of the pairs of classes of a discriminant."""

from itertools import combinations

import numpy as np
import sklearn

# The solvers "svd" of LDA and QDA divide scatters by n since scikit-learn 1.9, before
# that by n − K and n_c − 1
DIVIDES_BY_N = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


class NumpyCurves:
    """Parent of the discriminants, before scikit-learn's class: no array API."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # the curves are numpy's
        return tags


def publish_curves(model, curve) -> None:
    """Set ``pairwise_roc_``, ``auc_`` and, for two classes, the only curve.

    Parameters
    ----------
    model : estimator
        With ``classes_``; gains ``pairwise_roc_`` and ``auc_`` (the mean over all
        pairs, Hand & Till; NaN if a pair has no curve), for two classes with a curve
        also ``roc_`` and ``youden_threshold_``.
    curve : callable
        ``curve(i, j)``, i < j, is the curve of two classes, j being positive, or None.
    """
    for name in ("roc_", "youden_threshold_"):
        model.__dict__.pop(name, None)  # left from an earlier fit
    pairs = list(combinations(range(len(model.classes_)), 2))
    curves = {(model.classes_[i], model.classes_[j]): curve(i, j) for i, j in pairs}
    curves = {pair: roc for pair, roc in curves.items() if roc is not None}
    areas = [roc.auc for roc in curves.values()]
    model.pairwise_roc_ = curves
    model.auc_ = float(np.mean(areas)) if len(areas) == len(pairs) else np.nan
    if len(pairs) == 1 and curves:
        (model.roc_,) = curves.values()
        model.youden_threshold_ = model.roc_.youden().threshold
