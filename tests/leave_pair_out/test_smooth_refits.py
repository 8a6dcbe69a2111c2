"""Batched refits against scikit-learn's own, one after another."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from skauc.leave_pair_out import _smooth_refits
from skauc.leave_pair_out._bootstrap import bootstrap_counts
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._smooth_refits import (
    FeatureSpace,
    refit_smooth,
    smooth_optimum,
    uses_rows,
)
from skauc.leave_pair_out._sparse_optimum import optimum_by_products
from skauc.model_selection._refit_objective import training_objective
from skauc.model_selection._training_objective import penalised_fit

TIGHT = {"tol": 1e-10, "max_iter": 1_000_000}
MODELS = [
    *(LogisticRegression(C=C, **TIGHT) for C in (1e-4, 1.0, 1e3)),
    LogisticRegression(C=0.1, fit_intercept=False, **TIGHT),
    LogisticRegression(C=0.5, class_weight={0: 3.0, 1: 0.5}, **TIGHT),
    LogisticRegression(solver="liblinear", intercept_scaling=3.0, **TIGHT),
    LinearSVC(C=0.03, class_weight="balanced", **TIGHT),
    LinearSVC(C=10.0, fit_intercept=False, **TIGHT),
    RidgeClassifier(alpha=3.0),
    RidgeClassifier(alpha=1e-3, fit_intercept=False),
]


def _rows(n, P, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    scale = np.geomspace(0.3, 3.0, P)
    X = scale * (rng.normal(size=(n, P)) + rng.normal(size=(n, 1)) + 1.0)
    return X + 0.4 * positive[:, None], positive


def _true_scores(model, X, positive, counts, weight=1.0):
    return np.array(
        [
            model.fit(X, positive, sample_weight=c * weight).decision_function(X)
            for c in counts.astype(float)
        ]
    )


@pytest.mark.parametrize("shape", [(24, 60), (30, 4)])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_scores_are_those_of_true_refits(model, shape):
    X, positive = _rows(*shape)
    counts = bootstrap_counts(positive, 5)
    fit = penalised_fit(model.fit(X, positive), X, positive)
    refits = refit_smooth(fit, X, positive, counts)
    true = _true_scores(model, X, positive, counts)
    assert refits.converged.all()
    assert refits.full_converged
    # liblinear and lbfgs stop at 1e-10 of the gradient, not of the scores
    np.testing.assert_allclose(refits.scores, true, rtol=2e-4, atol=2e-4 * true.std())


def test_sample_weights_multiply_the_counts():
    X, positive = _rows(30, 50)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, 30)
    model = LogisticRegression(C=0.1, **TIGHT).fit(X, positive, sample_weight=weight)
    fit = penalised_fit(model, X, positive, weight)
    counts = bootstrap_counts(positive, 4)
    true = _true_scores(model, X, positive, counts, weight)
    np.testing.assert_allclose(
        refit_smooth(fit, X, positive, counts).scores, true, atol=2e-4 * true.std()
    )


@pytest.mark.parametrize("shape", [(40, 900), (60, 20)])
def test_sparse_rows_give_the_same(shape):
    X, positive = _rows(*shape)
    X[np.random.default_rng(1).uniform(size=shape) < 0.8] = 0.0
    model = LogisticRegression(**TIGHT).fit(X, positive)
    counts = bootstrap_counts(positive, 4)
    fit = penalised_fit(model, X, positive)
    dense = refit_smooth(fit, X, positive, counts).scores
    thin = refit_smooth(fit, sparse.csr_matrix(X), positive, counts).scores
    np.testing.assert_allclose(thin, dense, atol=1e-5 * dense.std())


def test_kernel_of_the_rows_is_asked_once_and_changes_nothing():
    X, positive = _rows(24, 60)
    counts, kept, asked = bootstrap_counts(positive, 3), {}, []

    def remember(name, compute):
        asked.append(name)
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    for C in (0.1, 10.0):
        for scaling in (1.0, 3.0):
            model = LinearSVC(C=C, intercept_scaling=scaling, **TIGHT).fit(X, positive)
            fit = penalised_fit(model, X, positive)
            shared = refit_smooth(fit, X, positive, counts, remember).scores
            own = refit_smooth(fit, X, positive, counts).scores
            np.testing.assert_array_equal(shared, own)
    assert [name for name, *_ in asked].count("factor of kernel") == 4
    assert len(kept) == 4  # a kernel and its factor of each intercept


@pytest.mark.parametrize("shape", [(30, 200), (40, 12)])
def test_fit_that_stopped_early_is_taken_to_its_optimum(shape):
    X, positive = _rows(*shape)
    model = LogisticRegression(C=1e4, **TIGHT).fit(X, positive)
    fit = penalised_fit(model, X, positive)
    counts = bootstrap_counts(positive, 3)
    early = type(fit)(
        fit.loss,
        fit.l2,
        fit.case_weight,
        0.1 * fit.w + 0.01,
        3.0,
        fit.intercept_scaling,
    )
    a, b = (refit_smooth(f, X, positive, counts) for f in (fit, early))
    assert a.converged.all()
    assert b.converged.all()
    np.testing.assert_allclose(b.full, a.full, atol=1e-3 * a.full.std())
    np.testing.assert_allclose(b.scores, a.scores, atol=1e-3 * a.scores.std())


@pytest.mark.parametrize("loss_model", [LogisticRegression, LinearSVC])
@pytest.mark.parametrize("shape", [(20, 300), (60, 2), (21, 20)])
def test_separable_rows_under_a_weak_penalty_converge(loss_model, shape):
    X, positive = _rows(*shape)
    X[positive] += 5.0
    model = loss_model(C=1.0).fit(X, positive).set_params(C=1e4)
    refits = refit_smooth(
        penalised_fit(model, X, positive), X, positive, bootstrap_counts(positive, 8)
    )
    assert np.isfinite(refits.scores).all()
    assert refits.converged.all()


@pytest.mark.parametrize("shape", [(30, 200), (40, 12)])
def test_a_fit_at_its_optimum_is_not_moved(shape):
    X, positive = _rows(*shape)
    model = LogisticRegression(**TIGHT).fit(X, positive)
    fit, counts = penalised_fit(model, X, positive), bootstrap_counts(positive, 3)
    told = refit_smooth(fit, X, positive, counts, solved=True)
    found = refit_smooth(fit, X, positive, counts)
    assert told.full_converged
    np.testing.assert_allclose(told.full, X @ fit.w + fit.intercept, atol=1e-8)
    tol = 2e-4 * found.scores.std()
    np.testing.assert_allclose(told.scores, found.scores, atol=tol)


def test_row_space_where_it_is_the_smaller_one():
    X, _ = _rows(10, 10)
    assert uses_rows(X)
    assert not uses_rows(X[:, :9])
    assert uses_rows(sparse.csr_matrix(X[:, :9]))


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("scaling", [np.inf, 2.0, 0.0])
def test_samples_of_fewer_rows_than_features_are_refitted_in_their_span(
    loss, scaling, C, monkeypatch
):
    """Where all rows are more than the features, too: the same numbers."""
    X, positive = _rows(140, 110)
    start = 1e-3 * np.ones(110)
    fit = PenalisedFit(loss, 1 / C, np.ones(140), start, 0.0, scaling)
    fit = fit if C < 1 else smooth_optimum(fit, X, positive)
    counts = bootstrap_counts(positive, 3)
    here = refit_smooth(fit, X, positive, counts)
    spaces = []
    made = _smooth_refits.RowSpace.__init__

    def counted(space, *given):
        spaces.append(space)
        made(space, *given)

    monkeypatch.setattr(_smooth_refits.RowSpace, "__init__", counted)
    monkeypatch.setattr(_smooth_refits, "_DRAWN", 1.0)
    there = refit_smooth(fit, X, positive, counts)
    assert not spaces
    np.testing.assert_array_equal(here.converged, there.converged)
    assert here.converged.all()
    stops_early = loss == "squared_hinge" and C < 1
    tol = (1e-3 if stops_early else 1e-8) * there.scores.std()
    np.testing.assert_allclose(here.scores, there.scores, rtol=0, atol=tol)
    np.testing.assert_allclose(here.full, there.full, rtol=0, atol=tol)


def test_where_samples_are_refitted_in_the_span_of_their_rows():
    X, _ = _rows(200, 160)
    fit = PenalisedFit("logistic", 1.0, np.ones(200), np.ones(160), 0.0, np.inf)

    def rows(fit, X, **how):
        space = _smooth_refits._space(fit, X, lambda name, compute: compute(), **how)
        return not isinstance(space, FeatureSpace)

    assert rows(fit, X, many=True)
    assert not rows(fit, X)  # one system of all rows is no smaller there
    assert not rows(fit, X[:, :130], many=True)
    assert not rows(replace(fit, loss="squared"), X, many=True)
    assert rows(replace(fit, l2=1e-3), X, many=True)
    assert not rows(replace(fit, l2=1e-6), X, many=True)  # a kernel has no such digits


def test_what_would_cost_too_much_is_left_to_true_refits():
    X, positive = _rows(30, 4)
    fit = penalised_fit(LogisticRegression().fit(X, positive), X, positive)
    wide = sparse.csr_matrix((6000, 7000))
    assert refit_smooth(fit, wide, np.arange(6000) < 9, np.ones((1, 6000))) is None
    tall = sparse.csr_matrix((40_000, 1000))
    assert refit_smooth(fit, tall, np.arange(40_000) < 9, np.ones((1, 40_000))) is None


def test_factors_of_what_is_not_positive_definite():
    """Rounding may leave none, and features without curvature or penalty none."""
    space = FeatureSpace(None, np.zeros(3), None, None, False)
    for H in (np.zeros((3, 3)), np.ones((3, 3)), [[0, 0, 0], [0, 1, 1.1], [0, 1.1, 1]]):
        (L,) = space.factored(np.array([H], dtype=float))
        assert np.isfinite(L).all()
        assert (np.diag(L) > 0).all()
    (L,) = space.factored(np.ones((1, 3, 3)))
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, np.ones((3, 3)), rtol=1e-12)


@pytest.mark.parametrize("shape", [(30, 60), (60, 6)])
@pytest.mark.parametrize("model", [MODELS[1], MODELS[6]], ids=["logistic", "hinge"])
def test_weights_may_be_tiny(model, shape):
    """Only their ratio to the penalty matters."""
    X, positive = _rows(*shape)
    fit = penalised_fit(model.fit(X, positive), X, positive)
    tiny = replace(fit, l2=1e-12 * fit.l2, case_weight=1e-12 * fit.case_weight)
    counts = bootstrap_counts(positive, 2)
    one, two = (refit_smooth(f, X, positive, counts) for f in (fit, tiny))
    assert two.converged.all()
    np.testing.assert_allclose(two.scores, one.scores, atol=1e-4 * one.scores.std())


def test_sparse_rows_beside_a_tiny_penalty_reach_their_optimum():
    # rows that can be separated: without a penalty every margin is 1 or more
    X = sparse.random(200, 190, 0.05, format="csr", random_state=1)
    positive, C = np.arange(200) % 2 == 0, 1e5
    start = np.full(200, C), np.zeros(190), 0.0, np.inf
    fit = PenalisedFit("squared_hinge", 1.0, *start)
    assert optimum_by_products(fit, X, positive) is None
    found = smooth_optimum(fit, X, positive)
    margin = np.where(positive, 1, -1) * (X @ found.w + found.intercept)
    # what a margin lacks is α/(2C), with Σα next to ‖w‖²
    assert found.w @ found.w < 0.01 * 2 * C
    assert margin.min() > 0.99


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("shape", [(30, 60), (60, 6)])
def test_the_optimum_of_either_loss_and_form_of_the_rows(shape, thin):
    """The hinge has no slope to step along: it is rounded, sparse rows or not."""
    X, positive = _rows(*shape)
    for model in (
        LogisticRegression(C=0.5, **TIGHT),
        LinearSVC(loss="hinge", C=0.05, **TIGHT),
    ):
        fit = training_objective(model.fit(X, positive), X, positive)
        rows = sparse.csr_matrix(X) if thin else X
        start = replace(fit, w=0.5 * fit.w, intercept=0.0)
        found = smooth_optimum(start, rows, positive)
        slow, ours = X @ fit.w, X @ found.w
        assert found.loss == fit.loss
        np.testing.assert_allclose(ours, slow, atol=2e-2 * slow.std())
