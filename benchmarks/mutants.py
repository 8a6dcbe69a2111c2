"""Would a test notice? Each constant and sign is changed, one at a time.

Usage: ``python benchmarks/mutants.py [--module posterior] [--share 0.05]``.
For each mutant the tests that belong to its module run until one fails. What survives
is listed in ``results/mutants.csv``; a reason written there (why the mutant is no
other program) is kept by later runs.

The tests of a module are found by names: its own doctests, ``test_<module>.py``, then
the tests that import it or a public name that it defines; where there are none, those
of the modules that import it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from joblib import Parallel, delayed
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mutants.csv"
COLUMNS = ["module", "function", "line", "change", "reason"]
NO_NUMBERS = {"__init__", "validation", "displays", "style"}  # by name or folder
NO_VALUES = {"test_anything", "test_docstrings"}  # name all, expect no value of any
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
PARTS = ["pyproject.toml", "README.md", "skauc", "tests", "benchmarks", "examples"]


@dataclass(frozen=True)
class Mutant:
    """One changed place; ``source`` is the whole changed module."""

    module: str
    function: str
    line: str
    change: str
    source: str

    @property
    def key(self):
        """What names it in the table, whatever stands above it in the file."""
        return self.module, self.function, self.line, self.change


def modules() -> dict[str, Path]:
    """Modules that compute numbers, by name without underscore."""
    package = ROOT / "skauc"
    found = {}
    for path in sorted(package.rglob("*.py")):
        words = [part.strip("_") for part in path.relative_to(package).parts[:-1]]
        if not NO_NUMBERS & {path.stem, path.stem.strip("_"), *words}:
            found[".".join([*words, path.stem.strip("_")])] = path
    return found


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse(source)
    lines = source.splitlines()
    for node, function in _places(tree):
        for change, undo in _changes(node):
            yield Mutant(
                module,
                function,
                lines[node.lineno - 1].strip(),
                f"column {node.col_offset}: {change}",
                ast.unparse(tree),
            )
            undo()


def _places(node, function="") -> Iterator[tuple[ast.AST, str]]:
    """Nodes with their function; texts of errors, types and ``__repr__`` left out."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for part in child if isinstance(child, list) else [child]:
            if not isinstance(part, ast.AST) or isinstance(
                part, ast.Raise | ast.JoinedStr
            ):
                continue
            inside = function
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                if part.name in ("__repr__", "__str__"):
                    continue
                inside = f"{function}.{part.name}".strip(".")
            if hasattr(part, "lineno"):
                yield part, inside
            yield from _places(part, inside)


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


def files_that_test(path: Path) -> list[str]:
    """Test files of a module, the nearest first, relative to the root."""
    stem = path.stem
    public = _public_names(path)
    near, far = [], []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        text = test.read_text()
        if test.stem in NO_VALUES:
            continue
        if test.stem in (f"test{stem}", f"test_{stem}"):
            near.insert(0, test)
        elif re.search(rf"skauc[.\w]*(\.| import .*\b){stem}\b", text):
            near.append(test)
        elif any(re.search(rf"\b{name}\b", text) for name in public):
            far.append(test)
    files = [str(file.relative_to(ROOT)) for file in (path, *near, *far)]
    if len(files) == 1:
        word = rf"from \S*\.{stem} import|^from \.+ import .*\b{stem}\b"
        for other in modules().values():
            if re.search(word, other.read_text(), re.MULTILINE):
                files += files_that_test(other)[1:]
    return list(dict.fromkeys(files))


def _public_names(path):
    tree = ast.parse((ROOT / "skauc" / "__init__.py").read_text())
    return {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        if node.module.split(".")[-1] == path.stem
        for alias in node.names
    }


class Copies:
    """Copies of the project to break, one for each worker."""

    def __init__(self, folder, n):
        self._free = SimpleQueue()
        for i in range(n):
            for part in PARTS:
                source, target = ROOT / part, Path(folder) / str(i) / part
                if source.is_dir():
                    ignore = shutil.ignore_patterns("__pycache__", "results", ".cache")
                    shutil.copytree(source, target, ignore=ignore)
                elif source.exists():
                    target.parent.mkdir(exist_ok=True)
                    shutil.copy(source, target)
            self._free.put(Path(folder) / str(i))

    def survives(self, path, source, tests, seconds=None) -> bool:
        """Whether the tests pass with this source; endless is noticed."""
        copy_ = self._free.get()
        changed = copy_ / path.relative_to(ROOT)
        original = changed.read_text()
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            changed.write_text(source)
            done = subprocess.run(
                [*command, *tests],
                cwd=copy_,
                env=environment,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
            return done.returncode == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            changed.write_text(original)
            self._free.put(copy_)


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
    known, alive = modules(), []
    with tempfile.TemporaryDirectory() as folder:
        copies = Copies(folder, n_jobs)
        for name in names:
            path, tests = known[name], files_that_test(known[name])
            source = path.read_text()
            everything = list(mutants(name, source))
            chosen = [m for m in everything if random_of(m, seed) < share]
            start = time.perf_counter()
            if not copies.survives(path, source, tests):
                raise RuntimeError(f"the tests of {name} fail as they are: {tests}")
            limit = 60 + 5 * n_jobs * (time.perf_counter() - start)
            passed = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(copies.survives)(path, mutant.source, tests, limit)
                for mutant in tqdm(chosen, desc=name)
            )
            here = [m for m, lives in zip(chosen, passed, strict=True) if lives]
            print(f"{name}: {len(here)} of {len(chosen)} survive ({len(everything)})")
            alive += here
    return alive


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
