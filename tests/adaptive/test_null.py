"""The model of a data set against full P×P densities, cell by cell."""

from dataclasses import replace

import numpy as np
import pytest
from model_oracles import slab_evidence, symmetric_power
from oracles import dense_scatters
from scipy import stats
from scipy.special import expit, logsumexp, ndtr

from skauc.adaptive import _mixture, _null
from skauc.adaptive._cross_validated import Spectrum
from skauc.adaptive._factors import factors
from skauc.adaptive._null import (
    cross_validated_null,
    inverse_wishart_null,
    roots_of,
)
from skauc.adaptive._prior import AdaptivePrior
from skauc.adaptive._spectrum import eigenbasis


def problem(n, P, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 5 < 2
    X = rng.normal(size=(n, P)) @ (np.eye(P) + 0.3 * rng.normal(size=(P, P)))
    X[positive, 0] += 1.5
    eigen = eigenbasis(X, positive, winsorize=None)
    scale, W0, W1, d = dense_scatters(X, positive)
    lam, V = np.linalg.eigh(W0 + W1)
    V = V[:, lam > 1e-9 * lam[-1]]
    return X, positive, eigen, scale, W0 + W1, d, V


def few_cells(monkeypatch):
    """Three attainable AUCs, one γ: the oracle is slow."""
    monkeypatch.setattr(_mixture, "GAMMAS", (1.5,))
    probit, log_prior = np.array([0.3, 0.8, 1.5]), np.log([0.2, 0.3, 0.5])
    monkeypatch.setattr(_null, "attainable_prior", lambda power: (probit, log_prior))
    return probit, log_prior


def oracle(Sigma, d, h, probit, log_prior, gamma, x):
    """Log weights, D and noise of no signal, dense and slab cells under one Σ̂."""
    P = len(d)
    none = stats.multivariate_normal.logpdf(d, np.zeros(P), Sigma / h)
    cells = [(none + np.log(1 / 3), 0.0, 0.0)]
    shape = symmetric_power(Sigma, gamma)
    for z, lp in zip(probit, log_prior, strict=True):
        tau = 2 * z**2 / np.trace(shape @ np.linalg.inv(Sigma))
        both = tau * shape + Sigma / h
        gain = tau * shape @ np.linalg.inv(both)
        log_d = stats.multivariate_normal.logpdf(d, np.zeros(P), both)
        cells.append(
            (log_d + lp + np.log(1 / 3), x @ gain @ d, x @ gain @ Sigma @ x / h)
        )
    omega, root = symmetric_power(Sigma, -0.5) @ d, symmetric_power(Sigma, 0.5) @ x
    shares, share = [], 0.5
    while share >= 0.5 / P:
        shares.append(share)
        share /= 2
    if shares[-1] > 0.5 / P:
        shares.append(0.5 / P)
    for share in shares:
        for z, lp in zip(probit, log_prior, strict=True):
            tau = 2 * z**2 / (share * P)
            k = tau / (tau + 1 / h)
            wide = stats.norm.logpdf(omega, 0, np.sqrt(tau + 1 / h))
            odds = (
                np.log(share / (1 - share))
                + wide
                - stats.norm.logpdf(omega, 0, h**-0.5)
            )
            r = expit(odds)
            variance = r * k / h + r * (1 - r) * (k * omega) ** 2
            log_s = none + slab_evidence(omega, h, share, tau) + lp
            log_s += np.log(1 / 3) - np.log(len(shares))
            cells.append((log_s, root @ (r * k * omega), root**2 @ variance))
    log_weight, D, noise = np.transpose(cells)
    return np.exp(log_weight - logsumexp(log_weight)), D, noise


def cells_are(got, weight, D, q, df, noise):
    """A posterior beside the cells of :func:`oracle`; that of no signal is last."""
    order = [*range(1, 4), *range(len(weight) - 3, 3, -3)]
    slab_order = [i + j for i in order[3:] for j in range(3)]
    where = [1, 2, 3, *slab_order]  # shares ascend in the package
    np.testing.assert_allclose(got.weight[:-1], weight[where], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(got.D[:-1], D[where], atol=1e-9)
    np.testing.assert_allclose(got.q[:-1], q[where], rtol=1e-9)
    np.testing.assert_allclose(got.df[:-1], df, rtol=1e-8)
    v = noise * (df - 2) / q
    np.testing.assert_allclose(got.v[:-1], v[where], rtol=1e-8, atol=1e-15)


def difference_filter(eigen, X):
    return lambda g: eigen.filtered_difference(g, X)


@pytest.mark.parametrize(("n", "P"), [(40, 4), (12, 11), (12, 15)])
def test_cross_validated_null_against_full_matrices(monkeypatch, n, P):
    probit, log_prior = few_cells(monkeypatch)
    monkeypatch.setattr(_null, "_LIGHT", 0.0)
    X, _, eigen, scale, _, d, V = problem(n, P)
    h = eigen.n_neg * eigen.n_pos / n
    rng = np.random.default_rng(5)
    ell = np.sort(rng.uniform(0.4, 2.0, len(eigen.values)))
    null = 0.3 if eigen.null else 0.0
    Sigma = V @ np.diag(ell) @ V.T + null * (np.eye(P) - V @ V.T)

    def filtered(g):
        return V @ (g * (V.T @ d))

    w = rng.normal(size=P)
    x = w / scale
    x /= np.linalg.norm(x)
    null_ = cross_validated_null(eigen, filtered, Spectrum(ell, null), power=2.0)
    view = eigen.project(w, X @ w)
    got = null_.posterior(view, 0, roots_of(null_.slabs, view, 0, x, X))

    weight, D, noise = oracle(Sigma, d, h, probit, log_prior, 1.5, x)
    a = null_.dense.a[0]
    evidence = [
        _mixture.covariance_cell(eigen, step, "common")[0]
        for step in max(P, 4) * _mixture.A_STEPS
    ]
    assert a == (max(P, 4) * _mixture.A_STEPS)[np.argmax(evidence)]
    q = (a + n) * (x @ Sigma @ x) + h * ((x @ d - D) ** 2 + noise)
    assert null_.none == pytest.approx(weight[0], rel=1e-6)
    assert null_.share_dense == pytest.approx(weight[1:4].sum(), rel=1e-6)
    cells_are(got, weight, D, q, a + n + 1, noise)
    assert got.D[-1] == 0


def test_inverse_wishart_null_with_few_signals():
    rng = np.random.default_rng(3)
    n, P = 120, 300
    positive = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, P))
    X[positive, :5] += 1.0
    eigen = eigenbasis(X, positive)
    dual = eigen.basis
    A = X - dual.excess.toarray()
    for mask in (positive, ~positive):
        A[mask] -= A[mask].mean(axis=0)
    R = A * eigen.scale / dual.shrink
    V = R.T @ dual.left

    def filtered(g):
        return V @ (g * (V.T @ eigen.d))

    w = np.zeros(P)
    w[:5] = 1
    null_ = inverse_wishart_null(eigen, filtered, power=2.0, covariances=("common",))
    x = w / eigen.scale
    x /= np.linalg.norm(x)
    view = eigen.project(w, X @ w)
    truth = ndtr(np.sqrt(5 / 2))
    assert null_.none < 1e-4
    assert null_.share_dense < 0.05
    posterior = null_.posterior(view, 0, roots_of(null_.slabs, view, 0, x, X))
    # the variance along w is counted, of 120 rows
    assert posterior.mean() == pytest.approx(truth, abs=0.08)
    assert null_.dense.posterior(view).mean() < truth - 0.15


def test_independent_features_have_one_covariance_and_few_signals():
    """A strength a that ends at 32 P gave two covariances a mass of 1, and no slab."""
    rng = np.random.default_rng(8)
    positive = np.arange(300) % 2 == 0
    X = rng.normal(size=(300, 500))
    X[positive, :5] += 1.0
    learnt = AdaptivePrior().learn(X, positive)
    null = learnt.model.inverse_wishart
    assert null.share_dense < 0.01
    assert sum(part.weight.sum() for part in null.slabs) > 0.9
    assert null.dense.weight[null.dense.separate].sum() < 0.7


def test_no_signal_is_half_and_prior_mass_is_a_third(monkeypatch):
    rng = np.random.default_rng(4)
    X, positive = rng.normal(size=(60, 10)), np.arange(60) % 2 == 0
    eigen = eigenbasis(X, positive)
    filtered = difference_filter(eigen, X)
    null_ = inverse_wishart_null(eigen, filtered, power=2.0)
    assert null_.none > 1 / 3
    monkeypatch.setattr(_null, "NONE", 0.5)
    more = inverse_wishart_null(eigen, filtered, power=2.0)
    odds = [b.none / (1 - b.none) for b in (null_, more)]
    assert odds[1] / odds[0] == pytest.approx(2)


def test_degrees_of_freedom_that_are_tried():
    """From a sixteenth of P, of four features at least, to 32 P; and the sphere."""
    for P in (2, 6):
        _, _, eigen, *_ = problem(20, P)
        size = max(P, 4)
        expected = size * np.array(
            [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 1e4]
        )
        np.testing.assert_array_equal(_mixture.strengths(eigen, "common"), expected)
        np.testing.assert_array_equal(
            _mixture.strengths(eigen, "spherical"), 1e4 * size
        )


def test_which_models_have_a_slab():
    X, _, eigen, *_ = problem(20, 6)

    filtered = difference_filter(eigen, X)

    def slabs(covariances, families):
        return inverse_wishart_null(
            eigen, filtered, power=2.0, covariances=covariances, families=families
        ).slabs

    both = "dense", "slab"
    assert slabs(("common",), both)
    assert slabs(("spherical", "separate"), both)
    assert not slabs(("separate",), both)
    assert not slabs(("common",), ("dense",))


def test_without_a_slab_the_dense_signals_have_its_share():
    X, _, eigen, *_ = problem(30, 4)

    def null(families):
        return inverse_wishart_null(
            eigen,
            difference_filter(eigen, X),
            power=2.0,
            covariances=("common",),
            families=families,
        )

    both, alone = null(("dense", "slab")), null(("dense",))
    odds = both.share_dense / both.none
    assert alone.share_dense / alone.none == pytest.approx(2 * odds, rel=1e-9)
    assert alone.share_dense + alone.none == pytest.approx(1, rel=1e-12)


def test_prior_masses_with_covariances_that_have_no_slab(monkeypatch):
    """A third each of common ones alone; with separate ones .4, .4 and .2."""
    X, _, eigen, *_ = problem(30, 4)
    alike = _mixture.covariance_cell
    # Separate covariances that are as likely, cell by cell: the prior alone decides
    monkeypatch.setattr(
        _mixture, "covariance_cell", lambda eigen, a, name: alike(eigen, a, "common")
    )

    def masses(covariances):
        null = inverse_wishart_null(
            eigen, difference_filter(eigen, X), power=2.0, covariances=covariances
        )
        return np.array([null.none, null.share_dense, 1 - null.none - null.share_dense])

    change = masses(("common", "separate")) / masses(("common",))
    prior = np.array([0.4, 0.4, 0.2]) * 3
    np.testing.assert_allclose(change / change[0], prior / prior[0], rtol=1e-9)


@pytest.mark.parametrize("shape", [(30, 4), (12, 20)])
def test_the_second_null_has_the_freedom_that_the_scatter_prefers(shape):
    X, _, eigen, *_ = problem(*shape)
    spectrum = Spectrum(np.maximum(eigen.values, 1e-3), 0.1 if eigen.null else 0.0)
    filtered = difference_filter(eigen, X)
    null = cross_validated_null(eigen, filtered, spectrum, power=2.0)
    steps = max(shape[1], 4) * np.asarray(_mixture.A_STEPS)
    evidence = [_mixture.covariance_cell(eigen, a, "common")[0] for a in steps]
    assert (null.dense.a == steps[np.argmax(evidence)]).all()


def test_evidence_of_no_signal_within_the_rows():
    """One direction beyond the span, in which the means do not differ."""
    b, noise = np.array([0.3, -0.1, 0.6]), np.array([0.2, 0.5, 0.1, 0.02])
    X = np.random.default_rng(0).standard_normal((12, 20))
    eigen = eigenbasis(X, np.arange(12) % 2 == 1)
    eigen = replace(eigen, scale=np.ones(4), values=np.ones(3), b=b, d=b)
    found = _null._log_no_signal(eigen, noise)
    expected = stats.norm.logpdf(np.append(b, 0.0), 0, np.sqrt(noise)).sum()
    assert found == pytest.approx(expected + 2 * np.log(2 * np.pi), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2])
def test_null_of_factors_against_full_matrices(monkeypatch, k):
    """Every kind of signal under one covariance of k factors in white noise."""
    probit, log_prior = few_cells(monkeypatch)
    monkeypatch.setattr(_null, "_LIGHT", 0.0)
    monkeypatch.setattr(_mixture, "numbers_of_factors", lambda *_: [k])
    n, P, m = 24, 40, 22
    rng = np.random.default_rng(8)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, P)) + 2 * rng.normal(size=(n, 2)) @ rng.normal(size=(2, P))
    X[positive, :2] += 1
    eigen = eigenbasis(X, positive, winsorize=None)
    _, W0, W1, d = dense_scatters(X, positive)
    h = eigen.n_neg * eigen.n_pos / n
    values, V = np.linalg.eigh(W0 + W1)
    found = factors(values[-m:], P - m, m, k)
    ell = np.append(np.full(P - m, found.null), found.values)
    Sigma = V @ np.diag(ell) @ V.T

    w = rng.normal(size=P)
    x = w / eigen.scale
    x /= np.linalg.norm(x)
    null_ = inverse_wishart_null(
        eigen, difference_filter(eigen, X), power=2.0, covariances=("factors",)
    )
    assert {part.factors for part in null_.slabs} == {k} == set(null_.dense.factors)
    view = eigen.project(w, X @ w)
    got = null_.posterior(view, 0, roots_of(null_.slabs, view, 0, x, X))
    weight, D, noise = oracle(Sigma, d, h, probit, log_prior, 1.5, x)
    parts = ell * (V.T @ x) ** 2
    white = parts[:-k].sum()
    doubt = (parts.sum() ** 2 - white**2) / m + white**2 / ((P - k) * (m - k))
    df = parts.sum() ** 2 / doubt
    more = h * ((x @ d - D) ** 2 + noise)
    q = parts.sum() * (df - 2) + (df - 1) * k / m**2 * more
    cells_are(got, weight, D, q, df + 1, noise)
