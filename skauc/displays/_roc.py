"""Picture of a ROC curve: analytic beside empirical."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.metrics import auc, roc_curve
from sklearn.utils.validation import check_is_fitted

from .._validation import (
    check_level,
    check_option,
    check_positive,
    check_score,
    check_weight,
)
from ..intervals._auc_estimate import AUCEstimate
from ..intervals._score_functions import binormal_roc
from ..roc._binormal import BinormalROC
from ..roc._quadratic import QuadraticROC
from ..statistics._moments import class_moments
from ..statistics._result import picture
from ._style import BAND, axes, chance_style, despined, label, line_style, next_colour

_GRID = ndtr(np.linspace(-4, 4, 201))  # false positive rates, dense in both corners
_DRAWS = 4000  # quantiles of the band to about 1/100 of its width


class BinormalROCDisplay:
    """Analytic ROC curve of normal scores, beside the empirical one.

    Answers: how well do two normal distributions describe these scores, how sure is
    the curve, and where is its best threshold? Make it with ``from_estimator`` or
    ``from_predictions``, or from a curve that is known (``model.roc_``).

    Parameters
    ----------
    roc : BinormalROC or QuadraticROC
        The analytic curve.
    fpr, tpr : ndarray, default=None
        The empirical curve, if there are data.
    band : tuple of ndarray (fpr, low, high), default=None
        Pointwise credible band of the analytic curve.
    confidence_level : float, default=0.95
        Of the band.
    name : str, default=None
        For the legend.
    pos_label : label, default=None
        For the axes' labels.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The analytic curve.
    empirical_line_, chance_level_ : matplotlib Line2D or None
    band_ : matplotlib PolyCollection or None
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
        roc: BinormalROC | QuadraticROC,
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
        score, pos_label = _response(estimator, X, response_method, pos_label)
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
            band=_band(*class_moments(score, positive, weight), confidence_level),
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
        self._draw_analytic(name, curve_kwargs)
        colour = self.line_.get_color()
        self.band_ = self.empirical_line_ = self.chance_level_ = None
        self.youden_points_ = []
        if plot_band and self.band is not None:
            text = f"{self.confidence_level:.0%} credible band"
            self.band_ = self.ax_.fill_between(
                *self.band, color=colour, label=text, **BAND
            )
        if plot_empirical and self.fpr is not None:
            self._draw_empirical(colour)
        if plot_youden:
            self._mark_youden(colour)
        if plot_chance_level:
            style = chance_style(chance_level_kw, "chance level (AUC = 0.5)")
            (self.chance_level_,) = self.ax_.plot((0, 1), (0, 1), **style)
        self._finish(despine)
        return self

    def _draw_analytic(self, name, curve_kwargs):
        style = {"color": next_colour(self.ax_), "linewidth": 2}
        style |= {"label": label(name, f"AUC = {self.roc.auc:.2f}")}
        style |= line_style(curve_kwargs)
        fpr = np.concatenate([[0.0], _GRID, [1.0]])
        (self.line_,) = self.ax_.plot(fpr, self.roc.roc(fpr), gid="skauc", **style)

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

    def _finish(self, despine):
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


def _response(estimator, X, method, pos_label):
    """Scores in favour of the positive label, and that label."""
    check_option(
        "response_method", method, ("auto", "decision_function", "predict_proba")
    )
    check_is_fitted(estimator)
    classes = list(getattr(estimator, "classes_", []))
    if len(classes) != 2:
        raise ValueError(
            f"estimator must separate two classes for a ROC curve, got {len(classes)}"
        )
    pos_label = classes[1] if pos_label is None else pos_label
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of {classes}, got {pos_label!r}")
    if method == "auto":
        has_decision = hasattr(estimator, "decision_function")
        method = "decision_function" if has_decision else "predict_proba"
    score = getattr(estimator, method)(X)
    if method == "predict_proba":
        return score[:, classes.index(pos_label)], pos_label
    return (score if pos_label == classes[1] else -score), pos_label


def _band(neg, pos, confidence_level):
    """Pointwise credible band ``(fpr, low, high)``; None where there is no spread."""
    if min(neg.scatter, pos.scatter) <= 0 or min(neg.n, pos.n) <= 1:
        return None
    # σ_c² = W_c/χ²_{n_c−1}, μ_c ~ N(x̄_c, σ_c²/n_c)
    rng = np.random.default_rng(0)  # the same data, the same band
    means, deviations = [], []
    for part in (neg, pos):
        sigma = np.sqrt(part.scatter / rng.chisquare(part.n - 1, _DRAWS))
        deviations.append(sigma)
        normal = rng.standard_normal(_DRAWS)
        means.append(part.mean + sigma * normal / np.sqrt(part.n))
    # Φ⁻¹(ROC(u)) = (μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁
    gap = (means[1] - means[0])[:, None]
    z = (gap + deviations[0][:, None] * ndtri(_GRID)) / deviations[1][:, None]
    tail = (1 - confidence_level) / 2
    low, high = ndtr(np.quantile(z, [tail, 1 - tail], axis=0))
    return (
        np.concatenate([[0.0], _GRID, [1.0]]),
        np.concatenate([[0.0], low, [1.0]]),
        np.concatenate([[0.0], high, [1.0]]),
    )


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
