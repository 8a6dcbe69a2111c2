"""One rule of names for all calls and results: tables of results and of signatures."""

import copy
import inspect
import pickle
import re
from functools import cache

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
}
ONE_WAY = {"standard_error", "confidence_interval", "interval"}


def points(score):
    return skauc.operating_points(Y, score, specificity=0.8)


@cache
def answer(name):
    return RESULTS[name]()


@pytest.mark.parametrize("name", RESULTS)
def test_tables_have_estimates_and_limits_at_any_level(name):
    wide, narrow = (answer(name).to_frame(level) for level in (0.95, 0.5))
    assert list(wide) == list(narrow)
    assert {"estimate", "low", "high"} <= set(wide)
    if name == "best":  # limits on new rows, where the rates are less than of these
        return
    inside = wide["low"].le(narrow["low"]) & narrow["low"].le(wide["estimate"])
    assert inside.all()
    assert (wide["high"].ge(narrow["high"]) & narrow["high"].ge(wide["estimate"])).all()
    assert (answer(name).to_frame()["high"] == wide["high"]).all()


@pytest.mark.parametrize("name", RESULTS)
def test_summaries_are_texts_of_the_table(name):
    frame, lines = answer(name).to_frame(0.9), answer(name).summary(0.9).splitlines()
    assert len(lines) == len(frame)
    for text, (row, found) in zip(lines, frame.iterrows(), strict=True):
        expected = "{:.2f} ({:.2f} to {:.2f})".format(
            *found[["estimate", "low", "high"]]
        )
        assert text == (expected if len(lines) == 1 else f"{row}: {expected}")


@pytest.mark.parametrize("name", RESULTS)
def test_limits_and_errors_have_one_name(name):
    result, frame = answer(name), answer(name).to_frame(0.9)
    posterior = hasattr(result, "interval")
    assert posterior != hasattr(result, "confidence_interval") or name in (
        *("comparisons", "search"),  # the limits stand with the pairs, the candidates
    )
    if name not in ("points", "best", "comparisons", "search"):
        found = (result.interval if posterior else result.confidence_interval)(0.9)
        assert np.ravel(found.low) == pytest.approx(frame["low"].to_numpy())
        assert np.ravel(found.high) == pytest.approx(frame["high"].to_numpy())
    error = getattr(result, "standard_error", None)
    if callable(error):
        assert "method" in inspect.signature(error).parameters
    elif error is not None:
        assert np.ravel(error) == pytest.approx(frame["standard_error"].to_numpy())
    if hasattr(result, "pvalue"):
        assert np.isfinite(result.statistic).all()


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_pickled_copied_and_shown(name):
    result = answer(name)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert same(result.to_frame().to_dict(), other.to_frame().to_dict())
    html = result._repr_html_()
    assert html.count("<tr>") <= 21
    assert len(repr(result)) < 2000


def test_tables_of_one_auc_join():
    table = pd.concat({name: answer(name).to_frame() for name in HOLD})
    assert list(table) == [
        *("estimate", "standard_error", "low", "high", "method", "warnings"),
        "pos_label",
    ]
    assert not table.drop(columns="warnings").isna().any(axis=None)
    for name in HOLD:
        gini, row = answer(name).gini(0.95), table.loc[(name, "AUC")]
        assert gini == pytest.approx(
            [2 * row[k] - 1 for k in ("estimate", "low", "high")]
        )


def test_long_tables_show_twenty_rows():
    every = skauc.operating_points(Y, A)
    assert len(every.to_frame()) == 8 * len(every.threshold)
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
    assert result.names == tuple(names)
    assert f"AUCComparisons({age}=" in repr(result)
    assert same(result.auc, skauc.compare_auc(Y, A, B, C).auc)


def test_names_of_two_scores_and_of_models():
    pair = skauc.compare_auc(Y, {"age": A, "crp": B})
    assert repr(pair).startswith("AUCComparison(age - crp, difference=")
    assert list(skauc.compare_auc(Y, A, null=0.6).to_frame().index) == ["a - 0.6"]
    assert list(answer("folds").to_frame().index) == ["ridge - Bayes"]
    assert list(answer("difference").to_frame().index) == ["a - b"]
    with pytest.raises(
        ValueError, match="score_b must be None where score_a holds all"
    ):
        skauc.compare_auc(Y, SCORES, B)


def calls():
    """Yield the name and the signature of every public function and method."""
    for module in (skauc, skauc.results):
        for name in module.__all__:
            value = getattr(module, name)
            yield name, inspect.signature(value)
            for member in dir(value) if inspect.isclass(value) else ():
                own = getattr(value, member)
                if inspect.isfunction(own) and own.__module__.startswith("skauc"):
                    if member[0] != "_":
                        yield f"{name}.{member}", inspect.signature(own)


def test_arguments_of_one_meaning_have_one_name_and_default():
    wrong, seen = [], 0
    for name, signature in calls():
        for argument, p in signature.parameters.items():
            seen += 1
            other = {"n_draws", "n_boot", "constant", "level", "n_samples", "seed"}
            bad = argument in other
            bad |= argument == "n_resamples" and not isinstance(p.default, int)
            # two draws of one posterior differ, as those of scipy's distributions do
            random = argument == "random_state" and not name.endswith(".rvs")
            bad |= random and p.default != 0
            level = argument == "confidence_level" and name not in skauc.results.__all__
            bad |= level and p.default != 0.95
            keyword = argument in ("n_neg", "n_pos") and p.kind is not p.KEYWORD_ONLY
            bad |= keyword and name not in skauc.results.__all__
            first = [*signature.parameters.values()][2:]
            bad |= (
                name.split(".")[-1] in ONE_WAY
                and p in first
                and (p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD))
            )
            wrong += [f"{name}({argument})"] if bad else []
    assert not wrong
    assert seen > 500


def test_a_relative_weight_does_not_hide_the_limits():
    estimate = skauc.auc_estimate([0, 0, 1], [1, 2, 3], sample_weight=[0.5, 0.3, 0.7])
    with pytest.warns(skauc.SampleWeightWarning):
        assert np.isfinite(estimate.to_frame().loc["AUC", "low"])


def test_names_are_escaped_in_html():
    table = skauc.IRLSLogisticRegression().fit(pd.DataFrame({"a<b": B}), Y).summary()
    assert "a&lt;b" in table._repr_html_()
    assert re.search("a&lt;b", skauc.compare_auc(Y, {"a<b": A, "c": B})._repr_html_())
