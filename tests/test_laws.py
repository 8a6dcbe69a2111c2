"""Laws that all public calls obey: one table of calls, one of laws, one of exceptions.

A call takes ``Rows`` and returns numbers. A law makes two versions of the same rows for
which the numbers must agree.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc

# Warnings about doubtful numbers and dependent features are tested with the functions
# that give them.
pytestmark = [
    pytest.mark.filterwarnings("ignore::skauc.UntrustedAUCWarning"),
    pytest.mark.filterwarnings("ignore:.*linearly dependent"),
]


@dataclass(frozen=True)
class Rows:
    """The arguments of all calls."""

    X: object
    y: object
    score: object
    other: object
    prob: object
    weight: object = None
    scaled: bool = False  # whether models scale the features
    sign: float = 1.0  # -1 where the classes are swapped

    @property
    def weighted(self):
        return {} if self.weight is None else {"sample_weight": self.weight}

    def model(self, C=0.3):
        logistic = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
        return make_pipeline(StandardScaler(), logistic) if self.scaled else logistic

    def fitted(self, C=0.3):
        return self.model(C).fit(self.X, self.y, **self.weighted)


@cache
def base():
    """Return 60 rows of four features and two scores, all exact in float32."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 5 // 3
    X = np.float32(rng.normal(size=(60, 4)) + np.outer(y, [1.0, 0.5, 0.0, 0.0]))
    score = np.float32(y + rng.normal(size=60)).astype(float)
    other = np.float32(y + 1.5 * rng.normal(size=60)).astype(float)
    prob = np.float32(1 / (1 + np.exp(-(score - 0.5)))).astype(float)
    return Rows(X.astype(float), y, score, other, prob)


# ------------------------------------------------------------------------- the calls


def intervals(*methods):
    def call(rows):
        estimate = skauc.auc_estimate(rows.y, rows.score, **rows.weighted)
        limits = [estimate.confidence_interval(0.9, method=m) for m in methods]
        return estimate.auc, estimate.standard_error(methods[0]), *limits

    return call


def partial_area(rows):
    estimate = skauc.auc_estimate(rows.y, rows.score, **rows.weighted)
    part = estimate.partial_auc(fpr=(0, 0.3))
    return part.auc, part.standard_error, *part.confidence_interval()


def comparison(rows):
    result = skauc.compare_auc(rows.y, rows.score, rows.other, **rows.weighted)
    return result.auc_a, result.auc_b, result.pvalue, *result.confidence_interval()


def many_comparisons(rows):
    scores = rows.score, rows.other, rows.prob
    result = skauc.compare_auc(rows.y, *scores, **rows.weighted)
    return *result.auc, result.pvalue, *result.adjusted_pvalues


def one_vs_rest(rows):
    P = np.asarray(rows.prob, float)
    scores = np.column_stack([1 - P, P])
    result = skauc.one_vs_rest_auc(rows.y, scores, **rows.weighted)
    average = result.average()
    limits = average.confidence_interval()
    return *result.auc, *result.standard_error(), average.standard_error, *limits


def hand_till(rows):
    P = np.asarray(rows.prob, float)
    high = np.asarray(rows.other) > np.quantile(rows.other, 0.7)
    three = np.where(high, 2, rows.y)
    result = skauc.hand_till_auc(three, np.column_stack([1 - P, P, P**2]))
    return result.auc, result.standard_error


def binormal(rows):
    roc = skauc.binormal_roc(rows.y, rows.score, **rows.weighted)
    score = skauc.binormal_roc(rows.y, rows.score, **rows.weighted).auc
    return roc.auc, score


def curve(rows):
    roc = skauc.empirical_roc(rows.y, rows.score, **rows.weighted)
    return roc.auc, roc.youden().j, *roc.roc([0.1, 0.5, 0.9])


def points(rows):
    result = skauc.operating_points(
        rows.y, rows.score, sensitivity=0.8, prevalence=0.2, **rows.weighted
    )
    limits = result.confidence_interval(name="sensitivity", method="wilson")
    return result.sensitivity, result.specificity, result.ppv, *limits


def calibration(rows):
    result = skauc.calibration_estimate(rows.y, rows.prob, **rows.weighted)
    return abs(result.slope), result.pvalue, *result.standard_error


def hosmer_lemeshow(rows):
    result = skauc.hosmer_lemeshow(rows.y, rows.prob, n_groups=5, **rows.weighted)
    return result.statistic, result.pvalue


def moments(rows):
    neg, pos = skauc.class_moments(rows.X, np.asarray(rows.y) == 1, rows.weight)
    return neg.n, pos.n, *neg.mean, *pos.mean, *np.ravel(neg.scatter)


def summarise(posterior):
    return posterior.mean(), posterior.std(), *posterior.interval(0.9)


def posterior_of(rows, **options):
    fitted = rows.fitted()
    return summarise(
        skauc.auc_posterior(
            fitted, rows.X, rows.y, rows="training", **rows.weighted, **options
        )
    )


def validation_score(rows):
    score = skauc.bayesian_val_score(rows.model(), rows.X, rows.y, **rows.weighted)
    return summarise(score)


def diagnosis(rows):
    found = skauc.diagnose(
        rows.fitted(), rows.X, rows.y, rows="training", **rows.weighted
    )
    return found.posterior.mean(), *found.attainable


def differences(rows):
    gap = skauc.auc_difference_posterior(
        rows.fitted(0.3), rows.fitted(0.01), rows.X, rows.y, **rows.weighted
    )
    return gap.mean(), gap.probability, *gap.interval(0.9)


def searched(rows):
    grid = {f"{'logisticregression__' * rows.scaled}C": [0.01, 0.1, 1.0]}
    how = {"scoring": skauc.cbauc_scorer, "cv": skauc.ResubstitutionSplit()}
    search = GridSearchCV(rows.model(), grid, **how).fit(rows.X, rows.y)
    found = skauc.search_posterior(search, rows.X, rows.y, random_state=0)
    return *search.cv_results_["mean_test_score"], *found.auc.mean()


def selected(rows):
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression())
    return skauc.cbauc_scorer(model.fit(rows.X, rows.y), rows.X, rows.y)


def forest(rows):
    model = RandomForestClassifier(80, random_state=0)
    model = make_pipeline(StandardScaler(), model) if rows.scaled else model
    return skauc.lpo_auc_scorer(model.fit(rows.X, rows.y), rows.X, rows.y)


def left_out(rows):
    found = skauc.bootstrap_auc(rows.model(), rows.X, rows.y, n_resamples=10)
    return found.auc, found.apparent


def folds(rows):
    result = skauc.cross_val_auc(rows.model(), rows.X, rows.y, 3)
    return result.auc, result.standard_error


def compared_folds(rows):
    models = {"a": rows.model(0.3), "b": rows.model(0.01)}
    result = skauc.compare_cross_val_auc(models, rows.X, rows.y, 3)
    return result.auc_a, result.difference, result.pvalue


def scorer(name):
    def call(rows):
        score = getattr(skauc, name)
        return score(rows.fitted(), rows.X, rows.y, **rows.weighted)

    return call


def score_function(name):
    def call(rows):
        return getattr(skauc, name)(rows.y, rows.score, **rows.weighted)

    return call


def classifier(kind, **options):
    def call(rows, before=None):
        model = kind(**options)
        if before is not None:
            model.fit(before.X, before.y)
        model.fit(rows.X, rows.y, **rows.weighted)
        return getattr(model, "auc_", 1.0), rows.sign * model.coef_

    return call


CLASSIFIERS = {
    "GaussianAUCClassifier": classifier(skauc.GaussianAUCClassifier),
    "IRLSLogisticRegression": classifier(skauc.IRLSLogisticRegression),
    "IRLSLogisticRegression, firth": classifier(
        skauc.IRLSLogisticRegression, penalty="firth"
    ),
    "LinearDiscriminantROC": classifier(skauc.LinearDiscriminantROC),
}
OF_SCORES = {
    "auc_estimate": intervals("delong", "score", "hanley_mcneil_score"),
    "auc_estimate, Hanley-McNeil": intervals("hanley_mcneil"),
    "partial_auc": partial_area,
    "compare_auc": comparison,
    "compare_auc of three": many_comparisons,
    "one_vs_rest_auc": one_vs_rest,
    "hand_till_auc": hand_till,
    "binormal_roc": binormal,
    "empirical_roc": curve,
    "operating_points": points,
    "calibration_estimate": calibration,
    "hosmer_lemeshow": hosmer_lemeshow,
    "cbauc_score": score_function("cbauc_score"),
    "ebauc_score": score_function("ebauc_score"),
}
OF_FEATURES = {
    "class_moments": moments,
    "auc_posterior": posterior_of,
    "auc_posterior, paper": lambda rows: posterior_of(rows, prior="paper"),
    "bayesian_val_score": validation_score,
    "diagnose": diagnosis,
    "auc_difference_posterior": differences,
    "search_posterior": searched,
    "cbauc_scorer of SelectKBest": selected,
    "lpo_auc_scorer of a forest": forest,
    "bootstrap_auc": left_out,
    "cross_val_auc": folds,
    "compare_cross_val_auc": compared_folds,
    **{
        name: scorer(name)
        for name in ("cbauc_scorer", "ebauc_scorer", "bee_scorer", "lpo_auc_scorer")
    },
    **CLASSIFIERS,
}
CALLS = OF_SCORES | OF_FEATURES

# -------------------------------------------------------------------------- the laws


def at(rows, index):
    """Return the rows with these numbers."""
    parts = ("X", "y", "score", "other", "prob")
    return replace(rows, **{name: getattr(rows, name)[index] for name in parts})


def weights(rows):
    counts = np.array([1, 2, 3, 1, 2, 1] * 10)
    return replace(rows, weight=counts), at(rows, np.repeat(np.arange(60), counts))


def order(rows):
    return rows, at(rows, np.random.default_rng(0).permutation(60))


def dependent(rows):
    """Permute rows whose features are dependent: a sum, a copy, dummy variables."""
    high = np.eye(2)[(rows.X[:, 3] > 0).astype(int)]
    rows = replace(
        rows, X=np.c_[rows.X, rows.X[:, 0] + rows.X[:, 1], rows.X[:, 2:3], high]
    )
    return order(rows)


def swapped(rows):
    """Swap the classes and negate the scores: the same pairs are ranked right."""
    return rows, replace(
        rows,
        y=1 - rows.y,
        score=-rows.score,
        other=-rows.other,
        prob=1 - rows.prob,
        sign=-1.0,
    )


def units(rows):
    """Move and scale the features and the scores."""
    rows = replace(rows, scaled=True)
    X = rows.X * [1e3, 1e-3, 7.0, 1.0] + [5.0, 0.0, -3.0, 100.0]
    return rows, replace(rows, X=X, score=1e3 * rows.score + 5, other=rows.other / 8)


def single(rows):
    cast = {name: np.float32(getattr(rows, name)) for name in ("X", "score", "other")}
    return rows, replace(rows, **cast, prob=np.float32(rows.prob))


def compressed(rows):
    return rows, replace(rows, X=sparse.csr_array(rows.X))


def frames(rows):
    X = pd.DataFrame(rows.X, columns=list("abcd"), index=np.arange(60)[::-1])
    named = ("y", "score", "other", "prob")
    return rows, replace(
        rows, X=X, **{n: pd.Series(getattr(rows, n), index=X.index) for n in named}
    )


def lists(rows):
    named = ("X", "y", "score", "other", "prob")
    return rows, replace(rows, **{name: getattr(rows, name).tolist() for name in named})


def read_only(rows):
    """Memory maps of files that must not be written."""
    maps = {}
    with TemporaryDirectory() as folder:
        for name in ("X", "y", "score", "other", "prob"):
            file = Path(folder, f"{name}.npy")
            np.save(file, getattr(rows, name))
            maps[name] = np.load(file, mmap_mode="r")
    return rows, replace(rows, **maps)


UNWEIGHTED = dict.fromkeys(
    ("hand_till_auc", "LinearDiscriminantROC", "search_posterior"),
    "takes no sample_weight",
)
FOREST = {"lpo_auc_scorer of a forest": "trees draw rows by their numbers"}
FOLDS = dict.fromkeys(
    ("cross_val_auc", "compare_cross_val_auc"), "folds follow the order of rows"
)
LAWS = {  # law: (function, calls, relative tolerance, {exception: reason})
    "weight of 2 is a row twice": (
        weights,
        CALLS,
        1e-6,
        {
            **UNWEIGHTED,
            **FOLDS,
            **FOREST,
            "cbauc_scorer of SelectKBest": "SelectKBest takes no sample_weight",
            "bootstrap_auc": "draws rows at random",
        },
    ),
    "order of rows": (
        order,
        CALLS,
        1e-6,
        {"bootstrap_auc": "draws rows by their numbers", **FOLDS, **FOREST},
    ),
    "order of rows with dependent features": (
        dependent,
        OF_FEATURES,
        1e-5,
        {"bootstrap_auc": "draws rows by their numbers", **FOLDS, **FOREST},
    ),
    "swapped classes": (
        swapped,
        CALLS,
        1e-6,
        {
            "auc_estimate, Hanley-McNeil": "its formula treats the classes unlike",
            "partial_auc": "the range of rates belongs to one class",
            "empirical_roc": "the curve is reflected; its area is that of auc_estimate",
            "operating_points": "sensitivity is asked of the positive class",
            "class_moments": "returns the negative class first",
            "hand_till_auc": "its three classes are made of y",
            "bootstrap_auc": "draws rows class by class",
        },
    ),
    "shift and scale": (
        units,
        CALLS,
        1e-6,
        {
            "class_moments": "has the units of the features",
            **dict.fromkeys(CLASSIFIERS, "coefficients have the units of the features"),
        },
    ),
    "float32": (single, CALLS, 1e-3, {}),
    "sparse": (
        compressed,
        OF_FEATURES,
        1e-6,
        {
            "cbauc_scorer of SelectKBest": "StandardScaler cannot centre sparse rows",
            "LinearDiscriminantROC": "takes dense rows only, as its parent does",
        },
    ),
    "frame": (frames, CALLS, 1e-9, {}),
    "list": (lists, CALLS, 1e-9, {}),
    "read-only": (read_only, CALLS, 1e-12, {}),
}


def flat(answer):
    """Return all numbers of an answer in one array."""
    parts = answer if isinstance(answer, tuple | list) else (answer,)
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])


@cache
def answer(name):
    """Return the numbers of a call for the rows as they are."""
    return flat(CALLS[name](base()))


def check(law, name):
    versions, calls, tolerance, _ = LAWS[law]
    rows, others = versions(base())
    first = answer(name) if rows is base() else flat(calls[name](rows))
    second = flat(calls[name](others))
    np.testing.assert_allclose(second, first, tolerance, tolerance, err_msg=law)


MEANING, CONTAINERS = list(LAWS)[:5], list(LAWS)[5:]


@pytest.mark.parametrize("laws", [MEANING, CONTAINERS], ids=["meaning", "containers"])
@pytest.mark.parametrize("name", CALLS)
def test_call_obeys_laws(name, laws):
    for law in laws:
        _, calls, _, exceptions = LAWS[law]
        if name in calls and name not in exceptions:
            check(law, name)


@pytest.mark.parametrize("law", LAWS)
def test_exceptions_are_calls_that_break_the_law(law):
    for name, reason in LAWS[law][3].items():
        assert reason
        with pytest.raises((AssertionError, TypeError, ValueError)):
            check(law, name)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_second_fit_forgets_the_first(name):
    other = at(base(), np.arange(5, 45))
    again = CLASSIFIERS[name](base(), before=replace(other, X=5 - other.X))
    np.testing.assert_array_equal(flat(again), flat(CLASSIFIERS[name](base())))
