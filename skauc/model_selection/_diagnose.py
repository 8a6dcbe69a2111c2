"""What the evidence said, and whether the number may be trusted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn.exceptions import NotFittedError

from .._validation import check_option
from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import check_prior
from ..posterior._auc_posterior import AUCPosterior
from ..posterior._conjugate import NormalInverseWishart
from ..posterior._pairwise import PairwiseAUCPosterior
from ..roc._binormal import BinormalROC
from ..statistics._collections import refuse_collection
from ..statistics._moments import class_moments
from ..statistics._ranks import empirical_auc
from ..statistics._result import Result
from ._any_estimator import fitted_clone
from ._cross_validation_scorer import make_cv_auc_scorer
from ._linear_model import LinearModel, open_estimator
from ._model_posterior import posterior_of_scores, rows_of_pairs
from ._reasons import few_rows, more_features
from ._scored_model import score_model, score_pairs
from ._training_rows import ROWS
from ._warnings import UntrustedAUCWarning

# Conventions of when to warn, not estimates; no number depends on them.
_SMALL_P_VALUE = 0.01
_VARIANCE_RATIO = 3.0
_LEVEL = 0.5  # probits by which rows left out may differ from the model


@dataclass(frozen=True, eq=False)
class Diagnosis(Result):
    """Short table on the Bayesian AUC of a fitted model; printing shows it.

    Parameters
    ----------
    posterior : AUCPosterior
        The adaptive posterior of the AUC.
    n_neg, n_pos, n_features : float, float, int
        Sums of weights, and features that are not constant.
    attainable : tuple of float
        Mean and 95 % range of the attainable AUC, the best linear model's.
    covariance_shrinkage : float
        Weight of the prior in the covariance, ``a/(a + n)``, averaged over the
        mixture; that of factors in white noise is 1, for the noise.
    mean_shrinkage : float
        Share of the observed mean difference along w that the prior takes off.
    effective_dimension : float
        ``Σ λ/(λ + as)``, and q of a covariance of q factors in white noise: directions
        of the covariance that the data determine.
    separate_covariances : float
        Posterior probability that the classes have different covariances.
    variance_ratio : float
        Variance of the positive scores over that of the negative ones.
    normality : tuple of float
        Shapiro–Wilk p-values of the scores of each class (neg, pos); NaN below 3 rows.
    discrepancy : float or None
        Mean of leave-pair-out minus model over nine ridge models of the same rows, in
        probits; None where nothing is left out: switched off, held-out rows, one
        feature.
    estimates : dict of str to float
        Plug-in, the rows' own AUC (``"resubstitution"``, of held-out rows
        ``"empirical"``), the paper's prior, the adaptive model alone; where rows were
        left out of this model their AUC, under the name of the method
        (``posterior.second_source``), and the adaptive posterior that joins both; if
        asked, cross-validation.
    warnings : tuple of str
        In plain words, why the number should not be trusted; empty if nothing is known
        against it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import diagnose
    >>> X, y = np.random.default_rng(0).standard_normal((40, 200)), np.arange(40) % 2
    >>> diagnose(LogisticRegression().fit(X, y), X, y).warnings[0]
    '200 features against 40 rows: the covariance cannot be seen, ...'
    """

    posterior: AUCPosterior
    n_neg: float
    n_pos: float
    n_features: int
    attainable: tuple[float, float, float]
    covariance_shrinkage: float
    mean_shrinkage: float
    effective_dimension: float
    separate_covariances: float
    variance_ratio: float
    normality: tuple[float, float]
    discrepancy: float | None
    estimates: dict
    warnings: tuple[str, ...]

    def __str__(self):
        low, high = self.posterior.interval(0.95)
        mean, below, above = self.attainable
        apart = "none" if self.discrepancy is None else f"{self.discrepancy:+.2f}"
        lines = [
            f"Bayesian AUC            {self.posterior.mean():.3f}  "
            f"[{low:.3f}, {high:.3f}]",
            f"rows, features          {self.n_neg:g} neg + {self.n_pos:g} pos, "
            f"{self.n_features}",
            f"attainable AUC          {mean:.3f}  [{below:.3f}, {above:.3f}]",
            f"shrinkage               covariance {self.covariance_shrinkage:.0%}, "
            f"mean difference {self.mean_shrinkage:.0%}",
            f"effective dimension     {self.effective_dimension:.1f}",
            f"class covariances       differ with probability "
            f"{self.separate_covariances:.2f}; score variance ratio "
            f"{self.variance_ratio:.2f}",
            f"normal scores           p = {self.normality[0]:.3f} (neg), "
            f"{self.normality[1]:.3f} (pos)",
            f"leave-pair-out − model  {apart} probit",
        ]
        lines += [f"  {name:22}{value:.3f}" for name, value in self.estimates.items()]
        lines += [f"! {warning}" for warning in self.warnings]
        return "\n".join(lines)

    __repr__ = __str__

    def _columns(self):
        return {name: [value] for name, value in self._row().items()}

    def _row(self):
        low, high = self.posterior.interval(0.95)
        return {
            "AUC": self.posterior.mean(),
            "low": low,
            "high": high,
            "negatives": self.n_neg,
            "positives": self.n_pos,
            "features": self.n_features,
            "attainable AUC": self.attainable[0],
            "effective dimension": self.effective_dimension,
            **self.estimates,
            "warnings": "; ".join(self.warnings),
        }


@dataclass(frozen=True, eq=False)
class PairwiseDiagnosis(Result):
    """Diagnoses of all pairs of classes; printing shows their table.

    Parameters
    ----------
    pairs : dict of (label, label) to Diagnosis
        For classes i < j, on the rows of the two.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from skauc import diagnose
    >>> X, y = load_iris(return_X_y=True)
    >>> diagnose(LinearDiscriminantAnalysis(), X, y).pairs[1, 2].n_pos
    50.0
    """

    pairs: dict[tuple, Diagnosis]

    @property
    def posterior(self) -> PairwiseAUCPosterior:
        """Posterior of the mean AUC over the pairs."""
        return PairwiseAUCPosterior({k: d.posterior for k, d in self.pairs.items()})

    @property
    def warnings(self) -> tuple[str, ...]:
        """The pairs' warnings, each with the names of its classes."""
        return tuple(
            f"{i} against {j}: {said}"
            for (i, j), diagnosis in self.pairs.items()
            for said in diagnosis.warnings
        )

    def __str__(self):
        low, high = self.posterior.interval(0.95)
        parts = [
            f"mean Bayesian AUC       {self.posterior.mean():.3f}  "
            f"[{low:.3f}, {high:.3f}]  over {len(self.pairs)} pairs of classes"
        ]
        parts += [f"\n{i} against {j}\n{d}" for (i, j), d in self.pairs.items()]
        return "\n".join(parts)

    __repr__ = __str__

    def _columns(self):
        rows = [diagnosis._row() for diagnosis in self.pairs.values()]
        shown = [name for name in rows[0] if all(name in row for row in rows)]
        names = [f"{i} against {j}" for i, j in self.pairs]
        return {"": names} | {name: [row[name] for row in rows] for name in shown}


def diagnose(
    estimator,
    X,
    y,
    *,
    prior="adaptive",
    rows="auto",
    cv=None,
    sample_weight=None,
    pos_label=None,
) -> Diagnosis | PairwiseDiagnosis:
    """Say what the evidence said about a model, and whether to trust it.

    Answers: how far do the estimates of this AUC disagree, and which assumption is
    strained? The model of normal classes is set beside the AUC of rows left out of
    this fit, where its objective is known (:func:`auc_posterior` says which), and
    beside leave-pair-out of nine ridge models of the same rows in any case. Costs one
    decomposition of the rows (shared with the scorers), and ``cv`` fits if
    cross-validation is asked for.

    Parameters
    ----------
    estimator : estimator
        Linear classifier, or a Pipeline or search that ends in one. A fitted one is
        diagnosed as it is; of one that is not, a clone is fitted to the rows, as in
        :func:`skauc.bayesian_val_score`.
    X : array-like or sparse matrix of shape (n, n_features)
        The rows that trained it, or held-out ones.
    y : array-like of shape (n,)
    prior : "adaptive" or AdaptivePrior, default="adaptive"
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the rows trained the estimator, see :func:`auc_posterior`.
    cv : int or splitter, default=None
        Cross-validate clones as well; two classes only.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``. None for more than two classes.

    Returns
    -------
    Diagnosis
        Prints as a short table with warnings in plain words. For more than two classes
        a :class:`skauc.PairwiseDiagnosis`, one for each pair.

    Raises
    ------
    TypeError
        If the model is not linear.
    ValueError
        If the input is bad, the prior is not adaptive or the model ranks nothing.

    References
    ----------
    Shapiro & Wilk (1965), https://doi.org/10.1093/biomet/52.3-4.591

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
    Bayesian AUC            0.99...
    """
    check_option("rows", rows, ROWS)
    refuse_collection("X", X)
    prior = check_prior(prior)
    if not isinstance(prior, AdaptivePrior):
        raise ValueError(f"prior must be adaptive to be diagnosed, got {prior!r}")
    opened = _opened(estimator, X, y, sample_weight, pos_label)
    if opened.n_classes > 2:
        if cv is not None:
            raise ValueError(
                f"cv must be None for more than two classes, got {cv!r} with "
                f"{opened.n_classes} classes"
            )
        known: dict = {"rows": rows}
        found: dict = {}
        for name, pair in score_pairs(opened, y, sample_weight, pos_label):
            if not found and rows == "auto":
                known = rows_of_pairs(opened, y, sample_weight, pair)
            found[name] = _of(pair, prior, known)
        return PairwiseDiagnosis(found)
    more = {}
    if cv is not None:
        scorer = make_cv_auc_scorer(cv=cv, pos_label=pos_label)
        more["cross-validation"] = scorer(estimator, X, y, sample_weight=sample_weight)
    scored = score_model(opened, y, sample_weight, pos_label)
    known = {"rows": rows, "whole": (estimator, X, y)}
    return _of(scored, prior, known, **more)


def _opened(estimator, X, y, sample_weight, pos_label) -> LinearModel:
    """The linear model in an estimator; in a clone fitted to the rows, if it is not."""
    try:
        return open_estimator(estimator, X)
    except NotFittedError:
        model = fitted_clone(estimator, X, y, sample_weight, pos_label)
        return open_estimator(model, X)


def _of(scored, prior, known, **more) -> Diagnosis:
    """Diagnosis of one model, seen with the adaptive and the published prior."""
    learnt = posterior_of_scores(scored, prior, "common", **known)
    if learnt.projection is None:
        raise ValueError("estimator must rank the rows to be diagnosed, got one score")
    published = posterior_of_scores(scored, NormalInverseWishart(), "common")
    with warnings.catch_warnings():  # they stand in the table
        warnings.simplefilter("ignore", UntrustedAUCWarning)
        posterior = learnt.auc()
    neg, pos = class_moments(scored.score, scored.positive, scored.weight)
    dense, view = learnt.projection.learnt.cells, learnt.projection.view
    estimates = _estimates(learnt, neg, pos, posterior)
    estimates["paper's prior"] = published.auc().mean()
    estimates.update(more)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(np.divide(pos.covariance, neg.covariance))
    out = Diagnosis(
        posterior=posterior,
        n_neg=neg.n,
        n_pos=pos.n,
        n_features=dense.eigen.n_features,
        attainable=_attainable(dense),
        # Σ_cells weight a/(a + n)
        covariance_shrinkage=float(
            dense.weight @ (dense.a / (dense.a + neg.n + pos.n))
        ),
        mean_shrinkage=_mean_shrinkage(dense, view),
        effective_dimension=_effective_dimension(dense),
        separate_covariances=float(dense.weight @ dense.separate),
        variance_ratio=ratio,
        normality=_normality(scored),
        discrepancy=_disagreement(learnt),
        estimates=estimates,
        warnings=(),
    )
    return _with_warnings(out)


def _estimates(learnt, neg, pos, posterior):
    scored = learnt.scored
    score, positive, weight = scored.score, scored.positive, scored.weight
    w = np.ones(len(score)) if weight is None else weight
    out = {
        "plug-in binormal": BinormalROC.from_moments(neg, pos, equal_variance=True).auc,
        "empirical" if learnt.rows == "held-out" else "resubstitution": empirical_auc(
            score[~positive], score[positive], w[~positive], w[positive]
        ),
        "adaptive, model alone": learnt.projection.model_alone().mean(),
    }
    if posterior.leave_pair_out is not None:
        out[posterior.second_source] = posterior.leave_pair_out
        out["adaptive, both"] = posterior.mean()
    return out


def _disagreement(learnt):
    """Mean of leave-pair-out less model over the reference models, in probits."""
    projection = learnt.projection
    one_feature = projection.learnt.model.eigen.n_features == 1
    if learnt.rows == "held-out" or one_feature or not projection.uses_second_source:
        return None
    level = projection.learnt.reference()
    return None if level is None else level.disagreement


def _attainable(dense):
    """Mean and central 95 % range of u under the posterior weights."""
    order = np.argsort(dense.attainable)
    # Quantiles of a discrete law: the least u that has so much mass up to it.
    u, mass = dense.attainable[order], np.cumsum(dense.weight[order])
    low, high = u[np.searchsorted(mass, [0.025, 0.975])]
    return float(dense.weight @ dense.attainable), float(low), float(high)


def _mean_shrinkage(dense, view):
    # 1 − E D/xᵀd, D the difference that the cells believe in
    shrunken, _ = dense.difference(view, 0)
    observed = view.difference[0]
    return float(1 - dense.weight @ shrunken / observed) if observed != 0 else 0.0


def _effective_dimension(dense):
    # Σ_k λ_k/(λ_k + as), the trace of W(W + asI)⁻¹, and the factors
    values, many = dense.eigen.values, dense.eigen.stands_for
    kept = values / (values + dense.a_scale[:, None]) @ many
    return float(dense.weight @ np.where(dense.factors, dense.factors, kept))


def _normality(scored):
    p_values = []
    for mask in (~scored.positive, scored.positive):
        if scored.weight is not None:
            mask = mask & (scored.weight > 0)
        # Beyond 5000 rows Royston's approximation of the p-value does not hold.
        part = scored.score[mask][:5000]
        # The test does not depend on the unit; squares of large scores would overflow.
        size = np.ptp(part)
        enough = len(part) >= 3 and size > 0
        p_values.append(float(stats.shapiro(part / size).pvalue) if enough else np.nan)
    return tuple(p_values)


def _with_warnings(d: Diagnosis) -> Diagnosis:
    """Add the reasons for mistrust, each in one sentence."""
    said = [
        few_rows(d.n_neg, d.n_pos),
        more_features(d.n_features, d.n_neg + d.n_pos),
    ]
    said = [reason for reason in said if reason is not None]
    if np.nanmin([1.0, *d.normality]) < _SMALL_P_VALUE:
        said.append(
            "the scores of a class are not normal: the model's part of the estimate "
            "may miss their shape"
        )
    ratio = d.variance_ratio
    if np.isfinite(ratio) and not 1 / _VARIANCE_RATIO < ratio < _VARIANCE_RATIO:
        said.append(
            f"the class variances of the score differ by a factor of {ratio:.2g} (pos "
            'over neg): compare covariance="separate"'
        )
    if d.discrepancy is None:
        said.append(
            "no row was left out (switched off, held-out rows or one feature): the "
            "model of normal classes is set against nothing"
        )
    elif abs(d.discrepancy) > _LEVEL:
        word = "lower" if d.discrepancy < 0 else "higher"
        said.append(
            f"leave-pair-out is {abs(d.discrepancy):.2f} probit {word} than the model "
            "on ridge models of these rows: the model of normal classes is strained"
        )
    said += [reason for reason in d.posterior.warnings if reason not in said]
    return Diagnosis(**{**vars(d), "warnings": tuple(said)})
