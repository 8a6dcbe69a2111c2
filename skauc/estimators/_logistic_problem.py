"""A logistic likelihood, penalised or not, and its maximum: section 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from ._firth import FirthObjective
from ._likelihood import Coding, coding_matrix, squared_scores
from ._newton import Objective, climb, standardised
from ._separation import separation_of

_LARGEST_RIDGE = 1e150  # for a stronger ridge coefficients are 0


@dataclass(frozen=True, eq=False)
class LogisticSolution:
    """A maximum of the likelihood, or the last point of Newton's method.

    Parameters
    ----------
    contrasts : ndarray of shape (M, P + 1)
        Coefficients of each of M = K − 1 contrasts, and its intercept (0 without one).
    T : ndarray of shape (K, M)
    log_likelihood : float
        Without the penalty.
    covariance : ndarray of shape (M(P + 1), M(P + 1)) or None
        Covariance of the estimates, for each contrast the intercept (if any) and then
        the features; the sandwich if classes have weights. None for a penalty,
        separated classes or P > n.
    scaled : ndarray of shape (M(P + 1), M(P + 1))
        Matrix to the same parameters from those of features of unit spread.
    null : ndarray of shape (M(P + 1), m)
        Directions of the latter that change no logit: linear dependences.
    rank : int
        Rank of the features together with the intercept.
    n_observations : float
        Sum of the weights.
    n_iter : int
    converged : bool
    separation : {None, "complete", "quasi-complete"}
    """

    contrasts: np.ndarray
    T: np.ndarray
    log_likelihood: float
    covariance: np.ndarray | None
    scaled: np.ndarray
    null: np.ndarray
    rank: int
    n_observations: float
    n_iter: int
    converged: bool
    separation: str | None

    @property
    def coef(self):
        """Coefficients: a row for two classes (towards class 1), K rows otherwise."""
        return np.ascontiguousarray(self._decisions()[:, :-1])

    @property
    def intercept(self):
        """The intercepts of the rows of coefficients."""
        return self._decisions()[:, -1].copy()

    def _decisions(self):
        # F = X̃BTᵀ: the coefficient rows of the classes are the rows of TBᵀ
        return self.contrasts if len(self.T) == 2 else self.T @ self.contrasts


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    """Which likelihood of rows is maximised, and over which parameters.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    C, penalty, fit_intercept, class_weight
        As for :class:`skauc.IRLSLogisticRegression`.
    reference : int, default=0
        Code of the class whose coefficients are 0.
    """

    classes: np.ndarray
    C: float = np.inf
    penalty: str = "l2"
    fit_intercept: bool = True
    reference: int = 0
    class_weight: Any = None

    @property
    def is_firth(self) -> bool:
        """Whether the penalty is Firth's."""
        return self.penalty == "firth"

    def opened(self, rows):
        """The objective of rows, and its point at B = 0."""
        rows = self._weighed(rows)
        # with a finite C all classes are treated alike
        reference = None if np.isfinite(self.C) else self.reference
        T = coding_matrix(len(self.classes), reference)
        coding = Coding(T, self.fit_intercept)
        frame, coding, terms = standardised(rows, coding)
        kind = FirthObjective if self.is_firth else Objective
        objective = kind(rows, coding, frame, min(1 / float(self.C), _LARGEST_RIDGE))
        return objective, objective.point(np.zeros(T.shape[1] * frame.rank), *terms)

    def _weighed(self, rows):
        """Rows with raised weights, times the factors of the classes."""
        rows = rows.raised() if np.isinf(self.C) else rows
        if self.class_weight is None:
            return rows
        if isinstance(self.class_weight, dict):
            labels = self.classes
            factors = compute_class_weight(self.class_weight, classes=labels, y=labels)
        else:  # "balanced": n/(K n_k), so that all classes weigh n/K
            factors = rows.total / (len(self.classes) * rows.counts)
        weight = 1.0 if rows.weight is None else rows.weight
        return replace(rows, weight=factors[rows.y] * weight)

    def maximise(self, rows, **steps) -> LogisticSolution:
        """Maximise the likelihood of rows; ``steps`` as for :func:`climb`."""
        level = 0.0
        if rows.offset is not None and self.fit_intercept:
            # centre the offset: with a large one no row has information at B = 0
            level = float(np.average(rows.offset, weights=rows.weight))
            rows = replace(rows, offset=rows.offset - level)
        few = rows.n_rows < rows.n_features
        if few:  # coordinates of the rows' span; the intercept absorbs the origin
            rows, origin, V = rows.in_memory().in_span(centred=self.fit_intercept)
        result = _newton(self, rows, steps)
        if few:
            coef, intercept = result.contrasts[:, :-1] @ V.T, result.contrasts[:, -1]
            contrasts = np.column_stack([coef, intercept - coef @ origin])
            result = replace(result, contrasts=contrasts, covariance=None)
        result.contrasts[:, -1] -= level
        return result


def _newton(problem, rows, steps):
    """Maximise by Newton's method from 0."""
    objective, zero = problem.opened(rows)
    point = objective.at(zero.theta) if problem.is_firth else zero
    # a penalised maximum exists also for separated classes
    penalised = problem.is_firth or np.isfinite(problem.C)
    end = climb(objective, point, **steps)
    separation = None
    if not penalised:
        separation = separation_of(objective, end)
    return _solution(problem, objective, end, separation)


def _solution(problem, objective, end, separation):
    """Convert the end of the climb to original coordinates."""
    frame, covariance = objective.coordinates, None
    contrasts = frame.leave(end.point.theta).T
    if not problem.fit_intercept:
        contrasts = np.column_stack([contrasts, np.zeros(len(contrasts))])
    if np.isinf(problem.C) and separation is None:
        meat = None
        if problem.class_weight is not None:
            # without class weights V = H⁻¹, with them the sandwich H⁻¹(Σ s sᵀ)H⁻¹
            meat = objective.sums(squared_scores, end.point.theta)
        covariance = objective.covariance(end.point, meat)
    scaled, null = objective.scaled_and_null
    return LogisticSolution(
        contrasts=contrasts,
        T=objective.coding.T,
        log_likelihood=float(end.point.log_likelihood),
        covariance=covariance,
        scaled=scaled,
        null=null,
        rank=frame.rank,
        n_observations=objective.rows.total,
        n_iter=max(end.n_iter, 1),
        converged=bool(end.small) and separation is None,
        separation=separation,
    )
