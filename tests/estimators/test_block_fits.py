"""Discriminants of rows in blocks: the model of all rows, whatever the chunks are."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy import sparse

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    Moments,
    QuadraticDiscriminantROC,
    RowBlocks,
)
from skauc.estimators._lda_moments import _rows_with_covariance

pytestmark = pytest.mark.filterwarnings(
    "ignore:The priors do not sum to 1:UserWarning"  # the parent's, in memory and here
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
    ends = np.cumsum([0, *sizes])
    return [RowBlocks([tuple(p[a:b] for p in parts) for a, b in pairwise(ends)])]


WAYS = {"blocks": blocks, "dask": lazy}
CHUNKS = {
    "six": (40,) * 6,
    "rows": (1,) * N,
    "fewer than features": (4,) * 60,
    "empty": (0, 100, 0, 139, 1, 0),
}


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


@pytest.mark.parametrize("sizes", CHUNKS.values(), ids=CHUNKS)
def test_gaussian_auc_of_any_chunks(rng, way, sizes):
    X, y = make(rng, 2)
    order = np.argsort(y, kind="stable")  # most chunks hold one class
    X, y, weight = X[order], y[order], rng.integers(0, 3, N).astype(float)
    expected = GaussianAUCClassifier().fit(X, y, weight)
    assert_same_fit(
        GaussianAUCClassifier().fit(*way(X, y, weight, sizes=sizes)), expected
    )


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "closed_form"},
        {"shrinkage": 0.3, "standardize": False},
        {"shrinkage": "auto"},
        {"shrinkage": "auto", "standardize": False},
        {"shrinkage": "oas"},
        {"shrinkage": "bayes"},
        {"threshold": "prior"},
        {"threshold": 1.5, "coef_init": np.arange(1, P + 1)},
    ],
    ids=str,
)
def test_gaussian_auc_of_all_options(rng, way, options):
    X, y = make(rng, 2)
    for weight in (None, rng.integers(0, 3, N).astype(float)):
        parts = (X, y) if weight is None else (X, y, weight)
        expected = GaussianAUCClassifier(**options).fit(*parts)
        assert_same_fit(GaussianAUCClassifier(**options).fit(*way(*parts)), expected)


LDA = [
    {"solver": solver, **options}
    for solver in ("svd", "lsqr", "eigen")
    for options in (
        {},
        {"priors": [3, 1]},
        {"denominator": "ml"},
        {"store_covariance": True},
        *([] if solver == "svd" else [{"shrinkage": 0.2}, {"shrinkage": "auto"}]),
    )
]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("options", LDA, ids=str)
def test_lda_of_all_options(rng, way, options, n_classes):
    X, y = make(rng, n_classes)
    if "priors" in options:
        options = options | {"priors": np.arange(1.0, n_classes + 1)}
    expected = LinearDiscriminantROC(**options).fit(X, y)
    model = LinearDiscriminantROC(**options).fit(*way(X, y))
    assert_same_fit(model, expected)
    assert model.pairwise_roc_.keys() == expected.pairwise_roc_.keys()
    new = X[:9] + 0.1
    np.testing.assert_allclose(
        model.decision_function(new),
        expected.decision_function(new),
        rtol=1e-8,
        atol=1e-7,
    )
    if options["solver"] != "lsqr":
        np.testing.assert_allclose(
            np.abs(model.transform(new)), np.abs(expected.transform(new)), rtol=1e-7
        )
        assert len(model.get_feature_names_out()) == n_classes - 1


@pytest.mark.parametrize("sizes", CHUNKS.values(), ids=CHUNKS)
def test_lda_of_any_chunks(rng, way, sizes):
    X, y = make(rng, 3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    expected = LinearDiscriminantROC().fit(X, y)
    assert_same_fit(LinearDiscriminantROC().fit(*way(X, y, sizes=sizes)), expected)


def test_lda_of_rows_far_from_the_origin(rng, way):
    X, y = make(rng, 3, offset=1e5)
    for solver in ("svd", "lsqr", "eigen"):
        expected = LinearDiscriminantROC(solver=solver).fit(X, y)
        model = LinearDiscriminantROC(solver=solver).fit(*way(X, y))
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)


def exact_direction(X, y, pooled):
    """``S⁻¹(x̄₁ − x̄₀)`` of length 1 from the rows as they are, in fifty digits."""
    with mpmath.workdps(50):
        mu, S = mpmath.matrix(X.shape[1], 1), mpmath.matrix(X.shape[1])
        for sign, label in zip((-1, 1), np.unique(y), strict=True):
            rows = mpmath.matrix(X[y == label].tolist())
            n, ones = rows.rows, mpmath.ones(rows.rows, 1)
            mean = rows.T * ones / n
            R = rows - ones * mean.T
            mu += sign * mean
            S += R.T * R / (1 if pooled else n - 1)
        w = mpmath.lu_solve(S, mu)
        return np.array([float(v / mpmath.norm(w)) for v in w])


def in_memory(*parts):
    return parts


FAR = {
    "gaussian": (GaussianAUCClassifier(), False),
    **{s: (LinearDiscriminantROC(solver=s), True) for s in ("svd", "lsqr", "eigen")},
}


@pytest.mark.parametrize("model", FAR)
@pytest.mark.parametrize("rows", [in_memory, blocks, lazy])
@pytest.mark.parametrize("offset", [0.0, 1e8, -3e10])
def test_features_far_from_zero_lose_nothing(rng, model, rows, offset):
    """Their means are rounded to 1e-8 of a spread, or 4e-6: differences must not be."""
    X, y = make(rng, 2, offset=0.0)
    X += offset * np.linspace(0.1, 1, P)
    model, pooled = FAR[model]
    found = model.fit(*rows(X, y))
    w = found.coef_[0] / np.linalg.norm(found.coef_)
    np.testing.assert_allclose(w, exact_direction(X, y, pooled), rtol=1e-9)
    near = model.fit(X - offset * np.linspace(0.1, 1, P), y)
    assert found.auc_ == pytest.approx(near.auc_, rel=1e-7)


@pytest.mark.parametrize("spoil", ["NaN", "one label less"])
def test_bad_rows_far_from_zero_are_told_as_others(rng, spoil):
    said = []
    for offset in (0.0, 1e8):
        X, y = make(rng, 2, offset=0.0)
        X[:, 1] += offset
        if spoil == "NaN":
            X[5, 0] = np.nan
        else:
            y = y[1:]
        with pytest.raises(ValueError, match=r"contains NaN|\[240, 239\]") as error:
            LinearDiscriminantROC().fit(X, y)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_names_of_features_far_from_zero(rng):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = make(rng, 3, offset=1e8)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = LinearDiscriminantROC().fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert (
        model.predict(frame).tolist()
        == LinearDiscriminantROC().fit(X - 1e8, y).predict(X - 1e8).tolist()
    )


def test_collinear_features(rng, way):
    """Which of the solutions "lsqr" takes is rounding; ours is that of least norm."""
    X, y = make(rng, 2)
    X[:, 5] = X[:, 0] + X[:, 1]
    expected = LinearDiscriminantROC().fit(X, y)
    model = LinearDiscriminantROC().fit(*way(X, y))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    model = LinearDiscriminantROC(solver="lsqr").fit(*way(X, y))
    assert model.auc_ == pytest.approx(expected.auc_, rel=1e-8)
    assert model.coef_[0, 5] == pytest.approx(model.coef_[0, :2].sum(), rel=1e-6)


def test_a_score_of_few_digits_is_projected_from_the_rows(rng, way):
    """A feature that nearly repeats another: αᵀΣα cancels, projected rows do not."""
    X, y = make(rng, 2, offset=0.0)
    X[:, 5] = X[:, 0] + 1e-4 * X[:, 5]
    expected = LinearDiscriminantROC(solver="lsqr").fit(X, y)
    model = LinearDiscriminantROC(solver="lsqr").fit(*way(X, y))
    scores = model.decision_function(X)
    parts = [Moments.from_samples(scores[y == label]) for label in model.classes_]
    pooled = sum(part.scatter for part in parts) / (N - 2)
    assert model.roc_.std_neg == pytest.approx(np.sqrt(pooled), rel=1e-10)
    assert model.auc_ == pytest.approx(expected.auc_, rel=1e-6)


def test_float32_is_summed_in_float64(rng, way):
    X, y = make(rng, 2)
    X = X.astype(np.float32)
    wide = X.astype(float)
    for model in (GaussianAUCClassifier(), LinearDiscriminantROC(solver="lsqr")):
        expected = model.fit(wide, y).coef_
        np.testing.assert_allclose(model.fit(*way(X, y)).coef_, expected, rtol=1e-8)


def test_sparse_chunks(rng):
    X, y = make(rng, 2, offset=0.0)
    X[rng.random(X.shape) < 0.5] = 0
    parts = [(sparse.csr_matrix(X[a : a + 40]), y[a : a + 40]) for a in range(0, N, 40)]
    few = [(sparse.csr_array(X[a : a + 4]), y[a : a + 4]) for a in range(0, N, 4)]
    mixed = [*parts[:3], (X[120:123], y[120:123]), (sparse.csr_array(X[123:]), y[123:])]
    for shrinkage in (None, "auto"):
        for given in (parts, few, mixed):
            for model, options in [
                (GaussianAUCClassifier, {}),
                (LinearDiscriminantROC, {"solver": "lsqr"}),
            ]:
                expected = model(shrinkage=shrinkage, **options).fit(X, y).coef_
                got = model(shrinkage=shrinkage, **options).fit(RowBlocks(given)).coef_
                np.testing.assert_allclose(got, expected, rtol=1e-8)


@pytest.mark.parametrize("labels", [(0, 1), (-1.0, 1.0), (False, True), ("no", "yes")])
def test_labels_of_every_kind(rng, way, labels):
    X, y = make(rng, 2)
    y = np.array(labels)[(y == "birch").astype(int)]
    for given in (y, y.astype(object)) if y.dtype.kind == "U" else (y,):
        expected = GaussianAUCClassifier().fit(X, given)
        model = GaussianAUCClassifier().fit(*way(X, given))
        assert model.classes_.tolist() == expected.classes_.tolist()
        assert_same_fit(model, expected)


def test_labels_of_chunks_are_united(rng):
    X, y = make(rng, 2)
    short = np.where(y == "ash", "a", "bb")
    cuts = [
        (X[y == "ash"], short[y == "ash"].astype("U1")),
        (X[y == "birch"], short[y == "birch"]),
    ]
    model = GaussianAUCClassifier().fit(RowBlocks(cuts))
    assert model.classes_.tolist() == ["a", "bb"]
    columns = [(rows, labels[:, None]) for rows, labels in cuts]
    assert_same_fit(GaussianAUCClassifier().fit(RowBlocks(columns)), model)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sizes", [(5, 3), (1,) * 8, (0, 8)], ids=str)
def test_more_features_than_rows_are_gathered(rng, way, sizes):
    X, y = rng.normal(size=(8, 30)), np.array(["b", "a"] * 4)
    for options in ({}, {"shrinkage": "auto"}, {"shrinkage": 0.5}):
        expected = GaussianAUCClassifier(**options).fit(X, y)
        model = GaussianAUCClassifier(**options).fit(*way(X, y, sizes=sizes))
        assert_same_fit(model, expected)
        assert not hasattr(model, "moments_")
    expected = LinearDiscriminantROC().fit(X, y)
    assert_same_fit(LinearDiscriminantROC().fit(*way(X, y, sizes=sizes)), expected)
    sparse_rows = RowBlocks([(sparse.csr_matrix(X), y)])
    assert_same_fit(LinearDiscriminantROC().fit(sparse_rows), expected)


def test_partial_fit_of_collections(rng, way):
    X, y = make(rng, 2)
    expected = GaussianAUCClassifier().fit(X, y)
    model = GaussianAUCClassifier()
    first, *more = way(X[:100], y[:100], sizes=(40, 60))
    model.partial_fit(first, *more, classes=["birch", "ash"])
    model.partial_fit(X[100:103], y[100:103])  # arrays and collections add up
    first, *more = way(X[103:], y[103:], sizes=(3, 134))
    model.partial_fit(first, *more)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    assert model.n_features_in_ == P


def spoilt(part, value, chunk=3):
    """The parts of six chunks, one of which holds a value that breaks a rule."""

    def change(X, y, w):
        parts = [X.copy(), y.astype(object) if part == 1 else y.copy(), w.copy()]
        parts[part][40 * chunk + 2] = value
        return parts

    return change


BAD = {
    "nan": (spoilt(0, np.nan), "X must be finite, got NaN in row 2, column 0"),
    "infinite": (spoilt(0, -np.inf), "X must be finite, got -inf in row 2, column 0"),
    "too large": (spoilt(0, 1e200), "X must hold features that are 0 or between"),
    "unknown label": (spoilt(1, "pine"), "y must hold.* got"),
    "missing label": (
        spoilt(1, None),
        r"y must hold labels of one kind .* got \[None\]",
    ),
    "label of another kind": (spoilt(1, 7), "y must hold labels of one kind"),
    "weight": (spoilt(2, -1.0), "sample_weight must be >= 0, got -1.0 in row 2"),
    "weight nan": (spoilt(2, np.nan), "sample_weight must be finite, got nan in row 2"),
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
    in_chunk = "" if case == "unknown label" else ".*in chunk 3$"
    with pytest.raises(ValueError, match=text + in_chunk):
        model.fit(*given)
    assert vars(model) == before
    X_given, *columns = given
    keywords = (
        {} if not columns else dict(zip(("y", "sample_weight"), columns, strict=True))
    )
    with pytest.raises(ValueError, match=text + ".*in chunk 3$"):
        model.partial_fit(X_given, **keywords)
    assert vars(model) == before


def test_a_label_never_announced_is_named(rng, way):
    X, y = make(rng, 3)
    model = GaussianAUCClassifier()
    first, *more = way(X, np.sort(y))
    with pytest.raises(
        ValueError,
        match=r"y must hold the labels \['ash', 'birch'\], got 'cedar', in chunk \d$",
    ):
        model.partial_fit(first, *more, classes=["ash", "birch"])
    assert vars(model) == vars(GaussianAUCClassifier())
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        model.partial_fit(first, *more)


def test_widths_lengths_and_kinds_of_labels_name_the_chunk(rng):
    X, y = make(rng, 2)
    good = (X[:40], y[:40])
    for blocks, text in [
        (
            [good, (X[40:80, :3], y[40:80])],
            "X must have 6 columns .* in chunk 1$",
        ),
        ([good, (X[40:80], y[40:70])], "y must have one value .* in chunk 1$"),
        ([good, (X[40:80].astype(str), y[40:80])], "X must hold real .* in chunk 1$"),
        (
            [good, (X[40:80], np.arange(40) % 2)],
            "of one kind, got 'ash' in chunk 0 and 0 in chunk 1",
        ),
        ([good, (X[40:80], rng.random(40))], "continuous or missing .* in chunk 1$"),
        ([good, (X[40:80], None)], "y must hold a label for each row, .* in chunk 1$"),
        ([(X[:40, 0], y[:40])], r"two-dimensional, got shape \(40,\), in chunk 0$"),
        (
            [good, (X[40:80], np.arange(40).astype(str))],
            "y must hold two classes, got 40, in chunk 1$",
        ),
    ]:
        with pytest.raises(ValueError, match=text):
            GaussianAUCClassifier().fit(RowBlocks(blocks))


def test_classes_are_counted_over_all_chunks(rng, way):
    X, y = make(rng, 3)
    with pytest.raises(ValueError, match="y must hold two classes, got 3"):
        GaussianAUCClassifier().fit(*way(X, np.sort(y)))
    with pytest.raises(ValueError, match=r"got only 1 class, \['ash'\]"):
        LinearDiscriminantROC().fit(*way(X, np.full(N, "ash")))
    two = np.where(y == "ash", "ash", "oak")
    with pytest.raises(ValueError, match=r"got only zeros in class 'ash'"):
        GaussianAUCClassifier().fit(*way(X, two, (two == "oak").astype(float)))
    with pytest.raises(ValueError, match="more than the number of classes"):
        LinearDiscriminantROC().fit(*blocks(X[:2, :1], np.array([0, 1]), sizes=(1, 1)))


def test_sizes_of_features_are_those_of_all_rows(rng, way):
    X, y = make(rng, 2, offset=0.0)
    X[:39, 2] = 1e-80 * X[:39, 2]  # tiny in one chunk only: the feature is not
    expected = GaussianAUCClassifier().fit(X, y)
    assert_same_fit(GaussianAUCClassifier().fit(*way(X, y)), expected)
    X[:, 2] = 0.0  # zeros are allowed
    X[:, 3] = 1e-80
    with pytest.raises(ValueError, match=r"got 1e-80 in feature 3"):
        GaussianAUCClassifier().fit(*way(X, y))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"covariance_estimator": 3}, "covariance_estimator must be None where rows"),
        ({"shrinkage": 0.1}, "shrinkage must be None for solver='svd', .* got 0.1"),
        ({"solver": "lsqr", "shrinkage": 1.5}, "shrinkage must be .* got 1.5"),
        (
            {"solver": "lsqr", "shrinkage": "empirical"},
            "shrinkage must be one of 'auto', got 'empirical'",
        ),
        ({"solver": "qr"}, "solver must be one of 'svd', 'lsqr', 'eigen', got 'qr'"),
        ({"priors": [1, 1, 1]}, "priors must hold a number >= 0 for each of the 2"),
        ({"priors": [-1, 2]}, "priors must be non-negative"),
        ({"n_components": 3}, "n_components cannot be larger"),
        ({"denominator": "n"}, "denominator must be one of"),
    ],
    ids=str,
)
def test_parameters_of_lda(rng, way, options, text):
    X, y = make(rng, 2)
    model = LinearDiscriminantROC(**options)
    with pytest.raises(ValueError, match=text):
        model.fit(*way(X, y))
    assert vars(model) == vars(LinearDiscriminantROC(**options))


def test_lda_takes_no_weights(rng):
    X, y = make(rng, 2)
    with pytest.raises(ValueError, match="sample_weight must be None, .* in chunk 0$"):
        LinearDiscriminantROC().fit(RowBlocks([(X, y, np.ones(N))]))


def test_rows_that_do_not_vary(way):
    X, y = np.repeat([[1.0] * P, [2.0] * P], N // 2, axis=0), np.repeat([0, 1], N // 2)
    with pytest.raises(ValueError, match="X must vary within the classes by more"):
        LinearDiscriminantROC().fit(*way(X, y))


PREDICTIONS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantROC(),
        QuadraticDiscriminantROC(),
        GaussianAUCClassifier(),
        IRLSLogisticRegression(C=1.0),
    ],
    ids=str,
)
def test_predictions_do_not_gather(rng, way, model):
    X, y = make(rng, 2)
    model.fit(X, y)
    for method in [*PREDICTIONS, *(["transform"] if hasattr(model, "xbar_") else [])]:
        with pytest.raises(ValueError, match="X must be an array .* predicts where"):
            getattr(model, method)(way(X)[0])


def test_predictions_where_the_rows_are(rng):
    X, y = make(rng, 2)
    for fitted in (
        GaussianAUCClassifier().fit(X, y),
        LinearDiscriminantROC().fit(X, y),
    ):
        (chunks,) = lazy(X)
        predicted = chunks.map_blocks(fitted.predict, drop_axis=1, dtype=y.dtype)
        assert predicted.compute().tolist() == fitted.predict(X).tolist()
        blocks = RowBlocks.from_arrays(X, y, n_rows=30)
        predicted = blocks.map(lambda block, model=fitted: model.predict(block.X))
        assert np.concatenate(predicted).tolist() == fitted.predict(X).tolist()
    for rows, remedy in [
        (chunks, r"Dask's Array, .*X\.map_blocks\(model\.predict"),
        (blocks, r"RowBlocks, .*blocks\.map\(lambda block: model\.predict"),
    ]:
        with pytest.raises(ValueError, match=remedy):
            fitted.predict(rows)


def test_qda_needs_all_rows(rng, way):
    X, y = make(rng, 2)
    with pytest.raises(ValueError, match="X must be an array where all rows"):
        QuadraticDiscriminantROC().fit(*way(X, y), *([] if way is lazy else [y]))


def test_text_of_data_frames_in_errors(rng, way):
    X, y = make(rng, 2)
    text = y.astype(object)  # as data frames and Parquet files have it
    with pytest.raises(ValueError, match="got only zeros in class 'ash'"):
        GaussianAUCClassifier().fit(*way(X, text, (y == "birch").astype(float)))
    with pytest.raises(ValueError, match="got only zeros in class 'ash'"):
        IRLSLogisticRegression().fit(*way(X, text, (y == "birch").astype(float)))
    with pytest.raises(ValueError, match=r"labels \['a', 'b'\], got '(ash|birch)'"):
        stream(GaussianAUCClassifier(), way(X, text), classes=["a", "b"])
    kinds = [(X[:9], text[:9]), (X[9:], (y[9:] == "ash"))]
    with pytest.raises(ValueError, match="labels of one kind, got '.*' in chunk 0"):
        LinearDiscriminantROC().fit(RowBlocks(kinds))


def stream(model, given, classes):
    X, y = given if len(given) == 2 else (given[0], None)
    return model.partial_fit(X, y, classes=classes)


def test_a_label_never_announced_comes_before_their_number(rng, way):
    X, y = make(rng, 3)
    with pytest.raises(ValueError, match=r"labels \['ash', 'birch'\], got 'cedar'"):
        stream(GaussianAUCClassifier(), way(X, y), classes=["ash", "birch"])


def test_rows_without_weight_and_without_columns(rng, way):
    X, y = make(rng, 2)
    given = way(X, y, np.zeros(N))
    X_y_weight = given if len(given) == 3 else (given[0], None, None)
    model = GaussianAUCClassifier().partial_fit(
        *X_y_weight[:2], classes=["ash", "birch"], sample_weight=X_y_weight[2]
    )
    assert [part.n for part in model.moments_] == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"one feature or more, got shape \(40, 0\)"):
        GaussianAUCClassifier().fit(*way(X[:, :0], y))


@pytest.mark.parametrize("model", [GaussianAUCClassifier(), LinearDiscriminantROC()])
def test_features_whose_squares_nearly_overflow(rng, way, model):
    X, y = make(rng, 2)
    X[:, 2] = 4e153 + rng.normal(size=N)  # n times the squared mean overflows
    with pytest.raises(ValueError, match=r"between 1e-70 and .* got 4e\+153 in feat"):
        model.fit(*way(X, y))
    with pytest.raises(ValueError, match=r"between 1e-70 and .* got 4e\+153 in feat"):
        GaussianAUCClassifier().fit(X, y)


def test_bytes_are_no_labels(rng, way):
    X, y = make(rng, 2)
    for model in (
        GaussianAUCClassifier(),
        LinearDiscriminantROC(),
        IRLSLogisticRegression(),
    ):
        with pytest.raises(ValueError, match="y must hold texts or numbers, got b'"):
            model.fit(*way(X, y.astype("S")))


@pytest.mark.parametrize(
    "model", [GaussianAUCClassifier(shrinkage="auto"), IRLSLogisticRegression(C=1.0)]
)
def test_weights_in_a_column(rng, way, model):
    X, y = make(rng, 2)
    weight = rng.integers(0, 3, N).astype(float)
    expected = model.fit(X, y, weight).coef_
    found = model.fit(*way(X, y, weight[:, None])).coef_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_shrinkage_of_many_rows_is_small(solver):
    # Ledoit & Wolf's noise is far below .1 here
    rng = np.random.default_rng(3)
    y = np.arange(6000) % 2
    X = rng.standard_normal((6000, 3)) @ rng.standard_normal((3, 3)) + y[:, None]
    options = {"solver": solver, "shrinkage": "auto"}
    (rows,) = blocks(X, y, sizes=(1000,) * 6)
    found = LinearDiscriminantROC(**options).fit(rows)
    expected = LinearDiscriminantROC(**options).fit(X, y)
    assert found.coef_ == pytest.approx(expected.coef_, rel=1e-9)
    assert found.covariance_ == pytest.approx(expected.covariance_, rel=1e-9)


def test_texts_as_objects_in_chunks_of_one_row(rng):
    X, y = make(rng, 2)
    (rows,) = blocks(X, y.astype(object), sizes=(1,) * N)
    found = GaussianAUCClassifier().fit(rows)
    assert found.coef_ == pytest.approx(GaussianAUCClassifier().fit(X, y).coef_)


@pytest.mark.parametrize("size", [2.0**-260, 2.0**260])
def test_logistic_chunks_of_extreme_features(rng, size):
    X, y = make(rng, 2, offset=0.0)
    y = rng.permutation(y)
    (rows,) = blocks(X * size, y)
    found = IRLSLogisticRegression().fit(rows)
    plain = IRLSLogisticRegression().fit(X, y)
    assert found.coef_ * size == pytest.approx(plain.coef_, rel=1e-8)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_rows_with_the_covariance_of_dependent_features(rank):
    rng = np.random.default_rng(0)
    for _ in range(5):
        half = rng.normal(size=(6, rank))
        rows = _rows_with_covariance(half @ half.T)
        np.testing.assert_allclose(rows.T @ rows / 12, half @ half.T, atol=1e-12)
        spread = np.linalg.svd(rows, compute_uv=False)
        assert (spread[rank:] < 1e-14 * spread[0]).all()  # not the root of a rounding
