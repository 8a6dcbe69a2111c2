"""Picture of ROC curves: empirical and analytic, or of folds and their average."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr

from .._validation import check_column, check_score
from ..intervals._auc_estimate import AUCEstimate, auc_estimate
from ..intervals._band import ROCBand
from ..intervals._empirical_roc import EmpiricalROC, empirical_roc
from ..intervals._operating_points import OperatingPoints
from ..model_selection.reading._estimators import n_rows, take_rows
from ..roc._binormal import BinormalROC
from ..roc._quadratic import QuadraticROC
from ..statistics._checks import check_level
from ..statistics._result import picture
from ..statistics._types import ArrayLike, Values
from ._style import ClassifierDisplay, auc_text, label, of_class, responses

_LIMITS = -0.01, 1.01  # of both axes
# false positive rates, dense near 0 and 1
_GRID = np.concatenate([[0.0], ndtr(np.linspace(-4, 4, 201)), [1.0]])


@dataclass(eq=False, repr=False)
class ROCDisplay(ClassifierDisplay):
    """Plot of ROC curves, with their bands, areas and intervals.

    Answers: which true positive rate does the score reach at each false positive rate,
    and how certain is that? Create it with ``from_estimator`` or ``from_predictions``,
    with ``from_cv_results`` from the folds of a cross-validation, or directly from a
    known curve: ``ROCDisplay(model.roc_)``, or ``ROCDisplay(binormal_roc(y, score))``
    for normal distributions, to compare with the empirical curve on the same axes. The
    AUC in the legend is followed by its interval, at the level of the band.
    ``operating_points(y, score, best="youden").plot()`` marks the best threshold.

    Parameters
    ----------
    roc : BinormalROC, QuadraticROC, EmpiricalROC, or a list of EmpiricalROC
        The curve to draw. The curves of a list are drawn thin, their average thick.
    band : list of ROCBand, default=None
        Bands of an empirical curve.
    auc_interval : (float, float), default=None
        Limits of the AUC, for the legend.
    name : str, default=None
        Name in the legend.
    pos_label : label, default=None
        Positive class, named in the labels of the axes.

    Attributes
    ----------
    line_ : matplotlib Line2D, or a list of them
        The curve, or the curves of a list.
    average_line_ : matplotlib Line2D or None
        For a list: the mean true positive rate at each false positive rate.
    chance_level_ : matplotlib Line2D or None
        The diagonal.
    band_ : list of matplotlib PolyCollection, or one of them
        One for a list of curves: one standard deviation around the average.
    points_ : matplotlib ErrorbarContainer
        Points with their intervals, drawn by ``operating_points(…).plot()``, for
        example the point of Youden with ``best="youden"``.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    empirical_roc : The empirical curve alone, with its bands.
    binormal_roc : The smooth curve as numbers.
    AUCPosteriorDisplay : The AUC of models from their training rows.

    Notes
    -----
    The band is that of :meth:`skauc.results.EmpiricalROC.band`, the interval that of
    :func:`skauc.auc_estimate`. Neither accounts for the training of the model: for
    training rows they are optimistic.

    Examples
    --------
    >>> from skauc import ROCDisplay
    >>> from skauc.results import BinormalROC
    >>> display = ROCDisplay(BinormalROC(0.0, 1.0, 1.0, 1.0), name="shift 1")
    >>> display.plot(plot_chance_level=True).line_.get_label()
    'shift 1 (AUC 0.76)'
    """

    roc: BinormalROC | QuadraticROC | EmpiricalROC | list[EmpiricalROC]
    _: KW_ONLY
    band: list[ROCBand] | None = None
    auc_interval: tuple[float, float] | None = None
    name: str | None = None
    pos_label: object = None

    _methods = "decision_function", "predict_proba"

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: Values = None,
        pos_label: object = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot the curves of a cross-validation's test rows, and their average.

        Parameters
        ----------
        cv_results : dict
            From :func:`sklearn.model_selection.cross_validate` with
            ``return_estimator=True`` and ``return_indices=True``.
        X : array-like, sparse matrix or frame of shape (n, n_features)
            The rows that were passed to ``cross_validate``.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        pos_label : label, default=None
            The positive class; None takes ``classes_[1]``.
        name : str, default=None
            Name in the legend.
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        ROCDisplay

        Notes
        -----
        The shaded area is one standard deviation of the curves of the folds. It is not
        a confidence interval, because the folds share most of their training rows.
        """
        curves = _fold_curves(cv_results, X, y, sample_weight, pos_label)
        label = curves[0].pos_label
        return cls(curves, name=name, pos_label=label).plot(**plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: Values = None,
        groups: Values = None,
        pos_label: object = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> "ROCDisplay":
        """Plot the empirical curve of scores, with its band.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Frequency weights.
        groups : array-like of shape (n,), default=None
            Cluster of each row, as for :func:`skauc.empirical_roc`.
        pos_label : label, default=None
            The positive class; None takes the larger label.
        confidence_level : float in (0, 1), default=0.95
            Level of the band and of the interval.
        name : str, default=None
        **plot_kwargs
            For :meth:`plot`; also ``band``, as for
            :meth:`skauc.results.EmpiricalROC.band`: ``"pointwise"``,
            ``"simultaneous"``, a list of both, or None.

        Returns
        -------
        ROCDisplay

        Raises
        ------
        ValueError
            If the input is invalid.
        """
        given = {"sample_weight": sample_weight, "groups": groups}
        estimate = auc_estimate(y_true, y_score, pos_label=pos_label, **given)
        known = {"confidence_level": confidence_level, "name": name}
        return picture(estimate, **known, **plot_kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        curve_kwargs: dict | None = None,
        plot_folds: bool = True,
        plot_chance_level: bool = False,
    ) -> Self:
        """Draw the curve, or the curves of folds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure. A second display on the same axes uses the next
            colour.
        curve_kwargs : dict, default=None
            Style of the curve.
        plot_folds : bool, default=True
            Whether to draw the curve of each fold beside their average.
        plot_chance_level : bool, default=False
            Draw the diagonal, the curve of a score without information.

        Returns
        -------
        ROCDisplay
        """
        self._open(ax)
        if isinstance(self.roc, list | tuple):
            self._draw_folds(curve_kwargs, plot_folds)
        else:
            self._draw_curve(curve_kwargs)
        if plot_chance_level:
            self.chance_level_ = self._diagonal("chance level (AUC 0.5)")
        xlabel = of_class("False positive rate", self.pos_label)
        self.ax_.set(xlabel=xlabel, xlim=_LIMITS)
        self.ax_.set(ylabel="True positive rate", ylim=_LIMITS, aspect="equal")
        self._close("lower right")
        return self

    def _draw_curve(self, curve_kwargs):
        """Draw one curve with its bands in the same colour."""
        text = label(self.name, auc_text(self.roc.auc, self.auc_interval))
        if isinstance(self.roc, EmpiricalROC):
            points = self.roc.fpr, self.roc.tpr
        else:
            points = _GRID, self.roc.roc(_GRID)
        self.line_ = self._model_curve(*points, curve_kwargs, label=text)
        style = {"color": self.line_.get_color()}
        for band in self.band or ():
            style["label"] = f"{band.confidence_level:.0%} {band.method} band"
            drawn = self._band(band.fpr, band.low, band.high, **style)
            self.band_ = [*(self.band_ or ()), drawn]

    def _draw_points(self, points, confidence_level):
        """Draw operating points with their intervals."""
        (low, high), y_limits = (
            points.confidence_interval(confidence_level, name=name)
            for name in ("specificity", "sensitivity")
        )
        style = {"x_limits": (1 - high, 1 - low), "y_limits": y_limits, "fmt": "s"}
        style["label"] = f"points with {confidence_level:.0%} intervals"
        rates = 1 - points.specificity, points.sensitivity
        self.points_ = self._points(*rates, color="k", zorder=4, **style)
        self._close("lower right")

    def _draw_folds(self, curve_kwargs, plot_folds):
        """Draw the curves of folds, their average and its spread."""
        if not self.roc:
            raise ValueError("roc must hold at least one curve, got an empty list")
        colour, areas = self._colour(), [curve.auc for curve in self.roc]
        style = {"color": colour, "linewidth": 1, "alpha": 0.4}
        self.line_ = [
            self._curve(one.fpr, one.tpr, curve_kwargs, **style)
            for one in (self.roc if plot_folds else ())
        ]
        if self.line_:
            colour = self.line_[0].get_color()
            self.line_[0].set_label(f"{len(areas)} folds")
        # vertical averaging: Fawcett (2006), section 9.1,
        # https://doi.org/10.1016/j.patrec.2005.10.010
        heights = np.array([curve.roc(_GRID) for curve in self.roc])
        heights[:, 0] = 0.0  # all start at (0, 0)
        mean = heights.mean(axis=0)
        text = f"average of folds, AUC {np.mean(areas):.2f}"
        if len(areas) > 1:
            text += f" ± {np.std(areas, ddof=1):.2f}"
            spread = heights.std(axis=0, ddof=1)
            limits = np.clip([mean - spread, mean + spread], 0, 1)
            style = {"color": colour, "label": "± 1 SD of folds"}
            self.band_ = self._band(_GRID, *limits, **style)
        style = {"color": colour, "linewidth": 2.5, "label": label(self.name, text)}
        self.average_line_ = self._model_curve(_GRID, mean, **style)


@picture.register
def _(
    value: AUCEstimate | EmpiricalROC | OperatingPoints,
    ax=None,
    *,
    confidence_level=0.95,
    name=None,
    **options,
) -> ROCDisplay:
    """The empirical curve, its band and area; points with intervals unless all are."""
    check_level("confidence_level", confidence_level)
    sample = value._sample
    chosen = isinstance(value, OperatingPoints) and value.chosen_by != "all"
    usual = () if chosen else ("pointwise",)  # a band covers intervals of points
    methods = options.pop("band", usual) or ()
    methods = [methods] if isinstance(methods, str) else methods
    roc = EmpiricalROC._of(sample)
    bands = [roc.band(confidence_level, method) for method in methods]
    known = {"name": name, "pos_label": sample.pos_label}
    try:
        estimate = AUCEstimate._of(sample)
        known["auc_interval"] = estimate.confidence_interval(confidence_level)
    except ValueError:  # a class is too small
        pass
    display = ROCDisplay(roc, band=bands or None, **known).plot(ax, **options)
    if chosen:
        display._draw_points(value, confidence_level)
    return display


def _fold_curves(cv_results, X, y, weight, pos_label) -> list:
    """ROC curve of the test rows of each fold."""
    known = cv_results if isinstance(cv_results, Mapping) else {}
    missing = [name for name in ("estimator", "indices") if name not in known]
    if missing:
        raise ValueError(
            "cv_results must be the dictionary of cross_validate with "
            f"return_estimator=True and return_indices=True, but it lacks {missing}"
        )
    y, tests = check_column("y", y), cv_results["indices"]["test"]
    n, last = n_rows(X), np.max(np.concatenate(tests))
    if n != len(y) or last >= n:
        raise ValueError(
            f"X and y must hold all rows of cv_results, up to the row number {last}, "
            f"got {n} and {len(y)} rows"
        )
    if weight is not None:
        weight = check_score(weight, n, name="sample_weight")
    curves = []
    for estimator, rows in zip(cv_results["estimator"], tests, strict=True):
        given = take_rows(X, rows), ROCDisplay._methods, pos_label
        score, label = responses(estimator, *given)
        options = {"sample_weight": None if weight is None else weight[rows]}
        curves.append(empirical_roc(y[rows], score, pos_label=label, **options))
    return curves
