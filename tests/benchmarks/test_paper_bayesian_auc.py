"""The Bayesian AUC paper's script: closed forms, its rule, its runs."""

import json
from collections import Counter
from statistics import NormalDist

import numpy as np
import paper_bayesian_auc as paper
import paper_bayesian_claims as judge
import paper_bayesian_designs as designs
import pytest
from paper_bayesian_designs import COLUMNS, FIG1, FIG2, FIG3, FIG4, FIG5, NOISE
from paper_runs import parse
from results_table import read_table

from skauc import make_cbauc_scorer, make_cv_auc_scorer, make_ebauc_scorer

CELL = (4, 10, 12, 0)


@pytest.fixture(scope="module")
def fast(tmp_path_factory, real_data):
    """Directory of a fast run; with real sets if there are any."""
    out = tmp_path_factory.mktemp("paper")
    paper.main(fast_arguments(out, real_data))
    return out


def fast_arguments(out, data):
    return ["--fast", "--out", str(out), *(["--data-dir", str(data)] if data else [])]


def table(out, name):
    return read_table(out / f"paper_bayesian_auc_{name}.csv")


@pytest.fixture
def trained(rng):
    """A rule trained on z-scored rows of the unequal-covariance design."""
    X, y = designs.design(FIG3, 4, 0).draw(15, 12, rng)
    X, _, std = designs.z_scores(X)
    return designs.classifier().fit(X, y), X, y, std


# ------------------------------------------------------------------------ closed forms


@pytest.mark.parametrize(("P", "printed"), [(4, 0.9214), (10, 0.9873)])
def test_bayes_auc_of_the_stated_design(P, printed):
    found = designs.design(FIG1, P, 0).bayes_auc()
    assert found == pytest.approx(NormalDist().cdf(np.sqrt(P / 2)), rel=1e-12)
    assert round(found, 4) == printed


@pytest.mark.parametrize("target", [550, 750, 990])
def test_figure_2_hits_its_targets(target):
    law = designs.design(FIG2, 2, target)
    assert law.bayes_auc() == pytest.approx(target / 1000, rel=1e-12)
    w = np.ones(2)  # the best direction when Σ = σI
    assert law.auc(w) == pytest.approx(target / 1000, rel=1e-12)


def test_equation_2_is_the_auc_of_new_rows(trained, rng):
    model, _, _, std = trained
    law, w = designs.design(FIG3, 4, 0), model.coef_[0] / std
    neg = rng.multivariate_normal(np.zeros(4), np.eye(4), 200_000) @ w
    pos = rng.multivariate_normal(law.mean_pos, law.cov_pos, 200_000) @ w
    assert law.auc(w) == pytest.approx((pos > neg).mean(), abs=0.005)  # 5 sd
    assert law.auc(w) < law.bayes_auc()


# -------------------------------------------------------------------------- estimators


def test_estimates_are_the_scorers(trained):
    model, X, y, _ = trained
    found = designs.estimates(model, X, y, seed=3)
    cv = make_cv_auc_scorer(cv=5, random_state=3)
    assert found[designs.CV] == pytest.approx(cv(model, X, y), rel=1e-12)
    cbauc = make_cbauc_scorer(prior="paper")
    assert found[designs.CBAUC] == pytest.approx(cbauc(model, X, y), rel=1e-12)


def test_ebauc_as_coded_lacks_only_the_end_points(trained):
    model, X, y, _ = trained
    rates = designs.predictive_rates(X @ model.coef_[0], y, model.coef_[0])
    whole = designs.area(*(np.r_[0, rate, 1] for rate in rates))
    assert whole == pytest.approx(make_ebauc_scorer(prior="paper")(model, X, y))
    assert designs.area(*rates) < whole


def test_cross_validation_as_coded_is_cut_short():
    """Fold scores inside a gap of the thresholds: one point and no area."""
    X = np.r_[-np.ones(10), np.ones(10)][:, None]
    y = np.repeat([0, 1], 10)
    assert designs.cross_validated(X, y, np.array([-99.0, 99.0]), 0) == (1, 0.5)
    assert designs.cross_validated(X, y, np.array([99.0, 999.0]), 0) == (1, 0)


def test_few_rows_of_a_class_mean_fewer_folds(trained):
    rows = designs.run(FIG4, (2, 8, 2, 0), 0, 2)
    assert np.isfinite(np.array(rows, float)[:, COLUMNS.index(designs.CV)]).all()


def test_constant_columns_stay_finite():
    Z, _, _ = designs.z_scores(np.array([[1.0, 2.0], [1.0, 4.0]]))
    np.testing.assert_allclose(Z, [[0, -np.sqrt(0.5)], [0, np.sqrt(0.5)]])


# -------------------------------------------------------------------------------- rule


def test_verdicts():
    def of(lower, tied, higher):
        return judge.verdict(Counter(lower=lower, tied=tied, higher=higher))

    assert of(5, 5, 0) == "yes"
    assert of(4, 6, 0) == of(5, 0, 5) == of(9, 0, 1) == "partly"
    assert of(0, 9, 0) == of(4, 0, 5) == "no"


def test_comparison_of_errors(rng):
    values = np.full((400, len(COLUMNS)), 0.5)
    noise = rng.standard_normal(400)
    values[:, COLUMNS.index(judge.CBAUC)] += 0.01 * noise
    values[:, COLUMNS.index(judge.CV)] += 0.02 * noise[::-1]
    values[:, COLUMNS.index(judge.EBAUC)] += 0.1 + 0.01 * noise
    mean_abs = np.sqrt(2 / np.pi)
    found = judge.measured(values, judge.CV, "MAE")
    assert found == pytest.approx(0.02 * mean_abs, rel=0.15)
    assert judge.measured(values, judge.EBAUC, "sd") == pytest.approx(0.01, rel=0.15)
    assert judge.compare(values, judge.CBAUC, judge.CV, "MAE") == "lower"
    assert judge.compare(values, judge.EBAUC, judge.CV, "MAE") == "higher"
    assert judge.compare(values, judge.EBAUC, judge.CV, "sd") == "lower"
    assert judge.compare(values, judge.EBAUC, judge.CBAUC, "sd") == "tied"
    assert judge.measured(values, judge.ONE, "MAE") == 0.5


# -------------------------------------------------------------------------------- runs


def test_blocks_do_not_matter():
    whole = designs.run(FIG1, CELL, 0, 4)
    assert whole == designs.run(FIG1, CELL, 0, 1) + designs.run(FIG1, CELL, 1, 4)
    assert whole[0] != whole[1]
    assert whole == json.loads(json.dumps(whole))


def test_pure_noise(fast):
    """The paper's prior says 1.00 on pure noise; the truth is ½ for every rule."""
    rows = np.array(designs.run(NOISE, (100, 20, 20, 0), 0, 3), float)
    assert (rows[:, 0] == 0.5).all()
    assert (rows[:, COLUMNS.index(designs.CBAUC)] > 0.99).all()
    (row,) = table(fast, "noise")
    assert float(row["mean CBAUC"]) > 0.99
    assert 0.35 < float(row["mean adaptive"]) < 0.75


def test_tables_of_the_fast_run(fast):
    claims = {row["figure"]: row for row in table(fast, "claims")}
    assert set("1a 1b 1c 1d 1e 1f 2 3 4".split()) < set(claims)
    assert {row["holds"] for row in claims.values()} <= {"yes", "no", "partly"}
    assert claims["Table 1"]["holds"] == claims["control (ours)"]["holds"] == "no"
    stated = table(fast, "table1")[0]
    assert stated["P = 4"] == "0.9214"
    assert stated["printed, P = 10"] == "0.9973"
    for row in table(fast, "fig1"):  # no rule beats the Bayes rule
        assert float(row["truth"]) <= float(row["Bayes AUC"])
    for k in (1, 2, 3, 4):
        assert (fast / f"paper_bayesian_auc_fig{k}.png").stat().st_size < 120_000


def test_an_interrupted_run_ends_with_the_same_tables(fast, real_data):
    files = sorted(fast.glob("*.csv"))
    before = [file.read_text() for file in files]
    cache = fast / "paper_bayesian_auc.jsonl"
    lines = cache.read_text().splitlines()
    cache.write_text("\n".join(lines[:-3]))
    paper.main(fast_arguments(fast, real_data))
    assert [file.read_text() for file in files] == before
    assert len(cache.read_text().splitlines()) == len(lines)


def test_without_real_sets(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("SKAUC_DATA_DIR", raising=False)
    monkeypatch.setattr(
        paper, "plan", lambda fast: {FIG1: ([CELL], 2), FIG5: ([(10,)], 2)}
    )
    results = paper.collect(parse("doc", ["--fast", "--out", str(tmp_path)]))
    assert list(results) == [FIG1]
    assert "figure 5 left out: no ovarian_nci.npz" in capsys.readouterr().out


def test_on_the_ovarian_set_cbauc_is_the_constant_1(fast, data_dir):
    for row in table(fast, "fig5"):
        assert float(row["mean CBAUC"]) > 0.998
        constant = float(row["MAE constant 1"])
        assert constant == pytest.approx(1 - float(row["truth"]), abs=2e-4)
        assert float(row["MAE CBAUC"]) == pytest.approx(constant, abs=2e-3)


def test_published_ovarian_errors_are_those_of_the_constant_1():
    for *_, truth, _, _, mae_cbauc in paper.PUBLISHED_FIG5.values():
        assert mae_cbauc == pytest.approx(1 - truth, abs=1e-4)
