"""Public names: all there, documented in numpydoc's sections, with an example."""

import inspect

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
