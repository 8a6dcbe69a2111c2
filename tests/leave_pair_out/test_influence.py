"""One curvature for many rows against the response of every row's own."""

from dataclasses import astuple, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from skauc.leave_pair_out import _influence
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._influence import (
    _is_near_enough,
    _is_one,
    _is_one_for_classes,
    gram_matrix,
    influence,
    is_held,
    kernel,
    kernel_at_hand,
)
from skauc.leave_pair_out._losses import loss_derivatives
from skauc.leave_pair_out._objective import (
    PenalisedFit,
    column_curvature,
    with_optimum,
)
from skauc.leave_pair_out._one_curvature import (
    one_curvature,
    response_of_one,
    response_of_one_curvature,
)
from skauc.leave_pair_out._pair_response import (
    ColumnResponse,
    PairResponse,
    pair_margins,
)
from skauc.leave_pair_out._pairs import sample_rows
from skauc.leave_pair_out._rows_of_pairs import KernelMoments, pair_rows
from skauc.leave_pair_out._second_source import second_source
from skauc.model_selection._training_objective import penalised_fit


def wide_rows(n=520, P=700):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, P)) * np.geomspace(3, 0.1, P) + 0.3
    positive = X[:, :20].sum(axis=1) + 6 * rng.normal(size=n) > 8
    return X, positive


def keeping():
    """What remembers, and what it has."""
    kept = {}

    def remember(name, compute):
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    return remember, kept


def defined(X, fit, curvature):
    """``Q = X̃H⁻¹X̃ᵀ`` and ``F = I − Qω`` from the Hessian, column of ones and all."""
    penalty = np.full(X.shape[1], fit.l2)
    if fit.intercept_scaling > 0:
        X = np.column_stack([X, np.ones(len(X))])
        last = 0.0 if fit.free else fit.l2 / fit.intercept_scaling**2
        penalty = np.append(penalty, last)
    H = (X.T * curvature) @ X + np.diag(penalty)
    Q = X @ np.linalg.solve(H, X.T)
    return Q, np.eye(len(X)) - Q * curvature


def blocks(Q, F, positive):
    """What the pairs need of Q and F, entry by entry: of Q, and of F."""
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    of_Q = [[Q[i, j] for j in neg] for i in pos], Q[pos, pos], Q[neg, neg]
    of_F = (
        [[F[i, j] for j in neg] for i in pos],
        [[F[j, i] for j in neg] for i in pos],
        F[pos, pos],
        F[neg, neg],
    )
    return of_Q, of_F


def parts(response):
    of_Q = response.Q_ij, response.Q_pos, response.Q_neg
    return of_Q, (response.F_ij, response.F_ji, response.F_pos, response.F_neg)


def assert_response(found, Q, F, positive, of_Q, of_F):
    """Of both matrices, each within its tolerance."""
    for got, expected, tolerance in zip(
        parts(found), blocks(Q, F, positive), (of_Q, of_F), strict=True
    ):
        for one, two in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, two, **tolerance)


def in_units(response, unit, positive):
    """Q times a number of each row."""
    pos, neg = unit[positive], unit[~positive]
    return replace(
        response,
        Q_ij=response.Q_ij * pos[:, None] * neg,
        Q_pos=response.Q_pos * pos**2,
        Q_neg=response.Q_neg * neg**2,
    )


@pytest.mark.parametrize("first", ["negatives", "positives", "neither"])
def test_response_of_a_part_of_a_row(first):
    rng = np.random.default_rng(0)
    positive = np.arange(7) >= 4
    if first != "negatives":
        positive = ~positive if first == "positives" else rng.permutation(positive)
    Q, F, part = *rng.normal(size=(2, 7, 7)), rng.uniform(0.2, 1, 7)
    response = PairResponse.of(Q, F, positive)
    assert_response(response, Q, F, positive, {"rtol": 0}, {"rtol": 0})
    F = F @ np.diag(part) + np.diag(1 - part)
    some = response.of_part(part, positive)
    assert_response(some, Q, F, positive, {"rtol": 0}, {"rtol": 1e-12})
    # where a whole row is left out F keeps its digits: F + 1 − 1 would be 0
    tiny = PairResponse.of(Q, 1e-20 * F, positive).of_part(np.ones(7), positive)
    assert_response(tiny, Q, 1e-20 * F, positive, {"rtol": 0}, {"rtol": 0})


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("l2", [30.0, 0.3])
def test_equal_curvatures_and_flat_rows_are_exact(scaling, l2):
    X, positive = wide_rows()
    rng = np.random.default_rng(1)
    w = 0.005 * rng.normal(size=X.shape[1])
    for k in rng.choice(len(X), 40, replace=False):  # beyond the margin
        X[k] += ((2 if positive[k] else -2) - X[k] @ w) * w / (w @ w)
    fit = PenalisedFit("squared_hinge", l2, np.full(len(X), 0.7), w, 0.1, scaling)
    z = X @ w + 0.1
    curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)[1]
    assert np.count_nonzero(curvature == 0) == 40
    assert _is_one(curvature)
    rows, _, z_rows, response = influence(X, positive, fit, np.ones(len(X)))
    Q, F = (part[np.ix_(rows, rows)] for part in defined(X, fit, curvature))
    np.testing.assert_allclose(z_rows, z[rows], rtol=1e-12)
    # in units of √(Q_ii Q_jj)
    unit = 1 / np.sqrt(np.diag(Q))
    response = in_units(response, unit, positive[rows])
    Q = Q * unit * unit[:, None]
    assert_response(response, Q, F, positive[rows], {"atol": 1e-3}, {"atol": 3e-3})


@pytest.mark.parametrize("path", ["kernel", "features"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("l2", [5.0, 0.1])
def test_every_row_has_its_own_curvature(loss, scaling, l2, path, monkeypatch):
    rng = np.random.default_rng(3)
    X, positive = (
        rng.normal(size=(30, 4)) * [3.0, 1.0, 0.1, 1.0] + 0.5,
        np.arange(30) < 9,
    )
    X[:, :2] += 1.5 * positive[:, None]
    w, c = np.array([0.4, 0.5, 1.0, -0.2]), rng.uniform(0.2, 3.0, 30)
    fit = PenalisedFit(loss, l2, c, w, -1.5, scaling)
    curvature = loss_derivatives(loss, X @ w - 1.5, positive, c)[1]
    flat = np.count_nonzero(curvature == 0)
    assert 10 < flat < 20 if loss == "squared_hinge" else flat == 0
    if path == "features":
        monkeypatch.setattr(_influence, "DUAL_ROWS", 10)
    rows, counted, z, response = influence(X, positive, fit, np.ones(30))
    Q, F = (part[np.ix_(rows, rows)] for part in defined(X, fit, curvature))
    np.testing.assert_allclose(z, X[rows] @ w - 1.5, rtol=1e-12)
    np.testing.assert_array_equal(counted, 1)
    least = {"rtol": 1e-7, "atol": 1e-9 * Q.max()}
    assert_response(response, Q, F, positive[rows], least, {"atol": 1e-8})


@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize("l2", [300.0, 0.3])  # on both sides of the largest curvature
def test_one_curvature_of_few_rows(scaling, l2):
    rng = np.random.default_rng(5)
    X, rows = rng.normal(size=(16, 24)), np.array([0, 3, 4, 9, 15])
    curvature = np.where(np.arange(16) % 5 == 3, 0.0, 0.7)
    fit = PenalisedFit("squared_hinge", l2, np.ones(16), np.ones(24), 0.0, scaling)
    values, vectors = np.linalg.eigh(kernel(X, fit))
    values = np.maximum(values, 0)
    Q, F = (part[np.ix_(rows, rows)] for part in defined(X, fit, curvature))
    least = {"atol": 1e-5 * np.abs(Q).max()}
    for n_pos in (1, 2, 3, 4):  # rows with and without curvature in either class
        positive = np.arange(5) >= 5 - n_pos
        pos, neg = slice(5 - n_pos, None), slice(0, 5 - n_pos)
        question = values, vectors, fit, 0.7, curvature, rows, pos, neg
        found = response_of_one_curvature(*question)
        assert_response(found, Q, F, positive, least, {"atol": 1e-5})


@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_without_two_rows_is_newtons(weighted):
    """``w − H₋⁻¹g₋`` with the Hessian and the gradient of what stays of the rows.

    Of a row with the frequency weight f a part 1/f goes, of a rarer one than 1 all.
    """
    rng = np.random.default_rng(4)
    X, positive = rng.normal(size=(9, 3)), np.arange(9) % 3 == 0  # classes mixed
    fit = PenalisedFit(
        "logistic", 0.7, rng.uniform(0.5, 2, 9), rng.normal(size=3), 0, 0
    )
    weight = np.array([0.6, 2.0, 1.0, 3.5, 0.9, 1.4, 5.0, 0.7, 2.5])
    left_out = np.where(weight > 1, 1 / weight, 1.0) if weighted else np.ones(9)
    z = X @ fit.w
    g, curvature = loss_derivatives("logistic", z, positive, fit.case_weight)
    # at the optimum of these rows the penalty holds what all rows pull
    for order in (np.arange(9), np.argsort(positive, kind="stable")):
        Q, F = defined(X[order], fit, curvature[order])
        response = PairResponse.of(Q, F, positive[order])
        asked = response, z[order], g[order], positive[order]
        got = pair_margins(*asked, weight[order] if weighted else None)
        pos, neg = (order[positive[order] == c] for c in (True, False))
        for a, i in enumerate(pos):
            for b, j in enumerate(neg):
                gone = np.where(np.isin(np.arange(9), [i, j]), left_out, 0.0)
                H = (X.T * ((1 - gone) * curvature)) @ X + 0.7 * np.eye(3)
                step = np.linalg.solve(H, (gone * g) @ X)
                expected = (X[i] - X[j]) @ (fit.w + step)
                assert got[a, b] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sorted_", [False, True])
@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("held", [True, False])
def test_margins_from_diagonals_and_a_column(held, unit, sorted_):
    """``Q_ij = a_i``, ``F_ij = −a_i ω_j``: those of all of Q and F."""
    rng = np.random.default_rng(6)
    positive = rng.permutation(np.arange(11) < 4)
    positive = np.sort(positive) if sorted_ else positive
    a, omega, F = rng.uniform(0.01, 0.2, (3, 11))
    Q, z, g = rng.uniform(0.1, 0.9, 11), *rng.normal(size=(2, 11))
    F = 1 - F if held else np.where(np.arange(11) == 5, 1e-6, 1 - F)
    rule = ColumnResponse(a / unit, omega * unit, Q / unit, F)
    i, j = np.flatnonzero(positive), np.flatnonzero(~positive)
    all_of_Q, all_of_F = np.tile(a / unit, (11, 1)).T, np.outer(-a, omega)
    all_of_Q[np.diag_indices(11)], all_of_F[np.diag_indices(11)] = Q / unit, F
    # the positive's column is that of both
    full = PairResponse.of(all_of_Q, all_of_F, positive)
    for weight in (None, rng.uniform(0.5, 3, 11)):
        got = pair_margins(rule, z, unit * g, positive, weight)
        expected = pair_margins(full, z, unit * g, positive, weight)
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-12)
    alone = all_of_F[i, i][:, None] * F[j] <= (a * omega)[i][:, None] * (a * omega)[j]
    assert alone.any() != held
    bare = z[i][:, None] - z[j]
    got = pair_margins(rule, z, unit * g, positive)
    np.testing.assert_array_equal(got == bare, alone)


@pytest.mark.parametrize("left", [1.0, 1e-9, 1e-12, 1e-15])
def test_a_step_is_taken_as_long_as_something_holds_the_two_rows(left):
    """By fractions; of 1e-15 nothing is left but rounding, and there is no step."""
    Q, g, z = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([-0.3, 0.4]), [0.7, 0.1]
    F = left * np.array([[1.0, 0.3], [0.2, 0.8]])  # small, and far from singular
    if left < 1e-9:
        F = np.array([[1.0, 1.0], [1.0 - left, 1.0]])
    positive = np.array([True, False])
    got = pair_margins(PairResponse.of(Q, F, positive), np.array(z), g, positive)
    (a, b), (c, d) = [[Fraction(x) for x in row] for row in F]
    pulls = [Fraction(x) for x in g]
    q_i, q_j = (Fraction(x) * pulls[0] + Fraction(y) * pulls[1] for x, y in Q)
    step = ((d + c) * q_i - (a + b) * q_j) / (a * d - b * c)
    expected = 0.6 + (0.0 if left == 1e-15 else float(step))
    assert got.item() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("model", [LogisticRegression(C=0.1), LinearSVC(C=1e-3)])
def test_one_curvature_gives_the_estimate_of_all(model, monkeypatch):
    X, positive = wide_rows()
    fit = penalised_fit(model.fit(X, positive), X, positive)
    remember, _ = keeping()
    ones = [leave_pair_out(X, positive, fit, None, remember) for _ in range(2)]
    monkeypatch.setattr(_influence, "_ONE_CURVATURE_ROWS", 10**9)
    all_ = leave_pair_out(X, positive, fit)
    for one in ones:
        assert one.smooth_auc == pytest.approx(all_.smooth_auc, abs=1e-3)
        assert one.smooth_variance == pytest.approx(all_.smooth_variance, rel=0.02)


@pytest.mark.parametrize("unit", [1e-100, 1e20])
@pytest.mark.parametrize("l2", [1e12, 30.0, 0.3])
def test_one_curvature_does_not_depend_on_the_unit_of_the_rows(unit, l2):
    X, positive = wide_rows()
    w, c, one = np.zeros(X.shape[1]), np.ones(len(X)), np.ones(len(X))
    fit = PenalisedFit("squared", l2, c, w, 0.1, 0.0)
    scaled = PenalisedFit("squared", l2 * unit**2, c, w, 0.1, 0.0)
    remember, _ = keeping()
    for _ in range(2):
        rows, *_, response = influence(unit * X, positive, scaled, one, remember)
        Q, F = (A[np.ix_(rows, rows)] for A in defined(X, fit, one))
        least = {"atol": 1e-4 * np.diag(Q).min()}
        assert_response(response, Q, F, positive[rows], least, {"atol": 1e-4})


def pairs_by_mean_difference(X, positive):
    """Share of the pairs that the difference of the other rows' means ranks right."""
    neg, pos = X[~positive], X[positive]
    mean_neg = (neg.sum(axis=0) - neg) / (len(neg) - 1)
    mean_pos = (pos.sum(axis=0) - pos) / (len(pos) - 1)
    own_pos, own_neg = np.sum(pos * mean_pos, axis=1), np.sum(neg * mean_neg, axis=1)
    across = pos @ mean_neg.T + mean_pos @ neg.T
    return np.mean(own_pos[:, None] + own_neg > across)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e-150])
@pytest.mark.parametrize("shape", [(60, 100), (520, 700)])
def test_rows_in_tiny_units_are_ranked_by_the_difference_of_means(unit, shape):
    rng = np.random.default_rng(2)
    X, positive = rng.normal(size=shape), np.arange(shape[0]) % 2 == 0
    X[positive] += 0.5 / np.sqrt(shape[1])
    alpha = 1e14 if unit == 1 else 1e6
    model = RidgeClassifier(alpha=alpha).fit(unit * X, positive)
    fit = penalised_fit(model, unit * X, positive)
    assert fit.l2 < alpha
    kept = fit.l2 * fit.w / np.linalg.norm(alpha * np.ravel(model.coef_))
    assert np.linalg.norm(kept) == pytest.approx(1)
    left_out = leave_pair_out(unit * X, positive, fit).auc
    if max(shape) > 500:  # 250 rows a class make the pairs
        assert left_out == pytest.approx(
            pairs_by_mean_difference(X, positive), abs=0.01
        )
    else:
        slow = pairs_by_mean_difference(X, positive)
        assert left_out == pytest.approx(slow, abs=3e-3)


def test_a_penalised_intercept_of_tiny_rows_does_not_take_their_digits():
    X, positive = wide_rows()
    one, asked = np.ones(len(X)), []

    def remember(name, compute):
        asked.append(name[0])
        return compute()

    for scaling in (1.0, 1e4):
        fit = PenalisedFit("squared", 1.0, one, np.zeros(X.shape[1]), 0.1, scaling)
        influence(X, positive, fit, one, remember)
    moments = ["moments of kernel", "kernel"]
    assert asked == [*moments, "single kernel", *moments, "single kernel"]


def test_what_one_curvature_may_stand_for():
    flat = np.zeros(30)
    assert _is_one(np.full(100, 0.2))
    assert _is_one(np.append(flat, np.full(90, 0.2)))
    assert not _is_one(np.append(flat, np.full(89, 0.2)))
    spread = np.append(np.full(50, 1.0), np.full(50, 3.0))  # ½ of the mean, exactly
    assert _is_one(spread)
    wider = np.append(np.full(50, 1.0), np.full(50, 3.1))
    assert not _is_one(wider)
    assert _is_one(wider, 0.6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_many_wide_rows_are_left_out_in_pairs_and_share_their_kernel(form):
    X, positive = wide_rows()
    asked = []

    def remember(name, compute):
        asked.append(name[0])
        return compute()

    model = LogisticRegression(C=1e-4, tol=1e-8, max_iter=10_000).fit(X, positive)
    fit = penalised_fit(model, X, positive)
    found = second_source(fit, form(X), positive, remember=remember)
    assert found.method == "leave-pair-out"
    held = ["kernel"] if form is np.asarray else []  # of sparse rows a product is
    assert asked == [*held, "moments of kernel", "kernel", "single kernel"]
    few = slice(0, 490)
    model.fit(X[few], positive[few])
    fit = penalised_fit(model, X[few], positive[few])
    assert second_source(fit, form(X[few]), positive[few]).method == ".632+"


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_kernel_that_is_not_kept_is_made_once(loss, monkeypatch):
    X, positive = wide_rows()
    made, kernel = [], _influence.kernel
    monkeypatch.setattr(_influence, "kernel", lambda *_: made.append(1) or kernel(*_))
    monkeypatch.setattr(_influence, "_KEPT_ROWS", 500)
    fit = PenalisedFit(loss, 1.0, np.ones(520), 1e-3 * X[0], 0.0, np.inf)
    leave_pair_out(X, positive, fit)
    assert made == [1]


def test_gram_matrix_is_that_of_centred_rows():
    X, _ = wide_rows(20, 50)
    R = X - X.mean(axis=0)
    for A in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(gram_matrix(A, True), R @ R.T, atol=1e-10)
        np.testing.assert_allclose(gram_matrix(A, False), X @ X.T, rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_penalty_far_above_rounding_stays_as_it_is(form):
    X, positive = wide_rows(60, 80)
    X = form(X)
    w = np.zeros(80)
    for scaling in (np.inf, 0.0):
        for l2 in (0.0, 1e-13, 1e-9, 1.0):
            fit = PenalisedFit("squared", l2, np.full(60, 2.0), w, 0.0, scaling)
            least = 1e-12 * column_curvature(fit, X)
            assert with_optimum(fit, X, positive).l2 == max(l2, least)


@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_no_penalty_is_tiny_beside_the_smallest_column(unit):
    """Without a penalty the units of the features do not matter, whatever they are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6)) * np.geomspace(1e-5, 1e5, 6)
    X[:, 3] = 0.1  # constant but for rounding
    X *= unit
    positive = rng.normal(size=150) > 0
    fit = PenalisedFit("squared", 0.0, np.full(150, 2.0), np.zeros(6), 0.0, np.inf)
    found = with_optimum(fit, X, positive).l2
    some = X[::8] if len(X) > 150 else X
    least = np.sort(np.var(some, axis=0) * 300)[1]
    assert found == pytest.approx(1e-12 * least, rel=0.3, abs=0)


def test_products_where_one_curvature_stands_for_all():
    def flat(n, k):
        return np.where(np.arange(n) < k, 0.0, 1.0)

    # up to .03 without curvature, unless there is no room for a kernel
    for n, k, near in ((200, 0, 1), (200, 6, 1), (1000, 31, 0), (2000, 900, 0)):
        assert _is_near_enough(flat(n, k)) == bool(near)
    assert _is_near_enough(flat(2001, 900))
    # and that do not differ by more than half of their mean
    assert _is_near_enough(np.tile([1.0, 2.9], 50))
    assert not _is_near_enough(np.tile([1.0, 3.1], 50))


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("weight_of_positive", [1.0, 1.5])
def test_many_sparse_rows_either_way(monkeypatch, weight_of_positive, near):
    """Curvatures and penalties are handed on; Q and F are those of the Hessian."""
    X, positive = wide_rows(120, 150)
    given = []

    def exact(diagonal, rows, theta, l2):
        given.append(diagonal)
        Q, F = (part[np.ix_(rows, rows)] for part in defined(X, fit, theta * l2))
        return PairResponse.of(Q, F, positive[rows])

    monkeypatch.setattr(_influence, "PRODUCT_ROWS", 100)
    monkeypatch.setattr(_influence, "kernel_diagonal", lambda X, rows: rows)
    monkeypatch.setattr(_influence, "response_by_products", exact)
    monkeypatch.setattr(_influence, "_is_near_enough", lambda curvature: near)
    case = np.where(positive, weight_of_positive, 1.0)
    w = 0.01 * np.random.default_rng(3).normal(size=150)
    fit = PenalisedFit("logistic", 2.5, case, w, 0.1, np.inf)
    found = influence(sparse.csr_array(X), positive, fit, np.ones(120))
    rows, _, z, response = found
    assert len(given) == near
    np.testing.assert_allclose(z, (X @ w + 0.1)[rows], rtol=1e-9)
    curvature = loss_derivatives("logistic", X @ w + 0.1, positive, case)[1]
    Q, F = (part[np.ix_(rows, rows)] for part in defined(X, fit, curvature))
    least = ({"atol": 1e-7 * np.abs(part).max()} for part in (Q, F))
    assert_response(response, Q, F, positive[rows], *least)
    # dense rows and few rows are no such
    influence(X, positive, fit, np.ones(120))
    monkeypatch.setattr(_influence, "PRODUCT_ROWS", 120)
    influence(sparse.csr_array(X), positive, fit, np.ones(120))
    assert len(given) == near


def test_rows_of_pairs_are_even_along_the_difference_of_the_means():
    X, positive = wide_rows(900, 4)
    weight = np.arange(900) % 3 + 1.0
    neg, pos = (
        np.average(X[c], axis=0, weights=weight[c]) for c in (~positive, positive)
    )
    expected = sample_rows(X @ (pos - neg), positive, weight)
    found = pair_rows(sparse.csr_array(X), positive, weight)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(found[0]) < 900


def test_a_kernel_is_at_hand_where_it_costs_less_than_products(monkeypatch):
    rng = np.random.default_rng(0)
    dense = np.zeros(3600)
    dense[rng.permutation(3600)[:180]] = rng.normal(size=180)
    X = sparse.csr_array(dense.reshape(40, 90))  # 40² numbers, 10 for an entry: 1800
    fit = PenalisedFit("logistic", 1.0, np.ones(40), np.zeros(90), 0.0, np.inf)
    np.testing.assert_allclose(kernel_at_hand(X, fit), gram_matrix(X, True))
    assert kernel_at_hand(X[:, :40], fit) is None  # not more features than rows
    for left, at_hand in ((160, True), (159, False)):
        few = X.copy()
        few.data[left:] = 0
        few.eliminate_zeros()
        assert (kernel_at_hand(few, fit) is not None) == at_hand
    monkeypatch.setattr(_influence, "PRODUCT_ROWS", 39)
    assert kernel_at_hand(X, fit) is None


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scaling", [np.inf, 0.0, 2.0])
@pytest.mark.parametrize(("off", "held"), [(0.0, True), (0.019, True), (0.021, False)])
def test_coefficients_are_held_by_the_forces_of_the_rows(form, scaling, off, held):
    """``|λw + X̃ᵀg|/|X̃ᵀg|``, with X̃ of rows less their mean if the intercept is free."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(40, 70)) + 0.3, rng.random(40) < 0.4
    A = X - X.mean(axis=0) if np.isinf(scaling) else X
    # ridge: g = z − t, so that w with any error is found by a linear system
    u, t = rng.normal(size=70), np.where(positive, 1.0, -1.0)
    b = 0.1 * (scaling > 0)

    def left(size):
        w = np.linalg.solve(A.T @ X + 3.0 * np.eye(70), A.T @ (t - b) + size * u)
        return w, A.T @ (X @ w + b - t)

    size = 0.0
    for _ in range(50):
        w, force = left(size)
        size = off * np.linalg.norm(force) / np.linalg.norm(u)
    w, force = left(size)
    relative = np.linalg.norm(3.0 * w + force) / np.linalg.norm(force)
    assert relative == pytest.approx(off, abs=1e-9)
    fit = PenalisedFit("squared", 3.0, np.ones(40), w, b, scaling)
    assert is_held(fit, form(X), positive) == held


def test_a_fit_that_stopped_under_a_weak_penalty_is_taken_to_its_optimum():
    """Its slopes are below what solvers leave: nothing else tells."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(520, 2600))
    positive = X[:, :8].sum(axis=1) + 2 * rng.normal(size=520) > 0
    fits = [
        penalised_fit(LogisticRegression(C=100, tol=tol).fit(X, positive), X, positive)
        for tol in (1e-4, 1e-8)
    ]
    stopped, solved = (second_source(fit, X, positive).auc for fit in fits)
    assert stopped == pytest.approx(solved, abs=2e-3)
    assert solved > 0.55


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_one_curvature_takes_as_many_degrees_of_freedom(size):
    """Of equal rows those of the trace; of all, what every row takes of its own."""
    rng = np.random.default_rng(2)
    alpha, curvature = size * rng.uniform(0.5, 2, 60), rng.uniform(0.2, 1, 60)
    same = one_curvature(alpha, np.full(60, 0.3))
    assert same == pytest.approx(0.3, rel=1e-9)
    one = one_curvature(alpha, curvature)
    taken = np.sum(curvature * alpha / (1 + curvature * alpha))
    assert np.sum(one * alpha / (1 + one * alpha)) == pytest.approx(taken, rel=1e-9)
    least = np.full(60, 1e-300)
    assert one_curvature(least, curvature) == pytest.approx(curvature.mean())


@pytest.mark.parametrize("flat", [0, 10])
@pytest.mark.parametrize("far", [1.0, 0.01, 50.0])
def test_rows_say_how_they_are_held(far, flat):
    """Whatever α is at first, the rows' own Q and that of ω̄ are one mean."""
    rng = np.random.default_rng(3)
    alpha, curvature = rng.uniform(0.5, 2, 80), rng.uniform(0.2, 1, 80)
    curvature[:flat] = 0
    rows, positive = np.arange(2, 60), np.arange(58) % 3 == 0
    asked = []

    def respond(one):
        asked.append(one)
        Q = alpha[rows] / (1 + one * alpha[rows])
        return PairResponse(*[None] * 3, Q[positive], Q[~positive], None, None)

    question = respond, far * alpha, curvature, rows, positive, ~positive
    assert response_of_one(*question) is not None
    bent = curvature > 0
    exact = one_curvature(alpha[bent], curvature[bent])
    assert asked[-1] == pytest.approx(exact, rel=5e-3)
    assert len(asked) == (1 if far == 1 else 2)  # this α does not depend on ω̄


@pytest.mark.parametrize("C", [0.03, 0.3])
def test_one_curvature_of_rows_in_clusters(C):
    """Few directions hold most of the rows: the variance of the kernel is theirs."""
    rng = np.random.default_rng(5)
    positive = np.arange(1000) % 2 == 0
    X = rng.normal(size=(1000, 1100)) + 0.3 * positive[:, None] / 4
    X += 2 * rng.normal(size=(8, 1100))[rng.integers(0, 8, 1000)]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(C=C, tol=1e-8, max_iter=10_000).fit(X, positive)
    fit = penalised_fit(model, X, positive)
    curvature = fit.slopes(X, positive)[2]
    one = np.ones(1000)
    assert _influence._suits_one_curvature(X, fit, curvature, positive)
    found = leave_pair_out(X, positive, fit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_influence, "_suits_one_curvature", lambda *_: False)
        all_ = leave_pair_out(X, positive, fit, one)
    assert found.smooth_auc == pytest.approx(all_.smooth_auc, abs=2e-3)


@pytest.mark.parametrize("scaling", [np.inf, 0.0])
@pytest.mark.parametrize("l2", [3000.0, 30.0])
@pytest.mark.parametrize("squares", [False, True])
def test_without_a_row_as_the_rest_holds_it(scaling, l2, squares):
    """Mean over rows of ``x̃ᵢᵀH₋ᵢ⁻¹x̃ᵢ`` of exact leverages, of independent features."""
    rng = np.random.default_rng(2)
    X, n = rng.normal(size=(300, 700)), 300
    curvature = np.ones(n) if squares else rng.uniform(0.2, 1, n)
    fit = PenalisedFit("logistic", l2, np.ones(n), np.zeros(700), 0.0, scaling)
    moments = KernelMoments.of(kernel(X, fit), np.ones(n))
    Q, _ = defined(X, fit, curvature)
    exact = np.diag(Q) / (1 - curvature * np.diag(Q))
    found = moments.without_a_row(curvature, l2, np.ones(n))
    assert found.mean() == pytest.approx(exact.mean(), rel=0.04)
    assert np.corrcoef(found, exact)[0, 1] > 0.8


@pytest.mark.parametrize("model", [LogisticRegression(C=1e-4), LinearSVC(C=1e-4)])
def test_the_first_model_has_no_decomposition_and_the_next_its_answer(model):
    X, positive = wide_rows()
    fit = penalised_fit(model.fit(X, positive), X, positive)
    (remember, kept), one = keeping(), np.ones(len(X))
    found = [influence(X, positive, fit, one, remember) for _ in range(3)]
    assert found[0][2] == pytest.approx(found[1][2])
    assert "eigen" in {name[0] for name in kept}
    first, second, third = (astuple(part[-1]) for part in found)
    for a, b, c in zip(first, second, third, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * np.abs(a).max())
        np.testing.assert_array_equal(b, c)


def test_classes_of_other_curvatures_have_their_own():
    positive = np.arange(40) < 10
    for ratio, same in ((1.09, True), (1.11, False), (1 / 1.09, True), (0.9, False)):
        curvature = np.where(positive, ratio, 1.0)
        assert _is_one_for_classes(curvature, positive) == same
        curvature[[3, 30]] = 0.0  # no matter
        assert _is_one_for_classes(curvature, positive) == same
    assert not _is_one_for_classes(np.where(positive, 0.0, 1.0), positive)


@pytest.mark.parametrize(("n", "decomposed"), [(990, False), (1000, True)])
def test_many_rows_may_spread_more(n, decomposed):
    rng = np.random.default_rng(4)
    X, positive = rng.normal(size=(n, 1100)), np.arange(n) % 2 == 0
    c = np.where(np.arange(n) % 4 < 2, 1.0, 4.0)  # .6 of its mean
    fit = PenalisedFit("squared", 500.0, c, np.zeros(1100), 0.0, np.inf)
    remember, kept = keeping()
    for _ in range(2):
        influence(X, positive, fit, np.ones(n), remember)
    assert ("eigen" in {name[0] for name in kept}) == decomposed


def test_a_small_penalty_is_not_lost_in_single_precision():
    """600 × 700 with 30 common factors: .6 left out, 1 of a kernel without digits."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 30)) @ rng.normal(size=(30, 700))
    X += 3 * rng.normal(size=X.shape)
    positive = X @ rng.normal(size=700) / 100 + rng.normal(size=600) > 0
    kept = {}

    def remember(name, compute):
        return kept.setdefault(name, compute())

    def auc(l2):
        model = RidgeClassifier(alpha=l2).fit(X, positive)
        fit = penalised_fit(model, X, positive)
        ones = np.ones(600)
        return leave_pair_out(X, positive, fit, ones, remember).smooth_auc

    assert auc(1e-6) == pytest.approx(auc(1e-3), abs=1e-3)
    assert auc(1e-3) < 0.95
