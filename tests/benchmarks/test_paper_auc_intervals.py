"""Cortes & Mohri's figure and table: against exact sums, printed numbers, orderings."""

from fractions import Fraction
from itertools import combinations
from math import comb

import auc_intervals_from_data as from_data
import numpy as np
import paper_auc_intervals as paper
import pytest
from results_table import read_table
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from skauc import auc_estimate, cortes_mohri_interval


def read(folder, name):
    path = folder / f"paper_auc_intervals_{name}.csv"
    assert path.read_text().startswith("# commit")
    return read_table(path)


@pytest.fixture(scope="module")
def out(fast_run):
    return fast_run(paper.main)[0]


def exact_moments(m, n, k):
    """Mean and variance over rankings and thresholds with k errors, summed over x."""
    total = first = second = 0
    for x in range(max(0, k - m), min(k, n) + 1):
        y = k - x
        M, W = m - y + x, n + y - x
        weight = comb(M, x) * comb(W, y)
        mean = 1 - Fraction(x, 2 * n) - Fraction(y, 2 * m)
        variance = Fraction(
            (m - y) * x * (M + 1) + (n - x) * y * (W + 1), 12 * m * m * n * n
        )
        total += weight
        first += weight * mean
        second += weight * (variance + mean**2)
    mean = first / total
    return mean, second / total - mean**2


def enumerated_moments(m, n, k):
    """The same by listing every ranking and every threshold."""
    aucs = []
    for places in combinations(range(m + n), m):
        positive = np.isin(np.arange(m + n), places)
        won = sum(p > q for p in places for q in np.flatnonzero(~positive))
        for threshold in range(m + n + 1):  # ranks from here on are called positive
            errors = (~positive[threshold:]).sum() + positive[:threshold].sum()
            if errors == k:
                aucs.append(Fraction(int(won), m * n))
    mean = sum(aucs) / len(aucs)
    return mean, sum(a**2 for a in aucs) / len(aucs) - mean**2


@pytest.mark.parametrize(("m", "n"), [(3, 2), (2, 4), (3, 3)])
def test_the_sum_is_the_list(m, n):
    for k in range(m + n + 1):
        assert exact_moments(m, n, k) == enumerated_moments(m, n, k)


def hanley(auc, n_pos, n_neg):
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    extra = (n_pos - 1) * (q1 - auc**2) + (n_neg - 1) * (q2 - auc**2)
    return np.sqrt((auc * (1 - auc) + extra) / (n_pos * n_neg))


def half_width_sigma(m, n, k):
    """√.05 × half width of the 95 % interval of section 6."""
    low, high = cortes_mohri_interval(m, n, k, 0.95)
    return np.sqrt(0.05) * (high - low) / 2


def test_figure_1_holds_exact_moments_and_formulas(out):
    rows = read(out, "fig1")
    assert {(row["m"], row["n"]) for row in rows} == {("500", "500"), ("400", "200")}
    for row in rows[::7]:
        m, n, k = (int(row[name]) for name in "mnk")
        mean, variance = exact_moments(m, n, k)
        auc = float(mean)
        expected = {
            "E[A_k]": auc,
            "σ(A_k)": np.sqrt(float(variance)),
            "adaptive σ": half_width_sigma(m, n, k),
            "Hanley, n positive": hanley(auc, n_pos=n, n_neg=m),
            "Hanley, m positive": hanley(auc, n_pos=m, n_neg=n),
            "maximum": np.sqrt(auc * (1 - auc) / min(m, n)),
        }
        for name, value in expected.items():  # four digits are written
            assert float(row[name]) == pytest.approx(value, rel=6e-4)


def test_figure_1a_is_tighter_at_every_k(out):
    m = n = 500
    for k in range(1, 501):
        x = np.arange(k + 1)
        y, M, W = k - x, m - k + 2 * x, n + k - 2 * x
        log = stats.binom.logpmf(x, M, 0.5) + stats.binom.logpmf(y, W, 0.5)
        share = np.exp(log - log.max())
        within = ((m - y) * x * (M + 1) + (n - x) * y * (W + 1)) / (12 * m**2 * n**2)
        auc = 1 - k / (m + n)  # for every x
        variance = share @ within / share.sum()
        assert variance < hanley(auc, n, m) ** 2 < auc * (1 - auc) / n
    for row in read(out, "fig1"):
        if row["m"] == "500":
            mean = 1 - int(row["k"]) / 1000
            assert float(row["E[A_k]"]) == pytest.approx(mean, abs=5e-5)
            names = "σ(A_k)", "adaptive σ", "Hanley, n positive", "maximum"
            sigma = [float(row[name]) for name in names]
            assert sigma == sorted(sigma)


def test_table_1_in_exact_fractions(out):
    rows = read(out, "table1")
    assert len(rows) == 6
    for row in rows:
        m, n, k = (int(row[name]) for name in "mnk")
        assert abs(n / int(row["N"]) - float(row["f"])) <= 0.005
        assert abs(k / int(row["N"]) - float(row["e"])) <= 0.005
        mean, variance = exact_moments(m, n, k)
        assert float(row["E[A_k]"]) == pytest.approx(float(mean), rel=6e-4)
        sigma = np.sqrt(float(variance))
        assert float(row["σ(A_k)"]) == pytest.approx(sigma, rel=6e-4)
        sigma = half_width_sigma(m, n, k)
        assert float(row["adaptive σ"]) == pytest.approx(sigma, rel=6e-4)
        auc = float(row["E[A_k] printed"])
        assert float(row["Hanley"]) == pytest.approx(hanley(auc, n, m), rel=6e-4)


# As printed in Cortes & Mohri (2004), Table 1: AUC, σ_indep, Hanley's, maximal
PRINTED = {
    "pima": (0.70, 0.0297, 0.0269, 0.0392),
    "yeast": (0.63, 0.0277, 0.0215, 0.0317),
    "credit": (0.87, 0.0176, 0.0202, 0.0281),
    "internet-ads": (0.85, 0.0177, 0.0176, 0.0253),
    "page-blocks": (0.84, 0.0164, 0.0161, 0.0234),
    "ionosphere": (0.85, 0.0271, 0.0306, 0.0417),
}


def test_table_1_reaches_the_printed_numbers(out):
    for row in read(out, "table1"):
        auc, *sigmas = PRINTED[row["data"]]
        # f and e have two digits; the tolerances were set after seeing the numbers
        assert float(row["E[A_k]"]) == pytest.approx(auc, abs=0.021)
        assert float(row["adaptive σ"]) == pytest.approx(sigmas[0], rel=0.08)
        assert float(row["Hanley"]) == pytest.approx(sigmas[1], rel=0.02)
        assert float(row["maximum"]) == pytest.approx(sigmas[2], rel=0.02)
        assert int(row["possible n, k"]) > 0


def test_possible_sigmas_are_of_the_printed_digits():
    # N = 201, f = .37, e = .13, AUC .85: n = 74 or 75, k = 26 or 27
    assert list(paper.printed_as(0.37, 201)) == [74, 75]
    assert list(paper.printed_as(0.13, 201)) == [26, 27]
    fits = [
        half_width_sigma(201 - n, n, k)
        for n in (74, 75)
        for k in (26, 27)
        if abs(exact_moments(201 - n, n, k)[0] - Fraction(85, 100)) <= Fraction(1, 200)
    ]
    found = paper.possible_sigmas(201, 0.37, 0.13, 0.85)
    assert found == pytest.approx(fits, rel=1e-9)


def test_expected_auc_of_binormal_scores_is_818(out):
    small, large = read(out, "coverage")
    expected = 1 - stats.norm.cdf(-stats.norm.ppf(0.9) / np.sqrt(2))
    assert round(expected, 3) == 0.818
    for row in (small, large):
        assert float(row["mean of E[A_k]"]) == pytest.approx(expected, abs=5e-5)
    assert float(small["Cortes-Mohri, exact"]) > 0.95
    assert float(large["Cortes-Mohri, exact"]) < 0.01


def test_exact_coverage_is_the_simulated_one():
    half, rng = 120, np.random.default_rng(1)
    delta = np.sqrt(2) * stats.norm.ppf(0.9)
    neg, pos = rng.standard_normal((2, 2000, half))
    k = (neg > delta / 2).sum(axis=1) + (pos + delta <= delta / 2).sum(axis=1)
    inside = [np.subtract(paper.interval(half, half, int(j)), 0.9) for j in k]
    share = np.mean([low <= 0 <= high for low, high in inside])
    exact = paper.coverage(half, 0.9, 1)["Cortes-Mohri, exact"]
    assert 0.2 < exact < 0.9
    assert share == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 2000))


def logit_delong(neg, pos):
    """DeLong's 95 % interval on the logit scale, from the placements."""
    above = (pos[:, None] > neg).astype(float)
    auc, m, n = above.mean(), len(pos), len(neg)
    variance = above.mean(1).var(ddof=1) / m + above.mean(0).var(ddof=1) / n
    reach = stats.norm.ppf(0.975) * np.sqrt(variance) / (auc * (1 - auc))
    return 1 / (1 + np.exp(-np.log(auc / (1 - auc)) + np.array([reach, -reach])))


def test_simulated_coverage_counts_the_intervals_that_hold():
    half, replicates = 25, 60
    row = paper.coverage(half, 0.9, replicates)
    rng = np.random.default_rng(half)  # the samples of the script
    delta, inside = np.sqrt(2) * stats.norm.ppf(0.9), []
    for _ in range(replicates):
        neg, pos = np.split(rng.standard_normal(2 * half), 2)
        score = auc_estimate(np.repeat([0, 1], half), np.r_[neg, pos + delta])
        both = score.confidence_interval(0.95), logit_delong(neg, pos + delta)
        inside.append([low <= 0.9 <= high for low, high in both])
    shares = np.mean(inside, axis=0)
    assert (row["score"], row["DeLong, logit"]) == pytest.approx(tuple(shares))
    assert (shares < 1).all()


def words(claims):
    """The verdicts of claims, by figure."""
    return [row["holds"] for row in claims]


def test_claims_follow_from_the_numbers(out):
    claims = read(out, "claims")
    verdicts = {
        figure: words(row for row in claims if row["figure"] == figure)
        for figure in ("1a", "1b", "T1", "cover")
    }
    assert verdicts == {
        "1a": ["yes"] * 4,
        "1b": ["yes", "yes", "no"],
        "T1": ["yes"] * 5 + ["no"],
        "cover": ["no", "no"],
    }
    assert len(claims) == 15
    seen = [row["claim"] for row in claims if "after seeing" in row["claim"]]
    assert len(seen) == 4
    by_hand = [paper.claim("", "", "", h) for h in ([1, 1], [1, 0], [0], False)]
    assert words(by_hand) == ["yes", "partly", "no", "no"]
    assert (out / "paper_auc_intervals_fig1.png").stat().st_size < 120_000


def lines(hanley, maximum=2.0):
    """Rows of a figure whose adaptive σ is its AUC, and whose others are constant."""
    names = "E[A_k]", "adaptive σ", "σ(A_k)"
    fixed = {"m": 400, "n": 200, "Hanley, n positive": hanley, "maximum": maximum}
    fixed["Hanley, m positive"] = 2.0
    return [fixed | dict.fromkeys(names, x) for x in np.linspace(0.5, 1, 38)]


def test_crossings_of_known_lines():
    for height in (0.6, 0.75, 0.913):
        found = paper.crossings(lines(height), "Hanley, n positive")
        assert found == pytest.approx([height])
    assert len(paper.crossings(lines(2), "Hanley, n positive")) == 0
    rows = [
        {"E[A_k]": x, "adaptive σ": abs(x - 0.5), "other": 0.2}
        for x in np.linspace(0, 1, 11)
    ]
    assert paper.crossings(rows, "other") == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize(
    ("hanley", "maximum", "orderings", "crossing"),
    [  # σ < Hanley and σ < maximum at every k; the lines cross at Hanley's height
        (0.731, 2.0, ("partly", "yes"), "yes"),
        (0.769, 0.9, ("partly", "partly"), "yes"),
        (0.729, 0.4, ("partly", "no"), "no"),
        (0.771, 1.1, ("partly", "yes"), "no"),
        (0.400, 2.0, ("no", "yes"), "no"),
        (1.100, 2.0, ("yes", "yes"), "no"),
    ],
)
def test_verdicts_of_figure_1(hanley, maximum, orderings, crossing):
    rows = lines(hanley, maximum)
    claims = paper.claims_of_figure_1(rows, rows, 20)
    assert words(claims) == [*orderings, *orderings, orderings[1], crossing, "no"]


def test_verdicts_of_table_1():
    near = {
        "possible n, k": 1,
        "E[A_k] ratio": 1.0,
        "adaptive σ ratio": 1.079,
        "Hanley ratio": 1.019,
        "maximum ratio": 0.981,
        "σ ratio from": 0.951,
        "σ ratio to": 1.049,
        "σ(A_k)": 1.079,
        "adaptive σ printed": 1.0,
    }
    assert words(paper.claims_of_table_1([near, near])) == ["yes"] * 6
    for place, name, far in (
        (0, "possible n, k", 0),
        (1, "adaptive σ ratio", 0.919),
        (2, "Hanley ratio", 1.021),
        (3, "maximum ratio", 0.979),
        (4, "σ ratio from", 0.949),
        (4, "σ ratio to", 1.051),
        (5, "σ(A_k)", 0.919),
    ):
        off = near | {name: far}
        for rows, word in (([near, off], "partly"), ([off, off], "no")):
            found = words(paper.claims_of_table_1(rows))
            assert found == ["yes"] * place + [word] + ["yes"] * (5 - place)


def test_verdicts_of_coverage():
    row = {"rows": "", "AUC": 0.9, "score": 0.95}
    for reached, mean, verdicts in (
        (0.931, 0.909, ["yes", "yes"]),
        (0.929, 0.911, ["no", "no"]),
    ):
        last = row | {"Cortes-Mohri, exact": reached, "mean of E[A_k]": mean}
        assert words(paper.claims_of_coverage([row, last])) == verdicts


def test_data_that_are_not_there_are_named(out, tmp_path, capsys):
    folder = tmp_path / "misspelt"
    paper.main(["--fast", "--data-dir", str(folder), "--out", str(tmp_path)])
    (line,) = (x for x in capsys.readouterr().out.splitlines() if "left out" in x)
    assert f"{folder} (no such directory)" in line
    assert line.count("pima.npz") == line.count("ionosphere.npz") == 2
    assert words(read(tmp_path, "claims")) == words(read(out, "claims"))
    assert not (tmp_path / "paper_auc_intervals_data.csv").exists()
    (tmp_path / "pima.npz").touch()
    names, line = from_data.at_hand(tmp_path)
    assert names == ["pima"]
    assert "no such" not in line
    missing = "credit_crx.npz, internet_ads.npz, page_blocks.npz, ionosphere.npz"
    assert line.endswith(f"missing: {missing}")


def test_a_row_of_the_table_from_data(rng):
    y = np.repeat([True, False], [30, 90])
    score = y + rng.standard_normal(120)
    one, other = (from_data.describe(y, score, which) for which in (True, False))
    k = int(((score > 0) != y).sum())
    for row in (one, other):
        assert row["k"] == k
        assert row["AUC"] == pytest.approx(roc_auc_score(y, score))
        labels = balanced_accuracy_score(y, score > 0)
        assert row["AUC of labels"] == pytest.approx(labels)
        assert row["E[A_k]"] == pytest.approx(float(exact_moments(30, 90, k)[0]))
        assert row["adaptive σ"] == pytest.approx(half_width_sigma(30, 90, k))
    assert (one["n"], other["n"]) == (30, 90)
    auc = one["AUC"]
    assert one["Hanley σ"] == pytest.approx(hanley(auc, n_pos=30, n_neg=90))
    assert other["Hanley σ"] == pytest.approx(hanley(auc, n_pos=90, n_neg=30))


def test_errors_alone_do_not_tell_the_auc_of_scores(data_dir, tmp_path):
    names, line = from_data.at_hand(data_dir)
    if not names:
        pytest.skip(line)
    paper.main(["--fast", "--data-dir", str(data_dir), "--out", str(tmp_path)])
    rows = read(tmp_path, "data")
    assert {row["data"] for row in rows} == set(names)
    for row in rows:
        N, f, *_ = from_data.PRINTED[row["data"]]
        if row["scores"] == "hold-out":
            assert float(row["N"]) == N
        # the class that the paper calls n
        assert float(row["n"]) / float(row["N"]) == pytest.approx(f, abs=0.03)
        assert float(row["low"]) < float(row["AUC"]) < float(row["high"])
        assert float(row["E[A_k]"]) < float(row["low"])
    assert "data" in {row["figure"] for row in read(tmp_path, "claims")}
    assert (tmp_path / "paper_auc_intervals_data.png").stat().st_size < 120_000
