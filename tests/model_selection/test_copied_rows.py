"""Copies of rows are told from rows that are equal because features are coarse."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skauc import (
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
    clear_cache,
)
from skauc.model_selection import _copied_rows
from skauc.model_selection._copied_rows import n_copied


def oversampled(seed=0, n_features=20):
    """Ninety rows of noise, and thirty of the other class drawn ninety times."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((120, n_features)), np.arange(120) >= 90
    some = np.append(np.arange(90), 90 + rng.integers(0, 30, 90))
    return X[some], y[some], 180 - len(np.unique(some))


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_oversampled_rows_are_counted(scale):
    X, y, n_copies = oversampled()
    assert n_copied(scale * X, y) == n_copies
    order = np.random.default_rng(1).permutation(180)
    assert n_copied((scale * X[order]).astype("f4" if scale == 1 else "f8"), y[order])
    assert n_copied(scale * X, ~y) == n_copies
    # one feature that tells rows apart is enough, wherever it stands
    X[:, :-1] = X[:, :-1] > 0
    for columns in (_copied_rows._COLUMNS, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_copied_rows, "_COLUMNS", columns)
            assert n_copied(scale * X, y) == n_copies


def test_rows_that_weigh_nothing_are_none():
    X, y, _ = oversampled()
    weight = np.zeros(180)
    weight[np.unique(X, axis=0, return_index=True)[1]] = 1
    assert n_copied(X, y, weight) == 0
    assert n_copied(X, y, weight + 1) == n_copied(X, y) + weight.sum()
    assert n_copied(X, y, (weight + 1) / 16) == 0  # shares of rows: no copy is whole


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_copies(seed):
    """A weight of 2 is a row written twice, for the sentence as for the number."""
    X, y, _ = oversampled(seed)
    weight = np.random.default_rng(seed).integers(0, 4, 180)
    rows = np.repeat(np.arange(180), weight)
    assert n_copied(X, y, weight) == n_copied(X[rows], y[rows]) > 90
    model = LogisticRegression().fit(X, y, sample_weight=weight)
    said = []
    for part in ((X, y, weight), (X[rows], y[rows], None)):
        with pytest.warns(UntrustedAUCWarning, match="are copies"):
            posterior = auc_posterior(model, *part[:2], sample_weight=part[2])
        said.append((posterior.warnings, pytest.approx(posterior.mean(), rel=1e-6)))
    assert said[0] == said[1]


def test_coarse_features_have_equal_rows():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    signs = rng.choice([-1.0, 1.0], (400, 6))
    assert n_copied(signs, y) == 0
    assert n_copied(signs, signs[:, 0] > 0) == 0  # all equal rows have one label
    ages = rng.integers(20, 60, (400, 1)) * [1.0, 2.0]
    assert n_copied(ages, y) == 0  # equal rows of both labels
    assert n_copied(ages[:, :1], ages[:, 0] > 40) == 0


@pytest.mark.parametrize("seed", range(4))
def test_equal_by_chance_or_for_want_of_a_value(seed):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((200, 6))
    y = Z.sum(axis=1) > np.quantile(Z.sum(axis=1), 0.97)
    Z[np.flatnonzero(~y)[:20]] = 0.0  # the mean, of rows with nothing
    assert n_copied(Z, y) == 0
    # pairs of 100 integers up to 300, a sixth of which are equal, told apart by y
    x = rng.integers(0, 300, 100).astype(float)
    assert 100 - len(np.unique(x)) >= 8
    assert n_copied(np.column_stack([x, x**2]), x > 290) == 0


def test_copies_that_were_worked_on():
    X, y, n_copies = oversampled(n_features=5)
    assert n_copied(np.round(X, 4), y) == n_copies
    turned = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    assert n_copied(turned * (1 + 1e-15 * (np.arange(180)[:, None] % 3)), y) == n_copies
    X[3, 2] = 1e14
    assert n_copied(X, y) == n_copies


def test_few_copies_and_few_rows_are_nothing():
    X, y, _ = oversampled()
    X, kept = np.unique(X, axis=0, return_index=True)
    y, n = y[kept], len(X)
    for n_copies in (1, 4, 12):
        some = np.append(np.arange(n), np.arange(n_copies))
        enough = n_copies >= 0.05 * len(some)
        assert n_copied(X[some], y[some]) == (n_copies if enough else 0)
    twice = np.repeat(np.arange(19), 2)
    assert n_copied(X[twice], y[twice]) == 0
    twice = np.repeat(np.arange(20), 2)
    assert n_copied(X[twice], y[twice]) == 20


def test_rows_that_nearly_agree_are_different():
    """One feature of 1e15 would leave the keys no digit of the others."""
    X, y, _ = oversampled()
    X += 1e-3 * np.random.default_rng(1).standard_normal(X.shape)
    assert n_copied(X, y) == 0
    X[:, 0] = 1e15 * (1 + np.arange(180) % 60)
    assert n_copied(X, y) == 0


def test_copies_are_said_where_the_number_is_made():
    X, y, n_copies = oversampled()
    model = LogisticRegression().fit(X, y)
    clear_cache()
    with pytest.warns(UntrustedAUCWarning, match=f"{n_copies} of 180 rows are copies"):
        posterior = auc_posterior(model, X, y)
    assert any("rows are copies of others" in said for said in posterior.warnings)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1, 10]},
        scoring=cbauc_scorer,
        cv=ResubstitutionSplit(),
    )
    clear_cache()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert sum("rows are copies" in str(one.message) for one in said) == 1
    kept = np.unique(np.column_stack([X, y]), axis=0)
    X, y = kept[:, :-1], kept[:, -1] == 1
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    posterior = auc_posterior(model, X, y)
    assert not any("copies" in text for text in posterior.warnings)
    low, high = posterior.interval()
    assert low < 0.5 < high
