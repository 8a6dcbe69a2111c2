"""True refits of estimators: the bootstrap, and the second source made of them."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import BootstrapAUC, UntrustedAUCWarning, bootstrap_auc
from skauc.model_selection._fitted_model import fitted_models
from skauc.model_selection._refits import refits_source

RNG = np.random.default_rng(7)
Y = np.arange(60) % 2
X = RNG.standard_normal((60, 8)) + 0.5 * Y[:, None]
NOISE = np.random.default_rng(0).standard_normal((60, 300))
MODEL = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())


def source_of(estimator, X, y, K, weight=None, whole=True, **how):
    """The source of an estimator fitted to these rows."""
    name = "logisticregression__sample_weight"
    fit = clone(estimator).fit(X, y, **({} if weight is None else {name: weight}))
    [model] = fitted_models(fit, X, y, weight, any_classifier=True, **how)
    return refits_source(model, K, whole=whole)


def plus_632(apparent, outside):
    """Efron & Tibshirani (1997), equations 29 to 32, for 1 − AUC."""
    outside = max(outside, 0.5)
    R = (apparent - outside) / (apparent - 0.5) if apparent > outside else 0.0
    w = 0.632 / (1 - 0.368 * R)
    return (1 - w) * apparent + w * outside


# ------------------------------------------------------------------- second source


def test_refits_err_as_much_as_they_say():
    """Selection among 50 features, one with a signal, 60 rows."""
    rng, ratio = np.random.default_rng(11), []
    model = make_pipeline(SelectKBest(k=5), LogisticRegression())
    for _ in range(25):
        Z = rng.standard_normal((60, 50))
        Z[:, 0] += Y
        fit = clone(model).fit(Z, Y)
        w = np.zeros(50)
        w[fit[0].get_support()] = np.ravel(fit[1].coef_)
        truth = ndtr(w[0] / np.linalg.norm(w) / np.sqrt(2))
        [fitted] = fitted_models(fit, Z, Y)
        source = refits_source(fitted, 5, whole=True)
        ratio.append((source.auc - truth) ** 2 / source.variance)
    assert 0.5 < np.mean(ratio) < 1.6


def test_refits_of_the_whole_and_of_the_linear_model_alone():
    """Selection is repeated in refits of the whole: noise gets no AUC from it."""
    model = make_pipeline(SelectKBest(k=10), LogisticRegression())
    whole = source_of(model, NOISE, Y, 5)
    linear = source_of(model, NOISE, Y, 5, whole=False)
    assert whole.method == linear.method == "refits"
    assert abs(whole.auc - 0.5) < 0.15
    assert linear.auc > 0.7
    [model] = fitted_models(model.fit(NOISE, Y), NOISE, Y)
    alone = source_of(LogisticRegression(), model.front.X, Y, 5)
    assert linear.auc == pytest.approx(alone.auc, rel=1e-12)


def test_neither_labels_order_nor_containers_matter():
    source = source_of(MODEL, X, Y, 4)
    turned = source_of(MODEL, X, Y, 4, pos_label=0)
    named = source_of(MODEL, X.tolist(), np.array(["a", "b"])[Y], 4)
    order = np.random.default_rng(0).permutation(60)
    moved = source_of(MODEL, X[order], Y[order], 4)
    searched = source_of(GridSearchCV(LogisticRegression(), {}, cv=2), X, Y, 4)
    plain = source_of(FixedThresholdClassifier(LogisticRegression()), X, Y, 4)
    for a, b in ((turned, source), (named, source), (moved, source), (searched, plain)):
        assert a.auc == pytest.approx(b.auc, rel=1e-9)
        assert a.variance == pytest.approx(b.variance, rel=1e-9)


def test_refits_leave_rows_of_weight_zero_out():
    weight = np.where(np.arange(60) < 20, 0.0, 1.0 + np.arange(60) % 3)
    some = slice(20, None)
    model = make_pipeline(PCA(8), LogisticRegression()).fit(X[some], Y[some])
    [all_rows] = fitted_models(model, X, Y, weight)
    [kept] = fitted_models(model, X[some], Y[some], weight[some])
    found, alone = (refits_source(m, 4, whole=True) for m in (all_rows, kept))
    assert found == alone


def test_where_no_row_can_be_left_out_there_is_no_source():
    one, two = np.arange(60) < 1, np.arange(60) < 2
    assert source_of(LogisticRegression(), X, one, 5) is None
    assert 0 <= source_of(LogisticRegression(), X, two, 5).auc <= 1
    three = np.arange(60) % 3
    pairs = fitted_models(LogisticRegression().fit(X, three), X, three)
    assert refits_source(pairs[0], 5) is None

    class Fails(LogisticRegression):
        def fit(self, X, y):
            if len(np.unique(X, axis=0)) < len(X):
                raise RuntimeError("a row stands twice")
            return super().fit(X, y)

    assert source_of(Fails(), X, Y, 5) is None


# ------------------------------------------------------------------- bootstrap_auc


def test_plus_632_from_its_parts():
    how = {"n_boot": 10}
    found = bootstrap_auc(MODEL, X, Y, **how)
    apparent = roc_auc_score(Y, clone(MODEL).fit(X, Y).decision_function(X))
    assert found.apparent == pytest.approx(apparent, rel=1e-12)
    outside = bootstrap_auc(MODEL, X, Y, **how, method="oob").auc
    assert found.auc == pytest.approx(plus_632(apparent, outside), rel=1e-12)
    plain = bootstrap_auc(MODEL, X, Y, **how, method=".632").auc
    assert plain == pytest.approx(0.368 * apparent + 0.632 * outside, rel=1e-12)
    assert bootstrap_auc(MODEL, X, Y, **how, method="optimism").auc < apparent
    # about the mean of the replicates, which count samples and not pairs
    assert np.mean(found.replicates) == pytest.approx(outside, abs=0.03)


def test_harrells_optimism_of_one_sample():
    class Recorded(LogisticRegression):
        fits: ClassVar = []

        def fit(self, X, y):
            self.fits.append((X, y, super().fit(X, y)))
            return self

    found = bootstrap_auc(Recorded(), X, Y, n_boot=1, method="optimism")
    _, (rows, labels, model) = Recorded.fits
    own = roc_auc_score(labels, model.decision_function(rows))
    lost = own - roc_auc_score(Y, model.decision_function(X))
    assert found.auc == pytest.approx(found.apparent - lost, rel=1e-12)


def test_noise_has_no_auc_even_behind_selection():
    model = make_pipeline(SelectKBest(k=10), LogisticRegression())
    assert abs(bootstrap_auc(model, NOISE, Y, n_boot=20).auc - 0.5) < 0.12


def test_any_classifier_and_labels_of_any_kind():
    forest = RandomForestClassifier(10, random_state=0)
    one = bootstrap_auc(forest, X, np.array(["a", "b"])[Y], n_boot=5)
    two = bootstrap_auc(forest, X, Y, n_boot=5)
    assert one.auc == two.auc
    model = make_pipeline(PCA(2), LogisticRegression())
    up, down = (bootstrap_auc(model, X, Y, n_boot=5, pos_label=k) for k in (1, 0))
    assert up.apparent == pytest.approx(down.apparent, rel=1e-12)
    assert up.auc > 0.5
    assert down.auc > 0.5


def test_rows_of_weight_zero_are_none():
    weight = np.ones(60)
    weight[:6] = 0
    model = LogisticRegression()
    a = bootstrap_auc(model, X, Y, n_boot=5, sample_weight=weight)
    b = bootstrap_auc(model, X[6:], Y[6:], n_boot=5)
    assert a.auc == pytest.approx(b.auc, rel=1e-9)


def test_whole_groups_are_drawn_and_left_out():
    class Recorded(LogisticRegression):
        drawn: ClassVar = []

        def fit(self, X, y):
            self.drawn.append(X[:, 0].astype(int))
            return super().fit(X[:, 1:], y)

        def decision_function(self, X):
            return super().decision_function(X[:, 1:])

    groups = np.repeat(np.arange(15), 4)
    labels = groups % 2  # each group is of one class
    rows = np.column_stack([np.arange(60), X])
    found = bootstrap_auc(
        Recorded(), rows, labels, n_boot=12, groups=[f"g{k}" for k in groups]
    )
    assert np.isfinite(found.replicates).all()
    for drawn in Recorded.drawn[1:]:
        count = np.bincount(drawn, minlength=60).reshape(15, 4)
        assert (count == count[:, :1]).all()
        assert count[::2, 0].sum() == 8  # as many groups of each class
        assert count[1::2, 0].sum() == 7
        assert (count[::2, 0] == 0).any()
        assert (count[1::2, 0] == 0).any()


def test_copies_of_rows_deceive_unless_they_are_groups():
    """Noise, every row three times: a row left out has trained the model."""
    rng = np.random.default_rng(1)
    Z, y = np.repeat(rng.standard_normal((40, 60)), 3, axis=0), np.arange(120) // 3 % 2
    groups = np.arange(120) // 3
    alone = bootstrap_auc(LogisticRegression(), Z, y, n_boot=20)
    grouped = bootstrap_auc(LogisticRegression(), Z, y, n_boot=20, groups=groups)
    assert alone.auc > 0.9
    assert abs(grouped.auc - 0.5) < 0.15


def test_groups_of_both_classes():
    groups = np.repeat(np.arange(12), 5)
    found = bootstrap_auc(MODEL, X, Y, n_boot=20, groups=groups)
    assert 0.6 < found.auc < found.apparent
    assert len(found.replicates) == 20


def test_interval_and_repr():
    found = BootstrapAUC(0.8, ".632+", 0.9, np.array([0.6, 0.7, 0.8, np.nan]))
    assert found.interval(0.5) == pytest.approx((0.75, 0.85))
    assert repr(found) == (
        "BootstrapAUC(auc=0.8, interval95=(0.705, 0.895), method='.632+', "
        "apparent=0.9, n_boot=4)"
    )
    wide = np.linspace(0.2, 0.9, 50)
    assert BootstrapAUC(0.98, ".632", 1.0, wide).interval()[1] == 1.0
    assert BootstrapAUC(0.05, ".632", 1.0, wide).interval()[0] == 0.0
    none = BootstrapAUC(0.8, ".632", 0.9, np.full(3, np.nan))
    assert np.isnan(none.interval()).all()
    one = BootstrapAUC(0.8, ".632", 0.9, np.array([np.nan, 0.7]))
    assert one.interval() == (0.8, 0.8)


class NoNumbers(LogisticRegression):
    def decision_function(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (MODEL, {"method": "632"}, "method must be one of '.632\\+', .*, got '632'"),
        (MODEL, {"n_boot": 0}, "n_boot must be a whole number >= 1, got 0"),
        (MODEL, {"n_boot": 2.5}, "n_boot must be a whole number >= 1, got 2.5"),
        (MODEL, {"verbose": -1}, "verbose must be an integer >= 0, got -1"),
        (MODEL, {"verbose": None}, "verbose must be an integer >= 0, got None"),
        (MODEL, {"groups": np.arange(3)}, "groups must have one value for each"),
        (MODEL, {"groups": Y}, "each class in 2 groups or more .*, got 1"),
        (NoNumbers(), {}, "scores of a refitted NoNumbers must be finite, got nan"),
    ],
)
def test_bad_options(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_auc(estimator, X, Y, **options)


def test_a_class_of_one_row_cannot_be_resampled():
    with pytest.raises(ValueError, match="2 rows of each class or more .*, got 1"):
        bootstrap_auc(MODEL, X[:11], np.arange(11) == 0)


def test_long_work_is_silent_unless_asked(capsys):
    silent = bootstrap_auc(MODEL, X, Y, n_boot=3)
    assert capsys.readouterr() == ("", "")
    # 100: joblib 1.4 passes over short work in silence if less is asked for
    loud = bootstrap_auc(MODEL, X, Y, n_boot=3, verbose=100)
    out, err = capsys.readouterr()
    assert "Done" in out + err  # joblib's own line
    assert loud.auc == silent.auc


def test_no_refit_leaves_a_row_out_of_a_frozen_model():
    frozen = FrozenEstimator(LogisticRegression().fit(NOISE, Y))
    with pytest.warns(UntrustedAUCWarning, match="FrozenEstimator is not refitted"):
        assert bootstrap_auc(frozen, NOISE, Y, n_boot=5).auc > 0.9
    harmless = make_pipeline(FrozenEstimator(PCA(3).fit(X)), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap_auc(harmless, X, Y, n_boot=3)


def test_samplers_resample_in_every_refit():
    imblearn = pytest.importorskip("imblearn")
    sampler = imblearn.over_sampling.RandomOverSampler(random_state=0)
    model = imblearn.pipeline.make_pipeline(sampler, LogisticRegression())
    rare = np.arange(60) % 4 == 0
    assert abs(bootstrap_auc(model, NOISE, rare, n_boot=10).auc - 0.5) < 0.2
    assert abs(source_of(model, NOISE, rare, 5).auc - 0.5) < 0.2
