"""Scikit-learn's own checks of every estimator: no expected failures."""

import pytest
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
)

ESTIMATORS = [
    GaussianAUCClassifier(),
    GaussianAUCClassifier(
        solver="closed_form", shrinkage="auto", threshold="prior", standardize=False
    ),
    GaussianAUCClassifier(shrinkage="bayes"),
    IRLSLogisticRegression(),
    IRLSLogisticRegression(C=1.0, class_weight="balanced"),
    LinearDiscriminantROC(),
    LinearDiscriminantROC(solver="eigen", shrinkage="auto", denominator="ml"),
]


# Scikit-learn's checks fit separable and collinear toy data, which we name in warnings.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_at_least_sixty_checks(estimator):
    # A wrong tag would make the checks above disappear silently.
    assert len(list(estimator_checks_generator(estimator))) >= 60
