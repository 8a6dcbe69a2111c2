"""Leave-pair-out of a fitted model as a scorer."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._validation import check_features, check_positive, check_weight
from ..intervals._warn_caller import warn_caller
from ..leave_pair_out._pairs import class_of_one_row
from ._linear_model import open_two_classes
from ._scorer import Scorer, shared
from ._training_objective import leave_pair_out_estimate, missing_objective


def make_lpo_auc_scorer(*, pos_label=None) -> Scorer:
    """Scorer that returns the leave-pair-out AUC of a fitted model, without refits.

    Answers: how often would a positive outrank a negative, had neither been among the
    training rows? Nearly unbiased for the AUC of the trained model, noisier than the
    Bayesian AUC. One linear solve of size min(n, P + 1) a candidate.

    Parameters
    ----------
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.

    Returns
    -------
    Scorer
        To be called with the rows, and sample weights, that trained the model. Of a row
        of weight above 1 one copy is left out, any other row as a whole: so relative
        weights must not exceed 1.

    Raises
    ------
    TypeError
        When called: if the training objective of the model is not known. Known are
        ``LogisticRegression`` (L2), ``RidgeClassifier``, ``LinearSVC`` (squared hinge),
        ``LinearDiscriminantAnalysis`` (no or fixed shrinkage), their ``…CV`` forms and
        skauc's own estimators.
    ValueError
        When called: if the rows are not the ones that trained the model.

    Warns
    -----
    UndefinedMetricWarning
        When called: if a class has one row (nan: without it nothing is left of that
        class), or all coefficients are 0 (½).

    Notes
    -----
    Exact for squared losses, one Newton step otherwise (derived in
    :mod:`skauc.leave_pair_out._estimate`); with more than 250 rows in a class an even
    sample of its rows forms the pairs.

    References
    ----------
    Airola et al. (2011), https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skauc import lpo_auc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(lpo_auc_scorer(RidgeClassifier().fit(X, y), X, y), 2)
    0.99
    """
    return Scorer("make_lpo_auc_scorer", _leave_pair_out, {"pos_label": pos_label})


def _leave_pair_out(estimator, X, y, *, pos_label, sample_weight):
    opened = open_two_classes(estimator, X)
    positive = check_positive(y, pos_label=pos_label, classes=opened.classes)
    weight = check_weight(sample_weight, positive)
    classes = np.unique(y) if opened.classes is None else opened.classes
    if pos_label is not None and pos_label == classes[0]:
        positive = ~positive  # the model's own orientation: the AUC is the same
    Z = check_features(opened.front, len(positive))
    if not np.any(opened.w):
        warn_caller(
            "The AUC is undefined and set to 1/2 because the coefficients are all 0",
            UndefinedMetricWarning,
        )
        return 0.5
    if class_of_one_row(positive, weight) is not None:
        warn_caller(
            "The leave-pair-out AUC is undefined and set to nan because a class has "
            "one row: without it nothing is left of that class",
            UndefinedMetricWarning,
        )
        return np.nan
    # None has two meanings: no known objective, or not these rows.
    second = leave_pair_out_estimate(opened.model, Z, positive, weight)
    if second is not None:
        return second.auc
    reason = missing_objective(opened.model, Z, positive, weight)
    if reason is not None:
        raise TypeError(
            f"{type(opened.model).__name__} has no leave-pair-out in closed form "
            f"({reason}); use skauc.cv_auc_scorer"
        )
    raise ValueError(
        "X must be the rows (and sample_weight the weights) that trained the "
        f"{type(opened.model).__name__}, got rows on which its gradient is not "
        "0 (or its solver has not converged, or the fit is singular)"
    )


lpo_auc_scorer = shared(make_lpo_auc_scorer())
