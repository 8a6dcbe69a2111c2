"""Every bad argument is refused in one sentence that names it, the rule and the value.

A row of the tables is a call with one bad argument, and the words that the sentence
must contain: the name of the argument and the value it got.
"""

import re
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut
from sklearn.tree import DecisionTreeClassifier

import skauc

Y = np.array([0, 1] * 10)
SCORE = np.random.default_rng(0).normal(size=20) + Y
PROB = 1 / (1 + np.exp(-SCORE))
X = np.random.default_rng(1).normal(size=(20, 3)) + Y[:, None]
ONES, THREE = np.ones(20), np.arange(20) % 3


def changed(values, value, row=1):
    """Return a copy with another value in one row."""
    out = np.array(values, dtype=object if isinstance(value, str) else float)
    out[row] = value
    return out


@cache
def fitted():
    return LogisticRegression().fit(X, Y)


def frame(**changes):
    """Return X as a frame, with other values in row 1 of some columns."""
    columns = {"age": X[:, 0], "bmi": X[:, 1], "colour": X[:, 2]}
    changes = {name: changed(columns[name], v) for name, v in changes.items()}
    return pd.DataFrame(columns | changes)


def firth(**options):
    return skauc.IRLSLogisticRegression(penalty="firth", **options).fit(X, Y)


def refused(call, *words, error=(ValueError, TypeError), where=""):
    """Check that the call is refused with one sentence that contains the words."""
    try:
        call()
    except error as caught:
        text = str(caught)
    else:
        pytest.fail(f"{where} accepted what it must refuse")
    for word in words:
        assert re.search(rf"(?<!\w)({word})(?!\w)", text), (
            f"{word!r} is not in: {where}: {text}"
        )
    assert len(text) < 700, text  # the longest is scikit-learn's, of missing values
    assert " object at 0x" not in text


# ------------------------------------------------------------- labels, scores, weights

OF_SCORES = {
    "auc_estimate": (skauc.auc_estimate, SCORE),
    "cbauc_score": (skauc.cbauc_score, SCORE),
    "ebauc_score": (skauc.ebauc_score, SCORE),
    "binormal_roc": (skauc.binormal_roc, SCORE),
    "empirical_roc": (skauc.empirical_roc, SCORE),
    "calibration_estimate": (skauc.calibration_estimate, PROB),
    "hosmer_lemeshow": (skauc.hosmer_lemeshow, PROB),
    "compare_auc": (lambda y, s, **how: skauc.compare_auc(y, s, SCORE, **how), SCORE),
    "operating_points": (
        lambda y, s, **how: skauc.operating_points(y, s, threshold=0.5, **how),
        SCORE,
    ),
}
BAD_ROWS = {  # y_true, change of the score, options, words
    "one class": (np.zeros(20), None, {}, ["y_true", "both classes", "0"]),
    "no rows": ([], lambda s: [], {}, ["y_true|y_score|y_prob"]),
    "three classes": (np.arange(20) % 3, None, {}, ["classes", "3"]),
    "missing label": (changed(Y, np.nan), None, {}, ["y_true", "missing"]),
    "numbers for labels": (SCORE, None, {}, ["y_true", "labels"]),
    "missing score": (Y, lambda s: changed(s, np.nan), {}, ["nan", "row 1"]),
    "text for a score": (Y, lambda s: changed(s, "a"), {}, ["could not convert|a"]),
    "short score": (Y, lambda s: s[:19], {}, [r"20 rows", r"\(19,\)"]),
    "unknown pos_label": (Y, None, {"pos_label": 7}, ["pos_label", "7"]),
    "short weight": (
        Y,
        None,
        {"sample_weight": ONES[:3]},
        ["sample_weight", r"\(3,\)"],
    ),
    "negative weight": (
        Y,
        None,
        {"sample_weight": changed(ONES, -0.5)},
        ["sample_weight", "-0.5", "row 1"],
    ),
    "infinite weight": (
        Y,
        None,
        {"sample_weight": changed(ONES, np.inf)},
        ["sample_weight", "inf", "row 1"],
    ),
    "a class without weight": (
        Y,
        None,
        {"sample_weight": Y},
        ["sample_weight", "negative class"],
    ),
}


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_are_refused(bad):
    y, change, options, words = BAD_ROWS[bad]
    for name, (call, score) in OF_SCORES.items():
        score = score if change is None else change(score)
        refused(partial(call, y, score, **options), *words, where=name)
    for name, call in ON_ROWS.items():
        if "sample_weight" in options:
            refused(partial(call, fitted(), X, Y, **options), *words, where=name)


# -------------------------------------------------------------------- models and rows

ON_ROWS = {
    "auc_posterior": skauc.auc_posterior,
    "bayesian_val_score": skauc.bayesian_val_score,
    "diagnose": skauc.diagnose,
    "cbauc_scorer": skauc.cbauc_scorer,
    "ebauc_scorer": skauc.ebauc_scorer,
    "bee_scorer": skauc.bee_scorer,
    "lpo_auc_scorer": skauc.lpo_auc_scorer,
    "bootstrap_auc": skauc.bootstrap_auc,
    "auc_difference_posterior": lambda m, X, y, **how: skauc.auc_difference_posterior(
        m, fitted(), X, y, **how
    ),
}
BAD_MODELS = {  # estimator or None for a good one, X, y, words
    "missing feature": (None, changed(X, np.nan), Y, ["NaN|nan|finite"]),
    "one class": (None, X, np.zeros(20), ["class|classes"]),
    "missing label": (None, X, np.where(Y == 1, None, "no"), ["y_true|y"]),
    "short X": (None, X[:5], Y, ["20", "5"]),
    "no matrix": (None, X[:, 0], Y, ["2D|dimensions"]),
    "no estimator": ("a", X, Y, ["estimator|str|clone"]),
    "unfitted": (LogisticRegression(), X, Y, ["fitted|LogisticRegression"]),
    "text": (None, np.full((20, 3), "a"), Y, ["a|numeric"]),
}
FITS = "bayesian_val_score", "bootstrap_auc", "diagnose"


@pytest.mark.parametrize("bad", BAD_MODELS)
def test_bad_models_and_features_are_refused(bad):
    model, rows, y, words = BAD_MODELS[bad]
    model = fitted() if model is None else model
    error = (ValueError, TypeError, NotFittedError)
    for name, call in ON_ROWS.items():
        if bad == "unfitted" and name in FITS:
            continue  # fits a clone
        refused(partial(call, model, rows, y), *words, error=error, where=name)


@pytest.mark.parametrize("name", ["ebauc_scorer", "bee_scorer"])
def test_models_that_are_not_linear_are_refused_with_a_remedy(name):
    """Training rows of such a model say nothing without fits that leave rows out."""
    for model in (DecisionTreeClassifier(), QuadraticDiscriminantAnalysis()):
        call = partial(ON_ROWS[name], model.fit(X, Y), X, Y)
        refused(call, type(model).__name__, "cbauc_scorer")


# -------------------------------------------------------------------- single arguments


def estimate(**options):
    return skauc.auc_estimate(Y, SCORE).confidence_interval(**options)


def points(**options):
    return skauc.operating_points(Y, SCORE, **options)


def power(**options):
    return skauc.auc_power(**{"auc": 0.8, "n_pos": 10, "n_neg": 10, **options})


def posterior(**options):
    return skauc.auc_posterior(fitted(), X, Y, **{"rows": "training"} | options)


def band(**options):
    return skauc.empirical_roc(Y, SCORE).band(**options)


def compare(**options):
    return skauc.compare_auc(Y, SCORE, PROB[::-1], **options)


def irls(**options):
    return skauc.IRLSLogisticRegression(**options).fit(
        X[:, :1], Y[::-1] ^ (X[:, 1] > 2)
    )


def gaussian(**options):
    return skauc.GaussianAUCClassifier(**options).fit(X, Y)


def bootstrap(**options):
    return skauc.bootstrap_auc(
        LogisticRegression(), X, Y, **{"n_resamples": 3, **options}
    )


def difference(**options):
    return skauc.auc_difference_posterior(fitted(), fitted(), X, Y, **options)


def moments(**options):
    return skauc.cortes_mohri_interval(
        **{"n_pos": 5, "n_neg": 5, "n_errors": 2, **options}
    )


def of_group(groups):
    return skauc.auc_estimate(Y, SCORE, groups=groups)


ARGUMENTS = [  # call, argument, bad value, words in addition to name and value
    (estimate, "confidence_level", 1.5, [r"\(0, 1\)"]),
    (estimate, "confidence_level", "a", []),
    (estimate, "method", "wald", ["delong"]),
    (estimate, "transform", "log", ["logit"]),
    (estimate, "alternative", "both", ["two-sided"]),
    (compare, "method", "wald", ["delong"]),
    (compare, "alternative", "both", ["two-sided"]),
    (compare, "margin", -1, []),
    (compare, "fpr", (0.5, 0.1), []),
    (points, "threshold", np.nan, []),
    (points, "sensitivity", 1.5, []),
    (points, "specificity", -0.5, []),
    (points, "best", "largest", ["youden"]),
    (points, "prevalence", 0, [r"\(0, 1\)"]),
    (partial(points, best="youden"), "cost", -1, []),
    (partial(points, threshold=1), "cost", 2, ["best"]),
    (band, "confidence_level", 0, []),
    (band, "method", "wide", ["pointwise"]),
    (power, "auc", 1.2, []),
    (power, "n_pos", 0, []),
    (power, "alpha", 2, []),
    (power, "null", -1, []),
    (power, "alternative", "both", []),
    (power, "method", "wald", []),
    (posterior, "prior", "flat", ["adaptive"]),
    (posterior, "rows", "new", ["held-out"]),
    (posterior, "covariance", "separate", ["common"]),
    (partial(posterior, prior="paper"), "covariance", "full", ["common"]),
    (posterior, "pos_label", 7, []),
    (difference, "n_resamples", 0, []),
    (difference, "prior", "flat", []),
    (bootstrap, "method", ".5", [r"\.632"]),
    (bootstrap, "n_resamples", 0, []),
    (moments, "n_errors", 11, []),
    (moments, "n_pos", 0, []),
    (moments, "confidence_level", 1, []),
    (irls, "C", -1.0, []),
    (irls, "penalty", "l1", ["firth"]),
    (irls, "tol", 0.0, []),
    (irls, "max_iter", 0, []),
    (irls, "class_weight", "even", []),
    (gaussian, "shrinkage", 2.0, []),
    (gaussian, "shrinkage", "much", ["auto"]),
    (gaussian, "threshold", "best", ["youden"]),
    (gaussian, "standardize", "no", ["True or False"]),
    (skauc.AdaptivePrior, "attainable_power", -1.0, []),
    (skauc.AdaptivePrior, "refits", 1, []),
    (skauc.AdaptivePrior, "refits", True, []),
    (skauc.AdaptivePrior, "leave_pair_out", "no", ["True or False"]),
    (skauc.AdaptivePrior, "verbose", -1, []),
    (skauc.make_cv_auc_scorer, "verbose", -1, []),
    (skauc.NormalInverseWishart, "nu_neg", -1.0, []),
    (skauc.NormalInverseWishart, "scale", -1.0, []),
    (skauc.make_cbauc_scorer, "scale", "log", ["probit"]),
    (skauc.make_cbauc_scorer, "rows", "test", ["training"]),
    (skauc.make_cbauc_scorer, "prior", "flat", ["adaptive"]),
    (skauc.make_ebauc_scorer, "thresholds", "some", ["all"]),
    (lambda within: skauc.one_sd_rule("C", within=within), "within", -1, []),
    (lambda simplest: skauc.one_sd_rule("C", simplest), "simplest", "least", []),
    (of_group, "groups", ONES[:3], ["3", "20"]),
]


def case_name(value):
    return getattr(value, "__name__", str(value)[:20])


IGNORED = [  # call, an option that would have no effect there
    (partial(estimate, method="score"), {"transform": "none"}),
    (partial(estimate, method="hanley_mcneil_score"), {"transform": "logit"}),
    (estimate, {"transform": "none"}),
    (compare, {"n_resamples": 500}),
    (compare, {"random_state": 1}),
    (compare, {"random_state": np.random.default_rng(0)}),
    (partial(power, auc2=0.7), {"null": 0.5}),
    (partial(power, auc2=0.7), {"method": "hanley_mcneil"}),
    (partial(skauc.auc_sample_size, 0.8, width=0.2), {"null": 0.6}),
    (partial(skauc.auc_sample_size, 0.8, width=0.2), {"margin": 0.1}),
]


@pytest.mark.parametrize(("call", "option"), IGNORED, ids=case_name)
def test_option_without_effect_is_refused(call, option):
    [name] = option
    refused(lambda: call(**option), name, "must not be given", "no effect")


def test_options_with_an_effect_are_taken():
    assert estimate(method="delong", transform="none") != estimate(method="delong")
    rows = np.tile(Y, 2), *np.random.default_rng(0).normal(size=(2, 40))
    drawn = partial(skauc.compare_auc, *rows, method="permutation", n_resamples=100)
    whole = drawn(fpr=(0, 1)).pvalue  # the whole range is the AUC
    assert whole == drawn().pvalue == drawn(tpr=(0.0, 1.0)).pvalue
    assert drawn(random_state=1).pvalue != whole
    assert power(null=0.7) != power() == power(null=0.5)


@pytest.mark.parametrize(("call", "name", "value", "words"), ARGUMENTS, ids=case_name)
def test_bad_argument_is_named_with_its_value(call, name, value, words):
    number = isinstance(value, int | float) and not isinstance(value, bool)
    shown = f"{value:g}" if number else str(value)
    shown = [] if isinstance(value, np.ndarray) else [re.escape(shown)]
    refused(lambda: call(**{name: value}), name, *shown, *words)


TWICE = ["age", "bmi", "age"]
TOGETHER = {  # calls that lack or contradict something
    "two rules": (lambda: points(threshold=0, best="youden"), ["threshold", "best"]),
    "no goal": (lambda: skauc.auc_sample_size(0.8), ["power", "width"]),
    "half of plan": (lambda: power(correlation=0.5), ["correlation", "auc2"]),
    "one model": (
        lambda: skauc.compare_cross_val_auc({"a": fitted()}, X, Y),
        ["estimators", "1"],
    ),
    "no search": (lambda: skauc.search_posterior(3, X, Y), ["search", "3|int"]),
    "groups without folds": (
        lambda: list(skauc.ResubstitutionSplit().split(X, Y, groups=Y)),
        ["groups"],
    ),
    "one-column block": (lambda: skauc.RowBlocks(3), ["blocks", "3|int"]),
    "missing in moments": (
        lambda: skauc.class_moments(changed(X, np.nan), Y == 1),
        ["finite|NaN"],
    ),
    "labels of a fitted model": (
        lambda: skauc.auc_posterior(fitted(), X, Y + 5),
        ["labels", "5|6"],
    ),
    "a text in a frame": (
        lambda: skauc.IRLSLogisticRegression().fit(frame(colour="black"), Y),
        ["X", "'black'", "'colour'", "OneHotEncoder"],
    ),
    "a text in folds": (
        lambda: skauc.cross_val_auc(LogisticRegression(), frame(colour="black"), Y),
        ["X", "'black'", "'colour'", "OneHotEncoder"],
    ),
    "missing in a frame": (
        lambda: skauc.GaussianAUCClassifier().fit(frame(bmi=np.nan), Y),
        ["X", "1 in column 'bmi'", "SimpleImputer"],
    ),
    "missing in a report": (
        lambda: skauc.auc_posterior(
            LogisticRegression().fit(frame(), Y), frame(bmi=np.nan), Y
        ),
        ["X", "1 in column 'bmi'", "SimpleImputer"],
    ),
    "a date in a frame": (
        lambda: skauc.GaussianAUCClassifier().fit(
            frame().assign(born=pd.Timestamp("2020")), Y
        ),
        ["X", "Timestamp.*", "'born'"],
    ),
    "missing in moments of a frame": (
        lambda: skauc.class_moments(frame(bmi=np.nan).astype("Float64"), Y == 1),
        ["X", "1 in column 'bmi'", "SimpleImputer"],
    ),
    "labels of two kinds in a fit": (
        lambda: skauc.IRLSLogisticRegression().fit(X, ["a", 1] * (len(Y) // 2)),
        ["y", "'a', 1"],
    ),
    "a name of two features": (
        lambda: firth().likelihood_ratio_test("age", feature_names=TWICE),
        ["contrast", "'age'", "2 times"],
    ),
    "units of two features": (
        lambda: firth().summary(feature_names=TWICE).odds_ratios(per={"age": 10}),
        ["per", "'age'", "2 times"],
    ),
    "rows of a profile": (
        lambda: firth(keep_rows=False).summary(),
        ["X", "profile", "pass X= and y=", "keep_rows=True"],
    ),
    "a factor that is no feature": (
        lambda: firth().likelihood_ratio_test(["race"]),
        ["contrast", "'race'", "x0"],
    ),
    "probabilities of a forest": (
        lambda: skauc.DecisionCurveDisplay.from_predictions(
            Y, {"forest": PROB, "svm": changed(PROB, 1.5)}
        ),
        [r"y_prob\['svm'\] must lie in \[0, 1\]", "1.5 in row 1", "Calibrated.*"],
    ),
    "models of one name": (
        lambda: skauc.DecisionCurveDisplay.from_predictions(Y, {"1": PROB, 1: PROB}),
        ["y_prob", r"\['1', 1\]"],
    ),
    "a model called treat all": (
        lambda: skauc.DecisionCurveDisplay.from_predictions(Y, {"treat all": PROB}),
        ["y_prob", "'treat all'"],
    ),
    "one group": (
        lambda: skauc.calibration_estimate(Y, PROB, groups=np.zeros(len(Y))),
        ["groups", "1 group"],
    ),
    "folds of training rows": (
        lambda: skauc.cross_val_auc(fitted(), X, Y, skauc.ResubstitutionSplit()),
        ["cv", "20 rows in both", "ResubstitutionSplit", "auc_posterior"],
    ),
    "folds that divide a group": (
        lambda: skauc.cross_val_auc(
            fitted(), X, Y, [(range(11), range(11, 20))], groups=np.arange(20) // 2
        ),
        ["cv", "divide a group", "StratifiedGroupKFold"],
    ),
    "folds that overlap": (
        lambda: skauc.compare_cross_val_auc([fitted()] * 2, X, Y, [(range(12), [9])]),
        ["cv", "1 rows in both"],
    ),
    "folds of masks": (
        lambda: skauc.make_cv_auc_scorer(cv=[(ONES > 0, Y > 0)])(fitted(), X, Y),
        ["cv", "10 rows in both"],
    ),
    "one group a fold": (
        lambda: skauc.cross_val_auc(LogisticRegression(), X, Y, LeaveOneOut()),
        ["cv", "StratifiedGroupKFold"],
    ),
    "a tree under a conjugate prior": (
        lambda: skauc.auc_posterior(
            DecisionTreeClassifier().fit(X, Y), X, Y, prior="paper"
        ),
        ["DecisionTreeClassifier", "AdaptivePrior"],
    ),
    "accuracy of three classes": (
        lambda: skauc.bee_scorer(LogisticRegression().fit(X, THREE), X, THREE),
        ["y_true", "two classes", "3"],
    ),
    "score of any size": (lambda: skauc.cbauc_score(Y, 1e-80 * SCORE), ["y_score"]),
    "label of an interval": (
        lambda: skauc.auc_estimate(pd.cut(SCORE, 2), SCORE),
        ["y_true", "Interval.*"],
    ),
    "missing label": (
        lambda: skauc.auc_estimate(changed(Y, np.nan), SCORE),
        ["y_true", "missing value in row 1"],
    ),
    "share as a label": (
        lambda: skauc.auc_estimate(changed(Y, 0.3), SCORE),
        ["y_true", "0.3 in row 1"],
    ),
    "labels of two kinds": (
        lambda: skauc.auc_estimate(["a", 1] * 10, SCORE),
        ["y_true", "'a', 1"],
    ),
    "columns of other classes": (
        lambda: skauc.hand_till_auc(Y, pd.DataFrame({"yes": PROB, "no": 1 - PROB})),
        ["y_score", "'yes'", "labels="],
    ),
    "other number of features": (
        lambda: skauc.auc_posterior(fitted(), X[:, :2], Y),
        ["2", "3"],
    ),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_contradiction_is_named(name):
    call, words = TOGETHER[name]
    refused(call, *words)
