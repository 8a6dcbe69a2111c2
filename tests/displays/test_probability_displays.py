"""Calibration and decision curves, forest plots, operating points, legends."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binomtest, t
from sklearn.linear_model import LogisticRegression

import skauc
from skauc import CalibrationDisplay, DecisionCurveDisplay

I60 = np.arange(1, 61)
P60 = 0.02 + 0.96 * (I60 - 0.5) / 60
Y60 = I60 * 7 % 11 / 11 < P60**1.5
Z60 = np.random.default_rng(0).normal(size=60)


def wilson(k, n):
    return binomtest(int(k), int(n)).proportion_ci(method="wilson")


def ends_of(bars, axis):
    return np.array(bars.get_segments())[:, :, axis]


# Calibration --------------------------------------------------------------------------


def test_calibration_is_that_of_r():
    """rms 6: ``val.prob(p, y)``; ``lrm(y ~ rcs(L, quantile(L, c(.1, .5, .9))))``."""
    display = CalibrationDisplay.from_predictions(Y60, P60)
    numbers = [display.statistics[k][0] for k in ("brier_score", "slope", "intercept")]
    assert numbers == pytest.approx([0.156112, 1.31617947, -0.44986673], rel=1e-6)
    x, *curves = display.curve
    of_r = [[0.04244182, 0.37620106, 0.93102059], [0.00324357, 0.20515284, 0.60711567],
            [0.37644319, 0.58491563, 0.99158879]]  # fmt: skip
    # lines between 101 points
    drawn = [np.interp([0.1, 0.5, 0.9], x, curve) for curve in curves]
    assert np.array(drawn) == pytest.approx(np.array(of_r), abs=5e-4)
    limits = [wilson(y.sum(), 6) for y in Y60.reshape(10, 6)]
    assert np.transpose(display.groups[2:]) == pytest.approx(np.array(limits))


def brier_limits(y, p):
    """Student's t for the mean of the losses, on the logit scale."""
    loss, n = (y - p) ** 2, y.shape[-1]
    score = loss.mean(axis=-1)
    error = loss.std(axis=-1, ddof=1) / np.sqrt(n) / (score * (1 - score))
    half = t.ppf(0.975, n - 1) * error
    return score, expit(logit(score) - half), expit(logit(score) + half)


def test_interval_of_the_brier_score_covers():
    drawn = CalibrationDisplay.from_predictions(Y60, P60).statistics["brier_score"]
    assert drawn == pytest.approx(brier_limits(Y60, P60))
    rng = np.random.default_rng(0)
    for n, shift, slope in [(50, 0, 1), (50, -2, 1), (200, -2, 2), (500, -3, 1)]:
        z = rng.normal(shift, 1.3, (2000, n))
        truth, p = expit(z), expit(slope * z)
        expected = (truth * (1 - p) ** 2 + (1 - truth) * p**2).mean()
        _, low, high = brier_limits(rng.uniform(size=z.shape) < truth, p)
        assert 0.93 < np.mean((low <= expected) & (expected <= high)) < 0.97


def test_weights_are_rows_in_the_table_of_a_calibration():
    rows = np.repeat(np.arange(60), weight := 1 + I60 % 3)
    of_weights = CalibrationDisplay.from_predictions(Y60, P60, sample_weight=weight)
    of_rows = CalibrationDisplay.from_predictions(Y60[rows], P60[rows])
    one, two = of_weights.to_frame(), of_rows.to_frame()
    assert one.pop("part").tolist() == two.pop("part").tolist()
    assert one.to_numpy() == pytest.approx(two.to_numpy(), nan_ok=True)


def test_a_separating_spline_gives_way_to_a_straight_line():
    p = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    display = CalibrationDisplay.from_predictions([0, 0, 1, 0, 1, 0, 1, 1], p)
    slope, intercept = (display.statistics[k][0] for k in ("slope", "intercept"))
    line = expit(intercept + slope * logit(display.curve.x))
    assert display.curve.estimate == pytest.approx(line)


# Decision curves ----------------------------------------------------------------------


def test_net_benefit_is_that_of_dcurves():
    """``dca`` of dcurves 1.1.7 for its data ``df_binary``, to the digits it prints.

    Rows of ``cancerpredmarker`` are counted between thresholds; ``famhistory`` is 0 or
    1, for 24 of 105 events and 91 of 645 others.
    """
    levels, y = [0.35, 0.2, 0.1, 0.05, 0.0], np.repeat([True, False], [105, 645])
    p = {"marker": np.repeat(2 * levels, [57, 18, 12, 9, 9, 36, 62, 95, 127, 325])}
    p["history"] = np.repeat([1.0, 0.0, 1.0, 0.0], [24, 81, 91, 554])
    display = DecisionCurveDisplay.from_predictions(y, p, thresholds=levels[:4])
    found = {name: curve.estimate for name, curve in display.models.items()}
    assert found["marker"] == pytest.approx([0.105544, 0.087407, 0.067333, 0.050154],
                                            abs=5e-7)  # fmt: skip
    assert found["history"] == pytest.approx([0.025614, 0.018519, 0.001667, -0.033333],
                                             abs=5e-7)  # fmt: skip
    x, estimate, *limits = display.treat_all
    assert estimate == pytest.approx([0.094737, 0.044444, -0.075, -0.323077], abs=5e-7)
    # only the share h of events is uncertain: h − (1 − h) t/(1 − t)
    ends = [h - (1 - h) * x / (1 - x) for h in wilson(105, 750)]
    assert np.array(limits) == pytest.approx(np.array(ends))


@pytest.mark.parametrize("kind", ["dict", "frame"])
def test_names_of_models_travel_to_the_definition(kind):
    p = {"a": np.where(Y60, P60, 0), "b": 1 - P60}
    given = p if kind == "dict" else pytest.importorskip("pandas").DataFrame(p)
    display = DecisionCurveDisplay.from_predictions(Y60, given, thresholds=[0.2, 0.4])
    names = [*p, "treat all", "treat none"]
    table = display.to_frame().set_index(["model", "threshold"])
    assert list(table.index.unique("model")) == names
    legend = display.ax_.get_legend().get_texts()
    assert {text.get_text() for text in legend} == set(names) == set(display.line_)
    for at in (0.2, 0.4):
        odds, treated = at / (1 - at), p["b"] >= at
        benefit = np.mean(treated & Y60) - np.mean(treated & ~Y60) * odds
        assert table.loc[("b", at), "estimate"] == pytest.approx(benefit)
        # without needless treatments the shares are not correlated
        h = np.mean(p["a"] >= at)
        low = h - np.hypot(h - wilson(60 * h, 60).low, odds * wilson(0, 60).high)
        assert table.loc[("a", at), "low"] == pytest.approx(low)


# Forest plots, operating points and legends -------------------------------------------


def test_tables_are_forest_plots():
    X = np.column_stack([P60, Z60])
    table = skauc.IRLSLogisticRegression().fit(X, Y60).summary()
    ratios = table.odds_ratios()
    for drawn, estimate in ((table, table.estimate), (ratios, ratios.estimate)):
        display = drawn.plot()
        line, _, (bars,) = display.intervals_
        assert line.get_xdata().tolist() == estimate[1:].tolist()  # no intercept
        limits = np.column_stack([drawn.low, drawn.high])[1:]
        assert ends_of(bars, 0) == pytest.approx(limits)
    assert display.ax_.get_xscale() == "log"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["x0", "x1"]
    assert display.null_line_.get_xdata() == [1, 1]
    assert skauc.compare_auc(Y60, *X.T).plot().null_line_.get_xdata() == [0, 0]
    with pytest.raises(TypeError, match="no display draws a value of type HosmerLemes"):
        skauc.hosmer_lemeshow(Y60, P60).plot()


def test_operating_points_have_both_intervals():
    points = skauc.operating_points(Y60, P60, sensitivity=[0.6, 0.9])
    line, _, (x_bars, y_bars) = points.plot().points_
    drawn = 1 - points.specificity, points.sensitivity
    assert np.array(line.get_data()).tolist() == np.array(drawn).tolist()
    low, high = points.confidence_interval(name="specificity")
    assert ends_of(x_bars, 0) == pytest.approx(np.column_stack([1 - high, 1 - low]))
    limits = np.column_stack(points.confidence_interval(name="sensitivity"))
    assert ends_of(y_bars, 1) == pytest.approx(limits)


MODELS = [LogisticRegression(C=C).fit(Z60[:, None], Y60) for C in (0.01, 1.0)]


@pytest.mark.parametrize("draw", [
    lambda ax: skauc.ROCDisplay.from_predictions(Y60, Z60, ax=ax),
    lambda ax: skauc.ROCDisplay.from_predictions(Y60, P60 + Z60 / 9, ax=ax),
    lambda ax: skauc.empirical_roc(Y60, Z60).plot(ax, name="a long name"),
    lambda ax: CalibrationDisplay.from_predictions(Y60, P60, ax=ax),
    lambda ax: DecisionCurveDisplay.from_predictions(Y60, P60, ax=ax),
    lambda ax: skauc.auc_posterior(MODELS[1], Z60[:, None], Y60).plot(ax),
    lambda ax: skauc.search_posterior(MODELS, Z60[:, None], Y60).plot(ax),
])  # fmt: skip
def test_legends_cover_no_curve_in_a_column_of_a_journal(plt, draw):
    fig, ax = plt.subplots(figsize=(3.5, 3.5), layout="constrained")
    draw(ax)
    fig.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    for line in ax.lines:
        path = line.get_path().transformed(line.get_transform())
        assert not path.intersects_bbox(box, filled=False)
    assert box.x0 >= 0
    assert box.x1 <= fig.bbox.x1
