"""
More rows than one machine
==========================

Sums over rows are taken where the rows are: a Dask array or data frame goes into the
same calls as a NumPy array, and what comes back is the same model. Here ten lines are
run on NumPy and on a local cluster of two processes that make their rows themselves.
Left: the two curves, one above the other. Right: what travels is sums, which do not
grow with the rows of a chunk.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from skauc import GaussianAUCClassifier, LinearDiscriminantROC, class_moments

P, CHUNK, CHUNKS = 20, 10_000, 10
MIXING = np.vander(np.linspace(-1, 1, P), P // 2)  # correlated features
SHIFT = np.where(np.arange(P) % 2, 0.2, -0.2)


def chunk(block_id):
    """Rows of a chunk and, as the last column, their labels."""
    rng = np.random.default_rng([12, block_id[0]])
    y = rng.random(CHUNK) < 0.3
    common = rng.standard_normal((CHUNK, P // 2)) @ MIXING.T
    X = (common + rng.standard_normal((CHUNK, P))) * (1 + 0.5 * y[:, None])
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
    return gaussian, discriminant, pos


def rows_in_workers():
    """The chunks as Dask arrays; nobody holds them all."""
    import dask.array as da

    chunks, nothing = ((CHUNK,) * CHUNKS, (P + 1,)), np.empty((0, 0))
    both = da.map_blocks(chunk, chunks=chunks, dtype=float, meta=nothing)
    return both[:, :P], both[:, P] > 0


def on_a_cluster():
    """The ten lines where the rows are; None without Dask."""
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
        Client(cluster),
    ):
        return ten_lines(*rows_in_workers())


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
            for a, b in zip(there[:2], here[:2], strict=True)
        )
        print(f"largest relative difference of a coefficient: {gap:.1e}")

    sent = sum(part.nbytes for part in (here[2].mean, here[2].scatter)) * 2
    print(f"a chunk has {8 * CHUNK * P:,} bytes, its moments {sent:,}")

    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    fpr = np.linspace(0, 1, 201)
    left.plot(fpr, here[1].roc_.roc(fpr), color="#0072B2", lw=4, label="NumPy")
    if there is not None:
        tpr = there[1].roc_.roc(fpr)
        left.plot(fpr, tpr, "--", color="#D55E00", label="two processes")
    left.set(xlabel="FPR", ylabel="TPR", title="LDA")
    left.legend()
    rows = np.geomspace(1e2, 1e8, 50)
    right.loglog(rows, 8 * rows * P, color="#D55E00", label="rows of a chunk")
    right.loglog(rows, np.full(50, sent), color="#0072B2", label="its moments")
    right.set(xlabel="rows of a chunk", ylabel="bytes")
    right.legend()
    fig.savefig("plot_12_more_rows_than_one_machine.png", dpi=90)
    print("\nFigure: plot_12_more_rows_than_one_machine.png")
