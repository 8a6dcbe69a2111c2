"""Rows with copies: said of what was copied, and of nothing else."""

import numpy as np
import pytest
from scipy import sparse

from skauc.adaptive._near_copies import (
    _between_two,
    _in_units,
    _neighbours,
    _squares_of_distances,
    share_of_copies,
)


def noise(n, P, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, P)), np.arange(n) < share * n, rng


def oversampled(X, positive, rng, how):
    """Positive rows until the classes are even."""
    pos, more = np.flatnonzero(positive), np.sum(~positive) - np.sum(positive)
    some = rng.choice(pos, more)
    new = X[some]
    if how == "smote":
        gap = np.linalg.norm(new[:, None] - X[pos], axis=2)
        nearest = np.argsort(gap, axis=1)[np.arange(more), rng.integers(1, 6, more)]
        new = new + rng.random((more, 1)) * (X[pos[nearest]] - new)
    if how == "noise":
        new = new + 0.05 * rng.normal(size=new.shape)
    return np.vstack([X, new]), np.append(positive, np.ones(more, bool))


@pytest.mark.parametrize("P", [5, 20, 100])
@pytest.mark.parametrize("how", ["copies", "smote", "noise"])
def test_oversampled_rows(how, P):
    X, positive, rng = noise(200, P, share=0.15)
    if how == "noise" and P == 5:
        P = 10  # of fewer dimensions near rows are no news
        X = rng.normal(size=(200, P))
    assert share_of_copies(X, positive) == 0
    X, positive = oversampled(X, positive, rng, how)
    assert 0.25 < share_of_copies(X, positive) < 0.65


def test_rows_written_twice():
    X, positive, _ = noise(50, 4)
    assert share_of_copies(np.vstack([X, X]), np.tile(positive, 2)) == 1
    assert share_of_copies(np.vstack([X, X]), np.tile(positive, 2), np.ones(100)) == 1
    # of weight 0 the second ones are not there
    twice = np.repeat([1.0, 0.0], 50)
    assert share_of_copies(np.vstack([X, X]), np.tile(positive, 2), twice) == 0
    # without labels of their original they are other rows with equal features
    other = np.append(positive, ~positive)
    assert share_of_copies(np.vstack([X, X]), other) == 0


def test_ten_rows_a_person():
    _, _, rng = noise(200, 20)
    person = np.repeat(np.arange(20), 10)
    X = rng.normal(size=(20, 20))[person] + 0.1 * rng.normal(size=(200, 20))
    assert share_of_copies(X, person % 2 == 0) > 0.7


def test_more_rows_than_are_looked_at():
    X, positive, _ = noise(3000, 8)
    assert share_of_copies(X, positive) == 0
    assert share_of_copies(np.vstack([X, X]), np.tile(positive, 2)) > 0.2


@pytest.mark.parametrize("kind", ["signs", "levels", "counts", "grid", "empty"])
@pytest.mark.parametrize("n", [60, 200, 1000])
def test_features_of_few_values(kind, n):
    """Equal rows are no copies, even if features tell the label for sure."""
    rng = np.random.default_rng(n)
    if kind == "signs":
        X = np.sign(rng.normal(size=(n, 6)))
    elif kind == "levels":
        X = np.eye(15)[rng.integers(0, 15, n)]
    elif kind == "counts":
        X = rng.poisson(0.5, (n, 6))
    elif kind == "grid":
        X = rng.integers(0, 20, (n, 2))
    else:  # most rows are 0
        X = 1.0 * (rng.random((n, 30)) < 0.01)
    positive = X @ rng.normal(size=X.shape[1]) > 0
    assert share_of_copies(X, positive) == 0
    assert share_of_copies(X, rng.random(n) < 0.5) == 0


@pytest.mark.parametrize("kind", ["heavy", "factors", "variances", "clusters", "line"])
def test_other_features(kind):
    _, positive, rng = noise(200, 1)
    if kind == "heavy":
        X = rng.standard_t(1.5, size=(200, 20))
    elif kind == "factors":
        X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 20))
        X += 0.01 * rng.normal(size=X.shape)
    elif kind == "variances":
        X = rng.normal(size=(200, 20)) * np.where(positive, 1, 20)[:, None]
    elif kind == "clusters":
        X = rng.normal(size=(200, 20)) + 30 * positive[:, None]
    else:  # all rows on one line, but for rounding
        X = rng.normal(size=(200, 1)) * np.ones(4) + 1e-5 * rng.normal(size=(200, 4))
    assert share_of_copies(X, positive) == 0
    assert share_of_copies(X, rng.random(200) < 0.5) == 0


def test_sparse_rows_and_units_do_not_matter():
    X, positive, _ = noise(60, 100)
    X[np.abs(X) < 1] = 0
    X, positive = np.vstack([X, X]), np.tile(positive, 2)
    assert share_of_copies(sparse.csr_array(X), positive) == 1
    unit = 10.0 ** np.random.default_rng(1).uniform(-150, 150, 100)
    assert share_of_copies(X * unit, positive) == 1
    assert share_of_copies(X.astype(np.float32) + np.float32(100), positive) == 1


def test_nothing_to_look_at():
    X, positive, _ = noise(60, 3)
    assert share_of_copies(np.ones((60, 3)), positive) == 0
    assert share_of_copies(np.repeat(X[:, :1], 3, axis=1), positive) == 0
    assert share_of_copies(X[:6], positive[:6]) == 0


def test_nearest_rows_are_those_of_a_sort():
    X, _, _ = noise(80, 5)
    U, asked = _in_units(X), np.array([3, 70, 11])
    near, equal, nearer = _neighbours(_squares_of_distances(U, asked))
    for row, found in zip(asked, near, strict=True):
        gap = np.linalg.norm((X - X[row]) / X.std(axis=0), axis=1)
        np.testing.assert_array_equal(found, np.argsort(gap)[1:21])
    assert not equal.any()
    assert not nearer.any()


def test_far_nearer_in_one_row_of_a_thousand():
    """Even density of four dimensions, whose borders are far."""
    rng, count = np.random.default_rng(0), 0
    for _ in range(100):
        X = rng.random((400, 4))
        inside = np.flatnonzero(np.all(np.abs(X - 0.5) < 0.3, axis=1))
        count += _neighbours(_squares_of_distances(X, inside))[2].sum()
    # about 5200 rows; D is not known: some more than a thousandth
    assert 1 <= count <= 60


def test_between_two_others():
    X, _, rng = noise(40, 6)
    X[5] = X[0] + rng.random() * (X[1] - X[0])
    X[6] = (X[2] + X[3]) / 2  # features of few values do so
    asked, near = np.array([5, 6, 7, 0]), np.tile(np.arange(4), (4, 1))
    np.testing.assert_array_equal(
        _between_two(X, asked, near), [True, False, False, False]
    )
