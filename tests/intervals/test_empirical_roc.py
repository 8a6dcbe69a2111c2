"""empirical_roc: scikit-learn's corners, the hull, bands against their definitions."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import ConvexHull
from sklearn.metrics import auc, roc_auc_score, roc_curve

from skauc import auc_estimate, empirical_roc
from skauc.intervals._band import BANDS, _heights, _slots, pointwise_tails
from skauc.intervals._roc_points import height


def rows(n_neg=40, n_pos=30, shift=1.0, seed=0, digits=1):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_neg, n_pos])
    return y, rng.normal(y * shift, 1).round(digits)


# ------------------------------------------------------------------ scikit-learn


@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_corners_are_scikit_learns(drop, weighted):
    y, score = rows()
    weight = np.random.default_rng(1).integers(0, 4, len(y)) if weighted else None
    roc = empirical_roc(y, score, sample_weight=weight, drop_intermediate=drop)
    keep = slice(None) if weight is None else weight > 0
    got = roc_curve(
        y[keep],
        score[keep],
        sample_weight=None if weight is None else weight[keep],
        drop_intermediate=drop,
    )
    for own, expected in zip((roc.fpr, roc.tpr, roc.thresholds), got, strict=True):
        assert own == pytest.approx(expected, rel=1e-14)
    expected = roc_auc_score(y, score, sample_weight=weight)
    assert roc.auc == pytest.approx(expected, rel=1e-13)
    assert auc(roc.fpr, roc.tpr) == pytest.approx(expected, rel=1e-13)


def test_labels_and_infinite_scores():
    y, score = np.array(["ill", "well", "well", "ill"]), [np.inf, 1, -np.inf, 1]
    roc = empirical_roc(y, score, pos_label="ill")
    assert roc.thresholds.tolist() == [np.inf, np.inf, 1, -np.inf]
    assert roc.auc == auc_estimate(y, score, pos_label="ill").auc == 0.875
    assert repr(roc) == "EmpiricalROC(auc=0.875, thresholds=4, n_neg=2, n_pos=2)"


# --------------------------------------------------------------- hull and points


@pytest.mark.parametrize("seed", range(4))
def test_hull_is_the_convex_hull(seed):
    y, score = rows(seed=seed, shift=0.7)
    roc = empirical_roc(y, score)
    hull = roc.convex_hull()
    points = np.column_stack([np.append(roc.fpr, 1), np.append(roc.tpr, 0)])
    area = ConvexHull(points).volume  # with the corner (1, 0): the area below
    assert hull.auc == pytest.approx(area, rel=1e-12)
    assert np.all(height(*hull[:2], roc.fpr) >= roc.tpr - 1e-12)
    for t, x, r in zip(hull.thresholds[1:], hull.fpr[1:], hull.tpr[1:], strict=True):
        called = score >= t
        assert (x, r) == pytest.approx((called[y == 0].mean(), called[y == 1].mean()))


def test_hull_with_a_weight_that_outweighs_all():
    weight = [1, 1, 1e300, 1]
    hull = empirical_roc([0, 0, 1, 1], [0, 2, 3, 1], sample_weight=weight).convex_hull()
    assert hull.auc == 1.0


def test_hull_of_a_bad_score_is_chance():
    hull = empirical_roc([0, 0, 1, 1], [3, 4, 1, 2]).convex_hull()
    assert hull.auc == 0.5
    assert hull.fpr.tolist() == [0, 1]


def test_rates_on_the_curve_and_areas_of_parts():
    y, score = rows()
    roc = empirical_roc(y, score)
    at = np.linspace(0.01, 0.99, 37)
    assert roc.roc(at) == pytest.approx(np.interp(at, roc.fpr, roc.tpr), abs=1e-12)
    estimate = auc_estimate(y, score).partial_auc(fpr=(0, 0.3))
    part = roc.partial_auc(fpr=(0, 0.3))
    assert part.auc == estimate.auc
    assert part.confidence_interval() == estimate.confidence_interval()
    best = roc.youden()
    assert best.j == np.max(roc.tpr - roc.fpr)
    assert best.tpr == np.mean(score[y == 1] >= best.threshold)
    assert list(roc.to_frame()) == ["threshold", "fpr", "tpr"]


# ------------------------------------------------------------------------- bands


def slow_draws(y, score, at, n_draws, seed):
    """Lower and upper curves of the Bayesian bootstrap, row by row, by definition."""
    rng = np.random.default_rng(seed)
    low, high = np.empty((2, n_draws, len(at)))
    order = np.argsort(-score)
    s, positive = score[order], y[order] == 1
    for draw in range(n_draws):
        weight = rng.exponential(size=len(y))
        ends = rng.gamma(0.5, size=4)  # top and bottom of the negatives, positives
        neg, pos = s[~positive], s[positive]
        far = 1e6
        for out, places in (
            (low, ([far, neg.min()], [pos.max(), -far])),
            (high, ([neg.max(), -far], [far, pos.min()])),
        ):
            x = np.concatenate([s, *places])
            w = np.concatenate([weight, ends])
            label = np.concatenate([positive, [False, False, True, True]])
            place = np.unique(-x, return_inverse=True)[1]  # the highest first
            rates = [np.cumsum(np.bincount(place, w * (label == c))) for c in (0, 1)]
            f, t = (np.append(0, rate) / rate[-1] for rate in rates)
            out[draw] = np.interp(at, f, t)
    return low, high


def test_pointwise_band_from_its_definition():
    y, score = rows(15, 12, digits=2)
    at = np.array([0.05, 0.2, 0.5, 0.9])
    low, high = slow_draws(y, score, at, 4000, seed=5)
    band = empirical_roc(y, score).band(0.9, fpr=at, n_draws=20_000)
    # quantiles of 4000 draws: known to .02
    assert band.low == pytest.approx(np.quantile(low, 0.05, axis=0), abs=0.025)
    assert band.high == pytest.approx(np.quantile(high, 0.95, axis=0), abs=0.025)
    assert not band.simultaneous


def test_simultaneous_band_holds_its_share_of_new_draws():
    y, score = rows(25, 20, digits=2)
    band = empirical_roc(y, score).band(0.9, "simultaneous", n_draws=8000)
    low, high = slow_draws(y, score, np.clip(band.fpr, 1e-9, 1 - 1e-9), 1500, seed=6)
    inside = (low[:, :-1] >= band.low[:-1] - 1e-9).all(axis=1)
    inside &= (high <= band.high + 1e-9).all(axis=1)
    assert inside.mean() == pytest.approx(0.9, abs=0.03)  # known to .01, quantiles too
    assert band.simultaneous


def test_simultaneous_band_is_the_narrowest_that_holds_its_own_draws():
    """Of the bands from the r-th smallest to the r-th largest draw at every FPR."""
    y, score = rows(25, 20, digits=2)
    at = np.linspace(0.05, 0.95, 10)
    roc = empirical_roc(y, score)
    band = roc.band(0.9, "simultaneous", fpr=at, n_draws=300)
    low, high = _heights(roc._sample.points, at, 300, 0)
    lowest, highest = np.sort(low, axis=0), np.sort(high, axis=0)[::-1]
    held = [
        ((low >= a) & (high <= b)).all(axis=1).mean() >= 0.9
        for a, b in zip(lowest, highest, strict=True)
    ]
    last = np.flatnonzero(held)[-1]
    assert last > 0
    assert band.low == pytest.approx(lowest[last], rel=1e-12)
    assert band.high == pytest.approx(highest[last], rel=1e-12)


def test_fixed_width_band_holds_its_share_and_is_the_curve_moved():
    y, score = rows(25, 20, digits=2)
    roc = empirical_roc(y, score)
    at = np.linspace(0.001, 0.999, 400)
    band = roc.band(0.9, "fixed_width", fpr=at, n_draws=8000)
    low, high = slow_draws(y, score, at, 1000, seed=7)
    inside = (low >= band.low - 1e-9).all(1) & (high <= band.high + 1e-9).all(1)
    assert inside.mean() == pytest.approx(0.9, abs=0.035)
    # move it: c from one place of the upper limit gives all of both limits
    places = np.linspace(0, 1, 4001)
    for sign, limit in ((1, band.high), (-1, band.low)):
        apart = []
        for c in places:
            moved = np.interp(
                at, roc.fpr - sign * c / 5, roc.tpr + sign * c / np.sqrt(20)
            )
            apart.append(np.abs(np.clip(moved, 0, 1) - limit).max())
        assert min(apart) < 2e-3


def test_fixed_width_band_of_a_score_with_few_values():
    # between the corners, which are few, the draws go their own ways
    y, score = rows(25, 20, digits=2)
    for coarse in (0 * score, score > np.median(score)):
        roc = empirical_roc(y, coarse)
        at = np.linspace(0.001, 0.999, 400)
        band = roc.band(0.9, "fixed_width", fpr=at)
        low, high = slow_draws(y, coarse.astype(float), at, 1000, seed=7)
        inside = (low >= band.low - 1e-9).all(1) & (high <= band.high + 1e-9).all(1)
        assert inside.mean() == pytest.approx(0.9, abs=0.035)


def test_joint_regions_are_kolmogorovs():
    y, score = rows()
    roc = empirical_roc(y, score)
    at = np.linspace(0, 1, 21)
    band = roc.band(0.9, "joint_regions", fpr=at)
    d0, d1 = (stats.kstwo.ppf(np.sqrt(0.9), n) for n in (40, 30))
    right = np.clip(at + d0, 0, 1)
    expected = np.where(at + d0 >= 1, 1, np.interp(right, roc.fpr, roc.tpr) + d1)
    assert band.high == pytest.approx(np.minimum(expected, 1), abs=1e-9)
    left = at - d0
    expected = np.where(left <= 0, 0, np.interp(left, roc.fpr, roc.tpr) - d1)
    assert band.low[1:-1] == pytest.approx(np.maximum(expected, 0)[1:-1], abs=1e-9)


def test_jeffreys_between_thresholds():
    # With endless negatives the FPR is known, and TPR is Beta(k + ½, n − k + ½).
    pos = np.array([0.05, 0.3, 0.45, 0.7, 0.85])
    neg = (np.arange(400_000) + 0.5) / 400_000
    y = np.repeat([0, 1], [len(neg), len(pos)])
    band = empirical_roc(y, np.concatenate([neg, pos])).band(
        0.9, fpr=[0.2, 0.4], n_draws=40_000
    )
    for k, low, high in zip((1, 2), band.low, band.high, strict=True):
        expected = stats.beta(k + 0.5, 5 - k + 0.5).ppf([0.05, 0.95])
        assert (low, high) == pytest.approx(tuple(expected), abs=0.01)


@pytest.mark.parametrize("method", BANDS)
def test_bands_hold_the_curve_rise_and_widen(method):
    y, score = rows()
    roc = empirical_roc(y, score)
    narrow, wide = roc.band(0.5, method), roc.band(0.99, method)
    inner = slice(1, -1)
    at = roc.roc(narrow.fpr)
    for band in (narrow, wide):
        assert np.all(np.diff(band.low) >= -1e-12)
        assert np.all(np.diff(band.high) >= -1e-12)
        assert np.all((band.low >= 0) & (band.high <= 1))
        assert np.all(band.low <= band.high)
    assert np.all(wide.low[inner] <= at[inner])
    assert np.all(at[inner] <= wide.high[inner])
    assert np.all(wide.low <= narrow.low + 1e-12)
    assert np.all(wide.high >= narrow.high - 1e-12)
    assert f"method={method!r}" in repr(wide)
    assert list(wide.to_frame()) == ["fpr", "low", "high"]


def test_blocks_of_many_scores_change_little():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [4000, 3000])
    score = rng.normal(y * 1.5, 1)
    at = np.array([0.003, 0.1, 0.6])
    band = empirical_roc(y, score).band(0.95, fpr=at)
    true = stats.norm.cdf(1.5 + stats.norm.ppf(at))
    slope = stats.norm.pdf(1.5 + stats.norm.ppf(at)) / stats.norm.pdf(
        stats.norm.ppf(at)
    )
    error = np.sqrt(true * (1 - true) / 3000 + slope**2 * at * (1 - at) / 4000)
    assert band.high - band.low == pytest.approx(3.92 * error, rel=0.15)
    middle = (band.high + band.low) / 2
    assert middle == pytest.approx(
        empirical_roc(y, score).roc(at), abs=0.5 * error.max()
    )


def test_weights_are_counts():
    y, score = rows()
    weight = np.arange(70) % 3 + 1
    a = empirical_roc(y, score, sample_weight=weight).band(method="joint_regions")
    b = empirical_roc(np.repeat(y, weight), np.repeat(score, weight))
    assert a == b.band(method="joint_regions")
    a = empirical_roc(y, score, sample_weight=weight).band(fpr=[0.3])
    assert a.low == pytest.approx(b.band(fpr=[0.3]).low, abs=1e-12)


# ------------------------------------------------------------------- error texts


def test_errors():
    roc = empirical_roc([0, 0, 1, 1], [1, 3, 2, 4])
    weighted = empirical_roc([0, 1], [1, 2], sample_weight=[0.5, 1])
    for call, text in [
        (lambda: roc.band(method="x"), "method must be one of 'pointwise', .* got 'x'"),
        (lambda: roc.band(1.5), r"confidence_level must lie in \(0, 1\), got 1.5"),
        (lambda: roc.band(fpr=[2]), r"fpr must hold numbers in \[0, 1\], got \[2\]"),
        (
            lambda: roc.band(n_draws=3),
            "n_draws must be a whole number from 20 .* got 3",
        ),
        (lambda: roc.band(random_state="a"), "random_state must be None, .* got 'a'"),
        (
            lambda: roc.band(method="joint_regions", n_draws=99),
            "n_draws must not be given for method='joint_regions'",
        ),
        (lambda: roc.roc(1.5), r"fpr must lie in \[0, 1\], got 1.5"),
        (lambda: weighted.band(), "sample_weight must hold whole numbers"),
        (
            lambda: empirical_roc([0, 1], [1, 2], drop_intermediate=1),
            "drop_intermediate must be True or False, got 1",
        ),
        (lambda: empirical_roc([0, 1, 2], [1, 2, 3]), "must hold two classes, got 3"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_curves_of_blocks_bend_as_the_rows_do(monkeypatch):
    """Eight blocks of 400 rows are straight lines; what they lack is added."""
    monkeypatch.setattr("skauc.intervals._band._MOST_BLOCKS", 8)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    roc = empirical_roc(y, rng.normal(2.5 * y, 1))
    at = np.array([0.01, 0.03, 0.1, 0.3, 0.999])
    low, high = pointwise_tails(roc._sample.points, at, 0.4, 0.4, 2000)
    # the middle of the draws, of which one block is a sixteenth wide
    assert (low[:4] + high[:4]) / 2 == pytest.approx(roc.roc(at[:4]), abs=0.035)
    low, high = _heights(roc._sample.points, at, 500, 0)
    assert min(low.min(), high.min()) >= 0
    assert max(low.max(), high.max()) <= 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_hull_of_scores_tied_in_equal_shares_is_the_diagonal(n):
    y = np.tile([0, 1], n)
    hull = empirical_roc(y, np.zeros(2 * n)).convex_hull()
    assert hull.fpr.tolist() == [0, 1]
    assert hull.tpr.tolist() == [0, 1]
    hull = empirical_roc([0, 1, 0, 1], [2.0, 2.0, 1.0, 3.0]).convex_hull()
    assert hull.fpr.tolist() == [0, 0, 0.5, 1]
    assert hull.tpr.tolist() == [0, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("y", "score"),
    [([0, 1], [0.0, 0.0]), ([0, 1, 0, 1], [1.0, 1, 0, 0]), ([0, 0, 1], [0, 0, 1.0])],
)
def test_few_corners_are_scikit_learns(y, score):
    for drop in (False, True):
        roc = empirical_roc(y, score, drop_intermediate=drop)
        fpr, tpr, _ = roc_curve(y, score, drop_intermediate=drop)
        assert (roc.fpr.tolist(), roc.tpr.tolist()) == (fpr.tolist(), tpr.tolist())


def test_last_segment_of_the_curve():
    y, score = [0, 0, 1, 0, 1], [0.0, 0, 0, 1, 2]
    roc = empirical_roc(y, score)
    at = np.array([0.4, 0.7, 0.99])  # from (1/3, ½) to (1, 1) in one piece
    assert roc.roc(at) == pytest.approx(0.5 + 0.5 * (at - 1 / 3) / (2 / 3))


@pytest.mark.parametrize("lowest", [0, 1])
@pytest.mark.parametrize("method", ["joint_regions", "simultaneous", "fixed_width"])
def test_bands_end_where_all_rows_are_called(method, lowest):
    rng = np.random.default_rng(0)
    y = np.append(np.arange(40) % 2, lowest)
    band = empirical_roc(y, np.append(rng.normal(size=40) + y[:-1], -9.0)).band(
        0.9, method, fpr=[0.5, 1.0]
    )
    assert (band.low[1], band.high[1]) == (1, 1)


@pytest.mark.parametrize("lowest", [0, 1])
def test_joint_regions_count_all_rows(lowest):
    y = np.append(np.arange(100) % 2, lowest)
    score = np.append(np.arange(100.0), -1.0)
    roc = empirical_roc(y, score)
    band = roc.band(0.9, "joint_regions", fpr=[0.5])
    reach = [stats.kstwo.ppf(np.sqrt(0.9), int(np.sum(y == c))) for c in (0, 1)]
    low = np.interp(0.5, roc.fpr + reach[0], roc.tpr - reach[1])
    high = np.interp(0.5, roc.fpr - reach[0], roc.tpr + reach[1])
    assert 0 < low < high < 1
    assert (band.low[0], band.high[0]) == pytest.approx((low, high))


def test_ends_of_a_bayesian_bootstrap_are_half_a_row():
    count = np.array([3.0, 0, 2])
    weight, ends, first, last = _slots(np.random.default_rng(0), count, 100_000)
    assert weight.mean(axis=0) == pytest.approx(count, abs=0.02)
    assert ends.mean(axis=1) == pytest.approx([0.5, 0.5], abs=0.01)
    assert ends.var(axis=1) == pytest.approx([0.5, 0.5], abs=0.02)
    assert (first, last) == (0, 2)


@pytest.mark.parametrize("side", [0.0, 1.0])
def test_bands_at_the_ends_are_those_just_beside(side):
    """What is asked at FPR 0 or 1 counts in a simultaneous band as what is beside."""
    roc = empirical_roc(*rows())
    beside = abs(side - 1e-10)
    one, two = (
        roc.band(0.9, "simultaneous", fpr=sorted([0.5, at])) for at in (side, beside)
    )
    middle = int(side == 0)
    assert one.low[middle] == pytest.approx(two.low[middle], rel=1e-9)
    assert one.high[middle] == pytest.approx(two.high[middle], rel=1e-9)
