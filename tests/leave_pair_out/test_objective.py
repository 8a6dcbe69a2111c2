"""What linear models minimise: losses, optima along a ray, gradients, row by row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from skauc.leave_pair_out import _objective
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._leave_one_out import leave_one_out_auc
from skauc.leave_pair_out._left_out_pairs import LeftOutRows
from skauc.leave_pair_out._losses import (
    HeldCorner,
    RoundedHinge,
    loss_derivatives,
    loss_value,
)
from skauc.leave_pair_out._objective import (
    ElasticNetFit,
    PenalisedFit,
    _less_shrunk,
    column_curvature,
    length_of_gradient,
    on_its_ray,
    stationarity,
)
from skauc.leave_pair_out._ridge_path import ridge_path

LOSSES = ["logistic", "squared", "squared_hinge", RoundedHinge(0.5), RoundedHinge(2.0)]
SCALINGS = [0.0, 0.5, np.inf]  # no intercept, a penalised and a free one


def rows(n=30, P=4, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, P)) + 0.8 * positive[:, None] + 1.5
    return X, positive, rng.uniform(0.5, 2, n)


def by_row(loss, z, t):
    """Loss of one row: the textbook's formula."""
    u = 1 - t * z
    if loss == "logistic":
        return np.log(1 + np.exp(-t * z))
    if loss == "squared":
        return (z - t) ** 2 / 2
    if loss == "squared_hinge":
        return max(0, u) ** 2
    width = loss.width
    return 0 if u < 0 else u**2 / (2 * width) if u < width else u - width / 2


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_slope_and_curvature_are_those_of_the_value(loss):
    z = np.array([-3.2, -1.1, -0.4, 0.0, 0.3, 0.8, 1.3, 4.0])
    for positive in (np.ones(8, bool), np.zeros(8, bool)):
        t, step = 1 if positive[0] else -1, 1e-4
        values = [[by_row(loss, x + k * step, t) for k in (-1, 0, 1)] for x in z]
        c = np.linspace(0.5, 2, 8)
        low, middle, high = np.array(values).T
        assert loss_value(loss, z, positive, c) == pytest.approx(c @ middle, rel=1e-12)
        slope, curvature = loss_derivatives(loss, z, positive, c)
        np.testing.assert_allclose(slope, c * (high - low) / (2 * step), atol=1e-7)
        expected = c * (high - 2 * middle + low) / step**2
        np.testing.assert_allclose(curvature, expected, atol=1e-6)


@pytest.mark.parametrize("positive", [True, False])
def test_rows_of_a_corner_that_is_held_are_those_of_the_wider_one(positive):
    """0 < u < .5 has the parabola of width .2, however large u is; u = 1 − tz."""
    u, t = np.array([-0.3, 0.1, 0.4, 0.6, 2.0]), 1 if positive else -1
    z, c = (1 - u) / t, np.array([0.5, 1.0, 2.0, 3.0, 0.7])
    slope, curvature = loss_derivatives(HeldCorner(0.5, 0.2), z, positive, c)
    np.testing.assert_allclose(
        slope, -t * c * np.array([0, 0.1 / 0.2, 0.4 / 0.2, 1, 1])
    )
    np.testing.assert_allclose(curvature, c * np.array([0, 1 / 0.2, 1 / 0.2, 0, 0]))


def test_scores_are_of_the_rows_that_are_asked():
    X, positive, c = rows()
    fit = PenalisedFit("logistic", 3.0, c, np.array([0.1, 0.2, -0.3, 0.4]), 0.5, np.inf)
    for _ in range(2):
        np.testing.assert_allclose(fit.scores(X), X @ fit.w + 0.5)
        np.testing.assert_allclose(fit.scores(2 * X), 2 * X @ fit.w + 0.5)
        assert fit.slopes(X, positive)[0] is fit.scores(X)
    # and slopes of the labels that are asked: a row pulls its own way
    for labels in (positive, ~positive, positive):
        assert np.all((fit.slopes(X, labels)[1] < 0) == labels)


def test_scores_that_are_told_are_not_computed_again():
    X, positive, c = rows()
    fit = PenalisedFit("logistic", 3.0, c, np.array([0.1, 0.2, -0.3, 0.4]), 0.5, np.inf)
    told = np.arange(len(X), dtype=float)
    fit.know_scores(X, told)
    for loss in ("logistic", "squared"):
        other = fit.with_loss(loss)
        assert other.loss == loss
        np.testing.assert_array_equal(other.scores(X), told + 0.5)
        np.testing.assert_array_equal(other.slopes(X, positive)[0], told + 0.5)
        np.testing.assert_array_equal(other.with_loss("hinge").scores(X), told + 0.5)
        np.testing.assert_allclose(other.scores(2 * X), 2 * X @ fit.w + 0.5)


@pytest.mark.parametrize("unit", [0.3, 2.0, 1e5])
def test_the_gradient_has_no_unit_of_the_weights(unit):
    X, positive, _ = rows()
    c, w = np.ones(30), np.array([0.1, 0.2, -0.3, 0.4])
    one = PenalisedFit("logistic", 3.0, c, w, 0.5, np.inf)
    other = replace(one, l2=3.0 * unit, case_weight=c * unit)
    expected = stationarity(X, positive, one)
    assert stationarity(X, positive, other) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("loss", LOSSES[:3], ids=str)
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_a_rescaled_model_is_put_back_to_the_best_length(loss, scaling, unit):
    X, positive, c = rows()
    X = X if scaling == np.inf else X - 1.5  # c would be 0
    w = unit * np.array([1.0, 0.5, -0.2, 0.7])
    fit = PenalisedFit(loss, 3.0, c, w, 5.0, scaling)
    found = on_its_ray(X, positive, fit)
    t = np.where(positive, 1, -1)

    def objective(theta):
        z = X @ w / unit * theta[0] + (theta[1] if scaling else 0.0)
        losses = sum(a * by_row(loss, x, s) for a, x, s in zip(c, z, t, strict=True))
        inside = theta[0] ** 2 * w @ w / unit**2
        if 0 < scaling < np.inf:
            inside += theta[1] ** 2 / scaling**2
        return losses + 3.0 / 2 * inside

    best = minimize(objective, [0.1, 0.0], tol=1e-12).x
    length = found.w @ w / (w @ w) * unit
    assert found.w == pytest.approx(length / unit * w)
    assert length == pytest.approx(best[0], rel=1e-4)
    expected = best[1] if scaling else 0.0
    assert found.intercept == pytest.approx(expected, abs=1e-4)
    # Newton ends where no slope is left
    z = X @ found.w + found.intercept
    g, _ = loss_derivatives(loss, z, positive, c)
    along = g @ (X @ w) + 3.0 * found.w @ w
    assert along == pytest.approx(0, abs=1e-9 * np.abs(g) @ np.abs(X @ w))
    if scaling:
        level = g.sum() + 3.0 * found.intercept / scaling**2
        assert level == pytest.approx(0, abs=1e-9 * np.abs(g).sum())


@pytest.mark.parametrize("unit", [1e-170, 1e170])
def test_a_model_in_any_unit_is_put_back(unit):
    """Its scores are all negative, and their squares are no floats."""
    positive = np.arange(12) % 4 == 0
    X = np.where(positive, -0.1, -3.0)[:, None] + np.linspace(0, 0.05, 12)[:, None]
    fit = PenalisedFit("logistic", 1.0, np.ones(12), np.ones(1), 0.0, 0.0)
    once, again = (
        on_its_ray(X, positive, replace(fit, w=u * fit.w)) for u in (1, unit)
    )
    assert once.w[0] > 0.1
    assert again.w == pytest.approx(once.w, rel=1e-9)


def test_features_that_do_not_vary_have_a_ray_of_nothing():
    X, positive = np.ones((200, 3)), np.arange(200) < 60
    fit = PenalisedFit("logistic", 1.0, np.ones(200), np.full(3, 0.1), 0.0, np.inf)
    found = on_its_ray(X, positive, fit)
    assert not found.w.any()
    assert found.intercept == pytest.approx(np.log(60 / 140))


def test_a_model_without_coefficients_keeps_its_odds():
    X, positive, _ = rows()
    fit = PenalisedFit("logistic", 1.0, np.ones(30), np.zeros(4), 0.0, np.inf)
    found = on_its_ray(X, positive, fit)
    assert not found.w.any()
    assert found.intercept == pytest.approx(np.log(10 / 20))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_gradient_in_units_of_its_random_walk(scaling, every, form, monkeypatch):
    X, positive, c = rows(P=6)
    X[:, 2] = 0.0  # a feature that says nothing
    if every > 1:
        features = {2: 4, 3: 3}[every]  # 6 // 4 + 1 = 2
        monkeypatch.setattr(_objective, "_WALK_FEATURES", features)
    fit = PenalisedFit("logistic", 0.7, c, np.linspace(-1, 1, 6), 0.3, scaling)
    z = X @ fit.w + fit.intercept
    g, _ = loss_derivatives("logistic", z, positive, c)
    c_mean = c.mean()
    force = (g / c_mean) ** 2 + 1e-6 * len(c)  # _SOLVED² times all case weights
    steps = []
    for j in range(0, 6, every if form is np.asarray else 1):
        x = X[:, j] - (X[:, j].mean() if scaling == np.inf else 0.0)
        gradient = (x @ g + 0.7 * fit.w[j]) / c_mean
        walk = force @ (x - (force @ x / force.sum() if scaling else 0.0)) ** 2
        if walk > 0:
            steps.append(gradient / np.sqrt(walk))
    expected = np.sqrt(np.mean(np.square(steps)))
    assert stationarity(form(X), positive, fit) == pytest.approx(expected, rel=1e-9)
    tiny = replace(fit, l2=0.7e-8, case_weight=1e-8 * c)
    assert stationarity(form(X), positive, tiny) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("scaling", [0.0, 0.5])
def test_a_random_walk_of_some_rows(scaling, every, form, monkeypatch):
    """Each of them stands for as many as are left out; the gradient is of all."""
    X, positive, c = rows(P=6)
    monkeypatch.setattr(_objective, "_WALK_ROWS", {1: 31, 2: 16, 3: 11}[every])
    fit = PenalisedFit("logistic", 0.7, c, np.linspace(-1, 1, 6), 0.3, scaling)
    g, _ = loss_derivatives("logistic", X @ fit.w + fit.intercept, positive, c)
    force = ((g / c.mean()) ** 2 + 1e-6 * len(c))[::every]
    steps = []
    for x, w in zip(X.T, fit.w, strict=True):
        some = x[::every]
        around = force @ some / force.sum() if scaling else 0.0
        walk = every * (force @ (some - around) ** 2)
        steps.append((x @ g + 0.7 * w) / c.mean() / np.sqrt(walk))
    expected = np.sqrt(np.mean(np.square(steps)))
    assert stationarity(form(X), positive, fit) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("l1", [0.0, 0.4])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_length_of_the_gradient_row_by_row(scaling, loss, l1, form):
    X, positive, c = rows(P=6)
    X[:, 2] *= 50.0
    w = np.array([1.0, -0.5, 0.02, 0.0, 0.3, -0.2])
    fit = PenalisedFit(loss, 0.7, c, w, 0.3, scaling)
    if l1:
        fit = ElasticNetFit(loss, 0.7, c, w, 0.3, scaling, l1)
    z = X @ w + 0.3
    g, _ = loss_derivatives(loss, z, positive, c)
    if scaling == np.inf and loss == "squared":
        columns, pulls = list((X - X.mean(axis=0)).T), list(0.7 * w + l1 * np.sign(w))
    else:
        columns, pulls = list(X.T), list(0.7 * w + l1 * np.sign(w))
        if scaling == 0.5:  # the weight b' = b/s of a column s, penalised like others
            columns.append(np.full(len(X), 0.5))
            pulls.append(0.7 * 0.6 + l1)
        elif scaling == np.inf:
            columns.append(np.ones(len(X)))
            pulls.append(0.0)
    if l1:
        del columns[3], pulls[3]
    gradient = [x @ g + pull for x, pull in zip(columns, pulls, strict=True)]
    force = g**2 + 1e-6 * c.sum() * c.mean()
    walk = sum(force @ x**2 for x in columns)
    length, k = length_of_gradient(form(X), positive, fit)
    assert length == pytest.approx(np.linalg.norm(gradient) / np.sqrt(walk), rel=1e-9)
    assert 1 <= k < 1.5  # one column is most of it
    half = replace(fit, l2=0.35, case_weight=c / 2, **({"l1": l1 / 2} if l1 else {}))
    assert length_of_gradient(form(X), positive, half)[0] == pytest.approx(length)


def test_the_directions_of_a_gradient_are_counted():
    _, positive, c = rows(n=400)
    X = np.random.default_rng(1).normal(size=(400, 12))
    fit = PenalisedFit("squared", 1.0, c, np.zeros(12), 0.0, np.inf)
    assert length_of_gradient(X, positive, fit)[1] == pytest.approx(12, rel=0.15)
    X[:, 0] *= 100
    assert length_of_gradient(X, positive, fit)[1] == pytest.approx(1, abs=0.15)
    assert np.isnan(length_of_gradient(0 * X, positive, fit)[0])
    one = PenalisedFit("squared", 1.0, np.ones(400), np.zeros(1), 0.0, 0.0)
    rows_alike = np.full((400, 1), 0.3)
    assert length_of_gradient(rows_alike, positive, one)[1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("n", "every", "counted"), [(30, 1, 10), (30, 4, 3), (45, 1, 9)]
)
@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_walk_of_some_rows_and_its_directions_pair_by_pair(
    n, every, counted, unit, monkeypatch
):
    """``k = (E‖f‖²)²/E(fᵢᵀfⱼ)²``, f the pushes of rows i ≠ j."""
    X, positive, c = rows(n=n, P=5)
    X = unit * (X - 1.5)
    monkeypatch.setattr(_objective, "_WALK_ROWS", 9 if every > 1 else 100)
    monkeypatch.setattr(_objective, "_GRAM_ROWS", {10: 14, 3: 3, 9: 10}[counted])
    w = np.linspace(-1, 1, 5) / unit
    fit = PenalisedFit("logistic", 0.7 * unit**2, c, w, 0.0, 0.0)
    g, _ = loss_derivatives("logistic", X @ w, positive, c)
    gradient = X.T @ g + 0.7 * unit**2 * w
    size = np.sqrt(g**2 + 1e-6 * c.sum() * c.mean())
    pushes = (size[:, None] * X)[::every]
    walk = every * sum(f @ f for f in pushes)
    length, k = length_of_gradient(X, positive, fit)
    assert length == pytest.approx(np.linalg.norm(gradient) / np.sqrt(walk), rel=1e-9)
    some = pushes[:: {10: 3, 3: 3, 9: 5}[counted]]
    assert len(some) == counted
    pairs = [(f @ h) ** 2 for i, f in enumerate(some) for h in some[:i]]
    expected = np.mean([f @ f for f in some]) ** 2 / np.mean(pairs)
    assert k == pytest.approx(max(expected, 1.0), rel=1e-9)


def test_a_penalised_intercept_of_zero_is_not_pulled():
    """And the gradient of rows that are all 0 is none."""
    X, positive, c = rows()
    w = np.array([1.0, -0.5, 0.3, 0.2])
    fit = ElasticNetFit("logistic", 0.7, c, w, 0.0, 0.5, 0.4)
    g, _ = loss_derivatives("logistic", X @ w, positive, c)
    ones = np.column_stack([X, np.full(30, 0.5)])
    gradient = ones.T @ g + np.append(0.7 * w + 0.4 * np.sign(w), 0.0)
    walk = (g**2 + 1e-6 * c.sum() * c.mean()) @ (ones**2).sum(axis=1)
    length, _ = length_of_gradient(X, positive, fit)
    assert length == pytest.approx(np.linalg.norm(gradient) / np.sqrt(walk), rel=1e-9)
    bare = replace(fit, intercept_scaling=0.0)
    length, k = length_of_gradient(0 * X, positive, bare)
    assert np.isnan(length)
    assert k == 1


def test_a_smaller_penalty_with_the_same_pull():
    fit = PenalisedFit("logistic", 1e4, np.ones(3), np.array([1.0, -2.0]), 0.7, 3.0)
    found = _less_shrunk(fit, 1e-2)
    assert found.l2 == 1e-2
    np.testing.assert_allclose(found.l2 * found.w, fit.l2 * fit.w)
    pull = fit.l2 / fit.intercept_scaling**2
    assert found.l2 / found.intercept_scaling**2 == pytest.approx(pull)
    # a penalty of 0 would have no inverse
    assert np.isfinite(_less_shrunk(fit, 0.0).w).all()
    assert _less_shrunk(fit, 0.0).l2 < 1e-280


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_curvature_of_an_average_column(form):
    X, _, c = rows(n=12, P=5)
    for scaling in SCALINGS:
        fit = PenalisedFit("squared", 1.0, c, np.zeros(5), 0.0, scaling)
        free = scaling == np.inf and form is np.asarray  # which takes the mean
        Z = X - X.mean(axis=0) if free else X
        expected = np.mean([np.mean(x**2) * c.sum() for x in Z.T])
        assert column_curvature(fit, form(X)) == pytest.approx(expected)


def test_a_constant_column_has_no_curvature():
    """Its mean is rounded: what is left of it is rounding."""
    X, _, c = rows(n=11, P=4)
    X[:, 1], X[:, 2] = 1000 / 3, 1e-3 / 3
    X[:, 3] = 1e3 + 1e-8 * np.arange(11)
    assert X[0, 1] != X[:, 1].mean()
    fit = PenalisedFit("squared", 1.0, c, np.zeros(4), 0.0, np.inf)
    found = _objective._curvatures(fit, X)
    assert found[0] == pytest.approx(X[:, 0].var() * c.sum())
    assert found[1] == found[2] == 0
    assert found[3] == pytest.approx(1e-15 * c.sum(), rel=1e-4, abs=0)


@pytest.mark.parametrize("shape", [(24, 3), (12, 30)])
def test_a_row_of_weight_below_one_is_left_out_whole(shape):
    """Of weights below one only the ratio matters."""
    X, positive, c = rows(*shape)
    fit = PenalisedFit("squared", 2.0, np.ones(len(X)), np.zeros(shape[1]), 0.0, np.inf)
    for auc in (
        lambda weight: leave_pair_out(X, positive, fit, weight).smooth_auc,
        lambda weight: leave_one_out_auc(fit, X, positive, weight)[0],
    ):
        assert auc(c / 9) == pytest.approx(auc(c / 2.1), rel=1e-12)
    if shape[1] < shape[0]:
        paths = [ridge_path(X, positive, weight).auc for weight in (c / 4, c / 2.1)]
        np.testing.assert_allclose(*paths, rtol=1e-9)


def test_the_step_of_a_row_that_leaves_is_newtons():
    """``h g/(1 − ω(h + e))``, of a row of weight 4 a fourth of g and ω."""
    h, g, curvature = np.array([0.3, 0.2]), np.array([1.0, -2.0]), np.array([0.5, 1.0])
    for weight, part in ((0.5, 1.0), (1.0, 1.0), (4.0, 0.25)):
        rows = LeftOutRows.of_fit(0.0, g, curvature, np.full(2, weight), h, 0.1)
        left = 1 - part * curvature * (h + 0.1)
        np.testing.assert_allclose(rows.alone, part * h * g / left)


@pytest.mark.parametrize("scaling", [np.inf, 0.0])
def test_gradient_of_many_features_without_a_copy(scaling, monkeypatch, rng):
    """Some of the features and of the rows: those are read where all are."""
    X, positive = rng.normal(size=(1200, 1000)) + 3, np.arange(1200) % 3 == 0
    fit = PenalisedFit(
        "logistic", 2.0, np.ones(1200), rng.normal(size=1000) / 99, 0.1, scaling
    )
    found = stationarity(X, positive, fit)
    monkeypatch.setattr(_objective, "_A_LINE", 0)
    assert stationarity(X, positive, fit) == pytest.approx(found, rel=1e-9)
