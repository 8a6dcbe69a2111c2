"""empirical_roc: scikit-learn's corners, the hull, bands against their definitions."""

import numpy as np
import pytest
from sklearn.metrics import auc, roc_auc_score, roc_curve

from skauc import auc_estimate, empirical_roc


def rows(n_neg=40, n_pos=30, shift=1.0, seed=0, digits=1):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_neg, n_pos])
    return y, rng.normal(y * shift, 1).round(digits)


# ------------------------------------------------------------------ scikit-learn


@pytest.mark.parametrize("weighted", [True, False])
def test_corners_are_scikit_learns(weighted):
    y, score = rows()
    weight = np.random.default_rng(1).integers(0, 4, len(y)) if weighted else None
    roc = empirical_roc(y, score, sample_weight=weight)
    keep = slice(None) if weight is None else weight > 0
    got = roc_curve(
        y[keep], score[keep], sample_weight=None if weight is None else weight[keep]
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
    assert repr(roc) == (
        "EmpiricalROC(auc=0.875, thresholds=4, n_neg=2, n_pos=2, pos_label='ill')"
    )


# ------------------------------------------------------------------------ points


def test_rates_on_the_curve_and_its_best_point():
    y, score = rows()
    roc = empirical_roc(y, score)
    at = np.linspace(0.01, 0.99, 37)
    assert roc.roc(at) == pytest.approx(np.interp(at, roc.fpr, roc.tpr), abs=1e-12)
    best = roc.youden()
    assert best.j == np.max(roc.tpr - roc.fpr)
    assert best.tpr == np.mean(score[y == 1] >= best.threshold)
    assert list(roc.to_frame()) == ["threshold", "fpr", "tpr", "pos_label"]


# ------------------------------------------------------------------------- bands


def slow_draws(y, score, at, n_resamples, seed):
    """Lower and upper curves of the Bayesian bootstrap, row by row, by definition."""
    rng = np.random.default_rng(seed)
    low, high = np.empty((2, n_resamples, len(at)))
    order = np.argsort(-score)
    s, positive = score[order], y[order] == 1
    for draw in range(n_resamples):
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


def test_simultaneous_band_holds_its_share_of_new_draws():
    y, score = rows(25, 20, digits=2)
    band = empirical_roc(y, score).band(0.9, "simultaneous", n_resamples=8000)
    low, high = slow_draws(y, score, np.clip(band.fpr, 1e-9, 1 - 1e-9), 1500, seed=6)
    inside = (low[:, :-1] >= band.low[:-1] - 1e-9).all(axis=1)
    inside &= (high <= band.high + 1e-9).all(axis=1)
    assert inside.mean() == pytest.approx(0.9, abs=0.03)  # known to .01, quantiles too


@pytest.mark.parametrize("method", ["pointwise", "simultaneous"])
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
    assert list(wide.to_frame()) == ["fpr", "estimate", "low", "high", "pos_label"]


def test_weights_are_counts():
    y, score = rows()
    weight = np.arange(70) % 3 + 1
    b = empirical_roc(np.repeat(y, weight), np.repeat(score, weight))
    a = empirical_roc(y, score, sample_weight=weight).band(fpr=[0.3])
    assert a.low == pytest.approx(b.band(fpr=[0.3]).low, abs=1e-12)


# ------------------------------------------------------------------- error texts


def test_errors():
    roc = empirical_roc([0, 0, 1, 1], [1, 3, 2, 4])
    for call, text in [
        (lambda: roc.band(fpr=[2]), r"fpr must lie in \[0, 1\], got 2.0"),
        (
            lambda: roc.band(n_resamples=3),
            "n_resamples must be a whole number from 20 .* got 3",
        ),
        (lambda: roc.band(random_state="a"), "random_state must be None, .* got 'a'"),
        (lambda: roc.roc(1.5), r"fpr must lie in \[0, 1\], got 1.5"),
        (lambda: empirical_roc([0, 1, 2], [1, 2, 3]), "must hold two classes, got 3"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


@pytest.mark.parametrize("lowest", [0, 1])
@pytest.mark.parametrize("method", ["pointwise", "simultaneous"])
def test_bands_end_where_all_rows_are_called(method, lowest):
    rng = np.random.default_rng(0)
    y = np.append(np.arange(40) % 2, lowest)
    band = empirical_roc(y, np.append(rng.normal(size=40) + y[:-1], -9.0)).band(
        0.9, method, fpr=[0.5, 1.0]
    )
    assert (band.low[1], band.high[1]) == (1, 1)
