"""The joint posterior of the candidates of a search, and rules that choose one.

:mod:`._candidates` has the mathematics of the joint posterior.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from .._validation import check_labels, check_weight, positive_and_label
from ..intervals._projection import Prior
from ..posterior._auc_posterior import AUCPosterior, AUCPosteriors, warnings_of
from ..posterior._joint import AUCDifferencePosterior, JointAUCs
from ..statistics._checks import (
    as_numbers,
    as_verbosity,
    check_integer,
    check_interval,
    check_option,
    generator,
    short,
)
from ..statistics._result import Estimates
from ..statistics._types import ArrayLike, Seed, Values
from . import _doubts as doubts
from ._blocks import evaluations
from ._candidates import alike, candidate, joint_aucs, selection_bias
from ._evaluation import Question
from ._scorers import Scorer
from .reading._estimators import in_parallel

_ROUNDING = 1e-9  # scores that differ by less are equal up to rounding


@dataclass(frozen=True, eq=False, repr=False)
class SearchPosterior(Estimates):
    """Joint posterior of the AUCs of all candidates of a search.

    Made by :func:`skauc.search_posterior`.

    Attributes
    ----------
    p_best : ndarray of shape (m,)
        Probability that each candidate is the best; the sum is 1. Candidates within
        1e-4 of the best AUC share the probability equally.
    expected_loss : ndarray of shape (m,)
        Posterior mean of the AUC that is lost by taking this candidate instead of the
        best.
    auc : AUCPosteriors
        Posterior of each candidate by the joint posterior that makes ``p_best``: a
        sequence of :class:`AUCPosterior` whose ``mean()``, ``std()`` and ``interval()``
        return arrays. That of the selected candidate is :func:`skauc.auc_posterior`'s.
    selected : AUCPosterior
        Posterior of the selected candidate, corrected for its selection. Report this
        one.
    selected_index : int
        Index of the selected candidate.
    bias_of_best_score : float
        The correction that was subtracted: how much the AUC of the best candidate is
        too high on average because it was selected.
    params : tuple of dict
        Parameters of each candidate; empty dicts for a list of models.
    row : ndarray of shape (m,)
        Row of each candidate in ``cv_results_``, or its place in the list of models, or
        its name in the dict.
    score : ndarray of shape (m,) or None
        ``mean_test_score`` of the search.
    joint : JointAUCs
        Means and covariance of ``Φ⁻¹(AUC)``.

    See Also
    --------
    skauc.search_posterior : Makes it.
    skauc.SearchDisplay : Draws it.
    skauc.one_sd_rule : Selects the simplest good candidate within the search.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:80, :4] / X[:80, :4].std(axis=0), y[:80]
    >>> models = [LogisticRegression(C=C).fit(X, y) for C in (1e-3, 1.0)]
    >>> type(search_posterior(models, X, y, random_state=0)).__name__
    'SearchPosterior'
    """

    p_best: np.ndarray
    expected_loss: np.ndarray
    auc: AUCPosteriors
    selected: AUCPosterior
    selected_index: int
    bias_of_best_score: float
    params: tuple[dict, ...]
    row: np.ndarray
    score: np.ndarray | None
    joint: JointAUCs

    def __repr__(self):
        low, high = self.selected.interval(0.95)
        k = self.selected_index
        name = f"{self.params[k]!r}" if self.params[k] else f"{self.row[k]}"
        return (
            f"SearchPosterior({len(self.p_best)} candidates, selected={name}, "
            f"p_best={self.p_best[k]:.2g}, expected_loss={self.expected_loss[k]:.2g}, "
            f"auc={self.selected.mean():.4g}, interval95=({low:.4g}, {high:.4g}), "
            f"pos_label={self.selected.pos_label!r})"
        )

    def difference(self, i: int, j: int) -> AUCDifferencePosterior:
        """Posterior of ``AUC_i − AUC_j`` for two candidates.

        Parameters
        ----------
        i, j : int
            Indices of the candidates.

        Returns
        -------
        AUCDifferencePosterior

        Raises
        ------
        ValueError
            If there is no such candidate.
        """
        return replace(
            self.joint.difference(i, j),
            names=(str(self.row[i]), str(self.row[j])),
            warnings=warnings_of(self.auc[i], self.auc[j]),
            pos_label=self.selected.pos_label,
        )

    def simplest(self, order: ArrayLike, within: float = 0.5) -> int:
        """Simplest candidate within half a standard deviation of the best.

        Parameters
        ----------
        order : str or array-like of shape (m,)
            Complexity of each candidate; the smallest is the simplest. A string names a
            parameter whose value is the complexity; a leading minus, as in
            ``"-alpha"``, reverses the order.
        within : float, default=0.5
            Largest difference from the best candidate that is accepted, in standard
            deviations *of the difference*, on the probit scale of the AUC. On half of
            the benchmark's data sets .5 lost .014 of the AUC, 1 lost .021.

        Returns
        -------
        int
            Index of the candidate; among equally simple candidates that of the best.

        Raises
        ------
        ValueError
            If the order or ``within`` is not understood.
        """
        within = check_interval("within", within, 0)
        if isinstance(order, str):
            sign = -1.0 if order[:1] == "-" else 1.0
            name = order.removeprefix("-")
            order = sign * parameter_values("order", name, self.params)
        order = as_numbers("order", order)
        if order.shape != self.p_best.shape or np.isnan(order).any():
            raise ValueError(
                f"order must hold a number for each of {len(self.p_best)} candidates, "
                f"got shape {order.shape}"
            )
        return simplest_of(self.joint.within(within), order, self.joint.mean)

    def _estimates(self, confidence_level):
        """Candidates by row of ``cv_results_``, with numbers that it lacks."""
        names = dict.fromkeys(name for p in self.params for name in p)
        columns = {f"param_{k}": [p.get(k) for p in self.params] for k in names}
        if self.score is not None:
            columns["mean_test_score"] = self.score
        columns |= self.auc._estimates(confidence_level) | {"": self.row}
        columns |= {"p_best": self.p_best, "expected_loss": self.expected_loss}
        columns["selected"] = np.arange(len(self.p_best)) == self.selected_index
        columns["pos_label"] = [self.selected.pos_label] * len(self.p_best)
        return columns


def search_posterior(
    search: Any,
    X: Any,
    y: ArrayLike,
    *,
    prior: Prior | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    n_resamples: int = 4000,
    random_state: Seed = 0,
    fit_params: dict | None = None,
    groups: Values = None,
) -> SearchPosterior:
    """Joint posterior of the AUCs of all candidates of a search.

    Answers: how certain is the choice of the best candidate, how much AUC may a wrong
    choice cost, and how large is the AUC of the selected candidate after correction for
    its selection? All candidates share one model of the data set, so that common errors
    cancel in their differences. Costs one fit per candidate, five more for each that is
    not linear (none for forests and bagging), and for the selected one the refits of
    :func:`skauc.auc_posterior`, of which those five are a part.

    Parameters
    ----------
    search : fitted search, or list or dict of fitted models
        ``GridSearchCV``, ``RandomizedSearchCV``, ``HalvingGridSearchCV``, … with any
        ``cv`` and scoring, over classifiers of two classes. Candidates are refitted
        to all rows, because a search does not keep its models. Candidates without a
        score, candidates of earlier iterations of a halving search and, where
        ``error_score`` is a number, candidates whose fit fails are omitted. Models
        are used as they are; the names of a dict are the rows of the table.
    X : array-like or sparse matrix of shape (n, n_features)
        The rows of the search.
    y : array-like of shape (n,)
    prior : "adaptive", "paper", AdaptivePrior, NormalInverseWishart or None
        As for :func:`skauc.auc_posterior`; None takes the prior of the scorer of the
        search.
    n_jobs : int, default=None
        Number of candidates that are fitted in parallel, as in joblib.
    verbose : int, default=0
        Verbosity of joblib, which shows the progress of these fits; 0 is silent.
    n_resamples : int, default=4000
        Number of draws for ``p_best`` and ``expected_loss``; the standard error of a
        probability is at most ``0.5/√n_resamples``.
    random_state : int, Generator, RandomState or None, default=0
        Seed of these draws.
    fit_params : dict, default=None
        Further arguments of ``search.fit``, for example ``{"sample_weight": w}``;
        weights are counts of the rows.
    groups : array-like of shape (n,), default=None
        As for :func:`skauc.auc_posterior`; None takes the ``groups`` of ``fit_params``.

    Returns
    -------
    SearchPosterior
        ``selected``, the posterior to report, ``p_best``, ``expected_loss``,
        ``simplest(parameter)``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    TypeError
        If ``search`` is neither a search nor a list of models, or a model is not
        linear and the prior is a conjugate one.
    ValueError
        If the input is invalid, there are more than two classes, or no candidate is
        left.
    sklearn.exceptions.NotFittedError
        If the search or a model is not fitted.

    Warns
    -----
    UntrustedAUCWarning
        For the reasons of :func:`skauc.auc_posterior`, each once, and for those of
        :func:`skauc.auc_difference_posterior`. If the candidates use different
        features: the selected AUC is not corrected for their selection.

    See Also
    --------
    auc_posterior : The AUC of the chosen model alone.
    SearchDisplay : Draws the candidates against their parameters.
    one_sd_rule : Selects the simplest good candidate within the search.
    auc_difference_posterior : Two models.

    Notes
    -----
    In probits ``Z = Φ⁻¹(AUC) ~ N(m, V)``: m lies one sixth of the way from the model of
    the data set to the AUC of rows left out, shifted so that the selected candidate has
    the mean of its report; the covariance is derived in
    :mod:`skauc.model_selection._candidates`. ``p_best``
    and ``expected_loss`` are means over draws, in which an AUC on the other side of ½
    than its mean counts as ½; they may prefer another candidate than the one that the
    search selected.

    A ranking by the model of the data set does not select errors of rows left out. If
    refits were requested, an error e of their AUC enters a ranking score with the
    weight w_c = ⅓, and a share w_c of it remains: with normal errors of standard
    deviation ``w_c² s_b`` the posterior of the selected candidate is lowered by
    ``E e_k``, ``k = argmax(score + e)``, a bias that is simulated [1]_. A search that
    ranks by another score is corrected as if it ranked by this one.

    References
    ----------
    .. [1] Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, section 10,
       https://doi.org/10.1201/9780429246593

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skauc import ResubstitutionSplit, cbauc_scorer, search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:80, :4] / X[:80, :4].std(axis=0), y[:80]
    >>> search = GridSearchCV(
    ...     LogisticRegression(), {"C": [1e-3, 1.0]}, scoring=cbauc_scorer,
    ...     cv=ResubstitutionSplit(),
    ... ).fit(X, y)
    >>> posterior = search_posterior(search, X, y, random_state=0)
    >>> float(posterior.p_best.sum().round(6)), posterior.simplest("C") in (0, 1)
    (1.0, True)
    """
    prior = _prior_of_scorer(search) if prior is None else prior
    n_resamples = check_integer("n_resamples", n_resamples, 1)
    rng, verbose = generator(random_state), as_verbosity(verbose)
    indexable(X, y)
    positive, y = positive_and_label(y)[0], check_labels(y)
    fit_params, weight, groups = _of_fit(fit_params, groups)
    weight = check_weight(weight, positive)
    question = Question(prior, left_out="fits", groups=groups)
    may_fail = isinstance(getattr(search, "error_score", None), Real)
    make = partial(_made, (X, y, weight), question, fit_params, may_fail)
    candidates, k, table = _evaluated(make, search, n_jobs, verbose)
    rho = alike(candidates)
    joint = joint_aucs(candidates, rho, reported=k)
    p_best, loss = joint.best(n_resamples, rng)
    bias = selection_bias(candidates, k, rho, n_resamples, rng)
    posteriors = [
        _marginal(c.posterior, *moments)
        for c, moments in zip(candidates, joint.moments, strict=True)
    ]
    own = posteriors[k]
    reasons = _doubts_of(search, groups is not None, candidates, k)
    own = replace(own, warnings=(*own.warnings, *reasons))
    selected = own
    if bias:  # the mean of Z is lowered by the bias, and its variance raised by bias²
        mean, variance = joint.moments[k]
        selected = _marginal(own, mean - bias, variance + bias**2)
    return SearchPosterior(
        p_best=p_best,
        expected_loss=loss,
        auc=AUCPosteriors(tuple(posteriors)),
        selected=selected,
        selected_index=k,
        bias_of_best_score=own.mean() - selected.mean(),
        joint=joint,
        **table,
    )


def _models_of(search):
    """Estimators with parameters (None for fitted models), and columns of a table."""
    named = dict(enumerate(search)) if isinstance(search, list | tuple) else search
    if isinstance(named, Mapping):
        if not named:
            raise ValueError("search must hold at least one fitted model, got none")
        row = np.fromiter(named, dtype=object if named is search else int)
        table = {"params": ({},) * len(named), "row": row, "score": None}
        return [(model, None) for model in named.values()], table
    if not hasattr(search, "error_score"):  # which all searches have, and only they
        raise TypeError(
            "search must be a fitted search or a list of fitted models, got "
            f"{type(search).__name__}"
        )
    check_is_fitted(search, "cv_results_")
    row, score = _comparable(search)
    params = tuple(search.cv_results_["params"][i] for i in row)
    table = {"params": params, "row": row, "score": score}
    return [(search.estimator, values) for values in params], table


def _evaluated(make, search, n_jobs, verbose):
    """Candidates that could be fitted, the number of the reported one, and a table."""
    models, table = _models_of(search)
    best = table["row"] == getattr(search, "best_index_", np.nan)  # no name is NaN
    pairs = zip(models, best, strict=True)
    calls = (partial(make, *model, report=report) for model, report in pairs)
    made = in_parallel(calls, n_jobs, verbose)
    fitted = [i for i, one in enumerate(made) if one is not None]
    if not fitted:
        raise ValueError("search must have a candidate whose fit succeeds, got none")
    candidates, best = [made[i] for i in fitted], best[fitted]
    k = int(best.argmax())
    if not best[k]:  # nothing was selected: the best choice is reported
        k = int(np.argmax([c.choice for c in candidates]))
        candidates[k] = make(*models[fitted[k]], report=True)
    # by the caller, so that worker processes do not repeat each other
    doubts.warn(dict.fromkeys(w for c in candidates for w in c.posterior.warnings))
    score = None if table["score"] is None else table["score"][fitted]
    params = tuple(table["params"][i] for i in fitted)
    return (
        candidates,
        k,
        {"params": params, "row": table["row"][fitted], "score": score},
    )


def _made(data, question, fit_params, may_fail, model, params, report):
    """A candidate: a fitted model, or a search's fitted to all rows with parameters.

    None if that fit fails and may fail. Its posterior is a report if it is asked for.
    """
    X, y, weight = data
    if params is not None:
        # as in scikit-learn's searches: estimators among the values are cloned
        values = {name: clone(value, safe=False) for name, value in params.items()}
        model = clone(clone(model).set_params(**values))
        try:
            model.fit(X, y, **fit_params)
        except Exception:
            if may_fail:
                return None
            raise
        question = replace(question, rows="training")
    [reported] = evaluations(model, X, y, weight, question)
    scored = replace(reported, question=replace(question, left_out="closed form"))
    found = candidate(scored)
    # only the level: a corrected score of one candidate would be unfair
    return replace(found, posterior=reported.posterior) if report else found


def _of_fit(fit_params, groups):
    """Parameters of a fit, and the weights and groups of the rows."""
    params = {} if fit_params is None else fit_params
    if not isinstance(params, dict) or not all(isinstance(k, str) for k in params):
        raise ValueError(
            "fit_params must be a dict of the parameters that search.fit was given, "
            f"got {short(fit_params)}"
        )
    # weights may be given to several steps
    names = [name for name in params if name.split("__")[-1] == "sample_weight"]
    weights = [params[name] for name in names] or [None]
    if any(not np.array_equal(weights[0], weight) for weight in weights[1:]):
        raise ValueError(
            f"fit_params must hold the same sample_weight for all steps, got {names}"
        )
    groups = params.get("groups") if groups is None else groups
    rest = {name: value for name, value in params.items() if name != "groups"}
    return rest, weights[0], groups


def _comparable(search):
    """Rows of ``cv_results_`` with a score, of the last round of a halving search."""
    results = search.cv_results_
    names = [name for name in results if name.startswith("mean_test_")]
    # ``refit`` names one of several scores, unless it is a rule
    named = [name for name in names if name == f"mean_test_{search.refit}"]
    score = np.asarray(results[(named or names)[0]], dtype=float)
    keep = np.isfinite(score)
    if "iter" in results:
        # Scores of earlier rounds are of fewer rows.
        keep &= np.asarray(results["iter"]) == np.max(results["iter"])
    row = np.flatnonzero(keep)
    if not len(row):
        raise ValueError("search must have a candidate with a finite score, got none")
    return row, score[row] if named or len(names) == 1 else None


def _doubts_of(search, grouped, candidates, k):
    """Warn of reasons to doubt a search, beyond those of its models."""
    reasons = doubts.of_search(search)
    reasons += [] if grouped else doubts.split_by_groups(search)
    n_sets = len({c.key for c in candidates if c.key is not None})
    if n_sets > 1 and not candidates[k].luck:  # nothing was subtracted
        reasons.append(doubts.OTHER_FEATURES.format(n=n_sets))
    doubts.warn(reasons)
    return reasons


def _prior_of_scorer(search):
    """The prior of the scorer of a search; "adaptive" where it has none."""
    scorers = (s for s in doubts.scorers_of(search) if isinstance(s, Scorer))
    priors = (scorer.prior for scorer in scorers if scorer.prior is not None)
    return next(priors, "adaptive")


def _marginal(posterior, mean, variance):
    """Posterior of one candidate of the joint normal Z, with the texts of its own."""
    kept = ("leave_pair_out", "second_source", "rows", "warnings", "pos_label")
    known = {name: getattr(posterior, name) for name in kept}
    if variance == 0:  # the AUC is certainly ½
        return posterior
    # Φ⁻¹ E Φ(Z) = mean/√(1 + variance)
    return AUCPosterior.normal(mean / np.sqrt(1 + variance), variance, **known)


# ------------------------------------------------------------------ rules of choice


@dataclass(frozen=True)
class OneSDRule:
    """Callable ``rule(cv_results_) -> best_index_``; made by :func:`one_sd_rule`."""

    parameter: str
    simplest: str
    within: float

    def __call__(self, cv_results) -> int:
        """Row of the simplest candidate within some deviations of the best.

        Parameters
        ----------
        cv_results : dict
            ``cv_results_`` of a search.

        Returns
        -------
        int
        """
        order = parameter_values("parameter", self.parameter, cv_results["params"])
        order = order if self.simplest == "smallest" else -order
        score, points = _scores(cv_results)
        known = np.isfinite(score)
        if not known.any():
            raise ValueError("cv_results must hold a finite score, got none")
        best = int(np.nanargmax(score))
        with np.errstate(invalid="ignore"):
            deviation = np.linalg.norm(points - points[best], axis=1)
            allowed = self.within * deviation + _ROUNDING
            near = known & (score[best] - score <= allowed)
        near[best] = True
        return simplest_of(near, order, score)


def parameter_values(argument, name, params) -> np.ndarray:
    """Values of a numeric parameter of all candidates; ``argument`` is for errors."""
    missing = [p for p in params if name not in p]
    if missing:
        raise ValueError(
            f"{argument} must name a parameter of all candidates, got {name!r} where a "
            f"candidate has {sorted(missing[0])}"
        )
    return as_numbers(f"{argument} {name}", [p[name] for p in params])


def simplest_of(near, order, score) -> int:
    """Candidate of a mask with the smallest ``order``; of these, the best score."""
    rows = np.flatnonzero(near)
    # the last key of lexsort is the primary one
    return int(rows[np.lexsort((-score[rows], order[rows]))[0]])


def one_sd_rule(
    parameter: str, simplest: str = "smallest", *, within: float = 1.0
) -> OneSDRule:
    """Rule for ``GridSearchCV(refit=…)``: the simplest of the best candidates.

    Answers: which is the simplest candidate that is not clearly worse than the best? It
    is Breiman's one-standard-error rule [1]_ with the standard deviation of the
    *difference* from the best candidate over the folds. The difference matters because
    the errors of candidates of one data set are correlated, so the standard error of a
    single score is a poor guide to which candidate is better. For a search without
    folds use ``search_posterior(search, X, y).simplest(parameter)``.

    Parameters
    ----------
    parameter : str
        Name of a numeric parameter of the search.
    simplest : {"smallest", "largest"}, default="smallest"
        Which of its values is the simplest.
    within : float, default=1.0
        Largest difference from the best candidate that is accepted, in standard
        deviations of that difference.

    Returns
    -------
    OneSDRule
        ``rule(cv_results_) -> best_index_``; it can be pickled.

    Raises
    ------
    ValueError
        If an option is not known. When called: if the search does not vary the
        parameter, or has several scores.

    Warns
    -----
    UntrustedAUCWarning
        When called: if the search has a single score and no folds, so that the
        differences have no known deviation. The candidate with the largest score is
        selected.

    See Also
    --------
    search_posterior : The same question after the search, with probabilities.
    skauc.results.SearchPosterior.simplest : The same rule after a search without folds.

    Notes
    -----
    The variance of a difference over K ≥ 2 folds is Nadeau and Bengio's [2]_ ``(1/K +
    1/(K − 1)) S²``, where S² is its variance over the folds. This formula is for K
    folds of one partition. ``cv_results_`` does not show whether the folds are repeated
    or random splits; for these the variance is too small.

    Among equally simple candidates the better one is selected.

    References
    ----------
    .. [1] Breiman, Friedman, Olshen & Stone (1984), *Classification and Regression
       Trees*, https://doi.org/10.1201/9781315139470
    .. [2] Nadeau & Bengio (2003), "Inference for the generalization error",
       https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skauc import one_sd_rule
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:120] / X[:120].std(axis=0), y[:120]
    >>> search = GridSearchCV(
    ...     RidgeClassifier(), {"alpha": [1.0, 10.0, 100.0, 1000.0]},
    ...     refit=one_sd_rule("alpha", simplest="largest", within=2.0),
    ...     scoring="roc_auc",
    ... ).fit(X, y)
    >>> best = search.cv_results_["mean_test_score"].argmax()
    >>> search.cv_results_["params"][best], search.best_params_
    ({'alpha': 100.0}, {'alpha': 1000.0})
    """
    if not isinstance(parameter, str):
        raise ValueError(f"parameter must be a name, got {parameter!r}")
    check_option("simplest", simplest, ("smallest", "largest"))
    within = check_interval("within", within, 0)
    return OneSDRule(parameter, simplest, within)


def _scores(results):
    """Score of each candidate, and points whose distances are deviations.

    Distances between the points, the rows of an array, are the standard deviations of
    the differences between the candidates.
    """
    names = [name for name in results if name.startswith("mean_test_")]
    if len(names) != 1:
        raise ValueError(f"cv_results_ must hold one score, got {names}")
    score = np.asarray(results[names[0]], dtype=float)
    score_of = names[0].removeprefix("mean_")
    folds = [f"split{k}_{score_of}" for k in range(len(results))]
    split = [results[name] for name in folds if name in results]
    if len(split) < 2:
        doubts.warn([doubts.ONE_SCORE])
        return score, np.zeros((len(score), 1))
    split, K = np.column_stack(split).astype(float), len(split)
    # Var d̄ = (1/K + n_test/n_train) Σ (d − d̄)²/(K − 1), n_test/n_train = 1/(K − 1)
    factor = (1 / K + 1 / (K - 1)) / (K - 1)
    with np.errstate(invalid="ignore"):  # a score of −inf
        return score, np.sqrt(factor) * (split - score[:, None])
