"""Verbs of a ROC curve, whatever the distributions of the scores.

A child has ``fpr(t), tpr(t)``, the area over ``FPR ≤ u`` and the thresholds at which
the densities of the two classes are equal; the rest follows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..statistics._checks import check_flag, check_interval


class YoudenPoint(NamedTuple):
    """The threshold at which ``J = TPR − FPR`` is largest."""

    threshold: float
    fpr: float
    tpr: float
    j: float


class ROCCurve:
    """Parent of the curves; a child has ``fpr, tpr`` and two private methods.

    ``_partial_area(max_fpr)`` is the area over ``0 ≤ FPR ≤ max_fpr``,
    ``_equal_density_thresholds()`` the candidates for the best threshold.
    """

    def partial_auc(self, max_fpr, *, standardize=False) -> float:
        """Area under the curve over ``0 ≤ FPR ≤ max_fpr``.

        Parameters
        ----------
        max_fpr : float in (0, 1]
        standardize : bool, default=False
            McClish's rescaling to ½ for chance and 1 for a perfect curve, as in
            :func:`sklearn.metrics.roc_auc_score`.

        Returns
        -------
        float
            By quadrature; the notes of the class state its accuracy.

        Raises
        ------
        ValueError
            If ``max_fpr`` lies outside (0, 1].
        """
        max_fpr = check_interval("max_fpr", max_fpr, 0, 1, closed="right")
        area = self._partial_area(max_fpr)
        if not check_flag("standardize", standardize):
            return float(area)
        # McClish: ½ (1 + (A − u²/2)/(u − u²/2)); chance has u²/2, a perfect curve u
        lowest = max_fpr**2 / 2
        return float((1 + (area - lowest) / (max_fpr - lowest)) / 2)

    def youden(self) -> YoudenPoint:
        """Threshold at which ``J = TPR − FPR`` is largest.

        Returns
        -------
        YoudenPoint
            Named tuple ``(threshold, fpr, tpr, j)``.

        Notes
        -----
        It is a point at which the densities of the classes are equal. Where no
        threshold beats guessing, the threshold is ``inf`` and J is 0.
        """
        # dJ/dt = f₀(t) − f₁(t) is 0 where J is largest; J = 0 at t = ∞
        points = [self._point(t) for t in (np.inf, *self._equal_density_thresholds())]
        return max(points, key=lambda point: point.j)

    def _partial_area(self, max_fpr: float) -> float:
        raise NotImplementedError

    def _equal_density_thresholds(self) -> list[float]:
        raise NotImplementedError

    def _point(self, t):
        fpr, tpr = float(self.fpr(t)), float(self.tpr(t))
        return YoudenPoint(float(t), fpr, tpr, tpr - fpr)
