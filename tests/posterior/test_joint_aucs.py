"""Many AUCs at once: quadrature of independent ones, laws of what cancels, ties."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from skauc import search_posterior

X, Y = make_classification(40, 3, n_redundant=0, random_state=0)
PAIR = [LogisticRegression(C=C).fit(X, Y) for C in (0.1, 1.0)]
JOINT = search_posterior(PAIR, X, Y, random_state=0).joint


def joint_aucs(mean, covariance):
    """The joint posterior of a search, with these moments."""
    return replace(JOINT, mean=mean, covariance=covariance)


M = np.array([0.8, 1.0, 1.1])
S = np.array([0.3, 0.1, 0.2])
INDEPENDENT = joint_aucs(M, np.diag(S**2))
DRAWS = 200_000  # Monte Carlo error of a probability .001


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("common", [0.0, 0.05])
def test_probability_of_being_the_best_by_quadrature(common):
    """``∫ f_i Π F_j``; an error that all share changes nothing."""

    def share(z, i):
        others = [norm.cdf(z, M[j], S[j]) for j in range(3) if j != i]
        return norm.pdf(z, M[i], S[i]) * np.prod(others)

    expected = [quad(share, -1, 3, args=(i,))[0] for i in range(3)]
    got, _ = joint_aucs(M, np.diag(S**2) + common).best(DRAWS, 0)
    assert got == pytest.approx(expected, abs=0.005)


def test_expected_loss_by_quadrature():
    """``E max = 1 − ∫ Π F``, of the AUCs on [0, 1]."""

    def below(x):
        return np.prod(norm.cdf(ndtri(x), M, S))

    largest = 1 - quad(below, 0, 1)[0]
    each = ndtr(M / np.sqrt(1 + S**2))
    assert INDEPENDENT.best(DRAWS, 0)[1] == pytest.approx(largest - each, abs=5e-4)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_ranking_is_no_worse_than_none(sign):
    """An AUC beyond ½ is that of no ranking: ``E max(A, ½)`` by quadrature."""
    joint = joint_aucs(np.array([0.0, sign * 0.3]), np.diag([0.0, 0.25]))
    p_best, loss = joint.best(DRAWS, 0)
    beyond = norm.cdf(-0.6)
    expected = (1 - beyond / 2, beyond / 2)[::-sign]
    assert p_best == pytest.approx(expected, abs=0.005)
    gain = quad(lambda z: (ndtr(z) - 0.5) * norm.pdf(z, 0.3, 0.5), 0, 5)[0]
    assert loss == pytest.approx((gain, 0)[::sign], abs=5e-4)


def test_difference_by_the_bivariate_normal():
    covariance = np.array([[0.09, 0.05], [0.05, 0.04]])
    joint = joint_aucs(np.array([0.5, 0.8]), covariance)
    # E Φ(Z_a)Φ(Z_b) is a bivariate normal probability with unit variances added
    both = multivariate_normal([0, 0], covariance + np.eye(2)).cdf([0.5, 0.8])
    square = [
        multivariate_normal([0, 0], np.full((2, 2), v) + np.eye(2)).cdf([m, m])
        for m, v in zip(joint.mean, np.diag(covariance), strict=True)
    ]
    mean = ndtr(joint.mean / np.sqrt(1 + np.diag(covariance)))
    got = joint.difference(0, 1)
    assert got.mean() == pytest.approx(mean[0] - mean[1], abs=1e-4)
    expected = sum(square) - 2 * both - (mean[0] - mean[1]) ** 2
    assert got.var() == pytest.approx(expected, rel=0.01)
    assert got.probability == pytest.approx(ndtr(-0.3 / np.sqrt(0.03)), rel=1e-12)


# Laws ---------------------------------------------------------------------------------


def test_one_model_twice_shares_its_win():
    twice = np.array([0, 1, 2, 2])
    joint = joint_aucs(M[twice], np.diag(S**2)[np.ix_(twice, twice)])
    p_best, loss = joint.best(20_000, 1)
    assert p_best[2] == p_best[3]
    assert p_best.sum() == pytest.approx(1, rel=1e-12)
    once = INDEPENDENT.best(20_000, 1)[0][2]
    assert p_best[2] + p_best[3] == pytest.approx(once, abs=0.02)
    assert loss[2] == pytest.approx(loss[3], abs=1e-6)
    gap = joint.difference(2, 3)
    assert gap.probability == 0.5
    assert gap.std() < 1e-6


def test_one_model_twice_but_for_rounding():
    covariance = np.array([[1.0, 1 - 1e-15, 0.5], [1 - 1e-15, 1, 0.5], [0.5, 0.5, 1]])
    joint = joint_aucs(np.array([1.0 - 1e-15, 1.0, 0.9]), covariance)
    assert joint.difference(1, 0).probability == 0.5
    assert joint.within(0.0).tolist() == [True, True, False]
    sure = joint_aucs(np.array([1.0 - 1e-5, 1.0, 0.9]), covariance)
    assert sure.difference(1, 0).probability == 1
    assert sure.within(0.0).tolist() == [False, True, False]


def test_seeds_of_all_kinds():
    rng = np.random.RandomState
    a, b = (INDEPENDENT.difference(0, 1, rng(3)).mean() for _ in range(2))
    assert a == b
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        INDEPENDENT.difference(0, 1, "a")


def test_no_uncertainty():
    joint = joint_aucs(np.array([0.0, 1.0]), np.zeros((2, 2)))
    assert joint.best(10, 0)[0].tolist() == [0, 1]
    assert joint.difference(0, 1).probability == 0
    assert joint.difference(-1, 0).probability == 1


# Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: INDEPENDENT.difference(3, 0), "i must be .* from -3 to 2, got 3"),
        (lambda: INDEPENDENT.difference(0, 0.5), "j must be .* 2, got 0.5"),
        (
            lambda: INDEPENDENT.difference(0, 1, n_resamples=0),
            "n_resamples must be a whole number >= 1, got 0",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
