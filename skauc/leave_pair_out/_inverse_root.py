"""How firmly all rows hold each: leverages, from the root of a Hessian's inverse.

``H = Aᵀ diag(ω) A + Λ`` of features A less their ω-weighted mean, ``H = LLᵀ``. Then
``h_ij = a_iᵀH⁻¹a_j`` is a product of two rows of ``A L⁻ᵀ``, the leverage ``h_i = h_ii``
the square of one; without what an intercept adds, e (:func:`of_intercept`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..statistics._numerics import TINY
from ._eigenrows import centred_blocks

_JITTER = 1e-13  # of a unit diagonal: rounding of the sums


def of_intercept(fit, curvature) -> float:
    """e, what an intercept adds to every leverage; 0 where there is none."""
    if fit.intercept_scaling == 0:
        return 0.0
    return 1 / max(curvature.sum() + fit.intercept_penalty, TINY)


@dataclass(frozen=True, eq=False)
class InverseRoot:
    """``L⁻¹`` of the Hessian of a fit.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
        Of an L1 penalty the features with w ≠ 0 count.
    root : ndarray of shape (P, P)
    mean, origin, scale : ndarray of shape (P,)
        What the features are less; where they are 0, and the unit, as the fit was
        penalised.
    """

    fit: object
    root: np.ndarray
    mean: np.ndarray
    origin: np.ndarray
    scale: np.ndarray

    @classmethod
    def of_fit(cls, fit, X, curvature, unit=None, *, sampled=False) -> InverseRoot:
        """Of the rows that make the Hessian.

        Parameters
        ----------
        fit : PenalisedFit or ElasticNetFit
        X : ndarray or sparse matrix of shape (n, P)
        curvature : ndarray of shape (n,)
            What each adds to it.
        unit : sequence of two ndarray of shape (P,), default=None
            Centre and scale of the features in which the fit was penalised, if these
            are not they.
        sampled : bool, default=False
            Whether leverages of other rows are asked than of these.

        Returns
        -------
        InverseRoot
        """
        origin, scale = unit or (np.zeros(X.shape[1]), np.ones(X.shape[1]))
        if getattr(fit, "l1", 0.0) > 0:
            origin, scale = origin[fit.w != 0], scale[fit.w != 0]
        X = _active_features(fit, X)
        n, P = X.shape
        if P == 0 or not curvature.any():  # no row holds another
            return cls(fit, np.zeros((P, P)), origin, origin, scale)
        # λ‖w‖² of scaled features is λ·scale² of each raw one
        ridge, mean, H = fit.l2 * scale**2, origin, np.zeros((P, P))
        if fit.intercept_scaling > 0:
            # The Hessian's column of the intercept, less origin, is (Σω + ρ)·pull:
            # without it Σω(x − m)(x − m)ᵀ + ρ·pull pullᵀ + Λ is left, m = origin + pull
            total = np.asarray(curvature @ X).ravel() - curvature.sum() * origin
            pull = of_intercept(fit, curvature) * total
            mean = origin + pull
            if fit.intercept_penalty > 0:
                H += fit.intercept_penalty * np.outer(pull, pull)
        for part, A in centred_blocks(X, mean):
            A *= np.sqrt(curvature[part])[:, None]
            H += A.T @ A
        H.flat[:: P + 1] += ridge
        root = _inverse_root(H)
        if sampled:  # (n + 1)/(n − d − 2): mean of xᵀH⁻¹x of another row, if normal
            # d = tr H⁻¹(H − Λ), the degrees of freedom of the fit; H⁻¹ = rootᵀ root
            d = P - np.sum(root**2 @ ridge)
            root *= np.sqrt(max(n - d - 2, 0.0) / (n + 1))
        return cls(fit, root, mean, origin, scale)

    def half(self, rows):
        """``A L⁻ᵀ`` of few rows."""
        rows = _active_features(self.fit, rows)
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return (rows - self.mean) @ self.root.T

    def between(self, X, half):
        """Parts of the rows, and ``h_ij`` of these with few whose :meth:`half` is."""
        toward = self.root.T @ half.T
        for part, A in centred_blocks(_active_features(self.fit, X), self.mean):
            yield part, A @ toward

    def leverages_and_rest(self, X, g):
        """Leverages, and what the solver has left of the gradient moves the scores by.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, P)
            The rows of the fit.
        g : ndarray of shape (n,)
            Slopes of their losses.

        Returns
        -------
        h : ndarray of shape (n,)
        rest : ndarray of shape (n,)
            ``a_iᵀH⁻¹G``, G the gradient of all that is penalised by squares.
        """
        X = _active_features(self.fit, X)
        toward = self.root @ self._gradient(X, g)
        h, rest = np.empty(X.shape[0]), np.empty(X.shape[0])
        for part, A in centred_blocks(X, self.mean):
            half = A @ self.root.T
            h[part], rest[part] = squares(half), half @ toward
        return h, rest

    def _gradient(self, X, g):
        """Of the objective in w where b follows; 0 at the optimum, and of an L1."""
        fit, mean = self.fit, self.mean
        if getattr(fit, "l1", 0.0) > 0:
            return np.zeros(X.shape[1])
        # Σg(x − m) + λ·scale·w − ρb(m − origin): the step of b is taken out
        gradient = np.asarray(X.T @ g).ravel() - g.sum() * mean
        gradient += fit.l2 * self.scale * fit.w
        return gradient - fit.intercept_penalty * fit.intercept * (mean - self.origin)


def squares(half):
    """Square length of every row."""
    return np.einsum("np,np->n", half, half)


def _active_features(fit, X):
    if getattr(fit, "l1", 0.0) == 0:
        return X
    active = np.flatnonzero(fit.w)
    return X.tocsc()[:, active].tocsr() if hasattr(X, "tocsc") else X[:, active]


def _inverse_root(H):
    """L⁻¹ of ``H = LLᵀ``, features in units of their own curvature."""
    # H⁻¹ = unit (unit H unit)⁻¹ unit
    unit = 1 / np.sqrt(np.maximum(H.diagonal(), TINY))
    H = H * unit
    H *= unit[:, None]
    H.flat[:: len(H) + 1] += _JITTER
    root, failed = lapack.dtrtri(np.linalg.cholesky(H), lower=1)
    if failed:
        raise np.linalg.LinAlgError("a feature has no curvature")
    return root * unit
