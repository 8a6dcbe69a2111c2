"""Picture of posteriors of the AUC."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from .._validation import check_level, check_positive, check_score, check_weight
from ..intervals._methods import reference_posterior
from ..model_selection._auc_posterior import auc_posterior
from ..posterior._distribution import AUCDistribution
from ..statistics._moments import class_moments
from ..statistics._result import picture
from ._style import BAND, axes, chance_style, despined, label, next_colour


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

    def __init__(self, posterior: AUCDistribution | dict, *, name=None):
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
        _check_spread(neg, pos)
        display = cls(reference_posterior(neg, pos), name=name)
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
        self.ax_, self.figure_ = axes(ax, type(self).__name__)
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
            self.chance_level_ = self.ax_.axvline(0.5, **chance_style(chance_level_kw))
        self.ax_.set(xlabel="AUC", ylabel="Posterior density")
        self.ax_.set_ylim(bottom=0)
        low, high = self.ax_.get_xlim()
        self.ax_.set_xlim(max(low, 0.0), min(high, 1.0))
        title = f"mean [{confidence_level:.0%} interval]"
        self.ax_.legend(loc="best", fontsize="small", title=title)
        despined(self.ax_, despine)
        return self

    def _draw(self, name, posterior, confidence_level):
        colour = next_colour(self.ax_)
        low, high = posterior.interval(confidence_level)
        mean = posterior.mean()
        text = label(name, f"{mean:.2f} [{low:.2f}, {high:.2f}]", "{0}: {1}")
        # all but 1e-4 of the mass a side, even on the probit scale, where it is normal
        # by and large; Φ(±8) is where a float meets 0 and 1
        ends = ndtri(posterior.ppf([1e-4, 1 - 1e-4]))
        grid = ndtr(np.linspace(*np.clip(ends, -8, 8), 401))
        density = posterior.pdf(grid)
        (line,) = self.ax_.plot(
            grid, density, color=colour, linewidth=2, label=text, gid="skauc"
        )
        inside = (grid >= low) & (grid <= high)
        interval = self.ax_.fill_between(
            grid, density, where=inside, color=colour, **BAND
        )
        (mean_line,) = self.ax_.plot(
            [mean, mean], [0, posterior.pdf(mean)], color=colour, linestyle="--"
        )
        return line, mean_line, interval


def _check_spread(neg, pos):
    for name, part in (("negative", neg), ("positive", pos)):
        if part.n <= 1 or part.scatter <= 0:
            raise ValueError(
                f"the {name} class must hold more than 1 row and differing scores for "
                f"a posterior, got {part.n:g} rows with scatter {part.scatter:g}"
            )


@picture.register
def _(value: AUCDistribution, ax=None, *, name=None, **options) -> AUCPosteriorDisplay:
    return AUCPosteriorDisplay(value, name=name).plot(ax, **options)
