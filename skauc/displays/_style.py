"""The core that all displays share: axes, a curve, a band, labels and colours."""

from __future__ import annotations

# Okabe & Ito's colours, which colour-blind readers can tell apart, without their yellow
# and black (https://jfly.uni-koeln.de/color/)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def axes(ax, name):
    """The axes that were given, or those of a new figure, and their figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError(
            f"{name}.plot needs matplotlib: pip install 'skauc[plot]'"
        ) from missing
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax, ax.figure


def next_colour(ax):
    """A colour that no other display on these axes has."""
    drawn = sum(line.get_gid() == "skauc" for line in ax.lines)
    return _COLOURS[drawn % len(_COLOURS)]


def draw_curve(ax, x, y, given=None, **style):
    """Draw a line; the caller's style wins, also under matplotlib's short names."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    (line,) = ax.plot(x, y, **style | normalize_kwargs(given or {}, Line2D))
    return line


def draw_band(ax, x, low, high, **style):
    """Shade the area between two curves."""
    return ax.fill_between(x, low, high, alpha=0.18, linewidth=0, **style)


def draw_chance(ax, x, y, given, text="chance level"):
    """Draw the line of a score that ranks nothing."""
    return draw_curve(ax, x, y, given, color="0.4", linestyle=":", label=text)


def label(name, text, form="{0} ({1})"):
    """Text of the legend, with the name if there is one."""
    return text if name is None else form.format(name, text)


def finished(ax, despine, **legend):
    """Draw the legend; remove the top and right spines if wanted."""
    ax.legend(**{"loc": "best", "fontsize": "small"} | legend)
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
