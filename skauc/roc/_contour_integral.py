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
# u at which the integrand is looked at; sinh 700 = 5e303 is near the end of float64
_STEPS = np.concatenate([np.arange(0.5, 6.5, 0.25), np.geomspace(7, 700, 30)])
_STEPS_AT_ONCE = 10
# Sixty random forms of 1 to 29 terms, weights and slopes over some powers of ten, take
# 32 to 128 nodes: many more are a sign that rounding keeps two answers apart
_FIRST_NODES, _MOST_NODES, _AGREEMENT = 16, 4096, 1e-12
_PROMISE = 1e-8  # a larger relative change is an error
_BLOCK = 512  # thresholds at once, so that the nodes stay in cache
_KNOTS = 33  # quantiles that start the search for many others


def centred_cumulant(s, weights, slopes):
    """``Σ_j [b_j²s²/(2D_j) − ½ log D_j]``; principal logarithms, no cut is crossed."""
    # In units of a power of 2, which rounds nothing, so that no b² overflows.
    # K does not change under λ/c, b/c, cs
    largest = max(np.abs(part).max(initial=0.0) for part in (weights, slopes))
    k = min(int(np.frexp(largest)[1]), 1000)  # 2¹⁰²⁴ would overflow
    s = np.asarray(s) * 2.0**k
    form = _Form.of(np.ldexp(weights, -k), np.ldexp(slopes, -k))
    return form.cumulant_less(s.ravel(), form.linear(np.zeros(s.size))).reshape(s.shape)


def upper_tail(y, weights, slopes, order=0, rest=0.0):
    """``P(S > y + rest)`` and density of a form of variance about 1, y ≥ its mean.

    ``rest`` holds digits that y has no room for. ``order`` 1 follows the path until the
    density's integrand has fallen as well.
    """
    answers = np.zeros((2, len(y)))
    answers[:, np.isnan(y)] = np.nan
    form = _Form.of(weights, slopes)
    linear = form.linear(y, rest)
    inside = np.isfinite(y)
    if np.all(form.weights < 0):  # below the upper end of the support
        # S ≤ −Σ b_j²/(4λ_j)
        inside &= linear[:, -1] < 0
    inside = np.flatnonzero(inside)
    for at in np.array_split(inside, 1 + len(inside) // _BLOCK):
        if len(at) > 0:
            answers[:, at] = _integrals(form, linear[at], order)
    return answers


@dataclass(frozen=True, eq=False)
class _Form:
    """The form, with exact partial sums of ``b_j²/(4λ_j)``; largest |λ| first.

    ``b²s²/(2D) = (b²/4λ)(s/D − s)``: from ``|2λs| = 1`` on, the two sides of the path
    cancel in y and the linear part ``−(b²/4λ)s`` unless these are added before they are
    rounded. So K(s) − sy is a sum of terms that do not cancel, less s times

        y + Σ_{|2λ_js| > 1} b_j²/(4λ_j).
    """

    weights: np.ndarray
    slopes: np.ndarray
    drops: np.ndarray  # of shape (2, P + 1): the sums, and what their rounding lost

    @classmethod
    def of(cls, weights, slopes):
        """Sort the terms and add them up."""
        order = np.argsort(-np.abs(weights), kind="stable")
        weights, slopes = weights[order], slopes[order]
        return cls(weights, slopes, _cumulative(*_quarter_ratio(slopes, weights)))

    def linear(self, y, rest=0.0):
        """``y + Σ_{j<k} b_j²/(4λ_j)`` for k = 0 … P, of shape (len(y), P + 1)."""
        high, low = self.drops
        total, lost = two_sum(y[:, None], high)
        return total + (lost + (low + np.broadcast_to(rest, y.shape)[:, None]))

    def cumulant_less(self, s, linear):
        """``K(s) − sy``; one y for every row of s."""
        ends = linear.T.reshape((-1, len(linear)) + (1,) * (s.ndim - 1))
        total = np.zeros_like(s, dtype=np.result_type(s, float))
        size, slope_of_s = np.abs(s), ends[0]
        largest = size.max(initial=0.0)
        terms = zip(self.weights, self.slopes, ends[1:], strict=True)
        for weight, slope, end in terms:
            # + b²s²/(2D) − ½ log D; where |2λs| > 1 only (b²/4λ)(s/D) of the first,
            # whose rest −(b²/4λ)s stands in the partial sum that multiplies s
            D = 1 - 2 * weight * s
            total -= 0.5 * np.log(D)
            if slope == 0:
                continue
            half = 0.5 * slope * slope
            if not 2 * abs(weight) * largest > 1:  # 0·∞ is not
                total += half * s * (s / D)
                continue
            far = 2 * abs(weight) * size > 1
            total += np.where(far, half / (2 * weight), half * s) * (s / D)
            slope_of_s = np.where(far, end, slope_of_s)
        return total - s * slope_of_s

    def exponent(self, s, linear):
        """``K(s) − sy − log s``."""
        # The 1/s of the integrand as −log s
        return self.cumulant_less(s, linear) - np.log(s)

    def derivative(self, s, linear):
        """Of the exponent, at real s."""
        # d/ds [b²s²/(2D) − ½ log D] = b² s(1 − λs)/D² + λ/D
        # d/ds [(b²/4λ)(s/D)] = (b²/4λ)/D²
        s = s[:, None]
        D = 1 - 2 * self.weights * s
        far = 2 * np.abs(self.weights) * s > 1
        curved = np.where(far, 1 / (4 * self.weights), s * (1 - self.weights * s))
        parts = (self.weights + self.slopes**2 * curved / D) / D
        end = np.take_along_axis(linear, far.sum(axis=1, keepdims=True), axis=1)
        return parts.sum(axis=1) - (end + 1 / s)[:, 0]

    def width(self, s):
        """One over the root of the exponent's second derivative, at real s."""
        # K″ = Σ [2λ²/D² + b²/D³] and (−log s)″ = 1/s²: width = s/√(s²K″ + 1)
        D = 1 - 2 * np.multiply.outer(s, self.weights)
        ratio = s[:, None] / D  # squares of s overflow next to an end
        second = (2 * self.weights**2 + self.slopes**2 / D) * ratio**2
        return s / np.sqrt(second.sum(axis=1) + 1)


@np.errstate(invalid="ignore", over="ignore")
def two_sum(a, b):
    """Sum and its rounding error (Knuth); the error of an infinite sum is 0."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(lost), lost, 0.0)


def _two_product(a, b):
    """Product and its rounding error (Dekker)."""

    def split(x):
        high = 134217729.0 * x  # 2²⁷ + 1
        high = high - (high - x)
        return high, x - high

    # Halves of 26 bits each, whose four products are exact
    product, (a1, a2), (b1, b2) = a * b, split(a), split(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


@np.errstate(all="ignore")  # where it overflows 1/λ is beyond every s
def _quarter_ratio(b, weight):
    """``b²/(4λ)`` and its rounding error."""
    # b²/(4λ) = high + error with error = (b² − high·4λ)/(4λ), both products kept whole
    high = np.where(b == 0, 0.0, b * b / (4 * weight))
    (square, low), (back, lower) = _two_product(b, b), _two_product(high, 4 * weight)
    error = ((square - back) + (low - lower)) / (4 * weight)
    return high, np.where(np.isfinite(error), error, 0.0)


@np.errstate(invalid="ignore")  # ∞ − ∞, beyond every s as well
def _cumulative(high, low):
    """Sums of the first 0, 1, … terms and their rounding errors."""
    sums = np.zeros((2, len(high) + 1))
    for j, (term, error) in enumerate(zip(high, low, strict=True)):
        total, lost = two_sum(sums[0, j], term)
        sums[:, j + 1] = two_sum(total, sums[1, j] + lost + error)
    return sums


def _integrals(form, linear, order):
    """The contour integral, and the one without its factor 1/s."""
    r, answers = _saddle(form, linear), np.zeros((2, len(linear)))
    # s(−u) is the conjugate of s(u), so that
    # (1/2πi) ∫ e^{K − sy}/s ds = (w e^top/π) ∫₀^∞ Re[e^{K − sy − log s − top} s′/(iw)]
    # du;
    # the density's integrand has the factor s more: s/r there, log r in the scale
    top, width = form.exponent(r, linear), form.width(r)
    # next to an end the probability is small, the density perhaps not
    scale = top + np.log(width) + np.array([np.zeros_like(r), np.log(r)])
    there = scale.max(axis=0) > _UNDERFLOW
    if there.any():
        r, width, linear, top = (x[there] for x in (r, width, linear, top))

        def exponent(s):
            return form.exponent(s, linear) - top[:, None]

        path, end = _best_path(form, r, width, exponent, order)
        sums, change = _trapezoid(path, end, exponent, order)
        answers[:, there] = np.exp(scale[:, there]) * sums / np.pi
        _check(answers[:, there], change)
        answers[0] = np.clip(answers[0], 0, 1)
    return answers


def _check(answers, change):
    """No wrong number leaves: the last doubling must have changed nothing."""
    tail = answers[0]
    # Comparisons with NaN are False: a lost integral is refused as well
    right = (change <= _PROMISE) & (tail >= -_PROMISE) & (tail <= 1 + _PROMISE)
    if not np.all(right):
        raise ValueError(
            f"weights and slopes must give tails to {_PROMISE:g}, got a contour "
            f"integral that changes by {np.max(change):.1g} of its value when its step "
            "is halved; leave out the terms far below the deviation of the form"
        )


def _saddle(form, linear):
    """Minimum of the exponent, which is convex, over real s > 0.

    The root of its derivative is bracketed on the scale ``v = log(s/(1 − s/s₁))``, s₁
    the branch point; next to an end of the support s is one over the distance to it. 34
    halvings are enough for the start of a path.
    """
    # v = log(s/(1 − s/s₁)) ⇔ s = 1/(e^−v + 1/s₁). At the mean of a form of variance 1
    # the saddle is near s = 1, farther out s is larger: v > −3; 703/2³⁴ = 4e-8 is left
    pole = 2 * max(form.weights.max(), 0.0)  # 1/s₁
    low, high = np.full(len(linear), -3.0), np.full(len(linear), 700.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(34):
            middle = (low + high) / 2
            # not falling where s rounds to the branch point
            falling = form.derivative(1 / (np.exp(-middle) + pole), linear) < 0
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
            # log |integrand · ds/du| and a bound on what follows
            height = exponent(s).real + np.log(np.cosh(steps))
            height += _later_rise(s, form) + order * np.log(np.abs(s) / r[:, None])
            fallen = height < -_FALL
            first = np.where(fallen.any(axis=1), steps[fallen.argmax(axis=1)], np.inf)
            better = first < np.where(looking, np.inf, end)
            bend, end = np.where(better, candidate, bend), np.where(better, first, end)
            looking &= ~better
        if not looking.any():
            break
    return _Path(r, width, bend), np.where(looking, np.nan, end)


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
            # (b²/2) Re s²/D gains at most (b²/2)(−A/|D|²)/(4λ²) until |D| is ∞
            rise += ratio**2 / 8 * np.maximum(-D.real, 0)
    return rise


def _trapezoid(path, end, exponent, order):
    """``∫₀^end Re(exp(…) s′/(iw)) du`` without and with the factor s/r.

    The nodes are doubled until two answers agree for every threshold. Also returns by
    how much of its value the last doubling changed the one asked for: rounding at the
    nodes shows there as well.
    """
    nodes = _FIRST_NODES

    def sums(fractions):
        u = end[:, None] * fractions
        s = path(u)
        terms = np.exp(exponent(s)) * path.speed(u)
        dense = terms * (s / path.start[:, None])
        return np.array([terms.real.sum(axis=1), dense.real.sum(axis=1)])

    # At u = 0 the integrand is 1 and counts half; at the end it is e^−38
    total = 0.5 + sums(np.arange(1, nodes + 1) / nodes)
    while True:
        before = total * end / nodes
        # The nodes between those there are: no integrand is computed twice
        total = total + sums((np.arange(nodes) + 0.5) / nodes)
        nodes *= 2
        now = total * end / nodes
        change = np.abs(now[order] - before[order]) / np.abs(now[order])
        if np.all(change <= _AGREEMENT) or nodes >= _MOST_NODES:
            return now, change


def upper_quantile(q, weights, slopes):
    """The y ≥ mean with ``P(S > y) = q``, in three parts; q ≤ ``P(S > mean)``.

    The first two are the end of a bounded support, else 0; the third is measured from
    there, so that nothing cancels next to it.

    Newton's method on ``log P(S > y)`` inside a bracket; below a finite end in the
    logarithm of the distance to it, of which ``log P`` is nearly linear there. Many
    quantiles start from a curve through a few.
    """
    end = -_Form.of(weights, slopes).drops[:, -1]
    bounded = np.all(weights < 0) and np.isfinite(end[0])
    end, top = (end, 0.0) if bounded else (np.zeros(2), np.inf)
    mean = weights.sum() - end[0]
    # Φ⁻¹(0) = −∞ could not start a curve; q = 0 has its answer, the top
    z = -ndtri(np.maximum(q, 1e-300))
    if len(q) > 2 * _KNOTS and z.min() < z.max():
        knots = np.linspace(z.min(), z.max(), _KNOTS)
        *_, few = upper_quantile(ndtr(-knots), weights, slopes)
        y = PchipInterpolator(knots, few)(z)
    else:
        y = mean + np.maximum(z, 0.0)
    y = np.where(q == 0, top, np.where(y < top, y, mean))
    low, high = np.full(len(q), mean), np.full(len(q), top)
    active = np.flatnonzero(q > 0)
    for _ in range(200):
        now = y[active]
        whole, lost = two_sum(now, end[0])
        tail, density = upper_tail(whole, weights, slopes, rest=lost + end[1])
        left = tail > q[active]
        low[active[left]], high[active[~left]] = now[left], now[~left]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # d log P/dy = −f/P:  y − (log P − log q)/(−f/P) = y + log(P/q) P/f
            step = np.log(tail / q[active]) * tail / density
        # 1e-11 of a deviation or of the distance to a near end, or y's own rounding
        tolerance = 1e-11 * np.minimum(1, top - now) + 4e-16 * np.abs(now)
        done = np.abs(step) <= tolerance
        better = _between(_newton(now, step, top), low[active], high[active], top)
        y[active] = np.where(done, now + step, better)
        active = active[~done & (better != now)]
        if len(active) == 0:
            break
    return *end, y


def _newton(y, step, top):
    """Newton: y + step; below an end at 0 the same step in log(−y)."""
    if not np.isfinite(top):
        return y + step
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # x = log(−y): dx = dy/y
        return y * np.exp(step / y)


def _between(y, low, high, top):
    """Newton's y where it lies inside the bracket, else a point that does."""
    if np.isfinite(top):  # the middle of the logarithms of the distances to it
        far, near = (np.maximum(-end, 1e-300) for end in (low, high))
        middle = -np.sqrt(far) * np.sqrt(near)
    else:
        # Until y is too far, four deviations farther each time
        middle = np.where(np.isfinite(high), low / 2 + high / 2, low + 4)
    return np.where((y > low) & (y < high), y, middle)
