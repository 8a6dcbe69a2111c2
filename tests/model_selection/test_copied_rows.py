"""Copies of rows are told from rows that are equal because features are coarse."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skauc import (
    ResubstitutionSplit,
    RowBlocks,
    UntrustedAUCWarning,
    auc_posterior,
    cbauc_scorer,
    clear_cache,
)
from skauc.model_selection import _copied_rows
from skauc.model_selection._copied_rows import copies, n_copied
from skauc.statistics._block_matrix import BlockMatrix


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
    X[:, -1] *= 1e-14  # and of any size
    assert n_copied(scale * X[:, -3:], y) == n_copies


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


def repeated(x, n_copies):
    """Rows of one feature and one that a row has, the first ones once more."""
    some = np.append(np.arange(len(x)), np.arange(n_copies))
    return np.column_stack([x, np.arange(len(x)) == 50])[some], some < len(x) / 3


@pytest.mark.parametrize(("n_copies", "found"), [(9, 0), (10, 10)])
def test_a_twentieth_of_the_rows(n_copies, found, rng):
    assert n_copied(*repeated(rng.normal(size=190), n_copies)) == found


@pytest.mark.parametrize(("n_values", "found"), [(90, 0), (91, 20)])
def test_a_feature_that_tells_nine_tenths_apart(n_values, found, rng):
    """The other feature has the tenth that shares its values with others."""
    values = np.append(np.arange(n_values), np.zeros(100 - n_values, int))
    fine = rng.normal(size=n_values)[values]
    coarse = np.append(np.zeros(n_values), np.arange(1, 101 - n_values))
    X, some = np.column_stack([fine, coarse]), np.append(np.arange(100), np.arange(20))
    assert n_copied(X[some], some < 33) == found


@pytest.mark.parametrize(("places", "found"), [(2500, 0), (2501, 20)])
@pytest.mark.parametrize("start", [-5000, 0, 3000])
def test_ten_times_as_many_copies_as_chance_makes(places, found, start):
    """Of 100 rows at so many places m²/2k pairs are equal by chance, 2 of 2500."""
    x = start + np.append(np.arange(99), places).astype(float)
    x[50] = x[49]  # which the other feature tells apart
    assert n_copied(*repeated(x, 20)) == found
    assert n_copied(*repeated(-x, 20)) == found
    assert n_copied(*repeated(0.5 * x, 20)) == found


@pytest.mark.parametrize(("often", "found"), [(21, 40), (22, 0)])
def test_one_row_that_makes_half_of_the_copies(often, found, rng):
    some = np.concatenate([np.arange(1, 61), np.arange(1, 21), np.zeros(often, int)])
    assert n_copied(rng.normal(size=(61, 3))[some], some % 2 == 0) == found


def test_parts_of_a_row_are_not_taken_off(rng):
    """What counts less than once is no copy, and no other is less of one."""
    X, y = repeated(rng.normal(size=100), 0)
    weight = np.where(np.arange(100) < 20, 3.0, 0.5)
    assert n_copied(X, y, weight) == 40


def test_a_row_that_does_not_count_has_no_label():
    X, y, n_copies = oversampled()
    more, label = np.vstack([X, X[:1]]), np.append(y, ~y[0])
    assert n_copied(more, label) == 0
    assert n_copied(more, label, np.append(np.ones(180), 0.0)) == n_copies


def test_the_sign_of_rows_says_nothing():
    X, y, n_copies = oversampled()
    for shift in (100, -100):
        assert n_copied(X + shift, y) == n_copies


def test_rows_of_one_key_are_compared():
    """A row that no one looked at is so far off that its key rounds the others."""
    for column in range(4):
        X = np.random.default_rng(1).normal(size=(2000, 4))
        X[1500:] = X[:500]
        X[1500:, column] -= 1e-10
        y = np.arange(2000) % 500 < 100
        X[1, 0] = 1e5
        assert n_copied(X, y) == 0
        X[1500:] = X[:500]
        assert n_copied(X, y) == 500


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_copies_that_differ_by_rounding(scale):
    X, y, n_copies = oversampled(n_features=5)
    X = scale * X * (1 + 1e-15 * (np.arange(180)[:, None] % 3))
    assert n_copied(X, y) == n_copies


def test_which_rows_are_looked_at():
    X, y, n_copies = oversampled()
    assert copies(X, y) == (n_copies, 0.0)
    n_sparse, share = copies(sparse.csr_array(X), y)
    assert (n_sparse, share > 0.4) == (0, True)
    assert n_copied(sparse.csr_array(X), y) == 0
    assert copies(X[:, :1], y) == (0.0, 0.0)
    blocks = BlockMatrix(RowBlocks([(X, y)]), {0: len(X)}, X.shape[1])
    assert copies(blocks, y) == (0.0, 0.0)
