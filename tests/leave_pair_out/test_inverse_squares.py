"""Sums of squares over w s + λ from few numbers a row, against all of them."""

import numpy as np
import pytest

from skauc.leave_pair_out._inverse_squares import InverseSquares, shares


def _squares(decades, seed=0, n=30, P=200):
    rng = np.random.default_rng(seed)
    s = np.sort(10 ** -rng.uniform(0, decades, P))
    s[0], s[-1] = 10.0**-decades, 1.0
    return s, rng.normal(size=(n, P)) * np.sqrt(s)


@pytest.mark.parametrize(
    ("decades", "most"), [(0, 1), (0.5, 13), (2, 25), (6, 45), (10, 60)]
)
def test_sums_of_any_penalty(decades, most):
    s, u = _squares(decades)
    rows = np.array([3, 0, 29, 3])
    found = InverseSquares.of_rows(u, rows, s)
    assert found.squares.shape[1] <= most
    for w in (1e-8, 0.2, 1.0):
        for penalty in np.append(np.geomspace(1e-16, 1e9, 60), 0.0):
            true = u[rows] ** 2 @ (1 / (w * s + penalty))
            np.testing.assert_allclose(found.sums(w, penalty), true, rtol=1e-7)


def test_rows_along_one_direction():
    """Neither the least nor the largest value is lost beside the others."""
    s, _ = _squares(6)
    found = InverseSquares.of_rows(np.eye(200) * np.sqrt(s), np.arange(200), s)
    for penalty in (0.0, 1e-9, 1e-4, 1.0, 1e6):
        true = s / (s + penalty)
        np.testing.assert_allclose(found.sums(1.0, penalty), true, rtol=1e-5)


def test_directions_in_which_no_row_varies_have_no_part():
    s, u = _squares(2)
    wide, rows = np.append(0.0, s), np.arange(30)
    found = InverseSquares.of_rows(np.column_stack([np.full(30, 1e-9), u]), rows, wide)
    for penalty in (0.0, 1e-3, 1.0):
        true = InverseSquares.of_rows(u, rows, s).sums(0.3, penalty)
        np.testing.assert_allclose(found.sums(0.3, penalty), true, rtol=1e-9)
    np.testing.assert_array_equal(shares(np.array([0.0, 2.0]), 0.5, 1.0), [0.0, 0.5])


def test_rows_in_single_precision():
    s, u = _squares(3)
    single, rows = u.astype(np.float32), np.arange(30)
    found = InverseSquares.of_rows(single, rows, s).sums(1.0, 1e-2)
    true = single.astype(float) ** 2 @ (1 / (s + 1e-2))
    np.testing.assert_allclose(found, true, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-40, 1e-6, 1e6, 1e40])
def test_no_unit_matters(unit):
    s, u = _squares(4)
    found = InverseSquares.of_rows(np.sqrt(unit) * u, np.arange(30), unit * s)
    for penalty in (0.0, 1e-6, 1e-3, 1.0, 1e3):
        true = u**2 @ (1 / (0.5 * s + penalty))
        np.testing.assert_allclose(found.sums(0.5, unit * penalty), true, rtol=1e-7)
