"""
More rows than one machine
==========================

Sums over rows are taken where the rows are: a Dask array or data frame goes into the
same calls as a NumPy array, and what comes back is the same model. Here ten lines are
run on NumPy and on a local cluster of two processes that make their rows themselves.
Left: the two curves, one above the other. Right: bytes that the two processes sent, to
each other and home, as measured; what travels is sums, which do not grow with the rows.
"""

# %%
import pickle

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from skauc import GaussianAUCClassifier, LinearDiscriminantROC, class_moments

P, CHUNK, CHUNKS = 20, 10_000, 10
SIZES = 300, 1_000, 3_000, 10_000, 30_000  # rows of a chunk, to measure what travels
MIXING = np.vander(np.linspace(-1, 1, P), P // 2)  # correlated features
SHIFT = np.where(np.arange(P) % 2, 0.2, -0.2)


def chunk(block_id, rows=CHUNK):
    """Rows of a chunk and, as the last column, their labels."""
    rng = np.random.default_rng([12, block_id[0]])
    y = rng.random(rows) < 0.3
    common = rng.standard_normal((rows, P // 2)) @ MIXING.T
    X = (common + rng.standard_normal((rows, P))) * (1 + 0.5 * y[:, None])
    return np.column_stack([X + np.outer(y, SHIFT), y])


# %%
# The same lines, whatever X and y are.
def ten_lines(X, y):
    """Two models and the moments of two classes."""
    neg, pos = class_moments(X, y)
    gaussian = GaussianAUCClassifier(shrinkage="auto").fit(X, y)
    discriminant = LinearDiscriminantROC().fit(X, y)
    print(f"rows: {neg.n:,.0f} + {pos.n:,.0f}")
    print(f"Gaussian AUC: {gaussian.auc_:.6f}, shrinkage {gaussian.shrinkage_:.6f}")
    print(f"LDA: {discriminant.auc_:.6f}")
    return gaussian, discriminant


def rows_in_workers(rows=CHUNK):
    """The chunks as Dask arrays; nobody holds them all."""
    import dask.array as da

    how = {"chunks": ((rows,) * CHUNKS, (P + 1,)), "dtype": float}
    both = da.map_blocks(chunk, rows=rows, meta=np.empty((0, 0)), **how)
    return both[:, :P], both[:, P] > 0


def sent(dask_worker):
    """Bytes that the other process has fetched from this one."""
    return sum(int(one["total"]) for one in dask_worker.transfer_outgoing_log)


def bytes_moved(client, rows):
    """What the moments of ten chunks of so many rows cost the network."""
    before = sum(client.run(sent).values())
    home = len(pickle.dumps(class_moments(*rows_in_workers(rows))))
    return sum(client.run(sent).values()) - before + home


def on_a_cluster():
    """The ten lines where the rows are, and bytes for each size; None without Dask."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("Dask is not installed: pip install 'skauc[dask]'; only NumPy was asked")
        return None
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        models = ten_lines(*rows_in_workers())
        return models, [bytes_moved(client, rows) for rows in SIZES]


# %%
# A script that starts processes stands behind this line, as Python's multiprocessing
# asks for.
if __name__ == "__main__":
    print("NumPy")
    both = np.concatenate([chunk((k,)) for k in range(CHUNKS)])
    here = ten_lines(both[:, :P], both[:, P] > 0)
    print("\ntwo processes")
    there = on_a_cluster()
    if there is not None:
        gap = max(
            np.abs(a.coef_ / b.coef_ - 1).max()
            for a, b in zip(there[0], here, strict=True)
        )
        print(f"largest relative difference of a coefficient: {gap:.1e}")

    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    fpr = np.linspace(0, 1, 201)
    left.plot(fpr, here[1].roc_.roc(fpr), color="#0072B2", lw=4, label="NumPy")
    if there is not None:
        tpr = there[0][1].roc_.roc(fpr)
        left.plot(fpr, tpr, "--", color="#D55E00", label="two processes")
    left.set(xlabel="FPR", ylabel="TPR", title="LDA")
    left.legend()
    n = CHUNKS * np.array(SIZES)
    right.loglog(n, 8 * n * (P + 1), color="#D55E00", marker=".", label="rows, labels")
    if there is not None:
        moved = there[1]
        print(f"of {8 * n[-1] * (P + 1):,} bytes of rows {moved[-1]:,} were sent")
        label = "sent, measured"
        right.loglog(n, moved, color="#0072B2", marker="o", ls="--", label=label)
    right.set(
        xlabel="rows, in ten chunks", ylabel="bytes", title="Moments of two classes"
    )
    right.legend()
    fig.savefig("plot_12_more_rows_than_one_machine.png", dpi=90)
    print("\nFigure: plot_12_more_rows_than_one_machine.png")
