"""The closed-form Bayesian AUC paper, run by our code, beside what it prints.

    python -m benchmarks.papers.bayesian_auc [--fast] [--data-dir DIR] [--out DIR]

Hassan, Huttunen, Niemi & Tohka (2019), Bayesian receiver operating characteristic
metric for linear classifiers, Pattern Recognition Letters,
https://doi.org/10.48550/arXiv.1908.08771. L2 logistic regression (liblinear, C = 1) is
trained on z-scored rows (mean and sd of the training rows, as in the authors' code: the
paper's prior is centred at 0, so that the origin of the features matters), and its AUC
estimated from the training rows alone:

- CV-AUC: stratified 5-fold, mean over folds, fewer folds if a class has fewer rows; and
  "as coded", what the authors' code for the ovarian set computes under that name;
- EBAUC with the paper's prior, separate covariances, training scores as thresholds and
  the end points; "as coded" leaves the end points out;
- CBAUC with the paper's prior; "adaptive": the package's default,
  ``auc_posterior(model, X, y).mean()``;
- the constant 1, as a baseline.

The truth is the paper's equation 2 at the trained w; on real sets the hold-out AUC.
``bayesian_claims.py`` says by which rule a claim holds, ``bayesian_designs.py`` what
the text does not settle. DIR holds ``ovarian_nci.npz`` and, in the place of the paper's
MEG set, ``arrhythmia.npz`` (X, y) for figures 5 and 6. Simulations have the paper's
1000 repetitions, real sets 50 splits (the authors' ovarian run: 1000).

Writes ``results/bayesian_auc/{table1,fig1,…,fig6,claims}.csv`` and a picture for each
figure.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from benchmarks.papers import bayesian_designs as designs
from benchmarks.papers.bayesian_claims import MAE, ONE, SD, claims, measured
from benchmarks.papers.bayesian_designs import FIG1, FIG2, FIG3, FIG4, FIG5, FIG6, NOISE
from benchmarks.tools.picture import Panel, draw
from benchmarks.tools.runs import claim, parse, resume
from benchmarks.tools.table import write_table

USUAL = designs.USUAL
CURVES = dict.fromkeys((NOISE, FIG4), USUAL) | {
    FIG1: (*USUAL, designs.RAW),
    FIG2: (*USUAL, designs.BINORMAL),
    FIG3: (*USUAL, designs.SEPARATE),
    FIG5: (*USUAL, ONE),
    FIG6: (*USUAL, ONE),
}
FULL = dict.fromkeys((FIG1, FIG2, FIG3, FIG4), 1000) | {NOISE: 200, FIG5: 50, FIG6: 50}
BLOCK = 10  # repetitions of a job
FAST = {NOISE: 10, FIG1: 10, FIG2: 10, FIG3: 10, FIG4: 5, FIG5: 3, FIG6: 3}

LARGE, SIZES_3 = (5, 10, 20, 30, 50, 70, 80, 90, 95), (10, 20, 30, 50, 70, 100)
PRINTED = {4: 0.9725, 10: 0.9973}  # Table 1, true AUC

# Ovarian set, 1000 splits: ovarian_case/AUCs.mat of the authors' repository, averaged.
# training %: (mean CV-AUC, EBAUC, CBAUC, hold-out AUC; MAE of CV-AUC, EBAUC, CBAUC)
PUBLISHED_FIG5 = {
    10: (0.6239, 0.7822, 1.0000, 0.9700, 0.3461, 0.1878, 0.0300),
    20: (0.7578, 0.9060, 1.0000, 0.9889, 0.2311, 0.0829, 0.0111),
    30: (0.8227, 0.9480, 1.0000, 0.9934, 0.1708, 0.0455, 0.0066),
    50: (0.8692, 0.9765, 1.0000, 0.9958, 0.1266, 0.0195, 0.0042),
    70: (0.9088, 0.9876, 1.0000, 0.9964, 0.0877, 0.0099, 0.0036),
    90: (0.9391, 0.9954, 1.0000, 0.9966, 0.0576, 0.0063, 0.0034),
    95: (0.9435, 0.9964, 1.0000, 0.9967, 0.0543, 0.0065, 0.0033),
}


def plan(fast) -> dict:
    """Cells of every figure and the number of their repetitions."""
    targets = (550, 750, 990) if fast else (*range(550, 951, 50), 990)
    sizes = (10, 50, 100) if fast else range(10, 101, 5)
    few, many = ((2, 5, 8), (5, 50)) if fast else (range(2, 9), LARGE)
    shares = [(share,) for share in ((10, 50, 95) if fast else range(10, 96, 5))]
    of_ten = [(P, 10 - n, n, 0) for P in (2, 4, 10) for n in few]
    of_hundred = [(P, 100 - n, n, 0) for P in (2, 4, 10) for n in many]
    rows_2, rows_3 = ((10,), (10, 50)) if fast else ((10, 30, 100), SIZES_3)
    cells = {
        NOISE: [(100, 20, 20, 0)],
        FIG1: [(P, n, n, 0) for P in (4, 10, 100) for n in sizes],
        FIG2: [(2, n, n, target) for n in rows_2 for target in targets],
        FIG3: [(4, n, n, 0) for n in rows_3],
        FIG4: of_ten + of_hundred,
        FIG5: shares,
        FIG6: shares,
    }
    repetitions = FAST if fast else FULL
    return {figure: (of, repetitions[figure]) for figure, of in cells.items()}


def collect(arguments) -> dict:
    """``{figure: {cell: frame of its repetitions}}``, resumed if interrupted."""
    jobs = []
    for figure, (cells, repetitions) in plan(arguments.fast).items():
        path = ""
        if name := designs.REAL.get(figure):
            path = arguments.data_dir or ""
            if not Path(path, f"{name}.npz").exists():
                print(f"figure {figure} left out: no {name}.npz in --data-dir")
                continue
        for cell in cells:
            for first in range(0, repetitions, BLOCK):
                stop = min(first + BLOCK, repetitions)
                jobs.append((figure, cell, first, stop, path))
    results = {}
    blocks = resume("bayesian_auc", designs.run, jobs, arguments)
    for (figure, cell, *_), block in zip(jobs, blocks, strict=True):
        table = pd.DataFrame(block, columns=designs.COLUMNS, dtype=float)
        cells = results.setdefault(figure, {})
        cells[cell] = pd.concat([cells[cell], table]) if cell in cells else table
    for cells in results.values():
        for table in cells.values():
            table[ONE] = 1.0
    return results


def figure_table(figure, cells) -> list[dict]:
    """One row a cell: mean truth; each estimator's mean, MAE and sd of the error."""
    rows = []
    for cell, values in cells.items():
        row = dict(zip(("P", "n neg", "n pos"), cell, strict=False))
        if figure in designs.REAL:
            row = {"training %": cell[0]}
        else:
            row["Bayes AUC"] = designs.design(figure, cell[0], cell[3]).bayes_auc()
        row |= {"repetitions": len(values), "truth": values["truth"].mean()}
        for name in CURVES[figure]:
            row |= {f"mean {name}": values[name].mean()}
            row |= {
                f"{what} {name}": measured(values, name, what) for what in (MAE, SD)
            }
        rows.append(row)
    return rows


def table_1(cells) -> list[dict]:
    """Readings of the printed true AUC: the stated design, and simple misreadings.

    With ``Σ₀ = Σ₁ = I`` and ``μ₁ − μ₀ = 1`` no model exceeds ``Φ(√(P/2))``. "One Σ"
    leaves one of the two covariances out of equation 2: Φ(z) becomes Φ(√2 z).
    """

    def trained(P, factor):
        kept = [v["truth"] for key, v in cells.items() if key[0] == P]
        return np.mean([ndtr(factor * ndtri(truth)).mean() for truth in kept])

    root = np.sqrt(2)
    readings = {
        "stated design, Bayes AUC": lambda P: ndtr(np.sqrt(P / 2)),
        "one Σ, Bayes AUC": lambda P: ndtr(np.sqrt(P)),
        "eq. 2, trained model, mean over n": lambda P: trained(P, 1),
        "eq. 2 with one Σ, trained model, mean over n": lambda P: trained(P, root),
    }
    return [
        {"reading": label}
        | {f"P = {P}": float(reading(P)) for P in PRINTED}
        | {f"printed, P = {P}": printed for P, printed in PRINTED.items()}
        for label, reading in readings.items()
    ]


def judge_table_1(rows) -> dict:
    """Claim row of Table 1, with the nearest reading."""

    def distance(row):
        return max(abs(row[f"P = {P}"] - printed) for P, printed in PRINTED.items())

    nearest = min(rows, key=distance)
    stated, near = (
        ", ".join(f"{row[f'P = {P}']:.4f} (P = {P})" for P in PRINTED)
        for row in (rows[0], nearest)
    )
    text = ", ".join(f"{value:.4f} (P = {P})" for P, value in PRINTED.items())
    found = f"the stated design allows at most {stated}; nearest of {len(rows)} "
    found += f"readings: {nearest['reading']}, {near}"
    near = [distance(rows[0]) < 5e-4]
    rule = "the stated design's Bayes AUCs when rounded to three digits"
    return claim("Table 1", f"the true AUC is {text}", found, near, rule)


def beside_published(cells) -> list[dict]:
    """Figure 5 computed beside the authors' stored results, mean and MAE."""
    rows = []
    for share, published in PUBLISHED_FIG5.items():
        values = cells.get((share,))
        if values is None:
            continue
        row = {"training %": share, "hold-out AUC": values["truth"].mean()}
        row["published"] = published[3]
        for k, name in enumerate(
            (designs.CV_CODED, designs.EBAUC_CODED, designs.CBAUC)
        ):
            row |= {name: values[name].mean(), f"{name}, pub.": published[k]}
            row[f"MAE {name}"] = measured(values, name, MAE)
            row[f"MAE {name}, pub."] = published[4 + k]
        for name in (designs.CV, ONE):
            row[f"MAE {name}"] = measured(values, name, MAE)
        rows.append(row)
    return rows


def panels(figure, cells) -> list[Panel]:
    """The figure's MAE against what varies, one panel for each other size."""
    if name := designs.REAL.get(figure):
        lines = {share: v for (share,), v in cells.items()}
        return [panel(figure, name, "training rows, %", lines)]
    of = {}
    for (P, n_neg, n_pos, target), values in cells.items():
        if figure == FIG2:
            place, title = target / 1000, f"{n_neg} rows of each class"
        elif figure == FIG4:
            place, title = n_pos / (n_neg + n_pos), f"P = {P}, N = {n_neg + n_pos}"
        else:
            place, title = n_neg, f"P = {P}"
        of.setdefault(title, {})[place] = values
    label = {FIG2: "Bayes AUC", FIG4: "share of positives"}.get(figure, "rows a class")
    return [panel(figure, title, label, lines) for title, lines in of.items()]


def panel(figure, title, label, cells) -> Panel:
    """MAE of every estimator of a figure."""
    lines = {
        name: (list(cells), [measured(v, name, MAE) for v in cells.values()])
        for name in CURVES[figure]
    }
    return Panel(title, label, "mean absolute error", lines, "y")


def main(argv=None):
    """Run, print the tables, draw the figures."""
    arguments = parse(__doc__, argv, folder="bayesian_auc")
    results, out = collect(arguments), arguments.out
    for figure, cells in results.items():
        name = f"fig{figure}" if figure else "noise"
        write_table(name, figure_table(figure, cells), out)
        if figure:
            draw(out / f"{name}.png", panels(figure, cells))
    rows = table_1(results[FIG1])
    write_table("table1", rows, out)
    if FIG5 in results:
        write_table("fig5_published", beside_published(results[FIG5]), out)
    write_table("claims", claims(results, judge_table_1(rows)), out)


if __name__ == "__main__":
    main()
