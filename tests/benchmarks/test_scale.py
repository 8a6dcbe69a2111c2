"""Rows made in the workers: what is measured is there, and sums are what travels."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="distributed is not installed")
pytest.importorskip("dask.array", reason="Dask's arrays are not installed")

import scale
from results_table import read_table


def test_slopes_are_of_one_operation():
    rows = [
        {"operation": name, "n": n, "cpu": cpu}
        for n, cpu in ((10, 1.0), (100, 10.0), (1000, 1000.0))
        for name in ("a", "b")
    ]
    slopes = [row["slope"] for row in scale.with_slopes(rows)]
    np.testing.assert_allclose(slopes, [np.nan, np.nan, 1, 1, 2, 2])


def test_small_run(tmp_path):
    scale.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "scale.csv")
    assert {row["operation"] for row in rows} == set(scale.OPERATIONS)
    passes = {row["operation"]: int(row["passes"]) for row in rows}
    assert passes["class_moments"] == passes["LinearDiscriminantROC"] == 1
    assert passes['GaussianAUCClassifier(shrinkage="auto")'] == 2
    for row in rows[:-1]:  # the last is nothing but small chunks
        gathered = row["operation"] == "auc_posterior"  # few rows come as they are
        assert gathered or float(row["share"]) < 0.05
    assert (tmp_path / "scale.png").stat().st_size > 10_000
    scale.main(["--picture", "--out", str(tmp_path)])
    assert int(rows[-1]["chunks"]) == 20_000 / scale.SMALL_CHUNK
    assert len(read_table(tmp_path / "scale_workers.csv")) == 2
    for row in read_table(tmp_path / "scale_peers.csv"):
        assert float(row["cpu, blocks"]) > 0
