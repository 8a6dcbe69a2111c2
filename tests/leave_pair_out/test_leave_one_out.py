"""Leave-one-out scores from leverages against fits without the row."""

from dataclasses import replace

import numpy as np
import pytest
from left_out_scores import leave_one_out_scores
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC
from sklearn_versions import l1_part

from skauc import RowBlocks, cbauc_scorer
from skauc.leave_pair_out import _leave_one_out
from skauc.leave_pair_out._eigenrows import Eigenrows
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._inverse_root import InverseRoot, of_intercept, squares
from skauc.leave_pair_out._leave_one_out import leave_one_out_auc
from skauc.leave_pair_out._losses import loss_derivatives
from skauc.leave_pair_out._objective import ElasticNetFit, PenalisedFit
from skauc.leave_pair_out._smooth_refits import refit_smooth, smooth_optimum
from skauc.model_selection import _rows_at_hand
from skauc.model_selection._refit_objective import training_objective
from skauc.statistics._block_column import BlockColumn
from skauc.statistics._block_matrix import BlockMatrix


def _rows(n, P, share=0.3):
    rng = np.random.default_rng(0)
    positive = np.arange(n) < share * n
    return rng.normal(size=(n, P)) + 3 + 0.5 * positive[:, None], positive


def leverages(fit, X, curvature, rows=None, unit=None):
    """Of the rows of the fit, or of others."""
    held = InverseRoot.of_fit(fit, X, curvature, unit, sampled=rows is not None)
    return squares(held.half(X if rows is None else rows))


def _auc_of_pairs(fit, X, positive, weight=None):
    """Every pair without one of each of its two rows, one after the other."""
    z, g, curvature = fit.slopes(X, positive)
    weight = np.ones(len(z)) if weight is None else weight
    e = of_intercept(fit, curvature)
    A = X - e * (curvature @ X)
    Q = A @ np.linalg.inv((A.T * curvature) @ A + fit.l2 * np.eye(X.shape[1])) @ A.T
    push = g / weight / (1 - curvature / weight * (Q.diagonal() + e))
    won = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            up = z[i] + Q[i, i] * push[i] + Q[i, j] * push[j]
            down = z[j] + Q[j, j] * push[j] + Q[i, j] * push[i]
            tie = abs(up - down) < 1e-9
            won += weight[i] * weight[j] * (0.5 if tie else up > down)
            total += weight[i] * weight[j]
    return won / total


def _levels(n, P, noise=False):
    """Signs that have unequal effects, and a feature without any."""
    rng = np.random.default_rng(5)
    X = (rng.random((n, P)) < 0.5).astype(float)
    z = (X - 0.5) @ np.linspace(0.3, 1.5, P)
    X = np.column_stack([X, rng.normal(size=n)]) if noise else X
    return X, rng.random(n) < 1 / (1 + np.exp(-z))


@pytest.mark.parametrize("kind", ["none", "counts"])
def test_equal_rows_tie_whichever_are_left_out(kind):
    """Of eight kinds of rows every pair is refitted without one of each."""
    X, positive = _levels(600, 3)
    weight = _weights(600, kind)
    model = LogisticRegression(tol=1e-10).fit(X, positive, sample_weight=weight)
    fit = training_objective(model, X, positive, weight)
    rows, of_row = np.unique(
        np.column_stack([X, positive]), axis=0, return_inverse=True
    )
    count = np.bincount(of_row.ravel(), weight)
    of_one, won, total = rows[:, -1] > 0, 0.0, 0.0
    for i in np.flatnonzero(of_one):
        for j in np.flatnonzero(~of_one):
            less = count.copy()
            less[[i, j]] -= 1
            refit = LogisticRegression(tol=1e-10).fit(rows[:, :-1], of_one, less)
            up, down = refit.decision_function(rows[[i, j], :-1])
            won += count[i] * count[j] * (0.5 if abs(up - down) < 1e-9 else up > down)
            total += count[i] * count[j]
    auc, _ = leave_one_out_auc(fit, X, positive, weight)
    # of which small margins count in part
    assert auc == pytest.approx(won / total, abs=6e-3)
    scores = leave_one_out_scores(fit, X, positive, weight)
    one_by_one = roc_auc_score(positive, scores, sample_weight=weight)
    assert one_by_one < auc - 0.04


@pytest.mark.parametrize("n", [250, 600])
def test_near_rows_nearly_tie(n):
    """All pairs, from the definition; those that are near are most of what differs."""
    X, positive = _levels(n, 4, noise=True)
    fit = training_objective(LogisticRegression().fit(X, positive), X, positive)
    of_pairs = _auc_of_pairs(fit, X, positive)
    auc, variance = leave_one_out_auc(fit, X, positive, np.ones(n))
    assert auc == pytest.approx(of_pairs, abs=0.25 * np.sqrt(variance))
    one_by_one = roc_auc_score(positive, leave_one_out_scores(fit, X, positive))
    assert one_by_one < of_pairs - 0.25 * np.sqrt(variance)


@pytest.mark.parametrize("levels", [40, 150])
def test_levels_of_a_category_are_left_out_in_pairs(levels):
    """Ridge, whose leave-pair-out is exact; beyond 150 rows a class, of a sample."""
    rng = np.random.default_rng(3)
    level = np.arange(800) % levels
    X = (level[:, None] == np.arange(levels)).astype(float)
    positive = rng.random(800) < 1 / (1 + np.exp(1 - rng.normal(size=levels)[level]))
    fit = training_objective(RidgeClassifier().fit(X, positive), X, positive)
    auc, variance = leave_one_out_auc(fit, X, positive, np.ones(800))
    Q = InverseRoot.of_fit(fit, X, np.ones(800)).half(X)
    Q, e = Q @ Q.T, 1 / 800
    z, g, _ = fit.slopes(X, positive)
    won = []
    for i in np.flatnonzero(positive):
        S = np.stack(np.broadcast_arrays(i, np.flatnonzero(~positive)), axis=1)
        inside = Q[S[:, :, None], S[:, None]] + e
        step = np.linalg.solve(np.eye(2) - inside, inside @ g[S][:, :, None])
        up, down = (z[S] + step[:, :, 0]).T
        won.append(np.where(np.abs(up - down) < 1e-9, 0.5, up > down).mean())
    assert auc == pytest.approx(np.mean(won), abs=0.1 * np.sqrt(variance))


def test_a_squared_hinge_of_few_rows_inside_the_margin_is_not_left_out():
    """They are as many as the features: others come in when one goes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    positive = 3 * X[:, 0] + 0.5 * rng.normal(size=400) > 0
    for C, left_out in ((100.0, False), (1e-3, True)):
        model = LinearSVC(C=C, tol=1e-8, max_iter=100_000, random_state=0)
        fit = training_objective(model.fit(X, positive), X, positive)
        assert (
            np.isfinite(leave_one_out_auc(fit, X, positive, np.ones(400))[0])
            == left_out
        )


@pytest.mark.parametrize("beside", [0, 30])
def test_few_levels_with_a_weak_signal_do_not_change_places(beside):
    """Cells whose scores are .009 apart: counted, all of one lose against the other.

    However many features there are beside them, which are 0.
    """
    rng = np.random.default_rng(0)
    levels = np.column_stack([rng.random(700) < 0.5, rng.random(700) < 0.3])
    X = np.column_stack([levels, ~levels, np.zeros((700, beside))])
    positive = rng.random(700) < 1 / (1 + np.exp(0.4 - 0.8 * levels[:, 1]))
    model = LogisticRegression()
    fit = training_objective(model.fit(X, positive), X, positive)
    fit = replace(fit, w=fit.w * np.append([0.01, 1, 0.01, 1], np.ones(beside)))
    auc, variance = leave_one_out_auc(fit, X, positive, np.ones(700))
    folds = cross_val_score(model, X, positive, cv=10, scoring="roc_auc").mean()
    assert auc == pytest.approx(folds, abs=np.sqrt(variance))
    assert _auc_of_pairs(fit, X, positive) < auc - 3 * np.sqrt(variance)


def test_what_the_fit_orders_by_chance_does_not_change_places():
    """A coefficient of 1e-4: without a pair it has the other sign."""
    X, positive = _levels(3000, 4, noise=True)
    model = LogisticRegression()
    fit = training_objective(model.fit(X, positive), X, positive)
    assert abs(fit.w[-1]) < 1e-3
    auc, _ = leave_one_out_auc(fit, X, positive, np.ones(3000))
    folds = cross_val_score(model, X, positive, cv=10, scoring="roc_auc").mean()
    assert auc == pytest.approx(folds, abs=4e-3)
    counted = _auc_of_pairs(fit, X, positive)
    one_by_one = roc_auc_score(positive, leave_one_out_scores(fit, X, positive))
    assert max(counted, one_by_one) < auc - 0.02


def test_ridge_without_an_intercept_is_exact():
    X, positive = _rows(30, 6)
    model = RidgeClassifier(alpha=2.0, fit_intercept=False).fit(X, positive)
    fit = training_objective(model, X, positive)
    true = [
        model.fit(np.delete(X, i, 0), np.delete(positive, i)).decision_function(X[[i]])
        for i in range(30)
    ]
    np.testing.assert_allclose(
        leave_one_out_scores(fit, X, positive), np.ravel(true), rtol=1e-8
    )


def test_leverage_and_intercept_make_the_hat_matrix():
    X, positive = _rows(40, 5)
    model = LogisticRegression(C=0.5, tol=1e-10).fit(X, positive)
    fit = training_objective(model, X, positive)
    z = model.decision_function(X)
    _, curvature = loss_derivatives("logistic", z, positive, 1.0)
    A = np.column_stack([X, np.ones(40)])
    H = (A.T * curvature) @ A + np.diag([2.0] * 5 + [0.0])
    hat = np.einsum("np,pq,nq->n", A, np.linalg.inv(H), A)
    np.testing.assert_allclose(
        leverages(fit, X, curvature) + 1 / curvature.sum(), hat, rtol=1e-8
    )
    np.testing.assert_allclose(
        leverages(fit, sparse.csr_matrix(X), curvature),
        leverages(fit, X, curvature),
        rtol=1e-8,
    )


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_pooled_scores_agree_with_leave_pair_out(share):
    X, positive = _rows(200, 10, share)
    model = LogisticRegression(tol=1e-8).fit(X, positive)
    fit = training_objective(model, X, positive)
    pooled = roc_auc_score(positive, leave_one_out_scores(fit, X, positive))
    assert pooled == pytest.approx(leave_pair_out(X, positive, fit).auc, abs=0.006)


def test_l1_leaves_the_active_features():
    X, positive = _rows(60, 8)
    model = LogisticRegression(
        solver="saga", C=0.3, tol=1e-8, max_iter=100_000, **l1_part(1.0)
    ).fit(X, positive)
    fit = training_objective(model, X, positive)
    on = fit.w != 0
    assert 0 < on.sum() < 8
    _, curvature = loss_derivatives("logistic", model.decision_function(X), positive, 1)
    A = np.column_stack([X[:, on], np.ones(60)])
    hat = np.diag(A @ np.linalg.inv((A.T * curvature) @ A) @ A.T)
    np.testing.assert_allclose(
        leverages(fit, X, curvature) + 1 / curvature.sum(), hat, rtol=1e-6
    )


def _weights(n, kind):
    return np.ones(n) if kind == "none" else np.arange(n) % 3 + 1.0


@pytest.mark.parametrize("kind", ["none", "counts"])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_auc_of_very_many_rows_from_a_sample(share, kind, monkeypatch):
    X, positive = _rows(3000, 20, share)
    weight = _weights(3000, kind)
    model = LogisticRegression(C=10.0).fit(X, positive, sample_weight=weight)
    fit = training_objective(model, X, positive, weight)
    monkeypatch.setattr(_leave_one_out, "_SAMPLE_ROWS_A_FEATURE", 150)
    exact, variance = leave_one_out_auc(fit, X, positive, weight)
    # a sample of the pairs
    assert exact == pytest.approx(_auc_of_pairs(fit, X, positive, weight), abs=5e-4)
    apparent = roc_auc_score(positive, model.decision_function(X), sample_weight=weight)
    monkeypatch.undo()
    sampled, of_sample = leave_one_out_auc(fit, X, positive, weight)
    # 1000 rows know what is taken off to some percent
    assert 0 < abs(sampled - exact) < 0.1 * (apparent - exact)
    assert of_sample == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize("gap", [3.0, 4.5])
def test_variance_of_an_auc_near_one_is_that_of_all_rows(gap):
    """Few rows make it, of which hardly any are among those left out."""
    X, positive = _rows(20_000, 5, 0.5)
    X[:, 0] += gap * positive
    fit = training_objective(LogisticRegression().fit(X, positive), X, positive)
    auc, variance = leave_one_out_auc(fit, X, positive, np.ones(20_000))
    scores = leave_one_out_scores(fit, X, positive)
    neg, pos = scores[~positive], scores[positive]
    won = (neg < pos[:, None]).astype(np.float32)
    true = won.mean(axis=1).var(ddof=1) / 1e4 + won.mean(axis=0).var(ddof=1) / 1e4
    assert auc > 0.99
    assert variance == pytest.approx(true, rel=0.1)


def test_sample_asks_for_nothing_but_the_rows():
    X, positive = _rows(3000, 20)
    model = LogisticRegression().fit(X, positive)
    order = np.random.default_rng(1).permutation(3000)
    weight = np.ones(3000)
    here, there = (
        leave_one_out_auc(
            training_objective(model, X[o], positive[o]), X[o], positive[o], weight
        )
        for o in (np.arange(3000), order)
    )
    np.testing.assert_allclose(here, there, rtol=1e-9)


def test_leverage_of_other_rows_is_free_of_the_bias_of_a_sample():
    X, positive = _rows(40_000, 10)
    model = RidgeClassifier(alpha=1e-6).fit(X, positive)
    fit = training_objective(model, X, positive)
    truth = leverages(fit, X, np.ones(len(X)))
    rng, ratio = np.random.default_rng(0), []
    for _ in range(40):
        some = rng.choice(len(X), 100, replace=False)
        h = leverages(fit, X[some], np.full(100, len(X) / 100), X[:500])
        ratio.append(h.mean() / truth[:500].mean())
    # without the factor the ratio is 1/(1 − 10/100); its own error is .006
    assert np.mean(ratio) == pytest.approx(1.0, abs=0.03)


def test_frequency_weights_leave_one_of_equal_rows_out():
    X, positive = _rows(25, 3)
    weight = np.arange(25) % 3 + 1
    model = RidgeClassifier(alpha=2.0, fit_intercept=False)
    model.fit(X, positive, sample_weight=weight)
    fit = training_objective(model, X, positive, weight.astype(float))
    scores = leave_one_out_scores(fit, X, positive, weight.astype(float))
    for i in range(25):
        less = weight - (np.arange(25) == i)
        model.fit(X, positive, sample_weight=less)
        np.testing.assert_allclose(
            scores[i], model.decision_function(X[[i]])[0], rtol=1e-8
        )


def test_factor_of_the_leverages_of_other_rows():
    """``(n − d − 2)/(n + 1)``, d = tr of the hat matrix of the rows of the Hessian."""
    X, positive = _rows(70, 4)
    model = LogisticRegression(C=0.5, tol=1e-10).fit(X, positive)
    fit, curvature = training_objective(model, X, positive), np.linspace(0.1, 0.4, 50)
    mean = curvature @ X[:50] / curvature.sum()
    A, others = X[:50] - mean, X[50:] - mean
    inverse = np.linalg.inv((A.T * curvature) @ A + 2.0 * np.eye(4))
    d = np.trace(inverse @ (A.T * curvature) @ A)
    expected = np.einsum("np,pq,nq->n", others, inverse, others) * (50 - d - 2) / 51
    got = leverages(fit, X[:50], curvature, X[50:])
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def _in_one_column_more(fit, X, curvature, g):
    """Hat matrix's diagonal, and Newton's step of the scores, with b as a column."""
    n, P = X.shape
    A, ridge, theta = X, np.full(P, fit.l2), fit.w
    if fit.intercept_scaling > 0:
        A, theta = np.column_stack([X, np.ones(n)]), np.append(theta, fit.intercept)
        ridge = np.append(ridge, fit.l2 / fit.intercept_scaling**2)
    inverse = np.linalg.inv((A.T * curvature) @ A + np.diag(ridge))
    step = inverse @ (A.T @ g + ridge * theta)
    return np.einsum("np,pq,nq->n", A, inverse, A), A @ step


@pytest.mark.parametrize("scaling", [0.0, 0.5, 1.0, np.inf])
def test_leverages_are_those_of_an_intercept_that_is_a_column(scaling):
    X, curvature = _rows(30, 3)[0], np.linspace(0.1, 0.3, 30)
    fit = PenalisedFit("logistic", 2.0, np.ones(30), np.array([1, -2, 3]), 0.1, scaling)
    g = np.sin(np.arange(30))
    hat, moved = _in_one_column_more(fit, X, curvature, g)
    h, rest = InverseRoot.of_fit(fit, X, curvature).leverages_and_rest(X, g)
    e = of_intercept(fit, curvature)
    np.testing.assert_allclose(h + e, hat, rtol=1e-9)
    np.testing.assert_allclose(leverages(fit, X, curvature), h, rtol=1e-14)
    # what the intercept's own equation leaves moves all scores alike
    np.testing.assert_allclose(rest - rest.mean(), moved - moved.mean(), atol=1e-9)
    slope = g.sum() + fit.intercept_penalty * fit.intercept
    np.testing.assert_allclose(moved - rest, e * slope, atol=1e-9)


def _crowded(loss, l2, seed):
    """Rows of noise that a weak penalty lets a fit separate, at the optimum."""
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=(200, 110)), np.arange(200) % 3 > 0
    w = 0.01 * X[positive].sum(axis=0)
    start = PenalisedFit(loss, l2, np.ones(200), w, 0.1, np.inf)
    return smooth_optimum(start, X, positive), X, positive


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("l2", [1.0, 1e-2])
def test_rows_that_nearly_nothing_else_holds_are_those_of_refits(loss, l2):
    """Without e a squared hinge with λ = .01 has an AUC of .72 on this noise."""
    fit, X, positive = _crowded(loss, l2, 5)
    refits = refit_smooth(fit, X, positive, 1 - np.eye(200), solved=True)
    # less the common part, which is the intercept's
    true = np.diag(refits.scores - (refits.scores - refits.full).mean(axis=1)[:, None])
    scores, full = leave_one_out_scores(fit, X, positive), fit.scores(X)
    assert np.corrcoef(scores - full, true - full)[0, 1] > 0.9
    auc = leave_one_out_auc(fit, X, positive, np.ones(200))[0]
    # no neighbours tell more
    assert auc == pytest.approx(roc_auc_score(positive, scores), rel=1e-12)
    assert auc == pytest.approx(roc_auc_score(positive, true), abs=0.03)


def test_a_weak_penalty_that_separates_noise_has_no_auc_of_1():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(500, 280)), np.arange(500) % 2
    model = LinearSVC(C=25.0).fit(X, y)
    assert roc_auc_score(y, model.decision_function(X)) == 1.0
    assert abs(cbauc_scorer(model, X, y) - 0.5) < 0.1


def test_a_fit_is_taken_further_where_rows_are_hardly_held():
    best, X, positive = _crowded("squared_hinge", 0.01, 6)
    count, asked = np.ones(200), []

    def further():
        asked.append(1)
        return best

    expected = leave_one_out_auc(best, X, positive, count)
    assert leave_one_out_auc(best, X, positive, count, further) == expected
    assert not asked
    off = replace(best, w=best.w * 1.002)
    assert abs(leave_one_out_auc(off, X, positive, count)[0] - expected[0]) > 0.01
    assert leave_one_out_auc(off, X, positive, count, further) == expected
    assert asked == [1]
    gone = leave_one_out_auc(off, X, positive, count, lambda: None)
    assert np.isnan(gone).all()


def test_rows_that_nothing_else_holds_have_no_auc():
    """Squares without a penalty and P = n − 1: each row has its own direction."""
    rng = np.random.default_rng(7)
    X, positive = rng.normal(size=(60, 59)), np.arange(60) % 2 > 0
    w, *_ = np.linalg.lstsq(X - X.mean(axis=0), positive - 0.5, rcond=None)
    fit = PenalisedFit("squared", 0.0, np.ones(60), w, -(X.mean(axis=0) @ w), np.inf)
    assert np.isnan(leave_one_out_auc(fit, X, positive, np.ones(60))).all()


def _each(fit, X, positive, weight):
    """Rows as often as their frequency weights say."""
    times = np.repeat(np.arange(len(X)), weight.astype(int))
    return replace(fit, case_weight=np.ones(len(times))), X[times], positive[times]


def test_few_rows_may_be_loose_of_as_many_as_the_weights_say():
    """Three of 200 are more than a hundredth, of 397 they are not."""
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(200, 8)), np.arange(200) % 2 > 0
    X[:, :3] = np.eye(200, 3)
    weight = np.where(np.arange(200) < 3, 1.0, 2.0)
    fit = PenalisedFit("squared", 1e-14, weight, rng.normal(size=8), 0.1, 0.0)
    auc = leave_one_out_auc(fit, X, positive, weight)[0]
    fit, X, positive = _each(fit, X, positive, weight)
    assert auc == pytest.approx(leave_one_out_auc(fit, X, positive, np.ones(397))[0])
    fit, X, positive = replace(fit, case_weight=np.ones(200)), X[:200], positive[:200]
    assert np.isnan(leave_one_out_auc(fit, X, positive, np.ones(200))[0])


def test_what_a_solver_left_counts_as_often_as_the_rows():
    best, X, positive = _crowded("logistic", 0.1, 9)
    weight = np.where(positive, 4.0, 1.0)
    best = smooth_optimum(replace(best, case_weight=weight), X, positive)

    def is_nan(fit, X, positive, weight):  # it was to be taken further
        return np.isnan(leave_one_out_auc(fit, X, positive, weight, lambda: None)[0])

    asked = []
    for off in np.geomspace(1e-4, 1e-1, 60):
        rows = replace(best, w=best.w + off * X[0]), X, positive, weight
        asked.append(is_nan(*rows))
        assert is_nan(*_each(*rows), np.ones(int(weight.sum()))) == asked[-1]
    assert set(asked) == {True, False}


def test_one_of_equal_rows_is_less_crowded_than_all(monkeypatch):
    """Under a weak penalty each row has a direction; of rows twice, half of one."""
    best, X, positive = _crowded("logistic", 1e-3, 9)
    kept = Eigenrows.of_rows(X, positive, np.ones(200), centred=True)
    monkeypatch.setattr(_leave_one_out, "eigenrows", lambda *_: kept)
    monkeypatch.setattr(_leave_one_out, "has_eigenrows", lambda *_: True)
    columns = *best.slopes(X, positive), positive, np.ones(200)
    assert _leave_one_out._of_one_curvature(best, X, columns, None) is None
    weight = np.full(200, 2.0)
    kept = Eigenrows.of_rows(X, positive, weight, centred=True)
    fit = replace(best, l2=2e-3, case_weight=weight)
    columns = *fit.slopes(X, positive), positive, weight
    assert _leave_one_out._of_one_curvature(fit, X, columns, None) is not None


@pytest.mark.parametrize("scaling", [0.0, 0.5, np.inf])
@pytest.mark.parametrize("l1", [None, 0.5])
def test_leverages_of_rows_that_are_not_scaled_yet(scaling, l1):
    raw, curvature = _rows(40, 3)[0], np.linspace(0.1, 0.3, 30)
    centre, scale = np.array([2.0, 3.0, 1.0]), np.array([0.1, 5.0, 2.0])
    given = 2.0, np.ones(30), np.array([0.5, 0.0, -1.0]), 0.1, scaling
    fit = PenalisedFit("logistic", *given)
    X = (raw - centre) / scale
    if l1:
        fit = ElasticNetFit("logistic", *given, l1=l1)
        X = X[:, fit.w != 0]
    one = PenalisedFit("logistic", 2.0, np.ones(30), np.ones(X.shape[1]), 0.1, scaling)
    np.testing.assert_allclose(
        leverages(fit, raw[:30], curvature, raw[30:], (centre, scale)),
        leverages(one, X[:30], curvature, X[30:]),
        rtol=1e-11,
    )


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("n", [300, 2500])  # up to twice 1000 rows all are left out
def test_rows_in_blocks_are_the_rows(loss, n, monkeypatch):
    """Of few the columns come; of many only those of the sample."""
    X, positive = _rows(n, 3)
    X[:, 0] += 3 * positive  # so that of few rows less would be known than of all
    w = np.array([1.0, 0.5, -0.25])
    fit = PenalisedFit(loss, 2.0, 1.0, w, -3.0, np.inf)
    expected = leave_one_out_auc(fit, X, positive, np.ones(n))
    monkeypatch.setattr(_rows_at_hand, "_FEW_NUMBERS", 0)
    monkeypatch.setattr(_rows_at_hand, "_ROWS_A_FEATURE", 0)
    parts = [(X[i : i + 999], positive[i : i + 999]) for i in range(0, n, 999)]
    rows, labels, _ = _rows_at_hand.rows_at_hand(RowBlocks(parts), None)
    assert isinstance(rows, BlockMatrix)
    mask = labels.positive(pos_label=None)
    if n > 300:
        monkeypatch.setattr(BlockColumn, "__array__", None)
    fit = PenalisedFit(loss, 2.0, 1.0, w, -3.0, np.inf)  # knows no other rows
    found = leave_one_out_auc(fit, rows, mask, np.ones_like(mask, dtype=float))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_all_rows_are_moved_as_those_left_out_are():
    moved = _leave_one_out._moved
    assert moved((0.7, 4.0), (0.9, 2.0), (0.8, 1.0)) == pytest.approx((0.6, 3.0))
    assert moved((0.2, 2.0), (0.9, 3.0), (0.75, 2.0)) == pytest.approx((0.05, 2.0))
    assert moved((0.1, 2.0), (0.9, 3.0), (0.75, 2.0))[0] == 0
    assert moved((0.95, 2.0), (0.8, 3.0), (0.9, 2.0))[0] == 1


@pytest.mark.parametrize("kind", ["none", "one class", "the other", "both"])
def test_auc_of_rows_that_count_so_often(kind):
    X, positive = _rows(60, 1)
    score, often = X[:, 0].round(1), np.arange(60) % 2 + 1
    some = {"none": False, "one class": positive, "the other": ~positive, "both": True}
    often = np.where(some[kind], often, 1)
    auc, _ = _leave_one_out._auc_and_variance(score, positive, often.astype(float))
    repeated = roc_auc_score(np.repeat(positive, often), np.repeat(score, often))
    assert auc == pytest.approx(repeated, rel=1e-13)


def test_no_auc_is_above_one(rng):
    """Sums of weights in another order are some roundings larger than all of them."""
    score, positive = np.arange(40.0), np.arange(40) >= 20
    for weight in rng.random((50, 40)):
        assert _leave_one_out._auc_and_variance(score, positive, weight)[0] <= 1


def test_a_row_that_nothing_else_holds_keeps_its_score():
    X, positive = _rows(20, 3)
    X[:, 2] = np.arange(20) == 4
    w = np.linalg.lstsq(X, np.where(positive, 1.0, -1.0), rcond=None)[0]
    fit = PenalisedFit("squared", 0.0, np.ones(20), w, 0.0, 0.0)
    scores = leave_one_out_scores(fit, X, positive)
    assert scores[4] == pytest.approx(X[4] @ w, rel=1e-12)
    others = np.delete(np.arange(20), 4)
    assert (np.abs(scores - X @ w)[others] > 1e-3).all()
