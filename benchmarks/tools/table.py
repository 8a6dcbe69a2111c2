"""Results as csv, stamped with versions, CPU and commit, and as a printed table."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import numpy
import pandas as pd
import scipy
import sklearn

RESULTS = Path(__file__).parents[1] / "results"


def stamp() -> str:
    """One line that names the versions, the CPU and the commit behind a result."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(git, cwd=RESULTS.parent, capture_output=True, check=False)
    return (
        f"commit {done.stdout.decode().strip() or 'unknown'}, "
        f"Python {platform.python_version()}, numpy {numpy.__version__}, "
        f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}, {cpu_name()}"
    )


def cpu_name() -> str:
    """Number and model of the CPUs, if the system provides them."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def write_table(name: str, rows, directory: Path = RESULTS) -> Path:
    """Write rows or a data frame to ``<directory>/<name>.csv`` and print them."""
    if not len(rows):
        raise ValueError(f"rows of {name} must not be empty")
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.csv"
    with path.open("w", newline="") as file:
        file.write(f"# {stamp()}\n")
        _written(rows).to_csv(file, index=False, lineterminator="\r\n")
    print(markdown(rows))
    print(f"written: {path}")
    return path


def markdown(rows) -> str:
    """Rows or a data frame as a Markdown table."""
    frame = _written(rows)
    lines = [frame.columns, ["---"] * frame.shape[1], *frame.to_numpy()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _written(rows):
    """Four digits of each float, nothing where there is no value."""
    frame = pd.DataFrame(rows, dtype=object)
    return frame.where(frame.notna(), "").map(
        lambda value: f"{value:.4g}" if isinstance(value, float) else value
    )
