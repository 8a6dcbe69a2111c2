"""Weights mean one thing in every function: counts of rows, or one warning.

A table of calls is asked with every kind of weights. Rows of weight 0 hold NaN.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression

import skauc
from skauc import (
    GaussianAUCClassifier,
    IRLSLogisticRegression,
    RowBlocks,
    SampleWeightWarning,
)

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 5 // 3
X = RNG.normal(size=(N, 3)) + np.outer(Y, [1.0, 0.5, 0.0])
SCORE, OTHER = X[:, 0] + 0.3 * RNG.normal(size=N), X[:, 1] + 0.1 * RNG.normal(size=N)
PROB = 1 / (1 + np.exp(0.5 - SCORE))
LOGNORMAL = np.exp(0.7 * RNG.normal(size=N))
COUNTS = {
    "counts": RNG.integers(1, 4, N) * 1.0,
    "integer sampling weights": RNG.choice([1.0, 2.0, 5.0], N),
    "rows of weight 0": np.where(np.arange(N) % 10 == 0, 0.0, 1.0),
}
RELATIVE = {  # no counts; those of the first four are the same up to a factor
    "lognormal": LOGNORMAL,
    "sum n": LOGNORMAL / LOGNORMAL.mean(),
    "sum 1": LOGNORMAL / LOGNORMAL.sum(),
    "population totals": 1e5 * LOGNORMAL,
    "whole totals": np.round(1e5 * LOGNORMAL),
    "1e8": np.full(N, 1e8),
    "fractions, 0": np.where(np.arange(N) % 10 == 0, 0.0, 0.5),
}
KINDS = COUNTS | RELATIVE


def of_rows(values, w):
    """Return a copy with NaN in the rows of weight 0."""
    return np.where(w > 0, values.T, np.nan).T


def estimate(w, **options):
    how = {"sample_weight": w, **options}
    return skauc.auc_estimate(Y, of_rows(SCORE, w), **how)


def interval(method, **options):
    return lambda w: estimate(w).confidence_interval(method=method, **options)


def compared(**options):
    def call(w):
        score = of_rows(SCORE, w)
        return skauc.compare_auc(Y, score, OTHER, sample_weight=w, **options).pvalue

    return call


def one_vs_rest(w):
    P = np.column_stack([1 - PROB, PROB, PROB**2])
    y = np.where(OTHER > np.quantile(OTHER, 0.7), 2, Y)
    result = skauc.one_vs_rest_auc(y, P, sample_weight=w)
    return *result.standard_error(), *result.average().confidence_interval()


def points(name, **rule):
    def call(w):
        found = skauc.operating_points(Y, of_rows(SCORE, w), sample_weight=w, **rule)
        return np.ravel(found.confidence_interval(name=name))

    return call


def band(w):
    roc = skauc.empirical_roc(Y, of_rows(SCORE, w), sample_weight=w)
    return roc.band(n_resamples=50).high[::50]


def calibration(w):
    prob = of_rows(PROB, w)
    return skauc.calibration_estimate(Y, prob, sample_weight=w).standard_error


def hosmer_lemeshow(w):
    prob = of_rows(PROB, w)
    return skauc.hosmer_lemeshow(Y, prob, n_groups=5, sample_weight=w).pvalue


def of_score(name):
    return lambda w: getattr(skauc, name)(Y, of_rows(SCORE, w), sample_weight=w)


def logistic(w):
    return LogisticRegression().fit(X[w > 0], Y[w > 0], w[w > 0])


def posterior(**question):
    def call(w):
        question.setdefault("rows", "training")
        given = logistic(w), of_rows(X, w), Y
        return skauc.auc_posterior(*given, sample_weight=w, **question).interval()

    return call


def posterior_in_blocks(w):
    blocks = RowBlocks.from_arrays(of_rows(X, w), Y, w, n_rows=20)
    return skauc.auc_posterior(logistic(w), blocks, rows="training").interval()


def scorer(name):
    return lambda w: getattr(skauc, name)(
        logistic(w), of_rows(X, w), Y, sample_weight=w
    )


def difference(w):
    ridge = LogisticRegression(C=0.01).fit(X[w > 0], Y[w > 0], w[w > 0])
    given = logistic(w), ridge, of_rows(X, w), Y
    return skauc.auc_difference_posterior(*given, sample_weight=w).interval()


def irls(w, **options):
    return IRLSLogisticRegression(**options).fit(of_rows(X, w), Y, w)


def again(w):
    return {"X": of_rows(X, w), "y": Y, "sample_weight": w}


def in_blocks(w):
    return RowBlocks.from_arrays(of_rows(X, w), Y, w, n_rows=20)


def estimate_in_blocks(w):
    parts = [(of_rows(SCORE, w)[k::2], Y[k::2], w[k::2]) for k in (0, 1)]
    return skauc.auc_estimate(RowBlocks(parts)).confidence_interval()


COUNT_ROWS = {  # calls whose answer depends on the number of rows
    "score": interval("score"),
    "delong": interval("delong"),
    "standard error": lambda w: estimate(w).standard_error(),
    "partial area": lambda w: (
        estimate(w).partial_auc(fpr=(0, 0.3)).confidence_interval()
    ),
    "estimate in blocks": estimate_in_blocks,
    "compare_auc": compared(),
    "compare_auc, permutation": compared(method="permutation", n_resamples=200),
    "one_vs_rest_auc": one_vs_rest,
    "operating_points": points("sensitivity", threshold=0.5),
    "best point": points("specificity", best="youden"),
    "band": band,
    "calibration_estimate": calibration,
    "hosmer_lemeshow": hosmer_lemeshow,
    "cbauc_score": of_score("cbauc_score"),
    "ebauc_score": of_score("ebauc_score"),
    "auc_posterior": posterior(),
    "held-out rows": posterior(rows="held-out"),
    "published prior": posterior(prior="paper"),
    "posterior in blocks": posterior_in_blocks,
    "bayesian_val_score": lambda w: skauc.bayesian_val_score(
        LogisticRegression(), X, Y, sample_weight=w
    ).interval(),
    "auc_difference_posterior": difference,
    "cbauc_scorer": scorer("cbauc_scorer"),
    "ebauc_scorer": scorer("ebauc_scorer"),
    "bee_scorer": scorer("bee_scorer"),
    "summary": lambda w: irls(w).summary().standard_error,
    "summary in blocks": lambda w: (
        IRLSLogisticRegression().fit(in_blocks(w)).summary().standard_error
    ),
    "profile": lambda w: irls(w).summary(method="profile", **again(w)).low,
    "wald_test": lambda w: irls(w).wald_test([0, 1, 0, 0]).pvalue,
    "aic_": lambda w: irls(w).aic_,
    "firth": lambda w: irls(w, penalty="firth").summary().standard_error,
}


def robust(covariance, **options):
    def call(w):
        groups = {"groups": np.arange(N)} if covariance == "cluster" else {}
        given = again(w) | groups | {"covariance": covariance}
        return irls(w, **options).summary(**given).standard_error

    return call


RATIOS = {  # calls whose answer depends on the ratios of the weights only
    "auc": lambda w: estimate(w).auc,
    "clusters": lambda w: estimate(w, groups=np.arange(N)).confidence_interval(),
    "compare clusters": compared(groups=np.arange(N)),
    "HC0": robust("HC0"),
    "HC1": robust("HC1"),
    "cluster": robust("cluster"),
    "class_weight": lambda w: irls(w, class_weight="balanced").summary().standard_error,
    "coefficients": lambda w: irls(w).coef_[0],
    "coefficients in blocks": lambda w: (
        IRLSLogisticRegression().fit(in_blocks(w)).coef_[0]
    ),
}
ANY = {  # calls that take all weights in silence, and use their scale
    "C": lambda w: irls(w, C=1.0).coef_[0],
    "Gaussian": lambda w: GaussianAUCClassifier().fit(of_rows(X, w), Y, w).coef_[0],
    "Gaussian in blocks": lambda w: GaussianAUCClassifier().fit(in_blocks(w)).coef_[0],
    "prior": lambda w: (
        GaussianAUCClassifier(shrinkage=0.3, threshold="prior")
        .fit(of_rows(X, w), Y, w)
        .intercept_
    ),
    "lpo_auc_scorer": scorer("lpo_auc_scorer"),
    "bootstrap_auc": lambda w: skauc.bootstrap_auc(
        LogisticRegression(), of_rows(X, w), Y, sample_weight=w, n_resamples=5
    ).confidence_interval(),
}


def asked(call, w):
    """Numbers of a call, and the messages of its warnings about weights."""
    skauc.clear_cache()
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        numbers = np.ravel(call(w)).astype(float)
    about = [w for w in issued if issubclass(w.category, SampleWeightWarning)]
    others = {w.category.__name__ for w in issued} - {"SampleWeightWarning"}
    assert others <= {"UntrustedAUCWarning"}, others
    assert {w.filename for w in about} <= {__file__}
    return numbers, {str(w.message) for w in about}


FAST = [*COUNTS, "lognormal", "sum 1", "1e8", "fractions, 0"]
SLOW = [pytest.param(k, marks=pytest.mark.slow) for k in KINDS if k not in FAST]


@pytest.mark.parametrize("kind", [*FAST, *SLOW])
def test_every_function_gives_the_same_answer_to_a_kind_of_weights(kind):
    texts = set()
    for name, call in (COUNT_ROWS | RATIOS | ANY).items():
        numbers, said = asked(call, KINDS[kind])
        assert np.isfinite(numbers).all(), name
        assert bool(said) == (kind in RELATIVE and name in COUNT_ROWS), name
        texts |= said
    assert len(texts) <= 1
    for text in texts:
        assert "groups=np.arange(n)" in text
        assert "covariance='HC0'" in text


def test_rows_of_weight_0_are_as_rows_that_are_not_there():
    w = KINDS["rows of weight 0"]
    kept, rows = w > 0, globals()
    whole = {name: asked(call, w)[0] for name, call in TAKEN_OUT.items()}
    before = {name: rows[name] for name in ("X", "Y", "SCORE", "OTHER", "PROB", "N")}
    try:
        rows.update({k: v[kept] for k, v in before.items() if k != "N"}, N=kept.sum())
        for name, call in TAKEN_OUT.items():
            numbers, _ = asked(call, np.ones(N))
            assert whole[name] == pytest.approx(numbers, rel=1e-6, abs=1e-9), name
    finally:
        rows.update(before)


WITH_ROWS = {"clusters", "compare clusters", "cluster"}  # they hold N groups
TAKEN_OUT = {
    name: call
    for name, call in (COUNT_ROWS | RATIOS | ANY).items()
    if name not in WITH_ROWS
}


@pytest.mark.parametrize("name", RATIOS)
def test_robust_errors_do_not_depend_on_the_scale_of_weights(name):
    first, *others = (RATIOS[name](RELATIVE[kind]) for kind in list(RELATIVE)[:4])
    for other in others:
        assert other == pytest.approx(first, rel=1e-8)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "cluster"])
@pytest.mark.parametrize("scale", [1.0, 1000.0, 1 / LOGNORMAL.sum()])
def test_robust_errors_are_those_of_statsmodels(kind, scale):
    api = pytest.importorskip("statsmodels.api")
    how = {"cov_type": kind}
    if kind == "cluster":
        how["cov_kwds"] = {"groups": np.arange(N)}
    design, family = api.add_constant(X), api.families.Binomial()
    # variance weights: a row is one observation, whatever its weight
    model = api.GLM(Y, design, family=family, var_weights=LOGNORMAL)
    with warnings.catch_warnings():  # "not fully supported", which is of other types
        warnings.filterwarnings("ignore", "cov_type not fully supported")
        expected = model.fit(tol=1e-12, **how).bse
    if kind == "HC1":  # its GLM leaves out the factor n/(n - k)
        expected = expected * np.sqrt(N / (N - 4))
    found = robust(kind)(LOGNORMAL * scale)
    assert found == pytest.approx(expected, rel=1e-6)


def test_relative_weights_are_worth_their_effective_number_of_rows():
    """Weights below that number are raised to it; those of 1/2 are rows."""
    for name in ("score", "calibration_estimate", "cbauc_score", "summary", "profile"):
        call = COUNT_ROWS[name]
        expected, _ = asked(call, np.ones(N))
        assert asked(call, np.full(N, 0.5))[0] == pytest.approx(expected, rel=1e-9)
    error = estimate(LOGNORMAL, groups=np.arange(N)).standard_error()
    with pytest.warns(SampleWeightWarning):
        raised = estimate(LOGNORMAL / LOGNORMAL.sum()).standard_error("delong")
    assert raised == pytest.approx(error, rel=0.25)
    with pytest.warns(SampleWeightWarning):
        assert estimate(1e5 * LOGNORMAL).standard_error("delong") < error / 100


def test_posterior_of_relative_weights_keeps_the_objective_of_the_fit():
    """Equal weights of 1/4 are a fit to N rows with C/4."""
    w, options = np.full(N, 0.25), {"tol": 1e-10, "max_iter": 10_000}
    model = LogisticRegression(C=0.1, **options).fit(X, Y, w)
    with pytest.warns(SampleWeightWarning):
        found = skauc.auc_posterior(model, X, Y, sample_weight=w)
    plain = LogisticRegression(C=0.025, **options).fit(X, Y)
    expected = skauc.auc_posterior(plain, X, Y)
    assert found.rows == expected.rows == "training (detected)"
    assert found.leave_pair_out == pytest.approx(expected.leave_pair_out, abs=1e-9)
    assert found.interval() == pytest.approx(expected.interval(), abs=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        GaussianAUCClassifier(),
        GaussianAUCClassifier(shrinkage="auto", threshold="prior"),
        IRLSLogisticRegression(C=1.0),
        IRLSLogisticRegression(),
    ],
    ids=str,
)
def test_boosting_fits(model):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(200, 3))
    y = (rows[:, 0] + rng.normal(size=200) > 0).astype(int)
    boosted = AdaBoostClassifier(model, n_estimators=10, random_state=0).fit(rows, y)
    assert boosted.score(rows, y) > 0.6


@cache
def coverage(kind, name):
    """Share of 95 % intervals for the slope of a feature without effect."""
    rng, covered = np.random.default_rng(7), 0
    for _ in range(400):
        rows = rng.normal(size=(300, 2))
        y = (rng.random(300) < 1 / (1 + np.exp(-rows[:, 0]))).astype(int)
        w = np.exp(0.7 * rng.normal(size=300)) * {"sum n": 0.8, "totals": 1e5}[kind]
        model = IRLSLogisticRegression().fit(rows, y, w)
        given = {} if name == "model" else {"X": rows, "y": y, "sample_weight": w}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SampleWeightWarning)
            low, high = model.confidence_interval(covariance=name, **given)
        covered += low[2] <= 0 <= high[2]
    return covered / 400


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HC0", "HC1"])
def test_intervals_of_population_totals_cover(name):
    assert coverage("totals", "model") < 0.05
    assert 0.92 < coverage("totals", name) < 0.98
