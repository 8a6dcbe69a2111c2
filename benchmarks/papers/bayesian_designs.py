"""Designs, estimators and repetitions of ``bayesian_auc.py``.

A *cell* is a design with its sizes; ``run(figure, cell, first, stop, path)`` draws its
repetitions ``first … stop − 1``, each from its own seed, and returns for each the true
AUC of the trained model and every estimate (``COLUMNS``).

Notation: rows x of class 0 and 1 are ``N(μ₀, Σ₀)``, ``N(μ₁, Σ₁)``; w are the
coefficients of the trained model. The authors' own code is public for the ovarian
experiment only (https://github.com/sakira/BAUC); where we follow it, it is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import ndtr, ndtri, stdtr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

import skauc

NOISE, FIG1, FIG2, FIG3, FIG4, FIG5, FIG6 = range(7)
REAL = {FIG5: "ovarian_nci", FIG6: "arrhythmia"}

CV, EBAUC, CBAUC, ADAPTIVE = "CV-AUC", "EBAUC", "CBAUC", "adaptive"
CV_CODED, EBAUC_CODED = "CV-AUC as coded", "EBAUC as coded"
BINORMAL, SEPARATE, RAW = "sample binormal", "CBAUC separate", "CBAUC raw rows"
USUAL = (CV, EBAUC, CBAUC, ADAPTIVE, CV_CODED, EBAUC_CODED)
COLUMNS = ("truth", *USUAL, BINORMAL, SEPARATE, RAW)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Two normal classes, ``μ₀ = 0``."""

    mean_pos: np.ndarray
    cov_neg: np.ndarray
    cov_pos: np.ndarray

    def draw(self, n_neg, n_pos, rng):
        """Rows of both classes, and their labels."""
        z = rng.standard_normal((n_neg + n_pos, len(self.mean_pos)))
        neg = z[:n_neg] @ np.linalg.cholesky(self.cov_neg).T
        pos = self.mean_pos + z[n_neg:] @ np.linalg.cholesky(self.cov_pos).T
        return np.vstack([neg, pos]), np.repeat([0, 1], [n_neg, n_pos])

    def auc(self, w):
        """Equation 2: ``Φ(wᵀ(μ₁ − μ₀)/√(wᵀ(Σ₀ + Σ₁)w))``."""
        return float(ndtr(w @ self.mean_pos / np.sqrt(w @ self.cov_sum @ w)))

    def bayes_auc(self):
        """The largest of these over w, ``Φ(√((μ₁ − μ₀)ᵀ(Σ₀ + Σ₁)⁻¹(μ₁ − μ₀)))``."""
        best = np.linalg.solve(self.cov_sum, self.mean_pos)
        return float(ndtr(np.sqrt(self.mean_pos @ best)))

    @property
    def cov_sum(self):
        """``Σ₀ + Σ₁``."""
        return self.cov_neg + self.cov_pos


def design(figure, P, target) -> Gaussian:
    """Classes of a figure; ``target`` is 1000 × the Bayes AUC, for figure 2 only.

    Figure 2 reads ``Σ = σI`` with σ a *variance*, so that the Bayes AUC is
    ``Φ(√(P/(2σ)))``. Figure 3's matrices are our choice: ``Σ₀ = I``,
    ``Σ₁ = (s_i s_j 0.8^|i−j|)`` with ``s = (½, 1, 1½, 2)``.
    """
    one, eye = np.ones(P), np.eye(P)
    if figure == NOISE:
        return Gaussian(0 * one, eye, eye)
    if figure == FIG2:
        variance = P / (2 * ndtri(target / 1000) ** 2)
        return Gaussian(one, variance * eye, variance * eye)
    if figure == FIG3:
        i, s = np.arange(P), 2 * np.arange(1, P + 1) / P
        return Gaussian(one, eye, np.outer(s, s) * 0.8 ** abs(i[:, None] - i))
    return Gaussian(one, eye, eye)


def classifier():
    """L2 logistic regression of the paper; the authors' code has no intercept."""
    return LogisticRegression(solver="liblinear", C=1)


def z_scores(X):
    """Standardised rows (ddof 1, as in the authors' code), their mean and deviation."""
    mean, std = X.mean(axis=0), X.std(axis=0, ddof=1)
    std = np.where(std > 0, std, 1)
    return (X - mean) / std, mean, std


def cross_validated(X, y, thresholds, seed):
    """AUC of up to five stratified folds, proper and as the authors' code has it.

    Proper: the mean over folds of the empirical AUC. As coded: in every fold the sign
    of the scores is flipped if their class means are reversed, and the ROC curve is
    followed over the *training scores of the full model* as thresholds, without its
    end points; where these leave a gap the area is cut short.
    """
    proper, coded = [], []
    folds = min(5, *np.bincount(y))
    split = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)
    for train, test in split:
        score = X[test] @ classifier().fit(X[train], y[train]).coef_[0]
        neg, pos = score[y[test] == 0], score[y[test] == 1]
        above, tied = pos[:, None] > neg, pos[:, None] == neg
        proper.append(above.mean() + tied.mean() / 2)
        sign = -1 if neg.mean() > pos.mean() else 1
        fpr, tpr = (
            (sign * part[:, None] >= thresholds).mean(axis=0) for part in (neg, pos)
        )
        coded.append(area(fpr, tpr))
    return float(np.mean(proper)), float(np.mean(coded))


def area(fpr, tpr):
    """Trapezoid under the points of an ROC curve, and nothing beyond them."""
    return float(trapezoid(np.sort(tpr), np.sort(fpr)))


def predictive_rates(score, y, w):
    """False and true positive rates of EBAUC at every training score.

    ``T_df((wᵀm* − t)/√((1 + 1/ν*) q/df))`` for each class, with the paper's prior
    (m = 0, S = I, ν = ½, κ = P + 2) on separate covariances, hence ``df = n_c + 3``.
    """
    rates = []
    for label in (0, 1):
        s = score[y == label]
        n, nu = len(s), len(s) + 0.5
        q = w @ w + ((s - s.mean()) ** 2).sum() + n * 0.5 / nu * s.mean() ** 2
        scale = np.sqrt((1 + 1 / nu) * q / (n + 3))
        rates.append(stdtr(n + 3, (n * s.mean() / nu - score) / scale))
    return rates


EBAUC_SCORER = skauc.make_ebauc_scorer(prior="paper")


def estimates(model, X, y, seed) -> dict:
    """Every estimate of the AUC of a fitted model, from its training rows alone."""
    w = model.coef_[0]
    score = X @ w
    proper, coded = cross_validated(X, y, np.sort(score), seed)
    return {
        CV: proper,
        EBAUC: EBAUC_SCORER(model, X, y),
        CBAUC: skauc.auc_posterior(model, X, y, prior="paper").mean(),
        ADAPTIVE: skauc.auc_posterior(model, X, y).mean(),
        CV_CODED: coded,
        EBAUC_CODED: area(*predictive_rates(score, y, w)),
        BINORMAL: skauc.binormal_roc(y, score).auc,
    }


def run(figure, cell, first, stop, path=""):
    """Truth and estimates (``COLUMNS``) of repetitions ``first … stop − 1``."""
    repeat = on_real_rows if figure in REAL else simulated
    rows = []
    with threadpool_limits(1):
        for repetition in range(first, stop):
            rng = np.random.default_rng([2019, figure, *cell, repetition])
            found = repeat(figure, cell, rng, path)
            numbers = [found.get(name, np.nan) for name in COLUMNS]
            rows.append(np.round(numbers, 7).tolist())
    return rows


def simulated(figure, cell, rng, path):
    """One repetition of a Gaussian design; ``cell = (P, n₀, n₁, target)``."""
    P, n_neg, n_pos, target = cell
    law = design(figure, P, target)
    raw, y = law.draw(n_neg, n_pos, rng)
    X, _, std = z_scores(raw)
    model = classifier().fit(X, y)
    seed = int(rng.integers(2**31))
    found = estimates(model, X, y, seed)
    found["truth"] = law.auc(model.coef_[0] / std)
    if figure == FIG1:
        on_raw = classifier().fit(raw, y)
        found[RAW] = skauc.auc_posterior(on_raw, raw, y, prior="paper").mean()
    if figure == FIG3:
        how = {"prior": "paper", "covariance": "separate"}
        found[SEPARATE] = skauc.auc_posterior(model, X, y, **how).mean()
    return found


def on_real_rows(figure, cell, rng, path):
    """One split of a real set, ``cell = (percentage of training rows,)``."""
    X, y = load(path, REAL[figure])
    n_train = round(len(y) * cell[0] / 100)
    seed = int(rng.integers(2**31))
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_train, stratify=y, random_state=seed
    )
    Z, mean, std = z_scores(X[train])
    model = classifier().fit(Z, y[train])
    found = estimates(model, Z, y[train], seed)
    held_out = (X[test] - mean) / std @ model.coef_[0]
    found["truth"] = roc_auc_score(y[test], held_out)
    return found


@cache
def load(path, name):
    """X and y of a real set."""
    with np.load(Path(path) / f"{name}.npz", allow_pickle=True) as file:
        return file["X"].astype(float), file["y"].astype(int)
