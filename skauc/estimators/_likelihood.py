"""Log-likelihood of a logistic model, its gradient and its information."""

from __future__ import annotations

from copy import copy
from itertools import combinations

import numpy as np
from scipy import sparse

# Rows are scaled and multiplied in blocks that stay in a core's level-2 cache (2 MiB),
# with their scaled copy and the information
_BLOCK_BYTES = 2**20
# On separated data each step moves some margin by about 1, at a maximum by nothing
_STANDSTILL = 0.1
_NO_LOSS = 1e-7  # of the largest gain along a direction: a smaller loss is rounding
ORDINARY = 1e-70, 1e70  # sizes whose fourth powers are normal numbers


class Likelihood:
    """ℓ, G and H of B, in one pass over blocks of rows.

    Of rows in memory; :class:`~skauc.estimators._block_likelihood.BlockLikelihood`
    adds up those of rows that are elsewhere.
    """

    def __init__(self, X, codes, weight, T, fit_intercept):
        self.X, self.codes, self.weight, self.T = X, codes, weight, T
        self.fit_intercept = fit_intercept
        self.n_rows, self.n_features = X.shape
        self.size = self.n_features + fit_intercept
        self.total = float(self.n_rows if weight is None else weight.sum())
        self.shift, self.unit, self.ordinary = None, np.ones(self.n_features), True
        self.offset = None  # of two classes: added to the logit of class 1

    def measure(self, square):
        """Look at the sizes of features, unless ``Σ w x²`` says that they are ordinary.

        Parameters
        ----------
        square : ndarray of shape (P,)
            In units of 1; perhaps infinite.

        Returns
        -------
        bool
            Whether the units have changed.
        """
        if self.are_ordinary(square):
            return False
        self.unit = feature_units(self.sizes())
        self.ordinary = bool(np.all(self.unit == 1))
        return not self.ordinary

    def are_ordinary(self, square):
        return are_ordinary(square, self.weight, self.n_rows)

    def sizes(self):
        """Largest absolute value of each feature, of shape (P,)."""
        return feature_sizes(self.X)

    def sum(self, function, *args):
        """``function(self, *args)``, which is a sum over rows: of all rows."""
        return function(self, *args)

    def every(self, step):
        """The likelihood of every step-th row, shifted likewise; None without a class.

        As the estimate of the whole needs it for a start: its sizes are not looked at.
        """
        part = copy(self)
        part.X, part.codes = self.X[::step], self.codes[::step]
        part.weight = None if self.weight is None else self.weight[::step]
        part.offset = None if self.offset is None else self.offset[::step]
        present = np.bincount(part.codes, part.weight, minlength=len(self.T))
        if not present.all():
            return None
        part.n_rows = len(part.codes)
        part.total = float(present.sum())
        return part

    def blocks(self):
        """Yield float64 rows, classes, weights and offsets, block by block."""
        step = max(_BLOCK_BYTES // (8 * self.size), 64)
        for start in range(0, self.n_rows, step):
            part = slice(start, start + step)
            rows = self.X[part]
            rows = rows.toarray() if sparse.issparse(rows) else rows
            rows = rows.astype(float, copy=False)
            # Units first: the shift is that of the features in them.
            if not self.ordinary:
                rows = rows / self.unit
            if self.shift is not None:
                rows = rows - self.shift
            offset = 0.0 if self.offset is None else self.offset[part]
            yield rows, self.codes[part], self.weight_of(part, len(rows)), offset

    def weight_of(self, part, n):
        return np.ones(n) if self.weight is None else self.weight[part]

    def logits(self, rows, B, offset=0.0):
        """F = T (X̃B + offset)ᵀ, one column a row of X."""
        P = self.n_features
        F = B[:P].T @ rows.T
        if self.fit_intercept:
            F += B[P][:, None]
        return self.T @ (F + offset)

    def probabilities(self, B):
        """Yield for each block its rows, class probabilities (K, n), codes, weights."""
        for rows, code, weight, offset in self.blocks():
            p, _ = _softmax(self.logits(rows, B, offset), code)
            yield rows, p, code, weight

    def evaluate(self, B):
        """ℓ, G, H at B."""
        return self._one_logit(B) if len(self.T) == 2 else self._many_logits(B)

    def _one_logit(self, B):
        """Two classes: f = X̃B, p = expit(f), G = X̃ᵀw(y − p), H = X̃ᵀdiag(wpq)X̃.

        Products with rows are taken feature by feature (no column of ones), so that
        a block is copied only to be scaled, and not at all where all wpq are ¼.
        """
        P = self.n_features
        even = not B.any() and self.weight is None and self.offset is None
        square, sums, value = np.zeros((P, P)), np.zeros((2, P + 1)), 0.0
        scaled = None
        for rows, code, weight, offset in self.blocks():
            f = rows @ B[:P, 0] if B.any() else np.zeros(len(rows))
            f += offset + B[P, 0] if self.fit_intercept else offset
            log_own, residual, curvature = _logistic(f, code == 1)
            value += weight @ log_own
            factors = np.stack([residual, curvature]) * weight
            sums[:, :P] += factors @ rows
            sums[:, P] += factors.sum(axis=1)
            if even:
                square += rows.T @ rows
            else:
                # One copy for all blocks, the last of which may be shorter.
                scaled = np.empty_like(rows, order="C") if scaled is None else scaled
                part = scaled[: len(rows)]
                np.multiply(rows, np.sqrt(factors[1])[:, None], out=part)
                square += part.T @ part  # faster than scipy's dsyrk
        # The column of ones has Σ wpq x and Σ wpq.
        H = np.empty((P + 1, P + 1))
        H[:P, :P] = square / 4 if even else square
        H[P], H[:, P] = sums[1], sums[1]
        return value, sums[0, : self.size, None], H[: self.size, : self.size]

    def _many_logits(self, B):
        """K classes: H in blocks of ``X̃ᵀ diag(w p_k p_m) X̃``."""
        P, K = self.n_features, len(self.T)
        # diag(p) − ppᵀ = Σ_{k<m} p_k p_m (e_k − e_m)(e_k − e_m)ᵀ
        pairs = list(combinations(range(K), 2))
        edges = [self.T[k] - self.T[m] for k, m in pairs]
        distinct = pairs if B.any() else pairs[:1]  # at 0 all p_k are 1/K
        S = np.zeros((len(distinct), self.size, self.size))
        G, value, scaled = np.zeros((K, self.size)), 0.0, None
        for rows, code, weight, _ in self.blocks():
            p, log_own = _softmax(self.logits(rows, B), code)
            value += weight @ log_own  # ℓ = Σ w_i log p_{i c_i}
            if scaled is None:
                scaled = np.empty((len(rows), self.size))
            for S_km, (k, m) in zip(S, distinct, strict=True):
                root, part = np.sqrt(weight * p[k] * p[m]), scaled[: len(rows)]
                np.multiply(rows, root[:, None], out=part[:, :P])
                if self.fit_intercept:
                    part[:, P] = root
                S_km += part.T @ part  # S_km = X̃ᵀ diag(w p_k p_m) X̃
            residual = -p  # w(Y − p)
            residual[code, np.arange(len(code))] += 1
            residual *= weight
            G[:, :P] += residual @ rows
            if self.fit_intercept:
                G[:, P] += residual.sum(axis=1)
        S = np.broadcast_to(S, (len(pairs), *S.shape[1:]))
        # H = Σ (t_k − t_m)(t_k − t_m)ᵀ ⊗ S_km
        laplacian = [
            np.kron(np.outer(t, t), S_km) for t, S_km in zip(edges, S, strict=True)
        ]
        # G = X̃ᵀ diag(w)(Y − p) T
        return value, (self.T.T @ G).T, np.sum(laplacian, axis=0)

    def separation(self, B, D):
        """Name of the separation that B or the direction D certifies, or None.

        The margin of a row is its own logit less the largest other one. If all
        margins of B are positive the classes are completely separated; if along D
        some grow and none falls, quasi-completely. An offset changes neither.
        """
        (least, loss), gain = self.margins(B, D)
        # The step D changes no margin by more than this: B stands still.
        if max(gain, -loss) < _STANDSTILL:  # there is a maximum
            return None
        if least > 0:
            return "complete"
        return "quasi-complete" if loss >= -_NO_LOSS * gain else None

    def margins(self, B, D):
        """The least margins of B and of D, and the largest one of D."""
        low, high = np.full(2, np.inf), -np.inf
        for rows, code, weight, _ in self.blocks():
            kept = weight > 0
            if not kept.any():
                continue
            of_B, of_D = (_margins(self.logits(rows, b), code)[kept] for b in (B, D))
            low = np.minimum(low, [of_B.min(), of_D.min()])
            high = max(high, of_D.max())
        return low, high


def _logistic(f, positive):
    """``log p``, y − p and pq of each row from its logit, without cancellation."""
    small = np.exp(-np.abs(f))  # in (0, 1]: the odds of the less probable class
    total = 1 + small
    wrong = positive != (f > 0)  # the own class is the less probable one
    log_own = np.where(wrong, -np.abs(f), 0.0) - np.log(total)
    other = np.where(wrong, 1.0, small) / total  # probability of the other class
    return log_own, np.where(positive, other, -other), small / total / total


def _softmax(F, code):
    """Class probabilities (in place of F) and the log-probability of each own class."""
    # The largest logit is 0: e^F cannot overflow, and the sum is 1 at least.
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


def feature_sizes(X):
    """Largest absolute value of each feature, of shape (P,)."""
    # max |x| without a copy of |X|
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.maximum(high, -low).astype(float)


def are_ordinary(square, weight, n):
    """Whether weighted sums of squares say that all features are of ordinary size.

    ``Σ w x²/Σ w ≤ max x² ≤ Σ w x²/min w``, over the rows that have a weight. False
    says nothing: features of zeros, and those of an infinite sum, must be looked at.

    Parameters
    ----------
    square : ndarray of shape (P,)
    weight : ndarray of shape (n,) or None
    n : int
    """
    total, least = n, 1.0
    if weight is not None:
        total, least = weight.sum(), weight[weight > 0].min(initial=np.inf)
    return mean_is_ordinary(square, total, least)


def mean_is_ordinary(square, total, least):
    """As :func:`are_ordinary`, of the sum and the least positive one of the weights."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Σ w x²/Σ w ≤ max x² ≤ Σ w x²/min w
        low, high = square / total, square / least
    return bool(np.all((low > ORDINARY[0] ** 2) & (high < ORDINARY[1] ** 2)))


def feature_units(largest):
    """Powers of two near sizes that are not ordinary, 1 for those that are."""
    ordinary = (largest == 0) | ((ORDINARY[0] < largest) & (largest < ORDINARY[1]))
    return np.where(ordinary, 1.0, np.ldexp(1.0, np.frexp(largest)[1] - 1))
