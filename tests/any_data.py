"""Hypothesis strategies: arrays, labels, weights and models, right and wrong."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import skauc

EXTREMES = [0.0, -0.0, 1.0, 1.0, 2.0, -1.0, 0.5, 1e300, -1e300, 1e-300, 1e154, 1e16]
SPECIAL = [*EXTREMES, np.nan, np.inf, -np.inf, 5e-324, np.finfo(float).max]
THINGS = [None, "a", "", True, 0, 1, -1, 0.5, 2.5, np.nan, np.inf, -np.inf, 1j, (), []]
THINGS += [{}, object, [0.5], np.array([0.5, 0.5]), np.float32(0.25), "0.5", b"a"]
SCALARS = [None, "a", "", True, 0, 1, -1, 0.5, np.nan, np.inf, -np.inf, 1j, b"a", "0.5"]
things, scalars = st.sampled_from(THINGS), st.sampled_from(SCALARS)
levels = st.one_of(st.sampled_from([0.95, 0.5, 1e-9, 1 - 1e-12]), things)
sizes = st.one_of(st.integers(4, 12), st.integers(0, 12))


def rarely(strategy, other):
    """Two in three from the first, so that an example is not wrong in every place."""
    return st.one_of(strategy, strategy, other)


def column(n):
    """A column of n numbers, of usual size or near the limits of a float."""
    tame = st.floats(-3, 3, width=16)
    return st.one_of(
        st.lists(tame, min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n),
        st.lists(st.integers(-3, 3), min_size=n, max_size=n).map(np.array),
        st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
        st.lists(st.sampled_from(EXTREMES), min_size=n, max_size=n),
        st.lists(tame, min_size=n, max_size=n).map(lambda v: np.float32(v)),
        st.lists(tame, min_size=n, max_size=n).map(pd.Series),
    )


def wild(n, whole=things):
    """Anything but a column of n numbers."""
    return st.one_of(
        st.lists(st.sampled_from(SPECIAL), min_size=n, max_size=n),
        st.lists(st.sampled_from(SPECIAL), max_size=12),
        st.lists(scalars, min_size=n, max_size=n),
        st.lists(scalars, min_size=n, max_size=n).map(_objects),
        st.lists(st.sampled_from("ab"), min_size=n, max_size=n).map(np.array),
        st.integers(0, 3).map(lambda k: np.zeros((n, k))),
        whole,
    )


def _objects(values):
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def scores(n):
    return rarely(column(n), wild(n))


@st.composite
def labels(draw, n):
    codes = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    if n >= 2 and draw(st.integers(0, 9)):
        codes[:2] = 0, 1
    if n >= 4 and draw(st.booleans()):
        codes[:4] = 0, 0, 1, 1
    pairs = [(0, 1), (-1, 1), ("no", "yes"), (False, True), (0.0, 1.0), (1, 10**6)]
    names = draw(st.sampled_from(pairs))
    kinds = [list, np.array, pd.Series, lambda v: _objects(list(v))]
    right = draw(st.sampled_from(kinds))([names[code] for code in codes])
    three = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    return draw(rarely(st.just(right), st.one_of(scores(n), three)))


def weights(n):
    kinds = [1.0, 2, 0.5, 1e-300, 1e300, 1e6, 0.0, 1 / max(n, 1)]
    some = st.lists(st.sampled_from(kinds), min_size=n, max_size=n)
    same = st.sampled_from(kinds).map(lambda w: np.full(n, w))
    counts = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return st.one_of(st.none(), st.none(), counts, some, same, scores(n))


@st.composite
def matrices(draw, n, P=None):
    P = draw(st.integers(1, 4)) if P is None else P
    columns = [draw(column(n)) for _ in range(P)]
    X = np.array([np.asarray(c, dtype=float) for c in columns]).T.reshape(n, P)
    kinds = [np.array, np.float32, list, pd.DataFrame, sparse.csr_array, np.array]
    with np.errstate(over="ignore"):
        right = draw(st.sampled_from(kinds))(X)
    no_matrix = st.sampled_from(["a", [], [1.0], [[]], {}, object])
    return draw(rarely(st.just(right), wild(n, no_matrix)))


@st.composite
def rows(draw, **parts):
    """Arguments of one length, each maybe wrong in its own way."""
    n = draw(sizes)
    return {name: draw(part(n)) for name, part in parts.items()}


def halves(n):
    """Rows that any model fits, each class in each of two folds."""
    values = st.lists(st.floats(-3, 3, width=16), min_size=2 * n, max_size=2 * n)
    X = values.map(lambda v: np.reshape(v, (n, 2)))
    return st.fixed_dictionaries({"X": X, "y": st.just(np.arange(n) % 2)})


def shares(n):
    """Probabilities."""
    tame_ = st.lists(st.floats(0, 1, width=16), min_size=n, max_size=n)
    return rarely(tame_, scores(n))


def features(P=None):
    return lambda n: matrices(n, P)


@cache
def models():
    """Fitted models of two features, models of three classes, and things that are none.

    The parent of LDA is left out of folds: constant columns give it an IndexError.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y, three = (X[:, 0] + rng.normal(size=40) > 0).astype(int), np.arange(40) % 3
    linear = [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        skauc.GaussianAUCClassifier(),
        skauc.IRLSLogisticRegression(),
        LinearSVC(),
        SVC(kernel="linear"),
        LinearDiscriminantAnalysis(),
    ]
    fitted = [model.fit(X, y) for model in linear]
    many = [LogisticRegression().fit(X, three), SVC(kernel="linear").fit(X, three)]
    odd = [Ridge().fit(X, y), SVC().fit(X, y), LogisticRegression(), None, "a", 1.0]
    odd += [LogisticRegression, skauc.ResubstitutionSplit(), [1, 2]]
    return fitted, many, odd


@cache
def searches():
    """Fitted searches and things that are none."""
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 2)) + y[:, None]
    found = [
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=how, cv=cv)
        for how in ("roc_auc", skauc.cbauc_scorer)
        for cv in (2, skauc.ResubstitutionSplit())
    ]
    with warnings.catch_warnings():  # folds of two features may look like training rows
        warnings.simplefilter("ignore", skauc.UntrustedAUCWarning)
        return [search.fit(X, y) for search in found] + models()[2]


good = st.deferred(lambda: st.sampled_from(models()[0][:-1]))
model = st.deferred(
    lambda: rarely(
        rarely(st.sampled_from(models()[0]), st.sampled_from(models()[1])),
        st.sampled_from(models()[2]),
    )
)


@st.composite
def posteriors(draw):
    """A posterior as a report returns it."""
    estimate = draw(st.sampled_from(models()[0][:4]))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    X = rng.normal(size=(20, 2)) * draw(st.sampled_from([1.0, 1e-9, 1e9]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skauc.auc_posterior(estimate, X, np.arange(20) % 2, rows="training")
