"""compare_auc: published tests, brute force, laws, edges, error texts."""

import json
from itertools import combinations, permutations
from pathlib import Path

import interval_oracles as oracles
import numpy as np
import pytest
from scipy import stats

from skauc import UntrustedAUCWarning, auc_estimate, compare_auc

REFERENCE = Path(__file__).parents[1] / "reference"
ASAH = json.loads((REFERENCE / "proc_asah.json").read_text())
SAS = json.loads((REFERENCE / "sas_delong.json").read_text())
PROC = json.loads((REFERENCE / "proc_tests.json").read_text())
Y = np.array(ASAH["outcome"])
EXPECTED = ASAH["expected"]

# ------------------------------------------------------------- published output


@pytest.mark.parametrize(("a", "b", "z", "p", "low", "high"), EXPECTED["paired"])
def test_proc_paired(a, b, z, p, low, high):
    result = compare_auc(Y, ASAH[a], ASAH[b])
    assert result.statistic == pytest.approx(z, rel=1e-12)
    assert result.pvalue == pytest.approx(p, rel=1e-12)
    assert result.confidence_interval(0.95) == pytest.approx((low, high), rel=1e-12)


@pytest.mark.parametrize("side", ["greater", "less"])
def test_proc_one_sided(side):
    a, b, p = EXPECTED[side]
    result = compare_auc(Y, ASAH[a], ASAH[b], alternative=side)
    assert result.pvalue == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(("a", "b", "statistic"), EXPECTED["unpaired"])
def test_proc_unpaired_statistic(a, b, statistic):
    # pROC refers it to Student's t, we to the normal: the statistics agree
    result = compare_auc(Y, ASAH[a], ASAH[b], y_true_b=Y)
    assert result.statistic == pytest.approx(statistic, rel=1e-12)


def test_three_correlated_curves_of_delong():
    scores = SAS["albumin"], SAS["total_protein"], -np.array(SAS["kg_score"])
    result = compare_auc(SAS["benefit"], *scores)
    np.testing.assert_allclose(result.auc, PROC["auc"], rtol=1e-12)
    expected = PROC["contrasts"]["against_kg"]  # a basis of all differences
    assert result.statistic == pytest.approx(expected["chi_square"], rel=1e-9)
    assert result.df == expected["df"]
    assert result.pvalue == pytest.approx(expected["pvalue"], rel=1e-9)


@pytest.mark.parametrize("name", PROC["contrasts"])
def test_combinations_of_delongs_patients(name):
    """Any contrast LA follows from the AUCs and their covariance S: (LSL')⁻¹."""
    scores = SAS["albumin"], SAS["total_protein"], -np.array(SAS["kg_score"])
    expected, result = PROC["contrasts"][name], compare_auc(SAS["benefit"], *scores)
    L = np.atleast_2d(expected["L"])
    estimate, spread = L @ result.auc, L @ result.covariance @ L.T
    np.testing.assert_allclose(estimate, np.ravel(expected["estimate"]), rtol=1e-10)
    error = np.ravel(expected["standard_error"])
    np.testing.assert_allclose(np.sqrt(np.diag(spread)), error, rtol=1e-10)
    chi_square = estimate @ np.linalg.pinv(spread, hermitian=True) @ estimate
    assert chi_square == pytest.approx(expected["chi_square"], rel=1e-8)


@pytest.mark.parametrize(("a", "b", "rows", "t", "df", "p"), PROC["unpaired"])
def test_proc_unpaired_with_students_t(a, b, rows, t, df, p):
    one = two = np.ones(len(Y), bool)
    if rows == "halves":
        one = np.arange(len(Y)) < 50
        two = ~one
    a, b = (np.array(ASAH[name])[part] for name, part in ((a, one), (b, two)))
    result = compare_auc(Y[one], a, b, y_true_b=Y[two], method="welch")
    assert result.statistic == pytest.approx(t, rel=1e-10)
    assert result.df == pytest.approx(df, rel=1e-10)
    assert result.pvalue == pytest.approx(p, rel=1e-9)
    reach = stats.t.ppf(0.95, df) * result.standard_error
    low, high = result.confidence_interval(0.9)
    assert low == pytest.approx(result.difference - reach, rel=1e-9)
    assert high == pytest.approx(result.difference + reach, rel=1e-9)
    side = compare_auc(
        Y[one], a, b, y_true_b=Y[two], method="welch", alternative="less"
    )
    assert side.pvalue == pytest.approx(stats.t.cdf(t, df), rel=1e-9)


# ------------------------------------------------------------------- formulas


def three_scores(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    common = rng.normal(size=n)
    return y, [common + rng.normal(size=n) + shift * y for shift in (0.5, 1, 1.5)]


def test_joint_covariance_and_overall_test_by_loops():
    y, scores = three_scores()
    result = compare_auc(y, *scores)
    S = oracles.loop_delong([s[~y] for s in scores], [s[y] for s in scores])
    np.testing.assert_allclose(result.covariance, S, rtol=1e-12)
    # another basis of the contrasts: each against the last
    L = np.array([[1, 0, -1], [0, 1, -1.0]])
    gap = L @ result.auc
    chi2 = gap @ np.linalg.solve(L @ S @ L.T, gap)
    assert result.statistic == pytest.approx(chi2, rel=1e-10)
    assert result.pvalue == pytest.approx(stats.chi2.sf(chi2, 2), rel=1e-10)
    for pair, (i, j) in zip(result.pairs, combinations(range(3), 2), strict=True):
        variance = S[i, i] + S[j, j] - 2 * S[i, j]
        assert pair.standard_error == pytest.approx(np.sqrt(variance), rel=1e-10)


def test_holm_by_hand():
    y, scores = three_scores()
    result = compare_auc(y, *scores)
    p = [pair.pvalue for pair in result.pairs]
    a, b, c = np.argsort(p)
    expected = np.empty(3)
    expected[a] = min(3 * p[a], 1)
    expected[b] = max(expected[a], min(2 * p[b], 1))
    expected[c] = max(expected[b], p[c])
    np.testing.assert_allclose(result.adjusted_pvalues, expected)


@pytest.mark.parametrize("n_pos", [3, 5, 60])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_one_half_is_mann_whitneys_test_or_wider(n_pos, alternative, rng):
    y, how = np.repeat([0, 1], [200, n_pos]), {"alternative": alternative}
    score = rng.normal(size=(40, len(y)))
    p = [compare_auc(y, one, null=0.5, **how).pvalue for one in score]
    how |= {"use_continuity": False, "method": "asymptotic", "axis": 1}
    expected = stats.mannwhitneyu(score[:, y == 1], score[:, y == 0], **how).pvalue
    # DeLong's variance is larger elsewhere
    assert np.all(np.minimum(p, 0.5) >= np.minimum(expected, 0.5) - 1e-9)
    assert np.isclose(p, expected, rtol=1e-9).sum() >= 10


@pytest.mark.parametrize("part", [{}, {"fpr": (0, 0.4)}, {"tpr": (0.5, 1)}])
@pytest.mark.parametrize("groups", [None, np.arange(113) // 2])
def test_the_interval_holds_the_constants_that_the_test_does_not_reject(part, groups):
    estimate = auc_estimate(Y, ASAH["s100b"], groups=groups)
    estimate = estimate.partial_auc(**part) if part else estimate
    for side in ("two-sided", "greater", "less"):
        limits = estimate.confidence_interval(0.9, alternative=side)
        for limit in {"greater": limits[:1], "less": limits[1:]}.get(side, limits):
            how = {"null": limit, "alternative": side, "groups": groups, **part}
            result = compare_auc(Y, ASAH["s100b"], **how)
            assert result.pvalue == pytest.approx(0.1, rel=1e-6)
            assert np.array(result.confidence_interval(0.9)) == pytest.approx(
                np.array(limits) - limit
            )


def test_non_inferiority():
    a, b = ASAH["ndka"], ASAH["s100b"]
    plain = compare_auc(Y, a, b)
    result = compare_auc(Y, a, b, margin=0.3, alternative="greater")
    z = (plain.difference + 0.3) / plain.standard_error
    assert result.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-12)
    # the test at 2.5 % and the 97.5 % bound agree
    low, high = result.confidence_interval(0.975)
    assert (result.pvalue < 0.025) == (low > -0.3)
    assert high == 1.0
    mirrored = compare_auc(Y, b, a, margin=0.3, alternative="less")
    assert mirrored.pvalue == pytest.approx(result.pvalue, rel=1e-12)


# ------------------------------------------------------------------------- laws


def test_one_row_a_group_changes_nothing():
    y, scores = three_scores()
    plain = compare_auc(y, *scores[:2])
    grouped = compare_auc(y, *scores[:2], groups=np.arange(60))
    assert grouped.statistic == pytest.approx(plain.statistic, rel=1e-10)
    twice = compare_auc(
        np.repeat(y, 2), *(np.repeat(s, 2) for s in scores[:2]),
        groups=np.repeat(np.arange(60), 2),
    )  # fmt: skip
    assert twice.statistic == pytest.approx(plain.statistic, rel=1e-10)


# ------------------------------------------------------------------------- edges


def test_identical_scores():
    for score in (ASAH["ndka"], np.ones(113), Y):
        result = compare_auc(Y, score, score)
        assert (result.difference, result.statistic, result.pvalue) == (0, 0, 1)
        assert result.confidence_interval() == (0, 0)
    same_ranks = compare_auc(Y, ASAH["ndka"], np.log(ASAH["ndka"]))
    assert same_ranks.pvalue == 1
    many = compare_auc(Y, *[ASAH["ndka"]] * 3)
    assert (many.df, many.pvalue) == (0, 1)
    np.testing.assert_array_equal(many.adjusted_pvalues, 1)


def test_a_repeated_score_costs_a_degree_of_freedom():
    a, b, c = (ASAH[name] for name in ("ndka", "s100b", "wfns"))
    three, four = compare_auc(Y, a, b, c), compare_auc(Y, a, b, c, b)
    assert (three.df, four.df) == (2, 2)
    assert four.statistic == pytest.approx(three.statistic, rel=1e-9)


@pytest.mark.filterwarnings("ignore:A class has only")
def test_order_of_scores_of_few_rows():
    """A difference that does not vary and is not 0 enters in the same way."""
    scores = [
        [-0.8, 1.6, -0.3, -1.3, 0.8, 1.7, 2.3, 2.6],
        [0.43, 1, 0.53, 0.55, -1.68, -1.47, -1.22, -0.47],
        [-0.27, 0.15, 0.34, -0.98, 3.61, 4.15, 3.04, 3.02],
    ]
    found = [compare_auc([0] * 4 + [1] * 4, *order) for order in permutations(scores)]
    assert {one.df for one in found} == {2}
    statistics = [one.statistic for one in found]
    assert statistics == pytest.approx([statistics[0]] * 6, rel=1e-9)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 6), (3, 4), (4, 4), (5, 3)])
def test_level_of_few_rows_by_all_labels(sizes):
    n, pvalues = sum(sizes), []
    for chosen in combinations(range(n), sizes[1]):
        y, score = np.isin(np.arange(n), chosen), np.arange(n)
        pvalues.append(compare_auc(y, score, null=0.5).pvalue)
        low, high = auc_estimate(y, score).confidence_interval()
        assert (pvalues[-1] > 0.05) == (low < 0.5 < high)
    assert (np.array(pvalues) <= 0.05).mean() < 0.06  # 4 of 70


@pytest.mark.filterwarnings("ignore:A class has only")
def test_no_variance_is_no_certainty():
    y = [0, 0, 0, 1, 1, 1]
    perfect, other = [1, 2, 3, 4, 5, 6], [3, 2, 1, 6, 5, 4]
    both = compare_auc(y, perfect, other)  # both perfect, not the same
    assert both.pvalue == 1
    assert both.confidence_interval() == (-1, 1)
    against = compare_auc(y, perfect, [6, 5, 4, 3, 2, 1])
    assert 0.05 < against.pvalue < 0.1  # z = 1/√(1/3)
    constant = compare_auc(y, perfect, null=0.5)
    # Mann and Whitney's with half a pair less
    assert constant.statistic == pytest.approx((0.5 - 0.5 / 9) / np.sqrt(7 / 108))
    many = compare_auc(y, perfect, [6, 5, 4, 3, 2, 1], perfect)
    assert many.df == 1
    assert many.pvalue == pytest.approx(against.pvalue, rel=1e-9)
    unpaired = compare_auc(y, perfect, other, y_true_b=y)
    assert unpaired.pvalue == 1


@pytest.mark.parametrize("groups", [None, np.arange(205) // 5])
def test_few_rows_or_groups_are_doubted_but_for_permutations(groups, rng):
    """Of noise DeLong's p is below .05 too often, that of permutations is not."""
    y, p = np.arange(205) >= (202 if groups is None else 190), []
    common = np.repeat(rng.normal(size=(150, 2, 41)), 5, axis=2)
    for a, b in rng.normal(size=(150, 2, 205)) + common * (groups is not None):
        with pytest.warns(UntrustedAUCWarning, match="class has only 3 .*p < .05"):
            plain = compare_auc(y, a, b, groups=groups)
        how = {"method": "permutation", "n_resamples": 199, "groups": groups}
        p.append([plain.pvalue, compare_auc(y, a, b, **how).pvalue])
    delong, permutation = np.mean(np.array(p) < 0.05, axis=0)
    assert permutation <= 0.08 <= delong


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, ASAH["ndka"]), {}, "needs either score_b or null, got none of them"),
        ((Y, Y, Y), {"null": 0.5}, "score_b or null, got score_b and null"),
        ((Y, Y), {"null": 1.5}, r"null must lie in \[0, 1\], got 1.5"),
        ((Y, Y, Y), {"margin": 0.1}, "'greater' or 'less' with a margin, got 'two-"),
        ((Y, Y, Y, Y), {"alternative": "less"}, "more than two scores, got 'less'"),
        ((Y, Y, Y, Y), {"y_true_b": Y}, "y_true_b must come with one score_b"),
        ((Y, Y, Y), {"y_true_b": Y, "groups": np.array(Y)}, "groups must be a pair"),
        ((Y, Y, Y), {"y_true_b": Y, "sample_weight": [1.0]}, "weight must be a pair"),
        ((Y, Y, Y[1:]), {}, r"score_b must have one value .* got shape \(112,\)"),
        ((Y, Y, Y + np.nan), {}, "score_b must not be NaN, got nan in row 0"),
        (([0, 0, 1], [1, 2, 3], [1, 3, 2]), {}, "at least 2 rows .* got 1"),
    ],
)
def test_error_texts(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        compare_auc(*arguments, **options)
