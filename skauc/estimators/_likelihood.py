"""Log-likelihood of a logistic model, its gradient and its information."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import sparse

_BLOCK_BYTES = 2**21  # rows are scaled and multiplied in blocks that stay in cache
# On separated data each step moves some margin by about 1, at a maximum by nothing
_STANDSTILL = 0.1
_NO_LOSS = 1e-7  # of the largest gain along a direction: a smaller loss is rounding
ORDINARY = 1e-70, 1e70  # sizes whose fourth powers are normal numbers


class Likelihood:
    """ℓ, G and H of B, in one pass over blocks of rows."""

    def __init__(self, X, codes, weight, T, fit_intercept):
        self.X, self.codes, self.weight, self.T = X, codes, weight, T
        self.fit_intercept = fit_intercept
        self.n_rows, self.n_features = X.shape
        self.size = self.n_features + fit_intercept
        self.total = float(self.n_rows if weight is None else weight.sum())
        self.shift, self.unit = None, feature_units(feature_sizes(X))
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
        return value, (self.T.T @ G).T, np.sum(laplacian, axis=0)

    def separation(self, B, D):
        """Name of the separation that B or the direction D certifies, or None.

        The margin of a row is its own logit less the largest other one. If all
        margins of B are positive the classes are completely separated; if along D
        some grow and none falls, quasi-completely.
        """
        margins_B, margins_D = [], []
        for rows, code, weight in self.blocks():
            kept = weight > 0
            margins_B.append(_margins(self.logits(rows, B), code)[kept])
            margins_D.append(_margins(self.logits(rows, D), code)[kept])
        margins_B, margins_D = np.concatenate(margins_B), np.concatenate(margins_D)
        if np.abs(margins_D).max() < _STANDSTILL:  # there is a maximum
            return None
        if margins_B.min() > 0:
            return "complete"
        if margins_D.min() >= -_NO_LOSS * margins_D.max():
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


def feature_sizes(X):
    """Largest absolute value of each feature, of shape (P,)."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.maximum(high, -low).astype(float)


def feature_units(largest):
    """Powers of two near sizes that are not ordinary, 1 for those that are."""
    ordinary = (largest == 0) | ((ORDINARY[0] < largest) & (largest < ORDINARY[1]))
    return np.where(ordinary, 1.0, np.ldexp(1.0, np.frexp(largest)[1] - 1))
