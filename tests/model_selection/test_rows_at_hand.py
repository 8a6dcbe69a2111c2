"""The posterior and the scorers of a fitted model on rows in blocks."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from skauc import (
    AdaptivePrior,
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    LinearDiscriminantROC,
    RowBlocks,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    bee_scorer,
    cbauc_scorer,
    clear_cache,
    ebauc_scorer,
    make_cbauc_scorer,
)
from skauc.leave_pair_out import _objective
from skauc.model_selection import _rows_at_hand, _training_rows
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._rows_at_hand import LabelColumn, rows_at_hand
from skauc.model_selection._scored_model import score_model
from skauc.model_selection._training_rows import _by_direction
from skauc.statistics import _block_column, _block_matrix
from skauc.statistics._block_matrix import BlockMatrix
from skauc.statistics._columns import content

MODELS = {
    "irls": IRLSLogisticRegression(),
    "logistic": LogisticRegression(),
    "stopped": LogisticRegression(max_iter=2),
    "balanced": LogisticRegression(class_weight="balanced", C=0.01),
    "balanced irls": IRLSLogisticRegression(class_weight="balanced", C=0.5),
    "ridge": RidgeClassifier(),
    "squared hinge": LinearSVC(random_state=0),
    "hinge": SGDClassifier(alpha=0.05, random_state=0),
    "hinge of liblinear": LinearSVC(loss="hinge", C=0.01, random_state=0),
    "lda": LinearDiscriminantAnalysis(),
    "lda shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "roc": LinearDiscriminantROC(),
    "gaussian": GaussianAUCClassifier(shrinkage=0.1),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()),
    "ranges": make_pipeline(MinMaxScaler(), RidgeClassifier()),
    "told by means": make_pipeline(StandardScaler(), Perceptron()),
    "told by direction": LinearDiscriminantAnalysis(),
    "components": make_pipeline(StandardScaler(), PCA(3), LogisticRegression(C=0.1)),
    "selected": make_pipeline(SelectKBest(k=2), StandardScaler(), LogisticRegression()),
    "bent": make_pipeline(FunctionTransformer(np.tanh), RidgeClassifier()),
}


def rows_of(seed=0, n=2600, P=5, K=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) + 1
    latent = X[:, 0] - X[:, 1] / 2 + rng.logistic(size=n)
    return X, np.digitize(latent, np.linspace(0.5, 2.5, K - 1)), rng.integers(0, 3, n)


def fitted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))


def afresh(ask):
    """What is kept of the rows in memory would answer for those in blocks."""
    clear_cache()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = ask()
    return answer, sorted(str(w.message) for w in said)


def same(found, expected):
    assert found.mean() == pytest.approx(expected.mean(), rel=1e-10)
    assert found.std() == pytest.approx(expected.std(), rel=1e-9)


@pytest.fixture
def large(monkeypatch):
    """Nothing is few enough to be gathered, and a sample of rows is not all."""
    monkeypatch.setattr(_objective, "_CURVED_NUMBERS", 500)
    monkeypatch.setattr(_rows_at_hand, "_FEW_NUMBERS", 0)
    monkeypatch.setattr(_block_matrix, "LARGEST_MADE", 5 * 2599)


@pytest.mark.parametrize("name", MODELS)
def test_posterior_is_that_of_the_rows(name, large):
    X, y, _ = rows_of()
    other, labels, _ = rows_of(1)
    model = fitted(MODELS[name], X, y)
    if name == "told by direction":  # an estimator that keeps no means
        del model.means_
    for rows in ((X, y), (other, labels)):
        expected, said = afresh(lambda rows=rows: auc_posterior(model, *rows))
        blocks = RowBlocks.from_arrays(*rows, n_rows=700)
        found, said_too = afresh(lambda b=blocks: auc_posterior(model, b))
        same(found, expected)
        assert found.second_source == expected.second_source
        assert found.warnings == expected.warnings
        assert said_too == said


STAY = "irls", "logistic", "ridge", "squared hinge", "lda", "roc", "gaussian"
STAY += "scaled", "balanced", "balanced irls", "stopped", "hinge", "hinge of liblinear"


KINDS = "training", "held-out", "flipped", "weights", "fractions", "three classes"
KINDS += ("paper",)
NO_WEIGHTS = "lda", "roc"


@pytest.mark.parametrize("name", STAY)
@pytest.mark.parametrize("kind", KINDS)
def test_no_column_comes(name, kind, large, monkeypatch):
    """Labels, weights, scores and slopes stay."""
    n = 4600 if kind in ("weights", "fractions") else 2600  # a third weighs nothing
    X, y, weight = rows_of(n=n, K=3 if kind == "three classes" else 2)
    if kind == "fractions":  # some are 0
        weight = weight * np.random.default_rng(2).uniform(0.5, 2.5, len(y))
    if kind == "three classes" and name not in ("logistic", "lda", "scaled"):
        pytest.skip("the others have two, or the same path")
    if kind in ("weights", "fractions") and name in (*NO_WEIGHTS, "scaled"):
        pytest.skip("takes no weights")
    weight = weight if kind in ("weights", "fractions") else None
    model = fitted(MODELS[name], X, y, weight)
    if kind == "held-out":
        X, y, _ = rows_of(1)
    question = {"pos_label": 0} if kind == "flipped" else {}
    if kind == "paper":
        question = {"prior": "paper"}
    expected, _ = afresh(
        lambda: auc_posterior(model, X, y, sample_weight=weight, **question)
    )
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    with monkeypatch.context() as strict:
        strict.setattr(_block_column.BlockColumn, "__array__", None)
        found, _ = afresh(lambda: auc_posterior(model, blocks, **question))
    same(found, expected)
    if kind != "three classes":
        assert found.second_source == expected.second_source


LABELS = {
    "texts": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "booleans": np.array([False, True]),
    "floats": np.array([-1.0, 1.0]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_stay(kind, large, monkeypatch):
    X, y, _ = rows_of()
    labels = LABELS[kind][y]
    model = LogisticRegression().fit(X, labels)
    expected, _ = afresh(lambda: auc_posterior(model, X, labels))
    order = np.argsort(y, kind="stable")  # blocks of one class
    blocks = RowBlocks.from_arrays(X[order], labels[order], n_rows=700)
    found, _ = afresh(lambda: auc_posterior(model, blocks))
    same(found, expected)
    matrix, column, _ = rows_at_hand(blocks, None)
    assert isinstance(matrix, BlockMatrix)
    assert isinstance(column, LabelColumn)
    assert np.asarray(column).tolist() == labels[order].tolist()


def test_labels_tell_data_sets_apart(large):
    """Chunks of one class, and which of the labels is positive."""
    X, y, _ = rows_of()
    order = np.argsort(y, kind="stable")
    ends = np.flatnonzero(np.diff(y[order]))[0] + 1
    parts = [(X[order[:ends]], y[order[:ends]]), (X[order[ends:]], y[order[ends:]])]
    turned = [(rows, 1 - labels) for rows, labels in parts]
    found = set()
    for blocks in (parts, turned):
        _, labels, _ = rows_at_hand(RowBlocks(blocks), None)
        for label in (0, 1):
            found.add(content(labels.positive(pos_label=label)))
            again = rows_at_hand(RowBlocks(blocks), None)[1]
            assert content(again.positive(pos_label=label)) in found
    assert len(found) == 4


def test_many_rows_are_sampled_in_their_blocks(monkeypatch):
    """Leave-one-out takes another even sample: some hundredths of the deviation."""
    monkeypatch.setattr(_rows_at_hand, "_FEW_NUMBERS", 0)
    X, y, _ = rows_of(n=66_000, P=8)
    model = LogisticRegression().fit(X, y)
    expected, _ = afresh(lambda: auc_posterior(model, X, y))
    blocks = RowBlocks.from_arrays(X, y, n_rows=6_000)
    found, _ = afresh(lambda: auc_posterior(model, blocks))
    assert abs(found.mean() - expected.mean()) < 0.05 * expected.std()
    assert found.std() == pytest.approx(expected.std(), rel=1e-3)
    assert found.leave_pair_out != expected.leave_pair_out


@pytest.mark.parametrize("name", ["irls", "roc", "gaussian"])
def test_a_fit_and_its_posterior_in_blocks(name, large):
    X, y, weight = rows_of()
    expected, _ = afresh(lambda: bayesian_val_score(MODELS[name], X, y))
    blocks = RowBlocks.from_arrays(X, y, n_rows=700)
    found, _ = afresh(lambda: bayesian_val_score(MODELS[name], blocks))
    same(found, expected)
    if name == "roc":
        return  # takes no weights
    question = {"sample_weight": weight}
    expected, _ = afresh(lambda: bayesian_val_score(MODELS[name], X, y, **question))
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    found, _ = afresh(lambda: bayesian_val_score(MODELS[name], blocks))
    same(found, expected)


def test_a_fit_in_blocks_that_there_is_not():
    X, y, _ = rows_of(n=100)
    blocks = RowBlocks.from_arrays(X, y)
    with pytest.raises(
        ValueError,
        match="X must be an array where LogisticRegression is fitted, got RowBlocks; "
        ".* auc_posterior takes any fitted linear model",
    ):
        bayesian_val_score(LogisticRegression(), blocks)


@pytest.mark.parametrize(
    "model",
    [
        RidgeClassifier(class_weight="balanced"),
        SGDClassifier(class_weight="balanced", alpha=0.05, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("pos_label", [0, 1])
def test_balanced_classes_count_rows_of_weight_0(model, pos_label, large):
    X, y, weight = rows_of(n=4600)
    weight = np.where(y == 1, weight, weight > 1).astype(float)
    fitted(model, X, y, weight)
    question = {"pos_label": pos_label}
    expected, _ = afresh(
        lambda: auc_posterior(model, X, y, sample_weight=weight, **question)
    )
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    found, _ = afresh(lambda: auc_posterior(model, blocks, **question))
    same(found, expected)


@pytest.mark.parametrize("few", [False, True])
def test_some_blocks_have_weights_and_some_labels_two_dimensions(few, request):
    if not few:
        request.getfixturevalue("large")
    X, y, weight = rows_of(n=4600)
    weight[:2000] = 1
    model = fitted(LogisticRegression(), X, y, weight)
    expected, _ = afresh(lambda: auc_posterior(model, X, y, sample_weight=weight))
    parts = [(X[:2000], y[:2000, None]), (X[2000:], y[2000:], weight[2000:])]
    found, _ = afresh(lambda: auc_posterior(model, RowBlocks(parts)))
    same(found, expected)
    for size in (0.5, 3.0):
        parts[1] = X[2000:], y[2000:], np.full(2600, size)
        _, _, column = rows_at_hand(RowBlocks(parts), None)
        assert (column.min(), column.max()) == (min(size, 1), max(size, 1))


def test_a_stopped_solver_is_not_judged_by_rows_of_weight_0(large):
    """They are far away, and there its scores are those of the optimum."""
    X, y, _ = rows_of(n=4600)
    weight = np.ones(len(y))
    weight[::50] = 0
    model = SGDClassifier(loss="log_loss", random_state=0, learning_rate="constant")
    model.set_params(eta0=0.5, max_iter=1)
    model = fitted(model, X, y, weight)
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    expected, said = afresh(lambda: auc_posterior(model, blocks))
    X[::50, 0] *= 1e4
    found, said_too = afresh(lambda: auc_posterior(model, X, y, sample_weight=weight))
    same(found, expected)
    assert said_too == said


def test_scores_that_rounding_makes_constant():
    X, y, _ = rows_of(n=200)
    X = X + 1e9
    model = fitted(LogisticRegression(), X, y)
    with pytest.warns(UntrustedAUCWarning) as said:  # and no other
        auc_posterior(model, X, y)
    assert not [one for one in said if one.category is RuntimeWarning]


@pytest.mark.parametrize("prior", ["paper", AdaptivePrior(leave_pair_out=False)])
@pytest.mark.parametrize("covariance", ["common", "spherical", "separate"])
def test_priors_and_covariances(prior, covariance, large):
    X, y, weight = rows_of()
    model = MODELS["scaled"].fit(X, y)
    question = {"prior": prior, "covariance": covariance}
    expected = auc_posterior(model, X, y, sample_weight=weight, **question)
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    found, _ = afresh(lambda: auc_posterior(model, blocks, **question))
    same(found, expected)


@pytest.mark.filterwarnings("ignore:.* are copies of others")
@pytest.mark.parametrize("scorer", [cbauc_scorer, ebauc_scorer, bee_scorer], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_scorers(scorer, weighted, large):
    X, y, weight = rows_of()
    weight = weight if weighted else None
    model = fitted(IRLSLogisticRegression(), X, y, weight)
    expected = scorer(model, X, y, sample_weight=weight)
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    found, _ = afresh(lambda: scorer(model, blocks))
    assert found == pytest.approx(expected, rel=1e-10)


def test_dictionary_of_numbers(large):
    X, y, _ = rows_of()
    model, scorer = LogisticRegression().fit(X, y), make_cbauc_scorer(output="dict")
    found, _ = afresh(lambda: scorer(model, RowBlocks.from_arrays(X, y, n_rows=700)))
    assert found == pytest.approx(scorer(model, X, y), rel=1e-8)


@pytest.mark.filterwarnings("ignore:.* are copies of others")
@pytest.mark.parametrize("weighted", [False, True])
def test_three_classes(weighted, large):
    X, y, weight = rows_of(K=3)
    weight = weight if weighted else None
    model = LogisticRegression().fit(X, y)
    expected = auc_posterior(model, X, y, sample_weight=weight)
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=700)
    found, _ = afresh(lambda: auc_posterior(model, blocks))
    same(found, expected)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RidgeClassifier(), LinearDiscriminantAnalysis()]
)
def test_other_rows_of_three_classes(model, large):
    X, y, _ = rows_of(K=3)
    other, labels, _ = rows_of(seed=1, n=1200, K=3)
    model = clone(model).fit(other, labels)
    expected = auc_posterior(model, X, y)
    assert expected.mean() == auc_posterior(model, X, y, rows="held-out").mean()
    found, _ = afresh(
        lambda: auc_posterior(model, RowBlocks.from_arrays(X, y, n_rows=700))
    )
    assert found.mean() == pytest.approx(expected.mean(), rel=1e-12)


@pytest.mark.filterwarnings("ignore:.* are copies of others")
@pytest.mark.parametrize("chunks", [2600, 333, (1000, 0, 1, 1599)])
def test_dask_arrays(chunks, large):
    array = pytest.importorskip("dask.array")
    X, y, weight = rows_of()
    labels = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X, labels, weight)
    question = {"pos_label": "no"}
    expected = auc_posterior(model, X, labels, sample_weight=weight, **question)
    rows = array.from_array(X, chunks=(chunks, 2)), array.from_array(labels, chunks=900)
    weights = array.from_array(weight, chunks=chunks)
    found, _ = afresh(
        lambda: auc_posterior(model, *rows, sample_weight=weights, **question)
    )
    same(found, expected)
    score = cbauc_scorer(model, X, labels, sample_weight=weight)
    assert cbauc_scorer(model, *rows, sample_weight=weights) == pytest.approx(score)


@pytest.mark.parametrize("few", [False, True])
def test_dask_frames(few, request):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    if not few:
        request.getfixturevalue("large")
    X, y, _ = rows_of()
    table, labels = pandas.DataFrame(X, columns=list("abcde")), pandas.Series(y)
    lazy = [frames.from_pandas(part, npartitions=5) for part in (table, labels)]
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["a", "b"]), ("pca", PCA(2), ["c", "d", "e"])]
    )
    for model in (LogisticRegression(), make_pipeline(columns, RidgeClassifier())):
        model.fit(table, labels)
        expected = auc_posterior(model, table, labels)
        found, _ = afresh(lambda model=model: auc_posterior(model, *lazy))
        same(found, expected)
        renamed = lazy[0].rename(columns={"a": "z"})
        with pytest.raises(ValueError, match="feature names|columns are missing"):
            auc_posterior(model, renamed, lazy[1])


def test_sparse_blocks(large):
    X, y, _ = rows_of()
    X[X < 1] = 0
    model = LogisticRegression().fit(X, y)
    expected = auc_posterior(model, X, y)
    blocks = RowBlocks.from_arrays(sparse.csr_matrix(X), y, n_rows=700)
    found, _ = afresh(lambda: auc_posterior(model, blocks))
    same(found, expected)


def test_few_rows_are_gathered():
    """With them everything there is of rows in memory: here .632+."""
    X, y, weight = rows_of(n=120)
    model = LogisticRegression().fit(X, y)
    blocks = RowBlocks.from_arrays(X, y, weight, n_rows=7)
    gathered, labels, weights = rows_at_hand(blocks, None)
    assert np.array_equal(gathered, X)
    assert np.array_equal(labels, y)
    assert np.array_equal(weights, weight)
    blocks = RowBlocks.from_arrays(X, y, n_rows=7)
    expected, found = auc_posterior(model, X, y), auc_posterior(model, blocks)
    assert found.second_source == ".632+"
    same(found, expected)


def test_what_is_gathered():
    """32 MB, or 40 rows a feature: one row more stays where it is."""
    for n, P, gathered in (
        (4000, 1049, True),
        (41_943, 100, True),
        (41_944, 100, False),
    ):
        X, y = np.broadcast_to(0.0, (n, P)), np.arange(n) % 2
        found, _, _ = rows_at_hand(RowBlocks.from_arrays(X, y), None)
        assert isinstance(found, BlockMatrix) != gathered


def test_arrays_are_left_alone():
    X, y, weight = rows_of(n=20)
    found = rows_at_hand(X, y, weight)
    assert all(a is b for a, b in zip(found, (X, y, weight), strict=True))


def test_what_needs_the_rows_says_so(large):
    X, y, _ = rows_of()
    blocks = RowBlocks.from_arrays(X, y, n_rows=700)
    model = SVC(kernel="linear").fit(X[:500], y[:500])
    with pytest.raises(ValueError, match="X must hold at most 1 GiB .* 2600 rows of 5"):
        auc_posterior(model, blocks)
    prior = AdaptivePrior(leave_pair_out=False)
    question = {"prior": prior, "rows": "training"}
    expected = auc_posterior(model, X, y, **question)
    found, _ = afresh(lambda: auc_posterior(model, blocks, **question))
    same(found, expected)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y, w: (X * np.nan, y, w), "X must be finite.*in chunk 1"),
        (lambda X, y, w: (X[:, :2], y, w), "columns as the other chunks.*in chunk 1"),
        (lambda X, y, w: (X, y, -1.0 - w), "sample_weight must be >= 0.*in chunk 1"),
        (lambda X, y, w: (X, y + 2, w), "labels of the fitted model"),
        (lambda X, y, w: (X, None, w), "y must hold the labels, got None, in chunk 1"),
    ],
)
def test_errors_name_the_chunk(spoil, message):
    X, y, weight = rows_of(n=100)
    model = LogisticRegression().fit(X, y)
    parts = [(X[:60], y[:60], weight[:60]), (X[60:], y[60:], weight[60:])]
    parts[1] = spoil(*parts[1])
    with pytest.raises(ValueError, match=message):
        auc_posterior(model, RowBlocks(parts))


def test_errors_of_all_blocks():
    X, y, _ = rows_of(n=100)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="X must have rows, got none"):
        auc_posterior(model, RowBlocks([(X[:0], y[:0])]))
    with pytest.raises(ValueError, match="must stand inside the blocks"):
        auc_posterior(model, RowBlocks([(X, y)]), y)
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        auc_posterior(model, RowBlocks([(X[:, 0], y)]))
    with pytest.raises(ValueError, match="must hold both classes"):
        auc_posterior(model, RowBlocks([(X, 0 * y)]))


def test_labels_of_a_column_that_stays(large):
    X, y, _ = rows_of(n=260)
    _, column, _ = rows_at_hand(RowBlocks.from_arrays(X, y, n_rows=7), None)
    for label in (0, 1):
        positive = column.positive(pos_label=label)
        assert (positive.min(), positive.max()) == (0, 1)
        assert positive.sum() == (y == label).sum()
        assert np.array_equal(np.asarray(positive), y == label)
    one = (np.arange(260) == 9).astype(int)
    _, column, _ = rows_at_hand(RowBlocks.from_arrays(X, one, n_rows=7), None)
    positive = column.positive()
    assert (positive.min(), positive.max(), positive.sum()) == (0, 1, 1)


def test_labels_that_are_not_two_in_all_blocks(large):
    X, y, _ = rows_of()
    three = np.sort(rows_of(K=3)[1])  # blocks of one class or two
    blocks = RowBlocks.from_arrays(X, three, n_rows=500)
    _, column, _ = rows_at_hand(blocks, None)
    assert column.distinct.tolist() == [0, 1, 2]
    assert np.array_equal(np.asarray(column), three)
    pair = column.of([2, 0])
    assert np.array_equal(np.asarray(pair), three[three != 1])
    assert len(pair) == sum(pair.rows.lengths.values())
    model = LogisticRegression().fit(X, y)
    for labels, message in (
        (0 * y, "must hold both classes, got only"),
        (y + 0.5, "must hold class labels, got continuous"),
    ):
        blocks = RowBlocks.from_arrays(X, labels, n_rows=500)
        with pytest.raises(ValueError, match=message):
            auc_posterior(model, blocks)


@pytest.mark.parametrize("few", [False, True])
def test_texts_in_one_block_and_numbers_in_another(few, request):
    """As in a fit."""
    if not few:
        request.getfixturevalue("large")
    X, y, _ = rows_of()
    texts = y.astype(str)
    model = LogisticRegression().fit(X, texts)
    blocks = RowBlocks([(X[:1300], texts[:1300]), (X[1300:], y[1300:])])
    message = "y must hold labels of one kind, got '0' in chunk 0 and 0 in chunk 1"
    with pytest.raises(ValueError, match=message):
        auc_posterior(model, blocks, rows="held-out")


def test_few_rows_a_feature_that_are_too_many_numbers(monkeypatch):
    monkeypatch.setattr(_rows_at_hand, "LARGEST_MADE", 100)
    X, y, _ = rows_of(n=60, P=2)
    matrix, _, _ = rows_at_hand(RowBlocks.from_arrays(X, y, n_rows=7), None)
    assert isinstance(matrix, BlockMatrix)


def test_discriminants_that_keep_no_means_are_told_by_their_direction(
    large, monkeypatch
):
    X, y, _ = rows_of()
    model = LinearDiscriminantAnalysis().fit(X, y)
    del model.means_

    def told(rows, labels, pos_label=None):
        Z, y, _ = rows_at_hand(RowBlocks.from_arrays(rows, labels, n_rows=700), None)
        opened = open_estimator(model, Z)
        return _by_direction(score_model(opened, y, None, pos_label))

    other, labels, _ = rows_of(1)
    assert told(X, y) == told(X, y, pos_label=0) == "training"
    assert told(other, labels) is None
    twice = np.repeat(X[:1300], 2, axis=0)  # each once in each class: no direction
    assert told(twice, np.arange(2600) % 2) is None
    monkeypatch.setattr(_training_rows, "at_optimum", lambda *question: None)
    assert told(X, y) is None


def test_scores_that_stay_are_one_feature(large):
    X, y, _ = rows_of()
    model = LogisticRegression().fit(X, y)
    Z, labels, _ = rows_at_hand(RowBlocks.from_arrays(X, y, n_rows=700), None)
    feature = score_model(open_estimator(model, Z), labels, None, None).feature
    assert feature.shape == (2600, 1)
    expected = X @ model.coef_[0] / np.abs(model.coef_).max()
    np.testing.assert_allclose(np.asarray(feature.made())[:, 0], expected, rtol=1e-12)
