"""Tables and tests of the coefficients of a fit.

A contrast ``Lθ`` has the variance ``L V Lᵀ``, V the inverse information or a sandwich.

Along a contrast ``aᵀθ`` the *profile* is the largest ℓ (or Firth's ℓ*) with ``aᵀθ``
fixed. With the standard error se of aᵀθ̂ its signed root

    r(t) = sign(t) √{2(ℓ(θ̂) − max ℓ(θ : aᵀθ = aᵀθ̂ + t se))}

is t for a quadratic ℓ; limits are where |r| is a normal quantile (Venzon & Moolgavkar
1988, https://doi.org/10.2307/2347496). The *sandwich* ``H⁻¹(Σ s sᵀ)H⁻¹`` takes the
covariance of the gradient from the scores s of rows (White 1982,
https://doi.org/10.2307/1912526) or clusters (Liang & Zeger 1986,
https://doi.org/10.1093/biomet/73.1.13).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtr, ndtri
from sklearn.exceptions import ConvergenceWarning

from ..statistics._checks import check_numbers
from ..statistics._result import Result, table_text
from ..statistics._wald import WaldTable
from ..statistics._warn_caller import warn_caller
from ._likelihood import cluster_scores, squared_scores
from ._newton import Objective, Point, climb, solve

# The square of tol is the error of ℓ: limits are good to ten digits. Maximum likelihood
# takes up to 7 steps, Firth's on 30 separated rows 44 with 7 halvings.
_CLIMB = {"tol": 1e-7, "max_iter": 200, "max_halvings": 40}
_LIMIT_TOL = 1e-10  # error of a limit, in standard errors
_STARTS = 6  # maxima found elsewhere from which a limit of Firth's profile is checked
_SAME = 1e-5  # difference of ℓ* of two maxima that are one
_NO_EFFECT = 1e-7  # share of a sum of absolute terms below which the sum is 0


class _OddsTable(Result):
    """A table with one row per coefficient, below a line that names the odds."""

    names: tuple
    confidence_level: float
    odds: str
    _scale: str  # scale of the numbers: log odds, or odds
    _titles: tuple[str, ...]  # titles of the columns before the limits

    def _columns(self):
        names = [t.replace(" ", "_").replace("-", "") for t in self._titles]
        names += ["low", "high"]
        return {"": self.names} | {name: getattr(self, name) for name in names}

    def __repr__(self):
        tail = (1 - self.confidence_level) / 2
        limits = f"[{tail:.4g}", f"{1 - tail:.4g}]"
        text = table_text(self._columns(), ("", *self._titles, *limits))
        return f"{self._scale} {self.odds}\n{text}" if self.odds else text


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable(_OddsTable):
    """Inference of coefficients, a row each.

    Attributes
    ----------
    names : tuple of str
        Rows; for more than two classes ``"class: feature"``.
    coefficient, standard_error, z, pvalue, low, high : ndarray of shape (n_rows,)
        ``z = coefficient/standard_error`` and its two-sided normal p-value; for
        ``method="profile"`` z is the signed root of the likelihood-ratio statistic.
    confidence_level : float
        Of the interval ``[low, high]``.
    covariance : {"model", "HC0", "HC1", "cluster"}
        The estimate of the standard errors.
    method : {"wald", "profile"}
        The method of the intervals and p-values.
    odds : str
        The odds whose logarithm the model is linear in, ``"of 'ill' against 'well'"``.

    See Also
    --------
    skauc.IRLSLogisticRegression.summary : Makes it, and explains its methods.
    skauc.results.OddsRatioTable : The exponentials, made by ``odds_ratios()``.
    skauc.results.WaldTest : A test of several coefficients at once.

    Notes
    -----
    The row of a coefficient that is not estimable, because features are linearly
    dependent, is NaN.

    Examples
    --------
    >>> from skauc import IRLSLogisticRegression
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 1, 0, 1, 0, 1]
    >>> IRLSLogisticRegression().fit(X, y).summary().names
    ('(Intercept)', 'x0')
    """

    names: tuple
    coefficient: np.ndarray
    standard_error: np.ndarray
    z: np.ndarray
    pvalue: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    covariance: str = "model"
    method: str = "wald"
    odds: str = ""
    _scale = "log odds"
    _titles = "coefficient", "standard error", "z", "p-value"

    def odds_ratios(self):
        """Exponentials of the coefficients and of their limits.

        The table names the odds: for two classes those of ``classes_[1]`` against
        ``classes_[0]``, for more those of each class against the reference. The row of
        the intercept holds the odds where all features are 0.

        Returns
        -------
        OddsRatioTable
        """
        with np.errstate(over="ignore"):  # beyond e^709 they are infinite
            ratio, low, high = np.exp([self.coefficient, self.low, self.high])
        table = self.names, ratio, self.pvalue, low, high
        return OddsRatioTable(*table, self.confidence_level, self.odds)


@dataclass(frozen=True, eq=False, repr=False)
class OddsRatioTable(_OddsTable):
    """Odds ratios, one row per coefficient.

    Attributes
    ----------
    names : tuple of str
        Rows; for more than two classes ``"class: feature"``.
    odds_ratio, pvalue, low, high : ndarray of shape (n_rows,)
        Odds ratio for one unit more of the feature, p-value of an odds ratio of 1, and
        its interval.
    confidence_level : float
        Of the interval ``[low, high]``.
    odds : str
        The odds that are compared, ``"of 'ill' against 'well'"``.

    See Also
    --------
    skauc.results.CoefficientTable.odds_ratios : Makes it.
    skauc.results.CoefficientTable : The coefficients themselves.

    Examples
    --------
    >>> from skauc import IRLSLogisticRegression
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 1, 0, 1, 0, 1]
    >>> IRLSLogisticRegression().fit(X, y).summary().odds_ratios().odds_ratio.round(2)
    array([0.28, 1.44])
    """

    names: tuple
    odds_ratio: np.ndarray
    pvalue: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    odds: str = ""
    _scale = "odds"
    _titles = "odds ratio", "p-value"


class LikelihoodRatio(NamedTuple):
    """Likelihood-ratio test of two nested fits.

    Attributes
    ----------
    statistic : float
        Twice the difference of the log likelihoods.
    df : int
        Number of coefficients that are tested.
    pvalue : float
        By χ² with ``df`` degrees of freedom.

    See Also
    --------
    skauc.IRLSLogisticRegression.likelihood_ratio_test : Makes it.
    skauc.results.WaldTest : The same question without another fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import IRLSLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model, smaller = (
    ...     IRLSLogisticRegression().fit(X[50:, :p], y[50:]) for p in (3, 1)
    ... )
    >>> model.likelihood_ratio_test(smaller, X=X[50:, :3], y=y[50:]).df
    2
    """

    statistic: float
    df: int
    pvalue: float


class WaldTest(NamedTuple):
    """Wald test of contrasts ``Lθ = value``, with the contrasts and their errors.

    Attributes
    ----------
    statistic : float
        χ² distributed if the hypothesis is true.
    df : int
        Number of contrasts.
    pvalue : float
        By χ² with ``df`` degrees of freedom.
    estimate, standard_error : ndarray of shape (q,)
        Each contrast and its standard error, on the scale of the coefficients.

    See Also
    --------
    skauc.IRLSLogisticRegression.wald_test : Makes it.
    skauc.results.LikelihoodRatio :
        The same question by a second fit; better with few rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauc import IRLSLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IRLSLogisticRegression().fit(X[50:, :2], y[50:])
    >>> test = model.wald_test([[0, 1, -1]])  # two coefficients are equal
    >>> test.df, test.estimate.shape
    (1, (1,))
    """

    statistic: float
    df: int
    pvalue: float
    estimate: np.ndarray
    standard_error: np.ndarray


@dataclass(eq=False)
class FittedLikelihood:
    """An objective and its maximum."""

    objective: Objective
    point: Point
    converged: bool = True  # whether all maxima along contrasts were reached
    n_starts: int = 1  # number of maxima from which another is sought
    maxima: tuple = ()  # θ of the maxima at limits so far, and of the last one
    spread: float = 0.0  # difference of the last maxima from two starts
    doubtful: bool = False  # whether those of a limit or of a test differ

    def sandwich(self, groups=None):
        """Covariance of the estimates from the scores of rows, or of clusters."""
        if groups is None:
            meat = self.objective.sums(squared_scores, self.point.theta)
        else:
            sums = self.objective.sums(cluster_scores, self.point.theta)
            meat = sums.T @ sums
        return self.objective.covariance(self.point, meat)

    def fall(self, contrast, gap) -> float:
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = Lθ̂ + gap)}``, L of shape (q, M(P + 1))."""
        # columns of length 1 for scaled parameters
        held = (contrast @ self.objective.to_original).T
        size = np.abs(held).max(axis=0)
        found = self._restricted(held / size, gap / size)
        self.maxima = (*self.maxima[:-1], found.theta)
        fall = float(self.point.objective - found.objective)
        self.spread = max(self.spread, -fall)  # or the estimate is a smaller maximum
        return max(2 * fall, 0.0)

    def limits(self, contrast, error, quantile):
        """Points t in standard errors at which r(t) is −quantile and quantile."""

        def excess(t, sign):
            return np.sqrt(self.fall(contrast, np.array([sign * t * error]))) - quantile

        ends = []
        for sign in (-1, 1):
            # for a quadratic ℓ the limit is t = quantile: try it first
            far = quantile
            while excess(far, sign) < 0:  # ℓ falls at least linearly in the end
                far *= 2
            t = brentq(excess, 0, far, args=(sign,), xtol=_LIMIT_TOL * quantile)
            ends.append(sign * t)
            self.maxima += self.maxima[-1:]
        return tuple(ends)

    def _restricted(self, held, gap):
        """The maximum where ``heldᵀ(d − d̂) = gap``, by Newton's steps.

        A likelihood that is not concave is climbed from more starts, too: the best of
        the maxima that have been found elsewhere, moved into this plane.
        """
        # d̂ + H⁻¹a(aᵀH⁻¹a)⁻¹gap, where a quadratic ℓ has its maximum, and the shortest
        # d with aᵀd = aᵀd̂ + gap: some logits of the first may be far out
        d, along = self.point.theta, solve(self.point.information, held)
        tangent = d + along @ np.linalg.solve(held.T @ along, gap)
        shortest = held @ np.linalg.solve(held.T @ held, held.T @ d + gap)
        start = max(map(self.objective.at, (tangent, shortest)), key=_height)
        starts = [start]
        if not self.objective.concave:
            moved = [self._moved(far, held, gap) for far in self.maxima]
            starts += sorted(moved, key=_height)[-self.n_starts :]
        best = starts[0]
        if held.shape[1] < len(held):  # something is left free
            basis = linalg.null_space(held.T)
            ends = [climb(self.objective, start, basis, **_CLIMB) for start in starts]
            end = max(ends, key=lambda end: _height(end.point))
            self.converged &= end.small
            best = end.point
            others = (_height(end.point) for end in ends[1:])
            self.spread = _height(ends[0].point) - max(others, default=np.inf)
        return best

    def _moved(self, far, held, gap):
        """A maximum far from θ̂, moved into a plane: towards θ̂, or by the shortest way.

        The way towards θ̂ keeps the proportions of the coefficients.
        """
        away = far - self.point.theta
        reach = held.T @ away
        if len(gap) == 1 and 0 < gap * reach < reach**2:
            return self.objective.at(self.point.theta + gap / reach * away)
        shortest = held @ np.linalg.solve(held.T @ held, gap - reach)
        return self.objective.at(far + shortest)

    def checked_fall(self, contrast, gap) -> float:
        """The same for a limit or a test, where different maxima are a doubt."""
        fall = self.fall(contrast, gap)
        self.doubtful |= self.spread > _SAME
        return fall

    def warn(self):
        """Warn once of doubtful maxima, from outside of scipy's frames."""
        if self.doubtful:
            warn_caller(
                "The penalised likelihood has several maxima: two starts led to "
                "different ones. The larger was taken, but limits may be too narrow "
                "and p-values too small; compare them with method='wald', or drop or "
                "group features until no coefficient has so few rows",
                ConvergenceWarning,
            )
        if not self.converged:
            warn_caller(
                "The profile likelihood did not converge: its limits and p-values are "
                "not exact; standardise the features or use method='wald'",
                ConvergenceWarning,
            )


@dataclass(frozen=True, eq=False)
class Report:
    """Coefficients, each intercept first, with V and the likelihood where needed."""

    names: tuple  # names of the M(P + 1) rows of the table
    odds: str
    coef: np.ndarray
    covariance: np.ndarray
    null: np.ndarray  # directions of the coefficients that change no logit
    kind: str = "model"  # name of the covariance
    likelihood: Any = None  # FittedLikelihood

    @property
    def errors(self):
        """Standard errors of the coefficients; NaN for those not estimable."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        return np.where(is_estimable(np.eye(len(errors)), self.null), errors, np.nan)

    def table(self, level, method) -> CoefficientTable:
        """The table of Wald's tests, or of likelihood-ratio tests."""
        errors = self.errors
        coef = np.where(np.isnan(errors), np.nan, self.coef)
        wald = WaldTable(coef, errors)
        if method == "wald":
            z, pvalue, limits = wald.statistic, wald.pvalue, wald.limits(level)
        else:
            z, limits = self._profile(-ndtri((1 - level) / 2))
            pvalue = 2 * ndtr(-np.abs(z))
        return CoefficientTable(
            self.names,
            *(coef, errors, z, pvalue, *limits, level),
            *(self.kind, method, self.odds),
        )

    def _profile(self, quantile):
        """Signed roots at 0, and limits where they are the quantile."""
        falls, limits = [], []
        identity = np.eye(len(self.coef))
        for L, coef, error in zip(identity, self.coef, self.errors, strict=True):
            if np.isnan(error):
                limits.append((np.nan, np.nan))
                falls.append(np.nan)
                continue
            # χ²₁ = z²: the test keeps values with |r| ≤ Φ⁻¹ of the tail
            limits.append(self.likelihood.limits(L[None], error, quantile))
            falls.append(self.likelihood.fall(L[None], -coef[None]))
        if not self.likelihood.objective.concave:
            self._look_again(identity, falls, limits, quantile)
        self.likelihood.warn()
        # sign(β̂) √{2(ℓ(θ̂) − max ℓ(θ : θ_j = 0))}
        z = np.copysign(np.sqrt(falls), self.coef)
        return z, self.coef + np.transpose(limits) * self.errors

    def _look_again(self, identity, falls, limits, quantile):
        """Correct falls and limits by maxima found for later coefficients."""
        self.likelihood.n_starts = _STARTS
        for j in np.flatnonzero(~np.isnan(falls)):
            L, error = identity[j][None], self.errors[j]
            falls[j] = self.likelihood.checked_fall(L, -self.coef[j][None])
            for _ in range(2):
                gaps = np.reshape(limits[j], (2, 1)) * error
                ends = [self.likelihood.checked_fall(L, gap) for gap in gaps]
                if min(ends) >= quantile**2 - _SAME:
                    break
                limits[j] = self.likelihood.limits(L, error, quantile)
            else:
                self.likelihood.doubtful = True

    def wald_test(self, contrast, value) -> WaldTest:
        """``(Lθ − value)ᵀ(L V Lᵀ)⁻¹(Lθ − value)``, χ² with as many degrees as rows."""
        L, gap = self.gap(contrast, value)
        S = L @ self.covariance @ L.T
        size = np.sqrt(np.diag(S))
        if not (size > 0).all():
            raise ValueError(
                "contrast must have a variance that is a positive number, got a "
                f"standard error of {size.min():.3g}"
            )
        z = gap / size  # in units of the contrasts' errors
        statistic = max(float(z @ np.linalg.solve(S / size / size[:, None], z)), 0.0)
        df = len(L)
        return WaldTest(
            statistic, df, float(chdtrc(df, statistic)), L @ self.coef, size
        )

    def likelihood_ratio(self, contrast, value) -> LikelihoodRatio:
        """``2{ℓ(θ̂) − max ℓ(θ : Lθ = value)}``, χ² with as many degrees as rows."""
        L, gap = self.gap(contrast, value)
        fall = self.likelihood.checked_fall(L, -gap)
        self.likelihood.warn()
        return LikelihoodRatio(fall, len(L), float(chdtrc(len(L), fall)))

    def gap(self, contrast, value):
        """L of shape (q, M(P + 1)) and ``Lθ − value``."""
        L = check_contrast(contrast)
        value = check_numbers("value", value, closed="neither")
        if L.shape[1] != len(self.coef):
            raise ValueError(
                f"contrast must have one column for each of the {len(self.coef)} "
                f"coefficients of summary(), got shape {np.shape(contrast)}"
            )
        if value.shape not in ((), (len(L),)):
            raise ValueError(f"value must be a number, or {len(L)}, got {value}")
        known = is_estimable(L, self.null)
        if not known.all():
            raise ValueError(
                "contrast must be estimable where features are linearly dependent, got "
                f"row {np.argmin(known)}, on which coefficients of the same likelihood "
                "differ; compare combinations that they agree on, or drop features"
            )
        return L, L @ self.coef - value


def _height(point):
    """The objective at a point."""
    return point.objective


def is_estimable(L, null, constant=0.0):
    """Whether ``Lθ + constant`` is 0 for each direction without effect, row by row."""
    size = abs(L) @ np.abs(null) + np.abs(constant)
    return (np.abs(L @ null + constant) <= _NO_EFFECT * size).all(axis=1)


def check_contrast(contrast):
    """Check the rows of a contrast: finite, not 0, linearly independent."""
    L = np.atleast_2d(check_numbers("contrast", contrast, closed="neither"))
    if L.ndim != 2 or 0 in L.shape:
        raise ValueError(f"contrast must be a matrix or a row, got shape {L.shape}")
    largest = np.abs(L).max(axis=1, keepdims=True)
    if not largest.all():
        raise ValueError(
            "contrast must have an entry other than 0 in each row, got a row of zeros, "
            f"row {np.argmin(largest)}"
        )
    # divide rows by their largest entry, so that the rank does not depend on it
    rank = np.linalg.matrix_rank(L / largest)
    if rank < len(L):
        raise ValueError(
            f"contrast must have linearly independent rows, got rank {rank} of {len(L)}"
        )
    return L
