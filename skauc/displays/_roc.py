"""Picture of ROC curves: analytic and empirical, or of folds and their average."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.metrics import auc, roc_curve

from ..intervals._auc_estimate import AUCEstimate
from ..intervals._band import ROCBand
from ..intervals._empirical_roc import EmpiricalROC
from ..intervals._projection import counted_scores
from ..roc._binormal import BinormalROC
from ..roc._quadratic import QuadraticROC
from ..statistics._checks import check_level
from ..statistics._moments import class_moments
from ..statistics._result import picture
from ._roc_curves import GRID, credible_band, fold_curves, responses
from ._style import Display, label, of_class

_LIMITS = -0.01, 1.01  # of both axes


@dataclass(eq=False, repr=False)
class BinormalROCDisplay(Display):
    """Plot of analytic and empirical ROC curves, with credible bands.

    Answers: how well do two normal distributions describe these scores, how certain is
    the curve, and where is its best threshold? Create it with ``from_estimator`` or
    ``from_predictions``, with ``from_cv_results`` from the folds of a cross-validation,
    or directly from a known curve (``model.roc_``).
    :meth:`skauc.results.EmpiricalROC.plot` draws an empirical curve alone, with its
    bands.

    Parameters
    ----------
    roc : BinormalROC, QuadraticROC, EmpiricalROC, or a list of EmpiricalROC
        The curve to draw. The curves of a list are drawn thin, their average thick.
    fpr, tpr : ndarray, default=None
        Empirical curve to draw together with an analytic curve, if there are data.
    band : tuple of ndarray (fpr, low, high), ROCBand or list of ROCBand, default=None
        Pointwise credible band of an analytic curve, or bands of an empirical curve.
    confidence_level : float, default=0.95
        Level of the band.
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
    empirical_line_, chance_level_ : matplotlib Line2D or None
    band_ : matplotlib PolyCollection, a list of them, or None
        For a list of curves: one standard deviation around the average.
    youden_points_ : list of matplotlib Line2D
        Points with the largest TPR − FPR: a circle on the analytic curve, a square on
        the empirical one.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    empirical_roc : The empirical curve alone, with its bands.
    binormal_roc : The smooth curve as numbers.
    AUCPosteriorDisplay : The AUC of models from their training rows.

    Notes
    -----
    The band shows posterior quantiles of ``ROC(u) = Φ((μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁)`` under
    the reference prior ∝ 1/σ_c² with separate variances. They are taken over 4000 draws
    of ``σ_c² = W_c/χ²_{n_c−1}`` and ``μ_c ~ N(x̄_c, σ_c²/n_c)`` with a fixed seed. The
    band does not account for the training of the model: for training rows it is
    optimistic.

    Examples
    --------
    >>> from skauc import BinormalROCDisplay
    >>> from skauc.results import BinormalROC
    >>> display = BinormalROCDisplay(BinormalROC(0.0, 1.0, 1.0, 1.0), name="shift 1")
    >>> display.plot(plot_chance_level=True).line_.get_label()
    'shift 1 (AUC = 0.76)'
    """

    roc: BinormalROC | QuadraticROC | EmpiricalROC | list[EmpiricalROC]
    _: KW_ONLY
    fpr: np.ndarray | None = None
    tpr: np.ndarray | None = None
    band: tuple | ROCBand | list[ROCBand] | None = None
    confidence_level: float = 0.95
    name: str | None = None
    pos_label: object = None

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        *,
        sample_weight=None,
        response_method="auto",
        pos_label=None,
        name=None,
        **options,
    ):
        """Plot the curves of a fitted binary classifier's scores on (X, y).

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like or sparse matrix of shape (n, n_features)
            Rows that did not train the estimator; for training rows the curves are
            optimistic.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Counts of rows.
        response_method : {"auto", "decision_function", "predict_proba"}
            ``"auto"`` uses ``decision_function`` if the estimator has it, because
            probabilities are rarely normal.
        pos_label : label, default=None
            The positive class; None takes ``classes_[1]``.
        name : str, default=None
            Name in the legend; None takes the class name of the estimator.
        **options
            Other options of :meth:`from_predictions` (``equal_variance``, ``ax``, …).

        Returns
        -------
        BinormalROCDisplay
        """
        score, pos_label = responses(estimator, X, response_method, pos_label)
        name = type(estimator).__name__ if name is None else name
        known = {"sample_weight": sample_weight, "pos_label": pos_label, "name": name}
        return cls.from_predictions(y, score, **known, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results,
        X,
        y,
        *,
        sample_weight=None,
        response_method="auto",
        pos_label=None,
        name=None,
        **plot_kwargs,
    ):
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
        response_method, pos_label
            As for :meth:`from_estimator`.
        name : str, default=None
            Name in the legend.
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        BinormalROCDisplay

        Notes
        -----
        The shaded area is one standard deviation of the curves of the folds. It is not
        a confidence interval, because the folds share most of their training rows.
        """
        rows = X, y, sample_weight
        curves = fold_curves(cv_results, *rows, response_method, pos_label)
        label = curves[0].pos_label
        return cls(curves, name=name, pos_label=label).plot(**plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score,
        *,
        sample_weight=None,
        pos_label=None,
        equal_variance=False,
        confidence_level=0.95,
        name=None,
        **plot_kwargs,
    ):
        """Plot the analytic and the empirical curve of scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Frequency weights.
        pos_label : label, default=None
            The positive class; None takes the larger label.
        equal_variance : bool, default=False
            Pool the variances in the analytic curve.
        confidence_level : float in (0, 1), default=0.95
            Level of the band.
        name : str, default=None
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        BinormalROCDisplay

        Raises
        ------
        ValueError
            If the input is invalid or a class has only one row.
        """
        check_level("confidence_level", confidence_level)
        rows, pos_label = counted_scores(y_true, y_score, sample_weight, pos_label)
        classes = class_moments(rows.X[:, 0], rows.positive, rows.weight)
        roc = BinormalROC.from_moments(*classes, equal_variance=equal_variance)
        fpr, tpr, _ = roc_curve(rows.positive, rows.X[:, 0], sample_weight=rows.weight)
        band = credible_band(*classes, confidence_level)
        options = {"confidence_level": confidence_level, "pos_label": pos_label}
        display = cls(roc, fpr=fpr, tpr=tpr, band=band, name=name, **options)
        return display.plot(**plot_kwargs)

    def plot(
        self,
        ax=None,
        *,
        name=None,
        curve_kwargs=None,
        plot_empirical=True,
        plot_youden=True,
        plot_band=True,
        plot_chance_level=False,
        chance_level_kw=None,
        despine=False,
    ):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure. A second display on the same axes uses the next
            colour.
        name : str, default=None
            Replaces the name of the display.
        curve_kwargs : dict, default=None
            Style of the analytic curve.
        plot_empirical, plot_youden, plot_band : bool, default=True
            Whether to draw the empirical curve, the points of Youden and the band, if
            the display has their data.
        plot_chance_level : bool, default=False
        chance_level_kw : dict, default=None
        despine : bool, default=False
            Remove the top and right spines.

        Returns
        -------
        BinormalROCDisplay
        """
        self._open(ax)
        self.band_ = self.empirical_line_ = self.average_line_ = None
        self.chance_level_, self.youden_points_ = None, []
        name = self.name if name is None else name
        if isinstance(self.roc, list | tuple):
            self._draw_folds(name, curve_kwargs, plot_band)
        else:
            self._draw_curve(name, curve_kwargs, plot_band)
            colour = self.line_.get_color()
            if plot_empirical and self.fpr is not None:
                style = {"color": colour, "linewidth": 1, "linestyle": (0, (4, 1.5))}
                style["label"] = f"empirical (AUC = {auc(self.fpr, self.tpr):.2f})"
                self.empirical_line_ = self._curve(self.fpr, self.tpr, **style)
            if plot_youden:
                self._mark_youden(colour)
        if plot_chance_level:
            text = "chance level (AUC = 0.5)"
            self.chance_level_ = self._chance((0, 1), (0, 1), chance_level_kw, text)
        self._name_axes()
        self._close(despine, loc="lower right")
        return self

    def _name_axes(self):
        """Write the rates and the positive class at the axes."""
        xlabel = of_class("False positive rate", self.pos_label)
        ylabel = of_class("True positive rate", self.pos_label)
        self.ax_.set(xlabel=xlabel, xlim=_LIMITS)
        self.ax_.set(ylabel=ylabel, ylim=_LIMITS, aspect="equal")

    def _draw_curve(self, name, curve_kwargs, plot_band):
        """Draw one curve with its bands."""
        style = {"color": self._colour(), "linewidth": 2, "gid": "skauc"}
        style["label"] = label(name, f"AUC = {self.roc.auc:.2f}")
        if isinstance(self.roc, EmpiricalROC):
            points = self.roc.fpr, self.roc.tpr
        else:
            points = GRID, self.roc.roc(GRID)
        self.line_ = self._curve(*points, curve_kwargs, **style)
        if plot_band and self.band is not None:
            bands = self.band if isinstance(self.band, list) else [self.band]
            drawn = [self._draw_band(band) for band in bands]
            self.band_ = drawn if isinstance(self.band, list) else drawn[0]

    def _draw_band(self, band):
        """Shade a band in the colour of the curve."""
        text = f"{self.confidence_level:.0%} credible band"
        if isinstance(band, ROCBand):
            kind = "simultaneous" if band.simultaneous else "pointwise"
            text = f"{band.confidence_level:.0%} {kind} band"
            band = band.fpr, band.low, band.high
        return self._band(*band, color=self.line_.get_color(), label=text)

    def _draw_folds(self, name, curve_kwargs, plot_band):
        """Draw the curves of folds, their average and its spread."""
        if not self.roc:
            raise ValueError("roc must hold at least one curve, got an empty list")
        style = {"color": self._colour(), "linewidth": 1, "alpha": 0.4}
        self.line_ = [
            self._curve(one.fpr, one.tpr, curve_kwargs, **style) for one in self.roc
        ]
        colour = self.line_[0].get_color()
        areas = [curve.auc for curve in self.roc]
        self.line_[0].set_label(f"{len(areas)} folds")
        # vertical averaging: Fawcett (2006), section 9.1,
        # https://doi.org/10.1016/j.patrec.2005.10.010
        heights = np.array([curve.roc(GRID) for curve in self.roc])
        heights[:, 0] = 0.0  # all start at (0, 0)
        mean = heights.mean(axis=0)
        text = f"average of folds, AUC = {np.mean(areas):.2f}"
        if len(areas) > 1:
            text += f" ± {np.std(areas, ddof=1):.2f}"
        style = {"color": colour, "linewidth": 2.5, "gid": "skauc"}
        self.average_line_ = self._curve(GRID, mean, label=label(name, text), **style)
        if plot_band and len(areas) > 1:
            spread = heights.std(axis=0, ddof=1)
            limits = np.clip([mean - spread, mean + spread], 0, 1)
            text = "± 1 standard deviation of folds"
            self.band_ = self._band(GRID, *limits, color=colour, label=text)

    def _mark_youden(self, colour):
        best = self.roc.youden()
        points = [("o", "Youden point", best.fpr, best.tpr)]
        if self.empirical_line_ is not None:
            k = int(np.argmax(self.tpr - self.fpr))
            points.append(("s", "empirical Youden point", self.fpr[k], self.tpr[k]))
        style = {"markeredgecolor": "white", "markersize": 8, "zorder": 4}
        style |= {"color": colour, "linestyle": "none", "clip_on": False}
        for marker, title, fpr, tpr in points:
            text = f"{title} (J = {tpr - fpr:.2f})"
            point = self._curve([fpr], [tpr], marker=marker, label=text, **style)
            self.youden_points_.append(point)


@picture.register
def _(value: AUCEstimate, ax=None, **options) -> BinormalROCDisplay:
    sample = value._sample
    positive = np.repeat([False, True], list(map(len, sample.scores)))
    score = np.concatenate(sample.scores)
    if sample.weights is not None:
        options["sample_weight"] = np.concatenate(sample.weights)
    if sample.clusters is not None:  # the band assumes independent rows
        options = {"plot_band": False} | options
    display = BinormalROCDisplay.from_predictions(positive, score, ax=ax, **options)
    display.pos_label = value.pos_label
    display._name_axes()
    return display


@picture.register
def _(
    value: EmpiricalROC, ax=None, *, confidence_level=0.95, band="pointwise", **options
) -> BinormalROCDisplay:
    methods = band if isinstance(band, list | tuple) else [band]
    bands = [value.band(confidence_level, how) for how in methods if how is not None]
    named = {"name": options.pop("name", None), "confidence_level": confidence_level}
    named["pos_label"] = value.pos_label
    return BinormalROCDisplay(value, band=bands or None, **named).plot(ax, **options)
