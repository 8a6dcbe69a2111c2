"""Copies of rows: recognised among rows of every kind, without false alarms."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skauc import (
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    bootstrap_auc,
    cbauc_scorer,
    clear_cache,
    compare_cross_val_auc,
    cross_val_auc,
    cv_auc_scorer,
    ebauc_scorer,
    lpo_auc_scorer,
    make_cbauc_scorer,
    search_posterior,
)

MODEL = LogisticRegression(max_iter=500)


def binary(rng, n, P=40, share=0.5):
    return (rng.random((n, P)) < share).astype(float)


def likert(rng, n, P=12):
    common = 0.5 * rng.normal(size=(n, 1))
    return np.digitize(common + rng.normal(size=(n, P)), [-1.0, -0.3, 0.3, 1.0]) + 1.0


def words(rng, n):
    vocabulary = np.array([f"word{k}" for k in range(300)])
    return [" ".join(rng.choice(vocabulary, 12)) for _ in range(n)]


def mixed(rng, n):
    table = pd.DataFrame(rng.normal(size=(n, 4))).add_prefix("x")
    return table.assign(kind=rng.choice(["a", "b", "c"], n))


KINDS = {
    "normal": lambda rng, n: rng.normal(size=(n, 8)),
    "binary": binary,
    "likert": likert,
    "genotypes": lambda rng, n: rng.binomial(2, 0.3, (n, 60)).astype(float),
    "counts": lambda rng, n: rng.poisson(1.0, (n, 30)),
    "sparse": lambda rng, n: sparse.csr_array(
        rng.normal(size=(n, 400)) * (rng.random((n, 400)) < 0.03)
    ),
    "float32": lambda rng, n: rng.normal(size=(n, 8)).astype(np.float32),
    "missing": lambda rng, n: np.where(
        rng.random((n, 9)) < 0.2, np.nan, likert(rng, n, 9)
    ),
    "texts": words,
    "frame": mixed,
    "lists": lambda rng, n: likert(rng, n).tolist(),
    "images": lambda rng, n: rng.integers(0, 255, (n, 6, 6)),
}


def taken(rows, which):
    if hasattr(rows, "iloc"):
        return rows.iloc[which]
    return [rows[k] for k in which] if isinstance(rows, list) else rows[which]


def copied(how, rng, n=300):
    """Row numbers, labels and the number of copies."""
    y = (np.arange(n) % 12 == 0) if how == "oversampled" else np.arange(n) % 2 == 0
    few, all_rows = np.flatnonzero(y), np.arange(n)
    if how == "oversampled":  # as RandomOverSampler
        more = rng.choice(few, n - 2 * len(few))
    elif how == "class twice":
        more = few
    elif how == "third three times":
        more = np.r_[all_rows[: n // 3], all_rows[: n // 3]]
    else:
        more = all_rows
    which = np.r_[all_rows, more]
    return which, y[which].astype(int), len(more)


class Any(ClassifierMixin, BaseEstimator):
    """A classifier of rows of any kind, whose scores are random."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.random.default_rng(0).random(n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "how", ["oversampled", "class twice", "third three times", "all twice"]
)
def test_copies_of_rows_of_every_kind(kind, how):
    rng = np.random.default_rng(0)
    which, y, n_copies = copied(how, rng)
    rows = taken(KINDS[kind](rng, 300), which)
    text = f"{n_copies} of {len(y)} rows are copies of others"
    with pytest.warns(UntrustedAUCWarning, match=text):
        cross_val_auc(Any(), rows, y, cv=2)


def likely(rng, n):
    """Rows of which many are equal by chance."""
    return {
        "normal": rng.normal(size=(n, 3)),
        "rounded": np.column_stack([rng.integers(20, 80, n), rng.integers(0, 2, n)]),
        "likert": likert(rng, n, 3),
        "binary": binary(rng, n, 6),
        "rare": binary(rng, n, 40, 0.02),
        "counts": rng.poisson(0.5, (n, 5)),
        "one-hot": np.eye(12)[rng.integers(0, 12, n)],
        "constant": np.hstack([binary(rng, n, 5), np.ones((n, 5))]),
        "repeated": np.hstack([likert(rng, n, 2)] * 8),
        "words": list(rng.choice(["yes", "no", "maybe", "often"], n)),
    }


@pytest.mark.parametrize("n", [24, 100, 400])
@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_rows_that_are_equal_by_chance_are_no_copies(n, signal):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        for name, rows in likely(rng, n).items():
            first = rng.normal(size=n) if name == "words" else np.asarray(rows)[:, 0]
            score = signal * (first - first.mean()) / first.std() + rng.logistic(size=n)
            y = (score > np.median(score)).astype(int)
            with warnings.catch_warnings():
                warnings.simplefilter("error", UntrustedAUCWarning)
                cross_val_auc(Any(), rows, y, cv=2)


def test_small_samples_of_few_features_have_no_near_copies():
    """Also with heavy tails and features that differ in their units."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        for X in (
            rng.normal(size=(24, 3)),
            rng.standard_t(2, (60, 4)),
            binary(rng, 60),
        ):
            y = np.arange(len(X)) % 2
            found = auc_posterior(MODEL.fit(X, y), X, y).warnings
            assert not any("cop" in sentence for sentence in found)


@pytest.mark.parametrize("P", [200, 2000])
def test_rows_of_one_subject_are_near_copies(P):
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(40, P))[subject] + 0.3 * rng.normal(size=(160, P))
    y = subject % 2
    few = (rng.random((40, P)) < 0.2)[subject]
    tree = DecisionTreeClassifier(random_state=0)  # takes missing values
    for model, rows in (
        (MODEL, X),
        (MODEL, sparse.csr_matrix(X * few)),
        (tree, np.where(few, np.nan, X)),
    ):
        with pytest.warns(UntrustedAUCWarning):
            found = " ".join(auc_posterior(model.fit(rows, y), rows, y).warnings)
        assert re.search("near copy of the same class.*pass groups=", found)
    X = rng.normal(size=(160, P))
    assert auc_posterior(MODEL.fit(X, y), X, y).warnings == ()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(80, random_state=0),
        KNeighborsClassifier(1),
        make_pipeline(StandardScaler(), SVC()),
        DecisionTreeClassifier(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_near_copies_are_doubted_behind_any_classifier(model):
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(20), 4)
    X = rng.normal(size=(20, 200))[subject] + 0.2 * rng.normal(size=(80, 200))
    for rows, labels, expected in (
        (X, subject % 2, True),
        (pd.DataFrame(X), np.where(subject % 2, "a", "b"), True),
        (X, subject % 3, True),
        (rng.normal(size=(80, 200)), subject % 2, False),
        (rng.integers(0, 2, size=(80, 12)), np.arange(80) % 2, False),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UntrustedAUCWarning)
            found = auc_posterior(model.fit(rows, labels), rows, labels).warnings
        assert any("near copy" in text for text in found) == expected


def data():
    rng = np.random.default_rng(0)
    which = np.r_[np.arange(60), np.arange(20), np.arange(20)]
    return rng.normal(size=(60, 30))[which], (np.arange(60) % 2)[which], which


LEAVE_ROWS_OUT = {
    "auc_posterior": lambda X, y: auc_posterior(MODEL.fit(X, y), X, y),
    "bayesian_val_score": lambda X, y: bayesian_val_score(MODEL, X, y),
    "bootstrap_auc": lambda X, y: bootstrap_auc(MODEL, X, y, n_resamples=3),
    "cross_val_auc": lambda X, y: cross_val_auc(MODEL, X, y),
    "compare_cross_val_auc": lambda X, y: compare_cross_val_auc(
        [MODEL, DecisionTreeClassifier()], X, y
    ),
    "lpo_auc_scorer": lambda X, y: lpo_auc_scorer(MODEL.fit(X, y), X, y),
    "cv_auc_scorer": lambda X, y: cv_auc_scorer(MODEL, X, y),
    "search_posterior": lambda X, y: search_posterior([MODEL.fit(X, y)], X, y),
}


@pytest.mark.parametrize("name", LEAVE_ROWS_OUT)
def test_every_function_that_leaves_rows_out_names_copies(name):
    """And says so again in the next call."""
    X, y, _ = data()
    for _ in range(2):
        with pytest.warns(UntrustedAUCWarning, match="40 of 100 rows are copies"):
            LEAVE_ROWS_OUT[name](X, y)


def test_copies_of_rows_with_missing_values_are_those_of_their_data_set():
    """The data sets miss the same values and differ in the others."""
    X, y, which = data()
    X[which == 0] = np.nan
    other = np.random.default_rng(1).normal(size=X.shape) + 0 * X
    model = HistGradientBoostingClassifier(max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_auc(model, other, y, 3)
    with pytest.warns(UntrustedAUCWarning, match="40 of 100 rows are copies"):
        cross_val_auc(model, X, y, 3)


def test_scores_that_leave_no_rows_out_do_not_search_them():
    X, y, _ = data()
    model = make_pipeline(StandardScaler(), MODEL).fit(X, y)
    clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scorer in (cbauc_scorer, ebauc_scorer):
            scorer(model, X, y)


def test_copies_of_one_group_are_left_out_together():
    X, y, which = data()
    folds = StratifiedGroupKFold(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap_auc(MODEL, X, y, n_resamples=3, groups=which)
        cross_val_auc(MODEL, X, y, folds, groups=which)
        compare_cross_val_auc([MODEL, Any()], X, y, folds, groups=which)
    with pytest.warns(UntrustedAUCWarning, match="40 of 100 rows are copies"):
        bootstrap_auc(MODEL, X, y, n_resamples=3, groups=np.arange(100))


def test_copies_are_found_behind_a_step_that_makes_rows_equal():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) < 20
    more = np.r_[np.arange(200), np.tile(np.arange(20), 8)]
    model = make_pipeline(KBinsDiscretizer(), LogisticRegression())
    with pytest.warns(UntrustedAUCWarning, match="160 of 360 rows are copies"):
        bayesian_val_score(model, X[more], y[more])
    assert not bayesian_val_score(model, X, y).warnings


def test_categories_of_boosted_trees_are_rows_of_any_kind():
    rng = np.random.default_rng(0)
    city = pd.Categorical(rng.choice(list("abc"), 90))
    X, y = pd.DataFrame({"age": rng.normal(size=90), "city": city}), np.arange(90) % 2
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
    score = make_cbauc_scorer(rows="held-out")(model, X, y)
    auc = roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert score == pytest.approx((auc * 90 + 0.5) / 91)
