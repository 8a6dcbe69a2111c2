"""The second source of an AUC: what rows that were left out say beside the model.

Which one is asked of a fitted model, in this order:

==================  ======================================  =======================
method              where                                   cost
==================  ======================================  =======================
``leave-one-out``   smooth losses with an L2 penalty:       O(min(n, 40 P) P²), once;
                    n ≥ 500, P < n; n ≥ 300, .3 n ≤ P < n;  dense, n ≥ 500, P ≥ 100:
                    n ≥ 200, P ≤ n/5; but not of            O(nP²) for all models,
                    n < 5000 with fewer than 20 or P/5      O(nP) a model
                    rows of a class, nor of a squared
                    hinge with hardly a row a feature
                    inside the margin (P < 100)
``leave-one-out``   others: n ≥ 500, P ≤ .6 n; hinge:       O(min(n, 40 P) P²), once
                    n ≥ 1000
``leave-pair-out``  squares without a penalty,              O(n P²), once
                    .3 n ≤ P ≤ .6 n
``leave-pair-out``  500 ≤ n ≤ P, smooth losses with an L2   n³/3 a model; n ≤ 2000 and
                    penalty; the hinge, rounded             a strong penalty: O(n³)
                                                            for all models; sparse
                                                            n > 1000: 400 to 1200
                                                            products for all
``.632+``           20 refits of at most 2·10¹⁰ products,   20 × 5 steps of O(m²M),
                    10 of smooth losses without an L1,      m ≤ M of .63 n and P
                    n ≥ 200
``leave-pair-out``  smooth losses with an L2 penalty        O(n min(n, P)²), once
==================  ======================================  =======================

P counts the features with w ≠ 0 where the penalty is L1, and leave-one-out takes at
most .1 n of them if 20 refits are not too many products; of 200 rows or more with more
features than rows, none: there five balanced samples take the place of the 20. The
order is that of the mean errors (logistic regression, 30 % positives, C from .01 to
100, MAE of the AUC):

=============  ======  =============  ==============
n × P          .632+   leave-one-out  leave-pair-out
=============  ======  =============  ==============
100 × 10       .041    .053           .052
100 × 60       .054    .081           .068
200 × 60       .042    .051           .048
500 × 50       .020    .023           .022
500 × 150      .023    .021           .021
500 × 300      .041    .035           .035
500 × 400      .030    .029
700 × 630      .035    .024
1000 × 100     .019    .017           .017
1000 × 300     .023    .015           .017
500 × 1000     .0193                  .0071
500 × 20 000   .0149                  .0146
=============  ======  =============  ==============

500 × 400 and 700 × 630 are means over logistic, ridge and squared hinge, of three
penalties and five kinds of data: dense and few signals, none, 30 factors, t(3); 400 ×
300 and 300 × 150, logistic of the same data: .0341 and .0332, .0333 and .0367, at a
tenth to a thirtieth of the time. The last two rows are means over logistic regressions
and support vector machines of four penalties and four data sets: 30 common factors, and
sparse text. Of the hinge
(stochastic gradient descent and dual; 35 fits of 500 × 5000 text, 9 of 500 × 700 in 30
common factors) .632+ is off by .015 with a bias of .011, leave-pair-out by .011 with
.001, five folds by .010; where rounding turns the direction, 7 of 51, .632+ stays.

From 500 rows on the .632+ estimate is too high by about .01 to .03 where P/n is not
small, and the closed form costs a tenth. With fewer rows, 500 × 50 too, what .632+ has
before it is that no AUC counts as less than ½. So leave-one-out of fewer than 500 rows
says so as well. MAE of the whole posterior less that beside .632+ (logistic, squared
hinge, C from .001 to 100; the five kinds of data, 12 % positives, weak signals; 140
data sets each): 200 × 4 −.0001 (.0004), 200 × 20 −.0007 (.0004), 200 × 40 −.0017
(.0006), 300 × 60 −.0010 (.0005), 400 × 30 +.0004 (.0003), 450 × 90 −.0020 (.0005);
coverage .98. Rare positives, levels and counts: −.002 to +.002 (.0015). Not between
P = .2 n and .3 n, where a weak penalty makes it worse (C = 10⁴, 300 × 85: +.005 (.003),
450 × 130: +.0045 (.0019)), nor of less than 300 rows with more features (200 × 80:
+.005 (.0013), 200 × 150: +.002 (.0015)).

Measured cost in fits of scikit-learn, one thread, 60 × 2000 to 400 × 30: .632+ of
logistic regression, squared hinge and ridge .4 to 4; of discriminants with automatic
shrinkage at most 5; of a strong L1 penalty 5 to 11, of a weak one 1 to 50 (.2 to .6 s
of 30 to 199 × 2000 to 12600 numbers), a quarter of that from 200 rows on; of an elastic
net of 500 × 50 000 text .3 to 5; of the hinge 3 to 20, after stochastic gradient
descent 6 to 44 (20 to 260 ms). Leave-one-out of 5000 × 50 and 10⁵ × 20 rows: 0 to 5;
of dense 1000 × 500 to 20 000 × 2000 later scores .1 to .7, of 2000 × 1000 whose solver
stopped early .4 to 4. The slowest: sparse 1500 × 30000, whose fits take .01 s: whole
scores after the first .03 s, of the hinge .1 to .5 s. Sparse 2000 and 10 000 × 50 000
(fits of .01 to .3 s): the first score .1 and 1.3 s, later ones .02 to .14.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..statistics._auc_variance import balanced_variance
from ..statistics._block_matrix import BlockMatrix
from ..statistics._columns import class_sums
from ._block_optimum import block_optimum
from ._bootstrap_refits import (
    MANY_ROWS_A_FEATURE,
    SOME_ROWS,
    STEPS,
    bootstrap_auc,
    has_few_samples,
    is_cheap,
)
from ._discriminant_refits import DiscriminantRule, ridge_of_discriminant
from ._estimate import leave_pair_out
from ._leave_one_out import leave_one_out_auc
from ._objective import PenalisedFit, ask_again, column_curvature, is_l1, made
from ._optimum import (
    AT_OPTIMUM,
    CLOSED_FORM,
    MANY_ROWS,
    at_optimum,
    is_wide,
    rounded_optimum,
)
from ._pairs import class_of_one_row
from ._smooth_refits import smooth_optimum, uses_rows

_ENOUGH_ROWS = 300  # with MANY_ROWS and SOME_ROWS: the table above
_FEW_FEATURES = 0.6
# Rows of the smaller class from which on they are left out one by one, and of the
# features; and rows of both from which on .632+ is not asked instead. Root mean square
# error, 12 data sets, of leave-one-out and .632+: 400 × 60 with 8 positives .193, .130,
# 300 × 30 with 5 .18, .11, 300 × 50 with 10 .18, .16; 450 × 80 with 20 equal. 1000 ×
# 100: with 10 too high by .14, with 20 by .016.
_CLASS_ROWS, _CLASS_ROWS_A_FEATURE, _SO_MANY_ROWS = 20, 0.2, 5000
# An L1 fit without a row has other features, of which leave-one-out does not know. 500
# and 800 rows of text, 600 × 1000 normal: with .02, .1 of n features it is off by −.03
# to +.03, .632+ by −.01 to +.01; with .2 by −.08 and 0, .02 and −.01; .5 −.13, −.09 and
# −.06, +.01 to +.04.
_FEW_ACTIVE = 0.1
# Discriminant analysis, 40 data sets of 30 features: MAE of leave-pair-out and .632+,
# breast cancer .052 and .091 (n = 60), .023 and .028 (90), simulated .067 and .076,
# .053 and .059; at n = 45 .076 and .075, .091 and .060.
_INTERPOLATE = 0.3
_UNPENALISED = 1e-6  # of a column's curvature
_SAME_DIRECTION = 0.98  # correlation of the scores: Φ(.98 Φ⁻¹(A)) > A − .01
# Rounding of placements that tie, of a product of as many terms as there are features;
# 10⁷ rows of an AUC of 1 − 1e-9 have 1e-17
_NO_VARIANCE = 1e-20


@dataclass(frozen=True)
class SecondSource:
    """AUC of a fitted model on rows that were left out.

    Parameters
    ----------
    auc : float
    variance : float
        Of the AUC over data sets: DeLong's, or Hanley & McNeil's at the estimate.
    method : {".632+", "leave-one-out", "leave-pair-out", "refits"}
    """

    auc: float
    variance: float
    method: str


def second_source(
    objective,
    X,
    positive,
    weight=None,
    *,
    n_boot=20,
    gradient=None,
    remember=ask_again,
) -> SecondSource | None:
    """AUC of a fitted model on rows left out of it, without a fit of the estimator.

    Parameters
    ----------
    objective : PenalisedFit, ElasticNetFit, DiscriminantRule or None
        What the model minimised; None has no second source here.
    X : ndarray or sparse matrix of shape (n, P)
        The rows that trained it.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Frequency weights.
    n_boot : int, default=20
    gradient : float, default=None
        :func:`~skauc.leave_pair_out._objective.stationarity` of the objective, if it
        is known.
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone for the next model of them.

    Returns
    -------
    SecondSource or None
        None where a class has one row, or nothing here is cheap and known: true refits
        of the estimator are left.

    Notes
    -----
    Which method at what cost: the table of this module. A model that stopped before
    its optimum is taken to it first. The answer depends on nothing but the rows: not on
    their order, not on whether a row stands twice or has weight 2, not on which class
    is called positive.
    """
    if objective is None or class_of_one_row(positive, weight) is not None:
        return None
    objective, X, positive, weight = _counted(objective, X, positive, weight)
    # In the order of the table: the next is asked where one is not known, or too dear
    found = _leave_one_out(objective, X, positive, weight, gradient, remember)
    if found is not None:
        return found
    X = X if takes_products(objective, X) else made(X)
    found = _of_interpolating_samples(objective, X, positive, weight)
    if found is None and is_wide(weight.sum(), X.shape[1]):
        found = _of_wide_rows(objective, X, positive, weight, gradient, remember)
    if found is None:
        solved = gradient is not None and gradient < AT_OPTIMUM
        # a gradient that is small may leave long steps where few rows hold a feature
        solved = solved and weight.sum() >= MANY_ROWS_A_FEATURE * X.shape[1]
        found = _of_bootstrap(objective, X, positive, weight, n_boot, remember, solved)
    few = X.shape[1] < weight.sum() < MANY_ROWS_A_FEATURE * X.shape[1]
    asked = is_l1(objective) or suits_leave_one_out(objective, X, weight)
    if found is None and few and not asked:
        # pairs would be left out of where the solver stopped, as far from the optimum
        found = _by_one_row(objective, X, positive, weight, None, remember)
    if found is None:
        X = made(X)
        found = _leave_pair_out(objective, X, positive, weight, gradient, remember)
    return found


def source_of_rounded_hinge(
    objective, X, positive, weight=None, *, remember=ask_again
) -> SecondSource | None:
    """The same of a hinge that need not be at its optimum, on 500 ≤ n ≤ P rows.

    Parameters
    ----------
    objective, X, positive, weight, remember
        As for :func:`second_source`.

    Returns
    -------
    SecondSource or None
        None elsewhere, and where the scores of the model are not those of the hinge
        whose corner is rounded, whatever its solver did.
    """
    if getattr(objective, "loss", None) != "hinge" or is_l1(objective):
        return None
    objective, X, positive, weight = _counted(objective, X, positive, weight)
    if not is_wide(weight.sum(), X.shape[1]):
        return None
    return _of_wide_rows(objective, X, positive, weight, None, remember)


def _counted(objective, X, positive, weight):
    """The rows that count, and the case weights of these."""
    if weight is None:
        return objective, X, positive, np.ones_like(positive, dtype=float)
    if weight.all():
        return objective, X, positive, weight
    keep = np.flatnonzero(weight > 0)
    if isinstance(objective, PenalisedFit):
        objective = replace(objective, case_weight=objective.case_weight[keep])
    return objective, X[keep], positive[keep], weight[keep]


def suits_leave_one_out(objective, X, weight=None) -> bool:
    """Whether so many rows are left out one by one: the table of this module."""
    n, P = X.shape[0] if weight is None else weight.sum(), X.shape[1]
    if getattr(objective, "loss", None) == "hinge":
        return not is_l1(objective) and n >= 2 * MANY_ROWS and P <= _FEW_FEATURES * n
    if type(objective) is PenalisedFit and objective.l2 > 0 and P < n:
        if P < _INTERPOLATE * n:
            return n >= (SOME_ROWS if n >= MANY_ROWS_A_FEATURE * P else MANY_ROWS)
        return n >= _ENOUGH_ROWS
    most = _FEW_FEATURES
    if is_l1(objective):
        P = np.count_nonzero(objective.w)
        count = np.ones(X.shape[0]) if weight is None else weight
        # more than a few steps where leave-one-out is there instead
        if is_cheap(objective, X, count, 20, 4 * STEPS):
            few = has_few_samples(objective, X, count, 20)
            most = 0.0 if few else _FEW_ACTIVE
    return n >= MANY_ROWS and P <= most * n


def takes_products(objective, X) -> bool:
    """Whether refits need products with the rows, and once their kernel, no more."""
    if isinstance(X, BlockMatrix) or X.shape[0] >= MANY_ROWS:
        return False
    return type(objective) is PenalisedFit and uses_rows(X)


def _of_interpolating_samples(objective, X, positive, weight):
    """Leave-pair-out where bootstrap samples have about as many rows as features.

    Different rows, that is; without a penalty their refits are much worse than the
    model. None elsewhere.
    """
    n, P = X.shape
    if is_l1(objective) or not _INTERPOLATE * n <= P <= _FEW_FEATURES * n:
        return None
    if isinstance(objective, DiscriminantRule) and objective.shrinkage == 0:
        ridge = ridge_of_discriminant(objective, X, positive, weight)
        if ridge is not None:
            X, objective = ridge
    if getattr(objective, "loss", None) != "squared":
        return None
    if objective.l2 > _UNPENALISED * column_curvature(objective, X):
        return None
    return _leave_pair_out(objective, X, positive, weight)


def _of_wide_rows(objective, X, positive, weight, gradient, remember):
    """Leave-pair-out of many rows with more features, of the hinge if it is rounded."""
    if is_l1(objective) or getattr(objective, "loss", None) != "hinge":
        return _leave_pair_out(objective, X, positive, weight, gradient, remember)
    smooth = _smooth(objective, X, positive, weight, remember=remember)
    if smooth is None:
        return None
    found = leave_pair_out(X, positive, smooth[1], weight, remember)
    return _by_pairs(found, positive, weight)


def _leave_one_out(objective, X, positive, weight, gradient, remember):
    if not suits_leave_one_out(objective, X, weight):
        return None
    if _has_rare_class(objective, X, positive, weight):
        return None
    found = _by_one_row(objective, X, positive, weight, gradient, remember)
    if found is None or weight.sum() >= MANY_ROWS:
        return found
    return replace(found, auc=max(found.auc, 0.5))  # as .632+, in whose place it is


def _has_rare_class(objective, X, positive, weight):
    """Whether the rows of one class are so few that .632+ is asked, and is there.

    Of rows in blocks, which are not gathered for refits, it is not.
    """
    if type(objective) is not PenalisedFit or objective.loss not in CLOSED_FORM:
        return False
    if isinstance(X, BlockMatrix) or weight.sum() >= _SO_MANY_ROWS:
        return False
    fewest = max(_CLASS_ROWS, _CLASS_ROWS_A_FEATURE * X.shape[1])
    rare = class_sums(positive, weight).min() < fewest
    return rare and is_cheap(objective, X, weight, 20)


def _by_one_row(objective, X, positive, weight, gradient, remember):
    if isinstance(objective, DiscriminantRule):
        remember = ask_again  # its rows have units of their own
    smooth = _smooth(objective, X, positive, weight, gradient, remember)
    if smooth is None:
        return None
    X, fit = smooth

    def further():
        solve = block_optimum if isinstance(X, BlockMatrix) else smooth_optimum
        return solve(fit, X, positive)

    auc, variance = leave_one_out_auc(fit, X, positive, weight, further, remember)
    return _source(auc, variance, positive, weight, "leave-one-out")


def _smooth(objective, X, positive, weight, gradient=None, remember=ask_again):
    """Rows and a smooth fit at its optimum with the scores of the objective's."""
    if isinstance(objective, DiscriminantRule):
        ridge = ridge_of_discriminant(objective, X, positive, weight)
        if ridge is None:
            return None
        X, objective = ridge
    if objective.loss != "hinge":
        fit = at_optimum(objective, X, positive, gradient, remember, weight)
        return None if fit is None else (X, fit)
    fit = rounded_optimum(objective, X, positive, remember)
    if fit is None:
        return None
    # where most rows are violated the hinge's direction hangs on its sharp corner
    theirs, ours = objective.scores(X), fit.scores(X)
    if not theirs.max() > theirs.min():
        return None
    same = np.corrcoef(theirs, ours)[0, 1] > _SAME_DIRECTION
    return (X, fit) if same else None


def _of_bootstrap(objective, X, positive, weight, n_boot, remember, solved):
    found = bootstrap_auc(objective, X, positive, weight, n_boot, remember, solved)
    if found is None:
        return None
    auc, positive = found
    return _source(auc, 0.0, positive, np.ones(len(positive)), ".632+")


def _leave_pair_out(objective, X, positive, weight, gradient=None, remember=ask_again):
    if not isinstance(objective, PenalisedFit) or is_l1(objective):
        return None
    if objective.loss not in CLOSED_FORM:
        return None
    fit = at_optimum(objective, X, positive, gradient, remember, weight)
    if fit is None:
        return None
    found = leave_pair_out(X, positive, fit, weight, remember)
    return _by_pairs(found, positive, weight)


def _by_pairs(found, positive, weight):
    if found is None:
        return None
    # The smooth share: less variance than the counted one at hardly more bias
    auc, variance = found.smooth_auc, found.smooth_variance
    return _source(auc, variance, positive, weight, "leave-pair-out")


def _source(auc, variance, positive, weight, method):
    """Where the sample has no variance of its own (it is separated), the model's.

    Hanley & McNeil's, at the posterior mean ``(mA + ½)/(m + 1)`` of Jeffreys's prior,
    m the rows of the smaller class: at A = 1 it is not 0.
    """
    if not np.isfinite(auc):
        return None
    if not variance > _NO_VARIANCE:
        n_neg, n_pos = np.maximum(class_sums(positive, weight), 1.0).tolist()
        m = min(n_neg, n_pos)
        variance = balanced_variance((m * auc + 0.5) / (m + 1), n_neg, n_pos)
    return SecondSource(float(auc), float(variance), method)
