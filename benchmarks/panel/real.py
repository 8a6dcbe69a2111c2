"""Real sets: subsets train, the other rows are the truth; labels may be random."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from sklearn import datasets

from benchmarks.panel.auc import delong
from benchmarks.panel.halves import half_of_set
from benchmarks.panel.problem import Problem

REAL = ("real P < .3 n", "real P < n", "real P >= n", "real P >> n", "real P >= 2500")
TRAINING_ROWS = (30, 60, 100, 150)


def real(group, seed, data_dir, half) -> Problem | None:
    """A stratified training subset of the real set whose turn it is."""

    def fits(X, y, n):  # at least 8 rows a class remain
        pos = _positives(y, n)
        enough = min(y.sum() - pos, (~y).sum() - n + pos) >= 8
        return enough and regime(X.shape[1], n) == group

    chosen = _turn(real_names(data_dir, half), data_dir, seed, REAL.index(group), fits)
    if chosen is None:
        return None
    name, n, X, y = chosen
    rng = np.random.default_rng([2026, n, seed, *name.encode()])
    train, rest = _split(y, n, rng)
    held_out = X[rest], y[rest]
    known = _held_truth(*held_out), name, _design(name, n, X), held_out
    return Problem(group, X[train], y[train], *known)


def random_labels(seed, data_dir, half) -> Problem | None:
    """Real rows, labels that have nothing to do with them."""
    wide, turn = seed // 2 % 2, seed // 4 * 2 + seed % 2  # P ≥ n or not; one class
    one_class = seed % 2 == 0

    def fits(X, y, n):
        rows = max(y.sum(), (~y).sum()) if one_class else len(y)
        return n <= rows and (X.shape[1] >= n) == wide

    chosen = _turn(real_names(data_dir, half), data_dir, turn, 10 + wide, fits)
    if chosen is None:
        return None
    name, n, X, y = chosen
    rng = np.random.default_rng([2027, n, seed, *name.encode()])
    if one_class:
        rows = rng.permutation(np.flatnonzero(y == (y.mean() > 0.5)))[:n]
        labels = rng.permutation(np.arange(n) % 2 == 0)
    else:
        rows = _split(y, n, rng)[0]
        labels = rng.permutation(y[rows])
    design = _design(name, n, X) | {"one class": one_class}

    def truth(W):
        return np.full(W.shape[1], 0.5), np.zeros(W.shape[1])

    return Problem("random labels", X[rows], labels, truth, name, design)


def regime(P, n):
    """Which of the real groups a size belongs to."""
    ratio = P / n
    if P >= 2500:
        return REAL[4]
    return REAL[0 if ratio < 0.3 else 1 if ratio < 1 else 2 if ratio <= 5 else 3]


def real_names(data_dir, half=None) -> list[str]:
    """Real sets of a half (None: of both): scikit-learn's, and ``.npz`` files."""
    own = ["breast_cancer", "wine-0-1", "wine-1-2", "iris-1-2"]
    own += ["digits-3-5", "digits-4-9", "digits-1-7", "digits-8-9"]
    files = sorted(Path(data_dir).glob("*.npz")) if data_dir else []
    names = own + [path.stem for path in files]
    return [name for name in names if half in (None, half_of_set(name))]


@cache
def load(name, data_dir):
    """``X, y`` of a real set; y is a boolean mask of the positives."""
    if name == "breast_cancer":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        return X, y == 1
    if name.split("-")[0] in ("wine", "iris", "digits"):
        source, neg, pos = name.split("-")
        X, y = getattr(datasets, f"load_{source}")(return_X_y=True)
        keep = (y == int(neg)) | (y == int(pos))
        return X[keep], y[keep] == int(pos)
    with np.load(Path(data_dir) / f"{name}.npz", allow_pickle=False) as file:
        return np.nan_to_num(file["X"].astype(float)), file["y"].astype(bool)


def _turn(names, data_dir, seed, salt, fits):
    """The seed-th set, its size and rows when the sets and their sizes take turns."""
    sets = {}
    for name in names:
        X, y = load(name, data_dir)
        if sizes := [n for n in TRAINING_ROWS if fits(X, y, n)]:
            sets[name] = sizes
    if not sets:
        return None
    order = np.random.default_rng([2029, salt]).permutation(sorted(sets))
    name = str(order[seed % len(order)])
    place = sum(name.encode()) + seed // len(order)
    return name, sets[name][place % len(sets[name])], *load(name, data_dir)


def _positives(y, n):
    return min(max(round(n * y.mean()), 5), n - 5)


def _split(y, n, rng):
    """Rows of a stratified subset of n, shuffled, and the others."""
    n_pos = _positives(y, n)
    pos, neg = (rng.permutation(np.flatnonzero(y == v)) for v in (True, False))
    train = rng.permutation(np.r_[pos[:n_pos], neg[: n - n_pos]])
    return train, np.r_[pos[n_pos:], neg[n - n_pos :]]


def _held_truth(X, y):
    return lambda W: delong(y, (X @ W).T)


def _design(name, n, X):
    return {"set": name, "n": n, "P": X.shape[1]}
