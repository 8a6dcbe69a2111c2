"""The bootstrap of the AUC from its definition."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from skauc.leave_pair_out import _bootstrap
from skauc.leave_pair_out._bootstrap import (
    Samples,
    balanced_counts,
    bootstrap_counts,
    bootstrap_estimate,
    out_of_bag_auc,
    plus_632,
)


@pytest.fixture
def sample():
    rng = np.random.default_rng(4)
    positive = np.arange(25) % 3 == 0
    scores = rng.normal(size=(6, 25)) + positive
    scores[:, :6] = np.round(scores[:, :6])  # ties
    return scores[0], scores[1:], positive, bootstrap_counts(positive, 5)


def test_samples_keep_class_sizes_and_leave_rows_out():
    positive = np.arange(7) < 2
    counts = bootstrap_counts(positive, 500)
    assert (counts[:, positive].sum(axis=1) == 2).all()
    assert (counts[:, ~positive].sum(axis=1) == 5).all()
    assert (counts[:, positive] == 0).any(axis=1).all()
    assert (counts[:, ~positive] == 0).any(axis=1).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_samples_are_drawn_in_the_order_of_fourth_powers(form):
    """Of standardised features, whatever holds them; constant ones say nothing."""
    rng = np.random.default_rng(3)
    X = rng.poisson(0.7, size=(40, 6)) * 10.0 ** np.arange(-3, 3)
    X = np.column_stack([X, np.full(40, 2.0)])
    positive, copies = np.arange(40) % 3 == 0, rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), copies)
    centred = X - X[rows].mean(axis=0)
    spread = X[rows].std(axis=0)
    size = ((centred[:, :6] / spread[:6]) ** 4).sum(axis=1)
    drawn = bootstrap_counts, 3
    samples = Samples.of_rows(form(X), positive, copies.astype(float), *drawn)
    assert sorted(samples.rows) == sorted(rows)
    assert (np.diff(size[samples.rows]) > -1e-9).all()
    each = [
        np.bincount(samples.rows, counts, len(X)) / copies for counts in samples.counts
    ]
    np.testing.assert_allclose(samples.drawn, each, rtol=1e-14)


def test_an_entry_in_two_halves_is_one():
    rng = np.random.default_rng(3)
    X = sparse.random(30, 40, density=0.3, format="csr", random_state=4)
    positive, weight = rng.random(30) < 0.5, np.ones(30)
    halves = sparse.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
    )
    one, two = (_bootstrap._fourth_powers(Z, positive, weight) for Z in (X, halves))
    np.testing.assert_allclose(two, one, rtol=1e-12)
    assert halves.nnz == 2 * X.nnz  # the user's rows are as they were


def test_samples_depend_on_the_labels_alone():
    positive = np.arange(9) % 2 == 0
    assert bootstrap_counts(positive).shape == (20, 9)
    np.testing.assert_array_equal(
        bootstrap_counts(positive), bootstrap_counts(positive)
    )
    assert (bootstrap_counts(positive) != bootstrap_counts(positive, seed=1)).any()


@pytest.mark.parametrize("sizes", [(2, 2), (3, 11), (40, 5), (20, 40)])
@pytest.mark.parametrize(
    ("n_samples", "n_out"), [(2, 1), (3, 1), (4, 1), (5, 2), (8, 3), (10, 4), (20, 7)]
)
def test_balanced_samples_leave_every_row_out_equally_often(n_samples, n_out, sizes):
    positive = np.random.default_rng(1).permutation(np.repeat([False, True], sizes))
    counts = balanced_counts(positive, n_samples)
    assert ((counts == 0).sum(axis=0) == n_out).all()
    assert (np.abs(counts.sum(axis=0) - n_samples) <= 1).all()
    for rows in (positive, ~positive):
        assert (counts[:, rows].sum(axis=1) == rows.sum()).all()
        assert np.ptp((counts[:, rows] == 0).sum(axis=1)) <= 1
        if rows.sum() % n_samples == 0:
            assert (counts[:, rows].sum(axis=0) == n_samples).all()
        for count in counts[:, rows]:
            assert np.ptp(count[count > 0]) <= 1
    assert any((c[positive] == 0).any() and (c[~positive] == 0).any() for c in counts)


def test_of_five_balanced_samples_four_fifths_of_the_pairs_are_out_once():
    positive = np.arange(40) % 4 == 0
    met = np.zeros((40, 40))
    for count in balanced_counts(positive, 5):
        met += np.outer(count == 0, count == 0)
    met = met[np.ix_(positive, ~positive)]
    assert met.max() == 1
    assert met.mean() == pytest.approx(0.8)


def test_balanced_samples_by_turns_written_out():
    """Each row from its own place on the circle, and what it stands for after it."""
    positive, K = np.arange(30) < 10, 5
    rng = np.random.default_rng(8)
    expected = np.zeros((K, 30), dtype=int)
    for rows, order in ((range(10, 30), [0, 1, 2, 3, 4]), (range(10), [0, 2, 4, 1, 3])):
        for turn, row in enumerate(rng.permutation(rows)):
            for later, copies in enumerate((0, 0, 2, 2, 1)):
                expected[order[(turn + later) % K], row] = copies
    np.testing.assert_array_equal(balanced_counts(positive, K, 8), expected)


def test_balanced_samples_depend_on_the_labels_and_the_seed_alone():
    positive = np.arange(12) % 3 == 0
    np.testing.assert_array_equal(
        balanced_counts(positive, 5), balanced_counts(positive, 5)
    )
    assert (balanced_counts(positive, 5) != balanced_counts(positive, 5, 1)).any()
    assert (balanced_counts(np.arange(5) == 0, 5)[:, 0] == 1).all()


def test_balanced_samples_vary_less_than_bootstrap_samples():
    """Out-of-bag AUC of the difference of the class means, over draws of five."""
    rng = np.random.default_rng(6)
    positive = np.arange(40) % 2 == 0
    X = rng.standard_normal((40, 5)) + 0.5 * positive[:, None]

    def auc(counts):
        means = [
            (counts * c) @ X / (counts @ c)[:, None] for c in (positive, ~positive)
        ]
        return out_of_bag_auc((means[0] - means[1]) @ X.T, positive, counts)

    spread = [
        np.var([auc(draw(positive, 5, seed)) for seed in range(300)])
        for draw in (balanced_counts, bootstrap_counts)
    ]
    assert spread[0] < 0.8 * spread[1]


@pytest.mark.parametrize("pairs", [_bootstrap._PAIRS, 0])
def test_a_class_of_one_row_has_no_out_of_bag_auc(pairs, monkeypatch):
    monkeypatch.setattr(_bootstrap, "_PAIRS", pairs)
    positive = np.arange(5) == 0
    counts = bootstrap_counts(positive, 3)
    scores = np.tile(np.arange(5.0), (3, 1))
    assert (counts[:, 0] == 1).all()
    assert np.isnan(out_of_bag_auc(scores, positive, counts))
    assert np.isnan(bootstrap_estimate(scores[0], scores, positive, counts))


def test_every_pair_counts_its_own_samples(sample, monkeypatch):
    monkeypatch.setattr(_bootstrap, "_PAIRS", 9 * 16)
    _, scores, positive, counts = sample
    weight = np.linspace(1, 3, 25)
    total = mass = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            both = (counts[:, i] == 0) & (counts[:, j] == 0)
            if both.any():
                a, b = scores[both, i], scores[both, j]
                share = weight[i] * weight[j]
                total += share * np.mean((a > b) + 0.5 * (a == b))
                mass += share
    assert out_of_bag_auc(scores, positive, counts, weight) == pytest.approx(
        total / mass
    )
    # only the ratio of the weights matters
    assert out_of_bag_auc(scores, positive, counts, 1e-6 * weight) == pytest.approx(
        total / mass
    )


@pytest.mark.parametrize("n_boot", [127, 128, 1500, 2500])
def test_no_win_is_lost_however_many_samples(n_boot):
    scores, positive = np.tile([0.0, 1.0, 2.0], (n_boot, 1)), np.arange(3) > 0
    assert out_of_bag_auc(scores, positive, np.zeros((n_boot, 3), dtype=int)) == 1


def test_one_tie_is_half_a_win():
    scores, positive = np.array([[0.0, 0.0, 1.0]]), np.arange(3) > 0
    assert out_of_bag_auc(scores, positive, np.zeros((1, 3), dtype=int)) == 0.75


def test_many_rows_average_over_the_samples(sample, monkeypatch):
    monkeypatch.setattr(_bootstrap, "_PAIRS", 9 * 16 - 1)
    _, scores, positive, counts = sample
    weight = np.linspace(1, 3, 25)
    each = []
    for s, c in zip(scores, counts, strict=True):
        out = c == 0
        each.append(roc_auc_score(positive[out], s[out], sample_weight=weight[out]))
    assert out_of_bag_auc(scores, positive, counts, weight) == pytest.approx(
        np.mean(each)
    )


@pytest.mark.parametrize(
    ("apparent", "outside", "expected"),
    [
        (0.8, 0.8, 0.8),  # no overfitting: any weight
        (1.0, 0.5, 0.5),  # R = 1: out of bag alone
        (1.0, 0.3, 0.5),  # below chance counts as chance
        (0.52, 0.3, 0.5),
        (0.6, 0.7, 0.632 * 0.7 + 0.368 * 0.6),  # R = 0: .632
        (0.4, 0.3, 0.632 * 0.3 + 0.368 * 0.4),  # the same of 1 - AUC
    ],
)
def test_plus_632_at_its_corners(apparent, outside, expected):
    assert plus_632(apparent, outside) == pytest.approx(expected)


def test_plus_632_in_efron_and_tibshiranis_terms():
    err, err1, gamma = 0.1, 0.3, 0.5
    R = (err1 - err) / (gamma - err)
    plain = 0.368 * err + 0.632 * err1
    extra = (err1 - err) * 0.368 * 0.632 * R / (1 - 0.368 * R)  # their eq. 32
    assert plus_632(1 - err, 1 - err1) == pytest.approx(1 - plain - extra)


@pytest.mark.parametrize("weighted", [False, True])
def test_methods(sample, weighted):
    full, scores, positive, counts = sample
    weight = np.linspace(1, 3, 25) if weighted else np.ones(25)
    scores = scores + np.where(positive, 1, -1) * counts  # as refits do: drawn rows win
    apparent = roc_auc_score(positive, full, sample_weight=weight)
    outside = out_of_bag_auc(scores, positive, counts, weight)
    own = [
        roc_auc_score(positive, s, sample_weight=c * weight)
        for s, c in zip(scores, counts, strict=True)
    ]
    on_all = [roc_auc_score(positive, s, sample_weight=weight) for s in scores]
    assert np.mean(own) > np.mean(on_all) + 0.01
    expected = {
        "oob": outside,
        ".632": 0.368 * apparent + 0.632 * outside,
        ".632+": plus_632(apparent, outside),
        "optimism": apparent - np.mean(np.subtract(own, on_all)),
    }
    for method, value in expected.items():
        given = weight if weighted else None
        got = bootstrap_estimate(full, scores, positive, counts, given, method)
        assert got == pytest.approx(value), method


@pytest.mark.parametrize(
    ("apparent", "outside", "expected"),
    [
        # all of it is overfitting, the wrong way round
        (0.1, 0.5, 0.5),
        (0.1, 0.6, 0.5),
        # R = (.8 - .6)/(.8 - .5) of the model the other way round
        (0.2, 0.4, 1 - (0.8 - 0.632 / (1 - 0.368 * 2 / 3) * 0.2)),
        (0.3, 0.1, 1 - (0.368 * 0.7 + 0.632 * 0.9)),
    ],
)
def test_a_model_that_ranks_its_own_rows_the_wrong_way_round(
    apparent, outside, expected
):
    assert plus_632(apparent, outside) == pytest.approx(expected, rel=1e-12)


def test_plus_632_without_rows_left_out_is_not_known():
    assert np.isnan(plus_632(0.3, np.nan))
    assert np.isnan(plus_632(0.7, np.nan))
