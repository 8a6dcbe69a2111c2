"""Variances of the AUC: loops, enumeration of all samples, published output."""

import json
from pathlib import Path

import interval_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skauc.statistics._levels import (
    clustered_covariance,
    delong_covariance,
    placements,
)

ASAH = json.loads((Path(__file__).parents[1] / "reference/proc_asah.json").read_text())
small = st.lists(st.integers(0, 4), min_size=2, max_size=9)


def stacked(scores, positive):
    parts = [placements(s[~positive], s[positive]) for s in scores]
    return tuple(np.stack(v) for v in zip(*parts, strict=True))


# ----------------------------------------------------------------------- oracle


def test_covariance_of_three_scores_by_loops(rng):
    positive = np.repeat([False, True], [13, 9])
    scores = rng.integers(0, 7, (3, 22)) + 2.0 * positive
    expected = oracles.loop_delong(scores[:, ~positive], scores[:, positive])
    got = delong_covariance(*stacked(scores, positive))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-17)


def test_published_variances_and_covariances_of_proc():
    positive = np.array(ASAH["outcome"]) == 1
    names = ["wfns", "ndka", "s100b"]
    scores = np.array([ASAH[name] for name in names], dtype=float)
    got = delong_covariance(*stacked(scores, positive))
    for i, name in enumerate(names):
        assert got[i, i] == pytest.approx(ASAH["expected"]["variance"][name], rel=1e-12)
    for a, b, value in ASAH["expected"]["covariance"]:
        i, j = names.index(a), names.index(b)
        assert got[i, j] == pytest.approx(value, rel=1e-12)


# ------------------------------------------------------------------------- laws


@settings(deadline=None, max_examples=80)
@given(small, small, st.integers(0, 3))
def test_weights_are_repeated_rows(neg, pos, seed):
    neg, pos = np.array(neg, float), np.array(pos, float)
    rng = np.random.default_rng(seed)
    w0, w1 = rng.integers(1, 4, len(neg)), rng.integers(1, 4, len(pos))
    weighted = placements(neg, pos, w0.astype(float), w1.astype(float))
    repeated = placements(np.repeat(neg, w0), np.repeat(pos, w1))
    for got, expected, w in zip(weighted, repeated, (w0, w1), strict=True):
        np.testing.assert_allclose(np.repeat(got, w), expected, atol=1e-14)
    got = delong_covariance(*(v[None] for v in weighted), w0, w1)
    expected = delong_covariance(*(v[None] for v in repeated))
    np.testing.assert_allclose(got, expected, atol=1e-14)


# ------------------------------------------------------------------------- edges


def test_one_row_of_a_class_has_no_variance():
    v01, v10 = (v[None] for v in placements(np.arange(3.0), np.array([5.0])))
    assert np.isnan(delong_covariance(v01, v10)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_two_rows_a_class_have_a_variance(weighted):
    neg, pos = np.array([0.0, 2.0]), np.array([1.0, 3.0])
    v01, v10 = placements(neg, pos)
    w = np.full(2, 0.75) if weighted else None  # a sum between 1 and 2 counts as well
    got = delong_covariance(v01[None], v10[None], w, w)[0, 0]
    n = 1.5 if weighted else 2
    # placements 1, ½ and ½, 1: mean squares about ¾ are 1/16
    assert got == pytest.approx(2 * (1 / 16) / (n - 1), rel=1e-12)
    group = np.array([0, 1])
    clusters = clustered_covariance(
        v01[None], v10[None], group, group + 2, np.ones(2), np.ones(2)
    )
    assert clusters[0, 0] == pytest.approx(1 / 8, rel=1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_weights_of_one_class_only(which):
    neg, pos, w = np.array([0.0, 1, 2]), np.array([0.5, 1, 3]), np.array([1.0, 3, 2])
    weights = [None, None]
    weights[which] = w
    v01, v10 = placements(neg, pos, *weights)
    ones = [np.ones(3) if part is None else part for part in weights]
    psi = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    np.testing.assert_allclose(v10, psi @ ones[0] / ones[0].sum(), rtol=1e-14)
    np.testing.assert_allclose(v01, psi.T @ ones[1] / ones[1].sum(), rtol=1e-14)
