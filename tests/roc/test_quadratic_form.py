"""Quadratic forms in normals against closed forms, scipy, mpmath and simulation."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.special import k0, ndtr

from skauc import QuadraticForm

# c + Σ (λ z² + b z): (weights, slopes, offset)
FORMS = [
    ([1.0], [0.0], 0.0),
    ([-2.0], [3.0], 1.0),
    ([1.0, 0.5], [0.3, -2.0], 0.0),
    ([1.0, -0.7], [0.3, 2.0], -3.0),
    ([-1.0, -0.2], [0.0, 0.5], 0.0),
    ([0.0, 1.0], [0.1, 0.0], 0.0),
    ([3.0, 1e-9, -1e-6], [1.0, 0.5, -2.0], 0.0),
    ([0.3, 0.2, -0.1, 0.05], [0.0, 1.0, 0.0, 4.0], 10.0),
    (np.linspace(-1, 2, 30), np.cos(np.arange(30)), 0.0),
]
forms = pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form)[:40])


def one_term(weight, slope, x):
    """``P(λz² + bz > x)`` by the roots of the parabola, in mpmath."""
    inside = slope**2 + 4 * weight * x
    if inside <= 0:
        return mp.mpf(weight > 0)
    roots = [(-slope + sign * mp.sqrt(inside)) / (2 * abs(weight)) for sign in (1, -1)]
    if weight > 0:  # outside of the roots
        return mp.ncdf(-roots[0]) + mp.ncdf(roots[1])
    roots = sorted(-r for r in roots)
    # between them; the difference of two upper or two lower tails
    low, high = (roots[0], roots[1]) if roots[1] < 0 else (-roots[1], -roots[0])
    return mp.ncdf(high) - mp.ncdf(low)


def given_the_first(weight, slope, rest, edges, reach=45):
    """``∫ φ(z) rest(λz² + bz) dz``, in pieces and in units of its largest value."""

    def value(z):
        return mp.npdf(z) * rest(weight * z * z + slope * z)

    # mpmath's quadrature stops at an absolute error
    peak = max(value(mp.mpf(z)) for z in np.linspace(-reach, reach, 361))
    ends = sorted({-reach, reach, *(e for e in edges if abs(e) < reach)})
    return peak * mp.quad(lambda z: value(z) / peak, ends)


# ----------------------------------------------------------------------- oracle


@pytest.mark.parametrize("P", [1, 2, 3, 10, 100])
def test_chi_square(P):
    form, law = QuadraticForm(np.ones(P), np.zeros(P)), stats.chi2(P)
    x = P * np.array([0.05, 0.5, 0.9, 0.99, 1, 1.01, 1.5, 3, 10])
    np.testing.assert_allclose(form.sf(x), law.sf(x), rtol=1e-12)
    np.testing.assert_allclose(form.cdf(x), law.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(form.pdf(x), law.pdf(x), rtol=1e-11)
    far = law.isf([1e-50, 1e-150, 1e-300])
    np.testing.assert_allclose(form.sf(far), law.sf(far), rtol=1e-11)


@pytest.mark.parametrize("P", [1, 2, 5])
@pytest.mark.parametrize("delta", [0.1, 2.0, 6.0])
def test_non_central_chi_square(P, delta):
    slopes = np.r_[2 * delta, np.zeros(P - 1)]
    form, law = QuadraticForm(np.ones(P), slopes, delta**2), stats.ncx2(P, delta**2)
    x = law.ppf([1e-3, 0.01, 0.3, 0.6, 0.9, 0.999])
    np.testing.assert_allclose(form.cdf(x), law.cdf(x), rtol=1e-9)
    np.testing.assert_allclose(form.sf(x), law.sf(x), rtol=1e-9)
    np.testing.assert_allclose(form.pdf(x), law.pdf(x), rtol=1e-9)


@pytest.mark.parametrize(
    ("weight", "slope"), [(1.0, 0.0), (1.0, 3.0), (0.01, 1.0), (2.0, 20.0), (-1.0, 1.0)]
)
def test_one_term_by_its_roots(weight, slope):
    form = QuadraticForm([weight], [slope])
    spread = form.std() * np.array([-0.4, 0.1, 1.0, 4.0, 15.0])
    x = form.mean() + np.sign(weight) * spread
    with mp.workdps(60):
        upper = [one_term(weight, slope, mp.mpf(t)) for t in x]
        lower = [float(1 - p) for p in upper]
        upper = [float(p) for p in upper]
    near_end = 1e-10 if weight < 0 else 1e-12  # the end of the support is rounded
    np.testing.assert_allclose(form.sf(x), upper, rtol=near_end)
    np.testing.assert_allclose(form.cdf(x), lower, rtol=near_end)


@pytest.mark.parametrize("second", [(0.6, 1.5), (-0.8, 0.5), (0.6, 0.0)])
@pytest.mark.parametrize("tail", [0.5, 5.0, 40.0, 300.0])
def test_two_terms_against_mpmath(second, tail):
    (w1, b1), (w2, b2) = (1.0, -1.0), second
    form = QuadraticForm([w1, w2], [b1, b2])
    x = form.mean() + tail * form.std()
    with mp.workdps(25):
        # the inner probability is not smooth where the rest meets its own vertex
        level = x + b2**2 / (4 * w2)
        root = np.sqrt(b1**2 + 4 * w1 * level)
        edges = {(-b1 + s * root) / (2 * w1) + d for s in (1, -1) for d in (-1, 0, 1)}
        edges |= {-5.0, 0.0, 5.0}
        expected = given_the_first(
            w1, b1, lambda first: one_term(w2, b2, x - first), edges
        )
    assert form.sf(x) == pytest.approx(float(expected), rel=1e-11, abs=0)
    if tail == 300.0:
        assert form.sf(x) < 1e-100


@pytest.mark.parametrize("pair", [0.4, 1.5, -0.7])
@pytest.mark.parametrize("tail", [0.5, 5.0, 40.0, 150.0])
def test_three_terms_against_mpmath(pair, tail):
    """Two equal terms are exponential: ``P(λ(z₂² + z₃²) > x) = e^{−x/2λ}``."""
    w1, b1 = 1.0, 2.0
    form = QuadraticForm([w1, pair, pair], [b1, 0.0, 0.0])
    x = form.mean() + tail * form.std()

    def exponential(y):
        if pair > 0:
            return mp.exp(-y / (2 * pair)) if y > 0 else mp.mpf(1)
        return -mp.expm1(-y / (2 * pair)) if y < 0 else mp.mpf(0)

    with mp.workdps(25):
        root = np.sqrt(b1**2 + 4 * w1 * x)
        edges = {(-b1 + s * root) / (2 * w1) + d for s in (1, -1) for d in (-1, 0, 1)}
        expected = given_the_first(
            w1, b1, lambda first: exponential(x - first), edges | {-5.0, 0.0, 5.0}
        )
    assert form.sf(x) == pytest.approx(float(expected), rel=1e-11, abs=0)


def test_difference_of_two_exponentials():
    form = QuadraticForm([1.0, 1.0, -3.0, -3.0], np.zeros(4))
    x = np.array([-900.0, -20.0, -1.0, 0.0, 0.5, 30.0, 1300.0])
    # Laplace with scales 2 and 6: weights 2/8 and 6/8
    upper = np.where(x > 0, np.exp(-np.abs(x) / 2) / 4, 1 - 0.75 * np.exp(x / 6))
    lower = np.where(x > 0, 1 - np.exp(-np.abs(x) / 2) / 4, 0.75 * np.exp(x / 6))
    np.testing.assert_allclose(form.sf(x), upper, rtol=1e-12)
    np.testing.assert_allclose(form.cdf(x), lower, rtol=1e-12)


@pytest.mark.parametrize("weight", [0.0, 1e-14, -1e-14])
def test_flat_parabola_is_normal(weight):
    form = QuadraticForm([weight, 0.0], [3.0, 4.0], 2.0)
    z = np.array([-37.0, -8.0, -1.0, 0.0, 0.3, 5.0, 37.0])
    # the curvature changes log P by weight z³ at most
    np.testing.assert_allclose(form.sf(2 + 5 * z), ndtr(-z), rtol=1e-9)
    np.testing.assert_allclose(form.cdf(2 + 5 * z), ndtr(z), rtol=1e-9)


def test_two_million_samples():
    form = FORMS[7]
    law, rng = QuadraticForm(*form), np.random.default_rng(20240601)
    x = law.isf(np.array([0.999, 0.7, 0.3, 0.01, 1e-4]))
    count, block, blocks = np.zeros(len(x)), 500_000, 4
    for _ in range(blocks):
        z = rng.standard_normal((len(form[0]), block))
        score = np.full(block, form[2])
        for weight, slope, row in zip(form[0], form[1], z, strict=True):
            score += (weight * row + slope) * row
        count += (score[:, None] > x).sum(axis=0)
    p, n = law.sf(x), block * blocks
    assert np.all(np.abs(count / n - p) < 4.5 * np.sqrt(p * (1 - p) / n))


@forms
def test_moments_and_cumulant_function(form):
    law = QuadraticForm(*form)
    h = 1e-4 / law.std()
    K = [law.cumulant(k * h) for k in (-1, 0, 1)]
    assert K[1] == 0
    assert law.mean() == pytest.approx((K[2] - K[0]) / (2 * h), rel=1e-5, abs=1e-5)
    assert law.var() == pytest.approx((K[2] - 2 * K[1] + K[0]) / h**2, rel=1e-5)
    rng = np.random.default_rng(0)
    z = rng.standard_normal((100_000, len(form[0])))
    S = z**2 @ form[0] + z @ form[1] + form[2]
    assert law.mean() == pytest.approx(S.mean(), abs=6 * law.std() / np.sqrt(1e5))
    t = 0.7j / law.std()
    assert np.exp(law.cumulant(t)) == pytest.approx(np.exp(t * S).mean(), abs=0.02)


@pytest.mark.parametrize("decades", [3, 12, 24])
@pytest.mark.parametrize("n", [1, 4, 15])
def test_exponentials_across_many_orders_of_magnitude(n, decades):
    """Pairs of equal weights: partial fractions of ``∏ 1/(1 − 2λ_js)``, in mpmath."""
    rng = np.random.default_rng(n)
    weights = 10 ** rng.uniform(-decades / 2, decades / 2, n) * rng.choice([-1, 1], n)
    form = QuadraticForm(np.repeat(weights, 2), np.zeros(2 * n))
    x = np.r_[weights, form.std() * np.array([-1e-9, 1e-20, 3.0])]
    with mp.workdps(400):
        scales = [2 * mp.mpf(w) for w in weights]
        share = [
            mp.fprod(s / (s - r) for r in scales if r != s) for s in scales
        ]  # of the exponential of scale s

        def upper(y):
            total = mp.mpf(0)
            for s, a in zip(scales, share, strict=True):
                beyond = mp.exp(-abs(y / s))
                right = beyond if y > 0 else 1
                left = 1 - beyond if y < 0 else mp.mpf(0)
                total += a * (right if s > 0 else left)
            return total

        expected = [upper(mp.mpf(y)) for y in x]
        lower = [float(1 - p) for p in expected]
        expected = [float(p) for p in expected]
    np.testing.assert_allclose(form.sf(x), expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(form.cdf(x), lower, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize(("weight", "slope"), [(5e3, -1e4), (5e11, -1e12), (-5e7, 3e8)])
def test_vertex_far_below_the_slopes(weight, slope):
    """``K(s) − sx`` cancels by all digits: both parts of x are below one spacing."""
    form = QuadraticForm([weight], [slope], slope**2 / (4 * weight))  # vertex 0
    gap = np.array([1e-9, 1.0, 30.0, 1e4]) * np.sign(weight)
    with mp.workdps(60):
        exact = mp.mpf(weight), mp.mpf(slope)
        expected = [one_term(*exact, mp.mpf(g) - form.offset) for g in gap]
        expected = [float(p) for p in expected]
    np.testing.assert_allclose(form.sf(gap), expected, rtol=1e-11)
    q = form.cdf(gap[2:]) if weight > 0 else form.sf(gap[2:])
    back = form.isf(1 - q) if weight > 0 else form.isf(q)
    rounding = 1e-15 / q if weight > 0 else 0 * q  # of 1 − q
    assert np.all(np.abs(back / gap[2:] - 1) < 1e-9 + 5 * rounding)


# -------------------------------------------------------------------------- law


@forms
def test_both_sides_add_up_and_fall(form):
    law = QuadraticForm(*form)
    x = law.mean() + law.std() * np.linspace(-8, 8, 201)
    upper, lower = law.sf(x), law.cdf(x)
    np.testing.assert_allclose(upper + lower, 1, rtol=1e-14)
    assert np.all(np.diff(upper) <= 1e-13)
    assert np.all((upper >= 0) & (upper <= 1 + 1e-14))


@forms
def test_density_is_the_slope(form):
    law = QuadraticForm(*form)
    x = law.mean() + law.std() * np.array([-3.0, -0.61, 0.37, 2.0, 9.0])
    h = 1e-4 * law.std()
    slope = (law.cdf(x + h) - law.cdf(x - h)) / (2 * h)
    np.testing.assert_allclose(law.pdf(x), slope, rtol=1e-5, atol=1e-9 / law.std())


@forms
def test_quantile_is_the_inverse(form):
    law = QuadraticForm(*form)
    q = np.array([1e-280, 1e-20, 1e-3, 0.2, 0.5, 0.8, 0.999, 1 - 1e-9])
    if np.all(law.weights < 0):
        q = q[2:]  # no number but 0 has others that close to it
    np.testing.assert_allclose(law.sf(law.isf(q)), q, rtol=1e-9)
    many = np.linspace(0.001, 0.999, 301)
    np.testing.assert_allclose(law.sf(law.isf(many)), many, rtol=1e-10)
    assert np.all(law.isf(np.full(200, 0.25)) == pytest.approx(law.isf(0.25)))


@forms
@pytest.mark.parametrize("factor", [1e-200, 1e-3, 7.0, 1e200])
def test_affine_map(form, factor):
    weights, slopes, offset = (np.asarray(part, dtype=float) for part in form)
    law = QuadraticForm(*form)
    moved = QuadraticForm(factor * weights, factor * slopes, factor * (offset + 2))
    x = law.mean() + law.std() * np.array([-2.0, -0.2, 0.0, 1.0, 20.0])
    np.testing.assert_allclose(moved.sf(factor * (x + 2)), law.sf(x), rtol=1e-9)
    assert moved.isf(0.1) == pytest.approx(factor * (law.isf(0.1) + 2), rel=1e-11)


@forms
def test_mirror_rotation_and_order(form):
    law, x = QuadraticForm(*form), np.array([-3.0, 0.4, 2.0, 15.0])
    np.testing.assert_allclose((-law).cdf(-x), law.sf(x), rtol=1e-14)
    rng = np.random.default_rng(1)
    weights, slopes, offset = (np.asarray(part) for part in form)
    Q, _ = np.linalg.qr(rng.standard_normal((len(weights), len(weights))))
    turned = QuadraticForm.from_matrix(Q * weights @ Q.T, Q @ slopes, offset)
    # λ of 1e-9 beside 3 is known to 1e-16 only
    np.testing.assert_allclose(turned.sf(x), law.sf(x), rtol=1e-8, atol=1e-13)


def test_difference_of_independent_forms():
    a, b = QuadraticForm([1.0], [2.0], 1.0), QuadraticForm([0.0, 3.0], [1.0, 0.0], 5.0)
    difference = a - b
    assert difference.mean() == a.mean() - b.mean()
    assert difference.var() == pytest.approx(a.var() + b.var())
    s = 0.1j
    assert difference.cumulant(s) == pytest.approx(a.cumulant(s) + b.cumulant(-s))
    assert difference.sf(0.0) == pytest.approx((b - a).cdf(0.0), rel=1e-14)


def test_path_across_many_orders_of_magnitude():
    """Sums of terms of very different size: every inversion against conditioning."""
    rng = np.random.default_rng(3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights /= weights.sum()
    for _ in range(30):
        w = rng.normal(size=3) * 10 ** rng.uniform(-6, 0, 3)
        b = rng.normal(size=3) * 10 ** rng.uniform(-3, 0, 3)
        law = QuadraticForm(np.r_[w, 0.0], np.r_[b, 2.0])  # the last one smooths
        x = law.mean() + law.std() * rng.uniform(-3, 3)
        rest = x - (w[0] * nodes**2 + b[0] * nodes)[:, None, None]
        rest = rest - (w[1] * nodes**2 + b[1] * nodes)[:, None]
        rest = rest - (w[2] * nodes**2 + b[2] * nodes)
        expected = np.einsum("i,j,k,ijk", weights, weights, weights, ndtr(-rest / 2))
        assert law.sf(x) == pytest.approx(expected, rel=1e-6)


# ------------------------------------------------------------------------- edge


def test_bounded_support():
    law = QuadraticForm([1.0, 2.0], [2.0, 0.0], 0.0)  # (z + 1)² − 1 + 2z²
    assert law.vertex() == -1
    assert law.sf([-1.0001, -5.0, -np.inf]).tolist() == [1, 1, 1]
    assert law.cdf([-1.0001, -5.0, -np.inf]).tolist() == [0, 0, 0]
    assert law.pdf(-1.0001) == 0
    assert law.isf(1.0) == pytest.approx(-1, rel=1e-15)
    assert law.isf(0.0) == np.inf
    # close to the end: area of a small disc, π r²/(2π √2) e^{−½}
    gap = 10.0 ** -np.arange(2.0, 9.0)
    expected = gap / (2 * np.sqrt(2)) * np.exp(-0.5)
    ratio = law.cdf(-1 + gap) / expected
    assert np.all(np.abs(ratio - 1) < gap + 1e-6)
    mirrored = -law
    assert mirrored.sf(1.0) == 0
    assert mirrored.isf(0.0) == pytest.approx(1, rel=1e-15)


GAPS = 10.0 ** -np.array([3.0, 9, 20, 35, 36, 37, 40, 60, 80, 100, 140])


@pytest.mark.parametrize("P", [1, 2, 5, 20])
def test_any_distance_from_an_end_at_0(P):
    form, law = QuadraticForm(np.ones(P), np.zeros(P)), stats.chi2(P)
    x = GAPS[law.pdf(GAPS) > 1e-290]
    np.testing.assert_allclose(form.pdf(x), law.pdf(x), rtol=1e-12)
    np.testing.assert_allclose((-form).pdf(-x), law.pdf(x), rtol=1e-12)
    x = GAPS[law.cdf(GAPS) > 1e-290]
    np.testing.assert_allclose(form.cdf(x), law.cdf(x), rtol=1e-12)
    np.testing.assert_allclose((-form).sf(-x), law.cdf(x), rtol=1e-12)
    q = law.cdf(x)
    np.testing.assert_allclose((-form).isf(q), -law.ppf(q), rtol=1e-10)


@pytest.mark.parametrize("P", [1, 2, 5])
@pytest.mark.parametrize("slope", [2.0, 20.0])
def test_next_to_an_end_away_from_0(P, slope):
    """K(s) − sx is a difference of large numbers unless measured from the end."""
    delta = slope / 2  # a binary number: the end −δ² is exact
    form = QuadraticForm(np.ones(P), np.r_[slope, np.zeros(P - 1)])
    gap = 2.0 ** -np.array([10.0, 20, 30])
    law = stats.ncx2(P, delta**2)
    expected = mp_ncx2(gap, P, delta**2)
    std = form.std()
    rounding = 4e-16 * (delta**2 + std) / gap * P
    assert np.all(np.abs(form.cdf(gap - delta**2) / expected - 1) < 1e-12 + rounding)
    np.testing.assert_allclose(law.cdf(gap), expected, rtol=1e-8)


def mp_ncx2(x, P, nc):
    """Poisson mixture of central chi squares, in mpmath."""

    def term(k, t):
        weight = mp.exp(-nc / 2) * mp.mpf(nc / 2) ** k / mp.factorial(k)
        return weight * mp.gammainc(mp.mpf(P) / 2 + k, 0, t / 2, regularized=True)

    return np.array([float(sum(term(k, mp.mpf(t)) for k in range(8))) for t in x])


def test_log_singularity_of_a_difference():
    """χ²₁ − χ²₁ has the density K₀(|x|/2)/2π."""
    form = QuadraticForm([1.0, -1.0], [0.0, 0.0])
    expected = k0(GAPS / 2) / (2 * np.pi)
    np.testing.assert_allclose(form.pdf(GAPS), expected, rtol=1e-11)
    np.testing.assert_allclose(form.pdf(-GAPS), expected, rtol=1e-11)
    # to the last digit beside the vertex, where it is not at 0
    x = 3 + np.spacing(3.0) * np.array([-9, -2, 1, 5, 100])
    expected = k0(np.abs(x - 3) / 2) / (2 * np.pi)
    np.testing.assert_allclose(
        QuadraticForm([1.0, -1.0], [0.0, 0.0], 3.0).pdf(x), expected, rtol=1e-11
    )


def test_nothing_beyond_rounding_next_to_the_end():
    # s runs to infinity there; K(s) − sx must not be a difference of large numbers
    law = QuadraticForm([0.3, 0.2], [5.0, -4.0], 7.0)
    x = law.vertex() + law.std() * np.linspace(-1, 1, 401) * 1e-13
    assert np.all(law.cdf(x) < 1e-10)
    assert np.all(law.cdf(x) >= 0)


def test_extreme_thresholds_and_shapes():
    law = QuadraticForm([1.0, -0.5], [1.0, 1.0])
    x = np.array([-np.inf, -1e300, -1e20, 1e20, 1e300, np.inf])
    assert law.sf(x).tolist() == [1, 1, 1, 0, 0, 0]
    assert law.cdf(x).tolist() == [0, 0, 0, 1, 1, 1]
    assert np.isnan(law.sf(np.nan))
    assert np.ndim(law.sf(0.5)) == np.ndim(law.isf(0.5)) == 0
    assert law.sf([[0.0, 1.0]]).shape == law.isf([[0.1, 0.2]]).shape == (1, 2)
    assert law.sf([]).shape == (0,)


def test_density_at_the_vertex():
    for weights, slopes in [([1.0], [0.0]), ([-2.0], [4.0]), ([1.0, -1.0], [0.0, 2.0])]:
        law = QuadraticForm(weights, slopes, 0.5)
        x = law.vertex() + np.array([-1e-6, 0.0, 1e-6])
        assert np.isinf(law.pdf(x)).tolist() == [False, True, False]
        assert law.pdf(law.vertex()) == np.inf
    law = QuadraticForm([1.0, -1.0], [3.0, 2.0], 0.1)
    around = law.pdf(law.vertex() + np.arange(-20, 21) * 1e-16)
    assert np.all(around > 0.9 * law.pdf(law.vertex() + 1e-13))
    assert np.all(around[np.isfinite(around)] < 1.5 * law.pdf(law.vertex() + 1e-13))
    # three terms have no singularity, whatever their signs
    law = QuadraticForm([1.0, 2.0, -1.5], [0.0, 0.0, 0.0], 0.5)
    below, at, above = law.pdf(law.vertex() + np.array([-1e-6, 0.0, 1e-6]))
    assert at == pytest.approx((below + above) / 2, rel=1e-2)
    # z₁² + z₂² is exponential: a step of 1/2; a normal term makes all smooth
    assert QuadraticForm([1.0, 1.0], [0.0, 0.0]).pdf([0.0, 1e-300]).tolist() == [
        0,
        pytest.approx(0.5, rel=1e-12),
    ]
    assert QuadraticForm([1.0, 0.0], [0.0, 1.0]).pdf(0.0) < 1
    assert QuadraticForm([0.0], [2.0], 3.0).pdf(3.0) == pytest.approx(
        stats.norm.pdf(0) / 2
    )


def test_numbers_at_the_ends_of_their_range():
    large = QuadraticForm([1e200, -1e200], [1e200, 0.0])
    assert large.std() == pytest.approx(np.sqrt(5) * 1e200)
    assert large.var() == np.inf
    assert QuadraticForm([1.7e308, 1.7e308], [0.0, 0.0]).mean() == np.inf
    small = QuadraticForm([1e-200, 1e-200], [0.0, 0.0])
    assert small.std() == pytest.approx(2e-200)
    assert small.cdf(2e-200) == pytest.approx(-np.expm1(-1))
    tiny = QuadraticForm([1e-310, 1e-310], [0.0, 0.0])
    assert tiny.cdf(2e-310) == pytest.approx(-np.expm1(-1))
    assert tiny.pdf(2e-310) == np.inf


def test_point_mass():
    law = QuadraticForm([0.0], [0.0], 2.0)
    assert law.std() == 0
    assert law.mean() == 2
    assert law.sf([1.0, 2.0, 3.0]).tolist() == [1, 0, 0]
    assert law.cdf([1.0, 2.0, 3.0]).tolist() == [0, 1, 1]
    assert law.isf([0.0, 0.5, 1.0]).tolist() == [2, 2, -np.inf]
    assert law.pdf([1.0, 2.0]).tolist() == [0, np.inf]
    for answer in (law.sf, law.cdf, law.pdf):
        assert np.isnan(answer([1.0, np.nan])).tolist() == [False, True]
        assert np.ndim(answer(2.0)) == 0
    assert QuadraticForm([], []).mean() == 0


def test_error_texts():
    with pytest.raises(ValueError, match=r"one length, got shapes \(2,\) and \(1,\)"):
        QuadraticForm([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"slopes must be finite, got \[nan\]"):
        QuadraticForm([1.0], [np.nan])
    with pytest.raises(ValueError, match=r"offset must be finite, got inf"):
        QuadraticForm([1.0], [1.0], np.inf)
    with pytest.raises(ValueError, match=r"q must lie in \[0, 1\], got 1.5"):
        QuadraticForm([1.0], [1.0]).isf(1.5)


def test_no_answer_from_too_few_nodes(monkeypatch):
    monkeypatch.setattr("skauc.roc._contour_integral._MOST_NODES", 8)
    monkeypatch.setattr("skauc.roc._contour_integral._FIRST_NODES", 4)
    law = QuadraticForm([1.0, -1e-4], [0.0, 1e-3])
    with pytest.raises(ValueError, match=r"must give tails to 1e-08, got a contour"):
        law.sf(1.3)


def test_cumulant_of_slopes_whose_squares_overflow():
    law = QuadraticForm([-1.0, 0.0], [1e300, 1e300])
    assert law.cumulant(0.0) == 0.0
    # both terms at s = 1e-300: s²b²/2 = ½ each, but for D = 1 + 2e-300
    assert law.cumulant(1e-300) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("method", ["sf", "cdf", "pdf"])
def test_what_is_no_number_is_named(method):
    with pytest.raises(ValueError, match="x must hold real numbers, got <class"):
        getattr(QuadraticForm([1.0], [0.0]), method)(object)


@forms
def test_the_form_with_its_sign_changed(form):
    one = QuadraticForm(*form)
    t = one.mean() + one.std() * np.array([-1.5, -0.3, 0.0, 0.8, 3.0])
    assert (-one).mean() == pytest.approx(-one.mean(), rel=1e-12)
    assert (-one).std() == pytest.approx(one.std(), rel=1e-12)
    np.testing.assert_allclose((-one).cdf(-t), one.sf(t), rtol=1e-9, atol=1e-300)
