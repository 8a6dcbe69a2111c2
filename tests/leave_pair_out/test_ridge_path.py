"""Nine ridge models: exact leave-pair-out against sklearn's refits."""

import numpy as np
import pytest
from oracles import repeat_rows, smooth_statistic
from scipy import sparse
from sklearn.linear_model import Ridge

from skauc.leave_pair_out._pairs import SMOOTH
from skauc.leave_pair_out._ridge_path import STRENGTHS, ridge_path


def design(n, P, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 5 < 2
    X = rng.normal(size=(n, P)) * np.geomspace(0.01, 100, P) + 50
    X[positive] += 0.6 * np.geomspace(0.01, 100, P) / np.sqrt(P)
    return X, positive


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def penalties(Z, positive):
    """Strengths times the mean non-zero eigenvalue of the within-class scatter."""
    n = len(Z)
    centred = Z.copy()
    for mask in (positive, ~positive):
        centred[mask] -= Z[mask].mean(axis=0)
    return STRENGTHS * np.sum(centred**2) / min(n - 2, Z.shape[1], n - 1)


@pytest.mark.parametrize(("n", "P"), [(20, 4), (15, 14), (15, 40)])
def test_exact_refits_on_standardised_features(n, P):
    X, positive = design(n, P)
    Z, sign = standardised(X), np.where(positive, 1.0, -1.0)
    path = ridge_path(X, positive)
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    for k in (0, 4, 8):
        alpha = penalties(Z, positive)[k]
        margin = np.empty((len(pos), len(neg)))
        for a, i in enumerate(pos):
            for b, j in enumerate(neg):
                keep = np.setdiff1d(np.arange(n), [i, j])
                w = Ridge(alpha=alpha, solver="svd").fit(Z[keep], sign[keep]).coef_
                margin[a, b] = (Z[i] - Z[j]) @ w
        auc, variance = smooth_statistic(margin, SMOOTH)
        assert path.auc[k] == pytest.approx(auc, rel=1e-9)
        assert path.covariance[k, k] == pytest.approx(variance, rel=1e-8)
        fitted = Ridge(alpha=alpha, solver="svd").fit(Z, sign).coef_ / X.std(axis=0)
        np.testing.assert_allclose(path.directions[:, k], fitted, rtol=1e-7)


def test_covariance_is_a_covariance():
    X, positive = design(40, 5)
    path = ridge_path(X, positive)
    np.testing.assert_allclose(path.covariance, path.covariance.T, rtol=1e-12)
    values = np.linalg.eigvalsh(path.covariance)
    assert values[0] > -1e-12 * values[-1]


@pytest.mark.parametrize("P", [4, 40])
def test_weights_repeat_rows(P):
    X, positive = design(20, P)
    weight = np.random.default_rng(1).integers(1, 4, 20)
    one = ridge_path(X, positive, weight.astype(float))
    two = ridge_path(repeat_rows(X, weight), repeat_rows(positive, weight))
    np.testing.assert_allclose(one.auc, two.auc, rtol=1e-7)
    np.testing.assert_allclose(one.covariance, two.covariance, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(one.directions, two.directions, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("P", [4, 40])
def test_sparse_is_dense(P):
    X, positive = design(24, P)
    X = X - 50
    X[np.abs(X) < np.median(np.abs(X), axis=0)] = 0
    dense, loose = (ridge_path(A, positive) for A in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(loose.auc, dense.auc, rtol=1e-9)
    np.testing.assert_allclose(
        loose.directions, dense.directions, rtol=1e-7, atol=1e-9 * 1e2
    )


@pytest.mark.parametrize("P", [4, 40])
def test_units_order_and_constant_columns(P):
    X, positive = design(24, P)
    rng = np.random.default_rng(2)
    base = ridge_path(X, positive).auc
    moved = X * 10 ** rng.uniform(-3, 3, P) + 10 * rng.normal(size=P)
    np.testing.assert_allclose(ridge_path(moved, positive).auc, base, rtol=1e-7)
    order = rng.permutation(24)
    np.testing.assert_allclose(
        ridge_path(X[order], positive[order]).auc, base, rtol=1e-9
    )
    wide = ridge_path(np.column_stack([X, np.full(24, 3.0)]), positive)
    np.testing.assert_allclose(wide.auc, base, rtol=1e-9)
    assert not wide.directions[-1].any()


def test_swapped_classes_turn_the_directions():
    X, positive = design(24, 4)
    one, two = ridge_path(X, positive), ridge_path(X, ~positive)
    np.testing.assert_allclose(two.auc, one.auc, rtol=1e-10)
    np.testing.assert_allclose(two.directions, -one.directions, rtol=1e-8)


@pytest.mark.parametrize(("n_pos", "P"), [(2, 1), (2, 5), (2, 30)])
def test_few_rows_and_one_feature(n_pos, P):
    rng = np.random.default_rng(0)
    positive = np.arange(n_pos + 2) < n_pos
    path = ridge_path(rng.normal(size=(len(positive), P)), positive)
    assert np.all((path.auc >= 0) & (path.auc <= 1))
    assert np.isfinite(path.covariance).all()
