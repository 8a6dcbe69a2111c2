"""Scorers that ask a posterior: the Bayesian AUC, EBAUC and the Bayesian error.

They wrap :mod:`skauc.model_selection._model_posterior` for ``GridSearchCV`` and its
friends; a candidate costs one opening, one ``X @ w``, one projection.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri_exp
from sklearn.exceptions import UndefinedMetricWarning

from .._validation import check_option
from ..intervals._projection import check_prior
from ..intervals._warn_caller import warn_caller
from ..posterior._conjugate import COVARIANCES
from ..posterior._pairwise import PairwiseAUCPosterior
from ._candidate import CONTRASTS, candidate, contrast_names
from ._linear_model import open_estimator, open_two_classes
from ._model_posterior import model_posterior, opened_for, pair_posteriors
from ._scorer import Scorer, shared
from ._training_rows import ROWS

MULTI_CLASS = ("ovo", "raise")
_OPEN = {"ovo": open_estimator, "raise": open_two_classes}


def make_cbauc_scorer(
    *,
    prior="adaptive",
    covariance="common",
    rows="auto",
    scale="auc",
    multi_class="ovo",
    pos_label=None,
    output="number",
) -> Scorer:
    """Scorer that returns the Bayesian AUC (CBAUC) of a fitted linear model.

    Answers: which candidate has the best AUC, without folds?
    ``GridSearchCV(pipe, grid, scoring=make_cbauc_scorer(), cv=ResubstitutionSplit())``
    fits every candidate once. One ``X @ coef_`` a candidate, and with the adaptive
    prior the AUC of rows left out of the same fit.

    Parameters
    ----------
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        See :func:`auc_posterior`. ``"paper"`` says 1.00 on pure noise when P ≥ n: do
        not choose models with it unless P is small against n.
    covariance : {"common", "spherical", "separate"}, default="common"
        Covariance model of the classes.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the rows that it is called with trained the estimator, see
        :func:`auc_posterior`: with ``ResubstitutionSplit`` they did, in
        ``cross_val_score`` they did not, and the score is their empirical AUC.
    scale : {"auc", "probit"}, default="auc"
        ``"probit"`` returns ``Φ⁻¹(AUC)``, a number on the whole line that keeps its
        order where the AUC itself rounds to 1.
    multi_class : {"ovo", "raise"}, default="ovo"
        Of more than two classes: the mean over all pairs of classes, each pair on its
        own rows with its own model (``w_j − w_i``; the pair's own coefficients in
        ``SVC(kernel="linear")``); or an error.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    output : {"number", "dict"}, default="number"
        ``"dict"`` returns several numbers, for multimetric searches: ``auc, std, low,
        high`` of the posterior (95 %), ``choice``, the selection score in probits, by
        which ``refit="choice"`` ranks as ``cbauc_scorer`` does, and ``contrast_00`` to
        ``contrast_31``, of which :func:`skauc.one_sd_rule` makes the mean and the
        standard deviation of a difference.

    Returns
    -------
    Scorer
        ``scorer(estimator, X, y_true, sample_weight=None)``. X may be rows in blocks,
        as for :func:`auc_posterior`.

    Raises
    ------
    ValueError
        If an option is not known.

    Notes
    -----
    The score is ``auc_posterior(...).choice()``: with the adaptive prior the model of
    the data set and half the way from there to the AUC of the rows left out, in
    probits. A candidate that nothing is left out of goes half the way that
    leave-pair-out of ridge models of the same rows goes on the average, so that both
    kinds can stand in one search. The estimate, which weighs the AUC of rows left out
    by how much it knows, is ``auc_posterior(...).mean()``.

    On separable data the AUC of many candidates may round to 1.0, and
    ``GridSearchCV`` would silently take the first of them. ``scale="probit"`` still
    ranks them. The ready-made ``cbauc_scorer`` stays on the AUC scale, because
    ``best_score_`` is read as an AUC, and *warns* when its value rounds to 1.0.

    In ``permutation_importance`` on the training rows the permuted rows are no longer
    the ones that trained the model: they are held-out rows at best and must not be
    compared with training rows. That warns (:class:`skauc.UntrustedAUCWarning`, in
    the process that scored the training rows); take held-out rows, or
    ``rows="training", prior=AdaptivePrior(leave_pair_out=False)`` for both.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC).

    Examples
    --------
    >>> from skauc import make_cbauc_scorer
    >>> make_cbauc_scorer(scale="probit")
    make_cbauc_scorer(prior='adaptive', covariance='common', rows='auto', ...)
    """
    check_prior(prior)
    check_option("covariance", covariance, COVARIANCES)
    check_option("rows", rows, ROWS)
    check_option("scale", scale, ("auc", "probit"))
    check_option("multi_class", multi_class, MULTI_CLASS)
    check_option("output", output, ("number", "dict"))
    params = dict(
        prior=prior,
        covariance=covariance,
        rows=rows,
        scale=scale,
        multi_class=multi_class,
        pos_label=pos_label,
    )
    if output == "dict":
        params["output"] = output
    return Scorer("make_cbauc_scorer", _cbauc, params)


def make_ebauc_scorer(
    *,
    prior="adaptive",
    covariance="separate",
    rows="auto",
    thresholds="scores",
    multi_class="ovo",
    pos_label=None,
) -> Scorer:
    """Scorer that returns EBAUC, the area under the predictive ROC curve.

    Answers the question of :func:`make_cbauc_scorer` through the posterior predictive
    distributions of the model of the data set; no row left out enters. One
    ``X @ coef_`` and one sort a candidate.

    Parameters
    ----------
    prior, multi_class, pos_label
        As for :func:`make_cbauc_scorer`.
    rows : {"auto", "training", "held-out"}, default="auto"
        Of held-out rows the score is one feature, as in :func:`skauc.ebauc_score`.
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
    make_ebauc_scorer(prior='adaptive', covariance='separate', rows='auto', ...)
    """
    check_prior(prior)
    check_option("covariance", covariance, COVARIANCES)
    check_option("rows", rows, ROWS)
    check_option("thresholds", thresholds, ("scores", "all"))
    check_option("multi_class", multi_class, MULTI_CLASS)
    params = dict(
        prior=prior,
        covariance=covariance,
        rows=rows,
        thresholds=thresholds,
        multi_class=multi_class,
        pos_label=pos_label,
    )
    return Scorer("make_ebauc_scorer", _ebauc, params)


def make_bee_scorer(
    *, prior="adaptive", covariance="common", rows="auto", pos_label=None
) -> Scorer:
    """Scorer that returns 1 − the Bayesian error estimate (BEE).

    Answers: which candidate makes the fewest errors at its own threshold? The class
    probabilities are the (weighted) class shares of the rows it is given. No row left
    out enters.

    Parameters
    ----------
    prior, covariance, pos_label
        As for :func:`make_cbauc_scorer`.
    rows : {"auto", "training", "held-out"}, default="auto"
        Of held-out rows the score is one feature.

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
    make_bee_scorer(prior='adaptive', covariance='common', rows='auto', pos_label=None)
    """
    check_prior(prior)
    check_option("covariance", covariance, COVARIANCES)
    check_option("rows", rows, ROWS)
    params = dict(prior=prior, covariance=covariance, rows=rows, pos_label=pos_label)
    return Scorer("make_bee_scorer", _accuracy, params)


def _cbauc(estimator, X, y, *, scale, multi_class, output="number", **question):
    question = _checked(question)
    opened = opened_for(question["prior"], estimator, X, _OPEN[multi_class])
    if output == "dict":
        return _numbers(opened, (estimator, X, y), **question)
    if opened.n_classes > 2:
        pairs = pair_posteriors(opened, y, **question).values()
        value = _selection_score_of_pairs(pairs, scale)
    else:
        whole = estimator, X, y
        posterior = model_posterior(opened, y, **question, whole=whole)
        value = posterior.choice(scale)
    # Within two steps of floats of 1 the order of candidates is lost.
    if scale == "auc" and 1 - value < 2 * np.finfo(float).eps:
        warn_caller(
            "The Bayesian AUC rounds to 1.0, so that candidates tie; "
            'make_cbauc_scorer(scale="probit") still ranks them',
            UndefinedMetricWarning,
        )
    return value


def _numbers(opened, whole, **question):
    """What a multimetric search keeps of a candidate."""
    if opened.n_classes > 2:
        pairs = pair_posteriors(opened, whole[2], **question)
        asked = {name: candidate(pair) for name, pair in pairs.items()}
        posterior = PairwiseAUCPosterior({k: c.posterior for k, c in asked.items()})
        choice = _mean_probit([c.choice for c in asked.values()])
        found = list(asked.values())
    else:
        found = [candidate(model_posterior(opened, whole[2], **question, whole=whole))]
        posterior, choice = found[0].posterior, found[0].choice
    low, high = posterior.interval(0.95)
    numbers = {"auc": posterior.mean(), "std": posterior.std()}
    numbers |= {"low": low, "high": high, "choice": float(choice)}
    # The mean over the pairs of classes has the mean of their embeddings.
    sketch = np.mean([c.sketch(CONTRASTS) for c in found], axis=0)
    return numbers | dict(zip(contrast_names(), map(float, sketch), strict=True))


def _selection_score_of_pairs(pairs, scale):
    """Mean of the pairs' selection scores, on the probit scale without saturating."""
    probit = [pair.choice("probit") for pair in pairs]
    if scale == "auc":
        return float(ndtr(probit).mean())
    return _mean_probit(probit)


def _mean_probit(probit):
    """Probit of the mean of the AUCs, from the tail that keeps its digits."""
    sign = 1.0 if ndtr(probit).mean() <= 0.5 else -1.0  # the smaller tail keeps digits
    # log{Σ Φ(±z)/K}
    log_tail = logsumexp(log_ndtr(sign * np.array(probit))) - np.log(len(probit))
    return float(sign * ndtri_exp(log_tail))


def _ebauc(estimator, X, y, *, thresholds, multi_class, **question):
    opened = _OPEN[multi_class](estimator, X)
    if opened.n_classes > 2:
        pairs = pair_posteriors(opened, y, **_checked(question)).values()
        return float(np.mean([pair.ebauc(thresholds) for pair in pairs]))
    whole = estimator, X, y
    asked = model_posterior(opened, y, **_checked(question), whole=whole)
    return asked.ebauc(thresholds)


def _accuracy(estimator, X, y, **question):
    opened = open_two_classes(estimator, X)
    whole = estimator, X, y
    return 1 - model_posterior(opened, y, **_checked(question), whole=whole).error()


def _checked(question):
    """The question with the prior behind its word."""
    return question | {"prior": check_prior(question["prior"])}


cbauc_scorer = shared(make_cbauc_scorer())
ebauc_scorer = shared(make_ebauc_scorer())
bee_scorer = shared(make_bee_scorer())
