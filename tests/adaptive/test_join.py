"""The join against its definition, by draws, and at its limits."""

import numpy as np
import pytest
from model_oracles import newcombe
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from skauc.adaptive._join import (
    Level,
    alone,
    join,
    join_level,
    misfit,
    pooled,
    probit_of,
    probit_of_mean,
    reference_level,
    source_variance,
)
from skauc.adaptive._learnt import _doubt


@pytest.mark.parametrize("A", [0.05, 0.5, 0.9, 1 - 1e-6])
def test_variance_as_printed(A):
    z = ndtri(A)
    want = newcombe(A, 30, 70) / stats.norm.pdf(z) ** 2
    assert source_variance(z, 30, 70) == pytest.approx(want, rel=1e-6)


def test_pool_is_a_mixture_by_draws(rng):
    # narrow laws: then Φ⁻¹ E Φ(Z) is the mean but for the factor 1/√(1 + v)
    one, two = (0.9, 0.03), (0.2, 0.01)
    m, variance = pooled(one, two)
    shrunk = [(mean / np.sqrt(1 + v), v) for mean, v in (one, two)]
    drawn = np.concatenate([rng.normal(a, np.sqrt(v), 400_000) for a, v in shrunk])
    assert m == pytest.approx(drawn.mean(), abs=2e-3)
    assert variance == pytest.approx(drawn.var(), abs=2e-3)


def hanley(z, *sizes):
    return newcombe(ndtr(z), *sizes) / stats.norm.pdf(z) ** 2


def test_weight_and_estimate_by_hand():
    m, s_m2, z = 0.6, 0.05, 1.0
    s_b2 = hanley(z, 40, 60)
    got = join(m, s_m2, z, 40, 60)
    w = (0.01 + s_m2) / (0.01 + s_m2 + s_b2)
    assert got.weight == pytest.approx(w)
    assert got.estimate == pytest.approx((1 - w) * m + w * z)
    assert got.choice == pytest.approx(0.8)
    # errors that move together: the deviation of the sum is the sum of deviations
    e = got.estimate
    at_e = np.sqrt(newcombe(ndtr(e), 40, 60)) / stats.norm.pdf(e)
    want = (2 - w) * (w * at_e + (1 - w) * np.sqrt(0.06))
    assert got.deviation == pytest.approx(want)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_contradicted_model_misfits_by_as_much_as_makes_two_deviations(sign):
    m, s_m2, z, sizes = sign * 0.1, 0.01, sign * 1.1, (20, 30)
    at_m = hanley(m, *sizes)
    t2 = brentq(lambda t2: 2 * np.sqrt(t2 + s_m2 + at_m) - 1.0, 0, 9)
    assert t2 > 0.1
    w = (t2 + s_m2) / (t2 + s_m2 + hanley(z, *sizes))
    got = join(m, s_m2, z, *sizes, sign=sign)
    assert got.weight == pytest.approx(w)
    assert got.estimate == pytest.approx(m + w * (z - m))
    assert got.choice == pytest.approx((m + z) / 2)
    at_e = np.sqrt(hanley(got.estimate, *sizes))
    want = (2 - w) * (w * at_e + (1 - w) * np.sqrt(t2 + s_m2))
    assert got.deviation == pytest.approx(want)


def test_misfit_begins_at_two_deviations():
    m, s_m2, sizes = 0.1, 0.01, (20, 30)
    edge = m + 2 * np.sqrt(0.01 + s_m2 + hanley(m, *sizes))
    assert misfit(m, s_m2, edge - 1e-6, *sizes) == pytest.approx(0.01, rel=1e-12)
    assert misfit(m, s_m2, edge + 1e-6, *sizes) > 0.01
    # of a source of four times the variance at m twice as far
    wide = m + 2 * np.sqrt(0.01 + s_m2 + 4 * hanley(m, *sizes))
    assert misfit(m, s_m2, wide - 1e-6, *sizes, excess=4) == pytest.approx(0.01)
    assert misfit(m, s_m2, wide + 1e-6, *sizes, excess=4) > 0.01


def test_a_source_below_the_model_does_not_contradict_it():
    # models of fewer rows may be worse; and z is bounded by the number of rows
    m, s_m2, sizes = 0.9, 0.01, (200, 300)
    assert misfit(m, s_m2, 0.0, *sizes) == pytest.approx(0.01)
    assert misfit(5.0, 0.1, probit_of(1.0, 60), 30, 30) == pytest.approx(0.01)
    assert misfit(40.0, 0.1, probit_of(1.0, 60), 30, 30) == pytest.approx(0.01)
    # above is the way the direction ranks its own rows
    assert misfit(-m, s_m2, 0.9, *sizes) > 0.1
    assert misfit(-m, s_m2, 0.9, *sizes, sign=-1) == pytest.approx(0.01)
    assert misfit(m, s_m2, -0.9, *sizes, sign=-1) == misfit(-m, s_m2, 0.9, *sizes)


def test_a_better_source_never_lowers_the_estimate():
    z = probit_of(np.linspace(0, 1, 201), 50)
    for m in (-1.0, 0.0, 0.4, 1.0, 3.0):
        estimate = [join(m, 0.03, value, 20, 30).estimate for value in z]
        assert np.all(np.diff(estimate) > -1e-3)  # the way has 64 steps
        assert estimate[-1] > estimate[100]
    # by the formula alone it would, of 50 rows
    above = z[z > 1.1]
    alone = 1.1 + 0.11 / (0.11 + hanley(above, 20, 30)) * (above - 1.1)
    assert alone.max() > alone[-1] + 0.02
    assert join(1.1, 0.1, z[-1], 20, 30).estimate >= alone.max()


def test_few_refits_have_little_to_say_about_contrasts():
    choices = [join(0.0, 0.05, 1.0, 50, 50, n_refits=R).choice for R in (5, 10, 20, 99)]
    np.testing.assert_allclose(choices, [0.125, 0.25, 0.5, 0.5])


def test_a_model_that_does_not_know_leaves_the_word_to_the_source():
    sure, unsure = (join(0.0, s, 0.3, 50, 50) for s in (1e-4, 100.0))
    assert sure.weight < 0.35
    assert unsure.weight > 0.999
    assert unsure.estimate == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize(("n", "widest"), [(10**4, 1.2), (10**6, 1.03)])
def test_many_rows_narrow_to_the_source(n, widest):
    z = ndtri(0.8)
    got = join(0.3, 1 / n, z, n / 2, n / 2)
    assert got.estimate == pytest.approx(z, abs=0.02)
    source = np.sqrt(source_variance(z, n / 2, n / 2))
    assert 1 < got.deviation / source < widest


def test_a_source_of_larger_variance_enters_less_and_widens():
    plain, wide = (join(0.3, 0.05, 0.9, 40, 60, excess=k) for k in (1.0, 2.0))
    s_b2 = newcombe(ndtr(0.9), 40, 60) / stats.norm.pdf(0.9) ** 2
    assert wide.weight == pytest.approx(0.06 / (0.06 + 2 * s_b2))
    e, w = wide.estimate, wide.weight
    at_e = np.sqrt(2 * newcombe(ndtr(e), 40, 60)) / stats.norm.pdf(e)
    want = (2 - w) * (w * at_e + (1 - w) * np.sqrt(0.06))
    assert wide.deviation == pytest.approx(want)
    assert wide.weight < plain.weight
    assert wide.choice == plain.choice


def test_alone_is_the_join_of_no_weight_and_no_misfit():
    got = alone(0.7, 0.09)
    assert (got.estimate, got.choice, got.weight) == (0.7, 0.7, 0.0)
    assert got.deviation == pytest.approx(0.6)


def test_which_class_is_called_positive_does_not_matter():
    assert source_variance(0.8, 10, 90) == pytest.approx(source_variance(0.8, 90, 10))
    assert source_variance(-0.8, 10, 90) == pytest.approx(source_variance(0.8, 10, 90))


def test_level_is_the_mean_of_weighted_disagreements():
    # the first source contradicts the model, the second is below it
    m, s_m2, z = np.array([0.2, 0.5]), np.array([0.02, 0.08]), np.array([0.9, 0.4])
    s_b2 = hanley(z, 25, 35)
    t2 = np.maximum(0.01, (z - m) ** 2 / 4 - s_m2 - hanley(m, 25, 35))
    assert t2[0] > t2[1] == 0.01
    w = (t2 + s_m2) / (t2 + s_m2 + s_b2)
    level = reference_level(m, s_m2, z, 25, 35)
    assert level.misfit == pytest.approx(t2.mean())
    assert level.shift == pytest.approx((w[0] * 0.7 - w[1] * 0.1) / 2)
    assert level.weight == pytest.approx(w.mean())
    assert level.disagreement == pytest.approx((0.7 - 0.1) / 2)
    assert level.probit == pytest.approx(0.35)
    got = join_level(1.1, 0.03, level, 25, 35)
    assert got.estimate == pytest.approx(1.1 + 0.75 * level.shift)
    assert got.choice == pytest.approx(1.1 + 0.5 * (0.7 - 0.1) / 2)
    at_e = np.sqrt(newcombe(ndtr(got.estimate), 25, 35)) / stats.norm.pdf(got.estimate)
    of_model = np.sqrt(t2.mean() + 0.03)
    shared = 0.75 * w.mean()
    want = (2 - shared) * (shared * at_e + (1 - shared) * of_model)
    assert got.deviation == pytest.approx(want)


def test_with_and_without_a_source_are_ranked_on_the_same_footing():
    m, s_m2, z = np.array([0.2, 0.5]), np.array([0.02, 0.08]), np.array([0.9, 0.4])
    level = reference_level(m, s_m2, z, 25, 35)
    # a source that disagrees as the reference models' do, and none
    apart = np.mean(z - m)
    heard = [join(x, 0.03, x + apart, 25, 35).choice for x in (-1.0, 0.0, 0.7)]
    silent = [join_level(x, 0.03, level, 25, 35).choice for x in (-1.0, 0.0, 0.7)]
    assert silent == pytest.approx(heard, rel=1e-12)
    # a model that ranks the rows the wrong way round is off the other way
    turned = join_level(-0.7, 0.03, level.along(-1.0), 35, 25)
    assert turned.choice == pytest.approx(-heard[2], rel=1e-12)
    assert turned.estimate == pytest.approx(
        -join_level(0.7, 0.03, level.along(1.0), 25, 35).estimate, rel=1e-12
    )


def test_probits_of_perfect_separation_are_finite():
    assert probit_of(1.0, 20) == pytest.approx(ndtri(20.5 / 21))
    assert probit_of(0.0, 20) == pytest.approx(ndtri(0.5 / 21))
    assert np.isfinite(join(40.0, 0.1, probit_of(1.0, 20), 10, 10).deviation)


def test_probits_of_a_model_are_bounded_at_eight():
    assert probit_of_mean(40.0, 0.1) == 8
    assert probit_of_mean(3.0, 1.25) == pytest.approx(2)
    level = reference_level(np.zeros(1), np.ones(1), np.zeros(1), 20, 20)
    far, edge = (join_level(m, 0.1, level, 20, 20).deviation for m in (7.0, 4.0))
    assert far == pytest.approx(edge)
    assert join_level(3.9, 0.1, level, 20, 20).deviation < 0.99 * edge


@pytest.mark.parametrize("difference", [1e-3, 0.5, 40.0])
def test_a_level_turns_round_with_the_direction(difference):
    level = Level(0.2, 0.1, 0.4, 0.3, 0.7)
    assert level.along(difference) == level
    assert level.along(-difference) == Level(-0.2, -0.1, 0.4, 0.3, -0.7)


def test_a_model_that_says_less_is_too_sure_of_less():
    # ridge models of probit 2 that say 1 too much
    level = Level(-1.0, -0.8, 0.7, 0.3, 2.0)
    shifts = {m: join_level(m, 0.03, level, 25, 35).estimate - m for m in (3.0, 2.0)}
    assert shifts == pytest.approx({3.0: -0.6, 2.0: -0.6})
    assert join_level(0.5, 0.03, level, 25, 35).estimate == pytest.approx(0.5 - 0.15)
    assert join_level(0.0, 0.03, level, 25, 35).estimate == 0
    assert join_level(-1.0, 0.03, level, 25, 35).estimate == -1
    turned = join_level(-0.5, 0.03, level.along(-1.0), 35, 25)
    assert turned.estimate == pytest.approx(-0.35)
    # the choice is that of a candidate whose source disagrees as theirs
    assert join_level(0.5, 0.03, level, 25, 35).choice == pytest.approx(0.0)


def test_a_signal_that_the_model_does_not_see_is_missed_by_all():
    level = Level(1.0, 0.8, 0.7, 0.3, 0.2)
    for m in (0.05, 1.0):
        assert join_level(m, 0.03, level, 25, 35).estimate == pytest.approx(m + 0.6)


@pytest.mark.parametrize("auc", [0.9, 0.1])
def test_doubt_of_a_variance_is_that_of_a_sum_of_few_squares(auc, rng):
    """Of the rows of the smaller class that are ranked wrong, about 100 · 1/10."""
    n_wrong = rng.poisson(100 * 0.1, 100_000)
    sums = np.bincount(
        np.repeat(np.arange(len(n_wrong)), n_wrong),
        rng.exponential(size=n_wrong.sum()) ** 2,
        len(n_wrong),
    )
    expected = 1 + 2 * sums.std() / sums.mean()
    assert _doubt(auc, 100, 3000) == pytest.approx(expected, rel=0.02)
    assert _doubt(auc, 3000, 100) == pytest.approx(expected, rel=0.02)
    assert np.isfinite(_doubt(1.0, 100, 100))
