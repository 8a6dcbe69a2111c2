"""QDA's curve: what its scores do in the fitted classes, and the parent untouched."""

import pickle
from inspect import signature

import numpy as np
import pytest
from scipy import linalg
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from skauc import BinormalROC, QuadraticDiscriminantROC

HAS_EIGEN = "solver" in signature(QuadraticDiscriminantAnalysis).parameters


def two_classes(n_neg=300, n_pos=120, P=3, seed=0):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, P, P))
    neg = rng.normal(size=(n_neg, P)) @ A + 3
    pos = rng.normal(size=(n_pos, P)) @ B + 3 + rng.normal(size=P)
    return np.vstack([neg, pos]), np.repeat([0, 1], [n_neg, n_pos])


def parents_covariance(X):
    """Covariance of a class as the parent divides it: by n_c − 1, later by n_c."""
    rows = np.vstack([X, X + 1e3])
    y = np.repeat([0, 1], len(X))
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(rows, y)
    return model.covariance_[0]


def expected_score(model, X):
    """Mean of the score in a normal class with the moments of the rows X.

    A quadratic f has ``E f = f(m) + (mean of f over the rows − f(m)) n/ddof``, for the
    rows' mean deviation from m is 0.
    """
    ratio = parents_covariance(X)[0, 0] / np.cov(X.T, ddof=0)[0, 0]
    centre = model.decision_function([X.mean(axis=0)])[0]
    return centre + (model.decision_function(X).mean() - centre) * ratio


# Oracle -------------------------------------------------------------------------------


def test_two_million_rows_of_each_fitted_class():
    X, y = two_classes(60, 40, P=2, seed=5)
    model = QuadraticDiscriminantROC(store_covariance=True, priors=[0.7, 0.3]).fit(X, y)
    rng, block, blocks = np.random.default_rng(0), 500_000, 4
    t = model.roc_.threshold([0.5, 0.1, 0.01])
    roots = [np.linalg.cholesky(covariance).T for covariance in model.covariance_]
    above, wins = np.zeros((2, len(t))), 0
    for _ in range(blocks):
        scores = [
            model.decision_function(mean + rng.standard_normal((block, 2)) @ root)
            for mean, root in zip(model.means_, roots, strict=True)
        ]
        above += [(score[:, None] > t).sum(axis=0) for score in scores]
        wins += np.sum(scores[1] > scores[0])
    n = block * blocks
    rates = np.array([model.roc_.fpr(t), model.roc_.tpr(t)])
    assert np.all(np.abs(above / n - rates) < 4.5 * np.sqrt(rates * (1 - rates) / n))
    auc = model.auc_
    assert abs(wins / n - auc) < 4.5 * np.sqrt(auc * (1 - auc) / n)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"priors": [0.9, 0.1]},
        {"reg_param": 0.3},
        {"reg_param": 0.3, "priors": [0.2, 0.8]},
        pytest.param(
            {"solver": "eigen", "shrinkage": 0.4},
            marks=pytest.mark.skipif(not HAS_EIGEN, reason="scikit-learn < 1.8"),
        ),
        pytest.param(
            {"solver": "eigen"},
            marks=pytest.mark.skipif(not HAS_EIGEN, reason="scikit-learn < 1.8"),
        ),
    ],
    ids=str,
)
def test_mean_score_of_each_class(params):
    """Exact: rule with the parent's covariances, classes with the unshrunk ones."""
    X, y = two_classes(P=4, seed=1)
    model = QuadraticDiscriminantROC(**params).fit(X, y)
    for law, rows in ((model.roc_.neg, X[y == 0]), (model.roc_.pos, X[y == 1])):
        if params.get("solver") == "eigen":  # divides by n_c: the mean of the rows
            expected = model.decision_function(rows).mean()
        else:
            expected = expected_score(model, rows)
        assert law.mean() == pytest.approx(expected, rel=1e-9)
    assert model.roc_.is_proper == (not {"reg_param", "shrinkage"} & set(params))


@pytest.mark.parametrize("reg_param", [0.0, 0.2, 1.0])
def test_large_samples_reach_the_empirical_auc(reg_param):
    X, y = two_classes(60_000, 40_000, seed=3)
    model = QuadraticDiscriminantROC(reg_param=reg_param).fit(X, y)
    score = model.decision_function(X)
    # Both errors are about √(A(1 − A)/n) = 0.002.
    assert model.auc_ == pytest.approx(roc_auc_score(y, score), abs=0.004)
    fpr, tpr, j = model.roc_.youden()[1:]
    t = model.youden_threshold_
    assert fpr == pytest.approx(np.mean(score[y == 0] > t), abs=0.01)
    assert tpr == pytest.approx(np.mean(score[y == 1] > t), abs=0.01)
    grid = np.quantile(score, np.linspace(0.01, 0.99, 99))
    assert j >= np.max(model.roc_.tpr(grid) - model.roc_.fpr(grid)) - 1e-12


def test_youden_is_the_log_odds():
    X, y = two_classes()
    model = QuadraticDiscriminantROC().fit(X, y)
    assert model.youden_threshold_ == pytest.approx(np.log(120 / 300), rel=1e-12)
    weighted = QuadraticDiscriminantROC(priors=[0.25, 0.75]).fit(X, y)
    assert weighted.youden_threshold_ == pytest.approx(np.log(3), rel=1e-12)
    assert weighted.auc_ == pytest.approx(model.auc_, rel=1e-10)


def test_equal_covariances_are_the_linear_curve():
    rng = np.random.default_rng(2)
    neg, d = (
        rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)),
        np.array([1, -0.3, 0.5]),
    )
    X, y = np.vstack([neg, neg + d]), np.repeat([0, 1], 50)
    model = QuadraticDiscriminantROC().fit(X, y)
    delta2 = d @ np.linalg.solve(parents_covariance(neg), d)
    linear = BinormalROC(-delta2 / 2, np.sqrt(delta2), delta2 / 2, np.sqrt(delta2))
    assert model.auc_ == pytest.approx(linear.auc, rel=1e-9)
    t = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(model.roc_.fpr(t), linear.fpr(t), rtol=1e-8)
    np.testing.assert_allclose(model.roc_.tpr(t), linear.tpr(t), rtol=1e-8)


def test_pairs_of_three_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    priors = [0.5, 0.3, 0.2]
    model = QuadraticDiscriminantROC(priors=priors).fit(X, names)
    assert list(model.pairwise_roc_) == [("a", "b"), ("a", "c"), ("b", "c")]
    for (i, j), roc in zip(
        [(0, 1), (0, 2), (1, 2)], model.pairwise_roc_.values(), strict=True
    ):
        pair = np.isin(y, [i, j])
        alone = QuadraticDiscriminantROC().fit(X[pair], y[pair])
        assert roc.auc == pytest.approx(alone.auc_, rel=1e-10)
        log_odds = np.log(priors[j] / priors[i])
        assert roc.youden().threshold == pytest.approx(log_odds, rel=1e-12)
        assert roc.youden().j == pytest.approx(alone.roc_.youden().j, rel=1e-10)
    areas = [roc.auc for roc in model.pairwise_roc_.values()]
    assert model.auc_ == pytest.approx(np.mean(areas))
    assert not hasattr(model, "roc_")


# Law ----------------------------------------------------------------------------------


def test_parent_is_untouched():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10] / X[:, :10].std(axis=0)
    ours = QuadraticDiscriminantROC(reg_param=0.1).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    assert np.array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert ours.get_params() == theirs.get_params()
    assert repr(ours) == "QuadraticDiscriminantROC(reg_param=0.1)"
    again = pickle.loads(pickle.dumps(ours))
    assert again.roc_.auc == ours.auc_
    assert clone(ours).get_params() == ours.get_params()


@pytest.mark.parametrize("reg_param", [0.0, 0.3])
def test_swapped_classes_and_labels(reg_param):
    X, y = two_classes()
    model = QuadraticDiscriminantROC(reg_param=reg_param).fit(X, y)
    swapped = QuadraticDiscriminantROC(reg_param=reg_param).fit(
        X, np.array(["pos", "neg"])[y]
    )
    # "neg" comes first: the scores change their sign, and the classes places
    assert swapped.auc_ == pytest.approx(model.auc_, rel=1e-12)
    assert swapped.youden_threshold_ == pytest.approx(
        -model.youden_threshold_, rel=1e-6
    )
    assert list(swapped.pairwise_roc_) == [("neg", "pos")]


def test_affine_map_of_the_features():
    X, y = two_classes()
    A = np.random.default_rng(9).normal(size=(3, 3)) + 3 * np.eye(3)
    model = QuadraticDiscriminantROC().fit(X, y)
    for factor in (1e-3, 1.0, 1e5):
        moved = QuadraticDiscriminantROC(tol=0.0).fit(factor * (X @ A) - 7, y)
        assert moved.auc_ == pytest.approx(model.auc_, rel=1e-8)
        u = np.array([0.01, 0.2, 0.7])
        np.testing.assert_allclose(moved.roc_.roc(u), model.roc_.roc(u), rtol=1e-8)


def test_little_regularisation_is_none():
    X, y = two_classes()
    plain = QuadraticDiscriminantROC().fit(X, y)
    nearly = QuadraticDiscriminantROC(reg_param=1e-10).fit(X, y)
    assert nearly.auc_ == pytest.approx(plain.auc_, rel=1e-8)
    assert nearly.youden_threshold_ == pytest.approx(plain.youden_threshold_, abs=1e-4)
    best = plain.roc_.youden().j  # no rule beats the likelihood ratio
    for reg_param in (0.05, 0.5, 1.0):
        shrunk = QuadraticDiscriminantROC(reg_param=reg_param).fit(X, y)
        # reg_param=1 divides by n_c, whatever the version
        assert shrunk.roc_.youden().j <= best + 1e-3


@pytest.mark.parametrize("scale", [1e-4, 1e-6, 1e-8, 1e-10])
def test_small_units_under_strong_regularisation(scale):
    """Σ of the rule becomes r I: its score is linear, dᵀx, in unshrunk classes."""
    X, y = two_classes(200, 200)
    neg, pos = X[y == 0], X[y == 1]
    d = pos.mean(axis=0) - neg.mean(axis=0)
    total = parents_covariance(neg) + parents_covariance(pos)
    model = QuadraticDiscriminantROC(reg_param=0.1).fit(scale * X, y)
    linear = norm.cdf(d @ d / np.sqrt(d @ total @ d))
    # the rule's own variances are known to rounding beside r only
    assert model.auc_ == pytest.approx(linear, abs=1e-13 + 10 * scale)


# Edge ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_class_without_full_rank():
    X, y = two_classes()
    X[y == 1, 0] = 2.0
    model = QuadraticDiscriminantROC()
    if HAS_EIGEN:
        with pytest.raises(linalg.LinAlgError, match="not full rank"):
            model.fit(X, y)
    else:  # the parent only warns
        model.fit(X, y)
        assert np.isnan(model.auc_)
        assert model.pairwise_roc_ == {}
        assert not hasattr(model, "roc_")
    assert 0.5 < QuadraticDiscriminantROC(reg_param=0.1).fit(X, y).auc_ < 1


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("column", ["constant", "sum"])
def test_tol_of_zero_lets_a_collinear_class_through(column):
    X, y = two_classes()
    X[y == 1, 0] = 2.0 if column == "constant" else X[y == 1, 1] + X[y == 1, 2]
    model = QuadraticDiscriminantROC(tol=0.0)
    try:
        model.fit(X, y)
    except linalg.LinAlgError:  # the variance came out as exactly 0
        assert HAS_EIGEN
        assert column == "constant"
        return
    assert np.isnan(model.auc_)
    assert model.pairwise_roc_ == {}


@pytest.mark.skipif(not HAS_EIGEN, reason="scikit-learn < 1.8")
def test_shrinkage_with_fewer_rows_than_features():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(24, 30)), np.repeat([0, 1], 12)
    X[y == 1] += 0.5
    model = QuadraticDiscriminantROC(solver="eigen", shrinkage="auto").fit(X, y)
    law = model.roc_.neg  # of rank 11
    assert len(law.weights) <= 12
    score = model.decision_function(X)[y == 0]
    assert law.mean() == pytest.approx(score.mean())
    assert 0.5 < model.auc_ <= 1


def test_prior_of_zero():
    X, y = two_classes()
    model = QuadraticDiscriminantROC(priors=[0.0, 1.0])
    with np.errstate(divide="ignore"):
        model.fit(X, y)
    assert model.auc_ == pytest.approx(QuadraticDiscriminantROC().fit(X, y).auc_)
    assert model.youden_threshold_ == 0


def test_refit_with_more_classes_forgets_the_curve():
    X, y = load_iris(return_X_y=True)
    model = QuadraticDiscriminantROC().fit(X[50:], y[50:])
    assert hasattr(model, "roc_")
    assert not hasattr(model.fit(X, y), "roc_")


@pytest.mark.parametrize("kind", ["int", "f4", "object"])
def test_rows_of_any_number_kind(kind):
    X = np.random.default_rng(0).integers(0, 9, (60, 3)).astype(kind)
    y = np.arange(60) % 2
    for reg_param in (0.0, 0.2, 1.0):
        model = QuadraticDiscriminantROC(reg_param=reg_param)
        expected = clone(model).fit(X.astype(float), y)
        assert model.fit(X, y).auc_ == pytest.approx(expected.auc_, rel=1e-4)


def test_frames_and_grid_search():
    pytest.importorskip("pandas")
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    X = X.iloc[:, :5]
    search = GridSearchCV(
        QuadraticDiscriminantROC(), {"reg_param": [0.01, 0.5]}, scoring="roc_auc", cv=3
    ).fit(X, y)
    assert list(search.best_estimator_.feature_names_in_) == list(X.columns)
    assert 0.9 < search.best_estimator_.auc_ < 1


def test_errors_are_the_parents():
    X, y = two_classes()
    with pytest.raises(ValueError, match="class"):
        QuadraticDiscriminantROC().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="reg_param"):
        QuadraticDiscriminantROC(reg_param=2.0).fit(X, y)


@pytest.mark.parametrize("P", [1, 3])
@pytest.mark.parametrize("reg_param", [0.0, 0.1])
def test_classes_of_very_unequal_deviation(P, reg_param):
    """Deviations 1000 and 1 to 10, against half a million drawn pairs."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, P)) * np.repeat([1000.0, 1.0], 200)[:, None]
    X[200:] *= np.linspace(1, 10, P)
    y = np.repeat([0, 1], 200)
    model = QuadraticDiscriminantROC(reg_param=reg_param).fit(X, y)
    scores = [
        model.decision_function(
            rng.multivariate_normal(
                rows.mean(axis=0), np.atleast_2d(np.cov(rows.T)), 500_000
            )
        )
        for rows in (X[:200], X[200:])
    ]
    share = np.mean(scores[1] > scores[0])
    deviation = np.sqrt(model.auc_ * (1 - model.auc_) / 500_000)
    assert 0.5 < model.auc_ <= 1
    assert abs(share - model.auc_) < 5 * deviation + 1e-6
    assert 0 <= model.roc_.youden().j <= 1
    assert 0 <= model.roc_.partial_auc(0.1) <= 0.1
