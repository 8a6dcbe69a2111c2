"""Scikit-learn's own checks of every estimator, without expected failures."""

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
    GaussianAUCClassifier(solver="closed_form", shrinkage="auto", standardize=False),
    IRLSLogisticRegression(),
    IRLSLogisticRegression(penalty="firth"),
    LinearDiscriminantROC(),
    QuadraticDiscriminantROC(),
]


def is_sound(estimator, check):
    """Return whether a check compares equal problems.

    To make y binary, scikit-learn 1.6 relabels the weighted and the repeated rows by
    the label that comes first in each: two different problems.
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


# Scikit-learn's checks fit separable and collinear data, for which the estimators warn;
# the parent of QDA does so before scikit-learn 1.8.
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@every_check
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_no_wrong_tag_removes_checks(estimator):
    # QDA takes no weights and transforms nothing: fewer checks apply.
    enough = 50 if isinstance(estimator, QuadraticDiscriminantROC) else 60
    assert len(list(estimator_checks_generator(estimator))) >= enough
