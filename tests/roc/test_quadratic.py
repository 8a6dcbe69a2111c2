"""The curve of a quadratic rule against closed forms, quadrature and search."""

import mpmath as mp
import numpy as np
import pytest
from oracles import cumulant
from scipy import stats
from scipy.integrate import quad

from skauc import ROCDisplay
from skauc.results import BinormalROC, QuadraticForm, QuadraticROC

RNG = np.random.default_rng(7)


def random_classes(P, shift):
    """Means and covariances of two classes."""
    A, B = RNG.normal(size=(2, P, P + 3)) / np.sqrt(P + 3)
    return np.zeros(P), A @ A.T, shift * RNG.normal(size=P), B @ B.T


CLASSES = [random_classes(P, shift) for P, shift in [(1, 1), (2, 1), (3, 0.2), (8, 0)]]
classes = pytest.mark.parametrize("classes", CLASSES, ids=lambda c: f"P={len(c[0])}")


def same_rule(roc):
    """The curve without the knowledge that the score is the likelihood ratio."""
    return QuadraticROC(roc.neg, roc.pos)


# ----------------------------------------------------------------------- oracle


@pytest.mark.parametrize("P", [1, 2, 7])
def test_equal_means_are_an_f_law(P):
    """N(0, I) against N(0, r I): the score is monotone in r or −r times χ²."""
    for ratio in [0.2, 1.5, 30.0]:
        roc = QuadraticROC.between_normals(
            np.zeros(P), np.eye(P), np.zeros(P), ratio * np.eye(P)
        )
        larger = max(ratio, 1 / ratio)
        assert roc.auc == pytest.approx(stats.f(P, P).sf(1 / larger), rel=1e-12)
        assert roc.swapped().auc == pytest.approx(
            stats.f(P, P).cdf(1 / larger), rel=1e-12
        )
        u, chi2 = np.array([1e-6, 0.1, 0.5, 0.95]), stats.chi2(P)
        curve = (
            chi2.sf(chi2.isf(u) / ratio) if ratio > 1 else chi2.cdf(chi2.ppf(u) / ratio)
        )
        # P = 1: u = 1e-6 is 1e-12 away from the end of the scores, which is rounded
        rtol = np.where((u < 1e-3) & (P == 1), 1e-3, 1e-9)
        assert np.all(np.abs(roc.roc(u) / curve - 1) < rtol)


def one_feature_auc(distance, variance):
    """N(0, 1) against N(d, v), in mpmath.

    The score rises or falls with ``(x − e)²``, e its vertex, so that the AUC is the
    chance that ``x₁ − x₀`` and ``x₁ + x₀ − 2e``, two normals, have the same or opposite
    signs: Φ₂ by ``∂Φ₂/∂ρ = φ₂``.
    """
    d, v = mp.mpf(distance), mp.mpf(variance)
    vertex = -(d / v) / (1 - 1 / v)
    a, b = d / mp.sqrt(1 + v), (d - 2 * vertex) / mp.sqrt(1 + v)
    angle = mp.asin((v - 1) / (v + 1))

    def density(t):
        inside = a * a - 2 * mp.sin(t) * a * b + b * b
        return mp.exp(-inside / (2 * mp.cos(t) ** 2)) / (2 * mp.pi)

    ends = [0, *(angle * (1 - mp.mpf(2) ** -k) for k in range(1, 50, 4)), angle]
    same = mp.ncdf(a) * mp.ncdf(b) + mp.ncdf(-a) * mp.ncdf(-b)
    same += 2 * mp.quad(density, ends)
    return same if v > 1 else 1 - same


@pytest.mark.parametrize("power", [-8, -4, -2, 3, 8])
def test_one_feature_with_very_unequal_variances(power):
    for distance in [0.0, 1.0, 3.0]:
        variance = 10.0**power
        roc = QuadraticROC.between_normals([0.0], [[1.0]], [distance], [[variance]])
        with mp.workdps(40):
            auc = one_feature_auc(distance, variance)
            expected, complement = float(auc), float(1 - auc)
        assert roc.auc == pytest.approx(expected, rel=1e-10)
        assert roc.swapped().auc == pytest.approx(complement, rel=1e-6)
        t = np.r_[0.0, roc.neg.mean(), roc.pos.mean(), roc.neg.isf([0.1, 0.9])]
        # |x − e| < r or > r, where the score is t
        e = -distance / (variance - 1)
        curvature = (1 - 1 / variance) / 2
        r = np.sqrt(np.maximum((t - roc.pos._vertex()) / curvature, 0))
        for rate, law in (
            (roc.fpr(t), stats.norm(0, 1)),
            (roc.tpr(t), stats.norm(distance, np.sqrt(variance))),
        ):
            outside = law.sf(e + r) + law.cdf(e - r)
            inside = law.cdf(e + r) - law.cdf(e - r)
            np.testing.assert_allclose(
                rate, outside if power > 0 else inside, atol=1e-6
            )
            assert np.all((rate >= 0) & (rate <= 1))
        assert 0 <= roc.youden().j <= 1
        if distance == 1:  # seconds a call: one distance is enough for a range
            assert 0 <= roc.partial_auc(0.1) <= 0.1


@pytest.mark.parametrize(
    "curve", [(0, 1, 1, 1), (0, 1, 2, 3), (0, 2, 1, 0.3), (5, 0.1, 4, 1)], ids=str
)
def test_normal_scores_are_binormal(curve):
    m0, s0, m1, s1 = curve
    roc = QuadraticROC(QuadraticForm([0.0], [s0], m0), QuadraticForm([0.0], [s1], m1))
    expected = BinormalROC(*curve)
    assert roc.auc == pytest.approx(expected.auc, rel=1e-13)
    assert roc.auc_probit == pytest.approx(expected.auc_probit, rel=1e-12)
    assert roc.swapped().auc == pytest.approx(expected.swapped().auc, rel=1e-13)
    t, u = np.linspace(-7, 9, 50), np.array([1e-9, 0.01, 0.4, 0.99])
    np.testing.assert_allclose(roc.fpr(t), expected.fpr(t), rtol=1e-11)
    np.testing.assert_allclose(roc.tpr(t), expected.tpr(t), rtol=1e-11)
    np.testing.assert_allclose(roc.roc(u), expected.roc(u), rtol=1e-10)
    np.testing.assert_allclose(roc.threshold(u), expected.threshold(u), rtol=1e-11)
    for max_fpr in (1e-6, 0.05, 0.5, 0.99, 1.0):
        area = expected.partial_auc(max_fpr)
        assert roc.partial_auc(max_fpr) == pytest.approx(area, rel=1e-10)
    assert roc.partial_auc(0.2, standardize=True) == pytest.approx(
        expected.partial_auc(0.2, standardize=True)
    )
    np.testing.assert_allclose(roc.youden(), expected.youden(), rtol=1e-6)
    assert roc.youden().j == pytest.approx(expected.youden().j, rel=1e-12)


@pytest.mark.parametrize("distance", [0.5, 3.0, 30.0, 50.0])
def test_equal_covariances_are_linear(distance):
    """AUC = Φ(δ/√2), Youden at the log odds; both tails keep their digits."""
    A = RNG.normal(size=(4, 4))
    sigma, d = A @ A.T, RNG.normal(size=4)
    d *= distance / np.sqrt(d @ np.linalg.solve(sigma, d))
    roc = QuadraticROC.between_normals(np.ones(4), sigma, d + 1, sigma, log_odds=0.3)
    delta2 = distance**2
    linear = BinormalROC(0.3 - delta2 / 2, distance, 0.3 + delta2 / 2, distance)
    # λ is a rounding error of the whitened covariance, 1e-15, times z³ in the tail
    assert roc.auc == pytest.approx(linear.auc, rel=1e-12)
    assert roc.swapped().auc == pytest.approx(linear.swapped().auc, rel=1e-7, abs=0)
    t = 0.3 + distance * np.array([-3.0, -1.0, 0.0, 2.0])
    np.testing.assert_allclose(roc.fpr(t), linear.fpr(t), rtol=1e-7)
    assert roc.youden().j == pytest.approx(linear.youden().j, rel=1e-10)


@classes
def test_areas_under_the_curve(classes):
    """AUC and partial areas by Gauss and Legendre's nodes in u = end·x⁶."""
    roc = QuadraticROC.between_normals(*classes)
    x, weight = np.polynomial.legendre.leggauss(100)
    x, weight = (x + 1) / 2, weight / 2
    for end in (0.2, 1.0):  # dense where the curve is steep
        area = end * np.sum(weight * 6 * x**5 * roc.roc(end * x**6))
        assert roc.partial_auc(end) == pytest.approx(area, rel=1e-5)


@pytest.mark.parametrize("max_fpr", [0.2, 0.5, 0.9])
def test_partial_area_across_a_corner(max_fpr):
    """χ²₁ against χ²₁ + 1: TPR is 1 from FPR = P(χ²₁ > 1) on, with a corner there."""
    roc = QuadraticROC(QuadraticForm([1.0], [0.0]), QuadraticForm([1.0], [0.0], 1.0))
    law, start = stats.chi2(1), max(stats.chi2(1).isf(max_fpr), 1.0)

    def integrand(x):  # t = start + x² takes the root out of it
        return 2 * x * law.pdf(start + x * x) * law.sf(start - 1 + x * x)

    expected = quad(integrand, 0, 9, epsabs=1e-13)[0] + max(max_fpr - law.sf(1), 0)
    assert roc.partial_auc(max_fpr) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("ratio", [1.002, 1.02, 1.05, 1.1, 0.98])
@pytest.mark.parametrize("max_fpr", [0.1, 0.9])
def test_partial_area_of_almost_equal_variances(ratio, max_fpr):
    """The scores of one feature end far out, between 15 and 700 deviations away."""
    roc = QuadraticROC.between_normals(0.0, 1.0, 1.0, ratio)

    def area_above(x):  # the discriminant rises in x over all rows that count
        return stats.norm.sf(x, 1, np.sqrt(ratio)) * stats.norm.pdf(x)

    expected = quad(area_above, stats.norm.isf(max_fpr), 12, epsabs=1e-13)[0]
    assert roc.partial_auc(max_fpr) == pytest.approx(expected, rel=1e-6)


@classes
def test_likelihood_ratio_is_the_slope(classes):
    """dTPR/dFPR = exp(t − log odds): the law of one class is the other's, tilted."""
    roc = QuadraticROC.between_normals(*classes, log_odds=0.4)
    t = roc.neg.isf(np.array([0.9, 0.5, 0.2, 1e-3])) + 0.01
    np.testing.assert_allclose(
        np.log(roc.pos.pdf(t) / roc.neg.pdf(t)), t - 0.4, rtol=1e-9, atol=1e-10
    )
    s = -0.3
    tilted = cumulant(roc.neg, s + 1) - cumulant(roc.neg, 1)
    assert cumulant(roc.pos, s) == pytest.approx(tilted)


@classes
@pytest.mark.slow
def test_youden_is_the_best_threshold(classes):
    roc = QuadraticROC.between_normals(*classes, log_odds=-0.7)
    point, searched = roc.youden(), same_rule(roc).youden()
    assert point.threshold == -0.7
    assert searched.threshold == pytest.approx(-0.7, abs=1e-6)
    assert searched.j == pytest.approx(point.j, rel=1e-12)
    grid = np.r_[roc.neg.isf(np.linspace(0.001, 0.999, 500)), -0.7]
    assert point.j == pytest.approx(np.max(roc.tpr(grid) - roc.fpr(grid)), abs=1e-12)


# -------------------------------------------------------------------------- law


@classes
def test_swap_and_concavity(classes):
    roc = QuadraticROC.between_normals(*classes)
    assert roc.swapped().auc + roc.auc == pytest.approx(1, abs=1e-14)
    assert roc.swapped().auc_probit == pytest.approx(-roc.auc_probit, rel=1e-9)
    assert roc.is_proper
    assert not same_rule(roc).is_proper
    assert np.all(np.diff(roc.roc(np.linspace(0.001, 0.999, 400)), 2) < 1e-12)


@classes
def test_units_and_axes_of_the_features(classes):
    m0, S0, m1, S1 = map(np.asarray, classes)
    turn, _ = np.linalg.qr(RNG.normal(size=2 * m0.shape))
    units = [np.geomspace(1, spread, len(m0)) * 1e-5 for spread in (1e-9, 1e9)]
    for A in (*map(np.diag, units), turn):
        moved = QuadraticROC.between_normals(A @ m0, A @ S0 @ A.T, A @ m1, A @ S1 @ A.T)
        roc = QuadraticROC.between_normals(*classes)
        assert moved.auc == pytest.approx(roc.auc, rel=1e-9)
        t = np.array([-2.0, 0.3, 1.0])
        np.testing.assert_allclose(moved.fpr(t), roc.fpr(t), rtol=1e-9)


# ------------------------------------------------------------------------- edge


@pytest.mark.parametrize("curve", [(0, 0, 1, 0), (1, 0, 0, 0), (2, 0, 2, 0)], ids=str)
def test_point_masses(curve):
    for spread in [(0, 0), (0, 2), (2, 0)]:
        (m0, _, m1, _), (s0, s1) = curve, spread
        roc = QuadraticROC(
            QuadraticForm([0.0], [s0], m0), QuadraticForm([0.0], [s1], m1)
        )
        expected = BinormalROC(m0, s0, m1, s1)
        assert roc.auc == pytest.approx(expected.auc)
        for u in (0.1, 0.7, 1.0):
            assert roc.roc(u) == pytest.approx(expected.roc(u))
            assert roc.partial_auc(u) == pytest.approx(expected.partial_auc(u))
        assert roc.youden().j == pytest.approx(expected.youden().j, abs=1e-12)


def test_no_threshold_beats_guessing():
    roc = QuadraticROC.between_normals(0, 1, 0, 1, log_odds=0.3)
    assert roc.youden() == BinormalROC(0, 1, 0, 1).youden() == (np.inf, 0, 0, 0)


def test_the_display_takes_it():
    pytest.importorskip("matplotlib").use("Agg")
    roc = QuadraticROC.between_normals(*CLASSES[1])
    line = ROCDisplay(roc, name="quadratic").plot(plot_chance_level=True).line_
    assert line.get_label() == f"quadratic (AUC {roc.auc:.2f})"
    np.testing.assert_allclose(line.get_ydata(), roc.roc(line.get_xdata()))


def test_error_texts():
    roc = QuadraticROC.between_normals(*CLASSES[1])
    with pytest.raises(TypeError, match=r"pos must be a QuadraticForm, got 3"):
        QuadraticROC(roc.neg, 3)
    for bad in (np.nan, np.inf, [0.0, 1.0]):
        with pytest.raises(ValueError, match=r"log_odds must be finite, got"):
            QuadraticROC(roc.neg, roc.pos, bad)
        with pytest.raises(ValueError, match=r"log_odds must be finite, got"):
            QuadraticROC.between_normals(0, 1, 1, 1, log_odds=bad)


I2 = np.eye(2)


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        ((0, 1, 1, -1), r"covariance_pos must be symmetric and positive definite, got"),
        (([0, 0], I2, [1, 1], np.ones((2, 2))), "pos must be symm.* got a corr"),
        (([0, 0], [[1, 2], [2, 1]], [1, 1], I2), "smallest eigenvalue -1 "),
        (([0, np.nan], I2, [1, 1], I2), "mean_neg must be finite, got nan"),
        (
            ([0, 0], I2, [1, 1], [[np.inf, 0], [0, 1]]),
            "covariance_pos must be finite, got inf",
        ),
        (([0, 0], [[1, 0.5], [0, 1]], [1, 1], I2), "asymmetry 0.5"),
        (([0, 0], I2, [1, 1], np.eye(3)), r"pos must have shape \(2, 2\), got \(3"),
        (([0, 0], [1, 1], [1, 1], I2), r"neg must have shape \(2, 2\), got \(1"),
        (([[0, 0]], I2, [1, 1], I2), r"mean_neg must have shape \(2,\), got \(1, 2\)"),
        (([0, 0], I2, [1], [[1]]), r"mean_pos must have shape \(2,\), got \(1,\)"),
    ],
    ids=str,
)
def test_what_a_normal_class_must_be(classes, text):
    with pytest.raises(ValueError, match=text):
        QuadraticROC.between_normals(*classes)


def test_the_score_of_a_class_has_the_moments_of_its_draws():
    """The score is the log of the ratio of both densities."""
    rng = np.random.default_rng(0)
    samples = [
        rng.normal(size=(9, 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=3)
        for _ in range(2)
    ]
    laws = [(rows.mean(axis=0), np.cov(rows.T)) for rows in samples]
    roc = QuadraticROC.between_normals(*laws[0], *laws[1])
    for form, law in zip((roc.neg, roc.pos), laws, strict=True):
        x = rng.multivariate_normal(*law, 100_000)
        score = stats.multivariate_normal(*laws[1]).logpdf(x)
        score -= stats.multivariate_normal(*laws[0]).logpdf(x)
        assert form.mean() == pytest.approx(score.mean(), abs=5 * score.std() / 300)
        assert form.std() == pytest.approx(score.std(), rel=0.05)
