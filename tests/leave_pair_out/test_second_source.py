"""The AUC of rows left out: laws, limits, and the truth of simulated rows."""

from dataclasses import replace

import numpy as np
import pytest
from left_out_designs import (
    LOGISTIC,
    LOSSES,
    SQUARED,
    draw,
    fit_of,
    refitted_auc,
    rows_and_fit,
)
from scipy import sparse
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression, Ridge

from skauc.leave_pair_out._left_out import second_source
from skauc.leave_pair_out._objective import Fit, Objective
from skauc.statistics._rows import Rows

SHAPES = [(80, 6), (60, 90), (510, 10), (505, 520)]


@pytest.mark.parametrize("share", [0.05, 0.6])
def test_no_single_step_without_a_few_costly_rows(share):
    rows, fit = rows_and_fit("logistic", 0.1, 300, 40, share=share)
    costly = Objective(LOGISTIC, 10.0, class_weight=(0.5, 8.0))
    found = second_source(Fit(costly, fit.coef), rows)
    assert (found is None) == (share == 0.05)
    exact = Objective(SQUARED, 10.0, class_weight=(0.5, 8.0))
    assert second_source(Fit(exact, fit.coef), rows) is not None


@pytest.mark.parametrize("shape", [(30, 28), (30, 60), (24, 32)])
@pytest.mark.parametrize("alpha", [0.0, 1e-8])
def test_a_ridge_that_interpolates_its_rows(alpha, shape):
    """Residuals of 0, whose Newton step vanishes, against refits without the pair."""
    X, positive = draw(*shape, distance=0.0)
    full = Ridge(alpha=alpha, solver="svd").fit(X, np.where(positive, 1.0, -1.0))
    fit = Fit(Objective(SQUARED, alpha), full.coef_, full.intercept_)
    expected = refitted_auc(lambda: Ridge(alpha=1e-6, solver="svd"), X, positive)
    found = second_source(fit, Rows.of(X, positive)).auc
    assert found == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("shape", [(60, 20), (60, 300), (200, 120)])
def test_separated_classes_under_a_weak_penalty(shape):
    """Direction and truth hardly depend on C from 100 on; the estimate must not."""
    X, positive = draw(*shape, distance=4.0)
    rows, expected = Rows.of(X, positive), None
    for C in (1e2, 1e4, 1e6, 1e8):
        full = LogisticRegression(C=C, max_iter=10_000, tol=1e-8).fit(X, positive)
        fit = Fit(Objective(LOGISTIC, 1 / C), full.coef_[0], full.intercept_[0])
        found = second_source(fit, rows).auc
        expected = found if expected is None else expected
        assert found == pytest.approx(expected, abs=0.05)


def test_no_source():
    X, positive = draw(30, 3)
    positive = np.arange(30) == 4
    fit = Fit(Objective(SQUARED, 1.0), np.ones(3))
    assert second_source(fit, Rows.of(X, positive)) is None
    big = Rows.of(sparse.eye(2001, format="csr"), np.arange(2001) < 900)
    assert second_source(Fit(fit.objective, np.zeros(2001)), big) is None
    X, positive = draw(80_000, 3)  # a table of all pairs of groups would take 13 GB
    many = Rows.of(X, positive, group=np.arange(80_000) // 2)
    assert second_source(fit, many) is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_laws(loss, shape):
    """Order of rows, names of classes, sparse rows, origin and units of features."""
    rows, fit = rows_and_fit(loss, 0.1, *shape)
    X, positive, objective = rows.X, rows.positive, fit.objective
    found = second_source(fit, rows)
    order = np.random.default_rng(1).permutation(shape[0])
    small = objective.column if objective.free else 1e-6 * objective.column
    tiny = replace(objective, l2=1e-12 * objective.l2, column=small)
    pairs = [
        (fit, Rows.of(X[order], positive[order])),
        (Fit(objective, -fit.coef, -fit.intercept), Rows.of(X, ~positive)),
        (fit, Rows.of(sparse.csr_matrix(X), positive)),
        (Fit(tiny, 1e6 * fit.coef, fit.intercept), Rows.of(1e-6 * X, positive)),
    ]
    if objective.free:
        shifted = Fit(objective, fit.coef, fit.intercept - 1e3 * fit.coef.sum())
        pairs.append((shifted, Rows.of(X + 1e3, positive)))
    for other, same in pairs:
        again = second_source(other, same)
        assert again.auc == pytest.approx(found.auc, abs=1e-8)
        assert again.variance == pytest.approx(found.variance, rel=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_weight_of_two_is_a_row_twice(loss, shape):
    X, positive = draw(*shape)
    weight = np.where(np.arange(shape[0]) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(shape[0]), weight.astype(int))
    fit = fit_of(loss, 0.1, X, positive, weight)
    found = second_source(fit, Rows.of(X, positive, weight))
    again = second_source(fit, Rows.of(X[twice], positive[twice]))
    assert found.auc == pytest.approx(again.auc, abs=1e-8)
    assert found.variance == pytest.approx(again.variance, rel=1e-6)


@pytest.mark.parametrize("shape", [(60, 30), (520, 200)])
def test_random_labels_are_about_a_half(shape):
    """The AUC of rows left out is not cut at ½."""
    found = []
    for seed in range(8):
        rows, fit = rows_and_fit("squared", 1.0, *shape, seed=seed, distance=0.0)
        found.append(second_source(fit, rows).auc)
    assert np.mean(found) == pytest.approx(0.5, abs=3 * np.std(found) / np.sqrt(8))
    assert min(found) < 0.5


@pytest.mark.parametrize("shape", [(100, 5), (80, 200), (600, 30), (500, 600)])
def test_near_to_the_auc_of_new_rows(shape):
    """Against the AUC of the trained direction under the normal distribution."""
    rng, errors = np.random.default_rng(0), []
    for _ in range(6):
        positive = np.arange(shape[0]) % 5 < 2
        shift = 1.6 * rng.normal(size=shape[1]) / np.sqrt(shape[1])
        X = rng.normal(size=shape) + np.outer(positive, shift)
        fit = fit_of("squared", 0.02, X, positive)
        truth = norm.cdf(fit.coef @ shift / np.linalg.norm(fit.coef) / np.sqrt(2))
        found = second_source(fit, Rows.of(X, positive))
        errors.append((found.auc - truth) / np.sqrt(found.variance))
    assert np.mean(errors) == pytest.approx(0, abs=1.3)
    assert np.max(np.abs(errors)) < 4  # folds scatter likewise where P is about n


def test_a_fit_that_stopped_early_has_the_source_of_its_optimum():
    for shape in [(80, 6), (510, 10)]:
        rows, fit = rows_and_fit("logistic", 1.0, *shape)
        early = Fit(fit.objective, 0.3 * fit.coef + 0.01, 0.0)
        found, expected = second_source(early, rows), second_source(fit, rows)
        assert found.auc == pytest.approx(expected.auc, abs=2e-3)


def test_a_huge_penalty_leaves_the_scores_their_digits():
    rows, fit = rows_and_fit("squared", 1e-9, 80, 6)
    weaker = rows_and_fit("squared", 1e-6, 80, 6)[1]
    expected = second_source(weaker, rows).auc
    assert second_source(fit, rows).auc == pytest.approx(expected, abs=1e-3)


def test_logistic_scores_beside_a_dominant_intercept():
    """A constant of 10⁶ in the scores takes no digit of the ranks."""
    rows, fit = rows_and_fit("logistic", 1.0, 80, 4)
    objective = Objective(LOGISTIC, 1.0)
    far = Rows.of(rows.X + 1e6, rows.positive)
    moved = Fit(objective, fit.coef, fit.intercept - 1e6 * fit.coef.sum())
    found, expected = second_source(moved, far), second_source(fit, rows)
    assert found.auc == pytest.approx(expected.auc, abs=1e-4)
