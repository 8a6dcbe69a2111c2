"""Tails of a quadratic form by a contour integral through the saddlepoint (section 3).

The functions take the weights and slopes of a form S with variance about 1 and without
offset, and thresholds that are not below its mean: a lower tail is the upper tail of
−S.
"""

import numpy as np
from scipy.special import ndtri

_BENDS = np.array([0.0, 0.6, -0.6])  # κ; |κ| < 1, or e^{b²s²/2} would not fall
_UNDERFLOW = -800.0  # logarithm of a probability that is 0
_FALL = 38.0  # the path ends where the integrand is e^−38 of its value at the saddle
_STEPS = np.geomspace(0.75, 120.0, 42)  # values of u that may end the path
# Nodes per unit of u: random forms of 1 to 30 terms have relative errors of 1e-13, and
# half of the nodes were enough for all of 9000 sets of thresholds
_NODES_PER_UNIT = 24
_PROMISE = 1e-8  # a larger relative error is refused
_SMALL = 1e-12  # absolute error that is always allowed
_AT_END = 1e-15  # share of the end of a bounded support that is rounding: tails are 0
_CURVED = 5e-3  # least |λ| for which b²/(4λ) is added to y (see _Integrand)
_AT_ONCE = 2**11  # terms times thresholds, so that the nodes stay in the cache
_MOST_STEPS = 200  # most steps of the search for a quantile; 8 are usual


def upper_tail(y, weights, slopes, *, density=False):
    """``P(S > y)`` and the density at y, each of shape (len(y),).

    ``density=True`` follows the path until the density's integrand has fallen as well.
    """
    answers = np.zeros((2, len(y)))
    answers[:, np.isnan(y)] = np.nan
    inside = np.flatnonzero(y < _upper_end(weights, slopes) * (1 - _AT_END))
    blocks = 1 + len(inside) * (1 + len(weights)) // _AT_ONCE
    for at in np.array_split(inside, blocks):
        if len(at):
            answers[:, at] = _integrals(_Integrand(weights, slopes, y[at]), density)
    return answers


def _upper_end(weights, slopes):
    """``−Σ b_j²/(4λ_j)``, which S cannot exceed where all λ are negative, else ∞."""
    return -np.sum(slopes**2 / (4 * weights)) if np.all(weights < 0) else np.inf


class _Integrand:
    """``exp(K(s) − sy)/s`` for every threshold y.

    Near the end of a bounded support s is large, and −sy nearly cancels the sum of
    ``−s b²/(4λ)`` in ``b²s²/(2D) = (b²/4λ)(s/D − s)``. Therefore ``Σ b²/(4λ)`` is added
    to y once, over all λ that are not too small.
    """

    def __init__(self, weights, slopes, y):
        self.weights, self.slopes = weights, slopes
        self.curved = np.abs(weights) >= _CURVED
        safe = np.where(self.curved, weights, 1.0)
        self.vertices = np.where(self.curved, slopes**2 / (4 * safe), 0.0)
        self.distance = y + self.vertices.sum()  # y + Σ b²/(4λ), curved terms

    def exponent(self, s):
        """``K(s) − sy − log s``; one y for every row of s."""
        column = s[..., None]
        D = 1 - 2 * self.weights * column  # log D is principal: no cut is crossed
        # (b²/4λ)(s/D) of a curved term, whose −(b²/4λ)s is part of −s·distance
        half = np.where(self.curved, self.vertices, self.slopes**2 * column / 2)
        terms = np.sum(half * column / D - np.log(D) / 2, axis=-1)
        distance = self.distance.reshape((-1,) + (1,) * (s.ndim - 1))
        return terms - s * distance - np.log(s)

    def derivative(self, s):
        """Derivative of the exponent at real s, one for each threshold."""
        column = s[:, None]
        D = 1 - 2 * self.weights * column
        # d/ds [b²s²/(2D) − ½ log D] = b²s(1 − λs)/D² + λ/D,  d/ds (s/D) = 1/D²
        flat = self.slopes**2 * column * (1 - self.weights * column)
        terms = np.where(self.curved, self.vertices, flat) / D**2 + self.weights / D
        return terms.sum(axis=1) - self.distance - 1 / s

    def width(self, s):
        """One over the root of the exponent's second derivative, at real s."""
        # K″ = Σ [2λ²/D² + b²/D³] and (−log s)″ = 1/s²: width = s/√(s²K″ + 1)
        D = 1 - 2 * self.weights * s[:, None]
        second = (2 * self.weights**2 + self.slopes**2 / D) * (s[:, None] / D) ** 2
        return s / np.sqrt(second.sum(axis=1) + 1)

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def saddle(self):
        """Minimum of the exponent over real s > 0, where it is convex."""
        # v = log(s/(1 − s/s₁)) with the branch point s₁: s = 1/(e^−v + 1/s₁). At the
        # mean of a form of variance 1 s is near 1, and larger farther out: v > −3
        pole = 2 * max(self.weights.max(initial=0.0), 0.0)
        low = np.full(len(self.distance), -3.0)
        high = np.full(len(self.distance), 230.0)
        for _ in range(34):
            middle = (low + high) / 2
            falling = self.derivative(1 / (np.exp(-middle) + pole)) < 0
            low, high = np.where(falling, middle, low), np.where(falling, high, middle)
        return 1 / (np.exp(-low) + pole)

    def later_rise(self, s):
        """Bound of the rise of log |integrand| on the vertical line above s."""
        # Upwards Re(s²/D) = (A/|D|² − 2 + A)/(4λ²), A = Re D, rises only if A < 0, and
        # b²/2 of it by at most (b²/8λ²)(−A/|D|²)
        D = 1 - 2 * self.weights * s[..., None]
        safe = np.where(self.weights == 0, 1.0, self.weights)
        ratio = self.slopes / (safe * np.abs(D))
        return np.sum(ratio**2 / 8 * np.maximum(-D.real, 0), axis=-1)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _integrals(integrand, density):
    """The contour integral with and without its factor 1/s."""
    r = integrand.saddle()
    top, width = integrand.exponent(r), integrand.width(r)
    bend, end = _path(integrand, r, width, top, density)
    nodes = 2 * max(int(np.ceil(_NODES_PER_UNIT * np.nan_to_num(end).max() / 2)), 1)
    # log of w e^top/π, see _sums; the density has no factor 1/s, about 1/r
    scale = top + np.log(width / np.pi) + np.array([np.zeros_like(r), np.log(r)])
    fine, coarse = _sums(integrand, r, width, bend, top, end / nodes, nodes)
    answers = np.where(scale < _UNDERFLOW, 0.0, np.exp(scale) * fine)
    change = np.abs(fine - coarse)[int(density)] / np.abs(fine[int(density)])
    if _is_right(answers[0], change):
        return np.vstack([np.clip(answers[0], 0, 1), answers[1]])
    raise ValueError(
        f"weights and slopes must give tails to {_PROMISE:g}, got a contour integral "
        f"that changes by {np.max(change):.1g} of its value when its step is halved; "
        "leave out the terms far below the deviation of the form"
    )


def _sums(integrand, r, width, bend, top, step, nodes):
    """Trapezoidal sums of both integrals over all nodes and over every second one."""
    s, slope = _points(r, width, bend, step[:, None] * np.arange(nodes + 1))
    # s(−u) is the conjugate of s(u), so that twice the real part of one half is enough:
    # (1/2πi) ∫ e^{K−sy}/s ds = (w e^top/π) ∫₀^∞ Re[e^{K−sy−log s−top} s′/(iw)] du
    values = np.exp(integrand.exponent(s) - top[:, None]) * slope
    values[:, 0] /= 2
    values = np.array([values.real, (values * s / r[:, None]).real])
    return step * values.sum(axis=2), 2 * step * values[:, :, ::2].sum(axis=2)


def _points(r, width, bend, u):
    """``s(u) = r + w (i sinh u + κ(cosh u − 1))`` and ``s′(u)/(iw)``."""
    r, width, bend = r[:, None], width[:, None], bend[:, None]
    s = r + width * (1j * np.sinh(u) + bend * (np.cosh(u) - 1))
    return s, np.cosh(u) - 1j * bend * np.sinh(u)


def _path(integrand, r, width, top, density):
    """The bend κ whose integrand falls first, and the u at which it has fallen."""
    ends = []
    for bend in _BENDS:
        s, slope = _points(r, width, np.full(len(r), bend), _STEPS)
        height = integrand.exponent(s).real - top[:, None] + np.log(np.abs(slope))
        height += integrand.later_rise(s) + density * np.log(np.abs(s) / r[:, None])
        fallen = height < -_FALL
        ends.append(np.where(fallen.any(axis=1), _STEPS[fallen.argmax(axis=1)], np.inf))
    end = np.min(ends, axis=0)
    return _BENDS[np.argmin(ends, axis=0)], np.where(np.isfinite(end), end, np.nan)


def _is_right(tail, change) -> bool:
    """Whether half of the nodes give the same result."""
    # doubling the nodes squares the error; NaN, from an overflow, is refused
    right = (change**2 <= _PROMISE) & (tail >= -_PROMISE) & (tail <= 1 + _PROMISE)
    # far out in a tail an absolute error of 1e-12 is enough
    return bool(np.all(right | (np.abs(tail * change) <= _SMALL) | (tail == 0)))


def upper_quantile(q, weights, slopes):
    """The y with ``P(S > y) = q`` on the upper side of the mean, of shape (len(q),).

    Newton's method on ``log P(S > y)`` for all q at once; a step out of its bracket is
    replaced by the middle of the bracket.
    """
    mean, top = weights.sum(), _upper_end(weights, slopes)
    low, high = np.full(len(q), mean), np.full(len(q), top)
    goal = np.where(q > 0, q, 0.5)
    y = _between(mean + np.maximum(-ndtri(goal), 0), low, high)
    for _ in range(_MOST_STEPS):
        tail, density = upper_tail(y, weights, slopes)
        low, high = np.where(tail > goal, y, low), np.where(tail > goal, high, y)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # d log P/dy = −f/P: the root of its tangent is y + log(P/q) P/f
            step = np.log(tail / goal) * tail / density
        near = np.abs(step) <= 1e-12 * np.minimum(1, top - y) + 4e-16 * np.abs(y)
        before, y = y, np.where(near, y + step, _between(y + step, low, high))
        if np.all(near | (y == before)):
            break
    return np.where(q > 0, y, top)


def _between(y, low, high):
    """Newton's y if it lies inside the bracket, else another point inside."""
    # without an upper end of the bracket, move by four deviations
    middle = np.where(np.isfinite(high), low / 2 + high / 2, low + 4)
    return np.where((y > low) & (y < high), y, middle)
