"""Damped Newton on many systems at once, whatever their rows are kept in.

A *problem* is a loss and a penalty of parameters θ, one row of them a system. It is
asked for

``at(theta)``
    the state there, a list of arrays with a row for each system: first the objective,
    then whatever the steps need;
``nothing()``
    the objective at θ = 0;
``factors(state, systems)``
    what solves the Newton systems of some, an object for each;
``by_products``
    whether it may be asked for a step before there are factors;
``step(theta, state, factors)``
    the directions;
``ray(theta, state, step)``
    the slope of the objective along every step, and a function
    ``reached(systems, t)``: the state of some at θ + t·step;
``some(systems)``
    the problem of some systems alone;
``value(theta)``, ``spread(theta, state)``
    the objective alone, and the standard deviation of the scores: of a hinge.

Steps are halved until the objective falls (Armijo). A factorisation is used again
while the Newton decrement shrinks tenfold a step, and none is made while steps by
products are nearly as good as Newton's.
"""

from __future__ import annotations

import numpy as np

from ._losses import HeldCorner, RoundedHinge

# Newton decrement over the objective at which a step is the last, of an old and of a
# new factorisation: the former leaves a tenth of it, the latter about its square,
# unless the loss has corners. What products leave is a thousandth, as good as new.
CLOSE, CORNERS = (1e-7, 1e-5), (1e-7, 1e-7)
STUCK = 1e-4  # the decrement at which a step that cannot be taken is rounding
# 20 samples of 60 × 10 to 100 × 1000 rows, C from .001 to 10⁴, take at most 14 steps of
# the logistic loss and 66 of a rounded hinge
MAX_ITER = 100
ROUNDS = 3  # of so many steps for a full fit, which may start far away
# A step t of descent ``gain`` is taken where the objective falls by ARMIJO·t·gain or
# more, and halved at most HALVINGS times: Nocedal & Wright (2006), Numerical
# Optimization, section 3.1.
ARMIJO, HALVINGS = 1e-4, 30
FLAT = 1e-3  # curvature of a loss that has none at any row: a gradient step
SHRINKS = 0.1  # of the decrement, in a step: the factorisation is good enough
# The same of products: far from an optimum Newton's own decrement shrinks to .3 to .6
SHRINKS_BY_PRODUCTS = 0.6
WIDTHS = (0.3, 0.03, 3e-3)  # of a rounded hinge: scores at a margin are off by less
RESOLVED = 3.0  # widths that scores must spread over; there they correlate to .99
_SMOOTH = ("logistic", "squared")


def optimum(problem, loss, theta, tol=CLOSE):
    """Minimise a loss from θ, the hinge by ever sharper roundings of it.

    Parameters
    ----------
    problem : callable ``loss -> problem``
    loss : str or RoundedHinge
    theta : ndarray of shape (k, d)
    tol : tuple of float, default=(1e-7, 1e-5)
        Newton decrement, over the objective, that is small enough for the last step
        with an old and with a new factorisation of a loss without corners.

    Returns
    -------
    theta : ndarray of shape (k, d)
    state : list of ndarray
    converged : ndarray of bool of shape (k,)
    """
    if loss != "hinge":
        return minimise(problem(loss), theta, tol if loss in _SMOOTH else CORNERS)
    wider = None
    for sharp in map(RoundedHinge, WIDTHS):
        if wider is not None:
            theta = _sharpened(problem, wider, sharp, theta)
        theta, at, converged = minimise(problem(sharp), theta, CORNERS)
        wider = sharp
    # scores of one size as the rounding: w is 0 but for it, and has no direction
    resolved = problem(sharp).spread(theta, at) > RESOLVED * sharp.width
    return theta, at, converged & resolved


def optimum_from_afar(problem, loss, theta):
    """The same of a single system that may start far away."""
    for _ in range(ROUNDS):
        theta, at, converged = optimum(problem, loss, theta)
        if converged.all():
            break
    return theta, at, converged


def _sharpened(problem, wider, sharp, theta):
    """Where the optimum goes if the rows in the rounded corner stay in it."""
    held, sharper = problem(HeldCorner(wider.width, sharp.width)), problem(sharp)
    at = held.at(theta)
    moved = theta + held.step(theta, at, held.factors(at, slice(None)))
    lower = sharper.value(moved) < sharper.value(theta)
    return np.where(lower[:, None], moved, theta)


def minimise(problem, theta, tol):
    """Newton from θ: where each system ends, its state there, whether at an optimum."""
    at = problem.at(theta)
    lost = at[0] > problem.nothing()
    if lost.any():  # a solver that went astray: nothing is a better start
        theta = np.where(lost[:, None], 0.0, theta)
        at = problem.at(theta)
    k, found = len(theta), [np.empty_like(part) for part in (theta, *at)]
    live, converged, last = np.arange(k), np.zeros(k, dtype=bool), np.full(k, np.inf)
    by_products, factors = np.full(k, problem.by_products), np.empty(k, dtype=object)
    stale = ~by_products
    for _ in range(MAX_ITER):
        if stale.any():
            factors[stale] = problem.factors(at, stale)
            by_products = by_products & ~stale
        step = problem.step(theta, at, factors)
        slope, reached = problem.ray(theta, at, step)
        gain = np.abs(slope)  # Newton decrement: none of a step upwards is taken
        at, t = line_search(at, gain, reached)
        step[t == 0] = 0.0  # it may have overflowed, and 0·∞ is no number
        theta = theta + t[:, None] * step
        old_tol, new_tol = (share * at[0] for share in tol)
        # The step is taken all the same: this one is the last
        done = gain <= np.where(stale | by_products, new_tol, old_tol)
        # A step that cannot be taken with an old factorisation gets a new one; with
        # a new one it is rounding that stands in the way.
        stuck = (t == 0) & stale
        converged[live] = done | (stuck & (gain <= STUCK * at[0]))
        # The decrement hardly shrinks: the next step factorises anew
        enough = np.where(by_products, SHRINKS_BY_PRODUCTS, SHRINKS) * last
        stale, last, over = ~(gain <= enough) | (t == 0), gain, done | stuck
        if over.any():
            for whole, part in zip(found, (theta, *at), strict=True):
                whole[live[over]] = part[over]
            on = ~over
            problem, at = problem.some(on), [part[on] for part in at]
            parts = live, theta, last, stale, factors, by_products
            live, theta, last, stale, factors, by_products = (x[on] for x in parts)
            if len(live) == 0:
                break
    for whole, part in zip(found, (theta, *at), strict=True):
        whole[live] = part
    theta, *at = found
    return theta, at, converged


def line_search(at, gain, reached):
    """Halve every step until the objective falls enough: the states, and lengths."""
    t = np.ones(len(gain))
    new = reached(slice(None), t)
    for _ in range(HALVINGS):
        # Armijo, in a form that NaN fails; only the systems that fail are tried again
        high = np.flatnonzero(~(new[0] <= at[0] - ARMIJO * t * gain))
        if len(high) == 0:
            return new, t
        t[high] /= 2
        for whole, part in zip(new, reached(high, t[high]), strict=True):
            whole[high] = part
    # No step: what was there stays, with its slopes
    t[high] = 0.0
    for whole, part in zip(new, at, strict=True):
        whole[high] = part[high]
    return new, t


def first_lower(objective, reached, start, slope):
    """What the longest step of 1, ½, ¼, … reaches that is low enough, or None."""
    for t in 0.5 ** np.arange(HALVINGS):
        new = reached(t)
        # Armijo, in a form that NaN fails
        if objective(new) <= start + ARMIJO * t * slope:
            return new
    return None
