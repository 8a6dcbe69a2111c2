"""The binormal curve against quadrature, mpmath, search and simulation."""

from dataclasses import astuple

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats
from scipy.integrate import quad
from sklearn.metrics import roc_auc_score

from skauc.results import BinormalROC, Moments

CURVES = [
    (0.0, 1.0, 1.0, 1.0),
    (-2.0, 0.5, 3.0, 4.0),
    (1.0, 3.0, 0.5, 0.2),
    (10.0, 2.0, 9.0, 2.5),
    (0.0, 1.0, 0.0, 2.0),
    (0.0, 1.0, 0.3, 1.0 + 1e-9),
]
curves = pytest.mark.parametrize("curve", CURVES, ids=str)


# ----------------------------------------------------------------------- oracle


@curves
def test_rates_and_curve(curve):
    m0, s0, m1, s1 = curve
    roc = BinormalROC(*curve)
    t = np.linspace(-8, 12, 41)
    np.testing.assert_allclose(roc.fpr(t), stats.norm(m0, s0).sf(t), rtol=1e-12)
    np.testing.assert_allclose(roc.tpr(t), stats.norm(m1, s1).sf(t), rtol=1e-12)
    u = np.array([0, 1e-9, 0.01, 0.3, 0.5, 0.9, 1])
    np.testing.assert_allclose(roc.threshold(u), stats.norm(m0, s0).isf(u), rtol=1e-12)
    expected = stats.norm(m1, s1).sf(stats.norm(m0, s0).isf(u))
    np.testing.assert_allclose(roc.roc(u), expected, rtol=1e-11)


@curves
def test_auc_is_the_area(curve):
    m0, s0, m1, s1 = curve
    neg, pos = stats.norm(m0, s0), stats.norm(m1, s1)
    area = quad(lambda t: neg.pdf(t) * pos.sf(t), m0 - 12 * s0, m0 + 12 * s0)[0]
    roc = BinormalROC(*curve)
    assert roc.auc == pytest.approx(area, rel=1e-9)
    assert quad(roc.roc, 0, 1)[0] == pytest.approx(area, abs=1e-6)
    assert roc.partial_auc(1.0) == pytest.approx(area, rel=1e-9)


@curves
def test_partial_auc(curve):
    m0, s0, m1, s1 = curve
    neg, pos = stats.norm(m0, s0), stats.norm(m1, s1)
    a, b = (m1 - m0) / s1, s0 / s1
    rho, root = -b / np.hypot(1, b), np.hypot(1, b)
    both = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]], allow_singular=True)
    for max_fpr in (1e-6, 0.05, 0.5, 0.99):
        low, high = neg.isf(max_fpr), m0 + 12 * s0
        marks = [t for t in (m0, m1) if low < t < high] or None
        area = quad(
            lambda t: neg.pdf(t) * pos.sf(t), low, high, epsabs=0, points=marks
        )[0]
        got = BinormalROC(*curve).partial_auc(max_fpr)
        assert got == pytest.approx(area, rel=1e-8, abs=0)
        # the bivariate normal probability (scipy's own: random points before 1.17,
        # to 1e-5)
        assert got == pytest.approx(
            both.cdf([a / root, stats.norm.ppf(max_fpr)]), abs=5e-5
        )


@pytest.mark.parametrize(
    ("a", "b", "u"), [(1.5, 0.3, 0.01), (-3.0, 2.0, 0.2), (-8.0, 1.0, 1e-4)]
)
def test_partial_auc_against_mpmath(a, b, u):
    ends = [-20, -14, -10, -8, -7, -6, -5, -4.5, -4, float(stats.norm.ppf(u))]
    with mp.workdps(60):
        expected = mp.quad(lambda z: mp.ncdf(a + b * z) * mp.npdf(z), ends)
    got = BinormalROC(0.0, b, a, 1.0).partial_auc(u)
    assert got == pytest.approx(float(expected), rel=1e-10, abs=0)


def test_standardised_partial_auc_is_sklearns(rng):
    neg, pos = rng.normal(0, 1, 200_000), rng.normal(1.2, 1.7, 200_000)
    y, score = np.repeat([0, 1], 200_000), np.concatenate([neg, pos])
    got = BinormalROC(0.0, 1.0, 1.2, 1.7).partial_auc(0.2, standardize=True)
    # standard error about 7e-4 with 200,000 + 200,000 rows
    assert got == pytest.approx(roc_auc_score(y, score, max_fpr=0.2), abs=3e-3)


def test_from_moments_is_numpy(rng):
    neg, pos = rng.normal(size=12), rng.normal(1, 2, size=9)
    parts = Moments.from_samples(neg), Moments.from_samples(pos)
    roc = BinormalROC.from_moments(*parts)
    expected = neg.mean(), neg.std(ddof=1), pos.mean(), pos.std(ddof=1)
    np.testing.assert_allclose(astuple(roc), expected)
    pooled = BinormalROC.from_moments(*parts, equal_variance=True)
    variance = (11 * neg.var(ddof=1) + 8 * pos.var(ddof=1)) / 19
    assert pooled.std_neg == pooled.std_pos == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("d", [0.5, 3.0, 8.0, 12.0, 30.0, 52.0])
def test_both_tails_keep_their_digits(d):
    roc = BinormalROC(0.0, 1.0, d, 1.0)
    with mp.workdps(50):
        expected = mp.ncdf(-mp.mpf(d) / mp.sqrt(2))
        # condition of Φ in the tail: z² eps
        rtol = max(1.0, d**2 / 2) * 4e-16
        assert abs(mp.mpf(roc.swapped().auc) / expected - 1) < rtol
        mirrored = BinormalROC(d, 1.0, 0.0, 1.0)
        assert abs(mp.mpf(mirrored.auc) / expected - 1) < rtol
    assert roc.auc_probit == pytest.approx(d / np.sqrt(2), rel=1e-15)
    if d == 52.0:
        assert 0 < roc.swapped().auc < 1e-295


def best_j(curve):
    """Largest TPR − FPR: dense grid, then an optimiser around each best cell."""
    m0, s0, m1, s1 = curve
    neg, pos = stats.norm(m0, s0), stats.norm(m1, s1)
    t = np.unique(
        [m + s * np.linspace(-12, 12, 20_001) for m, s in ((m0, s0), (m1, s1))]
    )
    j = pos.sf(t) - neg.sf(t)
    k = np.clip(np.argmax(j), 1, len(t) - 2)
    found = optimize.minimize_scalar(
        lambda x: neg.sf(x) - pos.sf(x),
        bounds=(t[k - 1], t[k + 1]),
        method="bounded",
        options={"xatol": 1e-13},
    )
    return max(-found.fun, j.max(), 0.0)


@pytest.mark.parametrize(
    "curve",
    [
        *CURVES,
        (0, 1, 1, 1e-3),
        (0, 1, 1, 1e-7),
        (0, 1, 1, 1e-9),  # the quadratic's discriminant cancelled here
        (0, 1, -3, 1e-9),
        (0, 1e-9, 1, 1),
        (0, 1e-8, -1, 1),
        (0, 1, 2, 1 + 1e-15),
        (0, 1 + 1e-15, 2, 1),
        (5, 1, 5, 1 + 1e-6),
        (1e6, 1, 1e6 + 1, 1.5),
    ],
    ids=str,
)
def test_youden_is_the_best_threshold(curve):
    threshold, fpr, tpr, j = point = BinormalROC(*curve).youden()
    assert j == pytest.approx(best_j(curve), abs=1e-9)
    assert point.j == tpr - fpr
    assert fpr == pytest.approx(stats.norm(*curve[:2]).sf(threshold), abs=1e-15)
    assert tpr == pytest.approx(stats.norm(*curve[2:]).sf(threshold), abs=1e-15)


# -------------------------------------------------------------------------- law


@curves
def test_swap(curve):
    roc = BinormalROC(*curve)
    assert roc.swapped().auc == pytest.approx(1 - roc.auc, abs=1e-15)
    assert roc.swapped().swapped() == roc
    # (u, v) → (v, u): the complement of the inverse curve
    assert roc.swapped().auc_probit == -roc.auc_probit


@curves
def test_affine_map_leaves_the_curve(curve):
    for shift, factor in [(5.0, 1.0), (-3.0, 1e-3), (0.0, 1e60)]:
        m0, s0, m1, s1 = curve
        roc = BinormalROC(*curve)
        moved = BinormalROC(
            factor * m0 + shift, factor * s0, factor * m1 + shift, factor * s1
        )
        assert moved.auc == pytest.approx(roc.auc, rel=1e-10)
        assert moved.partial_auc(0.1) == pytest.approx(roc.partial_auc(0.1), rel=1e-9)
        assert moved.youden().j == pytest.approx(roc.youden().j, rel=1e-6, abs=1e-12)
        u = np.linspace(0, 1, 11)
        np.testing.assert_allclose(moved.roc(u), roc.roc(u), rtol=1e-9)


def test_is_proper_is_concavity():
    u = np.linspace(0.001, 0.999, 999)
    for curve in (*CURVES[:5], (0, 1, -1, 1)):
        roc = BinormalROC(*curve)
        concave = np.all(np.diff(roc.roc(u), 2) < 1e-12)
        assert roc.is_proper == concave, curve


# ------------------------------------------------------------------------- edge


@pytest.mark.parametrize(
    ("curve", "auc"), [((0, 0, 1, 0), 1.0), ((1, 0, 0, 0), 0.0), ((2, 0, 2, 0), 0.5)]
)
def test_two_point_masses(curve, auc):
    roc = BinormalROC(*curve)
    assert roc.auc == auc
    assert roc.swapped().auc == 1 - auc
    assert roc.partial_auc(1.0) == auc
    assert roc.partial_auc(0.5) == pytest.approx({1.0: 0.5, 0.0: 0.0, 0.5: 0.125}[auc])
    assert roc.youden().j == max(2 * auc - 1, 0)
    assert roc.roc(1.0) == 1.0


@pytest.mark.parametrize(
    "curve", [(0, 0, 1, 2), (0, 2, 1, 0), (3, 0, 1, 2), (1, 2, 0, 0)]
)
def test_one_point_mass_is_a_limit(curve):
    roc = BinormalROC(*curve)
    close = BinormalROC(
        *(x if i % 2 == 0 else max(x, 1e-9) for i, x in enumerate(curve))
    )
    assert roc.auc == pytest.approx(close.auc, abs=1e-8)
    for u in (0.1, 0.6, 1.0):
        assert roc.partial_auc(u) == pytest.approx(close.partial_auc(u), abs=1e-7)
    assert roc.youden().j == pytest.approx(
        best_j((close.mean_neg, close.std_neg, close.mean_pos, close.std_pos)), abs=1e-7
    )
    u = np.array([0.05, 0.5, 0.95])
    np.testing.assert_allclose(roc.roc(u), close.roc(u), atol=1e-7)


def test_no_threshold_beats_guessing():
    for curve in ((1, 1, 0, 1), (0, 1, 0, 1)):
        assert BinormalROC(*curve).youden() == (np.inf, 0.0, 0.0, 0.0)


# ------------------------------------------------------------------- error text


def test_error_texts():
    with pytest.raises(ValueError, match=r"std_pos must lie in .0, 1e.100., got -1"):
        BinormalROC(0, 1, 1, -1)
    with pytest.raises(ValueError, match=r"std_neg must lie in .0, 1e.100., got nan"):
        BinormalROC(0, np.nan, 1, 1)
    with pytest.raises(ValueError, match=r"mean_neg must lie in .*, got inf"):
        BinormalROC(np.inf, 1, 1, 1)
    roc = BinormalROC(0, 1, 1, 1)
    for bad in (0, -0.1, 1.5, np.nan):
        with pytest.raises(
            ValueError, match=rf"max_fpr must lie in \(0, 1\], got {bad}"
        ):
            roc.partial_auc(bad)
    with pytest.raises(ValueError, match=r"fpr must lie in \[0, 1\], got 1.5"):
        roc.roc(1.5)
    with pytest.raises(ValueError, match=r"fpr must lie in \[0, 1\], got -1"):
        roc.threshold([0, -1])
    one, two = Moments.from_samples([1.0]), Moments.from_samples([2.0, 3.0])
    with pytest.raises(ValueError, match=r"negative class .* got 1; equal_variance"):
        BinormalROC.from_moments(one, two)
    with pytest.raises(ValueError, match=r"positive class .* got 1; equal_variance"):
        BinormalROC.from_moments(two, one)
    with pytest.raises(ValueError, match=r"positive class .* 2 rows together .* got 2"):
        BinormalROC.from_moments(one, one, equal_variance=True)
