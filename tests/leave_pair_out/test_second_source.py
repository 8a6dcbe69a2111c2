""".632+ against its definition, the table of sources, and laws of all of them."""

import numpy as np
import pytest
from left_out_designs import (
    LOGISTIC,
    LOSSES,
    SQUARED,
    draw,
    fit_of,
    model,
    rows_and_fit,
)
from scipy import sparse
from scipy.stats import norm

from skauc.leave_pair_out._objective import Fit, Objective, discriminant_ridge
from skauc.leave_pair_out._second_source import Samples, second_source
from skauc.statistics._rows import Rows

# .632+ with fewer features and with more than rows, pairs likewise
SHAPES = [(80, 6), (60, 90), (510, 10), (505, 520)]


def auc_of(score, positive, weight):
    """Share of the weighted pairs, counted one by one."""
    won = pairs = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            pairs += weight[i] * weight[j]
            won += weight[i] * weight[j] * np.heaviside(score[i] - score[j], 0.5)
    return won, pairs


def slow_632(loss, C, rows):
    """Refits by scikit-learn, pairs one by one, the formulas of Efron & Tibshirani."""
    t, samples = np.where(rows.positive, 1, -1), Samples.balanced(rows, 20)
    won = pairs = 0.0
    for drawn, left_out in zip(samples.drawn, samples.left_out, strict=True):
        chosen = np.repeat(np.arange(len(t)), drawn.astype(int))
        refit = model(loss, C).fit(rows.X[chosen], t[chosen])
        a, b = auc_of(rows.X @ np.ravel(refit.coef_), rows.positive, left_out)
        won, pairs = won + a, pairs + b
    full = model(loss, C).fit(rows.X, t)
    a, b = auc_of(rows.X @ np.ravel(full.coef_), rows.positive, rows.weight)
    error, outside = 1 - a / b, 1 - won / pairs
    overfitting = np.clip((outside - error) / (0.5 - error), 0, 1)
    w = 0.632 / (1 - 0.368 * overfitting)
    return 1 - ((1 - w) * error + w * outside)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("shape", "C"), [((40, 5), 1.0), ((30, 50), 0.1)])
def test_632_against_its_definition(loss, shape, C):
    rows, fit = rows_and_fit(loss, C, *shape)
    found = second_source(fit, rows)
    assert found.method == ".632+"
    assert found.auc == pytest.approx(slow_632(loss, C, rows), abs=2e-3)


def test_a_class_of_one_row_is_never_left_out():
    rows = Rows.of(draw(10, 2)[0], np.arange(10) == 0)
    assert (Samples.balanced(rows, 5).drawn[:, 0] == 1).all()


def test_copies_of_weighted_rows():
    X, positive = draw(30, 3)
    weight = np.random.default_rng(0).integers(1, 4, 30).astype(float)
    samples = Samples.balanced(Rows.of(X, positive, weight), 10)
    assert (samples.drawn.sum(axis=1) == weight.sum()).all()
    assert (samples.left_out <= weight).all()
    assert samples.left_out.sum(axis=0) == pytest.approx(4 * weight)


@pytest.mark.parametrize(
    ("shape", "options", "method"),
    [
        ((499, 5), {}, ".632+"),
        ((500, 5), {}, "leave-pair-out"),
        ((500, 510), {"share": 0.05}, "leave-pair-out"),
        ((600, 60), {"share": 0.03}, ".632+"),  # rare: fewer than 20 rows
        ((600, 150), {"share": 0.04}, ".632+"),  # rare: fewer than P/5 rows
    ],
)
def test_table_of_sources(shape, options, method):
    rows, fit = rows_and_fit("squared", 0.1, *shape, **options)
    assert second_source(fit, rows).method == method


def test_squares_without_a_penalty_leave_pairs_out():
    rows, fit = rows_and_fit("squared", 1e12, 60, 24)
    assert second_source(fit, rows).method == "leave-pair-out"
    rows, fit = rows_and_fit("squared", 1.0, 60, 24)
    assert second_source(fit, rows).method == ".632+"


def test_no_source():
    X, positive = draw(30, 3)
    positive = np.arange(30) == 4
    fit = Fit(Objective(SQUARED, 1.0), np.ones(3))
    assert second_source(fit, Rows.of(X, positive)) is None
    big = Rows.of(sparse.eye(2001, format="csr"), np.arange(2001) < 900)
    assert second_source(Fit(fit.objective, np.zeros(2001)), big) is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_laws(loss, shape):
    """Order of rows, names of classes, sparse rows, origin and units of features."""
    rows, fit = rows_and_fit(loss, 0.1, *shape)
    X, positive, objective = rows.X, rows.positive, fit.objective
    found = second_source(fit, rows)
    order = np.random.default_rng(1).permutation(shape[0])
    small = objective.intercept
    small = small if isinstance(small, str) else 1e-6 * small
    tiny = Objective(objective.loss, 1e-12 * objective.l2, small)
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


def test_source_of_a_discriminant():
    X, positive = draw(60, 5)
    rows = Rows.of(X, positive)
    found = second_source(discriminant_ridge(rows, 0.2), rows)
    assert 0.6 < found.auc < 1


def test_logistic_scores_beside_a_dominant_intercept():
    """A constant of 10⁶ in the scores takes no digit of the ranks."""
    rows, fit = rows_and_fit("logistic", 1.0, 80, 4)
    objective = Objective(LOGISTIC, 1.0)
    far = Rows.of(rows.X + 1e6, rows.positive)
    moved = Fit(objective, fit.coef, fit.intercept - 1e6 * fit.coef.sum())
    found, expected = second_source(moved, far), second_source(fit, rows)
    assert found.auc == pytest.approx(expected.auc, abs=1e-4)
