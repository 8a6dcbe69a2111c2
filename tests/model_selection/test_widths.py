"""Columns that say nothing new: the AUC must not grow with their number."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from skauc import (
    AdaptivePrior,
    auc_posterior,
    cbauc_scorer,
    lpo_auc_scorer,
    make_cbauc_scorer,
    search_posterior,
)

ROWS, COLUMNS, SETS = 40, 4000, 16
WIDTHS = 300, 1000, COLUMNS
ALONE = make_cbauc_scorer(prior=AdaptivePrior(leave_pair_out=False))


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
                ALONE(model, *known),
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


@pytest.mark.parametrize("n", [60, 240])
def test_free_pairs_are_in_the_choice_of_wide_data(n):
    """A third of the way from the model to the pairs, up to 200 rows."""
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 300)), np.arange(n) % 2
    X[:, :20] += 0.6 * y[:, None]
    model = LogisticRegression(C=1e-3, tol=1e-8).fit(X, y)
    score, alone = (ndtri(by(model, X, y)) for by in (cbauc_scorer, ALONE))
    A = lpo_auc_scorer(model, X, y)
    z = ndtri((A * n + 0.5) / (n + 1))
    expected = alone + (z - alone) / 3 if n <= 200 else alone
    assert score == pytest.approx(expected, rel=1e-6)
    posterior = auc_posterior(model, X, y)
    assert posterior.choice("probit") == pytest.approx(expected, rel=1e-6)


def test_models_without_pairs_are_ranked_at_the_level_of_the_others():
    """Ridge models of the same rows stand for pairs, so that no kind is favoured."""
    X, y, _ = correlated(3)
    lasso = LogisticRegression(l1_ratio=1, solver="liblinear", C=0.5).fit(X, y)
    report = auc_posterior(lasso, X, y)
    score = ndtri(cbauc_scorer(lasso, X, y))
    assert score != pytest.approx(ndtri(ALONE(lasso, X, y)))
    assert report.choice("probit") == pytest.approx(score)
    ridge = RidgeClassifier(alpha=1e4).fit(X, y)
    found = search_posterior([lasso, ridge], X, y)
    assert found.p_best.sum() == pytest.approx(1)
