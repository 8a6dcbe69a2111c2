"""The second source: each method against its definition, and which one is asked."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import l1_part

from skauc import GaussianAUCClassifier
from skauc.leave_pair_out import (
    _bootstrap_refits,
    _leave_one_out,
    _optimum,
    _proximal_refits,
    _second_source,
)
from skauc.leave_pair_out._bootstrap import (
    bootstrap_counts,
    bootstrap_estimate,
    plus_632,
)
from skauc.leave_pair_out._discriminant_refits import DiscriminantRule
from skauc.leave_pair_out._estimate import leave_pair_out
from skauc.leave_pair_out._objective import ElasticNetFit, PenalisedFit, ask_again
from skauc.leave_pair_out._optimum import at_optimum
from skauc.leave_pair_out._second_source import (
    _source,
    second_source,
    source_of_rounded_hinge,
    suits_leave_one_out,
)
from skauc.leave_pair_out._smooth_refits import (
    FOR_AUC,
    FOR_AUC_OF_FEW_ROWS,
    refit_smooth,
)
from skauc.model_selection._refit_objective import (
    discriminant_objective,
    training_objective,
)

TIGHT = {"tol": 1e-10, "max_iter": 1_000_000}
SMOOTH = [
    LogisticRegression(C=0.1, **TIGHT),
    LogisticRegression(solver="liblinear", intercept_scaling=3.0, **TIGHT),
    LogisticRegression(C=0.5, fit_intercept=False, **TIGHT),
    LinearSVC(C=0.03, **TIGHT),
    RidgeClassifier(alpha=3.0),
]
L1 = [
    LogisticRegression(solver="saga", C=0.2, **TIGHT, **l1_part(1.0)),
    LogisticRegression(
        solver="liblinear", C=0.5, intercept_scaling=4.0, **TIGHT, **l1_part(1.0)
    ),
]


def design(n, P, *, seed=0, gap=0.6, share=0.3):
    """Normal rows away from the origin with a gap in the first features."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < share * n
    X = rng.normal(size=(n, P)) + 0.5 * rng.normal(size=(n, 1)) + 1.0
    X[np.ix_(positive, np.arange(min(P, 3)))] += gap
    return X, positive


def as_drawn(X, positive):
    """Rows in the order in which they are drawn, and how often each of 20 samples did.

    By the fourth powers of their standardised features; first the class that has more
    rows or, if they are equal, the larger powers.
    """
    fourth = (((X - X.mean(axis=0)) / X.std(axis=0)) ** 4).sum(axis=1)
    order = np.argsort(fourth, kind="stable")
    sums = [(np.sum(c), np.sum(fourth[c])) for c in (~positive, positive)]
    positive = positive[order]
    second = positive if sums[1] > sums[0] else ~positive
    return X[order], positive, bootstrap_counts(second, 20)


def definition_632(model, X, positive, weight=None):
    """.632+ from fits one after another, pairs averaged over their samples.

    A row of weight w is w rows.
    """
    if weight is not None:
        rows = np.repeat(np.arange(len(X)), weight.astype(int))
        X, positive = X[rows], positive[rows]
    X, positive, counts = as_drawn(X, positive)
    wins = {}
    for c in counts:
        drawn = c > 0
        model.fit(X[drawn], positive[drawn], sample_weight=c[drawn])
        score = model.decision_function(X)
        for i in np.flatnonzero(positive & ~drawn):
            for j in np.flatnonzero(~positive & ~drawn):
                won = (score[i] > score[j]) + 0.5 * (score[i] == score[j])
                wins.setdefault((i, j), []).append(won)
    outside = np.mean([np.mean(won) for won in wins.values()])
    assert outside > 0.51  # below ½ the estimate would say nothing of the refits
    apparent = roc_auc_score(positive, model.fit(X, positive).decision_function(X))
    return plus_632(apparent, outside)


@pytest.mark.parametrize("shape", [(30, 50), (60, 6)])
@pytest.mark.parametrize("model", [*SMOOTH, *L1, SVC(kernel="linear", C=0.1)], ids=str)
def test_plus_632_is_that_of_refits_one_after_another(model, shape):
    X, positive = design(*shape, gap=1.5 if shape[1] > 6 else 0.6)
    fit = training_objective(model.fit(X, positive), X, positive)
    source = second_source(fit, X, positive)
    assert source.method == ".632+"
    # solvers stop at 1e-10 of their own measure: a pair of equal scores may turn
    assert source.auc == pytest.approx(definition_632(model, X, positive), abs=2e-3)


def test_plus_632_of_a_weak_l1_penalty():
    """Of a solver that stopped with more features than rows, too."""
    X, positive = design(30, 300, gap=1.5)
    how = {"solver": "liblinear", "C": 20.0, "random_state": 0, **l1_part(1.0)}
    stopped = LogisticRegression(tol=1e-2, **how).fit(X, positive)
    assert np.count_nonzero(stopped.coef_) > 30
    source = second_source(training_objective(stopped, X, positive), X, positive)
    expected = definition_632(LogisticRegression(**how, **TIGHT), X, positive)
    assert (source.auc, source.method) == (pytest.approx(expected, abs=2e-3), ".632+")


@pytest.mark.parametrize("shape", [(30, 50), (60, 6)])
def test_plus_632_of_a_discriminant_draws_rows_again(shape):
    X, positive = design(*shape, gap=1.5 if shape[1] > 6 else 0.6)
    X, positive, counts = as_drawn(X, positive)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    wins = {}
    for c in counts:
        rows = np.repeat(np.arange(len(c)), c)
        score = model.fit(X[rows], positive[rows]).decision_function(X)
        for i in np.flatnonzero(positive & (c == 0)):
            for j in np.flatnonzero(~positive & (c == 0)):
                wins.setdefault((i, j), []).append(score[i] > score[j])
    apparent = roc_auc_score(positive, model.fit(X, positive).decision_function(X))
    outside = np.mean([np.mean(won) for won in wins.values()])
    assert outside > 0.51
    expected = plus_632(apparent, outside)
    source = second_source(discriminant_objective(model, X.shape), X, positive)
    assert (source.auc, source.method) == (pytest.approx(expected), ".632+")


def test_hanley_mcneil_variance_of_plus_632():
    X, positive = design(60, 6)
    model = LogisticRegression().fit(X, positive)
    source = second_source(training_objective(model, X, positive), X, positive)
    n_pos = positive.sum()
    n_neg = 60 - n_pos
    A = (n_pos * source.auc + 0.5) / (n_pos + 1)
    # Newcombe's method 5: both sizes n/2 in the sum of Hanley & McNeil's
    extra = 29 * (A / (2 - A) - A**2 + 2 * A**2 / (1 + A) - A**2)
    expected = (A * (1 - A) + extra) / (n_neg * n_pos)
    assert source.variance == pytest.approx(expected)


@pytest.mark.parametrize("model", [SMOOTH[0], L1[0]], ids=["l2", "l1"])
def test_many_rows_are_left_out_one_at_a_time(model):
    X, positive = design(500, 8)
    fit = training_objective(model.fit(X, positive), X, positive)
    source = second_source(fit, X, positive)
    assert source.method == "leave-one-out"
    scores = np.empty(500)
    some = np.arange(0, 500, 10)  # refits of 50 rows: means agree, scores nearly do
    for i in some:
        keep = np.arange(500) != i
        model.fit(X[keep], positive[keep])
        scores[i] = X[i] @ model.coef_[0]
    exact = roc_auc_score(positive[some], scores[some])
    apparent = roc_auc_score(positive[some], (X @ fit.w)[some])
    assert source.auc == pytest.approx(exact, abs=0.06)
    assert exact <= apparent
    assert source.auc < roc_auc_score(positive, X @ fit.w)


def test_variance_of_leave_one_out_is_delongs():
    X, positive = design(500, 5)
    model = RidgeClassifier(fit_intercept=False).fit(X, positive)
    source = second_source(training_objective(model, X, positive), X, positive)
    inverse = np.linalg.inv(X.T @ X + np.eye(5))
    t = np.where(positive, 1.0, -1.0)
    h = np.einsum("np,pq,nq->n", X, inverse, X)
    score = (X @ (inverse @ X.T @ t) - h * t) / (1 - h)  # Allen's PRESS
    won = score[positive][:, None] > score[~positive]
    # a sample of the pairs; one by one rows are off by .005
    pairs = leave_pair_out(X, positive, training_objective(model, X, positive)).auc
    assert source.auc == pytest.approx(pairs, abs=1e-3)
    parts = (won.mean(axis=k) for k in (0, 1))
    expected = sum(np.var(v, ddof=1) / len(v) for v in parts)
    assert source.variance == pytest.approx(expected, rel=1e-9)


def test_leave_pair_out_where_a_batch_would_cost_too_much(monkeypatch):
    monkeypatch.setattr(_bootstrap_refits, "_WORK", 0.0)
    X, positive = design(30, 50)
    fit = training_objective(SMOOTH[0].fit(X, positive), X, positive)
    expected = leave_pair_out(X, positive, fit)
    source = second_source(fit, X, positive)
    assert source.method == "leave-pair-out"
    assert source.auc == pytest.approx(expected.smooth_auc)
    assert source.variance == pytest.approx(expected.smooth_variance)


@pytest.mark.parametrize(
    ("model", "shape", "method"),
    [
        (LinearDiscriminantAnalysis(), (60, 30), "leave-pair-out"),
        (GaussianAUCClassifier(shrinkage=None), (60, 30), "leave-pair-out"),
        (GaussianAUCClassifier(shrinkage=0.1), (60, 30), ".632+"),
        (RidgeClassifier(alpha=1e-6), (60, 30), "leave-pair-out"),
        (RidgeClassifier(alpha=1e-6), (60, 18), "leave-pair-out"),
        (RidgeClassifier(alpha=1e-6), (60, 36), "leave-pair-out"),
        (RidgeClassifier(alpha=1.0), (60, 30), ".632+"),
        (RidgeClassifier(alpha=1e-6), (60, 17), ".632+"),
        (RidgeClassifier(alpha=1e-6), (60, 37), ".632+"),
        (LogisticRegression(C=1e4, **TIGHT), (60, 20), ".632+"),
    ],
    ids=str,
)
def test_no_bootstrap_where_its_samples_interpolate(model, shape, method):
    X, positive = design(*shape)
    rule = discriminant_objective(model.fit(X, positive), shape)
    fit = training_objective(model, X, positive) if rule is None else rule
    source = second_source(fit, X, positive)
    assert source.method == method
    if method == "leave-pair-out":
        won = []
        for i in np.flatnonzero(positive):
            for j in np.flatnonzero(~positive):
                keep = ~np.isin(np.arange(60), (i, j))
                pair = model.fit(X[keep], positive[keep]).decision_function(X[[i, j]])
                won.append(pair[0] > pair[1])
        # the source takes a win smoothly
        assert source.auc == pytest.approx(np.mean(won), abs=0.015)


def test_what_is_left_to_true_refits(monkeypatch):
    X, positive = design(30, 60)
    weak = LogisticRegression(solver="liblinear", C=1e4, **l1_part(1.0)).fit(
        X, positive
    )
    fit = training_objective(weak, X, positive)
    hinge = replace(fit, loss="hinge", w=np.eye(60)[0])
    assert second_source(hinge, X, positive) is None
    assert at_optimum(hinge, X, positive) is None
    assert second_source(None, X, positive) is None
    bayes = GaussianAUCClassifier(shrinkage="bayes")
    assert second_source(discriminant_objective(bayes, X.shape), X, positive) is None
    assert second_source(fit, X, positive).method == ".632+"
    monkeypatch.setattr(_proximal_refits, "_STEP_PRODUCTS", 1.0)
    assert second_source(fit, X, positive) is None
    monkeypatch.setattr(_bootstrap_refits, "_WORK", 0.0)
    rule = discriminant_objective(GaussianAUCClassifier(shrinkage="auto"), X.shape)
    assert second_source(rule, X, positive) is None


def test_leave_one_out_of_an_l1_fit_needs_few_features(monkeypatch):
    """A tenth of the rows, unless 20 refits cost too much."""
    X, positive = design(500, 300)
    fits = []
    for C in (0.05, 1.0):
        model = LogisticRegression(solver="liblinear", C=C, **l1_part(1.0))
        fits.append(training_objective(model.fit(X, positive), X, positive))
    few, many = (np.count_nonzero(fit.w) for fit in fits)
    assert 0 < few <= 50 < many <= 300
    methods = [second_source(fit, X, positive).method for fit in fits]
    assert methods == ["leave-one-out", ".632+"]
    monkeypatch.setattr(_bootstrap_refits, "_WORK", 0.0)
    assert second_source(fits[1], X, positive).method == "leave-one-out"


def test_a_class_of_one_row_has_none():
    X, positive = design(30, 5)
    fit = training_objective(LogisticRegression().fit(X, positive), X, positive)
    assert second_source(fit, X, np.arange(30) == 3) is None
    weight = np.where(positive & (np.arange(30) > 0), 0.0, 1.0)
    assert second_source(fit, X, positive, weight) is None


@pytest.mark.parametrize("P", [5, 60])
def test_the_bootstrap_depends_on_the_rows_alone(P, rng):
    """Not on their order, their units, copies or weights, nor on the classes' names."""
    X, positive = design(30, P)
    model = LogisticRegression(C=0.5, **TIGHT)

    def source(X, positive, weight=None):
        model.fit(X, positive, sample_weight=weight)
        return second_source(
            training_objective(model, X, positive, weight), X, positive, weight
        )

    base = source(X, positive)
    assert base.method == ".632+"
    order = rng.permutation(30)
    assert source(X[order], positive[order]).auc == pytest.approx(base.auc, rel=1e-9)
    assert source(X, ~positive).auc == pytest.approx(base.auc, rel=1e-9)
    assert source(X + 3.0, positive).auc == pytest.approx(base.auc, rel=1e-9)
    twice = np.arange(30) % 3 == 0
    rows = np.append(np.arange(30), np.flatnonzero(twice))
    copies = source(X[rows], positive[rows])
    assert source(X, positive, 1.0 + twice).auc == pytest.approx(copies.auc, rel=1e-9)
    assert source(X, positive, 1.0 + 0.5 * twice).method == "leave-pair-out"


@pytest.mark.parametrize("shape", [(40, 60), (540, 4)])
def test_rows_without_weight_are_not_there(shape):
    X, positive = design(*shape)
    weight = np.where(np.arange(len(X)) % 9 == 0, 0.0, 1.0)
    on = weight > 0
    model = LogisticRegression(**TIGHT).fit(X, positive, sample_weight=weight)
    fit = training_objective(model, X, positive, weight)
    there = training_objective(model, X[on], positive[on])
    expected = second_source(there, X[on], positive[on])
    assert second_source(fit, X, positive, weight) == expected


def test_weights_count_rows_in_the_bootstrap():
    X, positive = design(40, 6)
    weight = np.arange(40) % 3 + 1.0
    model = LogisticRegression(**TIGHT).fit(X, positive, sample_weight=weight)
    fit = training_objective(model, X, positive, weight)
    expected = definition_632(model, X, positive, weight)
    assert second_source(fit, X, positive, weight).auc == pytest.approx(
        expected, abs=1e-3
    )


def test_separated_samples_are_not_certain():
    X, positive = design(60, 3, gap=30.0)
    source = second_source(
        training_objective(LogisticRegression().fit(X, positive), X, positive),
        X,
        positive,
    )
    assert source.auc == 1
    assert 0.01 < np.sqrt(source.variance) < 0.1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("shape", [(30, 50), (60, 6)])
@pytest.mark.parametrize("model", [*SMOOTH, *L1], ids=str)
def test_optimum_is_where_a_tight_solver_ends(model, shape, form):
    X, positive = design(*shape)
    fit = training_objective(model.fit(X, positive), X, positive)
    intercept = fit.intercept + (fit.intercept_scaling > 0)
    early = replace(fit, w=0.3 * fit.w, intercept=intercept)
    found = at_optimum(early, form(X), positive)
    # the objective is flat: scores are right to the root of what it has left
    np.testing.assert_allclose(
        X @ found.w + found.intercept,
        model.decision_function(X),
        atol=3e-3 * np.std(X @ fit.w),
    )


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("shape", [(100, 20), (60, 400)])
def test_stochastic_gradient_descent_has_a_second_source(loss, shape):
    X, positive = design(*shape)
    model = SGDClassifier(loss=loss, random_state=0).fit(X, positive)
    source = second_source(training_objective(model, X, positive), X, positive)
    assert source.method == ".632+"
    score = model.decision_function(X)
    assert 0.5 <= source.auc < roc_auc_score(positive, score)


def test_many_rows_of_a_discriminant_are_left_out_one_at_a_time():
    X, positive = design(500, 4)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    source = second_source(discriminant_objective(model, X.shape), X, positive)
    assert source.method == "leave-one-out"
    scores = np.empty(500)
    for i in range(500):
        keep = np.arange(500) != i
        scores[i] = model.fit(X[keep], positive[keep]).decision_function(X[[i]])[0]
    # its threshold moves with the row, here as in leave-pair-out: that part is theirs
    assert source.auc == pytest.approx(roc_auc_score(positive, scores), abs=0.01)
    apparent = roc_auc_score(positive, model.fit(X, positive).decision_function(X))
    assert source.auc < apparent


@pytest.mark.parametrize("method", ["leave-one-out", ".632+"])
def test_many_rows_of_a_hinge_are_left_out_of_its_rounded_corner(method, monkeypatch):
    """Unless that is another model: then it is refitted."""
    if method == ".632+":
        monkeypatch.setattr(_second_source, "_SAME_DIRECTION", 1.0)
    X, positive = design(1000, 6)
    model = LinearSVC(loss="hinge", C=0.1, max_iter=100_000).fit(X, positive)
    fit = training_objective(model, X, positive)
    source = second_source(fit, X, positive)
    assert source.method == method
    # ten refits: the mean of their AUCs on what they left out
    each = []
    for k in range(10):
        out = np.arange(1000) % 10 == k
        score = X[out] @ model.fit(X[~out], positive[~out]).coef_[0]
        each.append(roc_auc_score(positive[out], score))
    assert source.auc == pytest.approx(np.mean(each), abs=0.015)


@pytest.mark.parametrize("method", ["leave-pair-out", ".632+"])
def test_a_hinge_with_more_features_than_many_rows(method, monkeypatch):
    """Left out of the rounded corner, unless that is another model."""
    if method == ".632+":
        monkeypatch.setattr(_second_source, "_SAME_DIRECTION", 1.0)
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(500, 520)) / 20, np.arange(500) % 2 == 0
    X[positive, :3] += 0.1
    model = LinearSVC(loss="hinge", C=0.1, max_iter=100_000, random_state=0)
    fit = training_objective(model.fit(X, positive), X, positive)
    source = second_source(fit, X, positive)
    assert source.method == method
    if method == "leave-pair-out":
        each = []
        for k in range(10):  # the mean of the AUCs on what ten refits left out
            out = np.arange(500) // 2 % 10 == k
            score = X[out] @ model.fit(X[~out], positive[~out]).coef_[0]
            each.append(roc_auc_score(positive[out], score))
        assert source.auc == pytest.approx(np.mean(each), abs=0.02)


def words(n, P, told, seed=0):
    """Sparse rows of words in Zipf frequencies, some of which lean to a class."""
    rng = np.random.default_rng(seed)
    positive, usual = np.arange(n) % 2 == 0, 1 / (np.arange(P) + 10.0)
    lean = np.exp(rng.normal(size=P) * (rng.permutation(P) < told))
    X = np.zeros((n, P))
    for rows, share in ((positive, usual * lean), (~positive, usual)):
        X[rows] = rng.multinomial(60, share / share.sum(), size=rows.sum()) > 0
    return sparse.csr_array(X / np.sqrt(X.sum(axis=1, keepdims=True))), positive


@pytest.mark.parametrize(("told", "close"), [(1500, 0.06), (0, 0.09)])
@pytest.mark.parametrize(("ratio", "C"), [(0.1, 10.0), (0.5, 10.0), (0.9, 50.0)])
def test_an_elastic_net_of_far_more_features_than_rows(ratio, C, told, close):
    """Its solver is stopped: the AUC on new rows is that of the rows left out."""
    X, positive = words(1700, 4000, told)
    model = LogisticRegression(solver="saga", C=C, max_iter=20, **l1_part(ratio))
    with pytest.warns(ConvergenceWarning):
        model.fit(X[:200], positive[:200])
    fit = training_objective(model, X[:200], positive[:200])
    assert np.count_nonzero(fit.w) > 200
    optimum = at_optimum(fit, X[:200], positive[:200])
    source = second_source(optimum, X[:200], positive[:200])
    assert source.method == ".632+"
    truth = roc_auc_score(positive[200:], X[200:] @ optimum.w)
    assert truth > 0.7 if told else abs(truth - 0.5) < 0.05
    assert source.auc == pytest.approx(truth, abs=close)
    # the same object, for who asks again
    assert at_optimum(fit, X[:200], positive[:200]) is not optimum
    rows, labels = X[:200], positive[:200]
    assert at_optimum(fit, rows, labels) is at_optimum(fit, rows, labels)


@pytest.mark.parametrize(
    ("n", "l2", "n_samples"), [(200, 0.0, 5), (199, 0.0, 20), (200, 1.0, 20)]
)
def test_samples_of_an_l1_fit_to_fewer_rows_than_features(
    n, l2, n_samples, monkeypatch
):
    X, positive = words(n, 400, 100)
    w = np.ones(400) if l2 else np.eye(400)[0]
    fit = ElasticNetFit("logistic", l2, np.ones(n), w, 0.0, np.inf, l1=0.5)
    asked, refit = [], _bootstrap_refits.refit_elastic_net

    def seen(*question):
        asked.append(question[-1])
        return refit(*question)

    monkeypatch.setattr(_bootstrap_refits, "refit_elastic_net", seen)
    assert second_source(fit, X, positive).method == ".632+"
    (counts,) = asked
    assert counts.shape == (n_samples, n)
    # balanced: every row is left out of two samples
    assert np.all((counts == 0).sum(axis=0) == 2) == (n_samples == 5)


def test_a_hinge_of_many_sparse_rows_needs_no_sharp_optimum(monkeypatch):
    X, positive = words(1500, 4000, 1000)
    X, new, positive, truth = X[:500], X[500:], positive[:500], positive[500:]
    model = LinearSVC(loss="hinge", C=1.0, max_iter=100_000, random_state=0)
    fit = training_objective(model.fit(X, positive), X, positive)
    away = replace(fit, w=fit.w * (1 + 0.1 * np.sin(np.arange(4000))))
    monkeypatch.setattr(
        _optimum, "smooth_optimum", lambda *_: pytest.fail("the sharp one")
    )
    source = source_of_rounded_hinge(away, X, positive)
    at_rest = second_source(fit, X, positive)
    assert source.auc == pytest.approx(at_rest.auc, abs=1e-4)
    assert source.method == "leave-pair-out"
    assert source.auc == pytest.approx(roc_auc_score(truth, new @ fit.w), abs=0.04)
    # the rounded optimum is found once, and is that of the optimum as well
    again = replace(away)
    asked, solve = [], _optimum.optimum_by_products

    def seen(rounded, *question, **more):
        asked.append(rounded.loss.width)
        return solve(rounded, *question, **more)

    monkeypatch.setattr(_optimum, "optimum_by_products", seen)
    source = source_of_rounded_hinge(again, X, positive)
    assert source.auc == pytest.approx(at_rest.auc, abs=1e-4)
    found = second_source(at_optimum(again, X, positive), X, positive)
    assert found.auc == source.auc
    assert asked == [1.0, 0.3]
    # its optimum is that of a narrow corner
    found = at_optimum(away, X, positive)
    assert found.loss == "hinge"
    assert np.corrcoef(X @ found.w, X @ fit.w)[0, 1] > 0.995
    # another direction, fewer rows, another loss
    turned = replace(fit, w=fit.w * (np.arange(4000) % 2))
    assert source_of_rounded_hinge(turned, X, positive) is None
    few = replace(fit, case_weight=fit.case_weight[:499])
    assert source_of_rounded_hinge(few, X[:499], positive[:499]) is None
    assert source_of_rounded_hinge(replace(fit, loss="squared"), X, positive) is None
    sparse_fit = ElasticNetFit("hinge", 1.0, fit.case_weight, fit.w, 0.0, np.inf, 1.0)
    assert source_of_rounded_hinge(sparse_fit, X, positive) is None


def test_scores_that_tie_have_no_variance_of_their_own():
    """What rounding leaves of it would be believed for sure."""
    positive = np.arange(700) % 3 == 0
    variance = np.finfo(float).eps ** 2 / 4
    made = [_source(0.5, v, positive, np.ones(700), "") for v in (variance, 0.0)]
    assert made[0].variance == made[1].variance > 1e-5


def test_classes_of_less_than_one_row_count_as_one():
    """Weights may be relative: Hanley & McNeil's variance of one pair is A(1 − A)."""
    positive = np.arange(6) % 3 == 0
    found = _source(1.0, 0.0, positive, np.full(6, 0.1), "")
    assert found.variance == pytest.approx(0.75 * 0.25)


def test_a_hinge_without_a_direction_has_none():
    """Few positives in a soft margin: at the optimum w is 0, but for rounding."""
    X, positive = design(1000, 6, share=0.2)
    model = LinearSVC(loss="hinge", C=0.1, max_iter=100_000, random_state=0)
    model.fit(X, positive)
    assert np.ptp(model.decision_function(X)) < 1e-6
    assert second_source(training_objective(model, X, positive), X, positive) is None


@pytest.mark.parametrize(
    ("n", "P", "n_rows", "gradient", "kept"),
    [
        (100, 50, None, 0.0099, True),
        (100, 50, None, 0.0101, False),
        (100, 50, 5000, 0.0199, True),  # 2e-4 n/P
        (100, 50, 5000, 0.0201, False),
        (1000, 2, None, 0.099, True),
        (1000, 2, None, 0.101, False),
    ],
)
def test_many_rows_need_no_optimum_to_the_last_digit(n, P, n_rows, gradient, kept):
    X, positive = design(n, P)
    fit = training_objective(LogisticRegression().fit(X, positive), X, positive)
    weight = None if n_rows is None else np.full(n, n_rows / n)
    found = at_optimum(fit, X, positive, gradient, weight=weight)
    assert (found is fit) == kept


def test_refits_of_few_rows_reach_their_end(monkeypatch):
    rng = np.random.default_rng(8)
    positive = rng.random(100) < 0.5
    X = rng.normal(size=(100, 300)) + np.outer(positive, rng.normal(size=300) * 0.07)
    X = X[np.arange(100) // 3]  # three rows each, with labels of their own
    fit = training_objective(
        LogisticRegression(C=1e4, **TIGHT).fit(X, positive), X, positive
    )

    def with_tolerance(tol):
        monkeypatch.setattr(_bootstrap_refits, "FOR_AUC_OF_FEW_ROWS", tol)
        return second_source(fit, X, positive).auc

    found = second_source(fit, X, positive).auc
    end = with_tolerance((1e-12, 1e-11))
    assert found == pytest.approx(end, abs=3e-3)
    assert with_tolerance(FOR_AUC) > end + 0.02  # what stopping early takes


@pytest.mark.parametrize("gradient", [None, 2.0])
def test_samples_start_at_the_optimum(gradient):
    """Of a model that stopped early too, which its gradient tells."""
    X, positive = design(60, 6)
    model = LogisticRegression(**TIGHT).fit(X, positive)
    fit = training_objective(model, X, positive)
    w = 0.3 * fit.w + np.random.default_rng(0).normal(size=6)
    fits = replace(fit, w=w), fit
    early, true = (
        second_source(f, X, positive, n_boot=5, gradient=gradient) for f in fits
    )
    assert early.method == ".632+"
    assert early.auc == pytest.approx(true.auc, abs=1e-3)


@pytest.mark.parametrize(("n", "tol"), [(50, FOR_AUC), (49, FOR_AUC_OF_FEW_ROWS)])
def test_samples_of_five_rows_a_feature_stop_early(n, tol, monkeypatch):
    asked = []
    monkeypatch.setattr(
        _bootstrap_refits, "refit_smooth", lambda *_, tol, **how: asked.append(tol)
    )
    X, positive = design(n, 10)
    fit = training_objective(LogisticRegression().fit(X, positive), X, positive)
    second_source(fit, X, positive)
    assert asked == [tol]


@pytest.mark.parametrize(
    ("objective", "n", "P"),
    [
        # 20 refits of so many steps, each of .63 n P², at most 2e10 products
        (PenalisedFit("logistic", 1.0, 1.0, None, 0.0, np.inf), 1000, 563),  # 5 steps
        (PenalisedFit("hinge", 1.0, 1.0, None, 0.0, np.inf), 1000, 281),  # 20 steps
        (DiscriminantRule(True, 0.1, True), 1000, 2519),  # min²·max of .63 n and P
    ],
    ids=["logistic", "hinge", "discriminant"],
)
def test_what_a_batch_may_cost(objective, n, P):
    for more, cheap in ((0, True), (1, False)):
        X = np.broadcast_to(0.0, (n, P + more))
        assert _bootstrap_refits.is_cheap(objective, X, np.ones(n), 20) == cheap


def test_what_a_batch_in_the_span_of_the_rows_may_cost():
    """5 steps of (.63 n)³/3 products, 20 times; of the hinge little."""
    logistic = PenalisedFit("logistic", 1.0, 1.0, None, 0.0, np.inf)
    for n, cheap in ((1338, True), (1339, False)):
        X = np.broadcast_to(0.0, (n, 3000))
        assert _bootstrap_refits.is_cheap(logistic, X, np.ones(n), 20) == cheap
        hinge = replace(logistic, loss="hinge")
        assert _bootstrap_refits.is_cheap(hinge, X, np.ones(n), 20)


@pytest.mark.parametrize(("active", "suits"), [(336, False), (337, True)])
def test_l1_fits_whose_batch_costs_too_much_are_left_one_out(active, suits):
    """20 refits of 20 steps of .63 · 700 · 336² products are less than 2e10."""
    w = np.arange(690) < active
    fit = ElasticNetFit("logistic", 1.0, 1.0, w.astype(float), 0.0, np.inf, l1=1.0)
    assert suits_leave_one_out(fit, np.broadcast_to(0.0, (700, 690))) == suits


@pytest.mark.parametrize(("active", "suits"), [(481, False), (482, True)])
def test_l1_fits_of_fewer_rows_than_features_have_five_samples(active, suits):
    """5 refits of 20 steps of .63 · 1370 · 481² products are less than 2e10."""
    w = np.arange(3000) < active
    fit = ElasticNetFit("logistic", 0.0, 1.0, w.astype(float), 0.0, np.inf, l1=1.0)
    X = np.broadcast_to(0.0, (1370, 3000))
    assert suits_leave_one_out(fit, X) == suits
    few = replace(fit, w=(np.arange(3000) < 5).astype(float))
    assert not suits_leave_one_out(few, X)
    assert suits_leave_one_out(few, X[:, :1369])
    # an elastic net of more features: 5 refits of 5 steps of (.63 · 2125)³/3
    dense = replace(fit, w=np.ones(3000), l2=1.0)
    for n, cheap in ((2125, True), (2126, False)):
        X = np.broadcast_to(0.0, (n, 3000))
        assert _bootstrap_refits.is_cheap(dense, X, np.ones(n), 20) == cheap


@pytest.mark.parametrize(
    ("n", "P", "suits"),
    [
        *((200, 40, True), (199, 39, False), (200, 41, False), (499, 100, False)),
        *((499, 99, True), (500, 101, True), (300, 90, True), (300, 89, False)),
        *((299, 90, False), (499, 498, True), (499, 499, False)),
    ],
)
def test_which_rows_are_left_out_one_by_one(n, P, suits):
    fit = PenalisedFit("logistic", 1.0, np.ones(n), np.ones(P), 0.0, np.inf)
    X = np.broadcast_to(0.0, (n, P))
    assert suits_leave_one_out(fit, X) == suits
    half = np.broadcast_to(0.0, (n - n // 2, P))  # of weight two
    weight = np.full(len(half), n / len(half))
    assert suits_leave_one_out(fit, half, weight) == suits
    assert suits_leave_one_out(replace(fit, l2=0.0), X) == (n >= 500)


@pytest.mark.parametrize(
    ("n", "P", "n_pos", "method"),
    [
        *((300, 5, 20, "leave-one-out"), (300, 5, 19, ".632+")),
        *((600, 120, 24, "leave-one-out"), (600, 120, 23, ".632+")),
    ],
)
def test_rare_positives_are_not_left_out_one_by_one(n, P, n_pos, method):
    X, positive = np.random.default_rng(0).normal(size=(n, P)), np.arange(n) < n_pos
    model = LogisticRegression(max_iter=1000).fit(X, positive)
    fit = training_objective(model, X, positive)
    assert second_source(fit, X, positive).method == method
    other = training_objective(model.fit(X, ~positive), X, ~positive)
    assert second_source(other, X, ~positive).method == method


def test_a_rare_class_is_left_out_where_there_are_no_refits(monkeypatch):
    X, positive = np.random.default_rng(0).normal(size=(600, 30)), np.arange(600) < 12
    model = LogisticRegression(max_iter=1000).fit(X, positive)
    ridge, rule = (
        training_objective(model, X, positive),
        discriminant_objective(
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5), X.shape
        ),
    )
    assert second_source(ridge, X, positive).method == ".632+"
    assert second_source(rule, X, positive).method == "leave-one-out"
    monkeypatch.setattr(_bootstrap_refits, "_WORK", 0.0)
    assert second_source(ridge, X, positive).method == "leave-one-out"


def test_one_curvature_does_not_stand_for_a_rare_class(monkeypatch):
    """Ten of 1000 rows: a mean over the others had −.29 where leverages are right."""
    X, asked = np.random.default_rng(2).normal(size=(1000, 100)), []
    monkeypatch.setattr(_leave_one_out, "eigenrows", lambda *_: asked.append(1))
    for n_pos, known in ((49, 0), (50, 1)):
        positive = np.arange(1000) < n_pos
        model = LogisticRegression(max_iter=1000).fit(X, positive)
        fit = training_objective(model, X, positive)
        columns = *fit.slopes(X, positive), positive, np.ones(1000)
        assert _leave_one_out._of_one_curvature(fit, X, columns, None) is None
        assert len(asked) == known


def test_how_many_balanced_samples_stand_for_those_that_are_drawn():
    fit = PenalisedFit("logistic", 1.0, np.ones(200), np.ones(300), 0.0, np.inf)
    X, asked = np.broadcast_to(0.0, (200, 300)), _bootstrap_refits._balanced_samples
    assert asked(fit, X, np.ones(200), 20) == 10
    assert asked(fit, X, np.ones(200), 10) == 0
    assert asked(fit, X[:199], np.ones(199), 20) == 0
    assert asked(fit, X[:100], np.full(100, 2.0), 20) == 10
    assert asked(replace(fit, loss="hinge"), X, np.ones(200), 20) == 0


def test_of_few_rows_no_auc_is_below_a_half():
    """As .632+ has it, in whose place leave-one-out is; of many it is what it is."""
    for n, floor in ((499, 0.5), (500, 0.0)):
        rng, found = np.random.default_rng(1), []
        for _ in range(8):
            X, positive = rng.normal(size=(n, 4)), np.arange(n) % 2 > 0
            model = LogisticRegression().fit(X, positive)
            source = second_source(training_objective(model, X, positive), X, positive)
            assert source.method == "leave-one-out"
            assert source.auc >= floor
            found.append(source.auc)
        assert (min(found) == 0.5) == (n < 500)
        assert max(found) > 0.5


@pytest.mark.parametrize(("total", "suits"), [(1338, True), (1339, False)])
def test_rows_with_weights_have_twenty_samples_while_these_are_cheap(total, suits):
    """20 refits of 5 steps of (.63 · 1338)³/3 products are less than 2e10."""
    w = (np.arange(3000) < 133).astype(float)
    fit = ElasticNetFit("logistic", 1.0, 1.0, w, 0.0, np.inf, l1=1.0)
    X, weight = np.broadcast_to(0.0, (130, 3000)), np.full(130, total / 130)
    assert suits_leave_one_out(fit, X, weight) == suits


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_hinge_of_few_or_of_dense_rows_has_its_own_optimum(form, monkeypatch):
    monkeypatch.setattr(
        _optimum, "optimum_by_products", lambda *_: pytest.fail("a narrow one")
    )
    sharp = lambda fit, *_: replace(fit, w=fit.w + 1.0)  # noqa: E731
    monkeypatch.setattr(_optimum, "smooth_optimum", sharp)
    n = 500 if form is np.asarray else 499
    X, positive = form(np.ones((n, 600))), np.arange(n) % 2 == 0
    fit = PenalisedFit("hinge", 1.0, np.ones(n), np.zeros(600), 0.0, np.inf)
    assert np.all(at_optimum(fit, X, positive).w == 1)


def test_an_l1_optimum_keeps_the_case_weights_or_is_not_there(monkeypatch):
    X, positive = design(30, 5)
    c = np.linspace(1, 2, 30)
    fit = ElasticNetFit("logistic", 0.0, c, np.zeros(5), 0.0, np.inf, l1=1.0)
    assert at_optimum(fit, X, positive).case_weight is c
    monkeypatch.setattr(_optimum, "sparse_optimum", lambda *_: None)
    assert at_optimum(replace(fit, l1=2.0), X, positive) is None


def test_refits_for_an_auc_are_close_to_true_ones():
    X, positive = design(60, 100)
    fit = training_objective(LogisticRegression(C=10).fit(X, positive), X, positive)
    counts = bootstrap_counts(positive, 20)
    close = refit_smooth(fit, X, positive, counts)
    soon = refit_smooth(fit, X, positive, counts, tol=FOR_AUC, solved=True)
    np.testing.assert_allclose(soon.full, X @ fit.w + fit.intercept, rtol=1e-6)
    assert soon.full_converged
    assert soon.converged.all()
    one, other = (
        bootstrap_estimate(refits.full, refits.scores, positive, counts)
        for refits in (close, soon)
    )
    assert one == pytest.approx(other, abs=3e-4)


@pytest.mark.parametrize("wide", ["reached", "by factors", "not reached"])
def test_a_narrow_corner_starts_at_the_wide_one(wide, monkeypatch):
    """Which is found by products, or if these fail by factors; else at the fit."""
    n, P = 12, 20
    rng = np.random.default_rng(0)
    X, positive = sparse.csr_array(rng.normal(size=(n, P))), np.arange(n) < 5
    fit = PenalisedFit("hinge", 1.0, np.ones(n), rng.normal(size=P), 0.2, np.inf)
    products = replace(fit, loss=_optimum._ROUNDED, w=np.full(P, 2.0))
    factors = replace(products, w=np.full(P, 3.0))
    starts = {}

    def by_products(start, *_, **__):
        starts[start.loss] = start.w
        if start.loss == _optimum._ROUNDED:
            return products if wide == "reached" else None
        return start

    def by_factors(*_, **__):
        assert wide != "reached"
        return factors if wide == "by factors" else None

    monkeypatch.setattr(_optimum, "MANY_ROWS", 10)
    monkeypatch.setattr(_optimum, "optimum_by_products", by_products)
    monkeypatch.setattr(_optimum, "at_optimum", by_factors)
    found = _optimum._narrow_optimum(fit, X, positive, ask_again)
    begins = {"reached": products, "by factors": factors, "not reached": fit}[wide]
    np.testing.assert_array_equal(starts[_optimum._ROUNDED], fit.w)
    np.testing.assert_array_equal(starts[_optimum._NARROW], begins.w)
    assert found.loss == "hinge"
    np.testing.assert_array_equal(found.w, begins.w)


def test_what_is_remembered_of_weighted_rows_has_their_weights():
    """Though pairs ask for it, not the rows one at a time."""
    X, positive = design(1000, 100)
    weight, kept = np.where(np.arange(1000) % 3, 1.0, 2.5), {}

    def remember(name, compute):
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    fit = PenalisedFit("logistic", 50.0, weight, np.zeros(100), 0.0, np.inf)
    _second_source._leave_pair_out(fit, X, positive, weight, 1.0, remember)
    (rows,) = (kept[name] for name in kept if name[0] == "rows in their eigenbasis")
    np.testing.assert_allclose(rows.mean, weight @ X / weight.sum())


def test_rows_of_weight_two_are_as_wide_as_they_twice(monkeypatch):
    asked = []

    def is_held(fit, X, *_):
        asked.append(len(X))
        return True

    monkeypatch.setattr(_optimum, "is_held", is_held)
    for n, P, weight in ((300, 700, 1.0), (300, 500, 2.0), (300, 700, 2.0)):
        X, positive = design(n, P)
        fit = PenalisedFit("logistic", 1.0, np.ones(n), np.zeros(P), 0.0, np.inf)
        at_optimum(fit, X, positive, 0.0, weight=np.full(n, weight))
    assert asked == [300]


def test_equal_rows_that_rounding_leaves_no_factor_have_another_source():
    """Each with both labels, two far from all others, under hardly a penalty."""
    X, positive = design(260, 600)
    X[5:7] *= 1e3
    X, positive = np.tile(X, (2, 1)), np.append(positive, ~positive)
    model = RidgeClassifier(alpha=1e-12, solver="svd").fit(X, positive)
    fit = training_objective(model, X, positive)
    assert leave_pair_out(X, positive, fit) is None
    found = second_source(fit, X, positive)  # nor need refits arrive
    assert found is None or found.method == ".632+"


@pytest.mark.parametrize("rounding", [0.0, 4.4e-31, 1e-21])
def test_rounding_of_placements_that_tie_is_no_variance(rounding):
    """A factor leaves it, a decomposition does not: the first model said .0027."""
    positive = np.arange(500) < 5
    said = _second_source._source(1.0, rounding, positive, None, "leave-pair-out")
    # five rows of the smaller class: (5 + ½)/6 stands for 1
    A = 5.5 / 6
    Q1, Q2 = A / (2 - A), 2 * A**2 / (1 + A)
    expected = np.mean(
        [
            (A * (1 - A) + (m - 1) * (p - A**2) + (n - 1) * (q - A**2)) / (5 * 495)
            for m, n, p, q in ((5, 495, Q1, Q2), (5, 495, Q2, Q1))
        ]
    )
    assert said.variance == pytest.approx(expected, rel=1e-9)
    small = _second_source._source(1 - 1e-9, 1e-17, positive, None, "leave-pair-out")
    assert small.variance == 1e-17
