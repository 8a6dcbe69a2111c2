"""The claims of the Bayesian AUC paper, judged by rule; used by its script.

A cell is R repetitions of (truth, estimates). Two estimators are compared by the mean
of paired differences over them, of ``|error|`` for the MAE and of
``(error − mean error)²`` for the standard deviation: *lower* below −2 standard errors,
*higher* above 2, else *tied*; tied, too, if the measures differ by less than 0.0005. A
claim ("CBAUC's error is below the rival's")

    holds: yes     higher in no cell and lower in at least half of them,
           no      lower in no cell, or higher in more cells than lower,
           partly  otherwise.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from paper_bayesian_designs import (
    ADAPTIVE,
    BINORMAL,
    CBAUC,
    COLUMNS,
    CV,
    CV_CODED,
    EBAUC,
    FIG1,
    FIG2,
    FIG3,
    FIG4,
    FIG5,
    FIG6,
    NOISE,
    SEPARATE,
)
from paper_runs import holds

ONE = "constant 1"
MAE, SD = "MAE", "sd"
SAME = 5e-4
SHOWN = (CBAUC, EBAUC, CV, CV_CODED, ADAPTIVE, ONE)


# ---------------------------------------------------------------------------- one cell


def estimate(values, name):
    """Column of an estimator; the constant 1 is one, too."""
    return np.ones(len(values)) if name == ONE else values[:, COLUMNS.index(name)]


def error(values, name):
    """Estimate − truth."""
    return estimate(values, name) - values[:, 0]


def losses(values, name, measure):
    """What the measure averages: ``|error|`` or ``(error − mean error)²``."""
    e = error(values, name)
    return np.abs(e) if measure == MAE else (e - e.mean()) ** 2


def measured(values, name, measure) -> float:
    """MAE, or standard deviation of the error."""
    mean = losses(values, name, measure).mean()
    return float(mean if measure == MAE else np.sqrt(mean))


def compare(values, name, rival, measure) -> str:
    """An estimator's error against a rival's: "lower", "tied" or "higher"."""
    gap = losses(values, name, measure) - losses(values, rival, measure)
    standard_error = gap.std(ddof=1) / np.sqrt(len(gap))
    apart = measured(values, name, measure) - measured(values, rival, measure)
    if abs(gap.mean()) <= 2 * standard_error or abs(apart) < SAME:
        return "tied"
    return "lower" if gap.mean() < 0 else "higher"


# -------------------------------------------------------------------------- many cells


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


def said(count: Counter) -> str:
    """Lower/tied/higher."""
    return "/".join(str(count[key]) for key in ("lower", "tied", "higher"))


def figures_of(cells, measure, shown) -> str:
    """The measure of the first, a middle and the last cell, for the usual names."""
    keys = list(cells)
    picked = dict.fromkeys((keys[0], keys[len(keys) // 2], keys[-1]))
    parts = []
    for key in picked:
        numbers = [
            f"{name} {measured(cells[key], name, measure):.4f}" for name in shown
        ]
        parts.append(f"{measure} at {_cell_name(key)}: " + ", ".join(numbers))
    return "; ".join(parts)


def _cell_name(key):
    if len(key) == 1:
        return f"{key[0]} % training rows"
    P, n_neg, n_pos, target = key
    name = f"P = {P}, n = {n_neg} + {n_pos}"
    return name + (f", Bayes AUC .{target}" if target else "")


def row(figure, claim, cells, measure=MAE, name=CBAUC, rival=CV) -> dict:
    """One claim that an estimator's error is below a rival's, and what was found."""
    count = tally(cells, name, rival, measure)
    against_coded = tally(cells, name, CV_CODED, measure)
    adaptive = tally(cells, ADAPTIVE, CV, measure)
    shown = dict.fromkeys((name, rival, *(n for n in SHOWN if n != ONE)))
    if measure == MAE:
        shown[ONE] = None
    as_good = sum(compare(v, CBAUC, ONE, MAE) != "lower" for v in cells.values())
    constant = f"{as_good} of {len(cells)} cells" if measure == MAE else ""
    return {
        "figure": figure,
        "claim": claim,
        "measured": f"lower/tied/higher than {rival} in {said(count)} cells; "
        + figures_of(cells, measure, shown),
        "holds": verdict(count),
        "for EBAUC": verdict(tally(cells, EBAUC, rival, measure)),
        "against CV-AUC as coded": f"{verdict(against_coded)} ({said(against_coded)})",
        "adaptive against CV-AUC": f"{verdict(adaptive)} ({said(adaptive)})",
        "constant 1 no worse than CBAUC": constant,
    }


def most_at_small_n(cells) -> dict:
    """The gain ``MAE(CV-AUC) − MAE(CBAUC)`` at the smallest and the largest n."""
    parts, flags = [], []
    for P in dict.fromkeys(key[0] for key in cells):
        of = {key[1]: values for key, values in cells.items() if key[0] == P}
        gaps = []
        for n in (min(of), max(of)):
            gap = losses(of[n], CV, MAE) - losses(of[n], CBAUC, MAE)
            gaps.append((gap.mean(), gap.std(ddof=1) / np.sqrt(len(gap))))
        (small, se_small), (large, se_large) = gaps
        flags.append(small - large > 2 * np.hypot(se_small, se_large))
        parts.append(f"P = {P}: {small:.4f} at n = {min(of)}, {large:.4f} at {max(of)}")
    return _plain(
        "1a-c",
        "the gain of CBAUC over CV-AUC is largest at small n",
        "MAE(CV-AUC) - MAE(CBAUC), " + "; ".join(parts),
        holds(flags),
    )


def control(cells) -> dict:
    """Pure noise: the true AUC of every model is ½."""
    (key, values), *_ = cells.items()
    means = {name: float(estimate(values, name).mean()) for name in SHOWN[:-1]}
    return _plain(
        "control (ours)",
        "the estimators stay near 1/2 where there is nothing to find",
        f"pure noise, {_cell_name(key)}, truth .5, means: "
        + ", ".join(f"{name} {mean:.4f}" for name, mean in means.items()),
        "yes" if abs(means[CBAUC] - 0.5) < 0.05 else "no",
        "yes" if abs(means[EBAUC] - 0.5) < 0.05 else "no",
        "yes" if abs(means[ADAPTIVE] - 0.5) < 0.05 else "no",
    )


def _plain(figure, claim, found, word, for_ebauc="", adaptive=""):
    return {
        "figure": figure,
        "claim": claim,
        "measured": found,
        "holds": word,
        "for EBAUC": for_ebauc,
        "against CV-AUC as coded": "",
        "adaptive against CV-AUC": adaptive,
        "constant 1 no worse than CBAUC": "",
    }


def claims(results, table_holds) -> list[dict]:
    """One row a claim; ``table_holds`` is the judged row of Table 1."""
    rows, fig1 = [], results[FIG1]
    features = list(dict.fromkeys(key[0] for key in fig1))
    for letters, measure in (("abc", MAE), ("def", SD)):
        for letter, P in zip(letters, features, strict=False):
            part = {key: v for key, v in fig1.items() if key[0] == P}
            claim = f"the {measure} of CBAUC is below that of CV-AUC, P = {P}"
            rows.append(row(f"1{letter}", claim, part, measure))
    rows.append(most_at_small_n(fig1))
    rows.append(_plain(*table_holds))
    fig2, fig3, fig4 = results[FIG2], results[FIG3], results[FIG4]
    claim = "the same over the range of true AUCs"
    rows.append(row("2", claim, fig2))
    claim = "and CBAUC is below the sample binormal AUC"
    rows.append(row("2", claim, fig2, rival=BINORMAL))
    rows.append(row("3", "CBAUC is robust to unequal covariances", fig3))
    claim = "(ours) CBAUC with separate covariances is below CV-AUC"
    rows.append(row("3", claim, fig3, name=SEPARATE))
    for total in dict.fromkeys(key[1] + key[2] for key in fig4):
        part = {key: v for key, v in fig4.items() if key[1] + key[2] == total}
        claim = f"CBAUC is below CV-AUC when classes are imbalanced, N = {total}"
        rows.append(row("4", claim, part))
    if FIG5 in results:
        claim = "CBAUC is below CV-AUC on the ovarian set (P = 4000)"
        rows.append(row("5", claim, results[FIG5]))
    if FIG6 in results:
        claim = "the same on MEG (not to be had: arrhythmia, P = 258, N = 420, instead)"
        rows.append(row("6", claim, results[FIG6]))
    rows.append(control(results[NOISE]))
    return rows
