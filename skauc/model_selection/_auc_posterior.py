"""The posterior of a classifier's AUC, and of the difference between two models.

Section 7 of :mod:`skauc.posterior` and, for the adaptive prior,
:mod:`skauc.model_selection._candidates` have the mathematics of the difference.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..intervals._projection import Prior
from ..posterior._auc_posterior import AUCPosterior, warnings_of
from ..posterior._joint import AUCDifferencePosterior
from ..posterior._pairwise import PairwiseAUCPosterior
from ..statistics._types import ArrayLike, Seed, Values
from ._blocks import evaluations, evaluations_of, of_two_classes
from ._candidates import alike, candidate, doubts_between, joint_aucs
from ._evaluation import Question
from .reading._estimators import fitted_clone


def auc_posterior(
    estimator: Any,
    X: Any,
    y: Values = None,
    *,
    prior: Prior = "adaptive",
    covariance: str = "common",
    rows: str = "auto",
    sample_weight: Values = None,
    pos_label: object = None,
    groups: Values = None,
) -> AUCPosterior | PairwiseAUCPosterior:
    """Posterior of the AUC that a fitted classifier has on new rows.

    Answers: how large is the AUC of this model on new rows of the same population, and
    how certain is it? The rows are usually the training rows of the model. The estimate
    combines a model of the data set [1]_ with an AUC of rows left out of the fit. Costs
    0 to 20 fits for the rows left out (see Notes), and a fit or two where these are
    needed to find out whether the rows trained the model.

    Parameters
    ----------
    estimator : fitted estimator
        With the adaptive prior any classifier; otherwise a linear one, or a Pipeline,
        search, frozen or threshold classifier that ends in one.
    X : array-like or sparse matrix of shape (n, n_features)
        Rows in the form that ``estimator.predict`` accepts; also a Dask array or frame,
        or a :class:`skauc.RowBlocks` of X, y and weights.
    y : array-like of shape (n,)
        Labels; None for a RowBlocks, which holds them.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Default ``"adaptive"`` (:class:`skauc.AdaptivePrior`). ``"paper"`` is the
        published prior, which reports 1.00 on pure noise with more features than rows.
    covariance : {"common", "separate"}, default="common"
        Covariance of a NormalInverseWishart: one for both classes, or one for each
        class. The adaptive prior supports ``"common"`` only.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether these rows trained the estimator. ``"auto"`` compares the model with a
        clone fitted to the rows; ``posterior.rows`` shows the result. For held-out rows
        the posterior is that of their empirical AUC; a conjugate prior assumes training
        rows under ``"auto"``. A subset of the training rows
        cannot be recognised: pass ``"training"`` or ``"held-out"`` if you know it.
    sample_weight : array-like of shape (n,), default=None
        Number of times each row counts. Pass the weights of the fit, as they were
        there. For weights that are not counts see :class:`skauc.SampleWeightWarning`.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. Not for more than two classes.
    groups : array-like of shape (n,), default=None
        Group of each row (patient, subject, session), if rows of one group depend on
        each other: they are then left out together, and the AUC is that of rows of new
        groups. Only with the adaptive prior.

    Returns
    -------
    AUCPosterior
        ``mean()``, ``interval(0.95)``, ``rows``, ``leave_pair_out`` (AUC of rows left
        out), ``second_source`` (how it was computed) and ``warnings``. For more than
        two classes a :class:`skauc.results.PairwiseAUCPosterior`, the mean over all
        pairs of classes.

    Raises
    ------
    TypeError
        If the model is not linear and the prior is a NormalInverseWishart. If the model
        is not linear, the prior forbids refits, and no members of an ensemble left out
        the rows.
    ValueError
        If the input is invalid: NaN, a single class, different lengths, or other
        columns than those of the model.
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.

    Warns
    -----
    UndefinedMetricWarning
        If all coefficients are 0 or all scores are equal; the AUC is ½ then.
    UntrustedAUCWarning
        For every reason not to trust the AUC; ``posterior.warnings`` holds the same
        texts.

    See Also
    --------
    bayesian_val_score : The same for a model that is not fitted yet.
    auc_difference_posterior : Two models on the same rows.
    search_posterior : The selected model of a search, corrected for its selection.
    auc_estimate : Scores of rows that did not train the model.

    Notes
    -----
    Rows must be independent, or their groups known: with repeated measures the AUC is
    far too high without ``groups``. With groups the report uses the rows left out
    alone, because the model of the data set takes rows for independent; pairs of rows
    are compared between groups. For time series use :func:`skauc.cross_val_auc` with a
    splitter such as ``TimeSeriesSplit``.

    ``posterior.second_source`` names the way in which rows were left out:

    ====================  ==========================================================
    ``"leave-pair-out"``  Models with a smooth loss and an L2 penalty, and
                          discriminants: pairs of rows in closed form [2]_, no fit;
                          behind steps, whose means saw all rows, with a free intercept.
                          Not if the solver stopped at another model than the optimum
                          (scores that correlate by less than .99), or if a class is
                          small and has a high ``class_weight``. If the model of the
                          data set disagrees by much more than chance, refits decide
    ``"out-of-bag"``      Forests, and bagging of bootstrap samples, behind steps that
                          did not use y: each pair of rows is compared by the members
                          that drew neither, and the AUC is extrapolated to all
                          members, no fit. With fewer than about 75 members a warning
                          says how many would do
    ``"refits"``          All other linear models: .632+ [3]_ from 20 refits (10 from
                          200 rows on, 5 from 500 rows on) of the whole estimator: a
                          scaler of all rows would show those left out
    ``"folds"``           All other classifiers, linear models of more than two
                          classes, and steps with many components (PCA, truncated
                          SVD), which fit the noise of each row: four times five
                          stratified folds of the whole estimator (five folds from 500
                          rows on). Behind n/16 to 7n/16 components these are joined
                          with pairs, if the model has any, with a weight that grows
                          from 0 to 1; other linear models have samples up to n/4
    ``"group pairs"``     Groups of at most 2000 rows in all, and models as for
                          ``"leave-pair-out"``: pairs of groups, no fit. Exact for few
                          groups and for squared losses; otherwise one Newton step
                          without both groups (error below .02, and up to .05 for weak
                          penalties and P near n; not for squared hinges)
    ``"group folds"``     Groups, all other models: ``StratifiedGroupKFold``, with as
                          many fits as ``"folds"``
    None                  Held-out rows, or ``refits=0``: no rows are left out
    ====================  ==========================================================

    If one fit takes more than a second, the logger ``"skauc"`` says how many will be
    made and about how long they take; ``AdaptivePrior(refits=K)`` makes K fits. A fit
    of a search is one of the whole search, with its candidates and folds.

    For classifiers that are not linear there is no model of the data set: the report
    is the AUC of the rows left out, and five-fold cross-validation is as good an
    estimate. The report of a forest comes from its single fit, a fifth of that cost.
    What every report adds is an interval, warnings, and comparisons of models whose
    common errors cancel (:func:`auc_difference_posterior`, :func:`search_posterior`).

    A forest does not store which rows its trees drew; they are drawn again from its
    seeds. The leaves of a few trees (for other members the refit of one) show whether
    these are the rows of the fit, in the same order. If they are not, rows are left out
    by folds.

    For rows in blocks the posterior is computed from sums over the blocks, the scores
    of all rows, and an evenly spaced sample of rows in memory.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771
    .. [2] Airola et al. (2011), "An experimental comparison of cross-validation
       techniques for estimating the area under the ROC curve",
       https://doi.org/10.1016/j.csda.2010.11.018
    .. [3] Efron & Tibshirani (1997), "Improvements on cross-validation: the .632+
       bootstrap method", https://doi.org/10.1080/01621459.1997.10474007

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import auc_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> posterior = auc_posterior(model, X, y)
    >>> round(posterior.mean(), 2), posterior.rows
    (0.99, 'training (detected)')
    """
    question = Question(prior, covariance, rows, pos_label, groups, left_out="fits")
    return _report(estimator, X, y, sample_weight, question)


def bayesian_val_score(
    estimator: Any,
    X: Any,
    y: Values = None,
    *,
    prior: Prior = "adaptive",
    covariance: str = "common",
    sample_weight: Values = None,
    pos_label: object = None,
    groups: Values = None,
) -> AUCPosterior | PairwiseAUCPosterior:
    """Fit a clone once and return the posterior of its AUC.

    Answers: which AUC will this estimator have on new rows, if it is trained on all
    these rows? It replaces ``cross_val_score(estimator, X, y, scoring="roc_auc")`` by
    one posterior [1]_ with an interval. Costs one fit, and those of
    :func:`auc_posterior`.

    Parameters
    ----------
    estimator : estimator
        Any classifier, as for :func:`skauc.auc_posterior`. A clone is fitted, even if
        the estimator is fitted already; for a fitted model use
        :func:`skauc.auc_posterior`.
    X : array-like or sparse matrix of shape (n, n_features)
        Also a Dask collection or a :class:`skauc.RowBlocks`, if the estimator can be
        fitted to it.
    y : array-like of shape (n,)
        Labels; None for a RowBlocks, which holds them.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        As for :func:`skauc.auc_posterior`.
    covariance : {"common", "separate"}, default="common"
        As for :func:`skauc.auc_posterior`.
    sample_weight : array-like of shape (n,), default=None
        Number of times that each row counts, in the fit and in the posterior.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. Not for more than two classes.
    groups : array-like of shape (n,), default=None
        As for :func:`skauc.auc_posterior`; a search gets them for its splitter.

    Returns
    -------
    AUCPosterior
        ``mean()``, ``std()``, ``interval(0.95)`` and ``warnings``. For more than two
        classes a :class:`skauc.results.PairwiseAUCPosterior`.

    Raises
    ------
    TypeError
        If the model is not linear and the prior is a conjugate one or forbids refits.
    ValueError
        If the input is invalid; labels are checked before the fit.

    Warns
    -----
    UntrustedAUCWarning
        As :func:`skauc.auc_posterior`.

    See Also
    --------
    auc_posterior : The same for a fitted model; its page explains the methods.
    cross_val_auc : Cross-validated AUC with an interval, by as many fits as folds.
    bootstrap_auc : Any classifier, by refitting it to bootstrap samples.
    diagnose : Several estimates of this AUC, side by side.

    Notes
    -----
    Rows must be independent, or their groups known; see :func:`skauc.auc_posterior`.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import bayesian_val_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> posterior = bayesian_val_score(model, X, y)
    >>> low, high = posterior.interval(0.95)
    >>> round(posterior.mean(), 2), low < 0.99 < high
    (0.99, True)
    """
    rows = "training"
    question = Question(prior, covariance, rows, pos_label, groups, left_out="fits")
    model = fitted_clone(estimator, X, y, sample_weight, pos_label, groups)
    return _report(model, X, y, sample_weight, question)


def auc_difference_posterior(
    estimator_a: Any,
    estimator_b: Any,
    X: Any,
    y: ArrayLike,
    *,
    prior: Prior = "adaptive",
    covariance: str = "common",
    rows: str = "auto",
    n_resamples: int = 2**14,
    random_state: Seed = 0,
    sample_weight: Values = None,
    pos_label: object = None,
    groups: Values = None,
) -> AUCDifferencePosterior | tuple[AUCDifferencePosterior, ...]:
    """Posterior of ``AUC_a − AUC_b`` for two or more fitted classifiers.

    Answers: how probable is it that the first model has the larger true AUC? Both
    models are evaluated on the same rows, usually their training rows, with one
    posterior of the features [1]_, so that common errors cancel. The cost is that of
    :func:`auc_posterior` for each model.

    Parameters
    ----------
    estimator_a : fitted estimator
        As for :func:`auc_posterior`.
    estimator_b : fitted estimator, or list or dict of them
        Several are compared with ``estimator_a``, by their names in a dict; to compare
        all pairs of many models use :func:`skauc.search_posterior`.
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        The default ``"adaptive"`` uses the AUC of rows left out of the fit of each
        model; for held-out rows it uses DeLong's covariance [2]_. ``"paper"`` reports
        differences of .3 between two models of pure noise, unless P is much smaller
        than n.
    covariance : {"common", "separate"}, default="common"
        Covariance of a NormalInverseWishart.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the rows trained the models, as for :func:`auc_posterior`.
    n_resamples : int, default=16384
        Number of quasi-random draws, rounded up to a power of 2; ``probability`` is
        computed without draws.
    random_state : int, Generator, RandomState or None, default=0
        Seed that scrambles the draws.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which determine the width of the posterior.
        Each class needs a sum of at least 1. Divide relative weights by the largest of
        them, in ``fit`` as well.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    groups : array-like of shape (n,), default=None
        As for :func:`skauc.auc_posterior`.

    Returns
    -------
    AUCDifferencePosterior
        ``mean()``, ``interval(0.95)`` and ``probability``, the posterior probability
        that ``AUC_a > AUC_b``. For a list ``estimator_b`` a tuple of such posteriors.

    Raises
    ------
    TypeError
        If a model is not linear and the prior is a conjugate one or forbids refits.
    ValueError
        If the input is invalid, or the posterior under a conjugate prior is not proper.

    Warns
    -----
    UntrustedAUCWarning
        For the reasons of :func:`auc_posterior`, if the rows trained only some of the
        models, and if only some have a free intercept and rows left out contradict the
        posterior: of 95 % intervals between ``LogisticRegression`` and its liblinear
        solver .25 to .55 held the truth with fewer than three rows a feature. The
        attribute ``warnings`` holds the same texts.

    See Also
    --------
    compare_auc : Two scores of rows that did not train the models.
    compare_cross_val_auc : Whole Pipelines, refitted in folds.
    search_posterior : All pairs of many candidates.
    auc_posterior : The AUC of one model.

    Notes
    -----
    The probits of both AUCs are jointly normal, as in :func:`skauc.search_posterior`.
    Under a conjugate prior their correlation is that of the scores within the classes;
    the standard deviation of the difference is then 5 to 11 % smaller than in draws of
    all means and covariances (60 rows, 4 features).

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771
    .. [2] DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
       more correlated receiver operating characteristic curves",
       https://doi.org/10.2307/2531595

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import auc_difference_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = (X - X.mean(axis=0))[:, :2] / X.std(axis=0)[:2]
    >>> a, b = (LogisticRegression(C=C).fit(Z, y) for C in (1, 1e-4))
    >>> round(auc_difference_posterior(a, b, Z, y).probability, 2)
    0.97
    """
    question = Question(prior, covariance, rows, pos_label, groups, left_out="fits")
    if isinstance(estimator_b, list | tuple):
        estimator_b = dict(enumerate(estimator_b))
    several = isinstance(estimator_b, Mapping)
    others = estimator_b if several else {"b": estimator_b}
    if not others:
        raise ValueError("estimator_b must hold a fitted model, got an empty list")
    data, models = (X, y, sample_weight, question), (estimator_a, *others.values())
    found = [of_two_classes(evaluations(model, *data), "y") for model in models]
    for one in found:
        one.warn()
    first, *more = map(candidate, found)
    out = [
        _compared(first, str(name), other, n_resamples, random_state)
        for name, other in zip(others, more, strict=True)
    ]
    return tuple(out) if several else out[0]


def _compared(a, name, b, n_resamples, random_state):
    """Difference of two candidates, with the doubts about either."""
    joint = joint_aucs([a, b], alike([a, b]))
    difference = joint.difference(0, 1, random_state, n_resamples)
    reasons = warnings_of(a.posterior, b.posterior)
    reasons += tuple(doubts_between([a, b], joint.covariance))
    return replace(
        difference, names=("a", name), warnings=reasons, pos_label=a.posterior.pos_label
    )


def _report(estimator, X, y, sample_weight, question):
    """Posterior of two classes, or of the mean AUC over pairs of classes."""
    found = evaluations_of(estimator, X, y, sample_weight, question)
    # before any warning, because a prior may be improper for these rows
    posteriors = {one.model.pair: one.posterior for one in found}
    for one in found:
        one.warn()
    return posteriors[None] if None in posteriors else PairwiseAUCPosterior(posteriors)
