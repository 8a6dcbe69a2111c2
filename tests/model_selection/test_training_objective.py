"""Which rows trained a model: told from the gradient, not taken on trust."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chi2, pearsonr
from sklearn.base import clone
from sklearn.covariance import OAS
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import l1_part

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    ResubstitutionSplit,
    auc_posterior,
    lpo_auc_scorer,
    make_lpo_auc_scorer,
)
from skauc.leave_pair_out._losses import loss_value
from skauc.model_selection._refit_objective import (
    _l1_logistic,
    _sgd,
    discriminant_objective,
    training_objective,
)
from skauc.model_selection._training_objective import (
    _discriminant,
    _Rearranged,
    case_weight_of,
    correlation,
    largest_gradient,
    leave_pair_out_estimate,
    missing_objective,
    penalised_fit,
)

MODELS = {
    "logistic": LogisticRegression(max_iter=1000),
    "logistic strong": LogisticRegression(C=1e-4),
    "logistic weak": LogisticRegression(C=1e4, max_iter=10000),
    "newton": LogisticRegression(solver="newton-cholesky", C=0.1),
    "liblinear": LogisticRegression(solver="liblinear"),
    "liblinear strong": LogisticRegression(
        solver="liblinear", C=1e-4, intercept_scaling=10.0
    ),
    "no intercept": LogisticRegression(fit_intercept=False),
    "ridge": RidgeClassifier(),
    "ridge strong": RidgeClassifier(alpha=1e5),
    "ridge weak": RidgeClassifier(alpha=1e-3, class_weight="balanced"),
    "svc": LinearSVC(max_iter=100000),
    "svc strong": LinearSVC(C=1e-4),
    "lda": LinearDiscriminantAnalysis(),
    "lda shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
}


def two_sets(n, P, seed, gap=0.5):
    """Rows to train on and as many rows of the same law."""
    rng = np.random.default_rng(seed)
    positive = np.arange(2 * n) % 2 == 1
    X = rng.normal(size=(2 * n, P))
    X[positive, :4] += gap
    return (X[:n], positive[:n]), (X[n:], positive[n:])


SHAPES = [(20, 8, 6), (20, 60, 6), (60, 5, 8), (200, 10, 6), (2000, 8, 2)]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("n", "P", "seeds"), SHAPES)
def test_training_rows_are_known_and_others_are_not(kind, n, P, seeds):
    if kind == "lda" and P >= n - 2:
        pytest.skip("the scatter is singular: see below")
    for seed in range(seeds):
        (X, y), (Xh, yh) = two_sets(n, P, seed)
        model = MODELS[kind].fit(X, y)
        assert leave_pair_out_estimate(model, X, y) is not None, seed
        assert leave_pair_out_estimate(model, Xh, yh) is None, seed


@pytest.mark.parametrize("kind", ["logistic", "liblinear strong", "svc", "ridge"])
def test_origin_and_scale_of_features_do_not_hide_held_out_rows(kind):
    for seed in range(4):
        (X, y), (Xh, yh) = two_sets(80, 6, seed)
        unit = 10.0 ** np.linspace(-1, 1, 6)
        # RMS over the features: one of large unit must not speak for all of them.
        for move in (lambda A: A + 30.0, lambda A: A * unit):  # noqa: B023
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = MODELS[kind].fit(move(X), y)
            assert leave_pair_out_estimate(model, move(X), y) is not None
            assert leave_pair_out_estimate(model, move(Xh), yh) is None


@pytest.mark.parametrize("factor", [1e-6, 0.5, 1e4])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_rescaled_coefficients_are_still_trained(kind, scaled, factor):
    (X, y), (Xh, yh) = two_sets(60, 8, 1)
    X, Xh = 2 * X + 3, 2 * Xh + 3
    if scaled:
        scaler = StandardScaler().fit(X)
        X, Xh = scaler.transform(X), scaler.transform(Xh)
    model = MODELS[kind].fit(X, y)
    base = leave_pair_out_estimate(model, X, y)
    model.coef_ = model.coef_ * factor
    moved = leave_pair_out_estimate(model, X, y)
    assert moved.auc == pytest.approx(base.auc, abs=2e-3)
    assert moved.smooth_auc == pytest.approx(base.smooth_auc, rel=1e-3)
    assert leave_pair_out_estimate(model, Xh, yh) is None
    model.coef_ = -model.coef_
    assert leave_pair_out_estimate(model, X, y) is None


def test_few_features_are_the_hard_case():
    """With P = 2 one direction is left to tell; it is mistaken once in a while."""
    mistaken = 0
    for seed in range(200):
        (X, y), (Xh, yh) = two_sets(50, 4, seed)
        model = RidgeClassifier().fit(X[:, :2], y)
        assert leave_pair_out_estimate(model, X[:, :2], y) is not None
        mistaken += leave_pair_out_estimate(model, Xh[:, :2], yh) is not None
    assert mistaken <= 6


@pytest.mark.parametrize("P", [2, 3, 5, 10, 30, 400])
def test_held_out_rows_pass_once_in_a_thousand(P):
    """But for the digits that solvers leave: .01 is always enough."""
    bound = largest_gradient((500, P))
    k = P - 1
    passes = chi2.cdf(bound**2 * (k + 1), k)
    assert passes == pytest.approx(1e-3, rel=1e-6) or (
        bound == (0.01 if passes > 1e-3 else 0.2)
    )
    assert largest_gradient((P, 500)) == bound


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_permuted_rows_are_known_in_any_unit(unit):
    X, y = two_sets(60, 3, 0)[0]
    model = LogisticRegression().fit(X, y)
    positive, score = y == 1, unit * model.decision_function(X)
    known = _Rearranged()
    known.remember(model, positive, score)
    assert not known.recall(model, positive, score)
    assert known.recall(model, positive, score[::-1])
    assert not known.recall(model, positive, score + 1e-3 * unit)
    assert not known.recall(model, positive, score[::-1] + 1e-3 * unit)


def test_separable_rows_under_a_weak_penalty_are_known():
    """All slopes are as small as what the solver left: the floor decides."""
    for n, P in ((20, 50), (100, 100)):
        (X, y), (Xh, yh) = two_sets(n, P, 0)
        model = LogisticRegression(C=1e4, max_iter=10000).fit(X, y)
        assert leave_pair_out_estimate(model, X, y) is not None
        assert leave_pair_out_estimate(model, Xh, yh) is None


def test_one_changed_label_or_weight_shows():
    (X, y), _ = two_sets(60, 6, 0)
    model = LogisticRegression().fit(X, y)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    assert leave_pair_out_estimate(model, X, ~y) is None
    assert leave_pair_out_estimate(model, X, y, weight) is None
    weighted = LogisticRegression().fit(X, y, sample_weight=weight)
    assert leave_pair_out_estimate(weighted, X, y) is None
    assert leave_pair_out_estimate(weighted, X, y, weight) is not None


@pytest.mark.parametrize(
    "make",
    [
        lambda: LogisticRegression(class_weight="balanced"),
        lambda: LogisticRegression(solver="liblinear", class_weight="balanced"),
        lambda: RidgeClassifier(class_weight="balanced"),
        lambda: LinearSVC(class_weight="balanced", max_iter=100000),
        lambda: LogisticRegression(class_weight={False: 3.0}),
    ],
)
@pytest.mark.parametrize("weighted", [True, False])
def test_class_weights_are_the_solvers(make, weighted):
    (X, y), (Xh, yh) = two_sets(60, 6, 0)
    keep = y | (np.arange(60) % 3 == 0)  # 1:3
    X, y = X[keep], y[keep]
    weight = np.where(np.arange(len(y)) % 4 == 0, 3.0, 1.0) if weighted else None
    model = make().fit(X, y, sample_weight=weight)
    assert leave_pair_out_estimate(model, X, y, weight) is not None
    assert leave_pair_out_estimate(model, Xh, yh) is None


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(class_weight="balanced", tol=1e-10),
        RidgeClassifier(class_weight="balanced"),
        LinearSVC(class_weight="balanced", tol=1e-10, max_iter=10**6),
        SVC(kernel="linear", class_weight="balanced", tol=1e-10),
        SGDClassifier(class_weight="balanced", alpha=0.1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_balanced_rows_or_weights(model):
    """The case weights, as sample weights, are the same fit."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80) > 0.8
    weight = np.where(y, 3.0, 1.0) * rng.uniform(0.5, 2, 80)
    weight[::7] = 0
    balanced = clone(model).fit(X, y, sample_weight=weight)
    case_weight = case_weight_of(balanced, y, weight)
    plain = clone(model).set_params(class_weight=None)
    plain.fit(X, y, sample_weight=case_weight)
    np.testing.assert_allclose(balanced.coef_, plain.coef_, rtol=1e-6)


NEW_STYLE = {}
if "use_legacy_attributes" in LogisticRegressionCV().get_params():  # 1.8 and later
    NEW_STYLE = {"l1_ratios": (0,), "use_legacy_attributes": False}


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegressionCV(Cs=3, cv=3, scoring="roc_auc", **NEW_STYLE),
        RidgeClassifierCV(alphas=[0.1, 10.0]),
    ],
    ids=["logistic", "ridge"],
)  # fmt: skip
def test_models_that_chose_their_penalty(model):
    (X, y), (Xh, yh) = two_sets(60, 6, 0)
    model.fit(X, y)
    assert leave_pair_out_estimate(model, X, y) is not None
    assert leave_pair_out_estimate(model, Xh, yh) is None


def test_no_penalty_is_the_limit_of_a_tiny_one():
    (X, y), _ = two_sets(80, 3, 0)
    free = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    tiny = LogisticRegression(C=1e7, tol=1e-8).fit(X, y)
    a, b = leave_pair_out_estimate(free, X, y), leave_pair_out_estimate(tiny, X, y)
    assert a.smooth_auc == pytest.approx(b.smooth_auc, abs=1e-5)


def test_features_of_very_different_units_in_a_discriminant():
    (X, y), _ = two_sets(60, 6, 0)
    base = leave_pair_out_estimate(LinearDiscriminantAnalysis().fit(X, y), X, y)
    Z = X * 10.0 ** np.arange(-6, 6, 2)
    model = LinearDiscriminantAnalysis(tol=1e-12).fit(Z, y)
    moved = leave_pair_out_estimate(model, Z, y)
    assert moved.smooth_auc == pytest.approx(base.smooth_auc, rel=1e-6)


def test_singular_discriminant_has_no_leave_pair_out():
    (X, y), _ = two_sets(20, 40, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearDiscriminantAnalysis().fit(X, y)
    assert leave_pair_out_estimate(model, X, y) is None


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(),
        SGDClassifier(loss="log_loss", random_state=0),
        LogisticRegression(solver="liblinear", **l1_part(1.0)),
        LogisticRegression(solver="saga", max_iter=5000, **l1_part(0.5)),
        LinearSVC(loss="hinge", max_iter=100000),
        LinearSVC(penalty="l1", max_iter=100000),
        RidgeClassifier(positive=True),
    ],
    ids=str,
)
def test_unknown_objectives_have_no_leave_pair_out(model):
    (X, y), _ = two_sets(60, 6, 0)
    model.fit(X, y)
    assert penalised_fit(model, X, y) is None
    assert missing_objective(model, X, y)
    assert leave_pair_out_estimate(model, X, y) is None
    name = type(model).__name__
    with pytest.raises(
        TypeError, match=f"{name} has no leave-pair-out .*use skauc.cv_auc_scorer"
    ):
        lpo_auc_scorer(model, X, y)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (GaussianAUCClassifier(shrinkage="auto"), "shrinkage='auto' changes with"),
        (GaussianAUCClassifier(shrinkage="bayes"), "shrinkage='bayes' changes with"),
        (
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
            "shrinkage='auto' changes with every row",
        ),
        (
            LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()),
            "its covariance_estimator changes with every row",
        ),
        (IRLSLogisticRegression(), "separated classes have no optimum"),
        (LogisticRegression(C=np.inf), "separated classes have no optimum"),
        (
            LogisticRegression(solver="saga", max_iter=5000, **l1_part(0.5)),
            "its penalty is not L2 alone",
        ),
        (LinearSVC(loss="hinge", max_iter=100000), "loss='hinge' with penalty='l2'"),
        (
            LinearSVC(multi_class="crammer_singer", max_iter=100000),
            "multi_class='crammer_singer' minimises a hinge",
        ),
        (
            LogisticRegressionCV(Cs=2, cv=2, refit=False),
            "its coefficients are the mean of those of folds",
        ),
        (RidgeClassifier(positive=True), "bound to be positive"),
        (Perceptron(), "its objective is not known here"),
    ],
    ids=str,
)
def test_the_reason_is_the_true_one(model, reason):
    (X, y), _ = two_sets(60, 6, 0)
    if "separated" in reason:
        X = X + 20 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separation
        model.fit(X, y)
    with pytest.raises(TypeError, match=reason) as error:
        lpo_auc_scorer(model, X, y)
    if "objective" not in reason:
        assert "not known" not in str(error.value)


def test_standardized_discriminant_of_few_rows_says_why():
    (X, y), _ = two_sets(20, 30, 0)
    model = GaussianAUCClassifier(shrinkage=0.5, standardize=True).fit(X, y)
    with pytest.raises(TypeError, match="features >= rows - 2 the standardization"):
        lpo_auc_scorer(model, X, y)


def test_weighted_discriminant_has_no_leave_pair_out():
    (X, y), _ = two_sets(60, 6, 0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert missing_objective(model, X, y, np.ones(60))
    assert leave_pair_out_estimate(model, X, y, np.ones(60)) is None


# ------------------------------------------------------------------------------ scorer


def test_scorer_is_leave_pair_out_and_names_held_out_rows():
    (X, y), (Xh, yh) = two_sets(60, 6, 0)
    model = RidgeClassifier().fit(X, y)
    assert lpo_auc_scorer(model, X, y) == leave_pair_out_estimate(model, X, y).auc
    message = "X must be the rows .* that trained the RidgeClassifier, got rows on"
    with pytest.raises(ValueError, match=message):
        lpo_auc_scorer(model, Xh, yh)


def test_scorer_opens_pipelines_and_takes_any_labels():
    (X, y), _ = two_sets(60, 6, 0)
    labels = np.where(y, "ill", "fine")
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, labels)
    Z = StandardScaler().fit_transform(X)
    expected = leave_pair_out_estimate(LogisticRegression().fit(Z, y), Z, y).auc
    assert lpo_auc_scorer(pipe, X, labels) == pytest.approx(expected, rel=1e-12)
    for label in ("ill", "fine"):  # the model and the class turn round together
        scorer = make_lpo_auc_scorer(pos_label=label)
        assert scorer(pipe, X, labels) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="pos_label must be one of .* got 'well'"):
        make_lpo_auc_scorer(pos_label="well")(pipe, X, labels)
    loose = make_pipeline(LogisticRegression()).fit(sparse.csr_array(Z), labels)
    assert lpo_auc_scorer(loose, sparse.csr_array(Z), labels) == pytest.approx(
        expected, abs=2e-3
    )


@pytest.mark.parametrize(
    "model", [GaussianAUCClassifier(solver="closed_form"), LinearDiscriminantAnalysis()]
)
def test_equal_rows_of_both_classes_count_half(model):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:] == 2  # versicolor and virginica share flowers
    won = []
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            rest = np.delete(np.arange(len(y)), [i, j])
            gap = clone(model).fit(X[rest], y[rest]).coef_[0] @ (X[i] - X[j])
            won.append(0.5 if np.array_equal(X[i], X[j]) else float(gap > 0))
    for order in (1, -1):
        fit = model.fit(X[::order], y[::order])
        auc = lpo_auc_scorer(fit, X[::order], y[::order])
        assert auc == pytest.approx(np.mean(won), abs=1e-12)


def test_search_without_folds():
    (X, y), _ = two_sets(40, 30, 0)
    pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    grid = {"logisticregression__C": [1e-3, 0.1, 10.0]}
    search = GridSearchCV(
        pipe,
        grid,
        scoring=lpo_auc_scorer,
        cv=ResubstitutionSplit(),
        error_score="raise",
    ).fit(X, y)
    for C, score in zip(
        grid["logisticregression__C"],
        search.cv_results_["mean_test_score"],
        strict=True,
    ):
        fresh = pipe.set_params(logisticregression__C=C).fit(X, y)
        assert score == lpo_auc_scorer(fresh, X, y)
    assert lpo_auc_scorer(search, X, y) == search.best_score_


def test_ordinary_folds_are_an_error_not_a_number():
    (X, y), _ = two_sets(60, 6, 0)
    search = GridSearchCV(
        LogisticRegression(), {"C": [1.0]}, scoring=lpo_auc_scorer, cv=3,
        error_score="raise",
    )  # fmt: skip
    with pytest.raises(ValueError, match="that trained the LogisticRegression"):
        search.fit(X, y)


@pytest.mark.parametrize("priors", [None, [0.2, 0.8]])
@pytest.mark.parametrize(
    "options",
    [{"solver": "svd"}, {"solver": "lsqr"}, {"solver": "lsqr", "shrinkage": 0.3}],
)
def test_discriminants_are_told_their_directions(options, priors):
    """(Σ a_c W_c + Λ)⁻¹ d, of all rows and, where Λ = 0, of all but a pair."""
    rng = np.random.default_rng(0)
    X, positive = rng.standard_normal((23, 3)), np.arange(23) % 3 == 0
    X[positive] *= 1.7
    X[:, 0] += positive
    model = LinearDiscriminantAnalysis(**options, priors=priors).fit(X, positive)
    told = _discriminant(model, X, positive, None)
    cases = [(X, positive, told.a)]
    if "shrinkage" not in options:
        cases.append((X[2:], positive[2:], told.left_out))
    for Z, y, a in cases:
        W = [(part := Z[y == c] - Z[y == c].mean(0)).T @ part for c in (False, True)]
        d = Z[y].mean(0) - Z[~y].mean(0)
        w = np.linalg.solve(a[0] * W[0] + a[1] * W[1] + np.diag(told.penalty), d)
        theirs = clone(model).fit(Z, y).coef_[0]
        unit = theirs / np.linalg.norm(theirs)
        assert w / np.linalg.norm(w) == pytest.approx(unit, rel=1e-6)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_objective_of_stochastic_gradients(penalty, loss):
    """``Σ loss/n + α{ρ‖w‖₁ + (1 − ρ)‖w‖²/2}`` (scikit-learn's user guide), times n."""
    (X, positive), _ = two_sets(40, 5, 0)
    model = SGDClassifier(
        loss=loss, penalty=penalty, alpha=0.03, l1_ratio=0.4, random_state=0
    ).fit(X, positive)
    told = _sgd(model, positive, None)
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": 0.4}[penalty]
    assert getattr(told, "l1", 0.0) == pytest.approx(0.03 * 40 * ratio)
    assert told.l2 == pytest.approx(0.03 * 40 * (1 - ratio))
    assert told.w == pytest.approx(model.coef_[0])
    assert told.case_weight.tolist() == [1] * 40


@pytest.mark.parametrize("C", [0.1, 5.0])
@pytest.mark.parametrize("solver", ["liblinear", "saga"])
def test_objective_of_sparse_logistic_regressions(solver, C):
    """``Σ loss + ‖w‖₁/C``; liblinear's intercept is a feature with its scaling."""
    (X, positive), _ = two_sets(40, 5, 0)
    model = LogisticRegression(
        **l1_part(1.0), solver=solver, C=C, intercept_scaling=3.0, max_iter=20_000
    )
    told = _l1_logistic(model.fit(X, positive), positive, None)
    assert (told.l1, told.l2) == (1 / C, 0)
    assert told.intercept_scaling == (3.0 if solver == "liblinear" else np.inf)


@pytest.mark.parametrize("options", [{}, {"penalty": "l1", "dual": False}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_of_both_classes_at_once(options, weighted):
    """Crammer & Singer (2001) of two classes: the hinge under twice the C."""
    (X, y), _ = two_sets(60, 5, 0)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    known = dict(tol=1e-10, max_iter=10**6, intercept_scaling=3.0)
    model = LinearSVC(multi_class="crammer_singer", C=0.3, **known, **options)
    hinge = LinearSVC(loss="hinge", C=0.6, **known).fit(X, y, weight)
    np.testing.assert_allclose(model.fit(X, y, weight).coef_, hinge.coef_, rtol=1e-7)
    told = training_objective(model, X, y == 1, weight)
    same = training_objective(hinge, X, y == 1, weight)
    assert (told.loss, told.intercept_scaling) == ("hinge", 3.0)
    np.testing.assert_allclose(told.case_weight / told.l2, same.case_weight / same.l2)


@pytest.mark.parametrize("seed", range(3))
def test_both_classes_at_once_on_noise(seed):
    """Its training rows were held-out rows, whose AUC of noise was .8."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((200, 60)), np.arange(200) % 2
    model = LinearSVC(multi_class="crammer_singer", max_iter=10**5).fit(X, y)
    posterior = auc_posterior(model, X, y)
    assert posterior.second_source == ".632+"
    assert posterior.interval()[0] < 0.5


@pytest.mark.filterwarnings("ignore::FutureWarning")  # its defaults
@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_coefficients_that_are_means_of_folds_minimise_nothing(ratio):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 100)), np.arange(60) % 2
    new = "l1_ratio" in l1_part(1)
    part = {"l1_ratios": (ratio,)} if new else {"penalty": "l1" if ratio else "l2"}
    model = LogisticRegressionCV(refit=False, solver="liblinear", Cs=5, cv=5, **part)
    model.fit(X, y)
    assert training_objective(model, X, y == 1) is None
    posterior = auc_posterior(model, X, y)
    low, high = posterior.interval()
    assert low < 0.5 < high
    assert posterior.warnings


def test_leave_pair_out_of_no_coefficients_is_a_half():
    (X, y), _ = two_sets(40, 5, 0)
    model = RidgeClassifier().fit(X, y)
    model.coef_[:] = 0
    with pytest.warns(UndefinedMetricWarning, match="set to 1/2 because the coeff"):
        assert lpo_auc_scorer(model, X, y) == 0.5


@pytest.mark.parametrize("shares", [[0.4, 0.6], [0.5, 0.5]])
def test_priors_that_are_the_shares_stay_where_a_pair_is_left_out(shares):
    """Priors that are given are not those of a row less in each class."""
    rng = np.random.default_rng(0)
    X, positive = rng.standard_normal((10, 2)), np.arange(10) >= 10 * shares[0]
    X[positive] *= 2
    model = LinearDiscriminantAnalysis(solver="lsqr", priors=shares).fit(X, positive)
    told = _discriminant(model, X, positive, None)
    assert told.a == pytest.approx([1, 1], rel=1e-12)
    left_out, n_c = told.left_out, 10 * np.array(shares)
    # Σ p_c W_c/n_c with a row less in each
    assert left_out / left_out[0] == pytest.approx(
        (shares / (n_c - 1)) / (shares[0] / (n_c[0] - 1)), rel=1e-12
    )


def test_discriminants_whose_covariance_is_far_from_singular():
    """Least squares without shrinkage is not known from P = n/2 on."""
    model = LinearDiscriminantAnalysis(solver="lsqr", priors=[1, 3])
    assert discriminant_objective(model, (60, 30)) is not None
    assert discriminant_objective(model, (60, 31)) is None
    assert discriminant_objective(model, (60, 5)).priors.tolist() == [0.25, 0.75]


def test_a_penalty_that_is_named_rules():
    (X, positive), _ = two_sets(40, 5, 0)
    model = LogisticRegression(**l1_part(1.0), solver="liblinear", C=0.5)
    model.fit(X, positive)
    for ratio, C in ((0.3, 0.5), (0.3, np.inf), (0.0, 0.5)):
        model.l1_ratio, model.C = ratio, C
        for penalty in ("l1", "l2", "elasticnet", None, "none"):
            model.penalty = penalty
            told = _l1_logistic(model, positive, None)
            part = {"l1": 1.0, "elasticnet": ratio}.get(penalty, 0.0)
            if part == 0 or C == np.inf:
                assert told is None
            else:
                assert told.l1 == pytest.approx(part / C, rel=1e-12)
                assert told.l2 == pytest.approx((1 - part) / C, abs=1e-12)


def test_no_penalty_by_its_name():
    (X, y), _ = two_sets(100, 4, 0)
    model = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    expected = penalised_fit(model, X, y).l2
    model.penalty, model.C = None, 1.0
    assert penalised_fit(model, X, y).l2 == expected < 1e-6


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({}, True),
        ({"alpha": 1.0}, True),
        ({"loss": "perceptron"}, False),
        ({"penalty": None}, False),
        ({"alpha": 0.0}, False),
    ],
)
def test_which_stochastic_gradients_have_an_optimum(options, known):
    (X, positive), _ = two_sets(40, 5, 0)
    model = SGDClassifier(random_state=0).fit(X, positive).set_params(**options)
    assert (_sgd(model, positive, None) is not None) == known


def test_modified_huber_by_its_definition():
    """(1 − yz)² down to yz = −1, −4yz below (scikit-learn's user guide)."""
    positive = np.ones(400, dtype=bool)
    model = SGDClassifier(loss="modified_huber", random_state=0)
    model.fit(np.eye(2), [0, 1])
    told = _sgd(model, positive, None)
    z = np.linspace(-4, 3, 400)
    for k in range(0, 400, 23):
        expected = (1 - z[k]) ** 2 if z[k] >= -1 else -4 * z[k]
        one = loss_value(told.loss, z[k : k + 1], positive[:1], told.case_weight[:1])
        assert one == pytest.approx(expected if z[k] < 1 else 0.0, rel=1e-12)


def test_many_held_out_rows_of_a_discriminant_are_no_training_rows():
    """Its direction on them is nearly the same: a cosine of 1 less some 1e-4."""
    (X, y), (Xh, yh) = two_sets(3000, 4, 0, gap=2.0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    again = LinearDiscriminantAnalysis().fit(Xh, yh).decision_function(Xh)
    cosine = np.corrcoef(again, model.decision_function(Xh))[0, 1]
    assert 1e-5 < 1 - cosine < 1e-3
    assert leave_pair_out_estimate(model, X, y) is not None
    assert leave_pair_out_estimate(model, Xh, yh) is None


def test_a_discriminant_of_many_correlated_features():
    """What stands for a penalty of 0 must be small beside the smallest direction."""
    (X, y), _ = two_sets(2000, 5, 0)
    X = X + 100 * X[:, [4]]
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert leave_pair_out_estimate(model, X, y) is not None


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier()])
def test_balanced_weights_by_their_definition(model):
    """n/(2 n_c), scikit-learn's user guide."""
    (X, positive), _ = two_sets(40, 5, 0)
    X, positive = X[:30], np.arange(30) % 3 == 0
    model = clone(model).set_params(class_weight="balanced").fit(X, positive)
    expected = np.where(positive, 30 / (2 * 10), 30 / (2 * 20))
    assert case_weight_of(model, positive, None) == pytest.approx(expected, rel=1e-12)


def test_correlation_over_the_rows_that_weigh_something(rng):
    a, b = rng.normal(size=(2, 30))
    weight = np.repeat([0.0, 0.5, 2.0], 10)
    expected = pearsonr(a[10:], b[10:]).statistic
    assert correlation(a, b, weight) == pytest.approx(expected, rel=1e-12)
    assert np.isnan(correlation(a, np.ones(30), weight))
