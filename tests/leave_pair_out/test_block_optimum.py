"""The optimum of rows in blocks, against scipy's and the one of rows in memory."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from skauc import RowBlocks
from skauc.leave_pair_out import _block_optimum, _newton
from skauc.leave_pair_out._block_optimum import _space, block_optimum
from skauc.leave_pair_out._losses import RoundedHinge, loss_value
from skauc.leave_pair_out._objective import PenalisedFit
from skauc.leave_pair_out._smooth_refits import FeatureSpace, smooth_optimum
from skauc.model_selection._rows_at_hand import LabelColumn
from skauc.statistics._block_column import BlockColumn, scores_of
from skauc.statistics._block_matrix import BlockMatrix, MatrixBlocks

LOSSES = ["logistic", "squared", "squared_hinge", RoundedHinge(0.5), "hinge"]
SCALINGS = [0.0, 0.5, np.inf]  # no intercept, a penalised and a free one
EDGES = (0, 7, 13, 400)


def rows(n=400, P=4, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, P)) * [1, 5, 0.1, 1] + 0.8 * positive[:, None] + 1.5
    return X, positive, rng.uniform(0.5, 2, n)


class CaseWeights:
    """Weights that stay in their blocks."""

    dtype = np.dtype(float)

    def of(self, block, names, known):
        return block.weight


def in_blocks(X, positive, c):
    """The rows as a matrix of blocks, and both columns in their blocks."""
    parts = [slice(a, b) for a, b in pairwise(EDGES)]
    blocks = RowBlocks([(X[part], positive[part], c[part]) for part in parts])
    lengths = {k: part.stop - part.start for k, part in enumerate(parts)}
    matrix = BlockMatrix(blocks, lengths, X.shape[1], scores=scores_of)
    counts = {
        k: np.array([(~positive[p]).sum(), positive[p].sum()])
        for k, p in enumerate(parts)
    }
    labels = LabelColumn(matrix, np.array([False, True]), counts)
    return matrix, labels.positive(), BlockColumn(matrix, CaseWeights())


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("start", ["near", "far"])
def test_optimum_is_that_of_rows_in_memory(loss, scaling, start, monkeypatch):
    X, positive, c = rows()
    w = np.array([0.1, 0.02, 0.3, -0.2]) * (1e3 if start == "far" else 1)
    fit = PenalisedFit(loss, 3.0, c, w, (scaling > 0) * 0.1, scaling)
    expected = smooth_optimum(fit, X, positive)
    matrix, labels, weights = in_blocks(X, positive, c)
    with monkeypatch.context() as strict:
        strict.setattr(BlockColumn, "__array__", None)  # no column comes
        lazy = PenalisedFit(loss, 3.0, weights, w, (scaling > 0) * 0.1, scaling)
        found = block_optimum(lazy, matrix, labels)
    arrays = block_optimum(fit, matrix, positive)  # columns that are at hand
    one_of_them = block_optimum(lazy, matrix, positive)
    for one in (found, arrays, one_of_them):
        np.testing.assert_allclose(one.w, expected.w, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(one.intercept, expected.intercept, atol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
def test_optimum_is_scipys(loss):
    X, positive, c = rows()
    fit = PenalisedFit(loss, 3.0, c, np.zeros(4), 0.0, np.inf)

    def objective(theta):
        z = X @ theta[:-1] + theta[-1]
        return loss_value(loss, z, positive, c) + 1.5 * theta[:-1] @ theta[:-1]

    known = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    matrix, labels, weights = in_blocks(X, positive, c)
    lazy = PenalisedFit(loss, 3.0, weights, fit.w, 0.0, np.inf)
    found = block_optimum(lazy, matrix, labels)
    theta = np.append(found.w, found.intercept)
    assert objective(theta) <= known.fun * (1 + 1e-7)
    np.testing.assert_allclose(theta, known.x, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("unit", [1.0, 1e-9])  # of the weights and the penalty
def test_least_squares_are_the_normal_equations(scaling, unit):
    X, positive, c = rows()
    matrix, labels, weights = in_blocks(X, positive, c)
    given = unit * 3.0, unit * weights, np.full(4, 7.0), -5.0, scaling
    found = block_optimum(PenalisedFit("squared", *given), matrix, labels)
    A = np.column_stack([X, np.ones(len(X))]) if scaling else X
    penalty = np.full(A.shape[1], 3.0)
    penalty[4:] = 3.0 / scaling**2 if scaling else 0.0
    pull = A.T @ (c * np.where(positive, 1.0, -1.0))
    expected = np.linalg.solve((A.T * c) @ A + np.diag(penalty), pull)
    expected = np.append(expected, [] if scaling else 0.0)
    np.testing.assert_allclose(np.append(found.w, found.intercept), expected, rtol=1e-9)


def test_no_row_in_the_corner():
    """A loss that is straight at every row: the first step follows the gradient."""
    X, positive, c = rows()
    fit = PenalisedFit(RoundedHinge(1e-3), 3.0, c, np.zeros(4), 0.0, np.inf)
    expected = smooth_optimum(fit, X, positive)
    matrix, labels, weights = in_blocks(X, positive, c)
    lazy = PenalisedFit(RoundedHinge(1e-3), 3.0, weights, fit.w, 0.0, np.inf)
    found = block_optimum(lazy, matrix, labels)
    assert (found is None) == (expected is None)
    if found is not None:
        np.testing.assert_allclose(found.w, expected.w, rtol=1e-6)


def test_an_optimum_that_is_not_reached(monkeypatch):
    X, positive, c = rows()
    matrix, labels, weights = in_blocks(X, positive, c)
    fit = PenalisedFit("logistic", 3.0, weights, np.zeros(4), 0.0, np.inf)
    monkeypatch.setattr(_newton, "MAX_ITER", 1)
    monkeypatch.setattr(_newton, "ROUNDS", 1)
    assert block_optimum(fit, matrix, labels) is None


def test_a_hinge_without_a_direction():
    """Rows that tell nothing: w is 0 but for the rounding of the corner."""
    X, positive, c = rows()
    X = np.random.default_rng(1).normal(size=X.shape)
    fit = PenalisedFit("hinge", 1e7, c, np.full(4, 1e-6), 0.0, np.inf)
    assert smooth_optimum(fit, X, positive) is None
    matrix, labels, weights = in_blocks(X, positive, c)
    lazy = PenalisedFit("hinge", 1e7, weights, fit.w, 0.0, np.inf)
    assert block_optimum(lazy, matrix, labels) is None


@pytest.mark.parametrize("scaling", SCALINGS)
def test_features_of_blocks_are_those_of_the_array(scaling):
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(20, 5)) + 1.5, rng.uniform(0.5, 2, 20)
    X[:, 3] = 0.0 if scaling < np.inf else 4.0
    blocks = RowBlocks([(X[:7], np.zeros(7)), (X[7:], np.zeros(13))])
    fit = PenalisedFit("logistic", 2.0, c, np.ones(5), 0.5, scaling)
    one = FeatureSpace.of_fit(fit, X)
    two = _space(fit, BlockMatrix(blocks, {0: 7, 1: 13}, 5))
    np.testing.assert_allclose(np.asarray(two.A), one.A, atol=1e-13)
    for name in ("penalty", "origin", "scale", "with_intercept"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), atol=1e-14)
    features = one.A[:, [0, 1, 2, 4]]
    np.testing.assert_allclose((features**2).mean(axis=0), 1)
    assert one.A.shape[1] == 5 + (scaling > 0)
    np.testing.assert_array_equal(one.A[:, 3], 0)
    theta = one.start(fit, X, None)  # the same scores and coefficients again
    np.testing.assert_allclose(one.A @ theta, X @ fit.w + (scaling > 0) * 0.5)
    w, b = one.coefficients(theta, X, fit)
    np.testing.assert_allclose(np.append(w, b), np.append(fit.w, (scaling > 0) * 0.5))


@pytest.mark.parametrize(("share", "reached"), [(0.5, True), (2.0, False)])
def test_a_step_that_cannot_be_taken_is_the_end_or_not(share, reached, monkeypatch):
    """It is where no more than 1e-4 of the objective is to be gained."""
    X, positive, c = rows()
    fit = PenalisedFit("logistic", 3.0, c, np.zeros(4), 0.0, 0.0)
    matrix, _, _ = in_blocks(X, positive, c)
    space = _space(fit, matrix)
    blocks = MatrixBlocks(space.A, np.column_stack([positive, c]))
    sums = _block_optimum._Sums(space, blocks, c, "logistic")
    tol = 1e-12, 1e-12
    best, (value, _, square, _), found = _newton.minimise(sums, np.zeros((1, 4)), tol)
    assert found
    v = np.array([1.0, -2.0, 0.5, 1.0])
    slope = v @ (square[0] + np.diag(space.penalty)) @ v
    monkeypatch.setattr(_newton, "ARMIJO", np.inf)  # no step is good enough
    theta = best + np.sqrt(share * 1e-4 * value / slope) * v
    assert _newton.minimise(sums, theta, tol)[-1] == reached
