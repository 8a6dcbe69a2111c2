"""Would a test notice? Each constant and sign is changed, one at a time.

Usage: ``python benchmarks/mutants.py [--module posterior] [--share 0.05]``.
For each mutant the tests that run its line run until one fails
(:mod:`mutants_tests`). What survives is listed in ``results/mutants.csv``; a reason
written there (why the mutant is no other program) is kept by later runs.
"""

from __future__ import annotations

import argparse
import ast
import copy
import csv
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed
from mutants_tests import judged

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mutants.csv"
COLUMNS = ["module", "function", "line", "change", "reason"]
NO_NUMBERS = {"__init__", "validation", "displays", "style"}  # by name or folder
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
PACKAGE = ROOT / "skauc"
LINES = ROOT / "benchmarks" / ".cache" / "mutants_lines.json"
# Those that name all and expect no value of any, and the long runs, are not asked.
NOT_ASKED = ("tests/test_anything.py", "tests/test_examples.py", "tests/benchmarks")
TESTS = ["tests", "skauc", *(f"--ignore={name}" for name in NOT_ASKED)]


@dataclass(frozen=True)
class Mutant:
    """One changed place; ``source`` is the whole changed module."""

    module: str
    function: str
    line: str
    change: str
    source: str
    lines: tuple[int, int]  # of the statement, in the module as it is

    @property
    def key(self):
        """What names it in the table, whatever stands above it in the file."""
        return self.module, self.function, self.line, self.change


def modules() -> dict[str, Path]:
    """Modules that compute numbers, by name without underscore."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        words = [part.strip("_") for part in path.relative_to(PACKAGE).parts[:-1]]
        if not NO_NUMBERS & {path.stem, path.stem.strip("_"), *words}:
            found[".".join([*words, path.stem.strip("_")])] = path
    return found


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse(source)
    lines = source.splitlines()
    for node, function, extent in _places(tree):
        for change, undo in _changes(node):
            yield Mutant(
                module,
                function,
                lines[node.lineno - 1].strip(),
                f"column {node.col_offset}: {change}",
                ast.unparse(tree),
                extent,
            )
            undo()


def _places(node, function="", extent=None) -> Iterator[tuple[ast.AST, str, tuple]]:
    """Nodes with function and lines; texts of errors, types, ``__repr__`` left out."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for part in child if isinstance(child, list) else [child]:
            if not isinstance(part, ast.AST) or isinstance(
                part, ast.Raise | ast.JoinedStr
            ):
                continue
            inside, lines = function, extent
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                if part.name in ("__repr__", "__str__"):
                    continue
                inside = f"{function}.{part.name}".strip(".")
            if hasattr(part, "lineno"):
                if isinstance(part, ast.stmt) and hasattr(part, "body"):
                    lines = None  # its parts run on lines of their own
                elif lines is None:
                    lines = part.lineno, part.end_lineno
                yield part, inside, lines or (part.lineno, part.lineno)
            yield from _places(part, inside, lines)


def _changes(node):
    """Change the node in place, one change after the other, each with its undoing."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        old = node.value
        node.value = old + 1 if isinstance(old, int) else old * 1.1 or 0.1
        yield f"{old} -> {node.value}", lambda: setattr(node, "value", old)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        old = node.op
        node.op = ast.UAdd()
        yield "-x -> +x", lambda: setattr(node, "op", old)
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        if (new := OPERATORS.get(type(node.op))) is not None:
            old = node.op
            node.op = new()
            yield _arrow(old, node.op), lambda: setattr(node, "op", old)
    elif isinstance(node, ast.Compare):
        for i, old in enumerate(node.ops):
            if (new := OPERATORS.get(type(old))) is not None:
                ops = copy.copy(node.ops)
                node.ops = [*ops[:i], new(), *ops[i + 1 :]]
                yield (
                    _arrow(old, node.ops[i]),
                    lambda ops=ops: setattr(node, "ops", ops),
                )


def _arrow(old, new):
    return f"{type(old).__name__} -> {type(new).__name__}"


def known_reasons(path=RESULTS) -> dict[tuple, str]:
    """Reasons that were written into the table before."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            tuple(row[c] for c in COLUMNS[:-1]): row["reason"]
            for row in csv.DictReader(file)
        }


def survivors(names, *, share=1.0, seed=0, n_jobs=1) -> list[Mutant]:
    """Mutants of the modules (a seeded share of each) that no test notices."""
    chosen = [
        mutant
        for name in names
        for mutant in mutants(name, modules()[name].read_text())
        if random_of(mutant, seed) < share
    ]
    known, paths = lines_and_tests(), modules()
    parts = Parallel(n_jobs=n_jobs)(
        delayed(judged)(PACKAGE, TESTS, known, chosen[i::n_jobs], paths)
        for i in range(n_jobs)
    )
    lives = {mutant.key for part in parts for mutant in part}
    for name in names:
        keys = [mutant.key for mutant in chosen if mutant.module == name]
        print(f"{name}: {len(lives.intersection(keys))} of {len(keys)} survive")
    return [mutant for mutant in chosen if mutant.key in lives]


def lines_and_tests(path=LINES) -> dict:
    """Which tests run which lines; kept until a file of package or tests changes."""
    files = [f for part in ("skauc", "tests") for f in (ROOT / part).rglob("*.py")]
    newest = max(file.stat().st_mtime for file in files)
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(exist_ok=True)
        script = Path(__file__).with_name("mutants_tests.py")
        command = [sys.executable, str(script), str(PACKAGE), str(path), *TESTS]
        subprocess.run(command, cwd=ROOT, check=True)
    return json.loads(path.read_text())


def random_of(mutant, seed):
    """Place of a mutant in [0, 1), the same whatever else is drawn."""
    return random.Random(f"{seed} {mutant.key}").random()


def main(arguments=None):
    """Find the survivors and list them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", action="append", choices=list(modules()))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    names = given.module or list(modules())
    alive = survivors(names, share=given.share, seed=given.seed, n_jobs=given.n_jobs)
    reasons = known_reasons(given.out)
    rows = {mutant.key: reasons.get(mutant.key, "") for mutant in alive}
    # Explained ones stay where this run did not look.
    whole = given.share == 1
    for key, reason in reasons.items():
        if not (whole and key[0] in names):
            rows.setdefault(key, reason)
    with given.out.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        table.writerows([*key, reason] for key, reason in sorted(rows.items()))
    open_ = sum(not reason for reason in rows.values())
    print(f"{len(rows)} survivors listed in {given.out}, {open_} without a reason")


if __name__ == "__main__":
    main()
