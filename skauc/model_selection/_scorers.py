"""Scorers: objects called as ``scorer(estimator, X, y) -> float`` (greater is better).

They wrap the posterior of :mod:`skauc.model_selection._auc_posterior` for ``GridSearchCV`` and its friends;
``cv_auc_scorer`` is the cross-validation they replace, as a scorer beside them.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri_exp
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, column_or_1d, indexable
from sklearn.utils.metadata_routing import MetadataRequest

from .._validation import (
    check_features,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..leave_pair_out._pairs import class_of_one_row
from ..posterior._conjugate import COVARIANCES
from ..statistics._ranks import empirical_auc
from ._auc_posterior import (
    check_prior,
    direction_of_rule,
    directions_of_pairs,
    ebauc_of_direction,
)
from ._linear_model import any_linear_rule, decision_values, linear_rule, weight_for_fit
from ._training_objective import leave_pair_out_estimate, missing_objective

MULTI_CLASS = ("ovo", "raise")


class Scorer:
    """Callable ``scorer(estimator, X, y_true, sample_weight=None) -> float``.

    An object rather than a function, because scikit-learn asks scorers about
    ``sample_weight`` and metadata routing. Made by the ``make_…_scorer`` factories.
    """

    def __init__(self, factory, score, params, *, shared=False):
        self._factory = factory
        self._score = score
        self._params = params
        self._shared = shared
        self._request = MetadataRequest(owner=self)
        # Known but not asked for: passing it unasked is scikit-learn's error.
        self._request.score.add_request(param="sample_weight", alias=None)

    def __call__(self, estimator, X, y_true, sample_weight=None):
        """Score a fitted estimator on (X, y_true); greater is better.

        ``sample_weight`` counts rows where a posterior is asked; cross-validation only
        needs ratios.
        """
        return self._score(
            estimator, X, y_true, sample_weight=sample_weight, **self._params
        )

    def __repr__(self):
        params = ", ".join(f"{k}={v!r}" for k, v in self._params.items())
        return f"{self._factory}({params})"

    def _accept_sample_weight(self):
        return True

    def _routing_repr(self):
        return repr(self)

    def set_score_request(self, *, sample_weight):
        """Request ``sample_weight`` under metadata routing.

        Parameters
        ----------
        sample_weight : bool, str or None
            As for scikit-learn's scorers.

        Returns
        -------
        Scorer
            This scorer; of a ready-made one (``cbauc_scorer``) a copy, so that the
            shared object stays as it is.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request needs metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        target = self
        if self._shared:
            target = Scorer(self._factory, self._score, self._params)
        target._request.score.add_request(param="sample_weight", alias=sample_weight)
        return target

    def get_metadata_routing(self):
        """Metadata that this scorer requests."""
        return copy.deepcopy(self._request)


def make_cbauc_scorer(
    *,
    prior="adaptive",
    covariance="common",
    scale="auc",
    multi_class="ovo",
    pos_label=None,
) -> Scorer:
    """Scorer that returns the Bayesian AUC (CBAUC) of a fitted linear model.

    Answers: which candidate has the best AUC, without folds?
    ``GridSearchCV(pipe, grid, scoring=make_cbauc_scorer(), cv=ResubstitutionSplit())``
    fits every candidate once. One ``X @ coef_`` a candidate.

    Parameters
    ----------
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        See :func:`auc_posterior`. ``"paper"`` says 1.00 on pure noise when P ≥ n: do
        not choose models with it unless P is small against n.
    covariance : {"common", "spherical", "separate"}, default="common"
        Covariance model of the classes.
    scale : {"auc", "probit"}, default="auc"
        ``"probit"`` returns ``Φ⁻¹(AUC)``, a number on the whole line that keeps its
        order where the AUC itself rounds to 1.
    multi_class : {"ovo", "raise"}, default="ovo"
        Of more than two classes: the mean over all pairs of classes, each pair on its
        own rows with its own rule (``w_j − w_i``; the pair's own coefficients in
        ``SVC(kernel="linear")``); or an error.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.

    Returns
    -------
    Scorer
        ``scorer(estimator, X, y_true, sample_weight=None)``.

    Raises
    ------
    ValueError
        If an option is not known.

    Notes
    -----
    On separable data the AUC of many candidates may round to 1.0, and
    ``GridSearchCV`` would silently take the first of them. ``scale="probit"`` still
    ranks them. The ready-made ``cbauc_scorer`` stays on the AUC scale, because
    ``best_score_`` is read as an AUC, and *warns* when its value rounds to 1.0.

    In ``permutation_importance`` on the training rows the permuted rows are no longer
    the ones that trained the model: they cannot hear leave-pair-out and must not be
    compared with those that did. That warns (:class:`skauc.UntrustedAUCWarning`, in
    the process that scored the training rows); take held-out rows, or
    ``prior=AdaptivePrior(leave_pair_out=False)`` for both.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC).

    Examples
    --------
    >>> from skauc import make_cbauc_scorer
    >>> make_cbauc_scorer(scale="probit")
    make_cbauc_scorer(prior='adaptive', covariance='common', scale='probit', ...)
    """
    check_prior(prior)
    check_option("covariance", covariance, COVARIANCES)
    check_option("scale", scale, ("auc", "probit"))
    check_option("multi_class", multi_class, MULTI_CLASS)
    params = dict(
        prior=prior,
        covariance=covariance,
        scale=scale,
        multi_class=multi_class,
        pos_label=pos_label,
    )
    return Scorer("make_cbauc_scorer", _cbauc_of_estimator, params)


def make_ebauc_scorer(
    *,
    prior="adaptive",
    covariance="separate",
    thresholds="scores",
    multi_class="ovo",
    pos_label=None,
) -> Scorer:
    """Scorer that returns EBAUC, the area under the predictive ROC curve.

    Answers the question of :func:`make_cbauc_scorer` through the posterior predictive
    distributions. One ``X @ coef_`` and one sort a candidate.

    Parameters
    ----------
    prior, multi_class, pos_label
        As for :func:`make_cbauc_scorer`.
    covariance : {"separate", "common", "spherical"}, default="separate"
        Covariance model of the classes; the authors' code takes separate ones.
    thresholds : {"scores", "all"}, default="scores"
        Trapezoid over the training scores with the end points, or the limit of
        infinitely many thresholds.

    Returns
    -------
    Scorer

    Raises
    ------
    ValueError
        If an option is not known.

    References
    ----------
    Hassan et al. (2019); Dalton & Dougherty (2011),
    https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import make_ebauc_scorer
    >>> make_ebauc_scorer(thresholds="all")
    make_ebauc_scorer(prior='adaptive', covariance='separate', thresholds='all', ...)
    """
    check_prior(prior)
    check_option("covariance", covariance, COVARIANCES)
    check_option("thresholds", thresholds, ("scores", "all"))
    check_option("multi_class", multi_class, MULTI_CLASS)
    params = dict(
        prior=prior,
        covariance=covariance,
        thresholds=thresholds,
        multi_class=multi_class,
        pos_label=pos_label,
    )
    return Scorer("make_ebauc_scorer", _ebauc_of_estimator, params)


def make_bee_scorer(*, prior="adaptive", covariance="common", pos_label=None) -> Scorer:
    """Scorer that returns 1 − the Bayesian error estimate (BEE).

    Answers: which candidate makes the fewest errors at its own threshold? The class
    probabilities are the (weighted) class shares of the rows it is given.

    Parameters
    ----------
    prior, covariance, pos_label
        As for :func:`make_cbauc_scorer`.

    Returns
    -------
    Scorer
        Greater is better.

    Raises
    ------
    ValueError
        If an option is not known.

    Notes
    -----
    ``BEE = π₀ FPR(t) + π₁ (1 − TPR(t))`` with predictive Student rates at the
    threshold where ``predict`` changes its answer.

    References
    ----------
    Dalton & Dougherty (2011), https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import make_bee_scorer
    >>> make_bee_scorer()
    make_bee_scorer(prior='adaptive', covariance='common', pos_label=None)
    """
    check_prior(prior)
    check_option("covariance", covariance, COVARIANCES)
    params = dict(prior=prior, covariance=covariance, pos_label=pos_label)
    return Scorer("make_bee_scorer", _accuracy_of_estimator, params)


def make_cv_auc_scorer(
    *, cv=5, pooling="mean", pos_label=None, random_state=0, n_jobs=None
) -> Scorer:
    """Scorer that cross-validates the AUC within the rows it is given.

    Answers what ``cross_val_score(..., scoring="roc_auc")`` answers, as a scorer that
    can stand beside the Bayesian ones in one search. Fits ``cv`` clones a call; works
    for any classifier with ``decision_function`` or ``predict_proba``.

    Parameters
    ----------
    cv : int or splitter, default=5
        An int means stratified, shuffled folds.
    pooling : {"mean", "pairs"}, default="mean"
        Mean over folds, or share of all within-fold pairs (folds weighted by their
        number of pairs). Scores of different folds are never compared.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    random_state : int, RandomState or None, default=0
        Seed of the shuffle when ``cv`` is an int.
    n_jobs : int, default=None
        Folds at once, as in joblib.

    Returns
    -------
    Scorer

    Raises
    ------
    ValueError
        If an option is not known; when called, if a class has fewer rows than folds.

    Notes
    -----
    The direction of the scores is the training folds': an AUC below ½ stays below ½.

    References
    ----------
    Airola et al. (2011), https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> from skauc import make_cv_auc_scorer
    >>> make_cv_auc_scorer(cv=10, pooling="pairs")
    make_cv_auc_scorer(cv=10, pooling='pairs', pos_label=None, random_state=0, ...)
    """
    check_option("pooling", pooling, ("mean", "pairs"))
    cv = list(cv) if isinstance(cv, Iterator) else cv
    params = dict(
        cv=cv,
        pooling=pooling,
        pos_label=pos_label,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return Scorer("make_cv_auc_scorer", _cv_auc, params)


def _cbauc_of_estimator(estimator, X, y, *, scale, multi_class, **question):
    rule = _RULES[multi_class](estimator, X)
    if rule.n_classes > 2:
        pairs = directions_of_pairs(rule, y, **question).values()
        value = _choice_of_pairs(pairs, scale)
    else:
        value = direction_of_rule(rule, y, **question).posterior().choice(scale)
    if scale == "auc" and 1 - value < 2 * np.finfo(float).eps:
        warnings.warn(
            "The Bayesian AUC rounds to 1.0, so that candidates tie; "
            'make_cbauc_scorer(scale="probit") still ranks them',
            UndefinedMetricWarning,
            stacklevel=3,
        )
    return value


def make_lpo_auc_scorer(*, pos_label=None) -> Scorer:
    """Scorer that returns the leave-pair-out AUC of a fitted model, without refits.

    Answers: how often would a positive outrank a negative, had neither been among the
    training rows? Nearly unbiased for the AUC of the trained rule, noisier than the
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
    :mod:`skauc.leave_pair_out._estimate`); with more than 250 rows in a class an even sample of
    its rows forms the pairs.

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
    rule = linear_rule(estimator, X)
    positive = check_positive(y, pos_label=pos_label, classes=rule.classes)
    weight = check_weight(sample_weight, positive)
    if pos_label is not None and pos_label == rule.classes[0]:
        positive = ~positive  # the model's own orientation: the AUC is the same
    Z = check_features(rule.Z, len(positive))
    if not np.any(rule.w):
        warnings.warn(
            "The AUC is undefined and set to 1/2 because the coefficients are all 0",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return 0.5
    if class_of_one_row(positive, weight) is not None:
        warnings.warn(
            "The leave-pair-out AUC is undefined and set to nan because a class has "
            "one row: without it nothing is left of that class",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return np.nan
    witness = leave_pair_out_estimate(rule.model, Z, positive, weight)
    if witness is not None:
        return witness.auc
    reason = missing_objective(rule.model, Z, positive, weight)
    if reason is not None:
        raise TypeError(
            f"{type(rule.model).__name__} has no leave-pair-out in closed form "
            f"({reason}); use skauc.cv_auc_scorer"
        )
    raise ValueError(
        "X must be the rows (and sample_weight the weights) that trained the "
        f"{type(rule.model).__name__}, got rows on which its gradient is not "
        "0 (or its solver has not converged, or the fit is singular)"
    )


def _ebauc_of_estimator(estimator, X, y, *, thresholds, multi_class, **question):
    rule = _RULES[multi_class](estimator, X)
    if rule.n_classes > 2:
        pairs = directions_of_pairs(rule, y, **question).values()
        return float(np.mean([ebauc_of_direction(pair, thresholds) for pair in pairs]))
    return ebauc_of_direction(direction_of_rule(rule, y, **question), thresholds)


_RULES = {"ovo": any_linear_rule, "raise": linear_rule}


def _choice_of_pairs(pairs, scale):
    """Mean of the pairs' AUCs, on the probit scale without saturating."""
    probit = [pair.posterior().choice("probit") for pair in pairs]
    if scale == "auc":
        return float(ndtr(probit).mean())
    sign = 1.0 if ndtr(probit).mean() <= 0.5 else -1.0  # the smaller tail keeps digits
    log_tail = logsumexp(log_ndtr(sign * np.array(probit))) - np.log(len(probit))
    return float(sign * ndtri_exp(log_tail))


def _accuracy_of_estimator(
    estimator, X, y, *, prior, covariance, pos_label, sample_weight
):
    question = prior, covariance, sample_weight, pos_label
    direction = direction_of_rule(linear_rule(estimator, X), y, *question)
    threshold, share_pos = direction.threshold, direction.share_pos
    if direction.belief is None:  # every row gets the same answer
        constant = direction.score[0] > threshold
        return float(share_pos if constant else 1 - share_pos)
    return 1 - direction.belief.error(threshold, share_pos)


def _cv_auc(
    estimator, X, y, *, cv, pooling, pos_label, random_state, n_jobs, sample_weight
):
    positive = check_positive(y, pos_label=pos_label)
    weight = check_weight(sample_weight, positive)
    if hasattr(estimator, "feature_names_in_"):  # fitted: its columns are known
        decision_values(estimator, _safe_indexing(X, [0]))
    (X,), labels = indexable(X), column_or_1d(y)
    if weight is not None and not weight.all():  # weight 0 is no row
        keep = np.flatnonzero(weight)
        X, labels = _safe_indexing(X, keep), labels[keep]
        positive, weight = positive[keep], weight[keep]
    if isinstance(cv, Integral):
        smaller = min(positive.sum(), (~positive).sum())
        if not 2 <= cv <= smaller:
            raise ValueError(
                "cv must lie between 2 and the number of rows of the smaller class, "
                f"got cv = {cv} with {smaller} rows"
            )
        cv = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    splits = check_cv(cv, positive, classifier=True).split(X, positive)
    folds = Parallel(n_jobs=n_jobs)(
        delayed(_fold_auc)(estimator, X, labels, positive, weight, train, test)
        for train, test in splits
    )
    auc, pairs = np.array(folds).T
    return float(np.average(auc, weights=pairs if pooling == "pairs" else None))


def _fold_auc(estimator, X, y, positive, weight, train, test):
    """AUC of a clone on one fold, and the (weighted) number of its pairs."""
    if positive[test].all() or not positive[test].any():
        raise ValueError("cv must leave both classes in every test fold, got one class")
    model = clone(estimator)
    fit_params = {} if weight is None else weight_for_fit(model, weight[train])
    model.fit(_safe_indexing(X, train), y[train], **fit_params)
    score = decision_values(model, _safe_indexing(X, test))
    lower = getattr(model, "classes_", np.unique(y))[0]
    if positive[y == lower].any():  # the score points to the other label
        score = -score
    score = check_score(score, len(test), name="decision_function")
    pos = positive[test]
    w = np.ones(len(test)) if weight is None else weight[test]
    auc = empirical_auc(score[~pos], score[pos], w[~pos], w[pos])
    return auc, w[pos].sum() * w[~pos].sum()


def _shared(scorer):
    scorer._shared = True
    return scorer


cbauc_scorer = _shared(make_cbauc_scorer())
ebauc_scorer = _shared(make_ebauc_scorer())
bee_scorer = _shared(make_bee_scorer())
cv_auc_scorer = _shared(make_cv_auc_scorer())
lpo_auc_scorer = _shared(make_lpo_auc_scorer())
