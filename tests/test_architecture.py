"""The house: which folder may import which, and only public names from outside."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "skauc"
BELOW = {  # folder: the folders that it may import beside its own
    "statistics": set(),
    "roc": {"statistics"},
    "posterior": {"statistics"},
    "leave_pair_out": {"statistics"},
    "adaptive": {"statistics", "posterior", "leave_pair_out"},
}
BELOW["intervals"] = BELOW["estimators"] = {*BELOW, "_validation"}
BELOW["model_selection"] = BELOW["intervals"] | {"intervals", "estimators"}
BELOW["displays"] = BELOW["distributed"] = BELOW["model_selection"] | {
    "model_selection"
}
BELOW["_validation"] = {"statistics"}
KNOWS_SCIKIT_LEARN = {
    "intervals",
    "estimators",
    "model_selection",
    "displays",
    "distributed",
    "_validation",
}
OPTIONAL = {
    "matplotlib",
    "pandas",
    "dask",
    "distributed",
    "pyarrow",
}  # inside functions only
STANDARD = {
    *("__future__", "collections", "contextlib", "copy", "dataclasses", "fractions"),
    *("functools", "hashlib", "html", "importlib", "inspect", "itertools", "math"),
    *("numbers", "sys", "tempfile", "threading", "typing", "warnings", "weakref"),
}
KNOWN = STANDARD | {"joblib", "numpy", "scipy", "sklearn"}
FILES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
INSIDE = [path for path in FILES if path != Path("__init__.py")]
TREES = {path: ast.parse((PACKAGE / path).read_text()) for path in FILES}


def text(path):
    return str(path)


def room(path):
    """The folder of a file, or the name of a file that stands outside of all."""
    return path.parts[0] if len(path.parts) > 1 else path.stem


def imports(path, *, nodes=None):
    """``(level, module, names)`` of every import statement of a file."""
    for node in ast.walk(TREES[path]) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, []
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [alias.name for alias in node.names]


def own_modules(path):
    """Modules of the package that a file imports, as paths of parts."""
    here = ("skauc", *path.parts[:-1])
    for level, module, names in imports(path):
        if level == 0:
            continue
        parent = here[: len(here) - level + 1]
        assert parent, f"{path} imports from outside the package"
        parts = (*parent[1:], *filter(None, module.split(".")))
        yield from [parts] if module else [(*parts, n) for n in names]


@pytest.mark.parametrize("path", INSIDE, ids=text)
def test_every_file_has_a_room(path):
    assert room(path) in BELOW


@pytest.mark.parametrize("path", INSIDE, ids=text)
def test_imports_keep_the_table(path):
    for parts in own_modules(path):
        assert parts[0] in BELOW[room(path)] | {room(path)}, (
            f"{path} may not import {'.'.join(parts)}"
        )


@pytest.mark.parametrize("folder", sorted(set(BELOW) - {"_validation"}))
def test_imports_within_a_folder_point_one_way(folder):
    graph = {
        path.stem: {p[1] for p in own_modules(path) if p[0] == folder and len(p) > 1}
        for path in INSIDE
        if room(path) == folder
    }
    done = set()
    while graph.keys() - done:
        ready = {file for file in graph.keys() - done if graph[file] <= done}
        assert ready, f"a circle among {sorted(graph.keys() - done)}"
        done |= ready


@pytest.mark.parametrize("path", INSIDE, ids=text)
def test_only_known_dependencies_and_their_public_names(path):
    for level, module, names in imports(path):
        if level:
            continue
        top, *rest = module.split(".")
        assert top in KNOWN | OPTIONAL, module
        assert top != "sklearn" or room(path) in KNOWS_SCIKIT_LEARN, module
        private = [part for part in [*rest, *names] if part.startswith("_")]
        assert not private, f"{module} {private} is private"


@pytest.mark.parametrize("path", FILES, ids=text)
def test_optional_packages_are_imported_inside_functions(path):
    for level, module, _ in imports(path, nodes=TREES[path].body):
        assert level or module.split(".")[0] not in OPTIONAL


def test_the_picture_of_leave_pair_out_is_that_of_its_imports():
    """But for what nearly every module asks."""
    folder, everywhere = Path("leave_pair_out"), {"_losses", "_objective"}
    everywhere |= {"_newton", "_pairs"}
    drawn, left = {}, set()
    picture = ast.get_docstring(TREES[folder / "__init__.py"]).split("::\n")[1]
    for line in picture.splitlines():
        from_, _, to = line.partition("←")
        left |= set(re.findall(r"\b_[a-z_]+", from_))
        for name in re.findall(r"\b_[a-z_]+", to):
            drawn[name] = left
        left = set() if to else left
    for path in FILES:
        if path.parent != folder or path.stem in everywhere | {"__init__"}:
            continue
        found = {
            node.module
            for node in ast.walk(TREES[path])
            if isinstance(node, ast.ImportFrom) and node.level == 1
        }
        assert found - everywhere == drawn.get(path.stem, set()), path.stem
