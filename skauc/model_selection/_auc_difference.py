"""The Bayesian twin of ``compare_auc``: two fitted models under one posterior.

The mathematics is in section 7 of :mod:`skauc.posterior` and, for the adaptive prior,
in :mod:`skauc.model_selection._candidate`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from .._validation import check_option
from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import check_covariance, check_prior
from ..posterior._auc_posterior import said_of
from ..posterior._joint import AUCDifferencePosterior, joint_posterior
from . import _doubts as doubts
from ._candidate import candidate, joint_aucs, trained_some
from ._posterior import evaluations
from ._training_rows import ROWS


def auc_difference_posterior(
    estimator_a,
    estimator_b,
    X,
    y,
    *,
    prior="adaptive",
    covariance="common",
    rows="auto",
    n_draws=2**14,
    random_state=0,
    sample_weight=None,
    pos_label=None,
) -> AUCDifferencePosterior | tuple[AUCDifferencePosterior, ...]:
    """Posterior of ``AUC_a − AUC_b`` for two or more fitted linear models.

    Answers: how sure is it that the first model has the larger true AUC? Both models
    are evaluated on the same rows, usually those that trained them, by one posterior
    of the features, so that common errors cancel. Costs what :func:`auc_posterior`
    costs for each model.

    Parameters
    ----------
    estimator_a : fitted estimator
        As for :func:`auc_posterior`.
    estimator_b : fitted estimator, or list of them
        A list compares ``estimator_a`` with each. All pairs of many models are
        :func:`skauc.search_posterior` of their list. Where two models use different
        features (other Pipelines), a conjugate prior takes the features of both side
        by side, the adaptive one those that entered.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Default ``"adaptive"``, which uses rows left out of each model; for held-out
        rows DeLong's covariance. ``"paper"`` reports a difference of .3 between two
        models of pure noise unless P is small against n.
    covariance : {"common", "separate"}, default="common"
        Covariance of a NormalInverseWishart: one for both classes or one each.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the rows trained the models, as for :func:`auc_posterior`.
    n_draws : int, default=16384
        Quasi-random draws, rounded up to a power of 2; the probability of the adaptive
        prior needs none.
    random_state : int, Generator, RandomState or None, default=0
        Seed of their scrambling.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which set the width of the posterior, at
        least 1 in each class; divide relative ones by the largest of them, for the
        fit as well.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.

    Returns
    -------
    AUCDifferencePosterior
        A tuple of them for a list ``estimator_b``.

    Raises
    ------
    TypeError
        If a model is not linear and no refits are requested.
    ValueError
        If the input is bad, or, with a conjugate prior, coefficients are all 0 or the
        posterior is not proper.

    Warns
    -----
    UntrustedAUCWarning
        With the adaptive prior, as :func:`auc_posterior`, and if the rows trained some
        of the models and not the others; ``warnings`` of the posterior holds the same
        sentences.

    Notes
    -----
    With the adaptive prior both AUCs are jointly normal in probits, as in
    :func:`skauc.search_posterior`. Section 7 of ``skauc.posterior`` has the joint
    posterior of a conjugate prior; the error of a probability is about 1e-4 at the
    default number of draws.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC); Smith & Hocking (1972),
    https://doi.org/10.2307/2346290, for the draws.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import auc_difference_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = (X - X.mean(axis=0))[:, :2] / X.std(axis=0)[:2]
    >>> a, b = (LogisticRegression(C=C).fit(Z, y) for C in (1, 1e-4))
    >>> round(auc_difference_posterior(a, b, Z, y).probability, 2)
    1.0
    """
    prior = check_prior(prior)
    check_option("covariance", covariance, ("common", "separate"))
    check_covariance(prior, covariance)
    check_option("rows", rows, ROWS)
    listed = isinstance(estimator_b, list | tuple)
    others = list(estimator_b) if listed else [estimator_b]
    if not others:
        raise ValueError("estimator_b must hold a fitted model, got an empty list")
    question = dict(
        prior=prior,
        covariance=covariance,
        rows=rows,
        sample_weight=sample_weight,
        pos_label=pos_label,
        report=True,
    )
    found = [_evaluated(model, X, y, question) for model in (estimator_a, *others)]
    if isinstance(prior, AdaptivePrior):
        for one in found:
            one.warn()
        a, *more = (candidate(one) for one in found)
        out = [_compared(a, b, n_draws, random_state) for b in more]
    else:
        a, *more = (one.model for one in found)
        joint = (_conjugate(a, b, prior, covariance) for b in more)
        out = [one.draw(n_draws, random_state) for one in joint]
    return tuple(out) if listed else out[0]


def _evaluated(model, X, y, question):
    """Evaluation of a model of two classes."""
    one, *more = evaluations(model, X, y, **question)
    if more:
        raise ValueError("y must hold two classes for a difference of AUCs")
    return one


def _compared(a, b, n_draws, random_state):
    """Difference of two candidates, with the doubts about either."""
    difference = joint_aucs([a, b]).difference(0, 1, random_state, n_draws)
    reasons = said_of(a.posterior, b.posterior)
    if trained_some([a, b]):
        reasons += (doubts.trained_by_some(),)
    return replace(difference, warnings=reasons)


def _conjugate(a, b, prior, covariance):
    """Joint posterior of two models under a conjugate prior."""
    for model in (a, b):
        if not model.w_front.any():
            raise ValueError(
                f"{model.name} must have a coefficient other than 0, got only 0"
            )
    if a.front.key == b.front.key:
        W = np.column_stack([a.w_front, b.w_front])
    else:  # features side by side: each model has 0 for those of the other
        W = block_diag(a.w_front[:, None], b.w_front[:, None])
    scores = np.column_stack([a.score, b.score])
    weight = a.front.weight if a.front.weighted else None
    return joint_posterior(scores, W, a.positive, weight, prior, covariance)
