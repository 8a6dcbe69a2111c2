"""The pictures: what they draw, against the numbers they stand for."""

import re

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, roc_auc_score, roc_curve
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import skauc
from skauc import AUCPosteriorDisplay, GaussianAUCClassifier, ROCDisplay, auc_posterior
from skauc.results import BinormalROC


@pytest.fixture
def fitted():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], np.array(["versicolor", "virginica"])[y[50:] - 1]
    return make_pipeline(StandardScaler(), GaussianAUCClassifier()).fit(X, y), X, y


# Oracle -------------------------------------------------------------------------------


def test_curve_band_and_interval_are_the_numbers(fitted):
    model, X, y = fitted
    score = model.decision_function(X)
    display = ROCDisplay.from_estimator(model, X, y, confidence_level=0.9)
    x, tpr = display.line_.get_data()
    area = np.sum(np.diff(x) * (tpr[1:] + tpr[:-1]) / 2)
    assert area == pytest.approx(roc_auc_score(y, score))
    (band,) = display.band
    assert band.low.tolist() == skauc.empirical_roc(y, score).band(0.9).low.tolist()
    assert band.low[-1] == 1
    limits = skauc.auc_estimate(y, score).confidence_interval(0.9)
    assert display.auc_interval == limits
    text = "{:.2f} to {:.2f}".format(*limits)
    assert display.line_.get_label() == f"Pipeline (AUC {area:.2f}, {text})"


def test_posterior_display_draws_density_mean_and_interval(fitted):
    model, X, y = fitted
    posterior = auc_posterior(model, X, y)
    display = AUCPosteriorDisplay.from_estimator(model, X, y, confidence_level=0.8)
    x, density = display.line_.get_data()
    area = np.sum(np.diff(x) * (density[1:] + density[:-1]) / 2)
    assert area == pytest.approx(1, abs=1e-3)
    assert display.mean_line_.get_xdata()[0] == posterior.mean()
    shaded = display.interval_.get_paths()[0].vertices[:, 0]
    low, high = posterior.interval(0.8)
    step = np.diff(x).max()
    assert shaded.min() == pytest.approx(low, abs=step)
    assert shaded.max() == pytest.approx(high, abs=step)


# Law and edge -------------------------------------------------------------------------


def test_positive_label_flips_the_curve(fitted):
    model, X, y = fitted
    one = ROCDisplay.from_estimator(model, X, y, pos_label="virginica")
    other = ROCDisplay.from_estimator(model, X, y, pos_label="versicolor")
    assert other.roc.auc == pytest.approx(one.roc.auc)
    assert "positive label: versicolor" in other.ax_.get_xlabel()
    flipped = ROCDisplay.from_predictions(
        y, model.decision_function(X), pos_label="versicolor"
    )
    assert flipped.roc.auc == pytest.approx(1 - one.roc.auc)


def test_displays_share_axes_in_different_colours(plt, fitted):
    model, X, y = fitted
    fig, ax = plt.subplots()
    first = ROCDisplay.from_estimator(model, X, y, ax=ax, band=None)
    second = ROCDisplay(model[-1].roc_, name="trained").plot(ax)
    assert first.ax_ is second.ax_ is ax
    assert second.figure_ is fig
    assert first.line_.get_color() != second.line_.get_color()
    assert first.band_ is None


def test_options_are_passed_on():
    display = ROCDisplay(BinormalROC(0, 1, 1, 2), name="model")
    display.plot(curve_kwargs={"color": "black"}, plot_chance_level=True)
    assert display.line_.get_color() == "black"
    assert display.line_.get_label().startswith("model (")
    assert display.chance_level_.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert display.plot().chance_level_ is None


def test_scores_without_spread_have_no_posterior():
    with pytest.raises(ValueError, match=r"different scores .* 2 rows with scatter 0"):
        AUCPosteriorDisplay.from_predictions([0, 0, 1, 1], [0.0, 0.0, 1.0, 2.0])


def test_posterior_of_scores_is_that_of_drawn_moments():
    """Reference prior ∝ 1/(σ₀² σ₁²): SS/σ² is χ² with n_c − 1 degrees of freedom."""
    rng, m = np.random.default_rng(2), 400_000
    neg, pos = rng.normal(size=6), rng.normal(size=9) + 1
    display = AUCPosteriorDisplay.from_predictions(
        np.repeat([0, 1], [6, 9]), np.concatenate([neg, pos])
    )
    variance = [((x - x.mean()) ** 2).sum() / rng.chisquare(len(x) - 1, m)
                for x in (neg, pos)]  # fmt: skip
    mu = [x.mean() + np.sqrt(v / len(x)) * rng.standard_normal(m)
          for x, v in zip((neg, pos), variance, strict=True)]  # fmt: skip
    aucs = norm.cdf((mu[1] - mu[0]) / np.sqrt(sum(variance)))
    limits = display.posterior.interval(0.9)
    assert limits == pytest.approx(np.quantile(aucs, [0.05, 0.95]), abs=2e-3)


def test_errors(fitted):
    model, X, y = fitted
    iris = load_iris()
    many = RandomForestClassifier(2).fit(iris.data, iris.target)
    with pytest.raises(ValueError, match=r"must separate two classes .*got 3"):
        ROCDisplay.from_estimator(many, iris.data, iris.target)
    with pytest.raises(ValueError, match=r"must have predict_proba, got LinearSVC\(\)"):
        skauc.CalibrationDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"response_method must be one of .* got 'x'"):
        ROCDisplay.from_estimator(model, X, y, response_method="x")
    with pytest.raises(ValueError, match=r"pos_label must be one of .* got 'setosa'"):
        ROCDisplay.from_estimator(model, X, y, pos_label="setosa")
    with pytest.raises(
        ValueError, match=r"confidence_level must lie in \(0, 1\), got 1"
    ):
        ROCDisplay.from_estimator(model, X, y, confidence_level=1)


# Short ways ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The rows are those of fewer than 6 groups")
def test_an_estimate_plots_its_scores(plt):
    y, score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, np.inf]
    _, ax = plt.subplots()
    weight = [1, 2, 1, 1, 1, 1, 3, 1]
    drawn = skauc.auc_estimate(y, score, sample_weight=weight).plot(ax, name="w")
    assert drawn.ax_ is ax
    expected = skauc.empirical_roc(y, score, sample_weight=weight)
    assert drawn.line_.get_ydata().tolist() == expected.tpr.tolist()
    groups = {"groups": [0, 0, 1, 1, 2, 2, 3, 3]}
    grouped = skauc.auc_estimate(y, score, **groups)
    drawn = grouped.plot(confidence_level=0.9)
    band = skauc.empirical_roc(y, score, **groups).band(0.9)
    assert drawn.band[0].low.tolist() == band.low.tolist()
    assert drawn.auc_interval == grouped.confidence_interval(0.9)


# Empirical curves ---------------------------------------------------------------------


def test_a_narrow_figure_holds_its_titles_and_legend(plt):
    """At the width of a column titles have two lines; legends cover no interval."""
    rng = np.random.default_rng(0)
    label = np.repeat(["benign", "malignant"], 30)
    X = rng.normal(size=(60, 3)) + (label == "malignant")[:, None]
    models = [LogisticRegression(C=C).fit(X, label) for C in (1e-2, 1.0, 100.0)]
    for result in (
        skauc.compare_auc(label, {"radius": X[:, 0], "perimeter": X[:, 1]}),
        skauc.search_posterior(models, X, label),
        skauc.auc_estimate(label, X[:, 0]),
    ):
        figure, ax = plt.subplots(figsize=(3.5, 3), layout="constrained")
        result.plot(ax)
        figure.draw_without_rendering()
        title, legend = ax.xaxis.label.get_window_extent(), ax.get_legend()
        assert 0 <= title.x0 < title.x1 <= figure.bbox.x1
        box = title if legend is None else legend.get_window_extent()
        assert legend is None or not box.overlaps(title)
        paths = [(line.get_path(), line) for line in ax.lines]
        paths += [
            (path, bars) for bars in ax.collections[1:] for path in bars.get_paths()
        ]
        drawn = [path.transformed(artist.get_transform()) for path, artist in paths]
        assert not any(path.intersects_bbox(box) for path in drawn)


def test_an_empirical_curve_is_drawn_with_its_bands():
    y, score = np.repeat([0, 1], 20), np.random.default_rng(0).normal(size=40)
    roc = skauc.empirical_roc(y, score)
    display = roc.plot(band=["pointwise", "simultaneous"], confidence_level=0.9)
    assert display.line_.get_xdata().tolist() == roc.fpr.tolist()
    assert display.line_.get_ydata().tolist() == roc.tpr.tolist()
    texts = [band.get_label() for band in display.band_]
    assert texts == ["90% pointwise band", "90% simultaneous band"]
    band = roc.band(0.9)
    drawn = display.band_[0].get_paths()[0].vertices[:, 1]
    assert set(band.low.round(12)) <= set(drawn.round(12))
    assert roc.plot(band=None, name="marker").band_ is None


@pytest.fixture
def folds():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], np.array(["a", "b"])[y[50:] - 1]
    keep = {"return_estimator": True, "return_indices": True}
    return cross_validate(LogisticRegression(), X, y, cv=4, **keep), X, y


def test_folds_are_scikit_learns_and_their_average(folds):
    cv_results, X, y = folds
    display = ROCDisplay.from_cv_results(cv_results, X, y, name="iris")
    tests, models = cv_results["indices"]["test"], cv_results["estimator"]
    curves = [
        roc_curve(y[rows], model.decision_function(X[rows]), pos_label="b")[:2]
        for rows, model in zip(tests, models, strict=True)
    ]
    for line, (fpr, tpr) in zip(display.line_, curves, strict=True):
        assert line.get_xdata() == pytest.approx(fpr)
        assert line.get_ydata() == pytest.approx(tpr)
    areas = [auc(*curve) for curve in curves]
    mean, spread = np.mean(areas), np.std(areas, ddof=1)
    text = f"iris (average of folds, AUC {mean:.2f} ± {spread:.2f})"
    assert display.average_line_.get_label() == text
    x, mean = display.average_line_.get_data()
    inner = (x > 0.001) & (x < 0.999)
    expected = np.mean([np.interp(x, *curve) for curve in curves], axis=0)
    assert mean[inner] == pytest.approx(expected[inner], abs=1e-9)
    assert mean[0] == 0
    spread = display.band_.get_paths()[0].vertices[:, 1]
    assert spread.min() >= 0
    assert spread.max() <= 1
    assert display.plot(plot_folds=False).line_ == []


def test_curves_in_a_tuple_and_none():
    roc = skauc.empirical_roc([0, 1, 0, 1], [1, 2, 3, 4])
    assert len(ROCDisplay((roc, roc)).plot().line_) == 2
    with pytest.raises(ValueError, match="roc must hold at least one curve"):
        ROCDisplay([]).plot()


def test_errors_of_folds(folds):
    cv_results, X, y = folds
    rule = "cv_results must be .* with return_estimator=True and return_indices=True"
    both = "['estimator', 'indices']"
    for given, got in [({}, both), ({"estimator": []}, "['indices']"), (1, both)]:
        with pytest.raises(ValueError, match=f"{rule}, but it lacks {re.escape(got)}"):
            ROCDisplay.from_cv_results(given, X, y)
    for rows, of_y in ((99, 100), (50, 50)):
        text = f"the row number 99, got {rows} and {of_y} rows"
        with pytest.raises(ValueError, match=text):
            ROCDisplay.from_cv_results(cv_results, X[:rows], y[:of_y])
