"""Parent of all displays: axes, curves, bands, labels and colours."""

from typing import Any

# Okabe & Ito's colours, which colour-blind readers can distinguish, without yellow and
# black (https://jfly.uni-koeln.de/color/)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def label(name, text, form="{0} ({1})"):
    """Text of a legend entry, with the name if there is one."""
    return text if name is None else form.format(name, text)


def of_class(title, pos_label) -> str:
    """Title of an axis, with the positive class if it is known."""
    return title if pos_label is None else f"{title} (positive label: {pos_label})"


class Display:
    """Parent of the displays: axes, colours, curves and bands."""

    ax_: Any
    figure_: Any

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

    def _close(self, despine, **legend):
        """Draw the legend; remove the top and right spines if requested."""
        self.ax_.legend(**{"loc": "best", "fontsize": "small"} | legend)
        if despine:
            self.ax_.spines[["top", "right"]].set_visible(False)
