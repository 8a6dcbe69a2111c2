"""Tables of coefficients and of odds ratios, and results of tests of coefficients."""

from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

import numpy as np

from ..statistics._checks import check_interval, short
from ..statistics._result import Result, interval_lines, table_text

_SHOWN = "estimate", "standard_error", "statistic", "pvalue", "low", "high"


def place_of(name, names, argument) -> int:
    """Place of a name that an argument holds, which must occur once."""
    if names.count(name) != 1:
        raise ValueError(
            f"{argument} must name one of {short(names)}, got {name!r}, which occurs "
            f"{names.count(name)} times"
        )
    return names.index(name)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _CoefficientRows(Result):
    """A table with a row for each coefficient."""

    names: tuple
    estimate: np.ndarray
    pvalue: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    method: str
    odds: str
    null: ClassVar[float]

    def summary(self, *, digits=2) -> str:
        """Texts to paste, such as ``"age: 1.91 (1.24 to 2.95)"``, one line per row.

        Parameters
        ----------
        digits : int, default=2
            Digits after the decimal point.

        Returns
        -------
        str
        """
        return "\n".join(interval_lines(self._columns(), digits))

    def _columns(self):
        shown = (name for name in _SHOWN if hasattr(self, name))
        return {"": self.names} | {name: getattr(self, name) for name in shown}

    def __repr__(self):
        limits = f"{100 * self.confidence_level:.4g} % limits, method={self.method!r}"
        scale = "odds" if self.null else "log odds"
        return f"{scale} {self.odds}; {limits}\n{table_text(self._columns())}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OddsRatioTable(_CoefficientRows):
    """Odds ratios, one row per coefficient.

    Attributes
    ----------
    names : tuple of str
        Rows; for more than two classes ``"class: feature"``.
    estimate, pvalue, low, high : ndarray of shape (n_rows,)
        Odds ratio for one unit more of the feature, or for the number of units in the
        row's name; p-value of an odds ratio of 1; limits.
    confidence_level : float
        Of the interval ``[low, high]``.
    method : {"wald", "profile"}
        Of the interval.
    odds : str
        The odds that are compared, ``"of 'ill' against 'well'"``.
    null : float
        1, the odds ratio without an effect.

    See Also
    --------
    skauc.results.CoefficientTable.odds_ratios : Makes it.
    skauc.results.CoefficientTable : The coefficients themselves.

    Examples
    --------
    >>> from skauc import IRLSLogisticRegression
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 1, 0, 1, 0, 1]
    >>> IRLSLogisticRegression().fit(X, y).summary().odds_ratios().estimate.round(2)
    array([0.28, 1.44])
    """

    null = 1.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CoefficientTable(_CoefficientRows):
    """Inference of coefficients, a row each.

    Attributes
    ----------
    names : tuple of str
        Rows; for more than two classes ``"class: feature"``.
    estimate, standard_error, statistic, pvalue, low, high : ndarray of shape (n_rows,)
        Coefficient, its error, ``statistic = estimate/standard_error`` and the
        two-sided normal p-value; for ``method="profile"`` the statistic is the signed
        root of the likelihood-ratio statistic.
    confidence_level : float
        Of the interval ``[low, high]``.
    covariance : {"model", "HC0", "HC1", "cluster"}
        The estimate of the standard errors.
    method : {"wald", "profile"}
        The method of the intervals and p-values.
    odds : str
        The odds whose logarithm the model is linear in, ``"of 'ill' against 'well'"``.
    null : float
        0, the coefficient without an effect.

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

    standard_error: np.ndarray
    statistic: np.ndarray
    covariance: str
    null = 0.0

    def odds_ratios(self, per=None) -> OddsRatioTable:
        """Exponentials of the coefficients and of their limits.

        The table names the odds: for two classes those of ``classes_[1]`` against
        ``classes_[0]``, for more those of each class against the reference. The row of
        the intercept holds the odds where all features are 0.

        Parameters
        ----------
        per : dict of str to float, default=None
            Number of units by rows of the table: ``{"age": 10}`` gives the odds ratio
            for ten years more, in a row with the name "age (per 10)". None, and rows
            that it does not name, stand for one unit.

        Returns
        -------
        OddsRatioTable
        """
        units, names = np.ones(len(self.names)), list(self.names)
        for name, unit in (per or {}).items():
            row = place_of(name, self.names, "per")
            units[row] = check_interval(f"per of {name!r}", unit, 0, closed="neither")
            names[row] = f"{name} (per {unit:g})"
        shared = (field.name for field in fields(OddsRatioTable))
        known = {name: getattr(self, name) for name in shared}
        known["names"] = tuple(names)
        with np.errstate(over="ignore"):  # beyond e^709 they are infinite
            for name in ("estimate", "low", "high"):
                known[name] = np.exp(units * known[name])
        return OddsRatioTable(**known)


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
    >>> model = IRLSLogisticRegression(keep_rows=True).fit(X[50:, :3], y[50:])
    >>> model.likelihood_ratio_test(["x0", "x1"]).df
    2
    """

    statistic: float
    df: int
    pvalue: float


class WaldTest(NamedTuple):
    """Wald test of contrasts ``Lθ = null``, with the contrasts and their errors.

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
