"""Posterior of the AUC against the P × P model, mpmath, quadrature and simulation."""

from dataclasses import replace
from itertools import pairwise

import mpmath as mp
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad, trapezoid
from scipy.special import ndtr

from skauc import NormalInverseWishart, class_moments
from skauc.results import AUCPosterior

SAMPLERS = {"common": oracles.sample_common, "separate": oracles.sample_separate}
covariances = pytest.mark.parametrize("covariance", SAMPLERS)


def project(X, positive, w, prior, covariance, weight=None):
    """The posterior of the scores of one direction."""
    w = np.asarray(w, dtype=float)
    return prior.project(w, *class_moments(X @ w, positive, weight), covariance)


def small_problem(rng, n0=9, n1=7, P=3, gap=0.8):
    X = rng.normal(size=(n0 + n1, P)) @ (np.eye(P) + 0.4)
    positive = np.arange(n0 + n1) >= n0
    X[positive] += gap
    w = np.array([1.0, -0.4, 0.7, 0.2, 0.1])[:P]
    return X, positive, w


def some_prior(P=3, kappa=5.5, full=True):
    S = np.diag(np.linspace(1, 2, P)) + 0.3 * full
    return NormalInverseWishart(
        mean_neg=np.linspace(-0.2, 0.3, P),
        mean_pos=0.4,
        nu_neg=0.7,
        nu_pos=1.5,
        kappa=kappa,
        scale=S,
    )


def some_posterior(rng, covariance, **kwargs):
    return project(*small_problem(rng, **kwargs), some_prior(), covariance)


# ---------------------------------------------------------- oracle: the P × P model


@covariances
@pytest.mark.slow
def test_full_model(rng, covariance):
    X, positive, w = small_problem(rng)
    prior, size = some_prior(), 20_000
    draws = SAMPLERS[covariance](
        *(X[~positive], X[positive], w),
        *(prior.mean_neg, np.full(3, 0.4), 0.7, 1.5, 5.5, np.asarray(prior.scale)),
        *(size, rng),
    )
    posterior = project(X, positive, w, prior, covariance).auc()
    # Five standard errors of the Monte Carlo estimate, each.
    assert abs(posterior.mean() - draws.mean()) < 5 * draws.std() / np.sqrt(size)
    error = ((draws - draws.mean()) ** 2).std() / np.sqrt(size)
    assert abs(posterior.var() - draws.var()) < 5 * error
    levels = np.array([0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.999])
    share = np.array([(draws <= x).mean() for x in posterior.ppf(levels)])
    error = np.sqrt(levels * (1 - levels) / size)
    assert np.all(np.abs(share - levels) < 5 * error)
    x = np.quantile(draws, levels)
    assert np.all(np.abs(posterior.cdf(x) - levels) < 5 * error)


@covariances
@pytest.mark.parametrize("thresholds", [None, "scores"])
def test_rates_error_and_ebauc_by_new_data(rng, covariance, thresholds):
    """BEE and EBAUC from new rows drawn from the posterior predictive, P > 1."""
    X, positive, w = small_problem(rng)
    prior, size = some_prior(), 40_000
    rule = project(X, positive, w, prior, covariance)
    scores = []
    neg = X[~positive], prior.mean_neg, 0.7
    pos = X[positive], np.full(3, 0.4), 1.5
    for (rows, m, nu), other in ((neg, pos), (pos, neg)):
        m_star, nu_star, kappa, S = oracles.absorb(rows, m, nu, 5.5, prior.scale)
        if covariance != "separate":
            _, _, kappa, S = oracles.absorb(*other, kappa, S)
        Sigma = stats.invwishart(kappa, S).rvs(size, random_state=rng)
        spread = np.sqrt(np.einsum("i,kij,j->k", w, Sigma, w))
        mu = m_star @ w + spread / np.sqrt(nu_star) * rng.standard_normal(size)
        scores.append(mu + spread * rng.standard_normal(size))
    neg, pos = scores
    cuts = np.array([-1.0, 0.0, 0.5, 2.0])
    fpr, tpr = rule.rates(cuts)
    standard_error = 0.5 / np.sqrt(size)
    for t, u, v in zip(cuts, fpr, tpr, strict=True):
        assert abs((neg > t).mean() - u) < 5 * standard_error
        assert abs((pos > t).mean() - v) < 5 * standard_error
    if thresholds is None:
        assert abs(rule.ebauc() - (pos > neg).mean()) < 5 * standard_error
    else:
        cuts = X @ w
        got = rule.ebauc(cuts)
        grid = np.sort(cuts)[::-1]
        u = [0, *[(neg > t).mean() for t in grid], 1]
        v = [0, *[(pos > t).mean() for t in grid], 1]
        assert abs(got - trapezoid(v, u)) < 5 * 2 * standard_error


# ------------------------------------------------------- oracle: closed forms, mpmath

CELLS = [
    # D, v, q, df
    (0.0, 0.3, 2.0, 7.0),
    (0.3, 0.1, 40.0, 23.0),
    (-1.5, 1.9, 3.0, 5.0),
    (2.0, 0.1, 40.0, 43.0),
    (-0.2, 1e-3, 900.0, 2003.0),
    (9.0, 0.02, 4.0, 203.0),
    (1e-7, 0.5, 1.0, 5.0),
    (30.0, 0.2, 1.0, 24.0),
    (6.0, 0.4, 11.0, 3.5),
]
cells = pytest.mark.parametrize("cell", CELLS, ids=str)


@cells
def test_mean_and_variance_by_proposition_1_and_nested_integrals(cell):
    posterior = AUCPosterior.from_components(*cell)
    with mp.workdps(50):
        expected = float(oracles.proposition_1(*cell))
    assert posterior.mean() == pytest.approx(expected, rel=1e-13, abs=0)
    assert posterior.mean() == pytest.approx(oracles.second_moment(*cell)[0], rel=1e-10)
    rest, second = oracles.second_moment(-abs(cell[0]), *cell[1:])
    # the oracle subtracts numbers of the size of 1 − AUC; 1e-32 is the square of the
    # distance of two floats near 1
    assert posterior.var() == pytest.approx(
        second - rest**2, rel=1e-7, abs=1e-14 * rest + 1e-32
    )
    assert posterior.std() == np.sqrt(posterior.var())


@pytest.mark.parametrize("cell", CELLS[:5] + CELLS[8:], ids=str)
def test_cdf_is_the_noncentral_t(cell):
    D, v, q, df = cell
    posterior = AUCPosterior.from_components(*cell)
    z = np.linspace(-1.5, 1.5, 13) + posterior.mean_probit()
    # P(Z ≤ z) = P(t' ≥ …); scipy's nct is good to about 1e-9 here
    expected = stats.nct.sf(D / np.sqrt(v) * np.sqrt(df / q), df, np.sqrt(2 / v) * z)
    np.testing.assert_allclose(posterior.cdf(ndtr(z)), expected, rtol=1e-7, atol=1e-9)


@cells
def test_cdf_by_quadrature(cell):
    D, v, q, df = cell
    posterior, chi2 = AUCPosterior.from_components(*cell), stats.chi2(df)
    x = posterior.ppf([1e-6, 0.01, 0.5, 0.9, 1 - 1e-6])
    ends = np.log([chi2.ppf(1e-22), chi2.median(), chi2.isf(1e-22)])

    def below(y, z):
        c = np.exp(y)
        mean = D * np.sqrt(c / q)
        return c * chi2.pdf(c) * ndtr((np.sqrt(2) * z - mean) / np.sqrt(v))

    for value in x[x < 1 - 1e-13]:  # where Φ⁻¹(x) still has its digits
        options = {"limit": 500, "epsabs": 1e-13, "epsrel": 1e-10}
        options["args"] = (stats.norm.ppf(value),)
        expected = sum(quad(below, a, b, **options)[0] for a, b in pairwise(ends))
        # 1e-11: for df < 5 the integrand over N has a kink of order df at R = 0
        assert posterior.cdf(value) == pytest.approx(expected, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("df", [1.0, 2.5, 30.0, 99.0, 101.0, 300.0, 1e6, 1e13])
def test_probit_moments_of_any_degrees_of_freedom(df):
    """``Z = (D √(χ²/q) + √v N)/√2`` by mpmath; its variance rides on df − (E√χ²)²."""
    with mp.workdps(60):
        half = mp.mpf(df) / 2
        root = mp.sqrt(2) * mp.exp(
            mp.loggamma(half + mp.mpf(1) / 2) - mp.loggamma(half)
        )
        mean, spread = root / mp.sqrt(2 * mp.mpf(df)), (df - root**2) / (2 * mp.mpf(df))
    got = AUCPosterior.from_components(D=1.0, v=1e-300, q=df, df=df).probit_moments()
    assert got[0] == pytest.approx(float(mean), rel=1e-13)
    assert got[1] == pytest.approx(float(spread), rel=1e-11)  # as the constant says


@pytest.mark.parametrize("df", [5.0, 43.0, 203.0, 2003.0])
def test_tail_mean_keeps_relative_accuracy(df):
    for t in [0.1, 2.0, 8.0, 30.0]:
        v = 0.2
        posterior = AUCPosterior.from_components(D=t * np.sqrt(2 + v), v=v, q=df, df=df)
        with mp.workdps(50):
            rest = oracles.student_cdf(df, -mp.mpf(t))
            assert abs(posterior.swapped().mean() / rest - 1) < 1e-11
            log_rest = float(mp.log(rest))
        # Φ⁻¹ of the tail: log Φ must reproduce the log of the tail
        assert stats.norm.logcdf(-posterior.mean_probit()) == pytest.approx(
            log_rest, rel=1e-12
        )
        assert posterior.swapped().mean_probit() == -posterior.mean_probit()


def test_small_upper_tail_keeps_its_digits():
    # Many rows, far apart: the spread is in χ², and P(AUC > x) is a χ² tail.
    D, v, q, df = 2.0, 1e-9, 400.0, 400.0
    posterior = AUCPosterior.from_components(D, v, q, df)
    x = ndtr(1.35 * D / np.sqrt(2))
    # √v N moves R by 1e-5 only
    expected = stats.chi2.sf(1.35**2 * df, df)
    assert expected < 1e-17
    assert posterior.sf(x) == pytest.approx(expected, rel=1e-3, abs=0)


# -------------------------------------------------------- oracle: separate covariances


@pytest.mark.parametrize("df", [(3.0, 3.0), (10.0, 14.0), (6.0, 200.0), (51.0, 60.0)])
def test_separate_mean_is_a_race_of_students(rng, df):
    some = some_posterior(rng, "separate")
    for D in [0.0, 1.0, -3.0, 10.0, 30.0, 100.0]:
        numbers = {"mean": (0.5, 0.5 + D), "nu": (10.5, 14.5), "q": (10.0, 20.0)}
        numbers = {name: np.array(pair) for name, pair in numbers.items()}
        rule = replace(some, **numbers, df=np.array(df))
        posterior = rule.auc()
        scale = np.sqrt((1 + 1 / np.array([10.5, 14.5])) * [10.0, 20.0] / np.array(df))
        rest = oracles.student_race(0.5, scale[0], df[0], 0.5 + D, scale[1], df[1])
        # 1 − AUC keeps ten digits although it falls to 1e-77
        assert posterior.swapped().mean() == pytest.approx(rest, rel=1e-10, abs=0)
        assert posterior.mean() == pytest.approx(1 - rest, rel=1e-12)
        assert rule.ebauc() == posterior.mean()
        if rest < 0.5:
            assert ndtr(-posterior.mean_probit()) == pytest.approx(
                rest, rel=1e-9, abs=0
            )


# -------------------------------------------------------------------------- law


def posteriors(rng):
    yield from (AUCPosterior.from_components(*cell) for cell in CELLS)
    yield some_posterior(rng, "separate").auc()
    yield AUCPosterior.from_components([0.5, 2.0], 0.2, 9.0, [8.0, 12.0], [0.3, 0.7])


def test_scipys_verbs_agree_with_each_other(rng):
    for posterior in posteriors(rng):
        x = np.array([0.01, 0.2, 0.5, 0.77, 0.95])
        cdf = posterior.cdf(x)
        np.testing.assert_allclose(cdf + posterior.sf(x), 1, atol=1e-12)
        assert np.all(np.diff(cdf) >= 0)
        levels = np.array([1e-8, 0.025, 0.5, 0.9, 0.999])
        quantiles = posterior.ppf(levels)
        assert np.all(np.diff(quantiles) >= 0)
        inside = quantiles < 1 - 1e-9  # Φ⁻¹ loses its digits next to 1
        np.testing.assert_allclose(
            posterior.cdf(quantiles[inside]), levels[inside], rtol=1e-6
        )
        seen = (cdf > 1e-6) & (cdf < 1 - 1e-6)
        np.testing.assert_allclose(posterior.ppf(cdf[seen]), x[seen], rtol=1e-8)
        assert posterior.median() == posterior.ppf(0.5)
        # the tail formula of the mean: E[AUC] = ∫ sf
        low, high = posterior.ppf([1e-10, 1 - 1e-10])
        if high - low > 1e-3:
            area = quad(posterior.sf, low, high, limit=100, epsabs=1e-8)[0]
            assert posterior.mean() == pytest.approx(low + area, abs=1e-7)


def test_density(rng):
    for posterior in posteriors(rng):
        low, middle, high = posterior.ppf([1e-9, 0.5, 1 - 1e-9])
        if high > 1 - 1e-6:
            continue  # the mass sits in the last floats below 1
        mass = sum(
            quad(posterior.pdf, a, b, limit=100, epsabs=1e-8)[0]
            for a, b in ((low, middle), (middle, high))
        )
        assert mass == pytest.approx(1, abs=1e-7)
        x, h = posterior.ppf(0.3), 1e-4 * posterior.std()
        slope = (posterior.cdf(x + h) - posterior.cdf(x - h)) / (2 * h)
        assert posterior.pdf(x) == pytest.approx(slope, rel=1e-5)


def test_draws(rng):
    size = 20_000
    for posterior in posteriors(rng):
        draws = posterior.rvs(size, random_state=1)
        error = posterior.std() / np.sqrt(size)
        assert abs(draws.mean() - posterior.mean()) < 3 * error + 1e-14
        for level in (0.1, 0.9):
            if posterior.ppf(level) < 1 - 1e-9:
                share = (draws <= posterior.ppf(level)).mean()
                assert abs(share - level) < 3 * 0.3 / np.sqrt(size)
    assert posterior.rvs((2, 3), 1).shape == (2, 3)
    np.testing.assert_array_equal(posterior.rvs(4, 7), posterior.rvs(4, 7))


@covariances
def test_swapped_classes(rng, covariance):
    X, positive, w = small_problem(rng)
    prior = some_prior()
    mirrored = NormalInverseWishart(
        prior.mean_pos, prior.mean_neg, prior.nu_pos, prior.nu_neg, 5.5, prior.scale
    )
    rule = project(X, positive, w, prior, covariance)
    swapped = project(X, ~positive, w, mirrored, covariance)
    assert swapped.auc().mean() == pytest.approx(1 - rule.auc().mean(), abs=1e-14)
    assert swapped.auc().std() == pytest.approx(rule.auc().std(), rel=1e-11)
    low, high = rule.auc().interval()
    np.testing.assert_allclose(swapped.auc().interval(), (1 - high, 1 - low), rtol=1e-9)
    # turning w instead turns every score
    turned = project(X, positive, -w, prior, covariance)
    assert turned.auc().mean() == pytest.approx(rule.auc().swapped().mean(), rel=1e-13)


@covariances
@settings(max_examples=25, deadline=None)
@given(log_c=st.floats(-60, 60))
def test_length_of_w_is_free(covariance, log_c):
    X, positive, w = small_problem(np.random.default_rng(1))
    for prior in (some_prior(), NormalInverseWishart()):
        base = project(X, positive, w, prior, covariance)
        scaled = project(X, positive, 10**log_c * w, prior, covariance)
        assert scaled.auc().mean() == pytest.approx(base.auc().mean(), rel=1e-12)
        assert scaled.auc().var() == pytest.approx(base.auc().var(), rel=1e-10)
        t = 0.3
        for one, other in zip(scaled.rates(10**log_c * t), base.rates(t), strict=True):
            assert one == pytest.approx(other)


@covariances
def test_shapes_of_the_scale_agree(rng, covariance):
    X, positive, w = small_problem(rng)

    def mean(scale, m):
        prior = NormalInverseWishart(mean_pos=m, scale=scale)
        return project(X, positive, w, prior, covariance).auc().mean()

    full, diagonal = (
        mean(np.diag([1.0, 2.0, 3.0]), 0.5),
        mean([1.0, 2.0, 3.0], [0.5] * 3),
    )
    assert full == pytest.approx(diagonal, rel=1e-14)
    assert mean(2.0, 0) == pytest.approx(mean(2 * np.eye(3), np.zeros(3)), rel=1e-14)
    assert full != pytest.approx(mean(3.0, 0.5), rel=1e-6)


# ------------------------------------------------------------------------- edge


@pytest.mark.parametrize(
    ("nu", "covariance", "text"),
    [
        (0.0, "common", r"scale=0.0 with P = 5 features and 3 \+ 3 rows .* rank 4"),
        (0.0, "separate", r"P = 5 features and 3 \+ 3 rows .* rank 2"),
        (0.5, "separate", r"P = 5 features and 3 \+ 3 rows .* rank 3"),
    ],
)
def test_improper_prior_with_too_few_rows(rng, nu, covariance, text):
    X, positive, w = small_problem(rng, 3, 3, P=5)
    prior = NormalInverseWishart(scale=0.0, nu_neg=nu, nu_pos=nu)
    # The scatter is singular, although this one direction of it is not.
    with pytest.raises(ValueError, match=text):
        project(X, positive, w, prior, covariance)


def test_point_mass_at_half():
    posterior = AUCPosterior.from_components(D=0.0, v=1e-300, q=1.0, df=1.0)
    assert posterior.mean() == 0.5
    assert posterior.var() == 0.0
    assert posterior.interval() == pytest.approx((0.5, 0.5))
    assert posterior.cdf(0.4) == 0
    assert posterior.cdf(0.6) == pytest.approx(1, rel=1e-14)
    assert posterior.sf(0.6) == 0
    assert np.all(posterior.pdf([1e-300, 0.4, 0.6]) == 0)
    np.testing.assert_array_equal(posterior.rvs(3, 0), 0.5)


def test_ends_shapes_and_repr():
    posterior = AUCPosterior.from_components(2.0, 0.1, 40.0, 43)
    x = [-1, 0, 1, 2, np.nan]
    np.testing.assert_allclose(posterior.cdf(x), [0, 0, 1, 1, np.nan], atol=1e-15)
    np.testing.assert_allclose(posterior.sf(x), [1, 1, 0, 0, np.nan], atol=1e-15)
    np.testing.assert_array_equal(posterior.pdf(x), [0, 0, 0, 0, np.nan])
    np.testing.assert_array_equal(posterior.ppf([0, 1]), [0, 1])
    assert posterior.cdf([[0.5, 0.9]]).shape == (1, 2)
    assert np.ndim(posterior.ppf(0.3)) == np.ndim(posterior.cdf(0.3)) == 0
    assert np.isfinite(posterior.pdf([5e-324, 1e-300, 1 - 1e-16])).all()
    assert repr(posterior) == "AUCPosterior(mean=0.9202, interval95=(0.8223, 0.9771))"


# ------------------------------------------------------------------------ calibration


@covariances
@pytest.mark.slow
def test_intervals_cover_what_the_prior_draws(covariance):
    """Σ and μ from a proper prior, rows from them: 95 % intervals cover 95 %."""
    rng = np.random.default_rng(7)
    P, kappa, S, reps = 3, 8.0, np.diag([1.0, 2.0, 0.5]), 1000
    m0, m1, nu0, nu1 = np.zeros(P), np.full(P, 0.4), 2.0, 3.0
    prior = NormalInverseWishart(m0, m1, nu0, nu1, kappa, S)
    w, positive = np.array([1.0, 0.5, -0.3]), np.arange(18) >= 10
    law = stats.invwishart(kappa, S)
    first = law.rvs(reps, random_state=rng)
    second = law.rvs(reps, random_state=rng) if covariance == "separate" else first
    Sigma = np.stack([first, second])
    u = []
    for A, B in zip(*Sigma, strict=True):
        mu0 = rng.multivariate_normal(m0, A / nu0)
        mu1 = rng.multivariate_normal(m1, B / nu1)
        truth = ndtr((mu1 - mu0) @ w / np.sqrt(w @ (A + B) @ w))
        X = np.vstack(
            [rng.multivariate_normal(mu0, A, 10), rng.multivariate_normal(mu1, B, 8)]
        )
        posterior = project(X, positive, w, prior, covariance).auc()
        u.append(posterior.cdf(truth))
    u = np.array(u)
    # P(AUC ≤ truth | data) is uniform: the interval covers iff it lies within
    inside = np.mean((u > 0.025) & (u < 0.975))
    assert abs(inside - 0.95) < 4 * np.sqrt(0.95 * 0.05 / reps)
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    low, high = posterior.interval(0.95)
    assert (low < truth < high) == (0.025 < u[-1] < 0.975)


# ------------------------------------------------------------------- error text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"nu_neg": -1}, r"nu_neg must be finite and >= 0, got -1"),
        ({"nu_pos": np.inf}, r"nu_pos must be finite and >= 0, got inf"),
        ({"nu_pos": np.nan}, r"nu_pos must be finite and >= 0, got nan"),
        ({"kappa": np.nan}, r"kappa must be finite, got nan"),
        ({"mean_neg": np.inf}, r"mean_neg must be finite, .* got inf"),
        ({"mean_pos": np.ones((2, 2))}, r"mean_pos must be finite, a number or an arr"),
        ({"scale": -1}, r"scale must be positive definite .* eigenvalue -1"),
        ({"scale": [1, 0.0]}, r"scale must be positive definite .* eigenvalue 0"),
        ({"scale": [[1, 2], [2, 1.0]]}, r"smallest eigenvalue -1"),
        ({"scale": [[1, 2], [0, 1.0]]}, r"symmetric \(P, P\) matrix, got shape \(2, 2"),
        ({"scale": np.ones((2, 3))}, r"symmetric \(P, P\) matrix, got shape \(2, 3\)"),
        ({"scale": np.nan}, r"scale must be finite, .* got nan"),
    ],
)
def test_prior_errors(options, text):
    with pytest.raises(ValueError, match=text):
        NormalInverseWishart(**options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"kappa": 2}, r"kappa must exceed P - 1 = 2 for a proper prior, got 2"),
        ({"mean_neg": [1.0, 2.0]}, r"mean_neg must match the 3 features .* \(2,\)"),
        ({"scale": np.eye(4)}, r"scale must match the 3 features .* \(4, 4\)"),
        (
            {"scale": 0.0, "kappa": -20},
            r"df >= 1 and q > 0, got df = -6 and .* 9 \+ 7 rows and P = 3",
        ),
    ],
)
def test_prior_meets_data_errors(rng, options, text):
    with pytest.raises(ValueError, match=text):
        project(*small_problem(rng), NormalInverseWishart(**options), "common")


def test_improper_prior_without_spread():
    X = np.repeat([0.0, 1.0], 5)[:, None]
    prior = NormalInverseWishart(scale=0.0, nu_neg=0, nu_pos=0)
    with pytest.raises(ValueError, match=r"got df = 13 and q = 0 with 5 \+ 5 rows"):
        project(X, X[:, 0] > 0, [1.0], prior, "common")


def test_level_errors():
    posterior = AUCPosterior.from_components(1.0, 1.0, 1.0, 5.0)
    for bad in (0, 1, 1.5, np.nan):
        with pytest.raises(ValueError, match=rf"must lie in \(0, 1\), got {bad}"):
            posterior.interval(bad)
    with pytest.raises(ValueError, match=r"q must lie in \[0, 1\], got -0.1"):
        posterior.ppf(-0.1)
    for bad in ("odds", np.array([0.5, 0.5])):
        with pytest.raises(ValueError, match="scale must be one of 'auc', 'probit'"):
            posterior.choice(bad)
