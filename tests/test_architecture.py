"""The plan of the package: who imports whom, how large each folder and file may be."""

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skauc"
CODE_LINES = 12_900  # of the package, without docstrings, comments and blank lines
FILE_LINES, FUNCTION_LINES = 400, 50  # code lines
FILES, FILES_IN_FOLDER = 120, 20
KERNEL_MODULES = 10  # private modules that tests may import

BELOW = {  # folder: the folders that it may import in addition to its own
    "statistics": set(),
    "roc": {"statistics"},
    "posterior": {"statistics"},
    "leave_pair_out": {"statistics"},
    "adaptive": {"statistics", "posterior", "leave_pair_out"},
}
BELOW["intervals"] = BELOW["estimators"] = {*BELOW, "_validation"}
READING = "model_selection/reading"
BELOW[READING] = {"statistics", "leave_pair_out", "estimators", "_validation"}
BELOW["model_selection"] = {*BELOW, "_validation"}
BELOW["displays"] = BELOW["distributed"] = {*BELOW, "_validation"}
BELOW["_validation"] = {"statistics"}
KNOWS_SCIKIT_LEARN = {"intervals", "estimators", "model_selection", "displays"}
KNOWS_SCIKIT_LEARN |= {"distributed", "_validation", READING}
# Optional packages are imported inside functions only.
OPTIONAL = {"matplotlib", "pandas", "dask", "distributed", "pyarrow", "tqdm"}
STANDARD = {
    *("__future__", "collections", "contextlib", "copy", "dataclasses", "fractions"),
    *("functools", "hashlib", "html", "importlib", "inspect", "itertools", "math"),
    *("logging", "numbers", "operator", "os", "sys", "tempfile", "threading", "time"),
    *("types", "typing"),
    *("warnings", "weakref", "abc", "enum", "collections.abc"),
}
KNOWN = STANDARD | OPTIONAL | {"joblib", "numpy", "scipy", "sklearn"}

SOURCES = {
    path.relative_to(PACKAGE): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {path: ast.parse(source) for path, source in SOURCES.items()}
INSIDE = [path for path in SOURCES if path.stem not in ("__init__", "results")]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def folder(path):
    """Return the folder of a file, or the name of a file that is in none."""
    return path.parent.as_posix() if len(path.parts) > 1 else path.stem


def folder_of(parts):
    """Return the folder of an imported module, given by the parts of its name."""
    nested = "/".join(parts[:2])
    return nested if nested in BELOW else parts[0]


def imports(tree):
    """Yield ``(level, module, names)`` of every import statement below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, []
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [alias.name for alias in node.names]


def own_modules(path):
    """Yield the modules of the package that a file imports, as tuples of parts."""
    here = ("skauc", *path.parts[:-1])
    for level, module, names in imports(TREES[path]):
        if level:
            parent = here[: len(here) - level + 1]
            assert parent, f"{path} imports from outside the package"
            parts = (*parent[1:], *filter(None, module.split(".")))
            yield from [parts] if module else [(*parts, name) for name in names]


@cache
def code_lines(path):
    """Return the set of lines with code: no docstring, comment or blank line."""
    skip = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    skip |= {tokenize.ENDMARKER, tokenize.COMMENT}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(SOURCES[path]).readline):
        if token.type not in skip:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(TREES[path]):
        documented = isinstance(node, ast.Module | ast.ClassDef | FUNCTIONS)
        if documented and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def test_imports_follow_the_table():
    wrong = [
        f"{path} may not import {'.'.join(parts)}"
        for path in INSIDE
        for parts in own_modules(path)
        if folder_of(parts) not in BELOW[folder(path)] | {folder(path)}
    ]
    assert not wrong


@pytest.mark.parametrize("name", sorted(set(BELOW) - {"_validation"}))
def test_imports_within_a_folder_point_one_way(name):
    depth = name.count("/") + 1
    graph = {
        path.stem: {
            p[depth]
            for p in own_modules(path)
            if folder_of(p) == name and len(p) > depth
        }
        for path in INSIDE
        if folder(path) == name
    }
    done = set()
    while graph.keys() - done:
        ready = {file for file in graph.keys() - done if graph[file] <= done}
        assert ready, f"a circle among {sorted(graph.keys() - done)}"
        done |= ready


def test_other_packages_are_declared_and_used_by_their_public_names():
    wrong = []
    for path in INSIDE:
        for level, module, names in imports(TREES[path]):
            top, *rest = module.split(".")
            if level:
                continue
            if top not in KNOWN or any(part[:1] == "_" for part in [*rest, *names]):
                wrong.append(f"{path}: {module} {names}")
            if top == "sklearn" and folder(path) not in KNOWS_SCIKIT_LEARN:
                wrong.append(f"{path} may not know scikit-learn")
    assert not wrong


def test_optional_packages_are_imported_inside_functions():
    for path, tree in TREES.items():
        top = ast.Module([n for n in tree.body if isinstance(n, ast.stmt)], [])
        top.body = [n for n in top.body if not isinstance(n, FUNCTIONS | ast.ClassDef)]
        for level, module, _ in imports(top):
            assert level or module.split(".")[0] not in OPTIONAL, f"{path}: {module}"


def test_the_package_keeps_its_size():
    assert sum(len(code_lines(path)) for path in SOURCES) <= CODE_LINES


def test_number_of_files():
    per_folder = Counter(path.parent for path in SOURCES)
    assert len(SOURCES) <= FILES
    assert max(per_folder.values()) <= FILES_IN_FOLDER, per_folder.most_common(1)


def test_integers_have_64_bits_on_every_system():
    for path, text in SOURCES.items():  # NumPy 1.26 takes 32 on Windows
        assert not re.search(r"astype\(int\)|dtype=int\b|np\.int_\b", text), path


def test_files_are_short():
    lengths = {str(path): len(code_lines(path)) for path in SOURCES}
    assert {path: n for path, n in lengths.items() if n > FILE_LINES} == {}


def test_functions_are_short():
    lengths = {
        f"{path}: {node.name}": len(
            code_lines(path) & set(range(node.lineno, node.end_lineno + 1))
        )
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
    }
    assert {name: n for name, n in lengths.items() if n > FUNCTION_LINES} == {}


def test_tests_import_few_private_modules():
    private = Counter()
    for path in (ROOT / "tests").rglob("*.py"):
        for _, module, names in imports(ast.parse(path.read_text(encoding="utf-8"))):
            top, *rest = module.split(".")
            if top == "skauc":
                parts = [*rest, *names]
                hidden = [i for i, part in enumerate(parts) if part[:1] == "_"]
                if hidden:
                    end = min(hidden[0] + 1, len(parts))
                    private[".".join(parts[:end])] += 1
    assert len(private) <= KERNEL_MODULES, sorted(private)


def test_filters_of_warnings_are_changed_in_worker_processes_only():
    """All threads of a process share them."""
    changing = {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}
    names = {
        str(path)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if {getattr(node, key, None) for key in ("id", "attr", "name")} & changing
    }
    assert names == {"model_selection/reading/_estimators.py"}
