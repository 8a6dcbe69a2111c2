"""Parents of the displays, and the forest plot of a table."""

from collections.abc import Mapping
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._validation import positive_and_label
from ..posterior._joint import AUCDifferencePosterior
from ..statistics._checks import check_option, short
from ..statistics._result import Result, data_frame, picture
from ..statistics._row_blocks import refuse_collection

# Okabe & Ito's colours, which colour-blind readers can distinguish, without yellow and
# black (https://jfly.uni-koeln.de/color/)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_NOT_DRAWN: Any = None


class Curve(NamedTuple):
    """A curve, or points, with limits; arrays of one length."""

    x: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray


def label(name, text):
    """Text of a legend entry, with the name if there is one."""
    return text if name is None else f"{name} ({text})"


def auc_text(auc, limits=None) -> str:
    """Text of an AUC, with its limits if they are known."""
    text = f"AUC {auc:.2f}"
    return text if limits is None else f"{text}, {limits[0]:.2f} to {limits[1]:.2f}"


def of_class(title, pos_label) -> str:
    """Title of an axis, with the positive class if it is known."""
    return title if pos_label is None else f"{title} (positive label: {pos_label})"


def curves_frame(titles, curves):
    """Data frame of pairs of a name and a :class:`Curve`, with a row for each point."""
    titles = *titles, "estimate", "low", "high"
    rows = [(name, *row) for name, curve in curves for row in zip(*curve, strict=True)]
    return data_frame([dict(zip(titles, row, strict=True)) for row in rows])


def responses(estimator, X, methods, pos_label):
    """Scores in favour of the positive label by the first method, and that label."""
    check_is_fitted(estimator)
    refuse_collection("X", X)
    classes = np.asarray(getattr(estimator, "classes_", [])).tolist()
    if len(classes) != 2:
        raise ValueError(
            f"estimator must separate two classes for a picture, got {len(classes)}"
        )
    _, pos_label = positive_and_label(classes, pos_label=pos_label)
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        raise ValueError(
            f"estimator must have {methods[-1]}, got {short(estimator)}; a "
            "CalibratedClassifierCV of it has predict_proba"
        )
    score = getattr(estimator, method)(X)
    if method == "predict_proba":
        return score[:, classes.index(pos_label)], pos_label
    return (score if pos_label == classes[1] else -score), pos_label


class Display:
    """Parent of the displays: axes, colours, curves, bands, intervals and legend."""

    ax_: Any
    figure_: Any
    line_ = average_line_ = band_ = map_ = credible_set_ = intervals_ = _NOT_DRAWN
    selected_ = selected_interval_ = one_sd_ = _NOT_DRAWN
    ref_line_ = null_line_ = chance_level_ = histogram_ = _NOT_DRAWN

    @classmethod
    def _for_plot(cls, options):
        """Take the options of ``plot`` out of others."""
        names = signature(cls.plot).parameters
        return {name: options.pop(name) for name in names if name in options}

    def _open(self, ax):
        """Forget the artists of an earlier plot; store the axes, or new ones."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        try:
            import matplotlib.pyplot as plt
        except ImportError as missing:
            raise ImportError(
                f"{type(self).__name__}.plot needs matplotlib: pip install "
                "'skauc[plot]'"
            ) from missing
        self.ax_ = plt.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.label.set_wrap(True)

    def _colour(self):
        """Return a colour that no other display on these axes uses."""
        drawn = sum(line.get_gid() == "skauc" for line in self.ax_.lines)
        return _COLOURS[drawn % len(_COLOURS)]

    def _curve(self, x, y, given=None, **style):
        """Draw a line; the user's style takes precedence, also as short names (lw)."""
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        (line,) = self.ax_.plot(x, y, **style | normalize_kwargs(given or {}, Line2D))
        return line

    def _model_curve(self, x, y, given=None, **style):
        """Draw the curve of a model, in a colour of its own."""
        style = {"color": self._colour(), "linewidth": 2, "gid": "skauc"} | style
        return self._curve(x, y, given, **style)

    def _band(self, x, low, high, **style):
        """Shade the area between two curves."""
        return self.ax_.fill_between(x, low, high, alpha=0.18, linewidth=0, **style)

    def _diagonal(self, text):
        """Draw the line of a score without information, or of a perfect one."""
        style = {"color": "0.4", "linestyle": ":", "label": text}
        return self._curve((0, 1), (0, 1), **style)

    def _points(self, x, y, *, x_limits=None, y_limits=None, **style):
        """Draw points with intervals along one axis or both."""
        reach = [
            None if limits is None else np.maximum([at - limits[0], limits[1] - at], 0)
            for at, limits in ((np.array(x), x_limits), (np.array(y), y_limits))
        ]
        style = {"linestyle": "none", "elinewidth": 1, "markersize": 4} | style
        return self.ax_.errorbar(x, y, xerr=reach[0], yerr=reach[1], **style)

    def _rows_of_intervals(
        self, names, estimate, low, high, *, with_numbers=False, **style
    ):
        """Draw one interval a row from the top, perhaps with its numbers."""
        place = np.arange(len(names))
        drawn = self._points(estimate, place, x_limits=(low, high), fmt="o", **style)
        self.ax_.set_yticks(place, names, fontsize="small")
        self.ax_.set_ylim(len(names) - 0.5, -0.5)
        if with_numbers:
            d = 2 if np.nanmax(high - low) > 0.1 else 3
            rows = zip(estimate, low, high, strict=True)
            texts = [f"{a:z.{d}f} ({b:z.{d}f} to {c:z.{d}f})" for a, b, c in rows]
            right = self.ax_.secondary_yaxis("right")
            right.set_yticks(place, texts, fontsize="small")
            right.tick_params(length=0)
        return drawn

    def _close(self, loc, side="center", **legend):
        """Draw the legend inside at loc, or below the axes if it would cover a curve.

        Only a layout engine makes room below; without one the legend stays inside.
        """
        legend |= {"fontsize": "small", "title_fontsize": "small"}
        drawn = self.ax_.legend(loc=loc or "best", **legend)
        if self.figure_.get_layout_engine() is None:
            return
        if self._covers_a_curve(drawn) or loc is None:
            legend["bbox_to_anchor"] = (1 if side == "right" else 0.5, 0)
            legend["loc"] = f"upper {side}"
            # below the title of the axis, which may have two lines
            title, axes = self.ax_.xaxis.label.get_window_extent(), self.ax_.bbox
            size = drawn.get_texts()[0].get_fontsize() * self.figure_.dpi / 72
            legend["borderaxespad"] = (axes.y0 - title.y0) / size + 0.5
            self.ax_.legend(**legend)

    def _covers_a_curve(self, legend):
        """Whether a legend lies over a curve or interval, or is wider than the axes."""
        from matplotlib.collections import LineCollection

        legend.set_in_layout(False)  # axes must not shrink to its size
        # finds all positions, also of a figure inside another one
        self.figure_.canvas.figure.draw_without_rendering()
        box, frame = legend.get_window_extent(), self.ax_.get_window_extent()
        paths = [(line.get_path(), line) for line in self.ax_.lines]
        for bars in self.ax_.collections:  # of intervals; bands may be covered
            if isinstance(bars, LineCollection):
                paths += [(path, bars) for path in bars.get_paths()]
        return box.width > frame.width or any(
            path.transformed(artist.get_transform()).intersects_bbox(box, filled=False)
            for path, artist in paths
        )


class ClassifierDisplay(Display):
    """Parent of the displays of scores that fitted classifiers give to labelled rows.

    ``_methods`` names the methods that give such a score, the first one first.
    """

    _methods: tuple = ("predict_proba",)
    from_predictions: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: object = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot a fitted binary classifier on rows that did not train it.

        Parameters
        ----------
        estimator : fitted classifier
            With ``predict_proba``, or ``decision_function`` for ROC curves. Decision
            curves take a dict of fitted classifiers, too.
        X : array-like or sparse matrix of shape (n, n_features)
            Rows that did not train the estimator; for training rows the picture is
            optimistic.
        y : array-like of shape (n,)
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            For ROC curves ``"auto"`` takes ``decision_function`` if the estimator has
            it, as scikit-learn's ``roc_auc`` scorer does; others take probabilities.
        pos_label : label, default=None
            The positive class; None takes ``classes_[1]``.
        name : str, default=None
            Name of a single estimator in the legend; None takes its class name.
        **options
            Other options of ``from_predictions`` (``sample_weight``, ``ax``, …).

        Returns
        -------
        display
        """
        check_option("response_method", response_method, ("auto", *cls._methods))
        methods = cls._methods if response_method == "auto" else (response_method,)
        if isinstance(estimator, Mapping):
            score = {}
            for key, model in estimator.items():
                score[key], pos_label = responses(model, X, methods, pos_label)
        else:
            score, pos_label = responses(estimator, X, methods, pos_label)
            name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, score, pos_label=pos_label, name=name, **options)


@picture.register
def _(value: Result, ax=None, **style) -> Display:
    """Forest plot: one interval a row, with its numbers and a line without effect."""
    columns = dict(value._columns())
    # the limits of a curve are no forest
    if not {"estimate", "low"} <= columns.keys() or "fpr" in columns:
        raise TypeError(f"no display draws a value of type {type(value).__name__}")
    names = list(map(str, columns.get("", [""] * len(columns["estimate"]))))
    # the odds where all features are 0 are on a scale of their own
    kept = [k for k, name in enumerate(names) if not name.endswith("(Intercept)")]
    numbers = [np.asarray(columns[name])[kept] for name in ("estimate", "low", "high")]
    title, null = _scale_of(value)
    display = Display()
    display._open(ax)
    style = {"color": display._colour()} | style
    display.intervals_ = display._rows_of_intervals(
        [names[k] for k in kept], *numbers, with_numbers=True, **style
    )
    if null is not None:
        display.null_line_ = display.ax_.axvline(null, color="0.4", linestyle=":")
    if null == 1:
        display.ax_.set_xscale("log", subs=(2, 5))
        display.ax_.xaxis.set_major_formatter("{x:g}")
        wide = np.nanmax(numbers[2]) > 30 * np.nanmin(numbers[1])
        display.ax_.xaxis.set_minor_formatter("" if wide else "{x:g}")
    # from the right, because the names need room at the left
    display.ax_.set_xlabel(of_class(title, value.pos_label), loc="right")
    return display


def _scale_of(value):
    """Title of the axis of estimates, and the value without an effect or None."""
    if hasattr(value, "odds"):
        return ("odds ratio", 1) if value.null else ("log odds ratio", 0)
    pairs = hasattr(value, "difference") or hasattr(value, "pairs")
    if pairs or isinstance(value, AUCDifferencePosterior):
        return "difference", getattr(value, "null", 0)
    is_auc = hasattr(value, "auc") or hasattr(value, "posterior")
    return ("AUC" if is_auc else "estimate"), None
