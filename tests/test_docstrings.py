"""Public names: complete, documented in numpydoc's sections, with a running example."""

import ast
import importlib
import inspect
import pkgutil
import re

import numpy as np

import skauc

PUBLIC = {name: getattr(skauc, name) for name in skauc.__all__}
PUBLIC |= {name: getattr(skauc.results, name) for name in skauc.results.__all__}
CALLABLES = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) or inspect.isfunction(value)
}
FUNCTIONS = {n: f for n, f in CALLABLES.items() if inspect.isfunction(f)}
DATA = set(  # may be given by position
    """y_true y_score y_prob estimator X y n_pos n_neg n_errors confidence_level auc
    score_a score_b more_scores cv estimator_a estimator_b estimators search parameter
    simplest positive sample_weight""".split()
)
DEFAULT = re.compile(r"^ *(\w+(?:, \w+)*) : .*\bdefault=(.+)$", re.MULTILINE)
RETURNED = {n for n in skauc.results.__all__ if not hasattr(skauc, n)}
RETURNED -= {"BinormalROC", "QuadraticForm", "QuadraticROC"}  # users make them, too
PARENTS = {("tol", 1e-4), ("reg_param", 0.0)}  # documented by scikit-learn's LDA, QDA


def test_all_is_sorted_and_complete():
    public = {
        name
        for name, value in vars(skauc).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    warned = {"SampleWeightWarning", "UntrustedAUCWarning"}
    assert skauc.__all__ == sorted(public - warned)
    assert len(skauc.__all__) <= 50
    assert warned <= set(skauc.results.__all__)


def test_contents_name_all_functions_and_estimators():
    estimators = {n for n, f in CALLABLES.items() if hasattr(f, "fit")}
    makers = {n for n in FUNCTIONS if n.startswith("make_") or n.endswith("_moments")}
    named = set(re.findall(r"\w+", skauc.__doc__))
    assert (set(FUNCTIONS) | estimators) - named - makers == set()


def test_docstrings_have_all_sections_parameters_and_an_example():
    complaints = []
    for name, target in CALLABLES.items():
        doc = inspect.getdoc(target)
        parameters = inspect.signature(target).parameters
        sections = ["Parameters", "Returns", "Raises", "References", "Examples"]
        if name not in FUNCTIONS or not parameters:
            sections = ["Attributes"] if name in RETURNED else []
        missing = [s for s in sections if f"{s}\n---" not in doc]
        missing += [p for p in parameters if p not in doc]
        missing += [] if ">>>" in doc else ["example"]
        complaints += [f"{name} lacks {text}" for text in missing]
    assert not complaints


def section(target, title):
    """The text of a section of a docstring, or nothing."""
    text = re.compile(rf"^{title}\n-+\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
    return "".join(text.findall(inspect.getdoc(target)))


def test_see_also_names_two_to_four_that_exist():
    for name, target in PUBLIC.items():
        others = re.findall(r"^([\w.]+) :", section(target, "See Also"), re.MULTILINE)
        assert 2 <= len(set(others) - {name}) == len(others) <= 4, name
        for other in others:
            assert hasattr(skauc, name) or "." in other, name
            pkgutil.resolve_name(other if "." in other else f"skauc.{other}")


def test_references_are_numbered_cited_and_linked():
    for name, target in CALLABLES.items():
        references = section(target, "References")
        entries = re.findall(r"\.\. \[(\d)\] ((?:.+\n   )*.*https://.+)", references)
        numbered = (f".. [{k}] {text}" for k, (_, text) in enumerate(entries, 1))
        assert references == "\n".join(numbered), name
        assert all(f"[{k}]_" in inspect.getdoc(target) for k, _ in entries), name


def test_arguments_that_are_no_data_are_keyword_only():
    assert not [
        f"{name}: {parameter}"
        for name, target in FUNCTIONS.items()
        for parameter in inspect.signature(target).parameters.values()
        if parameter.name not in DATA and parameter.kind is not parameter.KEYWORD_ONLY
    ]


def documented():
    """Yield every function, class and method of the package."""
    for module in pkgutil.walk_packages(skauc.__path__, "skauc."):
        for value in vars(importlib.import_module(module.name)).values():
            if getattr(value, "__module__", None) == module.name:
                if inspect.isclass(value):
                    yield from filter(inspect.isfunction, vars(value).values())
                if inspect.isclass(value) or inspect.isfunction(value):
                    yield value


def written_defaults(target):
    """Yield names and defaults in a docstring, where these are literals."""
    for names, text in DEFAULT.findall(inspect.getdoc(target) or ""):
        try:
            default = {"inf": np.inf}.get(text) or ast.literal_eval(text)
        except (ValueError, SyntaxError):  # a sentence
            continue
        names = names.split(", ")
        several = isinstance(default, tuple) and len(default) == len(names)
        defaults = default if several else [default] * len(names)
        yield from zip(names, defaults, strict=True)


def test_written_defaults_are_the_defaults():
    compared = []
    for target in documented():
        for name, default in written_defaults(target):
            parameter = inspect.signature(target).parameters.get(name)
            if parameter is not None:
                where = f"{target.__qualname__}: {name}"
                compared.append((where, default, parameter.default))
    assert len(compared) > 200
    assert not [entry for entry in compared if entry[1] != entry[2]]


def test_default_numbers_are_written():
    written = PARENTS | {
        (name, default)
        for target in documented()
        for name, default in written_defaults(target)
        if type(default) in (int, float)
    }
    for target in CALLABLES.values():
        methods = vars(target).values() if inspect.isclass(target) else ()
        parts = [m for m in methods if inspect.isfunction(m) and m.__name__[0] != "_"]
        for part in (target, *parts):
            for parameter in inspect.signature(part).parameters.values():
                if type(parameter.default) in (int, float):
                    pair = parameter.name, parameter.default
                    assert pair in written, f"{part.__qualname__}: {pair}"
