"""ResubstitutionSplit and bayesian_val_score."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import ResubstitutionSplit, auc_posterior, bayesian_val_score, cbauc_scorer

X, Y = load_breast_cancer(return_X_y=True)
PIPE = make_pipeline(StandardScaler(), LogisticRegression())


def test_split_is_all_rows_once():
    for data in (X, X.tolist(), sparse.csr_array(X)):
        [(train, test)] = ResubstitutionSplit().split(data)
        np.testing.assert_array_equal(train, np.arange(len(Y)))
        np.testing.assert_array_equal(test, np.arange(len(Y)))
    assert ResubstitutionSplit().get_n_splits() == 1
    assert repr(check_cv(ResubstitutionSplit())) == "ResubstitutionSplit()"


def test_search_fits_each_candidate_once_on_all_rows():
    rows = []

    class Counting(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            rows.append(len(X))
            return super().fit(X, y, sample_weight)

    grid = {"C": [0.01, 1.0, 100.0]}
    search = GridSearchCV(
        Counting(), grid, scoring=cbauc_scorer, cv=ResubstitutionSplit()
    )
    search.fit(X[:90, :4], Y[:90])
    assert rows == [90] * 4  # three candidates and the refit


def test_bayesian_val_score_is_the_posterior_of_a_fresh_fit():
    posterior = bayesian_val_score(PIPE, X, Y, covariance="separate")
    expected = auc_posterior(PIPE.fit(X, Y), X, Y, covariance="separate")
    assert posterior.mean() == expected.mean()
    low, high = posterior.interval(0.95)
    assert low < posterior.mean() < high
    assert posterior.std() < 0.02


def test_bayesian_val_score_does_not_touch_the_estimator():
    fresh = LogisticRegression(C=0.1)
    bayesian_val_score(fresh, X[:, :3], Y)
    assert not hasattr(fresh, "coef_")


@pytest.mark.filterwarnings("ignore:.*near copy")  # of rows that are repeated
def test_bayesian_val_score_weights_enter_fit_and_score():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(Y))
    rows = np.repeat(np.arange(len(Y)), weight)
    model = make_pipeline(LogisticRegression(tol=1e-10, max_iter=10_000, C=0.01))
    Z = (X[:, :5] - X[:, :5].mean(axis=0)) / X[:, :5].std(axis=0)
    a = bayesian_val_score(model, Z, Y, sample_weight=weight)
    b = bayesian_val_score(model, Z[rows], Y[rows])
    assert a.mean() == pytest.approx(b.mean(), rel=1e-7)


def test_bayesian_val_score_checks_lengths():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        bayesian_val_score(PIPE, X, Y[:-1])
