"""Methods: functions from a run to an estimate of the AUC of each of its candidates.

A method takes a :class:`Run` and returns :class:`Estimates`, or None where
it has no answer for such a run.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.panel.judging import Estimates
from skauc import (
    AdaptivePrior,
    auc_posterior,
    cbauc_scorer,
    clear_cache,
    lpo_auc_scorer,
)

REFITTED = ("kbest", "l1")  # families whose choice of features a fit hides


def cv10x5(run):
    """10 × 5-fold CV, of the L2 family."""
    if run.key.family != "l2":
        return None
    return Estimates(run.repeated_folds.mean(axis=0))


def skauc(run, reported=None):
    """The default: posterior mean, 95 % interval, and the scorer that ranks."""
    score = _each(run, cbauc_scorer)
    return _posterior(run, score=score, reported=reported)


def three_candidates(run):
    """The same; only the candidates at ¼, ½ and ¾ of the grid are reported."""
    return skauc(run, np.linspace(0, len(run.models) - 1, 5).round().astype(int)[1:4])


def refits5(run):
    """Five true refits of the whole Pipeline as the second source."""
    if run.key.family not in REFITTED:
        return None
    return _posterior(run, AdaptivePrior(refits=5), ranked=True)


def _posterior(run, prior="adaptive", score=None, ranked=False, reported=None):
    """Mean and 95 % interval of a posterior, which may rank the candidates."""

    def ask(model, X, y):
        posterior = auc_posterior(model, X, y, prior=prior)
        inner = posterior.interval(0.8)
        answer = posterior.mean(), *posterior.interval(0.95), *inner
        return (*answer, posterior.choice()) if ranked else answer

    answers, raised = _each(run, ask, 6 if ranked else 5, reported)
    auc, low, high, *inner, chosen = answers if ranked else (*answers, None)
    if score is not None:
        chosen, raised = score[0][0], score[1] | raised
    asked = None if reported is None else len(reported)
    return Estimates(auc, low, high, chosen, raised, asked, *inner)


def _each(run, ask, width=1, places=None):
    """``width`` rows of answers about each model, NaN where there is none; errors."""
    answers, raised = np.full((width, len(run.models)), np.nan), set()
    for k in range(len(run.models)) if places is None else places:
        try:
            answers[:, k] = ask(run.models[k], *run.training)
        except Exception as error:
            raised.add(f"{type(error).__name__}: {error}"[:200])
    return answers, raised


METHODS = {
    "skauc": skauc,
    "skauc, three candidates": three_candidates,
    "skauc, refits=5": refits5,
    "skauc, no leave-pair-out": lambda run: _posterior(
        run, AdaptivePrior(leave_pair_out=False)
    ),
    "leave-pair-out": lambda run: Estimates(_each(run, lpo_auc_scorer)[0][0]),
    "paper's prior": lambda run: _posterior(run, "paper"),
    "resubstitution": lambda run: Estimates(run.resubstitution),
    "5-fold CV": lambda run: Estimates(run.peer),
    "10 x 5-fold CV": cv10x5,
    ".632+ bootstrap": lambda run: Estimates(run.plus_632),  # 20 refits
    "out of bag": lambda run: Estimates(run.out_of_bag.mean(axis=0)),  # the same refits
}


def timed(method, run):
    """Its estimates, and the process's seconds; rows and fits are not its time."""
    run.models  # noqa: B018
    clear_cache()
    start = process_time()
    answer = method(run)
    return answer, process_time() - start
