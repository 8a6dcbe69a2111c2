"""The claims of the Bayesian AUC paper, judged by rule; used by its script.

A cell is R repetitions of (truth, estimates). Two estimators are compared by the mean
of paired differences over them, of ``|error|`` for the MAE and of
``(error − mean error)²`` for the standard deviation: *lower* below −2 standard errors,
*higher* above 2, else *tied*; tied, too, if the measures differ by less than 0.0005. A
claim ("CBAUC's error is below the rival's") holds: *yes* if it is higher in no cell and
lower in at least half of them, *no* if it is lower in no cell, or higher in more cells
than lower, else *partly*.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from benchmarks.papers import bayesian_designs as designs
from benchmarks.papers.bayesian_designs import ADAPTIVE, CBAUC, CV, EBAUC
from benchmarks.tools import runs

ONE = "constant 1"
MAE, SD = "MAE", "sd"
SAME = 5e-4


def losses(values, name, measure):
    """The numbers that the measure averages: ``|error|`` or its squared deviation."""
    e = values[name] - values["truth"]
    return e.abs() if measure == MAE else (e - e.mean()) ** 2


def measured(values, name, measure) -> float:
    """MAE, or standard deviation of the error."""
    mean = losses(values, name, measure).mean()
    return float(mean if measure == MAE else np.sqrt(mean))


def compare(values, name, rival, measure) -> str:
    """An estimator's error against a rival's: "lower", "tied" or "higher"."""
    gap = losses(values, name, measure) - losses(values, rival, measure)
    apart = measured(values, name, measure) - measured(values, rival, measure)
    if abs(gap.mean()) <= 2 * gap.sem() or abs(apart) < SAME:
        return "tied"
    return "lower" if gap.mean() < 0 else "higher"


def tally(cells, name, rival, measure) -> Counter:
    """Number of cells in which an estimator is lower, tied and higher."""
    return Counter(compare(v, name, rival, measure) for v in cells.values())


def verdict(count: Counter) -> str:
    """Yes, partly or no, by the rule of this module."""
    if count["lower"] == 0 or count["higher"] > count["lower"]:
        return "no"
    if count["higher"] == 0 and 2 * count["lower"] >= count.total():
        return "yes"
    return "partly"


def row(figure, claim, cells, measure=MAE, name=CBAUC, rival=CV) -> dict:
    """One claim that an estimator's error is below a rival's, and the result."""
    count = tally(cells, name, rival, measure)
    adaptive = tally(cells, ADAPTIVE, CV, measure)
    number = "/".join(str(count[key]) for key in ("lower", "tied", "higher"))
    means = {
        n: np.mean([measured(v, n, measure) for v in cells.values()])
        for n in dict.fromkeys((name, rival, EBAUC, ADAPTIVE))
    }
    as_good = sum(compare(v, CBAUC, ONE, MAE) != "lower" for v in cells.values())
    return {
        "figure": figure,
        "claim": claim,
        "measured": f"lower/tied/higher than {rival} in {number} cells; mean {measure} "
        + ", ".join(f"{n} {mean:.4f}" for n, mean in means.items()),
        "holds": verdict(count),
        "for EBAUC": verdict(tally(cells, EBAUC, rival, measure)),
        "adaptive against CV-AUC": verdict(adaptive),
        "constant 1 no worse than CBAUC": f"{as_good} of {len(cells)} cells",
    }


def most_at_small_n(cells) -> dict:
    """The gain ``MAE(CV-AUC) − MAE(CBAUC)`` at the smallest and the largest n."""
    parts, flags = [], []
    for P in dict.fromkeys(key[0] for key in cells):
        of = {key[1]: values for key, values in cells.items() if key[0] == P}
        gaps = []
        for n in (min(of), max(of)):
            gap = losses(of[n], CV, MAE) - losses(of[n], CBAUC, MAE)
            gaps.append((gap.mean(), gap.sem()))
        (small, se_small), (large, se_large) = gaps
        flags.append(small - large > 2 * np.hypot(se_small, se_large))
        parts.append(f"P = {P}: {small:.4f} at n = {min(of)}, {large:.4f} at {max(of)}")
    text = "the gain of CBAUC over CV-AUC is largest at small n"
    rule = "larger by more than 2 standard errors, each P"
    return runs.claim("1a-c", text, "; ".join(parts), flags, rule)


def control(cells) -> dict:
    """Pure noise: the true AUC of every model is ½."""
    (values,) = cells.values()
    means = {name: values[name].mean() for name in (CBAUC, EBAUC, CV, ADAPTIVE)}
    near = {name: [abs(mean - 0.5) < 0.05] for name, mean in means.items()}
    text = "pure noise: the estimators stay near 1/2"
    found = ", ".join(f"{name} {mean:.4f}" for name, mean in means.items())
    judged = {"for EBAUC": runs.holds(near[EBAUC])}
    judged |= {"adaptive against CV-AUC": runs.holds(near[ADAPTIVE])}
    rule = "the mean is within .05 of 1/2"
    found = f"means: {found}"
    return runs.claim("control (ours)", text, found, near[CBAUC], rule) | judged


def claims(results, table_row) -> list[dict]:
    """One row for each claim; ``table_row`` is the judged row of Table 1."""
    rows, fig1 = [], results[designs.FIG1]
    for P in dict.fromkeys(key[0] for key in fig1):
        part = {key: v for key, v in fig1.items() if key[0] == P}
        for measure in (MAE, SD):
            claim = f"the {measure} of CBAUC is below that of CV-AUC, P = {P}"
            rows.append(row("1", claim, part, measure))
    rows += [most_at_small_n(fig1), table_row]
    figures = designs.FIG2, designs.FIG3, designs.FIG4
    fig2, fig3, fig4 = (results[figure] for figure in figures)
    rows.append(row("2", "the same over the range of true AUCs", fig2))
    claim = "and CBAUC is below the sample binormal AUC"
    rows.append(row("2", claim, fig2, rival=designs.BINORMAL))
    rows.append(row("3", "CBAUC is robust to unequal covariances", fig3))
    claim = "(ours) CBAUC with separate covariances is below CV-AUC"
    rows.append(row("3", claim, fig3, name=designs.SEPARATE))
    for total in dict.fromkeys(key[1] + key[2] for key in fig4):
        part = {key: v for key, v in fig4.items() if key[1] + key[2] == total}
        claim = f"CBAUC is below CV-AUC when classes are imbalanced, N = {total}"
        rows.append(row("4", claim, part))
    for figure, claim in (
        (designs.FIG5, "CBAUC is below CV-AUC on the ovarian set (P = 4000)"),
        (designs.FIG6, "the same on MEG (not available: arrhythmia, P = 258, N = 420)"),
    ):
        if figure in results:
            rows.append(row(str(figure), claim, results[figure]))
    return [*rows, control(results[designs.NOISE])]
