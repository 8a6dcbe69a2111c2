"""What the scripts share: their command line, and runs that resume.

    arguments = parse(__doc__, argv, folder="x")        # results/x
    results = resume("x", run, jobs, arguments)         # one result a job, in order
    write_table("fig1", rows, arguments.out)

A job is a tuple of JSON values, a result any JSON value; every finished job is appended
to a file, so that an interrupted run goes on where it stopped. Results of another
version of the package or of the script are not taken up again. Warnings of a job are
ignored: convergence, separation and distrust are the subject of the scripts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import warnings
from pathlib import Path

import numpy
import scipy
import sklearn
from joblib import Parallel, delayed
from tqdm import tqdm

from benchmarks.tools.table import RESULTS

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache"


def parse(description: str, argv=None, *, folder: str, **options) -> argparse.Namespace:
    """Command line of a script: :func:`parser`, and options by their default values."""
    command = parser(description)
    for name, value in options.items():
        command.add_argument(f"--{name}", type=type(value), default=value)
    return read(command, argv, folder)


def parser(description: str) -> argparse.ArgumentParser:
    """Options of all scripts; a script may add to them and then :func:`read`."""
    command = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = command.add_argument
    add("--fast", action="store_true", help="a small run, as in the tests")
    add("--data-dir", default=os.environ.get("SKAUC_DATA_DIR") or None)
    add("--out", type=Path, help="where csv and png go (default: results/<script>)")
    add("--n-jobs", type=int, default=None, help="worker processes (default: 1)")
    add("--fresh", action="store_true", help="forget an interrupted run")
    return command


def read(command, argv=None, folder="") -> argparse.Namespace:
    """Arguments of the command line; results go to ``results/<folder>``."""
    arguments = command.parse_args(argv)
    if arguments.out is None:
        arguments.out = (CACHE / "fast" if arguments.fast else RESULTS) / folder
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def resume(name: str, run, jobs: list[tuple], arguments) -> list:
    """``[run(*job) for job in jobs]``, in parallel, with a progress bar, resumable."""
    folder = arguments.out if arguments.fast else CACHE
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    if arguments.fresh:
        path.unlink(missing_ok=True)
    version = fingerprint()
    done = _finished(path, version)
    missing = [job for job in jobs if _key(job) not in done]
    finished = Parallel(n_jobs=arguments.n_jobs, return_as="generator_unordered")(
        delayed(_run_one)(run, job) for job in missing
    )
    bar = tqdm(total=len(jobs), initial=len(jobs) - len(missing), desc=name)
    with bar, path.open("a") as file:
        for key, result in finished:
            done[key] = json.loads(json.dumps(result))
            file.write("\n" + json.dumps([version, key, result]))  # after a torn line
            file.flush()
            bar.update()
    return [done[_key(job)] for job in jobs]


def claim(figure: str, text: str, measured: str, flags, rule: str = "") -> dict:
    """One row of a table of claims: whether what the paper says holds here.

    ``flags`` says of every cell whether it keeps the rule: all of them make a yes,
    some a partly, none a no; without any cell nothing was measured. Without a rule the
    text states it.
    """
    row = {"figure": figure, "claim": text, "measured": measured}
    return row | {"holds": holds(flags), "rule": rule}


def holds(flags) -> str:
    """Yes if every cell does, no if none, else partly; the word of a claim."""
    flags = list(flags)
    if not flags:
        return "not measured"
    return "yes" if all(flags) else "partly" if any(flags) else "no"


def fingerprint() -> str:
    """Changes with libraries, package, and the files of the benchmarks in memory."""
    import skauc  # by the runs only, so that other versions of it can be compared

    mine = [
        m for name, m in sys.modules.items() if name.startswith(("bench", "__main"))
    ]
    files = {Path(m.__file__) for m in mine if getattr(m, "__file__", None)}
    files = sorted(files - {Path(__file__)})
    files += sorted(Path(skauc.__file__).parent.rglob("*.py"))
    libraries = [numpy.__version__, scipy.__version__, sklearn.__version__]
    digest = hashlib.sha256(" ".join(libraries).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _key(job):
    return json.dumps(job)


def _run_one(run, job):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _key(job), run(*job)


def _finished(path, version):
    done = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            of, key, result = json.loads(line)
        except ValueError:  # empty, or the line that an interruption tore
            continue
        if of == version:
            done[key] = result
    return done
