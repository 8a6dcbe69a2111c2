"""A logistic likelihood, penalised or not, and its maximum: section 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ._firth import FirthObjective
from ._likelihood import Coding, coding_matrix, squared_scores
from ._newton import Objective, climb, standardised
from ._rows import row_space
from ._separation import exact_separation, separation_along

# Separation is checked if the mean gradient is tiny and the decrement still falls
# linearly: near a maximum it falls quadratically, towards infinity by e per step
_TINY_GRADIENT = 1e-8
_LINEAR = 0.01
_LARGEST_RIDGE = 1e150  # for a stronger ridge coefficients are 0


@dataclass(frozen=True, eq=False)
class LogisticSolution:
    """A maximum of the likelihood, or the last point of Newton's method.

    Parameters
    ----------
    coef : ndarray of shape (1, P) or (K, P)
        One row for two classes (towards class 1), K rows otherwise.
    intercept : ndarray of shape (1,) or (K,)
    log_likelihood : float
        Without the penalty.
    covariance : ndarray of shape (M(P + 1), M(P + 1)) or None
        Covariance of the estimates, for each of M = K − 1 contrasts the intercept (if
        any) and then the features; the sandwich if classes have weights. None for a
        penalty, separated classes or P > n.
    null : ndarray of shape (M(P + 1), m)
        Directions of the same parameters that change no logit: linear dependences.
    rank : int
        Rank of the features together with the intercept.
    n_observations : float
        Sum of the weights.
    n_iter : int
    converged : bool
    separation : {None, "complete", "quasi-complete"}
    """

    coef: np.ndarray
    intercept: np.ndarray
    log_likelihood: float
    covariance: np.ndarray | None
    null: np.ndarray
    rank: int
    n_observations: float
    n_iter: int
    converged: bool
    separation: str | None


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

    def opened(self, rows, coef=None):
        """The objective of rows, and its point at B = 0 or at given coefficients.

        Coefficients are rows of the decisions, each with its intercept last.
        """
        rows = rows.raised() if np.isinf(self.C) else rows
        # with a finite C all classes are treated alike
        symmetric, K = bool(np.isfinite(self.C)), len(self.classes)
        T = coding_matrix(K, self.reference, symmetric=symmetric)
        coding = Coding(T, bool(self.fit_intercept), rows.factors)
        frame, coding, terms = standardised(rows, coding)
        kind = FirthObjective if self.is_firth else Objective
        objective = kind(rows, coding, frame, min(1 / float(self.C), _LARGEST_RIDGE))
        if coef is not None:
            return objective, objective.at(_entered(objective, coef))
        return objective, objective.point(np.zeros(T.shape[1] * frame.rank), *terms)

    def maximise(self, rows, **steps) -> LogisticSolution:
        """Maximise the likelihood of rows; ``steps`` as for :func:`climb`."""
        level = 0.0
        if rows.offset is not None and self.fit_intercept:
            # centre the offset: with a large one no row has information at B = 0
            level = float(np.average(rows.offset, weights=rows.weight))
            rows = replace(rows, offset=rows.offset - level)
        few = rows.n_rows < rows.n_features
        result = (_in_row_space if few else _newton)(self, rows, steps)
        return replace(result, intercept=result.intercept - level)


def _in_row_space(problem, rows, steps):
    """Maximise in the coordinates of the rows' span, for P > n."""
    rows = rows.in_memory()
    X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    X = X.astype(float, copy=False)
    # the intercept absorbs the centre
    centre = X.mean(axis=0) if problem.fit_intercept else np.zeros(X.shape[1])
    Z, V = row_space(X - centre)
    result = _newton(problem, replace(rows, X=Z), steps)
    coef = result.coef @ V.T
    intercept = result.intercept - coef @ centre
    return replace(result, coef=coef, intercept=intercept, covariance=None)


def _newton(problem, rows, steps):
    """Maximise by Newton's method from 0."""
    objective, zero = problem.opened(rows)
    point = objective.at(zero.theta) if problem.is_firth else zero
    # a penalised maximum exists also for separated classes
    penalised = problem.is_firth or np.isfinite(problem.C)
    stop = None if penalised else partial(_separation, objective)
    end = climb(objective, point, stop=stop, **steps)
    separation = end.stopped
    if not (separation or penalised):
        if not end.small:
            separation = separation_along(objective, end.point, end.step)
        decrement2 = end.step.decrement2
        separation = separation or exact_separation(
            objective, zero, end.point, decrement2
        )
    exists = np.isinf(problem.C) and separation is None
    return _solution(objective, end, separation, exists)


def _solution(objective, end, separation, exists):
    """Convert the end of the climb to original coordinates."""
    frame, coding = objective.coordinates, objective.coding
    B = frame.leave(end.point.theta)
    # F = X̃BTᵀ: the coefficient rows of the classes are the rows of TBᵀ
    coef = B.T if len(coding.T) == 2 else coding.T @ B.T
    P, meat = frame.n_features, None
    if exists and coding.factors is not None:
        # without class weights V = H⁻¹, with them the sandwich H⁻¹(Σ s sᵀ)H⁻¹
        meat = objective.sums(squared_scores, end.point.theta)
    return LogisticSolution(
        coef=np.ascontiguousarray(coef[:, :P]),
        intercept=coef[:, P].copy() if coding.fit_intercept else np.zeros(len(coef)),
        log_likelihood=float(end.point.log_likelihood),
        covariance=objective.covariance(end.point, meat) if exists else None,
        null=objective.null,
        rank=frame.rank,
        n_observations=objective.rows.total,
        n_iter=max(end.n_iter, 1),
        converged=bool(end.small) and separation is None,
        separation=separation,
    )


def _entered(objective, coef):
    """θ of coefficient rows, features before the intercept."""
    T = objective.coding.T
    if len(T) > 2:  # K rows are T B plus a common shift, which is dropped
        coef = np.linalg.solve(np.column_stack([T, np.ones(len(T))]), coef)[:-1]
    return objective.coordinates.enter(coef.T)


def _separation(objective, point, step, previous):
    """The separation of the classes, checked if the steps suggest it."""
    # quadratic convergence squares the decrement: a factor of .01 is slow
    if step.gradient > _TINY_GRADIENT or step.decrement2 <= _LINEAR * previous:
        return None
    return separation_along(objective, point, step)
