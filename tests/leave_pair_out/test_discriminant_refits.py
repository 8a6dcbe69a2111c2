"""Batched discriminants against fits to the drawn rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skauc import GaussianAUCClassifier
from skauc.leave_pair_out._bootstrap import bootstrap_counts
from skauc.leave_pair_out._discriminant_refits import (
    refit_discriminant,
    ridge_of_discriminant,
)
from skauc.model_selection._refit_objective import discriminant_objective

LDA = LinearDiscriminantAnalysis
MODELS = [
    LDA(),
    LDA(solver="lsqr", shrinkage="auto"),
    LDA(solver="eigen", shrinkage="auto", priors=[0.3, 0.7]),
    LDA(solver="lsqr", shrinkage=0.3),
    LDA(solver="eigen", shrinkage=0.05, priors=[0.2, 0.8]),
    *(
        GaussianAUCClassifier(shrinkage=s, standardize=b, solver="closed_form")
        for s in (None, 0.2, "auto", "oas")
        for b in (True, False)
    ),
]


def _rows(n, P):
    rng = np.random.default_rng(2)
    positive = np.arange(n) % 3 == 0
    X = np.geomspace(0.3, 3.0, P) * (rng.normal(size=(n, P)) + rng.normal(size=(n, 1)))
    X[:, 1] = 2.0  # a constant feature
    return X + 0.5 * positive[:, None], positive


@pytest.mark.filterwarnings("ignore:Variables are collinear")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(30, 60), (60, 5)])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_scores_are_those_of_a_fit_to_the_drawn_rows(model, shape):
    X, positive = _rows(*shape)
    counts = bootstrap_counts(positive, 4)
    refits = refit_discriminant(
        discriminant_objective(model, X.shape), X, positive, counts
    )
    everything = np.vstack([refits.full, refits.scores])
    for scores, c in zip(everything, [np.ones_like(counts[0]), *counts], strict=True):
        rows = np.repeat(np.arange(len(X)), c)
        true = model.fit(X[rows], positive[rows]).decision_function(X)
        assert np.corrcoef(scores, true)[0, 1] > 1 - 1e-9


def test_frequency_weights_multiply_the_counts():
    X, positive = _rows(40, 6)
    counts, weight = bootstrap_counts(positive, 3), np.arange(40) % 3 + 1
    rule = discriminant_objective(GaussianAUCClassifier(shrinkage="auto"), X.shape)
    weighted = refit_discriminant(rule, X, positive, counts, weight).scores
    model = GaussianAUCClassifier(shrinkage="auto")
    for scores, c in zip(weighted, counts, strict=True):
        true = model.fit(X, positive, sample_weight=c * weight).decision_function(X)
        assert np.corrcoef(scores, true)[0, 1] > 1 - 1e-9


def test_sparse_rows_give_the_same():
    X, positive = _rows(30, 60)
    counts = bootstrap_counts(positive, 2)
    rule = discriminant_objective(GaussianAUCClassifier(shrinkage="auto"), X.shape)
    thin = refit_discriminant(rule, sparse.csr_matrix(X), positive, counts).scores
    dense = refit_discriminant(rule, X, positive, counts).scores
    np.testing.assert_array_equal(thin, dense)


def test_what_is_not_known():
    shape = (30, 60)
    assert (
        discriminant_objective(GaussianAUCClassifier(shrinkage="bayes"), shape) is None
    )
    assert discriminant_objective(LDA(solver="lsqr"), shape) is None
    assert discriminant_objective(LDA(), shape, np.ones(30)) is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_ridge_has_the_direction_of_the_discriminant(model):
    X, positive = _rows(60, 5)
    rule = discriminant_objective(model, X.shape)
    A, fit = ridge_of_discriminant(rule, X, positive, np.ones(60))
    t = np.where(positive, 1.0, -1.0)
    ones = np.column_stack([A, np.ones(60)])
    normal = (ones.T * fit.case_weight) @ ones + np.diag([fit.l2] * 5 + [0.0])
    score = ones @ np.linalg.solve(normal, ones.T @ (fit.case_weight * t))
    true = model.fit(X, positive).decision_function(X)
    assert np.corrcoef(score, true)[0, 1] > 1 - 1e-9
