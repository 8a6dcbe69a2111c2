"""The likelihood of the rows that trained a model, opened again at its estimate.

Along a contrast ``aᵀθ`` the *profile* is the largest ℓ (or Firth's ℓ*) with ``aᵀθ``
fixed. With the standard error se of aᵀθ̂ its signed root

    r(t) = sign(t) √{2(ℓ(θ̂) − max ℓ(θ : aᵀθ = aᵀθ̂ + t se))}

is t for a quadratic ℓ; limits are where |r| is a normal quantile (Venzon & Moolgavkar
1988, https://doi.org/10.2307/2347496). The *sandwich* ``H⁻¹(Σ s sᵀ)H⁻¹`` takes the
covariance of the gradient from the scores s of rows (White 1982,
https://doi.org/10.2307/1912526) or clusters (Liang & Zeger 1986,
https://doi.org/10.1093/biomet/73.1.13).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from ..statistics._warn_caller import warn_caller
from ._likelihood import cluster_scores, squared_scores
from ._newton import Objective, Point, climb, solve

# The square of tol is the error of ℓ: limits are good to ten digits. Maximum likelihood
# takes up to 7 steps, Firth's on 30 separated rows 44 with 7 halvings.
_CLIMB = {"tol": 1e-7, "max_iter": 200, "max_halvings": 40}
_LIMIT_TOL = 1e-10  # of a limit, in standard errors


@dataclass(eq=False)
class FittedLikelihood:
    """An objective and its maximum."""

    objective: Objective
    point: Point
    converged: bool = True  # whether all maxima along contrasts were reached

    def sandwich(self, groups=None):
        """Covariance of the estimates from the scores of rows, or of clusters."""
        if groups is None:
            meat = self.objective.sums(squared_scores, self.point.theta)
        else:
            sums = self.objective.sums(cluster_scores, self.point.theta)
            meat = sums.T @ sums
        return self.objective.covariance(self.point, meat)

    def fall(self, contrast, gap) -> float:
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = Lθ̂ + gap)}`` of L of shape (q, M(P + 1))."""
        held, size = self._scaled(contrast)
        return self._fall(held, gap / size)

    def limits(self, contrast, quantile):
        """Where the signed root of the profile is ∓quantile, in standard errors."""
        held, _ = self._scaled(contrast[None])
        # se² = aᵀH⁻¹a
        error = np.sqrt((held.T @ solve(self.point.information, held)).item())

        def excess(t, sign):
            return np.sqrt(self._fall(held, np.array([sign * t * error]))) - quantile

        ends = []
        for sign in (-1, 1):
            # For a quadratic ℓ the limit is at t = quantile: it is tried first
            far = quantile
            while excess(far, sign) < 0:  # ℓ falls at least linearly in the end
                far *= 2
            t = brentq(excess, 0, far, args=(sign,), xtol=_LIMIT_TOL * quantile)
            ends.append(sign * t)
        return tuple(ends)

    def _scaled(self, contrast):
        """Columns for scaled parameters, of size 1, and what they were divided by."""
        back = self.objective.coordinates.to_original(self.objective.contrasts)
        held = (contrast @ back).T  # aᵀθ = aᵀ back d
        size = np.abs(held).max(axis=0)
        return held / size, size

    def _fall(self, held, gap):
        best = self._restricted(held, gap).objective
        return max(float(2 * (self.point.objective - best)), 0.0)

    def _restricted(self, held, gap):
        """The maximum where ``heldᵀ(d − d̂) = gap``, by Newton's steps."""
        points = map(self.objective.at, self._starts(held, gap))
        point = max(points, key=lambda start: start.objective)
        if held.shape[1] == len(held):  # nothing is left free
            return point
        end = climb(self.objective, point, self.objective.free(held), **_CLIMB)
        self.converged &= end.small
        return end.point

    def warn(self):
        """Warn once if a profile did not converge; scipy's frames are left by now."""
        if not self.converged:
            warn_caller(
                "The profile likelihood did not converge: its limits and p-values are "
                "not exact; standardise the features or take method='wald'",
                ConvergenceWarning,
            )

    def _starts(self, held, gap):
        """On the tangent of the profile, and the shortest parameters."""
        # d̂ + H⁻¹a(aᵀH⁻¹a)⁻¹gap, where a quadratic ℓ has its maximum, and the shortest
        # d with aᵀd = aᵀd̂ + gap: some logits of the first may be far out
        d, along = self.point.theta, solve(self.point.information, held)
        yield d + along @ np.linalg.solve(held.T @ along, gap)
        yield held @ np.linalg.solve(held.T @ held, held.T @ d + gap)
