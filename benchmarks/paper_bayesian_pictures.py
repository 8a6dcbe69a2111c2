"""Pictures of ``paper_bayesian_auc.py``: one a figure of the paper, same panels."""

from __future__ import annotations

from itertools import chain

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from paper_bayesian_claims import MAE, ONE, SD, estimate, measured
from paper_bayesian_designs import (
    ADAPTIVE,
    BINORMAL,
    CBAUC,
    CV,
    CV_CODED,
    EBAUC,
    EBAUC_CODED,
    FIG1,
    FIG2,
    FIG3,
    FIG4,
    FIG5,
    FIG6,
    NOISE,
    RAW,
    REAL,
    SEPARATE,
)
from results_table import write_picture

USUAL = (CV, EBAUC, CBAUC, ADAPTIVE, CV_CODED, EBAUC_CODED)
CURVES = {
    NOISE: USUAL,
    FIG1: (*USUAL, RAW),
    FIG2: (*USUAL, BINORMAL),
    FIG3: (*USUAL, SEPARATE),
    FIG4: USUAL,
    FIG5: (*USUAL, ONE),
    FIG6: (*USUAL, ONE),
}
MEAN, TRUTH = "mean", "truth"
STYLE = {  # Okabe and Ito's colours
    CV: {"color": "#000000", "marker": "o"},
    EBAUC: {"color": "#E69F00", "marker": "s"},
    CBAUC: {"color": "#D55E00", "marker": "^"},
    ADAPTIVE: {"color": "#0072B2", "marker": "D"},
    CV_CODED: {"color": "#000000", "ls": ":"},
    EBAUC_CODED: {"color": "#E69F00", "ls": ":"},
    BINORMAL: {"color": "#009E73", "marker": "v"},
    SEPARATE: {"color": "#CC79A7", "marker": "x"},
    RAW: {"color": "#D55E00", "ls": ":"},
    ONE: {"color": "#999999", "ls": "--"},
    TRUTH: {"color": "#009E73", "lw": 2.5},
}
LABEL = {MAE: "mean absolute error", SD: "sd of the error", MEAN: "mean"}
FLOOR = 3e-4  # of the logarithmic axis of an error


def draw(results, name, directory):
    """All pictures, ``<name>_fig<k>.png``."""
    for figure, panels in PANELS.items():
        if figure in results:
            path = directory / f"{name}_fig{figure}.png"
            picture(panels(results[figure]), CURVES[figure], path)


def picture(rows, names, path):
    """Rows of panels ``(title, x label, {x: cell}, measure)`` over one legend."""
    figure, axes = plt.subplots(
        len(rows),
        len(rows[0]),
        figsize=(3.4 * len(rows[0]), 2.8 * len(rows) + 0.7),
        squeeze=False,
        layout="constrained",
    )
    for ax, panel in zip(axes.ravel(), chain(*rows), strict=True):
        curves(ax, names, *panel)
    handles = {}
    for ax in axes.ravel():
        handles |= {line.get_label(): line for line in ax.get_lines()}
    figure.legend(
        handles.values(),
        handles,
        loc="outside lower center",
        ncols=4,
        title=f"errors below {FLOOR:g} are not shown",
    )
    write_picture(figure, path, dpi=72)
    plt.close(figure)


def curves(ax, names, title, label, cells, measure):
    """One line an estimator."""
    ax.set(title=title, xlabel=label, ylabel=LABEL[measure])
    if measure == MEAN:
        names = (TRUTH, *names)
    for name in names:
        if measure == MEAN:
            y = [estimate(values, name).mean() for values in cells.values()]
        else:
            y = [measured(values, name, measure) for values in cells.values()]
        ax.plot(list(cells), y, label=name, **{"ms": 4, "lw": 1.3} | STYLE[name])
    if measure != MEAN:
        ax.set_yscale("log")
        ax.set_ylim(bottom=max(ax.get_ylim()[0], FLOOR))


def figure_1(cells):
    """MAE (a–c) and sd of the error (d–f) against n, for each P."""
    rows, letters = [], iter("abcdef")
    for measure in (MAE, SD):
        row = []
        for P in dict.fromkeys(P for P, *_ in cells):
            part = {n: v for (of, n, *_), v in cells.items() if of == P}
            row.append((f"{next(letters)}: P = {P}", "rows a class", part, measure))
        rows.append(row)
    return rows


def figure_2(cells):
    """MAE against the Bayes AUC, for each n."""
    row = []
    for n in dict.fromkeys(n for _, n, *_ in cells):
        part = {target / 1000: v for (_, of, _, target), v in cells.items() if of == n}
        row.append((f"P = 2, {n} rows a class", "Bayes AUC", part, MAE))
    return [row]


def figure_3(cells):
    """MAE and sd of the error against n."""
    part = {n: values for (_, n, *_), values in cells.items()}
    title = "unequal covariances, P = 4"
    return [[(title, "rows a class", part, measure) for measure in (MAE, SD)]]


def figure_4(cells):
    """MAE against the share of positives, for each N and P."""
    rows = {}
    for N, P in dict.fromkeys((n_neg + n_pos, P) for P, n_neg, n_pos, _ in cells):
        part = {
            n_pos / N: values
            for (of, n_neg, n_pos, _), values in cells.items()
            if (n_neg + n_pos, of) == (N, P)
        }
        panel = (f"P = {P}, N = {N}", "share of positives", part, MAE)
        rows.setdefault(N, []).append(panel)
    return list(rows.values())


def real_set(figure):
    """MAE, and mean estimates beside the mean hold-out AUC, against the share."""

    def panels(cells):
        part = {share: values for (share,), values in cells.items()}
        return [[(REAL[figure], "training rows, %", part, m) for m in (MAE, MEAN)]]

    return panels


PANELS = {
    FIG1: figure_1,
    FIG2: figure_2,
    FIG3: figure_3,
    FIG4: figure_4,
    FIG5: real_set(FIG5),
    FIG6: real_set(FIG6),
}
