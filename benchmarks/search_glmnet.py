"""The one-SD rule beside glmnet's own rules, over the L1 path of the same problems.

    python benchmarks/search_glmnet.py [--fast] [--data-dir DIR] [--seeds 1000 1024]

The problems of ``search.py``. R's glmnet (Friedman, Hastie & Tibshirani 2010) runs
``cv.glmnet(family="binomial", alpha=1)`` over five stratified folds with
``type.measure`` "auc" and "deviance" (below ten rows a fold it takes the deviance for
both), and says ``lambda.min`` and ``lambda.1se`` with their coefficients. Ours is one
``GridSearchCV`` with one fit a candidate over every fifth of the same penalties,
``C = 1/(nλ)``: the largest selection score, and ``one_sd_rule``. Writes
``search_glmnet.csv``: the true AUC lost against the best of all models (those of
glmnet's four rules and those of our path), and the features with a coefficient. Where R
or glmnet is missing it says so and writes nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from panel_families import coefficients
from paper_runs import parser, read, resume
from problems import make
from results_table import write_table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    clear_cache,
    make_cbauc_scorer,
    one_sd_rule,
)

GROUPS = {
    "simulated": ("sim Gaussian", "sim other", "few signals"),
    "real, P < n": ("real P < .3 n", "real P < n"),
    "real, P >= n": ("real P >= n",),
}
SEEDS = 1000, 1024  # nothing was chosen on them
EVERY = 5  # of glmnet's 100 penalties
THEIRS = (
    "glmnet, auc, lambda.min",
    "glmnet, auc, lambda.1se",
    "glmnet, deviance, lambda.min",
    "glmnet, deviance, lambda.1se",
)
OURS = ("largest score", "within 1 SD", "within 0.5 SD")
# Rows and labels in, coefficients of the four rules and the path of penalties out.
GLMNET = """
suppressMessages(library(glmnet))
folder <- commandArgs(TRUE)[1]
for (name in list.dirs(folder, recursive = FALSE)) {
  get <- function(what, type, n) readBin(file.path(name, what), type, n)
  put <- function(x, what) writeBin(as.double(x), file.path(name, what))
  size <- get("size", "integer", 2)
  X <- matrix(get("X", "double", prod(size)), size[1])
  y <- get("y", "integer", size[1])
  fold <- get("fold", "integer", size[1])
  found <- NULL
  for (measure in c("auc", "deviance")) {
    cv <- suppressWarnings(cv.glmnet(X, y, family = "binomial", alpha = 1,
      nfolds = 5, foldid = fold, type.measure = measure))
    for (s in c("lambda.min", "lambda.1se"))
      found <- cbind(found, as.matrix(coef(cv, s = s))[-1, ])
  }
  put(found, "coef")
  put(cv$glmnet.fit$lambda, "lambda")
}
"""


def has_glmnet() -> bool:
    """Whether R is there, and glmnet in it."""
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", "library(glmnet)"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def run(seed, groups, data_dir):
    """What each rule loses and keeps on the problems of one seed, a dict a group."""
    found = {g: make(g, "kbest", seed, data_dir and Path(data_dir)) for g in groups}
    problems = {g: p for g, p in found.items() if p is not None}
    theirs = glmnet(list(problems.values()), seed)
    return {
        g: compared(p, *of) for (g, p), of in zip(problems.items(), theirs, strict=True)
    }


def glmnet(problems, seed):
    """Coefficients (P, 4) of :data:`THEIRS`, and the penalties, of each problem."""
    cv = StratifiedKFold(5, shuffle=True, random_state=seed)
    out = []
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / f"{k:03d}" for k in range(len(problems))]
        for place, problem in zip(places, problems, strict=True):
            X, y = np.asarray(problem.X, dtype=float), problem.y.astype(np.int32)
            fold = np.zeros(len(y), dtype=np.int32)
            for k, (_, test) in enumerate(cv.split(X, y)):
                fold[test] = k + 1
            place.mkdir()
            np.array(X.shape, dtype=np.int32).tofile(place / "size")
            X.T.tofile(place / "X")  # column by column
            y.tofile(place / "y")
            fold.tofile(place / "fold")
        script = Path(folder) / "run.R"
        script.write_text(GLMNET)
        subprocess.run(["Rscript", script, folder], check=True)
        for place, problem in zip(places, problems, strict=True):
            coef = np.fromfile(place / "coef").reshape(4, problem.X.shape[1])
            out.append((coef.T, np.fromfile(place / "lambda")))
    return out


def compared(problem, theirs, penalties):
    """Lost AUC and features of each rule."""
    X, y = problem.X, problem.y.astype(int)
    picked, path = ours(X, y, 1 / (len(y) * penalties[::EVERY]))
    truth, _ = problem.truth(np.column_stack([theirs, path]))
    taken = [*range(theirs.shape[1]), *(theirs.shape[1] + k for k in picked)]
    features = np.count_nonzero(np.column_stack([theirs, path]), axis=0)
    return {
        "lost": (truth.max() - truth[taken]).tolist(),
        "features": features[taken].tolist(),
    }


def ours(X, y, Cs):
    """Candidates that :data:`OURS` take, and the coefficients (P, m) of the path."""

    def model(C):
        lasso = LogisticRegression(
            C=C, l1_ratio=1, solver="liblinear", max_iter=1_000, random_state=0
        )
        return make_pipeline(StandardScaler(), lasso)

    clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence, distrust and empty models
        search = GridSearchCV(
            model(1.0),
            {"logisticregression__C": Cs},
            scoring=make_cbauc_scorer(output="dict"),
            cv=ResubstitutionSplit(),
            refit=False,
        ).fit(X, y)
        results = search.cv_results_
        rules = [
            one_sd_rule("logisticregression__C", within=sd)(results) for sd in (1, 0.5)
        ]
        path = np.column_stack([coefficients(model(C).fit(X, y)) for C in Cs])
    return [int(np.argmax(results["mean_test_choice"])), *rules], path


def rows_of(data, runs):
    """Rows of the table: one a rule."""
    lost = np.array([r["lost"] for r in runs])
    features = np.array([r["features"] for r in runs])
    return [
        {
            "data": data,
            "rule": rule,
            "problems": len(runs),
            "AUC lost": lost[:, k].mean(),
            "SE": lost[:, k].std(ddof=1) / np.sqrt(len(runs)),
            "features": features[:, k].mean(),
            "median features": np.median(features[:, k]),
            "none": np.mean(features[:, k] == 0),
        }
        for k, rule in enumerate(THEIRS + OURS)
    ]


def main(argv=None):
    """Compare, if glmnet is there."""
    command = parser(__doc__)
    command.add_argument("--seeds", type=int, nargs=2, default=SEEDS)
    arguments = read(command, argv)
    if not has_glmnet():
        print("skipped: Rscript with the package glmnet is not to be found")
        return
    seeds, groups = range(*arguments.seeds), GROUPS
    if arguments.fast:
        seeds, groups = seeds[:2], {"simulated": ("few signals",)}
    folder = str(arguments.data_dir) if arguments.data_dir else None
    names = [g for some in groups.values() for g in some]
    jobs = [(seed, names, folder) for seed in seeds]
    found = resume("search_glmnet", run, jobs, arguments)
    table = []
    for data, some in groups.items():
        mine = [of[g] for of in found for g in some if g in of]
        table += rows_of(data, mine) if mine else []
    write_table("search_glmnet", table, arguments.out)


if __name__ == "__main__":
    main()
