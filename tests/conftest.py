import os
from functools import wraps
from pathlib import Path

# One thread for each worker: small matrices gain nothing from more, and workers that
# compete for the same cores lose a factor of three. Set before NumPy loads its BLAS.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

# The same examples in every run, a failure as it was found: shrinking takes minutes.
# --hypothesis-profile=long looks for new ones; few is for a second set of versions.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    max_examples=20,
    phases=[Phase.explicit, Phase.generate],
)
settings.register_profile("few", settings.get_profile("same"), max_examples=10)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("same")
# Hypothesis also tries constants of all loaded modules, which differ from worker to
# worker: other examples in every run.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants

SLOW = ("benchmarks", "test_cluster.py")  # whole scripts and clusters


def pytest_collection_modifyitems(items):
    """Mark the tests of slow folders and files."""
    for item in items:
        if set(SLOW) & set(item.path.parts):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def same_draws():
    """Seed the generator of scikit-learn's solvers without a random_state."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture
def count_fits(monkeypatch):
    """Return a function of classes: numbers of rows of all their fits from now on."""

    def start(*kinds):
        seen = []

        def counted(fit):
            @wraps(fit)
            def counting(self, X, y, *more, **params):
                seen.append(len(y))
                return fit(self, X, y, *more, **params)

            return counting

        for kind in kinds:
            monkeypatch.setattr(kind, "fit", counted(kind.fit))
        return seen

    return start


@pytest.fixture
def rng():
    return np.random.default_rng(20240601)


@pytest.fixture(scope="session")
def real_data():
    """Return SKAUC_DATA_DIR or ../shared/data, None if it holds no ``.npz`` set."""
    path = Path(os.environ.get("SKAUC_DATA_DIR") or "../shared/data")
    return path if any(path.glob("*.npz")) else None


@pytest.fixture
def data_dir(real_data):
    """Return the directory of real sets, or skip the test where there is none."""
    if real_data is None:
        pytest.skip("needs real data: SKAUC_DATA_DIR names no directory of .npz files")
    return real_data


@pytest.fixture(scope="session")
def fast_run(tmp_path_factory):
    """Return a function that runs a script's ``main --fast`` without real data."""

    def run(main):
        out = tmp_path_factory.mktemp("paper")
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("SKAUC_DATA_DIR", raising=False)
            return out, main(["--fast", "--out", str(out)])

    return run
