"""The posterior of a linear model's AUC: a fitted model, or a clone that is fitted."""

from __future__ import annotations

from .._validation import check_option
from ..intervals._projection import check_covariance, check_prior
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._pairwise import PairwiseAUCPosterior
from ._blocks import evaluations_of
from ._estimators import fitted_clone
from ._training_rows import ROWS


def auc_posterior(
    estimator,
    X,
    y=None,
    *,
    prior="adaptive",
    covariance="common",
    rows="auto",
    sample_weight=None,
    pos_label=None,
) -> AUCPosterior | PairwiseAUCPosterior:
    """Posterior of the AUC that a fitted linear model has on new rows.

    Answers: how large is the AUC of this model on new rows of the same population, and
    how sure is that? The rows are usually those that trained the model. The estimate
    combines a model of the data set with an AUC of rows left out of the fit.

    Parameters
    ----------
    estimator : fitted estimator
        A linear classifier, or a Pipeline, search, frozen or threshold classifier
        that ends in one. With ``prior=AdaptivePrior(refits=K)``, any classifier of two
        classes.
    X : array-like or sparse matrix of shape (n, n_features)
        Rows as ``estimator.predict`` takes them; also a Dask array or frame, or a
        :class:`skauc.RowBlocks` of X, y and weights.
    y : array-like of shape (n,)
        Labels; None for a RowBlocks, which holds them.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Default ``"adaptive"`` (:class:`skauc.AdaptivePrior`). ``"paper"`` is the
        published prior, which reports 1.00 on pure noise with more features than rows.
    covariance : {"common", "spherical", "separate"}, default="common"
        Covariance of a NormalInverseWishart: one for both classes, a multiple of the
        identity, or one for each class. The adaptive prior has "common" only.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether these rows trained the estimator. ``"auto"`` compares the model with a
        clone fitted to the rows; ``posterior.rows`` shows the result. For held-out
        rows the posterior is that of their empirical AUC. No method can recognise a
        subset of the training rows: pass the answer if you know it.
    sample_weight : array-like of shape (n,), default=None
        Number of times each row counts. Pass the weights of the fit. Divide relative
        weights by their largest, in ``fit`` as well.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. None for more than two classes.

    Returns
    -------
    AUCPosterior
        ``mean()``, ``interval(0.95)``, ``rows``, ``leave_pair_out`` (AUC of rows left
        out), ``second_source`` (how it was computed) and ``warnings``. For more than
        two classes a :class:`skauc.PairwiseAUCPosterior`, the mean over all pairs of
        classes.

    Raises
    ------
    TypeError
        If the model is not linear and no refits are requested.
    ValueError
        If the input is invalid: NaN, one class, other lengths, other columns than the
        model's.
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.

    Warns
    -----
    UndefinedMetricWarning
        If all coefficients are 0 or all scores are equal; the AUC is ½ then.
    UntrustedAUCWarning
        For every reason not to trust the number; ``posterior.warnings`` holds the same
        sentences.

    Notes
    -----
    Rows must be independent. Repeated measures, groups and time series make the AUC
    far too high: use :func:`skauc.cross_val_auc` with a group splitter, or
    :func:`skauc.bootstrap_auc` with ``groups=``.

    The AUC of rows left out is computed as

    ====================  =========================================================
    ``"leave-pair-out"``  smooth loss, L2 penalty or a discriminant; n >= 500
    ``".632+"``           the same with fewer rows: 20 bootstrap refits at once
    ``"refits"``          every other linear model: .632+ of 20 refits (10 from 200
                          rows on, 5 from 500 rows on) of the linear model; of the
                          whole estimator, if a step in front used y
    None                  held-out rows, more than two classes, ``refits=0``
    ====================  =========================================================

    Rows in blocks are used through sums over blocks, the scores of all rows and an
    even sample of rows in memory.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC); Efron & Tibshirani (1997),
    https://doi.org/10.1080/01621459.1997.10474007.

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
    prior = check_prior(prior)
    check_option("rows", rows, ROWS)
    check_covariance(prior, covariance)
    found = evaluations_of(
        estimator,
        X,
        y,
        sample_weight,
        prior=prior,
        covariance=covariance,
        rows=rows,
        pos_label=pos_label,
        report=True,
    )
    for one in found:
        one.warn()
    if found[0].model.pair is None:
        return found[0].posterior
    return PairwiseAUCPosterior({one.model.pair: one.posterior for one in found})


def bayesian_val_score(
    estimator,
    X,
    y=None,
    *,
    prior="adaptive",
    covariance="common",
    sample_weight=None,
    pos_label=None,
) -> AUCPosterior | PairwiseAUCPosterior:
    """Fit a clone once and return the posterior of its AUC.

    Answers the question of ``cross_val_score(estimator, X, y, scoring="roc_auc")``
    without folds and with an interval: ``.mean()``, ``.std()``, ``.interval(0.95)``.

    Parameters
    ----------
    estimator : estimator
        Linear classifier, or a Pipeline or search that ends in one; fitted or not. A
        clone of it is fitted; :func:`skauc.auc_posterior` takes a fitted model.
    X : array-like or sparse matrix of shape (n, n_features)
        Also a Dask collection or a :class:`skauc.RowBlocks` for an estimator that can
        be fitted to them.
    y : array-like of shape (n,)
        Labels; None for a RowBlocks, which holds them.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        As for :func:`skauc.auc_posterior`.
    covariance : {"common", "spherical", "separate"}, default="common"
        As for :func:`skauc.auc_posterior`.
    sample_weight : array-like of shape (n,), default=None
        Number of times each row counts, for the fit and the posterior.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. None for more than two classes.

    Returns
    -------
    AUCPosterior
        For more than two classes a :class:`skauc.PairwiseAUCPosterior`.

    Raises
    ------
    TypeError
        If the model is not linear and no refits are requested.
    ValueError
        If the input is invalid; labels are checked before the fit.

    Warns
    -----
    UntrustedAUCWarning
        As :func:`skauc.auc_posterior`.

    Notes
    -----
    Rows must be independent (no repeated measures, groups or time series); see
    :func:`skauc.auc_posterior`.

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
        rows="training",
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
