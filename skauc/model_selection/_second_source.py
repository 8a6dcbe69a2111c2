"""The AUC of rows left out that a fitted model has beside its prior."""

from __future__ import annotations

import numpy as np

from ..intervals._warn_caller import warn_caller
from ..leave_pair_out._estimate import LeavePairOut, leave_pair_out
from ..leave_pair_out._objective import PenalisedFit
from ..leave_pair_out._pairs import class_of_one_row
from ..statistics._moments import project_samples
from ._reasons import lost_second_source, stopped_early
from ._refit_objective import training_objective
from ._scored_model import ScoredModel
from ._training_objective import REARRANGED, leave_pair_out_estimate
from ._training_rows import fit_at_optimum, was_stopped
from ._warnings import UntrustedAUCWarning


def left_out(scored: ScoredModel) -> tuple[LeavePairOut | None, str | None]:
    """Leave-pair-out of a model on the rows that trained it, and what is to be said.

    A solver that stopped early is taken to its optimum, so that all candidates of a
    search are ranked on the same functional.

    Parameters
    ----------
    scored : ScoredModel
        On training rows, as far as that is known.

    Returns
    -------
    estimate : LeavePairOut or None
    reason : str or None
    """
    model, Z, rows = scored.model, scored.front, scored.second_class
    if model is None or class_of_one_row(scored.positive, scored.weight) is not None:
        return None, None
    found = leave_pair_out_estimate(model, Z, rows, scored.weight)
    return _of_stopped(scored) if found is None else (found, None)


def compare_with_training_rows(scored: ScoredModel, rows: str) -> None:
    """Warn of permuted training rows; keep what tells them of rows that trained.

    Parameters
    ----------
    scored : ScoredModel
    rows : {"training", "held-out", "assumed"}
    """
    model, second_class = scored.model, scored.second_class
    if model is None:
        return
    if rows == "training":
        REARRANGED.remember(model, second_class, scored.score)
    elif REARRANGED.recall(model, second_class, scored.score):
        warn_rearranged(model)


def _of_stopped(scored):
    """Leave-pair-out at the optimum that the solver did not reach."""
    Z, rows = scored.front.astype(float, copy=False), scored.second_class
    name = type(scored.model).__name__
    if not was_stopped(scored.model):  # then these rows are other rows
        return None, None
    known = training_objective(scored.model, Z, rows, scored.weight)
    if type(known) is not PenalisedFit or known.loss not in _SMOOTH:
        return None, None
    fit = fit_at_optimum(scored)
    if fit is None or not fit.w.any():
        return None, lost_second_source(name)
    score = project_samples(Z, fit.w)
    if np.corrcoef(score, project_samples(Z, known.w))[0, 1] < _NEAR:
        return None, lost_second_source(name)
    return leave_pair_out(Z, rows, fit, scored.weight), stopped_early(name)


# Correlation with the optimum's scores: beyond, its AUC is the AUC of another model.
_NEAR = 0.9
_SMOOTH = ("logistic", "squared", "squared_hinge")


def warn_rearranged(model) -> None:
    """Permuted training rows are neither training nor held-out rows."""
    warn_caller(
        f"The rows have the labels and the mean score of those that trained "
        f"the {type(model).__name__}, but are not those rows: permuted "
        "training rows are neither training nor held-out rows, and their AUC "
        "must not be compared with the one of the training rows; take held-out rows, "
        'or make_cbauc_scorer(rows="training", prior=AdaptivePrior('
        "leave_pair_out=False)) for both",
        UntrustedAUCWarning,
    )
