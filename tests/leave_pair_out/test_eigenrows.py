"""Leverages of one curvature against inverses without the row, and exact ones."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from left_out_scores import leave_one_out_scores
from scipy import sparse
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score

from skauc.leave_pair_out import _eigenrows
from skauc.leave_pair_out._eigenrows import Eigenrows, eigenrows
from skauc.leave_pair_out._inverse_root import InverseRoot
from skauc.leave_pair_out._leave_one_out import leave_one_out_auc
from skauc.leave_pair_out._objective import ElasticNetFit, PenalisedFit, ask_again
from skauc.leave_pair_out._smooth_refits import smooth_optimum
from skauc.model_selection._refit_objective import training_objective
from skauc.model_selection._standardised_rows import StandardisedRows


def _memory():
    kept = {}

    def remember(name, compute):
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    return remember


def _rows(n, P, kind="normal", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    if kind == "t(3)":
        X /= np.sqrt(rng.chisquare(3, n) / 3)[:, None]
    if kind == "scales":
        which = rng.integers(0, 3, n)
        X = X * np.array([0.3, 1, 3])[which][:, None] + rng.normal(size=(3, P))[which]
    score = X[:, :5].sum(axis=1)
    noise = score.std() * rng.normal(size=n)
    return X + 3, score + noise > 0.3 * score.std()


def _fit(X, positive, C=1.0, weight=None):
    model = LogisticRegression(C=C, tol=1e-8, max_iter=10_000)
    model.fit(X, positive, sample_weight=weight)
    return training_objective(model, X, positive, weight)


def _without(X, curvature, weight, l2, i):
    """``x_iᵀ(w Σ_j≠i f_j x_j x_jᵀ + λI)⁻¹x_i`` of centred rows."""
    A = X - weight @ X / weight.sum()
    own = np.delete(np.arange(len(X)), i)
    H = curvature * (A[own].T * weight[own]) @ A[own] + l2 * np.eye(X.shape[1])
    return A[i] @ np.linalg.solve(H, A[i])


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("l2", [1e-3, 1.0, 300.0])
def test_equal_curvatures_are_exact(l2, heavy):
    X, positive = _rows(300, 40)
    weight = np.arange(300) % 3 + 1.0 if heavy else np.ones(300)
    kept = Eigenrows.of_rows(X, positive, weight, centred=True)
    every, some = kept.without_a_row(0.2 * weight, weight, l2)
    assert sorted(kept.rows) == list(range(300))
    for j in range(0, 300, 30):
        true = _without(X, 0.2, weight, l2, kept.rows[j])
        assert some[j] == pytest.approx(true, rel=1e-4)  # single precision
    assert np.log(every[kept.rows] / some).std() < 0.3


@pytest.mark.parametrize("few", [False, True])
def test_curvature_has_the_degrees_of_freedom_of_all(few):
    """Also where five rows have all of it, far from the mean: no secant finds it."""
    X, positive = _rows(250, 30, "t(3)")
    X *= np.geomspace(0.1, 10, 30)
    rng = np.random.default_rng(1)
    weight, l2 = rng.integers(1, 4, 250).astype(float), 3.0
    curvature = weight * rng.uniform(0, 1, 250) ** 6
    if few:
        l2, curvature = 0.03, 2 * weight * (np.arange(250) % 50 == 0)
    A = X - weight @ X / weight.sum()

    def alpha(w):
        H = w * (A.T * weight) @ A + l2 * np.eye(30)
        q = np.einsum("np,pq,nq->n", A, np.linalg.inv(H), A)
        return q / (1 - w * weight * q)

    def excess(w):
        a = alpha(w)
        theirs = curvature * a / (1 + curvature * a)
        return np.sum(w * weight * a / (1 + w * weight * a) - theirs)

    w = brentq(excess, 1e-8, 1, xtol=1e-14)
    kept = Eigenrows.of_rows(X, positive, weight, centred=True)
    _, some = kept.without_a_row(curvature, weight, l2)
    np.testing.assert_allclose(some, alpha(w)[kept.rows], rtol=1e-3)


@pytest.mark.parametrize("start", [-25.0, -12.0, -3.0, 0.0, 20.0])
def test_root_wherever_the_search_begins(start):
    def f(x):
        return np.tanh(x + 12.0) + 0.3

    root = _eigenrows._root_near(f, start, -30.0, 30.0)
    assert root == pytest.approx(-12.0 - np.arctanh(0.3), abs=1e-5)
    assert _eigenrows._root_near(lambda x: f(x) + 0.7, start, -30.0, 30.0) is None


@pytest.mark.parametrize("kind", ["normal", "t(3)", "scales"])
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_auc_is_that_of_exact_leverages(kind, C):
    X, positive = _rows(1500, 150, kind)
    fit, weight = _fit(X, positive, C), np.ones(1500)
    _, variance = leave_one_out_auc(fit, X, positive, weight)
    exact = roc_auc_score(positive, leave_one_out_scores(fit, X, positive))
    auc, its = leave_one_out_auc(fit, X, positive, weight, remember=_memory())
    assert 0 < abs(auc - exact) < 0.15 * np.sqrt(variance)
    assert its == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("kind", ["normal", "t(3)", "scales"])
def test_sample_corrects_what_the_lengths_say(kind, heavy, monkeypatch):
    X, positive = _rows(4000, 120, kind)
    weight = np.where(X[:, 0] > 3, 8.0, 1.0) if heavy else np.ones(4000)
    fit = _fit(X, positive, weight=weight)
    exact, _ = leave_one_out_auc(fit, X, positive, weight)
    apparent, _ = leave_one_out_auc(replace(fit, l2=1e12), X, positive, weight)
    monkeypatch.setattr(_eigenrows, "_SOME_ROWS", 1000)
    auc, _ = leave_one_out_auc(fit, X, positive, weight, remember=_memory())
    assert abs(auc - exact) < 0.05 * (apparent - exact)


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("scaling", [np.inf, 0.0])
@pytest.mark.parametrize("l2", [1e-3, 1.0, 100.0])
def test_turned_rows_have_the_leverages_of_the_hessian(l2, scaling, heavy):
    """And what is left of the gradient, of a fit that is anywhere."""
    X, positive = _rows(500, 130, "t(3)")
    X = (X - 3 * (scaling == 0)) * np.geomspace(0.3, 3, 130)
    weight = np.arange(500) % 3 + 1.0 if heavy else np.ones(500)
    w = np.random.default_rng(4).normal(size=130) / np.geomspace(1, 30, 130)
    fit = PenalisedFit("logistic", l2, weight, w, 0.3 * (scaling > 0), scaling)
    _, g, curvature = fit.slopes(X, positive)
    kept = Eigenrows.of_rows(X, positive, weight, scaling > 0)
    mean = curvature.sum() / weight.sum()
    assert kept.turns(mean, l2)
    force = (X - kept.mean).T @ g + l2 * w
    found = kept.leverages_and_rest(g, curvature, mean, l2, scaling > 0, force)
    h, rest = InverseRoot.of_fit(fit, X, curvature).leverages_and_rest(X, g)
    # rows that are not felt move their scores by no more than that, all together
    felt = found[0] > 0
    assert np.sum((h * np.abs(g))[~felt]) <= 0.011
    np.testing.assert_allclose(found[0][felt], h[felt], rtol=2e-3)
    np.testing.assert_allclose(found[1], rest, rtol=2e-3, atol=1e-3 * rest.std())


def test_rows_that_are_not_felt(monkeypatch):
    """All that they have together is a share of what the penalty alone has."""
    X, positive = _rows(600, 250)
    kept = Eigenrows.of_rows(X, positive, np.ones(600), centred=True)
    curvature = np.random.default_rng(5).uniform(size=600) ** 9
    square = np.sum((X - X.mean(axis=0)) ** 2, axis=1)
    felt = kept.felt(curvature, 0.5)
    unfelt = np.setdiff1d(np.arange(600), felt)
    assert len(unfelt) > 50
    total = curvature[unfelt] @ square[unfelt]
    assert total <= 0.01 * 0.5 < total + np.min((curvature * square)[felt])
    assert np.all(np.diff(felt) > 0)
    # no penalty, all rows with a curvature; and a row with a slope has a score to move
    assert len(kept.felt(curvature, 0.0)) == 600
    assert kept.felt(np.zeros(600), 0.0).tolist() == []
    fit = _fit(X, positive, 1e3)
    _, g, curvature = fit.slopes(X, positive)
    far, g = np.argmin(np.abs(g)), g.copy()
    question = curvature, curvature.mean(), fit.l2, True, np.zeros(250)
    assert kept.leverages_and_rest(g, *question)[0][far] == 0
    g[far] = 1.0
    assert kept.leverages_and_rest(g, *question)[0][far] > 0


def test_auc_hardly_feels_them(monkeypatch):
    X, positive = _rows(700, 400, seed=3)
    fit, weight = _fit(X, positive, 1e3), np.ones(700)
    fit, remember = smooth_optimum(fit, X, positive), _memory()
    auc, _ = leave_one_out_auc(fit, X, positive, weight, remember=remember)
    monkeypatch.setattr(_eigenrows, "_UNFELT", 0.0)
    every, _ = leave_one_out_auc(fit, X, positive, weight, remember=remember)
    assert auc == pytest.approx(every, abs=2e-5)


@pytest.mark.parametrize("least", [1.0, 1e-3])
def test_many_features_are_decomposed_in_single_precision(least, monkeypatch):
    X, positive = _rows(900, 400)
    X[:, 5] *= least
    weight, curvature = np.ones(900), np.linspace(0.1, 0.25, 900)
    kept, asked = Eigenrows.of_rows(X, positive, weight, True), []
    monkeypatch.setattr(_eigenrows, "is_even", asked.append)
    slow = Eigenrows.of_rows(X, positive, weight, True)
    assert asked
    assert np.array_equal(kept.values, slow.values) == (least < 1)
    np.testing.assert_allclose(kept.values, slow.values, atol=1e-6)
    for l2 in (1e-2, 1.0, 100.0):
        one, two = (k.without_a_row(curvature, weight, l2) for k in (kept, slow))
        np.testing.assert_allclose(one[1], two[1], rtol=1e-4)


def _exact_ways(monkeypatch):
    asked, exact = [], InverseRoot.of_fit
    monkeypatch.setattr(
        InverseRoot, "of_fit", lambda *given: asked.append("double") or exact(*given)
    )
    return asked


def test_crowded_rows_are_turned(monkeypatch):
    """Leverages of the Hessian, in single precision: the AUC of those in double."""
    X, positive = _rows(600, 250)
    fit = smooth_optimum(_fit(X, positive, 100.0), X, positive)
    question = fit, X, positive, np.ones(600)
    asked = _exact_ways(monkeypatch)
    exact, variance = leave_one_out_auc(*question)
    assert asked == ["double"]
    auc, its = leave_one_out_auc(*question, remember=_memory())
    assert asked == ["double"]
    assert auc == pytest.approx(exact, abs=1e-4)
    assert its == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize("way", ["digits", "penalised", "failed"])
def test_crowded_rows_that_are_not_turned_are_asked_in_double(way, monkeypatch):
    X, positive = _rows(600, 250)
    if way == "digits":  # beside one that is so large single has none of the others
        X[:, 0] *= 1e4
    start = PenalisedFit("logistic", 1e-2, np.ones(600), np.zeros(250), 0.0, np.inf)
    fit = smooth_optimum(start, X, positive)
    if way == "penalised":
        fit = replace(fit, intercept_scaling=1.0)
    if way == "failed":
        lost = SimpleNamespace(spotrf=lambda H, **how: (H, 1))
        monkeypatch.setattr(_eigenrows, "lapack", lost)
    question = fit, X, positive, np.ones(600)
    asked = _exact_ways(monkeypatch)
    exact = leave_one_out_auc(*question)
    found = leave_one_out_auc(*question, remember=_memory())
    assert asked == ["double"] * 2
    assert found == exact


def test_many_rows_are_not_turned(monkeypatch):
    monkeypatch.setattr(_eigenrows, "_SOME_ROWS", 500)
    X, positive = _rows(600, 100)
    kept = Eigenrows.of_rows(X, positive, np.ones(600), centred=True)
    assert kept.turned is None
    assert not kept.turns(0.1, 1.0)


def test_ridge_is_exact():
    X, positive = _rows(800, 110)
    fit = training_objective(RidgeClassifier().fit(X, positive), X, positive)
    weight = np.ones(800)
    exact = roc_auc_score(positive, leave_one_out_scores(fit, X, positive))
    _, variance = leave_one_out_auc(fit, X, positive, weight)
    found = leave_one_out_auc(fit, X, positive, weight, remember=_memory())
    np.testing.assert_allclose(found, (exact, variance), rtol=2e-5)


def test_sample_is_asked_for_nothing_but_the_rows():
    """Neither their order nor the name of a class."""
    X, positive = _rows(3000, 100, "t(3)")
    weight, order = (
        np.arange(3000) % 2 + 1.0,
        np.random.default_rng(1).permutation(3000),
    )
    fit = _fit(X, positive, weight=weight)
    here = leave_one_out_auc(fit, X, positive, weight, remember=_memory())
    c = fit.case_weight[order]
    moved = replace(fit, case_weight=c)
    there = leave_one_out_auc(
        moved, X[order], positive[order], weight[order], remember=_memory()
    )
    np.testing.assert_allclose(there, here, rtol=1e-7)
    turned = replace(fit, w=-fit.w, intercept=-fit.intercept)
    there = leave_one_out_auc(turned, X, ~positive, weight, remember=_memory())
    np.testing.assert_allclose(there, here, rtol=1e-7)


def test_sample_is_the_same_whichever_class_is_positive(monkeypatch):
    """Also where the middles of equal shares fall between rows."""
    monkeypatch.setattr(_eigenrows, "_SOME_ROWS", 200)
    X, _ = _rows(400, 10)
    positive = np.arange(400) % 2 == 0
    here, _, _ = _eigenrows._spread_rows(X, positive, np.ones(400))
    there, _, _ = _eigenrows._spread_rows(X, ~positive, np.ones(400))
    assert set(here) == set(there)


@pytest.mark.parametrize("kind", ["normal", "t(3)", "scales"])
def test_rows_that_stand_twice_weigh_two(kind):
    X, positive = _rows(1000, 100, kind)
    weight = np.full(1000, 2.0)
    fit = _fit(X, positive, weight=weight)
    auc, variance = leave_one_out_auc(fit, X, positive, weight, remember=_memory())
    twice = np.tile(np.arange(1000), 2)
    fit = replace(fit, case_weight=np.ones(2000))
    found = leave_one_out_auc(
        fit, X[twice], positive[twice], np.ones(2000), remember=_memory()
    )
    assert found[0] == pytest.approx(auc, abs=0.1 * np.sqrt(variance))
    assert found[1] == pytest.approx(variance, rel=0.01)


@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e100])
def test_many_rows_that_stand_twice_are_told(unit):
    X, positive = _rows(600, 100)
    for copies, known in ((0, True), (50, True), (80, False), (600, False)):
        some = np.append(np.arange(600), np.arange(copies))
        question = unit * X[some], positive[some], np.ones(len(some)), True
        assert (Eigenrows.of_rows(*question) is not None) == known
    assert Eigenrows.of_rows(unit * X, positive, np.full(600, 2.0), True) is not None
    size, score = np.array([1.0, 2.0, 1.0, 2.0]), np.array([-3.0, -3.0, -3.0, 4.0])
    assert _eigenrows._share_of_copies(unit * size, unit * score) == 0.25
    binary = unit * (X > 3)
    assert Eigenrows.of_rows(binary, positive, np.ones(600), True) is not None


def _levels(n, P):
    rng = np.random.default_rng(2)
    X = np.zeros((n, P))
    for start in range(0, P, 20):
        level = np.minimum(rng.geometric(0.2, n) - 1, 19)
        X[np.arange(n), start + level] = 1
    return X


def test_rows_that_few_hold_are_told():
    n, P = 1000, 200
    X, positive = _rows(n, P)
    levels, rng = _levels(n, P), np.random.default_rng(3)
    turned = levels @ np.linalg.qr(rng.normal(size=(P, P)))[0]
    for rows, known in ((X, True), (levels, False), (turned, False)):
        kept = Eigenrows.of_rows(rows, positive, np.ones(n), centred=True)
        assert (kept is not None) == known


def test_kurtosis_is_that_of_the_correlations(rng, monkeypatch):
    monkeypatch.setattr(_eigenrows, "_CORRELATED_ROWS", 2)
    some, values = rng.normal(size=(7, 4)), np.array([2.0, 1.0, 0.5, 0.0])
    unit = np.array([2.0, 1.0, 0.5, 0.01 * 3.5 / 4])
    kurtosis = []
    for i in (0, 4):
        r = [
            (some[i] / unit) @ some[j] / np.sqrt((some[j] / unit) @ some[j])
            for j in (1, 2, 3, 5, 6)
        ]
        kurtosis.append(np.mean(np.power(r, 4)) / np.mean(np.square(r)) ** 2)
    found = _eigenrows._kurtosis(some[::-1], np.arange(7)[::-1], values)
    assert found == pytest.approx(np.mean(kurtosis), rel=1e-12)


def test_alpha_by_size_is_a_power_times_a_step():
    n = 200
    size, part = np.linspace(-3, 2, n), np.arange(n) // 10
    rows = np.arange(n)[part != 7]  # of a part that the sample does not know
    kept = Eigenrows(
        *(None,) * 4,
        rows=rows,
        mass=np.ones(len(rows)),
        squares=None,
        turned=None,
        size=size,
        part=part.astype(np.int8),
    )
    power = np.exp(0.7 + 0.4 * size)
    np.testing.assert_allclose(kept._by_size(power[rows]), power, rtol=1e-12)
    # no more than the length, and no less with it
    steep = kept._by_size(np.exp(3 * size[rows]))
    assert steep[9] / steep[0] == pytest.approx(np.exp(size[9] - size[0]))
    falling = kept._by_size(np.exp(-size[rows]))
    assert falling[9] == pytest.approx(falling[0])
    middle = np.exp(-size[:10].mean())
    assert falling[0] == pytest.approx(middle)


def test_features_that_do_not_vary_have_no_part():
    X, positive = _rows(600, 110)
    wide = np.column_stack([X, np.full(600, 7.0), X[:, :5].sum(axis=1)])
    weight, curvature = np.ones(600), np.linspace(0.1, 0.25, 600)
    kept, more = (Eigenrows.of_rows(A, positive, weight, True) for A in (X, wide))
    assert np.count_nonzero(more.values) == 110
    assert more.without_a_row(curvature, weight, 1e-8) is None  # no digits
    assert kept.without_a_row(curvature, weight, 1e-8) is not None
    expected, found = (
        k.without_a_row(curvature, weight, 1e-3)[1][np.argsort(k.rows)]
        for k in (kept, more)
    )
    # a sum of features takes what is left of the penalty: hardly anything
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("unit", [1e-100, 1e60])
def test_units_do_not_count(unit):
    X, positive = _rows(500, 100)
    weight, curvature = np.ones(500), np.linspace(0.1, 0.25, 500)
    here, there = (
        Eigenrows.of_rows(u * X, positive, weight, True).without_a_row(
            curvature, weight, u**2 * 2.0
        )
        for u in (1.0, unit)
    )
    np.testing.assert_allclose(there, here, rtol=1e-4)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_rows_without_squares_are_refused(unit):
    X, positive = _rows(500, 100)
    assert Eigenrows.of_rows(unit * X, positive, np.ones(500), True) is None


def test_rows_without_curvature_are_refused():
    X, positive = _rows(500, 100)
    weight = np.ones(500)
    kept = Eigenrows.of_rows(X, positive, weight, True)
    assert kept.without_a_row(np.zeros(500), weight, 1.0) is None


def test_where_there_are_eigenrows():
    X, positive = _rows(500, 100)
    weight, gone = np.ones(500), np.arange(500) > 0
    given = 1.0, np.ones(500), np.ones(100), 0.0, np.inf
    fit = PenalisedFit("logistic", *given)

    def found(fit=fit, X=X, weight=weight, remember=None):
        remember = remember or _memory()
        return eigenrows(fit, X, positive[: X.shape[0]], weight, remember)

    assert found() is not None
    assert found(weight=None) is not None
    assert found(fit=ElasticNetFit("logistic", *given, l1=0.0)) is not None
    assert found(fit=ElasticNetFit("logistic", *given, l1=1.0)) is None
    assert found(X=sparse.csr_matrix(X)) is None
    assert found(X=X[:, :99]) is None
    assert found(X=X[:499]) is None
    assert found(X=np.tile(X, 5)) is None
    assert found(weight=gone.astype(float)) is None
    assert found(remember=ask_again) is None


def test_with_and_without_an_intercept_are_remembered_apart():
    X, positive = _rows(600, 100)
    remember, weight = _memory(), np.ones(600)
    for scaling in (np.inf, 0.0):
        fit = PenalisedFit("squared", 5.0, weight, np.zeros(100), 0.0, scaling)
        kept = eigenrows(fit, X, positive, weight, remember)
        assert np.any(kept.mean != 0) == (scaling > 0)
        _, some = kept.without_a_row(weight, weight, 5.0)
        A = X - X.mean(axis=0) if scaling else X
        H = A.T @ A + 5.0 * np.eye(100)
        q = np.einsum("np,pq,nq->n", A, np.linalg.inv(H), A)[kept.rows]
        np.testing.assert_allclose(some, q / (1 - q), rtol=1e-4)


def test_rows_that_are_not_made_are_the_rows():
    X, positive = _rows(600, 100)
    centre, scale = X.mean(axis=0), np.linspace(0.5, 2, 100)
    rows, weight = StandardisedRows(X, centre, scale), np.ones(600)
    curvature = np.linspace(0.1, 0.25, 600)
    found, expected = (
        Eigenrows.of_rows(A, positive, weight, True).without_a_row(
            curvature, weight, 2.0
        )
        for A in (rows, (X - centre) / scale)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
