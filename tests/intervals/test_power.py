"""auc_power, auc_sample_size: pROC, tables, simulation, laws, edges, error texts."""

import json
from functools import partial
from pathlib import Path

import interval_oracles as oracles
import numpy as np
import pytest
from scipy.stats import norm, rankdata

from skauc import auc_estimate, auc_power, auc_sample_size, compare_auc

REFERENCE = Path(__file__).parents[1] / "reference"
POWER = json.loads((REFERENCE / "proc_tests.json").read_text())["power"]

# ------------------------------------------------------------- published output


def test_proc_power_of_one_curve():
    # pROC 1.18: power.roc.test(ncases = 41, ncontrols = 72, auc = 0.73)
    power = partial(auc_power, 0.73, n_pos=41, n_neg=72)
    assert power() == pytest.approx(0.989745343551, rel=1e-9)
    one_sided = power(alternative="greater")
    assert one_sided == pytest.approx(0.995929593809, rel=1e-9)


def test_proc_sample_size():
    # power.roc.test(auc = 0.73, power = 0.95, kappa = 1.7): 29.67 cases, 50.44 controls
    size = auc_sample_size(0.73, power=0.95, ratio=1.7)
    assert size == (size.n_neg, size.n_pos) == (51, 30)
    assert all(type(n) is int for n in size)


@pytest.mark.parametrize(("auc", "ratio", "side", "cases", "controls", "p"), POWER)
def test_proc_over_a_grid(auc, ratio, side, cases, controls, p):
    # pROC's sizes are no whole numbers; negatives rounded up may save a positive
    n_neg, n_pos = auc_sample_size(auc, power=0.9, ratio=ratio, alternative=side)
    saved = np.ceil(cases) - n_pos
    assert saved in ({0} if ratio == 3 else {0, 1})
    assert controls - 1e-9 <= ratio * cases <= n_neg
    got = auc_power(auc, n_pos=40, n_neg=40 * ratio, alpha=0.01, alternative=side)
    # two-sided they leave the far tail out, which is 4e-5 or less here
    assert got == pytest.approx(p, abs=5e-5 if side == "two-sided" else 1e-12)


@pytest.mark.parametrize(("n", "error"), [(40, 0.0437), (60, 0.0356)])
def test_hanley_mcneil_table(n, error):
    estimate = auc_estimate(*oracles.rows_of_auc(n, n, 0.85))
    assert estimate.standard_error("hanley_mcneil") == pytest.approx(error, abs=5e-5)
    # of the score interval, which is hardly narrower than that of the table
    width = 2 * norm.ppf(0.975) * (error + 5e-5)
    planned = auc_sample_size(0.85, width=width, method="hanley_mcneil")
    assert n <= planned.n_pos <= n + 2


# ------------------------------------------------------------------ simulation


def draw(rng, aucs, n_neg, n_pos, correlation, reps):
    """Scores of shape (reps, n) a class for each AUC, negatives and positives."""
    L = np.linalg.cholesky([[1, correlation], [correlation, 1]])
    shift = np.sqrt(2) * norm.ppf(aucs)
    neg = np.einsum("ij,jrn->irn", L, rng.normal(size=(2, reps, n_neg)))
    pos = np.einsum("ij,jrn->irn", L, rng.normal(size=(2, reps, n_pos)))
    return neg, pos + shift[:, None, None]


def placed(neg, pos):
    """Placements of untied scores by ranks, and the AUCs."""
    n_neg, n_pos = neg.shape[-1], pos.shape[-1]
    ranks = rankdata(np.concatenate([neg, pos], axis=-1), axis=-1)
    v01 = 1 - (ranks[..., :n_neg] - rankdata(neg, axis=-1)) / n_pos
    v10 = (ranks[..., n_neg:] - rankdata(pos, axis=-1)) / n_neg
    return v01, v10, v10.mean(axis=-1)


def delong_variance(v01, v10):
    return sum(v.var(axis=-1, ddof=1) / v.shape[-1] for v in (v01, v10))


@pytest.mark.parametrize(
    ("margin", "aucs", "correlation"),
    [
        (0.0, (0.85, 0.75), 0.5),
        pytest.param(0.0, (0.85, 0.75), None, marks=pytest.mark.slow),
        (0.08, (0.8, 0.8), 0.6),
    ],
)
def test_two_curves_reach_their_power(margin, aucs, correlation):
    side = "greater" if margin else "two-sided"
    how = {"auc2": aucs[1], "correlation": correlation}
    how |= {"margin": margin, "alternative": side}
    n_neg, n_pos = auc_sample_size(aucs[0], power=0.85, ratio=1.5, **how)
    neg, pos = draw(
        np.random.default_rng(2), aucs, n_neg, n_pos, correlation or 0.0, reps=4000
    )
    v01, v10, estimate = placed(neg, pos)
    gap = estimate[0] - estimate[1] + margin
    if correlation is None:  # different rows: the variances add
        z = gap / np.sqrt(delong_variance(v01, v10).sum(axis=0))
    else:
        z = gap / np.sqrt(delong_variance(v01[0] - v01[1], v10[0] - v10[1]))
        y = np.repeat([0, 1], [n_neg, n_pos])
        a, b = (np.r_[neg[i, 0], pos[i, 0]] for i in (0, 1))
        first = compare_auc(y, a, b, margin=margin, alternative=side)
        assert z[0] == pytest.approx(first.statistic, rel=1e-9)
    low = norm.ppf(0.975) if side == "two-sided" else norm.ppf(0.95)
    reached = ((np.abs(z) if side == "two-sided" else z) > low).mean()
    promised = auc_power(aucs[0], n_pos=n_pos, n_neg=n_neg, **how)
    assert 0.85 <= promised < 0.87
    assert reached == pytest.approx(promised, abs=0.02)


@pytest.mark.parametrize(
    ("auc", "ratio", "width"),
    [(0.6, 20, 0.3), (0.8, 2, 0.2), (0.9, 0.1, 0.2), (0.99, 1, 0.1), (0.999, 1, 0.1)],
)
def test_interval_has_the_width_on_average(auc, ratio, width):
    sizes = auc_sample_size(auc, width=width, ratio=ratio)
    both = draw(np.random.default_rng(3), [auc, auc], *sizes, 0.0, reps=60)
    rows = np.concatenate([*np.concatenate(both, axis=-1)])
    found = (auc_estimate(np.arange(len(s)) >= sizes.n_neg, s) for s in rows)
    widths = [np.ptp(estimate.confidence_interval()) for estimate in found]
    assert np.mean(widths) == pytest.approx(width, rel=0.06)


# ------------------------------------------------------------------------ laws


@pytest.mark.parametrize("method", ["obuchowski", "hanley_mcneil", "binormal"])
def test_sizes_are_the_least(method):
    ratio = np.array([0.3, 2.5])[:, None, None]
    auc, goal = np.array([0.6, 0.7, 0.8]), np.array([[0.8], [0.95]])
    n_neg, n_pos = auc_sample_size(auc, power=goal, ratio=ratio, method=method)
    assert n_pos.shape == n_neg.shape == (2, 2, 3)
    assert n_pos.dtype.kind == n_neg.dtype.kind == "i"
    np.testing.assert_array_equal(n_neg, np.maximum(np.ceil(ratio * n_pos), 2))
    assert (auc_power(auc, n_pos=n_pos, n_neg=n_neg, method=method) >= goal).all()
    before = n_pos - 1
    less = np.maximum(np.ceil(ratio * before), 2)
    assert (auc_power(auc, n_pos=before, n_neg=less, method=method) < goal).all()
    each = auc_sample_size(0.7, power=0.95, ratio=2.5, method=method)
    assert each == (n_neg[1, 1, 1], n_pos[1, 1, 1])


# ----------------------------------------------------------------- error texts


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"auc": [0.7, -1]}, r"auc must lie in \(0, 1\), got -1.0"),
        ({"n_pos": 1}, r"n_pos must lie in \[2, 1.09.*e\+12\], got 1.0"),
        ({"n_neg": np.inf}, r"n_neg must lie in \[2, .*\], got inf"),
        (
            {"auc2": 0.7, "correlation": 2},
            r"correlation must lie in \[-1, 1\], got 2.0",
        ),
        (
            {"auc2": 0.7, "correlation": [0.1, 0.2, 0.3]},
            r"correlation must be one number or one for .*, got shape \(3,\)",
        ),
        ({"margin": 0.1}, r"alternative must be 'greater' or 'less' with a margin"),
        ({"margin": -1}, r"margin must lie in \[0, 1\), got -1.0"),
        (
            {"margin": 0.6, "alternative": "greater"},
            r"null moved by margin must lie in \(0, 1\), got -0.0999",
        ),
        ({"auc": "x"}, r"auc must hold numbers, got 'x'"),
        (
            {"auc": [0.6, 0.7], "n_pos": [10, 20, 30]},
            "could not be broadcast together with shapes",
        ),
    ],
)
def test_error_texts_of_power(options, text):
    with pytest.raises(ValueError, match=text):
        auc_power(**{"auc": 0.8, "n_pos": 20, "n_neg": 20, **options})


TOO_LARGE = r"needs a larger effect or width, got a study of more than 2\*\*40"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"power": 0.8, "width": 0.1}, "needs either power or width, got power and"),
        ({"power": 1.0}, r"power must lie in \(0, 1\), got 1.0"),
        ({"width": 0}, r"width must lie in \(0, 1\), got 0.0"),
        ({"power": 0.8, "ratio": 0}, r"ratio must lie in \(0, .*\), got 0.0"),
        ({"power": 0.8, "null": 0.8}, TOO_LARGE),
        ({"power": 0.8, "null": 0.9, "alternative": "greater"}, TOO_LARGE),
        ({"power": 0.8, "null": 0.7, "alternative": "less"}, TOO_LARGE),
        ({"power": 0.8, "null": 0.8 + 1e-9}, TOO_LARGE),
        ({"width": 0.1, "alternative": "less"}, "alternative must not be given with"),
    ],
)
def test_error_texts_of_sample_size(options, text):
    with pytest.raises(ValueError, match=text):
        auc_sample_size(0.8, **options)


def test_one_score_twice_is_never_significant():
    sizes = {"n_pos": 50, "n_neg": 50}
    assert auc_power(0.7, auc2=0.7, correlation=1, **sizes) == 0
    shown = auc_power(
        0.7, auc2=0.7, correlation=1, margin=0.1, alternative="greater", **sizes
    )
    assert shown == 1


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9])
def test_power_at_the_null_is_the_level(alpha):
    how = {"alpha": alpha, "n_neg": 50, "n_pos": 60, "method": "binormal"}
    for side in ("two-sided", "greater", "less"):
        assert auc_power(0.5, alternative=side, **how) == pytest.approx(alpha, abs=4e-3)


SLOW = (
    (0.95, 0.9, 4, 0.8), (0.85, 0.75, 1, 0.9), (0.7, 0.6, 3, 0.8), (0.8, 0.7, 1, 0.8),
    (0.7, 0.8, 1, 0.9), (0.9, 0.7, 2, 0.9), (0.75, 0.65, 1, 0.8), (0.6, 0.7, 1, 0.8),
    (0.85, 0.8, 1, 0.8),
)  # fmt: skip


@pytest.mark.parametrize(
    ("auc", "null", "ratio", "power"),
    [
        (0.7, 0.5, 1 / 9.5, 0.77),
        (0.65, 0.5, 3, 0.8),
        (0.999, 0.5, 1, 0.9),
        (0.9, 0.8, 1, 0.9),
        *(pytest.param(*design, marks=pytest.mark.slow) for design in SLOW),
    ],
)
def test_plans_against_any_auc_keep_their_power(auc, null, ratio, power):
    # What compare_auc(null=null) rejects at 5 %, 4000 studies
    how = {"null": null, "method": "binormal"}
    sizes = auc_sample_size(auc, power=power, ratio=ratio, **how)
    given = placed(*draw(np.random.default_rng(1), [auc] * 2, *sizes, 0.0, reps=2000))
    found, gap = given[2], np.abs(given[2] - null)
    scaled = null * (1 - null) / np.maximum(found * (1 - found), 1e-9)
    least = oracles.newcombe_variance(null, *sizes)
    variance = np.maximum(scaled * delong_variance(*given[:2]), least)
    rejected = gap - 0.5 / np.prod(sizes) * (found == 1) > 1.96 * np.sqrt(variance)
    planned = auc_power(auc, n_pos=sizes.n_pos, n_neg=sizes.n_neg, **how)
    assert rejected.mean() == pytest.approx(planned, abs=0.03)
    assert power <= planned < power + (0.03 if sizes.n_neg > 9 else 0.1)
