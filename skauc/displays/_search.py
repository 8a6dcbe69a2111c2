"""Picture of a search: what each candidate is worth, and how surely it is the best."""

from __future__ import annotations

from numbers import Real

import numpy as np

from .._validation import check_level
from ..model_selection._search_posterior import SearchPosterior, search_posterior
from ..statistics._result import picture
from ._style import BAND, axes, despined, label, next_colour

_DECADES = 2.0  # values that are even in their logarithms and reach so far: a log axis
_EVEN = 0.2  # how much more even steps of logarithms must be than those of the values
_CONTOURS = (0.5, 0.8, 0.95)  # probability that the best lies inside


class SearchDisplay:
    """AUC of the candidates of a search against what they differ in.

    Answers: how flat is the top, how sure is the choice, and which simpler candidate
    is hardly worse? One numeric parameter is a line with its credible band (where
    others differ too, of the best candidate at each value), two are a map with contours
    that hold the best with probability .5, .8 and .95, everything else is an interval a
    candidate.

    Parameters
    ----------
    posterior : SearchPosterior
    parameters : list of str, default=None
        One or two parameters to draw against; None takes those that differ.
    simplest : str or array-like, default=None
        Order of :meth:`SearchPosterior.simplest`; None takes the one numeric parameter,
        the smallest being the simplest, and marks nothing elsewhere.
    name : str, default=None
        For the legend.

    Attributes
    ----------
    line_, band_ : matplotlib artist or None
        Of one numeric parameter.
    map_, contours_ : matplotlib artist or None
        Of two.
    intervals_ : matplotlib ErrorbarContainer or None
        Elsewhere.
    selected_, one_sd_ : matplotlib Line2D or None
        Marks of the selected candidate and of the simplest that is hardly worse.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import SearchDisplay, search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:80, :4] / X[:80, :4].std(axis=0), y[:80]
    >>> models = [LogisticRegression(C=C).fit(X, y) for C in (1e-3, 1.0)]
    >>> SearchDisplay(search_posterior(models, X, y)).plot().ax_.get_xlabel()
    'AUC'
    """

    def __init__(
        self,
        posterior: SearchPosterior,
        *,
        parameters=None,
        simplest=None,
        name=None,
    ):
        self.posterior = posterior
        self.parameters = parameters
        self.simplest = simplest
        self.name = name

    @classmethod
    def from_search(
        cls,
        search,
        X,
        y,
        *,
        parameters=None,
        simplest=None,
        name=None,
        ax=None,
        confidence_level=0.95,
        despine=False,
        **posterior_kwargs,
    ):
        """Plot the candidates of a fitted search.

        Parameters
        ----------
        search : fitted search, or list of fitted models
        X : array-like or sparse matrix of shape (n, n_features)
            The rows of the search.
        y : array-like of shape (n,)
        parameters, simplest, name
            See the class.
        ax, confidence_level, despine
            For :meth:`plot`.
        **posterior_kwargs
            For :func:`skauc.search_posterior` (``prior``, ``n_jobs``, …).

        Returns
        -------
        SearchDisplay
        """
        posterior = search_posterior(search, X, y, **posterior_kwargs)
        display = cls(posterior, parameters=parameters, simplest=simplest, name=name)
        return display.plot(ax, confidence_level=confidence_level, despine=despine)

    def plot(self, ax=None, *, name=None, confidence_level=0.95, despine=False):
        """Draw the candidates.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        name : str, default=None
            Overrides the display's own.
        confidence_level : float in (0, 1), default=0.95
            Of the band or the intervals.
        despine : bool, default=False

        Returns
        -------
        SearchDisplay
        """
        check_level("confidence_level", confidence_level)
        names = self._drawn()
        self.line_ = self.band_ = self.map_ = self.contours_ = self.intervals_ = None
        self.selected_ = self.one_sd_ = None
        values = [self._numbers(n) for n in names]
        numeric = all(v is not None for v in values)
        self.ax_, self.figure_ = axes(ax, type(self).__name__)
        simplest = self._simplest(names, numeric)
        name = self.name if name is None else name
        if numeric and len(names) == 1:
            self._draw_line(values[0], name, confidence_level)
            self.ax_.set(xlabel=names[0], ylabel="AUC")
            x, y = values[0], self.posterior.auc.mean()
        elif numeric and len(names) == 2:
            self._draw_map(*values)
            self.ax_.set(xlabel=names[0], ylabel=names[1])
            x, y = values
        else:
            x, y = self._draw_intervals(confidence_level)
        self._mark(x, y, simplest)
        for axis, v in zip("xy", values, strict=False):
            if numeric and len(names) <= 2 and self.intervals_ is None and is_log(v):
                getattr(self.ax_, f"set_{axis}scale")("log")
        self.ax_.legend(loc="best", fontsize="small")
        despined(self.ax_, despine)
        return self

    def _drawn(self):
        """Parameters to draw against."""
        params = self.posterior.params
        if self.parameters is not None:
            given = self.parameters
            names = [given] if isinstance(given, str) else list(given)
            missing = [n for n in names if any(n not in p for p in params)]
            if missing or not 1 <= len(names) <= 2:
                raise ValueError(
                    "parameters must name one or two that all candidates have, got "
                    f"{self.parameters!r}"
                )
            return names
        names = dict.fromkeys(name for p in params for name in p)
        differ = [n for n in names if len({repr(p.get(n)) for p in params}) > 1]
        return differ or list(names)[:1]

    def _numbers(self, name):
        """Values of a parameter; None where they are not numbers."""
        found = [p.get(name) for p in self.posterior.params]
        if all(isinstance(v, Real) and not isinstance(v, bool) for v in found):
            return np.array(found, dtype=float)
        return None

    def _simplest(self, names, numeric):
        if self.simplest is not None:
            return self.posterior.simplest(self.simplest)
        if numeric and len(names) == 1:
            return self.posterior.simplest(names[0])
        return None

    def _draw_line(self, x, name, confidence_level):
        mean = self.posterior.auc.mean()
        # of candidates that differ in something else the best at each value
        by_value = np.lexsort((mean, x))
        order = by_value[np.append(np.diff(x[by_value]) > 0, True)]
        low, high = self.posterior.auc.interval(confidence_level)
        colour = next_colour(self.ax_)
        text = label(name, f"{confidence_level:.0%} interval", "{0}: {1}")
        self.band_ = self.ax_.fill_between(
            x[order], low[order], high[order], color=colour, label=text, **BAND
        )
        (self.line_,) = self.ax_.plot(
            x[order], mean[order], color=colour, marker=".", gid="skauc"
        )

    def _draw_map(self, x, y):
        self.map_ = self.ax_.scatter(
            x, y, c=self.posterior.auc.mean(), cmap="cividis", marker="s", s=80
        )
        self.figure_.colorbar(self.map_, ax=self.ax_, label="AUC")
        if not _is_grid(x, y):  # of scattered candidates P(best) is no surface
            return
        self.ax_.use_sticky_edges = False  # contours would cut the outer marks in half
        columns, rows = np.unique(x), np.unique(y)
        share = np.zeros((len(rows), len(columns)))
        place = np.searchsorted(rows, y), np.searchsorted(columns, x)
        np.add.at(share, place, self.posterior.p_best)
        # the smallest sets of candidates that hold the best so surely
        order = np.sort(share.ravel())[::-1]
        cuts = [order[np.searchsorted(np.cumsum(order), c)] for c in _reached(order)]
        levels = np.unique(cuts)
        if min(share.shape) > 1 and levels[0] < share.max():
            levels = levels[levels < share.max()]
            self.contours_ = self.ax_.contour(
                columns, rows, share, levels=levels, colors="0.2", linewidths=0.8
            )

    def _draw_intervals(self, confidence_level):
        mean = self.posterior.auc.mean()
        low, high = self.posterior.auc.interval(confidence_level)
        place = np.arange(len(mean))
        self.intervals_ = self.ax_.errorbar(
            mean,
            place,
            xerr=np.maximum([mean - low, high - mean], 0),
            fmt="o",
            color=next_colour(self.ax_),
            label=f"{confidence_level:.0%} interval",
        )
        self.ax_.set(xlabel="AUC", yticks=place)
        self.ax_.set_yticklabels([_text(p, k) for k, p in enumerate(self._told())])
        self.ax_.invert_yaxis()
        return mean, place

    def _told(self):
        """Of each candidate the parameters that differ."""
        names = self._drawn()
        return [{n: p[n] for n in names if n in p} for p in self.posterior.params]

    def _mark(self, x, y, simplest):
        k, p_best = self.posterior.selected_index, self.posterior.p_best
        style = {"linestyle": "none", "markersize": 10, "markerfacecolor": "none"}
        (self.selected_,) = self.ax_.plot(
            x[k],
            y[k],
            "o",
            color="k",
            label=f"chosen, P(best) {p_best[k]:.2f}",
            **style,
        )
        if simplest is None:
            return
        (self.one_sd_,) = self.ax_.plot(
            x[simplest], y[simplest], "D", color="k", label="within one SD", **style
        )


def is_log(values) -> bool:
    """Whether values are even on a log axis rather than on a plain one.

    Parameters
    ----------
    values : ndarray of shape (m,)

    Returns
    -------
    bool
    """
    values = np.unique(values)
    if len(values) < 3 or values[0] <= 0:
        return False
    if np.log10(values[-1] / values[0]) >= _DECADES:
        return True
    log, plain = (np.diff(v) for v in (np.log(values), values))
    return bool(np.std(log) / log.mean() < np.std(plain) / plain.mean() - _EVEN)


def _is_grid(x, y):
    """Whether every pair of values was tried."""
    return len(np.unique(x)) * len(np.unique(y)) == len(np.unique([x, y], axis=1).T)


def _reached(order):
    return [min(c, np.cumsum(order)[-1] * (1 - 1e-9)) for c in _CONTOURS]


def _text(params, k):
    if not params:
        return f"{k}"
    return ", ".join(f"{n.rpartition('__')[2]}={_value(v)}" for n, v in params.items())


def _value(value):
    number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{value:.3g}" if number else str(value)


@picture.register
def _(value: SearchPosterior, ax=None, **options) -> SearchDisplay:
    return SearchDisplay(value).plot(ax, **options)
