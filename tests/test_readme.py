"""Every Python block of the README runs as it stands, on its own."""

import re
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_readme_has_python_blocks():
    assert len(BLOCKS) == README.count("```python") >= 3


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[-1])
def test_block_runs(block):
    matplotlib.use("Agg")
    try:
        exec(compile(block, "README.md", "exec"), {})
    finally:
        pyplot.close("all")
