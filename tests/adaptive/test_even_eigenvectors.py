"""Single precision against double."""

import numpy as np
import pytest
from scipy import sparse

from skauc.adaptive import _spectrum
from skauc.adaptive._even_eigenvectors import even_eigenvectors
from skauc.adaptive._spectrum import eigenbasis


def gram(n=240, least=2e-3, unit=1.0):
    """Eigenvalues from the least to one, and two of 0."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.append([0, 0], np.geomspace(least, 1, n - 2))
    return unit * (Q * values) @ Q.T, unit * values[2:], Q[:, 2:]


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_values_and_vectors(unit):
    G, values, V = gram(unit=unit)
    found, vectors = even_eigenvectors(G)
    assert found.dtype == vectors.dtype == float
    np.testing.assert_allclose(found, values, rtol=1e-3)
    # what functions of G are made of
    exact = (V / (0.1 + values / unit)) @ V.T
    same = (vectors / (0.1 + found / unit)) @ vectors.T
    np.testing.assert_allclose(same, exact, atol=1e-5 * np.abs(exact).max())


def test_where_single_precision_has_no_digits():
    assert even_eigenvectors(gram(least=5e-4)[0]) is None
    assert even_eigenvectors(gram(n=199)[0]) is None
    assert even_eigenvectors(gram(n=200)[0]) is not None
    assert even_eigenvectors(np.zeros((240, 240))) is None
    G = gram(least=0.5)[0]
    G[7] *= 20
    G[:, 7] *= 20
    assert even_eigenvectors(G) is None  # not tried
    # a third eigenvalue of 0: of a row that stands twice
    G = gram(least=0.5)[0]
    G[:, 3], G[3] = G[:, 4], G[4]
    assert even_eigenvectors(G) is None


def texts(n=240, P=3000):
    rng = np.random.default_rng(0)
    X = rng.poisson(60 / (np.arange(P) + 10) / np.log(P / 10), size=(n, P))
    return sparse.csr_array(np.log1p(X).astype(float)), np.arange(n) % 2 == 0


def test_the_decomposition_of_texts(monkeypatch):
    X, positive = texts()
    asked = []

    def even(gram):
        asked.append(even_eigenvectors(gram))
        return asked[-1]

    monkeypatch.setattr(_spectrum, "even_eigenvectors", even)
    fast = eigenbasis(X, positive)
    assert asked.pop() is not None
    monkeypatch.setattr(_spectrum, "even_eigenvectors", lambda gram: None)
    slow = eigenbasis(X, positive)
    assert len(fast.values) == len(slow.values) == 238
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-4)
    assert fast.null == slow.null
    w = np.random.default_rng(1).normal(size=(3000, 1))
    one, two = fast.project(w, X @ w), slow.project(w, X @ w)
    for unit in (0.0, 1e3, 1e5):
        for a, b in (
            (fast.energy[:-1], slow.energy[:-1]),
            (one.square[:, 0], two.square[:, 0]),
            (one.cross[:, 0], two.cross[:, 0]),
            (fast.along_pos, slow.along_pos),
        ):
            found = a / (unit + fast.values)
            expected = b / (unit + slow.values)
            assert found.sum() == pytest.approx(
                expected.sum(), abs=1e-5 * np.abs(expected).sum()
            )


@pytest.mark.parametrize("kind", ["weighted", "dense"])
def test_where_it_is_not_asked(monkeypatch, kind):
    X, positive = texts()

    def never(gram):
        raise AssertionError

    monkeypatch.setattr(_spectrum, "even_eigenvectors", never)
    weight = 1.0 + (np.arange(240) % 3 == 0) if kind == "weighted" else None
    eigenbasis(X if weight is not None else X.toarray(), positive, weight)
