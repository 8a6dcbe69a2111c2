"""Batched discriminants against fits to the drawn rows."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from skauc import GaussianAUCClassifier, RowBlocks
from skauc.estimators._lda_moments import parent_divides_by_n
from skauc.leave_pair_out._bootstrap import bootstrap_counts
from skauc.leave_pair_out._discriminant_refits import (
    DiscriminantRule,
    _maximiser,
    refit_discriminant,
    ridge_of_discriminant,
)
from skauc.leave_pair_out._optimum import at_optimum
from skauc.leave_pair_out._second_source import second_source
from skauc.model_selection._refit_objective import discriminant_objective
from skauc.statistics._block_matrix import BlockMatrix

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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(12, 3), (400, 2), (12, 30)])
@pytest.mark.parametrize(
    "model",
    [
        LDA(solver="lsqr", shrinkage="auto"),
        *(GaussianAUCClassifier(shrinkage=s) for s in ("auto", "oas")),
        GaussianAUCClassifier(shrinkage=None, standardize=False, solver="closed_form"),
    ],
    ids=repr,
)
def test_intensities_at_their_ends(model, shape):
    """Of spherical rows it is 1, of many correlated ones nearly 0."""
    rng = np.random.default_rng(0)
    positive = np.arange(shape[0]) % 2 == 0
    X = rng.normal(size=shape) + 0.7 * positive[:, None]
    if shape == (12, 3):
        X = 0.1 * X + np.repeat(np.vstack([np.eye(3), -np.eye(3)]), 2, axis=0)
    if shape == (400, 2):
        X[:, 1] += 3 * X[:, 0]
    rule = discriminant_objective(model, shape)
    scores = refit_discriminant(rule, X, positive, np.ones((1, shape[0]))).full
    true = model.fit(X, positive).decision_function(X)
    assert np.corrcoef(scores, true)[0, 1] > 1 - 1e-12


@pytest.mark.parametrize("df", [0, 2])  # before scikit-learn 1.8 two
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_singular_values_count_as_scikit_learns(rank, df):
    """A tolerance just above and just below one of them, whatever they are over."""
    X, positive = _rows(40, 5)
    X = X + 0.3 * np.random.default_rng(1).normal(size=X.shape)
    centred = (
        X
        - np.array([X[positive == c].mean(axis=0) for c in (0, 1)])[
            positive.astype(int)
        ]
    )
    scaled = centred / centred.std(axis=0)
    n = 40 if parent_divides_by_n("svd") else 38  # as the version has it
    values = np.linalg.svd(scaled / np.sqrt(n), compute_uv=False)
    for factor in (0.995, 1.005):
        model = LDA(tol=factor * values[rank])
        rule = discriminant_objective(model, X.shape)
        assert rule.rank_df == 40 - n
        tol = model.tol * np.sqrt(n / (40 - df))
        rule = replace(rule, rank_df=df, rank_tol=tol)
        scores = refit_discriminant(rule, X, positive, np.ones((1, 40))).full
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of collinear variables
            true = model.fit(X, positive).decision_function(X)
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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "rule",
    [
        DiscriminantRule(unbiased=False, shrinkage=0.3, scaled=False),
        DiscriminantRule(False, 0.0, False, priors=np.array([0.2, 0.8])),
        DiscriminantRule(False, 0.0, False, rank_tol=1e-4),
        DiscriminantRule(unbiased=True, shrinkage=0.2, scaled=True),
        DiscriminantRule(unbiased=True, shrinkage=0.2, scaled=False),
    ],
    ids=str,
)
def test_the_ridge_of_rows_in_blocks_is_that_of_the_array(rule, weighted):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 5)) * [1, 2, 30, 0.1, 0] + [0, 5, 0, 1, 7]
    positive = np.arange(30) % 3 == 0
    weight = rng.uniform(0.5, 3, 30) if weighted else np.ones(30)
    blocks = RowBlocks([(X[:7], positive[:7]), (X[7:], positive[7:])])
    lazy = BlockMatrix(blocks, {0: 7, 1: 23}, 5)
    array, fit = ridge_of_discriminant(rule, X, positive, weight)
    made, same = ridge_of_discriminant(rule, lazy, positive, weight)
    made = made.made()
    size = np.abs(array).max()
    np.testing.assert_allclose(made - made[0], array - array[0], atol=1e-9 * size)
    np.testing.assert_allclose(same.case_weight, fit.case_weight, rtol=1e-12)
    # far from the origin squares have no digits left
    middle = np.average(made, axis=0, weights=weight)
    np.testing.assert_allclose(middle, 0, atol=1e-9 * size)


@pytest.mark.parametrize("model", [MODELS[1], MODELS[11]], ids=repr)
@pytest.mark.parametrize("round_classes", [[0, 1], [1]], ids=["both", "one"])
def test_spherical_classes_whose_intensity_is_one(model, round_classes):
    rng = np.random.default_rng(4)
    n, P = 600, 8
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, P))
    for k in (0, 1):  # scatter k·I: nothing is left of it beside the target
        rows = X[positive == k] - X[positive == k].mean(axis=0)
        u, s, vt = np.linalg.svd(rows, full_matrices=False)
        X[positive == k] = u @ vt if k in round_classes else (u * s) @ vt + rows[:, :1]
    X[positive] += 0.03 * rng.normal(size=P)
    rule = discriminant_objective(model, X.shape)
    A, fit = ridge_of_discriminant(rule, X, positive, np.ones(n))
    assert (fit.case_weight > 0).all()
    found = at_optimum(fit, A, positive)
    true = model.fit(X, positive).decision_function(X)
    assert np.corrcoef(A @ found.w, true)[0, 1] > 1 - 1e-9


def test_classes_that_are_noise_have_no_scatter_of_their_own():
    """Their intensity is 1, though their scatter is not spherical."""
    rng = np.random.default_rng(0)
    positive, model = np.arange(24) % 2 == 0, MODELS[1]
    while True:
        X = rng.normal(size=(24, 6))
        scaled = (StandardScaler().fit_transform(X[positive == c]) for c in (0, 1))
        if min(map(ledoit_wolf_shrinkage, scaled)) == 1:
            break
    X[positive] += rng.normal(size=6)
    rule = discriminant_objective(model, X.shape)
    A, fit = ridge_of_discriminant(rule, X, positive, np.ones(24))
    scores = A @ at_optimum(fit, A, positive).w
    true = model.fit(X, positive).decision_function(X)
    assert np.corrcoef(scores, true)[0, 1] > 1 - 1e-10


def test_leave_one_out_of_spherical_classes():
    rng = np.random.default_rng(0)
    positive = rng.random(900) < 0.4
    X = rng.normal(size=(900, 8)) + 0.4 * positive[:, None]
    model = MODELS[1]
    rule = discriminant_objective(model, X.shape)
    left_out = cross_val_predict(model, X, positive, cv=30, method="decision_function")
    found = second_source(rule, X, positive)
    assert found.method == "leave-one-out"
    assert found.auc == pytest.approx(roc_auc_score(positive, left_out), abs=3e-3)


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("n", [4, 12])
def test_direction_of_dependent_features_has_no_part_that_is_rounding(n, rank):
    rng = np.random.default_rng(0)
    for _ in range(5):
        R = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, 6))
        d = R.T @ rng.normal(size=n)
        unit = np.sqrt((R**2).sum(axis=0)) if n > 6 else np.ones(6)
        Z = R / unit
        expected = np.linalg.pinv(Z.T @ Z, rcond=1e-9) @ (d / unit) / unit
        got = _maximiser(R, d)
        np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())
