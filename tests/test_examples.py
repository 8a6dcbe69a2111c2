"""Every example runs offline, draws its picture and prints what its text claims."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def numbers(out, start):
    """Return the numbers behind ``start`` in each line that begins with it."""
    lines = [line.strip() for line in out.replace(",", "").splitlines()]
    behind = [line.removeprefix(start) for line in lines if line.startswith(start)]
    assert behind, f"no line begins with {start!r}"
    return [[float(x) for x in NUMBER.findall(text)] for text in behind]


def one_fit_each_and_the_interval_contains_the_truth(out):
    for ours, folds in zip(
        numbers(out, "skauc "), numbers(out, "5-fold CV"), strict=True
    ):
        assert folds[-2] == 5 * ours[-2]
    for mean, low, high, truth in numbers(out, "reported AUC"):
        assert low < truth < high
        assert low < mean < high
    for best, loss in numbers(out, "P(best) of the chosen C:"):
        assert 0 < best <= 1
        assert 0 <= loss < 0.01


def published_prior_takes_noise_for_signal(out):
    ((truth, paper, _, adaptive, *_),) = numbers(out, "pure noise")
    assert truth == pytest.approx(0.5, abs=0.01)
    assert paper > 0.9
    assert adaptive < 0.65


def better_on_normal_classes_worse_on_breast_cancer(out):
    for problem, sign in (("normal unequal covariances", 1), ("breast cancer", -1)):
        row, (ahead, behind, sizes) = numbers(out, problem)
        gains = zip(row[::2], row[1::2], strict=True)
        assert all(sign * gain > error for gain, error in gains)
        assert sign * (ahead - behind) >= sizes - 1


def rows_left_out_are_nearer_than_the_formula(out):
    for size in (40, 60, 100, 200, 400):
        ((formula, bayesian, left_out, truth, inside, _),) = numbers(out, f"{size} ")
        assert abs(left_out - truth) < abs(formula - truth)
        assert abs(bayesian - truth) < abs(formula - truth)
        assert inside > 10


def coverage_decides_the_verdict(out):
    ((_, least, largest),) = numbers(out, "Two Monte Carlo errors about")
    table = re.findall(r"(\S.*?) +\[.*?\] +([\d.]+) +\S+ +([\d.]+) +\S+ +(.*)", out)
    assert len(table) == 6
    for _, *covered, verdict in table:
        low, high = sorted(map(float, covered))
        wide = "conservative" if high > largest else "near the level"
        assert verdict == ("too narrow" if low < least else wide)
    verdict = {name: word for name, *_, word in table}
    assert verdict["Hanley-McNeil score"] == "near the level"
    assert verdict["Cortes-Mohri"] == "conservative"
    assert verdict["DeLong (as in pROC)"] == "too narrow"


def both_answers_agree_whatever_the_prior(out):
    assert re.findall(r"Both say: (.*)\.", out) == ["yes", "not sure"]
    prior = "Published priors with a quarter of the variance or with four times move"
    assert [moved < 0.06 for (moved,) in numbers(out, prior)] == [True, True]


def separation_is_named_where_it_exists(out):
    setosa, other = out.split("setosa against versicolor")[1].split(
        "versicolor against"
    )
    assert "complete separation" in setosa
    assert "complete separation" not in other
    for part in (setosa, other):
        (peer,) = (x for x in part.splitlines() if x.startswith("  scikit-learn"))
        assert peer.endswith("no warning")


def blocks_and_processes_give_one_model(out):
    last, limits = numbers(out, "50000 rows"), numbers(out, "95 % interval")
    low, high = limits[0][-2:]
    assert low < last[0][0] < high
    ((gap,),) = numbers(out, "RowBlocks largest relative difference of a coefficient:")
    assert gap < 1e-12
    if "Dask is not installed" not in out:
        ((gap,),) = numbers(out, "Dask largest relative difference of a coefficient:")
        assert gap < 1e-8
        ((sent, size),) = re.findall(r"(\d+) bytes .* of (\d+)", out.replace(",", ""))
        assert int(sent) < int(size) / 100


def selection_outside_makes_noise_look_good(out):
    ours = re.findall(r"all k, .error. +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", out)
    noise, genes = ([float(x) for x in errors] for errors in ours)
    folds, naive, one_fit, refits = noise
    assert naive > 0.15
    assert max(folds, one_fit, refits) < naive / 2
    # one fit alone is too low here; folds and the report are nearer than the naive AUC
    assert max(genes[0], genes[3]) < genes[1]
    inside = re.findall(r"truth inside (\d+) of (\d+)", out)
    assert all(int(k) >= 0.9 * int(n) for k, n in inside)


def estimated_threshold_is_uncertain(out):
    for name in ("AUC ", "threshold 90 % found", "specificity 90 % found"):
        ((_, low, high, other),) = numbers(out, name)
        assert low < other < high
    ((_, wide_low, wide_high, _),) = numbers(out, "specificity 90 % found")
    ((_, low, high, other),) = numbers(out, "specificity this threshold")
    assert wide_low < low < other < high < wide_high
    ((population, chosen),) = numbers(out, "where 90 % are found:")
    assert min(population, chosen) > 0.9
    ((finds, share),) = numbers(out, "the lower limit of the threshold finds")
    assert finds == 90
    assert share >= 0.95
    lucky, safe = numbers(out, "power ")
    assert lucky[0] < 0.5 < 0.9 < safe[0]


def validation_agrees_with_the_development(out):
    ((auc, low, high),) = numbers(out, "AUC from the development patients:")
    ((new, new_low, new_high),) = numbers(out, "AUC in the validation patients:")
    assert low < new < high
    assert new_low < auc < new_high
    ((gain, low, _, p),) = numbers(out, "gain by smoothness:")
    assert 0 < low < gain
    assert p < 0.001
    ((_, _, high),) = numbers(out, "sensitivity in the validation patients:")
    assert high > 0.9


def weights_are_not_rows(out):
    ((effective,),) = numbers(out, "effective number of rows:")
    ((_, low, high, _, _),) = numbers(out, "raw weights")
    ((_, honest_low, honest_high, truth, _),) = numbers(out, "effective weights")
    assert effective < 1000
    assert 2 * (high - low) < honest_high - honest_low
    assert honest_low < truth < honest_high
    assert "SampleWeightWarning" in out


def subjects_are_left_out(out):
    truths = numbers(out, "AUC on 200 new subjects")
    for ignored in ("5 folds that split", "report that ignores"):
        high = numbers(out, f"{ignored} subjects")
        assert all(
            auc > truth + 0.1 for [auc], [truth] in zip(high, truths, strict=True)
        )
    for _, low, high in numbers(out, "report with groups=subject"):
        assert low < truths.pop(0)[0] < high
    assert numbers(out, "permutation test: AUC")[0][1] < 0.05


def numbers_are_those_of_proc(out):
    table = re.findall(r"^(.*\S) +([\d.]+) +([\d.]+)$", out, re.MULTILINE)
    assert len(table) == 13
    different = [call for call, theirs, ours in table if theirs != ours]
    assert [call.split("(")[0] for call in different] == [
        "coords",
        "ci.auc of 2 + 2 rows without error [1]",
        "auc",
    ]


def any_classifier_is_chosen_and_reported(out):
    ((_, folds),) = numbers(out, "five folds")
    ((_, once),) = numbers(out, "cbauc_scorer")
    assert once > folds - 0.02
    for kind in ("logistic regression", "forest", "boosting"):
        ((_, low, high, truth, _),) = numbers(out, kind)
        assert low < truth < high


def right_ranking_with_wrong_probabilities(out):
    ((pvalue,),) = numbers(out, "p of the difference:")
    assert pvalue > 0.5
    ((_, low, high),) = numbers(out, "slope of logistic:")
    ((_, _, too_extreme),) = numbers(out, "slope of naive Bayes:")
    assert too_extreme < low < 1 < high
    benefit = {k: numbers(out, f"net benefit of {k}:")[0][0] for k in BENEFITS}
    assert benefit["naive Bayes"] < min(benefit["treat all"], benefit["recalibrated"])
    assert max(benefit, key=benefit.get) == "logistic"


BENEFITS = "logistic", "naive Bayes", "recalibrated", "treat all"
FACTS = {
    "plot_1_choose_a_model": one_fit_each_and_the_interval_contains_the_truth,
    "plot_2_two_priors_on_noise": published_prior_takes_noise_for_signal,
    "plot_3_gaussian_auc_or_logistic": better_on_normal_classes_worse_on_breast_cancer,
    "plot_4_roc_of_lda": rows_left_out_are_nearer_than_the_formula,
    "plot_5_intervals_compared": coverage_decides_the_verdict,
    "plot_6_compare_two_models": both_answers_agree_whatever_the_prior,
    "plot_7_irls_and_separation": separation_is_named_where_it_exists,
    "plot_8_more_rows_than_memory": blocks_and_processes_give_one_model,
    "plot_9_selection_inside_the_pipeline": selection_outside_makes_noise_look_good,
    "plot_10_from_a_marker_to_a_decision": estimated_threshold_is_uncertain,
    "plot_11_clinical_study": validation_agrees_with_the_development,
    "plot_12_credit_scoring": weights_are_not_rows,
    "plot_13_from_proc": numbers_are_those_of_proc,
    "plot_16_forest_boosting_or_regression": any_classifier_is_chosen_and_reported,
    "plot_14_from_probabilities_to_decisions": right_ranking_with_wrong_probabilities,
    "plot_15_subjects_with_several_rows": subjects_are_left_out,
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The AUC is .* by the model of the data set")
@pytest.mark.filterwarnings("ignore:No closed form holds for a classifier neither")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_prints_its_claim(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    FACTS[path.stem](capsys.readouterr().out)
    assert [file.name for file in tmp_path.iterdir()] == [f"{path.stem}.png"]


def test_every_example_has_a_claim():
    assert set(FACTS) == {path.stem for path in EXAMPLES}
