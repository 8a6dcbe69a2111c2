"""The mean AUC of shared folds, and its error."""

import interval_oracles as oracles
import numpy as np
import pytest
from scipy.stats import beta
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)

from skauc import (
    UntrustedAUCWarning,
    compare_cross_val_auc,
    cross_val_auc,
    hand_till_auc,
)

X, Y = make_classification(120, 6, n_informative=3, flip_y=0.3, random_state=4)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(8, random_state=0)]
)
def test_mean_is_cross_val_score(model):
    cv = StratifiedKFold(4, shuffle=True, random_state=2)
    result = cross_val_auc(model, X, Y, cv)
    folds = cross_val_score(model, X, Y, cv=cv, scoring="roc_auc")
    np.testing.assert_allclose(result.parts, folds, rtol=1e-12)
    assert result.auc == pytest.approx(folds.mean(), rel=1e-12)


def test_error_is_delongs_of_the_folds_with_ties():
    # a tree-like model with few values: ties count ½ in the influence too
    model = RandomForestClassifier(3, max_depth=2, random_state=0)
    cv = StratifiedKFold(5, shuffle=True, random_state=2)
    variances = []
    for train, test in cv.split(X, Y):
        score = clone(model).fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        neg, pos = score[Y[test] == 0], score[Y[test] == 1]
        variances.append(oracles.loop_delong([neg], [pos])[0, 0])
    result = cross_val_auc(model, X, Y, cv)
    assert result.standard_error == pytest.approx(
        np.sqrt(2 * np.sum(variances)) / 5,
        rel=1e-12,  # twice, for the training rows
    )


def test_repeats_do_not_shrink_the_error_like_new_rows():
    once = cross_val_auc(
        LogisticRegression(), X, Y, StratifiedKFold(5, shuffle=True, random_state=0)
    )
    repeated = cross_val_auc(
        LogisticRegression(),
        X,
        Y,
        RepeatedStratifiedKFold(n_splits=5, n_repeats=8, random_state=0),
    )
    assert len(repeated.parts) == 40
    # eight times the rows would give .35; the same rows in other folds do not
    assert repeated.standard_error > 0.7 * once.standard_error


def test_labels_direction_and_perfect_folds():
    words = np.where(Y == 1, "yes", "no")
    plain = cross_val_auc(LogisticRegression(), X, Y)
    named = cross_val_auc(LogisticRegression(), X, words, pos_label="no")
    assert named.auc == pytest.approx(plain.auc, rel=1e-12)  # model and labels turn
    iris = load_iris()
    two = iris.target < 2
    perfect = cross_val_auc(LogisticRegression(), iris.data[two], iris.target[two])
    assert perfect.auc == 1
    assert 0.9 < perfect.confidence_interval().low < 1


def test_cross_val_errors():
    with pytest.raises(ValueError, match="2 or more rows of each class .* got 1"):
        cross_val_auc(LogisticRegression(), X[:20], np.arange(20) < 5)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (2.0, 1.0)])
def test_regressors_on_two_numbers(labels):
    y = np.array(labels)[Y]
    cv = StratifiedKFold(5)
    result = cross_val_auc(Ridge(), X, y)
    expected = [
        roc_auc_score(y[test], Ridge().fit(X[train], y[train]).predict(X[test]))
        for train, test in cv.split(X, y)
    ]
    np.testing.assert_allclose(result.parts, expected, rtol=1e-12)
    order = np.argsort(y)  # sorted labels: folds are stratified for regressors too
    assert np.isfinite(cross_val_auc(Ridge(), X[order], y[order]).auc)
    turned = cross_val_auc(Ridge(), X, y, pos_label=min(labels))
    assert turned.auc == pytest.approx(result.auc, rel=1e-12)


@pytest.mark.filterwarnings("ignore:A class has only 4 rows")
def test_scores_that_all_tie_have_exact_limits():
    """They vary by nothing; of 4 rows of the smallest class two are won."""
    with pytest.warns(UntrustedAUCWarning, match="only 4 rows"):
        result = hand_till_auc(np.repeat([0, 1, 2], 4), np.full((12, 3), 1 / 3))
    limits = beta.ppf([0.025, 0.975], [2, 3], [3, 2])
    assert result.confidence_interval() == pytest.approx(limits)


GROUPS = np.arange(90) // 3


# scikit-learn says that 5 stratified folds ignore groups, in both ways
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("cv", [5, GroupKFold(3), StratifiedGroupKFold(3)], ids=repr)
def test_groups_with_and_without_metadata_routing(routing, cv):
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 2
    models = [LogisticRegression(), LogisticRegression(C=1e-3)]
    splitter = StratifiedGroupKFold(cv) if cv == 5 else cv
    tests = [test for _, test in splitter.split(X, y, GROUPS)]
    expected = []
    for test in tests:
        train = np.setdiff1d(np.arange(90), test)
        model = LogisticRegression().fit(X[train], y[train])
        score = model.decision_function(X[test])
        apart = GROUPS[test] != GROUPS[test][:, None]
        neg, pos = np.nonzero(apart & (y[test] == 0)[:, None] & (y[test] == 1))
        expected.append(np.mean(score[pos] > score[neg]))
    with config_context(enable_metadata_routing=routing):
        given = [{"groups": GROUPS}]
        if routing and cv != 5:  # the splitter requests them
            given.append({"params": {"groups": GROUPS}})
        for how in given:
            parts = cross_val_auc(models[0], X, y, cv, **how).parts
            assert parts == pytest.approx(expected, rel=1e-12)
            result = compare_cross_val_auc(models, X, y, cv, **how)
            assert result.folds_a == pytest.approx(expected, rel=1e-12)


def test_a_fit_that_requests_groups_gets_them_too():
    """The inner folds of a search keep groups together; without them it raises."""
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 2
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=GroupKFold(2))
    with config_context(enable_metadata_routing=True):
        for how in ({"params": {"groups": GROUPS}}, {"groups": GROUPS}):
            assert len(cross_val_auc(inner, X, y, GroupKFold(3), **how).parts) == 3
