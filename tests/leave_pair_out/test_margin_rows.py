"""The optimum of a squared hinge against its conditions, however weak the penalty."""

import numpy as np
import pytest

from skauc.leave_pair_out import _margin_rows, _optimum
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._influence import kernel
from skauc.leave_pair_out._losses import loss_derivatives
from skauc.leave_pair_out._margin_rows import settled_rows
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._smooth_refits import smooth_optimum


def _rows(n=40, P=70, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 > 0
    return rng.normal(size=(n, P)) + 1.0, positive, rng.uniform(0.5, 2.0, n)


def _fit(l2, c, P, scaling=np.inf):
    return PenalisedFit("squared_hinge", l2, c, np.zeros(P), 0.0, scaling)


@pytest.mark.parametrize("scaling", [np.inf, 2.0, 0.0])
@pytest.mark.parametrize("l2", [100.0, 1.0, 1e-4])
@pytest.mark.parametrize("start", ["nothing", "beyond all margins", "wrong"])
def test_slopes_hold_the_rows(scaling, l2, start):
    """``λα = −g(Kα + b)``, and 1ᵀα = 0 of a free intercept: the objective is convex."""
    X, positive, c = _rows()
    c[:4] = 0.0
    K, t = kernel(X, _fit(l2, c, 70, scaling)), np.where(positive, 1.0, -1.0)
    z = {"nothing": 0.0, "beyond all margins": 2.0, "wrong": -1.0}[start] * t
    theta = settled_rows(K, l2, scaling == np.inf, positive, c, z)
    alpha, b = theta[:-1], theta[-1]
    z = K @ alpha + b
    g, _ = loss_derivatives("squared_hinge", z, positive, c)
    least = {"rtol": 1e-7, "atol": 1e-7 * np.abs(g).max()}
    np.testing.assert_allclose(-l2 * alpha, g, **least)
    assert np.all(alpha[:4] == 0)
    if scaling == np.inf:
        assert abs(alpha.sum()) < 1e-9 * np.abs(alpha).sum()
        assert b != 0
    else:
        assert b == 0


def test_rows_that_do_not_settle_are_none(monkeypatch):
    X, positive, c = _rows()
    K = kernel(X, _fit(1.0, c, 70))
    question = 1.0, True, positive, c, np.zeros(40)
    assert settled_rows(np.full((40, 40), np.nan), *question) is None
    assert settled_rows(K, *question) is not None
    monkeypatch.setattr(_margin_rows, "_STEPS", 1)
    assert settled_rows(K, *question) is None


@pytest.mark.parametrize("scaling", [np.inf, 2.0])
@pytest.mark.parametrize("l2", [1e-1, 1e-3, 1e-6])
def test_a_weak_penalty_is_felt_from_nothing(scaling, l2):
    """Noise: of w beyond all margins the rows left out have an AUC of 1."""
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(100, 500)), np.arange(100) % 2 > 0
    fit = smooth_optimum(_fit(l2, np.ones(100), 500, scaling), X, positive)
    _, g, _ = fit.slopes(X, positive)
    force = X.T @ g
    assert np.linalg.norm(force + l2 * fit.w) < 1e-3 * np.linalg.norm(force)
    assert leave_pair_out(X, positive, fit).auc == pytest.approx(0.5, abs=0.15)


def test_what_the_rows_do_not_hold_is_no_optimum(monkeypatch):
    """Common factors leave hardly a digit: w is not trusted though it separates."""
    rng = np.random.default_rng(0)
    F = rng.normal(size=(520, 20))
    X = F @ rng.normal(size=(20, 600)) + 0.1 * rng.normal(size=(520, 600))
    positive = F[:, 0] + 2 * rng.normal(size=520) > 0
    fit = _fit(1e-9, np.ones(520), 600)
    assert smooth_optimum(fit, X, positive) is not None
    assert _optimum.at_optimum(fit, X, positive) is None
    fit = _fit(1e-1, np.ones(520), 600)
    assert _optimum.at_optimum(fit, X, positive) is not None
