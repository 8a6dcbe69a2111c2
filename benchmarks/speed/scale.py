"""Rows where they are: time, memory and bytes moved against the number of rows.

    python -m benchmarks.speed.scale [--fast] [--out DIR] [--largest N]

Rows of 30 features are made in the workers of a ``distributed.LocalCluster`` (two
processes of one thread), chunk by chunk, and go nowhere; a worker may hold 320 MiB, a
seventh of 10⁷ rows. ``results/scale/scale.csv`` has a row for each operation and n:

* ``seconds`` on the clock, and ``cpu``, the processor seconds of the workers (on a busy
  machine only the second is fair), both with the making of the rows, which is most of
  the operation "one column"; ``slope``, of log cpu over log n, from the n before;
* ``between``, bytes that workers fetched from each other, also for each row;
* ``peak``, the most memory that a worker held, beyond the memory it held before.

The last row has chunks of 50 rows: it shows the price of a task.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: a worker is one core

import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

import skauc
from benchmarks.tools.runs import parse
from benchmarks.tools.table import write_table

P, CHUNK, SMALL_CHUNK = 30, 50_000, 50
MEMORY = 320 * 2**20  # of a worker
SIZES = (10**5, 10**6, 10**7)
QUIET = {
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.memory.spill": False,  # rows that do not fit must show: a
    "distributed.worker.memory.pause": False,  # worker at 95 % of its memory is killed
}


def block(rows, block_id):
    """Normal rows of a chunk and, as the last column, their labels."""
    rng = np.random.default_rng([16, block_id[0]])
    both = rng.standard_normal((rows, P + 1))
    both[:, P] = both[:, P] + 0.5 * both[:, :5].sum(axis=1) > 0
    return both


def rows_in_workers(n, rows):
    """Dask arrays X, y whose chunks are made when they are requested."""
    import dask.array as da

    rows = min(rows, n // 2)
    chunks = ((rows,) * (n // rows), (P + 1,))
    meta = np.empty((0, 0))
    both = da.map_blocks(partial(block, rows), chunks=chunks, dtype=float, meta=meta)
    return both[:, :P], both[:, P] > 0


FITTED = {}  # number of rows: their model, of which the posterior is requested next


def logistic(X, y):
    """A logistic regression, kept for its posterior."""
    FITTED[len(X)] = skauc.IRLSLogisticRegression().fit(X, y)


def posterior(X, y):
    """The posterior of the AUC of the logistic regression of the same rows."""
    skauc.clear_cache()
    skauc.auc_posterior(FITTED[len(X)], X, y)


OPERATIONS = {
    "one column": lambda X, y: skauc.class_moments(X[:, 0], y),
    "class_moments": skauc.class_moments,
    "GaussianAUCClassifier": skauc.GaussianAUCClassifier().fit,
    "IRLSLogisticRegression": logistic,
    "auc_posterior": posterior,
    "auc_estimate": lambda X, y: skauc.auc_estimate(y, X[:, 0]).confidence_interval(),
}


@contextmanager
def workers(n_workers=2):
    """A client of so many processes of one thread."""
    import dask
    import distributed

    how = {"n_workers": n_workers, "threads_per_worker": 1, "memory_limit": MEMORY}
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(**how, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(partial(skauc.class_moments, np.eye(2), np.array([True, False])))
        yield client


def begin():
    """Processor time and memory of a worker, which forgets its peak."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # another system: the peak is that of the whole run
        pass
    return time.process_time(), memory("VmRSS")


def end():
    """Processor time and peak memory of a worker."""
    return time.process_time(), memory("VmHWM")


def memory(name):
    """Bytes that this process holds (VmRSS), or has held at most (VmHWM)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = [int(line.split()[1]) * 1024 for line in lines if name in line]
    return found[0] if found else np.nan


def fetched(dask_worker):
    """Bytes that others have fetched from this worker."""
    return sum(int(sent["total"]) for sent in dask_worker.transfer_outgoing_log)


def measured(client, name, n, chunk=CHUNK):
    """One row of the table."""
    X, y = rows_in_workers(n, chunk)
    sent, before = sum(client.run(fetched).values()), client.run(begin)
    start = time.perf_counter()
    OPERATIONS[name](X, y)
    clock, after = time.perf_counter() - start, client.run(end)
    moved = sum(client.run(fetched).values()) - sent
    cpu, peak = np.transpose([np.subtract(after[w], before[w]) for w in after])
    row = {"operation": name, "n": n, "chunks": len(X.chunks[0]), "seconds": clock}
    row |= {"cpu": cpu.sum(), "between": moved, "bytes a row": moved / n}
    return row | {"peak MB": peak.max() / 1e6}


def with_slopes(rows):
    """Slope of log cpu over log n from the next smaller n of the same operation."""
    last = {}
    for row in rows:
        n, cpu = last.get(row["operation"], (row["n"], np.nan))
        grown = np.log(row["n"] / n)
        slope = np.log(row["cpu"] / cpu) / grown if grown > 0 else np.nan
        last[row["operation"]] = row["n"], row["cpu"]
        yield {**row, "slope": float(slope)}


def main(argv=None):
    """All operations, all sizes; then a thousand small chunks."""
    arguments = parse(__doc__, argv, folder="scale", largest=float(SIZES[-1]))
    sizes = [n for n in SIZES if n <= arguments.largest]
    if arguments.fast:
        sizes = [20_000, 40_000]
    with workers() as client:
        rows = [measured(client, name, n) for n in sizes for name in OPERATIONS]
        rows.append(measured(client, "class_moments", sizes[0], SMALL_CHUNK))
    write_table("scale", list(with_slopes(rows)), arguments.out)


if __name__ == "__main__":
    main()
