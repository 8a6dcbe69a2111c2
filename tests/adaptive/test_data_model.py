"""The model of a data set against its definition, written with full matrices."""

from dataclasses import dataclass

import numpy as np
import pytest
from oracles import pairwise_auc
from scipy import sparse, stats
from scipy.integrate import trapezoid
from scipy.special import multigammaln, ndtr, ndtri
from sklearn.linear_model import Ridge

from skauc import AdaptivePrior
from skauc.adaptive._data_model import data_model
from skauc.statistics._rows import Rows


def made(n_neg, n_pos, P, *, seed=0, signal=0.4, spread=1.0):
    """Rows of two normal classes; the positive one varies ``spread`` times as much."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n_neg + n_pos) >= n_neg
    X = rng.standard_normal((n_neg + n_pos, P))
    X[positive] *= spread
    X[positive, : min(P, 3)] += signal
    return X, positive


def learnt(X, positive, weight=None, **prior):
    return data_model(AdaptivePrior(**prior), Rows.of(X, positive, weight))


def full(model):
    """Scatter W, mean difference d and the basis of all features, standardised."""
    rows, scatter = model.rows, model.scatter
    code = rows.positive.astype(int)
    means = np.array([rows.X[code == c].mean(axis=0) for c in (0, 1)])
    Z = (rows.X - means[code]) * scatter.inverse_scale
    return Z.T @ Z, (means[1] - means[0]) * scatter.inverse_scale


def square(scatter, values, model):
    """``V diag(values) Vᵀ + values₀ (I − VVᵀ)`` as a matrix."""
    V = scatter.combine(np.eye(len(scatter.values)), model.rows).T
    rest = values[-1] if scatter.multiplicity[-1] else 0.0
    return (V * (values[:-1] - rest)) @ V.T + rest * np.eye(len(V))


def attainable_probits(power):
    """Midpoints of 24 equal shares of ``P(Z < z) = (1 − e^{−z/2})^power``."""
    return -2 * np.log(1 - ((np.arange(24) + 0.5) / 24) ** (1 / power))


def normal_scores(t, df):
    """Normal deviates with nearly the tails of t (Wallace 1959)."""
    return np.sign(t) * np.sqrt(df * np.log1p(t**2 / df)) * (8 * df + 1) / (8 * df + 3)


SHAPES = [(12, 9, 4), (30, 20, 8), (7, 6, 30)]


@pytest.mark.parametrize(("n_neg", "n_pos", "P"), SHAPES)
def test_scatter_equals_that_of_all_standardised_features(n_neg, n_pos, P):
    model = learnt(*made(n_neg, n_pos, P))
    scatter, (W, d) = model.scatter, full(model)
    np.testing.assert_allclose(np.diag(W), n_neg + n_pos - 2)
    V = scatter.combine(np.eye(len(scatter.values)), model.rows).T
    np.testing.assert_allclose((V * scatter.values) @ V.T, W, atol=1e-9)
    np.testing.assert_allclose(scatter.b, V.T @ d, atol=1e-9)
    w = np.arange(1.0, P + 1)
    direction = scatter.direction(w, model.rows.X @ w)
    np.testing.assert_allclose(direction.along, V.T @ direction.x, atol=1e-9)
    assert direction.difference == pytest.approx(d @ direction.x)


@pytest.mark.parametrize(("n_neg", "n_pos", "P"), SHAPES)
def test_inverse_wishart_has_the_largest_evidence(n_neg, n_pos, P):
    """The evidence of W by its determinants, over a fine grid of a and s."""
    model = learnt(*made(n_neg, n_pos, P))
    W, _ = full(model)
    n, covariance = n_neg + n_pos, model.models[0].covariance

    def evidence(a, scale):
        kappa, nu = P + 1 + a, P + 1 + a + n - 2
        return (
            multigammaln(nu / 2, P)
            - multigammaln(kappa / 2, P)
            + kappa / 2 * P * np.log(scale)
            - nu / 2 * np.linalg.slogdet(W + scale * np.eye(P))[1]
        )

    a = covariance.df - n
    # (as + 0)/(a + n − 2) in the null space
    scale = covariance.values[-1] * (a + n - 2) / model.scatter.spread.mean()
    best = evidence(a, scale)
    for factor in (0.97, 1.03):
        assert best > evidence(a, scale * factor)
    for other in P * np.append(2.0 ** np.arange(-4, 6), 1e4):
        grid = scale * other / a * np.geomspace(0.2, 5, 41)
        assert best >= max(evidence(other, s) for s in grid) - 1e-3


def test_covariance_of_equal_classes_is_the_posterior_mean():
    model = learnt(*made(40, 40, 6, signal=0.0))
    W, _ = full(model)
    covariance, scatter = model.models[0].covariance, model.scatter
    a, values = covariance.df - 80, covariance.values / scatter.spread.mean()
    expected = values[-1] * np.eye(6) + W / (a + 78)
    found = square(scatter, values, model)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    # noise of the difference: Σ (1/n₀ + 1/n₁) ν/(ν − 2), when the classes vary alike
    noise = square(scatter, covariance.noise, model)
    np.testing.assert_allclose(noise, expected * 2 / 40 * 78 / 76, rtol=0.1, atol=0.005)


def test_cross_validated_variances_are_those_of_new_rows():
    """Leading eigenvalues of the sample are too large, the last ones too small."""
    rng = np.random.default_rng(3)
    turned, _ = np.linalg.qr(rng.standard_normal((40, 40)))
    root = np.sqrt(np.geomspace(5, 0.2, 40))[:, None] * turned
    positive = np.arange(50) % 2 == 1
    model = learnt(rng.standard_normal((50, 40)) @ root, positive)
    scatter, (_, cross) = model.scatter, model.models
    V = scatter.combine(np.eye(len(scatter.values)), model.rows).T
    fresh = rng.standard_normal((20000, 40)) @ root * scatter.inverse_scale
    truth = ((fresh @ V) ** 2).mean(axis=0)
    sample = scatter.values / 48
    error = np.abs(np.log(cross.covariance.values[:-1] / truth)).mean()
    assert error < 0.5 * np.abs(np.log(sample / truth)).mean()


def wide(law, n=30, P=400, seed=0):
    """Rows whose features share factors; some laws have rows of unequal size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, P)) + rng.standard_normal((n, 8)) @ (
        rng.standard_normal((8, P)) * 0.8 ** np.arange(8)[:, None]
    )
    if law == "unequal rows":
        X *= np.exp(0.7 * rng.standard_normal((n, 1)))
    if law == "rare words":
        X = (X > 1.5 + rng.random((n, 1))) * 1.0
    return X, np.arange(n) % 2 == 1


@pytest.mark.parametrize("law", ["normal", "unequal rows", "rare words"])
@pytest.mark.parametrize("shape", [(24, 400), (60, 150)])
def test_noise_of_the_difference_is_that_of_permuted_labels(law, shape):
    """Squares of d along the eigenvectors of W and outside them, labels permuted."""
    X, positive = wide(law, *shape)
    n, rng = len(X), np.random.default_rng(1)
    model = learnt(X, positive)
    scatter, squares = model.scatter, []
    X = X * scatter.inverse_scale  # which permuted labels leave as they are
    for _ in range(300):
        turned = rng.permutation(positive)
        means = np.array([X[~turned].mean(axis=0), X[turned].mean(axis=0)])
        d = means[1] - means[0]
        _, _, V = np.linalg.svd(X - means[turned.astype(int)], full_matrices=False)
        b = (V[: n - 2] @ d)[::-1]
        squares.append(np.append(b**2, d @ d - b @ b))
    covariance, squares = model.weighted[0][-1].covariance, np.array(squares)
    expected = squares.mean(axis=0)
    noise = covariance.noise * covariance.multiplicity / scatter.excess
    assert noise.sum() == pytest.approx(expected.sum(), rel=0.1)
    assert noise[-1] == pytest.approx(expected[-1], rel=0.15)
    for third in np.array_split(np.arange(n - 2), 3):
        assert noise[third].sum() == pytest.approx(expected[third].sum(), rel=0.4)
    # a sum of squares of D normal numbers has the relative variance 2/D
    D = 2 * (expected[-1] / squares[:, -1].std()) ** 2
    assert covariance.multiplicity[-1] == pytest.approx(D, rel=0.4)


def test_independent_features_are_all_effective_dimensions():
    X = np.random.default_rng(0).standard_normal((30, 5000))
    signals = learnt(X, np.arange(30) % 2 == 1).weighted[0][-1]
    assert 4000 < signals.covariance.multiplicity[-1] < 5000


def test_many_rows_have_the_sample_variances_of_each_class():
    model = learnt(*made(200, 300, 5, spread=2.0))
    scatter, (_, second) = model.scatter, model.models
    Z = model.rows.X * scatter.inverse_scale @ scatter.basis
    neg, pos = (
        Z[mask].var(axis=0, ddof=1)
        for mask in (~model.rows.positive, model.rows.positive)
    )
    np.testing.assert_allclose(second.covariance.values[:-1], (neg + pos) / 2)
    np.testing.assert_allclose(
        second.covariance.noise[:-1], (neg / 200 + pos / 300) * scatter.excess
    )


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("n_neg", "n_pos", "P"), SHAPES)
def test_shares_of_the_signals_are_their_evidence(n_neg, n_pos, P, power):
    """Marginal normal densities of d for dense signals, of ω for few strong ones."""
    model = learnt(*made(n_neg, n_pos, P, signal=0.8), attainable_power=power)
    scatter, (_, d) = model.scatter, full(model)
    signals = model.models[0]
    covariance = signals.covariance
    probits = attainable_probits(power)
    N = square(scatter, covariance.noise, model)
    null = stats.multivariate_normal(np.zeros(P), N).logpdf(d)
    dense = []
    for gamma in (0, 0.5, 1, 1.5, 2):
        S = square(scatter, covariance.values**gamma, model)
        unit = square(scatter, covariance.values ** (gamma - 1), model)
        for z in probits:
            tau = 2 * z**2 / np.trace(unit)
            density = stats.multivariate_normal(np.zeros(P), N + tau * S)
            dense.append(density.logpdf(d) - null)
    # decorrelated differences by the symmetric root
    values, V = np.linalg.eigh(N / scatter.excess)
    omega = normal_scores((V / np.sqrt(values)) @ V.T @ d, n_neg + n_pos - 2)
    unit = (
        np.trace(N)
        / scatter.excess
        / np.trace(square(scatter, covariance.values, model))
    )
    few = []
    for share in 0.5 ** np.arange(1, int(np.log2(P)) + 2):
        for z in probits:
            spread = np.sqrt(1 + 2 * z**2 / unit / (share * P))
            ratio = stats.norm.pdf(omega, 0, spread) / stats.norm.pdf(omega)
            few.append(np.log1p(share * (ratio - 1)).sum())
    mass = np.array([1.0, np.exp(dense).mean(), np.exp(few).mean()])
    np.testing.assert_allclose(signals.shares, mass / mass.sum(), rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize(("n_neg", "n_pos", "P"), SHAPES)
def test_probit_is_that_of_drawn_signals(n_neg, n_pos, P):
    """Mean and variance of Z over draws from the posterior of δ and Σ."""
    rng = np.random.default_rng(1)
    model = learnt(*made(n_neg, n_pos, P, signal=0.8))
    scatter, signals = model.scatter, model.models[0]
    w = rng.standard_normal(P)
    projection = model.along(w)
    direction, (weight, mean, variance) = projection.direction, projection.components[0]
    assert weight.sum() == pytest.approx(1, abs=2e-3)
    # one dense component by the normal posterior of δ, full matrices
    k = int(np.argmax(signals.weight))
    N = square(scatter, signals.covariance.noise, model)
    shrink = square(scatter, signals.shrink[k], model)
    _, d = full(model)
    D = direction.x @ shrink @ d
    spread = direction.x @ shrink @ N @ direction.x
    sigma = np.sqrt(
        direction.x @ square(scatter, signals.covariance.values, model) @ direction.x
    )
    df = signals.covariance.df
    z = (
        D * np.sqrt(rng.chisquare(df, 400_000) / df) / sigma
        + np.sqrt(spread) / sigma * rng.standard_normal(400_000)
    ) / np.sqrt(2)
    assert mean[1 + k] == pytest.approx(z.mean(), abs=4e-3)
    assert variance[1 + k] == pytest.approx(z.var(), rel=0.02)


def test_few_strong_signals_are_shrunk_as_by_their_posterior():
    """``E ω`` and ``Var ω`` of one component by quadrature over a spike and a slab."""
    rng = np.random.default_rng(2)
    X, positive = made(30, 30, 40, signal=2.0)
    model = learnt(X, positive)
    slab = model.models[0].slab
    k = int(np.argmax(slab.weight))
    knots = slab.knots
    # share π and τ from two knots: the posterior odds and the shrinkage far out
    far = int(np.argmax(np.abs(knots)))
    shrink = slab.mean[k, far] / knots[far]
    tau = shrink / (1 - shrink)

    x = np.linspace(-40, 40, 20_001)

    def moments(value, share):
        density = stats.norm.pdf(x, 0, np.sqrt(tau)) * stats.norm.pdf(value - x)
        at = [trapezoid(x**power * density, x) for power in (0, 1, 2)]
        total = share * at[0] + (1 - share) * stats.norm.pdf(value)
        mean = share * at[1] / total
        return mean, share * at[2] / total - mean**2

    shares = 0.5 ** np.arange(1, 7)
    chosen = rng.choice(len(knots), 3, replace=False)
    errors = []
    for share in shares:
        expected = np.array([moments(knots[j], share) for j in chosen])
        errors.append(
            np.abs(expected[:, 0] - slab.mean[k, chosen]).max()
            + np.abs(expected[:, 1] - slab.variance[k, chosen]).max()
        )
    assert min(errors) < 0.02


def test_attainable_auc_has_its_prior():
    for power in (0.5, 1.0, 3.0):
        dense = learnt(*made(12, 9, 4), attainable_power=power).models[0]
        z, expected = np.unique(dense.attainable), attainable_probits(power)
        z = z[z > 0]  # components without weight are left out
        assert len(z) > 16
        assert np.abs(z[:, None] / expected - 1).min(axis=1).max() < 1e-9


@dataclass
class Left:
    auc: float
    variance: float = 0.0
    method: str = "refits"


@pytest.mark.parametrize(
    ("n_neg", "n_pos", "P", "signal", "auc"),
    [(30, 30, 20, 0.8, 0.7), (30, 30, 20, 0.2, 1.0), (500, 700, 10, 1.0, 0.8)],
)
def test_join_is_the_weighted_mean_of_probits(n_neg, n_pos, P, signal, auc):
    X, positive = made(n_neg, n_pos, P, signal=signal)
    projection = learnt(X, positive).along((np.arange(P) < 3) * 1.0)
    m, n = projection.probit[0], n_neg + n_pos
    assert projection.direction.difference > 0
    z = ndtri((auc * n + 0.5) / (n + 1))

    def error(x):  # Hanley & McNeil, symmetric in the classes, by the delta method
        A = ndtr(x)
        shape = (1 - A) / (2 - A) + A / (1 + A)
        variance = A * (1 - A) * (1 + (n / 2 - 1) * shape) / (n_neg * n_pos)
        return np.sqrt(variance) / stats.norm.pdf(x)

    posterior = projection.auc(Left(auc))
    w = max(2 / 3, 1 - (error(m + 2 / 3 * (z - m)) / (z - m)) ** 2)
    estimate = m + w * (z - m)
    assert posterior.mean_probit() == pytest.approx(estimate)
    deviation = np.sqrt(1 + 0.75 * P / (P + 0.4 * n)) * error(estimate)
    assert np.sqrt(posterior.probit_moments()[1]) == pytest.approx(deviation)
    assert projection.towards(Left(auc), 1 / 3) == pytest.approx((z - m) / 3)
    # all pairs left out are ordered: as Clopper and Pearson's limit
    assert (posterior.interval()[1] == 1.0) == (auc == 1.0)
    assert (posterior.swapped().interval()[0] == 0.0) == (auc == 1.0)


@pytest.mark.parametrize(("P", "share"), [(4, 0.4), (20, 1.0)])
def test_what_no_row_checks_is_partly_the_auc_of_the_training_rows(P, share):
    X, positive = made(60, 40, P)
    w = (np.arange(P) < 3) * 1.0
    projection = learnt(X, positive).along(w)
    z = ndtri((100 * pairwise_auc(X[~positive] @ w, X[positive] @ w) + 0.5) / 101)
    expected = share * projection.probit[0] + (1 - share) * z
    assert projection.auc().mean_probit() == pytest.approx(expected)


@pytest.mark.parametrize(("n_neg", "n_pos", "P"), SHAPES)
def test_moments_of_the_mixture_over_its_components(n_neg, n_pos, P):
    """``E Φ(Z) = Φ(M/√(1 + V))`` of each covariance; Var Z within and between."""
    X, positive = made(n_neg, n_pos, P)
    projection = learnt(X, positive).along(np.arange(1.0, P + 1))
    probits, variances, within, between = [], [], [], []
    for weight, mean, variance in projection.components:
        centre = np.average(mean, weights=weight)
        apart = np.average((mean - centre) ** 2, weights=weight)
        inside = np.average(variance, weights=weight)
        probits.append(centre / np.sqrt(1 + inside + apart))
        variances.append(inside + apart)
        within.append(inside)
        between.append(apart)
    mean, variance = projection.probit
    # both covariances of the rows share the part of the features in their span
    share = np.array([0.5, 0.5])
    if n_neg + n_pos <= P:
        rank = (n_neg + n_pos - 2) / P
        share = np.array([rank / 2, rank / 2, 1 - rank])
    assert mean == pytest.approx(share @ probits)
    apart = share @ (np.array(probits) - mean) ** 2
    assert variance == pytest.approx(share @ variances + apart)
    deviations, deviation = projection.beliefs
    assert deviation**2 == pytest.approx(share @ within)
    assert deviations @ deviations == pytest.approx(share @ between)


def test_predicted_rates_are_those_of_new_rows():
    """Rates and EBAUC where the data leave no doubt."""
    X, positive = made(4000, 6000, 3, signal=0.7)
    projection = learnt(X, positive).along(np.array([1.0, 2.0, 0.5]))
    fresh, labels = made(40_000, 60_000, 3, signal=0.7, seed=5)
    score = fresh @ [1.0, 2.0, 0.5]
    t = np.array([-1.0, 0.5, 2.0])
    fpr, tpr = projection.rates(t)
    np.testing.assert_allclose(fpr, [(score[~labels] > x).mean() for x in t], atol=0.01)
    np.testing.assert_allclose(tpr, [(score[labels] > x).mean() for x in t], atol=0.01)
    auc = ndtr(projection.probit[0])
    assert projection.ebauc() == pytest.approx(auc, abs=0.003)
    assert projection.ebauc(score[:2000]) == pytest.approx(auc, abs=0.003)


def _probit(X, positive, w, weight=None, **prior):
    return learnt(X, positive, weight, **prior).along(w).probit


@pytest.mark.parametrize(
    "law",
    ["row order", "column order", "shift and scale", "length of w", "weights", "swap"],
)
def test_laws(law):
    for P in [1, 5, 60]:
        X, positive = made(20, 16, P, signal=0.6)
        w = np.random.default_rng(9).standard_normal(P)
        before, rng = _probit(X, positive, w), np.random.default_rng(0)
        if law == "row order":
            order = rng.permutation(len(X))
            after = _probit(X[order], positive[order], w)
        elif law == "column order":
            order = rng.permutation(P)
            after = _probit(X[:, order], positive, w[order])
        elif law == "shift and scale":
            scale = np.exp(rng.standard_normal(P))
            after = _probit(X * scale + 100, positive, w / scale)
        elif law == "length of w":
            after = _probit(X, positive, 1e3 * w)
        elif law == "weights":
            weight = rng.integers(0, 3, len(X)).astype(float)
            before = _probit(X, positive, w, weight)
            kept = np.repeat(np.arange(len(X)), weight.astype(int))
            after = _probit(X[kept], positive[kept], w)
        else:
            mean, variance = _probit(X, ~positive, w)
            after = -mean, variance
        np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-7)


def test_a_reversed_direction_has_the_mirrored_posterior():
    X, positive = made(20, 16, 5, signal=0.6)
    model, w = learnt(X, positive), np.random.default_rng(9).standard_normal(5)
    forward, backward = model.along(w).auc(), model.along(-w).auc()
    assert backward.mean() == pytest.approx(1 - forward.mean(), rel=1e-9)
    assert backward.std() == pytest.approx(forward.std(), rel=1e-9)


def test_many_nearly_dependent_features_in_any_order_of_rows():
    rng = np.random.default_rng(40)
    n, P = 60, 120
    X = rng.standard_normal((n, 20)) @ rng.standard_normal((20, P))
    X += 1e-4 * rng.standard_normal((n, P))
    w, positive = Ridge().fit(X, np.arange(n) % 2).coef_, np.arange(n) % 2 == 1
    expected = _probit(X, positive, w)
    for _ in range(5):
        order = rng.permutation(n)
        got = _probit(X[order], positive[order], w)
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("centre", [300.0, 1e5])
def test_sparse_rows_far_from_0(centre):
    rng = np.random.default_rng(0)
    X, positive = rng.poisson(0.2, (30, 80)) * 1.0, np.arange(30) % 2 == 1
    X[:, :3] = centre + rng.standard_normal((30, 3)) + positive[:, None]
    w = Ridge().fit(X, positive).coef_
    dense, thin = learnt(X, positive), learnt(sparse.csr_array(X), positive)
    assert thin.along(w).probit == pytest.approx(dense.along(w).probit, rel=1e-6)


def test_heavy_weights_with_more_features_than_rows():
    X, positive = made(20, 16, 60, signal=0.6)
    w = np.random.default_rng(9).standard_normal(60)
    weighted = _probit(X, positive, w, np.full(36, 50.0))
    repeated = _probit(np.repeat(X, 50, axis=0), np.repeat(positive, 50), w)
    assert weighted[0] == pytest.approx(repeated[0], abs=0.05)


def test_a_sparse_feature_that_nearly_separates_the_classes():
    X, positive = made(20, 20, 60)
    X[:, 0] = positive + 1e-5 * X[:, 0]
    w = Ridge().fit(X, positive).coef_
    dense, thin = learnt(X, positive), learnt(sparse.csr_array(X), positive)
    assert thin.along(w).probit == pytest.approx(dense.along(w).probit, rel=1e-4)


@pytest.mark.parametrize("P", [4, 200])
def test_a_feature_that_is_constant_in_each_class_separates_them(P):
    X, positive = made(20, 16, P)
    X[:, 0] = positive
    certain = _probit(X, positive, np.eye(P)[0])
    X[0, 0] = 1  # as if one row had the value of the other class
    one_row = _probit(X, positive, np.eye(P)[0])
    assert certain[0] == pytest.approx(one_row[0], rel=0.1)


def test_constant_features_are_left_out():
    X, positive = made(20, 20, 4)
    w = np.array([1.0, -1.0, 0.5, 2.0])
    with_constant = np.column_stack([X, np.full(40, 3.0)])
    np.testing.assert_allclose(
        _probit(with_constant, positive, np.append(w, 7.0)), _probit(X, positive, w)
    )
    with pytest.raises(ValueError, match="feature that varies within a class"):
        learnt(np.ones((40, 3)), positive)
