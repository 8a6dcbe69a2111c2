"""Named, seeded problems with a known truth: simulated designs and real sets.

``simulated(seed)`` draws one cell of the full product

    P {2, 4, 10, 50, 100, 500, 1000} × rows per class {10, 20, 50, 100}
    × attainable AUC {.5, .7, .8, .9, .97}
    × covariance {identity, AR(.8), five factors, unequal}
    × signal {sparse, dense, top components}
    × features {Gaussian, t3, lognormal, 0/1} × imbalance {1:1, 1:4, 1:9}

(the attainable AUC is that of the Gaussian that the other features are made of), so
any range of seeds is a random fraction of it. Half of the seeds are Gaussian.
``real(name, n_rows, seed)`` takes a stratified training subset of a real set; the rest
of its rows are the truth. ``candidates(problem)`` are the models to choose from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

FEATURES = (2, 4, 10, 50, 100, 500, 1000)
ROWS = (10, 20, 50, 100)
ATTAINABLE = (0.5, 0.7, 0.8, 0.9, 0.97)
COVARIANCES = ("identity", "AR(.8)", "5 factors", "unequal")
SIGNALS = ("sparse", "dense", "top components")
LAWS = ("t3", "lognormal", "0/1")
IMBALANCES = (1, 4, 9)
TRAINING_ROWS = (20, 30, 60, 150)
GROUPS = ("sim Gaussian", "sim other", "real P < n", "real P ~ n", "real P >> n")


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows, a model family and the true AUC of any linear rule."""

    name: str
    group: str
    X: np.ndarray
    y: np.ndarray
    family: str
    design: dict
    truth: Callable  # fitted pipeline -> float


def simulated(seed: int) -> Problem:
    """One random cell of the simulated panel."""
    rng = np.random.default_rng([2019, seed])
    P, per_class = int(rng.choice(FEATURES)), int(rng.choice(ROWS))
    design = {
        "P": P,
        "per_class": per_class,
        "attainable": float(rng.choice(ATTAINABLE)),
        "covariance": str(rng.choice(COVARIANCES)),
        "signal": str(rng.choice(SIGNALS)),
        "law": "Gaussian" if seed % 2 == 0 else str(rng.choice(LAWS)),
        "imbalance": int(rng.choice(IMBALANCES, p=(0.6, 0.2, 0.2))),
    }
    n_pos = max(round(2 * per_class / (1 + design["imbalance"])), 5)
    sizes = (2 * per_class - n_pos, n_pos)
    covariances = _covariances(design["covariance"], P, rng)
    shift = _mean_difference(design, covariances, rng)
    draw = _sampler(design["law"], covariances, shift, rng)
    X, y = _stack(draw, sizes, rng)
    if design["law"] == "Gaussian":
        truth = _gaussian_truth(shift, covariances)
    else:
        truth = _sample_truth(*_stack(draw, (4000, 4000), rng))
    group = "sim Gaussian" if design["law"] == "Gaussian" else "sim other"
    return Problem(f"sim{seed}", group, X, y, _family(seed // 2), design, truth)


def real(name: str, n_rows: int, seed: int, data_dir: Path | None) -> Problem | None:
    """A stratified training subset of a real set; None if it leaves too few rows."""
    X, y = load(name, data_dir)
    n_pos = min(max(round(n_rows * y.mean()), 5), n_rows - 5)
    rng = np.random.default_rng([2019, n_rows, seed, *name.encode()])
    order_pos = rng.permutation(np.flatnonzero(y))
    order_neg = rng.permutation(np.flatnonzero(~y))
    train = np.r_[order_pos[:n_pos], order_neg[: n_rows - n_pos]]
    rest = np.r_[order_pos[n_pos:], order_neg[n_rows - n_pos :]]
    if min(y[rest].sum(), (~y[rest]).sum()) < 8:
        return None
    family = _family(seed + sum(name.encode()) + n_rows // 10)
    if family == "lda" and X.shape[1] > 1000:
        family = "svm"  # the discriminant needs a P×P matrix
    ratio = X.shape[1] / n_rows
    group = GROUPS[2] if ratio < 1 else GROUPS[3] if ratio <= 3 else GROUPS[4]
    train = rng.permutation(train)
    return Problem(
        f"{name}-{n_rows}-{seed}",
        group,
        X[train],
        y[train],
        family,
        {"P": X.shape[1], "rows": n_rows, "set": name},
        _sample_truth(X[rest], y[rest]),
    )


def candidates(problem: Problem):
    """Nine settings of the problem's family, as unfitted pipelines."""
    if problem.family == "lda":
        shrinkages = (0.001, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 0.99)
        models = [
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s) for s in shrinkages
        ]
    elif problem.family == "svm":
        models = [
            LinearSVC(C=C, dual="auto", max_iter=5_000, tol=1e-3, random_state=0)
            for C in np.logspace(-5, 0, 9)
        ]
    else:
        models = [
            LogisticRegression(C=C, max_iter=5_000) for C in np.logspace(-4, 4, 9)
        ]
    return [make_pipeline(StandardScaler(), model) for model in models]


def real_names(data_dir: Path | None) -> list[str]:
    """Real sets at hand: scikit-learn's, and the ``.npz`` files of the directory."""
    own = ["breast_cancer", "wine-0-1", "wine-1-2", "iris-1-2"]
    own += ["digits-3-5", "digits-4-9", "digits-1-7", "digits-8-9"]
    files = sorted(Path(data_dir).glob("*.npz")) if data_dir else []
    return own + [path.stem for path in files]


@cache
def load(name: str, data_dir: Path | None):
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


def _family(number):
    return ("logistic", "logistic", "logistic", "lda", "svm")[number % 5]


def _covariances(kind, P, rng):
    lag = np.abs(np.subtract.outer(np.arange(P), np.arange(P)))
    if kind == "identity":
        return np.eye(P), np.eye(P)
    if kind == "AR(.8)":
        return 0.8**lag, 0.8**lag
    if kind == "5 factors":
        loadings = rng.standard_normal((P, 5))
        return (np.eye(P) + loadings @ loadings.T,) * 2
    return 0.8**lag, np.diag(rng.uniform(0.3, 3, P))


def _mean_difference(design, covariances, rng):
    """Mean difference with the attainable AUC ``Φ(√(dᵀ(Σ₀ + Σ₁)⁻¹d))``."""
    P, total = design["P"], covariances[0] + covariances[1]
    k = max(min(5, P // 2), 1)
    if design["signal"] == "sparse":
        d = np.zeros(P)
        d[rng.choice(P, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    elif design["signal"] == "dense":
        d = rng.standard_normal(P)
    else:
        values, vectors = np.linalg.eigh(total)
        d = vectors[:, -k:] @ (rng.standard_normal(k) * np.sqrt(values[-k:]))
    length = np.sqrt(d @ np.linalg.solve(total, d))
    return d * ndtri(design["attainable"]) / length


def _sampler(law, covariances, shift, rng):
    roots = [np.linalg.cholesky(S) for S in covariances]
    sd = np.sqrt(np.diag(covariances[0] + covariances[1]) / 2)
    cut = rng.uniform(-1, 1, len(shift))

    def draw(label, n):
        X = rng.standard_normal((n, len(shift))) @ roots[label].T
        if law == "t3":
            X /= np.sqrt(rng.chisquare(3, (n, 1)) / 3)
        X += label * shift
        if law == "lognormal":
            return np.exp(np.clip(X / sd, -8, 8))
        return (X / sd > cut).astype(float) if law == "0/1" else X

    return draw


def _stack(draw, sizes, rng):
    X = np.vstack([draw(label, n) for label, n in enumerate(sizes)])
    y = np.repeat([False, True], sizes)
    order = rng.permutation(len(y))
    return X[order], y[order]


def _gaussian_truth(shift, covariances):
    total = covariances[0] + covariances[1]

    def truth(pipeline):
        w = pipeline[-1].coef_[0] / pipeline[0].scale_
        spread = w @ total @ w
        return float(ndtr(w @ shift / np.sqrt(spread))) if spread > 0 else 0.5

    return truth


def _sample_truth(X, y):
    return lambda pipeline: float(roc_auc_score(y, pipeline.decision_function(X)))
