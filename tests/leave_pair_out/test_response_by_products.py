"""Leave-pair-out of sparse rows by products, against the inverse of their kernel."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from skauc.leave_pair_out import _influence, _response_by_products, _ridge_path
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._pair_response import PairResponse
from skauc.leave_pair_out._response_by_products import (
    _SEED,
    CentredKernel,
    KernelDiagonal,
    common_curvature,
    kernel_diagonal,
    response_by_products,
)
from skauc.leave_pair_out._ridge_path import ridge_path
from skauc.leave_pair_out._sparse_optimum import optimum_by_products
from skauc.statistics._lanczos import random_signs
from skauc.statistics._sparse_gram import RowGram, SparseGram

N = 600


def texts(P=4000, seed=0, n=N):
    """Rows of length 1 whose classes prefer some of the words."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    usual = 1 / (np.arange(P) + 10.0)
    told = usual * np.exp(0.7 * rng.normal(size=P) * (rng.random(P) < 0.3))
    words = np.where(positive[:, None], told / told.sum(), usual / usual.sum())
    X = sparse.csr_array(np.log1p(rng.poisson(60 * words)).astype(float))
    length = np.sqrt(X.multiply(X).sum(axis=1))
    return sparse.csr_array(X / length[:, None]), positive


def fitted(X, positive, loss="logistic", C=1.0, scaling=np.inf, weight=None):
    weight = np.ones(X.shape[0]) if weight is None else weight
    nothing = np.zeros(X.shape[1]), 0.0, scaling
    fit = PenalisedFit(loss, 1 / C, weight, *nothing)
    return optimum_by_products(fit, X, positive)


@pytest.fixture
def either_way(monkeypatch):
    """Leave-pair-out by products and from the kernel, over the same pairs."""

    def ask(X, positive, fit):
        monkeypatch.setattr(_influence, "PRODUCT_ROWS", 100)
        fast = leave_pair_out(X, positive, fit)
        monkeypatch.setattr(_influence, "_is_near_enough", lambda curvature: False)
        return leave_pair_out(X, positive, fit), fast

    return ask


@pytest.fixture
def all_steps(monkeypatch):
    """Formulas are those of any number of steps: the error of few is not theirs."""
    monkeypatch.setattr(_response_by_products, "_SOLVED", 0.0)


def test_moments_are_those_of_the_kernel():
    X, _ = texts(n=50, P=300)
    rows = np.random.default_rng(0).permutation(50)[:35]
    A = X.toarray() - X.toarray().mean(axis=0)
    K = A @ A.T
    kernel = CentredKernel.of_rows(X.astype(np.float32))
    found = kernel.moments(rows, 4)
    # the mean direction, in which K is empty, is none of them
    assert found[:, 0] == pytest.approx(1 - 1 / 50)
    for power in range(1, 5):
        exact = np.diag(np.linalg.matrix_power(K, power))[rows]
        np.testing.assert_allclose(found[:, power], exact, rtol=1e-4)
    for degree in (2, 3):
        fewer = kernel.moments(rows, degree)
        np.testing.assert_array_equal(fewer, found[:, : degree + 1])


@pytest.mark.parametrize("theta", [0.01, 1.0, 100.0])
def test_diagonal_of_the_inverse(theta):
    X, _ = texts()
    rows = np.arange(0, N, 3)
    A = X.toarray() - X.toarray().mean(axis=0)
    exact = np.linalg.inv(np.eye(N) + theta * A @ A.T).diagonal() - 1 / N
    diagonal = kernel_diagonal(X, rows)
    answer, found = diagonal.inverse(theta)
    # K(I + θK)⁻¹ = (I − (I + θK)⁻¹)/θ
    np.testing.assert_allclose(1 - 1 / N - theta * answer, found, rtol=1e-9)
    # q = (1/F − 1)/θ, as it enters the scores that are left out
    one, two = ((1 / F - 1) / theta for F in (exact[rows], found))
    assert two.mean() == pytest.approx(one.mean(), rel=3e-3 if theta > 10 else 2e-3)
    np.testing.assert_allclose(two, one, rtol=0.08 if theta > 10 else 0.04)
    mean = exact.mean() * N / (N - 1)
    assert diagonal.mean(theta)[1] == pytest.approx(mean, rel=5e-3)
    assert 1 - theta * diagonal.mean(theta)[0] == pytest.approx(mean, rel=5e-3)
    # in units of other rows
    scaled = kernel_diagonal(1e6 * X, rows).inverse(1e-12 * theta)[1]
    np.testing.assert_allclose(scaled, found, rtol=1e-4)
    halved = kernel_diagonal(2 * X, rows, np.full(X.shape[1], 0.5)).inverse(theta)[1]
    np.testing.assert_allclose(halved, found, rtol=1e-5)


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_penalties_without_end(unit):
    """Digits of the kernel where F is nearly I, and bounds where it is nearly 0."""
    X, _ = texts()
    rows = np.arange(0, N, 3)
    A = X.toarray() - X.toarray().mean(axis=0)
    square = np.sum(A**2, axis=1)[rows]
    diagonal = kernel_diagonal(unit * X, rows)
    answer, inverse = diagonal.inverse(1e-12 / unit**2)
    np.testing.assert_allclose(answer / unit**2, square, rtol=1e-4)
    np.testing.assert_allclose(inverse, 1 - 1 / N, rtol=1e-9)
    answer, inverse = diagonal.inverse(1e9 / unit**2)
    # e_iᵀ(I + θK)⁻¹e_i ≥ 1/(1 + θK_ii), Jensen
    assert np.all(inverse >= 0.999 / (1e9 * square))
    assert np.all(np.isfinite(answer))


def test_rows_far_from_the_origin():
    """Seven digits of 1e5 have none for what rows differ by."""
    X, _ = texts()
    rows = np.arange(0, N, 3)
    far = sparse.csr_array(np.full((N, 2), 1e5))
    answer, inverse = kernel_diagonal(sparse.hstack([X, far]).tocsr(), rows).inverse(1)
    expected = kernel_diagonal(X, rows).inverse(1)
    np.testing.assert_allclose(answer, expected[0], rtol=0.02)
    np.testing.assert_allclose(inverse, expected[1], rtol=0.02)


def few_rows(n=12, P=30):
    """So few that Lanczos' steps reach all dimensions; with their centred kernel."""
    rng = np.random.default_rng(4)
    X = rng.gamma(1.0, size=(n, P)) * (rng.random((n, P)) < 0.5) * np.geomspace(2, 1, P)
    A = X - X.mean(axis=0)
    return sparse.csr_array(X), A @ A.T


class ExactDiagonal:
    """What :class:`KernelDiagonal` estimates."""

    def __init__(self, K, rows):
        self.values, self.vectors = np.linalg.eigh(K)
        self.values[0], self.rows = 0.0, rows  # of the mean direction

    def mean(self, theta):
        f = 1 / (1 + theta * self.values[1:])
        return np.mean(self.values[1:] * f), np.mean(f)

    def inverse(self, theta):
        f = 1 / (1 + theta * self.values[1:])
        square = self.vectors[self.rows, 1:] ** 2
        return square @ (self.values[1:] * f), square @ f


def of_random_signs(K, signs, rows, theta):
    """Hutchinson's estimate of what a polynomial leaves, written with eigenvectors.

    The diagonals of ``K(I + θK)⁻¹`` and of what K does not take from I, and the mean
    of the first.
    """
    s, m = signs - signs.mean(axis=0), signs.shape[1]
    exact = ExactDiagonal(K, rows)
    values, V = exact.values[1:], exact.vectors[:, 1:]
    f = values / (1 + theta * values)
    # the share of each eigenvalue in the vectors
    share = (V.T @ s) ** 2 / np.sum(s**2, axis=0)
    # the nearest polynomial of degree 4, in the sum of squares over all vectors
    fit = np.polynomial.Polynomial.fit(values, f, 4, w=np.sqrt(share.sum(axis=1)))
    p = (V * fit(values)) @ V.T
    each = (signs * ((V * (f - fit(values))) @ V.T @ s))[rows]
    found = each.mean(axis=1)
    noise = np.mean(each.var(axis=1, ddof=1)) / m
    moments = np.column_stack(
        [((V * values**j) @ V.T).diagonal()[rows] for j in range(5)]
    )
    # regression on the moments, and of the rest what is no noise
    Q, _ = np.linalg.qr(moments / moments.max(axis=0))
    usual = Q @ (Q.T @ found)
    rest = found - usual
    believed = max(0, 1 - noise / rest.var())
    expected = p.diagonal()[rows] + usual + believed * rest
    # not more than Jensen's inequality allows
    K_ii, total = moments[:, 1], moments[:, 0]
    expected = np.clip(expected, 0, K_ii / (1 + theta * K_ii / total))
    return expected, total, np.mean(np.sum(share * f[:, None], axis=0))


@pytest.mark.parametrize("m", [4, 12, 64])
@pytest.mark.parametrize("unit", [1.0, 1e-25, 1e25])
@pytest.mark.parametrize("theta", [0.003, 0.3, 3.0, 100.0])
def test_estimate_of_the_diagonal_is_that_of_its_random_signs(
    monkeypatch, theta, unit, m
):
    X, K = few_rows(14)
    n, rows = 14, np.random.default_rng(1).permutation(14)
    order = np.argsort(X.toarray() @ X.toarray().sum(axis=0))
    monkeypatch.setattr(_response_by_products, "_LEAST", m)
    monkeypatch.setattr(_response_by_products, "_NUMBERS", m * n)
    z = np.empty((n, m))
    scale = np.geomspace(1, 7, 30)
    z[order] = random_signs(n, m, _SEED)
    expected, total, by_signs = of_random_signs(K, z, rows, theta)
    diagonal = kernel_diagonal(unit * X / scale, rows, scale)
    answer, inverse = diagonal.inverse(theta / unit**2)
    np.testing.assert_allclose(answer / unit**2, expected, rtol=1e-3)
    np.testing.assert_allclose(
        inverse, total - theta * expected, atol=1e-3 * theta * expected.max()
    )
    mean, mean_inverse = diagonal.mean(theta / unit**2)
    assert mean / unit**2 == pytest.approx(by_signs, rel=1e-5)
    assert mean_inverse == pytest.approx(1 - theta * by_signs, rel=1e-3)


@pytest.mark.usefixtures("all_steps")
@pytest.mark.parametrize("seed", [3, 11, 23])
@pytest.mark.parametrize("m", [3, 4, 12])
@pytest.mark.parametrize("theta", [0.3, 3.0, 100.0])
def test_the_same_to_the_digits_of_doubles(monkeypatch, theta, m, seed):
    """What signs say of a row beside the others, how far, and Jensen's bound of it."""
    X, K = few_rows(14)
    rows = np.random.default_rng(1).permutation(14)
    order = np.argsort(X.toarray() @ X.toarray().sum(axis=0))
    for name, value in (("_LEAST", m), ("_NUMBERS", 14 * m), ("_SEED", seed)):
        monkeypatch.setattr(_response_by_products, name, value)
    z = np.empty((14, m))
    z[order] = random_signs(14, m, seed)
    expected, total, _ = of_random_signs(K, z, rows, theta)
    diagonal = KernelDiagonal.of_rows(CentredKernel.of_rows(X), rows, 1.0)
    answer, inverse = diagonal.inverse(theta)
    np.testing.assert_allclose(answer, expected, rtol=1e-7)
    np.testing.assert_allclose(total - inverse, theta * expected, rtol=1e-7)


@pytest.mark.parametrize(("n", "m"), [(600, 64), (1500, 32), (4000, 16)])
def test_fewer_signs_of_more_rows(n, m):
    X = sparse.csr_array(sparse.random(n, 5, 0.2, random_state=0))
    assert kernel_diagonal(X, np.array([1, 2])).signs.shape == (2, m)


def test_rows_that_are_nothing():
    diagonal = kernel_diagonal(sparse.csr_array((12, 5)), np.arange(3))
    answer, inverse = diagonal.inverse(1.0)
    assert not answer.any()
    np.testing.assert_allclose(inverse, 1 - 1 / 12, rtol=1e-6)
    assert diagonal.mean(1.0) == pytest.approx((0, 1))


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("flat", [0, 4])
def test_common_curvature_solves_its_equation(flat, unit):
    """mean of 1/(1/θ + q) over the rows = 1/(1/common + q), q of the mean F."""
    K = few_rows()[1] / unit
    theta = unit * np.geomspace(0.05, 2, 12)
    theta[12 - flat :] = 0
    diagonal = ExactDiagonal(K, np.arange(12))
    common = common_curvature(diagonal, theta)
    gain, F = diagonal.mean(common)
    q = gain / F
    answers = theta / (1 + theta * q)
    assert answers.mean() == pytest.approx(common / (1 + common * q), rel=1e-7)
    same = np.where(theta > 0, 0.7 * unit, 0)
    common = common_curvature(diagonal, same)
    assert (common == pytest.approx(0.7 * unit, rel=1e-9)) == (not flat)


def exact_response(source, rows, theta, l2, positive):
    """Q and F of a ridge with a free intercept, features times some scale."""
    X, scale = source
    A = np.column_stack([X.toarray() * scale, np.ones(X.shape[0])])
    c = theta * l2
    penalty = l2 * np.diag(np.append(np.ones(X.shape[1]), 0.0))
    Q = A @ np.linalg.solve((A.T * c) @ A + penalty, A.T)
    F = np.eye(len(c)) - Q * c
    return PairResponse.of(*(part[np.ix_(rows, rows)] for part in (Q, F)), positive)


@pytest.mark.parametrize("order", [(False, True, True), (True, False, True)])
@pytest.mark.parametrize("equal", [True, False])
def test_response_from_an_exact_diagonal(equal, order):
    """Diagonals of the ridge with an intercept; beside them what F1 = 0 leaves."""
    X, K = few_rows()
    rows, l2, positive = np.array([2, 9, 5]), 0.4, np.array(order)
    theta = np.full(12, 0.8) if equal else np.geomspace(0.05, 2, 12)
    question = rows, theta, l2, positive
    columns = response_by_products(ExactDiagonal(K, rows), *question[:3])
    found = columns.in_full(positive)
    if equal:
        exact = exact_response((X, 1), *question)
        for name in ("Q_pos", "Q_neg", "F_pos", "F_neg"):
            one, two = getattr(found, name), getattr(exact, name)
            np.testing.assert_allclose(one, two, rtol=1e-6)
    own, pos, neg = theta[rows], positive, ~positive
    np.testing.assert_allclose(found.F_pos, 1 - found.Q_pos * own[pos] * l2)
    np.testing.assert_allclose(found.F_neg, 1 - found.Q_neg * own[neg] * l2)
    # F_ij = −θ_j F_ii/(Σθ − θ_i), i the row and j the column
    of_pos, of_neg = (
        F / (theta.sum() - own[some])
        for F, some in ((found.F_pos, pos), (found.F_neg, neg))
    )
    np.testing.assert_allclose(found.Q_ij, np.tile(of_pos / l2, (neg.sum(), 1)).T)
    np.testing.assert_allclose(found.F_ij, -np.outer(of_pos, own[neg]))
    np.testing.assert_allclose(found.F_ji, -np.outer(own[pos], of_neg))


@pytest.mark.parametrize("constant", [0, 25, 29])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_path_by_products_of_exact_responses(monkeypatch, weighted, constant):
    X, _ = few_rows(24, 30)
    X = X.toarray()
    X[:, :constant] = 0
    X = sparse.csr_array(X)
    positive = np.arange(24) % 3 == 0
    weight = np.arange(24) % 4 + 1.0 if weighted else None
    slow = ridge_path(X, positive, weight)
    monkeypatch.setattr(_ridge_path, "_GRAM_ROWS", 5)
    monkeypatch.setattr(_ridge_path, "kernel_diagonal", lambda X, rows, s: (X, s))

    def exact(source, rows, theta, l2):
        return exact_response(source, rows, theta, l2, positive[rows])

    monkeypatch.setattr(_ridge_path, "response_by_products", exact)
    fast = ridge_path(X, positive, weight)
    np.testing.assert_allclose(fast.auc, slow.auc, rtol=1e-6)
    np.testing.assert_allclose(fast.covariance, slow.covariance, rtol=1e-5)
    np.testing.assert_allclose(
        fast.directions, slow.directions, atol=1e-6 * np.abs(slow.directions).max()
    )


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("scaling", [np.inf, 1.0, 0.0])
@pytest.mark.parametrize("C", [1e-9, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared"])
def test_auc_is_that_of_the_kernel(either_way, loss, C, scaling, permuted):
    X, positive = texts()
    if permuted:
        positive = np.random.default_rng(5).permutation(positive)
    slow, fast = either_way(X, positive, fitted(X, positive, loss, C, scaling))
    # the weaker the penalty, the smaller the difference that a left-out score is
    near = 0.006 if C == 30 else 0.003
    assert fast.smooth_auc == pytest.approx(slow.smooth_auc, abs=near)
    assert fast.smooth_variance == pytest.approx(slow.smooth_variance, rel=0.02)


@pytest.mark.parametrize("C", [1e-9, 10.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_curvatures_that_differ(either_way, loss, C):
    """Class weights, a loss that is flat at some rows: one curvature in their place."""
    X, positive = texts()
    weight = np.where(positive, 2.0, 1.0)
    fit = fitted(X, positive, loss, C, weight=weight)
    slow, fast = either_way(X, positive, fit)
    assert fast.smooth_auc == pytest.approx(slow.smooth_auc, abs=0.006)


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_many_rows_without_curvature(monkeypatch, C):
    """Where there is no room for a kernel its answers are still those of F1 = 0."""
    X, positive = texts(P=900)
    positive = np.random.default_rng(5).permutation(positive)
    fit = fitted(X, positive, "squared_hinge", C)
    monkeypatch.setattr(_influence, "PRODUCT_ROWS", 100)
    found = []
    for near in (False, True):
        monkeypatch.setattr(_influence, "_is_near_enough", lambda _, near=near: near)
        found.append(leave_pair_out(X, positive, fit).smooth_auc)
    margin = np.where(positive, 1, -1) * (X @ fit.w + fit.intercept)
    assert np.mean(margin > 1) > 0.1
    assert found[1] == pytest.approx(found[0], abs=0.03)


def test_the_order_of_the_rows_does_not_matter():
    X, _ = texts()
    order, rows = np.random.default_rng(3).permutation(N), np.arange(0, N, 3)
    place = np.argsort(order)[rows]
    one, two = kernel_diagonal(X, rows), kernel_diagonal(X[order], place)
    np.testing.assert_allclose(two.inverse(3.0)[1], one.inverse(3.0)[1], rtol=1e-4)


def test_one_curvature_of_equal_ones_and_of_half_of_them():
    X, _ = texts(n=300)
    diagonal = kernel_diagonal(X, np.arange(300))
    assert common_curvature(diagonal, np.full(300, 2.5)) == pytest.approx(2.5)
    # half of the rows have none: what these answer are the other half alone
    theta = np.where(np.arange(300) % 2 == 0, 5.0, 0.0)
    common = common_curvature(diagonal, theta)
    A = X.toarray() - X.toarray().mean(axis=0)
    on = theta > 0
    inverse = np.linalg.inv(np.eye(150) + 5 * (A @ A.T)[np.ix_(on, on)])
    own = (1 / inverse.diagonal() - 1) / 5
    found = (1 / diagonal.inverse(common)[1] - 1) / common
    assert found[on].mean() == pytest.approx(own.mean(), rel=0.03)


def test_no_curvature_leaves_the_scores(monkeypatch):
    monkeypatch.setattr(_influence, "PRODUCT_ROWS", 100)
    X, positive = texts()
    fit = replace(fitted(X, positive, "squared_hinge"), intercept=0.0)
    far = replace(fit, w=np.zeros(X.shape[1]), case_weight=np.zeros(N))
    _, _, z, response = _influence.influence(X, positive, far, np.ones(N))
    for off_diagonal in (response.F_ij, response.F_ji):
        assert not off_diagonal.any()
    for diagonal in (response.F_pos, response.F_neg):
        np.testing.assert_array_equal(diagonal, 1)
    assert not z.any()


def test_ridge_models(monkeypatch):
    X, positive = texts()
    slow = ridge_path(X, positive)
    monkeypatch.setattr(_ridge_path, "_GRAM_ROWS", 100)
    fast = ridge_path(X, positive)
    np.testing.assert_allclose(fast.auc, slow.auc, atol=0.003)
    np.testing.assert_allclose(fast.covariance, slow.covariance, rtol=0.05)
    for one, two in zip((X @ slow.directions).T, (X @ fast.directions).T, strict=True):
        assert np.corrcoef(one, two)[0, 1] > 0.999
        assert two.std() == pytest.approx(one.std(), rel=1e-2)


@pytest.mark.parametrize("of_ridge", [False, True])
def test_no_square_of_many_rows(of_ridge):
    X = sparse.csr_array(sparse.random(3000, 6000, 0.01, random_state=0))
    positive = np.arange(3000) % 3 == 0
    fit = fitted(X, positive, "squared_hinge")
    tracemalloc.start()
    if of_ridge:
        ridge_path(X, positive)
    else:
        leave_pair_out(X, positive, fit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 500 rows of pairs: some of their squares, nine ridge models at once
    assert peak < 8 * 3000**2 / (1 if of_ridge else 2)


@pytest.mark.parametrize(
    ("widest", "degree", "error"), [(1.5, 2, 2e-4), (8, 3, 2e-3), (100, 4, 2e-2)]
)
def test_as_few_powers_as_the_eigenvalues_ask_for(widest, degree, error):
    """The inverse is further from a polynomial the more these differ."""
    rng, n = np.random.default_rng(0), 300
    U, _ = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))
    values = np.geomspace(1, widest, n - 1)
    X = sparse.csr_array(U[:, 1:] * np.sqrt(values))
    rows = np.arange(0, n, 3)
    diagonal = kernel_diagonal(X, rows)
    assert diagonal.moments.shape == (len(rows), degree + 1)
    exact = U[rows, 1:] ** 2 @ (1 / (1 + 1e3 * values))
    found = diagonal.inverse(1e3)[1]
    assert found.mean() == pytest.approx(exact.mean(), rel=error)
    assert np.sqrt(np.mean((found / exact - 1) ** 2)) < 10 * error


def test_copies_of_the_rows_only_where_there_is_room(monkeypatch):
    X, _ = texts()
    rows = np.arange(0, N, 3)
    expected = kernel_diagonal(X, rows).inverse(1.0)
    monkeypatch.setattr(_response_by_products, "_COPIED_ROWS", N - 1)
    found = kernel_diagonal(X, rows).inverse(1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert isinstance(CentredKernel.of_rows(X).gram, RowGram)
    monkeypatch.setattr(_response_by_products, "_COPIED_ROWS", N)
    assert isinstance(CentredKernel.of_rows(X).gram, SparseGram)
