"""Whether the maximum of a likelihood exists: the separation of the classes.

The difference of two logits of row i, that of its class c less that of class j, is
``z'θ`` with one vector z for each *pair* (i, j). A direction D with ``z'D ≥ 0`` for all
pairs, and > 0 for one, never lowers the likelihood: there is no maximum (Albert &
Anderson 1984, https://doi.org/10.1093/biomet/71.1.1).

**Along a step.** Newton's steps towards infinity are such a direction up to rounding.

**Exactly.** With ``u = w p_ij`` the gradient is ``g = Σ u z``, and the information has
``D'HD ≤ Σ u (z'D)²``. For a direction D of separation, ``m = max z'D`` and Newton's
decrement δ² it follows that ``g'D ≤ δ²m``, hence ``u z'D ≤ δ²m`` for each pair:

1. With equal probabilities at θ = 0 the information H₀ has ``D'H₀D ≥ min(w) m²/2K``.
   So H, relative to H₀, has an eigenvalue below ``2Kδ²/min(w)``. Most fits have none.
2. Pairs with u much larger than δ² have ``z'D = 0``: D lies in the null space of their
   products ``Σ zz'``, which are sums over blocks. Most of the other fits have none.
3. In that space a linear program over the other pairs decides: the largest ``Σ z'D``
   with ``z'D ≥ 0`` and |D| ≤ 1 is 0 or not (Konis 2007,
   https://ora.ox.ac.uk/objects/uuid:8f9ee0d0-d78e-4101-9ab4-f9cbceed2a2a).
"""

from contextlib import suppress
from itertools import combinations

import numpy as np
from scipy import linalg
from scipy.optimize import linprog

from ._likelihood import add_products, own_class, second_derivatives, softmax
from ._newton import spectrum, unit_diagonal

_EPS = np.finfo(float).eps
_TINY_GRADIENT = 1e-8
_LINEAR = 0.01  # quadratic convergence squares the decrement
# Change of margins per step that shows separation: about 1 for separated classes, 0 at
# a maximum
_STANDSTILL = 0.1
# Losses below this share of the largest gain along a direction are rounding. For a
# feature with a value 1e10 times the others rounding is larger.
_NO_LOSS = 1e-11
# The same for the solution of a linear program, whose vertices have ten digits
_NO_LOSS_OF_PROGRAM = 1e-9
_MUCH_LARGER = 1e3  # u over δ² from which a pair has z'D = 0
_NO_GAIN = 1e-6  # sum of the program's gains, of rows of length 1, that is 0
# Coordinates of a pair below this share of the row's length are rounding
_ROUNDING = 1e-11


def separation_along(objective, point, step, previous):
    """The kind of separation that all pairs prove along a step, or None.

    It is checked if the mean gradient is tiny and the decrement, whose previous value
    is given, still falls linearly: near a maximum it falls quadratically, towards
    infinity by e per step.
    If all margins of θ are positive, the classes are completely separated; if some
    margins along the step grow and none falls, quasi-completely. Offsets do not matter.
    """
    if step.gradient > _TINY_GRADIENT or step.decrement2 <= _LINEAR * previous:
        return None
    loss, gain = _margins(objective, step.d)
    if max(gain, -loss) < _STANDSTILL:  # there is a maximum
        return None
    if _margins(objective, point.theta)[0] > 0:
        return "complete"
    return "quasi-complete" if loss >= -_NO_LOSS * gain else None


def _margins(objective, theta):
    """Smallest and largest margin of θ, over all pairs."""
    B = objective.coordinates.parameters(theta)
    found = objective.rows.map(_margins_of_block, objective.coding, B)
    least, largest = zip(*found, strict=True)
    return min(least), max(largest)


def exact_separation(objective, start, point, decrement2):
    """The kind of separation of the classes at the end of a climb from θ = 0, or None.

    Parameters
    ----------
    objective : Objective
    start, point : Point
        At θ = 0, and at the end.
    decrement2 : float
        Newton's squared decrement at the end, or before a last step.
    """
    rows, coding = objective.rows, objective.coding
    bound = _MUCH_LARGER * max(decrement2, _EPS * rows.total)
    if rows.offset is None and _is_well_informed(objective, start, point, bound):
        return None
    products = objective.sums(_interior, point.theta, bound)
    # a basis of the θ without products
    G, root = unit_diagonal(objective.coordinates.by_theta(products))
    space = spectrum(G)[2] / root[:, None]
    if not space.shape[1]:
        return None
    B = objective.coordinates.parameters(point.theta)
    axes = [objective.coordinates.parameters(axis) for axis in space.T]
    scale = objective.coordinates.scale[: rows.n_features]
    pairs = np.vstack(rows.map(_outside, coding, B, bound, axes, scale))
    if not _has_direction(np.unique(pairs, axis=0)):
        return None
    return "complete" if _margins(objective, point.theta)[0] > 0 else "quasi-complete"


def _is_well_informed(objective, start, point, bound):
    """Whether no direction has lost its information since equal probabilities."""
    rows, K = objective.rows, len(objective.coding.T)
    lightest = 1.0 if rows.weight is None else rows.weight.min()
    with suppress(linalg.LinAlgError):  # the information at 0 is singular in rounding
        values = linalg.eigvalsh(point.information, start.information)
        return values[0] * lightest > 2 * K * bound
    return False


def _has_direction(Z):
    """Whether the largest ``Σ z'd`` with ``Zd ≥ 0`` and |d| ≤ 1 is positive."""
    length = np.linalg.norm(Z, axis=1)
    Z = Z[length > 0] / length[length > 0][:, None]
    if not len(Z):
        return False
    found = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1))
    if found.x is None or -found.fun <= _NO_GAIN:
        return False
    margins = Z @ found.x
    return bool(margins.min() >= -_NO_LOSS_OF_PROGRAM * margins.max())


# Functions of the rows of a block -----------------------------------------------------


def _margins_of_block(block, coding, B):
    """Smallest and largest logit of a row's class less another one."""
    least, largest = np.inf, -np.inf
    for rows, codes, *_ in coding.parts(block):
        F, own = coding.logits(rows, B), own_class(codes)
        margins = np.delete(F.take(own) - F, own)
        least, largest = margins.min(initial=least), margins.max(initial=largest)
    return least, largest


def _interior(block, coding, B, bound):
    """``Σ zz'`` of the pairs with u ≥ bound, by the columns of B."""
    K, P = len(coding.T), block.X.shape[1]
    S = np.zeros((K * (K - 1) // 2, P + 1, P + 1))
    for rows, codes, weight, offset in coding.parts(block):
        large, _ = _split(coding, rows, codes, weight, offset, B, bound)
        scaled = np.empty_like(rows, order="C")
        for S_km, (k, m) in zip(S, combinations(range(K), 2), strict=True):
            v = (codes == k) & large[m] | (codes == m) & large[k]
            add_products(S_km, rows, v.astype(float), scaled)
    return second_derivatives(coding.T, S, len(B))


def _split(coding, rows, codes, weight, offset, B, bound):
    """Of shape (K, n): whether u of a pair is large, and whether it is not."""
    p, _ = softmax(coding.logits(rows, B, offset), codes)
    large = weight * p >= bound
    outside = ~large
    outside.put(own_class(codes), False)
    return large, outside


def _outside(block, coding, B, bound, axes, scale):
    """Pairs with u < bound: z along the axes, without rounding."""
    found = [np.zeros((0, len(axes)))]
    for rows, codes, weight, offset in coding.parts(block):
        _, outside = _split(coding, rows, codes, weight, offset, B, bound)
        j, i = np.nonzero(outside)
        F = np.array([coding.logits(rows[i], axis) for axis in axes])
        pair = np.arange(len(i))
        z = (F[:, codes[i], pair] - F[:, j, pair]).T
        length = 1 + np.linalg.norm(rows[i] / scale, axis=1)
        z[np.abs(z) <= _ROUNDING * length[:, None]] = 0
        found.append(np.unique(z, axis=0))
    return np.vstack(found)
