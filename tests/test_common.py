"""Scikit-learn's own checks of every estimator, without expected failures."""

from collections import defaultdict
from itertools import product
from random import Random
from unittest import SkipTest

import numpy as np
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
    GaussianAUCClassifier(shrinkage="auto", standardize=False),
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


def products(kind, drawn, **values):
    """Every combination of the values, with a drawn value of each other parameter."""
    known, rng = kind().get_params(), Random(0)  # some parameters of QDA are new
    for chosen in product(*values.values()):
        others = {k: rng.choice(v) for k, v in drawn.items() if k in known}
        yield kind(**dict(zip(values, chosen, strict=True)), **others)


def settings():
    """Settings of each estimator without a contradiction.

    Parameters that change what is stored or how exactly a fit is solved are drawn.
    """
    gaussian = {"standardize": [True, False]}
    gaussian |= {"shrinkage": [None, 0.0, 0.3, 1.0, "auto"]}
    threshold = {"threshold": ["youden", "prior"]}
    yield from products(GaussianAUCClassifier, threshold, **gaussian)
    logistic = {"fit_intercept": [True, False], "class_weight": [None, "balanced"]}
    rest = {"tol": [1e-8, 1e-10]}
    C = [np.inf, 1e3, 1.0, 1e-3]
    yield from products(IRLSLogisticRegression, rest, C=C, **logistic)
    yield from products(IRLSLogisticRegression, rest, penalty=["firth"], **logistic)
    both = {"store_covariance": [False, True]}
    lda = {"n_components": [None, 1]}
    yield from products(LinearDiscriminantROC, both, tol=[1e-4, 1e-8], **lda)
    # the parent's solver "lsqr" does not transform, which the checks demand
    shrunk = {"solver": ["eigen"], "shrinkage": [0.0, 0.2, 0.5, 1.0, "auto"]}
    yield from products(LinearDiscriminantROC, both, **shrunk, **lda)
    reg_param = {"reg_param": [0.0, 1e-6, 0.1, 0.5, 0.99, 1.0]}
    tols = {"tol": [1e-4, 1e-8, 0.0]}
    yield from products(QuadraticDiscriminantROC, tols | both, **reg_param)
    if "solver" in QuadraticDiscriminantROC().get_params():
        how = {"solver": ["eigen"], "shrinkage": [None, 0.01, 0.3, 0.9, 1.0, "auto"]}
        yield from products(QuadraticDiscriminantROC, both, **how)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", list(settings()), ids=repr)
def test_sklearn_checks_of_other_settings(estimator):
    failures = {}
    # the check wants a class of little weight to be ignored, which takes an intercept;
    # through the origin the classes of the checks of weights are separated, and a fit
    # without a penalty has no maximum to which both fits come equally near
    through_origin = not getattr(estimator, "fit_intercept", True)
    of_weights = "check_class_weight_classifiers", "check_sample_weight_equivalence"
    for one, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if through_origin and name.startswith(of_weights):
            continue
        if not is_sound(one, check):
            continue
        try:
            check(one)
        except SkipTest:
            continue
        except Exception as failure:
            failures[name] = failure
    assert not failures
