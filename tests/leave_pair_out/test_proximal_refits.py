"""Batched refits with L1, elastic-net and hinge losses against scikit-learn's own."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import l1_part

from skauc.leave_pair_out import _proximal_refits
from skauc.leave_pair_out._bootstrap import bootstrap_counts
from skauc.leave_pair_out._losses import RoundedHinge, loss_derivatives, loss_value
from skauc.leave_pair_out._objective import ElasticNetFit
from skauc.leave_pair_out._proximal_refits import refit_elastic_net, sparse_optimum
from skauc.leave_pair_out._smooth_refits import refit_smooth
from skauc.model_selection._refit_objective import training_objective

TIGHT = {"tol": 1e-9, "max_iter": 1_000_000}
SPARSE = [
    LogisticRegression(solver="liblinear", C=0.3, **TIGHT, **l1_part(1.0)),
    LogisticRegression(solver="saga", C=0.2, **TIGHT, **l1_part(1.0)),
    LogisticRegression(solver="saga", C=0.1, **TIGHT, **l1_part(0.5)),
    LogisticRegression(
        solver="liblinear", C=0.5, intercept_scaling=4.0, **TIGHT, **l1_part(1.0)
    ),
    LinearSVC(penalty="l1", C=0.1, class_weight="balanced", **TIGHT),
    LinearSVC(penalty="l1", C=0.1, fit_intercept=False, **TIGHT),
]
HINGE = [
    SVC(kernel="linear", C=0.01, tol=1e-8),
    SVC(kernel="linear", C=5.0, tol=1e-8, class_weight={0: 1.0, 1: 3.0}),
    LinearSVC(loss="hinge", C=0.05, **TIGHT),
    LinearSVC(loss="hinge", C=1.0, fit_intercept=False, **TIGHT),
]


def _rows(n, P, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, P)) + 0.5 * rng.normal(size=(n, 1))
    X[:, :3] += positive[:, None]
    return X, positive


def _true_scores(model, X, positive, counts):
    return np.array(
        [
            model.fit(X, positive, sample_weight=c).decision_function(X)
            for c in counts.astype(float)
        ]
    )


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("shape", [(30, 50), (60, 6)])
@pytest.mark.parametrize("model", SPARSE, ids=repr)
def test_sparse_models_are_those_of_true_refits(model, shape, thin):
    X, positive = _rows(*shape)
    fit = training_objective(model.fit(X, positive), X, positive)
    counts = bootstrap_counts(positive, 4)
    rows = sparse.csr_matrix(X) if thin else X
    refits = refit_elastic_net(fit, rows, positive, counts)
    true = _true_scores(model, X, positive, counts)
    assert refits.converged.all()
    np.testing.assert_allclose(refits.scores, true, atol=2e-3 * true.std())


@pytest.mark.parametrize("scaling", [0.0, 2.0, np.inf])
def test_no_slope_is_left_at_the_optimum(scaling):
    """Beyond the L1 penalties, which the intercept over its scaling has as well."""
    X, positive = _rows(60, 6)
    fit = ElasticNetFit("logistic", 9.0, np.ones(60), np.ones(6), 0.5, scaling, l1=4.0)
    found = sparse_optimum(fit, X, positive)
    z = X @ found.w + found.intercept
    g, _ = loss_derivatives("logistic", z, positive, 1.0)
    slope = g @ X + 9.0 * found.w + 4.0 * np.sign(found.w)
    assert 0 < np.count_nonzero(found.w) < 6
    np.testing.assert_allclose(slope[found.w != 0], 0, atol=1e-3)
    assert np.all(np.abs(slope[found.w == 0]) < 4.0)
    if scaling:
        b = found.intercept / scaling
        level = g.sum() + 9.0 * b / scaling + 4.0 * np.sign(b) / scaling
        assert level == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("shape", [(30, 50), (60, 6)])
@pytest.mark.parametrize("model", HINGE, ids=repr)
def test_hinge_models_are_those_of_true_refits(model, shape):
    X, positive = _rows(*shape)
    fit = training_objective(model.fit(X, positive), X, positive)
    counts = bootstrap_counts(positive, 4)
    refits = refit_smooth(fit, X, positive, counts)
    true = _true_scores(model, X, positive, counts)
    assert refits.converged.all()
    # up to the intercept, of which libsvm takes the middle of what is optimal
    ours, theirs = (s - s.mean(axis=1, keepdims=True) for s in (refits.scores, true))
    np.testing.assert_allclose(ours, theirs, atol=2e-2 * true.std())
    assert min(map(lambda a, b: np.corrcoef(a, b)[0, 1], ours, theirs)) > 1 - 1e-4


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber"])
def test_stochastic_gradient_descent_is_taken_to_its_optimum(loss):
    X, positive = _rows(60, 6)
    model = SGDClassifier(loss=loss, alpha=0.05, random_state=0).fit(X, positive)
    fit = training_objective(model, X, positive)
    full = refit_smooth(fit, X, positive, bootstrap_counts(positive, 1)).full
    slow = SGDClassifier(
        loss=loss, alpha=0.05, average=True, tol=None, max_iter=20_000, random_state=0
    )
    scores = slow.fit(X, positive).decision_function(X)
    assert np.corrcoef(full, scores)[0, 1] > 1 - 1e-4


def test_more_features_than_rows_are_refitted(monkeypatch):
    """An almost pure L2 penalty: 80 features of 20 rows, unless a step is too dear."""
    monkeypatch.setattr(_proximal_refits, "suits_dual", lambda *_: False)
    X, positive = _rows(20, 80)
    model = LogisticRegression(solver="saga", **TIGHT, **l1_part(1e-3))
    fit = training_objective(model.fit(X, positive), X, positive)
    assert np.count_nonzero(fit.w) > 3 * 20
    counts = bootstrap_counts(positive, 4)
    refits = refit_elastic_net(fit, X, positive, counts)
    true = _true_scores(model, X, positive, counts)
    assert refits.converged.all()
    np.testing.assert_allclose(refits.scores, true, atol=2e-3 * true.std())
    # the fit alone: n k min(k, n) products
    one_step = 20 * 20 * np.count_nonzero(fit.w)
    monkeypatch.setattr(_proximal_refits, "_STEP_PRODUCTS", 0.5 * one_step)
    assert refit_elastic_net(fit, X, positive, counts) is None


@pytest.mark.parametrize("unit", [1e8, 1e-8])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_the_unit_of_the_features_does_not_matter(ratio, unit):
    X, positive = _rows(60, 12)
    model = LogisticRegression(solver="saga", C=0.5, **TIGHT, **l1_part(ratio))
    fit = training_objective(model.fit(X, positive), X, positive)
    counts = bootstrap_counts(positive, 6)
    one = refit_elastic_net(fit, X, positive, counts)
    other = replace(fit, w=fit.w / unit, l1=fit.l1 * unit, l2=fit.l2 * unit**2)
    two = refit_elastic_net(other, X * unit, positive, counts)
    assert one.converged.all()
    assert two.converged.all()
    np.testing.assert_allclose(two.scores, one.scores, atol=1e-4)
    # nor does one column in another unit, where no penalty is felt
    free = replace(fit, l1=1e-9, l2=0.0)
    columns = np.geomspace(1e-4, 1e4, 12)
    scaled = replace(free, w=free.w / columns, l1=1e-13)
    one, two = (
        refit_elastic_net(f, Z, positive, counts[:2] + 1)
        for f, Z in ((free, X), (scaled, X * columns))
    )
    assert one.converged.all()
    assert two.converged.all()
    np.testing.assert_allclose(two.scores, one.scores, rtol=1e-3, atol=1e-3)


def test_nearly_parallel_columns_take_few_steps(monkeypatch):
    """Far from the origin, beside a penalised intercept, 20 refits took 4000 steps."""
    X, positive = _rows(200, 20)
    X += 1e4
    model = LogisticRegression(solver="liblinear", C=1.0, **l1_part(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = training_objective(model.fit(X, positive), X, positive)
    steps, step = [], _proximal_refits._step
    monkeypatch.setattr(
        _proximal_refits, "_step", lambda *args: steps.append(1) or step(*args)
    )
    refits = refit_elastic_net(fit, X, positive, bootstrap_counts(positive, 20))
    assert refits.full_converged
    assert refits.converged.all()
    assert len(steps) < 20 * 20


def test_coefficients_next_to_zero_take_few_steps(monkeypatch):
    # they turn after a tiny part of a step: ending there took four times the steps
    X, positive = np.random.default_rng(0).normal(size=(100, 300)), np.arange(100) < 50
    X[:50, :5] += 0.6
    model = LogisticRegression(solver="liblinear", random_state=0, **l1_part(1.0))
    fit = training_objective(model.fit(X, positive), X, positive)
    steps, step = [], _proximal_refits._step
    monkeypatch.setattr(
        _proximal_refits, "_step", lambda *args: steps.append(1) or step(*args)
    )
    refits = refit_elastic_net(fit, X, positive, bootstrap_counts(positive, 20))
    assert refits.converged.all()
    assert len(steps) < 20 * 20


def test_a_start_astray_overflows_nowhere():
    """A heavy penalty on the intercept that the start has: its step is far too long."""
    X, positive = _rows(120, 10)
    fit = ElasticNetFit(
        "logistic", 0.0, np.ones(120), np.full(10, 1e-9), 0.5, 1.0, l1=3e8
    )
    _proximal_refits.sparse_optimum(fit, X * 1e8, positive)


def test_the_perceptron_has_no_optimum_of_its_own():
    X, positive = _rows(30, 5)
    assert training_objective(Perceptron().fit(X, positive), X, positive) is None


def test_slope_and_curvature_of_the_rounded_hinge():
    loss, z = RoundedHinge(0.3), np.linspace(-2, 2, 41) + 0.013
    positive, c, eps = np.arange(41) % 2 == 0, np.linspace(1, 2, 41), 1e-6
    g, curvature = loss_derivatives(loss, z, positive, c)
    for k in range(41):
        e = eps * (np.arange(41) == k)
        up, down = (loss_value(loss, z + s * e, positive, c) for s in (1, -1))
        assert (up - down) / (2 * eps) == pytest.approx(g[k], abs=1e-6)
        g_up, g_down = (
            loss_derivatives(loss, z + s * e, positive, c)[0] for s in (1, -1)
        )
        assert (g_up - g_down)[k] / (2 * eps) == pytest.approx(curvature[k], abs=1e-5)


def test_an_optimum_is_found_from_scores_that_bend_nothing():
    """Stochastic gradients on large numbers end there; they cost more than w = 0."""
    X, positive = _rows(60, 6)
    fit = training_objective(SPARSE[0].fit(X, positive), X, positive)
    expected = sparse_optimum(fit, X, positive)
    for far in (1e4 * np.ones(6), -1e5 * fit.w, 1e4 * fit.w):
        found = sparse_optimum(replace(fit, w=far), X, positive)
        np.testing.assert_allclose(found.w, expected.w, atol=1e-4)


def test_the_optimum_of_separated_rows_from_scores_that_bend_nothing():
    """Every loss is 0 there, and little is paid for the coefficients."""
    X, positive = _rows(60, 3)
    X[:, 0] += 10 * positive
    fit = training_objective(SPARSE[0].fit(X, positive), X, positive)
    fit = replace(fit, l1=1e-3)
    far = replace(fit, w=np.array([1e3, 0.0, 0.0]), intercept=-5e3)
    z = X @ far.w + far.intercept
    assert np.abs(z).min() > 800
    found = sparse_optimum(far, X, positive)
    value = [
        loss_value("logistic", X @ f.w + f.intercept, positive, f.case_weight)
        + 1e-3 * np.abs(f.w).sum()
        for f in (found, far)
    ]
    assert value[0] < value[1] < 60 * np.log(2)


@pytest.mark.parametrize("scaling", [0.0, np.inf])
@pytest.mark.parametrize("l1", [1e-2, 1.0])
def test_a_step_to_where_the_margin_holds_no_row(l1, scaling):
    """A squared hinge has no curvature there, and the penalty leads back."""
    rng = np.random.default_rng(59)
    X, positive = rng.normal(size=(12, 200)), np.arange(12) < 6
    sign = np.where(positive, 1.0, -1.0)
    for size in (0.0, 1.0, 30.0):
        w = size * np.linalg.lstsq(X, sign, rcond=None)[0]
        fit = ElasticNetFit("squared_hinge", 0.0, np.ones(12), w, 0.0, scaling, l1)
        found = sparse_optimum(fit, X, positive)
        slack = np.maximum(0.0, 1 - sign * (X @ found.w + found.intercept))
        slope = X.T @ (-2 * sign * slack)
        some = found.w != 0
        np.testing.assert_allclose(slope[some], -l1 * np.sign(found.w[some]), rtol=2e-2)
        assert np.abs(slope).max() <= 1.001 * l1


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("scaling", [0.0, 2.0, np.inf])
def test_columns_in_units_of_their_spread(scaling, thin):
    """Scores, penalties and slopes are those of the columns as they are."""
    X, positive = _rows(30, 7)
    X = 3.0 + X * np.geomspace(0.01, 100, 7)
    X[:, 4] = 0.0
    rng = np.random.default_rng(1)
    w, c = rng.normal(size=7) * np.array([1, 0, 1, 1, 0, 1, 0]), np.ones(30)
    b = 0.4 if scaling else 0.0
    fit = ElasticNetFit("logistic", 0.3, c, w, b, scaling, l1=0.5)
    problem = _proximal_refits._Problem(
        fit, sparse.csr_matrix(X) if thin else X, positive
    )
    spread = X.std(axis=0) if scaling == np.inf else np.sqrt((X**2).mean(axis=0))
    spread[4] = 1.0
    np.testing.assert_allclose(problem.scale, spread, rtol=1e-9)
    work = np.flatnonzero(w)
    A, l1, l2 = problem.block(work)
    beta = problem._coefficients(fit, work)
    np.testing.assert_allclose(beta @ A, X @ w + b, rtol=1e-9, atol=1e-9)
    free = [0.0] if scaling == np.inf else []
    of_b = [0.5 * b / scaling] if scaling == 2.0 else free
    np.testing.assert_allclose(l1 * np.abs(beta), [*0.5 * np.abs(w[work]), *of_b])
    of_b = [0.3 * b**2 / scaling**2] if scaling == 2.0 else free
    np.testing.assert_allclose(l2 * beta**2, [*0.3 * w[work] ** 2, *of_b])
    if scaling:
        assert problem._coefficients(fit, work[:0]).tolist() == [0.0]


@pytest.mark.parametrize("shape", [(4, 9), (9, 4)])
def test_a_newton_step_solves_its_system(shape):
    """Beyond as many features as rows in the dimension of the rows."""
    rng = np.random.default_rng(0)
    B, l2, p = (
        rng.normal(size=shape),
        rng.uniform(1, 2, shape[0]),
        rng.normal(size=shape[0]),
    )
    H = B @ B.T
    found = _proximal_refits._newton_step(B, H.copy() if shape[0] == 4 else None, l2, p)
    np.testing.assert_allclose(found, np.linalg.solve(H + np.diag(l2), p), rtol=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_systems_without_a_solution_have_the_ridge_of_their_mean_diagonal(unit):
    """A million millionth of it, and a millionth beyond as many features as rows."""
    B, p = 2 * unit * np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([1.0, -1.0, 0.0])
    for H, ridge in ((B @ B.T, 1e-12), (None, 1e-6)):
        found = _proximal_refits._newton_step(B, H, np.zeros(3), p)
        np.testing.assert_allclose(found * ridge * 4 * unit**2, p, atol=1e-3)


def _step_of_rest(H, p, side, l1):
    """Newton's, without the features that it would send to the wrong side of 0."""
    on = np.arange(len(p))
    while len(on):
        step = -np.linalg.solve(H[np.ix_(on, on)], p[on])
        wrong = (step * side[on] < 0) & (l1[on] > 0)
        if not wrong.any() or wrong.all():
            break
        on = on[~wrong]
    found = np.zeros(len(p))
    found[on] = step
    return found


@pytest.mark.parametrize("P", [3, 12])
def test_features_that_turn_at_zero_stay_and_the_others_step_without(P):
    """Against the systems of what is left, one feature after the other."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        A = rng.normal(size=(P, 8)) + 2 * rng.normal(size=8)
        curvature = rng.uniform(0.1, 1, 8) * (rng.random(8) < 0.8)
        p, l2 = rng.normal(size=P), rng.uniform(0.5, 1, P)
        l1 = np.where(np.arange(P) == 0, 0.0, 1.0)
        side = np.where(rng.random(P) < 0.6, -np.sign(p), 0.0)
        H = (A * curvature) @ A.T + np.diag(l2)
        expected = _step_of_rest(H, p, side, l1)
        found = _proximal_refits._into_orthant((A, l1, l2), curvature, p, side)
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_first_turn_is_where_a_coefficient_is_zero():
    rng = np.random.default_rng(4)
    t = np.linspace(0, 1, 100_001)
    for _ in range(20):
        beta, step = rng.normal(size=3), rng.normal(size=3)
        beta[2] = 0.0
        l1 = np.array([1.0, 1.0, 1.0]) * (rng.random(3) < 0.7)
        path = (beta[:, None] + t * step[:, None])[l1 > 0]
        turned = np.sign(path) * np.sign(path[:, :1]) < 0
        first = t[turned.any(axis=0).argmax()] if turned.any() else 1.0
        found = _proximal_refits._first_turn(beta, step, l1)
        assert found == pytest.approx(first, abs=2e-5)
        tried = beta + found * step
        if found < 1:  # nothing is left before it
            assert np.any((beta * tried <= 0) & (beta != 0) & (l1 > 0))


@pytest.mark.parametrize("size", [0, 3])
def test_the_steepest_features_come_in_first(size):
    """Ten and as many as there are, by the slope in units of the column."""
    X, positive = _rows(40, 60)
    X *= np.geomspace(1, 1e3, 60)[np.random.default_rng(0).permutation(60)]
    fit = ElasticNetFit("squared", 0.0, np.ones(40), np.zeros(60), 0.0, 0.0, l1=0.2)
    problem = _proximal_refits._Problem(fit, X, positive)
    z, work = np.zeros((1, 40)), np.array([5])
    slope = np.abs(X.T @ np.where(positive, 1.0, -1.0))
    slope[5] = 0
    asks = np.flatnonzero(slope > 0.2)
    assert len(asks) > 30
    steep = slope / np.sqrt((X**2).mean(axis=0))
    expected = asks[np.argsort(-steep[asks])[: 10 + size]]
    found = problem.wanted(np.ones((1, 40)), z, work, np.array([size]))
    assert sorted(found) == sorted(expected)


def test_a_step_is_the_first_that_lowers_the_objective():
    """Whole, halves of it, up to where a coefficient turns; edges of the orthant."""
    rng = np.random.default_rng(7)
    positive, seen = np.arange(24) % 3 == 0, []
    for _ in range(300):
        X = (rng.normal(size=(24, 5)) + rng.normal(size=(24, 1))) * rng.uniform(0.3, 3)
        X[:, 0] += positive
        beta = rng.normal(size=5) * rng.uniform(0.1, 4) * (rng.random(5) < 0.6)
        l1, l2, c = np.full(5, 0.8), np.full(5, 0.1), rng.uniform(0.5, 2, 24)
        fit = ElasticNetFit("logistic", 0.1, c, beta, 0.0, 0.0, l1=0.8)
        problem = _proximal_refits._Problem(fit, X, positive)
        t = np.where(positive, 1.0, -1.0)

        def cost(w, X=X, c=c, t=t):
            losses = c @ np.logaddexp(0, -t * (X @ w))
            return losses + 0.8 * np.abs(w).sum() + 0.05 * w @ w

        share = 1 / (1 + np.exp(t * (X @ beta)))
        slope, bends = X.T @ (-t * c * share) + 0.1 * beta, c * share * (1 - share)
        asks = np.where(np.abs(slope) > 0.8, slope - 0.8 * np.sign(slope), 0.0)
        p = np.where(beta != 0, slope + 0.8 * np.sign(beta), asks)
        side = np.where(beta != 0, np.sign(beta), -np.sign(p))
        H = (X.T * bends) @ X + 0.1 * np.eye(5)
        step = _step_of_rest(H, p, np.where(beta == 0, side, 0.0), l1)
        crossed = [b / -s for b, s in zip(beta, step, strict=True) if b * (b + s) < 0]
        turn = min(crossed, default=1.0) * (1 + 1e-12)
        for length in sorted({turn, *(2.0**-k for k in range(20))}, reverse=True):
            tried = beta + length * step
            tried[np.sign(tried) != side] = 0.0
            if cost(tried) <= cost(beta) + 1e-4 * min(p @ (tried - beta), 0.0):
                break
        held = np.any((step == 0) & (p != 0))
        part, z = (X.T, l1, l2), X @ beta
        arguments = part, problem, c, beta, z, p, bends
        _, done, found, scores = _proximal_refits._step(*arguments, 1e9)
        np.testing.assert_allclose(found, tried, atol=1e-9)
        np.testing.assert_allclose(scores, X @ tried, atol=1e-8)
        assert done == (not held)
        enough = -(p @ step) / cost(beta)
        for tol in (0.9 * enough, 1.1 * enough):
            done = _proximal_refits._step(*arguments, tol)[1]
            assert done == (not held and tol > enough)
        seen.append((held, turn < 1, length < 1))
    for some in np.array(seen).T:
        assert np.count_nonzero(some) > 5


def test_where_no_slope_is_left_the_step_is_done():
    """Of two rows through which the line goes."""
    X, positive = np.array([[1.0], [-1.0]]), np.array([True, False])
    fit = ElasticNetFit("squared", 0.0, np.ones(2), np.ones(1), 0.0, 0.0, l1=0.0)
    problem = _proximal_refits._Problem(fit, X, positive)
    part, zero = (X.T, np.zeros(1), np.zeros(1)), np.zeros(1)
    moved, done, beta, _ = _proximal_refits._step(
        part, problem, np.ones(2), np.ones(1), X[:, 0], zero, np.ones(2), 1e-7
    )
    assert not moved
    assert done
    assert beta == 1


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("n", [3, 12])
def test_newtons_step_solves_its_equations_in_either_dimension(n, unit):
    """``(BBᵀ + Λ)x = p`` from 6×6 or n×n; where that is singular, with damping."""
    rng = np.random.default_rng(0)
    B, p = unit * rng.normal(size=(6, n)), rng.normal(size=6)
    size = np.mean(np.sum(B**2, axis=1))
    square = B @ B.T
    # a penalty large, small and none: n features have none to speak of
    for l2 in np.outer([3.0, 1e-2, 0.0], size * np.array([1, 0.5, 2, 1, 0.1, 3])):
        damped = l2 if n == 12 else np.maximum(l2, 1e-6 * size)
        expected = np.linalg.solve(square + np.diag(damped), p)
        H = square.copy() if n == 12 else None
        found = _proximal_refits._newton_step(B, H, l2, p)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_newtons_step_of_equal_features():
    """Without a penalty one of many solutions, whichever rounding prefers."""
    B = np.random.default_rng(1).normal(size=(3, 12))[[0, 1, 2, 0]]
    p = B @ np.ones(12)
    x = _proximal_refits._newton_step(B, B @ B.T, np.zeros(4), p)
    np.testing.assert_allclose(B @ B.T @ x, p, rtol=1e-6)


@pytest.mark.parametrize("l2", [0.0, 5.0])
def test_a_step_along_the_slope_is_as_short_as_the_trace_says(l2, monkeypatch):
    """``−p/tr H``: no curvature is larger than all of them together."""
    monkeypatch.setattr(_proximal_refits, "_STEPS", (("slope", 40),))
    X, positive = _rows(20, 4)
    c, beta = np.linspace(0.5, 2, 20), np.array([0.3, -0.2, 0.1, 0.4])
    fit = ElasticNetFit("logistic", l2, c, beta, 0.0, 0.0, 0.0)
    problem = _proximal_refits._Problem(fit, X, positive)
    odds = 1 / (1 + np.exp(-X @ beta))
    slope = X.T @ (c * (odds - positive)) + l2 * beta
    H = (X.T * (c * odds * (1 - odds))) @ X + l2 * np.eye(4)
    part = X.T, np.zeros(4), np.full(4, l2)
    bent = c * odds * (1 - odds)
    moved, done, found, z = _proximal_refits._step(
        part, problem, c, beta, X @ beta, slope, bent, 1e-7
    )
    assert moved
    assert not done
    np.testing.assert_allclose(found, beta - slope / np.trace(H))
    np.testing.assert_allclose(z, X @ found)


@pytest.mark.parametrize("P", [1, 4])
@pytest.mark.parametrize("length", [1.0, 0.5, 0.25])
def test_a_step_is_halved_until_it_falls_as_its_slope_says(length, P, monkeypatch):
    """A square falls along Newton's step by ``t(1 − t/2)`` of its slope."""
    X, positive = _rows(20, 4)
    X, beta, l2 = X[:, :P], np.array([0.3, -0.2, 0.1, 0.4])[:P], 5.0
    c = np.linspace(0.5, 2, 20)
    fit = ElasticNetFit("squared", l2, c, beta, 0.0, 0.0, 0.0)
    problem = _proximal_refits._Problem(fit, X, positive)
    H, t = (X.T * c) @ X + l2 * np.eye(P), np.where(positive, 1.0, -1.0)
    best = np.linalg.solve(H, X.T @ (c * t))
    part = X.T, np.zeros(P), np.full(P, l2)
    for less in (1e-3, length / 2 - 1e-3):  # twice as far falls short of it
        monkeypatch.setattr(_proximal_refits, "ARMIJO", 1 - length / 2 - less)
        moved, _, found, _ = _proximal_refits._step(
            part, problem, c, beta, X @ beta, H @ (beta - best), c, 1e-7
        )
        assert moved
        np.testing.assert_allclose(found, beta + length * (best - beta), rtol=1e-9)
