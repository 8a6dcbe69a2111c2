"""A program of a user, which mypy checks with --strict: the main calls have types."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import skauc
from skauc.results import AUCComparison, AUCComparisons, AUCEstimate, Interval


def report(X: npt.NDArray[Any], y: list[str], score: npt.NDArray[Any]) -> str:
    """Return the lines of a report."""
    estimate = skauc.auc_estimate(y, score, groups=None, pos_label="ill")
    assert_type(estimate, AUCEstimate)
    assert_type(estimate.auc, float)
    limits = estimate.confidence_interval(0.9)
    assert_type(limits, Interval)
    model = skauc.IRLSLogisticRegression(C=np.inf, penalty="firth").fit(X, y)
    assert_type(model, skauc.IRLSLogisticRegression)
    table = model.summary(0.9, feature_names=["age", "bmi"])
    linear = skauc.GaussianAUCClassifier(shrinkage="auto").fit(X, y)
    assert_type(linear.predict_proba(X), np.ndarray)
    posterior = skauc.auc_posterior(linear, X, y, prior="paper")
    assert_type(posterior.mean(), float)
    pair = skauc.compare_auc(y, score, model.decision_function(X))
    assert_type(pair, AUCComparison | AUCComparisons)
    search = skauc.search_posterior({"a": model, "b": linear}, X, y, n_jobs=2)
    folds = skauc.cross_val_auc(model, X, y, random_state=1)  # type: ignore[call-arg]
    folds = skauc.cross_val_auc(linear, X, y, cv=5)
    points = skauc.operating_points(y, score, best="youden")
    skauc.ROCDisplay.from_predictions(y, score, name="score").plot()
    picture = skauc.SearchDisplay(search, simplest="C")
    picture.plot(confidence_level="high")  # type: ignore[arg-type]
    neg, pos = skauc.class_moments(X, [label == "ill" for label in y])
    assert_type((neg + pos).project(np.ones(2)).covariance, np.ndarray)
    texts = [table.odds_ratios(per={"age": 10}).summary(), points.summary(digits=3)]
    return "\n".join([*texts, folds.summary(), f"{limits.low:.2f}"])
