"""Results as csv, stamped with versions, CPU and commit, and as a printed table."""

from __future__ import annotations

import csv
import platform
import subprocess
from pathlib import Path

import numpy
import scipy
import sklearn

RESULTS = Path(__file__).parents[1] / "results"


def stamp() -> str:
    """One line that says what produced a result."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=RESULTS.parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return (
        f"commit {commit or 'unknown'}, Python {platform.python_version()}, numpy "
        f"{numpy.__version__}, scipy {scipy.__version__}, scikit-learn "
        f"{sklearn.__version__}, {cpu_name()}"
    )


def cpu_name() -> str:
    """Model name of the CPU where the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def write_table(name: str, rows: list[dict], directory: Path = RESULTS) -> Path:
    """Write rows to ``<directory>/<name>.csv`` and print them."""
    if not rows:
        raise ValueError(f"rows of {name} must not be empty")
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.csv"
    with path.open("w", newline="") as file:
        file.write(f"# {stamp()}\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({k: _short(v) for k, v in row.items()})
    print_table(rows)
    print(f"written: {path}")
    return path


def read_table(path: Path) -> list[dict]:
    """Rows of a file that ``write_table`` wrote, as text."""
    with path.open(newline="") as file:
        next(file)  # the stamp
        return list(csv.DictReader(file))


def write_picture(figure, path: Path, **how) -> None:
    """Save a figure; the stamp goes into the file's description."""
    figure.savefig(path, metadata={"Description": stamp()}, **how)
    print(f"written: {path}")


def print_table(rows: list[dict]) -> None:
    """Print rows as a Markdown table."""
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(str(_short(row[k])) for k in names) + " |")


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else value
