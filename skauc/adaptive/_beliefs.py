"""What the cells of the model believe of a direction, one by one.

The cells and their weights are those of the data set, whichever direction is asked, so
that the beliefs of two directions can be multiplied: that is their covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..posterior._components import Components
from ._join import probit_of_mean
from ._learnt import LearntProjection


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Spread of ``Z = Φ⁻¹(AUC)`` under the model of the data set.

    ``Var Z = |between|² + within²``, and the covariance of two directions is the
    product of their ``between`` plus that of their ``within`` times the correlation of
    the noise along the two.

    Parameters
    ----------
    probit : float
        m of the model alone, ``Φ⁻¹`` of the mean AUC.
    between : ndarray of shape (n_cells + 1,)
        ``√(weight/2) (E[Z | cell] − E Z)`` under each null, and half of what the means
        of the two nulls are apart.
    within : float
        Root mean square of the standard deviations inside the cells.
    """

    probit: float
    between: np.ndarray
    within: float


def beliefs(projection: LearntProjection) -> Beliefs:
    """Beliefs of the model of a data set about one direction.

    Parameters
    ----------
    projection : LearntProjection
        Of a direction that is alive.

    Returns
    -------
    Beliefs
    """
    learnt, view = projection.learnt, projection.view
    nulls = learnt.model.posteriors(view, 0, projection.w, learnt.Z)
    found = list(map(_of_null, nulls))
    centre, deviation, probit, inside = zip(*found, strict=True)
    # Var Z of the half-and-half mixture: mean of the nulls' variances + ¼ (Z̄₁ − Z̄₂)²
    between = np.concatenate(deviation) / np.sqrt(len(nulls))
    return Beliefs(
        float(np.mean(probit)),
        np.append(between, (centre[0] - centre[-1]) / 2),
        float(np.sqrt(np.mean(inside))),
    )


def _of_null(posterior):
    """Mean of Z, weighted deviations of the cells' means, Φ⁻¹E Φ(Z), spread inside."""
    parts = (posterior.weight, posterior.D, posterior.v, posterior.q, posterior.df)
    # Var Z = Σ weight Var(Z | cell) + Σ weight (E[Z | cell] − E Z)²
    mean, variance = Components(*parts).cell_moments()
    centre, inside = posterior.weight @ mean, posterior.weight @ variance
    deviation = np.sqrt(posterior.weight) * (mean - centre)
    whole = inside + deviation @ deviation
    return centre, deviation, probit_of_mean(centre, whole), inside
