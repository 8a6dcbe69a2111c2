"""Newton's method against generic optimisers, and its laws."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from skauc import IRLSLogisticRegression


def irls(X, codes, n_classes, *, sample_weight=None, **options):
    """The result of a public fit; warnings are those of other tests."""
    model = IRLSLogisticRegression(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, codes, sample_weight).inference_.solution


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


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [np.inf, 0.01])
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


# Law ----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_affine_features_change_nothing_but_units(K):
    X, codes = problem(K)
    plain = irls(X, codes, K)
    scale, shift = np.array([1e-8, 1.0, 1e8, -3.0]), np.array([0, 1e4, 0, 50.0])
    moved = irls(X * scale + shift * np.abs(scale), codes, K)
    assert moved.coef * scale == pytest.approx(plain.coef, rel=1e-8)
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-10)
    assert moved.n_iter == plain.n_iter


def test_likelihood_never_falls():
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


# Edge ---------------------------------------------------------------------------------


def test_features_that_are_0_everywhere():
    model = IRLSLogisticRegression(C=1.0, fit_intercept=False)
    with pytest.raises(
        ValueError, match="X must have a value other than 0 .* zeros only"
    ):
        model.fit(np.zeros((8, 2)), [0, 1] * 4)
