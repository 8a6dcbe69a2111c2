"""Leverages where one curvature stands for those of all other rows, for many features.

With ``X̃ᵀ diag(f) X̃ = V diag(s) Vᵀ`` of the centred rows and their weights f, once for
all models, and a curvature w,

    q_i = x_iᵀ(w X̃ᵀ diag(f) X̃ + λI)⁻¹x_i = Σ_k u_ik²/(w s_k + λ),   u_i = Vᵀx_i.

Less the row's own part ``α_i = q_i/(1 − w f_i q_i)``, and with its own curvature ω_i
put in its place the leverage is ``h_i = α_i/(1 + ω_i α_i)``. An α_i that no few of the
other rows make is an average over all of them. The w that gives it has their degrees of
freedom,

    Σ_i w f_i α_i/(1 + w f_i α_i) = Σ_i ω_i α_i/(1 + ω_i α_i),

as random matrices have it (El Karoui, Bean, Bickel, Lim & Yu 2013,
https://doi.org/10.1073/pnas.1307842110). Some rows have their α_i from the squares
``u²``, and the others a power of their length that fits those of its size: O(n) a
model. The AUC of all is moved by what the sample says of that fit.

Rows that share what few have (a level of a category) are held by these few, whose
curvatures are alike: there the average is another one. Then some of the correlations
``u_iᵀ diag(s)⁻¹ u_j`` of rows are large and most are not, and the Hessian itself is
needed. So it is where many rows stand twice (as weights the copies are known), and
where a weak penalty crowds the rows: in this basis it is near a diagonal matrix, and
single precision is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.linalg import blas, lapack

from ..statistics._block_matrix import BlockMatrix
from ..statistics._moments import project_samples
from ..statistics._numerics import (
    RANK,
    SINGLE_FEATURES,
    TINY,
    block_rows,
    eigenvectors,
    is_even,
    parts_of,
)
from ._inverse_squares import InverseSquares, shares
from ._objective import ask_again
from ._pairs import difference_of_means, even_sample

# The AUC less that of all leverages, over its standard error, C from 1e-4 to 1e4, root
# mean square and worst of 2000 × 200, 5000 × 500 and 20 000 × 200, by shape and loss:
#                                   logistic, sq. hinge   squares     hinge
# normal, t(3), log-normal          .01, .03              .005, .02   .02, .04
# AR(.9), 30 common factors         .02, .08              .01, .03    .03, .09
# three scales                      .04, .09              .02, .04    .07, .17
# With weights .01, .03; few features of a large unit .08, .16. Six in a hundred
# positive: 2000 × 200 .2, .4; 5000 × 500 .08, .14. Of rows that are nearly
# separated (1000 × 500, C ≥ 1) the leverages themselves are not right: there the AUC is
# off by .015 to .05, of the squared hinge by .3, and here by .01 to .04.
_MANY_FEATURES, _MANY_ROWS = 100, 500  # a Hessian of fewer costs hardly more
_SOME_ROWS = 2000
# by size. Three scales, 5000 × 500: the AUC is off by .0002, with one part by .0014
_PARTS = 20
# Kurtosis of a row's correlations with others, mean over rows: normal, t(3) and rows of
# common factors 3, log-normal 5, mixtures of scales 3 to 7; categories with rare levels
# 14 to 42, rare zeros and ones 16
_KURTOSIS, _CORRELATED_ROWS = 8.0, 300
# Of all rows, those that are equal to another one, which holds them most, with a
# curvature of its own: as weights they are known. The AUC less that of all leverages,
# over its standard error, t(3) and three scales, 1000 × 100 and 2500 × 150, each root
# mean square: none .01 to .04, .09 .03 to .06, .27 .06 to .12, half .06 to .19
_COPIES = 0.1
_REGULAR = 1e-2  # of the mean eigenvalue: directions with less are not told by that
_SMALL = 1e-3  # of the mean square length: rows near the mean have hardly a leverage
_LEAST = 1e-5  # what the others must hold of a row: single precision
_CLOSE, _ROUNDS = 1e-3, 10  # of log w
# Of the sum of the eigenvalues, the least: turned rows are right to 1e-7 of their size.
# Their leverages give the AUC of those in double precision to 2e-5 (1000 × 500, 700 ×
# 500, 1500 × 600, 600 × 200; five kinds of data, C from .1 to 10⁴; worst .00004).
_DIGITS = 1e-6
# Of H, what rows may have that are not asked: .45 of 2000 × 1000 for C = 10⁴, .17 for
# C = 1. The AUC is that of all rows to 8e-6 (1000 × 500, 700 × 450, 1500 × 1000;
# normal, t(3), three scales; logistic and squared hinge, C from .001 to 1000).
_UNFELT = 0.01
_LOWEST = 30.0  # below the logarithm of the largest curvature
_NEARBY, _ROOT = 1e-2, 1e-5  # of log w: a first step, and what is near enough
_SECANTS = 10  # of 163 roots 145 took two to four


@dataclass(frozen=True, eq=False)
class Eigenrows:
    """What is kept of rows for all their models.

    Parameters
    ----------
    mean : ndarray of shape (P,)
        x̄, 0 where there is no intercept.
    unit : float
        The largest eigenvalue of ``X̃ᵀ diag(f) X̃``: of what follows, the unit.
    values : ndarray of shape (P,)
        s, 0 where the rows do not vary but for rounding.
    vectors : ndarray of shape (P, P)
        V, in single precision.
    rows, mass : ndarray of shape (m,)
        An even sample of the rows, and for how many rows each stands.
    squares : InverseSquares
        Of u² of the sample.
    turned : ndarray of shape (n, P) or None
        u of all rows over the root of ``unit``, in single precision, if they are few:
        half of the time of a product with the rows.
    size, part : ndarray of shape (n,)
        Logarithm of ``‖x̃‖²`` of every row, and among which of the sample it falls,
        from the smallest to the largest.
    """

    mean: np.ndarray
    unit: float
    values: np.ndarray
    vectors: np.ndarray
    rows: np.ndarray
    mass: np.ndarray
    squares: InverseSquares
    turned: np.ndarray | None
    size: np.ndarray
    part: np.ndarray

    @classmethod
    def of_rows(cls, X, positive, weight, centred) -> Eigenrows | None:
        """None if rows are held by few others."""
        P = X.shape[1]
        mean = np.asarray(weight @ X) / weight.sum() if centred else np.zeros(P)
        many = P >= SINGLE_FEATURES
        S, size = _scatter(X, mean, weight, np.float32 if many else float)
        if many and not is_even(S):
            del S
            S, size = _scatter(X, mean, weight)
        if not 0 < np.trace(S) < np.inf:
            return None
        values, vectors = eigenvectors(S)
        del S
        values = values.astype(float, copy=False)
        unit = float(values[-1])
        values = np.where(values > RANK * unit, values / unit, 0.0)
        # they are for leverages to five digits
        vectors = vectors.astype(np.float32, copy=False)
        rows, count, score = _spread_rows(X, positive, weight)
        if _share_of_copies(size, score) > _COPIES:
            return None
        few = len(positive) <= _SOME_ROWS
        asked = np.arange(len(positive)) if few else rows
        some = np.empty((len(asked), P), dtype=np.float32)
        for part in parts_of(len(asked), block_rows(P)):
            block = X[asked[part]]
            block -= mean
            block /= np.sqrt(unit)
            some[part] = block.astype(np.float32) @ vectors
            del block
        places = rows if few else np.arange(len(rows))
        of_rows, first = np.unique(rows, return_index=True)
        order = first[np.argsort(score[of_rows], kind="stable")]
        if not _kurtosis(some, places[order], values) < _KURTOSIS:
            return None
        squares = InverseSquares.of_rows(some, places, values)
        turned = some if few else None
        size = np.log(np.maximum(size, _SMALL * size.mean()))
        ends = np.quantile(size[rows], np.arange(1, _PARTS) / _PARTS)
        part = np.searchsorted(ends, size).astype(np.int8)
        mass = count / weight[rows]
        return cls(mean, unit, values, vectors, rows, mass, squares, turned, size, part)

    def without_a_row(self, curvature, weight, l2):
        """α of all rows from their length, and of the sample as it is.

        Parameters
        ----------
        curvature, weight : ndarray of shape (n,)
            ω and f.
        l2 : float
            λ.

        Returns
        -------
        tuple of ndarray of shape (n,) and (m,), or None
            None where rows have no curvature, or the penalty is too small beside
            directions that rounding has taken.
        """
        penalty, highest = l2 / self.unit, np.max(curvature / weight)
        if not 0 < highest < np.inf or not self._resolves(penalty, highest):
            return None
        w = curvature.sum() / weight.sum()
        if np.ptp(curvature / weight) == 0:
            some = self._alpha(w, penalty, weight)
            return self._by_size(some), some
        for _ in range(_ROUNDS):
            some = self._alpha(w, penalty, weight)
            every = self._by_size(some)
            before, w = w, self._as_free(curvature, weight, penalty, w, every, some)
            if w is None:
                return None
            if abs(np.log(w / before)) < _CLOSE:
                break
        some = self._alpha(w, penalty, weight)
        return self._by_size(some), some

    def along(self, y):
        """``Vy``."""
        return (self.vectors @ y.astype(np.float32)).astype(float)

    def against(self, v):
        """``Vᵀv``."""
        return (v.astype(np.float32) @ self.vectors).astype(float)

    def turns(self, w, l2):
        """Whether the turned rows have digits beside a mean curvature and a penalty."""
        if self.turned is None or not 0 < w < np.inf:
            return False
        least = self.values[0] + l2 / self.unit / w
        return least >= _DIGITS * self.values.sum()

    def scores_along(self, y):
        """``X̃Vy`` of the turned rows."""
        return np.sqrt(self.unit) * (self.turned @ y.astype(np.float32)).astype(float)

    def against_scores(self, g):
        """``VᵀX̃ᵀg``."""
        return np.sqrt(self.unit) * (g.astype(np.float32) @ self.turned).astype(float)

    def leverages_and_rest(self, slope, curvature, w, l2, free, gradient):
        """Of the Hessian itself, in the turned rows.

        Parameters
        ----------
        slope, curvature : ndarray of shape (n,)
            g and ω.
        w, l2 : float
            Mean curvature of a row, with which these rows :meth:`turns`; λ.
        free : bool
            Whether an intercept follows the others.
        gradient : ndarray of shape (P,)
            ``X̃ᵀg + λw``.

        Returns
        -------
        h, rest : ndarray of shape (n,), or None
            Of :class:`~skauc.leave_pair_out._inverse_root.InverseRoot`; None
            where rounding leaves no factor. 0 for h of rows that are not felt.
        """
        penalty, P = l2 / self.unit, len(self.values)
        # with the directions in these units H is I but for how ω varies
        unit = 1 / np.sqrt(w * self.values + penalty)
        G, mean = self.against(gradient) / np.sqrt(self.unit), np.zeros(P)
        if free:  # less the ω-weighted mean
            mean = curvature.astype(np.float32) @ self.turned / curvature.sum()
            G = G - slope.sum() * mean
        scale, mean = (x.astype(np.float32) for x in (unit, mean))
        most = np.maximum(curvature, np.abs(slope))
        felt, step = self.felt(most, l2), block_rows(P)
        parts = [felt[part] for part in parts_of(len(felt), step)]
        block = np.empty((min(step, len(felt)), P), dtype=np.float32)

        def some(rows):
            A = block[: len(rows)]
            np.take(self.turned, rows, axis=0, out=A, mode="clip")
            A -= mean
            A *= scale
            return A

        root = np.sqrt(curvature).astype(np.float32)
        H = np.zeros((P, P), dtype=np.float32, order="F")
        H.flat[:: P + 1] = penalty * unit**2
        for rows in parts:
            A = some(rows)
            A *= root[rows, None]
            H = blas.ssyrk(1.0, A.T, 1.0, H, lower=1, overwrite_c=1)
        H, failed = lapack.spotrf(H, lower=1, overwrite_a=1)
        if failed:
            return None
        # h_i = ‖L⁻¹a_i‖²
        h = np.zeros(len(curvature))
        for rows in parts:
            across = blas.strsm(1.0, H, some(rows).T, lower=1, overwrite_b=1)
            h[rows] = np.einsum("pn,pn->n", across, across)
        # a_iᵀH⁻¹G = (L⁻¹a_i)ᵀ L⁻¹G
        toward = blas.strsv(H, (unit * G).astype(np.float32), lower=1)
        toward = scale * blas.strsv(H, toward, lower=1, trans=1)
        return h, (self.turned @ toward - mean @ toward).astype(float)

    def felt(self, curvature, l2):
        """Rows without which the Hessian, or with slopes a score without them, changes.

        ``Σ ω_i‖x̃_i‖²`` of the others over λ is no less than the share of itself that
        the Hessian loses in any direction, nor than their ``h_i ω_i``.
        """
        most = curvature * np.exp(self.size)
        order = np.argsort(most, kind="stable")
        unfelt = np.cumsum(most[order]) <= _UNFELT * l2
        return np.sort(order[np.count_nonzero(unfelt) :])

    def _resolves(self, penalty, w):
        return self.values.all() or penalty > w * RANK

    def _alpha(self, w, penalty, weight):
        """``α_i = q_i/(1 − w f_i q_i)`` of the sample."""
        q = self.squares.sums(w, penalty)
        return q / np.maximum(1 - w * weight[self.rows] * q, _LEAST)

    def _by_size(self, some):
        """``a_k‖x̃‖^{2b}``, k the part of the rows by size: logarithms of the sample."""
        mass, x = self.mass / self.mass.sum(), self.size[self.rows]
        y = np.log(np.maximum(some, TINY))
        x = x - mass @ x
        b = np.clip(mass * x @ y / max(mass * x @ x, TINY), 0.0, 1.0)
        part, rest = self.part[self.rows], y - b * self.size[self.rows]
        held, total = (np.bincount(part, of, _PARTS) for of in (mass, mass * rest))
        # between equal sizes of the sample there may be other rows
        of_part = np.where(held > 0, total / np.maximum(held, TINY), mass @ rest)
        return np.exp(of_part[self.part] + b * self.size)

    def _as_free(self, curvature, weight, penalty, w, every, some):
        """The curvature with the degrees of freedom of all; None if there is none.

        Beside another curvature v all α are in the proportion of their mean,
        ``x/(v(1 − x))`` with ``x = Σ_k v s_k/(v s_k + λ)/n``.
        """
        n, rows = len(curvature), self.rows

        def size(v):
            x = np.sum(v * self.values * shares(self.values, v, penalty)) / n
            return x / (v * (1 - x))

        own, now = (curvature[rows], weight[rows]), size(w)

        def excess(log_v):
            v = np.exp(log_v)
            ratio = size(v) / now

            def over(alpha, omega, f):
                # va/(1 + va) − ωa/(1 + ωa)
                alpha = ratio * alpha
                return 1 / (1 + omega * alpha) - 1 / (1 + v * f * alpha)

            of_all = over(every, curvature, weight).sum()
            of_some = over(some, *own) - over(every[rows], *own)
            return of_all + self.mass @ of_some

        high = np.log(np.max(curvature / weight)) + 1e-6
        found = _root_near(excess, np.log(w), high - _LOWEST, high)
        return None if found is None else float(np.exp(found))


def _root_near(f, x, low, high):
    """Root of a rising f between low and high; None if there is none.

    By secants from x, of which a few do. Where few rows have all the curvature they
    lead out of the bracket, and all of it is searched.
    """
    before, y_before = x, f(x)
    x = x + _NEARBY
    for _ in range(_SECANTS):
        y = f(x)
        if y == y_before:  # flat
            break
        x, before, y_before = x - y * (x - before) / (y - y_before), x, y
        if not low < x < high:
            break
        if abs(x - before) < _ROOT:
            return x
    return optimize.brentq(f, low, high, xtol=_ROOT) if f(low) < 0 < f(high) else None


def has_eigenrows(fit, X, remember) -> bool:
    """Whether rows are dense with many features, and remembered."""
    if isinstance(X, BlockMatrix) or hasattr(X, "toarray"):
        return False
    n, P = X.shape
    if not _MANY_FEATURES <= P < n or n < _MANY_ROWS or getattr(fit, "l1", 0.0) > 0:
        return False
    # of one model the Hessian itself costs no more
    return remember is not ask_again


def eigenrows(fit, X, positive, weight, remember=ask_again) -> Eigenrows | None:
    """Of rows that :func:`has_eigenrows`; None elsewhere.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray, sparse matrix or rows not made, of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
        Frequency weights.
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone for the next fit.
    """
    if not has_eigenrows(fit, X, remember):
        return None
    weight = np.ones(len(positive)) if weight is None else weight
    if not weight.all():  # such a row is none
        return None
    centred = fit.intercept_scaling > 0
    return remember(
        ("rows in their eigenbasis", X.shape[0], centred),
        lambda: Eigenrows.of_rows(X, positive, weight, centred),
    )


def centred_blocks(X, mean):
    """Parts of the rows, and these: dense, less the mean, an array of their own."""
    for part in parts_of(X.shape[0], block_rows(X.shape[1])):
        rows = X[part]
        yield part, (rows.toarray() if hasattr(rows, "toarray") else rows) - mean


def _scatter(X, mean, weight, dtype=float):
    """``X̃ᵀ diag(f) X̃`` and the square length of every row."""
    n, P = X.shape
    S, size = np.zeros((P, P), dtype), np.empty(n)
    root = np.sqrt(weight)[:, None]
    for part, A in centred_blocks(X, mean):
        with np.errstate(over="ignore", invalid="ignore"):  # the trace tells
            size[part] = np.einsum("np,np->n", A, A)
            A *= root[part]
            A = A.astype(dtype, copy=False)
            S += A.T @ A
    return S, size


def _spread_rows(X, positive, weight):
    """An even sample along the difference of the class means, and the scores there."""
    direction = difference_of_means(X, positive, weight)
    # the same order whichever class is positive
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    score = project_samples(X, direction)
    order = np.argsort(score, kind="stable")
    ranked = positive[order]
    of_class = [order[np.flatnonzero(c)] for c in (~ranked, ranked)]
    return *even_sample(of_class, weight, _SOME_ROWS // 2), score


def _share_of_copies(size, score):
    """Of rows with the length and the score of another one, to seven digits."""
    size, score = (
        (x / max(np.abs(x).max(), TINY)).astype(np.float32) for x in (size, score)
    )
    return 1 - len(np.unique(size + 1j * score)) / len(size)


def _kurtosis(turned, rows, values):
    """Of the correlations of rows with others, mean over rows."""
    unit = np.sqrt(np.maximum(values, _REGULAR * values.mean())).astype(turned.dtype)
    step = block_rows(len(values))
    length = np.concatenate(
        [
            np.linalg.norm(turned[rows[part]] / unit, axis=1)
            for part in parts_of(len(rows), step)
        ]
    )
    rows, length = rows[length > 0], length[length > 0]
    few = np.zeros(len(rows), dtype=bool)
    few[:: max(len(rows) // _CORRELATED_ROWS, 1) + 1] = True
    toward = turned[rows[few]] / unit / length[few, None] / unit
    others, length, sums = rows[~few], length[~few], 0.0
    for part in parts_of(len(others), step):
        square = (toward @ turned[others[part]].T / length[part]) ** 2
        sums = sums + np.array([square.sum(axis=1), (square**2).sum(axis=1)])
    mean, fourth = sums.astype(float) / max(len(others), 1)
    return float(np.mean(fourth / np.maximum(mean, TINY) ** 2))
