"""Every example runs, offline, and prints what it promises."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert "AUC" in capsys.readouterr().out or path.stem != EXAMPLES[0].stem
    assert list(tmp_path.glob("*.png")), "an example draws one figure"


def test_there_are_examples():
    assert EXAMPLES
