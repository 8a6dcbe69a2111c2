"""The cross-validated spectrum against one left-out row at a time."""

import numpy as np
import pytest
from model_oracles import averaged_spectrum, left_out_spectrum
from oracles import winsorised
from scipy import sparse

from skauc.adaptive import _cross_validated
from skauc.adaptive._cross_validated import (
    Spectrum,
    _averaged,
    _is_even,
    _left_out,
    balanced_folds,
    cross_validated_spectrum,
    decreasing,
    spectrum_of_features,
    spectrum_of_rows,
)
from skauc.adaptive._spectrum import eigenbasis


def dealt(positive, n_folds=10, seed=0):
    """Folds of rows in random order."""
    key = np.random.default_rng(seed).random(len(positive))
    return balanced_folds(key, positive, n_folds)


def rows_of(n, P, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 5 < 2
    X = rng.normal(size=(n, P)) @ (np.eye(P) + 0.5 * rng.normal(size=(P, P)))
    return X, positive


def deviations(X, positive, weight=None):
    R = X.astype(float)
    for mask in (positive, ~positive):
        w = None if weight is None else weight[mask]
        R[mask] -= np.average(X[mask], axis=0, weights=w)
    return R


def of_features(R, positive, fold, n_features, weight=None, **enough):
    """The spectrum of these deviations from their scatter."""
    W = (R.T if weight is None else R.T * weight) @ R
    values = np.linalg.eigvalsh(W)
    values = values[values > 1e-10 * values[-1]]
    rows = (positive, fold, n_features, weight)
    return spectrum_of_features(lambda some: R[some], W.copy, values, *rows, **enough)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "P"), [(20, 40), (40, 5), (23, 23)])
def test_both_ways_against_single_rows(n, P, weighted):
    X, positive = rows_of(n, P)
    weight = np.arange(n) % 3 + 1.0 if weighted else None
    fold = dealt(positive, 4)
    root = 1.0 if weight is None else np.sqrt(weight)[:, None]
    R = deviations(X, positive, weight)
    U, s, _ = np.linalg.svd(root * R, full_matrices=False)
    rank = int((s > 1e-7 * s[0]).sum())
    values, null = averaged_spectrum(left_out_spectrum(X, positive, fold, weight), rank)

    rows = spectrum_of_rows(U[:, :rank] * s[:rank] / root, positive, fold, P, weight)
    np.testing.assert_allclose(rows.values[::-1], values, rtol=1e-8)
    features = of_features(R, positive, fold, P, weight)
    np.testing.assert_allclose(features.values[::-1], values, rtol=1e-6)
    for spectrum in (rows, features):
        if rank < P:
            assert spectrum.null == pytest.approx(null, rel=1e-6)
        else:
            assert spectrum.null == 0


def test_white_noise_has_variance_one_in_every_direction():
    # in-sample the leading eigenvalue over n − 2 is 7 here, and the null space has 0
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(100, 300)), np.arange(100) % 2 == 0
    R = deviations(X, positive)
    U, s, _ = np.linalg.svd(R, full_matrices=False)
    Z = U[:, :98] * s[:98]
    spectrum = spectrum_of_rows(Z, positive, dealt(positive), 300)
    assert s[0] ** 2 / 98 > 6
    np.testing.assert_allclose(spectrum.values, 1, atol=0.35)  # of χ²₁₀₀/100, extremes
    assert spectrum.values.mean() == pytest.approx(1, abs=0.04)
    assert spectrum.null == pytest.approx(1, abs=0.03)


def test_strong_direction_is_found_out_of_sample():
    rng = np.random.default_rng(2)
    X, positive = rng.normal(size=(200, 20)), np.arange(200) % 2 == 0
    X[:, 0] *= 5
    fold = dealt(positive)
    spectrum = of_features(deviations(X, positive), positive, fold, 20)
    assert spectrum.values[-1] == pytest.approx(25, rel=0.25)
    np.testing.assert_allclose(spectrum.values[:-1], 1, atol=0.35)


def test_folds_are_stratified_and_cover_every_row():
    positive = np.arange(53) % 4 == 0
    fold = dealt(positive, 10)
    for mask in (positive, ~positive):
        count = np.bincount(fold[mask], minlength=10)
        assert count.max() - count.min() <= 1
    assert dealt(positive).max() == 9  # ten by default
    assert dealt(np.arange(20) < 3).max() == 2  # as many as the smaller class
    assert not np.array_equal(fold, dealt(positive, 10, seed=1))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_folds_are_dealt_to_and_fro_and_equal_rows_stay_together(unit):
    key = unit * (np.repeat([5.0, 1.0, 4.0, 2.0, 3.0], 2) + 1e-12 * np.arange(10))
    positive = np.tile([False, True], 5)
    fold = balanced_folds(key, positive, 2)
    # in the order of the key 1 2 3 4 5: folds 0 1 1 0 0
    np.testing.assert_array_equal(fold[::2], [0, 0, 0, 1, 1])
    twice = balanced_folds(np.tile(key, 2), np.tile(positive, 2), 2)
    np.testing.assert_array_equal(twice, np.tile(fold, 2))
    order = np.random.default_rng(0).permutation(10)
    np.testing.assert_array_equal(
        balanced_folds(key[order], positive[order], 2), fold[order]
    )
    assert balanced_folds(np.array([1.0, 1, 2, 3, 4, 5]), np.arange(6) < 3) is None


def test_decreasing_is_the_nearest_decreasing_sequence(rng):
    values = rng.normal(size=12)
    fitted, _ = averaged_spectrum([(values, 0.0, 1.0)], 12)
    np.testing.assert_allclose(decreasing(values), fitted, atol=1e-12)
    assert np.all(np.diff(decreasing(values)) <= 0)


def test_enough_rows_left_out_are_enough():
    X, positive = rows_of(60, 6)
    fold = dealt(positive, 6)  # ten rows each
    R = deviations(X, positive)
    two, all_six = (
        averaged_spectrum(left_out_spectrum(X, positive, fold)[:k], 6)[0]
        for k in (2, 6)
    )
    for enough, want in ((20, two), (1000, all_six)):
        got = spectrum_of_rows(R, positive, fold, 6, enough=enough)
        np.testing.assert_allclose(got.values[::-1], want, rtol=1e-8)
        got = of_features(R, positive, fold, 6, enough=enough)
        np.testing.assert_allclose(got.values[::-1], want, rtol=1e-8)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
@pytest.mark.parametrize(("n", "P"), [(25, 60), (60, 8)])
def test_weights_are_rows_written_twice_and_order_does_not_matter(n, P, make):
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(n, P)), np.arange(n) % 3 == 0
    weight = np.arange(n) % 4 + 0.0

    def spectrum(X, positive, weight=None):
        X = make(X)
        return cross_validated_spectrum(
            eigenbasis(X, positive, weight), X, positive, weight
        )

    one = spectrum(X, positive, weight)
    repeat = weight.astype(int)
    two = spectrum(np.repeat(X, repeat, axis=0), np.repeat(positive, repeat))
    order = rng.permutation(n)
    three = spectrum(X[order], positive[order], weight[order])
    four = spectrum(3 * X + 7, ~positive, weight)
    for other in (two, three, four):
        np.testing.assert_allclose(other.values, one.values, rtol=1e-6)
        assert other.null == pytest.approx(one.null, rel=1e-6)


def test_spectrum_of_winsorised_rows_by_the_folds_of_their_keys():
    X, positive = rows_of(60, 8)
    X[0] *= 20
    eigen = eigenbasis(X, positive)
    A = winsorised(X, positive) * eigen.scale
    R = deviations(A, positive)
    sign = np.where(positive, 1, -1)
    key = (R**2).sum(axis=1) + sign * (R @ eigen.d)
    fold = balanced_folds(key, positive)
    values, _ = averaged_spectrum(left_out_spectrum(A, positive, fold), 8)
    got = cross_validated_spectrum(eigen, X, positive)
    np.testing.assert_allclose(got.values[::-1], values, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_are_read_in_parts_add_up(weighted, monkeypatch):
    X, positive = rows_of(60, 8)
    weight = np.arange(60) % 3 + 1.0 if weighted else None
    eigen = eigenbasis(X, positive, weight)
    whole = cross_validated_spectrum(eigen, X, positive, weight)
    monkeypatch.setattr(_cross_validated, "block_rows", lambda n_features: 2)
    parts = cross_validated_spectrum(eigen, X, positive, weight)
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-9)


def test_many_rows_need_no_folds():
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(2000, 6)) * np.arange(1, 7), np.arange(2000) % 2 == 0
    X[:, 0] += X[:, 1]
    for n, folds in ((120, True), (122, False)):  # 20 P and more
        part = X[:n], positive[:n]
        assert (cross_validated_spectrum(eigenbasis(*part), *part) is None) is not folds
    eigen = eigenbasis(X, positive, winsorize=None)
    parts = left_out_spectrum(X * eigen.scale, positive, dealt(positive))
    values, _ = averaged_spectrum(parts, 6)
    np.testing.assert_allclose(eigen.values[::-1] / 1998, values, rtol=0.06)


def test_two_rows_in_a_class_leave_nothing():
    rng = np.random.default_rng(0)
    for n, P in ((12, 30), (40, 8)):
        X, positive = rng.normal(size=(n, P)), np.arange(n) < 2
        assert cross_validated_spectrum(eigenbasis(X, positive), X, positive) is None
    assert spectrum_of_rows(np.zeros((8, 0)), positive[:8], np.zeros(8, int), 3) is None


def test_variance_along_a_direction():
    spectrum = Spectrum(np.array([1.0, 4.0]), 0.5)
    assert spectrum.along(np.array([0.36, 0.0])) == pytest.approx(0.36 + 0.64 * 0.5)
    assert spectrum.along(np.array([0.36, 0.64])) == pytest.approx(0.36 + 0.64 * 4)


@pytest.mark.parametrize(("n", "P"), [(20, 40), (40, 5)])
def test_variances_have_the_unit_of_the_features_squared(n, P):
    X, positive = rows_of(n, P)
    fold = dealt(positive, 4)

    def both(X):
        # three features of which no row says anything
        for spectrum in (spectrum_of_rows, of_features):
            yield spectrum(deviations(X, positive), positive, fold, P + 3)

    for one, other in zip(both(X), both(1e-6 * X), strict=True):
        np.testing.assert_allclose(other.values, 1e-12 * one.values, rtol=1e-6)
        assert other.null == pytest.approx(1e-12 * one.null, rel=1e-6, abs=0)


@pytest.mark.parametrize("beyond", [0, 1, 4])
def test_what_is_left_over_is_shared_by_the_other_directions(beyond):
    square, rows = np.array([6.0, 2.0]), 4
    part = _left_out(square, 10.0, rows, 2 + beyond, 2)
    np.testing.assert_allclose(part.values, square / rows)
    if beyond:
        assert part.null * beyond * rows == pytest.approx(10.0 - square.sum())
    # a direction in which nothing varied has a variance, too, but hardly any
    part = _left_out(np.array([6.0, 0.0]), 6.0, rows, 2, 2)
    flat = _averaged([part], False, part.shares)
    assert flat.values[1] == 1.5
    assert 0 < flat.values[0] < 1e-6


@pytest.mark.parametrize("flat", [True, False])
def test_folds_in_single_precision_where_it_has_the_digits(monkeypatch, flat):
    """Of many rows without small eigenvalues; the others keep double precision."""
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(240, 600)), np.arange(240) % 3 == 0
    if not flat:
        X[:60] *= 1e-2  # eigenvalues below 1e-3 of the largest
    Z = deviations(X, positive)
    values, U = np.linalg.eigh(Z @ Z.T)
    Z = U[:, 2:] * np.sqrt(values[2:])
    fold = dealt(positive)
    found = spectrum_of_rows(Z, positive, fold, 600)
    monkeypatch.setattr(_cross_validated, "_MANY_ROWS", 10**9)
    slow = spectrum_of_rows(Z, positive, fold, 600)
    np.testing.assert_allclose(found.values, slow.values, rtol=1e-4)
    assert found.null == pytest.approx(slow.null, rel=1e-4)
    assert np.array_equal(found.values, slow.values) != flat


@pytest.mark.parametrize("n", [30, 300])
def test_rows_left_out_that_are_all_of_the_scatter(n):
    """The scatter of the others is no small difference of large numbers."""
    X, positive = rows_of(n, 6)
    X[4] *= 1e9  # of all rows one direction is not rounding
    fold = dealt(positive, 3)
    R = deviations(X, positive)
    values, _ = averaged_spectrum(left_out_spectrum(X, positive, fold), 1)
    got = of_features(R, positive, fold, 6, enough=1e9)
    np.testing.assert_allclose(got.values, values, rtol=1e-5)


def test_rows_that_count_little_leave_no_two():
    X, positive = rows_of(40, 5)
    rows = deviations(X, positive), positive, dealt(positive), 5
    assert of_features(*rows, np.full(40, 0.15)) is not None  # 2.1 of a class
    assert of_features(*rows, np.full(40, 0.1)) is None


@pytest.mark.parametrize(
    ("n", "least", "single"), [(400, 1, True), (400, 0.01, False), (215, 1, False)]
)
def test_features_in_single_precision_where_it_has_the_digits(
    monkeypatch, n, least, single
):
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(n, 200)), np.arange(n) % 3 == 0
    X[:, 0] *= least
    R, fold = deviations(X, positive), dealt(positive)
    found = of_features(R, positive, fold, 200)
    monkeypatch.setattr(_cross_validated, "_MANY_FEATURES", 10**9)
    slow = of_features(R, positive, fold, 200)
    np.testing.assert_allclose(found.values, slow.values, rtol=1e-4)
    assert np.array_equal(found.values, slow.values) != single


def test_rows_that_depend_on_others_keep_double_precision():
    rng = np.random.default_rng(3)
    Z, positive = rng.normal(size=(240, 200)), np.arange(240) % 3 == 0
    assert not _is_even(deviations(Z, positive))
    # all that two class means leave, the smallest eigenvalue beside the largest
    for columns, least, even in ((18, 1.01, 1), (18, 0.99, 0), (17, 1.01, 0)):
        values = np.append(np.ones(columns - 1), least * 1e-3)
        Z = np.linalg.qr(rng.normal(size=(20, columns)))[0] * np.sqrt(values)
        assert _is_even(Z) == bool(even)


@pytest.mark.parametrize(("times", "n_folds"), [(24, 10), (25, 5)])
def test_many_wide_rows_have_folds_of_a_fifth(monkeypatch, times, n_folds):
    """Rows of weight k count as k rows."""
    X, positive = rows_of(20, 30)
    weight, asked, deal = np.full(20, float(times)), [], balanced_folds

    def seen(key, positive, n_folds):
        asked.append(n_folds)
        return deal(key, positive, n_folds)

    monkeypatch.setattr(_cross_validated, "balanced_folds", seen)
    eigen = eigenbasis(X, positive, weight)
    assert cross_validated_spectrum(eigen, X, positive, weight) is not None
    assert asked == [n_folds]
