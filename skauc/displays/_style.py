"""Parent of all displays, responses of estimators, and the forest plot of a table."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..posterior._joint import AUCDifferencePosterior
from ..statistics._checks import check_option, short
from ..statistics._collections import refuse_collection
from ..statistics._result import Result, picture

# Okabe & Ito's colours, which colour-blind readers can distinguish, without yellow and
# black (https://jfly.uni-koeln.de/color/)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_METHODS = "auto", "decision_function", "predict_proba"
_BELOW = 4.2  # tick labels and the title of the axis, in font sizes of the legend
# Names of the column that a forest plot draws; the first that exists
_ESTIMATES = "estimate", "odds_ratio", "coefficient", "difference", "auc", "mean"


class Curve(NamedTuple):
    """A curve, or points, with limits; arrays of one length."""

    x: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray


def label(name, text, form="{0} ({1})"):
    """Text of a legend entry, with the name if there is one."""
    return text if name is None else form.format(name, text)


def auc_text(auc, limits=None) -> str:
    """Text of an AUC, with its limits if they are known."""
    text = f"AUC {auc:.2f}"
    return text if limits is None else f"{text}, {limits[0]:.2f} to {limits[1]:.2f}"


def of_class(title, pos_label) -> str:
    """Title of an axis, with the positive class if it is known."""
    return title if pos_label is None else f"{title} (positive label: {pos_label})"


def responses(estimator, X, method, pos_label):
    """Scores in favour of the positive label, and that label."""
    check_option("response_method", method, _METHODS)
    check_is_fitted(estimator)
    refuse_collection("X", X)
    classes = list(getattr(estimator, "classes_", []))
    if len(classes) != 2:
        raise ValueError(
            f"estimator must separate two classes for a picture, got {len(classes)}"
        )
    pos_label = classes[1] if pos_label is None else pos_label
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of {classes}, got {pos_label!r}")
    if method == "auto":
        has_decision = hasattr(estimator, "decision_function")
        method = "decision_function" if has_decision else "predict_proba"
    if not hasattr(estimator, method):
        raise ValueError(
            f"estimator must have {method}, got {short(estimator)}; a "
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
    intervals_: Any = None
    null_line_: Any = None

    def _open(self, ax):
        """Store the given axes, or axes of a new figure."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as missing:
            raise ImportError(
                f"{type(self).__name__}.plot needs matplotlib: pip install "
                "'skauc[plot]'"
            ) from missing
        self.ax_ = plt.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure

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

    def _band(self, x, low, high, **style):
        """Shade the area between two curves."""
        return self.ax_.fill_between(x, low, high, alpha=0.18, linewidth=0, **style)

    def _chance(self, x, y, given, text="chance level"):
        """Draw the line of a score without information."""
        style = {"color": "0.4", "linestyle": ":", "label": text}
        return self._curve(x, y, given, **style)

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
            texts = [f"{a:.{d}f} ({b:.{d}f} to {c:.{d}f})" for a, b, c in rows]
            right = self.ax_.secondary_yaxis("right")
            right.set_yticks(place, texts, fontsize="small")
            right.tick_params(length=0)
        return drawn

    def _close(self, despine, loc, side="center", **legend):
        """Draw the legend inside at loc, or below the axes if it would cover a curve.

        Only a layout engine makes room below; without one the legend stays inside.
        """
        if despine:
            self.ax_.spines[["top", "right"]].set_visible(False)
        legend["fontsize"] = "small"
        drawn = self.ax_.legend(loc=loc or "best", **legend)
        if self.figure_.get_layout_engine() is None:
            return
        if loc is None or self._covers_a_curve(drawn):
            legend["bbox_to_anchor"] = (1 if side == "right" else 0.5, 0)
            legend["loc"] = f"upper {side}"
            self.ax_.legend(borderaxespad=_BELOW, **legend)

    def _covers_a_curve(self, legend):
        """Whether a legend lies over a curve, or is larger than the axes."""
        legend.set_in_layout(False)  # axes must not shrink to its size
        # finds all positions, also of a figure inside another one
        self.figure_.canvas.figure.draw_without_rendering()
        box, frame = legend.get_window_extent(), self.ax_.get_window_extent()
        paths = (li.get_path().transformed(li.get_transform()) for li in self.ax_.lines)
        return box.width > frame.width or any(
            path.intersects_bbox(box, filled=False) for path in paths
        )


@picture.register
def _(value: Result, ax=None, **style) -> Display:
    """Forest plot: one interval a row, with its numbers and a line without effect."""
    columns = dict(value._columns())
    drawn = next((name for name in _ESTIMATES if name in columns), None)
    if drawn is None or "low" not in columns:
        raise TypeError(f"no display draws a value of type {type(value).__name__}")
    names = list(map(str, columns.get("", [""] * len(columns[drawn]))))
    # the odds where all features are 0 are on a scale of their own
    kept = [k for k, name in enumerate(names) if not name.endswith("(Intercept)")]
    numbers = [np.asarray(columns[name])[kept] for name in (drawn, "low", "high")]
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
        return ("odds ratio", 1) if value._scale == "odds" else ("log odds ratio", 0)
    pairs = hasattr(value, "difference") or hasattr(value, "pairs")
    if pairs or isinstance(value, AUCDifferencePosterior):
        return "difference", getattr(value, "null", 0)
    return ("AUC" if hasattr(value, "auc") else "estimate"), None
