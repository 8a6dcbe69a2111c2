"""Picture of ROC curves: analytic beside empirical, or of folds and their average."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import auc, roc_curve

from .._validation import (
    check_level,
    check_positive,
    check_score,
    check_weight,
)
from ..intervals._auc_estimate import AUCEstimate
from ..intervals._band import ROCBand
from ..intervals._empirical_roc import EmpiricalROC
from ..intervals._score_functions import binormal_roc
from ..roc._binormal import BinormalROC
from ..roc._quadratic import QuadraticROC
from ..statistics._moments import class_moments
from ..statistics._result import picture
from ._binormal_band import GRID, credible_band
from ._roc_folds import average, fold_curves, responses
from ._style import BAND, axes, chance_style, despined, label, line_style, next_colour


class BinormalROCDisplay:
    """Analytic ROC curve of normal scores, beside the empirical one; curves of folds.

    Answers: how well do two normal distributions describe these scores, how sure is
    the curve, and where is its best threshold? Make it with ``from_estimator`` or
    ``from_predictions``, from a curve that is known (``model.roc_``), or from the
    folds of a cross-validation with ``from_cv_results``. An empirical curve alone,
    with its bands, is drawn by :meth:`EmpiricalROC.plot`.

    Parameters
    ----------
    roc : BinormalROC, QuadraticROC, EmpiricalROC, or a list of EmpiricalROC
        The curve; of a list each one thin, and the average thick.
    fpr, tpr : ndarray, default=None
        The empirical curve beside an analytic one, if there are data.
    band : tuple of ndarray (fpr, low, high), ROCBand or list of ROCBand, default=None
        Pointwise credible band of the analytic curve; bands of an empirical one.
    confidence_level : float, default=0.95
        Of the band.
    name : str, default=None
        For the legend.
    pos_label : label, default=None
        For the axes' labels.

    Attributes
    ----------
    line_ : matplotlib Line2D, or a list of them
        The curve, or those of a list.
    average_line_ : matplotlib Line2D or None
        Mean true positive rate of a list at each false positive rate.
    empirical_line_, chance_level_ : matplotlib Line2D or None
    band_ : matplotlib PolyCollection, a list of them, or None
        For a list of curves one standard deviation around the average.
    youden_points_ : list of matplotlib Line2D
        Largest TPR − FPR: a circle on the analytic curve, a square on the other.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Notes
    -----
    The band is the posterior under the reference prior ∝ 1/σ_c², separate variances:
    ``σ_c² = W_c/χ²_{n_c−1}``, ``μ_c ~ N(x̄_c, σ_c²/n_c)``, quantiles of
    ``ROC(u) = Φ((μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁)`` over 4000 draws with a fixed seed. It
    takes the scores as given: on the rows that trained the model it is optimistic.

    Examples
    --------
    >>> from skauc import BinormalROC, BinormalROCDisplay
    >>> display = BinormalROCDisplay(BinormalROC(0.0, 1.0, 1.0, 1.0), name="shift 1")
    >>> display.plot(plot_chance_level=True).line_.get_label()
    'shift 1 (AUC = 0.76)'
    """

    def __init__(
        self,
        roc: BinormalROC | QuadraticROC | EmpiricalROC | list[EmpiricalROC],
        *,
        fpr=None,
        tpr=None,
        band=None,
        confidence_level=0.95,
        name=None,
        pos_label=None,
    ):
        self.roc = roc
        self.fpr = fpr
        self.tpr = tpr
        self.band = band
        self.confidence_level = confidence_level
        self.name = name
        self.pos_label = pos_label

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
        equal_variance=False,
        confidence_level=0.95,
        name=None,
        ax=None,
        **plot_kwargs,
    ):
        """Plot the curves of a fitted binary classifier's scores on (X, y).

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like or sparse matrix of shape (n, n_features)
            Preferably rows that did not train the estimator.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        response_method : {"auto", "decision_function", "predict_proba"}
            ``"auto"`` takes ``decision_function`` where there is one: probabilities
            are rarely normal.
        pos_label : label, default=None
            The positive class; None takes ``classes_[1]``.
        equal_variance, confidence_level, name, ax, **plot_kwargs
            As for :meth:`from_predictions`; the name defaults to the class's.

        Returns
        -------
        BinormalROCDisplay
        """
        score, pos_label = responses(estimator, X, response_method, pos_label)
        return cls.from_predictions(
            y,
            score,
            sample_weight=sample_weight,
            pos_label=pos_label,
            equal_variance=equal_variance,
            confidence_level=confidence_level,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **plot_kwargs,
        )

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
        ax=None,
        **plot_kwargs,
    ):
        """Plot the curves of a cross-validation's test rows, and their average.

        Parameters
        ----------
        cv_results : dict
            From :func:`sklearn.model_selection.cross_validate` with
            ``return_estimator=True`` and ``return_indices=True``.
        X : array-like, sparse matrix or frame of shape (n, n_features)
            What was given to ``cross_validate``.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        response_method, pos_label, name, ax, **plot_kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        BinormalROCDisplay

        Notes
        -----
        The folds share most of their training rows: one standard deviation between
        their curves is shaded, which is no interval.
        """
        curves, label = fold_curves(
            cv_results,
            X,
            y,
            sample_weight=sample_weight,
            response_method=response_method,
            pos_label=pos_label,
        )
        return cls(curves, name=name, pos_label=pos_label and label).plot(
            ax=ax, **plot_kwargs
        )

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
        ax=None,
        **plot_kwargs,
    ):
        """Plot the curves of scores.

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
            Of the band.
        name : str, default=None
        ax : matplotlib Axes, default=None
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        BinormalROCDisplay

        Raises
        ------
        ValueError
            If the input is bad or a class has one row.
        """
        check_level("confidence_level", confidence_level)
        positive = check_positive(y_true, pos_label=pos_label)
        score = check_score(y_score, len(positive))
        weight = check_weight(sample_weight, positive)
        roc = binormal_roc(
            positive, score, equal_variance=equal_variance, sample_weight=weight
        )
        fpr, tpr, _ = roc_curve(positive, score, sample_weight=weight)
        display = cls(
            roc,
            fpr=fpr,
            tpr=tpr,
            band=credible_band(
                *class_moments(score, positive, weight), confidence_level
            ),
            confidence_level=confidence_level,
            name=name,
            pos_label=pos_label,
        )
        return display.plot(ax=ax, **plot_kwargs)

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
            None makes a new figure. A second display on the same axes takes the next
            colour.
        name : str, default=None
            Overrides the display's own.
        curve_kwargs : dict, default=None
            For the analytic curve.
        plot_empirical, plot_youden, plot_band : bool, default=True
            Each needs the data it shows.
        plot_chance_level : bool, default=False
        chance_level_kw : dict, default=None
        despine : bool, default=False
            Remove the top and right spines.

        Returns
        -------
        BinormalROCDisplay
        """
        self.ax_, self.figure_ = axes(ax, type(self).__name__)
        name = self.name if name is None else name
        self.band_ = self.empirical_line_ = self.chance_level_ = None
        self.average_line_ = None
        self.youden_points_ = []
        if isinstance(self.roc, list | tuple):
            if not self.roc:
                raise ValueError("roc must hold one curve or more, got an empty list")
            self._draw_folds(name, curve_kwargs, plot_band)
            return self._finished(plot_chance_level, chance_level_kw, despine)
        self._draw_curve(name, curve_kwargs)
        colour = self.line_.get_color()
        if plot_band and self.band is not None:
            self._draw_bands(colour)
        if plot_empirical and self.fpr is not None:
            self._draw_empirical(colour)
        if plot_youden:
            self._mark_youden(colour)
        return self._finished(plot_chance_level, chance_level_kw, despine)

    def _draw_curve(self, name, curve_kwargs):
        style = {"color": next_colour(self.ax_), "linewidth": 2}
        style |= {"label": label(name, f"AUC = {self.roc.auc:.2f}")}
        style |= line_style(curve_kwargs)
        if isinstance(self.roc, EmpiricalROC):
            fpr, tpr = self.roc.fpr, self.roc.tpr
        else:
            fpr = GRID
            tpr = self.roc.roc(fpr)
        (self.line_,) = self.ax_.plot(fpr, tpr, gid="skauc", **style)

    def _draw_bands(self, colour):
        bands = self.band if isinstance(self.band, list) else [self.band]
        drawn = []
        for band in bands:
            text, limits = f"{self.confidence_level:.0%} credible band", band
            if isinstance(band, ROCBand):
                kind = "simultaneous" if band.simultaneous else "pointwise"
                text = f"{band.confidence_level:.0%} {kind} band"
                limits = band.fpr, band.low, band.high
            drawn.append(
                self.ax_.fill_between(*limits, color=colour, label=text, **BAND)
            )
        self.band_ = drawn if isinstance(self.band, list) else drawn[0]

    def _draw_folds(self, name, curve_kwargs, plot_band):
        colour = next_colour(self.ax_)
        style = {"color": colour, "linewidth": 1, "alpha": 0.4}
        style |= line_style(curve_kwargs)
        self.line_ = [
            self.ax_.plot(curve.fpr, curve.tpr, **style)[0] for curve in self.roc
        ]
        areas = [curve.auc for curve in self.roc]
        self.line_[0].set_label(f"{len(areas)} folds")
        mean, spread = average(self.roc, GRID)
        text = f"AUC = {np.mean(areas):.2f}"
        if len(areas) > 1:
            text += f" ± {np.std(areas, ddof=1):.2f}"
        (self.average_line_,) = self.ax_.plot(
            GRID,
            mean,
            color=style["color"],
            linewidth=2.5,
            gid="skauc",
            label=label(name, f"average of folds, {text}"),
        )
        if plot_band and len(areas) > 1:
            self.band_ = self.ax_.fill_between(
                GRID,
                np.maximum(mean - spread, 0),
                np.minimum(mean + spread, 1),
                color=style["color"],
                label="± 1 standard deviation of folds",
                **BAND,
            )

    def _draw_empirical(self, colour):
        (self.empirical_line_,) = self.ax_.plot(
            self.fpr,
            self.tpr,
            color=colour,
            linewidth=1,
            linestyle=(0, (4, 1.5)),
            label=f"empirical (AUC = {auc(self.fpr, self.tpr):.2f})",
        )

    def _mark_youden(self, colour):
        best = self.roc.youden()
        points = [("o", "Youden point", best.fpr, best.tpr)]
        if self.empirical_line_ is not None:
            k = int(np.argmax(self.tpr - self.fpr))
            points.append(("s", "empirical Youden point", self.fpr[k], self.tpr[k]))
        for marker, title, fpr, tpr in points:
            self.youden_points_ += self.ax_.plot(
                fpr,
                tpr,
                marker,
                color=colour,
                markeredgecolor="white",
                markersize=8,
                zorder=4,
                label=f"{title} (J = {tpr - fpr:.2f})",
                clip_on=False,
            )

    def _finished(self, plot_chance_level, chance_level_kw, despine):
        if plot_chance_level:
            style = chance_style(chance_level_kw, "chance level (AUC = 0.5)")
            (self.chance_level_,) = self.ax_.plot((0, 1), (0, 1), **style)
        extra = "" if self.pos_label is None else f" (positive label: {self.pos_label})"
        self.ax_.set(
            xlabel="False positive rate" + extra,
            ylabel="True positive rate" + extra,
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
        )
        self.ax_.legend(loc="lower right", fontsize="small")
        despined(self.ax_, despine)
        return self


@picture.register
def _(value: AUCEstimate, ax=None, **options) -> BinormalROCDisplay:
    sample = value._sample
    positive = np.repeat([False, True], [len(sample.neg), len(sample.pos)])
    weighted = sample.weight_pos is not None
    if sample.cluster_pos is not None:  # the band takes the rows as independent
        options = {"plot_band": False} | options
    return BinormalROCDisplay.from_predictions(
        positive,
        np.concatenate([sample.neg, sample.pos]),
        sample_weight=np.concatenate(sample.counts) if weighted else None,
        ax=ax,
        **options,
    )


@picture.register
def _(
    value: EmpiricalROC, ax=None, *, confidence_level=0.95, band="pointwise", **options
) -> BinormalROCDisplay:
    methods = band if isinstance(band, list | tuple) else [band]
    bands = [value.band(confidence_level, how) for how in methods if how is not None]
    name = options.pop("name", None)
    return BinormalROCDisplay(
        value, band=bands or None, confidence_level=confidence_level, name=name
    ).plot(ax=ax, **options)
