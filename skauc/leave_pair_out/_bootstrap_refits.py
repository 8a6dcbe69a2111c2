"""The .632+ estimate of a model from refits of its objective, where they are cheap."""

from __future__ import annotations

import numpy as np

from ._bootstrap import Samples, balanced_counts, bootstrap_counts, bootstrap_estimate
from ._discriminant_refits import DiscriminantRule, refit_discriminant
from ._dual_refits import suits_dual
from ._objective import PenalisedFit, is_l1, made
from ._optimum import CLOSED_FORM
from ._proximal_refits import refit_elastic_net
from ._smooth_refits import FOR_AUC, FOR_AUC_OF_FEW_ROWS, refit_smooth, uses_rows

SOME_ROWS = 200  # as in the table of :mod:`._second_source`
MANY_ROWS_A_FEATURE = 5  # for refits that stop early, and rows left out of few
_WORK = 2e10  # products: about two seconds
STEPS = 5  # factorisations of a refit from the fit; of the hinge 20, of L1 up to 200
# Of an L1 fit to fewer rows than features. Squared error over Hanley and McNeil's
# variance of 20 bootstrap and of 5 balanced samples, C = 1 and 10: 300 × 5000 text .62,
# .77 and 2.6, 2.5; 200 × 5000 text .58, .78 and 3.2, 2.9; 200 × 1000 normal 3.8, 3.0
# and 3.7, 2.9 (its bias is .01 less); 100 × 1000 .57, .95 and .56, .80. An elastic net
# of more features than rows keeps 20 as long as they are cheap: MAE on 500 × 50 000
# text, l1_ratio .1, C = 1 and 10: .024, .031 of 20; .034, .040 of 5; its active
# features alone, pairs left out, are off by -.15 and -.24. After a saga that stopped,
# l1_ratio .1 to 1, C = 1 and 10: .016 to .035, five folds .015 to .026; labels at
# random .010 to .019, five folds .022 to .031.
_FEW, _FEW_FOR_ROWS = 5, 200
# Of 200 rows or more 10 balanced samples are as good as 20 that are drawn. MAE of the
# whole posterior, less that: 200 × 80, 150 and 600, 250 × 200 and 1000, 300 × 80, 400 ×
# 100 (data and models as in that module) .0000, −.0021, +.0017, +.0025, −.0008, +.0010,
# +.0014, standard errors .0013 to .0020.
_HALF = 10


def bootstrap_auc(objective, X, positive, weight, n_boot, remember, solved):
    """The estimate, from refits that start at the model.

    Parameters
    ----------
    objective : PenalisedFit, ElasticNetFit or DiscriminantRule
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)
        Frequency weights, positive.
    n_boot : int
        Samples that are drawn; some objectives need fewer.
    remember : callable ``(name, compute) -> value``
        Keeps what depends on the rows alone.
    solved : bool
        Whether the model is at its optimum.

    Returns
    -------
    auc : float
    positive : ndarray of bool
        Of the rows that were drawn from. None in the place of both where refits are
        too dear, or reach no optimum.
    """
    if not is_cheap(objective, X, weight, n_boot):
        return None
    balanced, draw = _balanced_samples(objective, X, weight, n_boot), bootstrap_counts
    if balanced:
        draw, n_boot = balanced_counts, balanced
    samples = remember(
        ("samples", bool(balanced), n_boot),
        lambda: Samples.of_rows(made(X), positive, weight, draw, n_boot),
    )
    if samples is None:
        return None
    refits = _refits(objective, X, positive, samples, remember, solved)
    if refits is None or not refits.full_converged or not refits.converged.any():
        return None
    done, rows = refits.converged, samples.rows
    auc = bootstrap_estimate(
        refits.full[rows],
        refits.scores[np.ix_(done, rows)],
        positive[rows],
        samples.counts[done],
    )
    return auc, positive[rows]


def _balanced_samples(objective, X, weight, n_boot):
    """How many stand for more that are drawn; 0 where none do."""
    if has_few_samples(objective, X, weight, n_boot):
        return _FEW
    smooth = type(objective) is PenalisedFit and objective.loss in CLOSED_FORM
    return _HALF if smooth and weight.sum() >= SOME_ROWS and n_boot > _HALF else 0


def has_few_samples(objective, X, weight, n_boot):
    """Whether five balanced samples stand for more that are drawn."""
    n = weight.sum()
    if not is_l1(objective) or not X.shape[1] >= n >= _FEW_FOR_ROWS:
        return False
    return not suits_dual(objective, X) or n_boot * _of_rows(n) > _WORK


def _of_rows(n):
    """Products of a refit of as many unknowns as rows were drawn."""
    return STEPS * (0.63 * n) ** 3 / 3


def _refits(objective, X, positive, samples, remember, solved):
    if isinstance(objective, DiscriminantRule):
        return refit_discriminant(
            objective, X, positive, samples.drawn, samples.copies.astype(float)
        )
    if is_l1(objective):
        return refit_elastic_net(objective, X, positive, samples.drawn)
    question = objective, X, positive, samples.drawn, remember
    many = X.shape[0] >= MANY_ROWS_A_FEATURE * X.shape[1]
    tol = FOR_AUC if many else FOR_AUC_OF_FEW_ROWS
    return refit_smooth(*question, solved=solved, tol=tol)


def is_cheap(objective, X, weight, n_boot, steps=STEPS):
    """Whether a batch of refits costs at most a second or two."""
    n, P = weight.sum(), X.shape[1]
    if is_l1(objective):
        if objective.loss == "hinge":
            return False
        n_boot = _FEW if has_few_samples(objective, X, weight, n_boot) else n_boot
        if suits_dual(objective, X):
            return n_boot * _of_rows(n) <= _WORK
        # its systems are those of the features with w ≠ 0, or of the rows if fewer
        P = min(max(np.count_nonzero(objective.w), 1), n)
    drawn = 0.63 * n  # different rows in a sample: 1 − 1/e
    small, large = min(drawn, P), max(drawn, P)
    if isinstance(objective, DiscriminantRule):
        # A Gram matrix of the smaller side, from rows of the larger
        return n_boot * small**2 * large <= _WORK
    if uses_rows(X) and not is_l1(objective):
        # the hinge bends at few rows: its systems are small, its steps many
        return objective.loss == "hinge" or n_boot * _of_rows(n) <= _WORK
    steps = 4 * STEPS if objective.loss == "hinge" else steps
    # A P×P Hessian from the drawn rows in every step
    return n_boot * steps * drawn * P**2 <= _WORK
