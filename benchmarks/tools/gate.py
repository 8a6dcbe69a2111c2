"""Two versions of the package compared in minutes: panel, speed, size.

    python -m benchmarks.tools.gate BEFORE [AFTER] --data-dir DIR [--half choose]

BEFORE and AFTER are commits or folders; AFTER is this folder if it is not given. On the
same runs of the judging half of the panel both are compared with 5-fold CV: mean
absolute error, AUC lost by the choice (as ratios), coverage of 95 % intervals; then
AFTER less BEFORE. Standard errors, in brackets, are over data sets or designs. In each
run all candidates are ranked and three of them reported (all: ``--every``).

Truth, fits and cross-validation are kept in ``.cache/panel``, the answers of a version
in ``.cache/gate``, under a digest of its code: a second comparison asks only the new
code. Writes the tables to ``.cache/gate/report.md`` too.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.panel.judging import POOLED_GROUPS, Estimates, ratio, record
from benchmarks.tools.gate_answers import (
    CACHE,
    FAMILIES,
    finished,
    jobs,
    reported,
    run_of,
)
from benchmarks.tools.size import sizes
from benchmarks.tools.table import read_table

ROOT = Path(__file__).parents[2]
MODULES = {"panel": "benchmarks.tools.gate_answers", "speed": "benchmarks.speed.speed"}


def tree_of(version) -> Path:
    """The folder of a version; a commit is unpacked for it."""
    if (Path(version) / "skauc").is_dir():
        return Path(version).resolve()
    name = ["git", "rev-parse", "--short=10", f"{version}^{{commit}}"]
    commit = subprocess.run(name, cwd=ROOT, capture_output=True, text=True, check=True)
    tree = Path(tempfile.gettempdir(), "skauc-trees", commit.stdout.strip())
    if not tree.exists():
        tree.mkdir(parents=True)
        pack = ["git", "archive", tree.name]
        files = subprocess.run(pack, cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", tree], input=files.stdout, check=True)
    return tree


def folder_of(tree, every, half) -> Path:
    """Where the answers of a tree are kept: named by its code."""
    digest = hashlib.sha256()
    for path in sorted((tree / "skauc").rglob("*.py")):
        digest.update(str(path.relative_to(tree)).encode() + path.read_bytes())
    way = f"{half}{'-every' if every else ''}"
    return CACHE / "gate" / f"{digest.hexdigest()[:12]}-{way}"


def start(tree, what, *arguments):
    """Run a module of this benchmark with the package of a tree; wait for it."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    code += f"from {MODULES[what]} import main; main()"
    command = [sys.executable, "-W", "ignore", "-c", code, str(tree), *arguments]
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, check=False)
    if done.returncode:
        print(f"{tree}: {what} ended with an error", file=sys.stderr)


def compute(trees, folders, a):
    """Ask both versions what is not yet kept, in ``a.n_jobs`` processes."""
    tasks = []
    for folder, tree in dict(zip(folders, trees, strict=True)).items():
        for share in range(a.n_jobs):
            order = [str(folder / "panel"), "--seeds", a.seeds, "--half", a.half]
            order += ["--share", f"{share}/{a.n_jobs}", "--families", *a.families]
            order += ["--data-dir", str(a.data_dir)] if a.data_dir else []
            order += ["--every"] if a.every else []
            if "panel" in a.parts:
                tasks.append((tree, "panel", *order))
        for group in ("headline", "scorers"):
            path = folder / "speed" / f"{group}.csv"
            if "speed" in a.parts and not path.exists():
                tasks.append((tree, "speed", group, "--out", str(path.parent)))
    with ThreadPoolExecutor(a.n_jobs) as pool:
        list(pool.map(lambda task: start(*task), tasks))


def records(folders, a):
    """Pairs of records, before and after, of the runs that both have answered."""
    sides, found = [finished(folder / "panel") for folder in folders], []
    for job in jobs(a.seeds, families=a.families):
        if all(job in side for side in sides):
            run = run_of(job, a.data_dir, a.half)
            found.append(pair(run, [side[job] for side in sides], a.every))
    return found


def pair(run, answers, every):
    """The records of one run; a candidate counts where both versions report it."""
    both = [estimates(run, answer, every) for answer in answers]
    missing = np.isnan(both[0].auc + both[1].auc)
    out = []
    for side, answer in zip(both, answers, strict=True):
        unknown = np.mean([report[0] is None for report in answer["report"]])
        side.auc[missing] = np.nan
        row = record(run, "", side) | {"unknown": unknown}
        out.append(row | {key: answer[key] for key in ("seconds", "error message")})
    return out


def estimates(run, answer, every):
    """An answer as the panel's estimates; NaN for candidates that are not reported."""
    m = len(run.truth)
    table = np.full((3, m), np.nan)
    table[:, list(reported(m, every))] = np.array(answer["report"], dtype=float).T
    return Estimates(*table, score=np.array(answer["score"], dtype=float))


def panel_table(found, families):
    """Rows of the panel: groups by families, then each family and all."""
    rows = []
    groups = {g: of for g, of in POOLED_GROUPS.items() if g != "held-out rows"}
    for group, of in (groups | {"all": sum(groups.values(), ())}).items():
        for family in (*families, "all"):
            some = [
                p
                for p in found
                if p[0]["group"] in of and family in (p[0]["family"], "all")
            ]
            if some:
                rows.append({"group": group, "models": family} | compared(some))
    return rows


def compared(pairs):
    """Before, after and their paired difference, with standard errors over sets."""
    good = [p for p in pairs if np.isfinite(p[0]["error"])]
    cluster = [p[0]["cluster"] for p in good]
    row = {"runs": len(good), "sets": len(set(cluster))}
    for title, own, peer, digits in (
        ("error / CV", "error", "cv error", 2),
        ("loss / CV", "loss", "cv loss", 2),
        ("covers", "cover", None, 3),
        ("bias", "bias", None, 3),
    ):
        values = [np.array([p[side][own] for p in good]) for side in (0, 1)]
        scale = np.ones(len(good)) if peer is None else [p[0][peer] for p in good]
        before, after = (text(*ratio(v, scale, cluster), digits) for v in values)
        gap = text(*ratio(values[1] - values[0], scale, cluster), digits, sign="+")
        row |= {title: f"{before} → {after}", f"{title}, change": gap}
    unknown = [np.mean([p[side]["unknown"] for p in pairs]) for side in (0, 1)]
    row["unknown"] = " → ".join(f"{share:.3f}" for share in unknown)
    seconds = [np.mean([p[side]["seconds"] for p in pairs]) for side in (0, 1)]
    row["s a run"] = " → ".join(f"{s:.2f}" for s in seconds)
    return row


def text(value, error, digits, sign=""):
    """A number with its standard error in brackets."""
    return f"{value:{sign}.{digits}f} ({error:.{digits}f})"


def speed_table(folders):
    """Ratios to the peers and seconds, before and after."""
    rows = []
    for group in ("headline", "scorers"):
        paths = [folder / "speed" / f"{group}.csv" for folder in folders]
        if not all(path.exists() for path in paths):
            continue
        sides = [
            {(r["what"], r["n"], r["P"]): r for r in read_table(path)} for path in paths
        ]
        for key, row in sides[1].items():
            old = sides[0].get(key, {"ratio": "nan", "seconds": "nan"})
            named = {"what": key[0], "n": key[1], "P": key[2], "goal": row["goal"]}
            for column in ("ratio", "seconds"):
                named[column] = f"{old[column]} → {row[column]}"
            times = float(row["ratio"]) / float(old["ratio"])
            rows.append(named | {"after / before": f"{times:.2f}"})
    return rows


def size_table(trees):
    """Code lines of each folder."""
    before, after = map(sizes, trees)
    return [
        {"folder": name, "before": before.get(name, 0), "after": after.get(name, 0)}
        for name in {**after, **before}
    ]


def markdown(title, rows):
    """A table of the report."""
    if not rows:
        return f"## {title}\n\nnothing measured\n"
    lines = [" | ".join(rows[0]), "|".join("---" for _ in rows[0])]
    lines += [" | ".join(str(value) for value in row.values()) for row in rows]
    return f"## {title}\n\n" + "\n".join(f"| {line} |" for line in lines) + "\n"


def main(argv=None):
    """Compare and report."""
    command = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = command.add_argument
    add("before")
    add("after", nargs="?", default=str(ROOT))
    add("--data-dir", type=Path, default=os.environ.get("SKAUC_DATA_DIR"))
    add("--seeds", default="0:16", help="first:last + 1")
    add("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    add("--half", default="judge", choices=("judge", "choose"))
    add("--every", action="store_true", help="report every candidate, not three")
    add("--parts", nargs="+", default=("panel", "speed", "size"))
    add("--n-jobs", type=int, default=2)
    a = command.parse_args(argv)
    trees = [tree_of(version) for version in (a.before, a.after)]
    folders = [folder_of(tree, a.every, a.half) for tree in trees]
    compute(trees, folders, a)
    found, report = records(folders, a), [f"# {a.before} → {a.after}\n"]
    report.append(markdown("Panel", panel_table(found, a.families)))
    for name, side in (("before", 0), ("after", 1)):
        errors = {p[side]["error message"] for p in found} - {None}
        report += [f"{name} raised: {error}\n" for error in sorted(errors)[:10]]
    report.append(markdown("Speed", speed_table(folders)))
    report.append(markdown("Size, code lines", size_table(trees)))
    print("\n".join(report))
    (CACHE / "gate").mkdir(parents=True, exist_ok=True)
    (CACHE / "gate" / "report.md").write_text("\n".join(report))


if __name__ == "__main__":
    main()
