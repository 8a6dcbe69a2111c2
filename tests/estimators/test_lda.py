"""The ROC curve of LDA against the paper's formulas, quadrature and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from skauc import (
    LinearDiscriminantROC,
    QuadraticDiscriminantROC,
    ResubstitutionSplit,
    cbauc_scorer,
)
from skauc.estimators import _lda


def two_normals(n_neg=300, n_pos=120, P=4, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(P, P))
    X = rng.normal(size=(n_neg + n_pos, P)) @ A + 3
    X[n_neg:] += rng.normal(size=P)
    return X, np.repeat([0, 1], [n_neg, n_pos])


def pooled(X, y, denominator):
    centred = np.vstack([X[y == c] - X[y == c].mean(0) for c in np.unique(y)])
    K = len(np.unique(y)) if denominator == "unbiased" else 0
    return centred.T @ centred / (len(y) - K)


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("denominator", ["unbiased", "ml"])
def test_auc_is_the_mahalanobis_distance(solver, denominator):
    X, y = two_normals()
    model = LinearDiscriminantROC(solver=solver, denominator=denominator).fit(X, y)
    d = X[y == 1].mean(0) - X[y == 0].mean(0)
    delta = np.sqrt(d @ np.linalg.solve(pooled(X, y, denominator), d))
    assert model.auc_ == pytest.approx(ndtr(delta / np.sqrt(2)), rel=1e-10)
    assert model.roc_.youden().j == pytest.approx(2 * ndtr(delta / 2) - 1, rel=1e-10)
    # Trap: this decision function contains the log odds of the classes.
    assert model.youden_threshold_ == pytest.approx(np.log(120 / 300), abs=1e-9)


@pytest.mark.parametrize(
    "params",
    [
        {"solver": "lsqr", "shrinkage": 0.4},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "lsqr", "covariance_estimator": OAS()},
        {"priors": [0.9, 0.1]},
    ],
)
def test_papers_curve_through_the_projection(params):
    X, y = two_normals(seed=1)
    model = LinearDiscriminantROC(**params).fit(X, y)
    alpha, beta = model.coef_[0], model.intercept_[0]
    mean = [X[y == c].mean(0) for c in (0, 1)]
    gamma = np.sqrt(alpha @ pooled(X, y, "unbiased") @ alpha)
    thresholds = np.linspace(-10, 10, 41)
    for rate, mu in ((model.roc_.fpr, mean[0]), (model.roc_.tpr, mean[1])):
        expected = ndtr((alpha @ mu + beta - thresholds) / gamma)
        assert rate(thresholds) == pytest.approx(expected, rel=1e-9)
    area, _ = quad(model.roc_.roc, 0, 1, epsabs=1e-10, limit=500)
    assert model.auc_ == pytest.approx(area, abs=1e-8)
    # Halfway between the classes' mean decisions, whatever the shrinkage and priors.
    decision = model.decision_function(X)
    middle = (decision[y == 0].mean() + decision[y == 1].mean()) / 2
    assert model.youden_threshold_ == pytest.approx(middle, rel=1e-9)


def test_paper_quadrature_loses_what_the_closed_form_keeps():
    X, y = two_normals(seed=2)
    roc = LinearDiscriminantROC().fit(X, y).roc_
    fpr = np.linspace(0.001, 0.999, 1000)
    trapezoid = np.sum(np.diff(fpr) * (roc.roc(fpr)[1:] + roc.roc(fpr)[:-1]) / 2)
    assert 1e-4 < roc.auc - trapezoid < 5e-3


def test_large_samples_reach_the_empirical_auc():
    X, y = two_normals(60_000, 40_000, seed=3)
    model = LinearDiscriminantROC().fit(X, y)
    # Both errors are about √(A(1 − A)/n) = 0.002.
    assert model.auc_ == pytest.approx(
        roc_auc_score(y, model.decision_function(X)), abs=0.004
    )


def test_pairs_of_three_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = LinearDiscriminantROC(priors=[0.5, 0.3, 0.2]).fit(X, names)
    assert list(model.pairwise_roc_) == [("a", "b"), ("a", "c"), ("b", "c")]
    sigma = pooled(X, y, "unbiased")
    F = model.decision_function(X)
    for (i, j), roc in zip(
        [(0, 1), (0, 2), (1, 2)], model.pairwise_roc_.values(), strict=True
    ):
        d = X[y == j].mean(0) - X[y == i].mean(0)
        delta = np.sqrt(d @ np.linalg.solve(sigma, d))
        assert roc.auc_probit == pytest.approx(delta / np.sqrt(2), rel=1e-8)
        assert roc.mean_pos == pytest.approx((F[:, j] - F[:, i])[y == j].mean())
        log_odds = np.log(model.priors_[j] / model.priors_[i])
        assert roc.youden().threshold == pytest.approx(log_odds, abs=1e-8)
    areas = [roc.auc for roc in model.pairwise_roc_.values()]
    assert model.auc_ == pytest.approx(np.mean(areas))
    assert not hasattr(model, "roc_")


# Law and edge -------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_parent_is_untouched(solver):
    X, y = load_breast_cancer(return_X_y=True)
    ours = LinearDiscriminantROC(solver=solver).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    assert np.array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert set(theirs.get_params()) | {"denominator"} == set(ours.get_params())


def test_refit_with_more_classes_forgets_the_curve():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantROC().fit(X[:100], y[:100])
    assert hasattr(model, "roc_")
    assert not hasattr(model.fit(X, y), "roc_")


def test_grid_search_over_shrinkage_without_folds():
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(
        LinearDiscriminantROC(solver="lsqr"),
        {"shrinkage": [None, 0.1, 0.5]},
        scoring=cbauc_scorer,
        cv=ResubstitutionSplit(),
    ).fit(X, y)
    assert 0.9 < search.best_score_ < 1


def test_errors():
    X, y = two_normals()
    with pytest.raises(ValueError, match=r"denominator must be one of .* got 'n'"):
        LinearDiscriminantROC(denominator="n").fit(X, y)
    with pytest.raises(
        ValueError, match=r"at least 2 classes, got only 1 class, \[0.0\]"
    ):
        LinearDiscriminantROC().fit(X, np.zeros(len(y)))


def test_transform_and_frames():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(as_frame=True, return_X_y=True)
    model = LinearDiscriminantROC().set_output(transform="pandas").fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    assert isinstance(model.transform(X), pd.DataFrame)


@pytest.mark.parametrize("kind", ["int", "bool", "f4", "object"])
def test_rows_of_any_number_kind(kind):
    X = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(kind)
    y = np.arange(60) % 2
    expected = LinearDiscriminantROC().fit(X.astype(float), y)
    assert LinearDiscriminantROC().fit(X, y).auc_ == pytest.approx(
        expected.auc_, rel=1e-4
    )


@pytest.mark.parametrize("kind", [LinearDiscriminantROC, QuadraticDiscriminantROC])
def test_bad_labels_priors_and_sizes_are_named(kind):
    X, y = two_normals()
    mixed = np.array([None, "a"], object)[y.astype(int)]
    with pytest.raises(ValueError, match="inhomogeneous shape") as ragged:
        LinearDiscriminantROC().fit([[0.5], 0.25, []], [0, 1, 1])
    assert "sklearn" in str(ragged.traceback[-1].path)  # the parent's own words
    with pytest.raises(ValueError, match=r"y must hold labels of one kind .* \[None\]"):
        kind().fit(X, mixed)
    arrays = np.empty(len(X), object)
    arrays[:] = [np.array([0.5, 0.5]), *(int(label) for label in y[1:])]
    with pytest.raises(ValueError, match=r"y must hold labels of one kind .* \[array"):
        kind().fit(X, arrays)
    with pytest.raises(ValueError, match=r"priors must be non-negative, got \[-1, 2\]"):
        kind(priors=[-1, 2]).fit(X, y)
    for priors in ([1.0], {}, "x"):
        with pytest.raises(ValueError, match="priors must hold a number >= 0 for each"):
            kind(priors=priors).fit(X, y)
    with pytest.raises(ValueError, match=r"got .*e\+15\d in feature 0"):
        kind().fit(X * 1e150, y)


def test_what_lies_far_from_zero():
    """A hundred thousand spreads of what varies, in any unit."""
    near, model = np.random.default_rng(0).normal(size=(20, 3)), LinearDiscriminantROC()
    last = np.array([0.0, 0.0, 1.0])
    for unit in (1e-9, 1.0, 1e9):
        assert not model._lies_far(unit * (near + 1e4 * last))
        assert model._lies_far(unit * (near + 1e6 * last))
    assert not model._lies_far(near * [1, 1, 0] + [0, 0, 0.1])


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (20, {"solver": "lsqr", "covariance_estimator": OAS()}),
        (6, {"solver": "lsqr", "shrinkage": 0.5}),  # fewer rows than features
    ],
    ids=["covariance estimator", "few rows"],
)
def test_what_has_no_moments_to_fit_from_is_left_to_the_parent(n, options):
    rng = np.random.default_rng(0)
    X, y = 1e7 + rng.normal(size=(n, 9)), np.arange(n) % 2
    found = LinearDiscriminantROC(**options).fit(X, y)
    parent = LinearDiscriminantAnalysis(**options).fit(X, y)
    np.testing.assert_array_equal(found.coef_, parent.coef_)


def test_one_column_of_numbers_is_refused_as_by_the_parent():
    with pytest.raises(ValueError, match="2D array, got 1D|Expected 2D"):
        LinearDiscriminantROC().fit(np.arange(6.0) + 1e9, [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_two_rows_are_too_few_wherever_they_lie(offset):
    with pytest.raises(ValueError, match="more than the number of classes"):
        LinearDiscriminantROC().fit(offset + np.array([[0.0], [1.0]]), [0, 1])


def test_rows_without_spread_are_named():
    X, y = two_normals()
    with pytest.raises(ValueError, match=r"X must vary within the classes .* rank 0"):
        LinearDiscriminantROC(tol=2.0).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("twin", [False, True])
def test_kept_moments_are_those_of_the_projected_rows(n_classes, twin):
    rng = np.random.default_rng(3)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 4)) + y[:, None] * [1, 0, 0.5, 0] + [0, 7, 0, 1e3]
    if twin:  # αᵀΣα is a small difference of large terms: the rows are projected
        X[:, 3] = X[:, 0] + 1e-6 * rng.normal(size=90)
    model = LinearDiscriminantROC(solver="lsqr").fit(X, y)
    kept = model._score_moments()
    assert (kept is None) is twin
    scores = X @ model.coef_.T
    parts = [scores[y == k] for k in range(n_classes)]
    pooled = sum((len(s) - 1) * np.atleast_2d(np.cov(s.T)) for s in parts) / 90
    if not twin:
        means = [s.mean(axis=0) for s in parts]
        np.testing.assert_allclose(kept[0], means, rtol=1e-10)
        np.testing.assert_allclose(kept[1], pooled, rtol=1e-9, atol=1e-12)
    roc = model.pairwise_roc_[0, 1]
    t = np.array([1.0]) if n_classes == 2 else np.array([-1.0, 1.0, 0.0])
    deviation = np.sqrt(t @ pooled @ t * 90 / (90 - n_classes))
    assert roc.std_neg == pytest.approx(deviation, rel=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("divides_by_n", [False, True])
def test_whitened_moments_are_those_of_the_projected_rows(
    n_classes, weighted, divides_by_n, monkeypatch
):
    rng = np.random.default_rng(3)
    y, shares = np.arange(91) % n_classes, np.arange(1.0, n_classes + 1)
    X = rng.normal(size=(91, 6)) + y[:, None] * [1, 0, 0.5, 0, 0, 0]
    X += [0, 7, 0, 90, 0, 0]
    X[:, 4], X[:, 5] = 3.0, X[:, 0] - X[:, 1]  # of rank four
    priors = shares / shares.sum() if weighted else None
    model = LinearDiscriminantROC(priors=priors).fit(X, y)
    if divides_by_n is not _lda.parent_divides_by_n("svd"):  # as in other releases
        ratio = (1 - n_classes / 91) ** (1 if not divides_by_n else -1)
        model.scalings_, model.coef_ = model.scalings_ * ratio**0.5, model.coef_ * ratio
        monkeypatch.setattr(_lda, "parent_divides_by_n", lambda solver: divides_by_n)
    parts = [X[y == k] @ model.coef_.T for k in range(n_classes)]
    scatter = sum((len(s) - 1) * np.atleast_2d(np.cov(s.T)) for s in parts)
    means, covariance = model._whitened_moments(91)
    expected = [s.mean(axis=0) for s in parts]
    np.testing.assert_allclose(means, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(covariance, scatter / 91, rtol=1e-11)


def test_rows_are_projected_where_whitening_may_keep_no_digits():
    X, y = two_normals()
    model = LinearDiscriminantROC(tol=1e-5).fit(X, y)
    assert model._whitened_moments(len(y)) is None
    expected = LinearDiscriminantROC().fit(X, y)
    assert model.roc_.std_neg == pytest.approx(expected.roc_.std_neg, rel=1e-10)
    assert LinearDiscriminantROC(solver="lsqr").fit(X, y)._whitened_moments(9) is None


@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_sizes_are_looked_at_after_the_fit_as_well(size):
    X = np.random.default_rng(0).normal(size=(20, 3)) * [1, size, 1]
    with pytest.raises(ValueError, match=r"between 1e-70 and 1e\+70 in size"):
        LinearDiscriminantROC(solver="lsqr").fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_classes_that_hardly_differ_have_a_small_deviation(solver):
    # The scores' variance is the squared distance of the means: here below .1
    X, y = two_normals()
    X[y == 1] += X[y == 0].mean(0) - X[y == 1].mean(0) + 0.1 * X.std(0)
    model = LinearDiscriminantROC(solver=solver).fit(X, y)
    gap = X[y == 1].mean(0) - X[y == 0].mean(0)
    distance = np.sqrt(gap @ np.linalg.solve(pooled(X, y, "unbiased"), gap))
    assert distance < 0.3
    assert model.auc_ == pytest.approx(ndtr(distance / np.sqrt(2)), rel=1e-9)


def test_a_prior_of_zero_has_the_curve_of_the_projection():
    X, y = two_normals()
    with np.errstate(divide="ignore"):
        model = LinearDiscriminantROC(solver="lsqr", priors=[0.0, 1.0]).fit(X, y)
    score = X @ model.coef_[0]
    assert model.roc_.mean_neg == pytest.approx(score[y == 0].mean())
    assert model.roc_.mean_pos == pytest.approx(score[y == 1].mean())


def test_least_squares_by_svd_cannot_shrink(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"shrinkage must be None .*, got 0\.5; take"):
        LinearDiscriminantROC(shrinkage=0.5).fit(X, y)
