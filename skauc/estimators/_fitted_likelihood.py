"""The likelihood of the rows that trained a model, opened again at its estimate.

How ℓ (or Firth's ℓ*) falls away from its maximum, the estimate θ̂, says how sure that
is: along a contrast ``aᵀθ`` the *profile* is the largest ℓ with ``aᵀθ`` held fixed, and
with the standard error se of aᵀθ̂ the signed root

    r(t) = sign(t) √{2(ℓ(θ̂) − max ℓ(θ : aᵀθ = aᵀθ̂ + t se))}

is t for a quadratic ℓ; limits are where |r| is a normal quantile. The *sandwich*
``H⁻¹(Σ s sᵀ)H⁻¹``, H the information, takes the covariance of the gradient from the
scores s of the rows, their parts of it, or from sums of them over clusters.

References
----------
Venzon & Moolgavkar (1988), https://doi.org/10.2307/2347496; White (1982),
https://doi.org/10.2307/1912526; Liang & Zeger (1986),
https://doi.org/10.1093/biomet/73.1.13
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from ._irls import ascend, open_frame

_SMALL_STEP = 1e-7  # its square is the error of ℓ: limits are good to ten digits
# Maximum likelihood takes up to 7 steps, Firth's on 30 separated rows 44 with 7
# halvings; 2⁻⁴⁰ of a step is 1e-12 of it.
_MAX_STEPS, _MAX_HALVINGS = 200, 40
_LIMIT_TOL = 1e-10  # of a limit, in standard errors


class FittedLikelihood:
    """ℓ, or Firth's ℓ*, of the rows that trained a model.

    Parameters
    ----------
    model : Likelihood
        Of the rows, in units of ``count``.
    count : float
    offset : ndarray of shape (n,) or None
    coef : ndarray of shape (1, P + 1) or (K, P + 1)
        The estimate, features before the intercept.
    firth : bool
    """

    def __init__(self, model, count, offset, coef, *, firth):
        self.count = count
        strength = 1 / self.count if firth else None
        self.frame, _ = open_frame(model, None, offset, strength)
        self.point = self.frame.evaluate(self.frame.enter(coef, model.T))

    @property
    def log_likelihood(self):
        return self.point.log_likelihood * self.count

    # The sandwich ---------------------------------------------------------------------

    def sandwich(self, groups=None):
        """Covariance of the estimates from the rows' scores, and its errors.

        Parameters
        ----------
        groups : ndarray of int of shape (n,), default=None
            Clusters numbered from 0; None takes rows by themselves.

        Returns
        -------
        covariance : ndarray of shape (M(P + 1), M(P + 1))
        errors : ndarray of shape (M, P + 1)
        """
        model, B = self.frame.model, self.point.B
        if groups is None:
            meat = model.sum(_squares_of_scores, B)
        else:
            sums, start = np.zeros((groups.max() + 1, B.size)), 0
            for score, weight in _scores(model, B):
                part = groups[start : start + len(score)]
                np.add.at(sums, part, score * weight[:, None])
                start += len(score)
            assert start == model.n_rows
            # in units of the weights: Σ w s sᵀ is of their order, (Σ w s)(Σ w s)ᵀ of
            # its square
            meat = self.count * (sums.T @ sums)
        # In counts of rows: (count H)⁻¹(count meat)(count H)⁻¹
        covariance, errors = self.frame.covariance(self.point, meat)
        return covariance / self.count, errors / np.sqrt(self.count)

    # The profile ----------------------------------------------------------------------

    def fall(self, contrast, gap):
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = Lθ̂ + gap)}``.

        Parameters
        ----------
        contrast : ndarray of shape (q, M(P + 1))
            L, in the original parameters, the intercept first.
        gap : ndarray of shape (q,)

        Returns
        -------
        float
        """
        held, size = self._scaled(contrast)
        return self._fall(held, gap / size)

    def limits(self, contrast, quantile):
        """Where the signed root of the profile is ∓quantile, in standard errors.

        Parameters
        ----------
        contrast : ndarray of shape (M(P + 1),)
        quantile : float
            Positive.

        Returns
        -------
        low, high : float
        """
        held, _ = self._scaled(contrast[None])
        # se² = aᵀH⁻¹a
        variance = (held.T @ self.frame.solve(self.point, held)).item()
        error = np.sqrt(variance / self.count)

        def excess(t, sign):
            return np.sqrt(self._fall(held, np.array([sign * t * error]))) - quantile

        ends = []
        for sign in (-1, 1):
            # For a quadratic ℓ the limit is at t = quantile: it is tried first.
            far = quantile
            while excess(far, sign) < 0:  # ℓ falls at least linearly in the end
                far *= 2
            t = brentq(excess, 0, far, args=(sign,), xtol=_LIMIT_TOL * quantile)
            ends.append(sign * t)
        return tuple(ends)

    def _scaled(self, contrast):
        """Columns for scaled parameters of size 1, and what they were divided by."""
        back, unit = self.frame.original(self.point.B.shape[1])
        # θ = back d/unit, so aᵀθ = heldᵀd with held = backᵀ(a/unit)
        held = ((contrast / unit) @ back).T
        size = np.abs(held).max(axis=0)
        return held / size, size

    def _fall(self, held, gap):
        best = self._restricted(held, gap).objective
        return max(float(2 * self.count * (self.point.objective - best)), 0.0)

    def _restricted(self, held, gap):
        """The maximum where ``heldᵀ(d − d̂) = gap``, by Newton's steps."""
        frame = self.frame
        point = max(self._starts(held, gap), key=lambda start: start.objective)
        if held.shape[1] == len(held):  # nothing is left free
            return point
        for _ in range(_MAX_STEPS):
            step = frame.newton_step(point, held)
            if step.is_small(_SMALL_STEP, point):
                return point
            following, _ = ascend(frame, point, step.D, _MAX_HALVINGS)
            if following is None:
                break
            point = following
        warnings.warn(
            "The profile likelihood did not converge: its limits and p-values are not "
            "exact; standardise the features or take method='wald'",
            ConvergenceWarning,
            stacklevel=5,
        )
        return point

    def _starts(self, held, gap):
        """On the tangent of the profile, and the shortest parameters."""
        frame, B = self.frame, self.point.B
        # d̂ + H⁻¹a(aᵀH⁻¹a)⁻¹gap, where a quadratic ℓ has its maximum, and the shortest
        # d with aᵀd = aᵀd̂ + gap: some logits of the first may be far out.
        d = (B * frame.scale[:, None]).T.ravel()
        along = frame.solve(self.point, held)
        for there in (
            d + along @ np.linalg.solve(held.T @ along, gap),
            held @ np.linalg.solve(held.T @ held, held.T @ d + gap),
        ):
            yield frame.evaluate(there.reshape(B.T.shape).T / frame.scale[:, None])


def _scores(model, B):
    """Yield scores ``s_i = Tᵀ(Y_i − p_i) ⊗ x̃_i`` and weights, block by block."""
    for rows, p, code, weight in model.probabilities(B):
        # Y_i − p_i, class by class; the score of a contrast is its product with T.
        residual = -p
        residual[code, np.arange(len(code))] += 1
        if model.fit_intercept:
            rows = np.column_stack([rows, np.ones(len(rows))])
        parts = [rows * r[:, None] for r in model.T.T @ residual]
        yield np.hstack(parts), weight


def _squares_of_scores(model, B):
    """``Σ w s sᵀ``: a weight counts rows."""
    meat = np.zeros((B.size, B.size))
    for score, weight in _scores(model, B):
        meat += score.T @ (score * weight[:, None])
    return meat
