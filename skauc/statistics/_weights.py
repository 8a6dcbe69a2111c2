"""The meaning of weights: counts of rows, and what happens to other weights."""

import numpy as np

from ._row_blocks import parts_of
from ._warn_caller import UntrustedAUCWarning, warn_caller

# Weights of more than this on average are population totals rather than counts: tables
# of counts with one row for each pattern rarely hold more, survey weights mostly do
MOST_COPIES = 100
_PART = 2**18
_LEAST_EFFECT = 1e-6  # where the rows of each group cancel each other
_ROUNDING = 1e-12  # Σw/Σw² of equal weights is rounded
_FEWEST_GROUPS = 6  # (ΣM)²/ΣM²: of 6 alike groups limits cover .88, of 4 .86, of 2 .6
_FEW_ALIKE = (
    "The rows are those of fewer than 6 groups, or nearly all of so few. Errors are "
    "hardly known: 95 % intervals hold the true value in 50 to 94 % of samples"
)

NOT_COUNTS = (
    "The weights w in sample_weight are not counts of rows: they are not whole "
    f"numbers, or add up to more than {MOST_COPIES} times the number of rows. The "
    "estimate is right, but standard errors, intervals and posteriors take a weight "
    "of 2 for two rows, so that errors are too small by a factor of about "
    "sqrt(sum(w**2)/sum(w)) where it exceeds 1. For sampling weights of independent "
    "rows pass groups=np.arange(n) where a function takes groups, or "
    "covariance='HC0' to a summary; elsewhere divide w by sum(w**2)/sum(w) and "
    "ignore this warning"
)


class SampleWeightWarning(UntrustedAUCWarning):
    """Warning that ``sample_weight`` holds weights that are not counts of rows.

    In this package ``sample_weight`` means **frequency weights**: a row of weight 2
    counts as two equal rows, and a row of weight 0 is gone before anything looks at it.
    Every function whose standard errors, intervals or posteriors count rows issues this
    one warning for weights that cannot be counts, because they are not whole numbers or
    add up to more than 100 times the number of rows (population totals). Integer
    sampling weights, such as 1, 2 and 5, cannot be told from counts, and are taken for
    counts without a warning.

    - **Estimates** depend on the ratios of the weights only, apart from penalties: they
      are right for weights of any kind.
    - **Sampling weights** of independent rows: pass ``groups=np.arange(n)`` to
      functions that take groups, and ``covariance="HC0"``, ``"HC1"`` or ``"cluster"``
      [2]_ with X, y and ``sample_weight`` to the tables and tests of
      :class:`skauc.IRLSLogisticRegression`. These errors do not depend on the scale of
      the weights, and there is no warning. There is no warning either where only ratios
      matter: in ``fit``, and in :func:`skauc.bootstrap_auc`.
    - **Elsewhere** divide the weights w by ``sum(w**2)/sum(w)``. They then add up to
      the effective number of rows [1]_, ``sum(w)**2/sum(w**2)``, and errors are about
      right. Weights that add up to less than this number, such as relative weights of
      sum 1, are multiplied so that they add up to it.

    Parameters
    ----------
    message : str
        What is doubtful, by how much, and a remedy.

    See Also
    --------
    skauc.auc_estimate : Takes ``groups``, with which weights of any kind are right.
    skauc.bootstrap_auc : Resamples rows, so that the scale of weights does not matter.
    skauc.IRLSLogisticRegression : Has robust errors for sampling weights.

    References
    ----------
    .. [1] Kish (1965), *Survey Sampling*, https://openlibrary.org/isbn/9780471109495
    .. [2] Lumley (2010), *Complex Surveys*, https://doi.org/10.1002/9780470580066

    Examples
    --------
    >>> import warnings
    >>> from skauc import SampleWeightWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SampleWeightWarning)  # known weights
    """


def are_counts(weight) -> bool:
    """Whether weights (None: all 1) are whole and add up to at most 100 a row."""
    if weight is None:
        return True
    parts = [weight[part] for part in parts_of(len(weight), _PART)]
    if any((part != np.floor(part)).any() for part in parts):
        return False
    return bool(weight.sum() <= MOST_COPIES * np.count_nonzero(weight))


def warn_unless_counts(weight) -> None:
    """Issue the one warning about weights that are not counts of rows."""
    if not are_counts(weight):
        warn_caller(NOT_COUNTS, SampleWeightWarning)


def design_effect(influence, weight, groups, side=0) -> float:
    """Variance of a mean of dependent rows, over that of independent ones.

    Counts of rows divided by it are those of as many independent rows (Kish 1965).

    Parameters
    ----------
    influence : ndarray of shape (n,)
        Influence u of one copy of each row on an estimate; ``Σ w u = 0``.
    weight : ndarray of shape (n,)
    groups : ndarray of int of shape (n,) or None
    side : ndarray of 0 and 1 of shape (n,), default=0
        Class of each row, if the influences of each class add up to 0.

    Returns
    -------
    float
        ``d = Σ_g B_g/Σ_g W_g`` of ``W_g = Σ_{i in g} w u²`` and ``B_g = (Σ_{i in g} w u
        (1 − 1/G)/(1 − m_g))²``, divided by ``1 − 3v/2`` for the relative variance
        ``v = Σ_g (B_g − d W_g)²/(Σ_g B_g)²`` of d. Of many alike groups v is 2/G, and
        G/(G − 3) the variance of Student's t; few are doubted by a warning, since B of
        two groups is the same, which makes v too small. The sum of a group that holds a
        share m of the weight of its class, of G groups, is as small as those of the
        others allow, with which it adds up to 0; 1 − m corrects that as a jackknife of
        groups does, and is 1 − 1/G for alike groups. 1 if all rows are independent;
        where no row has an influence, the rows of a group are taken for equal.
    """
    if groups is None:
        return 1.0
    mass = weight * influence
    if not mass.any():
        return design_effect(np.ones_like(weight), weight, groups, side)
    M = np.bincount(2 * groups + side, weight, 2 * groups.max() + 2).reshape(-1, 2)
    sums, numbers = M.sum(axis=0), np.maximum(np.count_nonzero(M, axis=0), 1)
    rest = 1 - M / np.where(sums > 0, sums, 1)
    lever = (1 - 1 / numbers) / np.maximum(rest, _LEAST_EFFECT)
    M = M.sum(axis=1)
    W = np.bincount(groups, mass * influence)
    B = np.bincount(groups, mass * lever[groups, side]) ** 2
    if M.sum() ** 2 < _FEWEST_GROUPS * (M @ M):
        warn_caller(_FEW_ALIKE, UntrustedAUCWarning)
    total = max(B.sum(), _LEAST_EFFECT * (mass @ mass))
    gaps = B / total - W / W.sum()
    effect = total / W.sum() / max(1 - 1.5 * (gaps @ gaps), 0.25)
    return float(f"{effect:.12g}")  # exactly 1 for independent rows: the same draws


def raising_factor(weight) -> float:
    """Factor ``Σw/Σw²`` of weights that add up to less than ``(Σw)²/Σw²``, or 1."""
    largest = weight.max(initial=0.0)
    if largest == 0:
        return 1.0
    w = weight / largest  # squares of tiny weights would underflow
    factor = float(w.sum() / (w @ w) / largest)
    return factor if factor > 1 + _ROUNDING else 1.0


def raised(weight):
    """Weights, raised if necessary to add up to the effective number of rows."""
    return weight * raising_factor(weight)
