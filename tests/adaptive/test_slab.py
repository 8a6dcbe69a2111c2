"""The slab family against quadrature, draws and full P×P roots."""

import numpy as np
import pytest
from model_oracles import slab_draws, slab_evidence, symmetric_power
from scipy.special import ndtri

from skauc.adaptive._slab import Knots, power_of_covariance, slab

PROBIT = ndtri(np.array([0.6, 0.8, 0.95]))


@pytest.mark.parametrize("cell", [0, 4, 7, 14])
def test_evidence_by_quadrature(rng, cell):
    omega = np.append(rng.normal(0, 0.3, 11), 2.0)
    cells = slab(omega, 12.0, PROBIT)
    want = slab_evidence(omega, 12.0, cells.share[cell], cells.tau[cell])
    assert cells.log_evidence[cell] == pytest.approx(want, abs=1e-7)


def test_moments_by_weighted_draws(rng):
    omega = np.array([-1.0, -0.3, 0.0, 0.4, 0.8])
    cells = slab(omega, 10.0, PROBIT)
    cell = 5
    mean, variance = cells.moments(cell)
    want = slab_draws(omega, 10.0, cells.share[cell], cells.tau[cell], rng, 400_000)
    np.testing.assert_allclose(mean, want[0], atol=0.006)
    np.testing.assert_allclose(variance, want[1], atol=0.004)
    x = rng.normal(size=5)
    D, noise = cells.posterior([cell]).difference(x)
    assert D[0] == pytest.approx(sum(x * mean))
    assert noise[0] == pytest.approx(sum(x * x * variance))


def test_prior_says_the_attainable_auc():
    cells = slab(np.zeros(40), 5.0, PROBIT)
    np.testing.assert_allclose(
        cells.share * 40 * cells.tau, 2 * PROBIT[cells.cell_of_u] ** 2
    )
    assert cells.share.max() == 0.5
    assert cells.share.min() == 1 / 80
    assert len(cells.share) == 7 * 3  # ½, ¼, …, 1/64, and half a feature


@pytest.mark.parametrize("power", [-0.5, 0.5])
@pytest.mark.parametrize("null", [0.0, 0.7])
def test_roots_against_the_full_matrix(rng, power, null):
    P, r = 9, 9 if null == 0 else 4
    V = np.linalg.qr(rng.normal(size=(P, P)))[0][:, :r]
    ell, x = rng.uniform(0.5, 3, r), rng.normal(size=P)
    full = V @ np.diag(ell) @ V.T + null * (np.eye(P) - V @ V.T)
    got = power_of_covariance(power, ell, null, x, lambda g: V @ (g * (V.T @ x)))
    np.testing.assert_allclose(got, symmetric_power(full, power) @ x, atol=1e-12)
    several = power_of_covariance(
        power,
        np.column_stack([ell, 2 * ell]),
        np.array([null, 2 * null]),
        x,
        lambda g: V @ (g.T * (V.T @ x)).T,
    )
    # (2Σ̂)^p = 2^p Σ̂^p
    np.testing.assert_allclose(several, np.outer(got, [1, 2**power]), atol=1e-12)


def test_two_strong_features_are_believed_and_noise_is_not(rng):
    omega = rng.normal(0, 0.2, 500)
    omega[:2] = 1.6, -1.6  # 8 standard errors
    cells = slab(omega, 25.0, PROBIT)
    best = np.argmax(cells.log_evidence)
    assert cells.log_evidence[best] > 30
    assert cells.share[best] < 0.02
    mean, _ = cells.moments(best)
    assert mean[0] > 1.2
    assert mean[1] < -1.2
    assert np.abs(mean[2:]).sum() < 1.5
    none = slab(rng.normal(0, 0.2, 500), 25.0, PROBIT)
    assert none.log_evidence.max() < 3


def test_huge_differences_do_not_overflow():
    cells = slab(np.array([1e6, 0.0, -1e6]), 1e6, PROBIT)
    assert np.isfinite(cells.log_evidence).all()
    mean, variance = cells.moments(0)
    assert np.isfinite(mean).all()
    assert (variance > 0).all()


@pytest.mark.parametrize("h", [0.5, 40.0])
def test_knots_are_the_features(rng, h):
    """Above 512 features sums are interpolated: against every feature by itself."""
    omega = rng.standard_t(4, 3000) / np.sqrt(h)
    knots, x = Knots.of(omega, h), rng.normal(size=3000)
    assert len(knots.value) == 512
    assert knots.gather(x).sum() == pytest.approx(x.sum())
    z = np.sqrt(h)
    for f in (lambda t: t, lambda t: np.tanh(z * t), lambda t: np.cos(z * t)):
        got, want = f(knots.value) @ knots.gather(x), x @ f(omega)
        assert got == pytest.approx(want, abs=2e-3 * np.linalg.norm(f(omega)))
    # a linear function is exact, and a value at a knot stays there
    assert knots.value @ knots.gather(x) == pytest.approx(x @ omega, rel=1e-5)
    few = Knots.of(omega[:512], h)
    np.testing.assert_array_equal(few.value, omega[:512])
    np.testing.assert_allclose(few.gather(x[:512]), x[:512])


def test_equal_differences_of_many_features():
    cells = slab(np.full(2000, 0.3), 10.0, PROBIT)
    assert np.isfinite(cells.log_evidence).all()
    D, _ = cells.posterior([0]).difference(np.ones(2000))
    mean, _ = slab(np.full(1, 0.3), 10.0, PROBIT).moments(0)
    assert np.isfinite(D).all()
    assert np.isfinite(mean).all()
