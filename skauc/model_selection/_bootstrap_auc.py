"""The bootstrap AUC of any classifier: .632+ and its relatives, by true refits."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state, column_or_1d, indexable

from .._validation import check_level, check_option, check_positive, check_weight
from ..leave_pair_out._bootstrap import bootstrap_counts, bootstrap_estimate
from ..statistics._collections import refuse_collection
from ..statistics._numbers import as_verbosity
from ..statistics._ranks import empirical_auc
from ._affine_steps import has_frozen
from ._any_estimator import decision_values, weight_for_fit
from ._any_rows import take_rows
from ._reasons import frozen_in_refits
from ._warnings import warn_of

METHODS = (".632+", ".632", "oob", "optimism")


@dataclass(frozen=True, eq=False)
class BootstrapAUC:
    """A bootstrap estimate of the AUC of an estimator trained on all rows.

    Made by :func:`skauc.bootstrap_auc`.

    Parameters
    ----------
    auc : float
        The estimate.
    method : {".632+", ".632", "oob", "optimism"}
    apparent : float
        AUC of the rows that trained the estimator.
    replicates : ndarray of shape (n_boot,)
        AUC of the rows that each refit left out, NaN where it left out no pair.

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
        """Percentiles of the replicates, moved to the estimate.

        Every replicate is the AUC of another training sample *and* other test rows:
        their spread covers both. They are moved so that their median is the estimate,
        and kept in [0, 1].

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
        some = self.replicates[np.isfinite(self.replicates)]
        if len(some) == 0:
            return np.nan, np.nan
        # q(α/2) − median + estimate, q(1 − α/2) − median + estimate
        limits = np.quantile(some, [tail, 1 - tail]) + self.auc - np.median(some)
        low, high = np.clip(np.round(limits, 12), 0.0, 1.0)
        return float(low), float(high)


def bootstrap_auc(
    estimator,
    X,
    y,
    *,
    method=".632+",
    n_boot=200,
    sample_weight=None,
    pos_label=None,
    random_state=0,
    n_jobs=None,
    verbose=0,
) -> BootstrapAUC:
    """Bootstrap estimate of the AUC of an estimator trained on these rows.

    Answers: how large is the AUC on new rows of this estimator, preprocessing and
    selection included, if it is trained on all of these? Every sample draws each class
    with replacement in its own size and refits a clone of the *whole* estimator, as
    exactly as it would be fitted by hand: no step keeps what it learnt of all rows.
    Costs ``n_boot + 1`` fits.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``decision_function`` or ``predict_proba``, or a regressor
        on two numbers. Cloned.
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : array-like of shape (n,)
        Labels of two classes.
    method : {".632+", ".632", "oob", "optimism"}, default=".632+"
        ``"oob"``: the AUC of the rows that a sample did not draw, pessimistic, because
        a sample holds only 63 % of the distinct rows. ``".632"``: .632 of that and
        .368 of the AUC of the training rows. ``".632+"``: the weight depends on how
        much the model overfits, with ½ for no information. ``"optimism"``: Harrell's,
        the AUC of the training rows less what refits lose from their own sample to
        all rows; too high where the model fits its rows perfectly.
    n_boot : int, default=200
        Number of samples; 20 give an estimate, the interval needs some 200.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights, for the fit (where the estimator takes them) and the AUC.
    pos_label : label, default=None
        The positive class; None takes the larger label.
    random_state : int, RandomState or None, default=0
        Seed of the samples.
    n_jobs : int, default=None
        Refits at once, as in joblib.
    verbose : int, default=0
        How much joblib says of the refits that are done; 0 is silent.

    Returns
    -------
    BootstrapAUC

    Warns
    -----
    UntrustedAUCWarning
        If a part of the estimator that may have seen y is frozen: no refit leaves a
        row out of it.

    Raises
    ------
    TypeError
        If the estimator has no score.
    ValueError
        If the input is bad, a class has one row or an option breaks its rule.

    References
    ----------
    Efron & Tibshirani (1997), https://doi.org/10.2307/2965703; Harrell, Lee & Mark
    (1996), https://doi.org/10.1002/(SICI)1097-0258(19960229)15:4<361::AID-SIM168>3.0.CO;2-4

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
    if not isinstance(n_boot, Integral) or isinstance(n_boot, bool) or n_boot < 1:
        raise ValueError(f"n_boot must be a whole number >= 1, got {n_boot!r}")
    verbose = as_verbosity(verbose)
    refuse_collection("X", X)
    positive = check_positive(y, pos_label=pos_label)
    weight = check_weight(sample_weight, positive)
    (X,), labels = indexable(X), column_or_1d(y)
    if weight is not None and not weight.all():  # weight 0 is no row
        keep = np.flatnonzero(weight)
        X, labels = take_rows(X, keep), labels[keep]
        positive, weight = positive[keep], weight[keep]
    smaller = int(min(positive.sum(), (~positive).sum()))
    if smaller < 2:
        raise ValueError(
            f"y must hold 2 rows of each class or more to be resampled, got {smaller}"
        )
    if has_frozen(estimator):
        warn_of(frozen_in_refits(used=True))
    # of the seed and the labels alone: candidates of a search share their samples
    seed = check_random_state(random_state).randint(2**31 - 1)
    counts = bootstrap_counts(positive, int(n_boot), seed)
    # The first sample is all rows once: the estimator itself.
    samples = [np.ones(len(labels), dtype=int), *counts]
    scores = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(refit_scores)(estimator, X, labels, positive, weight, count)
        for count in samples
    )
    full, scores = scores[0], np.array(scores[1:])
    data = full, scores, positive, counts, weight
    return BootstrapAUC(
        auc=float(bootstrap_estimate(*data, method=method)),
        method=method,
        apparent=_apparent(full, positive, weight),
        replicates=np.array(
            [
                _left_out(s, positive, c, weight)
                for s, c in zip(scores, counts, strict=True)
            ]
        ),
    )


def refit_scores(estimator, X, y, positive, weight, count):
    """Scores of all rows, to the positive class, by a clone fitted to a sample.

    Parameters
    ----------
    estimator : estimator
    X : array-like, sparse matrix or frame of shape (n, n_features)
    y : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    count : ndarray of int of shape (n,)
        How often each row was drawn.

    Returns
    -------
    ndarray of shape (n,)
    """
    # Rows are repeated, not weighted: any estimator can be refitted so.
    drawn = np.repeat(np.arange(len(y)), count)
    model = clone(estimator)
    params = {} if weight is None else weight_for_fit(model, weight[drawn])
    model.fit(take_rows(X, drawn), y[drawn], **params)
    score = np.ravel(decision_values(model, X)).astype(float)
    lower = getattr(model, "classes_", np.unique(y))[0]
    return -score if positive[y == lower].any() else score


def _apparent(score, positive, weight):
    w = np.ones(len(score)) if weight is None else weight
    rows = score[~positive], score[positive], w[~positive], w[positive]
    return float(empirical_auc(*rows))


def _left_out(score, positive, count, weight):
    """AUC of the rows that a sample did not draw."""
    out = count == 0
    if not (out & positive).any() or not (out & ~positive).any():
        return np.nan
    part = None if weight is None else weight[out]
    return _apparent(score[out], positive[out], part)
