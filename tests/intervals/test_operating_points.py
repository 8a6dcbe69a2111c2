"""operating_points: published numbers, scipy one table at a time, laws, error texts."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from skauc import empirical_roc, operating_points
from skauc.results import OperatingComparison

REFERENCE = Path(__file__).parents[1] / "reference"
ASAH = json.loads((REFERENCE / "proc_asah.json").read_text())
PROC = json.loads((REFERENCE / "proc_curves.json").read_text())
Y = np.array(ASAH["outcome"])
S100B = np.array(ASAH["s100b"])


def normal_rows(n_neg=30, n_pos=20, shift=1.2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_neg, n_pos])
    return y, rng.normal(y * shift, 1)


def table(y, score, threshold):
    """Four counts of a threshold, row by row."""
    tp = sum(1 for a, s in zip(y, score, strict=True) if a and s >= threshold)
    fp = sum(1 for a, s in zip(y, score, strict=True) if not a and s >= threshold)
    return tp, int(sum(y)) - tp, fp, len(y) - int(sum(y)) - fp


# ------------------------------------------------------------- published output


def test_proc_s100b_at_a_fifth():
    points = operating_points(Y, S100B, threshold=0.2)
    assert points.sensitivity == pytest.approx([0.6341463], abs=5e-8)
    assert points.specificity == pytest.approx([0.8055556], abs=5e-8)
    assert points.lr_positive == pytest.approx([3.261324], abs=5e-7)
    assert points.lr_negative == pytest.approx([0.4541632], abs=5e-8)
    # coords(ret = "all") of pROC 1.18.0
    assert points.accuracy == pytest.approx([0.7433628318584071], rel=1e-14)
    assert points.npv == pytest.approx([0.7945205479452054], rel=1e-14)
    assert points.ppv == pytest.approx([0.65], rel=1e-14)
    low, high = points.confidence_interval(name="sensitivity", method="clopper_pearson")
    assert low == pytest.approx([0.4694], abs=5e-5)
    assert high == pytest.approx([0.7788], abs=5e-5)


@pytest.mark.parametrize(
    ("marker", "best", "cost", "prevalence", "sensitivity", "specificity"), PROC["best"]
)
def test_proc_best(marker, best, cost, prevalence, sensitivity, specificity):
    points = operating_points(
        Y, ASAH[marker], best=best, cost=cost, prevalence=prevalence
    )
    assert points.sensitivity == pytest.approx([sensitivity], rel=1e-12)
    assert points.specificity == pytest.approx([specificity], rel=1e-12)


# ------------------------------------------------------------------- formulas


@pytest.mark.parametrize(
    ("method", "scipys"), [("wilson", "wilson"), ("clopper_pearson", "exact")]
)
def test_shares_are_scipys_one_at_a_time(method, scipys):
    for level in [0.8, 0.95]:
        for side in ["two-sided", "greater", "less"]:
            y, score = normal_rows(12, 9)
            points = operating_points(y, score)  # 0 and n of n among them
            tp, fn = points.true_positives, points.false_negatives
            fp, tn = points.false_positives, points.true_negatives
            counts = {
                "sensitivity": (tp, tp + fn),
                "specificity": (tn, fp + tn),
                "ppv": (tp, tp + fp),
                "npv": (tn, tn + fn),
                "accuracy": (tp + tn, tp + fn + fp + tn),
            }
            # scipy names the side of the test: "greater" bounds from below, as here
            for name, (successes, n) in counts.items():
                low, high = points.confidence_interval(
                    level, name=name, method=method, alternative=side
                )
                for k in range(21):
                    if n[k] == 0:  # nobody is called negative
                        continue
                    test = stats.binomtest(
                        int(successes[k]), int(n[k]), alternative=side
                    )
                    expected = test.proportion_ci(level, method=scipys)
                    assert (low[k], high[k]) == pytest.approx(
                        tuple(expected), abs=1e-10
                    )


def ratio_limits(a, m, b, n):
    """Donner and Zou's limits of (a/m)/(b/n) from Wilson's limits of both shares."""
    tests = stats.binomtest(a, m), stats.binomtest(b, n)
    (l1, u1), (l2, u2) = (test.proportion_ci(method="wilson") for test in tests)
    p, q = a / m, b / n
    root = np.sqrt((p * q) ** 2 - l1 * u2 * (2 * p - l1) * (2 * q - u2))
    low = (p * q - root) / (u2 * (2 * q - u2))
    root = np.sqrt((p * q) ** 2 - u1 * l2 * (2 * p - u1) * (2 * q - l2))
    return low, (p * q + root) / (l2 * (2 * q - l2)) if b else np.inf


def test_ratios_by_the_closed_form():
    y, score = normal_rows(shift=0.5)
    thresholds = [-1.6, 0.4, 0.8, 2.0]
    points = operating_points(y, score, threshold=thresholds)
    given = operating_points(y, score, threshold=thresholds, prevalence=0.05)
    for k, t in enumerate(thresholds):
        tp, fn, fp, tn = table(y, score, t)
        for name, a, b in (("lr_positive", tp, fp), ("lr_negative", fn, tn)):
            low, high = points.confidence_interval(name=name)
            expected = ratio_limits(a, 20, b, 30)
            assert (low[k], high[k]) == pytest.approx(expected, rel=1e-9, abs=1e-15)
        # Odds after a call are those before it times the likelihood ratio.
        low, high = points.confidence_interval(name="lr_positive")
        after = [0.05 / 0.95 * v[k] for v in (low, high)]
        got = [v[k] for v in given.confidence_interval(name="ppv")]
        assert got == pytest.approx([1 / (1 + 1 / v) for v in after], rel=1e-10)
        low, high = points.confidence_interval(name="lr_negative")
        missed = [0.05 / 0.95 * v[k] for v in (high, low)]
        got = [v[k] for v in given.confidence_interval(name="npv")]
        assert got == pytest.approx([1 / (1 + v) for v in missed], rel=1e-10)


@pytest.mark.parametrize(("n_neg", "n_pos"), [(200, 5), (400, 8), (20, 20)])
@pytest.mark.parametrize("name", ["lr_positive", "lr_negative", "ppv", "npv"])
def test_coverage_of_ratios_over_all_tables(n_neg, n_pos, name):
    """Of normal scores, at known thresholds and at one for a sensitivity of .9."""
    y, below, tables = np.repeat([0, 1], [n_neg, n_pos]), np.arange(n_neg + 1), []
    for tp in range(n_pos + 1):
        score = np.concatenate([below[:-1], np.where(np.arange(n_pos) < tp, n_neg, -1)])
        points = operating_points(y, score, threshold=n_neg - below, prevalence=0.02)
        tables.append(points.confidence_interval(name=name))

    def coverage(hits, tables):
        alarms = stats.norm.sf(stats.norm.isf(hits) + 1.2)
        good, bad = hits / alarms, (1 - hits) / (1 - alarms)
        value = {"ppv": good / (good + 49), "npv": 49 / (49 + bad), "lr_positive": good}
        low, high = np.moveaxis(np.array(tables), 1, 0)
        inside = (low <= value.get(name, bad)) & (value.get(name, bad) <= high)
        return inside @ stats.binom.pmf(below, n_neg, alarms)

    hits = np.linspace(0.4, 0.95)
    share = stats.binom.pmf(np.arange(n_pos + 1), n_pos, hits[:, None])
    known = share * [coverage(h, tables) for h in hits]
    assert known.sum(axis=1).mean() >= 0.94
    k = int(np.ceil(0.9 * n_pos))  # the k-th positive is the threshold
    hits = stats.beta.ppf((np.arange(200) + 0.5) / 200, k, n_pos - k + 1)
    assert np.mean([coverage(h, tables[k : k + 1]) for h in hits]) >= 0.93


def test_empty_cells():
    points = operating_points([0, 0, 0, 1, 1, 1], range(6), threshold=[-1, 3, 9])
    assert points.lr_positive[1] == np.inf
    assert np.isnan(points.ppv[2])  # nobody is called positive
    assert np.isnan(points.npv[0])
    low, high = points.confidence_interval(name="ppv")
    assert (low[2], high[2]) == (0, 1)
    low, high = points.confidence_interval(name="lr_positive")
    assert high[1] == np.inf
    assert low[1] == pytest.approx(ratio_limits(3, 3, 0, 3)[0], rel=1e-9)
    for side, end in (("greater", 1), ("less", 0)):
        limits = points.confidence_interval(name="lr_positive", alternative=side)
        assert limits[end].tolist() == [(0, np.inf)[end]] * 3


# ------------------------------------------------------------- chosen thresholds


@pytest.mark.parametrize("target", [0.3, 0.5, 0.9, 0.95])
def test_targets_by_search(target):
    y, score = normal_rows(25, 20, seed=3)
    score = score.round(1)  # ties
    every = sorted(set(score), reverse=True)
    points = operating_points(y, score, sensitivity=target)
    wanted = max(t for t in every if np.mean(score[y == 1] >= t) >= target)
    assert points.threshold[0] == wanted
    points = operating_points(y, score, specificity=target)
    keep = [t for t in every if np.mean(score[y == 0] < t) >= target]
    assert points.threshold[0] == min(keep, default=np.inf)


def test_best_by_search_and_the_highest_of_several():
    y, score = normal_rows(25, 20, seed=4)
    score = score.round(1)
    points = operating_points(y, score)
    j = points.sensitivity + points.specificity
    best = operating_points(y, score, best="youden")
    assert best.threshold[0] == points.threshold[np.argmax(j)]
    assert best.sensitivity + best.specificity == pytest.approx([j.max()])
    assert empirical_roc(y, score).youden().threshold == best.threshold[0]
    distance = (1 - points.sensitivity) ** 2 + (1 - points.specificity) ** 2
    closest = operating_points(y, score, best="closest")
    assert closest.threshold[0] == points.threshold[np.argmin(distance)]
    # a point that is best at a cost is so by its expected loss
    loss = 8 * 0.3 * (1 - points.sensitivity) + 0.7 * (1 - points.specificity)
    costly = operating_points(y, score, best="youden", cost=8, prevalence=0.3)
    assert costly.threshold[0] == points.threshold[np.argmin(loss)]


def test_threshold_limits_are_order_statistics():
    y, score = normal_rows(30, 20)
    points = operating_points(
        y, score, sensitivity=[0.5, 0.8], specificity=None, at="population"
    )
    positives = np.sort(score[y == 1])[::-1]
    for confidence in (0.5, 0.8, 0.9):
        low, high = points.confidence_interval(confidence, name="threshold")
        tail = (1 - confidence) / 2
        for k, share in enumerate((0.5, 0.8)):
            above = stats.binom(20, share)  # positives at or above the true threshold
            deep = next(r for r in range(1, 21) if above.sf(r - 1) <= tail)
            near = max(r for r in range(1, 21) if above.cdf(r - 1) <= tail)
            assert (low[k], high[k]) == (positives[deep - 1], positives[near - 1])
    how = {"at": "population"}
    few = operating_points(y[25:35], score[25:35], sensitivity=0.9, **how)
    assert few.confidence_interval(name="threshold").low[0] == -np.inf
    many = operating_points(y, score, specificity=0.99, **how)
    low, high = many.confidence_interval(name="threshold")
    assert high[0] == np.inf


@pytest.mark.parametrize(("target", "true"), [(0.7, 5), (0.9, np.inf), (0.5, 4)])
def test_threshold_limits_of_tied_scores(target, true):
    """Scores from 1 to 5: the lowest of them with at most 1 − target above it."""
    rng, y, covered = np.random.default_rng(0), np.repeat([0, 1], 50), 0
    for _ in range(60):
        score = rng.integers(1, 6, 100) * 1.0
        points = operating_points(y, score, specificity=target, at="population")
        low, high = points.confidence_interval(name="threshold")
        assert low[0] <= points.threshold[0] <= high[0]
        covered += low[0] <= true <= high[0]
    assert covered >= 55  # of 57 expected ones, and more with ties


def test_crossed_rate_is_the_band():
    y, score = normal_rows()
    band = empirical_roc(y, score).band(0.9, fpr=[0.2, 0.4])
    points = operating_points(y, score, specificity=[0.8, 0.6], at="population")
    low, high = points.confidence_interval(0.9, name="sensitivity")
    assert low == pytest.approx(band.low, rel=1e-12)
    assert high == pytest.approx(band.high, rel=1e-12)
    mirrored = operating_points(1 - y, -score, sensitivity=[0.8, 0.6], at="population")
    limits = mirrored.confidence_interval(0.9, name="specificity")
    assert np.array(limits) == pytest.approx(np.array([low, high]), abs=0.03)  # draws
    # other values are those of the limits, because all rise with the sensitivity
    given = operating_points(
        y, score, specificity=[0.8, 0.6], at="population", prevalence=0.3
    )
    assert (
        np.array(given.confidence_interval(0.9, name="specificity")).tolist()
        == [[0.8, 0.6]] * 2
    )
    alarms, ends = np.array([0.2, 0.4]), np.array([low, high])
    for name, expected in {
        "ppv": 0.3 * ends / (0.3 * ends + 0.7 * alarms),
        "npv": 0.7 * (1 - alarms) / (0.7 * (1 - alarms) + 0.3 * (1 - ends)),
        "lr_positive": ends / alarms,
        "lr_negative": (1 - ends[::-1]) / (1 - alarms),
        "accuracy": 0.3 * ends + 0.7 * (1 - alarms),
        "f1": 0.6 * ends / (0.3 * ends + 0.7 * alarms + 0.3),
    }.items():
        # quantiles of draws are draws, so that those from above differ by one
        assert np.array(given.confidence_interval(0.9, name=name)) == pytest.approx(
            expected, rel=0.01
        )
    chosen = operating_points(y, score, specificity=[0.8, 0.6])
    narrow = chosen.confidence_interval(0.9, name="sensitivity")
    assert np.all(narrow.high - narrow.low < high - low)


# ------------------------------------------------------------------ comparisons


def test_compare_at_a_known_threshold_is_the_paired_variance():
    y, a = normal_rows(60, 80)
    b = a + np.random.default_rng(5).normal(0, 0.8, 140)
    one, two = (operating_points(y, s, threshold=0.7) for s in (a, b))
    result = one.compare(two, n_resamples=20_000)
    gap = (a >= 0.7).astype(float) - (b >= 0.7)
    gap = gap[y == 1]
    assert result.difference == pytest.approx([gap.mean()])
    # Dirichlet weights: Var = Σ (g − ḡ)²/n/(n + 1), known to 1/√40 000
    error = np.sqrt(gap.var() / 81)
    assert result.standard_error == pytest.approx([error], rel=0.02)
    z = gap.mean() / result.standard_error[0]
    assert result.pvalue == pytest.approx([2 * stats.norm.sf(abs(z))])
    low, high = result.confidence_interval(0.9)
    reach = stats.norm.isf(0.05) * result.standard_error
    assert high - low == pytest.approx(2 * reach)
    assert one.compare(two, name="specificity").name == "specificity"


def test_compare_knows_nothing_beyond_the_rows():
    # a size of .2 for two scores of one law, if the error is that of the draws
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 20)
    a, b = rng.normal(y, size=(2, 40))
    for target in ("sensitivity", "specificity"):
        one, two = (
            operating_points(y, score, **{target: [0.95, 0.96, 0.995]})
            for score in (a, b)
        )
        result = one.compare(two, n_resamples=20)
        assert np.isfinite(result.standard_error).tolist() == [True, False, False]
        assert result.pvalue[1:].tolist() == [1.0, 1.0]
        low, high = result.confidence_interval()
        assert (low[1], high[1]) == (-1, 1)


def test_equal_scores_do_not_differ():
    y, score = normal_rows()
    points = operating_points(y, score, sensitivity=[0.5, 0.9])
    result = points.compare(operating_points(y, 2 * score, sensitivity=[0.5, 0.9]))
    assert result.name == "specificity"
    assert result.pvalue.tolist() == [1, 1]
    perfect = operating_points(y, y, threshold=0.5)
    nothing = operating_points(y, 0 * y, threshold=0.5)
    apart = perfect.compare(nothing)
    assert apart.standard_error == pytest.approx([1 / np.sqrt(20)])


# ------------------------------------------------------------------------ laws


def test_frame_and_text():
    y, score = normal_rows()
    points = operating_points(y, score, threshold=[0, 1])
    frame = points.to_frame()
    columns = ["threshold", "estimate", "low", "high", "at", "pos_label"]
    assert list(frame) == columns
    assert frame.loc["npv", "estimate"].tolist() == points.npv.tolist()
    low = points.confidence_interval(name="ppv").low
    assert frame.loc["ppv", "low"].tolist() == low.tolist()
    assert "points=2, prevalence=0.4, chosen_by='threshold', at='chosen'" in repr(
        points
    )
    assert "threshold=0.5" in repr(operating_points(y, score, threshold=0.5))


# ------------------------------------------------------------------- error texts


def test_errors_of_intervals_and_comparisons():
    points = operating_points([0, 0, 1, 1], [1, 2, 3, 4], threshold=3)
    limits = points.confidence_interval
    for call, text in [
        (lambda: limits(name="auc"), "name must be one of .* got 'auc'"),
        (lambda: limits(name="threshold"), "got thresholds chosen by 'threshold'"),
        (
            lambda: limits(name="ppv", method="log"),
            "method must be one of 'wilson', .* got 'log'",
        ),
        (
            lambda: limits(name="ppv", n_resamples=9),
            "n_resamples must not be given for method='wilson'",
        ),
        (
            lambda: operating_points([0, 1], [1, 2], best="youden", at="population"),
            "at must be 'chosen' with best: .*got 'population'",
        ),
        (
            lambda: points.compare(points, n_resamples=1),
            "n_resamples must be a whole number from 20",
        ),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="other must be an OperatingPoints, got int"):
        points.compare(1)


def test_drawn_limits_of_swapped_classes():
    y, score = normal_rows(30, 30, seed=1)
    points = operating_points(y, score, best="youden")
    mirrored = operating_points(1 - y, -score, best="youden")
    low, high = points.confidence_interval(name="specificity")
    swapped = mirrored.confidence_interval(name="sensitivity")
    # a rate has steps of 1/30
    assert (low[0], high[0]) == pytest.approx((swapped[0][0], swapped[1][0]), abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(("n_neg", "n_pos"), [(200, 10), (40, 20), (50, 50)])
def test_rates_of_a_best_threshold_are_those_of_new_rows(n_neg, n_pos):
    rng, covered, draws = np.random.default_rng(3), 0, 200
    y = np.repeat([0, 1], [n_neg, n_pos])
    for _ in range(draws):
        points = operating_points(y, rng.normal(size=len(y)) + y, best="youden")
        low, high = points.confidence_interval(name="sensitivity", n_resamples=300)
        covered += bool(low[0] <= stats.norm.sf(points.threshold[0] - 1) <= high[0])
    assert 0.9 <= covered / draws <= 0.995


def test_a_difference_without_an_error_is_sure():
    known = np.array([0.8, 0.6])
    result = OperatingComparison("sensitivity", known, np.array([0.6, 0.6]), 0 * known)
    assert result.pvalue.tolist() == [0, 1]


def test_accuracy_at_a_prevalence_has_the_limits_of_both_rates():
    """``p̂ ∓ √Σ {w (r̂ − limit)}²`` of both rates r (Zou & Donner 2008)."""
    points = operating_points(*normal_rows(), threshold=0.5, prevalence=0.2)
    names, weight = ("sensitivity", "specificity"), np.array([[0.2], [0.8]])
    rates = np.array([getattr(points, name) for name in names])
    limits = np.array([points.confidence_interval(name=name) for name in names])
    gaps = np.hypot(*(weight[:, None] * (limits - rates[:, None])))
    accuracy = (weight * rates).sum(axis=0)
    assert points.accuracy == pytest.approx(accuracy)
    low, high = points.confidence_interval(name="accuracy")
    assert low == pytest.approx(accuracy - gaps[0])
    assert high == pytest.approx(accuracy + gaps[1])


def test_f1_of_given_thresholds():
    """scikit-learn's value; both kinds of limits agree nearly."""
    y, score = normal_rows(300, 200)
    thresholds = [-1, 0.5, 2, 9]
    points = operating_points(y, score, threshold=thresholds)
    expected = [f1_score(y, score >= t) for t in thresholds]
    assert points.f1 == pytest.approx(expected)
    J = stats.binomtest(
        *map(int, (points.true_positives[1], (y | (score >= 0.5)).sum()))
    )
    limits = J.proportion_ci(method="wilson")
    low, high = points.confidence_interval(name="f1")
    assert (low[1], high[1]) == pytest.approx([2 * v / (1 + v) for v in limits])
    given = operating_points(y, score, threshold=thresholds, prevalence=0.4)
    assert given.f1 == pytest.approx(expected)
    # a fixed prevalence matters where most rows are called positive
    narrow = np.subtract(*given.confidence_interval(name="f1")[::-1])
    assert np.all(narrow[:3] < (high - low)[:3])
    assert narrow[2] == pytest.approx((high - low)[2], rel=0.1)
    assert given.confidence_interval(name="f1").low[3] == 0  # nobody is called positive


def test_points_are_compared_with_points_of_the_same_rows_and_rule(rng):
    y = rng.random(80) < 0.4
    a, b = y + rng.normal(size=80), y + rng.normal(size=80)
    points = operating_points(y, a, sensitivity=0.8)
    assert points.compare(points, n_resamples=20).standard_error == 0
    other = rng.permutation(80)
    for bad, text in [
        (operating_points(y[:9], a[:9], sensitivity=0.8), "points of the same rows"),
        (operating_points(y, b), "by the rule of this one, 'sensitivity'"),
        (operating_points(y[other], a[other], sensitivity=0.8), "in the same order"),
        (operating_points(y, b, threshold=0.5), "'sensitivity'.*got 'threshold'"),
        (operating_points(y, b, specificity=0.8), "'sensitivity'.*got 'specificity'"),
        (operating_points(y, b, sensitivity=0.9), "targets .0.8.*got.*0.9"),
        (operating_points(~y, -b, sensitivity=0.8), "same rows"),
        (operating_points(y, b, sensitivity=0.8, pos_label=False), "same rows"),
        (operating_points(y, b, sensitivity=0.8, groups=other // 2), "groups"),
    ]:
        with pytest.raises(ValueError, match=text):
            points.compare(bad)
    best = operating_points(y, a, best="youden", cost=2)
    with pytest.raises(ValueError, match="weight .* got .* weight 1"):
        best.compare(operating_points(y, b, best="youden"))
    # thresholds have the unit of their score
    given = operating_points(y, a, threshold=0.5)
    assert given.compare(operating_points(y, 2 * a, threshold=1.0)).difference == 0


def test_a_threshold_is_reached_by_an_equal_score(rng):
    y, score = rng.random(90) < 0.5, rng.integers(0, 3, 90)
    for t in (0, 0.5, 1, 2):
        points = operating_points(y, score, threshold=t)
        errors = points.false_positives + points.false_negatives
        assert errors == np.sum((score >= t) != y)


@pytest.mark.parametrize("best", ["youden", "closest"])
@pytest.mark.parametrize("levels", ["distinct", "tied", "separated"])
def test_best_points_of_draws_are_those_among_all_thresholds(best, levels):
    """Only corners between a positive and a negative are tried; none other is best."""
    rng = np.random.default_rng(3)
    y, n_resamples = rng.integers(2, size=90), 50
    score = {
        "distinct": rng.normal(size=90) + y,
        "tied": np.round(rng.normal(size=90) + y),
        "separated": rng.random(90) + y,
    }[levels]
    points = operating_points(y, score, best=best)
    how = {"n_resamples": n_resamples, "random_state": 0}
    drawn = np.random.default_rng(0)
    classes = [score[y == side] for side in (0, 1)]
    weights = [drawn.standard_gamma(1.0, (n_resamples, len(x))) for x in classes]
    thresholds = np.unique(score)[::-1]
    gaps = []
    for w in zip(*weights, strict=True):
        fpr, tpr = (
            np.array([wc[x >= t].sum() for t in thresholds]) / wc.sum()
            for wc, x in zip(w, classes, strict=True)
        )
        gain = tpr - fpr if best == "youden" else -((1 - tpr) ** 2) - fpr**2
        where = score >= thresholds[np.argmax(gain)]
        gaps.append(tpr[np.argmax(gain)] - where[y == 1].mean())
    n, z = np.sum(y), stats.norm.isf(0.1)  # Wilson's limits without the optimism
    x = n * (points.sensitivity - np.mean(gaps))
    reach = z * np.sqrt(x * (n - x) / n + z**2 / 4)
    expected = (x + z**2 / 2 + np.array([[-1], [1]]) * reach) / (n + z**2)
    limits = points.confidence_interval(0.8, name="sensitivity", **how)
    assert np.array(limits) == pytest.approx(expected, rel=1e-12)


def test_many_points_are_written_in_twenty_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200_000)
    points = operating_points(y, rng.normal(size=len(y)) + y)
    html = points._repr_html_()
    assert html.count("<tr>") == 22  # and the titles, and the rest
    assert f"… and {len(points.threshold) - 20} more" in html
    few = operating_points(y, y, threshold=np.linspace(0, 1, 20))
    assert "more" not in few._repr_html_()
    first, other = (
        operating_points(y[:99], rng.normal(size=99), specificity=np.linspace(0.1, 0.9))
        for _ in range(2)
    )
    assert "… and 30 more" in repr(first.compare(other, n_resamples=20))


def test_thresholds_have_the_precision_of_the_scores():
    y, score = np.array([0, 0, 1, 1, 1]), np.array([0.2, 0.7, 0.2, 0.7, 0.9])
    for dtype in (np.float16, np.float32, float):
        narrow = score.astype(dtype)
        for given in (narrow, np.array([*narrow], object), narrow[:, None]):
            found = operating_points(y, given, threshold=[0.7, 0.9])
            assert found.true_positives.tolist() == [2, 1]
    above = operating_points(y, (score > 0.5) / 2, threshold=np.nextafter(0.5, 1))
    assert above.true_positives == 0
