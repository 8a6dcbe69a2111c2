"""Columns that say nothing new: the AUC must not grow with their number."""

from functools import cache

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.linear_model import RidgeClassifier

from skauc import AdaptivePrior, auc_posterior

ROWS, COLUMNS, SETS = 40, 4000, 16
WIDTHS = 300, 1000, COLUMNS
ALONE = AdaptivePrior(leave_pair_out=False)


def correlated(seed, attainable=0.8):
    """Rows whose columns share 30 factors, labels, and the AUC of coefficients."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((COLUMNS, 30)) * np.arange(1, 31) ** -0.5
    own = 0.5 * np.mean(np.sum(loadings**2, axis=1))
    signal = rng.standard_normal(30)
    # in the factors alone the attainable AUC is Φ(|signal|/√2)
    signal *= np.sqrt(2) * ndtri(attainable) / np.linalg.norm(signal)
    y = np.arange(ROWS) % 2
    F = rng.standard_normal((ROWS, 30)) + np.outer(y, signal)
    X = F @ loadings.T + np.sqrt(own) * rng.standard_normal((ROWS, COLUMNS))

    def truth(w, which):
        variance = own * (w @ w) + np.sum((loadings[which].T @ w) ** 2)
        return float(ndtr(w @ loadings[which] @ signal / np.sqrt(2 * variance)))

    return X, y, truth


@cache
def means(permuted):
    """Mean over sets of the truth, the model's AUC and the report, for each width."""
    found = np.zeros((3, len(WIDTHS)))
    for seed in range(SETS):
        X, y, truth = correlated(seed)
        rng = np.random.default_rng(seed)
        y = rng.permutation(y) if permuted else y
        order = rng.permutation(COLUMNS)
        for k, width in enumerate(WIDTHS):
            which = order[:width]
            known = X[:, which], y
            model = RidgeClassifier(alpha=10.0 * width).fit(*known)
            found[:, k] += (
                truth(np.ravel(model.coef_), which),
                auc_posterior(model, *known, rows="training", prior=ALONE).mean(),
                auc_posterior(model, *known, rows="training").mean(),
            )
    return found / SETS


def test_auc_moves_with_the_truth_when_columns_are_added():
    truth, model, report = means(permuted=False)
    assert truth[0] > 0.6
    assert np.ptp(model) < np.ptp(truth) + 0.03
    assert np.ptp(report) < np.ptp(truth) + 0.03
    assert np.abs(report - truth).max() < 0.06


def test_permuted_labels_have_no_auc_at_any_width():
    _, model, report = means(permuted=True)
    assert np.abs(model - 0.5).max() < 0.05
    assert report.max() < 0.54
