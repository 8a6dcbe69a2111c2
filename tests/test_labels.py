"""One law for labels: the last sorted label is positive, in every container."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from values import same

import skauc
from skauc import RowBlocks

N = 60
CODE = (np.arange(N) % 5 < 2).astype(np.int64)
WORDS = np.array(["ill", "well"])[CODE]  # sorted "well" comes last
ORDER = ["well", "ill"]  # the order of a scale, which must not matter
rng = np.random.default_rng(0)
SCORE = np.round(rng.normal(size=N) + CODE, 2)
OTHER = np.round(rng.normal(size=N) + 0.5 * CODE, 2)
PROB = 1 / (1 + np.exp(-SCORE))
X = rng.normal(size=(N, 3)) + np.outer(CODE, [1.0, 0.5, 0.0])


def categorical(values, categories):
    return pd.Categorical(values, categories=categories, ordered=True)


CONTAINERS = {
    "list": WORDS.tolist,
    "tuple": lambda: tuple(WORDS),
    "object": lambda: WORDS.astype(object),
    "column": lambda: WORDS[:, None],
    "series": lambda: pd.Series(WORDS),
    "index": lambda: pd.Index(WORDS),
    "string": lambda: pd.Series(WORDS, dtype="string"),
    "categorical": lambda: pd.Categorical(WORDS),
    "ordered": lambda: categorical(WORDS, ORDER),
    "ordered series": lambda: pd.Series(categorical(WORDS, ORDER)),
    "ordered frame": lambda: pd.DataFrame({"y": categorical(WORDS, ORDER)}),
    "ordered numbers": lambda: categorical(CODE, [1, 0]),
    "bool": lambda: CODE == 1,
    "objects bool": lambda: (CODE == 1).astype(object),
    "objects int": lambda: CODE.astype(object),
    "objects float": lambda: CODE.astype(float).astype(object),
    "objects mixed": lambda: np.array([bool(c) if c else 0.0 for c in CODE], object),
    "int8": lambda: CODE.astype(np.int8),
    "minus one": lambda: 2 * CODE - 1,
    "float": lambda: CODE.astype(float),
    "Int64": lambda: pd.Series(CODE, dtype="Int64"),
    "boolean": lambda: pd.Series(CODE == 1, dtype="boolean"),
}


def polars_series(values, dtype):
    pl = pytest.importorskip("polars")
    enum = pl.Enum(ORDER) if dtype == "Enum" else getattr(pl, dtype)
    return pl.Series("y", values.tolist(), dtype=enum)


for dtype in ("String", "Categorical", "Enum"):
    CONTAINERS[f"polars {dtype}"] = lambda dtype=dtype: polars_series(WORDS, dtype)
CONTAINERS["polars Boolean"] = lambda: polars_series(CODE == 1, "Boolean")
CONTAINERS["arrow"] = lambda: pytest.importorskip("pyarrow").array(WORDS.tolist())


def plain(y):
    """Labels that scikit-learn's own classifiers take."""
    return np.array(np.ravel(np.asarray(y)).tolist())


def fitted(y):
    return LogisticRegression().fit(X, plain(y))


def coefficient(model):
    return lambda y: model().fit(X, y).coef_[0, 0]


two_columns = np.column_stack([1 - PROB, PROB])
CALLS = {
    "auc_estimate": lambda y: skauc.auc_estimate(y, SCORE).auc,
    "compare_auc": lambda y: skauc.compare_auc(y, SCORE, OTHER).difference,
    "operating_points": lambda y: skauc.operating_points(
        y, SCORE, threshold=0.5
    ).sensitivity[0],
    "empirical_roc": lambda y: skauc.empirical_roc(y, SCORE).auc,
    "calibration_estimate": lambda y: skauc.calibration_estimate(y, PROB).slope,
    "hosmer_lemeshow": lambda y: skauc.hosmer_lemeshow(y, PROB, n_groups=5).statistic,
    "hand_till_auc": lambda y: skauc.hand_till_auc(y, two_columns).auc,
    "one_vs_rest_auc": lambda y: skauc.one_vs_rest_auc(y, two_columns).auc[1],
    "cbauc_score": lambda y: skauc.cbauc_score(y, SCORE),
    "ebauc_score": lambda y: skauc.ebauc_score(y, SCORE),
    "binormal_roc": lambda y: skauc.binormal_roc(y, SCORE).auc,
    "GaussianAUCClassifier": coefficient(skauc.GaussianAUCClassifier),
    "IRLSLogisticRegression": coefficient(skauc.IRLSLogisticRegression),
    "LinearDiscriminantROC": coefficient(skauc.LinearDiscriminantROC),
    "QuadraticDiscriminantROC": lambda y: (
        skauc.QuadraticDiscriminantROC().fit(X, y).roc_.auc
    ),
    "auc_posterior": lambda y: skauc.auc_posterior(fitted(y), X, y).mean(),
    "bayesian_val_score": lambda y: skauc.bayesian_val_score(
        LogisticRegression(), X, y
    ).mean(),
    "cbauc_scorer": lambda y: skauc.cbauc_scorer(fitted(y), X, y),
    "lpo_auc_scorer": lambda y: skauc.lpo_auc_scorer(fitted(y), X, y),
    "cross_val_auc": lambda y: skauc.cross_val_auc(LogisticRegression(), X, y).auc,
    "bootstrap_auc": lambda y: (
        skauc.bootstrap_auc(LogisticRegression(), X, y, n_resamples=3).auc
    ),
    "diagnose": lambda y: skauc.diagnose(fitted(y), X, y).posterior.mean(),
    "search_posterior": lambda y: skauc.search_posterior(
        [fitted(y)], X, y
    ).selected.mean(),
}


@cache
def answer(call):
    return CALLS[call](WORDS)


# reports of whole models take longer, and six kinds of containers are enough
COSTLY = list(CALLS)[list(CALLS).index("auc_posterior") :]
SIX = "list", "index", "ordered series", "objects bool", "Int64", "polars Enum"


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_function_answers_alike_for_every_container(container):
    y = CONTAINERS[container]()
    calls = [call for call in CALLS if container in SIX or call not in COSTLY]
    got = {call: CALLS[call](y) for call in calls}
    assert got == pytest.approx({call: answer(call) for call in calls}, rel=1e-9)
    assert got["auc_estimate"] == pytest.approx(roc_auc_score(WORDS, SCORE), abs=1e-12)


def blocks_of(make):
    return [(SCORE[a:b], make(a, b)) for a, b in ((0, 25), (25, 26), (26, N))]


@pytest.mark.parametrize("container", CONTAINERS)
def test_blocks_and_dask_answer_like_arrays(container):
    y = CONTAINERS[container]()
    if container in ("list", "tuple", "column", "arrow"):
        y = np.asarray(y)
    expected = roc_auc_score(WORDS, SCORE)
    blocks = RowBlocks(blocks_of(lambda a, b: y[a:b]))
    assert skauc.auc_estimate(blocks).auc == pytest.approx(expected, abs=1e-12)
    if not isinstance(y, pd.Series | pd.DataFrame):
        return
    frame = pytest.importorskip("dask.dataframe")
    labels = frame.from_pandas(y, npartitions=3, sort=False)
    score = frame.from_pandas(pd.Series(SCORE), npartitions=3, sort=False)
    assert skauc.auc_estimate(labels, score).auc == pytest.approx(expected, abs=1e-12)


def test_scores_precede_labels_in_every_tuple_of_blocks():
    predicted = (SCORE > 0).astype(np.int64)  # 0 and 1, as labels are
    expected = roc_auc_score(CODE, predicted)
    assert expected != pytest.approx(roc_auc_score(predicted, CODE), abs=1e-3)
    parts = RowBlocks([(predicted[:30], CODE[:30]), (predicted[30:], CODE[30:])])
    assert skauc.auc_estimate(parts).auc == pytest.approx(expected, abs=1e-12)
    named = RowBlocks.from_arrays(predicted, CODE, n_rows=7)
    assert skauc.auc_estimate(named).auc == pytest.approx(expected, abs=1e-12)


# ------------------------------------------------------- the positive class in results

MODEL = LogisticRegression().fit(X, WORDS)
RESULTS = {
    "estimate": lambda **k: skauc.auc_estimate(WORDS, SCORE, **k),
    "partial": lambda **k: skauc.auc_estimate(WORDS, SCORE, **k).partial_auc(
        fpr=(0, 0.5)
    ),
    "comparison": lambda **k: skauc.compare_auc(WORDS, SCORE, OTHER, **k),
    "constant": lambda **k: skauc.compare_auc(WORDS, SCORE, null=0.6, **k),
    "comparisons": lambda **k: skauc.compare_auc(WORDS, SCORE, OTHER, PROB, **k),
    "points": lambda **k: skauc.operating_points(WORDS, SCORE, threshold=[0, 1], **k),
    "rates": lambda **k: skauc.operating_points(
        WORDS, SCORE, threshold=0.5, **k
    ).compare(skauc.operating_points(WORDS, OTHER, threshold=0.2, **k), n_resamples=20),
    "curve": lambda **k: skauc.empirical_roc(WORDS, SCORE, **k),
    "band": lambda **k: skauc.empirical_roc(WORDS, SCORE, **k).band(n_resamples=50),
    "calibration": lambda **k: skauc.calibration_estimate(WORDS, PROB, **k),
    "hosmer": lambda **k: skauc.hosmer_lemeshow(WORDS, PROB, n_groups=5, **k),
    "posterior": lambda **k: skauc.auc_posterior(MODEL, X, WORDS, **k),
    "difference": lambda **k: skauc.auc_difference_posterior(
        MODEL, LogisticRegression(C=0.01).fit(X, WORDS), X, WORDS, **k
    ),
    "bootstrap": lambda **k: skauc.bootstrap_auc(
        LogisticRegression(), X, WORDS, n_resamples=3, **k
    ),
    "folds": lambda **k: skauc.cross_val_auc(LogisticRegression(), X, WORDS, **k),
    "models": lambda **k: skauc.compare_cross_val_auc(
        [LogisticRegression(), LogisticRegression(C=0.01)], X, WORDS, **k
    ),
    "diagnosis": lambda **k: skauc.diagnose(MODEL, X, WORDS, **k),
}


@pytest.mark.parametrize("label", ["ill", "well"])
@pytest.mark.parametrize("name", RESULTS)
def test_results_name_the_positive_class(name, label):
    given = {} if label == "well" else {"pos_label": label}
    result = RESULTS[name](**given)
    assert repr(label) in repr(result)
    if name != "bootstrap":
        assert set(result.to_frame()["pos_label"]) == {label}
        assert label in result._repr_html_()


def test_a_search_names_the_positive_class():
    found = skauc.search_posterior(
        [MODEL, LogisticRegression().fit(X, WORDS)], X, WORDS
    )
    assert "pos_label='well'" in repr(found)
    assert set(found.to_frame()["pos_label"]) == {"well"}


@pytest.mark.parametrize("label", ["ill", "well"])
def test_displays_name_the_positive_class(label):
    pytest.importorskip("matplotlib").use("Agg")
    given = {"pos_label": label}
    posterior = skauc.auc_posterior(MODEL, X, WORDS, **given)
    displays = [
        skauc.auc_estimate(WORDS, SCORE, **given).plot(),
        skauc.empirical_roc(WORDS, SCORE, **given).plot(),
        skauc.ROCDisplay.from_estimator(MODEL, X, WORDS, **given),
        skauc.ROCDisplay.from_predictions(WORDS, SCORE, **given),
        posterior.plot(),
        skauc.CalibrationDisplay.from_estimator(MODEL, X, WORDS, **given),
        skauc.DecisionCurveDisplay.from_estimator(MODEL, X, WORDS, **given),
        skauc.operating_points(WORDS, SCORE, threshold=0, **given).plot(),
    ]
    for display in displays:
        assert f"positive label: {label}" in display.ax_.get_xlabel()


# ---------------------------------------------------------------------- masked arrays

HIDDEN = np.arange(N) < 3


def masked(values):
    mask = HIDDEN if np.ndim(values) == 1 else np.outer(HIDDEN, [True, False, True])
    return np.ma.array(values, mask=mask)


MASKED = {
    "y_true": lambda: skauc.auc_estimate(masked(CODE), SCORE),
    "y_score": lambda: skauc.operating_points(CODE, masked(SCORE)),
    "score_b": lambda: skauc.compare_auc(CODE, SCORE, masked(SCORE)),
    "sample_weight": lambda: skauc.auc_estimate(
        CODE, SCORE, sample_weight=masked(np.ones(N))
    ),
    "groups": lambda: skauc.auc_estimate(CODE, SCORE, groups=masked(np.arange(N))),
    "y_prob": lambda: skauc.calibration_estimate(CODE, masked(PROB)),
    "positive": lambda: skauc.class_moments(X, masked(CODE == 1)),
    "X in a fit": lambda: skauc.GaussianAUCClassifier().fit(masked(X), CODE),
    "X in LDA": lambda: skauc.LinearDiscriminantROC().fit(masked(X), CODE),
    "y in a fit": lambda: skauc.IRLSLogisticRegression().fit(X, masked(CODE)),
    "X in a report": lambda: skauc.auc_posterior(MODEL, masked(X), WORDS),
    "X in a scorer": lambda: skauc.lpo_auc_scorer(MODEL, masked(X), WORDS),
    "X in folds": lambda: skauc.cross_val_auc(MODEL, masked(X), CODE),
    "X in moments": lambda: skauc.class_moments(masked(X), CODE == 1),
    "X in a display": lambda: skauc.ROCDisplay.from_estimator(MODEL, masked(X), WORDS),
    "y_score in blocks": lambda: skauc.auc_estimate(RowBlocks([(masked(SCORE), CODE)])),
    "y_true in blocks": lambda: skauc.auc_estimate(RowBlocks([(SCORE, masked(CODE))])),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_values_are_refused(name):
    text = f"^{name.split()[0]} must hold no masked values"
    with pytest.raises(ValueError, match=text):
        MASKED[name]()


def test_an_array_without_masked_values_is_an_array():
    score = np.ma.array(SCORE, mask=np.zeros(N, bool))
    assert same(*(skauc.auc_estimate(CODE, s) for s in (score, SCORE)))
