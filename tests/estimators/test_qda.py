"""QDA's curve: what its scores do in the fitted classes, and the parent untouched."""

from inspect import signature
from statistics import NormalDist

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from skauc import QuadraticDiscriminantROC
from skauc.results import BinormalROC

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


@pytest.mark.slow
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


@pytest.mark.parametrize("reg_param", [0.99, 0.5, 1e-3])
def test_auc_of_one_feature_by_quadrature(reg_param):
    """Small samples, whose supports end near a threshold of the curve."""
    for seed in range(1, 5):
        X = np.random.default_rng(seed).normal(size=(40, 1))
        model = QuadraticDiscriminantROC(reg_param=reg_param).fit(X, np.arange(40) % 2)
        laws = []
        for rows in (X[::2], X[1::2]):
            law = NormalDist(rows.mean(), np.sqrt(parents_covariance(rows)[0, 0]))
            laws.append(law)
        # quantiles of both classes at the middles of many equal shares
        q = (np.arange(4000) + 0.5) / 4000
        scores = [
            model.decision_function(np.reshape([law.inv_cdf(p) for p in q], (-1, 1)))
            for law in laws
        ]
        expected = np.searchsorted(np.sort(scores[0]), scores[1]).mean() / len(q)
        assert model.auc_ == pytest.approx(expected, abs=2e-3)
