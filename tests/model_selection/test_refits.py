"""True refits of whole estimators: the bootstrap, and what asks for it."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, TargetEncoder
from sklearn.svm import SVC, LinearSVC

from skauc import (
    AdaptivePrior,
    BootstrapAUC,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    bee_scorer,
    bootstrap_auc,
    cbauc_scorer,
    clear_cache,
    cross_val_auc,
    ebauc_scorer,
    make_bee_scorer,
    make_cbauc_scorer,
    make_ebauc_scorer,
)
from skauc.leave_pair_out._bootstrap import balanced_counts
from skauc.leave_pair_out._second_source import SecondSource
from skauc.model_selection import _model_posterior, _refits, _second_source
from skauc.model_selection._affine_steps import has_frozen
from skauc.model_selection._bootstrap_auc import _left_out
from skauc.model_selection._linear_model import open_score
from skauc.model_selection._refits import (
    posterior_of_source,
    refits_source,
    told_by_refits,
)

RNG = np.random.default_rng(7)
Y = np.arange(60) % 2
X = RNG.standard_normal((60, 8)) + 0.5 * Y[:, None]
MODEL = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())


def source_of(model, X, y, weight, n_refits, positive=None):
    """Of the model fitted to all rows."""
    fit = clone(model)
    fit.fit(
        X,
        y,
        **({} if weight is None else {"logisticregression__sample_weight": weight}),
    )
    positive = y == 1 if positive is None else positive
    score = fit.decision_function(X) * (1 if positive[y == 1].any() else -1)
    return refits_source(model, X, y, positive, weight, score, n_refits)


@pytest.mark.parametrize("n_refits", [2, 7])
def test_refits_are_632_plus_written_out(n_refits):
    fit = clone(MODEL).fit(X, Y)
    neg, pos, won, met = np.flatnonzero(Y == 0), np.flatnonzero(Y == 1), 0.0, 0.0
    for count in balanced_counts(Y == 0, n_refits):  # the class of the first row
        rows, out = np.repeat(np.arange(60), count), count == 0
        score = clone(MODEL).fit(X[rows], Y[rows]).decision_function(X)
        both = np.outer(out[pos], out[neg])
        won = won + both * (score[pos][:, None] > score[neg])
        met = met + both
    outside = max(np.mean((won / np.maximum(met, 1))[met > 0]), 0.5)
    apparent = roc_auc_score(Y, fit.decision_function(X))
    R = (apparent - outside) / (apparent - 0.5) if apparent > outside else 0.0
    w = 0.632 / (1 - 0.368 * R)
    source = source_of(MODEL, X, Y, None, n_refits)
    assert source.method == "refits"
    expected = (1 - w) * apparent + w * outside
    assert source.auc == pytest.approx(expected, rel=1e-12)


def test_which_class_is_positive_does_not_matter():
    source, turned = (source_of(MODEL, X, Y, None, 4, Y == k) for k in (1, 0))
    assert turned.auc == pytest.approx(source.auc, rel=1e-12)
    assert turned.variance == pytest.approx(source.variance, rel=1e-12)


def test_refits_leave_rows_of_weight_zero_out():
    weight = np.where(np.arange(60) < 20, 0.0, 1.0 + np.arange(60) % 3)
    kept, score = slice(20, None), X[:, 0]
    found = refits_source(MODEL, X, Y, Y == 1, weight, score, 4)
    rows = X[kept], Y[kept], Y[kept] == 1, weight[kept], score[kept]
    alone = refits_source(MODEL, *rows, 4)
    assert found.auc == pytest.approx(alone.auc, rel=1e-12)
    assert found.variance == pytest.approx(alone.variance, rel=1e-12)


def test_a_class_of_two_rows_can_be_left_out_and_one_of_one_cannot():
    score, one, two = X[:, 0], np.arange(60) < 1, np.arange(60) < 2
    assert refits_source(MODEL, X, one, one, None, score, 5) is None
    found = refits_source(MODEL, X, two, two, None, score, 5)
    assert 0 <= found.auc <= 1


def test_the_variance_of_refits_is_three_halves_of_hanley_and_mcneils():
    weight = 1.0 + np.arange(60) % 3
    n_neg, n_pos = weight[Y == 0].sum(), weight[Y == 1].sum()
    source = source_of(MODEL, X, Y, weight, 4)
    a = (source.auc * 120 + 0.5) / 121
    by_class = [  # their formula, and that with the classes exchanged
        a * (1 - a)
        + (k - 1) * (a / (2 - a) - a**2)
        + (other - 1) * (2 * a**2 / (1 + a) - a**2)
        for k, other in ((n_pos, n_neg), (n_neg, n_pos))
    ]
    expected = 1.5 * np.mean(by_class) / (n_neg * n_pos)
    assert source.variance == pytest.approx(expected, rel=1e-12)


def test_refits_err_as_much_as_they_say():
    """Selection among 50 features, one with a signal, 60 rows."""
    rng, ratio = np.random.default_rng(11), []
    model = make_pipeline(SelectKBest(k=5), LogisticRegression())
    for _ in range(60):
        Z = rng.standard_normal((60, 50))
        Z[:, 0] += Y
        fit = clone(model).fit(Z, Y)
        w = np.zeros(50)
        w[fit[0].get_support()] = np.ravel(fit[1].coef_)
        truth = ndtr(w[0] / np.linalg.norm(w) / np.sqrt(2))
        source = source_of(model, Z, Y, None, 5)
        ratio.append((source.auc - truth) ** 2 / source.variance)
    assert 0.5 < np.mean(ratio) < 1.5


def test_posterior_of_a_source_by_its_definition():
    source = SecondSource(0.8, 0.003, "refits")
    posterior = posterior_of_source(source, 99.5)
    auc = (0.8 * 99.5 + 0.5) / 100.5
    assert posterior.mean() == pytest.approx(auc, rel=1e-6)
    density = np.exp(-(ndtri(auc) ** 2) / 2) / np.sqrt(2 * np.pi)
    _, variance = posterior.probit_moments()
    assert variance == pytest.approx(0.003 / density**2, rel=1e-6)


NOISE = np.random.default_rng(0).standard_normal((60, 300))


@pytest.mark.parametrize(
    "step", [SelectKBest(k=10), LinearDiscriminantAnalysis()], ids=["k best", "LDA"]
)
def test_selection_does_not_find_signal_in_noise(step):
    model = make_pipeline(StandardScaler(), step, LogisticRegression())
    with pytest.warns(UntrustedAUCWarning, match="saw y, so that only the prior"):
        posterior = bayesian_val_score(model, NOISE, Y)
    assert abs(posterior.mean() - 0.5) < 0.1
    low, high = posterior.interval(0.95)
    assert low < 0.5 < high
    published = bayesian_val_score(model, NOISE, Y, prior="paper")
    assert published.mean() > 0.7  # on the selected features, as published


def test_behind_a_target_encoder_refits_speak():
    kinds = RNG.integers(0, 25, (60, 1)).astype(str).astype(object)
    model = make_pipeline(
        make_column_transformer((TargetEncoder(), [0])),
        LogisticRegression(),
    ).fit(kinds, Y)
    with pytest.warns(UntrustedAUCWarning, match="TargetEncoder saw y and is not aff"):
        posterior = auc_posterior(model, kinds, Y)
    assert posterior.second_source == "refits"
    assert abs(posterior.mean() - 0.5) < 0.2
    assert any("5 refits of the whole" in reason for reason in posterior.warnings)


def test_what_an_encoder_turned_round_is_of_the_same_rows():
    """Of noise a second encoding of the rows may point the other way."""
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    score = model.decision_function(X)
    for own in (score, -score):
        assert told_by_refits(model, X, Y, Y == 1, None, own) == "training"
    other = np.random.default_rng(0).standard_normal(len(Y))
    assert told_by_refits(model, X, Y, Y == 1, None, other) == "held-out"


BROKEN = make_pipeline(SelectKBest(k=4), PolynomialFeatures(2), LogisticRegression())


@pytest.mark.parametrize("scorer", [ebauc_scorer, bee_scorer])
def test_closed_forms_behind_a_step_that_breaks_them_are_not_trusted(scorer):
    model = clone(BROKEN).set_params(logisticregression__max_iter=10_000).fit(X, Y)
    clear_cache()
    with pytest.warns(UntrustedAUCWarning, match="PolynomialFeatures .* not hold"):
        scorer(model, X, Y)
    held_out = make_ebauc_scorer(rows="held-out")
    assert 0 < held_out(model, X, Y) < 1  # the score is one feature: no warning


def messages(model, y, prior):
    """What is warned of, and what stands in the pairs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UntrustedAUCWarning)
        posterior = bayesian_val_score(model, X, y, prior=prior)
    said = {str(w.message) for w in caught}
    kept = {reason for pair in posterior.pairs.values() for reason in pair.warnings}
    return said, {f"{reason[0].upper()}{reason[1:]}" for reason in kept}


def test_pairs_of_classes_say_what_they_miss():
    y = np.arange(60) % 3
    plain, refits = AdaptivePrior(), AdaptivePrior(refits=5)
    unused = "Refits are not used for the pairs of more than two classes"
    only_prior = (
        "A step in front of the linear model saw y, so that only the prior speaks"
    )
    broken = clone(BROKEN).set_params(logisticregression__max_iter=10_000)
    assert messages(LogisticRegression(), y, plain) == (set(), set())
    assert messages(LogisticRegression(), y, refits) == ({unused}, {unused})
    assert messages(MODEL, y, plain) == ({only_prior}, {only_prior})
    assert messages(MODEL, y, refits) == ({only_prior, unused},) * 2
    said, kept = messages(broken, y, plain)
    assert said == kept
    assert only_prior in said
    assert any("PolynomialFeatures saw y" in sentence for sentence in said)


def test_a_prior_that_speaks_alone_says_so_without_a_warning():
    alone = "no AUC of rows left out beside the prior"
    for prior in (AdaptivePrior(), AdaptivePrior(leave_pair_out=False)):
        posterior = bayesian_val_score(LogisticRegression(), X, Y, prior=prior)
        assert (posterior.warnings == (alone,)) == (not prior.leave_pair_out)
    assert bayesian_val_score(Lasso(0.01), X, Y).warnings == (alone,)


# ------------------------------------------------------------------------- bootstrap


def slow_632_plus(model, X, y, n_boot):
    """The definition, with every refit written out."""
    found = bootstrap_auc(model, X, y, n_boot=n_boot, method="oob")
    apparent = roc_auc_score(y, clone(model).fit(X, y).decision_function(X))
    outside = max(found.auc, 0.5)
    R = (apparent - outside) / (apparent - 0.5) if apparent > outside else 0.0
    w = 0.632 / (1 - 0.368 * R)
    return apparent, (1 - w) * apparent + w * outside


def test_plus_632_by_its_definition():
    apparent, expected = slow_632_plus(MODEL, X, Y, 10)
    found = bootstrap_auc(MODEL, X, Y, n_boot=10)
    assert found.apparent == pytest.approx(apparent, rel=1e-12)
    assert found.auc == pytest.approx(expected, rel=1e-12)
    outside = bootstrap_auc(MODEL, X, Y, n_boot=10, method="oob").auc
    plain = bootstrap_auc(MODEL, X, Y, n_boot=10, method=".632").auc
    assert plain == pytest.approx(0.368 * apparent + 0.632 * outside, rel=1e-12)
    assert bootstrap_auc(MODEL, X, Y, n_boot=10, method="optimism").auc < apparent


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


def test_weights_are_rows_and_rows_of_weight_zero_are_none():
    weight = np.ones(60)
    weight[:6] = 0
    model = LogisticRegression()
    a = bootstrap_auc(model, X, Y, n_boot=5, sample_weight=weight)
    b = bootstrap_auc(model, X[6:], Y[6:], n_boot=5)
    assert a.auc == pytest.approx(b.auc, rel=1e-9)


def test_interval_and_repr():
    found = BootstrapAUC(0.8, ".632+", 0.9, np.array([0.6, 0.7, 0.8, np.nan]))
    assert found.interval(0.5) == pytest.approx((0.75, 0.85))
    assert repr(found) == (
        "BootstrapAUC(auc=0.8, interval95=(0.705, 0.895), method='.632+', "
        "apparent=0.9, n_boot=4)"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "632"}, "method must be one of '.632\\+', .*, got '632'"),
        ({"n_boot": 0}, "n_boot must be a whole number >= 1, got 0"),
        ({"n_boot": 2.5}, "n_boot must be a whole number >= 1, got 2.5"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_auc(MODEL, X, Y, **options)
    with pytest.raises(ValueError, match="2 rows of each class or more .*, got 1"):
        bootstrap_auc(MODEL, X[:11], np.arange(11) == 0)


# --------------------------------------------------------------------------- progress


def long_work(verbose):
    """What refits, and what it answers."""
    refits = AdaptivePrior(refits=3, verbose=verbose)
    yield bootstrap_auc(MODEL, X, Y, n_boot=3, verbose=verbose).auc
    yield cross_val_auc(MODEL, X, Y, 3, verbose=verbose).auc
    yield bayesian_val_score(MODEL, X, Y, prior=refits).mean()


def test_long_work_is_silent_unless_asked(capsys):
    silent = list(long_work(0))
    assert capsys.readouterr() == ("", "")
    # 100: joblib 1.4 passes over short work in silence if less is asked for
    for answer, told in zip(silent, long_work(100), strict=True):
        out, err = capsys.readouterr()
        assert "Done" in out + err  # joblib's own line
        assert told == answer
    assert AdaptivePrior(verbose=True).verbose == 1


@pytest.mark.parametrize("verbose", [-1, 0.5, "loud", None])
def test_verbose_is_a_whole_number(verbose):
    text = "verbose must be an integer >= 0, got "
    with pytest.raises(ValueError, match=text):
        bootstrap_auc(MODEL, X, Y, verbose=verbose)
    with pytest.raises(ValueError, match=text):
        cross_val_auc(MODEL, X, Y, verbose=verbose)
    with pytest.raises(ValueError, match=text):
        AdaptivePrior(verbose=verbose)


def test_rows_that_a_sample_did_not_draw():
    score, count = np.array([1.0, 2, 3, 4, 5, 0]), np.array([0, 0, 2, 0, 1, 0])
    positive = np.array([False, True, False, False, True, True])
    # left out are 1 and 4 of one class, 2 and 0 of the other: one of four is won
    assert _left_out(score, positive, count, None) == 0.25
    weight = np.array([1.0, 3, 1, 1, 1, 1])
    assert _left_out(score, positive, count, weight) == pytest.approx(3 / 8)
    assert np.isnan(_left_out(score, positive, np.array([1, 0, 1, 1, 0, 0]), None))


def test_an_interval_stays_in_its_range():
    wide = np.linspace(0.2, 0.9, 50)
    assert BootstrapAUC(0.98, ".632", 1.0, wide).interval()[1] == 1.0
    assert BootstrapAUC(0.05, ".632", 1.0, wide).interval()[0] == 0.0


def test_replicates_that_left_out_no_pair():
    none = BootstrapAUC(0.8, ".632", 0.9, np.full(3, np.nan))
    assert np.isnan(none.interval()).all()
    one = BootstrapAUC(0.8, ".632", 0.9, np.array([np.nan, 0.7]))
    assert one.interval() == (0.8, 0.8)


def test_what_a_broken_model_and_one_with_refits_do_not_say():
    """What the rows are is not asked behind such a step; two classes are no pairs."""
    steps = SelectKBest(k=3), PolynomialFeatures(2), LogisticRegression()
    refits = AdaptivePrior(refits=3)
    with pytest.warns(UntrustedAUCWarning, match="PolynomialFeatures"):
        broken = auc_posterior(make_pipeline(*steps).fit(X, Y), X, Y, prior=refits)
    assert len(broken.warnings) == 1
    model = LogisticRegression().fit(X, Y)
    assert auc_posterior(model, X, Y, prior=refits).warnings == ()


@pytest.mark.parametrize("make", [make_bee_scorer, make_ebauc_scorer])
def test_closed_forms_of_held_out_scores_hold_behind_any_step(make):
    """The score is one feature, whatever made it."""
    steps = SelectKBest(k=3), PolynomialFeatures(2), LogisticRegression()
    model = make_pipeline(*steps).fit(X[:40], Y[:40])
    make(rows="held-out")(model, X[40:], Y[40:])  # in silence
    clear_cache()
    with pytest.warns(UntrustedAUCWarning, match="PolynomialFeatures"):
        make(rows="training")(model, X[:40], Y[:40])


def bent(*, chance=False):
    """A Pipeline behind which no closed form holds; chance enters a fit of it."""
    if chance:
        return RandomForestClassifier(30)
    return make_pipeline(SelectKBest(k=4), PolynomialFeatures(2), LogisticRegression())


def signal(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, 8))
    X[:, :3] += 0.8 * y[:, None]
    return X, y


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("chance", [False, True])
@pytest.mark.parametrize("n", [40, 150])
def test_clones_fitted_to_the_rows_tell_whether_these_trained_the_model(chance, n):
    X, y = signal(n, 0)
    others, labels = signal(n, 1)
    model = bent(chance=chance).fit(X, y)
    prior = AdaptivePrior(refits=3)
    assert auc_posterior(model, X, y, prior=prior).second_source == "refits"
    posterior = auc_posterior(model, others, labels, prior=prior)
    assert posterior.second_source is None
    score = model.predict_proba(others)[:, 1]
    # the empirical AUC, but for (a n + 1/2)/(n + 1)
    empirical = (roc_auc_score(labels, score) * n + 0.5) / (n + 1)
    assert posterior.mean() == pytest.approx(empirical, rel=1e-9)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_rows_that_nothing_tells_are_said_to_be_assumed(monkeypatch):
    monkeypatch.setattr(_model_posterior, "told_by_refits", lambda *_: None)
    X, y = signal(40, 0)
    model = bent().fit(X, y)
    for rows, assumed in (("auto", True), ("training", False)):
        prior = AdaptivePrior(refits=3)
        posterior = auc_posterior(model, X, y, prior=prior, rows=rows)
        said = [text for text in posterior.warnings if "which is assumed" in text]
        assert len(said) == assumed


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "gradient"),
    [
        (LogisticRegression(max_iter=2), 0.0),
        (LinearSVC(loss="hinge", max_iter=2, random_state=0), None),
    ],
)
def test_a_smooth_model_that_stopped_is_at_its_optimum_then(
    model, gradient, monkeypatch
):
    asked, second_source = [], _second_source.second_source

    def seen(*question, **more):
        asked.append(more["gradient"])
        return second_source(*question, **more)

    monkeypatch.setattr(_second_source, "second_source", seen)
    X, y = signal(60, 0)
    auc_posterior(model.fit(X, y), X, y, rows="training")
    assert asked == [gradient]


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_cross_validation_scores_held_out_rows_behind_any_step():
    X, y = signal(150, 2)
    ours = cross_val_score(bent(), X, y, scoring=cbauc_scorer, cv=5)
    theirs = cross_val_score(bent(), X, y, scoring="roc_auc", cv=5)
    assert ours == pytest.approx((theirs * 30 + 0.5) / 31, rel=1e-9)


@pytest.mark.parametrize("fitted_with", [True, False])
def test_rows_are_told_with_weights_whether_or_not_the_fit_had_them(fitted_with):
    X, y = signal(60, 0)
    weight = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    model = GaussianNB()
    model.fit(X, y, sample_weight=weight if fitted_with else None)
    score = model.predict_proba(X)[:, 1]
    found = told_by_refits(GaussianNB(), X, y, y == 1, weight, score)
    assert found == "training"
    others, labels = signal(60, 1)
    score = model.predict_proba(others)[:, 1]
    told = told_by_refits(GaussianNB(), others, labels, labels == 1, weight, score)
    assert told != "training"


@pytest.mark.parametrize("fitted_to", ["all", "counted"])
def test_rows_are_told_where_some_weigh_nothing(fitted_to):
    """Neighbours are others without them, and the fit may have had them."""
    rng = np.random.default_rng(3)
    y = np.arange(80) % 2
    X, others = rng.normal(size=(2, 80, 3))
    weight = np.arange(80) % 3.0
    take = weight >= 0 if fitted_to == "all" else weight > 0
    model = KNeighborsClassifier(5).fit(X[take], y[take])
    for Z, expected in ((X, "training"), (others, "held-out")):
        score = model.predict_proba(Z)[:, 1]
        told = told_by_refits(KNeighborsClassifier(5), Z, y, y == 1, weight, score)
        assert told == expected


@pytest.mark.parametrize(
    ("from_score", "chance", "told"),
    [
        # without chance: the same scores, but for the digits that solvers leave
        (4.9e-4, 0.0, "training"),
        (5.1e-4, 0.0, None),
        (0.0499, 0.0, None),
        (0.0501, 0.0, "held-out"),
        # up to four times as far apart as two clones are, and a tenth at most
        (0.0399, 0.01, "training"),
        (0.0401, 0.01, None),
        (0.0999, 0.03, "training"),
        (0.1001, 0.03, None),
        # held-out rows are a twentieth farther than five times as far
        (0.0999, 0.01, None),
        (0.1001, 0.01, "held-out"),
        (0.1999, 0.03, None),
        (0.2001, 0.03, "held-out"),
    ],
)
def test_how_far_the_scores_of_clones_may_lie(from_score, chance, told, monkeypatch):
    """One less the correlation: of scores made with these three correlations."""
    a, c = 1 - from_score, 1 - chance
    basis = np.linalg.qr(np.column_stack([np.ones(40), X[:40, :3]]))[0]
    root = np.linalg.cholesky([[1, a, a], [a, 1, c - 1e-12], [a, c - 1e-12, 1]])
    score, *clones = (basis[:, 1:] @ root.T).T
    clones = iter(clones)
    monkeypatch.setattr(_refits, "refit_scores", lambda *_: next(clones))
    labels = np.arange(40) % 2
    assert told_by_refits(None, X[:40], labels, labels == 1, None, score) == told


def test_scores_of_any_estimator_are_cut_where_its_predictions_are():
    shares, decisions = GaussianNB().fit(X, Y), SVC().fit(X, Y)
    for model in (shares, decisions):
        opened = open_score(model, X)
        rule = opened.front[:, 0] > opened.threshold
        np.testing.assert_array_equal(rule, model.predict(X) == 1)
    assert open_score(shares, X).threshold == 0.5
    assert open_score(decisions, X).threshold == 0
    regressor = KNeighborsRegressor().fit(X, 2.0 * Y - 1)  # decides between -1 and 1
    assert open_score(regressor, X).threshold == 0


def test_rows_that_a_clone_cannot_be_fitted_to_are_not_told():
    X, y = signal(40, 0)
    once = np.zeros(40)
    assert told_by_refits(_Never(), X, y, y == 1, None, once) is None


class _Never(LogisticRegression):
    def fit(self, X, y):
        raise RuntimeError("never")


def test_with_refits_any_classifier_has_a_posterior():
    X, y = signal(60, 3)
    model = GaussianNB().fit(X, y)
    with pytest.raises(TypeError, match="GaussianNB is not linear"):
        auc_posterior(model, X, y)
    prior = AdaptivePrior(refits=4)
    with pytest.warns(UntrustedAUCWarning, match="GaussianNB saw y .* 4 refits"):
        posterior = auc_posterior(model, X, y, prior=prior)
    score = model.predict_proba(X)[:, 1]
    source = refits_source(GaussianNB(), X, y, y == 1, None, score, 4)
    expected = posterior_of_source(source, 60)
    assert posterior.mean() == pytest.approx(expected.mean(), rel=1e-12)
    assert posterior.std() == pytest.approx(expected.std(), rel=1e-12)
    # the other class positive: the other way round
    with pytest.warns(UntrustedAUCWarning, match="GaussianNB"):
        back = auc_posterior(model, X, y, prior=prior, pos_label=0)
    assert back.mean() == pytest.approx(posterior.mean(), rel=1e-9)
    with pytest.warns(UntrustedAUCWarning, match="GaussianNB"):
        score = make_cbauc_scorer(prior=prior)(model, X, y)
    assert score == pytest.approx(posterior.choice())


def test_of_more_classes_there_is_no_such_score():
    X, _ = signal(60, 3)
    y = np.arange(60) % 3
    with pytest.raises(TypeError, match="GaussianNB is not linear"):
        auc_posterior(GaussianNB().fit(X, y), X, y, prior=AdaptivePrior(refits=4))


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_a_stacked_model_is_refitted(wrap):
    X, _ = signal(60, 4)
    y = np.random.default_rng(99).permutation(np.arange(60) % 2)
    members = [("a", LogisticRegression()), ("b", GaussianNB())]
    model = wrap(StackingClassifier(members, cv=2)).fit(X, y)
    with pytest.warns(UntrustedAUCWarning, match="comes from 5 refits of the whole"):
        posterior = auc_posterior(model, X, y, rows="training")
    assert posterior.second_source == "refits"
    assert posterior.interval(0.95)[0] < 0.5


def test_no_refit_leaves_a_row_out_of_a_frozen_model():
    """Of noise, refits of what they cannot refit said .8 and more without a word."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 40)), np.arange(60) % 2
    known = LogisticRegression().fit(X, y)
    frozen = FrozenEstimator(known).fit(X, y)
    five = AdaptivePrior(refits=5)
    with pytest.warns(UntrustedAUCWarning, match="FrozenEstimator is not refitted"):
        posterior = auc_posterior(frozen, X, y, prior=five)
    assert posterior.mean() == auc_posterior(known, X, y).mean()
    with pytest.warns(UntrustedAUCWarning, match="FrozenEstimator is not refitted"):
        assert bootstrap_auc(frozen, X, y, n_boot=5).auc > 0.9
    calibrated = CalibratedClassifierCV(frozen, cv=3).fit(X, y)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        posterior = auc_posterior(calibrated, X, y, prior=five)
    assert "FrozenEstimator is not refitted" in posterior.warnings[-1]
    assert posterior.warnings[-1][1:] in {str(w.message)[1:] for w in said}


def test_a_frozen_step_that_saw_no_y_and_one_that_did():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 40)), np.arange(60) % 2
    for step, frozen in (
        (StandardScaler(), False),
        (make_pipeline(StandardScaler(), PCA(3)), False),
        (make_pipeline(StandardScaler(), None), False),
        (SelectKBest(k=3), True),
        (make_pipeline(StandardScaler(), SelectKBest(k=3)), True),
        (TargetEncoder(), True),
    ):
        model = make_pipeline(FrozenEstimator(step.fit(X, y)), LogisticRegression())
        assert has_frozen(model) is frozen
        assert not has_frozen(make_pipeline(step, LogisticRegression()))
    assert not has_frozen("no estimator")
    model = make_pipeline(FrozenEstimator(SelectKBest(k=3).fit(X, y)), LinearSVC())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        posterior = auc_posterior(model.fit(X, y), X, y, prior=AdaptivePrior(refits=5))
    assert posterior.second_source is None
    assert len(said) == 2
    assert not any("AdaptivePrior(refits=5)" in reason for reason in posterior.warnings)
