"""Every estimator of the AUC on every problem: the raw material of the tables.

Usage: ``python benchmarks/panel.py --data-dir DIR`` and then ``accuracy.py`` and
``selection.py``, which read what it leaves in ``benchmarks/.cache/panel.pkl``.

A run fits each candidate of a problem once on all training rows, asks every estimator
for its AUC, and notes the truth. What needs refits (cross-validation, the bootstrap)
does not depend on skauc and is kept in ``benchmarks/.cache``, so that an interrupted
run resumes; ours is computed anew every time.
"""

from __future__ import annotations

import argparse
import pickle
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from problems import candidates, real, real_names, simulated
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from skauc import (
    AdaptivePrior,
    auc_posterior,
    binormal_auc_score,
    lpo_auc_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)

CACHE = Path(__file__).parent / ".cache"
REPEATS, BOOTSTRAPS = 10, 20
ADAPTIVE = "adaptive (default)"


def _estimate(prior):
    return lambda model, X, y: auc_posterior(model, X, y, prior=prior).mean()


CHOICE = "choice"
OURS = {
    ADAPTIVE: _estimate(AdaptivePrior()),
    CHOICE: make_cbauc_scorer(),
    "adaptive, no leave-pair-out": _estimate(AdaptivePrior(leave_pair_out=False)),
    "adaptive, uniform": _estimate(AdaptivePrior(attainable_power=1)),
    "adaptive, Beta(5, 1)": _estimate(AdaptivePrior(attainable_power=5)),
    "leave-pair-out": lpo_auc_scorer,
    "CBAUC, paper's prior": make_cbauc_scorer(prior="paper"),
    "EBAUC, paper's prior": make_ebauc_scorer(prior="paper"),
    "plug-in binormal": lambda model, X, y: binormal_auc_score(
        y, model.decision_function(X), equal_variance=True
    ),
    "resubstitution": lambda model, X, y: roc_auc_score(y, model.decision_function(X)),
}
PEERS = ("5-fold CV", "10 x 5-fold CV", ".632+ bootstrap")


def run(problem) -> dict:
    """All figures of one problem: arrays over its candidates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # saturation and convergence are the subject
        start = perf_counter()
        models = [model.fit(problem.X, problem.y) for model in candidates(problem)]
        fit_seconds = perf_counter() - start
        out = {
            "name": problem.name,
            "group": problem.group,
            "family": problem.family,
            "design": problem.design,
            "truth": np.array([problem.truth(model) for model in models]),
            "auc": {},
            "seconds": {},
        }
        for name, scorer in OURS.items():
            start = perf_counter()
            out["auc"][name] = _scores(scorer, models, problem)
            out["seconds"][name] = fit_seconds + perf_counter() - start
        out["interval"] = [
            auc_posterior(model, problem.X, problem.y).interval(0.95)
            for model in models
        ]
        auc, seconds = _peers(problem, out["auc"]["resubstitution"])
    out["auc"].update(auc)
    out["seconds"].update(seconds)
    return out


def collect(args) -> list[dict]:
    """Run the panel that the command line asks for, with a progress bar."""
    jobs = [(simulated, (seed,)) for seed in range(args.first, args.first + args.sim)]
    names = real_names(args.data_dir)
    jobs += [
        (real, (name, n_rows, seed, args.data_dir))
        for seed in range(args.first, args.first + args.seeds)
        for name in names
        for n_rows in (20, 30, 60, 150)
    ]
    results = Parallel(n_jobs=args.n_jobs, return_as="generator")(
        delayed(_job)(make, arguments) for make, arguments in jobs
    )
    return [r for r in tqdm(results, total=len(jobs), desc="panel") if r is not None]


def parse_args(description: str):
    """Command line shared by the scripts that read the panel."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--sim", type=int, default=400, help="simulated problems")
    parser.add_argument("--seeds", type=int, default=3, help="subsets of a real set")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--data-dir", type=Path, default=None)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--fresh", action="store_true", help="run the panel again")
    return parser.parse_args()


def load(args) -> list[dict]:
    """Results of the last run, or of a new one."""
    path = CACHE / "panel.pkl"
    if args.fresh or not path.exists():
        results = collect(args)
        CACHE.mkdir(exist_ok=True)
        path.write_bytes(pickle.dumps(results))
    return pickle.loads(path.read_bytes())


def ratio_to(values, peer):
    """Ratio of two means over the same runs, and its standard error (delta method)."""
    values, peer = np.asarray(values), np.asarray(peer)
    ratio = values.mean() / peer.mean()
    residual = (values - ratio * peer) / peer.mean()
    return ratio, residual.std(ddof=1) / np.sqrt(len(values))


def _job(make, arguments):
    problem = make(*arguments)
    return None if problem is None else run(problem)


def _scores(scorer, models, problem):
    values = []
    for model in models:
        try:
            values.append(scorer(model, problem.X, problem.y))
        except (TypeError, ValueError):  # the estimator does not cover this model
            values.append(np.nan)
    return np.array(values)


def _peers(problem, resubstitution):
    """Cross-validation and bootstrap of every candidate, cached by problem."""
    path = CACHE / f"{problem.name}.npz"
    if not path.exists():
        folds, cv_seconds = _repeated_cv(problem)
        boot, boot_seconds = _bootstrap(problem)
        CACHE.mkdir(exist_ok=True)
        np.savez(path, folds=folds, boot=boot, seconds=[cv_seconds, boot_seconds])
    with np.load(path) as file:
        folds, boot, (cv_seconds, boot_seconds) = (
            file["folds"],
            file["boot"],
            file["seconds"],
        )
    auc = {
        "5-fold CV": folds[:5].mean(axis=0),
        "10 x 5-fold CV": folds.mean(axis=0),
        ".632+ bootstrap": _plus_632(resubstitution, boot),
    }
    seconds = (cv_seconds / REPEATS, cv_seconds, boot_seconds)
    return auc, dict(zip(PEERS, seconds, strict=True))


def _repeated_cv(problem):
    X, y = problem.X, problem.y
    start = perf_counter()
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=REPEATS, random_state=0)
    folds = [
        _aucs(problem, X[train], y[train], X[test], y[test])
        for train, test in cv.split(X, y)
    ]
    return np.array(folds), perf_counter() - start


def _bootstrap(problem):
    """Mean out-of-bag AUC over stratified bootstrap samples."""
    X, y = problem.X, problem.y
    rng = np.random.default_rng(0)
    start, out = perf_counter(), []
    while len(out) < BOOTSTRAPS:
        parts = [np.flatnonzero(y == label) for label in (False, True)]
        rows = np.concatenate([rng.choice(part, len(part)) for part in parts])
        rest = np.setdiff1d(np.arange(len(y)), rows)
        if 0 < y[rest].sum() < len(rest):
            out.append(_aucs(problem, X[rows], y[rows], X[rest], y[rest]))
    return np.mean(out, axis=0), perf_counter() - start


def _aucs(problem, X, y, X_test, y_test):
    """AUC of every candidate on other rows.

    With more features than rows the standardised rows are rotated into their own span
    first: penalised fits are the same there, and faster.
    """
    models = candidates(problem)
    if X.shape[1] > X.shape[0] and problem.family != "lda":
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        span = np.linalg.qr(X.T)[0]
        X, X_test = X @ span, X_test @ span
        models = [model[-1] for model in models]
    models = [clone(model).fit(X, y) for model in models]
    return [roc_auc_score(y_test, model.decision_function(X_test)) for model in models]


def _plus_632(resubstitution, out_of_bag):
    """Efron & Tibshirani (1997) for the error 1 − AUC, no-information rate ½."""
    error, error_1 = 1 - resubstitution, np.minimum(1 - out_of_bag, 0.5)
    gap = np.maximum(0.5 - error, 1e-12)
    overfit = np.clip((error_1 - error) / gap, 0, 1)
    weight = 0.632 / (1 - 0.368 * overfit)
    return 1 - ((1 - weight) * error + weight * error_1)


if __name__ == "__main__":
    arguments = parse_args(__doc__)
    arguments.fresh = True
    load(arguments)
