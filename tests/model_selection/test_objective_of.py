"""What every known linear model minimised: it is at the optimum of its objective."""

from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight
from sklearn_versions import l1_part

from skauc import GaussianAUCClassifier, IRLSLogisticRegression, LinearDiscriminantROC
from skauc.leave_pair_out._objective import stationarity
from skauc.model_selection.reading._fitted_model import fitted_models

N, P = 90, 6
RNG = np.random.default_rng(0)
Y = (np.arange(2 * N) % 3 == 0).astype(int)
X = RNG.standard_normal((2 * N, P)) + 0.8 * Y[:, None] / np.sqrt(P)
HERE, THERE = slice(N), slice(N, None)
WEIGHT = RNG.integers(1, 4, N).astype(float)
TIGHT = {"tol": 1e-9, "max_iter": 10**5}
FOLDS = {"Cs": 3, "cv": 3, "tol": 1e-9, "scoring": "roc_auc"}
if "use_legacy_attributes" in LogisticRegressionCV().get_params():  # 1.8 and later
    FOLDS |= {"l1_ratios": (0,), "use_legacy_attributes": False}
# How far a solver came does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
COSTS = {0: 1.0, 1: 3.0}

KNOWN = {
    "logistic": LogisticRegression(C=0.3, **TIGHT),
    "no intercept": LogisticRegression(fit_intercept=False, **TIGHT),
    "liblinear": LogisticRegression(
        solver="liblinear", intercept_scaling=2.0, tol=1e-10, max_iter=10**4
    ),
    "without penalty": LogisticRegression(C=np.inf, **TIGHT),
    "balanced": LogisticRegression(class_weight="balanced", **TIGHT),
    "costs": LogisticRegression(class_weight=COSTS, **TIGHT),
    "folds": LogisticRegressionCV(**FOLDS),
    "irls": IRLSLogisticRegression(C=0.5, class_weight="balanced"),
    "l1": LogisticRegression(solver="liblinear", **l1_part(1.0), **TIGHT),
    "elastic net": LogisticRegression(solver="saga", **l1_part(0.4), **TIGHT),
    "svc": LinearSVC(C=0.3, **TIGHT),
    "svc, l1": LinearSVC(penalty="l1", dual=False, **TIGHT),
    "svc, balanced": LinearSVC(class_weight="balanced", intercept_scaling=3.0, **TIGHT),
    "ridge": RidgeClassifier(alpha=3.0),
    "ridge, costs": RidgeClassifier(class_weight=COSTS),
    "ridge, balanced": RidgeClassifier(class_weight="balanced"),
    "ridge, folds": RidgeClassifierCV(alphas=[0.1, 10.0]),
}
L1 = "l1", "elastic net", "svc, l1"
DISCRIMINANTS = {
    "lda": LinearDiscriminantAnalysis(),
    "lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "shrunken": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.4),
    "automatic": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "automatic, eigen": LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "eigen, priors": LinearDiscriminantAnalysis(
        solver="eigen", shrinkage=0.2, priors=[0.2, 0.8]
    ),
    "ours": LinearDiscriminantROC(),
    "gaussian": GaussianAUCClassifier(shrinkage=None),
    "gaussian, automatic": GaussianAUCClassifier(shrinkage="auto"),
    "gaussian, shrunken": GaussianAUCClassifier(shrinkage=0.3, standardize=False),
    "gaussian, standardized": GaussianAUCClassifier(shrinkage=0.3, standardize=True),
}


def fit_of(model, part=HERE, weight=None, *, flipped=False, make=np.asarray):
    return objective_of(model, make(X[part]), Y[part], weight, 0 if flipped else None)


def objective_of(model, X, y, weight=None, pos_label=None):
    """Rows, the fit to them or None, and why there is none."""
    [opened] = fitted_models(model, X, y, weight, pos_label=pos_label)
    return opened.front, opened.fit, opened.fit_reason


@pytest.mark.parametrize("name", KNOWN)
def test_a_model_is_at_the_optimum_of_its_objective(name):
    for weighted in [False, True]:
        for flipped in [False, True]:
            for make in [np.asarray, sparse.csr_array]:
                weight = WEIGHT if weighted else None
                model = clone(KNOWN[name]).fit(X[HERE], Y[HERE], sample_weight=weight)
                rows, fit, reason = fit_of(
                    model, HERE, weight, flipped=flipped, make=make
                )
                assert bool(reason) == bool(fit.objective.l1) == (name in L1)
                assert stationarity(fit, rows) < 0.01
                decision = model.decision_function(X[HERE])
                np.testing.assert_allclose(
                    fit.score(rows.X), -decision if flipped else decision
                )
                others, elsewhere, _ = fit_of(model, THERE)
                assert stationarity(elsewhere, others) > 0.3


@pytest.mark.parametrize("name", DISCRIMINANTS)
def test_a_discriminant_has_the_direction_of_its_ridge(name):
    for flipped in [False, True]:
        model = clone(DISCRIMINANTS[name]).fit(X[HERE], Y[HERE])
        rows, fit, reason = fit_of(model, flipped=flipped)
        assert reason is None
        coef = np.ravel(model.coef_) * (-1 if flipped else 1)
        cosine = coef @ fit.coef / np.linalg.norm(coef) / np.linalg.norm(fit.coef)
        assert cosine > 1 - 1e-6
        assert stationarity(fit, rows) < 1e-3


REASONS = {
    "its coefficients are means over folds": LogisticRegressionCV(refit=False, **FOLDS),
    "penalty is not L2": LogisticRegression(solver="liblinear", **l1_part(1)),
    "penalty is not L2 alone": IRLSLogisticRegression(penalty="firth"),
    "loss='hinge' with penalty='l2' is not smooth": LinearSVC(loss="hinge"),
    "crammer_singer": LinearSVC(multi_class="crammer_singer"),
    "restricted to positive values": RidgeClassifier(positive=True),
    "covariance_estimator changes": LinearDiscriminantAnalysis(
        "lsqr", covariance_estimator=LedoitWolf()
    ),
    "not known": SVC(kernel="linear"),
    "objective is not known": Perceptron(),
    "objective is not": SGDClassifier(loss="log_loss"),
    "objective is not known here": Lasso(),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_is_the_true_one(reason):
    model = clone(REASONS[reason]).fit(X[HERE], Y[HERE])
    _, fit, found = fit_of(model)
    assert fit is None or fit.objective.l1
    assert reason in found


def test_reasons_that_the_rows_give():
    y = Y[HERE]
    lda = LinearDiscriminantAnalysis().fit(X[HERE], y)
    assert "no sample_weight" in fit_of(lda, weight=WEIGHT)[2]
    wide = np.random.default_rng(0).standard_normal((N, N))
    gaussian = GaussianAUCClassifier(shrinkage=0.3, standardize=True).fit(wide, y)
    assert "features >= rows - 2" in objective_of(gaussian, wide, y)[2]
    offset = IRLSLogisticRegression(C=1.0).fit(X[HERE], y, offset=X[HERE, 0])
    assert "trained with an offset" in fit_of(offset)[2]

    class Own(LogisticRegression):
        def fit(self, X, y):
            return super().fit(X**3, y)

    assert "fit is not that of a class" in fit_of(Own().fit(X[HERE], y))[2]


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(class_weight="balanced"),
        RidgeClassifier(class_weight="balanced"),
        LinearSVC(class_weight="balanced"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_balanced_weights_by_their_definition(model):
    """n/(2 n_c), scikit-learn's user guide; of weights where the model counts them."""
    model.fit(X[HERE], Y[HERE])

    def class_weight_of(**how):
        return fit_of(model, **how)[1].objective.class_weight

    assert class_weight_of() == pytest.approx((90 / 120, 90 / 60))
    assert class_weight_of(flipped=True) == pytest.approx((90 / 60, 90 / 120))
    weighted, *_ = fit_of(model, weight=WEIGHT)
    total = weighted.n / (2 * np.array([weighted.n_neg, weighted.n_pos]))
    by_rows = isinstance(model, RidgeClassifier)
    by_rows |= "sample_weight" not in signature(compute_class_weight).parameters
    expected = (90 / 120, 90 / 60) if by_rows else tuple(total)
    assert class_weight_of(weight=WEIGHT) == pytest.approx(expected)
