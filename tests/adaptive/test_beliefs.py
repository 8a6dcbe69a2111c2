"""Beliefs of the cells: a loop over them, and the variance of the model."""

import numpy as np
import pytest
from scipy.special import gammaln

from skauc import AdaptivePrior
from skauc.adaptive._beliefs import beliefs

RNG = np.random.default_rng(5)
Y = np.arange(40) % 2 == 1
CASES = {
    "P < n": RNG.normal(size=(40, 5)) + 0.6 * Y[:, None],
    "P > n": RNG.normal(size=(40, 70)) + 0.2 * Y[:, None],
    "P = 1": RNG.normal(size=(40, 1)) + Y[:, None],
}


def asked(X, w):
    return AdaptivePrior().learn(X, Y).project(w, X @ w)


def slow(projection):
    """Means and variances of Z in each cell of each null, one after the other."""
    learnt, out = projection.learnt, []
    for law in learnt.model.posteriors(projection.view, 0, projection.w, learnt.Z):
        rng, means, variances = np.random.default_rng(0), [], []
        for D, v, q, df in zip(law.D, law.v, law.q, law.df, strict=True):
            # Z = (D √(χ²/q) + √v N)/√2, by an even sample of χ²
            root = np.sqrt(rng.chisquare(df, 4000))
            z = D * root / np.sqrt(2 * q)
            means.append(z.mean())
            variances.append(z.var() + v / 2)
        out.append((law.weight, np.array(means), np.array(variances)))
    return out


@pytest.mark.parametrize("case", CASES)
def test_against_a_loop_over_the_cells(case):
    X = CASES[case]
    P = X.shape[1]
    first, second = np.ones(P), np.arange(1.0, P + 1)
    a, b = (asked(X, w) for w in (first, second))
    slow_a, slow_b = slow(a), slow(b)
    between = within = 0.0
    for (weight, mean_a, var_a), (_, mean_b, _) in zip(slow_a, slow_b, strict=True):
        dev_a, dev_b = (mean - weight @ mean for mean in (mean_a, mean_b))
        between += weight @ (dev_a * dev_b) / len(slow_a)
        within += weight @ var_a / len(slow_a)
    apart = [(s[0][0] @ s[0][1] - s[-1][0] @ s[-1][1]) / 2 for s in (slow_a, slow_b)]
    got_a, got_b = beliefs(a), beliefs(b)
    expected = between + apart[0] * apart[1]
    assert got_a.between @ got_b.between == pytest.approx(expected, rel=0.03, abs=1e-5)
    assert got_a.within**2 == pytest.approx(within, rel=0.02)


@pytest.mark.parametrize("case", ["P < n", "P > n"])
def test_the_nulls_are_apart_by_half_of_what_their_means_differ(case):
    """``E Z = D E√χ²_df/√(2q)`` in each cell."""
    X = CASES[case]
    projection, means = asked(X, np.arange(1.0, X.shape[1] + 1)), []
    learnt = projection.learnt
    for law in learnt.model.posteriors(projection.view, 0, projection.w, learnt.Z):
        root = np.sqrt(2) * np.exp(gammaln((law.df + 1) / 2) - gammaln(law.df / 2))
        means.append(law.weight @ (law.D * root / np.sqrt(2 * law.q)))
    expected = (means[0] - means[1]) / 2
    assert abs(expected) > 1e-4
    # Γ of the 10⁴ P degrees of freedom of the limit is known to 1e-11
    assert beliefs(projection).between[-1] == pytest.approx(expected, abs=1e-9)


def test_is_the_variance_of_the_model():
    """But for what separates Φ⁻¹E Φ(Z) from E Z, it is a quarter of ``s²``."""
    X = CASES["P < n"]
    projection = asked(X, np.ones(5))
    got = beliefs(projection)
    variance = projection.model_alone().probit_moments()[1] / 4
    alone = projection.model_alone().mean_probit()
    assert got.probit == pytest.approx(alone, rel=1e-9)
    total = got.between @ got.between + got.within**2
    assert total == pytest.approx(variance, rel=0.02)
