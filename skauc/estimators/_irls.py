"""Newton's method (IRLS) for logistic models, binary and multinomial.

Row i has weight w_i, features x̃_i = (x_i, 1) and class c_i of K. The logits are
``F = X̃ B Tᵀ`` with free parameters B, one column for each of M = K − 1 contrasts, and
a fixed coding T of shape (K, M):

* *reference*: the identity with a row of zeros for the reference class;
* *symmetric*: orthonormal columns that add up to 0, so that ``‖BTᵀ‖ = ‖B‖`` and a
  ridge on B is the ridge on all K coefficient rows.

With p_ik the class probabilities and t_k the rows of T, the log-likelihood, its
gradient and its information (negative Hessian) are

    ℓ = Σ w_i log p_{i c_i},   G = X̃ᵀ diag(w) (Y − p) T,
    H = Σ_{k<m} (t_k − t_m)(t_k − t_m)ᵀ ⊗ S_km,   S_km = X̃ᵀ diag(w p_k p_m) X̃,

because diag(p) − ppᵀ is the Laplacian of the complete graph with edges p_k p_m. Every
S_km is one symmetric product of rows scaled by √(w p_k p_m); nothing larger than a
block of rows is copied, and the binary model is M = 1, T = (0, 1)ᵀ.

For P > n the rows are replaced by their r ≤ n coordinates in their own span
(:mod:`skauc.statistics._row_space`): a ridge and the least norm are the same there, and nothing
is P×P. Weights, and features of extreme size, are measured in powers of two that keep
every square a normal number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import linalg, sparse

from ..statistics._row_space import RowSpace

_BLOCK_BYTES = 2**21  # rows are scaled and multiplied in blocks that stay in cache
_EPS = np.finfo(float).eps
_LARGE_MEAN = 100.0  # squared mean over variance beyond which features are shifted
_ROUNDING = 1e-12  # relative error of a log-likelihood
_TINY_GRADIENT = 1e-8  # mean gradient at which separation is looked for
ORDINARY = 1e-70, 1e70  # sizes whose fourth powers are normal numbers
_LARGEST_RIDGE = 1e300  # coefficients below its inverse are 0


@dataclass(frozen=True, eq=False)
class IRLSResult:
    """What Newton's method found.

    Parameters
    ----------
    coef : ndarray of shape (1, P) or (K, P)
        One row for two classes (towards class 1), K rows otherwise.
    intercept : ndarray of shape (1,) or (K,)
    log_likelihood : float
        Without the penalty.
    covariance : ndarray of shape (M(P + 1), M(P + 1)) or None
        Inverse information; for each non-reference class the intercept (if any) and
        then the features. None when penalised or separated, or for P > n.
    standard_errors : ndarray of shape (M, P + 1) or None
        Roots of its diagonal, for P > n as well.
    rank : int
        Rank of the features together with the intercept.
    n_iter, n_halvings : int
    converged : bool
    separation : {None, "complete", "quasi-complete"}
        Whether, and how, the likelihood has no maximum.
    """

    coef: np.ndarray
    intercept: np.ndarray
    log_likelihood: float
    covariance: np.ndarray | None
    standard_errors: np.ndarray | None
    rank: int
    n_iter: int
    n_halvings: int
    converged: bool
    separation: str | None


def irls(
    X,
    codes,
    n_classes,
    *,
    sample_weight=None,
    C=np.inf,
    fit_intercept=True,
    tol=1e-8,
    max_iter=50,
    max_halvings=30,
    reference=0,
    init=None,
) -> IRLSResult:
    """Maximise ``ℓ(B) − ‖coef‖²/(2C)`` by Newton's method with step halving.

    One pass over X an iteration, O(n P² K²/2), and systems of M(P + 1) equations. For
    P > n, O(n² P) once, and then as if P were n.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, P)
        Finite.
    codes : ndarray of int of shape (n,)
        Classes 0, …, K − 1; each must have some weight.
    n_classes : int
        K ≥ 2.
    sample_weight : ndarray of shape (n,), default=None
        Frequency weights. Their multiples have the same optimum if C is divided by
        the same number.
    C : float, default=inf
        Inverse strength of the ridge penalty; the intercept is not penalised.
    fit_intercept : bool, default=True
    tol : float, default=1e-8
        Bound on the mean gradient (standardised features) **and** on the Newton
        decrement ``√(gᵀH⁻¹g)``, the distance from the optimum in standard errors.
    max_iter, max_halvings : int
    reference : int, default=0
        Class whose logit is 0 when K > 2 and C is infinite.
    init : ndarray of shape (P + 1,) or (K, P + 1), default=None
        Start, features before the intercept (0 without one); None starts at 0.

    Returns
    -------
    IRLSResult

    Raises
    ------
    ValueError
        If all weights of a class, relative to the largest one, or a coefficient are
        beyond floating point.

    Notes
    -----
    Linearly dependent features leave the likelihood flat in some directions: steps
    stay in the row space and of all maximisers the one with least ``‖coef‖`` is
    returned. At a maximum Newton's steps vanish; on separated data each step still
    moves some logits by about 1 while the gradient dies away. That, certified by a
    direction along which no row loses, names the separation.
    """
    weight, count = _relative(sample_weight, codes, n_classes)
    penalised = bool(np.isfinite(C))
    n_seen = len(codes) if weight is None else np.count_nonzero(weight)
    newton = _newton_in_row_space if X.shape[1] > n_seen else _newton
    found = newton(
        X,
        codes,
        weight,
        init,
        T=_coding(n_classes, reference, symmetric=penalised and n_classes > 2),
        ridge=min(1 / float(C) / count, _LARGEST_RIDGE) if penalised else None,
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=max_iter,
        max_halvings=max_halvings,
    )
    errors, covariance = found.standard_errors, found.covariance
    numbers = [found.coef, found.intercept, 0.0 if errors is None else errors]
    if not all(np.isfinite(part).all() for part in numbers):
        raise ValueError(
            "X must hold features that are large enough for their coefficients and "
            f"standard errors to be numbers, got one of size {_smallest(X):.3g}"
        )
    with np.errstate(over="ignore"):
        return replace(
            found,
            log_likelihood=found.log_likelihood * count,
            covariance=None if covariance is None else covariance / count,
            standard_errors=None if errors is None else errors / math.sqrt(count),
        )


def _relative(weight, codes, n_classes):
    """Weights with a largest one in [1, 2), and the power of two they stand for."""
    if weight is None:
        return None, 1.0
    unit = _power_of_two(weight.max())
    weight = weight / unit
    if not np.bincount(codes, weight, minlength=n_classes).all():
        raise ValueError(
            "sample_weight must not be smaller in a whole class than 1e-308 times the "
            f"largest weight, got {unit:.3g} for that"
        )
    return weight, unit


def _power_of_two(value):
    return math.ldexp(1.0, math.frexp(value)[1] - 1)


def _newton_in_row_space(X, codes, weight, init, *, ridge, fit_intercept, **options):
    """Newton's method on the coordinates of the rows in their own span."""
    if weight is not None:
        seen = weight > 0
        X, codes, weight = X[seen], codes[seen], weight[seen]
    unit = float(_units(feature_sizes(X).max()))
    X = X if unit == 1 else X / unit
    shares, centre = None, np.zeros(X.shape[1])
    if fit_intercept:
        shares = np.ones(len(codes)) if weight is None else weight
        shares = shares / shares.sum()
        centre = shares @ X
    space = RowSpace.of_rows(X, centre, 1.0, shares)
    if init is not None:
        init = np.atleast_2d(init).astype(float)
        coef = init[:, : X.shape[1]] * unit
        intercept = init[:, X.shape[1] :] + (coef @ centre)[:, None]
        init = np.column_stack([space.enter(coef.T).T, intercept[:, :fit_intercept]])
    if ridge is not None:
        ridge = min(ridge / unit / unit, _LARGEST_RIDGE)
    found = _newton(
        space.coordinates,
        codes,
        weight,
        init,
        ridge=ridge,
        fit_intercept=fit_intercept,
        **options,
    )
    coef, errors = space.leave(found.coef.T).T, None
    intercept = found.intercept - coef @ centre
    with np.errstate(over="ignore"):
        if found.covariance is not None:
            errors = _errors_of_features(found, space, fit_intercept)
            errors[:, int(fit_intercept) :] /= unit
        coef = coef / unit
    return replace(
        found, coef=coef, intercept=intercept, covariance=None, standard_errors=errors
    )


def _errors_of_features(found, space, fit_intercept):
    """Standard errors of ``Lβ`` from a root of the covariance of β, L being P×r."""
    M = len(found.standard_errors)
    size = len(found.covariance) // M
    errors = []
    for m in range(M):
        part = slice(m * size, (m + 1) * size)
        values, V = linalg.eigh(found.covariance[part, part])
        root = V * np.sqrt(np.maximum(values, 0))
        E = space.leave(root[int(fit_intercept) :])
        error = np.sqrt(np.einsum("jk,jk->j", E, E))
        if fit_intercept:  # it is that at the centre less centreᵀ coef
            error = np.append(np.linalg.norm(root[0] - space.centre @ E), error)
        errors.append(error)
    return np.array(errors)


def _newton(
    X,
    codes,
    weight,
    init,
    *,
    T,
    ridge,
    fit_intercept,
    tol,
    max_iter,
    max_halvings,
):
    """Newton's method; a ridge of None is none."""
    penalised = ridge is not None
    model = _Likelihood(X, codes, weight, T, fit_intercept)
    frame, point = _Frame.from_zero(model, ridge)
    if init is not None:
        start = frame.evaluate(frame.enter(init, T))
        if start.objective >= point.objective:  # else a start worse than none
            point = start
    n_halvings, previous, separation = 0, 0.0, None
    for n_iter in range(max_iter + 1):
        step = frame.newton_step(point)
        small = step.is_small(tol, point)
        linear = step.decrement2 > 0.01 * previous  # convergence not yet quadratic
        if not penalised and linear and step.gradient <= _TINY_GRADIENT:
            separation = model.separation(point.B, step.D)
        if small and not separation:  # the step is solved: take it, its error squares
            last, _ = _ascend(frame, point, step.D, 0)
            point = point if last is None else last
        if small or separation or n_iter == max_iter:
            break
        following, halved = _ascend(frame, point, step.D, max_halvings)
        n_halvings += halved
        if following is None:
            break
        point, previous = following, step.decrement2
    if not penalised and not small:
        separation = separation or model.separation(point.B, step.D)
    coef = frame.leave(point.B, T)
    covariance = errors = None
    if not penalised and separation is None:
        covariance, errors = frame.covariance(point)
    return IRLSResult(
        coef=np.ascontiguousarray(coef[:, : X.shape[1]]),
        intercept=coef[:, -1].copy() if fit_intercept else np.zeros(len(coef)),
        log_likelihood=float(point.log_likelihood),
        covariance=covariance,
        standard_errors=errors,
        rank=frame.rank,
        n_iter=max(n_iter, 1),
        n_halvings=n_halvings,
        converged=bool(small and separation is None),
        separation=separation,
    )


def feature_sizes(X):
    """Largest absolute value of each feature, of shape (P,)."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.maximum(high, -low).astype(float)


def _units(largest):
    """Powers of two near sizes that are not ordinary, 1 for those that are."""
    ordinary = (largest == 0) | ((ORDINARY[0] < largest) & (largest < ORDINARY[1]))
    return np.where(ordinary, 1.0, np.ldexp(1.0, np.frexp(largest)[1] - 1))


def _smallest(X):
    sizes = feature_sizes(X)
    return sizes[sizes > 0].min(initial=np.inf)


def _ascend(frame, point, D, max_halvings):
    """The first of ``B + D, B + D/2, …`` that does not fall; None if there is none."""
    # A fall within the rounding of a sum over all rows is none.
    lowest = point.objective - _ROUNDING * max(abs(point.objective), 1)
    for halved in range(max_halvings + 1):
        trial = frame.evaluate(point.B + D / 2**halved)
        if trial.objective >= lowest:
            return trial, halved
    return None, max_halvings


def _coding(n_classes, reference, *, symmetric):
    """The matrix T: reference cells, or orthonormal contrasts."""
    if n_classes == 2:
        return np.array([[0.0], [1.0]])
    if symmetric:
        return linalg.helmert(n_classes).T
    return np.delete(np.eye(n_classes), reference, axis=1)


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameters B with ``ℓ − penalty``, ℓ, gradient G and information H of ℓ."""

    B: np.ndarray
    objective: float
    log_likelihood: float
    G: np.ndarray
    H: np.ndarray


@dataclass(frozen=True, eq=False)
class _Step:
    """Newton's step, its decrement ``gᵀH⁻¹g`` and the largest mean gradient."""

    D: np.ndarray
    decrement2: float
    gradient: float

    def is_small(self, tol, point):
        rounding = _EPS * abs(point.objective)  # gains below it cannot be seen
        return self.gradient <= tol and self.decrement2 <= max(tol**2, rounding)


class _Likelihood:
    """ℓ, G and H of B, in one pass over blocks of rows."""

    def __init__(self, X, codes, weight, T, fit_intercept):
        self.X, self.codes, self.weight, self.T = X, codes, weight, T
        self.fit_intercept = fit_intercept
        self.n_rows, self.n_features = X.shape
        self.size = self.n_features + fit_intercept
        self.total = float(self.n_rows if weight is None else weight.sum())
        self.shift, self.unit = None, _units(feature_sizes(X))
        self.ordinary = bool(np.all(self.unit == 1))

    def blocks(self):
        """Yield float64 rows, classes and weights of one block after the other."""
        step = max(_BLOCK_BYTES // (8 * self.size), 64)
        for start in range(0, self.n_rows, step):
            part = slice(start, start + step)
            rows = self.X[part]
            rows = rows.toarray() if sparse.issparse(rows) else rows
            rows = rows.astype(float, copy=False)
            if not self.ordinary:
                rows = rows / self.unit
            if self.shift is not None:
                rows = rows - self.shift
            yield rows, self.codes[part], self.weight_of(part, len(rows))

    def weight_of(self, part, n):
        return np.ones(n) if self.weight is None else self.weight[part]

    def logits(self, rows, B):
        """F = T (X̃B)ᵀ, one column a row of X."""
        P = self.n_features
        F = B[:P].T @ rows.T
        if self.fit_intercept:
            F += B[P][:, None]
        return self.T @ F

    def evaluate(self, B):
        """ℓ, G, H at B."""
        P, K = self.n_features, len(self.T)
        pairs = list(combinations(range(K), 2))
        edges = [self.T[k] - self.T[m] for k, m in pairs]
        distinct = pairs if B.any() else pairs[:1]  # at 0 all p_k are 1/K
        S = np.zeros((len(distinct), self.size, self.size))
        G, value, scaled = np.zeros((K, self.size)), 0.0, None
        for rows, code, weight in self.blocks():
            p, log_own = _softmax(self.logits(rows, B), code)
            value += weight @ log_own
            if scaled is None:
                scaled = np.empty((len(rows), self.size))
            for S_km, (k, m) in zip(S, distinct, strict=True):
                root, part = np.sqrt(weight * p[k] * p[m]), scaled[: len(rows)]
                np.multiply(rows, root[:, None], out=part[:, :P])
                if self.fit_intercept:
                    part[:, P] = root
                S_km += part.T @ part
            residual = -p
            residual[code, np.arange(len(code))] += 1
            residual *= weight
            G[:, :P] += residual @ rows
            if self.fit_intercept:
                G[:, P] += residual.sum(axis=1)
        S = np.broadcast_to(S, (len(pairs), *S.shape[1:]))
        laplacian = [
            np.kron(np.outer(t, t), S_km) for t, S_km in zip(edges, S, strict=True)
        ]
        return value, (self.T.T @ G).T, np.sum(laplacian, axis=0)

    def separation(self, B, D):
        """Name of the separation that B or the direction D certifies, or None.

        The margin of a row is its own logit less the largest other one. If all
        margins of B are positive the classes are completely separated; if along D
        some grow and none falls, quasi-completely.
        """
        margins_B, margins_D = [], []
        for rows, code, weight in self.blocks():
            seen = weight > 0
            margins_B.append(_margins(self.logits(rows, B), code)[seen])
            margins_D.append(_margins(self.logits(rows, D), code)[seen])
        margins_B, margins_D = np.concatenate(margins_B), np.concatenate(margins_D)
        if np.abs(margins_D).max() < 0.1:  # the steps vanish: there is a maximum
            return None
        if margins_B.min() > 0:
            return "complete"
        if margins_D.min() >= -1e-7 * margins_D.max():
            return "quasi-complete"
        return None


def _softmax(F, code):
    """Class probabilities (in place of F) and the log-probability of each own class."""
    F -= F.max(axis=0)
    own = F[code, np.arange(len(code))]
    np.exp(F, out=F)
    total = F.sum(axis=0)
    F /= total
    return F, own - np.log(total)


def _margins(F, code):
    rows = np.arange(len(code))
    own = F[code, rows]
    F[code, rows] = -np.inf
    return own - F.max(axis=0)


class _Frame:
    """Coordinates in which Newton's equations are well scaled.

    B is that of features measured in ``model.unit``. Features are shifted if their
    mean is large against their spread, equations scaled to unit spread, and restricted
    to the row space if the features are linearly dependent. All of it is read off the
    information at B = 0, which is X̃ᵀ diag(w) X̃ up to a factor.
    """

    def __init__(self, model, ridge, scale, basis):
        self.model, self.scale = model, scale
        self.unit = np.append(model.unit, np.ones(model.size - model.n_features))
        self.whole = ridge is not None or basis[1].shape[1] == 0
        self.ridge = np.zeros((model.size, 1))
        if ridge is not None:
            with np.errstate(over="ignore"):
                ridge = ridge / model.unit / model.unit
            limit = _LARGEST_RIDGE * np.minimum(scale[: model.n_features] ** 2, 1)
            self.ridge[: model.n_features, 0] = np.minimum(ridge, limit)
        self.kept, self.null = basis

    @property
    def rank(self):
        return self.kept.shape[1]

    @classmethod
    def from_zero(cls, model, ridge):
        """The frame of the data, and the point B = 0."""
        M, size = model.T.shape[1], model.size
        B = np.zeros((size, M))
        value, G, H = model.evaluate(B)
        if model.fit_intercept:
            mean, variance = _location_scale(H[:size, :size])
            if np.any(mean**2 > _LARGE_MEAN * variance):
                model.shift = mean
                value, G, H = model.evaluate(B)
                _, variance = _location_scale(H[:size, :size])
            # The spread of a constant feature is rounding.
            constant = variance <= (8 * _EPS * mean) ** 2
            scale = np.sqrt(np.where(constant, np.maximum(mean**2, 1), variance))
            scale = np.append(scale, 1.0)
        else:
            scale = np.sqrt(np.diag(H)[:size] * (model.n_rows / model.total))
            scale[scale == 0] = 1.0
        frame = cls(model, ridge, scale, _row_space(H[:size, :size], scale))
        return frame, _Point(B, value, value, G, H)

    def evaluate(self, B):
        value, G, H = self.model.evaluate(B)
        return _Point(B, value - np.sum(self.ridge * B**2) / 2, value, G, H)

    def newton_step(self, point):
        """Solve ``(H + Λ) D = G − ΛB`` within the row space."""
        shape = point.B.shape
        g = ((point.G - self.ridge * point.B) / self.scale[:, None]).T.ravel()
        A = self._information(point)
        A[np.diag_indices_from(A)] += np.tile(
            self.ridge[:, 0] / self.scale**2, shape[1]
        )
        R = None if self.whole else np.kron(np.eye(shape[1]), self.kept)
        d = _solve(A, g) if R is None else R @ _solve(R.T @ A @ R, R.T @ g)
        D = d.reshape(shape[::-1]).T / self.scale[:, None]
        return _Step(D, float(g @ d), np.abs(g).max() / self.model.total)

    def covariance(self, point):
        """Inverse information of the original parameters, the intercept first.

        Returns
        -------
        covariance : ndarray of shape (M(P + 1), M(P + 1))
        errors : ndarray of shape (M, P + 1)
            Roots of its diagonal, also where that overflows.
        """
        M = point.B.shape[1]
        R = np.kron(np.eye(M), self.kept)
        inner = R.T @ self._information(point) @ R
        inverse = R @ _solve(inner, R.T)
        back = self._unshift() @ self._least_norm() / self.scale
        order = np.arange(self.model.size)
        if self.model.fit_intercept:
            order = np.roll(order, 1)
        back = np.kron(np.eye(M), back[order])
        covariance = back @ inverse @ back.T
        errors = np.sqrt(np.maximum(np.diag(covariance), 0))
        covariance = (covariance + covariance.T) / 2
        if not self.model.ordinary:
            unit = np.tile(self.unit[order], M)
            with np.errstate(over="ignore"):
                covariance = covariance / unit / unit[:, None]
                errors = errors / unit
        return covariance, errors.reshape(M, -1)

    def enter(self, init, T):
        """Parameters B from coefficient rows in the original features."""
        coef = np.atleast_2d(init).astype(float)
        if len(T) > 2:
            coef = np.linalg.solve(np.column_stack([T, np.ones(len(T))]), coef)[:-1]
        return np.linalg.solve(self._unshift(), coef.T * self.unit[:, None])

    def leave(self, B, T):
        """Coefficient rows in the original features, of least norm."""
        with np.errstate(over="ignore"):
            coef = (self._unshift() @ self._least_norm() @ B).T / self.unit
        return coef if len(T) == 2 else T @ coef

    def _information(self, point):
        s = np.tile(self.scale, point.B.shape[1])
        return point.H / s / s[:, None]

    def _least_norm(self):
        """Projection of B along the null space that makes the coefficients short."""
        identity = np.eye(self.model.size)
        if self.whole:
            return identity
        P, unit = self.model.n_features, self.model.unit
        null, length = self.null / self.scale[:, None], (unit.min() / unit)[:, None]
        null /= np.abs(null).max(axis=0)
        solved = np.linalg.lstsq(length * null[:P], length * identity[:P], rcond=None)[
            0
        ]
        return identity - null @ solved

    def _unshift(self):
        """Matrix that undoes the shift: intercept ``b − shiftᵀβ``."""
        back = np.eye(self.model.size)
        if self.model.shift is not None:
            back[-1, :-1] -= self.model.shift
        return back


def _location_scale(gram):
    """Mean and variance of the features from ``X̃ᵀX̃`` (up to a factor)."""
    gram = gram / gram[-1, -1]
    mean = gram[:-1, -1]
    return mean, np.maximum(np.diag(gram)[:-1] - mean**2, 0)


def _row_space(gram, scale):
    """Orthonormal bases of the range and of the null space of the scaled Gram."""
    gram = gram / scale / scale[:, None]
    values, vectors = linalg.eigh(gram)
    kept = values > 16 * len(gram) * _EPS * values[-1]
    return vectors[:, kept], vectors[:, ~kept]


def _solve(A, b):
    """Solve a positive semidefinite system, by least squares if it is singular."""
    root = np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))
    A = A / root / root[:, None]
    b = (b.T / root).T
    try:
        x = linalg.cho_solve(linalg.cho_factor(A, lower=True), b)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(A)
        kept = values > len(A) * _EPS * values[-1]
        inverse = np.where(kept, 1 / np.where(kept, values, 1), 0)
        x = vectors @ ((vectors.T @ b).T * inverse).T
    return (x.T / root).T
