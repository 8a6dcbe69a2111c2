"""Calibration and decision curves, forest plots and operating points as pictures."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binomtest, t
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import skauc
from skauc import CalibrationDisplay, DecisionCurveDisplay, IRLSLogisticRegression

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
I60 = np.arange(1, 61)
P60 = 0.02 + 0.96 * (I60 - 0.5) / 60
Y60 = I60 * 7 % 11 / 11 < P60**1.5


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


# Calibration --------------------------------------------------------------------------


def test_calibration_is_that_of_r():
    """rms 6: ``val.prob(p, y)``; ``lrm(y ~ rcs(L, quantile(L, c(.1, .5, .9))))``."""
    display = CalibrationDisplay.from_predictions(Y60, P60, n_bins=5)
    numbers = {name: row[0] for name, row in display.statistics.items()}
    expected = {"brier_score": 0.156112, "slope": 1.31617947, "intercept": -0.44986673}
    expected["in_the_large"] = skauc.calibration_estimate(Y60, P60).in_the_large
    assert numbers == pytest.approx(expected, rel=1e-6)
    x, *curves = display.curve
    expected = [[0.04244182, 0.37620106, 0.93102059], [0.00324357, 0.20515284, 0.60711],
                [0.37644319, 0.58491563, 0.99158879]]  # fmt: skip
    # lines between 101 points
    drawn = [np.interp([0.1, 0.5, 0.9], x, curve) for curve in curves]
    assert drawn == pytest.approx(np.array(expected), abs=5e-4)
    # Wilson's limits of 12 rows each
    tests = [binomtest(int(y.sum()), 12) for y in Y60.reshape(5, 12)]
    limits = [test.proportion_ci(method="wilson") for test in tests]
    groups = [P60.reshape(5, 12).mean(axis=1), *np.transpose([
        (test.statistic, *ends) for test, ends in zip(tests, limits, strict=True)
    ])]  # fmt: skip
    assert np.array(display.groups) == pytest.approx(np.array(groups))


def brier_limits(y, p):
    """Student's t for the mean of the losses, on the logit scale."""
    loss = (y - p) ** 2
    n, score = y.shape[-1], loss.mean(axis=-1)
    error = loss.std(axis=-1, ddof=1) / np.sqrt(n) / (score * (1 - score))
    half = t.ppf(0.975, n - 1) * error
    return score, expit(logit(score) - half), expit(logit(score) + half)


def test_interval_of_the_brier_score_covers():
    drawn = CalibrationDisplay.from_predictions(Y60, P60).statistics["brier_score"]
    assert drawn == pytest.approx(brier_limits(Y60, P60))
    rng = np.random.default_rng(0)
    for n, shift, slope in [(50, 0, 1), (50, -2, 1), (200, -2, 2), (500, -3, 1)]:
        z = rng.normal(shift, 1.3, (4000, n))
        truth, p = expit(z), expit(slope * z)
        expected = (truth * (1 - p) ** 2 + (1 - truth) * p**2).mean()
        _, low, high = brier_limits(rng.uniform(size=z.shape) < truth, p)
        assert 0.93 < np.mean((low <= expected) & (expected <= high)) < 0.97


def test_weights_are_rows_and_a_table_holds_the_picture():
    weight = 1 + I60 % 3
    one = CalibrationDisplay.from_predictions(Y60, P60, sample_weight=weight).to_frame()
    rows = np.repeat(np.arange(60), weight)
    display = CalibrationDisplay.from_predictions(Y60[rows], P60[rows])
    two = display.to_frame()
    assert one["part"].tolist() == two["part"].tolist()
    numbers = ["predicted", "estimate", "low", "high"]
    assert one[numbers].to_numpy() == pytest.approx(
        two[numbers].to_numpy(), nan_ok=True
    )
    curve = two[two["part"] == "curve"]
    assert display.line_.get_ydata().tolist() == curve["estimate"].tolist()


def test_separating_splines_give_way_to_a_straight_line():
    p = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    display = CalibrationDisplay.from_predictions([0, 0, 1, 0, 1, 0, 1, 1], p)
    x, estimate, low, high = display.curve
    slope, intercept = (display.statistics[k][0] for k in ("slope", "intercept"))
    assert estimate == pytest.approx(expit(intercept + slope * logit(x)))
    assert np.all((low < estimate) & (estimate < high))


# Decision curves ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold", "above", "expected"),  # above: (events, others) of 105 and 645
    [
        (0.05, (96, 320), (0.105544, 0.025614, 0.094737)),
        (0.10, (87, 193), (0.087407, 0.018519, 0.044444)),
        (0.20, (75, 98), (0.067333, 0.001667, -0.075000)),
        (0.35, (57, 36), (0.050154, -0.033333, -0.323077)),
    ],
)
def test_net_benefit_is_that_of_dcurves(threshold, above, expected):
    """``dca`` of dcurves 1.1.7 for its data ``df_binary``, to the digits it prints.

    Counts of the rows of ``cancerpredmarker`` at or above the threshold, and of the
    binary ``famhistory``, stand for the data.
    """
    y = np.repeat([True, False], [105, 645])
    k = np.arange(750)
    p = {"marker": np.where(k < 105, k < above[0], k - 105 < above[1]) * threshold}
    p["history"] = np.where(k < 105, k < 24, k - 105 < 91).astype(float)
    display = DecisionCurveDisplay.from_predictions(y, p, thresholds=threshold)
    curves = *display.models.values(), display.treat_all
    found = [float(curve.estimate[0]) for curve in curves]
    assert found == pytest.approx(expected, abs=5e-7)
    # all treated: the share h alone is uncertain, h − (1 − h) t/(1 − t)
    ends = binomtest(105, 750).proportion_ci(method="wilson")
    limits = [h - (1 - h) * threshold / (1 - threshold) for h in ends]
    assert [display.treat_all.low[0], display.treat_all.high[0]] == pytest.approx(
        limits
    )


def wilson(k, n, z=1.959963984540054):
    centre, reach = k + z**2 / 2, z * np.sqrt(k * (n - k) / n + z**2 / 4)
    return (centre - reach) / (n + z**2), (centre + reach) / (n + z**2)


def benefit_limits(hits, alarms, n, odds):
    """Zou & Donner's limits of ``a − b`` with the correlation of two shares."""
    h, f = hits / n, alarms / n
    (low_h, high_h), (low_f, high_f) = wilson(hits, n), wilson(alarms, n)
    rho = -np.sqrt(h * f / np.maximum((1 - h) * (1 - f), 1e-300))
    down, up = h - low_h, odds * (high_f - f)
    low = h - odds * f - np.sqrt(down**2 + up**2 - 2 * rho * down * up)
    down, up = high_h - h, odds * (f - low_f)
    return low, h - odds * f + np.sqrt(down**2 + up**2 - 2 * rho * down * up)


def test_bands_of_net_benefit_cover_where_few_are_treated():
    at = np.array([0.2, 0.5, 0.8])
    drawn = DecisionCurveDisplay.from_predictions(Y60, P60, thresholds=at).models
    counts = [[(P60[rows] >= t).sum() for t in at] for rows in (Y60, ~Y60)]
    expected = benefit_limits(*np.array(counts), 60, at / (1 - at))
    assert np.array(drawn["model"][2:]) == pytest.approx(np.array(expected))
    rng = np.random.default_rng(0)
    for n, h, f, t in [
        (50, 0.1, 0.3, 0.2),
        (100, 0.01, 0.01, 0.5),
        (200, 0.02, 0, 0.8),
    ]:
        k = rng.multinomial(n, [h, f, 1 - h - f], 4000)
        low, high = benefit_limits(k[:, 0], k[:, 1], n, t / (1 - t))
        truth = h - f * t / (1 - t)
        assert np.mean((low <= truth) & (truth <= high)) > 0.94


def test_names_of_models_travel(frame_of):
    y, p = Y60, {"a": P60, "b": 1 - P60}
    display = DecisionCurveDisplay.from_predictions(
        y, frame_of(p), thresholds=[0.2, 0.4]
    )
    table = display.to_frame()
    names = ["a", "b", "treat all", "treat none"]
    assert list(dict.fromkeys(table["model"])) == names
    assert set(names) == set(display.line_)
    texts = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert texts == set(names)
    for name, prob in p.items():
        for at in (0.2, 0.4):  # the definition
            treated = prob >= at
            benefit = np.mean(treated & y) - np.mean(treated & ~y) * at / (1 - at)
            row = table[(table["model"] == name) & (table["threshold"] == at)]
            assert row["estimate"].item() == pytest.approx(benefit)
            assert row["low"].item() < benefit < row["high"].item()


@pytest.fixture(params=["dict", "pandas"])
def frame_of(request):
    return dict if request.param == "dict" else pytest.importorskip("pandas").DataFrame


# Forest plots, operating points and legends -------------------------------------------


def test_a_table_is_a_forest_plot():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    table = IRLSLogisticRegression().fit(X, y).summary()
    for drawn in (table, table.odds_ratios()):
        display = drawn.plot()
        values = next(iter(set(drawn._columns()) & {"coefficient", "odds_ratio"}))
        line, _, (bars,) = display.intervals_
        assert line.get_xdata().tolist() == getattr(drawn, values)[1:].tolist()
        ends = np.array(bars.get_segments())[:, :, 0]
        assert ends == pytest.approx(np.column_stack([drawn.low, drawn.high])[1:])
        texts = [text.get_text() for text in display.ax_.get_yticklabels()]
        assert texts == list(drawn.names[1:])  # no intercept
    assert display.ax_.get_xscale() == "log"
    assert display.null_line_.get_xdata() == [1, 1]
    comparison = skauc.compare_auc(y, X[:, 0], X[:, 1]).plot()
    assert comparison.null_line_.get_xdata() == [0, 0]
    with pytest.raises(TypeError, match="no display draws a value of type HosmerLemes"):
        skauc.hosmer_lemeshow(Y60, P60).plot()


def test_operating_points_lie_on_their_curve_with_both_intervals():
    points = skauc.operating_points(Y60, P60, sensitivity=[0.6, 0.9])
    display = points.plot()
    line, _, (bars_x, bars_y) = display.points_
    fpr, tpr = line.get_data()
    assert tpr.tolist() == points.sensitivity.tolist()
    corners = zip(display.roc.fpr, display.roc.tpr, strict=True)
    assert set(zip(fpr, tpr, strict=True)) <= set(corners)
    low, high = points.interval("specificity")
    ends = np.array(bars_x.get_segments())[:, :, 0]
    assert ends == pytest.approx(np.column_stack([1 - high, 1 - low]))
    low, high = points.interval("sensitivity")
    ends = np.array(bars_y.get_segments())[:, :, 1]
    assert ends == pytest.approx(np.column_stack([low, high]))


Z = np.random.default_rng(0).normal(size=60)
DRAWN = {
    "roc": lambda ax: skauc.ROCDisplay.from_predictions(Y60, Z, ax=ax),
    "good roc": lambda ax: skauc.ROCDisplay.from_predictions(Y60, P60 + Z / 9, ax=ax),
    "empirical": lambda ax: skauc.empirical_roc(Y60, Z).plot(ax, name="a long name"),
    "calibration": lambda ax: CalibrationDisplay.from_predictions(Y60, P60, ax=ax),
    "decisions": lambda ax: DecisionCurveDisplay.from_predictions(Y60, P60, ax=ax),
    "posterior": lambda ax: skauc.AUCPosteriorDisplay.from_predictions(Y60, Z, ax=ax),
    "search": lambda ax: skauc.search_posterior(
        [LogisticRegression(C=C).fit(Z[:, None], Y60) for C in (0.01, 1.0)],
        Z[:, None],
        Y60,
    ).plot(ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_legends_cover_no_curve_in_a_column_of_a_journal(name):
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(3.5, 3.5), layout="constrained")
    DRAWN[name](ax)
    fig.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    for line in ax.lines:
        path = line.get_path().transformed(line.get_transform())
        assert not path.intersects_bbox(box, filled=False), line.get_label()
    assert box.x0 >= 0
    assert box.x1 <= fig.bbox.x1
