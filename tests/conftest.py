import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

# The same examples in every run, a failure as it was found: shrinking takes minutes.
# --hypothesis-profile=long looks for new ones, few is for a second set of versions.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    max_examples=100,
    phases=[Phase.explicit, Phase.generate],
)
settings.register_profile("few", settings.get_profile("same"), max_examples=30)
settings.register_profile("long", deadline=None, max_examples=5000)
settings.load_profile("same")
# Constants of whatever modules happen to be loaded would be tried too: other examples
# in every worker and every selection of tests.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


def pytest_terminal_summary(terminalreporter):
    """Say how many examples of anything at all were run."""
    examples = sum(
        dict(report.user_properties).get("examples", 0)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
    )
    if examples:
        terminalreporter.write_line(f"anything at all: {examples} examples")


@pytest.fixture
def rng():
    return np.random.default_rng(20240601)


@pytest.fixture(scope="session")
def real_data():
    """Directory of ``.npz`` sets: SKAUC_DATA_DIR, or ../shared/data; None without."""
    path = Path(os.environ.get("SKAUC_DATA_DIR") or "../shared/data")
    return path if any(path.glob("*.npz")) else None


@pytest.fixture
def data_dir(real_data):
    """The directory of real sets; a test that asks for it skips where there is none."""
    if real_data is None:
        pytest.skip("needs real data: SKAUC_DATA_DIR names no directory of .npz files")
    return real_data


@pytest.fixture(scope="session")
def fast_run(tmp_path_factory):
    """Runs a paper's ``main`` with ``--fast``, without real data: folder and result."""

    def run(main):
        out = tmp_path_factory.mktemp("paper")
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("SKAUC_DATA_DIR", raising=False)
            return out, main(["--fast", "--out", str(out)])

    return run
