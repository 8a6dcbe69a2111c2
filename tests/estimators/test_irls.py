"""Newton's method against generic optimisers, statsmodels' numbers and an LP."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from scipy.special import expit, logsumexp, softmax

from skauc.estimators import _irls
from skauc.estimators._irls import irls
from skauc.estimators._likelihood import Likelihood, are_ordinary, feature_sizes
from skauc.estimators._newton_frame import _row_space, _solve

REFERENCE = Path(__file__).parents[1] / "reference"


def objective(coef, X, codes, weight, C):
    """``ℓ − ‖coef‖²/(2C)`` of coefficient rows (K, P + 1), the slow and obvious way."""
    logits = X @ coef[:, :-1].T + coef[:, -1]
    own = logits[np.arange(len(codes)), codes] - logsumexp(logits, axis=1)
    return weight @ own - np.sum(coef[:, :-1] ** 2) / (2 * C)


def rows_of(result):
    """Coefficient rows (K, P + 1), a zero row in front for two classes."""
    rows = np.column_stack([result.coef, result.intercept])
    return np.vstack([np.zeros_like(rows), rows]) if len(rows) == 1 else rows


def problem(K, n=200, P=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) @ rng.normal(size=(P, P)) + rng.normal(size=P)
    logits = X @ rng.normal(size=(P, K)) / 4
    return X, np.argmax(logits + rng.gumbel(size=(n, K)), axis=1)


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("C", [np.inf, 10.0, 0.01])
def test_no_generic_optimiser_climbs_higher(K, C):
    X, codes = problem(K)
    weight = np.ones(len(X))
    result = irls(X, codes, K, C=C)
    ours = rows_of(result)
    free = K - 1 if K == 2 or np.isinf(C) else K

    def unpack(b):
        rows = np.reshape(b, (free, -1))
        return np.vstack([np.zeros((K - free, rows.shape[1])), rows])

    found = minimize(
        lambda b: -objective(unpack(b), X, codes, weight, C),
        np.zeros(free * (X.shape[1] + 1)),
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9},
    )
    best = objective(ours, X, codes, weight, C)
    assert result.converged
    assert best >= -found.fun - 1e-10 * abs(best)
    # A gradient by finite differences limits the optimiser's solution.
    theirs = unpack(found.x)
    shift = theirs[0, -1] - ours[0, -1]  # the common intercept is free when symmetric
    assert ours[:, :-1] == pytest.approx(theirs[:, :-1], abs=2e-4)
    assert ours[:, -1] == pytest.approx(theirs[:, -1] - shift, abs=2e-4)


@pytest.mark.parametrize("K", [2, 4])
def test_information_is_the_numerical_hessian(K):
    X, codes = problem(K, P=2)
    result = irls(X, codes, K)
    rows = rows_of(result)
    size = (K - 1) * 3

    def value(b):  # intercept first, as covariance is ordered
        free = np.reshape(b, (K - 1, 3))[:, [1, 2, 0]]
        return objective(
            np.vstack([np.zeros(3), free]), X, codes, np.ones(len(X)), np.inf
        )

    centre = (rows - rows[0])[1:][:, [2, 0, 1]].ravel()
    h = 1e-4
    steps = h * np.eye(size)
    hessian = [
        [
            sum(i * j * value(centre + i * a + j * b) for i in (1, -1) for j in (1, -1))
            / (4 * h * h)
            for b in steps
        ]
        for a in steps
    ]
    # Second differences of ℓ ~ 10² with h = 1e-4 carry errors of about 1e-5.
    information = np.linalg.inv(result.covariance)
    assert information == pytest.approx(-np.array(hessian), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize(
    "case",
    json.loads((REFERENCE / "statsmodels_logit.json").read_text()),
    ids=lambda c: c["name"],
)
def test_published_fits_of_statsmodels(case):
    X, codes = np.array(case["X"]), np.array(case["codes"])
    result = irls(X, codes, case["n_classes"])
    rows = rows_of(result)
    params = np.column_stack([rows[1:, -1], rows[1:, :-1]])
    errors = np.sqrt(np.diag(result.covariance)).reshape(params.shape)
    assert params == pytest.approx(np.array(case["params"]), rel=1e-6)
    assert errors == pytest.approx(np.array(case["bse"]), rel=1e-6)
    assert result.log_likelihood == pytest.approx(case["llf"], rel=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_separation_agrees_with_linear_programming(seed):
    # Konis: classes are separated iff max Σ (margins) > 0 over |δ| ≤ 1, margins ≥ 0.
    rng = np.random.default_rng(seed)
    n, P = 14, 2
    X = rng.normal(size=(n, P))
    if seed % 3 == 0:  # rare dummies and ties make quasi-complete separation likely
        X = np.round(X)
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    signed = np.where(positive, 1, -1)[:, None] * np.column_stack([X, np.ones(n)])
    found = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(n), bounds=(-1, 1))
    # Along the null space of X̃ nothing moves; a positive optimum is real separation.
    separated = -found.fun > 1e-7
    slack = linprog(
        [0, 0, 0, -1],
        A_ub=np.column_stack([-signed, np.ones(n)]),
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * 3 + [(None, 1)],
    )
    expected = "complete" if -slack.fun > 1e-9 else "quasi-complete"
    result = irls(X, positive.astype(int), 2)
    assert result.separation == (expected if separated else None)
    assert result.converged == (not separated)
    assert np.isfinite(result.coef).all()
    assert np.abs(result.coef).max() < 1e4


# Law ----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [np.inf, 0.5])
def test_weights_are_frequencies(K, C):
    X, codes = problem(K, n=90)
    weight = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    weighted = irls(X, codes, K, sample_weight=weight, C=C)
    times = weight.astype(int)
    repeated = irls(np.repeat(X, times, axis=0), np.repeat(codes, times), K, C=C)
    assert weighted.coef == pytest.approx(repeated.coef, rel=1e-9)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_affine_features_change_nothing_but_units(K):
    X, codes = problem(K)
    plain = irls(X, codes, K)
    scale, shift = np.array([1e-8, 1.0, 1e8, -3.0]), np.array([0, 1e4, 0, 50.0])
    moved = irls(X * scale + shift * np.abs(scale), codes, K)
    assert moved.coef * scale == pytest.approx(plain.coef, rel=1e-8)
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-10)
    assert moved.n_iter == plain.n_iter


@pytest.mark.parametrize("K", [2, 3])
def test_features_far_from_the_origin_lose_no_digits_of_their_spread(K):
    X, codes = problem(K)
    plain, moved = irls(X, codes, K), irls(X + 1e6, codes, K)
    assert moved.coef == pytest.approx(plain.coef, rel=1e-8)


def test_reference_class_is_a_choice_of_origin():
    X, codes = problem(4)
    rows = [rows_of(irls(X, codes, 4, reference=r)) for r in range(4)]
    for r, coef in enumerate(rows):
        assert not coef[r].any()
        assert coef - coef[0] == pytest.approx(rows[0], rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("K", [2, 3])
def test_gradient_is_zero_at_the_optimum(K):
    X, codes = problem(K)
    rows = rows_of(irls(X, codes, K, C=2.0))
    logits = X @ rows[:, :-1].T + rows[:, -1]
    p = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    residual = np.eye(K)[codes] - p
    gradient = residual.T @ X - rows[:, :-1] / 2.0
    used = slice(1, None) if K == 2 else slice(None)
    assert np.abs(gradient[used]).max() < 1e-6 * len(X)
    assert np.abs(residual.sum(axis=0)).max() < 1e-6 * len(X)


def test_likelihood_never_falls_and_halvings_are_counted():
    # An outlier makes the full Newton step overshoot.
    rng = np.random.default_rng(3)
    x = np.append(rng.normal(size=60), 200.0)
    codes = np.append(rng.random(60) < 1 / (1 + np.exp(-3 * x[:60])), False).astype(int)
    values = [
        irls(x[:, None], codes, 2, max_iter=k).log_likelihood for k in range(1, 12)
    ]
    assert all(b >= a - 1e-9 for a, b in pairwise(values))
    assert irls(x[:, None], codes, 2).converged


def test_min_norm_of_collinear_features():
    X, codes = problem(3)
    thick = np.column_stack([X, X[:, 0] + 2 * X[:, 1], np.full(len(X), 7.3)])
    plain, result = irls(X, codes, 3), irls(thick, codes, 3)
    assert result.converged
    assert result.rank == plain.rank == 5
    assert result.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    assert thick @ result.coef.T + result.intercept == pytest.approx(
        X @ plain.coef.T + plain.intercept, rel=1e-8, abs=1e-8
    )
    # Orthogonal to what leaves the logits unchanged: (1, 2, 0, 0, −1, 0), (…, 1).
    assert np.abs(result.coef @ [1, 2, 0, 0, -1, 0]).max() < 1e-9
    assert np.abs(result.coef[:, 5]).max() < 1e-9


def test_sparse_rows_and_other_memory_give_the_same():
    X, codes = problem(3)
    X[np.abs(X) < 0.7] = 0
    plain = irls(X, codes, 3)
    for other in (sparse.csr_array(X), np.asfortranarray(X)):
        assert irls(other, codes, 3).coef == pytest.approx(plain.coef, rel=1e-10)


def test_blocks_do_not_matter(monkeypatch):
    X, codes = problem(3)
    plain = irls(X, codes, 3)
    monkeypatch.setattr("skauc.estimators._likelihood._BLOCK_BYTES", 64)
    assert irls(X, codes, 3).coef == pytest.approx(plain.coef, rel=1e-10)


# Edge ---------------------------------------------------------------------------------


def test_without_intercept():
    X, codes = problem(2)
    result = irls(X, codes, 2, fit_intercept=False)
    assert result.intercept == 0
    p = 1 / (1 + np.exp(-X @ result.coef[0]))
    assert np.abs(X.T @ (codes - p)).max() < 1e-6 * len(X)
    assert result.covariance == pytest.approx(
        np.linalg.inv(X.T @ (X * (p * (1 - p))[:, None])), rel=1e-6
    )


def test_warm_start_ends_where_the_cold_one_does():
    X, codes = problem(3)
    cold = irls(X, codes, 3)
    again = irls(X, codes, 3, init=rows_of(cold))
    assert again.n_iter == 1
    assert again.coef == pytest.approx(cold.coef, rel=1e-7)


def test_no_halvings_allowed_still_ends():
    X, codes = problem(2)
    assert irls(X, codes, 2, max_halvings=0).converged


def test_multinomial_separation_of_one_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    codes = np.repeat([0, 1, 2], 30)
    X[codes == 2] += 50
    result = irls(X, codes, 3)
    assert result.separation == "quasi-complete"
    assert result.covariance is None


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [np.inf, 0.01])
def test_a_start_on_a_share_ends_at_the_same_optimum(monkeypatch, n_classes, C):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3)) + np.array([0, 30, 0])
    y = np.argmax(
        X[:, :1] * np.arange(n_classes) + rng.gumbel(size=(4000, n_classes)), 1
    )
    weight = rng.integers(0, 3, 4000).astype(float)
    options = {"sample_weight": weight, "C": C, "tol": 1e-10}
    monkeypatch.setattr(_irls, "_ROWS_A_PARAMETER", np.inf)
    slow = irls(X, y, n_classes, **options)
    monkeypatch.setattr(_irls, "_ROWS_A_PARAMETER", 10)
    fast = irls(X, y, n_classes, **options)
    assert fast.n_iter < slow.n_iter
    np.testing.assert_allclose(fast.coef, slow.coef, rtol=1e-8, atol=1e-10)
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-12)


def test_a_share_without_a_class_is_no_start(monkeypatch):
    monkeypatch.setattr(_irls, "_ROWS_A_PARAMETER", 10)
    X = np.random.default_rng(6).normal(size=(3000, 2))
    y = np.zeros(3000, dtype=int)
    y[1::200] = 1  # never a row of the tenth
    assert irls(X, y, 2).converged


@pytest.mark.parametrize("scale", [1e-80, 1e-60, 0.0, 1.0, 1e60, 1e80])
@pytest.mark.parametrize("light", [1.0, 1e-100])
def test_ordinary_sizes_are_told_from_their_squares(scale, light):
    x = np.array([[1.0], [3.0], [-2.0]]) * scale
    weight = np.array([light, 1.0, 1.0])
    said = are_ordinary((weight[:, None] * x**2).sum(axis=0), weight, 3)
    if said:  # it may say no where the truth is yes, never the other way round
        assert 1e-70 < np.abs(x).max() < 1e70
    assert said or scale != 1.0 or light < 1


@pytest.mark.parametrize("size", [1.0, 16.0, 1 / 16])
def test_errors_and_covariances_count_the_weights(size):
    X, codes = problem(2, n=90)
    weight = np.random.default_rng(1).integers(0, 4, len(X)) * size
    found = irls(X, codes, 2, sample_weight=weight)
    design = np.column_stack([np.ones(len(X)), X])
    p = 1 / (1 + np.exp(-(X @ found.coef[0] + found.intercept[0])))
    V = np.linalg.inv(design.T @ (design * (weight * p * (1 - p))[:, None]))
    assert found.covariance == pytest.approx(V, rel=1e-6)
    assert found.standard_errors[0] == pytest.approx(np.sqrt(np.diag(V)), rel=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_information_of_many_blocks(monkeypatch, K):
    X, codes = problem(K, n=400)
    plain = irls(X, codes, K)
    monkeypatch.setattr("skauc.estimators._likelihood._BLOCK_BYTES", 64)
    cut = irls(X, codes, K)  # seven blocks of 64 rows
    assert cut.covariance == pytest.approx(plain.covariance, rel=1e-9, abs=1e-15)


def test_a_ridge_never_names_a_separation():
    x = np.arange(8.0)[:, None]
    codes = np.arange(8) // 4
    for n_iter in (1, 2, 3, 50):
        assert irls(x, codes, 2, C=1e3, max_iter=n_iter).separation is None


@pytest.mark.parametrize("max_iter", [1, 2, 3, 4])
def test_separation_is_named_where_the_steps_end_early(max_iter):
    x = np.arange(8.0)[:, None]
    assert irls(x, np.arange(8) // 4, 2, max_iter=max_iter).separation == "complete"


def test_halvings_are_those_of_a_slow_twin():
    # Features and weights over many decades make Newton's steps overshoot
    rng = np.random.default_rng(170)
    x = np.exp(3 * rng.standard_normal(12)) * rng.choice([-1, 1], 12)
    codes = (rng.random(12) < 0.5).astype(int)
    codes[:2] = 0, 1
    weight = np.exp(3 * rng.standard_normal(12))
    found = irls(x[:, None], codes, 2, sample_weight=weight)
    design, trials, point = np.column_stack([x, np.ones(12)]), 0, np.zeros(2)

    def value(b):
        return objective(np.array([[0, 0], b]), x[:, None], codes, weight, np.inf)

    for _ in range(found.n_iter):
        p = expit(design @ point)
        H = design.T @ (design * (weight * p * (1 - p))[:, None])
        step = np.linalg.solve(H, design.T @ (weight * (codes - p)))
        lowest = value(point) - 1e-12 * abs(value(point))
        halved = next(h for h in range(31) if value(point + step / 2**h) >= lowest)
        trials, point = trials + halved, point + step / 2**halved
    assert found.n_halvings == trials == 6
    assert np.append(found.coef, found.intercept) == pytest.approx(point, rel=1e-6)


@pytest.mark.parametrize("size", [2.0**-300, 2.0**300])
def test_errors_of_wide_rows_have_the_unit_of_their_features(size):
    rng = np.random.default_rng(0)
    base = rng.standard_normal((4, 12))
    X, codes = np.repeat(base, 2, axis=0), np.tile([0, 1], 4)
    plain, moved = irls(X, codes, 2), irls(X * size, codes, 2)
    assert moved.standard_errors[0, 1:] * size == pytest.approx(
        plain.standard_errors[0, 1:], rel=1e-8
    )
    assert moved.standard_errors[0, 0] == pytest.approx(plain.standard_errors[0, 0])


@pytest.mark.parametrize("size", [2.0**-300, 2.0**300])
@pytest.mark.parametrize("collinear", [False, True])
def test_errors_and_ridges_have_the_unit_of_their_features(size, collinear):
    X, codes = problem(2)
    X = np.column_stack([X, X[:, 0] + X[:, 1]]) if collinear else X
    plain, moved = irls(X, codes, 2), irls(X * size, codes, 2)
    assert moved.coef * size == pytest.approx(plain.coef, rel=1e-8)
    assert moved.standard_errors[0, 1:] * size == pytest.approx(
        plain.standard_errors[0, 1:], rel=1e-8
    )
    assert moved.covariance[1:, 1:] * size**2 == pytest.approx(
        plain.covariance[1:, 1:], rel=1e-7, abs=1e-12
    )
    if not collinear and size < 1:
        ridge = irls(X, codes, 2, C=0.5)
        strong = irls(X * size, codes, 2, C=0.5 / size**2)
        assert strong.coef * size == pytest.approx(ridge.coef, rel=1e-8)


def test_features_far_from_the_origin_in_different_places():
    X, codes = problem(2)
    plain = irls(X, codes, 2)
    moved = irls(X + np.array([1e6, -3e6, 1e4, 5e5]), codes, 2)
    assert moved.coef == pytest.approx(plain.coef, rel=1e-8)
    assert moved.standard_errors[:, 1:] == pytest.approx(
        plain.standard_errors[:, 1:], rel=1e-6
    )


@pytest.mark.parametrize("K", [2, 3])
def test_logits_of_any_size_have_probabilities(K):
    X, codes = np.array([[1.0], [-1.0], [2.0]]), np.array([0, 1, K - 1])
    model = Likelihood(X, codes, None, np.eye(K)[:, 1:], False)
    B = np.linspace(900.0, 1000.0, K - 1)[None]
    (_, p, _, _) = next(iter(model.probabilities(B)))
    assert p == pytest.approx(softmax(np.eye(K)[:, 1:] @ B.T @ X.T, axis=0))


def test_an_offset_adds_to_the_logit():
    rng = np.random.default_rng(0)
    X, offset = rng.standard_normal((5, 2)), rng.standard_normal(5)
    model = Likelihood(X, np.arange(5) % 2, None, np.array([[0.0], [1.0]]), True)
    model.offset = offset
    B = np.array([[0.3], [-0.7], [0.2]])
    (_, p, _, _) = next(iter(model.probabilities(B)))
    assert p[1] == pytest.approx(expit(X @ B[:2, 0] + 0.2 + offset))


def test_size_of_a_feature_is_that_of_its_largest_number():
    assert feature_sizes(np.array([[-3.0, 1.0], [-1.0, 2.0]])).tolist() == [3, 2]


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_range_and_null_space_of_dependent_features(rank):
    rng = np.random.default_rng(0)
    for _ in range(5):
        half = rng.normal(size=(6, rank))
        inside, outside = _row_space(half @ half.T, np.ones(6))
        assert (inside.shape, outside.shape) == ((6, rank), (6, 6 - rank))
        np.testing.assert_allclose(inside @ (inside.T @ half), half, atol=1e-12)


@pytest.mark.parametrize("rank_one", [False, True])
def test_singular_systems_have_the_solution_of_least_norm(rank_one):
    """In units of the diagonal; the part that is rounding counts as 0."""
    A = np.ones((5, 5))
    if not rank_one:
        A[3:], A[:, 3:] = 0.0, 0.0
        A[3:, 3:] = [[2.0, 1.0], [1.0, 2.0]]
    unit = np.array([1.0, 1e4, 1e-3, 2.0, 0.1])
    A = A * unit * unit[:, None]
    b = A @ np.random.default_rng(0).normal(size=(5, 2))
    root = np.sqrt(np.diag(A))
    scaled = A / root / root[:, None]
    expected = np.linalg.pinv(scaled, rcond=1e-9) @ (b.T / root).T
    np.testing.assert_allclose((_solve(A, b).T * root).T, expected, rtol=1e-9)
    np.testing.assert_allclose(_solve(A, b[:, 0]) * root, expected[:, 0], rtol=1e-9)
    inverse = _solve(A, np.eye(5)) * root * root[:, None]
    np.testing.assert_allclose(inverse, np.linalg.pinv(scaled, rcond=1e-9), atol=1e-12)
