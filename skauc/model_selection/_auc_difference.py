"""The Bayesian twin of ``compare_auc``: opens the estimators, asks one posterior.

The mathematics stands in section 7 of :mod:`skauc.posterior`, of the adaptive prior in
:mod:`skauc.model_selection._candidate`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from .._validation import (
    check_counts,
    check_features,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import check_prior
from ..posterior._aucs import said_of
from ..posterior._joint import AUCDifferencePosterior, joint_posterior
from ..statistics._moments import project_samples
from . import _reasons as say
from ._any_rows import same_rows
from ._candidate import candidate, joint_aucs, trained_some
from ._linear_model import open_two_classes
from ._model_posterior import model_posterior


def auc_difference_posterior(
    estimator_a,
    estimator_b,
    X,
    y,
    *,
    prior="adaptive",
    covariance="common",
    n_draws=2**14,
    random_state=0,
    sample_weight=None,
    pos_label=None,
) -> AUCDifferencePosterior | tuple[AUCDifferencePosterior, ...]:
    """Posterior of ``AUC_a − AUC_b`` for two or more fitted linear models.

    Answers: how sure is it that the first model has the larger true AUC? Both speak
    about the same rows, usually those that trained them, and both are judged by
    one posterior of the features, so that what they share cancels. Assumes normal
    features. Costs what :func:`auc_posterior` costs for each model; with a conjugate
    prior two ``X @ coef_`` and the draws.

    Parameters
    ----------
    estimator_a : fitted estimator
        As for :func:`auc_posterior`.
    estimator_b : fitted estimator, or list of them
        A list compares ``estimator_a`` with each. All pairs of many models are
        :func:`skauc.search_posterior` of their list. Where two models see different
        features (other Pipelines), a conjugate prior speaks about all features of both,
        side by side, the adaptive one about those that entered.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Default ``"adaptive"``: it hears what rows left out say of each model; of
        held-out rows it takes DeLong's covariance. ``"paper"`` is **not honest** unless
        P is small against n: of two models of pure noise it says a difference of .3.
    covariance : {"common", "separate"}, default="common"
        One covariance for both classes or one each.
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
        Of a list ``estimator_b`` a tuple of them.

    Raises
    ------
    TypeError
        If a model is not linear.
    ValueError
        If the input is bad, the models know other classes, or, with a conjugate prior,
        coefficients are all 0 or the posterior is not proper.

    Warns
    -----
    UntrustedAUCWarning
        With the adaptive prior, as :func:`auc_posterior`, and if the rows trained some
        of the models and not the others; ``warnings`` of the posterior holds the
        sentences, and what is said of either model more quietly.

    Notes
    -----
    With the adaptive prior both AUCs are jointly normal in probits, as in
    :func:`skauc.search_posterior`. Of a conjugate one see section 7 of
    ``skauc.posterior``; the error of a probability is about 1e-4 at the default number
    of draws.

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
    0.93
    """
    prior = check_prior(prior)
    check_option("covariance", covariance, ("common", "separate"))
    models = estimator_a, *_listed(estimator_b)
    if len(models) < 2:
        raise ValueError("estimator_b must hold a fitted model, got an empty list")
    a, *others = (open_two_classes(model, X) for model in models)
    for b in others:
        _check_classes(a, b)
    positive = check_positive(y, pos_label=pos_label, classes=a.classes)
    weight = check_weight(sample_weight, positive)
    check_counts(weight, positive)
    if isinstance(prior, AdaptivePrior):
        wholes = [(model, X, y) for model in models]
        question = (prior, covariance, sample_weight, pos_label)
        pairs = _adaptive([a, *others], wholes, *question)
        out = [_compared(first, other, n_draws, random_state) for first, other in pairs]
    else:
        out = [
            _conjugate(a, b, positive, weight, pos_label, prior, covariance).draw(
                n_draws, random_state
            )
            for b in others
        ]
    return tuple(out) if isinstance(estimator_b, list | tuple) else out[0]


def _listed(models):
    return models if isinstance(models, list | tuple) else [models]


def _check_classes(a, b):
    if (
        a.classes is not None
        and b.classes is not None
        and not np.array_equal(a.classes, b.classes)
    ):
        raise ValueError(
            f"estimator_b must know the classes of estimator_a, {a.classes.tolist()}, "
            f"got {b.classes.tolist()}"
        )


def _adaptive(opened, wholes, prior, covariance, sample_weight, pos_label):
    """What is known of the first model, and of each of the others."""
    asked = (
        model_posterior(
            model,
            whole[2],
            prior=prior,
            covariance=covariance,
            sample_weight=sample_weight,
            pos_label=pos_label,
            whole=whole,
        )
        for model, whole in zip(opened, wholes, strict=True)
    )
    found = (candidate(one, once=False) for one in asked)
    # Found one after the other: no more than two models are held, and the first once.
    first = next(found)
    return ((first, other) for other in found)


def _compared(a, b, n_draws, random_state):
    """Difference of two candidates, with what is to be said of either."""
    difference = joint_aucs([a, b]).difference(0, 1, random_state, n_draws)
    said = said_of(a.posterior, b.posterior)
    if trained_some([a, b]):
        said += (say.trained_by_some(),)
    return replace(difference, warnings=said)


def _conjugate(a, b, positive, weight, pos_label, prior, covariance):
    """Joint posterior of two models under a conjugate prior."""
    scores, W = _both_scores(a, b, len(positive))
    if a.classes is not None and pos_label is not None and pos_label == a.classes[0]:
        # Both models point to classes_[1]: with the other positive class both turn.
        scores, W = -scores, -W
    return joint_posterior(scores, W, positive, weight, prior, covariance)


def _both_scores(a, b, n):
    """Scores of both models, (n, 2), and W on the features that they see."""
    Z_a, Z_b = check_features(a.front, n), check_features(b.front, n)
    for Z, linear in ((Z_a, a), (Z_b, b)):
        if Z.shape[1] != len(linear.w):
            raise ValueError(
                f"X must have the {len(linear.w)} features the model was trained on, "
                f"got {Z.shape[1]}"
            )
        if not linear.w.any():
            raise ValueError(
                f"{type(linear.model).__name__} must have a coefficient other than 0, "
                "got only 0"
            )
    scores = [
        check_score(project_samples(Z, linear.w), n, name="X @ coef_")
        for Z, linear in ((Z_a, a), (Z_b, b))
    ]
    if same_rows(Z_a, Z_b):
        W = np.column_stack([a.w, b.w])
    else:
        # Features side by side: each model has 0 for those of the other.
        W = block_diag(a.w[:, None], b.w[:, None])
    return np.column_stack(scores), W
