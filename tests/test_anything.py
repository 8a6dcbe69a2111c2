"""Anything at all: every public callable gets small arrays of any kind.

The answer lies in its range, or a ValueError or TypeError names the argument that is
wrong. No other exception, no warning of NumPy, no nan. A table says which data a call
takes; its options are drawn by their names. The profile of Hypothesis says how many
examples of a call run in the fast suite; the slow one runs four times as many.
"""

import inspect
import re
import traceback
import warnings

import numpy as np
import pytest
from any_data import (
    EXTREMES,
    features,
    good,
    halves,
    labels,
    levels,
    matrices,
    model,
    posteriors,
    rarely,
    rows,
    scores,
    searches,
    shares,
    sizes,
    things,
    weights,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.exceptions import (
    ConvergenceWarning,
    DataConversionWarning,
    UndefinedMetricWarning,
)

import skauc

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

# ------------------------------------------------------------- what may be answered

CALLABLES = [getattr(skauc, name) for name in skauc.__all__]
CALLABLES += [skauc.results.QuadraticForm, skauc.results.BinormalROC]
WORDS = {name for call in CALLABLES for name in inspect.signature(call).parameters}
WORDS |= {"coef_", "classifier", "linear", "model", "objective", "separation", "fit"}
WORDS |= {"features", "offset", "covariance_", "classes_", "moments_", "n_parameters_"}
WORDS |= {"n_resamples", "clone", "n_splits", "scatter", "variance", "arguments"}
WORDS |= {"finite", "Infinite", "Moments", "cv_results", "transform", "adaptive"}
WORDS |= {"(each|the negative|the positive) class", "unexpected keyword argument"}


def names_an_argument(error, names):
    """Return whether the text names an argument, or is scikit-learn's or Python's."""
    source = traceback.extract_tb(error.__traceback__)[-1].filename
    if "sklearn" in source or "/inspect.py" in source:
        return True
    text = str(error)
    return any(re.search(rf"(^|\W){word}($|\W)", text) for word in [*names, *WORDS])


def ask(call, *values, **options):
    """Return the answer of a call; None where it refuses and names the argument."""
    names = [*inspect.signature(call).parameters]
    if isinstance(getattr(call, "__self__", None), BaseEstimator):
        names += call.__self__.get_params()
    with warnings.catch_warnings(record=True) as given_warnings:
        warnings.simplefilter("error")
        for category in UndefinedMetricWarning, ConvergenceWarning:
            warnings.simplefilter("always", category)
        warnings.simplefilter("ignore", skauc.UntrustedAUCWarning)
        warnings.simplefilter("ignore", DataConversionWarning)  # y as a column
        for text in (  # the parents of LDA and QDA, and folds
            "Variables are collinear",
            "The covariance matrix of class",
            "Only one sample available",
            "The least populated class in y",
            "Support for labels represented as bytes",  # of scikit-learn before 1.7
            ".* of the probabilities in y_prob are 0 or 1",
        ):
            warnings.filterwarnings("ignore", message=text)
        try:
            answer = call(*values, **options)
        # scikit-learn's own discriminant does not implement some pairs of options
        except (ValueError, TypeError, NotImplementedError) as error:
            if not names_an_argument(error, names):
                raise AssertionError(f"it names none of {sorted(names)}") from error
            return None
        except AttributeError as error:  # an inference that this fit does not have
            if not re.search(r"separat|finite C|C=|penal", str(error)):
                raise
            return None
    undefined = any(w.category is UndefinedMetricWarning for w in given_warnings)
    return None if undefined else answer


UNIT, SIGNED, POSITIVE = (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf)
REAL, BELOW_1 = (-np.inf, np.inf), (-np.inf, 1.0)
POSTERIORS = "AUCPosterior", "AUCPosteriors", "PairwiseAUCPosterior"
ESTIMATES = "AUCEstimate", "AveragedAUC", "OneVsRestAUC"
RANGES = {  # of members, by name or by class and name; all others are real numbers
    **dict.fromkeys("auc auc_a auc_b pvalue pvalues adjusted_pvalues".split(), UNIT),
    **dict.fromkeys("cdf sf fpr tpr roc sensitivity specificity".split(), UNIT),
    **dict.fromkeys("accuracy ppv npv apparent probability p_best".split(), UNIT),
    **dict.fromkeys("expected_loss median ppf rvs predict_proba".split(), UNIT),
    **dict.fromkeys("std var standard_error pdf n_neg n_pos".split(), POSITIVE),
    **dict.fromkeys("lr_positive lr_negative".split(), POSITIVE),
    **dict.fromkeys("difference differences".split(), SIGNED),
    "predict_log_proba": (-np.inf, 0.0),
    **{f"{kind}.mean": UNIT for kind in POSTERIORS},
    **{f"{kind}.interval": UNIT for kind in POSTERIORS},
    **{f"{kind}.confidence_interval": UNIT for kind in ESTIMATES},
    **{f"AUCDifferencePosterior.{m}": SIGNED for m in ("mean", "ppf", "median")},
    "AUCComparison.confidence_interval": SIGNED,
    "PartialAUC.auc": BELOW_1,  # standardised: worse than chance is below 0
    "PartialAUC.confidence_interval": BELOW_1,
}
# 0/0 is nan
UNDEFINED = {"ppv", "npv", "lr_positive", "lr_negative", "covariance"}


def has_nan(values):
    """Return whether an argument contains nan, which may then be in the answer."""
    try:
        return bool(np.isnan(np.asarray(values, dtype=float)).any())
    except (TypeError, ValueError):
        return False


def check_numbers(name, answer, limits, nan_allowed):
    """Check that numbers lie in their range, and limits in their order."""
    if isinstance(answer, tuple | list) and not hasattr(answer, "dtype"):
        parts = [np.asarray(part) for part in answer if not isinstance(part, str)]
    else:
        parts = [np.asarray(answer)]
    for part in parts:
        if part.dtype.kind in "fiub":
            numbers = part.astype(float)
            assert nan_allowed or not np.isnan(numbers).any(), (name, answer)
            numbers = numbers[~np.isnan(numbers)]
            low, high = limits
            inside = (numbers >= low - 1e-9) & (numbers <= high + 1e-9)
            assert inside.all(), (name, answer, limits)
    if name.endswith("interval") and len(parts) == 2:
        assert np.all(~(parts[0] > parts[1])), (name, answer)


# -------------------------------------------------------------------- options by name


def one_of(*values):
    return rarely(st.sampled_from(values), things)


ranges = one_of((0, 0.1), (0.2, 0.5), (0, 1), [0.9, 1.0])
numbers = rarely(st.one_of(st.floats(-3, 3), st.sampled_from(EXTREMES)), things)
points = rarely(st.lists(st.one_of(st.floats(-1, 2), st.just(0.0)), max_size=3), things)
rates = one_of(0.1, 0.5, 0.9, [0.2, 0.8])
studies = one_of(0.6, 0.8, 0.3, [0.7, 0.9], 1 - 1e-9)
priors = one_of(
    "adaptive",
    "paper",
    skauc.AdaptivePrior(leave_pair_out=False),
    skauc.NormalInverseWishart(scale=0.0, nu_neg=0, nu_pos=0),
)
OPTIONS = {
    "alpha": one_of(0.05, 0.1, 1e-12),
    "alternative": one_of("two-sided", "less", "greater"),
    "auc2": studies,
    "C": one_of(np.inf, 1.0, 1e-9),
    "confidence_level": levels,
    "correlation": one_of(0.5, 1, [0, -1]),
    "cost": things,
    "covariance": one_of("common", "separate"),
    "cv": one_of(2, 3),
    "equal_variance": one_of(True, False),
    "featurewise": one_of(True, False),
    "fit_intercept": st.booleans(),
    "fpr": ranges,
    "margin": one_of(0.0, 0.1),
    "max_iter": one_of(20, 50),
    "name": one_of("threshold", "sensitivity", "specificity", "ppv", "slope"),
    "n_groups": one_of(2, 3, 10),
    "null": studies,
    "place": one_of(0, 1, -1),
    "pos_label": st.sampled_from([None, None, 0, 1, "no", "yes", [], np.nan]),
    "power": one_of(0.8, 0.99, [0.5, 0.9]),
    "prevalence": one_of(0.1, 1e-9),
    "prior": priors,
    "q": points,
    "ratio": one_of(0.01, 1, 30),
    "random_state": st.sampled_from([0, 1]),
    "reg_param": one_of(0.0, 0.5),
    "rope": one_of(0.0, 0.02),
    "rows": one_of("training", "held-out", "auto"),
    "scale": one_of("auc", "probit"),
    "seed": st.sampled_from([None, 0, -1, "a", 0.5]),
    "shrinkage": one_of(None, "auto", 0.5),
    "size": st.sampled_from([None, 0, 3, (2, 2), -1, "a", 0.5]),
    "solver": one_of("svd", "lsqr", "eigen"),
    "standardize": one_of(True, False),
    "thresholds": one_of("scores", "all"),
    "tol": one_of(1e-6),
    "tpr": ranges,
    "transform": one_of("none", "logit", None),
    "u": points,
    "width": one_of(0.1, 0.5),
    "x": points,
    "auc_estimate.method": one_of("score", "delong", "hanley_mcneil"),
    "AUCEstimate.method": one_of(
        *("score", "delong", "hanley_mcneil", "hanley_mcneil_score")
    ),
    "EmpiricalROC.method": one_of("pointwise", "simultaneous"),
    "EmpiricalROC.fpr": rates,
    "IRLSLogisticRegression.covariance": one_of("model", "HC0", "HC1", "cluster"),
    "IRLSLogisticRegression.method": one_of("wald", "profile"),
    "IRLSLogisticRegression.penalty": one_of("l2", "firth"),
    "IRLSLogisticRegression.class_weight": one_of(None, "balanced", {0: 2}),
    "OperatingPoints.method": one_of("wilson", "clopper_pearson", None),
    "auc_power.method": one_of("binormal", "hanley_mcneil"),
    "auc_sample_size.method": one_of("binormal", "hanley_mcneil"),
    "bootstrap_auc.method": one_of(".632+", ".632", "oob"),
    "compare_auc.null": one_of(0.0, 0.5, 0.8, 1.0),
    "compare_auc.method": one_of("delong", "permutation", "welch"),
    "GaussianAUCClassifier.threshold": one_of("youden", "prior"),
    "operating_points.threshold": rates,
    "operating_points.sensitivity": rates,
    "operating_points.best": one_of("youden", "closest"),
    "search_posterior.prior": priors,
    "AdaptivePrior.attainable_power": one_of(0.5, 2.0, 20.0),
    "AdaptivePrior.leave_pair_out": st.booleans(),
    "AdaptivePrior.refits": one_of(None, 0, 2),
    "QuadraticROC.partial_auc": one_of(0.1, 1.0),
    "one_sd_rule.within": one_of(0, 1.0, np.inf),
}
ALWAYS = {"n_resamples": one_of(20)}
NEW_ROWS = {"X": matrices(3, 2)}  # of a fitted classifier


def draw_options(data, call, owner, required=()):
    """Draw some options of a call by their names; None where one has no strategy."""
    names, chosen = inspect.signature(call).parameters, {}
    for name, parameter in names.items():
        strategy = OPTIONS.get(f"{owner}.{name}", OPTIONS.get(name))
        if name in ALWAYS:
            chosen[name] = data.draw(ALWAYS[name])
        elif name in NEW_ROWS and name in required:
            chosen[name] = data.draw(NEW_ROWS[name])
        elif name in required:
            if strategy is None:
                return None
            chosen[name] = data.draw(strategy)
        elif strategy is not None and data.draw(st.integers(0, 2)) == 0:
            chosen[name] = data.draw(strategy)
        assert parameter.kind is not parameter.POSITIONAL_ONLY
    return chosen


# ---------------------------------------------------------------------- the one body


def public_members(kind):
    """Return the names of methods and properties that this package defines."""
    found = {}
    for parent in reversed(kind.__mro__):
        if parent.__module__.split(".")[0] == "skauc":
            found.update(vars(parent))
    return sorted(
        name
        for name, value in found.items()
        if not name.startswith("_")
        and not re.fullmatch("set_.*_request|plot|partial_fit", name)
        and (inspect.isfunction(value) or isinstance(value, property))
    )


def check_member(data, answer, name):
    """Ask one property or method, with arguments drawn by name."""
    kind = type(answer).__name__
    limits = RANGES.get(f"{kind}.{name}", RANGES.get(name, REAL))
    if isinstance(inspect.getattr_static(type(answer), name), property):
        value, options = ask(lambda: getattr(answer, name)), {}
    else:
        method = getattr(answer, name)
        parameters = inspect.signature(method).parameters.values()
        required = {
            p.name
            for p in parameters
            if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        }
        options = draw_options(data, method, kind, required)
        if options is None:
            return
        value = ask(method, **options)
    nan_allowed = name in UNDEFINED or any(map(has_nan, options.values()))
    nan_allowed |= str(options.get("name")) in {*UNDEFINED, "npv", "threshold"}
    if isinstance(value, float | int | np.ndarray | tuple | list):
        check_numbers(f"{kind}.{name}", value, limits, nan_allowed)


def check_answer(data, answer, limits):
    """Check a number, or a few members of an object and its text."""
    if answer is None or isinstance(answer, str | bool):
        return
    if isinstance(answer, dict):
        answer = list(answer.values())
    if type(answer).__module__.split(".")[0] != "skauc" or isinstance(answer, tuple):
        if isinstance(answer, float | int | np.ndarray | tuple | list):
            check_numbers("answer", answer, limits, False)
        return
    repr(answer)
    names = public_members(type(answer))
    if not names:
        return
    for name in data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True)):
        check_member(data, answer, name)


on_scores = {"y_true": labels, "y_score": scores, "sample_weight": weights}
on_rows = {"X": features(2), "y": labels, "sample_weight": weights}
scored = {"X": features(2), "y_true": labels, "sample_weight": weights}
of_classes = {"y_true": labels, "y_score": lambda n: matrices(n, 2)}
on_prob = {"y_true": labels, "y_prob": shares, "sample_weight": weights}
count = st.one_of(st.integers(0, 60), st.integers(1, 60), things)


def on_model(data, **models_):
    """Arguments of rows, with an estimator before them."""
    estimators = st.fixed_dictionaries(models_ or {"estimator": model})
    return st.tuples(estimators, data).map(lambda both: both[0] | both[1])


def fixed(**strategies):
    return st.fixed_dictionaries(strategies)


def masks(n):
    return rarely(st.lists(st.booleans(), min_size=n, max_size=n).map(np.array), things)


two_or_three = st.integers(2, 3).flatmap(
    lambda k: st.lists(good, min_size=k, max_size=k)
)
four = "mean_neg", "std_neg", "mean_pos", "std_pos"
normals = "mean_neg", "covariance_neg", "mean_pos", "covariance_pos"
counts = "n_pos", "n_neg", "n_errors"
CASES = {  # public names that take the same data: the strategy of these data
    """auc_estimate binormal_roc cbauc_score ebauc_score
    empirical_roc operating_points""": rows(**on_scores),
    "calibration_estimate hosmer_lemeshow": rows(**on_prob),
    "hand_till_auc one_vs_rest_auc": rows(**of_classes),
    "auc_posterior bayesian_val_score bootstrap_auc diagnose": on_model(
        rows(**on_rows)
    ),
    """bee_scorer cbauc_scorer cv_auc_scorer ebauc_scorer
    lpo_auc_scorer""": on_model(rows(**scored)),
    "auc_permutation_test cross_val_auc": on_model(rows(X=features(2), y=labels)),
    "compare_cross_val_auc": on_model(halves(8), estimators=two_or_three),
    "auc_difference_posterior": on_model(
        rows(**on_rows), estimator_a=model, estimator_b=model
    ),
    "search_posterior": st.one_of(
        on_model(halves(12), search=st.deferred(lambda: st.just(searches()[1]))),
        on_model(rows(X=features(2), y=labels), search=two_or_three | things),
    ),
    "compare_auc": rows(
        y_true=labels, score_a=scores, score_b=scores, sample_weight=weights
    ),
    "cortes_mohri_interval cortes_mohri_moments": fixed(**dict.fromkeys(counts, count)),
    "auc_power": fixed(auc=studies, n_pos=count, n_neg=count),
    "auc_sample_size": fixed(auc=studies),
    "class_moments": rows(X=features(), positive=masks),
    "Moments.from_samples": rows(X=features(), sample_weight=weights),
    "AdaptivePrior": fixed(),
    "NormalInverseWishart": fixed(nu_neg=numbers, kappa=numbers, scale=sizes),
    "BinormalROC": fixed(**dict.fromkeys(four, numbers)),
    "QuadraticForm": sizes.flatmap(
        lambda n: fixed(weights=scores(n % 4), slopes=scores(n % 4))
    ),
    "QuadraticROC.between_normals": fixed(
        **dict.fromkeys(normals[::2], st.floats(-2, 2)),
        **dict.fromkeys(normals[1::2], one_of(1.0, 0.1, 100.0)),
    ),
}
CASES = {name: data for names, data in CASES.items() for name in names.split()}
CLASSIFIERS = ["GaussianAUCClassifier", "IRLSLogisticRegression"]
CLASSIFIERS += ["LinearDiscriminantROC", "QuadraticDiscriminantROC"]
MAKERS = [name for name in skauc.__all__ if name.startswith("make_")]
ON_PROBABILITIES = "CalibrationDisplay", "DecisionCurveDisplay"
COSTLY = set(  # they fit many models or draw pictures
    """SearchDisplay AUCPosteriorDisplay ROCDisplay bootstrap_auc
    auc_permutation_test     CalibrationDisplay DecisionCurveDisplay
    compare_cross_val_auc cross_val_auc cv_auc_scorer search_posterior
    bayesian_val_score diagnose auc_posterior make_cv_auc_scorer RowBlocks
    QuadraticROC.between_normals AUCPosterior PairwiseAUCPosterior""".split()
)


def check_call(data, name):
    """Call a public name with data of its table and options by their names."""
    limits = UNIT if name.endswith(("_score", "_scorer", "_power")) else REAL
    call = skauc if hasattr(skauc, name.split(".")[0]) else skauc.results
    for part in name.split("."):
        call = getattr(call, part)
    values = data.draw(CASES[name])
    options = draw_options(data, call, name.split(".")[0], ())
    values = {k: v for k, v in values.items() if v is not None or k == "estimator"}
    check_answer(data, ask(call, **{**options, **values}), limits)


def check_classifier(data, name):
    """Fit, then ask for predictions on other rows, and for reports."""
    kind = getattr(skauc, name)
    classifier = ask(kind, **draw_options(data, kind, name))
    values = data.draw(rows(**on_rows))
    if values["sample_weight"] is None or not name.startswith(("Gaussian", "IRLS")):
        del values["sample_weight"]
    fitted = ask(classifier.fit, **values)
    if fitted is not None:
        for member in ("decision_function", "predict_proba", "predict_log_proba"):
            check_member(data, fitted, member)
        names = set(public_members(kind)) - {"fit", "score", "transform"}
        few = st.lists(st.sampled_from(sorted(names)), max_size=3, unique=True)
        for member in data.draw(few):
            check_member(data, fitted, member)


def check_maker(data, name):
    """Make a scorer and score with it."""
    make = getattr(skauc, name)
    options = draw_options(data, make, name)
    scorer = ask(make, **options)
    if scorer is not None:
        repr(scorer)
        values = data.draw(on_model(rows(X=features(2), y_true=labels)))
        limits = REAL if {"scale"} & options.keys() else UNIT
        check_answer(data, ask(scorer, **values), limits)


def check_posterior(data, name):
    """Ask members of a posterior, alone or of pairs of classes."""
    posterior = data.draw(posteriors())
    if name == "PairwiseAUCPosterior":
        posterior = skauc.results.PairwiseAUCPosterior(
            {(0, 1): posterior, (0, 2): posterior}
        )
    check_answer(data, posterior, UNIT)


def check_blocks(data, name):
    """Fit models to blocks of rows."""
    values = data.draw(rows(X=features(2), y=labels))
    size = data.draw(one_of(1, 3, 5))
    ask(skauc.RowBlocks, data.draw(things))
    blocks = ask(skauc.RowBlocks.from_arrays, **values, n_rows=size)
    for call in (
        skauc.GaussianAUCClassifier().fit,
        skauc.LinearDiscriminantROC().fit,
        skauc.class_moments,
    ):
        if blocks is not None:
            ask(call, blocks)


def check_rule(data, name):
    """Choose a candidate from the results of a search."""
    rule = ask(skauc.one_sd_rule, data.draw(one_of("C")), data.draw(one_of("smallest")))
    aucs = st.lists(st.floats(0, 1), min_size=3, max_size=3)
    scores_ = data.draw(st.lists(aucs, min_size=2, max_size=3))
    found = {f"split{k}_test_score": np.asarray(v) for k, v in enumerate(scores_)}
    found["mean_test_score"] = np.asarray(scores_[0])
    found["params"] = [{"C": value} for value in (1, 2, 3)]
    chosen = None if rule is None else ask(rule, found)
    assert chosen is None or chosen in (0, 1, 2)


def check_picture(data, name):
    """Draw a curve or a posterior."""
    kind = getattr(skauc, name)
    values = data.draw(on_model(rows(X=features(2), y=labels)))
    level = data.draw(levels)
    if name == "SearchDisplay":
        ask(kind.from_search, searches()[1], values["X"], values["y"])
    else:
        ask(kind.from_estimator, **values, confidence_level=level)
        if name != "AUCPosteriorDisplay":
            of_rows = shares if name in ON_PROBABILITIES else scores
            given_ = data.draw(rows(y_true=labels, y_score=of_rows))
            ask(kind.from_predictions, *given_.values(), confidence_level=level)
    pyplot.close("all")


def check_rest(data, name):
    """Check the splitter, the cache and the warning."""
    split = skauc.ResubstitutionSplit()
    folds = ask(lambda X: list(split.split(X)), data.draw(sizes.flatmap(matrices)))
    assert folds is None or len(folds) == split.get_n_splits() == 1
    assert skauc.clear_cache() is None
    assert issubclass(skauc.UntrustedAUCWarning, UserWarning)
    assert issubclass(skauc.SampleWeightWarning, skauc.UntrustedAUCWarning)
    str(skauc.UntrustedAUCWarning(data.draw(things)))


BODIES = {
    **dict.fromkeys(CASES, check_call),
    **dict.fromkeys(CLASSIFIERS, check_classifier),
    **dict.fromkeys(MAKERS, check_maker),
    **dict.fromkeys(("AUCPosterior", "PairwiseAUCPosterior"), check_posterior),
    "RowBlocks": check_blocks,
    "one_sd_rule": check_rule,
    **dict.fromkeys(
        ("AUCPosteriorDisplay", "ROCDisplay", "SearchDisplay", *ON_PROBABILITIES),
        check_picture,
    ),
    **dict.fromkeys(
        (
            *("ResubstitutionSplit", "clear_cache"),
            *("UntrustedAUCWarning", "SampleWeightWarning"),
        ),
        check_rest,
    ),
}


@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BODIES)
def test_answer_is_in_range_or_an_argument_is_named(name, times):
    """On so many times the examples of the profile."""
    usual = times * settings.default.max_examples
    n_examples = usual // 3 if name in COSTLY else usual

    @settings(max_examples=n_examples, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def body(data):
        BODIES[name](data, name)

    body()


def test_every_public_name_is_asked():
    asked = {name.split(".")[0] for name in BODIES}
    # results are returned by these calls, which ask their members
    assert set(skauc.__all__) <= asked


def test_wrong_answers_and_other_exceptions_are_noticed():
    for wrong in (np.nan, 1.5, [0.5, -0.1]):
        with pytest.raises(AssertionError):
            check_numbers("answer", wrong, UNIT, nan_allowed=False)
    with pytest.raises(AssertionError):
        ask(lambda y: np.zeros(2) + np.zeros(3), 0)
    with pytest.raises(RuntimeWarning):
        ask(lambda y: np.float64(1) / np.float64(0), 0)
