"""Log-likelihood of a logistic model, its gradient and its information.

All of these are sums over blocks of rows; rows in memory are a single block.
Section 1 of :mod:`skauc.estimators` has the formulas.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg


@dataclass(frozen=True, eq=False)
class Coding:
    """Parameters that turn the rows of a block into terms of the likelihood."""

    T: np.ndarray  # contrasts of the classes, (K, M)
    fit_intercept: bool
    shift: np.ndarray | None = None  # subtracted from the features

    def parts(self, block):
        """Yield shifted rows, codes, weights and offsets."""
        for rows, *columns in block.parts():
            yield rows if self.shift is None else rows - self.shift, *columns

    def logits(self, rows, B, offset=0.0):
        """F = T (X̃B + offset)ᵀ, one column per row of X."""
        P = rows.shape[1]
        F = B[:P].T @ rows.T
        if self.fit_intercept:
            F += B[P][:, None]
        return self.T @ (F + offset)

    def probabilities(self, block, B):
        """Yield rows with a column of ones, class probabilities, codes, weights."""
        for rows, codes, weight, offset in self.parts(block):
            p, _ = softmax(self.logits(rows, B, offset), codes)
            if self.fit_intercept:
                rows = np.column_stack([rows, np.ones(len(rows))])
            yield rows, p, codes, weight


def coding_matrix(n_classes, reference):
    """The matrix T of a reference, or orthonormal contrasts that add up to 0."""
    if reference is None and n_classes > 2:
        return linalg.helmert(n_classes).T
    return np.delete(np.eye(n_classes), reference or 0, axis=1)


# Sums over the rows of a block --------------------------------------------------------


def likelihood_terms(block, coding, B):
    """ℓ, its gradient G of shape (P + 1, M) and its information H at B.

    ``G = X̃ᵀdiag(w)(Y − p)T`` and ``H = Σ_{k<m} (t_k − t_m)(t_k − t_m)ᵀ ⊗ S_km``. The
    column of ones is not formed, so that rows are copied only to be scaled.
    """
    T, P, size, value = coding.T, block.X.shape[1], len(B), 0.0
    k, m = np.triu_indices(len(T), 1)  # all pairs of classes
    S, G = np.zeros((len(k), P + 1, P + 1)), np.zeros((T.shape[1], P + 1))
    for rows, codes, weight, offset in coding.parts(block):
        p, log_own = softmax(coding.logits(rows, B, offset), codes)
        value += weight @ log_own  # ℓ = Σ w_i log p_{i c_i}
        add_products(S, rows, weight * p[k] * p[m])
        residuals = T.T @ _residuals(p, codes) * weight
        G[:, :P] += residuals @ rows
        G[:, P] += residuals.sum(axis=1)
    return value, G[:, :size].T, second_derivatives(T, S, size)


def add_products(S, rows, V):
    """Add ``X̃ᵀ diag(v) X̃`` of each v to the matrices S, but for their last columns."""
    P, scaled = rows.shape[1], np.empty_like(rows, order="C")
    for S_km, v in zip(S, V, strict=True):
        np.multiply(rows, np.sqrt(v)[:, None], out=scaled)
        S_km[:P, :P] += scaled.T @ scaled
    S[:, P, :P] += V @ rows
    S[:, P, P] += V.sum(axis=1)


def second_derivatives(T, S, size):
    """``Σ_{k<m} (t_k − t_m)(t_k − t_m)ᵀ ⊗ S_km`` by the columns of B."""
    S[:, :-1, -1] = S[:, -1, :-1]
    k, m = np.triu_indices(len(T), 1)
    edges = T[k] - T[m]
    H = np.einsum("er,es,eij->risj", edges, edges, S[:, :size, :size])
    return H.reshape(size * T.shape[1], -1)


def squared_scores(block, coding, B):
    """``Σ w² s sᵀ`` of scores s and weights w."""
    meat = np.zeros((B.size, B.size))
    for score in _scores(block, coding, B):
        meat += score.T @ score
    return meat


def cluster_scores(block, coding, B):
    """Sums of ``w s`` over the clusters of the rows, of shape (G, M(P + 1))."""
    sums, start = np.zeros((block.groups.max() + 1, B.size)), 0
    for score in _scores(block, coding, B):
        np.add.at(sums, block.groups[start : start + len(score)], score)
        start += len(score)
    return sums


def _scores(block, coding, B):
    """Yield weighted scores ``w_i s_i = w_i Tᵀ(Y_i − p_i) ⊗ x̃_i``."""
    for rows, p, codes, weight in coding.probabilities(block, B):
        contrasts = coding.T.T @ _residuals(p, codes) * weight
        yield np.hstack([rows * r[:, None] for r in contrasts])


def _residuals(p, codes):
    """``Y − p`` (in place of p), without cancellation where p is nearly 1."""
    own = own_class(codes)
    p.put(own, 0)
    others = p.sum(axis=0)
    np.negative(p, out=p)
    p.put(own, others)
    return p


def softmax(F, codes):
    """Class probabilities (in place of F), and log-probability of each row's class."""
    # with 0 as the largest logit e^F cannot overflow, and the sum is at least 1
    F -= F.max(axis=0)
    own = F.take(own_class(codes))
    np.exp(F, out=F)
    total = F.sum(axis=0)
    F /= total
    return F, own - np.log(total)


def own_class(codes):
    """Flat positions of the rows' classes in an array of shape (K, n)."""
    return codes * len(codes) + np.arange(len(codes))
