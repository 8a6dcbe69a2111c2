"""Would a test notice? Each constant and sign is changed, one at a time.

Usage: ``python benchmarks/mutants.py [--module posterior] [--share 0.05]``.
For each mutant the tests that run its line run until one fails (:mod:`mutants_tests`).
Verdicts are written as they come (``.cache/mutants.csv``) and not asked for twice: a
run goes on where it was stopped; ``--again`` asks the survivors without a reason once
more (``--tests FILE``: these tests only, all of them). What survives is listed in
``results/mutants.csv``; a reason written there (why the mutant is no other program) is
kept by later runs.
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
from itertools import islice
from pathlib import Path

from mutants_tests import judged

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mutants.csv"
VERDICTS = ROOT / "benchmarks" / ".cache" / "mutants.csv"
COLUMNS = ["module", "function", "line", "change", "reason"]
# Folders by what hangs on their numbers; pictures, input checks and modules that only
# say something (TEXTS) compute none.
FOLDERS = (
    "statistics posterior adaptive leave_pair_out intervals roc estimators "
    "model_selection"
).split()
TEXTS = {"checks", "numbers", "reasons", "result", "warn_caller", "warnings"}
TOLERANCES = 1e-6  # floats up to here bound a rounding: nobody could see a tenth of one
# Shapes: a wrong one raises.
SHAPES = {"axis", "ndmin", "stacklevel", "keepdims"}
RESHAPES = {"reshape", "swapaxes", "moveaxis", "expand_dims", "transpose"}
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
    """One changed place, the ``number``-th of the text of its module."""

    module: str
    function: str
    line: str
    change: str
    number: int
    lines: tuple[int, int]  # of the statement, in the module as it is

    @property
    def key(self):
        """What names it in the table, whatever stands above it in the file."""
        return self.module, self.function, self.line, self.change

    def source(self, text) -> str:
        """The text of the module with this change."""
        tree = ast.parse(text)
        next(islice(_all_changes(tree), self.number, None))
        return ast.unparse(tree)


def modules() -> dict[str, Path]:
    """Modules that compute numbers, by name without underscore."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            name = path.stem.strip("_")
            if name not in TEXTS | {"init"}:
                found[f"{folder}.{name}"] = path
    return found


def mutants(module: str, text: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    lines = text.splitlines()
    for number, (node, *place, change) in enumerate(_all_changes(ast.parse(text))):
        line, column = lines[node.lineno - 1].strip(), node.col_offset
        function, extent = place
        change = f"column {column}: {change}"
        yield Mutant(module, function, line, change, number, extent)


def _all_changes(tree):
    """Change the tree in each place, one after the other."""
    for node, function, extent in _places(tree):
        for change, undo in _changes(node):
            yield node, function, extent, change
            undo()


def _places(node, function="", extent=None) -> Iterator[tuple[ast.AST, str, tuple]]:
    """Nodes with function and lines, but for those that compute no number."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for part in child if isinstance(child, list) else [child]:
            if not isinstance(part, ast.AST) or _computes_nothing(part, node, name):
                continue
            inside, lines = function, extent
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                if part.name in ("__repr__", "__str__"):
                    continue
                inside = f"{function}.{part.name}".strip(".")
            if isinstance(part, ast.arguments) and isinstance(node, ast.FunctionDef):
                lines = node.body[0].lineno, node.end_lineno  # who runs the function
            if hasattr(part, "lineno"):
                if isinstance(part, ast.stmt) and hasattr(part, "body"):
                    lines = None  # its parts run on lines of their own
                elif lines is None:
                    lines = part.lineno, part.end_lineno
                yield part, inside, lines or (part.lineno, part.lineno)
            yield from _places(part, inside, lines)


def _computes_nothing(part, parent, field) -> bool:
    """Texts, input checks, warnings and shapes."""
    if isinstance(part, ast.Raise | ast.JoinedStr):
        return True
    if isinstance(parent, ast.If) and field == "test":
        return isinstance(parent.body[0], ast.Raise)
    if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
        return _name(part.value.func).strip("_").startswith(("check", "warn"))
    if isinstance(part, ast.keyword):
        return part.arg in SHAPES
    if isinstance(parent, ast.Call) and field == "args":
        return _name(parent.func) in RESHAPES
    if isinstance(parent, ast.Subscript) and field == "slice":
        return _name(parent.value) == "shape"
    return False


def _name(node) -> str:
    """Last word of a dotted name."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _changes(node):
    """Change the node in place, one change after the other, each with its undoing."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        old = node.value
        node.value = _another(old)
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


def _another(number):
    """Another by a tenth, whole by one at least; a tolerance a thousandfold."""
    if isinstance(number, int):
        return number + max(1, abs(number) // 10)
    new = number * (1000 if abs(number) <= TOLERANCES else 1.1) or 0.1
    return float(f"{new:.12g}")  # 1e-6, not 1.0000000000000002e-6


def _arrow(old, new):
    return f"{type(old).__name__} -> {type(new).__name__}"


def known_reasons(path=RESULTS) -> dict[tuple, str]:
    """Reasons that were written into the table before."""
    return {key: row["reason"] for key, row in _rows(path)}


def verdicts(path=VERDICTS) -> dict[tuple, list[str]]:
    """The tests that noticed a mutant, run after run; empty where none did."""
    found: dict[tuple, list[str]] = {}
    for key, row in _rows(path):
        found.setdefault(key, []).append(row["noticed_by"])
    return found


def _rows(path) -> Iterator[tuple[tuple, dict]]:
    """Rows of a table of mutants, by key; none if there is no such file."""
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                yield tuple(row[c] for c in COLUMNS[:-1]), row


def judge(chosen, tests=None, path=VERDICTS):
    """Judge mutants; each verdict is added to the table as it comes."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text(",".join([*COLUMNS[:-1], "noticed_by"]) + "\n")
    known = None if tests else lines_and_tests()
    with path.open("a", newline="") as file:
        table = csv.writer(file)

        def tell(mutant, test):
            table.writerow([*mutant.key, test])
            file.flush()
            if not test:
                print("lives:", *mutant.key, flush=True)

        judged(PACKAGE, tests or TESTS, known, chosen, modules(), tell)


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
    parser.add_argument("--module", action="append")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tests", nargs="+")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    names = [
        name
        for name in modules()
        if not given.module or {name, name.split(".")[0]} & {*given.module}
    ]
    made = {
        mutant.key: mutant
        for name in names
        for mutant in mutants(name, modules()[name].read_text())
    }
    reasons, seen = known_reasons(given.out), verdicts()
    judge(
        [
            mutant
            for key, mutant in made.items()
            if (given.again and not reasons.get(key) and not seen.get(key, ["x"])[-1])
            or (key not in seen and random_of(mutant, given.seed) < given.share)
        ],
        given.tests,
    )
    write(given.out, names, made, reasons)


def write(path, names, made, reasons):
    """The survivors as a table, the numbers of mutants on the screen."""
    seen = verdicts()
    lives = {key for key in made if not seen.get(key, ["not asked"])[-1]}
    others = {key for key in reasons if key[0] not in names}
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for key in sorted(lives | others):
            table.writerow([*key, reasons.get(key, "")])
    for name in names:
        keys = [key for key in made if key[0] == name]
        asked = [key for key in keys if key in seen]
        first = sum(not seen[key][0] for key in asked)
        alive = lives.intersection(keys)
        explained = sum(bool(reasons.get(key)) for key in alive)
        print(
            f"{name}: {len(keys)} mutants, {len(asked)} asked, {first} survived at "
            f"first, {first - len(alive)} mended, {explained} explained, "
            f"{len(alive) - explained} open"
        )


if __name__ == "__main__":
    main()
