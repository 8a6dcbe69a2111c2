"""Laws of groups of dependent rows, for all calls of scores or probabilities."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, ndtri

import skauc

RNG = np.random.default_rng(4)
G = RNG.integers(12, size=72)
Y = RNG.integers(2, size=72)
SCORE = RNG.normal(size=72) + RNG.normal(size=12)[G] + Y
DRAWN = {"n_resamples": 50}
RATES = "sensitivity", "specificity", "ppv", "lr_positive", "youden_j"


def points(*names, draws=None, **rule):
    def call(y, score, **given):
        found = skauc.operating_points(y, score, **rule, **given).confidence_interval
        return [found(name=name, **(draws or {})) for name in names]

    return call


def compared(y, score, **given):
    points = partial(skauc.operating_points, y, specificity=0.7, **given)
    return points(score).compare(points(score[::-1]), **DRAWN).standard_error


def calibration(y, score, **given):
    result = skauc.calibration_estimate(y, expit(score - 0.5), **given)
    return *result.standard_error, result.statistic


def picture(kind):
    def call(y, score, **given):
        with patch.object(kind, "plot", lambda self: self):
            drawn = kind.from_predictions(y, expit(score - 0.5), **given)
        return drawn.to_frame().iloc[:, 2:]

    return call


def of_three(function):
    def call(y, score, **given):
        columns = np.column_stack([-score, score, score**2])
        found = function(np.where(score > 1.5, 2, y), columns, **given)
        return getattr(found, "average", lambda: found)().standard_error

    return call


CALLS = {
    "auc": lambda y, s, **k: skauc.auc_estimate(y, s, **k).confidence_interval(),
    "curve": lambda y, s, **k: skauc.empirical_roc(y, s, **k).band(**DRAWN).low,
    "threshold": points(*RATES, "accuracy", "f1", threshold=[0.0, 1.0]),
    "prevalence": points("ppv", "accuracy", "f1", threshold=0.5, prevalence=0.1),
    "population": points("ppv", draws=DRAWN, sensitivity=0.8, at="population"),
    "order": points("threshold", specificity=0.7, at="population"),
    "best": points(*RATES, "lr_negative", draws=DRAWN, best="youden"),
    "compared": compared,
    "one vs rest": of_three(skauc.one_vs_rest_auc),
    "hand till": of_three(skauc.hand_till_auc),
    "calibration": calibration,
    "calibration picture": picture(skauc.CalibrationDisplay),
    "decisions": picture(skauc.DecisionCurveDisplay),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:A class has only")
def test_laws_of_groups(name):
    def same(first, second):
        first, second = (np.array(x, float) for x in (first, second))
        np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-9)

    def call(groups, rows=slice(None), **given):
        return CALLS[name](Y[rows], SCORE[rows], groups=groups, **given)

    alone, grouped = call(None), call(G)
    same(call(np.arange(72)), alone)
    assert not np.allclose(np.array(grouped, float), np.array(alone, float))
    kinds = G + 10**18, [f"p{g}" for g in G], pd.Categorical(G), -G.astype(object)
    for other in kinds:
        same(call(other), grouped)
    weight = RNG.uniform(0.5, 3, 72)  # sampling weights, of which ratios matter
    same(call(G, sample_weight=weight), call(G, sample_weight=weight / 1000))
    twice, order = np.repeat(np.arange(72), 2), RNG.permutation(72)
    if name not in ("best", "compared"):  # they draw a weight for each row
        same(call(G[order], order), grouped)
        if name not in ("calibration picture", "population", "order"):  # count rows
            same(call(G[twice], twice), call(G, sample_weight=np.full(72, 2)))
            same(call(G[twice], twice), grouped)  # copies in a group add nothing
    for bad in (np.zeros(72), G[:5], np.where(G, G, np.nan), [None, *G[1:]]):
        with pytest.raises(ValueError, match="groups"):
            call(bad)


def test_effect_of_the_mean_by_loops():
    u, w = RNG.normal(size=72), RNG.integers(1, 4, 72)
    u -= np.average(u, weights=w)
    B, W = np.transpose([
        ((w * u)[g == G].sum() ** 2, (w * u**2)[g == G].sum()) for g in range(12)
    ])  # fmt: skip
    B *= [((1 - 1 / 12) / (1 - w[g == G].sum() / w.sum())) ** 2 for g in range(12)]
    d = B.sum() / W.sum()
    v = ((B - d * W) ** 2).sum() / B.sum() ** 2
    rows = skauc._validation.ScoredRows(Y > 0, [], w, G, 1)
    assert rows.effect(u) == pytest.approx(d / max(1 - 1.5 * v, 0.25), rel=1e-11)


@pytest.mark.parametrize("sizes", [[20, 20], [60, *[1] * 20], [15, 15, 15, 15]])
def test_rows_of_few_groups_are_doubted(sizes):
    """A group that holds most of the rows is as good as alone."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y, score = RNG.integers(2, size=len(groups)), RNG.normal(size=len(groups))
    for name in ("auc", "curve", "threshold", "calibration"):
        with pytest.warns(skauc.results.UntrustedAUCWarning, match="fewer than 6"):
            CALLS[name](y, score, groups=groups)


def test_uneven_groups_of_one_class_are_covered():
    """Halving sizes, the scores of a group half the same; 95 % intervals held .86."""
    rng, held = np.random.default_rng(1), []
    sizes = np.maximum(1, np.rint(48 * 0.7 ** np.arange(20))).astype(int)
    groups = np.repeat(np.arange(20), sizes)
    for _ in range(300):
        y = (rng.permutation(20) < 10)[groups]
        score = rng.normal(size=20)[groups] + rng.normal(size=len(groups))
        score += 2 * ndtri(0.8) * y
        low, high = skauc.auc_estimate(y, score, groups=groups).confidence_interval()
        held.append(low < 0.8 < high)
    assert np.mean(held) > 0.92
    with pytest.warns(skauc.results.UntrustedAUCWarning, match="of like size"):
        skauc.compare_auc(y, score, -score, groups=groups)


def test_equal_weights_leave_the_threshold_as_it_is():
    call = points("threshold", sensitivity=0.8, at="population")
    several = [
        call(Y, SCORE, groups=np.arange(72), sample_weight=np.full(72, w))
        for w in (1, 0.1, 0.3, 1 / 7)
    ]
    for other in several[1:]:
        np.testing.assert_array_equal(several[0], other)
