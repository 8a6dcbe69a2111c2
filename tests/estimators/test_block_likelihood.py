"""IRLS over rows in blocks: the fit of the concatenated rows, whatever the blocks."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skauc import IRLSLogisticRegression, RowBlocks

CUTS = {"one": [], "some": [40, 41, 41, 170], "sorted": None, "rows": range(1, 40)}
PROBLEMS = {
    "plain": {},
    "no intercept": {"fit_intercept": False},
    "ridge": {"C": 0.3},
    "balanced": {"class_weight": "balanced"},
    "dict": {"class_weight": {0: 0.25, 1: 3.0}},
    "firth": {"penalty": "firth"},
}


def rows_of(seed=0, n=240, P=4, K=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) + rng.normal(size=P)
    logits = X @ rng.normal(size=(P, K)) + rng.gumbel(size=(n, K))
    return X, logits.argmax(axis=1), rng.integers(0, 4, n) * 3.0


def in_blocks(X, y, weight=None, cuts=(40, 41, 41, 170)):
    """A list of tuples, cut at the places; 41, 41 is an empty block."""
    arrays = [X, y] if weight is None else [X, y, weight]
    edges = [0, *cuts, X.shape[0]]
    return RowBlocks([tuple(a[i:j] for a in arrays) for i, j in pairwise(edges)])


def same(found, expected):
    """Roundings of two orders of summation, and Newton's last step."""
    assert found.coef_ == pytest.approx(expected.coef_, rel=1e-10, abs=1e-11)
    assert found.intercept_ == pytest.approx(expected.intercept_, rel=1e-10, abs=1e-11)
    for name in ("log_likelihood_", "n_observations_", "rank_", "n_parameters_"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    for name in ("converged_", "separation_", "n_features_in_", "reference_"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.classes_.tolist() == expected.classes_.tolist()
    if expected.inference_.solution.covariance is not None:
        assert found.inference_.solution.covariance == pytest.approx(
            expected.inference_.solution.covariance, rel=1e-9, abs=1e-14
        )


@pytest.mark.parametrize("problem", PROBLEMS)
def test_fit_is_that_of_the_rows(problem):
    for cuts in CUTS.values():
        for weighted in [False, True]:
            X, y, weight = rows_of()
            weight = weight if weighted else None
            if cuts is None:  # blocks of one class
                order = np.argsort(y, kind="stable")
                X, y = X[order], y[order]
                cuts = [60, np.count_nonzero(y == 0)]
            model = IRLSLogisticRegression(**PROBLEMS[problem])
            expected = model.fit(X, y, weight)
            found = IRLSLogisticRegression(**PROBLEMS[problem])
            same(found.fit(in_blocks(X, y, weight, cuts)), expected)


@pytest.mark.parametrize("C", [np.inf, 2.0])
def test_three_classes(C):
    X, y, weight = rows_of(K=3)
    labels = np.array(["left", "middle", "right"])[y]
    expected = IRLSLogisticRegression(C=C, reference="right").fit(X, labels, weight)
    found = IRLSLogisticRegression(C=C, reference="right")
    same(found.fit(in_blocks(X, labels, weight)), expected)


@pytest.mark.parametrize("kind", ["complete", "quasi-complete"])
def test_separation_is_found(kind):
    _, y, weight = rows_of()
    X = np.where(y == 1, 1.0, -1.0)[:, None]
    if kind == "quasi-complete":
        X[1::3, 0] = 0.0
    for blocks in (in_blocks(X, y), in_blocks(X, y, weight)):
        with pytest.warns(ConvergenceWarning, match=f"{kind} separation"):
            model = IRLSLogisticRegression().fit(blocks)
        assert model.separation_ == kind
    # Two rows of one block stand against it
    X[[np.argmax(y == 0), np.argmax(y == 1)]] *= -1
    assert IRLSLogisticRegression().fit(in_blocks(X, y)).separation_ is None


def test_more_features_than_rows_are_gathered():
    X, y, weight = rows_of(n=30, P=50)
    for columns in ((X, y), (X, y, weight + 0.5)):
        expected = IRLSLogisticRegression(C=1.0).fit(*columns)
        found = IRLSLogisticRegression(C=1.0).fit(in_blocks(*columns, cuts=[3, 20]))
        same(found, expected)


@pytest.mark.parametrize("penalty", ["l2", "firth"])
def test_reports_that_need_the_rows(penalty):
    X, y, weight = rows_of(n=180, P=2)
    model = IRLSLogisticRegression(penalty=penalty).fit(X, y, weight)
    blocks = in_blocks(X, y, weight)
    expected = model.summary(method="profile", X=X, y=y, sample_weight=weight)
    found = model.summary(method="profile", X=blocks)
    assert found.low == pytest.approx(expected.low, rel=1e-8)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    question = {"contrast": [[0, 1, 1]]}
    expected = model.likelihood_ratio_test(**question, X=X, y=y, sample_weight=weight)
    found = model.likelihood_ratio_test(**question, X=blocks)
    assert found == pytest.approx(expected, rel=1e-8)
    if penalty == "firth":
        return
    for covariance in ("HC0", "HC1"):
        expected = model.summary(covariance=covariance, X=X, y=y, sample_weight=weight)
        found = model.summary(covariance=covariance, X=blocks)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-10)


def test_reports_refuse_what_is_no_sum_and_other_rows():
    X, y, _ = rows_of()
    model = IRLSLogisticRegression().fit(in_blocks(X, y))
    with pytest.raises(ValueError, match="groups must be None where X comes in blocks"):
        model.summary(covariance="cluster", X=in_blocks(X, y), groups=y)
    with pytest.raises(ValueError, match="must be those of the fit, whose log-likel"):
        model.summary(covariance="HC0", X=in_blocks(X[:-1], y[:-1]))
    other = np.append(y[:-1], 2)
    with pytest.raises(ValueError, match="the labels of the fitted model, 0, 1, got 2"):
        model.summary(covariance="HC0", X=in_blocks(X, other, cuts=[4, 40]))


def test_errors_of_all_blocks():
    X, y, _ = rows_of()
    model = IRLSLogisticRegression()
    with pytest.raises(ValueError, match=r"only 1 class, \[7\]"):
        model.fit(in_blocks(X, np.full(len(y), 7)))
    with pytest.raises(ValueError, match="must have at least one row"):
        model.fit(in_blocks(X[:0], y[:0], cuts=()))
    with pytest.raises(ValueError, match="only zeros in class 1"):
        model.fit(in_blocks(X, y, np.where(y == 1, 0.0, 1.0)))
    with pytest.raises(ValueError, match="offset must be None where X comes in blocks"):
        model.fit(in_blocks(X, y), offset=np.zeros(len(y)))
    with pytest.raises(ValueError, match="y and sample_weight must be inside"):
        model.fit(in_blocks(X, y), y)
    with pytest.raises(ValueError, match="Only binary classification"):
        IRLSLogisticRegression(penalty="firth").fit(in_blocks(X, np.arange(240) % 3))
    with pytest.raises(ValueError, match="are not in class_weight"):
        IRLSLogisticRegression(class_weight={5: 1.0}).fit(in_blocks(X, y))
    with pytest.raises(
        ValueError, match=r"sample_weight must be 0 or between .* 1e-200"
    ):
        model.fit(in_blocks(X, y, np.where(y == 1, 1e-200, 1.0)))
    assert not hasattr(model, "classes_")
