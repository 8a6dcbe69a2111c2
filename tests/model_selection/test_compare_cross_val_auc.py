"""Pipelines compared over shared folds: scikit-learn's example, baycomp, slow twins."""

from itertools import combinations

import interval_oracles as oracles
import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from values import same

from skauc import compare_auc, compare_cross_val_auc, cross_val_auc
from skauc.results import AUCComparison, CrossValAUCComparison, CrossValAUCComparisons

X, Y = make_classification(120, 6, n_informative=3, flip_y=0.3, random_state=4)
CV = StratifiedKFold(5, shuffle=True, random_state=2)
REPEATED = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=1)
MODELS = {
    "logistic": LogisticRegression(),
    "Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),  # with ties
}
TWO = [MODELS["logistic"], MODELS["tree"]]


# ----------------------------------------------------------- scikit-learn's example


@pytest.fixture(scope="module")
def example():
    """The models of scikit-learn's 'Statistical comparison of models'.

    https://scikit-learn.org/stable/auto_examples/model_selection/plot_grid_search_stats.html
    (examples/model_selection/plot_grid_search_stats.py), in the order of their ranks.
    """
    moons, label = make_moons(noise=0.352, random_state=1, n_samples=100)
    models = {
        "rbf": SVC(random_state=0),
        "linear": SVC(kernel="linear", random_state=0),
        "3_poly": SVC(kernel="poly", degree=3, random_state=0),
        "2_poly": SVC(kernel="poly", degree=2, random_state=0),
    }
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    return compare_cross_val_auc(models, moons, label, cv)


def test_example_of_two_models(example):
    pair = example.pairs[0]
    assert pair.names == ("rbf", "linear")
    # "Corrected t-value: 0.750, Corrected p-value: 0.227" (right-tailed)
    assert pair.statistic == pytest.approx(0.750, abs=5e-4)
    assert pair.pvalue / 2 == pytest.approx(0.227, abs=5e-4)
    assert pair.df == 99
    # "Probability of rbf being more accurate than linear: 0.773"
    assert pair.probability(0).better == pytest.approx(0.773, abs=5e-4)
    assert pair.probability(0).worse == pytest.approx(0.227, abs=5e-4)


def test_example_of_credible_intervals(example):
    # "50% … between 0.000977 and 0.019023, … between -0.005422 and 0.025422, and 95%
    # … between -0.016445 and 0.036445"
    said = {
        0.5: (0.000977, 0.019023),
        0.75: (-0.005422, 0.025422),
        0.95: (-0.016445, 0.036445),
    }
    for level, limits in said.items():
        found = example.pairs[0].confidence_interval(level)
        assert found == pytest.approx(limits, abs=1e-6)


def test_example_of_practical_equivalence(example):
    # "'rbf' … has approximately a 6.8% chance of being worse than 'linear', and a 1.8%
    # chance of being worse than '3_poly'", "43% probability of being practically
    # equivalent, while 'rbf' and '3_poly' have a 10% chance", "all models have a 100%
    # probability of being better than '2_poly'"; the region is [-0.01, 0.01]
    linear, cubic = example.pairs[0].probability(0.01), example.pairs[1].probability()
    assert linear.worse == pytest.approx(0.068, abs=5e-4)
    assert cubic.worse == pytest.approx(0.018, abs=5e-4)
    assert linear.equivalent == pytest.approx(0.43, abs=5e-3)
    assert cubic.equivalent == pytest.approx(0.10, abs=5e-3)
    for pair in example.pairs:
        if "2_poly" in pair.names:
            assert pair.names[1] == "2_poly"
            assert pair.probability(0.01).better > 0.9995
    # "the only model that significantly differs from the others is '2_poly'"
    significant = example.adjusted_pvalues < 0.05
    assert significant.tolist() == ["2_poly" in pair.names for pair in example.pairs]


def test_baycomp():
    # baycomp 1.0.3, two_on_single(a, b, rope, runs), which answers
    # (P(a better), P(equivalent), P(b better)); without rope the first and the last
    a = np.array([0.90, 0.85, 0.80, 0.95, 0.88, 0.91, 0.79, 0.86, 0.93, 0.84])
    b = np.array([0.86, 0.86, 0.78, 0.90, 0.87, 0.85, 0.80, 0.84, 0.90, 0.83])
    said = {
        1: (0.8526259024183486, 0.1394808078933557, 0.007893289688295724),
        2: (0.7949956120960116, 0.18166082525105154, 0.02334356265293691),
    }
    better = {1: 0.9640949306626941, 2: 0.9261786976338768}
    rows = AUCComparison(a.mean(), b.mean(), 0.1)
    for runs, expected in said.items():
        pair = CrossValAUCComparison(a, b, 1 / (10 / runs - 1), rows)
        assert pair.probability(0.01) == pytest.approx(expected, rel=1e-10)
        assert pair.probability(0).better == pytest.approx(better[runs], rel=1e-10)
        assert pair.probability(0).equivalent == 0


# ------------------------------------------------------------------- slow twins


def refits(model, cv):
    """Scores of the negatives and of the positives of every fold, and their rows."""
    out = []
    for train, test in cv.split(X, Y):
        fitted = clone(model).fit(X[train], Y[train])
        score = fitted.predict_proba(X[test])[:, 1]
        out.append((score[Y[test] == 0], score[Y[test] == 1], test))
    return out


@pytest.mark.parametrize("cv", [CV, REPEATED])
def test_corrected_t_is_that_of_the_loops(cv):
    a, b = (
        np.array([oracles.psi(neg, pos).mean() for neg, pos, _ in refits(model, cv)])
        for model in TWO
    )
    pair = compare_cross_val_auc(TWO, X, Y, cv)
    np.testing.assert_allclose(pair.folds_a, a, rtol=1e-12)
    np.testing.assert_allclose(pair.folds_b, b, rtol=1e-12)
    J, n_test = len(a), 120 / cv.get_n_splits() * (3 if cv is REPEATED else 1)
    plain = stats.ttest_1samp(a - b, 0)
    shrink = np.sqrt((1 / J) / (1 / J + n_test / (120 - n_test)))
    assert pair.statistic == pytest.approx(plain.statistic * shrink, rel=1e-10)
    expected = 2 * stats.t.sf(abs(plain.statistic * shrink), J - 1)
    assert pair.pvalue == pytest.approx(expected, rel=1e-10)
    posterior = stats.t(J - 1, pair.difference, pair.standard_error)
    assert pair.confidence_interval(0.8) == pytest.approx(posterior.interval(0.8))
    for margin in (0.0, 0.003, 0.03, 0.3):
        found = pair.probability(margin)
        assert found.better == pytest.approx(posterior.sf(margin), rel=1e-9)
        assert found.worse == pytest.approx(posterior.cdf(-margin), rel=1e-9)
        assert sum(found) == pytest.approx(1, rel=1e-14)


def test_influence_of_folds_is_delongs_covariance():
    both = [refits(model, CV) for model in TWO]
    variance = 0.0
    for one, other in zip(*both, strict=True):
        S = oracles.loop_delong([one[0], other[0]], [one[1], other[1]])
        variance += S[0, 0] + S[1, 1] - 2 * S[0, 1]
    pair = compare_cross_val_auc(TWO, X, Y, CV)
    assert pair.influence.standard_error == pytest.approx(
        np.sqrt(variance) / 5, rel=1e-10
    )
    assert pair.influence.difference == pytest.approx(pair.difference, rel=1e-12)
    z = pair.difference / (np.sqrt(variance) / 5)
    assert pair.influence.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


def test_influence_is_averaged_over_repetitions():
    both = [refits(model, REPEATED) for model in TWO]
    rows = np.zeros(120)
    for folds, sign in zip(both, (1, -1), strict=True):
        for neg, pos, test in folds:
            label = Y[test]
            for scores, others, own, order in ((pos, neg, 1, 1), (neg, pos, 0, -1)):
                above = np.sign(order * (scores[:, None] - others)) / 2 + 0.5
                placement = above.mean(axis=1)
                part = placement - placement.mean()
                n = len(scores)  # corrected: 1/(n (n − 1)) for the squares
                rows[test[label == own]] += sign * part / np.sqrt(n * (n - 1)) / 12
    pair = compare_cross_val_auc(TWO, X, Y, REPEATED)
    assert pair.influence.standard_error == pytest.approx(
        np.sqrt((rows**2).sum()), rel=1e-10
    )


def test_each_model_is_that_of_cross_val_auc():
    result = compare_cross_val_auc(MODELS, X, Y, REPEATED)
    for k, model in enumerate(MODELS.values()):
        alone = cross_val_auc(model, X, Y, REPEATED)
        assert result.auc[k] == pytest.approx(alone.auc, rel=1e-12)
        variance = result.influence.covariance[k, k]
        # influence covers the test rows only
        assert 2 * variance == pytest.approx(alone.standard_error**2, rel=1e-12)


def test_one_test_set_of_two_folds_is_compare_auc():
    # two folds with the same test rows and models that hardly change: DeLong's test
    twice = [(np.arange(60), np.arange(60, 120))] * 2
    pair = compare_cross_val_auc(TWO, X, Y, twice)
    a, b = (model.fit(X[:60], Y[:60]).predict_proba(X[60:])[:, 1] for model in TWO)
    expected = compare_auc(Y[60:], a, b)
    assert pair.influence.standard_error == pytest.approx(expected.standard_error)
    assert pair.influence.pvalue == pytest.approx(expected.pvalue)
    assert pair.standard_error == pair.influence.standard_error  # equal folds


# -------------------------------------------------------------------- three or more


def test_pairs_are_those_of_two_models():
    result = compare_cross_val_auc(MODELS, X, Y, CV, rope=0.02)
    assert isinstance(result, CrossValAUCComparisons)
    assert result.names == tuple(MODELS)
    assert result.pairs[0].probability() == result.pairs[0].probability(0.02)
    assert result.pairs[0].probability() != result.pairs[0].probability(0.01)
    for pair, (a, b) in zip(result.pairs, combinations(MODELS, 2), strict=True):
        two = {a: MODELS[a], b: MODELS[b]}
        assert same(pair, compare_cross_val_auc(two, X, Y, CV, rope=0.02))
    p = np.array([pair.pvalue for pair in result.pairs])
    adjusted = result.adjusted_pvalues
    assert adjusted.min() == pytest.approx(min(3 * p.min(), 1))
    assert adjusted.max() == pytest.approx(max(p.max(), min(2 * np.sort(p)[1], 1)))
    influences = tuple(pair.influence for pair in result.pairs)
    assert same(result.influence.pairs, influences)
    S, A = result.influence.covariance, result.auc
    L = np.array([[1, -1, 0], [0, 1, -1]])
    chi2 = L @ A @ np.linalg.solve(L @ S @ L.T, L @ A)
    assert result.influence.statistic == pytest.approx(chi2, rel=1e-8)


def test_frame_and_text():
    result = compare_cross_val_auc(MODELS, X, Y, CV)
    frame = result.to_frame()
    assert list(frame.index) == ["logistic - Bayes", "logistic - tree", "Bayes - tree"]
    assert frame["adjusted_pvalue"].to_numpy() == pytest.approx(result.adjusted_pvalues)
    shares = frame[["better", "equivalent", "worse"]].sum(axis=1)
    assert shares.to_numpy() == pytest.approx(1)
    assert repr(result.pairs[1]).startswith("CrossValAUCComparison(pair=logistic - tr")


# ------------------------------------------------------------------------- laws


def test_folds_are_shared_without_a_seed():
    shuffled = StratifiedKFold(4, shuffle=True)  # other folds at every call of split
    pair = compare_cross_val_auc([LogisticRegression()] * 2, X, Y, shuffled)
    assert not pair.differences.any()
    assert (pair.statistic, pair.pvalue) == (0, 1)
    assert pair.probability(0) == (0, 1, 0)
    assert pair.confidence_interval() == (0, 0)


def test_order_labels_and_sides():
    ab = compare_cross_val_auc(TWO, X, Y, CV)
    ba = compare_cross_val_auc(TWO[::-1], X, Y, CV)
    assert ba.difference == pytest.approx(-ab.difference)
    assert ba.probability()[::-1] == pytest.approx(ab.probability())
    words = np.where(Y == 1, "yes", "no")
    for pos_label in ("yes", "no"):
        named = compare_cross_val_auc(TWO, X, words, CV, pos_label=pos_label)
        np.testing.assert_allclose(named.differences, ab.differences, atol=1e-15)
    up, down = (
        compare_cross_val_auc(TWO, X, Y, CV, alternative=side)
        for side in ("greater", "less")
    )
    assert up.pvalue + down.pvalue == pytest.approx(1)
    assert up.influence.pvalue + down.influence.pvalue == pytest.approx(1)
    assert ab.pvalue == pytest.approx(2 * min(up.pvalue, down.pvalue))
    assert up.confidence_interval(0.9).low == ab.confidence_interval(0.8).low
    assert up.confidence_interval(0.9).high == 1


def test_any_classifier_frames_and_names_by_place():
    pd = pytest.importorskip("pandas")
    models = [
        make_pipeline(StandardScaler(), SVC()),
        RandomForestClassifier(5, random_state=0),
        Ridge(),
    ]
    result = compare_cross_val_auc(models, pd.DataFrame(X), Y.tolist(), 3)
    assert result.names == ("0", "1", "2")
    assert result.influence.df == 2


def test_groups_stay_together():
    groups = np.arange(120) // 4
    pair = compare_cross_val_auc(TWO, X, Y, GroupKFold(4), groups=groups)
    assert len(pair.differences) == 4
    folds = list(GroupKFold(4).split(X, Y, groups))
    independent = compare_cross_val_auc(TWO, X, Y, folds)
    # pairs within a group are not compared, one in 15
    np.testing.assert_allclose(pair.differences, independent.differences, atol=0.05)
    alone = compare_cross_val_auc(TWO, X, Y, folds, groups=np.arange(120)[::-1])
    np.testing.assert_array_equal(alone.differences, independent.differences)
    errors = [one.influence.standard_error for one in (pair, independent, alone)]
    assert errors[0] != errors[1] == errors[2]


def test_sizes_of_folds_enter_as_totals():
    cv = ShuffleSplit(6, test_size=0.4, random_state=3)
    assert compare_cross_val_auc(TWO, X, Y, cv).test_train_ratio == 48 / 72
    uneven = StratifiedKFold(7)
    ratio = compare_cross_val_auc(TWO, X, Y, uneven).test_train_ratio
    assert ratio == pytest.approx(1 / 6, rel=1e-14)


def column(k):
    """A model that reads one feature; its direction is all that a fit learns."""
    take = FunctionTransformer(np.take, kw_args={"indices": [k], "axis": 1})
    return make_pipeline(take, LinearDiscriminantAnalysis())


def test_where_the_folds_do_not_vary():
    # perfect against constant: every d_j is ½ and every placement the same
    rng = np.random.default_rng(0)
    perfect = np.c_[Y + 0.3 * rng.random(120), Y + 0.3 * rng.random(120)]
    constant = DummyClassifier()
    pair = compare_cross_val_auc([column(0), constant], perfect, Y, CV)
    smaller = min(Y.sum(), 120 - Y.sum())
    assert set(pair.differences) == {0.5}
    assert pair.standard_error == pytest.approx(1 / np.sqrt(smaller))
    assert 0 < pair.pvalue < 0.05
    # two perfect models that rank the rows otherwise: no certainty of being equal
    pair = compare_cross_val_auc([column(0), column(1)], perfect, Y, CV)
    assert pair.difference == 0
    assert pair.pvalue == 1
    assert 0 < pair.probability(0.01).equivalent < 0.2


def test_probabilities_keep_their_digits():
    a, b = np.array([0.9, 0.9 + 1e-6, 0.9 - 1e-6]), np.full(3, 0.4)
    rows = AUCComparison(0.9, 0.4, 0.1)
    pair = CrossValAUCComparison(a, b, 0.5, rows)
    found = pair.probability(0.01)
    posterior = stats.t(2, pair.difference, pair.standard_error)
    assert found.worse == pytest.approx(posterior.cdf(-0.01), rel=1e-9)
    # by the tails: P(|Δ| ≤ .01) = P(Δ ≤ .01) − P(Δ < −.01), here about 1e-12
    near, far = posterior.cdf(0.01), posterior.cdf(-0.01)
    assert found.equivalent == pytest.approx(near - far, rel=1e-9)
    assert found.equivalent > 0


# ------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimators": [SVC()]}, "estimators must be two or more, got 1"),
        ({"estimators": {}}, "estimators must be two or more, got 0"),
        ({"estimators": SVC()}, r"estimators must be a list or a dict, got SVC\(\)"),
        ({"estimators": [SVC(), "b"]}, "estimators must have a fit method, got 'b'"),
        ({"estimators": [SVC(), SVC]}, "estimators must have a fit method, got <class"),
        ({"cv": ShuffleSplit(1)}, "cv must make at least two folds, got 1"),
        ({"cv": 40}, "cv must put 2 or more rows of each class .* got 1"),
        ({"rope": 1}, r"rope must lie in \[0, 1\), got 1"),
        ({"alternative": "more"}, "alternative must be one of .* got 'more'"),
        (
            {"estimators": MODELS, "alternative": "less"},
            "must be 'two-sided' for more than two estimators, got 'less'",
        ),
        ({"y": np.ones(120)}, r"y_true must hold both classes, got only 1\.0"),
        ({"y": np.arange(120) % 3}, "must hold two classes, got 3 classes"),
        ({"pos_label": 2}, r"pos_label must be one of the labels 0, 1, got 2"),
    ],
)
def test_errors(change, message):
    call = {"estimators": TWO, "X": X, "y": Y, "cv": 3, **change}
    with pytest.raises(ValueError, match=message):
        compare_cross_val_auc(**call)


def test_folds_of_one_class():
    order = np.argsort(Y, kind="stable")
    halves = [(order[30:], order[:30]), (order[:90], order[90:])]
    with pytest.raises(ValueError, match="2 or more rows of each class .* got 0"):
        compare_cross_val_auc(TWO, X, Y, halves)
    negative = [(order[:30], order[30:]), (order[30:], order[:30])]
    with pytest.raises(ValueError, match="both classes in every training fold"):
        compare_cross_val_auc([GaussianNB(), TWO[1]], X, Y, negative)


def test_an_estimator_without_a_score():
    with pytest.raises(TypeError, match="must have decision_function.* StandardScaler"):
        compare_cross_val_auc([SVC(), StandardScaler()], X, Y)
    # names of classes and of clusters rank no rows
    hard = VotingClassifier([("svc", SVC())])
    for model in (hard, make_pipeline(KMeans(2))):
        with pytest.raises(TypeError, match="or be a regressor, got (Vot|Pipe)"):
            compare_cross_val_auc([SVC(), model], X, Y)


def test_errors_of_its_questions():
    folds, rows = np.array([[0.9, 0.8], [0.8, 0.8]]), AUCComparison(0.85, 0.8, 0.1)
    pair = CrossValAUCComparison(*folds, 0.25, rows)
    with pytest.raises(ValueError, match=r"margin must lie in \[0, 1\), got 1.5"):
        pair.probability(1.5)
    with pytest.raises(ValueError, match=r"confidence_level must lie in .* got 95"):
        pair.confidence_interval(95)


def test_folds_that_all_say_the_same_leave_no_doubt():
    rows = AUCComparison(0.8, 0.7, 0.0)
    for gap, margin, sure in (
        (0.125, 0.0625, (1, 0, 0)),
        (0.125, 0.25, (0, 1, 0)),
        (-0.125, 0.25, (0, 1, 0)),
        (-0.125, 0.0625, (0, 0, 1)),
    ):
        folds = np.full(5, 0.5)
        pair = CrossValAUCComparison(folds + gap, folds, 0.25, rows)
        assert pair.probability(margin) == sure
