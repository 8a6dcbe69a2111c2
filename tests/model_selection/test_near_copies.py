"""Rows with copies: said of what was copied, and of nothing else."""

import numpy as np
import pytest
from scipy import sparse

from skauc.model_selection import _near_copies
from skauc.model_selection._near_copies import (
    _between_two,
    _in_units,
    _neighbours,
    _of_few_values,
    _squares_of_distances,
    _tied,
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
    X, positive, _ = noise(1900, 8)
    assert share_of_copies(X, positive) == 0
    assert share_of_copies(np.vstack([X, X]), np.tile(positive, 2)) > 0.3
    # of more most copies are not among those that are looked at
    assert share_of_copies(np.vstack([X, X, X]), np.tile(positive, 3)) == 0


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


def _far_nearer(square, h, K):
    """By the text: ``D log(d_h/d_1) > log(h/.001)``, of sorted distances."""
    found = []
    for row in np.sqrt(np.sort(square, axis=1)):
        gap = np.log(row[K - 1] / row[h - 1])
        D = sum(1 / k for k in range(h, K)) / gap if gap > 0 else 0.0
        found.append(D * np.log(row[h - 1] / row[0]) > np.log(h / 1e-3))
    return found


@pytest.mark.parametrize(("n", "K"), [(80, 20), (200, 40)])
@pytest.mark.parametrize("far", [0.99, 1.01])
def test_distances_of_a_seldom_row(n, K, far, rng):
    """The nearest row is where a thousandth begins, a hundredth aside."""
    square, h = rng.random((30, n)) + 0.2, K // 2
    order = np.sort(square, axis=1)
    gap = np.log(order[:, K - 1] / order[:, h - 1]) / 2
    D = sum(1 / k for k in range(h, K)) / gap
    least = np.argmin(square, axis=1)
    nearest = order[:, h - 1] * np.exp(-2 * far * np.log(h / 1e-3) / D)
    square[np.arange(30), least] = nearest
    square[7, np.argsort(square[7])[1 : K + 3]] = 0.3  # no dimension
    square[3, least[3]] = 0.0
    near, equal, nearer = _neighbours(square)
    expected = np.full(30, far > 1)
    expected[[3, 7]] = False
    np.testing.assert_array_equal(nearer, expected)
    np.testing.assert_array_equal(nearer[:3], _far_nearer(square[:3], h, K))
    np.testing.assert_array_equal(np.flatnonzero(equal), [3])
    np.testing.assert_array_equal(near[:, 0], least)


def doubled(n, pairs, P=12, noise=0.0, seed=0):
    """n rows, of which the last so many repeat the first."""
    rng = np.random.default_rng(seed)
    X = 2 * rng.random((n, P)) - 1
    X[n - pairs :] = X[:pairs] + noise * rng.normal(size=(pairs, P))
    positive = np.arange(n) % 2 == 0
    positive[n - pairs :] = positive[:pairs]
    return X, positive


@pytest.mark.parametrize("P", [2, 12])
def test_twenty_equal_rows_are_many(P):
    for n in (60, 100):
        assert share_of_copies(*doubled(n, 9, P)) == 0
        assert share_of_copies(*doubled(n, 10, P)) == pytest.approx(20 / n)


def test_forty_near_ones_of_a_hundred_are_many():
    assert share_of_copies(*doubled(100, 19, noise=1e-4)) == 0
    assert share_of_copies(*doubled(100, 20, noise=1e-4)) == pytest.approx(0.4)
    # of fewer rows twenty at least
    assert share_of_copies(*doubled(44, 9, noise=1e-4, seed=1)) == 0
    assert share_of_copies(*doubled(44, 10, noise=1e-4, seed=1)) == pytest.approx(
        20 / 44
    )
    X, positive = doubled(100, 21, noise=1e-4)  # with equal ones
    X[-9:] = X[12:21]
    assert share_of_copies(X, positive) == pytest.approx(0.42)


def test_forty_rows_at_least():
    X, positive = doubled(40, 20)
    assert share_of_copies(X, positive) == 1
    assert share_of_copies(*doubled(38, 19)) == 0
    assert share_of_copies(X[:, [0, 0, 0]], positive) == 0  # one feature


@pytest.mark.parametrize(("others", "share"), [(1, 1.0), (2, 0.0)])
def test_of_a_hundred_copies_three_labels_may_differ(others, share):
    X, positive = doubled(100, 50)
    positive[:others] = ~positive[:others]
    assert share_of_copies(X, positive) == share


def test_labels_that_may_agree_by_chance():
    """Share of the label among neighbours 8 to 15, to the power of the copies."""
    X, _ = doubled(60, 10)
    gap = np.linalg.norm((X[:, None] - X) / X.std(axis=0), axis=2)
    np.fill_diagonal(gap, np.inf)
    others, chances = np.argsort(gap, axis=1)[:, 7:15], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        positive = rng.random(60) < rng.uniform(0.14, 0.22)
        positive[-10:] = positive[:10]
        chance = np.mean(positive[others] == positive[:, None]) ** 20
        assert (share_of_copies(X, positive) > 0) == (chance <= 1e-3)
        chances.append(chance)
    for low, high in ((5e-4, 9e-4), (9e-4, 1e-3), (1e-3, 1.1e-3), (1.1e-3, 2e-3)):
        assert any(low < chance < high for chance in chances)


@pytest.mark.parametrize(
    ("kinds", "n", "share"), [(5, 100, 0), (6, 120, 1), (8, 120, 1)]
)
def test_rows_of_fewer_than_six_kinds_are_levels(kinds, n, share):
    kind = np.arange(n) % kinds
    X = np.random.default_rng(0).normal(size=(kinds, 5))[kind]
    assert share_of_copies(X, kind % 2 == 0) == share


@pytest.mark.parametrize(("halves", "few"), [(9, False), (10, True)])
def test_rows_that_are_equal_in_half_of_the_features(halves, few):
    """As often as in all of two: ten of the rows asked are equal, nine in one."""
    Z = np.random.default_rng(0).normal(size=(80, 2))
    Z[40:50] = Z[:10]
    Z[50 : 50 + halves, 1] = Z[10 : 10 + halves, 1]
    asked = np.arange(30)
    square = _squares_of_distances(Z, asked)
    found = _of_few_values(Z, asked, square, np.random.default_rng(0))
    assert found == few


def test_halves_are_halves(monkeypatch):
    seen = []

    def projected(Z, rng):
        seen.append(Z[0].tolist())
        return Z

    monkeypatch.setattr(_near_copies, "_projected", projected)
    Z = np.random.default_rng(0).normal(size=(60, 6))
    Z[50:], Z[0], asked = Z[:10], range(6), np.arange(40)
    square = _squares_of_distances(Z, asked)
    assert not _of_few_values(Z, asked, square, np.random.default_rng(0))
    assert len({tuple(half) for half in seen}) >= 4
    for one, two in zip(seen[::2], seen[1::2], strict=True):
        assert len(one) == len(two) == 3
        assert sorted(one + two) == [0, 1, 2, 3, 4, 5]


def test_parts_of_a_line_that_few_values_have():
    """Halves to twelfths are ordinary, wherever the ends are."""
    rng = np.random.default_rng(0)
    for whole in range(2, 26):
        for part in range(1, whole):
            if np.gcd(part, whole) > 1:
                continue
            ends = rng.normal(size=(2, 5)) * rng.choice([0.1, 1, 10])
            row = ends[0] + part / whole * (ends[1] - ends[0])
            U = np.vstack([ends, row, row, 100 + rng.normal(size=(3, 5))])
            near = np.array([[3, 0, 1, 4, 5, 6]])  # an equal row is at no end
            found = _between_two(U, np.array([2]), near)
            assert found == (whole > 12)


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_how_far_from_the_line_a_row_is_on_it(length):
    """A millionth of its length, the rounding of single precision."""
    for off, on_line in ((0.95e-6, True), (1.05e-6, False)):
        U = length * np.array([[0.0, 0, 0], [1, 0, 0], [np.sqrt(0.3), off, 0]])
        found = _between_two(U, np.array([2]), np.array([[0, 1]]))
        assert found == on_line


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_copies_in_any_unit(unit, sign):
    X, positive = doubled(60, 30)
    assert share_of_copies(sign * unit * (X + 9), positive) == 1


@pytest.mark.parametrize("P", [20, 100])
def test_units_of_sparse_features_are_those_of_dense_ones(P, rng):
    X = rng.random((50, P)) * (rng.random((50, P)) < 0.5) * rng.uniform(-3, 3, P)
    X[:, 3], X[:, 7] = X[:, 4], -2 * X[:, 8]
    X[:, 11] = 5.0
    Z = _in_units(X)
    # of few features equal ones stand once, whatever their sign
    assert Z.shape[1] == (17 if P == 20 else 99)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-12)
    thin = _in_units(sparse.csr_array(X))
    thin = thin.toarray() if sparse.issparse(thin) else thin
    np.testing.assert_allclose(thin - thin.mean(axis=0), Z, rtol=1e-9, atol=1e-9)


def test_sparse_rows_far_from_the_origin():
    X, positive = doubled(60, 30, 100)
    assert share_of_copies(sparse.csr_array(X + 1e4), positive) == 1


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_what_is_tied_is_so_beside_what_is_apart(unit, rng):
    square = np.where(rng.random(4000) < 0.7, 1e-15, rng.gamma(1.0, size=4000))
    some = square[::37]
    expected = 1e-12 * np.median(some[some > 1e-14])
    assert _tied(unit * square) == pytest.approx(unit * expected, rel=1e-12)
