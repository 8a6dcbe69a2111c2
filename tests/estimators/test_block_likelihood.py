"""IRLS over rows in blocks: the fit of the concatenated rows, whatever the blocks."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skauc import IRLSLogisticRegression, RowBlocks
from skauc.estimators import _irls

CUTS = {"one": [], "some": [40, 41, 41, 170], "sorted": None, "rows": range(1, 240)}
PROBLEMS = {
    "plain": {},
    "no intercept": {"fit_intercept": False},
    "ridge": {"C": 0.3},
    "balanced": {"class_weight": "balanced"},
    "dict": {"class_weight": {0: 0.25, 1: 3.0}},
    "firth": {"penalty": "firth"},
}


def rows_of(seed=0, n=240, P=4, K=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) + rng.normal(size=P)
    logits = X @ rng.normal(size=(P, K)) + rng.gumbel(size=(n, K))
    return X, logits.argmax(axis=1), rng.integers(0, 4, n) * 0.75


def in_blocks(X, y, weight=None, cuts=(40, 41, 41, 170)):
    """A list of tuples, cut at the places; 41, 41 is an empty block."""
    arrays = [X, y] if weight is None else [X, y, weight]
    edges = [0, *cuts, X.shape[0]]
    return RowBlocks([tuple(a[i:j] for a in arrays) for i, j in pairwise(edges)])


def same(found, expected):
    """Roundings of two orders of summation, and Newton's last step."""
    assert found.coef_ == pytest.approx(expected.coef_, rel=1e-10, abs=1e-11)
    assert found.intercept_ == pytest.approx(expected.intercept_, rel=1e-10, abs=1e-11)
    for name in ("log_likelihood_", "n_observations_", "rank_", "n_parameters_"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    for name in ("converged_", "separation_", "n_features_in_", "reference_"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.classes_.tolist() == expected.classes_.tolist()
    if expected.result_.covariance is not None:
        assert found.result_.covariance == pytest.approx(
            expected.result_.covariance, rel=1e-9, abs=1e-14
        )
    if expected.result_.standard_errors is not None:
        assert found.result_.standard_errors == pytest.approx(
            expected.result_.standard_errors, rel=1e-9
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("cut", CUTS)
def test_fit_is_that_of_the_rows(cut, problem, weighted):
    X, y, weight = rows_of()
    weight = weight if weighted else None
    cuts = CUTS[cut]
    if cuts is None:  # blocks of one class
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
        cuts = [60, np.count_nonzero(y == 0)]
    model = IRLSLogisticRegression(**PROBLEMS[problem])
    expected = model.fit(X, y, weight)
    found = IRLSLogisticRegression(**PROBLEMS[problem])
    same(found.fit(in_blocks(X, y, weight, cuts)), expected)


@pytest.mark.parametrize("C", [np.inf, 2.0])
def test_three_classes(C):
    X, y, weight = rows_of(K=3)
    labels = np.array(["left", "middle", "right"])[y]
    expected = IRLSLogisticRegression(C=C, reference="right").fit(X, labels, weight)
    found = IRLSLogisticRegression(C=C, reference="right")
    same(found.fit(in_blocks(X, labels, weight)), expected)


@pytest.mark.parametrize("kind", ["float32", "csr", "int", "objects", "lists"])
def test_kinds_of_blocks(kind):
    X, y, _ = rows_of()
    X = np.round(4 * X)
    expected = IRLSLogisticRegression().fit(X, y)
    if kind == "lists":
        blocks = RowBlocks([(X[i::5].tolist(), y[i::5].tolist()) for i in range(5)])
    else:
        made = {
            "float32": np.float32,
            "csr": sparse.csr_matrix,
            "int": lambda X: X.astype(int),
            "objects": lambda X: X.astype(object),
        }[kind](X)
        blocks = in_blocks(made, y)
    same(IRLSLogisticRegression().fit(blocks), expected)


def test_blocks_of_memory_maps(tmp_path):
    X, y, _ = rows_of()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = IRLSLogisticRegression().fit(RowBlocks.from_arrays(mapped, y, n_rows=7))
    same(found, IRLSLogisticRegression().fit(X, y))


def test_blocks_of_parquet(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X, y, weight = rows_of()
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(y=y, weight=weight)
    frame.to_parquet(tmp_path / "rows.parquet")
    blocks = RowBlocks.from_parquet(
        tmp_path / "rows.parquet", y="y", sample_weight="weight"
    )
    found = IRLSLogisticRegression().fit(blocks)
    same(found, IRLSLogisticRegression().fit(X, y, weight))


@pytest.mark.parametrize("change", ["far", "huge", "tiny", "dependent"])
def test_coordinates_are_those_of_all_rows(change):
    X, y, _ = rows_of()
    if change == "far":
        X = X + 1e6
    elif change == "huge":
        X = X * [1e160, 1, 1, 1]
    elif change == "tiny":
        X = X * [1e-200, 1, 1, 1]
    else:
        X = np.column_stack([X, X[:, 0] - X[:, 1]])
    if change == "dependent":
        with pytest.warns(ConvergenceWarning, match="rank 5 of 6"):
            expected = IRLSLogisticRegression().fit(X, y)
        with pytest.warns(ConvergenceWarning, match="rank 5 of 6"):
            found = IRLSLogisticRegression().fit(in_blocks(X, y))
    else:
        expected = IRLSLogisticRegression().fit(X, y)
        found = IRLSLogisticRegression().fit(in_blocks(X, y))
    ratio = found.coef_ / expected.coef_
    assert ratio == pytest.approx(1, rel=1e-8)
    ratio = found.standard_errors_ / expected.standard_errors_
    assert ratio == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("kind", ["complete", "quasi-complete"])
def test_separation_is_found(kind):
    _, y, weight = rows_of()
    X = np.where(y == 1, 1.0, -1.0)[:, None]
    if kind == "quasi-complete":
        X[1::3, 0] = 0.0
    for blocks in (in_blocks(X, y), in_blocks(X, y, weight)):
        with pytest.warns(ConvergenceWarning, match=f"{kind} separation"):
            model = IRLSLogisticRegression().fit(blocks)
        assert model.separation_ == kind
    # Two rows of one block stand against it
    X[[np.argmax(y == 0), np.argmax(y == 1)]] *= -1
    assert IRLSLogisticRegression().fit(in_blocks(X, y)).separation_ is None


def test_more_features_than_rows_are_gathered():
    X, y, weight = rows_of(n=30, P=50)
    for columns in ((X, y), (X, y, weight + 0.5)):
        expected = IRLSLogisticRegression(C=1.0).fit(*columns)
        found = IRLSLogisticRegression(C=1.0).fit(in_blocks(*columns, cuts=[3, 20]))
        same(found, expected)


def test_start_on_a_share_of_the_blocks(monkeypatch):
    """Tenth blocks that are unlike the others cost steps and nothing else."""
    X, y, _ = rows_of(n=6000, P=3)
    expected = IRLSLogisticRegression().fit(X, y)
    blocks = RowBlocks.from_arrays(X, y, n_rows=150)
    found = IRLSLogisticRegression().fit(blocks)
    same(found, expected)
    monkeypatch.setattr(_irls, "_STEPS_ON_SHARE", 0)
    assert found.n_iter_ < IRLSLogisticRegression().fit(blocks).n_iter_ - 2
    monkeypatch.undo()
    order = np.argsort(X[:, 0])
    blocks = RowBlocks.from_arrays(X[order], y[order], n_rows=601)
    same(IRLSLogisticRegression().fit(blocks), expected)


def test_warm_start():
    X, y, _ = rows_of()
    model = IRLSLogisticRegression(warm_start=True, C=5.0).fit(in_blocks(X, y))
    model.fit(in_blocks(X, y))
    assert model.n_iter_ == 1
    model.fit(in_blocks(X[:, :2], y))  # another width starts anew
    same(model, IRLSLogisticRegression(C=5.0).fit(X[:, :2], y))


@pytest.mark.parametrize("penalty", ["l2", "firth"])
def test_reports_that_need_the_rows(penalty):
    X, y, weight = rows_of()
    model = IRLSLogisticRegression(penalty=penalty).fit(X, y, weight)
    blocks = in_blocks(X, y, weight)
    expected = model.summary(method="profile", X=X, y=y, sample_weight=weight)
    found = model.summary(method="profile", X=blocks)
    assert found.low == pytest.approx(expected.low, rel=1e-8)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    question = {"contrast": [[0, 1, 1, 0, 0]]}
    expected = model.likelihood_ratio_test(**question, X=X, y=y, sample_weight=weight)
    found = model.likelihood_ratio_test(**question, X=blocks)
    assert found == pytest.approx(expected, rel=1e-8)
    if penalty == "firth":
        return
    for covariance in ("HC0", "HC1"):
        expected = model.summary(covariance=covariance, X=X, y=y, sample_weight=weight)
        found = model.summary(covariance=covariance, X=blocks)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-10)


def test_reports_refuse_what_is_no_sum_and_other_rows():
    X, y, _ = rows_of()
    model = IRLSLogisticRegression().fit(in_blocks(X, y))
    with pytest.raises(ValueError, match="groups must be None where X comes in blocks"):
        model.summary(covariance="cluster", X=in_blocks(X, y), groups=y)
    with pytest.raises(ValueError, match="must be those of the fit, whose log-likel"):
        model.summary(covariance="HC0", X=in_blocks(X[:-1], y[:-1]))
    other = np.append(y[:-1], 2)
    with pytest.raises(ValueError, match=r"the labels \[0, 1\], got 2, in chunk 2"):
        model.summary(covariance="HC0", X=in_blocks(X, other, cuts=[4, 40]))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y, w: (np.where(X == X[1], np.nan, X), y, w), "X must be finite"),
        (lambda X, y, w: (X[:, :3], y, w), "X must have .*columns"),
        (lambda X, y, w: (X.astype(str), y, w), "X must hold real numbers"),
        (lambda X, y, w: (X[:, 0], y, w), "X must have .*columns"),
        (lambda X, y, w: (X, y[1:], w), "y must have one value for each"),
        (lambda X, y, w: (X, y + 0.5, w), "continuous"),
        (lambda X, y, w: (X, np.where(y == 1, np.nan, y), w), "missing values"),
        (lambda X, y, w: (X, y.astype(str), w), "y must hold labels of one kind"),
        (lambda X, y, w: (X, y, -w), "sample_weight must be >= 0"),
        (lambda X, y, w: (X, y, w * np.nan), "sample_weight must be finite"),
    ],
)
def test_errors_name_the_chunk_and_change_nothing(spoil, message):
    X, y, weight = rows_of()
    weight = weight + 1
    model = IRLSLogisticRegression().fit(X, y)
    before = model.coef_.copy(), dict(vars(model))
    parts = [(X[i : i + 60], y[i : i + 60], weight[i : i + 60]) for i in (0, 60, 120)]
    parts[2] = spoil(*parts[2])
    with pytest.raises(ValueError, match=f"{message}.*chunk 2"):
        model.fit(RowBlocks(parts))
    assert vars(model) == before[1]
    assert np.array_equal(model.coef_, before[0])


def test_errors_of_all_blocks():
    X, y, weight = rows_of()
    model = IRLSLogisticRegression()
    with pytest.raises(ValueError, match=r"only 1 class, \[7\]"):
        model.fit(in_blocks(X, np.full(len(y), 7)))
    with pytest.raises(ValueError, match="must have rows, got none"):
        model.fit(in_blocks(X[:0], y[:0], cuts=()))
    with pytest.raises(ValueError, match="only zeros in class 1"):
        model.fit(in_blocks(X, y, np.where(y == 1, 0.0, 1.0)))
    with pytest.raises(ValueError, match="offset must be None where X comes in blocks"):
        model.fit(in_blocks(X, y), offset=np.zeros(len(y)))
    with pytest.raises(ValueError, match="y and sample_weight must stand inside"):
        model.fit(in_blocks(X, y), y)
    with pytest.raises(ValueError, match="Only binary classification"):
        IRLSLogisticRegression(penalty="firth").fit(in_blocks(X, np.arange(240) % 3))
    with pytest.raises(ValueError, match=r"class_weight must name labels .*, got 5"):
        IRLSLogisticRegression(class_weight={5: 1.0}).fit(in_blocks(X, y))
    with pytest.raises(ValueError, match="class_weight times sample_weight must be fi"):
        IRLSLogisticRegression(class_weight={1: 1e308}).fit(in_blocks(X, y, weight))
    with pytest.raises(ValueError, match="1e-308 times the largest weight"):
        model.fit(in_blocks(X, y, np.where(y == 1, 1e-200, 1e150)))
    firth = IRLSLogisticRegression(penalty="firth")
    with pytest.raises(ValueError, match="sample_weight must add up to at least 1"):
        firth.fit(in_blocks(X, y, np.full(len(y), 1e-3)))
    assert not hasattr(model, "classes_")


# Dask --------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [240, 17, (100, 0, *[1] * 20, 120)])
@pytest.mark.parametrize("weighted", [False, True])
def test_dask_arrays(chunks, weighted):
    array = pytest.importorskip("dask.array")
    X, y, weight = rows_of()
    weight = weight if weighted else None
    expected = IRLSLogisticRegression().fit(X, y, weight)
    rows = array.from_array(X, chunks=(chunks, 3))
    labels = array.from_array(y, chunks=50)
    weights = None if weight is None else array.from_array(weight, chunks=chunks)
    same(IRLSLogisticRegression().fit(rows, labels, weights), expected)
    same(IRLSLogisticRegression().fit(rows, y, weight), expected)


def test_dask_unknown_sizes_and_sparse_blocks():
    array = pytest.importorskip("dask.array")
    X, y, _ = rows_of()
    rows, labels = array.from_array(X, chunks=(50, 4)), array.from_array(y, chunks=50)
    kept = rows[:, 1] > X[:, 1].mean()
    found = IRLSLogisticRegression().fit(rows[kept], labels[kept])
    keep = X[:, 1] > X[:, 1].mean()
    same(found, IRLSLogisticRegression().fit(X[keep], y[keep]))
    found = IRLSLogisticRegression().fit(rows.map_blocks(sparse.csr_matrix), labels)
    same(found, IRLSLogisticRegression().fit(X, y))


def test_dask_frames():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y, _ = rows_of()
    labels = pandas.Series(np.array(["no", "yes"])[y])
    table = pandas.DataFrame(X, columns=list("abcd"))
    expected = IRLSLogisticRegression().fit(table, labels)
    rows = frames.from_pandas(table, npartitions=7)
    dask_labels = frames.from_pandas(labels, npartitions=7)
    found = IRLSLogisticRegression().fit(rows, dask_labels)
    same(found, expected)
    assert found.feature_names_in_.tolist() == list("abcd")
    assert "a" in str(found.summary())
    renamed = rows.rename(columns={"a": "z"})
    with pytest.raises(ValueError, match="feature names"):
        found.summary(covariance="HC0", X=renamed, y=dask_labels)


def test_dask_error_names_the_chunk():
    array = pytest.importorskip("dask.array")
    X, y, _ = rows_of()
    X[130, 2] = np.inf
    with pytest.raises(ValueError, match="X must be finite.*in chunk 2"):
        IRLSLogisticRegression().fit(array.from_array(X, chunks=(50, 4)), y)


def test_only_sums_leave_a_block():
    """What a block returns has as many numbers with ten times the rows."""
    X, y, weight = rows_of(n=4000)

    class Weighed(RowBlocks):
        largest = 0

        def map(self, function, *shared, only=None):
            results = super().map(function, *shared, only=only)
            self.note(results)
            return results

        def total(self, function, *shared, only=None):
            found = super().total(function, *shared, only=only)
            self.note([found])
            return found

        def note(self, results):
            for result in results:
                parts = result if isinstance(result, tuple) else vars(result).values()
                size = sum(np.size(part) for part in parts)
                self.largest = max(self.largest, size)

    sizes = []
    for n in (400, 4000):
        blocks = Weighed([(X[:n], y[:n], weight[:n])])
        IRLSLogisticRegression().fit(blocks)
        sizes.append(blocks.largest)
    assert sizes[0] == sizes[1] == 5 * 5 + 5 + 1


@pytest.mark.parametrize("P", [4, 50])
def test_blocks_without_weights_count_once(P):
    X, y, weight = rows_of(n=40, P=P)
    weight = weight + 0.25
    weight[15:] = 1.0
    blocks = RowBlocks([(X[15:], y[15:]), (X[:15], y[:15], weight[:15])])
    found = IRLSLogisticRegression(C=1.0).fit(blocks)
    same(found, IRLSLogisticRegression(C=1.0).fit(X, y, weight))


def test_only_rows_of_weight_are_gathered(monkeypatch):
    X, y, _ = rows_of(P=8)
    weight = np.zeros(len(y))
    kept = np.r_[0:3, 100:103]
    weight[kept], y[kept] = 2.0, [0, 1, 0, 1, 1, 0]
    gathered, gather = [], RowBlocks.gather

    def counted(self, **options):
        found = gather(self, **options)
        gathered.append(len(found[1]))
        return found

    monkeypatch.setattr(RowBlocks, "gather", counted)
    found = IRLSLogisticRegression(C=1.0).fit(in_blocks(X, y, weight))
    same(found, IRLSLogisticRegression(C=1.0).fit(X, y, weight))
    assert gathered == [6]


def test_an_error_of_gathered_rows_changes_nothing():
    X, y, _ = rows_of()
    model = IRLSLogisticRegression().fit(X, y)
    before = dict(vars(model))
    for P, text in ((4, "got only zeros in class 5"), (9, "two classes, got 3")):
        wide = np.random.default_rng(0).normal(size=(6, P))
        weight = np.zeros(6) if P == 4 else np.ones(6)
        model.penalty = before["penalty"] = "l2" if P == 4 else "firth"
        with pytest.raises(ValueError, match=text):
            model.fit(RowBlocks([(wide, np.arange(6) // 2 + 5, weight)]))
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is before[name] for name in before)


def test_small_weights_have_a_maximum_as_well():
    X, y, weight = rows_of()
    small, plain = (
        IRLSLogisticRegression().fit(in_blocks(X, y, weight * unit))
        for unit in (1e-6, 1.0)
    )
    assert small.coef_ == pytest.approx(plain.coef_, rel=1e-8)
