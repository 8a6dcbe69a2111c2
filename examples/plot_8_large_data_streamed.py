"""
More rows than memory
=====================

Everything a Gaussian formula needs of a class is a count, a mean and a scatter
matrix, and these add up. So ``partial_fit`` reads any number of rows block by block
and gives what ``fit`` on all of them would give, workers can each count a part, and
the answer is ready after every block. How many rows are enough? Left: hold-out AUC
against the rows read so far. Right: the seconds they took.
"""

# %%
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from skauc import GaussianAUCClassifier, auc_estimate, class_moments

P, BLOCK, BLOCKS = 30, 20_000, 50
rng = np.random.default_rng(0)
shift = rng.standard_normal(P) * 0.15
mixing = np.eye(P) + 0.3 * rng.standard_normal((P, P)) / np.sqrt(P)


def block(seed, n=BLOCK):
    """Rows of the stream; the positives are twice as wide in half of the features."""
    stream = np.random.default_rng([8, seed])
    y = stream.integers(0, 2, n)
    X = stream.standard_normal((n, P))
    X[:, : P // 2] *= (1 + y)[:, None]
    return X @ mixing + np.outer(y, shift), y


# %%
# One pass: after every block the model is that of all rows so far. Beside it averaged
# stochastic gradient descent on the log-loss, the usual answer to such data.
X_test, y_test = block(10_000, n=200_000)
ours = GaussianAUCClassifier(solver="closed_form")
peer = SGDClassifier(loss="log_loss", average=True, random_state=0)
models = {"Gaussian-AUC, partial_fit": ours, "averaged SGD, partial_fit": peer}
rows, seconds, held_out = [], {name: [0.0] for name in models}, []
for i in range(BLOCKS):
    X, y = block(i)
    for name, model in models.items():
        start = perf_counter()
        model.partial_fit(X, y, classes=[0, 1])
        seconds[name].append(seconds[name][-1] + perf_counter() - start)
    if i + 1 in (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50):
        rows.append((i + 1) * BLOCK)
        scores = [model.decision_function(X_test) for model in models.values()]
        held_out.append([auc_estimate(y_test, s) for s in scores])
print("hold-out AUC")
print(f"{'rows':>9}" + "".join(f"{name:>30}" for name in models))
for n, estimates in zip(rows, held_out, strict=True):
    print(f"{n:9,}" + "".join(f"{e.auc:30.4f}" for e in estimates))
low, high = held_out[-1][0].confidence_interval(0.95)
print(f"95 % interval of the last one: [{low:.4f}, {high:.4f}]")

# %%
# Workers: moments of separate parts, merged in any order, are those of the whole.
parts = [class_moments(X, y == 1) for X, y in map(block, reversed(range(BLOCKS)))]
neg, pos = (sum(side[1:], side[0]) for side in zip(*parts, strict=True))
gap = max(
    np.abs(mine.scatter / whole.scatter - 1).max()
    for mine, whole in zip((neg, pos), ours.moments_, strict=True)
)
print(f"merged scatter against the streamed one: relative difference {gap:.1e}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for k, (name, color) in enumerate(zip(models, ("#0072B2", "#D55E00"), strict=True)):
    left.plot(rows, [e[k].auc for e in held_out], "o-", color=color, label=name)
    right.plot(np.arange(BLOCKS + 1) * BLOCK, seconds[name], color=color, label=name)
left.axhspan(low, high, color="#0072B2", alpha=0.15, lw=0, label="95 % interval")
left.set(xscale="log", xlabel="rows read", ylabel="hold-out AUC")
left.legend(fontsize=8)
right.set(xlabel="rows read", ylabel="seconds, without making the data")
fig.savefig("plot_8_large_data_streamed.png", dpi=90)
print("\nFigure: plot_8_large_data_streamed.png")
