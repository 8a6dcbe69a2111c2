"""Panels of lines side by side over one legend."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.tools.table import stamp

COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#E69F00", "#CC79A7", "#999999")


@dataclass(frozen=True)
class Panel:
    """One plot: ``lines`` maps a label to x values and y values."""

    title: str
    x: str
    y: str
    lines: dict = field(default_factory=dict)
    logarithmic: str = ""  # "x", "y" or "xy"


def draw(path, panels, columns=3):
    """Draw all panels; a label has the same colour in each."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    width, height = min(columns, len(panels)), -(-len(panels) // columns)
    size = (3.6 * width + 1, 3 * height + 0.8)
    figure, axes = plt.subplots(
        height, width, figsize=size, squeeze=False, layout="constrained"
    )
    labels = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    shown = {}
    for ax, panel in zip(axes.ravel(), panels, strict=False):
        for name, (x, y) in panel.lines.items():
            place = labels.index(name)
            how = {"color": COLOURS[place % 7], "ls": ("-", "--", ":")[place // 7 % 3]}
            shown[name] = ax.plot(x, y, marker=".", ms=4, lw=1.3, **how)[0]
        scales = {f"{axis}scale": "log" for axis in panel.logarithmic}
        ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, **scales)
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=80, metadata={"Description": stamp()})
    print(f"written: {path}")
    plt.close(figure)
