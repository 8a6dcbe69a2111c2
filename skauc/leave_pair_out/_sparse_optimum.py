"""The optimum of an L2-penalised smooth loss from products with sparse rows alone.

Newton's step ``(XᵀΩX + Λ)Δθ = −(Xᵀg + Λθ)`` is solved by conjugate gradients in units
of the Hessian's diagonal, exactly enough for the step to be a Newton step (Dembo,
Eisenstat & Steihaug 1982): a product each with X and Xᵀ an iteration, and no matrix of
rows or features. With more features than rows the same in the space of the rows, whose
vectors are shorter and whose kernel has fewer small eigenvalues: 2 to 5 times, for
squared loss at a weak penalty up to 30 times, faster (500 to 2000 × 5000 to 50 000
texts). Of dense rows the kernel is at hand; in single precision it gives the directions
at a quarter of the time, and in double what is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..statistics._numerics import TINY
from ._losses import RoundedHinge, loss_terms, loss_value
from ._newton import FLAT, first_lower
from ._objective import PenalisedFit

CLOSE = 1e-9  # of the objective: a Newton decrement whose step is the last
KERNEL_ROWS = 500  # dense, from which products with their kernel take less time
# Of dense rows: decrement, and gradient over that of the losses, at the end. Logistic,
# 500 × 1000, C from .01 to 10⁴, five data sets: the AUC is right to 2e-4
_CLOSE_ENOUGH, _GRADIENT = 1e-6, 1e-3
_LOOSE = 0.03  # of the gradient: the same for these
# n/2 products take as long as four factorisations in double precision; where more are
# needed, beside a weak penalty and common factors, these are
_FEW_ROWS = 2
_STUCK = 1e-6  # the decrement at which a step that cannot be taken is rounding
_FORCING = 1e-2  # of the gradient, what conjugate gradients may leave
_FIRST = 1e-3  # the same of the first step in the space of the rows, from nothing
_ROUNDING = 64 * np.finfo(float).eps  # of what is wanted: less is not left
_STEPS, _PRODUCTS = 50, 1000
_ASKED = 3  # products from one look at what is left to the next
_LEVEL = 1e-6  # of the curvature: the penalty of an intercept that has none


def optimum_by_products(
    fit: PenalisedFit, X, positive, close=CLOSE, kernel=None
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
    kernel : ndarray of shape (n, n), default=None
        ``XXᵀ`` as :func:`~skauc.leave_pair_out._influence.kernel` has it, if it is
        there: of few rows a product with it takes less time.

    Returns
    -------
    PenalisedFit or None
        None where the optimum was not reached.
    """
    if X.shape[1] > X.shape[0]:
        found = _newton(_RowSpace(X, fit, kernel), fit, positive, close)
        if found is not None:
            return found
    return _newton(_Rows.of_fit(fit, X), fit, positive, close)


def optimum_by_kernel(
    fit: PenalisedFit, X, positive, kernel, single
) -> PenalisedFit | None:
    """The same of dense rows with more features, from products with their kernel.

    Parameters
    ----------
    fit, X, positive
        As for :func:`optimum_by_products`.
    kernel : ndarray of shape (n, n)
    single : SingleKernel
        The same in single precision.

    Returns
    -------
    PenalisedFit or None
        None where the optimum was not reached.
    """
    space = _RowSpace(X, fit, kernel, single)
    return _newton(space, fit, positive, _CLOSE_ENOUGH)


@dataclass(frozen=True, eq=False)
class SingleKernel:
    """A kernel in single precision, in units of its largest number."""

    K: np.ndarray
    unit: float

    @classmethod
    def of(cls, K):
        unit = float(np.abs(K.diagonal()).max()) or 1.0
        return cls((K / unit).astype(np.float32), unit)

    def __matmul__(self, v):
        size = np.abs(v).max()  # which single precision may not hold
        if not 0 < size < np.inf:
            return np.zeros_like(v)
        inside = self.K @ (v / size).astype(np.float32)
        return size * self.unit * inside.astype(float)


def _newton(space, fit, positive, close):
    """Damped Newton in a space, from the fit or, if that costs less, from nothing."""
    c, loss, last = fit.case_weight, fit.loss, [None, None]

    def terms(at):
        if last[0] is not at:  # a point is asked for its value, then for a step
            last[:] = at, loss_terms(loss, at.z, positive, c)
        return last[1]

    def objective(at):
        return terms(at)[0] + at.penalty

    def found(at):
        # who asks next needs no product for what is known
        known = at.z, *terms(at)[1:]
        return space.fit(at, fit).keep("slopes", space.X, positive, known)

    at = min(space.starts(fit, positive), key=objective)
    # the loss is the same for both classes at 0
    if objective(at) > c.sum() * loss_value(loss, np.zeros(1), True, 1.0):
        # a solver that went astray
        fit = replace(fit, w=np.zeros_like(fit.w), intercept=0.0)
        at = min(space.starts(fit, positive), key=objective)
    for _ in range(_STEPS):
        value, (_, g, curvature) = objective(at), terms(at)
        bent = curvature if curvature.any() else FLAT * c
        slope, reached = space.ray(at, g, bent)
        if not slope <= close * value:  # it does not lead down
            return None
        new = first_lower(objective, reached, value, slope)
        if new is None:
            return found(at) if -slope <= _STUCK * value else None
        if -slope <= close * value:
            return found(new) if space.is_flat(new, terms(new)[1]) else None
        at = new
        if space.left <= 0:
            break
    return None


@dataclass(frozen=True, eq=False)
class _Point:
    """Coefficients of the rows, and the share of the fit beside them."""

    alpha: np.ndarray
    inner: np.ndarray  # Kα
    z: np.ndarray
    b: float  # the intercept if it is free
    penalty: float
    share: float


class _RowSpace:
    """More features than rows: ``w = share · (the fit's) + Xᵀα``, vectors of n numbers.

    With the slopes g and curvatures ω at the scores z, ``D = √ω``, a Newton step goes
    to ``α = Dγ + α₀``, α₀ = −g/λ in rows without curvature and 0 elsewhere,
    ``(λ + DKD)γ + Db = D(z − g/ω − Kα₀)``, K = XXᵀ, and 1ᵀα = 0 where the intercept b
    is free; where it is penalised K holds scaling².
    """

    def __init__(self, X, fit, K=None, single=None):
        self.X, self.K, self.l2, self.free = X, K, fit.l2, fit.free
        self.single = single
        self.left = np.inf if single is None else len(K) // _FEW_ROWS
        self.transposed = X.T  # its checks take a third of a product
        self.forcing = _FORCING if single is None else _LOOSE
        self.scaling = 0.0 if fit.free else fit.intercept_scaling
        self.has_intercept = float(fit.intercept_scaling > 0)

    def start(self, fit):
        b = self.has_intercept * fit.intercept
        penalty = (self.l2 * (fit.w @ fit.w) + fit.intercept_penalty * b**2) / 2
        nothing, z = np.zeros(self.X.shape[0]), fit.scores(self.X) + (b - fit.intercept)
        return _Point(nothing, nothing, z, b * self.free, penalty, 1.0)

    def starts(self, fit, positive):
        """The fit, and of a rounded hinge the optimum of ``c (1 − tz)²/(2·width)``.

        Which the loss is in its corner; a weak penalty, and a strong one, leaves all
        rows there.
        """
        yield self.start(fit)
        if isinstance(fit.loss, RoundedHinge):
            bent, nothing = fit.case_weight / fit.loss.width, np.zeros(len(positive))
            at = _Point(nothing, nothing, nothing, 0.0, 0.0, 0.0)
            yield self.newton_point(at, np.where(positive, -bent, bent), bent)

    def fit(self, at, fit):
        w, b = self.transposed @ at.alpha, at.b
        if at.share:
            w += at.share * fit.w
        if self.free and self.K is not None:  # K is that of rows less their mean
            b = np.mean(at.z - self.X @ w)
        if not self.free:
            own = at.share * self.has_intercept * fit.intercept
            b = self.scaling**2 * at.alpha.sum() + own
        return replace(fit, w=w, intercept=float(b))

    def kernel(self, v):
        if self.K is not None:
            return self.K @ v
        return self.X @ (self.transposed @ v) + self.scaling**2 * v.sum()

    def direction(self, v):
        """The kernel's product inside of conjugate gradients."""
        self.left -= 1
        return self.kernel(v) if self.single is None else self.single @ v

    def is_flat(self, at, g):
        """Whether the gradient is small beside that of the losses; dense rows only.

        Where few rows have all curvature, directions that are not exact enough leave
        no step downwards far from the optimum.
        """
        if self.single is None:
            return True
        # Xᵀ(g + λα):  its square is gᵀKg + 2λgᵀKα + λ²αᵀKα
        # in double precision, as Kα is: what is left is a difference of the three
        pulled = g @ self.kernel(g)
        both = pulled + 2 * self.l2 * (g @ at.inner)
        both += self.l2**2 * (at.alpha @ at.inner)
        return at.share == 0 and both <= _GRADIENT**2 * pulled

    def ray(self, at, g, curvature):
        """The slope of the objective along a Newton step, and what a part reaches."""
        to = self.newton_point(at, g, curvature)
        # λ/2 wᵀw₊, as wᵀXᵀα₊ is (z − b)ᵀα₊
        cross = self.l2 / 2 * ((at.z - at.b) @ to.alpha)

        def reached(t):
            s = 1 - t
            return _Point(
                s * at.alpha + t * to.alpha,
                s * at.inner + t * to.inner,
                s * at.z + t * to.z,
                s * at.b + t * to.b,
                s**2 * at.penalty + 2 * t * s * cross + t**2 * to.penalty,
                s * at.share,
            )

        return g @ (to.z - at.z) + 2 * (cross - at.penalty), reached

    def newton_point(self, at, g, curvature):
        """Where a Newton step leads, by conjugate gradients from α."""
        D = np.sqrt(curvature)
        bent = D > 0
        inverse = np.divide(1.0, D, out=np.zeros_like(D), where=bent)
        size = np.linalg.norm(D)
        unit = D / size if self.free else np.zeros_like(D)
        fixed = np.where(bent, 0.0, -g / self.l2)

        def inside(v):
            return v - unit * (unit @ v)

        def product(v):
            nonlocal image
            image = self.direction(D * v)
            return inside(self.l2 * v + D * image)

        def follow(t):
            # Kα of every step, which is no product more
            nonlocal inner
            inner = inner + t * image

        image = None
        # 1ᵀα = 0 of all rows
        start = inside(at.alpha * inverse) - unit * (fixed.sum() / size)
        # Kα is known: what a start with the force of rows without curvature adds to it
        inner, beside = at.inner, D * start + fixed - at.alpha
        if np.abs(beside).max() > _ROUNDING * np.abs(at.alpha).max():
            inner = inner + self.kernel(beside)
        wanted = D * at.z - g * inverse
        rest = inside(wanted - self.l2 * start - D * inner)
        # what a step changes is the rest at a point; of nothing it is all
        share = self.forcing if at.alpha.any() else _FIRST
        enough = share**2 * (rest @ rest) + _ROUNDING**2 * (wanted @ wanted)
        gamma = start + conjugate_gradients(
            product,
            rest,
            1.0,
            lambda x, rest, left: left <= enough or self.left <= 0,
            follow if self.single is None else None,
        )
        alpha, b = D * gamma + fixed, 0.0
        if self.single is not None:  # its products have not all digits
            inner = self.kernel(alpha)
        if self.free:
            b = float(unit @ (wanted - self.l2 * gamma - D * inner) / size)
        penalty = self.l2 / 2 * (inner @ alpha)
        return _Point(alpha, inner, inner + b, b, penalty, 0.0)


@dataclass(frozen=True, eq=False)
class _Place:
    """Coefficients and intercept, the scores and what the penalty is there."""

    theta: np.ndarray
    z: np.ndarray
    penalty: float


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with a column for the intercept, and the penalty of their coefficients."""

    X: sparse.csr_array
    square: sparse.csr_array
    penalty: np.ndarray
    ones: float  # 0 where there is no intercept
    left = np.inf  # products

    @classmethod
    def of_fit(cls, fit, X):
        penalty = np.full(X.shape[1] + 1, float(fit.l2))
        penalty[-1] = fit.intercept_penalty
        ones = float(fit.intercept_scaling > 0)
        return cls(X, X.multiply(X).tocsr(), penalty, ones)

    def scores(self, theta):
        return self.X @ theta[:-1] + self.ones * theta[-1]

    def transposed(self, g):
        return np.append(self.X.T @ g, self.ones * g.sum())

    def energy(self, theta):
        return self.penalty @ theta**2 / 2

    def start(self, fit):
        theta = np.append(fit.w, fit.intercept)
        return self._at(theta, self.scores(theta))

    def is_flat(self, at, g):
        return True

    def starts(self, fit, positive):
        return [self.start(fit)]

    def fit(self, at, fit):
        return replace(fit, w=at.theta[:-1], intercept=float(at.theta[-1]))

    def _at(self, theta, z):
        return _Place(theta, z, self.energy(theta))

    def ray(self, at, g, curvature):
        """The slope of the objective along a Newton step, and what a part reaches."""
        gradient = self.transposed(g) + self.penalty * at.theta
        step = self.newton_step(curvature, gradient)
        dz = self.scores(step)
        return gradient @ step, lambda t: self._at(at.theta + t * step, at.z + t * dz)

    def newton_step(self, curvature, gradient):
        """Conjugate gradients, until the Hessian's diagonal says that it is enough."""
        diagonal = np.append(self.square.T @ curvature, self.ones * curvature.sum())
        unit = 1 / (diagonal + self.penalty + TINY)
        n, P = self.X.shape
        if P >= n and self.penalty[0] > 0:
            return self._of_rows(curvature, gradient, unit)
        return self._of_features(curvature, gradient, unit)

    def _of_features(self, curvature, gradient, unit):
        """``(XᵀΩX + Λ)⁻¹`` of minus the gradient, preconditioned by the diagonal."""

        def bent(step):
            return self.transposed(curvature * self.scores(step)) + self.penalty * step

        def is_enough(x, rest, size):
            return size <= enough

        enough = _FORCING**2 * (gradient @ (unit * gradient))
        return conjugate_gradients(bent, -gradient, unit, is_enough)

    def _of_rows(self, curvature, gradient, unit):
        """The same from n numbers, ``Λ⁻¹(Xᵀs(I + sXΛ⁻¹Xᵀs)⁻¹sXΛ⁻¹ − I)``, s = √Ω."""
        s, inverse = np.sqrt(curvature), 1 / np.maximum(self.penalty, TINY)
        if not self.penalty[-1] > 0:  # of an intercept it is not felt beside Ω
            inverse[-1] = self.ones / (_LEVEL * curvature.sum())
        enough = _FORCING**2 * (gradient @ (unit * gradient))

        def bent(y):
            drawn = s * y
            spread = self.X @ (inverse[0] * (self.X.T @ drawn))
            return y + s * (spread + self.ones * inverse[-1] * drawn.sum())

        def is_enough(y, rest, size):
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
        y = conjugate_gradients(bent, start, 1 / (1 + size), is_enough)
        return inverse * (self.transposed(s * y) - gradient)


def conjugate_gradients(bent, rest, unit, is_enough, follow=None):
    """``x`` with ``bent(x) = rest``, preconditioned by a diagonal.

    ``follow`` hears what x takes of the vector that ``bent`` was asked of last.
    """
    x = np.zeros_like(rest)
    scaled = unit * rest
    along, size = scaled, rest @ scaled
    for _ in range(_PRODUCTS):
        if not size > 0 or is_enough(x, rest, size):
            break
        ahead = bent(along)
        t = size / (along @ ahead)
        x, rest = x + t * along, rest - t * ahead
        if follow is not None:
            follow(t)
        scaled = unit * rest
        size, last = rest @ scaled, size
        along = scaled + (size / last) * along
    return x
