"""The ROC curve of LDA against the paper's formulas, quadrature and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from sklearn.covariance import OAS
from sklearn.datasets import load_iris

from skauc import LinearDiscriminantROC, QuadraticDiscriminantROC


def two_normals(n_neg=300, n_pos=120, P=4, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(P, P))
    X = rng.normal(size=(n_neg + n_pos, P)) @ A + 3
    X[n_neg:] += rng.normal(size=P)
    return X, np.repeat([0, 1], [n_neg, n_pos])


def pooled(X, y):
    centred = np.vstack([X[y == c] - X[y == c].mean(0) for c in np.unique(y)])
    return centred.T @ centred / (len(y) - len(np.unique(y)))


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("distance", [1.0, 0.01])
def test_auc_is_the_mahalanobis_distance(solver, distance):
    X, y = two_normals()
    X[y == 1] -= (1 - distance) * (X[y == 1].mean(0) - X[y == 0].mean(0))
    model = LinearDiscriminantROC(solver=solver).fit(X, y)
    d = X[y == 1].mean(0) - X[y == 0].mean(0)
    delta = np.sqrt(d @ np.linalg.solve(pooled(X, y), d))
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
    gamma = np.sqrt(alpha @ pooled(X, y) @ alpha)
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


def test_pairs_of_three_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = LinearDiscriminantROC(priors=[0.5, 0.3, 0.2]).fit(X, names)
    assert list(model.pairwise_roc_) == [("a", "b"), ("a", "c"), ("b", "c")]
    sigma = pooled(X, y)
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


def test_errors():
    X, y = two_normals()
    with pytest.raises(
        ValueError, match=r"at least 2 classes, got only 1 class, \[0.0\]"
    ):
        LinearDiscriminantROC().fit(X, np.zeros(len(y)))


@pytest.mark.parametrize("kind", [LinearDiscriminantROC, QuadraticDiscriminantROC])
def test_bad_labels_priors_and_sizes_are_named(kind):
    X, y = two_normals()
    mixed = np.array([None, "a"], object)[y.astype(int)]
    with pytest.raises(ValueError, match="inhomogeneous shape") as ragged:
        LinearDiscriminantROC().fit([[0.5], 0.25, []], [0, 1, 1])
    assert "sklearn" in str(ragged.traceback[-1].path)  # the parent's own words
    with pytest.raises(ValueError, match="y must hold class labels.* missing value"):
        kind().fit(X, mixed)
    arrays = np.empty(len(X), object)
    arrays[:] = [np.array([0.5, 0.5]), *(int(label) for label in y[1:])]
    with pytest.raises(ValueError, match="y must hold class labels"):
        kind().fit(X, arrays)
    with pytest.raises(
        ValueError, match=r"priors must be non-negative .* got \[-1, 2\]"
    ):
        kind(priors=[-1, 2]).fit(X, y)
    for priors in ([1.0], {}, "x"):
        with pytest.raises(ValueError, match="priors must"):
            kind(priors=priors).fit(X, y)
    with pytest.raises(ValueError, match=r"got .*e\+15\d in feature 0"):
        kind().fit(X * 1e150, y)


def test_numbers_as_text_or_in_single_precision():
    X, y = two_normals()
    X = X.round(3)
    expected = LinearDiscriminantROC().fit(X, y).auc_
    frame = pytest.importorskip("pandas").DataFrame(X.astype(str))
    for same in (X.astype("U"), X.astype("U").astype(object), frame):
        assert LinearDiscriminantROC().fit(same, y).auc_ == pytest.approx(expected)
    single = LinearDiscriminantROC().fit(X.astype("f4"), y)
    assert single.auc_ == pytest.approx(expected, rel=1e-6)


def test_a_prior_of_zero_has_the_curve_of_the_projection():
    X, y = two_normals()
    with np.errstate(divide="ignore"):
        model = LinearDiscriminantROC(solver="lsqr", priors=[0.0, 1.0]).fit(X, y)
    score = X @ model.coef_[0]
    assert model.roc_.mean_neg == pytest.approx(score[y == 0].mean())
    assert model.roc_.mean_pos == pytest.approx(score[y == 1].mean())
