"""Tails of a quadratic form in normal variables, by integration along a contour.

For ``S = Σ_j (λ_j z_j² + b_j z_j)``, z_j independent standard normal, the cumulant
function is, with ``D_j = 1 − 2λ_js``,

    K(s) = Σ_j [ b_j²s²/(2D_j) − ½ log D_j ],

smooth through λ = 0, and for every r between 0 and the first branch point 1/(2 max λ)

    P(S > y) = (1/2πi) ∫ exp(K(s) − sy)/s ds,   upwards through r.

On the imaginary axis (Gil-Pelaez, Imhof) this integrand falls like a small power of s
and its digits cancel in the tails. Here the path is

    s(u) = r + w (i sinh u + κ(cosh u − 1)):

r is the saddlepoint of the *whole* integrand, the pole included (Rice 1980), so that
there is neither cancellation nor a pole near by; w is the width of the saddle; sinh u
takes any power of s to an exponential; and κ ∈ {−0.6, 0, 0.6} bends the path to the
side on which the integrand falls first. The trapezoid rule in u then converges
geometrically.

The functions take a form of variance 1 and y not below its mean: lower tails are the
upper tails of −S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri

_BENDS = np.array([0.0, 0.6, -0.6])  # below 1: e^{b²s²/2} must fall on the path too
_UNDERFLOW = -800.0  # logarithm of what is 0
_FALL = 38.0  # the path ends where the integrand is e^{−38} of its largest value
_STEPS = np.concatenate([np.arange(0.5, 6.5, 0.25), np.geomspace(7, 700, 30)])
_STEPS_AT_ONCE = 10
_FIRST_NODES, _MOST_NODES, _AGREEMENT = 16, 2048, 1e-12
_BLOCK = 512  # thresholds at once, so that the nodes stay in cache
_KNOTS = 33  # quantiles that start the search for many others


def centred_cumulant(s, weights, slopes, *, from_end=False):
    """``Σ_j [b_j²s²/(2D_j) − ½ log D_j]``; principal logarithms, no cut is crossed.

    ``from_end`` leaves out its linear part ``−s Σ b_j²/(4λ_j)``, the end of a bounded
    support: with y measured from there, nothing cancels however large s is.
    """
    total = np.zeros_like(s, dtype=np.result_type(s, float))
    for weight, slope in zip(weights, slopes, strict=True):
        D = 1 - 2 * weight * s
        total -= 0.5 * np.log(D)
        if slope != 0 and from_end:
            total += (slope * slope / (4 * weight)) * (s / D)
        elif slope != 0:
            total += (0.5 * slope * slope) * (s / D) * s
    return total


def upper_tail(y, weights, slopes, order=0):
    """``P(S > y)`` and density of a form of variance 1 and offset 0, y ≥ its mean.

    ``order`` 1 follows the path until the density's integrand has fallen as well.
    """
    answers = np.zeros((2, len(y)))
    answers[:, np.isnan(y)] = np.nan
    end = _upper_end(weights, slopes)
    close = y > end * (1 - 1 / 64) if np.isfinite(end) else np.zeros(len(y), dtype=bool)
    for from_end in (False, True):
        inside = np.flatnonzero((y < end) & (close == from_end))
        for at in np.array_split(inside, 1 + len(inside) // _BLOCK):
            if len(at) > 0:
                measured = y[at] - end if from_end else y[at]
                form = _Form(weights, slopes, from_end)
                answers[:, at] = _integrals(form, measured, order)
    return answers


@dataclass(frozen=True, eq=False)
class _Form:
    """The form, and whether y is measured from the end of its support."""

    weights: np.ndarray
    slopes: np.ndarray
    from_end: bool

    def exponent(self, s, y):
        """``K(s) − sy − log s``; one y for every row of s."""
        at = y.reshape((-1,) + (1,) * (s.ndim - 1))
        K = centred_cumulant(s, self.weights, self.slopes, from_end=self.from_end)
        return K - s * at - np.log(s)

    def derivative(self, s, y):
        """Of the exponent, at real s."""
        s, y = s[:, None], y[:, None]
        D = 1 - 2 * self.weights * s
        if self.from_end:
            linear = self.slopes**2 / (4 * self.weights) / D**2
        else:
            linear = self.slopes**2 * s * (1 - self.weights * s) / D**2
        return np.sum(self.weights / D + linear, axis=1) - y[:, 0] - 1 / s[:, 0]

    def width(self, s):
        """One over the root of the exponent's second derivative, at real s."""
        D = 1 - 2 * np.multiply.outer(s, self.weights)
        ratio = s[:, None] / D  # squares of s overflow next to an end
        second = (2 * self.weights**2 + self.slopes**2 / D) * ratio**2
        return s / np.sqrt(second.sum(axis=1) + 1)


def _integrals(form, y, order):
    """The contour integral, and the one without its factor 1/s."""
    r, answers = _saddle(form, y), np.zeros((2, len(y)))
    top, width = form.exponent(r, y), form.width(r)
    # next to an end the probability is small, the density perhaps not
    scale = top + np.log(width) + np.array([np.zeros_like(r), np.log(r)])
    there = scale.max(axis=0) > _UNDERFLOW
    if there.any():
        r, width, y, top = r[there], width[there], y[there], top[there]

        def exponent(s):
            return form.exponent(s, y) - top[:, None]

        path, end = _best_path(form, r, width, exponent, order)
        sums = _trapezoid(path, end, exponent, order)
        answers[:, there] = np.exp(scale[:, there]) * sums / np.pi
    return answers


def _upper_end(weights, slopes):
    """Upper end of the support, for offset 0."""
    if np.any(weights >= 0):
        return np.inf
    with np.errstate(over="ignore"):
        return -np.sum(slopes**2 / (4 * weights))


def _saddle(form, y):
    """Minimum of the exponent, which is convex, over real s > 0.

    The root of its derivative is bracketed on the scale ``v = log(s/(1 − s/s₁))``, s₁
    the branch point; next to an end of the support s is one over the distance to it. 34
    halvings are enough for the start of a path.
    """
    pole = 2 * max(form.weights.max(), 0.0)  # 1/s₁
    low, high = np.full(len(y), -3.0), np.full(len(y), 700.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(34):
            middle = (low + high) / 2
            # not falling where s rounds to the branch point
            falling = form.derivative(1 / (np.exp(-middle) + pole), y) < 0
            low, high = np.where(falling, middle, low), np.where(falling, high, middle)
    return 1 / (np.exp(-low) + pole)


@dataclass(frozen=True, eq=False)
class _Path:
    """``s(u) = r + w (i sinh u + κ(cosh u − 1))``, one for every threshold."""

    start: np.ndarray
    width: np.ndarray
    bend: np.ndarray

    def __call__(self, u):
        start, width, bend = (x[:, None] for x in (self.start, self.width, self.bend))
        return start + width * (1j * np.sinh(u) + bend * (np.cosh(u) - 1))

    def speed(self, u):
        """``s′(u)/(iw)``."""
        return np.cosh(u) - 1j * self.bend[:, None] * np.sinh(u)


@np.errstate(over="ignore", invalid="ignore")  # beyond what has fallen already
def _best_path(form, r, width, exponent, order):
    """The bend whose integrand falls first, and the u at which it has fallen."""
    bend, end = np.zeros(len(r)), np.full(len(r), _STEPS[-1])
    looking = np.ones(len(r), dtype=bool)
    for steps in np.array_split(_STEPS, len(_STEPS) // _STEPS_AT_ONCE):
        for candidate in _BENDS:
            s = _Path(r, width, np.full(len(r), candidate))(steps)
            height = exponent(s).real + np.log(np.cosh(steps))
            height += _later_rise(s, form) + order * np.log(np.abs(s) / r[:, None])
            fallen = height < -_FALL
            first = np.where(fallen.any(axis=1), steps[fallen.argmax(axis=1)], np.inf)
            better = first < np.where(looking, np.inf, end)
            bend, end = np.where(better, candidate, bend), np.where(better, first, end)
            looking &= ~better
        if not looking.any():
            break
    return _Path(r, width, bend), end


def _later_rise(s, form):
    """Bound on what the integrand's logarithm gains straight above s.

    Upwards every |D_j| grows, and ``Re s²/D = (A/|D|² − 2 + A)/(4λ²)``, A = Re D, rises
    only where A < 0. So the path may be cut off here, and continued straight up in
    thought, whatever the integrand does farther along the bend.
    """
    rise = np.zeros(s.shape)
    for weight, slope in zip(form.weights, form.slopes, strict=True):
        D = 1 - 2 * weight * s
        if np.any(D.real < 0):
            ratio = slope / (weight * np.abs(D))
            rise += ratio**2 / 8 * np.maximum(-D.real, 0)
    return rise


def _trapezoid(path, end, exponent, order):
    """``∫₀^end Re(exp(…) s′/(iw)) du`` without and with the factor s/r.

    The nodes are doubled until two answers agree for every threshold.
    """
    nodes = _FIRST_NODES

    def sums(fractions):
        u = end[:, None] * fractions
        s = path(u)
        terms = np.exp(exponent(s)) * path.speed(u)
        dense = terms * (s / path.start[:, None])
        return np.array([terms.real.sum(axis=1), dense.real.sum(axis=1)])

    total = 0.5 + sums(np.arange(1, nodes + 1) / nodes)
    while True:
        before = total * end / nodes
        total = total + sums((np.arange(nodes) + 0.5) / nodes)
        nodes *= 2
        now = total * end / nodes
        change = np.abs(now[order] - before[order])
        if np.all(change <= _AGREEMENT * np.abs(now[order])) or nodes >= _MOST_NODES:
            return now


def upper_quantile(q, weights, slopes):
    """The y ≥ mean with ``P(S > y) = q``, for q ≤ ``P(S > mean)``; as ``upper_tail``.

    Newton's method on ``log P(S > y)`` inside a bracket; below a finite end in the
    logarithm of the distance to it, of which ``log P`` is nearly linear there. Many
    quantiles start from a curve through a few.
    """
    mean, top = weights.sum(), _upper_end(weights, slopes)
    z = -ndtri(np.maximum(q, 1e-300))
    if len(q) > 2 * _KNOTS and z.min() < z.max():
        knots = np.linspace(z.min(), z.max(), _KNOTS)
        few = upper_quantile(ndtr(-knots), weights, slopes)
        y = PchipInterpolator(knots, few)(z)
    else:
        y = mean + np.maximum(z, 0.0)
    y = np.where(q == 0, top, np.where(y < top, y, mean))
    low, high = np.full(len(q), mean), np.full(len(q), top)
    active = np.flatnonzero(q > 0)
    for _ in range(200):
        now = y[active]
        tail, density = upper_tail(now, weights, slopes)
        left = tail > q[active]
        low[active[left]], high[active[~left]] = now[left], now[~left]
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.log(tail / q[active]) * tail / density
        done = np.abs(step) <= 1e-11 * np.minimum(1, top - now) + 4e-16 * np.abs(now)
        better = _between(_newton(now, step, top), low[active], high[active], top)
        y[active] = np.where(done, now + step, better)
        active = active[~done & (better != now)]
        if len(active) == 0:
            break
    return y


def _newton(y, step, top):
    """Newton: y + step; below a finite end the same step in log(top − y)."""
    if not np.isfinite(top):
        return y + step
    gap = top - y
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = step / gap
        near = top - gap * np.exp(-relative)
        return np.where(np.abs(relative) < 0.5, y - gap * np.expm1(-relative), near)


def _between(y, low, high, top):
    """Newton's y where it lies inside the bracket, else a point that does."""
    if np.isfinite(top):  # the middle of the logarithms of the distances to it
        nearest = max(np.spacing(abs(top)), 1e-300)
        far, near = (np.maximum(top - end, nearest) for end in (low, high))
        middle = top - np.sqrt(far) * np.sqrt(near)
    else:
        middle = np.where(np.isfinite(high), low / 2 + high / 2, low + 4)
    return np.where((y > low) & (y < high), y, middle)
