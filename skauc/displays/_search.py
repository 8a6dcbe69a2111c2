"""Display of a search: AUC of each candidate, and probability of being the best."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np

from ..model_selection._search import SearchPosterior, search_posterior
from ..statistics._checks import check_level
from ..statistics._result import picture, shown
from ..statistics._types import ArrayLike, Values
from ._style import Display, auc_text, of_class

_MANY = 10  # candidates that leave no room for names of several lines


@dataclass(eq=False, repr=False)
class SearchDisplay(Display):
    """Plot of the AUC of a search's candidates against the parameters that differ.

    Answers: how flat is the optimum, how certain is the choice, and which simpler
    candidate is hardly worse? One numeric parameter is drawn as a line with a credible
    band; if further parameters differ, the line shows the best candidate at each value.
    Two numeric parameters are drawn as a map. The fewest candidates that hold the best
    one with the probability of the confidence level have a dark edge: a set, and no
    contour, because there is nothing to know between candidates. In all other cases
    each candidate is drawn as an interval. The chosen candidate is drawn with the AUC
    and the interval to report, ``selected`` of :class:`skauc.results.SearchPosterior`,
    which is corrected for the selection and may therefore lie below the others.

    Parameters
    ----------
    posterior : SearchPosterior
        For a fitted search call :meth:`from_search`.
    parameters : list of str, default=None
        One or two parameters for the axes; None takes the parameters that differ.
    simplest : str or array-like, default=None
        The argument ``order`` of :meth:`skauc.results.SearchPosterior.simplest`. If the
        plot has one numeric parameter, None takes that parameter, its smallest value
        being the simplest; otherwise None marks no candidate.

    Attributes
    ----------
    line_, band_ : matplotlib artist or None
        For one numeric parameter.
    map_, credible_set_ : matplotlib PathCollection or None
        For two numeric parameters.
    intervals_ : matplotlib ErrorbarContainer or None
        In all other cases.
    selected_, one_sd_ : matplotlib Line2D or None
        Marks of the selected candidate and of the simplest candidate within half a
        standard deviation of the best.
    selected_interval_ : matplotlib ErrorbarContainer or None
        Interval of the selected candidate, beside a line.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Raises
    ------
    TypeError
        If ``posterior`` is not a SearchPosterior.

    See Also
    --------
    search_posterior : The numbers that are drawn.
    one_sd_rule : Selects the simplest good candidate within a search.
    AUCPosteriorDisplay : The AUC of a few models as densities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import SearchDisplay, search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:80, :4] / X[:80, :4].std(axis=0), y[:80]
    >>> models = [LogisticRegression(C=C).fit(X, y) for C in (1e-3, 1.0)]
    >>> SearchDisplay(search_posterior(models, X, y)).plot().ax_.get_xlabel()
    'AUC (positive label: 1)'
    """

    posterior: SearchPosterior
    _: KW_ONLY
    parameters: str | list[str] | None = None
    simplest: Values = None

    def __post_init__(self):
        if not isinstance(self.posterior, SearchPosterior):
            raise TypeError(
                "posterior must be a SearchPosterior, got "
                f"{type(self.posterior).__name__}; SearchDisplay.from_search(search, "
                "X, y) draws a fitted search"
            )

    @classmethod
    def from_search(
        cls,
        search: Any,
        X: Any,
        y: ArrayLike,
        *,
        parameters: str | list[str] | None = None,
        simplest: Values = None,
        **options: Any,
    ) -> Self:
        """Plot the candidates of a fitted search.

        Parameters
        ----------
        search : fitted search, or list of fitted models
            As for :func:`skauc.search_posterior`.
        X : array-like or sparse matrix of shape (n, n_features)
            The rows of the search.
        y : array-like of shape (n,)
        parameters, simplest
            See the class.
        **options
            Options of :meth:`plot` (``ax, confidence_level``) and of
            :func:`skauc.search_posterior` (``prior``, ``n_jobs``, …).

        Returns
        -------
        SearchDisplay
        """
        plot = cls._for_plot(options)
        posterior = search_posterior(search, X, y, **options)
        return cls(posterior, parameters=parameters, simplest=simplest).plot(**plot)

    def plot(self, ax: Any = None, *, confidence_level: float = 0.95) -> Self:
        """Draw the candidates.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        confidence_level : float in (0, 1), default=0.95
            Level of the band or of the intervals.

        Returns
        -------
        SearchDisplay
        """
        check_level("confidence_level", confidence_level)
        names, found = self._drawn(), self.posterior
        values = [self._numbers(n) for n in names]
        self._open(ax)
        mean, k, order = np.array(found.auc.mean()), found.selected_index, self.simplest
        mean[k] = chosen = found.selected.mean()
        limits = found.selected.interval(confidence_level)
        if len(values) not in (1, 2) or any(v is None for v in values):
            self._draw_intervals(names, mean, limits, confidence_level)
            places = mean, np.arange(len(mean))
        elif len(values) == 2:
            self._draw_map(names, values, confidence_level)
            places = values
        else:
            self._draw_line(names[0], values[0], confidence_level)
            places = values[0], mean
            order = names[0] if order is None else order
            x = values[0][[k]]
            self.selected_interval_ = self._points(
                x, [chosen], y_limits=limits, color="k"
            )
        simplest = None if order is None else found.simplest(order)
        self._mark(places, simplest, auc_text(chosen, limits))
        loc = "lower right" if self.line_ is not None else None
        # the names of candidates leave room at the left
        side = "right" if self.intervals_ is not None else "center"
        self._close(loc, side)
        return self

    @property
    def _auc(self):
        """Title of the axis of the AUC."""
        return of_class("AUC", self.posterior.selected.pos_label)

    def _drawn(self):
        """Parameters to draw against."""
        params = self.posterior.params
        if self.parameters is None:
            names = dict.fromkeys(name for p in params for name in p)
            differ = [n for n in names if len({repr(p.get(n)) for p in params}) > 1]
            return differ or list(names)[:1]
        names = np.atleast_1d(self.parameters).tolist()
        if not 1 <= len(names) <= 2 or any(n not in p for n in names for p in params):
            raise ValueError(
                "parameters must name one or two parameters of all candidates, got "
                f"{self.parameters!r}"
            )
        return names

    def _numbers(self, name):
        """Values of a parameter; None where they are not numbers."""
        values = [p.get(name) for p in self.posterior.params]
        if all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
            return np.array(values, dtype=float)
        return None

    def _draw_line(self, parameter, x, confidence_level):
        """Draw the best candidate at each value, with its interval."""
        mean = self.posterior.auc.mean()
        by_value = np.lexsort((mean, x))
        best = by_value[np.append(np.diff(x[by_value]) > 0, True)]
        low, high = (end[best] for end in self.posterior.auc.interval(confidence_level))
        colour = self._colour()
        text = f"{confidence_level:.0%} interval"
        self.band_ = self._band(x[best], low, high, color=colour, label=text)
        style = {"color": colour, "marker": ".", "gid": "skauc"}
        self.line_ = self._curve(x[best], mean[best], **style)
        self.ax_.set(xlabel=parameter, ylabel=self._auc, xscale=scale_of(x))

    def _draw_map(self, names, values, confidence_level):
        """Draw two parameters, and the candidates that hold the best."""
        (column, row), (x, y) = names, values
        style = {"c": self.posterior.auc.mean(), "cmap": "cividis"}
        self.map_ = self.ax_.scatter(x, y, marker="s", s=80, **style)
        colours = self.figure_.colorbar(self.map_, ax=self.ax_)
        colours.set_label(self._auc, wrap=True)
        self.ax_.set(xlabel=column, xscale=scale_of(x))
        self.ax_.set(ylabel=row, yscale=scale_of(y))
        # the fewest candidates whose probabilities add up to the level
        order = np.argsort(-self.posterior.p_best, kind="stable")
        total = np.cumsum(self.posterior.p_best[order])
        held = order[: np.searchsorted(total, confidence_level) + 1]
        style = {"marker": "s", "s": 80, "facecolors": "none", "edgecolors": "k"}
        style["label"] = f"the best, with P {confidence_level:.2f}"
        self.credible_set_ = self.ax_.scatter(x[held], y[held], **style)

    def _draw_intervals(self, names, mean, limits, confidence_level):
        """Draw one interval per candidate, with the parameters that differ."""
        low, high = map(np.array, self.posterior.auc.interval(confidence_level))
        k = self.posterior.selected_index
        low[k], high[k] = limits
        params = [{n: p[n] for n in names if n in p} for p in self.posterior.params]
        joint = ",\n" if len(params) < _MANY else ", "
        texts = [
            joint.join(f"{n.rpartition('__')[2]}={shown(v)}" for n, v in p.items())
            or str(row)
            for p, row in zip(params, self.posterior.row, strict=True)
        ]
        style = {"color": self._colour(), "label": f"{confidence_level:.0%} interval"}
        self.intervals_ = self._rows_of_intervals(texts, mean, low, high, **style)
        self.ax_.set_xlabel(self._auc, loc="right")

    def _mark(self, places, simplest, text):
        """Mark the selected candidate, and the simplest one that is nearly as good."""
        (x, y), k = places, self.posterior.selected_index
        style = {"linestyle": "none", "markersize": 10, "markerfacecolor": "none"}
        text = f"chosen ({text})\nP(best) {self.posterior.p_best[k]:.2f}"
        style |= {"color": "k", "marker": "o", "label": text}
        self.selected_ = self._curve([x[k]], [y[k]], **style)
        if simplest is not None:
            style |= {"marker": "D", "label": "within ½ SD"}
            self.one_sd_ = self._curve([x[simplest]], [y[simplest]], **style)


def scale_of(values) -> str:
    """``"log"`` if values are spaced more evenly on a log axis than on a linear one."""
    values = np.unique(values)
    if len(values) < 3 or values[0] <= 0:
        return "linear"
    log, plain = (np.std(np.diff(v)) / np.ptp(v) for v in (np.log(values), values))
    return "log" if log < plain else "linear"


@picture.register
def _(value: SearchPosterior, ax=None, **options) -> SearchDisplay:
    return SearchDisplay(value).plot(ax, **options)
