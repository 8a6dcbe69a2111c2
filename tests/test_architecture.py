"""The import rules of the house: down, never sideways, never up."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "skauc"
FLOORS = {
    "_cache": 0,
    "_losses": 0,
    "_moments": 0,
    "_numbers": -1,
    "_probit_law": 0,
    "_quadratic_tail": 0,
    "_ranks": 0,
    "_row_space": 0,
    "_roc_curve": 0,
    "_warnings": 0,
    "_irls": 1,
    "_limits": 0,
    "_binormal": 1,
    "_eigenbasis": 1,
    "_pair_refits": 1,
    "_quadratic_form": 1,
    "_leave_pair_out": 2,
    "_posterior": 2,
    "_quadratic_roc": 2,
    "_cortes_mohri": 5,
    "_interval_methods": 6,
    "_mixture": 3,
    "_ridge_path": 3,
    "_adaptive": 4,
    "_witness": 5,
    "_pairwise_posterior": 5,
    "_intervals": 7,
    "_compare": 7,
    "_averaged_auc": 5,
    "_scores": 6,
    "_model_difference": 7,
    "_scorers": 7,
    "_model_selection": 7,
    "_diagnose": 8,
    "_linear": 5,
    "_pairwise_curves": 5,
    "_rayleigh": 5,
    "_summary": 5,
    "_gaussian_auc": 6,
    "_lda": 6,
    "_qda": 6,
    "_logistic": 6,
    "_displays": 8,
    "__init__": 9,
}
FACES = 5  # from here up scikit-learn is known
DOORS = {"_validation", "_unwrap"}  # labels and estimators become arrays there
OPTIONAL = {"matplotlib": "_displays", "pandas": "_summary"}  # inside functions only
FILES = sorted(path.stem for path in PACKAGE.glob("*.py"))
TREES = {stem: ast.parse((PACKAGE / f"{stem}.py").read_text()) for stem in FILES}


def imported(stem):
    """Modules that a file imports: own ones by stem, others by full name."""
    own, other = set(), set()
    for node in ast.walk(TREES[stem]):
        if isinstance(node, ast.Import):
            other |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            other.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, f"{stem}.py imports from outside the package"
            own |= {node.module} if node.module else {a.name for a in node.names}
    return own, other


def test_every_file_has_a_floor():
    assert set(FILES) == set(FLOORS) | DOORS


@pytest.mark.parametrize("stem", FILES)
def test_imports_point_down(stem):
    own, _ = imported(stem)
    if stem in DOORS:
        assert not own - DOORS, f"{stem}.py is a door and stands before the floors"
        return
    for name in own - DOORS:
        assert FLOORS[name] < FLOORS[stem], f"{stem}.py may not import {name}.py"
    if FLOORS[stem] < FACES:
        assert not own & DOORS, f"{stem}.py takes clean arrays and checks nothing"


@pytest.mark.parametrize("stem", FILES)
def test_scikit_learn_stays_upstairs(stem):
    _, other = imported(stem)
    if FLOORS.get(stem, FACES) < FACES:
        assert not any(name.split(".")[0] == "sklearn" for name in other)


@pytest.mark.parametrize("stem", FILES)
def test_only_known_dependencies_and_public_modules(stem):
    _, other = imported(stem)
    for name in other:
        top, *rest = name.split(".")
        standard = {"__future__", "collections", "copy", "dataclasses", "hashlib"}
        standard |= {"fractions", "functools", "inspect", "itertools", "math"}
        standard |= {"numbers", "threading", "typing", "warnings"}
        known = standard | {"joblib", "numpy", "scipy", "sklearn"}
        assert top in known or OPTIONAL.get(top) == stem, name
        assert not any(part.startswith("_") for part in rest), f"{name} is private"


def top_level_imports(stem):
    for node in TREES[stem].body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("stem", FILES)
def test_optional_packages_are_imported_inside_functions(stem):
    assert not any(n.split(".")[0] in OPTIONAL for n in top_level_imports(stem))
