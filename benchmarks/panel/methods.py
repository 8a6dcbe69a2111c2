"""Methods: functions from a run to an estimate of the AUC of each of its candidates.

A method takes a :class:`Run` and returns :class:`Estimates`, or None where
it has no answer for such a run.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.panel.judging import Estimates
from skauc import AdaptivePrior, auc_posterior, cbauc_scorer, lpo_auc_scorer

REFITTED = ("kbest", "l1")  # families whose choice of features a fit hides


def cv5(run):
    """Mean AUC of 5 stratified folds; of held-out rows the empirical AUC."""
    return Estimates(run.peer)


def cv10x5(run):
    """10 × 5-fold CV, of the L2 family."""
    if run.rows == "held-out" or run.key.family != "l2":
        return None
    return Estimates(run.repeated_folds.mean(axis=0))


def plus_632(run):
    """.632+ bootstrap of the whole Pipeline (20 refits)."""
    return None if run.rows == "held-out" else Estimates(run.plus_632)


def out_of_bag(run):
    """Mean AUC on the rows that each of the same 20 samples left out."""
    return None if run.rows == "held-out" else Estimates(run.out_of_bag.mean(axis=0))


def resubstitution(run):
    """AUC on the rows asked about."""
    return Estimates(run.resubstitution)


def skauc(run):
    """The default: posterior mean, 95 % interval, and the scorer that ranks."""

    def ask(model):
        posterior = auc_posterior(model, run.problem.X, run.problem.y)
        score = cbauc_scorer(model, run.problem.X, run.problem.y)
        return posterior.mean(), *posterior.interval(0.95), score

    return Estimates(*_each(run, ask, 4))


def model_alone(run):
    """The learnt prior without leave-pair-out."""
    return _posterior(run, AdaptivePrior(leave_pair_out=False))


def refits5(run):
    """Five true refits of the whole Pipeline as the second source."""
    if run.rows == "held-out" or run.key.family not in REFITTED:
        return None
    return _posterior(run, AdaptivePrior(refits=5), ranked=True)


def paper(run):
    """The prior of Hassan et al. (2019)."""
    return _posterior(run, "paper")


def leave_pair_out(run):
    """Leave-pair-out AUC from the one fit."""
    return Estimates(
        *_each(
            run, lambda model: (lpo_auc_scorer(model, run.problem.X, run.problem.y),), 1
        )
    )


def _posterior(run, prior, ranked=False):
    def ask(model):
        posterior = auc_posterior(model, run.problem.X, run.problem.y, prior=prior)
        answer = posterior.mean(), *posterior.interval(0.95)
        return (*answer, posterior.choice()) if ranked else answer

    return Estimates(*_each(run, ask, 4 if ranked else 3))


def _each(run, ask, width):
    """``width`` rows of answers about each model; NaN where it is not covered."""
    answers = []
    for model in run.models:
        try:
            answers.append(ask(model))
        except (TypeError, ValueError):
            answers.append((np.nan,) * width)
    return np.transpose(answers)


METHODS = {
    "skauc": skauc,
    "skauc, refits=5": refits5,
    "skauc, no leave-pair-out": model_alone,
    "leave-pair-out": leave_pair_out,
    "paper's prior": paper,
    "resubstitution": resubstitution,
    "5-fold CV": cv5,
    "10 x 5-fold CV": cv10x5,
    ".632+ bootstrap": plus_632,
    "out of bag": out_of_bag,
}


def timed(method, run):
    """Its estimates, and the process's seconds; rows and fits are not its time."""
    run.models  # noqa: B018
    start = process_time()
    answer = method(run)
    return answer, process_time() - start
