"""Scikit-learn's own checks of every estimator, without expected failures."""

from collections import defaultdict
from unittest import SkipTest

import pytest
import sklearn
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

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


CHECKS = defaultdict(list)  # name of a check: the pairs of an estimator and the check
for one in ESTIMATORS:
    for estimator, check in estimator_checks_generator(one):
        if is_sound(estimator, check):
            CHECKS[check.func.__name__].append((estimator, check))


# Scikit-learn's checks fit separable and collinear data, for which the estimators warn;
# the parent of QDA does so before scikit-learn 1.8.
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("name", CHECKS)
def test_sklearn_check(name):
    failures, skipped = {}, []
    for estimator, check in CHECKS[name]:
        try:
            check(estimator)
        except SkipTest as reason:
            skipped.append(reason)
        except Exception as failure:
            failures[repr(estimator)] = failure
    assert not failures
    if len(skipped) == len(CHECKS[name]):
        pytest.skip(str(skipped[0]))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_no_wrong_tag_removes_checks(estimator):
    # QDA takes no weights and transforms nothing: fewer checks apply.
    enough = 50 if isinstance(estimator, QuadraticDiscriminantROC) else 60
    assert len(list(estimator_checks_generator(estimator))) >= enough
