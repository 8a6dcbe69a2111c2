"""Anything at all: every public callable is handed small arrays of any kind.

The answer lies in its range, or a ValueError or TypeError says what is wrong with which
argument. No other exception, no numpy warning, no nan. ``pytest tests/test_anything.py
--hypothesis-profile=long`` looks harder.
"""

import inspect
import re
import traceback
import warnings
from functools import cache, wraps

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import (
    ConvergenceWarning,
    DataConversionWarning,
    UndefinedMetricWarning,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import skauc

ASKED = {}  # public name -> the test that asks it
EXAMPLES = [0]  # how many were run


@pytest.fixture(autouse=True)
def examples_are_counted(record_property):
    """Sent home with the report, whichever process ran the test (see conftest)."""
    before = EXAMPLES[0]
    yield
    record_property("examples", EXAMPLES[0] - before)


def asks(*names, share=1.0, **strategies):
    """Run the test on examples of the strategies; it speaks for these public names."""

    def decorate(test):
        for name in names:
            assert name not in ASKED, f"{name} is asked twice"
            ASKED[name] = test.__name__

        @wraps(test)
        def counted(**values):
            EXAMPLES[0] += 1
            test(**values)

        default = settings.get_profile(settings.get_current_profile_name())
        return settings(
            max_examples=max(int(share * default.max_examples), 5),
            suppress_health_check=list(HealthCheck),
        )(given(**strategies)(counted))

    return decorate


# ------------------------------------------------------------------ what may be said


def speaks_of(error, names):
    """Whether the text names an argument, or comes from scikit-learn's own checks."""
    frames = traceback.extract_tb(error.__traceback__)
    if "sklearn" in frames[-1].filename or "/inspect.py" in frames[-1].filename:
        return True
    # "the negative class" is y_true's, a keyword that does not exist names itself
    words = [
        *names,
        "(each|the negative|the positive) class",
        "unexpected keyword argument",
    ]
    return any(re.search(rf"(^|\W){word}($|\W)", str(error)) for word in words)


def ask(call, *values, names=(), undefined=False, **options):
    """What the call answers; None where it refuses and says why.

    Parameters
    ----------
    names : names of further arguments that an error may speak of
    undefined : whether nan with an UndefinedMetricWarning is the convention
    """
    target = call.__init__ if inspect.isclass(call) else call
    known = {*names, *inspect.signature(target).parameters}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("error")
        expected = UndefinedMetricWarning, ConvergenceWarning, skauc.UntrustedAUCWarning
        for category in expected:
            warnings.simplefilter("always", category)
        # The parents of LDA and QDA say so of collinear columns.
        warnings.filterwarnings("ignore", message="Variables are collinear")
        warnings.filterwarnings("ignore", message="The covariance matrix of class")
        warnings.filterwarnings("ignore", message="Only one sample available")
        warnings.filterwarnings("ignore", message="The least populated class in y")
        warnings.simplefilter("ignore", DataConversionWarning)  # y as a column
        try:
            answer = call(*values, **options)
        except (ValueError, TypeError) as error:
            if not speaks_of(error, known):
                raise AssertionError(f"it names none of {sorted(known)}") from error
            return None
    if undefined and isinstance(answer, float) and np.isnan(answer):
        assert any(issubclass(w.category, UndefinedMetricWarning) for w in said)
        return None
    return answer


def within(value, low=0.0, high=1.0, slack=0.0):
    """Every number lies in the range; None has refused."""
    if value is not None:
        numbers = np.asarray(value, dtype=float)
        assert not np.isnan(numbers).any(), value
        assert np.all((numbers >= low - slack) & (numbers <= high + slack)), value


def answers(law, x, low=0.0, high=1.0, slack=0.0):
    """A law's values lie in the range; where x is nan they are, as scipy's."""
    values = ask(law, x)
    if values is not None:
        known = ~np.isnan(np.asarray(x, dtype=float))
        within(np.asarray(values)[known], low, high, slack)


def ordered(limits, low=0.0, high=1.0):
    if limits is not None:
        within(limits, low, high)
        assert limits[0] <= limits[1], limits


# ------------------------------------------------------------------- anything at all

EXTREMES = [0.0, -0.0, 1.0, 1.0, 2.0, -1.0, 0.5, 1e300, -1e300, 1e-300, 1e154, 1e16]
SPECIAL = [*EXTREMES, np.nan, np.inf, -np.inf, 5e-324, np.finfo(float).max]
THINGS = [None, "a", "", True, 0, 1, -1, 0.5, 2.5, np.nan, np.inf, -np.inf, 1j, (), []]
THINGS += [{}, object, [0.5], np.array([0.5, 0.5]), np.float32(0.25), "0.5", b"a"]
things = st.sampled_from(THINGS)
levels = st.one_of(st.sampled_from([0.95, 0.5, 1e-9, 1 - 1e-12]), things)
sizes = st.one_of(st.integers(4, 12), st.integers(0, 12))


def rarely(strategy, other):
    """Two in three from the first: an example should not be wrong in every place."""
    return st.one_of(strategy, strategy, other)


def column(n):
    """Numbers of one column, well-behaved or at the edge of what a float holds."""
    tame = st.floats(-3, 3, width=16)
    return st.one_of(
        st.lists(tame, min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n),
        st.lists(st.integers(-3, 3), min_size=n, max_size=n).map(np.array),
        st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
        st.lists(st.sampled_from(EXTREMES), min_size=n, max_size=n),
        st.lists(tame, min_size=n, max_size=n).map(lambda v: np.float32(v)),
        st.lists(tame, min_size=n, max_size=n).map(pd.Series),
    )


def wild(n):
    """What is no column of n numbers."""
    return st.one_of(
        st.lists(st.sampled_from(SPECIAL), min_size=n, max_size=n),
        st.lists(st.sampled_from(SPECIAL), max_size=12),
        st.lists(things, min_size=n, max_size=n),
        st.lists(things, min_size=n, max_size=n).map(_objects),
        st.lists(st.sampled_from("ab"), min_size=n, max_size=n).map(np.array),
        st.integers(0, 3).map(lambda k: np.zeros((n, k))),
        things,
    )


def _objects(values):
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def scores(n):
    return rarely(column(n), wild(n))


@st.composite
def labels(draw, n):
    codes = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    if n >= 2 and draw(st.integers(0, 9)):
        codes[:2] = 0, 1
    if n >= 4 and draw(st.booleans()):
        codes[:4] = 0, 0, 1, 1
    pairs = [(0, 1), (-1, 1), ("no", "yes"), (False, True), (0.0, 1.0), (1, 10**6)]
    names = draw(st.sampled_from(pairs))
    kinds = [list, np.array, pd.Series, lambda v: _objects(list(v))]
    right = draw(st.sampled_from(kinds))([names[code] for code in codes])
    three = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    return draw(rarely(st.just(right), st.one_of(scores(n), three)))


def weights(n):
    kinds = [1.0, 2, 0.5, 1e-300, 1e300, 1e6, 0.0, 1 / max(n, 1)]
    some = st.lists(st.sampled_from(kinds), min_size=n, max_size=n)
    same = st.sampled_from(kinds).map(lambda w: np.full(n, w))
    counts = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return st.one_of(st.none(), st.none(), counts, some, same, scores(n))


@st.composite
def matrices(draw, n, P=None):
    P = draw(st.integers(1, 4)) if P is None else P
    columns = [draw(column(n)) for _ in range(P)]
    X = np.array([np.asarray(c, dtype=float) for c in columns]).T.reshape(n, P)
    kinds = [np.array, np.float32, list, pd.DataFrame, sparse.csr_array, np.array]
    with np.errstate(over="ignore"):
        right = draw(st.sampled_from(kinds))(X)
    return draw(rarely(st.just(right), wild(n)))


@st.composite
def rows(draw, *parts):
    """``y_true`` and parts of as many rows, each maybe wrong in its own way."""
    n = draw(sizes)
    return draw(labels(n)), *(draw(part(n)) for part in parts)


def maybe(options):
    """Keyword options, most of them left out."""
    return st.fixed_dictionaries({}, optional=options)


PRIORS = [
    "adaptive",
    "paper",
    skauc.AdaptivePrior(leave_pair_out=False),
    skauc.NormalInverseWishart(scale=0.0, nu_neg=0, nu_pos=0),
]
labelled = {"pos_label": st.sampled_from([None, None, 0, 1, "no", "yes", [], np.nan])}
question = {
    "prior": rarely(st.sampled_from(PRIORS), things),
    "covariance": rarely(st.sampled_from(["common", "spherical", "separate"]), things),
    **labelled,
}


# --------------------------------------------------------------------- f(y, score)


@asks(
    "cbauc_score",
    data=rows(scores, weights),
    options=maybe(question),
)
def test_cbauc_score(data, options):
    y, score, weight = data
    within(ask(skauc.cbauc_score, y, score, sample_weight=weight, **options))


@asks(
    "ebauc_score",
    data=rows(scores, weights),
    options=maybe(
        {**question, "thresholds": rarely(st.sampled_from(["scores", "all"]), things)}
    ),
)
def test_ebauc_score(data, options):
    y, score, weight = data
    within(
        ask(skauc.ebauc_score, y, score, sample_weight=weight, **options), slack=1e-12
    )


@asks(
    "binormal_auc_score",
    "binormal_roc",
    data=rows(scores, weights),
    equal=rarely(st.booleans(), things),
    options=maybe(labelled),
)
def test_binormal_of_scores(data, equal, options):
    y, score, weight = data
    options = {**options, "equal_variance": equal, "sample_weight": weight}
    within(ask(skauc.binormal_auc_score, y, score, **options))
    roc = ask(skauc.binormal_roc, y, score, **options)
    if roc is not None:
        check_curve(roc)


METHODS = ["score", "hanley_mcneil_score", "delong", "bamber", "hanley_mcneil"]
METHODS += ["max_variance", "binormal", "bayesian", "cortes_mohri", "bootstrap", None]
ranges = st.sampled_from([(0, 0.1), (0.2, 0.5), (0, 1), [0.9, 1.0]])
parts = st.one_of(
    ranges.map(lambda range_: {"fpr": range_}),
    ranges.map(lambda range_: {"tpr": range_, "standardize": True}),
    maybe({"fpr": rarely(ranges, things), "tpr": things, "standardize": things}),
)
sides = rarely(st.sampled_from(["two-sided", "less", "greater"]), things)
transforms = rarely(st.sampled_from(["none", "logit", "probit", None]), things)


@asks(
    "auc_estimate",
    "RowBlocks.exchange",
    "RowBlocks.labels_first",
    "RowBlocks.n_ranges",
    "RowBlocks.nothing_beside",
    "AUCEstimate",
    "AUCEstimate.confidence_interval",
    "AUCEstimate.standard_error",
    "AUCEstimate.to_frame",
    "AUCEstimate.partial_auc",
    "PartialAUC",
    "PartialAUC.confidence_interval",
    "PartialAUC.standard_error",
    "PartialAUC.to_frame",
    share=2,
    data=rows(scores, weights, lambda n: st.one_of(st.none(), labels(n), scores(n))),
    options=maybe(labelled),
    how=maybe(
        {
            "confidence_level": levels,
            "method": rarely(st.sampled_from(METHODS), things),
            "transform": transforms,
            "alternative": sides,
        }
    ),
    part=parts,
    extra=maybe(
        {
            "n_resamples": rarely(st.just(20), things),
            "threshold": things,
            "covariance": things,
            "adaptive": things,
            "random_state": rarely(st.just(1), things),
        }
    ),
)
def test_auc_estimate(data, options, how, part, extra):
    y, score, weight, groups = data
    estimate = ask(
        skauc.auc_estimate, y, score, sample_weight=weight, groups=groups, **options
    )
    if groups is None:
        blocks = [(y, score) if weight is None else (y, score, weight)]
        asked = skauc.RowBlocks(blocks)
        same = ask(skauc.auc_estimate, asked, names=("blocks",), **options)
        assert estimate is None or same is None or abs(same.auc - estimate.auc) < 1e-12
    if estimate is None:
        return
    within(estimate.auc)
    within([estimate.n_neg, estimate.n_pos], 0, np.inf)
    said = ["sample_weight", "groups", "y_true", "y_score", *extra]
    if str(how.get("method")) == "bootstrap":
        extra = {"n_resamples": 20, **extra}
    else:
        ordered(ask(estimate.confidence_interval, names=said, **how))
    ordered(ask(estimate.confidence_interval, names=said, **how, **extra))
    error = ask(estimate.standard_error, how.get("method"), names=said, **extra)
    within(error, 0, np.inf)
    ask(estimate.__repr__, names=said)
    ask(estimate.to_frame, names=said)
    area = ask(estimate.partial_auc, **part)
    if area is not None:
        least = -np.inf if area.standardize else 0.0  # worse than chance
        within(area.auc, least, slack=1e-12)
        within(ask(area.standard_error, names=said), 0, np.inf)
        limits = ask(area.confidence_interval, names=said, **how)
        within(limits, least, slack=1e-12)
        ask(area.__repr__, names=said)
        ask(area.to_frame, names=said)


TESTS = ["delong", "permutation", "bootstrap"]


@asks(
    "compare_auc",
    "RowBlocks.look_up",
    "RowBlocks.n_columns",
    "AUCComparison",
    "AUCComparison.confidence_interval",
    "AUCComparison.difference",
    "AUCComparison.statistic",
    "AUCComparison.pvalue",
    "AUCComparisons",
    "AUCComparisons.pvalue",
    "AUCComparisons.adjusted_pvalues",
    "AUCComparisons.contrast",
    "AUCContrast",
    "AUCContrast.confidence_interval",
    "AUCContrast.pvalue",
    "AUCContrast.pvalues",
    "AUCContrast.statistics",
    "AUCContrast.to_frame",
    "AUCComparison.to_frame",
    "AUCComparisons.to_frame",
    share=2,
    data=rows(scores, scores, scores, weights, labels),
    how=st.sampled_from(["pair", "pair", "many", "constant", "unpaired"]),
    constant=rarely(st.sampled_from([0.0, 0.5, 0.8, 1.0]), things),
    options=maybe(
        {
            **labelled,
            "alternative": sides,
            "margin": rarely(st.sampled_from([0.0, 0.1]), things),
            "method": rarely(st.sampled_from([*TESTS, "welch"]), things),
            "n_resamples": rarely(st.just(100), things),
            "random_state": rarely(st.integers(0, 5), things),
        }
    ),
    part=st.one_of(st.just({}), st.just({}), parts),
    level=levels,
    L=rarely(
        st.sampled_from([[1, -1, 0], [[1, 0, -1], [0, 1, -1], [1, 1, -2]]]), things
    ),
)
def test_compare_auc(data, how, constant, options, part, level, L):
    y, a, b, c, weight, other = data
    values = {"pair": (a, b), "many": (a, b, c), "constant": (a,), "unpaired": (a, b)}
    if how == "constant":
        options["constant"] = constant
    if how == "unpaired":
        options["y_true_b"] = other
    else:
        options["sample_weight"] = weight
    part.pop("standardize", None)
    result = ask(skauc.compare_auc, y, *values[how], **options, **part)
    blocks = [(y, a) if weight is None else (y, a, weight)]
    asked = skauc.RowBlocks(blocks)
    ask(skauc.compare_auc, asked, constant=constant, names=("blocks",))
    if result is not None:
        assert len(result.to_frame()) == len(getattr(result, "pairs", "1"))
    for pair in getattr(result, "pairs", () if result is None else (result,)):
        check_comparison(pair, level)
    if isinstance(result, skauc.AUCComparisons):
        within(result.pvalue)
        within(result.adjusted_pvalues)
        within(result.statistic, 0, np.inf)
        within(result.auc)
        check_contrast(ask(result.contrast, L), level)


def check_contrast(contrast, level):
    if contrast is not None:
        within([contrast.pvalue, *contrast.pvalues])
        within(contrast.statistics, -np.inf, np.inf)
        within(contrast.standard_error, 0, np.inf)
        limits = ask(contrast.confidence_interval, level)
        if limits is not None:
            assert (limits[0] <= limits[1]).all()
        repr(contrast)
        assert len(contrast.to_frame()) == len(contrast.L)


def check_comparison(result, level):
    within([result.auc_a, result.auc_b, result.pvalue])
    within(result.difference, -1, 1)
    within(result.statistic, -np.inf, np.inf)
    ordered(ask(result.confidence_interval, level), -1, 1)


@asks(
    "AveragedAUC",
    "hand_till_auc",
    "AveragedAUC.confidence_interval",
    "AveragedAUC.to_frame",
    y=sizes.flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 2), min_size=n, max_size=n)
            | labels(n)
            | st.just([0, 0, 1, 1, 2, 2] * 2).map(lambda y: y[:n]),
            st.integers(2, 3).flatmap(lambda K: matrices(n, K)),
        )
    ),
    names=st.one_of(st.none(), st.none(), st.just([0, 1, 2]), things),
    options=maybe(
        {"confidence_level": levels, "transform": transforms, "alternative": sides}
    ),
)
def test_hand_till_auc(y, names, options):
    y, score = y
    result = ask(skauc.hand_till_auc, y, score, labels=names)
    if result is not None:
        within(result.auc)
        within(result.standard_error, 0, np.inf)
        repr(result)
        result.to_frame()
        ordered(ask(result.confidence_interval, **options))


@asks(
    "one_vs_rest_auc",
    "OneVsRestAUC",
    "OneVsRestAUC.auc",
    "OneVsRestAUC.average",
    "OneVsRestAUC.confidence_interval",
    "OneVsRestAUC.standard_error",
    "OneVsRestAUC.to_frame",
    y=sizes.flatmap(
        lambda n: st.tuples(
            st.just([0, 0, 1, 1, 2, 2] * 2).map(lambda y: y[:n]) | labels(n),
            st.integers(2, 3).flatmap(lambda K: matrices(n, K)),
            weights(n),
            st.one_of(st.none(), labels(n)),
        )
    ),
    names=st.one_of(st.none(), st.none(), st.just([0, 1, 2]), things),
    options=maybe({"confidence_level": levels, "transform": transforms}),
)
def test_one_vs_rest_auc(y, names, options):
    y, score, weight, groups = y
    result = ask(
        skauc.one_vs_rest_auc,
        y,
        score,
        labels=names,
        sample_weight=weight,
        groups=groups,
    )
    if result is not None:
        said = ("groups", "sample_weight")
        within(result.auc)
        within(ask(result.standard_error, names=said), 0, np.inf)
        repr(result)
        result.to_frame()
        limits = ask(result.confidence_interval, names=(*said, "transform"), **options)
        if limits is not None:
            within(limits)
            assert (limits[0] <= limits[1]).all()
        mean = ask(result.average, names=said)
        if mean is not None:
            within(mean.standard_error, 0, np.inf)


shares = rarely(st.sampled_from([0.6, 0.8, 0.3, [0.7, 0.9], 1 - 1e-9]), things)


@asks(
    "auc_power",
    "auc_sample_size",
    auc=shares,
    plan=maybe(
        {
            "null": shares,
            "alpha": rarely(st.sampled_from([0.05, 0.1, 1e-12]), things),
            "auc2": shares,
            "correlation": rarely(st.sampled_from([0.5, 1, [0, -1]]), things),
            "margin": rarely(st.sampled_from([0.0, 0.1]), things),
            "alternative": sides,
            "method": rarely(st.sampled_from(["binormal", "hanley_mcneil"]), things),
            "test": rarely(st.sampled_from(["score", "wald"]), things),
        }
    ),
    rows_=st.tuples(
        *[rarely(st.sampled_from([2, 30, 1e6, [10, 20]]), things) for _ in "01"]
    ),
    goal=maybe(
        {
            "power": rarely(st.sampled_from([0.8, 0.99, [0.5, 0.9]]), things),
            "width": rarely(st.sampled_from([0.1, 0.5]), things),
            "ratio": rarely(st.sampled_from([0.01, 1, 30]), things),
        }
    ),
)
def test_planned_studies(auc, plan, rows_, goal):
    said = ("arguments", "auc")
    n_pos, n_neg = rows_
    power = ask(skauc.auc_power, auc, n_pos=n_pos, n_neg=n_neg, names=said, **plan)
    within(power, slack=1e-12)
    size = ask(skauc.auc_sample_size, auc, names=said, **goal, **plan)
    if size is not None:
        within(size, 2, 2.0**46)


rates = rarely(st.sampled_from([0.1, 0.5, 0.9, [0.2, 0.8]]), things)


@asks(
    "empirical_roc",
    "EmpiricalROC",
    "EmpiricalROC.band",
    "EmpiricalROC.convex_hull",
    "EmpiricalROC.partial_auc",
    "EmpiricalROC.plot",
    "EmpiricalROC.roc",
    "EmpiricalROC.to_frame",
    "EmpiricalROC.youden",
    "ROCBand",
    "ROCBand.to_frame",
    data=rows(scores, weights),
    options=maybe({**labelled, "drop_intermediate": rarely(st.booleans(), things)}),
    u=rates,
    part=parts,
    how=maybe(
        {
            "confidence_level": levels,
            "method": rarely(
                st.sampled_from(
                    ["pointwise", "simultaneous", "fixed_width", "joint_regions"]
                ),
                things,
            ),
            "fpr": rates,
            "random_state": rarely(st.just(1), things),
        }
    ),
    n_draws=rarely(st.just(40), things),
)
def test_empirical_roc(data, options, u, part, how, n_draws):
    y, score, weight = data
    roc = ask(skauc.empirical_roc, y, score, sample_weight=weight, **options)
    if roc is None:
        return
    within([roc.fpr, roc.tpr])
    within(roc.auc)
    assert np.all(np.diff(roc.fpr) >= 0)
    within(ask(roc.roc, u))
    hull = ask(roc.convex_hull)
    within(hull.auc, roc.auc, 1.0, slack=1e-12)
    within(ask(roc.youden).j, 0, 1)
    area = ask(roc.partial_auc, **part)
    within(None if area is None else area.auc, -np.inf, 1, slack=1e-12)
    if how.get("method") != "joint_regions":
        how["n_draws"] = n_draws
    if n_draws == 0.5:  # once in a while
        plt = pytest.importorskip("matplotlib.pyplot")
        ask(roc.plot, names=["sample_weight"])
        plt.close("all")
    band = ask(roc.band, names=["sample_weight", "n_draws", "random_state"], **how)
    if band is not None:
        within([band.low, band.high])
        assert np.all(band.low <= band.high)
        repr(band)
        assert len(band.to_frame()) == len(band.fpr)
    repr(roc)
    roc.to_frame()


VALUES = ["threshold", "sensitivity", "specificity", "ppv", "npv", "lr_positive"]
VALUES += ["lr_negative", "accuracy", "odds_ratio"]
RULES = ["threshold", "sensitivity", "specificity", "best"]


@asks(
    "operating_points",
    "OperatingPoints",
    *(f"OperatingPoints.{name}" for name in VALUES if name != "threshold"),
    "OperatingPoints.chosen_by",
    "OperatingPoints.interval",
    "OperatingPoints.compare",
    "OperatingPoints.to_frame",
    "OperatingComparison",
    "OperatingComparison.confidence_interval",
    "OperatingComparison.difference",
    "OperatingComparison.statistic",
    "OperatingComparison.pvalue",
    "OperatingComparison.to_frame",
    share=2,
    data=rows(scores, scores, weights),
    rule=st.sampled_from(RULES).flatmap(
        lambda name: st.fixed_dictionaries(
            {name: st.sampled_from(["youden", "closest"]) if name == "best" else rates}
        )
    ),
    options=maybe(
        {
            **labelled,
            "prevalence": rarely(st.sampled_from([0.1, 1e-9]), things),
            "cost": things,
        }
    ),
    name=rarely(st.sampled_from(VALUES), things),
    how=maybe(
        {
            "confidence_level": levels,
            "method": st.sampled_from(
                ["wilson", "clopper_pearson", "log", "order_statistics", None, 1]
            ),
            "alternative": sides,
        }
    ),
    n_draws=rarely(st.just(40), things),
)
def test_operating_points(data, rule, options, name, how, n_draws):
    y, score, other, weight = data
    options = {**options, **rule, "sample_weight": weight}
    points = ask(skauc.operating_points, y, score, **options)
    if points is None:
        return
    within([points.sensitivity, points.specificity])
    within(points.accuracy, slack=1e-12)
    for value in (points.ppv, points.npv):  # undefined where nobody is called so
        within(value[~np.isnan(value)], slack=1e-12)
    for value in (points.lr_positive, points.lr_negative, points.odds_ratio):
        within(value[~np.isnan(value)], 0, np.inf)
    said = ["sample_weight", "y_true", "n_draws", "random_state", "thresholds"]
    limits = ask(points.interval, name, names=said, **how)
    if limits is not None:
        unit = name not in ("threshold", "lr_positive", "lr_negative", "odds_ratio")
        within(limits, 0 if name != "threshold" else -np.inf, 1 if unit else np.inf)
        assert np.all(limits[0] <= limits[1])
    repr(points)
    points.to_frame()
    again = ask(skauc.operating_points, y, other, **options)
    if again is not None:
        result = ask(points.compare, again, names=said, n_draws=n_draws)
        if result is not None:
            within([result.pvalue, result.rate_a, result.rate_b])
            within(result.difference, -1, 1)
            within(result.statistic, -np.inf, np.inf)
            level = how.get("confidence_level", 0.9)
            within(ask(result.confidence_interval, level), -1, 1)
            repr(result)
            result.to_frame()


@asks(
    "BinormalROCDisplay.from_cv_results",
    share=0.2,
    data=rows(scores, weights),
    folds=things,
)
def test_curves_of_folds(data, folds):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    y, score, weight = data
    tree = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    results = {"estimator": [tree], "indices": {"test": [np.array([0, 1])]}}
    X = np.zeros((len(np.atleast_1d(np.asarray(score, dtype=object))), 1))
    call = skauc.BinormalROCDisplay.from_cv_results
    for cv_results in (results, folds):
        ask(call, cv_results, X, y, sample_weight=weight, names=["y_true"])
    plt.close("all")


counts = st.one_of(st.integers(0, 60), st.integers(1, 60), things)


@asks(
    "cortes_mohri_moments",
    "cortes_mohri_interval",
    n_pos=counts,
    n_neg=counts,
    n_errors=rarely(counts, st.lists(st.integers(0, 3), max_size=3)),
    level=levels,
    options=maybe(
        {
            "error_interval": rarely(
                st.sampled_from(["clopper_pearson", "wilson", "normal", "chebyshev"]),
                things,
            ),
            "adaptive": rarely(st.booleans(), things),
        }
    ),
)
def test_cortes_mohri(n_pos, n_neg, n_errors, level, options):
    moments = ask(skauc.cortes_mohri_moments, n_pos, n_neg, n_errors)
    if moments is not None:
        within(moments[0])
        within(moments[1], 0, 0.25)
    ordered(ask(skauc.cortes_mohri_interval, n_pos, n_neg, n_errors, level, **options))


# ---------------------------------------------------------------------------- values

numbers = rarely(st.one_of(st.floats(-3, 3), st.sampled_from(EXTREMES)), things)
points = rarely(st.lists(st.one_of(st.floats(-1, 2), st.just(0.0)), max_size=3), things)


@asks(
    "Moments",
    "Moments.from_samples",
    "Moments.project",
    "Moments.covariance",
    "class_moments",
    data=sizes.flatmap(
        lambda n: st.tuples(matrices(n) | scores(n), weights(n), labels(n), scores(3))
    ),
    featurewise=rarely(st.booleans(), things),
)
def test_moments(data, featurewise):
    X, weight, y, w = data
    part = ask(skauc.Moments.from_samples, X, weight, featurewise=featurewise)
    if part is not None:
        check_moments(part)
        ask(part.project, w, names=["scatter"])
        both = ask(part.__add__, part, names=["Moments"])
        assert both is None or both.n == 2 * part.n
    pair = ask(skauc.class_moments, X, y, weight, featurewise=featurewise)
    mask = np.arange(len(y) if hasattr(y, "__len__") else 0) % 2 == 0
    pair = pair or ask(skauc.class_moments, X, mask, weight, featurewise=featurewise)
    for part in pair or ():
        check_moments(part)


def check_moments(part):
    within(part.n, 0, np.inf)
    assert np.isfinite(part.mean).all()
    assert np.isfinite(part.scatter).all()
    square = np.diag(part.scatter) if np.ndim(part.scatter) == 2 else part.scatter
    within(square, 0, np.inf)
    assert part.n <= 1 or not np.isnan(part.covariance).any()


CURVE = ["auc", "auc_probit", "is_proper", "swapped", "fpr", "tpr", "threshold", "roc"]
CURVE += ["partial_auc", "youden"]


def members(name, methods):
    return [f"{name}.{method}" for method in methods]


def check_curve(roc, x=(-1.0, 0.0, 0.5, 1.0, np.inf), u=(0.0, 0.3, 1.0)):
    within(roc.auc)
    within(roc.auc_probit, -np.inf, np.inf)
    assert roc.is_proper in (True, False)
    answers(roc.fpr, x)
    answers(roc.tpr, x)
    within(ask(roc.threshold, u), -np.inf, np.inf)
    within(ask(roc.roc, u))
    best = roc.youden()
    within([best.fpr, best.tpr, best.j])
    within(best.threshold, -np.inf, np.inf)


@asks(
    "BinormalROC",
    "BinormalROC.from_moments",
    *members("BinormalROC", CURVE),
    values=st.tuples(numbers, numbers, numbers, numbers),
    x=points,
    u=points,
    level=levels,
    standardize=st.booleans(),
    sample=rows(scores),
    equal=st.booleans(),
)
def test_binormal_roc(values, x, u, level, standardize, sample, equal):
    roc = ask(skauc.BinormalROC, *values)
    if roc is not None:
        check_curve(roc, x, u)
        within(roc.auc + roc.swapped().auc, 1, 1, slack=1e-12)
        area = ask(roc.partial_auc, level, standardize=standardize)
        within(area, 0, 1, slack=1e-9)
    _, score = sample
    pair = ask(skauc.class_moments, score, np.arange(np.size(score)) % 2 == 0)
    if pair is not None and np.ndim(pair[0].scatter) == 0:
        curve = ask(skauc.BinormalROC.from_moments, *pair, equal_variance=equal)
        if curve is not None:
            check_curve(curve)


FORM = ["from_matrix", "mean", "var", "std", "vertex", "cumulant", "sf", "cdf", "pdf"]
tame = st.one_of(st.floats(-2, 2, width=16), st.sampled_from([0.0, 1e-9, 1e4]))


@st.composite
def forms(draw):
    P = draw(st.integers(0, 3))
    few = st.lists(tame, min_size=P, max_size=P)
    wrong = st.one_of(scores(P), few)
    return (
        draw(rarely(few, wrong)),
        draw(rarely(few, wrong)),
        draw(rarely(tame, things)),
    )


@asks(
    "QuadraticForm",
    *members("QuadraticForm", [*FORM, "isf"]),
    form=forms(),
    x=points,
    q=points,
    matrix=matrices(2, 2),
    share=0.5,
)
def test_quadratic_form(form, x, q, matrix):
    law = ask(skauc.QuadraticForm, *form)
    if law is not None:
        within(law.mean(), -np.inf, np.inf)
        within([law.var(), law.std()], 0, np.inf)
        within(law.vertex(), -np.inf, np.inf)
        within(ask(law.cumulant, 0.0), 0, 0)
        answers(law.sf, x)
        answers(law.cdf, x)
        answers(law.pdf, x, 0, np.inf)
        within(ask(law.isf, q), -np.inf, np.inf)
        within(law.__neg__().mean(), -np.inf, np.inf)
        within(law.__sub__(law).std(), 0, np.inf)
    ask(skauc.QuadraticForm.from_matrix, matrix, form[1], form[2])


spreads = st.one_of(st.floats(-8, 8).map(lambda e: 10.0**e), st.just(1.0))


@asks(
    "QuadraticROC",
    "QuadraticROC.between_normals",
    *members("QuadraticROC", CURVE),
    share=0.25,
    means=st.tuples(tame, tame),
    variances=st.tuples(rarely(spreads, things), rarely(spreads, things)),
    log_odds=rarely(st.just(0.0), things),
    level=rarely(st.sampled_from([0.1, 1.0]), things),
    parts=st.tuples(things, things),
)
def test_quadratic_roc(means, variances, log_odds, level, parts):
    roc = ask(
        skauc.QuadraticROC.between_normals,
        means[0],
        variances[0],
        means[1],
        variances[1],
        log_odds=log_odds,
    )
    ask(skauc.QuadraticROC, *parts)
    if roc is not None:
        says = ["variance", "covariance"]
        auc = ask(lambda: roc.auc, names=says)
        within(auc)
        probit = ask(lambda: roc.auc_probit, names=says)
        within(probit, -np.inf, np.inf)
        assert roc.is_proper
        within(ask(lambda: roc.swapped().auc, names=says))
        within(ask(roc.fpr, [-1.0, 0.0, 1.0], names=says))
        within(ask(roc.tpr, [-1.0, 0.0, 1.0], names=says))
        within(ask(roc.roc, [0.0, 0.3, 1.0], names=says))
        within(ask(roc.threshold, [0.0, 0.3, 1.0], names=says), -np.inf, np.inf)
        best = ask(roc.youden, names=says)
        within(None if best is None else [best.fpr, best.tpr, best.j])
        if np.ptp([np.log10(np.abs(v)).item() for v in map(np.ravel, variances)]) < 2:
            within(ask(roc.partial_auc, level, names=says), slack=1e-9)


POSTERIOR = ["from_cells", "point_mass_at_half", "swapped", "mean", "mean_probit"]
POSTERIOR += ["choice", "probit_moments", "with_mean_and_scale", "moved", "var", "std"]
POSTERIOR += ["median", "cdf", "sf", "pdf", "ppf", "interval", "rvs", "normal"]
POSTERIOR += ["to_frame", "plot"]


@st.composite
def posteriors(draw):
    wide = st.floats(-6, 6).map(lambda e: 10.0**e)
    D = draw(st.one_of(st.floats(-5, 5), st.sampled_from([0.0, 1e3, -1e6])))
    v, q = draw(wide), draw(wide)
    df = draw(st.one_of(st.floats(0.5, 50), st.sampled_from([1.0, 1e4])))
    weight = draw(st.sampled_from([1.0, [0.5, 0.5], [0.0, 1.0]]))
    return skauc.AUCPosterior.from_cells(D, v, q, df, weight)


@asks(
    "AUCPosterior",
    *members("AUCPosterior", POSTERIOR),
    posterior=rarely(posteriors(), st.just(skauc.AUCPosterior.point_mass_at_half())),
    x=points,
    q=points,
    level=levels,
    scale=rarely(st.sampled_from(["auc", "probit"]), things),
    size=st.sampled_from([None, 0, 3, (2, 2), -1, "a", 0.5]),
    seed=st.sampled_from([None, 0, -1, "a", 0.5]),
    move=st.tuples(st.floats(-3, 3), st.floats(0.1, 2)),
)
def test_posterior(posterior, x, q, level, scale, size, seed, move):
    check_posterior(posterior)
    answers(posterior.cdf, x, slack=1e-9)
    answers(posterior.sf, x, slack=1e-9)
    answers(posterior.pdf, x, 0, np.inf)
    within(ask(posterior.ppf, q))
    ordered(ask(posterior.interval, level))
    within(ask(posterior.choice, scale), -np.inf, np.inf)
    within(ask(posterior.rvs, size, seed))
    other = posterior.with_mean_and_scale(*move)
    check_posterior(other)
    assert posterior.moved(*move) == other
    normal = ask(skauc.AUCPosterior.normal, x, level)
    if normal is not None:
        check_posterior(normal)
    frame = ask(posterior.to_frame, level)
    within(None if frame is None else frame[["mean", "low", "high"]].to_numpy())


def check_posterior(posterior):
    within(posterior.mean())
    if isinstance(posterior, skauc.PairwiseAUCPosterior):
        return
    mean, other = posterior.mean(), posterior.swapped().mean()
    within([mean, other])
    within(mean + other, 1, 1, slack=1e-12)
    within(posterior.mean_probit(), -np.inf, np.inf)
    within(posterior.probit_moments(), -np.inf, np.inf)
    within(posterior.var(), 0, 0.25)
    within(posterior.std(), 0, 0.5)
    within(posterior.median())
    repr(posterior)


PAIRWISE = ["mean", "var", "std", "median", "ppf", "cdf", "sf", "pdf", "interval"]
PAIRWISE += ["rvs", "to_frame", "plot"]


@asks(
    "PairwiseAUCPosterior",
    *members("PairwiseAUCPosterior", PAIRWISE),
    share=0.5,
    pairs=st.lists(posteriors(), min_size=1, max_size=3),
    x=points,
    q=points,
    level=levels,
    size=st.sampled_from([None, 0, 3, (2, 2), -1, "a", 0.5]),
    seed=st.sampled_from([None, 0, -1, "a", 0.5]),
)
def test_pairwise_posterior(pairs, x, q, level, size, seed):
    posterior = skauc.PairwiseAUCPosterior({(0, k): p for k, p in enumerate(pairs)})
    within([posterior.mean(), posterior.median()])
    within(posterior.var(), 0, 0.25)
    within(posterior.std(), 0, 0.5)
    answers(posterior.cdf, x, slack=1e-9)
    answers(posterior.sf, x, slack=1e-9)
    answers(posterior.pdf, x, 0, np.inf)
    within(ask(posterior.ppf, q))
    ordered(ask(posterior.interval, level))
    within(ask(posterior.rvs, size, seed))
    frame = ask(posterior.to_frame, level)
    within(None if frame is None else frame[["mean", "low", "high"]].to_numpy())
    repr(posterior)


@asks(
    "NormalInverseWishart",
    *members("NormalInverseWishart", ["project", "learn"]),
    values=maybe(
        {
            name: st.one_of(numbers, scores(2), matrices(2, 2))
            for name in ("mean_neg", "mean_pos", "nu_neg", "nu_pos", "kappa", "scale")
        }
    ),
    data=rows(scores, weights),
    w=st.lists(st.floats(-2, 2), min_size=1, max_size=3).map(np.array),
)
def test_normal_inverse_wishart(values, data, w):
    prior = ask(skauc.NormalInverseWishart, **values)
    if prior is not None:
        y, score, weight = data
        options = {"sample_weight": weight, "prior": prior, "names": [*values, "prior"]}
        within(ask(skauc.cbauc_score, y, score, **options))
        within(ask(skauc.ebauc_score, y, score, **options), slack=1e-12)
        view = ask(prior.project, w, names=values)
        assert view is None or not np.isnan(view.square)
        learnt = prior.learn(np.ones((4, len(w))), np.arange(4) % 2 == 0)
        ask(learnt.project, w, np.arange(4.0), names=[*values, "prior"])


@asks(
    "AdaptivePrior",
    "AdaptivePrior.learn",
    share=0.5,
    values=maybe(
        {
            "attainable_power": rarely(st.sampled_from([0.5, 2.0, 20.0]), things),
            "standardize": st.booleans(),
            "winsorize": rarely(st.sampled_from([None, 1.0, 2.5]), things),
            "leave_pair_out": st.booleans(),
            "verbose": rarely(st.just(0), things),
        }
    ),
    data=rows(scores, weights),
    covariance=st.sampled_from(["common", "spherical", "separate"]),
)
def test_adaptive_prior(values, data, covariance):
    prior = ask(skauc.AdaptivePrior, **values)
    if prior is not None:
        y, score, weight = data
        options = {"sample_weight": weight, "prior": prior, "covariance": covariance}
        within(ask(skauc.cbauc_score, y, score, **options))


# ------------------------------------------------------------------- f(estimator, X, y)


@cache
def models():
    """Fitted models on two features, binary and of three classes, and what is none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y, three = (X[:, 0] + rng.normal(size=40) > 0).astype(int), np.arange(40) % 3
    linear = [
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        skauc.GaussianAUCClassifier(),
        skauc.IRLSLogisticRegression(),
        LinearSVC(),
        SVC(kernel="linear"),
    ]
    fitted = [model.fit(X, y) for model in linear]
    many = [LogisticRegression().fit(X, three), SVC(kernel="linear").fit(X, three)]
    odd = [Ridge().fit(X, y), SVC().fit(X, y), LogisticRegression(), None, "a", 1.0]
    odd += [LogisticRegression, skauc.ResubstitutionSplit(), [1, 2]]
    return fitted, many, odd


def fitted_models():
    fitted, many, odd = models()
    return st.one_of(*[st.sampled_from(fitted)] * 4, st.sampled_from(many + odd))


def two_features(n):
    return matrices(n, 2)


on_rows = {
    "model": st.deferred(fitted_models),
    "data": rows(two_features, weights),
}
SAID = ["estimator", "X", "coef_", "y_true", "sample_weight", "classifier", "model"]
SAID += ["linear", "objective"]


@asks("auc_posterior", **on_rows, options=maybe(question))
def test_auc_posterior(model, data, options):
    y, X, weight = data
    posterior = ask(
        skauc.auc_posterior, model, X, y, sample_weight=weight, names=SAID, **options
    )
    if posterior is not None:
        check_posterior(posterior)


@asks(
    "diagnose",
    "Diagnosis",
    "PairwiseDiagnosis",
    "PairwiseDiagnosis.posterior",
    "PairwiseDiagnosis.warnings",
    "Diagnosis.to_frame",
    "PairwiseDiagnosis.to_frame",
    share=0.5,
    **on_rows,
    options=maybe(question),
)
def test_diagnose(model, data, options):
    y, X, weight = data
    found = ask(
        skauc.diagnose, model, X, y, sample_weight=weight, names=SAID, **options
    )
    if isinstance(found, skauc.PairwiseDiagnosis):
        within(found.posterior.mean())
        assert all(isinstance(said, str) for said in found.warnings)
        assert len(found.to_frame()) == len(found.pairs)
        str(found)
    elif found is not None:
        check_posterior(found.posterior)
        within(found.attainable)
        within([found.covariance_shrinkage, found.mean_shrinkage])
        within(found.separate_covariances)
        within([found.effective_dimension, found.variance_ratio], 0, np.inf)
        within([v for v in found.estimates.values() if v is not None])
        assert len(found.to_frame()) == 1
        str(found)


@asks("bayesian_val_score", share=0.5, **on_rows, options=maybe(question))
def test_bayesian_val_score(model, data, options):
    y, X, weight = data
    names = [*SAID, "clone", "fit"]
    posterior = ask(
        skauc.bayesian_val_score,
        model,
        X,
        y,
        sample_weight=weight,
        names=names,
        **options,
    )
    if posterior is not None:
        check_posterior(posterior)


DIFFERENCE = ["difference", "mean", "var", "std", "cdf", "sf", "ppf", "interval"]
DIFFERENCE += ["median", "to_frame"]


@asks(
    "auc_difference_posterior",
    "AUCDifferencePosterior",
    *members("AUCDifferencePosterior", DIFFERENCE),
    **on_rows,
    other=st.deferred(fitted_models),
    options=maybe(
        {
            "prior": rarely(st.sampled_from(["paper", "adaptive", PRIORS[-1]]), things),
            "covariance": rarely(st.sampled_from(["common", "separate"]), things),
            "random_state": rarely(st.just(0), things),
            **labelled,
        }
    ),
    n_draws=rarely(st.sampled_from([1, 16]), things),
    x=points,
    level=levels,
)
def test_auc_difference(model, data, other, options, n_draws, x, level):
    y, X, weight = data
    options = {**options, "n_draws": n_draws, "sample_weight": weight}
    gap = ask(skauc.auc_difference_posterior, model, other, X, y, names=SAID, **options)
    if gap is not None:
        within(gap.probability)
        within([*gap.difference, gap.mean()], -1, 1)
        within([gap.var(), gap.std()])
        answers(gap.cdf, x)
        answers(gap.sf, x)
        within(ask(gap.ppf, x), -1, 1)
        ordered(ask(gap.interval, level), -1, 1)
        within(gap.median(), -1, 1)
        ask(gap.to_frame, level)
        repr(gap)


SEARCH = ["difference", "simplest", "to_frame", "plot"]


@asks(
    "search_posterior",
    "SearchPosterior",
    *members("SearchPosterior", SEARCH),
    "AUCPosteriors",
    *members("AUCPosteriors", ["mean", "std", "interval"]),
    "SearchDisplay",
    *members("SearchDisplay", ["from_search", "plot"]),
    share=0.5,
    **on_rows,
    other=st.deferred(fitted_models),
    what=rarely(st.just("list"), st.one_of(st.just("one"), things)),
    options=maybe(
        {
            "prior": rarely(st.sampled_from(PRIORS), things),
            "random_state": rarely(st.just(0), things),
        }
    ),
    n_draws=rarely(st.sampled_from([1, 20]), things),
    place=rarely(st.integers(-2, 2), things),
    order=rarely(st.just([1, 0]), scores(2)),
    within_sd=rarely(st.just(1.0), things),
    level=levels,
)
def test_search_posterior(
    model, data, other, what, options, n_draws, place, order, within_sd, level
):
    y, X, _ = data
    search = {"list": [model, other], "one": model}.get(str(what), what)
    names = [*SAID, "search", "model"]
    options = {**options, "n_draws": n_draws}
    found = ask(skauc.search_posterior, search, X, y, names=names, **options)
    if found is None:
        return
    within(found.p_best)
    within(found.p_best.sum(), 1, 1, slack=1e-9)
    within(found.expected_loss)
    within([*found.auc.mean(), found.selected.mean()])
    within(found.auc.std(), 0, 0.5)
    within(found.bias_of_best_score, 0, 1, slack=1e-12)
    limits = ask(found.auc.interval, level)
    if limits is not None:
        ordered([limits[0].max(), 1.0])
    gap = ask(found.difference, place, 0)
    if gap is not None:
        within(gap.probability)
        within(gap.mean(), -1, 1)
    chosen = ask(found.simplest, order, within_sd)
    assert chosen is None or chosen in (0, 1)
    ask(found.to_frame, level)
    repr(found)
    check_search_display(search, X, y, found, level)


def check_search_display(search, X, y, found, level):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ask(found.plot, confidence_level=level)
    ask(skauc.SearchDisplay.from_search, search, X, y, names=[*SAID, "search"])
    ask(skauc.SearchDisplay(found).plot, confidence_level=level)
    plt.close("all")


@asks(
    "one_sd_rule",
    share=0.5,
    name=rarely(st.just("C"), things),
    simplest=rarely(st.sampled_from(["smallest", "largest"]), things),
    allowed=rarely(st.sampled_from([0, 1.0, np.inf]), things),
    values=rarely(st.just([1, 2, 3]), scores(3)),
    split=st.lists(column(3), min_size=2, max_size=3),
)
def test_one_sd_rule(name, simplest, allowed, values, split):
    rule = ask(skauc.one_sd_rule, name, simplest, within=allowed)
    if rule is None or not hasattr(values, "__len__") or len(values) != 3:
        return
    found = {f"split{k}_test_score": np.asarray(v) for k, v in enumerate(split)}
    found["mean_test_score"] = np.asarray(split[0])
    found["params"] = [{"C": value} for value in values]
    row = ask(rule, found, names=["parameter", "cv_results", "C"])
    assert row is None or row in (0, 1, 2)


SCORERS = ["cbauc_scorer", "ebauc_scorer", "bee_scorer", "lpo_auc_scorer"]


@asks(
    *SCORERS,
    "cv_auc_scorer",
    share=2,
    **on_rows,
    name=st.sampled_from([*SCORERS, *SCORERS, "cv_auc_scorer"]),
)
def test_scorers(model, data, name):
    y, X, weight = data
    scorer = getattr(skauc, name)
    names = [*SAID, "cv", "n_splits"]
    options = {} if weight is None else {"sample_weight": weight}
    within(ask(scorer, model, X, y, names=names, undefined=True, **options))


MAKERS = ["make_cbauc_scorer", "make_ebauc_scorer", "make_bee_scorer"]
MAKERS += ["make_cv_auc_scorer", "make_lpo_auc_scorer"]


@asks(
    *MAKERS,
    name=st.sampled_from(MAKERS),
    **on_rows,
    options=maybe(
        {
            **question,
            "scale": rarely(st.sampled_from(["auc", "probit"]), things),
            "thresholds": rarely(st.sampled_from(["scores", "all"]), things),
            "multi_class": rarely(st.sampled_from(["ovo", "raise"]), things),
            "cv": rarely(st.just(2), things),
            "output": rarely(st.sampled_from(["number", "number", "dict"]), things),
        }
    ),
)
def test_made_scorers(name, model, data, options):
    make, (y, X, _) = getattr(skauc, name), data
    known = inspect.signature(make).parameters
    options = {k: value for k, value in options.items() if k in known}
    scorer = ask(make, **options)
    if scorer is not None:
        wide = (-np.inf, np.inf) if options.get("scale") == "probit" else (0, 1)
        names = [*SAID, *known, "n_splits"]
        value = ask(scorer, model, X, y, names=names, undefined=True)
        if isinstance(value, dict):
            within([value[name] for name in ("auc", "std", "low", "high")])
            wide, value = (-np.inf, np.inf), list(value.values())
        within(value, *wide)
        repr(scorer)


@asks(
    "bootstrap_auc",
    "BootstrapAUC",
    "BootstrapAUC.interval",
    share=0.3,
    **on_rows,
    options=maybe(
        {
            "method": rarely(st.sampled_from([".632+", ".632", "oob"]), things),
            "random_state": rarely(st.just(0), things),
            "verbose": rarely(st.just(0), things),
            **labelled,
        }
    ),
    n_boot=rarely(st.sampled_from([2, 5]), things),
    level=levels,
)
def test_bootstrap_auc(model, data, options, n_boot, level):
    y, X, weight = data
    options = {**options, "n_boot": n_boot, "sample_weight": weight}
    names = [*SAID, "clone", "fit"]
    found = ask(skauc.bootstrap_auc, model, X, y, names=names, **options)
    if found is not None:
        within([found.auc, found.apparent])
        limits = ask(found.interval, level)
        ordered(limits if np.isfinite(found.replicates).any() else None)
        repr(found)


@asks(
    "cross_val_auc",
    share=0.5,
    **on_rows,
    cv=rarely(st.sampled_from([2, 3, skauc.ResubstitutionSplit()]), things),
    options=maybe({"verbose": rarely(st.just(0), things), **labelled}),
)
def test_cross_val_auc(model, data, cv, options):
    y, X, _ = data
    result = ask(skauc.cross_val_auc, model, X, y, cv, names=[*SAID, "fit"], **options)
    if result is not None:
        within(result.auc)
        within(result.parts)
        ordered(result.confidence_interval())


def halves(n):
    """Labels that leave two rows of each class in two folds, and rows any model fits.

    Columns at the edge of what a float holds make the parents' fits overflow.
    """
    values = st.lists(st.floats(-3, 3, width=16), min_size=2 * n, max_size=2 * n)
    return st.tuples(
        st.just(np.arange(n) % 2), values.map(lambda v: np.reshape(v, (n, 2)))
    )


def seldom(strategy, other):
    """``rarely``, where ``other`` has many branches, each of which would count."""
    return st.integers(0, 2).flatmap(lambda k: strategy if k else other)


def good_models():
    """All but the parent of LDA, which has an IndexError for constant columns."""
    kind = LinearDiscriminantAnalysis
    return st.sampled_from([m for m in models()[0] if not isinstance(m, kind)])


CROSS_VAL = ["auc_a", "auc_b", "differences", "difference", "df", "alternative"]
CROSS_VAL += ["standard_error", "statistic", "pvalue", "confidence_interval"]
CROSS_VAL += ["probability", "to_frame"]


@asks(
    "compare_cross_val_auc",
    "CrossValAUCComparison",
    *members("CrossValAUCComparison", CROSS_VAL),
    "CrossValAUCComparisons",
    *members("CrossValAUCComparisons", ["auc", "adjusted_pvalues", "to_frame"]),
    share=0.5,
    several=seldom(
        st.deferred(lambda: st.lists(good_models(), min_size=2, max_size=3)),
        st.one_of(
            things,
            st.lists(things, max_size=3),
            st.deferred(lambda: st.lists(st.tuples(things, good_models()), max_size=3)),
            st.deferred(lambda: st.lists(st.sampled_from(models()[2]), max_size=3)),
            st.deferred(good_models),
        ),
    ),
    data=seldom(
        st.sampled_from([8, 12]).flatmap(halves),
        st.one_of(
            st.tuples(labels(8), halves(8).map(lambda both: both[1])),
            st.tuples(labels(8), wild(8)),
            st.tuples(wild(8), halves(8).map(lambda both: both[1])),
        ),
    ),
    cv=seldom(st.sampled_from([2, 3]), things),
    options=seldom(
        st.sampled_from([{}, {"rope": 0.02}]),
        maybe({**labelled, "alternative": sides, "rope": things}),
    ),
    margin=seldom(st.sampled_from([None, 0.0, 0.01]), things),
    level=levels,
)
def test_compare_cross_val_auc(several, data, cv, options, margin, level):
    y, X = data
    names = [*SAID, "fit"]
    result = ask(skauc.compare_cross_val_auc, several, X, y, cv, names=names, **options)
    if result is None:
        return
    repr(result)
    assert len(result.to_frame()) == len(getattr(result, "pairs", "1"))
    if isinstance(result, skauc.CrossValAUCComparisons):
        within(result.auc)
        within([*result.adjusted_pvalues, result.influence.pvalue])
    for pair in getattr(result, "pairs", (result,)):
        check_comparison(pair, level)
        check_comparison(pair.influence, level)
        within(pair.differences, -1, 1)
        within(pair.standard_error, 0, np.inf)
        shares = ask(pair.probability, margin)
        within(shares)
        assert shares is None or np.isclose(sum(shares), 1)
        odd = margin, level  # a ratio and no AUCComparison
        assert (
            ask(skauc.CrossValAUCComparison, pair.folds_a, pair.folds_b, *odd) is None
        )


@cache
def searches():
    """Fitted searches over folds, and what is none."""
    fitted, _, odd = models()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    grid = {"C": [0.1, 1.0, 10.0]}
    found = [
        GridSearchCV(LogisticRegression(), grid, scoring=scoring, cv=cv).fit(X, y)
        for scoring in ("roc_auc", "neg_log_loss")
        for cv in (2, 5, skauc.ResubstitutionSplit())
    ]
    return found + fitted[:2] + odd + [GridSearchCV(LogisticRegression(), grid)]


@asks(
    "best_score_bias",
    share=0.3,
    search=rarely(st.deferred(lambda: st.sampled_from(searches())), things),
)
def test_best_score_bias(search):
    within(ask(skauc.best_score_bias, search), 0, np.inf)


@asks(
    "ResubstitutionSplit",
    "ResubstitutionSplit.split",
    "ResubstitutionSplit.get_n_splits",
    share=0.5,
    X=sizes.flatmap(matrices),
    y=things,
)
def test_splitter(X, y):
    splitter = skauc.ResubstitutionSplit()
    folds = ask(lambda X: list(splitter.split(X, y)), X)
    if folds is not None:
        assert len(folds) == splitter.get_n_splits(X, y) == 1
        assert np.array_equal(*folds[0])


# ------------------------------------------------------------------------- estimators

ROWWISE = ["decision_function", "predict", "predict_proba", "predict_log_proba"]
CLASSIFIERS = {
    "GaussianAUCClassifier": {
        "solver": rarely(st.sampled_from(["bfgs", "closed_form"]), things),
        "shrinkage": rarely(st.sampled_from(["auto", "oas", "bayes", 0.5]), things),
        "standardize": st.booleans(),
        "threshold": rarely(st.sampled_from(["youden", "prior", 0.1]), things),
        "tol": rarely(st.just(1e-6), things),
        "max_iter": rarely(st.just(50), things),
        "coef_init": rarely(st.none(), scores(2)),
    },
    "IRLSLogisticRegression": {
        "C": rarely(st.sampled_from([np.inf, 1.0, np.inf, 1e-9]), things),
        "penalty": rarely(st.sampled_from(["l2", "firth"]), things),
        "fit_intercept": st.booleans(),
        "tol": rarely(st.just(1e-6), things),
        "max_iter": rarely(st.just(20), things),
        "max_halvings": rarely(st.just(5), things),
        "class_weight": rarely(st.sampled_from([None, "balanced", {0: 2}]), things),
        "reference": rarely(st.sampled_from([None, 0, 1]), things),
        "warm_start": st.booleans(),
    },
    "LinearDiscriminantROC": {
        "solver": rarely(st.sampled_from(["svd", "lsqr", "eigen"]), things),
        "shrinkage": st.sampled_from([None, "auto", 0.5]),
        "denominator": rarely(st.sampled_from(["unbiased", "ml"]), things),
        "priors": st.sampled_from([None, [0.5, 0.5], [0.9, 0.1]]),
    },
    "QuadraticDiscriminantROC": {
        "reg_param": rarely(st.sampled_from([0.0, 0.5]), things),
        "priors": st.sampled_from([None, [0.5, 0.5], [0.9, 0.1]]),
    },
}


@st.composite
def training(draw):
    n = draw(sizes)
    P = draw(st.integers(1, 4))
    parts = draw(labels(n)), draw(matrices(n, P)), draw(weights(n))
    return *parts, draw(matrices(3, P))


def check_classifier(name, data, options):
    kind = getattr(skauc, name)
    y, X, weight, new = data
    model = kind(**options)
    names = [*inspect.signature(kind).parameters, "X", "y", "sample_weight"]
    # LDA and QDA take no weights, and their parents' texts are scikit-learn's.
    extra = {"sample_weight": weight} if "sample_weight" in _arguments(kind.fit) else {}
    fitted = ask(model.fit, X, y, names=names, **extra)
    if fitted is not None:
        check_predictions(fitted, new, names)
    return fitted


def _arguments(method):
    return inspect.signature(method).parameters


def check_predictions(model, new, names):
    decision = ask(model.decision_function, new, names=names)
    within(decision, -np.inf, np.inf)
    label = ask(model.predict, new, names=names)
    assert label is None or np.isin(label, model.classes_).all()
    within(ask(model.predict_proba, new, names=names), slack=1e-12)
    within(ask(model.predict_log_proba, new, names=names), -np.inf, 1e-12)
    if isinstance(getattr(model, "auc_", None), float):
        within(model.auc_)
        check_curve(model.roc_)


@asks(
    "GaussianAUCClassifier",
    *members("GaussianAUCClassifier", [*ROWWISE, "fit", "partial_fit"]),
    data=training(),
    options=maybe(CLASSIFIERS["GaussianAUCClassifier"]),
    known=rarely(st.just([0, 1]), things),
)
def test_gaussian_auc(data, options, known):
    check_classifier("GaussianAUCClassifier", data, options)
    y, X, weight, new = data
    model = skauc.GaussianAUCClassifier(shrinkage="oas")
    names = ["moments_", "features"]
    if ask(model.partial_fit, X, y, known, weight, names=names) is not None:
        ask(model.partial_fit, new, [0, 1, 1], names=names)
        if hasattr(model, "coef_"):
            check_predictions(model, new, names)


def n_rows(block):
    """What is asked of a block here."""
    return len(block)


BLOCKWISE = ["from_arrays", "from_parquet", "feature_names"]
BLOCKWISE += ["map", "total", "gather", "beside", "every"]


@asks(
    "RowBlocks",
    *members("RowBlocks", BLOCKWISE),
    data=training(),
    given=rarely(st.just(None), things),
    size=rarely(st.integers(1, 5), things),
    model=st.sampled_from(["GaussianAUCClassifier", "LinearDiscriminantROC"]),
)
def test_row_blocks(data, given, size, model):
    y, X, weight, _ = data
    ask(skauc.RowBlocks, given)
    path = given if isinstance(given, str) else "no such file"
    with pytest.raises((OSError, TypeError, ValueError, ImportError)):
        skauc.RowBlocks.from_parquet(path, y="y", X=given)
    blocks = ask(
        skauc.RowBlocks.from_arrays, X, y, weight, n_rows=size, names=["X", "y"]
    )
    blocks = blocks or skauc.RowBlocks([(X, y), (X, y)])
    assert blocks.feature_names is None
    names = ["X", "y", "positive", "sample_weight", "blocks", "features"]
    lengths = ask(blocks.map, n_rows, names=names)
    total = ask(blocks.total, n_rows, names=names)
    assert (lengths is None or sum(lengths) in (0, total)) or total is None
    if total:
        rows, labels, _ = blocks.gather()
        assert len(rows) == len(labels) == total
        ahead = blocks.every(2).map(n_rows)
        assert sum(ahead) <= total
        assert blocks.beside({}, {}).map(n_rows) == lengths
    for part in ask(skauc.class_moments, blocks, names=names) or ():
        check_moments(part)
    fitted = ask(getattr(skauc, model)().fit, blocks, names=names)
    if fitted is not None:
        within(fitted.coef_, -np.inf, np.inf)
        within(fitted.auc_)
    fitted = ask(skauc.IRLSLogisticRegression(C=1.0).fit, blocks, names=names)
    if fitted is not None and len(fitted.classes_) == 2:
        posterior = ask(skauc.auc_posterior, fitted, blocks, names=[*SAID, "y"])
        if posterior is not None:
            within(posterior.mean())


INFERENCE = ["covariance_", "standard_errors_", "aic_", "bic_"]
REPORT = ["summary", "confidence_interval", "wald_test", "predict_interval"]
REPORT += ["likelihood_ratio_test"]


@asks(
    "IRLSLogisticRegression",
    *members(
        "IRLSLogisticRegression",
        [*ROWWISE, "fit", "score", *REPORT, *INFERENCE],
    ),
    data=training(),
    options=maybe(CLASSIFIERS["IRLSLogisticRegression"]),
    level=levels,
    how=maybe(
        {
            "covariance": rarely(
                st.sampled_from(["model", "HC0", "HC1", "cluster"]), things
            ),
            "method": rarely(st.sampled_from(["wald", "profile"]), things),
            "groups": rarely(st.just(None), sizes.flatmap(scores)),
        }
    ),
    contrast=rarely(st.sampled_from([np.eye(2), [0, 1], np.eye(3)[1:]]), things),
    value=rarely(st.just(0.0), things),
)
def test_irls(data, options, level, how, contrast, value):
    model = check_classifier("IRLSLogisticRegression", data, options)
    if model is None:
        return
    within(model.log_likelihood_, -np.inf, 1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in INFERENCE:  # refused as attributes are, with the reason
            if hasattr(model, name):
                assert not np.isnan(getattr(model, name)).any(), name
        try:
            table = ask(model.summary, level, names=["C", "separation"])
            test = ask(
                model.likelihood_ratio_test,
                model,
                names=["C", "Infinite", "separation", "penalty"],
            )
        except AttributeError as refusal:
            if not re.search(r"separat|finite C|C=|penal", str(refusal)):
                raise
            return
    if table is not None:
        str(table)
        within(table.pvalue[table.standard_error > 0])  # 0 by convention: no test
    if test is not None:
        within(test.pvalue)
    check_report(model, data, level, how, contrast, value)


def check_report(model, data, level, how, contrast, value):
    y, X, weight, new = data
    rows = {"X": X, "y": y, "sample_weight": weight}
    said = ["C", "penalty", "separation", "features", "fit", "offset", "covariance_"]
    said += ["classes_", "n_parameters_", *rows]
    said = {"names": said}
    table = ask(model.summary, level, **how, **rows, **said)
    if table is not None:
        within(table.pvalue[table.standard_error > 0])
        within(table.odds_ratios().low, 0, np.inf)
        assert np.all(table.low <= table.high)
        str(table.odds_ratios())
        limits = ask(model.confidence_interval, level, **how, **rows, **said)
        assert np.array_equal(limits[0], table.low)
    limits = ask(model.predict_interval, new, level, **said)
    if limits is not None:
        within(limits)
        assert np.all(limits[0] <= limits[1])
    how = {key: how[key] for key in how if key != "method"}
    test = ask(model.wald_test, contrast, value, **how, **rows, **said)
    if test is not None:
        within(test.pvalue)
    test = ask(
        model.likelihood_ratio_test, contrast=contrast, value=value, **rows, **said
    )
    if test is not None:
        within(test.pvalue)
    within(ask(model.score, X, y, sample_weight=weight, names=["y", "X"]))


@asks(
    "calibration_estimate",
    "CalibrationEstimate",
    "CalibrationEstimate.standard_error",
    "CalibrationEstimate.confidence_interval",
    "CalibrationEstimate.to_frame",
    "hosmer_lemeshow",
    "HosmerLemeshow",
    "HosmerLemeshow.to_frame",
    data=rows(
        lambda n: rarely(
            st.lists(st.floats(0, 1, width=16), min_size=n, max_size=n), scores(n)
        ),
        weights,
    ),
    options=maybe(labelled),
    level=levels,
    name=rarely(st.sampled_from(["slope", "intercept", "in_the_large"]), things),
    how=maybe(
        {
            "n_groups": rarely(st.sampled_from([2, 3, 10]), things),
            "rows": rarely(st.sampled_from(["training", "held-out"]), things),
        }
    ),
)
def test_calibration(data, options, level, name, how):
    y, p, weight = data
    options = {**options, "sample_weight": weight}
    found = ask(skauc.calibration_estimate, y, p, **options)
    if found is not None:
        within([found.slope, found.intercept, found.in_the_large], -np.inf, np.inf)
        within(found.pvalue)
        within(ask(found.standard_error, name), 0, np.inf)
        ordered(ask(found.confidence_interval, name, level), -np.inf, np.inf)
        repr(found)
        assert len(found.to_frame()) == 3
    test = ask(skauc.hosmer_lemeshow, y, p, **options, **how)
    if test is not None:
        within(test.pvalue)
        within(test.statistic, 0, np.inf)
        repr(test)
        assert test.to_frame()["n"].sum() > 0


@asks(
    "LinearDiscriminantROC",
    *members("LinearDiscriminantROC", [*ROWWISE, "fit", "transform"]),
    data=training(),
    options=maybe(CLASSIFIERS["LinearDiscriminantROC"]),
)
def test_lda(data, options):
    check_classifier("LinearDiscriminantROC", data, options)


@asks(
    "QuadraticDiscriminantROC",
    *members("QuadraticDiscriminantROC", [*ROWWISE, "fit"]),
    share=0.5,
    data=training(),
    options=maybe(CLASSIFIERS["QuadraticDiscriminantROC"]),
)
def test_qda(data, options):
    check_classifier("QuadraticDiscriminantROC", data, options)


# --------------------------------------------------------------------------- pictures

DRAWN = ["from_estimator", "from_predictions", "plot"]


@asks(
    "BinormalROCDisplay",
    *members("BinormalROCDisplay", DRAWN),
    "AUCEstimate.plot",
    "AUCPosteriorDisplay",
    *members("AUCPosteriorDisplay", DRAWN),
    share=0.2,
    **on_rows,
    score=sizes.flatmap(scores),
    kind=st.sampled_from([skauc.BinormalROCDisplay, skauc.AUCPosteriorDisplay]),
    options=maybe({**labelled, "confidence_level": levels}),
)
def test_displays(model, data, score, kind, options):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    y, X, weight = data
    options = {**options, "sample_weight": weight}
    for drawn in (
        ask(kind.from_estimator, model, X, y, names=SAID, **options),
        ask(kind.from_predictions, y, score, **options),
    ):
        if drawn is not None:
            assert drawn.ax_ is not None
            drawn.plot()
    estimate = ask(skauc.auc_estimate, y, score)
    if estimate is not None:
        ask(estimate.plot, names=["y_score"])
    plt.close("all")


# ------------------------------------------------------------------------ nobody left


@asks("clear_cache", "UntrustedAUCWarning", share=0.05, said=things)
def test_what_takes_next_to_nothing(said):
    assert ask(skauc.clear_cache) is None
    assert issubclass(skauc.UntrustedAUCWarning, UserWarning)
    str(ask(skauc.UntrustedAUCWarning, said))


def public_members(kind):
    """Methods and properties that this package defines."""
    found = {}
    for parent in reversed(kind.__mro__):
        if parent.__module__.split(".")[0] == "skauc":
            found.update(vars(parent))
    return {
        name
        for name, value in found.items()
        if not name.startswith("_")
        and not re.fullmatch("set_.*_request", name)  # scikit-learn makes those
        and (
            inspect.isfunction(value)
            or isinstance(value, classmethod | staticmethod | property)
            or hasattr(type(value), "__get__")
        )
    }


def test_every_public_callable_is_asked():
    wanted = set(skauc.__all__)
    for name in skauc.__all__:
        kind = getattr(skauc, name)
        if inspect.isclass(kind):
            wanted |= {f"{name}.{member}" for member in public_members(kind)}
    # Fields of dataclasses that have a default are no members to call.
    fields = {
        f"{name}.{field}"
        for name in skauc.__all__
        for field in getattr(getattr(skauc, name), "__dataclass_fields__", ())
    }
    assert wanted - fields - set(ASKED) == set()
    assert {name for name in ASKED if "." not in name} == set(skauc.__all__)


def test_an_answer_out_of_range_is_noticed():
    for wrong in (np.nan, 1.5, [0.5, -0.1]):
        with pytest.raises(AssertionError):
            within(wrong)
    with pytest.raises(AssertionError):
        ask(lambda y: np.zeros(2) + np.zeros(3), 0)
    with pytest.raises(RuntimeWarning):
        ask(lambda y: np.float64(1) / np.float64(0), 0)
