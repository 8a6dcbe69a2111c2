"""Picture of the net benefit of decisions, by threshold: decision curve analysis."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ..estimators._calibration import checked_probabilities
from ..intervals._limits import wilson_limits
from ..statistics._checks import check_numbers, short
from ..statistics._levels import in_precision_of
from ..statistics._types import ArrayLike, Values
from ..statistics._wald import interval_tails
from ._style import ClassifierDisplay, Curve, curves_frame, of_class

_THRESHOLDS = np.arange(1, 100) / 100
_TINY = 1e-300  # 0/0 is 0


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(ClassifierDisplay):
    """Plot of the net benefit of one or more models against the threshold probability.

    Answers: do decisions by the model do more good than harm [1]_, and more than
    treating all or none? Whoever treats at a probability of t or more accepts
    ``(1 − t)/t`` needless treatments for each one that is needed. The net benefit of
    doing so is

        TP/n − FP/n · t/(1 − t),

    with TP and FP of n rows rightly and needlessly treated: the number of needed
    treatments per row that would be as good, without any needless one. Treating none
    has the net benefit 0. Create it with ``from_estimator`` or ``from_predictions``, on
    rows that did not train the models.

    Parameters
    ----------
    models : dict of str to Curve
        Named tuple ``(x, estimate, low, high)`` of each model: thresholds, net benefit
        and pointwise limits.
    treat_all : Curve
        The same for treating all.
    confidence_level : float, default=0.95
        Level of the limits.
    pos_label : label, default=None
        Positive class, named in the label of the axis.

    Attributes
    ----------
    line_, band_ : dict of str to matplotlib artist
        Of each model; the lines of ``"treat all"`` and ``"treat none"``, too.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    operating_points : Sensitivity and predictive values at one threshold.
    CalibrationDisplay : Whether the probabilities are right.
    compare_auc : Which of two models ranks better.

    Notes
    -----
    Limits are binomial: Wilson's limits of both shares, TP/n and FP/n, are combined by
    the method of variance estimates recovery with the correlation of multinomial shares
    [2]_. In simulations of 50 to 500 rows they cover .93 or more at all thresholds,
    where the delta method falls to .04 if few rows are treated. With groups counts are
    divided by the design effect of the net benefit at each threshold. They do not
    include the uncertainty of the model, which is given.

    Only the order of a probability and a threshold matters, so that probabilities of
    exactly 0 and 1 need no change: 1 is treated and 0 is not, at every threshold.

    References
    ----------
    .. [1] Vickers & Elkin (2006), "Decision curve analysis: a novel method for
       evaluating prediction models", https://doi.org/10.1177/0272989X06295361
    .. [2] Zou & Donner (2008), "Construction of confidence limits about effect
       measures: a general approach", https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import DecisionCurveDisplay
    >>> y, p = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.6, 0.4, 0.9])
    >>> display = DecisionCurveDisplay.from_predictions(y, p, thresholds=[0.3, 0.5])
    >>> display.models["model"].estimate.round(3)  # 2/5 - 1/5 · 3/7, 1/5 - 1/5
    array([0.314, 0.   ])
    """

    models: dict[str, Curve]
    treat_all: Curve
    _: KW_ONLY
    confidence_level: float = 0.95
    pos_label: object = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: Any,
        *,
        thresholds: Values = None,
        sample_weight: Values = None,
        groups: Values = None,
        pos_label: object = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot the net benefit of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
        y_prob : array-like of shape (n,), or dict or data frame of several
            Predicted probability of the positive class by each model.
        thresholds : array-like of shape (m,), default=None
            Threshold probabilities in (0, 1); None takes .01, .02, …, .99.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows.
        groups : array-like of shape (n,), default=None
            Group of each row, such as a patient, if rows of one group depend on each
            other; groups must be independent.
        pos_label : label, default=None
            The positive class; None takes the larger label.
        confidence_level : float in (0, 1), default=0.95
        name : str, default=None
            Name of a single model; None takes ``"model"``.
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        DecisionCurveDisplay

        Raises
        ------
        ValueError
            If the input is invalid, for example scores outside [0, 1].
        """
        tails = interval_tails(confidence_level)
        thresholds = _THRESHOLDS if thresholds is None else thresholds
        at = check_numbers("thresholds", thresholds, 0, 1, "neither")
        at = np.sort(np.atleast_1d(at))
        columns = {"model" if name is None else name: y_prob}
        if isinstance(y_prob, Mapping) or hasattr(y_prob, "columns"):
            columns = {key: y_prob[key] for key in getattr(y_prob, "columns", y_prob)}
        names = {*map(str, columns), "treat all", "treat none"}
        if not columns or len(names) < len(columns) + 2:
            raise ValueError(
                "y_prob must hold at least one model, each by a name of its own that "
                f"is not 'treat all' or 'treat none', got {short(list(columns))}"
            )
        models = {}
        for key, column in columns.items():
            title = "y_prob" if column is y_prob else f"y_prob[{key!r}]"
            given = y_true, column, sample_weight, groups, pos_label
            rows = checked_probabilities(*given, name=title)
            reached = in_precision_of(column, at)
            models[str(key)] = _net_benefit(rows, rows.scores[0], reached, tails)
        treat_all = _net_benefit(rows, np.ones_like(rows.weight), at, tails)
        known = {"confidence_level": confidence_level, "pos_label": rows.pos_label}
        return cls(models, treat_all, **known).plot(**plot_kwargs)

    def to_frame(self) -> Any:
        """Return the net benefits as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns ``model, threshold, estimate, low, high``; the models, then
            ``"treat all"`` and ``"treat none"``.
        """
        parts = self.models | {"treat all": self.treat_all, "treat none": self._none}
        return curves_frame(("model", "threshold"), parts.items())

    @property
    def _none(self):
        """Net benefit of treating none."""
        x = self.treat_all.x
        return Curve(x, *np.zeros((3, len(x))))

    def plot(self, ax: Any = None, *, plot_band: bool = True) -> Self:
        """Draw the net benefits.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        plot_band : bool, default=True
            Whether to draw the limits.

        Returns
        -------
        DecisionCurveDisplay
        """
        self._open(ax)
        self.line_, self.band_ = {}, {}
        for name, curve in (("all", self.treat_all), ("none", self._none)):
            style = {"linestyle": "--" if name == "all" else ":", "color": "0.4"}
            line = self._curve(*curve[:2], label=f"treat {name}", linewidth=1, **style)
            self.line_[f"treat {name}"] = line
        for name, (x, estimate, *limits) in self.models.items():
            line = self._model_curve(x, estimate, label=name)
            self.line_[name] = line
            if plot_band:
                self.band_[name] = self._band(x, *limits, color=line.get_color())
        curves = self._none, self.treat_all, *self.models.values()
        top = max(curve.estimate.max() for curve in curves) + 0.02
        self.ax_.set(ylabel="Net benefit", ylim=(-0.25 * top, 1.3 * top))
        self.ax_.set_xlabel(of_class("Threshold probability", self.pos_label))
        title = f"{self.confidence_level:.0%} bands" if plot_band else None
        self._close("upper right", title=title)
        return self


def _net_benefit(rows, probability, thresholds, tails) -> Curve:
    """``h − f t/(1 − t)`` of the shares h and f of rows treated rightly, needlessly."""
    n, odds = rows.weight.sum(), thresholds / (1 - thresholds)
    counts = []
    for t, worth in zip(thresholds, odds, strict=True):
        right, wrong = (probability >= t) & [rows.positive, ~rows.positive]
        tp, fp = right @ rows.weight, wrong @ rows.weight
        effect = rows.effect(right - wrong * worth - (tp - fp * worth) / n)
        counts.append([tp / effect, fp / effect, n / effect])
    tp, fp, n = np.transpose(counts)
    h, f = (np.array([k / n, *wilson_limits(k, n, *tails)]) for k in (tp, fp))
    f *= odds
    # correlation of two shares: −√{h f/((1 − h)(1 − f))}, 0/0 being 0
    rho = -np.sqrt(tp * fp / np.maximum((n - tp) * (n - fp), _TINY))
    # √(a² + b² − 2ρab) from the low h and the high f, and the reverse
    a, b = np.abs(h[1:] - h[0]), np.abs(f[:0:-1] - f[0])
    down, up = np.sqrt(a**2 + b**2 - 2 * rho * a * b)
    net = h[0] - f[0]
    return Curve(thresholds, net, net - down, net + up)
