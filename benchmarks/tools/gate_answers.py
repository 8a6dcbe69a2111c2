"""What one version of the package answers to the runs of the panel.

    python -m benchmarks.tools.gate_answers FOLDER --seeds 0:16 [--share 0/2] [--fill]

One line of JSON for each run is appended to a file in FOLDER. ``--fill`` requests no
answer and computes truth, fits and folds of the runs only, for later comparisons.
``tools/gate.py`` starts this script with the ``skauc`` of one tree or another.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from tqdm import tqdm

from benchmarks.panel.runs import Key, Run

CACHE = Path(__file__).parents[1] / ".cache"
FAMILIES = ("l2", "hinge", "l1", "kbest")
GROUPS = (
    "sim Gaussian",
    "sim other",
    "few signals",
    "real P < .3 n",
    "real P < n",
    "real P >= n",
    "real P >> n",
    "random labels",
)


def reported(m, every=False):
    """Places of the candidates that are reported: a quarter, half, three quarters."""
    return range(m) if every else np.linspace(0, m - 1, 5).round().astype(int)[1:4]


def jobs(seeds, groups=GROUPS, families=FAMILIES):
    """Group, family and seed of the runs, all cells of one seed after another."""
    first, last = map(int, seeds.split(":"))
    cells = [(g, f) for g in groups for f in families]
    return [(*cell, seed) for seed in range(first, last) for cell in cells]


def run_of(job, data_dir, half):
    """The run of a job, from the cache."""
    return Run(Key(*job, CACHE / "panel", data_dir, half))


def answers(run, every):
    """Ranking scores of all candidates; mean and interval of the reported ones."""
    import skauc

    X, y, out = (
        run.problem.X,
        run.problem.y,
        {"score": [], "report": [], "error message": None},
    )
    skauc.clear_cache()
    start = time.process_time()
    for model in run.models:
        try:
            out["score"].append(float(skauc.cbauc_scorer(model, X, y)))
        except Exception as error:
            out["score"].append(None)
            out["error message"] = f"{type(error).__name__}: {error}"[:200]
    out["ranked in"] = time.process_time() - start
    for k in reported(len(run.models), every):
        try:
            posterior = skauc.auc_posterior(run.models[k], X, y)
            answer = [posterior.mean(), *posterior.interval(0.95)]
            out["report"].append([float(value) for value in answer])
        except Exception as error:
            out["report"].append([None] * 3)
            out["error message"] = f"{type(error).__name__}: {error}"[:200]
    out["seconds"] = time.process_time() - start
    return out


def finished(folder):
    """Answers that a folder holds, by job."""
    done = {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                job, answer = json.loads(line)
            except ValueError:  # an interruption tore the line
                continue
            done[tuple(job)] = answer
    return done


def main(argv=None):
    """Ask what is missing."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    command.add_argument("folder", type=Path)
    command.add_argument("--seeds", default="0:16")
    command.add_argument("--groups", nargs="+", default=GROUPS)
    command.add_argument("--families", nargs="+", default=FAMILIES)
    command.add_argument("--half", default="judge")
    command.add_argument("--every", action="store_true", help="report all candidates")
    command.add_argument("--share", default="0/1")
    command.add_argument("--fill", action="store_true")
    command.add_argument("--data-dir", type=Path)
    a = command.parse_args(argv)
    warnings.simplefilter("ignore")  # convergence and doubtful data are the subject
    share, shares = map(int, a.share.split("/"))
    done = {} if a.fill else finished(a.folder)
    missing = [j for j in jobs(a.seeds, a.groups, a.families) if j not in done]
    a.folder.mkdir(parents=True, exist_ok=True)
    path = a.folder / f"answers-{share}-{shares}.jsonl"
    with path.open("a") as file:
        for job in tqdm(missing[share::shares], mininterval=10):
            run = run_of(job, a.data_dir, a.half)
            if run.problem is None:
                continue
            run.truth, run.folds  # noqa: B018
            if not a.fill:
                file.write("\n" + json.dumps([job, answers(run, a.every)]))
                file.flush()


if __name__ == "__main__":
    main()
