"""The optimum of an L2-penalised smooth loss from products with sparse rows alone.

Newton's step ``(XᵀΩX + Λ)Δθ = −(Xᵀg + Λθ)`` is solved by conjugate gradients in units
of the Hessian's diagonal, exactly enough for the step to be a Newton step (Dembo,
Eisenstat & Steihaug 1982): a product each with X and Xᵀ an iteration, and no matrix of
rows or features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ._losses import loss_terms, loss_value
from ._newton import ARMIJO, FLAT, HALVINGS
from ._objective import PenalisedFit

CLOSE = 1e-9  # of the objective: a Newton decrement whose step is the last
_STUCK = 1e-6  # the decrement at which a step that cannot be taken is rounding
_FORCING = 1e-2  # of the gradient, what conjugate gradients may leave
_STEPS, _PRODUCTS = 50, 1000
_ASKED = 3  # products from one look at what is left to the next
_LEVEL = 1e-6  # of the curvature: the penalty of an intercept that has none
_TINY = np.finfo(float).tiny


def optimum_by_products(
    fit: PenalisedFit, X, positive, close=CLOSE
) -> PenalisedFit | None:
    """The fit at the optimum of its objective.

    Parameters
    ----------
    fit : PenalisedFit
        With a loss that has slopes: not the hinge.
    X : sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    close : float, default=1e-9
        Share of the objective: a Newton decrement whose step is the last.

    Returns
    -------
    PenalisedFit or None
        None where the optimum was not reached.
    """
    rows, c, loss = _Rows.of_fit(fit, X), fit.case_weight, fit.loss
    theta = np.append(fit.w, fit.intercept)
    start = loss_value(loss, rows.scores(theta), positive, c)
    if start + rows.energy(theta) > loss_value(loss, np.zeros(len(c)), positive, c):
        theta = np.zeros_like(theta)  # a solver that went astray
    z = rows.scores(theta)
    for _ in range(_STEPS):
        value, g, curvature = loss_terms(loss, z, positive, c)
        value += rows.energy(theta)
        bent = curvature if curvature.any() else FLAT * c
        gradient = rows.transposed(g) + rows.penalty * theta
        step = rows.newton_step(bent, gradient)
        dz, gain = rows.scores(step), -gradient @ step
        t = 1.0
        for _ in range(HALVINGS):
            there = loss_value(loss, z + t * dz, positive, c)
            if there + rows.energy(theta + t * step) <= value - ARMIJO * t * gain:
                break
            t /= 2
        else:
            if not gain <= _STUCK * value:
                return None
            t = 0.0
        theta, z = theta + t * step, z + t * dz
        if gain <= close * value or t == 0:
            return replace(fit, w=theta[:-1], intercept=float(theta[-1]))
    return None


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with a column for the intercept, and the penalty of their coefficients."""

    X: sparse.csr_array
    square: sparse.csr_array
    penalty: np.ndarray
    ones: float  # 0 where there is no intercept

    @classmethod
    def of_fit(cls, fit, X):
        s = fit.intercept_scaling
        last = fit.l2 / s**2 if 0 < s < np.inf else 0.0
        penalty = np.append(np.full(X.shape[1], float(fit.l2)), last)
        return cls(X, X.multiply(X).tocsr(), penalty, float(s > 0))

    def scores(self, theta):
        return self.X @ theta[:-1] + self.ones * theta[-1]

    def transposed(self, g):
        return np.append(self.X.T @ g, self.ones * g.sum())

    def energy(self, theta):
        return self.penalty @ theta**2 / 2

    def newton_step(self, curvature, gradient):
        """Conjugate gradients, until the Hessian's diagonal says that it is enough."""
        diagonal = np.append(self.square.T @ curvature, self.ones * curvature.sum())
        unit = 1 / (diagonal + self.penalty + _TINY)
        n, P = self.X.shape
        if P >= n and self.penalty[0] > 0:
            return self._of_rows(curvature, gradient, unit)
        return self._of_features(curvature, gradient, unit)

    def _of_features(self, curvature, gradient, unit):
        """``(XᵀΩX + Λ)⁻¹`` of minus the gradient, preconditioned by the diagonal."""

        def bent(step):
            return self.transposed(curvature * self.scores(step)) + self.penalty * step

        def is_enough(rest, size):
            return size <= enough

        enough = _FORCING**2 * (gradient @ (unit * gradient))
        return _conjugate_gradients(bent, -gradient, unit, is_enough)

    def _of_rows(self, curvature, gradient, unit):
        """The same from n numbers, ``Λ⁻¹(Xᵀs(I + sXΛ⁻¹Xᵀs)⁻¹sXΛ⁻¹ − I)``, s = √Ω."""
        s, inverse = np.sqrt(curvature), 1 / np.maximum(self.penalty, _TINY)
        if not self.penalty[-1] > 0:  # of an intercept it is not felt beside Ω
            inverse[-1] = self.ones / (_LEVEL * curvature.sum())
        enough = _FORCING**2 * (gradient @ (unit * gradient))

        def bent(y):
            drawn = s * y
            spread = self.X @ (inverse[0] * (self.X.T @ drawn))
            return y + s * (spread + self.ones * inverse[-1] * drawn.sum())

        def is_enough(rest, size):
            # what is left of the gradient, Xᵀs of the rest: not asked every time
            asked.append(size)
            if len(asked) % _ASKED:
                return False
            left = self.transposed(s * rest)
            return left @ (unit * left) <= enough

        asked = []
        square = np.asarray(self.square.sum(axis=1)).ravel()
        size = curvature * inverse[0] * square
        start = s * self.scores(inverse * gradient)
        y = _conjugate_gradients(bent, start, 1 / (1 + size), is_enough)
        return inverse * (self.transposed(s * y) - gradient)


def _conjugate_gradients(bent, rest, unit, is_enough):
    """``x`` with ``bent(x) = rest``, preconditioned by a diagonal."""
    x = np.zeros_like(rest)
    scaled = unit * rest
    along, size = scaled, rest @ scaled
    for _ in range(_PRODUCTS):
        if not size > 0 or is_enough(rest, size):
            break
        ahead = bent(along)
        t = size / (along @ ahead)
        x, rest = x + t * along, rest - t * ahead
        scaled = unit * rest
        size, last = rest @ scaled, size
        along = scaled + (size / last) * along
    return x
