"""The tools: runs that resume, the gate, mutants, times, workers."""

import numpy as np
import pandas as pd
import pytest
from result_tables import read_table

from benchmarks.panel.judging import Estimates, record
from benchmarks.panel.methods import three_candidates
from benchmarks.panel.runs import Key, Run
from benchmarks.speed import speed
from benchmarks.tools import gate, mutants, runs

CALLS = []


def square(x, name):
    CALLS.append(x)
    if x < 0:
        raise KeyboardInterrupt
    return {"x": x * x, "name": name}


@pytest.fixture
def arguments(tmp_path):
    CALLS.clear()
    return runs.parse("doc", ["--fast", "--out", str(tmp_path)], folder="x")


def test_an_interrupted_run_goes_on(arguments):
    with pytest.raises(KeyboardInterrupt):
        runs.resume("squares", square, [(2, "a"), (-1, "b"), (3, "c")], arguments)
    with (arguments.out / "squares.jsonl").open("a") as file:
        file.write('\n["torn')
    CALLS.clear()
    results = runs.resume("squares", square, [(3, "c"), (2, "a")], arguments)
    assert [r["x"] for r in results] == [9, 4]  # in the order of the jobs
    assert CALLS == [3]


def test_a_claim_holds_by_its_cells():
    flags = [True, True], [True, False], [False, False], []
    words = [runs.claim("1", "text", "measured", f, "rule")["holds"] for f in flags]
    assert words == ["yes", "partly", "no", "not measured"]


def test_the_gate_compares_the_same_runs(tmp_path):
    run = Run(Key("few signals", "l2", 0, tmp_path))
    one, places = three_candidates(run), [2, 4, 5]
    assert list(np.flatnonzero(np.isfinite(one.auc))) == places

    def records(error, asked=3):
        auc = np.full(8, np.nan)
        auc[places[:asked]] = run.truth[places[:asked]] + error
        answer = Estimates(auc, 0 * auc, 1 + 0 * auc, run.truth, asked=3)
        row = record(run, "skauc", answer) | {"seconds": 1.0}
        return pd.DataFrame([row | {"seed": seed} for seed in range(3)])

    before, after = records(0.02), records(0.01)
    row, *_ = gate.panel_table(before, after.iloc[:2], ("l2",))
    assert (row["runs"], row["unknown"]) == (2, "0.000 → 0.000")
    assert before["loss"].eq(0).all()
    change = float(row["error / CV, change"].split()[0])
    assert change == pytest.approx(-0.01 / before["cv error"][0], abs=0.006)
    row, *_ = gate.panel_table(before, records(0.01, asked=2), ("l2",))
    assert row["unknown"] == "0.000 → 0.333"
    assert gate.panel_table(before, pd.DataFrame(), ("l2",)) == []


SOURCE = '''
def f(x: int = 3) -> float:
    """Return 1 + 1."""
    if x > 9:
        raise ValueError(f"x must be <= {8 + 1}")
    check_number("x", x, 7.0)
    if x < 0 and x != 20:
        x = x.reshape(5, 1).shape[6]
    return -x + 2.0 * x + 1e-9
'''


def test_every_sign_and_constant_once():
    changes = [change.split(": ")[1] for *_, change in mutants.mutants(SOURCE)]
    assert sorted(changes) == sorted(
        "3 -> 4,And -> Or,Lt -> Gt,0 -> 1,NotEq -> Eq,20 -> 22,"
        "Add -> Sub,Add -> Sub,-x -> +x,2.0 -> 2.2,Mult -> Div,1e-09 -> 1e-06".split(
            ","
        )
    )
    sources = [mutants.mutated(SOURCE, k) for k in range(len(changes))]
    assert len(set(sources)) == len(changes)
    assert any("return -x + 2.2 * x" in source for source in sources)


@pytest.mark.parametrize(
    "group", ["scorers", "headline", "searches", "text", "estimators", "intervals"]
)
def test_a_fast_group_writes_its_ratios(group, tmp_path):
    speed.main(["--fast", group, "--out", str(tmp_path)])
    table = read_table(tmp_path / f"{group}.csv")
    assert {"what", "peer", "seconds", "peer_seconds", "ratio", "goal"} <= set(table[0])


def test_sums_travel_and_rows_do_not(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="distributed is not installed")
    pytest.importorskip("dask.array", reason="Dask's arrays are not installed")
    from benchmarks.speed import scale

    names = "class_moments", "IRLSLogisticRegression", "auc_estimate"
    few = {name: scale.OPERATIONS[name] for name in names}
    monkeypatch.setattr(scale, "OPERATIONS", few)
    scale.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "scale.csv")
    assert {row["operation"] for row in rows} == set(names)
    moved = {}
    for row in rows[:-1]:  # the last has nothing but small chunks
        moved.setdefault(row["operation"], []).append(float(row["bytes a row"]))
    # a scheduler may once move a chunk to an idle worker
    assert all(min(sizes) < 0.05 * 8 * scale.P for sizes in moved.values())
    slopes = scale.with_slopes([{"operation": "a", "n": n, "cpu": n} for n in (1, 10)])
    np.testing.assert_allclose([row["slope"] for row in slopes], [np.nan, 1])
