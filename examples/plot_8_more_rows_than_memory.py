"""
More rows than memory, or than one machine
==========================================

A Gaussian formula needs three things of each class: the number of rows, their mean and
their scatter matrix. These add up. So a model can read its rows block by block, in one
process or in many, and becomes the model that ``fit`` on all rows would return.

Three ways are shown: ``partial_fit`` when rows arrive one block at a time,
``RowBlocks`` when they can be read again, and Dask arrays when they lie in several
processes. Left picture: hold-out AUC against the rows read so far. Right: the bytes
that two processes sent to each other and home, compared with the size of the rows.
"""

# %%
import pickle

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from skauc import (
    GaussianAUCClassifier,
    RowBlocks,
    auc_estimate,
    class_moments,
)

P, BLOCK, BLOCKS = 20, 1_000, 50
SHIFT = np.where(np.arange(P) % 2, 0.2, -0.2)
MIXING = np.vander(np.linspace(-1, 1, P), P // 2)  # correlated features


def block(seed, rows=BLOCK):
    """Return rows and labels; the positives vary more than the negatives."""
    rng = np.random.default_rng([8, seed])
    y = (rng.random(rows) < 0.3).astype(int)
    common = rng.standard_normal((rows, P // 2)) @ MIXING.T
    X = (common + rng.standard_normal((rows, P))) * (1 + 0.5 * y[:, None])
    return X + np.outer(y, SHIFT), y


# %%
# Rows that arrive block by block: after every block the model is that of all rows read
# so far. The hold-out AUC shows how many rows are enough.
def stream(X_test, y_test):
    """Return the final model, the rows read, and the hold-out AUCs on the way."""
    model, rows, estimates = GaussianAUCClassifier(), [], []
    for i in range(BLOCKS):
        model.partial_fit(*block(i), classes=[0, 1])
        if i + 1 in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50):
            rows.append((i + 1) * BLOCK)
            score = model.decision_function(X_test)
            estimates.append(auc_estimate(y_test, score))
    return model, rows, estimates


# %%
# Rows that can be read again: ``RowBlocks`` takes the place of X and y in ``fit``. Any
# iterable of ``(X, y)`` will do, also one that reads files.
def read_again():
    """Return the model that ``fit`` on blocks gives."""
    blocks = RowBlocks([block(i) for i in range(BLOCKS)])
    return GaussianAUCClassifier().fit(blocks)


# %%
# Rows in several processes: Dask arrays go into the same calls. Only sums travel.
def as_dask(rows):
    """Return X and y of ten chunks; the processes that need a chunk draw it."""
    import dask.array as da

    def chunk(block_id):
        return np.column_stack(block(block_id[0], rows))

    how = {"chunks": ((rows,) * 10, (P + 1,)), "dtype": float}
    both = da.map_blocks(chunk, meta=np.empty((0, 0)), **how)
    return both[:, :P], both[:, P] > 0


def bytes_sent(dask_worker):
    """Return the bytes that other processes have fetched from this one."""
    return sum(int(entry["total"]) for entry in dask_worker.transfer_outgoing_log)


def on_a_cluster(sizes):
    """Fit a model on two processes; measure the traffic of moments for each size."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        print("Dask is not installed: pip install 'skauc[dask]'")
        return None
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # an idle process would fetch a chunk of a busy one, over so fast a connection
    settings = {
        "distributed.scheduler.work-stealing": False,
        "distributed.scheduler.bandwidth": "100 kB",
    }
    stay = dask.config.set(settings)
    with stay, LocalCluster(**how) as cluster, Client(cluster) as client:
        model = GaussianAUCClassifier().fit(*as_dask(BLOCK))
        traffic = []
        for rows in sizes:
            before = sum(client.run(bytes_sent).values())
            home = len(pickle.dumps(class_moments(*as_dask(rows))))
            traffic.append(sum(client.run(bytes_sent).values()) - before + home)
    return model, np.array(traffic)


# %%
# A script that starts processes keeps its work behind this line, as Python's module
# ``multiprocessing`` requires.
if __name__ == "__main__":
    X_test, y_test = block(10_000, rows=100_000)
    model, rows, estimates = stream(X_test, y_test)
    print("partial_fit, hold-out AUC")
    for n, estimate in zip(rows, estimates, strict=True):
        print(f"{n:7,} rows {estimate.auc:.4f}")
    low, high = estimates[-1].confidence_interval(0.95)
    print(f"95 % interval of the last one: [{low:.4f}, {high:.4f}]")
    gap = np.abs(read_again().coef_ / model.coef_ - 1).max()
    print(f"RowBlocks, largest relative difference of a coefficient: {gap:.1e}")

    sizes = np.array([300, 1_000, 3_000, 10_000, 30_000])
    there = on_a_cluster(sizes)
    if there is not None:
        X, y = (
            np.concatenate(part) for part in zip(*map(block, range(10)), strict=True)
        )
        here = GaussianAUCClassifier().fit(X, y)
        gap = np.abs(there[0].coef_ / here.coef_ - 1).max()
        print(f"Dask, largest relative difference of a coefficient: {gap:.1e}")
        size = 8 * 10 * sizes[-1] * (P + 1)
        print(f"{there[1][-1]:,} bytes were sent for rows of {size:,} bytes")

    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    left.plot(rows, [e.auc for e in estimates], "o-", color="#0072B2")
    left.axhspan(low, high, color="#0072B2", alpha=0.15, lw=0, label="95 % interval")
    left.set(xscale="log", xlabel="rows read", ylabel="hold-out AUC")
    left.set_title("partial_fit")
    left.legend()
    n = 10 * sizes
    right.loglog(n, 8 * n * (P + 1), ".-", color="#D55E00", label="size of the rows")
    if there is not None:
        right.loglog(n, there[1], "o--", color="#0072B2", label="sent, measured")
    right.set(xlabel="rows, in ten chunks", ylabel="bytes")
    right.set_title("moments of two classes on two processes")
    right.legend()
    fig.savefig("plot_8_more_rows_than_memory.png", dpi=90)
    print("\nFigure: plot_8_more_rows_than_memory.png")
