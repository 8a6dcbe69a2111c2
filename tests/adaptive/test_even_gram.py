"""Many dense rows in single precision, against their decomposition in double."""

import numpy as np
import pytest
from scipy import sparse

from skauc.adaptive import _spectrum
from skauc.adaptive._cross_validated import cross_validated_spectrum
from skauc.adaptive._even_gram import EvenGram
from skauc.adaptive._prior import AdaptivePrior
from skauc.adaptive._spectrum import eigenbasis


def rows_of(n=440, P=600, seed=0):
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=(n, P)) + 5, np.arange(n) % 3 == 0
    X[positive, :9] += 0.5
    return X, positive


def deviations(X, positive):
    R = X.astype(float)
    for c in (~positive, positive):
        R[c] -= R[c].mean(axis=0)
    return R


def in_double(monkeypatch):
    for name in ("of_rows", "of_gram"):
        monkeypatch.setattr(EvenGram, name, lambda *_: None)


@pytest.mark.parametrize("winsorize", [2.5, None])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_eigenbasis_is_that_of_double_precision(monkeypatch, winsorize, form):
    X, positive = rows_of()
    if form is not np.asarray:
        X = np.where(np.abs(X - 5) > 1, X - 5, 0)
    X = form(X)
    found = eigenbasis(X, positive, winsorize=winsorize)
    in_double(monkeypatch)
    slow = eigenbasis(X, positive, winsorize=winsorize)
    assert found.basis.left.dtype == np.float32
    assert slow.basis.left.dtype == float
    assert len(found.values) == X.shape[0] - 2  # a mean a class
    np.testing.assert_allclose(found.values, slow.values, rtol=1e-5)
    w = np.random.default_rng(1).normal(size=600)
    views = [e.project(w, X @ w) for e in (found, slow)]

    def smooth(eigen, view):
        # eigenvectors of neighbouring eigenvalues may turn, these not
        known = eigen.b**2, eigen.along_neg, eigen.along_pos, *view.square.T
        return [part @ (1 / (eigen.values + c)) for part in known for c in (1, 1e3)]

    fast, exact = (smooth(*both) for both in zip((found, slow), views, strict=True))
    np.testing.assert_allclose(fast, exact, rtol=2e-5)
    for one, two in zip(found.groups, slow.groups, strict=True):
        assert len(one[0]) == len(two[0]) - 1  # without the 0 of a class mean
        np.testing.assert_allclose(one[0], two[0][1:], atol=1e-5 * two[0].max())
    np.testing.assert_allclose(found.along_neg + found.along_pos, found.values)
    one, two = (e.filtered_difference(1 / e.values, X) for e in (found, slow))
    np.testing.assert_allclose(one, two, atol=1e-4 * np.abs(two).max())


def test_folds_are_those_of_double_precision(monkeypatch):
    X, positive = rows_of(520)
    found = cross_validated_spectrum(eigenbasis(X, positive), X, positive)
    in_double(monkeypatch)
    slow = cross_validated_spectrum(eigenbasis(X, positive), X, positive)
    np.testing.assert_allclose(found.values, slow.values, rtol=1e-4)
    assert found.null == pytest.approx(slow.null, rel=1e-5)


@pytest.mark.parametrize("change", ["order", "classes", "unit"])
def test_the_same_for_rows_in_another_order_and_classes_exchanged(change):
    X, positive = rows_of(seed=3)
    order = np.random.default_rng(2).permutation(len(X))
    w = np.random.default_rng(1).normal(size=600)
    rows, other, v = X, positive, w
    if change == "order":
        rows, other = X[order], positive[order]
    elif change == "classes":
        other, v = ~positive, -w
    else:
        rows, v = 1e12 * X, 1e-12 * w
    prior = AdaptivePrior()
    models = prior.learn(X, positive).model, prior.learn(rows, other).model
    (first, one), (second, two) = (
        model.probit(model.eigen.project(d, Z @ d), 0, d, Z)
        for model, d, Z in zip(models, (w, v), (X, rows), strict=True)
    )
    assert first == pytest.approx(second, abs=1e-4 * np.sqrt(one))
    assert one == pytest.approx(two, rel=1e-4)


def test_what_single_precision_tells():
    """Neither of few rows, nor where the least eigenvalue is too small, nor of huge."""
    X, positive = rows_of(400)
    R = deviations(X, positive)
    scores = np.arange(400.0)
    found = EvenGram.of_rows(R, scores, positive, 0.0)
    other = EvenGram.of_gram(R @ R.T, scores, positive, 0.0)
    np.testing.assert_allclose(found.matrix, other.matrix, atol=1e-3)
    np.testing.assert_allclose(found.keys, other.keys, rtol=1e-12)
    exact = np.linalg.eigvalsh(R @ R.T)[2:]
    values, U = found.eigenvectors()
    np.testing.assert_allclose(values, exact, atol=3e-6 * exact.max())
    assert U.shape == (400, 398)
    np.testing.assert_allclose(U.T @ positive, 0, atol=1e-4)
    np.testing.assert_allclose(U.T @ U, np.eye(398), atol=1e-4)
    for c in (~positive, positive):
        exact = np.linalg.eigvalsh(R[c] @ R[c].T)[1:]
        np.testing.assert_allclose(found.of_class(c), exact, atol=3e-6 * exact.max())
    keys = np.sum(R**2, axis=1) + np.where(positive, 1, -1) * scores
    np.testing.assert_allclose(found.keys, keys, rtol=1e-12)
    mean = np.sum(R**2) / 400
    assert EvenGram.of_rows(R, scores, positive, 9e-6 * mean) is not None
    assert EvenGram.of_rows(R, scores, positive, 11e-6 * mean) is None
    for unit in (1e-4, 1e4):
        other = EvenGram.of_rows(unit * R, scores, positive, 0.0)
        np.testing.assert_allclose(other.eigenvectors()[0], unit**2 * values, rtol=1e-3)
    assert EvenGram.of_rows(1e30 * R, scores, positive, 0.0) is None
    assert EvenGram.of_rows(1e200 * R, scores, positive, 0.0) is None
    assert EvenGram.of_rows(0 * R, scores, positive, 0.0) is None
    few = slice(399)
    assert EvenGram.of_rows(R[few], scores[few], positive[few], 0.0) is None
    gram = R[few] @ R[few].T
    assert EvenGram.of_gram(gram, scores[few], positive[few], 0.0) is None
    R[7] = R[8]
    assert EvenGram.of_rows(R, scores, positive, 0.0) is None


def test_a_class_of_one_row_and_a_strong_direction():
    X, positive = rows_of()
    positive = np.arange(len(X)) == 11
    X[:, :20] += 3 * np.random.default_rng(5).normal(size=(len(X), 1))
    R = deviations(X, positive)
    found = EvenGram.of_rows(R, R[:, 0], positive, 0.0)
    exact = np.linalg.eigvalsh(R @ R.T)[2:]
    values, U = found.eigenvectors()
    np.testing.assert_allclose(values, exact, atol=3e-6 * exact.max())
    np.testing.assert_allclose(np.abs(U[11]), 0, atol=1e-5)
    assert len(found.of_class(positive)) == 0


def test_weights_and_what_is_not_even_have_double_precision(monkeypatch):
    X, positive = rows_of()
    weight = np.ones(len(X))
    assert eigenbasis(X, positive, weight).basis.left.dtype == float
    X[3] = X[6]
    assert eigenbasis(X, positive).basis.left.dtype == float


def test_the_gram_matrix_is_not_kept():
    X, positive = rows_of()
    eigen = eigenbasis(X, positive)
    assert eigen.basis.even is not None
    assert eigen.without_folds().basis.even is None
    model = AdaptivePrior().learn(X, positive).model
    assert model.eigen.basis.left.dtype == np.float32
    assert model.eigen.basis.even is None
    few = eigenbasis(X[:, :20], positive)
    assert few.without_folds() is few
    assert _spectrum.EvenGram is EvenGram
