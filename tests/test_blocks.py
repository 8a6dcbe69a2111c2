"""Rows in blocks give the answer of rows in memory: calls × containers, calls × errors.

Containers are lists of tuples, memory maps, Parquet files, Dask arrays and frames; bad
input raises one error that names the chunk.
"""

import contextlib
import tracemalloc

import joblib
import numpy as np
import pytest
from rows_in_blocks import cut
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc
from skauc import RowBlocks

N, P = 211, 4
FEATURES = [f"x{j}" for j in range(P)]


@pytest.fixture(scope="module")
def rows():
    """Features, labels and whole weights; both classes overlap."""
    rng = np.random.default_rng(3)
    y = rng.random(N) < 0.4
    X = 5 + rng.normal(size=(N, P)) * np.arange(1, P + 1) + 0.8 * y[:, None]
    # float32 holds these numbers exactly, so that every container holds the same
    return X.round(1).astype(np.float32).astype(float), y, rng.integers(1, 4, N) * 1.0


# ---------------------------------------------------------------------- containers


def of_sizes(*sizes, kind=np.asarray, scores_kind=np.asarray):
    def make(folder, X, *columns):
        like = kind if X.ndim == 2 else scores_kind
        parts = cut((X, *columns), sizes)
        return RowBlocks([(like(part[0]), *part[1:]) for part in parts])

    return make


def float32(X):
    return X.astype(np.float32)


def memory_maps(folder, *arrays):
    files = [folder / f"{k}.npy" for k in range(len(arrays))]
    for file, array in zip(files, arrays, strict=True):
        np.save(file, array)
    maps = [np.load(file, mmap_mode="r") for file in files]
    return RowBlocks.from_arrays(*maps, n_rows=20)


def columns_of(X, y, weight=None):
    features = dict(zip(FEATURES, X.T, strict=False)) if X.ndim == 2 else {"x": X}
    return {**features, "y": y, **({} if weight is None else {"w": weight})}


def parquet(folder, X, y, weight=None):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet, table

    file = folder / "rows.parquet"
    parquet.write_table(table(columns_of(X, y, weight)), file)
    features = "x" if X.ndim == 1 else FEATURES[: X.shape[1]]

    def blocks():
        for batch in parquet.ParquetFile(file).iter_batches(50):
            frame = batch.to_pandas()
            weights = [] if weight is None else [frame["w"]]
            yield frame[features], frame["y"], *weights

    return RowBlocks(blocks)


def dask_arrays(sizes, unknown=False, kind=None):
    def make(folder, X, *columns):
        da = pytest.importorskip("dask.array", reason="Dask is not installed")
        given = [da.from_array(X, chunks=(sizes, 2) if X.ndim == 2 else (sizes,))]
        if kind is not None and X.ndim == 2:
            given = [da.from_array(X, chunks=(sizes, P)).map_blocks(kind)]
        given += [da.from_array(column, chunks=(sizes,)) for column in columns]
        if unknown:
            given = [one[da.ones(N, chunks=(sizes,)) > 0] for one in given]
        return given

    return make


def dask_frames(folder, X, y, weight=None):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="Dask's frames are missing")
    frame = dd.from_pandas(pd.DataFrame(columns_of(X, y, weight)), npartitions=4)
    features = frame[FEATURES[: X.shape[1]]] if X.ndim == 2 else frame["x"]
    return features, frame["y"], *([] if weight is None else [frame["w"]])


CONTAINERS = {
    "one block": of_sizes(N),
    "blocks of one row": of_sizes(*[1] * 30, N - 30),
    "empty and uneven blocks": of_sizes(0, 1, 0, 150, 60, 0),
    "float32 blocks": of_sizes(100, 111, kind=float32, scores_kind=float32),
    "sparse blocks": of_sizes(100, 111, kind=sparse.csr_matrix),
    "sparse columns": of_sizes(100, 111, kind=sparse.csc_array),
    "lists": of_sizes(100, 111, kind=np.ndarray.tolist, scores_kind=np.ndarray.tolist),
    "memory maps": memory_maps,
    "Parquet": parquet,
    "Dask arrays": dask_arrays((60, 60, 0, 91)),
    "Dask, a tree of two levels": dask_arrays((13,) * 16 + (3,)),
    "Dask, unknown sizes": dask_arrays((100, 111), unknown=True),
    "Dask, sparse chunks": dask_arrays((100, 111), kind=sparse.csr_matrix),
    "Dask frames": dask_frames,
}


# --------------------------------------------------------------------------- calls


def moments(X, y=None, weight=None):
    neg, pos = skauc.class_moments(X, y, weight)
    diagonals = skauc.class_moments(X, y, weight, featurewise=True)
    found = [neg.n, pos.n, neg.mean, pos.mean, neg.scatter, pos.scatter]
    return [*found, *(part.scatter for part in diagonals)]


def gaussian(X, y=None, weight=None):
    model = skauc.GaussianAUCClassifier().fit(X, y, weight)
    shrunk = skauc.GaussianAUCClassifier(shrinkage="auto").fit(X, y, weight)
    return [model.coef_, model.intercept_, shrunk.coef_]


def irls(X, y=None, weight=None):
    model = skauc.IRLSLogisticRegression().fit(X, y, weight)
    return [model.coef_, model.intercept_, model.standard_errors_]


def penalised(X, y=None, weight=None):
    model = skauc.IRLSLogisticRegression(C=0.1).fit(X, y, weight)
    return [model.coef_, model.intercept_]


def area(score, y=None, weight=None):
    if isinstance(score, RowBlocks):
        found = skauc.auc_estimate(score)
    else:
        found = skauc.auc_estimate(y, score, sample_weight=weight)
    return [found.auc, *found.confidence_interval(), found.standard_error("delong")]


def comparison(scores, y=None, weight=None):
    if isinstance(scores, RowBlocks):
        found = skauc.compare_auc(scores)
    else:
        is_frame = hasattr(scores, "columns")
        two = (scores[k] if is_frame else scores[:, k] for k in scores_of(scores))
        found = skauc.compare_auc(y, *two, sample_weight=weight)
    return [found.auc_a, found.auc_b, found.difference, found.pvalue]


def scores_of(scores):
    """Names or numbers of two columns."""
    return FEATURES[:2] if hasattr(scores, "columns") else (0, 1)


def posterior(X, y=None, weight=None):
    """Of blocks within .2 of its standard deviation of the one in memory."""
    rng = np.random.default_rng(0)
    model = skauc.IRLSLogisticRegression().fit(
        rng.normal(size=(30, P)), np.arange(30) % 2
    )
    model.coef_, model.intercept_ = np.array([[0.5, -0.1, 0.2, 0.1]]), np.array([-2.0])
    found = skauc.auc_posterior(model, X, y, sample_weight=weight, rows="held-out")
    return [found.mean() / found.std()]


def many_rows(seed):
    """Enough rows that the posterior of blocks comes from a sample and all scores."""
    rng = np.random.default_rng(seed)
    y = rng.random(60_000) < 0.3
    X = 5 + rng.normal(size=(len(y), 30)) * np.arange(1, 31)
    X[y, :10] += 0.15 * np.arange(1, 11)
    return X, y


MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "IRLS": skauc.IRLSLogisticRegression(),
    "shrunk Gaussian AUC": skauc.GaussianAUCClassifier(shrinkage="auto"),
}


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["adaptive", "paper"])
@pytest.mark.parametrize("name", MODELS)
def test_posterior_from_a_sample(name, prior):
    """Near the posterior in memory, in its standard deviations; of new rows, equal."""
    X, y = many_rows(0)
    model = MODELS[name].fit(X, y)
    found = skauc.auc_posterior(model, RowBlocks.from_arrays(X, y), prior=prior)
    expected = skauc.auc_posterior(model, X, y, prior=prior)
    atol = 0.3 if name == "shrunk Gaussian AUC" else 0.2  # that one needs refits
    assert abs(found.mean() - expected.mean()) < atol * expected.std()
    assert found.std() == pytest.approx(expected.std(), rel=0.05)
    assert found.rows == expected.rows
    if prior == "adaptive":
        apart = found.leave_pair_out - expected.leave_pair_out
        assert abs(apart) < atol * expected.std()
    for rows in ("training", "held-out"):
        scorer = skauc.make_ebauc_scorer(prior=prior, rows=rows)
        apart = scorer(model, RowBlocks.from_arrays(X, y)) - scorer(model, X, y)
        assert abs(apart) < atol * expected.std()
    X, y = many_rows(1)
    blocks = RowBlocks.from_arrays(X, y)
    with contextlib.ExitStack() as stack:
        if prior == "adaptive":
            text = "treated as held-out"
            stack.enter_context(pytest.warns(skauc.UntrustedAUCWarning, match=text))
        found = skauc.auc_posterior(model, blocks, prior=prior)
        expected = skauc.auc_posterior(model, X, y, prior=prior)
    assert found.mean() == pytest.approx(expected.mean(), rel=1e-9)
    assert found.rows == expected.rows


@pytest.mark.slow
def test_posterior_from_a_sample_with_weights_and_more_classes():
    X, y = many_rows(2)
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 3, len(y)) * 1.0
    model = MODELS["logistic"].fit(X, y, logisticregression__sample_weight=weight)
    blocks = RowBlocks.from_arrays(X, y, weight)
    found = skauc.auc_posterior(model, blocks)
    with pytest.warns(skauc.UntrustedAUCWarning, match="copies of others"):
        expected = skauc.auc_posterior(model, X, y, sample_weight=weight)
    assert abs(found.mean() - expected.mean()) < 0.2 * expected.std()
    assert found.std() == pytest.approx(expected.std(), rel=0.05)
    assert skauc.cbauc_scorer(model, blocks) == pytest.approx(expected.choice(), 1e-3)
    three = y.astype(int) + (rng.random(len(y)) < 0.3)
    model = MODELS["logistic"].fit(X, three)
    found = skauc.auc_posterior(model, RowBlocks.from_arrays(X, three), rows="training")
    # in memory rows of three classes are left out by folds, unless it is forbidden
    how = {"rows": "training", "prior": skauc.AdaptivePrior(refits=0)}
    expected = skauc.auc_posterior(model, X, three, **how)
    for pair, one in expected.pairs.items():
        assert abs(found.pairs[pair].mean() - one.mean()) < 0.2 * one.std()


CALLS = {  # function, columns of X (None for a score), rtol, whether weights enter
    "class_moments": (moments, P, 1e-12, True),
    "Gaussian AUC": (gaussian, P, 1e-8, True),
    "IRLS": (irls, P, 1e-8, True),
    "penalised IRLS": (penalised, P, 1e-8, True),
    "auc_estimate": (area, None, 1e-12, True),
    "compare_auc": (comparison, 2, 1e-12, True),
    "auc_posterior": (posterior, P, 0.02, True),
}


ANSWERS = [  # scores are not sparse
    (call, container)
    for call, (_, width, *_) in CALLS.items()
    for container in CONTAINERS
    if width == P or "sparse" not in container
]


@pytest.mark.parametrize(("call", "container"), ANSWERS)
def test_answers_of_blocks(rows, tmp_path, call, container):
    ask, width, rtol, takes_weights = CALLS[call]
    X, y, weight = rows
    X = X[:, 0] if width is None else X[:, :width]
    for given in [(X, y), (X, y, weight)][: 1 + takes_weights]:
        made = CONTAINERS[container](tmp_path, *given)
        found = ask(made) if isinstance(made, RowBlocks) else ask(*made)
        for one, other in zip(found, ask(*given), strict=True):
            atol = rtol * np.max(np.abs(other))
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize("call", ["Gaussian AUC", "IRLS", "auc_estimate"])
def test_labels_and_blocks_of_one_class(rows, call):
    """One class after the other; labels are texts or numbers."""
    ask, width, rtol, _ = CALLS[call]
    X, positive, _ = rows
    order = np.argsort(positive, kind="stable")
    X = (X[:, 0] if width is None else X)[order]
    for labels in (("no", "yes"), (0, 1), (1.0, 2.0)):
        y = np.array(labels)[positive[order].astype(int)]
        blocks = RowBlocks(cut((X, y), [np.sum(~positive), np.sum(positive)]))
        for one, other in zip(ask(blocks), ask(X, y), strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol, err_msg=labels)


def test_as_many_blocks_at_once_as_joblib_has_jobs(rows):
    X, y, weight = rows
    parts = cut((X, y, weight), [50] * 4 + [11])
    bad = [*parts[:3], (*parts[3][:2], -parts[3][2])]
    with joblib.parallel_config(n_jobs=2):
        at_once = moments(RowBlocks(parts))
        with pytest.raises(ValueError, match="sample_weight must .*in chunk 3$"):
            moments(RowBlocks(bad))
    for one, other in zip(at_once, moments(RowBlocks(parts)), strict=True):
        np.testing.assert_array_equal(one, other)


# -------------------------------------------------------------------------- errors

BAD = {  # what is changed in chunk 2, and the text of the error
    "nan": (
        0,
        lambda X: np.where(X == X[0], np.nan, X),
        "must be finite|must not be NaN",
    ),
    "texts": (0, lambda X: X.astype(str), "must hold real numbers|must hold numbers"),
    "length": (1, lambda y: y[1:], "must have one value for each of the 50 rows"),
    "width": (0, lambda X: X[:, :1], "must have . columns as the other chunks"),
    "negative": (2, lambda w: w - 100, "sample_weight must be 0 or"),
    "missing labels": (1, lambda y: np.where(y, np.nan, 0.0), "missing|boolean|NaN"),
}
ASKED = ["class_moments", "Gaussian AUC", "IRLS", "auc_estimate", "compare_auc"]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("call", ASKED)
def test_errors_name_the_chunk(rows, call, lazy):
    ask, width, *_ = CALLS[call]
    X, y, weight = rows
    X = X[:, 0] if width is None else X[:, :width]
    for case, (part, change, text) in BAD.items():
        if case == "width" and (width is None or (lazy and width < P)):
            continue  # scores of one column each
        chunks = cut((X, y, weight), [60, 51, 50, 50])
        bad = list(chunks[2])
        bad[part] = change(bad[part])
        chunks[2] = tuple(bad)
        given = [RowBlocks(chunks)]
        if lazy:
            given = [delayed_arrays(column) for column in zip(*chunks, strict=True)]
        # the classifiers gather labels before they check them
        gathered = case == "missing labels" and call in ("Gaussian AUC", "IRLS")
        where = "" if gathered else ".*in chunk 2$"
        with pytest.raises(ValueError, match=f"(?:{text}){where}"):
            ask(*given)


def delayed_arrays(parts):
    """A Dask array whose chunks are not what it was told."""
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    import dask

    shape = parts[0].shape[1:]
    sizes = [60, 51, 50, 50]
    found = [
        da.from_delayed(dask.delayed(part), (size, *shape), dtype=parts[0].dtype)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(found)


@pytest.mark.parametrize("call", ASKED)
def test_no_rows_at_all(rows, call):
    ask, width, *_ = CALLS[call]
    X, y, _ = rows
    X = X[:0, 0] if width is None else X[:0, :width]
    for blocks in ([], [(X, y[:0])] * 2):
        with pytest.raises(ValueError, match="must have at least one row, got only"):
            ask(RowBlocks(blocks))


@pytest.mark.parametrize("call", ["Gaussian AUC", "IRLS", "auc_estimate"])
def test_kinds_of_labels_that_differ(rows, call):
    ask, width, *_ = CALLS[call]
    X, y, _ = rows
    parts = cut((X[:, 0] if width is None else X, y), [100, 111])
    parts[1] = parts[1][0], np.where(parts[1][1], "yes", "no")
    with pytest.raises(ValueError, match="one kind|must hold class labels"):
        ask(RowBlocks(parts))


def peak_of_posterior(model, n):
    """Most memory, in bytes, that a posterior of n rows in blocks needs at a time."""

    def blocks():
        for seed in range(n // 50_000):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(50_000, 10))
            yield X, (X[:, 0] + rng.normal(size=50_000) > 0).astype(int)

    fitted = model.fit(RowBlocks(blocks))
    tracemalloc.start()
    try:
        assert (
            skauc.auc_posterior(fitted, RowBlocks(blocks)).rows == "training (detected)"
        )
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [skauc.GaussianAUCClassifier(), skauc.IRLSLogisticRegression()], ids=repr
)
def test_posterior_of_blocks_holds_three_numbers_per_row(model):
    few, many = 400_000, 1_200_000
    grown = peak_of_posterior(model, many) - peak_of_posterior(model, few)
    assert grown / (many - few) < 3 * 8
