"""Picture of ROC curves: analytic and empirical, or of folds and their average."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.metrics import auc, roc_curve

from .._validation import check_column, check_score
from ..intervals._auc_estimate import AUCEstimate, auc_estimate
from ..intervals._band import ROCBand
from ..intervals._empirical_roc import EmpiricalROC, empirical_roc
from ..intervals._operating_points import OperatingPoints
from ..intervals._projection import counted_scores
from ..model_selection.reading._estimators import n_rows, take_rows
from ..roc._binormal import BinormalROC
from ..roc._quadratic import QuadraticROC
from ..statistics._checks import check_level
from ..statistics._moments import class_moments
from ..statistics._result import picture
from ._style import Display, auc_text, label, of_class, responses

_LIMITS = -0.01, 1.01  # of both axes
_INNER = ndtr(np.linspace(-4, 4, 201))  # false positive rates, dense near 0 and 1
_GRID = np.concatenate([[0.0], _INNER, [1.0]])
_DRAWS = 4000  # the error of the limits is about 1/100 of the width of the band


@dataclass(eq=False, repr=False)
class ROCDisplay(Display):
    """Plot of analytic and empirical ROC curves, with credible bands.

    Answers: how well do two normal distributions describe these scores, how certain is
    the curve, and where is its best threshold? Create it with ``from_estimator`` or
    ``from_predictions``, with ``from_cv_results`` from the folds of a cross-validation,
    or directly from a known curve (``model.roc_``). :meth:`EmpiricalROC.plot` draws an
    empirical curve alone, with its bands. Each AUC in the legend is followed by its
    interval at the level of the band.

    Parameters
    ----------
    roc : BinormalROC, QuadraticROC, EmpiricalROC, or a list of EmpiricalROC
        The curve to draw. The curves of a list are drawn thin, their average thick.
    fpr, tpr : ndarray, default=None
        Empirical curve to draw together with an analytic curve, if there are data.
    band : tuple of ndarray (fpr, low, high), ROCBand or list of ROCBand, default=None
        Pointwise credible band of an analytic curve, or bands of an empirical curve.
    auc_interval, empirical_interval : (float, float), default=None
        Limits of the AUC of ``roc`` and of the empirical curve, for the legend.
    confidence_level : float, default=0.95
        Level of the band and of the limits.
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

    Notes
    -----
    The band shows posterior quantiles of ``ROC(u) = Φ((μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁)`` under
    the reference prior ∝ 1/σ_c² with separate variances. They are taken over 4000 draws
    of ``σ_c² = W_c/χ²_{n_c−1}`` and ``μ_c ~ N(x̄_c, σ_c²/n_c)`` with a fixed seed. The
    limits of the area ``Φ((μ₁ − μ₀)/√(σ₀² + σ₁²))`` come from the same draws, those of
    the empirical AUC from :func:`skauc.auc_estimate`. Neither accounts for the training
    of the model: for training rows they are optimistic.

    Examples
    --------
    >>> from skauc import BinormalROC, ROCDisplay
    >>> display = ROCDisplay(BinormalROC(0.0, 1.0, 1.0, 1.0), name="shift 1")
    >>> display.plot(plot_chance_level=True).line_.get_label()
    'shift 1 (AUC 0.76)'
    """

    roc: BinormalROC | QuadraticROC | EmpiricalROC | list[EmpiricalROC]
    _: KW_ONLY
    fpr: np.ndarray | None = None
    tpr: np.ndarray | None = None
    band: tuple | ROCBand | list[ROCBand] | None = None
    auc_interval: tuple[float, float] | None = None
    empirical_interval: tuple[float, float] | None = None
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
            ``"auto"`` uses ``decision_function`` if the estimator has it, as
            scikit-learn's ``roc_auc`` scorer does, because probabilities are rarely
            normal.
        pos_label : label, default=None
            The positive class; None takes ``classes_[1]``.
        name : str, default=None
            Name in the legend; None takes the class name of the estimator.
        **options
            Other options of :meth:`from_predictions` (``equal_variance``, ``ax``, …).

        Returns
        -------
        ROCDisplay
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
        ROCDisplay

        Notes
        -----
        The shaded area is one standard deviation of the curves of the folds. It is not
        a confidence interval, because the folds share most of their training rows.
        """
        rows = X, y, sample_weight
        curves = _fold_curves(cv_results, *rows, response_method, pos_label)
        label = curves[0].pos_label
        return cls(curves, name=name, pos_label=label).plot(**plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score,
        *,
        sample_weight=None,
        groups=None,
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
        groups : array-like of shape (n,), default=None
            Cluster of each row. They widen the limits of the empirical AUC; the
            analytic curve then has neither a band nor limits, which would assume
            independent rows.
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
        ROCDisplay

        Raises
        ------
        ValueError
            If the input is invalid or a class has only one row.
        """
        check_level("confidence_level", confidence_level)
        rows, label = counted_scores(y_true, y_score, sample_weight, pos_label)
        score = rows.X[:, 0]
        classes = class_moments(score, rows.positive, rows.weight)
        roc = BinormalROC.from_moments(*classes, equal_variance=equal_variance)
        fpr, tpr, _ = roc_curve(rows.positive, score, sample_weight=rows.weight)
        given = {"sample_weight": sample_weight, "groups": groups}
        estimate = auc_estimate(y_true, y_score, pos_label=pos_label, **given)
        known = {"confidence_level": confidence_level, "name": name}
        known["empirical_interval"] = _interval(estimate, confidence_level)
        if groups is None:  # the posterior assumes independent rows
            limits = _credible_limits(*classes, confidence_level)
            known["band"], known["auc_interval"] = limits
        display = cls(roc, fpr=fpr, tpr=tpr, pos_label=label, **known)
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
        plot_folds=True,
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
        plot_folds : bool, default=True
            Whether to draw the curve of each fold beside their average.
        plot_chance_level : bool, default=False
        chance_level_kw : dict, default=None
        despine : bool, default=False
            Remove the top and right spines.

        Returns
        -------
        ROCDisplay
        """
        self._open(ax)
        self.band_ = self.empirical_line_ = self.average_line_ = None
        self.chance_level_, self.youden_points_ = None, []
        name = self.name if name is None else name
        if isinstance(self.roc, list | tuple):
            self._draw_folds(name, curve_kwargs, plot_band, plot_folds)
        else:
            self._draw_curve(name, curve_kwargs, plot_band)
            colour = self.line_.get_color()
            if plot_empirical and self.fpr is not None:
                style = {"color": colour, "linewidth": 1, "linestyle": (0, (4, 1.5))}
                area = auc(self.fpr, self.tpr)
                text = auc_text(area, self.empirical_interval)
                style["label"] = label("empirical", text)
                self.empirical_line_ = self._curve(self.fpr, self.tpr, **style)
            if plot_youden:
                self._mark_youden(colour)
        if plot_chance_level:
            text = "chance level (AUC 0.5)"
            self.chance_level_ = self._chance((0, 1), (0, 1), chance_level_kw, text)
        self._name_axes()
        self._close(despine, "lower right")
        return self

    def _name_axes(self):
        """Write the rates and the positive class at the axes."""
        xlabel = of_class("False positive rate", self.pos_label)
        self.ax_.set(xlabel=xlabel, xlim=_LIMITS)
        self.ax_.set(ylabel="True positive rate", ylim=_LIMITS, aspect="equal")

    def _draw_curve(self, name, curve_kwargs, plot_band):
        """Draw one curve with its bands."""
        style = {"color": self._colour(), "linewidth": 2, "gid": "skauc"}
        style["label"] = label(name, auc_text(self.roc.auc, self.auc_interval))
        if isinstance(self.roc, EmpiricalROC):
            points = self.roc.fpr, self.roc.tpr
        else:
            points = _GRID, self.roc.roc(_GRID)
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

    def _draw_folds(self, name, curve_kwargs, plot_band, plot_folds):
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
        style = {"color": colour, "linewidth": 2.5, "gid": "skauc"}
        self.average_line_ = self._curve(_GRID, mean, label=label(name, text), **style)
        if plot_band and len(areas) > 1:
            spread = heights.std(axis=0, ddof=1)
            limits = np.clip([mean - spread, mean + spread], 0, 1)
            text = "± 1 SD of folds"
            self.band_ = self._band(_GRID, *limits, color=colour, label=text)

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
def _(value: AUCEstimate, ax=None, **options) -> ROCDisplay:
    positive, score, weight, groups = _rows_of(value._sample)
    options |= {"sample_weight": weight, "groups": groups}
    display = ROCDisplay.from_predictions(positive, score, ax=ax, **options)
    display.pos_label = value.pos_label
    display._name_axes()
    return display


@picture.register
def _(
    value: EmpiricalROC, ax=None, *, confidence_level=0.95, band="pointwise", **options
) -> ROCDisplay:
    methods = band if isinstance(band, list | tuple) else [band]
    bands = [value.band(confidence_level, how) for how in methods if how is not None]
    named = {"name": options.pop("name", None), "confidence_level": confidence_level}
    named["pos_label"] = value.pos_label
    limits = _interval(AUCEstimate._of(value._sample), confidence_level)
    display = ROCDisplay(value, band=bands or None, auc_interval=limits, **named)
    return display.plot(ax, **options)


@picture.register
def _(
    value: OperatingPoints, ax=None, *, confidence_level=0.95, **options
) -> ROCDisplay:
    """The ROC curve, with the points and their intervals unless all are points."""
    positive, score, weight, _ = _rows_of(value._sample)
    roc = empirical_roc(positive, score, sample_weight=weight)
    options = {"confidence_level": confidence_level, "plot_youden": False} | options
    options = {"band": "pointwise" if value.chosen_by == "all" else None} | options
    display = picture(replace(roc, pos_label=value.pos_label), ax, **options)
    if value.chosen_by != "all":
        (low, high), y_limits = (
            value.interval(name, confidence_level)
            for name in ("specificity", "sensitivity")
        )
        style = {"x_limits": (1 - high, 1 - low), "y_limits": y_limits, "fmt": "s"}
        style["label"] = f"points with {confidence_level:.0%} intervals"
        rates = 1 - value.specificity, value.sensitivity
        display.points_ = display._points(*rates, color="k", zorder=4, **style)
        display._close(False, "lower right")
    return display


def _rows_of(sample):
    """Mask, scores, weights and clusters of the rows of both classes."""
    positive = np.repeat([False, True], list(map(len, sample.scores)))
    columns = sample.scores, sample.weights, sample.clusters
    return positive, *(c if c is None else np.concatenate(c) for c in columns)


def _interval(estimate, confidence_level):
    """Limits of an AUC; None where a class is too small."""
    check_level("confidence_level", confidence_level)
    try:
        return estimate.confidence_interval(confidence_level)
    except ValueError:
        return None


def _credible_limits(neg, pos, confidence_level):
    """Pointwise band ``(fpr, low, high)``, and limits of the AUC, from the same draws.

    Both are None if a class does not vary.
    """
    if min(neg.scatter, pos.scatter) <= 0 or min(neg.n, pos.n) <= 1:
        return None, None
    # σ_c² = W_c/χ²_{n_c−1}, μ_c ~ N(x̄_c, σ_c²/n_c)
    rng = np.random.default_rng(0)  # fixed seed: equal data have equal bands
    means, deviations = [], []
    for part in (neg, pos):
        sigma = np.sqrt(part.scatter / rng.chisquare(part.n - 1, (_DRAWS, 1)))
        normal = rng.standard_normal((_DRAWS, 1))
        means.append(part.mean + sigma * normal / np.sqrt(part.n))
        deviations.append(sigma)
    # Φ⁻¹(ROC(u)) = (μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁,   Φ⁻¹(AUC) = (μ₁ − μ₀)/√(σ₀² + σ₁²)
    gap = means[1] - means[0]
    z = (gap + deviations[0] * ndtri(_INNER)) / deviations[1]
    area = gap / np.hypot(*deviations)
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    limits = ndtr(np.quantile(np.hstack([z, area]), tails, axis=0))
    low, high = np.pad(
        limits[:, :-1], [(0, 0), (1, 1)], constant_values=[(0, 0), (0, 1)]
    )
    return (_GRID, low, high), tuple(limits[:, -1].tolist())


def _fold_curves(
    cv_results, X, y, weight, response_method, pos_label
) -> list[EmpiricalROC]:
    """ROC curve of the test rows of each fold."""
    estimators, tests = _folds(cv_results)
    y = check_column("y", y)
    if n_rows(X) != len(y):
        raise ValueError(f"X must have the {len(y)} rows of y, got {n_rows(X)} rows")
    if weight is not None:
        weight = check_score(weight, len(y), name="sample_weight")
    last = np.max(np.concatenate(tests))
    if last >= len(y):
        raise ValueError(
            f"X must hold all rows of cv_results, got {len(y)} rows and the row "
            f"number {last}"
        )
    curves = []
    for estimator, rows in zip(estimators, tests, strict=True):
        X_test = take_rows(X, rows)
        score, label = responses(estimator, X_test, response_method, pos_label)
        options = {"sample_weight": None if weight is None else weight[rows]}
        curves.append(empirical_roc(y[rows], score, pos_label=label, **options))
    return curves


def _folds(cv_results):
    """Fitted estimators and test rows of ``cross_validate``."""
    known = cv_results if isinstance(cv_results, Mapping) else {}
    missing = [name for name in ("estimator", "indices") if name not in known]
    if missing:
        raise ValueError(
            "cv_results must be the dictionary of cross_validate with "
            f"return_estimator=True and return_indices=True, but it lacks {missing}"
        )
    return cv_results["estimator"], cv_results["indices"]["test"]
