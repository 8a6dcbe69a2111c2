"""Equality by value, texts, tables and pictures of the posteriors."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from values import same

from skauc import NormalInverseWishart
from skauc.results import AUCDifferencePosterior, AUCPosterior, PairwiseAUCPosterior

POSTERIOR = AUCPosterior.from_components([0.5, 2.0], 0.2, 9.0, [8.0, 12.0], [0.3, 0.7])
HEARD = replace(
    POSTERIOR,
    leave_pair_out=0.71,
    second_source=".632+",
    warnings=("few <rows>",),
    rows="training (detected)",
)
PAIRS = PairwiseAUCPosterior({("a", "b"): POSTERIOR, ("a", "c"): HEARD})
PRIOR = NormalInverseWishart(mean_pos=[0.5, -0.0], scale=np.eye(2))
values = pytest.mark.parametrize("value", [POSTERIOR, HEARD, PAIRS, PRIOR], ids=repr)


@values
def test_copies_are_equal(value):
    for other in (
        copy.copy(value),
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
    ):
        assert same(value, other)


def test_a_prior_may_be_given_by_lists_and_whole_numbers():
    whole = NormalInverseWishart(mean_pos=np.array([1, 0], dtype=np.int32))
    assert same(whole, NormalInverseWishart(mean_pos=[1.0, 0.0]))
    assert same(NormalInverseWishart(), NormalInverseWishart(scale=1))
    assert not same(NormalInverseWishart(), NormalInverseWishart(scale=[1.0, 1.0]))


def test_repr_names_what_entered():
    low, high = POSTERIOR.interval()
    text = (
        f"AUCPosterior(mean={POSTERIOR.mean():.4g}, interval95=({low:.4g}, {high:.4g})"
    )
    assert repr(POSTERIOR) == text + ")"
    assert repr(HEARD) == (
        text + ", rows='training (detected)', rows_left_out=0.71 (.632+), "
        "warnings=('few <rows>',))"
    )


def test_tables_hold_the_pairs_and_the_doubts():
    assert HEARD.to_frame().loc["AUC", ["method", "warnings"]].tolist() == [
        *(".632+", "few <rows>")
    ]
    frame = PAIRS.to_frame()
    assert list(frame.index) == ["mean of pairs", "a | b", "a | c"]
    assert frame.loc["a | c", "high"] == HEARD.interval()[1]


def test_html_holds_the_numbers_and_escapes_the_words():
    html = HEARD._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == 2
    assert f"<td>{HEARD.mean():.4g}</td>" in html
    assert "few &lt;rows&gt;" in html
    assert PAIRS._repr_html_().count("<tr>") == 4


@pytest.mark.parametrize("posterior", [POSTERIOR, PAIRS], ids=["one", "pairs"])
def test_plot_is_the_display(posterior):
    plt = pytest.importorskip("matplotlib.pyplot")
    _, ax = plt.subplots()
    display = posterior.plot(ax, name="ridge", confidence_level=0.5)
    assert type(display).__name__ == "AUCPosteriorDisplay"
    assert display.posterior is posterior
    assert display.ax_ is ax
    low, high = posterior.interval(0.5)
    text = f"ridge (AUC {posterior.mean():.2f}, {low:.2f} to {high:.2f})"
    assert display.line_.get_label() == text
    plt.close("all")


def test_a_difference_answers_too():
    pytest.importorskip("pandas")
    a, b = np.array([0.8, 0.9, 0.85]), np.array([0.7, 0.6, 0.9])
    difference = AUCDifferencePosterior(a, b, probability=0.75)
    row = difference.to_frame().loc["a - b"]
    assert row["estimate"] == pytest.approx((0.1 + 0.3 - 0.05) / 3)
    assert row["probability"] == 0.75
    assert difference.median() == pytest.approx(0.1)
    assert "<th>probability</th>" in difference._repr_html_()
