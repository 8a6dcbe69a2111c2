"""Rows behind a scaler that are not made: products with them are products with X.

``z = (x − c)/s`` gives ``Zw = X(w/s) − cᵀ(w/s)`` and ``Zᵀg = (Xᵀg − c Σg)/s``. Of many
rows a score needs no more than that, and some rows; a copy of all would cost more than
everything else. Whatever asks for an array gets one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from sklearn import get_config
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from ..statistics._sketch import scores_and_sketch

_FARTHEST = 1e4  # centre over scale: products lose as many digits, of 16


@dataclass(frozen=True, eq=False)
class StandardisedRows:
    """Rows ``(x − centre)/scale``; takes products, parts, and ``np.asarray``.

    The product with the last direction is kept: scores, gradient and leverages of a
    model each ask for it, in other units.

    Parameters
    ----------
    X : ndarray of float of shape (n, P)
    centre, scale : ndarray of shape (P,)
    """

    X: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    _last: dict = field(default_factory=dict, init=False, repr=False)

    __array_ufunc__ = None  # an array leaves ``g @ rows`` to these rows
    ndim, dtype = 2, np.dtype(float)

    @property
    def shape(self):
        return self.X.shape

    def __len__(self):
        return len(self.X)

    def __matmul__(self, w):
        if w.ndim > 1:
            return self._product(w)
        unit, direction = _unit_and_direction(w)
        key = direction.tobytes()
        found = self._last.get(key)
        if found is None:
            found = self._keep(direction, self._product(direction))
        return unit * found

    def scores_and_sketch(self, w):
        """``self @ w``, and the sketch of X, in one pass over X."""
        unit, direction = _unit_and_direction(w)
        unscaled = direction / self.scale
        raw, sketch = scores_and_sketch(self.X, unscaled)
        return unit * self._keep(direction, raw - self.centre @ unscaled), sketch

    def _keep(self, direction, found):
        self._last.clear()
        self._last[direction.tobytes()] = found
        return found

    def _product(self, w):
        # Zw = X(w/s) − cᵀ(w/s)
        unscaled = (w.T / self.scale).T
        return self.X @ unscaled - self.centre @ unscaled

    def __rmatmul__(self, g):
        # gᵀZ = (gᵀX − cᵀ Σg)/s
        total = g.sum(axis=-1, keepdims=True)
        return (g @ self.X - total * self.centre) / self.scale

    @property
    def T(self):  # noqa: N802
        return _Transposed(self)

    def __getitem__(self, part):
        rows, columns = part if isinstance(part, tuple) else (part, slice(None))
        made = self.X[rows, columns] - self.centre[columns]
        made /= self.scale[columns]
        return made

    def fingerprint(self, of_rows: bytes) -> bytes:
        """Digest of the content, from that of X."""
        digest = hashlib.blake2b(of_rows)
        for part in (self.centre, self.scale):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.digest()

    def unscaled(self):
        """Rows in front of the scaler, centre and scale of each feature."""
        return self.X, self.centre, self.scale

    def astype(self, dtype, copy=False):
        return self if dtype is float else self[:].astype(dtype)

    def __array__(self, dtype=None, copy=None):
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)


def _unit_and_direction(w):
    # The largest entry becomes 1: directions that differ by a factor have one key.
    unit = w[np.argmax(np.abs(w))] or 1.0
    return unit, w / unit


@dataclass(frozen=True, eq=False)
class _Transposed:
    rows: StandardisedRows

    def __matmul__(self, g):
        return (g.T @ self.rows).T


def standardised(step, rows) -> StandardisedRows | None:
    """Rows behind a fitted scaler that need not be made; None if they must be.

    Parameters
    ----------
    step : fitted transformer
    rows : array-like, sparse matrix or frame
        In front of it.
    """
    if type(step) is not StandardScaler or type(rows) is not np.ndarray:
        return None
    if rows.dtype != float or rows.ndim != 2 or get_config()["array_api_dispatch"]:
        return None
    P = rows.shape[1]
    if getattr(step, "n_features_in_", None) != P or hasattr(step, "feature_names_in_"):
        check_is_fitted(step)
        validate_data(step, rows, reset=False, skip_check_array=True)  # as transform
    centre = step.mean_ if step.with_mean else np.zeros(P)
    scale = step.scale_ if step.with_std else np.ones(P)
    if np.any(np.abs(centre) > _FARTHEST * scale):
        return None
    return StandardisedRows(rows, centre, scale)
