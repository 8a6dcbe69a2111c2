"""Why a number should not be trusted as it is: every sentence, once."""

from __future__ import annotations

import numpy as np

from ..statistics._numerics import are_whole

FEW_ROWS = 10  # in a class: its mean and variance are hardly known
FEW_STEPS = 1000  # of rounding in the range of the scores: more ties than 1 in 1000


def few_rows(n_neg, n_pos) -> str | None:
    """A class has few rows."""
    n = min(n_neg, n_pos)
    if n >= FEW_ROWS:
        return None
    rows = "row" if n == 1 else "rows"
    return f"a class has only {n:g} {rows}: look at the interval, not at the number"


def relative_weights(weight) -> str | None:
    """Weights that are no counts: what is left out of a row leaves the rest of it."""
    if weight is None or not ((weight > 1) & ~are_whole(weight)).any():
        return None
    return (
        "sample_weight above 1 are counts of rows, and these are no whole numbers: "
        "divide relative weights by the largest of them, for the fit as well"
    )


def rounded_decisions(score_range, intercept) -> str | None:
    """The intercept takes the digits of the scores from what is decided by both."""
    if intercept == 0 or score_range == 0 or not np.isfinite(intercept):
        return None
    # Decisions near the intercept b are eps |b| apart.
    steps = float(score_range / (np.finfo(float).eps * abs(intercept)))
    if steps >= FEW_STEPS:
        return None
    return (
        "the intercept takes the digits of decision_function, which is left "
        f"{steps:.2g} steps in the range of the scores, whose AUC before the intercept "
        "this is: scale the features"
    )


def copied_rows(n_copies, n) -> str:
    """Rows are there more than once, as from oversampling, or by their weights."""
    return (
        f"{n_copies:.6g} of {n:.6g} rows are copies of others (a sample_weight of 2 "
        "counts one), so that a row left out has trained the model all the same: fit "
        "each different row once, with class_weight, or divide the weights by the "
        "largest of them"
    )


def near_copies(share) -> str:
    """Rows left out stay where they have near copies."""
    return (
        f"{100 * share:.0f} % of the rows have a near copy of the same label, which "
        "stays when they are left out, so that the AUC is too high: take "
        'class_weight="balanced" in place of oversampled rows, and one row of each '
        "that is there again"
    )


def more_features(n_features, n) -> str | None:
    """The covariance has more directions than there are rows."""
    if n_features < n:
        return None
    return (
        f"{n_features} features against {n:g} rows: the covariance cannot be seen, the "
        "estimate leans on the prior and on leave-pair-out"
    )


def prior_alone(n_features, n) -> str:
    """No rows left out to correct the prior, which matters most if P ≥ n."""
    if n_features < n:
        return "no AUC of rows left out beside the prior"
    return (
        f"{n_features} features against {n:g} rows and no AUC of rows left out beside "
        "the prior: take AdaptivePrior(refits=5)"
    )


def vary_far_apart() -> str:
    """One class has much more variance than the other."""
    return (
        "one class varies far more than the other: the model of the data set may take "
        "that for a difference of their means, or hide one behind it; report "
        "cross-validation or bootstrap_auc beside it"
    )


def rows_assumed(name) -> str:
    """Nothing told training rows from held-out ones."""
    return (
        f"nothing in {name} tells whether these rows trained it, which is assumed: say "
        'rows="training" or rows="held-out"'
    )


def taken_for_held_out() -> str:
    """Weights of the fit that are not given here look like other rows."""
    return (
        "these rows are taken for held-out rows, because a fit to them would be "
        "another one: if they trained it with weights, or some of them did, say "
        'rows="training" and pass the weights'
    )


def trained_by_some() -> str:
    """Models that are compared on rows that trained some of them."""
    return (
        "these rows trained some of the models and not the others, whose differences "
        "cannot be trusted: compare models of the same rows"
    )


def supervised_step(*, refits=True) -> str:
    """A step in front saw y: the refits of the linear model alone would miss that."""
    reason = "a step in front of the linear model saw y, so that only the prior speaks"
    if not refits:
        return reason
    return f"{reason}: AdaptivePrior(refits=5) refits the whole estimator"


def no_closed_form(name, folds) -> str:
    """A step that saw y is not affine."""
    return (
        f"{name} saw y and is not affine, so that no closed form holds: the posterior "
        f"comes from {folds} refits of the whole estimator"
    )


def frozen_in_refits(*, used) -> str:
    """Refits that do not fit everything anew."""
    reason = "a FrozenEstimator is not refitted: if it was fitted to these rows, none "
    reason += "of them is left out of it, and the AUC of refits is too high"
    return reason if used else f"{reason}, so that they are not used"


def closed_form_anyway(name) -> str:
    """A closed form is asked where none holds and no refits take its place."""
    return (
        f"{name} saw y and is not affine, so that the closed form, which is all there "
        "is here, does not hold: ask rows that trained nothing"
    )


def pairs_without_refits() -> str:
    """Refits of more than two classes are not made."""
    return "refits are not used for the pairs of more than two classes"


def stopped_early(name) -> str:
    """The solver stopped before its optimum."""
    return (
        f"{name} stopped before its optimum, of which the AUC of the rows left out "
        "speaks: raise max_iter, or alpha and average=True of a stochastic descent"
    )


def not_at_optimum(name) -> str:
    """The solver says that it has arrived, or these are not quite its rows."""
    return (
        f"{name} is not at its optimum on these rows, of which the AUC of the rows "
        "left out speaks: scale the features, or pass the weights it was fitted with"
    )


def lost_second_source(name) -> str:
    """A model whose objective is known, but whose optimum was not reached."""
    return (
        f"{name} has no AUC of rows left out, which other candidates may have, because "
        "its optimum was not reached: raise max_iter, scale the features, or take a "
        "larger alpha and average=True of a stochastic descent"
    )
