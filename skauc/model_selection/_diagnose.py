"""Estimates of one AUC next to each other, and reasons not to trust it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError

from ..intervals._projection import Prior
from ..posterior._auc_posterior import AUCPosterior
from ..roc._binormal import BinormalROC
from ..statistics._moments import class_moments
from ..statistics._result import Result, shown
from ..statistics._types import ArrayLike, Values
from ._blocks import evaluations
from ._evaluation import Question
from .reading._estimators import fitted_clone
from .reading._opened_model import OpenedModel

# limits beyond which to warn, set by convention; no estimate depends on them
_SMALL_P_VALUE = 0.01
_VARIANCE_RATIO = 3.0
_LEVEL = 0.5  # probits by which rows left out may differ from the model


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """Table of the estimates of one model's AUC and of doubts about them; print it.

    Attributes
    ----------
    posterior : AUCPosterior
        The adaptive posterior of the AUC.
    n_neg, n_pos, n_features : float, float, int
        Sum of the weights in each class, and the number of features that are not
        constant.
    attainable : tuple of float
        Posterior mean and 95 % limits of the attainable AUC, that of the best linear
        model.
    variance_ratio : float
        Variance of the positive scores divided by that of the negative scores.
    normality : tuple of float
        Shapiro–Wilk p-values of the scores of each class (neg, pos); NaN below 3 rows.
    discrepancy : float or None
        AUC of rows left out less the AUC by the model of the data set, in probits; None
        if no row was left out, or no such model holds (the classifier is not linear).
    estimates : dict of str to float
        Estimates by name: the plug-in binormal AUC, the empirical AUC of the rows
        (``"resubstitution"``, or ``"empirical"`` for held-out rows), the AUC under the
        published prior and by the model of the data set alone. If rows were left out:
        their AUC under the name of the method, and the posterior mean that combines
        both.

    See Also
    --------
    skauc.diagnose : Makes it.
    skauc.UntrustedAUCWarning : What the texts of ``warnings`` mean.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import diagnose
    >>> X, y = np.random.default_rng(0).standard_normal((40, 200)), np.arange(40) % 2
    >>> diagnose(LogisticRegression().fit(X, y), X, y).warnings[0]
    'there are 200 features for 40 rows: the covariance is not determined, ...'
    """

    posterior: AUCPosterior
    n_neg: float
    n_pos: float
    n_features: int
    attainable: tuple[float, float, float]
    variance_ratio: float
    normality: tuple[float, float]
    discrepancy: float | None
    estimates: dict

    @property
    def warnings(self) -> tuple[str, ...]:
        """Every reason not to trust the AUC, one text per reason."""
        n, reasons = self.n_neg + self.n_pos, []
        if "group" in str(self.posterior.second_source):
            reasons.append(
                "only the AUC of groups left out knows the groups: all other numbers "
                "take rows for independent, and are too high or too certain"
            )
        if self.n_features >= n:
            reasons.append(
                f"there are {self.n_features} features for {n:g} rows: the covariance "
                "is not determined, and the estimate depends on the prior and on rows "
                "left out: check it by cross-validation"
            )
        if np.nanmin([1.0, *self.normality]) < _SMALL_P_VALUE:
            reasons.append(
                "the scores of a class are not normal, so that the model of normal "
                "classes may be wrong: trust the AUC of rows left out more"
            )
        ratio = self.variance_ratio
        if np.isfinite(ratio) and not 1 / _VARIANCE_RATIO < ratio < _VARIANCE_RATIO:
            reasons.append(
                "the variances of the score differ between the classes by a factor of "
                f"{ratio:.2g} (positive over negative), but the model assumes one "
                "variance: trust the AUC of rows left out more"
            )
        if self.posterior.leave_pair_out is None:
            reasons.append(
                "no row was left out, so that nothing checks the model of normal "
                "classes: check it by cross-validation"
            )
        elif self.discrepancy is not None and abs(self.discrepancy) > _LEVEL:
            word = "lower" if self.discrepancy < 0 else "higher"
            reasons.append(
                f"the AUC of rows left out is {abs(self.discrepancy):.2f} probit "
                f"{word} than that of the model of normal classes, which may not hold: "
                "trust the AUC of rows left out more"
            )
        return tuple(dict.fromkeys([*reasons, *self.posterior.warnings]))

    def __repr__(self):
        row = {name: value for name, [value] in self._columns().items()}
        row = {row.pop(""): row.pop("estimate"), **row}
        row["pos_label"] = repr(row["pos_label"])
        lines = [f"{k:30}{shown(v)}" for k, v in row.items() if k != "warnings"]
        return "\n".join([*lines, *(f"! {warning}" for warning in self.warnings)])

    def summary(self, confidence_level: float = 0.95) -> str:
        """Text to paste, such as ``"0.91 (0.84 to 0.95)"``: the AUC of the posterior.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        str
        """
        return self.posterior.summary(confidence_level)

    def _columns(self):
        low, high = self.posterior.interval(0.95)
        mean, below, above = self.attainable
        p_neg, p_pos = self.normality
        row = {
            "": "AUC",
            "estimate": self.posterior.mean(),
            "low": low,
            "high": high,
            "negatives": self.n_neg,
            "positives": self.n_pos,
            "features": self.n_features,
            "attainable AUC": mean,
            "attainable low": below,
            "attainable high": above,
            "score variance ratio": self.variance_ratio,
            "p of normal negatives": p_neg,
            "p of normal positives": p_pos,
            "left out - model, probits": self.discrepancy,
            **self.estimates,
            "warnings": "; ".join(self.warnings),
            "pos_label": self.posterior.pos_label,
        }
        return {name: [value] for name, value in row.items()}


def diagnose(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    prior: Prior = "adaptive",
    rows: str = "auto",
    sample_weight: Values = None,
    pos_label: object = None,
    groups: Values = None,
) -> Diagnosis | dict[tuple, Diagnosis]:
    """Compare several estimates of a model's AUC, and list reasons not to trust them.

    Answers: how much do different estimates of this AUC disagree, and which assumption
    is violated? The AUC by the model of normal classes is compared with the AUC of rows
    left out of this fit. The normality of the scores is tested [1]_. The cost is that
    of :func:`skauc.auc_posterior`.

    Parameters
    ----------
    estimator : estimator
        Any classifier, as for :func:`skauc.auc_posterior`. A fitted estimator is used
        as it is. If it is not fitted, a clone is fitted to the rows, as in
        :func:`skauc.bayesian_val_score`.
    X : array-like or sparse matrix of shape (n, n_features)
        The training rows of the estimator, or held-out rows.
    y : array-like of shape (n,)
    prior : "adaptive" or AdaptivePrior, default="adaptive"
        The prior of the posterior; a NormalInverseWishart cannot be diagnosed.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the rows trained the estimator, see :func:`auc_posterior`.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. Not for more than two classes.
    groups : array-like of shape (n,), default=None
        As for :func:`auc_posterior`.

    Returns
    -------
    Diagnosis
        A table to print; ``posterior``, ``estimates`` and ``warnings`` are the first
        attributes to look at. For more than two classes a dict with the diagnosis of
        each pair of labels, computed on the rows of these two classes.

    Raises
    ------
    TypeError
        If the model is not linear and the prior forbids refits.
    ValueError
        If the input is invalid, the prior is not adaptive, or all scores of the model
        are equal.

    See Also
    --------
    auc_posterior : The posterior alone.
    bootstrap_auc : Refits the whole estimator, where the estimates disagree.
    UntrustedAUCWarning : What the reasons mean and what to do.

    References
    ----------
    .. [1] Shapiro & Wilk (1965), "An analysis of variance test for normality (complete
       samples)", https://doi.org/10.1093/biomet/52.3-4.591

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import diagnose
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> print(diagnose(model, X, y))  # doctest: +ELLIPSIS
    AUC                           0.99...
    """
    question = Question(prior, "common", rows, pos_label, groups, left_out="fits")
    if not question.adaptive:
        raise ValueError(f"prior must be an adaptive prior, got {prior!r}")
    try:
        OpenedModel.of(estimator)
    except NotFittedError:
        estimator = fitted_clone(estimator, X, y, sample_weight, pos_label, groups)
    found = evaluations(estimator, X, y, sample_weight, question)
    if len(found) > 1:
        return {one.model.pair: _diagnosis(one) for one in found}
    return _diagnosis(found[0])


def _diagnosis(evaluation) -> Diagnosis:
    """Diagnose one model under the adaptive and the published prior."""
    projection, model = evaluation.projection, evaluation.model
    if projection is None:
        raise ValueError(
            "estimator must give scores that differ between rows, got a single score"
        )
    # the same evaluation under the published prior, for comparison
    published = replace(evaluation, question=Question("paper"))
    neg, pos = class_moments(model.score, model.positive, model.front.weight)
    data, source = projection.model, evaluation.source
    # the scores of a classifier that is not linear fit the noise of their rows
    compared = source is not None and model.broken_by is None
    paper = {"paper's prior": published.projection.auc().mean()}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(np.divide(pos.covariance, neg.covariance))
    return Diagnosis(
        posterior=evaluation.posterior,
        n_neg=neg.n,
        n_pos=pos.n,
        n_features=data.scatter.n_features,
        attainable=_attainable(data.models[0]),
        variance_ratio=ratio,
        normality=_normality(model),
        discrepancy=projection.gap(source)[0] if compared else None,
        estimates=_estimates(evaluation, neg, pos) | paper,
    )


def _estimates(evaluation, neg, pos):
    """Estimates of the AUC by name, from the moments of the scores and the model."""
    model, posterior = evaluation.model, evaluation.posterior
    name = "empirical" if evaluation.held_out else "resubstitution"
    out = {
        "plug-in binormal": BinormalROC.from_moments(neg, pos, equal_variance=True).auc,
        name: model.front.auc(model.score),
        "adaptive, model alone": float(ndtr(evaluation.projection.probit[0])),
    }
    if posterior.leave_pair_out is not None:
        out[posterior.second_source] = posterior.leave_pair_out
        out["adaptive, both"] = posterior.mean()
    return out


def _attainable(dense):
    """Mean and central 95 % range of the attainable AUC under dense signals."""
    u = ndtr(dense.attainable)
    order = np.argsort(u)
    # quantile of a discrete distribution: the smallest u with enough mass up to u
    mass = np.cumsum(dense.weight[order])
    low, high = u[order][np.searchsorted(mass, [0.025, 0.975])]
    return float(dense.weight @ u), float(low), float(high)


def _normality(model):
    """Shapiro and Wilk's p-values of the scores of both classes."""
    p_values = []
    for mask in (~model.positive, model.positive):
        # beyond 5000 rows Royston's approximation of the p-value does not hold
        scores = model.score[mask][:5000]
        # the test is free of units; squares of large scores would overflow
        size = np.ptp(scores)
        enough = len(scores) >= 3 and size > 0
        p = stats.shapiro(scores / size).pvalue if enough else np.nan
        p_values.append(float(p))
    return tuple(p_values)
