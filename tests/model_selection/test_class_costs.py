"""Rows that trained a model with costs of their classes are told by two numbers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, lsq_linear
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC
from sklearn_versions import l1_part

from skauc import RowBlocks, UntrustedAUCWarning, auc_posterior
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._smooth_refits import smooth_optimum
from skauc.model_selection._class_costs import trained_with_costs
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._scored_model import score_model
from skauc.model_selection._training_rows import told_rows
from skauc.statistics._block_matrix import BlockMatrix


def samples(seed, n=100, P=60):
    """Two samples with a weak signal in three features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 2 * n)
    X = rng.standard_normal((2 * n, P)) + 0.3 * y[:, None] * (np.arange(P) < 3)
    return (X[:n], y[:n]), (X[n:], y[n:])


def found(model, X, y):
    scored = score_model(open_estimator(model, X), y, None, None)
    question = scored.floats, scored.second_class, scored.objective
    return trained_with_costs(*question), told_rows(scored)


FITS = {
    "l1": LogisticRegression(**l1_part(1), solver="liblinear"),
    "l2": LogisticRegression(tol=1e-8, max_iter=5000),
    "liblinear": LogisticRegression(solver="liblinear"),
    "ridge": RidgeClassifier(),
    "no intercept": RidgeClassifier(fit_intercept=False),
    "squared hinge": LinearSVC(max_iter=100_000, tol=1e-6, C=0.1),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("cost", [5.0, 0.2])
def test_costs_of_the_classes_are_found(name, cost):
    for seed in range(4):
        here, there = samples(seed)
        cost_of_row = np.where(here[1], cost, 1.0)
        model = clone(FITS[name]).fit(*here, sample_weight=cost_of_row)
        by_costs, told = found(model, *here)
        assert by_costs
        # of an L1 penalty the gradient is that of other rows, of others it may be less
        assert told in ({"training"} if name == "l1" else {"training", None})
        assert found(model, *there) == (False, "held-out")
        thin = sparse.csr_array(here[0])
        assert found(model, thin, here[1])[0]


def test_weights_that_differ_within_a_class_are_none():
    for seed in range(4):
        here, _ = samples(seed)
        weight = np.random.default_rng(seed).integers(0, 4, 100).astype(float)
        model = clone(FITS["l1"]).fit(*here, sample_weight=weight)
        assert not found(model, *here)[0]


def test_few_equations_prove_nothing():
    """With an intercept four coefficients are five, of which two are for the costs."""
    for P, expected in ((4, False), (5, True)):
        X, y = samples(0, P=P)[0]
        model = RidgeClassifier(10.0).fit(X, y, sample_weight=np.where(y, 5.0, 1.0))
        assert found(model, X, y)[0] == expected


def test_without_a_penalty_there_is_no_force_to_compare_with():
    here, there = samples(0, P=8)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(*here)
    for rows in (here, there):
        scored = score_model(open_estimator(model, rows[0]), rows[1], None, None)
        question = scored.floats, scored.second_class, scored.objective
        assert not trained_with_costs(*question)


def test_noise_with_costs_in_the_fit_alone_is_not_reported_as_held_out():
    """It was .93, and no word."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 60)), rng.integers(0, 2, 100)
    model = clone(FITS["l1"]).fit(X, y, sample_weight=np.where(y, 5.0, 1.0))
    with pytest.warns(UntrustedAUCWarning, match="its optimum"):
        posterior = auc_posterior(model, X, y)
    assert posterior.interval()[0] < 0.5


def rest_of_equations(X, positive, fit):
    """By the text: what the best costs leave of the penalty, in units of equations."""
    A = np.column_stack([X, np.ones(len(X))])
    p = 1 / (1 + np.exp(-(X @ fit.w + fit.intercept)))
    pull = fit.case_weight * (p - positive)
    forces = np.column_stack([A[c].T @ pull[c] for c in (~positive, positive)])
    penalty = fit.l2 * np.append(fit.w, 0.0)
    unit = np.hypot(*forces.T) + np.abs(penalty)
    best = lsq_linear(forces / unit[:, None], -penalty / unit, (0, np.inf), tol=1e-12)
    return np.sqrt(2 * best.cost) / np.linalg.norm(penalty / unit)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e3])
def test_a_fiftieth_of_the_force_may_be_left(size):
    """Of an optimum that is left further and further, in any unit."""
    X, y = samples(0, P=12)[0]
    positive, X = y == 1, X * 10.0 ** (np.arange(12) % 5 - 2)
    cost = size * np.where(positive, 3.0, 1.0)
    start = PenalisedFit("logistic", size, cost, np.zeros(12), 0.0, np.inf)
    fit = smooth_optimum(start, X, positive)
    aside = np.random.default_rng(1).normal(size=12) * fit.w

    def at(step):
        weight = np.full(100, size)
        return replace(fit, case_weight=weight, w=fit.w + step * aside)

    for share, trained in ((0.0195, True), (0.0205, False)):
        step = brentq(
            lambda t, share=share: rest_of_equations(X, positive, at(t)) - share, 0, 1
        )
        assert trained_with_costs(X, positive, at(step)) == trained


def test_where_there_are_no_equations():
    X, y = samples(0, P=12)[0]
    positive, one, w = y == 1, np.ones(100), np.ones(12)
    costs = PenalisedFit("logistic", 1.0, np.where(y, 3.0, 1.0), 0 * w, 0.0, np.inf)
    trained = replace(smooth_optimum(costs, X, positive), case_weight=one)
    assert trained_with_costs(X, positive, trained)
    blocks = BlockMatrix(RowBlocks([(X, y)]), {0: 100}, 12)
    assert not trained_with_costs(blocks, positive, trained)  # are not asked
    fit = replace(trained, w=w)
    assert not trained_with_costs(X, positive, replace(fit, loss="hinge"))
    # no row has a feature, and nothing holds its coefficient
    nothing = np.where(np.arange(12) == 3, 0.0, X)
    assert not trained_with_costs(nothing, positive, replace(fit, l2=0.0))
    huge = np.where(np.arange(12) == 3, 1e307, X)
    small = replace(fit, w=np.where(np.arange(12) == 3, 1e-307, 1.0))
    with np.errstate(all="ignore"):
        assert not trained_with_costs(huge, positive, small)
