"""The documentation's pages: programs run, calls exist, nothing public is forgotten."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc

EXAMPLES = Path(__file__).parents[1] / "examples"
PAGES = sorted([*EXAMPLES.glob("*.rst"), *EXAMPLES.glob("guide/*.rst")])
PROGRAMS = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]
MIGRATION = (EXAMPLES / "coming_from.rst").read_text(encoding="utf-8")
CALLS = re.findall(r"^     - ``(.*)``$", MIGRATION, re.MULTILINE)
CALLS = list(dict.fromkeys(part for row in CALLS for part in row.split("``, ``")))
COSTLY = re.compile("profile|n_resamples|bayesian_val_score")
MARKED = [
    pytest.param(call, marks=pytest.mark.slow if COSTLY.search(call) else ())
    for call in CALLS
]
SEES_NAMES = {"skauc", "model", "firth", "GridSearchCV"}


def load(name):
    """Import a module of the folder of examples, which is no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site_pages = load("site_pages")


@pytest.mark.slow
@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.stem)
def test_programs_of_a_page_run(page):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert done.attempted > 5
    assert not done.failed


@pytest.fixture(scope="module")
def names():
    """Define the names that the page of calls uses."""
    matplotlib.use("Agg")
    data, benign = load_breast_cancer(return_X_y=True)
    rows = slice(0, 160)
    y, a, b, c = 1 - benign[rows], *data[rows, :3].T
    X = data[rows, :2] / data[rows, :2].std(axis=0)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    iris, g = load_iris(return_X_y=True)
    model = skauc.IRLSLogisticRegression().fit(X, y)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    P = pipe.fit(iris[:, :2], g).predict_proba(iris[:, :2])
    return {
        **{"skauc": skauc, "np": np, "GridSearchCV": GridSearchCV, "pipe": pipe},
        **{"y": y, "a": a, "b": b, "c": c, "X": X, "w": np.ones(len(y)), "g": g},
        **{"y2": 1 - benign[200:300], "b2": data[200:300, 1], "model": model, "P": P},
        "patient": np.arange(len(y)) // 2,
        "p": model.predict_proba(X)[:, 1],
        "L": [[0, 1, -1]],
        "grid": {"logisticregression__C": [0.1, 1.0]},
        "firth": skauc.IRLSLogisticRegression(penalty="firth").fit(X, y),
    }


@pytest.mark.parametrize("call", MARKED)
def test_call_that_replaces_another_package_runs(call, names):
    first = re.match(r"\w+", call)[0]
    assert first in SEES_NAMES
    known = dict(names)
    if call == "skauc.IRLSLogisticRegression().fit(X, g)":
        known["X"] = load_iris().data[:, 1:2]
    assert eval(compile(call, call, "eval"), known) is not None
    pyplot.close("all")


def test_many_calls_are_compared():
    assert len(CALLS) > 50


def test_every_public_name_has_one_place_in_the_contents():
    placed = [name for group in site_pages.contents().values() for name in group]
    assert sorted(placed) == site_pages.public_names()
    assert set(skauc.__all__) <= set(placed)


def test_what_is_called_stands_under_its_task():
    left = site_pages.contents()[site_pages.RETURNED]
    assert all(inspect.isclass(site_pages.public(name)) for name in left)
    assert site_pages.contents()["Compare"][0] == "compare_auc"


def test_fragments_that_pages_include_are_made():
    made = {f"generated/tables/{name}.txt" for name in site_pages.result_tables()}
    made |= {"generated/changes.txt", "generated/bibtex.txt"}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"\.\. include:: (\S+)", text)) == made
    assert "first release" in site_pages.changes()
    for room in ("statistics", "model_selection", "displays"):
        assert f">{room}</text>" in site_pages.house()


def test_links_without_an_end_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a class="x" href="b.html#here">1</a><a href="#top">2</a>'
        '<a href="b.html#gone">3</a><a href="c.html">4</a><a href="https://x.y">5</a>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="here"></p>', encoding="utf-8")
    broken = site_pages.broken_links(tmp_path)
    assert sorted(broken) == ["a.html: b.html#gone", "a.html: c.html"]
