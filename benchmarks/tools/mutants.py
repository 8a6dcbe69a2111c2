"""Would a test notice? Each constant and sign is changed, one at a time.

    python -m benchmarks.tools.mutants [--module posterior] [--share 0.05] [--n-jobs 2]

The fast tests of a module's folder run on a copy of the project that has one change,
until one fails. Verdicts are written as they come (``.cache/mutants.jsonl``), so that a
run goes on where it was stopped, unless the package has changed. Writes
``results/mutants/folders.csv``, the share noticed, and ``survivors.csv``.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import pandas as pd

from benchmarks.tools.runs import parser, read, resume
from benchmarks.tools.table import write_table

PROJECT = Path(__file__).parents[2]
LONGEST = 600  # seconds of the tests of a folder
COLUMNS = ("module", "function", "line", "change")
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
PAIRS = (  # either operator becomes the other
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.Lt, ast.Gt),
    (ast.LtE, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.And, ast.Or),
)
OPERATORS = dict(PAIRS) | {new: old for old, new in PAIRS}
PACKAGE = PROJECT / "skauc"


def modules() -> dict[str, Path]:
    """Modules that compute numbers, by name without underscore."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            name = path.stem.strip("_")
            if name not in TEXTS | {"init"}:
                found[f"{folder}.{name}"] = path
    return found


def mutants(text: str) -> Iterator[tuple[str, str, str]]:
    """Function, line and change of all mutants of the text of a module."""
    lines = text.splitlines()
    for node, function, name, _ in _all_changes(ast.parse(text)):
        line = lines[node.lineno - 1].strip()
        yield function, line, f"column {node.col_offset}: {name}"


def mutated(text: str, number: int) -> str:
    """The text with the ``number``-th of its changes."""
    tree = ast.parse(text)
    *_, change = next(islice(_all_changes(tree), number, None))
    change()
    return ast.unparse(tree)


def _all_changes(tree):
    """Node, function and name of each change, and a call that makes it."""
    for node, function in _places(tree):
        for name, change in _changes(node):
            yield node, function, name, change


def _places(node, function="") -> Iterator[tuple[ast.AST, str]]:
    """Nodes with their functions, except the nodes that compute no number."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for part in child if isinstance(child, list) else [child]:
            if not isinstance(part, ast.AST) or _computes_nothing(part, node, name):
                continue
            inside = function
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                if part.name in ("__repr__", "__str__"):
                    continue
                inside = f"{function}.{part.name}".strip(".")
            if hasattr(part, "lineno"):
                yield part, inside
            yield from _places(part, inside)


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
    """Names of the changes of a node, each with a call that makes it in place."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        new = _another(node.value)
        yield f"{node.value} -> {new}", partial(setattr, node, "value", new)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "-x -> +x", partial(setattr, node, "op", ast.UAdd())
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        if (new := OPERATORS.get(type(node.op))) is not None:
            yield _arrow(node.op, new), partial(setattr, node, "op", new())
    elif isinstance(node, ast.Compare):
        for i, old in enumerate(node.ops):
            if (new := OPERATORS.get(type(old))) is not None:
                yield _arrow(old, new), partial(node.ops.__setitem__, i, new())


def _another(number):
    """Another by a tenth, whole by one at least; a tolerance a thousandfold."""
    if isinstance(number, int):
        return number + max(1, abs(number) // 10)
    new = number * (1000 if abs(number) <= TOLERANCES else 1.1) or 0.1
    return float(f"{new:.12g}")  # 1e-6, not 1.0000000000000002e-6


def _arrow(old, new):
    """An operator and the class of another."""
    return f"{type(old).__name__} -> {new.__name__}"


def noticed(module, number):
    """Whether the fast tests of the module's folder fail with this mutant."""
    path = modules()[module]
    source = mutated(path.read_text(), number)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("skauc", "tests"):
            shutil.copytree(PROJECT / name, Path(folder, name))
        shutil.copy(PROJECT / "pyproject.toml", folder)
        Path(folder, path.relative_to(PROJECT)).write_text(source)
        tests = f"tests/{module.split('.')[0]}"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", tests]
        env = os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
        how = {"cwd": folder, "env": env, "capture_output": True, "timeout": LONGEST}
        try:
            return subprocess.run(command, check=False, **how).returncode != 0
        except subprocess.TimeoutExpired:  # an endless mutant is noticed
            return True


def main(argv=None):
    """Judge a share of the mutants, the same in every run; list the survivors."""
    command = parser(__doc__)
    command.add_argument("--module", nargs="+", help="folders, or folder.module")
    command.add_argument("--share", type=float, default=0.05)
    arguments = read(command, argv, "mutants")
    chosen = {
        (name, number): (name, *mutant)
        for name, path in modules().items()
        if not arguments.module or {name, name.split(".")[0]} & {*arguments.module}
        for number, mutant in enumerate(mutants(path.read_text()))
        if random.Random(str((name, *mutant))).random() < arguments.share
    }
    table = pd.DataFrame([*chosen.values()], columns=COLUMNS)
    table["noticed"] = resume("mutants", noticed, [*chosen], arguments)
    folders = table.groupby(table["module"].str.split(".").str[0], sort=False)[
        "noticed"
    ]
    shares = folders.agg(asked="size", noticed="mean").rename_axis("folder")
    write_table("folders", shares.reset_index(), arguments.out)
    alive = table.loc[~table["noticed"], [*COLUMNS]]
    if len(alive):
        write_table("survivors", alive, arguments.out)


if __name__ == "__main__":
    main()
