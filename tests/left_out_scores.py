"""Scores of rows left out one by one, of the leverages of all rows."""

import numpy as np

from skauc.leave_pair_out._inverse_root import InverseRoot, of_intercept
from skauc.leave_pair_out._left_out_pairs import LeftOutRows


def left_out_rows(fit, X, positive, weight=None):
    """Of f equal rows, f the frequency weight, one is left out."""
    z, g, curvature = fit.slopes(X, positive)
    weight = np.ones(len(z)) if weight is None else weight
    h, _ = InverseRoot.of_fit(fit, X, curvature).leverages_and_rest(X, g)
    e = of_intercept(fit, curvature)
    return LeftOutRows.of_fit(z, g, curvature, weight, h, e)


def leave_one_out_scores(fit, X, positive, weight=None):
    return left_out_rows(fit, X, positive, weight).alone
