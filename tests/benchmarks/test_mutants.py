"""The mutants that benchmarks/mutants.py makes, and how a test comes to see them."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import mutants_tests
import pytest
from mutants import mutants
from mutants_tests import transplant

SOURCE = '''
def f(x: int = 3) -> float:
    """Return 1 + 1."""
    if x > 9:
        raise ValueError(f"x must be <= {8 + 1}")
    check_number("x", x, 7.0)
    if x < 0 and x != 20:
        x = x.reshape(5, 1).shape[6]
    return -x + 2.0 * x + 1e-9
'''


def test_every_sign_and_constant_once():
    changes = [mutant.change.split(": ")[1] for mutant in mutants("m", SOURCE)]
    assert sorted(changes) == sorted(
        "3 -> 4,And -> Or,Lt -> Gt,0 -> 1,NotEq -> Eq,20 -> 22,"
        "Add -> Sub,Add -> Sub,-x -> +x,2.0 -> 2.2,Mult -> Div,1e-09 -> 1e-06".split(
            ","
        )
    )


def test_each_mutant_differs_in_one_place():
    made = [mutant.source(SOURCE) for mutant in mutants("m", SOURCE)]
    assert len(set(made)) == len(made)
    assert any("return -x + 2.2 * x" in source for source in made)
    assert all(compile(source, "m", "exec") for source in made)


def test_lines_are_those_of_the_statement():
    lines = {
        mutant.change.split(": ")[1]: mutant.lines for mutant in mutants("m", SOURCE)
    }
    assert lines["3 -> 4"] == (3, 9)  # whoever runs the function
    assert lines["Lt -> Gt"] == (7, 7)
    assert lines["2.0 -> 2.2"] == (9, 9)


MODULE = """
from dataclasses import dataclass
from functools import cached_property

SCALE = 2.0
TABLE = {"one": 1}

def f(x, power=1):
    return SCALE * x**power

@dataclass(frozen=True)
class Twice:
    x: float = 3.0

    @property
    def value(self):
        return 2 * self.x

    @cached_property
    def again(self):
        return f(self.x) + 0

def times(factor):
    def product(x):
        return factor * x + 0.5
    return product

ENTRIES = {"one": Twice(times(3))}
"""


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """The module above, and another that imported from it before it changed."""
    monkeypatch.setattr(mutants_tests, "ROOT", tmp_path)
    names = ("mutated_module", "its_user")
    texts = (MODULE, "from mutated_module import ENTRIES, SCALE, TABLE, Twice, f")
    for name, text in zip(names, texts, strict=True):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    user = importlib.import_module("its_user")
    yield tmp_path / "mutated_module.py", user
    for name in names:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("SCALE = 2.0", "SCALE = 5.0", "5.0, 1, 10.0, 3.0, 6.0, 15.0"),
        ('"one": 1', '"one": 2', "2.0, 2, 4.0, 3.0, 6.0, 6.0"),
        ("power=1", "power=2", "2.0, 1, 8.0, 3.0, 6.0, 18.0"),
        ("* x**", "+ x**", "2.0, 1, 4.0, 3.0, 6.0, 5.0"),
        ("x: float = 3.0", "x: float = 4.0", "2.0, 1, 4.0, 4.0, 8.0, 8.0"),
        ("return 2 * self", "return 3 * self", "2.0, 1, 4.0, 3.0, 9.0, 6.0"),
        ("+ 0", "+ 1", "2.0, 1, 4.0, 3.0, 6.0, 7.0"),
    ],
)
def test_whoever_imported_the_module_runs_the_changed_one(loaded, old, new, expected):
    path, user = loaded
    transplant(MODULE.replace(old, new), path)
    one = user.Twice()
    found = (user.SCALE, user.TABLE["one"], user.f(2.0), one.x, one.value, one.again)
    assert str(found) == f"({expected})"


def test_functions_inside_the_entries_of_a_registry_change_too(loaded):
    path, user = loaded
    entry = user.ENTRIES["one"]
    assert entry.x(2) == 6.5
    transplant(MODULE.replace("factor * x", "factor - x"), path)
    assert entry.x(2) == 1.5
    transplant(MODULE.replace("Twice(times(3))", "Twice(4.0)"), path)
    assert entry.x == 4.0


def test_recorded_lines_are_those_that_run(tmp_path):
    package = tmp_path / "mutated_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "def f(x):\n    if x:\n        return 1\n    return 2"
    )
    test = tmp_path / "test_it.py"
    test.write_text(
        "from mutated_package import f\n"
        "def test_one():\n    assert f(1) == 1\n"
        "def test_two():\n    assert f(0) == 2\n"
    )
    code = (
        "import json, mutants_tests as m, sys;"
        "sys.stdout = sys.stderr;"
        f"tests = [{str(test)!r}, '--rootdir', {str(tmp_path)!r}];"
        f"found = m.record({str(package)!r}, tests);"
        f"open({str(tmp_path / 'out')!r}, 'w').write(json.dumps(found))"
    )
    paths = [str(tmp_path), str(Path(mutants_tests.__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("PYTEST_ADDOPTS", None)  # options of this run, not of that one
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    lines = json.loads((tmp_path / "out").read_text())["lines"]["__init__.py"]
    names = {n: [test.split("::")[1] for test in tests] for n, tests in lines.items()}
    assert set(names["2"]) == {"test_one", "test_two"}
    assert (names["3"], names["4"]) == (["test_one"], ["test_two"])
