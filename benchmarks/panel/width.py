"""More columns of the same rows, true and permuted labels.

    python -m benchmarks.panel.width [--data-dir DIR] [--seeds 12] [--fast]

The real sets of the judging half with 2500 columns or more, and simulated factors with
10 000, with the true and with permuted labels; random subsets of 300, 1000 and 3000
columns and all of them, the same rows each time; L2 logistic regressions with four C.
Writes ``width.csv``, a row for each number of columns: means of the truth, the AUC by
the model of the data set alone, of pairs left out, of the report and of 5-fold CV, and
the error of the report over that of CV.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.panel.families import Family, coefficients, fold_aucs
from benchmarks.panel.problems import make
from benchmarks.tools.runs import parse, resume
from benchmarks.tools.table import write_table
from skauc import AdaptivePrior, auc_posterior

GROUPS, WIDTHS = ("real P >= 2500", "factors"), (300, 1000, 3000, None)
ALONE = AdaptivePrior(leave_pair_out=False)
NAMES = ["truth", "model", "pairs", "report", "CV", "error", "CV error"]


def ask(group, seed, width, permuted, data_dir):
    """Means over four models; None where there is no such set."""
    problem = make(group, "l2", seed, data_dir)
    if problem is None:
        return None
    rng, P = np.random.default_rng([2035, seed]), problem.X.shape[1]
    columns, labels = rng.permutation(P)[:width], rng.permutation(problem.y)
    X, y = problem.X[:, columns], labels if permuted else problem.y
    models = Family("l2", *X.shape).candidates()[::2]
    cv = fold_aucs(models, X, y, 5).mean(axis=0)
    W = np.zeros((P, len(models)))
    W[columns] = np.array([coefficients(model.fit(X, y)) for model in models]).T
    truth = np.full(len(models), 0.5) if permuted else problem.truth(W)[0]
    alone = [auc_posterior(model, X, y, prior=ALONE).mean() for model in models]
    reports = [auc_posterior(model, X, y) for model in models]
    report, pairs = np.array([(r.mean(), r.leave_pair_out) for r in reports]).T
    errors = np.abs(report - truth), np.abs(cv - truth)
    return [float(np.mean(x)) for x in (truth, alone, pairs, report, cv, *errors)]


def main(argv=None):
    """Ask for every number of columns and write the table."""
    a = parse(__doc__, argv, folder="width", seeds=12)
    jobs = [
        (group, seed, width, permuted, a.data_dir)
        for group in (GROUPS[1:] if a.fast else GROUPS)
        for permuted in (False, True)
        for width in (WIDTHS[:1] if a.fast else WIDTHS)
        for seed in range(1 if a.fast else a.seeds)
    ]
    rows = [
        {"data": group, "labels": "permuted" if permuted else "true"}
        | {"columns": str(width or "all")}
        | dict(zip(NAMES, values, strict=True))
        for (group, _, width, permuted, _), values in zip(
            jobs, resume("width", ask, jobs, a), strict=True
        )
        if values is not None
    ]
    heads = ["data", "labels", "columns"]
    table = pd.DataFrame(rows).groupby(heads, sort=False).mean().reset_index()
    table["error/CV"] = table.pop("error") / table.pop("CV error")
    write_table("width", table.to_dict("records"), a.out)


if __name__ == "__main__":
    main()
