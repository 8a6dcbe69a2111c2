"""The linear model inside a fitted estimator.

Pipelines, searches, frozen and threshold classifiers, recursive elimination and
one-vs-rest wrappers are opened, without rows, until a linear model is reached:
``decision = front @ w − threshold``, where ``front`` are the rows behind the
transformers ``steps``. The decisions of a classifier that is not linear are its only
features. This module knows scikit-learn's wrappers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from ...statistics._row_blocks import dense
from ._estimators import decision_values, is_known, n_rows, numeric, take_rows
from ._steps import keeps_features

_ROWS_TRIED = 50  # rows on which a custom class must rank as its coefficients do
_FLOAT32 = 1e-4  # relative error of decisions in float32, whose terms round by 1e-7
NOT_LINEAR = (
    "{name} is not linear (it has no coef_), so that rows are left out of it by fits: "
    "use prior=AdaptivePrior() without refits=0, or score held-out decision_function "
    "values with skauc.cbauc_score"
)


class NotLinearError(TypeError):
    """Error for an estimator without a linear model inside."""


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """A fitted linear model and the steps in front of it.

    Parameters
    ----------
    linear : estimator or None
        The linear model; None for a classifier that is not linear, whose decisions are
        the only features.
    whole : estimator
        The linear model with its steps, without the searches, frozen and threshold
        classifiers around it; a clone of it can be fitted to the rows.
    W : ndarray of shape (k, P)
        Coefficients, in the direction of ``classes[1]``; for K > 2 classes one row per
        class, or one per pair.
    cut : ndarray of shape (k,)
        The classifier predicts ``classes[1]`` where ``front @ w > cut``.
    classes : ndarray of shape (K,) or None
        Labels; None for a regressor on two labels.
    one_vs_one : bool, default=False
        Whether the rows of W belong to the pairs of classes, each in the direction of
        the second class of its pair.
    steps : tuple of fitted transformers
        Steps in front of the linear model; nested Pipelines are flattened.
    resampled_by : str or None, default=None
        Class name of a step that resampled the rows of the fit (imbalanced-learn);
        when rows are scored, it does nothing.
    searched_by : str or None, default=None
        Class name of a search that used y to choose the features of the model.
    curved : estimator or None, default=None
        The classifier behind the steps that is not linear.
    """

    linear: Any
    whole: object
    W: np.ndarray
    cut: np.ndarray
    classes: Any
    one_vs_one: bool = False
    steps: tuple = ()
    resampled_by: str | None = None
    searched_by: str | None = None
    curved: Any = None

    @property
    def n_classes(self) -> int:
        """Number of classes; 2 for a regressor."""
        return 2 if self.classes is None else len(self.classes)

    @classmethod
    def of(cls, estimator) -> OpenedModel:
        """Open a fitted estimator.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If there is no classifier inside.
        ValueError
            If the coefficients do not fit the classes.
        """
        if isinstance(estimator, Pipeline):
            return _open_pipeline(estimator)
        if isinstance(estimator, RFE):  # also RFECV: a selector with a model behind it
            check_is_fitted(estimator)
            inner = cls.of(estimator.estimator_)
            return replace(inner, steps=(estimator, *inner.steps), whole=estimator)
        if isinstance(estimator, FrozenEstimator):
            return cls.of(estimator.estimator)
        if isinstance(estimator, FixedThresholdClassifier | TunedThresholdClassifierCV):
            return _open_threshold(estimator)
        if hasattr(estimator, "best_estimator_"):
            inner = cls.of(estimator.best_estimator_)
            name = type(estimator).__name__ if _chose_features(estimator) else None
            return replace(inner, searched_by=inner.searched_by or name)
        return _open_linear(estimator)

    def stages(self, X) -> tuple:
        """``(step, its input, its output)`` of every step, and the rows behind them.

        In place of the rows, the decisions of a classifier that is not linear.
        """
        stages = []
        for step in self.steps:
            stages.append((step, X, step.transform(X)))
            X = stages[-1][2]
        return stages, X if self.curved is None else self._curved_decisions(X)

    def _curved_decisions(self, front):
        """Decisions of the classifier that is not linear: (n, 1), or one per class."""
        if self.n_classes == 2:
            found = decision_values(self.curved, front)
        else:
            found = _decisions_per_class(self.curved, front)
        return np.reshape(found, (n_rows(front), len(self.W))).astype(float)

    def check_front(self, front):
        """Raise if the column names are not those of the fit."""
        named = hasattr(self.linear, "feature_names_in_")
        # the model inside an eliminator was fitted without names
        eliminated = self.steps and isinstance(self.steps[-1], RFE)
        if named or (hasattr(front, "columns") and not eliminated):
            # scikit-learn compares the names of the columns
            validate_data(
                self.linear, front, reset=False, skip_check_array=True, ensure_2d=False
            )

    def check_ranks(self, front):
        """Raise if a custom class does not rank rows by its coefficients.

        Parameters
        ----------
        front : ndarray or sparse matrix of shape (n, P)
        """
        # of several classes only decisions can be compared, and labels do not rank
        names = ("decision_function", "predict_proba")[: 1 + (self.n_classes == 2)]
        names += ("predict",) if self.classes is None else ()
        name = next((name for name in names if hasattr(self.linear, name)), "")
        known = not name or is_known(getattr(type(self.linear), name, None))
        if known or self.one_vs_one:
            return
        rows = take_rows(front, np.arange(min(_ROWS_TRIED, n_rows(front))))
        ours = rows @ self.W.T - self.cut
        theirs = np.asarray(decision_values(self.linear, rows), dtype=float)
        if self.n_classes > 2:
            least = _FLOAT32 * np.abs(ours).max(initial=1.0)
            same = theirs.shape == ours.shape
            same = same and np.allclose(ours, theirs, atol=least)
            rule = "decide by X @ coef_.T + intercept_"
        else:  # an increasing function of our scores ranks alike; rounding makes ties
            theirs = np.ravel(theirs)[np.argsort(ours[:, 0])]
            fall = np.max(np.maximum.accumulate(theirs) - theirs, initial=0.0)
            same, rule = fall <= _FLOAT32 * np.ptp(theirs), "rank rows by X @ coef_.T"
        if not same:
            raise ValueError(
                f"{type(self.linear).__name__} must {rule} to be scored, got another "
                f"{name}"
            )


def decisions(model, X) -> np.ndarray:
    """Decisions (n, k) of a fitted estimator, by its coefficients if it is linear."""
    opened = OpenedModel.of(model)
    _, front = opened.stages(X)
    if opened.linear is None:
        return front - opened.cut
    return np.asarray(numeric(front) @ opened.W.T) - opened.cut


def _open_pipeline(pipeline):
    """Open a Pipeline: its last step, behind all the others."""
    if not hasattr(pipeline[-1], "coef_"):  # a model with coefficients is fitted
        check_is_fitted(pipeline)
    inner = OpenedModel.of(pipeline[-1])
    resampled_by, steps = inner.resampled_by, list(inner.steps)
    for step in reversed(list(_flat_steps(pipeline.steps[:-1]))):
        if hasattr(step, "fit_resample") and not hasattr(step, "transform"):
            resampled_by = type(step).__name__
        else:
            steps.insert(0, step)
    return replace(inner, whole=pipeline, steps=tuple(steps), resampled_by=resampled_by)


def _flat_steps(steps):
    """Yield the steps of nested Pipelines in order."""
    for _, step in steps:
        if isinstance(step, Pipeline):
            yield from _flat_steps(step.steps)
        elif step is not None and not isinstance(step, str):  # "passthrough"
            yield step


def _chose_features(search):
    """Whether a search compared Pipelines whose models may see different features."""
    best, results = search.best_estimator_, getattr(search, "cv_results_", {})
    if not isinstance(best, Pipeline):
        return False
    last, candidates = best.steps[-1][0], results.get("params", ())
    for name in {name for params in candidates for name in params}:
        step, _, parameter = name.partition("__")
        tried = [params.get(name) for params in candidates]
        same = len(set(map(repr, tried))) == 1
        # a step inside another one, or a parameter of a step
        direct = all(hasattr(t, "transform") or t == "passthrough" for t in tried)
        steps = tried if direct or not parameter else [best.named_steps.get(step)]
        if step != last and not same and not all(map(keeps_features, steps)):
            return True
    return False


def _open_linear(model):
    """Open a model with ``coef_``, or one-vs-rest and one-vs-one of such models."""
    name = type(model).__name__
    if not hasattr(model, "fit"):
        raise TypeError(
            f"{name} is not a linear model (it has no fit and no coef_): score "
            "held-out decision_function values with skauc.cbauc_score, or "
            "cross-validate a model with cv=5"
        )
    wrapper = isinstance(model, OneVsRestClassifier | OneVsOneClassifier)
    if wrapper or not hasattr(model, "coef_"):
        check_is_fitted(model)
    if hasattr(model, "cv_results_") and not hasattr(model, "coef_"):
        raise TypeError(
            f"{name} must be fitted with refit to be scored, got a search without refit"
        )
    # one binary model per class (one vs rest) or pair of classes (one vs one)
    parts = model.estimators_ if wrapper else [model]
    if any(not hasattr(part, "coef_") for part in parts):
        return _open_curved(model)
    coefficients = [_coefficients(part) for part in parts]
    W = np.concatenate([coef for coef, _ in coefficients])
    intercept = np.concatenate([intercept for _, intercept in coefficients])
    linear = parts[0] if len(parts) == 1 else model
    opened = OpenedModel(linear, model, W, -intercept, getattr(model, "classes_", None))
    if opened.n_classes > 2 and isinstance(model, SVC | NuSVC):
        # libsvm's decision between classes i < j is positive for i
        return replace(opened, W=-W, cut=intercept, one_vs_one=True)
    if opened.n_classes > 2 and isinstance(model, OneVsOneClassifier):
        return replace(opened, one_vs_one=True)
    if len(W) != (1 if opened.n_classes == 2 else opened.n_classes):
        raise ValueError(
            f"{name} must separate two classes, got coef_ of shape {W.shape} for "
            f"{opened.n_classes} classes"
        )
    return opened


def _open_curved(model):
    """Open a classifier that is not linear: its decisions are the only features."""
    classes = getattr(model, "classes_", None)
    many = classes is not None and len(classes) > 2
    # predict cuts probabilities at ½ and decisions at 0
    shares = classes is not None and not hasattr(model, "decision_function")
    W = np.eye(len(classes)) if many else np.ones((1, 1))
    cut = np.full(len(W), 0.5 if shares and not many else 0.0)
    return OpenedModel(None, model, W, cut, classes, curved=model)


def _decisions_per_class(model, X):
    """Decisions (n, K) of a classifier of K > 2 classes."""
    by_pairs = getattr(model, "decision_function_shape", "ovr") == "ovo"
    if hasattr(model, "decision_function") and not by_pairs:
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    raise NotLinearError(
        f"{type(model).__name__} must have a decision for each class, or "
        'predict_proba: use decision_function_shape="ovr"'
    )


def _coefficients(model):
    """``coef_`` as a dense (k, P) array, and k intercepts."""
    coef = np.atleast_2d(dense(model.coef_)).astype(float)
    intercept = np.ravel(getattr(model, "intercept_", 0.0)).astype(float)
    return coef, intercept + np.zeros(len(coef))


def _open_threshold(wrapper):
    """Open a threshold classifier: the model inside, with another cut."""
    inner = getattr(wrapper, "estimator_", None)
    if inner is None:  # fitted before it was wrapped, or not at all
        check_is_fitted(wrapper.estimator)
        inner = wrapper.estimator
    opened = OpenedModel.of(inner)
    if opened.linear is None or opened.n_classes > 2:  # the AUC needs no threshold
        return opened
    # Xw + b > 0 is Xw > −b; the wrapper's cut is in units of the decision Xw + b.
    natural = -float(np.ravel(getattr(opened.linear, "intercept_", 0.0))[0])
    return replace(opened, cut=np.array([natural + _moved_cut(wrapper, opened)]))


def _moved_cut(wrapper, opened):
    """Threshold of the wrapper in units of the linear model's decision."""
    tuned = isinstance(wrapper, TunedThresholdClassifierCV)
    threshold = wrapper.best_threshold_ if tuned else wrapper.threshold
    if isinstance(threshold, str):  # "auto"
        return 0.0
    method, linear = wrapper.response_method, opened.linear
    has_proba = hasattr(linear, "predict_proba")
    if method == "predict_proba" or (method == "auto" and has_proba):
        # p > t ⟺ decision > logit(t) for logistic probabilities only: checked along w
        w = opened.W[0]
        rows = np.outer(np.linspace(-2, 2, 5), w) / ((w @ w) or 1.0)
        logistic = expit(decision_values(linear, rows))
        if not np.allclose(logistic, linear.predict_proba(rows)[:, 1]):
            raise TypeError(
                f"{type(wrapper).__name__} must cut decision_function, got a cut on "
                f"probabilities of {type(linear).__name__} that are not logistic"
            )
        threshold = logit(np.clip(threshold, 0.0, 1.0))
    pos_label = getattr(wrapper, "pos_label", None)
    flipped = pos_label is not None and pos_label == opened.classes[0]
    return float(-threshold if flipped else threshold)
