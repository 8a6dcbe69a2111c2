"""Simulated problems: their truth is exact, or that of many new rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri

from benchmarks.panel.auc import delong
from benchmarks.panel.halves import COVARIANCES, SIGNALS, design_of_half
from benchmarks.panel.problem import Problem

FEATURES = (2, 4, 10, 50, 100, 500, 1000)
ROWS = (10, 20, 50, 100)
ATTAINABLE = (0.5, 0.7, 0.8, 0.9, 0.97)
LAWS = ("t3", "lognormal", "0/1", "mixture", "unequal")
IMBALANCES = (1, 4, 9)
TEST_ROWS, BLOCK = 20_000, 2_000


@dataclass(frozen=True, eq=False)
class Noise:
    """Covariance ``own + loadings loadingsᵀ``, own diagonal or autoregressive."""

    P: int
    variances: np.ndarray | None = None  # None: AR(.8) with unit variances
    loadings: np.ndarray | None = None

    def draw(self, rng, n):
        """Rows ``(n, P)``."""
        E = rng.standard_normal((n, self.P))
        if self.variances is None:
            E[:, 0] /= 0.6
            return lfilter([0.6], [1, -0.8], E, axis=1)
        E *= np.sqrt(self.variances)
        if self.loadings is not None:
            E += rng.standard_normal((n, self.loadings.shape[1])) @ self.loadings.T
        return E

    def dense(self):
        """Σ itself."""
        if self.variances is None:
            return toeplitz(0.8 ** np.arange(self.P))
        L = self.loadings
        return np.diag(self.variances) + (0 if L is None else L @ L.T)


def simulated(group, family, seed, half) -> Problem:
    """One random design of the simulated panel."""
    other = group == "sim other"

    def drawn(rng):
        # the families that reduce features need more of them
        features = FEATURES[2:] if family in ("kbest", "pca") else FEATURES
        return {
            "P": features[int(rng.random() * len(features))],
            "per class": int(rng.choice(ROWS)),
            "law": str(rng.choice(LAWS)) if other else "Gaussian",
            "attainable": float(rng.choice(ATTAINABLE)),
            "covariance": str(rng.choice(COVARIANCES)),
            "signal": str(rng.choice(SIGNALS)),
            "imbalance": int(rng.choice(IMBALANCES, p=(0.6, 0.2, 0.2))),
        }

    design = design_of_half(drawn, (2020, other, seed), half)
    rng = np.random.default_rng([2021, other, design["P"], seed])
    n = 2 * design["per class"]
    n_pos = max(round(n / (1 + design["imbalance"])), 5)
    noises = _noises(design, rng)
    shift = _shift(design, noises, rng)
    draw = _sampler(design["law"], noises, shift, rng)
    exact = design["law"] in ("Gaussian", "unequal")
    truth = _gaussian_truth(shift, noises) if exact else _drawn_truth(draw, seed)
    X, y = _stack(draw, (n - n_pos, n_pos), rng)
    return Problem(group, X, y, truth, f"sim{seed}", design | {"n": n})


def few_signals(seed, half) -> Problem:
    """Few shifted features among many."""
    features = (100, 300, 1000, 2000)

    def drawn(rng):
        return {
            "P": features[int(rng.random() * len(features))],
            "n": int(rng.choice((60, 100, 200))),
            "signals": int(rng.choice((5, 10))),
            "shift": float(rng.choice((0.6, 0.8, 1.0))),
            "factors": float(rng.choice((0, 0.3, 0.8))),
        }

    design = design_of_half(drawn, (2022, seed), half)
    P, share = design["P"], design["factors"]
    rng = np.random.default_rng([2023, P, seed])
    loadings = rng.standard_normal((P, 5))
    loadings *= np.sqrt(share) / np.linalg.norm(loadings, axis=1, keepdims=True)
    noise = Noise(P, np.full(P, 1 - share), loadings if share else None)
    shift = np.zeros(P)
    where = rng.choice(P, design["signals"], replace=False)
    shift[where] = design["shift"] * rng.choice([-1, 1], design["signals"])
    draw = _sampler("Gaussian", (noise, noise), shift, rng)
    X, y = _stack(draw, (design["n"] // 2,) * 2, rng)
    truth = _gaussian_truth(shift, (noise, noise))
    return Problem("few signals", X, y, truth, f"few{seed}", design)


def factors(seed, half) -> Problem:
    """Ten thousand features that share factors of decaying size."""

    def drawn(rng):
        return {
            "P": 10_000,
            "n": int(rng.choice((30, 60))),
            "factors": int(rng.choice((5, 20, 60, 200))),
            "decay": float(rng.choice((0.5, 1.0))),
            "share": float(rng.choice((0.5, 0.7, 0.9))),
            "signal": str(rng.choice(("none", "dense", "top components"))),
            "attainable": float(rng.choice((0.9, 0.97, 0.999))),
        }

    design = design_of_half(drawn, (2032, seed), half)
    P, n, k = design["P"], design["n"], design["factors"]
    rng = np.random.default_rng([2033, seed])
    loadings = rng.standard_normal((P, k)) * np.arange(1, k + 1) ** -design["decay"]
    loadings *= np.sqrt(design["share"]) / np.linalg.norm(loadings, axis=1)[:, None]
    noise = Noise(P, np.full(P, 1 - design["share"]), loadings)
    d = loadings @ rng.standard_normal(k)
    if design["signal"] == "dense":
        d += np.sqrt(noise.variances) * rng.standard_normal(P)
    # dᵀΣ⁻¹d of Σ = own + LLᵀ (Woodbury)
    own, inner = noise.variances[0], loadings.T @ d
    B = np.eye(k) + loadings.T @ loadings / own
    square = (d @ d - inner @ np.linalg.solve(B, inner) / own) / own
    size = 0.0 if design["signal"] == "none" else ndtri(design["attainable"])
    d *= size * np.sqrt(2 / square)

    def truth(W):
        variance = own * (W**2).sum(axis=0) + ((loadings.T @ W) ** 2).sum(axis=0)
        return ndtr(d @ W / np.sqrt(2 * variance)), np.zeros(W.shape[1])

    def draw(label, n, rng):
        return noise.draw(rng, n) + label * d

    X, y = _stack(draw, (n - n // 2, n // 2), rng)
    return Problem("factors", X, y, truth, f"factors{seed}", design)


def _noises(design, rng):
    P, own = design["P"], np.ones(design["P"])
    if design["law"] == "unequal":
        return Noise(P), Noise(P, rng.uniform(0.3, 3, P))
    if design["covariance"] == "identity":
        return (Noise(P, own),) * 2
    if design["covariance"] == "AR(.8)":
        return (Noise(P),) * 2
    return (Noise(P, own, rng.standard_normal((P, 5))),) * 2


def _shift(design, noises, rng):
    """Mean difference with the attainable AUC ``Φ(√(dᵀ(Σ₀ + Σ₁)⁻¹d))``."""
    P, total = design["P"], noises[0].dense() + noises[1].dense()
    k = max(min(5, P // 2), 1)
    if design["signal"] == "sparse":
        d = np.zeros(P)
        d[rng.choice(P, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    elif design["signal"] == "dense":
        d = rng.standard_normal(P)
    else:
        values, vectors = np.linalg.eigh(total)
        d = vectors[:, -k:] @ (rng.standard_normal(k) * np.sqrt(values[-k:]))
    return d * ndtri(design["attainable"]) / np.sqrt(d @ np.linalg.solve(total, d))


def _sampler(law, noises, shift, rng):
    P = len(shift)
    sd = np.sqrt(np.diag(noises[0].dense() + noises[1].dense()) / 2)
    cut, axis = rng.uniform(-1, 1, P), rng.standard_normal(P)
    axis *= 2 / np.linalg.norm(axis)

    def draw(label, n, rng):
        X = noises[label].draw(rng, n)
        if law == "t3":
            X /= np.sqrt(rng.chisquare(3, (n, 1)) / 3)
        if law == "mixture":  # a fifth of the rows three times as wide, two modes
            X *= np.where(rng.random((n, 1)) < 0.2, 3, 1)
            X += rng.choice([-1, 1], (n, 1)) * axis
        X += label * shift
        if law == "lognormal":
            return np.exp(np.clip(X / sd, -8, 8))
        return (X / sd > cut).astype(float) if law == "0/1" else X

    return draw


def _stack(draw, sizes, rng):
    X = np.vstack([draw(label, n, rng) for label, n in enumerate(sizes)])
    y = np.repeat([False, True], sizes)
    order = rng.permutation(len(y))
    return X[order], y[order]


def _gaussian_truth(shift, noises):
    def truth(W):
        total = noises[0].dense() + noises[1].dense()
        spread = np.sqrt((W * (total @ W)).sum(axis=0))
        ratio = np.divide(shift @ W, spread, np.zeros_like(spread), where=spread > 0)
        return ndtr(ratio), np.zeros_like(spread)

    return truth


def _drawn_truth(draw, seed):
    def truth(W):
        rng = np.random.default_rng([2025, seed])
        blocks = [
            draw(label, BLOCK, rng) @ W
            for label in (0, 1)
            for _ in range(TEST_ROWS // 2 // BLOCK)
        ]
        y = np.repeat([False, True], TEST_ROWS // 2)
        return delong(y, np.vstack(blocks).T)

    return truth
