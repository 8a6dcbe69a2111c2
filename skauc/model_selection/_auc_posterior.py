"""The posterior of a linear model's AUC: of a fitted one, or of a clone fitted once.

One way leads to a number: the estimator is opened once
(:mod:`skauc.model_selection._linear_model`), the rows are scored once
(:mod:`skauc.model_selection._scored_model`), one posterior of the data set is asked
(:mod:`skauc.model_selection._model_posterior`).
"""

from __future__ import annotations

from .._validation import check_option
from ..intervals._projection import check_prior
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._pairwise import PairwiseAUCPosterior
from ._any_estimator import fitted_clone
from ._model_posterior import model_posterior, opened_for, pair_posteriors
from ._rows_at_hand import rows_at_hand
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
    """Posterior of the true AUC of a fitted linear model, from one pass.

    Answers: given these rows, how large is the AUC of this model on new rows, and how
    sure is that? Assumes normal features in each class; rows left out of the same fit
    correct what that misses. Costs one ``X @ coef_``, and with the adaptive prior the
    AUC of rows left out (some fits' time, see the notes).

    Parameters
    ----------
    estimator : fitted estimator
        A linear classifier, or a Pipeline, search, frozen or threshold classifier that
        ends in one. It is not refitted. With ``AdaptivePrior(refits=K)``, which fits
        clones of it, any classifier of two classes.
    X : array-like or sparse matrix of shape (n, n_features)
        Rows as ``estimator.predict`` takes them; usually the training rows. Or rows in
        blocks, see the notes: a Dask array or a data frame of numbers, or a
        :class:`skauc.RowBlocks` of X, y and weights.
    y : array-like of shape (n,)
        Labels; None only beside a RowBlocks, which holds them.
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        Default ``"adaptive"`` (:class:`skauc.AdaptivePrior`): a prior on the features
        that entered the estimator, whatever its steps picked or projected. A
        NormalInverseWishart speaks, as published, about the features in front of the
        linear model. ``"paper"`` is **not honest** unless P is small
        against n: on pure noise with P ≥ n it says 1.00.
    covariance : {"common", "spherical", "separate"}, default="common"
        One covariance for both classes, one multiple of the identity, or one each.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether these rows trained the estimator. Held-out rows need no prior: with
        the adaptive one the posterior is that of their empirical AUC with Hanley and
        McNeil's variance; a NormalInverseWishart takes their score for one feature.
        ``"auto"`` finds out where the model
        or a step in front of it tells (the gradient of what it minimised, support
        vectors, means), and assumes training rows elsewhere, which
        ``posterior.warnings`` says; a NormalInverseWishart takes all rows for
        training rows. Say which they are if coefficients were edited after the fit, or
        weights of the fit are not given here: where no step in front keeps the means of
        the rows, they pass for those of other rows, as ``posterior.warnings`` says.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: counts of rows, which set the width of the posterior, at
        least 1 in each class; divide relative ones by the largest of them, for the
        fit as well.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. None for more than two classes.

    Returns
    -------
    AUCPosterior
        For more than two classes a :class:`skauc.PairwiseAUCPosterior`: the mean over
        the pairs of classes, each with its own model on its own rows.

    Raises
    ------
    TypeError
        If the model is not linear and no refits are asked for.
    ValueError
        If the input is bad (NaN, one class, lengths, other columns than the model's).
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.

    Warns
    -----
    UndefinedMetricWarning
        If all coefficients are 0 or all scores are equal; the AUC is ½ then.
    UntrustedAUCWarning
        If the number should not be trusted or compared as it is: fewer than 10 rows in
        a class, more features than rows and nothing left out, rows only assumed to be
        training rows, a step that saw y (or a search that chose among more than 10
        ways to the rows in front of the linear model), a frozen model that refits do
        not fit anew, a solver that stopped early, weights that are no counts of rows,
        rows that are copies of others, written or counted, or near copies (oversampled
        before the fit, by SMOTE too), training rows rearranged (as permutation
        importance does; see the notes). The sentences stand in ``posterior.warnings``.

    Notes
    -----
    With the adaptive prior the posterior joins a mixture of closed forms with the AUC
    of rows left out of the same fit, ``posterior.leave_pair_out``;
    ``posterior.second_source`` names how it was made:

    ====================  =========================================================
    ``"leave-one-out"``   n ≥ 500 (hinge 1000) and P ≤ .6 n; smooth losses with an L2
                          penalty: n ≥ 200, P ≤ n/5 or n ≥ 300, .3 n ≤ P < n, too,
                          but not with fewer than 20 or P/5 rows of a class (n < 5000)
    ``".632+"``           else 20 bootstrap refits, where they take a second or two; of
                          200 rows or more 10 balanced ones (smooth losses, no L1)
    ``"leave-pair-out"``  else, of a smooth loss with an L2 penalty
    ``"refits"``          ``AdaptivePrior(refits=K)``: .632+ of the whole estimator
    None                  else, and of held-out rows
    ====================  =========================================================

    The first three need the rows that trained the model and an objective that is
    known; a subclass with a ``fit`` of its own must have arrived at its optimum.
    Without any, nine ridge models of the same rows, whose leave-pair-out is exact, say
    how far the closed forms are off.

    Features that were chosen or made by y before they entered, or chosen by hand for a
    ColumnTransformer, are taken for all there were: nothing here can see the others.

    Steps that see y are taken back to the features that entered, if they are affine;
    behind one that is not (a target encoder), the posterior is that of 5 refits of
    the whole estimator alone. ``AdaptivePrior(refits=K)`` asks for such refits; of a
    classifier that is not linear they are all there is.

    Two such numbers are not comparable: ``permutation_importance`` with
    ``cbauc_scorer`` belongs on held-out rows; on training rows ``make_cbauc_scorer(
    rows="training", prior=AdaptivePrior(leave_pair_out=False))`` asks the same of the
    rows as they are and of the permuted ones.

    Rows in blocks have the answer of the rows in memory. Up to 32 MB, or 40 rows a
    feature, they are gathered. Of more rows, behind the steps of a Pipeline, sums come
    block by block, P² numbers each, the sorted runs of the scores for their ranks
    (10 bytes a row between the blocks, 20 with weights that are no counts), and some
    thousand rows, whatever the weights, the classes and the loss. That takes 11 passes
    of a smooth fit at its optimum, 14 with weights, about 10 a pair of more classes,
    and 40 to 130 of the hinge or a solver that stopped early, whose optimum is found
    first. From 65 536 rows on, the sample that leave-one-out takes is chosen among
    1024 rows of each class of a block; the mean moves by some hundredths of the
    standard deviation. All scores, 8 bytes a row, still come for
    ``ebauc_scorer`` (its thresholds) and ``output="dict"`` (its contrasts). What asks
    for the features in memory (refits, support vectors, an L1 penalty, automatic
    shrinkage of a discriminant) gets them up to 1 GiB, and is refused beyond.

    References
    ----------
    Hassan et al. (2019), closed-form Bayesian AUC (CBAUC).

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
    >>> round(posterior.mean(), 2), posterior.second_source
    (0.99, 'leave-one-out')
    """
    prior = check_prior(prior)
    check_option("rows", rows, ROWS)
    X, y, sample_weight = rows_at_hand(X, y, sample_weight)
    opened = opened_for(prior, estimator, X)
    question = dict(
        prior=prior,
        covariance=covariance,
        rows=rows,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    if opened.n_classes == 2:
        return model_posterior(opened, y, **question, whole=(estimator, X, y)).auc()
    pairs = pair_posteriors(opened, y, **question)
    return PairwiseAUCPosterior({name: pair.auc() for name, pair in pairs.items()})


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

    Answers what ``cross_val_score(estimator, X, y, scoring="roc_auc")`` answers, with
    one fit instead of five and with an honest uncertainty: ``.mean()`` and ``.std()``
    read as before, ``.interval(0.95)`` comes on top. With the adaptive prior rows left
    out of that one fit enter as well (:func:`skauc.auc_posterior` says which).

    Parameters
    ----------
    estimator : estimator
        Linear classifier, or a Pipeline or search that ends in one; fitted or not. As
        in ``cross_val_score`` a clone of it is fitted; :func:`skauc.auc_posterior`
        takes a fitted one as it is.
    X : array-like or sparse matrix of shape (n, n_features)
        Or rows in blocks, Dask's or :class:`skauc.RowBlocks`, for an estimator that is
        fitted to them: GaussianAUCClassifier, IRLSLogisticRegression,
        LinearDiscriminantROC.
    y : array-like of shape (n,)
        Labels; None only beside a RowBlocks, which holds them.
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
        rows="training",
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
