"""What results answer when a person looks at them."""

import copy

import numpy as np
import pandas as pd
import pytest
from values import same

import skauc

Y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
A, B = [1, 2, 3, 4, 6, 5, 7, 8, 9, 10], [3, 1, 8, 2, 6, 4, 7, 5, 10, 9]
C = [4, 2, 9, 1, 3, 5, 7, 8, 6, 10]


def results(score=tuple(A)):
    X = np.column_stack([score, B])
    return {
        "estimate": skauc.auc_estimate(Y, score),
        "comparison": skauc.compare_auc(Y, score, B),
        "comparisons": skauc.compare_auc(Y, score, B, C),
        "averaged": skauc.hand_till_auc(Y, np.column_stack([-np.array(score), score])),
        "table": skauc.IRLSLogisticRegression().fit(X[:, 1:], Y).summary(),
    }


@pytest.mark.parametrize("name", results())
def test_results_are_made_again_and_copied(name):
    result = results()[name]
    for other in (results()[name], copy.deepcopy(result)):
        assert same(result, other)
    if name != "table":
        assert not same(result, results(tuple(reversed(A)))[name])


@pytest.mark.parametrize("name", results())
def test_frames_hold_the_numbers(name):
    result = results()[name]
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    html = result._repr_html_()
    assert html.count("<tr>") == len(frame) + 1
    if name == "comparisons":
        pairs = result.pairs
        assert list(frame.index) == ["0 - 1", "0 - 2", "1 - 2"]
        assert frame["difference"].tolist() == [pair.difference for pair in pairs]
        assert frame["high"].tolist() == [p.confidence_interval()[1] for p in pairs]
        assert frame["adjusted_pvalue"].tolist() == result.adjusted_pvalues.tolist()
    elif name == "comparison":
        low, high = result.confidence_interval()
        expected = [0.96, 0.8, result.difference, result.standard_error, low, high]
        expected += [result.statistic, result.pvalue]
        assert frame.iloc[0].tolist() == pytest.approx([*expected, result.pos_label])
    elif name in ("estimate", "averaged"):
        low, high = result.confidence_interval()
        expected = [result.auc, low, high]
        assert frame.loc[0, ["auc", "low", "high"]].tolist() == expected


def test_an_estimate_with_relative_weights_has_a_frame():
    estimate = skauc.auc_estimate([0, 0, 1], [1, 2, 3], sample_weight=[0.5, 0.3, 0.7])
    with pytest.warns(skauc.SampleWeightWarning):
        assert np.isfinite(estimate.to_frame().loc[0, "low"])


def test_reprs_answer_the_question():
    assert repr(results()["comparison"]) == (
        "AUCComparison(difference=0.16, interval95=(-0.1116, 0.4316), "
        "statistic=1.155, pvalue=0.2482, pos_label=1)"
    )
    lines = repr(results()["comparisons"]).splitlines()
    assert "statistic=1.407, df=2, pvalue=0.495" in lines[0]
    assert lines[2].split() == [
        *("0", "-", "1", "0.16", "-0.1116", "0.4316", "1.155", "0.2482", "0.7446")
    ]
    assert len({len(line) for line in lines[1:]}) == 1


def test_names_are_escaped_in_html():
    table = skauc.IRLSLogisticRegression().fit(pd.DataFrame({"a<b": B}), Y).summary()
    assert "a&lt;b" in table._repr_html_()
