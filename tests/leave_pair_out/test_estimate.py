"""Leave-pair-out from one fit against fits without the pair."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from oracles import (
    loop_leave_pair_out,
    repeat_rows,
    ridge_margins,
    share_won,
    smooth_statistic,
)
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from skauc import GaussianAUCClassifier, IRLSLogisticRegression
from skauc.leave_pair_out import _estimate as lpo
from skauc.leave_pair_out import _influence
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._losses import loss_derivatives, loss_value
from skauc.leave_pair_out._objective import (
    _SOLVED,
    PenalisedFit,
    nearest_optimum,
    on_its_ray,
    stationarity,
)
from skauc.leave_pair_out._pairs import sample_rows
from skauc.leave_pair_out._ridge_path import ridge_path
from skauc.model_selection._training_objective import (
    leave_pair_out_estimate,
    penalised_fit,
)


def design(n, P, *, seed=0, gap=1.0, share=0.5):
    """Normal rows with unequal scales and a mean gap along the first features."""
    rng = np.random.default_rng(seed)
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: round(share * n)]] = True
    X = rng.normal(size=(n, P)) * np.linspace(1.5, 0.5, P)
    X[np.ix_(positive, np.arange(min(P, 3)))] += gap
    return X, positive


def counted(margin):
    """The share won, equal but for the order of the sum."""
    return pytest.approx(share_won(margin), rel=1e-12)


def margins_of(X, positive, fit, weight=None):
    """What the one Newton step says of every pair (in the order of the rows)."""
    weight = np.ones(len(positive)) if weight is None else weight
    ones = np.ones(len(positive))
    rows, _, z, response = _influence.influence(X, positive, fit, ones)
    g, _ = lpo.loss_derivatives(fit.loss, z, positive[rows], fit.case_weight[rows])
    assert weight.min() == weight.max() == 1
    margin = lpo.pair_margins(response, z, g, positive[rows])
    return margin  # rows come neg first, each class in its order


def refit_margins(model, X, positive, sample_weight=None):
    """Margins from sklearn refits without i and j."""

    def without(i, j):
        keep = np.setdiff1d(np.arange(len(X)), [i, j])
        kwargs = {}
        if sample_weight is not None:
            kwargs["sample_weight"] = sample_weight[keep]
        fitted = clone(model).fit(X[keep], positive[keep], **kwargs)
        return float((X[i] - X[j]) @ np.ravel(fitted.coef_))

    return loop_leave_pair_out(without, positive)


# --------------------------------------------------------------- exact: squared losses


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, {False: 0.3, True: 2.0}])
@pytest.mark.parametrize(("n", "P"), [(24, 3), (20, 19), (20, 60)])
@pytest.mark.parametrize("alpha", [1e-2, 1.0, 100.0])
def test_ridge_is_exact(alpha, n, P, class_weight, intercept):
    X, positive = design(n, P, share=0.4)
    model = RidgeClassifier(
        alpha=alpha, class_weight=class_weight, fit_intercept=intercept
    ).fit(X, positive)
    c = np.ones(n)
    if class_weight:
        c = np.where(positive, 2.0, 0.3)
    sign = np.where(positive, 1.0, -1.0)
    expected = ridge_margins(X, sign, positive, alpha, c, intercept)
    fit = penalised_fit(model, X, positive)
    np.testing.assert_allclose(
        margins_of(X, positive, fit), expected, rtol=1e-9, atol=1e-10
    )
    assert leave_pair_out(X, positive, fit).auc == counted(expected)


@pytest.mark.parametrize(("n", "P"), [(20, 3), (16, 40)])
def test_ridge_is_sklearn_refits(n, P):
    X, positive = design(n, P, gap=0.5)
    model = RidgeClassifier(alpha=2.0, class_weight={False: 1.5, True: 0.5})
    expected = refit_margins(model, X, positive)
    fit = penalised_fit(model.fit(X, positive), X, positive)
    np.testing.assert_allclose(margins_of(X, positive, fit), expected, atol=1e-10)
    estimate = leave_pair_out_estimate(model, X, positive)
    assert estimate.auc == counted(expected)


def test_delong_variances_are_the_loops():
    X, positive = design(20, 5, gap=0.4)
    model = RidgeClassifier().fit(X, positive)
    margin = ridge_margins(X, 2.0 * positive - 1, positive, 1.0, np.ones(20))
    estimate = leave_pair_out_estimate(model, X, positive)
    assert (estimate.auc, estimate.variance) == pytest.approx(
        smooth_statistic(margin, 0), rel=1e-10
    )
    assert (estimate.smooth_auc, estimate.smooth_variance) == pytest.approx(
        smooth_statistic(margin, 0.25), rel=1e-10
    )


def test_weighted_variance_repeats_rows():
    X, positive = design(30, 4)
    weight = np.random.default_rng(1).integers(0, 4, 30)
    a = RidgeClassifier().fit(X, positive, sample_weight=weight)
    Xr, yr = repeat_rows(X, weight), repeat_rows(positive, weight)
    one = leave_pair_out_estimate(a, X, positive, weight.astype(float))
    two = leave_pair_out_estimate(RidgeClassifier().fit(Xr, yr), Xr, yr)
    for name in ("auc", "variance", "smooth_auc", "smooth_variance"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-9), name


# ----------------------------------------------------- one Newton step: smooth losses

DESIGNS = [(40, 4, 0.8), (30, 28, 0.6), (24, 80, 0.7)]
SMOOTH = {
    "lbfgs": LogisticRegression(tol=1e-8, max_iter=5000),
    "strong": LogisticRegression(C=0.01, tol=1e-8),
    "newton": LogisticRegression(C=3.0, solver="newton-cholesky", tol=1e-8),
    "no intercept": LogisticRegression(tol=1e-8, fit_intercept=False, max_iter=1000),
    "class weight": LogisticRegression(
        tol=1e-8, class_weight={False: 0.4, True: 2.0}, max_iter=1000
    ),
    "liblinear": LogisticRegression(
        solver="liblinear", intercept_scaling=3.0, tol=1e-8, max_iter=1000
    ),
    "svc": LinearSVC(C=0.1, tol=1e-8, max_iter=100000),
    "svc scaled": LinearSVC(
        C=0.02, intercept_scaling=5.0, class_weight={True: 2.0}, tol=1e-8,
        max_iter=100000,
    ),
    "lda": LinearDiscriminantAnalysis(),
    "lda shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.4),
    "lda eigen": LinearDiscriminantAnalysis(
        solver="eigen", shrinkage=0.3, priors=[0.3, 0.7]
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize(("n", "P", "gap"), DESIGNS)
def test_close_to_true_refits(kind, n, P, gap):
    model = SMOOTH[kind]
    if kind == "lda" and P > n // 2:
        pytest.skip("the scatter without a pair is singular")
    X, positive = design(n, P, gap=gap, seed=7)
    X = X[:, :P]
    half = np.r_[np.flatnonzero(positive)[:10], np.flatnonzero(~positive)[:10]]

    def without(i, j):
        keep = np.setdiff1d(np.arange(n), [i, j])
        fitted = clone(model).fit(X[keep], positive[keep])
        return float((X[i] - X[j]) @ np.ravel(fitted.coef_))

    pos, neg = half[positive[half]], half[~positive[half]]
    expected = np.array([[without(i, j) for j in neg] for i in pos])
    margin = _all_margins(clone(model).fit(X, positive), X, positive)
    at = np.ix_(
        np.searchsorted(np.flatnonzero(positive), pos),
        np.searchsorted(np.flatnonzero(~positive), neg),
    )
    # 100 pairs: one Newton step flips few of them, and only close ones.
    assert abs(share_won(margin[at]) - share_won(expected)) <= 0.051
    assert np.corrcoef(margin[at].ravel(), expected.ravel())[0, 1] > 0.985


def _all_margins(model, X, positive):
    return leave_pair_out_estimate(model, X, positive).margin


def test_automatic_shrinkage_has_no_leave_pair_out():
    """Its intensity and target change with every row that is left out."""
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    X, positive = design(20, 60, gap=0.7, seed=0)
    assert leave_pair_out_estimate(model.fit(X, positive), X, positive) is None


def test_gaussian_auc_is_exact():
    """Refits have n_c − 2 in place of n_c − 1, which the closed form knows."""
    X, positive = design(30, 5, gap=0.5)
    model = GaussianAUCClassifier(solver="closed_form")
    expected = counted(refit_margins(model, X, positive))
    assert leave_pair_out_estimate(model.fit(X, positive), X, positive).auc == expected


def test_irls_is_logistic_regression():
    X, positive = design(40, 6)
    ours = IRLSLogisticRegression(C=0.5).fit(X, positive)
    theirs = LogisticRegression(C=0.5, tol=1e-10).fit(X, positive)
    a, b = (leave_pair_out_estimate(model, X, positive) for model in (ours, theirs))
    assert a.smooth_auc == pytest.approx(b.smooth_auc, abs=1e-7)


def test_unshrunk_discriminant_is_exact():
    """LDA is a ridge without penalty: the direction W⁻¹d of every refit."""
    X, positive = design(30, 5, gap=0.5)
    expected = refit_margins(LinearDiscriminantAnalysis(), X, positive)
    model = LinearDiscriminantAnalysis().fit(X, positive)
    assert leave_pair_out_estimate(model, X, positive).auc == counted(expected)


def test_saga_is_lbfgs():
    X, positive = design(40, 6)
    saga = LogisticRegression(solver="saga", max_iter=20000, tol=1e-7)
    lbfgs = LogisticRegression(tol=1e-9)
    a, b = (
        leave_pair_out_estimate(m.fit(X, positive), X, positive) for m in (saga, lbfgs)
    )
    assert a.smooth_auc == pytest.approx(b.smooth_auc, abs=1e-4)


def test_sample_weights_in_the_fit_and_in_the_count():
    X, positive = design(30, 4, seed=2, gap=0.5)
    weight = np.random.default_rng(2).integers(0, 3, 30)
    make = LogisticRegression(tol=1e-10, max_iter=5000)
    a = clone(make).fit(X, positive, sample_weight=weight)
    Xr, yr = repeat_rows(X, weight), repeat_rows(positive, weight)
    one = leave_pair_out_estimate(a, X, positive, weight.astype(float))
    two = leave_pair_out_estimate(clone(make).fit(Xr, yr), Xr, yr)
    assert one.auc == pytest.approx(two.auc, rel=1e-12)
    assert one.smooth_auc == pytest.approx(two.smooth_auc, rel=1e-6)
    assert one.smooth_variance == pytest.approx(two.smooth_variance, rel=1e-6)


# ------------------------------------------------------- separated rows: true refits


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=1e4, tol=1e-8, max_iter=20000),
        LinearSVC(C=100.0, tol=1e-7, max_iter=1000000),
    ],
)
def test_separated_rows_are_refitted(model):
    X, positive = design(26, 5, gap=2.5, seed=4)
    fitted = clone(model).fit(X, positive)
    sign = np.where(positive, 1, -1)
    assert (sign * fitted.decision_function(X) > 0).all(), "not the case meant"
    expected = refit_margins(model, X, positive)
    estimate = leave_pair_out_estimate(fitted, X, positive)
    assert estimate.auc == pytest.approx(share_won(expected), abs=0.012)
    step = share_won(margins_of(X, positive, penalised_fit(fitted, X, positive)))
    assert abs(step - share_won(expected)) > abs(estimate.auc - share_won(expected))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(solver="newton-cholesky", tol=1e-10),
        LogisticRegression(solver="liblinear", intercept_scaling=3.0, tol=1e-10),
    ],
    ids=["free", "penalised"],
)
def test_intercept_of_refitted_pairs(model):
    """Few positives far from the origin: the intercept is large."""
    X, positive = design(12, 2, share=0.25)
    X = X + 1.0
    fit = penalised_fit(model.fit(X, positive), X, positive)
    margin = lpo._refitted(X, positive, fit, np.ones(12), np.arange(12))
    np.testing.assert_allclose(margin, refit_margins(model, X, positive), rtol=1e-3)


def test_separated_rows_with_a_sample_of_pairs(monkeypatch):
    X, positive = design(60, 5, gap=2.0, seed=3)
    model = LogisticRegression(C=1e5, tol=1e-8, max_iter=50000).fit(X, positive)
    full = leave_pair_out_estimate(model, X, positive)
    monkeypatch.setattr(lpo, "_REFIT_WORK", 60 * 36 * 144.0)  # 12 rows a class
    assert leave_pair_out_estimate(model, X, positive).auc == pytest.approx(
        full.auc, abs=0.03
    )


# ------------------------------------------------------------------ laws of the paths


@pytest.mark.parametrize(
    "model",
    [
        RidgeClassifier(alpha=3.0),
        RidgeClassifier(alpha=3.0, fit_intercept=False),
        LogisticRegression(tol=1e-8),
        LogisticRegression(solver="liblinear", intercept_scaling=4.0, tol=1e-8),
        LinearSVC(C=0.05, tol=1e-8, max_iter=10**6),
    ],
    ids=str,
)
def test_primal_is_dual(model, monkeypatch):
    X, positive = design(70, 4)
    fitted = model.fit(X, positive)
    dual = leave_pair_out_estimate(fitted, X, positive)
    monkeypatch.setattr(_influence, "DUAL_ROWS", 5)
    primal = leave_pair_out_estimate(fitted, X, positive)
    assert primal.auc == dual.auc
    assert primal.smooth_auc == pytest.approx(dual.smooth_auc, rel=1e-9)
    assert primal.smooth_variance == pytest.approx(dual.smooth_variance, rel=1e-8)


@pytest.mark.parametrize("path", ["dual", "primal"])
def test_far_from_the_origin_is_the_same(path, monkeypatch):
    """A free intercept: a shift of all rows changes nothing, to all digits."""
    X, positive = design(60, 4)
    if path == "primal":
        monkeypatch.setattr(_influence, "DUAL_ROWS", 5)
    model = RidgeClassifier().fit(X, positive)
    base = leave_pair_out(X, positive, penalised_fit(model, X, positive))
    shift = 1e6
    fit = penalised_fit(model, X, positive)
    fit = replace(fit, intercept=fit.intercept - shift * fit.w.sum())
    moved = leave_pair_out(X + shift, positive, fit)
    assert moved.smooth_auc == pytest.approx(base.smooth_auc, abs=1e-7)
    assert moved.auc == base.auc


@pytest.mark.parametrize("path", ["dual", "primal"])
@pytest.mark.parametrize(
    "model", [LogisticRegression(tol=1e-8), RidgeClassifier()], ids=str
)
def test_sparse_is_dense(model, path, monkeypatch):
    if path == "primal":
        monkeypatch.setattr(_influence, "DUAL_ROWS", 5)
    X, positive = design(50, 8)
    X[np.abs(X) < 0.7] = 0
    fitted = model.fit(X, positive)
    dense = leave_pair_out_estimate(fitted, X, positive)
    for make in (sparse.csr_array, sparse.csr_matrix):
        loose = leave_pair_out_estimate(fitted, make(X), positive)
        assert loose.auc == dense.auc
        assert loose.smooth_auc == pytest.approx(dense.smooth_auc, rel=1e-10)


def test_separated_sparse_rows_are_refitted_too():
    X, positive = design(26, 5, gap=2.5, seed=4)
    X[np.abs(X) < 0.2] = 0
    model = LogisticRegression(C=1e4, tol=1e-8, max_iter=20000).fit(X, positive)
    dense = leave_pair_out_estimate(model, X, positive)
    loose = leave_pair_out_estimate(model, sparse.csr_array(X), positive)
    assert loose.smooth_auc == pytest.approx(dense.smooth_auc, rel=1e-9)


def test_float32_rows_lose_nothing_more_than_their_own_digits():
    X, positive = design(40, 5)
    X = X.astype(np.float32)
    model = LogisticRegression(tol=1e-6).fit(X.astype(float), positive)
    wide = leave_pair_out_estimate(model, X.astype(float), positive)
    narrow = leave_pair_out_estimate(model, X, positive)
    assert narrow.smooth_auc == pytest.approx(wide.smooth_auc, rel=1e-12)


def test_order_of_rows():
    X, positive = design(40, 5)
    model = LogisticRegression(tol=1e-8).fit(X, positive)
    order = np.random.default_rng(3).permutation(40)
    a = leave_pair_out_estimate(model, X, positive)
    b = leave_pair_out_estimate(model, X[order], positive[order])
    assert (a.auc, a.smooth_auc) == pytest.approx((b.auc, b.smooth_auc), rel=1e-10)


def test_sample_of_pairs_is_close_to_all(monkeypatch):
    X, positive = design(600, 5, gap=0.5)
    model = LogisticRegression().fit(X, positive)
    full = leave_pair_out_estimate(model, X, positive)
    monkeypatch.setattr(
        _influence, "sample_rows", lambda z, p, w: sample_rows(z, p, w, 60)
    )
    part = leave_pair_out_estimate(model, X, positive)
    assert part.auc == pytest.approx(full.auc, abs=0.005)
    assert 2 < part.variance / full.variance < 10  # 60 rows speak less sure than 300


def test_sample_of_rows_is_even_in_the_score():
    score, positive = np.arange(1000.0)[::-1], np.arange(1000) % 10 == 0
    rows, count = sample_rows(score, positive, np.ones(1000), 100)
    assert (count == 1).all()
    assert len(np.unique(rows)) == len(rows) == 200
    assert positive[rows].sum() == 100
    picked = np.sort(score[rows[~positive[rows]]])
    assert np.diff(picked).max() <= 11
    assert np.diff(picked).min() >= 8


def test_no_square_of_the_features_when_they_are_many():
    X, positive = design(30, 20000)
    model = RidgeClassifier().fit(X, positive)
    fit = penalised_fit(model, X, positive)
    tracemalloc.start()
    leave_pair_out(X, positive, fit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * X.nbytes


# ----------------------------------------------------------------------- ray, gradient


@pytest.mark.parametrize("factor", [1e-9, 0.3, 1.0, 50.0, 1e7])
@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
def test_ray_brings_a_rescaled_rule_back(loss, factor):
    X, positive = design(40, 4)
    model = {
        "logistic": LogisticRegression(tol=1e-10, max_iter=1000),
        "squared": RidgeClassifier(),
        "squared_hinge": LinearSVC(tol=1e-10, max_iter=10**6),
    }[loss].fit(X, positive)
    fit = penalised_fit(model, X, positive)
    back = on_its_ray(X, positive, replace(fit, w=factor * fit.w, intercept=9.0))
    np.testing.assert_allclose(back.w, fit.w, rtol=1e-5)
    assert back.intercept == pytest.approx(fit.intercept, rel=1e-4, abs=1e-6)
    assert stationarity(X, positive, back) < 1e-4


def test_a_trained_rule_is_taken_as_it_is_and_a_rescaled_one_put_back():
    X, positive = design(40, 4)
    fit = penalised_fit(LogisticRegression(tol=1e-10).fit(X, positive), X, positive)
    near, gradient = nearest_optimum(X, positive, fit, enough=0.01)
    assert near is fit
    assert gradient == stationarity(X, positive, fit) < 1e-4
    rescaled = replace(fit, w=3 * fit.w)
    near, gradient = nearest_optimum(X, positive, rescaled, enough=0.01)
    np.testing.assert_allclose(near.w, fit.w, rtol=1e-5)
    assert gradient == stationarity(X, positive, near) < 1e-4


@pytest.mark.parametrize("n", [300, 9000])
def test_gradient_in_units_of_its_random_walk(n):
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((n, 5)) * [1, 10, 0.1, 5, 2] + 3, rng.standard_normal(5)
    positive = rng.random(n) < 0.4
    fit = PenalisedFit("logistic", 2.0, np.full(n, 1.5), 0.1 * w, -0.2, np.inf)
    g = 1.5 * (expit(X @ fit.w - 0.2) - positive)
    centred = X - X.mean(axis=0)
    force = g**2 + 1.5**2 * 1e-6 * n  # what a solver leaves
    walk = force @ centred**2 - (force @ centred) ** 2 / force.sum()
    gradient = g @ centred + 2.0 * fit.w
    expected = np.sqrt(np.mean(gradient**2 / walk))
    # of 9000 rows every tenth tells the walk
    rtol = 1e-9 if n == 300 else 0.05
    assert stationarity(X, positive, fit) == pytest.approx(expected, rel=rtol)


def test_logistic_loss_keeps_its_digits_at_both_ends():
    z = np.array([-800.0, -40.0, -1e-9, 0.0, 2.0, 40.0, 800.0])
    for positive in (True, False):
        mask, u = np.full(len(z), positive), z if positive else -z
        g, curvature = loss_derivatives("logistic", z, mask, 2.0)
        sign = -1 if positive else 1
        np.testing.assert_allclose(g, sign * 2 * expit(-u), rtol=1e-14)
        np.testing.assert_allclose(curvature, 2 * expit(u) * expit(-u), rtol=1e-14)
        for one, label in zip(z, mask, strict=True):
            value = loss_value("logistic", np.array([one]), np.array([label]), 2.0)
            at = one if label else -one
            assert value == pytest.approx(2 * np.logaddexp(0, -at), rel=1e-14)


def test_ray_of_a_rule_that_points_backwards_is_empty():
    X, positive = design(40, 4)
    fit = penalised_fit(RidgeClassifier().fit(X, positive), X, positive)
    back = on_its_ray(X, positive, replace(fit, w=-fit.w))
    assert not back.w.any()


# -------------------------------------------------------------------------- edge cases


def test_zero_weight_is_a_row_gone():
    X, positive = design(24, 3)
    weight = np.ones(24)
    weight[5] = 0
    model = RidgeClassifier().fit(X, positive, sample_weight=weight)
    keep = weight > 0
    a = leave_pair_out_estimate(model, X, positive, weight)
    b = leave_pair_out_estimate(model, X[keep], positive[keep])
    assert a.smooth_auc == pytest.approx(b.smooth_auc, rel=1e-12)


@pytest.mark.parametrize("name", ["negative", "positive"])
@pytest.mark.parametrize("weight", [None, "none", "less", "more"])
def test_one_row_in_a_class_is_refused(weight, name):
    """Nothing is left of it; on noise the estimate used to be .92 on average."""
    X, positive = design(12, 3, share=2 / 12)
    first, _ = np.flatnonzero(positive)
    if weight is None:  # one row
        X, positive = np.delete(X, first, axis=0), np.delete(positive, first)
    else:  # one row that counts, and not twice
        weight = {"none": 1.0, "less": 0.03, "more": 1.9}[weight] * np.ones(12)
        weight[first] = 0.0
    positive = positive if name == "positive" else ~positive
    fit = squared_fit(X, positive, weight)
    message = f"at least 2 rows of each class .* got 1 in the {name} class"
    with pytest.raises(ValueError, match=message):
        leave_pair_out(X, positive, fit, weight)
    with pytest.raises(ValueError, match=message):
        ridge_path(X, positive, weight)
    model = RidgeClassifier().fit(X, positive, sample_weight=weight)
    assert leave_pair_out_estimate(model, X, positive, weight) is None
    for model in (LinearDiscriminantAnalysis(), LogisticRegression()):
        assert (
            leave_pair_out_estimate(model.fit(X, positive), X, positive, weight) is None
        )


def test_one_row_that_counts_twice_is_two_rows():
    X, positive = design(12, 3, share=1 / 12)
    weight = np.where(positive, 2.0, 1.0)
    twice = np.repeat(X, weight.astype(int), axis=0)
    both = np.repeat(positive, weight.astype(int))
    one = leave_pair_out(X, positive, squared_fit(X, positive, weight), weight)
    two = leave_pair_out(twice, both, squared_fit(twice, both))
    assert one.auc == pytest.approx(two.auc, rel=1e-9)
    assert one.smooth_auc == pytest.approx(two.smooth_auc, rel=1e-9)


def squared_fit(X, positive, weight=None):
    model = RidgeClassifier().fit(X, positive, sample_weight=weight)
    return penalised_fit(model, X, positive, weight)


def test_two_and_two():
    X, positive = design(4, 3)
    estimate = leave_pair_out_estimate(RidgeClassifier().fit(X, positive), X, positive)
    expected = ridge_margins(X, 2.0 * positive - 1, positive, 1.0, np.ones(4))
    assert estimate.auc == counted(expected)


def test_equal_rows_are_ties():
    X = np.repeat([[0.0], [1.0]], 6, axis=0)
    positive = np.tile([True, False], 6)
    model = RidgeClassifier(alpha=1e-3).fit(X, positive)
    margin = ridge_margins(X, 2.0 * positive - 1, positive, 1e-3, np.ones(12))
    fit = PenalisedFit("squared", 1e-3, np.ones(12), np.ravel(model.coef_), 0.0, np.inf)
    # Refits without a pair of the same row rank it a tie: both rows are equal.
    assert np.sum(margin == 0) == 18
    assert leave_pair_out(X, positive, fit).auc == counted(np.round(margin, 12))


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("alpha", [1.0, 1e-9, 1e-12])
def test_equal_rows_are_ties_whatever_the_penalty_leaves(alpha, make):
    """A weak penalty costs margins their digits; behind a rotation rows round too."""
    rng = np.random.default_rng(0)
    flowers = rng.integers(0, 5, size=(40, 2)) / 7.0
    positive = np.arange(40) % 2 == 0
    same = (flowers[positive][:, None] == flowers[~positive]).all(axis=2)
    assert 5 < same.sum() < 40
    sign = 2.0 * positive - 1
    margin = ridge_margins(flowers, sign, positive, alpha, np.ones(40))
    expected = np.where(same, 0.5, margin > 0).mean()
    rotation = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    for X, y in (
        (flowers, positive),
        (flowers @ rotation, positive),
        (1e3 * (flowers @ rotation)[::-1], positive[::-1]),
    ):
        penalty = alpha * (X**2).sum() / (flowers**2).sum()
        model = RidgeClassifier(alpha=penalty, solver="svd").fit(X, y)
        fit = penalised_fit(model, X, y)
        assert leave_pair_out(make(X), y, fit).auc == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "n", "P", "margins", "expected"),
    [
        # logistic: all rows on their side, however near, and fewer features than rows
        ("logistic", 10, 8, [0.1, 2.0], True),
        ("logistic", 10, 9, [0.1, 2.0], False),
        ("logistic", 10, 8, [0.1, -2.0], False),
        ("logistic", 10, 8, [0.5, 0.6], True),
        # squared hinge: so, or hardly more rows inside the margin than features
        ("squared_hinge", 10, 14, [0.1, 2.0], True),
        ("squared_hinge", 10, 15, [0.1, 2.0], False),
        ("squared_hinge", 10, 2, [-0.5] * 4 + [3.0] * 6, True),
        ("squared_hinge", 10, 2, [-0.5] * 5 + [3.0] * 5, False),
        ("squared_hinge", 10, 2, [-0.5] + [0.9] * 3 + [1.5] * 6, True),
        ("squared_hinge", 10, 2, [-0.5] + [0.9] * 4 + [1.5] * 5, False),
        ("squared_hinge", 10, 2, [0.1] * 10, True),
        ("squared", 10, 2, [0.1, 2.0], False),
    ],
)
def test_which_rows_leave_too_little_curvature_for_a_step(
    loss, n, P, margins, expected
):
    positive = np.arange(len(margins)) % 2 == 0
    fit = PenalisedFit(loss, 1.0, np.ones(n), np.ones(P), 0.0, np.inf)
    z = np.where(positive, 1, -1) * np.array(margins)
    assert bool(lpo._step_misleads(fit, z, positive, (n, P))) is expected


@pytest.mark.parametrize("scaling", [np.inf, 1.0, 0.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_gradient_over_its_random_walk_slowly(scaling, form):
    """Root mean square of ``Σ g_i x_i + λw`` over ``Σ g_i²(x_i − x̄)²``, x̄ by g²."""
    rng = np.random.default_rng(6)
    X, positive = rng.normal([0.0, 2.0, -1.0], size=(40, 3)), np.arange(40) < 15
    c = rng.uniform(0.5, 2.0, 40)
    fit = PenalisedFit("logistic", 1.7, c, np.array([0.3, -0.2, 0.1]), 0.2, scaling)
    unit = c.mean()
    z = X @ fit.w + 0.2
    g = c / unit * (expit(z) - positive)
    force = g**2 + _SOLVED**2 * c.sum() / unit
    ratios = []
    for j in range(3):
        x = X[:, j]
        mean = np.average(x, weights=force) if scaling else 0.0
        walk = np.sum(force * (x - mean) ** 2)
        origin = x.mean() if scaling == np.inf else 0.0
        gradient = np.sum(g * (x - origin)) + 1.7 / unit * fit.w[j]
        ratios.append(gradient**2 / walk)
    expected = np.sqrt(np.mean(ratios))
    assert stationarity(form(X), positive, fit) == pytest.approx(expected, rel=1e-9)
