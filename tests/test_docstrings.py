"""Public names: all there, documented in numpydoc's sections, with an example."""

import ast
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import skauc

CALLABLES = [
    name
    for name in skauc.__all__
    if inspect.isclass(getattr(skauc, name)) or inspect.isfunction(getattr(skauc, name))
]


def test_all_is_sorted_and_complete():
    assert skauc.__all__ == sorted(skauc.__all__)
    public = {
        name
        for name, value in vars(skauc).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(skauc.__all__)


@pytest.mark.parametrize("name", CALLABLES)
def test_docstring_has_an_example_that_runs(name):
    assert ">>>" in inspect.getdoc(getattr(skauc, name))


@pytest.mark.parametrize("name", CALLABLES)
def test_docstring_names_every_parameter(name):
    target = getattr(skauc, name)
    doc = inspect.getdoc(target)
    for parameter in inspect.signature(target).parameters:
        assert parameter in doc, f"{name} does not document {parameter}"


@pytest.mark.parametrize("name", CALLABLES)
def test_functions_document_returns_raises_and_source(name):
    target = getattr(skauc, name)
    if inspect.isfunction(target) and inspect.signature(target).parameters:
        doc = inspect.getdoc(target)
        for section in ("Parameters", "Returns", "Raises", "References", "Examples"):
            assert f"{section}\n---" in doc, f"{name} has no section {section}"


@pytest.mark.parametrize("name", CALLABLES)
def test_data_first_then_keywords_only(name):
    target = getattr(skauc, name)
    if not inspect.isfunction(target) or name == "class_moments":
        return
    data = {"y_true", "y_score", "y_prob", "estimator", "X", "y", "w"}
    data |= {"n_pos", "n_neg", "n_errors", "confidence_level"}
    data |= {"auc", "score_a", "score_b", "more_scores", "cv"}
    data |= {"estimator_a", "estimator_b", "estimators", "search"}
    data |= {"parameter", "simplest"}
    for parameter in inspect.signature(target).parameters.values():
        if parameter.name not in data:
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter


def documented():
    """Every function, class and method of the package with its docstring."""
    for module in pkgutil.walk_packages(skauc.__path__, "skauc."):
        for value in vars(importlib.import_module(module.name)).values():
            if getattr(value, "__module__", None) != module.name:
                continue
            if inspect.isclass(value):
                yield from filter(inspect.isfunction, vars(value).values())
            if inspect.isclass(value) or inspect.isfunction(value):
                yield value


DEFAULT = re.compile(r"^ *(\w+(?:, \w+)*) : .*\bdefault=(.+)$", re.MULTILINE)


def said_defaults(target):
    """Names and defaults in a docstring, where these are numbers or other literals."""
    for names, text in DEFAULT.findall(inspect.getdoc(target) or ""):
        try:
            said = {"inf": np.inf}.get(text) or ast.literal_eval(text)
        except (ValueError, SyntaxError):  # a sentence
            continue
        names = names.split(", ")
        several = isinstance(said, tuple) and len(said) == len(names)
        yield from zip(names, said if several else [said] * len(names), strict=True)


def test_documented_defaults_are_the_defaults():
    compared = 0
    for target in documented():
        for name, said in said_defaults(target):
            signature = inspect.signature(target).parameters
            if name in signature:
                where = f"{target.__qualname__}: {name}"
                assert signature[name].default == said, where
                compared += 1
    assert compared > 300


PARENTS = {("tol", 1e-4), ("reg_param", 0.0)}  # of LDA and QDA


def test_numbers_that_are_defaults_are_documented():
    """Some where another function is ("as in"); the parents' defaults are theirs."""
    said = PARENTS | {
        (name, default)
        for target in documented()
        for name, default in said_defaults(target)
        if type(default) in (int, float)
    }
    for name in CALLABLES:
        target = getattr(skauc, name)
        methods = vars(target).values() if inspect.isclass(target) else ()
        parts = [m for m in methods if inspect.isfunction(m) and m.__name__[0] != "_"]
        for part in (target, *parts):
            for parameter in inspect.signature(part).parameters.values():
                if type(parameter.default) in (int, float):
                    pair = parameter.name, parameter.default
                    assert pair in said, f"{part.__qualname__}: {pair}"
