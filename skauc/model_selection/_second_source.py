"""The AUC of rows left out that a fitted model has beside its prior."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..adaptive._cache import CACHE
from ..adaptive._learnt import Learnt
from ..adaptive._prior import fingerprint
from ..intervals._warn_caller import warn_caller
from ..leave_pair_out._discriminant_refits import DiscriminantRule
from ..leave_pair_out._objective import ElasticNetFit, PenalisedFit, ask_again
from ..leave_pair_out._optimum import at_optimum
from ..leave_pair_out._pairs import class_of_one_row
from ..leave_pair_out._second_source import (
    SecondSource,
    second_source,
    source_of_rounded_hinge,
    suits_leave_one_out,
    takes_products,
)
from ..statistics._auc_variance import balanced_variance
from ..statistics._block_column import BlockColumn
from ..statistics._ranks import empirical_auc
from ._any_estimator import has_known_fit
from ._reasons import lost_second_source, not_at_optimum, stopped_early
from ._refit_objective import discriminant_objective
from ._scored_model import ScoredModel
from ._standardised_rows import StandardisedRows
from ._training_objective import REARRANGED, correlation, largest_gradient
from ._training_rows import was_stopped
from ._warnings import UntrustedAUCWarning


def left_out(
    scored: ScoredModel, told: bool = True, learnt: Learnt | None = None
) -> tuple[SecondSource | None, str | None]:
    """AUC of a model on rows left out of its training, and what is to be said of it.

    A solver that stopped early is taken to its optimum, so that all candidates of a
    search are ranked on the same functional.

    Parameters
    ----------
    scored : ScoredModel
        On training rows, as far as that is known.
    told : bool, default=True
        Whether they are known to be training rows, and not only assumed to be.
    learnt : Learnt, default=None
        Of these rows: their fingerprint is known.

    Returns
    -------
    source : SecondSource or None
    reason : str or None
    """
    model, rows, weight = scored.model, scored.second_class, scored.weight
    if class_of_one_row(scored.positive, weight) is not None:
        return None, None
    Z = scored.floats
    known: DiscriminantRule | PenalisedFit | None
    known = discriminant_objective(model, Z.shape, weight)
    if known is None:
        known = scored.objective
    if known is None:
        return None, None
    reason = gradient = None
    products = takes_products(known, Z) or suits_leave_one_out(known, Z, weight)
    if not products or type(known) is not PenalisedFit:
        Z = scored.samples.astype(float, copy=False)
    remember = kept_of(Z, rows, weight, partial(_known_by, scored, learnt))
    if isinstance(known, PenalisedFit):
        stopped = was_stopped(model)
        if type(known) is PenalisedFit and known.loss in _SMOOTH and not stopped:
            known, gradient = scored.near
            arrived = gradient <= largest_gradient(Z.shape)
        else:  # an L1 fit says it has arrived where it has not
            l1 = isinstance(known, ElasticNetFit)
            arrived = told and not l1 and not stopped
        if not arrived and not has_known_fit(model):
            return None, None  # it may have minimised anything
        if not arrived:
            # a hinge whose scores are those of the rounded one needs no optimum
            question = known, Z, rows, weight
            found = source_of_rounded_hinge(*question, remember=remember)
            if found is not None:
                return found, None
            say = stopped_early if stopped else not_at_optimum
            smooth = type(known) is PenalisedFit and known.loss in _SMOOTH
            before = _gradient_if_near(scored) if smooth else None
            known, reason = _of_stopped(
                known, Z, rows, type(model).__name__, remember, say, before, weight
            )
            gradient = 0.0 if smooth else None  # it is at its optimum now
    found = second_source(known, Z, rows, weight, gradient=gradient, remember=remember)
    return found, reason


def _known_by(scored, learnt):
    """Fingerprint of the rows in front if that of the rows that entered is known."""
    if learnt is None:
        return None
    front, labels = scored.front, (scored.second_class, scored.weight)
    if not isinstance(front, StandardisedRows):
        return learnt.fingerprint_of(scored.floats, *labels)
    entered = learnt.fingerprint_of(front.X, *labels)
    return entered and front.fingerprint(entered)


def kept_of(Z, positive, weight, known_by):
    """What keeps the values that depend on these rows alone, for the next candidate.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    known_by : callable
        Returns their fingerprint, if it is known; asked with the first value.

    Returns
    -------
    callable
        ``(name, compute) -> value``.
    """
    if Z.shape[1] == 1:  # a score: not kept
        return ask_again
    known: list[bytes] = []  # asked once; functools.cache takes 10 µs to make

    def remember(name, compute):
        if not known:
            known.append(known_by() or fingerprint(Z, positive, weight))
        return CACHE.remember((name, known[0]), compute)

    return remember


def held_out(scored: ScoredModel) -> SecondSource:
    """Empirical AUC of rows that did not train the model, by Hanley and McNeil."""
    positive, weight = scored.positive, scored.weight
    if isinstance(positive, BlockColumn):  # and so are the scores
        sums = scored.score.rank_sums(positive, weight=weight)
        return source_of_rows(sums.auc, sums.n_neg, sums.n_pos, "held-out")
    weight = np.ones(len(positive)) if weight is None else weight
    sides = weight[~positive], weight[positive]
    auc = empirical_auc(scored.score[~positive], scored.score[positive], *sides)
    n_neg, n_pos = (float(side.sum()) for side in sides)
    return source_of_rows(auc, n_neg, n_pos, "held-out")


def source_of_rows(auc, n_neg, n_pos, method, times=1.0) -> SecondSource:
    """An AUC of all rows with so many times Hanley and McNeil's variance."""
    # (An + ½)/(n + 1): at 0 and 1 the variance would be 0.
    inside = (auc * (n_neg + n_pos) + 0.5) / (n_neg + n_pos + 1)  # never 0 or 1
    variance = times * balanced_variance(inside, n_neg, n_pos)
    return SecondSource(auc, float(variance), method)


def are_rearranged(scored: ScoredModel, rows: str) -> bool:
    """Warn of permuted training rows; keep what tells them of rows that trained.

    Parameters
    ----------
    scored : ScoredModel
    rows : {"training", "held-out", "assumed"}
    """
    model, second_class = scored.model, scored.second_class
    if not hasattr(model, "coef_"):  # a pair of classes, or not linear
        return False
    score = scored.own_score
    if rows == "training":
        REARRANGED.remember(model, second_class, score)
        return False
    found = REARRANGED.recall(model, second_class, score)
    if found:
        warn_rearranged(model)
    return found


def _gradient_if_near(scored):
    """The gradient that the model itself has; infinite if it must be moved."""
    near, gradient = scored.near
    return gradient if near is scored.objective else np.inf


def _of_stopped(fit, Z, rows, name, remember, say, gradient=None, weight=None):
    """The fit at the optimum that its solver did not reach, and what is to be said."""
    if not fit.w.any():  # best of length 0: it ranks these rows the wrong way round
        return None, None
    optimum = at_optimum(fit, Z, rows, gradient, remember, weight)
    if optimum is None or not optimum.w.any():
        return None, lost_second_source(name)
    scores = optimum.scores(Z), fit.scores(Z)
    # An AUC is that of the direction: lengths and intercepts do not count.
    same = correlation(*scores, fit.case_weight)
    if not same >= _NEAR:
        return None, lost_second_source(name)
    return optimum, None if same >= _REACHED else say(name)


# Correlation with the optimum's scores: below, its AUC is the AUC of another model.
_NEAR = 0.9
# Beyond, it is the AUC of this one to a thousandth: Φ(.999 Φ⁻¹(A)) > A − .0003.
_REACHED = 0.999
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
