"""The README's Python blocks run as they stand, and print what stands beneath them."""

import re
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$(?:\n```text\n(.*?)^```$)?",
    README,
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"\d*\.\d+")
ROUNDING = 0.006  # of printed AUCs: versions and CPUs differ in the last digits


def test_the_readme_has_python_blocks_and_says_what_they_print():
    assert len(BLOCKS) == README.count("```python") >= 3
    assert sum("print(" in block for block, _ in BLOCKS) == README.count("```text")


@pytest.mark.parametrize(("block", "printed"), BLOCKS)
def test_block_runs_and_prints_what_it_says(block, printed, capsys):
    matplotlib.use("Agg")
    try:
        exec(compile(block, "README.md", "exec"), {})
    finally:
        pyplot.close("all")
    said = capsys.readouterr().out
    assert NUMBER.sub("x", said) == NUMBER.sub("x", printed)
    found, wanted = (
        [float(x) for x in NUMBER.findall(text)] for text in (said, printed)
    )
    assert found == pytest.approx(wanted, abs=ROUNDING)
