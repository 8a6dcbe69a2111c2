"""One rule of names for all calls and results: tables of results and of signatures."""

import copy
import inspect
import pickle
from functools import cache
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from values import same

import skauc

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 3)) + Y[:, None] * [1.0, 0.6, 0.4]
A, B, C = X.T
THREE = RNG.integers(3, size=60)
MODELS = {"ridge": LogisticRegression(), "Bayes": GaussianNB()}
FITTED = [LogisticRegression(C=c).fit(X, Y) for c in (1.0, 0.01)]
HOLD = {  # results that hold one AUC: their tables are one table
    "auc_estimate": lambda: skauc.auc_estimate(Y, A),
    "clusters": lambda: skauc.auc_estimate(Y, A, groups=np.arange(60) // 3),
    "auc_posterior": lambda: skauc.auc_posterior(FITTED[0], X, Y),
    "bootstrap_auc": lambda: skauc.bootstrap_auc(FITTED[0], X, Y, n_resamples=20),
    "cross_val_auc": lambda: skauc.cross_val_auc(FITTED[0], X, Y),
}
RESULTS = HOLD | {
    "partial": lambda: skauc.auc_estimate(Y, A).partial_auc(fpr=(0, 0.2)),
    "hand_till": lambda: skauc.hand_till_auc(THREE, X),
    "one_vs_rest": lambda: skauc.one_vs_rest_auc(THREE, X),
    "comparison": lambda: skauc.compare_auc(Y, A, B),
    "constant": lambda: skauc.compare_auc(Y, A, null=0.6),
    "comparisons": lambda: skauc.compare_auc(Y, A, B, C),
    "folds": lambda: skauc.compare_cross_val_auc(MODELS, X, Y),
    "points": lambda: skauc.operating_points(Y, A, sensitivity=[0.7, 0.9]),
    "best": lambda: skauc.operating_points(Y, A, best="youden"),
    "rates": lambda: points(A).compare(points(B), n_resamples=50),
    "difference": lambda: skauc.auc_difference_posterior(*FITTED, X, Y),
    "search": lambda: skauc.search_posterior(FITTED, X, Y, n_resamples=50),
    "candidates": lambda: answer("search").auc,
    "calibration": lambda: skauc.calibration_estimate(Y, 1 / (1 + np.exp(-A))),
}
LIMITS = ["estimate", "low", "high"]
ELSEWHERE = "comparisons", "search"  # limits of pairs, and of candidates


def points(score):
    return skauc.operating_points(Y, score, specificity=0.8)


@cache
def answer(name):
    return RESULTS[name]()


@cache
def table(name, level=0.9):
    return answer(name).to_frame(level)


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_tables_texts_and_copies(name):
    result, wide, narrow = answer(name), table(name), table(name, 0.5)
    (value, low, high), (_, below, above) = (t[LIMITS].T.values for t in (wide, narrow))
    if name != "best":  # limits on new rows, where rates are lower than of these rows
        assert ((low <= below) & (below <= value) & (value <= above)).all()
        assert (above <= high).all()
    lines = result.summary(0.9).splitlines()
    for line, (row, found) in zip(lines, wide[LIMITS].iterrows(), strict=True):
        text = "{:z.2f} ({:z.2f} to {:z.2f})".format(*found)
        row = row if name != "points" else line.partition(":")[0]
        assert line == (text if len(lines) == 1 else f"{row}: {text}")
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert same(result, other)
    assert result._repr_html_().count("<tr>") <= 21
    assert len(repr(result)) < 2000


@pytest.mark.parametrize("name", [n for n in RESULTS if n not in ELSEWHERE])
def test_limits_and_errors_have_one_name(name):
    result, frame = answer(name), table(name)
    posterior = hasattr(result, "interval")
    assert posterior != hasattr(result, "confidence_interval")
    if name not in ("points", "best", "calibration"):  # a value by its name
        found = (result.interval if posterior else result.confidence_interval)(0.9)
        for end in ("low", "high"):
            assert np.ravel(getattr(found, end)) == pytest.approx(frame[end].to_numpy())
    error = getattr(result, "standard_error", None)
    if callable(error):
        assert "method" in inspect.signature(error).parameters
    elif error is not None:
        assert np.ravel(error) == pytest.approx(frame["standard_error"].to_numpy())


def test_tables_of_one_auc_join():
    joined = pd.concat({name: table(name) for name in HOLD})
    columns = "estimate", "standard_error", "low", "high", "method", "warnings"
    assert list(joined) == [*columns, "pos_label"]
    assert not joined.drop(columns="warnings").isna().any(axis=None)
    for name in HOLD:
        auc = joined.loc[(name, "AUC"), LIMITS].astype(float)
        assert answer(name).gini(0.9) == pytest.approx((2 * auc - 1).tolist())


def test_tests_and_curves_have_texts():
    test = skauc.hosmer_lemeshow(Y, 1 / (1 + np.exp(-A)))
    shuffled = skauc.auc_permutation_test(FITTED[0], X, Y, n_resamples=9)
    pair = f"statistic={test.statistic:.4g}, df={test.df}, pvalue={test.pvalue:.4g}"
    assert test.summary() == pair
    assert f"pvalue={shuffled.pvalue:.4g}" in shuffled.summary()
    assert "mean_width=" in skauc.empirical_roc(Y, A).band().summary()
    diagnosis = skauc.diagnose(FITTED[0], X, Y)
    assert diagnosis.summary(0.9) == answer("auc_posterior").summary(0.9)


def test_long_tables_show_twenty_rows():
    every = skauc.operating_points(Y, A)
    assert len(every.to_frame()) == 9 * len(every.threshold)
    assert every._repr_html_().count("<tr>") == 22  # titles, rows, "… and 40 more"


SCORES = {"age": A, "crp": B, "sofa": C}
NAMED = {
    "dict": [SCORES],
    "pandas": [pd.DataFrame(SCORES)],
    "polars": [pl.DataFrame(SCORES)],
    "series": [pd.Series(v, name=k) for k, v in SCORES.items()],
    "polars series": [pl.Series(k, v) for k, v in SCORES.items()],
    "arrays": list(SCORES.values()),
    "one name": [pd.Series(v, name="score") for v in SCORES.values()],
}


@pytest.mark.parametrize("how", NAMED)
def test_names_of_scores_travel(how):
    result = skauc.compare_auc(Y, *NAMED[how])
    age, crp, sofa = names = SCORES if how not in ("arrays", "one name") else "abc"
    pairs = [f"{age} - {crp}", f"{age} - {sofa}", f"{crp} - {sofa}"]
    assert list(result.to_frame().index) == pairs
    assert f"AUCComparisons({age}=" in repr(result)
    assert result.names == tuple(names)
    assert same(result.auc, skauc.compare_auc(Y, A, B, C).auc)


def test_names_of_two_scores_and_of_models():
    ridge, weak = FITTED
    found = skauc.search_posterior({"ridge": ridge, -1: weak}, X, Y)
    [other] = skauc.auc_difference_posterior(ridge, {"weak": weak}, X, Y)
    for result, names in [
        (skauc.compare_auc(Y, {"age": A, "crp": B}), ["age - crp"]),
        (answer("constant"), ["a - 0.6"]),
        (answer("folds"), ["ridge - Bayes"]),
        (answer("difference"), ["a - b"]),
        (other, ["a - weak"]),
        (found.difference(1, 0), ["-1 - ridge"]),
        (found, ["ridge", -1]),
    ]:
        assert list(result.to_frame().index) == names
        assert names[0] in repr(result)
    with pytest.raises(ValueError, match="score_b must not be given beside scores by"):
        skauc.compare_auc(Y, SCORES, B)
    with pytest.raises(ValueError, match="score_a must hold a score or more by name"):
        skauc.compare_auc(Y, {})


def calls():
    """Yield the name and the signature of every public function and method."""
    for module in (skauc, skauc.results):
        for name in module.__all__:
            value = getattr(module, name)
            if module is skauc:
                yield name, inspect.signature(value)
            for member, own in inspect.getmembers(value, inspect.isfunction):
                if own.__module__[:5] == "skauc" and member[0] != "_":
                    yield f"{name}.{member}", inspect.signature(own)


def test_arguments_of_one_meaning_have_one_name_and_default():
    wrong, seen = [], 0
    for name, signature in calls():
        for place, (argument, p) in enumerate(signature.parameters.items()):
            seen += 1
            named = p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
            ok = {
                "confidence_level": p.default == 0.95,
                "n_resamples": isinstance(p.default, int),
                # draws of one posterior differ, as those of scipy's distributions do
                "random_state": p.default == 0 or name.endswith(".rvs"),
                **dict.fromkeys(("n_neg", "n_pos"), named),
                **dict.fromkeys(("n_draws", "n_boot", "constant", "level"), False),
            }.get(argument, True)
            if name.endswith(".confidence_interval") and place > 1:
                ok &= named
            wrong += [] if ok else [f"{name}({argument})"]
    assert not wrong
    assert seen > 400


def functions():
    """Yield the name and the function of every public call, method and property."""
    for module in (skauc, skauc.results):
        for name in module.__all__:
            value = getattr(module, name)
            members = (
                inspect.classify_class_attrs(value) if inspect.isclass(value) else ()
            )
            yield name, value
            for member in members:
                if member.name[0] != "_" or member.name == "__init__":
                    found = member.object
                    for inside in ("__func__", "fget", "func", "fn"):
                        found = getattr(found, inside, found)
                    yield f"{name}.{member.name}", found


def test_every_public_parameter_and_return_has_a_type():
    wrong, seen = [], 0
    for name, function in functions():
        if inspect.isfunction(function) and function.__module__[:5] == "skauc":
            types = get_type_hints(function)
            known = {*types, "self", "cls"}
            names = {*inspect.signature(function).parameters, "return"} - known
            seen, wrong = seen + len(types), wrong + [f"{name}: {n}" for n in names]
    assert not wrong
    assert seen > 600


@pytest.mark.slow
def test_a_strictly_typed_program_passes():
    """It also holds wrong calls, which mypy must find."""
    api = pytest.importorskip("mypy.api")
    options = "--strict", "--follow-imports=silent", "--ignore-missing-imports"
    program = Path(__file__).with_name("typed_program.py")
    out, _, code = api.run(
        [*options, "--config-file=", "--allow-redefinition", str(program)]
    )
    assert code == 0, out


def test_a_relative_weight_does_not_hide_the_limits():
    estimate = skauc.auc_estimate([0, 0, 1], [1, 2, 3], sample_weight=[0.5, 0.3, 0.7])
    with pytest.warns(skauc.SampleWeightWarning):
        assert np.isfinite(estimate.to_frame().loc["AUC", "low"])


def test_names_are_escaped_in_html():
    assert "a&lt;b" in skauc.compare_auc(Y, {"a<b": A, "c": B})._repr_html_()
