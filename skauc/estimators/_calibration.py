"""Calibration of given probabilities, of any model: ``f(y_true, y_prob)``.

Cox's regression ``logit P(y = 1) = a + b logit(p)`` has a = 0 and b = 1 if the
probabilities p are correct.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, expit, log_expit, logit

from .._validation import ScoredRows
from ..statistics._checks import check_integer, check_option
from ..statistics._result import Estimates, LabelledResult
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import Interval, WaldTable
from ..statistics._warn_caller import warn_caller
from ..statistics._weights import raised, warn_unless_counts
from ._logistic_problem import LogisticProblem
from ._rows import FitRows

_MOST_GROUPS = 10**6
_INNERMOST = np.nextafter([0.0, 1.0], [1.0, 0.0])  # floats with finite logits
_NAMES, _PERFECT = ("slope", "intercept", "in_the_large"), np.array([1, 0, 0])


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationEstimate(Estimates, LabelledResult):
    """Calibration slope and intercepts, with their standard errors.

    Attributes
    ----------
    slope : float
        The slope b. Below 1 the probabilities are too extreme, as for an overfitted
        model.
    intercept : float
        The intercept a, estimated together with the slope b.
    in_the_large : float
        The intercept a if the slope is fixed at 1 (calibration in the large). It is
        positive if events are more frequent than predicted.
    standard_error : ndarray of shape (3,)
        Standard errors of slope, intercept and in_the_large, in this order.
    statistic, pvalue : float
        Likelihood-ratio test of the joint hypothesis a = 0 and b = 1; χ² with 2 degrees
        of freedom.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.calibration_estimate : Makes it.
    skauc.results.HosmerLemeshow : The result of a goodness-of-fit test.

    Examples
    --------
    >>> from skauc import calibration_estimate
    >>> y, p = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.6, 0.7]
    >>> low, high = calibration_estimate(y, p).confidence_interval(0.9)
    >>> round(low, 2), round(high, 2)
    (-0.66, 5.35)
    """

    slope: float
    intercept: float
    in_the_large: float
    standard_error: np.ndarray
    statistic: float
    pvalue: float
    _rows_in_text = True

    def confidence_interval(
        self, confidence_level: float = 0.95, *, name: str = "slope"
    ) -> Interval:
        """Wald limits for the slope or an intercept.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95
        name : {"slope", "intercept", "in_the_large"}, default="slope"
            The number whose limits to return.

        Returns
        -------
        low, high : float
            Limits in the units of the estimate.
        """
        row = _NAMES.index(check_option("name", name, _NAMES))
        limits = self._wald().limits(confidence_level)
        return Interval(*(float(limit[row]) for limit in limits))

    def _wald(self):
        """Wald table of the three estimates against those of perfect probabilities."""
        estimates = np.array([getattr(self, name) for name in _NAMES])
        return WaldTable(estimates, self.standard_error, _PERFECT, names=_NAMES)

    def _estimates(self, confidence_level):
        return self._wald().columns(confidence_level)

    _in_head = "statistic", "pvalue"


def calibration_estimate(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: Values = None,
    groups: Values = None,
    pos_label: object = None,
) -> CalibrationEstimate:
    """Calibration slope and intercepts of predicted probabilities.

    Answers: are the probabilities too extreme (slope below 1) or too moderate (slope
    above 1), and are they too high or too low on average (in the large)? Use *held-out*
    rows [2]_: for the training rows of a maximum-likelihood fit the slope is 1 and the
    intercepts are 0 by construction. Costs a few passes of O(n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_prob : array-like of shape (n,)
        Predicted probability of the positive class, in [0, 1]. Their logits enter:
        those of exactly 0 and 1 are infinite. Here and in
        :class:`skauc.CalibrationDisplay`, 0 is moved to half the smallest other
        probability, and 1 half-way from the largest other one to 1, with a warning.
    sample_weight : array-like of shape (n,), default=None
        Counts of rows.
    groups : array-like of shape (n,), default=None
        Group of each row, such as a patient, if rows of one group depend on each other;
        groups must be independent. Each variance is multiplied by its design effect,
        the sandwich of the groups over that of the rows [3]_, and the statistic is
        divided by the mean effect [4]_. In simulations of 12 and 40 groups of 6 rows
        95 % intervals cover .92 to .96 for the slope and .89 to .99 for intercepts.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    CalibrationEstimate
        ``slope``, ``intercept`` and ``in_the_large``; ``standard_error``,
        ``confidence_interval(name=…)`` and ``summary()`` for each of them; ``pvalue``
        of the hypothesis of perfect calibration.

    Raises
    ------
    ValueError
        If a number lies outside [0, 1], all probabilities are 0 or 1, all are equal, or
        they separate the classes (the slope is infinite).

    Warns
    -----
    UserWarning
        If probabilities of 0 or 1 were moved.

    See Also
    --------
    CalibrationDisplay : Draws the calibration curve and these numbers.
    hosmer_lemeshow : A test by groups; prefer the estimate.
    auc_estimate : Whether the order is right, whatever the probabilities.

    Notes
    -----
    The estimates are those of maximum likelihood for
    ``logit P(y = 1) = a + b logit(p)`` [1]_, and for the same model with b = 1. The
    95 % intervals cover .94 to .97 from 50 rows on. The interval of the calibration in
    the large, whose model assumes b = 1, covers only .89 to .91 if the true slope is ½
    (``benchmarks/coverage/logistic.py``).

    References
    ----------
    .. [1] Cox (1958), "Two further applications of a model for binary regression",
       https://doi.org/10.1093/biomet/45.3-4.562
    .. [2] Van Calster et al. (2019), "Calibration: the Achilles heel of predictive
       analytics", https://doi.org/10.1186/s12916-019-1466-7
    .. [3] Liang & Zeger (1986), "Longitudinal data analysis using generalized linear
       models", https://doi.org/10.1093/biomet/73.1.13
    .. [4] Rao & Scott (1984), "On chi-squared tests for multiway contingency tables
       with cell proportions estimated from survey data",
       https://doi.org/10.1214/aos/1176346391

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import calibration_estimate
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.05, 0.95, 2000)
    >>> too_extreme = p**2 / (p**2 + (1 - p) ** 2)  # twice the logit
    >>> print(calibration_estimate(rng.uniform(size=2000) < p, too_extreme))
    CalibrationEstimate(statistic=307.3, pvalue=1.82e-67, pos_label=True)
                  estimate  standard_error       low    high  statistic     pvalue
    slope           0.4897         0.02422    0.4422  0.5371     -21.07  1.408e-98
    intercept      0.03534         0.05224  -0.06705  0.1377     0.6764     0.4988
    in_the_large   0.05484         0.06511  -0.07277  0.1825     0.8423     0.3996
    """
    rows = checked_probabilities(y_true, y_prob, sample_weight, groups, pos_label)
    return estimate_of(rows, inner_probabilities(*rows.scores))


def inner_probabilities(probability):
    """Probabilities in (0, 1): 0 and 1 are moved half-way to the next other one."""
    inner = probability[(probability > 0) & (probability < 1)]
    if len(inner) == len(probability):
        return probability
    if not len(inner):
        raise ValueError(
            "y_prob must hold probabilities between 0 and 1, got only 0 and 1, as "
            "predicted labels are; pass predict_proba(X)[:, 1]"
        )
    low, high = np.clip([inner.min() / 2, (1 + inner.max()) / 2], *_INNERMOST)
    warn_caller(
        f"{len(probability) - len(inner)} of the probabilities in y_prob are 0 or 1, "
        f"whose logits are infinite: 0 was moved to {low:.3g} and 1 to {high:.3g}, "
        "half-way to the next other one. Slope, intercepts and curve depend on this",
        UserWarning,
    )
    return np.clip(probability, low, high)


def logistic_fit(X, rows, offset=None):
    """The maximum-likelihood fit of columns X to the labels of the rows."""
    y, classes = rows.positive.astype(np.int64), np.arange(2)
    given = FitRows(X, y, classes, rows.weight, offset)
    return LogisticProblem(given.classes).maximise(given)


def influences(X, rows, found, offset=0.0):
    """Influence of each row on the intercept and the coefficients, (k + 1, n)."""
    design = np.column_stack([np.ones(len(X)), X])
    coefficients = np.append(found.intercept, found.coef[0])
    p = expit(offset + design @ coefficients)
    return found.covariance @ (design.T * (rows.positive - p))  # H⁻¹ x̃ (y − p)


def estimate_of(rows, probability) -> CalibrationEstimate:
    """Slope and intercepts of checked probabilities inside (0, 1)."""
    positive, count, logits = rows.positive, rows.weight, logit(probability)
    found = logistic_fit(logits[:, None], rows)
    if found.rank < 2:
        raise ValueError(
            f"y_prob must hold at least two different values, got only {probability[0]}"
        )
    if found.separation is not None:
        raise ValueError(
            "y_prob must not separate the classes, because the slope is infinite then, "
            f"got {found.separation} separation"
        )
    # ℓ(a = 0, b = 1) = −Σ w log(1 + e^{∓logit}), − for events;  LR = 2(ℓ̂ − ℓ)
    perfect = count @ log_expit(np.where(positive, logits, -logits))
    statistic = max(float(2 * (found.log_likelihood - perfect)), 0.0)
    none = np.zeros((len(logits), 1))
    at_slope_1 = logistic_fit(none, rows, logits)
    U = influences(logits[:, None], rows, found)
    # groups multiply each variance by its design effect, and divide the statistic by
    # their mean over uncorrelated combinations (Rao and Scott)
    if rows.groups is not None:
        # combinations with Σ w u uᵀ = I
        apart = np.linalg.solve(np.linalg.cholesky((U * count) @ U.T), U)
        statistic /= np.mean([rows.effect(u) for u in apart])
    parts = *U, influences(none, rows, at_slope_1, logits)[0]  # the intercept first
    variances = [*np.diag(found.covariance), at_slope_1.covariance[0, 0]]
    effects = [rows.effect(u) for u in parts]
    of_intercept, of_slope, of_level = np.sqrt(np.multiply(variances, effects))
    return CalibrationEstimate(
        slope=float(found.coef[0, 0]),
        intercept=float(found.intercept[0]),
        in_the_large=float(at_slope_1.intercept[0]),
        standard_error=np.array([of_slope, of_intercept, of_level]),
        statistic=statistic,
        pvalue=float(chdtrc(2, statistic)),
        pos_label=rows.pos_label,
    )


@dataclass(frozen=True, eq=False, repr=False)
class HosmerLemeshow(LabelledResult):
    """Result of the Hosmer–Lemeshow test, with its table of groups.

    Attributes
    ----------
    statistic : float
        ``Σ (O − E)²/E`` over groups and classes, where O and E are the observed and the
        expected numbers of rows.
    df : int
        Degrees of freedom of χ².
    pvalue : float
        P-value of the hypothesis that the probabilities are right.
    n, observed, expected : ndarray of shape (n_groups,)
        Numbers of rows, events and expected events in each group, from low to high
        probability.
    pos_label : label, default=None
        The positive class.

    See Also
    --------
    skauc.hosmer_lemeshow : Makes it.
    skauc.results.CalibrationEstimate : The size of the deviation.

    Examples
    --------
    >>> from skauc import hosmer_lemeshow
    >>> hosmer_lemeshow([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9], n_groups=3)
    HosmerLemeshow(statistic=3.067, df=1, pvalue=0.07991, pos_label=1)
    n  observed  expected
    2         1       0.3
    2         1       0.9
    2         1       1.6
    """

    statistic: float
    df: int
    pvalue: float
    n: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    _rows_in_text = True

    def _columns(self):
        return {"n": self.n, "observed": self.observed, "expected": self.expected}

    _in_head = "statistic", "df", "pvalue"


def hosmer_lemeshow(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_groups: int = 10,
    rows: str = "training",
    sample_weight: Values = None,
    pos_label: object = None,
) -> HosmerLemeshow:
    """Hosmer–Lemeshow goodness-of-fit test of predicted probabilities.

    Answers: do groups of rows with similar probabilities have as many events as
    predicted [1]_? Prefer :func:`calibration_estimate`, which estimates the size of the
    deviation: the result of this test depends on ``n_groups``, it has little power in
    small samples [2]_, and in large samples it rejects negligible deviations. It takes
    no groups of dependent rows, because its χ² holds for independent rows only. Costs
    one sort.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_prob : array-like of shape (n,)
        Probability of the positive class.
    n_groups : int, default=10
        Number of groups, formed between quantiles of the probabilities. Equal quantiles
        are merged, so that equal probabilities are in the same group.
    rows : {"training", "held-out"}, default="training"
        Whether these rows trained the model. The degrees of freedom are the number of
        groups, minus two for training rows.
    sample_weight : array-like of shape (n,), default=None
        Counts of rows.
    pos_label : label, default=None
        The positive class; None takes the larger label.

    Returns
    -------
    HosmerLemeshow
        ``statistic``, ``df`` and ``pvalue``, and the table of groups
        ``n, observed, expected``.

    Raises
    ------
    ValueError
        If there are too few groups for a degree of freedom: fewer than three for
        training rows.

    See Also
    --------
    calibration_estimate : The size of the deviation, with an interval.
    CalibrationDisplay : Draws the groups and a smooth curve.
    auc_estimate : Whether the order of the rows is right.

    Notes
    -----
    Groups are ``(q_{k−1}, q_k]`` between quantiles of Hyndman and Fan's type 7, and for
    training rows the degrees of freedom are groups − 2, as in R's
    ``ResourceSelection::hoslem.test`` (which uses ``n_groups − 2`` even if quantiles
    are equal).

    References
    ----------
    .. [1] Hosmer & Lemeshow (1980), "Goodness of fit tests for the multiple logistic
       regression model", https://doi.org/10.1080/03610928008827941
    .. [2] Hosmer et al. (1997), "A comparison of goodness-of-fit tests for the logistic
       regression model",
       https://doi.org/10.1002/(SICI)1097-0258(19970515)16:9%3C965::AID-SIM509%3E3.0.CO;2-O

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import hosmer_lemeshow
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=500)
    >>> test = hosmer_lemeshow(rng.uniform(size=500) < p, p, rows="held-out")
    >>> print(f"{test.statistic:.1f} on {test.df} degrees, p = {test.pvalue:.2f}")
    6.1 on 10 degrees, p = 0.81
    """
    checked = checked_probabilities(y_true, y_prob, sample_weight, None, pos_label)
    check_option("rows", rows, ("training", "held-out"))
    check_integer("n_groups", n_groups, 2, _MOST_GROUPS)
    *table, _ = grouped(checked, n_groups)
    n, observed, expected = table
    df = len(n) - 2 * (rows == "training")
    if df < 1:
        raise ValueError(
            f"y_prob must make at least {len(n) - df + 1} groups, got {len(n)}"
        )
    # Σ over both classes, (O − E)²/E + (O − E)²/(n − E); 0/0 counts as 0
    gap = np.abs(observed - expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [gap / mean * gap for mean in (expected, n - expected)]
    statistic = float(np.where(gap == 0, 0.0, parts).sum())
    pvalue = float(chdtrc(df, statistic))
    return HosmerLemeshow(statistic, df, pvalue, *table, pos_label=checked.pos_label)


def grouped(rows, n_groups):
    """Rows, events, expected events and design effects between quantiles."""
    [probability], positive, weight = rows.scores, rows.positive, rows.weight
    edges = np.unique(quantiles(probability, weight, np.arange(n_groups + 1), n_groups))
    # groups (q_{k−1}, q_k]; the smallest value, q₀, belongs to the first group
    group = np.clip(np.searchsorted(edges, probability) - 1, 0, max(len(edges) - 2, 0))
    _, group = np.unique(group, return_inverse=True)
    columns = weight, weight * positive, weight * probability
    n, observed, expected = (np.bincount(group, column) for column in columns)
    gap = positive - (observed / n)[group]
    effects = [rows.effect(np.where(group == k, gap, 0)) for k in range(len(n))]
    return n, observed, expected, np.array(effects)


def quantiles(values, weight, k, n_parts):
    """Type 7 quantiles k/n_parts of values, each counted ``weight`` times."""
    order = np.argsort(values, kind="stable")
    values, ends = values[order], np.cumsum(weight[order])
    # Type 7: h = (n − 1) k/K, the rows ⌊h⌋ and ⌊h⌋ + 1 (from 0), a line between
    h = np.asarray(k) * max(ends[-1] - 1, 0) / n_parts
    rows = np.searchsorted(ends, [np.floor(h), np.floor(h) + 1], side="right")
    low, high = values[np.minimum(rows, len(values) - 1)]
    return low + (h - np.floor(h)) * (high - low)


def checked_probabilities(
    y_true, y_prob, sample_weight, groups, pos_label, *, name="y_prob"
) -> ScoredRows:
    """Rows with probabilities in [0, 1] and weights, all checked."""
    given = y_true, (y_prob,), sample_weight, groups, pos_label
    rows = ScoredRows.of(*given, names=(name,))
    [probability], weight = rows.scores, rows.weight
    for row in np.flatnonzero((probability < 0) | (probability > 1))[:1]:
        raise ValueError(
            f"{name} must lie in [0, 1], got {probability[row]} in row {row}; pass "
            "predict_proba(X)[:, 1], or make probabilities of scores by "
            "CalibratedClassifierCV"
        )
    if weight is None:
        weight = np.ones(len(probability))
    elif groups is None:
        warn_unless_counts(weight)
        weight = raised(weight)
    else:  # only their ratios matter
        weight = weight / weight.mean()
    return replace(rows, weight=weight)
