"""Discriminants of rows in blocks: the model of all rows, whatever the chunks are."""

import numpy as np
import pytest
from rows_in_blocks import cut
from scipy import sparse

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    QuadraticDiscriminantROC,
    RowBlocks,
)

N, P = 240, 6


def lazy(*parts, sizes=(40,) * 6):
    """Dask arrays of the rows."""
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    widths = [() if part.ndim == 1 else (part.shape[1],) for part in parts]
    return [
        da.from_array(part, chunks=(sizes, *width))
        for part, width in zip(parts, widths, strict=True)
    ]


def blocks(*parts, sizes=(40,) * 6):
    """The same in one object."""
    return [RowBlocks(cut(parts, sizes))]


WAYS = {"blocks": blocks, "dask": lazy}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request):
    return request.param


def make(rng, n_classes, *, offset=100.0):
    """Correlated features far from 0, classes of several sizes and spreads."""
    labels = np.array(["ash", "birch", "cedar", "elder"])[:n_classes]
    codes = rng.choice(
        n_classes, size=N, p=np.arange(1, n_classes + 1) / sum(range(1, n_classes + 1))
    )
    X = rng.normal(size=(N, P)) @ (np.eye(P) + 0.3 * rng.normal(size=(P, P)))
    X *= (1 + 0.5 * codes)[:, None]
    return X + codes[:, None] * rng.normal(size=P) + offset, labels[codes]


def assert_same_fit(got, expected, rtol=1e-8):
    """Every fitted attribute; axes up to their sign."""
    assert vars(got).keys() == vars(expected).keys()
    for name, value in vars(expected).items():
        mine = getattr(got, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            if name == "scalings_":
                k = len(expected.explained_variance_ratio_)
                value, mine = np.abs(value[:, :k]), np.abs(mine[:, :k])
            np.testing.assert_allclose(
                mine,
                value,
                rtol=rtol,
                atol=rtol * np.abs(value).max(initial=0),
                err_msg=name,
            )
        elif isinstance(value, np.ndarray):
            assert mine.tolist() == value.tolist()
        elif isinstance(value, float):
            assert mine == pytest.approx(value, rel=rtol), name


def test_gaussian_auc_of_all_options(rng, way):
    X, y = make(rng, 2)
    options = {"shrinkage": "auto", "standardize": False, "threshold": "prior"}
    for weight in (None, rng.integers(0, 3, N).astype(float)):
        parts = (X, y) if weight is None else (X, y, weight)
        expected = GaussianAUCClassifier(**options).fit(*parts)
        assert_same_fit(GaussianAUCClassifier(**options).fit(*way(*parts)), expected)


def test_sparse_chunks(rng):
    X, y = make(rng, 2, offset=0.0)
    X[rng.random(X.shape) < 0.5] = 0
    parts = [(sparse.csr_matrix(X[a : a + 40]), y[a : a + 40]) for a in range(0, N, 40)]
    few = [(sparse.csr_array(X[a : a + 4]), y[a : a + 4]) for a in range(0, N, 4)]
    mixed = [*parts[:3], (X[120:123], y[120:123]), (sparse.csr_array(X[123:]), y[123:])]
    for shrinkage in (None, "auto"):
        for given in (parts, few, mixed):
            model = GaussianAUCClassifier(shrinkage=shrinkage)
            expected = model.fit(X, y).coef_
            got = model.fit(RowBlocks(given)).coef_
            np.testing.assert_allclose(got, expected, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sizes", [(5, 3), (1,) * 8, (0, 8)], ids=str)
def test_more_features_than_rows_are_gathered(rng, way, sizes):
    X, y = rng.normal(size=(8, 30)), np.array(["b", "a"] * 4)
    for options in ({}, {"shrinkage": "auto"}, {"shrinkage": 0.5}):
        expected = GaussianAUCClassifier(**options).fit(X, y)
        model = GaussianAUCClassifier(**options).fit(*way(X, y, sizes=sizes))
        assert_same_fit(model, expected)
        assert not hasattr(model, "moments_")


@pytest.mark.parametrize("shrinkage", [None, 0.3])
def test_partial_fit_of_collections(rng, way, shrinkage):
    X, y = make(rng, 2)
    expected = GaussianAUCClassifier(shrinkage=shrinkage).fit(X, y)
    model = GaussianAUCClassifier(shrinkage=shrinkage)
    first, *more = way(X[:100], y[:100], sizes=(40, 60))
    model.partial_fit(first, *more, classes=["birch", "ash"])
    model.partial_fit(X[100:103], y[100:103])  # arrays and collections add up
    first, *more = way(X[103:], y[103:], sizes=(3, 134))
    model.partial_fit(first, *more)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-7)
    assert model.n_features_in_ == P


def spoilt(part, value, chunk=3):
    """The parts of six chunks, one of which holds a value that breaks a rule."""

    def change(X, y, w):
        parts = [X.copy(), y.astype(object) if part == 1 else y.copy(), w.copy()]
        parts[part][40 * chunk + 2] = value
        return parts

    return change


BAD = {
    "nan": (spoilt(0, np.nan), "X must be finite, got nan"),
    "infinite": (spoilt(0, -np.inf), "X must be finite, got -inf"),
    "too large": (
        spoilt(0, 1e200),
        "X must be finite, and 0 or between .* in feature 0",
    ),
    "unknown label": (spoilt(1, "pine"), "y must hold.* got"),
    "missing label": (spoilt(1, None), "y must hold .* missing value in row"),
    "label of another kind": (spoilt(1, 7), "y must hold .* 7"),
    "weight": (spoilt(2, -1.0), "sample_weight must be 0 or between"),
    "weight nan": (spoilt(2, np.nan), "sample_weight must be 0 or between"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_chunk_and_change_nothing(rng, way, case):
    change, text = BAD[case]
    X, y = make(rng, 2)
    weight = np.ones(N)
    given = way(*change(X, y, weight))
    model = GaussianAUCClassifier()
    model.partial_fit(X, y, classes=["ash", "birch"])
    before = dict(vars(model))
    in_chunk = "" if "label" in case else ".*in chunk 3$"  # labels are gathered
    with pytest.raises(ValueError, match=text + in_chunk):
        model.fit(*given)
    assert vars(model) == before
    X_given, *columns = given
    keywords = (
        {} if not columns else dict(zip(("y", "sample_weight"), columns, strict=True))
    )
    with pytest.raises(ValueError, match=text + in_chunk):
        model.partial_fit(X_given, **keywords)
    assert vars(model) == before


PREDICTIONS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]


@pytest.mark.parametrize(
    "model", [GaussianAUCClassifier(), IRLSLogisticRegression(C=1.0)], ids=str
)
def test_predictions_do_not_gather(rng, way, model):
    X, y = make(rng, 2)
    model.fit(X, y)
    for method in PREDICTIONS:
        with pytest.raises(ValueError, match="X must be an array .* not gathered"):
            getattr(model, method)(way(X)[0])


@pytest.mark.parametrize("kind", [LinearDiscriminantROC, QuadraticDiscriminantROC])
def test_discriminants_need_all_rows(rng, way, kind):
    X, y = make(rng, 2)
    text = "all rows .* GaussianAUCClassifier and IRLSLogisticRegression take rows in"
    given = way(X, y)
    with pytest.raises(ValueError, match=text):
        kind().fit(given[0], y)
    with pytest.raises(ValueError, match=text):
        LinearDiscriminantROC().fit(*given)
