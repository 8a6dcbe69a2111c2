"""Rows behind a scaler that are not made, against the scaler's own."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn_versions import l1_part

from skauc import auc_posterior, clear_cache
from skauc.leave_pair_out._leave_one_out import leave_one_out_auc
from skauc.leave_pair_out._objective import PenalisedFit, stationarity
from skauc.model_selection import _linear_model
from skauc.model_selection._linear_model import open_estimator
from skauc.model_selection._scored_model import score_model
from skauc.model_selection._standardised_rows import StandardisedRows, standardised
from skauc.statistics._sketch import sketch_of


def _data(n=700, P=6):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, P)) * np.arange(1, P + 1) + 7
    return X, X[:, 0] + 2 * rng.standard_normal(n) > 7


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
def test_products_are_those_of_the_rows(with_mean, with_std):
    X, _ = _data()
    scaler = StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    Z, rows = scaler.transform(X), standardised(scaler, X)
    rng = np.random.default_rng(1)
    w, W = rng.standard_normal(6), rng.standard_normal((6, 3))
    g, G = rng.standard_normal(700), rng.standard_normal((2, 700))
    assert (rows.shape, len(rows), rows.ndim, rows.dtype) == (Z.shape, 700, 2, float)
    for got, expected in (
        (rows @ w, Z @ w),
        (rows @ W, Z @ W),
        (rows.T @ g, Z.T @ g),
        (rows.T @ G.T, Z.T @ G.T),
        (g @ rows, g @ Z),
        (G @ rows, G @ Z),
        (rows[::3], Z[::3]),
        (rows[[5, 2]], Z[[5, 2]]),
        (np.asarray(rows), Z),
        (np.asarray(rows, dtype=np.float32), Z.astype(np.float32)),
        (rows.astype(np.float32), Z.astype(np.float32)),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)
        assert np.asarray(got).dtype == expected.dtype
    assert rows.astype(float, copy=False) is rows


def test_the_product_that_is_kept_is_that_of_its_direction():
    X, _ = _data()
    scaler = StandardScaler().fit(X)
    Z, rows = scaler.transform(X), standardised(scaler, X)
    w = np.array([0.0, 3.0, -5.0, 1.0, 0.5, 2.0])
    for direction in (w, -2 * w, w[::-1].copy(), 0 * w, w / 7):
        got = rows @ direction
        np.testing.assert_allclose(got, Z @ direction, rtol=1e-10, atol=1e-10)
        got += 1.0  # a caller's own


def test_scores_come_with_the_sketch_of_the_rows_and_are_kept(monkeypatch):
    X, _ = _data()
    scaler = StandardScaler().fit(X)
    Z, rows = scaler.transform(X), standardised(scaler, X)
    w = np.array([0.0, 3.0, -5.0, 1.0, 0.5, 2.0])
    got, sketch = rows.scores_and_sketch(w)
    np.testing.assert_allclose(got, Z @ w, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(sketch, sketch_of(X))
    got += 1.0  # a caller's own
    monkeypatch.setattr(StandardisedRows, "_product", None)  # not asked again
    np.testing.assert_allclose(rows @ (-2 * w), Z @ (-2 * w), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("steps", [[], [StandardScaler()], [SelectKBest(k=3)]])
def test_a_sketch_is_that_of_the_rows_that_entered(steps):
    X, y = _data()
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    found = score_model(open_estimator(model, X), y, None, None)
    assert found.Z is X
    if steps and isinstance(steps[0], SelectKBest):  # its rows are others
        assert found.sketch is None
    else:
        np.testing.assert_array_equal(found.sketch, sketch_of(X))
    for enter in (True, False):
        plain = score_model(open_estimator(model, X), y, None, None, enter=enter)
        np.testing.assert_allclose(plain.score, found.score, rtol=1e-9, atol=1e-9)
    assert plain.sketch is None
    assert found.extremes == (found.score.min(), found.score.max())


def test_a_fingerprint_tells_rows_centre_and_scale():
    X, _ = _data()
    one, two = np.ones(6), np.arange(1.0, 7)
    rows = (b"X", one, two), (b"Y", one, two), (b"X", two, two), (b"X", one, one)
    found = [StandardisedRows(X, c, s).fingerprint(of_X) for of_X, c, s in rows]
    assert len(set(found)) == 4
    assert found[0] == StandardisedRows(X.copy(), one, two).fingerprint(b"X")


def test_rows_are_made_where_products_would_lose_digits_or_are_not_known():
    X, _ = _data()
    scaler = StandardScaler().fit(X)
    far = X + 1e6
    assert standardised(StandardScaler().fit(far), far) is None
    assert standardised(scaler, X.astype(np.float32)) is None
    assert standardised(scaler, X.tolist()) is None
    assert standardised(StandardScaler(with_mean=False), sparse.csr_array(X)) is None
    assert standardised(FunctionTransformer().fit(X), X) is None


def test_only_the_last_step_is_not_made_and_its_columns_are_checked():
    X, y = _data()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert isinstance(open_estimator(model, X).front, StandardisedRows)
    twice = make_pipeline(StandardScaler(), StandardScaler(), LogisticRegression())
    opened = open_estimator(twice.fit(X, y), X)
    assert isinstance(opened.stages[0][-1], np.ndarray)
    with pytest.raises(ValueError, match="6 features"):
        open_estimator(model, X[:, :5])


@pytest.mark.parametrize(("n", "P"), [(80, 6), (60, 90), (700, 6), (3000, 6)])
def test_posterior_is_that_of_rows_that_are_made(n, P, monkeypatch):
    X, y = _data(n, P)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, y)
    held_out = [part[n:] for part in _data(2 * n + 1, P)]  # rows that trained nothing
    here = [auc_posterior(model, X, y), auc_posterior(model, *held_out)]
    monkeypatch.setattr(_linear_model, "standardised", lambda step, rows: None)
    there = [auc_posterior(model, X, y), auc_posterior(model, *held_out)]
    for a, b in zip(here, there, strict=True):
        assert a.second_source == b.second_source
        assert a.mean() == pytest.approx(b.mean(), rel=1e-9)
        assert a.choice("probit") == pytest.approx(b.choice("probit"), rel=1e-9)


@pytest.mark.parametrize("scaling", [0.0, 0.5, np.inf])
def test_gradient_and_rows_left_out_do_not_ask_for_units(scaling):
    X, positive = _data(n=3000)
    scaler = StandardScaler().fit(X + 1.0)
    Z, rows = scaler.transform(X), standardised(scaler, X)
    w, c = np.array([0.4, 0.0, -0.1, 0.0, 0.2, 0.1]), np.full(3000, 1.5)
    fits = [PenalisedFit("logistic", 2.0, c, w, 0.1, scaling) for _ in range(2)]
    gradients = [
        stationarity(A, positive, fit) for A, fit in zip((rows, Z), fits, strict=True)
    ]
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-9)
    ones = np.ones(3000)
    aucs = [
        leave_one_out_auc(f, A, positive, ones)
        for A, f in zip((rows, Z), fits, strict=True)
    ]
    np.testing.assert_allclose(*aucs, rtol=1e-9)


def test_slopes_of_a_known_score_are_those_of_the_product():
    X, positive = _data()
    model = LogisticRegression(max_iter=1000).fit(X, positive)
    scored = score_model(open_estimator(model, X), positive, None, None)
    near, gradient = scored.near
    z = model.decision_function(X)
    p = model.predict_proba(X)[:, 1]
    expected = z, p - positive, p * (1 - p)
    for got, value in zip(near.slopes(X, scored.second_class), expected, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-12)
    other = near.slopes(X[::-1], scored.second_class)[0]  # of other rows: again
    np.testing.assert_allclose(other, z[::-1], rtol=1e-9)
    assert gradient == pytest.approx(stationarity(X, positive, near), rel=1e-6)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_how_far_from_zero_rows_may_be_has_no_unit(unit):
    X, _ = _data()
    near, far = unit * X, unit * (X + 1e6)
    made = standardised(StandardScaler().fit(near), near)
    assert isinstance(made, StandardisedRows)
    assert standardised(StandardScaler().fit(far), far) is None


MADE = {
    "l1": LogisticRegression(solver="liblinear", C=0.1, **l1_part(1.0)),
    "lda": LinearDiscriminantAnalysis(),
    "hinge": LinearSVC(loss="hinge", C=0.01, random_state=0),
    "stopped": SGDClassifier(loss="log_loss", alpha=0.1, random_state=0),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(("n", "P"), [(80, 6), (600, 6)])
def test_rows_are_made_for_objectives_that_need_them(name, n, P, monkeypatch):
    X, y = _data(n, P)
    model = make_pipeline(StandardScaler(), MADE[name]).fit(X, y)
    here = auc_posterior(model, X, y, rows="training")
    monkeypatch.setattr(_linear_model, "standardised", lambda step, rows: None)
    clear_cache()
    there = auc_posterior(model, X, y, rows="training")
    assert here.second_source == there.second_source is not None
    assert here.leave_pair_out == pytest.approx(there.leave_pair_out, rel=1e-9)
