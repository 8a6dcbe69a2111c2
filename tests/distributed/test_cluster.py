"""Real clusters: two processes, real serialisation, a worker that dies."""

import os
import pickle
import signal
from functools import cache, partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    ResubstitutionSplit,
    auc_estimate,
    auc_posterior,
    cbauc_scorer,
    class_moments,
    clear_cache,
    compare_auc,
)
from skauc.statistics._block_matrix import BlockMatrix
from skauc.statistics._row_blocks import row_blocks

distributed = pytest.importorskip(
    "distributed", reason="distributed is not installed: pip install skauc[dask]"
)
da = pytest.importorskip("dask.array", reason="Dask's arrays are not installed")
dask = pytest.importorskip("dask")

N, P, CHUNK = 40_000, 10, 2_000


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Two processes of one thread; nothing on the disk but here."""
    import dask

    quiet = {
        "distributed.admin.system-monitor.gil.enabled": False,
        # A worker that died is restarted; 15 s after its death it would be given up,
        # for ever, if it is away just then because it died a second time
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    with (
        dask.config.set(quiet),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any free port: others may have a cluster
            local_directory=str(tmp_path_factory.mktemp("workers")),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def block(block_id):
    """Rows of one chunk, and their labels as the last column; made in the worker."""
    rng = np.random.default_rng([7, block_id[0]])
    y = rng.random(CHUNK) < 0.3
    X = 5 + rng.normal(size=(CHUNK, P)) * np.arange(1, P + 1)
    X[y] += 0.3
    return np.column_stack([X, y])


def rows_in_workers(make=block):
    chunks, no_rows = ((CHUNK,) * (N // CHUNK), (P + 1,)), np.empty((0, 0))
    both = da.map_blocks(make, chunks=chunks, dtype=float, meta=no_rows)
    return both[:, :P], both[:, P] > 0


def rows_at_home():
    both = np.concatenate([block((k, 0)) for k in range(N // CHUNK)])
    return both[:, :P], both[:, P] > 0


@pytest.fixture(scope="module")
def rows():
    return rows_at_home()


def test_errors_come_home_with_their_chunk(client):
    def spoilt(block_id):
        rows = block(block_id)
        rows[3, 2] = np.nan if block_id[0] == 5 else 0.0
        return rows

    with pytest.raises(ValueError, match="X must be finite, .*in chunk 5$"):
        GaussianAUCClassifier().fit(*rows_in_workers(spoilt))


def bytes_sent(dask_worker):
    """What other workers have fetched from this one, in all."""
    return sum(int(sent["total"]) for sent in dask_worker.transfer_outgoing_log)


def test_only_sums_travel(client):
    """Between workers and home: a few moments a block, whatever its rows are."""
    from distributed.protocol import serialize_bytes

    blocks = row_blocks(*rows_in_workers())
    per_block = [len(serialize_bytes(m)) for m in blocks.map(moments_of_rows)]
    assert max(per_block) < 8 * 2 * (P * P + P + 1) + 2000 < 8 * CHUNK * P / 25
    before = sum(client.run(bytes_sent).values())
    blocks.total(moments_of_rows)
    moved = sum(client.run(bytes_sent).values()) - before
    assert moved < 1.1 * len(per_block) * max(per_block)


def test_labels_and_scores_come_home_and_features_do_not(client, monkeypatch):
    """Twice the rows, in twice the chunks: at most three columns of numbers more."""
    home = {}
    for n in (N, 2 * N):
        chunks, no_rows = ((CHUNK,) * (n // CHUNK), (P + 1,)), np.empty((0, 0))
        both = da.map_blocks(block, chunks=chunks, dtype=float, meta=no_rows)
        came, compute = [], dask.compute

        def counted(*tasks, came=came, compute=compute, **options):
            found = compute(*tasks, **options)
            came.append(len(pickle.dumps(found)))
            return found

        with monkeypatch.context() as counting:
            counting.setattr(dask, "compute", counted)
            matrix, y, _ = BlockMatrix.of(row_blocks(both[:, :P], both[:, P] > 0))
            scores = matrix @ np.ones(P)
            class_moments(matrix, y), matrix[::1000]
        assert len(scores) == len(y) == n
        home[n] = sum(came)
    assert home[2 * N] - home[N] < 2 * 8 * N


def moments_of_rows(part):
    return class_moments(part.X, part.y)


def test_search_over_the_cluster(client):
    import joblib

    X, y = make_classification(n_samples=300, n_features=12, random_state=0)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": np.logspace(-3, 3, 5)}

    def search():
        searched = GridSearchCV(
            pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit()
        )
        return searched.fit(X, y).cv_results_["mean_test_score"]

    alone = search()
    with joblib.parallel_config("dask"):
        np.testing.assert_allclose(search(), alone, rtol=1e-12)
    assert len(pickle.dumps(cbauc_scorer)) < 1500  # nothing kept goes with the tasks


def counted_block(block_id):
    """A chunk; this process counts how many of them it holds at once."""
    import builtins
    import weakref

    held = vars(builtins).setdefault("_chunks_held", {"now": 0, "most": 0})

    def gone():
        held["now"] -= 1

    rows = block(block_id)[: CHUNK // 5]
    weakref.finalize(rows, gone)
    held["now"] += 1
    held["most"] = max(held["most"], held["now"])
    return rows


def most_held():
    import builtins

    return builtins._chunks_held["most"]


def test_a_tenth_of_the_data_is_held_at_once(client):
    """See benchmarks/speed/scale.py for workers whose memory is a tenth of the data."""
    chunks = ((CHUNK // 5,) * 100, (P + 1,))
    no_rows = np.empty((0, 0))
    both = da.map_blocks(counted_block, chunks=chunks, dtype=float, meta=no_rows)
    GaussianAUCClassifier().fit(both[:, :P], both[:, P] > 0)
    assert 0 < max(client.run(most_held).values()) <= 10


def dying(file, time, make=block):
    """Chunks of which one kills its worker when it is made for the time-th time."""

    def made(*rows, block_id):
        if block_id[0] == 3:
            with file.open("ab") as times:
                times.write(b".")
            if file.stat().st_size == time:
                os.kill(os.getpid(), signal.SIGKILL)
        return make(*rows, block_id)

    return made


def as_they_are(rows, block_id):
    return rows


def two_scores(X, y):
    """Of each row, the second in steps: with ties."""
    return y, X[:, 0], (X[:, 0] + X[:, 1]).round(1)


def fitted_coefficients(model, X, y):
    return model.fit(X, y).coef_


def area(X, y):
    return auc_estimate(*two_scores(X, y)[:2]).auc


def comparison(X, y):
    found = compare_auc(*two_scores(X, y))
    return found.auc_a, found.auc_b, found.difference, found.pvalue


@cache
def fitted_model():
    return IRLSLogisticRegression().fit(*rows_at_home())


def posterior(X, y):
    clear_cache()
    found = auc_posterior(fitted_model(), X, y)
    return found.mean() / found.std()


AUTO = GaussianAUCClassifier(shrinkage="auto")
# The call, the pass in which a worker dies, and the relative error of the answer
ASKED = {
    "moments": (partial(fitted_coefficients, AUTO), 1, 1e-8),
    "irls": (partial(fitted_coefficients, IRLSLogisticRegression()), 5, 1e-8),
    "ranks": (area, 1, 0),
    "two scores": (comparison, 1, 1e-12),
    "posterior": (posterior, 1, 0.02),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_worker_that_dies(client, rows, tmp_path, case):
    """The last of this file: the others may count on the workers that they know."""
    ask, time, rtol = ASKED[case]
    expected = ask(*rows)
    client.wait_for_workers(2, timeout=120)
    found = ask(*rows_in_workers(dying(tmp_path / "made", time)))
    assert (tmp_path / "made").stat().st_size > time  # and once more after it
    np.testing.assert_allclose(found, expected, rtol=rtol)


def test_rows_that_lay_in_a_worker_that_dies(client, rows, tmp_path):
    client.wait_for_workers(2, timeout=120)
    X, y = client.persist(rows_in_workers())
    distributed.wait([X, y])
    made = dying(tmp_path / "made", 1, as_they_are)
    model = IRLSLogisticRegression()
    expected = model.fit(*rows).coef_
    found = model.fit(X.map_blocks(made, dtype=float, meta=np.empty((0, 0))), y).coef_
    assert (tmp_path / "made").stat().st_size > 1
    np.testing.assert_allclose(found, expected, rtol=1e-8)
