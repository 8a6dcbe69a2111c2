"""Two versions of the package compared in minutes: panel and speed.

    python -m benchmarks.tools.gate BEFORE [AFTER] --data-dir DIR [--half choose]

BEFORE and AFTER are commits or folders; AFTER is this folder if it is not given. On the
same runs of the judging half of the panel both are compared with 5-fold CV: mean
absolute error, AUC lost by the choice (as ratios), coverage of 95 % intervals; then
AFTER less BEFORE. Standard errors, in brackets, are over data sets or designs. In each
run all candidates are ranked and three of them reported (all: ``--every``).

The benchmarks of this folder measure both versions. Truth, fits and cross-validation
are kept in ``.cache/panel``, the answers in ``.cache/panel.jsonl``, the times of a
version in ``.cache/gate``, under a digest of its code: a second comparison asks only
the new code. Writes the tables to ``.cache/gate/report.md`` too.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from benchmarks.panel.families import FAMILIES, LINEAR
from benchmarks.panel.judging import POOLED_GROUPS, ratio
from benchmarks.tools.runs import CACHE
from benchmarks.tools.table import markdown

ROOT = Path(__file__).parents[2]
SPEED = ("headline", "scorers")
RUN = ["group", "family", "seed"]
START = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from benchmarks.{module} import main
found = main()
if found is not None:
    found.to_pickle({path!r})
"""


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


def folder_of(tree) -> Path:
    """Where the times and records of a tree are kept: named by its code."""
    digest = hashlib.sha256()
    for path in sorted((tree / "skauc").rglob("*.py")):
        digest.update(str(path.relative_to(tree)).encode() + path.read_bytes())
    return CACHE / "gate" / digest.hexdigest()[:12]


def start(tree, module, path, *arguments):
    """Run a module of these benchmarks with the package of a tree; wait for it."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as package:  # which holds nothing else
        Path(package, "skauc").symlink_to(tree / "skauc")
        code = START.format(module=module, path=str(path))
        command = [sys.executable, "-W", "ignore", "-c", code, package, *arguments]
        done = subprocess.run(command, cwd=ROOT, env=env, check=False)
    if done.returncode:
        print(f"{tree}: {module} ended with an error", file=sys.stderr)


def measure(tree, a):
    """Records of the runs of a version; its times are kept beside them."""
    folder = folder_of(tree)
    folder.mkdir(parents=True, exist_ok=True)
    if "speed" in a.parts:
        for group in SPEED:
            if not (folder / f"{group}.csv").exists():
                start(tree, "speed.speed", "", group, "--out", str(folder))
    path = folder / "records.pickle"
    path.unlink(missing_ok=True)
    if "panel" not in a.parts:
        return pd.DataFrame()
    how = ["--seeds", a.seeds, "--half", a.half, "--n-jobs", str(a.n_jobs)]
    how += ["--methods", "skauc" if a.every else "skauc, three candidates"]
    how += ["--groups", *sum(POOLED_GROUPS.values(), ()), "--families", *a.families]
    how += ["--data-dir", str(a.data_dir)] if a.data_dir else []
    start(tree, "panel.report", path, *how, "--out", str(folder))
    return pd.read_pickle(path) if path.exists() else pd.DataFrame()


def panel_table(before, after, families):
    """Rows of the panel: groups by families, then each family and all."""
    if before.empty or after.empty:
        return []
    both, rows = before.merge(after, on=RUN, suffixes=(" before", " after")), []
    kinds = {name: (name,) for name in families} | {"all": families}
    for group, of in (POOLED_GROUPS | {"all": sum(POOLED_GROUPS.values(), ())}).items():
        for family, members in kinds.items():
            here = both["group"].isin(of) & both["family"].isin(members)
            if here.any():
                rows.append({"group": group, "models": family} | compared(both[here]))
    return rows


def compared(pairs):
    """Before, after and their paired difference, with standard errors over sets."""
    good = pairs.dropna(subset=["error before", "error after"]).assign(one=1.0)
    cluster = good["cluster before"]
    row = {"runs": len(good), "sets": cluster.nunique()}
    for title, own, peer, digits in (
        ("error / CV", "error", "cv error before", 2),
        ("loss / CV", "loss", "cv loss before", 2),
        ("covers", "cover", "one", 3),
        ("bias", "bias", "one", 3),
    ):
        old, new = (good[f"{own} {side}"] for side in ("before", "after"))
        before, after, gap = (
            text(*ratio(values, good[peer], cluster), digits, sign)
            for values, sign in ((old, ""), (new, ""), (new - old, "+"))
        )
        row |= {title: f"{before} → {after}", f"{title}, change": gap}
    for title, column, digits in (("unknown", "unknown", 3), ("s a run", "seconds", 2)):
        means = (pairs[f"{column} {side}"].mean() for side in ("before", "after"))
        row[title] = " → ".join(f"{mean:.{digits}f}" for mean in means)
    return row


def text(value, error, digits, sign=""):
    """A number with its standard error in brackets."""
    return f"{value:{sign}.{digits}f} ({error:.{digits}f})"


def speed_table(folders):
    """Ratios to the peers and seconds, before and after."""
    tables = []
    for group in SPEED:
        paths = [folder / f"{group}.csv" for folder in folders]
        if all(path.exists() for path in paths):
            sides = [pd.read_csv(path, comment="#") for path in paths]
            tables.append(sides[0].merge(sides[1], on=["what", "n", "P"], how="right"))
    if not tables:
        return []
    both = pd.concat(tables)
    table = both[["what", "n", "P"]].assign(goal=both["goal_y"])
    for column in ("ratio", "seconds"):
        sides = (both[f"{column}_{side}"].map("{:.3g}".format) for side in "xy")
        table[column] = next(sides) + " → " + next(sides)
    return table.assign(**{"after / before": both["ratio_y"] / both["ratio_x"]})


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
    add("--families", nargs="+", default=LINEAR[:4], choices=FAMILIES)
    add("--half", default="judge", choices=("judge", "choose"))
    add("--every", action="store_true", help="report every candidate, not three")
    add("--parts", nargs="+", default=("panel", "speed"))
    add("--n-jobs", type=int, default=2)
    a = command.parse_args(argv)
    if a.data_dir:
        a.data_dir = Path(a.data_dir).resolve()
    trees = [tree_of(version) for version in (a.before, a.after)]
    before, after = (measure(tree, a) for tree in trees)
    report = [f"# {a.before} → {a.after}"]
    for title, rows in (
        ("Panel", panel_table(before, after, a.families)),
        ("Speed", speed_table([folder_of(tree) for tree in trees])),
    ):
        table = markdown(rows) if len(rows) else "nothing measured"
        report.append(f"## {title}\n\n{table}")
    report = "\n\n".join(report) + "\n"
    print(report)
    (CACHE / "gate").mkdir(parents=True, exist_ok=True)
    (CACHE / "gate" / "report.md").write_text(report)


if __name__ == "__main__":
    main()
