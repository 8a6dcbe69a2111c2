"""one_vs_rest_auc: scikit-learn, each class alone, simulation, edges, error texts."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from values import same

from skauc import auc_estimate, one_vs_rest_auc

SHARES = np.array([0.5, 0.3, 0.2])


def draw(rng, n=150, spread=1.0):
    y = rng.choice(3, n, p=SHARES)
    score = rng.normal(size=(n, 3)) * spread
    score[np.arange(n), y] += 1.2
    score[:, 0] += 0.8 * (y == 1)  # classes of the rest differ
    return y, score


def test_scikit_learns_macro_average():
    y, score = draw(np.random.default_rng(0))
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    result = one_vs_rest_auc(y, share)
    expected = roc_auc_score(y, share, multi_class="ovr", average=None)
    np.testing.assert_allclose(result.auc, expected, rtol=1e-12)
    macro = roc_auc_score(y, share, multi_class="ovr", average="macro")
    assert result.average().auc == pytest.approx(macro, rel=1e-12)


def test_each_class_is_an_estimate():
    y, score = draw(np.random.default_rng(1))
    names = np.array(["x", "y", "z"])
    groups, weight = np.arange(150) // 3, np.arange(150) % 3 + 1
    for options in ({}, {"groups": groups}, {"sample_weight": weight}):
        result = one_vs_rest_auc(names[y], score, **options)
        for i, name in enumerate(names):
            alone = auc_estimate(names[y] == name, score[:, i], **options)
            assert result.auc[i] == alone.auc
            assert result.standard_error()[i] == pytest.approx(alone.standard_error())
            limits = np.array(result.confidence_interval(0.9))[:, i]
            np.testing.assert_allclose(limits, alone.confidence_interval(0.9))
        assert list(result.to_frame().index) == list(names)


def test_two_classes_are_delongs():
    y, score = draw(np.random.default_rng(3))
    y = y > 0
    columns = np.column_stack([-score[:, 1], score[:, 1]])
    average = one_vs_rest_auc(y, columns).average()
    error = auc_estimate(y, score[:, 1]).standard_error("delong")
    assert average.standard_error == pytest.approx(error, rel=1e-12)


def test_clusters_of_weight_zero_are_none():
    y, score = draw(np.random.default_rng(5))
    weight = np.arange(150) % 3
    given = {"sample_weight": weight, "groups": np.arange(150) // 2}
    counted = {name: values[weight > 0] for name, values in given.items()}
    kept = one_vs_rest_auc(y[weight > 0], score[weight > 0], **counted)
    assert same(one_vs_rest_auc(y, score, **given), kept)


@pytest.mark.parametrize(
    ("y", "shape", "options", "text"),
    [
        ([0, 0, 1, 1, 2], (5, 3), {}, "y_true must hold at least 2 rows .*, got 1 of"),
        ([0, 0, 1, 1], (4, 3), {}, r"one column for each of the 2 classes, \(4, 2\)"),
        (["a", "a", "b"], (3, 2), {}, "positive weight. of each class, got 1 of 'b'$"),
        ([0, 0, 1, 1], (4, 2), {"labels": [0, 2]}, r"two classes .* got \[0, 2\]"),
        ([0, 0, 1, 1], (4, 2), {"groups": [1]}, "groups must have one value for each"),
        ([0, 0, 1, 1], (4, 2), {"sample_weight": [1, 1, 1, -1]}, "must be 0 or"),
        ([0, 0, 1, 1], (4, 2), {"sample_weight": [1, 1, 1, 0]}, "got 1 of"),
    ],
)
def test_error_texts(y, shape, options, text):
    with pytest.raises(ValueError, match=text):
        one_vs_rest_auc(y, np.arange(np.prod(shape)).reshape(shape), **options)
