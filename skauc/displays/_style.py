"""What both displays share: axes, colours, labels."""

from __future__ import annotations

# Okabe & Ito's, which colour-blind readers can tell apart; their yellow and black left
# out (https://jfly.uni-koeln.de/color/)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
BAND = {"alpha": 0.18, "linewidth": 0}


def line_style(given):
    """Matplotlib's full names for the aliases (``c``, ``lw``, …) that were given."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(given or {}, Line2D)


def axes(ax, name):
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


def label(name, text, form="{0} ({1})"):
    return text if name is None else form.format(name, text)


def chance_style(given, text="chance level"):
    """Style of the line of a coin, with what the user gave."""
    return {"color": "0.4", "linestyle": ":", "label": text} | line_style(given)


def despined(ax, despine):
    """Take the top and right spines off, if wanted."""
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
