"""The adaptive prior: its laws through auc_posterior, its cache, its calibration."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from model_oracles import newcombe
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    AdaptivePrior,
    AUCPosterior,
    ResubstitutionSplit,
    auc_posterior,
    bee_scorer,
    binormal_auc_score,
    cbauc_scorer,
    clear_cache,
    lpo_auc_scorer,
    make_bee_scorer,
    make_ebauc_scorer,
)
from skauc.adaptive._join import alone
from skauc.adaptive._prior import fingerprint
from skauc.leave_pair_out._ridge_path import ridge_path
from skauc.leave_pair_out._second_source import SecondSource, second_source
from skauc.model_selection._training_objective import (
    penalised_fit,
)

ALONE = AdaptivePrior(leave_pair_out=False)
JOINED = AdaptivePrior()
PRIORS = pytest.mark.parametrize("prior", [ALONE, JOINED], ids=["alone", "joined"])
COVARIANCES = ["common", "separate", "spherical"]


@pytest.fixture(autouse=True)
def _empty_cache():
    clear_cache()


def design(n, P, *, seed=0, gap=0.5, share=0.5):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < round(share * n)
    X = rng.normal(size=(n, P))
    X[np.ix_(positive, np.arange(min(3, P)))] += gap
    return X, positive


def ridge(X, y, **kwargs):
    return RidgeClassifier(alpha=3.0).fit(X, y, **kwargs)


def same(a, b, rel=1e-8):
    assert a.mean() == pytest.approx(b.mean(), rel=rel)
    assert a.std() == pytest.approx(b.std(), rel=10 * rel)
    assert a.choice() == pytest.approx(b.choice(), rel=rel)


# -------------------------------------------------------------------------- invariance


@PRIORS
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("P", [4, 60])
def test_invariances(prior, covariance, P):
    X, y = design(40, P)
    rng = np.random.default_rng(1)
    model = ridge(X, y)

    def posterior(model, X, y):
        return auc_posterior(model, X, y, prior=prior, covariance=covariance)

    base = posterior(model, X, y)
    assert (base.leave_pair_out is not None) is prior.leave_pair_out
    shift = 20 * rng.normal(size=P)
    same(posterior(ridge(X + shift, y), X + shift, y), base)
    order = rng.permutation(40)
    same(posterior(model, X[order], y[order]), base)
    columns = rng.permutation(P)
    same(posterior(ridge(X[:, columns], y), X[:, columns], y), base)
    for c in (1e-6, 30.0):
        scaled = ridge(X, y)
        scaled.coef_ = c * scaled.coef_
        same(posterior(scaled, X, y), base)
    flipped = auc_posterior(
        model, X, y, prior=prior, covariance=covariance, pos_label=False
    )
    same(flipped, base)  # the direction and the class turn together
    same(posterior(ridge(X, ~y), X, ~y), base)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("P", [4, 60])
def test_swapped_classes_give_one_minus(covariance, P):
    X, y = design(40, P, share=0.3)
    model = ridge(X, y)
    base = auc_posterior(
        model, X, y, prior=ALONE, covariance=covariance, rows="training"
    )
    swap = auc_posterior(
        model, X, ~y, prior=ALONE, covariance=covariance, rows="training"
    )
    assert swap.mean() == pytest.approx(1 - base.mean(), rel=1e-9)
    assert swap.std() == pytest.approx(base.std(), rel=1e-8)
    # A model that ranks its own training rows the wrong way round was not trained on
    # them: it has no second source, only the ridge models, and is off the other way.
    joined = auc_posterior(
        model, X, ~y, prior=JOINED, covariance=covariance, rows="training"
    )
    assert joined.leave_pair_out is None
    w = np.ravel(model.coef_)
    right = JOINED.learn(X, y, covariance=covariance).project(w, X @ w).auc()
    assert joined.mean() == pytest.approx(1 - right.mean(), rel=1e-9)


def test_scale_of_features():
    X, y = design(40, 5)
    unit = 10.0 ** np.arange(-2, 3)
    model, moved = ridge(X, y), ridge(X, y)
    moved.coef_ = model.coef_ / unit
    kwargs = {"prior": ALONE, "rows": "training"}
    same(
        auc_posterior(moved, X * unit, y, **kwargs),
        auc_posterior(model, X, y, **kwargs),
    )
    prior = AdaptivePrior(leave_pair_out=False, standardize=False)
    one_scale = {"prior": prior, "rows": "training"}
    a, b = (
        auc_posterior(model, X, y, **one_scale),
        auc_posterior(moved, X * unit, y, **one_scale),
    )
    assert abs(a.mean() - b.mean()) > 1e-4
    moved.coef_ = model.coef_ / 7
    same(auc_posterior(moved, X * 7, y, **one_scale), a)


@pytest.mark.filterwarnings("ignore:.* are copies of others")
@PRIORS
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("P", [4, 50])
def test_weights_repeat_rows(prior, covariance, P):
    X, y = design(30, P)
    weight = np.random.default_rng(0).integers(0, 4, 30)
    Xr, yr = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    kwargs = {"prior": prior, "covariance": covariance}
    one = auc_posterior(
        ridge(X, y, sample_weight=weight), X, y, sample_weight=weight, **kwargs
    )
    two = auc_posterior(ridge(Xr, yr), Xr, yr, **kwargs)
    assert (one.leave_pair_out is not None) is prior.leave_pair_out
    same(one, two, rel=1e-6)


def test_deterministic():
    X, y = design(40, 60)
    results = []
    for _ in range(2):
        clear_cache()
        results.append(auc_posterior(ridge(X, y), X, y))
    assert results[0].mean() == results[1].mean()
    assert results[0].interval() == results[1].interval()


# ----------------------------------------------------------------- which rows are these


def test_training_rows_have_a_second_source_and_held_out_rows_their_empirical_auc():
    X, y = design(80, 10)
    part = np.arange(80) % 2 == 0
    model = ridge(X[part], y[part])
    train = auc_posterior(model, X[part], y[part])
    test = auc_posterior(model, X[~part], y[~part])
    source = second_source(
        penalised_fit(model, X[part], y[part], np.ones(40)), X[part], y[part]
    )
    assert (train.leave_pair_out, train.second_source) == (source.auc, ".632+")
    assert test.leave_pair_out is None
    held_out = roc_auc_score(y[~part], model.decision_function(X[~part]))
    assert test.mean() == pytest.approx((40 * held_out + 0.5) / 41, rel=1e-9)
    inside = newcombe((40 * held_out + 0.5) / 41, 20, 20)  # sizes of the classes
    density = stats.norm.pdf(test.mean_probit())
    assert test.probit_moments()[1] == pytest.approx(inside / density**2, rel=1e-4)
    assert f"leave_pair_out={train.leave_pair_out:.4g}" in repr(train)
    assert "leave_pair_out" not in repr(test)
    other = Perceptron().fit(X, y)
    known = auc_posterior(other, X, y, rows="training")
    assert known.leave_pair_out is None


def test_alone_is_the_model_with_twice_its_deviation():
    X, y = design(40, 10)
    model = ridge(X, y)
    learnt, w = ALONE.learn(X, y), np.ravel(model.coef_)
    m, s_m2 = learnt.model.probit(learnt.model.eigen.project(w), 0, w, X)
    posterior = auc_posterior(model, X, y, prior=ALONE)
    assert posterior.mean_probit() == pytest.approx(m, rel=1e-10)
    assert posterior.probit_moments()[1] == pytest.approx(4 * s_m2, rel=1e-9)
    assert posterior.choice("probit") == pytest.approx(m, rel=1e-10)


def test_a_score_is_the_mixture_with_twice_its_deviation():
    X, y = design(40, 1)
    learnt = JOINED.learn(X, y)
    posterior = learnt.project(np.ones(1), X[:, 0]).auc()
    cells = learnt.cells.posterior(learnt.cells.eigen.project(np.ones(1)))
    assert posterior.mean() == pytest.approx(cells.mean(), rel=1e-9)
    want = 4 * cells.probit_moments()[1]
    assert posterior.probit_moments()[1] == pytest.approx(want, rel=1e-9)
    assert learnt.model.cross_validated is None
    assert learnt.model.inverse_wishart.none == 0


@pytest.mark.parametrize(
    ("method", "n_refits", "contrast", "own"),
    [
        (".632+", None, 0.5, False),
        ("refits", None, 0.125, True),
        ("refits", 10, 0.25, True),
        ("leave-one-out", None, 0.5, True),
        ("leave-pair-out", None, 0.5, True),
    ],
)
@pytest.mark.parametrize("variance_of_z", [0.01, 2e-3, 1e-5])  # theirs is .004
def test_second_source_joined_by_hand(method, n_refits, contrast, own, variance_of_z):
    X, y = design(50, 60, share=0.4)
    learnt, w = JOINED.learn(X, y), np.ravel(ridge(X, y).coef_)
    m, s_m2 = learnt.model.probit(learnt.model.eigen.project(w, X @ w), 0, w, X)
    posterior = learnt.project(w, X @ w).auc(
        SecondSource(0.8, variance_of_z, method), n_refits
    )
    z = stats.norm.ppf((0.8 * 50 + 0.5) / 51)

    def variance(probit):
        return newcombe(stats.norm.cdf(probit), 30, 20) / stats.norm.pdf(probit) ** 2

    theirs = newcombe(stats.norm.cdf(z), 30, 20)
    excess = max(variance_of_z / theirs, 1.0) if own else 1.0
    if method == "leave-one-out" and variance_of_z < theirs:
        # 20 positives, a fifth of them ranked wrong: 4 rows
        excess = min(variance_of_z * (1 + 2 * np.sqrt(6 / 4)) / theirs, 1.0)
    assert z > m
    known = max(0.01 + s_m2, ((z - m) / 2) ** 2 - excess * variance(m))
    weight = known / (known + excess * variance(z))
    estimate = m + weight * (z - m)
    deviation = (2 - weight) * (
        weight * np.sqrt(excess * variance(estimate)) + (1 - weight) * np.sqrt(known)
    )
    assert posterior.mean_probit() == pytest.approx(estimate, rel=1e-9)
    assert posterior.probit_moments()[1] == pytest.approx(deviation**2, rel=1e-9)
    assert posterior.choice("probit") == pytest.approx(m + contrast * (z - m))
    assert posterior.leave_pair_out == 0.8
    assert posterior.second_source == method


@pytest.mark.parametrize("auc", [0.1, 0.6, 0.95])
def test_a_direction_turned_round_and_its_source_give_one_minus(auc):
    X, y = design(50, 60, share=0.4)
    learnt, w = JOINED.learn(X, y), np.ravel(ridge(X, y).coef_)
    there = learnt.project(w, X @ w).auc(SecondSource(auc, 0.005, "refits"))
    back = learnt.project(-w, -(X @ w)).auc(SecondSource(1 - auc, 0.005, "refits"))
    assert back.mean_probit() == pytest.approx(-there.mean_probit(), rel=1e-9)
    assert back.var() == pytest.approx(there.var(), rel=1e-9)


def test_without_a_source_the_ridge_models_say_how_far_the_model_is_off():
    X, y = design(50, 60, share=0.4)
    learnt, w = JOINED.learn(X, y), np.ravel(ridge(X, y).coef_)
    eigen, path = learnt.model.eigen, ridge_path(X, y)
    said, apart, weights, misfits = [], [], [], []
    for direction, auc in zip(path.directions.T, path.auc, strict=True):
        view = eigen.project(direction, X @ direction)
        m, s_m2 = learnt.model.probit(view, 0, direction, X)
        said.append(m)
        z = stats.norm.ppf((auc * 50 + 0.5) / 51)
        noise, at_m = (
            newcombe(stats.norm.cdf(x), 30, 20) / stats.norm.pdf(x) ** 2 for x in (z, m)
        )
        misfit = max(0.01, (max(z - m, 0) / 2) ** 2 - s_m2 - at_m)
        apart.append(z - m)
        misfits.append(misfit)
        weights.append((misfit + s_m2) / (misfit + s_m2 + noise))
    level = learnt.reference()
    assert level.disagreement == pytest.approx(np.mean(apart))
    assert level.weight == pytest.approx(np.mean(weights))
    assert level.misfit == pytest.approx(np.mean(misfits))
    assert level.shift == pytest.approx(np.mean(np.multiply(apart, weights)))
    m, _ = learnt.model.probit(eigen.project(w, X @ w), 0, w, X)
    posterior = learnt.project(w, X @ w).auc()
    # they say too much, and so does this one in proportion
    assert level.shift < 0 < m < np.mean(said)
    share = m / np.mean(said)
    assert posterior.mean_probit() == pytest.approx(m + 0.75 * share * level.shift)
    # ranked as if its second source disagreed like those of the ridge models
    chosen = m + 0.5 * level.disagreement
    assert posterior.choice("probit") == pytest.approx(chosen)
    assert posterior.leave_pair_out is None


@pytest.mark.parametrize("covariance", ["separate", "spherical"])
def test_what_the_user_fixed_has_one_null(covariance):
    X, y = design(40, 8)
    model = ALONE.learn(X, y, covariance=covariance).model
    assert model.cross_validated is None
    null = model.inverse_wishart
    assert bool(null.slabs) is (covariance == "spherical")
    slabs = sum(part.weight.sum() for part in null.slabs)
    assert null.none + null.share_dense + slabs == pytest.approx(1, abs=0.011)


def test_joined_lies_between_or_near_its_witnesses():
    """Where the two agree the joined mean is there; the posterior is never wilder."""
    for seed in range(6):
        X, y = design(60, 8, seed=seed, gap=0.7)
        model = ridge(X, y)
        alone = auc_posterior(model, X, y, prior=ALONE)
        joined = auc_posterior(model, X, y)
        low, high = sorted([alone.mean(), joined.leave_pair_out])
        assert low - 0.05 < joined.mean() < high + 0.05
        assert joined.std() < 1.5 * alone.std()


def test_a_rule_far_from_all_ridge_rules_is_heard():
    """LDA of 30 collinear features on 60 rows: the model alone is too low."""
    X, y = load_breast_cancer(return_X_y=True)
    alone, joined, held_out = [], [], []
    for seed in range(8):
        train, test, y_train, y_test = train_test_split(
            X, y, train_size=60, stratify=y, random_state=seed
        )
        model = LinearDiscriminantAnalysis().fit(train, y_train)
        alone.append(auc_posterior(model, train, y_train, prior=ALONE).mean())
        joined.append(auc_posterior(model, train, y_train).mean())
        held_out.append(roc_auc_score(y_test, model.decision_function(test)))
    assert np.mean(alone) < np.mean(held_out) - 0.04
    assert abs(np.mean(joined) - np.mean(held_out)) < 0.045
    assert np.mean(joined) > np.mean(alone) + 0.02


def test_a_better_witness_never_lowers_the_estimate():
    X, y = design(50, 60)
    learnt, w = JOINED.learn(X, y), np.ravel(ridge(X, y).coef_)
    direction = learnt.project(w, X @ w)
    means, choices = [], []
    for auc in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        posterior = direction.auc(SecondSource(auc, 0.005, ".632+"))
        means.append(posterior.mean())
        choices.append(posterior.choice("probit"))
    assert np.all(np.diff(means) >= 0)
    assert means[-1] > means[0]
    assert np.all(np.diff(choices) >= 0)


# ------------------------------------------------------------------------------ honesty


def test_noise_with_many_features():
    means, paper = [], []
    for seed in range(12):
        X, y = design(40, 300, seed=seed, gap=0)
        model = LogisticRegression().fit(X, y)
        means.append(
            [auc_posterior(model, X, y, prior=p).mean() for p in (ALONE, JOINED)]
        )
        paper.append(auc_posterior(model, X, y, prior="paper").mean())
    assert min(paper) > 0.99
    alone, joined = np.mean(means, axis=0)
    assert 0.42 < alone < 0.58
    assert 0.42 < joined < 0.58


@PRIORS
def test_many_rows_find_the_truth(prior):
    X, y = design(3000, 3, gap=0.4)
    model = LogisticRegression().fit(X, y)
    w = model.coef_[0]
    truth = stats.norm.cdf(0.4 * w.sum() / np.sqrt(2 * w @ w))
    rows = X, y, np.ones(3000)
    fit = penalised_fit(model, *rows) if prior.leave_pair_out else None
    source = second_source(fit, *rows)
    posterior = prior.learn(X, y).project(w, X @ w).auc(source)
    plug_in = binormal_auc_score(y, X @ w)
    assert posterior.mean() == pytest.approx(plug_in, abs=0.005)
    assert posterior.mean() == pytest.approx(truth, abs=0.03)
    assert posterior.std() < 0.02
    assert (posterior.second_source == "leave-one-out") is prior.leave_pair_out


def test_leave_one_out_that_ranks_all_rows_rightly_is_not_doubted_beyond_floats():
    X, y = design(50, 60, share=0.4)
    w = np.ravel(ridge(X, y).coef_)
    projection = JOINED.learn(X, y).project(w, X @ w)
    sure, other = (
        projection.auc(SecondSource(1.0, 1e-5, method))
        for method in ("leave-one-out", ".632+")
    )
    assert sure.probit_moments() == pytest.approx(other.probit_moments(), rel=1e-12)


def test_intervals_cover_the_truth():
    """95 % intervals on simulated normal cells; 300 of them, so ± 0.03 or so."""
    covered = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        P = (3, 15, 60)[seed % 3]
        n = (30, 60)[seed % 2]
        gap = (0.0, 0.5, 1.0)[(seed // 6) % 3] * rng.normal(size=P)
        gap = gap / max(np.linalg.norm(gap), 1) * 1.2
        y = np.arange(n) % 2 == 0
        X = rng.normal(size=(n, P)) + np.outer(y, gap)
        model = RidgeClassifier(alpha=10.0).fit(X, y)
        w = np.ravel(model.coef_)
        truth = stats.norm.cdf(w @ gap / np.sqrt(2 * w @ w))
        # the truth lies in interval(0.95) if and only if
        covered.append(0.025 <= auc_posterior(model, X, y).cdf(truth) <= 0.975)
    assert 0.88 <= np.mean(covered) <= 1


def test_choice_beats_the_training_auc():
    """Loss of true AUC by choosing a penalty: less than with resubstitution."""
    loss = {"adaptive": 0.0, "training": 0.0}
    for seed in range(12):
        X, y = design(40, 40, seed=seed, gap=0.6)
        scores, training, truths = [], [], []
        for alpha in (0.01, 1.0, 100.0, 1e4):
            model = RidgeClassifier(alpha=alpha).fit(X, y)
            w = np.ravel(model.coef_)
            scores.append(cbauc_scorer(model, X, y))
            training.append(roc_auc_score(y, X @ w))
            truths.append(stats.norm.cdf(0.6 * w[:3].sum() / np.sqrt(2 * w @ w)))
        loss["adaptive"] += max(truths) - truths[int(np.argmax(scores))]
        loss["training"] += max(truths) - truths[int(np.argmax(training))]
    assert loss["adaptive"] < 0.6 * loss["training"]


# -------------------------------------------------------------------------------- cache


def test_same_content_same_object():
    X, y = design(30, 5)
    first = JOINED.learn(X, y).model
    assert JOINED.learn(X.copy(), y.copy()).model is first
    assert AdaptivePrior(refits=5).learn(X, y).model is first
    assert ALONE.learn(X, y).model is first
    weight = np.ones(30)
    Z = X.copy()
    Z[3, 2] += 1e-9
    flipped = y.copy()
    flipped[[0, -1]] = ~flipped[[0, -1]]
    others = [
        JOINED.learn(Z, y),
        JOINED.learn(X, flipped),
        JOINED.learn(X, y, weight),
        JOINED.learn(X, y, 2 * weight),
        JOINED.learn(X, y, covariance="separate"),
        AdaptivePrior(winsorize=3.0).learn(X, y),
        AdaptivePrior(attainable_power=3.0).learn(X, y),
        JOINED.learn(X[:, ::-1], y),
        JOINED.learn(sparse.csr_array(X), y),
    ]
    assert len({id(one) for one in [first, *(o.model for o in others)]}) == 10


def test_rows_overwritten_after_learning_do_not_matter():
    """What is kept is what the rows were, not where they stood."""
    X, y = design(40, 50)
    model = ridge(X, y)
    fresh = auc_posterior(model, X, y)
    clear_cache()
    buffer = X.copy()
    JOINED.learn(buffer, y)  # without asking for the reference level
    buffer[:] = np.random.default_rng(3).normal(size=X.shape)
    later = auc_posterior(model, X, y)
    assert later.mean() == fresh.mean()
    assert later.interval() == fresh.interval()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_over_earlier_steps_is_a_fresh_computation(n_jobs):
    X, y = make_classification(60, 20, n_informative=5, random_state=0)
    X = X + 3
    pipe = Pipeline(
        [("scale", StandardScaler()), ("pca", PCA(5)), ("model", LogisticRegression())]
    )
    grid = {
        "scale__with_mean": [True, False],
        "pca__n_components": [2, 8],
        "model__C": [0.1, 10.0],
    }
    search = GridSearchCV(
        pipe, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit(), n_jobs=n_jobs
    ).fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        clear_cache()
        fresh = cbauc_scorer(pipe.set_params(**params).fit(X, y), X, y)
        assert score == pytest.approx(fresh, rel=1e-10)


# --------------------------------------------------------------------------- edge cases


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
@PRIORS
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize(
    ("n_neg", "n_pos", "P"),
    [(2, 2, 3), (1, 1, 2), (40, 1, 3), (1, 5, 30), (2, 40, 60), (20, 20, 1)],
)
def test_few_rows_and_one_feature(prior, covariance, n_neg, n_pos, P):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_neg + n_pos, P)), np.arange(n_neg + n_pos) < n_pos
    model = LogisticRegression().fit(X, y)
    posterior = auc_posterior(model, X, y, prior=prior, covariance=covariance)
    low, high = posterior.interval()
    assert 0 <= low < posterior.mean() < high <= 1
    if min(n_neg, n_pos) <= 2:
        assert high - low > 0.15  # so few rows cannot be sure


@PRIORS
@pytest.mark.parametrize("P", [1, 5, 60])
def test_perfect_separation(prior, P):
    X, y = design(40, P, gap=30.0)
    posterior = auc_posterior(LogisticRegression().fit(X, y), X, y, prior=prior)
    assert posterior.mean() > 0.98
    assert np.isfinite(posterior.choice("probit"))
    assert np.isfinite(posterior.interval()).all()


@PRIORS
@pytest.mark.parametrize("P", [4, 60])
def test_constant_columns_count_for_nothing(prior, P):
    X, y = design(30, P)
    wide = np.column_stack([X, np.full(30, 5.0), np.zeros(30)])
    same(
        auc_posterior(ridge(wide, y), wide, y, prior=prior),
        auc_posterior(ridge(X, y), X, y, prior=prior),
        rel=1e-6,
    )


@PRIORS
@pytest.mark.parametrize("P", [10, 400])
def test_sparse_is_dense(prior, P):
    X, y = design(40, P)
    X[np.abs(X) < 1] = 0
    model = ridge(X, y)
    same(
        auc_posterior(model, sparse.csr_array(X), y, prior=prior),
        auc_posterior(model, X, y, prior=prior),
        rel=1e-7,
    )


def test_fifty_thousand_sparse_features_are_never_dense():
    n, P = 120, 50_000
    rng = np.random.default_rng(0)
    cells = rng.choice(n * P, n * P // 500, replace=False)
    X = sparse.csr_array((rng.uniform(size=len(cells)), divmod(cells, P)), (n, P))
    y = np.arange(n) % 2 == 0
    w, dense = rng.normal(size=P), 8 * n * P
    tracemalloc.start()
    projection = JOINED.learn(X, y).project(w, X @ w)
    joined = projection.auc(SecondSource(0.6, 0.01, ".632+"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < dense
    assert 0.3 < joined.mean() < 0.7
    assert 0 < projection.auc().std() < 0.2


def test_label_as_a_feature():
    X, y = design(30, 4)
    X[:, 0] = y
    model = ridge(X, y)
    model.coef_ = np.array([[1.0, 0, 0, 0]])
    posterior = auc_posterior(model, X, y)
    assert 0.9 < posterior.mean() <= 1
    assert np.isfinite(posterior.interval()).all()


# --------------------------------------------------------- posterior verbs of the house


@pytest.mark.parametrize("target", [-2.0, 0.0, 0.7, 4.0])
@pytest.mark.parametrize("stretch", [0.5, 1.0, 3.0])
def test_moved_is_exact_in_the_mean(target, stretch):
    cells = AUCPosterior.from_cells(
        D=[0.5, 1.5, 3.0], v=[0.2, 0.1, 0.3], q=[40.0, 20.0, 90.0],
        df=[30.0, 60.0, 12.0], weight=[0.5, 0.3, 0.2],
    )  # fmt: skip
    moved = cells.with_mean_and_scale(
        target, stretch, choice_probit=1.25, leave_pair_out=0.6
    )
    assert moved.mean() == pytest.approx(stats.norm.cdf(target), rel=1e-9)
    assert moved.mean_probit() == pytest.approx(target, abs=1e-9)
    assert moved.choice("probit") == 1.25
    assert moved.choice() == pytest.approx(stats.norm.cdf(1.25), rel=1e-14)
    assert moved.leave_pair_out == 0.6


@pytest.mark.parametrize("target", [-3.0, 0.5, 2.5])
def test_the_spread_is_the_wanted_one_wherever_the_mean_goes(target):
    # Part of the spread of Z rides on χ², in proportion to D: here a third of it.
    cells = AUCPosterior.from_cells(D=2.0, v=0.1, q=10.0, df=20.0)
    moved = cells.with_mean_and_scale(target, np.sqrt(3))
    ratio = moved.probit_moments()[1] / cells.probit_moments()[1]
    assert ratio == pytest.approx(3, rel=1e-9)


def test_spread_that_no_cell_can_have_stays_positive():
    cells = AUCPosterior.from_cells(D=300.0, v=0.1, q=10.0, df=20.0)
    for target in (0.0, 4.0):
        posterior = cells.with_mean_and_scale(target, np.sqrt(3))
        assert posterior.mean_probit() == pytest.approx(target, abs=1e-9)
        assert 0 < posterior.std() < 0.5


@pytest.mark.parametrize("stretch", [0.5, 2.0])
def test_stretch_is_the_factor_of_the_spread(stretch):
    cells = AUCPosterior.from_cells(D=[1.0, 1.4], v=0.2, q=100.0, df=100.0, weight=0.5)
    still = stretch * cells.probit_moments()[0]
    # with the shift 0 the factor is exact ...
    z = still / np.sqrt(1 + stretch**2 * cells.probit_moments()[1])
    moved = cells.with_mean_and_scale(z, stretch)
    ratio = moved.probit_moments()[1] / cells.probit_moments()[1]
    assert ratio == pytest.approx(stretch**2, rel=0.01)
    # ... and the moments are those of draws
    draws = stats.norm.ppf(moved.rvs(200000, random_state=0))
    mean, variance = moved.probit_moments()
    assert draws.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 200000))
    assert draws.var() == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_predictive_scores_against_draws(share):
    """BEE and EBAUC: new rows of each class drawn from the cells."""
    X, y = design(8, 2, gap=2.5, share=share)
    model = ridge(X, y)
    prior = AdaptivePrior(leave_pair_out=False)
    cells = prior.learn(X, y, covariance="common").cells
    w = np.ravel(model.coef_)
    view = cells.eigen.project(w)
    posterior, size = cells.posterior(view), view.size[0]
    rng = np.random.default_rng(0)
    N = 10**6
    n_neg, n_pos = cells.eigen.n_neg, cells.eigen.n_pos
    n = n_neg + n_pos
    variances, dfs = cells.class_variances(view, 0)
    new = []
    for lean, q_c, df_c in zip((-n_pos / n, n_neg / n), variances, dfs, strict=True):
        c = rng.choice(len(cells.weight), N, p=cells.weight)
        own = cells.separate[c]
        q = np.where(own, q_c[c], posterior.q[c])
        df = np.where(own, df_c[c], posterior.df[c])
        sigma = size * np.sqrt(q / rng.chisquare(df))
        centre = (X @ w).mean() + sigma / np.sqrt(n) * rng.standard_normal(N)
        gap = size * posterior.D[c]
        gap = gap + np.sqrt(posterior.v[c]) * sigma * rng.standard_normal(N)
        new.append(centre + lean * gap + sigma * rng.standard_normal(N))
    threshold = -model.intercept_[0]
    error = (1 - share) * np.mean(new[0] > threshold) + share * np.mean(
        new[1] <= threshold
    )
    assert 1 - make_bee_scorer(prior=prior)(model, X, y) == pytest.approx(
        error, abs=0.0025
    )
    assert 0 < bee_scorer(model, X, y) < 1
    ebauc = make_ebauc_scorer(prior=prior, covariance="common", thresholds="all")
    assert ebauc(model, X, y) == pytest.approx(np.mean(new[1] > new[0]), abs=0.0025)


# ------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("name", ["attainable_power", "winsorize"])
@pytest.mark.parametrize("value", [0, -1.5, np.inf, np.nan])
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name} must be > 0 and finite, got {value}"):
        AdaptivePrior(**{name: value})


@pytest.mark.parametrize("value", [1, 0, -3, 2.5, True, "5"])
def test_refits_are_a_number_of_folds(value):
    with pytest.raises(ValueError, match=f"refits must be .* or None, got {value!r}"):
        AdaptivePrior(refits=value)
    assert AdaptivePrior(refits=np.int64(2)).refits == 2


def test_bad_words():
    X, y = design(20, 3)
    model = ridge(X, y)
    with pytest.raises(ValueError, match="prior must be .* got 'adapt'"):
        auc_posterior(model, X, y, prior="adapt")
    with pytest.raises(ValueError, match="covariance must be one of .* got 'full'"):
        auc_posterior(model, X, y, covariance="full")
    with pytest.raises(ValueError, match="attainable_power must be > 0 .* got -2"):
        auc_posterior(model, X, y, prior=AdaptivePrior(attainable_power=-2))


def test_no_winsorising():
    assert AdaptivePrior(winsorize=None).winsorize is None
    X, y = design(40, 3)
    X[0] = 1000
    model = ridge(X, y)
    values = [
        auc_posterior(
            model, X, y, prior=AdaptivePrior(winsorize=k, leave_pair_out=False)
        ).mean()
        for k in (None, 2.5)
    ]
    assert abs(values[0] - values[1]) > 5e-4


# ------------------------------------------------------------------------ once wrong


def test_two_distinct_rows_are_a_perfect_rule():
    """No scatter within the classes but rounding: it must not be decomposed."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 10)
    X = np.repeat(rng.standard_normal((2, 30)), 10, axis=0)
    model = LogisticRegression().fit(X, y)
    for rows in (X, sparse.csr_array(X)):
        assert auc_posterior(model, rows, y).mean() > 0.9


@pytest.mark.parametrize("prior", ["adaptive", "paper"])
def test_a_posterior_needs_counts(prior):
    """Relative weights would make it as wide as that of one row, or none."""
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) % 2
    model = LogisticRegression().fit(X, y)
    for weight in (1e-3, 1e-200):
        message = rf"add up to at least 1 in each class.*{10 * weight:.3g}; multiply"
        weight = np.full(20, weight)
        with pytest.raises(ValueError, match=message):
            auc_posterior(model, X, y, sample_weight=weight, prior=prior)
        counts = weight * (20 / weight.sum())
        assert auc_posterior(
            model, X, y, sample_weight=counts, prior=prior
        ).mean() == pytest.approx(auc_posterior(model, X, y, prior=prior).mean())


def test_leave_pair_out_takes_relative_weights():
    X, y = design(30, 4)
    weight = np.random.default_rng(1).uniform(0.2, 1.0, 30)
    values = [
        lpo_auc_scorer(
            RidgeClassifier(alpha=3 * unit).fit(X, y, sample_weight=unit * weight),
            X,
            y,
            sample_weight=unit * weight,
        )
        for unit in (1.0, 1 / weight.sum(), 1e-6, 1e-200)
    ]
    assert values == pytest.approx([values[0]] * 4, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.* are copies of others")
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_large_counts_have_a_limit(covariance):
    """The variance of √χ² lost its digits: from 1e6 on nan, before that wrong."""
    X, y = design(60, 4)
    model, count = RidgeClassifier().fit(X, y), np.arange(30, 90)
    got = [
        auc_posterior(
            model,
            X,
            y,
            sample_weight=unit * count,
            covariance=covariance,
            prior=AdaptivePrior(leave_pair_out=False),
        )
        for unit in (2e4, 2e6, 2e8)
    ]
    assert got[0].mean() == pytest.approx(got[2].mean(), abs=1e-5)
    assert got[1].mean() == pytest.approx(got[2].mean(), abs=1e-7)
    for one, two in pairwise(got):  # the width falls like one over the root of n
        assert one.std() / two.std() == pytest.approx(10, rel=1e-2)


@pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning")
def test_one_row_in_a_class_has_no_leave_pair_out():
    """On noise it said .92 on average."""
    means = []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(31, 10))
        y = np.arange(31) == 0
        model = ridge(X, y)
        posterior = auc_posterior(model, X, y)
        assert posterior.leave_pair_out is None
        means.append(posterior.mean())
        with pytest.warns(UndefinedMetricWarning, match="a class has one row"):
            assert np.isnan(lpo_auc_scorer(model, X, y))
    assert 0.4 < np.mean(means) < 0.75


@pytest.mark.parametrize("shift", [1e3, 1e6])
def test_far_from_the_origin_the_witness_still_knows_its_rows(shift):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 2
    X[:, 0] += y
    model = LogisticRegression(C=0.1).fit(X, y)
    here = auc_posterior(model, X, y)
    model.intercept_ = model.intercept_ - shift * model.coef_.sum()
    there = auc_posterior(model, X + shift, y)
    assert there.leave_pair_out == here.leave_pair_out
    assert there.mean() == pytest.approx(here.mean(), rel=1e-6)


@pytest.mark.parametrize("P", [2, 5])
def test_swapped_classes_mirror_the_rates_and_the_posterior(P):
    """Of the scores −Xw the classes are the other way round."""
    X, positive = design(30, P, share=0.3)
    w, t = np.arange(1.0, P + 1), np.linspace(-4, 6, 9)
    one = AdaptivePrior().learn(X, positive).project(w, X @ w)
    two = AdaptivePrior().learn(X, ~positive).project(-w, X @ -w)
    fpr, tpr = one.rates(t)
    many = one.rates(np.repeat(t, 60))  # some at a time
    np.testing.assert_allclose(many, np.repeat([fpr, tpr], 60, axis=1), rtol=1e-12)
    other_fpr, other_tpr = two.rates(-t)
    np.testing.assert_allclose(other_fpr, 1 - tpr, rtol=1e-9)
    np.testing.assert_allclose(other_tpr, 1 - fpr, rtol=1e-9)
    back = AdaptivePrior().learn(X, positive).project(-w, X @ -w)
    for auc in (0.6, 0.9):
        ahead = one.auc(SecondSource(auc, 0.004, "leave-pair-out"))
        behind = back.auc(SecondSource(1 - auc, 0.004, "leave-pair-out"))
        assert behind.mean() == pytest.approx(1 - ahead.mean(), rel=1e-9)
        assert behind.std() == pytest.approx(ahead.std(), rel=1e-9)


def test_a_copy_of_a_feature_adds_one_direction_without_variance():
    X, positive = design(30, 4)
    X = np.column_stack([X, X[:, 0]])
    w = np.arange(1.0, 6)
    model = AdaptivePrior().learn(X, positive)
    assert model.model.eigen.null == 1
    with_copy = model.project(w, X @ w).auc().mean()
    other = np.array([w[0] + w[4], *w[1:4], 0.0])  # the same scores
    assert with_copy == pytest.approx(model.project(other, X @ other).auc().mean())


def test_two_features_are_judged_as_a_data_set():
    X, positive = design(30, 2)
    projection = AdaptivePrior().learn(X, positive).project(np.ones(2), X.sum(axis=1))
    mean, variance = projection._probit()
    found = projection.model_alone()
    assert found.mean_probit() == pytest.approx(alone(mean, variance).estimate)


def test_the_fingerprint_of_the_very_rows_is_known():
    rng = np.random.default_rng(0)
    X, positive, weight = rng.normal(size=(30, 3)), np.arange(30) % 2 == 0, np.ones(30)
    learnt = AdaptivePrior().learn(X, positive, weight)
    known = learnt.fingerprint_of(X, positive, weight)
    assert known == fingerprint(X, positive, weight)
    assert learnt.fingerprint_of(X.copy(), positive, weight) is None
    assert learnt.fingerprint_of(X, positive.copy(), weight) is None
    assert learnt.fingerprint_of(X, positive, None) is None
    score = AdaptivePrior().learn(X[:, :1], positive)
    assert score.fingerprint_of(score.Z, positive, None) is None


def test_a_fingerprint_tells_rows_labels_and_weights():
    rng = np.random.default_rng(0)
    X, positive, weight = rng.normal(size=(30, 40)), np.arange(30) % 2 == 0, np.ones(30)
    X[:, 7] *= 1e-12  # a change is seen whatever the size of other features
    moved, heavier = X.copy(), weight.copy()
    moved[3, 7] *= 1 + 1e-9
    heavier[4] = 2.0
    one = fingerprint(X, positive, weight)
    assert fingerprint(X.copy(), positive.copy(), weight.copy()) == one
    others = (moved, positive, weight), (X, ~positive, weight), (X, positive, heavier)
    others += (X, positive, None), (sparse.csr_array(X), positive, weight)
    found = {one, *(fingerprint(*rows) for rows in others)}
    assert len(found) == 6
