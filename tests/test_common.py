"""Scikit-learn's own checks of every estimator: no expected failures."""

import pytest
import sklearn
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    QuadraticDiscriminantROC,
)

ESTIMATORS = [
    GaussianAUCClassifier(),
    GaussianAUCClassifier(
        solver="closed_form", shrinkage="auto", threshold="prior", standardize=False
    ),
    GaussianAUCClassifier(shrinkage="bayes"),
    IRLSLogisticRegression(),
    IRLSLogisticRegression(C=1.0, class_weight="balanced"),
    IRLSLogisticRegression(penalty="firth"),
    LinearDiscriminantROC(),
    LinearDiscriminantROC(solver="eigen", shrinkage="auto", denominator="ml"),
    QuadraticDiscriminantROC(),
    QuadraticDiscriminantROC(reg_param=0.5),
]


def is_sound(estimator, check):
    """Whether the check itself holds water.

    To make y binary, scikit-learn 1.6 relabels the weighted and the repeated rows by
    whatever label comes first in each: two different problems are compared.
    """
    binary_only = not get_tags(estimator).classifier_tags.multi_class
    compares = check.func.__name__.startswith("check_sample_weight_equivalence")
    return not (sklearn.__version__.startswith("1.6.") and binary_only and compares)


generated = parametrize_with_checks(ESTIMATORS).mark  # a generator up to 1.8
every_check = pytest.mark.parametrize(
    generated.args[0],
    [pair for pair in generated.args[1] if is_sound(*pair)],
    ids=generated.kwargs["ids"],
)


# Scikit-learn's checks fit separable and collinear toy data, which we name in warnings;
# QDA's parent does so before scikit-learn 1.8.
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@every_check
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_enough_checks(estimator):
    # A wrong tag would make the checks above disappear silently. QDA takes no weights
    # and transforms nothing: fewer of them are about it.
    enough = 50 if isinstance(estimator, QuadraticDiscriminantROC) else 60
    assert len(list(estimator_checks_generator(estimator))) >= enough
