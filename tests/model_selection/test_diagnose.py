"""What diagnose says: every number from its definition, every sentence at its limit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    AdaptivePrior,
    NormalInverseWishart,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    bootstrap_auc,
    diagnose,
)
from skauc.adaptive._data_model import data_model
from skauc.results import AUCPosterior, Diagnosis
from skauc.statistics._rows import Rows


def normal_classes(n, P, gap=0.5, seed=0, stretch=1.0):
    """Half of the rows positive; their first feature moved, all of them stretched."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, P)) @ np.diag(np.linspace(0.5, 2, P))
    X[y == 1] *= stretch
    X[y == 1, 0] += gap
    return X, y


X, Y = normal_classes(80, 6, gap=0.7, seed=3, stretch=1.3)
MODEL = LogisticRegression(C=0.3).fit(X, Y)
SCORE = MODEL.decision_function(X)
NEG, POS = SCORE[Y == 0], SCORE[Y == 1]
SEEN = diagnose(MODEL, X, Y)


# ------------------------------------------------------------- oracles


def test_attainable_is_the_weighted_quantile():
    model = data_model(AdaptivePrior(), Rows.of(X, Y == 1))
    dense, (mean, low, high) = model.models[0], SEEN.attainable
    u = stats.norm.cdf(dense.attainable)
    assert mean == pytest.approx(dense.weight @ u, rel=1e-9)
    for value, level in ((low, 0.025), (high, 0.975)):
        # the least u with P(attainable <= u) >= level
        assert dense.weight[u <= value].sum() >= level
        assert dense.weight[u < value].sum() < level
    assert low < mean < high


def test_scores_of_the_classes():
    assert SEEN.variance_ratio == pytest.approx(
        POS.var(ddof=1) / NEG.var(ddof=1), rel=1e-9
    )
    assert SEEN.variance_ratio > 1.1
    expected = stats.shapiro(NEG).pvalue, stats.shapiro(POS).pvalue
    assert SEEN.normality == pytest.approx(expected, rel=1e-6)
    assert (SEEN.n_neg, SEEN.n_pos, SEEN.n_features) == (40, 40, 6)


def test_estimates_by_name():
    pooled = (39 * NEG.var(ddof=1) + 39 * POS.var(ddof=1)) / 78
    seen = diagnose(MODEL, X, Y).estimates
    alone = auc_posterior(MODEL, X, Y, prior=AdaptivePrior(leave_pair_out=False))
    both = auc_posterior(MODEL, X, Y)
    assert both.second_source == "leave-pair-out"
    # twenty other samples: their mean is known to about .005
    assert both.leave_pair_out == pytest.approx(
        bootstrap_auc(MODEL, X, Y).auc, abs=0.02
    )
    expected = {
        "plug-in binormal": stats.norm.cdf(
            (POS.mean() - NEG.mean()) / np.sqrt(2 * pooled)
        ),
        "resubstitution": roc_auc_score(Y, SCORE),
        "adaptive, model alone": alone.mean(),
        "leave-pair-out": both.leave_pair_out,
        "adaptive, both": both.mean(),
        "paper's prior": auc_posterior(MODEL, X, Y, prior="paper").mean(),
    }
    assert seen == pytest.approx(expected, rel=1e-9)
    assert len({round(value, 6) for value in expected.values()}) == 6


def test_discrepancy_is_leave_pair_out_minus_model():
    """Classes that a skewed feature separates: ranks see it, normal classes do not."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    Z = np.exp(2 * y[:, None] + rng.normal(size=(40, 3)))
    seen = diagnose(LogisticRegression(max_iter=10_000), Z, y)
    z = stats.norm.ppf((40 * seen.estimates["leave-pair-out"] + 0.5) / 41)
    gap = z - stats.norm.ppf(seen.estimates["adaptive, model alone"])
    assert 0.5 < seen.discrepancy == pytest.approx(gap, rel=1e-9)


# ------------------------------------------------------------- laws


def test_weights_are_rows():
    weight = np.arange(80) % 3
    rows = np.repeat(np.arange(80), weight)
    model = LogisticRegression(tol=1e-10)
    seen = diagnose(model, X, Y, sample_weight=weight)
    repeated = diagnose(model, X[rows], Y[rows])
    for name in ("n_neg", "n_pos", "attainable"):
        assert getattr(seen, name) == pytest.approx(getattr(repeated, name), rel=1e-5)
    for name in ("resubstitution", "plug-in binormal"):
        assert seen.estimates[name] == pytest.approx(repeated.estimates[name], rel=1e-6)
    score = model.fit(X, Y, sample_weight=weight).decision_function(X)
    expected = [stats.shapiro(score[(label == Y) & (weight > 0)]) for label in (0, 1)]
    assert seen.normality == pytest.approx([e.pvalue for e in expected], rel=1e-4)


def test_positive_class_turns_the_ratio():
    turned = diagnose(MODEL, X, Y, pos_label=0)
    assert turned.variance_ratio == pytest.approx(1 / SEEN.variance_ratio, rel=1e-9)
    assert turned.normality == pytest.approx(SEEN.normality[::-1], rel=1e-6)
    assert turned.posterior.mean() == pytest.approx(SEEN.posterior.mean(), rel=1e-9)


def test_two_rows_and_many_rows_of_scores():
    y = (np.arange(80) < 2).astype(int)
    seen = diagnose(LogisticRegression(), X, y)
    assert np.isnan(seen.normality[1])
    assert np.isfinite(seen.normality[0])
    Z, y = normal_classes(10_400, 1)
    seen = diagnose(LogisticRegression(), Z, y)  # the first 5000 rows of a class
    assert seen.normality[0] == pytest.approx(
        stats.shapiro(Z[y == 0, 0][:5000]).pvalue, rel=1e-6
    )


# ------------------------------------------------------------- sentences


QUIET = replace(
    SEEN,
    n_neg=10.0,
    n_pos=10.0,
    n_features=19,
    normality=(0.01, 0.01),
    variance_ratio=2.99,
    discrepancy=0.5,
)


def said(**changes):
    return replace(QUIET, **changes).warnings


def test_nothing_is_said_inside_the_limits():
    assert said() == ()
    assert said(discrepancy=-0.5, variance_ratio=1 / 2.99) == ()
    assert said(normality=(np.nan, 0.5), variance_ratio=np.inf) == ()
    assert said(variance_ratio=np.nan) == ()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"n_features": 20},
            "there are 20 features for 20 rows: the covariance is not",
        ),
        ({"normality": (0.0099, 0.5)}, "the scores of a class are not normal"),
        ({"normality": (np.nan, 0.0099)}, "the scores of a class are not normal"),
        ({"variance_ratio": 3.01}, "between the classes by a factor of 3 "),
        ({"variance_ratio": 0.33}, "between the classes by a factor of 0.33 "),
        (
            {"posterior": replace(QUIET.posterior, leave_pair_out=None)},
            "no row was left out, so that",
        ),
        ({"discrepancy": -0.51}, "0.51 probit lower than"),
        ({"discrepancy": 0.51}, "0.51 probit higher than"),
    ],
)
def test_one_sentence_beyond_each_limit(changes, sentence):
    (warning,) = said(**changes)
    assert sentence in warning


def test_the_table_shows_what_was_computed():
    lines = dict(line.rsplit(maxsplit=1) for line in str(SEEN).splitlines())
    low, high = SEEN.posterior.interval(0.95)
    expected = {
        "AUC": SEEN.posterior.mean(),
        "low": low,
        "high": high,
        "negatives": 40,
        "attainable AUC": SEEN.attainable[0],
        "score variance ratio": SEEN.variance_ratio,
        "p of normal negatives": SEEN.normality[0],
        "p of normal positives": SEEN.normality[1],
        "left out - model, probits": SEEN.discrepancy,
        **SEEN.estimates,
    }
    for name, value in expected.items():
        assert float(lines[name]) == pytest.approx(value, rel=1e-3)
    assert repr(SEEN) == str(SEEN)
    doubted = replace(SEEN.posterior, warnings=("some words",))
    assert "! some words" in str(replace(SEEN, posterior=doubted))
    assert "probits None" in " ".join(str(replace(SEEN, discrepancy=None)).split())


# ------------------------------------------------------------- what it takes


def test_fitted_or_not_and_as_its_neighbour():
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    fresh = diagnose(pipe, X, Y)
    neighbour = bayesian_val_score(pipe, X, Y)
    assert not hasattr(pipe[-1], "coef_")  # a clone is fitted
    assert fresh.posterior.mean() == neighbour.mean()
    fitted = diagnose(pipe.fit(X, Y), X, Y)
    assert str(fitted) == str(fresh)
    assert bayesian_val_score(pipe, X, Y).mean() == neighbour.mean()
    # a fitted model is diagnosed as it is
    other = LogisticRegression(C=0.3).fit(X[:40], Y[:40])
    with pytest.warns(UntrustedAUCWarning, match="treated as held-out"):
        mean = auc_posterior(other, X, Y).mean()
    assert diagnose(other, X, Y).posterior.mean() == mean


def test_what_nothing_is_left_out_of():
    # no objective is known, and no fit is allowed
    prior = AdaptivePrior(refits=0)
    seen = diagnose(Lasso(alpha=0.01), X, Y, rows="training", prior=prior)
    assert seen.posterior.second_source is None
    alone = ["plug-in binormal", "resubstitution", "adaptive, model alone"]
    assert set(seen.estimates) == {*alone, "paper's prior"}
    silent = diagnose(MODEL, X, Y, prior=AdaptivePrior(leave_pair_out=False))
    other = diagnose(MODEL, *normal_classes(80, 6, gap=0.7, seed=4), rows="held-out")
    for found in (seen, silent, other):
        assert found.discrepancy is None
        assert any("no row was left out" in reason for reason in found.warnings)
    forest = diagnose(RandomForestClassifier(random_state=0), X, Y)  # without a model
    assert forest.discrepancy is None
    assert not any(w in " ".join(forest.warnings) for w in ("no row", "probit"))
    assert other.estimates["empirical"] == pytest.approx(other.posterior.mean(), 0.01)
    assert "resubstitution" not in other.estimates


def test_more_than_two_classes():
    iris = load_iris()
    names = iris.target_names[iris.target]
    Z = iris.data + np.random.default_rng(0).normal(size=iris.data.shape)
    model = LogisticRegression(max_iter=1000)
    seen = diagnose(model, Z, names)
    posterior = bayesian_val_score(model, Z, names)
    for pair, one in posterior.pairs.items():
        assert seen[pair].posterior.mean() == one.mean()
    assert list(seen) == list(posterior.pairs) == [
        ("setosa", "versicolor"), ("setosa", "virginica"), ("versicolor", "virginica")
    ]  # fmt: skip
    model.fit(Z, names)
    rows = names != "setosa"
    w = model.coef_[2] - model.coef_[1]
    pair = seen["versicolor", "virginica"]
    assert isinstance(pair, Diagnosis)
    assert isinstance(pair.posterior, AUCPosterior)
    assert pair.n_pos == 50
    assert pair.posterior.second_source == "folds"
    assert pair.discrepancy is not None  # of folds
    assert pair.estimates["resubstitution"] == pytest.approx(
        roc_auc_score(names[rows] == "virginica", Z[rows] @ w), rel=1e-12
    )


def test_errors():
    with pytest.raises(ValueError, match="prior must be an adaptive prior, got Norm"):
        diagnose(MODEL, X, Y, prior=NormalInverseWishart())
    flat = LogisticRegression().fit(X, Y)
    flat.coef_ = np.zeros_like(flat.coef_)
    with pytest.raises(ValueError, match="estimator must give scores that differ"):
        diagnose(flat, X, Y)
    with pytest.raises(ValueError, match="y_true must hold both classes, got only 1"):
        diagnose(LogisticRegression(), X, np.ones(80, dtype=int))


def test_classes_of_different_sizes_are_not_mixed_up():
    rows = np.r_[np.flatnonzero(Y == 0)[:15], np.flatnonzero(Y)]
    seen = diagnose(MODEL, X[rows], Y[rows])
    neg, pos = NEG[:15], POS
    assert (seen.n_neg, seen.n_pos) == (15, 40)
    pooled = (14 * neg.var(ddof=1) + 39 * pos.var(ddof=1)) / 53
    assert seen.estimates["plug-in binormal"] == pytest.approx(
        stats.norm.cdf((pos.mean() - neg.mean()) / np.sqrt(2 * pooled)), rel=1e-9
    )


def test_table_of_a_pair():
    X, y = load_iris(return_X_y=True)
    one = diagnose(RidgeClassifier(), X, y)[1, 2]
    assert one.to_frame()["positives"].tolist() == [50.0]
    assert one.to_frame()["attainable AUC"].tolist() == [one.attainable[0]]
    assert "<th>attainable AUC</th>" in one._repr_html_()


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_normality_of_three_rows_whatever_their_unit():
    for unit in (1e-60, 1e-6, 1.0, 1e6, 1e60):
        rows = unit * np.array([0.0, 0.1, 1.0, 0.4, 0.5, 0.9, 1.4])[:, None]
        y = np.array([0, 0, 0, 1, 1, 1, 1])
        model = LogisticRegression().fit(rows / unit, y)
        model.coef_ = np.ones((1, 1))
        seen = diagnose(model, rows, y)
        expected = [stats.shapiro(rows[y == c, 0] / unit).pvalue for c in (0, 1)]
        assert seen.normality == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_equal_scores_have_no_normality():
    rows, y = np.r_[np.zeros(5), np.arange(7.0) + 1][:, None], np.arange(12) > 4
    seen = diagnose(LogisticRegression(), rows, y)
    assert np.isnan(seen.normality[0])
    expected = stats.shapiro(np.arange(7.0)).pvalue
    assert seen.normality[1] == pytest.approx(expected, rel=1e-6)
