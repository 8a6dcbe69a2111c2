"""The joint posterior of two linear models: P×P Monte Carlo, marginals, laws."""

import numpy as np
import pytest
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from values import same

from skauc import (
    NormalInverseWishart,
    UntrustedAUCWarning,
    auc_difference_posterior,
    auc_posterior,
    compare_auc,
    search_posterior,
)

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=1)
A = LogisticRegression(C=1.0).fit(X, Y)
B = LogisticRegression(C=0.001).fit(X, Y)
COVARIANCES = ["common", "separate"]


PUBLISHED = NormalInverseWishart(scale=np.eye(4), nu_neg=0.5, nu_pos=0.5, kappa=6)
STRONG = NormalInverseWishart(  # of few rows its means and scale are half of the answer
    mean_neg=np.array([0.5, -1.0, 0.2, 0.0]),
    mean_pos=np.array([1.0, 0.5, -0.7, 0.3]),
    nu_neg=20.0,
    nu_pos=9.0,
    kappa=25.0,
    scale=30 * (np.eye(4) + 0.5),
)


def full_draws(covariance, prior, n=40_000):
    """Draw Σ (P×P) and the means from the published posterior, project afterwards."""
    rng = np.random.default_rng(0)
    parts, S = [X[Y == c] for c in (0, 1)], prior.scale
    scatters, means, nus = [], [], []
    for part, m, nu in (
        (parts[0], prior.mean_neg, prior.nu_neg),
        (parts[1], prior.mean_pos, prior.nu_pos),
    ):
        n_c, mean = len(part), part.mean(axis=0)
        centred, gap = part - mean, mean - m
        scatters.append(
            centred.T @ centred + n_c * nu / (n_c + nu) * np.outer(gap, gap)
        )
        means.append((part.sum(axis=0) + nu * m) / (n_c + nu))
        nus.append(n_c + nu)
    W = np.column_stack([A.coef_[0], B.coef_[0]])
    if covariance == "common":
        law = stats.invwishart(prior.kappa + len(Y), S + sum(scatters))
        sigmas = [law.rvs(n, random_state=rng)] * 2
    else:
        sigmas = [
            stats.invwishart(prior.kappa + len(part), S + s).rvs(n, random_state=rng)
            for part, s in zip(parts, scatters, strict=True)
        ]
    mu = [
        m + np.einsum("nij,nj->ni", np.linalg.cholesky(s), rng.normal(size=(n, 4)))
        / np.sqrt(nu_c)
        for m, s, nu_c in zip(means, sigmas, nus, strict=True)
    ]  # fmt: skip
    gap = (mu[1] - mu[0]) @ W
    total = sigmas[0] + sigmas[1]
    spread = np.sqrt(np.einsum("pk,npq,qk->nk", W, total, W))
    return stats.norm.cdf(gap / spread).T


@pytest.mark.parametrize("prior", [PUBLISHED, STRONG], ids=["published", "strong"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_against_draws_of_all_features(covariance, prior):
    a, b = full_draws(covariance, prior)
    got = auc_difference_posterior(A, B, X, Y, covariance=covariance, prior=prior)
    # Monte Carlo error of 40 000 draws: .0025 for a probability, less for the rest
    assert got.probability == pytest.approx(np.mean(a > b), abs=0.03)
    assert got.mean() == pytest.approx(np.mean(a - b), abs=2e-3)
    assert 0.85 * np.std(a - b) < got.std() < 1.02 * np.std(a - b)
    expected = np.quantile(a - b, [0.025, 0.975])
    assert got.interval(0.95) == pytest.approx(expected, abs=0.007)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_margins_are_auc_posterior(covariance):
    options = {"prior": "paper", "covariance": covariance}
    got = auc_difference_posterior(A, B, X, Y, **options)
    for draws, model in ((got.draws_a, A), (got.draws_b, B)):
        single = auc_posterior(model, X, Y, **options)
        assert draws.mean() == pytest.approx(single.mean(), abs=1e-3)
        assert draws.std() == pytest.approx(single.std(), rel=0.03)
        assert np.quantile(draws, 0.1) == pytest.approx(single.ppf(0.1), abs=2e-3)


@pytest.mark.parametrize("prior", ["adaptive", "paper"])
def test_the_same_rule_is_a_tie(prior):
    """In any unit, and but for the last digits of the coefficients."""
    eps = np.finfo(float).eps
    for factor in (3.0, 1e-7 / 3, 1e9 / 7, 1 + eps * np.array([1, -1, 2, 0])):
        other = LogisticRegression().fit(X, Y)
        other.coef_, other.intercept_ = factor * A.coef_, factor * A.intercept_
        if np.size(factor) > 1:
            other.intercept_ = A.intercept_
        got = auc_difference_posterior(A, other, X, Y, prior=prior, rows="held-out")
        assert got.probability == 0.5
        assert got.interval() == pytest.approx((0, 0), abs=1e-12)


def test_swapping_models_and_classes():
    forward = auc_difference_posterior(A, B, X, Y)
    back = auc_difference_posterior(B, A, X, Y)
    assert back.probability == pytest.approx(1 - forward.probability, abs=2e-3)
    assert back.mean() == pytest.approx(-forward.mean(), abs=2e-4)
    turned = auc_difference_posterior(A, B, X, Y, pos_label=0)
    assert turned.probability == pytest.approx(forward.probability, abs=2e-3)
    assert forward.sf(0.0) == pytest.approx(forward.probability, abs=2e-3)
    assert forward.cdf(0.1) + forward.sf(0.1) == pytest.approx(1)


def test_pipelines():
    pipes = [
        make_pipeline(StandardScaler(), LogisticRegression(C=C)).fit(X, Y)
        for C in (1.0, 0.001)
    ]
    Z = pipes[0][0].transform(X)
    inner = auc_difference_posterior(pipes[0][-1], pipes[1][-1], Z, Y)
    outer = auc_difference_posterior(*pipes, X, Y)
    assert outer.probability == pytest.approx(inner.probability, rel=1e-9)
    # other features, side by side
    mixed = auc_difference_posterior(pipes[0], B, X, Y, prior="paper")
    assert mixed.mean() == pytest.approx(
        auc_posterior(pipes[0], X, Y, prior="paper").mean()
        - auc_posterior(B, X, Y, prior="paper").mean(),
        abs=0.02,
    )
    assert "probability=" in repr(mixed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": "new"}, "rows must be one of .* got 'new'"),
        ({"covariance": "full"}, "covariance must be one of .* got 'full'"),
        ({"X": X[:, :3]}, "X must have the 4 features .* got 3"),
        (
            {"prior": NormalInverseWishart(scale=0.0, kappa=-60.0)},
            "prior is improper .* got df = -3",
        ),
    ],
)
def test_errors(change, message):
    arguments = {"X": X, "y": Y} | change
    with pytest.raises(ValueError, match=message):
        auc_difference_posterior(A, B, **arguments)


def test_models_must_fit_together():
    words = LogisticRegression().fit(X, np.where(Y == 1, "yes", "no"))
    with pytest.raises(
        ValueError, match="labels of the fitted model, 'no', 'yes', got"
    ):
        auc_difference_posterior(A, words, X, Y)
    three = LogisticRegression().fit(X, Y + (X[:, 0] > 1))
    with pytest.raises(ValueError, match="y must hold two classes, got 3"):
        auc_difference_posterior(three, three, X, Y + (X[:, 0] > 1))
    zero = LogisticRegression().fit(X, Y)
    zero.coef_ = np.zeros((1, 4))
    with pytest.warns(UndefinedMetricWarning, match="coefficients .* are all 0"):
        found = auc_difference_posterior(A, zero, X, Y, prior="paper")
    half = auc_posterior(A, X, Y, prior="paper").mean() - 0.5
    assert found.mean() == pytest.approx(half, abs=1e-3)
    with pytest.raises(ValueError, match="estimator_b must hold a fitted model"):
        auc_difference_posterior(A, [], X, Y)


# The adaptive prior, and more than two models -----------------------------------------


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_several_models_are_pairs_with_the_first(covariance):
    C = LogisticRegression(C=0.1).fit(X, Y)
    options = {"covariance": covariance, "n_resamples": 256, "prior": "paper"}
    got = auc_difference_posterior(A, [B, C], X, Y, **options)
    assert isinstance(got, tuple)
    for one, other in zip(got, (B, C), strict=True):
        alone = auc_difference_posterior(A, other, X, Y, **options)
        assert same(one.draws_b, alone.draws_b)
        assert one.probability == alone.probability


def test_adaptive_prior_is_the_joint_posterior_of_a_search():
    got = auc_difference_posterior(A, B, X, Y)
    assert same(got, auc_difference_posterior(A, B, X, Y, prior="adaptive"))
    pair = search_posterior([A, B], X, Y).difference(0, 1)
    assert got.mean() == pytest.approx(pair.mean(), abs=1e-4)
    assert got.std() == pytest.approx(pair.std(), rel=1e-2)
    assert got.probability == pytest.approx(pair.probability, rel=1e-9)
    listed = auc_difference_posterior(A, [B], X, Y, prior="adaptive")
    assert same(listed[0].draws_a, got.draws_a)
    assert auc_difference_posterior(A, A, X, Y, prior="adaptive").probability == 0.5


def test_the_default_is_honest_about_noise():
    """``"paper"`` says that more features are better, which they are not."""
    means, covered = {"adaptive": [], "paper": []}, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        noise, y = rng.standard_normal((60, 40)), rng.permutation(60) < 30
        few = make_pipeline(
            make_column_transformer((StandardScaler(), [0, 1, 2])), LogisticRegression()
        )
        many = make_pipeline(StandardScaler(), LogisticRegression())
        pair = many.fit(noise, y), few.fit(noise, y)
        for prior, found in means.items():
            options = {} if prior == "adaptive" else {"prior": prior}
            got = auc_difference_posterior(*pair, noise, y, n_resamples=256, **options)
            found.append(got.mean())
            low, high = got.interval(0.95)
            covered += prior == "adaptive" and low < 0 < high
    assert covered == 6
    assert abs(np.mean(means["adaptive"])) < 0.06
    assert np.mean(means["paper"]) > 0.2


def test_adaptive_prior_uses_the_rows_left_out():
    """The mean is that of the selection scores, which the model alone does not know."""
    got = auc_difference_posterior(A, B, X, Y, prior="adaptive")
    a, b = (auc_posterior(m, X, Y, rows="training") for m in (A, B))
    assert a.second_source == b.second_source == "leave-pair-out"
    assert got.mean() == pytest.approx(a.choice() - b.choice(), abs=0.01)
    assert got.std() < np.hypot(a.std(), b.std()) / 2  # what they share cancels


def test_adaptive_prior_on_held_out_rows_is_delongs():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 4)) + 0.4 * (np.arange(400) % 2)[:, None]
    y = np.arange(400) % 2
    two = [LogisticRegression(C=C).fit(Z[:150], y[:150]) for C in (1, 1e-4)]
    rest = Z[150:], y[150:]
    got = auc_difference_posterior(*two, *rest, rows="held-out")
    delong = compare_auc(rest[1], *(m.decision_function(rest[0]) for m in two))
    assert got.mean() == pytest.approx(delong.difference, abs=0.005)
    assert got.std() == pytest.approx(delong.standard_error, rel=0.2)
    assert got.warnings == ()


def test_the_difference_repeats_the_doubts_about_either():
    few = [LogisticRegression(C=C).fit(X[:16], Y[:16]) for C in (1, 1e-3)]
    with pytest.warns(UntrustedAUCWarning, match="A class has only"):
        got = auc_difference_posterior(*few, X[:16], Y[:16])
    [sentence] = got.warnings
    assert "a class has only" in sentence
    assert "a class has only" in repr(got)
    assert auc_difference_posterior(A, B, X, Y, prior=PUBLISHED).warnings == ()
    there = SVC(kernel="linear").fit(*make_classification(60, 4, random_state=2))
    with pytest.warns(UntrustedAUCWarning) as issued:
        mixed = auc_difference_posterior(A, there, X, Y)
    assert "these rows trained some of the models" in mixed.warnings[-1]
    assert {str(w.message).lower() for w in issued} == {
        sentence.lower() for sentence in mixed.warnings
    }


def test_a_prior_with_means_turns_with_the_classes():
    """Asked of the other class, the models and their prior means are turned round."""
    got = auc_difference_posterior(A, B, X, Y, prior=STRONG, pos_label=0)
    turned = [LogisticRegression().fit(X, 1 - Y) for _ in range(2)]
    for model, original in zip(turned, (A, B), strict=True):
        model.coef_ = -original.coef_
    expected = auc_difference_posterior(*turned, X, 1 - Y, prior=STRONG)
    assert got.mean() == pytest.approx(expected.mean(), rel=1e-9)
    assert got.std() == pytest.approx(expected.std(), rel=1e-9)


@pytest.mark.filterwarnings("ignore:Models with a free intercept")
@pytest.mark.parametrize(("n", "P", "doubted"), [(60, 150, True), (500, 10, False)])
def test_unlike_intercepts_are_doubted_where_rows_left_out_contradict(n, P, doubted):
    rng, y = np.random.default_rng(6), np.arange(n) % 2
    X = rng.standard_normal((n, P)) + 0.5 * np.outer(y, np.arange(P) < 10)
    solvers = "lbfgs", "liblinear"
    a, b = (LogisticRegression(solver=name).fit(X, y) for name in solvers)
    found = auc_difference_posterior(a, b, X, y)
    assert any("free intercept" in text for text in found.warnings) == doubted
