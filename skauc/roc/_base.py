"""Methods of a ROC curve for any distributions of the scores.

A child class has ``auc, fpr(t), tpr(t), roc(u)``, the corners of its curve and the
thresholds at which the densities of the two classes are equal; everything else follows.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from ..statistics._checks import check_flag, check_interval

_NODES = 113  # nodes of the double exponential quadrature: a step of 1/16


class YoudenPoint(NamedTuple):
    """The threshold at which ``J = TPR − FPR`` is largest.

    Attributes
    ----------
    threshold : float
        In units of the score; inf if no threshold is better than guessing.
    fpr, tpr : float
        False and true positive rate at this threshold.
    j : float
        ``tpr − fpr``, in [0, 1].

    See Also
    --------
    skauc.operating_points :
        Intervals of the rates at this threshold (``best="youden"``).
    skauc.empirical_roc : ``youden()`` of an empirical curve returns it.
    skauc.binormal_roc : ``youden()`` of a smooth curve returns it.

    Examples
    --------
    >>> from skauc import empirical_roc
    >>> empirical_roc([0, 0, 1, 1], [1, 3, 2, 4]).youden().threshold
    4.0
    """

    threshold: float
    fpr: float
    tpr: float
    j: float


class ROCCurve:
    """Parent of the curves; child classes add the rates and two private methods.

    ``_corners()`` are the false positive rates at which the curve may be steep or not
    smooth, ``_equal_density_thresholds()`` the candidates for the best threshold.
    """

    auc: Any
    roc: Any
    _corners: Any
    _equal_density_thresholds: Any

    def partial_auc(self, max_fpr: float, *, standardize: bool = False) -> float:
        """Area under the curve over ``0 ≤ FPR ≤ max_fpr``.

        Parameters
        ----------
        max_fpr : float in (0, 1]
            Largest false positive rate of the area.
        standardize : bool, default=False
            McClish's rescaling to ½ for chance and 1 for a perfect curve, as in
            :func:`sklearn.metrics.roc_auc_score`.

        Returns
        -------
        float
            The area by quadrature; the notes of the class state its accuracy.

        Raises
        ------
        ValueError
            If ``max_fpr`` lies outside (0, 1].
        """
        max_fpr = check_interval("max_fpr", max_fpr, 0, 1, closed="right")
        area = self.auc
        if max_fpr < 1:
            inside = (u for u in self._corners() if 0 < u < max_fpr)
            ends = sorted([0.0, *inside, max_fpr])
            area = sum(_integral(self.roc, *piece) for piece in pairwise(ends))
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
        At this threshold the densities of both classes are equal. If no threshold is
        better than guessing, the threshold is ``inf`` and J is 0.
        """
        # dJ/dt = f₀(t) − f₁(t) is 0 where J is largest; J = 0 at t = ∞
        points = [self._point(t) for t in (np.inf, *self._equal_density_thresholds())]
        return max(points, key=lambda point: point.j)

    def _point(self, t):
        fpr, tpr = float(self.fpr(t)), float(self.tpr(t))
        return YoudenPoint(float(t), fpr, tpr, tpr - fpr)


def _integral(function, low, high):
    """Double exponential quadrature (Takahasi & Mori), also for steep ends."""
    # t = low + (high − low)x with x = (1 + tanh g)/2 = expit(2g) and g = ½π sinh v, and
    # the trapezoidal rule in v; at |v| = 3.5 the weight is 1/cosh² 26 = e^−51
    v, step = np.linspace(-3.5, 3.5, _NODES, retstep=True)
    g = np.pi / 2 * np.sinh(v)
    x = expit(2 * g)
    # dx = 2x(1 − x) dg
    weight = np.pi * np.cosh(v) * x * expit(-2 * g) * step
    return (high - low) * (function(low + (high - low) * x) @ weight)
