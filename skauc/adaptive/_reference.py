"""How far the model is off on a data set, asked of nine ridge models (section 7)."""

from __future__ import annotations

import numpy as np

from ..leave_pair_out._pairs import class_of_one_row
from ..leave_pair_out._ridge_path import ridge_path
from ..statistics._moments import project_samples
from ._join import Level, probit_of, reference_level
from ._null import TwoNulls


def level_of_ridge_models(model: TwoNulls, Z, positive, weight=None) -> Level | None:
    """Mean disagreement of the model with the leave-pair-out AUC of ridge models.

    Parameters
    ----------
    model : TwoNulls
        Of these rows.
    Z : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None

    Returns
    -------
    Level or None
        None where a class has one row: there is no pair to leave out.
    """
    if class_of_one_row(positive, weight) is not None:
        return None
    rows = (Z, positive, weight)
    if weight is not None and not weight.all():
        keep = np.flatnonzero(weight)
        rows = Z[keep], positive[keep], weight[keep]
    path, eigen = ridge_path(*rows), model.eigen
    directions = path.directions
    score = project_samples(Z, directions) if eigen.by_rows else None
    view = eigen.project(directions, score)
    alive = np.flatnonzero(view.alive)
    if not len(alive):
        return None
    # m_l, s_m² of the model along each ridge direction, z_l of the rows left out
    of_model = [model.probit(view, int(k), directions[:, k], Z) for k in alive]
    m, s_m2 = np.transpose(of_model)
    z = probit_of(path.auc[alive], eigen.n_neg + eigen.n_pos)
    return reference_level(m, s_m2, z, eigen.n_neg, eigen.n_pos)
