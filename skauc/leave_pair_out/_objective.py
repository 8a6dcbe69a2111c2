"""The objective of a linear model, its gradient on given rows, and its optimum.

Of rows a_i in coordinates it is ``Σ_i c_i loss(a_iᵀθ) + ½ θᵀ diag(penalty) θ``. With
the curvatures ω of the scores its Hessian is ``AᵀΩA + diag(penalty)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from ..statistics._block_matrix import BlockMatrix
from ..statistics._rows import Rows
from ._coordinates import Coordinates

NO_PENALTY = 1e-9  # least penalty in sums of squares: H⁻¹ keeps half of its digits
# The same for a curved loss of separated classes: under a weaker penalty curvatures
# vanish, so that one Newton step without a pair overshoots
SEPARATED = 1e-4
_WALK_ROWS = 1000  # so many rows determine the size of a random walk to 5 %
SOLVED = 1e-3  # slope that a solver may leave where the model separates its rows
# Share of the deviation of the score of a row left out by which its own slope may move
# it, through what the solver left
AT_OPTIMUM = 1e-2
# Departure from the optimum beyond which a solver stopped at another model: an AUC of
# .8 may then differ by .01
STOPPED = 0.01
LEAST_WEIGHT = 1e-6  # least weight of a class covariance; no AUC changes by it
_SAME_AUC = 0.02  # largest difference of the training AUCs of a fit and a raised fit
# most n min(n, P) for refits without single rows; beyond it one step errs little
REFITTED = 10_000
NUMBERS = 2e7  # entries of the largest dense copy of the rows: 160 MB
MAX_ITER = 100
CLOSE = 1e-7  # stop if the Newton decrement is below this share of the objective
STUCK = 1e-4  # a decrement below this share that no step can lower is rounding
# Nocedal & Wright (2006), Numerical Optimization, section 3.1
ARMIJO, HALVINGS = 1e-4, 30
# Least ridge of H relative to the sum of squares of a column, without and with a
# penalty. The steps depend on it, the optimum does not.
FLOOR, LEAST = 1e-9, 1e-12


@dataclass(frozen=True)
class Loss:
    """A convex loss of a score z and a label ``sign`` = ±1.

    Its value and its first two derivatives in z are functions of both arrays.
    """

    value: Callable
    slope: Callable
    curvature: Callable
    quadratic: bool = False


def _logistic_value(z, sign):
    # log(1 + e^m) = max(m, 0) + log(1 + e^(−|m|)): no exponential overflows
    return np.log1p(np.exp(-np.abs(z))) + np.maximum(-sign * z, 0.0)


def _logistic_slope(z, sign):
    small = np.exp(-np.abs(z))
    # 1/(1 + e^(−m)) of m = −sign z
    return -sign * np.where(sign * z < 0, 1.0, small) / (1 + small)


def _logistic_curvature(z, sign):
    small = np.exp(-np.abs(z))
    return small / (1 + small) ** 2


def _squared_value(z, sign):
    return (z - sign) ** 2 / 2


def _squared_slope(z, sign):
    return z - sign


def _squared_curvature(z, sign):
    return np.ones_like(z)


def _hinge_value(z, sign):
    return np.maximum(0.0, 1 - sign * z) ** 2


def _hinge_slope(z, sign):
    return -2 * sign * np.maximum(0.0, 1 - sign * z)


def _hinge_curvature(z, sign):
    return 2.0 * (sign * z < 1)


# log(1 + e^(−sign z)), (z − sign)²/2 and max(0, 1 − sign z)²
LOGISTIC = Loss(_logistic_value, _logistic_slope, _logistic_curvature)
SQUARED = Loss(_squared_value, _squared_slope, _squared_curvature, quadratic=True)
SQUARED_HINGE = Loss(_hinge_value, _hinge_slope, _hinge_curvature)


@dataclass(frozen=True, eq=False)
class Objective:
    """``Σ_i c_i loss(z_i) + ½ Σ_j l2_j w_j² + l1 Σ_j |w_j|`` with ``z = Xw + b``.

    Parameters
    ----------
    loss : Loss
    l2 : float or ndarray of shape (P,)
        Penalty ≥ 0; 0 means the limit of a small one.
    column : float, default=1.0
        Value s of the constant column, ``b = s b'``; 0 without an intercept.
    free : bool, default=True
        Whether b' has no penalty; it has the features' in liblinear, or if s is 0.
    class_weight : tuple of two floats, default=(1.0, 1.0)
        Factors of the weights of the negative and of the positive rows in c.
    l1 : float, default=0.0
        Rows can be left out in closed form without this penalty only.
    """

    loss: Loss
    l2: float | np.ndarray
    column: float = 1.0
    free: bool = True
    class_weight: tuple = (1.0, 1.0)
    l1: float = 0.0

    def case_weight(self, rows) -> np.ndarray:
        """c: weight of the row times that of its class, (n,)."""
        neg, pos = self.class_weight
        return rows.weight * np.where(rows.positive, pos, neg)

    def with_penalty(self, rows, least=NO_PENALTY) -> Objective:
        """The objective, with the penalty raised to a share of the columns' squares.

        They are ``Σ_i c_i (x_ij − x̄_j)²`` of each column, or the mean over the columns
        that vary.
        """
        squares = rows.spread[1]
        neg, pos = self.class_weight
        column = squares[squares > 0].mean() if squares.any() else 1.0
        # the limit of a weak penalty depends on its shape for separated classes and for
        # P ≥ n, and liblinear's intercept has the same penalty: there the shape is kept
        one_limit = least == NO_PENALTY and rows.shape[1] < rows.shape[0]
        if one_limit and (self.free or not self.column):
            column = np.where(squares > 0, squares, column)
        column = column * (neg * rows.n_neg + pos * rows.n_pos) / rows.n
        if np.all(self.l2 >= least * column):
            return self
        return replace(self, l2=np.maximum(self.l2, least * column))

    @property
    def unit(self) -> float | np.ndarray:
        """Factors of the features under which the penalty is 1 for all of them."""
        return 1.0 if np.ndim(self.l2) == 0 else 1 / np.sqrt(self.l2)

    @property
    def strength(self) -> float:
        """Penalty of the features times :attr:`unit`."""
        return float(self.l2) if np.ndim(self.l2) == 0 else 1.0

    def design(self, A):
        """Rows with the column of the intercept, and the penalty of every column."""
        penalty = np.full(A.shape[1] + 1, self.strength)
        penalty[-1] = 0.0 if self.free else self.strength
        return np.column_stack([A, np.full(len(A), self.column)]), penalty


@dataclass(frozen=True, eq=False)
class Fit:
    """A linear model ``z = Xw + b`` with its objective.

    Parameters
    ----------
    objective : Objective
    coef : ndarray of shape (P,)
    intercept : float
    """

    objective: Objective
    coef: np.ndarray
    intercept: float = 0.0
    _last: list = field(default_factory=list, init=False, repr=False)

    def score(self, X) -> np.ndarray:
        """``Xw + b``, (n,); stored for the last X, which is scored several times."""
        if not self._last or self._last[0] is not X:
            self._last[:] = X, np.asarray(X @ self.coef).ravel() + self.intercept
        return self._last[1]


def stationarity(fit, rows, solved=SOLVED, enough=0.0) -> float:
    """Size of the gradient of the objective in units of its random-walk size.

    About 0 if the rows trained the model, about 1 or more for other rows.

    Parameters
    ----------
    fit : Fit
    rows : Rows
    solved : float, default=1e-3
        Slopes below it count as it does, because solvers stop there. With 0 the
        gradient of a model that separates its rows is measured by its own small slopes:
        it may be near 1 although the rows trained the model.
    enough : float, default=0.0
        An upper bound is returned in its place if it is not greater, in half the time.

    Returns
    -------
    float
        Root mean square over the features of ``∂_j/√Σ_i g_i²(x_ij − x̄_j)²``, g the
        weighted slopes of the losses. NaN where no feature varies.
    """
    objective = fit.objective
    # the random walk is estimated from every k-th row; features of sparse rows may be
    # rare, so that all of these are used
    n = len(rows.positive)
    every = 1 if sparse.issparse(rows.X) else n // _WALK_ROWS + 1
    sample = rows[::every]
    # ∂_j = Σ_i g_i (x_ij − x̄_j) + l2_j w_j; with an intercept Σ g = 0 at the optimum
    if isinstance(rows.X, BlockMatrix):  # no number of every row is kept
        pull, excess, sums = rows.X.total(
            _pull_of_block, fit, y=rows.positive, weight=rows.weight
        )
        pull -= (excess / rows.n if objective.free else 0.0) * sums
        g = _slopes(fit, sample, fit.score(sample.X))
    else:
        g = _slopes(fit, rows, fit.score(rows.X))
        less = rows.weight * (g.sum() / rows.n) if objective.free else 0.0
        pull, g = (g - less) @ rows.X, g[::every]
    pull += objective.l2 * fit.coef
    # the subgradient nearest to 0: ∂|w| is the sign of w, and all of [−1, 1] at 0
    free = np.clip(-pull, -objective.l1, objective.l1)
    pull += np.where(fit.coef == 0, free, objective.l1 * np.sign(fit.coef))
    c, X = objective.case_weight(sample), sample.X
    neg, pos = objective.class_weight
    total = neg * rows.n_neg + pos * rows.n_pos
    force = every * (g**2 + solved**2 * total * c)
    # a coefficient that L1 set to 0 may be at rest on other rows, too
    judged = (pull != 0) | (fit.coef != 0)
    if enough:  # Σ g²(x − x̄)² ≥ min(g²/weight) Σ weight (x − x̄)², which is cached
        least = rows.spread[1] * (force / sample.weight).min() / every
        bounded = judged & (least > 0)
        ratio = pull[bounded] ** 2 / least[bounded]
        if len(ratio) and ratio.mean() <= enough**2:
            return float(np.sqrt(ratio.mean()))
    square = force @ (X.multiply(X) if sparse.issparse(X) else X**2)
    walk = square
    if objective.column:
        # Σ g²(x − x̄)² = Σ g²x² − x̄² Σ g²
        walk = square - (force @ X) ** 2 / force.sum()
    varies = judged & (walk > 1e-12 * square)
    if not varies.any():
        return float("nan")
    return float(np.sqrt(np.mean(pull[varies] ** 2 / walk[varies])))


def _slopes(fit, rows, score):
    """Slopes of the losses times the case weights, (n,)."""
    objective = fit.objective
    return objective.case_weight(rows) * objective.loss.slope(score, rows.sign)


def _pull_of_block(block, fit):
    """``Σ g x``, ``Σ g`` and ``Σ w x`` of the rows of a block."""
    rows = Rows(block.X, block.y, block.weight)
    # not fit.score, which stores its result: threads share the fit
    g = _slopes(fit, rows, np.asarray(block.X @ fit.coef).ravel() + fit.intercept)
    return g @ rows.X, g.sum(), rows.weight @ rows.X


def at_optimum(fit, rows, gradient=None) -> Fit:
    """The fit at the optimum of its objective, by Newton steps from the given fit.

    Parameters
    ----------
    fit : Fit
    rows : Rows
    gradient : float, default=None
        :func:`stationarity` of the fit by its own slopes, if it is known.

    Returns
    -------
    Fit
        The same fit if its gradient is about 0 by its own slopes, or if the dense rows
        would need more than 160 MB. A weak penalty is raised, and the fit is then that
        of the raised penalty.

    Raises
    ------
    LinAlgError
        If the steps do not converge, or if a raised penalty changes the training AUC by
        more than .02.
    """
    # one Newton step without a pair would overshoot where curvatures vanish
    overshoots = not can_refit(rows) and _separates(fit, rows)
    least = SEPARATED if overshoots else NO_PENALTY
    objective = fit.objective.with_penalty(rows, least)
    raised = objective is not fit.objective
    fit = replace(fit, objective=objective) if raised else fit
    n, P = rows.shape
    if n * min(n, P) > NUMBERS:
        return fit
    if raised:  # residuals near 0 of the weaker penalty would leave no step
        found = optimum(fit, rows)
        if np.ptp([rows.auc(one.score(rows.X)) for one in (fit, found)]) > _SAME_AUC:
            raise LinAlgError("the raised penalty changes the model")
        return found
    gradient = stationarity(fit, rows, solved=0.0) if gradient is None else gradient
    # what is left along a row, Σ_j x_ij², grows with P; the deviation of the score with
    # √(nP)
    at_rest = gradient * np.sqrt(max(P / n, 1.0)) < AT_OPTIMUM
    return fit if at_rest else optimum(fit, rows)


def departure(fit, other, rows) -> float:
    """How differently two models score new rows: 1 − the correlation of their scores.

    With P ≥ n features the rows that trained them do not show it: the correlation is
    then that of uncorrelated features. 0 if the penalty was raised and the classes are
    separated, because no solver reaches an optimum then.
    """
    if fit.objective is not other.objective and _separates(fit, rows):
        return 0.0
    if rows.shape[1] < rows.shape[0]:
        a, b = (one.score(rows.X) for one in (fit, other))
        a, b = a - a.mean(), b - b.mean()
    else:
        a, b = (one.coef * np.sqrt(rows.spread[1]) for one in (fit, other))
    return float(1 - a @ b / max(np.sqrt((a @ a) * (b @ b)), 1e-300))


def can_refit(rows) -> bool:
    """Whether fits without single rows take less than about half a second."""
    return rows.group is None and rows.shape[0] * min(rows.shape) <= REFITTED


def _separates(fit, rows):
    """Whether a fit with a curved loss ranks all positive rows above the others."""
    if fit.objective.loss.quadratic:
        return False
    z = fit.score(rows.X)
    return bool(z[rows.positive].min() > z[~rows.positive].max())


def optimum(fit, rows) -> Fit:
    """The optimum of a fit's objective on some rows."""
    objective = fit.objective
    *_, (theta,), coordinates = optima(fit, rows, objective.case_weight(rows)[None])
    w = coordinates.back(rows, theta[:-1])
    b = objective.column * theta[-1] - rows.spread[0] @ w * objective.free
    return Fit(objective, w, float(b))


def optima(fit, rows, weight) -> tuple:
    """Rows A (n, d), and coefficients (m, d) of refits under m weightings of the rows.

    ``weight`` of shape (m, n) holds the weights of the losses. The last column of A is
    that of the intercept, the others are the coordinates. LinAlgError if a refit does
    not converge.
    """
    objective, w = fit.objective, fit.coef
    coordinates = Coordinates.of(rows, objective.free, objective.unit)
    A, penalty = objective.design(coordinates.A)
    b = fit.intercept + rows.spread[0] @ w * objective.free
    start = np.append(coordinates.forth(rows, w), b / (objective.column or np.inf))
    theta, converged = minimise(A, rows.sign, weight, objective.loss, penalty, start)
    if not converged.all():
        raise LinAlgError("Newton's method did not converge")
    return A, theta, coordinates


def minimise(A, sign, weight, loss, penalty, start):
    """Minimise a penalised loss under each of m weightings of the rows.

    Parameters
    ----------
    A : ndarray of shape (n, d)
    sign : ndarray of shape (n,)
        1 for positive rows, −1 for the others.
    weight : ndarray of shape (m, n)
        Weight c of every row, ≥ 0.
    loss : Loss
    penalty : ndarray of shape (d,)
        Weight of ½θ_j² in the objective, ≥ 0.
    start : ndarray of shape (d,)

    Returns
    -------
    theta : ndarray of shape (m, d)
    converged : ndarray of bool of shape (m,)
    """
    m = len(weight)
    theta, converged = np.tile(start, (m, 1)), np.zeros(m, dtype=bool)
    # 0 is the better start if the solver diverged
    here, at_zero = (
        _value(t, t @ A.T, weight, loss, sign, penalty) for t in (theta, 0 * theta)
    )
    theta[~(here <= at_zero)] = 0.0
    moving = np.arange(m)
    for _ in range(MAX_ITER):
        theta[moving], solved, stuck = _newton_step(
            A, sign, weight[moving], loss, penalty, theta[moving]
        )
        converged[moving[solved]] = True
        moving = moving[~(solved | stuck)]
        if not len(moving):
            break
    return theta, converged


def _value(theta, z, weight, loss, sign, penalty):
    """Values of m objectives, (m,)."""
    return np.sum(weight * loss.value(z, sign), axis=1) + theta**2 @ penalty / 2


def _newton_step(A, sign, weight, loss, penalty, theta):
    """A damped step of m objectives; whether it solved each, or could lower none."""
    square = weight.sum(axis=1, keepdims=True) * np.mean(A**2, axis=0)
    square = np.where(square > 0, square, 1.0)
    ridge = np.maximum(penalty, np.where(penalty > 0, LEAST, FLOOR) * square)
    z = theta @ A.T
    here = _value(theta, z, weight, loss, sign, penalty)
    gradient = (weight * loss.slope(z, sign)) @ A + penalty * theta
    half = A * np.sqrt(weight * loss.curvature(z, sign))[..., None]
    hessian = half.swapaxes(1, 2) @ half
    diagonal = np.arange(A.shape[1])
    hessian[:, diagonal, diagonal] += ridge
    step = -np.linalg.solve(hessian, gradient[..., None])[..., 0]
    along = step @ A.T
    gain = -np.sum(gradient * step, axis=1)  # squared Newton decrement
    t = np.ones((len(theta), 1))
    for _ in range(HALVINGS):
        there = _value(theta + t * step, z + t * along, weight, loss, sign, penalty)
        short = ~(there <= here - ARMIJO * t[:, 0] * gain)
        if not short.any():
            break
        t[short] /= 2
    solved = np.abs(gain) <= np.where(short, STUCK, CLOSE) * here
    t[short] = 0.0
    return theta + t * step, solved, short


def discriminant_ridge(
    rows, shrinkage, *, priors=None, unbiased=False, diagonal=False
) -> Fit:
    """A discriminant with a shrunken covariance as a ridge regression on labels ±1.

    With case weights a_c the normal equations of a ridge are
    ``(Σ_c a_c W_c + Λ) w ∝ x̄₁ − x̄₀``, W_c the scatter matrix of class c.

    Parameters
    ----------
    rows : Rows
    shrinkage : float or tuple of two floats
        Weight of the target in the covariance, for all rows or for each class.
    priors : tuple of two floats, default=None
        Weights of the class covariances; shares of the classes if None.
    unbiased : bool, default=False
        Sum of the unbiased covariances (the Gaussian AUC), not the mean of the class
        covariances weighted by the priors (linear discriminant analysis).
    diagonal : bool, default=False
        The target is the diagonal of the covariance, not its mean times I.

    Returns
    -------
    Fit
        Fit at its optimum, whose direction is that of the discriminant.
    """
    size = np.array([rows.n_neg, rows.n_pos])
    s = np.broadcast_to(np.asarray(shrinkage, dtype=float), 2)
    share = size / size.sum() if priors is None else np.asarray(priors)
    # Σ = Σ_c a_c W_c; both weights times n, so that the ridge has weights near 1
    a = size.sum() * (1 / (size - 1) if unbiased else share / size)
    penalty = np.zeros(rows.shape[1])
    for mask, weight, intensity in zip(
        (~rows.positive, rows.positive), a, s, strict=True
    ):
        target = weight * rows[mask].spread[1]
        penalty += intensity * (target if diagonal else target.mean())
    l2 = penalty if diagonal else float(penalty[0])
    kept = np.maximum(1 - s, LEAST_WEIGHT)
    objective = Objective(SQUARED, l2, class_weight=tuple(kept * a))
    start = Fit(objective.with_penalty(rows), np.zeros(rows.shape[1]))
    return optimum(start, rows)
