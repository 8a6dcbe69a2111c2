"""Factors in white noise against integrals over frames, draws and plain sums."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from skauc.adaptive._factors import factors, numbers_of_factors, variance
from skauc.adaptive._mixture import covariance_cell, covariance_cells, mixture
from skauc.adaptive._null import inverse_wishart_null, roots_of
from skauc.adaptive._spectrum import eigenbasis


def log_integral(w, df, noise, power=0):
    """``log ∫ ℓ^power (2ℓ)^{−m/2} e^{−w/2ℓ} dlog ℓ`` over ℓ > σ², by the trapezoid."""
    grid = np.geomspace(max(w.min(), 1e-3 * w.max()), w.max(), 400)
    t = np.linspace(np.log(noise), np.log(1e3 * w.max() / df), 3000)
    f = (power - df / 2) * t - df / 2 * np.log(2) - grid[:, None] / (2 * np.exp(t))
    f[:, [0, -1]] -= np.log(2)
    found = logsumexp(f, axis=1) + np.log(t[1] - t[0])
    # where w is next to nothing the frame has no weight
    return np.interp(np.log(np.maximum(w, grid[0])), np.log(grid), found)


def log_density(W, df, frames, noise):
    """log p(W) of each frame (n, P, q), in the terms of an inverse Wishart's."""
    P, q = frames.shape[1:]
    w = np.einsum("npi,pk,nki->ni", frames, W, frames)
    rest = np.trace(W) - w.sum(axis=1)
    total = -(P - q) * df / 2 * np.log(2 * noise) - rest / (2 * noise)
    ell = log_integral(w, df, noise) - np.log(np.log(1e4))
    return total + ell.sum(axis=1), w


def cap(angle, n=201):
    """Points of the half sphere within an angle of its pole, and their log shares."""
    y, z = (
        x.ravel() for x in np.meshgrid(*2 * [np.sin(angle) * np.linspace(-1, 1, n)])
    )
    inside = y**2 + z**2 < np.sin(angle) ** 2
    y, z = y[inside], z[inside]
    height = np.sqrt(1 - y**2 - z**2)
    area = (2 * np.sin(angle) / (n - 1)) ** 2 / height
    return np.column_stack([height, y, z]), np.log(area / (2 * np.pi))


@pytest.mark.parametrize(("df", "angle"), [(60, 0.7), (240, 0.3), (2000, 0.1)])
@pytest.mark.parametrize("n_null", [0, 1])
def test_one_factor_by_quadrature(df, angle, n_null):
    """Evidence, and E Σ along the eigenvectors of W: directions and ℓ by sums."""
    values = np.array([0.8, 1.3, 9.0])[n_null:] * df
    found = factors(values, n_null, df, 1)
    assert found.noise == pytest.approx(values[:-1].sum() / (2 * (df - 1)), rel=1e-12)
    W = np.diag(np.append([0.0] * n_null, values)[::-1])
    points, log_share = cap(angle)
    logs, w = log_density(W, df, points[:, :, None], found.noise)
    logs = logs + log_share
    expected = logsumexp(logs)
    assert found.log_evidence == pytest.approx(expected, abs=4 / df)
    weight = np.exp(logs - expected)
    mean = log_integral(w, df, found.noise, 1) - log_integral(w, df, found.noise)
    along = found.noise + (weight * (np.exp(mean[:, 0]) - found.noise)) @ points**2
    got = np.append([found.null] * n_null, found.values)[::-1]
    np.testing.assert_allclose(got, along, rtol=8 / df)


@pytest.mark.parametrize("df", [40, 100])
def test_evidence_of_two_factors_by_random_frames(df):
    """Their labels, signs and rotations count as often as among frames at random."""
    values = np.array([1.1, 3.0, 6.0]) * df
    found = factors(values, 0, df, 2)
    rng = np.random.default_rng(0)
    frames = np.linalg.qr(rng.normal(size=(200_000, 3, 2)))[0]
    logs = log_density(np.diag(values), df, frames, found.noise)[0]
    expected = logsumexp(logs) - np.log(len(logs))
    share = np.exp(logs - logsumexp(logs))
    assert found.log_evidence == pytest.approx(expected, abs=8 / df)
    assert np.sqrt(share @ share) < 0.04  # of the sum: its own error


def test_the_constant_is_that_of_the_inverse_wishart():
    """A huge a leaves white noise, whose density is known."""
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(40, 12)), np.arange(40) < 20
    eigen = eigenbasis(X, positive, winsorize=None)
    found, *_ = covariance_cell(eigen, 1e9, "common")
    sigma2 = eigen.values.sum() / (12 * 38)
    white = -12 * 38 / 2 * (np.log(2 * sigma2) + 1)
    assert found == pytest.approx(white, rel=1e-6)


def test_near_equal_factors_have_no_more_room_than_a_circle():
    """Of two equal eigenvalues the evidence is finite, that of a little apart."""
    near, equal = (
        factors(np.array([1.0, 1.1, 1.2, 9.0, top]) * 50, 5, 50, 2).log_evidence
        for top in (9.0 + 1e-6, 9.0)
    )
    assert equal == pytest.approx(near, abs=1e-4)
    values = np.array([1.0, 1.1, 1.2, 9.0, 9.0]) * 1000
    equal = factors(values, 5, 1000, 2).log_evidence
    rest = term_by_term(values, 5, 1000, 2)[0]
    # two planes of rotations with two labels and four signs have one circle: π/2 each
    assert equal - rest == pytest.approx(np.log(np.pi / 2), abs=0.005)


def test_a_factor_that_is_lost_in_the_noise_is_none():
    """Below √m + √D no ℓ is real; beside an equal value its angles are anything."""
    m, D = 50, 400
    edge = (np.sqrt(m) + np.sqrt(D)) ** 2
    rest = np.full(40, 9.0)

    def asked(share):
        noise = rest.sum() / (D * (m - 1))
        return factors(np.append(rest, share * edge * noise), D - 40, m, 1)

    assert asked(0.98) is None
    assert asked(1.02) is not None
    for second, lost in ((1.0, True), (0.9999, True), (0.8, False)):
        values = np.array([1.0, 1.1, 1.2, second * 9.0, 9.0]) * m
        assert (factors(values, 0, m, 1) is None) == lost


def term_by_term(values, n_null, m, q):
    """Log evidence but for the angles among factors, ℓ and σ²; integrals by sums."""
    P, D = len(values) + n_null, len(values) + n_null - q
    others = [0.0] * n_null + list(values[:-q])
    sigma2 = sum(others) / (D * (m - q))
    total = -D * (m - q) / 2 * (np.log(2 * sigma2) + 1) + q * D / 2 * np.log(np.pi)
    ells = []
    for i in range(q):
        strong = values[-q + i]
        total -= sum(0.5 * np.log(strong - other) for other in others)
        t = np.linspace(np.log(1.4 * sigma2), np.log(1e3 * sigma2), 40_000)
        f = -m / 2 * np.log(2 * np.exp(t)) - strong / (2 * np.exp(t))
        f = f - D / 2 * np.log(1 - sigma2 / np.exp(t))
        total += logsumexp(f) + np.log(t[1] - t[0]) - np.log(np.log(1e4))
        ells.append(np.exp(t[np.argmax(f)]))
        total += gammaln((P - i) / 2) - (P - i) / 2 * np.log(np.pi) + np.log(i + 1)
    return total, np.array(ells), sigma2, others


@pytest.mark.parametrize("strong", [[660.0], [2600.0], [900.0, 1500.0, 2600.0]])
def test_evidence_and_variances_of_many_features_term_by_term(strong):
    m, n_null, q = 60.0, 300, len(strong)
    values = np.append(np.linspace(150, 420, 40), strong)
    found = factors(values, n_null, m, q)
    total, ells, sigma2, others = term_by_term(values, n_null, m, q)
    for i in range(q):
        for k in range(i + 1, q):
            angle = (1 / ells[i] - 1 / ells[k]) * (values[-q + k] - values[-q + i])
            total += 0.5 * np.log(2 * np.pi / angle)
    assert found.noise == pytest.approx(sigma2)
    assert found.log_evidence == pytest.approx(total, abs=0.3 * q / m)
    gap = np.subtract.outer(values[-q:], others)
    moved = sigma2 * ells[:, None] / gap
    along = sigma2 + moved.sum(axis=0)
    np.testing.assert_allclose(found.null, along[0], rtol=1e-4)
    np.testing.assert_allclose(found.values[:-q], along[n_null:], rtol=1e-4)
    left = ells - moved.sum(axis=1)
    np.testing.assert_allclose(found.values[-q:], left, rtol=2e-3)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_in_other_units(unit):
    values = np.append(np.linspace(1, 3, 20), [9.0, 14.0])
    one, other = (factors(c * values, 30, 40.0, 2) for c in (1.0, unit))
    np.testing.assert_allclose(other.values, unit * one.values, rtol=1e-9)
    assert other.null == pytest.approx(unit * one.null)
    density = one.log_evidence - 52 * 40 / 2 * np.log(unit)
    assert other.log_evidence == pytest.approx(density, rel=1e-9)


def test_a_factor_is_lost_where_nothing_of_it_is_left():
    """Its angles' variances add up to 1: Σ_j σ²ℓ/(λ − λ_j) is ℓ − σ²."""
    m, rest, lost = 40.0, np.linspace(30, 50, 9), []
    for near in np.linspace(90, 119.9, 200):
        values = np.append(rest, [near, 120.0])
        sigma2 = values[:-1].sum() / (10 * (m - 1))
        ell = np.roots([m, -(120 + (m - 10) * sigma2), 120 * sigma2]).max()
        share = np.sum(sigma2 * ell / (120 - values[:-1])) / (ell - sigma2)
        lost.append(share > 1)
        assert (factors(values, 0, m, 1) is None) == lost[-1]
    assert 20 < sum(lost) < 180


# ---------------------------------------------------------------------------- from rows


def rows_of(rng, n, P, q, share=0.5):
    """Rows of q factors that hold a share of every variance."""
    L = rng.normal(size=(P, q))
    L *= np.sqrt(share) / np.linalg.norm(L, axis=1, keepdims=True)
    E = np.sqrt(1 - share) * rng.normal(size=(n, P))
    return E + rng.normal(size=(n, q)) @ L.T, L @ L.T + (1 - share) * np.eye(P)


@pytest.mark.parametrize(("n", "P"), [(60, 300), (150, 100)])
def test_the_number_of_factors_is_found(n, P):
    rng, found = np.random.default_rng(2), []
    for _ in range(10):
        X, _ = rows_of(rng, n, P, 4)
        eigen = eigenbasis(X, np.arange(n) % 2 == 0)
        cells = [
            *covariance_cells(eigen, "common"),
            *covariance_cells(eigen, "factors"),
        ]
        found.append(max(cells, key=lambda cell: cell[1])[-1])
    assert np.count_nonzero(np.array(found) == 4) >= 8
    assert min(found) >= 3


@pytest.mark.parametrize("law", ["white", "autoregressive"])
@pytest.mark.parametrize(("n", "P"), [(60, 300), (150, 100)])
def test_where_there_are_none_the_inverse_wishart_has_the_evidence(law, n, P):
    rng = np.random.default_rng(3)
    for _ in range(5):
        X = rng.normal(size=(n, P))
        if law == "autoregressive":
            for j in range(1, P):
                X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
        eigen = eigenbasis(X, np.arange(n) % 2 == 0)
        common = max(cell[1] for cell in covariance_cells(eigen, "common"))
        for cell in covariance_cells(eigen, "factors"):
            assert cell[1] < common


def test_numbers_that_are_tried():
    assert list(numbers_of_factors(100, 80.5)) == list(range(1, 13))
    assert list(numbers_of_factors(10, 80)) == [1, 2, 3]
    assert list(numbers_of_factors(100, 7)) == [1, 2]
    assert list(numbers_of_factors(2, 80)) == []


def test_cells_of_factors_are_spheres_but_for_these():
    rng = np.random.default_rng(4)
    X, _ = rows_of(rng, 50, 120, 2)
    eigen = eigenbasis(X, np.arange(50) % 2 == 0)
    cells = list(covariance_cells(eigen, "factors"))
    assert [cell[-1] for cell in cells][:2] == [1, 2]
    a, log_w, a_scale, ell, noise, name, q = cells[1]
    found = factors(eigen.values, eigen.null, 48, 2)
    assert (name, q, log_w) == ("factors", 2, found.log_evidence)
    assert a == 1e4 * 120
    assert a_scale == pytest.approx(a * found.noise)
    np.testing.assert_array_equal(ell, np.append(found.values, found.null))
    np.testing.assert_allclose(noise, ell * (1 / 25 + 1 / 25))
    # the expected Σ has the trace of the maximum: angles only move variance
    total = found.values.sum() + eigen.null * found.null
    flat = found.noise * 118 + (found.values[-2:] - found.noise).sum()
    assert total > flat
    assert list(covariance_cells(eigenbasis(X[:, :1], X[:, 1] > 0), "factors")) == []


def test_of_many_rows_the_sample_is_enough():
    rng = np.random.default_rng(9)
    X, _ = rows_of(rng, 242, 12, 1, 0.8)
    for n, some in ((240, True), (242, False)):
        eigen = eigenbasis(X[:n], np.arange(n) % 2 == 0)
        assert bool(list(covariance_cells(eigen, "factors"))) == some


def test_faint_factors_have_no_cell(monkeypatch):
    """Twelve nats below the best evidence of W, whatever the labels say."""
    rng = np.random.default_rng(10)
    X, positive = rows_of(rng, 60, 90, 2)[0], np.arange(60) % 2 == 0
    eigen = eigenbasis(X, positive)
    names = ("common", "factors")
    cells = [cell for name in names for cell in covariance_cells(eigen, name)]
    best = max(cell[1] for cell in cells)
    near = {cell[-1] for cell in cells if cell[-1] and cell[1] > best - 12}
    assert 0 < len(near) < sum(cell[-1] > 0 for cell in cells)
    null = inverse_wishart_null(
        eigen,
        lambda g: eigen.filtered_difference(g, X),
        power=2.0,
        covariances=names,
    )
    assert set(null.dense.factors) - {0} <= near


# -------------------------------------------------------------------- along a direction


@pytest.mark.parametrize(("n", "P", "q", "share"), [(40, 60, 1, 0.2), (60, 30, 2, 0.5)])
def test_degrees_of_freedom_by_draws(n, P, q, share):
    """How far xᵀΣx is from what is said, x fixed in the eigenvectors of the sample."""
    rng, ratio, said = np.random.default_rng(5), [], []
    for _ in range(1500):
        # a frame at random and factors of different strengths
        V = np.linalg.qr(rng.normal(size=(P, q)))[0]
        strong = 20.0 * 4.0 ** np.arange(q)
        L = V * np.sqrt(strong)
        X = rng.normal(size=(n, P)) + rng.normal(size=(n, q)) @ L.T
        values, U = np.linalg.eigh(X.T @ X)
        r = min(n, P)
        found = factors(values[-r:], P - r, float(n), q)
        along = np.append(np.full(P - r, found.null), found.values)
        # a share of the variance along the factors, the rest away from them
        parts = np.append(np.full(P - q, (1 - share) / (P - q)), np.full(q, share / q))
        x = U @ (np.sqrt(parts / along) * rng.choice([-1, 1], P))
        square = (U.T @ x) ** 2
        at_null = [square[: P - r].sum()] * (P > r)
        ell = np.append(found.values, [found.null] * (P > r))
        total, df = variance(np.append(square[-r:], at_null), ell, r, P - r, q, n)
        ratio.append((x @ x + np.sum((L.T @ x) ** 2)) / total)
        said.append(2 / df)
    # of a posterior mean the ratio has variance 2/df
    assert np.std(ratio) == pytest.approx(np.sqrt(np.mean(said)), rel=0.12)


def test_variance_along_a_direction_of_several_cells():
    ell = np.array([[0.5, 1.0, 3.0, 9.0, 0.4], [0.5, 1.0, 1.5, 9.0, 0.4]])
    square = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    found, df = variance(square, ell, 4, 6, np.array([2, 1]), 30.0)
    np.testing.assert_allclose(found, ell @ square)
    for c, (q, noise) in enumerate([(2, 0.35), (1, 0.8)]):
        white = noise - 0.1  # .05 + .2 + .1, and .45 of the third
        doubt = (found[c] ** 2 - (white + 0.1) ** 2) / 30
        doubt += (white + 0.1) ** 2 / ((10 - q) * (30 - q))
        assert df[c] == pytest.approx(found[c] ** 2 / doubt)


def test_the_mean_difference_turns_the_factors():
    """One more row ``√h e``, e ~ N(0, Σ/h): decomposed again, along what is left of e.

    The variance along x grows by ``q h(xᵀe)²/m²`` on the average.
    """
    rng = np.random.default_rng(6)
    n, P, q, h = 40, 150, 2, 10.0
    grown, said = [], []
    for _ in range(250):
        X, Sigma = rows_of(rng, n, P, q)
        e = np.linalg.cholesky(Sigma) @ rng.normal(size=P) / np.sqrt(h)
        W = X.T @ X
        values, V = np.linalg.eigh(W)
        keep = values > 1e-8 * values[-1]
        before = factors(values[keep], P - int(keep.sum()), n, q)
        x = e - V[:, -q:] @ (V[:, -q:].T @ e)
        x /= np.linalg.norm(x)
        square = (V[:, keep].T @ x) ** 2
        was = square @ before.values + (1 - square.sum()) * before.null
        values, V = np.linalg.eigh(W + h * np.outer(e, e))
        keep = values > 1e-8 * values[-1]
        after = factors(values[keep], P - int(keep.sum()), n + 1, q)
        square = (V[:, keep].T @ x) ** 2
        now = square @ after.values + (1 - square.sum()) * after.null
        grown.append(now - was)
        said.append(q / n**2 * h * (x @ e) ** 2)
    error = np.std(grown) / np.sqrt(len(grown))
    assert np.mean(said) == pytest.approx(np.mean(grown), abs=3 * error)
    assert error < 0.08 * np.mean(grown)


def test_a_mixture_with_factors_says_what_its_cells_say():
    """D, v, q and df of a cell with factors beside one without, from full matrices."""
    rng = np.random.default_rng(7)
    X, _ = rows_of(rng, 50, 80, 3)
    positive = np.arange(50) % 2 == 0
    X[positive, :4] += 0.8
    eigen = eigenbasis(X, positive, winsorize=None)
    cells = mixture(eigen, covariances=("common", "factors"))
    assert set(cells.factors) >= {3}
    w = rng.normal(size=80)
    view = eigen.project(w, X @ w)
    D, v, q, df = cells.cells(view, 0)
    h, m = 12.5, 48
    for c in np.flatnonzero(cells.factors)[:5]:
        ell = cells.noise[c] * h
        square = np.append(view.square[:, 0], 1 - view.square[:, 0].sum())
        plain, free = variance(square, ell, 48, eigen.null, cells.factors[c], m)
        noise = (cells.shrink[c] * cells.noise[c]) @ square
        turned = cells.factors[c] / m**2 * h
        turned *= (view.difference[0] - D[c]) ** 2 + noise
        # E xᵀΣx = q/(df − 2)
        expected = plain * (free - 2) / (free - 1) + turned
        assert df[c] == pytest.approx(free + 1)
        assert q[c] / (df[c] - 2) == pytest.approx(expected, rel=1e-9)
        assert v[c] == pytest.approx(noise * (df[c] - 2) / q[c])


def test_few_signals_among_factors():
    """Nearer to the truth, of ten problems, than the inverse Wishart alone."""
    rng, errors = np.random.default_rng(8), []
    for _ in range(10):
        n, P = 100, 400
        X, Sigma = rows_of(rng, n, P, 5, 0.8)
        positive = np.arange(n) % 2 == 0
        shift = np.zeros(P)
        shift[:5] = 0.5
        X[positive] += shift
        eigen = eigenbasis(X, positive)
        t = (X[positive].mean(axis=0) - X[~positive].mean(axis=0)) * eigen.scale
        w = np.where(np.abs(t) >= np.sort(np.abs(t))[-20], t, 0)
        truth = shift @ w / np.sqrt(2 * w @ Sigma @ w)
        view, x = eigen.project(w, X @ w), eigen.unit(w)
        found = []
        for names in (("common",), ("common", "factors")):
            null = inverse_wishart_null(
                eigen,
                lambda g, eigen=eigen, X=X: eigen.filtered_difference(g, X),
                power=2.0,
                covariances=names,
            )
            roots = roots_of(null.slabs, view, 0, x, X)
            found.append(null.posterior(view, 0, roots).probit_moments()[0])
        errors.append(np.abs(np.array(found) - truth))
    before, after = np.mean(errors, axis=0)
    assert after < before
