"""Quadratic forms in normals against closed forms, scipy, mpmath and simulation."""

import mpmath as mp
import numpy as np
import pytest
from oracles import cumulant
from scipy import stats
from scipy.special import k0

from skauc.results import QuadraticForm

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
def test_non_central_chi_square(P):
    for delta in [0.1, 2.0, 6.0]:
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
    near_end = 1e-10 if weight < 0 else 1e-12  # the end of the support is rounded
    np.testing.assert_allclose(form.sf(x), np.array(upper, float), rtol=near_end)
    np.testing.assert_allclose(form.cdf(x), lower, rtol=near_end)


def exponential(scale, y):
    """``P(λ(z₂² + z₃²) > y)``, two equal terms, with the scale 2λ."""
    if scale > 0:
        return mp.exp(-y / scale) if y > 0 else mp.mpf(1)
    return -mp.expm1(-y / scale) if y < 0 else mp.mpf(0)


@pytest.mark.parametrize("tail", [0.5, 5.0, 40.0, 300.0])
@pytest.mark.parametrize(
    "rest", [(0.6, 1.5), (-0.8, 0.5), (0.6, 0.0), (0.4,), (1.5,), (-0.7,)], ids=str
)
def test_two_and_three_terms_against_mpmath(rest, tail):
    """The first term by quadrature; one other, or two equal ones, in closed form."""
    w, b, slope = (*rest, -1.0) if len(rest) == 2 else (*rest, 0.0, 2.0)
    copies = 3 - len(rest)
    form = QuadraticForm([1.0] + [w] * copies, [slope] + [b] * copies)
    x = form.mean() + tail * form.std()

    def others(first):
        if copies == 1:
            return one_term(w, b, x - first)
        return exponential(2 * w, x - first)

    with mp.workdps(20):
        # the inner probability is not smooth where the rest meets its own vertex
        root = np.sqrt(slope**2 + 4 * (x + b**2 / (4 * w)))
        edges = {(-slope + s * root) / 2 + d for s in (1, -1) for d in (-1, 0, 1)}
        expected = given_the_first(1.0, slope, others, edges | {-5.0, 0.0, 5.0})
    assert form.sf(x) == pytest.approx(float(expected), rel=1e-11, abs=0)


@pytest.mark.slow
def test_two_million_samples():
    weights, slopes, offset = FORMS[7]
    law, rng = QuadraticForm(*FORMS[7]), np.random.default_rng(20240601)
    x, n = law.isf(np.array([0.999, 0.7, 0.3, 0.01, 1e-4])), 2_000_000
    score = np.full(n, offset)
    for weight, slope in zip(weights, slopes, strict=True):
        z = rng.standard_normal(n)
        score += (weight * z + slope) * z
    p = law.sf(x)
    share = np.array([(score > t).mean() for t in x])
    assert np.all(np.abs(share - p) < 4.5 * np.sqrt(p * (1 - p) / n))


def test_difference_of_two_exponentials():
    form = QuadraticForm([1.0, 1.0, -3.0, -3.0], np.zeros(4))
    x = np.array([-900.0, -20.0, -1.0, 0.0, 0.5, 30.0, 1300.0])
    # Laplace with scales 2 and 6: weights 2/8 and 6/8
    upper = np.where(x > 0, np.exp(-np.abs(x) / 2) / 4, 1 - 0.75 * np.exp(x / 6))
    lower = np.where(x > 0, 1 - np.exp(-np.abs(x) / 2) / 4, 0.75 * np.exp(x / 6))
    np.testing.assert_allclose(form.sf(x), upper, rtol=1e-12)
    np.testing.assert_allclose(form.cdf(x), lower, rtol=1e-12)


@forms
def test_moments_and_cumulant_function(form):
    law = QuadraticForm(*form)
    h = 1e-4 / law.std()
    K = [cumulant(law, k * h) for k in (-1, 0, 1)]
    assert K[1] == 0
    assert law.mean() == pytest.approx((K[2] - K[0]) / (2 * h), rel=1e-5, abs=1e-5)
    assert law.var() == pytest.approx((K[2] - 2 * K[1] + K[0]) / h**2, rel=1e-5)
    rng = np.random.default_rng(0)
    z = rng.standard_normal((100_000, len(form[0])))
    S = z**2 @ form[0] + z @ form[1] + form[2]
    assert law.mean() == pytest.approx(S.mean(), abs=6 * law.std() / np.sqrt(1e5))
    t = 0.7j / law.std()
    assert np.exp(cumulant(law, t)) == pytest.approx(np.exp(t * S).mean(), abs=0.02)


# -------------------------------------------------------------------------- law


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
    many = np.linspace(0.001, 0.999, 31)
    np.testing.assert_allclose(law.sf(law.isf(many)), many, rtol=1e-10)
    assert np.all(law.isf(np.full(5, 0.25)) == pytest.approx(law.isf(0.25)))


@forms
def test_affine_map(form):
    for factor in [1e-70, 1e-3, 7.0, 1e70]:
        weights, slopes, offset = (np.asarray(part, dtype=float) for part in form)
        law = QuadraticForm(*form)
        moved = QuadraticForm(factor * weights, factor * slopes, factor * (offset + 2))
        x = law.mean() + law.std() * np.array([-2.0, -0.2, 0.0, 1.0, 20.0])
        np.testing.assert_allclose(moved.sf(factor * (x + 2)), law.sf(x), rtol=1e-9)
        assert moved.isf(0.1) == pytest.approx(factor * (law.isf(0.1) + 2), rel=1e-11)


@forms
def test_mirror_and_order(form):
    law, x = QuadraticForm(*form), np.array([-3.0, 0.4, 2.0, 15.0])
    np.testing.assert_allclose((-law).cdf(-x), law.sf(x), rtol=1e-14)
    turned = QuadraticForm(*(np.asarray(part)[::-1] for part in form[:2]), form[2])
    np.testing.assert_allclose(turned.sf(x), law.sf(x), rtol=1e-8, atol=1e-13)


# ------------------------------------------------------------------------- edge


def test_bounded_support():
    law = QuadraticForm([1.0, 2.0], [2.0, 0.0], 0.0)  # (z + 1)² − 1 + 2z²
    assert law._vertex() == -1
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


@pytest.mark.parametrize("slope", [0.0, 1e-4, 1.0, 3.0])
@pytest.mark.parametrize("weights", [[-1e-3], [-0.1], [-1e-3] * 3, [-1e-6, -0.5]])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_tails_some_roundings_inside_an_end(weights, slope, offset):
    """At most the probability of a box, ``P(λz² + bz > max − gap)`` of each term."""
    form = QuadraticForm(weights, np.full(len(weights), slope), offset)
    end = form._vertex()
    gaps = np.append(np.arange(12.0), [20, 100, 1e4]) * np.spacing(np.abs(end))
    x = end - gaps
    gaps = end - x + 4 * np.spacing(np.abs([end, offset])).max()
    most = np.ones(len(gaps))
    for weight in weights:
        centre, half = slope / (2 * -weight), np.sqrt(gaps / -weight)
        most *= stats.norm.cdf(-centre + half) - stats.norm.cdf(-centre - half)
    for mirrored, y in ((form, x), (-form, -x)):
        tail, other = mirrored.sf(y), mirrored.cdf(y)
        tail, other = (tail, other) if mirrored is form else (other, tail)
        assert np.all((tail >= 0) & (tail <= most * (1 + 1e-6) + 1e-15))
        assert other == pytest.approx(1 - tail, abs=1e-15)


GAPS = 10.0 ** -np.array([1.0, 3, 6, 9, 12])


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


def test_log_singularity_of_a_difference():
    """χ²₁ − χ²₁ has the density K₀(|x|/2)/2π."""
    form = QuadraticForm([1.0, -1.0], [0.0, 0.0])
    expected = k0(GAPS / 2) / (2 * np.pi)
    np.testing.assert_allclose(form.pdf(GAPS), expected, rtol=1e-11)
    np.testing.assert_allclose(form.pdf(-GAPS), expected, rtol=1e-11)


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
        x = law._vertex() + np.array([-1e-6, 0.0, 1e-6])
        assert np.isinf(law.pdf(x)).tolist() == [False, True, False]
        assert law.pdf(law._vertex()) == np.inf
    # three terms have no singularity, whatever their signs
    law = QuadraticForm([1.0, 2.0, -1.5], [0.0, 0.0, 0.0], 0.5)
    below, at, above = law.pdf(law._vertex() + np.array([-1e-6, 0.0, 1e-6]))
    assert at == pytest.approx((below + above) / 2, rel=1e-2)
    # z₁² + z₂² is exponential: a step of 1/2; a normal term makes all smooth
    assert QuadraticForm([1.0, 1.0], [0.0, 0.0]).pdf([0.0, 1e-30]).tolist() == [
        0,
        pytest.approx(0.5, rel=1e-12),
    ]
    assert QuadraticForm([1.0, 0.0], [0.0, 1.0]).pdf(0.0) < 1
    assert QuadraticForm([0.0], [2.0], 3.0).pdf(3.0) == pytest.approx(
        stats.norm.pdf(0) / 2
    )


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
    with pytest.raises(ValueError, match=r"slopes must lie in .*1e.100., got"):
        QuadraticForm([1.0], [np.nan])
    with pytest.raises(ValueError, match=r"offset must lie in .*, got inf"):
        QuadraticForm([1.0], [1.0], np.inf)
    with pytest.raises(ValueError, match=r"q must lie in \[0, 1\], got 1.5"):
        QuadraticForm([1.0], [1.0]).isf(1.5)


@pytest.mark.parametrize("weight", [1e-32, -1e-32])
@pytest.mark.parametrize("slope", [2e-17, 0.04])
def test_numbers_that_are_rounding_are_none(weight, slope):
    """Of a covariance without full rank: they would move the end of the support."""
    weights, slopes = np.array([-0.43, -0.31, -0.13]), np.array([0.05, 0.02, 0.03])
    exact = QuadraticForm([*weights, 0.0], [*slopes, slope if slope > 1e-16 else 0.0])
    rounded = QuadraticForm([*weights, weight], [*slopes, slope])
    end = -np.sum(slopes**2 / (4 * weights))
    x = np.append(np.linspace(-1.5, 0.0, 40), end + np.linspace(-1e-3, 0.01, 12))
    np.testing.assert_allclose(rounded.sf(x), exact.sf(x), rtol=1e-12)
    q = [0.999, 0.5, 0.01]
    np.testing.assert_allclose(rounded.isf(q), exact.isf(q), rtol=1e-12)
