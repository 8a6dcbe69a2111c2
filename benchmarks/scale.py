"""Rows where they are: time, memory and bytes moved against the number of rows.

    python benchmarks/scale.py [--fast] [--out DIR] [--largest N] [--peers]

Rows of 30 features are made in the workers of a ``distributed.LocalCluster`` (two
processes of one thread), chunk by chunk, and go nowhere; the workers may hold 480 MB
each, a tenth of 2·10⁷ rows. ``scale.csv`` has a row for each operation and n:

* ``seconds`` on the clock, and ``cpu``, the processor seconds of the workers (on a busy
  machine only the second is fair), both with the making of the rows, which is the
  operation "one column" less next to nothing; ``scheduler``, the processor seconds of
  the process that hands out the tasks;
* ``passes`` over the rows;
* ``between``, bytes that workers fetched from each other, ``home``, bytes of results
  that came home, and their share of the bytes of the rows;
* ``peak``, the most memory that a worker held, beyond what it held before;
* ``slope``, of log cpu over log n, between this n and the one before.

``scale.png`` shows seconds and bytes against n (``--picture`` draws it from the csv,
and measures nothing).

The last row has chunks of 50 rows: nothing but tasks, what each of them costs.

``scale_workers.csv`` has one worker against two, ``scale_peers.csv`` (``--peers``: only
this) one process against scikit-learn: processor seconds of rows that are in memory,
the median of three.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: a worker is one core

import pickle
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from paper_runs import parser, read
from results_table import read_table, write_picture, write_table
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from speed_clock import seconds

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    RowBlocks,
    auc_estimate,
    auc_posterior,
    class_moments,
    clear_cache,
)
from skauc.distributed import DaskBlocks

P = 30
CHUNK = 50_000  # rows, 12 MB: a worker holds a few
SMALL_CHUNK = 50
MEMORY = 480 * 10**6  # of a worker: a tenth of 2·10⁷ rows
SIZES = (10**5, 10**6, 10**7, 10**8)
QUIET = {
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.memory.spill": False,  # what does not fit must show
}


def block(rows, block_id):
    """Normal rows of a chunk and, as the last column, their labels."""
    rng = np.random.default_rng([16, block_id[0]])
    both = rng.standard_normal((rows, P + 1))
    both[:, P] = both[:, P] + 0.5 * both[:, :5].sum(axis=1) > 0
    return both


def rows_in_workers(n, rows=CHUNK):
    """Dask arrays X, y whose chunks are made when they are asked for."""
    import dask.array as da

    rows = min(rows, n // 2)
    both = da.map_blocks(
        partial(block, rows),
        chunks=((rows,) * (n // rows), (P + 1,)),
        dtype=float,
        meta=np.empty((0, 0)),
    )
    return both[:, :P], both[:, P] > 0


def covariance(X, y):
    """Dask's own covariance of all rows."""
    import dask.array as da

    return da.cov(X, rowvar=False).compute()


FITTED = {}  # rows and the model of them: its posterior is asked next


def logistic(X, y):
    """A logistic regression, kept for its posterior."""
    FITTED.clear()
    FITTED[len(X)] = IRLSLogisticRegression().fit(X, y)


def posterior(X, y):
    """The posterior of the AUC of the logistic regression of the same rows."""
    clear_cache()
    auc_posterior(FITTED[len(X)], X, y)


OPERATIONS = {
    "one column": lambda X, y: class_moments(X[:, 0], y),
    "class_moments": class_moments,
    "GaussianAUCClassifier": GaussianAUCClassifier().fit,
    'GaussianAUCClassifier(shrinkage="auto")': GaussianAUCClassifier(
        shrinkage="auto"
    ).fit,
    "LinearDiscriminantROC": LinearDiscriminantROC().fit,
    "IRLSLogisticRegression": logistic,
    "auc_posterior": posterior,
    "auc_estimate": lambda X, y: auc_estimate(y, X[:, 0]).confidence_interval(),
    "dask.array.cov": covariance,
}


LARGEST = {  # rows; beyond: the same again, or, for Dask's covariance, no answer, as
    "dask.array.cov": 10**6,  # its chunks wait for each other in two full workers
    "one column": 10**7,
    "LinearDiscriminantROC": 10**7,
    "GaussianAUCClassifier": 10**7,
    "IRLSLogisticRegression": 10**7,
    "auc_posterior": 10**7,
    "auc_estimate": 10**7,
    'GaussianAUCClassifier(shrinkage="auto")': 10**7,
}


@contextmanager
def workers(n_workers):
    """A client of so many processes of one thread."""
    import dask
    import distributed

    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY,
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(partial(class_moments, np.eye(2), np.array([True, False])))
        yield client


def begin():
    """In a worker: note its processor time and memory, forget its peak."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # another system: the peak is that of the whole run
        pass
    return time.process_time(), memory("VmRSS")


def end():
    """In a worker: the same, with the peak since then."""
    return time.process_time(), memory("VmHWM")


def memory(name):
    """Bytes that this process holds (VmRSS), or has held at most (VmHWM)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return np.nan
    lines = [line for line in status.read_text().splitlines() if name in line]
    return int(lines[0].split()[1]) * 1024


def fetched(dask_worker):
    """Bytes that others have fetched from this worker."""
    return sum(int(sent["total"]) for sent in dask_worker.transfer_outgoing_log)


@contextmanager
def results_counted():
    """Count passes over the blocks and bytes of their results."""
    count = {"passes": 0, "home": 0}
    names = "map", "total", "exchange", "look_up"
    originals = {name: getattr(DaskBlocks, name) for name in names}

    def counting(original):
        def call(self, *given, **how):
            found = original(self, *given, **how)
            count["passes"] += 1
            count["home"] += len(pickle.dumps(found))
            return found

        return call

    try:
        for name, original in originals.items():
            setattr(DaskBlocks, name, counting(original))
        yield count
    finally:
        for name, original in originals.items():
            setattr(DaskBlocks, name, original)


def measured(client, name, n, chunk=CHUNK):
    """One row of the table."""
    X, y = rows_in_workers(n, chunk)
    sent = sum(client.run(fetched).values())
    before = client.run(begin)
    start, scheduler = time.perf_counter(), time.process_time()
    with results_counted() as count:
        OPERATIONS[name](X, y)
    clock = time.perf_counter() - start
    scheduler = time.process_time() - scheduler
    after = client.run(end)
    cpu = [after[worker][0] - before[worker][0] for worker in after]
    moved = sum(client.run(fetched).values()) - sent
    peak = max(after[worker][1] - before[worker][1] for worker in after)
    row = {
        "operation": name,
        "n": n,
        "chunks": len(X.chunks[0]),
        "workers": len(after),
        "seconds": clock,
        "cpu": sum(cpu),
        "busiest": max(cpu),
        "scheduler": scheduler,
        "passes": count["passes"],
        "between": moved,
        "home": count["home"],
        "share": (moved + count["home"]) / (8 * n * P),
        "peak MB": peak / 1e6,
        "held MB": max(after[worker][1] for worker in after) / 1e6,
        "load": os.getloadavg()[0],
    }
    print(row, flush=True)
    return row


def with_slopes(rows):
    """Slope of log cpu over log n from the next smaller n of the same operation."""
    last = {}
    for row in rows:
        n, cpu = last.get(row["operation"], (np.nan, np.nan))
        grown = row["n"] > n
        slope = np.log(row["cpu"] / cpu) / np.log(row["n"] / n) if grown else np.nan
        last[row["operation"]] = row["n"], row["cpu"]
        yield {**row, "slope": float(slope)}


def growth(sizes):
    """All operations, all sizes, two workers; then a thousand small chunks."""
    with workers(2) as client:
        found = [
            measured(client, name, n)
            for n in sizes
            for name in OPERATIONS
            if n <= LARGEST.get(name, n)
        ]
        return [*found, measured(client, "class_moments", sizes[0], chunk=SMALL_CHUNK)]


def one_against_two(n, two, names=("class_moments", "LinearDiscriminantROC")):
    """What a second worker saves: on the clock, and if each had a core of its own."""
    with workers(1) as client:
        one = {name: measured(client, name, n) for name in names}
    for name in names:
        row = next(r for r in two if (r["operation"], r["n"]) == (name, n))
        yield {
            "operation": name,
            "n": n,
            "seconds, one": one[name]["seconds"],
            "seconds, two": row["seconds"],
            "ratio": one[name]["seconds"] / row["seconds"],
            "cpu, one": one[name]["cpu"],
            "cpu, busiest of two": row["busiest"],
            "ratio of cpu": one[name]["cpu"] / row["busiest"],
            "load": max(one[name]["load"], row["load"]),
        }


def peers(n, repeats):
    """One process, rows in memory: blocks against all rows at once."""
    both = np.concatenate([block(n // 4, (k, 0)) for k in range(4)])
    X, y = np.ascontiguousarray(both[:, :P]), both[:, P] > 0
    cases = {
        "LinearDiscriminantROC": (
            LinearDiscriminantROC(solver="lsqr").fit,
            LinearDiscriminantAnalysis(solver="lsqr").fit,
            "LinearDiscriminantAnalysis(solver='lsqr')",
        ),
        "LinearDiscriminantROC, svd": (
            LinearDiscriminantROC().fit,
            LinearDiscriminantAnalysis().fit,
            "LinearDiscriminantAnalysis()",
        ),
        "GaussianAUCClassifier": (
            GaussianAUCClassifier().fit,
            LinearDiscriminantAnalysis(solver="lsqr").fit,
            "LinearDiscriminantAnalysis(solver='lsqr')",
        ),
        "class_moments": (
            class_moments,
            lambda X, y: (np.cov(X[y].T), np.cov(X[~y].T)),
            "numpy.cov of each class",
        ),
    }
    for name, (ours, theirs, peer) in cases.items():
        blocks = RowBlocks.from_arrays(X, y)
        calls = partial(ours, blocks), partial(ours, X, y), partial(theirs, X, y)
        yield compared(name, n, peer, calls, repeats)


def compared(name, n, peer, calls, repeats):
    """A row of the table: ours in blocks, ours on the array, theirs."""
    rounds = [seconds(*calls, repeats=1) for _ in range(repeats)]
    blocks, array, theirs = np.median(rounds, axis=0).tolist()
    return {
        "operation": name,
        "n": n,
        "cpu, blocks": blocks,
        "cpu, array": array,
        "peer": peer,
        "cpu, peer": theirs,
        "blocks / peer": blocks / theirs,
    }


def draw(rows, path):
    """Processor seconds and bytes that moved against n, log-log; rows as text."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    found = {}
    for row in rows[:-1]:  # the last has small chunks
        found.setdefault(row["operation"], []).append(row)
    figure = Figure(figsize=(12, 5), layout="constrained")
    time, moved = figure.subplots(1, 2)
    for k, (name, points) in enumerate(found.items()):
        n = [float(row["n"]) for row in points]
        how = {"marker": ".", "color": colormaps["tab10"](k), "label": name}
        time.loglog(n, [float(row["cpu"]) for row in points], **how)
        sent = [float(row["between"]) + float(row["home"]) for row in points]
        moved.loglog(n, sent, **how)
    n = np.array(sorted({float(row["n"]) for row in rows[:-1]}))
    moved.loglog(n, 8 * n * P, "k--", label="the rows themselves")
    time.set(xlabel="rows", ylabel="processor seconds of the workers")
    moved.set(xlabel="rows", ylabel="bytes between workers and home")
    moved.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    write_picture(figure, path)


def main(argv=None):
    """Measure and write the three tables."""
    command = parser(__doc__)
    command.add_argument("--picture", action="store_true", help="draw the csv, no more")
    command.add_argument("--peers", action="store_true", help="only one process")
    command.add_argument("--largest", type=float, default=SIZES[-1], help="rows")
    arguments = read(command, argv)
    table, picture = (arguments.out / f"scale.{kind}" for kind in ("csv", "png"))
    if arguments.picture:
        return draw(read_table(table), picture)
    sizes = [n for n in SIZES if n <= arguments.largest]
    if arguments.fast:
        sizes = [20_000, 40_000]
    rows = partial(peers, min(10**6, sizes[-1]), 1 if arguments.fast else 3)
    if arguments.peers:
        return write_table("scale_peers", list(rows()), arguments.out)
    found = growth(sizes)
    write_table("scale", list(with_slopes(found)), arguments.out)
    draw(read_table(table), picture)
    compared = sizes[-1] if arguments.fast else min(10**7, sizes[-1])
    write_table("scale_workers", list(one_against_two(compared, found)), arguments.out)
    write_table("scale_peers", list(rows()), arguments.out)


if __name__ == "__main__":
    main()
