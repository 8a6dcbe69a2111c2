"""The frame of the paper scripts: command line, resuming, what makes results stale."""

import json

import paper_runs
import pytest

CALLS = []


def square(x, name):
    CALLS.append(x)
    if x < 0:
        raise KeyboardInterrupt
    return {"x": x * x, "name": name}


@pytest.fixture
def arguments(tmp_path):
    CALLS.clear()
    return paper_runs.parse("doc", ["--fast", "--out", str(tmp_path)])


def test_results_in_the_order_of_jobs(arguments):
    results = paper_runs.resume("squares", square, [(3, "c"), (1, "a")], arguments)
    assert results == [{"x": 9, "name": "c"}, {"x": 1, "name": "a"}]


def test_an_interrupted_run_goes_on(arguments):
    with pytest.raises(KeyboardInterrupt):
        paper_runs.resume("squares", square, [(2, "a"), (-1, "b"), (3, "c")], arguments)
    with (arguments.out / "squares.jsonl").open("a") as file:
        file.write('\n["torn')
    CALLS.clear()
    jobs = [(2, "a"), (3, "c")]
    results = paper_runs.resume("squares", square, jobs, arguments)
    assert [r["x"] for r in results] == [4, 9]
    assert CALLS == [3]


def test_another_version_starts_anew(arguments, monkeypatch):
    paper_runs.resume("squares", square, [(2, "a")], arguments)
    monkeypatch.setattr(paper_runs, "fingerprint", lambda run: "another")
    paper_runs.resume("squares", square, [(2, "a")], arguments)
    assert CALLS == [2, 2]


def test_fresh_forgets(arguments):
    paper_runs.resume("squares", square, [(2, "a")], arguments)
    arguments.fresh = True
    paper_runs.resume("squares", square, [(2, "a")], arguments)
    assert CALLS == [2, 2]
    lines = (arguments.out / "squares.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines if line]) == 1


def test_the_torn_line_does_not_swallow_the_next(arguments):
    (arguments.out / "squares.jsonl").write_text('["torn')
    paper_runs.resume("squares", square, [(2, "a")], arguments)
    CALLS.clear()
    assert paper_runs.resume("squares", square, [(2, "a")], arguments)[0]["x"] == 4
    assert CALLS == []


def test_parts_are_an_option_of_scripts_that_have_them(tmp_path):
    out = ["--out", str(tmp_path)]
    parts = ("iris", "time")
    assert paper_runs.parse("doc", out, parts).part == "all"
    assert paper_runs.parse("doc", [*out, "--part", "time"], parts).part == "time"
    assert not hasattr(paper_runs.parse("doc", out), "part")


def test_a_claim_holds_by_its_cells():
    holds = [
        paper_runs.claim("1", "text", "measured", flags, "rule")["holds"]
        for flags in ([True, True], [True, False], [False, False], [])
    ]
    assert holds == ["yes", "partly", "no", "not measured"]
