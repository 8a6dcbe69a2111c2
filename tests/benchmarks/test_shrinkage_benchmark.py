"""The benchmark of shrinkage runs, and no search beats the best of the path."""

import shrinkage
from results_table import read_table


def test_small_run(tmp_path):
    shrinkage.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "shrinkage.csv")
    assert [row["shrinkage"] for row in rows] == [
        *shrinkage.METHODS,
        *shrinkage.SEARCHES,
    ]
    for row in rows[len(shrinkage.METHODS) :]:  # a search stays on the path
        losses = [value for name, value in row.items() if name != "shrinkage"]
        assert all(float(loss.split()[0]) >= 0 for loss in losses)
