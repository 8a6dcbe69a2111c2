"""Optima and refits by Newton's method, against scikit-learn's solvers."""

import numpy as np
import pytest
from left_out_designs import LOGISTIC, LOSSES, SQUARED, draw, rows_and_fit
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from skauc.leave_pair_out._left_out import second_source
from skauc.leave_pair_out._objective import (
    Coordinates,
    Fit,
    Objective,
    at_optimum,
    discriminant_ridge,
    stationarity,
)
from skauc.statistics._rows import Rows

SHAPES = [(60, 4), (50, 45), (40, 90)]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_derivatives_of_the_losses(loss):
    z, h = np.array([-3.0, -0.4, 0.3, 2.1]), 1e-6
    for sign in (-1.0, 1.0):
        slope = (loss.value(z + h, sign) - loss.value(z - h, sign)) / (2 * h)
        assert loss.slope(z, sign) == pytest.approx(slope, abs=1e-6)
        bend = (loss.slope(z + h, sign) - loss.slope(z - h, sign)) / (2 * h)
        assert loss.curvature(z, sign) == pytest.approx(bend, abs=1e-6)


def test_logistic_loss_of_very_large_scores():
    z = np.array([-1e4, 1e4])
    assert LOGISTIC.value(z, 1.0) == pytest.approx([1e4, 0.0])
    assert LOGISTIC.slope(z, 1.0) == pytest.approx([-1.0, 0.0])
    assert np.isfinite(LOGISTIC.curvature(z, 1.0)).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_optimum_from_zero(loss, shape):
    for C in [0.01, 10.0]:
        rows, fit = rows_and_fit(loss, C, *shape)
        found = at_optimum(Fit(fit.objective, 0 * fit.coef), rows)
        assert found.coef == pytest.approx(fit.coef, abs=2e-3 * np.abs(fit.coef).max())
        assert stationarity(found, rows) < 1e-2


@pytest.mark.parametrize("scaling", [0.1, 1.0, 50.0])
def test_intercept_scaling_of_liblinear(scaling):
    X, positive = draw(60, 4)
    fitted = LogisticRegression(
        C=0.2, solver="liblinear", intercept_scaling=scaling, tol=1e-10
    ).fit(X + 1.0, positive)
    rows = Rows.of(X + 1.0, positive)
    objective = Objective(LOGISTIC, 5.0, scaling, free=False)
    found = at_optimum(Fit(objective, np.zeros(4)), rows)
    assert found.coef == pytest.approx(fitted.coef_[0], abs=5e-4)
    assert found.intercept == pytest.approx(fitted.intercept_[0], abs=5e-4)


def test_penalty_of_each_feature():
    """A penalty l2_j is the penalty 1 of the feature over √l2_j."""
    X, positive = draw(40, 60)
    l2 = np.geomspace(0.1, 10.0, 60)
    rows, scaled = Rows.of(X, positive), Rows.of(X / np.sqrt(l2), positive)
    one = at_optimum(Fit(Objective(LOGISTIC, l2), np.zeros(60)), rows)
    two = at_optimum(Fit(Objective(LOGISTIC, 1.0), np.zeros(60)), scaled)
    assert one.coef == pytest.approx(two.coef / np.sqrt(l2), rel=1e-5, abs=1e-8)


def test_class_weight_is_a_weight():
    X, positive = draw(50, 4)
    weight = np.where(positive, 3.0, 0.5)
    one = at_optimum(
        Fit(Objective(LOGISTIC, 1.0, class_weight=(0.5, 3.0)), np.zeros(4)),
        Rows.of(X, positive),
    )
    two = at_optimum(
        Fit(Objective(LOGISTIC, 1.0), np.zeros(4)), Rows.of(X, positive, weight)
    )
    assert one.coef == pytest.approx(two.coef, rel=1e-6)


def test_separated_rows_without_a_penalty_do_not_fail():
    X, positive = draw(40, 2, distance=30.0)
    start, rows = Fit(Objective(LOGISTIC, 0.0), np.zeros(2)), Rows.of(X, positive)
    with pytest.raises(LinAlgError):  # no optimum is found
        at_optimum(start, rows)
    assert second_source(start, rows) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_coordinates_keep_products_of_rows(shape):
    for centred in [False, True]:
        for make in [np.asarray, sparse.csr_matrix]:
            X, positive = draw(*shape)
            rows = Rows.of(make(X), positive, np.arange(1.0, shape[0] + 1))
            coordinates = Coordinates.of(rows, centred, 1.0)
            A, Z = (
                coordinates.A,
                X - np.average(X, axis=0, weights=rows.weight) * centred,
            )
            assert A.shape[1] <= min(shape)
            assert A @ A.T == pytest.approx(Z @ Z.T, abs=1e-10)
            theta = np.random.default_rng(0).normal(size=A.shape[1])
            w = coordinates.back(rows, theta)
            assert Z @ w == pytest.approx(A @ theta, abs=1e-8)
            assert coordinates.forth(rows, w) == pytest.approx(theta, abs=1e-6)


def test_equal_rows_have_equal_coordinates():
    X, positive = draw(20, 90)
    X[7] = X[3]
    A = Coordinates.of(Rows.of(X, positive), True, 1.0).A
    assert A[7] == pytest.approx(A[3], abs=1e-12)
    assert A.shape[1] == 18


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(400, 5), (100, 40)])
def test_stationarity_detects_training_rows(loss, shape):
    rows, fit = rows_and_fit(loss, 1.0, *shape)
    X, positive = draw(*shape, seed=1)
    for found, low, high in ((rows, 0, 0.01), (Rows.of(X, positive), 0.4, np.inf)):
        exact = stationarity(fit, found)  # or a bound, where that is small enough
        assert low < exact < high
        assert exact <= stationarity(fit, found, enough=1e3 * exact) < 1e3 * exact
        assert stationarity(fit, found, enough=0.9 * exact) == exact


def test_stationarity_ignores_origin_and_units():
    rows, fit = rows_and_fit("logistic", 1.0, 100, 5)
    other = Rows.of(draw(100, 5, seed=1)[0], rows.positive)
    expected = stationarity(fit, other)
    moved = Fit(fit.objective, fit.coef, fit.intercept - 1e3 * fit.coef.sum())
    there = Rows.of(other.X + 1e3, rows.positive)
    assert stationarity(moved, there) == pytest.approx(expected, rel=1e-6)
    sparse_rows = Rows.of(sparse.csr_matrix(other.X), rows.positive)
    assert stationarity(fit, sparse_rows) == pytest.approx(expected, rel=1e-9)


def test_stationarity_of_rare_words():
    """Solvers with their usual tolerance are told apart from other rows."""
    rng = np.random.default_rng(0)
    positive = rng.random(1200) < 0.4
    words = [(rng.random((1200, 2000)) < 0.003) * 0.7 for _ in range(2)]
    here, there = (Rows.of(sparse.csr_matrix(X), positive) for X in words)
    fitted = LogisticRegression(max_iter=1000).fit(here.X, positive)
    fit = Fit(Objective(LOGISTIC, 1.0), fitted.coef_[0], fitted.intercept_[0])
    assert stationarity(fit, here) < 0.1
    assert stationarity(fit, there) > 0.7


def test_stationarity_of_constant_features_is_nan():
    rows = Rows.of(np.ones((10, 2)), np.arange(10) < 4)
    assert np.isnan(stationarity(Fit(Objective(SQUARED, 1.0), np.zeros(2)), rows))


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 0.9])
def test_discriminant_as_a_ridge(shrinkage):
    for priors in [None, (0.8, 0.2)]:
        X, positive = draw(60, 6)
        lda = LinearDiscriminantAnalysis("lsqr", shrinkage=shrinkage, priors=priors)
        w = lda.fit(X, positive).coef_[0]
        found = discriminant_ridge(Rows.of(X, positive), shrinkage, priors=priors).coef
        assert np.corrcoef(X @ w, X @ found)[0, 1] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("diagonal", [False, True])
def test_unbiased_discriminant_as_a_ridge(diagonal):
    """Direction (Σ + Λ)⁻¹d with the sum of the unbiased covariances."""
    X, positive = draw(40, 60)
    total = sum(np.cov(X[c], rowvar=False) for c in (positive, ~positive))
    target = np.diag(total) if diagonal else np.full(60, np.trace(total) / 60)
    gap = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    w = np.linalg.solve(0.6 * total + 0.4 * np.diag(target), gap)
    found = discriminant_ridge(
        Rows.of(X, positive), 0.4, unbiased=True, diagonal=diagonal
    ).coef
    assert np.corrcoef(X @ w, X @ found)[0, 1] == pytest.approx(1, abs=1e-9)


def test_fit_of_other_rows_is_taken_to_the_optimum():
    rows, fit = rows_and_fit("logistic", 1.0, 80, 4)
    early = Fit(fit.objective, 0.5 * fit.coef, 0.0)
    assert at_optimum(early, rows).coef == pytest.approx(fit.coef, rel=1e-3)
    assert at_optimum(fit, rows).coef is fit.coef
