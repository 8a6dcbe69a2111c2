"""Pictures: the binormal ROC curve and the posterior of the AUC.

They follow scikit-learn's displays: ``from_estimator``, ``from_predictions``,
``plot(ax=None, *, name=None, …)``, and the artists in attributes with a trailing
underscore. Colours are Okabe & Ito's, which colour-blind readers can tell apart.
"""

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
from ..intervals._score_functions import binormal_roc
from ..model_selection._auc_posterior import auc_posterior
from ..posterior._auc_posterior import AUCPosterior, ProjectedPosterior
from ..roc._binormal import BinormalROC
from ..roc._quadratic import QuadraticROC
from ..statistics._moments import class_moments

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_GRID = ndtr(np.linspace(-4, 4, 201))  # false positive rates, dense in both corners
_DRAWS = 4000


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
        self.ax_, self.figure_ = _axes(ax, type(self).__name__)
        name = self.name if name is None else name
        style = {"color": _next_colour(self.ax_), "linewidth": 2}
        style |= {"label": _label(name, f"AUC = {self.roc.auc:.2f}")}
        style |= _line_style(curve_kwargs)
        fpr = np.concatenate([[0.0], _GRID, [1.0]])
        (self.line_,) = self.ax_.plot(fpr, self.roc.roc(fpr), gid="skauc", **style)
        colour = self.line_.get_color()
        self.band_ = self.empirical_line_ = self.chance_level_ = None
        self.youden_points_ = []
        if plot_band and self.band is not None:
            self.band_ = self.ax_.fill_between(
                *self.band,
                color=colour,
                alpha=0.18,
                linewidth=0,
                label=f"{self.confidence_level:.0%} credible band",
            )
        if plot_empirical and self.fpr is not None:
            area = auc(self.fpr, self.tpr)
            (self.empirical_line_,) = self.ax_.plot(
                self.fpr,
                self.tpr,
                color=colour,
                linewidth=1,
                linestyle=(0, (4, 1.5)),
                label=f"empirical (AUC = {area:.2f})",
            )
        if plot_youden:
            self._mark_youden(colour)
        if plot_chance_level:
            chance = {"color": "0.4", "linestyle": ":"}
            chance |= {"label": "chance level (AUC = 0.5)"}
            chance |= _line_style(chance_level_kw)
            (self.chance_level_,) = self.ax_.plot((0, 1), (0, 1), **chance)
        self._finish(despine)
        return self

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
        if despine:
            self.ax_.spines[["top", "right"]].set_visible(False)


class AUCPosteriorDisplay:
    """Posterior density of the AUC, of one model or of several.

    Answers: how large is the true AUC, how sure is that, and do two models differ?
    Each model is a density with its mean (a line) and credible interval (shaded).

    Parameters
    ----------
    posterior : AUCPosterior or dict of str to AUCPosterior
        A dict draws several models on one axis.
    name : str, default=None
        For the legend, when there is one posterior.

    Attributes
    ----------
    line_ : matplotlib Line2D, or list of them
    mean_line_, interval_ : matplotlib artist, or list of them
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from skauc import AUCPosterior, AUCPosteriorDisplay
    >>> posterior = AUCPosterior.from_cells(D=2.0, v=0.1, q=40.0, df=43)
    >>> AUCPosteriorDisplay(posterior, name="ridge").plot().line_.get_label()
    'ridge: 0.92 [0.82, 0.98]'
    """

    def __init__(self, posterior: AUCPosterior | dict, *, name=None):
        self.posterior = posterior
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        *,
        sample_weight=None,
        pos_label=None,
        name=None,
        ax=None,
        confidence_level=0.95,
        plot_chance_level=False,
        chance_level_kw=None,
        despine=False,
        **posterior_kwargs,
    ):
        """Plot the posterior of a fitted linear model's AUC.

        Parameters
        ----------
        estimator : fitted estimator, or dict of str to fitted estimator
            Linear classifiers, as :func:`skauc.auc_posterior` takes them.
        X : array-like or sparse matrix of shape (n, n_features)
            Usually the training rows.
        y : array-like of shape (n,)
        sample_weight, pos_label, **posterior_kwargs
            For :func:`skauc.auc_posterior` (``prior``, ``covariance``).
        name, ax, confidence_level, plot_chance_level, chance_level_kw, despine
            For :meth:`plot`; the name defaults to the class's.

        Returns
        -------
        AUCPosteriorDisplay
        """
        given = estimator if isinstance(estimator, dict) else {None: estimator}
        posteriors = {
            key: auc_posterior(
                model,
                X,
                y,
                sample_weight=sample_weight,
                pos_label=pos_label,
                **posterior_kwargs,
            )
            for key, model in given.items()
        }
        if not isinstance(estimator, dict):
            posteriors = posteriors[None]
            name = type(estimator).__name__ if name is None else name
        display = cls(posteriors, name=name)
        return display.plot(
            ax,
            confidence_level=confidence_level,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kw,
            despine=despine,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score,
        *,
        sample_weight=None,
        pos_label=None,
        name=None,
        ax=None,
        confidence_level=0.95,
        plot_chance_level=False,
        chance_level_kw=None,
        despine=False,
    ):
        """Plot the posterior of the AUC of held-out scores, as one normal feature.

        Separate variances and the reference prior ∝ 1/σ_c².

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
        sample_weight, pos_label
            As for :func:`skauc.cbauc_score`.
        name, ax, confidence_level, plot_chance_level, chance_level_kw, despine
            For :meth:`plot`.

        Returns
        -------
        AUCPosteriorDisplay
        """
        positive = check_positive(y_true, pos_label=pos_label)
        score = check_score(y_score, len(positive))
        weight = check_weight(sample_weight, positive)
        neg, pos = class_moments(score, positive, weight)
        display = cls(_reference_posterior(neg, pos).auc(), name=name)
        return display.plot(
            ax,
            confidence_level=confidence_level,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kw,
            despine=despine,
        )

    def plot(
        self,
        ax=None,
        *,
        name=None,
        confidence_level=0.95,
        plot_chance_level=False,
        chance_level_kw=None,
        despine=False,
    ):
        """Draw the densities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        name : str, default=None
            Overrides the display's own, when there is one posterior.
        confidence_level : float in (0, 1), default=0.95
            Of the shaded interval.
        plot_chance_level : bool, default=False
            A vertical line at AUC ½.
        chance_level_kw : dict, default=None
            Style of that line.
        despine : bool, default=False

        Returns
        -------
        AUCPosteriorDisplay
        """
        check_level("confidence_level", confidence_level)
        self.ax_, self.figure_ = _axes(ax, type(self).__name__)
        posteriors = self.posterior
        if not isinstance(posteriors, dict):
            posteriors = {self.name if name is None else name: posteriors}
        artists = [
            self._draw(key, posterior, confidence_level)
            for key, posterior in posteriors.items()
        ]
        self.line_, self.mean_line_, self.interval_ = (
            column[0] if len(column) == 1 else list(column)
            for column in zip(*artists, strict=True)
        )
        if plot_chance_level:
            chance = {"color": "0.4", "linestyle": ":", "label": "chance level"}
            chance |= _line_style(chance_level_kw)
            self.chance_level_ = self.ax_.axvline(0.5, **chance)
        self.ax_.set(xlabel="AUC", ylabel="Posterior density")
        self.ax_.set_ylim(bottom=0)
        low, high = self.ax_.get_xlim()
        self.ax_.set_xlim(max(low, 0.0), min(high, 1.0))
        title = f"mean [{confidence_level:.0%} interval]"
        self.ax_.legend(loc="best", fontsize="small", title=title)
        if despine:
            self.ax_.spines[["top", "right"]].set_visible(False)
        return self

    def _draw(self, name, posterior, confidence_level):
        colour = _next_colour(self.ax_)
        low, high = posterior.interval(confidence_level)
        mean = posterior.mean()
        label = _label(name, f"{mean:.2f} [{low:.2f}, {high:.2f}]", "{0}: {1}")
        ends = ndtri(posterior.ppf([1e-4, 1 - 1e-4]))
        grid = ndtr(np.linspace(*np.clip(ends, -8, 8), 401))
        density = posterior.pdf(grid)
        (line,) = self.ax_.plot(
            grid, density, color=colour, linewidth=2, label=label, gid="skauc"
        )
        inside = (grid >= low) & (grid <= high)
        interval = self.ax_.fill_between(
            grid, density, where=inside, color=colour, alpha=0.18, linewidth=0
        )
        (mean_line,) = self.ax_.plot(
            [mean, mean], [0, posterior.pdf(mean)], color=colour, linestyle="--"
        )
        return line, mean_line, interval


def _line_style(given):
    """Matplotlib's full names for the aliases (``c``, ``lw``, …) that were given."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(given or {}, Line2D)


def _axes(ax, name):
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError(
            f"{name}.plot needs matplotlib: pip install 'skauc[plot]'"
        ) from missing
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax, ax.figure


def _next_colour(ax):
    """A colour that no other display on these axes has."""
    drawn = sum(line.get_gid() == "skauc" for line in ax.lines)
    return _COLOURS[drawn % len(_COLOURS)]


def _label(name, text, form="{0} ({1})"):
    return text if name is None else form.format(name, text)


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


def _reference_posterior(neg, pos):
    """Posterior of both classes under the reference prior ∝ 1/σ_c²."""
    for name, part in (("negative", neg), ("positive", pos)):
        if part.n <= 1 or part.scatter <= 0:
            raise ValueError(
                f"the {name} class must hold more than 1 row and differing scores for "
                f"a posterior, got {part.n:g} rows with scatter {part.scatter:g}"
            )
    return ProjectedPosterior(
        float(neg.mean),
        float(pos.mean),
        neg.n,
        pos.n,
        float(neg.scatter),
        float(pos.scatter),
        neg.n - 1,
        pos.n - 1,
        shared=False,
    )


def _band(neg, pos, confidence_level):
    """Pointwise credible band ``(fpr, low, high)``; None where there is no spread."""
    if min(neg.scatter, pos.scatter) <= 0 or min(neg.n, pos.n) <= 1:
        return None
    rng = np.random.default_rng(0)
    means, deviations = [], []
    for part in (neg, pos):
        sigma = np.sqrt(part.scatter / rng.chisquare(part.n - 1, _DRAWS))
        deviations.append(sigma)
        normal = rng.standard_normal(_DRAWS)
        means.append(part.mean + sigma * normal / np.sqrt(part.n))
    gap = (means[1] - means[0])[:, None]
    z = (gap + deviations[0][:, None] * ndtri(_GRID)) / deviations[1][:, None]
    tail = (1 - confidence_level) / 2
    low, high = ndtr(np.quantile(z, [tail, 1 - tail], axis=0))
    return (
        np.concatenate([[0.0], _GRID, [1.0]]),
        np.concatenate([[0.0], low, [1.0]]),
        np.concatenate([[0.0], high, [1.0]]),
    )
