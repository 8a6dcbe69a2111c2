"""Model selection without folds: fit once, score the rows that were fitted."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d, indexable

from .._validation import check_positive, is_continuous
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._pairwise import PairwiseAUCPosterior
from ._auc_posterior import auc_posterior, check_prior
from ._linear_model import LinearRule, any_linear_rule, weight_for_fit


class ResubstitutionSplit:
    """Splitter with one split, in which training and test rows are all rows.

    Answers: how do I tell ``GridSearchCV`` to fit each candidate once? It is meant for
    scorers that may be asked about training rows (:data:`skauc.cbauc_scorer`). With an
    ordinary scorer such as ``"roc_auc"`` it gives the optimistic resubstitution score.

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
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        yield np.arange(n), np.arange(n)

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
        """Return 1."""
        return 1

    def __repr__(self):
        return "ResubstitutionSplit()"


def bayesian_val_score(
    estimator,
    X,
    y,
    *,
    prior="adaptive",
    covariance="common",
    sample_weight=None,
    pos_label=None,
) -> AUCPosterior | PairwiseAUCPosterior:
    """Fit a clone once and return the posterior of its AUC.

    Answers what ``cross_val_score(estimator, X, y, scoring="roc_auc")`` answers, with
    one fit instead of five and with an honest uncertainty: ``.mean()`` and ``.std()``
    read as before, ``.interval(0.95)`` comes on top.

    Parameters
    ----------
    estimator : estimator
        Linear classifier, or a Pipeline or search that ends in one; fitted or not. As
        in ``cross_val_score`` a clone of it is fitted; :func:`skauc.auc_posterior`
        takes a fitted one as it is.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Default ``"adaptive"``; see :func:`skauc.auc_posterior`. ``"paper"`` is not
        honest unless P is small against n.
    covariance : {"common", "spherical", "separate"}, default="common"
    sample_weight : array-like of shape (n,), default=None
        Frequency weights, for the fit (where the model takes them) and the score:
        counts of rows, as for :func:`skauc.auc_posterior`.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. None for more than two classes.

    Returns
    -------
    AUCPosterior
        For more than two classes a :class:`skauc.PairwiseAUCPosterior`.

    Raises
    ------
    TypeError
        If the model is not linear.
    ValueError
        If the input is bad; labels are looked at before the fit.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import bayesian_val_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> round(bayesian_val_score(model, X, y).mean(), 2)
    0.99
    """
    check_prior(prior)
    return auc_posterior(
        fitted_clone(estimator, X, y, sample_weight, pos_label),
        X,
        y,
        prior=prior,
        covariance=covariance,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )


def fitted_clone(estimator, X, y, sample_weight=None, pos_label=None):
    """A clone fitted to the rows, with the weights where it takes them.

    Labels are checked first: a fit may take long.
    """
    indexable(X, y)
    labels = column_or_1d(y)
    if pos_label is not None or not _is_multiclass(labels):
        check_positive(labels, pos_label=pos_label)
    model = clone(estimator)
    weights = {} if sample_weight is None else weight_for_fit(model, sample_weight)
    return model.fit(X, y, **weights)


def _is_multiclass(labels):
    if is_continuous(labels):
        return False
    try:
        return len(np.unique(labels)) > 2
    except TypeError:  # of several kinds
        return False


def fitted_rule(estimator, X, y, sample_weight=None, pos_label=None) -> LinearRule:
    """The linear model in an estimator; in a clone fitted to the rows, if it is not."""
    try:
        return any_linear_rule(estimator, X)
    except NotFittedError:
        model = fitted_clone(estimator, X, y, sample_weight, pos_label)
        return any_linear_rule(model, X)
