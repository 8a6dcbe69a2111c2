"""The mean AUC over pairs of classes: against draws coupled in the stated way."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from skauc import AUCPosteriorDisplay, bayesian_val_score, make_cbauc_scorer
from skauc.results import AUCPosterior, PairwiseAUCPosterior

PAIRS = {
    ("a", "b"): AUCPosterior.from_components(D=2.0, v=0.1, q=40.0, df=43),
    ("a", "c"): AUCPosterior.from_components(D=0.2, v=0.3, q=20.0, df=13),
    ("b", "c"): AUCPosterior.from_components(D=-1.0, v=0.05, q=30.0, df=63),
}
POSTERIOR = PairwiseAUCPosterior(PAIRS)
DRAWS = np.array([p.rvs(400_000, random_state=k) for k, p in enumerate(PAIRS.values())])
TOGETHER = np.sort(DRAWS, axis=1).mean(axis=0)  # all high or all low


def test_mean_needs_no_dependence():
    assert POSTERIOR.mean() == pytest.approx(
        np.mean([p.mean() for p in PAIRS.values()]), rel=1e-14
    )
    assert POSTERIOR.mean() == pytest.approx(DRAWS.mean(), abs=1e-3)


def test_spread_is_that_of_pairs_that_move_together():
    # 400 000 draws: a standard deviation is known to .1 %, a quantile to .001
    assert POSTERIOR.std() == pytest.approx(TOGETHER.std(), rel=5e-3)
    assert POSTERIOR.var() == pytest.approx(POSTERIOR.std() ** 2, rel=1e-14)
    levels = [0.025, 0.2, 0.5, 0.9, 0.975]
    np.testing.assert_allclose(
        POSTERIOR.ppf(levels), np.quantile(TOGETHER, levels), atol=2e-3
    )
    assert POSTERIOR.interval(0.95) == pytest.approx(
        tuple(np.quantile(TOGETHER, [0.025, 0.975])), abs=2e-3
    )
    for x in (0.45, 0.55, 0.65):
        assert POSTERIOR.cdf(x) == pytest.approx((x >= TOGETHER).mean(), abs=3e-3)
        assert POSTERIOR.sf(x) == pytest.approx((x < TOGETHER).mean(), abs=3e-3)
    drawn = POSTERIOR.rvs(400, random_state=1)
    assert drawn.mean() == pytest.approx(POSTERIOR.mean(), abs=5 * TOGETHER.std() / 20)


def test_density_is_the_slope_of_the_distribution():
    x = np.array([0.4, 0.55, 0.65])
    step = 1e-4
    slope = (POSTERIOR.cdf(x + step) - POSTERIOR.cdf(x - step)) / (2 * step)
    np.testing.assert_allclose(POSTERIOR.pdf(x), slope, rtol=5e-3)


def test_equal_pairs_are_one_pair():
    one = PAIRS["a", "b"]
    same = PairwiseAUCPosterior(dict.fromkeys([(0, 1), (0, 2), (1, 2)], one))
    for verb, argument in (("ppf", 0.3), ("cdf", 0.8), ("sf", 0.8), ("pdf", 0.9)):
        assert getattr(same, verb)(argument) == pytest.approx(
            getattr(one, verb)(argument), rel=2e-4
        )
    assert same.std() == pytest.approx(one.std(), rel=1e-4)
    sure = replace(one, leave_pair_out=1.0)  # all pairs of rows left out are ordered
    assert PairwiseAUCPosterior({(0, 1): sure, (0, 2): sure}).interval(0.95).high == 1
    assert same.median() == pytest.approx(one.median(), rel=1e-12)


def test_ends_shapes_and_errors():
    assert POSTERIOR.ppf([0, 1]).tolist() == [0, 1]
    assert POSTERIOR.cdf([[0.0, 1.0], [-1.0, 2.0]]).tolist() == [[0, 1], [0, 1]]
    assert np.isnan(POSTERIOR.cdf(np.nan))
    assert POSTERIOR.pdf([0.0, 1.0]).tolist() == [0, 0]
    assert np.ndim(POSTERIOR.rvs(random_state=0)) == 0
    assert POSTERIOR.rvs((2, 3), random_state=0).shape == (2, 3)
    assert "pairs=3" in repr(POSTERIOR)
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\)"):
        POSTERIOR.interval(1.5)


def test_of_a_model_it_has_the_names_of_the_classes():
    X, y = make_classification(
        150, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=2
    )
    names = np.array(["ant", "bee", "cow"])[y]
    posterior = bayesian_val_score(LogisticRegression(), X, names)
    assert list(posterior.pairs) == list(combinations(["ant", "bee", "cow"], 2))
    model = LogisticRegression().fit(X, names)
    choices = [pair.choice() for pair in posterior.pairs.values()]
    score = make_cbauc_scorer(rows="training")(model, X, names)
    assert score == pytest.approx(np.mean(choices), rel=1e-12)
    display = AUCPosteriorDisplay.from_estimator({"three": model}, X, names)
    assert display.posterior["three"].mean() == posterior.mean()
