"""Picture of the calibration of probabilities: curve, groups, histogram, numbers."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from ..estimators import _calibration as checks
from ..intervals._limits import wilson_limits
from ..statistics._checks import check_integer
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import interval_tails
from ._style import ClassifierDisplay, Curve, curves_frame, of_class

_IN_LEGEND = {"slope": "slope", "intercept": "in_the_large"}
_IN_LEGEND |= {"Brier score": "brier_score"}
# Harrell's quantiles of the knots. In simulations of straight, bent and S-shaped curves
# three knots have the smaller error below 50 rows of the smaller class, and four above
_FEW, _MANY = ((1, 5, 9), 10), ((1, 7, 13, 19), 20)
_MANY_ROWS = 50
_GRID, _BARS = 101, 25
_BOTTOM, _HEIGHT = -0.18, 0.14  # of the histogram, below the curve


@dataclass(eq=False, repr=False)
class CalibrationDisplay(ClassifierDisplay):
    """Plot of observed shares against predicted probabilities.

    Answers: do patients with a predicted probability of 20 % have the event in 20 % of
    cases, and likewise for every other probability [1]_? A smooth curve with a
    pointwise band, groups of rows with their intervals, the distribution of the
    probabilities, and the calibration slope, the intercept and the Brier score with
    their intervals. Create it with ``from_estimator`` or ``from_predictions``, on rows
    that did not train the model.

    Parameters
    ----------
    curve : Curve
        Named tuple ``(x, estimate, low, high)``: the share of positives at a predicted
        probability x, with pointwise limits.
    groups : Curve
        The same for groups of rows; x is their mean probability.
    histogram : (ndarray, ndarray)
        Numbers of rows, and edges of the bars.
    statistics : dict of str to (float, float, float)
        Estimate and limits of the ``slope``, the ``intercept``, the intercept
        ``in_the_large`` and the ``brier_score``.
    confidence_level : float, default=0.95
        Level of the band and of all intervals.
    name : str, default=None
        Name in the legend.
    pos_label : label, default=None
        Positive class, named in the label of the axis.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The smooth curve.
    band_, ref_line_, groups_, histogram_ : matplotlib artists or None
        What else is drawn; None for what is not.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    calibration_estimate : Slope and intercept as numbers.
    hosmer_lemeshow : A test by groups.
    DecisionCurveDisplay : What decisions by these probabilities are worth.

    Notes
    -----
    The curve is the logistic regression of the labels on a restricted cubic spline [2]_
    of the logit of the probability, with Wald's band on the logit scale. Its knots are
    at the quantiles .1, .5 and .9 if a class has fewer than 50 rows, and .05, .35, .65
    and .95 otherwise. It is a straight line in logits where a spline would separate the
    classes or has too few distinct values. It is drawn between the 10th smallest and
    the 10th largest probability, or the quantiles .05 and .95 below 200 rows. In
    simulations of 50 to 500 rows the band covers .90 to .97 on average over the rows,
    where the true curve is straight or has one bend; with two bends it covers .74 to
    .91 below 100 rows, because three knots cannot follow them.

    Groups lie between quantiles, as for :func:`skauc.hosmer_lemeshow`, with Wilson's
    limits. The limits of the Brier score [3]_, the mean of ``(y − p)²``, are those of
    Student's t on the logit scale; they cover .93 to .96 from 50 rows on. ``intercept``
    in the legend is that for a slope of 1 (calibration in the large). Probabilities of
    0 and 1 are moved as for :func:`skauc.calibration_estimate`. Groups of dependent
    rows divide counts, and multiply variances, by design effects.

    References
    ----------
    .. [1] Van Calster et al. (2016), "A calibration hierarchy for risk models was
       defined: from utopia to empirical data",
       https://doi.org/10.1016/j.jclinepi.2015.12.005
    .. [2] Harrell (2015), *Regression Modeling Strategies*, sections 2.4 and 10.11,
       https://doi.org/10.1007/978-3-319-19425-7
    .. [3] Brier (1950), "Verification of forecasts expressed in terms of probability",
       https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import CalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.05, 0.95, 400)
    >>> display = CalibrationDisplay.from_predictions(rng.uniform(size=400) < p, p)
    >>> print(display.line_.get_label())
    slope 1.17 (0.93 to 1.41)
    intercept -0.10 (-0.33 to 0.13)
    Brier score 0.17 (0.15 to 0.19)
    """

    curve: Curve
    groups: Curve
    histogram: tuple[np.ndarray, np.ndarray]
    statistics: dict[str, tuple[float, float, float]]
    _: KW_ONLY
    confidence_level: float = 0.95
    name: str | None = None
    pos_label: object = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        n_bins: int = 10,
        sample_weight: Values = None,
        groups: Values = None,
        pos_label: object = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot the calibration of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
        y_prob : array-like of shape (n,)
            Predicted probability of the positive class.
        n_bins : int, default=10
            Number of groups, with equally many rows.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows.
        groups : array-like of shape (n,), default=None
            Group of each row, as for :func:`skauc.calibration_estimate`.
        pos_label : label, default=None
            The positive class; None takes the larger label.
        confidence_level : float in (0, 1), default=0.95
        name : str, default=None
            Name in the legend.
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        ValueError
            As :func:`skauc.calibration_estimate`.
        """
        tails = interval_tails(confidence_level)
        check_integer("n_bins", n_bins, 2, 10**6)
        given = y_true, y_prob, sample_weight, groups, pos_label
        rows = checks.checked_probabilities(*given)
        inside = checks.inner_probabilities(*rows.scores)
        estimate = checks.estimate_of(rows, inside)
        statistics = {}
        for title in ("slope", "intercept", "in_the_large"):
            limits = estimate.confidence_interval(confidence_level, name=title)
            statistics[title] = getattr(estimate, title), *limits
        statistics["brier_score"] = _brier_score(rows, confidence_level)
        n, events, expected, effects = checks.grouped(rows, n_bins)
        limits = wilson_limits(events / effects, n / effects, *tails)
        return cls(
            _smooth_curve(rows, inside, confidence_level),
            Curve(expected / n, events / n, *limits),
            np.histogram(rows.scores[0], _BARS, (0, 1), weights=rows.weight),
            statistics,
            confidence_level=confidence_level,
            name=name,
            pos_label=rows.pos_label,
        ).plot(**plot_kwargs)

    def to_frame(self) -> Any:
        """Return all numbers of the picture as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for the slope, both intercepts and the Brier score each, then the
            groups and the points of the curve; columns
            ``part, predicted, estimate, low, high``.
        """
        values = self.statistics.items()
        parts: list = [(p, np.transpose([[np.nan, *row]])) for p, row in values]
        parts += [("group", self.groups), ("curve", self.curve)]
        return curves_frame(("part", "predicted"), parts)

    def plot(
        self,
        ax: Any = None,
        *,
        ref_line: bool = True,
        curve_kwargs: dict | None = None,
        plot_histogram: bool = True,
    ) -> Self:
        """Draw the curve, the groups and the distribution of the probabilities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure. A second display on the same axes uses the next
            colour.
        ref_line : bool, default=True
            Draw the diagonal of perfect calibration.
        curve_kwargs : dict, default=None
            Style of the curve.
        plot_histogram : bool, default=True
            Whether to draw the distribution of the probabilities below the curve.

        Returns
        -------
        CalibrationDisplay
        """
        self._open(ax)
        if ref_line:
            self.ref_line_ = self._diagonal("perfect calibration")
        texts = [] if self.name is None else [self.name]
        for title, part in _IN_LEGEND.items():
            numbers = self.statistics[part]
            texts.append("{} {:z.2f} ({:z.2f} to {:z.2f})".format(title, *numbers))
        x, estimate, *limits = self.curve
        text = "\n".join(texts)
        self.line_ = self._model_curve(x, estimate, curve_kwargs, label=text)
        colour = self.line_.get_color()
        text = f"{self.confidence_level:.0%} pointwise band"
        self.band_ = self._band(x, *limits, color=colour, label=text)
        x, estimate, *limits = self.groups
        style = {"marker": "o", "color": colour, "label": "groups of equal size"}
        self.groups_ = self._points(x, estimate, y_limits=limits, **style)
        bottom = _BOTTOM if plot_histogram else 0
        if plot_histogram:
            n, edges = self.histogram
            style = {"bottom": bottom, "align": "edge", "color": colour, "alpha": 0.4}
            height, width = _HEIGHT * n / n.max(), np.diff(edges)
            self.histogram_ = self.ax_.bar(edges[:-1], height, width, **style)
        xlabel = of_class("Predicted probability", self.pos_label)
        self.ax_.set(xlabel=xlabel, xlim=(-0.02, 1.02), ylabel="Observed share")
        self.ax_.set(ylim=(bottom - 0.02, 1.02), yticks=np.linspace(0, 1, 6))
        self._close("upper left")
        return self


def _smooth_curve(rows, probability, level) -> Curve:
    """Share of positives at a probability, by a logistic regression on a spline."""
    positive, weight, logits = rows.positive, rows.weight, logit(probability)
    few = min(weight @ positive, weight @ ~positive) < _MANY_ROWS
    knots = np.unique(checks.quantiles(logits, weight, *(_FEW if few else _MANY)))
    for at in (knots, knots[:0]):  # without knots a straight line
        features = _spline(logits, at)
        found = checks.logistic_fit(features, rows)
        if found.covariance is not None and found.rank == features.shape[1] + 1:
            break
    # between the 10th smallest and the 10th largest, as rms does
    share = 10 / max(weight.sum(), 200)
    low, high = checks.quantiles(probability, weight, [share, 1 - share], 1)
    x = np.linspace(low, high, _GRID)
    X = np.column_stack([np.ones(_GRID), _spline(logit(x), at)])
    centre = X @ np.append(found.intercept, found.coef[0])
    # η ± z √(x̃ᵀVx̃), times the design effect of groups
    variance = ((X @ found.covariance) * X).sum(axis=1)
    U = checks.influences(features, rows, found)
    variance *= [rows.effect(x @ U) for x in X]
    half = -ndtri((1 - level) / 2) * np.sqrt(variance)
    return Curve(x, *expit([centre, centre - half, centre + half]))


def _spline(x, knots):
    """Columns of a restricted cubic spline: linear beyond the outer knots.

    ``{(x − t_j)₊³ − ((t_k − t_j)(x − t_{k−1})₊³ − (t_{k−1} − t_j)(x − t_k)₊³)
    /(t_k − t_{k−1})}/(t_k − t_1)²`` for j = 1, …, k − 2.
    """
    columns = [x]
    for knot in knots[:-2]:
        before, last = knots[-2:]
        first, inner, outer = (np.maximum(x - t, 0) ** 3 for t in (knot, before, last))
        joined = ((last - knot) * inner - (before - knot) * outer) / (last - before)
        columns.append((first - joined) / (last - knots[0]) ** 2)
    return np.column_stack(columns)


def _brier_score(rows, level):
    """Brier score, with limits by Student's t on the logit scale."""
    loss, weight = (rows.positive - rows.scores[0]) ** 2, rows.weight
    score = float(np.average(loss, weights=weight))
    n = weight.sum() / rows.effect(loss - score)
    if not 0 < score < 1 or n <= 1:
        return score, 0.0, 1.0
    # SE(B)² = mean (loss − B)²/(n − 1),   d logit(B)/dB = 1/{B(1 − B)}
    error = np.sqrt(np.average((loss - score) ** 2, weights=weight) / (n - 1))
    half = stdtrit(n - 1, (1 + level) / 2) * error / (score * (1 - score))
    return score, *expit(logit(score) + np.array([-half, half])).tolist()
