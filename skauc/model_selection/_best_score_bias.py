"""What ``best_score_`` of a search over folds owes to its having been the best."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import short


def best_score_bias(search) -> float:
    """Bias of ``best_score_`` of a search over folds, from its ``cv_results_``.

    Answers: how much is the score of the best candidate too high because it was chosen
    on the same folds? ``search.best_score_ − best_score_bias(search)`` is the corrected
    score. Costs nothing: no fit.

    Parameters
    ----------
    search : fitted search
        ``GridSearchCV``, ``RandomizedSearchCV`` or a halving search, of which only the
        last round is looked at, over two folds or more. Any scorer; of several the one
        that ``refit`` names.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        If the search has no ``best_score_`` or fewer than two folds, or its best
        candidate has no score in one of them.

    Notes
    -----
    With the score s_k(θ) of candidate θ in fold k, θ* the best on average and θ_k* the
    best in fold k, the bias is ``Σ_k {s_k(θ_k*) − s_k(θ*)}/K``: what choosing on one
    fold wins on that fold stands for what choosing on all of them wins on all.
    Candidates that failed in a fold are left out of it. It is a rough estimate, best
    for K of 5 or fewer: of K folds of m equally good candidates with independent normal
    scores of standard deviation σ in a fold, it expects ``σ c_m (1 − 1/√K)``, c_m the
    mean of the largest of m standard normals, and the bias is ``σ c_m/√K``. They are
    equal for K = 4; for K = 10 it is 2.2 times too large.

    References
    ----------
    Tibshirani & Tibshirani (2009), https://doi.org/10.1214/08-AOAS224

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skauc import best_score_bias
    >>> X, y = np.random.default_rng(0).standard_normal((60, 10)), np.arange(60) % 2
    >>> grid = {"n_neighbors": range(1, 20)}
    >>> noise = GridSearchCV(KNeighborsClassifier(), grid, scoring="roc_auc", cv=4)
    >>> bias = best_score_bias(noise.fit(X, y))
    >>> round(float(noise.best_score_), 3), round(float(noise.best_score_ - bias), 3)
    (0.578, 0.522)
    """
    if not hasattr(search, "fit") or isinstance(search, type):
        raise ValueError(f"search must be a fitted search, got {short(search)}")
    check_is_fitted(search)
    if not hasattr(search, "best_score_") or not hasattr(search, "cv_results_"):
        raise ValueError(
            "search must have best_score_ and cv_results_, which one that is refitted "
            f"by a callable or is no search has not, got {short(search)}"
        )
    scores, best = _fold_scores(search)
    if len(scores) < 2:
        raise ValueError(f"search must have two folds or more, got {len(scores)}")
    chosen = scores[:, best]
    if not np.isfinite(chosen).all():
        raise ValueError(
            f"search must have a finite score of its best candidate in every fold, got "
            f"{chosen.tolist()}"
        )
    # Σ_k {max_θ s_k(θ) − s_k(θ*)}/K; fmax leaves out candidates without a score.
    return float((np.fmax.reduce(scores, axis=1) - chosen).mean())


def _fold_scores(search):
    """Scores, (folds, candidates), and the column of the best candidate."""
    results = search.cv_results_
    name = search.refit if search.multimetric_ else "score"
    scores = np.array(
        [results[f"split{k}_test_{name}"] for k in range(search.n_splits_)], dtype=float
    )
    rounds = np.asarray(results.get("iter", np.zeros(scores.shape[1])))
    last = np.flatnonzero(rounds == rounds[search.best_index_])
    return scores[:, last], int(np.searchsorted(last, search.best_index_))
