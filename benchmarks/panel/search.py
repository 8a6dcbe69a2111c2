"""What a search says of itself, against the truth.

    python -m benchmarks.panel.search [--fast] [--data-dir DIR] [--seeds 0 24]

Problems of the panel's judging half: simulated ones, whose truth is known, and real
ones with P < n and with P from n to 5 n, where the AUC of the other rows stands for it,
with its noise (README). Each problem has three searches (``GridSearchCV``,
``cbauc_scorer``, ``ResubstitutionSplit``): over values of C, numbers of selected
features, and 26 candidates of four families; 5-fold cross-validation of the same
candidates is the peer. Writes into ``results/search/``

``calibration.csv``
    A row for each search: expected loss over real loss; the share of 95 % intervals of
    the selected model that hold its AUC, with and without the correction and of 5-fold
    CV's winner (± 1.96 standard errors of its folds); the bias of the winner's mean;
    the same share for differences of two candidates; the price of a posterior.
``reliability.csv, reliability.png``
    Among the candidates whose P(best) lies in a bin, the share that is the best;
    candidates within 1e-4 of the best share it. Standard errors over problems.
``rules.csv``
    AUC lost and place in the grid (0: simplest, 1: most complex) of each rule.
"""

from __future__ import annotations

import warnings
from itertools import chain, product
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from benchmarks.panel.families import Family, coefficients, fold_aucs
from benchmarks.panel.problems import make
from benchmarks.tools.picture import Panel, draw
from benchmarks.tools.runs import parser, read, resume
from benchmarks.tools.table import write_table
from skauc import ResubstitutionSplit, cbauc_scorer, clear_cache, search_posterior

GROUPS = {
    "simulated": ("sim Gaussian", "sim other", "few signals"),
    "real": ("real P < .3 n", "real P < n"),
    "real, P >= n": ("real P >= n",),
}
SEARCHES = {
    "C": ("l2",),
    "SelectKBest": ("kbest",),
    "four families": ("l2", "l1", "kbest", "pca"),
}
SEEDS = 0, 24
WITHIN = 1.0, 0.75, 0.5  # standard deviations of the difference
BINS = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
TIE = 1e-4
N_DRAWS = 4000
Z95 = 1.959964


def run(group, name, seed, data_dir):
    """One search: what it says, what is true, and what five folds say."""
    problem = make(group, "kbest", seed, data_dir and Path(data_dir))
    if problem is None:
        return None
    X, y = problem.X, problem.y.astype(int)
    families = [Family(f, *X.shape, seed).candidates() for f in SEARCHES[name]]
    models = [*chain.from_iterable(families)]
    clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence and distrust are the subject
        start = process_time()
        how = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
        pipe = Pipeline([("model", models[0])])
        search = GridSearchCV(pipe, {"model": models}, **how).fit(X, y)
        searched = process_time() - start
        clear_cache()
        start = process_time()
        posterior = search_posterior(search, X, y, random_state=seed)
        asked = process_time() - start
        fitted = [model.fit(X, y) for model in models]
    W = np.array([coefficients(model) for model in fitted]).T
    truth, variance = problem.truth(W)
    scores = np.array([model.decision_function(X) for model in models])
    error = np.sqrt(variance)
    p_best, loss = seen(posterior, scores, y, error, seed)
    noisy = draws(posterior, scores, y, error, seed)
    cv = StratifiedKFold(5, shuffle=True, random_state=seed)
    folds = fold_aucs(models, X, y, cv)
    k = posterior.selected_index
    corrected, naive = (
        [one.mean(), *one.interval(0.95)]
        for one in (posterior.selected, posterior.auc[k])
    )
    grid = np.arange(len(models))
    return {
        "truth": truth.tolist(),
        "truth_sd": error.tolist(),
        "p_best": p_best.tolist(),
        "mean": posterior.auc.mean().tolist(),
        "expected_loss": float(loss[k]),
        "differences": differences_covered(noisy, truth),
        "selected": k,
        "corrected": corrected,
        "naive": naive,
        "rule": [posterior.simplest(grid, within=sd) for sd in WITHIN],
        "folds": folds.tolist(),
        "seconds": [searched, asked],
    }


def seen(posterior, scores, y, error, seed):
    """P(best) and expected loss, of AUCs seen with these standard errors."""
    if not error.any():
        return posterior.p_best, posterior.expected_loss
    noisy = draws(posterior, scores, y, error, seed)
    behind = np.max(noisy, axis=1, keepdims=True) - noisy
    won = behind <= TIE
    return (won / won.sum(axis=1, keepdims=True)).mean(axis=0), behind.mean(axis=0)


def draws(posterior, scores, y, error, seed):
    """AUCs from the joint posterior as they are seen, (N_DRAWS, m)."""
    scores = scores.astype(float)
    for label in (0, 1):
        scores[:, y == label] -= scores[:, y == label].mean(axis=1, keepdims=True)
    length = np.linalg.norm(scores, axis=1, keepdims=True)
    along = scores / np.where(length > 0, length, 1)
    rng = np.random.default_rng(seed)
    true = posterior.joint.mean + normals(rng, posterior.joint.covariance)
    return ndtr(true) + normals(rng, np.outer(error, error) * (along @ along.T))


def differences_covered(noisy, truth):
    """Share of the 95 % intervals of differences of two candidates that hold theirs.

    Ends as wide as a tie: of models that rank alike the interval is a point.
    """
    i, j = np.triu_indices(len(truth), 1)
    low, high = np.quantile(noisy[:, i] - noisy[:, j], (0.025, 0.975), axis=0)
    gap = truth[i] - truth[j]
    return float(np.mean((low - TIE <= gap) & (gap <= high + TIE)))


def normals(rng, covariance):
    """Draws, (N_DRAWS, m)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return rng.standard_normal((N_DRAWS, len(values))) @ root.T


def one_se(folds):
    """Winner of the folds' mean, and the first within one standard error of it."""
    mean = folds.mean(axis=0)
    best = int(np.argmax(mean))
    error = folds[:, best].std(ddof=1) / np.sqrt(len(folds))
    return best, int(np.flatnonzero(mean >= mean[best] - error)[0]), error


def outcomes(runs):
    """One row for each search: the selected model and the winner of the folds."""
    rows = []
    for r in runs:
        truth, k, folds = np.array(r["truth"]), r["selected"], np.array(r["folds"])
        best, _, error = one_se(folds)
        miss = abs(folds[:, best].mean() - truth[best])
        row = {"said": r["expected_loss"], "lost": truth.max() - truth[k]}
        row["too high, all"] = np.mean(r["mean"] - truth)
        row |= {"CV": miss, "differences": r["differences"]}
        row["CV covers"] = miss <= Z95 * np.hypot(error, r["truth_sd"][best])
        for name in ("corrected", "naive"):
            mean, low, high = r[name]
            centre = np.clip(mean, low, high)  # near 1 the mean may lie below both
            unknown = Z95 * r["truth_sd"][k]  # intervals are wider by it
            low = centre - np.hypot(centre - low, unknown)
            high = centre + np.hypot(high - centre, unknown)
            row[f"{name} covers"] = low <= truth[k] <= high
            row[f"{name} too high"] = mean - truth[k]
        row["searched"], row["asked"] = r["seconds"]
        rows.append(row)
    return pd.DataFrame(rows)


def calibration(data, name, runs):
    """Row of ``calibration.csv``."""
    table = outcomes(runs)
    mean, high = table.mean(), ("corrected too high", "naive too high")
    real = mean["lost"] or np.nan  # nothing was lost: there is no ratio
    ratio = mean["said"] / real
    gap = (table["said"] - ratio * table["lost"]).std(ddof=0)
    error = table[[*high]].abs().mean()
    return {
        "data": data,
        "search": name,
        "problems": len(runs),
        "expected loss": mean["said"],
        "real loss": mean["lost"],
        "ratio": ratio,
        "ratio SE": gap / np.sqrt(len(runs)) / real,
        "covers": mean["corrected covers"],
        "covers uncorrected": mean["naive covers"],
        "covers 5-fold CV": mean["CV covers"],
        "differences cover": mean["differences"],
        "too high": mean[high[0]],
        "too high uncorrected": mean[high[1]],
        "too high, all candidates": mean["too high, all"],
        "error": error[high[0]],
        "error uncorrected": error[high[1]],
        "error 5-fold CV": mean["CV"],
        "posterior / search": mean["asked"] / mean["searched"],
    }


def reliability(data, runs):
    """Rows of ``reliability.csv`` over all searches."""
    parts = []
    for number, r in enumerate(runs):
        truth = np.array(r["truth"])
        best = truth >= truth.max() - TIE
        columns = {"said": r["p_best"], "share": best / best.sum(), "problem": number}
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts)
    place = np.clip(np.digitize(table["said"], BINS) - 1, 0, len(BINS) - 2)
    rows = []
    for b, mine in table.groupby(place):
        row = {"data": data, "P(best)": f"[{BINS[b]:g}, {BINS[b + 1]:g})"}
        row |= {"candidates": len(mine), "said": mine["said"].mean()}
        share = mine["share"].mean()
        sums = (mine["share"] - share).groupby(mine["problem"]).sum()
        error = np.sqrt((sums**2).sum()) / len(mine)
        rows.append(row | {"share": share, "SE": error})
    return rows


def rules(data, name, runs):
    """Rows of ``rules.csv`` of one search over an ordered grid."""
    names = (*(f"within {sd:g} SD" for sd in WITHIN), "largest score")
    names += ("5-fold, one SE", "5-fold, largest mean")
    lost, place = [], []
    for r in runs:
        truth = np.array(r["truth"])
        best, simple, _ = one_se(np.array(r["folds"]))
        picked = np.array([*r["rule"], r["selected"], simple, best])
        lost.append(truth.max() - truth[picked])
        place.append(picked / (len(truth) - 1))
    lost, place = (pd.DataFrame(rows, columns=names) for rows in (lost, place))
    table = pd.DataFrame({"AUC lost": lost.mean(), "SE": lost.sem()})
    table = table.assign(**{"place in the grid": place.mean()}).rename_axis("rule")
    head = {"data": data, "search": name}
    return [head | row for row in table.reset_index().to_dict("records")]


def panel(rows):
    """Share of bests against P(best)."""
    lines = {"calibrated": ([0, 1], [0, 1])}
    for data in GROUPS:
        mine = [row for row in rows if row["data"] == data]
        lines[data] = [row["said"] for row in mine], [row["share"] for row in mine]
    return Panel("Reliability", "P(best)", "share that is the best", lines)


def main(argv=None):
    """Ask all searches."""
    command = parser(__doc__)
    command.add_argument("--seeds", type=int, nargs=2, default=SEEDS)
    arguments = read(command, argv, "search")
    seeds = range(*arguments.seeds)
    groups = dict(GROUPS)
    if arguments.fast:
        seeds = seeds[:2]
        groups = {data: some[:1] for data, some in GROUPS.items()}
    folder = str(arguments.data_dir) if arguments.data_dir else None
    names = chain.from_iterable(groups.values())
    jobs = [(g, name, s, folder) for s, g, name in product(seeds, names, SEARCHES)]
    found = dict(zip(jobs, resume("search", run, jobs, arguments), strict=True))
    found = {job: answer for job, answer in found.items() if answer is not None}
    table, shares, lost = [], [], []
    for data, some in groups.items():
        by_search = {name: [] for name in (*SEARCHES, "all")}
        for (group, name, *_), answer in found.items():
            if group in some:
                by_search[name].append(answer)
        everything = by_search["all"]
        everything += chain.from_iterable(by_search[name] for name in SEARCHES)
        table += [calibration(data, *item) for item in by_search.items()]
        shares += reliability(data, everything)
        for name in ("C", "SelectKBest"):
            lost += rules(data, name, by_search[name])
    out = arguments.out
    write_table("calibration", table, out)
    write_table("reliability", shares, out)
    write_table("rules", lost, out)
    draw(out / "reliability.png", [panel(shares)])


if __name__ == "__main__":
    main()
