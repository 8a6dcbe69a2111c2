"""True refits of estimators: the bootstrap, and the second source made of them."""

import warnings
from typing import ClassVar

import numpy as np
import oracles
import pytest
from scipy.special import ndtr, ndtri
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn_versions import l1_part
from values import same

from skauc import (
    AdaptivePrior,
    UntrustedAUCWarning,
    auc_estimate,
    auc_posterior,
    bootstrap_auc,
    compare_cross_val_auc,
    cross_val_auc,
    cv_auc_scorer,
    lpo_auc_scorer,
)
from skauc.results import BootstrapAUC

RNG = np.random.default_rng(7)
Y = np.arange(60) % 2
X = RNG.standard_normal((60, 8)) + 0.5 * Y[:, None]
NOISE = np.random.default_rng(0).standard_normal((60, 300))
MODEL = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())


def refitted(estimator, X, y, K, weight=None, **how):
    """The posterior of an estimator fitted to these rows, from K refits of it."""
    name = "logisticregression__sample_weight"
    fit = clone(estimator).fit(X, y, **({} if weight is None else {name: weight}))
    how = {"sample_weight": weight, "rows": "training"} | how
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntrustedAUCWarning)
        return auc_posterior(fit, X, y, prior=AdaptivePrior(refits=K), **how)


def plus_632(apparent, outside):
    """Efron & Tibshirani (1997), equations 29 to 32, for 1 − AUC.

    A model that ranks its own rows the wrong way round is mirrored; an AUC of rows
    left out below ½ remains.
    """
    if apparent < 0.5:
        return 1 - plus_632(1 - apparent, 1 - outside)
    R = (apparent - outside) / (apparent - 0.5) if apparent > outside else 0.0
    w = 0.632 / (1 - 0.368 * min(R, 1.0))
    return (1 - w) * apparent + w * outside


class Recorded(LogisticRegression):
    """Keeps the numbers of the rows of every fit, which are the first column."""

    drawn: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        self.drawn.append(X[:, 0].astype(int))
        return super().fit(X * [0.0, 1.0, 1.0], y, sample_weight)


@pytest.fixture
def drawn():
    """Counts of the rows in every fit of Recorded."""
    Recorded.drawn.clear()
    return lambda n: np.array([np.bincount(d, minlength=n) for d in Recorded.drawn])


def numbered(n):
    """Rows of noise with their numbers in front."""
    return np.column_stack([np.arange(n), RNG.standard_normal((n, 2))])


# ------------------------------------------------------------------- second source


@pytest.mark.parametrize(("k", "sets"), [(5, 15), (50, 40)])
def test_reports_err_as_much_as_they_say(k, sets):
    """All of 50 features or five selected ones, one with a signal, 60 rows."""
    rng, ratio = np.random.default_rng(11), []
    select = [SelectKBest(k=k)] if k < 50 else []
    left_out = AdaptivePrior(refits=5 if select else None)  # or pairs
    model = make_pipeline(*select, LogisticRegression(C=0.01))
    for _ in range(sets):
        Z = rng.standard_normal((60, 50))
        Z[:, 0] += 1.5 * Y
        fit = clone(model).fit(Z, Y)
        w = np.zeros(50)
        w[fit[0].get_support() if select else slice(None)] = np.ravel(fit[-1].coef_)
        truth = 1.5 * w[0] / np.linalg.norm(w) / np.sqrt(2)
        found = auc_posterior(fit, Z, Y, rows="training", prior=left_out)
        mean, variance = found.probit_moments()
        ratio.append((mean - truth) ** 2 / variance)
    assert 0.6 < np.mean(ratio) < 1.3


def test_the_noise_of_a_solver_is_in_the_interval():
    """Of many rows, the AUC of a perceptron depends on its last steps above all."""
    covered, rng = 0, np.random.default_rng(0)
    for _ in range(12):
        y = np.arange(6000) % 2
        Z = rng.standard_normal((6000, 10)) + 0.8 * (y[:, None] - 0.5) * np.eye(10)[0]
        model = Perceptron().fit(Z, y)
        w = model.coef_[0]
        truth = ndtr(0.8 * w[0] / np.linalg.norm(w) / np.sqrt(2))
        low, high = auc_posterior(model, Z, y, rows="training").interval(0.95)
        covered += low < truth < high
    assert covered >= 10


def test_refits_of_the_whole_and_of_the_linear_model_alone():
    """Selection is repeated in refits of the whole: noise gets no AUC from it."""
    end = LogisticRegression(solver="liblinear", random_state=0, **l1_part(1))
    model = make_pipeline(SelectKBest(k=10), end).fit(NOISE, Y)
    whole = auc_posterior(model, NOISE, Y)
    assert whole.second_source == "refits"
    assert abs(whole.leave_pair_out - 0.5) < 0.15
    # the ten features alone, whose selection no refit repeats
    linear = auc_posterior(model[-1], model[0].transform(NOISE), Y)
    assert linear.second_source == "refits"
    assert linear.leave_pair_out > 0.7
    unlike = NOISE * np.where(Y, 4, 1)[:, None]
    hinge = LinearSVC(loss="hinge", C=0.01, random_state=0)
    scaled = make_pipeline(StandardScaler(), hinge).fit(unlike, Y)
    with pytest.warns(UntrustedAUCWarning, match="classes of very different variance"):
        found = auc_posterior(scaled, unlike, Y)
    assert abs(found.leave_pair_out - 0.5) < 0.15  # the scaler is fitted again, too


def test_neither_labels_order_nor_containers_matter():
    source = refitted(MODEL, X, Y, 4)
    turned = refitted(MODEL, X, Y, 4, pos_label=0)
    named = refitted(MODEL, X.tolist(), np.array(["a", "b"])[Y], 4)
    order = np.random.default_rng(0).permutation(60)
    moved = refitted(MODEL, X[order], Y[order], 4)
    searched = refitted(GridSearchCV(LogisticRegression(), {}, cv=2), X, Y, 4)
    plain = refitted(FixedThresholdClassifier(LogisticRegression()), X, Y, 4)
    for a, b in ((turned, source), (named, source), (moved, source), (searched, plain)):
        assert a.second_source == b.second_source == "refits"
        assert a.leave_pair_out == pytest.approx(b.leave_pair_out, rel=1e-9)
        assert a.std() == pytest.approx(b.std(), rel=1e-6)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_refits_leave_rows_of_weight_zero_out():
    weight = np.where(np.arange(60) < 20, 0.0, 1.0 + np.arange(60) % 3)
    some = slice(20, None)
    model = make_pipeline(PCA(8), LogisticRegression()).fit(X[some], Y[some])
    how = {"prior": AdaptivePrior(refits=4), "rows": "training"}
    kept = auc_posterior(model, X[some], Y[some], sample_weight=weight[some], **how)
    assert kept.second_source == "refits"
    assert same(auc_posterior(model, X, Y, sample_weight=weight, **how), kept)


def test_where_no_row_can_be_left_out_there_is_no_source():
    one, two = np.arange(60) < 1, np.arange(60) < 2
    assert refitted(LogisticRegression(), X, one, 5).leave_pair_out is None
    assert 0 <= refitted(LogisticRegression(), X, two, 5).leave_pair_out <= 1
    three = refitted(LogisticRegression(), X, np.arange(60) % 3, 5)
    assert {pair.second_source for pair in three.pairs.values()} == {"folds"}

    class Fails(LogisticRegression):
        def fit(self, X, y):
            if len(np.unique(X, axis=0)) < len(X):
                raise RuntimeError("a row stands twice")
            return super().fit(X, y)

    assert refitted(Fails(), X, Y, 5).leave_pair_out is None


@pytest.mark.parametrize("sizes", [(40, 60), (7, 23)])
def test_samples_of_a_report_are_balanced(sizes, drawn):
    """Every row is left out of K/e samples, and every sample has as many rows."""
    y = np.repeat([False, True], sizes)
    for K in (2, 5, 10, 20):
        Recorded.drawn.clear()
        refitted(Recorded(), numbered(len(y)), y, K)
        counts = drawn(len(y))[-K:]
        assert np.array_equal(counts[:, ~y].sum(axis=1), np.full(K, sizes[0]))
        assert np.array_equal(counts[:, y].sum(axis=1), np.full(K, sizes[1]))
        out = counts == 0
        assert np.unique(out.sum(axis=0)).tolist() == [max(round(K / np.e), 1)]
        assert (out[:, y].any(axis=1) & out[:, ~y].any(axis=1)).all()


# ------------------------------------------------------------------- bootstrap_auc


def test_plus_632_from_its_parts():
    how = {"n_resamples": 10}
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


class TwoFaced(ClassifierMixin, BaseEstimator):
    """Scores by one column after a fit to all rows, and by the other in refits."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.column_ = 0 if len(np.unique(X, axis=0)) == 60 else 1
        return self

    def decision_function(self, X):
        return X[:, self.column_]


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        (1.0, 1.0),
        (0.5, 0.6),  # better outside: R = 0
        (9.0, 0.0),  # R = 1: nothing was learnt
        (9.0, -0.6),  # and below ½ it remains
        (2.0, 0.5),
        (-2.0, -0.5),  # mirrored
        (-9.0, 0.6),
        (0.0, 0.0),
    ],
)
def test_plus_632_of_any_two_aucs(inside, outside):
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((60, 2)) + np.outer(Y, [inside, outside])
    how = {"n_resamples": 40}
    found = bootstrap_auc(TwoFaced(), rows, Y, **how)
    out = bootstrap_auc(TwoFaced(), rows, Y, **how, method="oob").auc
    assert found.apparent == pytest.approx(roc_auc_score(Y, rows[:, 0]), rel=1e-12)
    assert found.auc == pytest.approx(plus_632(found.apparent, out), rel=1e-12)


def test_weighted_pairs_and_ties_are_counted():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 5, 60) / 4, np.arange(60)])
    weight = rng.integers(1, 4, 60).astype(float)
    found = bootstrap_auc(TwoFaced(), rows, Y, n_resamples=1, sample_weight=weight)
    parts = [part[side] for part in (rows[:, 0], weight) for side in (Y == 0, Y == 1)]
    assert found.apparent == pytest.approx(oracles.pairwise_auc(*parts), rel=1e-14)


def test_drawn_samples_are_stratified(drawn):
    """Each leaves out a row of every class, even of two rows."""
    y = np.arange(9) < 2
    bootstrap_auc(Recorded(), numbered(9), y, n_resamples=200)
    counts = drawn(9)[1:]
    assert (counts[:, y].sum(axis=1) == 2).all()
    assert (counts[:, ~y].sum(axis=1) == 7).all()
    assert (counts[:, y] == 0).any(axis=1).all()


def test_harrells_optimism_of_one_sample():
    class Kept(LogisticRegression):
        fits: ClassVar = []

        def fit(self, X, y):
            self.fits.append((X, y, super().fit(X, y)))
            return self

    found = bootstrap_auc(Kept(), X, Y, n_resamples=1, method="optimism")
    _, (rows, labels, model) = Kept.fits
    own = roc_auc_score(labels, model.decision_function(rows))
    lost = own - roc_auc_score(Y, model.decision_function(X))
    assert found.auc == pytest.approx(found.apparent - lost, rel=1e-12)


def test_noise_has_no_auc_even_behind_selection():
    model = make_pipeline(SelectKBest(k=10), LogisticRegression())
    assert abs(bootstrap_auc(model, NOISE, Y, n_resamples=20).auc - 0.5) < 0.12


def test_either_class_of_any_classifier_may_be_positive():
    forest = RandomForestClassifier(10, random_state=0)
    up, down = (bootstrap_auc(forest, X, Y, n_resamples=5, pos_label=k) for k in (1, 0))
    assert up.apparent == pytest.approx(down.apparent, rel=1e-12)
    assert up.auc > 0.5
    assert down.auc > 0.5


def test_whole_groups_are_drawn_and_left_out(drawn):
    groups = np.repeat(np.arange(15), 4)
    labels = groups % 2  # each group is of one class
    found = bootstrap_auc(
        Recorded(),
        numbered(60),
        labels,
        n_resamples=12,
        groups=[f"g{k}" for k in groups],
    )
    assert np.isfinite(found.replicates).all()
    for count in drawn(60)[1:].reshape(12, 15, 4):
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
    with pytest.warns(UntrustedAUCWarning, match="80 of 120 rows are copies of others"):
        alone = bootstrap_auc(LogisticRegression(), Z, y, n_resamples=20)
    grouped = bootstrap_auc(LogisticRegression(), Z, y, n_resamples=20, groups=groups)
    assert alone.auc > 0.9
    assert abs(grouped.auc - 0.5) < 0.15


def test_groups_of_both_classes():
    groups = np.repeat(np.arange(12), 5)
    found = bootstrap_auc(MODEL, X, Y, n_resamples=20, groups=groups)
    assert 0.6 < found.auc < found.apparent
    assert len(found.replicates) == 20


def test_interval_and_repr():
    found = BootstrapAUC(0.8, ".632+", 0.9, np.array([0.6, 0.7, 0.8, np.nan]))
    assert found.confidence_interval(0.5) == pytest.approx((0.75, 0.85))
    assert repr(found) == (
        "BootstrapAUC(auc=0.8, interval95=(0.705, 0.895), method='.632+', "
        "apparent=0.9, n_resamples=4)"
    )
    wide = np.linspace(0.2, 0.9, 50)
    assert BootstrapAUC(0.98, ".632", 1.0, wide).confidence_interval()[1] == 1.0
    assert BootstrapAUC(0.05, ".632", 1.0, wide).confidence_interval()[0] == 0.0
    none = BootstrapAUC(0.8, ".632", 0.9, np.full(3, np.nan))
    assert np.isnan(none.confidence_interval()).all()
    one = BootstrapAUC(0.8, ".632", 0.9, np.array([np.nan, 0.7]))
    assert one.confidence_interval() == (0.8, 0.8)


class NoNumbers(LogisticRegression):
    def decision_function(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (
            MODEL,
            {"n_resamples": 2.5},
            "n_resamples must be a whole number >= 1, got 2.5",
        ),
        (MODEL, {"verbose": -1}, "verbose must be a whole number >= 0, got -1"),
        (MODEL, {"verbose": None}, "verbose must be a whole number >= 0, got None"),
        (MODEL, {"groups": np.arange(3)}, "groups must have one value for each"),
        (MODEL, {"groups": Y}, "each class in 2 groups or more .*, got 1"),
        (NoNumbers(), {}, "scores of a fitted NoNumbers must be finite, got nan"),
    ],
)
def test_bad_options(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_auc(estimator, X, Y, **options)


def test_a_class_of_one_row_cannot_be_resampled():
    with pytest.raises(ValueError, match="2 rows of each class or more .*, got 1"):
        bootstrap_auc(MODEL, X[:11], np.arange(11) == 0)


def test_long_work_is_silent_unless_asked(capsys):
    silent = bootstrap_auc(MODEL, X, Y, n_resamples=3)
    assert capsys.readouterr() == ("", "")
    # 100: joblib 1.4 passes over short work in silence if less is asked for
    loud = bootstrap_auc(MODEL, X, Y, n_resamples=3, verbose=100)
    low, high = loud.confidence_interval(0.9)
    above, below = (
        loud.confidence_interval(0.95, alternative=side) for side in ("greater", "less")
    )
    assert (*above, *below) == pytest.approx((low, 1, 0, high))
    out, err = capsys.readouterr()
    assert "Done" in out + err  # joblib's own line
    assert loud.auc == silent.auc


REFITTING = {
    "bootstrap": lambda *rows: bootstrap_auc(*rows, n_resamples=5).auc,
    "folds": lambda *rows: cross_val_auc(*rows).auc,
    "comparison": lambda model, X, y: compare_cross_val_auc(
        [model, MODEL], X, y
    ).folds_a.mean(),
    "scorer": cv_auc_scorer,
}


@pytest.mark.parametrize("name", REFITTING)
def test_no_refit_leaves_a_row_out_of_a_frozen_model(name):
    frozen = FrozenEstimator(LogisticRegression().fit(NOISE, Y))
    for model in (frozen, CalibratedClassifierCV(frozen).fit(NOISE, Y)):
        with pytest.warns(UntrustedAUCWarning, match="FrozenEstimator, .* not refitt"):
            assert REFITTING[name](model, NOISE, Y) > 0.9
    harmless = make_pipeline(FrozenEstimator(PCA(3).fit(X)), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        REFITTING[name](harmless.fit(X, Y), X, Y)


@pytest.mark.parametrize("step", [SelectKBest(k=3), PCA(30, whiten=True)])
def test_pairs_left_out_behind_a_step_that_stays_are_doubted(step):
    model = make_pipeline(step, LogisticRegression(C=0.01)).fit(NOISE, Y)
    with pytest.warns(UntrustedAUCWarning, match="LogisticRegression used y, or fits"):
        lpo_auc_scorer(model, NOISE, Y)


@pytest.mark.parametrize("kind", ["over", "under"])
def test_samplers_resample_in_every_refit(kind):
    imblearn = pytest.importorskip("imblearn")
    samplers = getattr(imblearn, f"{kind}_sampling")
    sampler = getattr(samplers, f"Random{kind.title()}Sampler")(random_state=0)
    model = imblearn.pipeline.make_pipeline(sampler, LogisticRegression())
    rare = np.arange(60) % 4 == 0
    assert abs(bootstrap_auc(model, NOISE, rare, n_resamples=10).auc - 0.5) < 0.2
    found = refitted(model, NOISE, rare, 5, rows="auto")
    assert (found.second_source, found.rows) == ("refits", "training (detected)")
    assert abs(found.leave_pair_out - 0.5) < 0.2


def near_one(seed, n=20, auc=0.98, n_resamples=40):
    """True AUC of a logistic model, and its bootstrap interval."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    gap = np.sqrt(2) * ndtri(auc)
    X = rng.normal(size=(n, 2))
    X[:, 0] += gap * y
    w = LogisticRegression().fit(X, y).coef_[0]
    true = ndtr(gap * w[0] / np.linalg.norm(w) / np.sqrt(2))
    return true, bootstrap_auc(
        LogisticRegression(), X, y, n_resamples=n_resamples
    ).confidence_interval()


def test_interval_near_one_does_not_collapse():
    for seed in range(4):
        _, (low, high) = near_one(seed, auc=0.999, n_resamples=10)
        assert low < 0.97 < 0.999 < high
    # no limit is nearer than that of a score interval for as many rows
    perfect = BootstrapAUC(1.0, "oob", 1.0, np.ones(20), sizes=(10.0, 10.0))
    scores = auc_estimate(np.arange(20) % 2, np.arange(20) % 2)
    score = scores.confidence_interval(method="hanley_mcneil_score")
    assert perfect.confidence_interval() == pytest.approx(score, abs=1e-6)
    assert BootstrapAUC(1.0, "oob", 1.0, np.ones(20)).confidence_interval() == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "auc"), [(20, 0.98), (40, 0.8)])
def test_interval_covers(n, auc):
    found = [near_one(seed, n, auc) for seed in range(100)]
    assert np.mean([low <= true <= high for true, (low, high) in found]) >= 0.9
