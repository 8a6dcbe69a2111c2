"""Whether the maximum of a likelihood exists: the separation of the classes.

The difference of two logits of row i, that of its class c less that of class j, is
``z'θ`` with one vector z for each *pair* (i, j). A direction D with ``z'D ≥ 0`` for all
pairs, and > 0 for one, never lowers the likelihood: there is no maximum (Albert &
Anderson 1984, https://doi.org/10.1093/biomet/71.1.1).

With ``u = w p_ij`` the gradient is ``g = Σ u z``, and the information has
``D'HD ≤ Σ u (z'D)²``. For a direction D of separation, ``m = max z'D`` and Newton's
decrement δ² it follows that ``g'D ≤ δ²m``, hence ``u z'D ≤ δ²m`` for each pair:

1. Pairs with u much larger than δ² have ``z'D = 0``: D lies in the null space of their
   products ``Σ zz'``, which are sums over blocks. Most fits have none.
2. If all margins ``z'θ`` are positive, the classes are completely separated.
3. In that space a linear program over the other pairs decides: the largest ``Σ z'D``
   with ``z'D ≥ 0`` and |D| ≤ 1 is 0 or not (Konis 2007,
   https://ora.ox.ac.uk/objects/uuid:8f9ee0d0-d78e-4101-9ab4-f9cbceed2a2a).
"""

import numpy as np
from scipy import linalg
from scipy.optimize import linprog

from ._likelihood import add_products, own_class, second_derivatives, softmax
from ._newton import climb, unit_diagonal

_EPS = np.finfo(float).eps
# Losses below this share of the largest gain are rounding: vertices have ten digits
_NO_LOSS = 1e-9
_MUCH_LARGER = 1e3  # u over δ² from which a pair has z'D = 0
_LOOSE, _MORE_STEPS = 1e-12, 5  # δ² of a row at which so many steps decide pairs
_NO_PRODUCT = 1e-10  # share of the largest eigenvalue of products that is rounding
_NO_GAIN = 1e-6  # sum of the program's gains, of rows of length 1, that is 0
# Coordinates of a pair below this share of the row's length are rounding
_ROUNDING = 1e-11


def separation_of(objective, end):
    """The kind of separation of the classes at the end of a climb, or None."""
    space, bound = _undecided(objective, end)
    if space.shape[1] and end.step.decrement2 > _LOOSE * objective.rows.total:
        end = climb(objective, end.point, max_iter=_MORE_STEPS)
        space, bound = _undecided(objective, end)
    if not space.shape[1]:
        return None
    rows, coding = objective.rows, objective.coding
    B = objective.coordinates.parameters(end.point.theta)
    if min(rows.map(_smallest_margin, coding, B)) > 0:
        return "complete"
    axes = [objective.coordinates.parameters(axis) for axis in space.T]
    scale = objective.coordinates.scale[: rows.n_features]
    pairs = np.vstack(rows.map(_outside, coding, B, bound, axes, scale))
    return "quasi-complete" if _has_direction(np.unique(pairs, axis=0)) else None


def _undecided(objective, end):
    """A basis of the θ without products of pairs with u ≥ bound, and that bound."""
    bound = _MUCH_LARGER * max(end.step.decrement2, _EPS * objective.rows.total)
    products = objective.sums(_interior, end.point.theta, bound)
    G = objective.coordinates.by_theta(products)
    # products of directions that are rounding
    G[np.abs(G) <= (1e3 * len(G) * _EPS) ** 2 * np.abs(G).max()] = 0
    G, root = unit_diagonal(G)
    return linalg.null_space(G, rcond=_NO_PRODUCT) / root[:, None], bound


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
    return bool(margins.min() >= -_NO_LOSS * margins.max())


# Functions of the rows of a block -----------------------------------------------------


def _smallest_margin(block, coding, B):
    """Smallest logit of a row's class less another one."""
    least = np.inf
    for rows, codes, *_ in coding.parts(block):
        F, own = coding.logits(rows, B), own_class(codes)
        least = np.delete(F.take(own) - F, own).min(initial=least)
    return least


def _interior(block, coding, B, bound):
    """``Σ zz'`` of the pairs with u ≥ bound, by the columns of B."""
    P, (k, m) = block.X.shape[1], np.triu_indices(len(coding.T), 1)
    S = np.zeros((len(k), P + 1, P + 1))
    for rows, codes, weight, offset in coding.parts(block):
        large, _ = _split(coding, rows, codes, weight, offset, B, bound)
        at_k, at_m = codes == k[:, None], codes == m[:, None]
        V = at_k & large[m] | at_m & large[k]
        add_products(S, rows, V.astype(float))
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
