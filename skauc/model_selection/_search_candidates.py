"""The candidates of a search, or fitted models, as the joint posterior takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._validation import check_positive, check_weight, short
from ._candidate import Candidate, candidate
from ._posterior import evaluations
from ._scorer import Scorer

_RUNNERS_UP = 2  # candidates besides the selected one whose posteriors are reported


def prior_of_scorer(search):
    """The prior of the scorer of a search; "adaptive" where it has none."""
    scorers = getattr(search, "scorer_", None)
    scorers = scorers.values() if isinstance(scorers, dict) else [scorers]
    for scorer in scorers:
        if isinstance(scorer, Scorer) and "prior" in scorer._params:
            return scorer._params["prior"]
    return "adaptive"


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search tried.

    Parameters
    ----------
    candidates : list of Candidate
    params : tuple of dict
        Parameters of each; empty for fitted models.
    row : ndarray of int
        The row of ``cv_results_`` of each; of fitted models their place in the list.
    score : ndarray or None
        ``mean_test_score`` of each.
    selected : int or None
        Which of them the search has selected.
    """

    candidates: list[Candidate]
    params: tuple[dict, ...]
    row: np.ndarray
    score: np.ndarray | None
    selected: int | None


def candidates_of(search, X, y, prior, n_jobs, fit_params=None) -> Searched:
    """Candidates of a fitted search, refitted to all rows; or fitted models.

    Parameters
    ----------
    search : fitted search, or list or tuple of fitted estimators
    X : array-like or sparse matrix of shape (n, n_features)
    y : array-like of shape (n,)
    prior : AdaptivePrior or NormalInverseWishart
    n_jobs : int or None
    fit_params : dict or None, default=None
        What candidates are fitted with beside X and y.

    Returns
    -------
    Searched

    Raises
    ------
    TypeError
        If it is neither, or a model is not linear.
    ValueError
        If there is no candidate, or the input is bad.
    """
    indexable(X, y)
    positive = check_positive(column_or_1d(y))
    fit_params = _checked(fit_params)
    weight = check_weight(_weight_of(fit_params), positive)
    question = {"X": X, "y": y, "prior": prior, "weight": weight}
    if isinstance(search, list | tuple):
        return _of_models(search, n_jobs, question)
    if not _is_search(search):
        raise TypeError(
            "search must be a fitted search or a list of fitted models, got "
            f"{type(search).__name__}"
        )
    check_is_fitted(search, "cv_results_")
    row, score = _comparable(search)
    params = tuple(search.cv_results_["params"][i] for i in row)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_refitted)(search.estimator, p, fit_params, question) for p in params
    )
    best = np.flatnonzero(row == getattr(search, "best_index_", None))
    selected = int(best[0]) if len(best) else None

    def report(k):
        return _refitted(search.estimator, params[k], fit_params, question, report=True)

    return Searched(_reported(found, selected, report), params, row, score, selected)


def _reported(candidates, selected, report):
    """Candidates; the selected one and the best two others with reported posteriors.

    The ranking scores stay: rows left out of three candidates alone would not be fair
    to the others.
    """
    choice = np.array([c.choice for c in candidates])
    if selected is not None:
        choice[selected] = np.inf
    for k in np.argsort(-choice, kind="stable")[: 1 + _RUNNERS_UP]:
        posterior = report(int(k)).posterior
        candidates[k] = replace(candidates[k], posterior=posterior)
    return candidates


def _checked(fit_params):
    if fit_params is None:
        return {}
    if not isinstance(fit_params, dict) or not all(
        isinstance(name, str) for name in fit_params
    ):
        raise ValueError(
            "fit_params must be a dict of what the search was fitted with, got "
            f"{short(fit_params)}"
        )
    return fit_params


def _weight_of(fit_params):
    """The weights of the rows, which several steps may have been given."""
    names = [name for name in fit_params if name.split("__")[-1] == "sample_weight"]
    weights = [fit_params[name] for name in names]
    if any(not np.array_equal(weights[0], weight) for weight in weights[1:]):
        raise ValueError(
            f"fit_params must hold the same sample_weight for all steps, got {names}"
        )
    return weights[0] if weights else None


def _of_models(models, n_jobs, question):
    if not models:
        raise ValueError("search must hold at least one fitted model, got an empty one")
    found = Parallel(n_jobs=n_jobs)(
        delayed(_evaluated)(model, rows="auto", **question) for model in models
    )

    def report(k):
        return _evaluated(models[k], rows="auto", report=True, **question)

    found, place = _reported(found, None, report), np.arange(len(models))
    return Searched(found, ({},) * len(models), place, None, None)


def _is_search(search):
    """Whether it has what searches have, and where fitted a table of candidates."""
    known = hasattr(search, "estimator") and hasattr(search, "refit")
    return known and "params" in getattr(search, "cv_results_", {"params": ()})


def _comparable(search):
    """Rows of ``cv_results_`` that were given all resources and have a score."""
    results: dict[str, Any] = search.cv_results_
    names = [name for name in results if name.startswith("mean_test_")]
    # among several scores the one that ``refit`` names; a rule names none of them
    refit = search.refit if isinstance(search.refit, str) else "choice"
    name = f"mean_test_{refit}" if f"mean_test_{refit}" in names else names[0]
    ranked = name if len(names) == 1 or name.endswith(refit) else None
    score = np.asarray(results[name], dtype=float)
    keep = np.isfinite(score)
    if "iter" in results:
        # Scores of other rounds are of fewer rows.
        keep &= np.asarray(results["iter"]) == np.max(results["iter"])
    row = np.flatnonzero(keep)
    if not len(row):
        raise ValueError("search must have a candidate with a finite score, got none")
    return row, None if ranked is None else score[row]


def _refitted(estimator, params, fit_params, question, report=False):
    """A candidate of a search, fitted to all rows."""
    # as searches do: an estimator among the values must not be fitted in place
    values = {name: clone(value, safe=False) for name, value in params.items()}
    model = clone(clone(estimator).set_params(**values))
    model.fit(question["X"], question["y"], **fit_params)
    return _evaluated(model, rows="training", report=report, **question)


def _evaluated(model, X, y, *, prior, weight, rows, report=False):
    """A fitted model as a candidate."""
    [evaluation] = evaluations(
        model,
        X,
        y,
        prior=prior,
        covariance="common",
        rows=rows,
        sample_weight=weight,
        pos_label=None,
        report=report,
    )
    evaluation.warn(once=True)
    return candidate(evaluation)
