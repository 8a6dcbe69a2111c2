"""The Gaussian-AUC classifier against a generic optimiser and published numbers."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc
from skauc import (
    GaussianAUCClassifier,
    ResubstitutionSplit,
    cbauc_scorer,
    class_moments,
)
from skauc.estimators._rayleigh import RayleighProblem, whitening
from skauc.estimators._shrinkage import _probit_of_bayesian_auc

SOLVERS = ("bfgs", "closed_form")


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


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_direction_is_the_generic_optimisers(solver, seed):
    X, y = two_normals(seed=seed)
    model = GaussianAUCClassifier(solver=solver).fit(X, y)
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
    fits = {
        rule: GaussianAUCClassifier(shrinkage=rule, standardize=standardize).fit(X, y)
        for rule in ("auto", "oas")
    }
    assert fits["auto"].shrinkage_ == pytest.approx(
        ledoit_wolf_shrinkage(scaled, assume_centered=True), rel=1e-10
    )
    assert fits["oas"].shrinkage_ == pytest.approx(
        oas(scaled, assume_centered=True)[1], rel=1e-10
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
@pytest.mark.parametrize(("n", "P"), [(120, 6), (20, 60)])
def test_shrunk_solution_is_the_plain_linear_system(solver, standardize, alpha, n, P):
    X, y = two_normals(n, P, seed=2)
    sigma = np.cov(X[y == 0].T) + np.cov(X[y == 1].T)
    mu = X[y == 1].mean(0) - X[y == 0].mean(0)
    s = np.sqrt(np.diag(sigma)) if standardize else np.ones(P)
    sigma = sigma / np.outer(s, s)
    shrunk = (1 - alpha) * sigma + alpha * np.trace(sigma) / P * np.eye(P)
    expected = np.linalg.solve(shrunk, mu / s)
    model = GaussianAUCClassifier(
        solver=solver, shrinkage=alpha, standardize=standardize
    ).fit(X, y)
    assert angle(model.coef_[0] * s, expected) < 1e-7


@pytest.mark.parametrize(("n", "P"), [(30, 20), (12, 60)])
def test_bayes_maximises_the_bayesian_auc_over_fits(n, P):
    X, y = two_normals(n, P, seed=3)
    model = GaussianAUCClassifier(shrinkage="bayes").fit(X, y)
    Z = (X - X.mean(0)) / np.sqrt(
        np.var(X[y == 0], axis=0, ddof=1) + np.var(X[y == 1], axis=0, ddof=1)
    )
    prior = skauc.AdaptivePrior(winsorize=None, standardize=False, leave_pair_out=False)
    cells = prior.learn(Z, y == 1).cells

    def credit(alpha):
        fit = GaussianAUCClassifier(shrinkage=alpha, solver="closed_form").fit(Z, y)
        w = np.ravel(fit.coef_)
        return cells.posterior(cells.eigen.project(w, Z @ w)).mean_probit()

    best = credit(model.shrinkage_)
    # The path's neighbours lie within 13 %, where the credit is flat.
    assert best >= max(credit(a) for a in np.geomspace(1e-4, 1, 25)[:-1]) - 1e-3
    assert best > credit(1e-4) + 0.01


@pytest.mark.parametrize(
    ("n", "P", "constant"), [(30, 20, 3), (12, 60, 0), (12, 60, 40), (12, 4, 40)]
)
def test_credit_is_the_adaptive_posterior_of_a_direction(n, P, constant):
    X, y = two_normals(n, P, seed=4)
    even = np.zeros(len(y))  # varies in one class, and has the same mean in both
    even[np.flatnonzero(y == 1)[:2]] = 0.1, -0.1
    X = np.hstack([X, np.full((len(y), constant), 0.1), np.tile(even[:, None], 2)])
    neg, pos = class_moments(X, y == 1)
    if X.shape[1] > len(y):
        problem = RayleighProblem.of_rows(X, y == 1, None, standardize=False)
    else:
        problem = RayleighProblem.of_moments(neg, pos, standardize=False)
    prior = skauc.AdaptivePrior(winsorize=None, standardize=False, leave_pair_out=False)
    learnt = prior.learn(X, y == 1)
    rng = np.random.default_rng(0)
    for rows in rng.standard_normal((3, len(y))):
        w = (X - problem.origin).T @ rows  # in the span of the rows
        probit = _probit_of_bayesian_auc(problem)(problem.enter(w)[None, :])
        posterior = learnt.cells.posterior(learnt.cells.eigen.project(w, X @ w))
        assert probit == pytest.approx(posterior.mean_probit(), rel=1e-6)


def test_bayes_without_any_spread_shrinks_fully():
    y = np.arange(12) % 2
    with pytest.warns(ConvergenceWarning, match="perfectly separable"):
        model = GaussianAUCClassifier(shrinkage="bayes").fit(
            np.outer(y, [1.0, 2, 3]), y
        )
    assert (model.shrinkage_, model.auc_) == (1.0, 1.0)


def test_bayes_shrinks_noise_more_than_signal():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    mixing = np.linalg.cholesky(0.9 ** np.abs(np.subtract.outer(*[np.arange(30)] * 2)))
    noise = rng.standard_normal((60, 30)) @ mixing.T
    # The difference lies where only the covariance, unshrunk, would find it.
    signal = noise + np.outer(y, 2.5 * mixing @ (-1.0) ** np.arange(30)) / np.sqrt(30)
    alpha = [
        GaussianAUCClassifier(shrinkage="bayes").fit(X, y).shrinkage_
        for X in (noise, signal)
    ]
    assert alpha[0] > alpha[1]


# Law ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["plain", "badly scaled", "nearly collinear", "separable", "wide"]
)
def test_solvers_agree(name):
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
    fits = [GaussianAUCClassifier(solver=s, shrinkage=shrinkage) for s in SOLVERS]
    a, b = (fit.fit(X * unit, y).coef_[0] * unit for fit in fits)
    assert angle(a, b) < 1e-6
    assert all(fit.converged_ for fit in fits)
    if name == "separable":
        assert fits[0].roc_.auc_probit > 8  # where Φ(r) itself is flat


def test_a_start_at_the_minimiser_ends_at_the_maximiser():
    X, y = two_normals()
    best = GaussianAUCClassifier(solver="closed_form").fit(X, y)
    for start in (-best.coef_[0], np.eye(5)[2], -np.ones(5)):
        model = GaussianAUCClassifier(coef_init=start).fit(X, y)
        assert model.coef_ == pytest.approx(best.coef_, rel=1e-6)


def test_scale_and_sign_are_fixed():
    X, y = two_normals()
    for labels in (y, 1 - y):
        model = GaussianAUCClassifier().fit(X, labels)
        score = X @ model.coef_[0]
        within = [score[labels == c] - score[labels == c].mean() for c in (0, 1)]
        pooled = sum(part @ part for part in within) / (len(y) - 2)
        assert pooled == pytest.approx(1.0)
        assert score[labels == 1].mean() > score[labels == 0].mean()


@pytest.mark.parametrize("shrinkage", [None, 0.3, "oas", "bayes"])
def test_partial_fit_streams(shrinkage):
    X, y = two_normals()
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    whole = GaussianAUCClassifier(shrinkage=shrinkage).fit(X, y)
    model = GaussianAUCClassifier(shrinkage=shrinkage)
    for part in np.array_split(np.arange(len(y)), 4):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    assert model.coef_ == pytest.approx(whole.coef_, rel=1e-7)
    assert model.intercept_ == pytest.approx(whole.intercept_, rel=1e-7)


def test_partial_fit_waits_for_both_classes():
    X, y = two_normals()
    model = GaussianAUCClassifier().partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert not hasattr(model, "coef_")
    model.partial_fit(X[y == 1], y[y == 1])
    assert model.coef_ == pytest.approx(GaussianAUCClassifier().fit(X, y).coef_)


@pytest.mark.parametrize("shrinkage", ["auto", "oas", 0.2, "bayes"])
@pytest.mark.parametrize(("n", "P"), [(60, 4), (16, 50)])
def test_weights_are_frequencies(shrinkage, n, P):
    X, y = two_normals(n, P)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    model = GaussianAUCClassifier(shrinkage=shrinkage, threshold="prior")
    weighted = clone(model).fit(X, y, sample_weight=weight)
    # Repeated rows may lie on the other side of P > n.
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.shrinkage_ == pytest.approx(repeated.shrinkage_, rel=1e-8)
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-6, abs=1e-9)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, rel=1e-6)


def test_sparse_rows_give_the_same():
    X, y = two_normals()
    X[np.abs(X) < 0.7] = 0
    for P in (5, 300):
        wide = np.tile(X, 60)[:, :P] + (P > 5) * np.eye(len(y), P)
        dense = GaussianAUCClassifier(shrinkage="auto").fit(wide, y)
        thin = GaussianAUCClassifier(shrinkage="auto").fit(sparse.csr_array(wide), y)
        assert thin.coef_ == pytest.approx(dense.coef_, rel=1e-8, abs=1e-12)
        assert thin.predict_proba(sparse.csr_array(wide)) == pytest.approx(
            dense.predict_proba(wide), rel=1e-7
        )


@pytest.mark.parametrize("threshold", ["youden", "prior", 0.7])
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
    elif threshold == "prior":  # equal-variance Bayes: π₁φ(t − μ₁) = π₀φ(t − μ₀)
        odds = np.log(2) + ((cut - pos) ** 2 - (cut - neg) ** 2) / 2
        assert odds == pytest.approx(0, abs=1e-9)
    else:
        assert cut == pytest.approx(0.7)
    proba = model.predict_proba(X)[:, 1]
    order = np.argsort(decision)
    assert np.all(np.diff(proba[order]) >= 0)
    assert np.array_equal(proba > 0.5, decision > 0)
    assert proba == pytest.approx(1 / (1 + np.exp(-(pos - neg) * decision)))
    assert model.roc_.mean_pos == pytest.approx(decision[y == 1].mean())


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e3, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_without_a_centring_pass_keep_their_digits(offset, weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 20)) + offset
    X[:, 3], y = 7.1, rng.random(5000) < 0.3
    weight = rng.integers(0, 4, 5000).astype(float) if weighted else np.ones(5000)
    for part, mask in zip(skauc.class_moments(X, y, weight), (~y, y), strict=True):
        Z, w = X[mask].astype(np.longdouble), weight[mask]
        R = Z - w @ Z / w.sum()
        W = ((R * w[:, None]).T @ R).astype(float)
        unit = np.sqrt(np.diag(W)) + (np.arange(20) == 3)
        assert np.abs((part.scatter - W) / np.outer(unit, unit)).max() < 1e-12
        assert part.scatter[3, 3] == 0


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


def test_collinear_features_are_named():
    X, y = two_normals()
    thick = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(y), 3.0)])
    plain = GaussianAUCClassifier().fit(X, y)
    with pytest.warns(ConvergenceWarning, match="rank 5 with 7 features"):
        model = GaussianAUCClassifier().fit(thick, y)
    assert model.decision_function(thick) == pytest.approx(plain.decision_function(X))
    assert model.coef_[0, 6] == 0


def test_equal_means_rank_nothing():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    with pytest.warns(ConvergenceWarning, match="means are equal"):
        model = GaussianAUCClassifier().fit(X, [0, 0, 1, 1])
    assert model.auc_ == 0.5
    assert not model.coef_.any()


def test_grid_search_pickle_and_frames():
    pd = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X[::4, :6], columns=list("abcdef"))
    labels = np.array(["ill", "well"])[y[::4]]
    pipe = make_pipeline(StandardScaler(), GaussianAUCClassifier())
    grid = {"gaussianaucclassifier__shrinkage": [None, 0.1, "auto"]}
    for scoring in (cbauc_scorer, skauc.ebauc_scorer, skauc.bee_scorer):
        search = GridSearchCV(pipe, grid, scoring=scoring, cv=ResubstitutionSplit())
        search.fit(frame, labels)
        assert np.isfinite(search.best_score_)
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict(frame), search.predict(frame))


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"solver": "newton"}, "solver must be one of 'bfgs', 'closed_form', got 'new"),
        ({"shrinkage": 1.5}, "shrinkage must be a number >= 0 and <= 1, got 1.5"),
        ({"shrinkage": "ridge"}, "shrinkage must be one of 'auto', .*got 'ridge'"),
        ({"threshold": "best"}, "threshold must be one of .* got 'best'"),
        ({"threshold": np.inf}, "threshold must be finite, got inf"),
        ({"tol": 0}, "tol must be a number > 0, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"coef_init": "x"}, "coef_init must hold 5 finite numbers.* got 'x'"),
        ({"standardize": "no"}, "standardize must be True or False, got 'no'"),
        ({"tol": 10**400}, "tol must be a number > 0, got 1000"),
        ({"coef_init": [1.0]}, r"coef_init must hold 5 finite numbers.* got \[1.0\]"),
    ],
)
def test_errors_name_the_parameter(params, text):
    with pytest.raises(ValueError, match=text):
        GaussianAUCClassifier(**params).fit(*two_normals())


def test_errors_name_the_data():
    X, y = two_normals()
    with pytest.raises(ValueError, match=r"more than 1 row .* got 1 in the positive"):
        GaussianAUCClassifier().fit(X[:151], y[:151])
    with pytest.raises(
        ValueError, match=r"sample_weight must be >= 0, got -1.0 in row 3"
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
    assert "shrinkage must not be 'auto' in partial_fit" in str(error.value.__cause__)
    model = GaussianAUCClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"y must hold the labels \[0, 1\], got 7"):
        model.partial_fit(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="those of the first call"):
        model.partial_fit(X, y, classes=[0, 2])


def test_too_few_iterations_warn():
    X, y = two_normals(P=5)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        model = GaussianAUCClassifier(max_iter=1, tol=1e-12).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("P", [3, 50])
@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_features_of_extreme_size_are_refused(P, size):
    X = np.random.default_rng(0).normal(size=(20, P))
    X[:, 1] *= size
    with pytest.raises(ValueError, match=r"between 1e-70 and 1e\+70 in size, .* in fe"):
        GaussianAUCClassifier().fit(X, np.arange(20) % 2)


def test_weights_are_counts_that_must_stay_numbers():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"at most 1e\+70 .* got 1e\+301"):
        GaussianAUCClassifier().fit(X, y, np.full(20, 1e300))
    with pytest.raises(ValueError, match="must have a finite sum, got inf"):
        GaussianAUCClassifier().fit(X, y, np.full(20, 1e308))


def test_labels_of_no_kind_are_named():
    X, y = np.random.default_rng(0).normal(size=(4, 3)), [None, "a", "a", None]
    with pytest.raises(ValueError, match=r"y must hold labels of one kind .* \[None\]"):
        GaussianAUCClassifier().fit(X, np.array(y, object))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_leave_pair_out_is_told_has_the_models_direction(standardize, weighted):
    rng = np.random.default_rng(4)
    y = np.arange(25) % 3 == 0
    X = rng.normal(size=(25, 4)) * [1, 3, 0.2, 0] + 0.7 * y[:, None] * [1, 1, 1, 0]
    weight = rng.integers(1, 4, 25).astype(float) if weighted else None
    model = GaussianAUCClassifier(
        shrinkage=0.3, standardize=standardize, solver="closed_form"
    ).fit(X, y, sample_weight=weight)
    told = model._discriminant(X, y, weight)
    count = np.ones(25, int) if weight is None else weight.astype(int)
    rows = [np.repeat(X[y == c], count[y == c], axis=0) for c in (False, True)]
    W = [np.cov(part.T) * (len(part) - 1) for part in rows]
    n = np.array([len(part) for part in rows])
    matrix = told.a[0] * W[0] + told.a[1] * W[1] + np.diag(told.penalty)
    direction = np.linalg.solve(matrix, rows[1].mean(axis=0) - rows[0].mean(axis=0))
    w = model.coef_.ravel()
    assert direction @ w == pytest.approx(
        np.linalg.norm(direction) * np.linalg.norm(w), rel=1e-12
    )
    np.testing.assert_allclose(told.a * (n - 1), 0.7)
    np.testing.assert_allclose(told.left_out * (n - 2), 0.7)


def test_scales_of_features_are_free_of_a_row_with_few_features_only():
    rng = np.random.default_rng(4)
    y = np.arange(9) % 2 == 0
    for P, known in ((6, True), (7, False)):
        X = rng.normal(size=(9, P))
        model = GaussianAUCClassifier(shrinkage=0.3).fit(X, y)
        assert (model._discriminant(X, y, None) is not None) is known


def test_curve_is_that_of_the_decisions():
    X, y = two_normals()
    model = GaussianAUCClassifier(threshold=0.7, solver="closed_form").fit(X, y)
    assert model.n_iter_ == 1
    decision = model.decision_function(X)
    for name, part in (("neg", decision[y == 0]), ("pos", decision[y == 1])):
        assert getattr(model.roc_, f"mean_{name}") == pytest.approx(part.mean())
        assert getattr(model.roc_, f"std_{name}") == pytest.approx(part.std(ddof=1))


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


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("place", [2.0, 0.1, 1 / 3, -7.7, 1.9, 0.7, 2.3])
def test_a_class_without_spread_lies_on_its_own_side(flip, place):
    # Youden's threshold sits on the constant class itself, and steps off towards the
    # other one.
    rng = np.random.default_rng(0)
    x = np.append(np.full(20, place), place + 4 + rng.standard_normal(20))[:, None]
    y = np.repeat([0, 1], 20) ^ flip
    model = GaussianAUCClassifier().fit(-x if flip else x, y)
    assert (model.roc_.std_pos if flip else model.roc_.std_neg) == 0
    assert np.array_equal(model.predict(-x if flip else x), y)


def test_equal_means_have_the_threshold_between_them():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0], [3.0], [-3.0]])
    with pytest.warns(ConvergenceWarning, match="means are equal"):
        model = GaussianAUCClassifier(threshold="prior").fit(X, [0, 0, 1, 1, 1, 1])
    assert model.intercept_ == 0


@pytest.mark.parametrize(("n", "P"), [(30, 20), (12, 60)])
@pytest.mark.parametrize("shrinkage", ["auto", "oas", "bayes"])
def test_shrinkage_knows_no_unit(n, P, shrinkage):
    X, y = two_normals(n, P, seed=5)
    alpha = [
        GaussianAUCClassifier(shrinkage=shrinkage, standardize=False)
        .fit(X * unit, y)
        .shrinkage_
        for unit in (1.0, 128.0, 1 / 128)
    ]
    assert alpha[1:] == pytest.approx(alpha[:1] * 2, rel=1e-9)
    assert 0 < alpha[0] <= 1


@pytest.mark.parametrize("standardize", [False, True])
def test_many_rows_are_hardly_shrunk(standardize):
    # Ledoit & Wolf's b² is of the order P²/n: far below .1
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 4000)
    X = rng.standard_normal((8000, 3)) * np.array([0.1, 0.2, 0.4])
    model = GaussianAUCClassifier(shrinkage="auto", standardize=standardize).fit(X, y)
    unit = np.sqrt(X[y == 0].var(0, ddof=1) + X[y == 1].var(0, ddof=1))
    Z = X / unit if standardize else X
    parts = [Z[y == c] - Z[y == c].mean(0) for c in (0, 1)]
    # Σ = Σ_c S_c: rows times √(n/(n_c − 1)) have it as their mean square
    rows = np.vstack([part * np.sqrt(8000 / (len(part) - 1)) for part in parts])
    expected = ledoit_wolf_shrinkage(rows, assume_centered=True)
    assert model.shrinkage_ == pytest.approx(expected, rel=1e-6)


def test_collinear_features_of_different_sizes():
    X, y = two_normals()
    thick = np.column_stack([X, X[:, 0] + X[:, 1]])
    plain = GaussianAUCClassifier(standardize=False).fit(X, y)
    for size in ([1, 1, 1, 1, 1, 1], [1, 100, 0.01, 1, 10, 1000]):
        with pytest.warns(ConvergenceWarning, match="rank 5 with 6 features"):
            model = GaussianAUCClassifier(standardize=False).fit(thick * size, y)
        assert model.decision_function(thick * size) == pytest.approx(
            plain.decision_function(X), rel=1e-6, abs=1e-6
        )


def test_piling_of_features_of_different_sizes():
    rng = np.random.default_rng(0)
    size = np.geomspace(0.01, 100, 40)
    X, y = rng.normal(size=(20, 40)) * size, np.repeat([0, 1], 10)
    with pytest.warns(ConvergenceWarning, match="perfectly separable"):
        model = GaussianAUCClassifier(standardize=False).fit(X, y)
    score = X @ model.coef_[0]
    gap = score[y == 1].mean() - score[y == 0].mean()
    assert max(np.ptp(score[y == 0]), np.ptp(score[y == 1])) < 1e-6 * gap


def test_shrinkage_of_one_feature_and_of_spheres():
    X, y = two_normals(P=1)
    assert GaussianAUCClassifier(shrinkage="oas").fit(X, y).shrinkage_ == 1
    assert GaussianAUCClassifier(shrinkage="auto").fit(X, y).shrinkage_ == 0
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    X = np.vstack([square, square + np.array([1.0, 0.0])])
    X[0, 0] += 1e-6
    model = GaussianAUCClassifier(shrinkage="oas").fit(X, np.repeat([0, 1], 4))
    assert model.shrinkage_ == 1


def test_a_start_at_the_maximiser_is_one_step():
    X, y = two_normals()
    best = GaussianAUCClassifier(solver="closed_form").fit(X, y)
    assert GaussianAUCClassifier(coef_init=best.coef_[0]).fit(X, y).n_iter_ == 1


def test_dimensions_beyond_the_rows_are_counted():
    rng = np.random.default_rng(0)
    X = 1e-3 * rng.standard_normal((6, 9))
    X[:, 5] = 1e-3 * np.array([1, -1, 0, 1, -1, 0])  # the same mean in both classes
    X[:, 6:] = 0.7
    y = np.repeat([False, True], 3)
    for P, extra in ((9, 1), (6, 1)):
        problem = RayleighProblem.of_rows(X[:, -P:], y, None, standardize=False)
        varying = np.count_nonzero(np.ptp(X[:, -P:], axis=0))
        assert problem.n_extra_dimensions == max(varying - 5, 0)
        assert extra >= problem.n_extra_dimensions


def test_a_feature_that_is_another_one_and_the_class_piles_up():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 30)
    a, b = rng.standard_normal((2, 60))
    X = np.column_stack([a, 100 * (a + y), 0.01 * b])
    with pytest.warns(ConvergenceWarning, match="perfectly separable"):
        model = GaussianAUCClassifier(standardize=False).fit(X, y)
    w = model.coef_[0] / np.abs(model.coef_[0]).max()
    assert w == pytest.approx([-1, 0.01, 0], abs=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 4, 6])
def test_whitening_has_as_many_coordinates_as_the_rank(rank):
    rng = np.random.default_rng(0)
    for _ in range(5):
        half = rng.normal(size=(6, rank))
        whitened, _ = whitening(half @ half.T, half @ np.ones(rank))
        assert whitened.rank == rank
        A = np.column_stack([whitened.times(u) for u in np.eye(rank)])
        At = np.column_stack([whitened.transposed(x) for x in np.eye(6)])
        np.testing.assert_allclose(At, A.T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(A.T @ half @ half.T @ A, np.eye(rank), atol=1e-8)


@pytest.mark.parametrize("labels", [np.arange(60) % 3, np.zeros(60)])
def test_labels_that_are_refused_leave_the_model_as_it_was(labels):
    rng, y = np.random.default_rng(3), np.arange(60) % 2
    X = rng.normal(size=(60, 3))
    model = GaussianAUCClassifier().fit(X, y)
    predicted = model.predict(X)
    with pytest.raises(ValueError, match="y must hold"):
        model.fit(X, labels)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.parametrize("size", [5e-324, 1e300, 1.7e308])
def test_the_length_of_a_start_means_nothing(size):
    rng, y = np.random.default_rng(3), np.arange(60) % 2
    X = rng.normal(size=(60, 3))
    start = np.array([1.0, 0.0, -1.0])
    expected = GaussianAUCClassifier(coef_init=start).fit(X, y)
    model = GaussianAUCClassifier(coef_init=size * start).fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
