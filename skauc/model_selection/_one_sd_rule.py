"""The simplest candidate that is hardly worse than the best, for ``refit=``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._validation import check_number, check_option
from ..statistics._numbers import as_numbers
from ._candidate import contrast_names
from ._warnings import warn_of

_ROUNDING = 1e-9  # scores nearer than this may be those of one model twice


@dataclass(frozen=True)
class OneSDRule:
    """Callable ``rule(cv_results_) -> best_index_``; made by :func:`one_sd_rule`."""

    parameter: str
    simplest: str
    within: float

    def __call__(self, cv_results) -> int:
        """Row of the simplest candidate that is hardly worse than the best.

        Parameters
        ----------
        cv_results : dict
            ``cv_results_`` of a search.

        Returns
        -------
        int
        """
        order = self._complexity(cv_results["params"])
        score, deviation = _scores(cv_results)
        known = np.isfinite(score)
        if not known.any():
            raise ValueError("cv_results must hold a finite score, got none")
        best = int(np.nanargmax(score))
        with np.errstate(invalid="ignore"):
            allowed = self.within * deviation(best) + _ROUNDING
            near = known & (score[best] - score <= allowed)
        near[best] = True
        rows = np.flatnonzero(near)
        # lexsort's last key is the first: complexity, then the better score.
        return int(rows[np.lexsort((-score[rows], order[rows]))[0]])

    def _complexity(self, params):
        missing = [p for p in params if self.parameter not in p]
        if missing:
            raise ValueError(
                f"parameter must be one that the search tries, got {self.parameter!r} "
                f"where it tries {sorted(missing[0])}"
            )
        values = as_numbers(self.parameter, [p[self.parameter] for p in params])
        return values if self.simplest == "smallest" else -values


def one_sd_rule(parameter, simplest="smallest", *, within=1.0) -> OneSDRule:
    """Rule for ``GridSearchCV(refit=…)``: the simplest of the hardly worse.

    Answers: which is the simplest candidate that I cannot tell from the best? Breiman's
    one-standard-error rule without folds, with the standard deviation of the
    *difference* to the best: candidates of one data set err together, and the standard
    error of a single score says little of which is better.

    Parameters
    ----------
    parameter : str
        Name of a numeric parameter of the search.
    simplest : {"smallest", "largest"}, default="smallest"
        Which of its values is the simplest.
    within : float, default=1.0
        Standard deviations of the difference that are hardly worse.

    Returns
    -------
    OneSDRule
        ``rule(cv_results_) -> best_index_``; it can be pickled.

    Raises
    ------
    ValueError
        If an option is not known; when called, if the search does not try the
        parameter, or has several scores of another kind.

    Warns
    -----
    UntrustedAUCWarning
        When called on one score without folds, in which no difference is to be seen:
        the largest is taken.

    Notes
    -----
    The search must leave the differences in ``cv_results_``, where a single score has
    no place for them. Two kinds of search do:

    - ``scoring=make_cbauc_scorer(output="dict")``, with ``ResubstitutionSplit`` or with
      folds. The ``contrast_…`` columns are a sketch of the joint posterior of
      :func:`skauc.search_posterior`: 32 coordinates of each candidate whose distances
      are the standard deviations of the differences, in probits, to an eighth of
      themselves. The best is the one with the largest mean of it.
    - any single score over K ≥ 2 folds, ``cbauc_scorer`` or ``"roc_auc"``: the
      differences of the folds, with Nadeau and Bengio's variance
      ``(1/K + 1/(K − 1)) S²``, S² the variance over the folds. The results do not tell
      repeated folds and random splits from K folds of one partition, for which they are
      taken: their differences are then less sure than is said.

    Of equally simple candidates the better is taken.

    References
    ----------
    Breiman et al. (1984), Classification and Regression Trees; Nadeau & Bengio (2003),
    https://doi.org/10.1023/A:1024068626366; Johnson & Lindenstrauss (1984).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skauc import ResubstitutionSplit, make_cbauc_scorer, one_sd_rule
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:120] / X[:120].std(axis=0), y[:120]
    >>> search = GridSearchCV(
    ...     RidgeClassifier(), {"alpha": [1.0, 10.0, 100.0, 1000.0]},
    ...     refit=one_sd_rule("alpha", simplest="largest"),
    ...     scoring=make_cbauc_scorer(output="dict"), cv=ResubstitutionSplit(),
    ... ).fit(X, y)
    >>> best = search.cv_results_["mean_test_choice"].argmax()
    >>> search.cv_results_["params"][best], search.best_params_
    ({'alpha': 10.0}, {'alpha': 100.0})
    """
    if not isinstance(parameter, str):
        raise ValueError(f"parameter must be a name, got {parameter!r}")
    check_option("simplest", simplest, ("smallest", "largest"))
    within = check_number("within", within, "be >= 0", lambda value: value >= 0)
    return OneSDRule(parameter, simplest, within)


def _scores(results):
    """Score of each candidate, and a function of what differences to one deviate by."""
    names = [f"mean_test_{name}" for name in contrast_names()]
    if all(name in results for name in names):
        place = np.column_stack([results[name] for name in names]).astype(float)

        def apart(best):
            return np.linalg.norm(place - place[best], axis=1)

        # the first coordinate is what the search's score is off the joint mean
        choice = np.asarray(results["mean_test_choice"], dtype=float)
        return choice - place[:, 0], apart
    folds = [f"split{k}_test_score" for k in range(len(results))]
    split = [results[name] for name in folds if name in results]
    if len(split) < 2:
        return _one_score(results)
    split = np.column_stack(split).astype(float)
    K = split.shape[1]

    def of_folds(best):
        # Var d̄ = (1/K + n_test/n_train) S², n_test/n_train = 1/(K − 1) for K folds
        spread = np.var(split - split[best], axis=1, ddof=1)
        return np.sqrt((1 / K + 1 / (K - 1)) * spread)

    return split.mean(axis=1), of_folds


def _one_score(results):
    """A single score without folds, in which no difference is to be seen."""
    names = [name for name in results if name.startswith("mean_test_")]
    if len(names) != 1:
        raise ValueError(
            "cv_results must hold one score or those of make_cbauc_scorer(output="
            f'"dict"), got {names}'
        )
    warn_of(
        "one score a candidate does not say how much they differ, so that the largest "
        'is taken: one_sd_rule needs scoring=make_cbauc_scorer(output="dict")'
    )
    score = np.asarray(results[names[0]], dtype=float)
    return score, lambda best: np.zeros(len(score))
