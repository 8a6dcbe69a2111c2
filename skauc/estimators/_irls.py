"""Newton's method (IRLS) for logistic models, binary and multinomial.

Section 1 of :mod:`skauc.estimators`. For P > n the rows are replaced by their r ≤ n
coordinates in their own span (``statistics/_row_space.py``): a ridge and the least norm
are the same there, and nothing is P×P. Weights, and features of extreme size, are
measured in powers of two that keep every square a normal number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ..statistics._row_space import RowSpace
from ._firth import FirthFrame
from ._likelihood import Likelihood, feature_sizes, feature_units
from ._newton_frame import LARGEST_RIDGE, NewtonFrame

_ROUNDING = 1e-12  # relative error of a log-likelihood: a sum over up to 1e7 rows
# Separation is looked for where the mean gradient is tiny and the decrement still
# falls linearly: near a maximum it falls quadratically, towards infinity by e a step
_TINY_GRADIENT = 1e-8
_LINEAR = 0.01
# Newton's steps from 0 need no more than a tenth of the rows while that tenth knows the
# estimate to a fraction of the step: 100 rows a parameter and √(1/10) standard errors
_SHARE, _ROWS_A_PARAMETER, _STEPS_ON_SHARE = 10, 100, 4


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
        Inverse information, M = K − 1; for each non-reference class the intercept (if
        any) and then the features. None when penalised or separated, or for P > n.
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
    offset=None,
    firth=False,
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
    offset : ndarray of shape (n,), default=None
        Added to the logit of class 1; two classes.
    firth : bool, default=False
        Maximise ``ℓ(B) + ½ log det H`` instead (:mod:`skauc.estimators._firth`): two
        classes and infinite C.

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
    weight, count = relative(sample_weight, codes, n_classes)
    n_rows = len(codes) if weight is None else np.count_nonzero(weight)
    level = 0.0
    if offset is not None and fit_intercept:
        # The intercept takes it up again: at B = 0 a large offset informs of nothing.
        level = float(np.average(offset, weights=weight))
        offset = offset - level
        if init is not None:
            # The last column of a start is the intercept.
            init = init + level * (np.arange(X.shape[1] + 1) == X.shape[1])
    newton = _newton_in_row_space if X.shape[1] > n_rows else _newton
    found = newton(
        X,
        codes,
        weight,
        init,
        offset,
        T=coding_of(n_classes, reference, C),
        fit_intercept=fit_intercept,
        **strengths(C, firth, count),
        tol=tol,
        max_iter=max_iter,
        max_halvings=max_halvings,
    )
    found = replace(found, intercept=found.intercept - level)
    return counted(found, count, lambda: feature_sizes(X))


def coding_of(n_classes, reference, C):
    """The matrix T of a fit of this penalty."""
    symmetric = bool(np.isfinite(C)) and n_classes > 2
    return coding(n_classes, reference, symmetric=symmetric)


def strengths(C, firth, count):
    """Of the two penalties, against weights in units of ``count``; None for none."""
    # ℓ is in units of ``count``, and so is ‖coef‖²/(2C).
    ridge = min(1 / float(C) / count, LARGEST_RIDGE) if np.isfinite(C) else None
    return {"ridge": ridge, "firth": 1 / count if firth else None}


def counted(found, count, sizes) -> IRLSResult:
    """The result in counts of rows, not in units of ``count``.

    Parameters
    ----------
    found : IRLSResult
    count : float
        What a relative weight of 1 stands for.
    sizes : callable
        Of the features, for an error.
    """
    errors, covariance = found.standard_errors, found.covariance
    numbers = [found.coef, found.intercept, 0.0 if errors is None else errors]
    if not all(np.isfinite(part).all() for part in numbers):
        size = sizes()
        smallest = size[size > 0].min(initial=np.inf)
        raise ValueError(
            "X must hold features that are large enough for their coefficients and "
            f"standard errors to be numbers, got one of size {smallest:.3g}"
        )
    with np.errstate(over="ignore"):
        return replace(
            found,
            log_likelihood=found.log_likelihood * count,
            covariance=None if covariance is None else covariance / count,
            standard_errors=None if errors is None else errors / math.sqrt(count),
        )


def relative(weight, codes, n_classes):
    """Weights with a largest one in [1, 2), and the power of two they stand for."""
    if weight is None:
        return None, 1.0
    unit = power_of_two(weight.max())
    weight = weight / unit
    check_classes_left(np.bincount(codes, weight, minlength=n_classes), unit)
    return weight, unit


def power_of_two(largest):
    """The unit of weights up to this."""
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)


def check_classes_left(relative_weight, unit):
    """Refuse weights of which nothing is left in a class, measured in the unit."""
    if not relative_weight.all():
        raise ValueError(
            "sample_weight must not be smaller in a whole class than 1e-308 times the "
            f"largest weight, got {unit:.3g} for that"
        )


def _newton_in_row_space(
    X, codes, weight, init, offset, *, ridge, fit_intercept, **options
):
    """Newton's method on the coordinates of the rows in their own span."""
    if weight is not None:
        kept = weight > 0
        X, codes, weight = X[kept], codes[kept], weight[kept]
        offset = None if offset is None else offset[kept]
    # One unit for all features: the least norm and the ridge are those of X/unit.
    unit = float(feature_units(feature_sizes(X).max()))
    X = X if unit == 1 else X / unit
    shares, centre = None, np.zeros(X.shape[1])
    if fit_intercept:
        shares = np.ones(len(codes)) if weight is None else weight
        # The intercept takes up the mean; centred rows span a dimension less.
        shares = shares / shares.sum()
        centre = shares @ X
    space = RowSpace.of_rows(X, centre, 1.0, shares)
    if init is not None:
        init = np.atleast_2d(init).astype(float)
        coef = init[:, : X.shape[1]] * unit
        intercept = init[:, X.shape[1] :] + (coef @ centre)[:, None]
        # coef'x + b = coef'(x − centre) + (b + centreᵀcoef)
        init = np.column_stack([space.enter(coef.T).T, intercept[:, :fit_intercept]])
    if ridge is not None:
        # ‖coef‖² in units: coef = coef'/unit, so the ridge of coef' is ridge/unit².
        ridge = min(ridge / unit / unit, LARGEST_RIDGE)
    found = _newton(
        space.coordinates,
        codes,
        weight,
        init,
        offset,
        ridge=ridge,
        fit_intercept=fit_intercept,
        **options,
    )
    coef, errors = space.leave(found.coef.T).T, None
    # Rows entered as x − centre: b = b' − centreᵀcoef
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
        # Cov = root rootᵀ; Var (Lβ)_j = ‖(L root)_j‖², without the P×P matrix
        values, V = linalg.eigh(found.covariance[part, part])
        root = V * np.sqrt(np.maximum(values, 0))
        E = space.leave(root[int(fit_intercept) :])
        error = np.sqrt(np.einsum("jk,jk->j", E, E))
        if fit_intercept:  # it is that at the centre less centreᵀ coef
            error = np.append(np.linalg.norm(root[0] - space.centre @ E), error)
        errors.append(error)
    return np.array(errors)


def _newton(X, codes, weight, init, offset, *, T, fit_intercept, **options):
    """Newton's method on the rows."""
    model = Likelihood(X, codes, weight, T, fit_intercept)
    return maximise(model, init, offset, **options)


def maximise(
    model, init, offset, *, ridge, firth, tol, max_iter, max_halvings
) -> IRLSResult:
    """Newton's method, in the units of the likelihood's weights.

    Parameters
    ----------
    model : Likelihood
    init, offset, tol, max_iter, max_halvings
        As for :func:`irls`.
    ridge, firth : float or None
        Strengths of the two penalties.
    """
    penalised = ridge is not None or firth is not None
    T = model.T
    frame, point = open_frame(model, ridge, offset, firth)
    if init is not None:
        start = frame.evaluate(frame.enter(init, T))
        if start.objective >= point.objective:  # else a start worse than none
            point = start
    # A tenth of these rows still has 100 a parameter.
    elif model.n_rows >= _SHARE * _ROWS_A_PARAMETER * model.size * T.shape[1]:
        point = _start_on_share(frame, model, point)
    ended = _iterate(frame, model, point, penalised, tol, max_iter, max_halvings)
    point, small, separation, n_iter, n_halvings = ended
    coef = frame.leave(point.B, T)
    covariance = errors = None
    if ridge is None and separation is None:
        covariance, errors = frame.covariance(point)
    return IRLSResult(
        coef=np.ascontiguousarray(coef[:, : model.n_features]),
        intercept=coef[:, -1].copy() if model.fit_intercept else np.zeros(len(coef)),
        log_likelihood=float(point.log_likelihood),
        covariance=covariance,
        standard_errors=errors,
        rank=frame.rank,
        n_iter=max(n_iter, 1),
        n_halvings=n_halvings,
        converged=bool(small and separation is None),
        separation=separation,
    )


def _start_on_share(frame, model, zero):
    """The better one of B = 0 and a few Newton steps on every tenth row."""
    part = model.every(_SHARE)
    if part is None:
        return zero
    small = frame.on(part)
    point = small.evaluate(zero.B)
    for _ in range(_STEPS_ON_SHARE):
        step = small.newton_step(point)
        following, _ = ascend(small, point, step.D, 0)
        if following is None or step.decrement2 < 1:  # nearer than its own error
            break
        point = following
    start = frame.evaluate(point.B)
    return start if start.objective > zero.objective else zero


def open_frame(model, ridge=None, offset=None, firth=None):
    """Coordinates of the data, read off B = 0 without an offset, and the point B = 0.

    Parameters
    ----------
    model : Likelihood
        Gets the offset.
    ridge, firth : float or None
        Strengths of the two penalties.
    offset : ndarray of shape (n,) or None

    Returns
    -------
    NewtonFrame, Point
    """
    frame, point = NewtonFrame.from_zero(model, ridge)
    if firth is not None:
        frame = FirthFrame.of(frame, firth)
    if offset is not None or firth is not None:
        model.offset = offset
        point = frame.evaluate(point.B)
    return frame, point


def _iterate(frame, model, point, penalised, tol, max_iter, max_halvings):
    """Newton's steps from a point.

    Returns
    -------
    point, small, separation, n_iter, n_halvings
        ``small`` is whether the last step was.
    """
    n_halvings, previous, separation = 0, 0.0, None
    for n_iter in range(max_iter + 1):
        step = frame.newton_step(point)
        small = step.is_small(tol, point)
        # Quadratic convergence squares the decrement: a hundredth is a slow step.
        linear = step.decrement2 > _LINEAR * previous
        if not penalised and linear and step.gradient <= _TINY_GRADIENT:
            separation = model.separation(point.B, step.D)
        if small and not separation:  # the step is solved: take it, its error squares
            last, _ = ascend(frame, point, step.D, 0)
            point = point if last is None else last
        if small or separation or n_iter == max_iter:
            break
        following, halved = ascend(frame, point, step.D, max_halvings)
        n_halvings += halved
        if following is None:
            break
        point, previous = following, step.decrement2
    if not penalised and not small:
        separation = separation or model.separation(point.B, step.D)
    return point, small, separation, n_iter, n_halvings


def ascend(frame, point, D, max_halvings):
    """The first of ``B + D, B + D/2, …`` that does not fall; None if there is none."""
    # A fall within the rounding of a sum over all rows is none.
    lowest = point.objective - _ROUNDING * max(abs(point.objective), 1)
    for halved in range(max_halvings + 1):
        trial = frame.evaluate(point.B + D / 2**halved)
        if trial.objective >= lowest:
            return trial, halved
    return None, max_halvings


def coding(n_classes, reference, *, symmetric):
    """The matrix T: reference cells, or orthonormal contrasts."""
    if n_classes == 2:
        return np.array([[0.0], [1.0]])
    if symmetric:
        # Rows of Helmert's matrix are orthonormal and add up to 0.
        return linalg.helmert(n_classes).T
    return np.delete(np.eye(n_classes), reference, axis=1)
