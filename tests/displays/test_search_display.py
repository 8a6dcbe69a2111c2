"""The picture of a search: what is drawn, against the numbers it stands for."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import ResubstitutionSplit, SearchDisplay, cbauc_scorer, search_posterior

X, Y = make_classification(60, 4, n_redundant=0, flip_y=0.3, random_state=1)
FREE = {"scoring": cbauc_scorer, "cv": ResubstitutionSplit()}
CS = [1e-3, 1e-2, 0.1, 1.0]
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
NAME, SCALING = "logisticregression__C", "logisticregression__intercept_scaling"


def searched(grid):
    return GridSearchCV(PIPE, grid, **FREE).fit(X, Y)


def test_one_numeric_parameter_is_a_line_with_a_band():
    search = searched({NAME: CS[::-1]})
    display = SearchDisplay.from_search(search, X, Y, random_state=0)
    posterior = display.posterior
    x, y = display.line_.get_data()
    assert x.tolist() == CS
    assert y == pytest.approx(posterior.auc.mean()[::-1])
    low, high = posterior.auc.interval(0.95)
    box = display.band_.get_paths()[0].get_extents()
    assert (box.ymin, box.ymax) == pytest.approx((low.min(), high.max()))
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == NAME
    k = search.best_index_
    assert display.selected_.get_xdata() == [CS[::-1][k]]
    simple = posterior.simplest(NAME)
    assert display.one_sd_.get_ydata() == [posterior.auc.mean()[simple]]
    assert display.figure_ is display.ax_.figure
    texts = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert texts[0] == "95% interval"
    # the chosen candidate, as search_posterior reports it
    low, high = posterior.selected.interval(0.95)
    auc = f"AUC {posterior.selected.mean():.2f}, {low:.2f} to {high:.2f}"
    assert texts[1] == f"chosen ({auc})\nP(best) {posterior.p_best[k]:.2f}"
    (bar,) = display.selected_interval_[2][0].get_segments()
    assert bar[:, 1] == pytest.approx([low, high])


@pytest.mark.parametrize("grid", [
    {NAME: CS, SCALING: [1.0, 2.0, 3.0]},
    [{NAME: [C], SCALING: [s]} for C, s in ((0.01, 1.0), (0.1, 3.0), (1.0, 2.0))],
])  # fmt: skip
def test_two_numeric_parameters_are_a_map_with_the_set_that_holds_the_best(grid):
    display = SearchDisplay.from_search(searched(grid), X, Y, random_state=0)
    posterior = display.posterior
    drawn = np.asarray(display.map_.get_array())
    assert drawn == pytest.approx(posterior.auc.mean())
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "linear")
    assert display.line_ is None
    places = np.asarray(display.map_.get_offsets()).tolist()
    held = np.asarray(display.credible_set_.get_offsets()).tolist()
    p_best = [posterior.p_best[places.index(place)] for place in held]
    # one candidate less would hold less than .95
    assert sum(p_best) - min(p_best) < 0.95 <= sum(p_best)
    assert min(p_best) >= np.sort(posterior.p_best)[-len(held)]


def test_categories_are_intervals():
    search = searched({"logisticregression__class_weight": [None, "balanced"]})
    display = SearchDisplay.from_search(search, X, Y, confidence_level=0.5)
    texts = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert texts == ["class_weight=None", "class_weight=balanced"]
    line, _, (bars,) = display.intervals_
    posterior = display.posterior
    mean, (low, high) = posterior.auc.mean(), posterior.auc.interval(0.5)
    k = posterior.selected_index
    mean[k] = posterior.selected.mean()
    low[k], high[k] = posterior.selected.interval(0.5)
    assert line.get_xdata() == pytest.approx(mean)
    ends = np.array(bars.get_segments())[:, :, 0]
    assert ends == pytest.approx(np.column_stack([low, high]))
    assert display.one_sd_ is None


def test_axes_of_the_caller_and_options(plt):
    _, ax = plt.subplots()
    posterior = search_posterior(searched({NAME: CS}), X, Y, random_state=0)
    assert posterior.plot(ax).ax_ is ax
    other = SearchDisplay(posterior, simplest=-np.arange(4), parameters=NAME).plot()
    assert other.ax_ is not ax
    k = posterior.simplest(-np.arange(4))
    assert other.one_sd_.get_xdata() == [CS[k]]


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([1e-3, 1e-2, 0.1], True),
        ([1, 2, 4, 8], True),
        ([1, 2, 3, 4], False),
        ([0, 1, 100], False),
        ([1, 10], False),
    ],
)
def test_log_axis_where_it_is_one(values, log):
    # no C is 0, and a seed changes nothing
    name = NAME if min(values) > 0 else "logisticregression__random_state"
    search = searched({name: values})
    display = SearchDisplay.from_search(search, X, Y, random_state=0)
    assert display.ax_.get_xscale() == ("log" if log else "linear")


def test_errors():
    posterior = search_posterior(searched({NAME: CS}), X, Y)
    with pytest.raises(ValueError, match="parameters must name one or two param"):
        SearchDisplay(posterior, parameters=["C"]).plot()
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\)"):
        posterior.plot(confidence_level=2)
