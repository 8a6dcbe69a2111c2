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
from ..statistics._block_column import made_column
from ..statistics._block_matrix import BlockMatrix, in_memory
from ..statistics._columns import class_sums
from ._block_optimum import block_optimum
from ._bootstrap import (
    Samples,
    balanced_counts,
    bootstrap_counts,
    bootstrap_estimate,
)
from ._discriminant_refits import (
    DiscriminantRule,
    refit_discriminant,
    ridge_of_discriminant,
)
from ._dual_refits import suits_dual
from ._eigenrows import eigenrows
from ._estimate import leave_pair_out
from ._influence import is_held, kernel_at_hand
from ._leave_one_out import leave_one_out_auc
from ._losses import RoundedHinge
from ._objective import (
    ElasticNetFit,
    PenalisedFit,
    ask_again,
    column_curvature,
    made,
    stationarity,
)
from ._pairs import class_of_one_row
from ._preconditioned_optimum import optimum_near
from ._proximal_refits import refit_elastic_net, sparse_optimum
from ._smooth_refits import (
    FOR_AUC,
    FOR_AUC_OF_FEW_ROWS,
    refit_smooth,
    smooth_optimum,
    uses_rows,
)
from ._sparse_optimum import optimum_by_products

_MANY_ROWS, _ENOUGH_ROWS, _SOME_ROWS = 500, 300, 200  # the table above
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
_MANY_ROWS_A_FEATURE = 5  # for refits that stop early, and rows left out of few
_WORK = 2e10  # products: about two seconds
_STEPS = 5  # factorisations of a refit from the fit; of the hinge 20, of L1 up to 200
# Of the gradient's random walk: w is right to 1 % of its error. With many rows more is
# right enough: the AUC moves by less than gradient · P/n (50 fits, 600 × 50 to
# 100 000 × 20), here by 2e-4, and every step would read all rows again.
_AT_OPTIMUM, _SETTLED, _LOOSEST = 1e-2, 2e-4, 1e-1
# The hinge has no curvature to leave a row out of; a corner as wide as its margin has.
# MAE .017 (500 × 20), .030 (500 × 150), .021 (1000 × 50); .632+: .016, .025, .024.
_ROUNDED = RoundedHinge(1.0)
# Of many rows with more features a narrower one stands for the sharp one, which costs
# 20 factorisations of n²: the scores correlate to .996 or more (500 and 2000 rows of
# text, C from .005 to 50), those of width 1 to .989.
_NARROW = RoundedHinge(0.3)
_SOON = 1e-5  # of the objective: 1 less the correlation of the scores is below 2e-6
_SAME_DIRECTION = 0.98  # correlation of the scores: Φ(.98 Φ⁻¹(A)) > A − .01
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
# 100 (data and models as above) .0000, −.0021, +.0017, +.0025, −.0008, +.0010, +.0014,
# standard errors .0013 to .0020.
_HALF = 10
# Rounding of placements that tie, of a product of as many terms as there are features;
# 10⁷ rows of an AUC of 1 − 1e-9 have 1e-17
_NO_VARIANCE = 1e-20
_CLOSED_FORM = ("logistic", "squared", "squared_hinge")


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
    if found is None and _is_wide(weight.sum(), X.shape[1]):
        found = _of_wide_rows(objective, X, positive, weight, gradient, remember)
    if found is None:
        solved = gradient is not None and gradient < _AT_OPTIMUM
        # a gradient that is small may leave long steps where few rows hold a feature
        solved = solved and weight.sum() >= _MANY_ROWS_A_FEATURE * X.shape[1]
        found = _bootstrap(objective, X, positive, weight, n_boot, remember, solved)
    few = X.shape[1] < weight.sum() < _MANY_ROWS_A_FEATURE * X.shape[1]
    asked = _is_l1(objective) or suits_leave_one_out(objective, X, weight)
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
    if getattr(objective, "loss", None) != "hinge" or _is_l1(objective):
        return None
    objective, X, positive, weight = _counted(objective, X, positive, weight)
    if not _is_wide(weight.sum(), X.shape[1]):
        return None
    return _of_wide_rows(objective, X, positive, weight, None, remember)


def at_optimum(
    fit: PenalisedFit, X, positive, gradient=None, remember=ask_again, weight=None
) -> PenalisedFit | None:
    """The fit at the optimum of its objective on these rows.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    gradient : float, default=None
        Its :func:`~skauc.leave_pair_out._objective.stationarity`, if it is known.
    remember : callable, default computes every time
        As for :func:`second_source`.
    weight : ndarray of shape (n,), default=None
        Frequency weights.

    Returns
    -------
    PenalisedFit or None
        The same object where its gradient is small already; None where the optimum
        was not reached, or costs too much memory.
    """
    if isinstance(fit, ElasticNetFit) and fit.l1 > 0:
        if fit.loss == "hinge":
            return None
        return fit.kept(
            "optimum", X, positive, lambda: _optimum_of_l1(fit, X, positive)
        )
    n = len(positive) if weight is None else weight.sum()
    if fit.loss == "hinge" and _is_wide(n, X.shape[1]):
        found = _narrow_optimum(fit, X, positive, remember)
        if found is not None:
            return found
    if fit.loss in _CLOSED_FORM:
        if gradient is None:
            gradient = stationarity(X, positive, fit)
        rows_a_feature = n / X.shape[1]
        # The AUC moves by less than gradient · P/n: right to 2e-4
        enough = min(max(_SETTLED * rows_a_feature, _AT_OPTIMUM), _LOOSEST)
        settled = gradient < enough
        wide = _is_wide(n, X.shape[1])
        if settled and (not wide or is_held(fit, X, positive, remember)):
            return fit
        # without a penalty of the intercept, which has no part in the eigenbasis
        free = fit.intercept_penalty == 0
        kept = eigenrows(fit, X, positive, weight, remember) if free else None
        if kept is not None:
            fit, reached = optimum_near(fit, X, positive, kept, enough)
            if reached:
                return fit
    if isinstance(X, BlockMatrix):
        return block_optimum(fit, X, positive)
    found = smooth_optimum(fit, X, positive, remember)
    if found is None or fit.loss == "hinge" or not _is_wide(n, X.shape[1]):
        return found
    return found if is_held(found, X, positive, remember) else None


def _narrow_optimum(fit, X, positive, remember):
    """Of a hinge of many sparse rows: that of a narrow corner; None elsewhere."""
    if not hasattr(X, "toarray"):
        return None
    wide = _rounded_optimum(fit, X, positive, remember)
    narrow, K = (wide or fit).with_loss(_NARROW), kernel_at_hand(X, fit, remember)
    found = optimum_by_products(narrow, X, positive, _SOON, K)
    if found is None:
        return None
    found = replace(found, loss="hinge")
    # it has the penalty, and so the rounded optimum, of this one
    return found.keep("rounded", X, positive, wide)


def _rounded_optimum(fit, X, positive, remember):
    """Of a hinge whose corner is as wide as its margin; None if it was not reached."""

    def compute():
        rounded = fit.with_loss(_ROUNDED)
        if not hasattr(X, "toarray"):
            return at_optimum(rounded, X, positive, remember=remember)
        K = kernel_at_hand(X, fit, remember)
        found = optimum_by_products(rounded, X, positive, kernel=K)
        return found or at_optimum(rounded, X, positive, remember=remember)

    return fit.kept("rounded", X, positive, compute)


def _optimum_of_l1(fit, X, positive):
    # its working sets are columns of X: with it in memory, these are there too
    positive, case_weight = map(made_column, (positive, fit.case_weight))
    at_hand = replace(fit, case_weight=case_weight)
    found = sparse_optimum(at_hand, in_memory(X), positive)
    return found and replace(found, case_weight=fit.case_weight)


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


def _is_wide(n, P):
    return P >= n >= _MANY_ROWS


def _is_l1(objective):
    return isinstance(objective, ElasticNetFit) and objective.l1 > 0


def suits_leave_one_out(objective, X, weight=None) -> bool:
    """Whether so many rows are left out one by one: the table of this module."""
    n, P = X.shape[0] if weight is None else weight.sum(), X.shape[1]
    if getattr(objective, "loss", None) == "hinge":
        return not _is_l1(objective) and n >= 2 * _MANY_ROWS and P <= _FEW_FEATURES * n
    if type(objective) is PenalisedFit and objective.l2 > 0 and P < n:
        if P < _INTERPOLATE * n:
            return n >= (_SOME_ROWS if n >= _MANY_ROWS_A_FEATURE * P else _MANY_ROWS)
        return n >= _ENOUGH_ROWS
    most = _FEW_FEATURES
    if _is_l1(objective):
        P = np.count_nonzero(objective.w)
        count = np.ones(X.shape[0]) if weight is None else weight
        # more than a few steps where leave-one-out is there instead
        if _is_cheap(objective, X, count, 20, 4 * _STEPS):
            few = _has_few_samples(objective, X, count, 20)
            most = 0.0 if few else _FEW_ACTIVE
    return n >= _MANY_ROWS and P <= most * n


def takes_products(objective, X) -> bool:
    """Whether refits need products with the rows, and once their kernel, no more."""
    if isinstance(X, BlockMatrix) or X.shape[0] >= _MANY_ROWS:
        return False
    return type(objective) is PenalisedFit and uses_rows(X)


def _of_interpolating_samples(objective, X, positive, weight):
    """Leave-pair-out where bootstrap samples have about as many rows as features.

    Different rows, that is; without a penalty their refits are much worse than the
    model. None elsewhere.
    """
    n, P = X.shape
    if _is_l1(objective) or not _INTERPOLATE * n <= P <= _FEW_FEATURES * n:
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
    if _is_l1(objective) or getattr(objective, "loss", None) != "hinge":
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
    if found is None or weight.sum() >= _MANY_ROWS:
        return found
    return replace(found, auc=max(found.auc, 0.5))  # as .632+, in whose place it is


def _has_rare_class(objective, X, positive, weight):
    """Whether the rows of one class are so few that .632+ is asked, and is there.

    Of rows in blocks, which are not gathered for refits, it is not.
    """
    if type(objective) is not PenalisedFit or objective.loss not in _CLOSED_FORM:
        return False
    if isinstance(X, BlockMatrix) or weight.sum() >= _SO_MANY_ROWS:
        return False
    fewest = max(_CLASS_ROWS, _CLASS_ROWS_A_FEATURE * X.shape[1])
    rare = class_sums(positive, weight).min() < fewest
    return rare and _is_cheap(objective, X, weight, 20)


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
    fit = _rounded_optimum(objective, X, positive, remember)
    if fit is None:
        return None
    # where most rows are violated the hinge's direction hangs on its sharp corner
    theirs, ours = objective.scores(X), fit.scores(X)
    if not theirs.max() > theirs.min():
        return None
    same = np.corrcoef(theirs, ours)[0, 1] > _SAME_DIRECTION
    return (X, fit) if same else None


def _bootstrap(objective, X, positive, weight, n_boot, remember, solved):
    if not _is_cheap(objective, X, weight, n_boot):
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
    return _source(auc, 0.0, positive[rows], np.ones(len(rows)), ".632+")


def _balanced_samples(objective, X, weight, n_boot):
    """How many stand for more that are drawn; 0 where none do."""
    if _has_few_samples(objective, X, weight, n_boot):
        return _FEW
    smooth = type(objective) is PenalisedFit and objective.loss in _CLOSED_FORM
    return _HALF if smooth and weight.sum() >= _SOME_ROWS and n_boot > _HALF else 0


def _has_few_samples(objective, X, weight, n_boot):
    """Whether five balanced samples stand for more that are drawn."""
    n = weight.sum()
    if not _is_l1(objective) or not X.shape[1] >= n >= _FEW_FOR_ROWS:
        return False
    return not suits_dual(objective, X) or n_boot * _of_rows(n) > _WORK


def _of_rows(n):
    """Products of a refit of as many unknowns as rows were drawn."""
    return _STEPS * (0.63 * n) ** 3 / 3


def _refits(objective, X, positive, samples, remember, solved):
    if isinstance(objective, DiscriminantRule):
        return refit_discriminant(
            objective, X, positive, samples.drawn, samples.copies.astype(float)
        )
    if _is_l1(objective):
        return refit_elastic_net(objective, X, positive, samples.drawn)
    question = objective, X, positive, samples.drawn, remember
    many = X.shape[0] >= _MANY_ROWS_A_FEATURE * X.shape[1]
    tol = FOR_AUC if many else FOR_AUC_OF_FEW_ROWS
    return refit_smooth(*question, solved=solved, tol=tol)


def _is_cheap(objective, X, weight, n_boot, steps=_STEPS):
    """Whether a batch of refits costs at most a second or two."""
    n, P = weight.sum(), X.shape[1]
    if _is_l1(objective):
        if objective.loss == "hinge":
            return False
        n_boot = _FEW if _has_few_samples(objective, X, weight, n_boot) else n_boot
        if suits_dual(objective, X):
            return n_boot * _of_rows(n) <= _WORK
        # its systems are those of the features with w ≠ 0, or of the rows if fewer
        P = min(max(np.count_nonzero(objective.w), 1), n)
    drawn = 0.63 * n  # different rows in a sample: 1 − 1/e
    small, large = min(drawn, P), max(drawn, P)
    if isinstance(objective, DiscriminantRule):
        # A Gram matrix of the smaller side, from rows of the larger
        return n_boot * small**2 * large <= _WORK
    if uses_rows(X) and not _is_l1(objective):
        # the hinge bends at few rows: its systems are small, its steps many
        return objective.loss == "hinge" or n_boot * _of_rows(n) <= _WORK
    steps = 4 * _STEPS if objective.loss == "hinge" else steps
    # A P×P Hessian from the drawn rows in every step
    return n_boot * steps * drawn * P**2 <= _WORK


def _leave_pair_out(objective, X, positive, weight, gradient=None, remember=ask_again):
    if not isinstance(objective, PenalisedFit) or _is_l1(objective):
        return None
    if objective.loss not in _CLOSED_FORM:
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
