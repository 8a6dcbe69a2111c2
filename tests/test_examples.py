"""Every example runs, offline, draws its figure and prints what its text says."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


def numbers(out, start):
    """Numbers behind ``start`` in each line that begins with it."""
    behind = [
        line.split(start, 1)[1]
        for line in out.splitlines()
        if line.lstrip().startswith(start)
    ]
    assert behind, f"no line begins with {start!r}"
    number = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
    return [[float(x) for x in number.findall(text)] for text in behind]


def one_fit_each_and_the_interval_holds_the_truth(out):
    for ours, folds in zip(
        numbers(out, "Bayesian AUC, 1 fit"), numbers(out, "5-fold CV"), strict=True
    ):
        _, _, low, high, truth, fits, _ = ours
        assert folds[-2] == 5 * fits
        assert low < truth < high


def paper_takes_noise_for_signal(out):
    ((truth, paper, _, adaptive, *_),) = numbers(out, "pure noise")
    assert truth == pytest.approx(0.5, abs=0.01)
    assert paper > 0.9
    assert adaptive < 0.65


def ahead_on_normal_classes_behind_on_breast_cancer(out):
    for problem, sign in (("normal, unequal covariances", 1), ("breast cancer", -1)):
        row, (ahead, behind, sizes) = numbers(out, problem)
        gains, errors = row[::2], row[1::2]
        assert len(gains) == sizes
        assert all(
            sign * gain > error for gain, error in zip(gains, errors, strict=True)
        )
        assert sign * (ahead - behind) >= sizes - 1


def rows_left_out_are_nearer_than_the_formula(out):
    for size in (40, 60, 100, 200, 400):
        ((formula, bayesian, left_out, truth, inside, _),) = numbers(out, f"{size} ")
        assert abs(left_out - truth) < abs(formula - truth)
        assert abs(bayesian - truth) < abs(formula - truth)
        assert inside > 10


def verdicts_on_both_sides_of_the_level(out):
    ((_, least, largest),) = numbers(out, "Two Monte Carlo errors about")
    table = re.findall(r"(\S.*?) +\[.*?\] +([\d.]+) +\S+ +([\d.]+) +\S+ +(.*)", out)
    assert len(table) == 11
    for _, *covered, verdict in table:
        low, high = sorted(map(float, covered))
        wide = "conservative" if high > largest else "near the level"
        assert verdict == ("too narrow" if low < least else wide)
    verdict = {name: word for name, *_, word in table}
    assert verdict["Hanley-McNeil score"] == "near the level"
    assert verdict["Cortes-Mohri"] == verdict["maximal variance"] == "conservative"
    assert verdict["binormal"] == "too narrow"
    assert "misses the AUC of 0.90" in out


def both_answers_agree_whatever_the_prior(out):
    assert re.findall(r"Both say: (.*)\.", out) == ["yes", "not sure"]
    prior = "Published priors with a quarter of the variance, or with four times, move"
    assert [moved < 0.05 for (moved,) in numbers(out, prior)] == [True, True]


def separation_is_named_where_it_is(out):
    setosa, other = out.split("setosa against versicolor")[1].split(
        "versicolor against"
    )
    assert "complete separation" in setosa
    assert "complete separation" not in other
    for part in (setosa, other):
        (peer,) = (x for x in part.splitlines() if x.startswith("  scikit-learn"))
        assert peer.endswith("nothing to warn of")


def merged_is_streamed(out):
    ((gap,),) = numbers(out, "merged scatter against the streamed one")
    assert gap < 1e-12
    ((auc, _),) = numbers(out, "1,000,000")
    ((low, high),) = numbers(out, "95 % interval of the last one")
    assert low < auc < high


def naive_makes_a_triumph_of_noise(out):
    ours = re.findall(r"all k, .error. +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", out)
    noise, genes = ([float(x) for x in errors] for errors in ours)
    folds, naive, one_fit, refits = noise
    assert naive > 0.15
    assert max(folds, one_fit, refits) < naive / 2
    assert max(genes) == genes[1]
    inside = re.findall(r"truth inside (\d+) of (\d+)", out)
    assert all(int(k) >= 0.9 * int(n) for k, n in inside)


def what_is_said_holds_on_the_other_patients(out):
    chosen, other = numbers(out, "AUC ")[-2:]
    mean, low, high, taken = chosen
    assert low < other[0] < high
    assert 0 <= taken < mean - low
    ((expected, lost),) = numbers(out, "AUC lost:")
    assert abs(expected - lost) < 0.03
    ((_, simple),) = numbers(out, "one-SD rule: C =")
    assert simple > other[0] - 0.02


def threshold_is_uncertain_and_said_to_be(out):
    for name in ("AUC ", "threshold, 90 % found", "specificity, 90 % found"):
        ((_, low, high, other),) = numbers(out, name)
        assert low < other < high
    ((estimated, known),) = numbers(out, "threshold estimated:")
    assert known < 0.7 < 0.9 < estimated
    ((finds, share),) = numbers(out, "the lower limit of the threshold finds")
    assert finds == 90
    assert share >= 0.95
    lucky, safe = numbers(out, "power ")
    assert lucky[0] < 0.5 < 0.9 < safe[0]


def a_cluster_says_the_same(out):
    here, there = out.split("two processes\n", 1)
    if "Dask is not installed" in out:
        return
    for name in ("rows", "Gaussian AUC", "LDA"):
        assert numbers(here, name) == numbers(there, name)
    ((gap,),) = numbers(out, "largest relative difference of a coefficient")
    assert gap < 1e-8
    ((rows, sent),) = numbers(there.replace(",", ""), "of")
    assert sent < rows / 100


FACTS = {
    "plot_1_select_without_folds": one_fit_each_and_the_interval_holds_the_truth,
    "plot_2_what_the_posterior_believes": paper_takes_noise_for_signal,
    "plot_3_gaussian_auc_or_logistic": ahead_on_normal_classes_behind_on_breast_cancer,
    "plot_4_roc_of_lda": rows_left_out_are_nearer_than_the_formula,
    "plot_5_intervals_compared": verdicts_on_both_sides_of_the_level,
    "plot_6_compare_two_models": both_answers_agree_whatever_the_prior,
    "plot_7_irls_and_separation": separation_is_named_where_it_is,
    "plot_8_large_data_streamed": merged_is_streamed,
    "plot_9_selection_inside_the_pipeline": naive_makes_a_triumph_of_noise,
    "plot_10_what_a_search_knows": what_is_said_holds_on_the_other_patients,
    "plot_11_from_a_marker_to_a_decision": threshold_is_uncertain_and_said_to_be,
    "plot_12_more_rows_than_one_machine": a_cluster_says_the_same,
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    FACTS[path.stem](capsys.readouterr().out)
    assert [file.name for file in tmp_path.iterdir()] == [f"{path.stem}.png"]


def test_every_example_states_a_fact():
    assert set(FACTS) == {path.stem for path in EXAMPLES}
