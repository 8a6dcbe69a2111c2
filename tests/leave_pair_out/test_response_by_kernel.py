"""Q and F of some rows, against the Hessian and the definition."""

import numpy as np
import pytest

from skauc.leave_pair_out import _response_by_kernel
from skauc.leave_pair_out._response_by_kernel import response_by_kernel
from skauc.leave_pair_out._sparse_optimum import SingleKernel


def assert_response(found, Q, F, positive, of_Q, of_F):
    """Entry by entry of both matrices."""
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    np.testing.assert_allclose(found.Q_ij, Q[np.ix_(pos, neg)], **of_Q)
    np.testing.assert_allclose(found.Q_pos, Q[pos, pos], **of_Q)
    np.testing.assert_allclose(found.Q_neg, Q[neg, neg], **of_Q)
    np.testing.assert_allclose(found.F_ij, F[np.ix_(pos, neg)], **of_F)
    np.testing.assert_allclose(found.F_ji, F[np.ix_(neg, pos)].T, **of_F)
    np.testing.assert_allclose(found.F_pos, F[pos, pos], **of_F)
    np.testing.assert_allclose(found.F_neg, F[neg, neg], **of_F)


def kernel_of(X, free):
    X = X - X.mean(axis=0) if free else X
    return X @ X.T


def defined(X, curvature, free):
    """``Q = X̃H⁻¹X̃ᵀ`` with λ = 1 and ``F = I − Qω`` from the Hessian."""
    penalty = np.ones(X.shape[1])
    if free:
        X, penalty = np.column_stack([X, np.ones(len(X))]), np.append(penalty, 0.0)
    H = (X.T * curvature) @ X + np.diag(penalty)
    Q = X @ np.linalg.solve(H, X.T)
    return Q, np.eye(len(X)) - Q * curvature


def curvatures(kind, rng, n):
    if kind == "equal":
        return np.full(n, 0.4)
    if kind == "tiny":  # beside the penalty, where I − B⁻¹ has no digits
        return 1e-11 * rng.uniform(0.5, 2, n)
    if kind == "few":  # rows of no curvature, and of hardly any
        part = np.arange(n) % 4
        return np.select([part == 1, part == 2], [0.0, 1e-12], rng.uniform(0.1, 2, n))
    return rng.uniform(0.1, 2.0, n)


@pytest.mark.parametrize("kind", ["equal", "tiny", "few", "any"])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("order", ["neg first", "any", "twice"])
def test_some_rows_are_asked_of_many(free, kind, order):
    rng = np.random.default_rng(4)
    X, curvature = rng.normal(size=(40, 60)) + 0.5, curvatures(kind, rng, 40)
    rows = np.array([7, 0, 38, 5, 21, 13])
    positive = np.array([False, False, True, True, True, True])
    if order == "any":
        positive = rng.permutation(positive)
    if order == "twice":
        rows[1], rows[4] = rows[0], rows[3]
    found = response_by_kernel(kernel_of(X, free), curvature, free, rows, positive)
    Q, F = (part[np.ix_(rows, rows)] for part in defined(X, curvature, free))
    if order == "twice":  # F is that of one row, which is there twice
        F[0, 1] = F[1, 0] = F[0, 0]
    of_Q = {"rtol": 1e-8, "atol": 1e-9 * Q.max()}
    assert_response(found, Q, F, positive, of_Q, {"rtol": 1e-8, "atol": 1e-11})


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", ["equal", "few", "any"])
def test_every_row_is_asked(free, kind):
    rng = np.random.default_rng(5)
    X, curvature = rng.normal(size=(20, 30)), curvatures(kind, rng, 20)
    rows, positive = np.arange(20), np.arange(20) > 12
    found = response_by_kernel(kernel_of(X, free), curvature, free, rows, positive)
    Q, F = defined(X, curvature, free)
    least = {"rtol": 1e-8, "atol": 1e-10}
    assert_response(found, Q, F, positive, least, least)


@pytest.mark.parametrize("free", [True, False])
def test_no_row_has_curvature(free, capfd):
    """But for one that is not asked, which holds the intercept alone."""
    rng = np.random.default_rng(6)
    X, rows = rng.normal(size=(8, 12)), np.arange(5)
    for curvature in (np.zeros(8), np.where(np.arange(8) == 6, 0.7, 0.0)):
        if free and not curvature.any():
            continue  # nothing holds it
        found = response_by_kernel(kernel_of(X, free), curvature, free, rows, rows > 2)
        Q, F = (part[:5, :5] for part in defined(X, curvature, free))
        least = {"rtol": 1e-9, "atol": 1e-10}
        assert_response(found, Q, F, rows > 2, least, least)
    assert capfd.readouterr() == ("", "")  # of an empty matrix LAPACK complains


@pytest.mark.parametrize("size", [1.0, 1e13])  # of the rows; of their curvature
@pytest.mark.parametrize("asked", [6, 4])
def test_response_to_a_weak_penalty_keeps_its_digits(size, asked):
    """``F = (I + K diag(ω))⁻¹`` is tiny: as I − Q diag(ω) it would be rounding."""
    half = np.random.default_rng(0).normal(size=(6, 9))
    K, curvature = size * half @ half.T, 1e13 / size * np.linspace(0.1, 0.9, 6)
    rows, positive = np.arange(asked), np.arange(asked) > 2
    found = response_by_kernel(K, curvature, False, rows, positive)
    F = np.linalg.inv(np.eye(6) + K * curvature)
    np.testing.assert_allclose(found.F_ij, F[3:asked, :3], rtol=1e-8)
    np.testing.assert_allclose(found.F_ji, F[:3, 3:asked].T, rtol=1e-8)
    np.testing.assert_allclose(found.F_pos, np.diag(F)[3:asked], rtol=1e-8)
    np.testing.assert_allclose(found.F_neg, np.diag(F)[:3], rtol=1e-8)


def test_centred_rows_under_a_weak_penalty_keep_their_digits():
    """F is of order 1e-9 beside 1/n, which the intercept takes from each row."""
    rng = np.random.default_rng(7)
    X, rows = rng.normal(size=(40, 90)), np.arange(20)
    curvature = 1e8 * rng.uniform(0.5, 2, 40)
    found = response_by_kernel(kernel_of(X, True), curvature, True, rows, rows > 8)
    # K with a column of 1e6, as good as a free one
    F = np.linalg.inv(np.eye(40) + (kernel_of(X, True) + 1e6) * curvature)
    np.testing.assert_allclose(found.F_pos, np.diag(F)[9:20], rtol=1e-3)
    assert found.F_pos.max() < 1e-8


@pytest.mark.parametrize("unit", [1.0, 1e-60, 1e60])
@pytest.mark.parametrize("kind", ["equal", "few", "any"])
@pytest.mark.parametrize("free", [True, False])
def test_single_precision_has_five_digits(monkeypatch, unit, kind, free):
    rng = np.random.default_rng(8)
    X, curvature = rng.normal(size=(90, 200)) + 0.3, curvatures(kind, rng, 90)
    rows, positive = np.arange(0, 60, 2), np.arange(30) > 12
    K, asked = unit**2 * kernel_of(X, free), []
    taken = _response_by_kernel._taken

    def watched(K, *args):
        asked.append(K.dtype)
        return taken(K, *args)

    monkeypatch.setattr(_response_by_kernel, "_taken", watched)
    monkeypatch.setattr(_response_by_kernel, "_SINGLE_ROWS", 10)
    question = K, curvature / unit**2, free, rows, positive
    found = response_by_kernel(*question, SingleKernel.of(K))
    assert asked == [np.float32]
    Q, F = (part[np.ix_(rows, rows)] for part in defined(X, curvature, free))
    Q *= unit**2
    of_Q = {"rtol": 1e-4, "atol": 1e-5 * Q.max()}
    assert_response(found, Q, F, positive, of_Q, {"rtol": 1e-4, "atol": 1e-5})


@pytest.mark.parametrize("same", [(50, 40), (50, 3), (4, 3)])  # 20 are asked
def test_equal_rows_under_a_weak_penalty_need_double_precision(monkeypatch, same):
    """A copy that stays leaves 1/ω of a kernel that is 10⁶ as large."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(60, 90))
    rows, positive = np.arange(20), np.arange(20) > 8
    X[same[0]] = X[same[1]]
    curvature = 1e5 * rng.uniform(0.5, 2, 60)
    K = kernel_of(X, False)
    monkeypatch.setattr(_response_by_kernel, "_SINGLE_ROWS", 10)
    question = K, curvature, False, rows, positive
    one = response_by_kernel(*question, SingleKernel.of(K))
    two = response_by_kernel(*question)
    for name in ("Q_ij", "F_ij", "Q_neg", "F_neg", "F_pos"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
