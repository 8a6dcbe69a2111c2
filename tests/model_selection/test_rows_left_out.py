"""Rows left out of models at the defaults of their solvers, and the net under them."""

import warnings
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from left_out_designs import refitted_auc
from scipy.special import ndtr
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn_versions import l1_part

from skauc import (
    AdaptivePrior,
    UntrustedAUCWarning,
    auc_posterior,
    clear_cache,
    lpo_auc_scorer,
)
from skauc.leave_pair_out._left_out import second_source

LEFT_OUT = "skauc.model_selection._left_out_rows."

# what scikit-learn's users get; saga and sag stop after 100 steps
DEFAULTS = {
    "lbfgs": LogisticRegression(),
    "balanced": LogisticRegression(class_weight="balanced"),
    "weak penalty": LogisticRegression(C=1e3),
    "newton-cg": LogisticRegression(solver="newton-cg"),
    "liblinear": LogisticRegression(solver="liblinear"),
    "large intercept": LogisticRegression(solver="liblinear", intercept_scaling=50),
    "saga": LogisticRegression(solver="saga", random_state=0),
    "sag": LogisticRegression(solver="sag", random_state=0),
    "svc": LinearSVC(random_state=0),
    "ridge": RidgeClassifier(),
}
QUICK = [name for name in DEFAULTS if name not in ("saga", "sag")]
LOUD = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def noise(n, P, seed, signals=0):
    """Labels, rows of noise, and the difference of their means."""
    rng, y, shift = np.random.default_rng(seed), np.arange(n) % 2, np.zeros(P)
    shift[:signals] = 0.3
    return y, rng.normal(size=(n, P)) + np.outer(y, shift), shift


@pytest.mark.parametrize("name", QUICK)
def test_default_fits_of_many_features_against_refits(name):
    """In the coordinates of the singular vectors, which keep all inner products."""
    y, X, _ = noise(20, 8000, seed=0)
    X *= 2.0
    model = DEFAULTS[name].fit(X, y)
    U, scale, _ = np.linalg.svd(X, full_matrices=False)
    close = {} if name == "ridge" else {"tol": 1e-10, "max_iter": 10**5}
    close |= {"solver": "lbfgs"} if name == "newton-cg" else {}

    def exact():
        return type(model)(**(model.get_params() | close))

    expected = refitted_auc(exact, U * scale, y == 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UntrustedAUCWarning)
        found = auc_posterior(model, X, y)
    assert found.leave_pair_out == pytest.approx(expected, abs=0.011)
    assert lpo_auc_scorer(model, X, y) == pytest.approx(found.leave_pair_out, abs=1e-12)


@LOUD
@pytest.mark.slow
@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("signals", [0, 100])
def test_default_fits_of_all_sizes(name, signals):
    """Mean on noise at most .58, and intervals that cover .9 of the truth or more."""
    sizes = [(20, 2000), (40, 2000), (100, 2000), (24, 5000)]
    if name not in ("saga", "sag"):
        sizes += [(20, 20_000), (40, 20_000), (60, 50_000)]
    means, covered = [], []
    for n, P in sizes:
        for seed in range(3 if n * P < 100_000 else 1):
            y, X, shift = noise(n, P, seed, signals)
            model = make_pipeline(StandardScaler(), DEFAULTS[name]).fit(X, y)
            w = model[-1].coef_[0] / model[0].scale_
            truth = ndtr(w @ shift / np.linalg.norm(w) / np.sqrt(2))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UntrustedAUCWarning)
                found = auc_posterior(model, X, y)
            clear_cache()
            low, high = found.interval(0.95)
            means.append(found.mean() - truth)
            covered.append(low <= truth <= high)
    assert abs(np.mean(means)) < 0.08
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize(("n", "P"), [(20, 200), (24, 30)])
def test_automatic_shrinkage_is_estimated_again_without_rows(n, P, monkeypatch):
    """At the shrinkage of all rows 10 + 10 rows of 200 features have .7 for .5."""
    model, found, expected = LinearDiscriminantAnalysis("lsqr", "auto"), [], []
    for seed in range(4):
        y, X, _ = noise(n, P, seed)
        for i, k in product(range(0, n, 2), (1, 7, 11)):
            pair = [i, (i + k) % n]
            fit = clone(model).fit(np.delete(X, pair, 0), np.delete(y, pair))
            expected.append(np.diff(X[pair] @ fit.coef_[0])[0] > 0)
        model.fit(X, y)
        found.append(auc_posterior(model, X, y).leave_pair_out)
    assert abs(np.mean(found) - np.mean(expected)) < 0.1
    monkeypatch.setattr(LEFT_OUT + "is_solved", lambda model: False)
    again = auc_posterior(model, X, y).leave_pair_out
    assert again == pytest.approx(found[-1], abs=1e-9)


OUTLIERS = noise(60, 400, seed=0, signals=0)[:2]
OUTLIERS[1][1::2, :100] += 0.5
OUTLIERS[1][:8] *= 10


def test_a_model_of_the_data_that_refits_contradict_is_doubted():
    """Eight rows of ten times the scale hide the signal from variances, not from w."""
    y, X = OUTLIERS
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    text = r"AUC is 0\.6\d by the model of the data set and 0\.9\d by rows left out"
    with pytest.warns(UntrustedAUCWarning, match=text):
        found = auc_posterior(model, X, y)
    assert found.second_source == "leave-pair-out"


def test_refits_replace_pairs_that_they_contradict(monkeypatch):
    """As if pairs had been left out wrongly: .985 for noise."""
    y, X, _ = noise(40, 300, seed=1)
    model = LogisticRegression().fit(X, y)
    right = auc_posterior(model, X, y)

    def too_high(fit, rows, moved):
        return replace(second_source(fit, rows), auc=0.985, variance=4e-4)

    monkeypatch.setattr(LEFT_OUT + "second_source", too_high)
    found = auc_posterior(model, X, y)
    assert (right.second_source, found.second_source) == ("leave-pair-out", "refits")
    assert abs(found.leave_pair_out - 0.5) < 0.2
    assert found.warnings == ()


@pytest.mark.parametrize("shape", [(60, 5), (60, 40), (60, 300)])
def test_ordinary_rows_are_not_refitted(shape, monkeypatch):
    monkeypatch.setattr(LEFT_OUT + "_by_clones", None)  # a refit would raise
    for seed, C in enumerate([1e-2, 1.0, 1e2]):
        for signals in (0, 5):
            y, X, _ = noise(*shape, seed=seed, signals=0)
            X[1::2, :signals] += 1.0
            model = LogisticRegression(C=C, max_iter=10_000, tol=1e-6).fit(X, y)
            assert auc_posterior(model, X, y, rows="training").warnings == ()


@LOUD
def test_a_solver_that_stopped_at_another_model_is_not_taken_for_its_optimum():
    y, X, _ = noise(60, 20, seed=0)
    X = X * np.geomspace(1, 100, 20) + 0.5 * y[:, None]
    model = LogisticRegression(solver="saga", random_state=0, max_iter=3).fit(X, y)
    with pytest.warns(UntrustedAUCWarning, match="not at its optimum .* from refits"):
        found = auc_posterior(model, X, y, rows="training")
    assert found.second_source == "refits"
    scaled = make_pipeline(StandardScaler(), LogisticRegression(C=1e3)).fit(X, y)
    assert auc_posterior(scaled, X, y).second_source == "leave-pair-out"


@LOUD
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_classes_of_unequal_variance_are_no_signal(penalty):
    """The model of the data set says 1.00 for noise, rows left out .5."""
    rng, y = np.random.default_rng(0), np.arange(100) % 2
    X = rng.standard_normal((100, 1000)) * (1 + 4 * y[:, None])
    how = {"max_iter": 2000} if penalty == "l2" else {"solver": "liblinear"}
    how |= {} if penalty == "l2" else l1_part(1)
    model = LogisticRegression(**how).fit(X, y)
    with pytest.warns(UntrustedAUCWarning, match=r"AUC is 1\.00 by the model"):
        found = auc_posterior(model, X, y)
    low, high = found.interval(0.95)
    assert low < 0.5 < high
    assert abs(found.mean() - 0.5) < 0.1


def test_folds_do_not_depend_on_the_order_of_rows_or_names():
    rng, y = np.random.default_rng(2), np.arange(80) % 2
    X = rng.standard_normal((80, 5)) + 0.5 * y[:, None]
    order = rng.permutation(80)
    for make in (
        partial(KNeighborsClassifier, 5),
        partial(DecisionTreeClassifier, random_state=0),
        partial(HistGradientBoostingClassifier, max_iter=3, min_samples_leaf=5),
        SVC,
    ):
        takes_missing = "Hist" in str(make)
        X[::7, :3] = np.nan if takes_missing else 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UntrustedAUCWarning)
            first, second, third = (
                auc_posterior(
                    make().fit(A, b), A, b, prior=AdaptivePrior(refits=5), **how
                ).leave_pair_out
                for A, b, how in (
                    (X, y, {}),
                    (X[order], y[order], {}),
                    (X, np.array(["b", "a"])[y], {"pos_label": "a"}),
                )
            )
        # a tree may break ties of features by the order of its rows
        assert second == pytest.approx(first, abs=1e-9 if make is SVC else 0.03)
        assert third == pytest.approx(first, abs=1e-9 if make is SVC else 0.03)


class Whitened(TransformerMixin, BaseEstimator):
    """As many columns as before, each of them made of all others."""

    def fit(self, X, y=None):
        self.pca_ = PCA(whiten=True).fit(np.asarray(X))
        return self

    def transform(self, X):
        return self.pca_.transform(np.asarray(X)) @ self.pca_.components_


class Scaled(StandardScaler):
    """Treats each column by itself."""


@pytest.mark.parametrize("step", [Whitened(), Scaled()], ids=repr)
def test_a_step_of_unknown_class_adapts_itself_if_it_mixes_columns(step):
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    X = rng.standard_normal((60, 150))
    for rows in (X, pd.DataFrame(X)):
        model = make_pipeline(step, LogisticRegression()).fit(rows, y)
        expected = "leave-pair-out" if isinstance(step, Scaled) else "folds"
        assert auc_posterior(model, rows, y).second_source == expected


@pytest.mark.parametrize("model", [LinearSVC, LogisticRegression, RidgeClassifier])
def test_a_scaler_of_all_rows_shows_no_row_that_is_left_out(model):
    """Also to an intercept that is penalized or absent, by fits of the whole."""
    rng, y = np.random.default_rng(1), np.arange(30) % 3 == 0
    X = rng.standard_normal((30, 80)) * np.where(y, 2, 1)[:, None]
    end = model() if model is LinearSVC else model(fit_intercept=False)
    pipe, won = make_pipeline(StandardScaler(), end).fit(X, y), []
    for i, j in product(np.flatnonzero(y), np.flatnonzero(~y)):
        rest = np.delete(np.arange(30), [i, j])
        score = clone(pipe).fit(X[rest], y[rest]).decision_function(X[[i, j]])
        won.append(score[0] > score[1])
    expected = pytest.approx(np.mean(won), abs=0.05)  # .9 by pairs behind the scaler
    assert lpo_auc_scorer(pipe, X, y) == expected
    assert auc_posterior(pipe, X, y).leave_pair_out == expected
