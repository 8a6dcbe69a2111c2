"""The speed benchmark runs, and its slope and its ratio are what they say."""

import numpy as np
import pytest
import speed
from results_table import read_table
from speed_clock import Case, peak_bytes
from speed_growth import _slope


@pytest.mark.parametrize(
    "group", ["scorers", "searches", "text", "estimators", "intervals"]
)
def test_a_fast_group_writes_its_ratios(group, tmp_path, capsys):
    speed.main(["--fast", group, "--out", str(tmp_path)])
    table = read_table(tmp_path / f"speed_{group}.csv")
    assert {"what", "peer", "seconds", "peer_seconds", "ratio", "goal"} <= set(table[0])
    assert "written" in capsys.readouterr().out


def test_growth_is_drawn_beside_memory(tmp_path, monkeypatch):
    some = ("class_moments", "cbauc_scorer, paper, common")
    kept = [o for o in speed.growth_rows.__globals__["operations"](True)]
    monkeypatch.setitem(
        speed.growth_rows.__globals__,
        "operations",
        lambda fast: [o for o in kept if o.name in some],
    )
    speed.main(["--fast", "growth", "--out", str(tmp_path)])
    table = read_table(tmp_path / "speed_growth.csv")
    assert {row["operation"] for row in table} == set(some)
    assert all(float(row["peak MB"]) > 0 for row in table)
    assert (tmp_path / "speed_growth.png").stat().st_size > 1_000


def test_a_slope_is_the_power_of_the_upper_half():
    sizes = np.array([1.0, 10, 100, 1_000, 10_000])
    assert _slope(sizes, 3 * sizes**1.5) == pytest.approx(1.5, rel=1e-12)
    assert _slope(sizes, np.maximum(sizes, 100.0)) == pytest.approx(1.0, rel=1e-12)


def test_a_case_says_who_took_longer():
    case = Case("little", "much", 1, 1, lambda: None, lambda: sum(range(100_000)))
    row = case.row()
    assert row["ratio"] == pytest.approx(row["seconds"] / row["peer_seconds"])
    assert peak_bytes(lambda: bytearray(10**6)) >= 10**6


def test_an_unknown_group_is_named(capsys):
    with pytest.raises(SystemExit):
        speed.main(["nothing"])
    assert "got 'nothing'" in capsys.readouterr().err
