"""Cells of the adaptive prior against full P×P densities and draws."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import dense_scatters
from scipy import stats
from scipy.special import logsumexp, multigammaln

from skauc.adaptive import _mixture
from skauc.adaptive._cross_validated import Spectrum
from skauc.adaptive._mixture import (
    _log_multigamma_ratio,
    _maximise,
    attainable_prior,
    covariance_cell,
    dense_cells,
    mixture,
    normalised,
    signal_cells,
)
from skauc.adaptive._spectrum import eigenbasis


@pytest.mark.parametrize("df", [1, 2.0, 5.0, 7, 38.0, 0.5, 6.25, 41])
def test_ratio_of_multivariate_gamma_functions(df):
    P, x = 7, np.array([3.5, 20.0, 411.3])
    expected = [multigammaln(v + df / 2, P) - multigammaln(v, P) for v in x]
    np.testing.assert_allclose(_log_multigamma_ratio(x, df, P), expected, rtol=1e-10)


def design(n, P, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 5 < 2
    X = rng.normal(size=(n, P)) @ (np.eye(P) + 0.5 * rng.normal(size=(P, P)))
    X[positive, 0] += 1.0
    return X, positive


def problem(n, P, seed=0):
    """Decomposed rows; not winsorised, so that the oracle is plain."""
    X, positive = design(n, P, seed)
    eigen = eigenbasis(X, positive, winsorize=None)
    _, W0, W1, d = dense_scatters(X, positive)
    return eigen, W0, W1, d


DESIGNS = [(30, 4), (12, 20)]


def log_marginal(W, df, S, kappa):
    """log p(W | S, κ) + const(W): Wishart(df) given Σ ~ IW(S, κ), by its definition."""
    P = len(W)
    return (
        multigammaln((kappa + df) / 2, P)
        - multigammaln(kappa / 2, P)
        + kappa / 2 * np.linalg.slogdet(S)[1]
        - (kappa + df) / 2 * np.linalg.slogdet(S + W)[1]
    )


# ----------------------------------------------------------------------------- evidence


@pytest.mark.parametrize(("n", "P"), DESIGNS)
@pytest.mark.parametrize("covariance", ["common", "separate"])
def test_evidence_of_the_scatter(n, P, covariance):
    eigen, W0, W1, _ = problem(n, P)
    n0, n1 = eigen.n_neg, eigen.n_pos
    parts = (
        [(W0 + W1, n - 2)] if covariance == "common" else [(W0, n0 - 1), (W1, n1 - 1)]
    )

    def dense(a, a_scale):
        S, kappa = a_scale * np.eye(P), P + 1 + a
        return sum(log_marginal(W, df, S, kappa) for W, df in parts)

    values, oracle = [], []
    for a in (1.0, 8.0, 64.0):
        best, a_scale, _, _ = covariance_cell(eigen, a, covariance)
        values.append(best)
        oracle.append(dense(a, a_scale))
        # s by maximum evidence: no better scale nearby
        for factor in (0.7, 0.97, 1.03, 1.4):
            assert dense(a, a_scale * factor) < oracle[-1]
    np.testing.assert_allclose(np.diff(values), np.diff(oracle), rtol=1e-9)


@pytest.mark.parametrize("covariance", ["common", "separate", "spherical"])
@pytest.mark.parametrize("shape", [(30, 4), (12, 20)])
def test_several_strengths_are_as_many_cells(shape, covariance):
    eigen, *_ = problem(*shape)
    a = np.array([0.5, 8.0, 1000.0])
    together = covariance_cell(eigen, a, covariance)
    for k, one in enumerate(a):
        for got, alone in zip(
            together, covariance_cell(eigen, one, covariance), strict=True
        ):
            np.testing.assert_allclose(got[k], alone, rtol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("shape", DESIGNS)
def test_spherical_variance_is_that_of_scaled_features(shape, weight):
    """Each feature has variance 1: of n − 2 degrees of freedom, of one at least."""
    X, positive = design(*shape)
    X, positive = (X[:8], positive[:8]) if weight < 1 else (X, positive)
    eigen = eigenbasis(X, positive, np.full(len(X), weight), winsorize=None)
    _, a_scale, *_ = covariance_cell(eigen, 7.0, "spherical")
    assert a_scale == pytest.approx(7.0, rel=1e-9)


def test_variance_by_a_spectrum():
    """``q/df`` is what the spectrum says of a direction, whatever the strength."""
    eigen, *_ = problem(30, 4)
    spectrum = Spectrum(np.full(4, 0.37), 0.37)
    cells = replace(mixture(eigen), spectrum=spectrum)
    q, df = cells._variance(eigen.project(np.arange(1.0, 5.0)), 0)
    np.testing.assert_allclose(q / df, 0.37)


@pytest.mark.parametrize("n_pos", [3, 8])
def test_common_and_separate_evidence_share_their_constant(n_pos):
    """Both are densities of the same data: (W₀, W₁) or their sum and the split.

    For P = 1: p(W₀, W₁ | Σ) with one Σ, against one Σ_c each, by quadrature.
    """
    rng = np.random.default_rng(1)
    n = 14
    positive = np.arange(n) < n_pos
    X = rng.normal(size=(n, 1))
    eigen = eigenbasis(X, positive, winsorize=None)
    W, dfs = [eigen.along_neg[0], eigen.along_pos[0]], [n - n_pos - 1, n_pos - 1]
    a = 3.0
    t = np.linspace(-14, 14, 40001)
    variance = np.exp(t)

    def log_likelihood(part):  # of the deviations: (n_c − 1) normal variables
        return -dfs[part] / 2 * t - W[part] / (2 * variance)

    def log_integral(log_f, a_scale):
        prior = stats.invgamma.logpdf(variance, (2 + a) / 2, scale=a_scale / 2) + t
        return logsumexp(log_f + prior) + np.log(t[1] - t[0])

    common, s_common, *_ = covariance_cell(eigen, a, "common")
    separate, s_separate, *_ = covariance_cell(eigen, a, "separate")
    one = log_integral(log_likelihood(0) + log_likelihood(1), s_common)
    two = sum(log_integral(log_likelihood(part), s_separate) for part in (0, 1))
    assert separate - common == pytest.approx(two - one, rel=1e-6)


@pytest.mark.parametrize(("n", "P"), DESIGNS)
@pytest.mark.parametrize("covariance", ["common", "separate"])
@pytest.mark.parametrize("gamma", [0.0, 1.0, 1.5])
def test_evidence_and_shrinkage_of_the_mean(n, P, covariance, gamma):
    """d ~ N(0, τΣ̂^γ + noise) with P×P matrices; differences between two u."""
    eigen, W0, W1, d = problem(n, P)
    a = 10.0
    _, a_scale, ell, noise = covariance_cell(eigen, a, covariance)
    probit = np.array([0.3, 1.0, 2.5])
    log_b, shrink = signal_cells(eigen, ell, noise, gamma, probit)

    n0, n1 = eigen.n_neg, eigen.n_pos
    values, V = np.linalg.eigh(W0 + W1)
    if covariance == "common":
        lam = (a_scale + np.maximum(values, 0)) / (a + n - 2)
        eta = lam * (n0 + n1) / (n0 * n1)
    else:  # class scatters enter through their diagonals in the pooled basis
        along = [np.diag(V.T @ W @ V) for W in (W0, W1)]
        along = [np.where(values > 1e-9 * values[-1], x, 0) for x in along]
        lam0, lam1 = (
            (a_scale + along[0]) / (a + n0 - 1),
            (a_scale + along[1]) / (a + n1 - 1),
        )
        lam, eta = (lam0 + lam1) / 2, lam0 / n0 + lam1 / n1
    expected, means = [], []
    for z in probit:
        tau = 2 * z**2 / np.sum(lam ** (gamma - 1))
        prior, error = V * (tau * lam**gamma) @ V.T, V * eta @ V.T
        # The attainable AUC of this prior is Φ(z): E δᵀΣ⁻¹δ = 2z².
        assert np.trace(prior @ np.linalg.inv(V * lam @ V.T)) == pytest.approx(2 * z**2)
        expected.append(stats.multivariate_normal(cov=prior + error).logpdf(d))
        means.append(prior @ np.linalg.solve(prior + error, d))
    np.testing.assert_allclose(np.diff(log_b), np.diff(expected), rtol=1e-7)

    w = np.random.default_rng(2).normal(size=P)
    view = eigen.project(w, design(n, P)[0] @ w)
    x = w / eigen.scale
    x /= np.linalg.norm(x)
    cells = _one_column(eigen, shrink, noise, a_scale, a, covariance)
    D, spread = cells.difference(view, 0)
    np.testing.assert_allclose(D, [x @ mean for mean in means], rtol=1e-7, atol=1e-12)
    posterior = []
    for z in probit:
        tau = 2 * z**2 / np.sum(lam ** (gamma - 1))
        prior, error = V * (tau * lam**gamma) @ V.T, V * eta @ V.T
        posterior.append(
            x @ (prior - prior @ np.linalg.solve(prior + error, prior)) @ x
        )
    np.testing.assert_allclose(spread, posterior, rtol=1e-7)


@pytest.mark.parametrize("last", [0, 1, 2])
def test_covariances_that_weigh_nothing_are_left_out(last):
    """Not those whose small noise may make up for it: it is the bound that decides."""
    eigen, *_ = problem(30, 4)
    prior, one = attainable_prior(2.0), np.ones(4)
    cases = [(1.0, 0.0, 0.05), (2.0, -70.0, 1e-12), (3.0, -90.0, 0.05)]
    cases = cases[last:] + cases[:last]
    nulls = [
        (a, log_w, 2.0, 7 * eta * one, eta * one, "common", 0)
        for a, log_w, eta in cases
    ]
    found = dense_cells(eigen, prior, nulls)
    a = [head[1] for *_, head in found]
    order = [case[0] for case in cases if case[0] < 3]
    np.testing.assert_array_equal(a, np.repeat(order, len(a) // 2))
    rest = [null for null in nulls if null[0] < 3]
    alone = [cell for null in rest for cell in dense_cells(eigen, prior, [null])]
    for cell, same in zip(found, alone, strict=True):
        np.testing.assert_array_equal(cell[0], same[0])


def test_along_equal_variances_all_gammas_are_one():
    """Their prior is shared: the evidence is that of ``d ~ N(0, (τ + η)I)``."""
    eigen, *_, d = problem(30, 4)
    prior = attainable_prior(2.0)
    null = 3.0, 0.3, 2.0, np.full(4, 0.7), np.full(4, 0.05), "spherical", 0
    found = logsumexp([cell[0] for cell in dense_cells(eigen, prior, [null])])
    expected = [
        log_prior + stats.multivariate_normal(cov=tau + 0.05, mean=0).logpdf(d).sum()
        for tau, log_prior in zip(2 * prior[0] ** 2 * 0.7 / 4, prior[1], strict=True)
    ]
    expected = 0.3 + logsumexp(expected) + 2 * np.log(2 * np.pi)  # of 4 directions
    assert found == pytest.approx(expected, rel=1e-9)


def _one_column(eigen, shrink, noise, a_scale, a, covariance):
    k = len(shrink)
    head = (a_scale, a, 1.0, covariance == "separate", 0)
    cells = [(np.zeros(k), shrink, noise, head)]
    return normalised(eigen, cells, np.full(k, 0.7))


# -------------------------------------------------------------------------------- prior


@pytest.mark.parametrize("power", [0.5, 1.0, 5.0])
def test_prior_masses_are_betas(power):
    probit, log_mass = attainable_prior(power)
    beta = stats.beta(power, 1)
    even = beta.cdf(np.arange(1, 16) / 16) - beta.cdf(np.arange(15) / 16)
    np.testing.assert_allclose(np.exp(log_mass[:15]), even, rtol=1e-9)
    assert np.exp(log_mass).sum() == pytest.approx(1, rel=1e-12)
    edges = np.append(stats.norm.ppf(0.5 + 15 / 32), _mixture._TAIL)
    x = 2 * stats.norm.cdf(edges) - 1
    np.testing.assert_allclose(
        np.exp(log_mass[15:19]), np.diff(beta.cdf(x))[:4], rtol=1e-6
    )
    # Farther out 2u − 1 rounds to 1, where its density is c.
    tails = 2 * power * -np.diff(stats.norm.sf(edges))
    np.testing.assert_allclose(np.exp(log_mass[19:]), tails[4:], rtol=1e-4)
    assert np.all(np.diff(probit) > 0)


def test_prior_mean_of_the_attainable_auc():
    probit, log_mass = attainable_prior(1.0)
    assert np.exp(log_mass) @ stats.norm.cdf(probit) == pytest.approx(0.75, abs=1e-3)


# -------------------------------------------------------------------------------- cells


@pytest.mark.parametrize(("n", "P"), DESIGNS)
def test_common_cells_against_their_statement(n, P):
    """Draw σ² = q/χ² and the difference; compare the moments of Z."""
    eigen, W0, W1, d = problem(n, P)
    cells = mixture(eigen, covariances=("common",))
    w = np.random.default_rng(3).normal(size=P)
    view = eigen.project(w, design(n, P)[0] @ w)
    posterior = cells.posterior(view)
    x = w / eigen.scale
    x /= np.linalg.norm(x)
    h = eigen.n_neg * eigen.n_pos / n
    best = np.argsort(cells.weight)[-3:]
    rng = np.random.default_rng(4)
    for c in best:
        D, noise = (part[c] for part in cells.difference(view, 0))
        # W, and d given δ, are n − 2 and one more observation of Σ.
        residual = (x @ d - D) ** 2 + noise
        q = cells.a_scale[c] + x @ (W0 + W1) @ x + h * residual
        df = cells.a[c] + n + 1
        assert posterior.q[c] == pytest.approx(q, rel=1e-8)
        assert posterior.df[c] == df
        sigma2 = q / rng.chisquare(df, 400000)
        # Var(δ | Σ) = v σ² with v so that its mean over σ² is the noise.
        v = noise / (q / (df - 2))
        gap = D + np.sqrt(v * sigma2) * rng.standard_normal(400000)
        auc = stats.norm.cdf(gap / np.sqrt(2 * sigma2))
        one = type(posterior).from_cells(
            posterior.D[c], posterior.v[c], posterior.q[c], posterior.df[c]
        )
        assert one.mean() == pytest.approx(auc.mean(), abs=4 * auc.std() / 632)
        assert one.std() == pytest.approx(auc.std(), rel=0.01)


@pytest.mark.parametrize(("n", "P"), DESIGNS)
def test_projected_variance_is_the_inverse_wisharts(n, P):
    """σ² = q/χ²_df is wᵀΣw of Σ ~ IW(S + W, P + 1 + a + n − 2), by draws."""
    eigen, W0, W1, _ = problem(n, P)
    cells = mixture(eigen, covariances=("common",))
    w = np.random.default_rng(3).normal(size=P)
    x = w / eigen.scale
    x /= np.linalg.norm(x)
    c = int(np.argmax(cells.weight))
    view = eigen.project(w, design(n, P)[0] @ w)
    q, df = (
        np.broadcast_to(part, len(cells.weight))[c] for part in cells._variance(view, 0)
    )
    S = cells.a_scale[c] * np.eye(P) + W0 + W1
    law = stats.invwishart(P + 1 + cells.a[c] + n - 2, S)
    draws = np.array([x @ M @ x for M in law.rvs(4000, random_state=1)])
    # Kolmogorov–Smirnov at a fixed seed
    assert stats.kstest(q / draws, stats.chi2(df).cdf).pvalue > 0.01


def test_separate_cells_match_the_mean_of_two_inverse_wisharts():
    eigen, W0, W1, _ = problem(30, 4)
    cells = mixture(eigen, covariances=("separate",))
    assert cells.separate.all()
    w = np.random.default_rng(3).normal(size=4)
    x = w / eigen.scale
    x /= np.linalg.norm(x)
    q, df = cells._variance(eigen.project(w), 0)
    c = int(np.argmax(cells.weight))
    draws = 0
    for W, n_c, seed in ((W0, eigen.n_neg, 1), (W1, eigen.n_pos, 2)):
        law = stats.invwishart(
            4 + 1 + cells.a[c] + n_c - 1, cells.a_scale[c] * np.eye(4) + W
        )
        sample = law.rvs(20000, random_state=seed)
        draws = draws + np.einsum("i,kij,j->k", x, sample, x) / 2
    assert q[c] / (df[c] - 2) == pytest.approx(draws.mean(), rel=0.01)
    # Satterthwaite matches the spread roughly: σ² = q/χ²_df
    spread = stats.invgamma(df[c] / 2, scale=q[c] / 2).std()
    assert spread == pytest.approx(draws.std(), rel=0.15)


# --------------------------------------------------------------------------------- laws


@pytest.mark.parametrize(("n", "P"), DESIGNS)
def test_weights_are_a_distribution_and_cells_complete(n, P):
    eigen, *_ = problem(n, P)
    cells = mixture(eigen)
    assert cells.weight.sum() == pytest.approx(1, rel=1e-12)
    assert (cells.weight > 0).all()
    width = len(eigen.values) + (eigen.null > 0)
    assert cells.shrink.shape == (len(cells.weight), width)
    assert np.all((cells.shrink >= 0) & (cells.shrink <= 1))
    assert np.all((cells.attainable > 0.5) & (cells.attainable <= 1))


def test_power_tilts_the_attainable_auc():
    eigen, *_ = problem(30, 4)
    means = []
    for power in (0.5, 1.0, 5.0, 50.0):
        cells = mixture(eigen, power=power)
        means.append(cells.weight @ cells.attainable)
    assert np.all(np.diff(means) > 0)


def test_unequal_variances_are_noticed():
    rng = np.random.default_rng(0)
    positive = np.arange(200) % 2 == 0
    X = rng.normal(size=(200, 3))
    same = mixture(eigenbasis(X, positive))
    X[positive] *= 3
    other = mixture(eigenbasis(X, positive))
    # Σ = sI is a case of both models (one s for both classes): no more than ½ here
    assert same.weight @ same.separate < 0.55
    assert other.weight @ other.separate > 0.999


def test_signal_along_large_variance_wants_a_large_gamma():
    rng = np.random.default_rng(0)
    positive = np.arange(300) % 2 == 0
    factor = rng.normal(size=(300, 1)) + 0.8 * positive[:, None]
    X = factor + 0.3 * rng.normal(size=(300, 40))
    with_factor = mixture(eigenbasis(X, positive))
    Y = rng.normal(size=(300, 1)) + 0.3 * rng.normal(size=(300, 40))
    Y[:, ::2] += 0.15 * positive[:, None]
    Y[:, 1::2] -= 0.15 * positive[:, None]
    across = mixture(eigenbasis(Y, positive))
    assert with_factor.weight @ with_factor.gamma > 0.9
    assert across.weight @ across.gamma < with_factor.weight @ with_factor.gamma - 0.3


def test_dead_direction_is_half_for_sure():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=20), np.ones(20)])
    eigen = eigenbasis(X, np.arange(20) % 2 == 0)
    posterior = mixture(eigen).posterior(eigen.project(np.array([0.0, 1.0])))
    assert posterior.mean() == 0.5
    assert posterior.std() == 0


@pytest.mark.parametrize("n_pos", [1, 2])
def test_one_and_two_rows_in_a_class(n_pos):
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n_pos + 1, 3)), np.arange(n_pos + 1) < n_pos
    eigen = eigenbasis(X, positive)
    posterior = mixture(eigen).posterior(eigen.project(np.ones(3), X @ np.ones(3)))
    assert 0 < posterior.mean() < 1
    assert posterior.std() > 0.05


def test_evidence_of_a_million_features_is_smooth():
    """Terms of size κP cancel, 1e13: a last digit of λ must not move the evidence."""
    X, positive = design(30, 20)
    eigen = replace(eigenbasis(X, positive), unseen=10**6)
    nudged = replace(eigen, values=eigen.values * (1 + 1e-13))
    one, two = (covariance_cell(basis, 32e6, "common")[:2] for basis in (eigen, nudged))
    assert two[0] == pytest.approx(one[0], rel=0, abs=1e-5)  # the log evidence
    assert two[1] == pytest.approx(one[1], rel=1e-11)  # the scale


def test_maximum_by_grids_and_a_parabola():
    """Of a parabola exactly, wherever it lies between the nodes."""
    for top in (-3.03, 0.0, 0.0071, 4.4):
        place, value = _maximise(lambda t, top=top: 2.5 - 0.3 * (t - top) ** 2, 0.4)
        assert np.log(place) == pytest.approx(top, abs=1e-9)
        assert value == pytest.approx(2.5, abs=1e-12)
    # a skewed one to the square of the step, .02
    place, _ = _maximise(lambda t: 3 * t - np.exp(t), 2.0)
    assert np.log(place) == pytest.approx(np.log(3), abs=1e-4)
    # several at once, each from its own start
    top = np.array([-3.03, 0.0071, 4.4])[:, None]
    places, values = _maximise(lambda t: 2.5 - 0.3 * (t - top) ** 2, top[:, 0] + 0.37)
    np.testing.assert_allclose(np.log(places), top[:, 0], atol=1e-9)
    np.testing.assert_allclose(values, 2.5, atol=1e-12)
    # where it still rises at the end, the end
    place, _ = _maximise(lambda t: t, 1.0)
    assert np.log(place) == pytest.approx(10.0, abs=0.03)
    # without any information, where it started
    assert _maximise(np.zeros_like, 1.5) == (pytest.approx(np.exp(1.5)), 0.0)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
def test_prior_of_the_attainable_auc(power):
    """``(2u − 1)^c`` between the edges: sixteenths, then those of the tail."""
    probit, log_mass = attainable_prior(power)
    edges = np.concatenate([stats.norm.ppf(0.5 + np.arange(16) / 32), _mixture._TAIL])
    share = (2 * stats.norm.cdf(edges) - 1) ** power
    share[-1] = 1.0  # but for 1e-21
    np.testing.assert_allclose(np.exp(log_mass), np.diff(share), rtol=1e-6, atol=1e-15)
    assert np.exp(log_mass).sum() == pytest.approx(1, rel=1e-12)
    assert ((edges[:-1] < probit) & (probit < edges[1:])).all()
    np.testing.assert_allclose(probit[15:], (edges[15:-1] + edges[16:]) / 2)
    middle = (np.arange(15) + 0.5) / 16
    np.testing.assert_allclose(2 * stats.norm.cdf(probit[:15]) - 1, middle)


def test_no_part_of_a_combination_of_the_rows_lies_beyond_them():
    eigen, *_ = problem(12, 20)
    model = mixture(eigen)
    x = eigen.project(np.ones(20), np.zeros(12))
    a = np.ones(len(eigen.values)) / np.sqrt(len(eigen.values))
    inside = replace(
        x,
        square=a[:, None] ** 2,
        cross=(a * eigen.b)[:, None],
        difference=np.array([a @ eigen.b]),
    )
    D, noise = model.difference(inside, 0)
    k = len(a)
    np.testing.assert_allclose(D, model.shrink[:, :k] @ (a * eigen.b), rtol=1e-9)
    expected = (model.shrink * model.noise)[:, :k] @ a**2
    np.testing.assert_allclose(noise, expected, rtol=1e-9)


def test_evidence_of_a_mean_difference_within_the_rows():
    """One direction beyond the span, in which the means do not differ."""
    b = np.array([0.3, -0.1, 0.6, 0.2])
    eigen, *_ = problem(12, 20)
    eigen = replace(eigen, scale=np.ones(5), values=np.arange(4.0), b=b, d=b)
    ell, noise = np.array([0.2, 0.4, 1.0, 2.0, 0.5]), np.full(5, 0.07)
    probit = np.array([0.3, 1.2])
    log_b, _ = signal_cells(eigen, ell, noise, (0.0, 1.0), probit)
    expected = []
    for gamma in (0.0, 1.0):
        for z in probit:
            tau = 2 * z**2 / np.sum(ell ** (gamma - 1))
            sd = np.sqrt(tau * ell**gamma + noise)
            expected.append(stats.norm.logpdf(np.append(b, 0.0), 0, sd).sum())
    found = np.ravel(log_b)
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)


def test_every_cell_has_the_scale_that_its_covariance_prefers():
    eigen, *_ = problem(30, 4)
    model = mixture(eigen)
    for a, separate in {*zip(model.a, model.separate, strict=True)}:
        cells = (model.a == a) & (model.separate == separate)
        kind = "separate" if separate else "common"
        expected = covariance_cell(eigen, a, kind)[1]
        np.testing.assert_allclose(model.a_scale[cells], expected, rtol=1e-12)
