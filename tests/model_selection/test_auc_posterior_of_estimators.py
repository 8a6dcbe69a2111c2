"""Score functions and auc_posterior: what the faces add to the formulas below them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    AdaptivePrior,
    AUCPosterior,
    NormalInverseWishart,
    UntrustedAUCWarning,
    auc_posterior,
    bayesian_val_score,
    binormal_auc_score,
    binormal_roc,
    cbauc_score,
    cbauc_scorer,
    ebauc_score,
)

X, Y = make_classification(
    n_samples=90, n_features=5, n_informative=3, weights=[0.6], random_state=3
)
SCORE = X[:, 0] + 2 * Y
MODEL = LogisticRegression().fit(X, Y)
FUNCTIONS = [cbauc_score, ebauc_score, binormal_auc_score]
COVARIANCES = ["common", "spherical", "separate"]


def published_formula(X, y, w, *, nu=0.5):
    """CBAUC of the paper from P×P matrices: m = 0, S = I, κ = P + 2."""
    P, n = X.shape[1], len(y)
    parts = [X[y == c] for c in (0, 1)]
    S = np.eye(P)
    for part in parts:
        centred = part - part.mean(axis=0)
        n_c, mean = len(part), part.mean(axis=0)
        S = S + centred.T @ centred + n_c * nu / (n_c + nu) * np.outer(mean, mean)
    nus = [len(part) + nu for part in parts]
    means = [part.sum(axis=0) / nu_c for part, nu_c in zip(parts, nus, strict=True)]
    D = w @ (means[1] - means[0])
    v, df = sum(1 / nu_c for nu_c in nus), P + 2 + n - P + 1
    return stats.t.cdf(D / np.sqrt((2 + v) * (w @ S @ w) / df), df)


def test_auc_posterior_is_the_published_formula():
    expected = published_formula(X, Y, MODEL.coef_[0])
    mean = auc_posterior(MODEL, X, Y, prior="paper").mean()
    assert mean == pytest.approx(expected, rel=1e-12)


def test_pipeline_prior_speaks_about_the_scaled_features():
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(100 * X, Y)
    Z = pipe[0].transform(100 * X)
    expected = published_formula(Z, Y, pipe[-1].coef_[0])
    assert auc_posterior(pipe, 100 * X, Y, prior="paper").mean() == pytest.approx(
        expected, rel=1e-12
    )


def test_cbauc_score_is_the_formula_with_one_feature():
    expected = published_formula(SCORE[:, None], Y, np.ones(1))
    assert cbauc_score(Y, SCORE, prior="paper") == pytest.approx(expected, rel=1e-12)


def test_one_feature_spherical_is_common():
    values = [cbauc_score(Y, SCORE, prior="paper", covariance=c) for c in COVARIANCES]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert values[0] != values[2]


def test_ebauc_all_is_cbauc_separate():
    assert ebauc_score(Y, SCORE, prior="paper", thresholds="all") == pytest.approx(
        cbauc_score(Y, SCORE, prior="paper", covariance="separate"), rel=1e-12
    )


def test_binormal_auc_against_scipy():
    neg, pos = SCORE[Y == 0], SCORE[Y == 1]
    gap = (pos.mean() - neg.mean()) / np.hypot(pos.std(ddof=1), neg.std(ddof=1))
    assert binormal_auc_score(Y, SCORE) == pytest.approx(stats.norm.cdf(gap), rel=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_swapped_classes(function):
    kwargs = {} if function is binormal_auc_score else {"prior": "paper"}
    one = function(Y, SCORE, **kwargs)
    assert function(Y, SCORE, pos_label=0, **kwargs) == pytest.approx(1 - one, rel=1e-9)
    assert function(1 - Y, SCORE, **kwargs) == pytest.approx(1 - one, rel=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", ["string", "bool", "float", "minus", "list", "pandas"])
def test_labels_of_any_kind(function, kind):
    labels = {
        "string": np.array(["ill" if y else "fine" for y in Y]),
        "bool": Y.astype(bool),
        "float": Y.astype(float),
        "minus": 2 * Y - 1,
        "list": Y.tolist(),
        "pandas": pd.Series(Y).astype("category"),
    }[kind]
    expected = function(Y, SCORE)
    # "fine" < "ill": the larger label is positive
    assert function(labels, SCORE) == pytest.approx(expected, rel=1e-12)
    assert function(labels, pl.Series(SCORE)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_weights_repeat_rows(function):
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    expected = function(np.repeat(Y, weight), np.repeat(SCORE, weight))
    assert function(Y, SCORE, sample_weight=weight) == pytest.approx(
        expected, rel=1e-11
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_posterior_weights_repeat_rows(covariance):
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    a = auc_posterior(MODEL, X, Y, sample_weight=weight, covariance=covariance)
    b = auc_posterior(
        MODEL, np.repeat(X, weight, axis=0), np.repeat(Y, weight), covariance=covariance
    )
    assert a.mean() == pytest.approx(b.mean(), rel=1e-11)
    assert a.interval() == pytest.approx(b.interval(), rel=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize(
    "kind", ["csr", "csc", "coo", "f32", "fortran", "pandas", "polars"]
)
def test_features_of_any_kind(covariance, kind):
    rows = np.where(np.abs(X) < 0.3, 0, X).astype(np.float32)
    model = LogisticRegression().fit(rows, Y)
    expected = auc_posterior(model, rows.astype(float), Y, covariance=covariance)
    if kind in ("pandas", "polars"):
        frame = pd.DataFrame if kind == "pandas" else pl.DataFrame
        given = frame({f"x{i}": column for i, column in enumerate(rows.T)})
        fitted, model = model, LogisticRegression().fit(given, Y)
        model.coef_ = fitted.coef_  # the solver rounds by the memory layout
    else:
        given = {
            "csr": sparse.csr_array,
            "csc": sparse.csc_matrix,
            "coo": sparse.coo_array,
            "f32": np.asarray,
            "fortran": np.asfortranarray,
        }[kind](rows)
    result = auc_posterior(model, given, Y, covariance=covariance)
    assert result.mean() == pytest.approx(expected.mean(), rel=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_read_only_memory_map(covariance, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    result = auc_posterior(MODEL, mapped, Y, covariance=covariance)
    assert result.mean() == auc_posterior(MODEL, X, Y, covariance=covariance).mean()
    np.testing.assert_array_equal(mapped, X)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_order_of_rows_and_scale_of_coefficients(covariance):
    order = np.random.default_rng(0).permutation(len(Y))
    base = auc_posterior(MODEL, X, Y, covariance=covariance).mean()
    shuffled = auc_posterior(MODEL, X[order], Y[order], covariance=covariance).mean()
    assert shuffled == pytest.approx(base, rel=1e-12)
    scaled = LogisticRegression().fit(X, Y)
    scaled.coef_ = scaled.coef_ * 1e-9
    assert auc_posterior(scaled, X, Y, covariance=covariance).mean() == pytest.approx(
        base, rel=1e-12
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_pos_label_gives_the_mirrored_posterior(covariance):
    labels = np.array(["a", "b"])[Y]
    model = LogisticRegression().fit(X, labels)
    base = auc_posterior(model, X, labels, covariance=covariance)
    flipped = auc_posterior(model, X, labels, covariance=covariance, pos_label="a")
    # Both the direction of w and the class that counts as positive turn round.
    assert flipped.mean() == pytest.approx(base.mean(), rel=1e-12)


def test_make_scorer_with_score_functions():
    scorer = make_scorer(
        cbauc_score, response_method="decision_function", prior="paper"
    )
    expected = cbauc_score(Y, MODEL.decision_function(X), prior="paper")
    assert scorer(MODEL, X, Y) == pytest.approx(expected, rel=1e-14)


def test_one_row_in_a_class_is_defined_by_the_prior():
    y = np.zeros(len(Y), dtype=int)
    y[0] = 1
    model = LogisticRegression().fit(X, y)
    for covariance in COVARIANCES:
        posterior = auc_posterior(model, X, y, prior="paper", covariance=covariance)
        assert 0 < posterior.mean() < 1
        assert posterior.std() > 0
    with pytest.raises(ValueError, match="more than 1 row .* got 1; equal_variance"):
        binormal_auc_score(y, SCORE)
    assert 0 < binormal_auc_score(y, SCORE, equal_variance=True) < 1


def test_extreme_scales():
    for unit in (1e-300, 1e-8, 1e200, 1e300):
        auc = binormal_auc_score(Y, SCORE * unit)
        assert auc == pytest.approx(binormal_auc_score(Y, SCORE), rel=1e-12)
    prior = NormalInverseWishart(scale=0.0, nu_neg=0, nu_pos=0)
    base = auc_posterior(MODEL, X, Y, prior=prior).mean()
    for unit in (1e-60, 1e60):
        scaled = LogisticRegression().fit(X, Y)
        scaled.coef_ = MODEL.coef_ / unit
        assert auc_posterior(scaled, X * unit, Y, prior=prior).mean() == pytest.approx(
            base, rel=1e-12
        )


def test_shift_moves_the_paper_prior_but_not_a_flat_one():
    flat = NormalInverseWishart(nu_neg=0, nu_pos=0)
    for prior, same in ((flat, True), ("paper", False)):
        base = auc_posterior(MODEL, X, Y, prior=prior).mean()
        moved = auc_posterior(MODEL, X + 20, Y, prior=prior).mean()
        assert (moved == pytest.approx(base, rel=1e-9)) is same


def test_zero_coefficients_and_equal_scores_warn_and_say_half():
    flat = LogisticRegression().fit(X, Y)
    flat.coef_ = np.zeros_like(flat.coef_)
    with pytest.warns(UndefinedMetricWarning, match="1/2 because the coefficients"):
        posterior = auc_posterior(flat, X, Y)
    assert isinstance(posterior, AUCPosterior)
    assert posterior.mean() == 0.5
    assert posterior.interval() == pytest.approx((0.5, 0.5), abs=1e-12)
    with pytest.warns(UndefinedMetricWarning, match="1/2 because all scores are equal"):
        assert cbauc_score(Y, np.full(len(Y), 3.7)) == 0.5
    with pytest.warns(UndefinedMetricWarning, match="1/2 because all scores are equal"):
        assert ebauc_score(Y, np.full(len(Y), 3.7)) == 0.5
    constant = LogisticRegression().fit(X, Y)
    with pytest.warns(UndefinedMetricWarning, match="1/2 because all scores are equal"):
        assert auc_posterior(constant, np.full_like(X, 0.1), Y).mean() == 0.5


def test_constant_feature_changes_nothing_but_its_own_prior():
    Z = np.column_stack([X, np.full(len(Y), 5.0)])
    model = LogisticRegression().fit(X, Y)
    wide = LogisticRegression().fit(X, Y)
    wide.coef_ = np.column_stack([model.coef_, [0.0]])
    wide.n_features_in_ = 6
    assert auc_posterior(wide, Z, Y).mean() == pytest.approx(
        auc_posterior(model, X, Y).mean(), rel=1e-12
    )


BAD = [
    (
        Y,
        np.where(np.arange(90) == 7, np.nan, SCORE),
        "y_score must be finite, got nan in row 7",
    ),
    (Y, np.where(np.arange(90) == 7, -np.inf, SCORE), "got -inf in row 7"),
    (Y, SCORE[:-1], r"one value for each of the 90 rows of y_true, got shape \(89,\)"),
    (np.ones(90), SCORE, "y_true must hold both classes, got only 1.0"),
    (np.arange(90) % 3, SCORE, "two classes, got 3 classes"),
    (SCORE, SCORE, "y_true must hold class labels, got continuous"),
    ([], [], "y_true must hold both classes, got no rows"),
]


@pytest.mark.parametrize("function", [*FUNCTIONS, binormal_roc])
@pytest.mark.parametrize(("y", "score", "message"), BAD)
def test_bad_input_is_one_sentence(function, y, score, message):
    with pytest.raises(ValueError, match=message):
        function(y, score)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bad_weights_and_labels(function):
    weight = np.ones(90)
    weight[4] = -2
    with pytest.raises(
        ValueError, match=r"sample_weight must be >= 0, got -2.0 in row 4"
    ):
        function(Y, SCORE, sample_weight=weight)
    with pytest.raises(ValueError, match="only zeros in the positive class"):
        function(Y, SCORE, sample_weight=1.0 - Y)
    with pytest.raises(ValueError, match=r"sample_weight .* got shape \(89,\)"):
        function(Y, SCORE, sample_weight=weight[1:])
    with pytest.raises(
        ValueError, match="pos_label must be one of the labels 0, 1, got 7"
    ):
        function(Y, SCORE, pos_label=7)


def test_bad_options():
    with pytest.raises(ValueError, match="prior must be .*, got 'papers'"):
        cbauc_score(Y, SCORE, prior="papers")
    with pytest.raises(ValueError, match="covariance must be one of .* got 'full'"):
        cbauc_score(Y, SCORE, covariance="full")
    with pytest.raises(ValueError, match="thresholds must be one of .* got 5"):
        ebauc_score(Y, SCORE, thresholds=5)


def test_bad_features():
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="X @ coef_ must be finite, got nan in row 3"):
        auc_posterior(MODEL, broken, Y)
    with pytest.raises(ValueError, match="X must have the 5 features .* got 4"):
        auc_posterior(MODEL, X[:, :4], Y)
    with pytest.raises(ValueError, match="X must have the 90 rows of y_true, got 89"):
        auc_posterior(MODEL, X[:-1], Y)
    with pytest.raises(ValueError, match="labels of the fitted model, 0, 1, got 2"):
        auc_posterior(MODEL, X, Y + 1)


def test_bad_priors_meet_data():
    with pytest.raises(ValueError, match="kappa must exceed P - 1 = 4 .* got 4"):
        auc_posterior(MODEL, X, Y, prior=NormalInverseWishart(kappa=4))
    with pytest.raises(ValueError, match=r"scale must match the 5 features .* \(3,\)"):
        auc_posterior(MODEL, X, Y, prior=NormalInverseWishart(scale=np.ones(3)))
    rows = np.r_[np.flatnonzero(Y)[:2], np.flatnonzero(1 - Y)[:2]]
    improper = NormalInverseWishart(scale=0.0, kappa=0.0)
    with pytest.raises(ValueError, match=r"prior is improper .* df = 0 .* 2 \+ 2 rows"):
        auc_posterior(MODEL, X[rows], Y[rows], prior=improper)


class NeverFits(LogisticRegression):
    """Weights are looked at first."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError


def test_bad_weights_are_named_before_the_fit():
    """Which overflowed, and said so."""
    weight = np.ones(len(Y))
    weight[3] = -2
    with pytest.raises(ValueError, match="sample_weight must be >= 0, got -2.0 in row"):
        bayesian_val_score(NeverFits(), X, Y, sample_weight=weight)


def oversampled(n, P):
    """Noise whose few positive rows are repeated until the classes are even."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, P)), np.arange(n) < n // 8
    some = np.concatenate([np.arange(n), rng.integers(0, n // 8, 3 * n // 4)])
    return X[some], y[some]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_copies_of_rows_are_said_to_make_the_auc_too_high(make):
    X, y = oversampled(160, 30)
    X = make(X)
    with pytest.warns(UntrustedAUCWarning, match="% of the rows have a near copy"):
        posterior = auc_posterior(LogisticRegression().fit(X, y), X, y)
    assert posterior.mean() > 0.7
    assert 'class_weight="balanced"' in posterior.warnings[0]
    prior = AdaptivePrior(refits=2)  # which leave out no copies either
    with pytest.warns(UntrustedAUCWarning, match="% of the rows have a near copy"):
        auc_posterior(LogisticRegression().fit(X, y), X, y, prior=prior)


def test_copies_are_said_once_a_search():
    X, y = oversampled(160, 10)
    one, other = (LogisticRegression(C=C).fit(X, y) for C in (0.1, 1.0))
    with pytest.warns(UntrustedAUCWarning, match="near copy"):
        cbauc_scorer(one, X, y)
    cbauc_scorer(other, X, y)  # a warning would be an error


def test_held_out_copies_are_not_looked_for():
    X, y = oversampled(160, 10)
    model = LogisticRegression().fit(X, y)
    assert not auc_posterior(model, X, y, rows="held-out").warnings
