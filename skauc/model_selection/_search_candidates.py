"""The candidates of a search, or fitted models, as the joint posterior takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._validation import check_positive, check_weight, short
from ._candidate import Candidate, candidate
from ._linear_model import open_two_classes
from ._model_posterior import model_posterior
from ._score_correlation import SharedRows, shared_rows


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
    shared : SharedRows
        The rows that the candidates share.
    """

    candidates: list[Candidate]
    params: tuple[dict, ...]
    row: np.ndarray
    score: np.ndarray | None
    selected: int | None
    shared: SharedRows


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
    shared = shared_rows(X, positive, weight)
    if isinstance(search, list | tuple):
        return _of_models(search, X, y, prior, n_jobs, shared)
    if not _is_search(search):
        raise TypeError(
            "search must be a fitted search or a list of fitted models, got "
            f"{type(search).__name__}"
        )
    check_is_fitted(search, "cv_results_")
    row, score = _comparable(search)
    params = tuple(search.cv_results_["params"][i] for i in row)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_refitted)(search.estimator, p, X, y, prior, fit_params, shared)
        for p in params
    )
    best = np.flatnonzero(row == getattr(search, "best_index_", None))
    selected = int(best[0]) if len(best) else None
    return Searched(found, params, row, score, selected, shared)


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


def _of_models(models, X, y, prior, n_jobs, shared):
    if not models:
        raise ValueError("search must hold at least one fitted model, got an empty one")
    found = Parallel(n_jobs=n_jobs)(
        delayed(_asked)(model, X, y, prior, "auto", shared) for model in models
    )
    place = np.arange(len(models))
    return Searched(found, ({},) * len(models), place, None, None, shared)


def _is_search(search):
    """Whether it has what searches have, and where fitted a table of candidates."""
    known = hasattr(search, "estimator") and hasattr(search, "refit")
    return known and "params" in getattr(search, "cv_results_", {"params": ()})


def _comparable(search):
    """Rows of ``cv_results_`` that were given all resources and have a score."""
    results: dict[str, Any] = search.cv_results_
    refit = search.refit if isinstance(search.refit, str) else None
    names = [name for name in results if name.startswith("mean_test_")]
    # Of several scores the one that refit names, which the search has ranked by.
    name = f"mean_test_{refit}" if f"mean_test_{refit}" in names else names[0]
    score = np.asarray(results[name], dtype=float)
    keep = np.isfinite(score)
    if "iter" in results:
        # Scores of other rounds are of fewer rows.
        keep &= np.asarray(results["iter"]) == np.max(results["iter"])
    row = np.flatnonzero(keep)
    if not len(row):
        raise ValueError("search must have a candidate with a finite score, got none")
    return row, score[row]


def _refitted(estimator, params, X, y, prior, fit_params, shared):
    # As searches do: an estimator among the values must not be fitted in place.
    values = {name: clone(value, safe=False) for name, value in params.items()}
    model = clone(clone(estimator).set_params(**values))
    return _asked(model.fit(X, y, **fit_params), X, y, prior, "training", shared)


def _asked(model, X, y, prior, rows, shared):
    opened = open_two_classes(model, X)
    asked = model_posterior(
        opened,
        y,
        prior=prior,
        covariance="common",
        sample_weight=shared.weight,
        pos_label=None,
        rows=rows,
        whole=(model, X, y),
    )
    return candidate(asked, shared=shared)
