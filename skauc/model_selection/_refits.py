"""Refits: clones fitted to bootstrap samples of the rows.

They give the AUC of rows left out where no closed form exists, and ``bootstrap_auc``.
"""

from __future__ import annotations

from dataclasses import dataclass
from warnings import catch_warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from .._validation import check_groups, check_level, check_option
from ..leave_pair_out._bootstrap import (
    INSIDE,
    aucs,
    balanced_samples,
    bootstrap_counts,
    model_variance,
    plus_632,
    weighted_auc,
)
from ..leave_pair_out._left_out import Source
from ..statistics._checks import as_verbosity, check_integer
from ..statistics._rows import Rows
from ._affine_steps import has_frozen
from ._doubts import FROZEN_IN_REFITS, warn, warn_of_copies
from ._estimators import counted_rows, fitted_to_rows, scores_towards
from ._fitted_model import FittedModel

METHODS = (".632+", ".632", "oob", "optimism")
# Variance of .632+ in units of Hanley and McNeil's. With 5 refits of models with
# selection or an L1 penalty the mean squared error is 1.30 (.12) units.
_VARIANCE = 1.5


def refits_source(model: FittedModel, K, *, verbose=0, whole=False) -> Source | None:
    """The .632+ AUC of K clones fitted to balanced bootstrap samples.

    Parameters
    ----------
    model : FittedModel
        A model on the rows that trained it.
    K : int
        At least 2.
    verbose : int, default=0
        Verbosity of joblib; 0 is silent.
    whole : bool, default=False
        Whether the whole estimator is refitted, with its steps, or only the linear
        model on the rows in front of it.

    Returns
    -------
    Source or None
        With ``method="refits"``. None for a pair among more than two classes, if a
        class has fewer than two rows, or if a clone cannot be fitted to a sample or
        returns scores that are not finite.
    """
    positive, front = model.positive, model.front
    if model.pair is not None or min(positive.sum(), (~positive).sum()) < 2:
        return None
    scored, estimator, X = model.scored, model.estimator, model.scored.X
    if not whole and model.linear is not None:
        estimator, X = model.linear, front.X
    rows = X, scored.y, positive, scored.weight
    drawn = balanced_samples(Rows.of(model.rows.X, positive), int(K))
    try:
        # the user's fit has already issued these warnings
        with catch_warnings(action="ignore"):
            scores = _refitted(estimator, rows, drawn, None, verbose)
    except Exception:  # an estimator may raise anything for repeated rows
        return None
    outside = weighted_auc(scores, positive, (drawn == 0) * front.weight)
    if not np.isfinite(outside):
        return None
    auc = plus_632(weighted_auc(model.score, positive, front.weight), outside)
    # a solver may be far from an optimum, at another model in every fit
    of_solver = np.var(aucs(scores, positive, front.weight)[0], ddof=1)
    variance = _VARIANCE * model_variance(auc, front) + of_solver
    return Source(auc, float(variance), "refits")


def _refitted(estimator, rows, counts, n_jobs, verbose):
    """Scores (K, n) of all rows by clones fitted to K samples."""
    scores = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_refit_scores)(estimator, *rows, count) for count in counts
    )
    return np.array(scores)


def _refit_scores(estimator, X, y, positive, weight, count) -> np.ndarray:
    """Scores of all rows by a clone fitted to ``count`` copies of each."""
    # rows are repeated, because not every estimator takes weights
    drawn = np.repeat(np.arange(len(y)), count)
    model = fitted_to_rows(estimator, X, y, weight, drawn)
    return scores_towards(model, X, y, positive)


@dataclass(frozen=True, eq=False)
class BootstrapAUC:
    """A bootstrap estimate of the AUC of an estimator trained on all rows.

    Returned by :func:`skauc.bootstrap_auc`.

    Parameters
    ----------
    auc : float
        The estimate.
    method : {".632+", ".632", "oob", "optimism"}
    apparent : float
        AUC of the rows that trained the estimator.
    replicates : ndarray of shape (n_boot,)
        AUC of the rows that each refit left out; NaN if these rows are of one class
        only.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import BootstrapAUC
    >>> BootstrapAUC(0.8, ".632+", 0.9, np.array([0.7, 0.75, 0.8])).interval(0.9)
    (0.755, 0.845)
    """

    auc: float
    method: str
    apparent: float
    replicates: np.ndarray

    def __repr__(self):
        low, high = self.interval()
        return (
            f"BootstrapAUC(auc={self.auc:.4g}, interval95=({low:.4g}, {high:.4g}), "
            f"method={self.method!r}, apparent={self.apparent:.4g}, "
            f"n_boot={len(self.replicates)})"
        )

    def interval(self, confidence_level=0.95) -> tuple[float, float]:
        """Percentile interval of the replicates, shifted to the estimate.

        Each replicate has its own training sample *and* its own test rows, so the
        spread of the replicates covers both sources of chance. The replicates are
        shifted so that their median is the estimate, and the limits are clipped to [0,
        1].

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError
            If the level lies outside (0, 1).
        """
        tail = (1 - check_level("confidence_level", confidence_level)) / 2
        finite = self.replicates[np.isfinite(self.replicates)]
        if len(finite) == 0:
            return np.nan, np.nan
        # q(α/2) − median + estimate, q(1 − α/2) − median + estimate
        limits = np.quantile(finite, [tail, 1 - tail]) + self.auc - np.median(finite)
        low, high = np.clip(np.round(limits, 12), 0.0, 1.0)
        return float(low), float(high)


def bootstrap_auc(
    estimator,
    X,
    y,
    *,
    method=".632+",
    n_boot=200,
    groups=None,
    sample_weight=None,
    pos_label=None,
    random_state=0,
    n_jobs=None,
    verbose=0,
) -> BootstrapAUC:
    """Bootstrap estimate of the AUC of an estimator trained on these rows.

    Answers: how large is the AUC of this estimator on new rows, including its
    preprocessing and feature selection, if it is trained on all these rows? It works
    for every classifier; for linear models :func:`skauc.auc_posterior` is faster. Every
    bootstrap sample draws the rows of each class with replacement, in their original
    number, and refits a clone of the *whole* estimator, so that no step uses rows that
    the sample left out. Costs ``n_boot + 1`` fits.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``decision_function`` or ``predict_proba``, or a regressor
        fitted to labels that are two numbers. Clones of it are fitted.
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    method : {".632+", ".632", "oob", "optimism"}, default=".632+"
        ``"oob"``: the mean AUC of the rows that a sample did not draw; it is
        pessimistic, because a sample holds only 63 % of the distinct rows. ``".632"``:
        .632 times this AUC plus .368 times the AUC of the training rows. ``".632+"``:
        as ``".632"``, but the weight depends on how much the model overfits, with ½ as
        the AUC without information. ``"optimism"`` (Harrell): the AUC of the training
        rows minus the mean loss of a refit from its own sample to all rows; it is too
        high if the model fits its rows perfectly.
    n_boot : int, default=200
        Number of bootstrap samples. The estimate needs about 20, the interval about
        200.
    groups : array-like of shape (n,), default=None
        Labels of groups of dependent rows, for example the measurements of a patient.
        Whole groups are drawn or left out, stratified by the classes that they contain.
        Without groups the rows must be independent (no repeated measures, no time
        series).
    sample_weight : array-like of shape (n,), default=None
        Frequency weights, used in the AUC and, if the estimator accepts them, in the
        fit.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    random_state : int, RandomState or None, default=0
        Seed of the samples.
    n_jobs : int, default=None
        Number of refits that run in parallel, as in joblib.
    verbose : int, default=0
        Verbosity of joblib; 0 is silent.

    Returns
    -------
    BootstrapAUC
        ``auc``, ``interval(0.95)``, ``apparent`` (AUC of the training rows) and
        ``replicates``.

    Warns
    -----
    UntrustedAUCWarning
        If a step of the estimator that may have used y is frozen, so that the refits
        cannot leave rows out of it; if many rows are copies of rows of other groups.

    Raises
    ------
    TypeError
        If the estimator has neither ``decision_function`` nor ``predict_proba`` and is
        no regressor.
    ValueError
        If the input or an option is invalid, a class has only one row (or one group),
        or a refit returns scores that are not finite.

    References
    ----------
    Efron & Tibshirani (1997), https://doi.org/10.2307/2965703; Harrell, Lee & Mark
    (1996), https://doi.org/10.1002/(SICI)1097-0258(19960229)15:4<361::AID-SIM168>3.0.CO;2-4;
    groups: Field & Welsh (2007), https://doi.org/10.1111/j.1467-9868.2007.00593.x

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import bootstrap_auc
    >>> X, y = np.random.default_rng(0).standard_normal((40, 100)), np.arange(40) % 2
    >>> noise = bootstrap_auc(LogisticRegression(), X, y, n_boot=20)
    >>> noise.apparent, 0.4 < noise.auc < 0.65
    (1.0, True)
    """
    check_option("method", method, METHODS)
    n_boot, verbose = check_integer("n_boot", n_boot, 1), as_verbosity(verbose)
    kept, X, labels, positive, weight = counted_rows(X, y, sample_weight, pos_label)
    groups = check_groups(groups, len(y))
    groups = None if groups is None else groups[kept]
    _check_sizes(positive, groups)
    if has_frozen(estimator):
        warn([FROZEN_IN_REFITS])
    warn_of_copies(X, positive, groups)
    # the samples depend on the seed and the labels only: all models share them
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    if groups is None:
        counts = bootstrap_counts(positive, n_boot, rng)
    else:
        counts = _group_counts(groups, positive, n_boot, rng)
    # the first sample holds each row once: the fit to all rows
    samples = np.vstack([np.ones((1, len(labels)), dtype=int), counts])
    rows = X, labels, positive, weight
    scores = _refitted(estimator, rows, samples, n_jobs, verbose)
    weight = np.ones(len(labels)) if weight is None else weight
    return _estimate(method, scores[0], scores[1:], counts, positive, weight)


def _check_sizes(positive, groups):
    """Raise if no row (or group) of a class can be left out."""
    rule = "groups must hold each class in 2 groups or more"
    if groups is None:
        rule = "y must hold 2 rows of each class or more"
        groups = np.arange(len(positive))
    smaller = min(len(np.unique(groups[positive == side])) for side in (False, True))
    if smaller < 2:
        raise ValueError(f"{rule} to be resampled, got {smaller}")


def _group_counts(groups, positive, n_boot, rng):
    """Number of times that each sample drew the group of each row, (n_boot, n).

    Groups are drawn among those that hold the same classes, so that the sizes of the
    classes vary with the sizes of the groups only.
    """
    _, groups = np.unique(groups, return_inverse=True)
    holds = [np.bincount(groups, positive == side) > 0 for side in (False, True)]
    return bootstrap_counts(holds[0] + 2 * holds[1], n_boot, rng)[:, groups]


def _estimate(method, full, scores, counts, positive, weight):
    """Estimate from scores (n,) of the model and (n_boot, n) of its refits."""
    apparent = weighted_auc(full, positive, weight)
    out = (counts == 0) * weight
    replicates, _ = aucs(scores, positive, out)
    outside = weighted_auc(scores, positive, out)
    if method == "optimism":
        # Harrell: A − mean_k(A_k of sample k − A_k of all rows)
        own, _ = aucs(scores, positive, counts * weight)
        auc = apparent - float(np.mean(own - aucs(scores, positive, weight)[0]))
    elif method == "oob":
        auc = outside
    elif method == ".632":
        auc = (1 - INSIDE) * apparent + INSIDE * outside
    else:
        auc = plus_632(apparent, outside)
    return BootstrapAUC(auc, method, apparent, replicates)
