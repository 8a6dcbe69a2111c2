"""The Gaussian-AUC classifier against a generic optimiser and published numbers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import skauc
from skauc import GaussianAUCClassifier


def two_normals(n=150, P=5, seed=0):
    """Two classes with different, correlated covariances."""
    rng = np.random.default_rng(seed)
    neg = rng.normal(size=(n, P)) @ rng.normal(size=(P, P))
    pos = rng.normal(size=(n // 2, P)) @ rng.normal(size=(P, P)) + rng.normal(size=P)
    return np.vstack([neg, pos]), np.repeat([0, 1], [n, n // 2])


def maximise_as_published(X, y, start=None):
    """``optim(BFGS)`` on −Φ(r) with the analytic gradient: Ghanbari & Scheinberg."""
    neg, pos = X[y == y.min()], X[y == y.max()]
    mu, sigma = pos.mean(0) - neg.mean(0), np.cov(neg.T) + np.cov(pos.T)

    def loss(theta):
        s = np.sqrt(theta @ sigma @ theta)
        r = theta @ mu / s
        gradient = np.exp(-(r**2) / 2) / np.sqrt(2 * np.pi)
        return -ndtr(r), -gradient * (mu * s - r * sigma @ theta) / s**2

    start = mu if start is None else start
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x


def angle(a, b):
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return np.linalg.norm(a - b)


def strict_auc(y, score):
    """Share of pairs in the right order, ties counted as errors."""
    gap = score[y == y.max()][:, None] - score[y == y.min()]
    return np.mean(gap > 1e-10)


def virginica():
    X, y = load_iris(return_X_y=True)
    return X[50:, :2], y[50:]


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_direction_is_the_generic_optimisers(seed):
    X, y = two_normals(seed=seed)
    model = GaussianAUCClassifier().fit(X, y)
    # The generic optimiser stops at a gradient of 1e-6.
    assert angle(model.coef_[0], maximise_as_published(X, y)) < 1e-4
    neg, pos = X[y == 0] @ model.coef_[0], X[y == 1] @ model.coef_[0]
    spread = np.sqrt(np.var(neg, ddof=1) + np.var(pos, ddof=1))
    assert model.auc_ == pytest.approx(ndtr((pos.mean() - neg.mean()) / spread))
    assert model.roc_.std_neg == pytest.approx(np.std(neg, ddof=1))


def test_the_post_on_iris():
    # The post counts ties as errors: 0.789; with half for ties both are 0.7918.
    X, y = virginica()
    ours = GaussianAUCClassifier().fit(X, y)
    logistic = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    for model in (ours, logistic):
        assert strict_auc(y, model.decision_function(X)) == pytest.approx(
            0.789, abs=5e-4
        )


@pytest.mark.slow
def test_the_post_leaves_one_out():
    # Its scores are (x/sd)ᵀθ with the length at which BFGS happened to stop: the
    # direction is ours, the length the published procedure's.
    X, y = virginica()
    gaussian, logistic = [], []
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        spread = X[kept].std(axis=0, ddof=1)
        theta = maximise_as_published(X[kept] / spread, y[kept])
        ours = GaussianAUCClassifier().fit(X[kept], y[kept]).coef_[0] * spread
        assert angle(ours, theta) < 1e-4
        ours *= np.linalg.norm(theta) / np.linalg.norm(ours)
        gaussian.append(X[i] / spread @ ours)
        model = LogisticRegression(C=np.inf, tol=1e-10).fit(X[kept], y[kept])
        logistic.append(model.predict_proba(X[[i]])[0, 1])
    assert strict_auc(y, np.array(gaussian)) == pytest.approx(0.772, abs=5e-4)
    assert strict_auc(y, np.array(logistic)) == pytest.approx(0.768, abs=5e-4)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(("n", "P"), [(120, 6), (20, 60)])
def test_shrinkage_rules_are_scikit_learns(standardize, n, P):
    X, y = two_normals(n, P, seed=1)
    scaled = np.where(
        (y == 1)[:, None],
        (X - X[y == 1].mean(0)) / np.sqrt(np.sum(y == 1) - 1),
        (X - X[y == 0].mean(0)) / np.sqrt(np.sum(y == 0) - 1),
    ) * np.sqrt(len(y))  # rows whose mean square is Σ
    if standardize:
        scaled /= np.sqrt(np.mean(scaled**2, axis=0))
    model = GaussianAUCClassifier(shrinkage="auto", standardize=standardize).fit(X, y)
    assert model.shrinkage_ == pytest.approx(
        ledoit_wolf_shrinkage(scaled, assume_centered=True), rel=1e-10
    )


@pytest.mark.parametrize(("n", "P"), [(120, 6), (20, 60)])
def test_shrunk_solution_is_the_plain_linear_system(n, P):
    X, y = two_normals(n, P, seed=2)
    total = np.cov(X[y == 0].T) + np.cov(X[y == 1].T)
    mu = X[y == 1].mean(0) - X[y == 0].mean(0)
    for standardize in [True, False]:
        s = np.sqrt(np.diag(total)) if standardize else np.ones(P)
        sigma = total / np.outer(s, s)
        for alpha in [0.05, 0.5, 1.0]:
            shrunk = (1 - alpha) * sigma + alpha * np.trace(sigma) / P * np.eye(P)
            expected = np.linalg.solve(shrunk, mu / s)
            model = GaussianAUCClassifier(shrinkage=alpha, standardize=standardize).fit(
                X, y
            )
            assert angle(model.coef_[0] * s, expected) < 1e-7


# Law ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["plain", "badly scaled", "nearly collinear", "separable", "wide"]
)
def test_solution_does_not_depend_on_units(name):
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    X = X / X.std(axis=0)
    unit = np.ones(X.shape[1])
    shrinkage = None
    if name == "badly scaled":
        unit = 10.0 ** rng.uniform(-8, 8, X.shape[1])
    elif name == "nearly collinear":
        X = np.column_stack([X, X[:, 0] + 1e-6 * rng.normal(size=len(y))])
        unit = np.ones(X.shape[1])
    elif name == "separable":
        X[:, 0] += 30 * y
    elif name == "wide":
        X, y, shrinkage = rng.normal(size=(60, 200)), y[:60], 0.2
        unit = np.ones(200)
    fits = [clone(GaussianAUCClassifier(shrinkage=shrinkage)) for _ in range(2)]
    a, b = (fit.fit(X * u, y).coef_[0] * u for fit, u in zip(fits, (unit, 1), strict=1))
    assert angle(a, b) < 1e-6
    if shrinkage is None:  # r = √(μᵀΣ⁻¹μ)
        mu = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
        total = np.cov(X[y == 0].T) + np.cov(X[y == 1].T)
        largest = np.sqrt(mu @ np.linalg.solve(total, mu))
        assert a @ mu / np.sqrt(a @ total @ a) == pytest.approx(largest, rel=1e-6)
    if name == "separable":
        assert fits[0].roc_.auc_probit > 8  # where Φ(r) itself is flat


def test_scale_and_sign_are_fixed():
    X, y = two_normals()
    for labels in (y, 1 - y):
        model = GaussianAUCClassifier().fit(X, labels)
        score = X @ model.coef_[0]
        within = [score[labels == c] - score[labels == c].mean() for c in (0, 1)]
        pooled = sum(part @ part for part in within) / (len(y) - 2)
        assert pooled == pytest.approx(1.0)
        assert score[labels == 1].mean() > score[labels == 0].mean()


@pytest.mark.parametrize("threshold", ["youden", "prior"])
def test_thresholds_and_probabilities(threshold):
    X, y = two_normals()
    model = GaussianAUCClassifier(threshold=threshold).fit(X, y)
    score, decision = X @ model.coef_[0], model.decision_function(X)
    cut = -model.intercept_[0]
    neg, pos = score[y == 0].mean(), score[y == 1].mean()
    if threshold == "youden":
        grid = np.linspace(score.min(), score.max(), 20001)
        roc = skauc.binormal_roc(y, score)
        assert cut == pytest.approx(
            grid[np.argmax(roc.tpr(grid) - roc.fpr(grid))], abs=1e-3
        )
    else:  # equal-variance Bayes: π₁φ(t − μ₁) = π₀φ(t − μ₀)
        odds = np.log(2) + ((cut - pos) ** 2 - (cut - neg) ** 2) / 2
        assert odds == pytest.approx(0, abs=1e-9)
    proba = model.predict_proba(X)[:, 1]
    order = np.argsort(decision)
    assert np.all(np.diff(proba[order]) >= 0)
    assert np.array_equal(proba > 0.5, decision > 0)
    assert proba == pytest.approx(1 / (1 + np.exp(-(pos - neg) * decision)))
    assert model.roc_.mean_pos == pytest.approx(decision[y == 1].mean())


# Edge ---------------------------------------------------------------------------------


def test_singular_covariance_separates_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), np.repeat([0, 1], 10)
    with pytest.warns(ConvergenceWarning, match="perfectly separable .* set shrinkage"):
        model = GaussianAUCClassifier().fit(X, y)
    assert model.auc_ == 1
    assert np.array_equal(model.predict(X), y)
    score = X @ model.coef_[0]
    assert np.ptp(score[y == 0]) < 1e-6 * (score[y == 1].mean() - score[y == 0].mean())
    for seed in range(30):  # n rows leave n − 2 dimensions, whatever the rounding
        rng = np.random.default_rng(seed)
        X, weight = rng.normal(size=(20, 25)) + 1e5, rng.integers(1, 4, 20)
        with pytest.warns(ConvergenceWarning, match="perfectly separable"):
            GaussianAUCClassifier().fit(X, y, weight)


def test_collinear_features_are_named():
    X, y = two_normals()
    thick = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(y), 3.0)])
    plain = GaussianAUCClassifier().fit(X, y)
    with pytest.warns(ConvergenceWarning, match="rank 5 with 7 features"):
        model = GaussianAUCClassifier().fit(thick, y)
    assert model.decision_function(thick) == pytest.approx(plain.decision_function(X))
    assert model.coef_[0, 6] == 0


def test_errors_name_the_data():
    X, y = two_normals()
    with pytest.raises(ValueError, match=r"the positive class .* 1 row .* got 1"):
        GaussianAUCClassifier().fit(X[:151], y[:151])
    with pytest.raises(
        ValueError, match=r"sample_weight must be 0 or .* got -1.0 in row 3"
    ):
        GaussianAUCClassifier().fit(
            X, y, sample_weight=np.where(np.arange(len(y)) == 3, -1, 1)
        )
    with pytest.raises(ValueError, match="only zeros in class 1"):
        GaussianAUCClassifier().fit(X, y, sample_weight=1 - y)
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        GaussianAUCClassifier().partial_fit(X, y)
    with pytest.raises(AttributeError, match="partial_fit") as error:
        GaussianAUCClassifier(shrinkage="auto").partial_fit(X, y, classes=[0, 1])
    assert "shrinkage must be None or a number" in str(error.value.__cause__)
    model = GaussianAUCClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(
        ValueError, match=r"the labels of the fitted model, 0, 1, got 7"
    ):
        model.partial_fit(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="those of the first call"):
        model.partial_fit(X, y, classes=[0, 2])


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_partial_fit_waits_for_two_rows_of_each_class(sizes):
    y = np.repeat([0, 1], sizes)
    x = np.array([0.3, -1.2, 2.0, 0.9])[:, None] + 3 * y[:, None]
    model = GaussianAUCClassifier().partial_fit(x, y, classes=[0, 1])
    assert not hasattr(model, "coef_")
    few = int(sizes == (3, 1))
    more = x[y == few] + 0.5
    model.partial_fit(more, np.full(len(more), few))
    whole = GaussianAUCClassifier().fit(
        np.vstack([x, more]), np.append(y, np.full(len(more), few))
    )
    assert model.coef_ == pytest.approx(whole.coef_, rel=1e-9)


@pytest.mark.filterwarnings("ignore:The classes are perfectly separable")
def test_more_features_than_rows_do_not_depend_on_the_origin():
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    X = rng.standard_normal((60, 500)) + 0.13 * y[:, None]
    for options in ({}, {"standardize": False}):
        expected = GaussianAUCClassifier(**options).fit(X, y).decision_function(X)
        for origin in (300.0, 1e5):
            model = GaussianAUCClassifier(**options).fit(X + origin, y)
            moved = model.decision_function(X + origin)
            assert np.corrcoef(expected, moved)[0, 1] > 1 - 1e-6
