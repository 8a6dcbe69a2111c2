"""Picture of posteriors of the AUC."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import ndtr, ndtri

from ..intervals._projection import counted_scores
from ..model_selection._auc_posterior import auc_posterior
from ..posterior._conjugate import NormalInverseWishart
from ..posterior._distribution import AUCDistribution
from ..statistics._checks import check_level
from ..statistics._moments import class_moments
from ..statistics._result import picture
from ..statistics._types import ArrayLike, Values
from ._style import Display, auc_text, label, of_class


@dataclass(eq=False, repr=False)
class AUCPosteriorDisplay(Display):
    """Plot of the posterior density of the AUC, for one or several models.

    Answers: how large is the true AUC, how certain is it, and do two models differ?
    Each model is drawn as a density with its mean (a line) and its credible interval
    (shaded); both stand in the legend.

    Parameters
    ----------
    posterior : AUCPosterior or dict of str to AUCPosterior
        A dict draws several models on one axis.
    name : str, default=None
        Name in the legend, if there is a single posterior.

    Attributes
    ----------
    line_ : matplotlib Line2D, or list of them
        Densities.
    mean_line_, interval_ : matplotlib artist, or list of them
        Lines at the means, and shaded intervals.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    auc_posterior : The posterior that is drawn.
    SearchDisplay : The candidates of a search.

    Examples
    --------
    >>> from skauc import AUCPosteriorDisplay
    >>> from skauc.results import AUCPosterior
    >>> posterior = AUCPosterior.from_components(D=2.0, v=0.1, q=40.0, df=43)
    >>> AUCPosteriorDisplay(posterior, name="ridge").plot().line_.get_label()
    'ridge (AUC 0.92, 0.82 to 0.98)'
    """

    posterior: AUCDistribution | Mapping[str, AUCDistribution]
    _: KW_ONLY
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot the posterior of a fitted classifier's AUC.

        Parameters
        ----------
        estimator : fitted estimator, or dict of str to fitted estimator
            Classifiers that :func:`skauc.auc_posterior` accepts.
        X : array-like or sparse matrix of shape (n, n_features)
            Usually the training rows; for others pass ``rows="held-out"``, too.
        y : array-like of shape (n,)
        name : str, default=None
            Name in the legend; for a single estimator None takes its class name.
        **options
            Options of :meth:`plot` (``ax, confidence_level``) and of
            :func:`skauc.auc_posterior` (``sample_weight``, ``pos_label``, ``prior``,
            …).

        Returns
        -------
        AUCPosteriorDisplay
        """
        plot = cls._for_plot(options)
        if isinstance(estimator, Mapping):
            models = estimator.items()
            posteriors = {k: auc_posterior(m, X, y, **options) for k, m in models}
        else:
            posteriors = auc_posterior(estimator, X, y, **options)
            name = type(estimator).__name__ if name is None else name
        return cls(posteriors, name=name).plot(**plot)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: Values = None,
        pos_label: object = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot the posterior of the AUC of held-out scores, normal in each class.

        The variances of the classes are separate, with the reference prior ∝ 1/σ_c².

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
        sample_weight, pos_label
            As for :func:`skauc.cbauc_score`.
        name : str, default=None
        **plot_kwargs
            For :meth:`plot`.

        Returns
        -------
        AUCPosteriorDisplay

        Raises
        ------
        ValueError
            If the scores of a class are all equal.
        """
        rows, pos_label = counted_scores(y_true, y_score, sample_weight, pos_label)
        classes = class_moments(rows.X[:, 0], rows.positive, rows.weight)
        for which, part in zip(("negative", "positive"), classes, strict=True):
            if part.n <= 1 or part.scatter <= 0:
                raise ValueError(
                    f"the {which} class must hold more than 1 row and different scores "
                    f"for a posterior, got {part.n:g} rows with scatter "
                    f"{part.scatter:g}"
                )
        # ∝ 1/(σ₀² σ₁²): n_c + κ = n_c − 1 degrees of freedom in each class
        prior = NormalInverseWishart(nu_neg=0, nu_pos=0, kappa=-1.0, scale=0.0)
        found = prior.project(np.ones(1), *classes, "separate").auc()
        return cls(replace(found, pos_label=pos_label), name=name).plot(**plot_kwargs)

    def plot(self, ax: Any = None, *, confidence_level: float = 0.95) -> Self:
        """Draw the densities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        confidence_level : float in (0, 1), default=0.95
            Level of the shaded interval.

        Returns
        -------
        AUCPosteriorDisplay
        """
        check_level("confidence_level", confidence_level)
        self._open(ax)
        posteriors = self.posterior
        if not isinstance(posteriors, Mapping):
            posteriors = {self.name: posteriors}
        drawn = [self._draw(*item, confidence_level) for item in posteriors.items()]
        self.line_, self.mean_line_, self.interval_ = (
            artists[0] if len(artists) == 1 else list(artists)
            for artists in zip(*drawn, strict=True)
        )
        low, high = self.ax_.get_xlim()
        named = {getattr(one, "pos_label", None) for one in posteriors.values()}
        xlabel = of_class("AUC", named.pop() if len(named) == 1 else None)
        self.ax_.set(xlabel=xlabel, ylabel="Posterior density")
        self.ax_.set(ylim=(0, None), xlim=(max(low, 0.0), min(high, 1.0)))
        self._close("upper left", title=f"mean and {confidence_level:.0%} interval")
        return self

    def _draw(self, name, posterior, confidence_level):
        """Draw one density, its mean and its interval."""
        low, high = posterior.interval(confidence_level)
        mean = posterior.mean()
        text = label(name, auc_text(mean, (low, high)))
        # all but 1e-4 of the mass per side, in even steps of the probit, which is
        # nearly normal; Φ(±8) rounds to 0 or 1
        ends = ndtri(posterior.ppf([1e-4, 1 - 1e-4]))
        grid = ndtr(np.linspace(*np.clip(ends, -8, 8), 401))
        density = posterior.pdf(grid)
        line = self._model_curve(grid, density, label=text)
        colour = line.get_color()
        inside = (grid >= low) & (grid <= high)
        interval = self._band(grid, 0, density, where=inside, color=colour)
        height = posterior.pdf(mean)
        mean_line = self._curve([mean, mean], [0, height], color=colour, linestyle="--")
        return line, mean_line, interval


@picture.register
def _(value: AUCDistribution, ax=None, *, name=None, **options) -> AUCPosteriorDisplay:
    return AUCPosteriorDisplay(value, name=name).plot(ax, **options)
