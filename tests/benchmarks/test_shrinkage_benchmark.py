"""The benchmark of shrinkage rules runs, and no rule beats the best of the path."""

import shrinkage
from results_table import read_table


def test_small_run(tmp_path):
    shrinkage.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "shrinkage.csv")
    assert [row["rule"] for row in rows] == [*shrinkage.RULES, *shrinkage.SEARCHES]
    for row in rows[len(shrinkage.RULES) :]:  # a search stays on the path
        losses = [value for name, value in row.items() if name != "rule"]
        assert all(float(loss.split()[0]) >= 0 for loss in losses)
