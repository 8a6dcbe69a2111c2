"""Tools for a search: a splitter and a rule of choice."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from ..statistics._checks import as_numbers, check_interval, check_option
from ..statistics._types import Values
from . import _doubts as doubts
from ._verdict import ALL_ROWS, digest_of
from .reading._estimators import n_rows

_ROUNDING = 1e-9  # scores that differ by less are equal up to rounding


class ResubstitutionSplit:
    """Splitter with one split, in which training and test rows are all rows.

    Answers: how does ``GridSearchCV`` fit each candidate only once, on all rows? Use it
    with scorers that evaluate a model on its training rows, such as
    :data:`skauc.cbauc_scorer`. **Not** for ordinary scorers such as ``"roc_auc"``,
    which would return the optimistic resubstitution score.

    A successive halving search needs an integer ``random_state``; without it the search
    scores different rows from those that it fits.

    See Also
    --------
    cbauc_scorer : The scorer to use with it.
    search_posterior : Chooses among its candidates, also the simplest good one.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import ResubstitutionSplit
    >>> [(train, test)] = ResubstitutionSplit().split(np.zeros((3, 2)))
    >>> train.tolist(), test.tolist()
    ([0, 1, 2], [0, 1, 2])
    """

    def split(
        self, X: Any, y: object = None, groups: Values = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield a single pair ``(train, test)``: the numbers of all rows, twice.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y : array-like of shape (n,), default=None
            Labels, by which scorers know the rows of this search again.
        groups : array-like of shape (n,), default=None
            Taken under metadata routing, for scorers that request them.

        Yields
        ------
        train, test : ndarray of shape (n,)

        Raises
        ------
        ValueError
            If groups are given without metadata routing, under which the scorer would
            not get them.
        """
        if groups is not None and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                "groups must be None without metadata routing, because the scorer does "
                "not get them: use scoring=make_cbauc_scorer(groups=groups)"
            )
        doubts.begin_search()
        if y is not None:
            ALL_ROWS.append(digest_of(X, y))
        rows = np.arange(n_rows(X))
        yield rows, rows.copy()

    def get_n_splits(
        self, X: object = None, y: object = None, groups: object = None
    ) -> int:
        """Return 1."""
        return 1

    def get_metadata_routing(self) -> Any:
        """Request the groups, which the scorer must request, too."""
        request = MetadataRequest(owner=self)
        if get_config()["enable_metadata_routing"]:
            request.split.add_request(param="groups", alias=True)
        return request

    def __repr__(self):
        return "ResubstitutionSplit()"


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
