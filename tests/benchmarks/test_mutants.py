"""The mutants that benchmarks/mutants.py makes, and the tests it finds for a module."""

import pytest
from mutants import files_that_test, modules, mutants

SOURCE = '''
def f(x: int = 3) -> float:
    """Return 1 + 1."""
    if x < 0 and x != 2:
        raise ValueError(f"x must be >= {0 + 1}")
    return -x + 2.0 * x
'''


def test_every_sign_and_constant_once():
    changes = [mutant.change.split(": ")[1] for mutant in mutants("m", SOURCE)]
    assert sorted(changes) == sorted(
        "3 -> 4,And -> Or,Lt -> Gt,0 -> 1,NotEq -> Eq,2 -> 3,"
        "Add -> Sub,-x -> +x,2.0 -> 2.2,Mult -> Div".split(",")
    )


def test_each_mutant_differs_in_one_place():
    made = [mutant.source for mutant in mutants("m", SOURCE)]
    assert len(set(made)) == len(made)
    assert any("return -x + 2.2 * x" in source for source in made)
    assert all(compile(source, "m", "exec") for source in made)


@pytest.mark.parametrize("name", list(modules()))
def test_every_module_finds_its_tests(name):
    files = files_that_test(modules()[name])
    assert len(files) > 1, f"{name} has no tests"
