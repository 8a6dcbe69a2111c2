"""README's programs and calls run as they stand and print what it says they print."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$(?:\n```text\n(.*?)^```$)?",
    README,
    re.DOTALL | re.MULTILINE,
)
CALLS = re.findall(r"^\|.*\| `(.*)` \|$", README, re.MULTILINE)
NUMBER = re.compile(r"\d*\.\d+")
ROUNDING = 0.006  # of printed AUCs: versions and processors differ in the last digits


@pytest.fixture(scope="module")
def session():
    """Run all blocks in order: the names that they define and what each printed."""
    matplotlib.use("Agg")
    names, printed = {}, []
    for block, _ in BLOCKS:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(block, "README.md", "exec"), names)
        printed.append(out.getvalue())
    return names, printed


def test_blocks_print_the_text_below_them(session):
    assert any(text for _, text in BLOCKS)
    for out, (_, text) in zip(session[1], BLOCKS, strict=True):
        assert NUMBER.sub("x", out) == NUMBER.sub("x", text)
        got, wanted = ([float(x) for x in NUMBER.findall(t)] for t in (out, text))
        np.testing.assert_allclose(got, wanted, atol=ROUNDING)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("call", CALLS)
def test_call_of_the_list_runs(call, session):
    assert eval(compile(call, call, "eval"), session[0]) is not None
    pyplot.close("all")


def test_length_links_and_marked_command():
    assert len(README.split()) <= 1200
    assert len(CALLS) >= 15
    for link in re.findall(r"\]\(((?!http)[^)]+)\)", README):
        assert (ROOT / link).exists(), link
    assert "<!-- test -->\n```sh\n" in README  # .ci/run reads the command there
