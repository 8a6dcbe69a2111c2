"""Separation against linear programs, and coefficients that are not estimable."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from skauc import IRLSLogisticRegression, RowBlocks

pytestmark = pytest.mark.filterwarnings("ignore:The classes show")
DEPENDENT = pytest.mark.filterwarnings("ignore:The features are linearly dependent")


def separation(X, y, weight=None, fit_intercept=True):
    """Konis' linear programs over all pairs of a row and another class."""
    if weight is not None:
        X, y = X[weight > 0], y[weight > 0]
    K = y.max() + 1
    design = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    pairs = []
    for x, own in zip(design, y, strict=True):
        for other in set(range(K)) - {own}:
            z = np.zeros((K, len(x)))
            z[own], z[other] = x, -x
            pairs.append(z.ravel())
    Z = np.unique(pairs, axis=0)
    found = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1))
    if -found.fun <= 1e-6:
        return None
    every_margin = linprog(
        0 * Z[0], A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None)
    )
    return "complete" if every_margin.status == 0 else "quasi-complete"


def table(rng):
    """Factors, counts or rounded numbers of two to five classes, many empty cells."""
    K, n = rng.integers(2, 6), rng.integers(12, 70)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    kind = rng.integers(4)
    if kind == 0:
        X = rng.integers(0, rng.integers(2, 5), (n, rng.integers(1, 4)))
    elif kind == 1:
        levels = rng.integers(0, rng.integers(2, 5, 2), (n, 2))
        dummies = [levels[:, [j]] == np.arange(1, 4) for j in range(2)]
        X = np.column_stack([*dummies, (10 * rng.normal(size=n)).round() + 40])
    elif kind == 2:
        X = rng.random((n, rng.integers(1, 6))) < rng.uniform(0.05, 0.3)
    else:
        X = rng.normal(size=(n, 2)) + rng.uniform() * y[:, None]
    X = X[:, np.ptp(X.astype(float), axis=0) > 0].astype(float)
    return (X if X.shape[1] else rng.normal(size=(n, 1))), y


def found(X, y, weight=None, **params):
    model = IRLSLogisticRegression(**params).fit(X, y, weight)
    assert model.converged_ == (model.separation_ is None)
    assert np.isfinite(model.coef_).all()
    return model.separation_


# Linear programs ----------------------------------------------------------------------


@DEPENDENT
@pytest.mark.parametrize(
    "seeds", [range(25), pytest.param(range(25, 400), marks=pytest.mark.slow)]
)
def test_separation_is_that_of_linear_programs(seeds):
    wrong, separated = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, y = table(rng)
        expected = separation(X, y)
        separated.append(expected)
        order, units = rng.permutation(len(y)), 10.0 ** rng.integers(-6, 7, X.shape[1])
        answers = {
            "plain": found(X, y),
            "order": found(X[order], y[order]),
            "units": found(X * units + rng.choice([0.0, 1e3]), y),
            "blocks": found(RowBlocks.from_arrays(X, y, n_rows=9), None),
            "sparse": found(sparse.csr_array(X), y),
            "classes": found(X, y, class_weight="balanced"),
            "sum": found(np.column_stack([X, X.sum(axis=1)]), y),
        }
        wrong += [(seed, k, expected) for k, v in answers.items() if v != expected]
    assert not wrong
    assert 0.3 < separated.count(None) / len(seeds) < 0.9


def test_few_rows_of_two_classes():
    kinds = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 8 + seed % 7
        X, y = rng.normal(size=(n, 2)), (rng.random(n) < 0.5).astype(int)
        X, y[:2] = (X if seed % 3 else np.round(X)), (1, 0)  # some with ties
        kinds.append(separation(X, y))
        assert found(X, y) == kinds[-1], seed
    assert set(kinds) == {None, "complete", "quasi-complete"}


@DEPENDENT
def test_weights_of_zero_and_no_intercept():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = table(rng)
        weight = rng.integers(0, 3, len(y)).astype(float)
        weight[: y.max() + 1] = 1
        assert found(X, y, weight) == separation(X, y, weight)
        expected = separation(X, y, fit_intercept=False)
        assert found(X, y, fit_intercept=False) == expected


@pytest.mark.parametrize("K", [3, 4, 5])
@pytest.mark.parametrize("way", ["arrays", "blocks"])
def test_one_empty_cell_has_no_inference(K, way):
    """Three rows in each cell but one."""
    y, sign = np.repeat(np.arange(K), 6), np.tile(np.repeat([0.0, 1.0], 3), K)
    kept = ~((y == 1) & (sign == 0))
    X, y = sign[kept][:, None], y[kept]
    rows = (RowBlocks.from_arrays(X, y, n_rows=4),) if way == "blocks" else (X, y)
    with pytest.warns(ConvergenceWarning, match="quasi-complete separation"):
        model = IRLSLogisticRegression().fit(*rows)
    assert not model.converged_
    for ask in (model.summary, lambda: model.wald_test(np.eye(2 * K - 2)[0])):
        with pytest.raises(ValueError, match="estimate does not exist, got quasi-comp"):
            ask()
    for name in ("aic_", "bic_", "standard_errors_", "covariance_"):
        assert not hasattr(model, name)


def test_a_row_in_the_empty_cell_gives_a_maximum():
    """Near separation is none: the logit of a saturated table is exact."""
    y = np.repeat([0, 0, 1, 1], [40_000, 1, 1, 40_000])
    X = np.repeat([0.0, 1, 0, 1], [40_000, 1, 1, 40_000])[:, None]
    model = IRLSLogisticRegression().fit(X, y)
    assert model.separation_ is None
    assert model.converged_
    assert model.coef_[0, 0] == pytest.approx(2 * np.log(40_000), rel=1e-9)
    error = np.sqrt(2 + 2 / 40_000)  # Woolf
    assert model.standard_errors_[0, 1] == pytest.approx(error, rel=1e-7)


# Not estimable ------------------------------------------------------------------------


def weekdays(unit=1.0, K=2):
    """Six dummies, and one for the weekend, which is the sum of two."""
    rng = np.random.default_rng(0)
    day = rng.integers(0, 7, 300)
    X = np.column_stack([day[:, None] == np.arange(1, 7), unit * (day > 4)])
    X = np.column_stack([X, rng.normal(50, 10, 300)])
    logits = np.column_stack([np.zeros(300), 0.3 * (day > 4), 0.02 * X[:, -1]])
    return X, (logits + rng.gumbel(size=(300, 3))).argmax(axis=1) % K


@DEPENDENT
@pytest.mark.parametrize(("K", "penalty"), [(2, "l2"), (3, "l2"), (2, "firth")])
def test_coefficients_that_are_not_estimable_are_nan(K, penalty):
    X, y = weekdays(K=K)
    # the same model without the dummy of Saturday
    full = IRLSLogisticRegression(penalty=penalty).fit(np.delete(X, 4, axis=1), y)
    expected = full.summary(method="wald")
    for unit in (0.1, 1.0, 100.0) if penalty == "l2" else (1.0,):
        X, _ = weekdays(unit)
        model = IRLSLogisticRegression(penalty=penalty).fit(X, y)
        for method in ("wald", "profile") if unit == 1 else ("wald",):
            rows = {"X": X, "y": y} if method == "profile" else {}
            got = model.summary(method=method, **rows)
            lost = np.tile(np.isin(np.arange(9), [5, 6, 7]), K - 1)
            known = np.tile(np.isin(np.arange(8), [5, 6]), K - 1)
            for name in "estimate standard_error statistic pvalue low high".split():
                values = getattr(got, name)
                assert np.array_equal(np.isnan(values), lost), name
                if method == "wald":
                    right = getattr(expected, name)[~known]
                    assert values[~lost] == pytest.approx(right, rel=1e-5), name
        # Sunday against Saturday is estimable: the coefficient of the other coding
        L = np.zeros((K - 1) * 9)
        L[[5, 6]] = -1, 1
        test = model.wald_test(L)
        assert test.estimate == pytest.approx(expected.estimate[5:6], rel=1e-6)
        error = expected.standard_error[5:6]
        assert test.standard_error == pytest.approx(error, rel=1e-6)
        ratio = model.likelihood_ratio_test(contrast=L, X=X, y=y)
        L0 = np.eye((K - 1) * 8)[5]
        other = full.likelihood_ratio_test(
            contrast=L0, X=np.delete(weekdays()[0], 4, axis=1), y=y
        )
        assert ratio.statistic == pytest.approx(other.statistic, rel=1e-5)
        L[6] = 0
        for ask in (model.wald_test, model.likelihood_ratio_test):
            how = {"X": X, "y": y} if ask != model.wald_test else {}
            with pytest.raises(ValueError, match="contrast must be estimable .* row 0"):
                ask(contrast=L, **how)


@DEPENDENT
def test_intervals_of_rows_that_break_the_dependence():
    X, y = weekdays()
    model = IRLSLogisticRegression().fit(X, y)
    new = X[:40].copy()
    new[3, 6] = 1 - new[3, 6]
    low, high = model.predict_interval(new)
    assert np.flatnonzero(np.isnan(low)).tolist() == [3]
    plain = IRLSLogisticRegression().fit(np.delete(X, 4, axis=1), y)
    expected = plain.predict_interval(np.delete(new, 4, axis=1))
    kept = np.arange(40) != 3
    assert low[kept] == pytest.approx(expected[0][kept], rel=1e-6)
    assert high[kept] == pytest.approx(expected[1][kept], rel=1e-6)
    thin = model.predict_interval(sparse.csr_array(new))
    assert np.array_equal(np.isnan(thin[0]), ~kept)


@DEPENDENT
@pytest.mark.parametrize("level", [0.0, 1e4])
def test_a_constant_feature_takes_the_intercept_with_it(level):
    X, y = weekdays()
    X = np.column_stack([X[:, [0, 1, 7]] + [0, 0, level], np.full(300, 7.0)])
    table_ = IRLSLogisticRegression().fit(X, y).summary()
    lost = [True, False, False, False, True]
    assert np.isnan(table_.standard_error).tolist() == lost
    plain = IRLSLogisticRegression().fit(X[:, :3], y).summary()
    assert table_.pvalue[1:4] == pytest.approx(plain.pvalue[1:], rel=1e-6)


@DEPENDENT
def test_statsmodels_agrees_on_what_is_estimable():
    sm = pytest.importorskip("statsmodels.api")
    X, y = weekdays()
    model = IRLSLogisticRegression().fit(X, y)
    kept = [0, 1, 2, 3, 5, 6, 7]
    theirs = sm.Logit(y, sm.add_constant(X[:, kept])).fit(disp=0, tol=1e-12)
    mine = model.summary()
    assert mine.pvalue[:5] == pytest.approx(theirs.pvalues[:5], rel=1e-5)
    assert mine.pvalue[8] == pytest.approx(theirs.pvalues[7], rel=1e-5)


@DEPENDENT
@pytest.mark.parametrize(("K", "n"), [(5, 30), (7, 11), (8, 20)])
def test_levels_of_one_label_beside_an_intercept(K, n):
    """The columns of all levels add up to that of the intercept."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        level, y = rng.integers(K, size=n), rng.integers(2, size=n)
        if len(set(y)) == 2:
            alone = any(len(set(y[level == k])) == 1 for k in set(level))
            model = IRLSLogisticRegression().fit(np.eye(K)[level], y)
            assert (model.separation_ is not None) == alone
